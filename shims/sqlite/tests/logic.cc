// Files of sqllogictest's against databases of Hawthorn's:
//
//   hawthorn-sqllogictest [--stock] [--jobs N] PATH...
//
// A path is a file, or a directory with .test files below it. Each is run in a new database, of
// SQLite's own with --stock, which is removed. Prints FILE:LINE and what was expected of all that
// fails; the last line is `N files, N records, N skipped, N failed`. Exits with 1 where something
// failed, with 2 where there is nothing to run.
#include "shims/sqlite/tests/logic_run.h"

int main(int argc, char** argv) {
  return hawthorn::sqlite::logic_main({argv + 1, argv + argc}, stdout);
}
