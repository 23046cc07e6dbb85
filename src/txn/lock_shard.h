#pragma once
// One shard of the row locks: who holds its rows, and who waits for them in which order.
//
// A row is a 64-bit hash of tree and key. It has no object of its own: it is held by the RowHolds
// with its hash, which are chained in a hash table, and waited for by the LockWaiters with its
// hash, which stand in one list for the whole shard.
//
// Not here: waiting itself (row_locks.h), deadlocks (waits_for.h). Used by these alone.
// Threads: all functions under the shard's mutex, which is held for some tens of instructions.
//
// 1. A request is blocked by holds of others whose mode is not compatible with its own, and, if its
//    transaction holds nothing of the row, by requests before it in the queue that are not
//    compatible with it. Nothing else blocks it: so these are the edges of the waits-for graph.
// 2. In the queue, those that hold something of the row come first, then the others; each in the
//    order in which they came.
// 3. When the mutex is free, every request in the queue is blocked.
// 4. What changes hands does so under the mutex, by the one who lets go (`let_go`, `lower`,
//    `withdraw`); it wakes whom it has granted something afterwards, without the mutex.
// 5. Memory beyond kKept counts against the budget, and follows the number of holds down.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "os/arena.h"
#include "os/sync.h"
#include "tree/slots.h"
#include "txn/held_locks.h"

namespace hawthorn::txn {

using tree::TxnId;

// Shared goes with shared and upgradable, upgradable with shared, exclusive with nothing.
constexpr bool compatible(LockMode a, LockMode b) {
  if (a == LockMode::kExclusive || b == LockMode::kExclusive) return false;
  return a == LockMode::kShared || b == LockMode::kShared;
}

// A row as one transaction holds it. Its place does not change.
struct RowHold {
  uint64_t row;
  TxnId owner;
  RowHold* next;          // in its bucket, or of those that are free
  RowHold** link;         // what points to it in its bucket
  uint32_t newest_entry;  // of the row in HeldLocks; for the owner alone
  LockMode mode;
};

struct LockRequest {
  uint64_t row = 0;
  TxnId owner = 0;
  LockMode mode = LockMode::kExclusive;
  bool takes = true;       // false: it only waits until it could
  RowHold* own = nullptr;  // what the transaction holds of the row already
};

// A transaction that waits; on the stack of its thread, mostly.
struct LockWaiter : LockRequest {
  LockWaiter(const LockRequest& request, uint32_t tree_id, std::string_view its_key)
      : LockRequest(request), tree(tree_id), key(its_key) {}

  // Of the shard:
  LockWaiter* before = nullptr;
  LockWaiter* behind = nullptr;
  bool queued = false;
  RowHold* fresh = nullptr;  // where it had nothing of the row: what it gets, or has got
  os::Signal granted;        // set after it has left the queue
  // Of the waits-for graph, which names it to others:
  const uint32_t tree;
  const std::string_view key;
  TxnId other = 0;  // it waits for this transaction's end, and no row
  LockWaiter* next = nullptr;
  uint64_t walk = 0;
  LockWaiter* reached_from = nullptr;
};

class alignas(64) LockShard {
 public:
  LockShard() = default;
  ~LockShard();
  LockShard(const LockShard&) = delete;
  LockShard& operator=(const LockShard&) = delete;
  void set_arena(os::Arena* arena) NO_THREAD_SAFETY_ANALYSIS { arena_ = arena; }

  // A row belongs to one of kCount shards.
  static constexpr size_t kCount = 256;
  static constexpr size_t number_of(uint64_t row) { return row >> 56; }

  os::Mutex mutex;

  RowHold* find(uint64_t row, TxnId owner) const REQUIRES(mutex);

  // Each calls visit(transaction), perhaps twice for one, until that returns true; then it returns
  // true. The holders and those in the queue that block a request (1); one that is not in the queue
  // would be the last of it.
  template <typename Visit>
  bool any_blocking_holder(const LockRequest& request, Visit visit) const REQUIRES(mutex);
  template <typename Visit>
  bool any_blocking_waiter(const LockRequest& request, Visit visit) const REQUIRES(mutex);
  bool blocked(const LockRequest& request) const REQUIRES(mutex) {
    const auto first = [](TxnId) { return true; };
    return any_blocking_holder(request, first) || any_blocking_waiter(request, first);
  }
  // All that hold the row but `owner`.
  template <typename Visit>
  bool any_other_holder(uint64_t row, TxnId owner, Visit visit) const REQUIRES(mutex);
  bool held_by_other(uint64_t row, TxnId owner) const REQUIRES(mutex) {
    return any_other_holder(row, owner, [](TxnId) { return true; });
  }

  // Gives a request that is not blocked what it asks for: what it holds now, null if it takes
  // nothing.
  RowHold* grant(const LockRequest& request) REQUIRES(mutex);
  void enqueue(LockWaiter& waiter) REQUIRES(mutex);

  // Each returns whom it has granted what they wait for, chained by `behind`, for wake.
  [[nodiscard]] LockWaiter* let_go(RowHold* hold) REQUIRES(mutex);
  [[nodiscard]] LockWaiter* lower(RowHold* hold, LockMode mode) REQUIRES(mutex);
  // Out of the queue, without what it waited for.
  [[nodiscard]] LockWaiter* withdraw(LockWaiter& waiter) REQUIRES(mutex);

  static void wake(LockWaiter* granted);

 private:
  static constexpr uint32_t kBucketsMin = 16;
  static constexpr uint32_t kFreeHolds = 8;                  // kept however few are held
  static constexpr size_t kHoldBytes = sizeof(RowHold) + 8;  // as malloc counts
  static constexpr size_t kKept = kBucketsMin * sizeof(void*) + kFreeHolds * kHoldBytes;
  static constexpr size_t kChargeBytes = 4096;  // is charged by such pieces

  RowHold* first_in_bucket(uint64_t row) const REQUIRES(mutex) {
    return buckets_ == nullptr ? nullptr : buckets_[row & (bucket_count_ - 1)];
  }
  RowHold* new_hold() REQUIRES(mutex);
  void free_hold(RowHold* hold) REQUIRES(mutex);
  void insert(RowHold* hold, const LockRequest& request) REQUIRES(mutex);
  void link(RowHold* hold) REQUIRES(mutex);
  void resize(uint32_t bucket_count) REQUIRES(mutex);
  void dequeue(LockWaiter& waiter) REQUIRES(mutex);
  LockWaiter* grant_queued(uint64_t row) REQUIRES(mutex);
  void count_memory() REQUIRES(mutex);

  uint32_t held_ GUARDED_BY(mutex) = 0;
  uint32_t free_count_ GUARDED_BY(mutex) = 0;
  uint32_t hold_count_ GUARDED_BY(mutex) = 0;  // held, free, and promised to those in the queue
  uint32_t bucket_count_ GUARDED_BY(mutex) = 0;
  uint32_t charged_pieces_ GUARDED_BY(mutex) = 0;
  RowHold** buckets_ GUARDED_BY(mutex) = nullptr;
  RowHold* free_ GUARDED_BY(mutex) = nullptr;
  LockWaiter* first_ GUARDED_BY(mutex) = nullptr;
  LockWaiter* last_ GUARDED_BY(mutex) = nullptr;
  os::Arena* arena_ = nullptr;
};

template <typename Visit>
bool LockShard::any_other_holder(uint64_t row, TxnId owner, Visit visit) const {
  for (const RowHold* hold = first_in_bucket(row); hold != nullptr; hold = hold->next) {
    if (hold->row == row && hold->owner != owner && visit(hold->owner)) return true;
  }
  return false;
}

template <typename Visit>
bool LockShard::any_blocking_holder(const LockRequest& request, Visit visit) const {
  for (const RowHold* hold = first_in_bucket(request.row); hold != nullptr; hold = hold->next) {
    if (hold->row != request.row || hold->owner == request.owner) continue;
    if (!compatible(hold->mode, request.mode) && visit(hold->owner)) return true;
  }
  return false;
}

template <typename Visit>
bool LockShard::any_blocking_waiter(const LockRequest& request, Visit visit) const {
  if (request.own != nullptr) return false;
  bool passed = false;
  for (const LockWaiter* waiter = first_; waiter != nullptr; waiter = waiter->behind) {
    if (waiter->row != request.row) continue;
    if (waiter->owner == request.owner) {
      passed = true;  // it is the request itself
      continue;
    }
    if (passed && waiter->own == nullptr) continue;
    if (!compatible(waiter->mode, request.mode) && visit(waiter->owner)) return true;
  }
  return false;
}

}  // namespace hawthorn::txn
