// Trees by name: made, renamed and dropped by transactions.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "db/file_sizing.h"
#include "os/test_point.h"
#include "tests/api/api_test_fixture.h"

namespace hawthorn::tests {
namespace {

using Names = std::vector<std::string>;

class Catalog : public Api {
 protected:
  Names names(const ReadOptions& options = {}) {
    const Result<Names> names = db_->list_trees(options);
    EXPECT_OK(names.status());
    return names.ok() ? *names : Names();
  }
  std::string get_of(std::string_view name, std::string_view key) {
    const Result<Tree> tree = db_->find_tree(name);
    if (!tree.ok()) return std::string("no tree: ") + std::string(tree.status().message());
    Value value;
    const Status status = db_->get(*tree, key, value);
    return status.ok() ? value.to_string() : std::string(status_code_name(status.code()));
  }
  // Without a close, so that the log is replayed.
  void reopen() {
    tree_ = Tree();
    open();
  }
};

TEST_F(Catalog, trees_are_made_with_what_they_hold) {
  Transaction t = begin();
  const Tree made = t.tree("made").value();
  ASSERT_OK(t.put(made, "k", "v"));
  ASSERT_OK(t.put(tree_, "also", "here"));
  EXPECT_EQ(t.list_trees().value(), (Names{"made", "t"}));
  EXPECT_EQ(t.find_tree("made").value().id(), made.id());
  EXPECT_EQ(t.tree("made").value().id(), made.id());
  // Nobody else sees it, or may use it.
  EXPECT_EQ(names(), (Names{"t"}));
  EXPECT_TRUE(db_->find_tree("made").status().is_not_found());
  EXPECT_TRUE(db_->put(made, "k", "other").is(StatusCode::kInvalidArgument));
  WriteBatch batch;
  batch.put(made, "k", "other");
  EXPECT_TRUE(db_->write(batch).is(StatusCode::kInvalidArgument));
  {
    Transaction other = begin();
    EXPECT_TRUE(other.put(made, "k", "other").is(StatusCode::kInvalidArgument));
    EXPECT_TRUE(other.find_tree("made").status().is_not_found());
  }
  const Snapshot before = db_->snapshot();
  ASSERT_OK(t.commit());
  EXPECT_EQ(names(), (Names{"made", "t"}));
  EXPECT_EQ(get_of("made", "k"), "v");
  EXPECT_EQ(names({.snapshot = &before}), (Names{"t"}));
  EXPECT_TRUE(db_->find_tree("made", {.snapshot = &before}).status().is_not_found());
  EXPECT_EQ(db_->stats().trees.size(), 2u);
}

TEST_F(Catalog, what_was_made_goes_with_an_abort) {
  Tree made;
  {
    Transaction t = begin();
    made = t.tree("made").value();
    for (uint64_t i = 0; i < 1000; ++i) ASSERT_OK(t.put(made, key_of(i), value_of(i, 200)));
    t.abort();
  }
  EXPECT_EQ(names(), (Names{"t"}));
  Value value;
  EXPECT_TRUE(db_->get(made, key_of(1), value).is(StatusCode::kInvalidArgument));
  // The name is free, for another tree.
  const Tree again = db_->tree("made").value();
  EXPECT_NE(again.id(), made.id());
  EXPECT_EQ(get_of("made", key_of(1)), "NotFound");
  ASSERT_OK(db_->drain());
  EXPECT_TRUE(db_->check().value().ok());
  reopen();
  EXPECT_EQ(names(), (Names{"made", "t"}));
}

TEST_F(Catalog, savepoints) {
  Transaction t = begin();
  const Tree first = t.tree("first").value();
  ASSERT_OK(t.put(first, "k", "v"));
  const Savepoint savepoint = t.savepoint().value();
  const Tree second = t.tree("second").value();
  ASSERT_OK(t.put(second, "k", "v"));
  ASSERT_OK(t.drop_tree("first"));
  ASSERT_OK(t.rename_tree("t", "renamed"));
  EXPECT_EQ(t.list_trees().value(), (Names{"renamed", "second"}));
  EXPECT_TRUE(t.put(first, "k", "w").is(StatusCode::kInvalidArgument));
  ASSERT_OK(t.rollback_to(savepoint));
  EXPECT_EQ(t.list_trees().value(), (Names{"first", "t"}));
  ASSERT_OK(t.put(first, "k", "w"));
  EXPECT_TRUE(t.put(second, "k", "v").is(StatusCode::kInvalidArgument));
  Transaction nested = t.begin_nested().value();
  ASSERT_OK(nested.tree("third").status());
  nested.abort();
  ASSERT_OK(t.commit());
  EXPECT_EQ(names(), (Names{"first", "t"}));
  EXPECT_EQ(get_of("first", "k"), "w");
}

TEST_F(Catalog, made_and_dropped_by_one_transaction) {
  {
    Transaction t = begin();
    const Tree made = t.tree("short").value();
    ASSERT_OK(t.put(made, "k", "v"));
    ASSERT_OK(t.drop_tree("short"));
    EXPECT_TRUE(t.find_tree("short").status().is_not_found());
    const Tree again = t.tree("short").value();
    EXPECT_NE(made.id(), again.id());
    ASSERT_OK(t.put(again, "k", "w"));
    ASSERT_OK(t.commit());
  }
  EXPECT_EQ(get_of("short", "k"), "w");
  reopen();
  EXPECT_EQ(get_of("short", "k"), "w");
}

TEST_F(Catalog, the_first_committer_of_a_name_wins) {
  for (const Isolation isolation : {Isolation::kReadCommitted, Isolation::kSnapshot}) {
    const std::string name = "n" + std::to_string(static_cast<int>(isolation));
    Transaction one = begin({.isolation = isolation});
    Transaction two = begin({.isolation = isolation});
    ASSERT_OK(one.tree(name).status());
    const Status second = two.tree(name).status();
    ASSERT_OK(one.commit());
    EXPECT_TRUE(second.is_conflict() || two.commit().is_conflict());
  }
  // Names that were absent are read, too.
  Transaction reader = begin({.isolation = Isolation::kSerializable});
  EXPECT_TRUE(reader.find_tree("later").status().is_not_found());
  ASSERT_OK(reader.put(tree_, "x", "y"));
  ASSERT_OK(db_->tree("later").status());
  EXPECT_TRUE(reader.commit().is_conflict());
  Transaction lister = begin({.isolation = Isolation::kSerializable});
  ASSERT_OK(lister.list_trees().status());
  ASSERT_OK(lister.put(tree_, "x", "y"));
  ASSERT_OK(db_->rename_tree("later", "last"));
  EXPECT_TRUE(lister.commit().is_conflict());
}

TEST_F(Catalog, a_drop_stops_those_that_write_to_the_tree) {
  for (const TxnMode mode : {TxnMode::kOptimistic, TxnMode::kPessimistic}) {
    const Tree tree = db_->tree("d").value();
    Transaction writer = begin({.mode = mode});
    ASSERT_OK(writer.put(tree, "k", "v"));
    ASSERT_OK(writer.put(tree_, "k", "v"));
    Transaction later = begin({.mode = mode});
    ASSERT_OK(db_->drop_tree("d"));
    EXPECT_TRUE(later.put(tree, "l", "v").is_conflict());
    EXPECT_TRUE(writer.put(tree, "l", "v").is_conflict());
    EXPECT_TRUE(writer.commit().is_conflict());
    EXPECT_EQ(get("k"), "NotFound");
    // Others go on.
    ASSERT_OK(later.put(tree_, "other", "v"));
    ASSERT_OK(later.commit());
  }
}

// What is prepared must be able to commit.
TEST_F(Catalog, prepared_transactions_keep_their_trees) {
  ASSERT_OK(db_->tree("written").status());
  ASSERT_OK(db_->tree("read").status());
  {
    Transaction maker = begin();
    ASSERT_OK(maker.tree("made").status());
    EXPECT_TRUE(maker.prepare("p").is(StatusCode::kNotSupported));
  }
  {
    Transaction t = begin({.isolation = Isolation::kSerializable});
    EXPECT_EQ(get_in(t, db_->find_tree("read").value(), "k"), "NotFound");
    ASSERT_OK(t.put(db_->find_tree("written").value(), "k", "v"));
    ASSERT_OK(t.prepare("p"));
  }
  for (const bool reopened : {false, true}) {
    if (reopened) reopen();
    EXPECT_TRUE(db_->drop_tree("written").is(StatusCode::kBusy));
    EXPECT_TRUE(db_->drop_tree("read").is(StatusCode::kBusy));
  }
  ASSERT_OK(db_->rename_tree("written", "renamed"));
  ASSERT_OK(db_->commit_prepared("p"));
  EXPECT_EQ(get_of("renamed", "k"), "v");
  ASSERT_OK(db_->drop_tree("renamed"));
  ASSERT_OK(db_->drop_tree("read"));
}

TEST_F(Catalog, who_reads_an_earlier_moment_has_what_was_dropped) {
  const Tree tree = db_->tree("d").value();
  for (uint64_t i = 0; i < 20'000; ++i) ASSERT_OK(db_->put(tree, big_endian(i), value_of(i, 300)));
  ASSERT_OK(db_->flush());
  const uint64_t full = db_->stats().disk_bytes_reachable;
  Snapshot snapshot = db_->snapshot();
  Transaction reader = begin();
  Cursor cursor = reader.cursor(tree);
  ASSERT_TRUE(cursor.first());
  {
    Transaction dropper = begin();
    ASSERT_OK(dropper.drop_tree("d"));
    ASSERT_OK(db_->put(tree, "not yet", "committed"));
    ASSERT_OK(dropper.commit());
  }
  Value value;
  EXPECT_TRUE(db_->get(tree, big_endian(5), value).is(StatusCode::kInvalidArgument));
  ASSERT_OK(db_->drain());
  ASSERT_OK(db_->get(tree, big_endian(5), value, {.snapshot = &snapshot}));
  EXPECT_EQ(value.view(), value_of(5, 300));
  EXPECT_EQ(db_->find_tree("d", {.snapshot = &snapshot}).value().id(), tree.id());
  ASSERT_OK(reader.get(tree, big_endian(7), value));
  EXPECT_EQ(reader.count(tree, "", std::nullopt).value(), 20'000u);
  uint64_t walked = 0;
  for (bool there = cursor.first(); there; there = cursor.next()) ++walked;
  EXPECT_EQ(walked, 20'000u);
  EXPECT_GE(db_->stats().disk_bytes_reachable, full);
  cursor = Cursor();
  reader.abort();
  {
    Cursor at = db_->cursor(tree, {.snapshot = &snapshot});
    ASSERT_TRUE(at.last()) << at.status().to_string();
    EXPECT_EQ(at.key(), big_endian(19'999));
    EXPECT_FALSE(db_->cursor(tree).first());
    std::unique_ptr<ReadQueue> queue = std::move(db_->read_queue()).value();
    std::string read;
    queue->get_async(
        tree, big_endian(9),
        [&](const Status& status, Value& found) { read = status.ok() ? found.to_string() : ""; },
        {.snapshot = &snapshot});
    while (queue->pending() > 0) queue->wait();
    EXPECT_EQ(read, value_of(9, 300));
  }
  snapshot.reset();
  ASSERT_OK(db_->drain());
  EXPECT_LT(db_->stats().disk_bytes_reachable, full / 20);
  EXPECT_TRUE(db_->check().value().ok());
}

// Also of what was never flushed.
TEST_F(Catalog, large_values_of_dropped_trees_give_their_space_back) {
  db_.reset();
  const uint64_t first = std::exchange(db::data_file_bytes_first, uint64_t{1} << 20);
  const uint64_t most = std::exchange(db::data_file_bytes_max, uint64_t{4} << 20);
  open();
  for (uint64_t round = 0; round < 60; ++round) {
    const Tree tree = db_->tree("large").value();
    for (uint64_t i = 0; i < 4; ++i) {
      ASSERT_OK(db_->put(tree, big_endian(i), value_of(round, 500'000)));
    }
    if (round % 4 == 0) ASSERT_OK(db_->flush());
    ASSERT_OK(db_->drop_tree("large"));
  }
  EXPECT_LT(db_->stats().disk_bytes_allocated, uint64_t{30} << 20);
  EXPECT_TRUE(db_->check().value().ok());
  db_.reset();
  db::data_file_bytes_first = first;
  db::data_file_bytes_max = most;
  open();
}

TEST_F(Catalog, renaming) {
  ASSERT_OK(db_->put(tree_, "k", "v"));
  Snapshot before = db_->snapshot();
  ASSERT_OK(db_->rename_tree("t", "u"));
  EXPECT_EQ(get("k"), "v") << "by the old handle";
  EXPECT_EQ(get_of("u", "k"), "v");
  EXPECT_TRUE(db_->find_tree("t").status().is_not_found());
  EXPECT_EQ(db_->find_tree("t", {.snapshot = &before}).value().id(), tree_.id());
  EXPECT_TRUE(db_->rename_tree("t", "w").is_not_found());
  ASSERT_OK(db_->tree("t").status());
  EXPECT_TRUE(db_->rename_tree("t", "u").is(StatusCode::kInvalidArgument));
  ASSERT_OK(db_->rename_tree("u", "u"));
  before.reset();
  {
    // In a circle, at one moment.
    Transaction t = begin();
    ASSERT_OK(t.rename_tree("t", "x"));
    ASSERT_OK(t.rename_tree("u", "t"));
    ASSERT_OK(t.rename_tree("x", "u"));
    ASSERT_OK(t.commit());
  }
  EXPECT_EQ(get_of("t", "k"), "v");
  EXPECT_EQ(get_of("u", "k"), "NotFound");
  reopen();
  EXPECT_EQ(get_of("t", "k"), "v");
  EXPECT_EQ(db_->stats().trees.at(0).name, "t");
}

TEST_F(Catalog, what_is_refused) {
  const std::string long_name(256, 'n');
  Transaction t = begin();
  for (const std::string& name : {std::string(), long_name}) {
    EXPECT_TRUE(t.tree(name).status().is(StatusCode::kInvalidArgument));
    EXPECT_TRUE(t.rename_tree("t", name).is(StatusCode::kInvalidArgument));
    EXPECT_TRUE(db_->tree(name).status().is(StatusCode::kInvalidArgument));
  }
  EXPECT_TRUE(t.drop_tree("none").is_not_found());
  ASSERT_OK(t.tree(std::string(255, 'n')).status());
  ASSERT_OK(t.tree(std::string("\0\xff", 2)).status());
  ASSERT_OK(t.commit());
  EXPECT_TRUE(t.tree("x").status().is(StatusCode::kInvalidArgument));
  Transaction reader = begin({.read_only = true});
  ASSERT_OK(reader.tree("t").status());
  EXPECT_TRUE(reader.tree("new").status().is(StatusCode::kReadOnly));
  EXPECT_TRUE(reader.drop_tree("t").is(StatusCode::kReadOnly));
  // The catalog is nobody's tree.
  WriteBatch batch;
  batch.put(Tree(), "tnew", "v");
  EXPECT_TRUE(db_->write(batch).is(StatusCode::kInvalidArgument));
  EXPECT_TRUE(db_->put(Tree(), "tnew", "v").is(StatusCode::kInvalidArgument));
}

// What the log says of trees, in one record and in chunks, with and without flushes in between.
TEST_F(Catalog, replayed_from_the_log) {
  for (const uint64_t operations : {10u, 5000u}) {
    for (const bool flushed : {false, true}) {
      const std::string name = std::to_string(operations) + (flushed ? "f" : "l");
      {
        Transaction t = begin();
        const Tree tree = t.tree(name).value();
        for (uint64_t i = 0; i < operations; ++i) {
          ASSERT_OK(t.put(tree, big_endian(i), value_of(i, 300)));
        }
        ASSERT_OK(t.put(tree, "large", value_of(7, 100'000)));
        ASSERT_OK(t.commit(Durability::kNone));
        // By a record behind the chunks.
        ASSERT_OK(db_->put(tree, "late", value_of(8, 90'000)));
        Transaction lost = begin();
        ASSERT_OK(lost.tree(name + " lost").status());
        lost.abort();
      }
      if (flushed) ASSERT_OK(db_->flush());
      reopen();
      const Tree tree = db_->find_tree(name).value();
      EXPECT_EQ(db_->count(tree, "", std::nullopt).value(), operations + 2);
      EXPECT_EQ(get_of(name, "large"), value_of(7, 100'000));
      EXPECT_EQ(get_of(name, "late"), value_of(8, 90'000));
      EXPECT_TRUE(db_->find_tree(name + " lost").status().is_not_found());
      EXPECT_TRUE(db_->check().value().ok());
      ASSERT_OK(db_->drop_tree(name));
      reopen();
      EXPECT_TRUE(db_->find_tree(name).status().is_not_found());
      ASSERT_OK(db_->drain());
      EXPECT_EQ(db_->stats().trees.size(), 1u);
      EXPECT_TRUE(db_->check().value().ok());
    }
  }
}

TEST_F(Catalog, read_only) {
  ASSERT_OK(db_->tree("second").status());
  ASSERT_OK(db_->rename_tree("t", "first"));
  db_.reset();
  Options reading = options();
  reading.read_only = true;
  db_ = std::move(Db::open(path_, reading)).value();
  EXPECT_EQ(names(), (Names{"first", "second"}));
  ASSERT_OK(db_->tree("first").status());
  EXPECT_TRUE(db_->tree("third").status().is(StatusCode::kReadOnly));
  EXPECT_TRUE(db_->rename_tree("first", "t").is(StatusCode::kReadOnly));
}

// The blocks of the catalog are damaged: the manifest's names serve.
class DamagedCatalog : public Catalog {
 protected:
  // Closes the database, and damages the catalog where this name stands.
  void damage(std::string name) {
    ASSERT_OK(db_->drain());
    ASSERT_OK(db_->close());
    db_.reset();
    // Names stand nowhere else in the data files.
    uint64_t damaged = 0;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) {
      if (!entry.path().filename().string().starts_with("data.")) continue;
      std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
      std::string bytes(entry.file_size(), '\0');
      file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
      // As text, and as the number by which short keys are searched.
      for (const std::string& text : {name, std::string(name.rbegin(), name.rend())}) {
        for (size_t at = bytes.find(text); at != std::string::npos; at = bytes.find(text, at + 1)) {
          file.seekp(static_cast<std::streamoff>(at));
          file.put('z');
          ++damaged;
        }
      }
    }
    ASSERT_GT(damaged, 0u);
    db_ = std::move(Db::open(path_, options())).value();
  }
};

TEST_F(DamagedCatalog, the_manifest_has_the_names) {
  ASSERT_OK(db_->put(tree_, "k", "v"));
  ASSERT_OK(db_->tree("second").status());
  ASSERT_OK(db_->rename_tree("t", "first"));
  ASSERT_OK(db_->tree("gone").status());
  ASSERT_OK(db_->drop_tree("gone"));
  damage("second");
  EXPECT_EQ(names(), (Names{"first", "second"}));
  EXPECT_EQ(get_of("first", "k"), "v");
  EXPECT_FALSE(db_->find_tree("t").ok());
  EXPECT_FALSE(db_->check().value().ok());
}

// The background has looked for new names before these were committed.
TEST_F(DamagedCatalog, the_manifest_has_the_names_of_late_commits) {
  ASSERT_OK(db_->tree("second").status());
  {
    Transaction t = begin();
    ASSERT_OK(t.rename_tree("t", "other"));
    ASSERT_OK(db_->drain());
    t.abort();
  }
  Transaction t = begin();
  ASSERT_OK(t.rename_tree("t", "first"));
  const Savepoint before = t.savepoint().value();
  ASSERT_OK(t.rename_tree("second", "undone"));
  ASSERT_OK(t.rollback_to(before));
  ASSERT_OK(db_->drain());
  ASSERT_OK(t.commit());
  damage("second");
  EXPECT_EQ(names(), (Names{"first", "second"}));
}

TEST_F(DamagedCatalog, the_manifest_has_the_names_of_prepared_transactions) {
  for (const char* from : {"first", "second"}) {
    ASSERT_OK(db_->tree(from).status());
    {
      Transaction t = begin();
      ASSERT_OK(t.rename_tree(from, std::string(from) + " renamed"));
      ASSERT_OK(t.prepare(from));
    }
    // The second is committed by who has found it.
    if (std::string_view(from) == "second") open();
    ASSERT_OK(db_->drain());
    ASSERT_OK(db_->commit_prepared(from));
  }
  damage("second");
  EXPECT_EQ(names(), (Names{"first renamed", "second renamed", "t"}));
}

#if defined(HAWTHORN_TEST_POINTS)
// It was there when it was looked up: what the manifest has lost it is not told again.
TEST_F(Catalog, a_setting_of_a_tree_that_goes_meanwhile) {
  const Tree tree = db_->tree("going").value();
  os::set_test_point("catalog.before_change", [&] {
    os::clear_test_points();
    ASSERT_OK(db_->drop_tree("going"));
    ASSERT_OK(db_->drain());
  });
  const Status status = db_->set_compression(tree, Compression::kLz4);
  os::clear_test_points();
  EXPECT_TRUE(status.is(StatusCode::kInvalidArgument)) << status.to_string();
  ASSERT_OK(db_->put(tree_, "k", "v"));
  ASSERT_OK(db_->flush());
  EXPECT_EQ(names(), (Names{"t"}));
}
#endif

// Ten thousand trees with a key each, in a budget that holds about what their objects take.
TEST_F(Catalog, ten_thousand_trees) {
  constexpr uint64_t kTrees = 10'000;
  ASSERT_OK(db_->set_memory_budget(size_t{64} << 20));
  for (uint64_t i = 0; i < kTrees;) {
    Transaction t = begin();
    for (const uint64_t end = i + 500; i < end; ++i) {
      const Result<Tree> tree = t.tree("tree" + std::to_string(i));
      ASSERT_OK(tree.status());
      ASSERT_OK(t.put(*tree, "k", std::to_string(i)));
    }
    ASSERT_OK(t.commit());
  }
  EXPECT_EQ(names().size(), kTrees + 1);
  ASSERT_OK(db_->flush());
  for (uint64_t i = 0; i < kTrees; i += 97) {
    EXPECT_EQ(get_of("tree" + std::to_string(i), "k"), std::to_string(i));
  }
  const Stats stats = db_->stats();
  EXPECT_LT(stats.disk_bytes_reachable, kTrees * 8200 + (1 << 20));
  EXPECT_LT(stats.memory_used_bytes, kTrees * 4000 + (16 << 20));
  ASSERT_OK(db_->close());
  open();
  EXPECT_EQ(names().size(), kTrees + 1);
  EXPECT_EQ(get_of("tree4711", "k"), "4711");
  {
    Transaction t = begin();
    for (uint64_t i = 0; i < kTrees; ++i) ASSERT_OK(t.drop_tree("tree" + std::to_string(i)));
    ASSERT_OK(t.commit());
  }
  ASSERT_OK(db_->drain());
  EXPECT_LT(db_->stats().disk_bytes_reachable, 1u << 20);
  EXPECT_EQ(names(), (Names{"t"}));
}

}  // namespace
}  // namespace hawthorn::tests
