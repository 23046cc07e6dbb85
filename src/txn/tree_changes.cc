#include "txn/tree_changes.h"

#include <algorithm>

#include "txn/transaction.h"

namespace hawthorn::txn {

bool TreeChanges::has_made(const tree::TreeState* tree) const {
  return std::any_of(changes_.begin(), changes_.end(),
                     [&](const Change& change) { return change.made && change.tree == tree; });
}

bool TreeChanges::has_dropped(uint32_t tree) const {
  return std::any_of(changes_.begin(), changes_.end(), [&](const Change& change) {
    return !change.made && change.tree->id() == tree;
  });
}

void TreeChanges::roll_back_to(size_t undo, TreeKeeper& keeper) {
  for (; !changes_.empty() && changes_.back().undo >= undo; changes_.pop_back()) {
    if (changes_.back().made) keeper.unmade(changes_.back().tree);
  }
  while (!news_.empty() && news_.back().undo >= undo) news_.pop_back();
}

void TreeChanges::tell(TreeKeeper& keeper, os::EventSink* events) const {
  if (std::any_of(news_.begin(), news_.end(),
                  [](const News& news) { return is_move(news.what); })) {
    keeper.moved();
  }
  if (events == nullptr) return;
  for (const News& news : news_) events->post(news.what);
}

void TreeChanges::commit(format::Lsn cts, format::Lsn log_from) {
  committed_ = true;
  for (const Change& change : changes_) {
    if (change.made && change.tree->base() != nullptr) {
      change.tree->show_base(cts, std::min(cts, log_from));
    }
    change.tree->ended.store(change.made ? format::kLsnMax : cts, std::memory_order_release);
  }
}

void TreeChanges::finish(TreeKeeper& keeper) {
  if (!committed_) roll_back_to(0, keeper);
  for (const Change& change : changes_) {
    if (!change.made) keeper.ended(change.tree);
  }
  changes_ = std::vector<Change>();  // {} would keep the capacity, which counts
  news_ = std::vector<News>();
  committed_ = false;
}

bool Txn::trees_stand() {
  if (aside_) return true;
  for (size_t i = 0; i < undo_.size(); ++i) {
    if (!undo_[i].tree->stands() && !tree_changes_.has_made(undo_[i].tree)) return false;
  }
  return std::all_of(layers_.begin(), layers_.end(), [this](const OwnLayer& own) {
    return own.tree->stands() || tree_changes_.has_made(own.tree);
  });
}

}  // namespace hawthorn::txn
