#pragma once
// Runs a workload in a child process and answers for the kernel: it refuses the system calls that a
// case names, kills a workload that hangs, and says how it has ended.
//
// A workload hangs where it has not ended one operation for `testing::kHangLimit`, which is far
// more than a slow machine needs. Then the stacks of its threads are printed, where there is gdb.
//
// Used by main.cc. Threads: one, in a process that has no other.

#include <functional>
#include <string>

#include "tests/environment/calls.h"
#include "tests/environment/shared.h"

namespace hawthorn::tests {

struct Supervised {
  // Of system calls; null: none is refused.
  const CallKind* kind = nullptr;
  int error = 0;
  uint64_t first = 1;  // the number of the first one that is refused
  uint64_t count = 0;  // of those that are; 0: all until it is given back
};

struct Ended {
  std::string wrong;    // empty: all was well
  uint64_t calls = 0;   // of the kind, while they were counted
  int code = 0;         // of the process that has ended by itself
  std::string subject;  // of the first call that was refused: a file
};

// `workload` returns whether it went well.
Ended supervise(const Supervised& supervised, Shared& shared,
                const std::function<bool()>& workload);

}  // namespace hawthorn::tests
