// Transactions larger than their share of memory: what they wrote leaves the deltas, and they and
// all others see the same as if it had not. Crashes are in tests/crash.
#include <atomic>

#include "os/test_point.h"
#include "tests/api/sim_api_test_fixture.h"
#include "tests/support/ingest_test.h"
#include "txn/spill_sizing.h"

namespace hawthorn::tests {
namespace {

constexpr size_t kSpillBudget = size_t{16} << 20;
// With their values and all that they take one and a half times the budget.
constexpr uint64_t kMany = 120'000;
constexpr size_t kValueBytes = 100;

class Spill : public Api {
 protected:
  void SetUp() override { reopen(); }

  void reopen() {
    db_.reset();
    Options small = options();
    small.memory_budget_bytes = kSpillBudget;
    small.durability = Durability::kNone;
    small.lock_timeout_ms = 20;
    auto db = Db::open(path_, small);
    ASSERT_OK(db.status());
    db_ = std::move(*db);
    tree_ = db_->tree("t").value();
  }

  // Every third of the keys is there before; the transaction writes all even ones, and deletes
  // those that divide by 10.
  void fill() {
    for (uint64_t i = 0; i < kMany; i += 3) {
      const std::string value = value_of(i, 100);
      ASSERT_OK(db_->put(tree_, key(i), value));
      before_[key(i)] = value;
    }
  }
  void write(Transaction& txn) {
    expected_ = before_;
    for (uint64_t n = 0; n < kMany; ++n) {
      const uint64_t i = n * 7919 % kMany;
      if (i % 2 != 0) continue;
      if (i % 10 == 0) {
        ASSERT_OK(txn.del(tree_, key(i)));
        expected_.erase(key(i));
        continue;
      }
      const std::string value = value_of(i + 1, kValueBytes);
      ASSERT_OK(txn.put(tree_, key(i), value));
      expected_[key(i)] = value;
    }
  }
  static std::string key(uint64_t i) { return big_endian(i); }

  Contents before_;
  Contents expected_;
};

Contents read_in(Transaction& txn, const Tree& tree, bool forward) {
  Contents found;
  Cursor cursor = txn.cursor(tree);
  for (bool there = forward ? cursor.first() : cursor.last(); there;
       there = forward ? cursor.next() : cursor.prev()) {
    found[std::string(cursor.key())] = cursor.value();
  }
  EXPECT_OK(cursor.status());
  return found;
}

TEST_F(Spill, is_seen_by_its_transaction_alone_until_it_commits) {
  fill();
  const Snapshot old = db_->snapshot();
  {
    Transaction txn = begin();
    write(txn);
    EXPECT_TRUE(same(read_in(txn, tree_, true), expected_));
    EXPECT_TRUE(same(read_in(txn, tree_, false), expected_));
    EXPECT_EQ(txn.count(tree_, "", std::nullopt).value(), expected_.size());
    EXPECT_TRUE(same(read_all(*db_, tree_), before_));
    ASSERT_OK(txn.commit());
  }
  EXPECT_TRUE(same(read_all(*db_, tree_), expected_));
  EXPECT_TRUE(same(read_all(*db_, tree_, &old), before_));
  ASSERT_OK(db_->drain());
  EXPECT_TRUE(same(read_all(*db_, tree_), expected_));
  EXPECT_TRUE(same(read_all(*db_, tree_, &old), before_));
  ASSERT_TRUE(clean(*db_));
}

TEST_F(Spill, of_a_transaction_that_is_rolled_back_leaves_nothing) {
  fill();
  {
    Transaction txn = begin();
    write(txn);
    txn.abort();
  }
  EXPECT_TRUE(same(read_all(*db_, tree_), before_));
  ASSERT_OK(db_->drain());
  EXPECT_TRUE(same(read_all(*db_, tree_), before_));
  ASSERT_TRUE(clean(*db_));
}

TEST_F(Spill, survives_a_restart) {
  fill();
  {
    Transaction txn = begin();
    write(txn);
    ASSERT_OK(txn.commit());
  }
  reopen();
  EXPECT_TRUE(same(read_all(*db_, tree_), expected_));
  ASSERT_OK(db_->put(tree_, key(2), "later"));
  expected_[key(2)] = "later";
  reopen();
  EXPECT_TRUE(same(read_all(*db_, tree_), expected_));
  ASSERT_OK(db_->drain());
  EXPECT_TRUE(same(read_all(*db_, tree_), expected_));
  ASSERT_OK(db_->close());
  reopen();
  EXPECT_TRUE(same(read_all(*db_, tree_), expected_));
  ASSERT_TRUE(clean(*db_));
}

// Each is below its share of memory, all together are not.
TEST_F(Spill, many_open_ones_share_the_memory) {
  constexpr uint64_t kOpen = 8;
  constexpr uint64_t kEach = 800;
  std::vector<Transaction> open;
  for (uint64_t t = 0; t < kOpen; ++t) open.push_back(begin());
  for (uint64_t n = 0; n < kEach; ++n) {
    for (uint64_t t = 0; t < kOpen; ++t) {
      const uint64_t i = n * 7919 % kEach * kOpen + t;
      const std::string value = value_of(i, 3000);
      ASSERT_OK(open[t].put(tree_, key(i), value));
      if (t > 0) expected_[key(i)] = value;
    }
  }
  open[0].abort();
  for (uint64_t t = 1; t < kOpen; ++t) ASSERT_OK(open[t].commit());
  EXPECT_TRUE(same(read_all(*db_, tree_), expected_));
  ASSERT_TRUE(clean(*db_));
}

// Where others fill the memory, a transaction below its share may have gone to layers; one that is
// larger cannot be prepared, and is as it was.
TEST_F(Spill, only_what_is_larger_than_its_share_cannot_be_prepared) {
  const auto write = [&](Transaction& txn, uint64_t first, uint64_t count) {
    for (uint64_t i = first; i < first + count; ++i) {
      ASSERT_OK(txn.put(tree_, key(i), value_of(i, 3000)));
      expected_[key(i)] = value_of(i, 3000);
    }
  };
  std::vector<Transaction> open;
  for (uint64_t t = 0; t < 6; ++t) {
    open.push_back(begin());
    write(open.back(), t * 800, 800);
  }
  EXPECT_GT(db_->stats().layers, 0u);
  Transaction large = begin();
  write(large, 5000, 2000);
  const Status refused = large.prepare("large");
  EXPECT_TRUE(refused.is(StatusCode::kNotSupported)) << refused.to_string();
  for (uint64_t t = 0; t < open.size(); ++t) {
    ASSERT_OK(open[t].prepare(std::to_string(t)));
    ASSERT_OK(open[t].commit());
  }
  ASSERT_OK(large.commit());
  EXPECT_TRUE(same(read_all(*db_, tree_), expected_));
  ASSERT_TRUE(clean(*db_));
}

TEST_F(Spill, what_is_rolled_back_beside_an_open_one_is_flushed_when_deltas_are_full) {
  const Tree second = db_->tree("second").value();
  Transaction open = begin();
  ASSERT_OK(open.put(tree_, key(0), "open"));
  ASSERT_OK(open.put(second, key(0), "open"));
  {
    Transaction other = begin();
    for (uint64_t i = 1; i <= 500; ++i) {
      ASSERT_OK(other.put(tree_, key(i), value_of(i, 2500)));
      ASSERT_OK(other.put(second, key(i), value_of(i, 2500)));
    }
    EXPECT_GT(db_->stats().memory_delta_bytes, 2'500'000u);
    other.abort();
  }
  // No more than what is left to gather: 60% of the deltas' fifth of the budget.
  ASSERT_OK(db_->drain());
  EXPECT_LT(db_->stats().memory_delta_bytes, kSpillBudget / 5 / 10 * 6 + 1000);
  ASSERT_OK(open.commit());
  EXPECT_TRUE(same(read_all(*db_, tree_), {{key(0), "open"}}));
}

// ---- Small ones that spill

class SmallSpill : public SimApi {
 protected:
  void SetUp() override {
    txn::memory_share_max = size_t{16} << 10;
    SimApi::SetUp();
  }
  void TearDown() override {
    SimApi::TearDown();
    txn::memory_share_max = ~size_t{0};
  }
  // Some 20 KB, so that there is one layer at least.
  static Contents write_rows(Transaction& txn, const Tree& tree, uint64_t first, uint64_t number) {
    Contents result;
    for (uint64_t i = first; i < first + kRows; ++i) {
      const std::string value = value_of(i + number, 40);
      EXPECT_OK(txn.put(tree, big_endian(i), value));
      result[big_endian(i)] = value;
    }
    return result;
  }
  Contents commit_rows(uint64_t first = 0, uint64_t number = 0) {
    Transaction txn = begin();
    Contents result = write_rows(txn, tree_, first, number);
    EXPECT_OK(txn.commit());
    return result;
  }
  // Writes without the background's help, which the simulated machine has not.
  void expect(const Contents& contents) { ASSERT_TRUE(same(read_all(*db_, tree_), contents)); }

  static constexpr uint64_t kRows = 600;
};

TEST_F(SmallSpill, holds_the_log_until_the_manifest_knows_its_layers) {
  Contents now;
  for (uint64_t i = 0; i < 5; ++i) now.merge(commit_rows(i * kRows));
  EXPECT_GT(db_->stats().layers, 0u);
  const uint64_t transactions = db_->stats().log_bytes;
  // This reader needs the layer until the end.
  const Snapshot held = db_->snapshot();
  const Contents then = now;
  ASSERT_OK(db_->del(tree_, big_endian(3)));
  now.erase(big_endian(3));
  ASSERT_OK(db_->drain());
  EXPECT_GT(db_->stats().layers, 0u);
  for (int i = 0; i < 3; ++i) {  // each batch of the manifest trims for those before
    ASSERT_OK(db_->put(tree_, "later", "1"));
    ASSERT_OK(db_->flush());
  }
  now["later"] = "1";
  EXPECT_LT(db_->stats().log_bytes, transactions / 2);
  expect(now);
  EXPECT_TRUE(same(read_all(*db_, tree_, &held), then));
}

TEST_F(SmallSpill, does_not_stay_for_readers_whom_it_does_not_concern) {
  ASSERT_OK(db_->put(tree_, "before", "1"));
  const Snapshot before = db_->snapshot();
  commit_rows();
  EXPECT_GT(db_->stats().layers, 0u);
  ASSERT_OK(db_->drain());
  EXPECT_EQ(db_->stats().layers, 0u);
  EXPECT_TRUE(same(read_all(*db_, tree_, &before), {{"before", "1"}}));
}

TEST_F(SmallSpill, stays_over_restarts_for_a_named_snapshot) {
  Contents now = commit_rows();
  ASSERT_OK(db_->create_snapshot("kept"));
  const Contents then = now;
  for (int life = 0; life < 3; ++life) {
    for (uint64_t i = static_cast<uint64_t>(life); i < kRows; i += 5) {
      ASSERT_OK(db_->del(tree_, big_endian(i)));
      now.erase(big_endian(i));
    }
    ASSERT_OK(db_->drain());
    ASSERT_OK(db_->compact());
    if (life == 1) ASSERT_OK(db_->close());
    open_small();
    expect(now);
    const Snapshot kept = db_->open_snapshot("kept").value();
    ASSERT_TRUE(same(read_all(*db_, tree_, &kept), then));
    ASSERT_TRUE(clean(*db_));
  }
  ASSERT_OK(db_->drop_snapshot("kept"));
  ASSERT_OK(db_->drain());
  EXPECT_EQ(db_->stats().layers, 0u);
  expect(now);
}

// Its intents are in the deltas then, and its operations once in the log, which may move them.
TEST_F(SmallSpill, comes_back_to_be_prepared) {
  for (const bool commits : {true, false}) {
    SCOPED_TRACE(commits);
    Contents now = commit_rows(0, 1);
    ASSERT_OK(db_->drain());
    Contents then = now;
    {
      Transaction txn = begin();
      then.merge(write_rows(txn, tree_, kRows, 2));
      for (uint64_t i = 0; i < kRows; i += 3) {
        ASSERT_OK(txn.del(tree_, big_endian(i)));
        then.erase(big_endian(i));
      }
      const Savepoint savepoint = *txn.savepoint();
      write_rows(txn, tree_, 0, 3);
      ASSERT_OK(txn.rollback_to(savepoint));
      for (const auto& [key, value] : write_rows(txn, tree_, kRows / 2, 4)) then[key] = value;
      EXPECT_GT(db_->stats().layers, 0u);
      ASSERT_OK(txn.prepare("p"));
      EXPECT_EQ(db_->stats().layers, 0u);
      EXPECT_TRUE(db_->put(tree_, big_endian(kRows), "x").is(StatusCode::kTimedOut));
    }
    for (int life = 0; life < 2; ++life) {
      open_small();
      ASSERT_EQ(db_->prepared().value().size(), 1u);
      EXPECT_TRUE(db_->put(tree_, big_endian(kRows), "x").is(StatusCode::kTimedOut));
      expect(now);
    }
    ASSERT_OK(commits ? db_->commit_prepared("p") : db_->rollback_prepared("p"));
    expect(commits ? then : now);
    open_small();
    expect(commits ? then : now);
    ASSERT_OK(db_->drain());
    ASSERT_OK(db_->delete_range(tree_, ""));
    ASSERT_OK(db_->drain());
  }
}

TEST_F(SmallSpill, stays_beside_a_prepared_transaction_over_restarts) {
  {
    Transaction prepared = begin();
    ASSERT_OK(prepared.put(tree_, "prepared", "1"));
    ASSERT_OK(prepared.prepare("p"));
  }
  Contents now = commit_rows();
  for (const bool closed : {false, true, false}) {
    if (closed) ASSERT_OK(db_->close());
    open_small();
    expect(now);
  }
  ASSERT_OK(db_->commit_prepared("p"));
  now["prepared"] = "1";
  expect(now);
  ASSERT_OK(db_->drain());
  expect(now);
  ASSERT_TRUE(clean(*db_));
}

TEST_F(SmallSpill, is_read_where_nothing_may_be_written) {
  const Contents logged = commit_rows();
  open_small(true);
  expect(logged);
  open_small();
  expect(logged);
  ASSERT_OK(db_->close());  // without merging: the manifest has the layers
  open_small(true);
  EXPECT_GT(db_->stats().layers, 0u);
  const uint64_t read_before = db_->stats().bytes_read;
  size_t missing = 0;
  for (const auto& [key, expected] : logged) {
    Value value;
    const Status status = db_->get_in_memory(tree_, key, value);
    if (status.is(StatusCode::kNotInMemory)) {
      ++missing;
    } else {
      ASSERT_OK(status);
      EXPECT_EQ(value.view(), expected);
    }
  }
  EXPECT_GT(missing, 0u);
  EXPECT_EQ(db_->stats().bytes_read, read_before);
  expect(logged);
  EXPECT_TRUE(db_->put(tree_, "a", "b").is(StatusCode::kReadOnly));
}

TEST_F(SmallSpill, of_many_trees_is_one_commit) {
  std::vector<Tree> trees;
  for (int i = 0; i < 5; ++i) trees.push_back(db_->tree("tree" + std::to_string(i)).value());
  Contents contents;
  {
    Transaction txn = begin();
    for (const Tree& tree : trees) contents = write_rows(txn, tree, 0, 7);
    for (const Tree& tree : trees) EXPECT_TRUE(same(read_all(*db_, tree), {}));
    ASSERT_OK(txn.commit());
  }
  for (int i = 0; i < 3; ++i) {
    for (const Tree& tree : trees) ASSERT_TRUE(same(read_all(*db_, tree), contents)) << i;
    if (i == 0) {
      open_small();
      for (size_t t = 0; t < trees.size(); ++t) {
        trees[t] = db_->tree("tree" + std::to_string(t)).value();
      }
    }
    if (i == 1) ASSERT_OK(db_->drain());
  }
  EXPECT_EQ(db_->stats().layers, 0u);
}

TEST_F(SmallSpill, goes_with_its_tree) {
  commit_rows();
  const Contents contents = [&] {
    Transaction txn = begin();
    Result<Tree> other = txn.tree("other");
    EXPECT_OK(other.status());
    Contents written = write_rows(txn, *other, 0, 1);
    EXPECT_OK(txn.commit());
    return written;
  }();
  ASSERT_TRUE(same(read_all(*db_, db_->tree("other").value()), contents));
  {
    const Snapshot held = db_->snapshot();
    ASSERT_OK(db_->drop_tree("other"));
    ASSERT_OK(db_->drain());
  }
  ASSERT_OK(db_->drain());
  ASSERT_OK(db_->drain());
  EXPECT_EQ(db_->stats().layers, 0u);
  open_small();
  EXPECT_EQ(db_->list_trees()->size(), 1u);
  ASSERT_TRUE(clean(*db_));
}

TEST_F(SmallSpill, what_is_not_supported_says_so) {
  {
    Transaction txn = begin();
    write_rows(txn, tree_, 0, 0);
    EXPECT_TRUE(db_->set_merge_operator(tree_, "append").is(StatusCode::kBusy));
    ASSERT_OK(txn.commit());
  }
  EXPECT_TRUE(db_->set_merge_operator(tree_, "append").is(StatusCode::kBusy));
  ASSERT_OK(db_->drain());
  ASSERT_OK(db_->set_merge_operator(tree_, "append"));
  // From here on it stays in memory, as it has to.
  Transaction txn = begin();
  Contents contents = write_rows(txn, tree_, 0, 4);
  ASSERT_OK(txn.merge(tree_, big_endian(1), "!"));
  contents[big_endian(1)] += "!";
  EXPECT_EQ(db_->stats().layers, 0u);
  ASSERT_OK(txn.commit());
  expect(contents);
}

TEST_F(SmallSpill, others_wait_for_its_keys_and_conflict_behind_it) {
  Transaction old = begin({.mode = TxnMode::kOptimistic, .isolation = Isolation::kSerializable});
  Value value;
  ASSERT_TRUE(old.get(tree_, big_endian(5), value).is_not_found());
  ASSERT_OK(old.put(tree_, "elsewhere", "1"));
  Transaction txn = begin();
  const Contents contents = write_rows(txn, tree_, 0, 0);
  ASSERT_GT(db_->stats().layers, 0u);
  EXPECT_TRUE(db_->put(tree_, big_endian(5), "mine").is(StatusCode::kTimedOut));
  for (const TxnMode mode : {TxnMode::kOptimistic, TxnMode::kPessimistic}) {
    Transaction other = begin({.mode = mode});
    EXPECT_TRUE(other.put(tree_, big_endian(5), "mine").is(StatusCode::kTimedOut));
    ASSERT_OK(other.put(tree_, "beside" + std::to_string(static_cast<int>(mode)), "1"));
    ASSERT_OK(other.commit());
  }
  ASSERT_OK(txn.commit());
  EXPECT_TRUE(old.commit().is_conflict());
  ASSERT_OK(db_->put(tree_, big_endian(5), "mine"));
  EXPECT_EQ(get(big_endian(5)), "mine");
  ASSERT_OK(db_->drain());
  EXPECT_EQ(get(big_endian(5)), "mine");
  EXPECT_EQ(get(big_endian(6)), contents.at(big_endian(6)));
}

// What a layer has, it has instead of a lock.
TEST_F(SmallSpill, needs_no_memory_for_locks_of_what_is_in_layers) {
  Transaction txn = begin({.mode = TxnMode::kPessimistic});
  Value value;
  ASSERT_TRUE(txn.get_for_update(tree_, "read", value).is_not_found());
  ASSERT_OK(txn.put(tree_, "first", "1"));
  const Savepoint before = txn.savepoint().value();
  ASSERT_TRUE(txn.get_for_update(tree_, big_endian(7), value).is_not_found());
  const size_t used = db_->stats().memory_used_bytes;
  const Savepoint behind = txn.savepoint().value();
  write_rows(txn, tree_, 0, 0);
  write_rows(txn, tree_, kRows, 0);
  write_rows(txn, tree_, 2 * kRows, 0);
  EXPECT_LT(db_->stats().memory_used_bytes, used + (size_t{1} << 20));
  const auto taken = [&](std::string_view key) {
    Transaction other = begin({.mode = TxnMode::kPessimistic});
    const Status status = other.lock(tree_, key, RowLock::kShared);
    EXPECT_TRUE(status.is(StatusCode::kTimedOut) || status.ok()) << status.to_string();
    return status.is(StatusCode::kTimedOut);
  };
  for (uint64_t i = 0; i < 3 * kRows; i += 50) EXPECT_TRUE(taken(big_endian(i))) << i;
  ASSERT_OK(txn.rollback_to(behind));
  // Its lock is older than what was written there.
  EXPECT_TRUE(taken(big_endian(7)));
  EXPECT_FALSE(taken(big_endian(8)));
  EXPECT_TRUE(taken("read"));
  ASSERT_OK(txn.rollback_to(before));
  EXPECT_FALSE(taken(big_endian(7)));
  EXPECT_TRUE(taken("first"));
  ASSERT_OK(txn.commit());
  EXPECT_FALSE(taken("read"));
}

TEST_F(SmallSpill, of_a_batch_that_is_larger_than_its_share) {
  ASSERT_OK(db_->put(tree_, "before", "1"));
  WriteBatch batch;
  Contents contents{{"before", "1"}};
  // Some 600 KB, so that more than one chunk of the log goes before the end.
  for (uint64_t i = 0; i < 8 * kRows; ++i) {
    contents[big_endian(i)] = value_of(i, 100);
    batch.put(tree_, big_endian(i), contents[big_endian(i)]);
  }
  batch.del(tree_, big_endian(17));
  contents.erase(big_endian(17));
  ASSERT_OK(db_->write(batch));
  EXPECT_GT(db_->stats().layers, 0u);
  expect(contents);
  open_small();
  expect(contents);
  ASSERT_OK(db_->drain());
  EXPECT_EQ(db_->stats().layers, 0u);
  expect(contents);
  // One that names what is not there leaves nothing.
  const Tree gone = db_->tree("gone").value();
  WriteBatch bad;
  for (uint64_t i = 0; i < 8 * kRows; ++i) bad.put(tree_, big_endian(i), value_of(i + 1, 100));
  bad.put(gone, "a", "b");
  ASSERT_OK(db_->drop_tree("gone"));
  EXPECT_FALSE(db_->write(bad).ok());
  EXPECT_EQ(db_->stats().layers, 0u);
  expect(contents);
}

TEST_F(SmallSpill, nested_ones_come_and_go_as_a_whole) {
  Transaction txn = begin();
  Contents contents = write_rows(txn, tree_, 0, 0);
  {
    Transaction nested = txn.begin_nested().value();
    write_rows(nested, tree_, 100, 5);
    ASSERT_OK(nested.del(tree_, big_endian(0)));
    nested.abort();
  }
  EXPECT_TRUE(same(read_in(txn, tree_, true), contents));
  {
    Transaction nested = txn.begin_nested().value();
    for (const auto& [key, written] : write_rows(nested, tree_, 300, 9)) contents[key] = written;
    ASSERT_OK(nested.commit());
  }
  EXPECT_TRUE(same(read_in(txn, tree_, false), contents));
  ASSERT_OK(txn.commit());
  expect(contents);
  ASSERT_OK(db_->drain());
  expect(contents);
}

// Walks pass what a layer has deleted at once (tree/layered_dead.h), and what was deleted behind
// it; not what was taken back, or comes again.
TEST_F(SmallSpill, what_it_deleted_comes_back) {
  const std::string value(100, 'v');
  const auto row = [](uint64_t i) { return "row" + big_endian(i); };
  for (uint64_t i = 0; i < 4000; ++i) ASSERT_OK(db_->put(tree_, row(i), value));
  Transaction txn = begin();
  for (uint64_t i = 100; i < 2997; ++i) ASSERT_OK(txn.del(tree_, row(i)));
  Cursor cursor = txn.cursor(tree_);
  const auto expect_gap = [&](uint64_t from, uint64_t to) {
    ASSERT_TRUE(cursor.seek(row(from)));
    EXPECT_EQ(cursor.key(), row(to));
    ASSERT_TRUE(cursor.seek_for_prev(row(to - 1)));
    EXPECT_EQ(cursor.key(), row(from - 1));
  };
  const Result<Savepoint> savepoint = txn.savepoint();
  ASSERT_OK(savepoint.status());
  for (uint64_t i = 2997; i < 3000; ++i) ASSERT_OK(txn.del(tree_, row(i)));
  expect_gap(100, 3000);
  ASSERT_OK(txn.rollback_to(*savepoint));
  expect_gap(100, 2997);
  for (const uint64_t back : {2000, 2990, 100}) ASSERT_OK(txn.put(tree_, row(back), "back"));
  expect_gap(101, 2000);
  expect_gap(2001, 2990);
  ASSERT_TRUE(cursor.seek(row(100)));
  EXPECT_EQ(cursor.key(), row(100));
}

#if defined(HAWTHORN_TEST_POINTS)
// Each passes what was taken since the one before, though most of the rest went to the layer
// meanwhile, some 40 times; and what comes to be there again is found.
TEST_F(SmallSpill, pops_pass_once_what_they_took) {
  constexpr uint64_t kItems = 6000;
  std::atomic<uint64_t> passed{0};
  os::set_test_point("layered_walk.passes_a_key", [&] { ++passed; });
  const auto row = [](uint64_t i) { return "row" + big_endian(i); };
  for (uint64_t i = 0; i < kItems; ++i) ASSERT_OK(db_->put(tree_, row(i), "v"));
  Transaction txn = begin();
  for (uint64_t i = 0; i < kItems; ++i) {
    {
      Cursor cursor = txn.cursor(tree_);
      ASSERT_TRUE(cursor.first());
      ASSERT_EQ(cursor.key(), row(i));
    }
    ASSERT_OK(txn.del(tree_, row(i)));
    if (i % 1000 != 999) continue;
    ASSERT_OK(txn.put(tree_, row(i - 500), "back"));
    {
      Cursor cursor = txn.cursor(tree_);
      ASSERT_TRUE(cursor.first());
      ASSERT_EQ(cursor.key(), row(i - 500));
    }
    ASSERT_OK(txn.del(tree_, row(i - 500)));
  }
  os::clear_test_points();
  EXPECT_GT(passed, kItems / 2);
  EXPECT_LE(passed, 2 * kItems);
  ASSERT_OK(txn.commit());
  EXPECT_TRUE(read_all(*db_, tree_).empty());
}

// Between the look for layers and the record of them in the manifest their tree goes, and they.
TEST_F(SmallSpill, whose_tree_goes_while_the_manifest_is_told) {
  std::atomic<bool> dropped{false};
  os::set_test_point("catalog.before_keep_layers", [&] {
    if (dropped.exchange(true)) return;
    EXPECT_OK(db_->drop_tree("going"));
    EXPECT_OK(db_->drop_tree("another"));  // takes the layers away, too
  });
  {
    Transaction txn = begin();
    const Result<Tree> going = txn.tree("going");
    ASSERT_OK(going.status());
    ASSERT_OK(txn.tree("another").status());
    write_rows(txn, *going, 0, 1);
    ASSERT_OK(txn.commit());
  }
  ASSERT_OK(db_->drain());
  os::clear_test_points();
  EXPECT_TRUE(dropped.load());
  ASSERT_OK(db_->put(tree_, "k", "v"));
  ASSERT_OK(db_->flush());
  EXPECT_EQ(db_->list_trees()->size(), 1u);
  ASSERT_TRUE(clean(*db_));
}
#endif

}  // namespace
}  // namespace hawthorn::tests
