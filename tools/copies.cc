// checkpoint, backup, backups and restore: copies of a database, and of copies databases.

#include <ctime>
#include <string>

#include "hawthorn/backup.h"
#include "tools/command.h"
#include "tools/json.h"
#include "tools/progress.h"
#include "tools/stream.h"

namespace hawthorn::tools {
namespace {

void append_json(Json& json, const BackupInfo& info) {
  json.begin_object().field("id", info.id).field("created_us", info.created_us);
  json.field("bytes", info.bytes).field("bytes_stored", info.bytes_stored);
  json.field("incremental", info.incremental).end_object();
}

std::string text_of(const BackupInfo& info) {
  const auto seconds = static_cast<std::time_t>(info.created_us / 1'000'000);
  std::tm parts{};
  char time[32] = "";
  if (gmtime_r(&seconds, &parts) != nullptr) {
    static_cast<void>(std::strftime(time, sizeof(time), "%Y-%m-%d %H:%M:%S UTC", &parts));
  }
  return std::to_string(info.id) + "  " + time + "  " +
         short_bytes(static_cast<double>(info.bytes)) + ", of which it stored " +
         short_bytes(static_cast<double>(info.bytes_stored)) +
         (info.incremental ? ", incremental" : ", full");
}

}  // namespace

Status run_checkpoint(const CommonOptions& common, const CopyCommandOptions& options) {
  Result<std::shared_ptr<Db>> db = open_database(common, Access::kWrite);
  if (!db.ok()) return db.status();
  Status status = (*db)->checkpoint(options.target, {.bytes_per_second = options.bytes_per_second});
  return status.ok() ? (*db)->close() : status;
}

Status run_backup(const CommonOptions& common, const CopyCommandOptions& options) {
  Result<std::shared_ptr<Db>> db = open_database(common, Access::kWrite);
  if (!db.ok()) return db.status();
  Result<std::unique_ptr<BackupRepository>> repository = BackupRepository::open(options.target);
  if (!repository.ok()) return repository.status();
  const Result<BackupInfo> made = (*db)->backup(
      **repository, {.bytes_per_second = options.bytes_per_second, .full = options.full});
  if (!made.ok()) return made.status();
  if (Status s = (*db)->close(); !s.ok()) return s;
  Json json;
  append_json(json, *made);
  return print_line(common.json ? json.text() : text_of(*made));
}

// Of the repository: lists its backups, verifies all of them, or removes some.
Status run_backups(const CommonOptions& common, const BackupsCommandOptions& options) {
  Result<std::unique_ptr<BackupRepository>> repository = BackupRepository::open(common.directory);
  if (!repository.ok()) return repository.status();
  for (const uint64_t id : options.remove) {
    if (Status s = (*repository)->remove(id); !s.ok()) return s;
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
  if (common.json || !text.empty()) {
    if (Status s = print_line(common.json ? json.text() : text); !s.ok()) return s;
  }
  for (const BackupInfo& info : *list) {
    if (!options.verify) break;
    if (Status s = (*repository)->verify(info.id); !s.ok()) return s;
  }
  return {};
}

Status run_restore(const CommonOptions& common, const CopyCommandOptions& options) {
  Result<std::unique_ptr<BackupRepository>> repository = BackupRepository::open(common.directory);
  if (!repository.ok()) return repository.status();
  uint64_t id = options.id;
  if (id == 0) {
    const Result<std::vector<BackupInfo>> list = (*repository)->list();
    if (!list.ok()) return list.status();
    if (list->empty()) {
      return Status(StatusCode::kNotFound, common.directory + " holds no backup");
    }
    id = list->back().id;
  }
  return (*repository)->restore(id, options.target, {.bytes_per_second = options.bytes_per_second});
}

}  // namespace hawthorn::tools
