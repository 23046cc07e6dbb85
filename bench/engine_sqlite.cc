// SQLite as a key-value store: one table WITHOUT ROWID, write-ahead log, prepared statements, one
// connection for each writer and reader. One BEGIN IMMEDIATE .. COMMIT is one batch.

#include <sqlite3.h>

#include <algorithm>

#include "bench/engine_registry.h"
#include "bench/text.h"

namespace hawthorn::bench {
namespace {

class Connection {
 public:
  Connection(const EngineConfig& config, size_t cache_bytes) {
    const std::string file = config.path + "/bench.sqlite";
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    check(sqlite3_open_v2(file.c_str(), &db_, flags, nullptr));
    check(sqlite3_busy_timeout(db_, 60'000));
    run("PRAGMA journal_mode=WAL");
    run(config.sync == SyncMode::kFull    ? "PRAGMA synchronous=FULL"
        : config.sync == SyncMode::kAsync ? "PRAGMA synchronous=NORMAL"
                                          : "PRAGMA synchronous=OFF");
    run("PRAGMA temp_store=MEMORY");
    run(print_text("PRAGMA cache_size=-%zu", cache_bytes / 1024).c_str());
    run(print_text("PRAGMA mmap_size=%zu", config.memory_bytes).c_str());
    // A checkpoint writes a page once however often the log has it: 64 MB between two of them.
    run("PRAGMA wal_autocheckpoint=16384");
    run("CREATE TABLE IF NOT EXISTS kv(k BLOB PRIMARY KEY, v BLOB NOT NULL) WITHOUT ROWID");
  }
  ~Connection() { sqlite3_close_v2(db_); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void run(const char* sql) { check(sqlite3_exec(db_, sql, nullptr, nullptr, nullptr)); }

  sqlite3_stmt* prepare(const char* sql) {
    sqlite3_stmt* statement = nullptr;
    check(sqlite3_prepare_v3(db_, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr));
    return statement;
  }

  void check(int code) {
    if (code == SQLITE_OK || code == SQLITE_DONE || code == SQLITE_ROW) return;
    throw EngineError(std::string("sqlite: ") + sqlite3_errmsg(db_),
                      code == SQLITE_FULL ? EngineError::Kind::kFull : EngineError::Kind::kOther);
  }

  uint64_t number(const char* sql) {
    sqlite3_stmt* const statement = prepare(sql);
    check(sqlite3_step(statement));
    const auto result = static_cast<uint64_t>(sqlite3_column_int64(statement, 0));
    sqlite3_finalize(statement);
    return result;
  }

 private:
  sqlite3* db_ = nullptr;
};

class Statement {
 public:
  Statement(Connection& connection, const char* sql)
      : connection_(connection), statement_(connection.prepare(sql)) {}
  ~Statement() { sqlite3_finalize(statement_); }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  // The text stays where it is until the next reset.
  void bind(int index, std::string_view blob) {
    // A null pointer would bind NULL.
    const char* const data = blob.empty() ? "" : blob.data();
    connection_.check(sqlite3_bind_blob64(statement_, index, data, blob.size(), SQLITE_STATIC));
  }
  void bind(int index, int64_t number) {
    connection_.check(sqlite3_bind_int64(statement_, index, number));
  }
  bool step() {
    const int code = sqlite3_step(statement_);
    connection_.check(code);
    return code == SQLITE_ROW;
  }
  std::string_view column(int index) const {
    const auto* const data = static_cast<const char*>(sqlite3_column_blob(statement_, index));
    return {data, static_cast<size_t>(sqlite3_column_bytes(statement_, index))};
  }
  void reset() { sqlite3_reset(statement_); }
  void run() {
    step();
    reset();
  }

 private:
  Connection& connection_;
  sqlite3_stmt* const statement_;
};

constexpr const char* kSelect = "SELECT v FROM kv WHERE k=?1";

class SqliteWriter : public Writer {
 public:
  explicit SqliteWriter(const EngineConfig& config)
      : connection_(config, config.memory_bytes / 4),
        begin_(connection_, "BEGIN IMMEDIATE"),
        commit_(connection_, "COMMIT"),
        rollback_(connection_, "ROLLBACK"),
        select_(connection_, kSelect),
        upsert_(connection_,
                "INSERT INTO kv(k,v) VALUES(?1,?2) ON CONFLICT(k) DO UPDATE SET v=excluded.v"),
        update_(connection_, "UPDATE kv SET v=?2 WHERE k=?1"),
        delete_(connection_, "DELETE FROM kv WHERE k=?1") {}
  ~SqliteWriter() override {
    try {
      if (open_) rollback_.run();
    } catch (const EngineError&) {
      // The transaction ended with the error that brought us here.
    }
  }

  void begin(WriteIntent) override {
    begin_.run();
    open_ = true;
  }
  void commit() override {
    open_ = false;
    commit_.run();
  }

  bool get(std::string_view key, std::string_view& value) override {
    select_.bind(1, key);
    const bool found = select_.step();
    if (found) copy_.assign(select_.column(0));
    select_.reset();
    value = copy_;
    return found;
  }

  void put(std::string_view key, std::string_view value) override { write(upsert_, key, value); }
  void update(unsigned, std::string_view key, std::string_view value) override {
    write(update_, key, value);
  }
  void del(std::string_view key) override {
    delete_.bind(1, key);
    delete_.run();
  }

 private:
  static void write(Statement& statement, std::string_view key, std::string_view value) {
    statement.bind(1, key);
    statement.bind(2, value);
    statement.run();
  }

  Connection connection_;
  Statement begin_;
  Statement commit_;
  Statement rollback_;
  Statement select_;
  Statement upsert_;
  Statement update_;
  Statement delete_;
  std::string copy_;
  bool open_ = false;
};

class SqliteReader : public ReaderOf<SqliteReader> {
 public:
  explicit SqliteReader(const EngineConfig& config)
      : connection_(config, config.memory_bytes / 4),
        begin_(connection_, "BEGIN"),
        commit_(connection_, "COMMIT"),
        first_(connection_, "SELECT 1 FROM kv LIMIT 1"),
        select_(connection_, kSelect),
        range_(connection_, "SELECT k,v FROM kv WHERE k>=?1 ORDER BY k LIMIT ?2"),
        all_(connection_, "SELECT k,v FROM kv ORDER BY k") {}

  void begin(View view) override {
    begin_.run();
    // BEGIN alone reads nothing: what the transaction sees is decided by its first read.
    if (view == View::kSnapshot) first_.run();
  }
  void end() override { commit_.run(); }

  bool get(std::string_view key, std::string_view& value) override {
    select_.bind(1, key);
    const bool found = select_.step();
    if (found) copy_.assign(select_.column(0));
    select_.reset();
    value = copy_;
    return found;
  }

  void multi_get(std::span<const std::string_view> keys,
                 std::span<std::string_view> values) override {
    copies_.resize(std::max(copies_.size(), keys.size()));
    for (size_t i = 0; i < keys.size(); ++i) {
      std::string_view value;
      values[i] = {};
      if (!get(keys[i], value)) continue;
      copies_[i].assign(value);
      values[i] = copies_[i];
    }
  }

  template <class Sink>
  void seek_from(std::string_view key, size_t count, Sink& sink) {
    range_.bind(1, key);
    range_.bind(2, static_cast<int64_t>(count + 1));
    while (range_.step()) sink.add(range_.column(0), range_.column(1));
    range_.reset();
  }

  template <class Sink>
  void walk(Sink& sink) {
    while (all_.step()) sink.add(all_.column(0), all_.column(1));
    all_.reset();
  }

 private:
  Connection connection_;
  Statement begin_;
  Statement commit_;
  Statement first_;
  Statement select_;
  Statement range_;
  Statement all_;
  std::string copy_;
  std::vector<std::string> copies_;
};

class SqliteEngine : public Engine {
 public:
  std::string version() const override { return std::string("SQLite ") + sqlite3_libversion(); }

  std::string settings() const override {
    return print_text("WAL, synchronous %s, cache %s for each connection",
                      config_.sync == SyncMode::kFull    ? "FULL"
                      : config_.sync == SyncMode::kAsync ? "NORMAL"
                                                         : "OFF",
                      size_text(static_cast<double>(config_.memory_bytes) / 4).c_str());
  }

  void open(const EngineConfig& config) override {
    config_ = config;
    // Keeps the log from being merged and removed whenever a writer or reader goes.
    main_ = std::make_unique<Connection>(config, size_t{1} << 20);
  }
  void close() override { main_.reset(); }

  std::unique_ptr<Writer> writer() override { return std::make_unique<SqliteWriter>(config_); }
  std::unique_ptr<Reader> reader() override { return std::make_unique<SqliteReader>(config_); }

  void sync() override { main_->run("PRAGMA wal_checkpoint(FULL)"); }
  // What the log holds is work that is left to do.
  void drain() override { main_->run("PRAGMA wal_checkpoint(TRUNCATE)"); }

  bool is_log(std::string_view file_name) const override { return file_name.ends_with("-wal"); }
  uint64_t reachable_bytes() override {
    const uint64_t pages = main_->number("PRAGMA page_count");
    const uint64_t unused = main_->number("PRAGMA freelist_count");
    return (pages - unused) * main_->number("PRAGMA page_size");
  }

 private:
  EngineConfig config_;
  std::unique_ptr<Connection> main_;
};

}  // namespace

std::unique_ptr<Engine> make_sqlite() { return std::make_unique<SqliteEngine>(); }

}  // namespace hawthorn::bench
