// Walks, and entries in columns.

#include "c/c_test_fixture.h"

namespace hawthorn::c {

namespace {

class CursorCTest : public CTest {
 protected:
  static std::string at(const hawthorn_cursor* cursor) {
    if (hawthorn_cursor_valid(cursor) == 0) return "nowhere";
    size_t key_size = 0;
    size_t value_size = 0;
    const void* const key = hawthorn_cursor_key(cursor, &key_size);
    const void* const value = hawthorn_cursor_value(cursor, &value_size);
    return std::string(bytes_of(key, key_size)) + "=" + std::string(bytes_of(value, value_size));
  }
};

TEST_F(CursorCTest, Moves) {
  open_with_tree();
  for (const char* key : {"a", "c", "e", "g"}) put(key, key);
  const CursorHandle c = cursor();
  EXPECT_EQ(at(c.get()), "nowhere");
  EXPECT_EQ(hawthorn_cursor_key(c.get(), nullptr), nullptr);
  int found = 7;
  C_OK(hawthorn_cursor_next(c.get(), &found, &e));
  EXPECT_EQ(found, 0);
  C_OK(hawthorn_cursor_first(c.get(), &found, &e));
  EXPECT_EQ(found, 1);
  EXPECT_EQ(at(c.get()), "a=a");
  C_OK(hawthorn_cursor_last(c.get(), nullptr, &e));
  EXPECT_EQ(at(c.get()), "g=g");
  C_OK(hawthorn_cursor_next(c.get(), &found, &e));
  EXPECT_EQ(found, 0);
  EXPECT_EQ(at(c.get()), "nowhere");
  C_OK(hawthorn_cursor_status(c.get(), &e));
  C_OK(hawthorn_cursor_seek(c.get(), "b", 1, &found, &e));
  EXPECT_EQ(at(c.get()), "c=c");
  C_OK(hawthorn_cursor_prev(c.get(), &found, &e));
  EXPECT_EQ(at(c.get()), "a=a");
  C_OK(hawthorn_cursor_seek_for_prev(c.get(), "f", 1, &found, &e));
  EXPECT_EQ(at(c.get()), "e=e");
  C_OK(hawthorn_cursor_skip(c.get(), -2, &found, &e));
  EXPECT_EQ(at(c.get()), "a=a");
  C_OK(hawthorn_cursor_skip(c.get(), 9, &found, &e));
  EXPECT_EQ(found, 0);
  C_OK(hawthorn_cursor_seek_random(c.get(), uint64_t{1} << 63, &found, &e));
  EXPECT_EQ(found, 1);
  C_FAILS("InvalidArgument: key is NULL", hawthorn_cursor_seek(c.get(), nullptr, 2, &found, &e));
  C_FAILS("NotSupported", hawthorn_cursor_seek_value(c.get(), "a", 1, "a", 1, &found, &e));
}

TEST_F(CursorCTest, Ranges) {
  open_with_tree();
  for (const char* key : {"a", "b", "c", "d"}) put(key, key);
  hawthorn_cursor_options options = HAWTHORN_CURSOR_OPTIONS_INIT;
  options.lower = "b";
  options.lower_size = 1;
  options.upper = "d";
  options.upper_size = HAWTHORN_STRING;
  EXPECT_EQ(walk(cursor(&options).get()), "b=b,c=c");
  options.keys_only = 1;
  EXPECT_EQ(walk(cursor(&options).get()), "b=,c=");
  // An upper end that is given and empty is another thing than none.
  options = HAWTHORN_CURSOR_OPTIONS_INIT;
  options.upper = "";
  EXPECT_EQ(walk(cursor(&options).get()), "");
  options.upper = nullptr;
  options.upper_size = 3;
  hawthorn_cursor* made = nullptr;
  C_FAILS("InvalidArgument: upper is NULL with a size of 3",
          hawthorn_db_cursor(db_.get(), tree_.get(), &options, &made, &e));
  hawthorn_tree_options numbers = HAWTHORN_TREE_OPTIONS_INIT;
  numbers.order = "uint64";
  const TreeHandle ordered = tree("numbers", &numbers);
  options = HAWTHORN_CURSOR_OPTIONS_INIT;
  options.lower = "short";
  options.lower_size = 5;
  C_FAILS("InvalidArgument", hawthorn_db_cursor(db_.get(), ordered.get(), &options, &made, &e));
  EXPECT_EQ(made, nullptr);
}

TEST_F(CursorCTest, KeysOfSeveralValues) {
  hawthorn_tree_options options = HAWTHORN_TREE_OPTIONS_INIT;
  options.multi_value = 1;
  open_with_tree(&options);
  for (const char* value : {"1", "2", "3"}) put("k", value);
  put("l", "4");
  const CursorHandle c = cursor();
  int found = 0;
  C_OK(hawthorn_cursor_first(c.get(), &found, &e));
  uint64_t values = 0;
  C_OK(hawthorn_cursor_count_values(c.get(), &values, &e));
  EXPECT_EQ(values, 3U);
  C_OK(hawthorn_cursor_next_value(c.get(), &found, &e));
  EXPECT_EQ(at(c.get()), "k=2");
  C_OK(hawthorn_cursor_last_value(c.get(), &found, &e));
  EXPECT_EQ(at(c.get()), "k=3");
  C_OK(hawthorn_cursor_next_value(c.get(), &found, &e));
  EXPECT_EQ(found, 0);
  EXPECT_EQ(at(c.get()), "k=3");
  C_OK(hawthorn_cursor_prev_value(c.get(), &found, &e));
  EXPECT_EQ(at(c.get()), "k=2");
  C_OK(hawthorn_cursor_next_key(c.get(), &found, &e));
  EXPECT_EQ(at(c.get()), "l=4");
  C_OK(hawthorn_cursor_prev_key(c.get(), &found, &e));
  EXPECT_EQ(at(c.get()), "k=3");
  C_OK(hawthorn_cursor_first_value(c.get(), &found, &e));
  EXPECT_EQ(at(c.get()), "k=1");
  C_OK(hawthorn_cursor_seek_value(c.get(), "k", 1, "15", 2, &found, &e));
  EXPECT_EQ(at(c.get()), "k=2");
  C_OK(hawthorn_cursor_next_key(c.get(), &found, &e));
  C_OK(hawthorn_cursor_next_key(c.get(), &found, &e));
  C_FAILS("InvalidArgument", hawthorn_cursor_count_values(c.get(), &values, &e));
  Columns columns(8, 64, 64);
  C_OK(hawthorn_cursor_first(c.get(), &found, &e));
  C_OK(hawthorn_cursor_next_columns(c.get(), columns.get(), &e));
  EXPECT_EQ(columns.text(), "k=1,k=2,k=3,l=4");
}

TEST_F(CursorCTest, KeysOfOneValue) {
  open_with_tree();
  for (const char* key : {"k", "l"}) put(key, "1");
  const CursorHandle c = cursor();
  int found = 0;
  uint64_t values = 0;
  C_FAILS("InvalidArgument", hawthorn_cursor_count_values(c.get(), &values, &e));
  for (const bool in_transaction : {false, true}) {
    hawthorn_txn* txn = nullptr;
    hawthorn_cursor* made = nullptr;
    C_OK(hawthorn_txn_begin(db_.get(), nullptr, &txn, &e));
    const TxnHandle holds(txn);
    C_OK(hawthorn_txn_cursor(txn, tree_.get(), nullptr, &made, &e));
    const CursorHandle in_txn(made);
    hawthorn_cursor* const at_it = in_transaction ? made : c.get();
    C_OK(hawthorn_cursor_first(at_it, &found, &e));
    values = 0;
    C_OK(hawthorn_cursor_count_values(at_it, &values, &e));
    EXPECT_EQ(values, 1U);
    // What is refused leaves the cursor nowhere, and that is what a count says.
    C_FAILS("NotSupported", hawthorn_cursor_seek_value(at_it, "k", 1, "1", 1, &found, &e));
    C_FAILS("InvalidArgument", hawthorn_cursor_count_values(at_it, &values, &e));
    C_OK(hawthorn_cursor_seek(at_it, "l", 1, &found, &e));
    C_OK(hawthorn_cursor_count_values(at_it, &values, &e));
    EXPECT_EQ(values, 1U);
    C_OK(hawthorn_cursor_next(at_it, &found, &e));
    EXPECT_EQ(found, 0);
    C_FAILS("InvalidArgument", hawthorn_cursor_count_values(at_it, &values, &e));
  }
}

TEST_F(CursorCTest, Batches) {
  open_with_tree();
  for (int i = 0; i < 1000; ++i) put("k" + std::to_string(1000 + i), std::to_string(i));
  const CursorHandle c = cursor();
  int found = 0;
  C_OK(hawthorn_cursor_first(c.get(), &found, &e));
  hawthorn_entry entries[64];
  size_t count = 7;
  size_t all = 0;
  const CursorHandle nowhere = cursor();
  C_OK(hawthorn_cursor_next_batch(nowhere.get(), entries, 64, &count, &e));
  EXPECT_EQ(count, 0U);
  for (;;) {
    C_OK(hawthorn_cursor_next_batch(c.get(), entries, 64, &count, &e));
    if (count == 0) break;
    for (size_t i = 0; i < count; ++i, ++all) {
      ASSERT_EQ(bytes_of(entries[i].value, entries[i].value_size), std::to_string(all));
    }
  }
  EXPECT_EQ(all, 1000U);
  EXPECT_EQ(hawthorn_cursor_valid(c.get()), 0);
  C_FAILS("InvalidArgument: capacity is 0",
          hawthorn_cursor_next_batch(c.get(), entries, 0, &count, &e));
}

TEST_F(CursorCTest, ColumnsInBothDirections) {
  open_with_tree();
  for (const char* key : {"a", "bb", "ccc", "dddd"}) put(key, std::string(key) + "!");
  const CursorHandle c = cursor();
  int found = 0;
  C_OK(hawthorn_cursor_first(c.get(), &found, &e));
  Columns all(8, 64, 64);
  C_OK(hawthorn_cursor_next_columns(c.get(), all.get(), &e));
  EXPECT_EQ(all.text(), "a=a!,bb=bb!,ccc=ccc!,dddd=dddd!");
  EXPECT_EQ(all->key_bytes_needed, 10U);
  EXPECT_EQ(all->value_bytes_needed, 14U);
  C_OK(hawthorn_cursor_next_columns(c.get(), all.get(), &e));
  EXPECT_EQ(all->rows, 0U);

  // By rows: two and two.
  Columns two(2, 64, 64);
  C_OK(hawthorn_cursor_first(c.get(), &found, &e));
  C_OK(hawthorn_cursor_next_columns(c.get(), two.get(), &e));
  EXPECT_EQ(two.text(), "a=a!,bb=bb!");
  C_OK(hawthorn_cursor_next_columns(c.get(), two.get(), &e));
  EXPECT_EQ(two.text(), "ccc=ccc!,dddd=dddd!");
  C_OK(hawthorn_cursor_next_columns(c.get(), two.get(), &e));
  EXPECT_EQ(two->rows, 0U);

  // By bytes: what does not fit is the first of the next call, or the buffer is too small for it.
  Columns small(8, 3, 64);
  C_OK(hawthorn_cursor_first(c.get(), &found, &e));
  C_OK(hawthorn_cursor_next_columns(c.get(), small.get(), &e));
  EXPECT_EQ(small.text(), "a=a!,bb=bb!");
  C_OK(hawthorn_cursor_next_columns(c.get(), small.get(), &e));
  EXPECT_EQ(small.text(), "ccc=ccc!");
  C_FAILS("BufferTooSmall: an entry takes 4 bytes of keys and 5 of values",
          hawthorn_cursor_next_columns(c.get(), small.get(), &e));
  EXPECT_EQ(small->rows, 0U);
  EXPECT_EQ(small->key_bytes_needed, 4U);
  EXPECT_EQ(small->value_bytes_needed, 5U);
  C_OK(hawthorn_cursor_next_columns(c.get(), all.get(), &e));
  EXPECT_EQ(all.text(), "dddd=dddd!");

  // Descending.
  C_OK(hawthorn_cursor_last(c.get(), &found, &e));
  C_OK(hawthorn_cursor_prev_columns(c.get(), two.get(), &e));
  EXPECT_EQ(two.text(), "dddd=dddd!,ccc=ccc!");
  EXPECT_EQ(at(c.get()), "bb=bb!");
  Columns tiny(8, 1, 8);
  C_FAILS("BufferTooSmall", hawthorn_cursor_prev_columns(c.get(), tiny.get(), &e));
  EXPECT_EQ(tiny->key_bytes_needed, 2U);
  C_OK(hawthorn_cursor_prev_columns(c.get(), all.get(), &e));
  EXPECT_EQ(all.text(), "bb=bb!,a=a!");
  C_OK(hawthorn_cursor_prev_columns(c.get(), all.get(), &e));
  EXPECT_EQ(all->rows, 0U);

  // A seek lets go of what was not handed out.
  C_OK(hawthorn_cursor_first(c.get(), &found, &e));
  C_OK(hawthorn_cursor_next_columns(c.get(), two.get(), &e));
  C_OK(hawthorn_cursor_seek(c.get(), "bb", 2, &found, &e));
  C_OK(hawthorn_cursor_next_columns(c.get(), two.get(), &e));
  EXPECT_EQ(two.text(), "bb=bb!,ccc=ccc!");
}

TEST_F(CursorCTest, ColumnsOfKeysAlone) {
  open_with_tree();
  put("a", "1");
  put("b", "2");
  const CursorHandle c = cursor();
  int found = 0;
  C_OK(hawthorn_cursor_first(c.get(), &found, &e));
  Columns columns(4, 8, 0);
  columns->value_offsets = nullptr;
  C_OK(hawthorn_cursor_next_columns(c.get(), columns.get(), &e));
  ASSERT_EQ(columns->rows, 2U);
  EXPECT_EQ(columns.key(1), "b");
  C_OK(hawthorn_cursor_first(c.get(), &found, &e));
  Columns values(4, 0, 8);
  values->key_offsets = nullptr;
  C_OK(hawthorn_cursor_next_columns(c.get(), values.get(), &e));
  ASSERT_EQ(values->rows, 2U);
  EXPECT_EQ(values.value(1), "2");

  values->value_offsets = nullptr;
  C_FAILS("InvalidArgument: columns has neither",
          hawthorn_cursor_next_columns(c.get(), values.get(), &e));
  Columns wrong(4, 8, 8);
  wrong->key_bytes = nullptr;
  C_FAILS("InvalidArgument: columns.key_bytes is NULL",
          hawthorn_cursor_next_columns(c.get(), wrong.get(), &e));
  wrong->rows_capacity = 0;
  C_FAILS("InvalidArgument: columns.rows_capacity is 0",
          hawthorn_cursor_next_columns(c.get(), wrong.get(), &e));
  wrong->struct_size = 0;
  C_FAILS("InvalidArgument: hawthorn_columns.struct_size is 0",
          hawthorn_cursor_next_columns(c.get(), wrong.get(), &e));
  C_FAILS("InvalidArgument: hawthorn_columns is NULL",
          hawthorn_cursor_next_columns(c.get(), nullptr, &e));
}

TEST_F(CursorCTest, AValueThatNoWalkShowsEndsIt) {
  open_with_tree();
  put("a", "1");
  put("c", "3");
  const TxnHandle txn = begin();
  uint64_t left = (uint64_t{64} << 20) + 1;
  const auto zeros = [](void* context, void* buffer, size_t capacity, hawthorn_error**) {
    auto* const bytes = static_cast<uint64_t*>(context);
    const size_t given = *bytes < capacity ? static_cast<size_t>(*bytes) : capacity;
    memset(buffer, 'z', given);
    *bytes -= given;
    return static_cast<int64_t>(given);
  };
  C_OK(hawthorn_txn_put_stream(txn.get(), tree_.get(), "b", 1, left, zeros, &left, &e));
  C_OK(hawthorn_txn_commit(txn.get(), 0, &e));
  const CursorHandle c = cursor();
  int found = 0;
  C_OK(hawthorn_cursor_first(c.get(), &found, &e));
  Columns columns(8, 64, 64);
  C_OK(hawthorn_cursor_next_columns(c.get(), columns.get(), &e));
  EXPECT_EQ(columns.text(), "a=1");
  for (int i = 0; i < 3; ++i) {
    C_FAILS("NotSupported: \"b\"", hawthorn_cursor_next_columns(c.get(), columns.get(), &e));
  }
  C_OK(hawthorn_cursor_last(c.get(), &found, &e));
  C_OK(hawthorn_cursor_prev_columns(c.get(), columns.get(), &e));
  EXPECT_EQ(columns.text(), "c=3");
  for (int i = 0; i < 3; ++i) {
    C_FAILS("NotSupported: \"b\"", hawthorn_cursor_prev_columns(c.get(), columns.get(), &e));
    C_FAILS("NotSupported: \"b\"", hawthorn_cursor_next(c.get(), &found, &e));
    EXPECT_EQ(found, 0);
    EXPECT_EQ(hawthorn_cursor_value(c.get(), nullptr), nullptr);
  }
  C_OK(hawthorn_cursor_first(c.get(), &found, &e));
  EXPECT_EQ(found, 1);
  C_FAILS("NotSupported: \"b\"", hawthorn_cursor_next(c.get(), &found, &e));
  hawthorn_cursor_options options = HAWTHORN_CURSOR_OPTIONS_INIT;
  options.keys_only = 1;
  hawthorn_cursor* made = nullptr;
  C_OK(hawthorn_db_cursor(db_.get(), tree_.get(), &options, &made, &e));
  const CursorHandle keys(made);
  C_OK(hawthorn_cursor_first(keys.get(), &found, &e));
  C_OK(hawthorn_cursor_next_columns(keys.get(), columns.get(), &e));
  EXPECT_EQ(columns.text(), "a=,b=,c=");
}

TEST_F(CursorCTest, ColumnsShowTheTransactionsOwnWrites) {
  open_with_tree();
  put("a", "1");
  hawthorn_txn_options options = HAWTHORN_TXN_OPTIONS_INIT;
  options.isolation = HAWTHORN_ISOLATION_SERIALIZABLE;
  const TxnHandle txn = begin(&options);
  C_OK(hawthorn_txn_put(txn.get(), tree_.get(), "b", 1, "2", 1, nullptr, &e));
  hawthorn_cursor* made = nullptr;
  C_OK(hawthorn_txn_cursor(txn.get(), tree_.get(), nullptr, &made, &e));
  const CursorHandle c(made);
  int found = 0;
  C_OK(hawthorn_cursor_first(c.get(), &found, &e));
  Columns columns(8, 64, 64);
  C_OK(hawthorn_cursor_next_columns(c.get(), columns.get(), &e));
  EXPECT_EQ(columns.text(), "a=1,b=2");
  C_OK(hawthorn_txn_commit(txn.get(), 0, &e));
  C_FAILS("InvalidArgument: the cursor's transaction has ended",
          hawthorn_cursor_next_columns(c.get(), columns.get(), &e));
}

}  // namespace

}  // namespace hawthorn::c
