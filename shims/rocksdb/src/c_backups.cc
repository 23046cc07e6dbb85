// The C API of backups.

#include <memory>
#include <string>
#include <vector>

#include "rocksdb/utilities/backup_engine.h"
#include "shims/rocksdb/src/c_types.h"

struct rocksdb_backup_engine_t {
  std::unique_ptr<rocksdb::BackupEngine> rep;
};
struct rocksdb_backup_engine_info_t {
  std::vector<rocksdb::BackupInfo> rep;
};
struct rocksdb_restore_options_t {
  rocksdb::RestoreOptions rep;
};
struct rocksdb_backup_engine_options_t {
  rocksdb::BackupEngineOptions rep;
  bool short_of_memory = false;
};

namespace {

using hawthorn::rocks::failed;
using EngineOptions = rocksdb_backup_engine_options_t;

rocksdb_backup_engine_t* open_engine(const rocksdb::BackupEngineOptions& options, rocksdb::Env* env,
                                     char** errptr) {
  auto holder = std::make_unique<rocksdb_backup_engine_t>();
  rocksdb::BackupEngine* engine = nullptr;
  if (failed(errptr, rocksdb::BackupEngine::Open(options, env, &engine))) return nullptr;
  holder->rep.reset(engine);
  return holder.release();
}

const rocksdb::BackupInfo& at(const rocksdb_backup_engine_info_t* info, int index) {
  return info->rep[static_cast<size_t>(index)];
}

}  // namespace

extern "C" {

rocksdb_backup_engine_t* rocksdb_backup_engine_open(const rocksdb_options_t* options,
                                                    const char* path, char** errptr) try {
  rocksdb::BackupEngineOptions with(path);
  with.info_log = options->rep.info_log.get();
  return open_engine(with, options->rep.env, errptr);
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
  return nullptr;
}
rocksdb_backup_engine_t* rocksdb_backup_engine_open_opts(const EngineOptions* options,
                                                         rocksdb_env_t* env, char** errptr) try {
  // The environment in memory, which is null here, is refused as any other.
  if (hawthorn::rocks::incomplete(options, errptr)) return nullptr;
  return open_engine(options->rep, env != nullptr ? env->rep : nullptr, errptr);
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
  return nullptr;
}
void rocksdb_backup_engine_create_new_backup(rocksdb_backup_engine_t* engine, rocksdb_t* db,
                                             char** errptr) try {
  failed(errptr, engine->rep->CreateNewBackup(db->rep.get()));
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
}
void rocksdb_backup_engine_create_new_backup_flush(rocksdb_backup_engine_t* engine, rocksdb_t* db,
                                                   unsigned char flush_before_backup,
                                                   char** errptr) try {
  failed(errptr, engine->rep->CreateNewBackup(db->rep.get(), flush_before_backup != 0));
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
}
void rocksdb_backup_engine_purge_old_backups(rocksdb_backup_engine_t* engine,
                                             uint32_t num_backups_to_keep, char** errptr) try {
  failed(errptr, engine->rep->PurgeOldBackups(num_backups_to_keep));
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
}
void rocksdb_backup_engine_verify_backup(rocksdb_backup_engine_t* engine, uint32_t backup_id,
                                         char** errptr) try {
  failed(errptr, engine->rep->VerifyBackup(backup_id));
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
}
void rocksdb_backup_engine_restore_db_from_latest_backup(
    rocksdb_backup_engine_t* engine, const char* db_dir, const char* wal_dir,
    const rocksdb_restore_options_t* restore_options, char** errptr) try {
  failed(errptr, engine->rep->RestoreDBFromLatestBackup(restore_options->rep, db_dir, wal_dir));
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
}
void rocksdb_backup_engine_restore_db_from_backup(rocksdb_backup_engine_t* engine,
                                                  const char* db_dir, const char* wal_dir,
                                                  const rocksdb_restore_options_t* restore_options,
                                                  const uint32_t backup_id, char** errptr) try {
  failed(errptr,
         engine->rep->RestoreDBFromBackup(restore_options->rep, backup_id, db_dir, wal_dir));
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
}
void rocksdb_backup_engine_close(rocksdb_backup_engine_t* engine) { delete engine; }

// ---- What there is

const rocksdb_backup_engine_info_t* rocksdb_backup_engine_get_backup_info(
    rocksdb_backup_engine_t* engine) try {
  auto* const info = new rocksdb_backup_engine_info_t;
  engine->rep->GetBackupInfo(&info->rep);
  return info;
} catch (...) {
  return nullptr;
}
int rocksdb_backup_engine_info_count(const rocksdb_backup_engine_info_t* info) {
  return static_cast<int>(info->rep.size());
}
int64_t rocksdb_backup_engine_info_timestamp(const rocksdb_backup_engine_info_t* info, int index) {
  return at(info, index).timestamp;
}
uint32_t rocksdb_backup_engine_info_backup_id(const rocksdb_backup_engine_info_t* info, int index) {
  return at(info, index).backup_id;
}
uint64_t rocksdb_backup_engine_info_size(const rocksdb_backup_engine_info_t* info, int index) {
  return at(info, index).size;
}
uint32_t rocksdb_backup_engine_info_number_files(const rocksdb_backup_engine_info_t* info,
                                                 int index) {
  return at(info, index).number_files;
}
void rocksdb_backup_engine_info_destroy(const rocksdb_backup_engine_info_t* info) { delete info; }

// ---- Options

rocksdb_restore_options_t* rocksdb_restore_options_create() try {
  return new rocksdb_restore_options_t;
} catch (...) {
  return nullptr;
}
void rocksdb_restore_options_destroy(rocksdb_restore_options_t* options) { delete options; }
void rocksdb_restore_options_set_keep_log_files(rocksdb_restore_options_t* options, int value) {
  options->rep.keep_log_files = value != 0;
}
EngineOptions* rocksdb_backup_engine_options_create(const char* backup_dir) try {
  return new EngineOptions{rocksdb::BackupEngineOptions(backup_dir)};
} catch (...) {
  return nullptr;
}
void rocksdb_backup_engine_options_destroy(EngineOptions* options) { delete options; }
void rocksdb_backup_engine_options_set_backup_dir(EngineOptions* options,
                                                  const char* backup_dir) try {
  options->rep.backup_dir = backup_dir;
} catch (...) {
  options->short_of_memory = true;
}
void rocksdb_backup_engine_options_set_env(EngineOptions* options, rocksdb_env_t* env) {
  options->rep.backup_env = env != nullptr ? env->rep : nullptr;
}
void rocksdb_backup_engine_options_set_share_table_files(EngineOptions* options,
                                                         unsigned char value) {
  options->rep.share_table_files = value != 0;
}
unsigned char rocksdb_backup_engine_options_get_share_table_files(EngineOptions* options) {
  return options->rep.share_table_files ? 1 : 0;
}
void rocksdb_backup_engine_options_set_sync(EngineOptions* options, unsigned char value) {
  options->rep.sync = value != 0;
}
unsigned char rocksdb_backup_engine_options_get_sync(EngineOptions* options) {
  return options->rep.sync ? 1 : 0;
}
void rocksdb_backup_engine_options_set_destroy_old_data(EngineOptions* options,
                                                        unsigned char value) {
  options->rep.destroy_old_data = value != 0;
}
unsigned char rocksdb_backup_engine_options_get_destroy_old_data(EngineOptions* options) {
  return options->rep.destroy_old_data ? 1 : 0;
}
void rocksdb_backup_engine_options_set_backup_log_files(EngineOptions* options,
                                                        unsigned char value) {
  options->rep.backup_log_files = value != 0;
}
unsigned char rocksdb_backup_engine_options_get_backup_log_files(EngineOptions* options) {
  return options->rep.backup_log_files ? 1 : 0;
}
void rocksdb_backup_engine_options_set_backup_rate_limit(EngineOptions* options, uint64_t value) {
  options->rep.backup_rate_limit = value;
}
uint64_t rocksdb_backup_engine_options_get_backup_rate_limit(EngineOptions* options) {
  return options->rep.backup_rate_limit;
}
void rocksdb_backup_engine_options_set_restore_rate_limit(EngineOptions* options, uint64_t value) {
  options->rep.restore_rate_limit = value;
}
uint64_t rocksdb_backup_engine_options_get_restore_rate_limit(EngineOptions* options) {
  return options->rep.restore_rate_limit;
}
void rocksdb_backup_engine_options_set_max_background_operations(EngineOptions* options,
                                                                 int value) {
  options->rep.max_background_operations = value;
}
int rocksdb_backup_engine_options_get_max_background_operations(EngineOptions* options) {
  return options->rep.max_background_operations;
}
void rocksdb_backup_engine_options_set_callback_trigger_interval_size(EngineOptions* options,
                                                                      uint64_t value) {
  options->rep.callback_trigger_interval_size = value;
}
uint64_t rocksdb_backup_engine_options_get_callback_trigger_interval_size(EngineOptions* options) {
  return options->rep.callback_trigger_interval_size;
}
void rocksdb_backup_engine_options_set_max_valid_backups_to_open(EngineOptions* options,
                                                                 int value) {
  options->rep.max_valid_backups_to_open = value;
}
int rocksdb_backup_engine_options_get_max_valid_backups_to_open(EngineOptions* options) {
  return options->rep.max_valid_backups_to_open;
}
void rocksdb_backup_engine_options_set_share_files_with_checksum_naming(EngineOptions* options,
                                                                        int value) {
  options->rep.share_files_with_checksum_naming =
      static_cast<rocksdb::BackupEngineOptions::ShareFilesNaming>(value);
}
int rocksdb_backup_engine_options_get_share_files_with_checksum_naming(EngineOptions* options) {
  return static_cast<int>(options->rep.share_files_with_checksum_naming);
}

}  // extern "C"
