#pragma once
// What receives a copy of a database, file by file and part by part, and the pace of it.
//
// Not here: who reads the database (copy_source.h); the sinks: a directory that becomes a database
// (copy_directory.h), a repository (backup_repository.h), a stream (backup_stream.h).
// Threads: one object, one thread.

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "base/checksum.h"
#include "hawthorn/backup.h"
#include "os/data_keys.h"
#include "os/io_limit.h"
#include "os/machine.h"

namespace hawthorn::db {

struct CopyPart {
  uint64_t offset = 0;  // in the file
  uint32_t bytes = 0;   // format::kBackupPartBytesMax at most
  // Tells what stands there without a look: of two parts with the same one the bytes are the same.
  // Zeros: nobody knows.
  Checksum128 mark;
  bool marked() const { return mark != Checksum128{}; }
};

// begin, parts, end for each file. The parts of a file do not overlap; between them are holes.
// Those that are written come at ascending offsets, those that are known before or between them.
class CopySink {
 public:
  virtual ~CopySink() = default;
  // Before the first file, of an encrypted database: the data keys of the copy, for what the sink
  // itself has to seal. The first file is `keys` then.
  virtual Status seal_with(std::shared_ptr<os::DataKeys>) { return {}; }
  // reserve: the file has disk space for all of it.
  virtual Status begin(std::string_view name, uint64_t bytes, bool reserve) = 0;
  // Of a part with a mark: whether the sink has it, so that it needs not be read and written.
  virtual bool take_known(const CopyPart&) { return false; }
  // Takes a range over from this file, which shares its blocks. kNotSupported: it is to be written.
  virtual Status clone(os::File& from, uint64_t, uint64_t) {
    return Status(StatusCode::kNotSupported, from.path() + ": not cloned");
  }
  virtual Status write(const CopyPart& part, std::span<const char> data) = 0;
  virtual Status end() = 0;
};

// What was copied and not yet paid for is slept off before the next piece; and the caller, who
// may be null, is told of it.
class CopyPace {
 public:
  CopyPace(const os::Machine& machine, uint64_t bytes_per_second, CopyProgress progress)
      : limit_(machine.clock), progress_(std::move(progress)) {
    limit_.set_rate(bytes_per_second);
  }
  // Errors: the caller's.
  Status count(uint64_t bytes) {
    if (limit_.rate() != 0) {
      {
        const os::IoLimit::Scope scope(&limit_);
        os::IoLimit::note(bytes);
      }
      limit_.await();
    }
    bytes_ += bytes;
    if (progress_ == nullptr || bytes_ - told_ < kTellAfter) return {};
    told_ = bytes_;
    return progress_(bytes_);
  }

 private:
  static constexpr uint64_t kTellAfter = 1 << 20;

  os::IoLimit limit_;
  const CopyProgress progress_;
  uint64_t bytes_ = 0;
  uint64_t told_ = 0;
};

}  // namespace hawthorn::db
