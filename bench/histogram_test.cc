#include "bench/histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace hawthorn::bench {
namespace {

TEST(Histogram, IsEmptyAtFirst) {
  const Histogram histogram;
  EXPECT_EQ(histogram.count(), 0U);
  EXPECT_EQ(histogram.percentile(50), 0U);
  EXPECT_EQ(histogram.mean(), 0.0);
}

TEST(Histogram, CountsSmallNumbersExactly) {
  Histogram histogram;
  for (uint64_t i = 1; i <= 100; ++i) histogram.record(i);
  EXPECT_EQ(histogram.percentile(50), 50U);
  EXPECT_EQ(histogram.percentile(99), 99U);
  EXPECT_EQ(histogram.percentile(100), 100U);
  EXPECT_EQ(histogram.percentile(0), 1U);
  EXPECT_DOUBLE_EQ(histogram.mean(), 50.5);
}

TEST(Histogram, PercentilesAreNeverTooSmallAndAtMostASixtyFourthTooLarge) {
  std::mt19937_64 generator(7);
  Histogram histogram;
  std::vector<uint64_t> numbers;
  for (int i = 0; i < 100'000; ++i) {
    const uint64_t number = generator() >> (4 + generator() % 56);
    numbers.push_back(number);
    histogram.record(number);
  }
  std::sort(numbers.begin(), numbers.end());
  for (const double percent : {1.0, 10.0, 50.0, 90.0, 99.0, 99.9, 100.0}) {
    const auto rank = static_cast<size_t>(percent / 100.0 * static_cast<double>(numbers.size()));
    const uint64_t exact = numbers[rank - 1];
    const uint64_t told = histogram.percentile(percent);
    EXPECT_GE(told, exact) << percent;
    EXPECT_LE(told, exact + exact / 64 + 1) << percent;
  }
}

TEST(Histogram, MergesAsIfRecordedTogether) {
  Histogram one;
  Histogram two;
  Histogram both;
  for (uint64_t i = 0; i < 1000; ++i) {
    (i % 3 == 0 ? one : two).record(i * i);
    both.record(i * i);
  }
  one.merge(two);
  EXPECT_EQ(one.count(), both.count());
  EXPECT_EQ(one.max(), both.max());
  EXPECT_EQ(one.percentile(77), both.percentile(77));
}

constexpr uint64_t kMs = 1'000'000;

TEST(RateWindows, FindsTheWorstSecondBetweenTenths) {
  RateWindows windows;
  // 10 operations each millisecond but for a stall of half a second that starts at 1.35 s.
  for (uint64_t ms = 1; ms <= 4000; ++ms) {
    if (ms <= 1350 || ms > 1850) windows.add(ms * kMs, 10);
  }
  EXPECT_NEAR(windows.worst_second(), 5000, 1010);
  EXPECT_GT(windows.worst_second(), 3900);
}

TEST(RateWindows, AnOperationCountsWhereItEnds) {
  RateWindows windows;
  windows.add(50 * kMs, 1);
  windows.add(2950 * kMs, 1);  // took 2.9 s: whole seconds without an end
  windows.add(3050 * kMs, 1);
  EXPECT_EQ(windows.worst_second(), 0);
}

TEST(RateWindows, GivesTheMeanOfLessThanASecond) {
  RateWindows windows;
  for (uint64_t ms = 0; ms < 500; ++ms) windows.add(ms * kMs, 2);
  EXPECT_NEAR(windows.worst_second(), 2000, 1);
  EXPECT_EQ(RateWindows().worst_second(), 0);
}

TEST(RateWindows, MergesThreads) {
  RateWindows one;
  RateWindows two;
  for (uint64_t ms = 0; ms < 2100; ++ms) {
    one.add(ms * kMs, 1);
    two.add(ms * kMs, 3);
  }
  one.merge(two);
  EXPECT_NEAR(one.worst_second(), 4000, 1);
}

TEST(RateWindows, TellsTheWorstStretchOfAnyLength) {
  RateWindows windows;
  // Twenty seconds of 1,000/s but for two of 100/s.
  for (uint64_t second = 0; second < 20; ++second) {
    for (uint64_t tenth = 0; tenth < 10; ++tenth) {
      const bool slow = second == 7 || second == 8;
      windows.add((second * 10 + tenth) * 100'000'000, slow ? 10 : 100);
    }
  }
  EXPECT_NEAR(windows.worst_rate(1), 100, 1);
  EXPECT_NEAR(windows.worst_rate(2), 100, 1);
  EXPECT_NEAR(windows.worst_rate(10), 820, 1);
  const std::vector<uint64_t> seconds = windows.per_second();
  ASSERT_EQ(seconds.size(), 20U);
  EXPECT_EQ(seconds[6], 1000U);
  EXPECT_EQ(seconds[7], 100U);
}

TEST(RateWindows, TellsTheRateOfAPartOfTheOperations) {
  RateWindows windows;
  // A hundred a tenth for a second, then ten a tenth for ten seconds: as many in each part.
  for (uint64_t slot = 0; slot < 10; ++slot) windows.add(slot * 100'000'000, 100);
  for (uint64_t slot = 10; slot < 110; ++slot) windows.add(slot * 100'000'000, 10);
  EXPECT_NEAR(windows.rate_of_part(0, 0.1, 11), 1000, 1);
  EXPECT_NEAR(windows.rate_of_part(0.9, 1, 11), 100, 1);
  EXPECT_NEAR(windows.rate_of_part(0, 1, 11), 2000.0 / 11, 1);
  // A phase of less than a tenth of a second has but its mean.
  RateWindows brief;
  brief.add(0, 50);
  EXPECT_NEAR(brief.rate_of_part(0.9, 1, 0.05), 1000, 1);
  EXPECT_EQ(RateWindows().rate_of_part(0, 0.1, 1), 0);
}

}  // namespace
}  // namespace hawthorn::bench
