#pragma once
// TATP, the Telecom Application Transaction Processing benchmark, over SQL: a home location
// register whose subscribers are looked up, moved and forwarded by seven short transactions.
//
// Phases: load, warm_up, tatp (all transactions), and of them by their kinds those of kTatpKinds;
// drain, verify, open. Used by the command line. Threads: one for each connection.
//
// 1. Every answer is compared with what may be there (tatp_runner.h), and in the end the whole
//    database with what the transactions left (tatp_check.h); otherwise the run fails.
// 2. A transaction that finds no row, or one that is in its way, is one that failed by the rules of
//    the benchmark, and counts; one that waited for a lock in vain does not.

#include <cstddef>
#include <cstdint>

#include "bench/tatp_database.h"
#include "bench/workload.h"

namespace hawthorn::bench {

struct TatpOptions {
  uint64_t subscribers = 100'000;
  unsigned connections = 1;
  uint64_t transactions = 1'000'000;  // of all connections
  uint64_t seconds = 0;               // the transactions end after so many; 0: no bound
  uint64_t seed = 12345;
  size_t cache_bytes = 64'000'000;  // of each connection
};

void run_tatp(const RunContext& run, const TatpOptions& options, TatpDatabase& database);

}  // namespace hawthorn::bench
