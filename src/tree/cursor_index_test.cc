// Cursors that come into containers of which nothing is in memory, beside a model: they go by a few
// index blocks, and over to the front where they walk on.

#include <gtest/gtest.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "base/prng.h"
#include "testing/scaled.h"
#include "tree/cursor_test_support.h"

namespace hawthorn::tree::cursor_index_test {
namespace {

using cursor_test::CheckedCursor;
using cursor_test::Generator;
using cursor_test::TestTree;

constexpr size_t kBudget = size_t{64} << 20;

enum class Keys : uint8_t { kNumbers, kAlike, kPairs, kMixed };
enum class Values : uint8_t { kSmall, kSeparated, kAll };
// A snapshot is held, and then some keys get two or three versions or are deleted (kVersions), or
// there are more keys (kDated).
enum class Behind : uint8_t { kNothing, kVersions, kDated };

struct Shape {
  const char* name;
  Keys keys;
  Values values;
  Behind behind = Behind::kNothing;
};

class CursorIndexTest : public ::testing::TestWithParam<Shape> {
 protected:
  static constexpr uint64_t kKeys = 6000;

  CursorIndexTest()
      : test_({.budget = kBudget,
               .seed = seed(),
               .policy = {.extents_max = 5, .target_bytes = size_t{600} << 10}}),
        prng_(seed()) {
    for (uint64_t round = 0; round < 4; ++round) {
      TestTree::Changes changes;
      for (uint64_t i = round; i < kKeys; i += 4) {
        if (i % 7 == 3) continue;
        changes.emplace_back(key(i), value(i));
        if (changes.size() < 200) continue;
        test_.commit(changes);
        changes.clear();
      }
      test_.commit(changes);
      test_.flush_all();
    }
    if (GetParam().behind != Behind::kNothing) add_versions();
    // There is room for what is read, and not for all that the database has.
    EXPECT_TRUE(test_.residency().space()->allocate(kBudget / 2 / 4096).ok());
    test_.residency().set_reserve(kBudget / 4 * 3);
  }

  ~CursorIndexTest() override {
    if (GetParam().behind != Behind::kNothing) test_.drop(held_);
  }

  void add_versions() {
    held_ = test_.snapshot();
    for (uint64_t round = 0; round < 2; ++round) {
      TestTree::Changes changes;
      for (uint64_t i = 0; i < kKeys; ++i) {
        const uint64_t what = mix64(i * 2 + round) % 16;
        const bool dated = GetParam().behind == Behind::kDated;
        if (dated ? i % 14 != 3 + 7 * round : what > 4) continue;
        changes.emplace_back(key(i), value(i + 1 + round));
        if (what == 0 && !dated) changes.back().second.reset();
      }
      test_.commit(changes);
      test_.flush_all();
    }
    for (const std::string& low : test_.lows()) {
      ASSERT_TRUE(test_.residency().load_run(file_of(low)).ok());
      EXPECT_TRUE(file_of(low)->run.load()->has_versions());
    }
  }
  // Now, or what the held snapshot shows.
  ReadView some_view() {
    if (GetParam().behind != Behind::kNothing && prng_.one_in(2)) return {held_.ts, 0};
    return {test_.visible(), 0};
  }

  static uint64_t seed() { return testing::environment_number("HAWTHORN_SEED", 20260711); }
  static std::string text(const char* format, uint64_t i) {
    char text[64];
    snprintf(text, sizeof text, format, static_cast<unsigned long long>(i));
    return text;
  }
  std::string key(uint64_t i) const {
    switch (GetParam().keys) {
      case Keys::kNumbers:
        return Generator::number(i * 3);
      case Keys::kAlike:  // in all of their heads
        return text("subscriber/%08llu", i);
      case Keys::kPairs:  // in those of some neighbours
        return Generator::number(i / 40 + 1) + text("%llu", mix64(i) % 1'000'000);
      case Keys::kMixed:
        return i % 3 == 0 ? text("k%04llu", i) : text("k%04llu/and-a-tail", i);
    }
    return {};
  }
  std::string value(uint64_t i) const {
    switch (GetParam().values) {
      case Values::kSmall:
        return text("%llu", i * 12'345'679);
      case Values::kSeparated:
        return std::string(600, static_cast<char>('a' + i % 26));
      case Values::kAll:
        return std::string(i % 11 == 0  ? 3000
                           : i % 5 == 0 ? 300
                                        : i % 60,
                           static_cast<char>('a' + i % 26));
    }
    return {};
  }
  std::string some_key() {
    std::string some = key(prng_.below(kKeys + 20));
    if (prng_.one_in(8)) some.push_back('\0');
    if (prng_.one_in(12)) some.resize(prng_.below(some.size() + 1));
    return some;
  }
  void forget() {
    test_.evict_all();
    for (const std::string& low : test_.lows()) {
      RunFile* file = file_of(low);
      ASSERT_EQ(file->outline.load(), nullptr);
      file->index_reads = 0;
    }
  }
  RunFile* file_of(const std::string& key) {
    const os::epoch::Guard guard;
    return test_.tree()->directory().find(key)->descriptor.load()->run;
  }
  TreeCursor::Options options() {
    TreeCursor::Options options;
    if (prng_.one_in(3)) options.lower = some_key();
    if (prng_.one_in(3)) options.upper = some_key();
    options.key_only = prng_.one_in(5);
    return options;
  }
  // A cursor that begins with nothing in memory.
  void walk_once() {
    ASSERT_NO_FATAL_FAILURE(forget());
    const ReadView view = some_view();
    CheckedCursor cursor(&test_, view, test_.contents(view.ts), options());
    for (uint64_t moves = 1 + prng_.below(5); moves > 0; --moves) {
      if (prng_.one_in(2)) {
        ASSERT_NO_FATAL_FAILURE(cursor.random_move(prng_, some_key()));
      } else if (prng_.one_in(2)) {
        ASSERT_NO_FATAL_FAILURE(cursor.seek(some_key()));
      } else {
        ASSERT_NO_FATAL_FAILURE(cursor.seek_for_prev(some_key()));
      }
      for (uint64_t steps = prng_.below(prng_.one_in(4) ? 700 : 6); steps > 0; --steps) {
        if (prng_.one_in(3)) {
          ASSERT_NO_FATAL_FAILURE(cursor.prev());
        } else {
          ASSERT_NO_FATAL_FAILURE(cursor.next());
        }
      }
    }
  }

  TestTree test_;
  Prng prng_;
  Snapshots::Registration held_;
};

TEST_P(CursorIndexTest, ShortWalksLeaveTheFrontWhereItIs) {
  size_t without = 0;
  for (uint64_t i = 10; i < kKeys; i += 301) {
    ASSERT_NO_FATAL_FAILURE(forget());
    CheckedCursor cursor(&test_, {test_.visible(), 0}, test_.contents(), {});
    ASSERT_NO_FATAL_FAILURE(cursor.seek(key(i)));
    for (int steps = 0; steps < 4; ++steps) ASSERT_NO_FATAL_FAILURE(cursor.next());
    for (int steps = 0; steps < 8; ++steps) ASSERT_NO_FATAL_FAILURE(cursor.prev());
    without += file_of(key(i))->run.load() == nullptr ? 1 : 0;
  }
  EXPECT_GT(without, 18u);
  // A long one goes over to it, and finds the rest.
  ASSERT_NO_FATAL_FAILURE(forget());
  CheckedCursor cursor(&test_, {test_.visible(), 0}, test_.contents(), {});
  ASSERT_NO_FATAL_FAILURE(cursor.first());
  for (uint64_t i = 0; i < kKeys; ++i) ASSERT_NO_FATAL_FAILURE(cursor.next());
  EXPECT_NE(file_of("")->run.load(), nullptr);
}

TEST_P(CursorIndexTest, ManyCursorsFindWhatThereIs) {
  for (int round = 0; round < 70; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    ASSERT_NO_FATAL_FAILURE(walk_once());
  }
}

// Keys of deltas between those of the run, of which some are deleted.
TEST_P(CursorIndexTest, WithUnflushedWritesInBetween) {
  for (int round = 0; round < 36; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    if (round % 12 == 0) {
      TestTree::Changes changes;
      for (int n = 0; n < 60; ++n) {
        const uint64_t i = prng_.below(kKeys);
        changes.emplace_back(key(i), value(i + 1));
        if (prng_.one_in(3)) changes.back().second.reset();
      }
      test_.commit(changes);
    }
    ASSERT_NO_FATAL_FAILURE(walk_once());
  }
  // Some containers have versions and tombstones then.
  const Snapshots::Registration held = test_.snapshot();
  test_.commit({{key(77), value(5)}, {key(4000), {}}});
  test_.flush(key(77));
  test_.flush(key(4000));
  for (int round = 0; round < 15; ++round) ASSERT_NO_FATAL_FAILURE(walk_once());
  test_.drop(held);
}

// What is wrong with an index block is told, and is not passed over.
TEST_P(CursorIndexTest, DamageOfAnIndexBlockIsNamed) {
  ASSERT_NO_FATAL_FAILURE(forget());
  const format::ContainerRecord& record = file_of("")->record;
  const uint32_t header = format::run_front(record).header_blocks;
  const std::string path = "/db/data." + std::to_string(record.run.file);
  const uint64_t at = uint64_t{record.run.block + header} * 4096;
  ASSERT_TRUE(test_.disk().flip_bit(path, at + 100, 3));
  TreeCursor cursor(test_.tree(), {test_.visible(), 0}, {});
  EXPECT_FALSE(cursor.first());
  EXPECT_TRUE(cursor.status().is(StatusCode::kCorruption)) << cursor.status().to_string();
  EXPECT_NE(cursor.status().message().find(path + " at " + std::to_string(at)),
            std::string_view::npos)
      << cursor.status().to_string();
  ASSERT_TRUE(test_.disk().flip_bit(path, at + 100, 3));
  EXPECT_TRUE(cursor.first()) << cursor.status().to_string();
}

INSTANTIATE_TEST_SUITE_P(
    All, CursorIndexTest,
    ::testing::Values(Shape{"NumbersSeparated", Keys::kNumbers, Values::kSeparated},
                      Shape{"NumbersAll", Keys::kNumbers, Values::kAll},
                      Shape{"AlikeSmall", Keys::kAlike, Values::kSmall},
                      Shape{"AlikeSeparated", Keys::kAlike, Values::kSeparated},
                      Shape{"AlikeAll", Keys::kAlike, Values::kAll},
                      Shape{"PairsSmall", Keys::kPairs, Values::kSmall},
                      Shape{"PairsAll", Keys::kPairs, Values::kAll},
                      Shape{"MixedAll", Keys::kMixed, Values::kAll},
                      Shape{"NumbersVersions", Keys::kNumbers, Values::kAll, Behind::kVersions},
                      Shape{"AlikeVersions", Keys::kAlike, Values::kSmall, Behind::kVersions},
                      Shape{"PairsVersions", Keys::kPairs, Values::kSmall, Behind::kVersions},
                      Shape{"MixedVersions", Keys::kMixed, Values::kAll, Behind::kVersions},
                      Shape{"NumbersDated", Keys::kNumbers, Values::kAll, Behind::kDated},
                      Shape{"PairsDated", Keys::kPairs, Values::kSmall, Behind::kDated}),
    [](const auto& shape) { return std::string(shape.param.name); });

}  // namespace
}  // namespace hawthorn::tree::cursor_index_test
