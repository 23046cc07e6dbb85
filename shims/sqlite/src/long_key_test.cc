// Index entries whose keys are longer than the engine's may be: what they answer is what SQLite's
// own storage answers, in whatever order they come and go.

#include "shims/sqlite/src/long_key.h"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "shims/sqlite/src/engine_pair_test_support.h"
#include "testing/scaled.h"

namespace hawthorn::sqlite::long_key_test {
namespace {

using namespace std::string_literals;

// ---- Labels and values

TEST(LongKeyTest, ThereIsALabelBetweenAnyTwo) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 20; ++round) {
    std::vector<std::string> labels;  // in order
    for (int i = 0; i < 400; ++i) {
      // At one end, at the other, at any place, and always between the same two.
      const size_t count = labels.size();
      const size_t places[] = {count, 0, random() % (count + 1), count / 2};
      const size_t at = places[static_cast<size_t>(round) % 4];
      const std::string low = at == 0 ? ""s : labels[at - 1];
      const std::string high = at == count ? ""s : labels[at];
      const auto where = round % 8 < 4 ? Between::kNear : Between::kMiddle;
      const std::string label = label_between(low, high, where);
      ASSERT_FALSE(label.empty());
      ASSERT_NE(label.back(), '\0');
      ASSERT_LT(low, label);
      ASSERT_TRUE(high.empty() || label < high);
      labels.insert(labels.begin() + static_cast<std::ptrdiff_t>(at), label);
    }
    // Those that come in order are near to each other.
    EXPECT_TRUE(round % 8 >= 2 || std::max(labels.front().size(), labels.back().size()) <= 3U);
  }
}

TEST(LongKeyTest, LabelsOfManyAreInOrderAndHaveSpaceBetween) {
  for (const size_t count : {1, 2, 3, 100, 5000}) {
    std::string before;
    for (size_t i = 0; i < count; ++i) {
      const std::string label = label_of(i, count);
      ASSERT_LT(before, label);
      ASSERT_LE(label.size(), kLabelBytesMax / 2);
      ASSERT_NE(label.back(), '\0');
      ASSERT_LE(label_between(before, label, Between::kMiddle).size(), label.size());
      before = label;
    }
  }
}

TEST(LongKeyTest, ValuesAreTakenApartOrRefused) {
  const std::string bytes = encode_long_value({.rest = "the rest", .record = "a record"});
  const auto decoded = decode_long_value(bytes);
  ASSERT_TRUE(decoded.has_value());
  EXPECT_EQ(decoded->rest, "the rest");
  EXPECT_EQ(decoded->record, "a record");
  EXPECT_FALSE(decode_long_value(bytes.substr(0, 17)).has_value()) << "a part of the rest";
  EXPECT_FALSE(decode_long_value(bytes.substr(0, 9)).has_value());
  EXPECT_FALSE(decode_long_value("").has_value());
  for (size_t i = 0; i < 10; ++i) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x40);
    EXPECT_FALSE(decode_long_value(damaged).has_value()) << i;
  }
}

// ---- Statements

class LongEntriesTest : public EnginePairTest {
 protected:
  uint64_t below(uint64_t bound) { return random_() % bound; }

  // Texts and blobs that are alike for so long as the engine's keys reach, or nearly, and differ
  // behind it, or nowhere before their ends; and short ones.
  std::string any_value() {
    static constexpr int kAlike[] = {65'400, 65'506, 65'507, 65'508, 65'509, 65'510,
                                     65'511, 65'535, 66'000, 70'000, 32'735, 90'000};
    static constexpr const char* kEnds[] = {"''",   "'a'",   "'A'",       "'b '", "'b'",
                                            "'bc'", "'B  '", "' '",       "'c'",  "'aaaa'",
                                            "'d'",  "'e'",   "char(233)", "'a '", "char(127)"};
    const std::string alike = std::to_string(kAlike[below(std::size(kAlike))]);
    const std::string end = kEnds[below(std::size(kEnds))];
    switch (below(10)) {
      case 0:
        return "NULL";
      case 1:
        return std::to_string(below(20));
      case 2:
        return end;
      case 3:  // a zero takes two bytes in a key
        return "CAST(zeroblob(" + alike + ") || " + end + " AS BLOB)";
      case 4:
        return "CAST(replace(hex(zeroblob(" + alike + "/2)), '0', 'x') || " + end + " AS BLOB)";
      case 5:
        return "replace(hex(zeroblob(" + alike + "/2)), '0', 'X') || " + end;
      default:
        return "replace(hex(zeroblob(" + alike + "/2)), '0', 'x') || " + end;
    }
  }
  std::string any_column() {
    static constexpr const char* kColumns[] = {"a", "b", "c"};
    return kColumns[below(3)];
  }

  std::string any_statement() {
    const std::string row = std::to_string(below(60));
    const std::string column = any_column();
    static constexpr const char* kCompared[] = {"=", "<", "<=", ">", ">=", "IS NOT", "="};
    const std::string compared = kCompared[below(std::size(kCompared))];
    switch (below(20)) {
      case 0:
      case 1:
      case 2:
        return "INSERT OR REPLACE INTO t VALUES(" + row + ", " + any_value() + ", " + any_value() +
               ", " + any_value() + ")";
      case 3:
      case 4:
        return "INSERT OR REPLACE INTO w VALUES(" + any_value() + ", " + any_value() + ", " + row +
               ")";
      case 5:
        return "INSERT INTO t(a) VALUES(" + any_value() + ")";
      case 6:
        return "UPDATE OR IGNORE t SET " + column + " = " + any_value() + " WHERE id = " + row;
      case 7:
        return "UPDATE OR REPLACE w SET p = p || 'z' WHERE r < " + row;
      case 8:
        return "DELETE FROM t WHERE id = " + row;
      case 9:
        return "DELETE FROM t WHERE " + column + " = " + any_value();
      case 10:
        return "DELETE FROM w WHERE p " + compared + " " + any_value() + " AND r % 3 = 0";
      case 11:
        return "SELECT p, q, r FROM w WHERE p " + compared + " " + any_value() +
               " ORDER BY p DESC, q";
      case 12:
        return "SELECT id, " + column + " FROM t WHERE " + column + " " + compared + " " +
               any_value() + " ORDER BY " + column + ", id";
      case 13:
        return "SELECT id, a FROM t INDEXED BY t_a WHERE a = " + any_value() + " AND b " +
               compared + " " + any_value() + " ORDER BY a, b DESC, id";
      case 14:
        return "SELECT " + column + ", count(*), min(id) FROM t GROUP BY " + column;
      case 15:
        return "UPDATE t SET c = c || 'y' WHERE b >= " + any_value();
      case 16: {
        static constexpr const char* kAll[] = {"BEGIN",       "COMMIT",        "ROLLBACK",
                                               "SAVEPOINT s", "ROLLBACK TO s", "RELEASE s"};
        return kAll[below(std::size(kAll))];
      }
      case 17:
        return "SELECT max(" + column + "), min(" + column + ") FROM t";
      case 18:
        return "SELECT p, q FROM w ORDER BY p, q DESC";
      default:
        return "SELECT x.id, y.id FROM t x CROSS JOIN t y INDEXED BY t_c ON y.c = x.a "
               "ORDER BY 1, 2";
    }
  }

  void create() {
    both(
        "CREATE TABLE t(id INTEGER PRIMARY KEY, a, b COLLATE NOCASE, c COLLATE RTRIM);"
        "CREATE INDEX t_a ON t(a, b DESC); CREATE INDEX t_b ON t(b, a);"
        "CREATE INDEX t_c ON t(c DESC); CREATE UNIQUE INDEX t_u ON t(a, c);"
        "CREATE TABLE w(p, q COLLATE NOCASE, r, PRIMARY KEY(p DESC, q)) WITHOUT ROWID;"
        "CREATE INDEX w_r ON w(r); CREATE INDEX w_p ON w(p COLLATE RTRIM)");
  }

  void compare_all() {
    for (const char* sql :
         {"SELECT * FROM t NOT INDEXED", "SELECT a, b, id FROM t INDEXED BY t_a ORDER BY a, b DESC",
          "SELECT b, a, id FROM t INDEXED BY t_b ORDER BY b, a", "SELECT * FROM w",
          "SELECT c, id FROM t INDEXED BY t_c ORDER BY c DESC, id",
          "SELECT a, c FROM t INDEXED BY t_u ORDER BY a DESC, c DESC",
          "SELECT p FROM w INDEXED BY w_p ORDER BY p COLLATE RTRIM DESC, p, q",
          "PRAGMA integrity_check"}) {
      both(sql);
    }
  }

  std::mt19937_64 random_;
};

TEST_F(LongEntriesTest, AnswerAsSqlitesOwn) {
  const uint64_t only = testing::environment_number("HAWTHORN_SQLITE_SEED", 0);
  const uint64_t last = only != 0 ? only : testing::scaled(12);
  for (uint64_t seed = only != 0 ? only : 1; seed <= last && !HasFailure(); ++seed) {
    seed_ = seed;
    random_.seed(seed);
    open("seed-" + std::to_string(seed) + ".db", seed % 3 == 0 ? "UTF-16le" : "UTF-8");
    both("PRAGMA synchronous = OFF");
    create();
    for (int i = 0; i < 120 && !HasFailure(); ++i) both(any_statement());
    if (sqlite3_get_autocommit(stock_.get()) == 0) both("COMMIT");
    if (!HasFailure()) compare_all();
    both("REINDEX; PRAGMA integrity_check");
    if (HasFailure()) return;
    // What is on disk, and what VACUUM leaves.
    ours_ = Connection();
    ours_ = Connection(path("seed-" + std::to_string(seed) + ".db"));
    is_reopened_ = true;
    compare_all();
    both("VACUUM");
    compare_all();
  }
}

// Each one between the two before it, so that labels get longer than they may. Every one is sought
// by walking the group, so the oldest go, but where the test is made whole.
TEST_F(LongEntriesTest, AGroupGetsNewLabels) {
  open("new.db", "UTF-8");
  both("CREATE TABLE t(a INT UNIQUE, b); CREATE INDEX t_b ON t(b)");
  both("PRAGMA synchronous = OFF; BEGIN");
  const int rows = static_cast<int>(kLabelBytesMax) * 8 + 10;
  const int kept = testing::is_whole() ? rows : 40;
  const auto number_of = [](int i) { return i % 2 == 0 ? i : 2000 - i; };
  for (int i = 0; i < rows && !HasFailure(); ++i) {
    const int number = number_of(i);
    if (i >= kept) both("DELETE FROM t WHERE a = " + std::to_string(number_of(i - kept)));
    both("INSERT INTO t VALUES(" + std::to_string(number) +
         ", replace(hex(zeroblob(33000)), '0', 'x') || printf('%05d', " + std::to_string(number) +
         "))");
    if (i == rows - 50) both("SAVEPOINT s");
  }
  const std::string ordered = "SELECT a FROM t INDEXED BY t_b ORDER BY b";
  both(ordered);
  both("PRAGMA integrity_check");
  both("ROLLBACK TO s");
  both(ordered);
  both("PRAGMA integrity_check; COMMIT");
  both("DELETE FROM t WHERE a % 3 = 0");
  both(ordered);
  both(
      "SELECT a FROM t INDEXED BY t_b WHERE b >= replace(hex(zeroblob(33000)), '0', 'x') ||"
      " '00100' ORDER BY b DESC LIMIT 20");
  both("PRAGMA integrity_check");
}

// Statements that walk a group while it changes, with new labels too.
TEST_F(LongEntriesTest, AWalkGoesOnWhileItsGroupChanges) {
  open("walk.db", "UTF-8");
  both("CREATE TABLE t(a INTEGER PRIMARY KEY, b); CREATE INDEX t_b ON t(b);");
  both(
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40)"
      " INSERT INTO t SELECT i * 100, replace(hex(zeroblob(40000)), '0', 'x') ||"
      " printf('%05d', i * 100) FROM n");
  for (const std::string order : {"", " DESC"}) {
    const std::string sql = "SELECT a, length(b) FROM t INDEXED BY t_b ORDER BY b" + order;
    Statement ours(ours_, sql);
    Statement stock(stock_, sql);
    both("BEGIN");
    for (int i = 0; i < 60 && !HasFailure(); ++i) {
      const int code = ours.step();
      ASSERT_EQ(code, stock.step());
      if (code != SQLITE_ROW) break;
      ASSERT_EQ(ours.row(), stock.row());
      const std::string at = std::to_string(sqlite3_column_int64(stock.get(), 0));
      switch (i % 4) {
        case 0:
          both("DELETE FROM t WHERE a = " + at);
          break;
        case 1:
          both("DELETE FROM t WHERE a = " + at + (order.empty() ? " + 100" : " - 100"));
          break;
        case 2:
          both("INSERT OR IGNORE INTO t SELECT " + at + (order.empty() ? " + 1" : " - 1") +
               ", replace(hex(zeroblob(40000)), '0', 'x') || printf('%05d', " + at +
               (order.empty() ? " + 1)" : " - 1)"));
          break;
        default:
          both("UPDATE t SET b = b || 'z' WHERE a = " + at);
      }
    }
    ours.reset();
    stock.reset();
    both(order.empty() ? "COMMIT" : "ROLLBACK");
    both("SELECT a, length(b) FROM t ORDER BY b");
    both("PRAGMA integrity_check");
  }
}

TEST_F(LongEntriesTest, CopiesHaveThem) {
  open("from.db", "UTF-8");
  create();
  for (int i = 0; i < 40; ++i) {
    both("INSERT OR REPLACE INTO t VALUES(" + std::to_string(i) + ", " + any_value() + ", " +
         any_value() + ", " + any_value() + ")");
    both("INSERT OR REPLACE INTO w VALUES(" + any_value() + ", " + any_value() + ", 1)");
  }
  for (const bool is_ours : {true, false}) {
    const std::string target =
        is_ours ? path("ours.db") : "file:" + path("stock.db") + "?hawthorn=0";
    EXPECT_SQL_OK(ours_, "VACUUM INTO '" + target + "'");
    Connection copy(target);
    Connection again(path("again-" + std::to_string(target.size()) + ".db"));
    sqlite3_backup* const backup = sqlite3_backup_init(again.get(), "main", copy.get(), "main");
    ASSERT_NE(backup, nullptr);
    EXPECT_EQ(sqlite3_backup_step(backup, -1), SQLITE_DONE);
    EXPECT_EQ(sqlite3_backup_finish(backup), SQLITE_OK);
    for (Connection* const one : {&copy, &again}) {
      for (const char* sql : {"SELECT a, b, id FROM t INDEXED BY t_a ORDER BY a, b DESC",
                              "SELECT c, id FROM t INDEXED BY t_c ORDER BY c DESC, id",
                              "SELECT * FROM w", "PRAGMA integrity_check"}) {
        EXPECT_EQ(one->rows(sql), stock_.rows(sql)) << target << ": " << sql;
      }
    }
  }
}

TEST_F(LongEntriesTest, TwoConcurrentOnesOfAGroupConflict) {
  Connection one(path("concurrent.db"));
  Connection other(path("concurrent.db"));
  const auto value = [](const std::string& end) {
    return "replace(hex(zeroblob(33000)), '0', 'x') || '" + end + "'";
  };
  EXPECT_SQL_OK(one, "CREATE TABLE t(a UNIQUE); INSERT INTO t VALUES(" + value("m") + ")");
  EXPECT_SQL_OK(one, "BEGIN CONCURRENT; INSERT INTO t VALUES(" + value("b") + ")");
  EXPECT_SQL_OK(other, "BEGIN CONCURRENT; INSERT INTO t VALUES(" + value("c") + ")");
  EXPECT_SQL_OK(one, "COMMIT");
  EXPECT_EQ(other.code("COMMIT"), SQLITE_BUSY_SNAPSHOT);
  EXPECT_SQL_OK(other, "ROLLBACK; BEGIN CONCURRENT; INSERT INTO t VALUES(" + value("c") + ")");
  EXPECT_SQL_OK(other, "COMMIT");
  EXPECT_EQ(one.code("INSERT INTO t VALUES(" + value("c") + ")"), SQLITE_CONSTRAINT_UNIQUE);
  EXPECT_EQ(one.rows("SELECT substr(a, -1) FROM t ORDER BY a"),
            (std::vector<std::string>{"t'b'", "t'c'", "t'm'"}));
  expect_sound(one);
}

}  // namespace
}  // namespace hawthorn::sqlite::long_key_test
