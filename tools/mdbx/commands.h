#pragma once
// The two commands of hawthorn-mdbx, which main.cc describes and parses.
//
// Threads: single-threaded.

#include <optional>
#include <string>

#include "hawthorn/status.h"

namespace hawthorn::tools {

struct MdbxDumpOptions {
  std::string directory;
  std::string file;                  // empty or "-": standard output
  std::optional<std::string> table;  // instead of the main one
  bool all = false;
  bool list = false;  // only names
  bool printable = false;
  bool quiet = false;
};

struct MdbxLoadOptions {
  std::string directory;
  std::string file;                  // empty or "-": standard input
  std::optional<std::string> table;  // instead of the one that the file names
  bool no_overwrite = false;
  bool append = false;
  bool plain = false;  // lines of text, without headers
  bool quiet = false;
};

Status run_mdbx_dump(const MdbxDumpOptions& options);
Status run_mdbx_load(const MdbxLoadOptions& options);

}  // namespace hawthorn::tools
