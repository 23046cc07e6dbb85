// What each flag of a put, of a delete and of a table means.

#include <cstring>

#include "shims/mdbx/src/mdbx_test_support.h"

namespace hawthorn::mdbx {
namespace {

class Flags : public Environments {
 protected:
  void fill(unsigned shape, std::string_view pairs) {
    open();
    txn_ = begin();
    dbi_ = table(txn_, "t", shape | MDBX_CREATE);
    for (size_t i = 0; i + 1 < pairs.size(); i += 3) {
      ASSERT_DONE(put(pairs.substr(i, 1), pairs.substr(i + 1, 1)));
    }
  }
  ~Flags() override {
    if (txn_ != nullptr) mdbx_txn_abort(txn_);
  }
  int put(std::string_view key, std::string_view value, unsigned flags = MDBX_UPSERT) {
    return Environments::put(txn_, dbi_, key, value, flags);
  }
  std::string all() { return Environments::all(txn_, dbi_); }

  MDBX_txn* txn_ = nullptr;
  MDBX_dbi dbi_ = 0;
};

TEST_F(Flags, UpsertReplacesOrAdds) {
  fill(0, "a1 b2");
  ASSERT_DONE(put("a", "x"));
  ASSERT_DONE(put("c", "3"));
  EXPECT_EQ(all(), "a=x b=2 c=3 ");
}

TEST_F(Flags, NoOverwriteGivesWhatIsThere) {
  fill(MDBX_DUPSORT, "a1 a2");
  const MDBX_val key = bytes("a");
  MDBX_val value = bytes("9");
  EXPECT_EQ(mdbx_put(txn_, dbi_, &key, &value, MDBX_NOOVERWRITE), MDBX_KEYEXIST);
  EXPECT_EQ(text(value), "1");
  ASSERT_DONE(put("b", "1", MDBX_NOOVERWRITE));
  EXPECT_EQ(all(), "a=1 a=2 b=1 ");
}

TEST_F(Flags, NoDupDataRefusesThePairOnly) {
  fill(MDBX_DUPSORT, "a1 a2");
  EXPECT_EQ(put("a", "2", MDBX_NODUPDATA), MDBX_KEYEXIST);
  ASSERT_DONE(put("a", "3", MDBX_NODUPDATA));
  EXPECT_EQ(all(), "a=1 a=2 a=3 ");
}

TEST_F(Flags, CurrentReplacesAndDoesNotAdd) {
  fill(MDBX_DUPSORT, "a1 b1 b2");
  EXPECT_EQ(put("c", "9", MDBX_CURRENT), MDBX_NOTFOUND);
  ASSERT_DONE(put("a", "9", MDBX_CURRENT));
  EXPECT_EQ(put("b", "9", MDBX_CURRENT | MDBX_NOOVERWRITE), MDBX_EMULTIVAL);
  EXPECT_EQ(put("a", "9", MDBX_CURRENT | MDBX_NOOVERWRITE), MDBX_EINVAL);
  ASSERT_DONE(put("b", "9", MDBX_CURRENT | MDBX_ALLDUPS));
  EXPECT_EQ(all(), "a=9 b=9 ");
}

TEST_F(Flags, AllDupsReplacesAllValues) {
  fill(MDBX_DUPSORT, "a1 b1 b2");
  ASSERT_DONE(put("b", "9", MDBX_ALLDUPS));
  ASSERT_DONE(put("a", "9", MDBX_ALLDUPS));
  ASSERT_DONE(put("c", "9", MDBX_ALLDUPS));
  EXPECT_EQ(all(), "a=9 b=9 c=9 ");
}

TEST_F(Flags, ReserveIsFilledByTheCaller) {
  fill(0, "a1 b2");
  MDBX_cursor* cursor = nullptr;
  ASSERT_DONE(mdbx_cursor_open(txn_, dbi_, &cursor));
  MDBX_val key = bytes("a");
  MDBX_val value{};
  ASSERT_DONE(mdbx_cursor_get(cursor, &key, &value, MDBX_SET_KEY));
  value = bytes("");
  value.iov_len = 5;
  const MDBX_val reserved = bytes("a");
  ASSERT_DONE(mdbx_put(txn_, dbi_, &reserved, &value, MDBX_RESERVE));
  ASSERT_EQ(value.iov_len, 5U);
  memcpy(value.iov_base, "12345", 5);
  // Also a cursor that has been there sees it.
  ASSERT_DONE(mdbx_cursor_get(cursor, &key, &value, MDBX_GET_CURRENT));
  EXPECT_EQ(text(value), "12345");
  mdbx_cursor_close(cursor);
  EXPECT_EQ(all(), "a=12345 b=2 ");
}

TEST_F(Flags, ReserveIsForOneValueToAKey) {
  fill(MDBX_DUPSORT | MDBX_DUPFIXED, "");
  ASSERT_DONE(put("a", "11"));
  EXPECT_EQ(put("a", "22", MDBX_RESERVE), MDBX_INCOMPATIBLE);
  EXPECT_EQ(put("a", "22", MDBX_RESERVE | MDBX_MULTIPLE), MDBX_EINVAL);
}

TEST_F(Flags, AppendIsBehindAllKeys) {
  fill(0, "b1");
  EXPECT_EQ(put("a", "1", MDBX_APPEND), MDBX_EKEYMISMATCH);
  ASSERT_DONE(put("c", "1", MDBX_APPEND));
  ASSERT_DONE(put("c", "2", MDBX_APPEND));
  EXPECT_EQ(all(), "b=1 c=2 ");
}

TEST_F(Flags, AppendDupIsBehindAllValues) {
  fill(MDBX_DUPSORT, "a1 a3 b9");
  EXPECT_EQ(put("a", "2", MDBX_APPENDDUP), MDBX_EKEYMISMATCH);
  EXPECT_EQ(put("b", "9", MDBX_APPENDDUP), MDBX_EKEYMISMATCH);
  ASSERT_DONE(put("a", "3", MDBX_APPENDDUP));
  ASSERT_DONE(put("a", "4", MDBX_APPENDDUP));
  EXPECT_EQ(all(), "a=1 a=3 a=4 b=9 ");
}

TEST_F(Flags, MultiplePutsManyValues) {
  fill(MDBX_DUPSORT | MDBX_DUPFIXED, "");
  const MDBX_val key = bytes("k");
  MDBX_val values[2] = {bytes("1234"), bytes("")};
  values[0].iov_len = 2;
  values[1].iov_len = 2;
  ASSERT_DONE(mdbx_put(txn_, dbi_, &key, values, MDBX_MULTIPLE));
  EXPECT_EQ(values[1].iov_len, 2U);
  EXPECT_EQ(all(), "k=12 k=34 ");
  // It tells how many are done where one is refused.
  values[0] = bytes("563478");
  values[0].iov_len = 2;
  values[1].iov_len = 3;
  EXPECT_EQ(mdbx_put(txn_, dbi_, &key, values, MDBX_MULTIPLE | MDBX_NODUPDATA), MDBX_KEYEXIST);
  EXPECT_EQ(values[1].iov_len, 1U);
  EXPECT_EQ(all(), "k=12 k=34 k=56 ");
  const MDBX_dbi other = table(txn_, "other", MDBX_CREATE | MDBX_DUPSORT);
  EXPECT_EQ(mdbx_put(txn_, other, &key, values, MDBX_MULTIPLE), MDBX_INCOMPATIBLE);
}

TEST_F(Flags, ReplaceGivesTheValueBefore) {
  fill(0, "a1");
  char old[8] = {};
  MDBX_val value = bytes("2");
  const MDBX_val key = bytes("a");
  MDBX_val before = {old, sizeof(old)};
  ASSERT_DONE(mdbx_replace(txn_, dbi_, &key, &value, &before, MDBX_UPSERT));
  EXPECT_EQ(text(before), "1");
  before = {old, 0};
  EXPECT_EQ(mdbx_replace(txn_, dbi_, &key, &value, &before, MDBX_NOOVERWRITE), MDBX_KEYEXIST);
  MDBX_val longer = bytes("longer");
  before = {old, 0};
  EXPECT_EQ(mdbx_replace(txn_, dbi_, &key, &longer, &before, MDBX_UPSERT), MDBX_RESULT_TRUE);
  EXPECT_EQ(before.iov_len, 1U);
  before = {old, sizeof(old)};
  ASSERT_DONE(mdbx_replace(txn_, dbi_, &key, nullptr, &before, MDBX_CURRENT));
  EXPECT_EQ(text(before), "2");
  EXPECT_EQ(all(), "");
  EXPECT_EQ(mdbx_replace(txn_, dbi_, &key, nullptr, &before, MDBX_CURRENT), MDBX_NOTFOUND);
}

TEST_F(Flags, ReplaceChoosesAmongValues) {
  fill(MDBX_DUPSORT, "a1 a2 a3");
  const MDBX_val key = bytes("a");
  MDBX_val value = bytes("9");
  MDBX_val which = bytes("2");
  const auto choose = static_cast<MDBX_put_flags_t>(MDBX_CURRENT | MDBX_NOOVERWRITE);
  ASSERT_DONE(mdbx_replace(txn_, dbi_, &key, &value, &which, choose));
  EXPECT_EQ(all(), "a=1 a=3 a=9 ");
  which = bytes("2");
  EXPECT_EQ(mdbx_replace(txn_, dbi_, &key, &value, &which, choose), MDBX_NOTFOUND);
  which = bytes("3");
  ASSERT_DONE(mdbx_replace(txn_, dbi_, &key, nullptr, &which, choose));
  EXPECT_EQ(all(), "a=1 a=9 ");
  char old[8];
  MDBX_val before = {old, sizeof(old)};
  EXPECT_EQ(mdbx_replace(txn_, dbi_, &key, &value, &before, MDBX_CURRENT), MDBX_EMULTIVAL);
}

int keep_in_string(void* context, MDBX_val* target, const void* source, size_t size) {
  static_cast<std::string*>(context)->assign(static_cast<const char*>(source), size);
  target->iov_len = size;
  return MDBX_SUCCESS;
}

TEST_F(Flags, ReplaceExHasTheOldValueKept) {
  fill(0, "a1");
  const MDBX_val key = bytes("a");
  MDBX_val value = bytes("2");
  MDBX_val before{};
  std::string kept;
  ASSERT_DONE(
      mdbx_replace_ex(txn_, dbi_, &key, &value, &before, MDBX_UPSERT, keep_in_string, &kept));
  EXPECT_EQ(kept, "1");
  EXPECT_EQ(all(), "a=2 ");
}

TEST_F(Flags, DeletesAKeyOrAPair) {
  fill(MDBX_DUPSORT, "a1 a2 b1");
  EXPECT_EQ(del(txn_, dbi_, "a", "3"), MDBX_NOTFOUND);
  ASSERT_DONE(del(txn_, dbi_, "a", "2"));
  ASSERT_DONE(del(txn_, dbi_, "b"));
  EXPECT_EQ(del(txn_, dbi_, "b"), MDBX_NOTFOUND);
  EXPECT_EQ(all(), "a=1 ");
}

TEST_F(Flags, OrdersOfTables) {
  fill(MDBX_REVERSEKEY | MDBX_DUPSORT | MDBX_REVERSEDUP, "");
  for (const char* value : {"21", "12"}) ASSERT_DONE(put("ab", value));
  ASSERT_DONE(put("ba", "1"));
  EXPECT_EQ(all(), "ba=1 ab=21 ab=12 ");
  const MDBX_val ab = bytes("ab");
  const MDBX_val ba = bytes("ba");
  EXPECT_GT(mdbx_cmp(txn_, dbi_, &ab, &ba), 0);
  EXPECT_GT(mdbx_dcmp(txn_, dbi_, &ab, &ba), 0);
  EXPECT_EQ(mdbx_cmp(txn_, dbi_, &ab, &ab), 0);
}

TEST_F(Flags, NumbersAreInTheirOrder) {
  fill(MDBX_INTEGERKEY | MDBX_DUPSORT | MDBX_DUPFIXED | MDBX_INTEGERDUP, "");
  for (const uint32_t i : {256U, 3U, 70000U}) {
    const uint64_t wide = uint64_t{i} * 3;
    const MDBX_val key = {const_cast<uint32_t*>(&i), sizeof(i)};
    MDBX_val value = {const_cast<uint64_t*>(&wide), sizeof(wide)};
    ASSERT_DONE(mdbx_put(txn_, dbi_, &key, &value, MDBX_UPSERT));
  }
  MDBX_cursor* cursor = nullptr;
  ASSERT_DONE(mdbx_cursor_open(txn_, dbi_, &cursor));
  MDBX_val key;
  MDBX_val value;
  std::string seen;
  while (mdbx_cursor_get(cursor, &key, &value, MDBX_NEXT) == MDBX_SUCCESS) {
    uint32_t number = 0;
    memcpy(&number, key.iov_base, sizeof(number));
    seen += std::to_string(number) + " ";
  }
  EXPECT_EQ(seen, "3 256 70000 ");
  mdbx_cursor_close(cursor);
  // The first entry decides how long they are.
  EXPECT_EQ(put("12345678", "12345678"), MDBX_BAD_VALSIZE);
  EXPECT_EQ(put("1234", "1234"), MDBX_BAD_VALSIZE);
  EXPECT_EQ(put("123", "12345678"), MDBX_BAD_VALSIZE);
  EXPECT_EQ(get(txn_, dbi_, "12345678"), mdbx_strerror(MDBX_BAD_VALSIZE));
}

}  // namespace
}  // namespace hawthorn::mdbx
