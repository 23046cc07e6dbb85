#pragma once
// Caches, write buffers, rate limits, environments, options of tables.
//
// Written by c_api.py from c_api.tsv, which says of each function whether it is mapped, accepted or
// refused. Included by rocksdb/c.h, which has the conventions and the types.
// clang-format off

#ifndef HAWTHORN_ROCKSDB_C_H
#error "include rocksdb/c.h"
#endif

#ifdef __cplusplus
extern "C" {
#endif

rocksdb_block_based_table_options_t* rocksdb_block_based_options_create(void);
void rocksdb_block_based_options_destroy(rocksdb_block_based_table_options_t* options);
void rocksdb_block_based_options_set_checksum(
    rocksdb_block_based_table_options_t* options, char value);
void rocksdb_block_based_options_set_block_size(
    rocksdb_block_based_table_options_t* options, size_t block_size);
void rocksdb_block_based_options_set_block_size_deviation(
    rocksdb_block_based_table_options_t* options, int block_size_deviation);
void rocksdb_block_based_options_set_block_restart_interval(
    rocksdb_block_based_table_options_t* options, int block_restart_interval);
void rocksdb_block_based_options_set_index_block_restart_interval(
    rocksdb_block_based_table_options_t* options, int index_block_restart_interval);
void rocksdb_block_based_options_set_metadata_block_size(
    rocksdb_block_based_table_options_t* options, uint64_t metadata_block_size);
void rocksdb_block_based_options_set_partition_filters(
    rocksdb_block_based_table_options_t* options, unsigned char partition_filters);
void rocksdb_block_based_options_set_optimize_filters_for_memory(
    rocksdb_block_based_table_options_t* options, unsigned char optimize_filters_for_memory);
void rocksdb_block_based_options_set_use_delta_encoding(
    rocksdb_block_based_table_options_t* options, unsigned char use_delta_encoding);
void rocksdb_block_based_options_set_filter_policy(
    rocksdb_block_based_table_options_t* options, rocksdb_filterpolicy_t* filter_policy);
void rocksdb_block_based_options_set_no_block_cache(
    rocksdb_block_based_table_options_t* options, unsigned char no_block_cache);
void rocksdb_block_based_options_set_block_cache(
    rocksdb_block_based_table_options_t* options, rocksdb_cache_t* block_cache);
void rocksdb_block_based_options_set_whole_key_filtering(
    rocksdb_block_based_table_options_t* options, unsigned char value);
void rocksdb_block_based_options_set_format_version(
    rocksdb_block_based_table_options_t* options, int value);
void rocksdb_block_based_options_set_index_type(
    rocksdb_block_based_table_options_t* options, int value);
void rocksdb_block_based_options_set_data_block_index_type(
    rocksdb_block_based_table_options_t* options, int value);
void rocksdb_block_based_options_set_data_block_hash_ratio(
    rocksdb_block_based_table_options_t* options, double value);
void rocksdb_block_based_options_set_cache_index_and_filter_blocks(
    rocksdb_block_based_table_options_t* options, unsigned char value);
void rocksdb_block_based_options_set_cache_index_and_filter_blocks_with_high_priority(
    rocksdb_block_based_table_options_t* options, unsigned char value);
void rocksdb_block_based_options_set_pin_l0_filter_and_index_blocks_in_cache(
    rocksdb_block_based_table_options_t* options, unsigned char value);
void rocksdb_block_based_options_set_pin_top_level_index_and_filter(
    rocksdb_block_based_table_options_t* options, unsigned char value);
void rocksdb_block_based_options_set_top_level_index_pinning_tier(
    rocksdb_block_based_table_options_t* options, int value);
void rocksdb_block_based_options_set_partition_pinning_tier(
    rocksdb_block_based_table_options_t* options, int value);
void rocksdb_block_based_options_set_unpartitioned_pinning_tier(
    rocksdb_block_based_table_options_t* options, int value);
rocksdb_cuckoo_table_options_t* rocksdb_cuckoo_options_create(void);
void rocksdb_cuckoo_options_destroy(rocksdb_cuckoo_table_options_t* options);
void rocksdb_cuckoo_options_set_hash_ratio(rocksdb_cuckoo_table_options_t* options, double value);
void rocksdb_cuckoo_options_set_max_search_depth(
    rocksdb_cuckoo_table_options_t* options, uint32_t value);
void rocksdb_cuckoo_options_set_cuckoo_block_size(
    rocksdb_cuckoo_table_options_t* options, uint32_t value);
void rocksdb_cuckoo_options_set_identity_as_first_hash(
    rocksdb_cuckoo_table_options_t* options, unsigned char value);
void rocksdb_cuckoo_options_set_use_module_hash(
    rocksdb_cuckoo_table_options_t* options, unsigned char value);
rocksdb_ratelimiter_t* rocksdb_ratelimiter_create(
    int64_t rate_bytes_per_sec, int64_t refill_period_us, int32_t fairness);
rocksdb_ratelimiter_t* rocksdb_ratelimiter_create_auto_tuned(
    int64_t rate_bytes_per_sec, int64_t refill_period_us, int32_t fairness);
rocksdb_ratelimiter_t* rocksdb_ratelimiter_create_with_mode(
    int64_t rate_bytes_per_sec, int64_t refill_period_us, int32_t fairness, int mode,
    bool auto_tuned);
void rocksdb_ratelimiter_destroy(rocksdb_ratelimiter_t* limiter);
rocksdb_memory_allocator_t* rocksdb_jemalloc_nodump_allocator_create(char** errptr);
void rocksdb_memory_allocator_destroy(rocksdb_memory_allocator_t* allocator);
rocksdb_lru_cache_options_t* rocksdb_lru_cache_options_create(void);
void rocksdb_lru_cache_options_destroy(rocksdb_lru_cache_options_t* options);
void rocksdb_lru_cache_options_set_capacity(rocksdb_lru_cache_options_t* options, size_t value);
void rocksdb_lru_cache_options_set_num_shard_bits(rocksdb_lru_cache_options_t* options, int value);
void rocksdb_lru_cache_options_set_memory_allocator(
    rocksdb_lru_cache_options_t* options, rocksdb_memory_allocator_t* allocator);
rocksdb_cache_t* rocksdb_cache_create_lru(size_t capacity);
rocksdb_cache_t* rocksdb_cache_create_lru_with_strict_capacity_limit(size_t capacity);
rocksdb_cache_t* rocksdb_cache_create_lru_opts(const rocksdb_lru_cache_options_t* options);
void rocksdb_cache_destroy(rocksdb_cache_t* cache);
void rocksdb_cache_disown_data(rocksdb_cache_t* cache);
void rocksdb_cache_set_capacity(rocksdb_cache_t* cache, size_t capacity);
size_t rocksdb_cache_get_capacity(const rocksdb_cache_t* cache);
size_t rocksdb_cache_get_usage(const rocksdb_cache_t* cache);
size_t rocksdb_cache_get_pinned_usage(const rocksdb_cache_t* cache);
size_t rocksdb_cache_get_table_address_count(const rocksdb_cache_t* cache);
size_t rocksdb_cache_get_occupancy_count(const rocksdb_cache_t* cache);
rocksdb_write_buffer_manager_t* rocksdb_write_buffer_manager_create(
    size_t buffer_size, bool allow_stall);
rocksdb_write_buffer_manager_t* rocksdb_write_buffer_manager_create_with_cache(
    size_t buffer_size, const rocksdb_cache_t* cache, bool allow_stall);
void rocksdb_write_buffer_manager_destroy(rocksdb_write_buffer_manager_t* manager);
bool rocksdb_write_buffer_manager_enabled(rocksdb_write_buffer_manager_t* manager);
bool rocksdb_write_buffer_manager_cost_to_cache(rocksdb_write_buffer_manager_t* manager);
size_t rocksdb_write_buffer_manager_memory_usage(rocksdb_write_buffer_manager_t* manager);
size_t rocksdb_write_buffer_manager_mutable_memtable_memory_usage(
    rocksdb_write_buffer_manager_t* manager);
size_t rocksdb_write_buffer_manager_dummy_entries_in_cache_usage(
    rocksdb_write_buffer_manager_t* manager);
size_t rocksdb_write_buffer_manager_buffer_size(rocksdb_write_buffer_manager_t* manager);
void rocksdb_write_buffer_manager_set_buffer_size(
    rocksdb_write_buffer_manager_t* manager, size_t new_size);
void rocksdb_write_buffer_manager_set_allow_stall(
    rocksdb_write_buffer_manager_t* manager, bool new_allow_stall);
rocksdb_hyper_clock_cache_options_t* rocksdb_hyper_clock_cache_options_create(
    size_t capacity, size_t estimated_entry_charge);
void rocksdb_hyper_clock_cache_options_destroy(rocksdb_hyper_clock_cache_options_t* options);
void rocksdb_hyper_clock_cache_options_set_capacity(
    rocksdb_hyper_clock_cache_options_t* options, size_t value);
void rocksdb_hyper_clock_cache_options_set_estimated_entry_charge(
    rocksdb_hyper_clock_cache_options_t* options, size_t value);
void rocksdb_hyper_clock_cache_options_set_num_shard_bits(
    rocksdb_hyper_clock_cache_options_t* options, int value);
void rocksdb_hyper_clock_cache_options_set_memory_allocator(
    rocksdb_hyper_clock_cache_options_t* options, rocksdb_memory_allocator_t* allocator);
rocksdb_cache_t* rocksdb_cache_create_hyper_clock(size_t capacity, size_t estimated_entry_charge);
rocksdb_cache_t* rocksdb_cache_create_hyper_clock_opts(
    const rocksdb_hyper_clock_cache_options_t* options);
rocksdb_dbpath_t* rocksdb_dbpath_create(const char* path, uint64_t target_size);
void rocksdb_dbpath_destroy(rocksdb_dbpath_t* path);
rocksdb_env_t* rocksdb_create_default_env(void);
rocksdb_env_t* rocksdb_create_mem_env(void);
void rocksdb_env_set_background_threads(rocksdb_env_t* env, int value);
int rocksdb_env_get_background_threads(rocksdb_env_t* env);
void rocksdb_env_set_high_priority_background_threads(rocksdb_env_t* env, int value);
int rocksdb_env_get_high_priority_background_threads(rocksdb_env_t* env);
void rocksdb_env_set_low_priority_background_threads(rocksdb_env_t* env, int value);
int rocksdb_env_get_low_priority_background_threads(rocksdb_env_t* env);
void rocksdb_env_set_bottom_priority_background_threads(rocksdb_env_t* env, int value);
int rocksdb_env_get_bottom_priority_background_threads(rocksdb_env_t* env);
void rocksdb_env_join_all_threads(rocksdb_env_t* env);
void rocksdb_env_lower_thread_pool_io_priority(rocksdb_env_t* env);
void rocksdb_env_lower_high_priority_thread_pool_io_priority(rocksdb_env_t* env);
void rocksdb_env_lower_thread_pool_cpu_priority(rocksdb_env_t* env);
void rocksdb_env_lower_high_priority_thread_pool_cpu_priority(rocksdb_env_t* env);
void rocksdb_env_destroy(rocksdb_env_t* env);
void rocksdb_create_dir_if_missing(rocksdb_env_t* env, const char* path, char** errptr);
rocksdb_universal_compaction_options_t* rocksdb_universal_compaction_options_create(void);
void rocksdb_universal_compaction_options_set_size_ratio(
    rocksdb_universal_compaction_options_t* options, int value);
int rocksdb_universal_compaction_options_get_size_ratio(
    rocksdb_universal_compaction_options_t* options);
void rocksdb_universal_compaction_options_set_min_merge_width(
    rocksdb_universal_compaction_options_t* options, int value);
int rocksdb_universal_compaction_options_get_min_merge_width(
    rocksdb_universal_compaction_options_t* options);
void rocksdb_universal_compaction_options_set_max_merge_width(
    rocksdb_universal_compaction_options_t* options, int value);
int rocksdb_universal_compaction_options_get_max_merge_width(
    rocksdb_universal_compaction_options_t* options);
void rocksdb_universal_compaction_options_set_max_size_amplification_percent(
    rocksdb_universal_compaction_options_t* options, int value);
int rocksdb_universal_compaction_options_get_max_size_amplification_percent(
    rocksdb_universal_compaction_options_t* options);
void rocksdb_universal_compaction_options_set_compression_size_percent(
    rocksdb_universal_compaction_options_t* options, int value);
int rocksdb_universal_compaction_options_get_compression_size_percent(
    rocksdb_universal_compaction_options_t* options);
void rocksdb_universal_compaction_options_set_stop_style(
    rocksdb_universal_compaction_options_t* options, int value);
int rocksdb_universal_compaction_options_get_stop_style(
    rocksdb_universal_compaction_options_t* options);
void rocksdb_universal_compaction_options_destroy(rocksdb_universal_compaction_options_t* options);
rocksdb_fifo_compaction_options_t* rocksdb_fifo_compaction_options_create(void);
void rocksdb_fifo_compaction_options_set_allow_compaction(
    rocksdb_fifo_compaction_options_t* options, unsigned char allow_compaction);
unsigned char rocksdb_fifo_compaction_options_get_allow_compaction(
    rocksdb_fifo_compaction_options_t* options);
void rocksdb_fifo_compaction_options_set_max_table_files_size(
    rocksdb_fifo_compaction_options_t* options, uint64_t size);
uint64_t rocksdb_fifo_compaction_options_get_max_table_files_size(
    rocksdb_fifo_compaction_options_t* options);
void rocksdb_fifo_compaction_options_destroy(rocksdb_fifo_compaction_options_t* options);

// Of versions before 10.4.
void rocksdb_block_based_options_set_block_cache_compressed(
    rocksdb_block_based_table_options_t* options, rocksdb_cache_t* block_cache_compressed);

#ifdef __cplusplus
}
#endif
