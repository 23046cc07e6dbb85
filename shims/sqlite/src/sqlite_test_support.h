#pragma once
// Connections of SQLite's API for tests, and what statements answer, in a form that compares.
//
// Used by tests. Threads: a connection by one at a time.
//
// A value is shown so that two are equal where type and bytes are: `NULL`, `i1`, `r1.5`, `t'text'`,
// `x'00FF'`; long ones by their size and a checksum.

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "shims/directory_test_support.h"

namespace hawthorn::sqlite {

// ---- Values

inline std::string shown_bytes(std::string_view bytes, bool is_text) {
  constexpr size_t kShownMax = 80;
  if (bytes.size() > kShownMax) {
    uint64_t sum = 14695981039346656037U;  // FNV-1a
    for (const char c : bytes) sum = (sum ^ static_cast<unsigned char>(c)) * 1099511628211U;
    char text[64];
    snprintf(text, sizeof(text), "%c[%zu:%016llx]", is_text ? 't' : 'x', bytes.size(),
             static_cast<unsigned long long>(sum));
    return text;
  }
  std::string shown = is_text ? "t'" : "x'";
  for (const char c : bytes) {
    char text[8];
    const bool plain = is_text && c >= ' ' && c < 127;
    snprintf(text, sizeof(text), plain ? "%c" : (is_text ? "\\%02x" : "%02X"),
             static_cast<unsigned char>(c));
    shown += text;
  }
  return shown + "'";
}

inline std::string shown_column(sqlite3_stmt* statement, int column) {
  char text[48];
  switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER:
      return "i" + std::to_string(sqlite3_column_int64(statement, column));
    case SQLITE_FLOAT:
      snprintf(text, sizeof(text), "r%.17g", sqlite3_column_double(statement, column));
      return text;
    case SQLITE_TEXT: {
      const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement, column));
      return shown_bytes({bytes, static_cast<size_t>(sqlite3_column_bytes(statement, column))},
                         true);
    }
    case SQLITE_BLOB: {
      const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement, column));
      const auto size = static_cast<size_t>(sqlite3_column_bytes(statement, column));
      return shown_bytes(size == 0 ? std::string_view() : std::string_view(bytes, size), false);
    }
    default:
      return "NULL";
  }
}

inline std::string shown_row(sqlite3_stmt* statement) {
  std::string row;
  for (int i = 0; i < sqlite3_column_count(statement); ++i) {
    if (i != 0) row += '|';
    row += shown_column(statement, i);
  }
  return row;
}

// ---- Connections

// What SQL has answered: the last of its statements, and the rows of all of them.
struct Answer {
  int code = SQLITE_OK;  // extended
  std::vector<std::string> rows;
  std::string message;  // where it failed

  // The first column of the first row; empty where there is none.
  std::string value() const { return rows.empty() ? std::string() : rows.front(); }
};

class Connection {
 public:
  static constexpr int kFlags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI;

  Connection() = default;
  explicit Connection(const std::string& path) {
    EXPECT_EQ(open(path), SQLITE_OK) << path << ": " << message();
  }
  ~Connection() { close(); }
  Connection(Connection&& other) noexcept : db_(std::exchange(other.db_, nullptr)) {}
  Connection& operator=(Connection&& other) noexcept {
    if (this != &other) {
      close();
      db_ = std::exchange(other.db_, nullptr);
    }
    return *this;
  }

  // The extended code. A connection that could not be opened tells its message until it is closed.
  int open(const std::string& path, int flags = kFlags) {
    close();
    const int code = sqlite3_open_v2(path.c_str(), &db_, flags, nullptr);
    if (code != SQLITE_OK) return sqlite3_extended_errcode(db_);
    sqlite3_extended_result_codes(db_, 1);
    return code;
  }
  void close() {
    if (db_ == nullptr) return;
    const int code = sqlite3_close(std::exchange(db_, nullptr));
    EXPECT_EQ(code, SQLITE_OK) << "a statement was left open";
  }

  sqlite3* get() const { return db_; }
  std::string message() const { return sqlite3_errmsg(db_); }

  // All statements of the text, until one fails.
  Answer run(std::string_view sql) {
    Answer answer;
    const char* at = sql.data();
    const char* const end = at + sql.size();
    while (answer.code == SQLITE_OK && at != end) {
      sqlite3_stmt* statement = nullptr;
      answer.code = sqlite3_prepare_v2(db_, at, static_cast<int>(end - at), &statement, &at);
      if (answer.code == SQLITE_OK && statement != nullptr) {
        while ((answer.code = sqlite3_step(statement)) == SQLITE_ROW) {
          answer.rows.push_back(shown_row(statement));
        }
        const int ended = sqlite3_finalize(statement);
        answer.code = answer.code == SQLITE_DONE ? ended : answer.code;
      }
      if (answer.code != SQLITE_OK) answer.message = message();
    }
    return answer;
  }
  // Of one that has to succeed.
  std::vector<std::string> rows(std::string_view sql) {
    const Answer answer = run(sql);
    EXPECT_EQ(answer.code, SQLITE_OK) << sql << ": " << answer.message;
    return answer.rows;
  }
  std::string value(std::string_view sql) {
    const std::vector<std::string> all = rows(sql);
    return all.empty() ? std::string() : all.front();
  }
  int code(std::string_view sql) { return run(sql).code; }

 private:
  sqlite3* db_ = nullptr;
};

class Statement {
 public:
  Statement(const Connection& connection, const std::string& sql) {
    EXPECT_EQ(sqlite3_prepare_v2(connection.get(), sql.c_str(), -1, &statement_, nullptr),
              SQLITE_OK)
        << sql << ": " << connection.message();
  }
  ~Statement() { sqlite3_finalize(statement_); }
  Statement(Statement&& other) noexcept : statement_(std::exchange(other.statement_, nullptr)) {}
  Statement& operator=(Statement&& other) noexcept {
    std::swap(statement_, other.statement_);
    return *this;
  }

  sqlite3_stmt* get() const { return statement_; }
  int step() { return sqlite3_step(statement_); }
  int reset() { return sqlite3_reset(statement_); }
  std::string row() const { return shown_row(statement_); }

 private:
  sqlite3_stmt* statement_ = nullptr;
};

#define EXPECT_SQL_OK(connection, sql)                                \
  do {                                                                \
    const ::hawthorn::sqlite::Answer answer_ = (connection).run(sql); \
    EXPECT_EQ(answer_.code, SQLITE_OK) << answer_.message;            \
  } while (false)
#define ASSERT_SQL_OK(connection, sql)                                \
  do {                                                                \
    const ::hawthorn::sqlite::Answer answer_ = (connection).run(sql); \
    ASSERT_EQ(answer_.code, SQLITE_OK) << answer_.message;            \
  } while (false)

// ---- Collations

// A collation of a program's own, BEHIND: by the last characters first, and those by NOCASE.
inline int compare_from_behind(void* /*unused*/, int a_size, const void* a, int b_size,
                               const void* b) {
  const auto* const of_a = static_cast<const char*>(a);
  const auto* const of_b = static_cast<const char*>(b);
  while (a_size != 0 && b_size != 0) {
    const int order = sqlite3_strnicmp(&of_a[--a_size], &of_b[--b_size], 1);
    if (order != 0) return order;
  }
  return a_size - b_size;
}

inline void define_behind(Connection& connection) {
  EXPECT_EQ(sqlite3_create_collation(connection.get(), "BEHIND", SQLITE_UTF8, nullptr,
                                     compare_from_behind),
            SQLITE_OK);
}

// ---- Databases

// The directory that the data of the database whose file this is are in; empty where there is none.
inline std::vector<std::string> data_directories(const std::string& path) {
  constexpr size_t kDigits = 12;
  const std::filesystem::path file(path);
  const std::string prefix = file.filename().string() + "-";
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator(file.parent_path())) {
    const std::string name = entry.path().filename().string();
    if (!entry.is_directory() || !name.starts_with(prefix)) continue;
    const std::string digits = name.substr(prefix.size());
    if (digits.size() == kDigits &&
        digits.find_first_not_of("0123456789abcdef") == std::string::npos) {
      found.push_back(entry.path().string());
    }
  }
  return found;
}

class SqliteTest : public ::testing::Test {
 protected:
  ~SqliteTest() override { std::filesystem::remove_all(directory_); }

  std::string path(const std::string& name) const { return directory_ + "/" + name; }

  // The checks of a database that nothing is wrong with.
  static void expect_sound(Connection& connection) {
    EXPECT_EQ(connection.value("PRAGMA integrity_check"), "t'ok'");
    EXPECT_EQ(connection.rows("PRAGMA foreign_key_check").size(), 0U);
  }

  const std::string directory_ = make_test_directory();
  const std::string path_ = directory_ + "/test.db";
};

}  // namespace hawthorn::sqlite
