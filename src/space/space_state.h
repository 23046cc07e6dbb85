#pragma once
// The state of a Space. Private to src/space/*.cc: allocation (space.cc), and what gives disk space
// back (shrink.cc).
//
// Threads: see the two locks.

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "os/sync.h"
#include "space/data_files.h"
#include "space/free_map.h"
#include "space/space.h"

namespace hawthorn::space {

// Free ranges are of two kinds. Those in `ready` are backed by disk space: files made by this
// process, and extents that were released. What the present files had free at open is `cold`: a
// clean close may have cut it off or punched it out, so it gets its space back (os::File::allocate
// over the whole file) before the first extent is taken from it.
// A file that is to go keeps its free ranges to itself (`leaving_`), until it is empty and removed,
// or somebody needs them.
//
// That this may extend a file with reads under way is the exception to "never resized while in
// use". It is safe: reads and writes under way concern extents that exist, the call changes none of
// their blocks, and no byte is written behind the old end before it returned. It costs what R28 is
// about, a wait of direct I/O on that one file (milliseconds), at most once per file and open, and
// only on files that a clean close has trimmed. To do it when the file is opened would save that,
// but a process that only reads would then blow up every trimmed file, and fail on a full disk.
struct Space::State {
  State(const os::Machine& machine, const std::string& directory, const SpaceOptions& opts)
      : options(opts), clock(machine.clock), files(machine, directory, opts) {}

  const SpaceOptions options;
  os::Clock* const clock;
  DataFiles files;

  struct FileInfo {
    uint64_t blocks = 0;  // that it has or may be given
    uint64_t used = 0;    // of them
  };

  // Growing is slow and done by one thread at a time, without `mutex`: others go on releasing, and
  // allocating what is ready. Taken before `mutex`.
  os::Mutex grow_mutex;
  os::Mutex mutex;
  FreeMap ready GUARDED_BY(mutex);
  FreeMap cold GUARDED_BY(mutex);
  std::map<uint32_t, FileInfo> infos GUARDED_BY(mutex);  // of the files that there are
  std::optional<uint32_t> leaving GUARDED_BY(mutex);     // the file that is to go
  FreeMap leaving_ready GUARDED_BY(mutex);
  FreeMap leaving_cold GUARDED_BY(mutex);
  uint64_t used_blocks GUARDED_BY(mutex) = 0;
  // Released, in the order of their batches, and not yet clear (held.cc).
  struct Held {
    uint64_t batch = 0;
    uint64_t number = 0;  // of all that were released
    ExtentAddress extent;
  };
  uint64_t released GUARDED_BY(mutex) = 0;  // the number of the last one
  // Each holds what was released behind that number.
  std::map<uint64_t, uint64_t> copies_hold GUARDED_BY(mutex);
  uint64_t next_hold GUARDED_BY(mutex) = 1;
  std::deque<Held> held GUARDED_BY(mutex);
  FreeMap held_ranges GUARDED_BY(mutex);  // the same
  // What was free at open, as long as that is not clear.
  FreeMap held_ready GUARDED_BY(mutex);
  FreeMap held_cold GUARDED_BY(mutex);
  uint64_t held_free_batch GUARDED_BY(mutex) = 0;
  uint64_t durable_batch GUARDED_BY(mutex) = 0;
  uint64_t clear_batch GUARDED_BY(mutex) = 0;
  std::function<bool()> reclaim;
  uint64_t reserved_blocks GUARDED_BY(mutex) = 0;
  uint32_t range_blocks_min GUARDED_BY(mutex) = 1;  // what is free in smaller ranges does not count
  // When the disk was last found full: what it said, what was asked for, what was free then.
  Status full GUARDED_BY(grow_mutex);
  uint32_t full_blocks GUARDED_BY(grow_mutex) = 0;
  uint64_t full_free_bytes GUARDED_BY(grow_mutex) = 0;
  uint64_t full_since_us GUARDED_BY(grow_mutex) = 0;
  uint64_t grown_us GUARDED_BY(mutex) = 0;  // when the last file was made

  uint64_t step_blocks(uint32_t number) const;
  Status mark_used(const ExtentAddress& extent) EXCLUDES(mutex);
  std::optional<ExtentAddress> take_ready(uint32_t blocks, Use use) EXCLUDES(mutex);
  Result<ExtentAddress> insert(uint32_t blocks) EXCLUDES(grow_mutex, mutex);
  Result<ExtentAddress> grow(uint32_t blocks) EXCLUDES(grow_mutex, mutex);
  Status make_ready(uint32_t blocks) REQUIRES(grow_mutex) EXCLUDES(mutex);
  Status warm(uint32_t blocks) REQUIRES(grow_mutex) EXCLUDES(mutex);
  Status warm_file(uint32_t number) REQUIRES(grow_mutex) EXCLUDES(mutex);
  Status warm_range(uint32_t blocks) REQUIRES(grow_mutex) EXCLUDES(mutex);
  Status add_file(uint64_t blocks, bool small = false) REQUIRES(grow_mutex) EXCLUDES(mutex);
  bool holds(uint64_t blocks, uint32_t contiguous) REQUIRES(mutex);
  Status keep_ready(uint64_t blocks, uint32_t contiguous) EXCLUDES(grow_mutex, mutex);
  // Whether a full disk has got some of it back.
  bool take_held_back() REQUIRES(grow_mutex) EXCLUDES(mutex);
  bool is_free(const ExtentAddress& extent) const REQUIRES(mutex);
  void free_clear() REQUIRES(mutex);
  void make_free(const ExtentAddress& extent) REQUIRES(mutex);
  // Ends the leaving of a file: its free ranges serve again. False: none was leaving.
  bool stay() REQUIRES(mutex);
  std::vector<ExtentAddress> kept_at_close(uint64_t blocks) REQUIRES(mutex);
  Status trim_file(uint32_t number, const std::vector<ExtentAddress>& free, uint64_t blocks);
};

}  // namespace hawthorn::space
