#pragma once
// The files that name databases, for tests of them.
//
// Used by tests. Threads: one.

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "shims/sqlite/src/sqlite_test_support.h"

namespace hawthorn::sqlite {

inline std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void write_content(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
}

class FilesTest : public SqliteTest {
 protected:
  static constexpr int kReadOnly = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI;
  static constexpr int kNoCreate = SQLITE_OPEN_READWRITE | SQLITE_OPEN_URI;

  void make(const std::string& file, const std::string& value) {
    Connection made(file);
    ASSERT_SQL_OK(made, "PRAGMA synchronous = OFF");
    ASSERT_SQL_OK(made, "CREATE TABLE t(a); INSERT INTO t VALUES('" + value + "')");
  }
  static std::string uri(const std::string& file, const std::string& parameters) {
    return "file:" + file + "?" + parameters;
  }
  static bool is_stock(const std::string& file) {
    return content_of(file).starts_with("SQLite format 3");
  }
  static std::string only_directory(const std::string& file) {
    const std::vector<std::string> all = data_directories(file);
    EXPECT_EQ(all.size(), 1U);
    return all.empty() ? std::string() : all.front();
  }
};

}  // namespace hawthorn::sqlite
