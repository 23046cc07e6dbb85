#pragma once
// What was cut to be flushed, divided or joined: given up on each way out, by an exception too, on
// which it was not settled. Used by the scheduler.

#include <span>

#include "tree/tree.h"

namespace hawthorn::db {

class HeldCuts {
 public:
  HeldCuts(tree::TreeState* tree, std::span<tree::TreeState::Cut> cuts)
      : tree_(tree), cuts_(cuts) {}
  ~HeldCuts() {
    for (tree::TreeState::Cut& cut : cuts_) tree_->give_up(cut);
  }
  HeldCuts(const HeldCuts&) = delete;
  HeldCuts& operator=(const HeldCuts&) = delete;

  // They were installed, or dropped as empty: nothing is left to give up.
  void settled() { cuts_ = {}; }

 private:
  tree::TreeState* const tree_;
  std::span<tree::TreeState::Cut> cuts_;
};

}  // namespace hawthorn::db
