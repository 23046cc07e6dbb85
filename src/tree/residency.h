#pragma once
// What is in memory of the data files, under the arena's budget: whole extents, contiguous in the
// arena (L3); single blocks of others in frames.
//
//   run image:     outline (header, accelerators) ── kept longest: of a front that went, or alone
//                  front (header, index) ── kept before values, as long as it is used
//                  heap (keys' tails, small values) ─┐
//   value extents ───────────────────────────────────┴─ whole, or by blocks in frames, or not at
//   all
//
// Whole are those that were just written, and those that have settled, as nearly all of their
// blocks are read again and again.
//
// Not here: disk space (space), the delta's memory (delta.h takes it from the arena directly; this
// module keeps out of its reserve). Threads: every function from any thread. No lock is held across
// I/O.
//
// 1. Memory for extents never takes the last `reserve` bytes of the budget, which belong to deltas,
// log and small objects.
// 2. An extent is evicted only when it is not pinned and its copy on disk is complete. Whole values
// and heaps go first, but for settled ones, then frames, then the fronts of runs, which leave their
// outlines.
// 3. Bytes are verified when they come from disk, once (pitfall 10); a mismatch is declared only
// after a second read.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "hawthorn/status.h"
#include "os/arena.h"
#include "os/io_limit.h"
#include "os/io_queue.h"
#include "os/machine.h"
#include "os/sync.h"
#include "space/space.h"
#include "tree/compression.h"
#include "tree/disk_reads.h"
#include "tree/frame_cache.h"
#include "tree/run_file.h"

namespace hawthorn::tree {

// How much of a run image is wanted.
enum class RunPart : uint8_t { kFront, kWhole };

// What is to be read may be left, or must not fail for the memory.
enum class Need : uint8_t { kMay, kMust };

// Blocks of an extent on disk, and those of its content that they hold: the same ones, but for
// packed chunks.
struct StoredBlocks {
  uint32_t disk_first = 0;
  uint32_t disk_blocks = 0;
  uint32_t first = 0;
  uint32_t blocks = 0;
  bool packed = false;
};

// Whole blocks of a value extent or of a run's heap, and where their content goes.
struct PieceRead {
  const Extent* extent = nullptr;
  uint32_t first_block = 0;
  uint32_t blocks = 0;
  char* to = nullptr;
};

class PieceReads;

class Residency {
 public:
  Residency(const os::Machine& machine, os::Arena* arena, space::Space* space);
  ~Residency();

  // Asked of each large value's extent that is gone for good, under locks, before its disk space is
  // free: true takes it over. Set before anything is there.
  std::function<bool(const ExtentAddress&)> hold_dropped;

  os::Arena* arena() const { return arena_; }
  space::Space* space() const { return space_; }
  const os::Machine& machine() const { return machine_; }
  FrameCache& frames() { return frames_; }
  DiskReads& disk() { return disk_; }

  // The part of the budget that extents leave to others.
  // `others`: what is in it for the log, transactions and the like; where they take more, extents
  // leave more.
  void set_reserve(size_t bytes, size_t others = 0) {
    others_part_.store(others, std::memory_order_relaxed);
    reserve_.store(bytes, std::memory_order_relaxed);
  }

  // Memory for an extent's copy (4 KB aligned), evicting others as needed; nullptr when nothing can
  // go.
  char* allocate(os::Quota quota, size_t bytes);
  // As allocate, but a little beyond the budget where nothing can go at this moment: merges and
  // cursors may have pinned everything that is resident, and nobody must fail for that.
  char* allocate_for_read(os::Quota quota, size_t bytes);
  // kMust: as allocate_for_read. kMay: as allocate, but gives up where that would wait for readers
  // to leave.
  char* allocate_needed(os::Quota quota, size_t bytes, Need need);
  // What all cursors together read ahead stays below a share of the budget: false where it would
  // not; else the caller gives the bytes back.
  bool reserve_ahead(size_t bytes);
  size_t ahead_bytes() const { return ahead_.load(std::memory_order_relaxed); }
  void unreserve_ahead(size_t bytes) { ahead_.fetch_sub(bytes, std::memory_order_relaxed); }
  // A frame to read a block into, taken from another block or from whole extents that nobody
  // reads; FrameCache::kNone when there is none.
  uint32_t take_frame();
  // Gives it back at once (nobody else has seen it).
  void release(os::Quota quota, char* memory, size_t bytes);
  // Evicts until `bytes` more could be allocated by others, or nothing can go; returns whether it
  // helped.
  bool make_room(size_t bytes);

  // Hands memory (from allocate, of extent->memory_bytes()) with the extent's content over: it is
  // resident from now on.
  void admit(Extent* extent, char* memory);
  // The run over what is in memory of a new file's image that another one has, too; null: nothing
  // is. The image is pinned.
  std::unique_ptr<Run> attach_again(RunFile* file);
  // Tells where the heap of an admitted run image begins, before anybody else sees it: it is
  // evicted by itself from now on.
  void set_front(Extent* image, const format::RunFront& front);
  // Fills in run and bases of a file from its extents' memory, and makes it the one to be told of
  // evictions. `attached`: the run over the image's memory, owned by the file from now on; null
  // when it is not resident.
  void adopt(RunFile* file, std::unique_ptr<Run> attached);

  // When it returns, whatever was pinned before can no longer be evicted.
  void await_evictions() { os::MutexLock lock(mutex_); }
  // Reads, verifies and attaches what is not resident of a file's run image: its front, and the
  // heap where it is wanted or there is room for the whole database. Errors: kCorruption, kIoError,
  // kOutOfMemory. Blocking: not inside an epoch guard; the caller holds a reference to the file.
  // When it returns, the run may have been evicted again, also from a file that was pinned only
  // just before: look again.
  Status load_run(RunFile* file, RunPart part = RunPart::kFront);
  // What a point read needs of a run at least: where neither run nor outline is in memory, reads
  // the outline, or the front where that is small or all of the database has room. As load_run.
  Status load_for_get(RunFile* file);
  // The outline of a run whose image has first heads; not where it is in memory. As load_run.
  Status load_outline(RunFile* file);
  // Whether a quarter of the budget stays free beside so many bytes more.
  bool spare(size_t bytes) const;
  // The same of a front, in two steps around the caller's read. Null: no memory can be had easily.
  // The other step takes the memory over. The file is pinned and its image not empty.
  char* begin_front(RunFile* file);
  os::IoRead front_request(const RunFile& file, char* memory) const;
  Status finish_front(RunFile* file, char* memory);
  void drop_front(const RunFile& file, char* memory);
  // What is missing of it to see the timestamps of its entries. As load_run.
  Status load_for_conflicts(RunFile* file);
  // Makes value extent e resident. As load_run; the file is pinned. Does nothing where a newer file
  // has taken the extent over: whoever finds bases[e] still null starts again from the directory,
  // or reads what it needs by read_values.
  // `must`: also a little beyond the budget, for a merge that gives memory back.
  Status load_values(RunFile* file, uint32_t extent, bool must = false);
  // Whether a whole extent of the database should become resident when a piece of it is wanted: all
  // of them have room.
  bool roomy(size_t bytes) const;
  // Told when a read by its outline needs index blocks of a file from disk: whether the whole front
  // should be read instead, since that happens often. Of a front that never was in memory a
  // few times are often.
  bool wants_front(RunFile* file);
  // Gets an extent's body to lie in memory as a whole, from frames and from disk,
  // where there is room; it stays while it is used enough. The file is pinned. Blocking, not inside
  // an epoch guard. Errors of the disk are left to be met by who reads.
  void settle(RunFile* file, Extent& extent);
  // The same of all of a file; without its values where they are not wanted.
  void settle(RunFile* file, bool values);
  size_t settled_bytes() const { return settled_bytes_.load(std::memory_order_relaxed); }
  // A walk has read its way through a file.
  void note_walk(RunFile* file) const {
    file->walked_at.store(walk_clock(), std::memory_order_relaxed);
  }
  // Whether one did, so lately that a somewhat larger cache would have kept it. Forgets that.
  bool walked_lately(RunFile* file) const;
  // What to read from disk for blocks of a value extent, of a run's heap or of its index. The file
  // is pinned. Blocks where it is packed and its front is not in memory. Errors: as load_run.
  Result<StoredBlocks> find_stored(RunFile* file, const Extent& extent, uint32_t first_block,
                                   uint32_t blocks);
  // The same, as the run of the file tells it, or a copy of that.
  static StoredBlocks stored_in(const RunFile& file, const Run& run, const Extent& extent,
                                uint32_t first_block, uint32_t blocks);
  // Reads whole blocks of a value extent or of a run's heap and verifies them. The file is pinned.
  Status read_blocks(RunFile* file, const Extent& extent, uint32_t first_block, uint32_t blocks,
                     char* to);
  // Reads what was begun, all of it at once, and waits. Errors: kIoError.
  Status carry_out(PieceReads& reads);
  // The same where they were read already, to `stored`: verifies them, reads them once more where
  // they are wrong, and where they are packed unpacks them to `content`. Blocking, not inside an
  // epoch guard. Errors: kCorruption, kIoError.
  Status confirm_blocks(RunFile* file, const Extent& extent, const StoredBlocks& blocks,
                        char* stored, char* content);
  Result<uint32_t> confirm_stored(const format::StoredRegion& region, uint32_t first,
                                  uint32_t count, char* blocks) const;
  // Copies verified blocks to frames, as far as there are; longer pieces than kFramesPerRead pass
  // the cache by.
  void keep_in_frames(Extent& extent, uint32_t first_block, uint32_t blocks, const char* bytes);
  static constexpr uint32_t kFramesPerRead = 16;
  // Reads the run image that a record names, verifies it and unpacks its heap: `to` has room for
  // record.image_blocks(). Errors: kCorruption, kIoError, kOutOfMemory.
  Status read_image(const format::ContainerRecord& record, char* to);
  // The same of one of its value extents: `to` has room for its content in whole blocks.
  Status read_values(const format::ContainerRecord& record, const Run& run, uint32_t extent,
                     char* to);
  // Reads a piece of an extent of its own (large value).
  Status read_raw(const ExtentAddress& address, uint64_t offset, size_t size, char* to);

  // Of what was read, what readers (not merges) would have found in a larger cache.
  uint64_t bytes_missed() const {
    return bytes_missed_.load(std::memory_order_relaxed) +
           frames_.ghost_hits() * FrameCache::kFrameBytes;
  }
  // Where merges that found no other room have taken the arena beyond its budget: lets values and
  // frames go until the huge pages can. To be called now and then.
  void return_to_budget();
  // How far extents are above what they may take, after a larger reserve was set.
  size_t excess() const;
  // "data.3 at 40960", for messages.
  static std::string place(os::File* file, uint64_t offset);
  // To listeners, once of each file.
  void tell_damage(RunFile* file, const Extent& extent, const Status& status) const;
  void count_read(size_t bytes) {
    bytes_read_.fetch_add(bytes, std::memory_order_relaxed);
    os::IoLimit::note(bytes);
  }
  // Bytes that were read from disk.
  uint64_t bytes_read() const { return bytes_read_.load(std::memory_order_relaxed); }

  Compression& compression() { return compression_; }
  // Gives the packed copy of an extent back, which is written now.
  void give_back_stored(Extent* extent);

  // Told by the destructors of RunFile and Extent.
  void forget(RunFile* file);
  void forget(Extent* extent);

 private:
  // In blocks that were read; after 16 TB it begins anew. Not 0.
  uint32_t walk_clock() const {
    return std::max(static_cast<uint32_t>(bytes_read() / os::kBlockBytes + 1), uint32_t{1});
  }
  // Memory whose last users may still be reading.
  struct Evicted {
    ExtentRef extent;
    os::Quota quota;
    char* memory;  // null: a run alone
    size_t bytes;
    Run* run;  // that was attached to it, or null
    uint64_t epoch;
  };
  void replace_run(RunFile* file, std::unique_ptr<Run> run) REQUIRES(mutex_);
  void release_run(Run* run);
  bool attach_present(RunFile* file, RunPart part);
  // Of the room that extents have, for all that has settled. A walk that comes back before as much
  // was read comes again and again.
  static constexpr size_t kSettledShare = 2;
  static constexpr int kAttemptsMax = 64;
  static constexpr int kAttemptsEasy = 8;  // none of them sleeps
  // What may go for an allocation.
  enum class Depth : uint8_t { kAll, kWholesAndFrames };
  char* allocate(os::Quota quota, size_t bytes, int attempts, Depth depth = Depth::kAll);
  Result<std::unique_ptr<Run>> check_run(RunFile* file, char* memory, size_t bytes);
  bool take_image(RunFile* file, char* memory, size_t bytes, std::unique_ptr<Run> run);
  Status load_image(RunFile* file, RunPart part);
  Status load_heap(RunFile* file);
  Result<const Run*> pinned_run(RunFile* file);
  Status read_region(const format::StoredRegion& region, const ExtentAddress& address,
                     uint32_t first_block, uint64_t container, char* to);
  bool unpack(const format::StoredRegion& region, uint32_t first_chunk, uint32_t end_chunk,
              const char* stored, char* to) const;
  bool evict_heap(RunFile* file) REQUIRES(mutex_);
  size_t evict_front(RunFile* file) REQUIRES(mutex_);
  size_t try_front(RunFile* file) REQUIRES(mutex_);
  size_t keep_outline(RunFile* file, std::unique_ptr<Run> outline) REQUIRES(mutex_);
  void offer_front() REQUIRES(mutex_);
  void evict_values(RunFile* file, Extent* extent) REQUIRES(mutex_);
  void give_up(Extent* extent, os::Quota quota, char* memory, size_t bytes, Run* run)
      REQUIRES(mutex_);
  size_t evict_whole(size_t bytes) REQUIRES(mutex_);
  size_t evict_fronts(size_t bytes) REQUIRES(mutex_);
  size_t evict_outlines(size_t bytes) REQUIRES(mutex_);
  size_t evict_settled(size_t bytes) REQUIRES(mutex_);
  size_t evict_pass(size_t bytes, Depth depth) REQUIRES(mutex_);
  size_t try_settled(RunFile* file, bool any) REQUIRES(mutex_);
  void offer_settled() REQUIRES(mutex_);
  void enlist_body(RunFile* file, const Extent& extent) REQUIRES(mutex_);
  void mark_settled(Extent& extent, bool settled) REQUIRES(mutex_);
  bool settle_now(RunFile* file, Extent& extent);
  bool gather(RunFile* file, const Extent& extent, char* to);
  bool take_values(RunFile* file, uint32_t extent, char* memory, bool settled);
  Status take_heap(RunFile* file, char* memory, bool settled, bool* taken);
  void collect_evicted() REQUIRES(mutex_);
  size_t extent_bytes() const;
  size_t set_aside() const;
  bool within_limit(size_t bytes) const;
  size_t room() const { return arena_->budget() - std::min(set_aside(), arena_->budget()); }

  const os::Machine& machine_;
  os::Arena* const arena_;
  space::Space* const space_;
  FrameCache frames_;
  DiskReads disk_;
  Compression compression_;
  std::atomic<size_t> reserve_{0};
  std::atomic<size_t> ahead_{0};
  std::atomic<size_t> settled_bytes_{0};  // changed under the lock, but for extents that go
  std::atomic<size_t> others_part_{0};
  std::atomic<uint64_t> bytes_read_{0};
  std::atomic<uint64_t> bytes_missed_{0};
  mutable os::Mutex mutex_;
  uint32_t frames_wanted_ GUARDED_BY(mutex_) = 0;  // while memory was short
  size_t settled_due_ GUARDED_BY(mutex_) = 0;      // of the settled hand's way
  // Candidates for eviction, in clock order: files with something whole in memory that has not
  // settled, files with the front of their run, files with its outline, files with something
  // settled. Those that have lost it leave when the hand comes by.
  struct Clock {
    uint32_t number;  // of RunFile::places
    std::vector<RunFile*> files = {};
    size_t hand = 0;
  };
  static void enlist(Clock& clock, RunFile* file);
  static void delist(Clock& clock, RunFile* file);
  template <typename Evict>
  size_t sweep(Clock& clock, size_t bytes, Evict evict) REQUIRES(mutex_);
  Clock wholes_ GUARDED_BY(mutex_){0};
  Clock fronts_ GUARDED_BY(mutex_){1};
  Clock outlines_ GUARDED_BY(mutex_){2};
  Clock settled_ GUARDED_BY(mutex_){3};
  std::vector<Evicted> evicted_ GUARDED_BY(mutex_);
};

}  // namespace hawthorn::tree
