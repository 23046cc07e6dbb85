#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/prng.h"
#include "os/test_point.h"
#include "txn/row_locks.h"
#include "txn/row_locks_test_support.h"

namespace hawthorn::txn {
namespace {

constexpr uint64_t kShortUs = 20000;
constexpr uint64_t kLongUs = 20000000;  // so that a grant that is missed fails, and does not hang

TEST_F(RowLocksTest, GoesToThoseThatWaitInTheirOrder) {
  Holder first = begin(1);
  ASSERT_TRUE(first.takes("k", kX));
  std::vector<TxnId> order;  // under the lock itself
  std::vector<std::thread> threads;
  for (TxnId id = 2; id <= 9; ++id) {
    threads.emplace_back([&, id] {
      Holder holder = begin(id);
      EXPECT_TRUE(holder.take("k", kX, RowLocks::kForever).ok());
      order.push_back(id);
    });
    while (locks_->waiting() != id - 1) std::this_thread::yield();
  }
  EXPECT_TRUE(order.empty());
  first.release();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(order, (std::vector<TxnId>{2, 3, 4, 5, 6, 7, 8, 9}));
}

TEST_F(RowLocksTest, SharedDoesNotOvertakeExclusive) {
  Holder one = begin(1);
  Holder two = begin(2);
  Holder three = begin(3);
  Holder four = begin(4);
  ASSERT_TRUE(one.takes("k", kS));
  auto exclusive = waits(two, "k", kX);
  EXPECT_EQ(three.take("k", kS).message(),
            "tree 3, key \"k\" is locked by transaction 1; before this one waits transaction 2");
  auto shared = waits(three, "k", kS);
  auto upgradable = waits(four, "k", kU);
  EXPECT_TRUE(one.takes("k", kS)) << "it has that already";
  one.release();
  EXPECT_TRUE(exclusive.end().ok());
  EXPECT_EQ(locks_->waiting(), 2u);
  two.release();
  EXPECT_TRUE(shared.end().ok());
  EXPECT_TRUE(upgradable.end().ok());
}

TEST_F(RowLocksTest, SharedPassesAnUpgradableInLine) {
  Holder one = begin(1);
  Holder two = begin(2);
  Holder three = begin(3);
  ASSERT_TRUE(one.takes("k", kU));
  auto upgradable = waits(two, "k", kU);
  EXPECT_TRUE(three.takes("k", kS)) << "it keeps nobody waiting";
  one.release();
  EXPECT_TRUE(upgradable.end().ok());
}

// One grant lets in all that fit, also behind one that does not.
TEST_F(RowLocksTest, AReleaseGrantsAllThatFit) {
  Holder one = begin(1);
  Holder two = begin(2);
  Holder three = begin(3);
  Holder four = begin(4);
  ASSERT_TRUE(one.takes("k", kX));
  auto first = waits(two, "k", kU);
  auto second = waits(three, "k", kU);
  auto shared = waits(four, "k", kS, kLongUs);
  one.release();
  EXPECT_TRUE(first.end().ok());
  EXPECT_TRUE(shared.end().ok());
  EXPECT_EQ(locks_->waiting(), 1u);
  two.release();
  EXPECT_TRUE(second.end().ok());
}

TEST_F(RowLocksTest, WhoRaisesComesFirst) {
  Holder one = begin(1);
  Holder two = begin(2);
  Holder three = begin(3);
  Holder four = begin(4);
  ASSERT_TRUE(one.takes("k", kS) && two.takes("k", kS));
  auto fresh = waits(three, "k", kX);
  auto raise = waits(one, "k", kX);
  EXPECT_FALSE(four.takes("k", kS));
  EXPECT_TRUE(two.takes("k", kU)) << "a holder passes all in the queue if no holder is in its way";
  two.release();
  EXPECT_TRUE(raise.end().ok());
  EXPECT_EQ(locks_->waiting(), 1u);
  one.release_to(1);
  EXPECT_EQ(locks_->waiting(), 1u) << "one still has its shared lock";
  EXPECT_FALSE(four.takes("k", kS));
  one.release();
  EXPECT_TRUE(fresh.end().ok());
}

TEST_F(RowLocksTest, LoweringLetsOthersIn) {
  Holder one = begin(1);
  Holder two = begin(2);
  ASSERT_TRUE(one.takes("k", kS) && one.takes("k", kX));
  auto shared = waits(two, "k", kS);
  one.release_to(1);
  EXPECT_TRUE(shared.end().ok());
  EXPECT_EQ(one.keys()["k"], kS);
}

TEST_F(RowLocksTest, GivesUpInTime) {
  Holder one = begin(1);
  Holder two = begin(2);
  ASSERT_TRUE(one.takes("k", kS));
  EXPECT_EQ(two.take("k", kX, kShortUs).to_string(),
            "TimedOut: tree 3, key \"k\" is locked for longer than 20000 us by transaction 1");
  EXPECT_TRUE(two.held.empty());
  ASSERT_TRUE(two.takes("k", kS));
  EXPECT_TRUE(two.take("k", kX, kShortUs).is(StatusCode::kTimedOut));
  EXPECT_EQ(two.keys()["k"], kS);
  EXPECT_TRUE(locks_->wait_unlocked(3, kTree, "k", kShortUs).is(StatusCode::kTimedOut));
  one.release();
  EXPECT_TRUE(two.take("k", kX, kShortUs).ok());
}

TEST_F(RowLocksTest, WhoGivesUpLetsThoseBehindPass) {
  Holder one = begin(1);
  Holder two = begin(2);
  Holder three = begin(3);
  Holder four = begin(4);
  ASSERT_TRUE(one.takes("k", kS));
  auto late = waits(two, "k", kX, 500000);
  auto shared = waits(three, "k", kS);
  auto upgradable = waits(four, "k", kU);
  EXPECT_TRUE(late.end().is(StatusCode::kTimedOut));
  EXPECT_TRUE(shared.end().ok());
  EXPECT_TRUE(upgradable.end().ok());
}

TEST_F(RowLocksTest, TwoWaitForEachOther) {
  Holder one = begin(1);
  Holder two = begin(2);
  ASSERT_TRUE(one.takes("a", kX) && two.takes("b", kX));
  auto waiting = waits(two, "a", kS);
  EXPECT_EQ(one.take("b", kX, RowLocks::kForever).to_string(),
            "Deadlock: transactions wait for each other: 1 for 2 at tree 3, key \"b\", "
            "2 for 1 at tree 3, key \"a\"");
  EXPECT_EQ(one.held.size(), 1u) << "a failed call changes nothing";
  EXPECT_EQ(locks_->waiting(), 1u);
  EXPECT_TRUE(one.take("b", kX).is(StatusCode::kTimedOut)) << "a try does not wait";
  one.release();
  EXPECT_TRUE(waiting.end().ok());
}

TEST_F(RowLocksTest, ThreeWaitInACycle) {
  Holder one = begin(1);
  Holder two = begin(2);
  Holder three = begin(3);
  Holder outside = begin(4);
  ASSERT_TRUE(one.takes("a", kX) && two.takes("b", kX) && three.takes("c", kX));
  auto for_b = waits(one, "b", kX);
  auto for_c = waits(two, "c", kX);
  auto for_a = waits(outside, "a", kX);
  EXPECT_EQ(three.take("a", kX, RowLocks::kForever).message(),
            "transactions wait for each other: 3 for 1 at tree 3, key \"a\", "
            "1 for 2 at tree 3, key \"b\", 2 for 3 at tree 3, key \"c\"");
  three.release();
  EXPECT_TRUE(for_c.end().ok());
  two.release();
  EXPECT_TRUE(for_b.end().ok());
  one.release();
  EXPECT_TRUE(for_a.end().ok());
}

TEST_F(RowLocksTest, TwoThatRaiseWaitForEachOther) {
  Holder one = begin(1);
  Holder two = begin(2);
  ASSERT_TRUE(one.takes("k", kS) && two.takes("k", kS));
  auto waiting = waits(one, "k", kX);
  EXPECT_EQ(two.take("k", kX, RowLocks::kForever).message(),
            "transactions wait for each other: 2 for 1 at tree 3, key \"k\", "
            "1 for 2 at tree 3, key \"k\"");
  EXPECT_EQ(two.keys()["k"], kS);
  two.release();
  EXPECT_TRUE(waiting.end().ok());
}

// The cycle leads over one who only stands before another in the queue.
TEST_F(RowLocksTest, ACycleMayLeadThroughAQueue) {
  Holder one = begin(1);
  Holder two = begin(2);
  Holder three = begin(3);
  ASSERT_TRUE(one.takes("k", kS) && two.takes("b", kX));
  auto raise = waits(three, "k", kX);
  auto behind = waits(two, "k", kS);  // one has it shared, too: only three is in the way
  EXPECT_TRUE(one.take("b", kX, RowLocks::kForever).is(StatusCode::kDeadlock));
  one.release();
  EXPECT_TRUE(raise.end().ok());
  three.release();
  EXPECT_TRUE(behind.end().ok());
}

// When they began to wait, two and three waited for one; a grant has changed that.
TEST_F(RowLocksTest, FindsCyclesThatAGrantMade) {
  Holder one = begin(1);
  Holder two = begin(2);
  Holder three = begin(3);
  ASSERT_TRUE(one.takes("k", kS) && three.takes("q", kX));
  auto shared = waits(two, "k", kX);
  auto exclusive = waits(three, "k", kX);
  one.release();
  ASSERT_TRUE(shared.end().ok());
  EXPECT_EQ(two.take("q", kS, RowLocks::kForever).message(),
            "transactions wait for each other: 2 for 3 at tree 3, key \"q\", "
            "3 for 2 at tree 3, key \"k\"");
  EXPECT_TRUE(one.takes("other", kX));
  EXPECT_TRUE(one.take("k", kX, kShortUs).is(StatusCode::kTimedOut)) << "no cycle through one";
  two.release();
  EXPECT_TRUE(exclusive.end().ok());
}

TEST_F(RowLocksTest, WaitsThatEndedCloseNoCycle) {
  Holder one = begin(1);
  Holder two = begin(2);
  ASSERT_TRUE(one.takes("a", kX) && two.takes("b", kX));
  EXPECT_TRUE(two.take("a", kX, kShortUs).is(StatusCode::kTimedOut));
  EXPECT_TRUE(one.take("b", kX, kShortUs).is(StatusCode::kTimedOut));
  two.release();
  auto waiting = waits(two, "a", kX);
  one.release();
  EXPECT_TRUE(waiting.end().ok());
  EXPECT_TRUE(one.take("a", kX, kShortUs).is(StatusCode::kTimedOut));
}

TEST_F(RowLocksTest, AWriterWithoutLocksWaits) {
  Holder one = begin(1);
  Holder two = begin(2);
  ASSERT_TRUE(one.takes("k", kS));
  const auto wait = [&](TxnId own) {
    return Waiting(locks_.get(), [this, own] {
      return locks_->wait_unlocked(own, kTree, "k", RowLocks::kForever);
    });
  };
  auto writer = wait(8);
  EXPECT_FALSE(two.takes("k", kS)) << "it has its place in the queue";
  auto shared = waits(two, "k", kS);
  auto second = wait(9);
  one.release();
  EXPECT_TRUE(writer.end().ok());
  EXPECT_TRUE(shared.end().ok()) << "the writer took nothing";
  EXPECT_EQ(locks_->waiting(), 1u);
  two.release();
  EXPECT_TRUE(second.end().ok());
  EXPECT_FALSE(locks_->held_by_other(0, kTree, "k"));
}

// Whom only the writer kept waiting goes on with it, in the same step.
TEST_F(RowLocksTest, AWriterThatHoldsSharedLetsSharedPass) {
  Holder one = begin(1);
  Holder two = begin(2);
  Holder three = begin(3);
  ASSERT_TRUE(one.takes("k", kS) && two.takes("k", kS));
  auto writer = Waiting(
      locks_.get(), [this] { return locks_->wait_unlocked(1, kTree, "k", RowLocks::kForever); });
  auto shared = waits(three, "k", kS, kLongUs);
  two.release();
  EXPECT_TRUE(writer.end().ok());
  EXPECT_TRUE(shared.end().ok());
}

TEST_F(RowLocksTest, AWriterWithoutLocksStandsInCycles) {
  Holder one = begin(1);
  Holder two = begin(2);
  ASSERT_TRUE(one.takes("a", kS) && one.takes("b", kS) && two.takes("b", kS));
  // Its own locks are not in its way.
  auto writer = Waiting(
      locks_.get(), [this] { return locks_->wait_unlocked(1, kTree, "b", RowLocks::kForever); });
  EXPECT_EQ(locks_->wait_unlocked(2, kTree, "a", RowLocks::kForever).message(),
            "transactions wait for each other: 2 for 1 at tree 3, key \"a\", "
            "1 for 2 at tree 3, key \"b\"");
  two.release();
  EXPECT_TRUE(writer.end().ok());
}

TEST_F(RowLocksTest, CyclesOfLocksAndEnds) {
  Holder one = begin(1);
  Holder two = begin(2);
  ASSERT_TRUE(one.takes("a", kX));
  auto waiting = waits(two, "a", kX);
  EXPECT_EQ(locks_->begin_wait(1, 2).message(),
            "transactions wait for each other: 1 for 2 to end, 2 for 1 at tree 3, key \"a\"");
  // Three holds no lock, but one waits for its intent.
  Holder three = begin(3);
  EXPECT_TRUE(locks_->begin_wait(1, 3).ok());
  EXPECT_EQ(three.take("a", kS, RowLocks::kForever).message(),
            "transactions wait for each other: 3 for 1 at tree 3, key \"a\", 1 for 3 to end");
  EXPECT_TRUE(locks_->wait_unlocked(3, kTree, "a", RowLocks::kForever).is(StatusCode::kDeadlock));
  locks_->end_wait(1);
  one.release();
  EXPECT_TRUE(waiting.end().ok());
}

// A grant and the end of the time meet: the lock is either held or not, and never lost.
TEST_F(RowLocksTest, GrantsMeetTimeouts) {
  constexpr int kEach = 50;
  std::atomic<bool> stop{false};
  std::thread other([&] {
    Prng prng(7);
    for (TxnId id = TxnId{1} << 32; !stop.load(); ++id) {
      Holder holder = begin(id);
      if (!holder.take("k", kX, 100).ok()) continue;
      std::this_thread::sleep_for(std::chrono::microseconds(prng.between(40, 160)));
    }
  });
  int granted = 0;
  int late = 0;
  for (TxnId id = 1; granted < kEach || late < kEach; ++id) {
    Holder holder = begin(id);
    const Status status = holder.take("k", kX, 100);
    EXPECT_EQ(holder.held.size(), status.ok() ? 1u : 0u);
    granted += status.ok() ? 1 : 0;
    late += status.is(StatusCode::kTimedOut) ? 1 : 0;
  }
  stop.store(true);
  other.join();
  Holder last = begin(1);
  EXPECT_TRUE(last.takes("k", kX));
}

#if defined(HAWTHORN_TEST_POINTS)
// The time ends between the grant and the wake, which still needs the waiter: that must not return.
TEST_F(RowLocksTest, AWaiterOutlivesItsWake) {
  // A waiter whose time ends before the grant has not met it: again, with more time.
  for (uint64_t wait_us = 50'000;; wait_us *= 2) {
    Holder one = begin(1);
    Holder two = begin(2);
    ASSERT_TRUE(one.takes("k", kX));
    std::atomic<bool> waking{false};
    os::set_test_point("row_locks.wake", [&] {
      while (locks_->waiting() != 0) std::this_thread::yield();  // until it has given up
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      waking.store(true);
    });
    std::atomic<bool> woken{false};
    auto waiting = Waiting(locks_.get(), [&] {
      Status status = two.take("k", kX, wait_us);
      woken.store(waking.load());
      return status;
    });
    one.release();
    const Status status = waiting.end();
    os::clear_test_points();
    if (status.is(StatusCode::kTimedOut) && !waking.load()) continue;
    EXPECT_TRUE(status.ok()) << status.to_string();
    EXPECT_TRUE(woken.load());
    EXPECT_EQ(two.keys()["k"], kX);
    break;
  }
}
#endif

// Rows with a number each, which only who holds the row exclusively changes: not atomic, so that
// ThreadSanitizer would see a lock that does not exclude.
struct Rows {
  static constexpr size_t kRows = 12;
  std::array<uint64_t, kRows> numbers{};
  // Of all workers; relaxed, so that they order nothing.
  std::atomic<uint64_t> deadlocks{0};
  std::atomic<uint64_t> added{0};
  static std::string key(size_t row) { return "row" + std::to_string(row); }
};

class Worker {
 public:
  Worker(RowLocks* locks, os::Arena* arena, Rows* rows, uint64_t seed, size_t threads)
      : locks_(locks), rows_(rows), prng_(seed), threads_(threads), held_(arena), own_(seed + 1) {}

  // So many transactions, and more until all workers have met deadlocks and added `rows`.
  void run(uint64_t transactions, uint64_t rows) {
    const auto is_enough = [&] {
      return rows_->deadlocks.load(std::memory_order_relaxed) > 0 &&
             rows_->added.load(std::memory_order_relaxed) > rows;
    };
    for (uint64_t i = 0; (i < transactions || !is_enough()) && error_.empty(); ++i) {
      while (!attempt() && error_.empty()) {
        rows_->deadlocks.fetch_add(1, std::memory_order_relaxed);
      }
      locks_->release_all(held_);
      own_ += threads_;
    }
  }

  const std::string& error() const { return error_; }

 private:
  // False: a deadlock, and it starts again.
  bool attempt() {
    locks_->release_all(held_);
    const size_t steps = prng_.between(1, 4);
    size_t mark = 0;
    for (size_t step = 0; step < steps; ++step) {
      const Status status = one_step(prng_.below(Rows::kRows));
      if (status.is(StatusCode::kDeadlock)) return false;
      if (!status.ok()) error_ = status.to_string();
      if (prng_.one_in(8)) locks_->release_to(held_, mark);
      if (prng_.one_in(4)) mark = held_.size();
      mark = std::min(mark, held_.size());
    }
    return true;
  }

  Status one_step(size_t row) {
    const std::string key = Rows::key(row);
    if (prng_.one_in(10)) return locks_->wait_unlocked(own_, kTree, key, RowLocks::kForever);
    if (prng_.one_in(20)) return wait_for_end();
    const LockMode mode = kModes[prng_.below(3)];
    if (prng_.one_in(10)) {
      const Status status = locks_->acquire(held_, own_, kTree, key, mode, prng_.below(300));
      if (status.is(StatusCode::kTimedOut)) return {};
      if (!status.ok()) return status;
    } else {
      Status status = locks_->acquire(held_, own_, kTree, key, mode, RowLocks::kForever);
      if (!status.ok()) return status;
    }
    use(row, key);
    return {};
  }

  // As one does who has met an intent: polls a few times.
  Status wait_for_end() {
    const TxnId other = own_ - own_ % threads_ + prng_.below(threads_);
    if (other == own_ || other == 0) return {};
    Status status = locks_->begin_wait(own_, other);
    if (!status.ok()) return status;
    for (int i = 0; i < 3; ++i) std::this_thread::yield();
    locks_->end_wait(own_);
    return {};
  }

  void use(size_t row, const std::string& key) {
    LockMode mode = kS;
    held_.for_each([&](uint32_t, std::string_view held, LockMode its) {
      if (held == key) mode = its;
    });
    const uint64_t before = rows_->numbers[row];
    if (prng_.one_in(8)) std::this_thread::yield();
    if (rows_->numbers[row] != before) error_ = key + " changed while it was held";
    if (mode != kX) return;
    rows_->numbers[row] = before + 1;
    rows_->added.fetch_add(1, std::memory_order_relaxed);
  }

  RowLocks* const locks_;
  Rows* const rows_;
  Prng prng_;
  const uint64_t threads_;
  HeldLocks held_;
  TxnId own_;
  std::string error_;
};

class RandomLocksTest : public RowLocksTest, public testing::WithParamInterface<uint64_t> {
 protected:
  void SetUp() override { make_locks(GetParam()); }
};

// A cycle that is not found hangs this test. With few bits of the hash rows share locks.
INSTANTIATE_TEST_SUITE_P(HashBits, RandomLocksTest,
                         testing::Values(~uint64_t{0}, uint64_t{3} << 56 | 1, uint64_t{0}));

TEST_P(RandomLocksTest, ExcludeAndNeverHang) {
  constexpr size_t kThreads = 8;
  constexpr uint64_t kTransactions = 800;
  const uint64_t seed = 20250118;
  SCOPED_TRACE(seed);
  Rows rows;
  std::vector<std::unique_ptr<Worker>> workers;
  std::vector<std::thread> threads;
  for (size_t t = 0; t < kThreads; ++t) {
    workers.push_back(std::make_unique<Worker>(locks_.get(), arena_.get(), &rows,
                                               seed / kThreads * kThreads + t, kThreads));
    threads.emplace_back([worker = workers.back().get()] {
      worker->run(kTransactions, kThreads * kTransactions / 4);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& worker : workers) EXPECT_EQ(worker->error(), "");
  uint64_t counted = 0;
  for (const uint64_t number : rows.numbers) counted += number;
  EXPECT_EQ(counted, rows.added.load());
}

// Who takes rows in one order, each in its final mode, never closes a cycle: whatever is called a
// deadlock here is none.
TEST_F(RowLocksTest, OneOrderKnowsNoDeadlock) {
  constexpr size_t kThreads = 8;
  std::atomic<uint32_t> refused{0};
  std::vector<std::thread> threads;
  for (size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      Prng prng(t);
      for (TxnId i = 1; i <= 400; ++i) {
        Holder holder = begin(i * kThreads + t);
        for (size_t row = 0; row < 6; ++row) {
          const LockMode mode = kModes[prng.below(3)];
          if (prng.one_in(3)) continue;
          const Status status =
              prng.one_in(5)
                  ? locks_->wait_unlocked(holder.id, kTree, Rows::key(row), RowLocks::kForever)
                  : holder.take(Rows::key(row), mode, RowLocks::kForever);
          if (!status.ok()) refused.fetch_add(1);
          if (prng.one_in(8)) std::this_thread::yield();
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(refused.load(), 0u);
}

TEST_F(RowLocksTest, HotRowsCountRight) {
  constexpr size_t kThreads = 16;
  constexpr uint64_t kEach = 800;
  Rows rows;
  std::atomic<uint32_t> refused{0};
  std::vector<std::thread> threads;
  for (size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      Prng prng(t);
      HeldLocks held(arena_.get());
      for (TxnId i = 1; i <= kEach; ++i) {
        const size_t row = prng.below(4);
        const Status status =
            locks_->acquire(held, i * kThreads + t, kTree, Rows::key(row), kX, RowLocks::kForever);
        if (!status.ok()) refused.fetch_add(1);
        ++rows.numbers[row];
        if (prng.one_in(16)) std::this_thread::yield();
        locks_->release_all(held);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(refused.load(), 0u);
  uint64_t counted = 0;
  for (const uint64_t number : rows.numbers) counted += number;
  EXPECT_EQ(counted, kThreads * kEach);
}

}  // namespace
}  // namespace hawthorn::txn
