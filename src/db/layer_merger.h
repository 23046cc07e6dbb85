#pragma once
// Brings what committed layers hold into their trees (tree/layers.h): by ordinary commits of a few
// keys each, in the background. Then the layers go.
//
//   layer, committed at 100:  a=1  b=2  c deleted         tree: b=7 (committed at 120)
//   flushed                                               manifest: the layer is of commit 100
//   commits at 150, 160:      a=1       c deleted         b stays as it is
//   nobody reads from 100 to 160 any more ──> the layer is taken off its tree, and its own tree is
//   dropped
//
// Not here: what readers see meanwhile (tree/layered_walk.h, tree/point_get.h). Threads: one of its
// own; every function from any thread.
//
// 1. The newest layer goes first: what is written ranks above all layers that are there. Who finds
//    the tree's own version above the layer's timestamp leaves it; who finds that a newer layer was
//    committed meanwhile begins with that.
// 2. The log keeps the transaction until the manifest knows its layers: until then an open makes
//    them again. All layers of a commit are kept by one batch, behind all that it left in deltas.
// 3. What a range that was deleted since hides is written as deleted.
// 4. What cannot be written now (a locked row, a conflict, a full disk) is tried again later.

#include <functional>
#include <memory>
#include <vector>

#include "db/catalog.h"
#include "db/range_eraser.h"
#include "db/scheduler.h"
#include "os/sync.h"
#include "txn/transaction.h"

namespace hawthorn::db {

class LayerMerger {
 public:
  LayerMerger(const txn::Services& services, Catalog* catalog, Scheduler* scheduler,
              Publisher* publisher)
      : services_(services),
        catalog_(catalog),
        scheduler_(scheduler),
        publisher_(publisher),
        eraser_(services, catalog, scheduler, publisher) {}
  ~LayerMerger() { stop(); }

  // The database is open: from here on it works as soon as it is told, where the machine has
  // background threads.
  void start();
  void stop();
  // There are committed layers. Does nothing before start.
  void wake();
  // Where there are any.
  void wake_if_due();
  // To be called now and then: starts the thread where the system had none to give.
  void try_again();
  // Until all that can be written now is.
  Status drain();
  // Tells the manifest of all layers that are committed, and rewrites what ranges hide. False: of
  // some it could not, and the log has to stay.
  bool keep_all();

 private:
  void begin_thread() REQUIRES(mutex_);
  struct Pending;
  // What a pass over all layers leaves.
  enum class Left : uint8_t { kNothing, kReaders, kWrites };
  Result<Left> pass();
  void run();
  bool stopping() const;
  // Layers of one commit.
  using Commit = std::span<const Catalog::CommittedLayer>;
  template <typename Each>
  bool each_commit(Each each) const;
  bool keep(Commit commit);
  static std::shared_ptr<tree::Layer> next_of(const tree::TreeState* tree);
  Result<bool> merge(tree::TreeState* tree, const tree::Layer& layer);
  Result<bool> write(tree::TreeState* tree, const tree::Layer& layer, const Pending& pending);
  bool let_go(Commit commit);
  bool is_read(Commit commit);
  void forget_relays();
  bool log_merged(format::Lsn cts);

  const txn::Services services_;
  Catalog* const catalog_;
  Scheduler* const scheduler_;
  Publisher* const publisher_;
  RangeEraser eraser_;
  os::Mutex merging_;  // one pass at a time
  mutable os::Mutex mutex_;
  os::CondVar wake_;
  bool started_ GUARDED_BY(mutex_) = false;
  bool stopping_ GUARDED_BY(mutex_) = false;
  bool told_ GUARDED_BY(mutex_) = false;
  os::Thread thread_ GUARDED_BY(mutex_);
};

}  // namespace hawthorn::db
