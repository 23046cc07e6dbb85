// The races of docs/attacks.md between readers, writers and a flush, forced: a test point runs the
// other side's steps in the middle of one side's, on the same thread. One test for each row.

#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <utility>

#include "os/test_point.h"
#include "tree/store_test_fixture.h"

#if defined(HAWTHORN_TEST_POINTS)

namespace hawthorn::tree {
namespace {

using namespace fixture;

class TreeAttacks : public ::testing::Test {
 protected:
  ~TreeAttacks() override {
    os::clear_test_points();
    tree.reset();
  }

  // Runs `other` when a thread next comes to the point, once.
  void at(const char* point, std::function<void()> other) {
    os::set_test_point(point, [this, point, other = std::move(other)] {
      os::set_test_point(point, {});
      ++reached;
      other();
    });
  }
  void flush() { must(flusher.flush(*tree, "").status); }
  // Keys "k1000", "k1001" and so on.
  void fill(int keys, size_t size) {
    for (int i = 0; i < keys; ++i) {
      put(store, *tree, "k" + std::to_string(1000 + i), std::string(size, 'v'));
    }
  }
  // "k1000" in the first, "k1039" in the second, all flushed.
  void make_two_containers() {
    fill(40, 1);
    ASSERT_TRUE(flusher.divide(*tree, "", 1, [] {}));
    flusher.flush_all(*tree);
    ASSERT_EQ(tree->directory().size(), 2u);
  }
  // Everything that a stale pointer could lead to is given back and used for something else.
  void churn() {
    os::epoch::collect();
    for (int i = 0; i < 300; ++i) put(store, *tree, "churn" + std::to_string(i % 7), "x");
  }

  TestStore store;
  std::unique_ptr<TreeState> tree = store.make_tree();
  Flusher flusher{store};
  int reached = 0;
};

// Attack 16: a reader has its timestamp, but is not registered yet; a flush prunes its version.
TEST_F(TreeAttacks, Row16_AVersionPrunedBeforeItsReaderIsRegistered) {
  VersionModel model;
  const auto write = [&](const char* value) {
    model.commit(put(store, *tree, "key", value), {{"key", value}});
  };
  write("old");
  at("snapshots.add.before_announce", [&] {
    write("new");
    flush();
    store.snapshots.refresh(store.visible.load());
    write("newest");
    flush();
  });
  const Snapshots::Registration reader = store.snapshots.add(store.visible);
  EXPECT_EQ(reached, 1);
  EXPECT_EQ(get(*tree, "key", {reader.ts, 0}), model.at("key", reader.ts));
  write("later");
  flush();
  EXPECT_EQ(get(*tree, "key", {reader.ts, 0}), model.at("key", reader.ts));
  store.snapshots.remove(reader.slot);
}

// Attack 17: a get without registration holds a descriptor; before it takes its timestamp the key
// is overwritten, flushed and pruned.
TEST_F(TreeAttacks, Row17_AGetWithoutRegistrationFindsAnExistingKey) {
  for (const bool flushed_before : {false, true}) {
    SCOPED_TRACE(flushed_before);
    put(store, *tree, "key", "old");
    if (flushed_before) flush();
    at("tree.get.between_descriptor_and_timestamp", [&] {
      for (const char* value : {"1", "2", "3"}) {
        put(store, *tree, "key", value);
        flush();
      }
      churn();
    });
    // What it finds was the newest at some moment of the call.
    const std::set<std::string> newest_once{"old", "1", "2", "3"};
    EXPECT_TRUE(newest_once.contains(get_now(*tree, "key")));
    EXPECT_EQ(get_now(*tree, "key"), "3");
  }
  EXPECT_EQ(reached, 2);
}

// Attack 17, once more: the get has passed over an open transaction's version. Before it goes on to
// the one below, that transaction commits and the one below is pruned; what is left was kept for an
// older snapshot.
TEST_F(TreeAttacks, Row17_AGetPassesOverAnIntentThatCommits) {
  put(store, *tree, "key", "old");
  const Snapshots::Registration held = store.snapshots.add(store.visible);
  put(store, *tree, "key", "1");
  {
    TestTxn txn(store);
    must(txn.put(*tree, "key", "2"));
    at("visibility.skipped_intent", [&] {
      txn.commit();
      store.snapshots.refresh(store.visible.load());
      put(store, *tree, "key", "3");
      store.snapshots.refresh(store.visible.load());
      put(store, *tree, "key", "4");
    });
    const std::set<std::string> newest_once{"1", "2", "3", "4"};
    const std::string found = get_now(*tree, "key");
    EXPECT_TRUE(newest_once.contains(found)) << found;
    EXPECT_EQ(reached, 1);
  }
  EXPECT_EQ(get(*tree, "key", {held.ts, 0}), "old");
  store.snapshots.remove(held.slot);
}

// Attack 18: a reader holds {delta, old run}; the flush installs a new run and lets the delta go.
TEST_F(TreeAttacks, Row18_AReaderOfTheOldDescriptorSeesAllOfIt) {
  put(store, *tree, "in the run", "1");
  flush();
  put(store, *tree, "in the delta", "2");
  for (const char* key : {"in the run", "in the delta"}) {
    os::epoch::drain();  // what was replaced before
    at("tree.get.between_descriptor_and_timestamp", [&] {
      const size_t before = store.arena->used(os::Quota::kDelta);
      flush();
      os::epoch::collect();
      EXPECT_GE(store.arena->used(os::Quota::kDelta), before) << "its delta was given back";
      churn();
    });
    EXPECT_EQ(get_now(*tree, key), std::string_view(key) == "in the run" ? "1" : "2");
  }
  EXPECT_EQ(reached, 2);
}

// Attack 19: a writer has found its container; before it latches it, the active delta is frozen,
// merged and gone. Its write must land in the new one, and be flushed by the next flush.
TEST_F(TreeAttacks, Row19_AWriteDuringAFlushLandsInTheNewDelta) {
  put(store, *tree, "before", "0");
  TestTxn txn(store);
  at("tree.write.before_latch", [&] { flush(); });
  must(txn.put(*tree, "key", "value"));
  EXPECT_EQ(reached, 1);
  txn.commit();
  EXPECT_EQ(get_now(*tree, "key"), "value");
  flush();
  EXPECT_TRUE(container_of(*tree, "key")->descriptor.load()->active->empty());
  EXPECT_EQ(get_now(*tree, "key"), "value");
}

// The same when the flush splits the container, so that the one that was found is dead.
TEST_F(TreeAttacks, Row19_AWriteDuringASplitLandsInAPart) {
  fill(400, 200);
  TestTxn txn(store);
  at("tree.write.before_latch", [&] {
    MergePolicy policy;
    policy.target_bytes = 16 << 10;
    EXPECT_GT(flusher.flush(*tree, "", policy).pieces, 2u);
  });
  must(txn.put(*tree, "k1399", "late"));
  EXPECT_EQ(reached, 1);
  txn.commit();
  EXPECT_EQ(get_now(*tree, "k1399"), "late");
  flusher.flush_all(*tree);
  EXPECT_EQ(get_now(*tree, "k1399"), "late");
}

// The parts can be found, and their shared delta still holds intents that have moved out of it.
TEST_F(TreeAttacks, Row19_APartIsNotFlushedBeforeItsIntentsHaveMoved) {
  fill(400, 200);
  TestTxn txn(store);
  must(txn.put(*tree, "k1399", "late"));
  const auto not_flushed = [&] {
    const os::epoch::Guard guard;
    EXPECT_FALSE(tree->cut(tree->directory().find("k1399"), true).has_value());
  };
  at("tree.install.before_moved", not_flushed);
  ASSERT_TRUE(flusher.divide(*tree, "", 4, [] {}));
  EXPECT_EQ(reached, 1);
  flusher.flush_all(*tree);
  at("tree.install.before_moved", not_flushed);
  EXPECT_EQ(flusher.join(*tree, "", 5, [] {}), 5u);
  EXPECT_EQ(reached, 2);
  txn.commit();
  EXPECT_EQ(get_now(*tree, "k1399"), "late");
  flusher.flush_all(*tree);
  EXPECT_EQ(get_now(*tree, "k1399"), "late");
}

// Rule R12: while the log is replayed one run may be newer than what is visible, and the others'
// commits up to its cut are still to come. Nor is anything joined with itself.
TEST_F(TreeAttacks, Row19_OnlyContainersThatCanShareACutAreJoined) {
  ASSERT_NO_FATAL_FAILURE(make_two_containers());
  const os::epoch::Guard guard;
  Container* left = container_of(*tree, "k1000");
  Container* right = container_of(*tree, "k1039");
  ASSERT_NE(left, right);
  const Lsn now = store.visible;
  ASSERT_GE(now, right->descriptor.load()->run->record.cut);
  store.visible = right->descriptor.load()->run->record.cut - 1;
  EXPECT_TRUE(tree->cut_to_join(std::vector<Container*>{left, right}).empty());
  store.visible = now;
  EXPECT_TRUE(tree->cut_to_join(std::vector<Container*>{left, right, left}).empty());
  EXPECT_FALSE(left->flushing || right->flushing);
  std::vector<TreeState::Cut> cuts = tree->cut_to_join(std::vector<Container*>{left, right});
  EXPECT_EQ(cuts.size(), 2u);
  for (TreeState::Cut& cut : cuts) tree->give_up(cut);
}

// A join that succeeded and is given up has taken nothing out of what the deltas hold.
TEST_F(TreeAttacks, Row19_AJoinThatIsGivenUpLosesNoLargeValue) {
  ASSERT_NO_FATAL_FAILURE(make_two_containers());
  const std::string value(100'000, 'L');
  for (const char* old : {"old", "new"}) {
    TestTxn txn(store);
    must(txn.write(*tree, "k1039", VersionKind::kLarge, store.make_large(value + old)));
    txn.commit();
  }
  {
    const os::epoch::Guard guard;
    const std::vector<Container*> both{container_of(*tree, "k1000"), container_of(*tree, "k1039")};
    std::vector<TreeState::Cut> cuts = tree->cut_to_join(both);
    ASSERT_EQ(cuts.size(), 2u);
    std::vector<MergeInput> inputs;
    for (const TreeState::Cut& cut : cuts) inputs.push_back({cut.container, cut.frozen, cut.file});
    Result<MergeOutput> joined = flusher.merger().join(inputs, cuts.front().cut);
    must(joined.status());
    flusher.merger().give_up(std::move(joined).value());
    for (TreeState::Cut& cut : cuts) tree->give_up(cut);
  }
  flusher.flush_all(*tree);
  EXPECT_EQ(get_now(*tree, "k1039"), value + "new");
  ASSERT_NO_FATAL_FAILURE(expect_accounts(store, {tree.get()}));
}

// Attack 68: what goes to a layer has one moment, and a container is cut there before all of it is
// in.
TEST_F(TreeAttacks, Row68_WhatIsFreshComesInWhateverTheCutsSay) {
  ASSERT_NO_FATAL_FAILURE(make_two_containers());
  const auto install = [&](std::string_view key, Lsn cts, bool fresh) {
    Replayed one{.tree = tree.get(),
                 .key = key,
                 .value = "layer",
                 .fresh = fresh,
                 .cts = cts,
                 .first_lsn = cts};
    size_t done = 0;
    must(TreeState::replay({&one, 1}, &done));
    EXPECT_EQ(done, 1u);
  };
  Lsn cut = 0;
  {
    const os::epoch::Guard guard;
    cut = container_of(*tree, "k1000")->descriptor.load()->run->record.cut;
  }
  install("k1000a", cut, false);
  install("k1000b", cut, true);
  {
    const os::epoch::Guard guard;
    std::optional<TreeState::Cut> frozen = tree->cut(container_of(*tree, "k1000"), true);
    ASSERT_TRUE(frozen.has_value());
    install("k1000c", frozen->cut, true);
    tree->give_up(*frozen);
  }
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(get_now(*tree, "k1000b"), "layer");
    EXPECT_EQ(get_now(*tree, "k1000c"), "layer");
    EXPECT_NE(get_now(*tree, "k1000a"), "layer");
    flusher.flush_all(*tree);
  }
}

// Attack 20: the cut has copied an intent and not installed yet; its transaction ends, looking for
// the version that it knows.
TEST_F(TreeAttacks, Row20_ATransactionEndsBesideACutThatCopiedItsIntent) {
  for (const bool commits : {false, true}) {
    SCOPED_TRACE(commits);
    put(store, *tree, "key", "old");
    auto txn = std::make_unique<TestTxn>(store);
    must(txn->put(*tree, "key", "new"));
    // The latch is held at the point, so the transaction decides there and stamps behind the cut.
    at("tree.cut.before_install", [&] {
      if (commits) {
        txn->sequence();
        txn->publish();
      } else {
        txn->abort();
      }
    });
    flush();
    if (commits) {
      txn->stamp();
    } else {
      txn->roll_back();
    }
    txn->release();
    txn.reset();
    // Its slot is another's now, which is open.
    TestTxn other(store);
    must(other.put(*tree, "another key", "open"));
    EXPECT_EQ(get_now(*tree, "key"), commits ? "new" : "old");
    other.undo_all();
    flush();
    EXPECT_EQ(get_now(*tree, "key"), commits ? "new" : "old");
    EXPECT_EQ(container_of(*tree, "key")->intents, 0u);
  }
  EXPECT_EQ(reached, 2);
}

// Attack 24: the version that a transaction would conflict with was flushed meanwhile; the run must
// still know its timestamp.
TEST_F(TreeAttacks, Row24_AConflictIsFoundInTheRun) {
  put(store, *tree, "key", "0");
  TestTxn late(store, true);
  at("tree.write.before_latch", [&] {
    put(store, *tree, "key", "1");
    flush();
  });
  EXPECT_TRUE(late.put(*tree, "key", "2").is_conflict());
  EXPECT_EQ(reached, 1);
  EXPECT_EQ(get_now(*tree, "key"), "1");
}

// Attack 25: a tombstone goes only when nothing that it hides stays, for whichever snapshot.
TEST_F(TreeAttacks, Row25_ADeletedKeyStaysDeletedThroughFlushes) {
  put(store, *tree, "key", "old");
  flush();
  const Snapshots::Registration before = store.snapshots.add(store.visible);
  remove(store, *tree, "key");
  const Snapshots::Registration after = store.snapshots.add(store.visible);
  for (int i = 0; i < 3; ++i) {
    put(store, *tree, "other", std::to_string(i));
    flush();
    EXPECT_EQ(get(*tree, "key", {before.ts, 0}), "old");
    EXPECT_EQ(get(*tree, "key", {after.ts, 0}), "<absent>");
    EXPECT_EQ(get_now(*tree, "key"), "<absent>");
  }
  store.snapshots.remove(before.slot);
  store.snapshots.remove(after.slot);
  put(store, *tree, "key2", "");
  store.snapshots.refresh(store.visible.load());
  flush();
  EXPECT_EQ(get_now(*tree, "key"), "<absent>");
  const os::epoch::Guard guard;
  const auto* run = container_of(*tree, "key")->descriptor.load()->run->run.load();
  ASSERT_NE(run, nullptr);
  EXPECT_EQ(run->entries(), 2u) << "the tombstone is gone, too";
}

// Attack 28: a counter is updated often under one snapshot; what the snapshot does not see goes.
TEST_F(TreeAttacks, Row28_AHotCounterUnderASnapshotStaysShort) {
  put(store, *tree, "counter", "0");
  const Snapshots::Registration held = store.snapshots.add(store.visible);
  for (int i = 1; i <= 20000; ++i) put(store, *tree, "counter", std::to_string(i));
  const Delta* delta = container_of(*tree, "counter")->descriptor.load()->active;
  EXPECT_LT(delta->versions(), 2000u);
  EXPECT_LT(delta->bytes(), size_t{1} << 20);
  EXPECT_EQ(get(*tree, "counter", {held.ts, 0}), "0");
  EXPECT_EQ(get_now(*tree, "counter"), "20000");
  store.snapshots.remove(held.slot);
}

}  // namespace
}  // namespace hawthorn::tree

#endif
