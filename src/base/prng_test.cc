#include "base/prng.h"

#include <gtest/gtest.h>

#include <array>

namespace hawthorn {
namespace {

TEST(PrngTest, SplitmixKnownValues) {
  uint64_t state = 1234567;
  EXPECT_EQ(splitmix64(state), 6457827717110365317u);
  EXPECT_EQ(splitmix64(state), 3203168211198807973u);
}

TEST(PrngTest, SameSeedSameNumbers) {
  Prng a(42);
  Prng b(42);
  Prng c(43);
  bool differs = false;
  for (int i = 0; i < 1000; ++i) {
    const uint64_t number = a.next();
    EXPECT_EQ(number, b.next());
    differs |= number != c.next();
  }
  EXPECT_TRUE(differs);
}

TEST(PrngTest, BoundsAreKeptAndReached) {
  Prng prng(7);
  std::array<int, 5> hits{};
  for (int i = 0; i < 50000; ++i) {
    const uint64_t number = prng.between(10, 14);
    ASSERT_GE(number, 10u);
    ASSERT_LE(number, 14u);
    ++hits[number - 10];
    const double unit = prng.unit();
    ASSERT_GE(unit, 0.0);
    ASSERT_LT(unit, 1.0);
  }
  for (const int count : hits) EXPECT_NEAR(count, 10000, 500);
  EXPECT_EQ(prng.below(1), 0u);
  prng.between(0, ~uint64_t{0});
}

}  // namespace
}  // namespace hawthorn
