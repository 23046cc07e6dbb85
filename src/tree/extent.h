#pragma once
// A piece of a data file, shared by everything that refers to it, with the copy of it that may be
// in memory.
//
// Not here: which extents exist (space), which are kept in memory (residency.h).
// Threads: reference counts and pins from any thread; `memory` is set and cleared by Residency
// only.
//
// 1. When the last reference goes, the memory is given back; when the manifest no longer lists it
// (`dropped`), the disk
//    space is, too. The publisher holds a reference until the batch that drops it is durable (R24).
// 2. A run image is in memory with or without the heap behind its index, never the heap alone.
// 3. Memory is given back only when no epoch guard that could have seen it is left and pins is
// zero.

#include <atomic>
#include <cstdint>
#include <memory>

#include "format/manifest_state.h"
#include "format/run_layout.h"
#include "os/arena.h"
#include "space/space.h"

namespace hawthorn::tree {

using format::ExtentAddress;

class Residency;
struct RunFile;

// Frames that hold single blocks of an extent that is not in memory as a whole: for each block, the
// number of its frame + 1, or 0.
struct FrameTable {
  explicit FrameTable(uint32_t count) : blocks(count), frames(new std::atomic<uint32_t>[count]()) {}
  const uint32_t blocks;
  const std::unique_ptr<std::atomic<uint32_t>[]> frames;
  std::atomic<uint32_t> used{0};  // how many there are; changed under the cache's lock
  std::atomic<uint32_t> hits{0};  // about
};

struct Extent {
  Extent(Residency* keeper, const ExtentAddress& at, uint32_t byte_count, bool index)
      : residency(keeper),
        address(at),
        bytes(byte_count),
        is_index(index),
        blocks((byte_count + 4095) / 4096),
        front_blocks(blocks) {}

  Residency* const residency;
  const ExtentAddress address;
  const uint32_t bytes;   // of its content, unpacked, without the last block's rest
  const bool is_index;    // a run image; otherwise values
  const uint32_t blocks;  // of its content, as it stands in memory
  // Of a run image: its blocks before the heap, or all where the heap is small. Set before the
  // extent is shared.
  uint32_t front_blocks;
  uint32_t header_blocks = 1;                // of a run image: its header area; set with those
  std::atomic<char*> memory{nullptr};        // of the first front_blocks
  std::atomic<char*> heap{nullptr};          // of the blocks behind them
  std::atomic<FrameTable*> frames{nullptr};  // made at first need; goes with the extent
  std::atomic<uint32_t> refs{1};
  std::atomic<uint32_t> pins{0};
  std::atomic<bool> writing{false};  // the copy on disk is not complete yet: not evictable
  // Its body is in memory since its blocks were read again and again; set under the residency's
  // lock. And whether somebody is just about to bring it there.
  std::atomic<bool> settled{false};
  std::atomic<bool> settling{false};
  // What is to be written where it differs from the content, of disk_bytes(); null: the content.
  // Set before the extent is shared, given back when it is written.
  char* stored = nullptr;
  std::atomic<bool> dropped{false};  // no durable manifest will list it
  bool large_value = false;          // of one value alone; set before the extent is shared
  RunFile* owner = nullptr;  // the newest file that refers to it; under the residency's lock

  // The body: values, or the heap behind a front, where it has a life of its own.
  uint32_t body_first() const { return is_index ? front_blocks : 0; }
  size_t body_bytes() const { return size_t{blocks - body_first()} * 4096; }
  std::atomic<char*>& body() { return is_index ? heap : memory; }
  // The first block of what settles: of the body, or of an image without one, behind its header.
  uint32_t settles_from() const { return body_bytes() != 0 ? body_first() : header_blocks; }

  size_t disk_bytes() const { return size_t{address.blocks} * 4096; }
  size_t memory_bytes() const { return size_t{blocks} * 4096; }
  // Blocks on disk are not those of the content (format/packing.h).
  bool packed() const { return blocks > address.blocks; }
  // A small heap is not worth a life of its own.
  void set_front(const format::RunFront& front) {
    header_blocks = front.header_blocks;
    front_blocks = blocks - front.blocks <= kSmallHeapBlocks ? blocks : front.blocks;
  }
  static constexpr uint32_t kSmallHeapBlocks = 2;
  size_t front_bytes() const { return size_t{front_blocks} * 4096; }
  size_t header_bytes() const { return size_t{header_blocks} * 4096; }
  size_t heap_bytes() const { return memory_bytes() - front_bytes(); }
  ~Extent() { delete frames.load(std::memory_order_relaxed); }
  void ref() { refs.fetch_add(1, std::memory_order_relaxed); }
  void unref();
};

// Keeps an extent alive.
class ExtentRef {
 public:
  ExtentRef() = default;
  explicit ExtentRef(Extent* extent) : extent_(extent) {}  // takes over one reference
  ExtentRef(ExtentRef&& other) noexcept : extent_(other.extent_) { other.extent_ = nullptr; }
  ExtentRef& operator=(ExtentRef&& other) noexcept {
    if (this != &other) {
      reset();
      extent_ = other.extent_;
      other.extent_ = nullptr;
    }
    return *this;
  }
  ExtentRef(const ExtentRef& other) : extent_(other.extent_) {
    if (extent_ != nullptr) extent_->ref();
  }
  ExtentRef& operator=(const ExtentRef& other) {
    if (this != &other) *this = ExtentRef(other);
    return *this;
  }
  ~ExtentRef() { reset(); }
  void reset() {
    if (extent_ != nullptr) extent_->unref();
    extent_ = nullptr;
  }
  Extent* get() const { return extent_; }
  Extent* operator->() const { return extent_; }
  explicit operator bool() const { return extent_ != nullptr; }

 private:
  Extent* extent_ = nullptr;
};

}  // namespace hawthorn::tree
