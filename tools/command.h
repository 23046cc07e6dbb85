#pragma once
// The commands, each a struct of options and a function that does the work, and what they share:
// opening the database, how an outcome becomes an exit code.
//
// Not here: the command line, which main.cc describes and parses. Threads: single-threaded.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hawthorn/db.h"
#include "hawthorn/follower.h"
#include "tools/progress.h"
#include "tools/table_format.h"
#include "tools/text.h"

namespace hawthorn::tools {

// docs/command.md is the contract of these numbers.
enum ExitCode : int {
  kExitOk = 0,
  kExitNotFound = 1,    // no such key, tree, database or file
  kExitUsage = 2,       // the command line, or a size over the limits
  kExitCorruption = 3,  // of the database or of a dump file
  kExitError = 4,       // input or output, space, memory, permission, a newer format
  kExitBusy = 5,        // another process has the database open
};
ExitCode exit_code_of(const Status& status);
// Says on standard error what went wrong, and with `json` on standard output, too. Returns the exit
// code.
ExitCode report_outcome(const Status& status, bool json);

// Where a key is read from; at most one is named.
struct KeySource {
  std::string file;
  std::string variable;  // of the environment
  int descriptor = -1;
  bool named() const { return !file.empty() || !variable.empty() || descriptor >= 0; }
};

struct CommonOptions {
  std::string directory;
  std::string tree = "main";
  uint64_t memory_bytes = default_memory_budget_bytes();
  bool json = false;
  bool hex = false;
  bool progress = false;
  bool quiet = false;  // no progress, on a terminal neither
  bool verbose = false;
  KeySource key;                 // of an encrypted database
  std::string key_id = "first";  // of one that is created

  ProgressShow show() const { return progress_show(progress, quiet); }
  // The same of a command whose data go to a terminal, or not: there the two would mix.
  ProgressShow show_beside(bool data_on_terminal) const {
    return data_on_terminal && !progress ? ProgressShow::kNever : show();
  }
  Encoding encoding() const { return hex ? Encoding::kHex : Encoding::kEscaped; }
};

// A key range in the words of the command line.
struct RangeOptions {
  std::optional<std::string> from;
  std::optional<std::string> to;
  std::optional<std::string> prefix;  // instead of the other two
};

struct PutOptions {
  std::string key;
  std::optional<std::string> value;  // or from a file
  std::string file;
  Durability durability = Durability::kFull;
};

struct GetOptions {
  std::string key;
  std::string output;  // empty: standard output
};

struct DelOptions {
  std::vector<std::string> keys;
  Durability durability = Durability::kFull;
};

struct ScanCommandOptions {
  RangeOptions range;
  uint64_t limit = ~uint64_t{0};
  bool reverse = false;
  bool keys_only = false;
};

struct LoadOptions {
  std::string file;                 // empty or "-": standard input
  std::optional<std::string> tree;  // instead of the one that the file names
  Durability durability = Durability::kNone;
  bool bulk = false;                       // each tree in one ingest, sorted on the way
  bool sorted = false;                     // the same, of a file whose keys are in order
  std::optional<Compression> compression;  // of the trees, from now on
};

struct DumpOptions {
  std::string file;                // empty or "-": standard output
  std::vector<std::string> trees;  // empty: all
  bool base64 = false;
};

struct TableOptions {
  std::string file;                   // empty or "-": standard input or output
  std::optional<TableFormat> format;  // else by the file's name
  std::string columns;                // import, of a CSV file without a line that names them
  RangeOptions range;                 // export
  bool base64 = false;                // export
  bool bulk = false;                  // import, in one ingest that is sorted on the way
  Durability durability = Durability::kNone;
};

struct StatsOptions {
  std::string watch_seconds;  // empty: once, of the database itself
  uint64_t times = 0;         // 0: until it is closed
};

struct TopOptions {
  std::string every_seconds = "1";
  uint64_t times = 0;  // 0: until it is closed
};

struct MetricsOptions {
  std::string file;           // empty: standard output
  std::string every_seconds;  // empty: once
  std::string listen;         // not empty: over HTTP instead, at this address and port
};

struct ShellOptions {
  bool read_only = false;
};

struct WebOptions {
  uint16_t port = 8080;  // 0: any that is free
};

struct CompactOptions {
  uint64_t bytes_per_second = 0;
};

struct CheckCommandOptions {
  bool indexes_only = false;
  uint64_t bytes_per_second = 0;
  uint32_t threads = 1;
};

struct RotateKeyOptions {
  KeySource new_key;
  std::string new_key_id;
};

struct CopyCommandOptions {
  std::string target;
  uint64_t bytes_per_second = 0;
  bool full = false;
  uint64_t id = 0;  // 0: the newest one
};

struct BackupsCommandOptions {
  std::vector<uint64_t> remove;
};

struct RepairCommandOptions {
  std::string target;
  std::vector<std::string> devices;
  bool ignore_manifest = false;
};

Status run_put(const CommonOptions& common, const PutOptions& options);
Status run_get(const CommonOptions& common, const GetOptions& options);
Status run_del(const CommonOptions& common, const DelOptions& options);
Status run_scan(const CommonOptions& common, const ScanCommandOptions& options);
Status run_count(const CommonOptions& common, const RangeOptions& range);
Status run_load(const CommonOptions& common, const LoadOptions& options);
Status run_dump(const CommonOptions& common, const DumpOptions& options);
Status run_import(const CommonOptions& common, const TableOptions& options);
Status run_export(const CommonOptions& common, const TableOptions& options);
Status run_explain(const CommonOptions& common, const std::string& key);
Status run_stats(const CommonOptions& common, const StatsOptions& options);
Status run_shell(const CommonOptions& common, const ShellOptions& options);
Status run_web(const CommonOptions& common, const WebOptions& options);
Status run_compact(const CommonOptions& common, const CompactOptions& options);
Status run_counters(const CommonOptions& common);
Status run_check(const CommonOptions& common, const CheckCommandOptions& options);
Status run_checkpoint(const CommonOptions& common, const CopyCommandOptions& options);
Status run_backup(const CommonOptions& common, const CopyCommandOptions& options);
Status run_backups(const CommonOptions& common, const BackupsCommandOptions& options);
Status run_verify(const CommonOptions& common, const CopyCommandOptions& options);
Status run_restore(const CommonOptions& common, const CopyCommandOptions& options);
Status run_repair(const CommonOptions& common, const RepairCommandOptions& options);
// Where the first argument is the command of another program, such as hawthorn-bench, becomes that
// one, which lies next to this program or in PATH; then it returns only with an error.
std::optional<Status> exec_program(char** arguments);

enum class Access : uint8_t { kRead, kWrite, kCreate };
// Warnings of the engine go to standard error; --verbose shows its other messages too.
// To read beside a process that has it open: what that has committed until now (follower.h).
// `encryption`: instead of what `common` says.
Result<std::shared_ptr<Db>> open_database(const CommonOptions& common, Access access,
                                          const Encryption* encryption = nullptr);

// One that is read for long, and kept from nobody: a follower, which goes on with what another
// process commits; `db` is its first view. Where there can be none, it is opened read-only.
struct WatchedDatabase {
  std::shared_ptr<Db> db;
  std::shared_ptr<Follower> follower;
};
Result<WatchedDatabase> open_watched(const CommonOptions& common);

// What stats --json prints.
std::string stats_json(const std::string& path, const Stats& stats);

// Decodes a key or value of the command line; `what` names it in the error.
Result<std::string> decode_argument(const CommonOptions& common, std::string_view what,
                                    const std::string& text);

struct KeyRange {
  std::string lower;
  std::optional<std::string> upper;
};
// The first key after all keys with this prefix; nothing when there is none (only 0xff bytes).
std::optional<std::string> after_prefix(std::string prefix);
// Errors: kInvalidArgument for malformed text, or for a prefix beside the other two.
Result<KeyRange> resolve_range(const CommonOptions& common, const RangeOptions& range);

// The largest value that one Db::put takes and that the commands hold in memory; above: streams.
size_t whole_value_bytes_max();

// Writes a value of any size in one commit: whole where it fits, else streamed. `source` as for
// Transaction::put_stream.
Status put_from_source(Db& db, const Tree& tree, std::string_view key, uint64_t bytes,
                       const StreamSource& source, Durability durability);

// Prints one line to standard output.
Status print_line(std::string_view line);

}  // namespace hawthorn::tools
