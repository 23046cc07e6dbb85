#pragma once
// What the tests share: an environment in a directory of its own, and values in short.
//
// Used by tests. Threads: one.

#include <gtest/gtest.h>
#include <lmdb.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "shims/directory_test_support.h"

namespace hawthorn::lmdb {

#define ASSERT_DONE(call) ASSERT_EQ((call), MDB_SUCCESS)
#define EXPECT_DONE(call) EXPECT_EQ((call), MDB_SUCCESS)

inline MDB_val bytes(std::string_view text) {
  return {text.size(), const_cast<char*>(text.data())};
}
inline std::string text(const MDB_val& value) {
  return std::string(static_cast<const char*>(value.mv_data), value.mv_size);
}

class Environments : public ::testing::Test {
 protected:
  static constexpr size_t kMapSize = size_t{64} << 20;

  Environments() {
    directory_ = make_test_directory();
    path_ = directory_ + "/env";
    std::filesystem::create_directory(path_);
  }
  ~Environments() override {
    close();
    std::filesystem::remove_all(directory_);
  }

  void open(unsigned flags = MDB_NOSYNC | MDB_NOTLS) {
    ASSERT_DONE(mdb_env_create(&env_));
    ASSERT_DONE(mdb_env_set_maxdbs(env_, 20));
    ASSERT_DONE(mdb_env_set_mapsize(env_, kMapSize));
    ASSERT_DONE(mdb_env_open(env_, path_.c_str(), flags, 0600));
  }
  void close() {
    if (env_ != nullptr) mdb_env_close(std::exchange(env_, nullptr));
  }
  void reopen(unsigned flags = MDB_NOSYNC | MDB_NOTLS) {
    close();
    open(flags);
  }

  MDB_txn* begin(unsigned flags = 0, MDB_txn* parent = nullptr) {
    MDB_txn* txn = nullptr;
    EXPECT_DONE(mdb_txn_begin(env_, parent, flags, &txn));
    return txn;
  }
  static MDB_dbi table(MDB_txn* txn, const char* name, unsigned flags = MDB_CREATE) {
    MDB_dbi dbi = 0;
    EXPECT_DONE(mdb_dbi_open(txn, name, flags, &dbi));
    return dbi;
  }
  static MDB_cursor* cursor(MDB_txn* txn, MDB_dbi dbi) {
    MDB_cursor* made = nullptr;
    EXPECT_DONE(mdb_cursor_open(txn, dbi, &made));
    return made;
  }
  static int put(MDB_txn* txn, MDB_dbi dbi, std::string_view key, std::string_view value,
                 unsigned flags = 0) {
    MDB_val k = bytes(key);
    MDB_val v = bytes(value);
    return mdb_put(txn, dbi, &k, &v, flags);
  }
  static int put(MDB_cursor* cursor, std::string_view key, std::string_view value,
                 unsigned flags = 0) {
    MDB_val k = bytes(key);
    MDB_val v = bytes(value);
    return mdb_cursor_put(cursor, &k, &v, flags);
  }
  static int del(MDB_txn* txn, MDB_dbi dbi, std::string_view key) {
    MDB_val k = bytes(key);
    return mdb_del(txn, dbi, &k, nullptr);
  }
  static int del(MDB_txn* txn, MDB_dbi dbi, std::string_view key, std::string_view value) {
    MDB_val k = bytes(key);
    MDB_val v = bytes(value);
    return mdb_del(txn, dbi, &k, &v);
  }
  static std::string get(MDB_txn* txn, MDB_dbi dbi, std::string_view key) {
    MDB_val k = bytes(key);
    MDB_val v{};
    const int code = mdb_get(txn, dbi, &k, &v);
    if (code == MDB_NOTFOUND) return "(missing)";
    return code == MDB_SUCCESS ? text(v) : mdb_strerror(code);
  }
  // Where a cursor is behind an operation: "key=value", or the error.
  static std::string move(MDB_cursor* cursor, MDB_cursor_op op, std::string_view key = {},
                          std::string_view value = {}) {
    MDB_val k = bytes(key);
    MDB_val v = bytes(value);
    const int code = mdb_cursor_get(cursor, &k, &v, op);
    if (code == MDB_NOTFOUND) return "(missing)";
    if (code == EINVAL) return "(invalid)";
    return code == MDB_SUCCESS ? text(k) + "=" + text(v) : mdb_strerror(code);
  }
  // All entries, as "key=value key=value ".
  static std::string all(MDB_txn* txn, MDB_dbi dbi) {
    MDB_cursor* const walk = cursor(txn, dbi);
    std::string result;
    std::string at = move(walk, MDB_FIRST);
    for (; at != "(missing)"; at = move(walk, MDB_NEXT)) result += at + " ";
    mdb_cursor_close(walk);
    return result;
  }

  std::string directory_;
  std::string path_;
  MDB_env* env_ = nullptr;
};

}  // namespace hawthorn::lmdb
