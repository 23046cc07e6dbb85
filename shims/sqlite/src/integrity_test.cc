// What PRAGMA integrity_check says of entries that are damaged: a change of bytes that the engine
// knows nothing of, made through it.

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "shims/sqlite/src/database.h"
#include "shims/sqlite/src/sqlite_test_support.h"

namespace hawthorn::sqlite::integrity_test {
namespace {

using namespace std::string_literals;

struct Entry {
  std::string key;
  std::string value;
};

class IntegrityTest : public SqliteTest {
 protected:
  void SetUp() override {
    connection_ = Connection(path_);
    ASSERT_SQL_OK(connection_,
                  "PRAGMA synchronous = OFF;"
                  "CREATE TABLE t(id INTEGER PRIMARY KEY, a NOT NULL, b);"
                  "CREATE INDEX plain ON t(a, b DESC);"
                  "CREATE UNIQUE INDEX uniq ON t(a);"
                  "CREATE INDEX nocase ON t(a COLLATE NOCASE);"
                  "CREATE TABLE w(k, v, PRIMARY KEY(k DESC)) WITHOUT ROWID;"
                  "INSERT INTO t VALUES(1, 'One', 1.5), (2, 'Two', NULL), (3, 'Three', x'00');"
                  "INSERT INTO w SELECT a, b FROM t");
    ASSERT_EQ(Database::open(path_, false, false, 0, &database_), SQLITE_OK);
  }
  ~IntegrityTest() override {
    if (database_ != nullptr) Database::release(database_);
  }

  Tree tree_of(const std::string& name) {
    const std::string root =
        connection_.value("SELECT rootpage FROM sqlite_schema WHERE name = '" + name + "'");
    Result<Tree> found =
        database_->db().find_tree(tree_name(static_cast<uint32_t>(std::stoul(root.substr(1)))));
    EXPECT_TRUE(found.ok()) << name;
    return *found;
  }
  std::vector<Entry> entries(const std::string& name) {
    std::vector<Entry> all;
    Cursor cursor = database_->db().cursor(tree_of(name));
    for (bool more = cursor.first(); more; more = cursor.next()) {
      all.push_back({std::string(cursor.key()), std::string(cursor.value())});
    }
    return all;
  }
  void replace(const std::string& name, const std::string& key, const Entry& entry) {
    const Tree tree = tree_of(name);
    EXPECT_TRUE(database_->db().del(tree, key).ok());
    EXPECT_TRUE(database_->db().put(tree, entry.key, entry.value).ok());
  }
  // What is said, whole, also where the statement fails behind it, as SQLite's may.
  std::string check() {
    Statement statement(connection_, "PRAGMA integrity_check");
    std::string all;
    int code = SQLITE_OK;
    while ((code = statement.step()) == SQLITE_ROW) {
      all += reinterpret_cast<const char*>(sqlite3_column_text(statement.get(), 0));
      all += '\n';
    }
    EXPECT_TRUE(code == SQLITE_DONE || code == SQLITE_CORRUPT) << code;
    return all;
  }
  // What is said of each entry of a tree that `damage` changes; then all is as it was.
  void expect_complaint(const std::string& name, const std::string& what,
                        const std::function<Entry(Entry)>& damage) {
    SCOPED_TRACE(name);
    const std::vector<Entry> sound = entries(name);
    EXPECT_EQ(sound.size(), 3U);
    for (const Entry& entry : sound) {
      const Entry damaged = damage(entry);
      ASSERT_TRUE(damaged.key != entry.key || damaged.value != entry.value);
      replace(name, entry.key, damaged);
      const std::string said = check();
      EXPECT_NE(said.find(what), std::string::npos) << said;
      replace(name, damaged.key, entry);
    }
    EXPECT_EQ(check(), "ok\n");
  }

  Connection connection_;
  Database* database_ = nullptr;
};

TEST_F(IntegrityTest, ValuesThatAreNone) {
  for (const std::string name : {"t", "plain", "uniq", "nocase", "w"}) {
    for (const std::string& value : {"\0\x7f"s, "\0\x02\x01"s, "\x7f"s, "\x03\x01"s, "a"s}) {
      expect_complaint(name, "is no record",
                       [&](const Entry& entry) { return Entry{entry.key, value}; });
    }
  }
  // Cut off, and with something behind it.
  for (const std::string name : {"t", "uniq", "nocase", "w"}) {
    expect_complaint(name, "is no record", [](Entry entry) {
      entry.value.pop_back();
      return entry;
    });
    expect_complaint(name, "is no record", [](Entry entry) {
      entry.value += 'x';
      return entry;
    });
  }
}

TEST_F(IntegrityTest, KeysThatAreNone) {
  for (const std::string name : {"plain", "uniq"}) {
    for (const std::string& before : {"\x01"s, "\x15"s, "\x61"s, "\xff"s}) {
      expect_complaint(name, "is no record",
                       [&](const Entry& entry) { return Entry{before + entry.key, entry.value}; });
    }
    expect_complaint(name, "is no record", [](Entry entry) {
      entry.key.pop_back();
      return entry;
    });
  }
}

// Keys and values that others would be, but not these.
TEST_F(IntegrityTest, EntriesOfOtherRows) {
  for (const std::string name : {"plain", "uniq", "nocase"}) {
    expect_complaint(name, "missing from index", [](Entry entry) {
      entry.key[1] = 'x';
      return entry;
    });
    expect_complaint(name, name == "nocase" ? "another one than its key's" : "is no record",
                     [](Entry entry) {
                       entry.key += '\x05';
                       return entry;
                     });
  }
  expect_complaint("plain", "another number of columns", [](const Entry& entry) {
    return Entry{entry.key, "\0\x02\x01\x09"s};  // a column more
  });
  expect_complaint("uniq", "another number of columns",
                   [](const Entry& entry) { return Entry{entry.key, ""}; });
  // Records of other texts and of other rows.
  expect_complaint("nocase", "another one than its key's", [](Entry entry) {
    entry.value[entry.value.size() - 2] = 'X';
    return entry;
  });
  expect_complaint("nocase", "another one than its key's", [](Entry entry) {
    entry.value.back() = static_cast<char>(entry.value.back() ^ 4);
    return entry;
  });
}

// Whose text is in UTF-16, and by others than BINARY: so keys are not made again.
// Keys that are longer than the engine's (long_key.h).
TEST_F(IntegrityTest, LongEntries) {
  ASSERT_SQL_OK(connection_,
                "CREATE TABLE l(a); CREATE INDEX long ON l(a);"
                "INSERT INTO l VALUES(replace(hex(zeroblob(33000)), '0', 'x') || 'b'),"
                "(replace(hex(zeroblob(33000)), '0', 'x') || 'a'),"
                "(replace(hex(zeroblob(33000)), '0', 'x') || 'c')");
  const std::vector<Entry> sound = entries("long");
  ASSERT_EQ(sound.size(), 3U);
  expect_complaint("long", "is no long one",
                   [](const Entry& entry) { return Entry{entry.key, entry.value.substr(0, 9)}; });
  expect_complaint("long", "is no long one", [](Entry entry) {
    entry.value[9] = '\x7f';  // the size of the rest
    entry.value[8] = '\x7f';
    return entry;
  });
  expect_complaint("long", "is no record", [](Entry entry) {
    entry.value.push_back('x');
    return entry;
  });
  expect_complaint("long", "missing from index", [](Entry entry) {
    entry.value[entry.value.find('x')] = 'y';
    return entry;
  });
  // The last one before the others of its group, and what reads that.
  Entry moved = sound[2];
  moved.key = sound[0].key.substr(0, sound[0].key.size() - 1) + '\x01';
  replace("long", sound[2].key, moved);
  EXPECT_NE(check().find("out of order"), std::string::npos);
  replace("long", moved.key, {sound[2].key, "\0\0"s});
  EXPECT_EQ(connection_.code("SELECT length(a) FROM l INDEXED BY long ORDER BY a"), SQLITE_CORRUPT);
  EXPECT_EQ(connection_.code("INSERT INTO l SELECT a || 'z' FROM l WHERE rowid = 3"),
            SQLITE_CORRUPT);
  replace("long", sound[2].key, sound[2]);
  EXPECT_EQ(check(), "ok\n");
}

TEST_F(IntegrityTest, RowsAddedColumnsAndOtherEncodings) {
  for (const std::string encoding : {"UTF-8", "UTF-16le", "UTF-16be"}) {
    Connection other(path(encoding + ".db"));
    EXPECT_SQL_OK(
        other,
        "PRAGMA encoding = '" + encoding +
            "'; CREATE TABLE t(a PRIMARY KEY, b COLLATE RTRIM, c) WITHOUT ROWID;"
            "CREATE INDEX t_b ON t(b, c COLLATE NOCASE DESC);"
            "INSERT INTO t VALUES('Eins \u00e4', 'b ', 'B'), (2.0, '', NULL), (3, x'00', 'C');"
            "ALTER TABLE t ADD COLUMN d; ALTER TABLE t ADD COLUMN e DEFAULT 'e';"
            "INSERT INTO t VALUES('more', 'b', 'b', 1, 2);"
            "CREATE UNIQUE INDEX t_d ON t(d, e)");
    expect_sound(other);
  }
}

}  // namespace
}  // namespace hawthorn::sqlite::integrity_test
