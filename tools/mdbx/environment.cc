#include "tools/mdbx/environment.h"

#include <cerrno>
#include <filesystem>

#include "tools/text.h"

namespace hawthorn::tools {
namespace {

StatusCode status_code(int code) {
  switch (code) {
    case MDBX_NOTFOUND:
    case ENOENT:
      return StatusCode::kNotFound;
    case MDBX_BUSY:
      return StatusCode::kBusy;
    case MDBX_BAD_VALSIZE:
    case MDBX_INCOMPATIBLE:
    case MDBX_EKEYMISMATCH:
    case EINVAL:
      return StatusCode::kInvalidArgument;
    case MDBX_CORRUPTED:
    case MDBX_INVALID:
      return StatusCode::kCorruption;
    case MDBX_MAP_FULL:
    case ENOSPC:
      return StatusCode::kNoSpace;
    case ENOMEM:
      return StatusCode::kOutOfMemory;
    case MDBX_VERSION_MISMATCH:
      return StatusCode::kNotSupported;
    case MDBX_EROFS:
      return StatusCode::kReadOnly;
    case MDBX_EACCESS:
      return StatusCode::kPermissionDenied;
    default:
      return StatusCode::kIoError;
  }
}

struct Original {
  const char* file;
  const char* of;
  const char* dumped_by;
};
constexpr Original kOriginals[] = {{"data.mdb", "LMDB", "mdb_dump -a"},
                                   {"mdbx.dat", "libmdbx", "mdbx_dump -a"}};

bool has_file(const std::string& directory, const char* name) {
  std::error_code error;
  return std::filesystem::exists(std::filesystem::path(directory) / name, error);
}

bool has_database(const std::string& directory) { return has_file(directory, "superblock"); }

// A directory of an original's is not one to read, nor to put other files in.
Status refuse_original(const std::string& directory) {
  if (has_database(directory)) return {};
  for (const Original& original : kOriginals) {
    if (!has_file(directory, original.file)) continue;
    return Status(StatusCode::kNotSupported,
                  directory + ": written by " + original.of + ": what `" + original.dumped_by +
                      "` writes of it, `hawthorn mdbx-load` reads into a new directory");
  }
  return {};
}

int open_with(const std::string& directory, MDBX_env_flags_t flags, EnvironmentHandle* handle) {
  MDBX_env* env = nullptr;
  int code = mdbx_env_create(&env);
  if (code != MDBX_SUCCESS) return code;
  handle->reset(env);
  code = mdbx_env_set_maxdbs(env, 1);
  return code == MDBX_SUCCESS ? mdbx_env_open(env, directory.c_str(), flags, 0664) : code;
}

}  // namespace

Status mdbx_error(int code, std::string_view what) {
  return Status(status_code(code), std::string(what) + ": " + mdbx_strerror(code));
}

std::string table_text(const std::optional<std::string>& name) {
  return name ? "the table " + encode(Encoding::kEscaped, *name) : "the main table";
}

Result<EnvironmentHandle> open_environment(const std::string& directory, MDBX_env_flags_t flags) {
  if (Status s = refuse_original(directory); !s.ok()) return s;
  EnvironmentHandle handle;
  int code = open_with(directory, flags, &handle);
  // To read is to follow who writes, which takes that somebody has: not so of a new copy.
  if (code == ENOENT && has_database(directory)) {
    code = open_with(directory, MDBX_SAFE_NOSYNC, &handle);
  }
  if (code == ENOENT) return Status(StatusCode::kNotFound, directory + ": no database is there");
  if (code != MDBX_SUCCESS) return mdbx_error(code, directory);
  return handle;
}

Result<TransactionHandle> begin_transaction(MDBX_env* env, MDBX_txn_flags_t flags) {
  MDBX_txn* txn = nullptr;
  const int code = mdbx_txn_begin(env, nullptr, flags, &txn);
  if (code != MDBX_SUCCESS) return mdbx_error(code, "a transaction");
  return TransactionHandle(txn);
}

Result<CursorHandle> open_cursor(MDBX_txn* txn, MDBX_dbi table) {
  MDBX_cursor* cursor = nullptr;
  const int code = mdbx_cursor_open(txn, table, &cursor);
  if (code != MDBX_SUCCESS) return mdbx_error(code, "a cursor");
  return CursorHandle(cursor);
}

int open_mdbx_table(MDBX_txn* txn, const std::optional<std::string>& name, MDBX_db_flags_t flags,
                    MDBX_dbi* table) {
  if (!name) return mdbx_dbi_open2(txn, nullptr, flags, table);
  const MDBX_val bytes = mdbx_value(*name);
  return mdbx_dbi_open2(txn, &bytes, flags, table);
}

}  // namespace hawthorn::tools
