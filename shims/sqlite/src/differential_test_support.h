#pragma once
// Random SQL, about everything that reaches the storage beneath SQLite, from one seed.
//
// Used by differential_test.cc. Threads: one. Not here: what the statements have to answer.
//
// All tables have the columns id, a, b, c and d as long as no ALTER TABLE has taken one away, so
// that most statements fit most tables; those that do not must fail alike. The collation BEHIND is
// a program's own, which each connection has to have.

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <random>
#include <string>
#include <vector>

namespace hawthorn::sqlite {

class SqlGenerator {
 public:
  // vacuum: whether no table may lose its row numbers, as those without an index do by VACUUM.
  SqlGenerator(uint64_t seed, bool vacuum) : random_(seed), vacuum_(vacuum) {}

  uint64_t below(uint64_t bound) { return random_() % bound; }
  bool one_in(uint64_t many) { return below(many) == 0; }

  static constexpr int kTables = 10;
  static constexpr int kTriggers = 12;
  static constexpr int kIndexes = 20;

  static std::string table_name(int number) {
    // One of another file, and one of the connection's own, beside those of the main database.
    if (number == 8) return "aux.u8";
    if (number == 9) return "temp.w9";
    return "t" + std::to_string(number);
  }
  std::string any_table() { return table_name(static_cast<int>(below(kTables))); }

  std::string create_table(int number) {
    const std::string name = table_name(number);
    switch (number) {
      case 0:
        return "CREATE TABLE " + name +
               "(id INTEGER PRIMARY KEY, a, b TEXT COLLATE NOCASE, c REAL, d BLOB)";
      case 1:
        return "CREATE TABLE " + name +
               "(id INTEGER PRIMARY KEY AUTOINCREMENT, a INT UNIQUE, b, c NUMERIC, d)";
      case 2:
        return "CREATE TABLE " + name + "(id, a, b TEXT, c, d" +
               std::string(vacuum_ ? ", UNIQUE(id, a))" : ")");
      case 3:
        return "CREATE TABLE " + name +
               "(id, a COLLATE BEHIND, b TEXT COLLATE NOCASE, c, d, PRIMARY KEY(b DESC, a, id)) "
               "WITHOUT ROWID";
      case 4:
        return "CREATE TABLE " + name +
               "(id PRIMARY KEY DESC, a NOT NULL ON CONFLICT REPLACE DEFAULT 7, b, c REAL UNIQUE, "
               "d, CHECK(typeof(c) <> 'text')) WITHOUT ROWID";
      case 5:
        return "CREATE TABLE " + name +
               "(id INTEGER PRIMARY KEY, a REFERENCES t0(id) ON DELETE CASCADE ON UPDATE CASCADE, "
               "b COLLATE RTRIM UNIQUE, c REFERENCES t1(a) ON DELETE SET NULL ON UPDATE SET NULL, "
               "d)";
      case 6:
        return "CREATE TABLE " + name +
               "(id INTEGER PRIMARY KEY DESC, a INT REFERENCES t1(id) DEFERRABLE INITIALLY "
               "DEFERRED, b TEXT NOT NULL DEFAULT 'none', c INT REFERENCES t6(id) ON DELETE "
               "CASCADE, d ANY, UNIQUE(b, c))";
      case 7:
        return "CREATE TABLE " + name +
               "(id INT NOT NULL UNIQUE, a INT, b TEXT, c REAL, d ANY, UNIQUE(a, c, b)) STRICT";
      case 8:
        return "CREATE TABLE " + name +
               "(id INTEGER PRIMARY KEY, a COLLATE BEHIND UNIQUE ON CONFLICT IGNORE, b, c, d, "
               "g AS (a || b), "
               "h AS (id + 1) STORED UNIQUE)";
      default:
        return "CREATE TEMP TABLE w9(id INTEGER PRIMARY KEY, a, b, c UNIQUE, d)";
    }
  }

  // A table that has its rows by a key of one to three columns, or finds them by such a key that is
  // NOT NULL and UNIQUE; the columns in any order.
  std::string create_keyed_table() {
    std::vector<std::string> columns = {"id", "a", "b", "c", "d"};
    std::shuffle(columns.begin(), columns.end(), random_);
    const auto count = static_cast<std::ptrdiff_t>(1 + below(3));
    std::vector<std::string> keys(columns.begin(), columns.begin() + count);
    std::shuffle(columns.begin(), columns.end(), random_);
    static constexpr const char* kTypes[] = {"",
                                             " INT",
                                             " TEXT",
                                             " REAL",
                                             " COLLATE BEHIND",
                                             " BLOB",
                                             " INT",
                                             " TEXT",
                                             " TEXT COLLATE NOCASE"};
    std::string sql = "CREATE TABLE " + table_name(0) + "(";
    for (const std::string& column : columns) {
      const bool is_key = std::find(keys.begin(), keys.end(), column) != keys.end();
      sql += column + any(kTypes) + (is_key ? " NOT NULL, " : ", ");
    }
    const bool has_rowid = one_in(3);
    sql += has_rowid ? "UNIQUE(" : "PRIMARY KEY(";
    for (size_t i = 0; i < keys.size(); ++i) {
      sql += (i == 0 ? "" : ", ") + keys[i] + (one_in(3) ? " DESC" : "");
    }
    return sql + (has_rowid ? "))" : ")) WITHOUT ROWID");
  }

  // Of few values, so that rows are alike in some columns.
  std::string insert_alike() {
    static constexpr const char* kFew[] = {
        "0", "1", "2", "3", "'a'", "'A'", "'b'", "NULL", "hex(zeroblob(1200))"};
    std::string sql = "INSERT OR IGNORE INTO " + table_name(0) + "(id, a, b, c, d) VALUES";
    for (int i = 0; i < 20; ++i) {
      sql += i == 0 ? "(" : ", (";
      for (int column = 0; column < 5; ++column) {
        sql += (column == 0 ? "" : ", ") + std::string(any(kFew));
      }
      sql += ")";
    }
    return sql;
  }

  std::string create_index() {
    const std::string index = "i" + std::to_string(below(kIndexes));
    std::string table = any_table();
    std::string prefix;
    if (const size_t dot = table.find('.'); dot != std::string::npos) {
      prefix = table.substr(0, dot + 1);
      table = table.substr(dot + 1);
    }
    std::string sql = one_in(4) ? "CREATE UNIQUE INDEX " : "CREATE INDEX ";
    sql += prefix + index + " ON " + table + "(";
    const uint64_t columns = 1 + below(3);
    for (uint64_t i = 0; i < columns; ++i) {
      static constexpr const char* kExpressions[] = {"lower(b)",    "a + 1",  "length(d)",
                                                     "abs(a % 10)", "a || b", "substr(d, 1, 9)"};
      if (i != 0) sql += ", ";
      sql += one_in(5) ? any(kExpressions) : any_column();
      static constexpr const char* kCollations[] = {"BINARY", "NOCASE", "RTRIM", "BEHIND"};
      if (one_in(3)) sql += std::string(" COLLATE ") + any(kCollations);
      if (one_in(3)) sql += " DESC";
    }
    sql += ")";
    static constexpr const char* kParts[] = {"a > 0", "b IS NOT NULL", "c < 5 OR c IS NULL",
                                             "id % 2 = 0", "b > 'a' COLLATE NOCASE"};
    if (one_in(4)) sql += std::string(" WHERE ") + any(kParts);
    return sql;
  }

  std::string create_trigger() {
    static constexpr const char* kTimes[] = {"BEFORE", "AFTER"};
    static constexpr const char* kEvents[] = {"INSERT", "DELETE", "UPDATE", "UPDATE OF a, b"};
    // Of a temporary trigger's tables nothing is known to the others.
    const std::string table = "t" + std::to_string(below(8));
    const std::string other = one_in(2) ? table : "t" + std::to_string(below(8));
    const std::string event = any(kEvents);
    const std::string row = event == "DELETE" ? "old" : "new";
    std::string sql = "CREATE TRIGGER r" + std::to_string(below(kTriggers)) + " " + any(kTimes) +
                      " " + event + " ON " + table;
    if (one_in(3)) sql += " WHEN " + row + ".a > " + small();
    sql += " BEGIN ";
    switch (below(8)) {
      case 0:
        sql += "INSERT OR IGNORE INTO " + other + "(id, a, b) VALUES(" + row + ".id + 100, " + row +
               ".a, 'by trigger');";
        break;
      case 1:
        sql += "UPDATE " + other + " SET c = ifnull(c, 0) + 1 WHERE id = " + row + ".id + 1;";
        break;
      case 2:
        sql += "DELETE FROM " + other + " WHERE id = " + row + ".id + 1;";
        break;
      case 3:
        sql += "DELETE FROM " + other + " WHERE a = " + row + ".a AND id <> " + row + ".id;";
        break;
      case 4: {
        static constexpr const char* kRaises[] = {"ABORT", "FAIL", "ROLLBACK"};
        sql += "SELECT " +
               (one_in(2) ? std::string("RAISE(IGNORE)")
                          : std::string("RAISE(") + any(kRaises) + ", 'of the trigger')") +
               " WHERE " + row + ".a = " + small() + ";";
        break;
      }
      case 5:
        sql += "UPDATE OR REPLACE " + other + " SET id = id + 1 WHERE id = " + row + ".id;";
        break;
      case 6:
        sql += "REPLACE INTO " + other + " SELECT * FROM " + other + " WHERE id < " + row +
               ".id LIMIT 3;";
        break;
      default:
        sql += "INSERT INTO " + other + "(a, b, c) SELECT " + row + ".a, b, c FROM " + other +
               " WHERE (SELECT count(*) FROM " + other + ") < 60 LIMIT 2;";
    }
    return sql + " END";
  }

  std::string statement() {
    const uint64_t kind = below(100);
    if (kind < 30) return insert();
    if (kind < 45) return update();
    if (kind < 53) return remove();
    if (kind < 75) return query(any_table());
    if (kind < 85) return transaction();
    if (kind < 88) return create_index();
    if (kind < 90) return create_trigger();
    if (kind < 95) return change_schema();
    return maintenance();
  }

  std::string query_keyed_table() { return query(table_name(0)); }

 private:
  template <size_t kCount>
  std::string any(const char* const (&texts)[kCount]) {
    return texts[below(kCount)];
  }

  static constexpr const char* kOwnCollations[] = {"NOCASE", "RTRIM", "BEHIND"};

  std::string any_column() {
    static constexpr const char* kColumns[] = {"id", "a", "b", "c", "d"};
    return any(kColumns);
  }
  std::string small() { return std::to_string(static_cast<int64_t>(below(24)) - 4); }

  std::string literal() {
    static constexpr const char* kTexts[] = {"''",
                                             "'a'",
                                             "'A'",
                                             "'ab'",
                                             "'AB'",
                                             "'ab '",
                                             "'ab  '",
                                             "'aB '",
                                             "'abc'",
                                             "' '",
                                             "'é'",
                                             "CAST(x'610062' AS TEXT)",
                                             "'1'",
                                             "'2.0'",
                                             "'10'",
                                             "'1e1'",
                                             "CAST(x'00' AS TEXT)",
                                             "CAST(x'4100' AS TEXT)",
                                             "'zz'",
                                             "'日本語'",
                                             "'😀'",
                                             "char(0)",
                                             "'_'",
                                             "'Z'"};
    static constexpr const char* kNumbers[] = {"9223372036854775807",
                                               "-9223372036854775808",
                                               "9007199254740993",
                                               "9007199254740993.0",
                                               "9007199254740992",
                                               "2.0",
                                               "-0.0",
                                               "0.0",
                                               "9e999",
                                               "-9e999",
                                               "9e999 - 9e999",
                                               "1e-320",
                                               "1.5",
                                               "-1.5",
                                               "1e18",
                                               "1000000000000000000",
                                               "9.2233720368547758e18",
                                               "-9.2233720368547758e18",
                                               "1e300",
                                               "0.1",
                                               "4294967296",
                                               "65536",
                                               "256",
                                               "-129",
                                               "127",
                                               "2147483648",
                                               "281474976710656",
                                               "3.0"};
    static constexpr const char* kBlobs[] = {"x''",         "x'00'",    "x'0000'", "x'61'",
                                             "x'6100'",     "x'FF'",    "x'FFFF'", "x'00FF'",
                                             "zeroblob(3)", "x'616263'"};
    switch (below(10)) {
      case 0:
        return "NULL";
      case 1:
      case 2:
        return any(kTexts);
      case 3:
        return any(kNumbers);
      case 4:
        return any(kBlobs);
      case 5:
        return "'key " + std::to_string(below(60)) + "'";
      case 6:
        if (one_in(20)) return one_in(2) ? "zeroblob(2000)" : "hex(zeroblob(2000))";
        return small();
      default:
        return small();
    }
  }

  // What may be large, for the column that has no index but by a part of it.
  std::string large_literal() {
    if (!one_in(5)) return literal();
    static constexpr int kSizes[] = {100, 1000, 4000, 9000, 33'000, 70'000, 300'000};
    const std::string size = std::to_string(kSizes[below(std::size(kSizes) - (one_in(4) ? 0 : 2))]);
    // Not randomblob: SQLite's own storage draws random numbers, too.
    const std::string zeros = "zeroblob(" + size + ")";
    if (one_in(3)) return zeros;
    const std::string text =
        "replace(hex(" + zeros + "), '00', '" + std::to_string(below(99)) + "x')";
    return one_in(2) ? text : "CAST(" + text + " AS BLOB)";
  }

  std::string id() {
    // Few, so that rows meet, and sometimes beyond.
    if (one_in(12)) {
      const std::string any_value = literal();
      // Behind the greatest number SQLite chooses at random, and its own journal has drawn before.
      return any_value == "9223372036854775807" ? "9223372036854775000" : any_value;
    }
    if (one_in(6)) return std::to_string(below(3000));
    return std::to_string(below(120));
  }

  std::string expression() {
    const std::string column = any_column();
    switch (below(12)) {
      case 0:
        return column + " + 1";
      case 1:
        return "-" + column;
      case 2:
        return "substr(" + column + ", 1, 99) || 'x'";
      case 3:
        return "upper(" + column + ")";
      case 4:
        return "CASE WHEN a > 3 THEN " + literal() + " ELSE " + column + " END";
      case 5:
        return "(SELECT max(id) FROM " + any_table() + ")";
      case 6:
        return "abs(" + column + ")";
      case 7:
        return "CAST(" + column + (one_in(2) ? " AS REAL)" : " AS TEXT)");
      case 8:
        return "substr(" + any_column() + ", 1, 60)";
      default:
        return one_in(3) ? column : literal();
    }
  }

  std::string condition(int depth = 0) {
    static constexpr const char* kOperators[] = {"<", "<=", "=", ">=", ">", "IS", "<>"};
    switch (below(depth < 2 ? 14 : 11)) {
      case 0:
      case 1:
        return "id = " + id();
      case 2:
        return "id BETWEEN " + id() + " AND " + id();
      case 3:
        return any_column() + " " + any(kOperators) + " " + literal();
      case 4:
        return "a " + any(kOperators) + " " + small();
      case 5:
        return "b COLLATE " + std::string(any(kOwnCollations)) + " " + any(kOperators) + " " +
               literal();
      case 6:
        return any_column() + " IS " + (one_in(2) ? "NOT NULL" : "NULL");
      case 7:
        return any_column() + " IN (" + literal() + ", " + literal() + ", " + small() + ")";
      case 8:
        return "b LIKE 'a%'";
      case 9:
        return "(a, b) " + any(kOperators) + " (" + small() + ", " + literal() + ")";
      case 10:
        return "a IN (SELECT " + any_column() + " FROM " + any_table() + ")";
      case 11:
        return condition(depth + 1) + " AND " + condition(depth + 1);
      case 12:
        return "(" + condition(depth + 1) + " OR " + condition(depth + 1) + ")";
      default:
        return "id > " + id();
    }
  }

  // One of some values, which an index may find one after the other.
  std::string listed(const std::string& column, const std::string& table) {
    if (one_in(2)) {
      return column + " IN (SELECT " + (one_in(2) ? column : any_column()) + " FROM " + table + ")";
    }
    std::string sql = column + " IN (";
    for (uint64_t i = 0; i < 3; ++i) sql += (one_in(2) ? id() : literal()) + ", ";
    return sql + small() + ")";
  }

  std::string conflict() {
    static constexpr const char* kAll[] = {"OR REPLACE ", "OR IGNORE ", "OR ABORT ", "OR FAIL ",
                                           "OR ROLLBACK "};
    return one_in(2) ? any(kAll) : "";
  }

  std::string returning() { return one_in(6) ? " RETURNING id, a, b, length(d)" : ""; }

  std::string upsert() {
    switch (below(14)) {
      case 0:
        return " ON CONFLICT DO NOTHING";
      case 1:
        return " ON CONFLICT(id) DO UPDATE SET a = excluded.a, b = substr(b || excluded.b, 1, 99)";
      case 2:
        return " ON CONFLICT DO UPDATE SET id = id + 1000, c = excluded.id";
      case 3:
        return " ON CONFLICT(a) DO UPDATE SET b = excluded.b WHERE excluded.id > " + small() +
               " ON CONFLICT(id) DO NOTHING";
      default:
        return "";
    }
  }

  std::string insert() {
    const std::string table = any_table();
    const std::string into = (one_in(6) ? "REPLACE " : "INSERT " + conflict()) + "INTO " + table;
    const std::string bound = " AND (SELECT count(*) FROM " + table + ") < 300";
    switch (below(10)) {
      case 0:
        return into + "(id, a, b, c, d) SELECT id + " + std::to_string(1 + below(100)) +
               ", a, b, c, d FROM " + (one_in(2) ? table : any_table()) + " WHERE " + condition() +
               bound + " LIMIT 40" + upsert() + returning();
      case 1:
        return "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < " +
               std::to_string(5 + below(60)) + ") " + into + "(id, a, b, c, d) SELECT i * " +
               std::to_string(1 + below(40)) +
               ", i % 7, 'key ' || (i % 20), i / 2.0, zeroblob(i) FROM n WHERE 1" + bound +
               upsert() + returning();
      case 2:
        return into + " SELECT * FROM " + any_table() + " WHERE " + condition() + bound;
      case 3:
        return into + "(a, b, c, d) VALUES(" + literal() + ", " + literal() + ", " + literal() +
               ", " + large_literal() + ")" + upsert() + returning();
      default: {
        std::string sql = into + "(id, a, b, c, d) VALUES";
        const uint64_t rows = one_in(3) ? 2 + below(8) : 1;
        for (uint64_t i = 0; i < rows; ++i) {
          if (i != 0) sql += ", ";
          sql += "(" + (one_in(10) ? "NULL" : id()) + ", " + literal() + ", " + literal() + ", " +
                 literal() + ", " + large_literal() + ")";
        }
        return sql + upsert() + returning();
      }
    }
  }

  std::string update() {
    const std::string table = any_table();
    const std::string sql = "UPDATE " + conflict() + table + " SET ";
    switch (below(7)) {
      case 0:
        return sql + "id = id + " + small() + " WHERE " + condition() + returning();
      case 1:
        return sql + "id = " + id() + " WHERE " + condition() + returning();
      case 2:
        return sql + "(a, b) = (b, a) WHERE " + condition();
      case 3:
        return sql + "a = f.a, d = f.d FROM (SELECT id AS i, a, d FROM " + any_table() +
               " LIMIT 10) AS f WHERE f.i = id" + returning();
      default: {
        std::string set = any_column() + " = " + expression();
        if (one_in(3)) set += ", d = " + large_literal();
        return sql + set + (one_in(8) ? "" : " WHERE " + condition()) + returning();
      }
    }
  }

  std::string remove() {
    const std::string table = any_table();
    if (one_in(12)) return "DELETE FROM " + table;
    return "DELETE FROM " + table + " WHERE " + condition() + returning();
  }

  // By columns that an index has or not, and, with NULLs where they are not by themselves, by more
  // of them than the key of one that is NOT NULL and UNIQUE.
  std::string order_by(const std::string& first) {
    std::string sql = " ORDER BY ";
    const uint64_t terms = 1 + below(3);
    for (uint64_t i = 0; i < terms; ++i) {
      sql += i == 0 ? first : ", " + any_column();
      if (one_in(5)) sql += " COLLATE " + std::string(any(kOwnCollations));
      if (one_in(2)) sql += " DESC";
      if (one_in(3)) sql += one_in(2) ? " NULLS FIRST" : " NULLS LAST";
    }
    return sql;
  }

  std::string query(const std::string& table) {
    const std::string column = any_column();
    const std::string order = order_by(one_in(2) ? column : any_column());
    switch (below(18)) {
      case 0:
        return "SELECT count(*), sum(a), min(b), max(id) FROM " + table + " WHERE " + condition();
      case 1:
        return "SELECT min(" + any_column() + ") FROM " + table;
      case 2:
        return "SELECT max(" + any_column() + "), count(*) FROM " + table;
      case 3:
        return "SELECT a, count(*), group_concat(id) FROM " + table + " GROUP BY a";
      case 4:
        return "SELECT x.id, y.id, y.b FROM " + table + " x JOIN " + any_table() +
               " y ON x.a = y.id WHERE x." + condition(2) + " LIMIT 200";
      case 5:
        return "SELECT x.id, y.id FROM " + table + " x LEFT JOIN " + any_table() +
               " y ON x.b = y.b AND y.a > x.a LIMIT 200";
      case 6:
        return "SELECT id, a, row_number() OVER (PARTITION BY a ORDER BY id, b), "
               "sum(length(b)) OVER (ORDER BY id ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) FROM " +
               table + " WHERE " + condition();
      case 7:
        return "SELECT id, a FROM " + table + " WHERE " + condition() +
               " UNION SELECT id, b FROM " + any_table() + " EXCEPT SELECT a, b FROM " +
               any_table();
      case 8:
        return "SELECT DISTINCT " + any_column() + ", " + any_column() + " FROM " + table;
      case 9:
        return "WITH RECURSIVE n(i, j) AS (SELECT id, a FROM " + table +
               " WHERE id < 30 UNION SELECT t.id, t.a FROM n JOIN " + table +
               " t ON t.id = n.j) SELECT * FROM n ORDER BY i LIMIT 100";
      case 10:
        return "SELECT rowid, * FROM " + table + " WHERE rowid > " + id() + " ORDER BY rowid" +
               (one_in(2) ? " DESC" : "") + " LIMIT 20";
      case 11:
        return "SELECT * FROM " + table + " WHERE " + condition() + order + " LIMIT " +
               std::to_string(below(40)) + " OFFSET " + std::to_string(below(5));
      case 12:
        return "SELECT * FROM " + table + " WHERE " + listed(column, table) + order;
      case 13:
        return std::string("SELECT ") + (one_in(2) ? "min(" : "max(") + any_column() + ") FROM " +
               table + " WHERE " + listed(column, table);
      case 14:
        return "SELECT " + column + (one_in(2) ? ", min(" : ", max(") + any_column() + ") FROM " +
               table + " WHERE " + listed(column, table) + " GROUP BY " + column;
      case 15:
        return "SELECT * FROM " + table + " WHERE " + listed(column, table) + " AND " +
               condition() + order;
      default:
        return "SELECT * FROM " + table + " WHERE " + condition() + (one_in(2) ? order : "");
    }
  }

  std::string transaction() {
    static constexpr const char* kPoints[] = {"s0", "s1", "s2"};
    switch (below(10)) {
      case 0:
      case 1:
        return "BEGIN" + std::string(one_in(3) ? " IMMEDIATE" : "");
      case 2:
      case 3:
        return "COMMIT";
      case 4:
        return "ROLLBACK";
      case 5:
      case 6:
        return "SAVEPOINT " + any(kPoints);
      case 7:
        return "RELEASE " + any(kPoints);
      default:
        return "ROLLBACK TO " + any(kPoints);
    }
  }

  std::string change_schema() {
    const int number = static_cast<int>(below(kTables));
    const std::string table = table_name(number);
    switch (below(14)) {
      case 0:
        return "DROP TABLE IF EXISTS " + table;
      case 1:
      case 2:
      case 3:
        return create_table(number);
      case 4:
        return "DROP INDEX IF EXISTS i" + std::to_string(below(kIndexes));
      case 5:
      case 6:
        return "DROP TRIGGER IF EXISTS r" + std::to_string(below(kTriggers));
      case 7:
        return "ALTER TABLE " + table + " ADD COLUMN e" + std::to_string(below(3)) +
               (one_in(2) ? " DEFAULT " + small() : " TEXT COLLATE NOCASE");
      case 8:
        return "ALTER TABLE " + table + " DROP COLUMN " +
               (one_in(6) ? any_column() : "e" + std::to_string(below(3)));
      case 9:
        return "ALTER TABLE " + table + " RENAME COLUMN e" + std::to_string(below(3)) + " TO e" +
               std::to_string(below(3));
      case 10: {
        const std::string copy = "c" + std::to_string(below(2));
        return "DROP TABLE IF EXISTS " + copy + "; CREATE " + (vacuum_ ? "TEMP " : "") + "TABLE " +
               copy + " AS SELECT * FROM " + table + " WHERE " + condition();
      }
      case 11:
        return "ALTER TABLE c0 RENAME TO c1";
      case 12:
        return "DROP VIEW IF EXISTS v; CREATE VIEW v AS SELECT id, a, b FROM " + table +
               " WHERE a IS NOT NULL; SELECT * FROM v ORDER BY id, a, b";
      default:
        return "DROP TABLE IF EXISTS " + table + "; " + create_table(number);
    }
  }

  std::string maintenance() {
    switch (below(9)) {
      case 0:
        return one_in(2) ? "REINDEX" : "REINDEX " + any_table();
      case 1:
        return "ANALYZE";
      case 2:
        // By SQLite's own the planner forgets what was rolled back of ANALYZE.
        return vacuum_ ? "VACUUM; ANALYZE" : std::string("REINDEX ") + any(kOwnCollations);
      case 3:
        return "PRAGMA user_version = " + std::to_string(below(1000)) + "; PRAGMA user_version";
      case 4:
        return "PRAGMA application_id = " + std::to_string(below(1000)) + "; PRAGMA application_id";
      case 5:
        // The order of tables is that in which schemas were read, which VACUUM does anew.
        return "SELECT * FROM pragma_foreign_key_check ORDER BY 1, 2, 3, 4";
      case 6:
        return "PRAGMA defer_foreign_keys = 1";
      case 7:
        return "PRAGMA table_info(" + std::string("t") + std::to_string(below(8)) + ")";
      default:
        return "PRAGMA integrity_check";
    }
  }

  std::mt19937_64 random_;
  const bool vacuum_;
};

}  // namespace hawthorn::sqlite
