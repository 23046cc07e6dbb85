#include "base/histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/prng.h"

namespace hawthorn {
namespace {

TEST(HistogramTest, EmptyIsZero) {
  const Histogram histogram;
  EXPECT_EQ(histogram.count(), 0u);
  EXPECT_EQ(histogram.percentile(99), 0u);
  EXPECT_EQ(histogram.min(), 0u);
  EXPECT_EQ(histogram.max(), 0u);
  EXPECT_EQ(histogram.mean(), 0.0);
}

TEST(HistogramTest, SmallNumbersAreExact) {
  Histogram histogram;
  for (uint64_t i = 1; i <= 60; ++i) histogram.record(i);
  EXPECT_EQ(histogram.percentile(50), 30u);
  EXPECT_EQ(histogram.percentile(0), 1u);
  EXPECT_EQ(histogram.percentile(100), 60u);
  EXPECT_DOUBLE_EQ(histogram.mean(), 30.5);
}

TEST(HistogramTest, PercentilesAreNeverTooSmallAndCloseAbove) {
  Prng prng(3);
  Histogram histogram;
  std::vector<uint64_t> numbers;
  for (int i = 0; i < 100000; ++i) {
    const uint64_t number = prng.next() >> prng.below(64);
    numbers.push_back(number);
    histogram.record(number);
  }
  std::sort(numbers.begin(), numbers.end());
  for (const double percent : {1.0, 10.0, 50.0, 90.0, 99.0, 99.9, 100.0}) {
    const auto rank = static_cast<size_t>(percent / 100 * static_cast<double>(numbers.size()));
    const uint64_t exact = numbers[std::max<size_t>(rank, 1) - 1];
    EXPECT_GE(histogram.percentile(percent), exact) << percent;
    EXPECT_LE(static_cast<double>(histogram.percentile(percent)),
              static_cast<double>(exact) * (1 + 1.0 / 32) + 1);
  }
  EXPECT_EQ(histogram.max(), numbers.back());
  EXPECT_EQ(histogram.min(), numbers.front());
}

TEST(HistogramTest, ExtremesFit) {
  Histogram histogram;
  histogram.record(~uint64_t{0});
  histogram.record(uint64_t{1} << 63);
  EXPECT_EQ(histogram.percentile(100), ~uint64_t{0});
}

TEST(HistogramTest, MergeEqualsRecordingAll) {
  Prng prng(5);
  Histogram all;
  Histogram left;
  Histogram right;
  for (int i = 0; i < 10000; ++i) {
    const uint64_t number = prng.below(1000000);
    all.record(number);
    (prng.one_in(3) ? left : right).record(number);
  }
  left.merge(right);
  EXPECT_EQ(left.count(), all.count());
  EXPECT_DOUBLE_EQ(left.mean(), all.mean());
  for (int percent = 0; percent <= 100; ++percent) {
    EXPECT_EQ(left.percentile(percent), all.percentile(percent));
  }
  left.reset();
  EXPECT_EQ(left.count(), 0u);
}

}  // namespace
}  // namespace hawthorn
