// Db::explain: where keys are, and that what it says of a get's cost is what a get then reads.

#include <gtest/gtest.h>

#include <string>

#include "base/prng.h"
#include "hawthorn/hawthorn.h"
#include "tests/api/api_test_fixture.h"

namespace hawthorn::tests {
namespace {

using Kind = KeyExplanation::Kind;
using Place = KeyExplanation::Place;

class ExplainTest : public Api {
 protected:
  KeyExplanation explain(std::string_view key, const Snapshot* snapshot = nullptr) {
    return explain_in(tree_, key, snapshot);
  }
  KeyExplanation explain_in(const Tree& tree, std::string_view key,
                            const Snapshot* snapshot = nullptr) {
    Result<KeyExplanation> told = db_->explain(tree, key, {.snapshot = snapshot});
    EXPECT_OK(told.status());
    if (!told.ok()) return {};
    const std::string stored = told->stored_key;
    EXPECT_GE(stored, told->low_key);
    EXPECT_TRUE(!told->high_key || stored < *told->high_key);
    return *std::move(told);
  }
  void reopen(const Options& with) {
    ASSERT_OK(db_->close());
    open_with(with);
    ASSERT_OK(db_->drain());  // what reads in the background counts, too
  }
  // What the next get of the key reads.
  uint64_t bytes_of_get(std::string_view key, const std::string& expected) {
    const uint64_t before = db_->stats().bytes_read;
    EXPECT_EQ(get(key), expected);
    return db_->stats().bytes_read - before;
  }

  static std::string key_of(int i) {
    const std::string digits = std::to_string(i);
    return "key" + std::string(8 - digits.size(), '0') + digits;
  }
  static std::string value_of(int i, size_t bytes) {
    Prng prng(static_cast<uint64_t>(i));
    std::string value(bytes, '\0');
    for (char& c : value) c = static_cast<char>('a' + prng.below(26));
    return value;
  }
  void fill(int keys, size_t value_bytes) {
    for (int i = 0; i < keys; ++i) put(key_of(i), value_of(i, value_bytes));
    ASSERT_OK(db_->flush());
    ASSERT_OK(db_->drain());
  }
  // A get of each reads what was said, and the next one of most keys nothing.
  void expect_costs(int keys, size_t value_bytes, bool kept = true) {
    bool some_read = false;
    int now_in_memory = 0;
    for (int i = 0; i < keys; i += keys / 20) {
      const KeyExplanation first = explain(key_of(i));
      EXPECT_EQ(first.place, Place::kRun);
      EXPECT_EQ(first.value_bytes, value_bytes);
      EXPECT_GE(first.cold.reads, 1u);
      EXPECT_EQ(bytes_of_get(key_of(i), value_of(i, value_bytes)), first.now.bytes) << key_of(i);
      some_read = some_read || first.now.bytes != 0;
      const KeyExplanation again = explain(key_of(i));
      if (again.now == KeyExplanation::Cost{}) ++now_in_memory;
      EXPECT_TRUE(again.value_resident || again.now != KeyExplanation::Cost{}) << key_of(i);
      // Where memory is short, one or two blocks of the index may have found no room.
      constexpr uint64_t kIndexBytes = 2 * 4096;
      if (again.value_resident) {
        EXPECT_LE(again.now.bytes, kept ? kIndexBytes : 0) << key_of(i);
      }
      EXPECT_EQ(again.cold, first.cold);
      const KeyExplanation missing = explain(key_of(i) + "x");
      EXPECT_FALSE(missing.found());
      EXPECT_EQ(bytes_of_get(key_of(i) + "x", "NotFound"), missing.now.bytes) << key_of(i);
    }
    EXPECT_TRUE(some_read);
    EXPECT_GE(now_in_memory, kept ? 15 : 0);  // where memory is short some find no room
  }
};

TEST_F(ExplainTest, TellsEachPlaceOfAKey) {
  KeyExplanation told = explain("ada");
  EXPECT_EQ(told.place, Place::kNowhere);
  EXPECT_EQ(told.tree, tree_.id());
  EXPECT_FALSE(told.found());

  put("ada", "1815");
  put("ada", "1816");
  told = explain("ada");
  EXPECT_EQ(told.place, Place::kMemory);
  EXPECT_EQ(told.kind, Kind::kInline);
  EXPECT_EQ(told.value_bytes, 4u);
  EXPECT_GE(told.versions_unflushed, 1u);
  EXPECT_EQ(told.versions_flushed, 0u);
  EXPECT_GT(told.timestamp, 0u);
  EXPECT_EQ(told.cold, KeyExplanation::Cost{});
  EXPECT_TRUE(told.value_resident);

  put("grace", std::string(3000, 'g'));
  put("large", std::string(200'000, 'l'));
  ASSERT_OK(db_->flush());
  told = explain("ada");
  EXPECT_EQ(told.place, Place::kRun);
  EXPECT_EQ(told.kind, Kind::kInline);
  EXPECT_EQ(told.versions_unflushed, 0u);
  EXPECT_EQ(told.versions_flushed, 1u);
  EXPECT_EQ(told.index.file, "data.0");
  EXPECT_GT(told.index.bytes, 0u);
  EXPECT_EQ(told.entries_flushed, 3u);
  told = explain("grace");
  EXPECT_EQ(told.kind, Kind::kSeparated);
  EXPECT_EQ(told.value_bytes, 3000u);
  EXPECT_EQ(told.extent.file, "data.0");
  EXPECT_NE(told.extent, told.index);
  EXPECT_EQ(told.extents_bytes, told.extent.bytes);
  EXPECT_EQ(told.garbage_bytes, 0u);
  told = explain("large");
  EXPECT_EQ(told.kind, Kind::kLarge);
  EXPECT_EQ(told.value_bytes, 200'000u);
  EXPECT_GE(told.now.bytes, 200'000u);
  EXPECT_FALSE(told.value_resident);
  EXPECT_EQ(explain("nobody").place, Place::kNowhere);
}

TEST_F(ExplainTest, KnowsTheGarbageOfAContainer) {
  constexpr uint64_t kValue = 3000;
  for (char c = 'a'; c <= 't'; ++c) put(std::string(1, c), std::string(kValue, c));
  ASSERT_OK(db_->flush());
  EXPECT_EQ(explain("b").garbage_bytes, 0u);
  const uint64_t before = explain("b").extents_bytes;
  EXPECT_GE(before, 20 * kValue);
  put("a", std::string(kValue, 'z'));  // too little to write all the others anew for
  ASSERT_OK(db_->flush());
  EXPECT_EQ(explain("b").garbage_bytes, kValue);
  EXPECT_GT(explain("b").extents_bytes, before);
  ASSERT_OK(db_->compact());
  EXPECT_EQ(explain("b").garbage_bytes, 0u);
}

TEST_F(ExplainTest, KnowsVersionsThatSnapshotsSee) {
  put("k", "one");
  const Snapshot before = db_->snapshot();
  ASSERT_OK(db_->flush());
  put("k", "longer");
  EXPECT_EQ(explain("k").place, Place::kMemory);
  EXPECT_EQ(explain("k").value_bytes, 6u);
  EXPECT_EQ(explain("k", &before).place, Place::kRun);
  EXPECT_EQ(explain("k", &before).value_bytes, 3u);
  ASSERT_OK(db_->flush());
  EXPECT_EQ(explain("k").versions_flushed, 2u);
  EXPECT_EQ(explain("k").value_bytes, 6u);
  EXPECT_EQ(explain("k", &before).value_bytes, 3u);
  ASSERT_OK(db_->del(tree_, "k"));
  const KeyExplanation told = explain("k");
  EXPECT_EQ(told.kind, Kind::kDeleted);
  EXPECT_FALSE(told.found());
  EXPECT_TRUE(explain("k", &before).found());
}

TEST_F(ExplainTest, FollowsClonesToTheirSource) {
  put("k", "value");
  ASSERT_OK(db_->flush());
  const Result<Tree> clone = db_->clone_tree("t", "copy");
  ASSERT_OK(clone.status());
  KeyExplanation told = explain_in(*clone, "k");
  EXPECT_EQ(told.clones_passed, 1u);
  EXPECT_EQ(told.tree, tree_.id());
  EXPECT_EQ(told.place, Place::kRun);
  ASSERT_OK(db_->put(*clone, "k", "own"));
  told = explain_in(*clone, "k");
  EXPECT_EQ(told.clones_passed, 0u);
  EXPECT_EQ(told.tree, clone->id());
  EXPECT_EQ(told.value_bytes, 3u);
}

TEST_F(ExplainTest, KnowsOfDeletedRanges) {
  put("a", "1");
  put("b", "2");
  ASSERT_OK(db_->flush());
  const Snapshot before = db_->snapshot();
  ASSERT_OK(db_->delete_range(tree_, "b"));
  EXPECT_FALSE(explain("b").found());
  EXPECT_TRUE(explain("b", &before).found());
  EXPECT_TRUE(explain("a").found());
}

TEST_F(ExplainTest, RefusesWhereAKeyHasSeveralValues) {
  const Result<Tree> several = db_->tree("several", {.multi_value = true});
  ASSERT_OK(several.status());
  EXPECT_EQ(db_->explain(*several, "k").status().code(), StatusCode::kNotSupported);
}

TEST_F(ExplainTest, SmallValuesCostWhatIsSaid) {
  fill(20'000, 8);
  reopen(options());
  expect_costs(20'000, 8);
}

TEST_F(ExplainTest, SeparatedValuesCostWhatIsSaid) {
  fill(20'000, 300);
  reopen(options());
  expect_costs(20'000, 300);
}

TEST_F(ExplainTest, LargeValuesCostWhatIsSaid) {
  fill(20, 150'001);
  reopen(options());
  expect_costs(20, 150'001, false);
}

// By what it is stored as a key leads to its container, and from one to the next, in trees of all
// kinds.
TEST_F(ExplainTest, ContainersFollowEachOther) {
  const TreeOptions reversed{.order = "reverse"};
  for (const TreeOptions& of :
       {TreeOptions{}, reversed, TreeOptions{.multi_value = true}, TreeOptions{.expires = true}}) {
    const std::string name =
        "walked" + of.order + (of.multi_value ? "m" : "") + (of.expires ? "e" : "");
    const Result<Tree> made = db_->tree(name, of);
    ASSERT_OK(made.status());
    constexpr int kKeys = 30'000;
    for (int i = 0; i < kKeys; ++i) ASSERT_OK(db_->put(*made, key_of(i), value_of(i, 300)));
    ASSERT_OK(db_->flush());
    ASSERT_OK(db_->drain());
    std::optional<std::string> at = "";
    uint64_t containers = 0;
    uint64_t entries = 0;
    uint64_t bytes = 0;
    while (at) {
      const Result<KeyExplanation> told = db_->explain_stored(*made, *at);
      ASSERT_OK(told.status());
      EXPECT_EQ(told->low_key, *at);
      EXPECT_EQ(told->stored_key, *at);
      ASSERT_TRUE(!told->high_key || *told->high_key > *at);
      ++containers;
      entries += told->entries_flushed + told->entries_unflushed;
      bytes += told->index.bytes + told->extents_bytes;
      at = told->high_key;
    }
    EXPECT_GT(containers, 1u) << name;
    EXPECT_EQ(entries, uint64_t{kKeys}) << name;
    EXPECT_GT(bytes, uint64_t{kKeys} * 300) << name;
  }
}

class ExplainBeyondMemory : public ExplainTest, public ::testing::WithParamInterface<size_t> {};

TEST_P(ExplainBeyondMemory, CostsWhatIsSaid) {
  Options small = options();
  small.memory_budget_bytes = size_t{16} << 20;
  reopen(small);
  const int keys = static_cast<int>((size_t{36} << 20) / (GetParam() + 24));
  fill(keys, GetParam());
  reopen(small);
  expect_costs(keys, GetParam());
}

TEST_P(ExplainBeyondMemory, CompressedOnesCostWhatIsSaid) {
  Options small = options();
  small.memory_budget_bytes = size_t{16} << 20;
  small.compression = Compression::kLz4;
  reopen(small);
  ASSERT_OK(db_->set_compression(tree_, Compression::kLz4));
  const int keys = static_cast<int>((size_t{36} << 20) / (GetParam() + 24));
  fill(keys, GetParam());
  reopen(small);
  expect_costs(keys, GetParam());
}

INSTANTIATE_TEST_SUITE_P(Sizes, ExplainBeyondMemory, ::testing::Values(8, 40, 90, 700, 5000));

}  // namespace
}  // namespace hawthorn::tests
