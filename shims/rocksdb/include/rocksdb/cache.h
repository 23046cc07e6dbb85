#pragma once
// Block caches: here a figure of memory, which becomes a part of the budget of each database whose
// options name it.
//
// Not here: caches of the program's own, entries, secondary caches. Threads: any.
//
// 1. A database's budget is the capacity of its caches and the size of its write buffers together
//    (at least 16 MB). A cache that several databases share counts in full for each.
// 2. SetCapacity changes the budgets of those that are open.

#include <cstddef>
#include <cstdint>
#include <memory>

#include "rocksdb/compression_type.h"
#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {

class MemoryAllocator;
class SecondaryCache;

// [mapped]
class Cache {
 public:
  // [accepted]
  enum class Priority { HIGH, LOW, BOTTOM };

  virtual ~Cache() = default;
  Cache(const Cache&) = delete;
  Cache& operator=(const Cache&) = delete;

  virtual const char* Name() const = 0;
  virtual void SetCapacity(size_t capacity) = 0;
  virtual size_t GetCapacity() const = 0;
  // The budget is kept in any case. [accepted]
  virtual void SetStrictCapacityLimit(bool strict_capacity_limit) = 0;
  // [accepted]
  virtual bool HasStrictCapacityLimit() const = 0;
  // What databases that use it hold of data in memory.
  virtual size_t GetUsage() const = 0;
  virtual size_t GetPinnedUsage() const = 0;

 protected:
  Cache() = default;
};

// [mapped]
using RowCache = Cache;

// [accepted]
enum CacheMetadataChargePolicy { kDontChargeCacheMetadata, kFullChargeCacheMetadata };
// [accepted]
const CacheMetadataChargePolicy kDefaultCacheMetadataChargePolicy = kFullChargeCacheMetadata;
// [accepted]
inline constexpr bool kDefaultToAdaptiveMutex = false;

// [accepted]
struct ShardedCacheOptions {
  ShardedCacheOptions() = default;
  ShardedCacheOptions(
      size_t _capacity, int _num_shard_bits, bool _strict_capacity_limit,
      std::shared_ptr<MemoryAllocator> _memory_allocator = nullptr,
      CacheMetadataChargePolicy _metadata_charge_policy = kDefaultCacheMetadataChargePolicy)
      : capacity(_capacity),
        num_shard_bits(_num_shard_bits),
        strict_capacity_limit(_strict_capacity_limit),
        memory_allocator(std::move(_memory_allocator)),
        metadata_charge_policy(_metadata_charge_policy) {}
  virtual ~ShardedCacheOptions() = default;

  size_t capacity = 0;  // [mapped]
  int num_shard_bits = -1;
  bool strict_capacity_limit = false;
  std::shared_ptr<MemoryAllocator> memory_allocator;
  CacheMetadataChargePolicy metadata_charge_policy = kDefaultCacheMetadataChargePolicy;
  std::shared_ptr<SecondaryCache> secondary_cache;
  static constexpr int32_t kQuasiRandomHashSeed = -1;
  static constexpr int32_t kHostHashSeed = -2;
  int32_t hash_seed = kHostHashSeed;
};

// [accepted]
struct LRUCacheOptions : public ShardedCacheOptions {
  LRUCacheOptions() = default;
  LRUCacheOptions(
      size_t _capacity, int _num_shard_bits, bool _strict_capacity_limit,
      double _high_pri_pool_ratio, std::shared_ptr<MemoryAllocator> _memory_allocator = nullptr,
      bool _use_adaptive_mutex = kDefaultToAdaptiveMutex,
      CacheMetadataChargePolicy _metadata_charge_policy = kDefaultCacheMetadataChargePolicy,
      double _low_pri_pool_ratio = 0.0)
      : ShardedCacheOptions(_capacity, _num_shard_bits, _strict_capacity_limit,
                            std::move(_memory_allocator), _metadata_charge_policy),
        high_pri_pool_ratio(_high_pri_pool_ratio),
        low_pri_pool_ratio(_low_pri_pool_ratio),
        use_adaptive_mutex(_use_adaptive_mutex) {}

  // [mapped]
  std::shared_ptr<Cache> MakeSharedCache() const;
  // [mapped]
  std::shared_ptr<RowCache> MakeSharedRowCache() const { return MakeSharedCache(); }

  double high_pri_pool_ratio = 0.5;
  double low_pri_pool_ratio = 0.0;
  bool use_adaptive_mutex = kDefaultToAdaptiveMutex;
};

// [mapped]
inline std::shared_ptr<Cache> NewLRUCache(const LRUCacheOptions& cache_opts) {
  return cache_opts.MakeSharedCache();
}
inline std::shared_ptr<Cache> NewLRUCache(
    size_t capacity, int num_shard_bits = -1, bool strict_capacity_limit = false,
    double high_pri_pool_ratio = 0.5, std::shared_ptr<MemoryAllocator> memory_allocator = nullptr,
    bool use_adaptive_mutex = kDefaultToAdaptiveMutex,
    CacheMetadataChargePolicy metadata_charge_policy = kDefaultCacheMetadataChargePolicy,
    double low_pri_pool_ratio = 0.0) {
  return LRUCacheOptions(capacity, num_shard_bits, strict_capacity_limit, high_pri_pool_ratio,
                         std::move(memory_allocator), use_adaptive_mutex, metadata_charge_policy,
                         low_pri_pool_ratio)
      .MakeSharedCache();
}

// [accepted]
struct HyperClockCacheOptions : public ShardedCacheOptions {
  HyperClockCacheOptions(
      size_t _capacity, size_t _estimated_entry_charge, int _num_shard_bits = -1,
      bool _strict_capacity_limit = false,
      std::shared_ptr<MemoryAllocator> _memory_allocator = nullptr,
      CacheMetadataChargePolicy _metadata_charge_policy = kDefaultCacheMetadataChargePolicy)
      : ShardedCacheOptions(_capacity, _num_shard_bits, _strict_capacity_limit,
                            std::move(_memory_allocator), _metadata_charge_policy),
        estimated_entry_charge(_estimated_entry_charge) {}

  // [mapped]
  std::shared_ptr<Cache> MakeSharedCache() const;

  size_t estimated_entry_charge = 0;
  size_t min_avg_entry_charge = 450;
  int eviction_effort_cap = 30;
};

}  // namespace ROCKSDB_NAMESPACE
