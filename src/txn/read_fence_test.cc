#include "txn/read_fence.h"

#include <gtest/gtest.h>

#include "base/prng.h"

namespace hawthorn::txn {
namespace {

TEST(ReadFenceTest, AnEmptyOneHoldsNothing) {
  ReadFence fence;
  fence.seal();
  EXPECT_TRUE(fence.empty());
  EXPECT_FALSE(fence.contains(1, ""));
}

// Random ranges, overlapping or not, of several trees, against a look at each.
TEST(ReadFenceTest, HoldsWhatItsRangesHold) {
  Prng prng(3);
  const auto any_key = [&] {
    std::string key;
    for (uint64_t size = prng.below(4); size > 0; --size) key += static_cast<char>(prng.below(3));
    return key;
  };
  for (int round = 0; round < 300; ++round) {
    std::vector<format::PreparedRead> ranges;
    ReadFence fence;
    for (uint64_t count = prng.below(12); count > 0; --count) {
      format::PreparedRead range{static_cast<uint32_t>(prng.below(3)), any_key(), any_key()};
      if (prng.one_in(8)) range.high.reset();
      if (prng.one_in(3)) range.high = range.low + '\0';
      if (range.high.has_value() && *range.high <= range.low) continue;
      ranges.push_back(range);
      fence.add(range);
    }
    fence.seal();
    for (size_t i = 1; i < fence.ranges().size(); ++i) {
      const format::PreparedRead& before = fence.ranges()[i - 1];
      const format::PreparedRead& range = fence.ranges()[i];
      EXPECT_TRUE(before.tree < range.tree ||
                  (before.high.has_value() && *before.high < range.low));
    }
    for (int look = 0; look < 100; ++look) {
      const auto tree = static_cast<uint32_t>(prng.below(3));
      const std::string key = any_key();
      bool expected = false;
      for (const format::PreparedRead& range : ranges) {
        expected |= range.tree == tree && range.low <= key &&
                    (!range.high.has_value() || key < *range.high);
      }
      EXPECT_EQ(fence.contains(tree, key), expected);
    }
  }
}

}  // namespace
}  // namespace hawthorn::txn
