#pragma once
// What transactions, held snapshots, clones, counts and orders of keys cost. The command line adds
// one more case: counters under row locks (counters.h).
//
// Phases, point: load, txn_snapshot and txn_serializable (each of both in every round, on one
// database); snapshots: upsert and upsert_held (each in every round, on a fresh database); clone:
// load, clone_none, clone_full, drop; count: load, and those that begin with count_, each once for
// the whole and once, as _range, for parts; orders: insert_bytewise and insert_compared, then
// get_bytewise and get_compared (each of both in every round, on one database). All: verify, open.
// Used by the command line. Threads: point: `threads` writers; snapshots, orders: one; clone,
// count: `threads` for what they load or overwrite, else one.
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
// 5. count: how many entries each range has follows from its ends, and each count is compared with
//    that. What a snapshot has and what is there beside it differ, as a part of the keys comes
//    later. In the end each entry has its place among all, and its newest value.
// 6. orders: each get shows the value of its key; in the end both trees have all entries in order.

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

// Counts of the whole and of ranges of a few keys up to all of them: behind the load and a flush;
// behind overwrites, before a flush and after it; behind overwrites while a snapshot is held, of
// the snapshot and of what is newest; behind close and open.
struct CountOptions {
  uint64_t keys = 10'000'000;  // one in a thousand of which comes while the snapshot is held
  uint64_t value_bytes = 100;
  bool ascending = false;     // each thread loads its part in order; else all at random
  double overwritten = 0.05;  // the part that is, each of both times
  uint64_t counts = 1000;     // of ranges, in each phase; a tenth as many of the whole
  uint64_t seconds = 10;      // after which either of both ends early; 0: no bound
  unsigned threads = 8;
  uint64_t seed = 12345;
};
void run_txn_count(const RunContext& run, const CountOptions& options, Engine& engine);

// The same entries in a tree that is ordered byte by byte and in one whose order is a function that
// compares two keys, byte by byte too: inserts of random keys, then gets of them, flushed.
struct OrdersOptions {
  uint64_t keys = 1'000'000;
  uint64_t value_bytes = 100;
  uint64_t batch = 100;       // inserts per commit
  uint64_t gets = 1'000'000;  // of each order in a round
  uint64_t rounds = 10;
  uint64_t seed = 12345;
};
void run_txn_orders(const RunContext& run, const OrdersOptions& options, Engine& engine);

}  // namespace hawthorn::bench
