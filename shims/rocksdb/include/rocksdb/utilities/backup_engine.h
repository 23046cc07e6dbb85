#pragma once
// Backups of databases in a directory, which stores what they have in common once.
//
// They are the engine's (hawthorn/backup.h), in the directory `repository` of backup_dir; beside
// it, in `metadata`, is a file for each that makes it one: what a crash has left without it is not
// shown, and goes with the next backup. Backups that RocksDB has made are not read.
//
// Not here: files of backups, and leaving some of them out.
// Used by programs. Threads: any; of calls to one directory one is served, others wait, also those
// of several engines of a process. Of two processes one has the directory; the other gets Busy.
// Durable: what a call has done, when it returns.

#include <climits>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "rocksdb/env.h"
#include "rocksdb/io_status.h"
#include "rocksdb/options.h"
#include "rocksdb/rate_limiter.h"

namespace ROCKSDB_NAMESPACE {

class DB;

// [mapped]
struct BackupEngineOptions {
  // Of what stands in backups, and how RocksDB names it. [accepted]
  enum ShareFilesNaming : uint32_t {
    kLegacyCrc32cAndFileSize = 1U,
    kUseDbSessionId = 2U,
    kMaskNoNamingFlags = 0xffffU,
    kFlagIncludeFileSize = 1U << 31,
    kMaskNamingFlags = ~kMaskNoNamingFlags,
  };

  explicit BackupEngineOptions(
      const std::string& _backup_dir, Env* _backup_env = nullptr, bool _share_table_files = true,
      Logger* _info_log = nullptr, bool _sync = true, bool _destroy_old_data = false,
      bool _backup_log_files = true, uint64_t _io_buffer_size = 0, uint64_t _backup_rate_limit = 0,
      uint64_t _restore_rate_limit = 0, int _max_background_operations = 1,
      uint64_t _callback_trigger_interval_size = uint64_t{4} << 20,
      int _max_valid_backups_to_open = INT_MAX,
      ShareFilesNaming _share_files_with_checksum_naming =
          static_cast<ShareFilesNaming>(kUseDbSessionId | kFlagIncludeFileSize))
      : backup_dir(_backup_dir),
        backup_env(_backup_env),
        share_table_files(_share_table_files),
        info_log(_info_log),
        sync(_sync),
        destroy_old_data(_destroy_old_data),
        backup_log_files(_backup_log_files),
        io_buffer_size(_io_buffer_size),
        backup_rate_limit(_backup_rate_limit),
        restore_rate_limit(_restore_rate_limit),
        max_background_operations(_max_background_operations),
        callback_trigger_interval_size(_callback_trigger_interval_size),
        max_valid_backups_to_open(_max_valid_backups_to_open),
        share_files_with_checksum_naming(_share_files_with_checksum_naming) {}

  // It, but not the directory above it, is made when missing.
  std::string backup_dir;
  Env* backup_env;         // null or the default one; another is refused
  bool share_table_files;  // false: a backup shares nothing with earlier ones
  // [accepted]
  Logger* info_log;
  bool sync;  // always so [accepted]
  // Open removes all backups that are there.
  bool destroy_old_data;
  bool backup_log_files;  // false is refused: the log is a part of each
  // [accepted]
  uint64_t io_buffer_size;
  // Bytes per second, also of what is read. 0: no limit.
  uint64_t backup_rate_limit;
  // In place of it; looked at when a backup begins.
  std::shared_ptr<RateLimiter> backup_rate_limiter;
  uint64_t restore_rate_limit;
  std::shared_ptr<RateLimiter> restore_rate_limiter;
  // [accepted]
  bool share_files_with_checksum = true;
  int max_background_operations;  // [accepted]
  // In bytes that are copied; at least about a MB.
  uint64_t callback_trigger_interval_size;
  // Of BackupEngineReadOnly: so many of the newest are shown.
  int max_valid_backups_to_open;
  // [accepted]
  ShareFilesNaming share_files_with_checksum_naming;
  // [accepted]
  int schema_version = 1;
  // [accepted]
  bool current_temperatures_override_manifest = false;
};

// [mapped]
struct CreateBackupOptions {
  // What is not flushed is in a backup in any case.
  bool flush_before_backup = false;
  // Called by the thread that makes the backup, after so many bytes as
  // callback_trigger_interval_size has, and when all is copied. It must not call the engine but for
  // StopBackup. One that throws makes the backup Aborted, and nothing of it stays.
  std::function<void()> progress_callback = {};
  // [accepted]
  bool decrease_background_thread_cpu_priority = false;
  // [accepted]
  CpuPriority background_thread_cpu_priority = CpuPriority::kNormal;
};

// [mapped]
struct RestoreOptions {
  // All is written anew, always. [accepted]
  enum Mode : uint32_t {
    kKeepLatestDbSessionIdFiles = 1U,
    kVerifyChecksum = 2U,
    kPurgeAllFiles = 0xffffU,
  };

  explicit RestoreOptions(bool _keep_log_files = false, Mode _mode = Mode::kPurgeAllFiles)
      : keep_log_files(_keep_log_files), mode(_mode) {}

  bool keep_log_files;  // true is refused
  Mode mode;            // [accepted]
};

// [mapped]
using BackupID = uint32_t;

// [mapped]
struct BackupInfo {
  BackupID backup_id = 0U;
  int64_t timestamp = 0;  // seconds since 1970
  uint64_t size = 0U;     // that a restore writes
  // 1: there is no such number here. [accepted]
  uint32_t number_files = 0U;
  std::string app_metadata;

  BackupInfo() = default;
  explicit BackupInfo(BackupID _backup_id, int64_t _timestamp, uint64_t _size,
                      uint32_t _number_files, const std::string& _app_metadata)
      : backup_id(_backup_id),
        timestamp(_timestamp),
        size(_size),
        number_files(_number_files),
        app_metadata(_app_metadata) {}
};

// What reads a directory of backups. include_file_details means nothing: files are not listed.
// [mapped]
class BackupEngineReadOnlyBase {
 public:
  virtual ~BackupEngineReadOnlyBase() = default;

  // Of the newest. Errors: NotFound.
  virtual Status GetLatestBackupInfo(BackupInfo* backup_info,
                                     bool include_file_details = false) const = 0;
  // Errors: NotFound; Corruption where its metadata are damaged.
  virtual Status GetBackupInfo(BackupID backup_id, BackupInfo* backup_info,
                               bool include_file_details = false) const = 0;
  // Of all that are not damaged, the oldest first.
  virtual void GetBackupInfo(std::vector<BackupInfo>* backup_infos,
                             bool include_file_details = false) const = 0;
  // Those whose metadata are. Where an index of the repository is, Open fails with Corruption.
  virtual void GetCorruptedBackups(std::vector<BackupID>* corrupt_backup_ids) const = 0;

  // Removes the database that is in db_dir, which is not open, and makes it of the backup. wal_dir
  // is the same directory, or empty; another is refused. Errors: NotFound, Corruption of the
  // backup, before the database is removed; Busy where it is open; InvalidArgument for a directory
  // that holds other things, which stay.
  virtual IOStatus RestoreDBFromBackup(const RestoreOptions& options, BackupID backup_id,
                                       const std::string& db_dir,
                                       const std::string& wal_dir) const = 0;
  virtual IOStatus RestoreDBFromBackup(BackupID backup_id, const std::string& db_dir,
                                       const std::string& wal_dir,
                                       const RestoreOptions& options = RestoreOptions()) const {
    return RestoreDBFromBackup(options, backup_id, db_dir, wal_dir);
  }
  // Of the newest that is not damaged.
  virtual IOStatus RestoreDBFromLatestBackup(const RestoreOptions& options,
                                             const std::string& db_dir,
                                             const std::string& wal_dir) const = 0;
  virtual IOStatus RestoreDBFromLatestBackup(
      const std::string& db_dir, const std::string& wal_dir,
      const RestoreOptions& options = RestoreOptions()) const {
    return RestoreDBFromLatestBackup(options, db_dir, wal_dir);
  }

  // Reads all of it and compares checksums, whatever the flag says. Errors: NotFound; Corruption.
  virtual IOStatus VerifyBackup(BackupID backup_id, bool verify_with_checksum = false) const = 0;
};

// [mapped]
class BackupEngineAppendOnlyBase {
 public:
  virtual ~BackupEngineAppendOnlyBase() = default;

  // A backup of what was committed at one moment of the call, and of all families. The database is
  // one of this library's own; what is over it, as transactions are, is looked through. Errors:
  // NotSupported for another; Incomplete where StopBackup was called; NoSpace.
  virtual IOStatus CreateNewBackupWithMetadata(const CreateBackupOptions& options, DB* db,
                                               const std::string& app_metadata,
                                               BackupID* new_backup_id = nullptr) = 0;
  virtual IOStatus CreateNewBackupWithMetadata(
      DB* db, const std::string& app_metadata, bool flush_before_backup = false,
      std::function<void()> progress_callback = []() {}) {
    CreateBackupOptions options;
    options.flush_before_backup = flush_before_backup;
    options.progress_callback = progress_callback;
    return CreateNewBackupWithMetadata(options, db, app_metadata);
  }
  virtual IOStatus CreateNewBackup(const CreateBackupOptions& options, DB* db,
                                   BackupID* new_backup_id = nullptr) {
    return CreateNewBackupWithMetadata(options, db, "", new_backup_id);
  }
  virtual IOStatus CreateNewBackup(
      DB* db, bool flush_before_backup = false, std::function<void()> progress_callback = []() {}) {
    return CreateNewBackupWithMetadata(db, "", flush_before_backup, progress_callback);
  }

  // The backup that is being made becomes Incomplete, within a MB or when its last file is copied,
  // and leaves nothing; so do all later ones of this engine.
  virtual void StopBackup() = 0;
  // Removes what interrupted calls have left. Creating and deleting do so, too.
  virtual IOStatus GarbageCollect() = 0;
};

// [mapped]
class BackupEngine : public BackupEngineReadOnlyBase, public BackupEngineAppendOnlyBase {
 public:
  // The caller owns it. Errors: NotSupported for options that are refused, and for a directory that
  // RocksDB has written; Busy; Corruption.
  static IOStatus Open(const BackupEngineOptions& options, Env* db_env,
                       BackupEngine** backup_engine_ptr);
  static IOStatus Open(Env* db_env, const BackupEngineOptions& options,
                       BackupEngine** backup_engine_ptr) {
    return BackupEngine::Open(options, db_env, backup_engine_ptr);
  }

  // Those beside the newest so many.
  virtual IOStatus PurgeOldBackups(uint32_t num_backups_to_keep) = 0;
  // Also a damaged one. Errors: NotFound.
  virtual IOStatus DeleteBackup(BackupID backup_id) = 0;
};

// [mapped]
class BackupEngineReadOnly : public BackupEngineReadOnlyBase {
 public:
  // As of BackupEngine; NotFound where no backup was ever made there, InvalidArgument with
  // destroy_old_data.
  static IOStatus Open(const BackupEngineOptions& options, Env* db_env,
                       BackupEngineReadOnly** backup_engine_ptr);
  static IOStatus Open(Env* db_env, const BackupEngineOptions& options,
                       BackupEngineReadOnly** backup_engine_ptr) {
    return BackupEngineReadOnly::Open(options, db_env, backup_engine_ptr);
  }
};

}  // namespace ROCKSDB_NAMESPACE
