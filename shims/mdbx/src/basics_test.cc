// What every program does: open, begin, put, get, commit, and again.

#include "shims/mdbx/src/mdbx_test_support.h"

namespace hawthorn::mdbx {
namespace {

using Basics = Environments;

TEST_F(Basics, WhatIsCommittedIsThere) {
  open();
  MDBX_txn* txn = begin();
  const MDBX_dbi dbi = table(txn, "t");
  ASSERT_DONE(put(txn, dbi, "a", "1"));
  ASSERT_DONE(put(txn, dbi, "b", "2"));
  EXPECT_EQ(get(txn, dbi, "a"), "1");
  ASSERT_DONE(mdbx_txn_commit(txn));
  txn = begin(MDBX_TXN_RDONLY);
  EXPECT_EQ(all(txn, dbi), "a=1 b=2 ");
  ASSERT_DONE(mdbx_txn_abort(txn));
  reopen();
  txn = begin(MDBX_TXN_RDONLY);
  EXPECT_EQ(all(txn, table(txn, "t", 0)), "a=1 b=2 ");
  ASSERT_DONE(mdbx_txn_abort(txn));
}

TEST_F(Basics, WhatIsAbortedIsNot) {
  open();
  MDBX_txn* txn = begin();
  const MDBX_dbi kept = table(txn, "kept");
  ASSERT_DONE(put(txn, kept, "a", "1"));
  ASSERT_DONE(mdbx_txn_commit(txn));
  txn = begin();
  ASSERT_DONE(put(txn, kept, "a", "2"));
  ASSERT_DONE(put(txn, kept, "b", "2"));
  const MDBX_dbi lost = table(txn, "lost");
  ASSERT_DONE(put(txn, lost, "x", "y"));
  ASSERT_DONE(mdbx_txn_abort(txn));
  txn = begin();
  EXPECT_EQ(all(txn, kept), "a=1 ");
  EXPECT_EQ(put(txn, lost, "x", "y"), MDBX_BAD_DBI);
  MDBX_dbi dbi = 0;
  EXPECT_EQ(mdbx_dbi_open(txn, "lost", MDBX_DB_DEFAULTS, &dbi), MDBX_NOTFOUND);
  ASSERT_DONE(mdbx_txn_abort(txn));
}

TEST_F(Basics, ReadersSeeOneMoment) {
  open();
  MDBX_txn* txn = begin();
  const MDBX_dbi dbi = table(txn, nullptr);
  ASSERT_DONE(put(txn, dbi, "a", "1"));
  ASSERT_DONE(mdbx_txn_commit(txn));
  ASSERT_DONE(mdbx_env_close(std::exchange(env_, nullptr)));
  open(MDBX_SAFE_NOSYNC | MDBX_NOSTICKYTHREADS);
  MDBX_txn* reader = begin(MDBX_TXN_RDONLY);
  txn = begin();
  ASSERT_DONE(put(txn, dbi, "a", "2"));
  ASSERT_DONE(mdbx_txn_commit(txn));
  EXPECT_EQ(get(reader, dbi, "a"), "1");
  const uint64_t before = mdbx_txn_id(reader);
  ASSERT_DONE(mdbx_txn_reset(reader));
  EXPECT_EQ(get(reader, dbi, "a"), std::string(mdbx_strerror(MDBX_BAD_TXN)));
  ASSERT_DONE(mdbx_txn_renew(reader));
  EXPECT_EQ(get(reader, dbi, "a"), "2");
  EXPECT_EQ(mdbx_txn_id(reader), before + 1);
  ASSERT_DONE(mdbx_txn_abort(reader));
}

TEST_F(Basics, Nested) {
  open();
  MDBX_txn* outer = begin();
  const MDBX_dbi dbi = table(outer, "t");
  ASSERT_DONE(put(outer, dbi, "a", "1"));
  MDBX_txn* inner = begin(MDBX_TXN_READWRITE, outer);
  EXPECT_EQ(put(outer, dbi, "x", "y"), MDBX_BAD_TXN);
  ASSERT_DONE(put(inner, dbi, "b", "2"));
  ASSERT_DONE(del(inner, dbi, "a"));
  ASSERT_DONE(mdbx_txn_abort(inner));
  EXPECT_EQ(all(outer, dbi), "a=1 ");
  inner = begin(MDBX_TXN_READWRITE, outer);
  const MDBX_dbi made = table(inner, "made");
  ASSERT_DONE(put(inner, made, "m", "1"));
  MDBX_txn* innermost = begin(MDBX_TXN_READWRITE, inner);
  ASSERT_DONE(put(innermost, dbi, "c", "3"));
  ASSERT_DONE(mdbx_txn_commit(innermost));
  ASSERT_DONE(mdbx_txn_commit(inner));
  EXPECT_EQ(all(outer, dbi), "a=1 c=3 ");
  EXPECT_EQ(all(outer, made), "m=1 ");
  ASSERT_DONE(mdbx_txn_commit(outer));
  MDBX_txn* reader = begin(MDBX_TXN_RDONLY);
  EXPECT_EQ(all(reader, dbi), "a=1 c=3 ");
  EXPECT_EQ(all(reader, made), "m=1 ");
  ASSERT_DONE(mdbx_txn_abort(reader));
}

// A nested transaction uses the cursors of those around it; its end gives them back.
TEST_F(Basics, NestedBorrowsCursors) {
  open();
  MDBX_txn* outer = begin();
  const MDBX_dbi dbi = table(outer, "t");
  for (const char* key : {"a", "b", "c", "d", "e", "f", "g"}) {
    ASSERT_DONE(put(outer, dbi, key, "1"));
  }
  ASSERT_DONE(mdbx_txn_commit(outer));
  const auto at = [](MDBX_cursor* cursor, MDBX_cursor_op operation) {
    MDBX_val key{};
    MDBX_val value{};
    const int code = mdbx_cursor_get(cursor, &key, &value, operation);
    return code == MDBX_SUCCESS ? text(key) : std::string(mdbx_strerror(code));
  };
  for (const bool commits : {false, true}) {
    SCOPED_TRACE(commits);
    outer = begin();
    MDBX_cursor* first = nullptr;
    MDBX_cursor* last = nullptr;
    ASSERT_DONE(mdbx_cursor_open(outer, dbi, &first));
    ASSERT_DONE(mdbx_cursor_open(outer, dbi, &last));
    EXPECT_EQ(at(first, MDBX_FIRST), "a");
    EXPECT_EQ(at(last, MDBX_LAST), "g");
    MDBX_txn* inner = begin(MDBX_TXN_READWRITE, outer);
    EXPECT_EQ(mdbx_cursor_txn(first), inner);
    EXPECT_EQ(at(first, MDBX_NEXT), "b");
    ASSERT_DONE(put(inner, dbi, "bb", "2"));
    EXPECT_EQ(at(first, MDBX_NEXT), "bb");
    ASSERT_DONE(del(inner, dbi, "c"));
    EXPECT_EQ(at(first, MDBX_NEXT), "d");
    MDBX_cursor* copy = mdbx_cursor_create(nullptr);
    EXPECT_DONE(mdbx_cursor_copy(first, copy));
    EXPECT_EQ(at(copy, MDBX_GET_CURRENT), "d");
    EXPECT_EQ(mdbx_cursor_copy(first, first), MDBX_EINVAL);
    // It goes with its own transaction, whoever uses it meanwhile.
    EXPECT_EQ(mdbx_cursor_unbind(last), MDBX_EINVAL);
    EXPECT_EQ(mdbx_cursor_bind(inner, last, 1), MDBX_EINVAL);
    mdbx_cursor_close(last);
    MDBX_txn* innermost = begin(MDBX_TXN_READWRITE, inner);
    EXPECT_EQ(at(first, MDBX_NEXT), "e");
    ASSERT_DONE(del(innermost, dbi, "f"));
    EXPECT_EQ(at(first, MDBX_LAST), "g");
    ASSERT_DONE(mdbx_txn_abort(innermost));
    EXPECT_EQ(at(first, MDBX_GET_CURRENT), "d");
    EXPECT_EQ(at(first, MDBX_NEXT), "e");
    EXPECT_EQ(at(first, MDBX_NEXT), "f");
    ASSERT_DONE(commits ? mdbx_txn_commit(inner) : mdbx_txn_abort(inner));
    EXPECT_EQ(mdbx_cursor_txn(first), outer);
    EXPECT_EQ(mdbx_cursor_txn(copy), nullptr);
    EXPECT_EQ(at(first, MDBX_GET_CURRENT), commits ? "f" : "a");
    EXPECT_EQ(at(first, MDBX_NEXT), commits ? "g" : "b");
    EXPECT_EQ(all(outer, dbi),
              commits ? "a=1 b=1 bb=2 d=1 e=1 f=1 g=1 " : "a=1 b=1 c=1 d=1 e=1 f=1 g=1 ");
    mdbx_cursor_close(copy);
    mdbx_cursor_close(first);
    ASSERT_DONE(mdbx_txn_abort(outer));
  }
  // Released in the nested one, with all others.
  outer = begin();
  MDBX_cursor* cursor = nullptr;
  ASSERT_DONE(mdbx_cursor_open(outer, dbi, &cursor));
  MDBX_txn* inner = begin(MDBX_TXN_READWRITE, outer);
  size_t released = 0;
  EXPECT_DONE(mdbx_txn_release_all_cursors_ex(inner, true, &released));
  EXPECT_EQ(released, 1U);
  ASSERT_DONE(mdbx_txn_commit(inner));
  EXPECT_EQ(mdbx_cursor_txn(cursor), nullptr);
  mdbx_cursor_close(cursor);
  ASSERT_DONE(mdbx_txn_abort(outer));
}

TEST_F(Basics, SeveralValuesOfAKey) {
  open();
  MDBX_txn* txn = begin();
  const MDBX_dbi dbi = table(txn, "t", MDBX_CREATE | MDBX_DUPSORT);
  for (const char* value : {"2", "1", "3", "2"}) ASSERT_DONE(put(txn, dbi, "k", value));
  ASSERT_DONE(put(txn, dbi, "l", "1"));
  EXPECT_EQ(all(txn, dbi), "k=1 k=2 k=3 l=1 ");
  EXPECT_EQ(put(txn, dbi, "k", "3", MDBX_NODUPDATA), MDBX_KEYEXIST);
  ASSERT_DONE(del(txn, dbi, "k", "2"));
  EXPECT_EQ(del(txn, dbi, "k", "2"), MDBX_NOTFOUND);
  EXPECT_EQ(all(txn, dbi), "k=1 k=3 l=1 ");
  MDBX_stat stat;
  ASSERT_DONE(mdbx_dbi_stat(txn, dbi, &stat, sizeof(stat)));
  EXPECT_EQ(stat.ms_entries, 3U);
  ASSERT_DONE(del(txn, dbi, "k"));
  EXPECT_EQ(all(txn, dbi), "l=1 ");
  ASSERT_DONE(mdbx_txn_commit(txn));
}

TEST_F(Basics, DropAndSequence) {
  open();
  MDBX_txn* txn = begin();
  const MDBX_dbi dbi = table(txn, "t");
  ASSERT_DONE(put(txn, dbi, "a", "1"));
  uint64_t number = 7;
  ASSERT_DONE(mdbx_dbi_sequence(txn, dbi, &number, 5));
  EXPECT_EQ(number, 0U);
  ASSERT_DONE(mdbx_txn_commit(txn));
  txn = begin();
  ASSERT_DONE(mdbx_dbi_sequence(txn, dbi, &number, 0));
  EXPECT_EQ(number, 5U);
  ASSERT_DONE(mdbx_drop(txn, dbi, false));
  EXPECT_EQ(all(txn, dbi), "");
  ASSERT_DONE(put(txn, dbi, "b", "2"));
  ASSERT_DONE(mdbx_txn_commit(txn));
  txn = begin();
  EXPECT_EQ(all(txn, dbi), "b=2 ");
  ASSERT_DONE(mdbx_drop(txn, dbi, true));
  EXPECT_EQ(put(txn, dbi, "b", "2"), MDBX_BAD_DBI);
  const MDBX_dbi again = table(txn, "t");
  EXPECT_EQ(all(txn, again), "");
  ASSERT_DONE(mdbx_txn_commit(txn));
}

TEST_F(Basics, AThreadDoesNotWaitForItself) {
  for (const unsigned flags : {0U, unsigned{MDBX_NOSTICKYTHREADS}}) {
    open(MDBX_SAFE_NOSYNC | flags);
    MDBX_txn* const txn = begin();
    MDBX_txn* other = nullptr;
    EXPECT_EQ(mdbx_txn_begin(env_, nullptr, MDBX_TXN_READWRITE, &other), MDBX_BUSY);
    ASSERT_DONE(mdbx_txn_abort(txn));
    ASSERT_DONE(mdbx_txn_abort(begin()));
    close();
  }
}

TEST_F(Basics, TellsTheLoggerOfANewEnvironment) {
  static std::string told;
  static char buffer[20];
  const auto logger = [](MDBX_log_level_t, const char*, int, const char* message, unsigned length)
                          MDBX_CXX17_NOEXCEPT {
                            told.assign(message);  // it ends with a zero
                            EXPECT_EQ(told.size(), length);
                          };
  mdbx_setup_debug_nofmt(MDBX_LOG_NOTICE, MDBX_DBG_DONTCHANGE, logger, buffer, sizeof(buffer));
  // Changes nothing.
  const int code = mdbx_setup_debug_nofmt(MDBX_LOG_DONTCHANGE, MDBX_DBG_DONTCHANGE,
                                          MDBX_LOGGER_NOFMT_DONTCHANGE, buffer, sizeof(buffer));
  if (HAWTHORN_MDBX_API >= 14) {
    EXPECT_EQ(code, -1);
  }
  open();
  mdbx_setup_debug(MDBX_LOG_FATAL, MDBX_DBG_DONTCHANGE, nullptr);
  EXPECT_EQ(told, ("new: " + path_).substr(0, sizeof(buffer) - 1));
}

}  // namespace
}  // namespace hawthorn::mdbx
