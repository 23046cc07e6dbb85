#include "os/io_limit.h"

#include <gtest/gtest.h>

#include "testing/sim_machine.h"

namespace hawthorn::os {
namespace {

constexpr uint64_t kRate = 1'000'000;
constexpr uint64_t kSecond = 1'000'000;

class IoLimitTest : public ::testing::Test {
 protected:
  uint64_t step(uint64_t bytes, bool urgent = false) {
    const uint64_t before = clock_.monotonic_us();
    if (!urgent) limit_.await();
    const IoLimit::Scope scope(&limit_, urgent);
    IoLimit::note(bytes);
    return clock_.monotonic_us() - before;
  }
  // A clock that stands still but for sleeping, up to a few microseconds for each look.
  testing::SimClock clock_;
  IoLimit limit_{&clock_};
};

TEST_F(IoLimitTest, WithoutOneNobodyWaitsAndAllIsCounted) {
  for (int i = 0; i < 100; ++i) EXPECT_LT(step(kRate), 100U);
  EXPECT_EQ(limit_.bytes(), 100 * kRate);
  EXPECT_EQ(limit_.waited_us(), 0U);
}

TEST_F(IoLimitTest, StepsAreSpreadEvenly) {
  limit_.set_rate(kRate);
  EXPECT_LT(step(kRate / 4), 100U);
  for (int i = 0; i < 20; ++i) {
    const uint64_t took = step(kRate / 4);
    EXPECT_GE(took, kSecond / 4 - 1000);
    EXPECT_LE(took, kSecond / 4 + 1000);
  }
  EXPECT_EQ(limit_.bytes(), 21 * kRate / 4);
  EXPECT_GE(limit_.waited_us(), 20 * kSecond / 4 - 20'000);
}

TEST_F(IoLimitTest, ALargeStepIsPaidForByTheNextOne) {
  limit_.set_rate(kRate);
  EXPECT_LT(step(5 * kRate), 100U);
  const uint64_t took = step(1);
  EXPECT_GE(took, 5 * kSecond - 1000);
  EXPECT_LE(took, 5 * kSecond + 10'000);
}

TEST_F(IoLimitTest, NoMoreThanATenthOfASecondIsSavedUp) {
  limit_.set_rate(kRate);
  clock_.advance_us(3600 * kSecond);
  EXPECT_LT(step(kRate / 10), 100U);
  EXPECT_LT(step(kRate), 100U);
  EXPECT_GE(step(1), kSecond - 1000);
}

TEST_F(IoLimitTest, WhatIsUrgentOverdrawsByASecondAtMost) {
  limit_.set_rate(kRate);
  for (int i = 0; i < 50; ++i) EXPECT_LT(step(kRate, true), 100U);
  EXPECT_EQ(limit_.urgent_bytes(), 50 * kRate);
  EXPECT_EQ(limit_.bytes(), 0U);
  const uint64_t took = step(1);
  EXPECT_GE(took, kSecond - 1000);
  EXPECT_LE(took, kSecond + 10'000);
  // Of what is owed already nothing is forgiven.
  step(5 * kRate);
  step(kRate, true);
  EXPECT_GE(step(1), 5 * kSecond - 10'000);
}

TEST_F(IoLimitTest, ANewRateForgetsWhatIsOwed) {
  limit_.set_rate(kRate);
  step(1000 * kRate);
  EXPECT_GE(limit_.wait_us(), 999 * kSecond);
  limit_.set_rate(2 * kRate);
  EXPECT_LT(step(kRate), 100U);
  EXPECT_GE(step(1), kSecond / 2 - 1000);
  step(1000 * kRate);
  limit_.set_rate(0);
  EXPECT_EQ(limit_.wait_us(), 0U);
}

TEST_F(IoLimitTest, ScopesNestAndCountForTheInnermost) {
  IoLimit other(&clock_);
  IoLimit::note(1);
  {
    const IoLimit::Scope outer(&limit_);
    {
      const IoLimit::Scope inner(&other);
      IoLimit::note(2);
    }
    {
      const IoLimit::Scope none(nullptr);
      IoLimit::note(4);
    }
    IoLimit::note(8);
  }
  IoLimit::note(16);
  EXPECT_EQ(limit_.bytes(), 8U);
  EXPECT_EQ(other.bytes(), 2U);
}

}  // namespace
}  // namespace hawthorn::os
