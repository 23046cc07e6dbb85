// What pragmas and file controls answer of a database, as SQLite's own files answer it.

#include <array>
#include <string>
#include <vector>

#include "shims/sqlite/src/sqlite_test_support.h"

namespace hawthorn::sqlite::settings_test {
namespace {

// Two connections to a database of ours, and two to one of SQLite's, that are told the same.
class SettingsTest : public SqliteTest {
 protected:
  SettingsTest() { reopen(); }

  void reopen() {
    for (size_t i = 0; i < ours_.size(); ++i) {
      ours_[i] = Connection("file:" + path("ours.db"));
      stock_[i] = Connection("file:" + path("stock.db") + "?hawthorn=0");
    }
  }
  // Of connection 0 or 1.
  void both(size_t number, const std::string& sql) {
    const Answer ours = ours_[number].run(sql);
    const Answer stock = stock_[number].run(sql);
    EXPECT_EQ(ours.code, stock.code) << sql;
    EXPECT_EQ(ours.message, stock.message) << sql;
    EXPECT_EQ(ours.rows, stock.rows) << sql;
  }
  static unsigned version(const Connection& connection) {
    unsigned version = 0;
    EXPECT_EQ(sqlite3_file_control(connection.get(), "main", SQLITE_FCNTL_DATA_VERSION, &version),
              SQLITE_OK);
    return version;
  }

  std::array<Connection, 2> ours_;
  std::array<Connection, 2> stock_;
};

TEST_F(SettingsTest, AutoVacuumIsKeptFromBeforeThereIsATable) {
  for (const char* mode : {"FULL", "INCREMENTAL"}) {
    both(0, "PRAGMA auto_vacuum");
    both(0, std::string("PRAGMA auto_vacuum = ") + mode);
    both(0, "PRAGMA auto_vacuum");
    both(0, "CREATE TABLE t(a); INSERT INTO t VALUES(1)");
    both(1, "SELECT * FROM t; PRAGMA auto_vacuum");
    both(1, "PRAGMA auto_vacuum = NONE; PRAGMA auto_vacuum");
    both(1, "PRAGMA auto_vacuum = INCREMENTAL; PRAGMA auto_vacuum");
    reopen();
    both(0, "SELECT * FROM t; PRAGMA auto_vacuum");
    for (const char* name : {"ours.db", "stock.db"}) std::filesystem::remove(path(name));
    reopen();
  }
}

TEST_F(SettingsTest, AutoVacuumOfTablesChangesByVacuum) {
  both(0, "CREATE TABLE t(a); INSERT INTO t VALUES(1)");
  both(0, "PRAGMA auto_vacuum = FULL; PRAGMA auto_vacuum");
  both(0, "VACUUM; PRAGMA auto_vacuum");
  reopen();
  both(1, "SELECT * FROM t; PRAGMA auto_vacuum");
  both(1, "PRAGMA auto_vacuum = 0; VACUUM; PRAGMA auto_vacuum");
  reopen();
  both(0, "SELECT * FROM t; PRAGMA auto_vacuum; PRAGMA incremental_vacuum(3)");
}

TEST_F(SettingsTest, VacuumChangesTheVersionOfTheSchema) {
  both(0, "CREATE TABLE t(a INTEGER PRIMARY KEY, b); INSERT INTO t VALUES(1, 2), (3, 4)");
  both(1, "PRAGMA schema_version; SELECT * FROM t");
  both(0, "PRAGMA schema_version; VACUUM; PRAGMA schema_version");
  both(1, "PRAGMA schema_version; SELECT * FROM t; PRAGMA data_version");
  both(1, "PRAGMA page_size = 8192; VACUUM; PRAGMA schema_version");
  both(0, "SELECT * FROM t; PRAGMA schema_version; PRAGMA user_version");
  reopen();
  both(0, "PRAGMA schema_version; SELECT * FROM t");
  // Beside one that writes, as far as it can.
  EXPECT_SQL_OK(ours_[1], "BEGIN; INSERT INTO t VALUES(5, 6)");
  const std::string before = ours_[0].value("PRAGMA schema_version");
  EXPECT_SQL_OK(ours_[0], "VACUUM");
  EXPECT_EQ(ours_[0].value("PRAGMA schema_version"), before);
  EXPECT_EQ(ours_[0].code("PRAGMA page_size = 2048; VACUUM"), SQLITE_BUSY);
  EXPECT_SQL_OK(ours_[1], "COMMIT");
}

TEST_F(SettingsTest, PageSizeIsKept) {
  both(0, "PRAGMA page_size; PRAGMA page_size = 8192; PRAGMA page_size");
  both(0, "CREATE TABLE t(a); PRAGMA page_size = 1024; PRAGMA page_size");
  both(1, "SELECT count(*) FROM t; PRAGMA page_size");
  reopen();
  both(0, "SELECT count(*) FROM t; PRAGMA page_size");
  both(0, "PRAGMA page_size = 1000; VACUUM; PRAGMA page_size");
  both(0, "PRAGMA page_size = 2048; VACUUM; PRAGMA page_size");
  both(1, "SELECT count(*) FROM t; PRAGMA page_size");
  both(1, "PRAGMA journal_mode = WAL; PRAGMA page_size = 512; VACUUM; PRAGMA page_size");
  reopen();
  both(0, "SELECT count(*) FROM t; PRAGMA page_size; PRAGMA page_size = 1024; PRAGMA page_size");
}

TEST_F(SettingsTest, PageSizeOfADatabaseThatIsOpenedIsFixed) {
  both(0, "CREATE TABLE t(a)");
  reopen();
  both(0, "SELECT count(*) FROM t; PRAGMA page_size = 2048; PRAGMA page_size");
  both(0, "VACUUM; PRAGMA page_size");
}

TEST_F(SettingsTest, ResetDatabaseEmptiesIt) {
  both(0,
       "CREATE TABLE t(a, b UNIQUE); INSERT INTO t VALUES(1, 2); CREATE VIEW v AS SELECT * FROM t");
  both(0, "CREATE TABLE gone(a); DROP TABLE gone; PRAGMA user_version = 5");
  both(1, "SELECT * FROM v; BEGIN; SELECT * FROM t");
  for (std::array<Connection, 2>* pair : {&ours_, &stock_}) {
    sqlite3* const db = (*pair)[0].get();
    if (pair == &stock_) EXPECT_SQL_OK((*pair)[1], "COMMIT");
    EXPECT_EQ(sqlite3_db_config(db, SQLITE_DBCONFIG_RESET_DATABASE, 1, nullptr), SQLITE_OK);
    EXPECT_SQL_OK((*pair)[0], "VACUUM");
    EXPECT_EQ(sqlite3_db_config(db, SQLITE_DBCONFIG_RESET_DATABASE, 0, nullptr), SQLITE_OK);
  }
  EXPECT_EQ(ours_[1].rows("SELECT * FROM t; COMMIT"), std::vector<std::string>(1, "i1|i2"));
  both(0, "SELECT * FROM sqlite_schema; PRAGMA user_version; PRAGMA integrity_check");
  both(1, "SELECT * FROM sqlite_schema; PRAGMA user_version");
  both(1, "SELECT * FROM t");
  both(1, "CREATE TABLE t(c); INSERT INTO t VALUES(3); SELECT * FROM t");
  both(0, "SELECT * FROM t; PRAGMA integrity_check");
  reopen();
  both(0, "SELECT * FROM t; SELECT count(*) FROM sqlite_schema");
}

TEST_F(SettingsTest, TheFileRefusesWhatItHasNot) {
  sqlite3_file* file = nullptr;
  ASSERT_EQ(sqlite3_file_control(ours_[0].get(), "main", SQLITE_FCNTL_FILE_POINTER, &file),
            SQLITE_OK);
  volatile void* shared = &file;
  EXPECT_EQ(file->pMethods->xShmMap(file, 0, 4096, 1, &shared), SQLITE_IOERR_SHMMAP);
  EXPECT_EQ(shared, nullptr);
  EXPECT_EQ(file->pMethods->xShmLock(file, 0, 1, SQLITE_SHM_LOCK | SQLITE_SHM_EXCLUSIVE),
            SQLITE_IOERR_SHMLOCK);
  file->pMethods->xShmBarrier(file);
  EXPECT_EQ(file->pMethods->xShmUnmap(file, 0), SQLITE_OK);
  void* mapped = &file;
  EXPECT_EQ(file->pMethods->xFetch(file, 0, 4096, &mapped), SQLITE_OK);
  EXPECT_EQ(mapped, nullptr);
}

TEST_F(SettingsTest, LockingModeIsWhatWasAskedFor) {
  both(0, "PRAGMA locking_mode; PRAGMA locking_mode = EXCLUSIVE; PRAGMA locking_mode");
  both(0, "ATTACH ':memory:' AS aux; PRAGMA locking_mode; PRAGMA aux.locking_mode");
  both(0, "PRAGMA main.locking_mode = NORMAL; PRAGMA locking_mode; PRAGMA main.locking_mode");
  both(0, "PRAGMA locking_mode = NORMAL; PRAGMA main.locking_mode");
}

TEST_F(SettingsTest, JournalModeStaysWhileATransactionHasWritten) {
  both(0, "CREATE TABLE t(a)");
  for (const char* mode : {"PERSIST", "TRUNCATE", "MEMORY", "OFF", "DELETE"}) {
    const std::string change = std::string("PRAGMA journal_mode = ") + mode;
    both(0, "BEGIN; INSERT INTO t VALUES(1)");
    both(0, change);
    both(0, "COMMIT; PRAGMA journal_mode");
    both(0, "BEGIN; SELECT count(*) FROM t");
    both(0, change);
    both(0, "COMMIT");
  }
}

TEST_F(SettingsTest, DataVersionCountsFromOne) {
  both(0, "PRAGMA data_version; CREATE TABLE t(a); PRAGMA data_version");
  both(1, "PRAGMA data_version; INSERT INTO t VALUES(1); PRAGMA data_version");
  both(0, "PRAGMA data_version; INSERT INTO t VALUES(2); INSERT INTO t VALUES(3)");
  both(0, "PRAGMA data_version");
  both(1, "BEGIN; PRAGMA data_version");
  both(1, "INSERT INTO t VALUES(4); PRAGMA data_version; COMMIT; PRAGMA data_version");
  both(0, "BEGIN IMMEDIATE; PRAGMA data_version; COMMIT");
}

// It changes by the connection's own commits too, and by those of others when it reads.
TEST_F(SettingsTest, DataVersionOfTheFileControl) {
  both(0, "CREATE TABLE t(a); INSERT INTO t VALUES(1)");
  for (std::array<Connection, 2>* pair : {&ours_, &stock_}) {
    Connection& one = (*pair)[0];
    Connection& two = (*pair)[1];
    const unsigned first = version(one);
    EXPECT_EQ(one.value("SELECT a FROM t"), "i1");
    EXPECT_EQ(version(one), first);
    EXPECT_SQL_OK(one, "UPDATE t SET a = 2");
    const unsigned second = version(one);
    EXPECT_NE(second, first);
    EXPECT_SQL_OK(two, "UPDATE t SET a = 3");
    EXPECT_EQ(version(one), second);
    EXPECT_EQ(one.value("SELECT a FROM t"), "i3");
    EXPECT_NE(version(one), second);
  }
}

TEST_F(SettingsTest, ASmallCacheTakesALargeTransaction) {
  both(0, "PRAGMA cache_size = 10; PRAGMA synchronous = OFF; CREATE TABLE t(x, y, UNIQUE(x, y))");
  both(0,
       "WITH RECURSIVE c(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM c LIMIT 1024)"
       " INSERT INTO t SELECT randomblob(1500), randomblob(1500) FROM c");
  both(0, "BEGIN; UPDATE t SET y = randomblob(1499); COMMIT; SELECT count(*) FROM t");
  both(0, "SELECT count(*) FROM t WHERE length(y) = 1499");
}

struct Heard {
  std::vector<std::string> names;
  std::vector<int> pages;
  int answer = SQLITE_OK;
};

int hear(void* context, sqlite3* /*db*/, const char* name, int pages) {
  auto* heard = static_cast<Heard*>(context);
  heard->names.emplace_back(name);
  heard->pages.push_back(pages);
  return heard->answer;
}

TEST_F(SettingsTest, TheHookHearsOfCommitsInWalMode) {
  for (Connection* connection : {&ours_[0], &stock_[0]}) {
    Connection& one = *connection;
    Heard heard;
    sqlite3_wal_hook(one.get(), hear, &heard);
    EXPECT_SQL_OK(one, "CREATE TABLE t(a); INSERT INTO t VALUES(1)");
    EXPECT_EQ(heard.names.size(), 0U) << "not in WAL mode";
    EXPECT_SQL_OK(one, "PRAGMA journal_mode = WAL");
    EXPECT_EQ(heard.names.size(), 0U) << "the change is none of its commits";
    EXPECT_SQL_OK(one, "INSERT INTO t VALUES(2); SELECT * FROM t");
    EXPECT_SQL_OK(one, "BEGIN; INSERT INTO t VALUES(3); INSERT INTO t VALUES(4)");
    EXPECT_EQ(heard.names, std::vector<std::string>(1, "main"));
    EXPECT_SQL_OK(one, "COMMIT; BEGIN; COMMIT");
    EXPECT_EQ(heard.names.size(), 2U);
    EXPECT_SQL_OK(one, "BEGIN; INSERT INTO t VALUES(5); ROLLBACK");
    EXPECT_EQ(heard.names.size(), 2U);
    EXPECT_SQL_OK(one, "INSERT INTO t VALUES(zeroblob(100000))");
    EXPECT_GT(heard.pages.back(), 20);
    EXPECT_SQL_OK(one, "PRAGMA wal_checkpoint(TRUNCATE); INSERT INTO t VALUES(6)");
    EXPECT_LT(heard.pages.back(), 10);
    heard.answer = SQLITE_CANTOPEN;
    EXPECT_NE(one.code("INSERT INTO t VALUES(7)"), SQLITE_OK);
    EXPECT_EQ(sqlite3_errcode(one.get()), SQLITE_CANTOPEN);
    EXPECT_EQ(one.value("SELECT count(*) FROM t WHERE a = 7"), "i1") << "it is committed";
  }
}

TEST_F(SettingsTest, NameOfTheFileSystem) {
  char* name = nullptr;
  ASSERT_EQ(sqlite3_file_control(ours_[0].get(), "main", SQLITE_FCNTL_VFSNAME, &name), SQLITE_OK);
  EXPECT_STREQ(name, sqlite3_vfs_find(nullptr)->zName);
  sqlite3_free(name);
  EXPECT_EQ(sqlite3_file_control(ours_[0].get(), "main", SQLITE_FCNTL_RESET_CACHE, nullptr),
            SQLITE_OK);
}

}  // namespace
}  // namespace hawthorn::sqlite::settings_test
