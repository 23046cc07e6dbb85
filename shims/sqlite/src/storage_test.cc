// What is large, and the extensions that keep tables of their own: both engines say the same.

#include <string>
#include <vector>

#include "shims/sqlite/src/engine_pair_test_support.h"
#include "testing/scaled.h"

namespace hawthorn::sqlite::storage_test {
namespace {

class StorageTest : public EnginePairTest {
 protected:
  void SetUp() override {
    open("test.db", "UTF-8");
    both("PRAGMA synchronous = OFF");
  }
  void all(const std::vector<std::string>& statements) {
    for (const std::string& sql : statements) {
      if (!both(sql)) return;
    }
  }
};

TEST_F(StorageTest, TablesOfManyRows) {
  const std::string count = std::to_string(testing::scaled(120'000));
  all({"CREATE TABLE t(id INTEGER PRIMARY KEY, a INT, b TEXT COLLATE NOCASE, c)",
       "CREATE INDEX t_a ON t(a, b DESC)",
       "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < " + count +
           ") INSERT INTO t SELECT i * 3, i * 7919 % 10007, 'Text ' || (i % 500), i / 8.0 FROM n",
       "CREATE INDEX t_b ON t(b)", "CREATE UNIQUE INDEX t_c ON t(c DESC, a)",
       "CREATE TABLE w(b TEXT, a INT, id, PRIMARY KEY(b, a DESC, id)) WITHOUT ROWID",
       "INSERT INTO w SELECT b, a, id FROM t ORDER BY c", "ANALYZE"});
  for (const std::string change :
       {"DELETE FROM t WHERE id % 5 = 0", "UPDATE t SET id = -id WHERE a < 2000",
        "UPDATE t SET a = a + 1 WHERE b > 'text 3'", "DELETE FROM w WHERE a BETWEEN 100 AND 900",
        "UPDATE w SET b = lower(b) || 'x' WHERE id % 3 = 0", "UPDATE t SET c = c + 0.5",
        "INSERT INTO t(a, b, c) SELECT a, b, -c FROM t WHERE id > 0 ORDER BY b",
        "DELETE FROM t WHERE id > 1000 AND id < 30000"}) {
    for (const std::string way : {"ROLLBACK TO s", "RELEASE s"}) {
      all({"SAVEPOINT s", change, "SELECT count(*), sum(a), sum(id), min(c) FROM t NOT INDEXED",
           "SELECT b, count(*), max(c) FROM t WHERE a > 5000 GROUP BY b", way,
           way == "RELEASE s" ? "SELECT 1" : "RELEASE s"});
    }
  }
  all({"SELECT id, a, b FROM t INDEXED BY t_a WHERE a BETWEEN 10 AND 300",
       "SELECT id, b FROM t INDEXED BY t_b WHERE b < 'TEXT 2' ORDER BY b DESC LIMIT 5000",
       "SELECT * FROM w WHERE b BETWEEN 'Text 1' AND 'Text 3' ORDER BY b DESC, a, id DESC",
       "SELECT c, a FROM t INDEXED BY t_c LIMIT 9000 OFFSET 7000", "SELECT * FROM t",
       "SELECT * FROM w", "PRAGMA integrity_check", "DELETE FROM t", "DROP TABLE w", "VACUUM",
       "PRAGMA integrity_check"});
}

TEST_F(StorageTest, IndexesMadeAnew) {
  all({"CREATE TABLE t(id INTEGER PRIMARY KEY, a, b)", "CREATE INDEX t_a ON t(a)",
       "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) "
       "INSERT INTO t SELECT i, i * 7919 % 10007, 'text ' || (i % 50) FROM n",
       "REINDEX t_a", "CREATE INDEX t_b ON t(b, a DESC)", "BEGIN; REINDEX; SELECT min(a) FROM t",
       "DELETE FROM t WHERE a < 5000; REINDEX t", "SELECT a FROM t ORDER BY a", "COMMIT",
       "SELECT b, a FROM t ORDER BY b, a DESC", "PRAGMA integrity_check"});
}

TEST_F(StorageTest, QueuesThatAreEmptied) {
  for (const std::string order : {"min", "max"}) {
    all({"CREATE TABLE q(id INTEGER PRIMARY KEY, a UNIQUE)",
         "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) "
         "INSERT INTO q SELECT i, 3000 - i FROM n",
         "BEGIN"});
    for (int i = 0; i < 1000 && !HasFailure(); ++i) {
      const std::string column = i % 3 == 0 ? "a" : "id";
      both("DELETE FROM q WHERE " + column + " = (SELECT " + order + "(" + column +
           ") FROM q) RETURNING *");
      if (i % 5 == 0) both("INSERT INTO q(a) VALUES(" + std::to_string(5000 + i) + ")");
      if (i == 500) both("COMMIT");
    }
    all({"SELECT * FROM q", "DROP TABLE q"});
  }
}

TEST_F(StorageTest, RowsBeyondWhatAValueHolds) {
  all({"CREATE TABLE big(id INTEGER PRIMARY KEY, x, y)",
       "INSERT INTO big VALUES(1, zeroblob(70000000), 7), (2, 'small', 8)",
       "SELECT length(x), y FROM big WHERE id = 1", "SELECT id, length(x), y FROM big",
       "SELECT id, length(x), y FROM big ORDER BY id DESC",
       "SELECT id, length(x), y FROM big WHERE id > 0 AND y = 7", "UPDATE big SET y = 9",
       "SELECT id, length(x), y FROM big WHERE id = 1", "PRAGMA integrity_check",
       "UPDATE big SET x = zeroblob(67108864) WHERE id = 2",
       "SELECT sum(length(x)), count(*) FROM big", "DELETE FROM big WHERE y = 9",
       "SELECT count(*) FROM big"});
}

TEST_F(StorageTest, RowsBeyondWhatAValueHoldsByKey) {
  all({"CREATE TABLE big(k TEXT PRIMARY KEY, x) WITHOUT ROWID",
       "INSERT INTO big VALUES('a', zeroblob(70000000)), ('b', 'small')",
       "SELECT length(x) FROM big WHERE k = 'a'", "SELECT k, length(x) FROM big",
       "SELECT k, length(x) FROM big ORDER BY k DESC", "REPLACE INTO big VALUES('a', 'small')",
       "SELECT * FROM big", "PRAGMA integrity_check"});
}

TEST_F(StorageTest, TextsToSearch) {
  for (const std::string module : {"fts5(a, b)", "fts4(a, b)"}) {
    all({"CREATE VIRTUAL TABLE f USING " + module,
         "INSERT INTO f VALUES('hello world', 'x y z'), ('foo bar', 'hello')",
         "SELECT rowid, * FROM f WHERE f MATCH 'hello'",
         "BEGIN; INSERT INTO f VALUES('hello', 'rolled back'); ROLLBACK",
         "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) "
         "INSERT INTO f SELECT 'word' || (i % 100) || ' x' || i, 'y' || i FROM n",
         "DELETE FROM f WHERE rowid % 3 = 0", "SELECT count(*) FROM f WHERE f MATCH 'word7'",
         "SAVEPOINT s; INSERT INTO f SELECT a, b FROM f; ROLLBACK TO s; RELEASE s",
         "UPDATE f SET b = 'word7' WHERE rowid < 50", "SELECT rowid FROM f WHERE f MATCH 'word7'",
         "INSERT INTO f(f) VALUES('optimize')", "INSERT INTO f(f) VALUES('integrity-check')",
         "INSERT INTO f(f) VALUES('rebuild')", "SELECT * FROM f", "PRAGMA integrity_check",
         "DROP TABLE f"});
  }
}

TEST_F(StorageTest, Boxes) {
  all({"CREATE VIRTUAL TABLE r USING rtree(id, x0, x1, y0, y1, +note)",
       "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) INSERT INTO "
       "r SELECT i, i * 7 % 500, i * 7 % 500 + i % 9, i, i + 1.5, 'box ' || i FROM n",
       "SELECT id, note FROM r WHERE x0 > 50 AND x1 < 60", "DELETE FROM r WHERE y0 < 700",
       "SAVEPOINT s; UPDATE r SET x1 = x1 + 100; ROLLBACK TO s; RELEASE s",
       "UPDATE r SET x1 = x1 + 3 WHERE id % 7 = 0",
       "SELECT count(*), sum(id) FROM r WHERE x1 > 400", "SELECT rtreecheck('r')",
       "SELECT id, x0, x1 FROM r ORDER BY id", "PRAGMA integrity_check"});
}

TEST_F(StorageTest, ManyTablesAndColumns) {
  std::string columns = "c0";
  std::string values = "0";
  for (int i = 1; i < 300; ++i) {
    columns += ", c" + std::to_string(i);
    values += ", " + std::to_string(i * i);
  }
  all({"CREATE TABLE wide(" + columns + ")", "INSERT INTO wide VALUES(" + values + ")",
       "CREATE UNIQUE INDEX wide_all ON wide(" + columns + ")",
       "INSERT INTO wide VALUES(" + values + ")", "UPDATE wide SET c299 = c299 + 1",
       "SELECT * FROM wide INDEXED BY wide_all WHERE c0 = 0 AND c1 = 1 AND c299 > 5",
       "CREATE TABLE keyed(" + columns + ", PRIMARY KEY(" + columns + ")) WITHOUT ROWID",
       "INSERT INTO keyed SELECT * FROM wide", "SELECT * FROM keyed WHERE c0 = 0 AND c1 = 1"});
  for (int i = 0; i < 120 && !HasFailure(); ++i) {
    const std::string name = "t" + std::to_string(i);
    all({"CREATE TABLE " + name + "(a UNIQUE, b)", "INSERT INTO " + name + " VALUES(1, 2)"});
    if (i % 3 == 0) both("DROP TABLE t" + std::to_string(i / 2));
    if (i % 10 == 0) all({"BEGIN; CREATE TABLE gone(a); DROP TABLE wide; ROLLBACK"});
  }
  all({"SELECT name FROM sqlite_schema ORDER BY name", "PRAGMA integrity_check"});
}

TEST_F(StorageTest, TransactionsOfManyLevels) {
  both("CREATE TABLE t(id INTEGER PRIMARY KEY, a UNIQUE)");
  for (int i = 0; i < 200; ++i) {
    both("SAVEPOINT s" + std::to_string(i));
    both("INSERT INTO t VALUES(" + std::to_string(i) + ", 'a" + std::to_string(i) + "')");
    if (i % 3 == 0) both("INSERT INTO t SELECT id + 1000, a || 'x' FROM t WHERE id < 1000");
  }
  both("SELECT count(*) FROM t");
  all({"ROLLBACK TO s150", "SELECT count(*), max(id) FROM t", "RELEASE s100",
       "INSERT OR FAIL INTO t SELECT id + 300, a FROM t", "ROLLBACK TO s120", "ROLLBACK TO s50",
       "SELECT count(*), max(id) FROM t", "RELEASE s0", "SELECT * FROM t",
       "PRAGMA integrity_check"});
}

}  // namespace
}  // namespace hawthorn::sqlite::storage_test
