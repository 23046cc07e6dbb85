#include "os/arena_block.h"

#include <gtest/gtest.h>

#include <memory>

namespace hawthorn::os {
namespace {

TEST(ArenaBlock, LargeOnesCountSmallOnesLieOnTheHeap) {
  const std::unique_ptr<Arena> arena = std::move(Arena::create(size_t{8} << 20)).value();
  char* small = allocate_block(arena.get(), Quota::kOther, kArenaBlockBytes - 1);
  EXPECT_EQ(arena->used(), 0u);
  char* large = allocate_block(arena.get(), Quota::kOther, kArenaBlockBytes);
  EXPECT_EQ(arena->used(Quota::kOther), kArenaBlockBytes);
  char* alone = allocate_block(nullptr, Quota::kOther, size_t{1} << 20);
  alone[0] = small[0] = large[0] = 1;
  release_block(nullptr, Quota::kOther, alone, size_t{1} << 20);
  release_block(arena.get(), Quota::kOther, small, kArenaBlockBytes - 1);
  release_block(arena.get(), Quota::kOther, large, kArenaBlockBytes);
  EXPECT_EQ(arena->used(), 0u);
}

TEST(ArenaBlock, ListsGrowThroughItAndAreReleased) {
  const std::unique_ptr<Arena> arena = std::move(Arena::create(size_t{8} << 20)).value();
  ArenaVector<uint64_t> list{ArenaAllocator<uint64_t>(arena.get())};
  for (uint64_t i = 0; i < 100'000; ++i) list.push_back(i);
  EXPECT_GE(arena->used(Quota::kMerge), 800'000u);
  for (uint64_t i = 0; i < 100'000; ++i) ASSERT_EQ(list[i], i);
  list.clear();
  EXPECT_GE(arena->used(Quota::kMerge), 800'000u);
  release(list);
  EXPECT_EQ(arena->used(), 0u);
  list.push_back(1);
  EXPECT_EQ(list.front(), 1u);
}

// Beyond the budget, but what lies free goes back to the kernel for it.
TEST(ArenaBlock, IsThereAlsoWhereTheBudgetIsUsed) {
  const std::unique_ptr<Arena> arena = std::move(Arena::create(size_t{8} << 20)).value();
  std::vector<char*> spans;
  while (char* span = arena->allocate(Quota::kDelta, size_t{256} << 10)) spans.push_back(span);
  for (size_t i = 0; i < spans.size(); i += 4) {
    arena->release(Quota::kDelta, spans[i], size_t{256} << 10);
  }
  constexpr size_t kBytes = size_t{2} << 20;  // larger than any free span
  char* block = allocate_block(arena.get(), Quota::kMerge, kBytes);
  block[0] = block[kBytes - 1] = 1;
  EXPECT_LE(arena->resident_bytes(), (size_t{8} << 20) + (size_t{2} << 20));
  release_block(arena.get(), Quota::kMerge, block, kBytes);
  for (size_t i = 0; i < spans.size(); ++i) {
    if (i % 4 != 0) arena->release(Quota::kDelta, spans[i], size_t{256} << 10);
  }
  EXPECT_EQ(arena->used(), 0u);
}

}  // namespace
}  // namespace hawthorn::os
