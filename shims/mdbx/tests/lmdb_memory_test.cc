// Where a function of LMDB's API finds no memory it answers ENOMEM: nothing is thrown or hangs, a
// write has failed with its transaction or has changed nothing, and all works again.

#include "shims/mdbx/src/lmdb/lmdb_test_support.h"
#include "shims/memory_test_support.h"

namespace hawthorn::lmdb {
namespace {

using tests::Refuse;
using tests::refuse_each;
using tests::Undisturbed;

constexpr int kBefore = 40;
// Too long for a string's own bytes, so that a copy of one asks for memory.
constexpr const char* kNewKey = "a key that is not there before a test puts it";
constexpr const char* kNewTable = "a table that is not there before a test makes it";

std::string key_of(int i) {
  return "a key that is longer than a short string " + std::to_string(100 + i);
}

class LmdbMemory : public Environments {
 protected:
  void SetUp() override {
    open();
    MDB_txn* const txn = begin();
    main_ = table(txn, nullptr, 0);
    plain_ = table(txn, "plain");
    sorted_ = table(txn, "sorted", MDB_CREATE | MDB_DUPSORT);
    for (int i = 0; i < kBefore; ++i) {
      ASSERT_DONE(put(txn, plain_, key_of(i), "value"));
      ASSERT_DONE(put(txn, sorted_, key_of(i / 4), key_of(i)));
    }
    ASSERT_DONE(mdb_txn_commit(txn));
  }

  void expect_all_there() {
    MDB_txn* const txn = begin(MDB_RDONLY);
    for (int i = 0; i < kBefore; ++i) ASSERT_EQ(get(txn, plain_, key_of(i)), "value");
    MDB_stat stat{};
    ASSERT_DONE(mdb_stat(txn, sorted_, &stat));
    ASSERT_EQ(stat.ms_entries, size_t{kBefore});
    mdb_txn_abort(txn);
  }
  // As it was before a write of the tests.
  void undo() {
    const Undisturbed unnoticed;
    MDB_txn* const txn = begin();
    for (const MDB_dbi dbi : {main_, plain_, sorted_}) del(txn, dbi, kNewKey);
    MDB_dbi dbi = 0;
    if (mdb_dbi_open(txn, kNewTable, 0, &dbi) == MDB_SUCCESS) {
      EXPECT_DONE(mdb_drop(txn, dbi, 1));
    }
    EXPECT_DONE(mdb_txn_commit(txn));
  }
  // What a call may answer: what it is to, or that there was no memory.
  static void expect_answer(int code, bool refused) {
    EXPECT_TRUE(code == MDB_SUCCESS || (refused && code == ENOMEM)) << mdb_strerror(code);
  }
  // Each call by itself, in a transaction that reads.
  template <typename Work>
  void refuse_reads(const char* name, const Work& work) {
    refuse_each(
        name, Refuse::kShimHelpless,
        [&] {
          MDB_txn* txn = nullptr;
          int code = mdb_txn_begin(env_, nullptr, MDB_RDONLY, &txn);
          if (code != MDB_SUCCESS) return code;
          code = work(txn);
          mdb_txn_abort(txn);
          return code;
        },
        expect_answer);
  }
  // In a transaction that writes: after a failure that can only be aborted, or nothing was changed.
  // `there`: what is to be seen of it in a later transaction.
  template <typename Work, typename There>
  void refuse_writes(const char* name, const Work& work, const There& there) {
    refuse_each(
        name, Refuse::kShimHelpless,
        [&] {
          undo();
          MDB_txn* txn = nullptr;
          int code = mdb_txn_begin(env_, nullptr, 0, &txn);
          if (code != MDB_SUCCESS) return code;
          code = work(txn);
          if (code != MDB_SUCCESS) {
            mdb_txn_abort(txn);
            return code;
          }
          return mdb_txn_commit(txn);
        },
        [&](int code, bool refused) {
          expect_answer(code, refused);
          MDB_txn* const txn = begin();
          EXPECT_EQ(there(txn), code == MDB_SUCCESS);
          mdb_txn_abort(txn);
        });
    // The same, where the program goes on after it.
    refuse_each(
        name, Refuse::kShimHelpless,
        [&] {
          undo();
          MDB_txn* txn = nullptr;
          int code = mdb_txn_begin(env_, nullptr, 0, &txn);
          if (code != MDB_SUCCESS) return code;
          code = work(txn);
          if (code == MDB_SUCCESS) {
            mdb_txn_abort(txn);
            return code;
          }
          const int committed = mdb_txn_commit(txn);
          EXPECT_TRUE(committed == MDB_BAD_TXN || committed == MDB_SUCCESS);
          const Undisturbed look;
          MDB_txn* const later = begin();
          EXPECT_FALSE(there(later));
          mdb_txn_abort(later);
          return code;
        },
        expect_answer);
    refuse_each(
        name, Refuse::kAnyMadeUpFor,
        [&] {
          undo();
          MDB_txn* const txn = begin();
          const int code = work(txn);
          mdb_txn_abort(txn);
          return code;
        },
        [](int code, bool) { EXPECT_DONE(code); }, 40);
  }

  MDB_dbi main_ = 0;
  MDB_dbi plain_ = 0;
  MDB_dbi sorted_ = 0;
};

TEST_F(LmdbMemory, environments) {
  refuse_each(
      "create", Refuse::kShimHelpless,
      [] {
        MDB_env* env = nullptr;
        const int code = mdb_env_create(&env);
        mdb_env_close(env);
        return code;
      },
      expect_answer);
  close();
  refuse_each(
      "open", Refuse::kShimHelpless,
      [&] {
        MDB_env* env = nullptr;
        int code = mdb_env_create(&env);
        if (code == MDB_SUCCESS) code = mdb_env_set_maxdbs(env, 20);
        if (code == MDB_SUCCESS) code = mdb_env_open(env, path_.c_str(), MDB_NOSYNC, 0600);
        mdb_env_close(env);
        return code;
      },
      expect_answer);
  open();
  MDB_txn* const txn = begin();
  plain_ = table(txn, "plain");
  sorted_ = table(txn, "sorted", MDB_DUPSORT);
  ASSERT_DONE(mdb_txn_commit(txn));
  expect_all_there();
  const auto told = [](const char*, void*) { return 0; };
  refuse_reads("told", [&](MDB_txn* reader) {
    MDB_envinfo info{};
    MDB_stat stat{};
    const char* path = nullptr;
    int code = mdb_env_info(env_, &info);
    if (code == MDB_SUCCESS) code = mdb_env_stat(env_, &stat);
    if (code == MDB_SUCCESS) code = mdb_stat(reader, plain_, &stat);
    if (code == MDB_SUCCESS) code = mdb_env_get_path(env_, &path);
    if (code == MDB_SUCCESS) code = mdb_reader_list(env_, told, nullptr);
    if (code == MDB_SUCCESS) code = mdb_env_sync(env_, 1);
    return code;
  });
  int copies = 0;
  refuse_each(
      "copy", Refuse::kShimHelpless,
      [&] {
        const std::string target = directory_ + "/copy" + std::to_string(copies++);
        std::filesystem::create_directory(target);
        return mdb_env_copy(env_, target.c_str());
      },
      expect_answer);
  expect_all_there();
}

TEST_F(LmdbMemory, reads) {
  refuse_reads("get", [&](MDB_txn* txn) {
    const std::string key = key_of(3);
    MDB_val k = bytes(key);
    MDB_val v{};
    const int code = mdb_get(txn, plain_, &k, &v);
    return code == MDB_SUCCESS ? mdb_get(txn, sorted_, &k, &v) : code;
  });
  for (const MDB_dbi dbi : {plain_, sorted_}) {
    refuse_reads("walk", [&](MDB_txn* txn) {
      MDB_cursor* walk = nullptr;
      int code = mdb_cursor_open(txn, dbi, &walk);
      if (code != MDB_SUCCESS) return code;
      const std::string key = key_of(3);
      for (const MDB_cursor_op op :
           {MDB_FIRST, MDB_NEXT, MDB_SET_KEY, MDB_SET_RANGE, MDB_NEXT, MDB_NEXT_NODUP, MDB_PREV,
            MDB_PREV_NODUP, MDB_LAST, MDB_GET_CURRENT}) {
        MDB_val k = bytes(key);
        MDB_val v{};
        if (code == MDB_SUCCESS) code = mdb_cursor_get(walk, &k, &v, op);
      }
      size_t count = 0;
      if (code == MDB_SUCCESS && dbi == sorted_) code = mdb_cursor_count(walk, &count);
      if (code != MDB_SUCCESS) {
        // It goes on to work.
        EXPECT_EQ(move(walk, MDB_FIRST).substr(0, key.size()), key_of(0));
      }
      mdb_cursor_close(walk);
      return code;
    });
  }
  refuse_each(
      "renew", Refuse::kShimHelpless,
      [&] {
        MDB_txn* txn = nullptr;
        int code = mdb_txn_begin(env_, nullptr, MDB_RDONLY, &txn);
        if (code != MDB_SUCCESS) return code;
        for (int i = 0; i < 3 && code == MDB_SUCCESS; ++i) {
          mdb_txn_reset(txn);
          code = mdb_txn_renew(txn);
        }
        if (code != MDB_SUCCESS) {
          EXPECT_DONE(mdb_txn_renew(txn));
        }
        const Undisturbed look;
        EXPECT_EQ(get(txn, plain_, key_of(7)), "value");
        mdb_txn_abort(txn);
        return code;
      },
      expect_answer);
  expect_all_there();
}

TEST_F(LmdbMemory, writes) {
  const std::string key = kNewKey;
  const auto is_there = [&](MDB_txn* txn) { return get(txn, plain_, key) == "new"; };
  refuse_writes("put", [&](MDB_txn* txn) { return put(txn, plain_, key, "new"); }, is_there);
  // The names of tables are among the keys of the main one: it looks for this one there. And a
  // value that is there is handed out.
  refuse_writes(
      "put where names are", [&](MDB_txn* txn) { return put(txn, main_, key, "new"); },
      [&](MDB_txn* txn) { return get(txn, main_, key) == "new"; });
  refuse_writes(
      "put where something is",
      [&](MDB_txn* txn) {
        const int code = put(txn, plain_, key_of(5), "other", MDB_NOOVERWRITE);
        return code == MDB_KEYEXIST ? put(txn, plain_, key, "new") : code;
      },
      is_there);
  refuse_writes(
      "del",
      [&](MDB_txn* txn) {
        int code = put(txn, plain_, key, "old");
        if (code == MDB_SUCCESS) code = del(txn, plain_, key);
        return code == MDB_SUCCESS ? put(txn, plain_, key, "new") : code;
      },
      is_there);
  refuse_writes(
      "put by a cursor",
      [&](MDB_txn* txn) {
        MDB_cursor* at = nullptr;
        int code = mdb_cursor_open(txn, plain_, &at);
        if (code == MDB_SUCCESS) code = put(at, key, "old");
        if (code == MDB_SUCCESS) code = put(at, key, "new", MDB_CURRENT);
        return code;
      },
      is_there);
  refuse_writes(
      "del by a cursor",
      [&](MDB_txn* txn) {
        MDB_cursor* at = nullptr;
        int code = mdb_cursor_open(txn, plain_, &at);
        MDB_val k = bytes(key);
        MDB_val v{};
        if (code == MDB_SUCCESS) code = put(txn, plain_, key, "old");
        if (code == MDB_SUCCESS) code = mdb_cursor_get(at, &k, &v, MDB_SET_KEY);
        if (code == MDB_SUCCESS) code = mdb_cursor_del(at, 0);
        return code == MDB_SUCCESS ? put(txn, plain_, key, "new") : code;
      },
      is_there);
  refuse_writes(
      "one of several values",
      [&](MDB_txn* txn) {
        MDB_cursor* at = nullptr;
        int code = mdb_cursor_open(txn, sorted_, &at);
        if (code == MDB_SUCCESS) code = put(at, key, key, MDB_NODUPDATA);
        if (code == MDB_SUCCESS) code = put(at, key, key + "2", MDB_APPENDDUP);
        if (code == MDB_SUCCESS) code = put(at, key, key + "3", MDB_CURRENT);
        if (code == MDB_SUCCESS) code = del(txn, sorted_, key, key);
        if (code == MDB_SUCCESS) code = mdb_cursor_del(at, MDB_NODUPDATA);
        return code == MDB_SUCCESS ? put(txn, plain_, key, "new") : code;
      },
      is_there);
  undo();
  expect_all_there();
}

TEST_F(LmdbMemory, nested_transactions) {
  const std::string key = kNewKey;
  refuse_writes(
      "nested",
      [&](MDB_txn* txn) {
        MDB_txn* inner = nullptr;
        int code = mdb_txn_begin(env_, txn, 0, &inner);
        if (code != MDB_SUCCESS) return code;
        MDB_dbi dbi = 0;
        code = mdb_dbi_open(inner, "of the inner one", MDB_CREATE, &dbi);
        if (code == MDB_SUCCESS) code = put(inner, dbi, key, "new");
        if (code == MDB_SUCCESS) code = mdb_drop(inner, dbi, 1);
        if (code == MDB_SUCCESS) code = put(inner, plain_, key, "new");
        if (code == MDB_SUCCESS) return mdb_txn_commit(inner);
        mdb_txn_abort(inner);
        return code;
      },
      [&](MDB_txn* txn) { return get(txn, plain_, key) == "new"; });
  undo();
  expect_all_there();
}

TEST_F(LmdbMemory, tables) {
  const auto backwards = [](const MDB_val* a, const MDB_val* b) {
    const int order = text(*b).compare(text(*a));
    return order;
  };
  const auto is_there = [&](MDB_txn* txn) {
    MDB_dbi dbi = 0;
    return mdb_dbi_open(txn, kNewTable, 0, &dbi) == MDB_SUCCESS;
  };
  refuse_writes(
      "make",
      [&](MDB_txn* txn) {
        MDB_dbi dbi = 0;
        int code = mdb_dbi_open(txn, kNewTable, MDB_CREATE, &dbi);
        if (code == MDB_SUCCESS) code = put(txn, dbi, "a", "b");
        return code;
      },
      is_there);
  refuse_writes(
      "drop",
      [&](MDB_txn* txn) {
        MDB_dbi dbi = 0;
        int code = mdb_dbi_open(txn, kNewTable, MDB_CREATE, &dbi);
        if (code == MDB_SUCCESS) code = mdb_drop(txn, dbi, 0);
        if (code == MDB_SUCCESS) code = mdb_drop(txn, dbi, 1);
        return code == MDB_SUCCESS ? put(txn, plain_, kNewKey, "new") : code;
      },
      [&](MDB_txn* txn) { return get(txn, plain_, kNewKey) == "new"; });
  refuse_writes(
      "order",
      [&](MDB_txn* txn) {
        MDB_dbi dbi = 0;
        int code = mdb_dbi_open(txn, kNewTable, MDB_CREATE, &dbi);
        if (code == MDB_SUCCESS) code = mdb_set_compare(txn, dbi, backwards);
        if (code == MDB_SUCCESS) code = put(txn, dbi, "a", "1");
        return code == MDB_SUCCESS ? put(txn, dbi, "b", "2") : code;
      },
      is_there);
  undo();
  expect_all_there();
}

}  // namespace
}  // namespace hawthorn::lmdb
