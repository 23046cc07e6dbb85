// Backups: the engine's, and a file of metadata for each.
//
//   backup_dir/repository/    hawthorn::BackupRepository
//   backup_dir/metadata/ID.options  the file of options that the database had; may be missing
//   backup_dir/metadata/ID    "hawthorn-rocksdb backup 1\n", then little-endian: the moment of the
//                             backup (8 bytes, as the repository has it), the CRC-32C of the rest
//                             (4), and the rest: what the program has given
//
// 1. A backup is shown from when its file of metadata has its name, which is the last step of
//    making it, until that is removed, the first step of deleting it.
// 2. Only a backup without such a file is removed by itself; one whose file is damaged, or of
//    another moment, stays and is told of.

#include "rocksdb/utilities/backup_engine.h"

#include <hawthorn/backup.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string_view>

#include "shims/held_directory.h"
#include "shims/rocksdb/src/checksum.h"
#include "shims/rocksdb/src/convert.h"
#include "shims/rocksdb/src/db_impl.h"
#include "shims/rocksdb/src/files.h"
#include "shims/rocksdb/src/options_file.h"

namespace hawthorn::rocks {
using S = rocksdb::Status;

namespace {

namespace fs = std::filesystem;
using rocksdb::BackupEngineOptions;
using rocksdb::BackupID;
using rocksdb::IOStatus;

constexpr std::string_view kMagic = "hawthorn-rocksdb backup 1\n";
constexpr size_t kHeadBytes = kMagic.size() + sizeof(uint64_t) + sizeof(uint32_t);
constexpr const char* kOptions = ".options";
constexpr uint64_t kMicrosPerSecond = 1000000;

IOStatus io(S status) { return rocksdb::status_to_io_status(std::move(status)); }

struct Shown {
  rocksdb::BackupInfo info;
  bool damaged = false;
};
struct Listed {
  std::vector<Shown> shown;           // the oldest first
  std::vector<uint64_t> interrupted;  // 1
};

uint64_t limit_of(uint64_t bytes_per_second, const rocksdb::RateLimiter* limiter) {
  if (limiter == nullptr) return bytes_per_second;
  return static_cast<uint64_t>(std::max<int64_t>(0, limiter->GetBytesPerSecond()));
}

// A directory of backups, which the engines of a process share. Its calls are made under `mutex`.
class Directory {
 public:
  static S open(const std::string& path, bool may_make, std::shared_ptr<Directory>* directory);

  S list(Listed* listed);
  S find(BackupID id, Shown* shown);
  S create(hawthorn::Db& db, const hawthorn::BackupOptions& options, BackupInfo* made);
  S keep_options(uint64_t id, const std::string& text);
  S restore_options(uint64_t id, const std::string& db_dir) const;
  S show(const BackupInfo& made, const std::string& metadata);
  S hide_and_remove(uint64_t id);
  S remove_interrupted();
  hawthorn::BackupRepository& repository() { return *repository_; }

  std::mutex mutex;

 private:
  S remove(uint64_t id);
  S read_metadata(const BackupInfo& backup, std::string* metadata) const;
  std::string metadata_path(uint64_t id) const { return metadata_ + "/" + std::to_string(id); }

  HeldDirectory directory_;
  std::string metadata_;
  std::unique_ptr<hawthorn::BackupRepository> repository_;
};

struct OpenDirectories {
  std::mutex mutex;
  std::map<std::string, std::weak_ptr<Directory>> by_path;
};
OpenDirectories& open_directories() { return OfProcess<OpenDirectories>::get(); }

S make_directory(const std::string& path) {
  S s = rocksdb::Env::Default()->CreateDirIfMissing(path);
  return s.ok() ? sync_directory(directory_of(path)) : s;
}

S Directory::open(const std::string& path, bool may_make, std::shared_ptr<Directory>* directory) {
  std::error_code error;
  if (fs::exists(path + "/meta", error)) {
    return S::NotSupported(path, "was written by RocksDB, whose backups are not read");
  }
  if (!may_make && !fs::exists(path + "/repository", error)) {
    return S::NotFound(path, "has no backups");
  }
  OpenDirectories& open = open_directories();
  const std::lock_guard lock(open.mutex);
  std::weak_ptr<Directory>& known = open.by_path[canonical_path(path)];
  *directory = known.lock();
  if (*directory != nullptr) return S::OK();
  auto made = std::make_shared<Directory>();
  S s = make_directory(path);
  if (s.ok()) s = make_directory(path + "/metadata");
  if (!s.ok()) return s;
  auto repository = hawthorn::BackupRepository::open(path + "/repository");
  if (!repository.ok()) return to_status(repository.status());
  made->repository_ = std::move(repository).value();
  made->directory_ = HeldDirectory(path);
  made->metadata_ = made->directory_.path() + "/metadata";
  known = made;
  *directory = std::move(made);
  return S::OK();
}

S Directory::read_metadata(const BackupInfo& backup, std::string* metadata) const {
  const std::string path = metadata_path(backup.id);
  if (S s = read_whole_file(path, metadata); !s.ok()) return s;
  if (metadata->size() < kHeadBytes || !metadata->starts_with(kMagic)) {
    return S::Corruption(path, "holds no metadata of a backup");
  }
  const auto created_us = fixed_at<uint64_t>(*metadata, kMagic.size());
  const auto crc = fixed_at<uint32_t>(*metadata, kMagic.size() + sizeof(created_us));
  metadata->erase(0, kHeadBytes);
  if (crc != crc32c(*metadata)) return S::Corruption(path, "is damaged");
  if (created_us != backup.created_us) return S::Corruption(path, "is of another backup");
  return S::OK();
}

S Directory::list(Listed* listed) {
  const hawthorn::Result<std::vector<BackupInfo>> all = repository_->list();
  if (!all.ok()) return to_status(all.status());
  for (const BackupInfo& backup : *all) {
    std::string metadata;
    S s = read_metadata(backup, &metadata);
    if (s.IsPathNotFound()) {
      listed->interrupted.push_back(backup.id);
      continue;
    }
    if (!s.ok() && !s.IsCorruption()) return s;
    Shown shown;
    shown.info = rocksdb::BackupInfo(static_cast<BackupID>(backup.id),
                                     static_cast<int64_t>(backup.created_us / kMicrosPerSecond),
                                     backup.bytes, 1, metadata);
    shown.damaged = !s.ok();
    listed->shown.push_back(std::move(shown));
  }
  return S::OK();
}

S Directory::find(BackupID id, Shown* shown) {
  Listed listed;
  if (S s = list(&listed); !s.ok()) return s;
  const auto found = std::find_if(listed.shown.begin(), listed.shown.end(),
                                  [id](const Shown& s) { return s.info.backup_id == id; });
  if (found == listed.shown.end()) return S::NotFound("Backup not found");
  *shown = std::move(*found);
  return S::OK();
}

S Directory::create(hawthorn::Db& db, const hawthorn::BackupOptions& options, BackupInfo* made) {
  const hawthorn::Result<BackupInfo> backup = db.backup(*repository_, options);
  if (!backup.ok()) return to_status(backup.status());
  *made = *backup;
  if (made->id <= UINT32_MAX) return S::OK();
  static_cast<void>(repository_->remove(made->id));
  return S::NotSupported("a number of a backup that has more than 32 bits");
}

S Directory::show(const BackupInfo& made, const std::string& metadata) {
  std::string bytes(kMagic);
  append_fixed(made.created_us, &bytes);
  append_fixed(crc32c(metadata), &bytes);
  return replace_file(metadata_path(made.id), bytes + metadata);
}

S Directory::keep_options(uint64_t id, const std::string& text) {
  return replace_file(metadata_path(id) + kOptions, text);
}

S Directory::restore_options(uint64_t id, const std::string& db_dir) const {
  std::string text;
  S s = read_whole_file(metadata_path(id) + kOptions, &text);
  if (s.IsPathNotFound()) return S::OK();
  return s.ok() ? write_options_file(db_dir, text) : s;
}

S Directory::hide_and_remove(uint64_t id) {
  S s = remove_file(metadata_path(id));
  return s.ok() ? remove(id) : s;
}

S Directory::remove(uint64_t id) {
  S s = remove_file(metadata_path(id) + kOptions);
  return s.ok() ? to_status(repository_->remove(id)) : s;
}

S Directory::remove_interrupted() {
  Listed listed;
  S s = list(&listed);
  for (size_t i = 0; s.ok() && i < listed.interrupted.size(); ++i) {
    s = remove(listed.interrupted[i]);
  }
  return s;
}

S check_backup_options(const BackupEngineOptions& options, const rocksdb::Env* db_env) {
  const rocksdb::Env* const known = rocksdb::Env::Default();
  if (db_env != known || (options.backup_env != nullptr && options.backup_env != known)) {
    return S::NotSupported("environments of the program's own");
  }
  if (!options.backup_log_files) return S::NotSupported("backups without the log");
  return S::OK();
}

S call_back(const rocksdb::CreateBackupOptions& options) {
  if (!options.progress_callback) return S::OK();
  try {
    options.progress_callback();
    return S::OK();
  } catch (...) {
    return S::Aborted("the callback of the backup has thrown");
  }
}

S stopped() { return S::Incomplete("Backup stopped"); }

// Of both engines; the one that only reads uses a part.
class EngineImpl final : public rocksdb::BackupEngine {
 public:
  EngineImpl(const BackupEngineOptions& options, std::shared_ptr<Directory> directory,
             size_t shown_max)
      : options_(options), directory_(std::move(directory)), shown_max_(shown_max) {}

  S GetLatestBackupInfo(rocksdb::BackupInfo* info, bool) const override;
  S GetBackupInfo(BackupID id, rocksdb::BackupInfo* info, bool) const override;
  void GetBackupInfo(std::vector<rocksdb::BackupInfo>* infos, bool) const override;
  void GetCorruptedBackups(std::vector<BackupID>* ids) const override;
  IOStatus RestoreDBFromBackup(const rocksdb::RestoreOptions& options, BackupID id,
                               const std::string& db_dir,
                               const std::string& wal_dir) const override;
  IOStatus RestoreDBFromLatestBackup(const rocksdb::RestoreOptions& options,
                                     const std::string& db_dir,
                                     const std::string& wal_dir) const override;
  IOStatus VerifyBackup(BackupID id, bool) const override;
  IOStatus CreateNewBackupWithMetadata(const rocksdb::CreateBackupOptions& options, rocksdb::DB* db,
                                       const std::string& app_metadata, BackupID* id) override;
  void StopBackup() override { stopped_ = true; }
  IOStatus GarbageCollect() override {
    const std::lock_guard lock(directory_->mutex);
    return io(directory_->remove_interrupted());
  }
  IOStatus PurgeOldBackups(uint32_t keep) override;
  IOStatus DeleteBackup(BackupID id) override;

 private:
  std::vector<rocksdb::BackupInfo> good() const;
  S create(const rocksdb::CreateBackupOptions& options, rocksdb::DB* db,
           const std::string& app_metadata, BackupID* id);
  S restore(const rocksdb::RestoreOptions& options, std::optional<BackupID> id,
            const std::string& db_dir, const std::string& wal_dir) const;

  const BackupEngineOptions options_;
  const std::shared_ptr<Directory> directory_;
  const size_t shown_max_;
  std::atomic<bool> stopped_{false};
};

std::vector<rocksdb::BackupInfo> EngineImpl::good() const {
  Listed listed;
  std::vector<rocksdb::BackupInfo> good;
  if (!directory_->list(&listed).ok()) return good;
  for (const Shown& shown : listed.shown) {
    if (!shown.damaged) good.push_back(shown.info);
  }
  if (good.size() > shown_max_) {
    good.erase(good.begin(), good.end() - static_cast<std::ptrdiff_t>(shown_max_));
  }
  return good;
}

S EngineImpl::GetLatestBackupInfo(rocksdb::BackupInfo* info, bool) const {
  const std::lock_guard lock(directory_->mutex);
  std::vector<rocksdb::BackupInfo> all = good();
  if (all.empty()) return S::NotFound("no backup is there");
  *info = std::move(all.back());
  return S::OK();
}

S EngineImpl::GetBackupInfo(BackupID id, rocksdb::BackupInfo* info, bool) const {
  const std::lock_guard lock(directory_->mutex);
  Shown shown;
  if (S s = directory_->find(id, &shown); !s.ok()) return s;
  if (shown.damaged) return S::Corruption("the metadata of the backup are damaged");
  *info = std::move(shown.info);
  return S::OK();
}

void EngineImpl::GetBackupInfo(std::vector<rocksdb::BackupInfo>* infos, bool) const {
  const std::lock_guard lock(directory_->mutex);
  *infos = good();
}

void EngineImpl::GetCorruptedBackups(std::vector<BackupID>* ids) const {
  const std::lock_guard lock(directory_->mutex);
  ids->clear();
  Listed listed;
  if (!directory_->list(&listed).ok()) return;
  for (const Shown& shown : listed.shown) {
    if (shown.damaged) ids->push_back(shown.info.backup_id);
  }
}

S EngineImpl::restore(const rocksdb::RestoreOptions& options, std::optional<BackupID> id,
                      const std::string& db_dir, const std::string& wal_dir) const {
  if (options.keep_log_files) return S::NotSupported("log files that a restore keeps");
  if (!wal_dir.empty() && canonical_path(wal_dir) != canonical_path(db_dir)) {
    return S::NotSupported("a directory of its own for the log");
  }
  const std::lock_guard lock(directory_->mutex);
  if (!id.has_value()) {
    const std::vector<rocksdb::BackupInfo> all = good();
    if (all.empty()) return S::NotFound("no backup is there");
    id = all.back().backup_id;
  }
  Shown shown;
  if (S s = directory_->find(*id, &shown); !s.ok()) return s;
  if (shown.damaged) return S::Corruption("the metadata of the backup are damaged");
  // What is restored from must be whole before what is there goes.
  hawthorn::Status status = directory_->repository().verify(*id);
  if (!status.ok()) return to_status(status);
  std::error_code error;
  if (!fs::exists(db_dir + "/copy.incomplete", error)) {
    status = hawthorn::Db::destroy(db_dir);
    if (!status.ok() && !status.is_not_found()) return to_status(status);
    if (S s = remove_options_files(db_dir); !s.ok()) return s;
  }
  hawthorn::RestoreOptions with;
  with.bytes_per_second =
      limit_of(options_.restore_rate_limit, options_.restore_rate_limiter.get());
  status = directory_->repository().restore(*id, db_dir, with);
  return status.ok() ? directory_->restore_options(*id, db_dir) : to_status(status);
}

IOStatus EngineImpl::RestoreDBFromBackup(const rocksdb::RestoreOptions& options, BackupID id,
                                         const std::string& db_dir,
                                         const std::string& wal_dir) const {
  return io(restore(options, id, db_dir, wal_dir));
}

IOStatus EngineImpl::RestoreDBFromLatestBackup(const rocksdb::RestoreOptions& options,
                                               const std::string& db_dir,
                                               const std::string& wal_dir) const {
  return io(restore(options, std::nullopt, db_dir, wal_dir));
}

IOStatus EngineImpl::VerifyBackup(BackupID id, bool) const {
  const std::lock_guard lock(directory_->mutex);
  Shown shown;
  if (S s = directory_->find(id, &shown); !s.ok()) return io(std::move(s));
  if (shown.damaged) return io(S::Corruption("the metadata of the backup are damaged"));
  return io(to_status(directory_->repository().verify(id)));
}

S EngineImpl::create(const rocksdb::CreateBackupOptions& options, rocksdb::DB* db,
                     const std::string& app_metadata, BackupID* id) {
  auto* const impl = OwnKind<DBImpl>::find(db->GetRootDB());
  if (impl == nullptr) return S::NotSupported("a backup of this database");
  if (stopped_) return stopped();
  if (options.flush_before_backup) {
    if (S s = db->Flush(rocksdb::FlushOptions()); !s.ok()) return s;
  }
  const std::lock_guard lock(directory_->mutex);
  if (S s = directory_->remove_interrupted(); !s.ok()) return s;
  S ended;
  uint64_t called_at = 0;
  hawthorn::BackupOptions how;
  how.bytes_per_second = limit_of(options_.backup_rate_limit, options_.backup_rate_limiter.get());
  how.full = !options_.share_table_files;
  how.progress = [&](uint64_t bytes) -> hawthorn::Status {
    if (bytes - called_at >= options_.callback_trigger_interval_size) {
      called_at = bytes;
      ended = call_back(options);
    }
    if (ended.ok() && stopped_) ended = stopped();
    if (ended.ok()) return {};
    return {hawthorn::StatusCode::kBusy, "the backup was stopped"};
  };
  BackupInfo made;
  S s = directory_->create(impl->engine(), how, &made);
  if (!ended.ok()) return ended;
  if (rocksdb::Statistics* const to = impl->statistics(); to != nullptr && s.ok()) {
    to->recordTick(rocksdb::BACKUP_READ_BYTES, made.bytes_read);
    to->recordTick(rocksdb::BACKUP_WRITE_BYTES, made.bytes_stored);
  }
  if (!s.ok()) return s;
  s = call_back(options);
  if (s.ok() && stopped_) s = stopped();
  std::string options_text;
  if (s.ok()) s = impl->options_text(&options_text);
  if (s.ok()) s = directory_->keep_options(made.id, options_text);
  if (s.ok()) s = directory_->show(made, app_metadata);
  if (s.ok()) {
    if (id != nullptr) *id = static_cast<BackupID>(made.id);
  } else {
    static_cast<void>(directory_->hide_and_remove(made.id));
  }
  return s;
}

IOStatus EngineImpl::CreateNewBackupWithMetadata(const rocksdb::CreateBackupOptions& options,
                                                 rocksdb::DB* db, const std::string& app_metadata,
                                                 BackupID* id) {
  return io(create(options, db, app_metadata, id));
}

IOStatus EngineImpl::PurgeOldBackups(uint32_t keep) {
  const std::lock_guard lock(directory_->mutex);
  S s = directory_->remove_interrupted();
  const std::vector<rocksdb::BackupInfo> all = good();
  for (size_t i = 0; s.ok() && i + keep < all.size(); ++i) {
    s = directory_->hide_and_remove(all[i].backup_id);
  }
  return io(std::move(s));
}

IOStatus EngineImpl::DeleteBackup(BackupID id) {
  const std::lock_guard lock(directory_->mutex);
  S s = directory_->remove_interrupted();
  Shown shown;
  if (s.ok()) s = directory_->find(id, &shown);
  if (s.ok()) s = directory_->hide_and_remove(id);
  return io(std::move(s));
}

class ReaderImpl final : public rocksdb::BackupEngineReadOnly {
 public:
  explicit ReaderImpl(std::unique_ptr<EngineImpl> engine) : engine_(std::move(engine)) {}

  S GetLatestBackupInfo(rocksdb::BackupInfo* info, bool details) const override {
    return engine_->GetLatestBackupInfo(info, details);
  }
  S GetBackupInfo(BackupID id, rocksdb::BackupInfo* info, bool details) const override {
    return engine_->GetBackupInfo(id, info, details);
  }
  void GetBackupInfo(std::vector<rocksdb::BackupInfo>* infos, bool details) const override {
    engine_->GetBackupInfo(infos, details);
  }
  void GetCorruptedBackups(std::vector<BackupID>* ids) const override {
    engine_->GetCorruptedBackups(ids);
  }
  IOStatus RestoreDBFromBackup(const rocksdb::RestoreOptions& options, BackupID id,
                               const std::string& db_dir,
                               const std::string& wal_dir) const override {
    return engine_->RestoreDBFromBackup(options, id, db_dir, wal_dir);
  }
  IOStatus RestoreDBFromLatestBackup(const rocksdb::RestoreOptions& options,
                                     const std::string& db_dir,
                                     const std::string& wal_dir) const override {
    return engine_->RestoreDBFromLatestBackup(options, db_dir, wal_dir);
  }
  IOStatus VerifyBackup(BackupID id, bool checksums) const override {
    return engine_->VerifyBackup(id, checksums);
  }

 private:
  const std::unique_ptr<EngineImpl> engine_;
};

S open_engine(const BackupEngineOptions& options, const rocksdb::Env* db_env, bool may_make,
              size_t shown_max, std::unique_ptr<EngineImpl>* engine) {
  if (S s = check_backup_options(options, db_env); !s.ok()) return s;
  std::shared_ptr<Directory> directory;
  if (S s = Directory::open(options.backup_dir, may_make, &directory); !s.ok()) return s;
  const std::lock_guard lock(directory->mutex);
  Listed listed;
  if (S s = directory->list(&listed); !s.ok()) return s;
  if (options.destroy_old_data) {
    S s = directory->remove_interrupted();
    for (size_t i = 0; s.ok() && i < listed.shown.size(); ++i) {
      s = directory->hide_and_remove(listed.shown[i].info.backup_id);
    }
    if (!s.ok()) return s;
  }
  *engine = std::make_unique<EngineImpl>(options, std::move(directory), shown_max);
  return S::OK();
}

}  // namespace
}  // namespace hawthorn::rocks

namespace rocksdb {

IOStatus BackupEngine::Open(const BackupEngineOptions& options, Env* db_env,
                            BackupEngine** backup_engine_ptr) {
  *backup_engine_ptr = nullptr;
  std::unique_ptr<hawthorn::rocks::EngineImpl> engine;
  Status s = hawthorn::rocks::open_engine(options, db_env, true, SIZE_MAX, &engine);
  *backup_engine_ptr = engine.release();
  return status_to_io_status(std::move(s));
}

IOStatus BackupEngineReadOnly::Open(const BackupEngineOptions& options, Env* db_env,
                                    BackupEngineReadOnly** backup_engine_ptr) {
  *backup_engine_ptr = nullptr;
  if (options.destroy_old_data) {
    return status_to_io_status(
        Status::InvalidArgument("a BackupEngineReadOnly removes no backups"));
  }
  const int shown_max = options.max_valid_backups_to_open;
  std::unique_ptr<hawthorn::rocks::EngineImpl> engine;
  Status s = hawthorn::rocks::open_engine(options, db_env, false,
                                          static_cast<size_t>(std::max(0, shown_max)), &engine);
  if (s.ok()) *backup_engine_ptr = new hawthorn::rocks::ReaderImpl(std::move(engine));
  return status_to_io_status(std::move(s));
}

}  // namespace rocksdb
