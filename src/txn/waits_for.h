#pragma once
// The waits-for graph of the row locks: which transaction waits for what at this moment, and
// whether one that begins to wait would close a cycle.
//
// Only the waiting transactions are kept. What each one waits for is asked of its shard during the
// walk, so that no edge is ever stale: an edge appears and goes with what blocks the request.
//
// Not here: who is blocked by whom (lock_shard.h). Used by row_locks. Threads: all under `mutex`,
// which is taken before a shard's.
//
// 1. A transaction waits for one thing at a time, by one thread, and lets go of nothing meanwhile.
// 2. Waits begin and are given up under the mutex; only grants come without it. So an edge to a
//    transaction that is found waiting stays at least as long as the mutex is held: every cycle
//    that is found is real.
// 3. Every cycle is found when its last wait begins: whatever else changes who waits for whom, a
//    grant or a place in the queue, adds edges only to a transaction that runs, or to the one whose
//    wait just begins.

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "os/sync.h"
#include "txn/lock_shard.h"

namespace hawthorn::txn {

class WaitsFor {
 public:
  explicit WaitsFor(LockShard* shards) : shards_(shards) {}
  WaitsFor(const WaitsFor&) = delete;
  WaitsFor& operator=(const WaitsFor&) = delete;

  os::Mutex mutex;

  void add(LockWaiter& waiter) REQUIRES(mutex);
  void remove(LockWaiter& waiter) REQUIRES(mutex);
  // nullptr: it does not wait.
  LockWaiter* find(TxnId id) const REQUIRES(mutex);
  // How many wait for another one's end, not for a row.
  uint32_t waits_for_ends() const REQUIRES(mutex) { return waits_for_ends_; }
  // The cycle that `from`, which was added, has closed, in words; empty when there is none.
  std::string cycle_from(LockWaiter& from) REQUIRES(mutex);

  uint32_t size() const { return size_.load(std::memory_order_acquire); }

 private:
  static constexpr size_t kBuckets = 256;

  static size_t bucket_of(TxnId id);
  void collect_blockers(const LockWaiter& waiter) REQUIRES(mutex);

  LockShard* const shards_;
  std::array<LockWaiter*, kBuckets> buckets_ GUARDED_BY(mutex) = {};
  std::atomic<uint32_t> size_{0};
  uint32_t waits_for_ends_ GUARDED_BY(mutex) = 0;
  uint64_t walk_ GUARDED_BY(mutex) = 0;
  std::vector<TxnId> blockers_ GUARDED_BY(mutex);
  std::vector<LockWaiter*> to_visit_ GUARDED_BY(mutex);
};

}  // namespace hawthorn::txn
