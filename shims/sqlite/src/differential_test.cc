// Histories of random SQL on two databases, ours and one in memory, which is SQLite's own: after
// each statement both have said the same.
//
// A failing history is printed whole. HAWTHORN_SQLITE_SEED replays one seed alone.

#include <string>
#include <vector>

#include "shims/sqlite/src/differential_test_support.h"
#include "shims/sqlite/src/engine_pair_test_support.h"
#include "testing/scaled.h"

namespace hawthorn::sqlite::differential_test {
namespace {

class DifferentialTest : public EnginePairTest {
 protected:
  // Every table and every index, both ways round.
  bool compare_all() {
    for (const std::string schema : {"main", "aux", "temp"}) {
      const std::string master = schema + ".sqlite_schema";
      if (!both("SELECT type, name, tbl_name, sql FROM " + master + " ORDER BY 1, 2")) return false;
      for (const bool backward : {false, true}) {
        both(std::string("PRAGMA reverse_unordered_selects = ") + (backward ? "1" : "0"));
        for (const std::string& name : names(schema, "type = 'table'")) {
          // ANALYZE goes by the order of a hash table, which SQLite's VACUUM makes anew.
          const std::string order = name == "sqlite_stat1" ? " ORDER BY 1, 2" : "";
          if (!both("SELECT * FROM " + schema + ".\"" + name + "\" NOT INDEXED" + order)) {
            return false;
          }
        }
        for (const std::string& scan : index_scans(schema)) {
          if (!both(scan)) return false;
        }
      }
      both("PRAGMA reverse_unordered_selects = 0");
      if (!both("PRAGMA " + schema + ".integrity_check")) return false;
      if (!both("SELECT * FROM pragma_foreign_key_check WHERE schema = '" + schema +
                "' ORDER BY 1, 2, 3, 4")) {
        return false;
      }
    }
    // SQLite itself finds rows missing where an expression has made text of what is none.
    return both("PRAGMA integrity_check");
  }

  std::vector<std::string> names(const std::string& schema, const std::string& which) {
    std::vector<std::string> all = stock_.rows("SELECT name FROM " + schema +
                                               ".sqlite_schema WHERE " + which + " ORDER BY name");
    for (std::string& name : all) name = name.substr(2, name.size() - 3);
    return all;
  }

  std::vector<std::string> index_scans(const std::string& schema) {
    std::vector<std::string> all =
        stock_.rows("SELECT 'SELECT * FROM ' || '" + schema +
                    "' || '.\"' || tbl_name || '\" INDEXED BY \"' || name || '\" ' || "
                    "CASE WHEN instr(sql, ' WHERE ') THEN substr(sql, instr(sql, ' WHERE ')) ELSE "
                    "'' END FROM " +
                    schema + ".sqlite_schema WHERE type = 'index' ORDER BY name");
    for (std::string& scan : all) scan = scan.substr(2, scan.size() - 3);
    return all;
  }

  bool run_history(uint64_t seed, int statements) {
    seed_ = seed;
    const bool vacuum = seed % 2 == 0;
    SqlGenerator generator(seed, vacuum);
    open("history-" + std::to_string(seed) + ".db", seed % 5 == 0 ? "UTF-16le" : "UTF-8");
    both("PRAGMA foreign_keys = " + std::to_string(seed % 3 == 0 ? 0 : 1));
    both("PRAGMA recursive_triggers = " + std::to_string(seed % 4 == 1 ? 1 : 0));
    // So that sqlite_sequence stays, which SQLite's VACUUM forgets when nothing needs it.
    both("CREATE TABLE counted(id INTEGER PRIMARY KEY AUTOINCREMENT)");
    for (int i = 0; i < SqlGenerator::kTables; ++i) {
      if (generator.one_in(8)) continue;
      if (!both(generator.create_table(i))) return false;
    }
    for (int i = 0; i < statements; ++i) {
      if (!both(generator.statement())) return false;
      if (i % 100 == 99 && !compare_all()) return false;
    }
    if (sqlite3_get_autocommit(stock_.get()) == 0 && !both("COMMIT") && !both("ROLLBACK")) {
      return false;
    }
    return compare_all() && reopen(seed) && compare_all();
  }

  // What was committed is there when all was closed; in memory it is left as it is.
  bool reopen(uint64_t seed) {
    if (sqlite3_get_autocommit(stock_.get()) == 0) both("ROLLBACK");
    const std::string name = sqlite3_db_filename(ours_.get(), "main");
    for (const std::string& table : names("temp", "type = 'table' AND name NOT LIKE 'sqlite_%'")) {
      both("DROP TABLE temp.\"" + table + "\"");
    }
    history_.push_back("-- reopen, seed " + std::to_string(seed));
    ours_ = Connection();
    ours_ = Connection(name);
    define_behind(ours_);
    ours_.run("ATTACH '" + name + ".aux' AS aux");
    is_reopened_ = true;
    stock_.run("PRAGMA foreign_keys = 1");
    ours_.run("PRAGMA foreign_keys = 1");
    return true;
  }
};

TEST_F(DifferentialTest, RandomHistories) {
  const uint64_t only = testing::environment_number("HAWTHORN_SQLITE_SEED", 0);
  const uint64_t last = only != 0 ? only : testing::scaled(120);
  for (uint64_t seed = only != 0 ? only : 1; seed <= last; ++seed) {
    if (!run_history(seed, 400)) return;
    ours_.close();
    stock_.close();
  }
}

// Seeks by all of a key, a part of it, or more columns than it has.
TEST_F(DifferentialTest, QueriesOfKeyedTables) {
  const uint64_t only = testing::environment_number("HAWTHORN_SQLITE_SEED", 0);
  const uint64_t last = only != 0 ? only : testing::scaled(1200);
  open("keyed.db", "UTF-8");
  for (uint64_t seed = only != 0 ? only : 1; seed <= last; ++seed) {
    seed_ = seed;
    history_.clear();
    SqlGenerator generator(seed, false);
    both("DROP TABLE IF EXISTS " + SqlGenerator::table_name(0));
    if (!both(generator.create_keyed_table())) return;
    if (!both(generator.insert_alike()) || !both(generator.insert_alike())) return;
    for (int i = 0; i < 40; ++i) {
      if (!both(generator.query_keyed_table())) return;
    }
  }
}

}  // namespace
}  // namespace hawthorn::sqlite::differential_test
