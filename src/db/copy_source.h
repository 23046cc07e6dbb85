#pragma once
// Reads a moment of an open database, and writes it into a CopySink: what is in use of the data
// files, the log, and the superblock and manifest of a database of its own.
//
//   pin ──> log durable to there ──> segments ──> log let go of ──> data files ──> manifest
//
// Not here: where it goes (copy_directory.h for checkpoints and restores, backup_writer.h for
// backups), and what a pin keeps (publisher.h). Threads: one object, one thread.
//
// 1. The copy is what a process finds that opens the database after a kill at the moment of the
//    pin, but for records in the ring, which stand in segments by then.
// 2. All that is in use is copied, not only what the manifest lists: the log may name more (R27).
// 3. A pin that was revoked makes the copy fail, whatever was read since.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hawthorn/db.h"
#include "hawthorn/status.h"
#include "os/io_limit.h"
#include "os/machine.h"

namespace hawthorn::db {

inline constexpr size_t kCopyPieceBytes = size_t{64} << 10;

// Receives files one by one: begin, writes at ascending offsets, each of them of at most
// kCopyPieceBytes and none across a multiple of that; between them are holes.
class CopySink {
 public:
  virtual ~CopySink() = default;
  // reserve: the file has disk space for all of it.
  virtual Status begin(std::string_view name, uint64_t bytes, bool reserve) = 0;
  virtual Status write(uint64_t offset, std::span<const char> data) = 0;
  virtual Status end() = 0;
};

// What was read and not yet paid for is slept off before the next piece.
class CopyPace {
 public:
  CopyPace(const os::Machine& machine, uint64_t bytes_per_second) : limit_(machine.clock) {
    limit_.set_rate(bytes_per_second);
  }
  void count(uint64_t bytes) {
    if (limit_.rate() == 0) return;
    {
      const os::IoLimit::Scope scope(&limit_);
      os::IoLimit::note(bytes);
    }
    limit_.await();
  }

 private:
  os::IoLimit limit_;
};

// Copies the database as it is now. `stage`: an empty directory for the superblock and the
// manifest; with `keep_stage` they stay there and do not go through the sink. Errors: those of
// Db::checkpoint, and of the sink.
Status copy_database(Db::Impl& db, CopySink& sink, CopyPace& pace, const std::string& stage,
                     bool keep_stage);

}  // namespace hawthorn::db
