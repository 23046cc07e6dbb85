// Random statements of several connections of one database, with cursors that stay open: each gets
// the code and the rows that it gets from SQLite's own storage in its WAL mode.
//
// A failing history is printed whole. HAWTHORN_SQLITE_SEED replays one seed alone.

#include <optional>
#include <random>
#include <string>
#include <vector>

#include "shims/sqlite/src/sqlite_test_support.h"
#include "testing/scaled.h"

namespace hawthorn::sqlite::isolation_test {
namespace {

class IsolationTest : public SqliteTest {
 protected:
  static constexpr size_t kConnections = 3;
  static constexpr size_t kSelects = 2;

  // One engine's connections, and a few statements of each that are under way.
  struct Side {
    std::vector<Connection> connections{kConnections};
    std::optional<Statement> selects[kConnections][kSelects];

    void open(const std::string& name) {
      for (Connection& connection : connections) {
        connection = Connection(name);
        define_behind(connection);
        EXPECT_SQL_OK(connection, "PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF");
      }
    }
    void close() {
      for (auto& some : selects) {
        for (auto& select : some) select.reset();
      }
      for (Connection& connection : connections) connection.close();
    }
  };

  ~IsolationTest() override {
    ours_.close();
    stock_.close();
  }

  uint64_t below(uint64_t bound) { return random_() % bound; }
  std::string number(uint64_t bound) { return std::to_string(below(bound)); }
  void note(const std::string& what) { history_ += what + "\n"; }
  void same(const std::string& ours, const std::string& stock) {
    if (ours == stock) return;
    ADD_FAILURE() << "seed " << seed_ << ", history:\n"
                  << history_ << "ours:  " << ours << "\nstock: " << stock;
  }

  static std::string run(Connection& connection, const std::string& sql) {
    const Answer answer = connection.run(sql);
    std::string all = std::to_string(answer.code) + " " + answer.message + ":";
    for (const std::string& row : answer.rows) all += " " + row;
    return all + (sqlite3_get_autocommit(connection.get()) != 0 ? " autocommit" : "") + " state " +
           std::to_string(sqlite3_txn_state(connection.get(), "main"));
  }

  void all(size_t which, const std::string& sql) {
    note(std::to_string(which) + ": " + sql + ";");
    same(run(ours_.connections[which], sql), run(stock_.connections[which], sql));
  }

  static std::string step(Side& side, size_t which, size_t number, const std::string& sql) {
    std::optional<Statement>& select = side.selects[which][number];
    if (!select.has_value()) select.emplace(side.connections[which], sql);
    const int code = select->step();
    const std::string seen =
        std::to_string(code) + " " + (code == SQLITE_ROW ? select->row() : std::string());
    if (code != SQLITE_ROW) select.reset();
    return seen;
  }

  std::string any_select() {
    static constexpr const char* kAll[] = {
        "SELECT v, k FROM w INDEXED BY w_v WHERE v > '' COLLATE BEHIND ORDER BY v COLLATE BEHIND",
        "SELECT id, a FROM t ORDER BY id",
        "SELECT id, a FROM t ORDER BY id DESC",
        "SELECT a, id FROM t INDEXED BY t_a ORDER BY a",
        "SELECT k, v FROM w ORDER BY k",
        "SELECT t.id, w.v FROM t CROSS JOIN w ON w.k = t.a"};
    return kAll[below(std::size(kAll))];
  }

  std::string any_statement() {
    switch (below(20)) {
      case 0:
      case 1:
        return "BEGIN";
      case 2:
        return "BEGIN IMMEDIATE";
      case 3:
      case 4:
      case 5:
        return "COMMIT";
      case 6:
        return "ROLLBACK";
      case 7:
        return "SAVEPOINT s";
      case 8:
        // With something that is new: SQLite's own commits, to be seen by others, also what has
        // been rolled back to where it began.
        return below(2) == 0 ? "ROLLBACK TO s; PRAGMA user_version = " + number(99) : "RELEASE s";
      case 9:
        return "INSERT OR REPLACE INTO t VALUES(" + number(60) + ", " + number(9) + ")";
      case 10:
        return "UPDATE t SET a = a + 1 WHERE id BETWEEN " + number(60) + " AND " + number(60);
      case 11:
        return "DELETE FROM t WHERE id = " + number(60);
      case 12:
        return "INSERT OR IGNORE INTO w VALUES(" + number(20) + ", '" + number(99) + "')";
      case 13:
        return "DELETE FROM w WHERE k = " + number(20);
      case 14:
        return "SELECT count(*), sum(a), max(id) FROM t";
      case 15:
        return "SELECT k, v FROM w";
      case 16:
        return "PRAGMA user_version = " + number(100);
      case 17:
        return "PRAGMA user_version";
      case 18:
        return below(4) == 0 ? "DROP TABLE IF EXISTS made" : "SELECT * FROM made";
      default:
        return below(4) == 0 ? "CREATE TABLE made AS SELECT count(*) FROM t" : "SELECT * FROM t";
    }
  }

  void run_history(uint64_t seed, int steps) {
    seed_ = seed;
    random_.seed(seed);
    history_.clear();
    const std::string name = "file:" + path("seed-" + std::to_string(seed));
    ours_.open(name + ".db");
    stock_.open(name + ".stock?hawthorn=0");
    all(0,
        "CREATE TABLE t(id INTEGER PRIMARY KEY, a INT); CREATE INDEX t_a ON t(a);"
        "CREATE TABLE w(k PRIMARY KEY, v) WITHOUT ROWID;"
        "CREATE INDEX w_v ON w(v COLLATE BEHIND)");
    all(0,
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40) "
        "INSERT INTO t SELECT i, i % 9 FROM n; INSERT INTO w SELECT id, 'v' || a FROM t WHERE id < "
        "9");
    for (int i = 0; i < steps && !HasFailure(); ++i) {
      const size_t which = below(kConnections);
      const uint64_t kind = below(10);
      const size_t select = below(kSelects);
      if (kind < 5) {
        all(which, any_statement());
      } else if (kind < 9) {
        const std::string sql = any_select();
        const std::string stock = step(stock_, which, select, sql);
        note(std::to_string(which) + ": steps " + std::to_string(select) + " (if new " + sql +
             "): " + stock);
        same(step(ours_, which, select, sql), stock);
      } else {
        note(std::to_string(which) + ": ends " + std::to_string(select));
        ours_.selects[which][select].reset();
        stock_.selects[which][select].reset();
      }
    }
    ours_.close();
    stock_.close();
    if (HasFailure()) return;
    Connection connection(path("seed-" + std::to_string(seed) + ".db"));
    define_behind(connection);
    expect_sound(connection);
  }

  Side ours_;
  Side stock_;
  std::mt19937_64 random_;
  std::string history_;
  uint64_t seed_ = 0;
};

TEST_F(IsolationTest, ConnectionsSeeOfEachOtherWhatTheySeeInSqlite) {
  const uint64_t only = testing::environment_number("HAWTHORN_SQLITE_SEED", 0);
  const uint64_t last = only != 0 ? only : testing::scaled(120);
  for (uint64_t seed = only != 0 ? only : 1; seed <= last && !HasFailure(); ++seed) {
    run_history(seed, 400);
  }
}

}  // namespace
}  // namespace hawthorn::sqlite::isolation_test
