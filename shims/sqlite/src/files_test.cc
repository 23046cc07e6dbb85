// Where databases lie (place.h): the file that names a directory, and what is opened as what.

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "shims/kill_test_support.h"
#include "shims/permission_test_support.h"
#include "shims/sqlite/src/database.h"
#include "shims/sqlite/src/files_test_support.h"
#include "testing/scaled.h"
#include "testing/wait.h"

namespace hawthorn::sqlite::files_test {
namespace {

namespace fs = std::filesystem;

constexpr char kFirstLine[] = "Hawthorn database for SQLite\n";

TEST_F(FilesTest, ANewDatabaseIsAFileAndADirectory) {
  make(path_, "one");
  const std::string directory = only_directory(path_);
  EXPECT_EQ(content_of(path_), kFirstLine + fs::path(directory).filename().string() + "\n");
  Connection again(path_);
  EXPECT_EQ(again.value("SELECT * FROM t"), "t'one'");
  EXPECT_EQ(only_directory(path_), directory);
  EXPECT_EQ(std::distance(fs::directory_iterator(directory_), fs::directory_iterator()), 2);
}

TEST_F(FilesTest, AnEmptyFileBecomesADatabase) {
  write_content(path_, "");
  ASSERT_EQ(chmod(path_.c_str(), 0600), 0);
  make(path_, "one");
  EXPECT_TRUE(content_of(path_).starts_with(kFirstLine));
  struct stat status{};
  ASSERT_EQ(stat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600U);
  EXPECT_EQ(Connection(path_).value("SELECT * FROM t"), "t'one'");
}

TEST_F(FilesTest, WhatIsOfADeletedFileGoesWithTheNextOne) {
  make(path_, "old");
  const std::string old = only_directory(path_);
  fs::remove(path_);
  make(path_, "new");
  EXPECT_FALSE(fs::exists(old));
  EXPECT_NE(only_directory(path_), old);
  EXPECT_EQ(Connection(path_).value("SELECT * FROM t"), "t'new'");
}

TEST_F(FilesTest, ADeletedDatabaseThatIsOpenGoesOn) {
  Connection open(path_);
  EXPECT_SQL_OK(open, "CREATE TABLE t(a); INSERT INTO t VALUES('old')");
  const std::string old = only_directory(path_);
  fs::remove(path_);
  make(path_, "new");
  EXPECT_TRUE(fs::exists(old));
  EXPECT_SQL_OK(open, "INSERT INTO t VALUES('more')");
  EXPECT_EQ(open.value("SELECT count(*) FROM t"), "i2");
  EXPECT_EQ(Connection(path_).value("SELECT * FROM t"), "t'new'");
  open.close();
  fs::remove(path_);
  make(path_, "third");
  EXPECT_FALSE(fs::exists(old));
  only_directory(path_);
}

TEST_F(FilesTest, ARenamedFileKeepsItsDirectory) {
  make(path_, "one");
  const std::string directory = only_directory(path_);
  fs::rename(path_, path("renamed.db"));
  // A new one of the old name takes nothing from it.
  make(path_, "two");
  EXPECT_TRUE(fs::exists(directory));
  EXPECT_EQ(Connection(path("renamed.db")).value("SELECT * FROM t"), "t'one'");
  EXPECT_EQ(Connection(path_).value("SELECT * FROM t"), "t'two'");
  fs::remove(path_);
  make(path_, "three");
  EXPECT_EQ(Connection(path("renamed.db")).value("SELECT * FROM t"), "t'one'");
}

TEST_F(FilesTest, ACopyOfAFileIsTheSameDatabase) {
  make(path_, "one");
  fs::copy_file(path_, path("copy.db"));
  Connection one(path_);
  Connection copy(path("copy.db"));
  EXPECT_SQL_OK(copy, "UPDATE t SET a = 'two'");
  EXPECT_EQ(one.value("SELECT * FROM t"), "t'two'");
}

TEST_F(FilesTest, DirectoriesOfOthersStay) {
  const std::vector<std::string> others = {path_ + "-0123456789ab", path_ + "-0123456789abc",
                                           path_ + "-0123", path("test.dbx-0123456789ab")};
  for (const std::string& other : others) {
    fs::create_directory(other);
    write_content(other + "/file", "of somebody");
  }
  make(path_, "one");
  fs::remove(path_);
  make(path_, "two");
  for (const std::string& other : others) EXPECT_EQ(content_of(other + "/file"), "of somebody");
}

TEST_F(FilesTest, NamesThatAreUnusual) {
  fs::create_directory(path("a directory"));
  for (const std::string name : {"a directory/b c.db", "no_suffix", ".hidden", "ünïcode.db",
                                 "100%.db", "a'b\"c.db", "-dash"}) {
    make(path(name), name == "a'b\"c.db" ? "a" : name);
    EXPECT_EQ(Connection(path(name)).rows("SELECT * FROM t").size(), 1U) << name;
    EXPECT_EQ(data_directories(path(name)).size(), 1U) << name;
  }
  const fs::path before = fs::current_path();
  fs::current_path(directory_);
  make("relative.db", "r");
  EXPECT_EQ(Connection(path("relative.db")).value("SELECT * FROM t"), "t'r'");
  EXPECT_EQ(Connection("./a directory/../relative.db").value("SELECT * FROM t"), "t'r'");
  fs::current_path(before);
  fs::create_symlink(path("relative.db"), path("link.db"));
  Connection link(path("link.db"));
  Connection file(path("relative.db"));
  EXPECT_SQL_OK(link, "UPDATE t SET a = 's'");
  EXPECT_EQ(file.value("SELECT * FROM t"), "t's'");
  EXPECT_TRUE(data_directories(path("link.db")).empty());
}

TEST_F(FilesTest, AFileOfSqliteStaysOne) {
  make(uri(path_, "hawthorn=0"), "stock");
  EXPECT_TRUE(is_stock(path_));
  EXPECT_TRUE(data_directories(path_).empty());
  {
    Connection connection(path_);
    EXPECT_EQ(connection.value("SELECT * FROM t"), "t'stock'");
    EXPECT_SQL_OK(connection, "INSERT INTO t VALUES('more'); VACUUM");
    EXPECT_EQ(connection.value("PRAGMA journal_mode"), "t'delete'");
    Connection second(path_);
    EXPECT_SQL_OK(connection, "BEGIN EXCLUSIVE");
    EXPECT_EQ(second.code("SELECT * FROM t"), SQLITE_BUSY) << "as SQLite's own does";
    EXPECT_SQL_OK(connection, "COMMIT");
  }
  EXPECT_TRUE(is_stock(path_));
  EXPECT_TRUE(data_directories(path_).empty());
  Connection ours(path("ours.db"));
  EXPECT_SQL_OK(ours, "ATTACH '" + path_ + "' AS stock; CREATE TABLE t AS SELECT * FROM stock.t");
  EXPECT_SQL_OK(ours, "INSERT INTO stock.t SELECT a || '!' FROM t; DETACH stock");
  EXPECT_EQ(Connection(path_).value("SELECT count(*) FROM t"), "i4");
  EXPECT_EQ(ours.value("SELECT count(*) FROM t"), "i2");
}

TEST_F(FilesTest, TheParameterIsForNewOnes) {
  make(path_, "ours");
  Connection connection(uri(path_, "hawthorn=0"));
  EXPECT_EQ(connection.value("SELECT * FROM t"), "t'ours'") << "what is there decides";
  EXPECT_FALSE(is_stock(path_));
  make(uri(path("new.db"), "hawthorn=1"), "new");
  EXPECT_FALSE(is_stock(path("new.db")));
  only_directory(path("new.db"));
  write_content(path("empty.db"), "");
  make(uri(path("empty.db"), "hawthorn=off"), "stock");
  EXPECT_TRUE(is_stock(path("empty.db")));
  EXPECT_EQ(connection.code("ATTACH '" + uri(path("attached.db"), "hawthorn=0") +
                            "' AS other; CREATE TABLE other.t(a)"),
            SQLITE_OK);
  EXPECT_TRUE(is_stock(path("attached.db")));
}

TEST_F(FilesTest, MemoryAndTemporaryOnesAreSqlites) {
  const fs::path before = fs::current_path();
  fs::current_path(directory_);
  for (const std::string name : {":memory:", "", "file::memory:", "file:shared?mode=memory",
                                 "file:x?mode=memory&cache=shared"}) {
    Connection connection(name);
    EXPECT_SQL_OK(connection, "CREATE TABLE t(a); INSERT INTO t VALUES(1)");
    EXPECT_SQL_OK(connection, "CREATE TEMP TABLE u(a); INSERT INTO u SELECT * FROM t");
    EXPECT_EQ(connection.value("SELECT * FROM u"), "i1");
  }
  fs::current_path(before);
  EXPECT_TRUE(fs::is_empty(directory_));
}

TEST_F(FilesTest, WhatIsOpenedReadOnly) {
  make(path_, "one");
  Connection connection;
  ASSERT_EQ(connection.open(path_, kReadOnly), SQLITE_OK);
  EXPECT_EQ(connection.value("SELECT * FROM t"), "t'one'");
  EXPECT_EQ(connection.code("INSERT INTO t VALUES('two')"), SQLITE_READONLY);
  EXPECT_EQ(connection.code("CREATE TABLE u(a)"), SQLITE_READONLY);
  EXPECT_SQL_OK(connection, "BEGIN IMMEDIATE; ROLLBACK");
  EXPECT_EQ(sqlite3_db_readonly(connection.get(), "main"), 1);
  EXPECT_SQL_OK(connection, "CREATE TEMP TABLE u AS SELECT * FROM t");
  // One that writes, of the same process, at the same time.
  Connection writer;
  ASSERT_EQ(writer.open(path_), SQLITE_OK) << writer.message();
  EXPECT_EQ(sqlite3_db_readonly(writer.get(), "main"), 0);
  EXPECT_SQL_OK(writer, "INSERT INTO t VALUES('two')");
  EXPECT_EQ(connection.value("SELECT count(*) FROM t"), "i2");
  ASSERT_EQ(connection.open(uri(path_, "mode=ro")), SQLITE_OK);
  EXPECT_EQ(connection.code("DELETE FROM t"), SQLITE_READONLY);
}

TEST_F(FilesTest, WhatAnotherUserMayOnlyRead) {
  make(path_, "one");
  set_modes(directory_, 0755, 0644);
  const int failed = run_as_nobody([this] {
    Connection connection;
    if (connection.open(path_) != SQLITE_OK) return 1;
    if (connection.value("SELECT * FROM t") != "t'one'") return 2;
    if (connection.code("INSERT INTO t VALUES('two')") != SQLITE_READONLY) return 3;
    if (sqlite3_db_readonly(connection.get(), "main") != 1) return 4;
    return Connection().open(path("new.db")) == SQLITE_CANTOPEN ? 0 : 5;
  });
  if (failed == kNoOtherUser) GTEST_SKIP() << "needs root";
  EXPECT_EQ(failed, 0);
  set_modes(only_directory(path_), 0700, 0600);
  EXPECT_EQ(run_as_nobody([this] { return Connection().open(path_); }), SQLITE_CANTOPEN);
  Connection connection(path_);
  EXPECT_SQL_OK(connection, "INSERT INTO t VALUES('two')");
}

TEST_F(FilesTest, WhatIsNotThere) {
  Connection connection;
  EXPECT_EQ(connection.open(path_, kReadOnly), SQLITE_CANTOPEN);
  EXPECT_EQ(connection.open(path_, kNoCreate), SQLITE_CANTOPEN);
  EXPECT_EQ(connection.open(uri(path_, "mode=rw")), SQLITE_CANTOPEN);
  EXPECT_EQ(connection.message(), "unable to open database file");
  EXPECT_EQ(connection.open(path("missing/test.db")), SQLITE_CANTOPEN);
  fs::create_directory(path("directory.db"));
  EXPECT_EQ(connection.open(path("directory.db")) & 0xff, SQLITE_CANTOPEN);
  EXPECT_FALSE(fs::exists(path_));
  EXPECT_TRUE(fs::is_empty(path("directory.db")));
  Connection one(path("one.db"));
  EXPECT_EQ(one.code("ATTACH '" + path("missing/test.db") + "' AS other") & 0xff, SQLITE_CANTOPEN);
  EXPECT_SQL_OK(one, "CREATE TABLE t(a)");
}

// A connection whose file was named by a relative path goes on with it wherever the process goes,
// and a large transaction finds room for what it may have to do once more.
TEST_F(FilesTest, GoesOnAfterTheWorkingDirectoryHasChanged) {
  const WorkingDirectory here(directory_);
  Connection connection("test.db");
  ASSERT_SQL_OK(connection, "PRAGMA synchronous = OFF");
  ASSERT_SQL_OK(connection, "CREATE TABLE t(a)");
  const std::string elsewhere = path("elsewhere");
  fs::create_directory(elsewhere);
  const WorkingDirectory there(elsewhere);
  ASSERT_SQL_OK(connection, "ATTACH 'other.db' AS other");
  ASSERT_SQL_OK(connection, "CREATE TABLE other.t(a)");
  const WorkingDirectory back(directory_);
  ASSERT_SQL_OK(connection,
                "BEGIN; WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE "
                "i < 3000) INSERT INTO t SELECT randomblob(1000) FROM n; INSERT INTO other.t "
                "SELECT * FROM t; COMMIT");
  EXPECT_EQ(Connection(path_).value("SELECT count(*) FROM t"), "i3000");
  EXPECT_EQ(Connection(elsewhere + "/other.db").value("SELECT count(*) FROM t"), "i3000");
  EXPECT_FALSE(fs::exists(path("other.db")));
  EXPECT_EQ(std::distance(fs::directory_iterator(elsewhere), fs::directory_iterator()), 2);
}

TEST_F(FilesTest, AFileWhoseDirectoryIsMissing) {
  make(path_, "one");
  const std::string content = content_of(path_);
  fs::remove_all(only_directory(path_));
  Connection connection;
  EXPECT_EQ(connection.open(path_), SQLITE_CANTOPEN);
  EXPECT_EQ(connection.open(path_, kReadOnly), SQLITE_CANTOPEN);
  EXPECT_EQ(content_of(path_), content);
  EXPECT_TRUE(data_directories(path_).empty()) << "it is not made anew";
}

TEST_F(FilesTest, ADirectoryThatIsDamaged) {
  make(path_, "one");
  const std::string directory = only_directory(path_);
  for (const auto& entry : fs::recursive_directory_iterator(directory)) {
    if (!entry.is_regular_file()) continue;
    std::string content = content_of(entry.path().string());
    for (char& c : content) c = static_cast<char>(c ^ 0x55);
    write_content(entry.path().string(), content);
  }
  Connection connection;
  const int code = connection.open(path_) & 0xff;
  EXPECT_TRUE(code == SQLITE_CORRUPT || code == SQLITE_CANTOPEN || code == SQLITE_NOTADB) << code;
  EXPECT_TRUE(fs::exists(directory));
  fs::remove_all(directory);
  fs::create_directory(directory);
  EXPECT_NE(connection.open(path_), SQLITE_OK) << "an empty directory is no database";
  EXPECT_TRUE(fs::is_empty(directory));
}

TEST_F(FilesTest, FilesThatAreNoneOfOurs) {
  make(path_, "one");
  const std::string name = fs::path(only_directory(path_)).filename().string();
  const std::string first = kFirstLine;
  for (const std::string& content :
       {first, first + "\n", first + name, first + "..\n", first + ".\n", first + "/tmp\n",
        first + "../" + fs::path(directory_).filename().string() + "/" + name + "\n",
        first + "a/" + name + "\n", std::string("Hawthorn"), std::string("text"),
        std::string(5000, 'x')}) {
    write_content(path("other.db"), content);
    Connection connection;
    const int opened = connection.open(path("other.db"));
    const int code = opened != SQLITE_OK ? opened : connection.code("SELECT * FROM t");
    EXPECT_TRUE(code == SQLITE_NOTADB || (code & 0xff) == SQLITE_CANTOPEN) << content << code;
    EXPECT_EQ(content_of(path("other.db")), content);
    EXPECT_TRUE(data_directories(path("other.db")).empty());
  }
}

TEST_F(FilesTest, ConnectionsOfAProcessShare) {
  make(path_, "one");
  Connection one(path_);
  Connection two(uri(path_, "cache=shared"));
  Connection three(uri(path_, "cache=private&mode=rw"));
  EXPECT_SQL_OK(one, "INSERT INTO t VALUES('two')");
  EXPECT_SQL_OK(two, "INSERT INTO t VALUES('three')");
  EXPECT_EQ(three.value("SELECT count(*) FROM t"), "i3");
  one.close();
  two.close();
  EXPECT_EQ(three.value("SELECT count(*) FROM t"), "i3");
  // One file under two names of one connection.
  EXPECT_SQL_OK(three, "ATTACH '" + path_ + "' AS again");
  EXPECT_EQ(three.value("SELECT count(*) FROM again.t"), "i3");
}

TEST_F(FilesTest, AnIndexOfOtherColumnsThanAreDeclaredIsDamage) {
  {
    Connection connection(path_);
    EXPECT_SQL_OK(connection,
                  "CREATE TABLE t(a, b, c, d INTEGER PRIMARY KEY); CREATE INDEX i ON t(a, b, c);"
                  "INSERT INTO t VALUES(1, 100, 3, 1000), (4, 101, 6, 1001);"
                  "CREATE TABLE other(a, b, c, d INTEGER PRIMARY KEY); CREATE INDEX o ON other(a);"
                  "PRAGMA writable_schema = on;"
                  "UPDATE sqlite_schema SET sql = 'CREATE INDEX i ON t(a)' WHERE name = 'i'");
  }
  Connection connection(path_);
  for (const char* sql :
       {"INSERT INTO other SELECT * FROM t", "SELECT a FROM t INDEXED BY i WHERE a > 0",
        "SELECT b FROM t INDEXED BY i WHERE a > 0", "SELECT a, d FROM t INDEXED BY i",
        "UPDATE t INDEXED BY i SET b = 5 WHERE a > 0"}) {
    EXPECT_EQ(connection.code(sql), SQLITE_CORRUPT) << sql;
  }
  EXPECT_EQ(connection.value("SELECT count(*) FROM other"), "i0");
}

TEST_F(FilesTest, AConnectionLeavesNoMemoryBehind) {
  {
    Connection first(path_);
  }
  const sqlite3_int64 before = sqlite3_memory_used();
  for (int i = 0; i < 3; ++i) {
    Connection connection(path_);
    EXPECT_SQL_OK(connection, "CREATE TABLE IF NOT EXISTS t(a)");
    EXPECT_GT(sqlite3_memory_used(), before);
  }
  EXPECT_EQ(sqlite3_memory_used(), before);
}

TEST_F(FilesTest, ARootOfTwoTablesIsDroppedOnce) {
  {
    Connection connection(path_);
    EXPECT_SQL_OK(connection,
                  "CREATE TABLE one(a); CREATE TABLE two(a); PRAGMA writable_schema = on;"
                  "UPDATE sqlite_schema SET rootpage = 2");
  }
  Connection connection(path_);
  EXPECT_SQL_OK(connection, "DROP TABLE one");
  EXPECT_EQ(connection.code("DROP TABLE two"), SQLITE_CORRUPT);
}

TEST_F(FilesTest, NamesAreWholePathsBehindSymbolicLinks) {
  for (const char* parameters : {"", "?hawthorn=0"}) {
    const std::string file = path(*parameters == '\0' ? "ours.db" : "stock.db");
    const std::string link = file + ".link";
    EXPECT_SQL_OK(Connection("file:" + file + parameters), "CREATE TABLE t(a)");
    fs::create_symlink(file, link);
    Connection connection("file:" + link + parameters);
    EXPECT_EQ(connection.value("SELECT file FROM pragma_database_list"),
              shown_bytes(fs::canonical(file).string(), true));
    EXPECT_EQ(Connection().open(link, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOFOLLOW),
              SQLITE_CANTOPEN_SYMLINK);
  }
}

// In memory that would not hold what each left, had it left anything.
TEST_F(FilesTest, TablesAreMadeAndDroppedAgainAndAgain) {
  Connection connection(uri(path_, "hawthorn_memory=16777216"));
  EXPECT_SQL_OK(connection, "PRAGMA synchronous = OFF; CREATE TABLE stays(id INTEGER PRIMARY KEY)");
  for (uint64_t i = 0; i < testing::scaled(20000) && !HasFailure(); ++i) {
    EXPECT_SQL_OK(connection,
                  "BEGIN; CREATE TABLE staging(id INTEGER PRIMARY KEY, v); CREATE INDEX of_v ON "
                  "staging(v); INSERT INTO staging(v) VALUES('a'), ('b')");
    EXPECT_SQL_OK(connection, i % 2 == 0 ? "ROLLBACK" : "COMMIT; DROP TABLE staging");
  }
  EXPECT_SQL_OK(connection, "INSERT INTO stays VALUES(1)");
  EXPECT_EQ(connection.value("PRAGMA integrity_check"), "t'ok'");
}

TEST_F(FilesTest, NamesAndParametersAreKept) {
  Connection connection(uri(path_, "first=1&second=two&hawthorn_memory=33554432"));
  const char* name = sqlite3_db_filename(connection.get(), "main");
  ASSERT_NE(name, nullptr);
  EXPECT_EQ(fs::canonical(name), fs::canonical(path_));
  EXPECT_STREQ(sqlite3_uri_parameter(name, "second"), "two");
  EXPECT_EQ(sqlite3_uri_int64(name, "first", 7), 1);
  EXPECT_EQ(sqlite3_uri_int64(name, "third", 7), 7);
  EXPECT_STREQ(sqlite3_uri_key(name, 0), "first");
  EXPECT_EQ(sqlite3_uri_key(name, 3), nullptr);
  EXPECT_SQL_OK(connection, "ATTACH '" + path("second.db") + "' AS second");
  EXPECT_EQ(connection.rows("SELECT name, file FROM pragma_database_list"),
            (std::vector<std::string>{"t'main'|" + shown_bytes(name, true),
                                      "t'second'|" + shown_bytes(path("second.db"), true)}));
  EXPECT_EQ(sqlite3_db_filename(connection.get(), "none"), nullptr);
}

TEST_F(FilesTest, NamesBecomeWholePaths) {
  const fs::path before = fs::current_path();
  fs::current_path(directory_);
  Connection connection("test.db");
  Connection stock("file:stock.db?hawthorn=0");
  fs::current_path(before);
  EXPECT_EQ(sqlite3_db_filename(connection.get(), "main"), fs::canonical(path_));
  EXPECT_EQ(sqlite3_db_filename(stock.get(), "main"), fs::canonical(path("stock.db")));
  EXPECT_EQ(connection.value("SELECT file FROM pragma_database_list"),
            shown_bytes(fs::canonical(path_).string(), true));
}

TEST_F(FilesTest, AnotherProcessIsBusy) {
  if (const char* directory = Rerun::directory()) {
    Connection connection(std::string(directory) + "/test.db");
    ASSERT_SQL_OK(connection, "CREATE TABLE t(a); INSERT INTO t VALUES('of the child')");
    write_content(std::string(directory) + "/ready", "yes");
    for (;;) pause();
  }
  {
    const Rerun child("FilesTest.AnotherProcessIsBusy", directory_);
    while (!fs::exists(path("ready"))) {
      ASSERT_TRUE(child.lives());
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    Connection connection;
    EXPECT_EQ(connection.open(path_) & 0xff, SQLITE_BUSY);
    EXPECT_EQ(connection.message(), "database is locked");
    EXPECT_EQ(connection.open(path_, kReadOnly) & 0xff, SQLITE_BUSY);
    Connection other(path("other.db"));
    EXPECT_EQ(other.code("ATTACH '" + path_ + "' AS busy") & 0xff, SQLITE_BUSY);
    EXPECT_SQL_OK(other, "CREATE TABLE t(a)");
    // Nor is it taken away where its file was deleted.
    fs::rename(path_, path("kept"));
    const std::string directory = only_directory(path_);
    Connection again(path_);
    EXPECT_TRUE(fs::exists(directory));
    again.close();
    fs::remove(path_);
    fs::rename(path("kept"), path_);
  }
  EXPECT_EQ(Connection(path_).value("SELECT * FROM t"), "t'of the child'");
}

TEST_F(FilesTest, ManyMayMakeItAtOnce) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 6; ++i) {
    threads.emplace_back([this, i] {
      Connection connection(path_);
      sqlite3_busy_timeout(connection.get(), testing::kHangLimitMs);
      EXPECT_SQL_OK(connection, "PRAGMA synchronous = OFF; CREATE TABLE IF NOT EXISTS t(a)");
      EXPECT_SQL_OK(connection, "INSERT INTO t VALUES(" + std::to_string(i) + ")");
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(Connection(path_).value("SELECT count(*), sum(a) FROM t"), "i6|i15");
  only_directory(path_);
}

TEST_F(FilesTest, SettingsOfSqlitesOwnStorageAreTaken) {
  Connection connection(path_);
  EXPECT_SQL_OK(connection, "CREATE TABLE t(a)");
  for (const std::string mode : {"WAL", "DELETE", "MEMORY", "TRUNCATE"}) {
    EXPECT_EQ(connection.code("PRAGMA journal_mode = " + mode), SQLITE_OK) << mode;
    EXPECT_SQL_OK(connection, "INSERT INTO t VALUES(1)");
  }
  EXPECT_SQL_OK(connection, "PRAGMA wal_checkpoint(TRUNCATE); PRAGMA locking_mode = EXCLUSIVE");
  EXPECT_SQL_OK(connection, "PRAGMA mmap_size = 1000000; PRAGMA cache_size = 100");
  EXPECT_SQL_OK(connection,
                "PRAGMA auto_vacuum = FULL; PRAGMA incremental_vacuum; PRAGMA optimize");
  EXPECT_SQL_OK(connection, "PRAGMA page_size = 8192; VACUUM; PRAGMA page_count");
  EXPECT_EQ(connection.value("SELECT count(*) FROM t"), "i4");
  EXPECT_FALSE(fs::exists(path_ + "-wal"));
  EXPECT_FALSE(fs::exists(path_ + "-journal"));
  connection = Connection(path_);
  EXPECT_EQ(connection.value("SELECT count(*) FROM t"), "i4");
  expect_sound(connection);
}

// Some ask all databases of a connection, of which the temporary one may not be there yet.
TEST_F(FilesTest, PragmasOfAllDatabases) {
  Connection connection(path_);
  EXPECT_EQ(connection.value("PRAGMA secure_delete = 1"), "i0") << "nothing is overwritten";
  EXPECT_EQ(connection.value("PRAGMA journal_mode"), "t'delete'");
  EXPECT_EQ(connection.value("PRAGMA journal_mode = WAL"), "t'wal'");
  Connection another(path_);
  EXPECT_EQ(another.value("PRAGMA journal_mode"), "t'wal'");
  EXPECT_EQ(another.value("PRAGMA journal_mode = DELETE"), "t'delete'");
  EXPECT_SQL_OK(connection,
                "PRAGMA synchronous = NORMAL; PRAGMA cache_size = 10; "
                "PRAGMA wal_checkpoint; PRAGMA optimize; PRAGMA shrink_memory");
  EXPECT_EQ(connection.value("PRAGMA journal_mode"), "t'delete'");
  expect_sound(connection);
}

// ---- Memory

// What the engine says of the database at a path, as long as it is open.
class Engine {
 public:
  explicit Engine(const std::string& path) {
    EXPECT_EQ(Database::open(path, false, false, 0, &database_), SQLITE_OK);
  }
  ~Engine() { Database::release(database_); }
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  uint64_t megabytes() { return database_->db().stats().memory_budget_bytes >> 20; }
  uint64_t syncs() { return database_->db().stats().log_syncs; }

 private:
  Database* database_ = nullptr;
};

TEST_F(FilesTest, ConnectionsAskForCacheTogether) {
  Connection one(path_);
  EXPECT_SQL_OK(one, "CREATE TABLE t(x)");
  Engine budget(path_);
  EXPECT_EQ(budget.megabytes(), 64u);
  EXPECT_SQL_OK(one, "PRAGMA cache_size = -61440");  // 60 MB
  EXPECT_EQ(budget.megabytes(), 100u);
  {
    Connection two(path_);
    EXPECT_SQL_OK(two, "PRAGMA cache_size = 30720");  // pages of 4 KB
    EXPECT_EQ(budget.megabytes(), 300u);
    EXPECT_SQL_OK(two, "PRAGMA cache_size = -61440");
    EXPECT_EQ(budget.megabytes(), 200u);
  }
  EXPECT_EQ(budget.megabytes(), 100u);
  EXPECT_SQL_OK(one, "PRAGMA cache_size = -100");
  EXPECT_EQ(budget.megabytes(), 64u);
  expect_sound(one);
}

TEST_F(FilesTest, AMemoryThatIsGivenStays) {
  Connection one(uri(path_, "hawthorn_memory=33554432"));
  EXPECT_SQL_OK(one, "CREATE TABLE t(x); PRAGMA cache_size = -1000000");
  EXPECT_EQ(Engine(path_).megabytes(), 32u);
  expect_sound(one);
}

// ---- Durability

TEST_F(FilesTest, CommitsAreSyncedAsSynchronousSays) {
  Connection connection(path_);
  EXPECT_SQL_OK(connection, "CREATE TABLE t(x)");
  Engine engine(path_);
  const auto syncs_of = [&](const std::string& settings) {
    EXPECT_SQL_OK(connection, settings);
    const uint64_t before = engine.syncs();
    for (int i = 0; i < 10; ++i) EXPECT_SQL_OK(connection, "INSERT INTO t VALUES(1)");
    // That of a concurrent transaction, too.
    EXPECT_SQL_OK(connection, "BEGIN CONCURRENT; INSERT INTO t VALUES(2); COMMIT");
    return engine.syncs() - before;
  };
  EXPECT_GE(syncs_of("PRAGMA synchronous = FULL"), 11u);
  EXPECT_GE(syncs_of("PRAGMA synchronous = EXTRA"), 11u);
  EXPECT_GE(syncs_of("PRAGMA synchronous = NORMAL"), 11u);
  EXPECT_GE(syncs_of("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL"), 11u);
  EXPECT_EQ(syncs_of("PRAGMA synchronous = OFF"), 0u);
  expect_sound(connection);
}

}  // namespace
}  // namespace hawthorn::sqlite::files_test
