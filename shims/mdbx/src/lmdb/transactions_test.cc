// The functions of transactions.

#include "shims/mdbx/src/lmdb/lmdb_test_support.h"

namespace hawthorn::lmdb {
namespace {

using Transactions = Environments;

TEST_F(Transactions, WhatIsCommittedIsThereAndTheRestIsNot) {
  open();
  MDB_txn* txn = begin();
  const MDB_dbi dbi = table(txn, "t");
  EXPECT_EQ(mdb_txn_env(txn), env_);
  ASSERT_DONE(put(txn, dbi, "a", "1"));
  ASSERT_DONE(mdb_txn_commit(txn));
  txn = begin();
  ASSERT_DONE(put(txn, dbi, "b", "2"));
  mdb_txn_abort(txn);
  reopen();
  txn = begin(MDB_RDONLY);
  EXPECT_EQ(all(txn, table(txn, "t", 0)), "a=1 ");
  mdb_txn_abort(txn);
}

TEST_F(Transactions, Mistakes) {
  open();
  MDB_txn* txn = nullptr;
  EXPECT_EQ(mdb_txn_begin(nullptr, nullptr, 0, &txn), EINVAL);
  EXPECT_EQ(mdb_txn_begin(env_, nullptr, 0, nullptr), EINVAL);
  EXPECT_EQ(mdb_txn_commit(nullptr), EINVAL);
  EXPECT_EQ(mdb_txn_renew(nullptr), EINVAL);
  EXPECT_EQ(mdb_txn_env(nullptr), nullptr);
  EXPECT_EQ(mdb_txn_id(nullptr), 0U);
  mdb_txn_abort(nullptr);
  mdb_txn_reset(nullptr);
  txn = begin();
  // It would wait for itself.
  MDB_txn* second = nullptr;
  EXPECT_EQ(mdb_txn_begin(env_, nullptr, 0, &second), EBUSY);
  mdb_txn_reset(txn);  // of one that writes: nothing
  EXPECT_EQ(mdb_txn_renew(txn), EINVAL);
  EXPECT_DONE(put(txn, table(txn, nullptr), "a", "1"));
  ASSERT_DONE(mdb_txn_commit(txn));
}

TEST_F(Transactions, ReadersSeeOneMoment) {
  open();
  MDB_txn* txn = begin();
  const MDB_dbi dbi = table(txn, nullptr);
  ASSERT_DONE(put(txn, dbi, "a", "1"));
  EXPECT_EQ(mdb_txn_id(txn), 1U);
  ASSERT_DONE(mdb_txn_commit(txn));
  MDB_txn* reader = begin(MDB_RDONLY);
  EXPECT_EQ(mdb_txn_id(reader), 1U);
  txn = begin();
  EXPECT_EQ(mdb_txn_id(txn), 2U);
  ASSERT_DONE(put(txn, dbi, "a", "2"));
  ASSERT_DONE(mdb_txn_commit(txn));
  EXPECT_EQ(get(reader, dbi, "a"), "1");
  EXPECT_EQ(mdb_txn_renew(reader), EINVAL);
  mdb_txn_reset(reader);
  EXPECT_EQ(get(reader, dbi, "a"), mdb_strerror(MDB_BAD_TXN));
  ASSERT_DONE(mdb_txn_renew(reader));
  EXPECT_EQ(get(reader, dbi, "a"), "2");
  ASSERT_DONE(mdb_txn_commit(reader));
  // One that was reset can be committed as well.
  reader = begin(MDB_RDONLY);
  mdb_txn_reset(reader);
  ASSERT_DONE(mdb_txn_commit(reader));
}

TEST_F(Transactions, Nested) {
  open();
  MDB_txn* outer = begin();
  const MDB_dbi dbi = table(outer, "t");
  ASSERT_DONE(put(outer, dbi, "a", "1"));
  MDB_txn* inner = begin(0, outer);
  EXPECT_EQ(put(outer, dbi, "x", "y"), MDB_BAD_TXN);
  ASSERT_DONE(put(inner, dbi, "b", "2"));
  ASSERT_DONE(mdb_txn_commit(inner));
  inner = begin(0, outer);
  ASSERT_DONE(del(inner, dbi, "a"));
  mdb_txn_abort(inner);
  EXPECT_EQ(all(outer, dbi), "a=1 b=2 ");
  EXPECT_EQ(mdb_txn_begin(env_, outer, MDB_RDONLY, &inner), MDB_BAD_TXN);
  // With the outer one ends the inner one.
  inner = begin(0, outer);
  ASSERT_DONE(put(inner, dbi, "c", "3"));
  ASSERT_DONE(mdb_txn_commit(outer));
  MDB_txn* reader = begin(MDB_RDONLY);
  EXPECT_EQ(all(reader, dbi), "a=1 b=2 c=3 ");
  EXPECT_EQ(mdb_txn_begin(env_, reader, 0, &inner), EINVAL);
  mdb_txn_abort(reader);
}

TEST_F(Transactions, NestedBorrowsCursors) {
  open();
  MDB_txn* outer = begin();
  const MDB_dbi dbi = table(outer, "t");
  for (const char* key : {"a", "b", "c"}) ASSERT_DONE(put(outer, dbi, key, "1"));
  MDB_cursor* cursor = nullptr;
  MDB_cursor* closed = nullptr;
  ASSERT_DONE(mdb_cursor_open(outer, dbi, &cursor));
  ASSERT_DONE(mdb_cursor_open(outer, dbi, &closed));
  const auto at = [&](MDB_cursor_op operation) {
    MDB_val key{};
    MDB_val value{};
    const int code = mdb_cursor_get(cursor, &key, &value, operation);
    return code == MDB_SUCCESS ? text(key) : std::string(mdb_strerror(code));
  };
  EXPECT_EQ(at(MDB_FIRST), "a");
  for (const bool commits : {false, true}) {
    MDB_txn* inner = begin(0, outer);
    EXPECT_EQ(mdb_cursor_txn(cursor), inner);
    EXPECT_EQ(at(MDB_NEXT), "b");
    ASSERT_DONE(mdb_cursor_del(cursor, 0));
    if (commits) {
      mdb_cursor_close(closed);
      ASSERT_DONE(mdb_txn_commit(inner));
    } else {
      mdb_txn_abort(inner);
    }
    EXPECT_EQ(mdb_cursor_txn(cursor), outer);
    EXPECT_EQ(at(MDB_GET_CURRENT), commits ? "c" : "a");
  }
  EXPECT_EQ(all(outer, dbi), "a=1 c=1 ");
  ASSERT_DONE(mdb_txn_commit(outer));
}

TEST_F(Transactions, NotNestedWithTheWritableMap) {
  open(MDB_WRITEMAP);
  MDB_txn* outer = begin();
  MDB_txn* inner = nullptr;
  EXPECT_EQ(mdb_txn_begin(env_, outer, 0, &inner), MDB_BAD_TXN);
  mdb_txn_abort(outer);
}

TEST_F(Transactions, OneThatFailedFailsItsOuterOne) {
  ASSERT_DONE(mdb_env_create(&env_));
  ASSERT_DONE(mdb_env_open(env_, path_.c_str(), MDB_NOSYNC, 0600));
  MDB_txn* outer = begin();
  const MDB_dbi dbi = table(outer, nullptr);
  MDB_txn* inner = begin(0, outer);
  EXPECT_EQ(put(inner, dbi, "a", std::string(20 << 20, 'v')), MDB_MAP_FULL);
  EXPECT_EQ(mdb_txn_commit(inner), MDB_BAD_TXN);
  EXPECT_EQ(put(outer, dbi, "a", "1"), MDB_BAD_TXN);
  EXPECT_EQ(mdb_txn_commit(outer), MDB_BAD_TXN);
}

TEST_F(Transactions, Durabilities) {
  open(0);
  for (unsigned flags : {0, MDB_NOSYNC, MDB_NOMETASYNC}) {
    MDB_txn* txn = begin(flags);
    ASSERT_DONE(put(txn, table(txn, nullptr), std::to_string(flags), "1"));
    ASSERT_DONE(mdb_txn_commit(txn));
  }
  MDB_txn* txn = begin(MDB_RDONLY);
  EXPECT_EQ(all(txn, table(txn, nullptr, 0)), "0=1 262144=1 65536=1 ");
  mdb_txn_abort(txn);
}

}  // namespace
}  // namespace hawthorn::lmdb
