// The SQL workload's database by SQLite's API; or, compiled against our header of it, this engine
// by that. Write-ahead log with SQLite's own interval of checkpoints, one connection.

#include <utility>

#include "bench/engine_registry.h"
#include "bench/sql_database.h"
#include "bench/sqlite_handle.h"
#include "bench/text.h"

namespace hawthorn::bench {
namespace {

constexpr int kSqlBusyTimeoutMs = 5000;

class SqliteSqlStatement : public SqlStatement {
 public:
  SqliteSqlStatement(SqliteConnection& connection, const std::string& sql)
      : connection_(connection), statement_(connection, sql.c_str()) {}

  void bind(int index, const SqlValue& value) override {
    if (const auto* number = std::get_if<int64_t>(&value)) {
      statement_.bind(index, *number);
    } else {
      statement_.bind_text(index, std::get<std::string>(value));
    }
  }
  bool step() override { return statement_.step(); }
  int columns() const override { return statement_.columns(); }
  SqlColumn column(int index) const override {
    if (statement_.is_integer(index)) return statement_.number(index);
    if (statement_.is_real(index)) return statement_.real(index);
    if (statement_.is_null(index)) return std::monostate();
    return statement_.column(index);
  }
  void reset() override { statement_.reset(); }
  int64_t changes() const override { return connection_.changes(); }

 private:
  SqliteConnection& connection_;
  SqliteStatement statement_;
};

class SqliteSql : public SqlDatabase {
 public:
  std::string version() const override { return sqlite_version(); }
  std::string settings() const override {
    return print_text("WAL, synchronous %s, cache %s", sqlite_synchronous(config_.sync),
                      size_text(static_cast<double>(config_.cache_bytes)).c_str());
  }

  void open(const SqlConfig& config) override {
    config_ = config;
    connection_ =
        std::make_unique<SqliteConnection>(config.path + "/sql.sqlite", kSqlBusyTimeoutMs);
    connection_->run("PRAGMA journal_mode=WAL");
    connection_->run(print_text("PRAGMA synchronous=%s", sqlite_synchronous(config.sync)).c_str());
    connection_->run(print_text("PRAGMA cache_size=-%zu", config.cache_bytes / 1024).c_str());
    // The file is read when it is first used, not when it is opened.
    connection_->run("SELECT COUNT(*) FROM sqlite_master");
  }
  void close() override { connection_.reset(); }
  void drain() override { connection_->run("PRAGMA wal_checkpoint(TRUNCATE)"); }

  std::unique_ptr<SqlStatement> prepare(const std::string& sql) override {
    return std::make_unique<SqliteSqlStatement>(*connection_, sql);
  }

 private:
  SqlConfig config_;
  std::unique_ptr<SqliteConnection> connection_;
};

}  // namespace

std::unique_ptr<SqlDatabase> make_sql_sqlite() { return std::make_unique<SqliteSql>(); }

}  // namespace hawthorn::bench
