#pragma once
// Single 4 KB blocks of extents that are not in memory as a whole, in frames of the arena.
//
//   Extent::frames (a number per block) ──> frame ──> slab of the arena
//
// What to keep is decided by S3-FIFO (Yang et al., "FIFO queues are all you need for cache
// eviction", SOSP 2023): new blocks pass through a small queue, those that are read again there go
// to the main queue, and a block that comes back soon after it was dropped goes there at once.
//
// Not here: reading and verifying (block_read.h), whole extents (residency.h). Used by Residency.
// Threads: every function from any thread; find takes no lock.
//
// 1. What find returns stays as it is until the caller's epoch guard ends: a frame is used again
// only
//    when every guard that could have seen it is gone.
// 2. A frame is in one place: free, taken (its block is being read), in a queue, or waiting for
//    guards to end.
// 3. Slabs grow into memory that the arena has, or that whole extents give up; they go back, one
//    whole slab at a time, when others need memory more.

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "os/arena.h"
#include "os/sync.h"
#include "tree/extent.h"

namespace hawthorn::tree {

class FrameCache {
 public:
  static constexpr uint32_t kNone = ~uint32_t{0};
  static constexpr size_t kFrameBytes = 4096;
  static constexpr uint32_t kShelfSlabs = 256;
  static constexpr uint32_t kShelvesMax = 4096;
  static constexpr uint32_t kSlabsMax = kShelfSlabs * kShelvesMax;

  explicit FrameCache(os::Arena* arena);
  ~FrameCache();

  // Inside an epoch guard: a block's bytes, or null. Counts as a use.
  const char* find(const Extent& extent, uint32_t block) const;
  // After a block was found: whether nearly all of its extent's are here, and are read again and
  // again, so that the whole may as well lie in one piece. Looks only once for twice as many hits
  // as there are blocks.
  bool ripe(const Extent& extent);
  // An extent's blocks from `first` on lie in memory elsewhere from now on.
  void drop(Extent& extent, uint32_t first);

  // A frame to read a block into: a free one, or one that a block loses. kNone: there is none, and
  // grow may help.
  uint32_t take();
  // Where it lies.
  char* memory(uint32_t frame) const;
  // Puts a taken frame's verified content in the block's place, or frees it where another one is
  // there already.
  void publish(Extent& extent, uint32_t block, uint32_t frame);
  void give_back(uint32_t frame);

  // Whether another slab would be of use now, and how large it is.
  bool wants_slab() const { return wants_slab_.load(std::memory_order_relaxed); }
  size_t slab_bytes() const { return slab_frames() * kFrameBytes; }
  // Takes a span of slab_bytes() of Quota::kFrames over.
  void grow(char* slab);
  // Begins to give up slabs of at least `bytes`, as far as there are; returns how much will come.
  size_t shrink(size_t bytes);
  // Gives slabs back to the arena that nobody reads any more; returns how many bytes.
  size_t collect();
  // Whether some are still to come.
  bool shrinking() const { return shrinking_.load(std::memory_order_relaxed) != 0; }

  // The extent goes, nobody can read it any more: so do its frames.
  void forget(Extent& extent);

  uint64_t hits() const { return hits_.load(std::memory_order_relaxed); }
  uint64_t misses() const { return misses_.load(std::memory_order_relaxed); }
  // Misses of blocks that a slightly larger cache would have had.
  uint64_t ghost_hits() const { return ghost_hits_.load(std::memory_order_relaxed); }
  size_t frames_used() const { return used_.load(std::memory_order_relaxed); }

 private:
  enum class Place : uint8_t { kFree, kTaken, kSmall, kMain, kWaiting };
  static constexpr uint8_t kUsesMax = 3;
  struct Frame {
    Extent* extent = nullptr;  // this and the next: of a frame in a queue
    uint32_t block = 0;
    uint32_t next = kNone;  // in its queue
    uint32_t previous = kNone;
    Place place = Place::kFree;
    mutable std::atomic<uint8_t> uses{0};
  };
  struct Slab {
    char* memory = nullptr;  // null: there is none at this number
    std::unique_ptr<Frame[]> frames;
    bool leaving = false;
    uint32_t busy = 0;   // of a slab that leaves: frames that somebody still has
    uint64_t epoch = 0;  // of the moment when it began to leave
  };
  struct Queue {
    uint32_t head = kNone;
    uint32_t tail = kNone;
    size_t size = 0;
  };
  struct Waiting {
    uint32_t frame;
    uint64_t epoch;
  };

  uint32_t slab_frames() const { return slab_frames_; }
  Frame& frame(uint32_t number) const {
    return slab(number / slab_frames_).frames[number % slab_frames_];
  }
  Slab& slab(uint32_t number) const { return shelves_[number / kShelfSlabs][number % kShelfSlabs]; }
  void push(Queue& queue, uint32_t number, Place place) REQUIRES(mutex_);
  void unlink(Queue& queue, uint32_t number) REQUIRES(mutex_);
  Queue& queue_of(const Frame& entry) REQUIRES(mutex_);
  bool evict_one() REQUIRES(mutex_);
  void drop_frame(uint32_t number) REQUIRES(mutex_);
  void take_from_extent(uint32_t number) REQUIRES(mutex_);
  void free_frame(uint32_t number) REQUIRES(mutex_);
  void collect_waiting() REQUIRES(mutex_);
  void evict_ahead() REQUIRES(mutex_);
  static uint64_t ghost_key(const Extent& extent, uint32_t block);
  void remember(const Extent& extent, uint32_t block) REQUIRES(mutex_);
  bool remembered(const Extent& extent, uint32_t block) REQUIRES(mutex_);
  void size_ghosts() REQUIRES(mutex_);

  os::Arena* const arena_;
  const uint32_t slab_frames_;
  mutable std::atomic<uint64_t> hits_{0};
  std::atomic<uint64_t> misses_{0};
  std::atomic<uint64_t> ghost_hits_{0};
  std::atomic<size_t> used_{0};
  std::atomic<uint32_t> shrinking_{0};
  std::atomic<bool> wants_slab_{true};

  // By number; an entry is written before a frame of it is published, and cleared when none is.
  std::array<std::unique_ptr<Slab[]>, kShelvesMax> shelves_;
  os::Mutex mutex_;
  uint32_t slabs_end_ GUARDED_BY(mutex_) = 0;
  uint32_t slabs_free_from_ GUARDED_BY(mutex_) = 0;  // no lower number is free
  size_t frames_ GUARDED_BY(mutex_) = 0;             // of slabs that stay
  Queue free_ GUARDED_BY(mutex_);
  Queue small_ GUARDED_BY(mutex_);
  Queue main_ GUARDED_BY(mutex_);
  std::deque<Waiting> waiting_ GUARDED_BY(mutex_);
  uint32_t takes_ GUARDED_BY(mutex_) = 0;  // while few are free
  // Of the blocks that were dropped last, by hash: what and when.
  struct Ghost {
    uint32_t tag = 0;
    uint32_t time = 0;
  };
  std::vector<Ghost> ghosts_ GUARDED_BY(mutex_);
  uint32_t ghost_time_ GUARDED_BY(mutex_) = 0;
};

}  // namespace hawthorn::tree
