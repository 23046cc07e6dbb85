// What each operation of a cursor does, also where it is nowhere, at an end or behind a delete.

#include "shims/mdbx/src/mdbx_test_support.h"

namespace hawthorn::mdbx {
namespace {

class CursorTest : public Environments {
 protected:
  void fill(unsigned shape, std::string_view pairs) {
    open();
    txn_ = begin();
    dbi_ = table(txn_, "t", shape | MDBX_CREATE);
    for (size_t i = 0; i + 1 < pairs.size(); i += 3) {
      ASSERT_DONE(put(txn_, dbi_, pairs.substr(i, 1), pairs.substr(i + 1, 1)));
    }
    ASSERT_DONE(mdbx_cursor_open(txn_, dbi_, &cursor_));
  }
  ~CursorTest() override {
    mdbx_cursor_close(cursor_);
    if (txn_ != nullptr) mdbx_txn_abort(txn_);
  }
  // "key=value", with "+" where it was the next one, or the name of the error.
  std::string move(MDBX_cursor_op op, std::string_view asked_key = "",
                   std::string_view asked_value = "") {
    return move(cursor_, op, asked_key, asked_value);
  }
  static std::string move(MDBX_cursor* cursor, MDBX_cursor_op op, std::string_view asked_key = "",
                          std::string_view asked_value = "") {
    MDBX_val key = bytes(asked_key);
    MDBX_val value = bytes(asked_value);
    const int code = mdbx_cursor_get(cursor, &key, &value, op);
    if (code == MDBX_NOTFOUND) return "none";
    if (code == MDBX_ENODATA) return "nowhere";
    if (code != MDBX_SUCCESS && code != MDBX_RESULT_TRUE) return mdbx_strerror(code);
    return text(key) + "=" + text(value) + (code == MDBX_RESULT_TRUE ? "+" : "");
  }

  MDBX_txn* txn_ = nullptr;
  MDBX_dbi dbi_ = 0;
  MDBX_cursor* cursor_ = nullptr;
};

TEST_F(CursorTest, StepsFromNowhere) {
  fill(MDBX_DUPSORT, "a1 a2 b1");
  EXPECT_EQ(move(MDBX_GET_CURRENT), "nowhere");
  EXPECT_EQ(move(MDBX_NEXT), "a=1");
  EXPECT_DONE(mdbx_cursor_reset(cursor_));
  EXPECT_EQ(move(MDBX_PREV), "b=1");
  EXPECT_EQ(move(MDBX_SET_KEY, "x"), "none");
  EXPECT_EQ(move(MDBX_NEXT), "nowhere");
  EXPECT_EQ(move(MDBX_PREV), "nowhere");
  EXPECT_EQ(mdbx_cursor_del(cursor_, MDBX_CURRENT), MDBX_ENODATA);
  EXPECT_EQ(move(MDBX_FIRST), "a=1");
}

TEST_F(CursorTest, AnEmptyTableHasNothing) {
  fill(MDBX_DUPSORT, "");
  for (const MDBX_cursor_op op : {MDBX_FIRST, MDBX_LAST, MDBX_NEXT, MDBX_PREV, MDBX_SET_RANGE}) {
    EXPECT_EQ(move(op), "none") << op;
  }
  EXPECT_EQ(mdbx_cursor_eof(cursor_), MDBX_RESULT_TRUE);
}

TEST_F(CursorTest, Steps) {
  fill(MDBX_DUPSORT, "a1 a2 b1 b2 c1");
  EXPECT_EQ(move(MDBX_FIRST), "a=1");
  EXPECT_EQ(move(MDBX_NEXT), "a=2");
  EXPECT_EQ(move(MDBX_NEXT_DUP), "none");
  EXPECT_EQ(move(MDBX_GET_CURRENT), "a=2");
  EXPECT_EQ(move(MDBX_NEXT), "b=1");
  EXPECT_EQ(move(MDBX_PREV_DUP), "none");
  EXPECT_EQ(move(MDBX_NEXT_DUP), "b=2");
  EXPECT_EQ(move(MDBX_PREV_NODUP), "a=2");
  EXPECT_EQ(move(MDBX_NEXT_NODUP), "b=1");
  EXPECT_EQ(move(MDBX_PREV), "a=2");
  EXPECT_EQ(move(MDBX_PREV_DUP), "a=1");
  EXPECT_EQ(move(MDBX_LAST), "c=1");
  EXPECT_EQ(move(MDBX_PREV), "b=2");
}

TEST_F(CursorTest, FirstAndLastOfAKey) {
  fill(MDBX_DUPSORT, "a1 a2 a3 b1");
  EXPECT_EQ(move(MDBX_SET, "a"), "a=1");
  MDBX_val key{};
  MDBX_val value{};
  EXPECT_DONE(mdbx_cursor_get(cursor_, &key, &value, MDBX_LAST_DUP));
  EXPECT_EQ(text(value), "3");
  EXPECT_EQ(mdbx_cursor_on_last_dup(cursor_), MDBX_RESULT_TRUE);
  EXPECT_EQ(mdbx_cursor_on_first_dup(cursor_), MDBX_RESULT_FALSE);
  EXPECT_DONE(mdbx_cursor_get(cursor_, &key, &value, MDBX_FIRST_DUP));
  EXPECT_EQ(text(value), "1");
  EXPECT_EQ(mdbx_cursor_on_first_dup(cursor_), MDBX_RESULT_TRUE);
}

TEST_F(CursorTest, EndsAreTold) {
  fill(0, "a1 b2");
  EXPECT_EQ(mdbx_cursor_eof(cursor_), MDBX_RESULT_TRUE);
  EXPECT_EQ(move(MDBX_FIRST), "a=1");
  EXPECT_EQ(mdbx_cursor_eof(cursor_), MDBX_RESULT_FALSE);
  EXPECT_EQ(mdbx_cursor_on_first(cursor_), MDBX_RESULT_TRUE);
  EXPECT_EQ(mdbx_cursor_on_last(cursor_), MDBX_RESULT_FALSE);
  EXPECT_EQ(move(MDBX_NEXT), "b=2");
  EXPECT_EQ(mdbx_cursor_on_last(cursor_), MDBX_RESULT_TRUE);
  EXPECT_EQ(move(MDBX_NEXT), "none");
  EXPECT_EQ(mdbx_cursor_eof(cursor_), MDBX_RESULT_TRUE);
  // It is still on the last entry.
  EXPECT_EQ(move(MDBX_GET_CURRENT), "b=2");
  EXPECT_EQ(move(MDBX_NEXT), "none");
  EXPECT_EQ(move(MDBX_PREV), "a=1");
  EXPECT_EQ(move(MDBX_PREV), "none");
  EXPECT_EQ(move(MDBX_GET_CURRENT), "a=1");
  EXPECT_EQ(move(MDBX_NEXT), "b=2");
}

TEST_F(CursorTest, Searches) {
  fill(MDBX_DUPSORT, "b2 b4 d1 d3");
  EXPECT_EQ(move(MDBX_SET_KEY, "b"), "b=2");
  EXPECT_EQ(move(MDBX_SET_RANGE, "c"), "d=1");
  EXPECT_EQ(move(MDBX_SET_RANGE, "e"), "none");
  EXPECT_EQ(move(MDBX_PREV), "d=3");
  EXPECT_EQ(move(MDBX_GET_BOTH, "b", "4"), "b=4");
  EXPECT_EQ(move(MDBX_GET_BOTH, "b", "3"), "none");
  EXPECT_EQ(move(MDBX_GET_BOTH_RANGE, "b", "3"), "b=4");
  EXPECT_EQ(move(MDBX_GET_BOTH_RANGE, "b", "5"), "none");
  EXPECT_EQ(move(MDBX_SET_LOWERBOUND, "b", "2"), "b=2");
  EXPECT_EQ(move(MDBX_SET_LOWERBOUND, "b", "3"), "b=4+");
  EXPECT_EQ(move(MDBX_SET_LOWERBOUND, "b", "5"), "d=1+");
  EXPECT_EQ(move(MDBX_SET_UPPERBOUND, "b", "4"), "d=1");
  EXPECT_EQ(move(MDBX_SET_UPPERBOUND, "d", "3"), "none");
}

TEST_F(CursorTest, SearchesByOneComparison) {
  fill(MDBX_DUPSORT, "b2 b4 d1 d3");
  EXPECT_EQ(move(MDBX_TO_KEY_LESSER_THAN, "d"), "b=4");
  EXPECT_EQ(move(MDBX_TO_KEY_LESSER_OR_EQUAL, "d"), "d=1");
  EXPECT_EQ(move(MDBX_TO_KEY_LESSER_THAN, "b"), "none");
  EXPECT_EQ(move(MDBX_TO_KEY_EQUAL, "c"), "none");
  EXPECT_EQ(move(MDBX_TO_KEY_EQUAL, "d"), "d=1");
  EXPECT_EQ(move(MDBX_TO_KEY_GREATER_OR_EQUAL, "c"), "d=1");
  EXPECT_EQ(move(MDBX_TO_KEY_GREATER_THAN, "b"), "d=1");
  EXPECT_EQ(move(MDBX_TO_KEY_GREATER_THAN, "d"), "none");
  EXPECT_EQ(move(MDBX_TO_EXACT_KEY_VALUE_LESSER_THAN, "d", "3"), "d=1");
  EXPECT_EQ(move(MDBX_TO_EXACT_KEY_VALUE_LESSER_THAN, "d", "1"), "none");
  EXPECT_EQ(move(MDBX_TO_EXACT_KEY_VALUE_LESSER_OR_EQUAL, "d", "2"), "d=1");
  EXPECT_EQ(move(MDBX_TO_EXACT_KEY_VALUE_EQUAL, "d", "3"), "d=3");
  EXPECT_EQ(move(MDBX_TO_EXACT_KEY_VALUE_GREATER_OR_EQUAL, "d", "2"), "d=3");
  EXPECT_EQ(move(MDBX_TO_EXACT_KEY_VALUE_GREATER_THAN, "d", "3"), "none");
  EXPECT_EQ(move(MDBX_TO_PAIR_LESSER_THAN, "d", "1"), "b=4");
  EXPECT_EQ(move(MDBX_TO_PAIR_LESSER_OR_EQUAL, "d", "2"), "d=1");
  EXPECT_EQ(move(MDBX_TO_PAIR_EQUAL, "b", "4"), "b=4");
  EXPECT_EQ(move(MDBX_TO_PAIR_EQUAL, "b", "3"), "none");
  EXPECT_EQ(move(MDBX_TO_PAIR_GREATER_OR_EQUAL, "b", "5"), "d=1");
  EXPECT_EQ(move(MDBX_TO_PAIR_GREATER_THAN, "b", "4"), "d=1");
}

TEST_F(CursorTest, TheValueOfAMissingKeyDoesNotMatter) {
  fill(MDBX_DUPSORT | MDBX_DUPFIXED | MDBX_INTEGERDUP, "");
  ASSERT_DONE(put(txn_, dbi_, "a", "1111"));
  ASSERT_DONE(put(txn_, dbi_, "c", "2222"));
  EXPECT_EQ(move(MDBX_TO_PAIR_LESSER_THAN, "b"), "a=1111");
  EXPECT_EQ(move(MDBX_TO_PAIR_GREATER_THAN, "b"), "c=2222");
  EXPECT_EQ(move(MDBX_GET_BOTH, "b"), "none");
  EXPECT_EQ(move(MDBX_GET_BOTH, "c"), mdbx_strerror(MDBX_BAD_VALSIZE));
}

TEST_F(CursorTest, BehindADeleteTheNextOneIsCurrent) {
  fill(0, "a1 b2 c3 d4");
  EXPECT_EQ(move(MDBX_SET_KEY, "b"), "b=2");
  EXPECT_DONE(mdbx_cursor_del(cursor_, MDBX_CURRENT));
  EXPECT_EQ(move(MDBX_NEXT), "c=3");
  EXPECT_DONE(mdbx_cursor_del(cursor_, MDBX_CURRENT));
  EXPECT_EQ(move(MDBX_GET_CURRENT), "d=4");
  EXPECT_EQ(move(MDBX_PREV), "a=1");
  EXPECT_DONE(mdbx_cursor_del(cursor_, MDBX_CURRENT));
  // Once more: what came behind it.
  EXPECT_DONE(mdbx_cursor_del(cursor_, MDBX_CURRENT));
  EXPECT_EQ(move(MDBX_NEXT), "none");
  EXPECT_EQ(all(txn_, dbi_), "");
}

TEST_F(CursorTest, BehindADeleteStepsGoBackwards) {
  fill(MDBX_DUPSORT, "a1 b1 b2 b3 c1");
  EXPECT_EQ(move(MDBX_GET_BOTH, "b", "2"), "b=2");
  EXPECT_DONE(mdbx_cursor_del(cursor_, MDBX_CURRENT));
  EXPECT_EQ(move(MDBX_PREV), "b=1");
  EXPECT_EQ(move(MDBX_NEXT), "b=3");
  EXPECT_DONE(mdbx_cursor_del(cursor_, MDBX_CURRENT));
  EXPECT_EQ(move(MDBX_NEXT_DUP), "none");
  EXPECT_EQ(move(MDBX_NEXT), "c=1");
  EXPECT_DONE(mdbx_cursor_del(cursor_, MDBX_CURRENT));
  EXPECT_EQ(move(MDBX_PREV), "b=1");
  EXPECT_EQ(move(MDBX_FIRST), "a=1");
  EXPECT_DONE(mdbx_cursor_del(cursor_, MDBX_ALLDUPS));
  EXPECT_EQ(move(MDBX_PREV), "none");
  EXPECT_EQ(move(MDBX_NEXT), "b=1");
}

TEST_F(CursorTest, DeletesByOthersAreNoticed) {
  fill(0, "a1 b2 c3 d4");
  MDBX_cursor* other = nullptr;
  ASSERT_DONE(mdbx_cursor_open(txn_, dbi_, &other));
  EXPECT_EQ(move(MDBX_SET_KEY, "b"), "b=2");
  EXPECT_EQ(move(other, MDBX_SET_KEY, "b"), "b=2");
  EXPECT_DONE(mdbx_cursor_del(other, MDBX_CURRENT));
  EXPECT_EQ(move(MDBX_NEXT), "c=3");
  EXPECT_DONE(del(txn_, dbi_, "c"));
  // What is put in between now is not what came next.
  ASSERT_DONE(put(txn_, dbi_, "c", "5"));
  EXPECT_EQ(move(MDBX_NEXT), "d=4");
  EXPECT_EQ(move(MDBX_PREV), "c=5");
  EXPECT_EQ(move(other, MDBX_NEXT), "d=4");
  mdbx_cursor_close(other);
}

TEST_F(CursorTest, PutsWhereItStands) {
  fill(MDBX_DUPSORT, "a1 b1 b2");
  MDBX_val key = bytes("b");
  MDBX_val value = bytes("5");
  EXPECT_EQ(mdbx_cursor_put(cursor_, &key, &value, MDBX_CURRENT), MDBX_ENODATA);
  EXPECT_EQ(move(MDBX_GET_BOTH, "b", "1"), "b=1");
  EXPECT_DONE(mdbx_cursor_put(cursor_, &key, &value, MDBX_CURRENT));
  EXPECT_EQ(move(MDBX_GET_CURRENT), "b=5");
  EXPECT_EQ(all(txn_, dbi_), "a=1 b=2 b=5 ");
  key = bytes("a");
  EXPECT_EQ(mdbx_cursor_put(cursor_, &key, &value, MDBX_CURRENT), MDBX_EKEYMISMATCH);
  EXPECT_DONE(mdbx_cursor_put(cursor_, &key, &value, MDBX_UPSERT));
  EXPECT_EQ(move(MDBX_PREV), "a=1");
}

TEST_F(CursorTest, Counts) {
  fill(MDBX_DUPSORT, "a1 b1 b2 b3");
  size_t count = 9;
  EXPECT_DONE(mdbx_cursor_count(cursor_, &count));
  EXPECT_EQ(count, 0U);
  EXPECT_EQ(move(MDBX_SET_KEY, "b"), "b=1");
  MDBX_stat stat;
  EXPECT_DONE(mdbx_cursor_count_ex(cursor_, &count, &stat, sizeof(stat)));
  EXPECT_EQ(count, 3U);
  EXPECT_EQ(stat.ms_entries, 3U);
  EXPECT_EQ(move(MDBX_SET_KEY, "a"), "a=1");
  EXPECT_DONE(mdbx_cursor_count(cursor_, &count));
  EXPECT_EQ(count, 1U);
}

TEST_F(CursorTest, CopiesAndCompares) {
  fill(MDBX_DUPSORT, "a1 a2 b1");
  MDBX_cursor* other = mdbx_cursor_create(nullptr);
  EXPECT_EQ(move(MDBX_GET_BOTH, "a", "1"), "a=1");
  ASSERT_DONE(mdbx_cursor_copy(cursor_, other));
  EXPECT_EQ(mdbx_cursor_compare(cursor_, other, false), 0);
  EXPECT_EQ(move(other, MDBX_NEXT), "a=2");
  EXPECT_LT(mdbx_cursor_compare(cursor_, other, false), 0);
  EXPECT_EQ(mdbx_cursor_compare(cursor_, other, true), 0);
  EXPECT_EQ(move(other, MDBX_NEXT), "b=1");
  EXPECT_GT(mdbx_cursor_compare(other, cursor_, true), 0);
  ptrdiff_t distance = 0;
  EXPECT_DONE(mdbx_estimate_distance(cursor_, other, &distance));
  EXPECT_EQ(distance, 2);
  MDBX_val key{};
  MDBX_val value{};
  EXPECT_DONE(mdbx_estimate_move(cursor_, &key, &value, MDBX_LAST, &distance));
  EXPECT_EQ(distance, 2);
  EXPECT_EQ(move(MDBX_GET_CURRENT), "a=1");
  mdbx_cursor_close(other);
}

TEST_F(CursorTest, ManyValuesAtOnce) {
  fill(MDBX_DUPSORT | MDBX_DUPFIXED, "");
  for (const char* value : {"11", "22", "33"}) ASSERT_DONE(put(txn_, dbi_, "a", value));
  ASSERT_DONE(put(txn_, dbi_, "b", "44"));
  MDBX_val key = bytes("a");
  MDBX_val values{};
  EXPECT_DONE(mdbx_cursor_get(cursor_, &key, &values, MDBX_SEEK_AND_GET_MULTIPLE));
  EXPECT_EQ(text(values), "112233");
  EXPECT_EQ(mdbx_cursor_get(cursor_, &key, &values, MDBX_NEXT_MULTIPLE), MDBX_NOTFOUND);
  EXPECT_EQ(move(MDBX_NEXT_NODUP), "b=44");
  EXPECT_EQ(mdbx_cursor_get(cursor_, &key, &values, MDBX_PREV_MULTIPLE), MDBX_ENODATA);
  EXPECT_DONE(mdbx_cursor_get(cursor_, &key, &values, MDBX_GET_MULTIPLE));
  EXPECT_EQ(text(values), "44");
}

TEST_F(CursorTest, MoreValuesThanAPageHas) {
  fill(MDBX_DUPSORT | MDBX_DUPFIXED | MDBX_INTEGERDUP, "");
  constexpr uint32_t kCount = 5000;
  for (uint32_t i = 0; i < kCount; ++i) {
    const MDBX_val key = bytes("k");
    MDBX_val value = {&i, sizeof(i)};
    ASSERT_DONE(mdbx_put(txn_, dbi_, &key, &value, MDBX_UPSERT));
  }
  MDBX_val key = bytes("k");
  MDBX_val values{};
  size_t seen = 0;
  int code = mdbx_cursor_get(cursor_, &key, &values, MDBX_SEEK_AND_GET_MULTIPLE);
  for (; code == MDBX_SUCCESS; code = mdbx_cursor_get(cursor_, &key, &values, MDBX_NEXT_MULTIPLE)) {
    seen += values.iov_len / sizeof(uint32_t);
  }
  EXPECT_EQ(code, MDBX_NOTFOUND);
  EXPECT_EQ(seen, kCount);
  // And back, from the last ones.
  ASSERT_DONE(mdbx_cursor_get(cursor_, &key, &values, MDBX_LAST));
  ASSERT_DONE(mdbx_cursor_get(cursor_, &key, &values, MDBX_GET_MULTIPLE));
  seen = values.iov_len / sizeof(uint32_t);
  while (mdbx_cursor_get(cursor_, &key, &values, MDBX_PREV_MULTIPLE) == MDBX_SUCCESS) {
    seen += values.iov_len / sizeof(uint32_t);
  }
  EXPECT_EQ(seen, kCount);
}

// Whichever way a program comes to a value, it gets all of a page, and no value twice or never.
TEST_F(CursorTest, PagesOfValuesAreWhole) {
  fill(MDBX_DUPSORT | MDBX_DUPFIXED, "");
  for (const uint32_t count : {1, 2, 3, 10, 600, 3000}) {
    const std::string name = std::to_string(count);
    SCOPED_TRACE(name);
    MDBX_val key = bytes(name);
    std::string every;
    for (uint32_t i = 0; i < count; ++i) {
      const std::string one = std::to_string(10'000'000 + i);
      ASSERT_DONE(put(txn_, dbi_, name, one));
      every += one;
    }
    MDBX_val got{};
    // From a step to the key on, of which the first page has the value that the step has met.
    MDBX_val before = bytes(name);
    ASSERT_DONE(mdbx_cursor_get(cursor_, &before, &got, MDBX_SET));
    std::string seen = count == 1 ? text(got) : "";
    int code = MDBX_SUCCESS;
    while ((code = mdbx_cursor_get(cursor_, &key, &got, MDBX_NEXT_MULTIPLE)) == MDBX_SUCCESS) {
      seen += text(got);
    }
    EXPECT_EQ(code, MDBX_NOTFOUND);
    EXPECT_EQ(seen, every);
    // A page, a step behind it, the page there.
    seen.clear();
    ASSERT_DONE(mdbx_cursor_get(cursor_, &before, &got, MDBX_SET));
    do {
      ASSERT_DONE(mdbx_cursor_get(cursor_, &key, &got, MDBX_GET_MULTIPLE));
      seen += text(got);
    } while (mdbx_cursor_get(cursor_, &key, &got, MDBX_NEXT_DUP) == MDBX_SUCCESS);
    EXPECT_EQ(seen, every);
    for (const uint32_t at : {0U, count / 2, count - 1}) {
      const std::string wanted = std::to_string(10'000'000 + at);
      MDBX_val value = bytes(wanted);
      ASSERT_DONE(mdbx_cursor_get(cursor_, &before, &value, MDBX_GET_BOTH));
      ASSERT_DONE(mdbx_cursor_get(cursor_, &key, &got, MDBX_GET_MULTIPLE));
      const std::string page = text(got);
      EXPECT_NE(page.find(wanted), std::string::npos);
      EXPECT_NE(every.find(page), std::string::npos);
      ASSERT_DONE(mdbx_cursor_get(cursor_, &key, &got, MDBX_GET_MULTIPLE));
      EXPECT_EQ(text(got), page);
      // The rest in both directions.
      std::string around = page;
      while (mdbx_cursor_get(cursor_, &key, &got, MDBX_NEXT_MULTIPLE) == MDBX_SUCCESS) {
        around += text(got);
      }
      EXPECT_EQ(around, every.substr(every.find(page)));
    }
  }
}

TEST_F(CursorTest, Batches) {
  fill(0, "a1 b2 c3 d4 e5");
  MDBX_val pairs[4];
  size_t count = 0;
  EXPECT_EQ(mdbx_cursor_get_batch(cursor_, &count, pairs, 4, MDBX_NEXT), MDBX_ENODATA);
  std::string seen;
  int code = mdbx_cursor_get_batch(cursor_, &count, pairs, 4, MDBX_FIRST);
  for (int i = 0; i < 3; ++i) {
    for (size_t j = 0; j < count; ++j) seen += text(pairs[j]);
    if (code != MDBX_SUCCESS) break;
    code = mdbx_cursor_get_batch(cursor_, &count, pairs, 4, MDBX_NEXT);
  }
  EXPECT_EQ(seen, "a1b2c3d4e5");
  EXPECT_EQ(code, MDBX_RESULT_TRUE);
  EXPECT_EQ(mdbx_cursor_get_batch(cursor_, &count, pairs, 4, MDBX_NEXT), MDBX_NOTFOUND);
}

int until(void* context, MDBX_val* key, MDBX_val* value, void* seen) MDBX_CXX17_NOEXCEPT {
  *static_cast<std::string*>(seen) += text(*key) + text(*value) + " ";
  return text(*key) == static_cast<const char*>(context) ? MDBX_RESULT_TRUE : MDBX_RESULT_FALSE;
}

TEST_F(CursorTest, Scans) {
  fill(MDBX_DUPSORT, "a1 a2 b1 c1");
  std::string seen;
  char c[] = "c";
  EXPECT_EQ(mdbx_cursor_scan(cursor_, until, c, MDBX_FIRST, MDBX_NEXT_NODUP, &seen),
            MDBX_RESULT_TRUE);
  EXPECT_EQ(seen, "a1 b1 c1 ");
  seen.clear();
  char x[] = "x";
  EXPECT_EQ(mdbx_cursor_scan(cursor_, until, x, MDBX_LAST, MDBX_PREV, &seen), MDBX_RESULT_FALSE);
  EXPECT_EQ(seen, "c1 b1 a2 a1 ");
  seen.clear();
  MDBX_val key = bytes("aa");
  EXPECT_EQ(mdbx_cursor_scan_from(cursor_, until, c, MDBX_TO_KEY_GREATER_OR_EQUAL, &key, nullptr,
                                  MDBX_NEXT, &seen),
            MDBX_RESULT_TRUE);
  EXPECT_EQ(seen, "b1 c1 ");
  EXPECT_EQ(mdbx_cursor_scan(cursor_, until, c, MDBX_SET, MDBX_NEXT, &seen), MDBX_EINVAL);
}

}  // namespace
}  // namespace hawthorn::mdbx
