#pragma once
// The log's files in their directory: names, opening, and creating them so that a crash leaves a
// whole file or none.
//
// Not here: which segments exist and which may go (segments.h), what is in them (log.h,
// log_reader.h). Threads: constant after construction; two creations at a time must be kept apart
// by the caller (Segments does).
//
// 1. A file under its final name has its full size on disk: it is made as wal.new, synced, then
// renamed, and the
//    directory is synced before the function returns.

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "format/log_epoch.h"
#include "os/machine.h"
#include "wal/log.h"

namespace hawthorn::wal {

inline constexpr std::string_view kRingName = "wal.ring";
inline constexpr std::string_view kNewName = "wal.new";

// 256 KB of zeros, fit for a direct write. Lifetime: static.
std::span<const char> zeros();

std::string segment_name(uint64_t number);
std::optional<uint64_t> segment_number(std::string_view name);

class LogDirectory {
 public:
  LogDirectory(const os::Machine& machine, std::string path, const LogOptions& options);

  const os::Machine& machine() const { return machine_; }
  os::FileSystem& files() const { return *machine_.files; }
  const std::string& path() const { return path_; }
  std::string path_of(std::string_view name) const;
  size_t segment_bytes() const { return options_.segment_bytes; }
  size_t ring_bytes() const { return options_.ring_bytes; }
  uint64_t segment_of(Lsn lsn) const { return lsn / options_.segment_bytes; }
  // "wal.000000000000000a at 4096", for messages.
  std::string place_of(Lsn lsn) const;

  // The sizes are usable: kInvalidArgument otherwise.
  Status check_options() const;
  // The numbers of the segments that are there, ascending.
  Result<std::vector<uint64_t>> segments() const;

  // Opens a segment that must exist (kNotFound) and have its size (kCorruption). Direct where asked
  // for and possible. `writable` takes the file's lock too (R30).
  Result<std::unique_ptr<os::File>> open_segment(uint64_t number, bool writable) const;
  // Makes a segment of zeros, of what keep_as_new kept where it did: its disk space is reserved,
  // its blocks may be unwritten extents. kNoSpace leaves nothing.
  Status create_segment(uint64_t number) const;
  // A segment that is not needed gives its space to the next one that is made.
  Status keep_as_new(uint64_t number) const;
  Status rename_segment(uint64_t from, uint64_t to) const;
  Status remove(std::string_view name) const;  // fine when it is missing

  // Maps the ring. When it is missing it is made (or, read-only, nullptr is returned); another size
  // is kCorruption.
  Result<std::unique_ptr<os::MappedFile>> map_ring(bool read_only, bool create) const;

 private:
  Result<std::unique_ptr<os::File>> open(std::string_view name, os::OpenFlags flags) const;
  Status finish_new(std::string_view name) const;

  const os::Machine machine_;
  const std::string path_;
  const LogOptions options_;
};

}  // namespace hawthorn::wal
