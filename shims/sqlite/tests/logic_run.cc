#include "shims/sqlite/tests/logic_run.h"

#include <openssl/evp.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

namespace hawthorn::sqlite {

namespace {

constexpr char kEngine[] = "sqlite";
constexpr size_t kHashThreshold = 8;  // of files that say nothing of it
constexpr char kHashing[] = " values hashing to ";

// ---- Records

class Runner {
 public:
  Runner(sqlite3* db, std::string text) : db_(db), script_(std::move(text), kEngine) {}

  LogicResult run() {
    LogicRecord record;
    while (script_.next(&record) && take(record)) {
    }
    return std::move(result_);
  }

 private:
  using Kind = LogicRecord::Kind;

  void fail(size_t line, std::string what) { result_.failures.push_back({line, std::move(what)}); }

  // False: the rest is not run.
  bool take(const LogicRecord& record) {
    if (record.kind == Kind::kMalformed) {
      fail(record.line, "malformed: " + record.problem);
      return false;
    }
    const bool sql = record.kind == Kind::kStatement || record.kind == Kind::kQuery;
    if (record.skipped) {
      if (sql) ++result_.skipped;
      if (record.kind == Kind::kQuery) check_skipped(record);
      return true;
    }
    if (sql) ++result_.records;
    switch (record.kind) {
      case Kind::kStatement:
        run_statement(record);
        break;
      case Kind::kQuery:
        run_query(record);
        break;
      case Kind::kHashThreshold:
        threshold_ = record.hash_threshold;
        break;
      default:
        return false;  // halt
    }
    return true;
  }

  void run_statement(const LogicRecord& record) {
    char* message = nullptr;
    const int code = sqlite3_exec(db_, record.sql.c_str(), nullptr, nullptr, &message);
    const std::string said = message != nullptr ? message : sqlite3_errstr(code);
    sqlite3_free(message);
    if (record.expect_error && code == SQLITE_OK) {
      fail(record.line, "expected an error, and there was none: " + record.sql);
    } else if (!record.expect_error && code != SQLITE_OK) {
      fail(record.line, "error: " + said + ": " + record.sql);
    }
  }

  void run_query(const LogicRecord& record) {
    std::vector<std::string> values;
    const std::string problem = read_values(record, &values);
    if (!problem.empty()) {
      fail(record.line, problem + ": " + record.sql);
      return;
    }
    sort_values(record, &values);
    if (!record.label.empty()) check_label(record, logic_hash(values));
    if (threshold_ > 0 && values.size() > threshold_) {
      compare_hash(record, values);
    } else {
      compare_values(record, values);
    }
  }

  // What went wrong; empty: nothing.
  std::string read_values(const LogicRecord& record, std::vector<std::string>* values) {
    sqlite3_stmt* prepared = nullptr;
    const char* rest = nullptr;
    const int code = sqlite3_prepare_v2(db_, record.sql.c_str(), -1, &prepared, &rest);
    const std::unique_ptr<sqlite3_stmt, decltype(&sqlite3_finalize)> statement(prepared,
                                                                               &sqlite3_finalize);
    if (code != SQLITE_OK) return std::string("error: ") + sqlite3_errmsg(db_);
    if (prepared == nullptr) return "there is no statement";
    if (strspn(rest, "; \t\v\f\r\n") != strlen(rest)) return "there is more than one statement";
    const auto columns = static_cast<size_t>(sqlite3_column_count(prepared));
    if (columns != record.types.size()) {
      return "expected " + std::to_string(record.types.size()) + " columns, and there are " +
             std::to_string(columns);
    }
    int stepped = SQLITE_OK;
    while ((stepped = sqlite3_step(prepared)) == SQLITE_ROW) {
      for (size_t i = 0; i < columns; ++i) {
        values->push_back(logic_value(prepared, static_cast<int>(i), record.types[i]));
      }
    }
    // The original takes any error of a query that is under way as its end, and its files rely on
    // that for some whose arithmetic fails.
    if (stepped == SQLITE_ERROR && record.expected.empty()) return {};
    return stepped == SQLITE_DONE ? std::string() : std::string("error: ") + sqlite3_errmsg(db_);
  }

  static void sort_values(const LogicRecord& record, std::vector<std::string>* values) {
    if (record.sort == LogicRecord::Sort::kValues) {
      std::sort(values->begin(), values->end());
    } else if (record.sort == LogicRecord::Sort::kRows) {
      const size_t columns = record.types.size();
      std::vector<std::vector<std::string>> rows;
      for (auto at = values->begin(); at != values->end(); at += static_cast<ptrdiff_t>(columns)) {
        rows.emplace_back(at, at + static_cast<ptrdiff_t>(columns));
      }
      std::sort(rows.begin(), rows.end());
      values->clear();
      for (auto& row : rows) std::move(row.begin(), row.end(), std::back_inserter(*values));
    }
  }

  void check_label(const LogicRecord& record, const std::string& hash) {
    const auto [at, first] = labels_.try_emplace(record.label, hash);
    if (!first && at->second != hash) {
      fail(record.line, "label " + record.label + ": expected the values that hash to " +
                            at->second + ", as before, and these hash to " + hash + ": " +
                            record.sql);
    }
  }

  // Of a query that is not run the values expected have to be the label's.
  void check_skipped(const LogicRecord& record) {
    if (record.label.empty() || record.expected.empty()) return;
    const std::string& first = record.expected.front();
    const size_t number_end = first.find_first_not_of("0123456789");
    const bool hashed = number_end != 0 && number_end != std::string::npos &&
                        first.compare(number_end, sizeof(kHashing) - 1, kHashing) == 0;
    check_label(record, hashed ? first.substr(number_end + sizeof(kHashing) - 1)
                               : logic_hash(record.expected));
  }

  void compare_hash(const LogicRecord& record, const std::vector<std::string>& values) {
    const std::string actual = std::to_string(values.size()) + kHashing + logic_hash(values);
    if (record.expected == std::vector<std::string>{actual}) return;
    std::string expected;
    for (const std::string& line : record.expected) expected += "[" + line + "]";
    fail(record.expected_line, "expected " + (expected.empty() ? "nothing" : expected) +
                                   ", and there are [" + actual + "]: " + record.sql);
  }

  void compare_values(const LogicRecord& record, const std::vector<std::string>& values) {
    const std::vector<std::string>& expected = record.expected;
    const size_t same = std::min(expected.size(), values.size());
    for (size_t i = 0; i < same; ++i) {
      if (expected[i] == values[i]) continue;
      fail(record.expected_line + i, "value " + std::to_string(i + 1) + ": expected [" +
                                         expected[i] + "], and it is [" + values[i] +
                                         "]: " + record.sql);
      return;
    }
    if (expected.size() != values.size()) {
      fail(record.expected_line + same, "expected " + std::to_string(expected.size()) +
                                            " values, and there are " +
                                            std::to_string(values.size()) + ": " + record.sql);
    }
  }

  sqlite3* const db_;
  LogicScript script_;
  size_t threshold_ = kHashThreshold;
  std::map<std::string, std::string> labels_;  // the hash of each
  LogicResult result_;
};

// ---- Files

std::optional<std::string> read_file(const std::string& path) {
  const std::unique_ptr<FILE, decltype(&fclose)> file(fopen(path.c_str(), "rb"), &fclose);
  if (file == nullptr) return std::nullopt;
  std::string text;
  char part[1 << 16];
  size_t size = 0;
  while ((size = fread(part, 1, sizeof(part), file.get())) > 0) text.append(part, size);
  if (ferror(file.get()) != 0) return std::nullopt;
  return text;
}

// Empty: it is sound.
std::string damage_of(sqlite3* db) {
  sqlite3_stmt* statement = nullptr;
  int code = sqlite3_prepare_v2(db, "PRAGMA integrity_check", -1, &statement, nullptr);
  std::string found;
  while (code == SQLITE_OK && (code = sqlite3_step(statement)) == SQLITE_ROW) {
    code = SQLITE_OK;
    const auto* line = reinterpret_cast<const char*>(sqlite3_column_text(statement, 0));
    const std::string text = line != nullptr ? line : "no memory";
    if (text != "ok") found += (found.empty() ? "" : "; ") + text;
  }
  sqlite3_finalize(statement);
  if (code == SQLITE_DONE) return found;
  return std::string("error: ") + sqlite3_errmsg(db);
}

// ---- The program

struct Arguments {
  bool stock = false;
  size_t jobs = 1;
  std::vector<std::string> paths;
};

// What is wrong with them; empty: nothing.
std::string read_arguments(const std::vector<std::string>& arguments, Arguments* out) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument == "--stock") {
      out->stock = true;
    } else if (argument == "--jobs") {
      const std::string number = ++i < arguments.size() ? arguments[i] : std::string();
      const char* const end = number.data() + number.size();
      const auto [at, error] = std::from_chars(number.data(), end, out->jobs);
      if (error != std::errc() || at != end || out->jobs == 0) return "--jobs takes a number";
    } else if (argument.starts_with("-")) {
      return "there is no option " + argument;
    } else {
      out->paths.push_back(argument);
    }
  }
  return out->paths.empty() ? "there is no path" : std::string();
}

// A file is itself, a directory all *.test files below it. False: a path has none.
bool find_files(const std::vector<std::string>& paths, std::vector<std::string>* files,
                std::string* problem) {
  namespace fs = std::filesystem;
  for (const std::string& path : paths) {
    std::error_code error;
    const size_t before = files->size();
    const fs::file_status status = fs::status(path, error);
    if (status.type() == fs::file_type::not_found) {
      *problem = path + ": there is no such file";
    } else if (!fs::is_directory(status)) {
      files->push_back(path);
    } else {
      for (fs::recursive_directory_iterator at(path, error), end; !error && at != end;
           at.increment(error)) {
        if (at->path().extension() == ".test" && !at->is_directory()) files->push_back(at->path());
      }
    }
    if (problem->empty() && error) *problem = path + ": " + error.message();
    if (problem->empty() && files->size() == before) *problem = path + ": there is no .test file";
    if (!problem->empty()) return false;
    std::sort(files->begin() + static_cast<ptrdiff_t>(before), files->end());
  }
  return true;
}

// Removed in the end.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::error_code error;
    const auto parent = std::filesystem::temp_directory_path(error);
    if (error) return;
    std::string name = (parent / "hawthorn-sqllogictest-XXXXXX").string();
    if (mkdtemp(name.data()) != nullptr) path_ = name;
  }
  ~TemporaryDirectory() {
    std::error_code error;
    if (!path_.empty()) std::filesystem::remove_all(path_, error);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  // Empty: it could not be made.
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Files that threads take one after the other.
class Runs {
 public:
  Runs(const std::vector<std::string>& files, bool stock, FILE* out)
      : files_(files), stock_(stock), out_(out) {}

  void run_all() {
    for (size_t i = next_++; i < files_.size(); i = next_++) {
      LogicOptions options;
      options.stock = stock_;
      const TemporaryDirectory directory;
      options.directory = directory.path();
      if (options.directory.empty()) {
        report(files_[i], {0, 0, {{0, std::string("no directory: ") + strerror(errno)}}});
      } else {
        report(files_[i], run_logic_file(files_[i], options));
      }
    }
  }

  void print_totals() {
    fprintf(out_, "%zu files, %zu records, %zu skipped, %zu failed\n", files_.size(), records_,
            skipped_, failed_);
  }
  size_t failed() const { return failed_; }

 private:
  void report(const std::string& path, const LogicResult& result) {
    const std::lock_guard lock(mutex_);
    records_ += result.records;
    skipped_ += result.skipped;
    failed_ += result.failures.size();
    for (const LogicFailure& failure : result.failures) {
      fprintf(out_, "%s:%zu: %s\n", path.c_str(), failure.line, failure.what.c_str());
    }
    fflush(out_);
  }

  const std::vector<std::string>& files_;
  const bool stock_;
  FILE* const out_;
  std::atomic<size_t> next_{0};
  std::mutex mutex_;
  size_t records_ = 0;
  size_t skipped_ = 0;
  size_t failed_ = 0;
};

}  // namespace

std::string logic_value(sqlite3_stmt* statement, int column, char type) {
  if (sqlite3_column_type(statement, column) == SQLITE_NULL) return "NULL";
  char number[400];  // the largest double has 309 digits before the point
  switch (type) {
    case 'I':
      snprintf(number, sizeof(number), "%d", sqlite3_column_int(statement, column));
      return number;
    case 'R':
      sqlite3_snprintf(sizeof(number), number, "%.3f", sqlite3_column_double(statement, column));
      return number;
    default: {
      const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement, column));
      if (bytes == nullptr) return "no memory for a text";
      if (*bytes == '\0') return "(empty)";
      std::string text = bytes;
      for (char& c : text) c = c < ' ' || c > '~' ? '@' : c;
      return text;
    }
  }
}

std::string logic_hash(const std::vector<std::string>& values) {
  std::string all;
  for (const std::string& value : values) {
    all += value;
    all += '\n';
  }
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  if (EVP_Digest(all.data(), all.size(), digest, &size, EVP_md5(), nullptr) != 1) {
    return "no MD5: libcrypto does not give it";
  }
  std::string text;
  for (unsigned i = 0; i < size; ++i) {
    constexpr char kDigits[] = "0123456789abcdef";
    text += kDigits[digest[i] >> 4];
    text += kDigits[digest[i] & 15];
  }
  return text;
}

LogicResult run_logic_script(sqlite3* db, std::string text) {
  return Runner(db, std::move(text)).run();
}

LogicResult run_logic_file(const std::string& path, const LogicOptions& options) {
  std::optional<std::string> text = read_file(path);
  if (!text.has_value()) return {0, 0, {{0, std::string("not read: ") + strerror(errno)}}};
  sqlite3* db = nullptr;
  const std::string name =
      "file:" + options.directory + "/test.db" + (options.stock ? "?hawthorn=0" : "");
  constexpr int kFlags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI;
  LogicResult result;
  if (sqlite3_open_v2(name.c_str(), &db, kFlags, nullptr) != SQLITE_OK ||
      sqlite3_exec(db, "PRAGMA synchronous = OFF", nullptr, nullptr, nullptr) != SQLITE_OK) {
    result.failures.push_back({0, std::string("no database: ") + sqlite3_errmsg(db)});
  } else {
    result = run_logic_script(db, std::move(*text));
    const std::string damage = damage_of(db);
    if (!damage.empty()) result.failures.push_back({0, "integrity_check: " + damage});
  }
  if (sqlite3_close(db) != SQLITE_OK) {
    result.failures.push_back({0, std::string("not closed: ") + sqlite3_errmsg(db)});
  }
  return result;
}

int logic_main(const std::vector<std::string>& arguments, FILE* out) {
  Arguments read;
  std::vector<std::string> files;
  std::string problem = read_arguments(arguments, &read);
  if (!problem.empty()) {
    fprintf(out,
            "%s\nusage: hawthorn-sqllogictest [--stock] [--jobs N] PATH...\n"
            "  runs the .test files of sqllogictest's, each in a new database of Hawthorn's;\n"
            "  --stock: of SQLite's own\n",
            problem.c_str());
    return 2;
  }
  if (!find_files(read.paths, &files, &problem)) {
    fprintf(out, "%s\n", problem.c_str());
    return 2;
  }
  Runs runs(files, read.stock, out);
  std::vector<std::thread> threads;
  for (size_t i = 1; i < std::min(read.jobs, files.size()); ++i) {
    threads.emplace_back([&runs] { runs.run_all(); });
  }
  runs.run_all();
  for (std::thread& thread : threads) thread.join();
  runs.print_totals();
  return runs.failed() == 0 ? 0 : 1;
}

}  // namespace hawthorn::sqlite
