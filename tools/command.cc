#include "tools/command.h"

#include <cstdio>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "hawthorn/key_order.h"
#include "hawthorn/merge_operator.h"
#include "tools/json.h"
#include "tools/keys.h"
#include "tools/stream.h"

namespace hawthorn::tools {
namespace {

// hawthorn-rocksdb gives its trees operators of such names, in which those of programs are put
// (shims/rocksdb/src/slots.h). Here they refuse, so that what was merged stays as it is: such
// databases are checked, copied and counted, and read where nothing is left to merge.
class ProgramsOperator final : public MergeOperator {
 public:
  static constexpr size_t kCount = 256;
  explicit ProgramsOperator(size_t number) : name_("rocksdb.merge." + std::to_string(number)) {}
  std::string_view name() const override { return name_; }
  bool merge(std::string_view, std::optional<std::string_view>, std::span<const std::string_view>,
             std::string*) const override {
    return false;
  }

 private:
  const std::string name_;
};

// The order of libmdbx's MDBX_INTEGERKEY and MDBX_INTEGERDUP, which trees of hawthorn-mdbx have
// (shims/mdbx/src/tables.cc): numbers of 4 or 8 bytes, the last of which counts most.
class IntegerOrder final : public KeyOrder {
 public:
  std::string_view name() const override { return "mdbx.integer"; }
  bool encode(std::string_view key, std::string* sort_key) const override {
    return turn(key, sort_key);
  }
  bool decode(std::string_view sort_key, std::string* key) const override {
    return turn(sort_key, key);
  }

 private:
  static bool turn(std::string_view from, std::string* to) {
    if (from.size() != sizeof(uint32_t) && from.size() != sizeof(uint64_t)) return false;
    to->append(from.rbegin(), from.rend());
    return true;
  }
};

void print_message(LogLevel level, std::string_view message) {
  const char* kind = level == LogLevel::kError     ? "error: "
                     : level == LogLevel::kWarning ? "warning: "
                                                   : "";
  std::fprintf(stderr, "hawthorn: %s%.*s\n", kind, static_cast<int>(message.size()),
               message.data());
}

}  // namespace

ExitCode exit_code_of(const Status& status) {
  switch (status.code()) {
    case StatusCode::kOk:
      return kExitOk;
    case StatusCode::kNotFound:
      return kExitNotFound;
    case StatusCode::kInvalidArgument:
      return kExitUsage;
    case StatusCode::kCorruption:
      return kExitCorruption;
    case StatusCode::kBusy:
      return kExitBusy;
    default:
      return kExitError;
  }
}

ExitCode report_outcome(const Status& status, bool json) {
  if (status.ok()) return kExitOk;
  if (json) {
    Json error;
    error.begin_object().begin_object("error");
    error.field("code", status_code_name(status.code()));
    error.field("message", status.message());
    error.end_object().end_object();
    std::printf("%s\n", error.text().c_str());
  }
  std::fprintf(stderr, "hawthorn: %s\n", status.to_string().c_str());
  return exit_code_of(status);
}

namespace {
Result<WatchedDatabase> follow(const std::string& directory, const Options& options) {
  Result<std::unique_ptr<Follower>> follower =
      Follower::open(directory, FollowerOptions::of(options));
  if (!follower.ok()) return follower.status();
  std::shared_ptr<Db> view = (*follower)->view();
  return WatchedDatabase{std::move(view), *std::move(follower)};
}

// It may be read all the same, without a follower.
bool cannot_follow(const Status& status) {
  return status.is_not_found() || status.is(StatusCode::kNotSupported) ||
         status.is(StatusCode::kPermissionDenied) || status.is(StatusCode::kReadOnly) ||
         status.is(StatusCode::kBusy) || status.is(StatusCode::kOutOfMemory);
}

enum class Follow : uint8_t { kWhereBusy, kFirst };

Result<WatchedDatabase> open_with(const std::string& directory, const Options& options,
                                  Follow how) {
  Status not_followed;
  if (how == Follow::kFirst) {
    Result<WatchedDatabase> followed = follow(directory, options);
    if (followed.ok() || !cannot_follow(followed.status())) return followed;
    not_followed = followed.status();
  }
  Result<std::unique_ptr<Db>> opened = Db::open(directory, options);
  if (opened.ok()) return WatchedDatabase{std::move(*opened), nullptr};
  if (!options.read_only || !opened.status().is(StatusCode::kBusy)) return opened.status();
  if (how == Follow::kWhereBusy) {
    Result<WatchedDatabase> followed = follow(directory, options);
    if (followed.ok() || !cannot_follow(followed.status())) return followed;
    not_followed = followed.status();
  }
  return Status(StatusCode::kBusy,
                std::string(opened.status().message()) +
                    "; it cannot be followed: " + std::string(not_followed.message()));
}

Result<WatchedDatabase> open(const CommonOptions& common, Access access,
                             const Encryption* encryption, Follow how) {
  Options options;
  if (encryption != nullptr) {
    options.encryption = *encryption;
  } else {
    Result<Encryption> named = encryption_of(common.key, common.key_id);
    if (!named.ok()) return named.status();
    options.encryption = *std::move(named);
  }
  options.memory_budget_bytes = common.memory_bytes;
  options.read_only = access == Access::kRead;
  options.create_if_missing = access == Access::kCreate;
  // Of trees with others the command can read nothing.
  options.merge_operators = {uint64_add(), append_with(""), append_with(","), append_with("\n"),
                             bytewise_max()};
  for (size_t i = 0; i < ProgramsOperator::kCount; ++i) {
    options.merge_operators.push_back(std::make_shared<ProgramsOperator>(i));
  }
  options.key_orders = {std::make_shared<IntegerOrder>()};
  options.log = [verbose = common.verbose](LogLevel level, std::string_view message) {
    if (verbose || level != LogLevel::kInfo) print_message(level, message);
  };
  // Of this open: a follower makes views later, too.
  const auto replayed = std::make_shared<std::optional<Progress>>(
      std::in_place, "replayed", Progress::Unit::kBytes, common.show());
  options.open_progress = [replayed](uint64_t done, uint64_t total) {
    if (*replayed) (*replayed)->update_step(done, total);
    return Status();
  };
  Result<WatchedDatabase> db = open_with(common.directory, options, how);
  replayed->reset();
  // The engine names the file; which database it belongs to is known here.
  if (db.ok() || db.status().message().find(common.directory) != std::string_view::npos) return db;
  return Status(db.status().code(), common.directory + ": " + std::string(db.status().message()));
}
}  // namespace

Result<std::shared_ptr<Db>> open_database(const CommonOptions& common, Access access,
                                          const Encryption* encryption) {
  Result<WatchedDatabase> opened = open(common, access, encryption, Follow::kWhereBusy);
  return opened.ok() ? Result<std::shared_ptr<Db>>(std::move(opened->db)) : opened.status();
}

Result<WatchedDatabase> open_watched(const CommonOptions& common) {
  return open(common, Access::kRead, nullptr, Follow::kFirst);
}

Result<std::string> decode_argument(const CommonOptions& common, std::string_view what,
                                    const std::string& text) {
  Result<std::string> bytes = decode(common.encoding(), text);
  if (bytes.ok()) return bytes;
  return Status(StatusCode::kInvalidArgument,
                std::string(what) + ": " + std::string(bytes.status().message()));
}

std::optional<std::string> after_prefix(std::string prefix) {
  while (!prefix.empty() && prefix.back() == '\xff') prefix.pop_back();
  if (prefix.empty()) return std::nullopt;
  prefix.back() = static_cast<char>(static_cast<unsigned char>(prefix.back()) + 1);
  return prefix;
}

Result<KeyRange> resolve_range(const CommonOptions& common, const RangeOptions& range) {
  if (range.prefix && (range.from || range.to)) {
    return Status(StatusCode::kInvalidArgument, "--prefix excludes --from and --to");
  }
  KeyRange keys;
  if (range.prefix) {
    Result<std::string> prefix = decode_argument(common, "--prefix", *range.prefix);
    if (!prefix.ok()) return prefix.status();
    keys.upper = after_prefix(*prefix);
    keys.lower = std::move(*prefix);
  }
  if (range.from) {
    Result<std::string> from = decode_argument(common, "--from", *range.from);
    if (!from.ok()) return from.status();
    keys.lower = std::move(*from);
  }
  if (range.to) {
    Result<std::string> to = decode_argument(common, "--to", *range.to);
    if (!to.ok()) return to.status();
    keys.upper = std::move(*to);
  }
  return keys;
}

size_t whole_value_bytes_max() { return Db::limits().batch_value_bytes_max; }

Status put_from_source(Db& db, const Tree& tree, std::string_view key, uint64_t bytes,
                       const StreamSource& source, Durability durability) {
  if (bytes > whole_value_bytes_max()) {
    Result<Transaction> transaction = db.begin(TxnMode::kExclusive);
    if (!transaction.ok()) return transaction.status();
    Status status = transaction->put_stream(tree, key, bytes, source);
    return status.ok() ? transaction->commit(durability) : status;
  }
  std::string value(bytes, '\0');
  for (size_t filled = 0; filled < value.size();) {
    Result<size_t> got = source(std::span<char>(value).subspan(filled));
    if (!got.ok()) return got.status();
    if (*got == 0) return Status(StatusCode::kIoError, "the value ends before its size");
    filled += *got;
  }
  return db.put(tree, key, value, durability);
}

Status print_line(std::string_view line) {
  Output output = Output::to_stdout();
  output.write(line);
  output.write("\n");
  return output.finish();
}

}  // namespace hawthorn::tools
