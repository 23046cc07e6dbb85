#include "tree/active_trees.h"

#include "tree/tree.h"

namespace hawthorn::tree {

void ActiveTrees::add(TreeState* tree) {
  os::MutexLock lock(mutex_);
  TreeState::Activity& at = tree->activity_;
  if (!at.listed && !at.let_go) {
    at.place = static_cast<uint32_t>(list_.size());
    at.listed = true;
    list_.push_back(tree);
    resting_.subtract(at.resting);
    at.resting = {};
  }
  tree->active_.store(true, std::memory_order_release);
}

void ActiveTrees::take_out(TreeState* tree) {
  TreeState::Activity& at = tree->activity_;
  list_.back()->activity_.place = at.place;
  list_[at.place] = list_.back();
  list_.pop_back();
  at.listed = false;
}

void ActiveTrees::rest(TreeState* tree, uint64_t durable_batch) {
  TreeState::Activity& at = tree->activity_;
  {
    os::MutexLock lock(mutex_);
    tree->active_.store(false, std::memory_order_release);
  }
  bool rests = false;
  SpaceUse use;
  static_cast<void>(tree->log_needed(durable_batch, &rests, &use));
  os::MutexLock lock(mutex_);
  if (tree->active_.load(std::memory_order_relaxed) || !at.listed) return;
  if (!rests) return tree->active_.store(true, std::memory_order_release);
  take_out(tree);
  at.resting = use;
  resting_.add(use);
}

void ActiveTrees::let_go(TreeState* tree) {
  os::MutexLock lock(mutex_);
  TreeState::Activity& at = tree->activity_;
  if (at.listed) take_out(tree);
  resting_.subtract(at.resting);
  at.resting = {};
  at.let_go = true;
}

std::vector<TreeRef> ActiveTrees::list(SpaceUse* resting) const {
  std::vector<TreeRef> result;
  os::MutexLock lock(mutex_);
  result.reserve(list_.size());
  for (TreeState* tree : list_) {
    if (!tree->dropped.load(std::memory_order_acquire)) result.emplace_back(tree);
  }
  if (resting != nullptr) *resting = resting_;
  return result;
}

std::vector<TreeRef> ActiveTrees::list_all() const {
  os::MutexLock lock(mutex_);
  return {list_.begin(), list_.end()};
}

}  // namespace hawthorn::tree
