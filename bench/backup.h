#pragma once
// Full backups of a database that nobody uses: how fast they are beside what the disk does when it
// is written and read in order; then one is verified and restored, and all of it compared.
//
// Phases: load; disk_write and disk_read (a file of the size of the database); backup and restore,
// both in each round, disk figures between them; verify, open. A backup beside a writer is a phase
// of the bank. Used by the command line. Threads: one.
//
// 1. A backup is timed from the call to the end of the last sync, and is verified.
// 2. What was restored last has all entries, each of them whole.

#include <cstdint>

#include "bench/workload.h"

namespace hawthorn::bench {

struct BackupOptionsOfRun {
  uint64_t records = 10'000'000;
  uint64_t value_bytes = 1000;
  uint64_t rounds = 3;
  uint64_t bytes_per_second = 0;  // of a backup at most; 0: no limit
};

void run_backup(const RunContext& run, const BackupOptionsOfRun& options, Engine& engine);

}  // namespace hawthorn::bench
