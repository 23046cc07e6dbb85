// Opening, trees, snapshots, and the database as a whole.

#include <filesystem>

#include "c/c_test_fixture.h"
#include "testing/scaled.h"

namespace hawthorn::c {

namespace {

class DbCTest : public CTest {
 protected:
  // The values of a field, with commas.
  static std::string column(hawthorn_records* listed, const char* name) {
    const RecordsHandle records(listed);
    std::string text;
    for (size_t row = 0; row < hawthorn_records_count(listed); ++row) {
      if (row != 0) text += ',';
      text += hawthorn_records_bytes(listed, row, name, nullptr);
    }
    return text;
  }
  std::string trees(const hawthorn_snapshot* at = nullptr) {
    hawthorn_records* listed = nullptr;
    EXPECT_EQ(C_TEXT(hawthorn_db_list_trees(db_.get(), at, &listed, &e)), "OK");
    return column(listed, "name");
  }
};

TEST_F(DbCTest, OpensClosesAndDestroys) {
  C_OK(hawthorn_options_set(options_.get(), "create_if_missing", "false", &e));
  hawthorn_db* made = nullptr;
  C_FAILS("NotFound", hawthorn_db_open(path().c_str(), options_.get(), &made, &e));
  EXPECT_EQ(made, nullptr);
  C_OK(hawthorn_options_set(options_.get(), "create_if_missing", "true", &e));
  open_with_tree();
  EXPECT_EQ(hawthorn_db_path(db_.get()), std::filesystem::path(path()).lexically_normal());
  char id[33];
  C_OK(hawthorn_db_id(db_.get(), id, &e));
  EXPECT_EQ(std::string(id).size(), 32U);
  put("k", "v");
  C_OK(hawthorn_db_close(db_.get(), &e));
  EXPECT_EQ(get("k"), "Closed");
  hawthorn_records* stats = nullptr;
  C_FAILS("Closed", hawthorn_db_stats(db_.get(), &stats, &e));
  hawthorn_snapshot* snapshot = nullptr;
  C_FAILS("Closed", hawthorn_db_snapshot(db_.get(), &snapshot, &e));
  value_.reset();
  open_with_tree();
  EXPECT_EQ(get("k"), "v");
  char again[33];
  C_OK(hawthorn_db_id(db_.get(), again, &e));
  EXPECT_STREQ(id, again);
  C_FAILS("Busy", hawthorn_destroy_database(path().c_str(), nullptr, &e));
  hawthorn_value_release(value_.get());
  C_OK(hawthorn_db_close(db_.get(), &e));
  C_OK(hawthorn_destroy_database(path().c_str(), nullptr, &e));
  C_FAILS("NotFound", hawthorn_destroy_database(path().c_str(), nullptr, &e));
}

TEST_F(DbCTest, WhatIsHeldKeepsItOpenAndMayBeFreedInAnyOrder) {
  open_with_tree();
  put("k", "v");
  SnapshotHandle held = snapshot();
  C_FAILS("Busy", hawthorn_db_close(db_.get(), &e));
  hawthorn_cursor_options options = HAWTHORN_CURSOR_OPTIONS_INIT;
  options.snapshot = held.get();
  CursorHandle walking = cursor(&options);
  TxnHandle txn = begin();
  hawthorn_cursor* opened = nullptr;
  C_OK(hawthorn_txn_cursor(txn.get(), tree_.get(), nullptr, &opened, &e));
  CursorHandle inside(opened);
  EXPECT_EQ(walk(inside.get()), "k=v");
  // The database first, then what was made from it.
  db_.reset();
  tree_.reset();
  held.reset();
  EXPECT_EQ(walk(walking.get()), "k=v");
  txn.reset();
  int found = 0;
  C_FAILS("InvalidArgument: the cursor's transaction has ended",
          hawthorn_cursor_first(inside.get(), &found, &e));
  hawthorn_db* again = nullptr;
  C_FAILS("Busy", hawthorn_db_open(path().c_str(), options_.get(), &again, &e));
  inside.reset();
  walking.reset();
  open_with_tree();
  EXPECT_EQ(get("k"), "v");
}

TEST_F(DbCTest, TreesAreMadeFoundRenamedAndDropped) {
  open();
  hawthorn_tree* made = nullptr;
  C_FAILS("NotFound", hawthorn_db_find_tree(db_.get(), "a", 1, nullptr, &made, &e));
  const TreeHandle a = tree("a");
  const TreeHandle b = tree("b");
  EXPECT_NE(hawthorn_tree_id(a.get()), hawthorn_tree_id(b.get()));
  EXPECT_EQ(trees(), "a,b");
  const SnapshotHandle before = snapshot();
  C_OK(hawthorn_db_rename_tree(db_.get(), "a", 1, "c", 1, &e));
  C_FAILS("InvalidArgument", hawthorn_db_rename_tree(db_.get(), "b", 1, "c", 1, &e));
  C_OK(hawthorn_db_drop_tree(db_.get(), "b", HAWTHORN_STRING, &e));
  C_FAILS("NotFound", hawthorn_db_drop_tree(db_.get(), "b", 1, &e));
  EXPECT_EQ(trees(), "c");
  EXPECT_EQ(trees(before.get()), "a,b");
  C_OK(hawthorn_db_find_tree(db_.get(), "a", 1, before.get(), &made, &e));
  const TreeHandle found(made);
  EXPECT_EQ(hawthorn_tree_id(found.get()), hawthorn_tree_id(a.get()));
  C_OK(hawthorn_tree_copy(a.get(), &made, &e));
  const TreeHandle copy(made);
  EXPECT_EQ(hawthorn_tree_id(copy.get()), hawthorn_tree_id(a.get()));
  C_FAILS("InvalidArgument", hawthorn_db_tree(db_.get(), "", 0, nullptr, &made, &e));
  EXPECT_EQ(hawthorn_tree_id(nullptr), 0U);
}

TEST_F(DbCTest, OptionsOfTreesAreKept) {
  open();
  hawthorn_tree_options options = HAWTHORN_TREE_OPTIONS_INIT;
  options.order = "uint64";
  options.multi_value = 1;
  options.value_order = "reverse";
  const TreeHandle numbers = tree("numbers", &options);
  hawthorn_records* told = nullptr;
  C_OK(hawthorn_db_tree_options(db_.get(), numbers.get(), &told, &e));
  const RecordsHandle records(told);
  EXPECT_STREQ(hawthorn_records_bytes(told, 0, "order", nullptr), "uint64");
  EXPECT_STREQ(hawthorn_records_bytes(told, 0, "value_order", nullptr), "reverse");
  EXPECT_EQ(hawthorn_records_number(told, 0, "multi_value", 9), 1U);
  EXPECT_EQ(hawthorn_records_number(told, 0, "expires", 9), 0U);
  hawthorn_tree* made = nullptr;
  options.order = "bytewise";
  C_FAILS("InvalidArgument",
          hawthorn_db_tree(db_.get(), "numbers", HAWTHORN_STRING, &options, &made, &e));
  options.order = "unknown";
  C_FAILS("InvalidArgument", hawthorn_db_tree(db_.get(), "x", 1, &options, &made, &e));
}

TEST_F(DbCTest, ClonesChangeByThemselves) {
  open_with_tree();
  put("k", "v");
  hawthorn_tree* made = nullptr;
  C_OK(hawthorn_db_clone_tree(db_.get(), "tree", 4, "clone", 5, 0, &made, &e));
  const TreeHandle clone(made);
  C_OK(hawthorn_db_put(db_.get(), clone.get(), "k", 1, "other", 5, nullptr, &e));
  EXPECT_EQ(get("k"), "v");
  C_FAILS("InvalidArgument",
          hawthorn_db_clone_tree(db_.get(), "tree", 4, "clone", 5, 0, nullptr, &e));
  C_FAILS("InvalidArgument: durability is 7",
          hawthorn_db_clone_tree(db_.get(), "tree", 4, "x", 1, 7, nullptr, &e));
}

TEST_F(DbCTest, TreesHangInTrees) {
  hawthorn_tree_options options = HAWTHORN_TREE_OPTIONS_INIT;
  options.subtrees = 1;
  open_with_tree(&options);
  hawthorn_tree* made = nullptr;
  C_OK(hawthorn_db_create_subtree(db_.get(), tree_.get(), "a", 1, nullptr, 0, &made, &e));
  const TreeHandle a(made);
  C_OK(hawthorn_db_put(db_.get(), a.get(), "k", 1, "v", 1, nullptr, &e));
  C_OK(hawthorn_db_subtree(db_.get(), tree_.get(), "a", 1, nullptr, &made, &e));
  const TreeHandle again(made);
  EXPECT_EQ(hawthorn_tree_id(again.get()), hawthorn_tree_id(a.get()));
  C_FAILS("NotFound", hawthorn_db_subtree(db_.get(), tree_.get(), "b", 1, nullptr, &made, &e));
  C_OK(hawthorn_db_move_subtree(db_.get(), tree_.get(), "a", 1, tree_.get(), "b", 1, 0, &e));
  hawthorn_records* keys = nullptr;
  C_OK(hawthorn_db_list_subtrees(db_.get(), tree_.get(), nullptr, &keys, &e));
  EXPECT_EQ(column(keys, "key"), "b");
  const CursorHandle walking = cursor();
  int found = 0;
  C_OK(hawthorn_cursor_first(walking.get(), &found, &e));
  ASSERT_EQ(found, 1);
  int subtree = 0;
  C_OK(hawthorn_cursor_is_subtree(walking.get(), &subtree, &e));
  EXPECT_EQ(subtree, 1);
  C_OK(hawthorn_db_clone_subtree(db_.get(), tree_.get(), "b", 1, "copy", 4, 0, &made, &e));
  const TreeHandle copy(made);
  C_OK(hawthorn_db_detach(db_.get(), tree_.get(), "b", 1, "named", 5, 0, &e));
  EXPECT_EQ(trees(), "copy,named,tree");
  C_OK(hawthorn_db_attach(db_.get(), tree_.get(), "c", 1, "named", 5, 0, &e));
  EXPECT_EQ(trees(), "copy,tree");
  C_FAILS("InvalidArgument", hawthorn_db_attach(db_.get(), tree_.get(), "c", 1, "copy", 4, 0, &e));
}

TEST_F(DbCTest, SnapshotsShowTheirMoment) {
  open_with_tree();
  put("k", "old");
  const SnapshotHandle before = snapshot();
  put("k", "new");
  EXPECT_EQ(get("k"), "new");
  EXPECT_EQ(get("k", before.get()), "old");
  const SnapshotHandle after = snapshot();
  EXPECT_LT(hawthorn_snapshot_timestamp(before.get()), hawthorn_snapshot_timestamp(after.get()));
  EXPECT_EQ(hawthorn_snapshot_timestamp(nullptr), 0U);
  EXPECT_EQ(hawthorn_snapshot_now_ms(nullptr), 0U);
  // The clock counts where something may end, and in snapshots with names.
  EXPECT_EQ(hawthorn_snapshot_now_ms(after.get()), 0U);
  C_OK(hawthorn_db_create_snapshot(db_.get(), "now", 3, &e));
  hawthorn_snapshot* opened = nullptr;
  C_OK(hawthorn_db_open_snapshot(db_.get(), "now", 3, &opened, &e));
  const SnapshotHandle named(opened);
  hawthorn_tree_options options = HAWTHORN_TREE_OPTIONS_INIT;
  options.expires = 1;
  const TreeHandle ends = tree("ends", &options);
  const SnapshotHandle later = snapshot();
  EXPECT_GT(hawthorn_snapshot_now_ms(named.get()), uint64_t{1'500'000'000'000});
  EXPECT_GE(hawthorn_snapshot_now_ms(later.get()), hawthorn_snapshot_now_ms(named.get()));
  EXPECT_EQ(hawthorn_snapshot_now_ms(after.get()), 0U);
}

TEST_F(DbCTest, NamedSnapshotsStay) {
  open_with_tree();
  put("k", "old");
  C_OK(hawthorn_db_create_snapshot(db_.get(), "monday", HAWTHORN_STRING, &e));
  C_FAILS("InvalidArgument", hawthorn_db_create_snapshot(db_.get(), "monday", 6, &e));
  put("k", "new");
  hawthorn_value_release(value_.get());
  C_OK(hawthorn_db_close(db_.get(), &e));
  open_with_tree();
  hawthorn_records* listed = nullptr;
  C_OK(hawthorn_db_list_snapshots(db_.get(), &listed, &e));
  EXPECT_EQ(column(listed, "name"), "monday");
  hawthorn_snapshot* opened = nullptr;
  C_FAILS("NotFound", hawthorn_db_open_snapshot(db_.get(), "tuesday", 7, &opened, &e));
  C_OK(hawthorn_db_open_snapshot(db_.get(), "monday", 6, &opened, &e));
  const SnapshotHandle monday(opened);
  EXPECT_EQ(get("k", monday.get()), "old");
  C_OK(hawthorn_db_drop_snapshot(db_.get(), "monday", 6, &e));
  C_FAILS("NotFound", hawthorn_db_drop_snapshot(db_.get(), "monday", 6, &e));
}

struct CompactTold {
  uint64_t calls = 0;
  uint64_t done = 0;
  uint64_t all = 0;
  bool ends = false;
};
hawthorn_error* tell_compact(void* context, uint64_t done, uint64_t all) {
  auto* told = static_cast<CompactTold*>(context);
  ++told->calls;
  told->done = done;
  told->all = all;
  return told->ends ? hawthorn_error_create(HAWTHORN_BUSY, "that is enough", HAWTHORN_STRING)
                    : nullptr;
}

TEST_F(DbCTest, CompactTellsAndEnds) {
  open_with_tree();
  for (int step : {1, 20}) {
    for (int i = 0; i < 3000; i += step) put("key" + std::to_string(i), std::string(1000, 'v'));
    C_OK(hawthorn_db_flush(db_.get(), &e));
  }
  CompactTold told;
  told.ends = true;
  hawthorn_compact_options options = HAWTHORN_COMPACT_OPTIONS_INIT;
  options.progress = tell_compact;
  options.context = &told;
  C_FAILS("Busy: that is enough", hawthorn_db_compact_with(db_.get(), &options, &e));
  EXPECT_EQ(told.calls, 1U);
  EXPECT_GT(told.all, 0U);
  told = {};
  C_OK(hawthorn_db_compact_with(db_.get(), &options, &e));
  EXPECT_GT(told.calls, 1U);
  EXPECT_EQ(told.done, told.all);
  options.struct_size = 3;
  C_FAILS("InvalidArgument", hawthorn_db_compact_with(db_.get(), &options, &e));
}

TEST_F(DbCTest, MaintenanceRuns) {
  open_with_tree();
  for (int i = 0; i < 1000; ++i) put("key" + std::to_string(i), std::string(100, 'v'));
  C_OK(hawthorn_db_sync(db_.get(), &e));
  C_OK(hawthorn_db_flush(db_.get(), &e));
  C_OK(hawthorn_db_compact(db_.get(), &e));
  C_OK(hawthorn_db_compact_with(db_.get(), nullptr, &e));
  C_OK(hawthorn_db_drain(db_.get(), &e));
  C_OK(hawthorn_db_warm_up(db_.get(), &e));
  C_OK(hawthorn_db_set_background_io_limit(db_.get(), 1 << 20, &e));
  C_OK(hawthorn_db_set_memory_budget(db_.get(), 48 << 20, &e));
  C_FAILS("InvalidArgument", hawthorn_db_set_memory_budget(db_.get(), 1, &e));
  C_OK(hawthorn_db_set_compression(db_.get(), tree_.get(), HAWTHORN_COMPRESSION_LZ4, &e));
  C_FAILS("InvalidArgument: the database is NULL", hawthorn_db_flush(nullptr, &e));

  hawthorn_records* stats = nullptr;
  C_OK(hawthorn_db_stats(db_.get(), &stats, &e));
  const RecordsHandle records(stats);
  EXPECT_EQ(hawthorn_records_number(stats, 0, "memory_budget_bytes", 0), uint64_t{48} << 20);
  EXPECT_EQ(hawthorn_records_number(stats, 0, "background_io_bytes_per_second", 0), 1U << 20);
  hawthorn_field field;
  for (const char* time : {"write_wait_us", "disk_read_us", "disk_read_batch_us", "flush_us",
                           "manifest_batch_us", "commit_wait_us"}) {
    C_OK(hawthorn_records_find(stats, 0, time, &field, &e));
    EXPECT_EQ(field.unit, static_cast<hawthorn_unit>(HAWTHORN_UNIT_MICROSECONDS)) << time;
  }
  EXPECT_GT(hawthorn_records_number(stats, 0, "flush_us", 0), 0U);
  C_OK(hawthorn_records_find(stats, 0, "trees", &field, &e));
  EXPECT_EQ(field.type, static_cast<hawthorn_field_type>(HAWTHORN_FIELD_RECORDS));
  ASSERT_EQ(hawthorn_records_count(field.records), 1U);
  EXPECT_STREQ(hawthorn_records_bytes(field.records, 0, "name", nullptr), "tree");
  EXPECT_EQ(hawthorn_records_number(field.records, 0, "entries_flushed", 0), 1000U);
  EXPECT_STREQ(hawthorn_records_bytes(field.records, 0, "compression", nullptr), "lz4");

  uint64_t commits = 0;
  C_OK(hawthorn_db_stat(db_.get(), "commits", &commits, &e));
  EXPECT_GE(commits, 1000U);
  C_FAILS("NotFound", hawthorn_db_stat(db_.get(), "comits", &commits, &e));
  C_FAILS("NotFound", hawthorn_db_stat(db_.get(), "trees", &commits, &e));

  hawthorn_records* counters = nullptr;
  C_OK(hawthorn_read_counters(path().c_str(), &counters, &e));
  const RecordsHandle told(counters);
  EXPECT_EQ(hawthorn_records_number(counters, 0, "alive", 9), 1U);
  C_OK(hawthorn_records_find(counters, 0, "entries", &field, &e));
  EXPECT_GT(hawthorn_records_count(field.records), 30U);
  C_FAILS("NotFound", hawthorn_read_counters(path("nowhere").c_str(), &counters, &e));
}

TEST_F(DbCTest, EncryptedDatabasesWantTheirKey) {
  uint8_t key[32];
  C_OK(hawthorn_generate_key(key, &e));
  std::string hex;
  for (const uint8_t byte : key) {
    const char* const digits = "0123456789abcdef";
    hex += {digits[byte >> 4], digits[byte & 15]};
  }
  C_OK(hawthorn_options_set(options_.get(), "encryption.key_id", "first", &e));
  C_OK(hawthorn_options_set(options_.get(), "encryption.key", hex.c_str(), &e));
  open_with_tree();
  put("k", "v");
  hawthorn_records* info = nullptr;
  C_OK(hawthorn_db_encryption(db_.get(), &info, &e));
  const RecordsHandle records(info);
  EXPECT_EQ(hawthorn_records_number(info, 0, "encrypted", 9), 1U);
  EXPECT_STREQ(hawthorn_records_bytes(info, 0, "key_id", nullptr), "first");
  C_OK(hawthorn_db_rotate_key(db_.get(), "second", 6, &e));
  C_OK(hawthorn_db_rotate_data_key(db_.get(), &e));
  C_OK(hawthorn_db_close(db_.get(), &e));

  // By a callback, which is asked for the new name; wrong ones are told.
  struct Keys {
    uint8_t key[32];
    std::string asked;
    bool refuse = false;
  } keys;
  std::copy_n(key, 32, keys.key);
  const auto give = [](void* context, const char* id, size_t, uint8_t out[32]) {
    auto* const all = static_cast<Keys*>(context);
    all->asked = id;
    if (all->refuse) return hawthorn_error_create(HAWTHORN_IO_ERROR, "the vault is shut", 17);
    std::copy_n(all->key, 32, out);
    return static_cast<hawthorn_error*>(nullptr);
  };
  C_OK(hawthorn_options_set_encryption(options_.get(), nullptr, 0, give, &keys, nullptr, &e));
  open_with_tree();
  EXPECT_EQ(keys.asked, "second");
  EXPECT_EQ(get("k"), "v");
  hawthorn_value_release(value_.get());
  C_OK(hawthorn_db_close(db_.get(), &e));
  hawthorn_db* made = nullptr;
  keys.refuse = true;
  C_FAILS("IoError: ", hawthorn_db_open(path().c_str(), options_.get(), &made, &e));
  keys.refuse = false;
  keys.key[0] ^= 1;
  C_FAILS("InvalidArgument", hawthorn_db_open(path().c_str(), options_.get(), &made, &e));
  C_FAILS("InvalidArgument", hawthorn_db_open(path().c_str(), nullptr, &made, &e));
  C_FAILS("InvalidArgument: key is NULL", hawthorn_generate_key(nullptr, &e));
}

TEST_F(DbCTest, DroppedTreesLeaveNothing) {
  open_with_tree();
  const auto number = [this](const char* name) {
    hawthorn_records* stats = nullptr;
    EXPECT_EQ(C_TEXT(hawthorn_db_drain(db_.get(), &e)), "OK");
    EXPECT_EQ(C_TEXT(hawthorn_db_stats(db_.get(), &stats, &e)), "OK");
    const RecordsHandle records(stats);
    return hawthorn_records_number(stats, 0, name, 0);
  };
  const uint64_t rounds = testing::scaled(800);
  TreeHandle old;
  uint64_t before = 0;
  for (uint64_t i = 0; i < rounds; ++i) {
    if (i == rounds / 4) before = number("memory_used_bytes");
    TreeHandle made = tree("staging");
    C_OK(hawthorn_db_put(db_.get(), made.get(), "k", 1, "v", 1, nullptr, &e));
    C_OK(hawthorn_db_drop_tree(db_.get(), "staging", HAWTHORN_STRING, &e));
    if (i == 0) old = std::move(made);
  }
  EXPECT_LE(number("memory_used_bytes"), before + (256 << 10));
  EXPECT_EQ(number("trees_unreachable"), 0U);
  const TreeHandle another = tree("another");
  C_FAILS("InvalidArgument", hawthorn_db_put(db_.get(), old.get(), "k", 1, "v", 1, nullptr, &e));
}

}  // namespace

}  // namespace hawthorn::c
