// PRAGMA max_page_count.

#include <string>
#include <vector>

#include "shims/sqlite/src/sqlite_test_support.h"

namespace hawthorn::sqlite::page_limit_test {
namespace {

class PageLimitTest : public SqliteTest {
 protected:
  static int64_t number(Connection& connection, const std::string& sql) {
    const std::string value = connection.value(sql);
    return value.size() > 1 ? std::stoll(value.substr(1)) : -1;
  }
  static int64_t pages(Connection& connection) { return number(connection, "PRAGMA page_count"); }
  static std::string insert(int rows, int bytes) {
    return "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < " +
           std::to_string(rows) + ") INSERT INTO t(b) SELECT randomblob(" + std::to_string(bytes) +
           ") FROM n";
  }
  // One row after the other, until there is no space; how many.
  static int fill(Connection& connection, int rows_max) {
    for (int rows = 0; rows < rows_max; ++rows) {
      const int code = connection.code(insert(1, 4000));
      if (code == SQLITE_FULL) return rows;
      EXPECT_EQ(code, SQLITE_OK);
      if (code != SQLITE_OK) return -1;
    }
    return rows_max;
  }
};

TEST_F(PageLimitTest, ItAnswersAsSqlitesOwn) {
  Connection ours(path_);
  Connection stock("file:" + path("stock.db") + "?hawthorn=0");
  const auto both = [&](const std::string& sql) {
    const Answer of_ours = ours.run(sql);
    const Answer of_stock = stock.run(sql);
    EXPECT_EQ(of_ours.code, of_stock.code) << sql;
    EXPECT_EQ(of_ours.rows, of_stock.rows) << sql;
  };
  both("PRAGMA max_page_count");
  both("CREATE TABLE t(a INTEGER PRIMARY KEY, b); INSERT INTO t(b) VALUES(1)");
  for (const char* value : {"2000", "0", "-5", "4294967294", "3000"}) {
    both(std::string("PRAGMA max_page_count = ") + value);
    both("PRAGMA max_page_count");
    both("SELECT max_page_count FROM pragma_max_page_count");
  }
  both("BEGIN; PRAGMA max_page_count = 2500; INSERT INTO t(b) VALUES(2); ROLLBACK");
  both("PRAGMA max_page_count");
  // Of each connection its own, and of no database.
  Connection another(path_);
  EXPECT_EQ(another.value("SELECT max_page_count FROM pragma_max_page_count"),
            Connection(":memory:").value("PRAGMA max_page_count"));
  // Never less than there are.
  EXPECT_SQL_OK(ours, insert(100, 4000));
  EXPECT_GE(number(ours, "PRAGMA max_page_count = 1"), 100);
  EXPECT_EQ(number(ours, "PRAGMA max_page_count"), number(ours, "PRAGMA max_page_count = 0"));
}

TEST_F(PageLimitTest, WhatIsBeyondIsRefused) {
  Connection ours(path_);
  EXPECT_SQL_OK(ours, "PRAGMA synchronous = OFF; CREATE TABLE t(a INTEGER PRIMARY KEY, b)");
  EXPECT_EQ(number(ours, "PRAGMA max_page_count = 500"), 500);
  const int rows = fill(ours, 2000);
  EXPECT_GT(rows, 300);
  EXPECT_LE(rows, 500);
  EXPECT_LE(pages(ours), 510);
  EXPECT_EQ(number(ours, "SELECT count(*) FROM t"), rows);
  EXPECT_EQ(ours.run(insert(1, 4000)).message, "database or disk is full");
  // A statement is taken back whole, and what is smaller or gone goes on.
  EXPECT_EQ(ours.code(insert(50, 4000)), SQLITE_FULL);
  EXPECT_EQ(number(ours, "SELECT count(*) FROM t"), rows);
  EXPECT_EQ(sqlite3_get_autocommit(ours.get()), 1);
  EXPECT_SQL_OK(ours, "DELETE FROM t WHERE a % 2 = 0");
  const int again = fill(ours, 2000);
  EXPECT_GT(again, rows / 4) << "the space comes back";
  EXPECT_LE(pages(ours), 510);
  expect_sound(ours);
  // Another connection has no limit, and this one a larger one.
  Connection another(path_);
  EXPECT_SQL_OK(another, insert(100, 4000));
  EXPECT_EQ(ours.code(insert(10, 4000)), SQLITE_FULL);
  EXPECT_SQL_OK(ours, "PRAGMA max_page_count = 1000; " + insert(100, 4000));
  ours = Connection();
  another = Connection();
  ours = Connection(path_);
  EXPECT_EQ(number(ours, "SELECT count(*) FROM t"), rows - rows / 2 + again + 200);
  expect_sound(ours);
}

// What SQLite does with a transaction when the database is full.
TEST_F(PageLimitTest, InATransaction) {
  for (const bool is_large : {false, true}) {
    std::vector<std::string> answers[2];
    for (const bool is_ours : {true, false}) {
      Connection one("file:" + path(is_large ? "large.db" : "small.db") +
                     (is_ours ? "" : ".stock?hawthorn=0"));
      std::vector<std::string>& all = answers[is_ours ? 0 : 1];
      EXPECT_SQL_OK(one,
                    "CREATE TABLE t(a INTEGER PRIMARY KEY, b UNIQUE);"
                    "INSERT INTO t(b) VALUES('kept'); PRAGMA max_page_count = 300");
      EXPECT_SQL_OK(one, "BEGIN; INSERT INTO t(b) VALUES('first'); SAVEPOINT s");
      EXPECT_SQL_OK(one, insert(20, 2000));
      const Answer full =
          one.run(is_large ? "INSERT INTO t(b) VALUES(zeroblob(3000000))" : insert(1000, 2000));
      all.push_back(std::to_string(full.code) + full.message);
      all.push_back(std::to_string(sqlite3_get_autocommit(one.get())));
      all.push_back(one.value("SELECT count(*) FROM t"));
      all.push_back(std::to_string(one.code("ROLLBACK TO s")));
      all.push_back(std::to_string(one.code("COMMIT")));
      all.push_back(one.value("SELECT count(*), max(b) FROM t"));
      EXPECT_SQL_OK(one, "INSERT INTO t(b) VALUES('more')");
      expect_sound(one);
    }
    EXPECT_EQ(answers[0], answers[1]) << is_large;
  }
}

TEST_F(PageLimitTest, TablesCountToo) {
  Connection ours(path_);
  EXPECT_SQL_OK(ours, "CREATE TABLE first(a); PRAGMA max_page_count = 40");
  int code = SQLITE_OK;
  int tables = 0;
  for (; tables < 100 && code == SQLITE_OK; ++tables) {
    code = ours.code("CREATE TABLE t" + std::to_string(tables) + "(a)");
  }
  EXPECT_EQ(code, SQLITE_FULL);
  EXPECT_LE(pages(ours), 41);
  EXPECT_EQ(ours.value("SELECT count(*) FROM sqlite_schema"), "i" + std::to_string(tables));
  expect_sound(ours);
}

}  // namespace
}  // namespace hawthorn::sqlite::page_limit_test
