// Files that leave while the space is in use: chosen, emptied, removed, or needed after all.
#include <algorithm>
#include <string>
#include <vector>

#include "base/prng.h"
#include "space/space_test_support.h"

namespace hawthorn::space {
namespace {

// data.0 to data.3 (1, 2, 4, 4 MB), full, one extent of a quarter megabyte after the other.
struct Full : Fixture {
  Full() {
    space = open();
    for (int i = 0; i < 44; ++i) extents.push_back(space->allocate(kQuarter).value());
    for (size_t i = 0; i < extents.size(); ++i) write_extent(*space, extents[i], i);
    must(space->sync());
  }
  void release(size_t from, size_t to) {
    for (size_t i = from; i < to; ++i) space->release(extents[i]);
  }
  static constexpr uint32_t kQuarter = kBlocksPerMegabyte / 4;
  std::unique_ptr<Space> space;
  std::vector<ExtentAddress> extents;
};

TEST(ShrinkTest, EmptyFilesGoTheLastOneFirst) {
  Full f;
  EXPECT_EQ(f.names(), (std::vector<std::string>{"data.0", "data.1", "data.2", "data.3"}));
  EXPECT_FALSE(f.space->leave(0, {}).has_value());
  EXPECT_FALSE(f.space->remove_left().value());
  f.release(0, f.extents.size());
  std::vector<uint32_t> gone;
  while (const auto file = f.space->leave(1, {})) {
    EXPECT_EQ(f.space->leaving(), file);
    ASSERT_TRUE(f.space->remove_left().value());
    EXPECT_FALSE(f.space->leaving().has_value());
    gone.push_back(*file);
  }
  EXPECT_EQ(gone, (std::vector<uint32_t>{3, 2, 1}));
  EXPECT_EQ(f.names(), std::vector<std::string>{"data.0"});
  EXPECT_EQ(f.disk->used_bytes(), kMegabyte);
  EXPECT_EQ(f.space->allocated_bytes(), kMegabyte);
  EXPECT_EQ(f.space->ready_blocks(), kBlocksPerMegabyte);
  // It grows again, by files of the same numbers.
  EXPECT_EQ(f.space->allocate(kBlocksPerMegabyte).value().file, 0u);
  EXPECT_EQ(f.space->allocate(kBlocksPerMegabyte).value().file, 1u);
}

TEST(ShrinkTest, WhatTheReserveNeedsStays) {
  Full f;
  f.release(0, f.extents.size());
  // 11 MB are free; without data.2 or data.3 there are 7.
  EXPECT_EQ(f.space->leave(7 * kBlocksPerMegabyte + 1, {}), std::optional<uint32_t>(1u));
  f.space->stay();
  EXPECT_EQ(f.space->leave(7 * kBlocksPerMegabyte, {}), std::optional<uint32_t>(3u));
  ASSERT_TRUE(f.space->remove_left().value());
  EXPECT_GE(f.space->ready_blocks(), 7u * kBlocksPerMegabyte);
  EXPECT_FALSE(f.space->leave(7 * kBlocksPerMegabyte, {}).has_value());
  EXPECT_EQ(f.space->leave(0, {2}), std::optional<uint32_t>(1u));
}

TEST(ShrinkTest, TheFileWithLeastToMoveGoes) {
  Full f;
  // data.1 holds 4 to 11, data.2 12 to 27, data.3 28 to 43.
  f.release(13, 28);
  f.release(30, 40);
  EXPECT_EQ(f.space->leave(kBlocksPerMegabyte, {}), std::optional<uint32_t>(2u));
  EXPECT_FALSE(f.space->remove_left().value());  // one extent is in use
  // Nothing is allocated from it, and what is released to it does not serve.
  const ExtentAddress moved = f.space->allocate(Full::kQuarter).value();
  EXPECT_EQ(moved.file, 3u);
  const uint64_t ready = f.space->ready_blocks();
  f.space->release(f.extents[12]);
  EXPECT_EQ(f.space->ready_blocks(), ready);
  EXPECT_TRUE(f.space->remove_left().value());
  EXPECT_EQ(f.names(), (std::vector<std::string>{"data.0", "data.1", "data.3"}));
  EXPECT_TRUE(holds(*f.space, f.extents[0], 0));
  EXPECT_TRUE(holds(*f.space, f.extents[43], 43));
  // Full files are not worth moving.
  EXPECT_FALSE(f.space->leave(0, {3}).has_value());
}

TEST(ShrinkTest, ItStaysWhenTheRestRunsShort) {
  Full f;
  f.release(28, f.extents.size());
  EXPECT_EQ(f.space->leave(0, {}), std::optional<uint32_t>(3u));
  EXPECT_EQ(f.space->ready_blocks(), 0u);
  EXPECT_EQ(f.space->allocate(10).value().file, 3u);  // and no file was added
  EXPECT_FALSE(f.space->leaving().has_value());
  EXPECT_EQ(f.names().size(), 4u);
  f.space->release({3, 0, 10});
  EXPECT_EQ(f.space->leave(0, {}), std::optional<uint32_t>(3u));
  must(f.space->keep_ready(100, 100));
  EXPECT_FALSE(f.space->leaving().has_value());
  EXPECT_EQ(f.names().size(), 4u);
}

TEST(ShrinkTest, ReadersOfARemovedFileAreTold) {
  Full f;
  os::File* const file = f.space->file(3);
  f.release(28, f.extents.size());
  ASSERT_TRUE(f.space->leave(0, {}).has_value());
  ASSERT_TRUE(f.space->remove_left().value());
  auto block = std::make_unique<Block>();
  EXPECT_TRUE(file->read_at(0, block->bytes).is(StatusCode::kCorruption));
  EXPECT_TRUE(file->size().status().is(StatusCode::kCorruption));
  EXPECT_TRUE(f.space->file(3)->read_at(0, block->bytes).is(StatusCode::kCorruption));
  must(f.space->sync());
  // Behind the same object stands the next file of that number.
  ASSERT_EQ(f.space->allocate(Full::kQuarter).value().file, 3u);
  EXPECT_EQ(f.space->file(3), file);
  must(file->read_at(0, block->bytes));
}

TEST(ShrinkTest, AFileThatCannotBeRemovedServesOn) {
  Full f;
  f.release(28, f.extents.size());
  ASSERT_TRUE(f.space->leave(0, {}).has_value());
  f.disk->fail(SimOp::kName, 1, StatusCode::kIoError);
  EXPECT_TRUE(f.space->remove_left().status().is(StatusCode::kIoError));
  EXPECT_FALSE(f.space->leaving().has_value());
  EXPECT_EQ(f.space->allocate(Full::kQuarter).value().file, 3u);
  EXPECT_EQ(f.names().size(), 4u);
}

// Whatever a crash leaves of a removal: what is in use is there, and a file that came back is free.
TEST(ShrinkTest, CrashesAroundARemoval) {
  for (const CrashKind kind :
       {CrashKind::kProcessKill, CrashKind::kPowerLoss, CrashKind::kPowerLossDrop}) {
    for (uint64_t stop = 1; stop <= 4; ++stop) {
      SCOPED_TRACE("operation " + std::to_string(stop));
      Full f;
      f.release(28, f.extents.size());
      ASSERT_TRUE(f.space->leave(0, {}).has_value());
      f.disk->stop_at(SimOp::kAny, stop);
      const Result<bool> removed = f.space->remove_left();
      EXPECT_TRUE(stop == 1 || (removed.ok() && *removed));
      f.crash(kind);
      f.space = f.open(small_files(), {f.extents.begin(), f.extents.begin() + 28});
      for (size_t i = 0; i < 28; ++i) EXPECT_TRUE(holds(*f.space, f.extents[i], i)) << i;
      EXPECT_EQ(f.space->allocate(Full::kQuarter).value().file, 3u);
    }
  }
}

TEST(ShrinkTest, AReaderLeavesEverything) {
  Full f;
  must(f.space->trim_files());
  auto reader = f.open({.read_only = true});
  EXPECT_FALSE(reader->leave(0, {}).has_value());
}

}  // namespace
}  // namespace hawthorn::space
