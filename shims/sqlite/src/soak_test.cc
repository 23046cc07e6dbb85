// Two connections that write and eight that read one database, each in its own thread: no statement
// fails, and every moment that a reader sees is one between two transactions, with indexes that
// have what their tables have.
//
// They go on until each has done its part; HAWTHORN_SOAK_SECONDS says for how long at least.
// HAWTHORN_SEED repeats one history of each writer.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "shims/sqlite/src/sqlite_test_support.h"
#include "testing/scaled.h"
#include "testing/wait.h"

namespace hawthorn::sqlite::soak_test {
namespace {

constexpr size_t kWriters = 2;
constexpr size_t kReaders = 8;
constexpr uint64_t kAccounts = 400;      // about so many at any time
constexpr uint64_t kOwners = 60;         // whose names the accounts change
constexpr uint64_t kEntriesKept = 2000;  // of each writer

// Triggers keep in `total` what the tables have together, so that one statement alone keeps it
// true. `made` has what each writer has committed.
constexpr char kSchema[] =
    "CREATE TABLE total(accounts INT, balance INT, entries INT, amount INT);"
    "INSERT INTO total VALUES(0, 0, 0, 0);"
    "CREATE TABLE made(writer INTEGER PRIMARY KEY, commits INT, transfers INT);"
    "INSERT INTO made VALUES(0, 0, 0), (1, 0, 0);"
    "CREATE TABLE account(id INTEGER PRIMARY KEY, owner TEXT COLLATE NOCASE, balance INT NOT NULL,"
    "  note BLOB);"
    "CREATE INDEX account_owner ON account(owner, balance DESC);"
    "CREATE INDEX account_poor ON account(balance) WHERE balance < 500;"
    "CREATE TABLE entry(writer INT, n INT, account INT, amount INT, PRIMARY KEY(writer, n))"
    "  WITHOUT ROWID;"
    "CREATE INDEX entry_account ON entry(account, amount);"
    "CREATE TRIGGER account_made AFTER INSERT ON account BEGIN"
    "  UPDATE total SET accounts = accounts + 1, balance = balance + new.balance; END;"
    "CREATE TRIGGER account_gone AFTER DELETE ON account BEGIN"
    "  UPDATE total SET accounts = accounts - 1, balance = balance - old.balance; END;"
    "CREATE TRIGGER account_moved AFTER UPDATE OF balance ON account BEGIN"
    "  UPDATE total SET balance = balance + new.balance - old.balance; END;"
    "CREATE TRIGGER entry_made AFTER INSERT ON entry BEGIN"
    "  UPDATE total SET entries = entries + 1, amount = amount + new.amount; END;"
    "CREATE TRIGGER entry_gone AFTER DELETE ON entry BEGIN"
    "  UPDATE total SET entries = entries - 1, amount = amount - old.amount; END;";

// Each is 1 at every moment.
constexpr const char* kInvariants[] = {
    "SELECT (SELECT accounts FROM total) = (SELECT count(*) FROM account)",
    "SELECT (SELECT balance FROM total) = (SELECT sum(balance) FROM account NOT INDEXED)",
    "SELECT (SELECT balance FROM total) ="
    " (SELECT sum(balance) FROM account INDEXED BY account_owner)",
    "SELECT (SELECT count(*) FROM account INDEXED BY account_poor WHERE balance < 500) ="
    " (SELECT sum(balance < 500) FROM account NOT INDEXED)",
    "SELECT accounts = n AND balance = s FROM total,"
    " (SELECT sum(k) AS n, sum(b) AS s FROM (SELECT count(*) AS k, sum(balance) AS b"
    " FROM account INDEXED BY account_owner GROUP BY owner))",
    "SELECT (entries, amount) = (SELECT count(*), sum(amount) FROM entry) FROM total",
    "SELECT amount = (SELECT sum(amount) FROM entry INDEXED BY entry_account WHERE account >= 0)"
    " FROM total",
    "SELECT (SELECT sum(transfers) FROM made) <= (SELECT sum(commits) FROM made)",
    // Of each writer the newest entries are there, without a hole.
    "SELECT min(n = wanted) FROM (SELECT count(*) AS n, max(n) - min(n) + 1 AS wanted FROM entry"
    " GROUP BY writer)",
    // A row that the index leads to is the one that it says.
    "SELECT count(*) = (SELECT count(*) FROM account) FROM account AS a"
    " WHERE id IN (SELECT id FROM account AS b WHERE b.owner = a.owner AND b.balance = a.balance)",
};

class SoakTest : public SqliteTest {
 protected:
  // What each thread has done.
  struct Done {
    uint64_t transactions = 0;
    uint64_t rolled_back = 0;
    uint64_t transfers = 0;
    int64_t longest_wait_ms = 0;  // for the other one that writes
    int64_t longest_hold_ms = 0;  // of what the other one waits for
  };

  Connection connect() {
    Connection connection(path_);
    sqlite3_busy_timeout(connection.get(), testing::kHangLimitMs);
    return connection;
  }

  // The first error ends all threads.
  void fail(const std::string& what) {
    ended_.store(true);
    ADD_FAILURE() << what;
  }
  bool goes_on() const {
    return !ended_.load() && (working_.load() > 0 || std::chrono::steady_clock::now() < deadline_);
  }
  // One thread: its steps, of which some are transactions, and `part` of these are its part. After
  // these it leaves the processors to the others, unless it is asked for a time.
  template <typename Step>
  void go_on(const Done& done, uint64_t part, const Step& step) {
    bool is_working = true;
    while (goes_on()) {
      step();
      if (is_working && done.transactions >= part) {
        is_working = false;
        --working_;
      }
      if (!is_working && deadline_ == begun_) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
      }
    }
  }

  bool run(Connection& connection, const std::string& sql) {
    const Answer answer = connection.run(sql);
    if (answer.code == SQLITE_OK) return true;
    fail(sql + ": " + std::to_string(answer.code) + " " + answer.message);
    return false;
  }
  std::string value(Connection& connection, const std::string& sql) {
    const Answer answer = connection.run(sql);
    if (answer.code != SQLITE_OK || answer.rows.size() != 1) {
      fail(sql + ": " + std::to_string(answer.code) + " " + answer.message + ", " +
           std::to_string(answer.rows.size()) + " rows");
    }
    return answer.value();
  }
  void check(Connection& connection, const std::string& sql) {
    const std::string answer = value(connection, sql);
    if (answer != "i1") fail(sql + ": " + answer);
  }

  class Writer;
  void write(size_t which, Done* done);
  void read_short(size_t which, Done* done);
  void read_long(size_t which, Done* done);
  void read_one_moment(Connection& connection, std::mt19937& random);
  // Until the writers have committed as many more.
  void await_commits(uint64_t more) {
    const uint64_t end = commits_.load() + more;
    if (!testing::wait_until([&] { return commits_.load() >= end || !goes_on(); })) {
      fail("the writers hang");
    }
  }

  std::atomic<uint64_t> commits_{0};
  std::chrono::steady_clock::time_point begun_;
  std::chrono::steady_clock::time_point deadline_;
  uint64_t seed_ = testing::environment_number("HAWTHORN_SEED", 1);

 private:
  std::atomic<bool> ended_{false};
  std::atomic<size_t> working_{kWriters + kReaders};  // have not done their part
};

// ---- Writers

class SoakTest::Writer {
 public:
  Writer(SoakTest* test, size_t which, Done* done)
      : test_(*test),
        connection_(test->connect()),
        random_(static_cast<unsigned>(test->seed_ * kWriters + which)),
        which_(std::to_string(which)),
        done_(*done) {
    // So that what is replaced counts as deleted.
    run("PRAGMA recursive_triggers = ON");
    run("PRAGMA synchronous = " + std::string(which == 0 ? "OFF" : "FULL"));
  }

  void step() {
    if (below(4) == 0) {
      // One statement alone, which takes the writer's place by itself.
      if (run(change()) && run("UPDATE made SET commits = commits + 1 WHERE writer = " + which_)) {
        count_commit();
      }
      return;
    }
    const auto asked = std::chrono::steady_clock::now();
    const bool begun = run("BEGIN IMMEDIATE");
    const auto began = std::chrono::steady_clock::now();
    note_longest(asked, began, &done_.longest_wait_ms);
    if (begun) change_all();
    note_longest(began, std::chrono::steady_clock::now(), &done_.longest_hold_ms);
  }

 private:
  using Time = std::chrono::steady_clock::time_point;

  static void note_longest(Time from, Time to, int64_t* longest_ms) {
    *longest_ms = std::max<int64_t>(
        *longest_ms, std::chrono::duration_cast<std::chrono::milliseconds>(to - from).count());
  }

  void count_commit() {
    done_.transactions += 1;
    ++test_.commits_;
  }

  // In a transaction that has begun; ends it.
  void change_all() {
    bool transferred = false;
    for (uint64_t i = 1 + below(6); i > 0; --i) {
      if (below(4) == 0) {
        run("SAVEPOINT s; " + change() + "; " + change() + "; " +
            (below(2) == 0 ? "ROLLBACK TO s; RELEASE s" : "RELEASE s"));
      } else if (below(3) == 0) {
        transferred = transfer() || transferred;
      } else {
        run(change());
      }
    }
    if (below(8) == 0) {
      if (run("ROLLBACK")) ++done_.rolled_back;
      next_ = committed_;
      return;
    }
    run("UPDATE made SET commits = commits + 1, transfers = transfers + " +
        std::to_string(static_cast<int>(transferred)) + " WHERE writer = " + which_);
    if (!run("COMMIT")) return;
    committed_ = next_;
    count_commit();
    done_.transfers += transferred ? 1 : 0;
  }

  uint64_t below(uint64_t bound) { return random_() % bound; }
  std::string number(uint64_t bound) { return std::to_string(below(bound)); }
  bool run(const std::string& sql) { return test_.run(connection_, sql); }

  // From one account to another, with an entry; old entries go.
  bool transfer() {
    const std::string amount = number(100);
    const std::string from =
        "(SELECT id FROM account WHERE id >= " + number(kAccounts) + " ORDER BY id LIMIT 1)";
    const std::string to = "(SELECT id FROM account WHERE owner >= 'owner" + number(kOwners) +
                           "' ORDER BY owner, balance DESC LIMIT 1)";
    const std::string n = std::to_string(next_);
    const bool done =
        run("INSERT INTO entry SELECT " + which_ + ", " + n + ", id, " + amount +
            " FROM account ORDER BY id LIMIT 1") &&
        run("UPDATE account SET balance = balance - " + amount + " WHERE id = " + from) &&
        run("UPDATE account SET balance = balance + " + amount + " WHERE id = " + to) &&
        run("DELETE FROM entry WHERE writer = " + which_ + " AND n < " + n + " - " +
            std::to_string(kEntriesKept));
    ++next_;
    return done;
  }

  std::string change() {
    switch (below(9)) {
      case 0:
      case 1:  // as many are made as go
        return "INSERT OR REPLACE INTO account VALUES(" + number(kAccounts * 2) + ", 'Owner" +
               number(kOwners) + "', " + number(2000) + ", zeroblob(" +
               std::to_string(below(30) == 0 ? 60'000 : below(200)) + "))";
      case 2:
        return "DELETE FROM account WHERE id = " + number(kAccounts * 2) + " AND id > 9";
      case 3:
        return "DELETE FROM account WHERE id > 9 AND owner = 'owner" + number(kOwners) +
               "' AND balance < " + number(1000);
      case 4:
        return "UPDATE account SET owner = upper(owner) WHERE id % 7 = " + number(7);
      case 5:
        return "UPDATE account SET owner = 'owner" + number(kOwners) + "' WHERE id BETWEEN " +
               number(kAccounts) + " AND " + number(kAccounts);
      case 6:
        return "UPDATE account SET balance = balance + " + number(50) +
               " WHERE rowid IN (SELECT id FROM account WHERE balance < 500 LIMIT " + number(9) +
               ")";
      case 7:
        return "UPDATE account SET note = randomblob(" + number(300) +
               ") WHERE id = " + number(kAccounts);
      default:
        return below(20) == 0 ? "REINDEX account_owner"
                              : "INSERT INTO account(owner, balance) SELECT owner, 1 FROM account"
                                " WHERE id < " +
                                    number(4);
    }
  }

  SoakTest& test_;
  Connection connection_;
  std::mt19937 random_;
  const std::string which_;
  Done& done_;
  uint64_t next_ = 0;  // number of the next entry
  uint64_t committed_ = 0;
};

void SoakTest::write(size_t which, Done* done) {
  Writer writer(this, which, done);
  // The one that syncs is slower.
  go_on(*done, testing::scaled(which == 0 ? 800 : 100), [&writer] { writer.step(); });
}

// ---- Readers

// Each invariant at a moment of its own.
void SoakTest::read_short(size_t which, Done* done) {
  Connection connection = connect();
  size_t i = which;
  go_on(*done, testing::scaled(200), [&] {
    check(connection, kInvariants[i++ % std::size(kInvariants)]);
    ++done->transactions;
  });
}

// All of them at one moment, which stays as it is for as long as the transaction does.
void SoakTest::read_one_moment(Connection& connection, std::mt19937& random) {
  constexpr char kAll[] =
      "SELECT total(balance) || ' ' || count(*) || ' ' || total(length(note)) || ' ' ||"
      " group_concat(owner, '') FROM (SELECT * FROM account ORDER BY id)";
  constexpr char kMade[] = "SELECT group_concat(commits || '/' || transfers) FROM made";
  run(connection, "BEGIN");
  const std::string before = value(connection, kAll);
  const std::string made = value(connection, kMade);
  for (uint64_t rounds = random() % 4; goes_on() && rounds > 0; --rounds) {
    for (const char* invariant : kInvariants) check(connection, invariant);
    await_commits(random() % 20);
  }
  if (value(connection, kAll) != before) fail("a moment has changed");
  if (value(connection, kMade) != made) fail("a moment has gone on");
  run(connection, random() % 2 == 0 ? "COMMIT" : "ROLLBACK");
}

void SoakTest::read_long(size_t which, Done* done) {
  Connection connection = connect();
  std::mt19937 random(static_cast<unsigned>(which));
  go_on(*done, testing::scaled(24), [&] {
    read_one_moment(connection, random);
    ++done->transactions;
  });
}

TEST_F(SoakTest, WritersAndReadersGoOnWithoutAnError) {
  {
    Connection connection = connect();
    ASSERT_SQL_OK(connection, kSchema);
    ASSERT_SQL_OK(connection,
                  "WITH RECURSIVE n(x) AS (VALUES(0) UNION ALL SELECT x + 1 FROM n WHERE x < " +
                      std::to_string(kAccounts) +
                      ") INSERT INTO account SELECT x, 'owner' || "
                      "(x % " +
                      std::to_string(kOwners) +
                      "), 1000, NULL FROM n;"
                      "INSERT INTO entry VALUES(0, -1, 0, 0), (1, -1, 0, 0)");
  }
  begun_ = std::chrono::steady_clock::now();
  deadline_ =
      begun_ + std::chrono::seconds(testing::environment_number("HAWTHORN_SOAK_SECONDS", 0));
  Done writers[kWriters];
  Done readers[kReaders];
  std::vector<std::thread> threads;
  for (size_t i = 0; i < kWriters; ++i) {
    threads.emplace_back([this, i, &writers] { write(i, &writers[i]); });
  }
  for (size_t i = 0; i < kReaders; ++i) {
    threads.emplace_back([this, i, &readers] {
      i % 2 == 0 ? read_short(i, &readers[i]) : read_long(i, &readers[i]);
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun_;

  Done written;
  Connection connection = connect();
  for (size_t i = 0; i < kWriters; ++i) {
    EXPECT_EQ(
        connection.rows("SELECT commits, transfers FROM made WHERE writer = " + std::to_string(i)),
        std::vector<std::string>{"i" + std::to_string(writers[i].transactions) + "|i" +
                                 std::to_string(writers[i].transfers)});
    written.transactions += writers[i].transactions;
    written.rolled_back += writers[i].rolled_back;
    printf("writer %zu: waited %lld ms at most, wrote for %lld ms at most\n", i,
           static_cast<long long>(writers[i].longest_wait_ms),
           static_cast<long long>(writers[i].longest_hold_ms));
  }
  uint64_t read[2] = {};
  for (size_t i = 0; i < kReaders; ++i) {
    read[i % 2] += readers[i].transactions;
  }
  for (const char* invariant : kInvariants) EXPECT_EQ(connection.value(invariant), "i1");
  expect_sound(connection);
  printf("%.1f s: %llu commits, %llu rolled back, %llu short and %llu long reads, %s accounts\n",
         took.count(), static_cast<unsigned long long>(written.transactions),
         static_cast<unsigned long long>(written.rolled_back),
         static_cast<unsigned long long>(read[0]), static_cast<unsigned long long>(read[1]),
         connection.value("SELECT count(*) FROM account").c_str());
}

}  // namespace
}  // namespace hawthorn::sqlite::soak_test
