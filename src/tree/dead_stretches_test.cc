#include "tree/dead_stretches.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace hawthorn::tree {
namespace {

DeadStretch stretch_of(std::string low, std::string high, Lsn ts = 0, TxnId own = 0) {
  DeadStretch stretch;
  stretch.low = std::move(low);
  stretch.high = std::move(high);
  stretch.ts = ts;
  stretch.own = own;
  return stretch;
}

TEST(DeadStretches, HoldForWhoeverReadsLaterUntilAKeyComesBack) {
  DeadStretches stretches;
  DeadStretch found;
  EXPECT_FALSE(stretches.find("d", {9, 0}, 0, &found));
  stretches.add(stretch_of("b", "f", 5));
  EXPECT_FALSE(stretches.find("a", {9, 0}, 0, &found));
  EXPECT_FALSE(stretches.find("f", {9, 0}, 0, &found));
  EXPECT_FALSE(stretches.find("d", {4, 0}, 0, &found));
  ASSERT_TRUE(stretches.find("b", {5, 7}, 0, &found));
  EXPECT_EQ(found.high, "f");
  stretches.revive("d");
  EXPECT_FALSE(stretches.find("d", {9, 0}, 0, &found));
  ASSERT_TRUE(stretches.find("c", {9, 0}, 0, &found));
  EXPECT_EQ(found.high, "d");
  ASSERT_TRUE(stretches.find("e", {9, 0}, 0, &found));
  EXPECT_EQ(found.high, "f");
  // Its first one, and all that there is.
  stretches.revive("b");
  EXPECT_FALSE(stretches.find("b", {9, 0}, 0, &found));
  EXPECT_TRUE(stretches.find("c", {9, 0}, 0, &found));
  stretches.clear();
  EXPECT_FALSE(stretches.any());
  stretches.add(stretch_of("b", std::string("b\0", 2)));
  stretches.revive("b");
  EXPECT_FALSE(stretches.any());
}

TEST(DeadStretches, OfATransactionAreItsOwn) {
  DeadStretches stretches;
  DeadStretch found;
  stretches.add(stretch_of("b", "f", 5, 7));
  EXPECT_FALSE(stretches.find("c", {9, 0}, 0, &found));
  EXPECT_FALSE(stretches.find("c", {9, 8}, 0, &found));
  EXPECT_TRUE(stretches.find("c", {9, 7}, 0, &found));
  DeadStretch by_range = stretch_of("h", "", 5);
  by_range.to_end = true;
  by_range.layers = 3;
  stretches.add(by_range);
  EXPECT_FALSE(stretches.find("z", {9, 0}, 0, &found));
  EXPECT_FALSE(stretches.find("z", {9, 0}, 5, &found));
  ASSERT_TRUE(stretches.find("z", {9, 0}, 3, &found));
  EXPECT_TRUE(found.to_end);
}

TEST(DeadStretches, AreFew) {
  DeadStretches stretches;
  DeadStretch found;
  for (char c = 'a'; c < 'a' + 10; ++c) stretches.add(stretch_of({c, '0'}, {c, '9'}));
  size_t left = 0;
  for (char c = 'a'; c < 'a' + 10; ++c) {
    left += stretches.find(std::string{c, '5'}, {1, 0}, 0, &found);
  }
  EXPECT_EQ(left, DeadStretches::kMost);
  EXPECT_TRUE(stretches.find("j5", {1, 0}, 0, &found));
  // A longer one takes their place.
  stretches.add(stretch_of("a", "z"));
  ASSERT_TRUE(stretches.find("j5", {1, 0}, 0, &found));
  EXPECT_EQ(found.high, "z");
  // Many that come back leave pieces, of which few are kept.
  for (char c = 'b'; c < 'z'; ++c) {
    stretches.revive({&c, 1});
    EXPECT_FALSE(stretches.find({&c, 1}, {1, 0}, 0, &found));
  }
  EXPECT_TRUE(stretches.find("yy", {1, 0}, 0, &found));
}

// Those of transactions, which end, take the place of nothing that all know.
TEST(DeadStretches, OfTransactionsLeaveThoseOfAll) {
  DeadStretches stretches;
  DeadStretch found;
  stretches.add(stretch_of("b", "f", 5));
  for (TxnId txn = 1; txn <= 20; ++txn) {
    stretches.add(stretch_of("a", "m", 5, txn));
    ASSERT_TRUE(stretches.find("c", {9, 0}, 0, &found));
    EXPECT_EQ(found.high, "f");
    ASSERT_TRUE(stretches.find("k", {9, txn}, 0, &found));
    EXPECT_EQ(found.own, txn);
  }
  // Nor does what comes back between.
  stretches.revive("d");
  EXPECT_TRUE(stretches.find("c", {9, 0}, 0, &found));
  EXPECT_TRUE(stretches.find("e", {9, 0}, 0, &found));
  for (TxnId txn = 1; txn <= 20; ++txn) EXPECT_FALSE(stretches.find("d", {9, txn}, 0, &found));
  // One of all takes the place of those within it.
  stretches.add(stretch_of("a", "z", 5));
  ASSERT_TRUE(stretches.find("k", {9, 20}, 0, &found));
  EXPECT_EQ(found.own, 0u);
}

}  // namespace
}  // namespace hawthorn::tree
