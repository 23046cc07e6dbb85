#pragma once
// Random upserts: rounds of keys that look random, in small batches, into a database that grows.
//
// Phases: upsert, drain, verify, open. Used by the command line. Threads: one writer.
//
// 1. Every key that was committed is found afterwards with its value, and no other.
// 2. An engine that runs full ends the rounds early; what it took in by then is its result.

#include <cstdint>

#include "bench/workload.h"

namespace hawthorn::bench {

struct UpsertOptions {
  uint64_t rounds = 20;
  uint64_t items = 1'000'000;  // of a round
  uint64_t batch = 100;
  uint64_t value_bytes = 256;
  uint64_t free_disk_bytes_min = 5'000'000'000;  // the rounds end before the disk is fuller
};

void run_upsert(const RunContext& run, const UpsertOptions& options, Engine& engine);

}  // namespace hawthorn::bench
