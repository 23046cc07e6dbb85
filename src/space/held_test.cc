// What is released and may still be read by another process.

#include "space/space_test_support.h"

namespace hawthorn::space {
namespace {

std::vector<ExtentAddress> fill(Space& space, uint32_t count, uint32_t blocks) {
  std::vector<ExtentAddress> extents;
  for (uint32_t i = 0; i < count; ++i) {
    const Result<ExtentAddress> extent = space.allocate(blocks);
    EXPECT_TRUE(extent.ok()) << extent.status().to_string();
    if (extent.ok()) extents.push_back(*extent);
  }
  return extents;
}

TEST(HeldSpace, IsNotGivenOutBeforeItIsClear) {
  Fixture fixture;
  const auto space = fixture.open();
  const ExtentAddress first = fill(*space, 1, 10).front();
  space->set_batches(5, 4);
  const uint64_t used = space->used_blocks();
  space->release(first);
  EXPECT_EQ(space->used_blocks(), used - 10);
  EXPECT_EQ(space->held_blocks(), 10U);
  const ExtentAddress second = fill(*space, 1, 10).front();
  EXPECT_NE(second, first);
  space->set_batches(6, 4);
  space->release(second);
  EXPECT_EQ(space->held_blocks(), 20U);
  space->set_batches(6, 5);
  EXPECT_EQ(space->held_blocks(), 10U);
  EXPECT_EQ(fill(*space, 1, 10).front(), first);
  space->set_batches(7, 7);
  EXPECT_EQ(space->held_blocks(), 0U);
  EXPECT_EQ(fill(*space, 1, 10).front(), second);
}

// Attack 138: of two who have looked who follows, the older look is told last.
TEST(HeldSpace, StaysHeldWhenAnOlderLookIsToldLast) {
  Fixture fixture;
  const auto space = fixture.open();
  const ExtentAddress extent = fill(*space, 1, 10).front();
  space->set_batches(6, 4);
  space->set_batches(5, 3);
  space->release(extent);  // dropped by batch 6
  space->set_batches(6, 5);
  EXPECT_EQ(space->held_blocks(), 10U) << "who reads batch 5 reads it still";
  space->set_batches(6, 6);
  EXPECT_EQ(space->held_blocks(), 0U);
}

TEST(HeldSpace, IsFreeAtOnceWhereNobodyReads) {
  Fixture fixture;
  const auto space = fixture.open();
  space->set_batches(5, 5);
  const ExtentAddress first = fill(*space, 1, 10).front();
  space->release(first);
  EXPECT_EQ(space->held_blocks(), 0U);
  EXPECT_EQ(fill(*space, 1, 10).front(), first);
}

// Whatever batch is durable, and whoever reads: a copy holds what is released while it is made.
TEST(HeldSpace, IsHeldForCopies) {
  Fixture fixture;
  const auto space = fixture.open();
  space->set_batches(5, 5);
  const std::vector<ExtentAddress> all = fill(*space, 4, 10);
  const uint64_t first = space->hold_released();
  space->release(all[0]);
  const uint64_t second = space->hold_released();
  space->release(all[1]);
  EXPECT_EQ(space->held_blocks(), 20U);
  space->set_batches(9, 9);
  EXPECT_EQ(space->held_blocks(), 20U);
  // What was released before it began the second one does not need.
  space->release_hold(first);
  EXPECT_EQ(space->held_blocks(), 10U);
  EXPECT_EQ(fill(*space, 1, 10).front(), all[0]);
  space->set_batches(10, 9);
  space->release(all[2]);
  space->release_hold(second);
  EXPECT_EQ(space->held_blocks(), 10U);
  EXPECT_EQ(fill(*space, 1, 10).front(), all[1]);
  space->set_batches(10, 10);
  EXPECT_EQ(space->held_blocks(), 0U);
  space->release(all[3]);
  EXPECT_EQ(space->held_blocks(), 0U);
}

TEST(HeldSpace, KeepsItsFileFromLeavingAndFromTheClose) {
  Fixture fixture;
  const auto space = fixture.open();
  const std::vector<ExtentAddress> all = fill(*space, 9, kBlocksPerMegabyte / 2);
  const uint32_t last = all.back().file;
  ASSERT_GT(last, 0U);
  space->set_batches(5, 4);
  for (const ExtentAddress& extent : all) {
    if (extent.file == last) space->release(extent);
  }
  while (space->leave(1, {}).has_value()) {
    const Result<bool> removed = space->remove_left();
    ASSERT_TRUE(removed.ok());
    if (!*removed) break;
  }
  space->stay();
  EXPECT_GT(fixture.size_of(last), 0U);
  // The end that nobody has used goes, and nothing before.
  must(space->trim_files());
  EXPECT_EQ(fixture.size_of(last), (uint64_t{all.back().block} + all.back().blocks) * 4096);
}

TEST(HeldSpace, OfAnEarlierProcessIsAllThatIsFree) {
  Fixture fixture;
  std::vector<ExtentAddress> used;
  {
    const auto space = fixture.open();
    used = fill(*space, 3, 100);
  }
  const auto space = fixture.open(small_files(), {used[0]});
  space->set_batches(9, 4);
  space->hold_free(9);
  EXPECT_EQ(space->ready_blocks(), 0U);
  EXPECT_GT(space->held_blocks(), 200U);
  const ExtentAddress fresh = fill(*space, 1, 100).front();
  EXPECT_NE(fresh.file, used[0].file);
  EXPECT_FALSE(space->leave(0, {}).has_value());
  const uint64_t size = fixture.size_of(0);
  must(space->trim_files());
  EXPECT_EQ(fixture.size_of(0), size);
  space->set_batches(10, 9);
  EXPECT_EQ(space->held_blocks(), 0U);
  EXPECT_EQ(fill(*space, 1, 100).front().file, used[0].file);
}

TEST(HeldSpace, ComesBackWhereTheDiskIsFull) {
  Fixture fixture;
  const auto space = fixture.open();
  const std::vector<ExtentAddress> all = fill(*space, 2, kBlocksPerMegabyte);
  fixture.disk->set_capacity(fixture.disk->used_bytes());
  space->set_batches(5, 4);
  for (const ExtentAddress& extent : all) space->release(extent);
  int asked = 0;
  space->on_full([&] {
    ++asked;
    return false;
  });
  while (space->allocate(kBlocksPerMegabyte).ok()) {
  }
  EXPECT_EQ(asked, 1);
  EXPECT_TRUE(space->keep_ready(kBlocksPerMegabyte, kBlocksPerMegabyte).is(StatusCode::kNoSpace));
  space->on_full([&] {
    space->set_batches(5, 5);
    return true;
  });
  EXPECT_EQ(fill(*space, 2, kBlocksPerMegabyte).size(), 2U);
}

}  // namespace
}  // namespace hawthorn::space
