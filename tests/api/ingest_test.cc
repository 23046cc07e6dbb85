// Bulk ingests: what they promise to readers, snapshots, transactions and other writers; misuse.
#include "tests/support/ingest_test.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <utility>

#include "os/test_point.h"
#include "testing/sim_machine.h"
#include "txn/claim_sizing.h"

namespace hawthorn::tests {
namespace {

constexpr size_t kBudget = size_t{16} << 20;

class IngestTest : public ::testing::Test {
 protected:
  void SetUp() override { open(); }

  void open() {
    Options options;
    options.memory_budget_bytes = kBudget;
    options.durability = Durability::kNone;
    Result<std::unique_ptr<Db>> db = Db::open(directory_ / "db", options);
    ASSERT_OK(db.status());
    db_ = std::move(*db);
    Result<Tree> tree = db_->tree("t");
    ASSERT_OK(tree.status());
    tree_ = *tree;
  }

  // Without closing: the log is replayed.
  void reopen() {
    db_.reset();
    open();
  }

  void expect(const Contents& expected) {
    EXPECT_TRUE(same(read_all(*db_, tree_), expected));
    EXPECT_TRUE(clean(*db_));
  }

  // Now, after a crash of the process, after a flush, and after closing.
  void expect_everywhere(const Contents& expected) {
    expect(expected);
    reopen();
    expect(expected);
    EXPECT_OK(db_->flush());
    expect(expected);
    EXPECT_OK(db_->compact());
    ASSERT_OK(db_->close());
    open();
    expect(expected);
  }

  std::string value(const std::string& key) {
    Value value;
    const Status status = db_->get(tree_, key, value);
    return status.ok() ? value.to_string() : status.to_string();
  }

  TempDirectory directory_;
  std::unique_ptr<Db> db_;
  Tree tree_;
};

Contents merged(const Contents& older, const Contents& newer) {
  Contents result = newer;
  result.insert(older.begin(), older.end());
  return result;
}

TEST_F(IngestTest, AnEmptyTree) {
  const Contents entries = numbered(1, 50000, 100);
  IngestStats stats;
  ASSERT_OK(ingest_all(*db_, tree_, entries, &stats));
  EXPECT_EQ(stats.entries, 50000u);
  EXPECT_EQ(stats.entries_attached + stats.entries_logged, 50000u);
  EXPECT_GT(stats.containers, 10u);
  EXPECT_LT(stats.entries_logged, 5000u);
  EXPECT_LT(stats.bytes_written, 50000 * 150u);
  expect_everywhere(entries);
}

TEST_F(IngestTest, SeparatedValuesAndLargeOnes) {
  Contents entries = numbered(1, 4000, 500);
  for (uint64_t i = 0; i < 4000; i += 400) entries[big_endian(i + 1)] = value_of(i, 300000);
  IngestStats stats;
  ASSERT_OK(ingest_all(*db_, tree_, entries, &stats));
  EXPECT_GT(stats.containers, 2u);
  expect_everywhere(entries);
}

TEST_F(IngestTest, KeysOfAllShapes) {
  Contents entries;
  for (uint64_t i = 0; i < 20000; ++i) entries[key_of(i)] = value_of(i, i % 300);
  ASSERT_OK(ingest_all(*db_, tree_, entries));
  expect_everywhere(entries);
}

TEST_F(IngestTest, AFewEntriesAreATransaction) {
  const Contents entries = numbered(1, 100, 20);
  IngestStats stats;
  ASSERT_OK(ingest_all(*db_, tree_, entries, &stats));
  EXPECT_EQ(stats.containers, 0u);
  EXPECT_EQ(stats.entries_logged, 100u);
  expect_everywhere(entries);
}

#if defined(HAWTHORN_TEST_POINTS)
// A flush that takes longer than anybody asks again: what cannot be attached is logged.
TEST_F(IngestTest, GoesOnBesideAFlushThatDoesNotEnd) {
  ASSERT_OK(db_->flush());  // the names of trees, so that the next one is of this tree
  const uint32_t attempts = std::exchange(txn::claim_attempts, 3);
  std::atomic<bool> flushing{false};
  std::atomic<bool> finished{false};
  std::thread flusher;
  os::set_test_point("scheduler.before_install", [&] {
    if (flushing.exchange(true)) return;
    while (!finished.load()) std::this_thread::yield();
  });
  os::set_test_point("ingest.after_carve", [&] {
    if (flusher.joinable()) return;
    ASSERT_OK(db_->put(tree_, big_endian(2000), "others'"));
    flusher = std::thread([&] { EXPECT_OK(db_->flush()); });
    while (!flushing.load()) std::this_thread::yield();
  });
  const Contents entries = numbered(1, 4000, 500);
  IngestStats stats;
  EXPECT_OK(ingest_all(*db_, tree_, entries, &stats));
  EXPECT_TRUE(flushing.load());
  EXPECT_EQ(stats.entries_logged, entries.size());
  finished = true;
  flusher.join();
  os::clear_test_points();
  txn::claim_attempts = attempts;
  expect_everywhere(entries);
}
#endif

TEST_F(IngestTest, Nothing) {
  ASSERT_OK(ingest_all(*db_, tree_, {}));
  expect({});
}

TEST_F(IngestTest, AppendsAndGapsGoStraightToContainers) {
  Contents all = numbered(1, 20000, 100);
  ASSERT_OK(ingest_all(*db_, tree_, all));
  for (const uint64_t first : {1'000'000u, 500'000u, 2'000'000u}) {
    const Contents more = numbered(first, 20000, 100);
    IngestStats stats;
    ASSERT_OK(ingest_all(*db_, tree_, more, &stats));
    EXPECT_GT(stats.entries_attached, 15000u) << first;
    all = merged(all, more);
  }
  expect_everywhere(all);
}

TEST_F(IngestTest, OverlapsReplace) {
  const Contents older = numbered(0, 10000, 50, 2);
  for (const auto& [key, value] : older) ASSERT_OK(db_->put(tree_, key, value));
  // Some of the same keys, some between, and far more behind.
  Contents newer = numbered(5000, 30000, 60, 1);
  IngestStats stats;
  ASSERT_OK(ingest_all(*db_, tree_, newer, &stats));
  EXPECT_GT(stats.entries_attached, 10000u);
  EXPECT_GT(stats.entries_logged, 10000u);
  expect_everywhere(merged(older, newer));
}

TEST_F(IngestTest, WhatWasDeletedMakesRoom) {
  const Contents older = numbered(1, 20000, 100);
  for (const auto& [key, value] : older) ASSERT_OK(db_->put(tree_, key, value));
  for (const auto& [key, value] : older) ASSERT_OK(db_->del(tree_, key));
  const Contents newer = numbered(1, 20000, 90);
  IngestStats stats;
  ASSERT_OK(ingest_all(*db_, tree_, newer, &stats));
  EXPECT_GT(stats.containers, 0u);
  expect_everywhere(newer);
}

TEST_F(IngestTest, OlderSnapshotsDoNotSeeIt) {
  const Contents older = numbered(0, 1000, 100, 1000);
  ASSERT_OK(ingest_all(*db_, tree_, older));
  Snapshot before = db_->snapshot();
  const Contents newer = numbered(2'000'000, 30000, 100);
  IngestStats stats;
  ASSERT_OK(ingest_all(*db_, tree_, newer, &stats));
  ASSERT_GT(stats.containers, 5u);
  Snapshot after = db_->snapshot();
  const Contents all = merged(older, newer);
  const auto look = [&] {
    EXPECT_TRUE(same(read_all(*db_, tree_, &before), older));
    EXPECT_TRUE(same(read_all(*db_, tree_, &after), all));
    Value value;
    const std::string key = big_endian(2'000'100);
    EXPECT_TRUE(db_->get(tree_, key, value, {.snapshot = &before}).is_not_found());
    EXPECT_OK(db_->get(tree_, key, value, {.snapshot = &after}));
    ReadBatch batch;
    const std::string_view keys[] = {key};
    EXPECT_OK(db_->multi_get(tree_, keys, batch, {.snapshot = &before}));
    EXPECT_FALSE(batch[0].found());
    EXPECT_OK(db_->multi_get(tree_, keys, batch, {.snapshot = &after}));
    EXPECT_TRUE(batch[0].found());
  };
  look();
  // Written again, flushed, split and joined: the same.
  Contents last = all;
  for (uint64_t i = 2'000'000; i < 2'030'000; i += 3) {
    last[big_endian(i)] = "again";
    ASSERT_OK(db_->put(tree_, big_endian(i), "again"));
  }
  for (uint64_t i = 2'000'001; i < 2'029'000; i += 3) {
    last.erase(big_endian(i));
    ASSERT_OK(db_->del(tree_, big_endian(i)));
  }
  look();
  ASSERT_OK(db_->flush());
  look();
  ASSERT_OK(db_->compact());
  look();
  EXPECT_TRUE(same(read_all(*db_, tree_), last));
  before.reset();
  ASSERT_OK(db_->compact());
  EXPECT_TRUE(same(read_all(*db_, tree_, &after), all));
  after.reset();
  ASSERT_OK(db_->compact());
  expect_everywhere(last);
}

TEST_F(IngestTest, ACursorAndATransactionGoOnWithoutIt) {
  ASSERT_OK(db_->put(tree_, "a", "1"));
  ASSERT_OK(db_->put(tree_, "z", "2"));
  Cursor cursor = db_->cursor(tree_);
  ASSERT_TRUE(cursor.first());
  Result<Transaction> txn = db_->begin(TxnMode::kOptimistic);
  ASSERT_OK(txn.status());
  Contents entries;
  for (uint64_t i = 0; i < 20000; ++i) entries["k" + big_endian(i)] = value_of(i, 100);
  ASSERT_OK(ingest_all(*db_, tree_, entries));
  ASSERT_TRUE(cursor.next());
  EXPECT_EQ(cursor.key(), "z");
  Value value;
  EXPECT_TRUE(txn->get(tree_, "k" + big_endian(7), value).is_not_found());
  Cursor inside = txn->cursor(tree_);
  ASSERT_TRUE(inside.seek("k"));
  EXPECT_EQ(inside.key(), "z");
}

TEST_F(IngestTest, TransactionsOfItsKeysConflict) {
  const std::string key = big_endian(5000);
  const std::string beside = big_endian(5000) + "x";
  Contents entries = numbered(1, 20000, 100);
  {
    Result<Transaction> writes_before = db_->begin(TxnMode::kOptimistic);
    Result<Transaction> writes_after = db_->begin(TxnMode::kOptimistic);
    Result<Transaction> writes_beside = db_->begin(TxnMode::kOptimistic);
    ASSERT_OK(writes_before->put(tree_, key, "before"));
    ASSERT_OK(writes_beside->put(tree_, beside, "beside"));
    IngestStats stats;
    ASSERT_OK(ingest_all(*db_, tree_, entries, &stats));
    ASSERT_GT(stats.entries_attached, 15000u);
    EXPECT_TRUE(writes_before->commit().is_conflict());
    EXPECT_TRUE(writes_after->put(tree_, key, "after").is_conflict());
    EXPECT_OK(writes_beside->commit());
    entries[beside] = "beside";
    // One that begins now may.
    Result<Transaction> later = db_->begin(TxnMode::kOptimistic);
    ASSERT_OK(later->put(tree_, key, "later"));
    ASSERT_OK(later->commit());
    entries[key] = "later";
  }
  expect_everywhere(entries);
}

TEST_F(IngestTest, WhatIsWrittenMeanwhileIsOlder) {
  const Contents entries = numbered(1, 30000, 100);
  Result<Ingest> ingest = db_->ingest(tree_);
  ASSERT_OK(ingest.status());
  uint64_t added = 0;
  for (const auto& [key, value] : entries) {
    ASSERT_OK(ingest->add(key, value));
    if (++added % 1000 == 0) {
      ASSERT_OK(db_->put(tree_, big_endian(added), "older"));
      ASSERT_OK(db_->put(tree_, big_endian(added) + "x", "beside"));
    }
  }
  EXPECT_EQ(read_all(*db_, tree_).size(), 60u);
  ASSERT_OK(ingest->finish());
  *ingest = Ingest();
  Contents all = entries;
  for (uint64_t i = 1000; i <= 30000; i += 1000) all[big_endian(i) + "x"] = "beside";
  expect_everywhere(all);
}

TEST_F(IngestTest, UnsortedEntriesAreSorted) {
  IngestOptions options;
  options.sorted = false;
  options.sort_memory_bytes = size_t{512} << 10;
  Result<Ingest> ingest = db_->ingest(tree_, options);
  ASSERT_OK(ingest.status());
  Contents expected;
  Prng prng(7);
  for (uint64_t i = 0; i < 60000; ++i) {
    const std::string key = key_of(prng.below(40000));
    const std::string value = value_of(i, i % 7000 == 0 ? 100000 : prng.below(150));
    expected[key] = value;
    ASSERT_OK(ingest->add(key, value));
  }
  ASSERT_OK(ingest->finish());
  EXPECT_GT(ingest->stats().containers, 3u);
  *ingest = Ingest();
  expect_everywhere(expected);
  for (const auto& file : std::filesystem::directory_iterator(directory_ / "db")) {
    EXPECT_FALSE(file.path().filename().string().starts_with("ingest.")) << file.path();
  }
}

TEST_F(IngestTest, FinishTellsWhatItHasSortedAndEndsWhenTold) {
  IngestOptions options;
  options.sorted = false;
  options.sort_memory_bytes = size_t{512} << 10;
  constexpr uint64_t kEntries = 30000;
  for (const bool ends : {true, false}) {
    Result<Ingest> ingest = db_->ingest(tree_, options);
    ASSERT_OK(ingest.status());
    Contents expected;
    for (uint64_t i = 0; i < kEntries; ++i) {
      expected[key_of(kEntries - i)] = value_of(i, 100);
      ASSERT_OK(ingest->add(key_of(kEntries - i), value_of(i, 100)));
    }
    std::vector<uint64_t> told;
    const Status status = ingest->finish([&](uint64_t done, uint64_t entries) {
      EXPECT_EQ(entries, kEntries);
      told.push_back(done);
      return ends && told.size() == 3 ? Status(StatusCode::kBusy, "that is enough") : Status();
    });
    EXPECT_TRUE(std::is_sorted(told.begin(), told.end()));
    EXPECT_EQ(told.front(), 0u);
    if (ends) {
      EXPECT_TRUE(status.is(StatusCode::kBusy)) << status.to_string();
      EXPECT_EQ(told.size(), 3u);
      EXPECT_EQ(read_all(*db_, tree_).size(), 0u);
      continue;
    }
    ASSERT_OK(status);
    EXPECT_GT(told.size(), 5u);
    EXPECT_LE(told.back(), kEntries);
    EXPECT_GT(told.back() + 5000, kEntries);
    *ingest = Ingest();
    expect_everywhere(expected);
  }
}

TEST_F(IngestTest, OutOfOrderNamesTheKeysAndNothingIsThere) {
  Result<Ingest> ingest = db_->ingest(tree_);
  ASSERT_OK(ingest.status());
  for (uint64_t i = 0; i < 20000; ++i) ASSERT_OK(ingest->add(big_endian(i), value_of(i, 100)));
  ASSERT_OK(ingest->add("key 7", ""));
  const Status status = ingest->add("key 2", "");
  EXPECT_TRUE(status.is(StatusCode::kInvalidArgument));
  EXPECT_NE(status.message().find("\"key 2\""), std::string_view::npos) << status.to_string();
  EXPECT_NE(status.message().find("\"key 7\""), std::string_view::npos) << status.to_string();
  EXPECT_TRUE(ingest->add("key 8", "").is(StatusCode::kInvalidArgument));
  EXPECT_TRUE(ingest->finish().is(StatusCode::kInvalidArgument));
  expect({});

  ingest = db_->ingest(tree_);
  ASSERT_OK(ingest->add("a", "1"));
  EXPECT_TRUE(ingest->add("a", "2").is(StatusCode::kInvalidArgument));
}

TEST_F(IngestTest, Misuse) {
  Ingest none;
  EXPECT_TRUE(none.add("a", "b").is(StatusCode::kInvalidArgument));
  EXPECT_TRUE(none.finish().is(StatusCode::kInvalidArgument));
  EXPECT_FALSE(none.open());
  EXPECT_TRUE(db_->ingest(Tree()).status().is(StatusCode::kInvalidArgument));

  Result<Ingest> ingest = db_->ingest(tree_);
  ASSERT_OK(ingest->add("a", "b"));
  EXPECT_TRUE(db_->close().is(StatusCode::kBusy));
  ASSERT_OK(ingest->finish());
  EXPECT_FALSE(ingest->open());
  EXPECT_TRUE(ingest->add("c", "d").is(StatusCode::kInvalidArgument));
  EXPECT_TRUE(ingest->finish().is(StatusCode::kInvalidArgument));

  ingest = db_->ingest(tree_);
  EXPECT_TRUE(ingest->add(std::string(70000, 'k'), "").is(StatusCode::kInvalidArgument));
  EXPECT_TRUE(ingest->finish().is(StatusCode::kInvalidArgument));

  ingest = db_->ingest(tree_);
  ASSERT_OK(ingest->add("b", "b"));
  ingest->abandon();
  EXPECT_TRUE(ingest->finish().is(StatusCode::kInvalidArgument));

  // An exclusive transaction of this thread would be waited for for ever.
  ingest = db_->ingest(tree_);
  for (uint64_t i = 0; i < 20000; ++i) {
    ASSERT_OK(ingest->add("k" + big_endian(i), value_of(i, 100)));
  }
  Result<Transaction> exclusive = db_->begin(TxnMode::kExclusive);
  ASSERT_OK(exclusive.status());
  EXPECT_TRUE(ingest->finish().is(StatusCode::kInvalidArgument));
  exclusive->abort();
  *ingest = Ingest();
  expect({{"a", "b"}});
}

TEST_F(IngestTest, AbandonedSpaceIsFreeAgain) {
  const uint64_t before = db_->stats().disk_bytes_allocated;
  for (int round = 0; round < 10; ++round) {
    Result<Ingest> ingest = db_->ingest(tree_);
    for (uint64_t i = 0; i < 60000; ++i) ASSERT_OK(ingest->add(big_endian(i), value_of(i, 200)));
    ASSERT_OK(ingest->add("l", value_of(1, 1 << 20)));
    if (round % 2 == 0) ingest->abandon();
  }
  EXPECT_LT(db_->stats().disk_bytes_allocated, before + (uint64_t{100} << 20));
  EXPECT_LT(db_->stats().memory_used_bytes, kBudget);
  expect({});
}

TEST_F(IngestTest, ADroppedTree) {
  Result<Ingest> ingest = db_->ingest(tree_);
  for (uint64_t i = 0; i < 20000; ++i) ASSERT_OK(ingest->add(big_endian(i), value_of(i, 100)));
  ASSERT_OK(db_->drop_tree("t"));
  EXPECT_TRUE(ingest->finish().is(StatusCode::kInvalidArgument));
  *ingest = Ingest();
  Result<Tree> tree = db_->tree("t");
  ASSERT_OK(tree.status());
  tree_ = *tree;
  expect({});
}

TEST_F(IngestTest, TwoAtOnce) {
  Result<Ingest> one = db_->ingest(tree_);
  Result<Ingest> two = db_->ingest(tree_);
  Contents all;
  for (uint64_t i = 0; i < 20000; ++i) {
    ASSERT_OK(one->add(big_endian(i), "one"));
    ASSERT_OK(two->add(big_endian(i + 10000), "two" + value_of(i, 50)));
    all[big_endian(i)] = "one";
  }
  ASSERT_OK(two->finish());
  ASSERT_OK(one->finish());
  *one = Ingest();
  *two = Ingest();
  for (uint64_t i = 10000; i < 20000; ++i) all[big_endian(i + 10000)] = "two" + value_of(i, 50);
  expect_everywhere(all);
}

TEST_F(IngestTest, ASourceAndStreams) {
  uint64_t next = 0;
  std::string key;
  std::string value;
  ASSERT_OK(db_->ingest(tree_, [&](Entry* entry) -> Result<bool> {
    if (next == 10000) return false;
    key = big_endian(next);
    value = value_of(next++, 60);
    *entry = {key, value};
    return true;
  }));
  Contents all = numbered(0, 10000, 60);
  EXPECT_TRUE(
      db_->ingest(tree_,
                  [&](Entry*) -> Result<bool> { return Status(StatusCode::kIoError, "mine"); })
          .is(StatusCode::kIoError));
  Result<Ingest> ingest = db_->ingest(tree_);
  for (const size_t size : {size_t{100}, size_t{100'000}, size_t{20} << 20}) {
    const std::string bytes = value_of(size, size);
    const std::string name = "s" + big_endian(size);
    size_t given = 0;
    ASSERT_OK(ingest->add_stream(name, size, [&](std::span<char> to) -> Result<size_t> {
      const size_t count = std::min(to.size(), size - given);
      std::memcpy(to.data(), bytes.data() + given, count);
      given += count;
      return count;
    }));
    all[name] = bytes;
  }
  ASSERT_OK(ingest->finish());
  *ingest = Ingest();
  expect_everywhere(all);
}

TEST_F(IngestTest, ReadersAndWritersGoOnAndSeeAllOrNothing) {
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> rounds{0};
  std::vector<std::thread> threads;
  // In every round first and last key get the round's number.
  threads.emplace_back([&] {
    while (!stop.load()) {
      const Snapshot snapshot = db_->snapshot();
      const ReadOptions options{.snapshot = &snapshot};
      Value first;
      Value last;
      const uint64_t seen = rounds.load();
      const Status a = db_->get(tree_, "k", first, options);
      const Status b = db_->get(tree_, "m", last, options);
      ASSERT_EQ(a.code(), b.code());
      if (a.ok()) {
        ASSERT_EQ(first.view(), last.view());
      }
      size_t count = 0;
      Cursor cursor = db_->cursor(tree_, {.lower = "l", .upper = "m", .snapshot = &snapshot});
      for (bool more = cursor.first(); more; more = cursor.next()) ++count;
      EXPECT_EQ(count % 3000, 0u);
      EXPECT_GE(count / 3000, seen);
    }
  });
  threads.emplace_back([&] {
    Prng prng(3);
    for (uint64_t i = 0; !stop.load(); ++i) {
      ASSERT_OK(db_->put(tree_, "w" + big_endian(prng.below(5000)), value_of(i, 100)));
      // Inside of the ranges, for a moment.
      const std::string key = "l" + big_endian(prng.below(20)) + "~";
      Result<Transaction> txn = db_->begin(TxnMode::kOptimistic);
      ASSERT_OK(txn->put(tree_, key, "x"));
      ASSERT_OK(txn->del(tree_, key));
      const Status status = txn->commit();
      ASSERT_TRUE(status.ok() || status.is_conflict());
    }
  });
  uint64_t attached = 0;
  for (uint64_t round = 0; round < 12; ++round) {
    Contents entries;
    for (uint64_t i = 0; i < 3000; ++i) {
      entries["l" + big_endian(round) + big_endian(i)] = value_of(i, 150);
    }
    entries["k"] = entries["m"] = std::to_string(round);
    IngestStats stats;
    ASSERT_OK(ingest_all(*db_, tree_, entries, &stats));
    attached += stats.entries_attached;
    rounds.store(round + 1);
  }
  stop.store(true);
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(attached, 0u);
  EXPECT_TRUE(clean(*db_));
}

}  // namespace
}  // namespace hawthorn::tests
