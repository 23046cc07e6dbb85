// Transactions that outgrow their share of memory, one after the other, while others read and write
// the same tree, flushes go on, and the background brings in what was committed: who reads sees
// each of them as a whole or not at all, and nobody's write is lost.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/prng.h"
#include "hawthorn/hawthorn.h"
#include "os/test_point.h"
#include "tests/support/engine_test.h"
#include "txn/spill_sizing.h"

namespace hawthorn::tests {
namespace {

constexpr uint64_t kRows = 1200;  // that each large transaction writes, all of them

class SpillConcurrency : public ::testing::Test {
 protected:
  void SetUp() override {
    txn::memory_share_max = size_t{32} << 10;
    Options options;
    options.memory_budget_bytes = size_t{32} << 20;
    options.durability = Durability::kNone;
    options.lock_timeout_ms = 10'000;
    Result<std::unique_ptr<Db>> opened = Db::open(directory_ / "db", options);
    ASSERT_OK(opened.status());
    db_ = std::move(opened).value();
    tree_ = *db_->tree("t");
  }
  void TearDown() override {
    txn::memory_share_max = ~size_t{0};
#if defined(HAWTHORN_TEST_POINTS)
    os::clear_test_points();
#endif
  }

  // Even keys are the large transactions', odd ones the other writers'.
  static std::string row(uint64_t i) { return big_endian(2 * i); }
  static std::string other(uint64_t i) { return big_endian(2 * i + 1); }

  const TempDirectory directory_;
  std::unique_ptr<Db> db_;
  Tree tree_;
};

// Who waits for a row in a layer has no lock of it, so that its owner may write it again.
TEST_F(SpillConcurrency, owners_of_layers_wait_for_nobody_who_waits_for_them) {
  for (const bool prepares : {true, false}) {
    SCOPED_TRACE(prepares);
    Transaction owner = *db_->begin({.mode = TxnMode::kPessimistic});
    for (uint64_t i = 0; i < kRows; ++i) ASSERT_OK(owner.put(tree_, row(i), value_of(i, 60)));
    ASSERT_GT(db_->stats().layers, 0u);
    std::vector<std::thread> waiting;
    for (uint64_t t = 0; t < 4; ++t) {
      waiting.emplace_back([&, t] {
        Transaction other = *db_->begin(
            {.mode = TxnMode::kPessimistic, .isolation = Isolation::kReadCommitted});
        EXPECT_OK(other.lock(tree_, row(t), RowLock::kExclusive));
        EXPECT_OK(other.put(tree_, row(t), "later"));
        EXPECT_OK(other.commit());
      });
    }
    // Perhaps while all of them wait; whatever the moment, nothing fails.
    for (uint64_t n = 0; n < 200; ++n) {
      ASSERT_OK(owner.put(tree_, row(n % 4), "again"));
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
    if (prepares) EXPECT_OK(owner.prepare("p"));
    EXPECT_OK(owner.commit());
    for (std::thread& thread : waiting) thread.join();
    for (uint64_t i = 0; i < kRows; ++i) {
      Value value;
      ASSERT_OK(db_->get(tree_, row(i), value));
      ASSERT_EQ(value.view(), i < 4 ? std::string("later") : value_of(i, 60));
    }
  }
}

TEST_F(SpillConcurrency, is_seen_as_a_whole_and_loses_nothing) {
  const uint64_t rounds = environment_number("HAWTHORN_OPERATIONS", 12);
  std::atomic<uint64_t> begun{0};      // the number of the last one that may be committed
  std::atomic<uint64_t> committed{0};  // of the last one that is; every third deletes all rows
  std::atomic<bool> done{false};
  std::atomic<uint64_t> scans{0};  // that saw rows; there are more rounds until one has
  std::vector<std::thread> threads;
  threads.emplace_back([&] {
    for (uint64_t round = 1; (round <= rounds || scans == 0) && !HasFailure(); ++round) {
      Transaction txn =
          *db_->begin({.mode = round % 2 == 0 ? TxnMode::kPessimistic : TxnMode::kOptimistic});
      Status status;
      for (uint64_t n = 0; n < kRows && status.ok(); ++n) {
        const std::string key = row(n * 7919 % kRows);
        status = round % 3 == 0 ? txn.del(tree_, key) : txn.put(tree_, key, value_of(round, 60));
      }
      if (round % 5 == 4) {
        txn.abort();
        continue;
      }
      begun = round;
      // The one before is being brought in, which is no conflict.
      if (status.ok()) status = txn.commit();
      EXPECT_OK(status);
      committed = round;
      if (round % 4 == 0) {
        EXPECT_OK(db_->flush());
      }
    }
    done = true;
  });
  // Writers of single rows, some at the border to what is in a layer.
  std::vector<std::vector<uint64_t>> counts(2, std::vector<uint64_t>(kRows));
  for (uint64_t w = 0; w < 2; ++w) {
    threads.emplace_back([&, w] {
      Prng prng(w + 5);
      while (!done && !HasFailure()) {
        const uint64_t i = prng.below(kRows / 2) * 2 + w;
        Status status;
        if (prng.one_in(2)) {
          status = db_->put(tree_, other(i), std::to_string(counts[w][i] + 1));
        } else {
          Transaction txn =
              *db_->begin({.mode = prng.one_in(2) ? TxnMode::kPessimistic : TxnMode::kOptimistic});
          status = txn.put(tree_, other(i), std::to_string(counts[w][i] + 1));
          if (status.ok()) status = txn.commit();
        }
        // An optimistic one may have begun before a large one's commit.
        EXPECT_TRUE(status.ok() || status.is_conflict()) << status.to_string();
        if (status.ok()) ++counts[w][i];
      }
    });
  }
  threads.emplace_back([&] {
    Prng prng(99);
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
        if (cursor.key().back() % 2 != 0) continue;
        ++rows;
        if (value.empty()) value = cursor.value();
        EXPECT_EQ(cursor.value(), value);
      }
      EXPECT_OK(cursor.status());
      EXPECT_TRUE(rows == 0 || rows == kRows) << rows;
      bool possible = false;
      for (uint64_t round = from; round <= to; ++round) {
        if (round % 5 == 4) continue;
        const bool none = round % 3 == 0;
        possible = possible || (rows == 0 ? none : !none && value == value_of(round, 60));
      }
      EXPECT_TRUE(possible) << "between " << from << " and " << to << ": " << rows << " rows";
      // The same by gets, of this moment and of now.
      for (int i = 0; i < 50; ++i) {
        const std::string key = row(prng.below(kRows));
        Value read;
        const Status status = db_->get(tree_, key, read, {.snapshot = &snapshot});
        EXPECT_EQ(status.ok(), rows != 0) << status.to_string();
        if (status.ok()) {
          EXPECT_EQ(read.view(), value);
        }
      }
      scans += rows > 0 ? 1 : 0;
    }
  });
  threads.emplace_back([&] {
    Prng prng(7);
    uint64_t last = 0;
    while (!done && !HasFailure()) {
      const uint64_t from = committed;
      Value read;
      const Status status = db_->get(tree_, row(prng.below(kRows)), read);
      const uint64_t to = begun;
      bool possible = false;
      for (uint64_t round = std::max(from, last); round <= to && !possible; ++round) {
        if (round % 5 == 4) continue;
        possible = round % 3 == 0 ? status.is_not_found()
                                  : status.ok() && read.view() == value_of(round, 60);
      }
      EXPECT_TRUE(possible) << "between " << from << " and " << to << ": " << status.to_string();
      last = from;
    }
  });
  for (std::thread& thread : threads) thread.join();
  ASSERT_OK(db_->drain());
  EXPECT_EQ(db_->stats().layers, 0u);
  for (uint64_t w = 0; w < 2; ++w) {
    for (uint64_t i = 0; i < kRows; ++i) {
      if (counts[w][i] == 0) continue;
      Value read;
      ASSERT_OK(db_->get(tree_, other(i), read));
      ASSERT_EQ(read.view(), std::to_string(counts[w][i]));
    }
  }
  ASSERT_TRUE(clean(*db_));
}

#if defined(HAWTHORN_TEST_POINTS)
// A writer has asked, and found no layer; the intent that it would have met next goes to one.
// One that has locked the row before is met by its lock, one that has not by its intent alone.
TEST_F(SpillConcurrency, an_intent_that_leaves_is_not_missed) {
  for (const TxnMode mode : {TxnMode::kOptimistic, TxnMode::kPessimistic}) {
    SCOPED_TRACE(mode == TxnMode::kOptimistic);
    std::atomic<bool> asked{false};
    std::atomic<bool> go_on{false};
    std::thread writer;
    Status status;
    Transaction txn = *db_->begin({.mode = mode});
    ASSERT_OK(txn.put(tree_, row(5), "large"));
    const std::thread::id large = std::this_thread::get_id();
    os::set_test_point("txn.layers_asked", [&] {
      if (std::this_thread::get_id() == large || asked.exchange(true)) return;
      while (!go_on) std::this_thread::yield();
    });
    writer = std::thread([&] {
      Transaction other = *db_->begin({.mode = TxnMode::kOptimistic, .lock_timeout_ms = 1});
      status = other.put(tree_, row(5), "other");
      if (status.ok()) status = other.commit();
    });
    while (!asked) std::this_thread::yield();
    for (uint64_t i = 0; i < kRows; ++i) EXPECT_OK(txn.put(tree_, row(i), value_of(1, 60)));
    EXPECT_GT(db_->stats().layers, 0u);
    go_on = true;
    writer.join();
    os::clear_test_points();
    EXPECT_TRUE(status.is(StatusCode::kTimedOut)) << status.to_string();
    EXPECT_OK(txn.commit());
    Value value;
    ASSERT_OK(db_->get(tree_, row(5), value));
    EXPECT_EQ(value.view(), value_of(1, 60));
  }
}

// A writer has listed an open layer, whose transaction then ends, and the layer goes before the
// writer looks into it: it holds nothing any more.
TEST_F(SpillConcurrency, a_layer_that_goes_holds_nothing) {
  for (const TxnMode mode : {TxnMode::kOptimistic, TxnMode::kPessimistic}) {
    SCOPED_TRACE(mode == TxnMode::kOptimistic);
    std::atomic<bool> listed{false};
    std::atomic<bool> go_on{false};
    Transaction large = *db_->begin({.mode = mode});
    for (uint64_t i = 0; i < kRows; ++i) ASSERT_OK(large.put(tree_, row(i), value_of(1, 60)));
    ASSERT_GT(db_->stats().layers, 0u);
    os::set_test_point("tree.layers_listed", [&] {
      if (listed.exchange(true)) return;
      while (!go_on) std::this_thread::yield();
    });
    Status status;
    std::thread writer([&] { status = db_->put(tree_, other(5), "other"); });
    while (!listed) std::this_thread::yield();
    large.abort();
    EXPECT_OK(db_->drain());
    go_on = true;
    writer.join();
    os::clear_test_points();
    EXPECT_OK(status);
    Value value;
    ASSERT_OK(db_->get(tree_, other(5), value));
    EXPECT_EQ(value.view(), "other");
  }
}
#endif

}  // namespace
}  // namespace hawthorn::tests
