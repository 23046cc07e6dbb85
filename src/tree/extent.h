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
// 2. Memory is given back only when no epoch guard that could have seen it is left and pins is
// zero.

#include <atomic>
#include <cstdint>

#include "format/manifest_state.h"
#include "os/arena.h"
#include "space/space.h"

namespace hawthorn::tree {

using format::ExtentAddress;

class Residency;
struct RunFile;

struct Extent {
  Extent(Residency* keeper, const ExtentAddress& at, uint32_t byte_count, bool index)
      : residency(keeper), address(at), bytes(byte_count), is_index(index) {}

  Residency* const residency;
  const ExtentAddress address;
  const uint32_t bytes;  // used bytes, without the last block's rest
  const bool is_index;   // a run image; otherwise values
  std::atomic<char*> memory{nullptr};
  std::atomic<uint32_t> refs{1};
  std::atomic<uint32_t> pins{0};
  std::atomic<bool> writing{false};  // the copy on disk is not complete yet: not evictable
  std::atomic<bool> dropped{false};  // no durable manifest will list it
  RunFile* owner = nullptr;  // the newest file that refers to it; under the residency's lock

  size_t disk_bytes() const { return size_t{address.blocks} * 4096; }
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
