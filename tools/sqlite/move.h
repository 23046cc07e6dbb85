#pragma once
// import-sqlite and export-sqlite: files of SQLite's become databases that programs open through
// hawthorn-sqlite, and the other way round.
//
// They are a program of their own, hawthorn-sqlite, that is linked with the shim.
//
// Not here: the command line (sqlite_main.cc). Threads: single-threaded.
//
// 1. The target appears under its name when all of it is there, synced, and was compared with the
//    source, entry by entry; until then it is in a directory NAME.partial.
// 2. The source is opened read-only, and what is read of it is one state.

#include <cstdint>
#include <string>

#include "hawthorn/status.h"

namespace hawthorn::tools {

struct MoveOptions {
  std::string source;
  std::string target;
  uint64_t memory_bytes = uint64_t{256} << 20;  // of the database of ours
  bool json = false;
  bool progress = false;
  bool quiet = false;  // no progress, on a terminal neither
};

Status run_import_sqlite(const MoveOptions& options);
Status run_export_sqlite(const MoveOptions& options);

}  // namespace hawthorn::tools
