#pragma once
// The trees in which something is to be done: those with entries in deltas, with flushes that are
// not durable, with layers, or whose log is needed for another reason. What goes round all the time
// goes by this list, so that its work does not grow with the trees that rest.
//
// Not here: when a tree is in use (tree.h), who goes round (db/scheduler.h, db/catalog.h).
// Threads: every function from any thread.
//
// 1. A tree is listed before its first entry, and whoever gives it other work lists it right after:
//    so a list that was taken later has it.
// 2. A tree is taken out in two steps: it is said to rest first, then it is looked at, under the
//    latches of its containers, then it goes if it was not listed again meanwhile. Who writes asks
//    whether it rests under the latch: so the look finds the entry, or the writer lists the tree.
// 3. What let_go was told of is never listed again.

#include <cstdint>
#include <vector>

#include "os/sync.h"
#include "tree/tree_ref.h"

namespace hawthorn::tree {

// What run files take on disk.
struct SpaceUse {
  uint64_t used = 0;
  uint64_t garbage = 0;
  uint64_t old_versions = 0;  // not in garbage: snapshots may need them

  void add(const SpaceUse& other) {
    used += other.used;
    garbage += other.garbage;
    old_versions += other.old_versions;
  }
  void subtract(const SpaceUse& other) {
    used -= other.used;
    garbage -= other.garbage;
    old_versions -= other.old_versions;
  }
};

class ActiveTrees {
 public:
  void add(TreeState* tree) EXCLUDES(mutex_);
  // Takes it out if nothing is to be done in it. `durable_batch`: batches up to it are durable.
  void rest(TreeState* tree, uint64_t durable_batch) EXCLUDES(mutex_);
  // It has no data any more.
  void let_go(TreeState* tree) EXCLUDES(mutex_);

  // Those that are not dropped, in no order. *resting: the sum of what all others have on disk.
  std::vector<TreeRef> list(SpaceUse* resting = nullptr) const EXCLUDES(mutex_);
  // Those that are dropped among them.
  std::vector<TreeRef> list_all() const EXCLUDES(mutex_);

 private:
  void take_out(TreeState* tree) REQUIRES(mutex_);

  mutable os::Mutex mutex_;
  std::vector<TreeState*> list_ GUARDED_BY(mutex_);
  SpaceUse resting_ GUARDED_BY(mutex_);
};

}  // namespace hawthorn::tree
