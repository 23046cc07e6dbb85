#pragma once
// What the tests share: an environment in a directory of its own, and values in short.
//
// Used by tests. Threads: one.

#include <gtest/gtest.h>
#include <mdbx.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "shims/directory_test_support.h"

namespace hawthorn::mdbx {

#define ASSERT_DONE(call) ASSERT_EQ((call), MDBX_SUCCESS)
#define EXPECT_DONE(call) EXPECT_EQ((call), MDBX_SUCCESS)

inline MDBX_val bytes(std::string_view text) {
  MDBX_val value;
  value.iov_base = const_cast<char*>(text.data());
  value.iov_len = text.size();
  return value;
}
inline std::string text(const MDBX_val& value) {
  return std::string(static_cast<const char*>(value.iov_base), value.iov_len);
}

class Environments : public ::testing::Test {
 protected:
  Environments() {
    directory_ = make_test_directory();
    path_ = directory_ + "/env";
  }
  ~Environments() override {
    close();
    std::filesystem::remove_all(directory_);
  }

  MDBX_env* create() {
    MDBX_env* env = nullptr;
    EXPECT_DONE(mdbx_env_create(&env));
    EXPECT_DONE(mdbx_env_set_maxdbs(env, 20));
    EXPECT_DONE(mdbx_env_set_option(env, MDBX_opt_hawthorn_memory, 32 << 20));
    return env;
  }
  void open(unsigned flags = MDBX_SAFE_NOSYNC) {
    env_ = create();
    ASSERT_DONE(mdbx_env_open(env_, path_.c_str(), static_cast<MDBX_env_flags_t>(flags), 0600));
  }
  void close() {
    if (env_ == nullptr) return;
    EXPECT_DONE(mdbx_env_close(std::exchange(env_, nullptr)));
  }
  void reopen(unsigned flags = MDBX_SAFE_NOSYNC) {
    close();
    open(flags);
  }

  MDBX_txn* begin(MDBX_txn_flags_t flags = MDBX_TXN_READWRITE, MDBX_txn* parent = nullptr) {
    MDBX_txn* txn = nullptr;
    EXPECT_DONE(mdbx_txn_begin(env_, parent, flags, &txn));
    return txn;
  }
  MDBX_dbi table(MDBX_txn* txn, const char* name, unsigned flags = MDBX_CREATE) {
    MDBX_dbi dbi = 0;
    EXPECT_DONE(mdbx_dbi_open(txn, name, static_cast<MDBX_db_flags_t>(flags), &dbi));
    return dbi;
  }
  static int put(MDBX_txn* txn, MDBX_dbi dbi, std::string_view key, std::string_view value,
                 unsigned flags = MDBX_UPSERT) {
    const MDBX_val k = bytes(key);
    MDBX_val v = bytes(value);
    return mdbx_put(txn, dbi, &k, &v, static_cast<MDBX_put_flags_t>(flags));
  }
  static int del(MDBX_txn* txn, MDBX_dbi dbi, std::string_view key) {
    const MDBX_val k = bytes(key);
    return mdbx_del(txn, dbi, &k, nullptr);
  }
  static int del(MDBX_txn* txn, MDBX_dbi dbi, std::string_view key, std::string_view value) {
    const MDBX_val k = bytes(key);
    const MDBX_val v = bytes(value);
    return mdbx_del(txn, dbi, &k, &v);
  }
  static std::string get(MDBX_txn* txn, MDBX_dbi dbi, std::string_view key) {
    const MDBX_val k = bytes(key);
    MDBX_val v;
    const int code = mdbx_get(txn, dbi, &k, &v);
    if (code == MDBX_NOTFOUND) return "(missing)";
    return code == MDBX_SUCCESS ? text(v) : mdbx_strerror(code);
  }
  // All entries, as "key=value key=value ".
  static std::string all(MDBX_txn* txn, MDBX_dbi dbi) {
    MDBX_cursor* cursor = nullptr;
    EXPECT_DONE(mdbx_cursor_open(txn, dbi, &cursor));
    std::string result;
    MDBX_val key;
    MDBX_val value;
    int code = mdbx_cursor_get(cursor, &key, &value, MDBX_FIRST);
    for (; code == MDBX_SUCCESS; code = mdbx_cursor_get(cursor, &key, &value, MDBX_NEXT)) {
      result += text(key) + "=" + text(value) + " ";
    }
    EXPECT_EQ(code, MDBX_NOTFOUND);
    mdbx_cursor_close(cursor);
    return result;
  }

  std::string directory_;
  std::string path_;
  MDBX_env* env_ = nullptr;
};

}  // namespace hawthorn::mdbx
