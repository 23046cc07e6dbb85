#include "tree/layered_dead.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>

#include "base/bytes.h"
#include "base/prng.h"
#include "tree/cursor_test_support.h"

namespace hawthorn::tree::cursor_test {
namespace {

using Moment = LayeredDead::Moment;
using LayeredStretch = LayeredDead::Stretch;

constexpr Moment kNow{7, 3};

std::string one(char c) { return std::string(1, c); }

TEST(LayeredDead, HoldsForItsMoment) {
  LayeredDead dead;
  LayeredStretch found;
  EXPECT_FALSE(dead.find(1, kNow, "b", &found));
  dead.add(1, kNow, {"b", "d"});
  EXPECT_TRUE(dead.find(1, kNow, "c", &found));
  EXPECT_FALSE(dead.find(1, {8, 3}, "c", &found));
  EXPECT_FALSE(dead.find(1, {7, 5}, "c", &found));
  dead.add(1, {7, 5}, {"e", {}});
  EXPECT_FALSE(dead.find(1, kNow, "c", &found));
  EXPECT_FALSE(dead.find(1, {7, 5}, "c", &found));
  EXPECT_TRUE(dead.find(1, {7, 5}, "z", &found));
  EXPECT_FALSE(found.high.has_value());
  dead.clear();
  EXPECT_FALSE(dead.find(1, {7, 5}, "z", &found));
}

TEST(LayeredDead, StaysWhereItsOwnTransactionSpills) {
  LayeredDead dead;
  LayeredStretch found;
  dead.add(1, kNow, {"b", "d"});
  dead.spilled(2, 3, 5);
  dead.spilled(1, 5, 7);  // something has changed before that
  EXPECT_TRUE(dead.find(1, kNow, "c", &found));
  dead.spilled(1, 3, 5);
  EXPECT_FALSE(dead.find(1, kNow, "c", &found));
  EXPECT_TRUE(dead.find(1, {7, 5}, "c", &found));
}

// However many keys come back.
TEST(LayeredDead, TakesSoMuchMemory) {
  LayeredDead dead;
  LayeredStretch found;
  dead.add(1, kNow, {"", {}});
  for (uint64_t i = 0; i < 4 * LayeredDead::kBytesMax / 256; ++i) {
    std::string key(100, '\0');
    store(key.data(), __builtin_bswap64(i));
    dead.revive(1, key);
  }
  ASSERT_TRUE(dead.find(1, kNow, "z", &found));
  // The next one begins anew.
  dead.add(1, kNow, {"x", "y"});
  EXPECT_FALSE(dead.find(1, kNow, "z", &found));
  EXPECT_TRUE(dead.find(1, kNow, "x", &found));
}

// Against a set of letters that are dead; keys between two letters go with the first one.
TEST(LayeredDead, Random) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    Prng prng(seed);
    LayeredDead dead;
    std::set<char> expected;
    for (int step = 0; step < 60; ++step) {
      const char low = static_cast<char>('a' + prng.below(26));
      if (prng.one_in(2)) {
        const char high = static_cast<char>(low + prng.below(5));
        const bool to_end = prng.one_in(20);
        dead.add(1, kNow, {one(low), to_end ? std::optional<std::string>() : one(high)});
        for (char c = low; to_end ? c <= 'z' : c < high; ++c) expected.insert(c);
      } else {
        dead.revive(1, one(low));
        expected.erase(low);
      }
      for (char c = 'a'; c <= 'z'; ++c) {
        LayeredStretch found;
        ASSERT_EQ(dead.find(1, kNow, one(c), &found), expected.contains(c)) << c;
        if (!expected.contains(c)) continue;
        EXPECT_LE(found.low, one(c));
        for (char at = found.low[0]; at <= c; ++at) {
          ASSERT_TRUE(expected.contains(at) || found.low > one(at)) << c << at;
        }
      }
    }
  }
}

// ---- What a walk makes of them

std::string walk_key(uint64_t i) {
  std::string key(8, '\0');
  store(key.data(), __builtin_bswap64(i));
  return key;
}

// All but the ends of a tree is deleted by a layer: the first walk looks at each key, the others do
// not.
TEST(LayeredDead, IsPassedAtOnce) {
  constexpr uint64_t kKeys = 3000;
  constexpr uint64_t kLow = 100;
  constexpr uint64_t kHigh = 2900;
  TestTree test({});
  TestTree deletes({});
  TestTree::Changes rows;
  TestTree::Changes of_layer;
  for (uint64_t i = 0; i < kKeys; ++i) {
    rows.emplace_back(walk_key(i), "value");
    if (i >= kLow && i < kHigh) of_layer.emplace_back(walk_key(i), encode_layer_entry({}));
  }
  test.commit(rows);
  test.flush("");
  test.commit({{walk_key(kKeys), "last"}});
  deletes.commit(of_layer);
  const auto layer = std::make_shared<Layer>();
  layer->data = TreeRef(deletes.tree());
  ASSERT_TRUE(test.tree()->layers().add(layer));
  test.tree()->layers().commit(*layer, test.visible());

  TreeCursor cursor(test.tree(), {test.visible(), 0}, {});
  ASSERT_TRUE(cursor.seek(walk_key(kLow)));
  EXPECT_EQ(cursor.key(), walk_key(kHigh));
  const uint64_t first = cursor.looks();
  EXPECT_GE(first, kHigh - kLow);
  constexpr uint64_t kMoves = 200;
  for (uint64_t i = 0; i < kMoves; ++i) {
    ASSERT_TRUE(cursor.seek(walk_key(kLow + i * 7)));
    ASSERT_EQ(cursor.key(), walk_key(kHigh));
    ASSERT_TRUE(cursor.prev());
    ASSERT_EQ(cursor.key(), walk_key(kLow - 1));
    ASSERT_TRUE(cursor.seek_for_prev(walk_key(kHigh - 1 - i * 7)));
    ASSERT_EQ(cursor.key(), walk_key(kLow - 1));
    ASSERT_TRUE(cursor.next());
    ASSERT_EQ(cursor.key(), walk_key(kHigh));
  }
  EXPECT_LE(cursor.looks() - first, 16 * kMoves);
  test.tree()->layers().remove(layer.get());
}

}  // namespace
}  // namespace hawthorn::tree::cursor_test
