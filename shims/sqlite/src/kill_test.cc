// A process that moves money by SQL is killed in the middle of it, again and again: what it was
// told is committed is there, and nothing of what was not.

#include <fcntl.h>

#include <algorithm>
#include <atomic>
#include <random>
#include <string>

#include "shims/kill_test_support.h"
#include "shims/sqlite/src/sqlite_test_support.h"

namespace hawthorn::sqlite::kill_test {
namespace {

constexpr int kRounds = 12;
constexpr int kAccounts = 100;
constexpr int kBalance = 1000;

struct Progress {
  std::atomic<uint64_t> committed = 0;  // transfers of which COMMIT has said so
};

class KillTest : public SqliteTest {
 protected:
  // Every transfer has a number, which is in the log with what it moved; `next` is the first.
  [[noreturn]] void work(const std::string& synchronous, uint64_t next, unsigned seed,
                         Progress& progress) const {
    Connection connection;
    if (connection.open(path_) != SQLITE_OK) _exit(2);
    const auto run = [&connection](const std::string& sql) {
      if (connection.code(sql) != SQLITE_OK) _exit(3);
    };
    run("PRAGMA synchronous = " + synchronous);
    std::mt19937 random(seed);
    for (;; ++next) {
      const std::string number = std::to_string(next);
      const std::string from = std::to_string(1 + random() % kAccounts);
      const std::string to = std::to_string(1 + random() % kAccounts);
      const std::string amount = std::to_string(random() % 30);
      run("BEGIN IMMEDIATE");
      run("UPDATE account SET balance = balance - " + amount + " WHERE id = " + from);
      run("INSERT INTO log VALUES(" + number + ", " + amount + ", zeroblob(" +
          std::to_string(random() % 20 == 0 ? 70'000 : random() % 300) + "))");
      if (random() % 3 == 0) {
        run("SAVEPOINT s; DELETE FROM log WHERE n % 2 = 0; UPDATE account SET balance = 0");
        run("ROLLBACK TO s; RELEASE s");
      }
      run("UPDATE account SET balance = balance + " + amount + " WHERE id = " + to);
      if (next % 10 == 0) run("DELETE FROM log WHERE n < " + number + " - 400");
      if (next % 7 == 0) run("DROP TABLE IF EXISTS made; CREATE TABLE made AS SELECT " + number);
      if (random() % 8 == 0) {
        run("ROLLBACK");
        --next;
        continue;
      }
      run("COMMIT");
      progress.committed.store(next);
    }
  }

  // The number of the last transfer that is there.
  uint64_t check(uint64_t acknowledged) {
    Connection connection(path_);
    EXPECT_EQ(connection.value("SELECT sum(balance), count(*) FROM account NOT INDEXED"),
              "i" + std::to_string(kAccounts * kBalance) + "|i" + std::to_string(kAccounts));
    EXPECT_EQ(connection.value("SELECT sum(balance) FROM account INDEXED BY by_balance"),
              "i" + std::to_string(kAccounts * kBalance));
    const std::string last = connection.value("SELECT ifnull(max(n), 0) FROM log");
    const uint64_t there = std::stoull(last.substr(1));
    EXPECT_GE(there, acknowledged) << "what was acknowledged is lost";
    EXPECT_LE(there, acknowledged + 1) << "what was not even tried is there";
    // None in the middle is missing.
    const uint64_t first =
        std::stoull(connection.value("SELECT ifnull(min(n), 1) FROM log").substr(1));
    EXPECT_EQ(connection.value("SELECT count(*) FROM log"),
              "i" + std::to_string(there == 0 ? 0 : there - first + 1));
    if (there >= 7) {
      EXPECT_EQ(connection.value("SELECT * FROM made"), "i" + std::to_string(there - there % 7));
    }
    expect_sound(connection);
    return there;
  }

  void make_accounts() {
    // In a child too: the parent has no database open when it forks.
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      Connection connection;
      const bool made =
          connection.open(path_) == SQLITE_OK &&
          connection.code(
              "CREATE TABLE account(id INTEGER PRIMARY KEY, balance INT);"
              "CREATE INDEX by_balance ON account(balance);"
              "CREATE TABLE log(n INTEGER PRIMARY KEY, amount, note);"
              "CREATE INDEX log_amount ON log(amount);"
              "CREATE INDEX log_note ON log(note);"
              "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n "
              "WHERE i < 100) INSERT INTO account SELECT i, 1000 FROM n") == SQLITE_OK;
      connection.close();
      _exit(made ? 0 : 1);
    }
    int how = 0;
    ASSERT_EQ(waitpid(child, &how, 0), child);
    ASSERT_TRUE(WIFEXITED(how) && WEXITSTATUS(how) == 0);
  }

  void run(const std::string& synchronous) {
    make_accounts();
    if (HasFatalFailure()) return;
    SharedWithChildren<Progress> progress;
    std::mt19937 random(synchronous.size());
    uint64_t last = 0;
    for (int round = 0; round < kRounds && !HasFailure(); ++round) {
      SCOPED_TRACE("round " + std::to_string(round) + " of " + synchronous);
      progress->committed.store(last);
      const auto seed = static_cast<unsigned>(random());
      kill_in_the_middle(random, round, progress->committed,
                         [&] { work(synchronous, last + 1, seed, *progress); });
      if (HasFailure()) return;
      last = check(progress->committed.load());
    }
    EXPECT_GT(last, 0U);
  }
};

TEST_F(KillTest, FullIsThere) { run("FULL"); }

// Of a process that is killed nothing is lost that the system was given.
TEST_F(KillTest, OffIsThere) { run("OFF"); }

TEST_F(KillTest, NormalIsThere) { run("NORMAL"); }

// The database is made, or it is not: never is there a file that cannot be opened.
TEST_F(KillTest, InTheMiddleOfMakingIt) {
  struct Made {
    std::atomic<uint64_t> count = 0;
  };
  SharedWithChildren<Made> made;
  std::mt19937 random(7);
  for (int round = 0; round < kRounds && !HasFailure(); ++round) {
    kill_in_the_middle(random, round, made->count, [&] {
      for (;;) {
        std::filesystem::remove(path_);
        Connection connection;
        if (connection.open(path_) != SQLITE_OK) _exit(2);
        if (connection.code("CREATE TABLE t(a); INSERT INTO t VALUES(1)") != SQLITE_OK) _exit(3);
        ++made->count;
      }
    });
    if (HasFailure()) return;
    Connection connection(path_);
    EXPECT_SQL_OK(connection, "CREATE TABLE IF NOT EXISTS t(a)");
    expect_sound(connection);
    EXPECT_EQ(data_directories(path_).size(), 1U) << "others are gone";
  }
}

}  // namespace
}  // namespace hawthorn::sqlite::kill_test
