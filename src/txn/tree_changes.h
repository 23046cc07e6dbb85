#pragma once
// The trees that a transaction makes and drops, beside the entries of the catalog that it writes.
//
// Not here: the catalog (db/catalog.h), which is told what has become of them. Used by
// transaction.h. Threads: the transaction's.
//
// 1. A tree is made before the entry that names it is written: who undoes the one undoes the other.
// 2. A drop counts from its cts on. It is marked on the tree under the log's mutex, together with
//    the commit; who commits later finds the mark on what it has written to, and fails. Until
//    then nobody else may use what was made.

#include <cstdint>
#include <utility>
#include <vector>

#include "os/event_sink.h"
#include "tree/tree.h"

namespace hawthorn::txn {

// Who keeps all trees.
class TreeKeeper {
 public:
  virtual ~TreeKeeper() = default;
  // Its maker did not commit: nobody else has seen it.
  virtual void unmade(tree::TreeState* tree) = 0;
  // A commit has dropped it (TreeState::ended).
  virtual void ended(tree::TreeState* tree) = 0;
  // A commit has given some another place.
  virtual void moved() = 0;
  // A tree without a name, for a layer of this one; unmade by whoever does not commit it.
  virtual Result<tree::TreeState*> make_layer(const tree::TreeState* of) = 0;
  // Some layers are committed.
  virtual void layers_committed() = 0;
};

class TreeChanges {
 public:
  static bool is_move(const TreeChanged& change) {
    return change.change == TreeChanged::Change::kRenamed ||
           change.change == TreeChanged::Change::kAttached ||
           change.change == TreeChanged::Change::kDetached;
  }

  // `undo`: how long the undo list was before the change.
  void made(tree::TreeState* tree, size_t undo) { changes_.push_back({tree, undo, true}); }
  void dropped(tree::TreeState* tree, size_t undo) { changes_.push_back({tree, undo, false}); }

  // To be told when it has committed.
  void note(TreeChanged news, size_t undo) { news_.push_back({std::move(news), undo}); }
  // `events` may be null.
  void tell(TreeKeeper& keeper, os::EventSink* events) const;

  bool empty() const { return changes_.empty(); }
  bool has_made(const tree::TreeState* tree) const;
  bool has_dropped(uint32_t tree) const;
  size_t bytes() const {
    return changes_.capacity() * sizeof(Change) + news_.capacity() * sizeof(News);
  }

  // Undoes the changes that came when the undo list had this length, or later.
  void roll_back_to(size_t undo, TreeKeeper& keeper);
  // The undo list has become shorter: gives the new number of an old one.
  template <typename Renumbered>
  void renumber(Renumbered renumbered) {
    for (Change& change : changes_) change.undo = renumbered(change.undo);
  }
  // Under the log's mutex. `log_from`: where the transaction begins in the log.
  void commit(format::Lsn cts, format::Lsn log_from);
  // It has ended; without a commit before, nothing of it was.
  void finish(TreeKeeper& keeper);

 private:
  struct Change {
    tree::TreeState* tree;
    size_t undo;
    bool made;
  };
  struct News {
    TreeChanged what;
    size_t undo;
  };
  std::vector<Change> changes_;
  std::vector<News> news_;
  bool committed_ = false;
};

}  // namespace hawthorn::txn
