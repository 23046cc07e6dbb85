#pragma once
// Verifies the small files: both slots of the superblock and of the file of data keys, the
// manifest, and the log as far as it is still needed.
//
// Not here: data files (check_container.h). Threads: any, beside whatever goes on: what a writer
// changes under it is read again.

#include "db/check_report.h"

namespace hawthorn::db {

void check_files(Db::Impl& database, CheckSink& sink, CheckPace& pace);

}  // namespace hawthorn::db
