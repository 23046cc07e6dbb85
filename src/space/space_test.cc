#include "space/space.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "base/prng.h"
#include "os/test_point.h"
#include "space/space_test_support.h"

namespace hawthorn::space {
namespace {

TEST(SpaceTest, FilesDoubleUpToTheMaximum) {
  Fixture f;
  auto space = f.open();
  EXPECT_TRUE(f.names().empty());  // none before it is needed
  for (int i = 0; i < 12; ++i) must(space->allocate(kBlocksPerMegabyte).status());
  EXPECT_EQ(f.names(),
            (std::vector<std::string>{"data.0", "data.1", "data.2", "data.3", "data.4"}));
  EXPECT_EQ(f.size_of(0), kMegabyte);
  EXPECT_EQ(f.size_of(1), 2 * kMegabyte);
  EXPECT_EQ(f.size_of(2), 4 * kMegabyte);
  EXPECT_EQ(f.size_of(3), 4 * kMegabyte);
  EXPECT_EQ(space->used_blocks(), 12u * kBlocksPerMegabyte);
  EXPECT_EQ(space->allocated_bytes(), 15 * kMegabyte);
  EXPECT_EQ(space->largest_ready(), 3u * kBlocksPerMegabyte);
}

TEST(SpaceTest, FilesHaveAShareOfThoseBefore) {
  Fixture f;
  SpaceOptions options = small_files();
  options.file_share = 16;
  auto space = f.open(options);
  while (space->allocated_bytes() < 150 * kMegabyte) must(space->allocate(16).status());
  uint64_t before = 0;
  for (uint32_t number = 0; number < f.names().size(); ++number) {
    const uint64_t blocks = (before + kMegabyte) / os::kBlockBytes / 16;
    EXPECT_EQ(f.size_of(number), std::clamp(blocks * os::kBlockBytes, kMegabyte, 4 * kMegabyte))
        << number;
    before += f.size_of(number);
  }
  EXPECT_EQ(f.size_of(0), kMegabyte);
  EXPECT_EQ(f.size_of(static_cast<uint32_t>(f.names().size() - 1)), 4 * kMegabyte);
  EXPECT_EQ(before, space->allocated_bytes());
}

TEST(SpaceTest, AnExtentLargerThanAnyFileGetsOneOfItsOwn) {
  Fixture f;
  auto space = f.open();
  const ExtentAddress large = space->allocate(9 * kBlocksPerMegabyte).value();
  EXPECT_EQ(f.size_of(large.file), 9 * kMegabyte);
  write_extent(*space, large, 7);
  space = f.open(small_files(), {large});
  EXPECT_TRUE(holds(*space, large, 7));
  space->release(large);
  EXPECT_EQ(space->largest_ready(), 9u * kBlocksPerMegabyte);
}

TEST(SpaceTest, WhatALargeExtentLeavesInItsFileIsUsedAgain) {
  Fixture f;
  auto space = f.open();
  const ExtentAddress large = space->allocate(3 * kBlocksPerMegabyte).value();
  space->release(large);
  const ExtentAddress small = space->allocate(kBlocksPerMegabyte).value();
  // Without a clean close nothing says how large data.0 is, but the file itself.
  space = f.open(small_files(), {small});
  EXPECT_EQ(space->allocate(1).value(), (ExtentAddress{1, 0, 1}));
  space->release({1, 0, 1});
  must(space->trim_files());
  EXPECT_EQ(f.size_of(0), kMegabyte);
  space = f.open();
  const ExtentAddress again = space->allocate(3 * kBlocksPerMegabyte).value();
  EXPECT_EQ(again.file, 1u);
  space = f.open();  // data.1 is 3 MB, the options say 2
  EXPECT_EQ(space->allocate(2 * kBlocksPerMegabyte).value(),
            (ExtentAddress{1, 0, 2 * kBlocksPerMegabyte}));
  EXPECT_EQ(space->largest_ready(), kBlocksPerMegabyte);
  EXPECT_EQ(space->allocate(kBlocksPerMegabyte).value(),
            (ExtentAddress{1, 2 * kBlocksPerMegabyte, kBlocksPerMegabyte}));
  EXPECT_EQ(space->allocate(kBlocksPerMegabyte).value().file, 0u);
}

TEST(SpaceTest, ArgumentsAreChecked) {
  Fixture f;
  auto space = f.open();
  EXPECT_TRUE(space->allocate(0).status().is(StatusCode::kInvalidArgument));
  space->release({});
  must(space->mark_used(ExtentAddress{}));
  auto reader = f.open({.read_only = true});
  EXPECT_TRUE(reader->allocate(1).status().is(StatusCode::kReadOnly));
  EXPECT_TRUE(reader->trim_files().is(StatusCode::kReadOnly));
}

TEST(SpaceTest, OverlapsAndMissingFilesAreCorruption) {
  Fixture f;
  auto space = f.open();
  const ExtentAddress extent = space->allocate(10).value();
  space = f.open();
  must(space->mark_used(extent));
  const auto refused = [&](const ExtentAddress& other) {
    const Status status = space->mark_used(other);
    EXPECT_NE(status.message().find(data_file_name(other.file) + " at " +
                                    std::to_string(uint64_t{other.block} * 4096)),
              std::string::npos)
        << status.to_string();
    return status.is(StatusCode::kCorruption);
  };
  EXPECT_TRUE(refused(extent));
  EXPECT_TRUE(refused({0, extent.block + 9, 1}));
  EXPECT_TRUE(refused({0, extent.block + 9, 20}));
  EXPECT_TRUE(refused({0, 0, extent.block + 1}));
  EXPECT_TRUE(refused({1, 0, 1}));
  EXPECT_TRUE(refused({1u << 31, 0, 1}));
  EXPECT_TRUE(refused({0, 0xffffffff, 1}));
  EXPECT_TRUE(refused({0, 5, 0xffffffff}));
  must(space->mark_used(ExtentAddress{0, extent.block + 10, 1}));
}

TEST(SpaceTest, ManyExtentsMarkedAtOnce) {
  Fixture f;
  auto space = f.open();
  must(space->allocate(kBlocksPerMegabyte).status());
  must(space->allocate(1).status());
  const std::vector<ExtentAddress> extents = {{1, 0, 7}, {0, 20, 4},  {0, 3, 5}, {0, 8, 2},
                                              {},        {0, 250, 6}, {0, 24, 1}};
  space = f.open(small_files(), extents);
  EXPECT_EQ(space->used_blocks(), 25u);
  EXPECT_EQ(space->free_ranges(),
            (std::vector<ExtentAddress>{{0, 0, 3}, {0, 10, 10}, {0, 25, 225}, {1, 7, 505}}));
  // Twice in one list, overlapping in one list, and one that was marked before.
  const auto refused = [&](std::vector<ExtentAddress> list) {
    auto fresh = f.open(small_files(), {{0, 100, 5}});
    return fresh->mark_used(std::move(list)).is(StatusCode::kCorruption);
  };
  EXPECT_TRUE(refused({{0, 3, 5}, {1, 0, 7}, {0, 3, 5}}));
  EXPECT_TRUE(refused({{0, 3, 5}, {0, 7, 5}}));
  EXPECT_TRUE(refused({{0, 3, 5}, {0, 8, 100}}));
  EXPECT_TRUE(refused({{0, 3, 5}, {0, 104, 1}}));
  EXPECT_TRUE(refused({{0, 3, 5}, {2, 0, 1}}));
  EXPECT_TRUE(refused({{0, 3, 0xfffffffe}, {0, 4, 0xffffffff}}));
  EXPECT_FALSE(refused({{0, 95, 5}, {0, 105, 1}}));
}

TEST(SpaceTest, ASecondReleaseGivesNothing) {
  Fixture f;
  auto space = f.open();
  const ExtentAddress extent = space->allocate(10).value();
  must(space->allocate(10).status());
  space->release(extent);
  for (const ExtentAddress& wrong :
       {extent, ExtentAddress{0, 500, 1}, ExtentAddress{5, 0, 1}, ExtentAddress{0, 250, 10}}) {
    EXPECT_DEBUG_DEATH(space->release(wrong), "not in use");
  }
  EXPECT_EQ(space->used_blocks(), 10u);
  // Nor does what was free when the files were opened.
  space = f.open(small_files(), {extent});
  EXPECT_DEBUG_DEATH(space->release({0, 100, 5}), "not in use");
  EXPECT_EQ(space->used_blocks(), 10u);
}

// Live extents never overlap, free and live ranges together make up the files, and a reopen from
// the live ones gives the same.
TEST(SpaceTest, RandomAgainstAModel) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Fixture f(seed);
    Prng prng(seed);
    auto space = f.open();
    std::vector<std::pair<ExtentAddress, uint64_t>> live;
    uint64_t mark = 0;
    for (int round = 0; round < 1500; ++round) {
      if (live.empty() || prng.below(100) < (round % 500 < 250 ? 60 : 40)) {
        const auto blocks = static_cast<uint32_t>(1 + prng.below(prng.one_in(20) ? 250 : 40));
        Result<ExtentAddress> extent = space->allocate(blocks);
        must(extent.status());
        ASSERT_EQ(extent->blocks, blocks);
        live.emplace_back(*extent, ++mark);
        write_extent(*space, *extent, mark);
      } else {
        const size_t at = prng.below(live.size());
        ASSERT_TRUE(holds(*space, live[at].first, live[at].second));
        space->release(live[at].first);
        live[at] = live.back();
        live.pop_back();
      }
      if (prng.one_in(20)) {
        static_cast<void>(space->leave(prng.below(600), {}));
        must(space->remove_left().status());
        if (prng.one_in(10)) space->stay();
      }
      if (!prng.one_in(100)) continue;
      std::vector<ExtentAddress> used;
      for (const auto& [extent, its_mark] : live) used.push_back(extent);
      must(space->sync());
      if (prng.one_in(2)) must(space->trim_files());
      const auto free_before = space->free_ranges();
      if (prng.one_in(2)) {
        space = f.open(small_files(), used);
        if (!used.empty()) {
          EXPECT_EQ(space->free_ranges(), free_before);
        }
      }
      uint64_t blocks = 0;
      for (const ExtentAddress& extent : used) blocks += extent.blocks;
      ASSERT_EQ(space->used_blocks(), blocks);
      for (const ExtentAddress& range : space->free_ranges()) used.push_back(range);
      std::sort(used.begin(), used.end());
      for (size_t i = 1; i < used.size(); ++i) {
        const bool starts_file = used[i].file != used[i - 1].file;
        ASSERT_EQ(used[i].block, starts_file ? 0 : used[i - 1].block + used[i - 1].blocks);
      }
      for (const auto& [extent, its_mark] : live) ASSERT_TRUE(holds(*space, extent, its_mark));
    }
  }
}

TEST(SpaceTest, TrimCutsTailsRemovesEmptyFilesAndPunchesHoles) {
  Fixture f;
  auto space = f.open();
  std::vector<ExtentAddress> extents;
  for (int i = 0; i < 6; ++i) extents.push_back(space->allocate(kBlocksPerMegabyte / 2).value());
  // data.0 holds 0 and 1, data.1 holds 2 to 5.
  write_extent(*space, extents[1], 1);
  write_extent(*space, extents[3], 3);
  for (const size_t i : {size_t{0}, size_t{2}, size_t{4}, size_t{5}}) space->release(extents[i]);
  must(space->trim_files());
  EXPECT_EQ(f.size_of(0), kMegabyte);
  EXPECT_EQ(f.size_of(1), kMegabyte);
  EXPECT_EQ(space->allocated_bytes(), kMegabyte);  // the rest is holes
  space = f.open(small_files(), {extents[1], extents[3]});
  EXPECT_TRUE(holds(*space, extents[1], 1));
  EXPECT_TRUE(holds(*space, extents[3], 3));
  // Reading gave no space back; the first allocation does, before its extent is handed out.
  EXPECT_EQ(space->allocated_bytes(), kMegabyte);
  const ExtentAddress again = space->allocate(kBlocksPerMegabyte / 2).value();
  EXPECT_EQ(again.file, 0u);
  EXPECT_EQ(space->allocated_bytes(), kMegabyte + kMegabyte / 2);
  EXPECT_EQ(space->allocate(kBlocksPerMegabyte).value().file, 1u);
  EXPECT_EQ(f.size_of(1), 2 * kMegabyte);
  EXPECT_TRUE(holds(*space, extents[1], 1));
  EXPECT_TRUE(holds(*space, extents[3], 3));
}

TEST(SpaceTest, TrimOfNothingLeavesNothing) {
  Fixture f;
  auto space = f.open();
  std::vector<ExtentAddress> extents;
  for (int i = 0; i < 5; ++i) extents.push_back(space->allocate(kBlocksPerMegabyte).value());
  const ExtentAddress kept = extents.front();
  for (size_t i = 1; i < extents.size(); ++i) space->release(extents[i]);
  must(space->trim_files());
  EXPECT_EQ(f.names(), (std::vector<std::string>{"data.0"}));
  // It goes on after a trim as well.
  EXPECT_EQ(space->allocate(5).value().file, 1u);
  space->release({1, 0, 5});
  space->release(kept);
  must(space->trim_files());
  EXPECT_TRUE(f.names().empty());
  must(space->allocate(5).status());
}

TEST(SpaceTest, AFullDiskIsReportedAndChangesNothing) {
  Fixture f;
  auto space = f.open();
  const ExtentAddress first = space->allocate(200).value();
  f.disk->set_capacity(f.disk->used_bytes() + 100 * 4096);
  EXPECT_TRUE(space->allocate(300).status().is(StatusCode::kNoSpace));
  EXPECT_EQ(f.names(), (std::vector<std::string>{"data.0"}));
  EXPECT_EQ(space->used_blocks(), 200u);
  EXPECT_EQ(space->largest_ready(), 56u);
  must(space->allocate(56).status());
  EXPECT_TRUE(space->allocate(1).status().is(StatusCode::kNoSpace));
  space->release(first);
  EXPECT_EQ(space->allocate(200).value(), first);
  // A smaller file than usual, when that is what the disk has.
  f.disk->set_capacity(f.disk->used_bytes() + kMegabyte + kMegabyte / 2);
  EXPECT_EQ(space->allocate(256).value(), (ExtentAddress{1, 0, 256}));
  EXPECT_EQ(f.size_of(1), kMegabyte);
  f.disk->set_capacity(0);
  EXPECT_EQ(space->allocate(10).value().file, 2u);
}

// What a failed attempt leaves behind is not in the way of the next one.
TEST(SpaceTest, AFileThatCouldNotBeRemovedIsMadeAnew) {
  Fixture f;
  auto space = f.open();
  must(space->allocate(256).status());
  f.disk->set_capacity(f.disk->used_bytes());
  f.disk->fail_path("data.1", SimOp::kName, 2, StatusCode::kIoError);  // the creation is the first
  EXPECT_TRUE(space->allocate(1).status().is(StatusCode::kNoSpace));
  EXPECT_EQ(f.names(), (std::vector<std::string>{"data.0", "data.1"}));
  f.disk->set_capacity(0);
  EXPECT_EQ(space->allocate(10).value().file, 1u);
}

// After a clean close the holes have gone to others; what still has its space can be used.
#if defined(HAWTHORN_TEST_POINTS)
// Each of two inserts finds enough for itself alone.
TEST(SpaceTest, TwoInsertsDoNotTakeOfTheReserveWhatOneMay) {
  Fixture f;
  auto space = f.open();
  must(space->keep_ready(250, 100));
  f.disk->set_capacity(f.disk->used_bytes());
  const uint64_t ready = space->ready_blocks();
  space->reserve(ready - 100, 1);
  Status other;
  os::set_test_point("space.insert.before_take", [&] {
    os::set_test_point("space.insert.before_take", {});
    other = space->allocate(100, Use::kInsert).status();
  });
  const Status status = space->allocate(100, Use::kInsert).status();
  os::clear_test_points();
  must(other);
  EXPECT_TRUE(status.is(StatusCode::kNoSpace)) << status.to_string();
  EXPECT_EQ(space->ready_blocks(), ready - 100);
  must(space->allocate(100).status());  // a flush may take of it
}
#endif

// What is free in ranges that are too small for a flush is none of the reserve, and flushes may
// take it.
TEST(SpaceTest, SmallRangesDoNotCount) {
  Fixture f;
  auto space = f.open();
  must(space->keep_ready(400, 400));
  f.disk->set_capacity(f.disk->used_bytes());
  std::vector<ExtentAddress> extents;
  for (auto extent = space->allocate(4); extent.ok(); extent = space->allocate(4)) {
    extents.push_back(*extent);
  }
  const size_t small = extents.size() / 2;
  for (size_t i = 0; i < small; i += 2) space->release(extents[i]);
  space->reserve(0, 8);
  EXPECT_EQ(space->ready_blocks(), 100u);
  EXPECT_EQ(space->ready_in_ranges(~uint64_t{0}), 0u);
  EXPECT_TRUE(space->keep_ready(4, 4).is(StatusCode::kNoSpace));
  for (size_t i = small + 1; i < small + 21; ++i) space->release(extents[i]);
  EXPECT_EQ(space->ready_in_ranges(~uint64_t{0}), 80u);
  EXPECT_EQ(space->ready_in_ranges(50), 50u);
  must(space->keep_ready(80, 80));
  space->reserve(40, 8);
  must(space->allocate(40, Use::kInsert).status());
  EXPECT_TRUE(space->allocate(8, Use::kInsert).status().is(StatusCode::kNoSpace));
  must(space->allocate(40).status());
  must(space->allocate(4).status());
}

// A full disk is asked for as much, or more, only when it has more space than before, or after a
// while: to find that out takes it long.
TEST(SpaceTest, AFullDiskIsNotAskedAgainAndAgain) {
  Fixture f;
  auto space = f.open();
  must(space->keep_ready(100, 100));
  f.disk->set_capacity(f.disk->used_bytes());
  Status status;
  while (status.ok()) status = space->allocate(3).status();
  EXPECT_TRUE(status.is(StatusCode::kNoSpace)) << status.to_string();
  const uint64_t allocations = f.disk->counters().allocates;
  for (uint32_t blocks = 3; blocks < 100; ++blocks) {
    EXPECT_TRUE(space->allocate(blocks).status().is(StatusCode::kNoSpace));
  }
  EXPECT_EQ(f.disk->counters().allocates, allocations);
  f.disk->set_capacity(f.disk->used_bytes() + (uint64_t{1} << 20));
  must(space->allocate(3).status());
}

TEST(SpaceTest, ThreadsThatInsertLeaveTheReserve) {
  for (uint64_t round = 0; round < 20; ++round) {
    Fixture f(round);
    auto space = f.open();
    must(space->keep_ready(2000, 10));
    f.disk->set_capacity(f.disk->used_bytes());
    const uint64_t reserved = space->ready_blocks() - 100;
    space->reserve(reserved, 1);
    std::atomic<uint64_t> taken{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        while (space->allocate(3, Use::kInsert).ok()) taken += 3;
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(taken, 99u);
    EXPECT_EQ(space->ready_blocks(), reserved + 1);
  }
}

TEST(SpaceTest, AFullDiskAfterATrim) {
  Fixture f;
  auto space = f.open();
  std::vector<ExtentAddress> extents;
  for (int i = 0; i < 3; ++i) extents.push_back(space->allocate(kBlocksPerMegabyte).value());
  write_extent(*space, extents[2], 2);
  space->release(extents[0]);
  space->release(extents[1]);
  must(space->trim_files());
  f.disk->set_capacity(f.disk->used_bytes());
  space = f.open(small_files(), {extents[2]});
  EXPECT_TRUE(space->allocate(100).status().is(StatusCode::kNoSpace));
  EXPECT_TRUE(holds(*space, extents[2], 2));
  f.disk->set_capacity(f.disk->used_bytes() + 30 * 4096);
  const ExtentAddress small = space->allocate(30).value();
  write_extent(*space, small, 4);
  EXPECT_TRUE(space->allocate(1).status().is(StatusCode::kNoSpace));
  // What a live extent leaves is backed at once.
  space->release(extents[2]);
  write_extent(*space, space->allocate(kBlocksPerMegabyte).value(), 5);
  EXPECT_TRUE(holds(*space, small, 4));
}

// Whatever allocate returned can be written, however full the disk is by then.
TEST(SpaceTest, ExtentsAreBackedWhenTheyAreHandedOut) {
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Fixture f(seed);
    Prng prng(seed);
    auto space = f.open();
    std::vector<ExtentAddress> live;
    for (int round = 0; round < 100; ++round) {
      f.disk->set_capacity(prng.one_in(3) ? 0 : f.disk->used_bytes() + prng.below(kMegabyte * 2));
      Result<ExtentAddress> extent =
          space->allocate(static_cast<uint32_t>(1 + prng.below(prng.one_in(3) ? 400 : 50)));
      if (extent.ok()) {
        f.disk->set_capacity(f.disk->used_bytes());
        write_extent(*space, *extent, 1);
        live.push_back(*extent);
      } else {
        ASSERT_TRUE(extent.status().is(StatusCode::kNoSpace)) << extent.status().to_string();
      }
      while (!live.empty() && prng.one_in(2)) {
        space->release(live.back());
        live.pop_back();
      }
      if (!prng.one_in(10)) continue;
      must(space->trim_files());
      space = f.open(small_files(), live);
    }
  }
}

TEST(SpaceTest, ANewFileIsDurableBeforeItsFirstExtent) {
  for (const CrashKind kind : {CrashKind::kPowerLoss, CrashKind::kPowerLossDrop}) {
    Fixture f;
    auto space = f.open();
    const ExtentAddress extent = space->allocate(10).value();
    const auto at_once = f.disk->after_crash(1, kind);
    EXPECT_EQ((*at_once->open_file("/db/data.0", {}))->size().value(), kMegabyte);
    write_extent(*space, extent, 3);
    must(space->sync());
    space.reset();
    f.crash(kind);
    EXPECT_EQ(f.names(), (std::vector<std::string>{"data.0"}));
    EXPECT_EQ(f.size_of(0), kMegabyte);
    space = f.open(small_files(), {extent});
    EXPECT_TRUE(holds(*space, extent, 3));
  }
}

TEST(SpaceTest, SizeAfterATrimIsDurableWithTheDataInIt) {
  Fixture f;
  auto space = f.open();
  const ExtentAddress first = space->allocate(10).value();
  write_extent(*space, first, 1);
  must(space->trim_files());
  EXPECT_EQ(f.size_of(0), 10u * 4096);
  space = f.open(small_files(), {first});
  const ExtentAddress second = space->allocate(10).value();
  write_extent(*space, second, 2);
  must(space->sync());
  f.crash(CrashKind::kPowerLossDrop);
  space = f.open(small_files(), {first, second});
  EXPECT_TRUE(holds(*space, first, 1));
  EXPECT_TRUE(holds(*space, second, 2));
}

TEST(SpaceTest, SyncsOnlyWhatWasWrittenAndAFailureIsFinal) {
  Fixture f;
  auto space = f.open();
  const ExtentAddress extent = space->allocate(10).value();
  must(space->sync());
  const uint64_t before = f.disk->counters().syncs;
  must(space->sync());
  EXPECT_EQ(f.disk->counters().syncs, before);
  write_extent(*space, extent, 1);
  must(space->sync());
  EXPECT_EQ(f.disk->counters().syncs, before + 1);
  write_extent(*space, extent, 2);
  f.disk->fail(SimOp::kSync, 1, StatusCode::kIoError);
  EXPECT_TRUE(space->sync().is(StatusCode::kIoError));
  EXPECT_TRUE(space->sync().is(StatusCode::kIoError));
}

TEST(SpaceTest, FallsBackThoughTheProbeFailsOnce) {
  Fixture f;
  f.disk->set_direct_supported(false);
  f.disk->fail(SimOp::kOpen, 1, StatusCode::kIoError);
  auto space = f.open(small_files());
  EXPECT_EQ(f.disk->counters().faults, 1U);
  EXPECT_FALSE(space->direct());
  must(space->allocate(1).status());
}

TEST(SpaceTest, FallsBackToBufferedFilesUnlessDirectIsRequired) {
  Fixture f;
  f.disk->set_direct_supported(false);
  SpaceOptions options = small_files();
  auto space = f.open(options);
  EXPECT_FALSE(space->direct());
  must(space->allocate(1).status());
  EXPECT_FALSE(space->file(0)->direct());
  for (int present = 0; present < 2; ++present) {
    options.direct_required = true;
    EXPECT_TRUE(
        Space::open(f.sim->machine(), kDirectory, options).status().is(StatusCode::kNotSupported));
    must(f.disk->remove("/db/data.0"));
    EXPECT_TRUE(f.names().empty());
    must(f.disk->make_directory(kDirectory));
    options.direct_required = false;
    space = f.open(options);
    must(space->allocate(1).status());
  }
  f.disk->set_direct_supported(true);
  space = f.open();
  EXPECT_TRUE(space->direct());
  EXPECT_TRUE(space->file(0)->direct());
  options.direct = false;
  space.reset();
  space = f.open(options);
  EXPECT_FALSE(space->direct());
  EXPECT_FALSE(space->file(0)->direct());
}

TEST(SpaceTest, AFileThatCannotBeOpenedSaysSoWhereItIsUsed) {
  Fixture f;
  auto space = f.open();
  const ExtentAddress extent = space->allocate(10).value();
  write_extent(*space, extent, 1);
  must(space->sync());
  space = f.open(small_files(), {extent});
  f.disk->fail(SimOp::kOpen, 1, StatusCode::kIoError);
  auto block = std::make_unique<Block>();
  os::File* const failed = space->file(0);
  EXPECT_TRUE(failed->read_at(0, block->bytes).is(StatusCode::kIoError));
  // It is tried again; the old pointer stays valid.
  must(space->file(0)->read_at(0, block->bytes));
  EXPECT_TRUE(failed->read_at(0, block->bytes).is(StatusCode::kIoError));
  EXPECT_TRUE(space->file(3)->read_at(0, block->bytes).is(StatusCode::kCorruption));
  EXPECT_TRUE(space->file(~uint32_t{0})->size().status().is(StatusCode::kCorruption));
}

// Where nobody has opened the file since the database was. What is handed out can be written to.
TEST(SpaceTest, WhatWasReleasedInAFileThatCannotBeOpened) {
  Fixture f;
  auto space = f.open();
  const ExtentAddress extent = space->allocate(kBlocksPerMegabyte).value();
  write_extent(*space, extent, 1);
  must(space->sync());
  for (const auto use : {Use::kFlush, Use::kInsert}) {
    SCOPED_TRACE(static_cast<int>(use));
    space = f.open(small_files(), {extent});
    space->release(extent);
    const uint64_t ready = space->ready_blocks();
    ASSERT_GE(ready, 10u);
    f.disk->fail_path("data.0", SimOp::kOpen, 1, StatusCode::kNoSpace, true);
    EXPECT_TRUE(space->allocate(10, use).status().is(StatusCode::kNoSpace));
    EXPECT_EQ(space->used_blocks(), 0u);
    EXPECT_EQ(space->ready_blocks(), ready);
    f.disk->clear_faults();
    const Result<ExtentAddress> taken = space->allocate(10, use);
    must(taken.status());
    EXPECT_EQ(taken->file, 0u);
    write_extent(*space, *taken, 2);
    must(space->sync());
    EXPECT_TRUE(holds(*space, *taken, 2));
  }
}

// Attack 39: the lock of a killed process is held until its writes in flight have landed.
TEST(SpaceTest, AFileIsLockedBeforeItIsUsedForWriting) {
  Fixture f;
  auto space = f.open();
  const ExtentAddress extent = space->allocate(10).value();
  auto other = f.disk->open_file("/db/data.0", {.locks = true}).value();
  EXPECT_TRUE(other->lock_exclusive().is(StatusCode::kBusy));
  space.reset();
  must(other->lock_exclusive());
  space = f.open(small_files(), {extent});
  EXPECT_TRUE(space->allocate(10).status().is(StatusCode::kBusy));
  EXPECT_TRUE(space->file(0)->sync_data().is(StatusCode::kBusy));
  auto reader = f.open({.read_only = true}, {extent});
  must(reader->file(0)->size().status());
  other.reset();
  must(space->allocate(10).status());
}

TEST(SpaceTest, ThreadsNeverGetTheSameBlock) {
  Fixture f;
  auto space = f.open();
  const auto work = [&](uint64_t seed) {
    Prng prng(seed);
    std::vector<ExtentAddress> live;
    for (uint64_t i = 0; i < 400; ++i) {
      Result<ExtentAddress> extent = space->allocate(static_cast<uint32_t>(1 + prng.below(60)));
      ASSERT_TRUE(extent.ok());
      const uint64_t mark = seed << 32 | i;
      write_extent(*space, *extent, mark);
      live.push_back(*extent);
      if (prng.one_in(50)) must(space->sync());
      ASSERT_TRUE(holds(*space, *extent, mark));
      if (prng.one_in(3)) continue;
      space->release(live.back());
      live.pop_back();
    }
    for (const ExtentAddress& extent : live) space->release(extent);
  };
  std::vector<std::thread> threads;
  for (uint64_t seed = 1; seed <= 4; ++seed) threads.emplace_back(work, seed);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(space->used_blocks(), 0u);
  must(space->trim_files());
  EXPECT_TRUE(f.names().empty());
}

TEST(SpaceTest, WorksOnTheRealFileSystem) {
  std::string directory = (std::filesystem::temp_directory_path() / "hawthorn_XXXXXX").string();
  ASSERT_NE(mkdtemp(directory.data()), nullptr);
  std::vector<ExtentAddress> live;
  for (int open = 0; open < 3; ++open) {
    auto space = Space::open(os::real_machine(), directory, small_files());
    must(space.status());
    for (const ExtentAddress& extent : live) must((*space)->mark_used(extent));
    for (size_t i = 0; i < live.size(); ++i) EXPECT_TRUE(holds(**space, live[i], i));
    for (int i = 0; i < 10; ++i) {
      live.push_back((*space)->allocate(static_cast<uint32_t>(20 + i)).value());
      write_extent(**space, live.back(), live.size() - 1);
    }
    must((*space)->sync());
    must((*space)->trim_files());
  }
  std::filesystem::remove_all(directory);
}

TEST(SpaceTest, NamesOfFiles) {
  for (const char* name : {"data.0", "data.1", "data.16383", "data.probe"}) {
    EXPECT_TRUE(is_data_file(name)) << name;
  }
  for (const char* name : {"", "data", "data.", "data.01", "data.16384", "data.99999999999",
                           "data.1x", "manifest.1", "data.-1"}) {
    EXPECT_FALSE(is_data_file(name)) << name;
  }
}

}  // namespace
}  // namespace hawthorn::space
