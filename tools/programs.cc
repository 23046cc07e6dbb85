// Commands that are programs of their own, since they are linked with what others have no need of.

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>

#include "tools/command.h"
#include "tools/stream.h"

namespace hawthorn::tools {
namespace {

struct Program {
  const char* command;
  const char* name;
  bool keeps_command;  // as its own first argument
  const char* comes_with;
};

constexpr char kShims[] = "it is part of builds with -DHAWTHORN_BUILD_SHIMS=ON";
constexpr char kRocksdb[] =
    "it is part of builds with -DHAWTHORN_BUILD_SHIMS=ON where CMake finds RocksDB's own library "
    "(Debian: apt-get install librocksdb-dev)";
constexpr char kSqlite[] =
    "it is part of builds with -DHAWTHORN_BUILD_SHIMS=ON and SQLite's source in "
    "-DHAWTHORN_SQLITE_SOURCE=DIR (shims/sqlite/fetch.sh)";

constexpr Program kPrograms[] = {
    {"bench", "hawthorn-bench", false, "it is part of builds with -DHAWTHORN_BUILD_BENCH=ON"},
    {"import-rocksdb", "hawthorn-rocksdb", true, kRocksdb},
    {"export-rocksdb", "hawthorn-rocksdb", true, kRocksdb},
    {"import-sqlite", "hawthorn-sqlite", true, kSqlite},
    {"export-sqlite", "hawthorn-sqlite", true, kSqlite},
    {"ldb", "hawthorn-ldb", false, kShims},
    {"mdbx-dump", "hawthorn-mdbx", true, kShims},
    {"mdbx-load", "hawthorn-mdbx", true, kShims},
};

}  // namespace

std::optional<Status> exec_program(char** arguments) {
  for (const Program& program : kPrograms) {
    if (arguments[1] == nullptr || std::strcmp(arguments[1], program.command) != 0) continue;
    if (!program.keeps_command) ++arguments;
    std::string name = program.name;
    arguments[0] = name.data();
    std::error_code error;
    const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
    if (!error) {
      ::execv((self.parent_path() / name).c_str(), arguments);
      if (errno != ENOENT) return system_error(self.parent_path() / name, errno);
    }
    ::execvp(program.name, arguments);
    if (errno != ENOENT) return system_error(name, errno);
    return Status(StatusCode::kNotFound,
                  name + ": neither next to hawthorn nor in PATH; " + program.comes_with);
  }
  return std::nullopt;
}

}  // namespace hawthorn::tools
