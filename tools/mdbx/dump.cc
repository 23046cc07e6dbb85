// mdbx-dump: tables of one snapshot as the text that mdb_load and mdbx_load take.

#include <algorithm>
#include <cstdio>
#include <set>
#include <string>
#include <vector>

#include "shims/mdbx/src/tables.h"
#include "tools/command.h"
#include "tools/mdbx/commands.h"
#include "tools/mdbx/environment.h"
#include "tools/mdbx/table_text.h"
#include "tools/progress.h"
#include "tools/stream.h"
#include "tools/text.h"

namespace hawthorn::tools {
namespace {

// A database here has no upper bound, and is smaller than theirs where it is compressed. Theirs
// need a bound, for which they take room in the address space alone: of libmdbx's with pages of
// 4 kB that may be 8 TB.
constexpr uint64_t kBoundFactor = 64;
constexpr uint64_t kBoundLeast = uint64_t{1} << 30;
constexpr uint64_t kBoundMost = uint64_t{4} << 40;
constexpr uint64_t kUnbounded = uint64_t{1} << 46;
constexpr uint64_t kGrowBytes = uint64_t{16} << 20;  // where a program has set nothing

class MdbxDumper {
 public:
  MdbxDumper(MDBX_env* env, MDBX_txn* txn, const MdbxDumpOptions& options)
      : env_(env), txn_(txn), options_(options) {}

  Status run() {
    if (Status s = find_names(); !s.ok()) return s;
    if (options_.list) return list();
    const bool to_stdout = options_.file.empty() || options_.file == "-";
    Result<Output> output = to_stdout ? Output::to_stdout() : Output::to_file(options_.file);
    if (!output.ok()) return output.status();
    output_ = &*output;
    Progress progress("dumped", Progress::Unit::kEntries,
                      progress_show(false, options_.quiet || output_->is_terminal()));
    progress_ = &progress;
    if (progress.shown()) count_entries();
    TableTextWriter writer(*output_, options_.printable);
    writer_ = &writer;
    Status status = options_.all ? dump_all() : dump_table(options_.table);
    if (!status.ok()) return status;
    if (!options_.all && !options_.table && !names_.empty()) {
      note(std::to_string(names_.size()) + " tables with names are not dumped: -a dumps all");
    }
    return output_->finish();
  }

 private:
  void note(const std::string& text) const {
    if (!options_.quiet) std::fprintf(stderr, "hawthorn: note: %s\n", text.c_str());
  }

  Status find_names() {
    const auto add = [](void* names, const MDBX_txn*, const MDBX_val* name, MDBX_db_flags_t,
                        const MDBX_stat*, MDBX_dbi) noexcept -> int {
      static_cast<std::set<std::string>*>(names)->emplace(mdbx_bytes(*name));
      return MDBX_SUCCESS;
    };
    const int code = mdbx_enumerate_tables(txn_, add, &names_);
    return code == MDBX_SUCCESS ? Status() : mdbx_error(code, options_.directory);
  }

  Status list() const {
    for (const std::string& name : names_) {
      const Status status =
          print_line(is_writable_name(name) ? name : encode(Encoding::kEscaped, name));
      if (!status.ok()) return status;
    }
    return {};
  }

  static Status check_name(const std::string& name) {
    if (is_writable_name(name)) return {};
    return Status(StatusCode::kNotSupported,
                  table_text(name) + ": no line of the format can hold its name");
  }

  // The main table first, as LMDB's mdb_load takes one without a name for that of the table before;
  // and only where it has more than the others' names.
  Status dump_all() {
    for (const std::string& name : names_) {
      if (Status s = check_name(name); !s.ok()) return s;
    }
    MDBX_stat stat{};
    const int code = mdbx_dbi_stat(txn_, mdbx::kMainDbi, &stat, sizeof(stat));
    if (code != MDBX_SUCCESS) return mdbx_error(code, "the main table");
    Status status;
    if (stat.ms_entries > names_.size() || names_.empty()) status = dump_table(std::nullopt);
    for (const std::string& name : names_) {
      if (status.ok()) status = dump_table(name);
    }
    return status;
  }

  Status dump_table(const std::optional<std::string>& name) {
    if (name) {
      if (Status s = check_name(*name); !s.ok()) return s;
    }
    MDBX_dbi table = 0;
    int code = open_mdbx_table(txn_, name, MDBX_DB_ACCEDE, &table);
    if (code == MDBX_INCOMPATIBLE && name) {
      return Status(StatusCode::kInvalidArgument, table_text(name) + ": a key of the main table");
    }
    if (code == MDBX_NOTFOUND)
      return Status(StatusCode::kNotFound, table_text(name) + ": not there");
    if (code != MDBX_SUCCESS) return mdbx_error(code, table_text(name));
    Status status = has_own_order(name);
    if (status.ok()) status = write_header(name, table);
    if (status.ok()) status = write_entries(name, table);
    if (status.ok()) writer_->end();
    if (name) code = mdbx_dbi_close(env_, table);
    return !status.ok() || code == MDBX_SUCCESS ? status : mdbx_error(code, table_text(name));
  }

  // What is in the main table for a table's name is its record.
  Status has_own_order(const std::optional<std::string>& name) {
    if (!name) return {};
    const MDBX_val key = mdbx_value(*name);
    MDBX_val value{};
    const int code = mdbx_get(txn_, mdbx::kMainDbi, &key, &value);
    if (code != MDBX_SUCCESS) return mdbx_error(code, table_text(name));
    const auto record = mdbx::TableRecord::decode(mdbx_bytes(value));
    if (!record || record->comparators == 0) return {};
    return Status(StatusCode::kNotSupported,
                  table_text(name) +
                      ": its order is a function of a program, which this one has "
                      "not");
  }

  // Only for the time that is left: what cannot be counted is met again by who dumps it.
  void count_entries() {
    const auto add = [this](const std::optional<std::string>& name) {
      MDBX_dbi table = mdbx::kMainDbi;
      MDBX_stat stat{};
      if (name && open_mdbx_table(txn_, name, MDBX_DB_ACCEDE, &table) != MDBX_SUCCESS) return;
      if (mdbx_dbi_stat(txn_, table, &stat, sizeof(stat)) == MDBX_SUCCESS) {
        total_ += stat.ms_entries;
      }
      if (name) mdbx_dbi_close(env_, table);
    };
    if (!options_.all) return add(options_.table);
    for (const std::string& name : names_) add(name);
    add(std::nullopt);
    total_ -= std::min<uint64_t>(total_, names_.size());  // their records are not entries
  }

  Status write_header(const std::optional<std::string>& name, MDBX_dbi table) {
    TableHeader header;
    header.name = name;
    int code = mdbx_dbi_flags(txn_, table, &header.flags);
    if (code == MDBX_SUCCESS) code = mdbx_dbi_sequence(txn_, table, &header.sequence, 0);
    if (code != MDBX_SUCCESS) return mdbx_error(code, table_text(name));
    if (!first_) {
      writer_->begin(header, nullptr);
      return {};
    }
    first_ = false;
    EnvironmentHeader environment;
    MDBX_envinfo& info = environment.info;
    MDBX_canary canary{};
    code = mdbx_env_info_ex(env_, txn_, &info, sizeof(info));
    if (code == MDBX_SUCCESS) code = mdbx_canary_get(txn_, &canary);
    if (code != MDBX_SUCCESS) return mdbx_error(code, options_.directory);
    if (canary.v != 0) header.canary = canary;
    constexpr uint64_t kMegabyte = uint64_t{1} << 20;
    const uint64_t used = (info.mi_geo.current / kMegabyte + 1) * kMegabyte;
    environment.bytes_max =
        std::clamp(kBoundFactor * used, kBoundLeast, std::max(kBoundMost, 4 * used));
    if (info.mi_geo.upper < kUnbounded) {
      environment.bytes_max = std::max(environment.bytes_max, info.mi_geo.upper);
    }
    if (info.mi_geo.grow == 0) info.mi_geo.grow = kGrowBytes;
    if (info.mi_geo.shrink == 0) info.mi_geo.shrink = 2 * info.mi_geo.grow;
    writer_->begin(header, &environment);
    return {};
  }

  Status write_entries(const std::optional<std::string>& name, MDBX_dbi table) {
    Result<CursorHandle> cursor = open_cursor(txn_, table);
    if (!cursor.ok()) return cursor.status();
    MDBX_val key{};
    MDBX_val value{};
    int code = MDBX_SUCCESS;
    while ((code = mdbx_cursor_get(cursor->get(), &key, &value, MDBX_NEXT)) == MDBX_SUCCESS) {
      const std::string_view bytes = mdbx_bytes(key);
      if (!name && !names_.empty() && names_.count(std::string(bytes)) > 0) continue;
      writer_->entry(bytes, mdbx_bytes(value));
      progress_->update(++entries_, total_);
      if (!output_->status().ok()) return output_->status();
    }
    return code == MDBX_NOTFOUND ? Status() : mdbx_error(code, table_text(name));
  }

  MDBX_env* env_;
  MDBX_txn* txn_;
  const MdbxDumpOptions& options_;
  std::set<std::string> names_;
  Output* output_ = nullptr;
  Progress* progress_ = nullptr;
  uint64_t entries_ = 0;
  uint64_t total_ = 0;
  TableTextWriter* writer_ = nullptr;
  bool first_ = true;
};

}  // namespace

Status run_mdbx_dump(const MdbxDumpOptions& options) {
  const Result<EnvironmentHandle> env = open_environment(options.directory, MDBX_RDONLY);
  if (!env.ok()) return env.status();
  const Result<TransactionHandle> txn = begin_transaction(env->get(), MDBX_TXN_RDONLY);
  if (!txn.ok()) return txn.status();
  return MdbxDumper(env->get(), txn->get(), options).run();
}

}  // namespace hawthorn::tools
