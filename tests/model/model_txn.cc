// The transactions of the model test: every level, savepoints, nesting, compare and set, row locks.
#include "tests/model/model_run.h"

namespace hawthorn::tests {

// A key that was absent then and is absent now may have been there in between: nothing is lost, and
// a run need not remember the tombstone (R14).
bool ModelRun::changed_since(const OpenTree& tree, Rank from, Rank to, uint64_t since,
                             bool* perhaps) const {
  bool changed = false;
  for (Rank rank = from; rank < to; ++rank) {
    if (tree.model->last_commit(rank) <= since) continue;
    const bool traceless =
        !tree.model->at(rank, since).present && !tree.model->at(rank, commit_).present;
    (traceless ? *perhaps : changed) = true;
  }
  if (from < to && tree.spilled > since) *perhaps = true;
  return changed;
}

// There are layers then, of this commit or of others: only the engine knows which.
void ModelRun::note_spilled(const std::set<uint64_t>& trees) {
  if (db_->stats().layers == 0) return;
  for (const uint64_t id : trees) {
    OpenTree* const tree = tree_by_id(id);
    if (tree != nullptr) tree->spilled = commit_;
  }
}

void ModelRun::take_over(const Writes& own) {
  ++commit_;
  const uint64_t keep = oldest();
  for (const auto& [id, overlay] : own) {
    ModelTree& tree = *tree_by_id(id)->model;
    for (const auto& [rank, value] : overlay) tree.write(rank, commit_, value, keep);
  }
  std::set<uint64_t> trees;
  for (const auto& [id, overlay] : own) {
    if (overlay.size() >= kMayHaveSpilled) trees.insert(id);
  }
  if (!trees.empty()) note_spilled(trees);
}

void ModelRun::begin() {
  if (txns_.size() >= 6) return end_txn(prng_.below(txns_.size()), !prng_.one_in(4));
  OpenTxn made;
  made.number = ++last_id_;
  made.level = static_cast<Isolation>(prng_.below(3));
  made.began = commit_;
  TxnOptions options{.isolation = made.level, .lock_timeout_ms = 0};
  if (made.level != Isolation::kReadCommitted && !snapshots_.empty() && prng_.one_in(4)) {
    const OpenSnapshot& snapshot = snapshots_[prng_.below(snapshots_.size())];
    options.snapshot = &snapshot.snapshot;
    made.began = snapshot.commit;
  }
  Result<Transaction> txn = db_->begin(options);
  ASSERT_OK(txn.status());
  made.txn = std::move(*txn);
  txns_.push_back(std::move(made));
}

// With kReadCommitted others may commit in between: only what it wrote itself is sure.
const ModelValue* ModelRun::below(const OpenTxn& txn, const OpenTree& tree, Rank rank) const {
  const auto own = txn.own.find(tree.id);
  if (own != txn.own.end()) {
    const auto found = own->second.find(rank);
    if (found != own->second.end()) return &found->second;
  }
  return txn.level == Isolation::kReadCommitted ? nullptr : &tree.model->at(rank, txn.began);
}

Status ModelRun::write_in(Transaction& txn, const OpenTree& tree, Rank rank,
                          const ModelValue& value, const ModelValue* below) {
  if (!value.present) return txn.del(tree.handle, pool_[rank]);
  if (tree.merges && below != nullptr && prng_.one_in(2)) {
    return txn.merge(tree.handle, pool_[rank], ModelOperator::operand(*below, value));
  }
  const std::string bytes = value_of(value.number, value.size);
  if (!prng_.one_in(20)) return txn.put(tree.handle, pool_[rank], bytes);
  size_t given = 0;
  return txn.put_stream(
      tree.handle, pool_[rank], bytes.size(), [&](std::span<char> to) -> Result<size_t> {
        const size_t count =
            std::min({to.size(), bytes.size() - given, size_t{1} + prng_.below(9000)});
        std::memcpy(to.data(), bytes.data() + given, count);
        given += count;
        return count;
      });
}

void ModelRun::use_txn() {
  if (txns_.empty()) return begin();
  const size_t index = prng_.below(txns_.size());
  OpenTxn& txn = txns_[index];
  const uint64_t pick = prng_.below(20);
  if (pick < 2) return end_txn(index, !prng_.one_in(4));
  if (pick == 2) return mark_or_roll_back(txn);
  if (pick == 3 && prng_.one_in(2)) return nest(txn);
  uint64_t count = prng_.between(1, 4);
  if (prng_.one_in(300)) count = prng_.between(500, 2500);  // several chunks of log
  for (uint64_t i = 0; i < count; ++i) {
    ++done_;
    OpenTree& tree = any_tree();
    const Rank rank = any_key();
    const ModelValue& present = view(tree, seen_by(txn), &txn).at(rank);
    // One that updates at more moments than that reads the last of these.
    const bool updates = txn.level != Isolation::kReadCommitted || txn.reads.size() < 60;
    if (pick < 9 || (pick == 9 && !updates)) {
      const bool to_update = pick == 8 && updates;
      const Status status = to_update ? txn.txn.get_for_update(tree.handle, pool_[rank], value_)
                                      : txn.txn.get(tree.handle, pool_[rank], value_);
      ASSERT_NO_FATAL_FAILURE(expect_value(status, value_.view(), present,
                                           "get in a transaction of " + shown(pool_[rank])));
      txn.note_read(tree.id, rank);
      if (to_update) txn.reads.push_back({tree.id, rank, rank + 1, seen_by(txn)});
      continue;
    }
    bool perhaps = txn.level == Isolation::kReadCommitted;
    const bool conflict = !perhaps && changed_since(tree, rank, rank + 1, txn.began, &perhaps);
    if (pick == 9) {
      bool matches = false;
      ModelValue written;
      // Before the call: it may have read, and then not have written.
      txn.reads.push_back({tree.id, rank, rank + 1, seen_by(txn)});
      const Result<bool> done =
          compare_and_set_in(txn.txn, tree, rank, present, &matches, &written);
      if (done.ok()) {
        ASSERT_EQ(*done, matches) << shown(pool_[rank]);
        if (*done) txn.own[tree.id][rank] = written;
      } else {
        ASSERT_TRUE(done.status().is_conflict() && (conflict || perhaps))
            << done.status().to_string();
      }
      continue;
    }
    const ModelValue value = any_value();
    const Status status = write_in(txn.txn, tree, rank, value, below(txn, tree, rank));
    if (conflict) {
      ASSERT_TRUE(status.is_conflict()) << status.to_string() << ", " << shown(pool_[rank]);
    } else if (!perhaps || txn.level == Isolation::kReadCommitted) {
      ASSERT_OK(status);
    }
    if (status.ok()) txn.own[tree.id][rank] = value;
  }
}

void ModelRun::mark_or_roll_back(OpenTxn& txn) {
  if (txn.marks.empty() || (txn.marks.size() < 6 && prng_.one_in(2))) {
    Result<Savepoint> savepoint = txn.txn.savepoint();
    ASSERT_OK(savepoint.status());
    txn.marks.push_back({*savepoint, txn.own});
    return;
  }
  const size_t to = prng_.below(txn.marks.size());
  if (prng_.one_in(4)) {
    ASSERT_OK(txn.txn.release(txn.marks[to].savepoint));
    txn.marks.resize(to);
    return;
  }
  ASSERT_OK(txn.txn.rollback_to(txn.marks[to].savepoint));
  txn.own = txn.marks[to].own;
  txn.marks.resize(to + 1);
}

// Nested transactions, begun and ended at once.
void ModelRun::nest(OpenTxn& txn) {
  std::vector<Transaction> nested;
  std::vector<Writes> before;
  for (uint64_t steps = prng_.between(1, 30); steps > 0; --steps) {
    ++done_;
    Transaction& innermost = nested.empty() ? txn.txn : nested.back();
    if (nested.size() < 3 && prng_.one_in(6)) {
      Result<Transaction> begun = innermost.begin_nested();
      ASSERT_OK(begun.status());
      before.push_back(txn.own);
      nested.push_back(std::move(*begun));
      continue;
    }
    if (!nested.empty() && prng_.one_in(8)) {
      if (prng_.one_in(2)) {
        ASSERT_OK(innermost.commit());
      } else {
        innermost.abort();
        txn.own = before.back();
      }
      nested.pop_back();
      before.pop_back();
      continue;
    }
    const OpenTree& tree = any_tree();
    const Rank rank = any_key();
    const ModelValue value = any_value();
    const Status status = write_in(innermost, tree, rank, value, below(txn, tree, rank));
    ASSERT_TRUE(status.ok() || status.is_conflict()) << status.to_string();
    if (status.ok()) txn.own[tree.id][rank] = value;
  }
  while (!nested.empty()) {
    ASSERT_OK(nested.back().commit());
    nested.pop_back();
  }
}

// Whether others have changed what it wrote, or what it has read and must not change. What was
// dropped has changed.
bool ModelRun::loses(const OpenTxn& txn, bool* perhaps) const {
  bool conflict = false;
  bool writes = false;
  for (const auto& [id, own] : txn.own) {
    const OpenTree* tree = tree_by_id(id);
    writes |= !own.empty();
    conflict |= tree == nullptr && !own.empty();
    if (tree == nullptr || txn.level == Isolation::kReadCommitted) continue;
    for (const auto& [rank, value] : own) {
      conflict |= changed_since(*tree, rank, rank + 1, txn.began, perhaps);
    }
  }
  for (const ReadRange& read : txn.reads) {
    if (!writes) break;  // what only reads sees one moment
    const OpenTree* tree = tree_by_id(read.tree);
    conflict |= tree == nullptr ? read.from < read.to
                                : changed_since(*tree, read.from, read.to, read.since, perhaps);
  }
  return conflict;
}

void ModelRun::end_txn(size_t index, bool commit) {
  OpenTxn& txn = txns_[index];
  std::erase_if(cursors_, [&](const OpenCursor& cursor) { return cursor.txn == txn.number; });
  if (!commit) {
    txn.txn.abort();
  } else {
    bool perhaps = false;
    const bool conflict = loses(txn, &perhaps);
    const Status status = txn.txn.commit(any_level());
    if (conflict) {
      ASSERT_TRUE(status.is_conflict()) << status.to_string();
    } else if (!perhaps) {
      ASSERT_OK(status);
    }
    if (status.ok() && !txn.own.empty()) take_over(txn.own);
  }
  ASSERT_FALSE(txn.txn.open());
  ASSERT_TRUE(txn.txn.put(trees_[0].handle, "k", "v").is(StatusCode::kInvalidArgument));
  txns_.erase(txns_.begin() + static_cast<ptrdiff_t>(index));
}

void ModelRun::exclusive() {
  OpenTxn txn;
  Result<Transaction> begun = db_->begin(TxnMode::kExclusive);
  ASSERT_OK(begun.status());
  txn.txn = std::move(*begun);
  txn.began = commit_;
  const uint64_t count = prng_.one_in(30) ? prng_.between(500, 3000) : prng_.between(0, 20);
  for (uint64_t i = 0; i < count; ++i) {
    ++done_;
    OpenTree& tree = any_tree();
    const Rank rank = any_key();
    if (prng_.one_in(3)) {
      const Status status = txn.txn.get(tree.handle, pool_[rank], value_);
      ASSERT_NO_FATAL_FAILURE(expect_value(status, value_.view(),
                                           view(tree, txn.began, &txn).at(rank),
                                           "get in an exclusive transaction"));
      continue;
    }
    const ModelValue value = any_value();
    ASSERT_OK(write_in(txn.txn, tree, rank, value, below(txn, tree, rank)));
    txn.own[tree.id][rank] = value;
  }
  // Its own thread would wait for itself.
  ASSERT_TRUE(db_->put(trees_[0].handle, "x", "").is(StatusCode::kInvalidArgument));
  ASSERT_TRUE(db_->begin(TxnMode::kExclusive).status().is(StatusCode::kInvalidArgument));
  if (prng_.one_in(4)) {
    txn.txn.abort();
    return;
  }
  ASSERT_OK(txn.txn.commit(any_level()));
  if (!txn.own.empty()) take_over(txn.own);
}

// A pessimistic transaction, while which nobody else writes its rows. It ends at once: there is one
// thread, which would wait for itself. Rows with an open transaction's intent are not to be had.
void ModelRun::locking() {
  OpenTxn txn;
  txn.level = static_cast<Isolation>(prng_.below(3));
  Result<Transaction> begun =
      db_->begin({.mode = TxnMode::kPessimistic, .isolation = txn.level, .lock_timeout_ms = 0});
  ASSERT_OK(begun.status());
  txn.txn = std::move(*begun);
  txn.began = commit_;
  for (uint64_t steps = prng_.between(1, 30); steps > 0; --steps) {
    ++done_;
    const OpenTree& tree = any_tree();
    const Rank rank = any_key();
    const bool reads = prng_.one_in(3);
    const ModelValue value = any_value();
    const Status status = reads ? txn.txn.get_for_update(tree.handle, pool_[rank], value_)
                                : write_in(txn.txn, tree, rank, value, below(txn, tree, rank));
    if (has_intent(tree.id, rank)) {
      ASSERT_TRUE(status.is(StatusCode::kTimedOut)) << status.to_string();
      continue;
    }
    if (reads) {
      ASSERT_NO_FATAL_FAILURE(expect_value(status, value_.view(),
                                           view(tree, commit_, &txn).at(rank),
                                           "get_for_update of " + shown(pool_[rank])));
    } else {
      ASSERT_OK(status);
      txn.own[tree.id][rank] = value;
    }
    Result<Transaction> other =
        db_->begin({.mode = prng_.one_in(2) ? TxnMode::kPessimistic : TxnMode::kOptimistic,
                    .lock_timeout_ms = 0});
    ASSERT_OK(other.status());
    const Status refused = other->put(tree.handle, pool_[rank], "");
    ASSERT_TRUE(refused.is(StatusCode::kTimedOut)) << refused.to_string();
  }
  if (prng_.one_in(4)) {
    txn.txn.abort();
    return;
  }
  ASSERT_OK(txn.txn.commit(any_level()));
  if (!txn.own.empty()) take_over(txn.own);
}

// ---- Prepared

bool ModelRun::has_intent(uint64_t tree, Rank rank, const OpenTxn* but) const {
  return std::any_of(txns_.begin(), txns_.end(), [&](const OpenTxn& open) {
    const auto own = open.own.find(tree);
    return &open != but && own != open.own.end() && own->second.contains(rank);
  });
}

bool ModelRun::read_by_prepared(uint64_t tree, Rank rank) const {
  for (const PreparedTxn& prepared : prepared_) {
    if (prepared.own.empty()) continue;
    for (const ReadRange& read : prepared.reads) {
      if (read.tree == tree && read.from <= rank && rank < read.to) return true;
    }
  }
  return false;
}

// Some of the open transactions are prepared; then the database may be opened anew, and they are
// ended. Nothing else is committed meanwhile, so what others may do is known.
void ModelRun::prepare_and_end() {
  for (size_t i = txns_.size(); i > 0; --i) {
    if (prng_.one_in(3)) continue;
    prepare_txn(i - 1, prng_.one_in(2));
    if (::testing::Test::HasFatalFailure()) return;
  }
  for (uint64_t steps = prng_.below(6); steps > 0; --steps) {
    meet_prepared();
    if (::testing::Test::HasFatalFailure()) return;
    if (!prng_.one_in(60)) continue;
    for (PreparedTxn& prepared : prepared_) prepared.txn = Transaction();
    reopen();
    if (::testing::Test::HasFatalFailure()) return;
  }
  while (!prepared_.empty() && !::testing::Test::HasFatalFailure()) {
    end_prepared(prng_.below(prepared_.size()));
  }
}

void ModelRun::prepare_txn(size_t index, bool keeps_object) {
  ++done_;
  OpenTxn& txn = txns_[index];
  std::erase_if(cursors_, [&](const OpenCursor& cursor) { return cursor.txn == txn.number; });
  bool perhaps = false;
  bool conflict = loses(txn, &perhaps);
  bool waits = false;
  bool writes = false;
  for (const auto& [id, own] : txn.own) {
    for (const auto& [rank, value] : own) {
      writes = true;
      waits |= has_intent(id, rank, &txn);
      conflict |= read_by_prepared(id, rank);
    }
  }
  for (const ReadRange& read : txn.reads) {
    for (const PreparedTxn& other : prepared_) {
      const auto own = other.own.find(read.tree);
      if (!writes || own == other.own.end()) continue;
      const auto met = own->second.lower_bound(read.from);
      conflict |= met != own->second.end() && met->first < read.to;
    }
  }
  const std::string id = "prepared " + std::to_string(++last_id_);
  const Status status = txn.txn.prepare(id);
  if (waits) {
    ASSERT_TRUE(status.is(StatusCode::kTimedOut)) << status.to_string();
  } else if (conflict) {
    ASSERT_TRUE(status.is_conflict()) << status.to_string();
  } else if (!perhaps) {
    ASSERT_OK(status);
  }
  if (!status.ok()) return;  // it is open as before
  ++prepared_count_;
  ASSERT_TRUE(txn.txn.open());
  ASSERT_TRUE(txn.txn.put(trees_[0].handle, "k", "v").is(StatusCode::kInvalidArgument));
  prepared_.push_back({id, keeps_object ? std::move(txn.txn) : Transaction(), std::move(txn.own),
                       std::move(txn.reads)});
  txns_.erase(txns_.begin() + static_cast<ptrdiff_t>(index));
}

// Nobody writes what they wrote, nor what they have read.
void ModelRun::meet_prepared() {
  ++done_;
  Result<std::vector<PreparedTransaction>> listed = db_->prepared();
  ASSERT_OK(listed.status());
  ASSERT_EQ(listed->size(), prepared_.size());
  if (prepared_.empty()) return;
  const PreparedTxn& prepared = prepared_[prng_.below(prepared_.size())];
  ASSERT_TRUE(std::any_of(listed->begin(), listed->end(),
                          [&](const auto& one) { return one.id == prepared.id; }));
  for (const auto& [id, own] : prepared.own) {
    if (own.empty()) continue;
    const OpenTree& tree = *tree_by_id(id);
    auto at = own.lower_bound(any_key());
    if (at == own.end()) at = own.begin();
    const std::string& key = pool_[at->first];
    ASSERT_TRUE(db_->put(tree.handle, key, "").is(StatusCode::kTimedOut)) << shown(key);
    const Status read = db_->get(tree.handle, key, value_);
    ASSERT_NO_FATAL_FAILURE(
        expect_value(read, value_.view(), view(tree, commit_).at(at->first), "a prepared key"));
  }
  for (const ReadRange& read : prepared.reads) {
    const OpenTree* tree = tree_by_id(read.tree);
    if (tree == nullptr || read.from >= read.to || prepared.own.empty()) continue;
    const Rank rank = read.from + static_cast<Rank>(prng_.below(read.to - read.from));
    const Status status = db_->del(tree->handle, pool_[rank]);
    ASSERT_TRUE(status.is_conflict() || status.is(StatusCode::kTimedOut))
        << status.to_string() << ", " << shown(pool_[rank]);
  }
}

void ModelRun::end_prepared(size_t index) {
  ++done_;
  PreparedTxn& prepared = prepared_[index];
  const bool commits = !prng_.one_in(3);
  if (!prepared.txn.open()) {
    ASSERT_OK(commits ? db_->commit_prepared(prepared.id, any_level())
                      : db_->rollback_prepared(prepared.id));
  } else if (commits) {
    ASSERT_OK(prepared.txn.commit(any_level()));
  } else {
    prepared.txn.abort();
  }
  ASSERT_TRUE(db_->rollback_prepared(prepared.id).is_not_found());
  if (commits && !prepared.own.empty()) take_over(prepared.own);
  prepared_.erase(prepared_.begin() + static_cast<ptrdiff_t>(index));
}

// ---- Compare and set

template <typename In>
Result<bool> ModelRun::compare_and_set_in(In& in, const OpenTree& tree, Rank rank,
                                          const ModelValue& present, bool* matches,
                                          ModelValue* written) {
  const std::string& key = pool_[rank];
  *written = {true, static_cast<uint32_t>(prng_.below(2000)), prng_.next()};
  const std::string value = value_of(written->number, written->size);
  std::optional<std::string> expected;
  if (present.present) expected = value_of(present.number, present.size);
  if (prng_.one_in(3)) {
    expected.reset();
    if (prng_.one_in(2)) expected = value_of(prng_.next(), 40);
  }
  const bool equal =
      expected.has_value() ? present.present && present.is(*expected) : !present.present;
  switch (prng_.below(4)) {
    case 0:
      *matches = !present.present;
      return in.insert(tree.handle, key, value);
    case 1:
      *matches = present.present;
      return in.update(tree.handle, key, value);
    case 2:
      *matches = equal;
      return in.replace(tree.handle, key, expected, value);
    default:
      *matches = equal && expected.has_value();
      *written = {};
      return in.remove_if(tree.handle, key, expected.value_or(std::string("none has this")));
  }
}

void ModelRun::compare_and_set() {
  const OpenTree& tree = any_tree();
  const Rank rank = any_key();
  ++done_;
  bool matches = false;
  ModelValue written;
  const Result<bool> done =
      compare_and_set_in(*db_, tree, rank, tree.model->at(rank, commit_), &matches, &written);
  ASSERT_OK(done.status());
  ASSERT_EQ(*done, matches) << shown(pool_[rank]);
  if (*done) tree.model->write(rank, ++commit_, written, oldest());
}

}  // namespace hawthorn::tests
