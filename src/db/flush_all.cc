// Flushes that somebody waits for, a part of the scheduler: all that there is, and what makes room
// where a write finds no memory.

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "db/scheduler.h"
#include "os/epoch.h"

namespace hawthorn::db {

namespace {
constexpr uint32_t kRelieveAttempts = 2000;
constexpr uint64_t kRelievePauseUs = 500;
constexpr uint64_t kOthersUsMax = 100'000;  // in each of them
constexpr uint32_t kRelievePublish = 64;    // of those, from one publishing to the next
constexpr uint32_t kFlushPasses = 8;
constexpr uint32_t kMemoryAttempts = 2000;  // half a millisecond each
constexpr size_t kToldPart = 32;            // of the budget: who has less of it is not named

// Who has the budget, the largest part first.
std::string holders_text(const os::Arena& arena) {
  // In the order of os::Quota.
  constexpr std::array<const char*, os::kQuotaCount> kNames = {
      "writes that are not flushed, as they belong to open transactions or were just made",
      "trees and their containers",
      "indexes of containers",
      "values that are being written or read",
      "cached blocks",
      "the log",
      "flushes",
      "values that were returned and are in use",
      "open transactions, cursors, deltas and threads"};
  std::array<size_t, os::kQuotaCount> left{};
  for (size_t i = 0; i < left.size(); ++i) left[i] = arena.used(static_cast<os::Quota>(i));
  std::string text = "the memory budget of " + std::to_string(arena.budget()) + " bytes is held by";
  for (const char* between = " ";; between = "; ") {
    size_t most = 0;
    for (size_t i = 1; i < left.size(); ++i) {
      if (left[i] > left[most]) most = i;
    }
    if (left[most] <= arena.budget() / kToldPart) break;
    text.append(between).append(kNames[most]).append(" (");
    text.append(std::to_string(left[most])).append(")");
    left[most] = 0;
  }
  return text;
}
}  // namespace

Status Scheduler::relieve(uint32_t* futile) {
  const bool let_go = store_->cursors.let_go() > 0;
  const bool evicted = store_->residency->make_room(size_t{2} << 20) || let_go;
  // Once: who asks may read it all again, and then lack as much as before.
  if (evicted && *futile == 0) {
    ++*futile;
    return {};
  }
  // All that can be flushed is, however little the deltas hold. During recovery most of one may
  // belong to a transaction whose commit record comes later.
  relieving_.fetch_add(1, std::memory_order_relaxed);
  const Step step = flush_step(Flusher::kBackground, !started_.load(std::memory_order_acquire));
  relieving_.fetch_sub(1, std::memory_order_relaxed);
  os::epoch::collect();
  if (step == Step::kDone) {
    *futile = 0;
    return {};
  }
  if (!evicted) await_others();
  if (++*futile > kRelieveAttempts) {
    return Status(StatusCode::kOutOfMemory, holders_text(*store_->arena));
  }
  // What was flushed and not published yet cannot be evicted.
  if (*futile % kRelievePublish == 0) {
    if (Status published = publisher_->publish_now({}); !published.ok()) return published;
  }
  if (!evicted) machine_.clock->sleep_us(kRelievePauseUs);
  return {};
}

// Until one of those who flush now has ended: a slow one is no reason to give up.
void Scheduler::await_others() {
  const uint64_t ended = works_ended_.load(std::memory_order_acquire);
  const uint64_t until = machine_.clock->monotonic_us() + kOthersUsMax;
  while (working_.load(std::memory_order_acquire) != 0 &&
         works_ended_.load(std::memory_order_acquire) == ended &&
         machine_.clock->monotonic_us() < until) {
    machine_.clock->sleep_us(kRelievePauseUs);
  }
}

// ---- The whole database

std::vector<std::string> Scheduler::unflushed(tree::TreeState* tree, Lsn end) const {
  std::vector<std::string> lows;
  if (tree->dropped.load(std::memory_order_acquire)) return lows;
  os::epoch::Guard guard;
  for (const tree::Container* container : tree->directory().all()) {
    const tree::Descriptor* d = container->descriptor.load(std::memory_order_acquire);
    // Entries without versions are what rolled-back transactions leave.
    const bool active = d->active->versions() > 0 && d->active->first_lsn() < end;
    const bool frozen =
        d->frozen != nullptr && d->frozen->versions() > 0 && d->frozen->first_lsn() < end;
    if (active || frozen) lows.push_back(container->low);
  }
  return lows;
}

bool Scheduler::all_flushed() const {
  for (tree::TreeState* tree : store_->active.list()) {
    if (!unflushed(tree, format::kLsnMax).empty()) return false;
  }
  return true;
}

// One flush of a container leaves what was written while it ran, and what was frozen before goes
// alone; one that splits leaves the same to each part. So there are passes, until one finds nothing
// from before this call. An open transaction that logged chunks is found by each: hence the bound.
Status Scheduler::flush_all(Lsn end) {
  Status full;
  Damaged damaged;
  for (tree::TreeState* tree : store_->active.list()) {
    damaged.lows.clear();
    for (uint32_t pass = 0; pass < kFlushPasses; ++pass) {
      std::vector<std::string> lows = unflushed(tree, end);
      std::erase_if(lows, [&](const std::string& low) { return damaged.lows.contains(low); });
      if (lows.empty()) break;
      Status s = flush_each(tree, lows, &damaged);
      if (!s.ok() && !s.is(StatusCode::kNoSpace)) return s;
      if (!s.ok() && pass + 1 == kFlushPasses) full = std::move(s);
    }
  }
  return full.ok() ? damaged.first : full;
}

// A container that finds no space leaves it to the others to make some. One that is damaged keeps
// its delta, and the others do not wait for it.
Status Scheduler::flush_each(tree::TreeState* tree, const std::vector<std::string>& lows,
                             Damaged* damaged) {
  Status full;
  for (const std::string& low : lows) {
    os::SpinWait wait;
    for (uint32_t attempt = 0;; ++attempt) {
      if (attempt > 0) wait.once();
      bool flushed = false;
      const Status s = flush_container(tree, low, true, true, policy(), &flushed);
      if (!s.ok()) {
        if (s.is(StatusCode::kOutOfMemory) && attempt < kMemoryAttempts) {
          // What was flushed and not published yet cannot be evicted.
          if (Status published = publisher_->publish(); !published.ok()) return published;
          store_->cursors.let_go();
          os::epoch::collect();
          machine_.clock->sleep_us(500);
          continue;
        }
        if (s.is(StatusCode::kCorruption)) {
          damaged->lows.insert(low);
          if (damaged->first.ok()) damaged->first = s;
          break;
        }
        if (!s.is(StatusCode::kNoSpace)) return s;
        full = s;
        break;
      }
      if (flushed) break;
      if (tree->dropped.load(std::memory_order_acquire)) break;
      // Not flushed: somebody else is at it (wait), or nothing is left of it.
      os::epoch::Guard guard;
      const tree::Container* container = tree->directory().find(low);
      const tree::Descriptor* d = container->descriptor.load(std::memory_order_acquire);
      if (!container->flushing.load(std::memory_order_acquire) && d->frozen == nullptr &&
          (d->active->empty() || attempt > 10)) {
        break;
      }
    }
    os::epoch::collect();
  }
  return full;
}

}  // namespace hawthorn::db
