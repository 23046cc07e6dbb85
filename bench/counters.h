#pragma once
// Counters of 8 + 8 bytes that many threads count up, one at random in each step: a get and a put
// that no other step on the same counter comes between (Writer::modify, or a transaction that locks
// the counter's row).
//
// Phases: load (all counters, at zero), count, drain, verify, open. Used by the command line, for
// `counters` and for `txn`. Threads: `threads` writers.
//
// 1. In the end the counters sum up to the steps, and there are as many as were loaded.
// 2. A counter's upper half follows from its key: each get and the last walk check it.

#include <cstdint>

#include "bench/workload.h"

namespace hawthorn::bench {

struct CountersOptions {
  uint64_t counters = 100'000'000;
  uint64_t steps = 0;    // 0: as many as counters
  uint64_t seconds = 0;  // at most so many for the steps; 0: no bound
  unsigned threads = 16;
  uint64_t seed = 12345;
  bool row_locks = false;  // a step is a TxnClient's get_for_update, put and commit
};

void run_counters(const RunContext& run, const CountersOptions& options, Engine& engine);

}  // namespace hawthorn::bench
