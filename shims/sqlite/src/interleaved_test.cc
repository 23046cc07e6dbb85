// Statements and blob handles of one connection that stay open while it changes what they read: on
// our storage they answer what they answer on SQLite's own. SQLite leaves open whether a statement
// that reads sees a change ahead of it; ours sees what SQLite's own sees.
//
// A failing history is printed whole. HAWTHORN_SQLITE_SEED replays one seed alone.

#include <algorithm>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "shims/sqlite/src/sqlite_test_support.h"
#include "testing/scaled.h"

namespace hawthorn::sqlite::interleaved_test {
namespace {

// `k` never changes: where the first column behind a key does SQLite's own returns the row again to
// a statement that stands on it.
constexpr char kSchema[] =
    "CREATE TABLE t(id INTEGER PRIMARY KEY, a INT, b TEXT COLLATE NOCASE, d BLOB);"
    "CREATE INDEX t_a ON t(a);"
    "CREATE INDEX t_b ON t(b DESC, a);"
    "CREATE TABLE w(a INT, b TEXT, k DEFAULT 0, id INT, d, PRIMARY KEY(a, b DESC)) WITHOUT ROWID;"
    "CREATE INDEX w_id ON w(id);"
    "CREATE TABLE u(x, y, UNIQUE(x));";

class InterleavedTest : public SqliteTest {
 protected:
  static constexpr size_t kSlots = 5;

  struct Handles {
    sqlite3_blob* ours = nullptr;
    sqlite3_blob* stock = nullptr;
    sqlite3_int64 row = 0;
  };
  struct Selects {
    std::optional<Statement> ours;
    std::optional<Statement> stock;
    std::string sql;
  };

  ~InterleavedTest() override { close_all(); }

  uint64_t below(uint64_t bound) { return random_() % bound; }
  std::string number(uint64_t bound) { return std::to_string(below(bound)); }
  void note(const std::string& what) { history_ += what + "\n"; }
  void fail(const std::string& what) {
    ADD_FAILURE() << "seed " << seed_ << ", history:\n" << history_ << what;
  }
  template <typename T>
  void same(const T& ours, const T& stock, const std::string& what) {
    if (ours == stock) return;
    std::ostringstream text;
    text << what << ": ours " << ours << ", stock " << stock;
    fail(text.str());
  }

  void both(const std::string& sql) {
    note(sql + ";");
    const Answer ours = ours_.run(sql);
    const Answer stock = stock_.run(sql);
    same(ours.code, stock.code, "code");
    same(ours.message, stock.message, "message");
    same(joined(ours.rows), joined(stock.rows), "rows");
    same(sqlite3_total_changes(ours_.get()), sqlite3_total_changes(stock_.get()), "changes");
  }

  static std::string joined(const std::vector<std::string>& rows) {
    std::string all;
    for (const std::string& row : rows) all += row + "; ";
    return all;
  }

  std::string any_select() {
    static constexpr const char* kSelects[] = {
        "SELECT id, a, b, length(d) FROM t ORDER BY id",
        "SELECT id, a, b, d FROM t ORDER BY id DESC",
        "SELECT id, a, b FROM t INDEXED BY t_a ORDER BY a",
        "SELECT a, id FROM t INDEXED BY t_a ORDER BY a DESC",
        "SELECT id, a FROM t INDEXED BY t_a WHERE a BETWEEN 5 AND 20 ORDER BY a",
        "SELECT id, a, d FROM t INDEXED BY t_a WHERE a = 7",
        "SELECT b, a FROM t INDEXED BY t_b ORDER BY b",
        "SELECT b, a, length(d) FROM t INDEXED BY t_b WHERE b > 'c' ORDER BY b DESC, a",
        "SELECT id, a FROM t WHERE id > 20 ORDER BY id",
        "SELECT id, a FROM t WHERE id < 60 ORDER BY id DESC",
        "SELECT a, b, id, d FROM w ORDER BY a, b DESC",
        "SELECT a, b FROM w ORDER BY a DESC, b",
        "SELECT a, b, id, d FROM w WHERE a > 9 ORDER BY a, b DESC",
        "SELECT a, b, id FROM w INDEXED BY w_id WHERE id >= 3 ORDER BY id",
        "SELECT t.id, w.a, w.b FROM t CROSS JOIN w ON w.a = t.a ORDER BY t.id",
        "SELECT x.id, y.id FROM t x CROSS JOIN t y ON y.id = x.id + 1 ORDER BY x.id",
        "SELECT id, (SELECT count(*) FROM w WHERE w.a = t.a) FROM t ORDER BY id",
        "SELECT id FROM t WHERE a IN (3, 7, 11, 15)",
        "SELECT id, a FROM t WHERE a = 3 OR b = 'd'",
        "SELECT a, count(*) FROM t GROUP BY a",
        "SELECT id, d FROM t ORDER BY d, id",
        "SELECT rowid, x, y FROM u ORDER BY rowid",
        "SELECT x, y FROM u ORDER BY x",
        "SELECT max(id) FROM t UNION ALL SELECT id FROM t UNION ALL SELECT id FROM w",
    };
    return kSelects[below(std::size(kSelects))];
  }

  std::string any_text() {
    static constexpr const char* kTexts[] = {"'a'", "'A'",  "'b'", "'C'",
                                             "'d'", "'dd'", "''",  "NULL"};
    return kTexts[below(std::size(kTexts))];
  }
  std::string any_blob() {
    static constexpr int kSizes[] = {0, 3, 40, 700, 5000, 40'000};
    return "zeroblob(" + std::to_string(kSizes[below(std::size(kSizes))]) + ")";
  }

  std::string any_change() {
    const std::string row = number(100);
    switch (below(17)) {
      case 0:
      case 1:
        return "INSERT OR REPLACE INTO t VALUES(" + row + ", " + number(25) + ", " + any_text() +
               ", " + any_blob() + ")";
      case 2:
        return "INSERT INTO t(a, b, d) VALUES(" + number(25) + ", " + any_text() + ", x'0102')";
      case 3:
        return "DELETE FROM t WHERE id = " + row;
      case 4:
        return "DELETE FROM t WHERE id BETWEEN " + row + " AND " + row + " + 4";
      case 5:
        return "UPDATE t SET a = " + number(25) + " WHERE id = " + row;
      case 6:
        return "UPDATE t SET a = a + 1, b = " + any_text() + " WHERE id BETWEEN " + row + " AND " +
               row + " + 9";
      case 7:
        return "UPDATE OR IGNORE t SET id = id + " + number(9) + " WHERE id = " + row;
      case 8:
        return "UPDATE t SET d = " + any_blob() + " WHERE id = " + row;
      case 9:
        return "INSERT OR REPLACE INTO w(a, b, id, d) VALUES(" + number(25) + ", " + any_text() +
               ", " + number(9) + ", " + any_blob() + ")";
      case 10:
        return "DELETE FROM w WHERE a = " + number(25);
      case 11:
        return "UPDATE OR REPLACE w SET a = a + 1 WHERE id = " + number(9);
      case 12:
        return "UPDATE w SET id = id + 1 WHERE a = " + number(25);
      case 13:
        return "INSERT OR REPLACE INTO u VALUES(" + number(30) + ", " + any_text() + ")";
      case 14:
        return "DELETE FROM u WHERE x % 3 = " + number(3);
      case 15:
        return below(6) == 0 ? "DELETE FROM t" : "UPDATE u SET x = x + 100 WHERE x = " + number(30);
      default:
        return "INSERT OR IGNORE INTO t SELECT id + 50, a, b, d FROM t WHERE id < 20";
    }
  }

  std::string any_transaction() {
    static constexpr const char* kAll[] = {"BEGIN",         "BEGIN CONCURRENT", "COMMIT",
                                           "ROLLBACK",      "SAVEPOINT s",      "SAVEPOINT s",
                                           "ROLLBACK TO s", "RELEASE s"};
    return kAll[below(std::size(kAll))];
  }

  void step_select(size_t which) {
    Selects& one = selects_[which];
    if (!one.ours.has_value()) {
      one.sql = any_select();
      note("-- " + std::to_string(which) + " prepares " + one.sql);
      one.ours.emplace(ours_, one.sql);
      one.stock.emplace(stock_, one.sql);
    }
    const uint64_t steps = below(3) == 0 ? 1 + below(30) : 1;
    for (uint64_t i = 0; i < steps && !HasFailure(); ++i) {
      const int ours = one.ours->step();
      const int stock = one.stock->step();
      note("-- " + std::to_string(which) + " steps: " + std::to_string(stock) +
           (stock == SQLITE_ROW ? " " + one.stock->row() : ""));
      same(ours, stock, one.sql + ": step");
      if (ours != stock || stock != SQLITE_ROW) {
        close_select(one);
        return;
      }
      same(one.ours->row(), one.stock->row(), one.sql);
    }
  }

  static void close_select(Selects& one) {
    one.ours.reset();
    one.stock.reset();
  }

  void use_blob(size_t which) {
    Handles& one = handles_[which];
    const std::string name = "-- blob " + std::to_string(which) + " ";
    if (one.stock == nullptr) {
      const auto row = static_cast<sqlite3_int64>(below(100));
      const int write = static_cast<int>(below(2));
      note(name + "opens row " + std::to_string(row) + (write != 0 ? " to write" : ""));
      one.row = row;
      const int ours = sqlite3_blob_open(ours_.get(), "main", "t", "d", row, write, &one.ours);
      const int stock = sqlite3_blob_open(stock_.get(), "main", "t", "d", row, write, &one.stock);
      same(ours, stock, "open");
    } else if (below(6) == 0) {
      note(name + "closes");
      same(sqlite3_blob_close(one.ours), sqlite3_blob_close(one.stock), "close");
      one = Handles();
    } else if (below(4) == 0) {
      const auto row = static_cast<sqlite3_int64>(below(100));
      note(name + "reopens row " + std::to_string(row));
      one.row = row;
      same(sqlite3_blob_reopen(one.ours, row), sqlite3_blob_reopen(one.stock, row), "reopen");
    } else {
      const int size = sqlite3_blob_bytes(one.stock);
      const int offset = static_cast<int>(below(static_cast<uint64_t>(size) + 2));
      const int bytes = static_cast<int>(below(60));
      std::string of_ours(static_cast<size_t>(bytes), static_cast<char>('a' + below(26)));
      std::string of_stock = of_ours;
      if (below(2) == 0) {
        note(name + "writes " + std::to_string(bytes) + " at " + std::to_string(offset));
        same(sqlite3_blob_write(one.ours, of_ours.data(), bytes, offset),
             sqlite3_blob_write(one.stock, of_stock.data(), bytes, offset), "write");
      } else {
        note(name + "reads " + std::to_string(bytes) + " at " + std::to_string(offset));
        const int ours = sqlite3_blob_read(one.ours, of_ours.data(), bytes, offset);
        const int stock = sqlite3_blob_read(one.stock, of_stock.data(), bytes, offset);
        if (ours == SQLITE_ABORT && stock != ours && is_gone(one.row)) {
          note(name + "is of a row that was rolled back");
          is_over_ = stock == SQLITE_NOMEM;
          sqlite3_blob_close(one.ours);
          sqlite3_blob_close(one.stock);
          one = Handles();
          return;
        }
        same(ours, stock, "read");
        same(shown_bytes(of_ours, false), shown_bytes(of_stock, false), "bytes");
      }
    }
    same(sqlite3_blob_bytes(one.ours), sqlite3_blob_bytes(one.stock), "size");
  }

  // A handle that reads outlives a rollback, and where that has taken its row back SQLite's own
  // storage (accessPayloadChecked, of 3.40.1 and 3.54.1) goes to the row beside it and reads bytes
  // of that, or beyond its end. Ours ends the handle, as both do where the row was deleted. Beyond
  // the end of a row without overflow pages that is SQLITE_NOMEM, as it asks for no bytes of
  // memory, and SQLite rolls all back that is open when the handle ends: nothing can be compared
  // behind it.
  bool is_gone(sqlite3_int64 row) {
    const std::string sql = "SELECT count(*) FROM t WHERE id = " + std::to_string(row);
    return ours_.value(sql) == "i0" && stock_.value(sql) == "i0";
  }

  void close_all() {
    for (Selects& one : selects_) close_select(one);
    for (Handles& one : handles_) {
      sqlite3_blob_close(one.ours);
      sqlite3_blob_close(one.stock);
      one = Handles();
    }
  }

  void open(uint64_t seed) {
    seed_ = seed;
    random_.seed(seed);
    history_.clear();
    is_over_ = false;
    ours_ = Connection(path("seed-" + std::to_string(seed) + ".db"));
    stock_ = Connection(":memory:");
    both("PRAGMA synchronous = OFF");
    both(kSchema);
    both(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60) "
        "INSERT INTO t SELECT i, i % 20, char(97 + i % 5), zeroblob(i * 7) FROM n");
    both("INSERT INTO w(a, b, id, d) SELECT a, b, id % 9, d FROM t WHERE id < 40");
    both("INSERT INTO u SELECT id, b FROM t WHERE id < 30");
  }

  void compare_all() {
    both("SELECT * FROM t NOT INDEXED");
    both("SELECT * FROM t INDEXED BY t_a");
    both("SELECT * FROM t INDEXED BY t_b");
    both("SELECT * FROM w");
    both("SELECT * FROM w INDEXED BY w_id");
    both("SELECT rowid, * FROM u ORDER BY x");
    same(ours_.value("PRAGMA integrity_check"), std::string("t'ok'"), "integrity_check");
  }

  void run(uint64_t seed, int steps, bool blobs) {
    open(seed);
    for (int i = 0; i < steps && !HasFailure() && !is_over_; ++i) {
      const uint64_t kind = below(20);
      if (kind < 10) {
        if (blobs && below(2) == 0) {
          use_blob(below(kSlots));
        } else {
          step_select(below(kSlots));
        }
      } else if (kind < 17) {
        both(any_change());
      } else if (kind < 19) {
        both(any_transaction());
      } else {
        const size_t which = below(kSlots);
        note("-- " + std::to_string(which) + " ends");
        close_select(selects_[which]);
      }
    }
    close_all();
    if (is_over_) {
      same(ours_.value("PRAGMA integrity_check"), std::string("t'ok'"), "integrity_check");
    } else {
      if (!HasFailure() && sqlite3_get_autocommit(stock_.get()) == 0) both("COMMIT");
      if (!HasFailure()) compare_all();
    }
    ours_.close();
    stock_.close();
  }

  void run_all(uint64_t seeds, int steps, bool blobs) {
    const uint64_t only = testing::environment_number("HAWTHORN_SQLITE_SEED", 0);
    const uint64_t last = only != 0 ? only : testing::scaled(seeds);
    for (uint64_t seed = only != 0 ? only : 1; seed <= last && !HasFailure(); ++seed) {
      run(seed, steps, blobs);
    }
  }

  Connection ours_;
  Connection stock_;
  Selects selects_[kSlots];
  Handles handles_[kSlots];
  std::mt19937_64 random_;
  std::string history_;
  uint64_t seed_ = 0;
  bool is_over_ = false;
};

TEST_F(InterleavedTest, SelectsWhileTheirTablesChange) { run_all(200, 400, false); }

TEST_F(InterleavedTest, BlobHandlesWhileTheirRowsChange) { run_all(200, 400, true); }

// While an UPDATE replaces rows triggers of what it deletes may not change its table: the row that
// it is about to write would be another one, and its index entries would stay.
TEST_F(InterleavedTest, TriggersOfWhatAnUpdateReplaces) {
  open(1);
  for (const std::string when : {"BEFORE", "AFTER"}) {
    for (const std::string options : {"", " WITHOUT ROWID"}) {
      for (const std::string change :
           {"UPDATE v SET c = c + 10 WHERE a = 1", "UPDATE v SET c = c + 10 WHERE a = 3",
            "DELETE FROM v WHERE a = 1", "DELETE FROM v WHERE a = old.a",
            "INSERT INTO v VALUES(9, 9, 9)", "DELETE FROM v", "UPDATE t SET a = a + 1"}) {
        for (const std::string update :
             {"SET b = 2 WHERE a = 1", "SET a = 2 WHERE a = 1", "SET b = 2, a = 3 WHERE a = 1",
              "SET b = b + 1, c = 0 WHERE a < 3"}) {
          both("DROP TABLE IF EXISTS v");
          both(
              "PRAGMA recursive_triggers = ON; CREATE TABLE v(a INTEGER PRIMARY KEY, b UNIQUE, c)" +
              options + "; CREATE INDEX v_c ON v(c); CREATE TRIGGER g " + when +
              " DELETE ON v WHEN old.a = 2 BEGIN " + change +
              "; END; INSERT INTO v VALUES(1, 1, 1), (2, 2, 2), (3, 3, 3)");
          both("UPDATE OR REPLACE v " + update);
          both("SELECT a, b, c FROM v ORDER BY a");
          both("SELECT c, a FROM v INDEXED BY v_c ORDER BY c");
          same(ours_.value("PRAGMA integrity_check"), std::string("t'ok'"), "integrity_check");
        }
      }
    }
  }
  compare_all();
}

// A handle to write ends with what is rolled back, wherever it is sent; one to read goes on.
TEST_F(InterleavedTest, ARollbackEndsBlobHandlesThatWrite) {
  static constexpr std::pair<const char*, const char*> kRollbacks[] = {
      {"BEGIN", "ROLLBACK"},
      {"SAVEPOINT s", "ROLLBACK TO s; RELEASE s"},
      {"BEGIN; SAVEPOINT s", "ROLLBACK TO s; COMMIT"}};
  uint64_t round = 0;
  for (const auto& [begin, end] : kRollbacks) {
    for (const int write : {0, 1}) {
      for (const sqlite3_int64 row : {10, 11, 999}) {
        open(++round);
        both(begin);
        Handles& one = handles_[0];
        note("-- blob opens row 10" + std::string(write != 0 ? " to write" : ""));
        same(sqlite3_blob_open(ours_.get(), "main", "t", "d", 10, write, &one.ours),
             sqlite3_blob_open(stock_.get(), "main", "t", "d", 10, write, &one.stock), "open");
        both(end);
        note("-- blob reopens row " + std::to_string(row));
        same(sqlite3_blob_reopen(one.ours, row), sqlite3_blob_reopen(one.stock, row), "reopen");
        char bytes[3] = {'a', 'b', 'c'};
        same(sqlite3_blob_read(one.ours, bytes, 3, 0), sqlite3_blob_read(one.stock, bytes, 3, 0),
             "read");
        same(sqlite3_blob_write(one.ours, bytes, 3, 0), sqlite3_blob_write(one.stock, bytes, 3, 0),
             "write");
        same(sqlite3_blob_close(one.ours), sqlite3_blob_close(one.stock), "close");
        one = Handles();
        compare_all();
      }
    }
  }
}

}  // namespace
}  // namespace hawthorn::sqlite::interleaved_test
