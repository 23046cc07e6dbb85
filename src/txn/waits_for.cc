#include "txn/waits_for.h"

#include "base/assert.h"
#include "base/prng.h"
#include "tree/container.h"

namespace hawthorn::txn {

namespace {

constexpr size_t kNamedMax = 16;      // transactions of a cycle
constexpr size_t kScratchMax = 1024;  // entries that a walk leaves allocated

// `path`: each waits for the next one, the last for the first.
std::string in_words(const std::vector<const LockWaiter*>& path) {
  std::string text = "transactions wait for each other: ";
  for (size_t i = 0; i < path.size(); ++i) {
    if (i == kNamedMax) {
      text += ", and ";
      text += std::to_string(path.size() - i) + " more";
      break;
    }
    const LockWaiter& waiter = *path[i];
    if (i > 0) text += ", ";
    text += std::to_string(waiter.owner) + " for ";
    text += std::to_string(path[(i + 1) % path.size()]->owner);
    if (waiter.other != 0) {
      text += " to end";
    } else {
      text += " at tree " + std::to_string(waiter.tree) + ", key " + tree::quoted_key(waiter.key);
    }
  }
  return text;
}

}  // namespace

size_t WaitsFor::bucket_of(TxnId id) { return mix64(id) % kBuckets; }

void WaitsFor::add(LockWaiter& waiter) {
  HAWTHORN_ASSERT(find(waiter.owner) == nullptr);
  LockWaiter*& first = buckets_[bucket_of(waiter.owner)];
  waiter.next = first;
  first = &waiter;
  if (waiter.other != 0) ++waits_for_ends_;
  size_.fetch_add(1, std::memory_order_release);
}

void WaitsFor::remove(LockWaiter& waiter) {
  LockWaiter** link = &buckets_[bucket_of(waiter.owner)];
  while (*link != &waiter) link = &(*link)->next;
  *link = waiter.next;
  if (waiter.other != 0) --waits_for_ends_;
  size_.fetch_sub(1, std::memory_order_release);
}

LockWaiter* WaitsFor::find(TxnId id) const {
  LockWaiter* waiter = buckets_[bucket_of(id)];
  while (waiter != nullptr && waiter->owner != id) waiter = waiter->next;
  return waiter;
}

void WaitsFor::collect_blockers(const LockWaiter& waiter) {
  blockers_.clear();
  if (waiter.other != 0) {
    blockers_.push_back(waiter.other);
    return;
  }
  std::vector<TxnId>* const blockers = &blockers_;
  LockShard& shard = shards_[LockShard::number_of(waiter.row)];
  const os::MutexLock lock(shard.mutex);
  if (!waiter.queued) return;  // granted a moment ago
  const auto collect = [blockers](TxnId id) {
    blockers->push_back(id);
    return false;
  };
  shard.any_blocking_holder(waiter, collect);
  shard.any_blocking_waiter(waiter, collect);
}

std::string WaitsFor::cycle_from(LockWaiter& from) {
  const LockWaiter* last = nullptr;
  from.walk = ++walk_;
  to_visit_.assign(1, &from);
  while (!to_visit_.empty() && last == nullptr) {
    LockWaiter* const waiter = to_visit_.back();
    to_visit_.pop_back();
    collect_blockers(*waiter);
    for (const TxnId id : blockers_) {
      if (id == from.owner) last = waiter;
      LockWaiter* const blocker = find(id);
      if (blocker == nullptr || blocker->walk == walk_) continue;
      blocker->walk = walk_;
      blocker->reached_from = waiter;
      to_visit_.push_back(blocker);
    }
  }
  if (blockers_.capacity() > kScratchMax) std::vector<TxnId>().swap(blockers_);
  if (to_visit_.capacity() > kScratchMax) std::vector<LockWaiter*>().swap(to_visit_);
  if (last == nullptr) return {};
  std::vector<const LockWaiter*> path;
  for (; last != &from; last = last->reached_from) path.push_back(last);
  path.push_back(&from);
  return in_words({path.rbegin(), path.rend()});
}

}  // namespace hawthorn::txn
