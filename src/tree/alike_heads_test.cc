// What is read of a container whose keys are alike for longer than 8 bytes, where the fronts of its
// runs are in memory and nothing else: bytes, whatever the keys look like.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "base/prng.h"
#include "tree/cursor_test_support.h"

namespace hawthorn::tree::alike_heads_test {
namespace {

using cursor_test::TestTree;

constexpr size_t kBudget = size_t{64} << 20;
constexpr size_t kBlock = 4096;

std::string number(const char* format, uint64_t i) {
  char text[64];
  snprintf(text, sizeof text, format, static_cast<unsigned long long>(i));
  return text;
}

std::string decimal(uint64_t i) { return number("user:%012llu", i); }
std::string url(uint64_t i) {
  return "https://www.example.com/" + number("shop/%03llu", mix64(i) % 40) +
         number("/articles/%llu", mix64(i)) + "?view=full";
}
std::string uuid(uint64_t i) {
  const std::string digits = number("%016llx", mix64(i)) + number("%016llx", mix64(i + 77777));
  return "session/" + digits.substr(0, 8) + "-" + digits.substr(8, 4) + "-4" +
         digits.substr(13, 3) + "-" + digits.substr(16, 4) + "-" + digits.substr(20);
}
std::string domain(uint64_t i) {
  return number("com.example.region-%llu", mix64(i) % 7) + number(".host%llu", i % 300) +
         number(".service-%llu", i);
}
// A kilobyte, of which the end alone differs, or the middle.
std::string kilobyte(uint64_t i) {
  std::string key(1000, 'k');
  key.replace(i % 3 == 0 ? 500 : 980, 12, number("%012llu", i));
  return key;
}
// Longer than what is promised.
std::string long_key(uint64_t i) {
  return std::string(9000, 'x') + number("%08llu", i) + std::string(i % 5000, 'y');
}

struct Shape {
  const char* name;
  std::string (*key)(uint64_t);
  uint64_t keys;
  size_t value;
};

class AlikeHeads : public ::testing::TestWithParam<Shape> {
 protected:
  AlikeHeads()
      : test_(
            {.budget = kBudget, .policy = {.extents_max = 14, .target_bytes = size_t{64} << 20}}) {}

  // In rounds, so that values lie in several extents. Every fourth key is absent.
  void fill() {
    const Shape& shape = GetParam();
    for (uint64_t round = 0; round < 6; ++round) {
      TestTree::Changes changes;
      for (uint64_t i = round; i < shape.keys; i += 6) {
        if (i % 4 == 3) continue;
        changes.emplace_back(shape.key(i), value(i));
      }
      test_.commit(changes);
      test_.flush("");
    }
    contents_ = test_.contents();
    test_.residency().set_reserve(kBudget - (size_t{1} << 18));
  }
  static std::string value(uint64_t i) {
    return number("%llu/", i) + std::string(GetParam().value, static_cast<char>('a' + i % 26));
  }
  void leave_fronts() {
    test_.evict_all();
    for (const std::string& low : test_.lows()) {
      RunFile* file = test_.tree()->directory().find(low)->descriptor.load()->run;
      ASSERT_TRUE(test_.residency().load_run(file, RunPart::kFront).ok());
      ASSERT_TRUE(file->empty() || file->run.load()->heap() == nullptr);
    }
  }
  template <typename Read>
  uint64_t bytes_of(Read read) {
    leave_fronts();
    const uint64_t before = test_.residency().bytes_read();
    read();
    return test_.residency().bytes_read() - before;
  }
  static size_t blocks(size_t bytes) { return (bytes + kBlock - 2) / kBlock + 1; }
  // Of an entry, wherever it begins and its value does.
  static size_t entry_bytes(const std::string& key, const std::string& value) {
    return (blocks(key.size() + 30) + blocks(value.size())) * kBlock;
  }

  TestTree test_;
  cursor_test::Contents contents_;
};

TEST_P(AlikeHeads, AGetReadsItsRecordAndABlock) {
  fill();
  const Shape& shape = GetParam();
  for (uint64_t i = 0; i < shape.keys; i += shape.keys / 24) {
    const std::string key = shape.key(i);
    const bool there = contents_.contains(key);
    size_t most = entry_bytes(key, there ? contents_[key] : "") + kBlock;
    if (key.size() > 1024) most = 2 * most + 8 * kBlock;
    const uint64_t bytes = bytes_of([&] {
      Value got;
      const Status status = test_.tree()->get(key, {test_.visible(), 0}, true, got);
      ASSERT_EQ(status.ok(), there) << status.to_string();
      if (!there) return;
      ASSERT_EQ(got.to_string(), contents_[key]);
    });
    EXPECT_LE(bytes, most) << i;
  }
}

TEST_P(AlikeHeads, ASeekReadsLittle) {
  fill();
  const Shape& shape = GetParam();
  for (uint64_t i = 0; i < shape.keys; i += shape.keys / 24) {
    const std::string key = shape.key(i);
    for (const bool forward : {true, false}) {
      auto at = contents_.lower_bound(key);
      if (!forward && (at == contents_.end() || at->first != key)) {
        if (at == contents_.begin()) continue;
        --at;
      }
      if (at == contents_.end()) continue;
      size_t most = 8 * kBlock + at->first.size() + at->second.size();
      if (key.size() > 1024) most = 8 * kBlock + 2 * entry_bytes(at->first, at->second);
      const uint64_t bytes = bytes_of([&] {
        TreeCursor cursor(test_.tree(), {test_.visible(), 0}, {});
        ASSERT_TRUE(forward ? cursor.seek(key) : cursor.seek_for_prev(key));
        ASSERT_EQ(cursor.key(), at->first);
        ASSERT_EQ(cursor.value(), at->second);
      });
      EXPECT_LE(bytes, most) << i << (forward ? " forward" : " backward");
    }
  }
}

TEST_P(AlikeHeads, TheFirstEntryIsFourBlocks) {
  fill();
  const size_t most = GetParam().key(0).size() > 1024 ? 16 * kBlock : 4 * kBlock;
  EXPECT_LE(bytes_of([&] {
              TreeCursor cursor(test_.tree(), {test_.visible(), 0}, {});
              ASSERT_TRUE(cursor.first());
              ASSERT_EQ(cursor.value(), contents_.begin()->second);
            }),
            most);
  EXPECT_LE(bytes_of([&] {
              TreeCursor cursor(test_.tree(), {test_.visible(), 0}, {});
              ASSERT_TRUE(cursor.last());
              ASSERT_EQ(cursor.value(), contents_.rbegin()->second);
            }),
            most);
}

// Walks of any length find all, though windows begin and end among keys that are alike.
TEST_P(AlikeHeads, WalksFindEverything) {
  fill();
  leave_fronts();
  Prng prng(7);
  for (int round = 0; round < 30; ++round) {
    const std::string key = GetParam().key(prng.below(GetParam().keys));
    TreeCursor cursor(test_.tree(), {test_.visible(), 0}, {});
    auto at = contents_.lower_bound(key);
    bool found = cursor.seek(key);
    for (uint64_t steps = prng.below(400); steps > 0 && at != contents_.end(); --steps) {
      ASSERT_TRUE(found);
      ASSERT_EQ(cursor.key(), at->first);
      ASSERT_EQ(cursor.value(), at->second);
      if (prng.one_in(5) && at != contents_.begin()) {
        --at;
        found = cursor.prev();
      } else {
        ++at;
        found = cursor.next();
      }
    }
    ASSERT_EQ(found, at != contents_.end());
  }
}

// A run that was written before there were separators gets them when it is written anew.
TEST_P(AlikeHeads, OldRunsHeal) {
  runs_have_separators = false;
  fill();
  runs_have_separators = true;
  const auto file = [this] { return test_.tree()->directory().find("")->descriptor.load()->run; };
  ASSERT_FALSE(file()->record.separated);
  test_.flush("", true);
  EXPECT_TRUE(file()->record.separated);
  EXPECT_GT(file()->record.separator_blocks, 0u);
}

INSTANTIATE_TEST_SUITE_P(Keys, AlikeHeads,
                         ::testing::Values(Shape{"decimal", decimal, 40000, 20},
                                           Shape{"decimal_with_values", decimal, 6000, 700},
                                           Shape{"url", url, 6000, 300},
                                           Shape{"uuid", uuid, 15000, 60},
                                           Shape{"domain", domain, 9000, 200},
                                           Shape{"kilobyte", kilobyte, 1200, 100},
                                           Shape{"longer", long_key, 150, 50}),
                         [](const auto& shape) { return std::string(shape.param.name); });

}  // namespace
}  // namespace hawthorn::tree::alike_heads_test
