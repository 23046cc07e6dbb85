#include "tree/delta.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/prng.h"
#include "os/epoch.h"
#include "tree/delta_test_keys.h"

namespace hawthorn::tree {
namespace {

using delta_keys::KeyShape;
using delta_keys::make_keys;

constexpr size_t kBudget = size_t{32} << 20;

std::unique_ptr<os::Arena> make_arena(size_t budget = kBudget) {
  auto arena = os::Arena::create(budget);
  EXPECT_TRUE(arena.ok());
  return std::move(*arena);
}

DeltaEntry* add(Delta& delta, std::string_view key) {
  return delta.find_or_add(key, key_head(key, delta.skip()));
}

Version* make_version(Delta& delta, DeltaEntry* entry, std::string_view value, uint64_t stamp = 1,
                      uint32_t seq = 0) {
  Version* version = delta.new_version(entry, static_cast<uint32_t>(value.size()));
  if (version == nullptr) return nullptr;
  version->stamp.store(stamp);
  version->seq = seq;
  version->kind = VersionKind::kPut;
  version->flags.store(0);
  if (!value.empty()) std::memcpy(version->bytes(), value.data(), value.size());
  return version;
}

std::vector<std::string> chain(const DeltaEntry* entry) {
  std::vector<std::string> values;
  for (Version* v = entry->newest.load(); v != nullptr; v = v->older.load()) {
    values.emplace_back(v->value());
  }
  return values;
}

// Every function of a delta against an ordered map of the same keys.
class Model {
 public:
  explicit Model(Delta& delta) : delta_(delta) {}

  void add(const std::string& key) {
    DeltaEntry* entry = tree::add(delta_, key);
    ASSERT_NE(entry, nullptr);
    ASSERT_EQ(entry->key(), key);
    ASSERT_EQ(entries_.emplace(key, entry).first->second, entry) << "a second entry of the key";
    ASSERT_EQ(entries_.size(), delta_.entries());
  }
  void expect_found() const {
    ASSERT_EQ(delta_.entries(), entries_.size());
    for (const auto& [key, entry] : entries_) {
      ASSERT_TRUE(delta_.may_contain(Delta::hash(key)));
      ASSERT_EQ(delta_.find(key, Delta::hash(key)), entry);
    }
  }
  // Absent or not, and what collect gives from there.
  void expect_around(const std::string& key, size_t room) const {
    const uint64_t head = key_head(key, delta_.skip());
    const auto found = entries_.find(key);
    if (!delta_.empty() && found != entries_.end()) {
      ASSERT_TRUE(delta_.may_contain(Delta::hash(key)));
    }
    ASSERT_EQ(delta_.find(key, Delta::hash(key)),
              found == entries_.end() ? nullptr : found->second);
    std::vector<DeltaEntry*> out(room);
    for (const auto seek : {Delta::Seek::kGreaterEqual, Delta::Seek::kGreater}) {
      auto at =
          seek == Delta::Seek::kGreater ? entries_.upper_bound(key) : entries_.lower_bound(key);
      const size_t count = delta_.collect(seek, key, head, out);
      ASSERT_EQ(count == 0, at == entries_.end());
      for (size_t i = 0; i < count; ++i, ++at) {
        ASSERT_NE(at, entries_.end());
        ASSERT_EQ(out[i], at->second);
      }
    }
    for (const auto seek : {Delta::Seek::kLessEqual, Delta::Seek::kLess}) {
      auto at = seek == Delta::Seek::kLess ? entries_.lower_bound(key) : entries_.upper_bound(key);
      const size_t count = delta_.collect(seek, key, head, out);
      ASSERT_EQ(count == 0, at == entries_.begin());
      for (size_t i = 0; i < count; ++i) {
        ASSERT_NE(at, entries_.begin());
        ASSERT_EQ(out[i], (--at)->second);
      }
    }
  }
  void expect_scans(size_t room) const {
    std::vector<DeltaEntry*> out(room);
    auto forward = entries_.begin();
    for (size_t count = delta_.collect_first(out); count > 0;) {
      for (size_t i = 0; i < count; ++i, ++forward) {
        ASSERT_NE(forward, entries_.end());
        ASSERT_EQ(out[i], forward->second);
      }
      const DeltaEntry* last = out[count - 1];
      count = delta_.collect(Delta::Seek::kGreater, last->key(), last->head, out);
    }
    ASSERT_EQ(forward, entries_.end());
    auto backward = entries_.rbegin();
    for (size_t count = delta_.collect_last(out); count > 0;) {
      for (size_t i = 0; i < count; ++i, ++backward) {
        ASSERT_NE(backward, entries_.rend());
        ASSERT_EQ(out[i], backward->second);
      }
      const DeltaEntry* last = out[count - 1];
      count = delta_.collect(Delta::Seek::kLess, last->key(), last->head, out);
    }
    ASSERT_EQ(backward, entries_.rend());
  }

  void expect_all(Prng& prng, const std::vector<std::string>& probes) const {
    ASSERT_NO_FATAL_FAILURE(expect_found());
    for (const size_t room : {1, 7, 32}) ASSERT_NO_FATAL_FAILURE(expect_scans(room));
    for (const std::string& probe : probes) {
      ASSERT_NO_FATAL_FAILURE(expect_around(probe, prng.between(1, 40)));
    }
  }

 private:
  Delta& delta_;
  std::map<std::string, DeltaEntry*> entries_;
};

TEST(DeltaTest, EmptyDelta) {
  auto arena = make_arena();
  Delta delta(arena.get(), 0);
  DeltaEntry* out[4];
  EXPECT_TRUE(delta.empty());
  EXPECT_EQ(delta.find("a", Delta::hash("a")), nullptr);
  EXPECT_EQ(delta.collect_first(out), 0u);
  EXPECT_EQ(delta.collect_last(out), 0u);
  EXPECT_EQ(delta.collect(Delta::Seek::kLess, "a", key_head("a", 0), out), 0u);
  EXPECT_EQ(delta.bytes(), 0u);
}

TEST(DeltaTest, MatchesAnOrderedMapForKeysOfAllShapes) {
  const uint64_t seed = 20240611;
  SCOPED_TRACE(seed);
  for (int shape = 0; shape < static_cast<int>(KeyShape::kCount); ++shape) {
    for (const uint32_t skip : {0u, 3u, 11u}) {
      SCOPED_TRACE(::testing::Message() << "shape " << shape << ", skip " << skip);
      Prng prng(mix64(seed + static_cast<uint64_t>(shape) * 16 + skip));
      auto arena = make_arena();
      Delta delta(arena.get(), skip);
      Model model(delta);
      const std::string prefix = delta_keys::random_bytes(prng, skip);
      const auto keys = make_keys(prng, static_cast<KeyShape>(shape), 3000, prefix);
      const auto probes = make_keys(prng, static_cast<KeyShape>(shape), 300, prefix);
      for (size_t i = 0; i < keys.size(); ++i) {
        ASSERT_NO_FATAL_FAILURE(model.add(keys[i]));
        if (i < 30 || i % 1000 == 0) {
          ASSERT_NO_FATAL_FAILURE(model.expect_scans(5));
          ASSERT_NO_FATAL_FAILURE(model.expect_around(probes[i % probes.size()], 9));
        }
      }
      ASSERT_NO_FATAL_FAILURE(model.expect_all(prng, probes));
      ASSERT_NO_FATAL_FAILURE(
          model.expect_all(prng, std::vector<std::string>(keys.begin(), keys.begin() + 300)));
      // Adding again makes nothing new.
      const size_t bytes = delta.bytes();
      for (const std::string& key : keys) ASSERT_NO_FATAL_FAILURE(model.add(key));
      ASSERT_EQ(delta.bytes(), bytes);
    }
  }
}

TEST(DeltaTest, DeepTreesOfAHundredThousandKeys) {
  for (const auto shape : {KeyShape::kSequence, KeyShape::kReverse, KeyShape::kFixed8}) {
    SCOPED_TRACE(static_cast<int>(shape));
    Prng prng(7);
    auto arena = make_arena();
    Delta delta(arena.get(), 0);
    Model model(delta);
    for (const std::string& key : make_keys(prng, shape, 100000, "")) {
      ASSERT_NO_FATAL_FAILURE(model.add(key));
    }
    ASSERT_NO_FATAL_FAILURE(model.expect_all(prng, make_keys(prng, shape, 300, "")));
  }
}

TEST(DeltaTest, GivesAllMemoryBack) {
  auto arena = make_arena();
  {
    Delta delta(arena.get(), 0);
    Prng prng(1);
    for (const std::string& key : make_keys(prng, KeyShape::kRandom, 5000, "")) {
      ASSERT_NE(add(delta, key), nullptr);
    }
    // Its first pieces lie in pages that others may share.
    EXPECT_GE(arena->used(os::Quota::kDelta), delta.bytes());
    EXPECT_LE(arena->used(os::Quota::kDelta), delta.bytes() + 6 * size_t{4096});
  }
  EXPECT_EQ(arena->used(), 0u);
}

TEST(DeltaTest, ChainsLinkAndUnlinkAnywhere) {
  auto arena = make_arena();
  Delta delta(arena.get(), 0);
  DeltaEntry* entry = add(delta, "key");
  const size_t empty_bytes = delta.live_bytes();
  std::vector<Version*> versions;
  for (const char* value : {"one", "two2", "three", "four"}) {
    versions.push_back(make_version(delta, entry, value));
    delta.link(entry, versions.back());
  }
  EXPECT_EQ(chain(entry), (std::vector<std::string>{"four", "three", "two2", "one"}));
  EXPECT_EQ(delta.versions(), 4u);
  EXPECT_EQ(delta.live_bytes(), empty_bytes + 16);
  EXPECT_TRUE(delta.unlink(entry, versions[1]));
  EXPECT_FALSE(delta.unlink(entry, versions[1]));
  EXPECT_EQ(chain(entry), (std::vector<std::string>{"four", "three", "one"}));
  EXPECT_TRUE(delta.unlink(entry, versions[0]));
  EXPECT_TRUE(delta.unlink(entry, versions[3]));
  EXPECT_EQ(chain(entry), (std::vector<std::string>{"three"}));
  EXPECT_TRUE(delta.unlink(entry, versions[2]));
  EXPECT_EQ(chain(entry), std::vector<std::string>{});
  EXPECT_EQ(delta.versions(), 0u);
  EXPECT_EQ(delta.live_bytes(), empty_bytes);
  EXPECT_EQ(delta.find("key", Delta::hash("key")), entry) << "entries are never removed (1)";
}

// A reader that stands among versions that are replaced goes on to the end of the chain.
TEST(DeltaTest, SeveralVersionsBecomeOne) {
  auto arena = make_arena();
  Delta delta(arena.get(), 0);
  DeltaEntry* entry = add(delta, "key");
  const size_t empty_bytes = delta.live_bytes();
  std::vector<Version*> versions;
  for (const char* value : {"1", "2", "3", "4", "5"}) {
    versions.push_back(make_version(delta, entry, value));
    delta.link(entry, versions.back());
  }
  const uint64_t links = delta.links();
  delta.replace(entry, versions[3], versions[1], make_version(delta, entry, "2 to 4"));
  EXPECT_EQ(chain(entry), (std::vector<std::string>{"5", "2 to 4", "1"}));
  EXPECT_EQ(delta.versions(), 3u);
  EXPECT_EQ(delta.live_bytes(), empty_bytes + 8);
  EXPECT_EQ(delta.links(), links);
  EXPECT_EQ(versions[3]->older.load(), versions[2]);
  EXPECT_EQ(versions[1]->older.load(), versions[0]);
  delta.replace(entry, versions[4], versions[0], make_version(delta, entry, "all"));
  EXPECT_EQ(chain(entry), (std::vector<std::string>{"all"}));
  EXPECT_EQ(delta.versions(), 1u);
}

TEST(DeltaTest, EmptyAndLargeValues) {
  auto arena = make_arena();
  Delta delta(arena.get(), 0);
  DeltaEntry* entry = add(delta, "");
  delta.link(entry, make_version(delta, entry, ""));
  const std::string large(100000, 'x');
  delta.link(entry, make_version(delta, entry, large));
  delta.link(entry, make_version(delta, entry, "after"));
  EXPECT_EQ(chain(entry), (std::vector<std::string>{"after", large, ""}));
}

// Updates of one key take no more memory than what waits for its epoch (3).
TEST(DeltaTest, UnlinkedVersionsAreUsedAgain) {
  auto arena = make_arena();
  Delta delta(arena.get(), 0);
  DeltaEntry* entry = add(delta, "counter");
  Version* last = nullptr;
  size_t bytes = 0;
  for (uint32_t i = 0; i < 100000; ++i) {
    // Sizes vary within one allocation class.
    Version* version = make_version(delta, entry, std::string(80 + i % 8, 'v'));
    delta.link(entry, version);
    ASSERT_TRUE(last == nullptr || delta.unlink(entry, last));
    last = version;
    if (i == 1000) bytes = delta.bytes();
  }
  EXPECT_EQ(delta.bytes(), bytes);
  EXPECT_EQ(delta.versions(), 1u);
}

TEST(DeltaTest, VersionsOfMixedSizesAreUsedAgain) {
  auto arena = make_arena();
  Delta delta(arena.get(), 0);
  DeltaEntry* entry = add(delta, "key");
  Prng prng(5);
  Version* last = nullptr;
  for (uint32_t i = 0; i < 100000; ++i) {
    const std::string value(prng.between(100, 200), static_cast<char>('a' + i % 26));
    Version* version = make_version(delta, entry, value);
    delta.link(entry, version);
    ASSERT_TRUE(last == nullptr || delta.unlink(entry, last));
    last = version;
    ASSERT_EQ(chain(entry), std::vector<std::string>{value});
  }
  EXPECT_LT(delta.bytes(), 1u << 20);
}

TEST(DeltaTest, MemoryThatAReaderMayHoldIsNotUsedAgain) {
  for (const bool by_pin : {false, true}) {
    SCOPED_TRACE(by_pin);
    auto arena = make_arena();
    Delta delta(arena.get(), 0);
    DeltaEntry* entry = add(delta, "key");
    Version* seen = make_version(delta, entry, "what the reader sees");
    delta.link(entry, seen);
    auto guard = std::make_unique<os::epoch::Guard>();
    if (by_pin) {
      delta.pin();
      guard.reset();
    }
    std::set<Version*> used{seen};
    const auto churn = [&] {
      bool again = false;
      for (int i = 0; i < 1000; ++i) {
        Version* version = make_version(delta, entry, "something of its size");
        again = again || !used.insert(version).second;
        delta.link(entry, version);
        delta.unlink(entry, version->older.load());
      }
      return again;
    };
    EXPECT_FALSE(churn());
    EXPECT_EQ(seen->value(), "what the reader sees");
    if (by_pin) {
      delta.unpin();
    } else {
      guard.reset();
    }
    EXPECT_TRUE(churn());
  }
}

// Memory runs out at every possible place: what was there stays, and when there is memory again the
// same insert goes through.
TEST(DeltaTest, ExhaustionInTheMiddleOfAnInsertLeavesItConsistent) {
  const uint64_t seed = 99;
  uint64_t failures = 0;
  for (uint64_t round = 0; round < 60; ++round) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed << ", round " << round);
    Prng prng(mix64(seed + round));
    auto arena = make_arena(size_t{2} << 20);
    // All memory but `left` bytes belongs to somebody else, in spans that are given back later.
    std::vector<char*> filler;
    while (char* span = arena->allocate(os::Quota::kOther, 4096)) filler.push_back(span);
    const size_t pages = prng.between(0, 3);
    const auto give = [&] {
      if (filler.empty()) return;
      // Neighbouring pages make the larger chunks possible.
      for (size_t i = 0; i < pages + 1 && !filler.empty(); ++i) {
        arena->release(os::Quota::kOther, filler.back(), 4096);
        filler.pop_back();
      }
    };
    {
      Delta delta(arena.get(), 0);
      Model model(delta);
      const auto shape = static_cast<KeyShape>(prng.below(static_cast<uint64_t>(KeyShape::kCount)));
      const auto keys = make_keys(prng, shape, 3000, "");
      const auto probes = make_keys(prng, shape, 20, "");
      for (const std::string& key : keys) {
        while (add(delta, key) == nullptr) {
          ++failures;
          ASSERT_FALSE(filler.empty());
          if (failures % 4 == 0) {
            ASSERT_NO_FATAL_FAILURE(model.expect_scans(7));
            ASSERT_EQ(delta.find(key, Delta::hash(key)), nullptr);
          }
          give();
        }
        ASSERT_NO_FATAL_FAILURE(model.add(key));
      }
      ASSERT_NO_FATAL_FAILURE(model.expect_all(prng, probes));
    }
    for (char* span : filler) arena->release(os::Quota::kOther, span, 4096);
    EXPECT_EQ(arena->used(), 0u);
  }
  EXPECT_GT(failures, 500u);
}

// Of many trees, each with little in it.
TEST(DeltaTest, SmallOnesShareAPage) {
  const auto arena = make_arena();
  const std::string value(40, 'v');
  std::vector<std::unique_ptr<Delta>> deltas;
  for (int i = 0; i < 18; ++i) {
    deltas.push_back(std::make_unique<Delta>(arena.get(), 0));
    DeltaEntry* entry = add(*deltas.back(), "key");
    ASSERT_NE(entry, nullptr);
    Version* version = make_version(*deltas.back(), entry, value);
    ASSERT_NE(version, nullptr);
    deltas.back()->link(entry, version);
  }
  EXPECT_EQ(arena->used(os::Quota::kDelta), 4096u);
  deltas.clear();
  EXPECT_EQ(arena->used(), 0u);
}

}  // namespace
}  // namespace hawthorn::tree
