#pragma once
// What a supervisor and the workload in its child process know of each other.
//
// Used by this folder. Threads and processes: any; it lies in memory that they share.

#include <atomic>
#include <cstdarg>
#include <cstdint>
#include <cstdio>

namespace hawthorn::tests {

struct Shared {
  std::atomic<uint64_t> beats{0};  // each operation that the workload has ended
  // System calls are counted, and refused, from the one moment to the other.
  std::atomic<bool> armed{false};
  std::atomic<bool> given_back{false};
  std::atomic<uint64_t> met{0};      // how often something was refused
  std::atomic<uint64_t> refused{0};  // operations that have ended with an error
  std::atomic<uint64_t> acknowledged{0};
  std::atomic<uint32_t> failures{0};
  char failure[1400] = {};  // the first one

  [[gnu::format(printf, 2, 3)]] void fail(const char* format, ...) {
    if (failures.fetch_add(1) != 0) return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(failure, sizeof(failure), format, arguments);
    va_end(arguments);
  }
};

}  // namespace hawthorn::tests
