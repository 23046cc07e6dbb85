// SQLite's API, with a connection for each thread.

#include <sqlite3.h>

#include <array>
#include <memory>
#include <utility>

#include "tests/environment/store.h"

namespace hawthorn::tests {
namespace {

// A statement that is prepared, run and gone.
class Statement {
 public:
  Statement(sqlite3* connection, const char* sql) {
    code_ = sqlite3_prepare_v2(connection, sql, -1, &statement_, nullptr);
  }
  ~Statement() { sqlite3_finalize(statement_); }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  Statement& bind(int place, std::string_view bytes) {
    if (code_ == SQLITE_OK) {
      code_ = sqlite3_bind_blob(statement_, place, bytes.data(), static_cast<int>(bytes.size()),
                                SQLITE_STATIC);
    }
    return *this;
  }
  int step() { return code_ == SQLITE_OK ? sqlite3_step(statement_) : code_; }
  std::string_view column(int number) {
    const void* const bytes = sqlite3_column_blob(statement_, number);
    return {static_cast<const char*>(bytes),
            static_cast<size_t>(sqlite3_column_bytes(statement_, number))};
  }

 private:
  sqlite3_stmt* statement_ = nullptr;
  int code_ = SQLITE_OK;
};

class SqliteStore final : public Store {
 public:
  SqliteStore() {
    for (std::string& value : values_) value.reserve(size_t{128} << 10);
  }

  Outcome open(const std::string& path) override {
    for (sqlite3*& connection : connections_) {
      const int code = sqlite3_open_v2(path.c_str(), &connection,
                                       SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
      Outcome outcome = outcome_of(connection, code);
      if (outcome.done()) outcome = run(connection, "PRAGMA synchronous=FULL");
      if (outcome.done()) {
        outcome = run(connection,
                      "CREATE TABLE IF NOT EXISTS t(k BLOB PRIMARY KEY, v BLOB)"
                      " WITHOUT ROWID");
      }
      if (outcome.done()) continue;
      static_cast<void>(close());
      return outcome;
    }
    return {};
  }

  Outcome close() override {
    Outcome outcome;
    for (sqlite3*& connection : connections_) {
      const Outcome closed = outcome_of(connection, sqlite3_close(connection));
      if (!closed.done()) outcome = closed;
      connection = nullptr;
    }
    return outcome;
  }

  Outcome write(unsigned thread, std::span<const Write> writes) override {
    sqlite3* const connection = connections_[thread];
    Outcome outcome = run(connection, "BEGIN IMMEDIATE");
    if (!outcome.done()) return outcome;
    std::string_view before;
    outcome = get(thread, writes[0].key, before);
    if (outcome.ending == Ending::kNone) outcome = {};
    for (const Write& write : writes) {
      if (!outcome.done()) break;
      Statement statement(connection, write.remove ? "DELETE FROM t WHERE k = ?1"
                                                   : "INSERT OR REPLACE INTO t VALUES (?1, ?2)");
      statement.bind(1, write.key);
      if (!write.remove) statement.bind(2, write.value);
      outcome = outcome_of(connection, statement.step());
    }
    if (outcome.done()) {
      outcome = run(connection, "COMMIT");
      // The engine's kUnknownOutcome has this code, too.
      const bool is_unknown = (sqlite3_errcode(connection) & 0xff) == SQLITE_IOERR;
      if (!outcome.done() && is_unknown) outcome.ending = Ending::kUnknown;
    }
    if (sqlite3_get_autocommit(connection) == 0) {
      static_cast<void>(run(connection, "ROLLBACK"));
    }
    return outcome;
  }

  Outcome get(unsigned thread, std::string_view key, std::string_view& value) override {
    sqlite3* const connection = connections_[thread];
    Statement statement(connection, "SELECT v FROM t WHERE k = ?1");
    const int code = statement.bind(1, key).step();
    if (code == SQLITE_DONE) return Outcome::of(Ending::kNone);
    if (code == SQLITE_ROW) value = values_[thread].assign(statement.column(0));
    return outcome_of(connection, code);
  }

  Outcome scan(unsigned thread, std::string_view low, std::string_view high, Visit visit,
               void* context) override {
    sqlite3* const connection = connections_[thread];
    Statement statement(connection, "SELECT k, v FROM t WHERE k >= ?1 AND k < ?2 ORDER BY k");
    statement.bind(1, low).bind(2, high);
    int code = SQLITE_OK;
    while ((code = statement.step()) == SQLITE_ROW) {
      visit(context, statement.column(0), statement.column(1));
    }
    return outcome_of(connection, code);
  }

  Outcome tend(unsigned thread, uint64_t turn) override {
    Outcome outcome = run(connections_[thread],
                          turn % 2 == 0 ? "PRAGMA wal_checkpoint(TRUNCATE)" : "PRAGMA optimize");
    // Others write.
    if (outcome.ending == Ending::kAgain) outcome = {};
    return outcome;
  }

  Outcome check(unsigned thread) override {
    sqlite3* const connection = connections_[thread];
    Statement statement(connection, "PRAGMA integrity_check");
    const int code = statement.step();
    if (code != SQLITE_ROW) return outcome_of(connection, code);
    const std::string_view found = statement.column(0);
    return found == "ok" ? Outcome{} : Outcome::of(Ending::kRefused, found);
  }

 private:
  static Outcome outcome_of(sqlite3* connection, int code) {
    if (code == SQLITE_OK || code == SQLITE_DONE || code == SQLITE_ROW) return {};
    const bool is_busy = (code & 0xff) == SQLITE_BUSY || (code & 0xff) == SQLITE_LOCKED;
    return Outcome::of(is_busy ? Ending::kAgain : Ending::kRefused,
                       connection == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(connection));
  }

  static Outcome run(sqlite3* connection, const char* sql) {
    return outcome_of(connection, sqlite3_exec(connection, sql, nullptr, nullptr, nullptr));
  }

  std::array<sqlite3*, kThreads> connections_{};
  std::array<std::string, kThreads> values_;
};

}  // namespace
}  // namespace hawthorn::tests

int main(int argc, char** argv) {
  using namespace hawthorn::tests;
  return run_environment(argc, argv, "sqlite", [] { return std::make_unique<SqliteStore>(); });
}
