// Db::backup: a copy of a moment, into a repository.

#include <algorithm>

#include "db/backup_repository.h"
#include "db/impl.h"

namespace hawthorn {
namespace {

Result<BackupInfo> write_backup(Db::Impl& db, BackupRepository::Impl& repository,
                                const BackupOptions& options, uint64_t id,
                                const std::vector<uint64_t>& earlier) {
  db::BackupWriter writer(repository, id);
  for (const uint64_t each : earlier) {
    if (options.full) break;
    Result<format::BackupIndex> index = repository.index(each);
    if (!index.ok()) return index.status();
    writer.know(*index);
  }
  if (Status s = writer.start(); !s.ok()) return s;
  db::CopyPace pace(repository.machine, options.bytes_per_second);
  Status status = db::copy_database(db, writer, pace, repository.directory, false);
  if (!status.ok()) return status;
  return writer.finish();
}

}  // namespace

Result<BackupInfo> Db::backup(BackupRepository& repository, const BackupOptions& options) {
  if (Status s = impl_->writable(); !s.ok()) return s;
  BackupRepository::Impl& target = *repository.impl_;
  os::MutexLock lock(target.mutex);
  if (Status s = target.clean(); !s.ok()) return s;
  std::vector<uint64_t> backups;
  std::vector<uint64_t> parts;
  if (Status s = target.ids(&backups, &parts); !s.ok()) return s;
  const uint64_t id =
      std::max(backups.empty() ? 0 : backups.back(), parts.empty() ? 0 : parts.back()) + 1;
  Result<BackupInfo> made = write_backup(*impl_, target, options, id, backups);
  // What a failed one has left would take space until the next one. Whether this goes well or not,
  // the error that came first is the one to tell.
  if (!made.ok()) static_cast<void>(target.clean().ok());
  return made;
}

}  // namespace hawthorn
