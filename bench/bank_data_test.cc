#include "bench/bank_data.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "bench/bank_model.h"

namespace hawthorn::bench {
namespace {

constexpr const char* kNoWords = "/nonexistent";

// The figure of the document: 10,000,000 transfers, 1,000,000 accounts, seed 12345.
TEST(TransferSource, ReproducesTheCountOfTheDocument) {
  Balances balances(1'000'000, 1'000'000);
  const ThreadHistory history{{{TransferSource(12345, 0, 1'000'000, 1'000'000), 10'000'000}}};
  EXPECT_EQ(replay(history, balances), std::vector<uint64_t>{6'856'951});
}

TEST(TransferSource, IsDeterministicAndStaysInItsAccounts) {
  TransferSource one(7, 500, 100, 10);
  TransferSource two(7, 500, 100, 10);
  uint64_t low = 0;
  for (int i = 0; i < 10'000; ++i) {
    const Transfer a = one.next();
    const Transfer b = two.next();
    EXPECT_EQ(a.source, b.source);
    EXPECT_EQ(a.target, b.target);
    EXPECT_EQ(a.amount, b.amount);
    EXPECT_NE(a.source, a.target);
    ASSERT_TRUE(a.source >= 500 && a.source < 600 && a.target >= 500 && a.target < 600);
    ASSERT_TRUE(a.amount >= 1 && a.amount <= 10);
    low += a.source < 525 ? 1 : 0;
  }
  // A triangle has an eighth of its area in its first quarter.
  EXPECT_NEAR(static_cast<double>(low), 1250, 150);
}

TEST(TransferFeed, HandsOutTheTransfersOfItsSource) {
  const AccountNames names(1000, 1, kNoWords);
  TransferSource source(3, 0, 1000, 50);
  TransferFeed feed(source, names);
  for (int i = 0; i < 1000; ++i) {
    const Transfer expected = source.next();
    const Transfer& got = feed.next();
    EXPECT_EQ(got.source, expected.source);
    EXPECT_EQ(got.amount, expected.amount);
  }
}

TEST(AccountNames, AreDifferentOrderedAndTheSameInEachRun) {
  const AccountNames names(30'000, 12345, kNoWords);
  const AccountNames again(30'000, 12345, kNoWords);
  std::set<std::string_view> all;
  uint64_t bytes = 0;
  for (uint64_t i = 0; i < names.count(); ++i) {
    all.insert(names[i]);
    bytes += names[i].size();
    ASSERT_EQ(names[i], again[i]);
    ASSERT_FALSE(is_log_key(names[i]));
  }
  EXPECT_EQ(all.size(), 30'000U);
  EXPECT_EQ(names.bytes(), bytes);
  EXPECT_TRUE(
      std::equal(all.begin(), all.end(), names.in_order().begin(),
                 [&](std::string_view name, uint32_t account) { return name == names[account]; }));
  // Kinds in turn: big-endian, little-endian, decimal.
  EXPECT_TRUE(all.contains(std::string_view("\0\0\0\0\0\0\0\1", 8)));
  EXPECT_TRUE(all.contains(std::string_view("\1\0\0\0\0\0\0\0", 8)));
  EXPECT_TRUE(all.contains("00010000"));
}

TEST(ParetoAccounts, GiveFourFifthsOfTheReadsToAFifth) {
  const std::vector<uint32_t> picks = pareto_accounts(100'000, 12, 200'000);
  EXPECT_EQ(picks, pareto_accounts(100'000, 12, 200'000));
  const auto hot = std::count_if(picks.begin(), picks.end(), [](uint32_t p) { return p < 20'000; });
  EXPECT_NEAR(static_cast<double>(hot) / static_cast<double>(picks.size()), 0.8, 0.01);
  EXPECT_LT(*std::max_element(picks.begin(), picks.end()), 100'000U);
  EXPECT_GT(*std::max_element(picks.begin(), picks.end()), 99'000U);
}

TEST(LogKey, IsInTheOrderOfThreadAndNumber) {
  const LogKey first(log_sequence(0, 255));
  const LogKey second(log_sequence(0, 256));
  const LogKey third(log_sequence(1, 1));
  EXPECT_LT(std::string_view(first), std::string_view(second));
  EXPECT_LT(std::string_view(second), std::string_view(third));
  EXPECT_TRUE(is_log_key(third));
  EXPECT_EQ(log_sequence_of(third), log_sequence(1, 1));
}

TEST(LogValue, HoldsNamesAndAmount) {
  const LogValue value("alpha", "be", 0x0102);
  const std::string_view expected("\5\0alpha\2\0be\2\1\0\0\0\0\0\0", 19);
  EXPECT_EQ(std::string_view(value), expected);
}

TEST(Stamp, TellsValuesOfOtherKeysAndVersions) {
  std::vector<char> value(256);
  const uint64_t key = random_key(5);
  make_value(key, 1, value.data(), value.size());
  const std::string_view text(value.data(), value.size());
  EXPECT_TRUE(value_is_whole(key, 1, text));
  EXPECT_FALSE(value_is_whole(key, 0, text));
  EXPECT_FALSE(value_is_whole(random_key(6), 1, text));
  EXPECT_TRUE(stamp_fits(key, load64(value.data())));
  EXPECT_FALSE(stamp_fits(random_key(6), load64(value.data())));
  value.back() ^= 1;
  EXPECT_FALSE(value_is_whole(key, 1, text));
}

}  // namespace
}  // namespace hawthorn::bench
