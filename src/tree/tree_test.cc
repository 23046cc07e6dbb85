#include "tree/tree.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "os/test_point.h"
#include "tree/store_test_fixture.h"

namespace hawthorn::tree {
namespace {

using namespace fixture;

class TreeTest : public ::testing::Test {
 protected:
  ~TreeTest() override {
#if defined(HAWTHORN_TEST_POINTS)
    os::clear_test_points();
#endif
    tree.reset();
  }
  Descriptor* descriptor(std::string_view key = "") {
    return container_of(*tree, key)->descriptor.load();
  }

  TestStore store;
  std::unique_ptr<TreeState> tree = store.make_tree();
  Flusher flusher{store};
};

TEST_F(TreeTest, WritesAreSeenFromTheirCommitOn) {
  EXPECT_EQ(get_now(*tree, "a"), "<absent>");
  TestTxn txn(store);
  must(txn.put(*tree, "a", "1"));
  must(txn.put(*tree, "b", "2"));
  must(txn.remove(*tree, "b"));
  EXPECT_EQ(get_now(*tree, "a"), "<absent>");
  EXPECT_EQ(get(*tree, "a", txn.view()), "1");
  EXPECT_EQ(get(*tree, "b", txn.view()), "<absent>");
  txn.sequence();
  EXPECT_EQ(get_now(*tree, "a"), "<absent>") << "visible_ts has not passed it";
  txn.publish();
  EXPECT_EQ(get_now(*tree, "a"), "1");
  txn.stamp();
  EXPECT_EQ(get_now(*tree, "a"), "1");
  txn.release();
  EXPECT_EQ(get_now(*tree, "a"), "1");
  EXPECT_EQ(get_now(*tree, "b"), "<absent>");
  EXPECT_EQ(container_of(*tree, "a")->intents, 0u);
}

// A container may be flushed again before the last one is durable, at any time: what the log is
// needed for moves on nevertheless.
TEST_F(TreeTest, FlushesNeedTheLogUntilTheirOwnBatchIsDurable) {
  const auto flush_all = [&] {
    std::vector<std::string> lows;
    for (const Container* container : tree->directory().all()) lows.push_back(container->low);
    for (const std::string& low : lows) must(flusher.flush(*tree, low).status);
  };
  Lsn before = 0;
  for (int round = 0; round < 8; ++round) {
    const uint64_t durable = flusher.batch();
    const Lsn first = put(store, *tree, "a", "value");
    for (int i = 0; i < 200; ++i) put(store, *tree, std::to_string(i), "value");
    if (round == 4) {
      // The parts have inherited what was under way.
      ASSERT_TRUE(flusher.divide(*tree, "", 2, [] {}));
    }
    flush_all();
    const Lsn needed = tree->log_needed(durable);
    EXPECT_GT(needed, before) << round;
    EXPECT_LE(needed, first) << round;
    before = store.visible;
  }
  EXPECT_EQ(tree->log_needed(flusher.batch()), format::kLsnMax);
}

// A tree is listed from its first entry until what was flushed of it is durable.
TEST_F(TreeTest, RestsWhenNothingIsLeftToBeDone) {
  ActiveTrees& active = tree->store()->active;
  const auto listed = [&](uint64_t durable) {
    active.rest(tree.get(), durable);
    return !active.list().empty();
  };
  active.add(tree.get());
  EXPECT_FALSE(listed(0));
  put(store, *tree, "a", "value");
  EXPECT_TRUE(listed(0));
  const uint64_t durable = flusher.batch();
  must(flusher.flush(*tree, "").status);
  EXPECT_TRUE(listed(durable));
  EXPECT_FALSE(listed(flusher.batch()));
  SpaceUse resting;
  EXPECT_TRUE(active.list(&resting).empty());
  EXPECT_GT(resting.used, 0u);

  auto layer = std::make_shared<Layer>();
  ASSERT_TRUE(tree->layers().add(layer));
  EXPECT_TRUE(listed(flusher.batch()));
  EXPECT_TRUE(active.list(&resting).size() == 1 && resting.used == 0);
  ASSERT_TRUE(tree->layers().remove(layer.get()));
  EXPECT_FALSE(listed(flusher.batch()));
  active.let_go(tree.get());
  put(store, *tree, "b", "value");
  EXPECT_TRUE(active.list_all().empty());
}

// A tree that rests takes no memory for a delta until it is written again.
TEST_F(TreeTest, GivesItsDeltaBackWhileItRests) {
  EXPECT_TRUE(descriptor()->active->is_none());
  put(store, *tree, "a", "1");
  EXPECT_FALSE(descriptor()->active->is_none());
  must(flusher.flush(*tree, "").status);
  EXPECT_FALSE(descriptor()->active->is_none());
  tree->store()->active.rest(tree.get(), flusher.batch());
  EXPECT_TRUE(descriptor()->active->is_none());
  EXPECT_EQ(get_now(*tree, "a"), "1");
  put(store, *tree, "a", "2");
  put(store, *tree, "b", "3");
  EXPECT_EQ(get_now(*tree, "a"), "2");
  must(flusher.flush(*tree, "").status);
  EXPECT_EQ(get_now(*tree, "b"), "3");
  EXPECT_TRUE(Delta::none()->empty());
}

// What was written while a container was divided is frozen in its parts, and is none of what the
// flush has brought into runs.
TEST_F(TreeTest, WhatIsFrozenBehindASplitIsNewerThanWhatWasFlushed) {
  for (int i = 1000; i < 3000; ++i) put(store, *tree, std::to_string(i), std::string(50, 'v'));
  const Lsn before = store.visible;
  std::optional<TreeState::Cut> cut;
  {
    const os::epoch::Guard guard;
    cut = tree->cut(tree->directory().find(""), true);
  }
  ASSERT_TRUE(cut.has_value());
  EXPECT_FALSE(tree->flushed_to(before, flusher.batch()));
  put(store, *tree, "1001", "newer");
  MergePolicy policy;
  policy.target_bytes = 16 << 10;
  const Flushed flushed = flusher.finish(*tree, *cut, policy);
  must(flushed.status);
  ASSERT_GT(flushed.pieces, 1u);
  ASSERT_NE(descriptor("1001")->frozen, nullptr);
  EXPECT_FALSE(tree->flushed_to(before, 0)) << "not durable yet";
  EXPECT_TRUE(tree->flushed_to(before, flusher.batch()));
  EXPECT_FALSE(tree->flushed_to(store.visible, flusher.batch()));
  flusher.flush_all(*tree);
  EXPECT_TRUE(tree->flushed_to(store.visible, flusher.batch()));
}

TEST_F(TreeTest, RollBackLeavesNothing) {
  put(store, *tree, "a", "old");
  {
    TestTxn txn(store);
    must(txn.put(*tree, "a", "new"));
    must(txn.put(*tree, "a", "newer"));
    must(txn.put(*tree, "fresh", "new"));
    const size_t savepoint = txn.undo().size();
    must(txn.remove(*tree, "a"));
    EXPECT_EQ(get(*tree, "a", txn.view()), "<absent>");
    txn.roll_back(savepoint);
    EXPECT_EQ(get(*tree, "a", txn.view()), "newer");
    txn.abort();
    EXPECT_EQ(get_now(*tree, "a"), "old");
    txn.roll_back();
    txn.release();
  }
  EXPECT_EQ(get_now(*tree, "a"), "old");
  EXPECT_EQ(get_now(*tree, "fresh"), "<absent>");
  EXPECT_EQ(container_of(*tree, "a")->intents, 0u);
  must(flusher.flush(*tree, "").status);
  EXPECT_EQ(get_now(*tree, "a"), "old");
}

TEST_F(TreeTest, FlushedValuesOfAllKinds) {
  const std::string large(200000, 'L');
  put(store, *tree, "inline", "small");
  put(store, *tree, "empty", "");
  put(store, *tree, "separated", std::string(500, 's'));
  {
    TestTxn txn(store);
    must(txn.write(*tree, "large", VersionKind::kLarge, store.make_large(large)));
    txn.commit();
  }
  const auto expect = [&] {
    EXPECT_EQ(get_now(*tree, "inline"), "small");
    EXPECT_EQ(get_now(*tree, "empty"), "");
    EXPECT_EQ(get_now(*tree, "separated"), std::string(500, 's'));
    EXPECT_EQ(get_now(*tree, "large"), large);
    EXPECT_EQ(get_now(*tree, "nothing"), "<absent>");
  };
  expect();
  must(flusher.flush(*tree, "").status);
  EXPECT_TRUE(descriptor()->active->empty());
  expect();
  ASSERT_NO_FATAL_FAILURE(expect_accounts(store, {tree.get()}));
  remove(store, *tree, "large");
  must(flusher.flush(*tree, "").status);
  EXPECT_EQ(get_now(*tree, "large"), "<absent>");
  ASSERT_NO_FATAL_FAILURE(expect_accounts(store, {tree.get()}));
}

}  // namespace
}  // namespace hawthorn::tree
