// Trees that come and go: subtrees, clones; and how trees are compressed.
#include "fuzz/operations_run.h"

namespace hawthorn::fuzz {

// One whose number nobody has in hand: also of those that only a transaction, a snapshot of one or
// a cursor sees, the numbers would speak of another one.
int Run::free_sub() const {
  for (int sub = kSub0; sub <= kSub2; ++sub) {
    bool used = exists(now_, sub);
    for (const Txn& txn : txns_) {
      used |= exists(seen_by(txn).state, sub) || exists(txn.base.state, sub);
      const Span cells = cells_of(sub);
      for (int cell = cells.from; cell < cells.to; ++cell) {
        used |= txn.own[static_cast<size_t>(cell)].has_value();
      }
    }
    for (const auto& one : prepared_) {
      const Span cells = cells_of(sub);
      for (int cell = cells.from; cell < cells.to; ++cell) {
        used |= one->own[static_cast<size_t>(cell)].has_value();
      }
    }
    if (!used) return sub;
  }
  return -1;
}

// Whether the cell lies in the subtree, or in one that hangs below it.
bool Run::below(int cell, int sub) const {
  for (int tree = tree_of(cell); is_sub(tree);) {
    if (tree == sub) return true;
    const int place = place_of(now_, tree);
    if (place < 0) return false;
    tree = tree_of(place);
  }
  return false;
}

void Run::subtree() {
  const uint8_t how = in_.byte();
  const uint8_t pick = in_.byte();
  int parent = kNest + pick % (1 + kSubs);
  if (!exists(now_, parent)) parent = kNest;
  const int cell = cell_of(parent);
  const int sub = kSub0 + how / 8 % kSubs;
  if (how % 4 < 2) {
    const int fresh = free_sub();
    if (fresh >= 0) hang(fresh, cell);
  } else if (exists(now_, sub)) {
    move_sub(sub, cell);
  }
}

void Run::hang(int sub, int cell) {
  const Durability level = this->level();
  const Tree parent = handle(tree_of(cell));
  const auto made = db_->create_subtree(parent, cell_key(cell), options_of(sub), level);
  if (tree_refused(made.status())) return;
  if (at(now_, cell) != 0) {
    FUZZ_CHECK(made.status().is(StatusCode::kInvalidArgument));
    return;
  }
  FUZZ_OK(made.status());
  State next = now_;
  at(next, cell) = kHangs + static_cast<uint32_t>(sub - kSub0);
  commit_alone({}, {cell, cell + 1}, next, level);
}

// To another key, from a name, or to one.
void Run::move_sub(int sub, int cell) {
  const uint8_t how = in_.byte();
  const Durability level = this->level();
  const int place = place_of(now_, sub);
  State next = now_;
  Status status;
  bool may = true;
  Span touches = {cell, cell + 1};
  if (place < 0) {
    status = db_->attach(handle(tree_of(cell)), cell_key(cell), name_of(sub), level);
    at(next, name_cell(sub)) = 0;
    may = at(now_, cell) == 0 && !below(cell, sub);
    if (may) at(next, cell) = kHangs + static_cast<uint32_t>(sub - kSub0);
  } else if (how % 3 == 0) {
    status = db_->detach(handle(tree_of(place)), cell_key(place), name_of(sub), level);
    at(next, place) = 0;
    at(next, name_cell(sub)) = kPresent;
    touches = {place, place + 1};
  } else {
    if (place == cell) return;
    status = db_->move_subtree(handle(tree_of(place)), cell_key(place), handle(tree_of(cell)),
                               cell_key(cell), level);
    may = at(now_, cell) == 0 && !below(cell, sub);
    at(next, place) = 0;
    if (may) at(next, cell) = kHangs + static_cast<uint32_t>(sub - kSub0);
  }
  if (tree_refused(status)) return;
  if (!may) {
    FUZZ_CHECK(status.is(StatusCode::kInvalidArgument));
    return;
  }
  FUZZ_OK(status);
  committed(next, level);
  touched(touches);
  if (place >= 0) touched({place, place + 1});
}

void Run::clone() {
  const uint8_t how = in_.byte();
  const Durability level = this->level();
  const int to = how % 2 == 0 ? kCloneA : kCloneB;
  const int other = to == kCloneA ? kCloneB : kCloneA;
  const int from = how / 2 % 2 == 0 && exists(now_, other) ? other : static_cast<int>(kPlain);
  State next = now_;
  Status status;
  if (exists(now_, to)) {
    status = db_->drop_tree(name_of(to));
    const Span cells = cells_of(to);
    for (int cell = cells.from; cell < cells.to; ++cell) at(next, cell) = 0;
    at(next, name_cell(to)) = 0;
    if (tree_refused(status)) return;
    FUZZ_OK(status);
    committed(next, Durability::kFull);
    return;
  }
  const auto made = db_->clone_tree(name_of(from), name_of(to), level);
  if (tree_refused(made.status())) return;
  FUZZ_OK(made.status());
  for (int i = 0; i < kKeys; ++i) at(next, first_of(to) + i) = at(now_, first_of(from) + i);
  at(next, name_cell(to)) = kPresent;
  committed(next, level);
  touched(cells_of(to));
}

void Run::set_compression() {
  const int tree = any_tree(in_.byte(), now_);
  const auto how = static_cast<Compression>(in_.byte() % 3);
  FUZZ_OK(db_->set_compression(handle(tree), how));
}

}  // namespace hawthorn::fuzz
