// BEGIN CONCURRENT: transactions that write at once, and of which those that meet fail.

#include <atomic>
#include <chrono>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "shims/sqlite/src/sqlite_test_support.h"
#include "testing/scaled.h"
#include "testing/wait.h"

namespace hawthorn::sqlite::concurrent_test {
namespace {

using Clock = std::chrono::steady_clock;

class ConcurrentTest : public SqliteTest {
 protected:
  Connection open() {
    Connection made(path_);
    EXPECT_SQL_OK(made, "PRAGMA synchronous = OFF");
    return made;
  }
  Connection open_filled() {
    Connection made = open();
    EXPECT_SQL_OK(made,
                  "CREATE TABLE t(a INTEGER PRIMARY KEY, b);"
                  "CREATE TABLE u(x UNIQUE, y);"
                  "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100) "
                  "INSERT INTO t SELECT i, i * 10 FROM n;"
                  "INSERT INTO u SELECT a * 10, b FROM t");
    return made;
  }
  static void expect_conflict(Connection& connection, const std::string& sql) {
    const Answer answer = connection.run(sql);
    EXPECT_EQ(answer.code, SQLITE_BUSY_SNAPSHOT) << sql << ": " << answer.message;
    EXPECT_EQ(sqlite3_get_autocommit(connection.get()), 0) << "it is open until it is rolled back";
  }
};

TEST_F(ConcurrentTest, TwoThatWriteDifferentRowsCommit) {
  Connection one = open_filled();
  Connection two = open();
  EXPECT_SQL_OK(one, "BEGIN CONCURRENT; UPDATE t SET b = 1 WHERE a = 1");
  EXPECT_SQL_OK(two,
                "BEGIN CONCURRENT; UPDATE t SET b = 2 WHERE a = 2; DELETE FROM t WHERE a = 50");
  EXPECT_EQ(one.value("SELECT b FROM t WHERE a = 2"), "i20");
  // What one has read, two has changed: they are apart again.
  EXPECT_SQL_OK(one, "ROLLBACK; BEGIN CONCURRENT; UPDATE t SET b = 1 WHERE a = 1");
  EXPECT_EQ(sqlite3_changes(one.get()), 1);
  EXPECT_SQL_OK(one, "COMMIT");
  EXPECT_SQL_OK(two, "COMMIT");
  EXPECT_EQ(one.value("SELECT group_concat(b) FROM t WHERE a < 4"), "t'1,2,30'");
  EXPECT_EQ(two.value("SELECT count(*) FROM t"), "i99");
  expect_sound(one);
}

TEST_F(ConcurrentTest, OfTwoThatWriteARowTheSecondFails) {
  Connection one = open_filled();
  Connection two = open();
  EXPECT_SQL_OK(one, "BEGIN CONCURRENT; UPDATE t SET b = b + 1 WHERE a = 1");
  EXPECT_SQL_OK(two, "BEGIN CONCURRENT; UPDATE t SET b = b + 1 WHERE a = 1");
  EXPECT_SQL_OK(one, "COMMIT");
  expect_conflict(two, "COMMIT");
  // Nothing but a rollback is left.
  expect_conflict(two, "COMMIT");
  expect_conflict(two, "SELECT * FROM t");
  expect_conflict(two, "INSERT INTO t VALUES(500, 1)");
  EXPECT_SQL_OK(two, "ROLLBACK");
  EXPECT_EQ(two.value("SELECT b FROM t WHERE a = 1"), "i11");
  EXPECT_SQL_OK(two, "BEGIN CONCURRENT; UPDATE t SET b = b + 1 WHERE a = 1; COMMIT");
  EXPECT_EQ(one.value("SELECT b FROM t WHERE a = 1"), "i12");
}

TEST_F(ConcurrentTest, AWriteMayFailAtOnceAndTakesItsTransactionAlong) {
  Connection one = open_filled();
  Connection two = open();
  EXPECT_SQL_OK(two, "BEGIN CONCURRENT");
  EXPECT_EQ(two.value("SELECT b FROM t WHERE a = 9"), "i90");
  EXPECT_SQL_OK(one, "UPDATE t SET b = 0 WHERE a = 60");
  // It has changed rows before it meets the one; SQLite keeps no journal of such a statement.
  expect_conflict(two, "UPDATE t SET b = b + 1 WHERE a > 50");
  expect_conflict(two, "COMMIT");
  EXPECT_SQL_OK(two, "ROLLBACK");
  EXPECT_EQ(two.value("SELECT sum(b) FROM t WHERE a BETWEEN 51 AND 59"), "i4950");
}

TEST_F(ConcurrentTest, WhatWasReadMustNotHaveChanged) {
  Connection one = open_filled();
  Connection two = open();
  const std::string on_one = "SELECT sum(b) FROM t WHERE a IN (1, 2)";
  for (const char* one_end : {"COMMIT", "ROLLBACK"}) {
    // Write skew: each reads what the other one writes.
    EXPECT_SQL_OK(one,
                  "BEGIN CONCURRENT; SELECT sum(b) FROM t WHERE a IN (1, 2);"
                  "UPDATE t SET b = b - 1 WHERE a = 1");
    EXPECT_SQL_OK(two,
                  "BEGIN CONCURRENT; SELECT sum(b) FROM t WHERE a IN (1, 2);"
                  "UPDATE t SET b = b - 1 WHERE a = 2");
    EXPECT_SQL_OK(one, one_end);
    if (std::string(one_end) == "COMMIT") {
      expect_conflict(two, "COMMIT");
      EXPECT_SQL_OK(two, "ROLLBACK");
    } else {
      EXPECT_SQL_OK(two, "COMMIT");
    }
  }
  // A phantom.
  EXPECT_SQL_OK(one,
                "BEGIN CONCURRENT; SELECT count(*) FROM t WHERE a BETWEEN 200 AND 300;"
                "UPDATE t SET b = 7 WHERE a = 7");
  EXPECT_SQL_OK(two, "INSERT INTO t VALUES(250, 1)");
  expect_conflict(one, "COMMIT");
  EXPECT_SQL_OK(one, "ROLLBACK");
  // One that was deleted.
  EXPECT_SQL_OK(one, "BEGIN CONCURRENT; UPDATE t SET b = (SELECT count(*) FROM t) WHERE a = 7");
  EXPECT_SQL_OK(two, "DELETE FROM t WHERE a = 250");
  expect_conflict(one, "COMMIT");
  EXPECT_SQL_OK(one, "ROLLBACK");
}

TEST_F(ConcurrentTest, OneThatOnlyReadsNeverFails) {
  Connection one = open_filled();
  Connection two = open();
  EXPECT_SQL_OK(one, "BEGIN CONCURRENT");
  EXPECT_EQ(one.value("SELECT sum(b) FROM t"), "i50500");
  EXPECT_EQ(sqlite3_txn_state(one.get(), "main"), SQLITE_TXN_READ);
  EXPECT_SQL_OK(two, "UPDATE t SET b = 0; DROP TABLE u; CREATE TABLE v(x)");
  EXPECT_EQ(one.value("SELECT sum(b) FROM t"), "i50500");
  EXPECT_EQ(one.value("SELECT count(*) FROM u"), "i100");
  EXPECT_SQL_OK(one, "UPDATE t SET b = 1 WHERE a = 1000");  // none
  EXPECT_EQ(sqlite3_txn_state(one.get(), "main"), SQLITE_TXN_WRITE);
  EXPECT_SQL_OK(one, "COMMIT");
  EXPECT_EQ(sqlite3_txn_state(one.get(), "main"), SQLITE_TXN_NONE);
  EXPECT_EQ(one.value("SELECT sum(b) FROM t"), "i0");
}

TEST_F(ConcurrentTest, UniqueIndexesStayUnique) {
  Connection one = open_filled();
  Connection two = open();
  EXPECT_SQL_OK(one, "BEGIN CONCURRENT; INSERT INTO u(rowid, x) VALUES(500, 5)");
  EXPECT_SQL_OK(two, "BEGIN CONCURRENT; INSERT INTO u(rowid, x) VALUES(700, 5)");
  EXPECT_EQ(two.code("INSERT INTO u(rowid, x) VALUES(701, 20)"), SQLITE_CONSTRAINT_UNIQUE);
  EXPECT_SQL_OK(one, "COMMIT");
  expect_conflict(two, "COMMIT");
  EXPECT_SQL_OK(two, "ROLLBACK; BEGIN CONCURRENT");
  EXPECT_EQ(two.code("INSERT INTO u(rowid, x) VALUES(700, 5)"), SQLITE_CONSTRAINT_UNIQUE);
  EXPECT_SQL_OK(two, "COMMIT");
  expect_sound(one);
}

TEST_F(ConcurrentTest, TwoThatTakeTheNextRowNumberConflict) {
  Connection one = open_filled();
  Connection two = open();
  EXPECT_SQL_OK(one, "CREATE TABLE s(a INTEGER PRIMARY KEY AUTOINCREMENT, b)");
  for (const std::string table : {"t", "s"}) {
    SCOPED_TRACE(table);
    const std::string insert = "INSERT INTO " + table + "(b) VALUES(1), (2)";
    EXPECT_SQL_OK(one, "BEGIN CONCURRENT; " + insert);
    EXPECT_SQL_OK(two, "BEGIN CONCURRENT; " + insert + "; " + insert);
    EXPECT_SQL_OK(one, "COMMIT");
    expect_conflict(two, "COMMIT");
    EXPECT_SQL_OK(two, "ROLLBACK; BEGIN CONCURRENT; " + insert + "; COMMIT");
  }
  EXPECT_EQ(one.value("SELECT count(*), max(a) FROM t"), "i104|i104");
  EXPECT_EQ(one.value("SELECT count(*), max(a) FROM s"), "i4|i4");
  EXPECT_EQ(one.value("SELECT seq FROM sqlite_sequence"), "i4");
}

// ---- Beside an ordinary writer

TEST_F(ConcurrentTest, AnOrdinaryWriterHoldsUpTheCommitAlone) {
  Connection one = open_filled();
  Connection two = open();
  EXPECT_SQL_OK(one, "BEGIN IMMEDIATE; UPDATE t SET b = 1 WHERE a = 1");
  EXPECT_SQL_OK(two, "BEGIN CONCURRENT; UPDATE t SET b = 2 WHERE a = 2");
  for (const int wait_ms : {0, 120}) {
    sqlite3_busy_timeout(two.get(), wait_ms);
    const Clock::time_point start = Clock::now();
    EXPECT_EQ(two.code("COMMIT"), SQLITE_BUSY) << "of this thread, which would wait for ever";
    EXPECT_GE(Clock::now() - start, std::chrono::milliseconds(wait_ms));
  }
  int asked = 0;
  const auto handler = [](void* count, int) { return ++*static_cast<int*>(count) < 5 ? 1 : 0; };
  sqlite3_busy_handler(two.get(), handler, &asked);
  EXPECT_EQ(two.code("COMMIT"), SQLITE_BUSY);
  EXPECT_EQ(asked, 5);
  EXPECT_SQL_OK(one, "COMMIT");
  EXPECT_SQL_OK(two, "COMMIT");
  EXPECT_EQ(one.value("SELECT group_concat(b) FROM t WHERE a < 3"), "t'1,2'");
}

TEST_F(ConcurrentTest, AnOrdinaryWriterWins) {
  Connection one = open_filled();
  Connection two = open();
  EXPECT_SQL_OK(two, "BEGIN CONCURRENT; UPDATE t SET b = 2 WHERE a = 2");
  EXPECT_SQL_OK(one, "BEGIN IMMEDIATE; UPDATE t SET b = 1 WHERE a < 3; COMMIT");
  expect_conflict(two, "COMMIT");
  EXPECT_SQL_OK(two, "ROLLBACK");
  EXPECT_EQ(two.value("SELECT group_concat(b) FROM t WHERE a < 3"), "t'1,1'");
}

TEST_F(ConcurrentTest, AReaderThatWantsToWriteIsToldOfConcurrentCommits) {
  Connection one = open_filled();
  Connection two = open();
  EXPECT_SQL_OK(two, "BEGIN; SELECT * FROM t");
  EXPECT_SQL_OK(one, "BEGIN CONCURRENT; UPDATE t SET b = 2 WHERE a = 2; COMMIT");
  EXPECT_EQ(two.code("UPDATE t SET b = 3 WHERE a = 3"), SQLITE_BUSY_SNAPSHOT);
  EXPECT_SQL_OK(two, "ROLLBACK; BEGIN; SELECT * FROM t");
  // What does not commit does not count.
  EXPECT_SQL_OK(one, "BEGIN CONCURRENT; UPDATE t SET b = 2 WHERE a = 2; ROLLBACK");
  EXPECT_SQL_OK(two, "UPDATE t SET b = 3 WHERE a = 3; COMMIT");
}

TEST_F(ConcurrentTest, DataVersionTellsOfOthers) {
  Connection one = open_filled();
  Connection two = open();
  const std::string of_one = one.value("PRAGMA data_version");
  const std::string of_two = two.value("PRAGMA data_version");
  EXPECT_SQL_OK(one, "BEGIN CONCURRENT; UPDATE t SET b = 2 WHERE a = 2; COMMIT");
  EXPECT_EQ(one.value("PRAGMA data_version"), of_one);
  EXPECT_NE(two.value("PRAGMA data_version"), of_two);
  EXPECT_SQL_OK(two, "BEGIN CONCURRENT; UPDATE t SET b = 3 WHERE a = 2");
  EXPECT_SQL_OK(one, "BEGIN CONCURRENT; UPDATE t SET b = 2 WHERE a = 2; COMMIT");
  const std::string inside = one.value("PRAGMA data_version");
  EXPECT_EQ(inside, of_one);
  expect_conflict(two, "COMMIT");
  EXPECT_SQL_OK(two, "ROLLBACK");
  EXPECT_EQ(one.value("PRAGMA data_version"), inside) << "nothing was committed";
}

// ---- The schema

TEST_F(ConcurrentTest, TheSchemaIsNotChanged) {
  Connection one = open_filled();
  EXPECT_SQL_OK(
      one,
      "CREATE TABLE s(a INTEGER PRIMARY KEY AUTOINCREMENT, b); INSERT INTO s(b) VALUES(1);"
      "CREATE INDEX s_b ON s(b); CREATE VIEW v AS SELECT 1;"
      "CREATE TABLE c(s REFERENCES s); ANALYZE");
  static constexpr const char* kChanges[] = {
      "CREATE TABLE made(x)",
      "CREATE INDEX made ON t(b)",
      "CREATE VIEW made AS SELECT 1",
      "CREATE TRIGGER made AFTER INSERT ON t BEGIN SELECT 1; END",
      "CREATE VIRTUAL TABLE made USING fts5(x)",
      "DROP TABLE s",
      "DROP TABLE t",
      "DROP INDEX s_b",
      "DROP VIEW v",
      "ALTER TABLE t RENAME TO made",
      "ALTER TABLE t ADD COLUMN made",
      "ALTER TABLE t DROP COLUMN b",
      "ALTER TABLE t RENAME COLUMN b TO made",
      "PRAGMA user_version = 7",
      "PRAGMA application_id = 7"};
  const std::vector<std::string> before = one.rows("SELECT * FROM sqlite_schema");
  for (const char* change : kChanges) {
    SCOPED_TRACE(change);
    EXPECT_SQL_OK(one, "BEGIN CONCURRENT; INSERT INTO t VALUES(1000, 1)");
    const Answer answer = one.run(change);
    EXPECT_EQ(answer.code & 0xff, SQLITE_ERROR);
    EXPECT_EQ(answer.message, "a concurrent transaction cannot change the schema");
    EXPECT_EQ(sqlite3_get_autocommit(one.get()), 0);
    EXPECT_SQL_OK(one, "COMMIT");
    EXPECT_EQ(one.rows("SELECT * FROM sqlite_schema"), before);
    EXPECT_EQ(one.value("SELECT count(*) FROM s, sqlite_sequence, sqlite_stat1 WHERE tbl = 's'"),
              "i1");
    EXPECT_EQ(one.value("PRAGMA user_version"), "i0");
    EXPECT_SQL_OK(one, "DELETE FROM t WHERE a = 1000");
    EXPECT_EQ(sqlite3_changes(one.get()), 1);
  }
  EXPECT_SQL_OK(one, "BEGIN CONCURRENT");
  EXPECT_EQ(one.code("VACUUM"), SQLITE_ERROR);
  EXPECT_SQL_OK(one, "REINDEX; ANALYZE; CREATE TEMP TABLE made(x); COMMIT");
  expect_sound(one);
}

TEST_F(ConcurrentTest, AChangeOfTheSchemaMakesItFail) {
  Connection one = open_filled();
  Connection two = open();
  static constexpr const char* kChanges[] = {"CREATE INDEX t_b ON t(b)", "DROP INDEX t_b",
                                             "CREATE TABLE made(x)", "PRAGMA user_version = 7",
                                             "DROP TABLE t"};
  for (const char* change : kChanges) {
    SCOPED_TRACE(change);
    EXPECT_SQL_OK(two, "BEGIN CONCURRENT; INSERT INTO t(a, b) VALUES(1000, 1)");
    EXPECT_SQL_OK(one, change);
    expect_conflict(two, "COMMIT");
    EXPECT_SQL_OK(two, "ROLLBACK");
    expect_sound(two);
  }
}

// The database notes it, which is a change of what each of them reads.
TEST_F(ConcurrentTest, TheFirstEntryByAProgramsCollation) {
  Connection one = open_filled();
  Connection two = open();
  Connection plain = open();
  for (Connection* each : {&one, &two}) {
    ASSERT_EQ(
        sqlite3_create_collation(each->get(), "NOCASE", SQLITE_UTF8, nullptr, compare_from_behind),
        SQLITE_OK);
  }
  const std::string search = "SELECT a FROM p INDEXED BY p_b WHERE b = 'x' COLLATE NOCASE";
  EXPECT_SQL_OK(one,
                "CREATE TABLE p(a INTEGER PRIMARY KEY, b); CREATE INDEX p_b ON p(b COLLATE NOCASE);"
                "BEGIN CONCURRENT; SAVEPOINT s; INSERT INTO p VALUES(1, 'x'); ROLLBACK TO s;"
                "INSERT INTO p VALUES(2, 'x')");
  EXPECT_EQ(one.value(search), "i2");
  EXPECT_SQL_OK(one, "ROLLBACK");
  EXPECT_EQ(plain.rows(search).size(), 0U) << "there is no index by it";

  EXPECT_SQL_OK(two, "BEGIN CONCURRENT; INSERT INTO p VALUES(3, 'y')");
  EXPECT_SQL_OK(one, "BEGIN CONCURRENT; INSERT INTO p VALUES(4, 'x')");
  EXPECT_SQL_OK(plain, "BEGIN IMMEDIATE");
  EXPECT_EQ(one.code("COMMIT"), SQLITE_BUSY);
  EXPECT_SQL_OK(plain, "ROLLBACK; BEGIN CONCURRENT; UPDATE t SET b = 1 WHERE a = 1");
  EXPECT_SQL_OK(one, "COMMIT");
  expect_conflict(two, "COMMIT");
  expect_conflict(plain, "COMMIT");
  EXPECT_SQL_OK(two, "ROLLBACK");
  EXPECT_SQL_OK(plain, "ROLLBACK");
  EXPECT_EQ(plain.code(search), SQLITE_ERROR) << "it is not by SQLite's own function";

  // From then on it is as any other change.
  EXPECT_SQL_OK(plain, "BEGIN CONCURRENT; UPDATE t SET b = 1 WHERE a = 1");
  EXPECT_SQL_OK(one, "BEGIN CONCURRENT; UPDATE p SET b = 'xx'");
  EXPECT_SQL_OK(two, "BEGIN CONCURRENT; INSERT INTO p VALUES(100, 'y')");
  EXPECT_SQL_OK(one, "COMMIT");
  EXPECT_SQL_OK(plain, "COMMIT");
  expect_conflict(two, "COMMIT");  // entries of one such index are not apart
  EXPECT_SQL_OK(two, "ROLLBACK");
  EXPECT_EQ(two.rows("SELECT a, b FROM p INDEXED BY p_b WHERE b > '' COLLATE NOCASE"),
            std::vector<std::string>{"i4|t'xx'"});
  expect_sound(one);
}

// ---- Transactions

TEST_F(ConcurrentTest, SavepointsAndFailedStatements) {
  Connection one = open_filled();
  EXPECT_SQL_OK(one,
                "BEGIN CONCURRENT; SAVEPOINT a; UPDATE t SET b = 1 WHERE a < 10;"
                "SAVEPOINT b; DELETE FROM t; INSERT INTO t VALUES(1, 2)");
  EXPECT_EQ(one.value("SELECT count(*) FROM t"), "i1");
  EXPECT_SQL_OK(one, "ROLLBACK TO b");
  EXPECT_EQ(one.value("SELECT count(*), min(b) FROM t"), "i100|i1");
  EXPECT_EQ(one.code("INSERT INTO t(a, b) SELECT 200 - a, 0 FROM t WHERE a > 98"),
            SQLITE_CONSTRAINT_PRIMARYKEY);
  EXPECT_EQ(one.value("SELECT count(*), max(a) FROM t"), "i100|i100");
  EXPECT_SQL_OK(one,
                "INSERT INTO t(b) VALUES(3); RELEASE b; ROLLBACK TO a; RELEASE a;"
                "INSERT INTO t(b) VALUES(4); COMMIT");
  EXPECT_EQ(one.value("SELECT count(*), max(a), min(b) FROM t"), "i101|i101|i4");
  // A savepoint that begins a transaction behind a concurrent one begins an ordinary one.
  EXPECT_SQL_OK(one, "SAVEPOINT s; CREATE TABLE made(x); RELEASE s");
  EXPECT_SQL_OK(one, "BEGIN CONCURRENT; COMMIT; SAVEPOINT s; DROP TABLE made; RELEASE s");
}

TEST_F(ConcurrentTest, AWholeTableIsDeleted) {
  Connection one = open_filled();
  Connection two = open();
  EXPECT_SQL_OK(one, "BEGIN CONCURRENT; DELETE FROM t");
  EXPECT_EQ(sqlite3_changes(one.get()), 100);
  EXPECT_SQL_OK(one, "COMMIT");
  EXPECT_EQ(two.value("SELECT count(*) FROM t"), "i0");
  EXPECT_SQL_OK(one, "INSERT INTO t SELECT x, y FROM u");
  EXPECT_SQL_OK(one, "BEGIN CONCURRENT; DELETE FROM t");
  EXPECT_SQL_OK(two, "UPDATE t SET b = 5 WHERE a = 10");  // an ordinary one does not wait
  expect_conflict(one, "COMMIT");
  EXPECT_SQL_OK(one, "ROLLBACK; BEGIN CONCURRENT; DELETE FROM t");
  // Another concurrent one does, or fails at once.
  EXPECT_SQL_OK(two, "BEGIN CONCURRENT");
  expect_conflict(two, "INSERT INTO t VALUES(15, 1)");
  EXPECT_SQL_OK(two, "ROLLBACK");
  EXPECT_SQL_OK(one, "COMMIT");
  EXPECT_EQ(two.value("SELECT count(*) FROM t"), "i0");
}

TEST_F(ConcurrentTest, StatementsThatGoOn) {
  Connection one = open_filled();
  Connection two = open();
  // One that has begun before keeps its moment, which is that of the transaction.
  Statement select(one, "SELECT a, b FROM t ORDER BY a");
  ASSERT_EQ(select.step(), SQLITE_ROW);
  EXPECT_SQL_OK(two, "UPDATE t SET b = 0 WHERE a = 2");
  EXPECT_SQL_OK(one, "BEGIN CONCURRENT");
  EXPECT_EQ(one.value("SELECT b FROM t WHERE a = 2"), "i20");
  EXPECT_SQL_OK(one, "UPDATE t SET b = 1 WHERE a = 3");
  expect_conflict(one, "COMMIT");
  EXPECT_EQ(select.step(), SQLITE_BUSY_SNAPSHOT);
  select.reset();
  EXPECT_SQL_OK(one, "ROLLBACK");
  // One goes on behind the commit; what it reads then is what was committed, and it holds nobody
  // up.
  EXPECT_SQL_OK(one, "BEGIN CONCURRENT");
  ASSERT_EQ(select.step(), SQLITE_ROW);
  EXPECT_SQL_OK(one, "UPDATE t SET b = 1 WHERE a = 3; COMMIT");
  EXPECT_SQL_OK(two, "UPDATE t SET b = 2 WHERE a = 4");
  ASSERT_EQ(select.step(), SQLITE_ROW);
  EXPECT_EQ(select.row(), "i2|i0");
  ASSERT_EQ(select.step(), SQLITE_ROW);
  EXPECT_EQ(select.row(), "i3|i1");
  ASSERT_EQ(select.step(), SQLITE_ROW);
  EXPECT_EQ(select.row(), "i4|i40");
  EXPECT_EQ(one.code("UPDATE t SET b = 1 WHERE a = 5"), SQLITE_BUSY_SNAPSHOT) << "an ordinary one";
  select.reset();
  // The same of one that has only read.
  EXPECT_SQL_OK(one, "BEGIN CONCURRENT");
  ASSERT_EQ(select.step(), SQLITE_ROW);
  EXPECT_SQL_OK(one, "COMMIT; UPDATE t SET b = 1 WHERE a = 5");
  EXPECT_SQL_OK(two, "BEGIN IMMEDIATE; ROLLBACK");
}

TEST_F(ConcurrentTest, Hooks) {
  struct Counts {
    int commits = 0;
    int rollbacks = 0;
    int updates = 0;
  } counts;
  Connection one = open_filled();
  Connection two = open();
  sqlite3_commit_hook(
      one.get(), [](void* all) { return static_cast<Counts*>(all)->commits++, 0; }, &counts);
  sqlite3_rollback_hook(
      one.get(), [](void* all) { ++static_cast<Counts*>(all)->rollbacks; }, &counts);
  sqlite3_update_hook(
      one.get(),
      [](void* all, int, const char*, const char*, sqlite3_int64) {
        ++static_cast<Counts*>(all)->updates;
      },
      &counts);
  EXPECT_SQL_OK(one, "BEGIN CONCURRENT; UPDATE t SET b = 1 WHERE a < 4; COMMIT");
  EXPECT_EQ(counts.updates, 3);
  EXPECT_EQ(counts.commits, 1);
  EXPECT_EQ(counts.rollbacks, 0);
  EXPECT_SQL_OK(one, "BEGIN CONCURRENT; UPDATE t SET b = 1 WHERE a < 4");
  EXPECT_SQL_OK(two, "UPDATE t SET b = 2 WHERE a < 4");
  expect_conflict(one, "COMMIT");
  EXPECT_EQ(counts.commits, 2) << "it is asked before the commit is tried, as ever";
  EXPECT_EQ(counts.rollbacks, 0);
  EXPECT_SQL_OK(one, "ROLLBACK");
  EXPECT_EQ(counts.rollbacks, 1);
}

TEST_F(ConcurrentTest, ALongOneBesideManyCommits) {
  Connection one = open_filled();
  Connection two = open();
  EXPECT_SQL_OK(one, "BEGIN CONCURRENT; UPDATE t SET b = 1 WHERE a = 1");
  for (int i = 0; i < 500; ++i) {
    const std::string row = std::to_string(2 + i % 50);
    EXPECT_SQL_OK(two, (i % 2 == 0 ? "BEGIN CONCURRENT" : "BEGIN IMMEDIATE"));
    EXPECT_SQL_OK(two, "UPDATE t SET b = b + 1 WHERE a = " + row + "; COMMIT");
  }
  EXPECT_EQ(one.value("SELECT b FROM t WHERE a = 80"), "i800");
  EXPECT_SQL_OK(one, "COMMIT");
  EXPECT_EQ(one.value("SELECT sum(b) FROM t"), "i" + std::to_string(50500 + 500 - 9));
}

// One that has written more than its share of the memory holds its rows against an ordinary writer,
// too, for which that is an end of its transaction: there may be no journal of the statement.
TEST_F(ConcurrentTest, ALargeOneHoldsItsRows) {
  Connection one = open_filled();
  Connection two = open();
  EXPECT_SQL_OK(one,
                "PRAGMA cache_size = -16384; BEGIN CONCURRENT; UPDATE t SET b = 7 WHERE a = 5;"
                "WITH RECURSIVE n(i) AS (SELECT 1000 UNION ALL SELECT i + 1 FROM n "
                "WHERE i < 21000) INSERT INTO t SELECT i, randomblob(1000) FROM n");
  EXPECT_SQL_OK(two, "BEGIN; UPDATE t SET b = 1 WHERE a = 90");
  const std::string insert = "INSERT INTO t VALUES(500, 1), (5000, 1)";
  EXPECT_EQ(two.code(insert), SQLITE_BUSY);
  EXPECT_EQ(two.code("SELECT * FROM t"), SQLITE_BUSY);
  EXPECT_EQ(two.code("COMMIT"), SQLITE_BUSY);
  EXPECT_SQL_OK(two, "ROLLBACK");
  EXPECT_EQ(two.code(insert), SQLITE_BUSY);
  EXPECT_EQ(two.value("SELECT count(*), (SELECT b FROM t WHERE a = 90) FROM t"), "i100|i900");
  EXPECT_SQL_OK(one, "COMMIT");
  EXPECT_SQL_OK(two, "UPDATE t SET b = 8 WHERE a = 90");
  EXPECT_EQ(two.value("SELECT count(*), (SELECT b FROM t WHERE a = 5) FROM t"), "i20101|i7");
  EXPECT_EQ(two.code(insert), SQLITE_CONSTRAINT_PRIMARYKEY);
  expect_sound(two);
}

// ---- Where it is said

TEST_F(ConcurrentTest, TheStatement) {
  Connection one = open_filled();
  for (const char* begin :
       {"BEGIN CONCURRENT", "BEGIN concurrent transaction", "begin/**/Concurrent TRANSACTION name",
        "BEGIN -- comment\n CONCURRENT"}) {
    SCOPED_TRACE(begin);
    EXPECT_SQL_OK(one, begin);
    EXPECT_EQ(one.code("PRAGMA user_version = 1") & 0xff, SQLITE_ERROR);
    EXPECT_EQ(one.code("BEGIN CONCURRENT"), SQLITE_ERROR);
    EXPECT_EQ(one.code("BEGIN"), SQLITE_ERROR);
    EXPECT_EQ(one.code("PRAGMA user_version = 1") & 0xff, SQLITE_ERROR);
    EXPECT_SQL_OK(one, "COMMIT; BEGIN; PRAGMA user_version = 1; ROLLBACK");
  }
  for (const char* wrong :
       {"BEGIN CONCURRENT CONCURRENT", "BEGIN CONCURRENT DEFERRED", "BEGIN DEFERRED CONCURRENT",
        "BEGIN \"concurrent\"", "BEGIN 'concurrent'", "BEGIN CONCURRENTLY", "BEGIN concurren",
        "CONCURRENT", "COMMIT CONCURRENT", "BEGIN TRANSACTION t CONCURRENT"}) {
    const Answer answer = one.run(wrong);
    EXPECT_EQ(answer.code, SQLITE_ERROR) << wrong;
    EXPECT_NE(answer.message.find("syntax error"), std::string::npos) << answer.message;
  }
  EXPECT_EQ(one.run("BEGIN Concurrent x").message, "near \"x\": syntax error");
  EXPECT_EQ(sqlite3_complete("BEGIN CONCURRENT;"), 1);
}

TEST_F(ConcurrentTest, OnePreparedStatementBeginsManyTransactions) {
  Connection one = open_filled();
  Connection two = open();
  Statement begin(one, "BEGIN CONCURRENT");
  Statement ordinary(one, "BEGIN");
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(begin.step(), SQLITE_DONE);
    begin.reset();
    EXPECT_SQL_OK(one, "UPDATE t SET b = 1 WHERE a = 1");
    EXPECT_SQL_OK(two, "BEGIN IMMEDIATE; UPDATE t SET b = 2 WHERE a = 2; COMMIT");
    EXPECT_SQL_OK(one, "COMMIT");
    EXPECT_EQ(ordinary.step(), SQLITE_DONE);
    ordinary.reset();
    EXPECT_SQL_OK(one, "UPDATE t SET b = 1 WHERE a = 1");
    EXPECT_EQ(two.code("BEGIN IMMEDIATE"), SQLITE_BUSY);
    EXPECT_SQL_OK(one, "COMMIT");
  }
}

TEST_F(ConcurrentTest, TheNameIsFree) {
  Connection one = open();
  EXPECT_SQL_OK(one,
                "CREATE TABLE concurrent(concurrent INTEGER PRIMARY KEY, x);"
                "CREATE INDEX Concurrent_x ON concurrent(x);"
                "CREATE TRIGGER concurrent AFTER INSERT ON concurrent BEGIN"
                "  UPDATE concurrent SET x = 7 WHERE concurrent.concurrent = new.concurrent; END;"
                "SAVEPOINT concurrent; INSERT INTO concurrent VALUES(1, 2); RELEASE concurrent;"
                "BEGIN TRANSACTION concurrent; COMMIT TRANSACTION concurrent");
  EXPECT_EQ(one.value("SELECT x concurrent FROM concurrent AS concurrent"), "i7");
  EXPECT_EQ(one.run("CREATE TRIGGER z AFTER INSERT ON concurrent BEGIN concurrent; END").message,
            "near \"concurrent\": syntax error");
}

TEST_F(ConcurrentTest, InSqlitesOwnDatabasesItIsDeferred) {
  Connection one("file:" + path_ + "?hawthorn=0");
  Connection two("file:" + path_ + "?hawthorn=0");
  EXPECT_SQL_OK(one,
                "PRAGMA journal_mode = WAL; CREATE TABLE t(a); BEGIN CONCURRENT;"
                "CREATE TABLE u(a); INSERT INTO t VALUES(1)");
  EXPECT_SQL_OK(two, "BEGIN CONCURRENT; SELECT * FROM t");
  EXPECT_EQ(two.code("INSERT INTO t VALUES(1)"), SQLITE_BUSY);
  EXPECT_SQL_OK(one, "COMMIT");
  EXPECT_EQ(two.code("INSERT INTO t VALUES(1)"), SQLITE_BUSY_SNAPSHOT);
  EXPECT_SQL_OK(two, "ROLLBACK");
  Connection memory(":memory:");
  EXPECT_SQL_OK(memory, "BEGIN CONCURRENT; CREATE TABLE t(a); INSERT INTO t VALUES(1); COMMIT");
}

// Two databases: one is written, the other one read.
TEST_F(ConcurrentTest, OneDatabaseIsWritten) {
  Connection one = open_filled();
  Connection two = open();
  EXPECT_SQL_OK(one, "ATTACH '" + path("other.db") +
                         "' AS other; CREATE TABLE other.o(a);"
                         "INSERT INTO other.o VALUES(1)");
  EXPECT_SQL_OK(one, "BEGIN CONCURRENT; UPDATE t SET b = (SELECT a FROM other.o) WHERE a = 1");
  const Answer answer = one.run("INSERT INTO other.o VALUES(2)");
  EXPECT_EQ(answer.code & 0xff, SQLITE_ERROR);
  EXPECT_EQ(answer.message, "a concurrent transaction writes one database alone");
  EXPECT_SQL_OK(one, "COMMIT; BEGIN CONCURRENT; INSERT INTO other.o SELECT a FROM t; COMMIT");
  EXPECT_EQ(one.value("SELECT count(*), (SELECT b FROM t WHERE a = 1) FROM other.o"), "i101|i1");
  // A conflict undoes what was written to SQLite's own, too.
  EXPECT_SQL_OK(one, "ATTACH 'file:" + path("stock.db") +
                         "?hawthorn=0' AS stock;"
                         "CREATE TABLE stock.s(a); CREATE TEMP TABLE q(a);"
                         "BEGIN CONCURRENT; UPDATE t SET b = 5 WHERE a = 1;"
                         "INSERT INTO stock.s VALUES(1); INSERT INTO q VALUES(1)");
  EXPECT_SQL_OK(two, "UPDATE t SET b = 6 WHERE a = 1");
  expect_conflict(one, "COMMIT");
  EXPECT_SQL_OK(one, "ROLLBACK");
  EXPECT_EQ(one.value("SELECT (SELECT count(*) FROM stock.s), (SELECT count(*) FROM q)"), "i0|i0");
}

// ---- Threads

// Four move money, an ordinary writer, too, until a reader has added up what there is in between.
TEST_F(ConcurrentTest, ABank) {
  constexpr int kAccounts = 50;
  constexpr int kThreads = 4;
  const int transfers = static_cast<int>(testing::scaled(300));
  Connection made = open();
  EXPECT_SQL_OK(made,
                "CREATE TABLE account(id INTEGER PRIMARY KEY, balance INT);"
                "CREATE INDEX by_balance ON account(balance);"
                "CREATE TABLE log(thread, n, amount, PRIMARY KEY(thread, n)) WITHOUT ROWID;"
                "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50) "
                "INSERT INTO account SELECT i, 1000 FROM n");
  constexpr int kLooks = 3;
  std::atomic<bool> done = false;
  std::atomic<int> looks = 0;
  std::atomic<int> made_transfers = 0;
  const auto work = [&](int thread) {
    Connection connection = open();
    sqlite3_busy_timeout(connection.get(), testing::kHangLimitMs);
    std::mt19937 random(static_cast<unsigned>(thread));
    const std::string begin = thread == 0 ? "BEGIN IMMEDIATE" : "BEGIN CONCURRENT";
    for (int i = 0; i < transfers || (looks < kLooks && !HasFailure());) {
      const std::string from = std::to_string(1 + random() % kAccounts);
      const std::string to = std::to_string(1 + random() % kAccounts);
      const std::string amount = std::to_string(random() % 30);
      Answer answer = connection.run(begin + "; UPDATE account SET balance = balance - " + amount +
                                     " WHERE id = " + from);
      // So that they meet.
      if (i % 8 == 0) std::this_thread::sleep_for(std::chrono::microseconds(200));
      if (answer.code == SQLITE_OK) {
        answer = connection.run("UPDATE account SET balance = balance + " + amount +
                                " WHERE id = " + to + "; INSERT INTO log VALUES(" +
                                std::to_string(thread) + ", " + std::to_string(i) + ", " + amount +
                                "); COMMIT");
      }
      if (answer.code == SQLITE_OK) {
        ++i;
        ++made_transfers;
        continue;
      }
      ASSERT_EQ(answer.code, SQLITE_BUSY_SNAPSHOT) << answer.message;
      ASSERT_NE(thread, 0) << "an ordinary one never conflicts";
      EXPECT_SQL_OK(connection, "ROLLBACK");
    }
  };
  std::vector<std::thread> threads;
  for (int thread = 0; thread <= kThreads; ++thread) threads.emplace_back(work, thread);
  std::thread reader([&] {
    Connection connection = open();
    for (; !done; ++looks) {
      for (const char* begin : {"BEGIN", "BEGIN CONCURRENT"}) {
        EXPECT_SQL_OK(connection, begin);
        EXPECT_EQ(connection.value("SELECT sum(balance) FROM account NOT INDEXED"), "i50000");
        EXPECT_EQ(connection.value("SELECT sum(balance) FROM account INDEXED BY by_balance"),
                  "i50000");
        EXPECT_SQL_OK(connection, "COMMIT");
      }
    }
  });
  for (std::thread& thread : threads) thread.join();
  done = true;
  reader.join();
  EXPECT_EQ(made.value("SELECT count(*) FROM log"), "i" + std::to_string(made_transfers));
  expect_sound(made);
}

// Synchronous ones, each of its own rows: none conflicts, and the waits end.
TEST_F(ConcurrentTest, CommitsBesideEachOther) {
  constexpr int kThreads = 4;
  Connection made = open_filled();
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([this, thread] {
      Connection connection(path_);
      EXPECT_SQL_OK(connection, "PRAGMA synchronous = FULL");
      sqlite3_busy_timeout(connection.get(), testing::kHangLimitMs);
      for (int i = 0; i < 40; ++i) {
        // Every fourth of them is an ordinary one, for which the others make room.
        EXPECT_SQL_OK(connection, i % 4 == thread ? "BEGIN IMMEDIATE" : "BEGIN CONCURRENT");
        EXPECT_SQL_OK(connection, "UPDATE t SET b = b + 1 WHERE a = " + std::to_string(thread + 1) +
                                      "; COMMIT");
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(made.value("SELECT sum(b) FROM t WHERE a < 5"), "i260");
}

}  // namespace
}  // namespace hawthorn::sqlite::concurrent_test
