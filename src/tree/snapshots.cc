#include "tree/snapshots.h"

#include <new>

#include "os/epoch.h"
#include "os/test_point.h"

namespace hawthorn::tree {

Snapshots::Snapshots() { view_.store(new PruneView, std::memory_order_release); }

Snapshots::~Snapshots() {
  delete view_.load(std::memory_order_relaxed);
  for (std::atomic<Slot*>& chunk : chunks_) delete[] chunk.load(std::memory_order_relaxed);
}

uint32_t Snapshots::take_slot(Lsn ts) {
  static std::atomic<uint32_t> next_thread{0};
  thread_local uint32_t hint = next_thread.fetch_add(1, std::memory_order_relaxed) * 5;
  os::SpinWait wait;
  for (uint32_t chunks = chunk_count_.load(std::memory_order_acquire);;) {
    const uint32_t total = chunks * kChunkSlots;
    for (uint32_t tried = 0; tried < total; ++tried) {
      const uint32_t index = (hint + tried) % total;
      Lsn free = 0;
      if (slot(index)->ts.load(std::memory_order_relaxed) == 0 &&
          slot(index)->ts.compare_exchange_strong(free, ts, std::memory_order_seq_cst)) {
        hint = index;
        return index;
      }
    }
    if (chunks == kChunks) {
      hint = 0;
      wait.once();
      continue;  // a million snapshots are open: wait for one to go
    }
    auto* fresh = new Slot[kChunkSlots];
    Slot* none = nullptr;
    if (!chunks_[chunks].compare_exchange_strong(none, fresh, std::memory_order_acq_rel))
      delete[] fresh;
    // seq_cst: a pruner that does not see the new chunk must be seen by its user's look at
    // prune_ts.
    uint32_t seen = chunks;
    chunk_count_.compare_exchange_strong(seen, chunks + 1, std::memory_order_seq_cst);
    chunks = chunk_count_.load(std::memory_order_acquire);
  }
}

// Nothing is visible at timestamp 0, which would look like a free slot: it is announced as 1.
Lsn Snapshots::announced(Lsn ts) { return std::max<Lsn>(ts, 1); }

Snapshots::Registration Snapshots::add(const std::atomic<Lsn>& visible) {
  Lsn ts = visible.load(std::memory_order_acquire);
  HAWTHORN_TEST_POINT("snapshots.add.before_announce");
  const uint32_t index = take_slot(announced(ts));
  Slot* s = slot(index);
  s->registrations.store(s->registrations.load(std::memory_order_relaxed) + 1,
                         std::memory_order_relaxed);
  // The announcement above and this load are both seq_cst, as are the pruner's store and its reads
  // of the registry.
  while (prune_ts_.load(std::memory_order_seq_cst) > ts) {
    ts = visible.load(std::memory_order_acquire);
    HAWTHORN_TEST_POINT("snapshots.add.before_announce");
    s->ts.store(announced(ts), std::memory_order_seq_cst);
  }
  return {index, ts};
}

Snapshots::Registration Snapshots::share(Lsn ts) {
  const uint32_t index = take_slot(announced(ts));
  Slot* s = slot(index);
  s->registrations.store(s->registrations.load(std::memory_order_relaxed) + 1,
                         std::memory_order_relaxed);
  shares_.fetch_add(1, std::memory_order_seq_cst);
  return {index, ts};
}

void Snapshots::remove(uint32_t index) { slot(index)->ts.store(0, std::memory_order_release); }

void Snapshots::refresh(Lsn visible) {
  if (!refresh_mutex_.try_lock()) return;
  if (visible > prune_ts_.load(std::memory_order_relaxed))
    prune_ts_.store(visible, std::memory_order_seq_cst);
  auto* fresh = new PruneView;
  fresh->horizon = prune_ts_.load(std::memory_order_relaxed);
  uint32_t shares = 0;
  do {
    shares = shares_.load(std::memory_order_seq_cst);
    fresh->registered.clear();
    const uint32_t slots = chunk_count_.load(std::memory_order_seq_cst) * kChunkSlots;
    for (uint32_t i = 0; i < slots; ++i) {
      const Lsn ts = slot(i)->ts.load(std::memory_order_seq_cst);
      if (ts != 0 && ts < fresh->horizon) fresh->registered.push_back(ts);
    }
  } while (shares_.load(std::memory_order_seq_cst) != shares);
  std::sort(fresh->registered.begin(), fresh->registered.end());
  fresh->registered.erase(std::unique(fresh->registered.begin(), fresh->registered.end()),
                          fresh->registered.end());
  PruneView* old = view_.exchange(fresh, std::memory_order_acq_rel);
  refresh_mutex_.unlock();
  os::epoch::retire(old);
}

// Who registers from here on does so at `visible` or later.
bool Snapshots::read_between(Lsn from, Lsn below, Lsn visible) {
  refresh(visible);
  const os::epoch::Guard guard;
  const PruneView& present = *view();
  const auto reader = std::lower_bound(present.registered.begin(), present.registered.end(), from);
  return present.horizon + 1 < below || (reader != present.registered.end() && *reader < below);
}

void Snapshots::observe(uint64_t now_us) {
  os::MutexLock lock(observe_mutex_);
  const uint32_t chunks = chunk_count_.load(std::memory_order_acquire);
  for (uint32_t i = 0; i < chunks * kChunkSlots; ++i) {
    Slot* s = slot(i);
    if (s->ts.load(std::memory_order_relaxed) == 0) {
      s->since_us.store(0, std::memory_order_relaxed);
      continue;
    }
    const uint32_t present = s->registrations.load(std::memory_order_relaxed);
    const bool known = s->since_us.load(std::memory_order_relaxed) != 0 &&
                       s->seen.load(std::memory_order_relaxed) == present;
    if (known) continue;
    s->seen.store(present, std::memory_order_relaxed);
    s->since_us.store(std::max<uint64_t>(now_us, 1), std::memory_order_relaxed);
  }
}

uint64_t Snapshots::oldest_since_us() const {
  Lsn oldest = format::kLsnMax;
  uint64_t since_us = 0;
  const uint32_t chunks = chunk_count_.load(std::memory_order_acquire);
  for (uint32_t i = 0; i < chunks * kChunkSlots; ++i) {
    const Slot* s = slot(i);
    const Lsn ts = s->ts.load(std::memory_order_relaxed);
    const uint64_t since = s->since_us.load(std::memory_order_relaxed);
    // Of several at one timestamp, the one that was there first.
    if (ts == 0 || ts > oldest || (ts == oldest && since >= since_us)) continue;
    oldest = ts;
    since_us = since;
  }
  return since_us;
}

uint64_t Snapshots::count() const {
  uint64_t count = 0;
  const uint32_t chunks = chunk_count_.load(std::memory_order_acquire);
  for (uint32_t i = 0; i < chunks * kChunkSlots; ++i) {
    count += slot(i)->ts.load(std::memory_order_relaxed) != 0 ? 1 : 0;
  }
  return count;
}

Lsn Snapshots::oldest(Lsn otherwise) const {
  Lsn oldest = otherwise;
  uint32_t shares = 0;
  do {
    shares = shares_.load(std::memory_order_seq_cst);
    const uint32_t slots = chunk_count_.load(std::memory_order_acquire) * kChunkSlots;
    for (uint32_t i = 0; i < slots; ++i) {
      const Lsn ts = slot(i)->ts.load(std::memory_order_acquire);
      if (ts != 0) oldest = std::min(oldest, ts);
    }
  } while (shares_.load(std::memory_order_seq_cst) != shares);
  return oldest;
}

}  // namespace hawthorn::tree
