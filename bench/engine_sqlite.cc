// SQLite as a key-value store; or, compiled against our header of its API, this engine by that. One
// table WITHOUT ROWID, write-ahead log, prepared statements, one connection for each writer and
// reader. One BEGIN IMMEDIATE .. COMMIT is one batch.

#include <algorithm>

#include "bench/engine_registry.h"
#include "bench/sqlite_handle.h"
#include "bench/text.h"

namespace hawthorn::bench {
namespace {

class Connection : public SqliteConnection {
 public:
  Connection(const EngineConfig& config, size_t cache_bytes)
      : SqliteConnection(config.path + "/bench.sqlite", 60'000) {
    run("PRAGMA journal_mode=WAL");
    run(print_text("PRAGMA synchronous=%s", sqlite_synchronous(config.sync)).c_str());
    run("PRAGMA temp_store=MEMORY");
    run(print_text("PRAGMA cache_size=-%zu", cache_bytes / 1024).c_str());
    run(print_text("PRAGMA mmap_size=%zu", config.memory_bytes).c_str());
    // A checkpoint writes a page once however often the log has it: 64 MB between two of them.
    run("PRAGMA wal_autocheckpoint=16384");
    run("CREATE TABLE IF NOT EXISTS kv(k BLOB PRIMARY KEY, v BLOB NOT NULL) WITHOUT ROWID");
  }

  uint64_t number(const char* sql) {
    SqliteStatement statement(*this, sql);
    statement.step();
    return static_cast<uint64_t>(statement.number(0));
  }
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
  static void write(SqliteStatement& statement, std::string_view key, std::string_view value) {
    statement.bind(1, key);
    statement.bind(2, value);
    statement.run();
  }

  Connection connection_;
  SqliteStatement begin_;
  SqliteStatement commit_;
  SqliteStatement rollback_;
  SqliteStatement select_;
  SqliteStatement upsert_;
  SqliteStatement update_;
  SqliteStatement delete_;
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
  SqliteStatement begin_;
  SqliteStatement commit_;
  SqliteStatement first_;
  SqliteStatement select_;
  SqliteStatement range_;
  SqliteStatement all_;
  std::string copy_;
  std::vector<std::string> copies_;
};

class SqliteEngine : public Engine {
 public:
  std::string version() const override { return sqlite_version(); }

  std::string settings() const override {
    return print_text("WAL, synchronous %s, cache %s for each connection",
                      sqlite_synchronous(config_.sync),
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
