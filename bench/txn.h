#pragma once
// What transactions, held snapshots and clones cost. The command line adds one more case: counters
// under row locks (counters.h).
//
// Phases, point: load, txn_snapshot and txn_serializable (each of both in every round, on one
// database); snapshots: upsert and upsert_held (each in every round, on a fresh database); clone:
// load, clone_none, clone_full, drop. All: verify, open. Used by the command line. Threads: point:
// `threads` writers; snapshots: one; clone: `threads` for the load, then one.
//
// 1. Of rounds every other one begins with the second of what it compares, so that what gets worse
//    or better with time does so for both.
// 2. point: every get shows what was committed to its key when the transaction began, or later, and
//    in the end each key has the value of its last commit: the counters in all values sum up to the
//    commits.
// 3. snapshots: each snapshot shows in the end, of a sample of keys, the versions that were there
//    when it was taken, and keys that came later not at all.
// 4. clone: each clone has all entries. Where it and its source are written to afterwards, neither
//    shows what was written to the other.

#include <cstdint>

#include "bench/workload.h"

namespace hawthorn::bench {

// Transactions of a get of one random key and a put of another one.
struct PointOptions {
  uint64_t keys = 1'000'000;
  uint64_t value_bytes = 100;  // 16 at least
  unsigned threads = 8;
  uint64_t transactions = 500'000;  // of each kind in a round, of all threads
  uint64_t rounds = 10;
  uint64_t seed = 12345;
};
void run_txn_point(const RunContext& run, const PointOptions& options, Engine& engine);

// Upserts of random keys, in small batches.
struct SnapshotsOptions {
  uint64_t keys = 1'000'000;  // that are there before
  uint64_t upserts = 4'000'000;
  double fresh = 0.5;  // the part of the upserts whose keys are new
  uint64_t snapshots = 100;
  uint64_t batch = 100;
  uint64_t value_bytes = 100;
  uint64_t rounds = 4;
  uint64_t seed = 12345;
  uint64_t free_disk_bytes_min = 5'000'000'000;
};
void run_txn_snapshots(const RunContext& run, const SnapshotsOptions& options, Engine& engine);

struct CloneOptions {
  uint64_t keys = 10'000'000;
  uint64_t value_bytes = 100;
  uint64_t clones = 100;  // of each durability
  unsigned threads = 8;
  uint64_t seed = 12345;
};
void run_txn_clone(const RunContext& run, const CloneOptions& options, Engine& engine);

}  // namespace hawthorn::bench
