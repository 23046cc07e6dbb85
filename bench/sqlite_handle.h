#pragma once
// A connection by SQLite's C API and its prepared statements, and what the library behind that API
// is called: SQLite, or this engine where the header is that of our shim.
//
// Not here: SQL, and what a connection is set to. Used by engine_sqlite.cc, tatp_sqlite.cc and
// sql_sqlite.cc, the only files that know sqlite3.h. Errors: EngineError, of kind kBusy where a
// lock was waited for in vain. Threads: a connection and its statements in one at a time.
//
// 1. A statement that failed is reset: it can be bound and run again.

#include <sqlite3.h>

#include <string>
#include <string_view>

#include "bench/engine.h"

namespace hawthorn::bench {

inline std::string sqlite_version() { return std::string("SQLite ") + sqlite3_libversion(); }

// What `PRAGMA synchronous` is set to.
inline const char* sqlite_synchronous(SyncMode sync) {
  return sync == SyncMode::kFull ? "FULL" : sync == SyncMode::kAsync ? "NORMAL" : "OFF";
}

class SqliteConnection {
 public:
  // Creates the file when it is missing.
  SqliteConnection(const std::string& file, int busy_timeout_ms) {
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    try {
      check(sqlite3_open_v2(file.c_str(), &db_, flags, nullptr));
      check(sqlite3_busy_timeout(db_, busy_timeout_ms));
    } catch (...) {
      sqlite3_close_v2(db_);
      throw;
    }
  }
  ~SqliteConnection() { sqlite3_close_v2(db_); }
  SqliteConnection(const SqliteConnection&) = delete;
  SqliteConnection& operator=(const SqliteConnection&) = delete;

  void run(const char* sql) { check(sqlite3_exec(db_, sql, nullptr, nullptr, nullptr)); }

  sqlite3_stmt* prepare(const char* sql) {
    sqlite3_stmt* statement = nullptr;
    check(sqlite3_prepare_v3(db_, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr));
    return statement;
  }

  void check(int code) {
    if (code == SQLITE_OK || code == SQLITE_DONE || code == SQLITE_ROW) return;
    const int primary = code & 0xff;
    throw EngineError(std::string("sqlite: ") + sqlite3_errmsg(db_),
                      primary == SQLITE_FULL   ? EngineError::Kind::kFull
                      : primary == SQLITE_BUSY ? EngineError::Kind::kBusy
                                               : EngineError::Kind::kOther);
  }

  // Of the last call that failed, with what SQLite adds to the code.
  int extended_code() { return sqlite3_extended_errcode(db_); }
  // Rows that the last statement wrote or removed.
  int changes() { return sqlite3_changes(db_); }
  bool in_transaction() { return sqlite3_get_autocommit(db_) == 0; }

 private:
  sqlite3* db_ = nullptr;
};

class SqliteStatement {
 public:
  SqliteStatement(SqliteConnection& connection, const char* sql)
      : connection_(connection), statement_(connection.prepare(sql)) {}
  ~SqliteStatement() { sqlite3_finalize(statement_); }
  SqliteStatement(const SqliteStatement&) = delete;
  SqliteStatement& operator=(const SqliteStatement&) = delete;

  // Text and blobs stay where they are until the next reset.
  void bind(int index, std::string_view blob) {
    // A null pointer would bind NULL.
    const char* const data = blob.empty() ? "" : blob.data();
    connection_.check(sqlite3_bind_blob64(statement_, index, data, blob.size(), SQLITE_STATIC));
  }
  void bind_text(int index, std::string_view text) {
    connection_.check(sqlite3_bind_text(statement_, index, text.data(),
                                        static_cast<int>(text.size()), SQLITE_STATIC));
  }
  void bind(int index, int64_t number) {
    connection_.check(sqlite3_bind_int64(statement_, index, number));
  }

  // Whether there is a row.
  bool step() {
    const int code = sqlite3_step(statement_);
    if (code == SQLITE_ROW) return true;
    if (code == SQLITE_DONE) return false;
    fail(code);
    return false;
  }
  void reset() { sqlite3_reset(statement_); }
  void run() {
    step();
    reset();
  }
  // Runs it. False when a constraint forbids what it does (SqliteConnection::extended_code).
  bool run_unless_forbidden() {
    const int code = sqlite3_step(statement_);
    if ((code & 0xff) != SQLITE_CONSTRAINT && code != SQLITE_DONE) fail(code);
    reset();
    return code == SQLITE_DONE;
  }

  // Lifetime: until the next step or reset.
  std::string_view column(int index) const {
    const auto* const data = static_cast<const char*>(sqlite3_column_blob(statement_, index));
    return {data, static_cast<size_t>(sqlite3_column_bytes(statement_, index))};
  }
  int64_t number(int index) const { return sqlite3_column_int64(statement_, index); }
  bool is_integer(int index) const {
    return sqlite3_column_type(statement_, index) == SQLITE_INTEGER;
  }
  double real(int index) const { return sqlite3_column_double(statement_, index); }
  int columns() const { return sqlite3_column_count(statement_); }
  bool is_real(int index) const { return sqlite3_column_type(statement_, index) == SQLITE_FLOAT; }
  bool is_null(int index) const { return sqlite3_column_type(statement_, index) == SQLITE_NULL; }
  bool is_text(int index) const { return sqlite3_column_type(statement_, index) == SQLITE_TEXT; }

 private:
  void fail(int code) {
    try {
      connection_.check(code);
    } catch (...) {
      reset();
      throw;
    }
    throw EngineError("sqlite: a row where none can be");
  }

  SqliteConnection& connection_;
  sqlite3_stmt* const statement_;
};

}  // namespace hawthorn::bench
