#pragma once
// Two databases beneath one library that are told the same: ours, and one in memory, which is
// SQLite's own. What they answer has to be the same.
//
// Used by tests. Threads: one.

#include <cstdint>
#include <string>
#include <vector>

#include "shims/sqlite/src/sqlite_test_support.h"

namespace hawthorn::sqlite {

// What can be seen of a connection behind a statement.
struct Seen {
  Answer answer;
  int64_t changes = 0;
  int64_t total_changes = 0;
  int64_t last_row = 0;
  bool autocommit = false;

  std::string shown() const {
    return "code " + std::to_string(answer.code) + " (" + answer.message + "), changes " +
           std::to_string(changes) + " of " + std::to_string(total_changes) + ", last row " +
           std::to_string(last_row) + (autocommit ? ", no transaction" : ", in a transaction") +
           ", " + std::to_string(answer.rows.size()) + " rows";
  }
};

class EnginePairTest : public SqliteTest {
 protected:
  void open(const std::string& name, const std::string& encoding) {
    history_.clear();
    random_seed_ = 1;
    is_reopened_ = false;
    ours_ = Connection(path(name));
    stock_ = Connection(":memory:");
    define_behind(ours_);
    define_behind(stock_);
    both("PRAGMA encoding = '" + encoding + "'");
    both("ATTACH '" + path(name + ".aux") + "' AS aux", "ATTACH ':memory:' AS aux");
  }

  Seen run(Connection& connection, const std::string& sql, int random_seed) {
    // The same numbers for random() and for row numbers that are chosen at random.
    sqlite3_test_control(SQLITE_TESTCTRL_PRNG_SEED, random_seed, nullptr);
    Seen seen;
    seen.answer = connection.run(sql);
    sqlite3* const db = connection.get();
    seen.autocommit = sqlite3_get_autocommit(db) != 0;
    if (is_reopened_) return seen;
    seen.changes = sqlite3_changes64(db);
    seen.total_changes = sqlite3_total_changes64(db);
    // SQLite's own VACUUM inserts, and so leaves a row number of its own there.
    if (sql.starts_with("VACUUM")) sqlite3_set_last_insert_rowid(db, 0);
    seen.last_row = sqlite3_last_insert_rowid(db);
    return seen;
  }

  bool both(const std::string& sql) { return both(sql, sql); }
  bool both(const std::string& sql, const std::string& of_stock) {
    history_.push_back(sql + ";");
    ++random_seed_;
    const Seen ours = run(ours_, sql, random_seed_);
    const Seen stock = run(stock_, of_stock, random_seed_);
    if (ours.shown() != stock.shown()) {
      fail("ours:  " + ours.shown() + "\nstock: " + stock.shown());
      return false;
    }
    for (size_t i = 0; i < ours.answer.rows.size(); ++i) {
      if (ours.answer.rows[i] == stock.answer.rows[i]) continue;
      fail("row " + std::to_string(i) + "\nours:  " + ours.answer.rows[i] +
           "\nstock: " + stock.answer.rows[i]);
      return false;
    }
    return true;
  }

  void fail(const std::string& what) {
    std::string all;
    for (const std::string& sql : history_) all += sql + "\n";
    ADD_FAILURE() << "seed " << seed_ << ", history:\n" << all << what;
  }

  Connection ours_;
  Connection stock_;
  std::vector<std::string> history_;
  uint64_t seed_ = 0;
  int random_seed_ = 1;
  bool is_reopened_ = false;  // and counts begin again
};

}  // namespace hawthorn::sqlite
