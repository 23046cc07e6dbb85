#pragma once
// Options of databases and column families.
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

void rocksdb_options_set_block_based_table_factory(
    rocksdb_options_t* options, rocksdb_block_based_table_options_t* table_options);
void rocksdb_options_set_write_buffer_manager(
    rocksdb_options_t* options, rocksdb_write_buffer_manager_t* manager);
void rocksdb_options_set_cuckoo_table_factory(
    rocksdb_options_t* options, rocksdb_cuckoo_table_options_t* table_options);
rocksdb_options_t* rocksdb_options_create(void);
void rocksdb_options_destroy(rocksdb_options_t* options);
rocksdb_options_t* rocksdb_options_create_copy(rocksdb_options_t* options);
void rocksdb_options_increase_parallelism(rocksdb_options_t* options, int total_threads);
void rocksdb_options_optimize_for_point_lookup(
    rocksdb_options_t* options, uint64_t block_cache_size_mb);
void rocksdb_options_optimize_level_style_compaction(
    rocksdb_options_t* options, uint64_t memtable_memory_budget);
void rocksdb_options_optimize_universal_style_compaction(
    rocksdb_options_t* options, uint64_t memtable_memory_budget);
void rocksdb_options_set_allow_ingest_behind(rocksdb_options_t* options, unsigned char value);
unsigned char rocksdb_options_get_allow_ingest_behind(rocksdb_options_t* options);
void rocksdb_options_set_compaction_filter(
    rocksdb_options_t* options, rocksdb_compactionfilter_t* filter);
void rocksdb_options_set_compaction_filter_factory(
    rocksdb_options_t* options, rocksdb_compactionfilterfactory_t* factory);
void rocksdb_options_compaction_readahead_size(rocksdb_options_t* options, size_t value);
size_t rocksdb_options_get_compaction_readahead_size(rocksdb_options_t* options);
void rocksdb_options_set_comparator(rocksdb_options_t* options, rocksdb_comparator_t* comparator);
void rocksdb_options_set_merge_operator(
    rocksdb_options_t* options, rocksdb_mergeoperator_t* merge_operator);
void rocksdb_options_set_uint64add_merge_operator(rocksdb_options_t* options);
void rocksdb_options_set_compression_per_level(
    rocksdb_options_t* options, const int* levels, size_t count);
void rocksdb_options_set_create_if_missing(rocksdb_options_t* options, unsigned char value);
unsigned char rocksdb_options_get_create_if_missing(rocksdb_options_t* options);
void rocksdb_options_set_create_missing_column_families(
    rocksdb_options_t* options, unsigned char value);
unsigned char rocksdb_options_get_create_missing_column_families(rocksdb_options_t* options);
void rocksdb_options_set_error_if_exists(rocksdb_options_t* options, unsigned char value);
unsigned char rocksdb_options_get_error_if_exists(rocksdb_options_t* options);
void rocksdb_options_set_paranoid_checks(rocksdb_options_t* options, unsigned char value);
unsigned char rocksdb_options_get_paranoid_checks(rocksdb_options_t* options);
void rocksdb_options_set_db_paths(
    rocksdb_options_t* options, const rocksdb_dbpath_t** paths, size_t count);
void rocksdb_options_set_cf_paths(
    rocksdb_options_t* options, const rocksdb_dbpath_t** paths, size_t count);
void rocksdb_options_set_env(rocksdb_options_t* options, rocksdb_env_t* env);
void rocksdb_options_set_info_log(rocksdb_options_t* options, rocksdb_logger_t* logger);
rocksdb_logger_t* rocksdb_options_get_info_log(rocksdb_options_t* options);
void rocksdb_options_set_info_log_level(rocksdb_options_t* options, int value);
int rocksdb_options_get_info_log_level(rocksdb_options_t* options);
void rocksdb_options_set_write_buffer_size(rocksdb_options_t* options, size_t value);
size_t rocksdb_options_get_write_buffer_size(rocksdb_options_t* options);
void rocksdb_options_set_db_write_buffer_size(rocksdb_options_t* options, size_t value);
size_t rocksdb_options_get_db_write_buffer_size(rocksdb_options_t* options);
void rocksdb_options_set_max_open_files(rocksdb_options_t* options, int value);
int rocksdb_options_get_max_open_files(rocksdb_options_t* options);
void rocksdb_options_set_max_file_opening_threads(rocksdb_options_t* options, int value);
int rocksdb_options_get_max_file_opening_threads(rocksdb_options_t* options);
void rocksdb_options_set_max_total_wal_size(rocksdb_options_t* options, uint64_t value);
uint64_t rocksdb_options_get_max_total_wal_size(rocksdb_options_t* options);
void rocksdb_options_set_compression_options(
    rocksdb_options_t* options, int window_bits, int level, int strategy, int max_dict_bytes);
void rocksdb_options_set_compression_options_zstd_max_train_bytes(
    rocksdb_options_t* options, int value);
int rocksdb_options_get_compression_options_zstd_max_train_bytes(rocksdb_options_t* options);
void rocksdb_options_set_compression_options_use_zstd_dict_trainer(
    rocksdb_options_t* options, unsigned char value);
unsigned char rocksdb_options_get_compression_options_use_zstd_dict_trainer(
    rocksdb_options_t* options);
void rocksdb_options_set_compression_options_parallel_threads(
    rocksdb_options_t* options, int value);
int rocksdb_options_get_compression_options_parallel_threads(rocksdb_options_t* options);
void rocksdb_options_set_compression_options_max_dict_buffer_bytes(
    rocksdb_options_t* options, uint64_t value);
uint64_t rocksdb_options_get_compression_options_max_dict_buffer_bytes(rocksdb_options_t* options);
void rocksdb_options_set_bottommost_compression_options(
    rocksdb_options_t* options, int window_bits, int level, int strategy, int max_dict_bytes,
    unsigned char enabled);
void rocksdb_options_set_bottommost_compression_options_zstd_max_train_bytes(
    rocksdb_options_t* options, int value, unsigned char enabled);
void rocksdb_options_set_bottommost_compression_options_use_zstd_dict_trainer(
    rocksdb_options_t* options, unsigned char value, unsigned char enabled);
unsigned char rocksdb_options_get_bottommost_compression_options_use_zstd_dict_trainer(
    rocksdb_options_t* options);
void rocksdb_options_set_bottommost_compression_options_max_dict_buffer_bytes(
    rocksdb_options_t* options, uint64_t value, unsigned char enabled);
void rocksdb_options_set_prefix_extractor(
    rocksdb_options_t* options, rocksdb_slicetransform_t* transform);
void rocksdb_options_set_num_levels(rocksdb_options_t* options, int value);
int rocksdb_options_get_num_levels(rocksdb_options_t* options);
void rocksdb_options_set_level0_file_num_compaction_trigger(rocksdb_options_t* options, int value);
int rocksdb_options_get_level0_file_num_compaction_trigger(rocksdb_options_t* options);
void rocksdb_options_set_level0_slowdown_writes_trigger(rocksdb_options_t* options, int value);
int rocksdb_options_get_level0_slowdown_writes_trigger(rocksdb_options_t* options);
void rocksdb_options_set_level0_stop_writes_trigger(rocksdb_options_t* options, int value);
int rocksdb_options_get_level0_stop_writes_trigger(rocksdb_options_t* options);
void rocksdb_options_set_target_file_size_base(rocksdb_options_t* options, uint64_t value);
uint64_t rocksdb_options_get_target_file_size_base(rocksdb_options_t* options);
void rocksdb_options_set_target_file_size_multiplier(rocksdb_options_t* options, int value);
int rocksdb_options_get_target_file_size_multiplier(rocksdb_options_t* options);
void rocksdb_options_set_max_bytes_for_level_base(rocksdb_options_t* options, uint64_t value);
uint64_t rocksdb_options_get_max_bytes_for_level_base(rocksdb_options_t* options);
void rocksdb_options_set_level_compaction_dynamic_level_bytes(
    rocksdb_options_t* options, unsigned char value);
unsigned char rocksdb_options_get_level_compaction_dynamic_level_bytes(rocksdb_options_t* options);
void rocksdb_options_set_max_bytes_for_level_multiplier(rocksdb_options_t* options, double value);
double rocksdb_options_get_max_bytes_for_level_multiplier(rocksdb_options_t* options);
void rocksdb_options_set_max_bytes_for_level_multiplier_additional(
    rocksdb_options_t* options, int* levels, size_t count);
void rocksdb_options_set_ttl(rocksdb_options_t* options, uint64_t value);
uint64_t rocksdb_options_get_ttl(rocksdb_options_t* options);
void rocksdb_options_set_periodic_compaction_seconds(rocksdb_options_t* options, uint64_t value);
uint64_t rocksdb_options_get_periodic_compaction_seconds(rocksdb_options_t* options);
void rocksdb_options_set_memtable_op_scan_flush_trigger(rocksdb_options_t* options, uint32_t value);
uint32_t rocksdb_options_get_memtable_op_scan_flush_trigger(rocksdb_options_t* options);
void rocksdb_options_set_memtable_avg_op_scan_flush_trigger(
    rocksdb_options_t* options, uint32_t value);
uint32_t rocksdb_options_get_memtable_avg_op_scan_flush_trigger(rocksdb_options_t* options);
void rocksdb_options_set_skip_stats_update_on_db_open(
    rocksdb_options_t* options, unsigned char value);
unsigned char rocksdb_options_get_skip_stats_update_on_db_open(rocksdb_options_t* options);
void rocksdb_options_set_skip_checking_sst_file_sizes_on_db_open(
    rocksdb_options_t* options, unsigned char value);
unsigned char rocksdb_options_get_skip_checking_sst_file_sizes_on_db_open(
    rocksdb_options_t* options);
void rocksdb_options_set_enable_blob_files(rocksdb_options_t* options, unsigned char value);
unsigned char rocksdb_options_get_enable_blob_files(rocksdb_options_t* options);
void rocksdb_options_set_min_blob_size(rocksdb_options_t* options, uint64_t value);
uint64_t rocksdb_options_get_min_blob_size(rocksdb_options_t* options);
void rocksdb_options_set_blob_file_size(rocksdb_options_t* options, uint64_t value);
uint64_t rocksdb_options_get_blob_file_size(rocksdb_options_t* options);
void rocksdb_options_set_blob_compression_type(rocksdb_options_t* options, int value);
int rocksdb_options_get_blob_compression_type(rocksdb_options_t* options);
void rocksdb_options_set_enable_blob_gc(rocksdb_options_t* options, unsigned char value);
unsigned char rocksdb_options_get_enable_blob_gc(rocksdb_options_t* options);
void rocksdb_options_set_blob_gc_age_cutoff(rocksdb_options_t* options, double value);
double rocksdb_options_get_blob_gc_age_cutoff(rocksdb_options_t* options);
void rocksdb_options_set_blob_gc_force_threshold(rocksdb_options_t* options, double value);
double rocksdb_options_get_blob_gc_force_threshold(rocksdb_options_t* options);
void rocksdb_options_set_blob_compaction_readahead_size(rocksdb_options_t* options, uint64_t value);
uint64_t rocksdb_options_get_blob_compaction_readahead_size(rocksdb_options_t* options);
void rocksdb_options_set_blob_file_starting_level(rocksdb_options_t* options, int value);
int rocksdb_options_get_blob_file_starting_level(rocksdb_options_t* options);
void rocksdb_options_set_blob_cache(rocksdb_options_t* options, rocksdb_cache_t* blob_cache);
void rocksdb_options_set_prepopulate_blob_cache(rocksdb_options_t* options, int value);
int rocksdb_options_get_prepopulate_blob_cache(rocksdb_options_t* options);
void rocksdb_options_set_max_write_buffer_number(rocksdb_options_t* options, int value);
int rocksdb_options_get_max_write_buffer_number(rocksdb_options_t* options);
void rocksdb_options_set_min_write_buffer_number_to_merge(rocksdb_options_t* options, int value);
int rocksdb_options_get_min_write_buffer_number_to_merge(rocksdb_options_t* options);
void rocksdb_options_set_max_write_buffer_size_to_maintain(
    rocksdb_options_t* options, int64_t value);
int64_t rocksdb_options_get_max_write_buffer_size_to_maintain(rocksdb_options_t* options);
void rocksdb_options_set_enable_pipelined_write(rocksdb_options_t* options, unsigned char value);
unsigned char rocksdb_options_get_enable_pipelined_write(rocksdb_options_t* options);
void rocksdb_options_set_unordered_write(rocksdb_options_t* options, unsigned char value);
unsigned char rocksdb_options_get_unordered_write(rocksdb_options_t* options);
void rocksdb_options_set_max_subcompactions(rocksdb_options_t* options, uint32_t value);
uint32_t rocksdb_options_get_max_subcompactions(rocksdb_options_t* options);
void rocksdb_options_set_max_background_jobs(rocksdb_options_t* options, int value);
int rocksdb_options_get_max_background_jobs(rocksdb_options_t* options);
void rocksdb_options_set_max_background_compactions(rocksdb_options_t* options, int value);
int rocksdb_options_get_max_background_compactions(rocksdb_options_t* options);
void rocksdb_options_set_max_background_flushes(rocksdb_options_t* options, int value);
int rocksdb_options_get_max_background_flushes(rocksdb_options_t* options);
void rocksdb_options_set_max_log_file_size(rocksdb_options_t* options, size_t value);
size_t rocksdb_options_get_max_log_file_size(rocksdb_options_t* options);
void rocksdb_options_set_log_file_time_to_roll(rocksdb_options_t* options, size_t value);
size_t rocksdb_options_get_log_file_time_to_roll(rocksdb_options_t* options);
void rocksdb_options_set_keep_log_file_num(rocksdb_options_t* options, size_t value);
size_t rocksdb_options_get_keep_log_file_num(rocksdb_options_t* options);
void rocksdb_options_set_recycle_log_file_num(rocksdb_options_t* options, size_t value);
size_t rocksdb_options_get_recycle_log_file_num(rocksdb_options_t* options);
void rocksdb_options_set_soft_pending_compaction_bytes_limit(
    rocksdb_options_t* options, size_t value);
size_t rocksdb_options_get_soft_pending_compaction_bytes_limit(rocksdb_options_t* options);
void rocksdb_options_set_hard_pending_compaction_bytes_limit(
    rocksdb_options_t* options, size_t value);
size_t rocksdb_options_get_hard_pending_compaction_bytes_limit(rocksdb_options_t* options);
void rocksdb_options_set_max_manifest_file_size(rocksdb_options_t* options, size_t value);
size_t rocksdb_options_get_max_manifest_file_size(rocksdb_options_t* options);
void rocksdb_options_set_table_cache_numshardbits(rocksdb_options_t* options, int value);
int rocksdb_options_get_table_cache_numshardbits(rocksdb_options_t* options);
void rocksdb_options_set_arena_block_size(rocksdb_options_t* options, size_t value);
size_t rocksdb_options_get_arena_block_size(rocksdb_options_t* options);
void rocksdb_options_set_use_fsync(rocksdb_options_t* options, int value);
int rocksdb_options_get_use_fsync(rocksdb_options_t* options);
void rocksdb_options_set_db_log_dir(rocksdb_options_t* options, const char* value);
void rocksdb_options_set_wal_dir(rocksdb_options_t* options, const char* value);
void rocksdb_options_set_WAL_ttl_seconds(rocksdb_options_t* options, uint64_t value);
uint64_t rocksdb_options_get_WAL_ttl_seconds(rocksdb_options_t* options);
void rocksdb_options_set_WAL_size_limit_MB(rocksdb_options_t* options, uint64_t value);
uint64_t rocksdb_options_get_WAL_size_limit_MB(rocksdb_options_t* options);
void rocksdb_options_set_manifest_preallocation_size(rocksdb_options_t* options, size_t value);
size_t rocksdb_options_get_manifest_preallocation_size(rocksdb_options_t* options);
void rocksdb_options_set_allow_mmap_reads(rocksdb_options_t* options, unsigned char value);
unsigned char rocksdb_options_get_allow_mmap_reads(rocksdb_options_t* options);
void rocksdb_options_set_allow_mmap_writes(rocksdb_options_t* options, unsigned char value);
unsigned char rocksdb_options_get_allow_mmap_writes(rocksdb_options_t* options);
void rocksdb_options_set_use_direct_reads(rocksdb_options_t* options, unsigned char value);
unsigned char rocksdb_options_get_use_direct_reads(rocksdb_options_t* options);
void rocksdb_options_set_use_direct_io_for_flush_and_compaction(
    rocksdb_options_t* options, unsigned char value);
unsigned char rocksdb_options_get_use_direct_io_for_flush_and_compaction(
    rocksdb_options_t* options);
void rocksdb_options_set_is_fd_close_on_exec(rocksdb_options_t* options, unsigned char value);
unsigned char rocksdb_options_get_is_fd_close_on_exec(rocksdb_options_t* options);
void rocksdb_options_set_stats_dump_period_sec(rocksdb_options_t* options, unsigned int value);
unsigned int rocksdb_options_get_stats_dump_period_sec(rocksdb_options_t* options);
void rocksdb_options_set_stats_persist_period_sec(rocksdb_options_t* options, unsigned int value);
unsigned int rocksdb_options_get_stats_persist_period_sec(rocksdb_options_t* options);
void rocksdb_options_set_advise_random_on_open(rocksdb_options_t* options, unsigned char value);
unsigned char rocksdb_options_get_advise_random_on_open(rocksdb_options_t* options);
void rocksdb_options_set_use_adaptive_mutex(rocksdb_options_t* options, unsigned char value);
unsigned char rocksdb_options_get_use_adaptive_mutex(rocksdb_options_t* options);
void rocksdb_options_set_bytes_per_sync(rocksdb_options_t* options, uint64_t value);
uint64_t rocksdb_options_get_bytes_per_sync(rocksdb_options_t* options);
void rocksdb_options_set_wal_bytes_per_sync(rocksdb_options_t* options, uint64_t value);
uint64_t rocksdb_options_get_wal_bytes_per_sync(rocksdb_options_t* options);
void rocksdb_options_set_writable_file_max_buffer_size(rocksdb_options_t* options, uint64_t value);
uint64_t rocksdb_options_get_writable_file_max_buffer_size(rocksdb_options_t* options);
void rocksdb_options_set_allow_concurrent_memtable_write(
    rocksdb_options_t* options, unsigned char value);
unsigned char rocksdb_options_get_allow_concurrent_memtable_write(rocksdb_options_t* options);
void rocksdb_options_set_enable_write_thread_adaptive_yield(
    rocksdb_options_t* options, unsigned char value);
unsigned char rocksdb_options_get_enable_write_thread_adaptive_yield(rocksdb_options_t* options);
void rocksdb_options_set_max_sequential_skip_in_iterations(
    rocksdb_options_t* options, uint64_t value);
uint64_t rocksdb_options_get_max_sequential_skip_in_iterations(rocksdb_options_t* options);
void rocksdb_options_set_disable_auto_compactions(rocksdb_options_t* options, int value);
unsigned char rocksdb_options_get_disable_auto_compactions(rocksdb_options_t* options);
void rocksdb_options_set_optimize_filters_for_hits(rocksdb_options_t* options, int value);
unsigned char rocksdb_options_get_optimize_filters_for_hits(rocksdb_options_t* options);
void rocksdb_options_set_delete_obsolete_files_period_micros(
    rocksdb_options_t* options, uint64_t value);
uint64_t rocksdb_options_get_delete_obsolete_files_period_micros(rocksdb_options_t* options);
void rocksdb_options_prepare_for_bulk_load(rocksdb_options_t* options);
void rocksdb_options_set_memtable_vector_rep(rocksdb_options_t* options);
void rocksdb_options_set_memtable_prefix_bloom_size_ratio(rocksdb_options_t* options, double value);
double rocksdb_options_get_memtable_prefix_bloom_size_ratio(rocksdb_options_t* options);
void rocksdb_options_set_max_compaction_bytes(rocksdb_options_t* options, uint64_t value);
uint64_t rocksdb_options_get_max_compaction_bytes(rocksdb_options_t* options);
void rocksdb_options_set_hash_skip_list_rep(
    rocksdb_options_t* options, size_t bucket_count, int32_t height, int32_t branching_factor);
void rocksdb_options_set_hash_link_list_rep(rocksdb_options_t* options, size_t bucket_count);
void rocksdb_options_set_plain_table_factory(
    rocksdb_options_t* options, uint32_t user_key_size, int bloom_bits_per_key,
    double hash_table_ratio, size_t index_sparseness, size_t huge_page_size, char encoding_type,
    unsigned char full_scan_mode, unsigned char store_index_in_file);
unsigned char rocksdb_options_get_write_dbid_to_manifest(rocksdb_options_t* options);
void rocksdb_options_set_write_dbid_to_manifest(rocksdb_options_t* options, unsigned char value);
unsigned char rocksdb_options_get_write_identity_file(rocksdb_options_t* options);
void rocksdb_options_set_write_identity_file(rocksdb_options_t* options, unsigned char value);
unsigned char rocksdb_options_get_track_and_verify_wals_in_manifest(rocksdb_options_t* options);
void rocksdb_options_set_track_and_verify_wals_in_manifest(
    rocksdb_options_t* options, unsigned char value);
void rocksdb_options_set_min_level_to_compress(rocksdb_options_t* options, int level);
void rocksdb_options_set_memtable_huge_page_size(rocksdb_options_t* options, size_t value);
size_t rocksdb_options_get_memtable_huge_page_size(rocksdb_options_t* options);
void rocksdb_options_set_max_successive_merges(rocksdb_options_t* options, size_t value);
size_t rocksdb_options_get_max_successive_merges(rocksdb_options_t* options);
void rocksdb_options_set_bloom_locality(rocksdb_options_t* options, uint32_t value);
uint32_t rocksdb_options_get_bloom_locality(rocksdb_options_t* options);
void rocksdb_options_set_inplace_update_support(rocksdb_options_t* options, unsigned char value);
unsigned char rocksdb_options_get_inplace_update_support(rocksdb_options_t* options);
void rocksdb_options_set_inplace_update_num_locks(rocksdb_options_t* options, size_t value);
size_t rocksdb_options_get_inplace_update_num_locks(rocksdb_options_t* options);
void rocksdb_options_set_report_bg_io_stats(rocksdb_options_t* options, int value);
unsigned char rocksdb_options_get_report_bg_io_stats(rocksdb_options_t* options);
void rocksdb_options_set_avoid_unnecessary_blocking_io(
    rocksdb_options_t* options, unsigned char value);
unsigned char rocksdb_options_get_avoid_unnecessary_blocking_io(rocksdb_options_t* options);
void rocksdb_options_set_experimental_mempurge_threshold(rocksdb_options_t* options, double value);
double rocksdb_options_get_experimental_mempurge_threshold(rocksdb_options_t* options);
void rocksdb_options_set_wal_recovery_mode(rocksdb_options_t* options, int value);
int rocksdb_options_get_wal_recovery_mode(rocksdb_options_t* options);
void rocksdb_options_set_compression(rocksdb_options_t* options, int value);
int rocksdb_options_get_compression(rocksdb_options_t* options);
void rocksdb_options_set_bottommost_compression(rocksdb_options_t* options, int value);
int rocksdb_options_get_bottommost_compression(rocksdb_options_t* options);
void rocksdb_options_set_compaction_style(rocksdb_options_t* options, int value);
int rocksdb_options_get_compaction_style(rocksdb_options_t* options);
void rocksdb_options_set_universal_compaction_options(
    rocksdb_options_t* options, rocksdb_universal_compaction_options_t* universal_options);
void rocksdb_options_set_fifo_compaction_options(
    rocksdb_options_t* options, rocksdb_fifo_compaction_options_t* fifo_options);
void rocksdb_options_set_ratelimiter(rocksdb_options_t* options, rocksdb_ratelimiter_t* limiter);
void rocksdb_options_set_atomic_flush(rocksdb_options_t* options, unsigned char value);
unsigned char rocksdb_options_get_atomic_flush(rocksdb_options_t* options);
void rocksdb_options_set_row_cache(rocksdb_options_t* options, rocksdb_cache_t* cache);
void rocksdb_options_add_compact_on_deletion_collector_factory(
    rocksdb_options_t* options, size_t window_size, size_t num_dels_trigger);
void rocksdb_options_add_compact_on_deletion_collector_factory_del_ratio(
    rocksdb_options_t* options, size_t window_size, size_t num_dels_trigger,
    double deletion_ratio);
void rocksdb_options_set_manual_wal_flush(rocksdb_options_t* options, unsigned char value);
unsigned char rocksdb_options_get_manual_wal_flush(rocksdb_options_t* options);
void rocksdb_options_set_wal_compression(rocksdb_options_t* options, int value);
int rocksdb_options_get_wal_compression(rocksdb_options_t* options);
void rocksdb_options_set_compaction_pri(rocksdb_options_t* options, int value);
int rocksdb_options_get_compaction_pri(rocksdb_options_t* options);
void rocksdb_options_set_dump_malloc_stats(rocksdb_options_t* options, unsigned char value);
void rocksdb_options_set_memtable_whole_key_filtering(
    rocksdb_options_t* options, unsigned char value);

// Of versions before 10.4.
void rocksdb_options_set_max_write_buffer_number_to_maintain(rocksdb_options_t* options, int value);
int rocksdb_options_get_max_write_buffer_number_to_maintain(rocksdb_options_t* options);
void rocksdb_options_set_access_hint_on_compaction_start(rocksdb_options_t* options, int value);
int rocksdb_options_get_access_hint_on_compaction_start(rocksdb_options_t* options);

// Of versions behind 10.4.
void rocksdb_options_set_sst_file_manager(
    rocksdb_options_t* options, rocksdb_sst_file_manager_t* manager);
void rocksdb_options_add_compact_on_deletion_collector_factory_min_file_size(
    rocksdb_options_t* options, size_t window_size, size_t num_dels_trigger,
    double deletion_ratio, uint64_t min_file_size);

#ifdef __cplusplus
}
#endif
