// Reads, writes, batches and many keys at once, outside of transactions.

#include <chrono>

#include "c/c_test_fixture.h"

namespace hawthorn::c {

namespace {

class AccessCTest : public CTest {};

TEST_F(AccessCTest, ReadsIntoBuffersAndCopies) {
  open_with_tree();
  put("k", "value");
  char buffer[8] = "-------";
  size_t size = 0;
  C_OK(hawthorn_db_get_into(db_.get(), tree_.get(), "k", 1, nullptr, buffer, 5, &size, &e));
  EXPECT_EQ(size, 5U);
  EXPECT_STREQ(buffer, "value--");
  C_FAILS("BufferTooSmall: the value has 5 bytes, the buffer 2",
          hawthorn_db_get_into(db_.get(), tree_.get(), "k", 1, nullptr, buffer, 2, &size, &e));
  EXPECT_EQ(size, 5U);
  C_FAILS("BufferTooSmall",
          hawthorn_db_get_into(db_.get(), tree_.get(), "k", 1, nullptr, nullptr, 0, &size, &e));
  C_FAILS("InvalidArgument: buffer is NULL with a capacity of 4",
          hawthorn_db_get_into(db_.get(), tree_.get(), "k", 1, nullptr, nullptr, 4, &size, &e));
  C_FAILS("NotFound",
          hawthorn_db_get_into(db_.get(), tree_.get(), "x", 1, nullptr, buffer, 5, &size, &e));
  void* copy = nullptr;
  C_OK(hawthorn_db_get_copy(db_.get(), tree_.get(), "k", 1, nullptr, &copy, &size, &e));
  EXPECT_STREQ(static_cast<char*>(copy), "value");
  EXPECT_EQ(size, 5U);
  hawthorn_free(copy);
  hawthorn_free(nullptr);
  value_.reset(hawthorn_value_create());
  C_OK(hawthorn_db_get_in_memory(db_.get(), tree_.get(), "k", 1, nullptr, value_.get(), &e));
  EXPECT_EQ(bytes_of(hawthorn_value_data(value_.get(), &size), 5), "value");
  // Behind an error a value holds nothing.
  C_FAILS("NotFound", hawthorn_db_get(db_.get(), tree_.get(), "x", 1, nullptr, value_.get(), &e));
  (void)hawthorn_value_data(value_.get(), &size);
  EXPECT_EQ(size, 0U);
}

TEST_F(AccessCTest, ExplainsWhereAKeyIs) {
  open_with_tree();
  put("k", "value");
  RecordsHandle told;
  const auto explain = [&](const char* key, const hawthorn_snapshot* at) {
    hawthorn_records* made = nullptr;
    C_OK(hawthorn_db_explain(db_.get(), tree_.get(), key, 1, at, &made, &e));
    told.reset(made);
  };
  const auto word = [&](const char* field) {
    size_t size = 0;
    const void* bytes = hawthorn_records_bytes(told.get(), 0, field, &size);
    return bytes_of(bytes, size);
  };
  explain("k", nullptr);
  EXPECT_EQ(word("place"), "memory");
  EXPECT_EQ(hawthorn_records_number(told.get(), 0, "value_bytes", 0), 5U);
  const SnapshotHandle before = snapshot();
  C_OK(hawthorn_db_del(db_.get(), tree_.get(), "k", 1, nullptr, &e));
  C_OK(hawthorn_db_flush(db_.get(), &e));
  explain("k", nullptr);
  EXPECT_EQ(hawthorn_records_number(told.get(), 0, "found", 9), 0U);
  EXPECT_EQ(word("kind"), "deleted");
  explain("k", before.get());
  EXPECT_EQ(word("place"), "run");
  EXPECT_EQ(word("kind"), "inline");
  EXPECT_EQ(word("index_file"), "data.0");
  EXPECT_GE(hawthorn_records_number(told.get(), 0, "cold_reads", 0), 1U);
  explain("x", nullptr);
  EXPECT_EQ(word("place"), "nowhere");

  hawthorn_tree_options several = HAWTHORN_TREE_OPTIONS_INIT;
  several.multi_value = 1;
  const TreeHandle edges = tree("edges", &several);
  hawthorn_records* made = nullptr;
  C_FAILS("NotSupported", hawthorn_db_explain(db_.get(), edges.get(), "", 0, nullptr, &made, &e));
  C_OK(hawthorn_db_explain_stored(db_.get(), edges.get(), "", 0, nullptr, &made, &e));
  told.reset(made);
  EXPECT_EQ(word("low_key"), "");
  EXPECT_EQ(hawthorn_records_number(told.get(), 0, "entries_flushed", 9), 0U);
}

TEST_F(AccessCTest, DeletesAndCounts) {
  open_with_tree();
  for (const char* key : {"a", "b", "c", "d", "e"}) put(key, key);
  uint64_t count = 0;
  C_OK(hawthorn_db_count(db_.get(), tree_.get(), "b", 1, nullptr, 0, nullptr, &count, &e));
  EXPECT_EQ(count, 4U);
  const SnapshotHandle before = snapshot();
  C_OK(hawthorn_db_del(db_.get(), tree_.get(), "a", 1, nullptr, &e));
  C_OK(hawthorn_db_del(db_.get(), tree_.get(), "absent", 6, nullptr, &e));
  C_OK(hawthorn_db_delete_range(db_.get(), tree_.get(), "c", 1, "e", 1, nullptr, &e));
  EXPECT_EQ(walk(cursor().get()), "b=b,e=e");
  C_OK(hawthorn_db_count(db_.get(), tree_.get(), nullptr, 0, "z", 1, before.get(), &count, &e));
  EXPECT_EQ(count, 5U);
  uint64_t bytes = 0;
  C_OK(hawthorn_db_estimate(db_.get(), tree_.get(), nullptr, 0, nullptr, 0, &count, &bytes, &e));
  EXPECT_GE(count, 2U);
  int changed = 0;
  C_OK(hawthorn_db_changed_since(db_.get(), tree_.get(), "a", 1, before.get(), &changed, &e));
  EXPECT_EQ(changed, 1);
  C_OK(hawthorn_db_changed_since(db_.get(), tree_.get(), "b", 1, before.get(), &changed, &e));
  EXPECT_EQ(changed, 0);
  C_FAILS("InvalidArgument: since is NULL",
          hawthorn_db_changed_since(db_.get(), tree_.get(), "b", 1, nullptr, &changed, &e));
  C_OK(hawthorn_db_delete_range(db_.get(), tree_.get(), nullptr, 0, nullptr, 0, nullptr, &e));
  EXPECT_EQ(walk(cursor().get()), "");
}

TEST_F(AccessCTest, ComparesAndSets) {
  open_with_tree();
  int done = 7;
  C_OK(hawthorn_db_insert(db_.get(), tree_.get(), "k", 1, "1", 1, nullptr, &done, &e));
  EXPECT_EQ(done, 1);
  C_OK(hawthorn_db_insert(db_.get(), tree_.get(), "k", 1, "2", 1, nullptr, &done, &e));
  EXPECT_EQ(done, 0);
  EXPECT_EQ(get("k"), "1");
  C_OK(hawthorn_db_update(db_.get(), tree_.get(), "k", 1, "3", 1, nullptr, &done, &e));
  EXPECT_EQ(done, 1);
  C_OK(hawthorn_db_update(db_.get(), tree_.get(), "x", 1, "3", 1, nullptr, &done, &e));
  EXPECT_EQ(done, 0);
  C_OK(hawthorn_db_replace(db_.get(), tree_.get(), "k", 1, "1", 1, "4", 1, nullptr, &done, &e));
  EXPECT_EQ(done, 0);
  C_OK(hawthorn_db_replace(db_.get(), tree_.get(), "k", 1, "3", 1, "4", 1, nullptr, &done, &e));
  EXPECT_EQ(done, 1);
  // NULL: the key is expected to be absent; an empty value is another thing.
  C_OK(hawthorn_db_replace(db_.get(), tree_.get(), "n", 1, nullptr, 0, "", 0, nullptr, &done, &e));
  EXPECT_EQ(done, 1);
  C_OK(hawthorn_db_replace(db_.get(), tree_.get(), "n", 1, nullptr, 0, "5", 1, nullptr, &done, &e));
  EXPECT_EQ(done, 0);
  C_OK(hawthorn_db_replace(db_.get(), tree_.get(), "n", 1, "", 0, "6", 1, nullptr, &done, &e));
  EXPECT_EQ(done, 1);
  C_OK(hawthorn_db_remove_if(db_.get(), tree_.get(), "k", 1, "0", 1, nullptr, &done, &e));
  EXPECT_EQ(done, 0);
  C_OK(hawthorn_db_remove_if(db_.get(), tree_.get(), "k", 1, "4", 1, nullptr, nullptr, &e));
  EXPECT_EQ(walk(cursor().get()), "n=6");
}

TEST_F(AccessCTest, EntriesEnd) {
  hawthorn_tree_options options = HAWTHORN_TREE_OPTIONS_INIT;
  options.expires = 1;
  options.ttl_ms = 3'600'000;
  open_with_tree(&options);
  const auto now = static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(
                                             std::chrono::system_clock::now().time_since_epoch())
                                             .count());
  hawthorn_write_options write = HAWTHORN_WRITE_OPTIONS_INIT;
  put("as the tree says", "");
  write.expiry = HAWTHORN_EXPIRY_NEVER;
  C_OK(hawthorn_db_put(db_.get(), tree_.get(), "never", 5, "", 0, &write, &e));
  write.expiry = HAWTHORN_EXPIRY_AT;
  write.expiry_ms = now + 5'000'000;
  C_OK(hawthorn_db_put(db_.get(), tree_.get(), "at", 2, "", 0, &write, &e));
  write.expiry_ms = 1;
  C_OK(hawthorn_db_put(db_.get(), tree_.get(), "past", 4, "", 0, &write, &e));
  write.expiry = HAWTHORN_EXPIRY_AFTER;
  write.expiry_ms = 7'200'000;
  C_OK(hawthorn_db_put(db_.get(), tree_.get(), "after", 5, "", 0, &write, &e));
  const auto ends = [&](const char* key) {
    uint64_t at = 1;
    EXPECT_EQ(C_TEXT(hawthorn_db_expires_at(db_.get(), tree_.get(), key, HAWTHORN_STRING, nullptr,
                                            &at, &e)),
              "OK");
    return at;
  };
  EXPECT_EQ(ends("never"), 0U);
  EXPECT_EQ(ends("at"), now + 5'000'000);
  EXPECT_GE(ends("after"), now + 7'200'000);
  EXPECT_GE(ends("as the tree says"), now + 3'600'000);
  EXPECT_LT(ends("as the tree says"), now + 3'700'000);
  EXPECT_EQ(get("past"), "NotFound");
  const CursorHandle walking = cursor();
  int found = 0;
  C_OK(hawthorn_cursor_seek(walking.get(), "at", 2, &found, &e));
  EXPECT_EQ(hawthorn_cursor_expires_at(walking.get()), now + 5'000'000);
  EXPECT_EQ(hawthorn_cursor_expires_at(nullptr), 0U);
  C_FAILS("InvalidArgument: only a put says when its entry ends",
          hawthorn_db_del(db_.get(), tree_.get(), "at", 2, &write, &e));
}

TEST_F(AccessCTest, KeysOfSeveralValues) {
  hawthorn_tree_options options = HAWTHORN_TREE_OPTIONS_INIT;
  options.multi_value = 1;
  open_with_tree(&options);
  for (const char* value : {"3", "1", "2"}) put("k", value);
  put("l", "9");
  EXPECT_EQ(walk(cursor().get()), "k=1,k=2,k=3,l=9");
  C_OK(hawthorn_db_del_value(db_.get(), tree_.get(), "k", 1, "2", 1, nullptr, &e));
  EXPECT_EQ(walk(cursor().get()), "k=1,k=3,l=9");
  C_OK(hawthorn_db_del(db_.get(), tree_.get(), "k", 1, nullptr, &e));
  EXPECT_EQ(walk(cursor().get()), "l=9");
}

TEST_F(AccessCTest, Merges) {
  C_OK(hawthorn_options_add_builtin_merge_operator(options_.get(), "append:,", &e));
  open_with_tree();
  C_FAILS("InvalidArgument",
          hawthorn_db_merge(db_.get(), tree_.get(), "k", 1, "a", 1, nullptr, &e));
  C_OK(hawthorn_db_set_merge_operator(db_.get(), tree_.get(), "append:,", HAWTHORN_STRING, &e));
  C_FAILS("InvalidArgument",
          hawthorn_db_set_merge_operator(db_.get(), tree_.get(), "unknown", HAWTHORN_STRING, &e));
  C_OK(hawthorn_db_merge(db_.get(), tree_.get(), "k", 1, "a", 1, nullptr, &e));
  C_OK(hawthorn_db_merge(db_.get(), tree_.get(), "k", 1, "b", 1, nullptr, &e));
  EXPECT_EQ(get("k"), "a,b");
}

TEST_F(AccessCTest, ManyKeysAtOnce) {
  open_with_tree();
  put("a", "one");
  put("b", "");
  put("c", "three");
  const ReadBatchHandle batch(hawthorn_read_batch_create());
  const hawthorn_bytes keys[] = {{"c", 1}, {"x", 1}, {"b", 1}, {"a", HAWTHORN_STRING}};
  C_OK(hawthorn_db_multi_get(db_.get(), tree_.get(), keys, 4, nullptr, batch.get(), &e));
  ASSERT_EQ(hawthorn_read_batch_count(batch.get()), 4U);
  EXPECT_EQ(hawthorn_read_batch_value_bytes(batch.get()), 8U);
  size_t size = 0;
  EXPECT_EQ(bytes_of(hawthorn_read_batch_value(batch.get(), 0, &size), 5), "three");
  EXPECT_EQ(hawthorn_read_batch_value(batch.get(), 1, &size), nullptr);
  EXPECT_NE(hawthorn_read_batch_value(batch.get(), 2, &size), nullptr);
  EXPECT_EQ(size, 0U);
  EXPECT_EQ(hawthorn_read_batch_value(batch.get(), 4, &size), nullptr);

  Columns columns(4, 0, 8);
  C_OK(hawthorn_read_batch_columns(batch.get(), 0, columns.get(), &e));
  ASSERT_EQ(columns->rows, 4U);
  EXPECT_EQ(columns.value(0), "three");
  EXPECT_TRUE(columns.found(0));
  EXPECT_FALSE(columns.found(1));
  EXPECT_TRUE(columns.found(2));
  EXPECT_EQ(columns.value(3), "one");
  EXPECT_EQ(columns->value_bytes_needed, 8U);

  // As many as fit, and the rest by another call.
  Columns few(4, 0, 5);
  C_OK(hawthorn_read_batch_columns(batch.get(), 0, few.get(), &e));
  EXPECT_EQ(few->rows, 3U);
  C_OK(hawthorn_read_batch_columns(batch.get(), 3, few.get(), &e));
  EXPECT_EQ(few->rows, 1U);
  EXPECT_EQ(few.value(0), "one");
  Columns none(4, 0, 2);
  C_FAILS("BufferTooSmall", hawthorn_read_batch_columns(batch.get(), 0, none.get(), &e));
  EXPECT_EQ(none->rows, 0U);
  EXPECT_EQ(none->value_bytes_needed, 5U);
  C_FAILS("NotFound", hawthorn_read_batch_columns(batch.get(), 4, none.get(), &e));

  // Keys as a column.
  const int64_t offsets[] = {0, 1, 2, 3};
  const SnapshotHandle before = snapshot();
  put("a", "changed");
  C_OK(hawthorn_db_multi_get_columns(db_.get(), tree_.get(), "axc", offsets, 3, before.get(),
                                     batch.get(), columns.get(), &e));
  ASSERT_EQ(columns->rows, 3U);
  EXPECT_EQ(columns.value(0), "one");
  EXPECT_FALSE(columns.found(1));
  EXPECT_EQ(columns.value(2), "three");

  const int64_t falling[] = {0, 2, 1};
  C_FAILS("InvalidArgument: key_offsets go down at row 1",
          hawthorn_db_multi_get_columns(db_.get(), tree_.get(), "axc", falling, 2, nullptr,
                                        batch.get(), columns.get(), &e));
  const int64_t below[] = {-1, 2};
  C_FAILS("InvalidArgument: key_offsets[0] is below 0",
          hawthorn_db_multi_get_columns(db_.get(), tree_.get(), "axc", below, 1, nullptr,
                                        batch.get(), columns.get(), &e));
  C_FAILS("InvalidArgument: key_bytes is NULL",
          hawthorn_db_multi_get_columns(db_.get(), tree_.get(), nullptr, offsets, 3, nullptr,
                                        batch.get(), columns.get(), &e));
  C_FAILS("InvalidArgument: keys is NULL",
          hawthorn_db_multi_get(db_.get(), tree_.get(), nullptr, 1, nullptr, batch.get(), &e));
  const hawthorn_bytes wrong[] = {{"a", 1}, {nullptr, 2}};
  C_FAILS("InvalidArgument: keys[1]",
          hawthorn_db_multi_get(db_.get(), tree_.get(), wrong, 2, nullptr, batch.get(), &e));
  hawthorn_read_batch_release(batch.get());
  EXPECT_EQ(hawthorn_read_batch_count(batch.get()), 0U);
  EXPECT_EQ(hawthorn_read_batch_value_bytes(batch.get()), 0U);
}

TEST_F(AccessCTest, Scans) {
  open_with_tree();
  for (int i = 0; i < 2000; ++i) put("k" + std::to_string(10000 + i), "v");
  struct Seen {
    size_t entries = 0;
    size_t value_bytes = 0;
    size_t end_behind = SIZE_MAX;
  };
  const auto look = [](void* context, const hawthorn_entry* entries, size_t count) {
    auto* const seen = static_cast<Seen*>(context);
    seen->entries += count;
    for (size_t i = 0; i < count; ++i) seen->value_bytes += entries[i].value_size;
    return seen->entries < seen->end_behind ? 1 : 0;
  };
  Seen all;
  C_OK(hawthorn_db_scan(db_.get(), tree_.get(), "k10500", HAWTHORN_STRING, nullptr, 0, nullptr, 0,
                        look, &all, &e));
  EXPECT_EQ(all.entries, 1500U);
  EXPECT_EQ(all.value_bytes, 1500U);
  Seen keys;
  C_OK(hawthorn_db_scan(db_.get(), tree_.get(), nullptr, 0, "k10500", HAWTHORN_STRING, nullptr, 1,
                        look, &keys, &e));
  EXPECT_EQ(keys.entries, 500U);
  EXPECT_EQ(keys.value_bytes, 0U);
  Seen some;
  some.end_behind = 1;
  C_OK(hawthorn_db_scan(db_.get(), tree_.get(), nullptr, 0, nullptr, 0, nullptr, 0, look, &some,
                        &e));
  EXPECT_LT(some.entries, 2000U);
  C_FAILS("InvalidArgument: callback is NULL",
          hawthorn_db_scan(db_.get(), tree_.get(), nullptr, 0, nullptr, 0, nullptr, 0, nullptr,
                           nullptr, &e));
}

TEST_F(AccessCTest, ValuesByParts) {
  open_with_tree();
  put("k", "0123456789");
  char buffer[4];
  size_t size = 0;
  C_OK(hawthorn_db_read_part(db_.get(), tree_.get(), "k", 1, 3, buffer, 4, nullptr, &size, &e));
  EXPECT_EQ(bytes_of(buffer, size), "3456");
  C_OK(hawthorn_db_read_part(db_.get(), tree_.get(), "k", 1, 8, buffer, 4, nullptr, &size, &e));
  EXPECT_EQ(bytes_of(buffer, size), "89");
  C_OK(hawthorn_db_write_part(db_.get(), tree_.get(), "k", 1, 2, "ab", 2, nullptr, &e));
  uint64_t at = 0;
  C_OK(hawthorn_db_append(db_.get(), tree_.get(), "k", 1, "end", 3, nullptr, &at, &e));
  EXPECT_EQ(at, 10U);
  EXPECT_EQ(get("k"), "01ab456789end");
  C_OK(hawthorn_db_resize(db_.get(), tree_.get(), "k", 1, 5, nullptr, &e));
  C_OK(hawthorn_db_size_of(db_.get(), tree_.get(), "k", 1, nullptr, &at, &e));
  EXPECT_EQ(at, 5U);
  std::string streamed;
  const auto sink = [](void* context, const void* data, size_t bytes) {
    static_cast<std::string*>(context)->append(static_cast<const char*>(data), bytes);
    return 1;
  };
  C_OK(hawthorn_db_read_stream(db_.get(), tree_.get(), "k", 1, 1, nullptr, sink, &streamed, &e));
  EXPECT_EQ(streamed, "1ab4");
  C_FAILS(
      "InvalidArgument: sink is NULL",
      hawthorn_db_read_stream(db_.get(), tree_.get(), "k", 1, 1, nullptr, nullptr, nullptr, &e));
}

TEST_F(AccessCTest, BatchesAreOneCommit) {
  hawthorn_tree_options multi = HAWTHORN_TREE_OPTIONS_INIT;
  multi.multi_value = 1;
  C_OK(hawthorn_options_add_builtin_merge_operator(options_.get(), "append", &e));
  open_with_tree();
  const TreeHandle several = tree("several", &multi);
  const TreeHandle merged = tree("merged");
  C_OK(hawthorn_db_set_merge_operator(db_.get(), merged.get(), "append", HAWTHORN_STRING, &e));
  put("gone", "x");
  put("range1", "x");
  const BatchHandle batch(hawthorn_batch_create());
  C_OK(hawthorn_batch_put(batch.get(), tree_.get(), "k", 1, "v", 1, nullptr, &e));
  C_OK(hawthorn_batch_del(batch.get(), tree_.get(), "gone", 4, &e));
  C_OK(hawthorn_batch_delete_range(batch.get(), tree_.get(), "range", 5, "s", 1, &e));
  C_OK(hawthorn_batch_put(batch.get(), several.get(), "k", 1, "1", 1, nullptr, &e));
  C_OK(hawthorn_batch_put(batch.get(), several.get(), "k", 1, "2", 1, nullptr, &e));
  C_OK(hawthorn_batch_del_value(batch.get(), several.get(), "k", 1, "1", 1, &e));
  C_OK(hawthorn_batch_merge(batch.get(), merged.get(), "k", 1, "ab", 2, &e));
  EXPECT_EQ(hawthorn_batch_count(batch.get()), 7U);
  EXPECT_GT(hawthorn_batch_bytes(batch.get()), 20U);
  uint64_t before = 0;
  uint64_t after = 0;
  C_OK(hawthorn_db_stat(db_.get(), "commits", &before, &e));
  C_OK(hawthorn_db_write(db_.get(), batch.get(), nullptr, &e));
  C_OK(hawthorn_db_stat(db_.get(), "commits", &after, &e));
  EXPECT_EQ(after, before + 1);
  EXPECT_EQ(walk(cursor().get()), "k=v");
  hawthorn_cursor* opened = nullptr;
  C_OK(hawthorn_db_cursor(db_.get(), several.get(), nullptr, &opened, &e));
  EXPECT_EQ(walk(CursorHandle(opened).get()), "k=2");
  C_OK(hawthorn_batch_clear(batch.get(), &e));
  EXPECT_EQ(hawthorn_batch_count(batch.get()), 0U);

  // What cannot be added, the write tells.
  hawthorn_write_options write = HAWTHORN_WRITE_OPTIONS_INIT;
  write.expiry = HAWTHORN_EXPIRY_AT;
  write.expiry_ms = 1;
  C_OK(hawthorn_batch_put(batch.get(), tree_.get(), "k", 1, "v", 1, &write, &e));
  C_FAILS("InvalidArgument", hawthorn_db_write(db_.get(), batch.get(), nullptr, &e));
  C_OK(hawthorn_batch_clear(batch.get(), &e));
  write.expiry = HAWTHORN_EXPIRY_DEFAULT;
  write.durability = HAWTHORN_DURABILITY_FULL;
  C_FAILS("InvalidArgument: the durability of a write in a transaction or batch",
          hawthorn_batch_put(batch.get(), tree_.get(), "k", 1, "v", 1, &write, &e));
  C_OK(hawthorn_db_write(db_.get(), batch.get(), &write, &e));

  hawthorn_db* made = nullptr;
  C_OK(hawthorn_db_open(path("other").c_str(), options_.get(), &made, &e));
  const DbHandle other(made);
  C_OK(hawthorn_batch_put(batch.get(), tree_.get(), "k", 1, "v", 1, nullptr, &e));
  C_FAILS("InvalidArgument: the batch has trees of another database",
          hawthorn_db_write(other.get(), batch.get(), nullptr, &e));
  hawthorn_tree* foreign = nullptr;
  C_OK(hawthorn_db_tree(other.get(), "tree", 4, nullptr, &foreign, &e));
  const TreeHandle foreign_tree(foreign);
  C_FAILS("InvalidArgument: the tree is one of another database than those before",
          hawthorn_batch_del(batch.get(), foreign, "k", 1, &e));
  EXPECT_EQ(hawthorn_batch_count(nullptr), 0U);
  EXPECT_EQ(hawthorn_batch_bytes(nullptr), 0U);
}

TEST_F(AccessCTest, ColumnsArePut) {
  open_with_tree();
  hawthorn_columns columns = HAWTHORN_COLUMNS_INIT;
  char keys[] = "abbccc";
  const char values[] = "xyz";
  int64_t key_offsets[] = {0, 1, 3, 6};
  int64_t value_offsets[] = {0, 2, 2, 3};
  columns.key_bytes = keys;
  columns.key_offsets = key_offsets;
  columns.value_bytes = const_cast<char*>(values);
  columns.value_offsets = value_offsets;
  columns.rows = 3;
  const BatchHandle batch(hawthorn_batch_create());
  C_OK(hawthorn_batch_put_columns(batch.get(), tree_.get(), &columns, &e));
  C_OK(hawthorn_db_write(db_.get(), batch.get(), nullptr, &e));
  EXPECT_EQ(walk(cursor().get()), "a=xy,bb=,ccc=z");
  value_offsets[2] = 1;
  C_FAILS("InvalidArgument: value_offsets go down at row 1",
          hawthorn_batch_put_columns(batch.get(), tree_.get(), &columns, &e));
  columns.struct_size = 1;
  C_FAILS("InvalidArgument: hawthorn_columns.struct_size is 1",
          hawthorn_batch_put_columns(batch.get(), tree_.get(), &columns, &e));
  C_FAILS("InvalidArgument: columns is NULL",
          hawthorn_batch_put_columns(batch.get(), tree_.get(), nullptr, &e));
}

}  // namespace

}  // namespace hawthorn::c
