// Transactions: isolation, savepoints, nesting, two phases, and every read and write in one.

#include <array>

#include "c/c_test_fixture.h"

namespace hawthorn::c {

namespace {

class TxnCTest : public CTest {
 protected:
  TxnHandle begin_as(hawthorn_txn_mode mode, hawthorn_isolation isolation) {
    hawthorn_txn_options options = HAWTHORN_TXN_OPTIONS_INIT;
    options.mode = mode;
    options.isolation = isolation;
    options.has_lock_timeout = 1;
    options.lock_timeout_ms = 20;
    return begin(&options);
  }
  std::string txn_put(const TxnHandle& txn, const char* key, const char* value) {
    return C_TEXT(hawthorn_txn_put(txn.get(), tree_.get(), key, HAWTHORN_STRING, value,
                                   HAWTHORN_STRING, nullptr, &e));
  }
  std::string txn_get(const TxnHandle& txn, const char* key) {
    if (value_ == nullptr) value_.reset(hawthorn_value_create());
    const hawthorn_code code =
        hawthorn_txn_get(txn.get(), tree_.get(), key, HAWTHORN_STRING, value_.get(), nullptr);
    if (code != HAWTHORN_OK) return hawthorn_code_name(code);
    size_t size = 0;
    const void* const data = hawthorn_value_data(value_.get(), &size);
    return std::string(bytes_of(data, size));
  }
  static std::string commit(const TxnHandle& txn) {
    return C_TEXT(hawthorn_txn_commit(txn.get(), HAWTHORN_DURABILITY_DEFAULT, &e));
  }
};

TEST_F(TxnCTest, AWaitEndsWhereItIsInterrupted) {
  open_with_tree();
  TxnHandle holder = begin_as(HAWTHORN_TXN_PESSIMISTIC, HAWTHORN_ISOLATION_SNAPSHOT);
  EXPECT_EQ(txn_put(holder, "k", "held"), "OK");
  hawthorn_txn_options options = HAWTHORN_TXN_OPTIONS_INIT;
  options.mode = HAWTHORN_TXN_PESSIMISTIC;
  options.has_lock_timeout = 1;
  options.lock_timeout_ms = 10'000'000;
  TxnHandle waiter = begin(&options);
  int asked = 0;
  hawthorn_set_interrupt([](void* context) { return ++*static_cast<int*>(context) == 3 ? 7 : 0; },
                         &asked);
  EXPECT_TRUE(txn_put(waiter, "k", "x").starts_with("TimedOut"));
  hawthorn_set_interrupt(nullptr, nullptr);
  EXPECT_EQ(asked, 3);
  EXPECT_EQ(commit(holder), "OK");
  EXPECT_EQ(get("k"), "held");
}

TEST_F(TxnCTest, CommitsAllOrNothing) {
  open_with_tree();
  TxnHandle txn = begin();
  EXPECT_EQ(hawthorn_txn_is_open(txn.get()), 1);
  EXPECT_EQ(txn_put(txn, "a", "1"), "OK");
  EXPECT_EQ(txn_get(txn, "a"), "1");
  EXPECT_EQ(get("a"), "NotFound");
  EXPECT_EQ(commit(txn), "OK");
  EXPECT_EQ(hawthorn_txn_is_open(txn.get()), 0);
  EXPECT_EQ(get("a"), "1");
  EXPECT_TRUE(commit(txn).starts_with("InvalidArgument"));
  EXPECT_TRUE(txn_put(txn, "b", "1").starts_with("InvalidArgument"));
  txn = begin();
  EXPECT_EQ(txn_put(txn, "b", "2"), "OK");
  C_OK(hawthorn_txn_abort(txn.get(), &e));
  C_OK(hawthorn_txn_abort(txn.get(), &e));
  EXPECT_EQ(get("b"), "NotFound");
  txn = begin();
  EXPECT_EQ(txn_put(txn, "b", "3"), "OK");
  txn.reset();  // aborts it
  EXPECT_EQ(get("b"), "NotFound");
  EXPECT_EQ(hawthorn_txn_is_open(nullptr), 0);
}

TEST_F(TxnCTest, TheFirstCommitterWins) {
  open_with_tree();
  put("k", "0");
  const TxnHandle one = begin();
  const TxnHandle two = begin();
  EXPECT_EQ(txn_put(one, "k", "1"), "OK");
  EXPECT_EQ(commit(one), "OK");
  const std::string outcome = txn_put(two, "k", "2");
  EXPECT_TRUE(outcome.starts_with("Conflict")) << outcome;
  EXPECT_EQ(txn_get(two, "k"), "0");
}

TEST_F(TxnCTest, IsolationsShowWhatTheyShould) {
  open_with_tree();
  put("k", "old");
  put("x", "old");
  const TxnHandle committed = begin_as(HAWTHORN_TXN_OPTIMISTIC, HAWTHORN_ISOLATION_READ_COMMITTED);
  const TxnHandle moment = begin_as(HAWTHORN_TXN_OPTIMISTIC, HAWTHORN_ISOLATION_SNAPSHOT);
  const TxnHandle serial = begin_as(HAWTHORN_TXN_OPTIMISTIC, HAWTHORN_ISOLATION_SERIALIZABLE);
  EXPECT_EQ(txn_get(serial, "k"), "old");
  EXPECT_EQ(txn_get(moment, "k"), "old");
  put("k", "new");
  EXPECT_EQ(txn_get(committed, "k"), "new");
  EXPECT_EQ(txn_get(moment, "k"), "old");
  EXPECT_EQ(txn_put(moment, "x", "1"), "OK");
  EXPECT_EQ(commit(moment), "OK");  // it only read what has changed
  EXPECT_EQ(txn_put(serial, "y", "1"), "OK");
  EXPECT_TRUE(commit(serial).starts_with("Conflict"));
}

TEST_F(TxnCTest, RowsAreLocked) {
  open_with_tree();
  const TxnHandle one = begin_as(HAWTHORN_TXN_PESSIMISTIC, HAWTHORN_ISOLATION_READ_COMMITTED);
  const TxnHandle two = begin_as(HAWTHORN_TXN_PESSIMISTIC, HAWTHORN_ISOLATION_READ_COMMITTED);
  const auto lock = [&](const TxnHandle& txn, hawthorn_row_lock mode, uint64_t timeout) {
    return C_TEXT(hawthorn_txn_lock(txn.get(), tree_.get(), "k", 1, mode, timeout, &e));
  };
  EXPECT_EQ(lock(one, HAWTHORN_ROW_LOCK_SHARED, HAWTHORN_TIMEOUT_DEFAULT), "OK");
  EXPECT_EQ(lock(two, HAWTHORN_ROW_LOCK_SHARED, 0), "OK");
  EXPECT_TRUE(lock(two, HAWTHORN_ROW_LOCK_EXCLUSIVE, 0).starts_with("TimedOut"));
  EXPECT_TRUE(lock(two, 3, 0).starts_with("InvalidArgument: lock is 3"));
  EXPECT_TRUE(txn_put(two, "k", "v").starts_with("TimedOut"));
  C_OK(hawthorn_txn_abort(one.get(), &e));
  EXPECT_EQ(txn_put(two, "k", "v"), "OK");
  EXPECT_EQ(commit(two), "OK");
  const TxnHandle optimistic = begin();
  EXPECT_TRUE(lock(optimistic, HAWTHORN_ROW_LOCK_SHARED, 0).starts_with("InvalidArgument"));
}

TEST_F(TxnCTest, OptionsAreLookedAt) {
  open_with_tree();
  hawthorn_txn_options options = HAWTHORN_TXN_OPTIONS_INIT;
  hawthorn_txn* made = nullptr;
  options.mode = 3;
  C_FAILS("InvalidArgument: mode is 3", hawthorn_txn_begin(db_.get(), &options, &made, &e));
  options.mode = HAWTHORN_TXN_OPTIMISTIC;
  options.isolation = 3;
  C_FAILS("InvalidArgument: isolation is 3", hawthorn_txn_begin(db_.get(), &options, &made, &e));
  options.isolation = HAWTHORN_ISOLATION_SNAPSHOT;
  options.read_only = 1;
  put("k", "old");
  const SnapshotHandle before = snapshot();
  put("k", "new");
  options.snapshot = before.get();
  const TxnHandle reader = begin(&options);
  EXPECT_EQ(txn_get(reader, "k"), "old");
  EXPECT_TRUE(txn_put(reader, "k", "v").starts_with("ReadOnly"));
  const TxnHandle exclusive = begin_as(HAWTHORN_TXN_EXCLUSIVE, HAWTHORN_ISOLATION_SNAPSHOT);
  hawthorn_txn_options another = HAWTHORN_TXN_OPTIONS_INIT;
  another.mode = HAWTHORN_TXN_EXCLUSIVE;
  another.has_lock_timeout = 1;
  C_FAILS("InvalidArgument: this thread has an exclusive transaction",
          hawthorn_txn_begin(db_.get(), &another, &made, &e));
}

TEST_F(TxnCTest, SavepointsRollBack) {
  open_with_tree();
  const TxnHandle txn = begin();
  EXPECT_EQ(txn_put(txn, "a", "1"), "OK");
  hawthorn_savepoint first;
  C_OK(hawthorn_txn_savepoint(txn.get(), &first, &e));
  EXPECT_EQ(txn_put(txn, "a", "2"), "OK");
  hawthorn_savepoint second;
  C_OK(hawthorn_txn_savepoint(txn.get(), &second, &e));
  EXPECT_EQ(txn_put(txn, "b", "3"), "OK");
  C_OK(hawthorn_txn_rollback_to(txn.get(), &second, &e));
  EXPECT_EQ(txn_get(txn, "b"), "NotFound");
  EXPECT_EQ(txn_get(txn, "a"), "2");
  C_OK(hawthorn_txn_rollback_to(txn.get(), &first, &e));
  EXPECT_EQ(txn_get(txn, "a"), "1");
  C_FAILS("InvalidArgument", hawthorn_txn_rollback_to(txn.get(), &second, &e));
  C_OK(hawthorn_txn_release(txn.get(), &first, &e));
  C_FAILS("InvalidArgument", hawthorn_txn_release(txn.get(), &first, &e));
  const hawthorn_savepoint nonsense = {{12345, 67890}};
  C_FAILS("InvalidArgument", hawthorn_txn_rollback_to(txn.get(), &nonsense, &e));
  C_FAILS("InvalidArgument: savepoint is NULL", hawthorn_txn_rollback_to(txn.get(), nullptr, &e));
}

TEST_F(TxnCTest, NestedOnesEndWithTheOuter) {
  open_with_tree();
  TxnHandle outer = begin();
  EXPECT_EQ(txn_put(outer, "a", "1"), "OK");
  hawthorn_txn* made = nullptr;
  C_OK(hawthorn_txn_begin_nested(outer.get(), &made, &e));
  TxnHandle inner(made);
  EXPECT_EQ(txn_put(inner, "b", "2"), "OK");
  EXPECT_TRUE(txn_put(outer, "c", "3").starts_with("InvalidArgument"));
  EXPECT_EQ(commit(inner), "OK");
  EXPECT_EQ(get("b"), "NotFound");
  EXPECT_EQ(txn_get(outer, "b"), "2");
  C_OK(hawthorn_txn_begin_nested(outer.get(), &made, &e));
  inner.reset(made);
  EXPECT_EQ(txn_put(inner, "d", "4"), "OK");
  C_OK(hawthorn_txn_abort(inner.get(), &e));
  EXPECT_EQ(commit(outer), "OK");
  EXPECT_EQ(walk(cursor().get()), "a=1,b=2");
  // The outer one is freed first.
  outer = begin();
  C_OK(hawthorn_txn_begin_nested(outer.get(), &made, &e));
  inner.reset(made);
  outer.reset();
  EXPECT_EQ(hawthorn_txn_is_open(inner.get()), 0);
  EXPECT_TRUE(txn_put(inner, "e", "5").starts_with("InvalidArgument"));
  inner.reset();
  C_OK(hawthorn_db_close(db_.get(), &e));
}

TEST_F(TxnCTest, PreparedOnesOutliveTheirHandles) {
  open_with_tree();
  TxnHandle txn = begin();
  EXPECT_EQ(txn_put(txn, "a", "1"), "OK");
  C_OK(hawthorn_txn_prepare(txn.get(), "first", HAWTHORN_STRING, &e));
  EXPECT_TRUE(txn_put(txn, "b", "1").starts_with("InvalidArgument"));
  txn.reset();
  txn = begin();
  EXPECT_EQ(txn_put(txn, "b", "1"), "OK");
  C_FAILS("InvalidArgument", hawthorn_txn_prepare(txn.get(), "first", 5, &e));
  C_FAILS("InvalidArgument", hawthorn_txn_prepare(txn.get(), "", 0, &e));
  C_OK(hawthorn_txn_prepare(txn.get(), "second", 6, &e));
  txn.reset();
  hawthorn_records* listed = nullptr;
  C_OK(hawthorn_db_prepared(db_.get(), &listed, &e));
  const RecordsHandle records(listed);
  ASSERT_EQ(hawthorn_records_count(listed), 2U);
  EXPECT_STREQ(hawthorn_records_bytes(listed, 0, "id", nullptr), "first");
  EXPECT_EQ(hawthorn_records_number(listed, 0, "operations", 0), 1U);
  C_OK(hawthorn_db_commit_prepared(db_.get(), "first", 5, HAWTHORN_DURABILITY_NONE, &e));
  C_OK(hawthorn_db_rollback_prepared(db_.get(), "second", 6, &e));
  C_FAILS("NotFound", hawthorn_db_rollback_prepared(db_.get(), "second", 6, &e));
  C_FAILS("InvalidArgument: durability is 9",
          hawthorn_db_commit_prepared(db_.get(), "first", 5, 9, &e));
  EXPECT_EQ(walk(cursor().get()), "a=1");
  txn = begin();
  EXPECT_EQ(txn_put(txn, "c", "1"), "OK");
  C_OK(hawthorn_txn_prepare(txn.get(), "third", 5, &e));
  C_OK(hawthorn_txn_abort(txn.get(), &e));
  EXPECT_EQ(hawthorn_txn_is_open(txn.get()), 0);
  EXPECT_EQ(walk(cursor().get()), "a=1");
}

TEST_F(TxnCTest, ReadsOfEveryKind) {
  open_with_tree();
  for (const char* key : {"a", "b", "c"}) put(key, std::string(key) + "!");
  const TxnHandle txn = begin();
  EXPECT_EQ(txn_put(txn, "d", "d!"), "OK");
  size_t size = 0;
  char buffer[2];
  C_OK(hawthorn_txn_get_into(txn.get(), tree_.get(), "d", 1, buffer, 2, &size, &e));
  EXPECT_EQ(bytes_of(buffer, size), "d!");
  C_FAILS("BufferTooSmall",
          hawthorn_txn_get_into(txn.get(), tree_.get(), "d", 1, buffer, 1, &size, &e));
  const ValueHandle value(hawthorn_value_create());
  C_OK(hawthorn_txn_get_for_update(txn.get(), tree_.get(), "a", 1, value.get(), &e));
  EXPECT_EQ(bytes_of(hawthorn_value_data(value.get(), &size), 2), "a!");
  C_FAILS("NotFound", hawthorn_txn_get_for_update(txn.get(), tree_.get(), "z", 1, value.get(), &e));
  const ReadBatchHandle batch(hawthorn_read_batch_create());
  const hawthorn_bytes keys[] = {{"d", 1}, {"x", 1}};
  C_OK(hawthorn_txn_multi_get(txn.get(), tree_.get(), keys, 2, batch.get(), &e));
  EXPECT_EQ(bytes_of(hawthorn_read_batch_value(batch.get(), 0, &size), 2), "d!");
  const int64_t offsets[] = {0, 1, 2};
  Columns columns(2, 0, 16);
  C_OK(hawthorn_txn_multi_get_columns(txn.get(), tree_.get(), "cd", offsets, 2, batch.get(),
                                      columns.get(), &e));
  EXPECT_EQ(columns.value(0), "c!");
  EXPECT_EQ(columns.value(1), "d!");
  uint64_t count = 0;
  C_OK(hawthorn_txn_count(txn.get(), tree_.get(), "b", 1, nullptr, 0, &count, &e));
  EXPECT_EQ(count, 3U);
  C_OK(hawthorn_txn_size_of(txn.get(), tree_.get(), "d", 1, &count, &e));
  EXPECT_EQ(count, 2U);
  C_OK(hawthorn_txn_read_part(txn.get(), tree_.get(), "d", 1, 1, buffer, 2, &size, &e));
  EXPECT_EQ(bytes_of(buffer, size), "!");
  std::string streamed;
  const auto sink = [](void* context, const void* data, size_t bytes) {
    static_cast<std::string*>(context)->append(static_cast<const char*>(data), bytes);
    return 1;
  };
  C_OK(hawthorn_txn_read_stream(txn.get(), tree_.get(), "d", 1, 0, sink, &streamed, &e));
  EXPECT_EQ(streamed, "d!");

  const void* pinned = nullptr;
  C_OK(hawthorn_txn_get_pinned(txn.get(), tree_.get(), "b", 1, &pinned, &size, &e));
  hawthorn_cursor* made = nullptr;
  C_OK(hawthorn_txn_cursor(txn.get(), tree_.get(), nullptr, &made, &e));
  const CursorHandle c(made);
  hawthorn_entry entry;
  C_FAILS("InvalidArgument", hawthorn_txn_pin(txn.get(), c.get(), &entry, &e));
  int found = 0;
  C_OK(hawthorn_cursor_last(c.get(), &found, &e));
  C_OK(hawthorn_txn_pin(txn.get(), c.get(), &entry, &e));
  C_OK(hawthorn_cursor_first(c.get(), &found, &e));
  EXPECT_EQ(txn_put(txn, "b", "changed"), "OK");
  EXPECT_EQ(bytes_of(pinned, size), "b!");
  EXPECT_EQ(bytes_of(entry.key, entry.key_size), "d");
  EXPECT_EQ(bytes_of(entry.value, entry.value_size), "d!");
  C_OK(hawthorn_txn_release_pinned(txn.get(), &e));
  const CursorHandle foreign = cursor();
  C_FAILS("InvalidArgument: the cursor is not one of this transaction",
          hawthorn_txn_pin(txn.get(), foreign.get(), &entry, &e));
  hawthorn_cursor_options options = HAWTHORN_CURSOR_OPTIONS_INIT;
  const SnapshotHandle now = snapshot();
  options.snapshot = now.get();
  C_FAILS("InvalidArgument: a cursor of a transaction reads what the transaction does",
          hawthorn_txn_cursor(txn.get(), tree_.get(), &options, &made, &e));
}

// Gives the bytes of a string, two at a time.
struct TwoByTwo {
  std::string_view left;
  hawthorn_error* fail = nullptr;
  static int64_t give(void* context, void* buffer, size_t capacity, hawthorn_error** error) {
    auto* const source = static_cast<TwoByTwo*>(context);
    if (source->fail != nullptr) {
      *error = source->fail;
      return -1;
    }
    const size_t size = std::min({size_t{2}, capacity, source->left.size()});
    std::copy_n(source->left.data(), size, static_cast<char*>(buffer));
    source->left.remove_prefix(size);
    return static_cast<int64_t>(size);
  }
};

TEST_F(TxnCTest, WritesOfEveryKind) {
  C_OK(hawthorn_options_add_builtin_merge_operator(options_.get(), "append", &e));
  open_with_tree();
  C_OK(hawthorn_db_set_merge_operator(db_.get(), tree_.get(), "append", HAWTHORN_STRING, &e));
  for (const char* key : {"gone", "range1", "range2"}) put(key, "");
  const TxnHandle txn = begin();
  hawthorn_txn* const t = txn.get();
  const hawthorn_tree* const in = tree_.get();
  C_OK(hawthorn_txn_del(t, in, "gone", 4, &e));
  C_OK(hawthorn_txn_delete_range(t, in, "range", 5, "s", 1, &e));
  C_OK(hawthorn_txn_merge(t, in, "merged", 6, "ab", 2, &e));
  C_OK(hawthorn_txn_merge(t, in, "merged", 6, "cd", 2, &e));
  void* reserved = nullptr;
  C_OK(hawthorn_txn_put_reserve(t, in, "reserved", 8, 3, &reserved, &e));
  std::copy_n("xyz", 3, static_cast<char*>(reserved));
  C_OK(hawthorn_txn_finish_reserve(t, &e));
  TwoByTwo source{"streamed"};
  C_OK(hawthorn_txn_put_stream(t, in, "stream", 6, 8, TwoByTwo::give, &source, &e));
  C_OK(hawthorn_txn_write_part(t, in, "stream", 6, 2, "--", 2, &e));
  source = {"ABCD"};
  C_OK(hawthorn_txn_write_part_stream(t, in, "stream", 6, 6, 4, TwoByTwo::give, &source, &e));
  uint64_t at = 0;
  C_OK(hawthorn_txn_append(t, in, "stream", 6, "+", 1, &at, &e));
  EXPECT_EQ(at, 10U);
  source = {"end"};
  C_OK(hawthorn_txn_append_stream(t, in, "stream", 6, 3, TwoByTwo::give, &source, &at, &e));
  EXPECT_EQ(at, 11U);
  EXPECT_EQ(txn_get(txn, "stream"), "st--amABCD+end");
  C_OK(hawthorn_txn_resize(t, in, "stream", 6, 4, &e));
  int done = 0;
  C_OK(hawthorn_txn_insert(t, in, "set", 3, "1", 1, &done, &e));
  EXPECT_EQ(done, 1);
  C_OK(hawthorn_txn_insert(t, in, "set", 3, "2", 1, &done, &e));
  EXPECT_EQ(done, 0);
  C_OK(hawthorn_txn_update(t, in, "set", 3, "3", 1, &done, &e));
  EXPECT_EQ(done, 1);
  C_OK(hawthorn_txn_replace(t, in, "set", 3, "3", 1, "4", 1, &done, &e));
  EXPECT_EQ(done, 1);
  C_OK(hawthorn_txn_replace(t, in, "set", 3, nullptr, 0, "5", 1, &done, &e));
  EXPECT_EQ(done, 0);
  C_OK(hawthorn_txn_remove_if(t, in, "set", 3, "9", 1, &done, &e));
  EXPECT_EQ(done, 0);
  // What a source says.
  TwoByTwo failing{"", hawthorn_error_create(HAWTHORN_IO_ERROR, "no more", HAWTHORN_STRING)};
  C_FAILS("IoError: no more",
          hawthorn_txn_put_stream(t, in, "x", 1, 8, TwoByTwo::give, &failing, &e));
  const auto too_much = [](void*, void*, size_t capacity, hawthorn_error**) {
    return static_cast<int64_t>(capacity) + 1;
  };
  C_FAILS("InvalidArgument: the source says that it wrote",
          hawthorn_txn_put_stream(t, in, "x", 1, 8, too_much, nullptr, &e));
  const auto silent = [](void*, void*, size_t, hawthorn_error**) { return int64_t{-1}; };
  C_FAILS("Internal: the source has failed",
          hawthorn_txn_put_stream(t, in, "x", 1, 8, silent, nullptr, &e));
  C_FAILS("InvalidArgument: source is NULL",
          hawthorn_txn_put_stream(t, in, "x", 1, 8, nullptr, nullptr, &e));
  hawthorn_write_options write = HAWTHORN_WRITE_OPTIONS_INIT;
  write.durability = HAWTHORN_DURABILITY_FULL;
  C_FAILS("InvalidArgument: the durability of a write in a transaction",
          hawthorn_txn_put(t, in, "x", 1, "v", 1, &write, &e));
  EXPECT_EQ(commit(txn), "OK");
  EXPECT_EQ(walk(cursor().get()), "merged=abcd,reserved=xyz,set=4,stream=st--");
}

TEST_F(TxnCTest, SeveralValuesAndExpiries) {
  hawthorn_tree_options options = HAWTHORN_TREE_OPTIONS_INIT;
  options.multi_value = 1;
  options.expires = 1;
  open_with_tree(&options);
  const TxnHandle txn = begin();
  hawthorn_write_options write = HAWTHORN_WRITE_OPTIONS_INIT;
  write.expiry = HAWTHORN_EXPIRY_AFTER;
  write.expiry_ms = 10'000'000;
  C_OK(hawthorn_txn_put(txn.get(), tree_.get(), "k", 1, "1", 1, &write, &e));
  C_OK(hawthorn_txn_put(txn.get(), tree_.get(), "k", 1, "2", 1, nullptr, &e));
  C_OK(hawthorn_txn_del_value(txn.get(), tree_.get(), "k", 1, "2", 1, &e));
  EXPECT_EQ(commit(txn), "OK");
  const CursorHandle c = cursor();
  EXPECT_EQ(walk(c.get()), "k=1");
  int found = 0;
  C_OK(hawthorn_cursor_first(c.get(), &found, &e));
  EXPECT_GT(hawthorn_cursor_expires_at(c.get()), 0U);
}

TEST_F(TxnCTest, TreesAreMadeInTransactions) {
  open_with_tree();
  TxnHandle txn = begin();
  hawthorn_tree* made = nullptr;
  C_OK(hawthorn_txn_tree(txn.get(), "new", 3, nullptr, &made, &e));
  const TreeHandle fresh(made);
  C_OK(hawthorn_txn_put(txn.get(), fresh.get(), "k", 1, "v", 1, nullptr, &e));
  hawthorn_tree_options options = HAWTHORN_TREE_OPTIONS_INIT;
  options.subtrees = 1;
  C_OK(hawthorn_txn_tree(txn.get(), "parent", 6, &options, &made, &e));
  const TreeHandle parent(made);
  C_OK(hawthorn_txn_create_subtree(txn.get(), parent.get(), "a", 1, nullptr, &made, &e));
  const TreeHandle child(made);
  C_OK(hawthorn_txn_subtree(txn.get(), parent.get(), "a", 1, &made, &e));
  const TreeHandle again(made);
  EXPECT_EQ(hawthorn_tree_id(child.get()), hawthorn_tree_id(again.get()));
  C_OK(hawthorn_txn_move_subtree(txn.get(), parent.get(), "a", 1, parent.get(), "b", 1, &e));
  C_OK(hawthorn_txn_detach(txn.get(), parent.get(), "b", 1, "named", 5, &e));
  C_OK(hawthorn_txn_attach(txn.get(), parent.get(), "c", 1, "named", 5, &e));
  hawthorn_records* listed = nullptr;
  C_OK(hawthorn_txn_list_subtrees(txn.get(), parent.get(), &listed, &e));
  EXPECT_STREQ(hawthorn_records_bytes(RecordsHandle(listed).get(), 0, "key", nullptr), "c");
  C_OK(hawthorn_txn_clone_subtree(txn.get(), parent.get(), "c", 1, "clone1", 6, nullptr, &e));
  C_OK(hawthorn_txn_clone_tree(txn.get(), "new", 3, "clone2", 6, nullptr, &e));
  C_OK(hawthorn_txn_rename_tree(txn.get(), "clone2", 6, "clone3", 6, &e));
  C_OK(hawthorn_txn_drop_tree(txn.get(), "clone1", 6, &e));
  C_FAILS("NotFound", hawthorn_txn_find_tree(txn.get(), "clone1", 6, &made, &e));
  C_OK(hawthorn_txn_list_trees(txn.get(), &listed, &e));
  EXPECT_EQ(hawthorn_records_count(RecordsHandle(listed).get()), 4U);
  EXPECT_EQ(commit(txn), "OK");
  C_OK(hawthorn_db_list_trees(db_.get(), nullptr, &listed, &e));
  EXPECT_EQ(hawthorn_records_count(RecordsHandle(listed).get()), 4U);
  C_OK(hawthorn_db_find_tree(db_.get(), "clone3", 6, nullptr, &made, &e));
  const TreeHandle clone(made);
  uint64_t count = 0;
  C_OK(hawthorn_db_count(db_.get(), clone.get(), nullptr, 0, nullptr, 0, nullptr, &count, &e));
  EXPECT_EQ(count, 1U);
}

}  // namespace

}  // namespace hawthorn::c
