#include "tools/sqlite/move.h"

#include <sqlite3.h>

#include <cctype>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "shims/sqlite/src/copies.h"
#include "tools/command.h"
#include "tools/json.h"
#include "tools/partial_directory.h"
#include "tools/progress.h"
#include "tools/stream.h"
#include "tools/text.h"

namespace hawthorn::tools {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kHeadOfStock{"SQLite format 3\0", 16};
constexpr std::string_view kHeadOfOurs = "Hawthorn database for SQLite\n";

StatusCode status_code_of(int code) {
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return StatusCode::kBusy;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_MISMATCH:
      return StatusCode::kCorruption;
    case SQLITE_NOMEM:
      return StatusCode::kOutOfMemory;
    case SQLITE_FULL:
      return StatusCode::kNoSpace;
    case SQLITE_READONLY:
      return StatusCode::kReadOnly;
    case SQLITE_PERM:
      return StatusCode::kPermissionDenied;
    case SQLITE_TOOBIG:
      return StatusCode::kInvalidArgument;
    case SQLITE_ERROR:
      return StatusCode::kNotSupported;
    default:
      return StatusCode::kIoError;
  }
}

// What the library tells its log of errors, which says more than a code.
class ErrorLog {
 public:
  static void start() { sqlite3_config(SQLITE_CONFIG_LOG, &take, nullptr); }
  static std::string text() { return std::exchange(kept(), {}); }

 private:
  static std::string& kept() {
    static std::string all;
    return all;
  }
  static void take(void*, int code, const char* message) {
    constexpr size_t kBytesMax = 1000;
    const int primary = code & 0xff;
    if (primary == SQLITE_NOTICE || primary == SQLITE_WARNING) return;
    if (primary == SQLITE_SCHEMA || kept().size() > kBytesMax) return;
    std::string_view text = message;
    if (text.starts_with("hawthorn: ")) text.remove_prefix(10);
    if (!kept().empty()) kept() += "; ";
    kept() += text;
  }
};

Status failed(const std::string& what, int code) {
  std::string text = what + ": " + sqlite3_errstr(code);
  if (const std::string more = ErrorLog::text(); !more.empty()) text += " (" + more + ")";
  return Status(status_code_of(code), text);
}

// As it stands in a URI.
std::string encoded_path(const std::string& path) {
  std::string encoded;
  for (const char c : fs::absolute(path).string()) {
    char text[4];
    const bool plain =
        isalnum(static_cast<unsigned char>(c)) != 0 || c == '/' || c == '-' || c == '_' || c == '.';
    snprintf(text, sizeof(text), plain ? "%c" : "%%%02X", static_cast<unsigned char>(c));
    encoded += text;
  }
  return encoded;
}

class Database {
 public:
  explicit Database(std::string shown) : shown_(std::move(shown)) {}
  ~Database() { static_cast<void>(close()); }
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  Status open(const std::string& path, const std::string& parameters, bool read_only) {
    const std::string uri = "file:" + encoded_path(path) + "?" + parameters;
    const int flags =
        read_only ? SQLITE_OPEN_READONLY : (SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    const int code = sqlite3_open_v2(uri.c_str(), &db_, flags | SQLITE_OPEN_URI, nullptr);
    if (code == SQLITE_OK) return {};
    const Status status = failed(shown_, code);
    static_cast<void>(close());
    return status;
  }
  Status close() {
    const int code = sqlite3_close(std::exchange(db_, nullptr));
    return code == SQLITE_OK ? Status() : failed(shown_, code);
  }

  sqlite3* get() const { return db_; }
  const std::string& shown() const { return shown_; }

  // The first column of the first row; an error tells what SQLite says.
  Result<std::string> value(const std::string& sql) {
    sqlite3_stmt* statement = nullptr;
    int code = sqlite3_prepare_v2(db_, sql.c_str(), -1, &statement, nullptr);
    std::string found;
    if (code == SQLITE_OK) {
      code = sqlite3_step(statement);
      if (code == SQLITE_ROW) {
        const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, 0));
        found = text != nullptr ? text : "";
        code = SQLITE_OK;
      }
      if (code == SQLITE_DONE) code = SQLITE_OK;
    }
    const std::string message = sqlite3_errmsg(db_);
    sqlite3_finalize(statement);
    if (code == SQLITE_OK) return found;
    static_cast<void>(ErrorLog::text());
    return Status(status_code_of(code), shown_ + ": " + message);
  }

 private:
  const std::string shown_;
  sqlite3* db_ = nullptr;
};

Status has_head(const std::string& path, std::string_view head, const std::string& what) {
  std::error_code error;
  if (!fs::exists(path, error)) return system_error(path, ENOENT);
  std::ifstream file(path, std::ios::binary);
  std::string there(head.size(), '\0');
  file.read(there.data(), static_cast<std::streamsize>(there.size()));
  if (file.gcount() == static_cast<std::streamsize>(head.size()) && there == head) return {};
  return Status(StatusCode::kNotFound, path + ": no " + what);
}

class Move {
 public:
  Move(const MoveOptions& options, bool imports)
      : options_(options),
        imports_(imports),
        verb_(imports ? "imported" : "exported"),
        source_(options.source) {}

  Status run() {
    Status status = imports_
                        ? has_head(options_.source, kHeadOfStock, "database of SQLite")
                        : has_head(options_.source, kHeadOfOurs, "database of hawthorn-sqlite");
    if (!status.ok()) return status;
    ErrorLog::start();
    // Where others read it, they find what the source is, too.
    status = source_.open(options_.source, imports_ ? "mode=ro" : ours(), true);
    if (status.ok()) status = begin_reading();
    if (!status.ok()) return status;
    Result<PartialDirectory> partial = PartialDirectory::make(options_.target);
    if (!partial.ok()) return partial.status();
    const std::string name = fs::path(without_slashes(options_.target)).filename().string();
    status = copy(partial->path() + "/" + name);
    if (status.ok()) status = verify(partial->path() + "/" + name);
    if (status.ok()) status = source_.close();
    if (!status.ok()) return status;
    // The file comes last: it is what is opened.
    std::vector<std::string> names;
    for (const fs::directory_entry& entry : fs::directory_iterator(partial->path())) {
      if (entry.is_directory()) names.push_back(entry.path().filename().string());
    }
    names.push_back(name);
    status = partial->finish_by_moving_out(names);
    return status.ok() ? report() : status;
  }

 private:
  static std::string without_slashes(std::string name) {
    while (name.size() > 1 && name.back() == '/') name.pop_back();
    return name;
  }
  std::string ours() const { return "hawthorn_memory=" + std::to_string(options_.memory_bytes); }
  std::string of_target() const { return imports_ ? ours() : "hawthorn=0"; }

  // One moment, up to the end.
  Status begin_reading() {
    for (const char* sql : {"BEGIN", "SELECT count(*) FROM sqlite_schema"}) {
      if (Result<std::string> s = source_.value(sql); !s.ok()) return s.status();
    }
    return {};
  }

  Status copy(const std::string& path) {
    Database target(options_.target);
    Status status = target.open(path, of_target(), false);
    if (!status.ok()) return status;
    Progress progress(verb_, Progress::Unit::kEntries,
                      progress_show(options_.progress, options_.quiet));
    const int code = hw_copy(target.get(), source_.get(), &show, &progress);
    if (code != SQLITE_OK) return failed(options_.source, code);
    return target.close();
  }

  // What is verified is what the files hold.
  Status verify(const std::string& path) {
    Database target(options_.target);
    Status status = target.open(path, of_target(), true);
    if (!status.ok()) return status;
    {
      Progress progress("compared", Progress::Unit::kEntries,
                        progress_show(options_.progress, options_.quiet));
      char* what = nullptr;
      const int code = hw_compare(source_.get(), "main", target.get(), "main", &compared_, &what,
                                  &show, &progress);
      const std::string where = what != nullptr ? what : "";
      sqlite3_free(what);
      if (code == SQLITE_MISMATCH) {
        return Status(StatusCode::kCorruption, "the copy differs: " + where);
      }
      if (code != SQLITE_OK) return failed("comparing " + where, code);
    }
    // The copy first: what its storage says is told in any case.
    for (Database* database : {&target, &source_}) {
      if (status = check(*database); !status.ok()) return status;
    }
    return target.close();
  }

  // What a program's own functions compute cannot be checked without it.
  Status check(Database& database) {
    const Result<std::string> answer = database.value("PRAGMA integrity_check(1)");
    if (answer.ok() && *answer == "ok") return {};
    if (answer.ok()) return Status(StatusCode::kCorruption, database.shown() + ": " + *answer);
    if (!answer.status().is(StatusCode::kNotSupported)) return answer.status();
    unchecked_ = answer.status().message();
    return {};
  }

  static void show(void* context, long long entries) {
    static_cast<Progress*>(context)->update(static_cast<uint64_t>(entries), 0);
  }

  Status report() const {
    const auto count = [](long long number) { return static_cast<uint64_t>(number); };
    if (options_.json) {
      Json json;
      json.begin_object().field("tables", count(compared_.tables));
      json.field("rows", count(compared_.rows)).field("indexes", count(compared_.indexes));
      json.field("index_entries", count(compared_.index_entries));
      json.field("bytes", count(compared_.bytes)).field("seconds", total_.seconds());
      json.field("checked", unchecked_.empty()).end_object();
      return print_line(json.text());
    }
    if (!unchecked_.empty()) {
      std::fprintf(stderr, "hawthorn: note: integrity_check ended: %s\n", unchecked_.c_str());
    }
    return print_line(
        verb_ + " " + std::to_string(compared_.tables) + " tables, " +
        std::to_string(compared_.rows) + " rows, " + std::to_string(compared_.indexes) +
        " indexes, " + short_bytes(static_cast<double>(compared_.bytes)) + " in " +
        short_time(total_.seconds()) + "; each row and each index entry was compared" +
        (unchecked_.empty() ? ", and both databases were checked" : ""));
  }

  const MoveOptions& options_;
  const bool imports_;
  const std::string verb_;
  const Progress total_{"", Progress::Unit::kEntries, ProgressShow::kNever};
  Database source_;
  HwCompared compared_{};
  std::string unchecked_;  // why
};

}  // namespace

Status run_import_sqlite(const MoveOptions& options) { return Move(options, true).run(); }
Status run_export_sqlite(const MoveOptions& options) { return Move(options, false).run(); }

}  // namespace hawthorn::tools
