#include "txn/row_locks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/prng.h"
#include "txn/row_locks_test_support.h"

namespace hawthorn::txn {
namespace {

TEST_F(RowLocksTest, EveryPairOfModes) {
  const bool both[3][3] = {{true, true, false}, {true, false, false}, {false, false, false}};
  for (const LockMode first : kModes) {
    for (const LockMode second : kModes) {
      SCOPED_TRACE(testing::Message() << static_cast<int>(first) << static_cast<int>(second));
      Holder one = begin(1);
      Holder two = begin(2);
      ASSERT_TRUE(one.takes("k", first));
      EXPECT_EQ(two.takes("k", second), both[static_cast<int>(first)][static_cast<int>(second)]);
      EXPECT_TRUE(two.takes("other", second));
      one.release();
      EXPECT_TRUE(two.takes("k", second));
    }
  }
}

TEST_F(RowLocksTest, TreesAndKeysAreToldApart) {
  Holder one = begin(1);
  Holder two = begin(2);
  const std::string longest(size_t{64} << 10, 'x');
  ASSERT_TRUE(one.takes("k", kX));
  EXPECT_TRUE(locks_->acquire(two.held, 2, kTree + 1, "k", kX, 0).ok());
  const std::string_view keys[] = {{}, {"k\0", 2}, longest, std::string_view(longest).substr(9)};
  for (const std::string_view key : keys) {
    EXPECT_TRUE(two.takes(key, kX));
    EXPECT_FALSE(one.takes(key, kS));
  }
}

TEST_F(RowLocksTest, ARefusedLockLeavesNoMemory) {
  const std::string longest(size_t{64} << 10, 'x');
  Holder one = begin(1);
  Holder two = begin(2);
  ASSERT_TRUE(one.takes(longest, kX));
  const size_t used = arena_->used(os::Quota::kOther);
  EXPECT_GE(used, longest.size());
  EXPECT_FALSE(two.takes(longest, kS));
  EXPECT_EQ(arena_->used(os::Quota::kOther), used);
}

TEST_F(RowLocksTest, ErrorsNameTheKeyAndTheHolders) {
  std::vector<std::unique_ptr<Holder>> holders;
  for (TxnId id = 1; id <= 11; ++id) {
    holders.push_back(std::make_unique<Holder>(locks_.get(), arena_.get(), id));
    if (id > 1) {
      ASSERT_TRUE(holders.back()->takes("many", kS));
    }
  }
  ASSERT_TRUE(holders[1]->takes(std::string_view("a\0b", 3), kX));
  EXPECT_EQ(holders[0]->take(std::string_view("a\0b", 3), kS).to_string(),
            "TimedOut: tree 3, key \"a\\x00b\" is locked by transaction 2");
  const Status many = holders[0]->take("many", kX);
  EXPECT_TRUE(many.is(StatusCode::kTimedOut));
  EXPECT_NE(many.message().find("is locked by transactions "), std::string_view::npos)
      << many.message();
  EXPECT_NE(many.message().find(" and 2 more"), std::string_view::npos) << many.message();
  const std::string own = "transactions 2,";
  EXPECT_EQ(holders[1]->take("many", kX).message().find(own), std::string_view::npos);
  EXPECT_EQ(locks_->wait_unlocked(1, kTree, "many", 0).code(), StatusCode::kTimedOut);
  EXPECT_TRUE(holders[0]->held.empty());
}

TEST_F(RowLocksTest, ALockIsTakenOnce) {
  Holder one = begin(1);
  Holder two = begin(2);
  ASSERT_TRUE(one.takes("k", kX));
  for (const LockMode mode : kModes) EXPECT_TRUE(one.takes("k", mode));
  EXPECT_EQ(one.held.size(), 1u);
  EXPECT_EQ(one.keys(), (std::map<std::string, LockMode>{{"k", kX}}));
  EXPECT_FALSE(two.takes("k", kS));
  one.release();
  EXPECT_TRUE(two.takes("k", kX));
}

TEST_F(RowLocksTest, RaisesWhereNobodyStandsInTheWay) {
  Holder one = begin(1);
  Holder two = begin(2);
  ASSERT_TRUE(one.takes("k", kS));
  ASSERT_TRUE(two.takes("k", kS));
  ASSERT_TRUE(one.takes("k", kU));
  EXPECT_FALSE(two.takes("k", kU));
  EXPECT_FALSE(one.takes("k", kX));
  EXPECT_EQ(one.keys()["k"], kU) << "a failed call changes nothing";
  EXPECT_EQ(two.keys()["k"], kS);
  two.release();
  EXPECT_TRUE(one.takes("k", kX));
  EXPECT_FALSE(two.takes("k", kS));
  EXPECT_EQ(one.held.size(), 3u);
  EXPECT_EQ(one.keys(), (std::map<std::string, LockMode>{{"k", kX}}));
}

TEST_F(RowLocksTest, ASavepointReleasesAndLowers) {
  Holder one = begin(1);
  Holder two = begin(2);
  ASSERT_TRUE(one.takes("a", kS) && one.takes("b", kX));
  const size_t outer = one.held.size();
  ASSERT_TRUE(one.takes("a", kU) && one.takes("c", kS) && one.takes("b", kS));
  const size_t inner = one.held.size();
  ASSERT_TRUE(one.takes("a", kX) && one.takes("c", kX) && one.takes("d", kX));
  EXPECT_FALSE(two.takes("a", kS));

  one.release_to(inner);
  EXPECT_EQ(one.keys(), (std::map<std::string, LockMode>{{"a", kU}, {"b", kX}, {"c", kS}}));
  EXPECT_TRUE(two.takes("d", kX) && two.takes("a", kS) && two.takes("c", kU));
  EXPECT_FALSE(two.takes("a", kU));
  two.release();

  one.release_to(outer);
  EXPECT_EQ(one.keys(), (std::map<std::string, LockMode>{{"a", kS}, {"b", kX}}));
  EXPECT_TRUE(two.takes("a", kU) && two.takes("c", kX));
  EXPECT_FALSE(two.takes("a", kX) || two.takes("b", kS));
  one.release_to(outer + 5);  // nothing was taken since
  EXPECT_EQ(one.held.size(), outer);
  one.release_to(0);
  EXPECT_TRUE(two.takes("a", kX) && two.takes("b", kX));
}

TEST_F(RowLocksTest, KnowsWhetherOthersHold) {
  Holder one = begin(1);
  EXPECT_FALSE(locks_->any());
  for (const LockMode mode : kModes) {
    ASSERT_TRUE(one.takes("k", mode));
    EXPECT_TRUE(locks_->any());
    EXPECT_TRUE(locks_->held_by_other(2, kTree, "k"));
    EXPECT_FALSE(locks_->held_by_other(1, kTree, "k"));
    EXPECT_FALSE(locks_->held_by_other(2, kTree + 1, "k"));
    EXPECT_TRUE(locks_->wait_unlocked(1, kTree, "k", RowLocks::kForever).ok());
    EXPECT_TRUE(locks_->wait_unlocked(2, kTree, "k", 0).is(StatusCode::kTimedOut));
  }
  Holder two = begin(2);
  EXPECT_FALSE(two.takes("k", kS));
  EXPECT_TRUE(locks_->any());
  one.release();
  EXPECT_FALSE(locks_->any()) << "a transaction that got nothing does not count";
  EXPECT_TRUE(locks_->wait_unlocked(2, kTree, "k", 0).ok());
}

// Invariant 1 of row_locks.h and 2 of held_locks.h: all keys have the same hash.
TEST_F(RowLocksTest, CollidingKeysShareALock) {
  make_locks(0);
  Holder one = begin(1);
  Holder two = begin(2);
  ASSERT_TRUE(one.takes("a", kS));
  ASSERT_TRUE(two.takes("z", kS));
  EXPECT_FALSE(one.takes("b", kX)) << "the other key is in the way";
  two.release();
  const size_t mark = one.held.size();
  ASSERT_TRUE(one.takes("b", kX) && one.takes("c", kS) && one.takes("a", kU));
  EXPECT_EQ(one.keys(), (std::map<std::string, LockMode>{{"a", kU}, {"b", kX}, {"c", kS}}));
  EXPECT_EQ(one.held.size(), 4u);
  EXPECT_FALSE(two.takes("c", kS));
  one.release_to(3);
  EXPECT_EQ(one.keys(), (std::map<std::string, LockMode>{{"a", kS}, {"b", kX}, {"c", kS}}));
  EXPECT_FALSE(two.takes("a", kS)) << "the row is still exclusive, for b";
  one.release_to(mark);
  EXPECT_EQ(one.keys(), (std::map<std::string, LockMode>{{"a", kS}}));
  EXPECT_TRUE(two.takes("b", kS));
  EXPECT_FALSE(two.takes("c", kX));
  one.release();
  EXPECT_TRUE(two.takes("c", kX));
}

// Rows of few hashes, so that keys share them, modes that are raised, and a mark in between.
TEST_F(RowLocksTest, WhatSomethingElseCoversIsReleased) {
  uint64_t released = 0;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    Prng prng(seed);
    make_locks(seed % 2 == 0 ? ~uint64_t{0} : 31);
    Holder one = begin(1);
    Holder two = begin(2);
    size_t mark = 0;
    std::map<std::string, LockMode> at_mark;
    const uint64_t steps = 1 + prng.below(40);
    for (uint64_t i = 0; i < steps; ++i) {
      if (i == steps / 2) {
        mark = one.held.size();
        at_mark = one.keys();
      }
      ASSERT_TRUE(one.takes("k" + std::to_string(prng.below(30)), kModes[prng.below(3)]));
    }
    const std::map<std::string, LockMode> before = one.keys();
    std::vector<RowLocks::Covered> covered;
    for (const auto& [key, mode] : before) {
      if (prng.one_in(2)) covered.push_back({kTree, key, prng.one_in(3) ? mark : 0});
    }
    covered.push_back({kTree, "nobody's", 0});
    const std::vector<uint32_t> gone = locks_->release_covered(one.held, 1, covered);
    released += gone.size();
    const std::map<std::string, LockMode> after = one.keys();
    ASSERT_EQ(after.size() + gone.size(), before.size());
    ASSERT_FALSE(after.empty());
    for (const auto& [key, mode] : before) {
      if (after.contains(key)) {
        EXPECT_EQ(after.at(key), mode);
        EXPECT_FALSE(two.takes(key, kX));
        continue;
      }
      EXPECT_EQ(mode, kX);
      const auto at = std::find_if(covered.begin(), covered.end(),
                                   [&](const RowLocks::Covered& c) { return c.key == key; });
      ASSERT_NE(at, covered.end());
      EXPECT_TRUE(at->from == 0 || !at_mark.contains(key));
      EXPECT_TRUE(two.takes(key, kX));
      at_mark.erase(key);
    }
    two.release();
    const auto below = std::lower_bound(gone.begin(), gone.end(), mark);
    one.release_to(mark - static_cast<size_t>(below - gone.begin()));
    EXPECT_EQ(one.keys(), at_mark);
  }
  EXPECT_GT(released, 200u);
}

TEST_F(RowLocksTest, WaitsForEndsMayNotCloseACycle) {
  EXPECT_TRUE(locks_->begin_wait(1, 2).ok());
  EXPECT_TRUE(locks_->begin_wait(1, 2).ok());
  EXPECT_EQ(locks_->waiting(), 1u);
  EXPECT_EQ(locks_->begin_wait(2, 1).to_string(),
            "Deadlock: transactions wait for each other: 2 for 1 to end, 1 for 2 to end");
  EXPECT_EQ(locks_->waiting(), 1u) << "who is refused does not wait";
  EXPECT_TRUE(locks_->begin_wait(2, 3).ok());
  EXPECT_EQ(locks_->begin_wait(3, 1).message(),
            "transactions wait for each other: 3 for 1 to end, 1 for 2 to end, 2 for 3 to end");
  EXPECT_TRUE(locks_->begin_wait(1, 4).ok());
  EXPECT_TRUE(locks_->begin_wait(3, 1).ok()) << "1 does not wait for 2 any more";
  EXPECT_TRUE(locks_->begin_wait(4, 2).is(StatusCode::kDeadlock));
  locks_->end_wait(2);
  EXPECT_TRUE(locks_->begin_wait(4, 2).ok());
  EXPECT_TRUE(locks_->begin_wait(1, 3).is(StatusCode::kDeadlock));
  EXPECT_TRUE(locks_->begin_wait(3, 1).ok()) << "1 was refused, and does not wait for 4 any more";
  for (const TxnId id : {1, 3, 4, 2, 9}) locks_->end_wait(id);
}

TEST_F(RowLocksTest, LongCyclesAreCutShort) {
  constexpr TxnId kCount = 2000;
  for (TxnId id = 1; id < kCount; ++id) ASSERT_TRUE(locks_->begin_wait(id, id + 1).ok());
  const Status closed = locks_->begin_wait(kCount, 1);
  EXPECT_TRUE(closed.is(StatusCode::kDeadlock));
  EXPECT_NE(closed.message().find("2000 for 1 to end, 1 for 2 to end"), std::string_view::npos);
  EXPECT_NE(closed.message().find(", and 1984 more"), std::string_view::npos);
  EXPECT_LT(closed.message().size(), 1000u);
  for (TxnId id = 1; id < kCount; ++id) locks_->end_wait(id);
}

TEST_F(RowLocksTest, MemoryIsCountedAndGivenBack) {
  constexpr size_t kKeys = 100000;
  const auto used = [this] { return arena_->used(os::Quota::kOther); };
  Holder one = begin(1);
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(one.takes("few" + std::to_string(i), kX));
  EXPECT_EQ(used(), 0u) << "a little is not counted";
  size_t most = 0;
  for (int round = 0; round < 3; ++round) {
    one.release();
    EXPECT_EQ(used(), 0u);
    for (size_t i = 0; i < kKeys; ++i) {
      ASSERT_TRUE(one.takes("key" + std::to_string(i), kS));
    }
    EXPECT_GT(used(), kKeys * (sizeof(RowHold) + 32 + 8));
    EXPECT_LT(used(), kKeys * 200);
    if (round == 0) most = used();
    EXPECT_LE(used(), most) << "rounds add nothing";
    one.release_to(kKeys / 50);
    EXPECT_LT(used(), most / 8);
    EXPECT_EQ(one.keys().size(), kKeys / 50);
    Holder two = begin(2);
    EXPECT_TRUE(two.takes("key" + std::to_string(kKeys - 1), kX));
    EXPECT_FALSE(two.takes("key" + std::to_string(kKeys / 50 - 1), kX));
  }
}

// What is held, as plainly as it can be said: each transaction's takes and raises in order.
class Model {
 public:
  explicit Model(size_t txns) : logs_(txns) {}

  // -1: not held.
  int mode_of(size_t txn, const std::string& key) const {
    int mode = -1;
    for (const auto& [logged, taken] : logs_[txn]) {
      if (logged == key) mode = std::max(mode, taken);
    }
    return mode;
  }
  bool try_take(size_t txn, const std::string& key, int mode) {
    if (mode_of(txn, key) >= mode) return true;
    for (size_t other = 0; other < logs_.size(); ++other) {
      const int held = other == txn ? -1 : mode_of(other, key);
      if (held >= 0 && !(held == 0 && mode <= 1) && !(held == 1 && mode == 0)) return false;
    }
    logs_[txn].emplace_back(key, mode);
    return true;
  }
  std::vector<std::pair<std::string, int>>& log(size_t txn) { return logs_[txn]; }

 private:
  std::vector<std::vector<std::pair<std::string, int>>> logs_;
};

TEST_F(RowLocksTest, AgreesWithAModel) {
  constexpr size_t kTxns = 5;
  const uint64_t seed = 20250117;
  SCOPED_TRACE(seed);
  Prng prng(seed);
  Model model(kTxns);
  std::vector<std::unique_ptr<Holder>> holders;
  for (TxnId id = 1; id <= kTxns; ++id) {
    holders.push_back(std::make_unique<Holder>(locks_.get(), arena_.get(), id));
  }
  size_t refused = 0;
  for (int step = 0; step < 40000; ++step) {
    const size_t txn = prng.below(kTxns);
    Holder& holder = *holders[txn];
    const std::string key(1, static_cast<char>('a' + prng.below(6)));
    if (prng.one_in(10)) {
      const size_t mark = prng.below(holder.held.size() + 1);
      holder.release_to(mark);
      model.log(txn).resize(mark);
    } else {
      const auto mode = static_cast<int>(prng.below(3));
      const Status status = holder.take(key, kModes[mode]);
      ASSERT_EQ(status.ok(), model.try_take(txn, key, mode)) << step << status.to_string();
      refused += status.ok() ? 0 : 1;
    }
    ASSERT_EQ(holder.held.size(), model.log(txn).size()) << step;
    bool other_holds = false;
    for (size_t other = 0; other < kTxns; ++other) {
      other_holds = other_holds || (other != txn && model.mode_of(other, key) >= 0);
    }
    ASSERT_EQ(locks_->held_by_other(holder.id, kTree, key), other_holds) << step;
    std::map<std::string, LockMode> expected;
    for (const auto& [logged, mode] : model.log(txn)) {
      expected[logged] = kModes[model.mode_of(txn, logged)];
    }
    ASSERT_EQ(holder.keys(), expected) << step;
  }
  EXPECT_GT(refused, 5000u);
  EXPECT_LT(refused, 35000u);
}

TEST_F(RowLocksTest, GivesBackWhatAFailedCallTook) {
  const size_t before = arena_->used();
  const std::string longest(60'000, 'k');
  Holder one = begin(1);
  Holder two = begin(2);
  ASSERT_TRUE(one.takes(longest, kX));
  EXPECT_FALSE(two.takes(longest, kX));
  two.release_to(0);
  one.release_to(0);
  EXPECT_EQ(arena_->used(), before);
}

TEST_F(RowLocksTest, Close) {
  Holder holder = begin(1);
  ASSERT_TRUE(holder.take("a", LockMode::kShared).ok());
  EXPECT_TRUE(locks_->close(1000).is(StatusCode::kTimedOut));
  // It is open again.
  Holder other = begin(2);
  ASSERT_TRUE(other.take("b", LockMode::kShared).ok());
  other.release_to(0);
  holder.release_to(0);
  ASSERT_TRUE(locks_->close(0).ok());
  EXPECT_FALSE(locks_->any());
  const Status refused = other.take("b", LockMode::kShared);
  EXPECT_TRUE(refused.is(StatusCode::kTimedOut)) << refused.to_string();
  EXPECT_FALSE(locks_->any()) << "who was refused is not counted";
  locks_->reopen();
  ASSERT_TRUE(other.take("b", LockMode::kShared).ok());
  other.release_to(0);
}

}  // namespace
}  // namespace hawthorn::txn
