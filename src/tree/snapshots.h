#pragma once
// The registry of timestamps that somebody still reads at, and what writers may prune because of
// it.
//
// Not here: visible_ts itself (the sequencer owns it and passes it in).
// Threads: every function from any thread; add and remove take no lock.
//
// 1. A reader announces a timestamp, then checks that prune_ts has not passed it; a pruner
// publishes prune_ts, then reads
//    the registry. One of the two always sees the other (R15).
// 2. A version may go when a newer one of its key has a cts <= horizon, and no registered timestamp
// lies between them.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "format/log_epoch.h"
#include "os/sync.h"

namespace hawthorn::tree {

using format::Lsn;

// What may be pruned, as of one moment. Immutable; valid inside an epoch guard.
struct PruneView {
  Lsn horizon = 0;
  std::vector<Lsn> registered;  // below the horizon, ascending, without repeats

  // Whether a version with cts `older` is of no use to anybody, given a newer version of the key
  // with cts `newer`.
  bool dead(Lsn older, Lsn newer) const {
    if (newer > horizon) return false;
    if (registered.empty()) return true;
    const auto at = std::lower_bound(registered.begin(), registered.end(), older);
    return at == registered.end() || *at >= newer;
  }
  // Every timestamp that is read below the horizon is >= this one.
  Lsn oldest() const { return registered.empty() ? horizon : registered.front(); }
};

class Snapshots {
 public:
  Snapshots();
  ~Snapshots();
  Snapshots(const Snapshots&) = delete;
  Snapshots& operator=(const Snapshots&) = delete;

  struct Registration {
    uint32_t slot = 0;
    Lsn ts = 0;
  };
  // Registers the present value of `visible`.
  Registration add(const std::atomic<Lsn>& visible);
  // Registers a timestamp that somebody else has registered, and does not remove meanwhile.
  Registration share(Lsn ts);
  void remove(uint32_t slot);

  // Makes a new view as of `visible`. Cheap; when another thread is at it, returns at once.
  void refresh(Lsn visible);
  // The last view. Inside an epoch guard.
  const PruneView* view() const { return view_.load(std::memory_order_acquire); }

  // Whether somebody may read at a timestamp in [from, below), now that `visible` is.
  bool read_between(Lsn from, Lsn below, Lsn visible);

  uint64_t count() const;
  // The oldest registered timestamp, or `otherwise`.
  Lsn oldest(Lsn otherwise) const;
  // Looks who is registered: ages count from the first look that finds a registration, so that
  // registering reads no clock. Called now and then, by one thread at a time.
  void observe(uint64_t now_us) EXCLUDES(observe_mutex_);
  // When observe first saw the oldest registration; 0: none is registered, or it was not seen yet.
  uint64_t oldest_since_us() const;

 private:
  static constexpr uint32_t kChunkSlots = 128;
  static constexpr uint32_t kChunks = 8192;  // a million readers
  struct alignas(64) Slot {
    std::atomic<Lsn> ts{0};  // 0: free
    std::atomic<uint32_t> registrations{0};
    // What observe saw: which of them, since when.
    std::atomic<uint32_t> seen{0};
    std::atomic<uint64_t> since_us{0};
  };
  Slot* slot(uint32_t index) const {
    return &chunks_[index / kChunkSlots].load(std::memory_order_acquire)[index % kChunkSlots];
  }
  static Lsn announced(Lsn ts);
  uint32_t take_slot(Lsn ts);

  std::atomic<Slot*> chunks_[kChunks] = {};
  std::atomic<uint32_t> chunk_count_{0};
  // Of share: whoever looks at all slots meanwhile may miss both, and looks again.
  std::atomic<uint32_t> shares_{0};
  std::atomic<Lsn> prune_ts_{0};
  std::atomic<PruneView*> view_{nullptr};
  os::Mutex refresh_mutex_;
  os::Mutex observe_mutex_;
};

// A registration for as long as the object lives.
class HeldSnapshot {
 public:
  HeldSnapshot(Snapshots& snapshots, const std::atomic<Lsn>& visible)
      : snapshots_(snapshots), registration_(snapshots.add(visible)) {}
  ~HeldSnapshot() { snapshots_.remove(registration_.slot); }
  HeldSnapshot(const HeldSnapshot&) = delete;
  HeldSnapshot& operator=(const HeldSnapshot&) = delete;
  Lsn ts() const { return registration_.ts; }

 private:
  Snapshots& snapshots_;
  const Snapshots::Registration registration_;
};

}  // namespace hawthorn::tree
