// What only the API of 0.14 has.

#include "shims/mdbx/src/mdbx_test_support.h"

#if HAWTHORN_MDBX_API >= 14

#include <cstring>
#include <thread>

namespace hawthorn::mdbx {
namespace {

class Newer : public Environments {
 protected:
  MDBX_dbi filled(int entries, unsigned flags = MDBX_CREATE) {
    MDBX_txn* txn = begin();
    const MDBX_dbi dbi = table(txn, "t", flags);
    for (int i = 0; i < entries; ++i) EXPECT_DONE(put(txn, dbi, std::to_string(100 + i), "v"));
    EXPECT_DONE(mdbx_txn_commit(txn));
    return dbi;
  }
  static std::string key_at(const MDBX_cursor* cursor) {
    MDBX_val key{};
    MDBX_val value{};
    const int code =
        mdbx_cursor_get(const_cast<MDBX_cursor*>(cursor), &key, &value, MDBX_GET_CURRENT);
    return code == MDBX_SUCCESS ? text(key) : mdbx_strerror(code);
  }
  MDBX_cursor* cursor_at(MDBX_txn* txn, MDBX_dbi dbi, const std::string& wanted) {
    MDBX_cursor* cursor = nullptr;
    EXPECT_DONE(mdbx_cursor_open(txn, dbi, &cursor));
    MDBX_val key = bytes(wanted);
    MDBX_val value{};
    EXPECT_DONE(mdbx_cursor_get(cursor, &key, &value, MDBX_SET_KEY));
    return cursor;
  }
};

TEST_F(Newer, ACloneReadsTheSame) {
  open(MDBX_SAFE_NOSYNC | MDBX_NOSTICKYTHREADS);
  const MDBX_dbi dbi = filled(1);
  MDBX_txn* reader = begin(MDBX_TXN_RDONLY);
  MDBX_txn* txn = begin();
  MDBX_txn* of_the_writer = nullptr;
  ASSERT_DONE(mdbx_txn_clone(txn, &of_the_writer, nullptr));
  ASSERT_DONE(put(txn, dbi, "100", "new"));
  MDBX_txn* refused = nullptr;
  EXPECT_EQ(mdbx_txn_clone(txn, &refused, nullptr), MDBX_BAD_TXN) << "it has written";
  ASSERT_DONE(mdbx_txn_commit(txn));
  MDBX_txn* clone = nullptr;
  int context = 0;
  ASSERT_DONE(mdbx_txn_clone(reader, &clone, &context));
  EXPECT_EQ(mdbx_txn_get_userctx(clone), &context);
  EXPECT_EQ(mdbx_txn_id(clone), mdbx_txn_id(reader));
  ASSERT_DONE(mdbx_txn_abort(reader));
  EXPECT_EQ(get(clone, dbi, "100"), "v");
  EXPECT_EQ(get(of_the_writer, dbi, "100"), "v");
  ASSERT_DONE(mdbx_txn_reset(of_the_writer));
  ASSERT_DONE(mdbx_txn_clone(clone, &of_the_writer, nullptr));
  EXPECT_EQ(get(of_the_writer, dbi, "100"), "v");
  ASSERT_DONE(mdbx_txn_abort(of_the_writer));
  ASSERT_DONE(mdbx_txn_abort(clone));
  EXPECT_EQ(mdbx_txn_clone(nullptr, &clone, nullptr), MDBX_EINVAL);
}

TEST_F(Newer, CheckpointsGoOn) {
  open();
  const MDBX_dbi dbi = filled(1);
  MDBX_txn* txn = begin();
  const uint64_t first = mdbx_txn_id(txn);
  MDBX_commit_latency latency;
  EXPECT_EQ(mdbx_txn_checkpoint(txn, MDBX_TXN_NOWEAKING, &latency), MDBX_RESULT_TRUE);
  ASSERT_DONE(put(txn, dbi, "a", "1"));
  ASSERT_DONE(mdbx_txn_checkpoint(txn, MDBX_TXN_NOSYNC, &latency));
  EXPECT_EQ(mdbx_txn_id(txn), first + 1);
  ASSERT_DONE(put(txn, dbi, "b", "2"));
  ASSERT_DONE(mdbx_txn_rollback(txn));
  EXPECT_EQ(get(txn, dbi, "a"), "1");
  EXPECT_EQ(get(txn, dbi, "b"), "(missing)");
  ASSERT_DONE(put(txn, dbi, "c", "3"));
  ASSERT_DONE(mdbx_txn_commit_embark_read(&txn, &latency));
  EXPECT_EQ(mdbx_txn_flags(txn) & MDBX_TXN_RDONLY, MDBX_TXN_RDONLY);
  EXPECT_EQ(get(txn, dbi, "c"), "3");
  EXPECT_EQ(mdbx_txn_id(txn), first + 1);
  ASSERT_DONE(mdbx_txn_abort_ex(txn, &latency));
}

TEST_F(Newer, ReadersAmendAndRefresh) {
  open(MDBX_SAFE_NOSYNC | MDBX_NOSTICKYTHREADS);
  const MDBX_dbi dbi = filled(1);
  MDBX_txn* reader = begin(MDBX_TXN_RDONLY);
  EXPECT_EQ(mdbx_txn_refresh(reader), MDBX_RESULT_TRUE) << "nothing was committed since";
  MDBX_txn* writer = nullptr;
  ASSERT_DONE(mdbx_txn_amend(reader, &writer, MDBX_TXN_RDONLY_PREPARE, nullptr));
  ASSERT_DONE(put(writer, dbi, "100", "amended"));
  ASSERT_DONE(mdbx_txn_commit(writer));
  ASSERT_DONE(mdbx_txn_renew(reader));
  EXPECT_EQ(get(reader, dbi, "100"), "amended");
  writer = begin();
  ASSERT_DONE(put(writer, dbi, "100", "newer"));
  ASSERT_DONE(mdbx_txn_commit(writer));
  EXPECT_EQ(mdbx_txn_amend(reader, &writer, MDBX_TXN_READWRITE, nullptr), MDBX_RESULT_TRUE)
      << "it does not read the newest";
  EXPECT_DONE(mdbx_txn_refresh(reader));
  EXPECT_EQ(get(reader, dbi, "100"), "newer");
  ASSERT_DONE(mdbx_txn_amend(reader, &writer, MDBX_TXN_TRY, nullptr));
  ASSERT_DONE(mdbx_txn_abort(writer));
}

TEST_F(Newer, DistancesAndScrolls) {
  open();
  const MDBX_dbi dbi = filled(50);
  MDBX_txn* txn = begin(MDBX_TXN_RDONLY);
  MDBX_cursor* const first = cursor_at(txn, dbi, "105");
  MDBX_cursor* const last = cursor_at(txn, dbi, "130");
  intptr_t distance = 0;
  EXPECT_DONE(mdbx_cursor_distance(first, last, &distance, 42));
  EXPECT_EQ(distance, 25);
  EXPECT_DONE(mdbx_cursor_distance(last, first, &distance, 42));
  EXPECT_EQ(distance, -25);
  EXPECT_DONE(mdbx_cursor_distance(nullptr, last, &distance, 42));
  EXPECT_EQ(distance, 30);
  EXPECT_DONE(mdbx_cursor_distance(last, nullptr, &distance, 42));
  EXPECT_EQ(distance, 20);
  EXPECT_EQ(mdbx_cursor_distance(nullptr, nullptr, &distance, 42), MDBX_EINVAL);
  EXPECT_DONE(mdbx_cursor_scroll(first, 7, 42));
  EXPECT_EQ(key_at(first), "112");
  EXPECT_DONE(mdbx_cursor_scroll(first, -12, 42));
  EXPECT_EQ(key_at(first), "100");
  EXPECT_EQ(mdbx_cursor_scroll(first, -1, 42), MDBX_NOTFOUND);
  // Each to the end of its part, the last where the range ends.
  MDBX_cursor* places[5] = {};
  for (MDBX_cursor*& place : places) place = cursor_at(txn, dbi, "107");
  const auto ends = [&] {
    std::string all;
    for (MDBX_cursor* place : places) all += key_at(place) + " ";
    return all;
  };
  EXPECT_DONE(mdbx_cursor_distribute(first, last, places, 5, 42));
  EXPECT_EQ(ends(), "106 112 118 124 130 ");
  EXPECT_DONE(mdbx_cursor_distribute(first, nullptr, places, 5, 42));
  EXPECT_EQ(ends(), "110 120 130 140 149 ");
  EXPECT_DONE(mdbx_cursor_distribute(nullptr, last, places, 5, 42));
  EXPECT_EQ(ends(), "106 112 118 124 130 ");
  EXPECT_EQ(mdbx_cursor_distribute(last, first, places, 5, 42), MDBX_ENODATA);
  EXPECT_EQ(mdbx_cursor_distribute(last, last, places, 5, 42), MDBX_RESULT_TRUE);
  EXPECT_EQ(ends(), "106 112 118 124 130 ");
  // Fewer than there are cursors.
  EXPECT_DONE(mdbx_cursor_scroll(first, 28, 42));
  EXPECT_EQ(mdbx_cursor_distribute(first, last, places, 5, 42), MDBX_RESULT_TRUE);
  EXPECT_EQ(key_at(places[0]) + key_at(places[1]), "129130");
  for (size_t i = 2; i < 5; ++i) EXPECT_EQ(mdbx_cursor_eof(places[i]), MDBX_RESULT_TRUE) << i;
  MDBX_cursor* unbound = mdbx_cursor_create(nullptr);
  EXPECT_EQ(mdbx_cursor_distribute(first, last, &unbound, 1, 42), MDBX_EINVAL);
  mdbx_cursor_close(unbound);
  for (MDBX_cursor* place : places) mdbx_cursor_close(place);
  mdbx_cursor_close(first);
  mdbx_cursor_close(last);
  ASSERT_DONE(mdbx_txn_abort(txn));
}

TEST_F(Newer, DeletesOfBunches) {
  open();
  const MDBX_dbi dbi = filled(10);
  MDBX_txn* txn = begin();
  MDBX_cursor* const from = cursor_at(txn, dbi, "102");
  MDBX_cursor* const to = cursor_at(txn, dbi, "105");
  uint64_t gone = 0;
  EXPECT_DONE(mdbx_cursor_delete_range(from, to, false, &gone));
  EXPECT_EQ(gone, 3U);
  EXPECT_EQ(all(txn, dbi), "100=v 101=v 105=v 106=v 107=v 108=v 109=v ");
  EXPECT_DONE(mdbx_cursor_delete_range(nullptr, to, true, &gone));
  EXPECT_EQ(gone, 3U);
  EXPECT_EQ(all(txn, dbi), "106=v 107=v 108=v 109=v ");
  mdbx_cursor_close(from);
  mdbx_cursor_close(to);
  MDBX_cursor* at = cursor_at(txn, dbi, "108");
  EXPECT_DONE(mdbx_cursor_bunch_delete(at, MDBX_DELETE_AFTER_EXCLUDING, &gone));
  EXPECT_EQ(gone, 1U);
  EXPECT_DONE(mdbx_cursor_bunch_delete(at, MDBX_DELETE_BEFORE_EXCLUDING, &gone));
  EXPECT_EQ(gone, 2U);
  EXPECT_EQ(all(txn, dbi), "108=v ");
  mdbx_cursor_close(at);

  const MDBX_dbi several = table(txn, "several", MDBX_CREATE | MDBX_DUPSORT);
  const auto refill = [&] {
    for (const char* key : {"a", "b", "c"}) {
      for (const char* value : {"1", "2", "3"}) EXPECT_DONE(put(txn, several, key, value));
    }
  };
  struct Case {
    MDBX_bunch_action_t action;
    const char* remain;
    uint64_t affected;
  };
  const Case cases[] = {
      {MDBX_DELETE_CURRENT_VALUE, "a=1 a=2 a=3 b=1 b=3 c=1 c=2 c=3 ", 1},
      {MDBX_DELETE_CURRENT_MULTIVAL_BEFORE_EXCLUDING, "a=1 a=2 a=3 b=2 b=3 c=1 c=2 c=3 ", 1},
      {MDBX_DELETE_CURRENT_MULTIVAL_BEFORE_INCLUDING, "a=1 a=2 a=3 b=3 c=1 c=2 c=3 ", 2},
      {MDBX_DELETE_CURRENT_MULTIVAL_AFTER_INCLUDING, "a=1 a=2 a=3 b=1 c=1 c=2 c=3 ", 2},
      {MDBX_DELETE_CURRENT_MULTIVAL_AFTER_EXCLUDING, "a=1 a=2 a=3 b=1 b=2 c=1 c=2 c=3 ", 1},
      {MDBX_DELETE_CURRENT_MULTIVAL_ALL, "a=1 a=2 a=3 c=1 c=2 c=3 ", 3},
      {MDBX_DELETE_BEFORE_EXCLUDING, "b=2 b=3 c=1 c=2 c=3 ", 4},
      {MDBX_DELETE_BEFORE_INCLUDING, "b=3 c=1 c=2 c=3 ", 5},
      {MDBX_DELETE_AFTER_INCLUDING, "a=1 a=2 a=3 b=1 ", 5},
      {MDBX_DELETE_AFTER_EXCLUDING, "a=1 a=2 a=3 b=1 b=2 ", 4},
      {MDBX_DELETE_WHOLE, "", 9},
  };
  for (const Case& c : cases) {
    refill();
    ASSERT_DONE(mdbx_cursor_open(txn, several, &at));
    MDBX_val key = bytes("b");
    MDBX_val value = bytes("2");
    ASSERT_DONE(mdbx_cursor_get(at, &key, &value, MDBX_GET_BOTH));
    EXPECT_DONE(mdbx_cursor_bunch_delete(at, c.action, &gone));
    EXPECT_EQ(gone, c.affected) << c.action;
    EXPECT_EQ(all(txn, several), c.remain) << c.action;
    mdbx_cursor_close(at);
  }
  ASSERT_DONE(mdbx_txn_commit(txn));
}

TEST_F(Newer, CachesAreNotUsed) {
  open();
  const MDBX_dbi dbi = filled(1);
  MDBX_txn* txn = begin(MDBX_TXN_RDONLY);
  MDBX_cache_entry_t entry;
  mdbx_cache_init(&entry);
  MDBX_val key = bytes("100");
  MDBX_val value{};
  MDBX_cache_result_t result = mdbx_cache_get(txn, dbi, &key, &value, &entry);
  EXPECT_EQ(result.errcode, MDBX_SUCCESS);
  EXPECT_EQ(result.status, MDBX_CACHE_DIRTY);
  EXPECT_EQ(text(value), "v");
  key = bytes("missing");
  result = mdbx_cache_get_SingleThreaded(txn, dbi, &key, &value, &entry);
  EXPECT_EQ(result.errcode, MDBX_NOTFOUND);
  result = mdbx_cache_get(txn, dbi, nullptr, &value, &entry);
  EXPECT_EQ(result.status, MDBX_CACHE_ERROR);
  MDBX_gc_info_t info;
  EXPECT_EQ(mdbx_gc_info(txn, &info, sizeof(info), nullptr, nullptr), MDBX_ENOSYS);
  ASSERT_DONE(mdbx_txn_abort(txn));
}

int count_progress(void* context, const MDBX_defrag_result_t*) MDBX_CXX17_NOEXCEPT {
  ++*static_cast<int*>(context);
  return MDBX_SUCCESS;
}

TEST_F(Newer, DefragmentsByCompacting) {
  open();
  const MDBX_dbi dbi = filled(200);
  MDBX_txn* txn = begin();
  ASSERT_DONE(mdbx_drop(txn, dbi, false));
  ASSERT_DONE(mdbx_txn_commit(txn));
  int calls = 0;
  MDBX_defrag_result_t result;
  EXPECT_DONE(mdbx_env_defrag(env_, 0, 0, 0, 0, 0, 0, count_progress, &calls, &result));
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(result.stopping_reasons, unsigned{MDBX_defrag_noobstacles});
}

TEST_F(Newer, Ratios) {
  char buffer[40];
  EXPECT_STREQ(mdbx_ratio2digits(1, 8, 3, buffer, sizeof(buffer)), "0.125");
  EXPECT_STREQ(mdbx_ratio2digits(1, 0, 3, buffer, sizeof(buffer)), "inf");
  EXPECT_STREQ(mdbx_ratio2percents(1, 8, buffer, sizeof(buffer)), "12.5%");
  EXPECT_EQ(mdbx_ratio2digits(1, 8, 3, nullptr, 0), nullptr);
}

}  // namespace
}  // namespace hawthorn::mdbx

#endif
