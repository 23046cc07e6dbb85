// Transactions: optimistic and pessimistic ones at all levels, with savepoints, alone, and in two
// phases.
#include "fuzz/operations_run.h"

namespace hawthorn::fuzz {
namespace {

constexpr int kTxnsMax = 4;
constexpr int kPreparedMax = 3;
constexpr int kTxnRangesMax = 30;

}  // namespace

Run::Txn* Run::any_txn() {
  if (txns_.empty()) return nullptr;
  auto at = txns_.begin();
  std::advance(at, in_.byte() % txns_.size());
  return &*at;
}

void Run::begin() {
  const uint8_t how = in_.byte();
  if (txns_.size() >= kTxnsMax) return;
  Txn made;
  // The highest level of three, or the lowest of five.
  made.isolation = how % 15 % 3 == 0   ? Isolation::kSerializable
                   : how % 15 % 5 == 0 ? Isolation::kReadCommitted
                                       : Isolation::kSnapshot;
  made.pessimistic = how / 15 % 3 == 0;
  made.base = present();
  made.began = commits_;
  made.lives = lives_of_;
  auto txn = db_->begin({.mode = made.pessimistic ? TxnMode::kPessimistic : TxnMode::kOptimistic,
                         .isolation = made.isolation});
  FUZZ_OK(txn.status());
  made.txn = std::move(*txn);
  txns_.push_back(std::move(made));
}

void Run::use_txn() {
  Txn* const txn = any_txn();
  if (txn == nullptr) return;
  const uint8_t how = in_.byte();
  const int tree = any_tree(in_.byte(), seen_by(*txn).state);
  // Others may have put another tree in the place of what it sees.
  const bool gone = txn->lives[static_cast<size_t>(tree)] != lives_of_[static_cast<size_t>(tree)];
  if (tree >= kNest && (txn->committed_reads() || gone)) return;
  if (tree >= kNest) txn->updates = true;
  switch (how % 8) {
    case 0:
      return erase_in_txn(*txn, tree);
    case 1:
      return lock_in_txn(*txn, tree, how);
    case 2:
      return part_in_txn(*txn, tree);
    case 3:
      if (how / 8 % 4 == 0) return subtree_in_txn(*txn);
      return write_in_txn(*txn, tree, how);
    default:
      return write_in_txn(*txn, tree, how);
  }
}

bool Run::wrote(const Status& status, Txn& txn, const Span& span) {
  txn.locked(span);
  if (refused(status, span, &txn)) return false;
  if (status.is_conflict()) {
    FUZZ_CHECK(commits_ > txn.began || step_ > 0);
    return false;
  }
  FUZZ_OK(status);
  if (txn.pessimistic && span.to == span.from + 1) FUZZ_CHECK(!must_wait(span.from, &txn));
  return true;
}

void Run::write_in_txn(Txn& txn, int tree, uint8_t how) {
  const int cell = cell_of(tree);
  const View view = seen_by(txn);
  const uint32_t before = number_in(view, cell);
  const Tree to = handle(*db_, view.state, tree, nullptr, &txn);
  const std::string& key = cell_key(cell);
  if (how / 8 % 3 == 0) {
    const bool one = tree == kPairs && in_.byte() % 2 == 0;
    const Span span = one ? Span{cell, cell + 1} : row_of(cell);
    const Status status = one ? txn.txn.del_value(to, key, pair_value(cell)) : txn.txn.del(to, key);
    if (!wrote(status, txn, span)) return;
    State after = view.state;
    for (int i = span.from; i < span.to; ++i) {
      // Of several values those that it sees go.
      if (tree == kPairs && !one && at(view.state, i) == 0) continue;
      txn.trees |= at(after, i) >= kHangs;
      own(txn.own, i) = 0;
      clear_cell(after, i, [&](int gone) { own(txn.own, gone) = 0; });
    }
    return;
  }
  if (tree == kSums && how / 8 % 3 == 1 && !txn.committed_reads()) {
    const std::string operand = small_operand();
    if (!wrote(txn.txn.merge(to, key, operand), txn, {cell, cell + 1})) return;
    own(txn.own, cell) = values_.add(before == 0 ? operand : values_.bytes(before) + "|" + operand);
    return;
  }
  const uint32_t number = new_value(tree);
  const uint32_t ends = values_.ends(number);
  const std::string bytes = bytes_of(cell, number);
  Status status;
  if (ends != 0) {
    status = txn.txn.put(to, key, bytes, Expiry::at_ms(moment_ms(ends)));
  } else if (how / 8 % 8 == 5 && tree != kPairs) {
    const auto room = txn.txn.put_reserve(to, key, bytes.size());
    status = room.status();
    if (room.ok() && !bytes.empty()) std::memcpy(room->data(), bytes.data(), bytes.size());
    if (room.ok()) status = txn.txn.finish_reserve();
  } else {
    status = txn.txn.put(to, key, bytes);
  }
  if (at(view.state, cell) >= kHangs) {
    FUZZ_CHECK(status.is(StatusCode::kInvalidArgument) || status.is_conflict() ||
               refused(status, {cell, cell + 1}, &txn));
    txn.locked({cell, cell + 1});
    return;
  }
  if (wrote(status, txn, {cell, cell + 1})) own(txn.own, cell) = number;
}

void Run::erase_in_txn(Txn& txn, int tree) {
  const Span which = range_of(tree);
  if (++ranges_ > kTxnRangesMax) return;
  const View view = seen_by(txn);
  const Tree to = handle(*db_, view.state, tree, nullptr, &txn);
  const Status status = txn.txn.delete_range(to, cell_key(which.from), end_of(which));
  txn.erased = true;
  if (status.is(StatusCode::kTimedOut) && anything_locked(&txn)) {
    txn.locked(which);
    return;
  }
  if (!wrote(status, txn, which)) return;
  // Whether it was noted, or done key by key, is not known; and it stays where it is rolled back.
  txn.ranges.push_back(which);
  // What is not there is not deleted: of a range without keys nothing is written. But one who reads
  // what is committed deletes what comes before its own commit.
  const bool noted = txn.committed_reads() && !txn.pessimistic && tree != kSums && !is_clone(tree);
  State after = view.state;
  for (int cell = which.from; cell < which.to; ++cell) {
    if (at(view.state, cell) == 0 && !noted) continue;
    txn.trees |= at(after, cell) >= kHangs;
    own(txn.own, cell) = 0;
    clear_cell(after, cell, [&](int gone) { own(txn.own, gone) = 0; });
  }
}

// A row lock, or a read that takes one; of others it counts as read to be written.
void Run::lock_in_txn(Txn& txn, int tree, uint8_t how) {
  const int cell = cell_of(tree);
  if (tree == kPairs || can_nest(tree)) return;
  const View view = seen_by(txn);
  const Tree to = handle(*db_, view.state, tree, nullptr, &txn);
  const Span span = {cell, cell + 1};
  RowLock mode = RowLock::kExclusive;
  Status status;
  if (how / 8 % 2 == 0) {
    mode = static_cast<RowLock>(how / 16 % 3);
    status = txn.txn.lock(to, cell_key(cell), mode);
    if (!txn.pessimistic) {
      FUZZ_CHECK(status.is(StatusCode::kInvalidArgument));
      return;
    }
  } else {
    Value value;
    status = txn.txn.get_for_update(to, cell_key(cell), value);
    txn.updates = true;
    if (status.ok() || status.is_not_found()) {
      expect(status, value.view(), cell, number_in(view, cell));
      status = {};
    }
  }
  txn.locked(span);
  if (refused(status, span, &txn)) return;
  if (status.is_conflict()) {
    FUZZ_CHECK(commits_ > txn.began || step_ > 0);
    return;
  }
  FUZZ_OK(status);
  if (!txn.pessimistic) return;
  FUZZ_CHECK(!must_wait(cell, &txn, mode));
  RowLock& held = txn.locks.try_emplace(cell, mode).first->second;
  held = std::max(held, mode);
}

void Run::part_in_txn(Txn& txn, int tree) {
  const int cell = cell_of(tree);
  const View view = seen_by(txn);
  const uint32_t before = number_in(view, cell);
  if (tree == kPairs || before >= kHangs) return;
  const std::optional<Part> part = any_part(values_.bytes(before), before != 0);
  if (!part.has_value()) return;
  const Tree to = handle(*db_, view.state, tree, nullptr, &txn);
  const std::string& key = cell_key(cell);
  txn.updates = true;
  Status status;
  if (part->how == 0) {
    status = txn.txn.append(to, key, part->bytes).status();
  } else if (part->how == 1) {
    status = txn.txn.write_part(to, key, part->offset, part->bytes);
  } else {
    status = txn.txn.resize(to, key, part->offset);
  }
  if (!wrote(status, txn, {cell, cell + 1})) return;
  own(txn.own, cell) = changed_value(before, part->result);
}

void Run::subtree_in_txn(Txn& txn) {
  const int cell = cell_of(kNest);
  const int sub = free_sub();
  if (sub < 0 || txn.committed_reads()) return;
  const View view = seen_by(txn);
  const auto made = txn.txn.create_subtree(trees_[kNest], cell_key(cell), options_of(sub));
  txn.updates = true;
  if (at(view.state, cell) != 0) {
    FUZZ_CHECK(!made.ok());
    txn.locked({cell, cell + 1});
    return;
  }
  if (!wrote(made.status(), txn, {cell, cell + 1})) return;
  txn.trees = true;
  own(txn.own, cell) = kHangs + static_cast<uint32_t>(sub - kSub0);
}

void Run::mark() {
  Txn* const txn = any_txn();
  if (txn == nullptr) return;
  const uint8_t how = in_.byte();
  if (how % 3 == 0 || txn->marks.empty()) {
    if (txn->marks.size() >= 5) return;
    const auto savepoint = txn->txn.savepoint();
    FUZZ_OK(savepoint.status());
    txn->marks.push_back({*savepoint, txn->own, txn->locks});
    return;
  }
  const size_t at = how / 3 % txn->marks.size();
  if (how % 3 == 1) {
    FUZZ_OK(txn->txn.rollback_to(txn->marks[at].savepoint));
    txn->own = txn->marks[at].own;
    txn->locks = txn->marks[at].locks;
    txn->marks.resize(at + 1);
  } else {
    FUZZ_OK(txn->txn.release(txn->marks[at].savepoint));
    txn->marks.resize(at);
  }
}

void Run::end_txn() {
  if (txns_.empty()) return;
  auto at = txns_.begin();
  std::advance(at, in_.byte() % txns_.size());
  const uint8_t how = in_.byte();
  if (how % 4 == 0) {
    at->txn.abort();
  } else if (how % 4 == 1 && how / 4 % 2 == 0) {
    if (!prepare(*at)) return;
  } else {
    commit(*at);
  }
  txns_.erase(at);
}

// Whether it may lose to what was committed since it began, and whether it must. `next`: what its
// commit makes of the present.
bool Run::may_conflict(Txn& txn, bool* must, bool* writes, State* next) {
  const bool later = commits_ > txn.began;
  bool may = later && (txn.isolation == Isolation::kSerializable || txn.erased || txn.updates);
  *next = now_;
  for (int cell = 0; cell < kCells + kNames; ++cell) {
    const auto& mine = own(txn.own, cell);
    if (!mine.has_value()) continue;
    *writes = true;
    at(*next, cell) = *mine;
    const int tree = cell < kCells ? tree_of(cell) : static_cast<int>(kNest);
    may |= tree >= kNest && later;
    // What has ended is removed at some time, as by somebody else.
    may |= tree == kEnding && step_ > 0;
    if (txn.committed_reads()) continue;
    const auto traceless = [&](const State& state) {
      const uint32_t number = at(state, cell);
      return number == 0 || values_.ends(number) != 0;
    };
    // What came and went in between, or was deleted while it was not there, leaves no trace.
    const bool changed = at(changed_, cell) > txn.began;
    *must |= tree < kNest && changed && !(traceless(txn.base.state) && traceless(now_));
    may |= changed || at(touched_, cell) > txn.began;
  }
  // What a prepared one has read nobody writes.
  return may || (*writes && fenced());
}

void Run::commit(Txn& txn) {
  bool must = false;
  bool writes = false;
  State next;
  const bool may = may_conflict(txn, &must, &writes, &next);
  const Durability level = this->level();
  const Status status = txn.txn.commit(level);
  FUZZ_CHECK(!txn.txn.open());
  if (status.is_conflict()) {
    FUZZ_CHECK(may);
    return;
  }
  if (txn.trees && tree_refused(status)) return;
  FUZZ_OK(status);
  FUZZ_CHECK(!must);
  if (!writes) return;
  committed(next, level);
  for (int cell = 0; cell < kCells + kNames; ++cell) {
    if (own(txn.own, cell).has_value()) at(touched_, cell) = commits_;
  }
}

// The first half of a commit in two phases. False: it is open as before.
bool Run::prepare(Txn& txn) {
  if (prepared_.size() >= kPreparedMax) return false;
  bool must = false;
  bool writes = false;
  State next;
  const bool may = may_conflict(txn, &must, &writes, &next) || !prepared_.empty();
  const bool was_pessimistic = std::exchange(txn.pessimistic, true);  // it locks what it wrote
  bool waits = false;
  for (int cell = 0; cell < kCells; ++cell) {
    if (own(txn.own, cell).has_value()) waits |= may_wait({cell, cell + 1}, &txn);
  }
  const std::string id = "transaction " + std::to_string(++ids_);
  const Status status = txn.txn.prepare(id);
  if (!status.ok()) {
    FUZZ_CHECK(txn.txn.open());
    FUZZ_CHECK((status.is_conflict() && may) || (status.is(StatusCode::kTimedOut) && waits) ||
               (status.is(StatusCode::kNotSupported) && (txn.trees || txn.erased)));
    // What it has locked on the way it may keep.
    txn.pessimistic = was_pessimistic;
    for (int cell = 0; cell < kCells; ++cell) {
      if (own(txn.own, cell).has_value()) txn.maybe_locked.insert(cell);
    }
    return false;
  }
  FUZZ_CHECK(!must);
  const auto made = std::make_shared<Prepared>();
  made->id = id;
  made->own = txn.own;
  made->locked = txn.maybe_locked;
  made->fence = txn.isolation == Isolation::kSerializable || txn.updates || txn.erased;
  prepared_.push_back(made);
  durable();
  return true;
}

void Run::end_prepared() {
  const uint8_t how = in_.byte();
  if (prepared_.empty()) {
    FUZZ_CHECK(db_->commit_prepared("nobody").is_not_found());
    return;
  }
  const auto at = prepared_.begin() + static_cast<ptrdiff_t>(how / 2 % prepared_.size());
  const std::shared_ptr<Prepared> one = *at;
  const Durability level = this->level();
  if (how % 2 == 0) {
    FUZZ_OK(db_->rollback_prepared(one->id));
    prepared_.erase(at);
    return durable();
  }
  FUZZ_OK(db_->commit_prepared(one->id, level));
  prepared_.erase(at);
  State next = now_;
  for (int cell = 0; cell < kCells + kNames; ++cell) {
    this->at(next, cell) = own(one->own, cell).value_or(this->at(now_, cell));
  }
  committed(next, level);
  for (int cell = 0; cell < kCells + kNames; ++cell) {
    if (own(one->own, cell).has_value()) this->at(touched_, cell) = commits_;
  }
}

// An exclusive transaction, from begin to end: nobody else commits meanwhile.
void Run::alone() {
  auto begun = db_->begin(TxnMode::kExclusive);
  if (begun.status().is(StatusCode::kTimedOut)) {
    FUZZ_CHECK(anything_locked(nullptr));
    return;
  }
  FUZZ_OK(begun.status());
  Txn txn;
  txn.txn = std::move(*begun);
  txn.isolation = Isolation::kSerializable;
  txn.base = present();
  txn.began = commits_;
  txn.lives = lives_of_;
  for (int left = in_.byte() % 8; left > 0; --left) {
    const uint8_t how = in_.byte();
    const int tree = any_tree(in_.byte(), seen_by(txn).state);
    write_in_txn(txn, tree, how);
    const View view = seen_by(txn);
    const int cell = first_in_row(view, cell_of(tree));
    if (!exists(view.state, tree)) continue;
    Value value;
    const Status status =
        txn.txn.get(handle(*db_, view.state, tree, nullptr, &txn), cell_key(cell), value);
    expect(status, status.ok() ? value.view() : std::string_view(), cell, number_in(view, cell));
  }
  if (in_.byte() % 4 == 0) return txn.txn.abort();
  commit(txn);
}

}  // namespace hawthorn::fuzz
