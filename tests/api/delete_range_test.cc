// Deleted ranges: what every kind of reader sees of them before and after the background has erased
// them, in transactions of every kind and beside others. Crashes are in tests/crash.
#include <atomic>
#include <thread>

#include "os/test_point.h"
#include "tests/api/sim_api_test_fixture.h"
#include "tests/support/every_read.h"
#include "txn/spill_sizing.h"

namespace hawthorn::tests {
namespace {

constexpr uint64_t kErasedKeys = 6000;

// On the simulated machine, where nothing is erased before the test says so.
class DeleteRange : public SimApi {
 protected:
  static std::string key(uint64_t i) { return big_endian(i); }
  void put_all(uint64_t number = 0) {
    for (uint64_t i = 0; i < kErasedKeys; ++i) {
      now_[key(i)] = value_of(i + number, 100);
      put(key(i), now_[key(i)]);
    }
  }
  void put_one(uint64_t i, std::string_view value) {
    now_[key(i)] = value;
    put(key(i), value);
  }
  static void erase(Contents* of, uint64_t low, uint64_t high) {
    of->erase(of->lower_bound(key(low)), of->lower_bound(key(high)));
  }
  void delete_range(uint64_t low, uint64_t high) {
    ASSERT_OK(db_->delete_range(tree_, key(low), key(high)));
    erase(&now_, low, high);
  }
  void expect_now() { expect(now_); }
  // By every kind of read.
  void expect(const Contents& contents, const Snapshot* snapshot = nullptr) {
    std::vector<std::string> wanted;
    for (uint64_t i = 0; i < kErasedKeys; i += 29) wanted.push_back(key(i));
    expect_by_every_read(*db_, tree_, contents, wanted, snapshot);
  }

  // A large transaction, then a range, with a named snapshot behind each; then what the background
  // does, and restarts.
  void delete_above_a_layer(bool flushes) {
    put_all();
    txn::memory_share_max = size_t{32} << 10;
    {
      Transaction txn = begin();
      for (uint64_t i = 0; i < 2 * kErasedKeys; i += 2) {
        now_[key(i)] = "large";
        ASSERT_OK(txn.put(tree_, key(i), "large" + std::string(100, '.')));
        now_[key(i)] += std::string(100, '.');
      }
      ASSERT_OK(txn.commit());
    }
    txn::memory_share_max = ~size_t{0};
    const Contents before = now_;
    ASSERT_OK(db_->create_snapshot("before"));
    delete_range(1000, 2 * kErasedKeys - 1000);
    const Contents behind = now_;
    ASSERT_OK(db_->create_snapshot("behind"));
    for (int i = 0; i < 3; ++i) {
      SCOPED_TRACE(i);
      ASSERT_OK(db_->drain());
      if (flushes) ASSERT_OK(db_->flush());
      {
        const Snapshot first = db_->open_snapshot("before").value();
        const Snapshot second = db_->open_snapshot("behind").value();
        ASSERT_NO_FATAL_FAILURE(expect(before, &first));
        ASSERT_NO_FATAL_FAILURE(expect(behind, &second));
        ASSERT_NO_FATAL_FAILURE(expect_now());
      }
      if (flushes && i == 0) ASSERT_OK(db_->close());
      open_small();
      put_one(5, "since");
    }
  }

  Contents now_;
};

TEST_F(DeleteRange, hides_from_every_reader_before_and_after_it_is_erased) {
  put_all();
  ASSERT_OK(db_->flush());
  for (uint64_t i = 0; i < kErasedKeys; i += 3) put_one(i, "newer");
  const Contents before = now_;
  const Snapshot old = db_->snapshot();
  delete_range(1000, 4000);
  for (uint64_t i = 900; i < 4100; i += 50) put_one(i, "since");
  EXPECT_EQ(db_->stats().deleted_ranges, 1u);
  ASSERT_NO_FATAL_FAILURE(expect_now());
  ASSERT_NO_FATAL_FAILURE(expect(before, &old));
  ASSERT_OK(db_->flush());
  ASSERT_NO_FATAL_FAILURE(expect_now());
  ASSERT_NO_FATAL_FAILURE(expect(before, &old));
  ASSERT_OK(db_->drain());
  EXPECT_EQ(db_->stats().deleted_ranges, 0u);
  ASSERT_NO_FATAL_FAILURE(expect_now());
  ASSERT_NO_FATAL_FAILURE(expect(before, &old));
  ASSERT_OK(db_->compact());
  ASSERT_NO_FATAL_FAILURE(expect(before, &old));
  ASSERT_NO_FATAL_FAILURE(expect_now());
  EXPECT_TRUE(clean(*db_));
}

TEST_F(DeleteRange, has_borders_and_may_have_no_end) {
  put_all();
  ASSERT_OK(db_->delete_range(tree_, key(10), key(10)));
  ASSERT_OK(db_->delete_range(tree_, key(11), key(10)));
  ASSERT_NO_FATAL_FAILURE(expect_now());
  EXPECT_EQ(db_->stats().deleted_ranges, 0u);
  delete_range(10, 11);
  delete_range(20, 30);
  delete_range(25, 35);
  ASSERT_NO_FATAL_FAILURE(expect_now());
  ASSERT_OK(db_->delete_range(tree_, key(5000)));
  erase(&now_, 5000, kErasedKeys);
  ASSERT_NO_FATAL_FAILURE(expect_now());
  ASSERT_OK(db_->drain());
  ASSERT_NO_FATAL_FAILURE(expect_now());
  ASSERT_OK(db_->delete_range(tree_, ""));
  put_one(17, "alone");
  now_ = {{key(17), "alone"}};
  ASSERT_NO_FATAL_FAILURE(expect_now());
  ASSERT_OK(db_->drain());
  ASSERT_NO_FATAL_FAILURE(expect_now());
}

TEST_F(DeleteRange, gives_all_space_back) {
  put_all();
  put(key(kErasedKeys + 1), value_of(1, 300'000));
  ASSERT_OK(db_->flush());
  const Stats full = db_->stats();
  delete_range(0, kErasedKeys + 2);
  ASSERT_OK(db_->drain());
  const Stats empty = db_->stats();
  EXPECT_LT(empty.disk_bytes_reachable, full.disk_bytes_reachable / 10);
  EXPECT_LT(empty.trees.front().containers, 4u);
  ASSERT_NO_FATAL_FAILURE(expect_now());
}

TEST_F(DeleteRange, outlives_restarts_and_what_was_written_since_does_too) {
  put_all();
  ASSERT_OK(db_->flush());
  delete_range(500, 5500);
  for (uint64_t i = 0; i < kErasedKeys; i += 100) put_one(i, "since");
  open_small();  // without a close
  EXPECT_EQ(db_->stats().deleted_ranges, 1u);
  ASSERT_NO_FATAL_FAILURE(expect_now());
  put_one(700, "again");
  ASSERT_OK(db_->flush());
  // The log has the range still, and runs that were made without what it hides.
  open_small();
  ASSERT_NO_FATAL_FAILURE(expect_now());
  delete_range(600, 800);
  put_one(701, "last");
  ASSERT_OK(db_->close());
  open_small(true);
  EXPECT_EQ(db_->stats().deleted_ranges, 0u);
  ASSERT_NO_FATAL_FAILURE(expect_now());
  open_small();
  ASSERT_NO_FATAL_FAILURE(expect_now());
}

TEST_F(DeleteRange, is_read_from_the_log_by_who_cannot_write) {
  put_all();
  delete_range(100, 5000);
  put_one(200, "since");
  open_small(true);
  ASSERT_NO_FATAL_FAILURE(expect_now());
}

TEST_F(DeleteRange, of_a_transaction_is_its_own_until_it_commits) {
  put_all();
  const Contents before = now_;
  Transaction txn = begin();
  ASSERT_OK(txn.put(tree_, key(1500), "its own, before"));
  ASSERT_OK(txn.put(tree_, key(9000), "its own"));
  ASSERT_OK(txn.delete_range(tree_, key(1000), key(4000)));
  EXPECT_EQ(get_in(txn, key(1500)), "NotFound");
  EXPECT_EQ(get_in(txn, key(999)), now_[key(999)]);
  ASSERT_OK(txn.put(tree_, key(2000), "its own, since"));
  Contents own = before;
  erase(&own, 1000, 4000);
  own[key(2000)] = "its own, since";
  own[key(9000)] = "its own";
  const auto read_own = [&] {
    Contents found;
    Cursor cursor = txn.cursor(tree_);
    for (bool there = cursor.first(); there; there = cursor.next()) {
      found[std::string(cursor.key())] = cursor.value();
    }
    EXPECT_OK(cursor.status());
    Contents backwards;
    for (bool there = cursor.last(); there; there = cursor.prev()) {
      backwards[std::string(cursor.key())] = cursor.value();
    }
    EXPECT_TRUE(found == backwards);
    return found;
  };
  EXPECT_TRUE(same(read_own(), own));
  EXPECT_EQ(txn.count(tree_, "", std::nullopt).value(), own.size());
  ASSERT_NO_FATAL_FAILURE(expect(before));

  const Savepoint mark = txn.savepoint().value();
  ASSERT_OK(txn.delete_range(tree_, key(0), key(1000)));
  ASSERT_OK(txn.delete_range(tree_, key(1990), key(2010)));
  EXPECT_EQ(get_in(txn, key(2000)), "NotFound");
  EXPECT_EQ(get_in(txn, key(5)), "NotFound");
  ASSERT_OK(txn.rollback_to(mark));
  EXPECT_TRUE(same(read_own(), own));

  Transaction nested = txn.begin_nested().value();
  ASSERT_OK(nested.delete_range(tree_, key(5000), std::nullopt));
  nested.abort();
  nested = txn.begin_nested().value();
  ASSERT_OK(nested.delete_range(tree_, key(5500), key(8000)));
  ASSERT_OK(nested.commit());
  erase(&own, 5500, 8000);
  EXPECT_TRUE(same(read_own(), own));
  ASSERT_NO_FATAL_FAILURE(expect(before));
  ASSERT_OK(txn.commit());
  now_ = own;
  ASSERT_NO_FATAL_FAILURE(expect_now());
  ASSERT_OK(db_->drain());
  ASSERT_NO_FATAL_FAILURE(expect_now());
}

// A table that is emptied and filled again and again: whatever the first range hides, the others
// need not hide again.
TEST_F(DeleteRange, of_what_its_transaction_has_deleted_before_is_no_other_one) {
  put_all();
  for (const TxnMode mode : {TxnMode::kOptimistic, TxnMode::kExclusive}) {
    const Contents before = now_;
    const uint64_t ranges = db_->stats().deleted_ranges;  // of the log, behind an open
    Transaction txn = begin({.mode = mode});
    Contents own;
    const auto refill = [&](uint64_t number) {
      ASSERT_OK(txn.delete_range(tree_, key(number), std::nullopt));
      erase(&own, number, 2 * kErasedKeys);
      for (uint64_t i = 0; i < 300; ++i) {
        own[key(i * 7)] = value_of(number + i, 50);
        ASSERT_OK(txn.put(tree_, key(i * 7), own[key(i * 7)]));
      }
      ASSERT_EQ(txn.count(tree_, "", std::nullopt).value(), own.size());
    };
    ASSERT_NO_FATAL_FAILURE(refill(0));
    ASSERT_NO_FATAL_FAILURE(refill(3));
    const Contents at_mark = own;
    const Savepoint mark = txn.savepoint().value();
    for (uint64_t i = 0; i < 10; ++i) ASSERT_NO_FATAL_FAILURE(refill(i));
    EXPECT_EQ(db_->stats().deleted_ranges, ranges + 1);
    ASSERT_OK(txn.rollback_to(mark));
    ASSERT_EQ(txn.count(tree_, "", std::nullopt).value(), at_mark.size());
    own = at_mark;
    ASSERT_NO_FATAL_FAILURE(expect(before));
    ASSERT_NO_FATAL_FAILURE(refill(100));
    EXPECT_EQ(db_->stats().deleted_ranges, ranges + 1);
    ASSERT_OK(txn.commit());
    now_ = own;
    ASSERT_NO_FATAL_FAILURE(expect_now());
    ASSERT_OK(db_->drain());
    ASSERT_NO_FATAL_FAILURE(expect_now());
    txn = Transaction();
    open_small();
    ASSERT_NO_FATAL_FAILURE(expect_now());
  }
  // One that was deleted behind a savepoint goes with it.
  Transaction txn = begin({.mode = TxnMode::kExclusive});
  const Savepoint mark = txn.savepoint().value();
  ASSERT_OK(txn.delete_range(tree_, "", std::nullopt));
  ASSERT_OK(txn.rollback_to(mark));
  ASSERT_OK(txn.delete_range(tree_, "", std::nullopt));
  EXPECT_EQ(txn.count(tree_, "", std::nullopt).value(), 0u);
  ASSERT_OK(txn.commit());
  now_.clear();
  ASSERT_NO_FATAL_FAILURE(expect_now());
}

TEST_F(DeleteRange, that_is_rolled_back_leaves_nothing) {
  put_all();
  {
    Transaction txn = begin();
    ASSERT_OK(txn.delete_range(tree_, key(0), key(5000)));
    EXPECT_EQ(db_->stats().deleted_ranges, 1u);
    txn.abort();
  }
  EXPECT_EQ(db_->stats().deleted_ranges, 0u);
  ASSERT_NO_FATAL_FAILURE(expect_now());
  put_one(17, "goes on");
  open_small();
  ASSERT_NO_FATAL_FAILURE(expect_now());
}

TEST_F(DeleteRange, in_every_mode) {
  for (const TxnMode mode : {TxnMode::kOptimistic, TxnMode::kPessimistic, TxnMode::kExclusive}) {
    for (const Isolation isolation :
         {Isolation::kReadCommitted, Isolation::kSnapshot, Isolation::kSerializable}) {
      put_all(17);
      Transaction txn = begin({.mode = mode, .isolation = isolation});
      ASSERT_OK(txn.put(tree_, key(450), "before"));
      ASSERT_OK(txn.delete_range(tree_, key(400), key(2500)));
      ASSERT_OK(txn.delete_range(tree_, key(3000), key(3005)));
      EXPECT_EQ(get_in(txn, key(450)), "NotFound");
      EXPECT_EQ(get_in(txn, key(3004)), "NotFound");
      ASSERT_OK(txn.put(tree_, key(460), "since"));
      ASSERT_OK(txn.commit());
      erase(&now_, 400, 2500);
      erase(&now_, 3000, 3005);
      now_[key(460)] = "since";
      ASSERT_NO_FATAL_FAILURE(expect_now());
      ASSERT_OK(db_->drain());
      ASSERT_NO_FATAL_FAILURE(expect_now());
    }
  }
}

TEST_F(DeleteRange, loses_to_commits_in_the_range) {
  put_all();
  // A key that was there, and one that was not.
  for (const uint64_t i : {uint64_t{1200}, kErasedKeys + 10}) {
    Transaction txn = begin();
    ASSERT_EQ(get_in(txn, key(0)), now_[key(0)]);
    put_one(i, "of another");
    const Status status = txn.delete_range(tree_, key(1000), std::nullopt);
    ASSERT_TRUE(status.ok()) << status.to_string();
    EXPECT_TRUE(txn.commit().is_conflict());
    ASSERT_NO_FATAL_FAILURE(expect_now());
  }
  // Of few keys it is no other.
  Transaction txn = begin();
  ASSERT_OK(txn.delete_range(tree_, key(100), key(110)));
  put_one(99, "of another");
  ASSERT_OK(txn.commit());
  erase(&now_, 100, 110);
  Transaction second = begin();
  ASSERT_OK(second.delete_range(tree_, key(100), key(120)));
  put_one(105, "of another");
  EXPECT_TRUE(second.commit().is_conflict());
  ASSERT_NO_FATAL_FAILURE(expect_now());
}

TEST_F(DeleteRange, wins_over_those_that_have_written_there_before) {
  put_all();
  for (const bool erased : {false, true}) {
    Transaction early = begin();
    Transaction blind = begin({.isolation = Isolation::kReadCommitted});
    Transaction reader = begin({.isolation = Isolation::kSerializable});
    Transaction elsewhere = begin({.isolation = Isolation::kSerializable});
    ASSERT_OK(early.put(tree_, key(1500), "early"));
    ASSERT_OK(blind.put(tree_, key(1600), "blind"));
    EXPECT_EQ(get_in(reader, key(1700)), now_[key(1700)]);
    EXPECT_EQ(get_in(elsewhere, key(900)), now_[key(900)]);
    ASSERT_OK(reader.put(tree_, key(10), "reader"));
    ASSERT_OK(elsewhere.put(tree_, key(11), "elsewhere"));
    delete_range(1000, 4000);
    if (erased) {
      ASSERT_OK(db_->drain());
    }
    EXPECT_TRUE(early.commit().is_conflict());
    EXPECT_TRUE(reader.commit().is_conflict());
    ASSERT_OK(elsewhere.commit());
    ASSERT_OK(blind.commit());
    now_[key(11)] = "elsewhere";
    now_[key(1600)] = "blind";
    ASSERT_NO_FATAL_FAILURE(expect_now());
    ASSERT_OK(db_->drain());
    ASSERT_NO_FATAL_FAILURE(expect_now());
    put_all(3);
  }
}

TEST_F(DeleteRange, lets_others_wait_for_its_transaction) {
  put_all();
  Transaction txn = begin();
  ASSERT_OK(txn.delete_range(tree_, key(1000), key(4000)));
  EXPECT_TRUE(db_->put(tree_, key(2000), "x").is(StatusCode::kTimedOut));
  EXPECT_TRUE(db_->put(tree_, key(1000), "x").is(StatusCode::kTimedOut));
  Transaction locks = begin({.mode = TxnMode::kPessimistic});
  EXPECT_TRUE(locks.lock(tree_, key(3999), RowLock::kExclusive).is(StatusCode::kTimedOut));
  ASSERT_OK(locks.lock(tree_, key(4000), RowLock::kExclusive));
  put_one(999, "outside");
  put_one(4000 + 1, "outside");
  locks.abort();
  ASSERT_OK(txn.commit());
  erase(&now_, 1000, 4000);
  put_one(2000, "behind it");
  ASSERT_NO_FATAL_FAILURE(expect_now());
}

TEST_F(DeleteRange, waits_for_row_locks) {
  put_all();
  Transaction locks = begin({.mode = TxnMode::kPessimistic});
  ASSERT_OK(locks.lock(tree_, key(2000), RowLock::kExclusive));
  EXPECT_TRUE(db_->delete_range(tree_, key(1000), key(3000)).is(StatusCode::kTimedOut));
  Transaction optimistic = begin();
  EXPECT_TRUE(optimistic.delete_range(tree_, key(1000), key(3000)).is(StatusCode::kTimedOut));
  Transaction other = begin({.mode = TxnMode::kPessimistic});
  EXPECT_TRUE(other.delete_range(tree_, key(1999), key(2001)).is(StatusCode::kTimedOut));
  other.abort();
  EXPECT_EQ(db_->stats().deleted_ranges, 0u);
  locks.abort();
  ASSERT_OK(optimistic.delete_range(tree_, key(1000), key(3000)));
  ASSERT_OK(optimistic.commit());
  erase(&now_, 1000, 3000);
  ASSERT_NO_FATAL_FAILURE(expect_now());
}

TEST_F(DeleteRange, in_a_batch_deletes_what_stands_before_it) {
  put_all();
  const Tree other = db_->tree("other").value();
  WriteBatch batch;
  batch.put(tree_, key(1500), "before");
  batch.put(other, key(1500), "of another tree");
  batch.put(tree_, key(1600), "before");
  batch.del(tree_, key(1600));
  batch.put(tree_, key(1700), value_of(1, 200'000));
  batch.delete_range(tree_, key(1000), key(2000));
  batch.put(tree_, key(1501), "behind");
  batch.delete_range(tree_, key(7), key(7));
  ASSERT_OK(db_->write(batch));
  erase(&now_, 1000, 2000);
  now_[key(1501)] = "behind";
  for (int i = 0; i < 3; ++i) {
    ASSERT_NO_FATAL_FAILURE(expect_now());
    EXPECT_EQ(keys(db_->find_tree("other").value()), std::vector<std::string>{key(1500)});
    if (i == 0) open_small();
    if (i == 1) {
      ASSERT_OK(db_->drain());
    }
  }
}

TEST_F(DeleteRange, goes_on_for_a_snapshot_between_and_the_log_does_not_wait) {
  put_all();
  ASSERT_OK(db_->flush());
  delete_range(1000, 4000);
  const Contents between = now_;
  const Snapshot snapshot = db_->snapshot();
  for (uint64_t i = 0; i < kErasedKeys; i += 10) put_one(i, "since");
  ASSERT_OK(db_->drain());
  EXPECT_EQ(db_->stats().deleted_ranges, 1u);
  ASSERT_NO_FATAL_FAILURE(expect(between, &snapshot));
  ASSERT_NO_FATAL_FAILURE(expect_now());
  ASSERT_OK(db_->flush());
  const uint64_t log = db_->stats().log_bytes;
  EXPECT_LT(log, size_t{1} << 16);
  ASSERT_NO_FATAL_FAILURE(expect(between, &snapshot));
}

TEST_F(DeleteRange, stands_in_the_log_before_what_is_prepared) {
  put_all();
  delete_range(1000, 4000);
  Transaction txn = begin();
  ASSERT_OK(txn.put(tree_, key(2000), "prepared"));
  ASSERT_OK(txn.put(tree_, key(5000), "prepared"));
  ASSERT_OK(txn.prepare("id"));
  txn = Transaction();
  open_small();
  ASSERT_NO_FATAL_FAILURE(expect_now());
  ASSERT_OK(db_->commit_prepared("id"));
  now_[key(2000)] = "prepared";
  now_[key(5000)] = "prepared";
  ASSERT_NO_FATAL_FAILURE(expect_now());
}

TEST_F(DeleteRange, wins_over_one_that_has_spilled_its_writes_before) {
  txn::memory_share_max = size_t{16} << 10;
  // Also where all that it has in deltas by then lies outside.
  for (const uint64_t outside : {0, 1900}) {
    SCOPED_TRACE(outside);
    put_all();
    Transaction spills = begin();
    EXPECT_EQ(get_in(spills, key(2000)), now_[key(2000)]);
    for (uint64_t i = 2000; i < 2600; ++i) ASSERT_OK(spills.put(tree_, key(i), value_of(i, 40)));
    for (uint64_t i = 4000; i < 4000 + outside; ++i) {
      ASSERT_OK(spills.put(tree_, key(i), value_of(i, 40)));
    }
    ASSERT_GT(db_->stats().layers, 0u);
    delete_range(1000, 4000);
    ASSERT_OK(db_->drain());
    EXPECT_TRUE(spills.commit().is_conflict());
  }
  txn::memory_share_max = ~size_t{0};
  ASSERT_NO_FATAL_FAILURE(expect_now());
}

#if defined(HAWTHORN_TEST_POINTS)
// Between its record and the moment that it counts the log is trimmed: not below that (attack 86).
TEST_F(DeleteRange, holds_the_log_before_it_counts) {
  put_all();
  ASSERT_OK(db_->flush());
  ASSERT_OK(db_->drain());
  std::thread publishes;
  std::atomic<bool> published{false};
  os::set_test_point("publisher.after_manifest", [&] { published = true; });
  os::set_test_point("sequencer.commit.after_append", [&] {
    os::set_test_point("sequencer.commit.after_append", {});
    // It may have to wait for the log's mutex behind that, which is held here.
    publishes = std::thread([&] {
      EXPECT_OK(db_->drain());
      published = true;
    });
    while (!published) std::this_thread::yield();
  });
  ASSERT_OK(db_->delete_range(tree_, key(1000), key(4000), Durability::kFull));
  erase(&now_, 1000, 4000);
  ASSERT_TRUE(publishes.joinable());
  publishes.join();
  os::clear_test_points();
  const auto left = disk_.crash(1, testing::CrashKind::kPowerLoss);
  db_.reset();
  testing::SimMachine again(*left, 2);
  auto db = Db::open_on(again.machine(), "/db", options());
  ASSERT_OK(db.status());
  db_ = std::move(*db);
  tree_ = db_->find_tree("t").value();
  expect_now();
  db_.reset();  // before its machine, also where that failed
}
#endif

TEST_F(DeleteRange, of_a_tree_that_is_dropped_stays_so_for_a_named_snapshot) {
  put_all();
  ASSERT_OK(db_->flush());
  delete_range(1000, 4000);
  ASSERT_OK(db_->create_snapshot("kept"));
  ASSERT_OK(db_->drop_tree("t"));
  ASSERT_OK(db_->drain());
  ASSERT_OK(db_->close());
  db_.reset();
  open_small();
  {
    const Snapshot kept = db_->open_snapshot("kept").value();
    tree_ = db_->find_tree("t", {.snapshot = &kept}).value();
    ASSERT_TRUE(same(read_all(*db_, tree_, &kept), now_));
  }
  ASSERT_OK(db_->drop_snapshot("kept"));
}

TEST_F(DeleteRange, that_fails_leaves_nothing_of_it_behind) {
  put_all();
  Transaction locks = begin({.mode = TxnMode::kPessimistic});
  ASSERT_OK(locks.lock(tree_, key(5500), RowLock::kExclusive));
  Transaction txn = begin();
  ASSERT_OK(txn.put(tree_, key(2000), "its own"));
  EXPECT_TRUE(txn.delete_range(tree_, key(1000), key(4000)).is(StatusCode::kTimedOut));
  EXPECT_EQ(get_in(txn, key(2000)), "its own");
  EXPECT_EQ(get_in(txn, key(1500)), now_[key(1500)]);
  ASSERT_OK(txn.commit());
  now_[key(2000)] = "its own";
  ASSERT_NO_FATAL_FAILURE(expect_now());
}

TEST_F(DeleteRange, of_many_in_one_transaction_or_batch) {
  put_all();
  WriteBatch batch;
  for (uint64_t i = 0; i < 100; ++i) batch.delete_range(tree_, key(i * 10), key(i * 10 + 5));
  ASSERT_OK(db_->write(batch));
  for (uint64_t i = 0; i < 100; ++i) erase(&now_, i * 10, i * 10 + 5);
  ASSERT_NO_FATAL_FAILURE(expect_now());
  ASSERT_OK(db_->drain());
  Transaction txn = begin({.isolation = Isolation::kReadCommitted});
  for (uint64_t i = 100; i < 200; ++i) {
    ASSERT_OK(txn.delete_range(tree_, key(i * 10), key(i * 10 + 5)));
    erase(&now_, i * 10, i * 10 + 5);
  }
  ASSERT_OK(txn.commit());
  ASSERT_NO_FATAL_FAILURE(expect_now());
  ASSERT_OK(db_->drain());
  // One that somebody still reads below, but that is erased, does not count.
  std::vector<Snapshot> snapshots;
  for (uint64_t i = 200; i < 300; ++i) {
    delete_range(i * 10, i * 10 + 5);
    if (i % 10 == 0) snapshots.push_back(db_->snapshot());
    ASSERT_OK(db_->drain());
  }
  ASSERT_NO_FATAL_FAILURE(expect_now());
}

TEST_F(DeleteRange, makes_room_for_a_bulk_load) {
  put_all();
  ASSERT_OK(db_->flush());
  const Snapshot old = db_->snapshot();
  delete_range(0, kErasedKeys);
  const Snapshot between = db_->snapshot();
  now_.clear();
  {
    Ingest ingest = db_->ingest(tree_).value();
    for (uint64_t i = 0; i < kErasedKeys; ++i) {
      const std::string value = value_of(i + 5, 100);
      ASSERT_OK(ingest.add(key(i), value));
      now_[key(i)] = value;
    }
    ASSERT_OK(ingest.finish());
  }
  ASSERT_NO_FATAL_FAILURE(expect_now());
  ASSERT_TRUE(same(read_all(*db_, tree_, &between), {}));
  ASSERT_OK(db_->drain());
  ASSERT_NO_FATAL_FAILURE(expect_now());
}

TEST_F(DeleteRange, of_many_waits_for_the_eraser) {
  put_all();
  for (uint64_t i = 0; i < 64; ++i) delete_range(i * 10, i * 10 + 5);
  EXPECT_TRUE(db_->delete_range(tree_, key(1000), key(1005)).is(StatusCode::kTimedOut));
  ASSERT_NO_FATAL_FAILURE(expect_now());
  ASSERT_OK(db_->drain());
  delete_range(1000, 1005);
  ASSERT_NO_FATAL_FAILURE(expect_now());
}

TEST_F(DeleteRange, of_a_tree_with_a_merge_operator_goes_key_by_key) {
  const Tree merges = db_->tree("merges").value();
  ASSERT_OK(db_->set_merge_operator(merges, "append"));
  for (uint64_t i = 0; i < 500; ++i) ASSERT_OK(db_->merge(merges, key(i), "a"));
  EXPECT_TRUE(db_->delete_range(merges, key(10), key(400)).is(StatusCode::kNotSupported));
  WriteBatch batch;
  batch.put(merges, key(1), "x");
  batch.delete_range(merges, key(10), key(400));
  EXPECT_TRUE(db_->write(batch).is(StatusCode::kNotSupported));
  EXPECT_EQ(db_->count(merges, "", std::nullopt).value(), 500u);
  Transaction txn = begin();
  ASSERT_OK(txn.delete_range(merges, key(10), key(400)));
  ASSERT_OK(txn.merge(merges, key(20), "b"));
  ASSERT_OK(txn.commit());
  EXPECT_EQ(db_->count(merges, "", std::nullopt).value(), 111u);
  Value value;
  ASSERT_OK(db_->get(merges, key(20), value));
  EXPECT_EQ(value.view(), "b");
}

TEST_F(DeleteRange, misuse_is_told) {
  put_all();
  const std::string long_key(70'000, 'x');
  EXPECT_TRUE(db_->delete_range(tree_, long_key).is(StatusCode::kInvalidArgument));
  EXPECT_TRUE(db_->delete_range(tree_, "a", long_key).is(StatusCode::kInvalidArgument));
  EXPECT_TRUE(db_->delete_range(Tree(), "a").is(StatusCode::kInvalidArgument));
  WriteBatch batch;
  batch.delete_range(tree_, "a", long_key);
  EXPECT_TRUE(db_->write(batch).is(StatusCode::kInvalidArgument));
  {
    Transaction reads = begin({.read_only = true});
    EXPECT_TRUE(reads.delete_range(tree_, "a").is(StatusCode::kReadOnly));
    reads.abort();
    EXPECT_TRUE(reads.delete_range(tree_, "a").is(StatusCode::kInvalidArgument));
    Transaction txn = begin();
    EXPECT_TRUE(txn.delete_range(tree_, "a", long_key).is(StatusCode::kInvalidArgument));
    ASSERT_OK(txn.delete_range(tree_, ""));
    EXPECT_TRUE(txn.prepare("id").is(StatusCode::kNotSupported));
    txn.abort();
  }
  ASSERT_NO_FATAL_FAILURE(expect_now());
  ASSERT_OK(db_->close());
  EXPECT_TRUE(db_->delete_range(tree_, "a").is(StatusCode::kClosed));
}

TEST_F(DeleteRange, of_a_dropped_tree_is_no_more) {
  put_all();
  delete_range(100, 5000);
  {
    Transaction txn = begin();
    ASSERT_OK(txn.delete_range(tree_, key(5000)));
    ASSERT_OK(db_->drop_tree("t"));
    EXPECT_TRUE(txn.commit().is_conflict());
  }
  ASSERT_OK(db_->drain());
  tree_ = db_->tree("t").value();
  now_.clear();
  ASSERT_NO_FATAL_FAILURE(expect_now());
  open_small();
  ASSERT_NO_FATAL_FAILURE(expect_now());
}

// The range goes from the log before the large transaction's layer does, which the snapshot needs.
TEST_F(DeleteRange, stays_for_a_named_snapshot_above_a_layer) {
  for (const bool flushes : {true, false}) {
    SCOPED_TRACE(flushes);
    ASSERT_NO_FATAL_FAILURE(delete_above_a_layer(flushes));
    ASSERT_OK(db_->drop_snapshot("before"));
    ASSERT_OK(db_->drop_snapshot("behind"));
    delete_range(0, 3 * kErasedKeys);
    ASSERT_OK(db_->drain());
  }
}

}  // namespace
}  // namespace hawthorn::tests
