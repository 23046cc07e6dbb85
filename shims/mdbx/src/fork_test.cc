// Children of fork while the parent's threads are at work in its environments.

#include "shims/fork_test_support.h"
#include "shims/mdbx/src/mdbx_test_support.h"
#include "testing/scaled.h"

namespace hawthorn::mdbx {
namespace {

class Forks : public Environments {
 protected:
  // A transaction of its own. Empty, or what went wrong.
  static std::string write(MDBX_env* env, const std::string& key) {
    MDBX_txn* txn = nullptr;
    MDBX_dbi dbi = 0;
    int code = mdbx_txn_begin(env, nullptr, MDBX_TXN_READWRITE, &txn);
    if (code == MDBX_SUCCESS) code = mdbx_dbi_open(txn, "t", MDBX_CREATE, &dbi);
    if (code == MDBX_SUCCESS) code = put(txn, dbi, key, std::string(300, 'v'));
    if (code == MDBX_SUCCESS) code = mdbx_txn_commit(txn);
    return code == MDBX_SUCCESS ? std::string() : mdbx_strerror(code);
  }
  static std::string read(MDBX_env* env, const std::string& key) {
    MDBX_txn* txn = nullptr;
    MDBX_dbi dbi = 0;
    int code = mdbx_txn_begin(env, nullptr, MDBX_TXN_RDONLY, &txn);
    if (code == MDBX_SUCCESS) code = mdbx_dbi_open(txn, "t", MDBX_DB_ACCEDE, &dbi);
    if (code != MDBX_SUCCESS) return mdbx_strerror(code);
    const std::string found = get(txn, dbi, key);
    code = mdbx_txn_abort(txn);
    return code == MDBX_SUCCESS && found.size() == 300 ? std::string() : "another value: " + found;
  }
  // A whole life of another environment.
  std::string live(const std::string& path) {
    MDBX_env* const env = create();
    const int opened = mdbx_env_open(env, path.c_str(), MDBX_SAFE_NOSYNC, 0600);
    if (opened != MDBX_SUCCESS) return mdbx_strerror(opened);
    for (int i = 0; i < 50; ++i) {
      const std::string key = std::to_string(i);
      if (std::string wrong = write(env, key); !wrong.empty()) return wrong;
      if (std::string wrong = read(env, key); !wrong.empty()) return wrong;
    }
    const int closed = mdbx_env_close(env);
    return closed == MDBX_SUCCESS ? std::string() : mdbx_strerror(closed);
  }
};

TEST_F(Forks, ChildrenWorkWhateverTheParentIsDoing) {
  open();
  ASSERT_EQ(write(env_, "first"), "");
  MDBX_txn* const reader = begin(MDBX_TXN_RDONLY);
  fork_in_the_middle(
      std::max<uint64_t>(10, testing::scaled(40)),
      [&](uint64_t thread, uint64_t round) {
        if (thread == 0 && round % 100 == 1) return live(directory_ + "/other");
        if (round % 3 == 0) return write(env_, std::to_string(thread << 32 | round % 1000));
        return read(env_, "first");
      },
      [&](uint64_t child) -> std::string {
        std::string wrong = live(directory_ + "/child" + std::to_string(child % 3));
        if (!wrong.empty()) return wrong;
        MDBX_txn* txn = nullptr;
        if (mdbx_txn_begin(env_, nullptr, MDBX_TXN_READWRITE, &txn) != MDBX_PANIC) return "begun";
        static_cast<void>(mdbx_txn_abort(reader));
        if (mdbx_env_close(env_) != MDBX_SUCCESS) return "an inherited one is not closed";
        return live(directory_ + "/child" + std::to_string(child % 3));
      });
  EXPECT_DONE(mdbx_txn_abort(reader));
  EXPECT_EQ(read(env_, "first"), "");
}

}  // namespace
}  // namespace hawthorn::mdbx
