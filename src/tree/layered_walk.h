#pragma once
// The ordered walk over a tree with layers, or a clone: its own cursor, those of the layers' trees
// and that of what the clone was made of, side by side. What a layer has, or hides, is looked up as
// a get of the key does it; the rest is shown as it is.
//
// Slower than a cursor by such a look for each key of a layer; layers go soon after they are
// committed. Containers all of which a range hides are stepped over. Used by TreeCursor alone,
// which takes this way where the view sees layers. Not here: which layers there are (layers.h).
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
#include "tree/layers.h"

namespace hawthorn::tree {

class LayeredWalk {
 public:
  LayeredWalk(TreeState* tree, const ReadView& view, TreeCursor::Options options,
              const std::vector<Layers::Seen>& layers);

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
  // Stands on a key that another cursor shows.
  void place(std::string_view key);

  std::string_view key() const { return key_; }
  std::string_view value() const { return value_; }
  const Status& status() const { return status_; }

 private:
  TreeCursor& own() { return *cursors_.front(); }
  bool in_layers(size_t cursor) const { return cursor > 0 && cursor <= layers_.size(); }
  void pass_key();
  Result<uint64_t> count_clone();
  template <typename Move>
  bool move_all(bool forward, Move move);
  bool step(bool forward);
  bool show();
  const Layers::Seen* hiding(std::string_view key) const;
  void pass_hidden(const Layers::Seen& range);

  TreeState* const tree_;
  const ReadView view_;
  const TreeCursor::Options options_;
  const CloneBase* const base_;  // null: there is none, or not at this moment
  const HeldSnapshot held_;      // what the view shows may belong to an exclusive transaction
  std::vector<std::shared_ptr<Layer>> layers_;  // with entries
  std::vector<Layers::Seen> ranges_;            // deleted ones, the newest first
  // The tree's, then those of the layers, then, of a clone, its base's.
  std::vector<std::unique_ptr<TreeCursor>> cursors_;
  bool valid_ = false;
  bool forward_ = true;
  bool sought_ = false;    // the cursors stand where they should for this direction
  bool batching_ = false;  // between entries, behind a batch
  std::string key_;
  Value read_;
  std::string_view value_;
  std::deque<std::string> batch_;
  Status status_;
};

}  // namespace hawthorn::tree
