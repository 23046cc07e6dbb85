// What is read of a container whose keys are alike for longer than 8 bytes, where the fronts of its
// runs are in memory and nothing else, or, as just after an open, nothing at all: bytes, whatever
// the keys look like.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <tuple>
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

// ---- Just after an open

struct Values {
  const char* name;
  size_t bytes;
  uint64_t keys;
};

// Nothing is in memory of the one container but what the manifest tells of it.
class JustAfterAnOpen : public ::testing::TestWithParam<std::tuple<Shape, Values>> {
 protected:
  static constexpr size_t kMemory = size_t{96} << 20;

  JustAfterAnOpen()
      : test_(
            {.budget = kMemory, .policy = {.extents_max = 14, .target_bytes = size_t{64} << 20}}) {
    for (uint64_t round = 0; round < 3; ++round) {
      TestTree::Changes changes;
      for (uint64_t i = round; i < keys(); i += 3) {
        if (i % 4 == 3) continue;
        changes.emplace_back(key(i), value(i));
        if (changes.size() < 100) continue;
        test_.commit(changes);
        changes.clear();
      }
      test_.commit(changes);
      test_.flush("");
    }
    contents_ = test_.contents();
    // There is room for what is read, and not for all that the database has.
    EXPECT_TRUE(test_.residency().space()->allocate(kMemory / 2 / kBlock).ok());
    test_.residency().set_reserve(kMemory / 4 * 3);
  }
  static std::string key(uint64_t i) { return std::get<0>(GetParam()).key(i); }
  static uint64_t keys() {
    const bool longer = std::get<0>(GetParam()).key == long_key;
    return longer ? 1300 : std::get<1>(GetParam()).keys;
  }
  static std::string value(uint64_t i) {
    const Values& values = std::get<1>(GetParam());
    std::string bytes = number("%llu/", i);
    bytes.resize(values.bytes, static_cast<char>('a' + i % 26));
    return bytes;
  }
  RunFile* file() { return test_.tree()->directory().find("")->descriptor.load()->run; }
  // `figure`: what it may read where the front is in memory.
  template <typename Read>
  void expect_bytes(size_t figure, const std::string& what, Read read) {
    test_.evict_all();
    ASSERT_EQ(file()->run.load(), nullptr);
    ASSERT_EQ(file()->outline.load(), nullptr);
    file()->index_reads = 0;
    const uint64_t before = test_.residency().bytes_read();
    ASSERT_NO_FATAL_FAILURE(read());
    const uint64_t bytes = test_.residency().bytes_read() - before;
    EXPECT_LE(bytes, figure + file()->image->header_bytes()) << what;
    most_ = std::max(most_, bytes);
  }
  // Of an entry, wherever it begins and its value does.
  static size_t entry_bytes(const std::string& key, const std::string& value) {
    const auto blocks = [](size_t bytes) { return (bytes + kBlock - 2) / kBlock + 1; };
    return (blocks(key.size() + 30) + blocks(value.size())) * kBlock;
  }
  template <typename Check>
  void for_keys(Check check) {
    for (uint64_t i = 0; i < keys(); i += keys() / 40 + 1) check(i, key(i));
  }

  TestTree test_;
  cursor_test::Contents contents_;
  uint64_t most_ = 0;
};

TEST_P(JustAfterAnOpen, AGetReadsAHeaderAreaMore) {
  ASSERT_GT(file()->image->front_blocks, file()->image->header_blocks + 2) << "a large front";
  for_keys([&](uint64_t i, const std::string& key) {
    const bool there = contents_.contains(key);
    size_t most = entry_bytes(key, there ? contents_[key] : "") + kBlock;
    if (key.size() > 1024) most = 2 * most + 8 * kBlock;
    expect_bytes(most, std::to_string(i), [&] {
      Value got;
      const Status status = test_.tree()->get(key, {test_.visible(), 0}, true, got);
      ASSERT_EQ(status.ok(), there) << status.to_string();
      if (!there) return;
      ASSERT_EQ(got.to_string(), contents_[key]);
    });
  });
  RecordProperty("bytes", std::to_string(most_));
}

TEST_P(JustAfterAnOpen, ASeekReadsAHeaderAreaMore) {
  for_keys([&](uint64_t i, const std::string& key) {
    for (const bool forward : {true, false}) {
      auto at = contents_.lower_bound(key);
      if (!forward && (at == contents_.end() || at->first != key)) {
        if (at == contents_.begin()) continue;
        --at;
      }
      if (at == contents_.end()) continue;
      size_t most = 8 * kBlock + at->first.size() + at->second.size();
      // A large value comes by whole blocks.
      if (at->second.size() > kBlock) most = 8 * kBlock + entry_bytes(at->first, at->second);
      if (key.size() > 1024) most = 8 * kBlock + 2 * entry_bytes(at->first, at->second);
      expect_bytes(most, std::to_string(i) + (forward ? " forward" : " backward"), [&] {
        TreeCursor cursor(test_.tree(), {test_.visible(), 0}, {});
        ASSERT_TRUE(forward ? cursor.seek(key) : cursor.seek_for_prev(key));
        ASSERT_EQ(cursor.key(), at->first);
        ASSERT_EQ(cursor.value(), at->second);
      });
    }
  });
  RecordProperty("bytes", std::to_string(most_));
}

TEST_P(JustAfterAnOpen, TheEndsReadAHeaderAreaMore) {
  for (const bool first : {true, false}) {
    const auto& [key, value] = first ? *contents_.begin() : *contents_.rbegin();
    size_t most = 4 * kBlock;
    if (value.size() > 1000 || key.size() > 1024) most += 2 * entry_bytes(key, value);
    expect_bytes(most, first ? "first" : "last", [&] {
      TreeCursor cursor(test_.tree(), {test_.visible(), 0}, {});
      ASSERT_TRUE(first ? cursor.first() : cursor.last());
      ASSERT_EQ(cursor.key(), key);
      ASSERT_EQ(cursor.value(), value);
    });
  }
  RecordProperty("bytes", std::to_string(most_));
}

INSTANTIATE_TEST_SUITE_P(
    Keys, JustAfterAnOpen,
    ::testing::Combine(::testing::Values(Shape{"decimal", decimal, 0, 0}, Shape{"url", url, 0, 0},
                                         Shape{"uuid", uuid, 0, 0}, Shape{"domain", domain, 0, 0},
                                         Shape{"kilobyte", kilobyte, 0, 0},
                                         Shape{"longer", long_key, 0, 0}),
                       ::testing::Values(Values{"8", 8, 12000}, Values{"100", 100, 9000},
                                         Values{"1000", 1000, 4000}, Values{"9000", 9000, 2400})),
    [](const auto& param) {
      return std::string(std::get<0>(param.param).name) + "Values" + std::get<1>(param.param).name;
    });

}  // namespace
}  // namespace hawthorn::tree::alike_heads_test
