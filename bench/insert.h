#pragma once
// Random inserts of small records by many threads into a database that grows past its memory: the
// rate against the number of records, and how even it is.
//
// Phases: insert, drain, verify, open. Used by the command line. Threads: `threads` writers.
//
// 1. Every record that was committed is found afterwards, and no other.
// 2. An engine that runs full ends the run early; what it took in by then is its result.

#include <cstdint>

#include "bench/workload.h"

namespace hawthorn::bench {

struct InsertOptions {
  uint64_t records = 10'000'000;
  uint64_t record_bytes = 128;  // key and value
  uint64_t batch = 1;           // records of a commit
  unsigned threads = 16;
  uint64_t free_disk_bytes_min = 5'000'000'000;  // the run ends before the disk is fuller
};

void run_insert(const RunContext& run, const InsertOptions& options, Engine& engine);

}  // namespace hawthorn::bench
