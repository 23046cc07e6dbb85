#pragma once
// What is taken away in one run, as a line of text, and what an API may say and do then.
//
//   none
//   calls KIND ERROR FIRST COUNT   system calls of a kind (calls.h) from the FIRST on, COUNT of
//                                  them, or with 0 all until they are given back
//   descriptors LEFT AFTER         so many more can be opened, after so many commits (0: from the
//                                  beginning, opening included)
//   file-size KB AFTER             no file may grow beyond that
//   memory KB AFTER                so much more address space
//   threads AFTER                  no more threads or processes
//   disk FILESYSTEM KB AFTER       a file system of 160 MB on which so much is left (ext4, btrfs)
//   chdir AFTER, rename AFTER      another working directory; another name for the database's
//   clock SECONDS AFTER            the time of day is so much later, until it is set right again
//   clock-back SECONDS AFTER       or earlier
//
// With a last word `reopen` the store is closed and opened again while the shortage lasts.
//
// Not here: the doing of it (workload.h, supervisor.h). Used by this folder. Threads: any.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "tests/environment/calls.h"

namespace hawthorn::tests {

enum class Shortage : uint8_t {
  kNone,
  kCalls,
  kDescriptors,
  kFileSize,
  kMemory,
  kThreads,
  kDisk,
  kChdir,
  kRename,
  kClock,
  kClockBack
};

struct Case {
  Shortage shortage = Shortage::kNone;
  const CallKind* kind = nullptr;  // and error, first, count: of kCalls
  int error = 0;
  uint64_t first = 0;
  uint64_t count = 0;
  std::string file_system;
  uint64_t amount = 0;
  uint64_t after = 0;  // commits
  bool reopens = false;
};

std::optional<Case> parse_case(std::string_view text);
std::string text_of(const Case& shortage);

// The case of a seed, always the same.
Case draw_case(uint64_t seed);
// Those that the gate runs.
std::span<const char* const> gate_cases();

// Whether a database may have to be opened again before it can be written.
bool may_end(const Case& shortage);
// Whether an error of the API says what there is too little of.
bool names_cause(const Case& shortage, std::string_view api, std::string_view text);

// Whether a child of fork may open a store, and whether it may close one that it has inherited.
bool opens_in_children(std::string_view api);
bool closes_in_children(std::string_view api);

}  // namespace hawthorn::tests
