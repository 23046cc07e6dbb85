#include "txn/row_locks.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "base/assert.h"
#include "base/checksum.h"
#include "base/prng.h"
#include "tree/container.h"

namespace hawthorn::txn {

using os::MutexLock;

namespace {

// A few transactions, to be named in an error.
class Named {
 public:
  void add(TxnId id) {
    if (count_ < ids_.size()) ids_[count_] = id;
    ++count_;
  }
  bool empty() const { return count_ == 0; }
  std::string in_words() const {
    std::string text = count_ == 1 ? "transaction " : "transactions ";
    for (size_t i = 0; i < std::min(count_, ids_.size()); ++i) {
      if (i > 0) text += ", ";
      text += std::to_string(ids_[i]);
    }
    if (count_ > ids_.size()) text += " and " + std::to_string(count_ - ids_.size()) + " more";
    return text;
  }

 private:
  std::array<TxnId, 8> ids_{};
  size_t count_ = 0;
};

// Who keeps a request from what it wants.
struct InTheWay {
  Named holders;
  Named before_it;
};

InTheWay in_the_way(const LockShard& shard, const LockRequest& request) REQUIRES(shard.mutex) {
  InTheWay found;
  shard.any_other_holder(request.row, request.owner, [&found](TxnId id) {
    found.holders.add(id);
    return false;
  });
  shard.any_blocking_waiter(request, [&found](TxnId id) {
    found.before_it.add(id);
    return false;
  });
  return found;
}

Status timed_out(const InTheWay& found, uint32_t tree, std::string_view key, uint64_t timeout_us) {
  std::string text =
      "tree " + std::to_string(tree) + ", key " + tree::quoted_key(key) + " is locked";
  if (timeout_us != 0) text += " for longer than " + std::to_string(timeout_us) + " us";
  if (!found.holders.empty()) text += " by " + found.holders.in_words();
  if (!found.before_it.empty()) text += "; before this one waits " + found.before_it.in_words();
  return Status(StatusCode::kTimedOut, std::move(text));
}

Status deadlock(std::string cycle) { return Status(StatusCode::kDeadlock, std::move(cycle)); }

// Where the program was loaded, so that nobody can choose keys that collide.
const char hash_seed = 0;

}  // namespace

RowLocks::RowLocks(os::Arena* arena, uint64_t hash_bits)
    : hash_bits_(hash_bits),
      shards_(std::make_unique<LockShard[]>(LockShard::kCount)),
      waits_(shards_.get()) {
  for (size_t i = 0; i < LockShard::kCount; ++i) shards_[i].set_arena(arena);
}

RowLocks::~RowLocks() { HAWTHORN_ASSERT(!any() && waiting() == 0); }

uint64_t RowLocks::row_of(uint32_t tree, std::string_view key) const {
  const uint64_t seed = reinterpret_cast<uint64_t>(&hash_seed) ^ mix64(tree);
  return checksum64(key.data(), key.size(), seed) & hash_bits_;
}

Status RowLocks::acquire(HeldLocks& held, TxnId own, uint32_t tree, std::string_view key,
                         LockMode mode, uint64_t timeout_us) {
  held.reserve(key.size());
  const bool first = held.empty();
  if (first) {
    if (Status s = enter(timeout_us); !s.ok()) return s;
  }
  LockRequest request{.row = row_of(tree, key), .owner = own, .mode = mode};
  LockMode row_before = mode;
  RowHold* hold = nullptr;
  {
    LockShard& shard = shard_of(request.row);
    const MutexLock lock(shard.mutex);
    request.own = shard.find(request.row, own);
    if (request.own != nullptr) row_before = request.own->mode;
    if (request.own != nullptr && row_before >= mode) {
      hold = request.own;
    } else if (!shard.blocked(request)) {
      hold = shard.grant(request);
    }
  }
  if (hold == nullptr) {
    LockWaiter waiter(request, tree, key);
    // Nobody waits for one that holds nothing and is the last in the queue.
    Status s = timeout_us == 0 ? refuse(request, tree, key) : wait(waiter, !first, timeout_us);
    if (!s.ok()) {
      if (first) {
        held.drop_memory();  // what was reserved
        holders.fetch_sub(1, std::memory_order_release);
      }
      return s;
    }
    hold = request.own != nullptr ? request.own : waiter.fresh;
  }
  held.add(hold, row_before, tree, key, mode);
  return {};
}

// Counted before it asks whether they are closed, as close() closes before it counts.
Status RowLocks::enter(uint64_t timeout_us) {
  for (uint64_t waited_us = 0;;) {
    holders.fetch_add(1, std::memory_order_seq_cst);
    if (closed_.load(std::memory_order_seq_cst) == 0) return {};
    holders.fetch_sub(1, std::memory_order_release);
    if (waited_us >= timeout_us || os::interrupted()) {
      return Status(
          StatusCode::kTimedOut,
          "no row can be locked while an exclusive transaction or a bulk ingest is at work");
    }
    const uint64_t turn_us = std::min(timeout_us - waited_us, os::interrupt_turn_us());
    const MutexLock lock(gate_mutex_);
    ++gate_waiters_;
    bool in_time = true;
    while (in_time && closed_.load(std::memory_order_relaxed) != 0) {
      in_time = reopened_.wait_for(gate_mutex_, turn_us);
    }
    --gate_waiters_;
    if (!in_time) waited_us += turn_us;
  }
}

Status RowLocks::close(uint64_t timeout_us) {
  closed_.fetch_add(1, std::memory_order_seq_cst);
  constexpr uint64_t kLookAgainUs = 100;
  os::Signal never;
  for (uint64_t waited = 0; holders.load(std::memory_order_seq_cst) != 0; waited += kLookAgainUs) {
    if (waited >= timeout_us || os::interrupted()) {
      reopen();
      return Status(StatusCode::kTimedOut,
                    std::to_string(holders.load(std::memory_order_relaxed)) +
                        " transactions hold row locks, whose end is to be waited for");
    }
    static_cast<void>(never.wait_for(kLookAgainUs));
  }
  return {};
}

void RowLocks::reopen() {
  bool waited_for = false;
  {
    const MutexLock lock(gate_mutex_);
    closed_.fetch_sub(1, std::memory_order_seq_cst);
    waited_for = gate_waiters_ > 0;
  }
  if (waited_for) reopened_.notify_all();
}

void RowLocks::release_to(HeldLocks& held, size_t mark) {
  if (held.size() <= mark) {
    if (held.empty()) held.drop_memory();  // of calls that failed
    return;
  }
  while (held.size() > mark) {
    const HeldLocks::Entry entry = held.pop();
    RowHold* const hold = entry.hold;
    // Nobody else changes either of them.
    const bool first_of_row = entry.before == HeldLocks::kNone;
    if (!first_of_row && hold->mode == entry.row_before) continue;
    LockWaiter* granted = nullptr;
    {
      LockShard& shard = shard_of(hold->row);
      const MutexLock lock(shard.mutex);
      granted = first_of_row ? shard.let_go(hold) : shard.lower(hold, entry.row_before);
    }
    LockShard::wake(granted);
  }
  held.drop_memory();
  if (held.empty()) holders.fetch_sub(1, std::memory_order_release);
}

std::vector<uint32_t> RowLocks::release_covered(HeldLocks& held, TxnId own,
                                                std::span<const Covered> keys) {
  std::vector<uint32_t> gone;
  for (const Covered& covered : keys) {
    const uint64_t row = row_of(covered.tree, covered.key);
    LockWaiter* granted = nullptr;
    {
      LockShard& shard = shard_of(row);
      const MutexLock lock(shard.mutex);
      RowHold* const hold = shard.find(row, own);
      if (hold == nullptr) continue;
      const uint32_t number = hold->newest_entry;
      const HeldLocks::Entry& entry = held.entries_[number];
      const bool alone = entry.before == HeldLocks::kNone && entry.tree == covered.tree &&
                         held.key_of(entry) == covered.key;
      if (!alone || entry.mode != LockMode::kExclusive || number < covered.from || number == 0) {
        continue;
      }
      gone.push_back(number);
      granted = shard.let_go(hold);
    }
    LockShard::wake(granted);
  }
  std::sort(gone.begin(), gone.end());
  if (!gone.empty()) held.take_out(gone);
  return gone;
}

bool RowLocks::held_by_other(TxnId own, uint32_t tree, std::string_view key) const {
  const uint64_t row = row_of(tree, key);
  LockShard& shard = shard_of(row);
  const MutexLock lock(shard.mutex);
  return shard.held_by_other(row, own);
}

Status RowLocks::wait_unlocked(TxnId own, uint32_t tree, std::string_view key,
                               uint64_t timeout_us) {
  LockRequest request{.row = row_of(tree, key), .owner = own, .takes = false};
  {
    LockShard& shard = shard_of(request.row);
    const MutexLock lock(shard.mutex);
    request.own = shard.find(request.row, own);
    if (!shard.blocked(request)) return {};
  }
  if (timeout_us == 0) return refuse(request, tree, key);
  LockWaiter waiter(request, tree, key);
  return wait(waiter, true, timeout_us);
}

// The answer to who does not wait.
Status RowLocks::refuse(const LockRequest& request, uint32_t tree, std::string_view key) {
  InTheWay found;
  {
    LockShard& shard = shard_of(request.row);
    const MutexLock lock(shard.mutex);
    found = in_the_way(shard, request);
  }
  return timed_out(found, tree, key, 0);
}

// Waits in the queue until the request is granted. Errors: those of acquire.
Status RowLocks::wait(LockWaiter& waiter, bool may_close_cycle, uint64_t timeout_us) {
  LockShard& shard = shard_of(waiter.row);
  LockWaiter* others = nullptr;
  std::string cycle;
  {
    const MutexLock graph(waits_.mutex);
    {
      const MutexLock lock(shard.mutex);
      if (!shard.blocked(waiter)) {
        waiter.fresh = shard.grant(waiter);
        return {};
      }
      shard.enqueue(waiter);
    }
    waits_.add(waiter);
    if (may_close_cycle || waits_.waits_for_ends() != 0) cycle = waits_.cycle_from(waiter);
    if (!cycle.empty()) {
      waits_.remove(waiter);
      const MutexLock lock(shard.mutex);
      others = shard.withdraw(waiter);
    }
  }
  LockShard::wake(others);
  if (!cycle.empty()) return deadlock(std::move(cycle));
  if (!waiter.granted.wait_for(timeout_us)) return give_up(waiter, timeout_us);
  const MutexLock graph(waits_.mutex);
  waits_.remove(waiter);
  return {};
}

// The time is over; unless somebody grants it just now.
Status RowLocks::give_up(LockWaiter& waiter, uint64_t timeout_us) {
  LockShard& shard = shard_of(waiter.row);
  LockWaiter* others = nullptr;
  InTheWay found;
  bool late = false;
  {
    const MutexLock graph(waits_.mutex);
    waits_.remove(waiter);
    const MutexLock lock(shard.mutex);
    late = waiter.queued;
    if (late) {
      found = in_the_way(shard, waiter);
      others = shard.withdraw(waiter);
    }
  }
  LockShard::wake(others);
  if (late) return timed_out(found, waiter.tree, waiter.key, timeout_us);
  waiter.granted.wait();
  return {};
}

Status RowLocks::begin_wait(TxnId own, TxnId other) {
  HAWTHORN_ASSERT(own != other && other != 0);
  const MutexLock graph(waits_.mutex);
  std::unique_ptr<LockWaiter> waiter(waits_.find(own));
  if (waiter != nullptr) {
    HAWTHORN_ASSERT(waiter->other != 0);
    waits_.remove(*waiter);
  } else {
    waiter = std::make_unique<LockWaiter>(LockRequest{.owner = own}, 0, std::string_view());
  }
  waiter->other = other;
  waits_.add(*waiter);
  std::string cycle = waits_.cycle_from(*waiter);
  if (cycle.empty()) {
    static_cast<void>(waiter.release());  // until end_wait
    return {};
  }
  waits_.remove(*waiter);
  return deadlock(std::move(cycle));
}

void RowLocks::end_wait(TxnId own) {
  const MutexLock graph(waits_.mutex);
  const std::unique_ptr<LockWaiter> waiter(waits_.find(own));
  if (waiter == nullptr) return;
  HAWTHORN_ASSERT(waiter->other != 0);
  waits_.remove(*waiter);
}

}  // namespace hawthorn::txn
