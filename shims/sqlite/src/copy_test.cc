// sqlite3_backup_*: databases of ours and of SQLite's into each other.

#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <random>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "shims/kill_test_support.h"
#include "shims/sqlite/src/copy_test_support.h"

namespace hawthorn::sqlite::copy_test {
namespace {

constexpr int kRows = 700;

class CopyTest : public CopyTestBase, public ::testing::WithParamInterface<std::tuple<Kind, Kind>> {
 protected:
  CopyTest() : from_(open(from_kind(), "from.db")), to_(open(to_kind(), "to.db")) {}

  static Kind from_kind() { return std::get<0>(GetParam()); }
  static Kind to_kind() { return std::get<1>(GetParam()); }

  void make_old() {
    EXPECT_SQL_OK(to_,
                  "CREATE TABLE old(a PRIMARY KEY) WITHOUT ROWID; INSERT INTO old VALUES(1);"
                  "CREATE TABLE t(other); CREATE INDEX t_a ON t(other)");
  }
  void expect_same() {
    EXPECT_EQ(all_of(to_), all_of(from_));
    EXPECT_EQ(difference(from_, to_), "");
    expect_sound(to_);
  }

  Connection from_;
  Connection to_;
};

TEST_P(CopyTest, AllIsThere) {
  fill(from_, kRows);
  copy(to_, from_);
  expect_same();
  // It is a database as any other.
  EXPECT_SQL_OK(to_, "INSERT INTO t(a) VALUES('new'); CREATE TABLE more(a); DROP TABLE w");
  EXPECT_EQ(to_.value("SELECT seq FROM sqlite_sequence WHERE name = 't'"),
            "i" + std::to_string(kRows + 1));
  expect_sound(to_);
}

TEST_P(CopyTest, EveryEncoding) {
  for (const char* encoding : {"UTF-16le", "UTF-16be"}) {
    SCOPED_TRACE(encoding);
    const std::string to_name = std::string("to.") + encoding;
    from_ = open(from_kind(), std::string("from.") + encoding);
    to_ = open(to_kind(), to_name);
    EXPECT_SQL_OK(from_, std::string("PRAGMA encoding = '") + encoding + "'");
    fill(from_, 100);
    if (to_kind() != Kind::kStockMemory) make_old();
    // One that has text in another encoding goes on with that, and cannot read it.
    to_ = open(to_kind(), to_name);
    copy(to_, from_);
    EXPECT_EQ(to_.value("PRAGMA encoding"), std::string("t'") + encoding + "'");
    expect_same();
    // As SQLite says of its own.
    Connection used(":memory:");
    EXPECT_SQL_OK(used, "CREATE TABLE t(a)");
    copy(used, from_);
    EXPECT_EQ(used.run("SELECT * FROM t").message,
              "attached databases must use the same text encoding as main database");
  }
}

TEST_P(CopyTest, WhatWasThereIsGone) {
  make_old();
  EXPECT_SQL_OK(to_, "PRAGMA user_version = 1");
  fill(from_, 50);
  copy(to_, from_);
  expect_same();
  EXPECT_EQ(to_.code("SELECT * FROM old"), SQLITE_ERROR);
}

TEST_P(CopyTest, AnEmptySource) {
  make_old();
  copy(to_, from_);
  EXPECT_EQ(to_.rows("SELECT * FROM sqlite_schema").size(), 0U);
  EXPECT_SQL_OK(to_, "CREATE TABLE t(a); INSERT INTO t VALUES(1)");
  expect_sound(to_);
}

TEST_P(CopyTest, StepsOfOnePageWithAWriterBetween) {
  make_old();
  fill(from_, kRows);
  std::vector<std::vector<std::string>> moments = {all_of(from_)};
  Backup backup(to_, from_);
  ASSERT_TRUE(backup.begun()) << to_.message();
  int code = backup.step(1);
  const int pages = backup.pages();
  int remaining = backup.remaining();
  EXPECT_GT(pages, 20);
  EXPECT_LT(remaining, pages);
  int steps = 1;
  for (; code == SQLITE_OK && steps < 100'000; ++steps) {
    if (steps % 5 == 0 && steps < 100) {
      EXPECT_SQL_OK(from_,
                    "UPDATE t SET b = id || 'changed' WHERE id % 3 = " + std::to_string(steps % 3));
      EXPECT_SQL_OK(from_, "INSERT INTO numbers VALUES(NULL, 1)");
      EXPECT_SQL_OK(from_, "DROP INDEX IF EXISTS t_a");
      moments.push_back(all_of(from_));
    }
    code = backup.step(1);
    if (from_kind() != Kind::kOurs) continue;
    EXPECT_EQ(backup.pages(), pages);
    EXPECT_LE(backup.remaining(), remaining);
    EXPECT_GE(backup.remaining(), remaining - 1 - pages / 10) << "a step of one page";
    remaining = backup.remaining();
    EXPECT_EQ(remaining == 0, code == SQLITE_DONE);
  }
  ASSERT_EQ(code, SQLITE_DONE);
  EXPECT_EQ(backup.step(1), SQLITE_DONE);
  EXPECT_EQ(backup.remaining(), 0);
  EXPECT_GT(steps, pages / 2);
  EXPECT_EQ(backup.finish(), SQLITE_OK);
  expect_sound(to_);
  // Of ours that of the first step; of SQLite's one that came later.
  const std::vector<std::string> copied = all_of(to_);
  if (from_kind() == Kind::kOurs) {
    EXPECT_EQ(copied, moments.front());
  } else if (to_kind() != Kind::kOurs) {
    EXPECT_EQ(copied, moments.back());
  }
  EXPECT_NE(std::find(moments.begin(), moments.end(), copied), moments.end());
}

TEST_P(CopyTest, AsManyPagesAsRemain) {
  fill(from_, kRows);
  Backup backup(to_, from_);
  ASSERT_TRUE(backup.begun());
  ASSERT_EQ(backup.step(3), SQLITE_OK);
  EXPECT_EQ(backup.step(0), SQLITE_OK);
  EXPECT_GT(backup.remaining(), 0);
  EXPECT_EQ(backup.step(backup.remaining()), SQLITE_DONE);
  EXPECT_EQ(backup.finish(), SQLITE_OK);
  expect_same();
}

TEST_P(CopyTest, ManyPagesAtOnce) {
  fill(from_, 50);
  Backup backup(to_, from_);
  ASSERT_TRUE(backup.begun());
  EXPECT_EQ(backup.step(1'000'000), SQLITE_DONE);
  EXPECT_EQ(backup.finish(), SQLITE_OK);
  expect_same();
}

TEST_P(CopyTest, FinishedEarlyItLeavesTheDestination) {
  make_old();
  fill(from_, kRows);
  const std::vector<std::string> old = all_of(to_);
  for (const int pages : {1, 5, 15}) {
    Backup backup(to_, from_);
    ASSERT_TRUE(backup.begun());
    EXPECT_EQ(backup.step(pages), SQLITE_OK);
    EXPECT_EQ(backup.finish(), SQLITE_OK);
    EXPECT_EQ(all_of(to_), old);
    expect_sound(to_);
  }
  Backup unused(to_, from_);
  EXPECT_EQ(unused.finish(), SQLITE_OK);
  EXPECT_SQL_OK(to_, "INSERT INTO old VALUES(2)");
  copy(to_, from_);
  expect_same();
}

TEST_P(CopyTest, ReadersOfTheDestinationSeeTheEndAlone) {
  if (to_kind() == Kind::kStockMemory) GTEST_SKIP() << "nobody else sees it";
  if (to_kind() == Kind::kStockFile) EXPECT_SQL_OK(to_, "PRAGMA journal_mode = WAL");
  make_old();
  fill(from_, kRows);
  Connection reader = open(to_kind(), "to.db");
  Statement prepared(reader, "SELECT count(*) FROM t");
  EXPECT_EQ(prepared.step(), SQLITE_ROW);
  EXPECT_EQ(prepared.row(), "i0");
  prepared.reset();
  Backup backup(to_, from_);
  ASSERT_TRUE(backup.begun());
  int code = SQLITE_OK;
  while ((code = backup.step(20)) == SQLITE_OK) {
    EXPECT_EQ(reader.value("SELECT count(*) FROM old"), "i1");
    EXPECT_EQ(reader.code("INSERT INTO old VALUES(3)"), SQLITE_BUSY);
  }
  EXPECT_EQ(code, SQLITE_DONE);
  EXPECT_EQ(backup.finish(), SQLITE_OK);
  EXPECT_EQ(prepared.step(), SQLITE_ROW);
  EXPECT_EQ(prepared.row(), "i" + std::to_string(kRows));
  EXPECT_EQ(reader.code("SELECT * FROM old"), SQLITE_ERROR);
}

TEST_P(CopyTest, ABusyDestinationIsTriedAgain) {
  if (to_kind() == Kind::kStockMemory) GTEST_SKIP() << "nobody else has it";
  make_old();
  fill(from_, 100);
  Connection writer = open(to_kind(), "to.db");
  Backup backup(to_, from_);
  ASSERT_TRUE(backup.begun());
  EXPECT_SQL_OK(writer, "BEGIN IMMEDIATE; INSERT INTO old VALUES(2)");
  EXPECT_EQ(backup.step(5), SQLITE_BUSY);
  EXPECT_EQ(backup.step(-1), SQLITE_BUSY);
  EXPECT_SQL_OK(writer, "COMMIT");
  EXPECT_EQ(backup.step(5), SQLITE_OK);
  EXPECT_EQ(writer.code("INSERT INTO old VALUES(3)"), SQLITE_BUSY);
  EXPECT_EQ(backup.step(-1), SQLITE_DONE);
  EXPECT_EQ(backup.finish(), SQLITE_OK);
  expect_same();
  EXPECT_SQL_OK(writer, "INSERT INTO t(a) VALUES('more')");
}

TEST_P(CopyTest, ASourceThatItsConnectionWritesIsBusy) {
  fill(from_, 100);
  Backup backup(to_, from_);
  ASSERT_TRUE(backup.begun());
  EXPECT_SQL_OK(from_, "BEGIN; DELETE FROM t");
  EXPECT_EQ(backup.step(2), SQLITE_BUSY);
  EXPECT_SQL_OK(from_, "ROLLBACK");
  EXPECT_EQ(backup.step(2), SQLITE_OK);
  EXPECT_SQL_OK(from_, "BEGIN IMMEDIATE; DELETE FROM w");
  EXPECT_EQ(backup.step(-1), SQLITE_BUSY);
  EXPECT_SQL_OK(from_, "ROLLBACK");
  EXPECT_EQ(backup.step(-1), SQLITE_DONE);
  EXPECT_EQ(backup.finish(), SQLITE_OK);
  expect_same();
}

TEST_P(CopyTest, WhatCannotBegin) {
  fill(from_, 10);
  make_old();
  const auto refuses = [this](const char* to_name, const char* from_name, const std::string& what) {
    Backup backup(to_, from_, to_name, from_name);
    EXPECT_FALSE(backup.begun());
    EXPECT_EQ(sqlite3_errcode(to_.get()), SQLITE_ERROR);
    EXPECT_EQ(to_.message(), what);
  };
  refuses("main", "nothing", "unknown database nothing");
  refuses("other", "main", "unknown database other");
  EXPECT_SQL_OK(to_, "BEGIN; SELECT * FROM t");
  EXPECT_SQL_OK(to_, "INSERT INTO old VALUES(8)");
  refuses("main", "main", "destination database is in use");
  EXPECT_SQL_OK(to_, "ROLLBACK");
  Backup same(to_, to_);
  EXPECT_FALSE(same.begun());
  EXPECT_EQ(to_.message(), "source and destination must be distinct");
  copy(to_, from_);
}

TEST_P(CopyTest, ADestinationForReading) {
  if (to_kind() == Kind::kStockMemory) GTEST_SKIP() << "always for writing";
  make_old();
  fill(from_, 10);
  const std::vector<std::string> old = all_of(to_);
  to_.close();
  ASSERT_EQ(to_.open(name_of(to_kind(), "to.db"), SQLITE_OPEN_READONLY | SQLITE_OPEN_URI),
            SQLITE_OK);
  Backup backup(to_, from_);
  ASSERT_TRUE(backup.begun());
  EXPECT_EQ(backup.step(-1), SQLITE_READONLY);
  EXPECT_EQ(backup.step(-1), SQLITE_READONLY) << "an error that lasts";
  EXPECT_EQ(backup.finish(), SQLITE_READONLY);
  EXPECT_EQ(sqlite3_errcode(to_.get()), SQLITE_READONLY);
  EXPECT_EQ(all_of(to_), old);
}

TEST_P(CopyTest, TheSourceCannotGo) {
  fill(from_, 100);
  Backup backup(to_, from_);
  ASSERT_EQ(backup.step(1), SQLITE_OK);
  EXPECT_EQ(sqlite3_close(from_.get()), SQLITE_BUSY);
  ASSERT_EQ(backup.step(-1), SQLITE_DONE);
  EXPECT_EQ(sqlite3_close(from_.get()), SQLITE_BUSY);
  EXPECT_EQ(backup.finish(), SQLITE_OK);
  expect_same();
}

TEST_P(CopyTest, AttachedDatabases) {
  Connection source(":memory:");
  Connection target(":memory:");
  fill(from_, 50);
  from_.close();
  from_ = open(from_kind(), "from.db");
  if (from_kind() == Kind::kStockMemory) fill(from_, 50);
  to_.close();
  if (from_kind() != Kind::kStockMemory) {
    EXPECT_SQL_OK(source, "ATTACH '" + name_of(from_kind(), "from.db") + "' AS aux");
  } else {
    EXPECT_SQL_OK(source, "ATTACH ':memory:' AS aux");
    Backup made(source, from_, "aux", "main");
    EXPECT_EQ(made.step(-1), SQLITE_DONE);
  }
  EXPECT_SQL_OK(target, "ATTACH '" + name_of(to_kind(), "to.db") + "' AS aux");
  Backup backup(target, source, "aux", "aux");
  ASSERT_TRUE(backup.begun()) << target.message();
  EXPECT_EQ(backup.step(1), SQLITE_OK);
  EXPECT_EQ(source.code("DETACH aux"), SQLITE_ERROR) << "it is being copied";
  EXPECT_EQ(backup.step(-1), SQLITE_DONE);
  EXPECT_EQ(backup.finish(), SQLITE_OK);
  EXPECT_SQL_OK(source, "DETACH aux");
  EXPECT_EQ(target.rows("SELECT rowid, * FROM aux.t"), from_.rows("SELECT rowid, * FROM t"));
  EXPECT_EQ(target.value("PRAGMA aux.integrity_check"), "t'ok'");
}

TEST_P(CopyTest, OutOfMemory) {
  make_old();
  fill(from_, 200);
  const std::vector<std::string> old = all_of(to_);
  int refused = 0;
  for (int64_t more = 0; more < 4'000'000; more += 1 + more * 2 / 3) {
    SCOPED_TRACE(more);
    sqlite3_hard_heap_limit64(sqlite3_memory_used() + more);
    int code = SQLITE_NOMEM;
    {
      Backup backup(to_, from_);
      if (backup.begun()) {
        for (code = SQLITE_OK; code == SQLITE_OK;) code = backup.step(20);
        const int finished = backup.finish();
        EXPECT_EQ(finished, code == SQLITE_DONE ? SQLITE_OK : code);
      }
    }
    sqlite3_hard_heap_limit64(0);
    if (code == SQLITE_DONE) break;
    ++refused;
    EXPECT_EQ(code, SQLITE_NOMEM);
    EXPECT_EQ(all_of(to_), old);
  }
  EXPECT_GT(refused, 3);
  copy(to_, from_);
  expect_same();
}

TEST_P(CopyTest, TheJournalModeComesAlong) {
  if (to_kind() == Kind::kStockMemory || from_kind() == Kind::kStockMemory) {
    GTEST_SKIP() << "memory has no other";
  }
  EXPECT_SQL_OK(from_, "PRAGMA journal_mode = WAL");
  fill(from_, 10);
  copy(to_, from_);
  EXPECT_EQ(to_.value("PRAGMA journal_mode"), "t'wal'");
  Connection again = open(to_kind(), "to.db");
  EXPECT_EQ(again.value("PRAGMA journal_mode"), "t'wal'");
  expect_same();
}

TEST_P(CopyTest, AutoVacuumAndThePageSizeComeAlong) {
  const bool is_file = to_kind() != Kind::kStockMemory;
  if (is_file) {
    EXPECT_SQL_OK(from_, "PRAGMA page_size = 8192");
  }
  EXPECT_SQL_OK(from_, "PRAGMA auto_vacuum = INCREMENTAL");
  fill(from_, 50);
  copy(to_, from_);
  EXPECT_EQ(to_.value("PRAGMA auto_vacuum"), "i2");
  if (is_file) {
    EXPECT_EQ(to_.value("PRAGMA page_size"), "i8192");
  }
  expect_same();
}

INSTANTIATE_TEST_SUITE_P(
    Copy, CopyTest,
    ::testing::Combine(::testing::Values(Kind::kOurs, Kind::kStockFile, Kind::kStockMemory),
                       ::testing::Values(Kind::kOurs, Kind::kStockFile, Kind::kStockMemory)),
    [](const auto& each) {
      return kind_name(std::get<0>(each.param)) + "To" + kind_name(std::get<1>(each.param));
    });

// ---- What is not the same for all

class SomeCopyTest : public CopyTestBase {
 protected:
  // In a child: how it ends.
  template <typename Work>
  static int in_child(const Work& work) {
    const pid_t child = fork();
    if (child == 0) _exit(work());
    int how = 0;
    EXPECT_EQ(waitpid(child, &how, 0), child);
    EXPECT_TRUE(WIFEXITED(how));
    return WEXITSTATUS(how);
  }
};

TEST_F(SomeCopyTest, StatementsOnOursDoNotEndIt) {
  Connection from = open(Kind::kOurs, "from.db");
  Connection to = open(Kind::kOurs, "to.db");
  fill(from, 200);
  EXPECT_SQL_OK(to, "CREATE TABLE old(a); INSERT INTO old VALUES(1)");
  Backup backup(to, from);
  EXPECT_EQ(backup.step(2), SQLITE_OK);
  EXPECT_EQ(to.value("SELECT count(*) FROM old"), "i1");
  EXPECT_EQ(to.code("INSERT INTO old VALUES(2)"), SQLITE_BUSY);
  EXPECT_SQL_OK(to, "BEGIN; SELECT * FROM old; ROLLBACK");
  Statement reads(to, "SELECT a FROM old");
  EXPECT_EQ(reads.step(), SQLITE_ROW);
  EXPECT_EQ(backup.step(-1), SQLITE_DONE);
  EXPECT_EQ(reads.step(), SQLITE_DONE) << "as of its own moment";
  reads.reset();
  EXPECT_EQ(backup.finish(), SQLITE_OK);
  EXPECT_EQ(difference(from, to), "");
}

TEST_F(SomeCopyTest, AConcurrentTransactionOfTheDestination) {
  Connection from = open(Kind::kOurs, "from.db");
  Connection to = open(Kind::kOurs, "to.db");
  fill(from, 50);
  EXPECT_SQL_OK(to, "CREATE TABLE old(a)");
  Backup backup(to, from);
  EXPECT_SQL_OK(to, "BEGIN CONCURRENT; INSERT INTO old VALUES(1)");
  EXPECT_EQ(backup.step(-1), SQLITE_BUSY);
  EXPECT_SQL_OK(to, "COMMIT");
  EXPECT_EQ(backup.step(-1), SQLITE_DONE);
  EXPECT_EQ(backup.finish(), SQLITE_OK);
  EXPECT_EQ(difference(from, to), "");
  expect_sound(to);
}

// The index lies in the order of the program's function, which the source's connection knows.
TEST_F(SomeCopyTest, AProgramsOwnCollation) {
  const auto knows = [](Connection& connection) {
    const auto backwards = [](void*, int one_size, const void* one, int other_size,
                              const void* other) {
      return std::string_view(static_cast<const char*>(other), size_t(other_size))
          .compare(std::string_view(static_cast<const char*>(one), size_t(one_size)));
    };
    EXPECT_EQ(
        sqlite3_create_collation(connection.get(), "backwards", SQLITE_UTF8, nullptr, backwards),
        SQLITE_OK);
  };
  const auto expect_copied = [&](Connection& from, Connection& to, int pages) {
    Backup backup(to, from);
    int code = SQLITE_OK;
    while (code == SQLITE_OK) code = backup.step(pages);
    EXPECT_EQ(code, SQLITE_DONE);
    EXPECT_EQ(backup.finish(), SQLITE_OK);
    EXPECT_EQ(difference(from, to), "");
    EXPECT_EQ(to.value("SELECT a FROM t ORDER BY a LIMIT 1"), "t'999'");
    expect_sound(to);
  };
  Connection ours = open(Kind::kOurs, "ours.db");
  knows(ours);
  EXPECT_SQL_OK(ours,
                "CREATE TABLE t(a TEXT COLLATE backwards, b); CREATE INDEX t_a ON t(a);"
                "CREATE TABLE w(k TEXT PRIMARY KEY COLLATE backwards, v) WITHOUT ROWID;"
                "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < "
                "1500) INSERT INTO t SELECT i, i FROM c; INSERT INTO w SELECT a, b FROM t");
  for (const int pages : {-1, 3}) {
    SCOPED_TRACE(pages);
    const std::string name = std::to_string(pages);
    Connection again = open(Kind::kOurs, "again" + name);
    Connection stock = open(Kind::kStockFile, "stock" + name);
    Connection back = open(Kind::kOurs, "back" + name);
    for (Connection* each : {&again, &stock, &back}) knows(*each);
    expect_copied(ours, again, pages);
    expect_copied(ours, stock, pages);
    expect_copied(stock, back, pages);
  }
  // One that does not know it cannot copy from it, and changes nothing.
  Connection stranger("file:" + path("stock-1") + "?hawthorn=0");
  Connection to = open(Kind::kOurs, "to.db");
  EXPECT_SQL_OK(to, "CREATE TABLE old(a); INSERT INTO old VALUES(1)");
  Backup backup(to, stranger);
  EXPECT_EQ(backup.step(-1), SQLITE_ERROR);
  EXPECT_EQ(backup.finish(), SQLITE_ERROR);
  EXPECT_EQ(to.value("SELECT a FROM old"), "i1");
}

TEST_F(SomeCopyTest, OneDatabaseIntoItself) {
  Connection from = open(Kind::kOurs, "one.db");
  Connection to = open(Kind::kOurs, "one.db");
  fill(from, 100);
  const std::vector<std::string> before = all_of(from);
  copy(to, from);
  EXPECT_EQ(all_of(from), before);
  EXPECT_EQ(all_of(to), before);
  expect_sound(from);
}

TEST_F(SomeCopyTest, SizesOfPages) {
  Connection from = open(Kind::kOurs, "from.db");
  EXPECT_SQL_OK(from, "PRAGMA page_size = 1024");
  fill(from, 200);
  Connection fresh = open(Kind::kStockFile, "fresh.db");
  copy(fresh, from);
  EXPECT_EQ(fresh.value("PRAGMA page_size"), from.value("PRAGMA page_size"));
  for (const char* mode : {"DELETE", "WAL"}) {
    Connection used = open(Kind::kStockFile, std::string("used.") + mode);
    EXPECT_SQL_OK(used, "PRAGMA page_size = 16384; CREATE TABLE old(a)");
    EXPECT_SQL_OK(used, std::string("PRAGMA journal_mode = ") + mode);
    copy(used, from);
    EXPECT_EQ(used.value("PRAGMA page_size"), "i16384") << "it has content";
    EXPECT_EQ(difference(from, used), "");
    expect_sound(used);
  }
  Connection memory(":memory:");
  EXPECT_SQL_OK(memory, "PRAGMA page_size = 512; CREATE TABLE old(a)");
  copy(memory, from);
  EXPECT_EQ(difference(from, memory), "");
  expect_sound(memory);
}

TEST_F(SomeCopyTest, ALimitOfPages) {
  Connection from = open(Kind::kOurs, "from.db");
  fill(from, 700);
  Connection to = open(Kind::kStockFile, "to.db");
  EXPECT_SQL_OK(to, "CREATE TABLE old(a); INSERT INTO old VALUES(1); PRAGMA max_page_count = 20");
  Backup backup(to, from);
  int code = SQLITE_OK;
  while (code == SQLITE_OK) code = backup.step(10);
  EXPECT_EQ(code, SQLITE_FULL);
  EXPECT_EQ(backup.step(10), SQLITE_FULL);
  EXPECT_EQ(backup.finish(), SQLITE_FULL);
  EXPECT_EQ(to.value("SELECT a FROM old"), "i1");
  expect_sound(to);
}

TEST_F(SomeCopyTest, TemporaryDatabases) {
  Connection from = open(Kind::kOurs, "from.db");
  Connection to = open(Kind::kOurs, "to.db");
  EXPECT_SQL_OK(from, "CREATE TABLE t(a); INSERT INTO t VALUES(1)");
  EXPECT_SQL_OK(from, "CREATE TEMP TABLE mine(a UNIQUE); INSERT INTO mine VALUES('temporary')");
  Backup out(to, from, "main", "temp");
  EXPECT_EQ(out.step(-1), SQLITE_DONE);
  EXPECT_EQ(out.finish(), SQLITE_OK);
  EXPECT_EQ(to.value("SELECT a FROM main.mine"), "t'temporary'");
  Backup in(to, from, "temp", "main");
  EXPECT_EQ(in.step(-1), SQLITE_DONE);
  EXPECT_EQ(in.finish(), SQLITE_OK);
  EXPECT_EQ(to.value("SELECT a FROM temp.t"), "i1");
  expect_sound(to);
}

TEST_F(SomeCopyTest, ARowThatNoCursorReads) {
  Connection from = open(Kind::kOurs, "from.db");
  EXPECT_SQL_OK(from,
                "CREATE TABLE t(a, b); INSERT INTO t VALUES(1, zeroblob(70000000)), (2, 'x');"
                "UPDATE t SET b = CAST(b AS TEXT) WHERE a = 2");
  Connection stock = open(Kind::kStockFile, "stock.db");
  Connection ours = open(Kind::kOurs, "ours.db");
  copy(stock, from);
  copy(ours, stock);
  EXPECT_EQ(difference(from, ours), "");
  EXPECT_EQ(ours.rows("SELECT a, length(b) FROM t"),
            (std::vector<std::string>{"i1|i70000000", "i2|i1"}));
}

TEST_F(SomeCopyTest, DifferencesAreFound) {
  Connection one = open(Kind::kOurs, "one.db");
  Connection other(":memory:");
  fill(one, 60);
  HwCompared counted;
  const auto differs = [&](const std::string& sql) {
    copy(other, one);
    EXPECT_EQ(difference(one, other, &counted), "");
    EXPECT_SQL_OK(other, sql);
    return difference(one, other);
  };
  EXPECT_EQ(differs("UPDATE numbers SET v = 1.0 WHERE i = 0"),
            "code 20: numbers: row 0, and row 0 of the copy");
  EXPECT_GT(counted.rows, 150);
  EXPECT_GE(counted.indexes, 5);
  EXPECT_GT(counted.bytes, 10'000);
  EXPECT_EQ(differs("UPDATE numbers SET i = 4 WHERE i = 3"),
            "code 20: numbers: row 3, and row 4 of the copy");
  EXPECT_EQ(differs("DELETE FROM numbers WHERE i > 3"),
            "code 20: numbers: the source has more than 4 entries");
  EXPECT_EQ(differs("INSERT INTO empty VALUES(1, 2)"),
            "code 20: empty: the copy has more than 0 entries");
  EXPECT_EQ(differs("PRAGMA user_version = 8"), "code 20: user_version: 7, and 8");
  EXPECT_EQ(differs("DROP VIEW v"), "code 20: sqlite_schema: row 13, and row 14 of the copy");
  EXPECT_EQ(differs("PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = "
                    "replace(sql, 'b IS NOT NULL', 'b IS NULL') WHERE name = 't_part'; PRAGMA "
                    "writable_schema = RESET; REINDEX t_part; PRAGMA writable_schema = ON; UPDATE "
                    "sqlite_schema SET sql = replace(sql, 'b IS NULL', 'b IS NOT NULL') WHERE name "
                    "= 't_part'"),
            "code 20: t_part: entry 1");
}

// Whose entries a program has none of is what it was.
TEST_F(SomeCopyTest, AFullDisk) {
  const auto make = [this] {
    Connection from = open(Kind::kStockFile, "from.db");
    fill(from, 2000);
    Connection to = open(Kind::kOurs, "to.db");
    return to.code("CREATE TABLE old(a); INSERT INTO old VALUES(1)");
  };
  ASSERT_EQ(in_child(make), SQLITE_OK);
  const auto run = [this] {
    signal(SIGXFSZ, SIG_IGN);
    Connection from = open(Kind::kStockFile, "from.db");
    Connection to = open(Kind::kOurs, "to.db");
    const rlimit limit = {200'000, 200'000};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return 100;
    Backup backup(to, from);
    int code = SQLITE_OK;
    while (code == SQLITE_OK) code = backup.step(50);
    if (backup.finish() != code) return 101;
    return code & 0xff;
  };
  const int code = in_child(run);
  EXPECT_TRUE(code == SQLITE_FULL || code == SQLITE_IOERR) << code;
  Connection to = open(Kind::kOurs, "to.db");
  EXPECT_EQ(to.rows("SELECT name, (SELECT a FROM old) FROM sqlite_schema"),
            std::vector<std::string>{"t'old'|i1"});
  expect_sound(to);
}

// A process that copies one of two databases after the other is killed: one of them is there.
class KilledCopyTest : public CopyTestBase,
                       public ::testing::WithParamInterface<std::tuple<Kind, Kind>> {};

TEST_P(KilledCopyTest, OneOfThemIsThere) {
  const auto [from_kind, to_kind] = GetParam();
  struct Made {
    std::atomic<uint64_t> count = 0;
  };
  SharedWithChildren<Made> made;
  std::vector<std::string> content[2];
  for (int i = 0; i < 2; ++i) {
    Connection from = open(from_kind, "from" + std::to_string(i));
    fill(from, 200);
    EXPECT_SQL_OK(from, "UPDATE t SET b = " + std::to_string(i));
    content[i] = all_of(from);
  }
  {
    Connection from = open(from_kind, "from0");
    Connection to = open(to_kind, "to.db");
    copy(to, from);
  }
  std::mt19937 random(5);
  for (int round = 0; round < 6 && !HasFailure(); ++round) {
    kill_in_the_middle(random, round, made->count, [&] {
      Connection from[2] = {open(from_kind, "from0"), open(from_kind, "from1")};
      Connection to = open(to_kind, "to.db");
      for (;; ++made->count) {
        Backup backup(to, from[made->count % 2]);
        int code = SQLITE_OK;
        while (code == SQLITE_OK) code = backup.step(10);
        if (code != SQLITE_DONE || backup.finish() != SQLITE_OK) _exit(2);
      }
    });
    if (HasFailure()) return;
    Connection to = open(to_kind, "to.db");
    const std::vector<std::string> there = all_of(to);
    EXPECT_TRUE(there == content[0] || there == content[1]);
    expect_sound(to);
  }
  EXPECT_GT(made->count.load(), 0U);
}

INSTANTIATE_TEST_SUITE_P(Copy, KilledCopyTest,
                         ::testing::Values(std::tuple(Kind::kOurs, Kind::kOurs),
                                           std::tuple(Kind::kOurs, Kind::kStockFile),
                                           std::tuple(Kind::kStockFile, Kind::kOurs)),
                         [](const auto& each) {
                           return kind_name(std::get<0>(each.param)) + "To" +
                                  kind_name(std::get<1>(each.param));
                         });

}  // namespace
}  // namespace hawthorn::sqlite::copy_test
