#pragma once
// The ordered walk over a tree with layers, or a clone: its own cursor, those of the layers' trees
// and that of what the clone was made of, side by side. What a layer has is looked up as a get of
// the key does it; the rest is shown as it is. What ranges hide the tree's cursor does not show:
// where there are ranges alone, the walk is that cursor's.
//
// Slower than a cursor by such a look for each key of a layer; layers go soon after they are
// committed. Used by TreeCursor alone, which takes this way where the view sees layers. Not here:
// which layers there are (layers.h), what a range hides (cursor_hidden.cc).
// Threads: one at a time.
//
// 1. All cursors stand at or behind the key shown, in the direction of travel; after a change of
//    direction, or of what is shown without them (place), they are sought again.

#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hawthorn/value.h"
#include "tree/cursor.h"
#include "tree/layered_dead.h"
#include "tree/layers.h"

namespace hawthorn::tree {

class LayeredWalk {
 public:
  LayeredWalk(TreeState* tree, const ReadView& view, TreeCursor::Options options,
              const std::vector<Layers::Seen>& layers, uint64_t state);

  // As those of TreeCursor.
  bool first();
  bool last();
  bool seek(std::string_view key);
  bool seek_for_prev(std::string_view key);
  bool next();
  bool prev();
  bool skip(int64_t n);
  bool seek_random(uint64_t random);
  Result<uint64_t> count();
  size_t next_batch(std::span<Entry> out);
  // Stands on a key that another cursor shows; or behind one, the last of a batch.
  void place(std::string_view key, bool behind);
  bool is_between() const { return batching_; }

  std::string_view key() const { return shows_own() ? own().key() : std::string_view(key_); }
  std::string_view value() const { return shows_own() ? own().value() : value_; }
  // Of the tree's cursor, and at keys of layers.
  uint64_t looks() const { return own().looks() + looks_; }
  const Status& status() const { return shows_own() ? own().status() : status_; }

 private:
  TreeCursor& own() const { return *cursors_.front(); }
  bool is_alone() const { return cursors_.size() == 1; }
  bool shows_own() const { return is_alone() && sought_; }
  bool alone(bool found);
  bool in_layers(size_t cursor) const { return cursor > 0 && cursor <= layers_.size(); }
  void pass_key();
  Result<uint64_t> count_clone();
  template <typename Move>
  bool move_all(bool forward, Move move);
  bool step(bool forward);
  bool show();
  // What a move has passed, because nothing of it is there.
  struct Passed {
    LayeredDead::Stretch stretch;
    uint32_t looked_at = 0;
    bool known = false;  // some of it was known, and not looked at
    bool any() const { return known || looked_at > 0; }
  };
  bool find_shown(Passed* passed);
  bool pass_known(Passed* passed, bool* ended);
  void remember(Passed& passed);

  TreeState* const tree_;
  const ReadView view_;
  const TreeCursor::Options options_;
  const LayeredDead::Moment moment_;
  const CloneBase* const base_;  // null: there is none, or not at this moment
  const HeldSnapshot held_;      // what the view shows may belong to an exclusive transaction
  std::vector<std::shared_ptr<Layer>> layers_;  // with entries
  std::shared_ptr<LayeredDead> dead_;           // null: nobody would say what is written meanwhile
  // The tree's, then those of the layers, then, of a clone, its base's.
  std::vector<std::unique_ptr<TreeCursor>> cursors_;
  bool valid_ = false;
  bool forward_ = true;
  bool sought_ = false;    // the cursors stand where they should for this direction
  bool batching_ = false;  // between entries, behind a batch
  std::string key_;
  Value read_;
  uint64_t looks_ = 0;
  std::string_view value_;
  std::deque<std::string> batch_;
  Status status_;
  Status untold_;  // of the entry behind the last batch
};

}  // namespace hawthorn::tree
