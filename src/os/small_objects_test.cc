#include "os/small_objects.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "base/prng.h"
#include "base/sanitizers.h"

namespace hawthorn::os {
namespace {

TEST(SmallObjectsTest, ObjectsOfAllSizesDoNotOverlap) {
  struct Object {
    char* data;
    size_t size;
    char mark;
  };
  std::vector<Object> objects;
  Prng prng(1);
  const auto check = [](const Object& object) {
    for (size_t i = 0; i < object.size; ++i) ASSERT_EQ(object.data[i], object.mark);
  };
  for (int i = 0; i < 20000; ++i) {
    if (prng.one_in(3) && !objects.empty()) {
      std::swap(objects[prng.below(objects.size())], objects.back());
      check(objects.back());
      release_small(objects.back().data, objects.back().size);
      objects.pop_back();
      continue;
    }
    const size_t size = prng.one_in(50) ? prng.between(1, 100000) : prng.between(1, 600);
    auto* data = static_cast<char*>(allocate_small(size));
    ASSERT_NE(data, nullptr);
    ASSERT_EQ(reinterpret_cast<uintptr_t>(data) % (size <= 32 ? 32 : 64), 0u);
    objects.push_back({data, size, static_cast<char>(i)});
    std::memset(data, objects.back().mark, size);
  }
  for (const Object& object : objects) {
    check(object);
    release_small(object.data, object.size);
  }
  release_small(nullptr, 64);
}

#if !defined(HAWTHORN_ASAN)
TEST(SmallObjectsTest, ReleasedMemoryServesItsSizeAgain) {
  std::set<void*> first;
  for (int i = 0; i < 100; ++i) first.insert(allocate_small(320));
  for (void* object : first) release_small(object, 320);
  std::vector<void*> again;
  for (int i = 0; i < 100; ++i) {
    again.push_back(allocate_small(300));  // of the same class
    EXPECT_TRUE(first.contains(again.back()));
  }
  for (void* object : again) release_small(object, 300);
}

// What deltas leave serves the objects of trees.
TEST(SmallObjectsTest, ReleasedMemoryServesOtherSizes) {
  constexpr size_t kBytes = size_t{8} << 20;
  const size_t before = small_objects_unused_bytes();
  for (const size_t size : {512, 64, 24, 1500, 16'000, 256}) {
    std::vector<void*> objects;
    for (size_t i = 0; i < kBytes / size; ++i) objects.push_back(allocate_small(size));
    Prng prng(size);
    for (size_t i = objects.size(); i > 0; --i) {
      std::swap(objects[i - 1], objects[prng.below(i)]);
      release_small(objects[i - 1], size);
    }
    // Of the next size there is room for as many in what these left.
    EXPECT_LE(small_objects_unused_bytes(), before + (size_t{4} << 20)) << size;
  }
}

// Each size has but a few pages that nothing else can use.
TEST(SmallObjectsTest, ManySizesLeaveLittleUnused) {
  const size_t before = small_objects_unused_bytes();
  std::vector<std::pair<void*, size_t>> objects;
  for (size_t size = 1; size <= kSmallBytesMax; size += 13) {
    objects.emplace_back(allocate_small(size), size);
  }
  EXPECT_LE(small_objects_unused_bytes(), before + (size_t{4} << 20));
  for (const auto& [object, size] : objects) release_small(object, size);
}

// Its lists may be half changed there.
TEST(SmallObjectsTest, AChildOfForkReleasesWhatItsParentMade) {
  std::vector<void*> objects;
  for (int i = 0; i < 1000; ++i) objects.push_back(allocate_small(128));
  const pid_t child = fork();
  if (child == 0) {
    std::set<void*> others;
    for (void* object : objects) {
      release_small(object, 128);
      others.insert(allocate_small(128));
    }
    const bool good = std::none_of(objects.begin(), objects.end(),
                                   [&](void* object) { return others.contains(object); });
    _exit(good && others.size() == objects.size() ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  for (void* object : objects) release_small(object, 128);
}

TEST(SmallObjectsTest, WhatIsUnusedIsCountedAndGoesBackToTheKernel) {
  constexpr size_t kObjects = 10'000;  // 10 MB
  constexpr size_t kBytes = 1024;
  const size_t before = small_objects_unused_bytes();
  std::vector<void*> objects;
  for (size_t i = 0; i < kObjects; ++i) objects.push_back(allocate_small(kBytes));
  EXPECT_LT(small_objects_unused_bytes(), before + (size_t{2} << 20));
  // Nine of ten: what remains keeps every page.
  for (size_t i = 0; i < kObjects; ++i) {
    if (i % 10 != 0) release_small(objects[i], kBytes);
  }
  EXPECT_GE(small_objects_unused_bytes(), kObjects / 10 * 9 * kBytes);
  for (size_t i = 0; i < kObjects; i += 10) release_small(objects[i], kBytes);
  // One that is empty, and the newest.
  EXPECT_LE(small_objects_unused_bytes(), before + (size_t{4} << 20));
  // Nothing that went is still given out.
  for (size_t i = 0; i < kObjects; ++i) {
    objects[i] = allocate_small(kBytes);
    std::memset(objects[i], 1, kBytes);
  }
  for (void* object : objects) release_small(object, kBytes);
}
#endif

TEST(SmallObjectsTest, ThreadsReleaseWhatOthersAllocated) {
  std::vector<uint64_t*> objects(1000);
  std::thread maker([&] {
    for (uint64_t i = 0; i < objects.size(); ++i) {
      objects[i] = static_cast<uint64_t*>(allocate_small(128));
      *objects[i] = i;
    }
  });
  maker.join();
  std::vector<std::thread> threads;
  for (size_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (size_t i = t; i < objects.size(); i += 4) {
        EXPECT_EQ(*objects[i], i);
        release_small(objects[i], 128);
        release_small(allocate_small(128), 128);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace hawthorn::os
