// What a model does with the database as a whole: flushes, compaction, budgets, reopening, trees
// that come and go, and the comparison of everything.

#include "tests/model/model_run.h"

namespace hawthorn::tests {

void ModelRun::upkeep() {
  ++done_;
  switch (prng_.below(20)) {
    case 0:
      ASSERT_OK(db_->compact());
      return;
    case 1:
    case 2:
    case 3:
      ASSERT_OK(db_->drain());
      return;
    case 4:
    case 5:
      ASSERT_OK(db_->sync());
      return;
    case 6: {
      if (!prng_.one_in(4)) return;
      ASSERT_TRUE(clean(*db_));
      return;
    }
    case 7: {
      budget_ = options_.budget_bytes + (prng_.below(3) * (size_t{8} << 20));
      const Status status = db_->set_memory_budget(budget_);
      // What snapshots and transactions hold may not fit; the new budget counts all the same.
      ASSERT_TRUE(status.ok() || status.is(StatusCode::kOutOfMemory)) << status.to_string();
      return;
    }
    case 8: {
      const Stats stats = db_->stats();
      ASSERT_EQ(stats.trees.size(), trees_.size());
      ASSERT_EQ(stats.memory_budget_bytes, budget_);
      ASSERT_GE(stats.visible_timestamp, stats.oldest_snapshot_timestamp);
      ASSERT_EQ(stats.quarantined_containers, 0u);
      return;
    }
    case 9: {
      const size_t index = prng_.below(trees_.size());
      const Compression wanted = any_compression();
      ASSERT_OK(db_->set_compression(trees_[index].handle, wanted));
      const Stats stats = db_->stats();
      for (const TreeStats& tree : stats.trees) {
        if (tree.name == trees_[index].name) {
          ASSERT_EQ(tree.compression, wanted);
        }
      }
      return;
    }
    case 10:
    case 11:
    case 12:
      // What nobody reads at older timestamps is written without any.
      if (options_.counters) close_readers();
      ASSERT_OK(db_->flush());
      return;
    case 13:
      ASSERT_OK(db_->warm_up());
      return;
    default:
      return;
  }
}

void ModelRun::close_readers() {
  value_.reset();
  batch_.reset();
  cursors_.clear();
  for (OpenTxn& txn : txns_) {
    if (prng_.one_in(2)) txn.txn.abort();
  }
  txns_.clear();
  snapshots_.clear();
}

void ModelRun::reopen() {
  ++done_;
  if (!snapshots_.empty() || !txns_.empty() || !cursors_.empty()) {
    ASSERT_TRUE(db_->close().is(StatusCode::kBusy));
  }
  close_readers();
  if (prng_.one_in(2)) {
    ASSERT_OK(db_->close());
    ASSERT_TRUE(db_->put(trees_[0].handle, "k", "v").is(StatusCode::kClosed));
  }
  db_.reset();
  for (OpenTree& tree : trees_) tree.model->forget_history();
  open();
  if (prng_.one_in(4)) compare_all();
}

void ModelRun::trees() {
  ++done_;
  const size_t index = prng_.below(trees_.size());
  OpenTree& tree = trees_[index];
  if (prng_.one_in(2)) return rename(tree);
  // Transactions that have used it go on, and cannot commit.
  std::erase_if(cursors_, [&](const OpenCursor& cursor) { return cursor.tree == tree.id; });
  ASSERT_OK(db_->drop_tree(tree.name));
  ASSERT_TRUE(db_->find_tree(tree.name).status().is_not_found());
  for (const OpenSnapshot& snapshot : snapshots_) {
    const ReadOptions options{.snapshot = &snapshot.snapshot};
    if (!db_->find_tree(tree.name, options).ok()) continue;  // it is younger
    const ModelView expected = view(tree, snapshot.commit);
    for (int i = 0; i < 3; ++i) {
      const Rank rank = static_cast<Rank>(prng_.below(pool_.size()));
      const Status status = db_->get(tree.handle, pool_[rank], value_, options);
      ASSERT_NO_FATAL_FAILURE(expect_value(status, value_.view(), expected.at(rank),
                                           "get of a dropped tree " + shown(pool_[rank])));
    }
    ASSERT_NO_FATAL_FAILURE(count_dropped(tree, snapshot));
  }
  ASSERT_TRUE(db_->put(tree.handle, "k", "v").is(StatusCode::kInvalidArgument));
  ASSERT_TRUE(db_->get(tree.handle, "k", value_).is(StatusCode::kInvalidArgument));
  Result<Tree> handle = db_->tree(tree.name);
  ASSERT_OK(handle.status());
  tree.handle = *handle;
  tree.id = ++last_id_;
  tree.model = std::make_shared<ModelTree>(pool_.size());
  if (tree.merges) {
    ASSERT_NO_FATAL_FAILURE(give_operator(tree));
  }
  renewed_ = index;
}

// What a snapshot still has of a tree that was dropped.
void ModelRun::count_dropped(const OpenTree& tree, const OpenSnapshot& snapshot) {
  const ModelView expected = view(tree, snapshot.commit);
  uint64_t present = 0;
  for (Rank at = expected.next(0, pool_.size()); at != kNoRank;
       at = expected.next(at + 1, pool_.size())) {
    ++present;
  }
  const Result<uint64_t> counted =
      db_->count(tree.handle, "", std::nullopt, {.snapshot = &snapshot.snapshot});
  ASSERT_OK(counted.status());
  ASSERT_EQ(*counted, present) << tree.name << " was dropped";
}

void ModelRun::rename(OpenTree& tree) {
  const std::string name = tree.name.substr(0, tree.name.find('~')) + "~" + std::to_string(done_);
  if (prng_.one_in(2)) {
    ASSERT_OK(db_->rename_tree(tree.name, name));
    tree.name = name;
    return;
  }
  Result<Transaction> begun = db_->begin(TxnOptions{});
  ASSERT_OK(begun.status());
  ASSERT_OK(begun->rename_tree(tree.name, name));
  ASSERT_TRUE(begun->find_tree(tree.name).status().is_not_found());
  ASSERT_EQ(begun->find_tree(name).value().id(), tree.handle.id());
  const Tree made = begun->tree(tree.name).value();
  ASSERT_OK(begun->put(made, "k", "of a tree that takes its name"));
  if (prng_.one_in(2)) return begun->abort();
  ASSERT_OK(begun->drop_tree(tree.name));
  ASSERT_OK(begun->commit(any_level()));
  tree.name = name;
}

void ModelRun::compare_all() {
  const Result<std::vector<std::string>> names = db_->list_trees();
  ASSERT_OK(names.status());
  ASSERT_EQ(names->size(), trees_.size());
  for (const OpenTree& tree : trees_) {
    const ModelView expected = view(tree, commit_);
    Rank at = 0;
    const Status status =
        db_->scan(tree.handle, "", std::nullopt, [&](std::span<const Entry> entries) {
          for (const Entry& entry : entries) {
            const Rank rank = expected.next(at, pool_.size());
            if (rank == kNoRank || pool_[rank] != entry.key || !expected.at(rank).is(entry.value)) {
              ADD_FAILURE() << tree.name << " holds " << shown(entry.key) << ", expected "
                            << (rank == kNoRank ? "the end" : shown(pool_[rank]));
              return false;
            }
            at = rank + 1;
          }
          return true;
        });
    ASSERT_OK(status);
    const Rank rest = expected.next(at, pool_.size());
    ASSERT_EQ(rest, kNoRank) << tree.name << " misses " << shown(pool_[rest]);
  }
  ASSERT_TRUE(clean(*db_));
}

}  // namespace hawthorn::tests
