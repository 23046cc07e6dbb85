#include "space/free_map.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/prng.h"

namespace hawthorn::space {
namespace {

std::vector<ExtentAddress> ranges_of(const FreeMap& map) {
  std::vector<ExtentAddress> ranges;
  map.for_each([&](const ExtentAddress& range) { ranges.push_back(range); });
  return ranges;
}

TEST(FreeMapTest, CoalescesWithinAFileOnly) {
  FreeMap map;
  EXPECT_TRUE(map.add({0, 10, 5}));
  EXPECT_TRUE(map.add({0, 20, 5}));
  EXPECT_TRUE(map.add({1, 15, 5}));
  EXPECT_EQ(map.count(), 3u);
  EXPECT_TRUE(map.add({0, 15, 5}));
  EXPECT_EQ(ranges_of(map), (std::vector<ExtentAddress>{{0, 10, 15}, {1, 15, 5}}));
  // The last block of a file does not touch the first one of the next.
  EXPECT_TRUE(map.add({2, 0xfffffffe, 1}));
  EXPECT_TRUE(map.add({3, 0, 1}));
  EXPECT_EQ(map.count(), 4u);
  EXPECT_EQ(map.blocks(), 22u);
}

TEST(FreeMapTest, BestFitThenLowest) {
  FreeMap map;
  map.add({0, 0, 100});
  map.add({0, 200, 7});
  map.add({1, 0, 5});
  map.add({0, 300, 7});
  EXPECT_EQ(*map.take(6), (ExtentAddress{0, 200, 6}));
  EXPECT_EQ(*map.take(6), (ExtentAddress{0, 300, 6}));
  EXPECT_EQ(*map.take(1), (ExtentAddress{0, 206, 1}));
  EXPECT_EQ(*map.take(6), (ExtentAddress{0, 0, 6}));
  EXPECT_FALSE(map.take(95).has_value());
  EXPECT_FALSE(map.take(0).has_value());
  EXPECT_EQ(map.largest(), 94u);
}

// Against one flag for each block.
TEST(FreeMapTest, RandomAgainstAModel) {
  constexpr uint64_t kSeed = 61;
  constexpr uint32_t kFiles = 3;
  constexpr uint32_t kBlocks = 200;
  SCOPED_TRACE(kSeed);
  Prng prng(kSeed);
  std::vector<std::vector<bool>> free(kFiles, std::vector<bool>(kBlocks));
  const auto all = [&](const ExtentAddress& range, bool value) {
    for (uint32_t i = 0; i < range.blocks; ++i) {
      if (free[range.file][range.block + i] != value) return false;
    }
    return true;
  };
  const auto set = [&](const ExtentAddress& range, bool value) {
    for (uint32_t i = 0; i < range.blocks; ++i) free[range.file][range.block + i] = value;
  };
  FreeMap map;
  for (int round = 0; round < 20000; ++round) {
    const auto blocks = static_cast<uint32_t>(1 + prng.below(prng.one_in(10) ? 60 : 8));
    const ExtentAddress range = {static_cast<uint32_t>(prng.below(kFiles)),
                                 static_cast<uint32_t>(prng.below(kBlocks - blocks)), blocks};
    switch (prng.below(4)) {
      case 0:
      case 1: {
        const bool expected = all(range, false);
        ASSERT_EQ(map.overlaps(range), !expected);
        ASSERT_EQ(map.add(range), expected);
        if (expected) set(range, true);
        break;
      }
      case 2: {
        const bool expected = all(range, true);
        ASSERT_EQ(map.carve(range), expected);
        if (expected) set(range, false);
        break;
      }
      default: {
        if (prng.one_in(40)) {
          for (const ExtentAddress& taken : map.take_file(range.file)) {
            ASSERT_TRUE(all(taken, true));
            set(taken, false);
          }
          ASSERT_TRUE(all({range.file, 0, kBlocks}, false));
          break;
        }
        const uint32_t largest = map.largest();
        const auto taken = map.take(blocks);
        ASSERT_EQ(taken.has_value(), largest >= blocks);
        if (!taken) break;
        ASSERT_EQ(taken->blocks, blocks);
        ASSERT_TRUE(all(*taken, true));
        set(*taken, false);
        break;
      }
    }
    uint64_t expected_blocks = 0;
    for (const auto& file : free) {
      for (const bool block : file) expected_blocks += block ? 1 : 0;
    }
    ASSERT_EQ(map.blocks(), expected_blocks);
    if (round % 100 != 0) continue;
    for (const uint32_t least : {1u, 3u, 20u}) {
      uint64_t in_ranges = 0;
      map.for_each(
          [&](const ExtentAddress& at) { in_ranges += at.blocks < least ? 0 : at.blocks; });
      for (const uint64_t enough : {uint64_t{0}, in_ranges / 2, in_ranges, in_ranges + 1}) {
        ASSERT_EQ(map.blocks_in(least, enough), std::min(enough, in_ranges));
      }
    }
    // Ranges are maximal, and the two orders agree.
    uint32_t largest = 0;
    for (const ExtentAddress& range_now : ranges_of(map)) {
      ASSERT_TRUE(all(range_now, true));
      const uint32_t end = range_now.block + range_now.blocks;
      ASSERT_TRUE(range_now.block == 0 || !free[range_now.file][range_now.block - 1]);
      ASSERT_TRUE(end == kBlocks || !free[range_now.file][end]);
      largest = std::max(largest, range_now.blocks);
    }
    ASSERT_EQ(map.largest(), largest);
    ASSERT_EQ(map.at_least(1).size(), map.count());
  }
}

}  // namespace
}  // namespace hawthorn::space
