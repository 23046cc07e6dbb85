#pragma once
// How far a database is with what it does by itself: for commands that wait for it.
//
// Not here: how that is shown (progress.h). Threads: as the database's calls.

#include <cstdint>
#include <vector>

#include "hawthorn/backup.h"
#include "hawthorn/db.h"
#include "hawthorn/ingest.h"
#include "tools/progress.h"

namespace hawthorn::tools {

// Db::flush, shown as the unflushed bytes that are gone from memory.
Status flush_shown(Db& db, ProgressShow show);

// Db::close, with that before it.
Status close_shown(Db& db, ProgressShow show);

// Ingest::finish, shown as the entries that were sorted.
Status finish_shown(Ingest& ingest, ProgressShow show);

// Removes these backups, shown as the bytes that they alone had stored, one backup at a time.
Status remove_shown(BackupRepository& repository, const std::vector<uint64_t>& ids,
                    ProgressShow show);

// Shows what a copy tells. `total`: 0 where it is not known. Lifetime: the progress is longer
// there.
CopyProgress copy_progress(Progress* progress, uint64_t total);
// What a full copy of the database has to copy: its data and its log, as they are now.
uint64_t bytes_to_copy(Db& db);

}  // namespace hawthorn::tools
