// Where a function of libmdbx's API finds no memory it answers MDBX_ENOMEM: what LMDB's API does
// not have (lmdb_memory_test.cc has the rest).

#include "shims/mdbx/src/mdbx_test_support.h"
#include "shims/memory_test_support.h"

namespace hawthorn::mdbx {
namespace {

using tests::Refuse;
using tests::refuse_each;

constexpr int kBefore = 40;

// Too long for a string's own bytes, so that a copy of it asks for memory.
std::string key_of(int i) {
  return "a key that is longer than a short string " + std::to_string(100 + i);
}

class MdbxMemory : public Environments {
 protected:
  void SetUp() override {
    open();
    MDBX_txn* const txn = begin();
    plain_ = table(txn, "plain");
    sorted_ = table(txn, "sorted", MDBX_CREATE | MDBX_DUPSORT);
    for (int i = 0; i < kBefore; ++i) {
      ASSERT_DONE(put(txn, plain_, key_of(i), "value"));
      ASSERT_DONE(put(txn, sorted_, key_of(i / 4), key_of(i)));
    }
    ASSERT_DONE(mdbx_txn_commit(txn));
  }
  void expect_all_there() {
    MDBX_txn* const txn = begin(MDBX_TXN_RDONLY);
    for (int i = 0; i < kBefore; ++i) ASSERT_EQ(get(txn, plain_, key_of(i)), "value");
    ASSERT_DONE(mdbx_txn_abort(txn));
  }
  static void expect_answer(int code, bool refused) {
    const bool done = code == MDBX_SUCCESS || code == MDBX_RESULT_TRUE;
    EXPECT_TRUE(done || (refused && code == MDBX_ENOMEM)) << mdbx_strerror(code);
  }
  // In a transaction that reads, or that writes and is aborted.
  template <typename Work>
  void refuse(const char* name, MDBX_txn_flags_t flags, const Work& work) {
    refuse_each(
        name, Refuse::kShimHelpless,
        [&] {
          MDBX_txn* txn = nullptr;
          int code = mdbx_txn_begin(env_, nullptr, flags, &txn);
          if (code != MDBX_SUCCESS) return code;
          code = work(txn);
          EXPECT_DONE(mdbx_txn_abort(txn));
          return code;
        },
        expect_answer);
    expect_all_there();
  }

  MDBX_dbi plain_ = 0;
  MDBX_dbi sorted_ = 0;
};

TEST_F(MdbxMemory, readers) {
  refuse("clone", MDBX_TXN_RDONLY, [&](MDBX_txn* txn) {
    EXPECT_DONE(mdbx_env_set_flags(env_, MDBX_SAFE_NOSYNC, true));
    int code = mdbx_txn_park(txn, false);
    if (code == MDBX_SUCCESS) code = mdbx_txn_unpark(txn, true);
    if (code == MDBX_SUCCESS) code = mdbx_txn_refresh(txn);
    if (code == MDBX_RESULT_TRUE) code = MDBX_SUCCESS;
    if (code != MDBX_SUCCESS) return code;
    size_t count = 0;
    MDBX_val pairs[8];
    MDBX_cursor* cursor = nullptr;
    code = mdbx_cursor_open(txn, plain_, &cursor);
    if (code != MDBX_SUCCESS) return code;
    code = mdbx_cursor_get_batch(cursor, &count, pairs, 8, MDBX_FIRST);
    ptrdiff_t distance = 0;
    if (code == MDBX_SUCCESS) {
      code = mdbx_estimate_move(cursor, nullptr, nullptr, MDBX_NEXT, &distance);
    }
    const std::string key = key_of(5);
    MDBX_val k = bytes(key);
    MDBX_val v{};
    size_t values = 0;
    if (code == MDBX_SUCCESS) code = mdbx_get_ex(txn, sorted_, &k, &v, &values);
    if (code == MDBX_SUCCESS) {
      k = bytes(key);
      v = {};
      code = mdbx_get_equal_or_great(txn, plain_, &k, &v);
    }
    if (code == MDBX_SUCCESS) {
      code = mdbx_enumerate_tables(
          txn,
          [](void*, const MDBX_txn*, const MDBX_val*, MDBX_db_flags_t, const MDBX_stat*,
             MDBX_dbi) noexcept { return int{MDBX_SUCCESS}; },
          nullptr);
    }
    mdbx_cursor_close(cursor);
    return code;
  });
  refuse_each(
      "clone", Refuse::kShimHelpless,
      [&] {
        MDBX_txn* txn = nullptr;
        MDBX_txn* clone = nullptr;
        int code = mdbx_txn_begin(env_, nullptr, MDBX_TXN_READWRITE, &txn);
        if (code != MDBX_SUCCESS) return code;
        EXPECT_DONE(mdbx_txn_abort(txn));
        code = mdbx_txn_begin(env_, nullptr, MDBX_TXN_RDONLY, &txn);
        if (code != MDBX_SUCCESS) return code;
        // Becomes the one that writes, or stays as it is.
        code = mdbx_txn_amend(txn, &clone, MDBX_TXN_READWRITE, nullptr);
        EXPECT_DONE(mdbx_txn_abort(code == MDBX_SUCCESS ? clone : txn));
        return code;
      },
      expect_answer);
  expect_all_there();
}

TEST_F(MdbxMemory, writers) {
  const std::string key = key_of(1000);
  const std::string longer = key + key;
  refuse("replace", MDBX_TXN_READWRITE, [&](MDBX_txn* txn) {
    const MDBX_val k = bytes(key);
    MDBX_val v = bytes(longer);
    char room[64];
    MDBX_val old{};
    old.iov_base = room;
    old.iov_len = sizeof(room);
    int code = put(txn, plain_, key, "one");
    if (code == MDBX_SUCCESS) code = mdbx_replace(txn, plain_, &k, &v, &old, MDBX_UPSERT);
    const MDBX_canary canary{1, 2, 3, 0};
    if (code == MDBX_SUCCESS) code = mdbx_canary_put(txn, &canary);
    uint64_t number = 0;
    if (code == MDBX_SUCCESS) code = mdbx_dbi_sequence(txn, plain_, &number, 1);
    MDBX_dbi dbi = 0;
    if (code == MDBX_SUCCESS) code = mdbx_dbi_open(txn, "to be renamed", MDBX_CREATE, &dbi);
    if (code == MDBX_SUCCESS) code = mdbx_dbi_rename(txn, dbi, longer.c_str());
    return code == MDBX_SUCCESS ? mdbx_drop(txn, dbi, true) : code;
  });
  refuse("delete_range", MDBX_TXN_READWRITE, [&](MDBX_txn* txn) {
    MDBX_cursor* cursor = nullptr;
    int code = mdbx_cursor_open(txn, sorted_, &cursor);
    if (code != MDBX_SUCCESS) return code;
    MDBX_val k{};
    MDBX_val v{};
    code = mdbx_cursor_get(cursor, &k, &v, MDBX_FIRST);
    uint64_t count = 0;
    if (code == MDBX_SUCCESS) {
      code = mdbx_cursor_bunch_delete(cursor, MDBX_DELETE_CURRENT_MULTIVAL_ALL, &count);
    }
    if (code == MDBX_SUCCESS) code = mdbx_cursor_get(cursor, &k, &v, MDBX_FIRST);
    if (code == MDBX_SUCCESS) code = mdbx_cursor_delete_range(cursor, nullptr, false, &count);
    mdbx_cursor_close(cursor);
    return code;
  });
  int commits = 0;
  refuse_each(
      "checkpoint", Refuse::kShimHelpless,
      [&] {
        MDBX_txn* txn = nullptr;
        int code = mdbx_txn_begin(env_, nullptr, MDBX_TXN_READWRITE, &txn);
        if (code != MDBX_SUCCESS) return code;
        const std::string value = std::to_string(++commits);
        code = put(txn, plain_, key, value);
        if (code != MDBX_SUCCESS) {
          EXPECT_DONE(mdbx_txn_abort(txn));
          return code;
        }
        // Ends it where it fails.
        code = mdbx_txn_checkpoint(txn, MDBX_TXN_READWRITE, nullptr);
        if (code != MDBX_SUCCESS) return code;
        {
          const tests::Undisturbed look;
          EXPECT_EQ(get(txn, plain_, key), value);
        }
        code = put(txn, plain_, key, "rolled back");
        if (code == MDBX_SUCCESS) code = mdbx_txn_rollback(txn);
        EXPECT_DONE(code == MDBX_SUCCESS ? mdbx_txn_abort(txn) : MDBX_SUCCESS);
        return code;
      },
      expect_answer);
  MDBX_txn* const txn = begin();
  EXPECT_EQ(get(txn, plain_, key), std::to_string(commits));
  EXPECT_DONE(mdbx_txn_abort(txn));
  expect_all_there();
}

TEST_F(MdbxMemory, environments) {
  MDBX_chk_callbacks_t callbacks{};
  refuse_each(
      "check", Refuse::kShimHelpless,
      [&] {
        MDBX_chk_context_t context{};
        return mdbx_env_chk(env_, &callbacks, &context, MDBX_CHK_DEFAULTS, MDBX_chk_result, 0);
      },
      expect_answer);
  int copies = 0;
  refuse("copy", MDBX_TXN_RDONLY, [&](MDBX_txn* txn) {
    const std::string target = directory_ + "/copy" + std::to_string(copies++);
    return mdbx_txn_copy2pathname(txn, target.c_str(), MDBX_CP_DEFAULTS);
  });
  close();
  refuse_each(
      "open", Refuse::kShimHelpless,
      [&] {
        MDBX_env* env = nullptr;
        int code = mdbx_env_create(&env);
        if (code != MDBX_SUCCESS) return code;
        code = mdbx_env_open(env, path_.c_str(), MDBX_SAFE_NOSYNC, 0600);
        EXPECT_DONE(mdbx_env_close(env));
        return code;
      },
      expect_answer);
  open();
  MDBX_txn* const txn = begin();
  plain_ = table(txn, "plain");
  ASSERT_DONE(mdbx_txn_commit(txn));
  expect_all_there();
}

}  // namespace
}  // namespace hawthorn::mdbx
