// The functions of cursors.

#include <cstring>

#include "shims/mdbx/src/lmdb/lmdb_test_support.h"

namespace hawthorn::lmdb {
namespace {

class Cursors : public Environments {
 protected:
  // A table with one value of each of a, b, c; and one with several.
  void fill() {
    open();
    txn_ = begin();
    one_ = table(txn_, "one");
    several_ = table(txn_, "several", MDB_CREATE | MDB_DUPSORT);
    for (const char* key : {"a", "b", "c"}) {
      ASSERT_DONE(put(txn_, one_, key, "1"));
      for (const char* value : {"1", "2", "3"}) {
        const bool wanted = key[0] != 'b' || value[0] == '1';
        ASSERT_DONE(wanted ? put(txn_, several_, key, value) : MDB_SUCCESS);
      }
    }
  }
  void TearDown() override {
    if (txn_ != nullptr) mdb_txn_abort(txn_);
  }

  MDB_txn* txn_ = nullptr;
  MDB_dbi one_ = 0;
  MDB_dbi several_ = 0;
};

TEST_F(Cursors, Steps) {
  fill();
  MDB_cursor* at = cursor(txn_, one_);
  EXPECT_EQ(mdb_cursor_txn(at), txn_);
  EXPECT_EQ(mdb_cursor_dbi(at), one_);
  EXPECT_EQ(move(at, MDB_GET_CURRENT), "(invalid)");
  EXPECT_EQ(move(at, MDB_NEXT), "a=1");
  EXPECT_EQ(move(at, MDB_PREV), "(missing)");
  EXPECT_EQ(move(at, MDB_GET_CURRENT), "a=1");
  EXPECT_EQ(move(at, MDB_LAST), "c=1");
  EXPECT_EQ(move(at, MDB_NEXT), "(missing)");
  EXPECT_EQ(move(at, MDB_GET_CURRENT), "c=1");
  EXPECT_EQ(move(at, MDB_PREV), "b=1");
  EXPECT_EQ(move(at, MDB_FIRST), "a=1");
  EXPECT_EQ(move(at, MDB_FIRST_DUP), mdb_strerror(MDB_INCOMPATIBLE));
  EXPECT_EQ(move(at, MDB_GET_BOTH, "a", "1"), mdb_strerror(MDB_INCOMPATIBLE));
  size_t count = 0;
  EXPECT_EQ(mdb_cursor_count(at, &count), MDB_INCOMPATIBLE);
  mdb_cursor_close(at);
  at = cursor(txn_, one_);
  EXPECT_EQ(move(at, MDB_PREV), "c=1");
  MDB_val key;
  MDB_val data;
  EXPECT_EQ(mdb_cursor_get(nullptr, &key, &data, MDB_FIRST), EINVAL);
  EXPECT_EQ(mdb_cursor_get(at, &key, &data, static_cast<MDB_cursor_op>(77)), EINVAL);
  EXPECT_EQ(mdb_cursor_get(at, nullptr, &data, MDB_SET), EINVAL);
  EXPECT_EQ(mdb_cursor_open(txn_, 77, &at), EINVAL);
  EXPECT_EQ(mdb_cursor_open(txn_, one_, nullptr), EINVAL);
  EXPECT_EQ(mdb_cursor_open(nullptr, one_, &at), EINVAL);
  mdb_cursor_close(nullptr);
}

TEST_F(Cursors, StepsAmongSeveralValues) {
  fill();
  MDB_cursor* at = cursor(txn_, several_);
  EXPECT_EQ(move(at, MDB_FIRST), "a=1");
  EXPECT_EQ(move(at, MDB_NEXT_DUP), "a=2");
  EXPECT_EQ(move(at, MDB_LAST_DUP, "a"), "a=3");
  EXPECT_EQ(move(at, MDB_NEXT_DUP), "(missing)");
  EXPECT_EQ(move(at, MDB_PREV_DUP), "a=2");
  EXPECT_EQ(move(at, MDB_FIRST_DUP, "a"), "a=1");
  EXPECT_EQ(move(at, MDB_PREV_DUP), "(missing)");
  EXPECT_EQ(move(at, MDB_NEXT_NODUP), "b=1");
  EXPECT_EQ(move(at, MDB_NEXT_DUP), "(missing)");
  EXPECT_EQ(move(at, MDB_NEXT), "c=1");
  EXPECT_EQ(move(at, MDB_NEXT_NODUP), "(missing)");
  EXPECT_EQ(move(at, MDB_GET_CURRENT), "c=1");
  EXPECT_EQ(move(at, MDB_PREV_NODUP), "b=1");
  EXPECT_EQ(move(at, MDB_PREV_NODUP), "a=3");
  EXPECT_EQ(move(at, MDB_PREV_NODUP), "(missing)");
  EXPECT_EQ(move(at, MDB_GET_CURRENT), "a=3");
  size_t count = 0;
  EXPECT_DONE(mdb_cursor_count(at, &count));
  EXPECT_EQ(count, 3U);
  EXPECT_EQ(mdb_cursor_count(at, nullptr), EINVAL);
  MDB_cursor* fresh = cursor(txn_, several_);
  EXPECT_EQ(mdb_cursor_count(fresh, &count), EINVAL);
  EXPECT_EQ(move(fresh, MDB_FIRST_DUP), "(invalid)");
}

TEST_F(Cursors, Seeks) {
  fill();
  MDB_cursor* at = cursor(txn_, several_);
  EXPECT_EQ(move(at, MDB_SET, "c"), "c=1");
  EXPECT_EQ(move(at, MDB_SET_KEY, "b"), "b=1");
  EXPECT_EQ(move(at, MDB_SET, "bb"), "(missing)");
  EXPECT_EQ(move(at, MDB_SET_RANGE, "bb"), "c=1");
  EXPECT_EQ(move(at, MDB_SET_RANGE, "d"), "(missing)");
  EXPECT_EQ(move(at, MDB_GET_CURRENT), "(missing)");
  size_t count = 0;
  EXPECT_EQ(mdb_cursor_count(at, &count), MDB_NOTFOUND);
  EXPECT_EQ(mdb_cursor_del(at, 0), MDB_NOTFOUND);
  EXPECT_EQ(move(at, MDB_PREV), "c=3");
  EXPECT_EQ(move(at, MDB_SET, ""), mdb_strerror(MDB_BAD_VALSIZE));
  EXPECT_EQ(move(at, MDB_GET_BOTH, "a", "2"), "a=2");
  EXPECT_EQ(move(at, MDB_GET_BOTH, "a", "4"), "(missing)");
  EXPECT_EQ(move(at, MDB_GET_BOTH_RANGE, "a", "11"), "a=2");
  EXPECT_EQ(move(at, MDB_GET_BOTH_RANGE, "a", "4"), "(missing)");
  // MDB_SET leaves the key as the caller has it.
  const std::string asked = "a";
  MDB_val key = bytes(asked);
  MDB_val data;
  ASSERT_DONE(mdb_cursor_get(at, &key, &data, MDB_SET));
  EXPECT_EQ(key.mv_data, asked.data());
  ASSERT_DONE(mdb_cursor_get(at, &key, &data, MDB_SET_KEY));
  EXPECT_NE(key.mv_data, asked.data());
}

TEST_F(Cursors, Puts) {
  fill();
  MDB_cursor* at = cursor(txn_, one_);
  EXPECT_EQ(put(at, "a", "2", MDB_CURRENT), EINVAL);
  ASSERT_DONE(put(at, "bb", "2"));
  EXPECT_EQ(move(at, MDB_GET_CURRENT), "bb=2");
  EXPECT_EQ(move(at, MDB_NEXT), "c=1");
  EXPECT_EQ(put(at, "a", "9", MDB_NOOVERWRITE), MDB_KEYEXIST);
  EXPECT_EQ(move(at, MDB_GET_CURRENT), "a=1");
  ASSERT_DONE(put(at, "a", "5", MDB_CURRENT));
  EXPECT_EQ(put(at, "b", "5", MDB_CURRENT), EINVAL);
  EXPECT_EQ(put(at, "b", "5", MDB_APPEND), MDB_KEYEXIST);
  EXPECT_EQ(put(at, "b", "5", 0x1), EINVAL);
  EXPECT_EQ(put(at, "", "5"), MDB_BAD_VALSIZE);
  MDB_val key = bytes("r");
  MDB_val data{3, nullptr};
  ASSERT_DONE(mdb_cursor_put(at, &key, &data, MDB_RESERVE));
  memcpy(data.mv_data, "xyz", 3);
  EXPECT_EQ(mdb_cursor_put(at, nullptr, &data, 0), EINVAL);
  EXPECT_EQ(mdb_cursor_put(at, &key, nullptr, 0), EINVAL);
  EXPECT_EQ(all(txn_, one_), "a=5 b=1 bb=2 c=1 r=xyz ");
}

TEST_F(Cursors, PutsOfSeveralValues) {
  fill();
  MDB_cursor* at = cursor(txn_, several_);
  EXPECT_EQ(move(at, MDB_GET_BOTH, "a", "2"), "a=2");
  ASSERT_DONE(put(at, "a", "4", MDB_CURRENT));
  EXPECT_EQ(put(at, "a", "3", MDB_NODUPDATA), MDB_KEYEXIST);
  EXPECT_EQ(move(at, MDB_GET_CURRENT), "a=3");
  EXPECT_EQ(put(at, "a", "3", MDB_APPENDDUP), MDB_KEYEXIST);
  // As mdb_load puts them: to append a value is not to replace one.
  ASSERT_DONE(put(at, "a", "5", MDB_CURRENT | MDB_APPENDDUP));
  EXPECT_EQ(all(txn_, several_), "a=1 a=3 a=4 a=5 b=1 c=1 c=2 c=3 ");
}

TEST_F(Cursors, Deletes) {
  fill();
  MDB_cursor* at = cursor(txn_, one_);
  MDB_cursor* other = cursor(txn_, one_);
  EXPECT_EQ(mdb_cursor_del(at, 0), EINVAL);
  EXPECT_EQ(move(at, MDB_SET, "b"), "b=1");
  EXPECT_EQ(move(other, MDB_SET, "b"), "b=1");
  ASSERT_DONE(mdb_cursor_del(at, 0));
  EXPECT_EQ(move(other, MDB_NEXT), "c=1");
  EXPECT_EQ(move(at, MDB_GET_CURRENT), "c=1");
  ASSERT_DONE(mdb_cursor_del(at, 0));
  // Behind the last one there is nothing to delete.
  EXPECT_EQ(move(at, MDB_NEXT), "(missing)");
  EXPECT_EQ(mdb_cursor_del(at, 0), MDB_NOTFOUND);
  EXPECT_EQ(move(at, MDB_PREV), "a=1");
  EXPECT_EQ(all(txn_, one_), "a=1 ");
}

TEST_F(Cursors, DeletesOfSeveralValues) {
  fill();
  MDB_cursor* at = cursor(txn_, several_);
  EXPECT_EQ(move(at, MDB_GET_BOTH, "a", "3"), "a=3");
  ASSERT_DONE(mdb_cursor_del(at, 0));
  EXPECT_EQ(move(at, MDB_FIRST_DUP, "a"), "a=1");
  EXPECT_EQ(move(at, MDB_NEXT_DUP), "a=2");
  ASSERT_DONE(mdb_cursor_del(at, 0));
  // The value is gone, the key is not.
  ASSERT_DONE(mdb_cursor_del(at, MDB_NODUPDATA));
  EXPECT_EQ(move(at, MDB_NEXT), "b=1");
  size_t count = 0;
  ASSERT_DONE(mdb_cursor_del(at, 0));
  EXPECT_DONE(mdb_cursor_count(at, &count));
  EXPECT_EQ(count, 3U);
  ASSERT_DONE(mdb_cursor_del(at, MDB_NODUPDATA));
  EXPECT_EQ(all(txn_, several_), "");
}

TEST_F(Cursors, Multiple) {
  open();
  txn_ = begin();
  const MDB_dbi dbi = table(txn_, "t", MDB_CREATE | MDB_DUPSORT | MDB_DUPFIXED);
  MDB_cursor* at = cursor(txn_, dbi);
  // Ten values each of four bytes, in one call; a second one has two that are there.
  const std::string values = "0000000100020003000400050006000700080009";
  MDB_val key = bytes("k");
  MDB_val data[2] = {{4, const_cast<char*>(values.data())}, {10, nullptr}};
  ASSERT_DONE(mdb_cursor_put(at, &key, data, MDB_MULTIPLE));
  EXPECT_EQ(data[1].mv_size, 10U);
  MDB_val got;
  EXPECT_EQ(mdb_cursor_get(cursor(txn_, dbi), &key, &got, MDB_GET_MULTIPLE), EINVAL);
  ASSERT_DONE(mdb_cursor_get(at, &key, &got, MDB_SET_KEY));
  ASSERT_DONE(mdb_cursor_get(at, &key, &got, MDB_GET_MULTIPLE));
  EXPECT_EQ(text(got), values);
  EXPECT_EQ(mdb_cursor_get(at, &key, &got, MDB_NEXT_MULTIPLE), MDB_NOTFOUND);
  // More than a page has.
  std::string many;
  for (int i = 0; i < 3000; ++i) many += std::to_string(i + 10000).substr(1);
  key = bytes("l");
  data[0] = {4, many.data()};
  data[1] = {3000, nullptr};
  ASSERT_DONE(mdb_cursor_put(at, &key, data, MDB_MULTIPLE));
  EXPECT_EQ(data[1].mv_size, 3000U);
  ASSERT_DONE(mdb_cursor_get(at, &key, &got, MDB_SET_KEY));
  std::string read;
  int code = mdb_cursor_get(at, &key, &got, MDB_GET_MULTIPLE);
  for (; code == MDB_SUCCESS; code = mdb_cursor_get(at, &key, &got, MDB_NEXT_MULTIPLE)) {
    EXPECT_LE(got.mv_size, 4096U);
    read += text(got);
  }
  EXPECT_EQ(code, MDB_NOTFOUND);
  EXPECT_EQ(read, many);
  // And back: all of the page of the last one, and so on.
  ASSERT_DONE(mdb_cursor_get(at, &key, &got, MDB_LAST_DUP));
  std::string back;
  code = mdb_cursor_get(at, &key, &got, MDB_GET_MULTIPLE);
  EXPECT_GT(got.mv_size, 4U);
  for (; code == MDB_SUCCESS; code = mdb_cursor_get(at, &key, &got, MDB_PREV_MULTIPLE)) {
    back = text(got) + back;
  }
  EXPECT_EQ(code, MDB_NOTFOUND);
  EXPECT_EQ(back, many);
  EXPECT_EQ(mdb_cursor_put(cursor(txn_, table(txn_, "d", MDB_CREATE | MDB_DUPSORT)), &key, data,
                           MDB_MULTIPLE),
            MDB_INCOMPATIBLE);
  EXPECT_EQ(data[1].mv_size, 0U);
}

TEST_F(Cursors, OfReadersCanBeRenewed) {
  fill();
  ASSERT_DONE(mdb_txn_commit(std::exchange(txn_, nullptr)));
  MDB_txn* reader = begin(MDB_RDONLY);
  MDB_cursor* at = cursor(reader, one_);
  EXPECT_EQ(move(at, MDB_LAST), "c=1");
  mdb_txn_reset(reader);
  EXPECT_EQ(move(at, MDB_NEXT), mdb_strerror(MDB_BAD_TXN));
  ASSERT_DONE(mdb_txn_renew(reader));
  ASSERT_DONE(mdb_cursor_renew(reader, at));
  EXPECT_EQ(move(at, MDB_NEXT), "a=1");
  ASSERT_DONE(mdb_cursor_renew(reader, at));
  EXPECT_EQ(move(at, MDB_NEXT), "a=1");
  mdb_txn_abort(reader);
  // It outlives its transaction, and goes on with another one.
  reader = begin(MDB_RDONLY);
  ASSERT_DONE(mdb_cursor_renew(reader, at));
  EXPECT_EQ(move(at, MDB_SET, "b"), "b=1");
  EXPECT_EQ(mdb_cursor_renew(nullptr, at), EINVAL);
  EXPECT_EQ(mdb_cursor_renew(reader, nullptr), EINVAL);
  mdb_txn_abort(reader);
  mdb_cursor_close(at);
  txn_ = begin();
  at = cursor(txn_, one_);
  EXPECT_EQ(mdb_cursor_renew(txn_, at), EINVAL);
}

}  // namespace
}  // namespace hawthorn::lmdb
