#include "tools/db_progress.h"

#include <algorithm>
#include <atomic>
#include <map>

namespace hawthorn::tools {

Status flush_shown(Db& db, ProgressShow show) {
  const uint64_t before = db.stats().memory_delta_bytes;
  const PolledProgress progress("flushed", Progress::Unit::kBytes, show, [&db, before] {
    return PolledProgress::Point{before - std::min(before, db.stats().memory_delta_bytes), before};
  });
  return db.flush();
}

Status close_shown(Db& db, ProgressShow show) {
  // What goes wrong with it the close says, too.
  if (show != ProgressShow::kNever) static_cast<void>(flush_shown(db, show).ok());
  return db.close();
}

Status finish_shown(Ingest& ingest, ProgressShow show) {
  Progress progress("sorted", Progress::Unit::kEntries, show);
  return ingest.finish([&progress](uint64_t done, uint64_t entries) {
    progress.update_step(done, entries);
    return Status();
  });
}

Status remove_shown(BackupRepository& repository, const std::vector<uint64_t>& ids,
                    ProgressShow show) {
  const Result<std::vector<BackupInfo>> list = repository.list();
  std::map<uint64_t, uint64_t> bytes;
  uint64_t total = 0;
  // One that cannot be listed may be what is to go.
  for (const BackupInfo& info : list.ok() ? *list : std::vector<BackupInfo>()) {
    if (std::find(ids.begin(), ids.end(), info.id) == ids.end()) continue;
    bytes[info.id] = info.bytes_stored;
    total += info.bytes_stored;
  }
  std::atomic<uint64_t> done{0};
  const PolledProgress progress("removed", Progress::Unit::kBytes, show, [&done, total] {
    return PolledProgress::Point{done.load(), total};
  });
  for (const uint64_t id : ids) {
    if (Status s = repository.remove(id); !s.ok()) return s;
    done += bytes[id];
  }
  return {};
}

CopyProgress copy_progress(Progress* progress, uint64_t total) {
  return [progress, total](uint64_t bytes) {
    progress->update_step(bytes, total);
    return Status();
  };
}

uint64_t bytes_to_copy(Db& db) {
  const Stats stats = db.stats();
  return stats.disk_bytes_reachable + stats.log_bytes;
}

}  // namespace hawthorn::tools
