// Counted by `hawthorn-bench instructions`: an INSERT and an UPDATE by a prepared statement, each
// in a transaction of its own, through SQLite's interface with `synchronous` OFF.

#include <sqlite3.h>

#include "bench/instructions/counting.h"
#include "bench/instructions/shim.h"

namespace hawthorn::bench {
namespace {

class Connection {
 public:
  explicit Connection(const std::string& directory) {
    must(sqlite3_open((directory + "/db.sqlite").c_str(), &handle_), SQLITE_OK);
    run("PRAGMA journal_mode=WAL");
    run("PRAGMA synchronous=OFF");
  }
  ~Connection() { must(sqlite3_close(handle_), SQLITE_OK); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void must(int code, int wanted) const {
    if (code != wanted) fail(std::string("sqlite: ") + sqlite3_errmsg(handle_));
  }
  void run(const char* sql) {
    must(sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr), SQLITE_OK);
  }
  sqlite3_stmt* prepare(const char* sql) {
    sqlite3_stmt* statement = nullptr;
    must(sqlite3_prepare_v2(handle_, sql, -1, &statement, nullptr), SQLITE_OK);
    return statement;
  }

 private:
  sqlite3* handle_ = nullptr;
};

class SqliteShim : public ShimDatabase {
 public:
  explicit SqliteShim(const std::string& directory) : directory_(directory), writer_(directory) {
    writer_.run("CREATE TABLE entries (k BLOB PRIMARY KEY, v BLOB) WITHOUT ROWID");
    insert_ = writer_.prepare("INSERT INTO entries VALUES (?1, ?2)");
    update_ = writer_.prepare("UPDATE entries SET v = ?2 WHERE k = ?1");
  }
  ~SqliteShim() override {
    sqlite3_finalize(insert_);
    sqlite3_finalize(update_);
  }

  void begin_load() override { writer_.run("BEGIN"); }
  void load(const std::string& key, const std::string& value) override {
    step(insert_, key, value);
  }
  void end_load() override { writer_.run("COMMIT"); }

  void insert(const std::string& key, const std::string& value) override {
    step(insert_, key, value);
  }
  void update(const std::string& key, const std::string& value) override {
    step(update_, key, value);
  }

  void hold_snapshot() override {
    reader_ = std::make_unique<Connection>(directory_);
    reader_->run("BEGIN");
    reader_->run("SELECT v FROM entries LIMIT 1");
  }
  void release_snapshot() override {
    if (reader_ != nullptr) reader_->run("COMMIT");
    reader_.reset();
  }

 private:
  void step(sqlite3_stmt* statement, const std::string& key, const std::string& value) {
    bind(statement, 1, key);
    bind(statement, 2, value);
    writer_.must(sqlite3_step(statement), SQLITE_DONE);
    writer_.must(sqlite3_reset(statement), SQLITE_OK);
  }
  void bind(sqlite3_stmt* statement, int index, const std::string& bytes) {
    writer_.must(sqlite3_bind_blob(statement, index, bytes.data(), static_cast<int>(bytes.size()),
                                   SQLITE_STATIC),
                 SQLITE_OK);
  }

  const std::string directory_;
  Connection writer_;
  std::unique_ptr<Connection> reader_;
  sqlite3_stmt* insert_ = nullptr;
  sqlite3_stmt* update_ = nullptr;
};

}  // namespace
}  // namespace hawthorn::bench

int main(int argc, char** argv) {
  using namespace hawthorn::bench;
  return count_shim(argc, argv, "sqlite",
                    [](const std::string& directory) -> std::unique_ptr<ShimDatabase> {
                      return std::make_unique<SqliteShim>(directory);
                    });
}
