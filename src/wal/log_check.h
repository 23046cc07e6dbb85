#pragma once
// Verifies the records of an open log in its segments, past what is in memory of them, while it is
// appended to and trimmed.
//
// Not here: a log that an earlier process left behind (Recovery in log.h). Used by db/check_files.
// Threads: one at a time; takes no lock of the log and writes nothing.
//
// 1. Behind a place where no record is, it goes on with the next one that is found: each such place
//    is told once, as one range.
// 2. What was trimmed before it was told is none.

#include <functional>
#include <string>
#include <vector>

#include "wal/log.h"

namespace hawthorn::wal {

struct LogGap {
  std::string file;  // the segment's name
  uint64_t offset = 0;
  uint64_t bytes = 0;
  Lsn lsn = 0;
};

class LogCheck {
 public:
  LogCheck(const os::Machine& machine, const std::string& directory, const LogOptions& options)
      : machine_(machine), directory_(directory), options_(options) {}

  // Called before so many bytes are read. False: the check is to end.
  std::function<bool(uint64_t bytes)> before_read;

  // The records of these epochs from log.trimmed() on, as far as they are in segments now. Errors:
  // those of the disk.
  Status run(const Log& log, const std::vector<LogEpoch>& epochs,
             const std::function<void(const LogGap&)>& gap);

  uint64_t records() const { return records_; }
  uint64_t bytes() const { return bytes_; }

 private:
  const os::Machine& machine_;
  const std::string directory_;
  const LogOptions options_;
  uint64_t records_ = 0;
  uint64_t bytes_ = 0;
};

}  // namespace hawthorn::wal
