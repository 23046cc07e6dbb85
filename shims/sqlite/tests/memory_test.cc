// Where the backend finds no memory, SQLite's functions answer SQLITE_NOMEM: nothing is thrown or
// hangs, what was committed is there, and all works again.

#include <sqlite3.h>

#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>

#include "shims/directory_test_support.h"
#include "shims/memory_test_support.h"

namespace hawthorn::sqlite {
namespace {

using tests::Refuse;
using tests::refuse_each;
using tests::Undisturbed;

class SqliteMemory : public ::testing::Test {
 protected:
  SqliteMemory() {
    directory_ = make_test_directory();
    path_ = directory_ + "/db";
  }
  ~SqliteMemory() override {
    EXPECT_EQ(sqlite3_close(db_), SQLITE_OK);
    std::filesystem::remove_all(directory_);
  }
  void SetUp() override {
    ASSERT_EQ(sqlite3_open(path_.c_str(), &db_), SQLITE_OK);
    ASSERT_EQ(run("PRAGMA synchronous = OFF"), SQLITE_OK);
    ASSERT_EQ(run("CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT, c TEXT)"), SQLITE_OK);
    ASSERT_EQ(run("CREATE INDEX by_b ON t(b, a)"), SQLITE_OK);
    ASSERT_EQ(run("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60) "
                  "INSERT INTO t SELECT i, 'a text that is longer than a short string ' || i, "
                  "zeroblob(300) FROM n"),
              SQLITE_OK);
  }
  int run(const char* sql) { return run(db_, sql); }
  static int run(sqlite3* db, const char* sql) {
    return sqlite3_exec(db, sql, nullptr, nullptr, nullptr);
  }
  // The one number that a query gives.
  int64_t number(const char* sql) {
    const Undisturbed look;
    int64_t result = -1;
    const int code = sqlite3_exec(
        db_, sql,
        [](void* to, int, char** values, char**) {
          *static_cast<int64_t*>(to) =
              values[0] != nullptr ? std::strtoll(values[0], nullptr, 10) : -2;
          return 0;
        },
        &result, nullptr);
    EXPECT_EQ(code, SQLITE_OK) << sql << ": " << sqlite3_errmsg(db_);
    return result;
  }
  void expect_all_there() {
    EXPECT_EQ(number("SELECT count(*) FROM t WHERE a <= 60 AND length(c) = 300"), 60);
    EXPECT_EQ(number("SELECT count(*) FROM t INDEXED BY by_b WHERE b >= 'a text'"), 60);
    EXPECT_EQ(number("SELECT count(*) FROM pragma_integrity_check WHERE integrity_check = 'ok'"),
              1);
  }
  static int open(const std::string& path) {
    sqlite3* db = nullptr;
    int code = sqlite3_open(path.c_str(), &db);
    if (code == SQLITE_OK) code = run(db, "SELECT * FROM sqlite_schema");
    if (code == SQLITE_OK) code = run(db, "CREATE TABLE IF NOT EXISTS other(a)");
    EXPECT_EQ(sqlite3_close(db), SQLITE_OK);
    return code;
  }
  static void expect_answer(int code, bool refused) {
    EXPECT_TRUE(code == SQLITE_OK || (refused && code == SQLITE_NOMEM)) << sqlite3_errstr(code);
  }
  void refuse(const char* sql) {
    refuse_each(sql, Refuse::kShimHelpless, [&] { return run(sql); }, expect_answer);
    refuse_each(
        sql, Refuse::kAnyMadeUpFor, [&] { return run(sql); },
        [&](int code, bool) { EXPECT_EQ(code, SQLITE_OK) << sqlite3_errmsg(db_); }, 10);
    expect_all_there();
  }
  // What it writes is there where it answered so, and else not at all. `seen` is 1 then, and 0 as
  // long as it is not.
  void refuse_writes(const char* sql, const char* seen, const char* undo) {
    refuse_each(
        sql, Refuse::kShimHelpless,
        [&] {
          {
            const Undisturbed before;
            EXPECT_EQ(run(undo), SQLITE_OK) << sqlite3_errmsg(db_);
          }
          const int code = run(sql);
          const Undisturbed after;
          if (sqlite3_get_autocommit(db_) == 0) {
            EXPECT_EQ(run("ROLLBACK"), SQLITE_OK);
          }
          return code;
        },
        [&](int code, bool refused) {
          expect_answer(code, refused);
          EXPECT_EQ(number(seen), code == SQLITE_OK ? 1 : 0);
        });
    EXPECT_EQ(run(undo), SQLITE_OK);
    expect_all_there();
  }

  std::string directory_;
  std::string path_;
  sqlite3* db_ = nullptr;
};

// What is made may stand in the place of what a killed process has left, for which a directory is
// read.
TEST_F(SqliteMemory, a_new_database) {
  int made = 0;
  refuse_each(
      "a new one", Refuse::kShimHelpless,
      [&] { return open(directory_ + "/another database " + std::to_string(made++)); },
      expect_answer);
  expect_all_there();
}

TEST_F(SqliteMemory, opens) {
  const std::string other = directory_ + "/another database";
  ASSERT_EQ(open(other), SQLITE_OK);
  refuse_each(
      "one that is there", Refuse::kShimHelpless, [&] { return open(other); }, expect_answer);
  refuse_each(
      "one that is open", Refuse::kShimHelpless, [&] { return open(path_); }, expect_answer);
  expect_all_there();
}

TEST_F(SqliteMemory, reads) {
  refuse("SELECT a, b, c FROM t WHERE a = 7");
  refuse("SELECT a, b, c FROM t ORDER BY a DESC");
  refuse("SELECT c FROM t INDEXED BY by_b WHERE b > 'a text that is longer' ORDER BY b");
  refuse("SELECT count(*), max(a), min(b) FROM t");
  refuse("PRAGMA integrity_check");
}

TEST_F(SqliteMemory, writes) {
  const char* const undo = "DELETE FROM t WHERE a > 60";
  const char* const seen = "SELECT count(*) FROM t WHERE a = 61";
  refuse_writes("INSERT INTO t VALUES(61, 'a text that is longer than a short string 61', 'c')",
                seen, undo);
  refuse_writes(
      "BEGIN; INSERT INTO t VALUES(62, 'a text that is longer than a short string', 'c'); "
      "SAVEPOINT s; UPDATE t SET b = b || 'x' WHERE a > 55; ROLLBACK TO s; "
      "UPDATE t SET a = 61 WHERE a = 62; DELETE FROM t WHERE b = 'none'; COMMIT",
      seen, undo);
  refuse_writes("INSERT INTO t SELECT a + 60, b, c FROM t WHERE a <= 20", seen, undo);
  refuse_writes("CREATE TABLE more(a TEXT PRIMARY KEY); INSERT INTO t VALUES(61, 'b', 'c')", seen,
                "DROP TABLE IF EXISTS more; DELETE FROM t WHERE a > 60");
}

TEST_F(SqliteMemory, collations_of_a_program) {
  const auto backwards = [](void*, int a_size, const void* a, int b_size, const void* b) {
    const std::string_view first(static_cast<const char*>(a), static_cast<size_t>(a_size));
    return std::string_view(static_cast<const char*>(b), static_cast<size_t>(b_size))
        .compare(first);
  };
  ASSERT_EQ(sqlite3_create_collation(db_, "backwards", SQLITE_UTF8, nullptr, backwards), SQLITE_OK);
  ASSERT_EQ(run("CREATE INDEX backwards_b ON t(b COLLATE backwards)"), SQLITE_OK);
  refuse("SELECT a FROM t INDEXED BY backwards_b ORDER BY b COLLATE backwards");
  refuse_writes("INSERT INTO t VALUES(61, 'a text that is longer than a short string 61', 'c')",
                "SELECT count(*) FROM t INDEXED BY backwards_b WHERE b COLLATE backwards = "
                "'a text that is longer than a short string 61'",
                "DELETE FROM t WHERE a > 60");
}

TEST_F(SqliteMemory, commits_of_two_databases) {
  const std::string attach = "ATTACH '" + directory_ + "/other' AS other";
  ASSERT_EQ(run(attach.c_str()), SQLITE_OK);
  ASSERT_EQ(run("CREATE TABLE other.u(a INTEGER PRIMARY KEY, b TEXT)"), SQLITE_OK);
  refuse_writes(
      "BEGIN; INSERT INTO t VALUES(61, 'b', 'c'); "
      "INSERT INTO other.u VALUES(61, 'a text that is longer than a short string'); COMMIT",
      "SELECT CASE (SELECT count(*) FROM t WHERE a = 61) + "
      "(SELECT count(*) FROM other.u WHERE a = 61) WHEN 2 THEN 1 WHEN 0 THEN 0 ELSE 9 END",
      "DELETE FROM t WHERE a > 60; DELETE FROM other.u");
}

}  // namespace
}  // namespace hawthorn::sqlite
