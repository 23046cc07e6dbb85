#include "db/scheduler.h"

#include <gtest/gtest.h>

namespace hawthorn::db::scheduler_test {
namespace {

constexpr size_t kMB = size_t{1} << 20;
constexpr uint64_t kGB = uint64_t{1} << 30;

TEST(ContainerBytes, AreOneMegabyteWhereBudgetAndDatabaseAllow) {
  EXPECT_EQ(container_bytes(64 * kMB, 0), kMB);
  EXPECT_EQ(container_bytes(2048 * kMB, 0), kMB);
  EXPECT_EQ(container_bytes(2048 * kMB, 30 * kGB), kMB);
}

TEST(ContainerBytes, FollowASmallBudget) {
  EXPECT_EQ(container_bytes(16 * kMB, 0), 256u << 10);
  EXPECT_EQ(container_bytes(16 * kMB, 100 * kGB), 256u << 10);
  EXPECT_EQ(container_bytes(kMB, 0), 64u << 10);
}

// What all of them take stays within a share of the budget, as long as several fit it.
TEST(ContainerBytes, GrowWithTheDatabase) {
  size_t before = 0;
  for (uint64_t database = kGB; database <= 16384 * kGB; database *= 2) {
    const size_t bytes = container_bytes(2048 * kMB, database);
    EXPECT_GE(bytes, before);
    before = bytes;
    const double memory = static_cast<double>(database) / static_cast<double>(bytes) * 2048;
    if (bytes < 32 * kMB) {
      EXPECT_LE(memory, 0.041 * 2048 * kMB);
    }
  }
  EXPECT_EQ(before, 32 * kMB);
  EXPECT_EQ(container_bytes(64 * 1024 * kMB, 10'000'000 * kGB), 64 * kMB);
}

}  // namespace
}  // namespace hawthorn::db::scheduler_test
