// What each misuse of transactions, tables and cursors gives.

#include <cerrno>
#include <thread>

#include "shims/mdbx/src/mdbx_test_support.h"

namespace hawthorn::mdbx {
namespace {

class Errors : public Environments {
 protected:
  static int open_table(MDBX_txn* txn, const char* name, unsigned flags, MDBX_dbi* dbi) {
    return mdbx_dbi_open(txn, name, static_cast<MDBX_db_flags_t>(flags), dbi);
  }
};

TEST_F(Errors, NullsAreRefused) {
  open();
  MDBX_txn* txn = begin();
  const MDBX_dbi dbi = table(txn, "t");
  const MDBX_val key = bytes("k");
  MDBX_val value = bytes("v");
  EXPECT_EQ(mdbx_txn_begin(env_, nullptr, MDBX_TXN_READWRITE, nullptr), MDBX_EINVAL);
  EXPECT_EQ(mdbx_txn_commit(nullptr), MDBX_EINVAL);
  EXPECT_EQ(mdbx_txn_abort(nullptr), MDBX_EINVAL);
  EXPECT_EQ(mdbx_get(txn, dbi, nullptr, &value), MDBX_EINVAL);
  EXPECT_EQ(mdbx_get(txn, dbi, &key, nullptr), MDBX_EINVAL);
  EXPECT_EQ(mdbx_put(txn, dbi, &key, nullptr, MDBX_UPSERT), MDBX_EINVAL);
  EXPECT_EQ(mdbx_del(txn, dbi, nullptr, nullptr), MDBX_EINVAL);
  EXPECT_EQ(mdbx_replace(txn, dbi, &key, &value, &value, MDBX_UPSERT), MDBX_EINVAL);
  EXPECT_EQ(mdbx_cursor_open(txn, dbi, nullptr), MDBX_EINVAL);
  EXPECT_EQ(mdbx_cursor_get(nullptr, &value, &value, MDBX_FIRST), MDBX_EINVAL);
  EXPECT_EQ(mdbx_txn_info(txn, nullptr, false), MDBX_EINVAL);
  EXPECT_EQ(mdbx_canary_get(txn, nullptr), MDBX_EINVAL);
  ptrdiff_t distance = 0;
  EXPECT_EQ(mdbx_estimate_range(txn, dbi, nullptr, &key, nullptr, nullptr, &distance), MDBX_EINVAL);
  EXPECT_EQ(mdbx_txn_env(nullptr), nullptr);
  EXPECT_EQ(mdbx_txn_flags(nullptr), MDBX_TXN_INVALID);
  EXPECT_EQ(mdbx_txn_id(nullptr), 0U);
  ASSERT_DONE(mdbx_txn_abort(txn));
}

TEST_F(Errors, HandlesAreRecognized) {
  open();
  alignas(16) char no_handle[4096] = {};
  auto* const no_txn = reinterpret_cast<MDBX_txn*>(no_handle);
  auto* const no_cursor = reinterpret_cast<MDBX_cursor*>(no_handle);
  MDBX_val value{};
  EXPECT_EQ(mdbx_txn_commit(no_txn), MDBX_EBADSIGN);
  EXPECT_EQ(mdbx_txn_reset(no_txn), MDBX_EBADSIGN);
  EXPECT_EQ(mdbx_cursor_get(no_cursor, &value, &value, MDBX_FIRST), MDBX_EBADSIGN);
  EXPECT_EQ(mdbx_cursor_unbind(no_cursor), MDBX_EBADSIGN);
  EXPECT_EQ(mdbx_cursor_close2(no_cursor), MDBX_EBADSIGN);
  EXPECT_EQ(mdbx_dbi_close(reinterpret_cast<MDBX_env*>(no_handle), 2), MDBX_EBADSIGN);
}

TEST_F(Errors, FailedTransactionsCanOnlyEnd) {
  open();
  MDBX_txn* txn = begin();
  const MDBX_dbi dbi = table(txn, "t");
  ASSERT_DONE(mdbx_txn_break(txn));
  EXPECT_NE(mdbx_txn_flags(txn) & MDBX_TXN_ERROR, 0);
  EXPECT_NE(mdbx_txn_flags(txn) & MDBX_TXN_BLOCKED, 0);
  EXPECT_EQ(put(txn, dbi, "a", "1"), MDBX_BAD_TXN);
  EXPECT_EQ(mdbx_txn_commit(txn), MDBX_RESULT_TRUE);
  txn = begin(MDBX_TXN_RDONLY);
  MDBX_dbi again = 0;
  EXPECT_EQ(open_table(txn, "t", 0, &again), MDBX_NOTFOUND);
  ASSERT_DONE(mdbx_txn_abort(txn));
}

TEST_F(Errors, AParentRestsWhileItHasAChild) {
  open();
  MDBX_txn* txn = begin();
  const MDBX_dbi dbi = table(txn, "t");
  MDBX_txn* child = begin(MDBX_TXN_READWRITE, txn);
  EXPECT_NE(mdbx_txn_flags(txn) & MDBX_TXN_HAS_CHILD, 0);
  EXPECT_EQ(put(txn, dbi, "a", "1"), MDBX_BAD_TXN);
  MDBX_cursor* cursor = nullptr;
  EXPECT_EQ(mdbx_cursor_open(txn, dbi, &cursor), MDBX_BAD_TXN);
  ASSERT_DONE(put(child, dbi, "a", "1"));
  // The end of a parent is that of the child, too.
  ASSERT_DONE(mdbx_txn_commit(txn));
  txn = begin(MDBX_TXN_RDONLY);
  EXPECT_EQ(get(txn, dbi, "a"), "1");
  EXPECT_EQ(mdbx_txn_begin(env_, txn, MDBX_TXN_READWRITE, &child), MDBX_BAD_TXN);
  ASSERT_DONE(mdbx_txn_abort(txn));
}

TEST_F(Errors, ReadersDoNotWrite) {
  open();
  MDBX_txn* txn = begin();
  const MDBX_dbi dbi = table(txn, "t");
  ASSERT_DONE(put(txn, dbi, "a", "1"));
  ASSERT_DONE(mdbx_txn_commit(txn));
  txn = begin(MDBX_TXN_RDONLY);
  MDBX_cursor* cursor = nullptr;
  ASSERT_DONE(mdbx_cursor_open(txn, dbi, &cursor));
  MDBX_val key = bytes("a");
  MDBX_val value{};
  ASSERT_DONE(mdbx_cursor_get(cursor, &key, &value, MDBX_SET_KEY));
  EXPECT_EQ(put(txn, dbi, "b", "1"), MDBX_EACCESS);
  EXPECT_EQ(del(txn, dbi, "a"), MDBX_EACCESS);
  EXPECT_EQ(mdbx_cursor_put(cursor, &key, &value, MDBX_UPSERT), MDBX_EACCESS);
  EXPECT_EQ(mdbx_cursor_del(cursor, MDBX_CURRENT), MDBX_EACCESS);
  EXPECT_EQ(mdbx_drop(txn, dbi, true), MDBX_EACCESS);
  EXPECT_EQ(mdbx_dbi_rename(txn, dbi, "u"), MDBX_EACCESS);
  MDBX_dbi other = 0;
  EXPECT_EQ(open_table(txn, "u", MDBX_CREATE, &other), MDBX_EACCESS);
  uint64_t sequence = 0;
  EXPECT_DONE(mdbx_dbi_sequence(txn, dbi, &sequence, 0));
  EXPECT_EQ(mdbx_dbi_sequence(txn, dbi, &sequence, 1), MDBX_EACCESS);
  const MDBX_canary canary = {1, 2, 3, 0};
  EXPECT_EQ(mdbx_canary_put(txn, &canary), MDBX_EACCESS);
  mdbx_cursor_close(cursor);
  // What is reset reads nothing until it is renewed.
  ASSERT_DONE(mdbx_txn_reset(txn));
  EXPECT_NE(mdbx_txn_flags(txn) & MDBX_TXN_FINISHED, 0);
  EXPECT_EQ(get(txn, dbi, "a"), mdbx_strerror(MDBX_BAD_TXN));
  ASSERT_DONE(mdbx_txn_abort(txn));
}

TEST_F(Errors, AThreadKeepsItsTransactions) {
  open();
  MDBX_txn* txn = begin();
  const MDBX_dbi dbi = table(txn, "t");
  MDBX_txn* reader = nullptr;
  EXPECT_EQ(mdbx_txn_begin(env_, nullptr, MDBX_TXN_RDONLY, &reader), MDBX_TXN_OVERLAPPING);
  EXPECT_EQ(mdbx_txn_begin(env_, nullptr, MDBX_TXN_READWRITE, &reader), MDBX_BUSY);
  std::thread([&] {
    EXPECT_EQ(put(txn, dbi, "a", "1"), MDBX_THREAD_MISMATCH);
    EXPECT_EQ(mdbx_txn_commit(txn), MDBX_THREAD_MISMATCH);
    MDBX_txn* other = nullptr;
    EXPECT_EQ(mdbx_txn_begin(env_, nullptr, MDBX_TXN_TRY, &other), MDBX_BUSY);
    EXPECT_EQ(mdbx_txn_lock(env_, true), MDBX_BUSY);
  }).join();
  ASSERT_DONE(mdbx_txn_commit(txn));
  reader = begin(MDBX_TXN_RDONLY);
  EXPECT_EQ(mdbx_txn_begin(env_, nullptr, MDBX_TXN_READWRITE, &txn), MDBX_TXN_OVERLAPPING);
  ASSERT_DONE(mdbx_txn_abort(reader));
  ASSERT_DONE(mdbx_txn_lock(env_, false));
  ASSERT_DONE(mdbx_txn_unlock(env_));
}

TEST_F(Errors, ReadersAreLimited) {
  env_ = create();
  ASSERT_DONE(mdbx_env_set_maxreaders(env_, 2));
  ASSERT_DONE(mdbx_env_open(env_, path_.c_str(), MDBX_NOSTICKYTHREADS, 0600));
  std::vector<MDBX_txn*> readers;
  int code = MDBX_SUCCESS;
  while (code == MDBX_SUCCESS && readers.size() < 1000) {
    MDBX_txn* reader = nullptr;
    code = mdbx_txn_begin(env_, nullptr, MDBX_TXN_RDONLY, &reader);
    if (code == MDBX_SUCCESS) readers.push_back(reader);
  }
  EXPECT_EQ(code, MDBX_READERS_FULL);
  EXPECT_GE(readers.size(), 2U);
  for (MDBX_txn* reader : readers) EXPECT_DONE(mdbx_txn_abort(reader));
}

TEST_F(Errors, TablesAreLimited) {
  open();
  MDBX_txn* txn = begin();
  MDBX_dbi dbi = 0;
  int code = MDBX_SUCCESS;
  int made = 0;
  for (; code == MDBX_SUCCESS && made < 100; ++made) {
    code = open_table(txn, ("t" + std::to_string(made)).c_str(), MDBX_CREATE, &dbi);
  }
  EXPECT_EQ(code, MDBX_DBS_FULL);
  EXPECT_EQ(made - 1, 20);
  ASSERT_DONE(mdbx_txn_abort(txn));
}

TEST_F(Errors, HandlesOfTables) {
  open();
  MDBX_txn* txn = begin();
  MDBX_dbi dbi = 0;
  EXPECT_EQ(open_table(txn, "t", 0, &dbi), MDBX_NOTFOUND);
  EXPECT_EQ(open_table(txn, "t", MDBX_CREATE | MDBX_DUPFIXED, &dbi), MDBX_EINVAL);
  EXPECT_EQ(put(txn, 19, "a", "1"), MDBX_BAD_DBI);
  EXPECT_EQ(put(txn, 10000, "a", "1"), MDBX_BAD_DBI);
  dbi = table(txn, "t", MDBX_CREATE | MDBX_DUPSORT);
  ASSERT_DONE(put(txn, dbi, "a", "1"));
  EXPECT_EQ(mdbx_dbi_close(env_, dbi), MDBX_DANGLING_DBI);
  ASSERT_DONE(mdbx_txn_commit(txn));
  txn = begin();
  MDBX_dbi again = 0;
  ASSERT_DONE(open_table(txn, "t", MDBX_DB_ACCEDE, &again));
  EXPECT_EQ(again, dbi);
  EXPECT_EQ(open_table(txn, "t", MDBX_REVERSEKEY, &again), MDBX_INCOMPATIBLE);
  EXPECT_EQ(open_table(txn, "t", MDBX_CREATE | MDBX_REVERSEKEY, &again), MDBX_INCOMPATIBLE);
  ASSERT_DONE(mdbx_txn_abort(txn));
  ASSERT_DONE(mdbx_dbi_close(env_, dbi));
  EXPECT_EQ(mdbx_dbi_close(env_, dbi), MDBX_BAD_DBI);
  txn = begin(MDBX_TXN_RDONLY);
  EXPECT_EQ(get(txn, dbi, "a"), mdbx_strerror(MDBX_BAD_DBI));
  ASSERT_DONE(mdbx_txn_abort(txn));
}

TEST_F(Errors, AnEntryOfTheMainTableIsNoTable) {
  open();
  MDBX_txn* txn = begin();
  const MDBX_dbi main = table(txn, nullptr);
  ASSERT_DONE(put(txn, main, "entry", "1"));
  MDBX_dbi dbi = 0;
  EXPECT_EQ(open_table(txn, "entry", MDBX_CREATE, &dbi), MDBX_INCOMPATIBLE);
  dbi = table(txn, "t");
  EXPECT_EQ(put(txn, main, "t", "1"), MDBX_INCOMPATIBLE);
  EXPECT_EQ(del(txn, main, "t"), MDBX_INCOMPATIBLE);
  EXPECT_EQ(mdbx_dbi_rename(txn, dbi, "entry"), MDBX_KEYEXIST);
  EXPECT_EQ(mdbx_dbi_rename(txn, main, "u"), MDBX_EINVAL);
  ASSERT_DONE(mdbx_txn_abort(txn));
}

TEST_F(Errors, CursorsWithoutATable) {
  open();
  MDBX_cursor* cursor = mdbx_cursor_create(this);
  EXPECT_EQ(mdbx_cursor_get_userctx(cursor), this);
  ASSERT_DONE(mdbx_cursor_set_userctx(cursor, nullptr));
  EXPECT_EQ(mdbx_cursor_get_userctx(cursor), nullptr);
  MDBX_val key = bytes("a");
  MDBX_val value{};
  EXPECT_EQ(mdbx_cursor_get(cursor, &key, &value, MDBX_FIRST), MDBX_EINVAL);
  EXPECT_EQ(mdbx_cursor_txn(cursor), nullptr);
  EXPECT_EQ(mdbx_cursor_dbi(cursor), UINT32_MAX);
  MDBX_txn* txn = begin();
  const MDBX_dbi dbi = table(txn, "t");
  ASSERT_DONE(put(txn, dbi, "a", "1"));
  ASSERT_DONE(mdbx_cursor_bind(txn, cursor, dbi));
  EXPECT_EQ(mdbx_cursor_txn(cursor), txn);
  EXPECT_EQ(mdbx_cursor_dbi(cursor), dbi);
  ASSERT_DONE(mdbx_cursor_get(cursor, &key, &value, MDBX_SET));
  ASSERT_DONE(mdbx_cursor_ignord(cursor));
  ASSERT_DONE(mdbx_cursor_unbind(cursor));
  EXPECT_EQ(mdbx_cursor_get(cursor, &key, &value, MDBX_FIRST), MDBX_EINVAL);
  ASSERT_DONE(mdbx_txn_commit(txn));
  txn = begin(MDBX_TXN_RDONLY);
  ASSERT_DONE(mdbx_cursor_renew(txn, cursor));
  ASSERT_DONE(mdbx_cursor_get(cursor, &key, &value, MDBX_FIRST));
  // Those that are still there end with their transaction, as ones without a table.
  size_t count = 0;
  ASSERT_DONE(mdbx_txn_release_all_cursors_ex(txn, true, &count));
  EXPECT_EQ(count, 1U);
  ASSERT_DONE(mdbx_txn_abort(txn));
  ASSERT_DONE(mdbx_cursor_close2(cursor));
}

TEST_F(Errors, OperationsThatATableDoesNotHave) {
  open();
  MDBX_txn* txn = begin();
  const MDBX_dbi single = table(txn, "single");
  const MDBX_dbi several = table(txn, "several", MDBX_CREATE | MDBX_DUPSORT);
  ASSERT_DONE(put(txn, single, "a", "1"));
  ASSERT_DONE(put(txn, several, "a", "1"));
  MDBX_cursor* cursor = nullptr;
  ASSERT_DONE(mdbx_cursor_open(txn, single, &cursor));
  MDBX_val key = bytes("a");
  MDBX_val value = bytes("1");
  EXPECT_EQ(mdbx_cursor_get(cursor, &key, &value, MDBX_GET_BOTH), MDBX_INCOMPATIBLE);
  EXPECT_EQ(mdbx_cursor_get(cursor, &key, &value, MDBX_GET_MULTIPLE), MDBX_INCOMPATIBLE);
  EXPECT_EQ(mdbx_cursor_get(cursor, nullptr, &value, MDBX_SET_KEY), MDBX_EINVAL);
  EXPECT_EQ(mdbx_cursor_get(cursor, &key, &value, static_cast<MDBX_cursor_op>(99)), MDBX_EINVAL);
  ASSERT_DONE(mdbx_cursor_bind(txn, cursor, several));
  size_t count = 0;
  MDBX_val pairs[4];
  EXPECT_EQ(mdbx_cursor_get_batch(cursor, &count, pairs, 4, MDBX_FIRST), MDBX_INCOMPATIBLE);
  EXPECT_EQ(mdbx_cursor_get_batch(cursor, &count, pairs, 2, MDBX_FIRST), MDBX_EINVAL);
  EXPECT_EQ(mdbx_cursor_get(cursor, &key, nullptr, MDBX_GET_BOTH), MDBX_EINVAL);
  EXPECT_EQ(mdbx_cursor_get(cursor, &key, nullptr, MDBX_FIRST_DUP), MDBX_EINVAL);
  mdbx_cursor_close(cursor);
  ASSERT_DONE(mdbx_txn_abort(txn));
}

TEST_F(Errors, SizesAreLimited) {
  open();
  MDBX_txn* txn = begin();
  const MDBX_dbi dbi = table(txn, "t", MDBX_CREATE | MDBX_DUPSORT | MDBX_DUPFIXED);
  const std::string large(100'000, 'x');
  EXPECT_EQ(put(txn, dbi, large, "1"), MDBX_BAD_VALSIZE);
  EXPECT_EQ(put(txn, dbi, "k", large), MDBX_BAD_VALSIZE);
  ASSERT_DONE(put(txn, dbi, "k", "12"));
  EXPECT_EQ(put(txn, dbi, "k", "123"), MDBX_BAD_VALSIZE);
  EXPECT_EQ(del(txn, dbi, "k", "123"), MDBX_BAD_VALSIZE);
  EXPECT_EQ(del(txn, dbi, "other", "123"), MDBX_NOTFOUND);
  ASSERT_DONE(mdbx_txn_abort(txn));
}

}  // namespace
}  // namespace hawthorn::mdbx
