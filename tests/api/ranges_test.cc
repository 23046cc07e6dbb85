// Counts, estimates, skips and random places: what include/hawthorn promises of them.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/prng.h"
#include "hawthorn/hawthorn.h"
#include "tests/support/engine_test.h"

namespace hawthorn::tests {
namespace {

class RangesTest : public ::testing::Test {
 protected:
  void open(bool read_only = false) {
    db_.reset();
    Options options;
    options.memory_budget_bytes = size_t{32} << 20;
    options.durability = Durability::kNone;
    options.read_only = read_only;
    Result<std::unique_ptr<Db>> opened = Db::open(directory_ / "db", options);
    ASSERT_OK(opened.status());
    db_ = std::move(opened).value();
    Result<Tree> tree = read_only ? db_->find_tree("t") : db_->tree("t");
    ASSERT_OK(tree.status());
    tree_ = *tree;
  }
  void fill(uint64_t from, uint64_t to, size_t value_bytes) {
    for (uint64_t i = from; i < to;) {
      WriteBatch batch;
      for (int n = 0; n < 500 && i < to; ++n, ++i) {
        batch.put(tree_, big_endian(i), std::string(value_bytes, 'v'));
      }
      ASSERT_OK(db_->write(batch));
    }
  }
  uint64_t count(std::string_view lo = {}, std::optional<std::string_view> hi = {},
                 const ReadOptions& options = {}) {
    const Result<uint64_t> counted = db_->count(tree_, lo, hi, options);
    EXPECT_OK(counted.status());
    return counted.ok() ? *counted : ~uint64_t{0};
  }

  TempDirectory directory_;
  std::unique_ptr<Db> db_;
  Tree tree_;
};

TEST_F(RangesTest, CountsStayExactThroughFlushesAndReopenings) {
  open();
  constexpr uint64_t kKeys = 120'000;
  EXPECT_EQ(count(), 0u);
  fill(0, kKeys, 60);
  EXPECT_EQ(count(), kKeys);
  ASSERT_OK(db_->flush());
  EXPECT_EQ(count(), kKeys);
  Snapshot before = db_->snapshot();
  for (uint64_t i = 0; i < kKeys; i += 3) ASSERT_OK(db_->del(tree_, big_endian(i)));
  fill(1000, 2000, 10);
  const uint64_t left = kKeys - kKeys / 3 + 333;  // of the thousand, a third was deleted before
  const auto expect = [&](bool with_snapshot) {
    EXPECT_EQ(count(), left);
    EXPECT_EQ(count(big_endian(1000), big_endian(2000)), 1000u);
    EXPECT_EQ(count(big_endian(2000), big_endian(5000)), 2000u);
    EXPECT_EQ(count(big_endian(5000), big_endian(2000)), 0u);
    EXPECT_EQ(count(big_endian(kKeys - 3)), 2u);
    if (!with_snapshot) return;
    EXPECT_EQ(count({}, {}, {.snapshot = &before}), kKeys);
    EXPECT_EQ(count(big_endian(1), big_endian(9), {.snapshot = &before}), 8u);
  };
  expect(true);
  ASSERT_OK(db_->flush());
  expect(true);
  before.reset();
  expect(false);
  // Runs on disk hold old versions and tombstones now; nobody knows of which keys.
  ASSERT_OK(db_->close());
  open();
  expect(false);
  const uint64_t read = db_->stats().bytes_read;
  EXPECT_GT(read, 0u);
  expect(false);
  ASSERT_OK(db_->close());
  open(true);
  expect(false);
  ASSERT_OK(db_->close());
  // Killed: the log has what was not flushed.
  open();
  fill(kKeys, kKeys + 777, 8);
  db_.reset();
  open();
  EXPECT_EQ(count(), left + 777);
  EXPECT_TRUE(clean(*db_));
}

TEST_F(RangesTest, TransactionsCountTheirOwnWrites) {
  open();
  fill(0, 5000, 20);
  for (const TxnMode mode : {TxnMode::kOptimistic, TxnMode::kExclusive}) {
    Result<Transaction> begun = db_->begin(mode);
    ASSERT_OK(begun.status());
    Transaction& txn = *begun;
    ASSERT_OK(txn.put(tree_, "x", "1"));
    ASSERT_OK(txn.del(tree_, big_endian(17)));
    ASSERT_OK(txn.put(tree_, big_endian(18), "2"));
    EXPECT_EQ(txn.count(tree_, "", std::nullopt).value(), 5000u);
    EXPECT_EQ(txn.count(tree_, big_endian(10), big_endian(20)).value(), 9u);
    EXPECT_EQ(count(), 5000u);
    EXPECT_EQ(count(big_endian(10), big_endian(20)), 10u);
    if (mode == TxnMode::kOptimistic) ASSERT_OK(db_->flush());
    EXPECT_EQ(txn.count(tree_, big_endian(10), std::nullopt).value(), 4990u);
    Cursor cursor = txn.cursor(tree_, {});
    ASSERT_TRUE(cursor.first());
    ASSERT_TRUE(cursor.skip(17));
    EXPECT_EQ(cursor.key(), big_endian(18));
    EXPECT_EQ(cursor.value(), "2");
    cursor = Cursor();
    txn.abort();
    EXPECT_TRUE(txn.count(tree_, "", std::nullopt).status().is(StatusCode::kInvalidArgument));
  }
  EXPECT_EQ(count(), 5000u);
  EXPECT_TRUE(
      Transaction().count(tree_, "", std::nullopt).status().is(StatusCode::kInvalidArgument));
}

TEST_F(RangesTest, WhatIsIngestedCountsFromItsCommitOn) {
  open();
  fill(0, 1000, 8);
  const Snapshot before = db_->snapshot();
  Result<Ingest> ingest = db_->ingest(tree_);
  ASSERT_OK(ingest.status());
  constexpr uint64_t kMany = 300'000;
  for (uint64_t i = 1000; i < kMany; ++i) ASSERT_OK(ingest->add(big_endian(i), value_of(i, 8)));
  EXPECT_EQ(count(), 1000u);
  ASSERT_OK(ingest->finish());
  EXPECT_GT(ingest->stats().entries_attached, 250'000u);
  for (const bool flushed : {false, true}) {
    if (flushed) ASSERT_OK(db_->flush());
    EXPECT_EQ(count(), kMany);
    EXPECT_EQ(count(big_endian(500), big_endian(200'000)), 199'500u);
    EXPECT_EQ(count({}, {}, {.snapshot = &before}), 1000u);
    EXPECT_EQ(count(big_endian(500), big_endian(200'000), {.snapshot = &before}), 500u);
  }
}

TEST_F(RangesTest, CallsThatCannotBeAnswered) {
  open();
  EXPECT_TRUE(db_->count(Tree(), "", std::nullopt).status().is(StatusCode::kInvalidArgument));
  EXPECT_TRUE(db_->estimate(Tree(), "", std::nullopt).status().is(StatusCode::kInvalidArgument));
  Cursor nowhere;
  EXPECT_FALSE(nowhere.skip(2));
  EXPECT_FALSE(nowhere.skip(0));
  EXPECT_FALSE(nowhere.seek_random(2));
  Cursor cursor = db_->cursor(tree_, {});
  EXPECT_FALSE(cursor.seek_random(2));
  EXPECT_FALSE(cursor.skip(1));
  EXPECT_OK(cursor.status());
  cursor = Cursor();
  fill(0, 10, 8);
  const Tree dropped = tree_;
  ASSERT_OK(db_->drop_tree("t"));
  EXPECT_TRUE(db_->count(dropped, "", std::nullopt).status().is(StatusCode::kInvalidArgument));
  EXPECT_TRUE(db_->estimate(dropped, "", std::nullopt).status().is(StatusCode::kInvalidArgument));
}

// Few keys, written again and again: neither what only a snapshot needs nor what is not flushed yet
// counts as more of them.
TEST_F(RangesTest, EstimatesOfFewKeysAreExact) {
  open();
  std::vector<Snapshot> snapshots;
  for (uint64_t round = 0; round < 40; ++round) {
    fill(0, 500, 20);
    snapshots.push_back(db_->snapshot());
    if (round % 8 == 7) ASSERT_OK(db_->flush());
    ASSERT_OK(db_->del(tree_, big_endian(round)));
    EXPECT_EQ(db_->estimate(tree_, "", std::nullopt)->entries, 499u);
    EXPECT_EQ(db_->estimate(tree_, big_endian(100), big_endian(300))->entries, 200u);
  }
}

// With more than a count should look at: by what some of the unflushed keys change.
TEST_F(RangesTest, EstimatesFollowOverwritesAndDeletes) {
  open();
  constexpr uint64_t kKeys = 30'000;
  fill(0, kKeys, 20);
  ASSERT_OK(db_->flush());
  fill(0, kKeys, 20);
  const auto entries = [&] {
    return static_cast<double>(db_->estimate(tree_, "", std::nullopt)->entries);
  };
  EXPECT_NEAR(entries(), kKeys, kKeys / 20.0);
  for (uint64_t i = 0; i < 25'000; ++i) ASSERT_OK(db_->del(tree_, big_endian(i)));
  EXPECT_NEAR(entries(), 5'000, kKeys / 20.0);
  fill(kKeys, 2 * kKeys, 20);
  EXPECT_NEAR(entries(), 35'000, kKeys / 20.0);
}

TEST_F(RangesTest, EstimatesNeedNoDisk) {
  open();
  constexpr uint64_t kKeys = 200'000;
  fill(0, kKeys, 200);
  ASSERT_OK(db_->flush());
  ASSERT_OK(db_->drain());
  const auto expect_near = [&](uint64_t last) {
    for (uint64_t from = 0; from < last; from += 23'456) {
      for (const uint64_t size : {1'000u, 20'000u, 90'000u}) {
        const uint64_t to = std::min(from + size, last);
        const RangeEstimate found = db_->estimate(tree_, big_endian(from), big_endian(to)).value();
        EXPECT_NEAR(static_cast<double>(found.entries), static_cast<double>(to - from), 100.0);
        EXPECT_GT(found.bytes, 0u);
      }
    }
    const RangeEstimate all = db_->estimate(tree_, "", std::nullopt).value();
    EXPECT_EQ(all.entries, kKeys);
    EXPECT_EQ(all.bytes,
              db_->stats().trees.at(0).bytes_index + db_->stats().trees.at(0).bytes_values);
  };
  expect_near(kKeys);
  // How far its keys reach nobody knows of the last container, whose size is a matter of when the
  // background flushed what.
  uint64_t known = kKeys;
  const std::string last_low = db_->explain(tree_, big_endian(kKeys - 1)).value().low_key;
  while (known > 0 && big_endian(known - 1) >= last_low) --known;
  ASSERT_GT(known, kKeys / 4);
  ASSERT_OK(db_->close());
  open();
  ASSERT_OK(db_->list_trees().status());  // the catalog is read as any other tree
  const uint64_t before = db_->stats().bytes_read;
  expect_near(known);
  EXPECT_EQ(db_->stats().bytes_read, before);
}

// A program that shows page after page by their numbers, in both directions.
TEST_F(RangesTest, PagesByNumber) {
  open();
  constexpr uint64_t kKeys = 50'000;
  fill(0, kKeys, 300);
  ASSERT_OK(db_->flush());
  for (uint64_t i = 0; i < kKeys; i += 500) ASSERT_OK(db_->put(tree_, big_endian(i), "new"));
  Prng prng(3);
  Cursor cursor = db_->cursor(tree_, {});
  for (int round = 0; round < 300; ++round) {
    const uint64_t page = prng.below(kKeys);
    ASSERT_TRUE(cursor.first());
    ASSERT_TRUE(cursor.skip(static_cast<int64_t>(page)));
    ASSERT_EQ(cursor.key(), big_endian(page));
    ASSERT_EQ(cursor.value(), page % 500 == 0 ? "new" : std::string(300, 'v'));
    const uint64_t back = prng.below(page + 1);
    ASSERT_TRUE(cursor.skip(-static_cast<int64_t>(back)));
    ASSERT_EQ(cursor.key(), big_endian(page - back));
  }
}

}  // namespace
}  // namespace hawthorn::tests
