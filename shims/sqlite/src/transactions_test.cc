// What connections of one database see of each other. Each test but those about threads is also
// made with SQLite's own storage in its WAL mode, whose rules these are.

#include <atomic>
#include <chrono>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "shims/sqlite/src/sqlite_test_support.h"
#include "testing/wait.h"

namespace hawthorn::sqlite::transactions_test {
namespace {

using Clock = std::chrono::steady_clock;

int64_t milliseconds_since(Clock::time_point start) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start).count();
}

enum class Storage : uint8_t { kOurs, kStock };

class TransactionsTest : public SqliteTest, public ::testing::WithParamInterface<Storage> {
 protected:
  bool is_ours() const { return GetParam() == Storage::kOurs; }

  Connection open(const std::string& name = "test.db") {
    Connection made("file:" + path(name) + (is_ours() ? "" : "?hawthorn=0"));
    const std::string mode = made.value("PRAGMA journal_mode = WAL");
    EXPECT_TRUE(is_ours() || mode == "t'wal'") << mode;
    EXPECT_SQL_OK(made, "PRAGMA synchronous = OFF");
    EXPECT_EQ(data_directories(path(name)).empty(), !is_ours());
    return made;
  }
  Connection open_filled(int rows) {
    Connection made = open();
    EXPECT_SQL_OK(made, "CREATE TABLE t(a INTEGER PRIMARY KEY, b); CREATE INDEX t_b ON t(b)");
    EXPECT_SQL_OK(made,
                  "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < " +
                      std::to_string(rows) + ") INSERT INTO t SELECT i, i * 10 FROM n");
    return made;
  }
};

TEST_P(TransactionsTest, AReaderSeesOneMoment) {
  Connection one = open_filled(3);
  Connection two = open();
  EXPECT_SQL_OK(two, "BEGIN");
  EXPECT_EQ(two.value("SELECT count(*) FROM t"), "i3");
  EXPECT_SQL_OK(one, "INSERT INTO t VALUES(4, 4)");
  EXPECT_SQL_OK(one, "UPDATE t SET b = 'new' WHERE a = 1");
  EXPECT_SQL_OK(one, "DELETE FROM t WHERE a = 2");
  EXPECT_EQ(two.rows("SELECT * FROM t"), (std::vector<std::string>{"i1|i10", "i2|i20", "i3|i30"}));
  EXPECT_EQ(two.rows("SELECT b FROM t ORDER BY b"),
            (std::vector<std::string>{"i10", "i20", "i30"}));
  EXPECT_SQL_OK(two, "COMMIT");
  EXPECT_EQ(two.rows("SELECT * FROM t"),
            (std::vector<std::string>{"i1|t'new'", "i3|i30", "i4|i4"}));
}

TEST_P(TransactionsTest, ATransactionThatHasNotReadYetSeesWhatIsNew) {
  Connection one = open_filled(3);
  Connection two = open();
  EXPECT_SQL_OK(two, "BEGIN");
  EXPECT_SQL_OK(one, "DELETE FROM t");
  EXPECT_EQ(two.value("SELECT count(*) FROM t"), "i0");
  EXPECT_SQL_OK(two, "INSERT INTO t VALUES(1, 1)");
  EXPECT_SQL_OK(two, "COMMIT");
}

TEST_P(TransactionsTest, AStatementUnderWayKeepsItsMoment) {
  Connection one = open_filled(1000);
  Connection two = open();
  Statement select(two, "SELECT a, b FROM t ORDER BY a");
  ASSERT_EQ(select.step(), SQLITE_ROW);
  EXPECT_SQL_OK(one, "DELETE FROM t WHERE a % 2 = 0");
  EXPECT_SQL_OK(one, "UPDATE t SET b = -1");
  EXPECT_SQL_OK(one, "INSERT INTO t VALUES(5000, 5000)");
  int rows = 1;
  for (; select.step() == SQLITE_ROW; ++rows) {
    ASSERT_EQ(select.row(), "i" + std::to_string(rows + 1) + "|i" + std::to_string(rows * 10 + 10));
  }
  EXPECT_EQ(rows, 1000);
  EXPECT_EQ(two.value("SELECT count(*), max(b) FROM t"), "i501|i5000");
}

TEST_P(TransactionsTest, NobodySeesWhatIsNotCommitted) {
  Connection one = open_filled(3);
  Connection two = open();
  EXPECT_SQL_OK(one, "BEGIN; INSERT INTO t VALUES(4, 4); CREATE TABLE u(x)");
  EXPECT_EQ(two.value("SELECT count(*) FROM t"), "i3");
  EXPECT_EQ(two.code("SELECT * FROM u"), SQLITE_ERROR);
  EXPECT_EQ(one.value("SELECT count(*) FROM t"), "i4");
  EXPECT_SQL_OK(one, "ROLLBACK");
  EXPECT_EQ(one.value("SELECT count(*) FROM t"), "i3");
  EXPECT_SQL_OK(one, "BEGIN; INSERT INTO t VALUES(4, 4); CREATE TABLE u(x); COMMIT");
  EXPECT_EQ(two.value("SELECT count(*) FROM t"), "i4");
  EXPECT_EQ(two.value("SELECT count(*) FROM u"), "i0");
}

TEST_P(TransactionsTest, ASecondWriterIsBusy) {
  Connection one = open_filled(3);
  Connection two = open();
  EXPECT_SQL_OK(one, "BEGIN IMMEDIATE");
  EXPECT_EQ(two.code("INSERT INTO t VALUES(9, 9)"), SQLITE_BUSY);
  EXPECT_EQ(two.message(), "database is locked");
  EXPECT_EQ(two.code("BEGIN IMMEDIATE"), SQLITE_BUSY);
  EXPECT_EQ(two.value("SELECT count(*) FROM t"), "i3") << "reading goes on";
  EXPECT_SQL_OK(one, "COMMIT");
  EXPECT_SQL_OK(two, "INSERT INTO t VALUES(9, 9)");
}

TEST_P(TransactionsTest, ASecondWriterWaitsForTheTimeout) {
  Connection one = open_filled(3);
  Connection two = open();
  sqlite3_busy_timeout(two.get(), 150);
  EXPECT_SQL_OK(one, "BEGIN IMMEDIATE");
  const Clock::time_point start = Clock::now();
  EXPECT_EQ(two.code("INSERT INTO t VALUES(9, 9)"), SQLITE_BUSY);
  EXPECT_GE(milliseconds_since(start), 120);
  sqlite3_busy_timeout(two.get(), testing::kHangLimitMs);
  std::thread other([&one] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    EXPECT_SQL_OK(one, "COMMIT");
  });
  EXPECT_SQL_OK(two, "INSERT INTO t VALUES(9, 9)");
  other.join();
  EXPECT_EQ(one.value("SELECT count(*) FROM t"), "i4");
}

struct HandlerCalls {
  int calls = 0;
  int give_up_at = 3;
  Connection* ends = nullptr;  // whose transaction ends then
};

int busy_handler(void* context, int count) {
  auto& seen = *static_cast<HandlerCalls*>(context);
  EXPECT_EQ(count, seen.calls);
  if (++seen.calls < seen.give_up_at) return 1;
  if (seen.ends == nullptr) return 0;
  EXPECT_SQL_OK(*seen.ends, "COMMIT");
  return 1;
}

TEST_P(TransactionsTest, TheBusyHandlerIsAsked) {
  Connection one = open_filled(3);
  Connection two = open();
  HandlerCalls seen;
  sqlite3_busy_handler(two.get(), busy_handler, &seen);
  EXPECT_SQL_OK(one, "BEGIN IMMEDIATE");
  EXPECT_EQ(two.code("BEGIN IMMEDIATE"), SQLITE_BUSY);
  EXPECT_EQ(seen.calls, 3);
  seen = {.calls = 0, .give_up_at = 5, .ends = &one};
  EXPECT_SQL_OK(two, "INSERT INTO t VALUES(9, 9)");
  EXPECT_EQ(seen.calls, 5);
}

TEST_P(TransactionsTest, AReaderThatWritesDoesNotWait) {
  Connection one = open_filled(3);
  Connection two = open();
  HandlerCalls seen;
  sqlite3_busy_handler(two.get(), busy_handler, &seen);
  EXPECT_SQL_OK(two, "BEGIN; SELECT * FROM t");
  EXPECT_SQL_OK(one, "BEGIN IMMEDIATE");
  EXPECT_EQ(two.code("INSERT INTO t VALUES(9, 9)"), SQLITE_BUSY) << "others might wait for it";
  EXPECT_EQ(seen.calls, 0);
  EXPECT_SQL_OK(one, "ROLLBACK");
  EXPECT_SQL_OK(two, "INSERT INTO t VALUES(9, 9)");
  EXPECT_SQL_OK(two, "COMMIT");
}

TEST_P(TransactionsTest, AReaderOfThePastCannotWrite) {
  Connection one = open_filled(3);
  Connection two = open();
  EXPECT_SQL_OK(two, "BEGIN; SELECT * FROM t");
  EXPECT_SQL_OK(one, "UPDATE t SET b = 0");
  EXPECT_EQ(two.code("UPDATE t SET b = b + 1"), SQLITE_BUSY_SNAPSHOT);
  EXPECT_EQ(two.code("UPDATE t SET b = b + 1"), SQLITE_BUSY_SNAPSHOT);
  EXPECT_EQ(two.value("SELECT sum(b) FROM t"), "i60") << "it still reads";
  EXPECT_EQ(sqlite3_get_autocommit(two.get()), 0);
  EXPECT_SQL_OK(two, "ROLLBACK");
  EXPECT_SQL_OK(two, "UPDATE t SET b = b + 1");
  EXPECT_EQ(one.value("SELECT sum(b) FROM t"), "i3");
}

TEST_P(TransactionsTest, AReaderIsNotOfThePastByWhatWasRolledBack) {
  Connection one = open_filled(3);
  Connection two = open();
  EXPECT_SQL_OK(two, "BEGIN; SELECT * FROM t");
  EXPECT_SQL_OK(one, "BEGIN; UPDATE t SET b = 0; ROLLBACK; BEGIN IMMEDIATE; COMMIT");
  EXPECT_SQL_OK(two, "UPDATE t SET b = b + 1");
  EXPECT_SQL_OK(two, "COMMIT");
}

TEST_P(TransactionsTest, DataVersionTellsOfOthersCommits) {
  Connection one = open_filled(3);
  Connection two = open();
  const std::string of_one = one.value("PRAGMA data_version");
  const std::string of_two = two.value("PRAGMA data_version");
  EXPECT_SQL_OK(one, "INSERT INTO t VALUES(4, 4)");
  EXPECT_EQ(one.value("PRAGMA data_version"), of_one) << "its own";
  const std::string later = two.value("PRAGMA data_version");
  EXPECT_NE(later, of_two);
  EXPECT_EQ(two.value("PRAGMA data_version"), later);
  EXPECT_SQL_OK(one, "BEGIN; INSERT INTO t VALUES(5, 5); ROLLBACK");
  EXPECT_EQ(two.value("PRAGMA data_version"), later);
  EXPECT_SQL_OK(two, "INSERT INTO t VALUES(6, 6)");
  EXPECT_EQ(two.value("PRAGMA data_version"), later);
  EXPECT_NE(one.value("PRAGMA data_version"), of_one);
}

TEST_P(TransactionsTest, ACommitWhileASelectIsOpen) {
  Connection one = open_filled(100);
  Connection two = open();
  Statement select(one, "SELECT a FROM t ORDER BY a");
  for (int i = 1; i <= 10; ++i) ASSERT_EQ(select.step(), SQLITE_ROW);
  EXPECT_SQL_OK(one, "BEGIN; DELETE FROM t WHERE a BETWEEN 20 AND 29; COMMIT");
  EXPECT_EQ(two.value("SELECT count(*) FROM t"), "i90") << "committed though the SELECT is open";
  EXPECT_SQL_OK(one, "INSERT INTO t VALUES(1000, 1)");
  EXPECT_EQ(sqlite3_txn_state(one.get(), "main"), SQLITE_TXN_READ);
  int rows = 10;
  while (select.step() == SQLITE_ROW) ++rows;
  EXPECT_EQ(rows, 91) << "it sees what its own connection has done";
  EXPECT_EQ(sqlite3_txn_state(one.get(), "main"), SQLITE_TXN_NONE);
  EXPECT_SQL_OK(two, "INSERT INTO t VALUES(2000, 1)");
}

TEST_P(TransactionsTest, ASelectThatIsOpenCannotBeOvertakenByAnother) {
  Connection one = open_filled(100);
  Connection two = open();
  Statement select(one, "SELECT a FROM t ORDER BY a");
  ASSERT_EQ(select.step(), SQLITE_ROW);
  EXPECT_SQL_OK(two, "INSERT INTO t VALUES(500, 1)");
  EXPECT_EQ(one.code("INSERT INTO t VALUES(501, 1)"), SQLITE_BUSY_SNAPSHOT);
  select.reset();
  EXPECT_SQL_OK(one, "INSERT INTO t VALUES(501, 1)");
}

TEST_P(TransactionsTest, ARollbackWhileASelectIsOpen) {
  Connection one = open_filled(100);
  EXPECT_SQL_OK(one, "BEGIN; DELETE FROM t WHERE a > 50");
  Statement select(one, "SELECT a FROM t ORDER BY a");
  for (int i = 1; i <= 10; ++i) ASSERT_EQ(select.step(), SQLITE_ROW);
  EXPECT_SQL_OK(one, "ROLLBACK");
  // Where the schema is as it was the statement goes on.
  int rows = 10;
  int code = SQLITE_ROW;
  while ((code = select.step()) == SQLITE_ROW) ++rows;
  EXPECT_EQ(code, SQLITE_DONE);
  EXPECT_EQ(rows, 100);
}

TEST_P(TransactionsTest, ARollbackOfASchemaAbortsASelect) {
  Connection one = open_filled(100);
  EXPECT_SQL_OK(one, "BEGIN; CREATE TABLE u(x)");
  Statement select(one, "SELECT a FROM t ORDER BY a");
  for (int i = 1; i <= 10; ++i) ASSERT_EQ(select.step(), SQLITE_ROW);
  EXPECT_SQL_OK(one, "ROLLBACK");
  EXPECT_EQ(select.step(), SQLITE_ABORT_ROLLBACK);
  EXPECT_EQ(select.reset(), SQLITE_ABORT_ROLLBACK);
  EXPECT_EQ(select.step(), SQLITE_ROW) << "from the beginning";
  EXPECT_EQ(select.row(), "i1");
}

TEST_P(TransactionsTest, ARollbackAbortsAWriterThatIsUnderWay) {
  Connection one = open_filled(100);
  EXPECT_SQL_OK(one, "BEGIN");
  Statement update(one, "UPDATE t SET b = b + 1 RETURNING a");
  ASSERT_EQ(update.step(), SQLITE_ROW);
  EXPECT_SQL_OK(one, "ROLLBACK");
  // Its rows were all made before the first was returned; nothing of it is left.
  while (update.step() == SQLITE_ROW) {
  }
  update.reset();
  EXPECT_EQ(one.value("SELECT sum(b) FROM t"), "i50500");
  expect_sound(one);
}

TEST_P(TransactionsTest, SavepointsWithASelectOpen) {
  Connection one = open_filled(100);
  EXPECT_SQL_OK(one, "SAVEPOINT s; DELETE FROM t WHERE a BETWEEN 5 AND 20");
  Statement select(one, "SELECT a FROM t ORDER BY a");
  for (int i = 1; i <= 4; ++i) ASSERT_EQ(select.step(), SQLITE_ROW);
  EXPECT_SQL_OK(one, "ROLLBACK TO s");
  int rows = 4;
  while (select.step() == SQLITE_ROW) ++rows;
  EXPECT_EQ(rows, 100);
  EXPECT_SQL_OK(one, "RELEASE s");
}

TEST_P(TransactionsTest, ATransactionEndsWithItsConnection) {
  Connection one = open_filled(3);
  {
    Connection two = open();
    EXPECT_SQL_OK(two, "BEGIN IMMEDIATE; DELETE FROM t");
  }
  EXPECT_SQL_OK(one, "INSERT INTO t VALUES(4, 4)");
  EXPECT_EQ(one.value("SELECT count(*) FROM t"), "i4");
}

TEST_P(TransactionsTest, TablesThatOthersMakeAndDrop) {
  Connection one = open_filled(3);
  Connection two = open();
  Statement select(two, "SELECT * FROM t");
  ASSERT_EQ(select.step(), SQLITE_ROW);
  EXPECT_SQL_OK(one, "ALTER TABLE t ADD COLUMN c DEFAULT 7");
  ASSERT_EQ(select.step(), SQLITE_ROW);
  EXPECT_EQ(select.row(), "i2|i20");
  select.reset();
  ASSERT_EQ(select.step(), SQLITE_ROW);
  EXPECT_EQ(select.row(), "i1|i10|i7");
  EXPECT_SQL_OK(one, "DROP TABLE t; CREATE TABLE u(x); INSERT INTO u VALUES(1)");
  ASSERT_EQ(select.step(), SQLITE_ROW) << "dropped, but not as of this moment";
  EXPECT_EQ(select.row(), "i2|i20|i7");
  select.reset();
  EXPECT_EQ(select.step(), SQLITE_ERROR);
  EXPECT_EQ(two.value("SELECT * FROM u"), "i1");
}

TEST_P(TransactionsTest, ACommitHookMakesARollback) {
  Connection one = open_filled(3);
  int asked = 0;
  sqlite3_commit_hook(
      one.get(), [](void* context) { return ++*static_cast<int*>(context) == 1 ? 1 : 0; }, &asked);
  EXPECT_EQ(one.code("INSERT INTO t VALUES(4, 4)"), SQLITE_CONSTRAINT_COMMITHOOK);
  EXPECT_EQ(one.value("SELECT count(*) FROM t"), "i3");
  EXPECT_SQL_OK(one, "INSERT INTO t VALUES(4, 4)");
  EXPECT_EQ(asked, 2);
  Connection two = open();
  EXPECT_SQL_OK(two, "INSERT INTO t VALUES(5, 5)");
}

TEST_P(TransactionsTest, AnInterruptedStatementLeavesNothing) {
  Connection one = open_filled(3000);
  EXPECT_SQL_OK(one, "BEGIN; INSERT INTO t VALUES(5000, 0)");
  sqlite3_progress_handler(one.get(), 5000, [](void*) { return 1; }, nullptr);
  EXPECT_EQ(one.code("UPDATE t SET b = b + 1"), SQLITE_INTERRUPT);
  sqlite3_progress_handler(one.get(), 0, nullptr, nullptr);
  // An interrupted statement that writes takes its transaction with it.
  EXPECT_NE(sqlite3_get_autocommit(one.get()), 0);
  EXPECT_EQ(one.value("SELECT count(*), sum(b) FROM t"), "i3000|i45015000");
  expect_sound(one);
}

TEST_P(TransactionsTest, TwoFilesInOneTransaction) {
  Connection one = open_filled(3);
  Connection other = open("other.db");
  EXPECT_SQL_OK(other, "CREATE TABLE o(x UNIQUE)");
  EXPECT_SQL_OK(
      one, "ATTACH 'file:" + path("other.db") + (is_ours() ? "" : "?hawthorn=0") + "' AS other");
  EXPECT_SQL_OK(one, "BEGIN; INSERT INTO t VALUES(4, 4); INSERT INTO o VALUES(1)");
  EXPECT_EQ(other.code("INSERT INTO o VALUES(2)"), SQLITE_BUSY);
  EXPECT_EQ(one.code("INSERT INTO o SELECT a FROM t ORDER BY a DESC"), SQLITE_CONSTRAINT_UNIQUE);
  EXPECT_EQ(one.value("SELECT count(*) FROM o"), "i1") << "the statement alone";
  EXPECT_SQL_OK(one, "COMMIT");
  EXPECT_EQ(other.value("SELECT * FROM o"), "i1");
  EXPECT_SQL_OK(one, "BEGIN; DELETE FROM t; DELETE FROM o; ROLLBACK");
  EXPECT_EQ(one.value("SELECT (SELECT count(*) FROM t), (SELECT count(*) FROM o)"), "i4|i1");
  EXPECT_SQL_OK(one, "DETACH other");
}

TEST_P(TransactionsTest, ACheckpointIsForNoTransaction) {
  Connection one = open_filled(3);
  EXPECT_SQL_OK(one, "BEGIN; INSERT INTO t VALUES(4, 4)");
  EXPECT_EQ(sqlite3_wal_checkpoint_v2(one.get(), "main", SQLITE_CHECKPOINT_FULL, nullptr, nullptr),
            SQLITE_LOCKED);
  EXPECT_SQL_OK(one, "COMMIT");
  EXPECT_EQ(sqlite3_wal_checkpoint_v2(one.get(), "main", SQLITE_CHECKPOINT_FULL, nullptr, nullptr),
            SQLITE_OK);
}

TEST_P(TransactionsTest, VacuumIsForNoTransaction) {
  Connection one = open_filled(100);
  EXPECT_EQ(one.code("BEGIN; VACUUM"), SQLITE_ERROR);
  EXPECT_SQL_OK(one, "ROLLBACK");
  Statement select(one, "SELECT * FROM t");
  ASSERT_EQ(select.step(), SQLITE_ROW);
  EXPECT_EQ(one.code("VACUUM"), SQLITE_ERROR);
  select.reset();
  EXPECT_SQL_OK(one, "VACUUM");
  Connection two = open();
  EXPECT_SQL_OK(two, "BEGIN IMMEDIATE");
  // Ours goes on beside one that writes.
  EXPECT_EQ(one.code("VACUUM"), is_ours() ? SQLITE_OK : SQLITE_BUSY);
}

// A row is replaced by the statement's cursor, which has deleted it and is pinned meanwhile.
TEST_P(TransactionsTest, ATriggerMayNotDeleteWhatAStatementGoesOnFrom) {
  Connection one = open_filled(1);
  EXPECT_SQL_OK(one, "PRAGMA recursive_triggers = on; CREATE TABLE r(a UNIQUE, b UNIQUE)");
  EXPECT_SQL_OK(one, "CREATE TRIGGER d AFTER DELETE ON r BEGIN DELETE FROM r; END");
  EXPECT_SQL_OK(one, "INSERT INTO r VALUES(1, NULL), (0, NULL)");
  EXPECT_EQ(one.code("UPDATE OR REPLACE r SET b = 1"), SQLITE_CONSTRAINT_PINNED);
  EXPECT_EQ(one.rows("SELECT a FROM r ORDER BY a"), (std::vector<std::string>{"i0", "i1"}));
  EXPECT_SQL_OK(one, "CREATE TABLE w(a PRIMARY KEY, b UNIQUE) WITHOUT ROWID");
  EXPECT_SQL_OK(one, "CREATE TRIGGER e AFTER DELETE ON w BEGIN DELETE FROM w; END");
  EXPECT_SQL_OK(one, "INSERT INTO w VALUES(1, 1), (2, 2)");
  EXPECT_EQ(one.code("UPDATE OR REPLACE w SET b = 2"), SQLITE_CONSTRAINT_PINNED);
  EXPECT_EQ(one.value("SELECT count(*) FROM w"), "i2");
  EXPECT_SQL_OK(one, "REPLACE INTO r VALUES(1, 5); SELECT * FROM r");
}

class ThreadsTest : public SqliteTest {
 protected:
  static constexpr int kAccounts = 200;
  static constexpr int kSum = kAccounts * 100;

  void make_accounts() {
    Connection connection(path_);
    ASSERT_SQL_OK(connection,
                  "CREATE TABLE account(id INTEGER PRIMARY KEY, balance INT, note TEXT);"
                  "CREATE INDEX by_balance ON account(balance, note);"
                  "CREATE TABLE log(n INTEGER PRIMARY KEY AUTOINCREMENT, amount)");
    ASSERT_SQL_OK(connection,
                  "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200) "
                  "INSERT INTO account SELECT i, 100, 'note ' || i FROM n");
  }
};

void transfer(Connection& connection, std::mt19937& random, std::atomic<int>* committed) {
  const std::string from = std::to_string(1 + random() % 200);
  const std::string to = std::to_string(1 + random() % 200);
  const std::string amount = std::to_string(random() % 50);
  ASSERT_SQL_OK(connection, "BEGIN IMMEDIATE");
  EXPECT_SQL_OK(connection,
                "UPDATE account SET balance = balance - " + amount + " WHERE id = " + from);
  if (random() % 4 == 0) {
    EXPECT_SQL_OK(connection, "SAVEPOINT s; DELETE FROM account WHERE id % 3 = 0; ROLLBACK TO s");
  }
  EXPECT_SQL_OK(connection,
                "UPDATE account SET balance = balance + " + amount + " WHERE id = " + to);
  EXPECT_SQL_OK(connection, "INSERT INTO log(amount) VALUES(" + amount + ")");
  const bool commit = random() % 5 != 0;
  EXPECT_SQL_OK(connection, commit ? "COMMIT" : "ROLLBACK");
  if (commit) ++*committed;
}

TEST_F(ThreadsTest, SumsHoldWhileMoneyMoves) {
  make_accounts();
  std::atomic<bool> stop = false;
  std::atomic<int> committed = 0;
  std::atomic<int> read = 0;
  std::vector<std::thread> threads;
  for (unsigned writer = 0; writer < 2; ++writer) {
    threads.emplace_back([&, writer] {
      Connection connection(path_);
      sqlite3_busy_timeout(connection.get(), testing::kHangLimitMs);
      EXPECT_SQL_OK(connection, "PRAGMA synchronous = OFF");
      std::mt19937 random(writer);
      while (!stop && !HasFailure()) transfer(connection, random, &committed);
    });
  }
  for (unsigned reader = 0; reader < 8; ++reader) {
    threads.emplace_back([&, reader] {
      Connection connection(path_);
      const std::string sum = "i" + std::to_string(kSum) + "|i" + std::to_string(kAccounts);
      while (!stop && !HasFailure()) {
        EXPECT_SQL_OK(connection, "BEGIN");
        EXPECT_EQ(connection.value("SELECT sum(balance), count(*) FROM account NOT INDEXED"), sum);
        EXPECT_EQ(connection.value("SELECT sum(balance), count(note) FROM account INDEXED BY "
                                   "by_balance"),
                  sum);
        const std::string log = connection.value("SELECT count(*), sum(amount) FROM log");
        if (reader % 2 == 0) std::this_thread::yield();
        EXPECT_EQ(connection.value("SELECT count(*), sum(amount) FROM log"), log);
        EXPECT_SQL_OK(connection, "COMMIT");
        ++read;
      }
    });
  }
  constexpr int kTransfers = 300;
  constexpr int kReads = 100;
  while ((committed < kTransfers || read < kReads) && !HasFailure()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  Connection connection(path_);
  EXPECT_EQ(connection.value("SELECT count(*) FROM log"), "i" + std::to_string(committed));
  expect_sound(connection);
}

TEST_F(ThreadsTest, NoIncrementIsLost) {
  make_accounts();
  constexpr int kThreads = 4;
  constexpr int kEach = 150;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      Connection connection(path_);
      sqlite3_busy_timeout(connection.get(), testing::kHangLimitMs);
      EXPECT_SQL_OK(connection, "PRAGMA synchronous = OFF");
      for (int n = 0; n < kEach; ++n) {
        EXPECT_SQL_OK(connection, "UPDATE account SET balance = balance + 1 WHERE id = 7");
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  Connection connection(path_);
  EXPECT_EQ(connection.value("SELECT balance FROM account WHERE id = 7"),
            "i" + std::to_string(100 + kThreads * kEach));
}

TEST_F(ThreadsTest, ConnectionsComeAndGo) {
  make_accounts();
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      for (int n = 0; n < 60 && !HasFailure(); ++n) {
        Connection connection(path_);
        sqlite3_busy_timeout(connection.get(), testing::kHangLimitMs);
        EXPECT_SQL_OK(connection, "PRAGMA synchronous = OFF");
        if (i % 2 == 0) {
          EXPECT_SQL_OK(connection, "INSERT INTO log(amount) VALUES(1)");
        } else {
          EXPECT_EQ(connection.value("SELECT sum(balance) FROM account"),
                    "i" + std::to_string(kSum));
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  Connection connection(path_);
  EXPECT_EQ(connection.value("SELECT count(*) FROM log"), "i120");
  expect_sound(connection);
}

INSTANTIATE_TEST_SUITE_P(Storages, TransactionsTest,
                         ::testing::Values(Storage::kOurs, Storage::kStock),
                         [](const auto& instance) {
                           return instance.param == Storage::kOurs ? "ours" : "stock";
                         });

}  // namespace
}  // namespace hawthorn::sqlite::transactions_test
