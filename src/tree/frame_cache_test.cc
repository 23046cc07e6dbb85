#include "tree/frame_cache.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <vector>

#include "base/prng.h"
#include "os/epoch.h"

namespace hawthorn::tree {
namespace {

constexpr size_t kFrame = FrameCache::kFrameBytes;

// Frames over an arena of their own, and extents that are only names.
class FrameCacheTest : public ::testing::Test {
 protected:
  static constexpr uint32_t kBlocks = 4096;

  void SetUp() override {
    arena_ = std::move(os::Arena::create(size_t{64} << 20)).value();
    frames_ = std::make_unique<FrameCache>(arena_.get());
    extent_ = make_extent(0);
  }
  void TearDown() override {
    for (auto& extent : extents_) frames_->forget(*extent);
    os::epoch::drain();
    frames_.reset();
    EXPECT_EQ(arena_->used(os::Quota::kFrames), 0u);
  }

  Extent* make_extent(uint32_t at) {
    extents_.push_back(
        std::make_unique<Extent>(nullptr, ExtentAddress{1, at, kBlocks}, kBlocks * 4096, false));
    return extents_.back().get();
  }
  void grow() {
    char* slab = arena_->allocate(os::Quota::kFrames, frames_->slab_bytes());
    ASSERT_NE(slab, nullptr);
    frames_->grow(slab);
  }
  static uint64_t stamp_of(const Extent& extent, uint32_t block) {
    return uint64_t{extent.address.block} << 32 | block;
  }
  // As a reader does: looks, and reads what is not there. True: it was there.
  bool read(Extent& extent, uint32_t block) {
    {
      const os::epoch::Guard guard;
      if (const char* bytes = frames_->find(extent, block); bytes != nullptr) {
        uint64_t stamp = 0;
        std::memcpy(&stamp, bytes, sizeof stamp);
        EXPECT_EQ(stamp, stamp_of(extent, block));
        return true;
      }
    }
    const uint32_t frame = frames_->take();
    EXPECT_NE(frame, FrameCache::kNone);
    if (frame == FrameCache::kNone) return false;
    const uint64_t stamp = stamp_of(extent, block);
    std::memcpy(frames_->memory(frame), &stamp, sizeof stamp);
    frames_->publish(extent, block, frame);
    return false;
  }
  uint32_t slab_frames() const { return static_cast<uint32_t>(frames_->slab_bytes() / kFrame); }

  std::unique_ptr<os::Arena> arena_;
  std::unique_ptr<FrameCache> frames_;
  std::vector<std::unique_ptr<Extent>> extents_;
  Extent* extent_ = nullptr;
};

TEST_F(FrameCacheTest, WithoutASlabThereAreNoFrames) {
  EXPECT_TRUE(frames_->wants_slab());
  EXPECT_EQ(frames_->take(), FrameCache::kNone);
}

TEST_F(FrameCacheTest, ABlockIsFoundUntilOthersTakeItsPlace) {
  grow();
  EXPECT_FALSE(read(*extent_, 7));
  EXPECT_TRUE(read(*extent_, 7));
  EXPECT_EQ(frames_->hits(), 1u);
  EXPECT_EQ(frames_->misses(), 1u);
  for (uint32_t block = 100; block < 100 + 4 * slab_frames(); ++block) read(*extent_, block);
  EXPECT_LE(frames_->frames_used(), slab_frames());
}

TEST_F(FrameCacheTest, ASecondCopyOfABlockIsGivenBack) {
  grow();
  const uint32_t first = frames_->take();
  const uint32_t second = frames_->take();
  frames_->publish(*extent_, 3, first);
  frames_->publish(*extent_, 3, second);
  EXPECT_EQ(frames_->frames_used(), 1u);
  const os::epoch::Guard guard;
  EXPECT_EQ(frames_->find(*extent_, 3), frames_->memory(first));
}

TEST_F(FrameCacheTest, AScanDoesNotPushOutWhatIsReadAgain) {
  grow();
  const uint32_t hot = slab_frames() / 2;
  for (int round = 0; round < 3; ++round) {
    for (uint32_t block = 0; block < hot; ++block) read(*extent_, block);
  }
  Extent* scanned = make_extent(100000);
  for (uint32_t block = 0; block < 3 * slab_frames(); ++block) {
    read(*scanned, block);
    if (block % 8 == 0) read(*extent_, block / 8 % hot);
  }
  uint32_t kept = 0;
  for (uint32_t block = 0; block < hot; ++block) kept += read(*extent_, block) ? 1 : 0;
  EXPECT_GT(kept, hot / 4 * 3);
}

TEST_F(FrameCacheTest, BlocksThatComeBackSoonAreGhostHits) {
  grow();
  // A little more than there is room for, again and again: what a larger cache would have had.
  const uint32_t blocks = slab_frames() + slab_frames() / 4;
  for (int round = 0; round < 4; ++round) {
    for (uint32_t block = 0; block < blocks; ++block) read(*extent_, block);
  }
  EXPECT_GT(frames_->ghost_hits(), slab_frames() / 4);
  // Far more than that: none of them comes back in time.
  const uint64_t before = frames_->ghost_hits();
  Extent* other = make_extent(200000);
  for (int round = 0; round < 2; ++round) {
    for (uint32_t block = 0; block < 8 * slab_frames(); ++block) read(*other, block % kBlocks);
  }
  EXPECT_LT(frames_->ghost_hits() - before, slab_frames());
}

TEST_F(FrameCacheTest, WhatAReaderSeesStaysUntilItsGuardEnds) {
  grow();
  read(*extent_, 5);
  const os::epoch::Guard guard;
  const char* bytes = frames_->find(*extent_, 5);
  ASSERT_NE(bytes, nullptr);
  // All frames but those that wait for this guard can be had; the cache says so instead of waiting.
  for (uint32_t block = 50; block < 50 + 3 * slab_frames(); ++block) {
    const uint32_t frame = frames_->take();
    if (frame == FrameCache::kNone) break;
    std::memset(frames_->memory(frame), 0xff, kFrame);
    frames_->publish(*extent_, block, frame);
  }
  uint64_t stamp = 0;
  std::memcpy(&stamp, bytes, sizeof stamp);
  EXPECT_EQ(stamp, stamp_of(*extent_, 5));
}

// A thread that sleeps inside a guard must not stop the others at once.
TEST_F(FrameCacheTest, FramesAreEvictedAheadOfAGuardThatLasts) {
  for (int i = 0; i < 4; ++i) grow();
  const uint32_t frames = 4 * slab_frames();
  for (uint32_t block = 0; block < frames; ++block) read(*extent_, block);
  for (uint32_t block = 0; block < frames; ++block) read(*extent_, block % 7);
  Extent* other = make_extent(600000);
  for (uint32_t block = 0; block < 100; ++block) read(*other, block);
  os::epoch::collect();
  const os::epoch::Guard guard;
  uint32_t got = 0;
  while (got < frames && frames_->take() != FrameCache::kNone) ++got;
  EXPECT_GE(got, frames / 64);
  EXPECT_LT(got, frames / 2);
}

TEST_F(FrameCacheTest, SlabsGoBackToTheArena) {
  for (int i = 0; i < 4; ++i) grow();
  for (uint32_t block = 0; block < 3 * slab_frames(); ++block) read(*extent_, block);
  const uint32_t taken = frames_->take();
  EXPECT_EQ(frames_->shrink(~size_t{0}), 4 * frames_->slab_bytes());
  EXPECT_EQ(frames_->frames_used(), 0u);
  os::epoch::drain();
  EXPECT_EQ(frames_->collect(), 3 * frames_->slab_bytes()) << "one frame is being read";
  frames_->give_back(taken);
  EXPECT_EQ(frames_->collect(), frames_->slab_bytes());
  EXPECT_FALSE(frames_->shrinking());
  EXPECT_EQ(frames_->take(), FrameCache::kNone);
  grow();
  EXPECT_FALSE(read(*extent_, 1));
  EXPECT_TRUE(read(*extent_, 1));
}

TEST_F(FrameCacheTest, AFramePublishedIntoALeavingSlabIsFreed) {
  grow();
  const uint32_t taken = frames_->take();
  frames_->shrink(1);
  frames_->publish(*extent_, 9, taken);
  EXPECT_EQ(frames_->frames_used(), 0u);
  os::epoch::drain();
  EXPECT_EQ(frames_->collect(), frames_->slab_bytes());
}

TEST_F(FrameCacheTest, AnExtentTakesItsFramesWithIt) {
  grow();
  Extent* other = make_extent(300000);
  for (uint32_t block = 0; block < slab_frames() / 2; ++block) {
    read(*extent_, block);
    read(*other, block);
  }
  const size_t used = frames_->frames_used();
  frames_->forget(*extent_);
  delete extent_->frames.exchange(nullptr);
  EXPECT_LT(frames_->frames_used(), used);
  EXPECT_TRUE(read(*other, slab_frames() / 2 - 1));
  EXPECT_FALSE(read(*extent_, 0));
}

// Against a model of what may be there: whatever is found is right, and the counts add up.
TEST_F(FrameCacheTest, RandomSteps) {
  Prng prng(4711);
  std::vector<Extent*> all{extent_, make_extent(400000), make_extent(500000)};
  int slabs = 0;
  for (int step = 0; step < 60000; ++step) {
    if (prng.one_in(2000) && slabs < 6) {
      grow();
      ++slabs;
    } else if (prng.one_in(5000) && slabs > 1) {
      frames_->shrink(1);
      os::epoch::collect();
      --slabs;
    } else if (slabs > 0) {
      // Skewed, so that there are hits.
      const auto block = static_cast<uint32_t>(prng.below(prng.below(kBlocks) + 1));
      read(*all[prng.below(all.size())], block);
    }
    if (prng.one_in(64)) frames_->collect();
  }
  EXPECT_GT(frames_->hits(), 1000u);
  EXPECT_GT(frames_->ghost_hits(), 0u);
}

}  // namespace
}  // namespace hawthorn::tree
