#pragma once
// The allocator of extents in the data files: best fit over free ranges, rebuilt from the manifest
// at open. Nothing of it is on disk: free space is what the manifest does not list.
//
// Not here: when a dropped extent may be reused (db/publisher.h: after its batch is durable, R24).
// Threads: every function from any thread.
//
// 1. Two live extents never overlap. mark_used at open reports an overlap as kCorruption.
// 2. Data files grow in steps, are preallocated before use, and are never resized while the
//    database is open (R28): what gives the disk back then is the removal of whole files; they are
//    trimmed and holes punched at close only. The one exception: a file that an earlier close has
//    trimmed gets its space back when the first extent is allocated from it (space_state.h argues
//    why this is safe).
// 3. kNoSpace leaves everything as it was.
// 4. A new file, its size and its name are durable before an extent of it is given out.
// 5. A file that is opened for writing is locked first (R30): the lock of a killed process goes
//    only when its last write in flight has landed, so that write cannot hit an extent that this
//    process has reused.
// 6. What is reserved is given to flushes only: a value that is inserted straight into extents of
//    its own leaves that much ready (R28).
// 7. A file is removed only when no extent of it is in use, so nothing durable names it (R24); and
//    no file is added while one is leaving.
// 8. A device is as a file that always was there, with all its space: none is added, trimmed or
//    removed.
// 9. What another process may still read is released, but not free: it is held until that process
// has
//    moved on (db/follower_registry.h), or until the copy that is made is there (db/copy_source.h).
//    Held blocks count as used for their file alone, so that it
//    is neither cut nor removed.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "format/manifest_state.h"
#include "hawthorn/status.h"
#include "os/machine.h"

namespace hawthorn::space {

using format::ExtentAddress;

inline constexpr uint32_t kFilesMax = 16384;  // data.0 to data.16383
static_assert(kFilesMax == format::kDeviceFilesFirst);

// For messages: "data.3", or "device 0" for the number of a device.
std::string data_file_name(uint32_t number);

// Who takes an extent. A flush makes room for others by what it replaces; an insert does not.
enum class Use : uint8_t { kFlush, kInsert };

class Devices;

struct SpaceOptions {
  bool direct = true;
  bool direct_required = false;  // fail instead of falling back to buffered I/O
  bool read_only = false;
  // Another process writes, and may have made files since they were listed.
  bool beside_writer = false;
  // The first file and the least of each; the next one has one part in file_share of all before it,
  // so that little is free in the last one and a large database has few: 1 doubles them.
  uint64_t file_bytes_first = uint64_t{64} << 20;
  uint32_t file_share = 16;
  uint64_t file_bytes_max = uint64_t{1} << 30;
  // Instead of data files; longer alive than the Space. Their space is all that there is.
  Devices* devices = nullptr;
};

class Space {
 public:
  // Errors: kNotSupported with direct_required; what listing the directory returns.
  static Result<std::unique_ptr<Space>> open(const os::Machine& machine,
                                             const std::string& directory,
                                             const SpaceOptions& options);
  ~Space();

  // At open: every extent that the manifest lists, before the first allocate; many at a time are
  // much faster than one by one. Errors: kCorruption when an extent overlaps another one, or its
  // file is missing.
  Status mark_used(std::vector<ExtentAddress> extents);
  Status mark_used(const ExtentAddress& extent);

  // A contiguous extent of `blocks` 4 KB blocks, the smallest free range that holds it. Errors:
  // kNoSpace; kReadOnly.
  Result<ExtentAddress> allocate(uint32_t blocks, Use use = Use::kFlush);
  // Grows the files until `blocks` are free and backed by disk space, `contiguous` of them in one
  // range, in ranges that count (reserve). On a full disk it asks the file system again when there
  // is more space than before, or after a while. Errors: kNoSpace naming the file; kReadOnly.
  Status keep_ready(uint64_t blocks, uint32_t contiguous);
  uint64_t ready_blocks() const;
  // Of those in ranges that count, as far as `enough`.
  uint64_t ready_in_ranges(uint64_t enough) const;
  // What inserts must leave ready, in ranges of at least `part` each: what lies in smaller ones is
  // for what flushes take beyond what they should. Raised before it is made ready, none of them
  // takes from it.
  void reserve(uint64_t blocks, uint32_t part);
  // Extents of no blocks are ignored.
  void release(const ExtentAddress& extent);

  // What is released from here on was dropped by batches of the manifest up to `durable`; what
  // those up to `clear` have dropped nobody else reads any more, and it is free. Before the first
  // call everything that is released is free.
  void set_batches(uint64_t durable, uint64_t clear);
  // At open, when all that is used is marked: what is free was dropped by batches up to `batch`,
  // who knows which, and is held until all those are clear.
  void hold_free(uint64_t batch);
  // For copies of a moment: what is released from now on, whoever does it and whatever for, is held
  // until release_hold is called with the number that this returns. Of several, each holds.
  uint64_t hold_released();
  void release_hold(uint64_t number);
  uint64_t held_blocks() const;
  // Asked where the disk is full and something is held: whether some of it is free now. Called
  // without `mutex`, by one thread at a time; it may call set_batches. Set before the first use.
  void on_full(std::function<bool()> reclaim);

  // The file that an extent lies in, opened at first need. Never null: when the file cannot be
  // opened, every call of what is returned reports that. Lifetime: as long as the Space.
  os::File* file(uint32_t number);
  // Whether the files are opened direct: offsets, sizes and addresses of all I/O are then multiples
  // of 4096.
  bool direct() const;

  // Syncs every data file that was written since its last sync. Writers call mark_written when
  // their write is complete, before whoever syncs may rely on it. A failed sync is final: every
  // later sync returns its error.
  void mark_written(uint32_t file);
  Status sync();

  uint64_t used_blocks() const;
  uint64_t allocated_bytes() const;  // of the files
  // The same without a look at any, some of which may not be open yet.
  uint64_t file_bytes() const;
  // The largest extent that may be had without asking the disk.
  uint32_t largest_ready() const;
  // What is in use, or held, in ascending ranges: all that anybody may still read, for copies.
  std::vector<ExtentAddress> used_ranges() const;
  // All free ranges, ascending, for check.
  std::vector<ExtentAddress> free_ranges() const;

  // Giving the disk back. Chooses a file that shall go, where `keep_blocks` stay ready besides what
  // must move out of it: nothing is allocated from it any more. Nothing when none is worth it, or
  // all that are stand in `except`. Whoever calls moves what is in use (its owners release it),
  // then calls remove_left. One file leaves at a time; when the rest runs short of space, it stays.
  std::optional<uint32_t> leave(uint64_t keep_blocks, const std::set<uint32_t>& except);
  std::optional<uint32_t> leaving() const;
  void stay();
  // Removes the file that is leaving once nothing of it is in use; whether it did. Errors: those of
  // the file system; then the file is there as before, and does not leave any more.
  Result<bool> remove_left();
  // When the last file was made, by the machine's monotonic clock; 0: none was.
  uint64_t grown_us() const;

  // Clean close: cuts free tails, removes empty files, punches holes over free ranges, syncs. Of
  // what is ready as much as `keep_blocks` keeps its space, in ranges that count for the reserve,
  // so that it is there for the next open. No other call may be under way.
  Status trim_files(uint64_t keep_blocks = 0);
  // Behind it: others may open the files while this object is still there.
  void close_files();

  struct State;

 private:
  explicit Space(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

bool is_data_file(std::string_view name);

}  // namespace hawthorn::space
