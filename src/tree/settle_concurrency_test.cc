// Extents whose blocks are read again and again come to lie in memory as a whole, and go when they
// are not.

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "os/epoch.h"
#include "os/test_point.h"
#include "tree/cursor_test_support.h"

namespace hawthorn::tree::settle_concurrency_test {
namespace {

using cursor_test::Generator;
using cursor_test::TestTree;

constexpr uint64_t kKeys = 20000;

// Where the values of a tree lie: in value extents, or in the heaps of runs.
enum class Kind : uint8_t { kSeparated, kInline };

class Settle : public ::testing::TestWithParam<Kind> {
 protected:
  Settle() : test_({.budget = size_t{64} << 20, .policy = {.target_bytes = size_t{300} << 10}}) {
    for (uint64_t i = 0; i < kKeys;) {
      TestTree::Changes changes;
      for (int n = 0; n < 1000 && i < kKeys; ++n, ++i) changes.emplace_back(key(i), value(i));
      test_.commit(changes);
      if (i % 4000 == 0) test_.flush_all();
    }
    test_.flush_all();
    // Less than the database takes.
    test_.store().squeeze(kRoom);
    const std::vector<std::string> lows = test_.lows();
    hot_low_ = lows[lows.size() / 2];
    hot_ = number_of(hot_low_);
    hot_keys_ = number_of(lows[lows.size() / 2 + 1]) - hot_;
  }

  static constexpr size_t kRoom = size_t{2} << 20;
  static std::string key(uint64_t number) { return Generator::number(number); }
  static uint64_t number_of(const std::string& key) {
    return __builtin_bswap64(load<uint64_t>(key.data()));
  }
  static std::string value(uint64_t number, uint64_t version = 0) {
    // Of one size, they would be separated.
    std::string value(GetParam() == Kind::kInline ? 120 - number % 3 : 300, 'a');
    store(value.data(), number);
    store(value.data() + 8, version);
    return value;
  }
  Status get(uint64_t number, std::string* found) {
    Value got;
    Status status = test_.tree()->get(key(number), {test_.visible(), 0}, true, got);
    *found = status.ok() ? got.to_string() : "";
    return status;
  }
  void read(uint64_t number, uint64_t version = 0) {
    std::string found;
    ASSERT_TRUE(get(number, &found).ok());
    ASSERT_EQ(found, value(number, version));
  }
  // Reads of one container's keys, and `others` of any for each.
  void read_hot(int count, int others) {
    for (int n = 0; n < count; ++n) {
      ASSERT_NO_FATAL_FAILURE(read(hot_ + prng_.below(hot_keys_)));
      for (int i = 0; i < others; ++i) ASSERT_NO_FATAL_FAILURE(read(prng_.below(kKeys)));
    }
  }
  RunFile* file(const std::string& low) {
    return test_.tree()->directory().find(low)->descriptor.load()->run;
  }
  bool body_in_memory(const std::string& low) {
    RunFile* one = file(low);
    if (GetParam() == Kind::kInline) return one->image->heap.load() != nullptr;
    for (const ExtentRef& value : one->values) {
      if (value->memory.load() == nullptr) return false;
    }
    return true;
  }
  size_t settled() { return test_.residency().settled_bytes(); }
  // A walk over the second half of a container, and the hot one behind it.
  void walk() {
    const uint64_t begin = hot_ - hot_keys_ / 2;
    const uint64_t end = hot_ + hot_keys_;
    TreeCursor cursor(test_.tree(), {test_.visible(), 0}, {.lower = {}, .upper = key(end)});
    cursor.seek(key(begin));
    for (uint64_t i = begin; i < end; ++i, cursor.next()) {
      ASSERT_TRUE(cursor.valid()) << cursor.status().to_string();
      ASSERT_EQ(cursor.key(), key(i));
      ASSERT_EQ(cursor.value(), value(i));
    }
  }

  // Three threads that read keys of the hot container, and one in `others` of any, while more(n).
  template <typename More, typename Right>
  std::vector<std::thread> start_readers(uint64_t others, More more, Right right,
                                         std::atomic<uint64_t>* wrong) {
    std::vector<std::thread> readers;
    for (uint64_t reader = 0; reader < 3; ++reader) {
      readers.emplace_back([=, this] {
        Prng prng(reader);
        std::string found;
        for (int n = 0; more(n); ++n) {
          const uint64_t i = prng.one_in(others) ? prng.below(kKeys) : hot_ + prng.below(hot_keys_);
          if (!get(i, &found).ok() || !right(i, found)) ++*wrong;
        }
      });
    }
    return readers;
  }

  TestTree test_;
  Prng prng_{7};
  std::string hot_low_;
  uint64_t hot_ = 0;
  uint64_t hot_keys_ = 0;
};

TEST_P(Settle, WhatIsReadAgainAndAgain) {
  ASSERT_FALSE(body_in_memory(hot_low_));
  ASSERT_NO_FATAL_FAILURE(read_hot(4000, 0));
  EXPECT_TRUE(body_in_memory(hot_low_));
  EXPECT_GT(settled(), size_t{100} << 10);
  EXPECT_LE(settled(), kRoom / 2);
  // Its blocks are nowhere else.
  for (const ExtentRef& value : file(hot_low_)->values) {
    const FrameTable* table = value->frames.load();
    if (table != nullptr) {
      EXPECT_EQ(table->used.load(), 0u);
    }
  }
  const uint64_t before = test_.residency().bytes_read();
  ASSERT_NO_FATAL_FAILURE(read_hot(2000, 0));
  EXPECT_EQ(test_.residency().bytes_read(), before);
}

TEST_P(Settle, ItStaysBesideOthersAndGoesWithoutReaders) {
  ASSERT_NO_FATAL_FAILURE(read_hot(4000, 0));
  ASSERT_TRUE(body_in_memory(hot_low_));
  // Read as often as all others together.
  ASSERT_NO_FATAL_FAILURE(read_hot(4000, 1));
  EXPECT_TRUE(body_in_memory(hot_low_));
  EXPECT_GT(settled(), 0u);
  for (int n = 0; n < 10000 && body_in_memory(hot_low_); ++n) {
    const uint64_t number = prng_.below(kKeys);
    if (number - hot_ < hot_keys_) continue;
    ASSERT_NO_FATAL_FAILURE(read(number));
  }
  EXPECT_FALSE(body_in_memory(hot_low_));
}

TEST_P(Settle, ReadsAllOverDoNotSettle) {
  for (int n = 0; n < 20000; ++n) ASSERT_NO_FATAL_FAILURE(read(prng_.below(kKeys)));
  EXPECT_EQ(settled(), 0u);
}

TEST_P(Settle, AllOfItGoesWhereOthersMustHaveMemory) {
  ASSERT_NO_FATAL_FAILURE(read_hot(4000, 0));
  ASSERT_GT(settled(), 0u);
  test_.evict_all();
  EXPECT_EQ(settled(), 0u);
  EXPECT_FALSE(body_in_memory(hot_low_));
  ASSERT_NO_FATAL_FAILURE(read_hot(100, 1));
}

TEST_P(Settle, AFlushKeepsValuesThatHaveSettled) {
  ASSERT_NO_FATAL_FAILURE(read_hot(4000, 0));
  ASSERT_TRUE(body_in_memory(hot_low_));
  const size_t before = settled();
  test_.commit({{key(hot_ + 1), value(hot_ + 1, 5)}});
  ASSERT_TRUE(test_.flush(hot_low_));
  // A heap is written anew, and what was there before goes.
  if (GetParam() == Kind::kInline) test_.evict_all();
  EXPECT_EQ(settled(), GetParam() == Kind::kInline ? 0 : before);
  ASSERT_NO_FATAL_FAILURE(read(hot_ + 1, 5));
  ASSERT_NO_FATAL_FAILURE(read(hot_ + 2));
}

TEST_P(Settle, WalksThatComeAgain) {
  ASSERT_NO_FATAL_FAILURE(walk());
  EXPECT_EQ(settled(), 0u) << "once is not often";
  ASSERT_NO_FATAL_FAILURE(walk());
  EXPECT_TRUE(body_in_memory(hot_low_));
  EXPECT_GT(settled(), 0u);
  const uint64_t before = test_.residency().bytes_read();
  ASSERT_NO_FATAL_FAILURE(walk());
  EXPECT_LT(test_.residency().bytes_read() - before, 2 * hot_keys_ * value(0).size());
}

// One that is larger than memory does not come back soon enough, however often it comes.
TEST_P(Settle, WalksOverEverythingDoNot) {
  for (int round = 0; round < 3; ++round) {
    TreeCursor cursor(test_.tree(), {test_.visible(), 0}, {});
    uint64_t seen = 0;
    for (bool more = cursor.first(); more; more = cursor.next()) ++seen;
    EXPECT_EQ(seen, kKeys);
  }
  EXPECT_EQ(settled(), 0u);
}

TEST_P(Settle, DamageIsMetByItsReader) {
  const RunFile* hot = file(hot_low_);
  const Extent& body = GetParam() == Kind::kInline ? *hot->image.get() : *hot->values[0].get();
  const uint64_t block = body.address.block + body.body_first() + 9;
  const std::string path = "/db/data." + std::to_string(body.address.file);
  ASSERT_TRUE(test_.disk().flip_bit(path, block * 4096 + 100, 3));
  int damaged = 0;
  for (int n = 0; n < 6000; ++n) {
    const uint64_t i = hot_ + prng_.below(hot_keys_);
    std::string found;
    const Status status = get(i, &found);
    if (status.ok()) {
      ASSERT_EQ(found, value(i));
    } else {
      ASSERT_TRUE(status.is(StatusCode::kCorruption)) << status.to_string();
      ASSERT_NE(status.message().find(path), std::string_view::npos) << status.to_string();
      ++damaged;
    }
  }
  EXPECT_GT(damaged, 0);
  EXPECT_FALSE(body_in_memory(hot_low_));
}

TEST_P(Settle, WhileOthersReadAndItIsTakenAway) {
  std::atomic<bool> done{false};
  std::atomic<uint64_t> wrong{0};
  std::vector<std::thread> readers = start_readers(
      20, [](int n) { return n < 6000; }, [](uint64_t i, auto& found) { return found == value(i); },
      &wrong);
  std::thread walker([&] {
    while (!done) walk();
  });
  std::thread evictor([&] {
    for (int n = 0; !done; ++n) {
      test_.residency().make_room(n % 5 == 0 ? size_t{1} << 30 : 1);
      std::this_thread::yield();
    }
  });
  for (std::thread& reader : readers) reader.join();
  done = true;
  walker.join();
  evictor.join();
  EXPECT_EQ(wrong, 0u);
}

// A get that waits for a block may come back to another file than the one whose extent was ripe.
TEST_P(Settle, WhileItsContainerIsWrittenAnew) {
  std::atomic<bool> done{false};
  std::atomic<uint64_t> wrong{0};
  std::vector<std::thread> readers = start_readers(
      50, [&](int) { return !done; },
      [](uint64_t i, auto& found) { return load<uint64_t>(found.data()) == i; }, &wrong);
  for (uint64_t round = 1; round <= 150; ++round) {
    TestTree::Changes changes;
    for (int n = 0; n < 5; ++n) {
      const uint64_t i = hot_ + prng_.below(hot_keys_);
      changes.emplace_back(key(i), value(i, round));
    }
    test_.commit(changes);
    test_.flush(hot_low_, round % 2 == 0);
    test_.residency().make_room(round % 3 == 0 ? size_t{1} << 30 : 1);
  }
  done = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(wrong, 0u);
  test_.evict_all();
  EXPECT_EQ(settled(), 0u);
}

#if defined(HAWTHORN_TEST_POINTS)
class RipeExtent : public Settle {
 protected:
  void TearDown() override { os::clear_test_points(); }

  Extent& heap() { return *file(hot_low_)->image.get(); }
  uint32_t hits() { return heap().frames.load()->hits.load(); }
  // Of so many hits, and each multiple, an extent is ripe (FrameCache::ripe).
  uint32_t ripe_hits() {
    const uint32_t blocks = heap().blocks - heap().settles_from();
    return 2 * (blocks - blocks / 8);
  }
  // A read that lets nothing settle; `fetched` is called when it misses a block.
  void read_unripe(uint64_t number, std::function<void()> fetched = {}) {
    if (FrameTable* table = heap().frames.load(); table != nullptr) table->hits.store(0);
    os::set_test_point("tree.get.before_fetch", std::move(fetched));
    read(number);
    os::set_test_point("tree.get.before_fetch", {});
  }
  // Frames have all of the hot heap's blocks but those from `missing` on. The key whose record
  // lies in the last of them and goes on behind it, if that is so.
  std::optional<uint64_t> key_across(uint32_t missing) {
    for (int round = 0; round < 2; ++round) {
      for (uint64_t n = 0; n < hot_keys_; ++n) read_unripe(hot_ + n);
    }
    test_.residency().frames().drop(heap(), missing);
    std::optional<uint32_t> found;
    uint64_t number = hot_;
    for (; number < hot_ + hot_keys_ && !found.has_value(); ++number) {
      read_unripe(number, [&] { found = hits(); });
    }
    test_.residency().frames().drop(heap(), missing);
    return found == 1U ? std::optional(number - 1) : std::nullopt;
  }
};

// A get finds the block in which its record begins, whereby the extent is ripe, and waits for the
// next one; meanwhile the container is written anew. What was ripe is nothing of the file that it
// comes back to: that would get the bytes of before (attack 55).
TEST_P(RipeExtent, IsNotThatOfANewerFile) {
  ASSERT_TRUE(test_.residency().load_run(file(hot_low_)).ok());
  ASSERT_NO_FATAL_FAILURE(read_unripe(hot_));
  ASSERT_FALSE(body_in_memory(hot_low_));
  ASSERT_NE(heap().memory.load(), nullptr) << "or blocks of the front are looked for, too";
  std::optional<uint64_t> across;
  for (uint32_t last = 1; last <= 5 && !across.has_value(); ++last) {
    across = key_across(heap().blocks - last);
  }
  ASSERT_TRUE(across.has_value());
  const uint64_t changed = hot_ + 1;
  bool ripe = false;
  heap().frames.load()->hits.store(ripe_hits() - 1);
  os::set_test_point("tree.get.before_fetch", [&] {
    os::set_test_point("tree.get.before_fetch", {});
    ripe = test_.residency().frames().ripe(heap());
    test_.commit({{key(changed), value(changed, 1)}});
    ASSERT_TRUE(test_.flush(hot_low_));
    for (int n = 0; body_in_memory(hot_low_) && n < 100; ++n) test_.residency().make_room(1);
    ASSERT_FALSE(body_in_memory(hot_low_));
  });
  ASSERT_NO_FATAL_FAILURE(read(*across));
  ASSERT_TRUE(ripe);
  EXPECT_FALSE(body_in_memory(hot_low_));
  for (uint64_t i = hot_; i < hot_ + hot_keys_; ++i) {
    ASSERT_NO_FATAL_FAILURE(read(i, i == changed ? 1 : 0));
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, RipeExtent, ::testing::Values(Kind::kInline));
#endif

INSTANTIATE_TEST_SUITE_P(Kinds, Settle, ::testing::Values(Kind::kSeparated, Kind::kInline),
                         [](const auto& kind) {
                           return kind.param == Kind::kInline ? "inline" : "separated";
                         });

}  // namespace
}  // namespace hawthorn::tree::settle_concurrency_test
