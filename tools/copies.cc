// checkpoint, backup, backups, verify and restore: copies of a database, and of copies databases.

#include <algorithm>
#include <ctime>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "hawthorn/backup.h"
#include "tools/command.h"
#include "tools/db_progress.h"
#include "tools/json.h"
#include "tools/keys.h"
#include "tools/progress.h"
#include "tools/stream.h"

namespace hawthorn::tools {
namespace {

constexpr std::string_view kStream = "-";  // standard output, or input

class OutputSink : public BackupSink {
 public:
  explicit OutputSink(Output* output) : output_(output) {}
  Status write(std::string_view bytes) override {
    output_->write(bytes);
    return output_->status();
  }

 private:
  Output* const output_;
};

class InputSource : public BackupSource {
 public:
  InputSource(Input* input, Progress* progress) : input_(input), progress_(progress) {}
  Result<size_t> read(std::span<char> bytes) override {
    progress_->update_step(input_->bytes_read(), input_->size());
    return input_->read(bytes);
  }

 private:
  Input* const input_;
  Progress* const progress_;
};

// Of one whose head was not read only the number is known.
void append_json(Json& json, const BackupInfo& info) {
  json.begin_object().field("id", info.id);
  if (info.created_us == 0) {
    json.end_object();
    return;
  }
  json.field("created_us", info.created_us);
  json.field("bytes", info.bytes).field("bytes_stored", info.bytes_stored);
  json.field("bytes_read", info.bytes_read);
  json.field("incremental", info.incremental).field("encrypted", info.encrypted).end_object();
}

std::string text_of(const BackupInfo& info) {
  if (info.created_us == 0) return std::to_string(info.id);
  const auto seconds = static_cast<std::time_t>(info.created_us / 1'000'000);
  std::tm parts{};
  char time[32] = "";
  if (gmtime_r(&seconds, &parts) != nullptr) {
    static_cast<void>(std::strftime(time, sizeof(time), "%Y-%m-%d %H:%M:%S UTC", &parts));
  }
  return (info.id == 0 ? "" : std::to_string(info.id) + "  ") + time + "  " +
         short_bytes(static_cast<double>(info.bytes)) + ", of which it stored " +
         short_bytes(static_cast<double>(info.bytes_stored)) +
         (info.incremental ? ", incremental" : ", full") + (info.encrypted ? ", encrypted" : "");
}

}  // namespace

Status run_checkpoint(const CommonOptions& common, const CopyCommandOptions& options) {
  Result<std::shared_ptr<Db>> db = open_database(common, Access::kWrite);
  if (!db.ok()) return db.status();
  Status status = [&] {
    Progress progress("copied", Progress::Unit::kBytes, common.show());
    return (*db)->checkpoint(options.target,
                             {.bytes_per_second = options.bytes_per_second,
                              .progress = copy_progress(&progress, bytes_to_copy(**db)),
                              .share_blocks = !options.full});
  }();
  return status.ok() ? close_shown(**db, common.show()) : status;
}

namespace {

Status backup_to_stdout(Db& db, const CommonOptions& common, const CopyCommandOptions& options) {
  Output output = Output::to_stdout();
  if (output.is_terminal()) {
    return Status(StatusCode::kInvalidArgument,
                  "a backup is not for a terminal: let standard output be a file or a pipe");
  }
  OutputSink sink(&output);
  Progress progress("copied", Progress::Unit::kBytes, common.show());
  const Result<BackupInfo> made =
      db.backup_to(sink, {.bytes_per_second = options.bytes_per_second,
                          .progress = copy_progress(&progress, bytes_to_copy(db))});
  return made.ok() ? output.finish() : made.status();
}

}  // namespace

Status run_backup(const CommonOptions& common, const CopyCommandOptions& options) {
  Result<std::shared_ptr<Db>> db = open_database(common, Access::kWrite);
  if (!db.ok()) return db.status();
  if (options.target == kStream) {
    if (Status s = backup_to_stdout(**db, common, options); !s.ok()) return s;
    return close_shown(**db, common.show());
  }
  Result<std::unique_ptr<BackupRepository>> repository = BackupRepository::open(options.target);
  if (!repository.ok()) return repository.status();
  const Result<std::vector<BackupInfo>> earlier = (*repository)->list();
  const Result<BackupInfo> made = [&] {
    Progress progress("copied", Progress::Unit::kBytes, common.show());
    // What earlier ones have is not copied: how much that is only the end tells.
    const bool all = options.full || (earlier.ok() && earlier->empty());
    return (*db)->backup(**repository,
                         {.bytes_per_second = options.bytes_per_second,
                          .progress = copy_progress(&progress, all ? bytes_to_copy(**db) : 0),
                          .full = options.full});
  }();
  if (!made.ok()) return made.status();
  if (Status s = close_shown(**db, common.show()); !s.ok()) return s;
  Json json;
  append_json(json, *made);
  return print_line(common.json ? json.text() : text_of(*made));
}

namespace {

// One that is there: nobody who asks what it holds wants a new one.
Result<std::unique_ptr<BackupRepository>> open_repository(const CommonOptions& common) {
  return BackupRepository::open(common.directory, {.create_if_missing = false});
}

Status no_backup(const CommonOptions& common) {
  return Status(StatusCode::kNotFound, common.directory + " holds no backup");
}

// What is whole. A stream has no number.
Status print_verified(const CommonOptions& common, std::span<const BackupInfo> all) {
  Json json;
  json.begin_object().begin_array("verified");
  std::string text;
  for (const BackupInfo& info : all) {
    append_json(json, info);
    text += (text.empty() ? "verified " : "\nverified ") + text_of(info);
  }
  json.end_array().end_object();
  return print_line(common.json ? json.text() : text);
}

}  // namespace

// Of the repository: lists its backups, behind the removal of some.
Status run_backups(const CommonOptions& common, const BackupsCommandOptions& options) {
  Result<std::unique_ptr<BackupRepository>> repository = open_repository(common);
  if (!repository.ok()) return repository.status();
  if (!options.remove.empty()) {
    if (Status s = remove_shown(**repository, options.remove, common.show()); !s.ok()) return s;
  }
  const Result<std::vector<BackupInfo>> list = (*repository)->list();
  if (!list.ok()) return list.status();
  Json json;
  json.begin_object().begin_array("backups");
  std::string text;
  for (const BackupInfo& info : *list) {
    append_json(json, info);
    text += text_of(info) + "\n";
  }
  json.end_array().end_object();
  if (!text.empty()) text.pop_back();
  if (!common.json && text.empty()) return {};
  return print_line(common.json ? json.text() : text);
}

// With a key all that are encrypted have to open with it; one that is asked for by its number, or
// is a stream, also has to be encrypted.
namespace {

// What one of them has, or all for 0; 0 where there is no list.
uint64_t bytes_of(const Result<std::vector<BackupInfo>>& list, uint64_t id) {
  uint64_t bytes = 0;
  if (!list.ok()) return bytes;
  for (const BackupInfo& info : *list) bytes += id == 0 || id == info.id ? info.bytes : 0;
  return bytes;
}

}  // namespace

Status run_verify(const CommonOptions& common, const CopyCommandOptions& options) {
  Result<Encryption> key = encryption_of(common.key, {});
  if (!key.ok()) return key.status();
  Progress progress("verified", Progress::Unit::kBytes, common.show());
  VerifyOptions verify = {.encryption = std::move(*key)};
  if (common.directory == kStream) {
    Result<Input> input = Input::open("-");
    if (!input.ok()) return input.status();
    InputSource source(&*input, &progress);
    const Result<BackupInfo> verified = verify_backup(source, verify);
    return verified.ok() ? print_verified(common, {&*verified, 1}) : verified.status();
  }
  Result<std::unique_ptr<BackupRepository>> repository = open_repository(common);
  if (!repository.ok()) return repository.status();
  const Result<std::vector<BackupInfo>> list = (*repository)->list();
  // Damage of another one is no reason not to verify it.
  if (!list.ok() && options.id == 0) return list.status();
  const uint64_t total = bytes_of(list, options.id);
  uint64_t before = 0;
  verify.progress = [&](uint64_t bytes) {
    progress.update_step(before + bytes, total);
    return Status();
  };
  if (options.id != 0) {
    if (Status s = (*repository)->verify(options.id, verify); !s.ok()) return s;
    BackupInfo verified;
    verified.id = options.id;
    // There is no list where another one is damaged.
    if (list.ok()) verified = *std::ranges::find(*list, options.id, &BackupInfo::id);
    return print_verified(common, {&verified, 1});
  }
  if (list->empty()) return no_backup(common);
  for (const BackupInfo& info : *list) {
    VerifyOptions one = verify;
    if (!info.encrypted) one.encryption = {};
    Status status = (*repository)->verify(info.id, one);
    before += info.bytes;
    if (!status.ok()) {
      return {status.code(),
              "backup " + std::to_string(info.id) + ": " + std::string(status.message())};
    }
  }
  return print_verified(common, *list);
}

Status run_restore(const CommonOptions& common, const CopyCommandOptions& options) {
  Result<Encryption> key = encryption_of(common.key, {});
  if (!key.ok()) return key.status();
  Progress progress("restored", Progress::Unit::kBytes, common.show());
  RestoreOptions restore = {.bytes_per_second = options.bytes_per_second,
                            .encryption = std::move(*key)};
  if (common.directory == kStream) {
    if (options.id != 0) {
      return Status(StatusCode::kInvalidArgument, "a stream has one backup, without a number");
    }
    Result<Input> input = Input::open("-");
    if (!input.ok()) return input.status();
    InputSource source(&*input, &progress);
    return restore_backup(source, options.target, restore).status();
  }
  Result<std::unique_ptr<BackupRepository>> repository = open_repository(common);
  if (!repository.ok()) return repository.status();
  const Result<std::vector<BackupInfo>> list = (*repository)->list();
  if (!list.ok() && options.id == 0) return list.status();
  if (options.id == 0 && list->empty()) return no_backup(common);
  const uint64_t id = options.id != 0 ? options.id : list->back().id;
  restore.progress = copy_progress(&progress, bytes_of(list, id));
  return (*repository)->restore(id, options.target, restore);
}

}  // namespace hawthorn::tools
