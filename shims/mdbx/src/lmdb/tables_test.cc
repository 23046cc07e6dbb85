// The functions of tables and their entries.

#include <algorithm>
#include <cstring>

#include "shims/mdbx/src/lmdb/lmdb_test_support.h"

namespace hawthorn::lmdb {
namespace {

using Tables = Environments;

// From the last to the first.
int backwards(const MDB_val* a, const MDB_val* b) {
  const std::string first = text(*a);
  const std::string second = text(*b);
  return first < second ? 1 : first > second ? -1 : 0;
}

std::string number(uint32_t value) {
  return {reinterpret_cast<const char*>(&value), sizeof(value)};
}

TEST_F(Tables, NamesAndHandles) {
  open();
  MDB_txn* txn = begin();
  MDB_dbi dbi = 0;
  EXPECT_EQ(mdb_dbi_open(txn, "t", 0, &dbi), MDB_NOTFOUND);
  EXPECT_EQ(mdb_dbi_open(txn, "t", 0x1, &dbi), EINVAL);
  EXPECT_EQ(mdb_dbi_open(txn, "t", 0, nullptr), EINVAL);
  EXPECT_EQ(mdb_dbi_open(txn, "", MDB_CREATE, &dbi), MDB_BAD_VALSIZE);
  EXPECT_EQ(mdb_dbi_open(nullptr, "t", 0, &dbi), EINVAL);
  ASSERT_DONE(mdb_open(txn, "t", MDB_CREATE | MDB_DUPSORT, &dbi));
  MDB_dbi again = 0;
  // What is there is what it is.
  ASSERT_DONE(mdb_dbi_open(txn, "t", MDB_CREATE | MDB_INTEGERKEY, &again));
  EXPECT_EQ(again, dbi);
  unsigned flags = 0;
  ASSERT_DONE(mdb_dbi_flags(txn, dbi, &flags));
  EXPECT_EQ(flags, unsigned{MDB_DUPSORT});
  EXPECT_EQ(mdb_dbi_flags(txn, dbi, nullptr), EINVAL);
  EXPECT_EQ(mdb_dbi_flags(txn, 77, &flags), EINVAL);
  EXPECT_DONE(mdb_set_relfunc(txn, dbi, nullptr));
  EXPECT_DONE(mdb_set_relctx(txn, dbi, nullptr));
  EXPECT_EQ(mdb_set_relctx(txn, 77, nullptr), EINVAL);
  ASSERT_DONE(mdb_txn_commit(txn));
  mdb_close(env_, dbi);
  txn = begin(MDB_RDONLY);
  EXPECT_EQ(get(txn, dbi, "a"), strerror(EINVAL));
  ASSERT_DONE(mdb_dbi_open(txn, "t", 0, &dbi));
  mdb_txn_abort(txn);
  mdb_dbi_close(env_, dbi);
  mdb_dbi_close(env_, 77);
}

TEST_F(Tables, AsManyAsWereAskedFor) {
  ASSERT_DONE(mdb_env_create(&env_));
  ASSERT_DONE(mdb_env_open(env_, path_.c_str(), MDB_NOSYNC, 0600));
  MDB_txn* txn = begin();
  MDB_dbi dbi = 0;
  EXPECT_EQ(mdb_dbi_open(txn, "t", MDB_CREATE, &dbi), MDB_DBS_FULL);
  ASSERT_DONE(mdb_dbi_open(txn, nullptr, 0, &dbi));
  mdb_txn_abort(txn);
}

TEST_F(Tables, TheMainTable) {
  open();
  MDB_txn* txn = begin();
  const MDB_dbi main = table(txn, nullptr, 0);
  ASSERT_DONE(put(txn, main, "a", "1"));
  const MDB_dbi named = table(txn, "t");
  // Entries that stand for tables are not to be written.
  EXPECT_EQ(put(txn, main, "t", "x"), MDB_INCOMPATIBLE);
  EXPECT_EQ(del(txn, main, "t"), MDB_INCOMPATIBLE);
  MDB_dbi dbi = 0;
  EXPECT_EQ(mdb_dbi_open(txn, "a", MDB_CREATE, &dbi), MDB_INCOMPATIBLE);
  MDB_stat stat;
  ASSERT_DONE(mdb_stat(txn, main, &stat));
  EXPECT_EQ(stat.ms_entries, 2U);
  ASSERT_DONE(mdb_drop(txn, named, 1));
  EXPECT_EQ(all(txn, main), "a=1 ");
  mdb_txn_abort(txn);
  // With several values of a key there are no names in it.
  txn = begin();
  EXPECT_EQ(table(txn, nullptr, MDB_DUPSORT), main);
  EXPECT_EQ(mdb_dbi_open(txn, "t", MDB_CREATE, &dbi), MDB_INCOMPATIBLE);
  EXPECT_EQ(mdb_dbi_open(txn, "t", 0, &dbi), MDB_NOTFOUND);
  ASSERT_DONE(put(txn, main, "a", "1"));
  ASSERT_DONE(put(txn, main, "a", "2"));
  EXPECT_EQ(all(txn, main), "a=1 a=2 ");
  ASSERT_DONE(mdb_txn_commit(txn));
}

TEST_F(Tables, PutAndGet) {
  open();
  MDB_txn* txn = begin();
  const MDB_dbi dbi = table(txn, "t");
  ASSERT_DONE(put(txn, dbi, "k", "1"));
  MDB_val key = bytes("k");
  MDB_val data = bytes("other");
  EXPECT_EQ(mdb_put(txn, dbi, &key, &data, MDB_NOOVERWRITE), MDB_KEYEXIST);
  EXPECT_EQ(text(data), "1");
  ASSERT_DONE(put(txn, dbi, "k", ""));
  EXPECT_EQ(get(txn, dbi, "k"), "");
  EXPECT_EQ(get(txn, dbi, "none"), "(missing)");
  EXPECT_EQ(put(txn, dbi, "", "x"), MDB_BAD_VALSIZE);
  EXPECT_EQ(get(txn, dbi, ""), mdb_strerror(MDB_BAD_VALSIZE));
  const auto most = static_cast<size_t>(mdb_env_get_maxkeysize(env_));
  EXPECT_DONE(put(txn, dbi, std::string(most, 'k'), "x"));
  EXPECT_EQ(put(txn, dbi, std::string(most + 1, 'k'), "x"), MDB_BAD_VALSIZE);
  EXPECT_EQ(get(txn, dbi, std::string(most + 1, 'k')), "(missing)");
  EXPECT_EQ(del(txn, dbi, std::string(most + 1, 'k')), MDB_NOTFOUND);
  EXPECT_EQ(put(txn, dbi, "k", "x", MDB_CURRENT), EINVAL);
  EXPECT_EQ(put(txn, dbi, "k", "x", MDB_MULTIPLE), EINVAL);
  EXPECT_EQ(put(txn, 77, "k", "x"), EINVAL);
  EXPECT_EQ(mdb_get(txn, dbi, nullptr, &data), EINVAL);
  EXPECT_EQ(mdb_get(txn, dbi, &key, nullptr), EINVAL);
  EXPECT_EQ(mdb_put(txn, dbi, nullptr, &data, 0), EINVAL);
  EXPECT_EQ(mdb_del(txn, dbi, nullptr, nullptr), EINVAL);
  // The value is nothing to look at where there is one.
  EXPECT_DONE(del(txn, dbi, "k", "another"));
  EXPECT_EQ(del(txn, dbi, "k"), MDB_NOTFOUND);
  ASSERT_DONE(mdb_txn_commit(txn));
}

TEST_F(Tables, Append) {
  open();
  MDB_txn* txn = begin();
  const MDB_dbi dbi = table(txn, "t");
  ASSERT_DONE(put(txn, dbi, "b", "1", MDB_APPEND));
  EXPECT_EQ(put(txn, dbi, "b", "2", MDB_APPEND), MDB_KEYEXIST);
  EXPECT_EQ(put(txn, dbi, "a", "2", MDB_APPEND), MDB_KEYEXIST);
  ASSERT_DONE(put(txn, dbi, "c", "3", MDB_APPEND));
  EXPECT_EQ(all(txn, dbi), "b=1 c=3 ");
  const MDB_dbi several = table(txn, "d", MDB_CREATE | MDB_DUPSORT);
  ASSERT_DONE(put(txn, several, "k", "1", MDB_APPENDDUP));
  ASSERT_DONE(put(txn, several, "k", "2", MDB_APPENDDUP));
  EXPECT_EQ(put(txn, several, "k", "1", MDB_APPENDDUP), MDB_KEYEXIST);
  mdb_txn_abort(txn);
}

TEST_F(Tables, Reserve) {
  open();
  MDB_txn* txn = begin();
  const MDB_dbi dbi = table(txn, "t");
  MDB_val key = bytes("k");
  MDB_val data{5, nullptr};
  ASSERT_DONE(mdb_put(txn, dbi, &key, &data, MDB_RESERVE));
  ASSERT_EQ(data.mv_size, 5U);
  memcpy(data.mv_data, "12345", 5);
  EXPECT_EQ(get(txn, dbi, "k"), "12345");
  EXPECT_EQ(put(txn, table(txn, "d", MDB_CREATE | MDB_DUPSORT), "k", "1", MDB_RESERVE),
            MDB_INCOMPATIBLE);
  ASSERT_DONE(mdb_txn_commit(txn));
}

TEST_F(Tables, SeveralValues) {
  open();
  MDB_txn* txn = begin();
  const MDB_dbi dbi = table(txn, "t", MDB_CREATE | MDB_DUPSORT);
  for (const char* value : {"2", "1", "3", "2"}) ASSERT_DONE(put(txn, dbi, "k", value));
  ASSERT_DONE(put(txn, dbi, "l", "1"));
  EXPECT_EQ(get(txn, dbi, "k"), "1");
  EXPECT_EQ(put(txn, dbi, "k", "3", MDB_NODUPDATA), MDB_KEYEXIST);
  EXPECT_EQ(put(txn, dbi, "k", "9", MDB_NOOVERWRITE), MDB_KEYEXIST);
  EXPECT_EQ(put(txn, dbi, "k", std::string(16001, 'v')), MDB_BAD_VALSIZE);
  ASSERT_DONE(del(txn, dbi, "k", "2"));
  EXPECT_EQ(del(txn, dbi, "k", "2"), MDB_NOTFOUND);
  MDB_stat stat;
  ASSERT_DONE(mdb_stat(txn, dbi, &stat));
  EXPECT_EQ(stat.ms_entries, 3U);
  EXPECT_EQ(mdb_stat(txn, dbi, nullptr), EINVAL);
  EXPECT_EQ(mdb_stat(txn, 77, &stat), EINVAL);
  ASSERT_DONE(del(txn, dbi, "k"));
  EXPECT_EQ(all(txn, dbi), "l=1 ");
  ASSERT_DONE(mdb_txn_commit(txn));
}

TEST_F(Tables, OrdersOfFlags) {
  open();
  MDB_txn* txn = begin();
  const MDB_dbi from_end = table(txn, "r", MDB_CREATE | MDB_REVERSEKEY);
  for (const char* key : {"az", "by", "cx"}) ASSERT_DONE(put(txn, from_end, key, "1"));
  EXPECT_EQ(all(txn, from_end), "cx=1 by=1 az=1 ");
  const MDB_dbi integers = table(txn, "i", MDB_CREATE | MDB_INTEGERKEY);
  for (uint32_t key : {256U, 1U, 70000U}) {
    ASSERT_DONE(put(txn, integers, number(key), std::to_string(key)));
  }
  EXPECT_EQ(all(txn, integers),
            number(1) + "=1 " + number(256) + "=256 " + number(70000) + "=70000 ");
  EXPECT_EQ(put(txn, integers, "abc", "1"), MDB_BAD_VALSIZE);
  const unsigned of_values = MDB_CREATE | MDB_DUPSORT | MDB_DUPFIXED;
  const MDB_dbi numbers = table(txn, "n", of_values | MDB_INTEGERDUP);
  for (uint32_t value : {256U, 1U}) ASSERT_DONE(put(txn, numbers, "k", number(value)));
  EXPECT_EQ(all(txn, numbers), "k=" + number(1) + " k=" + number(256) + " ");
  const MDB_dbi values_from_end = table(txn, "v", MDB_CREATE | MDB_DUPSORT | MDB_REVERSEDUP);
  for (const char* value : {"az", "by"}) ASSERT_DONE(put(txn, values_from_end, "k", value));
  EXPECT_EQ(all(txn, values_from_end), "k=by k=az ");
  MDB_val a = bytes("az");
  MDB_val b = bytes("by");
  EXPECT_GT(mdb_cmp(txn, from_end, &a, &b), 0);
  EXPECT_GT(mdb_dcmp(txn, values_from_end, &a, &b), 0);
  EXPECT_LT(mdb_cmp(txn, values_from_end, &a, &b), 0);
  EXPECT_EQ(mdb_cmp(txn, 77, &a, &b), 0);
  EXPECT_EQ(mdb_dcmp(txn, 77, &a, &b), 0);
  ASSERT_DONE(mdb_txn_commit(txn));
  // Flags that mean nothing without others are taken.
  txn = begin();
  EXPECT_DONE(put(txn, table(txn, "x", MDB_CREATE | MDB_DUPFIXED | MDB_REVERSEDUP), "a", "1"));
  EXPECT_DONE(put(txn, table(txn, "y", MDB_CREATE | MDB_DUPSORT | MDB_INTEGERDUP), "a", number(1)));
  ASSERT_DONE(mdb_txn_commit(txn));
}

TEST_F(Tables, DropEmptiesAndDeletes) {
  open();
  MDB_txn* txn = begin();
  const MDB_dbi dbi = table(txn, "t");
  ASSERT_DONE(put(txn, dbi, "a", "1"));
  ASSERT_DONE(mdb_txn_commit(txn));
  txn = begin();
  EXPECT_EQ(mdb_drop(txn, dbi, 2), EINVAL);
  EXPECT_EQ(mdb_drop(txn, 77, 0), EINVAL);
  ASSERT_DONE(mdb_drop(txn, dbi, 0));
  EXPECT_EQ(all(txn, dbi), "");
  ASSERT_DONE(mdb_txn_commit(txn));
  txn = begin();
  ASSERT_DONE(mdb_drop(txn, dbi, 1));
  EXPECT_EQ(get(txn, dbi, "a"), strerror(EINVAL));
  EXPECT_EQ(mdb_drop(txn, dbi, 1), EINVAL);
  ASSERT_DONE(mdb_txn_commit(txn));
  txn = begin(MDB_RDONLY);
  MDB_dbi none = 0;
  EXPECT_EQ(mdb_dbi_open(txn, "t", 0, &none), MDB_NOTFOUND);
  mdb_txn_abort(txn);
}

TEST_F(Tables, OrdersOfAProgram) {
  open();
  MDB_txn* txn = begin();
  const MDB_dbi dbi = table(txn, "t", MDB_CREATE | MDB_DUPSORT);
  ASSERT_DONE(mdb_set_compare(txn, dbi, backwards));
  ASSERT_DONE(mdb_set_dupsort(txn, dbi, backwards));
  ASSERT_DONE(mdb_set_dupsort(txn, dbi, backwards));
  for (const char* key : {"a", "c", "b"}) {
    for (const char* value : {"1", "2"}) ASSERT_DONE(put(txn, dbi, key, value));
  }
  EXPECT_EQ(all(txn, dbi), "c=2 c=1 b=2 b=1 a=2 a=1 ");
  EXPECT_EQ(mdb_set_compare(txn, dbi, nullptr), EINVAL);
  EXPECT_EQ(mdb_set_compare(txn, 77, backwards), EINVAL);
  ASSERT_DONE(mdb_txn_commit(txn));
  reopen();
  txn = begin(MDB_RDONLY);
  EXPECT_EQ(table(txn, "t", 0), dbi);
  EXPECT_EQ(get(txn, dbi, "a"), mdb_strerror(MDB_INCOMPATIBLE));
  MDB_cursor* walk = nullptr;
  EXPECT_EQ(mdb_cursor_open(txn, dbi, &walk), MDB_INCOMPATIBLE);
  EXPECT_EQ(mdb_set_compare(txn, dbi, backwards), MDB_INCOMPATIBLE);  // that of values is missing
  ASSERT_DONE(mdb_set_dupsort(txn, dbi, backwards));
  EXPECT_EQ(all(txn, dbi), "c=2 c=1 b=2 b=1 a=2 a=1 ");
  EXPECT_EQ(get(txn, dbi, "a"), "2");
  mdb_txn_abort(txn);
  // It stays with the handle.
  txn = begin();
  ASSERT_DONE(put(txn, dbi, "bb", "1"));
  EXPECT_EQ(all(txn, dbi), "c=2 c=1 bb=1 b=2 b=1 a=2 a=1 ");
  ASSERT_DONE(mdb_txn_commit(txn));
}

TEST_F(Tables, OrdersThatComeTooLate) {
  open();
  MDB_txn* txn = begin();
  const MDB_dbi full = table(txn, "full");
  ASSERT_DONE(put(txn, full, "a", "1"));
  EXPECT_EQ(mdb_set_compare(txn, full, backwards), MDB_INCOMPATIBLE);
  mdb_txn_abort(txn);
  txn = begin();
  const MDB_dbi empty = table(txn, "empty");
  ASSERT_DONE(mdb_txn_commit(txn));
  // Set by a reader, it is there for who writes first.
  txn = begin(MDB_RDONLY);
  ASSERT_DONE(mdb_set_compare(txn, empty, backwards));
  ASSERT_DONE(mdb_set_dupsort(txn, empty, backwards));  // nothing is sorted by it
  mdb_txn_abort(txn);
  txn = begin();
  for (const char* key : {"a", "c", "b"}) ASSERT_DONE(put(txn, empty, key, "1"));
  EXPECT_EQ(all(txn, empty), "c=1 b=1 a=1 ");
  ASSERT_DONE(mdb_txn_commit(txn));
}

// As mdb_load has one: what is put is behind all others.
int greater(const MDB_val*, const MDB_val*) { return 1; }

TEST_F(Tables, WhatIsNoOrder) {
  open();
  MDB_txn* txn = begin();
  const MDB_dbi dbi = table(txn, "t", MDB_CREATE | MDB_DUPSORT);
  ASSERT_DONE(mdb_set_compare(txn, dbi, greater));
  ASSERT_DONE(mdb_set_dupsort(txn, dbi, greater));
  MDB_cursor* at = cursor(txn, dbi);
  ASSERT_DONE(put(at, "a", "1", MDB_APPEND));
  ASSERT_DONE(put(at, "a", "2", MDB_CURRENT | MDB_APPENDDUP));
  ASSERT_DONE(put(at, "b", "1", MDB_APPEND));
  mdb_cursor_close(at);
  ASSERT_DONE(mdb_txn_commit(txn));
  reopen();
  txn = begin(MDB_RDONLY);
  EXPECT_EQ(all(txn, table(txn, "t", 0)), "a=1 a=2 b=1 ");
  mdb_txn_abort(txn);
}

TEST_F(Tables, OrdersThatAreSetBesideCursors) {
  open();
  MDB_txn* txn = begin();
  const MDB_dbi dbi = table(txn, "t");
  MDB_cursor* first = cursor(txn, dbi);
  MDB_cursor* second = cursor(txn, dbi);
  EXPECT_EQ(move(first, MDB_FIRST), "(missing)");
  ASSERT_DONE(mdb_set_compare(txn, dbi, backwards));
  MDB_val a = bytes("a");
  MDB_val b = bytes("b");
  EXPECT_GT(mdb_cmp(txn, dbi, &a, &b), 0);
  ASSERT_DONE(put(second, "a", "1"));
  ASSERT_DONE(put(txn, dbi, "b", "2"));
  EXPECT_EQ(move(first, MDB_NEXT), "b=2");
  EXPECT_EQ(move(second, MDB_PREV), "b=2");
  ASSERT_DONE(mdb_txn_commit(txn));
}

}  // namespace
}  // namespace hawthorn::lmdb
