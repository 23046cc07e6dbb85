#include "os/arena.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "base/prng.h"
#include "os/page_heap.h"
#include "os/system_page.h"

namespace hawthorn::os {
namespace {

constexpr size_t kMegabyte = size_t{1} << 20;
constexpr size_t kHuge = 2 * kMegabyte;
constexpr size_t kPage = 4096;

struct Span {
  char* data;
  size_t size;
  Quota quota;
  char mark;
};

size_t rounded(size_t size) { return std::max<size_t>(1, (size + kPage - 1) / kPage) * kPage; }

TEST(PageHeapTest, RandomOperationsKeepTheInvariants) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    Prng prng(seed);
    const size_t part_pages = std::array<size_t, 4>{1, 4, 16, 1}[seed % 4];
    const auto heap = PageHeap::create(24, part_pages);
    ASSERT_NE(heap, nullptr);
    std::map<size_t, size_t> spans;
    const size_t longest = seed % 2 == 0 ? 80 : 2000;
    for (int i = 0; i < 3000; ++i) {
      if (prng.one_in(2) && !spans.empty()) {
        auto it = spans.lower_bound(prng.below(24 * 512));
        if (it == spans.end()) it = spans.begin();
        heap->release(it->first, it->second);
        spans.erase(it);
      } else {
        const size_t pages = prng.between(1, longest);
        auto page = heap->allocate_touched(pages);
        if (!page.has_value()) {
          const size_t largest = heap->largest_run(2);
          const auto fit = heap->find_fresh(pages, 2);
          ASSERT_EQ(fit.has_value(), pages <= largest) << seed << " " << i;
          if (!fit.has_value()) continue;
          size_t excess = fit->huge_count > 2 ? fit->huge_count - 2 : 0;
          for (size_t huge = 0; huge < 24 && excess > 0; ++huge) {
            if (!heap->wholly_free(huge)) continue;
            if ((huge + 1) * 512 > fit->kept_begin && huge * 512 < fit->kept_end) continue;
            heap->give_back(huge);
            --excess;
          }
          ASSERT_EQ(excess, 0u);
          heap->touch(fit->first_huge, fit->huge_count);
          heap->allocate_at(fit->page, pages);
          page = fit->page;
        }
        const auto after = spans.lower_bound(*page);
        ASSERT_TRUE(after == spans.end() || *page + pages <= after->first);
        ASSERT_TRUE(after == spans.begin() ||
                    std::prev(after)->first + std::prev(after)->second <= *page);
        spans.emplace(*page, pages);
      }
      if (prng.one_in(10) && heap->high_water() > 0) {
        const size_t huge = prng.below(heap->high_water());
        if (heap->wholly_free(huge)) heap->give_back(huge);
      }
      if (prng.one_in(20)) {
        if (const size_t huge = heap->emptiest(); huge < heap->huge_count()) heap->split_huge(huge);
      }
      if (i % 16 == 0) {
        ASSERT_TRUE(heap->consistent()) << seed << " " << i;
      }
    }
    for (const auto& [page, pages] : spans) heap->release(page, pages);
    ASSERT_TRUE(heap->consistent());
    EXPECT_EQ(heap->wholly_free_count(), heap->touched_count());
  }
}

// By what the kernel says, of the memory around these spans.
size_t resident_pages(const std::vector<char*>& spans) {
  const auto [low, high] = std::minmax_element(spans.begin(), spans.end());
  const uintptr_t from = reinterpret_cast<uintptr_t>(*low) / kHuge * kHuge;
  const uintptr_t to = (reinterpret_cast<uintptr_t>(*high) / kHuge + 1) * kHuge;
  std::vector<unsigned char> state((to - from) / kPage);
  EXPECT_EQ(mincore(reinterpret_cast<void*>(from), to - from, state.data()), 0);
  const auto pages =
      std::count_if(state.begin(), state.end(), [](unsigned char page) { return page & 1; });
  return static_cast<size_t>(pages) * (static_cast<size_t>(sysconf(_SC_PAGESIZE)) / kPage);
}

// What is left of many huge pages holds each of them; none is wholly free.
void gives_back_free_parts(size_t unit) {
  constexpr size_t kBudget = 16 * kMegabyte;
  auto made = Arena::create(kBudget);
  ASSERT_TRUE(made.ok());
  Arena& arena = **made;
  std::vector<char*> spans;
  for (size_t i = 0; i < kBudget / unit; ++i) {
    char* const span = arena.allocate(Quota::kValues, unit);
    ASSERT_NE(span, nullptr);
    std::memset(span, static_cast<int>(i % 100 + 1), unit);
    spans.push_back(span);
  }
  std::vector<char*> kept;
  for (size_t i = 0; i < spans.size(); ++i) {
    if (i % 4 == 1) {
      kept.push_back(spans[i]);
    } else {
      arena.release(Quota::kValues, spans[i], unit);
    }
  }
  // A span that fits no gap, and must not fail.
  char* const large = arena.allocate(Quota::kMerge, kMegabyte, true);
  ASSERT_NE(large, nullptr);
  std::memset(large, 7, kMegabyte);
  kept.push_back(large);
  EXPECT_FALSE(arena.over_budget());
  EXPECT_LE(resident_pages(kept) * kPage, kBudget);
  arena.shrink_to(kBudget / 2);
  EXPECT_LE(arena.resident_bytes(), kBudget / 2);
  EXPECT_LE(resident_pages(kept) * kPage, kBudget / 2);
  for (size_t i = 0; i + 1 < kept.size(); ++i) {
    const auto mark = static_cast<char>((i * 4 + 1) % 100 + 1);
    ASSERT_EQ(kept[i][0], mark);
    ASSERT_EQ(kept[i][unit - 1], mark);
  }
  EXPECT_EQ(large[kMegabyte - 1], 7);
  // What is allocated and released there comes and goes page by page.
  const size_t before = arena.resident_bytes();
  char* const small = arena.allocate(Quota::kValues, unit);
  ASSERT_NE(small, nullptr);
  EXPECT_EQ(arena.resident_bytes(), before + unit);
  arena.release(Quota::kValues, small, unit);
  EXPECT_EQ(arena.resident_bytes(), before);
  arena.release(Quota::kMerge, large, kMegabyte);
  kept.pop_back();
  for (char* span : kept) arena.release(Quota::kValues, span, unit);
  // The large one lay in huge pages that are whole: these are kept for the next.
  EXPECT_LE(arena.resident_bytes(), 2 * kHuge);
}

TEST(ArenaTest, GivesBackTheFreePartsOfHugePages) { gives_back_free_parts(system_page_bytes()); }

// As on a kernel with larger pages, which takes all of a page of which it is given a part.
class LargerPages : public ::testing::Test {
 protected:
  LargerPages() { set_system_page_bytes(unit_); }
  ~LargerPages() override { set_system_page_bytes(0); }
  const size_t unit_ = 4 * system_page_bytes();
};

TEST_F(LargerPages, AreGivenBack) { gives_back_free_parts(unit_); }

TEST_F(LargerPages, AreGivenBackWhenAllOfOneIsFree) {
  constexpr size_t kBudget = 4 * kMegabyte;
  auto made = Arena::create(kBudget);
  ASSERT_TRUE(made.ok());
  Arena& arena = **made;
  // A quarter of each page is kept, but for half of them nothing.
  const size_t pieces = unit_ / kPage;
  std::vector<char*> spans;
  for (size_t i = 0; i < kBudget / kPage; ++i) {
    spans.push_back(arena.allocate(Quota::kValues, kPage));
    ASSERT_NE(spans.back(), nullptr);
    std::memset(spans.back(), static_cast<int>(i % 100 + 1), kPage);
  }
  std::vector<size_t> kept;
  for (size_t i = 0; i < spans.size(); ++i) {
    const bool keep = i % pieces < pieces / 4 && i / pieces % 2 == 0;
    if (keep) {
      kept.push_back(i);
    } else {
      arena.release(Quota::kValues, spans[i], kPage);
    }
  }
  arena.shrink_to(0);
  EXPECT_EQ(arena.resident_bytes(), kBudget / 2);
  EXPECT_EQ(resident_pages(spans) * kPage, kBudget / 2);
  for (size_t i : kept) ASSERT_EQ(spans[i][kPage - 1], static_cast<char>(i % 100 + 1));
  // With the last of its pieces a page goes.
  for (size_t at = 0; at < pieces / 4; ++at) {
    EXPECT_EQ(arena.resident_bytes(), kBudget / 2);
    arena.release(Quota::kValues, spans[kept[at]], kPage);
  }
  EXPECT_EQ(arena.resident_bytes(), kBudget / 2 - unit_);
  EXPECT_EQ(resident_pages(spans) * kPage, kBudget / 2 - unit_);
  for (size_t at = pieces / 4; at < kept.size(); ++at) {
    ASSERT_EQ(spans[kept[at]][0], static_cast<char>(kept[at] % 100 + 1));
    arena.release(Quota::kValues, spans[kept[at]], kPage);
  }
  EXPECT_EQ(arena.resident_bytes(), 0u);
}

TEST(ArenaTest, RandomOperationsAgainstAModel) {
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    Prng prng(seed);
    auto created = Arena::create(48 * kMegabyte);
    ASSERT_TRUE(created.ok());
    Arena& arena = **created;
    std::vector<Span> spans;
    std::array<size_t, kQuotaCount> used{};
    // With the larger one more than is tolerated.
    const ptrdiff_t largest_charge = seed % 2 == 0 ? 100'000 : 6 * kMegabyte;
    ptrdiff_t charged = 0;
    uint64_t refused = 0;
    for (int i = 0; i < 20000; ++i) {
      if (prng.below(100) < 52) {
        const size_t limit = prng.one_in(20) ? 3 * kMegabyte : 64 * 1024;
        const size_t size = prng.between(1, limit);
        const auto quota = static_cast<Quota>(prng.below(kQuotaCount));
        const size_t largest = arena.largest_free();
        char* const data = arena.allocate(quota, size);
        ASSERT_EQ(data != nullptr, rounded(size) <= largest);
        if (data == nullptr) {
          ++refused;
          continue;
        }
        ASSERT_EQ(reinterpret_cast<uintptr_t>(data) % kPage, 0u);
        const char mark = static_cast<char>(prng.next());
        std::memset(data, mark, rounded(size));
        spans.push_back({data, size, quota, mark});
        used[static_cast<size_t>(quota)] += rounded(size);
      } else if (!spans.empty()) {
        const size_t at = prng.below(spans.size());
        const Span span = spans[at];
        spans[at] = spans.back();
        spans.pop_back();
        for (size_t offset = 0; offset < rounded(span.size); offset += 512) {
          ASSERT_EQ(span.data[offset], span.mark);
        }
        ASSERT_EQ(span.data[rounded(span.size) - 1], span.mark);
        arena.release(span.quota, span.data, span.size);
        used[static_cast<size_t>(span.quota)] -= rounded(span.size);
      }
      if (prng.one_in(50)) {
        const ptrdiff_t change = charged > 0 ? -charged : largest_charge;
        arena.charge(Quota::kOther, change);
        charged += change;
        used[static_cast<size_t>(Quota::kOther)] += static_cast<size_t>(change);
      }
      size_t total = 0;
      for (size_t q = 0; q < kQuotaCount; ++q) {
        ASSERT_EQ(arena.used(static_cast<Quota>(q)), used[q]);
        total += used[q];
      }
      ASSERT_EQ(arena.used(), total);
      ASSERT_LE(arena.resident_bytes(), std::max(arena.tolerated_bytes(), arena.used()));
      ASSERT_LE(arena.used(), arena.resident_bytes());
    }
    EXPECT_GT(refused, 0u);
    for (const Span& span : spans) arena.release(span.quota, span.data, span.size);
    arena.charge(Quota::kOther, -charged);
    EXPECT_EQ(arena.used(), 0u);
    // Everything is one span again.
    EXPECT_EQ(arena.largest_free(), 48 * kMegabyte);
  }
}

TEST(ArenaTest, BudgetIsStrictAndFreedSpaceIsUsedAgain) {
  auto arena = std::move(Arena::create(16 * kMegabyte)).value();
  std::vector<char*> spans;
  while (char* span = arena->allocate(Quota::kDelta, kMegabyte)) spans.push_back(span);
  EXPECT_EQ(spans.size(), 16u);
  EXPECT_EQ(arena->resident_bytes(), 16 * kMegabyte);
  EXPECT_EQ(arena->allocate(Quota::kDelta, 1), nullptr);
  for (int i = 0; i < 100; ++i) {
    arena->release(Quota::kDelta, spans.back(), kMegabyte);
    spans.back() = arena->allocate(Quota::kIndex, kMegabyte);
    ASSERT_NE(spans.back(), nullptr);
    arena->release(Quota::kIndex, spans.back(), kMegabyte);
    spans.back() = arena->allocate(Quota::kDelta, kMegabyte);
    ASSERT_NE(spans.back(), nullptr);
  }
  // A small charge above the budget refuses fresh pages, not those that were just freed; a larger
  // one all, until as much was freed.
  arena->charge(Quota::kOther, kMegabyte / 2);
  arena->release(Quota::kDelta, spans.back(), kMegabyte);
  spans.back() = arena->allocate(Quota::kDelta, kMegabyte);
  EXPECT_NE(spans.back(), nullptr);
  arena->charge(Quota::kOther, kMegabyte);
  arena->release(Quota::kDelta, spans.back(), kMegabyte);
  EXPECT_EQ(arena->allocate(Quota::kDelta, kMegabyte), nullptr);
  spans.back() = arena->allocate(Quota::kDelta, kMegabyte, true);
  ASSERT_NE(spans.back(), nullptr);
  for (int i = 0; i < 3; ++i) {
    arena->release(Quota::kDelta, spans.back(), kMegabyte);
    spans.pop_back();
  }
  spans.push_back(arena->allocate(Quota::kDelta, kMegabyte));
  EXPECT_NE(spans.back(), nullptr);
  for (char* span : spans) arena->release(Quota::kDelta, span, kMegabyte);
  EXPECT_LE(arena->resident_bytes(), 16 * kMegabyte);
}

// What is free in huge pages that others lie in, too.
TEST(ArenaTest, ChargesTakeTheFreePartsOfHugePages) {
  constexpr size_t kBudget = 64 * kMegabyte;
  auto arena = std::move(Arena::create(kBudget)).value();
  std::vector<char*> spans;
  while (char* span = arena->allocate(Quota::kValues, 4 * kPage)) {
    std::memset(span, 1, 4 * kPage);
    spans.push_back(span);
  }
  for (size_t i = 0; i < spans.size(); i += 2) arena->release(Quota::kValues, spans[i], 4 * kPage);
  EXPECT_EQ(arena->resident_bytes(), kBudget);
  // At no moment more than is tolerated, as long as there is any.
  std::atomic<bool> ends{false};
  std::atomic<size_t> most{0};
  std::thread looks([&] {
    while (!ends.load()) most.store(std::max(most.load(), arena->resident_bytes()));
  });
  for (size_t charged = 0; charged < kBudget / 2; charged += kMegabyte) {
    arena->charge(Quota::kOther, kMegabyte);
    EXPECT_LE(arena->resident_bytes(), arena->tolerated_bytes());
  }
  ends.store(true);
  looks.join();
  EXPECT_LE(most.load(), arena->tolerated_bytes());
  // Also where the kernel puts small pages together to huge ones, as it does now and then.
  constexpr int kCollapse = 25;  // MADV_COLLAPSE, which older headers do not have
  for (char* const span : spans) {
    const uintptr_t huge = reinterpret_cast<uintptr_t>(span) / kHuge * kHuge;
    static_cast<void>(madvise(reinterpret_cast<void*>(huge), kHuge, kCollapse));
  }
  EXPECT_LE(resident_pages(spans) * kPage, kBudget / 2 + kBudget / 32);
  arena->charge(Quota::kOther, -static_cast<ptrdiff_t>(kBudget / 2));
  for (size_t i = 1; i < spans.size(); i += 2) arena->release(Quota::kValues, spans[i], 4 * kPage);
}

TEST(ArenaTest, LargeSpanReplacesScatteredFreePages) {
  auto arena = std::move(Arena::create(32 * kMegabyte)).value();
  std::vector<char*> spans;
  while (char* span = arena->allocate(Quota::kValues, kHuge)) spans.push_back(span);
  ASSERT_EQ(spans.size(), 16u);
  for (size_t i = 0; i < spans.size(); i += 2) arena->release(Quota::kValues, spans[i], kHuge);
  EXPECT_EQ(arena->largest_free(), 16 * kMegabyte);
  char* const large = arena->allocate(Quota::kValues, 16 * kMegabyte);
  ASSERT_NE(large, nullptr);
  std::memset(large, 1, 16 * kMegabyte);
  EXPECT_EQ(arena->resident_bytes(), 32 * kMegabyte);
  EXPECT_EQ(arena->allocate(Quota::kValues, 1), nullptr);
  arena->release(Quota::kValues, large, 16 * kMegabyte);
  for (size_t i = 1; i < spans.size(); i += 2) arena->release(Quota::kValues, spans[i], kHuge);
}

TEST(ArenaTest, SmallHolesAreFilledBeforeFreshPages) {
  auto arena = std::move(Arena::create(64 * kMegabyte)).value();
  std::vector<char*> spans;
  for (int i = 0; i < 4096; ++i) spans.push_back(arena->allocate(Quota::kFrames, kPage));
  const size_t resident = arena->resident_bytes();
  EXPECT_EQ(resident, 16 * kMegabyte);
  for (size_t i = 0; i < spans.size(); i += 2) arena->release(Quota::kFrames, spans[i], kPage);
  for (size_t i = 0; i < spans.size(); i += 2) {
    spans[i] = arena->allocate(Quota::kFrames, kPage);
    ASSERT_NE(spans[i], nullptr);
  }
  EXPECT_EQ(arena->resident_bytes(), resident);
  for (char* span : spans) arena->release(Quota::kFrames, span, kPage);
}

TEST(ArenaTest, LoweredBudgetGivesPagesBack) {
  auto arena = std::move(Arena::create(64 * kMegabyte)).value();
  std::vector<char*> spans;
  while (char* span = arena->allocate(Quota::kDelta, 256 * 1024)) {
    std::memset(span, 1, 256 * 1024);
    spans.push_back(span);
  }
  arena->set_budget(16 * kMegabyte);
  EXPECT_EQ(arena->resident_bytes(), 64 * kMegabyte);
  EXPECT_EQ(arena->budget(), 16 * kMegabyte);
  while (spans.size() > 8) {
    arena->release(Quota::kDelta, spans.back(), 256 * 1024);
    spans.pop_back();
  }
  EXPECT_EQ(arena->resident_bytes(), 16 * kMegabyte);
  arena->set_budget(32 * kMegabyte);
  char* const grown = arena->allocate(Quota::kDelta, 28 * kMegabyte);
  ASSERT_NE(grown, nullptr);
  std::memset(grown, 2, 28 * kMegabyte);
  EXPECT_LE(arena->resident_bytes(), 32 * kMegabyte);
  arena->release(Quota::kDelta, grown, 28 * kMegabyte);
  for (char* span : spans) arena->release(Quota::kDelta, span, 256 * 1024);
}

TEST(ArenaTest, AbsurdSizesAreRefused) {
  auto arena = std::move(Arena::create(16 * kMegabyte)).value();
  EXPECT_EQ(arena->allocate(Quota::kOther, ~size_t{0}), nullptr);
  EXPECT_EQ(arena->allocate(Quota::kOther, 17 * kMegabyte), nullptr);
  EXPECT_FALSE(Arena::create(~size_t{0} / 2).ok());
  EXPECT_EQ(arena->largest_free(), 16 * kMegabyte);
}

TEST(ArenaTest, ThreadsShareIt) {
  auto arena = std::move(Arena::create(32 * kMegabyte)).value();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&arena, t] {
      Prng prng(static_cast<uint64_t>(t));
      std::vector<Span> spans;
      for (int i = 0; i < 5000; ++i) {
        if (spans.size() < 20) {
          const size_t size = prng.between(1, 100000);
          char* const data = arena->allocate(Quota::kMerge, size);
          if (data != nullptr) {
            *data = static_cast<char>(t);
            spans.push_back({data, size, Quota::kMerge, static_cast<char>(t)});
          }
        }
        if (!spans.empty() && prng.one_in(2)) {
          EXPECT_EQ(*spans.back().data, spans.back().mark);
          arena->release(Quota::kMerge, spans.back().data, spans.back().size);
          spans.pop_back();
        }
      }
      for (const Span& span : spans) arena->release(Quota::kMerge, span.data, span.size);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(arena->used(), 0u);
  EXPECT_EQ(arena->largest_free(), 32 * kMegabyte);
}

TEST(ArenaTest, TouchesAheadWithinTheBudget) {
  auto arena = std::move(Arena::create(32 * kMegabyte)).value();
  while (arena->touch_ahead(8 * kMegabyte)) {
  }
  EXPECT_EQ(arena->resident_bytes(), 8 * kMegabyte);
  EXPECT_EQ(arena->used(), 0u);
  // What lies ready is taken first.
  char* const data = arena->allocate(Quota::kDelta, 5 * kMegabyte);
  ASSERT_NE(data, nullptr);
  std::memset(data, 1, 5 * kMegabyte);
  EXPECT_EQ(arena->resident_bytes(), 8 * kMegabyte);
  while (arena->touch_ahead(1024 * kMegabyte)) {
  }
  EXPECT_EQ(arena->resident_bytes(), 32 * kMegabyte);
  EXPECT_EQ(arena->largest_free(), 27 * kMegabyte);
  arena->release(Quota::kDelta, data, 5 * kMegabyte);
}

TEST(ArenaTest, AnAllocationWakesWhoeverTouchesAhead) {
  auto arena = std::move(Arena::create(32 * kMegabyte)).value();
  const size_t ahead = 4 * kMegabyte;
  while (arena->touch_ahead(ahead)) {
  }
  std::thread toucher([&] {
    while (arena->resident_bytes() < 12 * kMegabyte) {
      // Without the wake-up this takes longer than any test may.
      if (!arena->touch_ahead(ahead)) arena->wait_for_allocation(ahead, uint64_t{3600} * 1000000);
    }
  });
  std::vector<char*> taken;
  while (arena->resident_bytes() < 12 * kMegabyte) {
    if (taken.size() < 2) taken.push_back(arena->allocate(Quota::kDelta, 4 * kMegabyte));
    std::this_thread::yield();
  }
  toucher.join();
  for (char* data : taken) arena->release(Quota::kDelta, data, 4 * kMegabyte);
}

}  // namespace
}  // namespace hawthorn::os
