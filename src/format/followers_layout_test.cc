#include "format/followers_layout.h"

#include <gtest/gtest.h>

#include <cstring>

namespace hawthorn::format {
namespace {

FollowerSlot slot_of(FollowerState state) {
  FollowerSlot slot{};
  slot.claim = 7;
  slot.pid = 8;
  slot.batch = 9;
  slot.state = static_cast<uint32_t>(state);
  seal(slot);
  return slot;
}

TEST(FollowersLayout, EachBitCounts) {
  FollowersHeader header{};
  EXPECT_FALSE(valid(header));
  header.salt = 1;
  seal(header);
  EXPECT_TRUE(valid(header));
  for (size_t bit = 0; bit < sizeof(header) * 8; ++bit) {
    FollowersHeader wrong = header;
    reinterpret_cast<char*>(&wrong)[bit / 8] ^= static_cast<char>(1 << bit % 8);
    EXPECT_FALSE(valid(wrong)) << bit;
  }
  const FollowerSlot slot = slot_of(FollowerState::kPinned);
  EXPECT_TRUE(valid(slot));
  for (size_t bit = 0; bit < sizeof(slot) * 8; ++bit) {
    FollowerSlot wrong = slot;
    reinterpret_cast<char*>(&wrong)[bit / 8] ^= static_cast<char>(1 << bit % 8);
    EXPECT_FALSE(valid(wrong)) << bit;
  }
}

TEST(FollowersLayout, AFreeSlotIsAllZeros) {
  FollowerSlot slot{};
  EXPECT_TRUE(valid(slot));
  seal(slot);
  EXPECT_EQ(slot.checksum, 0U);
  slot.pid = 1;
  EXPECT_FALSE(valid(slot));
}

TEST(FollowersLayout, AStateOfALaterVersionIsNone) {
  EXPECT_TRUE(valid(slot_of(FollowerState::kOpening)));
  EXPECT_FALSE(valid(slot_of(FollowerState::kFree)));
  EXPECT_FALSE(valid(slot_of(static_cast<FollowerState>(3))));
}

}  // namespace
}  // namespace hawthorn::format
