#include "txn/lock_shard.h"

#include <algorithm>
#include <new>

#include "base/assert.h"
#include "os/test_point.h"

namespace hawthorn::txn {

static_assert(sizeof(RowHold) == 40, "a row that is held costs 48 bytes of the heap");

LockShard::~LockShard() {
  const os::MutexLock lock(mutex);
  HAWTHORN_ASSERT(held_ == 0 && first_ == nullptr);
  while (free_ != nullptr) {
    RowHold* const next = free_->next;
    delete free_;
    free_ = next;
  }
  delete[] buckets_;
  if (charged_pieces_ != 0) {
    arena_->charge(os::Quota::kOther, -static_cast<ptrdiff_t>(charged_pieces_ * kChargeBytes));
  }
}

void LockShard::count_memory() {
  const size_t bytes = hold_count_ * kHoldBytes + bucket_count_ * sizeof(void*);
  const size_t more = bytes > kKept ? bytes - kKept : 0;
  const auto pieces = static_cast<uint32_t>((more + kChargeBytes - 1) / kChargeBytes);
  if (pieces == charged_pieces_) return;
  arena_->charge(os::Quota::kOther,
                 (static_cast<ptrdiff_t>(pieces) - static_cast<ptrdiff_t>(charged_pieces_)) *
                     static_cast<ptrdiff_t>(kChargeBytes));
  charged_pieces_ = pieces;
}

RowHold* LockShard::new_hold() {
  if (free_ != nullptr) {
    RowHold* const hold = free_;
    free_ = hold->next;
    --free_count_;
    return hold;
  }
  auto* const hold = new RowHold;
  ++hold_count_;
  count_memory();
  return hold;
}

// As many are kept as are held, so that a load which comes and goes allocates nothing.
void LockShard::free_hold(RowHold* hold) {
  hold->next = free_;
  free_ = hold;
  ++free_count_;
  const uint32_t count = hold_count_;
  while (free_count_ > std::max(kFreeHolds, held_)) {
    RowHold* const surplus = free_;
    free_ = surplus->next;
    --free_count_;
    --hold_count_;
    delete surplus;
  }
  if (hold_count_ != count) count_memory();
}

void LockShard::link(RowHold* hold) {
  RowHold*& first = buckets_[hold->row & (bucket_count_ - 1)];
  hold->next = first;
  hold->link = &first;
  if (first != nullptr) first->link = &hold->next;
  first = hold;
}

void LockShard::resize(uint32_t bucket_count) {
  RowHold** const old = buckets_;
  const uint32_t old_count = bucket_count_;
  auto** const buckets = new (std::nothrow) RowHold* [bucket_count] {};
  if (buckets == nullptr) {
    if (old == nullptr) throw std::bad_alloc();
    return;  // the old ones do; who lets go must not fail
  }
  buckets_ = buckets;
  bucket_count_ = bucket_count;
  for (uint32_t i = 0; i < old_count; ++i) {
    for (RowHold* hold = old[i]; hold != nullptr;) {
      RowHold* const next = hold->next;
      link(hold);
      hold = next;
    }
  }
  delete[] old;
  count_memory();
}

void LockShard::insert(RowHold* hold, const LockRequest& request) {
  hold->row = request.row;
  hold->owner = request.owner;
  hold->newest_entry = ~uint32_t{0};
  hold->mode = request.mode;
  link(hold);
  ++held_;
}

RowHold* LockShard::find(uint64_t row, TxnId owner) const {
  RowHold* hold = first_in_bucket(row);
  while (hold != nullptr && (hold->row != row || hold->owner != owner)) hold = hold->next;
  return hold;
}

RowHold* LockShard::grant(const LockRequest& request) {
  if (!request.takes) return nullptr;
  if (request.own != nullptr) {
    HAWTHORN_ASSERT(request.own->mode <= request.mode);
    request.own->mode = request.mode;
    return request.own;
  }
  if (held_ >= bucket_count_) resize(std::max(kBucketsMin, 2 * bucket_count_));
  RowHold* const hold = new_hold();
  insert(hold, request);
  return hold;
}

// What it will need is allocated here, so that who grants it later does not fail.
void LockShard::enqueue(LockWaiter& waiter) {
  if (waiter.takes && waiter.own == nullptr) waiter.fresh = new_hold();
  waiter.before = last_;
  (last_ != nullptr ? last_->behind : first_) = &waiter;
  last_ = &waiter;
  waiter.queued = true;
}

void LockShard::dequeue(LockWaiter& waiter) {
  HAWTHORN_ASSERT(waiter.queued);
  (waiter.before != nullptr ? waiter.before->behind : first_) = waiter.behind;
  (waiter.behind != nullptr ? waiter.behind->before : last_) = waiter.before;
  waiter.before = nullptr;
  waiter.behind = nullptr;
  waiter.queued = false;
}

// Something of the row has become free: for those in the queue, in their order (2).
LockWaiter* LockShard::grant_queued(uint64_t row) {
  LockWaiter* granted = nullptr;
  LockWaiter** end = &granted;
  for (const bool holding : {true, false}) {
    LockWaiter* next = nullptr;
    for (LockWaiter* waiter = first_; waiter != nullptr; waiter = next) {
      next = waiter->behind;
      if (waiter->row != row || (waiter->own != nullptr) != holding) continue;
      if (blocked(*waiter)) {
        // All behind it are blocked by it, if by nothing else.
        if (!holding && waiter->mode == LockMode::kExclusive) break;
        continue;
      }
      dequeue(*waiter);
      if (waiter->fresh != nullptr) {
        insert(waiter->fresh, *waiter);
      } else {
        static_cast<void>(grant(*waiter));
      }
      *end = waiter;
      end = &waiter->behind;
    }
  }
  return granted;
}

LockWaiter* LockShard::let_go(RowHold* hold) {
  const uint64_t row = hold->row;
  *hold->link = hold->next;
  if (hold->next != nullptr) hold->next->link = hold->link;
  --held_;
  LockWaiter* const granted = first_ != nullptr ? grant_queued(row) : nullptr;
  free_hold(hold);
  if (bucket_count_ > kBucketsMin && held_ < bucket_count_ / 8) resize(bucket_count_ / 2);
  return granted;
}

LockWaiter* LockShard::lower(RowHold* hold, LockMode mode) {
  HAWTHORN_ASSERT(mode <= hold->mode);
  hold->mode = mode;
  return grant_queued(hold->row);
}

LockWaiter* LockShard::withdraw(LockWaiter& waiter) {
  dequeue(waiter);
  if (waiter.fresh != nullptr) free_hold(waiter.fresh);
  waiter.fresh = nullptr;
  return grant_queued(waiter.row);
}

void LockShard::wake(LockWaiter* granted) {
  while (granted != nullptr) {
    HAWTHORN_TEST_POINT("row_locks.wake");
    LockWaiter* const next = granted->behind;
    granted->granted.set();  // it may be gone now
    granted = next;
  }
}

}  // namespace hawthorn::txn
