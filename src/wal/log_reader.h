#pragma once
// Reads a log that nobody writes, by lsn, from its segments: a window of a few megabytes, and the
// one behind it read ahead while the first is being looked at.
//
// Not here: whether what is there is a record (recovery.cc), the ring. Threads: one at a time.
//
// 1. Only segments that were there when the reader was made are read, but for those removed since;
//    what lies in a missing one is not present.
// 2. A window's bytes lie behind a headroom, into which the end of the window before is copied: a
//    view across both is contiguous.

#include <memory>
#include <optional>
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
  // The first that is there from this one on; nothing: none is.
  std::optional<uint64_t> next_present(uint64_t segment) const;
  // First lsn behind the last segment.
  Lsn end() const;
  // Forgets what was read: the segments have been written.
  void forget();
  // The same; and the segment's file is gone.
  void forget_segment(uint64_t number);
  // The same; and these are the segments now, ascending.
  void set_segments(std::vector<uint64_t> numbers);

 private:
  struct Window;
  // Starts reading the window that begins at `from` (a block boundary).
  void start(Window& window, Lsn from);
  // Makes the window at `from` the current one, and starts reading ahead.
  Status load(Lsn from);
  // Makes the window behind the current one the current one; its headroom begins at `from`.
  Status advance(Lsn from);

  const LogDirectory& directory_;
  std::vector<uint64_t> segments_;
  const size_t headroom_;
  const size_t window_bytes_;
  std::unique_ptr<Window> current_;
  std::unique_ptr<Window> ahead_;
};

}  // namespace hawthorn::wal
