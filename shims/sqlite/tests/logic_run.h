#pragma once
// Runs files of sqllogictest's, each in a new database.
//
// Not here: their form (logic_script.h). Used by hawthorn-sqllogictest. Threads: any; a connection
// by one.

#include <sqlite3.h>

#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

#include "shims/sqlite/tests/logic_script.h"

namespace hawthorn::sqlite {

struct LogicFailure {
  size_t line = 0;
  std::string what;  // with what was expected, and what there was
};

struct LogicResult {
  size_t records = 0;  // statements and queries that were run
  size_t skipped = 0;
  std::vector<LogicFailure> failures;
};

// A value as the format has it: I by %d, R by %.3f; NULL; (empty); each byte that is no printable
// one of ASCII as @.
std::string logic_value(sqlite3_stmt* statement, int column, char type);

// In hexadecimal digits, of the values with a line's end behind each.
std::string logic_hash(const std::vector<std::string>& values);

// Runs a script on a connection. `text` is the script's.
LogicResult run_logic_script(sqlite3* db, std::string text);

struct LogicOptions {
  bool stock = false;     // in a database of SQLite's own
  std::string directory;  // in which the database is made, and removed again
};

// Reads a file and runs it; at its end the database is checked.
LogicResult run_logic_file(const std::string& path, const LogicOptions& options);

// The program, whose report goes to `out`. Returns what it exits with.
int logic_main(const std::vector<std::string>& arguments, FILE* out);

}  // namespace hawthorn::sqlite
