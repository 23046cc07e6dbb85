#pragma once
// A size of write buffers that several databases share: here a part of the memory budget of each
// (cache.h). Threads: any.

#include <atomic>
#include <cstddef>
#include <memory>

#include "rocksdb/cache.h"

namespace ROCKSDB_NAMESPACE {

// [mapped]
class WriteBufferManager final {
 public:
  // The cache is where the size counts; then it is no part of its own. `allow_stall`: writes are
  // paced in any case.
  explicit WriteBufferManager(size_t _buffer_size, std::shared_ptr<Cache> cache = {},
                              bool allow_stall = false)
      : buffer_size_(_buffer_size), cache_(std::move(cache)), allow_stall_(allow_stall) {}
  WriteBufferManager(const WriteBufferManager&) = delete;
  WriteBufferManager& operator=(const WriteBufferManager&) = delete;

  bool enabled() const { return buffer_size_ > 0; }
  bool cost_to_cache() const { return cache_ != nullptr; }
  size_t buffer_size() const { return buffer_size_; }
  // For databases that are opened from then on.
  void SetBufferSize(size_t new_size) { buffer_size_ = new_size; }
  // [accepted]
  void SetAllowStall(bool new_allow_stall) { allow_stall_ = new_allow_stall; }

 private:
  std::atomic<size_t> buffer_size_;
  const std::shared_ptr<Cache> cache_;
  std::atomic<bool> allow_stall_;
};

}  // namespace ROCKSDB_NAMESPACE
