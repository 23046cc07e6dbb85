// Ranges are deleted and filled again and again, while others read and write beside it and in it,
// and the background erases: who reads sees each commit as a whole or not at all, and nobody's
// write is lost.

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/prng.h"
#include "hawthorn/hawthorn.h"
#include "os/test_point.h"
#include "tests/support/engine_test.h"

namespace hawthorn::tests {
namespace {

constexpr uint64_t kRows = 1500;

class DeleteRangeConcurrency : public ::testing::Test {
 protected:
  void SetUp() override {
    Options options;
    options.memory_budget_bytes = size_t{32} << 20;
    options.durability = Durability::kNone;
    options.lock_timeout_ms = 10'000;
    Result<std::unique_ptr<Db>> opened = Db::open(directory_ / "db", options);
    ASSERT_OK(opened.status());
    db_ = std::move(opened).value();
    tree_ = *db_->tree("t");
  }
  static std::string row(uint64_t i) { return big_endian(i); }

  const TempDirectory directory_;
  std::unique_ptr<Db> db_;
  Tree tree_;
};

// A round puts all rows, or deletes them by one range, or does both at once, in a batch or a
// transaction. There are more rounds until a reader has looked at one.
TEST_F(DeleteRangeConcurrency, is_seen_as_a_whole) {
  const uint64_t rounds = environment_number("HAWTHORN_OPERATIONS", 40);
  std::atomic<uint64_t> begun{0};
  std::atomic<uint64_t> committed{0};
  std::atomic<bool> done{false};
  std::atomic<uint64_t> scans{0};  // that saw rows
  const auto text = [](uint64_t round) { return value_of(round, 60); };
  // Of a round, all rows that are there behind it have its text.
  const auto rows_of = [](uint64_t round) { return round % 3 == 1 ? 0 : kRows; };
  std::vector<std::thread> threads;
  threads.emplace_back([&] {
    for (uint64_t round = 1; (round <= rounds || scans == 0) && !HasFailure(); ++round) {
      begun = round;
      Status status;
      if (round % 3 == 1) {
        status = db_->delete_range(tree_, row(0), row(kRows));
      } else if (round % 3 == 2) {
        Transaction txn = *db_->begin({});
        status = txn.delete_range(tree_, row(0), row(kRows));
        for (uint64_t i = 0; i < kRows && status.ok(); ++i) {
          status = txn.put(tree_, row(i), text(round));
        }
        if (status.ok()) status = txn.commit();
      } else {
        WriteBatch batch;
        for (uint64_t i = 0; i < kRows; ++i) batch.put(tree_, row(i), "hidden");
        batch.delete_range(tree_, row(0), row(kRows));
        for (uint64_t i = 0; i < kRows; ++i) batch.put(tree_, row(i), text(round));
        status = db_->write(batch);
      }
      EXPECT_OK(status);
      committed = round;
      if (round % 4 == 0) {
        EXPECT_OK(db_->flush());
      }
    }
    done = true;
  });
  for (uint64_t reader = 0; reader < 2; ++reader) {
    threads.emplace_back([&, reader] {
      Prng prng(reader + 99);
      while (!done && !HasFailure()) {
        const uint64_t from = committed;
        const Snapshot snapshot = db_->snapshot();
        const uint64_t to = begun;
        uint64_t rows = 0;
        std::string value;
        Cursor cursor = db_->cursor(tree_, {.snapshot = &snapshot});
        const bool forward = prng.one_in(2);
        for (bool there = forward ? cursor.first() : cursor.last(); there;
             there = forward ? cursor.next() : cursor.prev()) {
          ++rows;
          if (value.empty()) value = cursor.value();
          EXPECT_EQ(cursor.value(), value);
        }
        EXPECT_OK(cursor.status());
        EXPECT_EQ(db_->count(tree_, "", std::nullopt, {.snapshot = &snapshot}).value(), rows);
        bool possible = false;
        for (uint64_t round = from; round <= to; ++round) {
          possible = possible || (rows == (round == 0 ? 0 : rows_of(round)) &&
                                  (rows == 0 || value == text(round)));
        }
        EXPECT_TRUE(possible) << "between " << from << " and " << to << ": " << rows << " rows";
        for (int i = 0; i < 50; ++i) {
          Value read;
          const Status status =
              db_->get(tree_, row(prng.below(kRows)), read, {.snapshot = &snapshot});
          EXPECT_EQ(status.ok(), rows != 0) << status.to_string();
          if (status.ok()) {
            EXPECT_EQ(read.view(), value);
          }
        }
        scans += rows > 0 ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  ASSERT_OK(db_->drain());
  EXPECT_EQ(db_->stats().deleted_ranges, 0u);
  ASSERT_TRUE(clean(*db_));
}

// Writers count up their own rows, some under locks; another deletes ranges of all and tells by
// how much it has set them back, in the same transaction. It goes on until it has set some back.
TEST_F(DeleteRangeConcurrency, loses_no_write) {
  constexpr uint64_t kCounters = 400;
  const uint64_t rounds = environment_number("HAWTHORN_OPERATIONS", 40);
  const Tree lost = *db_->tree("lost");
  std::atomic<bool> done{false};
  std::vector<std::vector<uint64_t>> counts(3, std::vector<uint64_t>(kCounters));
  const auto number = [](const Value& value) { return std::stoull(value.to_string()); };
  std::vector<std::thread> threads;
  for (uint64_t w = 0; w < counts.size(); ++w) {
    threads.emplace_back([&, w] {
      Prng prng(w + 5);
      while (!done && !HasFailure()) {
        const uint64_t i = prng.below(kCounters);
        const TxnMode mode = w == 0 ? TxnMode::kPessimistic : TxnMode::kOptimistic;
        Transaction txn = *db_->begin({.mode = mode});
        const std::string key = row(i * counts.size() + w);
        Value value;
        Status status = txn.get_for_update(tree_, key, value);
        const uint64_t before = status.ok() ? number(value) : 0;
        if (status.ok() || status.is_not_found()) {
          status = txn.put(tree_, key, std::to_string(before + 1));
        }
        if (status.ok()) status = txn.commit();
        EXPECT_TRUE(status.ok() || status.is_conflict() || status.is(StatusCode::kTimedOut) ||
                    status.is(StatusCode::kDeadlock))
            << status.to_string();
        if (status.ok()) ++counts[w][i];
      }
    });
  }
  uint64_t deleted = 0;  // ranges with rows in them
  Prng prng(1);
  for (uint64_t round = 0; (round < rounds || deleted == 0) && !HasFailure(); ++round) {
    Transaction txn =
        *db_->begin({.mode = round % 4 == 3 ? TxnMode::kPessimistic : TxnMode::kOptimistic});
    const uint64_t from = prng.below(kCounters * counts.size());
    const uint64_t to = from + prng.below(prng.one_in(3) ? 20 : kCounters);
    Status status = txn.delete_range(tree_, row(from), row(to));
    for (uint64_t key = from; status.ok() && key < to; ++key) {
      Value value;
      status = txn.get(tree_, row(key), value);
      EXPECT_TRUE(status.is_not_found()) << status.to_string();
      status = Status();
    }
    txn.abort();
    Transaction again = *db_->begin({.mode = TxnMode::kOptimistic});
    status = Status();
    bool any = false;
    for (uint64_t key = from; status.ok() && key < to; ++key) {
      Value value;
      if (Status s = again.get(tree_, row(key), value); !s.ok()) continue;
      const uint64_t reached = number(value);
      Value set_back;
      const uint64_t before =
          again.get(lost, row(key), set_back).ok() ? number(set_back) : uint64_t{0};
      status = again.put(lost, row(key), std::to_string(before + reached));
      any = true;
    }
    if (status.ok()) status = again.delete_range(tree_, row(from), row(to));
    if (status.ok()) status = again.commit();
    EXPECT_TRUE(status.ok() || status.is_conflict() || status.is(StatusCode::kTimedOut))
        << status.to_string();
    if (status.ok() && any) ++deleted;
  }
  done = true;
  for (std::thread& thread : threads) thread.join();
  ASSERT_OK(db_->drain());
  for (uint64_t w = 0; w < counts.size(); ++w) {
    for (uint64_t i = 0; i < kCounters; ++i) {
      const std::string key = row(i * counts.size() + w);
      Value value;
      uint64_t sum = db_->get(tree_, key, value).ok() ? number(value) : 0;
      if (db_->get(lost, key, value).ok()) sum += number(value);
      ASSERT_EQ(sum, counts[w][i]);
    }
  }
  ASSERT_TRUE(clean(*db_));
}

// An exclusive transaction keeps a deleter from committing; so it does not wait for him.
TEST_F(DeleteRangeConcurrency, an_exclusive_transaction_writes_before_a_deleter) {
  ASSERT_OK(db_->put(tree_, row(5), "there"));
  std::thread deleter;
  {
    Transaction exclusive =
        *db_->begin({.mode = TxnMode::kExclusive, .lock_timeout_ms = testing::kHangLimitMs});
    deleter = std::thread([&] { EXPECT_OK(db_->delete_range(tree_, row(0), row(kRows))); });
    while (db_->stats().deleted_ranges == 0) std::this_thread::yield();
    EXPECT_OK(exclusive.put(tree_, row(6), "its own"));
    EXPECT_OK(exclusive.commit());
  }
  deleter.join();
  EXPECT_EQ(db_->count(tree_, "", std::nullopt).value(), 0u);
}

#if defined(HAWTHORN_TEST_POINTS)
// A reader stands before the container as it was; meanwhile it is erased, and the range goes.
TEST_F(DeleteRangeConcurrency, a_range_that_goes_hides_from_those_on_their_way) {
  for (uint64_t i = 0; i < kRows; ++i) ASSERT_OK(db_->put(tree_, row(i), "there"));
  ASSERT_OK(db_->flush());
  const std::thread::id reader = std::this_thread::get_id();
  std::atomic<bool> stands{false};
  std::atomic<bool> erased{false};
  // Nothing is erased before the reader stands there.
  os::set_test_point("eraser.before_flush", [&] {
    while (!stands) std::this_thread::yield();
  });
  os::set_test_point("tree.get.between_descriptor_and_timestamp", [&] {
    if (std::this_thread::get_id() != reader || stands.exchange(true)) return;
    while (!erased) std::this_thread::yield();
  });
  ASSERT_OK(db_->delete_range(tree_, row(0), row(kRows)));
  std::thread waits([&] {
    while (db_->stats().deleted_ranges != 0) std::this_thread::yield();
    erased = true;
  });
  Value value;
  const Snapshot snapshot = db_->snapshot();
  EXPECT_TRUE(db_->get(tree_, row(7), value, {.snapshot = &snapshot}).is_not_found());
  waits.join();
  os::clear_test_points();
}
#endif

}  // namespace
}  // namespace hawthorn::tests
