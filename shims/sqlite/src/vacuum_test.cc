// VACUUM INTO, sqlite3_serialize and sqlite3_deserialize, and what the pragmas about free space
// answer.

#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "shims/sqlite/src/copy_test_support.h"

namespace hawthorn::sqlite::vacuum_test {
namespace {

class VacuumTest : public CopyTestBase {
 protected:
  static std::string content_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  // Rows as VACUUM orders sqlite_schema.
  static std::vector<std::string> rows_of(Connection& connection) {
    std::vector<std::string> rows =
        connection.rows("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name");
    for (const char* sql : {"SELECT * FROM t", "SELECT * FROM w", "SELECT * FROM numbers",
                            "SELECT * FROM f", "SELECT * FROM r", "PRAGMA user_version"}) {
      for (std::string& row : connection.rows(sql)) rows.push_back(std::move(row));
    }
    return rows;
  }
};

TEST_F(VacuumTest, Into) {
  for (const Kind from_kind : {Kind::kOurs, Kind::kStockFile, Kind::kStockMemory}) {
    SCOPED_TRACE(kind_name(from_kind));
    Connection from = open(from_kind, "from." + kind_name(from_kind));
    fill(from, 100);
    for (const Kind to_kind : {Kind::kOurs, Kind::kStockFile}) {
      SCOPED_TRACE(kind_name(to_kind));
      const std::string file = kind_name(from_kind) + ".to." + kind_name(to_kind);
      const std::string into = "VACUUM INTO '" + name_of(to_kind, file) + "'";
      EXPECT_SQL_OK(from, into);
      EXPECT_EQ(content_of(path(file)).starts_with("SQLite format 3"), to_kind != Kind::kOurs);
      const Answer again = from.run(into);
      EXPECT_EQ(again.code, SQLITE_ERROR);
      EXPECT_EQ(again.message, "output file already exists");
      Connection to(path(file));
      EXPECT_EQ(rows_of(to), rows_of(from));
      expect_sound(to);
    }
  }
}

TEST_F(VacuumTest, IntoWhatIsEmpty) {
  Connection from(path_);
  fill(from, 20);
  std::ofstream(path("file.db")).close();
  EXPECT_SQL_OK(from, "VACUUM INTO '" + path("file.db") + "'");
  {
    Connection made(path("made.db"));
    EXPECT_SQL_OK(from, "VACUUM INTO '" + path("made.db") + "'");
    EXPECT_EQ(rows_of(made), rows_of(from));
  }
  // Anything that was ever written counts, as a file of SQLite's has bytes then.
  for (const char* sql : {"PRAGMA user_version = 1", "CREATE TABLE a(b); DROP TABLE a",
                          "PRAGMA journal_mode = WAL"}) {
    SCOPED_TRACE(sql);
    const std::string target = path("touched" + std::to_string(sql[7]) + ".db");
    Connection(target).rows(sql);
    EXPECT_EQ(from.run("VACUUM INTO '" + target + "'").message, "output file already exists");
  }
  std::ofstream(path("other.db")) << "something else that is there";
  EXPECT_NE(from.code("VACUUM INTO '" + path("other.db") + "'"), SQLITE_OK);
  EXPECT_EQ(content_of(path("other.db")), "something else that is there");
  EXPECT_EQ(from.run("VACUUM INTO NULL").message, "non-text filename");
}

TEST_F(VacuumTest, OfADatabaseForReading) {
  {
    Connection from(path_);
    fill(from, 20);
  }
  Connection from;
  ASSERT_EQ(from.open(path_, SQLITE_OPEN_READONLY), SQLITE_OK);
  EXPECT_SQL_OK(from, "VACUUM INTO '" + path("to.db") + "'");
  Connection to(path("to.db"));
  EXPECT_EQ(rows_of(to), rows_of(from));
}

TEST_F(VacuumTest, ThereIsNoFreeSpaceToBeGivenBack) {
  Connection ours(path_);
  fill(ours, 100);
  EXPECT_SQL_OK(ours, "DELETE FROM t; DROP TABLE w");
  for (const char* mode : {"FULL", "INCREMENTAL", "NONE"}) {
    EXPECT_SQL_OK(ours, std::string("PRAGMA auto_vacuum = ") + mode);
    EXPECT_EQ(ours.value("PRAGMA auto_vacuum"), "i0") << "without a vacuum";
  }
  EXPECT_EQ(ours.value("PRAGMA freelist_count"), "i0");
  EXPECT_EQ(ours.rows("PRAGMA incremental_vacuum").size(), 0U);
  EXPECT_EQ(ours.rows("PRAGMA incremental_vacuum(10)").size(), 0U);
  EXPECT_EQ(ours.value("PRAGMA freelist_count"), "i0");
  EXPECT_SQL_OK(ours, "PRAGMA auto_vacuum = FULL; VACUUM");
  EXPECT_EQ(ours.value("PRAGMA auto_vacuum"), "i1");
  EXPECT_EQ(ours.value("PRAGMA freelist_count"), "i0");
  expect_sound(ours);
  // A copy of SQLite's kind has what was asked for.
  EXPECT_SQL_OK(ours, "PRAGMA auto_vacuum = FULL; PRAGMA page_size = 8192");
  EXPECT_SQL_OK(ours, "VACUUM INTO '" + name_of(Kind::kStockFile, "stock.db") + "'");
  Connection stock(path("stock.db"));
  EXPECT_EQ(stock.value("PRAGMA auto_vacuum"), "i1");
  expect_sound(stock);
}

class SerializeTest : public CopyTestBase {
 protected:
  static std::string bytes_of(Connection& from, const char* schema = "main") {
    sqlite3_int64 size = -2;
    unsigned char* bytes = sqlite3_serialize(from.get(), schema, &size, 0);
    EXPECT_NE(bytes, nullptr);
    std::string copy(reinterpret_cast<char*>(bytes), bytes == nullptr ? 0 : size_t(size));
    sqlite3_free(bytes);
    return copy;
  }
  static void take(Connection& to, const std::string& bytes) {
    auto* own = static_cast<unsigned char*>(sqlite3_malloc64(bytes.size()));
    memcpy(own, bytes.data(), bytes.size());
    ASSERT_EQ(sqlite3_deserialize(to.get(), "main", own, sqlite3_int64(bytes.size()),
                                  sqlite3_int64(bytes.size()),
                                  SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE),
              SQLITE_OK);
  }
};

TEST_F(SerializeTest, ThereAndBack) {
  for (const char* encoding : {"UTF-8", "UTF-16le"}) {
    Connection from = open(Kind::kOurs, encoding);
    EXPECT_SQL_OK(from, std::string("PRAGMA encoding = '") + encoding + "'");
    EXPECT_SQL_OK(from, "PRAGMA journal_mode = WAL");
    fill(from, 300);
    const std::string bytes = bytes_of(from);
    EXPECT_TRUE(bytes.starts_with("SQLite format 3"));
    EXPECT_EQ(bytes.size() % 4096, 0U);
    Connection memory(":memory:");
    take(memory, bytes);
    EXPECT_EQ(difference(from, memory), "");
    EXPECT_EQ(all_of(memory), all_of(from));
    expect_sound(memory);
    EXPECT_SQL_OK(memory, "INSERT INTO t(a) VALUES('more')");
    // It is a file as well.
    const std::string file = path(std::string("file.") + encoding);
    std::ofstream(file, std::ios::binary) << bytes;
    Connection stock(file);
    EXPECT_EQ(difference(from, stock), "");
    // And what came into memory goes back.
    Connection back = open(Kind::kOurs, std::string("back.") + encoding);
    copy(back, memory);
    EXPECT_EQ(difference(memory, back), "");
    expect_sound(back);
  }
}

TEST_F(SerializeTest, InATransactionWhatThatHasWritten) {
  Connection from(path_);
  Connection other(path_);
  EXPECT_SQL_OK(from, "CREATE TABLE t(a); INSERT INTO t VALUES(1)");
  EXPECT_SQL_OK(from, "BEGIN; INSERT INTO t VALUES(2); CREATE TABLE u AS SELECT 3 AS b");
  Statement reads(from, "SELECT a FROM t");
  EXPECT_EQ(reads.step(), SQLITE_ROW);
  Connection memory(":memory:");
  take(memory, bytes_of(from));
  EXPECT_EQ(memory.rows("SELECT a FROM t UNION ALL SELECT b FROM u"),
            (std::vector<std::string>{"i1", "i2", "i3"}));
  EXPECT_EQ(reads.step(), SQLITE_ROW);
  EXPECT_EQ(reads.row(), "i2");
  reads.reset();
  Connection committed(":memory:");
  take(committed, bytes_of(other));
  EXPECT_EQ(committed.rows("SELECT a FROM t"), std::vector<std::string>{"i1"});
  EXPECT_SQL_OK(from, "COMMIT");
  // The schema that the connection knows is an old one.
  Connection later(":memory:");
  take(later, bytes_of(other));
  EXPECT_EQ(later.value("SELECT b FROM u"), "i3");
  expect_sound(later);
}

TEST_F(SerializeTest, WhatThereIsNoCopyOf) {
  Connection from(path_);
  EXPECT_SQL_OK(from, "CREATE TABLE t(a); INSERT INTO t VALUES(1)");
  sqlite3_int64 size = -2;
  EXPECT_EQ(sqlite3_serialize(from.get(), "main", &size, SQLITE_SERIALIZE_NOCOPY), nullptr);
  EXPECT_EQ(size, -1);
  EXPECT_EQ(sqlite3_serialize(from.get(), "nothing", &size, 0), nullptr);
  EXPECT_EQ(size, -1);
  EXPECT_SQL_OK(from, "ATTACH '" + path("aux.db") + "' AS aux; CREATE TABLE aux.u(b)");
  Connection memory(":memory:");
  take(memory, bytes_of(from, "aux"));
  EXPECT_EQ(memory.value("SELECT sql FROM sqlite_schema"), "t'CREATE TABLE u(b)'");
  take(memory, bytes_of(from, nullptr));
  EXPECT_EQ(memory.value("SELECT a FROM t"), "i1");
  Connection empty(path("empty.db"));
  take(memory, bytes_of(empty));
  EXPECT_EQ(memory.rows("SELECT * FROM sqlite_schema").size(), 0U);
}

TEST_F(SerializeTest, OutOfMemory) {
  Connection from(path_);
  fill(from, 200);
  int refused = 0;
  unsigned char* bytes = nullptr;
  for (int64_t more = 0; bytes == nullptr && more < 8'000'000; more += 1 + more * 2 / 3) {
    sqlite3_hard_heap_limit64(sqlite3_memory_used() + more);
    sqlite3_int64 size = 0;
    bytes = sqlite3_serialize(from.get(), "main", &size, 0);
    sqlite3_hard_heap_limit64(0);
    if (bytes == nullptr) ++refused;
  }
  EXPECT_NE(bytes, nullptr);
  EXPECT_GT(refused, 3);
  sqlite3_free(bytes);
  expect_sound(from);
}

}  // namespace
}  // namespace hawthorn::sqlite::vacuum_test
