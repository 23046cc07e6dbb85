#pragma once
// Records that are overwritten at random, evenly, as many times in each pass as there are records:
// how much space that takes while it goes on, and how fast it is.
//
// Phases: load, pass_1 to pass_9, drain, verify, open. Used by the command line. Threads: one
// writer.
//
// 1. Afterwards every record has the value that was put last: the driver keeps one byte for each.
// 2. The size is the blocks of all files of the database, its log and what it took ahead included.

#include <cstdint>

#include "bench/workload.h"

namespace hawthorn::bench {

struct OverwriteOptions {
  uint64_t records = 10'000'000;
  uint64_t batch = 100;
  uint64_t value_bytes = 256;
  unsigned passes = 3;  // up to 9
  uint64_t seed = 12345;
};

void run_overwrite(const RunContext& run, const OverwriteOptions& options, Engine& engine);

}  // namespace hawthorn::bench
