// Indexes by a program's own collations: both engines say the same, whatever is compared; and what
// ours says where the functions are other ones than when an index was written.

#include <sqlite3.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "shims/sqlite/src/engine_pair_test_support.h"
#include "testing/scaled.h"

namespace hawthorn::sqlite::collations_test {
namespace {

// ---- Collations. Each has another idea of what is equal.

using Compare = int (*)(std::string_view, std::string_view);

// By the last characters first.
int from_behind(std::string_view a, std::string_view b) {
  return std::string(a.rbegin(), a.rend()).compare(std::string(b.rbegin(), b.rend()));
}

// Without spaces and case.
int loosely(std::string_view a, std::string_view b) {
  const auto bare = [](std::string_view text) {
    std::string all;
    for (const char c : text) {
      if (c != ' ') all += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    }
    return all;
  };
  return bare(a).compare(bare(b));
}

int by_length(std::string_view a, std::string_view b) {
  return static_cast<int>(a.size()) - static_cast<int>(b.size());
}

int backward(std::string_view a, std::string_view b) { return b.compare(a); }

// Not even of itself.
int nonsense(std::string_view a, std::string_view b) {
  return static_cast<int>((a.size() * 7 + b.size() * 3) % 3) - 1;
}

template <Compare kCompare>
int call(void* /*unused*/, int a_size, const void* a, int b_size, const void* b) {
  return kCompare({static_cast<const char*>(a), static_cast<size_t>(a_size)},
                  {static_cast<const char*>(b), static_cast<size_t>(b_size)});
}

template <Compare kCompare>
void define(Connection& connection, const char* name, int encoding = SQLITE_UTF8) {
  ASSERT_EQ(sqlite3_create_collation_v2(connection.get(), name, encoding, nullptr, call<kCompare>,
                                        nullptr),
            SQLITE_OK)
      << connection.message();
}

void define_all(Connection& connection) {
  define<from_behind>(connection, "BEHIND");
  define<loosely>(connection, "LOOSE");
  define<by_length>(connection, "LENGTH");
  define<backward>(connection, "WIDE", SQLITE_UTF16);
}

// ---- Tests

class CollationsTest : public EnginePairTest {
 protected:
  void open_both(const std::string& name = "test.db", const std::string& encoding = "UTF-8") {
    open(name, encoding);
    define_all(ours_);
    define_all(stock_);
    both("PRAGMA synchronous = OFF");
  }
  void all(const std::vector<std::string>& statements) {
    for (const std::string& sql : statements) {
      if (!both(sql)) return;
    }
  }
  template <Compare kCompare>
  void define_both(const char* name) {
    define<kCompare>(ours_, name);
    define<kCompare>(stock_, name);
    history_.push_back(std::string("-- another function: ") + name);
  }
  // What was committed, by another connection of the same process or after all were closed.
  void reopen(const std::string& name = "test.db") {
    ours_.close();
    ours_ = Connection(path(name));
    define_all(ours_);
    is_reopened_ = true;
    history_.push_back("-- reopened");
  }

  static constexpr const char* kFill =
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 800) INSERT INTO "
      "t "
      "SELECT i, CASE i % 11 WHEN 0 THEN NULL WHEN 1 THEN i WHEN 2 THEN i / 4.0 WHEN 3 THEN "
      "CAST('b' || i AS BLOB) WHEN 4 THEN 'Key ' || (i % 40) ELSE 'k e y' || (i * 7919 % 1009) "
      "END, "
      "'Group ' || (i % 17), i * 31 % 500 FROM n";
};

TEST_F(CollationsTest, EveryWayToReadAnIndex) {
  for (const std::string encoding : {"UTF-8", "UTF-16le", "UTF-16be"}) {
    for (const std::string collation : {"BEHIND", "LOOSE", "LENGTH", "WIDE"}) {
      if (encoding == "UTF-16be" && collation != "WIDE") continue;
      const std::string name = collation + "-" + encoding + ".db";
      open_both(name, encoding);
      all({"CREATE TABLE t(id INTEGER PRIMARY KEY, a COLLATE " + collation + ", b, c)", kFill,
           "CREATE INDEX t_a ON t(a)", "CREATE INDEX t_down ON t(a DESC, c)",
           "CREATE INDEX t_mixed ON t(b COLLATE NOCASE, a DESC, c COLLATE " + collation + ")",
           "CREATE INDEX t_part ON t(b COLLATE " + collation + ") WHERE c > 100",
           "CREATE INDEX t_made ON t(substr(a, 2) COLLATE " + collation + ", b)", "ANALYZE"});
      for (const std::string index : {"t_a", "t_down", "t_mixed"}) {
        const std::string from = "SELECT id, a, b, c FROM t INDEXED BY " + index + " WHERE ";
        const std::string tail = index == "t_mixed" ? " AND b = 'GROUP 3' COLLATE NOCASE" : "";
        for (const std::string which :
             {"a = 'key 7'", "a = 'KEY 7'", "a > 'key 3'", "a >= 'k e y500'", "a < 'Key 20'",
              "a <= 'key 9'", "a BETWEEN 'ke' AND 'key 22'", "a IS NULL", "a IS NOT NULL", "a = 12",
              "a > 100.5", "a < 3", "a >= x'62'", "a IN ('key 1', 'k e y77', 5, NULL)",
              "a = '' OR a = 'Key 39'"}) {
          for (const std::string order :
               {"", " ORDER BY a, c, id", " ORDER BY a DESC, c DESC, id"}) {
            if (!both(from + "(" + which + ")" + tail + order)) return;
          }
        }
      }
      all({"SELECT count(*) FROM t INDEXED BY t_a WHERE a IS NULL OR 1", "SELECT count(*) FROM t",
           "SELECT min(a), max(a) FROM t", "SELECT DISTINCT a FROM t",
           "SELECT a, count(*), min(id) FROM t GROUP BY a ORDER BY a",
           "SELECT b FROM t INDEXED BY t_part WHERE c > 100 AND b = 'Group 5'",
           "SELECT id FROM t INDEXED BY t_made WHERE substr(a, 2) COLLATE " + collation +
               " = 'ey 4' ORDER BY id",
           "SELECT x.id, y.id FROM t x JOIN t y ON x.a = y.a WHERE x.id < 40 ORDER BY 1, 2",
           "SELECT id FROM t WHERE a = (SELECT a FROM t WHERE id = 37) ORDER BY id",
           "PRAGMA integrity_check", "PRAGMA quick_check"});
      if (HasFailure()) return;
      reopen(name);
      all({"SELECT id, a FROM t INDEXED BY t_down WHERE a > 'key 3' ORDER BY a DESC",
           "DELETE FROM t WHERE a < 'key 2'", "SELECT count(*) FROM t", "PRAGMA integrity_check"});
      if (HasFailure()) return;
    }
  }
}

TEST_F(CollationsTest, ChangesOfATable) {
  for (const std::string collation : {"BEHIND", "LOOSE", "LENGTH", "WIDE"}) {
    open_both(collation + ".db");
    all({"CREATE TABLE t(id INTEGER PRIMARY KEY, a COLLATE " + collation + ", b, c)",
         "CREATE INDEX t_a ON t(a, b)", "CREATE INDEX t_b ON t(b DESC, a)", kFill});
    for (const std::string change :
         {"UPDATE t SET a = a || 'x' WHERE id % 3 = 0",
          "UPDATE t SET a = upper(a) WHERE a > 'key 3'",
          "DELETE FROM t WHERE a BETWEEN 'k' AND 'key 20'",
          "UPDATE t SET a = b, b = a WHERE c < 90", "DELETE FROM t WHERE id % 4 = 0",
          "INSERT INTO t SELECT id + 5000, b, a, c FROM t",
          "UPDATE t SET id = id + 10000 WHERE a >= 'g'",
          "UPDATE OR IGNORE t SET a = NULL WHERE c = 31",
          "DELETE FROM t WHERE a IN (SELECT a FROM t WHERE c < 50)",
          "DELETE FROM t WHERE a > ''"}) {
      for (const std::string way : {"ROLLBACK TO s; RELEASE s", "RELEASE s"}) {
        all({"SAVEPOINT s", change, "SELECT count(*), sum(id) FROM t",
             "SELECT id, a, b FROM t INDEXED BY t_a ORDER BY a, b, id", way,
             "SELECT id FROM t INDEXED BY t_b WHERE b > 'Group 12' ORDER BY b DESC, a, id"});
      }
      all({"BEGIN", change, "ROLLBACK", "PRAGMA integrity_check"});
      if (HasFailure()) return;
    }
    all({"DELETE FROM t", "SELECT count(*) FROM t INDEXED BY t_a WHERE a IS NULL OR 1", kFill,
         "SELECT a FROM t ORDER BY a, id", "VACUUM", "SELECT a FROM t ORDER BY a, id",
         "DROP INDEX t_a", "PRAGMA integrity_check", "DROP TABLE t", "PRAGMA integrity_check"});
  }
}

TEST_F(CollationsTest, UniqueAndItsConflicts) {
  open_both();
  all({"CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT COLLATE LOOSE UNIQUE, b, c)",
       "CREATE UNIQUE INDEX t_bc ON t(b COLLATE LENGTH, c)",
       "INSERT INTO t VALUES(1, 'One', 'x', 1), (2, 'two', 'xx', 2), (3, NULL, NULL, 3)",
       "INSERT INTO t VALUES(4, 'o n e', 'xyz', 4)",
       "INSERT INTO t VALUES(4, 'four', 'y', 1)",
       "INSERT OR IGNORE INTO t VALUES(5, 'TWO', 'xyzz', 5), (6, 'six', 'xyzzz', 6)",
       "INSERT OR REPLACE INTO t VALUES(7, 'T w o', 'z', 1) RETURNING *",
       "SELECT * FROM t",
       "INSERT INTO t VALUES(8, 'SIX', 'qqqqqq', 9) ON CONFLICT(a) DO UPDATE SET c = excluded.c + "
       "100, a = excluded.a",
       "INSERT INTO t VALUES(9, NULL, NULL, 3)",
       "UPDATE t SET a = 'Six' WHERE id = 6",
       "UPDATE t SET a = 's i x' WHERE id = 7",
       "UPDATE OR REPLACE t SET a = 's i x' WHERE id = 7",
       "SELECT * FROM t ORDER BY a",
       "SELECT * FROM t WHERE a = 'SIX'",
       "PRAGMA integrity_check",
       "CREATE TABLE refers(a REFERENCES t(a) ON UPDATE CASCADE ON DELETE SET NULL)",
       "PRAGMA foreign_keys = 1",
       "INSERT INTO refers VALUES('six'), ('S I X')",
       "INSERT INTO refers VALUES('nobody')",
       "UPDATE t SET a = 'seven' WHERE a = 'six'",
       "SELECT * FROM refers",
       "DELETE FROM t WHERE a = 'SEVEN'",
       "SELECT * FROM refers",
       "PRAGMA integrity_check"});
}

TEST_F(CollationsTest, PrimaryKeysWithoutRowNumbers) {
  for (const std::string encoding : {"UTF-8", "UTF-16le"}) {
    open_both(encoding + ".db", encoding);
    all({"CREATE TABLE w(k TEXT COLLATE LOOSE, n INT, v, PRIMARY KEY(k DESC, n)) WITHOUT ROWID",
         "CREATE INDEX w_v ON w(v COLLATE BEHIND)",
         "CREATE UNIQUE INDEX w_nv ON w(n, v)",
         "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1200) "
         "INSERT INTO w SELECT 'Key ' || (i * 7919 % 601), i, 'value ' || (i % 77) FROM n",
         "INSERT INTO w VALUES('k E y5', 7, 'twice'), ('KEY5', 7, 'and again')",
         "REPLACE INTO w VALUES('K e y 5 ', 7, 'replaced')",
         "SELECT * FROM w WHERE k = 'key5'",
         "SELECT * FROM w ORDER BY k DESC, n",
         "SELECT * FROM w ORDER BY k, n DESC",
         "SELECT k, n FROM w WHERE k BETWEEN 'key1' AND 'key 3' AND n > 100",
         "SELECT k FROM w INDEXED BY w_v WHERE v > 'value 7' ORDER BY v, k, n",
         "SELECT count(*) FROM w",
         "UPDATE w SET k = 'x' || k WHERE n % 5 = 0",
         "UPDATE w SET v = v || '!', n = -n WHERE k > 'xkey'",
         "DELETE FROM w WHERE k < 'KEY 3'",
         "SELECT * FROM w",
         "PRAGMA integrity_check",
         "SAVEPOINT s",
         "DELETE FROM w",
         "SELECT count(*) FROM w",
         "ROLLBACK TO s",
         "RELEASE s",
         "SELECT count(*) FROM w",
         "REINDEX",
         "SELECT * FROM w",
         "CREATE TABLE copy(k TEXT COLLATE LOOSE, n INT, v, PRIMARY "
         "KEY(k DESC, n)) WITHOUT ROWID",
         "INSERT INTO copy SELECT * FROM w",
         "SELECT * FROM copy",
         "DELETE FROM copy",
         "PRAGMA integrity_check"});
    if (HasFailure()) return;
    reopen(encoding + ".db");
    all({"SELECT * FROM w", "SELECT v FROM w WHERE k = 'XKEY600'", "PRAGMA integrity_check"});
  }
}

// More than a connection keeps for itself, and each way in which that has to be written or dropped.
TEST_F(CollationsTest, ManyEntriesInOneTransaction) {
  open_both();
  const std::string count = std::to_string(40'000 + testing::scaled(40'000));
  all({"CREATE TABLE t(id INTEGER PRIMARY KEY, a COLLATE BEHIND)",
       "CREATE INDEX t_a ON t(a)",
       "CREATE TABLE w(k COLLATE LOOSE PRIMARY KEY, v) WITHOUT ROWID",
       "BEGIN",
       "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < " + count +
           ") INSERT INTO t SELECT i, 'an entry of an index, ' || (i * 7919 % 1000003) FROM n",
       "INSERT INTO w SELECT a, id FROM t",
       "PRAGMA integrity_check",
       "SAVEPOINT s",
       "DELETE FROM t WHERE id % 3 = 0",
       "INSERT INTO w VALUES('one more', 1)",
       "SELECT count(*) FROM t INDEXED BY t_a WHERE a > '' COLLATE BEHIND",
       "ROLLBACK TO s",
       "SELECT count(*) FROM t INDEXED BY t_a WHERE a > '' COLLATE BEHIND",
       "UPDATE t SET a = a || id WHERE id % 5 = 0",
       "RELEASE s",
       "SELECT count(*) FROM w",
       "INSERT INTO w VALUES('one more', 1)",
       "DELETE FROM w",
       "SELECT count(*) FROM w",
       "INSERT INTO w SELECT a, id FROM t WHERE id < 300",
       "DROP INDEX t_a",
       "CREATE INDEX t_a ON t(a DESC)",
       "REINDEX",
       "COMMIT",
       "PRAGMA integrity_check",
       "SELECT a FROM t ORDER BY a DESC, id",
       "SELECT * FROM w",
       "BEGIN",
       "DELETE FROM t",
       "INSERT INTO w VALUES('x', 2)",
       "ROLLBACK",
       "SELECT count(*) FROM w",
       "PRAGMA integrity_check"});
}

TEST_F(CollationsTest, EntriesOfAnySize) {
  open_both();
  all({"CREATE TABLE t(id INTEGER PRIMARY KEY, a COLLATE LENGTH, b COLLATE BEHIND)",
       "CREATE INDEX t_a ON t(a)", "CREATE INDEX t_b ON t(b, a)",
       "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60) INSERT INTO t "
       "SELECT i, hex(zeroblob(i * 1200)), hex(zeroblob(i % 7 * 300)) || i FROM n",
       "SELECT id, length(a) FROM t INDEXED BY t_a WHERE a > hex(zeroblob(50000)) ORDER BY a",
       "SELECT id, length(a) FROM t INDEXED BY t_a WHERE a = hex(zeroblob(70000))",
       "SELECT id, length(b) FROM t INDEXED BY t_b ORDER BY b DESC",
       "UPDATE t SET a = a || hex(zeroblob(40000)) WHERE id % 2", "PRAGMA integrity_check",
       "DELETE FROM t WHERE a > hex(zeroblob(90000))", "DROP INDEX t_b",
       "INSERT INTO t VALUES(100, hex(zeroblob(34000000)), 'more than a value of the engine')",
       "SELECT id FROM t INDEXED BY t_a WHERE a >= hex(zeroblob(34000000))",
       "SELECT id, length(a) FROM t INDEXED BY t_a ORDER BY a DESC LIMIT 3",
       "PRAGMA integrity_check", "DELETE FROM t WHERE id = 100", "SELECT count(*) FROM t"});
}

// ---- Connections

TEST_F(CollationsTest, EachConnectionSeesItsMoment) {
  open_both();
  all({"CREATE TABLE t(id INTEGER PRIMARY KEY, a COLLATE BEHIND, b, c)", "CREATE INDEX t_a ON t(a)",
       kFill});
  Connection reader(path("test.db"));
  define_all(reader);
  const std::string sql = "SELECT id, a FROM t INDEXED BY t_a ORDER BY a, id";
  EXPECT_SQL_OK(reader, "BEGIN");
  const std::vector<std::string> before = reader.rows(sql);
  Statement under_way(ours_, "SELECT a FROM t INDEXED BY t_a WHERE a > 'x' ORDER BY a");
  all({"UPDATE t SET a = a || 'z' WHERE id % 2", "DELETE FROM t WHERE id % 3 = 0"});
  EXPECT_EQ(reader.rows(sql), before);
  EXPECT_SQL_OK(reader, "COMMIT");
  EXPECT_EQ(reader.rows(sql), stock_.rows(sql));
  // One that writes without what it has read goes back to it.
  EXPECT_SQL_OK(reader, "BEGIN; DELETE FROM t WHERE a > 'a'; INSERT INTO t(a) VALUES('mine')");
  EXPECT_EQ(ours_.rows(sql), stock_.rows(sql));
  EXPECT_SQL_OK(reader, "ROLLBACK");
  EXPECT_EQ(reader.rows(sql), stock_.rows(sql));
  expect_sound(reader);
}

TEST_F(CollationsTest, StatementsGoOnWhileTheIndexChanges) {
  open_both();
  all({"CREATE TABLE t(id INTEGER PRIMARY KEY, a COLLATE LOOSE, b, c)", "CREATE INDEX t_a ON t(a)",
       kFill});
  for (const std::string order : {"", " DESC"}) {
    const std::string sql = "SELECT id, a FROM t INDEXED BY t_a WHERE a > 'k' ORDER BY a" + order;
    Statement of_ours(ours_, sql);
    Statement of_stock(stock_, sql);
    for (int i = 0; i < 400 && !HasFailure(); ++i) {
      const int code = of_stock.step();
      ASSERT_EQ(of_ours.step(), code) << i;
      if (code != SQLITE_ROW) break;
      ASSERT_EQ(of_ours.row(), of_stock.row()) << i;
      const std::string id = std::to_string(sqlite3_column_int64(of_stock.get(), 0));
      if (i % 3 == 0) both("DELETE FROM t WHERE id = " + id);
      if (i % 5 == 1) both("UPDATE t SET c = c + 1, a = upper(a) WHERE id = " + id);
      if (i % 7 == 2) both("DELETE FROM t WHERE id BETWEEN " + id + " - 3 AND " + id + " + 3");
      if (i % 11 == 3) both("SAVEPOINT s; DELETE FROM t; ROLLBACK TO s; RELEASE s");
      if (i % 13 == 4) both("INSERT INTO t(a, c) VALUES('k' || " + id + ", 1)");
    }
  }
  both("PRAGMA integrity_check");
}

// ---- Other functions

TEST_F(CollationsTest, AnotherFunctionOfTheProgramsByThatName) {
  open_both();
  all({"CREATE TABLE t(id INTEGER PRIMARY KEY, a COLLATE BEHIND, b, c)", "CREATE INDEX t_a ON t(a)",
       kFill});
  define_both<by_length>("BEHIND");
  EXPECT_NE(ours_.rows("PRAGMA integrity_check"), std::vector<std::string>{"t'ok'"});
  EXPECT_NE(stock_.rows("PRAGMA integrity_check"), std::vector<std::string>{"t'ok'"});
  all({"REINDEX BEHIND", "SELECT id, a FROM t INDEXED BY t_a ORDER BY a, id",
       "SELECT id FROM t WHERE a = 'key 7' ORDER BY id", "PRAGMA integrity_check"});
}

TEST_F(CollationsTest, WrongEntriesAreFound) {
  open_both();
  all({"CREATE TABLE t(id INTEGER PRIMARY KEY, a COLLATE BEHIND)", "CREATE INDEX t_a ON t(a)",
       "INSERT INTO t VALUES(1, 'az'), (2, 'by'), (3, 'cx')"});
  // As it would be written by a program whose function is another one.
  define<backward>(ours_, "BEHIND");
  EXPECT_SQL_OK(ours_, "INSERT INTO t VALUES(4, 'a')");
  define<from_behind>(ours_, "BEHIND");
  std::string found;
  for (const std::string& row : ours_.rows("PRAGMA integrity_check")) found += row;
  EXPECT_NE(found.find("out of order"), std::string::npos) << found;
  EXPECT_SQL_OK(ours_, "REINDEX t_a");
  expect_sound(ours_);
}

TEST_F(CollationsTest, NonsenseDoesNoHarm) {
  open_both();
  define<nonsense>(ours_, "NONSENSE");
  EXPECT_SQL_OK(ours_,
                "CREATE TABLE t(id INTEGER PRIMARY KEY, a COLLATE NONSENSE, b, c); "
                "CREATE INDEX t_a ON t(a)");
  EXPECT_SQL_OK(ours_, kFill);
  EXPECT_EQ(ours_.rows("SELECT a FROM t INDEXED BY t_a WHERE a > 'a' OR a < 'a' OR 1").size(),
            800U);
  ours_.run("UPDATE t SET a = a || 'x' WHERE id % 2");
  ours_.run("DELETE FROM t WHERE id % 3 = 0");
  EXPECT_NE(ours_.value("PRAGMA integrity_check"), "t'ok'");
  define<backward>(ours_, "NONSENSE");
  EXPECT_SQL_OK(ours_, "REINDEX");
  expect_sound(ours_);
}

TEST_F(CollationsTest, AFunctionThatChangesTheIndexDoesNoHarm) {
  open_both();
  all({"CREATE TABLE t(id INTEGER PRIMARY KEY, a COLLATE BEHIND, b, c)", "CREATE INDEX t_a ON t(a)",
       kFill});
  struct Calls {
    Connection* connection;
    int until;
  } calls{&ours_, 0};
  const auto compare = [](void* context, int a_size, const void* a, int b_size, const void* b) {
    auto* const these = static_cast<Calls*>(context);
    if (--these->until == 0) {
      these->connection->run("DELETE FROM t WHERE id = 7; INSERT INTO t(a) VALUES('in between')");
    }
    return call<from_behind>(nullptr, a_size, a, b_size, b);
  };
  ASSERT_EQ(sqlite3_create_collation(ours_.get(), "BEHIND", SQLITE_UTF8, &calls, compare),
            SQLITE_OK);
  for (const std::string sql :
       {"SELECT count(*) FROM t WHERE a > 'key' AND a < 'z'", "INSERT INTO t(a) VALUES('one more')",
        "DELETE FROM t WHERE a > 'key 3' AND id % 20 = 1",
        "UPDATE t SET a = a || 'x' WHERE id % 50 = 2"}) {
    for (int until = 1; until < 12; ++until) {
      calls.until = until;
      const int code = ours_.code(sql);
      EXPECT_TRUE(code == SQLITE_OK || code == SQLITE_ABORT) << sql << ": " << code;
    }
  }
  calls.until = 0;
  EXPECT_SQL_OK(ours_, "REINDEX");
  expect_sound(ours_);
}

TEST_F(CollationsTest, SqlitesOwnNamesWithAnotherFunction) {
  open_both();
  define_both<backward>("NOCASE");
  all({"CREATE TABLE t(id INTEGER PRIMARY KEY, a COLLATE NOCASE, b, c)", "CREATE INDEX t_a ON t(a)",
       kFill, "SELECT a FROM t ORDER BY a, id", "SELECT id FROM t INDEXED BY t_a WHERE a > 'key 7'",
       "PRAGMA integrity_check"});

  // A connection with SQLite's function does not find its way, and says so.
  Connection plain(path("test.db"));
  EXPECT_EQ(plain.code("SELECT id FROM t INDEXED BY t_a WHERE a > 'key 7'"), SQLITE_ERROR);
  EXPECT_EQ(plain.code("INSERT INTO t(a) VALUES('x')"), SQLITE_ERROR);
  EXPECT_EQ(plain.code("PRAGMA integrity_check"), SQLITE_ERROR);
  EXPECT_EQ(plain.value("SELECT count(*) FROM t NOT INDEXED"), "i800");
  EXPECT_EQ(plain.value("SELECT count(*) FROM sqlite_schema"), "i2");
  expect_sound(ours_);

  // It makes the index anew, and then the other one does not.
  EXPECT_SQL_OK(plain, "REINDEX");
  expect_sound(plain);
  EXPECT_EQ(plain.value("SELECT count(*) FROM t INDEXED BY t_a WHERE a = 'KEY 7'"),
            plain.value("SELECT count(*) FROM t NOT INDEXED WHERE a = 'KEY 7'"));
  EXPECT_EQ(ours_.code("SELECT id FROM t INDEXED BY t_a WHERE a > 'key 7'"), SQLITE_ERROR);
  EXPECT_EQ(ours_.code("DELETE FROM t"), SQLITE_OK) << "needs no order";
  EXPECT_EQ(ours_.value("SELECT count(*) FROM t INDEXED BY t_a WHERE a > 'key 7'"), "i0")
      << "an index without entries is by any function";
  EXPECT_SQL_OK(ours_, kFill);
  expect_sound(ours_);
  EXPECT_EQ(plain.code("SELECT id FROM t INDEXED BY t_a WHERE a > 'key 7'"), SQLITE_ERROR);
}

TEST_F(CollationsTest, ACollationThatIsAskedForWhenItIsNeeded) {
  open_both();
  all({"CREATE TABLE t(id INTEGER PRIMARY KEY, a COLLATE LOOSE, b, c)", "CREATE INDEX t_a ON t(a)",
       kFill});
  Connection other(path("test.db"));
  EXPECT_EQ(other.code("SELECT id FROM t ORDER BY a"), SQLITE_ERROR_MISSING_COLLSEQ);
  EXPECT_EQ(other.value("SELECT count(c) FROM t NOT INDEXED"), "i800");
  Connection asks(path("test.db"));
  const auto give = [](void*, sqlite3* db, int /*encoding*/, const char* name) {
    EXPECT_STREQ(name, "LOOSE");
    sqlite3_create_collation(db, name, SQLITE_UTF8, nullptr, call<loosely>);
  };
  ASSERT_EQ(sqlite3_collation_needed(asks.get(), nullptr, give), SQLITE_OK);
  const std::string sql = "SELECT id FROM t WHERE a >= 'KEY 1' ORDER BY a, id";
  EXPECT_EQ(asks.rows(sql), stock_.rows(sql));
  expect_sound(asks);
}

TEST_F(CollationsTest, ARowOfTheLeastNumberIsNoHeader) {
  // Its key is nothing but zeros.
  open_both();
  all({"CREATE TABLE t(id INTEGER PRIMARY KEY, a COLLATE LOOSE, b, c)", "CREATE INDEX t_a ON t(a)",
       "INSERT INTO t(id, a) VALUES(-9223372036854775807 - 1, 'least'), (-9223372036854775807, "
       "'next')",
       "SELECT * FROM t", "SELECT count(*) FROM t", "PRAGMA integrity_check", "DELETE FROM t",
       "SELECT count(*) FROM t"});
}

}  // namespace
}  // namespace hawthorn::sqlite::collations_test
