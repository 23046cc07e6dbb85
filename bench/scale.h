#pragma once
// A database that grows while it is read: one writer inserts random keys in batches, readers look
// for random ones among those that are there.
//
// Phases: insert (the writer), read (the readers), drain, verify, open. Used by the command line.
// Threads: one writer, `readers` readers.
//
// 1. Every read must find its key, with its value: readers ask only for what was committed before.
// 2. The run ends at the rounds, the size or the time that was asked for, or at Ctrl+C, whichever
//    comes first; and when the disk is nearly full or the engine is. All of them end with figures.

#include <cstdint>

#include "bench/workload.h"

namespace hawthorn::bench {

struct ScaleOptions {
  uint64_t rounds = 0;         // 0: no bound
  uint64_t size_bytes = 0;     // of keys and values; 0: no bound
  uint64_t seconds = 0;        // 0: no bound
  uint64_t items = 1'000'000;  // keys of a round
  uint64_t batch = 1024;
  uint64_t value_bytes = 256;
  unsigned readers = 12;
  uint64_t keys_per_read = 1;  // 1: single gets; more: so many in each multi_get
  uint64_t write_rate = 0;     // keys per second at most; 0: no bound
  uint64_t seed = 12345;
  uint64_t free_disk_bytes_min = 5'000'000'000;
};

void run_scale(const RunContext& run, const ScaleOptions& options, Engine& engine);

}  // namespace hawthorn::bench
