// One writer, several readers: what was in the delta before a reader looked is found, whatever the
// writer does meanwhile, and memory that a reader may hold is not used again.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "base/bytes.h"
#include "base/prng.h"
#include "os/epoch.h"
#include "os/test_point.h"
#include "testing/wait.h"
#include "tree/delta.h"
#include "tree/delta_test_keys.h"

namespace hawthorn::tree {
namespace {

using delta_keys::big_endian;

constexpr uint32_t kKeys = 20000;
constexpr uint32_t kReaders = 3;

// Numbers 0 to kKeys - 1 in the order of their insertion, and what had been inserted when.
struct Order {
  explicit Order(std::vector<uint32_t> numbers) : keys(std::move(numbers)), when(keys.size()) {
    uint32_t low = kKeys;
    uint32_t high = 0;
    for (uint32_t i = 0; i < keys.size(); ++i) {
      when[keys[i]] = i;
      low = std::min(low, keys[i]);
      high = std::max(high, keys[i]);
      lowest.push_back(low);
      highest.push_back(high);
    }
  }
  std::vector<uint32_t> keys;
  std::vector<uint32_t> when;     // by number
  std::vector<uint32_t> lowest;   // of the first i + 1
  std::vector<uint32_t> highest;  // likewise
};

uint32_t number_of(const DeltaEntry* entry) {
  return static_cast<uint32_t>(__builtin_bswap64(load<uint64_t>(entry->key().data())));
}

class Checker {
 public:
  Checker(const Delta& delta, const Order& order, const std::atomic<uint32_t>& inserted,
          uint64_t seed)
      : delta_(delta), order_(order), inserted_(inserted), prng_(seed) {}

  // Returns what went wrong, or nothing.
  std::string run() {
    while (inserted_.load(std::memory_order_acquire) < kKeys) {
      const os::epoch::Guard guard;
      const uint32_t inserted = inserted_.load(std::memory_order_acquire);
      if (inserted == 0) continue;
      std::string wrong = check_find(inserted);
      if (wrong.empty()) wrong = check_collect(inserted);
      if (wrong.empty()) wrong = check_ends(inserted);
      if (!wrong.empty()) return wrong;
    }
    return {};
  }

 private:
  std::string check_find(uint32_t inserted) {
    const uint32_t number = order_.keys[prng_.below(inserted)];
    const std::string key = big_endian(number);
    const DeltaEntry* entry = delta_.find(key, Delta::hash(key));
    if (entry == nullptr) return "find misses " + std::to_string(number);
    if (!delta_.may_contain(Delta::hash(key))) return "the filter misses " + std::to_string(number);
    return {};
  }

  std::string check_collect(uint32_t inserted) {
    const auto from = static_cast<uint32_t>(prng_.below(kKeys));
    const bool forward = prng_.one_in(2);
    const std::string key = big_endian(from);
    DeltaEntry* out[40];
    const size_t count =
        delta_.collect(forward ? Delta::Seek::kGreaterEqual : Delta::Seek::kLessEqual, key,
                       key_head(key, 0), {out, prng_.between(1, 40)});
    // Numbers between neighbours of the answer must not have been there.
    uint32_t expected = from;
    const uint32_t end = forward ? kKeys : ~uint32_t{0};
    const uint32_t step = forward ? 1 : ~uint32_t{0};
    for (size_t i = 0; i < count; ++i) {
      const uint32_t number = number_of(out[i]);
      if (forward ? number < expected : number > expected) return "collect is out of order";
      for (; expected != number; expected += step) {
        if (order_.when[expected] < inserted) return "collect misses " + std::to_string(expected);
      }
      expected += step;
    }
    for (; count == 0 && expected != end; expected += step) {
      if (order_.when[expected] < inserted) {
        return "collect finds nothing, not " + std::to_string(expected);
      }
    }
    return {};
  }

  std::string check_ends(uint32_t inserted) {
    DeltaEntry* out[1];
    if (delta_.collect_first(out) != 1 || number_of(out[0]) > order_.lowest[inserted - 1]) {
      return "collect_first misses the lowest key";
    }
    if (delta_.collect_last(out) != 1 || number_of(out[0]) < order_.highest[inserted - 1]) {
      return "collect_last misses the highest key";
    }
    return {};
  }

  const Delta& delta_;
  const Order& order_;
  const std::atomic<uint32_t>& inserted_;
  Prng prng_;
};

enum class Pattern { kRandom, kAscending, kDescending, kBlocks };

Order make_order(Pattern pattern, uint64_t seed) {
  std::vector<uint32_t> numbers(kKeys);
  for (uint32_t i = 0; i < kKeys; ++i) numbers[i] = i;
  Prng prng(seed);
  if (pattern == Pattern::kRandom) std::shuffle(numbers.begin(), numbers.end(), prng);
  if (pattern == Pattern::kDescending) std::reverse(numbers.begin(), numbers.end());
  if (pattern == Pattern::kBlocks) {
    // Every 64th first, then the gaps: splits in the middle of a deep tree.
    std::sort(numbers.begin(), numbers.end(),
              [](uint32_t a, uint32_t b) { return a % 64 != b % 64 ? a % 64 < b % 64 : a < b; });
  }
  return Order(std::move(numbers));
}

class DeltaReaders : public ::testing::TestWithParam<Pattern> {};

// Gives readers the processor between the steps of a split.
class WideWindows {
 public:
#if defined(HAWTHORN_TEST_POINTS)
  WideWindows() {
    os::set_test_point("delta.insert.between_levels", pause);
    os::set_test_point("delta.insert.between_leaves", [] { std::this_thread::yield(); });
    os::set_test_point("delta.collect_last.after_root", pause_seldom);
  }
  ~WideWindows() { os::clear_test_points(); }

 private:
  static void pause() { std::this_thread::sleep_for(std::chrono::microseconds(30)); }
  static void pause_seldom() {
    thread_local uint32_t passed = 0;
    if (++passed % 64 == 0) pause();
  }
#endif
};

TEST_P(DeltaReaders, FindWhatWasThereBeforeTheyLooked) {
  [[maybe_unused]] const WideWindows windows;
  for (uint64_t seed = 1; seed <= 2; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    auto arena = os::Arena::create(size_t{32} << 20);
    ASSERT_TRUE(arena.ok());
    const Order order = make_order(GetParam(), seed);
    Delta delta(arena->get(), 0);
    std::atomic<uint32_t> inserted{0};
    std::vector<std::string> wrong(kReaders);
    std::vector<std::thread> readers;
    for (uint32_t r = 0; r < kReaders; ++r) {
      readers.emplace_back(
          [&, r] { wrong[r] = Checker(delta, order, inserted, seed * 100 + r).run(); });
    }
    for (uint32_t i = 0; i < kKeys; ++i) {
      const std::string key = big_endian(order.keys[i]);
      if (delta.find_or_add(key, key_head(key, 0)) == nullptr) ADD_FAILURE() << "no memory";
      inserted.store(i + 1, std::memory_order_release);
      if (i % 1024 == 0) std::this_thread::yield();
    }
    for (std::thread& reader : readers) reader.join();
    for (const std::string& text : wrong) EXPECT_EQ(text, "");
  }
}

INSTANTIATE_TEST_SUITE_P(Patterns, DeltaReaders,
                         ::testing::Values(Pattern::kRandom, Pattern::kAscending,
                                           Pattern::kDescending, Pattern::kBlocks));

// The bytes of a version say which update made it.
void fill(Version* version, uint64_t number) {
  version->stamp.store(number, std::memory_order_relaxed);
  version->seq = static_cast<uint32_t>(number);
  version->kind = VersionKind::kPut;
  version->flags.store(0, std::memory_order_relaxed);
  std::memset(version->bytes(), static_cast<int>(number & 0xff), version->size);
}
bool whole(const Version* version) {
  const uint64_t number = version->stamp.load(std::memory_order_acquire);
  if (version->seq != static_cast<uint32_t>(number)) return false;
  for (const char byte : version->value()) {
    if (static_cast<uint8_t>(byte) != static_cast<uint8_t>(number)) return false;
  }
  return true;
}

// Invariant 3: readers inside a guard, and readers that pinned the delta and left the guard.
TEST(DeltaConcurrencyTest, VersionsStayWhatTheyAreWhileAReaderHoldsThem) {
  auto arena = os::Arena::create(size_t{512} << 20);
  ASSERT_TRUE(arena.ok());
  Delta delta(arena->get(), 0);
  constexpr uint32_t kHot = 4;
  constexpr uint64_t kVersionsMin = 200'000;
  constexpr uint64_t kUsedAgain = 5000;
  DeltaEntry* entries[kHot];
  for (uint32_t k = 0; k < kHot; ++k) {
    const std::string key = big_endian(k);
    entries[k] = delta.find_or_add(key, key_head(key, 0));
    Version* version = delta.new_version(entries[k], 48);
    fill(version, 1);
    delta.link(entries[k], version);
  }
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> bad{0};
  std::atomic<uint64_t> pinned{0};
  // Looks of each reader; relaxed, so that they order nothing.
  std::array<std::atomic<uint64_t>, kReaders> ended{};
  std::vector<std::thread> readers;
  for (uint32_t r = 0; r < kReaders; ++r) {
    readers.emplace_back([&, r] {
      Prng prng(r);
      while (!stop.load(std::memory_order_relaxed)) {
        // Outside of the guard most of the time, or memory would never be used again.
        std::this_thread::sleep_for(std::chrono::microseconds(20));
        const Version* held = nullptr;
        {
          const os::epoch::Guard guard;
          for (const Version* v = entries[prng.below(kHot)]->newest.load(std::memory_order_acquire);
               v != nullptr; v = v->older.load(std::memory_order_acquire)) {
            if (!whole(v)) bad.fetch_add(1);
            held = v;
          }
          if (prng.one_in(20)) {
            delta.pin();
            pinned.fetch_add(1);
          } else {
            held = nullptr;
          }
        }
        if (held != nullptr) {
          for (int i = 0; i < 300; ++i) {
            if (!whole(held)) bad.fetch_add(1);
          }
          delta.unpin();
        }
        ended[r].fetch_add(1, std::memory_order_relaxed);
      }
    });
  }
  // A reader that has no processor keeps memory from being used again: it is waited for.
  const auto let_readers_look = [&] {
    for (const std::atomic<uint64_t>& looks : ended) {
      const uint64_t before = looks.load(std::memory_order_relaxed);
      EXPECT_TRUE(
          testing::wait_until([&] { return looks.load(std::memory_order_relaxed) > before + 1; }));
    }
  };
  Prng prng(77);
  uint64_t used_again = 0;
  size_t bytes_met = 0;
  for (uint64_t i = 2; i < kVersionsMin || used_again < kUsedAgain || pinned.load() < 5; ++i) {
    if (delta.bytes() > size_t{200} << 20) break;
    if (delta.bytes() > bytes_met + (size_t{4} << 20)) {
      bytes_met = delta.bytes();
      let_readers_look();
    }
    DeltaEntry* entry = entries[prng.below(kHot)];
    Version* version = delta.new_version(entry, 48);
    ASSERT_NE(version, nullptr);
    used_again = i - std::min(i, delta.bytes() / 80);
    fill(version, i);
    delta.link(entry, version);
    // Two versions stay in each chain.
    if (Version* second = version->older.load(); second != nullptr) {
      if (Version* third = second->older.load(); third != nullptr) delta.unlink(entry, third);
    }
    if (i % 64 == 0) std::this_thread::yield();
  }
  stop = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(bad.load(), 0u);
  EXPECT_GE(used_again, kUsedAgain);
}

}  // namespace
}  // namespace hawthorn::tree
