#pragma once
// What a clone shows of the tree that it was made of, and what that tree keeps for it (R26).
//
//   clone ── its own containers: all that was written to it since
//     │      a key of which these have no version:
//     └───── base: the source as of the commit that made the clone
//   source ── pins: the moments of its clones ── merges keep what these show, as for a snapshot
//
// Not here: who makes clones (db/catalog.h), point reads (point_get.cc), walks (layered_walk.h).
// Threads: every function from any thread.
//
// 1. The base's moment is the cts of the commit that made the clone. It is pinned under the log's
//    mutex, before visible_ts gets there: so no version that it needs was pruned before, and none
//    is afterwards. Replay meets the same commit at the same place (R10).
// 2. A clone keeps its deletes: below each may lie an entry of the base.
// 3. A tree with pins stays, also when it was dropped.
// 4. The log is kept from the commit on until the manifest knows its cts.

#include <algorithm>
#include <atomic>
#include <vector>

#include "format/log_epoch.h"
#include "os/epoch.h"
#include "os/sync.h"
#include "tree/snapshots.h"
#include "tree/tree_ref.h"
#include "tree/visibility.h"

namespace hawthorn::tree {

class TreeState;

struct CloneBase {
  const TreeRef source;
  std::atomic<Lsn> at{format::kLsnMax};        // kLsnMax: not committed yet
  std::atomic<Lsn> log_from{format::kLsnMax};  // what the log is needed from

  explicit CloneBase(TreeState* of) : source(of) {}
  // Whether it is there for a registered reader of the clone. Who sees a clone that is not
  // committed has made it.
  bool shown_to(const ReadView& of_clone) const {
    const Lsn ts = at.load(std::memory_order_acquire);
    return ts == format::kLsnMax || ts <= of_clone.ts;
  }
  // How a reader of the clone reads it.
  ReadView view(const ReadView& of_clone) const {
    const Lsn ts = at.load(std::memory_order_acquire);
    return ts == format::kLsnMax ? of_clone : ReadView{ts, 0};
  }
};

// The moments of a tree that others show, in ascending order.
class PinList {
 public:
  // Of a clone whose moment only the log tells, which is being replayed: everything is kept.
  static constexpr Lsn kEverything = 0;
  // Of one that is not committed: the tree stays, versions may go.
  static constexpr Lsn kNoMoment = format::kLsnMax;

  bool empty() const { return moments_.empty(); }
  // Whether one shows a version with cts `older`, where the next one has `newer`.
  bool between(Lsn older, Lsn newer) const {
    if (moments_.empty()) return false;
    if (moments_.front() == kEverything) return true;
    const auto at = std::lower_bound(moments_.begin(), moments_.end(), older);
    return at != moments_.end() && *at < newer;
  }
  // What may be pruned beside them.
  void restrict(PruneView* view) const;

 private:
  friend class Pins;
  std::vector<Lsn> moments_;
};

class Pins {
 public:
  Pins() = default;
  ~Pins();
  Pins(const Pins&) = delete;
  Pins& operator=(const Pins&) = delete;

  void add(Lsn moment);
  void remove(Lsn moment);
  void move(Lsn from, Lsn to);
  bool any() const { return list_.load(std::memory_order_acquire) != nullptr; }
  // Null: there is none. Inside an epoch guard. Behind a look at what may be pruned it has every
  // moment up to there.
  const PinList* list() const { return list_.load(std::memory_order_acquire); }
  PinList copy() const;
  // kLsnMax: there is none.
  Lsn oldest() const;

 private:
  template <typename Change>
  void change(Change change);

  mutable os::Mutex mutex_;
  std::atomic<const PinList*> list_{nullptr};  // changed under the mutex
};

}  // namespace hawthorn::tree
