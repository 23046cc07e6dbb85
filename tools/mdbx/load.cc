// mdbx-load: the text of mdb_dump and mdbx_dump into tables. What was committed before an error
// stays: the message says how far that is.

#include <signal.h>

#include <cstdio>
#include <optional>
#include <string>
#include <utility>

#include "shims/mdbx/src/tables.h"
#include "tools/command.h"
#include "tools/mdbx/commands.h"
#include "tools/mdbx/environment.h"
#include "tools/mdbx/table_text.h"
#include "tools/progress.h"
#include "tools/stream.h"

namespace hawthorn::tools {
namespace {

// Of a transaction; the first that is met.
constexpr uint64_t kBatchEntries = 10'000;
constexpr uint64_t kBatchBytes = uint64_t{16} << 20;

volatile sig_atomic_t g_interrupted = 0;

// The first signal ends the load behind an entry, the second the process.
void end_on_signals() {
  struct sigaction action{};
  action.sa_handler = [](int) { g_interrupted = 1; };
  action.sa_flags = SA_RESETHAND | SA_RESTART;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaction(signal, &action, nullptr);
}

class MdbxLoader {
 public:
  MdbxLoader(MDBX_env* env, Input& input, const MdbxLoadOptions& options)
      : env_(env),
        input_(input),
        options_(options),
        progress_(std::in_place, "loaded", Progress::Unit::kBytes,
                  progress_show(false, options.quiet)),
        reader_(input, options.plain, [this](const std::string& what) {
          if (!options_.quiet) std::fprintf(stderr, "hawthorn: note: %s\n", what.c_str());
        }) {}

  Status run() {
    Status status = load();
    progress_.reset();
    cursor_.reset();
    txn_.reset();
    const int synced = mdbx_env_sync(env_);
    if (status.ok() && synced != MDBX_SUCCESS && synced != MDBX_RESULT_TRUE) {
      status = mdbx_error(synced, options_.directory);
    }
    return status.ok() ? status : Status(status.code(), std::string(status.message()) + so_far());
  }

  std::string summary() const {
    const auto counted = [](uint64_t count, const char* one, const char* more) {
      return std::to_string(count) + " " + (count == 1 ? one : more);
    };
    std::string text =
        counted(tables_, "table", "tables") + ", " + counted(committed_, "entry", "entries");
    if (skipped_ > 0) text += ", " + std::to_string(skipped_) + " passed over that were there";
    return text;
  }

 private:
  Status load() {
    while (true) {
      const Result<TableTextReader::Event> event = reader_.next();
      if (!event.ok()) return event.status();
      Status status;
      switch (*event) {
        case TableTextReader::Event::kTable:
          status = open_table();
          break;
        case TableTextReader::Event::kEntry:
          status = add_entry();
          break;
        case TableTextReader::Event::kTableEnd:
          status = end_table();
          break;
        case TableTextReader::Event::kEnd:
          return {};
      }
      if (!status.ok()) return status;
      progress_->update(input_.bytes_read(), input_.size());
      if (g_interrupted != 0) return Status(StatusCode::kIoError, "interrupted by a signal");
    }
  }

  std::string so_far() const {
    return "; " + std::to_string(committed_) + " entries" +
           (committed_line_ == 0 ? "" : ", up to line " + std::to_string(committed_line_) + ",") +
           " were loaded";
  }

  Status at_line(int code) const {
    const Status status = mdbx_error(code, table_text(name_));
    return reader_.error(status.message(), status.code());
  }

  Status open_table() {
    if (options_.table && tables_ > 0) {
      return reader_.error("a second table, while -s takes one", StatusCode::kInvalidArgument);
    }
    name_ = options_.table ? options_.table : reader_.header().name;
    if (Status s = begin(); !s.ok()) return s;
    if (const auto& canary = reader_.header().canary; canary && tables_ == 0) {
      const int code = mdbx_canary_put(txn_.get(), &*canary);
      if (code != MDBX_SUCCESS) return at_line(code);
    }
    const unsigned wanted = reader_.header().flags;
    const auto flags = static_cast<MDBX_db_flags_t>(wanted | MDBX_CREATE);
    int code = MDBX_NOTFOUND;
    // Without a header it is taken as it is.
    if (options_.plain) code = open_mdbx_table(txn_.get(), name_, MDBX_DB_ACCEDE, &table_);
    if (code == MDBX_NOTFOUND) code = open_mdbx_table(txn_.get(), name_, flags, &table_);
    if (code == MDBX_INCOMPATIBLE) return incompatible(wanted);
    unsigned has = 0;
    if (code == MDBX_SUCCESS) code = mdbx_dbi_flags(txn_.get(), table_, &has);
    if (code != MDBX_SUCCESS) return at_line(code);
    multi_ = (has & MDBX_DUPSORT) != 0;
    ++tables_;
    if (Status s = set_sequence(); !s.ok()) return s;
    return bind();
  }

  Status incompatible(unsigned wanted) {
    unsigned has = 0;
    std::string what = ": a key of the main table";
    if (open_mdbx_table(txn_.get(), name_, MDBX_DB_ACCEDE, &table_) == MDBX_SUCCESS &&
        mdbx_dbi_flags(txn_.get(), table_, &has) == MDBX_SUCCESS) {
      what = ": it is there, and not empty, with other flags (" + describe_table_flags(has) +
             ") than those of the header (" + describe_table_flags(wanted) + ")";
    } else if (mdbx_dbi_flags(txn_.get(), mdbx::kMainDbi, &has) == MDBX_SUCCESS &&
               (has & MDBX_DUPSORT)) {
      what = ": the main table has entries, and several values for a key: so it has no names";
    }
    return reader_.error(table_text(name_) + what, StatusCode::kInvalidArgument);
  }

  Status set_sequence() {
    uint64_t has = 0;
    int code = mdbx_dbi_sequence(txn_.get(), table_, &has, 0);
    const uint64_t wanted = reader_.header().sequence;
    if (code == MDBX_SUCCESS && has < wanted) {
      code = mdbx_dbi_sequence(txn_.get(), table_, nullptr, wanted - has);
    }
    return code == MDBX_SUCCESS ? Status() : at_line(code);
  }

  Status begin() {
    Result<TransactionHandle> txn = begin_transaction(env_, MDBX_TXN_READWRITE);
    if (!txn.ok()) return txn.status();
    txn_ = std::move(*txn);
    entries_ = skips_ = bytes_ = 0;
    return {};
  }

  Status bind() {
    Result<CursorHandle> cursor = open_cursor(txn_.get(), table_);
    if (!cursor.ok()) return cursor.status();
    cursor_ = std::move(*cursor);
    return {};
  }

  Status add_entry() {
    const MDBX_val key = mdbx_value(reader_.key());
    MDBX_val value = mdbx_value(reader_.value());
    unsigned flags = MDBX_UPSERT;
    if (options_.append) flags |= multi_ ? MDBX_APPEND | MDBX_APPENDDUP : MDBX_APPEND;
    if (options_.no_overwrite) flags |= multi_ ? MDBX_NODUPDATA : MDBX_NOOVERWRITE;
    const int code =
        mdbx_cursor_put(cursor_.get(), &key, &value, static_cast<MDBX_put_flags_t>(flags));
    const bool is_there = code == MDBX_KEYEXIST || (code == MDBX_INCOMPATIBLE && !name_);
    if (options_.no_overwrite && is_there) {
      ++skips_;
    } else if (options_.append && (code == MDBX_EKEYMISMATCH || code == MDBX_KEYEXIST)) {
      return reader_.error(table_text(name_) + ": not behind what is there, as -a has to be",
                           StatusCode::kInvalidArgument);
    } else if (code == MDBX_INCOMPATIBLE) {
      return reader_.error("the key is the name of a table", StatusCode::kInvalidArgument);
    } else if (code != MDBX_SUCCESS) {
      return at_line(code);
    } else {
      ++entries_;
    }
    bytes_ += reader_.key().size() + reader_.value().size();
    if (entries_ + skips_ < kBatchEntries && bytes_ < kBatchBytes) return {};
    if (Status s = commit(); !s.ok()) return s;
    if (Status s = begin(); !s.ok()) return s;
    return bind();
  }

  Status end_table() {
    if (Status s = commit(); !s.ok()) return s;
    const int code = name_ ? mdbx_dbi_close(env_, table_) : MDBX_SUCCESS;
    return code == MDBX_SUCCESS ? Status() : at_line(code);
  }

  Status commit() {
    cursor_.reset();
    const int code = mdbx_txn_commit(txn_.release());
    if (code != MDBX_SUCCESS) return at_line(code);
    committed_ += entries_;
    skipped_ += skips_;
    committed_line_ = reader_.line_number();
    return {};
  }

  MDBX_env* env_;
  const Input& input_;
  const MdbxLoadOptions& options_;
  std::optional<Progress> progress_;
  TableTextReader reader_;
  TransactionHandle txn_;
  CursorHandle cursor_;
  std::optional<std::string> name_;
  MDBX_dbi table_ = 0;
  bool multi_ = false;
  uint64_t tables_ = 0;
  // Of this transaction.
  uint64_t entries_ = 0;
  uint64_t skips_ = 0;
  uint64_t bytes_ = 0;
  // Of those before.
  uint64_t committed_ = 0;
  uint64_t skipped_ = 0;
  uint64_t committed_line_ = 0;
};

}  // namespace

Status run_mdbx_load(const MdbxLoadOptions& options) {
  Result<Input> input = Input::open(options.file);
  if (!input.ok()) return input.status();
  const Result<EnvironmentHandle> env = open_environment(options.directory, MDBX_SAFE_NOSYNC);
  if (!env.ok()) return env.status();
  end_on_signals();
  MdbxLoader loader(env->get(), *input, options);
  const Status status = loader.run();
  return status.ok() && !options.quiet ? print_line(loader.summary()) : status;
}

}  // namespace hawthorn::tools
