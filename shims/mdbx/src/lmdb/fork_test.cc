// Children of fork while the parent's threads are at work in its environments.

#include "shims/fork_test_support.h"
#include "shims/mdbx/src/lmdb/lmdb_test_support.h"
#include "testing/scaled.h"

namespace hawthorn::lmdb {
namespace {

class Forks : public Environments {
 protected:
  // Tables are opened by one thread at a time, as the API has it.
  static int open_table(MDB_env* env, MDB_dbi* dbi) {
    MDB_txn* txn = nullptr;
    int code = mdb_txn_begin(env, nullptr, 0, &txn);
    if (code == MDB_SUCCESS) code = mdb_dbi_open(txn, "t", MDB_CREATE, dbi);
    return code == MDB_SUCCESS ? mdb_txn_commit(txn) : code;
  }
  // A transaction of its own. Empty, or what went wrong.
  static std::string write(MDB_env* env, MDB_dbi dbi, const std::string& key) {
    MDB_txn* txn = nullptr;
    int code = mdb_txn_begin(env, nullptr, 0, &txn);
    if (code == MDB_SUCCESS) code = put(txn, dbi, key, std::string(300, 'v'));
    if (code == MDB_SUCCESS) code = mdb_txn_commit(txn);
    return code == MDB_SUCCESS ? std::string() : mdb_strerror(code);
  }
  static std::string read(MDB_env* env, MDB_dbi dbi, const std::string& key) {
    MDB_txn* txn = nullptr;
    int code = mdb_txn_begin(env, nullptr, MDB_RDONLY, &txn);
    MDB_val name = bytes(key);
    MDB_val value{};
    if (code == MDB_SUCCESS) code = mdb_get(txn, dbi, &name, &value);
    if (code != MDB_SUCCESS) return mdb_strerror(code);
    const bool same = value.mv_size == 300;
    mdb_txn_abort(txn);
    return same ? "" : "another value";
  }
  // A whole life of another environment.
  static std::string live(const std::string& path) {
    std::filesystem::create_directory(path);
    MDB_env* env = nullptr;
    int code = mdb_env_create(&env);
    if (code == MDB_SUCCESS) code = mdb_env_set_maxdbs(env, 4);
    if (code == MDB_SUCCESS) code = mdb_env_set_mapsize(env, kMapSize);
    if (code == MDB_SUCCESS) code = mdb_env_open(env, path.c_str(), MDB_NOSYNC | MDB_NOTLS, 0600);
    MDB_dbi dbi = 0;
    if (code == MDB_SUCCESS) code = open_table(env, &dbi);
    if (code != MDB_SUCCESS) return mdb_strerror(code);
    for (int i = 0; i < 50; ++i) {
      const std::string key = std::to_string(i);
      if (std::string wrong = write(env, dbi, key); !wrong.empty()) return wrong;
      if (std::string wrong = read(env, dbi, key); !wrong.empty()) return wrong;
    }
    mdb_env_close(env);
    return {};
  }
};

TEST_F(Forks, ChildrenWorkWhateverTheParentIsDoing) {
  open();
  MDB_dbi dbi = 0;
  ASSERT_DONE(open_table(env_, &dbi));
  ASSERT_EQ(write(env_, dbi, "first"), "");
  MDB_txn* const reader = begin(MDB_RDONLY);
  fork_in_the_middle(
      std::max<uint64_t>(10, testing::scaled(40)),
      [&](uint64_t thread, uint64_t round) {
        if (thread == 0 && round % 100 == 1) return live(directory_ + "/other");
        if (round % 3 == 0) return write(env_, dbi, std::to_string(thread << 32 | round % 1000));
        return read(env_, dbi, "first");
      },
      [&](uint64_t child) -> std::string {
        const std::string own = directory_ + "/child" + std::to_string(child % 3);
        if (std::string wrong = live(own); !wrong.empty()) return wrong;
        MDB_txn* txn = nullptr;
        if (mdb_txn_begin(env_, nullptr, 0, &txn) != MDB_PANIC) return "an inherited one begins";
        mdb_txn_abort(reader);
        mdb_env_close(env_);
        return live(own);
      });
  mdb_txn_abort(reader);
  EXPECT_EQ(read(env_, dbi, "first"), "");
}

}  // namespace
}  // namespace hawthorn::lmdb
