// What is asked of tables and of transactions as wholes.

#include <cstring>

#include "shims/mdbx/src/mdbx_test_support.h"

namespace hawthorn::mdbx {
namespace {

using TablesTest = Environments;

int by_last_byte(const MDBX_val* a, const MDBX_val* b) MDBX_CXX17_NOEXCEPT {
  const std::string first = text(*a);
  const std::string second = text(*b);
  if (first.back() != second.back()) return first.back() < second.back() ? -1 : 1;
  return first.compare(second);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // by libmdbx, too

TEST_F(TablesTest, AnOrderOfThePrograms) {
  open();
  MDBX_txn* txn = begin();
  MDBX_dbi dbi = 0;
  ASSERT_DONE(mdbx_dbi_open_ex(txn, "t", MDBX_CREATE, &dbi, by_last_byte, nullptr));
  for (const char* key : {"az", "by", "cx"}) ASSERT_DONE(put(txn, dbi, key, "1"));
  EXPECT_EQ(all(txn, dbi), "cx=1 by=1 az=1 ");
  const MDBX_val name = bytes("u");
  MDBX_dbi other = 0;
  const auto several = static_cast<MDBX_db_flags_t>(MDBX_CREATE | MDBX_DUPSORT);
  ASSERT_DONE(mdbx_dbi_open_ex2(txn, &name, several, &other, nullptr, by_last_byte));
  for (const char* value : {"az", "by", "cx"}) ASSERT_DONE(put(txn, other, "k", value));
  EXPECT_EQ(all(txn, other), "k=cx k=by k=az ");
  ASSERT_DONE(mdbx_txn_commit(txn));
  reopen();
  txn = begin(MDBX_TXN_RDONLY);
  ASSERT_DONE(mdbx_dbi_open_ex(txn, "t", MDBX_DB_DEFAULTS, &dbi, by_last_byte, nullptr));
  EXPECT_EQ(all(txn, dbi), "cx=1 by=1 az=1 ");
  EXPECT_EQ(get(txn, dbi, "by"), "1");
  ASSERT_DONE(mdbx_txn_abort(txn));
}

#pragma GCC diagnostic pop

// More rounds than there are handles.
TEST_F(TablesTest, AreMadeAndDroppedAgainAndAgain) {
  open();
  MDBX_dbi first = 0;
  for (int i = 0; i < 200; ++i) {
    MDBX_txn* txn = begin();
    const MDBX_dbi dbi = table(txn, "staging");
    if (i == 0) first = dbi;
    ASSERT_EQ(dbi, first);
    EXPECT_EQ(all(txn, dbi), "");
    ASSERT_DONE(put(txn, dbi, "a", "1"));
    if (i % 5 == 4) {
      ASSERT_DONE(mdbx_txn_abort(txn));
      continue;
    }
    ASSERT_DONE(mdbx_txn_commit(txn));
    txn = begin();
    ASSERT_DONE(mdbx_drop(txn, dbi, true));
    ASSERT_DONE(mdbx_txn_commit(txn));
  }
}

TEST_F(TablesTest, AreRenamed) {
  open();
  MDBX_txn* txn = begin();
  const MDBX_dbi dbi = table(txn, "t");
  ASSERT_DONE(put(txn, dbi, "a", "1"));
  ASSERT_DONE(mdbx_txn_commit(txn));
  txn = begin();
  const MDBX_val name = bytes("u");
  ASSERT_DONE(mdbx_dbi_rename2(txn, dbi, &name));
  EXPECT_EQ(all(txn, dbi), "a=1 ");
  MDBX_dbi other = 0;
  EXPECT_EQ(mdbx_dbi_open(txn, "t", MDBX_DB_DEFAULTS, &other), MDBX_NOTFOUND);
  ASSERT_DONE(mdbx_dbi_open(txn, "u", MDBX_DB_DEFAULTS, &other));
  EXPECT_EQ(other, dbi);
  other = table(txn, "t");
  EXPECT_NE(other, dbi);
  EXPECT_EQ(all(txn, other), "");
  ASSERT_DONE(mdbx_txn_commit(txn));
  reopen();
  txn = begin(MDBX_TXN_RDONLY);
  EXPECT_EQ(all(txn, table(txn, "u", 0)), "a=1 ");
  ASSERT_DONE(mdbx_txn_abort(txn));
}

int list(void* context, const MDBX_txn*, const MDBX_val* name, MDBX_db_flags_t flags,
         const MDBX_stat* stat, MDBX_dbi dbi) MDBX_CXX17_NOEXCEPT {
  *static_cast<std::string*>(context) += text(*name) + (flags & MDBX_DUPSORT ? "*" : "") +
                                         std::to_string(stat->ms_entries) + (dbi != 0 ? "+ " : " ");
  return MDBX_SUCCESS;
}

TEST_F(TablesTest, AreListed) {
  open();
  MDBX_txn* txn = begin();
  ASSERT_DONE(put(txn, table(txn, "b"), "k", "v"));
  table(txn, "a", MDBX_CREATE | MDBX_DUPSORT);
  ASSERT_DONE(mdbx_txn_commit(txn));
  reopen();
  txn = begin(MDBX_TXN_RDONLY);
  table(txn, "b", 0);
  std::string names;
  ASSERT_DONE(mdbx_enumerate_tables(txn, list, &names));
  EXPECT_EQ(names, "a*0 b1+ ");
  ASSERT_DONE(mdbx_txn_abort(txn));
}

TEST_F(TablesTest, FlagsAndStates) {
  open();
  MDBX_txn* txn = begin();
  const MDBX_dbi dbi = table(txn, "t", MDBX_CREATE | MDBX_DUPSORT);
  unsigned flags = 0;
  unsigned state = 0;
  ASSERT_DONE(mdbx_dbi_flags_ex(txn, dbi, &flags, &state));
  EXPECT_EQ(flags, unsigned{MDBX_DUPSORT});
  EXPECT_NE(state & MDBX_DBI_CREAT, 0U);
  EXPECT_NE(state & MDBX_DBI_FRESH, 0U);
  ASSERT_DONE(put(txn, dbi, "a", "1"));
  ASSERT_DONE(put(txn, dbi, "b", "1"));
  ASSERT_DONE(put(txn, dbi, "b", "2"));
  ASSERT_DONE(mdbx_dbi_flags_ex(txn, dbi, &flags, &state));
  EXPECT_NE(state & MDBX_DBI_DIRTY, 0U);
  EXPECT_EQ(state & MDBX_DBI_STALE, 0U);
  uint32_t mask = 0;
  ASSERT_DONE(mdbx_dbi_dupsort_depthmask(txn, dbi, &mask));
  EXPECT_NE(mask, 0U);
  ASSERT_DONE(mdbx_txn_commit(txn));
  txn = begin(MDBX_TXN_RDONLY);
  ASSERT_DONE(mdbx_dbi_flags(txn, dbi, &flags));
  EXPECT_EQ(flags, unsigned{MDBX_DUPSORT});
  ASSERT_DONE(mdbx_txn_abort(txn));
}

TEST_F(TablesTest, TheNextEntryIsFound) {
  open();
  MDBX_txn* txn = begin();
  const MDBX_dbi dbi = table(txn, "t", MDBX_CREATE | MDBX_DUPSORT);
  for (const char* value : {"2", "4"}) ASSERT_DONE(put(txn, dbi, "b", value));
  ASSERT_DONE(put(txn, dbi, "d", "1"));
  MDBX_val key = bytes("b");
  MDBX_val value = bytes("2");
  EXPECT_DONE(mdbx_get_equal_or_great(txn, dbi, &key, &value));
  value = bytes("3");
  EXPECT_EQ(mdbx_get_equal_or_great(txn, dbi, &key, &value), MDBX_RESULT_TRUE);
  EXPECT_EQ(text(value), "4");
  key = bytes("c");
  EXPECT_EQ(mdbx_get_equal_or_great(txn, dbi, &key, &value), MDBX_RESULT_TRUE);
  EXPECT_EQ(text(key), "d");
  key = bytes("e");
  EXPECT_EQ(mdbx_get_equal_or_great(txn, dbi, &key, &value), MDBX_NOTFOUND);
  // How much there is from one to another, and of one key.
  key = bytes("b");
  ptrdiff_t distance = 0;
  EXPECT_DONE(mdbx_estimate_range(txn, dbi, nullptr, nullptr, nullptr, nullptr, &distance));
  EXPECT_EQ(distance, 3);
  EXPECT_DONE(mdbx_estimate_range(txn, dbi, &key, nullptr, MDBX_EPSILON, nullptr, &distance));
  EXPECT_EQ(distance, 2);
  EXPECT_EQ(mdbx_is_dirty(txn, value.iov_base), MDBX_RESULT_TRUE);
  ASSERT_DONE(mdbx_txn_abort(txn));
}

TEST_F(TablesTest, WhatATransactionSaysOfItself) {
  open();
  MDBX_txn* txn = nullptr;
  ASSERT_DONE(mdbx_txn_begin_ex(env_, nullptr, MDBX_TXN_NOMETASYNC, &txn, this));
  EXPECT_EQ(mdbx_txn_get_userctx(txn), this);
  ASSERT_DONE(mdbx_txn_set_userctx(txn, env_));
  EXPECT_EQ(mdbx_txn_get_userctx(txn), env_);
  EXPECT_EQ(mdbx_txn_env(txn), env_);
  EXPECT_EQ(mdbx_txn_flags(txn) & MDBX_TXN_DIRTY, 0);
  const MDBX_dbi dbi = table(txn, "t");
  ASSERT_DONE(put(txn, dbi, "a", "1"));
  EXPECT_NE(mdbx_txn_flags(txn) & MDBX_TXN_DIRTY, 0);
  MDBX_cursor* cursors[2];
  for (MDBX_cursor*& cursor : cursors) ASSERT_DONE(mdbx_cursor_open(txn, dbi, &cursor));
  ASSERT_DONE(mdbx_txn_release_all_cursors(txn, false));
  MDBX_commit_latency latency;
  ASSERT_DONE(mdbx_txn_commit_ex(txn, &latency));
  EXPECT_GE(latency.whole, latency.write);
  txn = begin(MDBX_TXN_RDONLY);
  ASSERT_DONE(mdbx_txn_park(txn, false));
  EXPECT_NE(mdbx_txn_flags(txn) & MDBX_TXN_PARKED, 0);
  EXPECT_EQ(mdbx_txn_flags(txn) & MDBX_TXN_OUSTED, 0);
  EXPECT_EQ(get(txn, dbi, "a"), mdbx_strerror(MDBX_BAD_TXN));
  ASSERT_DONE(mdbx_txn_unpark(txn, false));
  EXPECT_EQ(get(txn, dbi, "a"), "1");
  ASSERT_DONE(mdbx_txn_park(txn, true));
  EXPECT_NE(mdbx_txn_flags(txn) & (MDBX_TXN_PARKED | MDBX_TXN_AUTOUNPARK), 0);
  EXPECT_EQ(get(txn, dbi, "a"), "1");
  ASSERT_DONE(mdbx_txn_abort(txn));
}

}  // namespace
}  // namespace hawthorn::mdbx
