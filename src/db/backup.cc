// Db::backup: a copy of a moment, into a repository.

#include <algorithm>
#include <iterator>

#include "base/out_of_memory.h"
#include "db/backup_repository.h"
#include "db/copy_source.h"
#include "db/impl.h"

namespace hawthorn {
namespace {

// So many earlier backups are looked at for what needs not be stored again, the newest ones.
constexpr ptrdiff_t kKnownMax = 8;

Result<BackupInfo> write_backup(Db::Impl& db, BackupRepository::Impl& repository,
                                const BackupOptions& options, uint64_t id,
                                std::vector<uint64_t> earlier) {
  db::BackupWriter writer(repository, id);
  if (options.full) earlier.clear();
  if (std::ssize(earlier) > kKnownMax) earlier.erase(earlier.begin(), earlier.end() - kKnownMax);
  for (const uint64_t each : earlier) {
    if (db.machine_.keys != nullptr) {
      // Else who can write into the repository could have a later backup refer to other bytes.
      auto proven = repository.proven_index(each, *db.machine_.keys);
      if (!proven.ok()) return proven.status();
      if (proven->has_value()) writer.know(**proven);
      continue;
    }
    Result<format::BackupIndex> index = repository.index(each);
    if (!index.ok()) return index.status();
    writer.know(*index);
  }
  if (Status s = writer.start(); !s.ok()) return s;
  db::CopyPace pace(repository.machine, options.bytes_per_second, options.progress);
  if (Status s = db::copy_database(db, writer, pace); !s.ok()) return s;
  return writer.finish();
}

}  // namespace

Result<BackupInfo> Db::backup(BackupRepository& repository, const BackupOptions& options) try {
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
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

}  // namespace hawthorn
