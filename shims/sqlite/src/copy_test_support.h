#pragma once
// Databases with something of everything, copies of them, and what is in them in a form that
// compares.
//
// Used by tests. Threads: one.

#include <cstdint>
#include <string>
#include <vector>

#include "shims/sqlite/src/copies.h"
#include "shims/sqlite/src/sqlite_test_support.h"

namespace hawthorn::sqlite {

// Whose B-tree a database lies in.
enum class Kind : uint8_t { kOurs, kStockFile, kStockMemory };

inline std::string kind_name(Kind kind) {
  switch (kind) {
    case Kind::kOurs:
      return "Ours";
    case Kind::kStockFile:
      return "StockFile";
    default:
      return "StockMemory";
  }
}

// Tables and indexes of every kind, with entries that fill pages, and some that fill many.
inline void fill(Connection& connection, int rows) {
  const std::string count = std::to_string(rows);
  EXPECT_SQL_OK(connection, "PRAGMA user_version = 7; PRAGMA application_id = 4711");
  EXPECT_SQL_OK(connection, "BEGIN");
  EXPECT_SQL_OK(connection,
                "CREATE TABLE t(id INTEGER PRIMARY KEY AUTOINCREMENT, a TEXT COLLATE NOCASE, b, "
                "g AS (a || 'x'), h AS (id + 1) STORED UNIQUE);"
                "CREATE INDEX t_a ON t(a DESC, b);"
                "CREATE INDEX t_part ON t(length(b)) WHERE b IS NOT NULL;"
                "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < " +
                    count +
                    ") INSERT INTO t(a, b) SELECT 'Name' || (i % 50), CASE i % 5 WHEN 0 THEN NULL "
                    "WHEN 1 THEN i * 1.5 WHEN 2 THEN zeroblob(i % 3000) WHEN 3 THEN i ELSE "
                    "'text \u00e4\u20ac ' || i END FROM c");
  EXPECT_SQL_OK(connection,
                "CREATE TABLE w(k TEXT COLLATE RTRIM, v ANY, n, PRIMARY KEY(k DESC, v)) WITHOUT "
                "ROWID; CREATE UNIQUE INDEX w_n ON w(n);"
                "INSERT INTO w SELECT a || id, b, id FROM t WHERE b IS NOT NULL");
  EXPECT_SQL_OK(
      connection,
      "CREATE TABLE \"odd \"\"name' 100% \u00e4\"(\"a b\" PRIMARY KEY, [select]);"
      "INSERT INTO \"odd \"\"name' 100% \u00e4\" VALUES('k', zeroblob(300000)), (1, 2.0), "
      "(x'00', NULL), (2.0, '')");
  EXPECT_SQL_OK(connection,
                "CREATE TABLE numbers(i INTEGER PRIMARY KEY, v); INSERT INTO numbers VALUES"
                "(-9223372036854775807, 9223372036854775807), (0, -0.0), (1, 1e308), (3, ''), "
                "(9223372036854775807, x'')");
  EXPECT_SQL_OK(connection,
                "CREATE TABLE empty(a, b UNIQUE); CREATE TABLE gone(a); DROP TABLE gone;"
                "CREATE VIEW v AS SELECT a, count(*) FROM t GROUP BY a;"
                "CREATE TRIGGER tr AFTER INSERT ON numbers BEGIN UPDATE t SET a = a; END");
  EXPECT_SQL_OK(connection,
                "CREATE VIRTUAL TABLE f USING fts5(x); INSERT INTO f SELECT a || ' word' FROM t;"
                "CREATE VIRTUAL TABLE r USING rtree(id, x0, x1);"
                "INSERT INTO r SELECT id, id, id + 1.5 FROM t WHERE id % 7 = 0");
  EXPECT_SQL_OK(connection, "COMMIT; ANALYZE");
}

// All rows of all tables, and what the database says of itself.
inline std::vector<std::string> all_of(Connection& connection) {
  std::vector<std::string> all = connection.rows(
      "SELECT type, name, tbl_name, rootpage > 0, sql FROM sqlite_schema ORDER BY rowid");
  for (const char* pragma : {"user_version", "application_id", "encoding"}) {
    all.push_back(connection.value(std::string("PRAGMA ") + pragma));
  }
  Statement tables(
      connection,
      "SELECT l.name, l.wr FROM pragma_table_list l WHERE l.schema = 'main' AND l.type "
      "IN ('table', 'shadow') AND l.name NOT LIKE 'sqlite_schema' ORDER BY l.name");
  while (tables.step() == SQLITE_ROW) {
    const std::string name = reinterpret_cast<const char*>(sqlite3_column_text(tables.get(), 0));
    const bool has_rows = sqlite3_column_int(tables.get(), 1) == 0;
    std::string quoted = "\"";
    for (const char c : name) quoted += c == '"' ? "\"\"" : std::string(1, c);
    quoted += '"';
    all.push_back("-- " + name);
    for (std::string& row : connection.rows("SELECT " + std::string(has_rows ? "_rowid_, " : "") +
                                            "* FROM main." + quoted)) {
      all.push_back(std::move(row));
    }
  }
  return all;
}

// Entry by entry, indexes too. What differs, or nothing.
inline std::string difference(Connection& one, Connection& other, HwCompared* out = nullptr) {
  HwCompared counted;
  char* what = nullptr;
  const int code = hw_compare(one.get(), "main", other.get(), "main",
                              out != nullptr ? out : &counted, &what, nullptr, nullptr);
  std::string said = what != nullptr ? what : "";
  sqlite3_free(what);
  if (code == SQLITE_OK) return said;
  return "code " + std::to_string(code) + ": " + said;
}

class Backup {
 public:
  Backup(Connection& to, Connection& from, const char* to_name = "main",
         const char* from_name = "main")
      : backup_(sqlite3_backup_init(to.get(), to_name, from.get(), from_name)) {}
  ~Backup() { finish(); }
  Backup(const Backup&) = delete;
  Backup& operator=(const Backup&) = delete;

  bool begun() const { return backup_ != nullptr; }
  int step(int pages) { return sqlite3_backup_step(backup_, pages); }
  int remaining() { return sqlite3_backup_remaining(backup_); }
  int pages() { return sqlite3_backup_pagecount(backup_); }
  int finish() { return sqlite3_backup_finish(std::exchange(backup_, nullptr)); }

 private:
  sqlite3_backup* backup_;
};

inline void copy(Connection& to, Connection& from) {
  Backup backup(to, from);
  ASSERT_TRUE(backup.begun()) << to.message();
  EXPECT_EQ(backup.step(-1), SQLITE_DONE);
  EXPECT_EQ(backup.remaining(), 0);
  EXPECT_EQ(backup.finish(), SQLITE_OK) << to.message();
}

class CopyTestBase : public SqliteTest {
 protected:
  std::string name_of(Kind kind, const std::string& name) const {
    if (kind == Kind::kStockMemory) return ":memory:";
    return kind == Kind::kOurs ? path(name) : "file:" + path(name) + "?hawthorn=0";
  }
  Connection open(Kind kind, const std::string& name) const {
    return Connection(name_of(kind, name));
  }
};

}  // namespace hawthorn::sqlite
