#pragma once
// Reads a log that nobody writes, by lsn, from its segments: large reads into one window.
//
// Not here: whether what is there is a record (recovery.cc), the ring. Threads: one at a time.
//
// 1. Only segments that were there when the reader was made are read, but for those removed since;
// what lies in a missing one is not present.

#include <memory>
#include <vector>

#include "wal/log_directory.h"

namespace hawthorn::wal {

class LogReader {
 public:
  // `size_max`: the largest view that will be asked for.
  LogReader(const LogDirectory& directory, std::vector<uint64_t> segments, size_t size_max);
  ~LogReader();
  LogReader(const LogReader&) = delete;
  LogReader& operator=(const LogReader&) = delete;

  // *bytes: the bytes [lsn, lsn + size), or nullptr when a segment of them is missing. Errors:
  // those of reading. Lifetime: until the next call.
  Status view(Lsn lsn, size_t size, const char** bytes);
  bool present(uint64_t segment) const;
  // First lsn behind the last segment.
  Lsn end() const;
  // Forgets what was read: the segments have been written.
  void forget() { filled_ = 0; }
  // The segment's file is gone.
  void forget_segment(uint64_t number);

 private:
  Status fill(Lsn from);
  Status read(uint64_t number, uint64_t offset, std::span<char> data);

  const LogDirectory& directory_;
  std::vector<uint64_t> segments_;
  const size_t capacity_;
  char* const window_;
  Lsn start_ = 0;
  size_t filled_ = 0;
  uint64_t opened_ = 0;
  std::unique_ptr<os::File> file_;
};

}  // namespace hawthorn::wal
