// Trees that are made and dropped again and again leave nothing behind, and handles of dropped
// trees stay what they are: refused, whatever was made since. Races are in
// tests/concurrency/dropped_concurrency_test.cc.

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "hawthorn/batch.h"
#include "hawthorn/read_queue.h"
#include "testing/scaled.h"
#include "tests/api/api_test_fixture.h"

namespace hawthorn::tests {
namespace {

constexpr uint64_t kLevelBytes = 256 << 10;  // that may come and go with other things

class DroppedTrees : public Api {
 protected:
  // The memory that is used after `rounds`, beside what was used after the first of them.
  template <typename Round>
  void expect_level(uint64_t rounds, Round round) {
    const uint64_t first = rounds / 4;
    uint64_t before = 0;
    for (uint64_t i = 0; i < rounds; ++i) {
      ASSERT_OK(round(i));
      if (i != first) continue;
      ASSERT_OK(db_->drain());
      before = db_->stats().memory_used_bytes;
    }
    ASSERT_OK(db_->drain());
    const Stats stats = db_->stats();
    EXPECT_LE(stats.memory_used_bytes, before + kLevelBytes);
    EXPECT_EQ(stats.trees_unreachable, 0u);
  }
  Status make_and_drop(const std::string& name, const TreeOptions& options = {}) {
    const Result<Tree> tree = db_->tree(name, options);
    if (!tree.ok()) return tree.status();
    for (const char* key : {"a", "b", "c"}) {
      if (Status s = db_->put(*tree, key, "value"); !s.ok()) return s;
    }
    return db_->drop_tree(name);
  }
  void expect_dropped(const Status& status) {
    EXPECT_TRUE(status.is(StatusCode::kInvalidArgument)) << status.message();
    EXPECT_NE(status.message().find("dropped"), std::string::npos) << status.message();
  }
};

TEST_F(DroppedTrees, leave_nothing) {
  expect_level(testing::scaled(1200), [&](uint64_t) { return make_and_drop("staging"); });
}

TEST_F(DroppedTrees, leave_nothing_when_flushed) {
  expect_level(testing::scaled(400), [&](uint64_t) -> Status {
    const Result<Tree> tree = db_->tree("staging");
    if (!tree.ok()) return tree.status();
    if (Status s = db_->put(*tree, "key", std::string(5000, 'v')); !s.ok()) return s;
    if (Status s = db_->flush(); !s.ok()) return s;
    return db_->drop_tree("staging");
  });
}

TEST_F(DroppedTrees, leave_nothing_when_their_making_is_rolled_back) {
  expect_level(testing::scaled(80000), [&](uint64_t i) -> Status {
    Transaction transaction = begin();
    const Savepoint before = transaction.savepoint().value();
    Result<Tree> tree = transaction.tree("staging");
    if (!tree.ok()) return tree.status();
    if (i % 3 == 0) {
      if (Status s = transaction.rollback_to(before); !s.ok()) return s;
      return transaction.commit();
    }
    if (Status s = transaction.put(*tree, "key", "value"); !s.ok()) return s;
    transaction.abort();
    return {};
  });
}

TEST_F(DroppedTrees, leave_nothing_when_dropped_by_transactions) {
  expect_level(testing::scaled(4000), [&](uint64_t) -> Status {
    Transaction transaction = begin();
    const Result<Tree> tree = transaction.tree("staging");
    if (!tree.ok()) return tree.status();
    if (Status s = transaction.put(*tree, "key", "value"); !s.ok()) return s;
    if (Status s = transaction.commit(); !s.ok()) return s;
    Transaction drops = begin();
    if (Status s = drops.drop_tree("staging"); !s.ok()) return s;
    return drops.commit();
  });
}

TEST_F(DroppedTrees, leave_nothing_as_clones_and_as_subtrees) {
  const Tree parent = db_->tree("parent", {.subtrees = true}).value();
  put("key", "value");
  expect_level(testing::scaled(400), [&](uint64_t) -> Status {
    if (Result<Tree> clone = db_->clone_tree("t", "clone"); !clone.ok()) return clone.status();
    if (Result<Tree> second = db_->clone_tree("clone", "second"); !second.ok()) {
      return second.status();
    }
    // It stays as long as what shows it.
    if (Status s = db_->drop_tree("clone"); !s.ok()) return s;
    const Result<Tree> below = db_->create_subtree(parent, "at");
    if (!below.ok()) return below.status();
    if (Status s = db_->put(*below, "key", "value"); !s.ok()) return s;
    if (Status s = db_->del(parent, "at"); !s.ok()) return s;
    return db_->drop_tree("second");
  });
}

// With few phrases in many values, of which a dictionary has most. How much memory one takes, and
// that it goes with its tree, is in src/tree/compression_test.cc.
TEST_F(DroppedTrees, may_have_dictionaries) {
  std::vector<std::string> phrases;
  for (uint64_t i = 0; i < 100; ++i) phrases.push_back(value_of(4 * i + 3, 128));
  for (int round = 0; round < 2; ++round) {
    const Tree tree = db_->tree("staging").value();
    ASSERT_OK(db_->set_compression(tree, Compression::kZstd));
    for (uint64_t i = 0; i < 20'000; ++i) {
      const std::string value = phrases[mix64(i) % 100] + std::to_string(mix64(i));
      ASSERT_OK(db_->put(tree, big_endian(i), value));
    }
    ASSERT_OK(db_->flush());
    ASSERT_OK(db_->drain());
    const std::vector<TreeStats> trees = db_->stats().trees;
    EXPECT_TRUE(std::any_of(trees.begin(), trees.end(),
                            [](const TreeStats& of) { return of.compression_dictionary; }));
    ASSERT_OK(db_->drop_tree("staging"));
    ASSERT_OK(db_->drain());
    EXPECT_EQ(db_->stats().trees_unreachable, 0u);
  }
}

TEST_F(DroppedTrees, are_refused_also_when_others_have_been_made) {
  const Tree plain = db_->tree("plain").value();
  const Tree shaped = db_->tree("shaped", {.multi_value = true}).value();
  const Tree parent = db_->tree("parent", {.subtrees = true}).value();
  for (const char* name : {"plain", "shaped", "parent"}) ASSERT_OK(db_->drop_tree(name));
  for (const bool others : {false, true}) {
    for (int i = 0; others && i < 20; ++i) {
      const Tree made = db_->tree("other" + std::to_string(i)).value();
      ASSERT_OK(db_->put(made, "key", "of another tree"));
    }
    for (const Tree& tree : {plain, shaped, parent}) {
      Value value;
      expect_dropped(db_->get(tree, "key", value));
      expect_dropped(db_->put(tree, "key", "value"));
      expect_dropped(db_->del(tree, "key"));
      expect_dropped(db_->cursor(tree).status());
      expect_dropped(db_->count(tree, "", std::nullopt).status());
      expect_dropped(db_->tree_options(tree).status());
      ReadBatch batch;
      const std::string_view keys[] = {"key"};
      expect_dropped(db_->multi_get(tree, keys, batch));
      WriteBatch writes;
      writes.put(tree, "key", "value");
      writes.del(tree, "key");
      EXPECT_TRUE(db_->write(writes).is(StatusCode::kInvalidArgument));
      Transaction transaction = begin();
      expect_dropped(transaction.get(tree, "key", value));
      expect_dropped(transaction.put(tree, "key", "value"));
    }
    Status told;
    const std::unique_ptr<ReadQueue> queue = db_->read_queue().value();
    queue->get_async(plain, "key", [&](const Status& status, Value&) { told = status; });
    while (queue->pending() > 0) static_cast<void>(queue->wait());
    expect_dropped(told);
  }
}

TEST_F(DroppedTrees, are_read_on_by_whoever_read_them_before) {
  const Tree tree = db_->tree("staging").value();
  for (const char* key : {"a", "b", "c"}) ASSERT_OK(db_->put(tree, key, "value"));
  {
    std::optional<Snapshot> snapshot = db_->snapshot();
    Cursor cursor = db_->cursor(tree, {.snapshot = &*snapshot});
    ASSERT_TRUE(cursor.first());
    ASSERT_OK(db_->drop_tree("staging"));
    ASSERT_TRUE(cursor.next());
    EXPECT_EQ(cursor.key(), "b");
    EXPECT_EQ(db_->stats().trees_unreachable, 1u);
    Value value;
    ASSERT_OK(db_->get(tree, "c", value, {.snapshot = &*snapshot}));
    // The cursor keeps what it walks through, also when it sees nothing of it any more.
    snapshot.reset();
    ASSERT_OK(db_->drain());
    EXPECT_EQ(db_->stats().trees_unreachable, 1u);
    static_cast<void>(cursor.next());
  }
  ASSERT_OK(db_->drain());
  EXPECT_EQ(db_->stats().trees_unreachable, 0u);
}

TEST_F(DroppedTrees, are_kept_by_transactions_until_these_end) {
  const Tree tree = db_->tree("staging").value();
  ASSERT_OK(db_->put(tree, "a", "value"));
  Transaction writer = begin();
  ASSERT_OK(writer.put(tree, "b", "value"));
  Transaction reader = begin({.isolation = Isolation::kSerializable});
  Value value;
  ASSERT_OK(reader.get(tree, "a", value));
  ASSERT_OK(reader.put(tree_, "of another tree", "value"));
  Transaction latest = begin({.isolation = Isolation::kReadCommitted});
  ASSERT_OK(latest.put(tree, "c", "value"));
  ASSERT_OK(db_->drop_tree("staging"));
  for (int i = 0; i < 20; ++i) ASSERT_OK(make_and_drop("another"));
  EXPECT_TRUE(writer.commit().is_conflict());
  EXPECT_TRUE(reader.commit().is_conflict());
  ASSERT_OK(db_->drain());
  EXPECT_EQ(db_->stats().trees_unreachable, 1u);
  EXPECT_FALSE(latest.commit().ok());
  ASSERT_OK(db_->drain());
  EXPECT_EQ(db_->stats().trees_unreachable, 0u);
}

TEST_F(DroppedTrees, that_were_never_committed_are_refused_later) {
  Transaction transaction = begin();
  const Tree tree = transaction.tree("staging").value();
  ASSERT_OK(transaction.put(tree, "key", "value"));
  Cursor cursor = transaction.cursor(tree);
  ASSERT_TRUE(cursor.first());
  transaction.abort();
  for (int i = 0; i < 20; ++i) ASSERT_OK(make_and_drop("another"));
  Value value;
  expect_dropped(db_->get(tree, "key", value));
}

}  // namespace
}  // namespace hawthorn::tests
