#pragma once
// A hash of all that happened in a simulated run, so that two runs can be compared; and, where
// asked for, a file with a line for each event, so that the first difference can be found.
//
// Threads: one at a time, as a schedule has them.

#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>

namespace hawthorn::testing {

class SimTrace {
 public:
  SimTrace() = default;
  ~SimTrace();
  SimTrace(const SimTrace&) = delete;
  SimTrace& operator=(const SimTrace&) = delete;

  // False: the file cannot be written.
  bool write_to(const std::string& path);
  void number(const char* what, uint64_t a, uint64_t b = 0);
  void bytes(std::string_view what, std::span<const char> data);
  void text(std::string_view what) { bytes(what, {}); }
  uint64_t hash() const { return hash_; }

 private:
  void add(uint64_t number);
  uint64_t hash_ = 0;
  FILE* file_ = nullptr;
};

}  // namespace hawthorn::testing
