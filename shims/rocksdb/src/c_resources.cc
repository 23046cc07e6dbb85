// The C API of caches, write buffers, rate limits, environments and options of tables.

#include <memory>
#include <string>

#include "shims/rocksdb/src/c_types.h"

struct rocksdb_lru_cache_options_t {
  rocksdb::LRUCacheOptions rep;
};
struct rocksdb_hyper_clock_cache_options_t {
  rocksdb::HyperClockCacheOptions rep;
};

#define SET_TABLE(object, type, name, field)                                              \
  void rocksdb_##object##_options_set_##name(rocksdb_##object##_table_options_t* options, \
                                             type value) {                                \
    options->rep.field = static_cast<decltype(options->rep.field)>(value);                \
  }
#define SET_CACHE(object, type, field)                                                           \
  void rocksdb_##object##_cache_options_set_##field(rocksdb_##object##_cache_options_t* options, \
                                                    type value) {                                \
    options->rep.field = value;                                                                  \
  }

extern "C" {

// ---- Tables

rocksdb_block_based_table_options_t* rocksdb_block_based_options_create() try {
  return new rocksdb_block_based_table_options_t;
} catch (...) {
  return nullptr;
}
void rocksdb_block_based_options_destroy(rocksdb_block_based_table_options_t* options) {
  delete options;
}
SET_TABLE(block_based, char, checksum, checksum)
SET_TABLE(block_based, size_t, block_size, block_size)
SET_TABLE(block_based, int, block_size_deviation, block_size_deviation)
SET_TABLE(block_based, int, block_restart_interval, block_restart_interval)
SET_TABLE(block_based, int, index_block_restart_interval, index_block_restart_interval)
SET_TABLE(block_based, uint64_t, metadata_block_size, metadata_block_size)
SET_TABLE(block_based, unsigned char, partition_filters, partition_filters)
SET_TABLE(block_based, unsigned char, optimize_filters_for_memory, optimize_filters_for_memory)
SET_TABLE(block_based, unsigned char, use_delta_encoding, use_delta_encoding)
SET_TABLE(block_based, unsigned char, no_block_cache, no_block_cache)
SET_TABLE(block_based, unsigned char, whole_key_filtering, whole_key_filtering)
SET_TABLE(block_based, int, format_version, format_version)
SET_TABLE(block_based, int, index_type, index_type)
SET_TABLE(block_based, int, data_block_index_type, data_block_index_type)
SET_TABLE(block_based, double, data_block_hash_ratio, data_block_hash_table_util_ratio)
SET_TABLE(block_based, unsigned char, cache_index_and_filter_blocks, cache_index_and_filter_blocks)
SET_TABLE(block_based, unsigned char, cache_index_and_filter_blocks_with_high_priority,
          cache_index_and_filter_blocks_with_high_priority)
SET_TABLE(block_based, unsigned char, pin_l0_filter_and_index_blocks_in_cache,
          pin_l0_filter_and_index_blocks_in_cache)
SET_TABLE(block_based, unsigned char, pin_top_level_index_and_filter,
          pin_top_level_index_and_filter)
SET_TABLE(block_based, int, top_level_index_pinning_tier,
          metadata_cache_options.top_level_index_pinning)
SET_TABLE(block_based, int, partition_pinning_tier, metadata_cache_options.partition_pinning)
SET_TABLE(block_based, int, unpartitioned_pinning_tier,
          metadata_cache_options.unpartitioned_pinning)
void rocksdb_block_based_options_set_block_cache(rocksdb_block_based_table_options_t* options,
                                                 rocksdb_cache_t* block_cache) {
  if (block_cache != nullptr) options->rep.block_cache = block_cache->rep;
}
void rocksdb_block_based_options_set_block_cache_compressed(rocksdb_block_based_table_options_t*,
                                                            rocksdb_cache_t*) {}

rocksdb_cuckoo_table_options_t* rocksdb_cuckoo_options_create() try {
  return new rocksdb_cuckoo_table_options_t;
} catch (...) {
  return nullptr;
}
void rocksdb_cuckoo_options_destroy(rocksdb_cuckoo_table_options_t* options) { delete options; }
SET_TABLE(cuckoo, double, hash_ratio, hash_table_ratio)
SET_TABLE(cuckoo, uint32_t, max_search_depth, max_search_depth)
SET_TABLE(cuckoo, uint32_t, cuckoo_block_size, cuckoo_block_size)
SET_TABLE(cuckoo, unsigned char, identity_as_first_hash, identity_as_first_hash)
SET_TABLE(cuckoo, unsigned char, use_module_hash, use_module_hash)

// ---- Caches

rocksdb_lru_cache_options_t* rocksdb_lru_cache_options_create() try {
  return new rocksdb_lru_cache_options_t;
} catch (...) {
  return nullptr;
}
void rocksdb_lru_cache_options_destroy(rocksdb_lru_cache_options_t* options) { delete options; }
SET_CACHE(lru, size_t, capacity)
SET_CACHE(lru, int, num_shard_bits)

rocksdb_hyper_clock_cache_options_t* rocksdb_hyper_clock_cache_options_create(
    size_t capacity, size_t estimated_entry_charge) try {
  return new rocksdb_hyper_clock_cache_options_t{
      rocksdb::HyperClockCacheOptions(capacity, estimated_entry_charge)};
} catch (...) {
  return nullptr;
}
void rocksdb_hyper_clock_cache_options_destroy(rocksdb_hyper_clock_cache_options_t* options) {
  delete options;
}
SET_CACHE(hyper_clock, size_t, capacity)
SET_CACHE(hyper_clock, size_t, estimated_entry_charge)
SET_CACHE(hyper_clock, int, num_shard_bits)

// Memory of caches is the engine's.
rocksdb_memory_allocator_t* rocksdb_jemalloc_nodump_allocator_create(char** errptr) {
  hawthorn::rocks::refuse(errptr, __func__);
  return nullptr;
}
void rocksdb_memory_allocator_destroy(rocksdb_memory_allocator_t*) {}
void rocksdb_lru_cache_options_set_memory_allocator(rocksdb_lru_cache_options_t*,
                                                    rocksdb_memory_allocator_t*) {}
void rocksdb_hyper_clock_cache_options_set_memory_allocator(rocksdb_hyper_clock_cache_options_t*,
                                                            rocksdb_memory_allocator_t*) {}

rocksdb_cache_t* rocksdb_cache_create_lru(size_t capacity) try {
  return new rocksdb_cache_t{rocksdb::NewLRUCache(capacity)};
} catch (...) {
  return nullptr;
}
rocksdb_cache_t* rocksdb_cache_create_lru_with_strict_capacity_limit(size_t capacity) try {
  return new rocksdb_cache_t{rocksdb::NewLRUCache(capacity, -1, true)};
} catch (...) {
  return nullptr;
}
rocksdb_cache_t* rocksdb_cache_create_lru_opts(const rocksdb_lru_cache_options_t* options) try {
  return new rocksdb_cache_t{options->rep.MakeSharedCache()};
} catch (...) {
  return nullptr;
}
rocksdb_cache_t* rocksdb_cache_create_hyper_clock(size_t capacity,
                                                  size_t estimated_entry_charge) try {
  return new rocksdb_cache_t{
      rocksdb::HyperClockCacheOptions(capacity, estimated_entry_charge).MakeSharedCache()};
} catch (...) {
  return nullptr;
}
rocksdb_cache_t* rocksdb_cache_create_hyper_clock_opts(
    const rocksdb_hyper_clock_cache_options_t* options) try {
  return new rocksdb_cache_t{options->rep.MakeSharedCache()};
} catch (...) {
  return nullptr;
}
void rocksdb_cache_destroy(rocksdb_cache_t* cache) { delete cache; }
void rocksdb_cache_disown_data(rocksdb_cache_t*) {}
void rocksdb_cache_set_capacity(rocksdb_cache_t* cache, size_t capacity) try {
  cache->rep->SetCapacity(capacity);
} catch (...) {
  return;
}
size_t rocksdb_cache_get_capacity(const rocksdb_cache_t* cache) try {
  return cache->rep->GetCapacity();
} catch (...) {
  return 0;
}
size_t rocksdb_cache_get_usage(const rocksdb_cache_t* cache) try {
  return cache->rep->GetUsage();
} catch (...) {
  return 0;
}
size_t rocksdb_cache_get_pinned_usage(const rocksdb_cache_t* cache) try {
  return cache->rep->GetPinnedUsage();
} catch (...) {
  return 0;
}
size_t rocksdb_cache_get_table_address_count(const rocksdb_cache_t*) { return 0; }
size_t rocksdb_cache_get_occupancy_count(const rocksdb_cache_t*) { return 0; }

// ---- Write buffers

rocksdb_write_buffer_manager_t* rocksdb_write_buffer_manager_create(size_t buffer_size,
                                                                    bool allow_stall) try {
  return new rocksdb_write_buffer_manager_t{
      std::make_shared<rocksdb::WriteBufferManager>(buffer_size, nullptr, allow_stall)};
} catch (...) {
  return nullptr;
}
rocksdb_write_buffer_manager_t* rocksdb_write_buffer_manager_create_with_cache(
    size_t buffer_size, const rocksdb_cache_t* cache, bool allow_stall) try {
  return new rocksdb_write_buffer_manager_t{
      std::make_shared<rocksdb::WriteBufferManager>(buffer_size, cache->rep, allow_stall)};
} catch (...) {
  return nullptr;
}
void rocksdb_write_buffer_manager_destroy(rocksdb_write_buffer_manager_t* manager) {
  delete manager;
}
bool rocksdb_write_buffer_manager_enabled(rocksdb_write_buffer_manager_t* manager) try {
  return manager->rep->enabled();
} catch (...) {
  return 0;
}
bool rocksdb_write_buffer_manager_cost_to_cache(rocksdb_write_buffer_manager_t* manager) try {
  return manager->rep->cost_to_cache();
} catch (...) {
  return 0;
}
size_t rocksdb_write_buffer_manager_buffer_size(rocksdb_write_buffer_manager_t* manager) try {
  return manager->rep->buffer_size();
} catch (...) {
  return 0;
}
void rocksdb_write_buffer_manager_set_buffer_size(rocksdb_write_buffer_manager_t* manager,
                                                  size_t new_size) try {
  manager->rep->SetBufferSize(new_size);
} catch (...) {
  return;
}
void rocksdb_write_buffer_manager_set_allow_stall(rocksdb_write_buffer_manager_t* manager,
                                                  bool new_allow_stall) try {
  manager->rep->SetAllowStall(new_allow_stall);
} catch (...) {
  return;
}
size_t rocksdb_write_buffer_manager_memory_usage(rocksdb_write_buffer_manager_t*) { return 0; }
size_t rocksdb_write_buffer_manager_mutable_memtable_memory_usage(rocksdb_write_buffer_manager_t*) {
  return 0;
}
size_t rocksdb_write_buffer_manager_dummy_entries_in_cache_usage(rocksdb_write_buffer_manager_t*) {
  return 0;
}

// ---- Rate limits

rocksdb_ratelimiter_t* rocksdb_ratelimiter_create(int64_t rate_bytes_per_sec,
                                                  int64_t refill_period_us, int32_t fairness) try {
  return new rocksdb_ratelimiter_t{std::shared_ptr<rocksdb::RateLimiter>(
      rocksdb::NewGenericRateLimiter(rate_bytes_per_sec, refill_period_us, fairness))};
} catch (...) {
  return nullptr;
}
rocksdb_ratelimiter_t* rocksdb_ratelimiter_create_auto_tuned(int64_t rate_bytes_per_sec,
                                                             int64_t refill_period_us,
                                                             int32_t fairness) {
  return rocksdb_ratelimiter_create(rate_bytes_per_sec, refill_period_us, fairness);
}
rocksdb_ratelimiter_t* rocksdb_ratelimiter_create_with_mode(int64_t rate_bytes_per_sec,
                                                            int64_t refill_period_us,
                                                            int32_t fairness, int, bool) {
  return rocksdb_ratelimiter_create(rate_bytes_per_sec, refill_period_us, fairness);
}
void rocksdb_ratelimiter_destroy(rocksdb_ratelimiter_t* limiter) { delete limiter; }

// ---- Paths and environments

rocksdb_dbpath_t* rocksdb_dbpath_create(const char* path, uint64_t target_size) try {
  return new rocksdb_dbpath_t{rocksdb::DbPath(path, target_size)};
} catch (...) {
  return nullptr;
}
void rocksdb_dbpath_destroy(rocksdb_dbpath_t* path) { delete path; }

rocksdb_env_t* rocksdb_create_default_env() try {
  return new rocksdb_env_t{rocksdb::Env::Default()};
} catch (...) {
  return nullptr;
}
rocksdb_env_t* rocksdb_create_mem_env() { return nullptr; }
void rocksdb_env_destroy(rocksdb_env_t* env) { delete env; }
void rocksdb_create_dir_if_missing(rocksdb_env_t* env, const char* path, char** errptr) try {
  hawthorn::rocks::failed(errptr, env->rep->CreateDirIfMissing(path));
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
}

void rocksdb_env_set_background_threads(rocksdb_env_t* env, int value) try {
  env->rep->SetBackgroundThreads(value);
} catch (...) {
  return;
}
int rocksdb_env_get_background_threads(rocksdb_env_t* env) try {
  return env->rep->GetBackgroundThreads();
} catch (...) {
  return 0;
}
void rocksdb_env_set_high_priority_background_threads(rocksdb_env_t* env, int value) try {
  env->rep->SetBackgroundThreads(value, rocksdb::Env::HIGH);
} catch (...) {
  return;
}
int rocksdb_env_get_high_priority_background_threads(rocksdb_env_t* env) try {
  return env->rep->GetBackgroundThreads(rocksdb::Env::HIGH);
} catch (...) {
  return 0;
}
void rocksdb_env_set_low_priority_background_threads(rocksdb_env_t* env, int value) try {
  env->rep->SetBackgroundThreads(value, rocksdb::Env::LOW);
} catch (...) {
  return;
}
int rocksdb_env_get_low_priority_background_threads(rocksdb_env_t* env) try {
  return env->rep->GetBackgroundThreads(rocksdb::Env::LOW);
} catch (...) {
  return 0;
}
void rocksdb_env_set_bottom_priority_background_threads(rocksdb_env_t* env, int value) try {
  env->rep->SetBackgroundThreads(value, rocksdb::Env::BOTTOM);
} catch (...) {
  return;
}
int rocksdb_env_get_bottom_priority_background_threads(rocksdb_env_t* env) try {
  return env->rep->GetBackgroundThreads(rocksdb::Env::BOTTOM);
} catch (...) {
  return 0;
}
void rocksdb_env_join_all_threads(rocksdb_env_t*) {}
void rocksdb_env_lower_thread_pool_io_priority(rocksdb_env_t* env) try {
  env->rep->LowerThreadPoolIOPriority();
} catch (...) {
  return;
}
void rocksdb_env_lower_high_priority_thread_pool_io_priority(rocksdb_env_t* env) try {
  env->rep->LowerThreadPoolIOPriority(rocksdb::Env::HIGH);
} catch (...) {
  return;
}
void rocksdb_env_lower_thread_pool_cpu_priority(rocksdb_env_t* env) try {
  env->rep->LowerThreadPoolCPUPriority();
} catch (...) {
  return;
}
void rocksdb_env_lower_high_priority_thread_pool_cpu_priority(rocksdb_env_t* env) try {
  env->rep->LowerThreadPoolCPUPriority(rocksdb::Env::HIGH);
} catch (...) {
  return;
}

}  // extern "C"
