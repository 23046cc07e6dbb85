#pragma once
// What is in memory of the data files: whole extents, contiguous in the arena (L3), under the
// arena's budget; single blocks of extents that are not.
//
// Not here: disk space (space), the delta's memory (delta.h takes it from the arena directly; this
// module keeps out of its reserve). Threads: every function from any thread. No lock is held across
// I/O.
//
// 1. Memory for extents never takes the last `reserve` bytes of the budget, which belong to deltas,
// log and small objects.
// 2. An extent is evicted only when it is not pinned and its copy on disk is complete; run images
// go after values.
// 3. Bytes are verified when they come from disk, once (pitfall 10); a mismatch is declared only
// after a second read.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "hawthorn/status.h"
#include "os/arena.h"
#include "os/machine.h"
#include "os/sync.h"
#include "space/space.h"
#include "tree/run_file.h"

namespace hawthorn::tree {

class Residency {
 public:
  Residency(const os::Machine& machine, os::Arena* arena, space::Space* space);
  ~Residency();

  os::Arena* arena() const { return arena_; }
  space::Space* space() const { return space_; }
  const os::Machine& machine() const { return machine_; }

  // The part of the budget that extents leave to others.
  void set_reserve(size_t bytes) { reserve_.store(bytes, std::memory_order_relaxed); }

  // Memory for an extent's copy (4 KB aligned), evicting others as needed; nullptr when nothing can
  // go.
  char* allocate(os::Quota quota, size_t bytes);
  // Gives it back at once (nobody else has seen it).
  void release(os::Quota quota, char* memory, size_t bytes);
  // Evicts until `bytes` more could be allocated by others, or nothing can go; returns whether it
  // helped.
  bool make_room(size_t bytes);

  // Hands memory (from allocate, of extent->disk_bytes()) with the extent's content over: it is
  // resident from now on.
  void admit(Extent* extent, char* memory);
  // Fills in run and bases of a file from its extents' memory, and makes it the one to be told of
  // evictions. `attached`: the run over the image's memory, owned by the file from now on; null
  // when it is not resident.
  void adopt(RunFile* file, std::unique_ptr<Run> attached);

  // Reads, verifies and attaches the run image of a file whose run is not resident. Errors:
  // kCorruption, kIoError, kOutOfMemory. Blocking: not inside an epoch guard; the caller holds a
  // reference to the file. When it returns, the run may have been evicted again, also from a file
  // that was pinned only just before: look again.
  Status load_run(RunFile* file);
  // Makes value extent e resident. As load_run; the file is pinned. Does nothing where a newer file
  // has taken the extent over: whoever finds bases[e] still null starts again from the directory,
  // or reads what it needs by read_values.
  // `must`: also a little beyond the budget, for a merge that gives memory back.
  Status load_values(RunFile* file, uint32_t extent, bool must = false);
  // Whether there is room for a whole extent without evicting.
  bool roomy(size_t bytes) const;
  // Reads `size` bytes at `offset` of value extent e into `to`, verifying the blocks. The file is
  // pinned.
  Status read_values(RunFile* file, uint32_t extent, uint32_t offset, uint32_t size, char* to);
  // Reads a piece of an extent of its own (large value).
  Status read_raw(const ExtentAddress& address, uint64_t offset, size_t size, char* to);

  // Of what was read, the values that readers (not merges) had to wait for.
  uint64_t bytes_missed() const { return bytes_missed_.load(std::memory_order_relaxed); }
  // How far extents are above what they may take, after a larger reserve was set.
  size_t excess() const;
  uint64_t bytes_read() const { return bytes_read_.load(std::memory_order_relaxed); }

  // Told by the destructors of RunFile and Extent.
  void forget(RunFile* file);
  void forget(Extent* extent);

 private:
  // Memory whose last users may still be reading.
  struct Evicted {
    ExtentRef extent;
    char* memory;
    Run* run;  // that was attached to it, or null
    uint64_t epoch;
  };
  void keep_run(RunFile* file, std::unique_ptr<Run> run) REQUIRES(mutex_);
  void release_run(Run* run);
  bool attach_present(RunFile* file);
  Result<std::unique_ptr<Run>> read_run(RunFile* file, char* memory);
  void evict(RunFile* file, Extent* extent) REQUIRES(mutex_);
  size_t evict_pass(size_t bytes) REQUIRES(mutex_);
  void collect_evicted() REQUIRES(mutex_);
  size_t extent_bytes() const;
  bool within_limit(size_t bytes) const;
  // As allocate, but a little beyond the budget where nothing can go at this moment: merges and
  // cursors may have pinned everything that is resident, and nobody must fail for that.
  char* allocate_for_read(os::Quota quota, size_t bytes);
  Status read_verified(RunFile* file, uint32_t extent, uint32_t first_block, uint32_t blocks,
                       char* to);

  const os::Machine& machine_;
  os::Arena* const arena_;
  space::Space* const space_;
  std::atomic<size_t> reserve_{0};
  std::atomic<uint64_t> bytes_read_{0};
  std::atomic<uint64_t> bytes_missed_{0};
  mutable os::Mutex mutex_;
  std::vector<RunFile*> files_
      GUARDED_BY(mutex_);  // candidates, in clock order; each knows its place
  size_t hand_ GUARDED_BY(mutex_) = 0;
  std::vector<Evicted> evicted_ GUARDED_BY(mutex_);
};

}  // namespace hawthorn::tree
