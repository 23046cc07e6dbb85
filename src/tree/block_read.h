#pragma once
// What one read needs of extents that are not in memory: looked for in frames, then read from disk.
//
//   read ──> bytes() ──> frame? ──> yes: go on
//                          └─ no: kNeedBlocks ──> BlockRead: begin, I/O, finish ──> read again
//
// The I/O itself is the caller's, so that a single get, a batch and an asynchronous get share the
// rest. Not here: which bytes a read needs (container.h), the frames (frame_cache.h).
// Threads: one object from one thread at a time.
//
// 1. What bytes() returns is valid inside the caller's epoch guard, until the next call for bytes
// of
//    the same kind (groups of a run, records of its heap, a value extent).
// 2. Blocks that got no frame stay with the ColdBlocks that read them, so that a read comes to its
//    end also where memory is short; blocks of groups always do where more is read after them.

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "hawthorn/status.h"
#include "os/file.h"
#include "tree/frame_cache.h"
#include "tree/residency.h"
#include "tree/run_file.h"

namespace hawthorn::tree {

// A piece of an extent.
struct BlockRange {
  const Extent* extent = nullptr;
  uint32_t offset = 0;  // in the extent
  uint32_t size = 0;
  bool groups = false;  // of a run's index blocks
  uint32_t first_block() const { return offset / os::kBlockBytes; }
  uint32_t blocks() const {
    return (offset + size + os::kBlockBytes - 1) / os::kBlockBytes - first_block();
  }
};

// What is left of a range where blocks at its ends are there already; one block at least.
template <typename Has>
BlockRange without_ends(const BlockRange& range, Has has) {
  constexpr auto kBlock = static_cast<uint32_t>(os::kBlockBytes);
  uint32_t first = range.first_block();
  uint32_t end = first + range.blocks();
  while (first + 1 < end && has(first)) ++first;
  while (first + 1 < end && has(end - 1)) --end;
  BlockRange rest = range;
  rest.offset = std::max(range.offset, first * kBlock);
  rest.size = std::min(range.offset + range.size, end * kBlock) - rest.offset;
  return rest;
}

// Whole blocks on their way from disk. Movable; gives back what it has when it goes.
class BlockRead {
 public:
  // Takes memory for the blocks of a range: a frame for a single one, a buffer for more. The file
  // holds the extent and is pinned; not inside an epoch guard. Errors: kOutOfMemory; those of
  // Residency::find_stored.
  static Result<BlockRead> begin(Residency& residency, RunFile* file, const BlockRange& range);
  BlockRead(BlockRead&& other) noexcept;
  BlockRead& operator=(BlockRead&& other) noexcept;
  ~BlockRead();

  // The request.
  os::File* disk() const;
  uint64_t disk_offset() const;
  std::span<char> room() const { return {memory_, size_t{stored_.disk_blocks} * os::kBlockBytes}; }
  // Once the bytes are there: Residency::confirm_blocks, and copies to frames of what is in a
  // buffer.
  Status confirm();

 private:
  friend class ColdBlocks;
  BlockRead() = default;
  void release();
  // Of packed blocks the buffer has the content behind what is stored.
  size_t buffer_bytes() const {
    return (size_t{stored_.disk_blocks} + (stored_.packed ? stored_.blocks : 0)) * os::kBlockBytes;
  }
  char* content() const { return stored_.packed ? memory_ + room().size() : memory_; }

  Residency* residency_ = nullptr;
  PinnedRunFile file_;
  Extent* extent_ = nullptr;
  StoredBlocks stored_;
  uint32_t frame_ = FrameCache::kNone;  // or memory_ is a buffer
  char* memory_ = nullptr;
};

class ColdBlocks {
 public:
  explicit ColdBlocks(Residency& residency) : residency_(residency) {}

  // Inside an epoch guard: the bytes of a range, contiguous, or null when a block is missing. Those
  // of a heap have 16 readable bytes before and behind them; groups lie in their 64-byte lines as
  // on disk.
  const char* bytes(const BlockRange& range);
  // In the same guard, what is to be read of a range: of groups, those that are kept here already
  // or are in frames are left out at both ends, since blocks of groups are always kept.
  BlockRange missing(const BlockRange& range);
  // Takes over what was read and verified, inside the guard in which it is used.
  void add(BlockRead read);
  // For another look, in another guard.
  void look_again() { ripe_ = nullptr; }
  // An extent whose blocks were found in this look, if it is one that should settle.
  Extent* ripe() const { return ripe_; }

 private:
  struct alignas(64) Line {
    char bytes[64];
  };
  const char* block(const Extent& extent, uint32_t number);
  // Copies `size` bytes that begin `in_block` bytes into block `number`; false: one is missing.
  bool copy(const Extent& extent, uint32_t number, size_t in_block, size_t size, char* to);

  Residency& residency_;
  Extent* ripe_ = nullptr;
  std::vector<Line> group_lines_;
  std::vector<BlockRead> kept_;  // those in buffers
  std::string heap_bytes_;
  std::string value_bytes_;
};

}  // namespace hawthorn::tree
