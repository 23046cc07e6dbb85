#include "db/foreign_files.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace hawthorn::db {

namespace {
// The first bytes of a file of SQLite's (its "Database File Format", 1.3.1).
constexpr std::string_view kSqliteHead{"SQLite format 3\0", 16};

bool is_sqlite_file(os::FileSystem& files, const std::string& directory, std::string_view name) {
  const auto ends = {".db", ".db3", ".sqlite", ".sqlite3"};
  if (std::none_of(ends.begin(), ends.end(), [&](const char* end) { return name.ends_with(end); }))
    return false;
  os::OpenFlags flags;
  flags.read_only = true;
  Result<std::unique_ptr<os::File>> file =
      files.open_file(directory + "/" + std::string(name), flags);
  std::array<char, kSqliteHead.size()> head;
  return file.ok() && (*file)->read_at(0, head).ok() &&
         std::string_view(head.data(), head.size()) == kSqliteHead;
}
}  // namespace

Status refuse_foreign_files(os::FileSystem& files, const std::string& directory,
                            const std::vector<std::string>& names) {
  const auto refused = [&](std::string_view engine, std::string_view name,
                           std::string_view command) {
    return Status(StatusCode::kNotSupported, directory + " holds a database of " +
                                                 std::string(engine) + " (" + std::string(name) +
                                                 "); `hawthorn " + std::string(command) +
                                                 "` makes one of ours of it, in another directory");
  };
  const bool has_current = std::find(names.begin(), names.end(), "CURRENT") != names.end();
  for (const std::string& name : names) {
    const bool is_table = name.ends_with(".sst") || name.ends_with(".ldb");
    if (has_current && (is_table || name.starts_with("MANIFEST-"))) {
      return refused("RocksDB's or LevelDB's", name, "import-rocksdb");
    }
    if (name == "data.mdb" || name == "mdbx.dat") {
      return refused(name == "data.mdb" ? "LMDB's" : "libmdbx's", name, "mdbx-load");
    }
    if (is_sqlite_file(files, directory, name)) return refused("SQLite's", name, "import-sqlite");
  }
  return {};
}

}  // namespace hawthorn::db
