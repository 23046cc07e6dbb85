// Commits over several databases: all of them or none, wherever the process ends.

#include "shims/sqlite/src/together.h"

#include <atomic>
#include <filesystem>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "hawthorn/hawthorn.h"
#include "shims/kill_test_support.h"
#include "shims/sqlite/src/intent.h"
#include "shims/sqlite/src/sqlite_test_support.h"
#include "testing/scaled.h"
#include "testing/wait.h"

namespace hawthorn::sqlite::together_test {
namespace {

namespace fs = std::filesystem;

class TogetherTest : public SqliteTest {
 protected:
  static constexpr const char* kNames[] = {"a.db", "b.db", "c.db"};

  // main is a.db, and the others are attached as b and c.
  Connection open(const std::string& synchronous = "OFF") {
    Connection made(path("a.db"));
    EXPECT_SQL_OK(made, "ATTACH '" + path("b.db") + "' AS b; ATTACH '" + path("c.db") + "' AS c");
    for (const char* name : {"main", "b", "c"}) {
      EXPECT_SQL_OK(made, "PRAGMA " + std::string(name) + ".synchronous = " + synchronous);
    }
    return made;
  }
  Connection open_filled(const std::string& synchronous = "OFF") {
    Connection made = open(synchronous);
    for (const char* name : {"main", "b", "c"}) {
      EXPECT_SQL_OK(made, "CREATE TABLE " + std::string(name) +
                              ".t(a INTEGER PRIMARY KEY, b); INSERT INTO " + name +
                              ".t VALUES(1, 0)");
    }
    return made;
  }

  std::string directory_of(const std::string& name) {
    const std::vector<std::string> found = data_directories(path(name));
    EXPECT_EQ(found.size(), 1U) << name;
    return found.empty() ? std::string() : found.front();
  }
  size_t intents() const {
    size_t count = 0;
    for (const auto& entry : fs::directory_iterator(directory_)) {
      count += entry.path().string().ends_with(".commit") ? 1 : 0;
    }
    return count;
  }
  // What a database, which is closed, holds of commits for others.
  uint64_t kept(const std::string& name) {
    auto db = Db::open(directory_of(name), Options{});
    if (!db.ok()) {
      ADD_FAILURE() << db.status().to_string();
      return 0;
    }
    const Result<Tree> tree = (*db)->find_tree("commits");
    return tree.ok() ? (*db)->count(*tree, {}, std::nullopt).value() : 0;
  }
};

// ---- By SQL

TEST_F(TogetherTest, AllAreCommittedOrRolledBack) {
  for (const std::string synchronous : {"OFF", "NORMAL", "FULL"}) {
    SCOPED_TRACE(synchronous);
    fs::remove_all(directory_);
    fs::create_directory(directory_);
    Connection one = open_filled(synchronous);
    Connection two = open(synchronous);
    const std::string all =
        "UPDATE t SET b = b + 1; UPDATE b.t SET b = b + 1; "
        "UPDATE c.t SET b = b + 1; ";
    const std::string sum =
        "SELECT (SELECT b FROM main.t), (SELECT b FROM b.t), (SELECT b FROM c.t)";
    EXPECT_SQL_OK(one, "BEGIN; " + all + "COMMIT");
    EXPECT_EQ(two.value(sum), "i1|i1|i1");
    EXPECT_SQL_OK(one, "BEGIN; " + all + "ROLLBACK");
    EXPECT_EQ(two.value(sum), "i1|i1|i1");
    // The outermost savepoint; what is rolled back in it is not committed anywhere.
    EXPECT_SQL_OK(one, "SAVEPOINT s; " + all + "SAVEPOINT u; " + all + "ROLLBACK TO u; RELEASE s");
    EXPECT_EQ(two.value(sum), "i2|i2|i2");
    EXPECT_SQL_OK(one, "BEGIN IMMEDIATE; UPDATE b.t SET b = 7; UPDATE c.t SET b = 8; COMMIT");
    EXPECT_EQ(two.value(sum), "i2|i7|i8");
    // One statement, by a trigger.
    EXPECT_SQL_OK(one,
                  "CREATE TABLE b.of_b(b); CREATE TABLE c.of_c(b);"
                  "INSERT INTO of_b VALUES(0); INSERT INTO of_c VALUES(0);"
                  "CREATE TEMP TRIGGER x AFTER UPDATE ON main.t BEGIN"
                  "  UPDATE of_b SET b = new.b; UPDATE of_c SET b = new.b; END;"
                  "UPDATE main.t SET b = 3; DROP TRIGGER x");
    EXPECT_EQ(two.value("SELECT t.b, of_b.b, of_c.b FROM main.t, of_b, of_c"), "i3|i3|i3");
    {
      // A statement that goes on over the commit.
      Statement select(one, "SELECT b FROM t UNION ALL SELECT b FROM b.t UNION ALL SELECT 5");
      ASSERT_EQ(select.step(), SQLITE_ROW);
      EXPECT_SQL_OK(one, "BEGIN; " + all + "COMMIT");
      ASSERT_EQ(select.step(), SQLITE_ROW);
      EXPECT_EQ(select.row(), "i8");
    }
    EXPECT_EQ(two.value(sum), "i4|i8|i9");
    EXPECT_EQ(intents(), 0U);
    one.close();
    two.close();
    for (const char* name : kNames) EXPECT_EQ(kept(name), 0U) << name;
  }
}

TEST_F(TogetherTest, SchemasAndLargeTransactions) {
  Connection one = open_filled("FULL");
  EXPECT_SQL_OK(one,
                "BEGIN; CREATE TABLE x(v); CREATE TABLE b.x(v UNIQUE); DROP TABLE c.t;"
                "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)"
                "INSERT INTO b.x SELECT randomblob(1000) FROM n;"
                "INSERT INTO x SELECT v FROM b.x; INSERT INTO x VALUES(zeroblob(5000000));"
                "SAVEPOINT s; DELETE FROM b.x; ROLLBACK TO s; COMMIT");
  one.close();
  Connection two = open();
  EXPECT_EQ(two.value("SELECT count(*) FROM x JOIN b.x y USING (v)"), "i3000");
  EXPECT_EQ(two.code("SELECT * FROM c.t"), SQLITE_ERROR);
  expect_sound(two);
}

// The database that is written first keeps no list: the other one that is attached later does.
TEST_F(TogetherTest, AttachedInTheMiddle) {
  open_filled().close();
  Connection one(path("a.db"));
  EXPECT_SQL_OK(one, "BEGIN; UPDATE t SET b = 5; ATTACH '" + path("b.db") +
                         "' AS b; UPDATE b.t SET b = 6; COMMIT");
  one.close();
  Connection two = open();
  EXPECT_EQ(two.value("SELECT t.b, y.b FROM t, b.t y"), "i5|i6");
}

TEST_F(TogetherTest, WithSqlitesOwn) {
  Connection one = open_filled();
  EXPECT_SQL_OK(one, "ATTACH 'file:" + path("stock.db") +
                         "?hawthorn=0' AS stock;"
                         "CREATE TABLE stock.s(a); CREATE TEMP TABLE q(a);"
                         "BEGIN; UPDATE t SET b = 5; UPDATE b.t SET b = 6;"
                         "INSERT INTO s VALUES(1); INSERT INTO q VALUES(1); COMMIT");
  EXPECT_EQ(one.value("SELECT t.b, y.b, s.a, q.a FROM t, b.t y, s, q"), "i5|i6|i1|i1");
  EXPECT_SQL_OK(one, "BEGIN; UPDATE t SET b = 7; UPDATE b.t SET b = 7; DELETE FROM s; ROLLBACK");
  EXPECT_EQ(one.value("SELECT t.b, y.b, s.a, q.a FROM t, b.t y, s, q"), "i5|i6|i1|i1");
}

TEST_F(TogetherTest, NothingIsCommittedWhereItCannotBeAnnounced) {
  Connection one = open_filled();
  const std::string intent = directory_of("c.db") + ".commit";
  fs::create_directory(intent);  // nobody can write a file there
  EXPECT_EQ(
      one.code("BEGIN; UPDATE t SET b = 5; UPDATE b.t SET b = 5; UPDATE c.t SET b = 5; COMMIT") &
          0xff,
      SQLITE_IOERR);
  EXPECT_EQ(sqlite3_get_autocommit(one.get()), 1);
  EXPECT_EQ(intents(), 1U) << "but that one";
  fs::remove(intent);
  EXPECT_EQ(one.value("SELECT t.b, y.b, z.b FROM t, b.t y, c.t z"), "i0|i0|i0");
  EXPECT_SQL_OK(one, "BEGIN; UPDATE t SET b = 5; UPDATE b.t SET b = 5; COMMIT");
}

// ---- Step by step

constexpr uint32_t kRoot = 2;

// As the dispatcher opens and writes databases, without SQL above.
class Raw {
 public:
  explicit Raw(const std::string& path) {
    if (hw_open(path.c_str(), 0, 0, 0, &connection_) != SQLITE_OK) die("open " + path);
  }
  HwConnection* get() const { return connection_; }
  void begin(bool may_be_together) {
    if (hw_begin_write(connection_, 0) != SQLITE_OK) die("begin");
    if (may_be_together) hw_may_be_together(connection_);
  }
  // Of a row of t(a INTEGER PRIMARY KEY, b).
  void write(int64_t row, uint8_t value) {
    unsigned char state = HW_INVALID;
    int skip_next = 0;
    HwCursor* cursor = nullptr;
    const char record[] = {3, 0, 1, static_cast<char>(value)};
    if (hw_cursor_open(connection_, kRoot, -1, nullptr, nullptr, &state, &skip_next, &cursor) !=
            SQLITE_OK ||
        hw_insert_row(cursor, row, record, sizeof(record), 0) != SQLITE_OK) {
      die("write");
    }
    hw_cursor_close(cursor);
  }

 private:
  // Of a child, or of the whole program, which cannot go on.
  [[noreturn]] static void die(const std::string& what) {
    fprintf(stderr, "together_test: cannot %s\n", what.c_str());
    _exit(10);
  }

  HwConnection* connection_ = nullptr;
};

enum Step : int { kWritten, kAnnounced, kDecided, kOneFollowed, kAllFollowed, kForgotten };

class StepsTest : public TogetherTest {
 protected:
  ~StepsTest() override { fs::remove_all(kept_); }

  // As they are before: the directory is made anew.
  void fill() {
    if (!filled_) {
      open_filled("FULL").close();
      fs::copy(directory_, kept_, fs::copy_options::recursive);
      filled_ = true;
    }
    fs::remove_all(directory_);
    fs::copy(kept_, directory_, fs::copy_options::recursive);
  }

  // In a process of its own, which ends behind that step, as if it was killed.
  void run_until(Step step, bool durable) {
    fill();
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      Raw a(path("a.db"));
      Raw b(path("b.db"));
      Raw c(path("c.db"));
      Raw* const all[] = {&a, &b, &c};
      std::vector<HwConnection*> connections;
      for (Raw* const one : all) {
        one->begin(one != all[0]);
        one->write(1, 9);
        for (int64_t row = 2; row < 50; ++row) one->write(row, static_cast<uint8_t>(row));
        connections.push_back(one->get());
      }
      Together together(connections, durable);
      if (step >= kAnnounced && !together.announce().ok()) _exit(1);
      if (step >= kDecided && !together.decide().ok()) _exit(2);
      if (step == kOneFollowed) together.follow(b.get());
      if (step >= kAllFollowed) together.follow();
      if (step >= kForgotten) together.forget();
      _exit(0);
    }
    int how = 0;
    ASSERT_EQ(waitpid(child, &how, 0), child);
    ASSERT_TRUE(WIFEXITED(how));
    ASSERT_EQ(WEXITSTATUS(how), 0);
  }

  // Each by itself, in an order, or as one connection opens them.
  void check(Step step, const std::vector<std::string>& order) {
    const std::string wanted = step >= kDecided ? "i9|i49" : "i0|i1";
    for (const std::string& name : order) {
      Connection one(path(name));
      EXPECT_EQ(one.value("SELECT (SELECT b FROM t WHERE a = 1), count(*) FROM t"), wanted) << name;
      expect_sound(one);
    }
    Connection one = open();
    for (const char* table : {"main.t", "b.t", "c.t"}) {
      EXPECT_EQ(one.value("SELECT (SELECT b FROM " + std::string(table) +
                          " WHERE a = 1), count(*) FROM " + table),
                wanted)
          << table;
    }
    EXPECT_EQ(intents(), 0U);
    EXPECT_SQL_OK(one, "BEGIN; UPDATE t SET b = 3; UPDATE b.t SET b = 3; DELETE FROM c.t; COMMIT");
    one.close();
    // Found, and forgotten, by the next one that opens it.
    Connection(path("a.db")).close();
    for (const char* name : kNames) EXPECT_EQ(kept(name), 0U) << name;
  }

 private:
  const std::string kept_ = directory_ + "-filled";
  bool filled_ = false;
};

TEST_F(StepsTest, AllOrNothingWhereverItEnds) {
  const std::vector<std::string> orders[] = {
      {}, {"a.db", "b.db", "c.db"}, {"c.db", "b.db", "a.db"}, {"b.db"}};
  int round = 0;
  for (const Step step : {kWritten, kAnnounced, kDecided, kOneFollowed, kAllFollowed, kForgotten}) {
    for (const std::vector<std::string>& order : orders) {
      // Where something is left to be done, in each of them.
      if (step != kAnnounced && step != kDecided && step != kOneFollowed && !order.empty())
        continue;
      SCOPED_TRACE("step " + std::to_string(step) + ", order " +
                   (order.empty() ? "-" : order.front()));
      run_until(step, ++round % 2 == 0);
      if (!HasFailure()) check(step, order);
      if (HasFailure()) return;
    }
  }
}

TEST_F(StepsTest, OpenedByThreadsAtOnce) {
  for (int round = 0; round < 3; ++round) {
    run_until(kDecided, false);
    std::vector<std::thread> threads;
    for (const char* name : {"b.db", "a.db", "c.db", "b.db", "c.db", "a.db"}) {
      threads.emplace_back([this, name] {
        Connection one(path(name));
        sqlite3_busy_timeout(one.get(), testing::kHangLimitMs);
        EXPECT_EQ(one.value("SELECT b FROM t WHERE a = 1"), "i9");
        EXPECT_SQL_OK(one, "UPDATE t SET b = b WHERE a = 1");
      });
    }
    for (std::thread& thread : threads) thread.join();
    check(kDecided, {});
  }
}

TEST_F(StepsTest, TheCoordinatorIsOpenElsewhere) {
  run_until(kDecided, false);
  SharedWithChildren<std::atomic<int>> stage;
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    Connection one;
    if (one.open(path("a.db")) != SQLITE_OK) _exit(1);
    stage->store(1);
    const bool told = testing::wait_until([&] { return stage->load() == 2; });
    one.close();
    _exit(told ? 0 : 2);
  }
  ASSERT_TRUE(testing::wait_until([&] { return stage->load() == 1; }));
  Connection two;
  EXPECT_EQ(two.open(path("b.db")), SQLITE_BUSY);
  two.close();
  EXPECT_EQ(intents(), 2U);
  stage->store(2);
  int how = 0;
  ASSERT_EQ(waitpid(child, &how, 0), child);
  EXPECT_TRUE(WIFEXITED(how) && WEXITSTATUS(how) == 0);
  check(kDecided, {"b.db"});
}

TEST_F(StepsTest, TheCoordinatorIsNotThere) {
  run_until(kDecided, false);
  fs::rename(directory_of("a.db"), path("elsewhere"));
  Connection two(path("b.db"));
  EXPECT_EQ(two.value("SELECT b FROM t WHERE a = 1"), "i0") << "it counts as not made";
  EXPECT_EQ(intents(), 1U);
}

// They may be moved, where they stay beside each other; a participant that is elsewhere when the
// coordinator is opened finds its commit later.
TEST_F(StepsTest, MovedTogetherAndOneAway) {
  run_until(kDecided, false);
  const std::string there = path("there");
  fs::create_directory(there);
  for (const auto& entry : fs::directory_iterator(directory_)) {
    if (entry.path() != there)
      fs::rename(entry.path(), there + "/" + entry.path().filename().string());
  }
  const std::string away = data_directories(there + "/c.db").front();
  fs::rename(away, path("away"));
  for (int i = 0; i < 2; ++i) {
    Connection one(there + "/a.db");
    EXPECT_SQL_OK(one, "UPDATE t SET b = b + 1 WHERE a = 2");
  }
  Connection two(there + "/b.db");
  EXPECT_EQ(two.value("SELECT b FROM t WHERE a = 1"), "i9");
  fs::rename(path("away"), away);
  Connection three(there + "/c.db");
  EXPECT_EQ(three.value("SELECT b FROM t WHERE a = 1"), "i9");
}

// The file of one that was deleted goes with it.
TEST_F(StepsTest, AParticipantThatWasDeleted) {
  run_until(kDecided, false);
  fs::remove(path("b.db"));
  Connection two(path("b.db"));
  EXPECT_SQL_OK(two, "CREATE TABLE t(a, b)");
  EXPECT_EQ(intents(), 1U);
  Connection one = open();
  EXPECT_EQ(one.value("SELECT t.b, z.b, (SELECT count(*) FROM b.t) FROM t, c.t z "
                      "WHERE t.a = 1 AND z.a = 1"),
            "i9|i9|i0");
  EXPECT_EQ(intents(), 0U);
}

// A file that was not written to its end: nothing was decided.
TEST_F(StepsTest, ATornFile) {
  run_until(kAnnounced, false);
  for (const char* name : {"b.db", "c.db"}) {
    const std::string file = directory_of(name) + ".commit";
    fs::resize_file(file,
                    fs::file_size(file) / (name[0] == 'b' ? 2 : 1) - (name[0] == 'b' ? 0 : 1));
  }
  check(kAnnounced, {"b.db", "c.db"});
}

// One that could not follow does it when it is used next, in this process, too.
TEST_F(StepsTest, AParticipantInDoubt) {
  Connection one = open_filled();
  Connection two = open();
  const std::string of_two = two.value("PRAGMA c.data_version");
  EXPECT_SQL_OK(two, "BEGIN CONCURRENT; UPDATE c.t SET b = b + 1 WHERE a = 1");
  {
    Raw a(path("a.db"));
    Raw c(path("c.db"));
    HwConnection* const both[] = {a.get(), c.get()};
    a.begin(false);
    c.begin(true);
    a.write(1, 9);
    c.write(1, 9);
    Together together(both, true);
    ASSERT_TRUE(together.announce().ok());
    ASSERT_TRUE(together.decide().ok());
    c.get()->database->doubt();  // as follow() does where the commit fails
    together.forget();
    EXPECT_EQ(together.end(false), SQLITE_OK);
    hw_close(a.get());
    hw_close(c.get());
  }
  EXPECT_EQ(intents(), 1U);
  // While what is needed cannot be had, nobody uses it.
  const std::string file = directory_of("c.db") + ".commit";
  fs::rename(file, file + "-kept");
  fs::create_directory(file);
  EXPECT_EQ(one.code("UPDATE c.t SET b = 1") & 0xff, SQLITE_IOERR);
  EXPECT_EQ(one.code("SELECT * FROM c.t") & 0xff, SQLITE_IOERR);
  EXPECT_EQ(one.value("SELECT b FROM t"), "i9") << "the others go on";
  fs::remove(file);
  fs::rename(file + "-kept", file);
  // What others have done since then meets it.
  EXPECT_EQ(two.code("COMMIT"), SQLITE_BUSY_SNAPSHOT);
  EXPECT_SQL_OK(two, "ROLLBACK");
  EXPECT_EQ(one.value("SELECT b FROM c.t"), "i9");
  EXPECT_NE(two.value("PRAGMA c.data_version"), of_two);
  EXPECT_EQ(intents(), 0U);
}

// ---- Whatever was done

// Random changes, with savepoints, of two databases: one commits them, the other one does them
// again behind a crash. Then both hold the same.
TEST_F(TogetherTest, WhatIsDoneAgainIsWhatWasDone) {
  const uint64_t seeds = testing::scaled(30);
  for (uint64_t seed = 1; seed <= seeds && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    fs::remove_all(directory_);
    fs::create_directory(directory_);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      open_filled().close();
      Raw a(path("a.db"));
      Raw b(path("b.db"));
      Raw c(path("c.db"));
      HwConnection* const all[] = {a.get(), b.get(), c.get()};
      a.begin(false);
      b.begin(true);
      c.begin(true);
      a.write(1, 1);
      std::mt19937_64 random(seed);
      std::vector<uint32_t> roots{kRoot};
      std::vector<std::vector<uint32_t>> roots_then;
      const bool is_large = seed % 5 == 0;
      for (int i = 0; i < 200; ++i) {
        const uint64_t what = random() % 40;
        const uint32_t root = roots[random() % roots.size()];
        std::string key(8, '\0');
        key[7] = static_cast<char>(random() % 30);
        const std::string value(random() % (is_large ? 60'000 : 300), static_cast<char>(random()));
        const uint64_t offset = random() % 500;
        const size_t savepoint = roots_then.empty() ? 0 : random() % roots_then.size();
        uint32_t made = 0;
        for (HwConnection* const one : {b.get(), c.get()}) {
          Tree tree;
          int code = one->tree(root, &tree);
          if (what < 20) {
            code |= one->put(root, tree, key, value);
          } else if (what < 26) {
            code |= one->del(root, tree, key);
          } else if (what < 30) {
            code |= one->write_part(root, tree, key, offset, value);
          } else if (what == 30) {
            code |= one->clear_tree(root, nullptr);
          } else if (what < 33) {
            code |= one->create_tree(&made);
          } else if (what == 33 && roots.size() > 1) {
            code |= one->drop_tree(roots.back());
          } else if (what == 34) {
            code |= hw_set_meta(one, 6, static_cast<unsigned>(i));
          } else if (what < 37) {
            code |= one->open_savepoints(roots_then.size() + 1);
          } else if (what < 39 && !roots_then.empty()) {
            code |= one->roll_back_to(static_cast<int>(savepoint));
          } else if (what == 39 && !roots_then.empty()) {
            code |= one->release_savepoint(static_cast<int>(savepoint));
          }
          if (code != SQLITE_OK) _exit(20 + static_cast<int>(what));
        }
        if (made != 0) roots.push_back(made);
        if (what == 33 && roots.size() > 1) roots.pop_back();
        if (what >= 35 && what < 37) roots_then.push_back(roots);
        if (what >= 37 && !roots_then.empty()) {
          if (what < 39) roots = roots_then[savepoint];
          roots_then.resize(savepoint + (what < 39 ? 1 : 0));
        }
      }
      Together together(all, false);
      if (!together.announce().ok() || !together.decide().ok()) _exit(1);
      together.follow(b.get());
      _exit(b.get()->database->in_doubt() ? 2 : 0);
    }
    int how = 0;
    ASSERT_EQ(waitpid(child, &how, 0), child);
    ASSERT_TRUE(WIFEXITED(how) && WEXITSTATUS(how) == 0) << WEXITSTATUS(how);
    std::map<std::string, std::string> all[2];
    for (int i = 0; i < 2; ++i) {
      Raw one(path(i == 0 ? "b.db" : "c.db"));
      Db& db = one.get()->database->db();
      const std::vector<std::string> trees = db.list_trees().value();
      for (const std::string& name : trees) {
        const Tree tree = db.find_tree(name).value();
        Cursor cursor = db.cursor(tree);
        all[i][name] = "";
        for (bool there = cursor.first(); there; there = cursor.next()) {
          all[i][name + "/" + std::string(cursor.key())] = cursor.value();
        }
        EXPECT_TRUE(cursor.status().ok());
      }
      hw_close(one.get());
    }
    EXPECT_GT(all[0].size(), 4U);
    EXPECT_TRUE(all[0] == all[1]) << all[0].size() << " and " << all[1].size();
  }
}

// ---- Killed

struct Progress {
  std::atomic<uint64_t> committed = 0;
};

class TogetherKillTest : public TogetherTest {
 protected:
  static constexpr int kRounds = 12;

  [[noreturn]] void work(const std::string& synchronous, uint64_t next, unsigned seed,
                         Progress& progress) {
    Connection one;
    if (one.open(path("a.db")) != SQLITE_OK) _exit(2);
    const auto run = [&one](const std::string& sql) {
      if (one.code(sql) != SQLITE_OK) _exit(3);
    };
    run("ATTACH '" + path("b.db") + "' AS b; ATTACH '" + path("c.db") + "' AS c");
    for (const char* name : {"main", "b", "c"}) {
      run("PRAGMA " + std::string(name) + ".synchronous = " + synchronous);
    }
    std::mt19937 random(seed);
    for (;; ++next) {
      const std::string number = std::to_string(next);
      run("BEGIN");
      // Another coordinator each time.
      const char* const names[] = {"main", "b", "c"};
      for (unsigned i = 0; i < 3; ++i) {
        const std::string name = names[(next + i) % 3];
        run("UPDATE " + name + ".t SET b = " + number + "; INSERT INTO " + name + ".log VALUES(" +
            number + ", randomblob(" + std::to_string(random() % 20 == 0 ? 1'500'000 : 300) + "))");
        if (random() % 4 == 0) run("SAVEPOINT s; DELETE FROM " + name + ".log; ROLLBACK TO s");
        if (next % 5 == 0) {
          run("DROP TABLE IF EXISTS " + name + ".made; CREATE TABLE " + name + ".made AS SELECT " +
              number + " AS n");
        }
        run("DELETE FROM " + name + ".log WHERE n < " + number + " - 50");
      }
      run("COMMIT");
      progress.committed.store(next);
    }
  }

  void run(const std::string& synchronous) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      Connection one = open_filled();
      for (const char* name : {"main", "b", "c"}) {
        EXPECT_SQL_OK(one,
                      "CREATE TABLE " + std::string(name) + ".log(n INTEGER PRIMARY KEY, note)");
      }
      one.close();
      _exit(HasFailure() ? 1 : 0);
    }
    int how = 0;
    ASSERT_EQ(waitpid(child, &how, 0), child);
    ASSERT_TRUE(WIFEXITED(how) && WEXITSTATUS(how) == 0);
    SharedWithChildren<Progress> progress;
    std::mt19937 random(static_cast<unsigned>(synchronous.size()));
    uint64_t last = 0;
    for (int round = 0; round < kRounds && !HasFailure(); ++round) {
      SCOPED_TRACE("round " + std::to_string(round) + " of " + synchronous);
      progress->committed.store(last);
      const auto seed = static_cast<unsigned>(random());
      kill_in_the_middle(random, round, progress->committed,
                         [&] { work(synchronous, last + 1, seed, *progress); });
      if (HasFailure()) return;
      // In any order.
      std::vector<std::string> order(std::begin(kNames), std::end(kNames));
      std::shuffle(order.begin(), order.end(), random);
      std::vector<uint64_t> there;
      for (const std::string& name : order) {
        Connection one(path(name));
        there.push_back(std::stoull(one.value("SELECT b FROM t").substr(1)));
        const std::string n = std::to_string(there.back());
        EXPECT_EQ(one.value("SELECT ifnull(max(n), 0), count(*) FROM log"),
                  "i" + n + "|i" + std::to_string(std::min<uint64_t>(there.back(), 51)));
        if (there.back() >= 5) {
          EXPECT_EQ(one.value("SELECT n FROM made"), "i" + std::to_string(there.back() / 5 * 5));
        }
        expect_sound(one);
      }
      EXPECT_EQ(there[0], there[1]);
      EXPECT_EQ(there[0], there[2]);
      EXPECT_GE(there[0], progress->committed.load());
      EXPECT_LE(there[0], progress->committed.load() + 1);
      EXPECT_EQ(intents(), 0U);
      last = there[0];
    }
    EXPECT_GT(last, 0U);
  }
};

TEST_F(TogetherKillTest, Full) { run("FULL"); }
TEST_F(TogetherKillTest, Off) { run("OFF"); }

}  // namespace
}  // namespace hawthorn::sqlite::together_test
