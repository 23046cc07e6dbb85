#pragma once
// What the factories of cache.h, rate_limiter.h and table.h make: figures, and who is told of them.
//
// Used by the options' mapping and by databases. Threads: any.

#include <atomic>
#include <cstdint>
#include <string>

#include "rocksdb/cache.h"
#include "rocksdb/rate_limiter.h"
#include "rocksdb/table.h"
#include "shims/rocksdb/src/own_kind.h"
#include "shims/rocksdb/src/subscribers.h"

namespace hawthorn::rocks {

class CacheImpl final : public rocksdb::Cache {
 public:
  CacheImpl(const char* name, size_t capacity, bool strict)
      : name_(name), capacity_(capacity), strict_(strict) {
    OwnKind<CacheImpl>::note(this);
  }

  const char* Name() const override { return name_; }
  void SetCapacity(size_t capacity) override;
  size_t GetCapacity() const override { return capacity_; }
  void SetStrictCapacityLimit(bool strict) override { strict_ = strict; }
  bool HasStrictCapacityLimit() const override { return strict_; }
  size_t GetUsage() const override;
  size_t GetPinnedUsage() const override;

  Subscribers& subscribers() { return subscribers_; }

 private:
  const char* const name_;
  std::atomic<size_t> capacity_;
  std::atomic<bool> strict_;
  Subscribers subscribers_;
};

class RateLimiterImpl final : public rocksdb::RateLimiter {
 public:
  explicit RateLimiterImpl(int64_t bytes) : bytes_per_second_(bytes) {
    OwnKind<RateLimiterImpl>::note(this);
  }
  void SetBytesPerSecond(int64_t bytes_per_second) override;
  int64_t GetBytesPerSecond() const override { return bytes_per_second_; }

  Subscribers& subscribers() { return subscribers_; }

 private:
  std::atomic<int64_t> bytes_per_second_;
  Subscribers subscribers_;
};

// Null: it is none of this library's.
inline CacheImpl* cache_impl(rocksdb::Cache* cache) { return OwnKind<CacheImpl>::find(cache); }
inline RateLimiterImpl* rate_limiter_impl(rocksdb::RateLimiter* limiter) {
  return OwnKind<RateLimiterImpl>::find(limiter);
}

// The options of a block-based table, or null.
const rocksdb::BlockBasedTableOptions* block_options(const rocksdb::TableFactory* factory);

}  // namespace hawthorn::rocks
