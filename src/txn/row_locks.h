#pragma once
// The row locks of pessimistic transactions: on keys of trees, in three modes, with a queue for
// each row and with deadlocks found when a wait begins.
//
// A lock that is free is taken in one short critical section of one of many shards. One that is not
// is waited for in the queue; who lets go hands it over to the next, and wakes no one else. A wait
// that would close a cycle is refused at once: whoever asks is the victim.
//
// Not here: what a lock is good for (transactions decide what they lock, and for how long), intents
// in deltas. For transactions that lock what they read and write. Threads: all functions from any
// thread; a transaction, with its HeldLocks, belongs to one at a time, and waits for one thing at a
// time.
//
// 1. Rows are told apart by a hash of 64 bits. Keys that collide share a lock: a transaction may
//    wait for more than it must, never for less (held_locks.h, 2).
// 2. Modes: see `compatible` and the order in the queue in lock_shard.h. A shared request does not
//    overtake one that waits for more; who raises a mode comes before those that hold nothing.
// 3. A call that fails has changed nothing that is held.
// 4. any() is true before a lock is granted and until after the last one is released. A writer that
//    publishes its intent, then asks any() with a full fence between, and a transaction that locks,
//    then looks for intents, cannot miss each other both. held_by_other() needs no fence.

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "hawthorn/status.h"
#include "os/arena.h"
#include "tree/store.h"
#include "txn/held_locks.h"
#include "txn/lock_shard.h"
#include "txn/waits_for.h"

namespace hawthorn::txn {

class RowLocks final : public tree::RowGate {
 public:
  static constexpr uint64_t kForever = os::Signal::kForever;

  // `hash_bits`: those of a row's hash that count; fewer are for tests of collisions.
  explicit RowLocks(os::Arena* arena, uint64_t hash_bits = ~uint64_t{0});
  // Nothing is held, nobody waits.
  ~RowLocks();
  RowLocks(const RowLocks&) = delete;
  RowLocks& operator=(const RowLocks&) = delete;

  // Takes the lock, or raises the mode of the one that `held` has; OK at once where it has it as
  // strong. timeout_us 0: without waiting. Errors: kTimedOut, naming who holds it; kDeadlock,
  // naming the cycle.
  Status acquire(HeldLocks& held, TxnId own, uint32_t tree, std::string_view key, LockMode mode,
                 uint64_t timeout_us);
  // Back to what was held when held.size() was `mark`: what was taken since is released, what was
  // raised is lowered again.
  void release_to(HeldLocks& held, size_t mark);
  void release_all(HeldLocks& held) { release_to(held, 0); }
  // Releases the locks of keys for which something else stops all others from here on, where their
  // entries are numbered `from` or later and nothing but one exclusive lock; the first lock stays.
  // What is held behind them is numbered anew: returns the old numbers that are gone, ascending.
  struct Covered {
    uint32_t tree;
    std::string_view key;
    size_t from;
  };
  std::vector<uint32_t> release_covered(HeldLocks& held, TxnId own, std::span<const Covered> keys);

  // Whether any transaction holds a lock, or is about to take its first (4). One load.
  bool any() const { return holders.load(std::memory_order_seq_cst) != 0; }
  // For writers that take no lock, which a lock of any mode stops: whether another transaction
  // holds the key.
  bool held_by_other(TxnId own, uint32_t tree, std::string_view key) const override;
  // Waits until nobody else holds the key; takes nothing, so it may be held again when this
  // returns. Such a writer has a place in the queue as if it asked for the exclusive lock.
  // timeout_us and errors: as acquire.
  Status wait_unlocked(TxnId own, uint32_t tree, std::string_view key, uint64_t timeout_us);

  // From now on `own` counts as waiting for the end of `other`, no longer for that of an earlier
  // call: for who meets another's intent and waits for its outcome by its own means. It must not
  // call acquire or wait_unlocked before end_wait. Errors: kDeadlock, naming the cycle; then it
  // does not wait.
  Status begin_wait(TxnId own, TxnId other);
  // Does nothing if it does not wait.
  void end_wait(TxnId own);

  // Returns when nobody holds a lock; from then until reopen, acquire waits where it would be a
  // transaction's first. For who writes rows that it cannot name, or lets nobody commit. Several
  // may have closed them. Errors: kTimedOut; then this one has not.
  Status close(uint64_t timeout_us);
  void reopen();

  // How many transactions wait now.
  uint32_t waiting() const { return waits_.size(); }

 private:
  uint64_t row_of(uint32_t tree, std::string_view key) const;
  LockShard& shard_of(uint64_t row) const { return shards_[LockShard::number_of(row)]; }
  Status enter(uint64_t timeout_us);
  Status refuse(const LockRequest& request, uint32_t tree, std::string_view key);
  Status wait(LockWaiter& waiter, bool may_close_cycle, uint64_t timeout_us);
  Status give_up(LockWaiter& waiter, uint64_t timeout_us);

  const uint64_t hash_bits_;
  std::atomic<uint32_t> closed_{0};  // by so many
  os::Mutex gate_mutex_;
  os::CondVar reopened_;
  uint32_t gate_waiters_ GUARDED_BY(gate_mutex_) = 0;
  const std::unique_ptr<LockShard[]> shards_;
  WaitsFor waits_;
};

}  // namespace hawthorn::txn
