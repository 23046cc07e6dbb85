// The C API of options of databases and column families.

#include <algorithm>
#include <memory>
#include <string>

#include "shims/rocksdb/src/c_fields.h"
#include "shims/rocksdb/src/c_types.h"

namespace {

void set_paths(std::vector<rocksdb::DbPath>* to, const rocksdb_dbpath_t** paths, size_t count) {
  to->clear();
  for (size_t i = 0; i < count; ++i) to->push_back(paths[i]->rep);
}

// From `level` on compressed, above not.
void compress_from(rocksdb::Options& options, int level) {
  if (level < 0) return;
  const auto levels = static_cast<size_t>(std::max(options.num_levels, 0));
  options.compression_per_level.assign(levels, options.compression);
  std::fill_n(options.compression_per_level.begin(), std::min(static_cast<size_t>(level), levels),
              rocksdb::kNoCompression);
}

}  // namespace

extern "C" {

rocksdb_options_t* rocksdb_options_create() try { return new rocksdb_options_t; } catch (...) {
  return nullptr;
}
void rocksdb_options_destroy(rocksdb_options_t* options) { delete options; }
rocksdb_options_t* rocksdb_options_create_copy(rocksdb_options_t* options) try {
  return new rocksdb_options_t(*options);
} catch (...) {
  return nullptr;
}

// ---- Plain fields

FIELD(options, unsigned char, allow_ingest_behind, allow_ingest_behind)
GET(options, size_t, compaction_readahead_size, compaction_readahead_size)
FIELD(options, unsigned char, create_if_missing, create_if_missing)
FIELD(options, unsigned char, create_missing_column_families, create_missing_column_families)
FIELD(options, unsigned char, error_if_exists, error_if_exists)
FIELD(options, unsigned char, paranoid_checks, paranoid_checks)
FIELD(options, int, info_log_level, info_log_level)
FIELD(options, size_t, write_buffer_size, write_buffer_size)
FIELD(options, size_t, db_write_buffer_size, db_write_buffer_size)
FIELD(options, int, max_open_files, max_open_files)
FIELD(options, int, max_file_opening_threads, max_file_opening_threads)
FIELD(options, uint64_t, max_total_wal_size, max_total_wal_size)
FIELD(options, int, compression_options_zstd_max_train_bytes, compression_opts.zstd_max_train_bytes)
FIELD(options, unsigned char, compression_options_use_zstd_dict_trainer,
      compression_opts.use_zstd_dict_trainer)
FIELD(options, int, compression_options_parallel_threads, compression_opts.parallel_threads)
FIELD(options, uint64_t, compression_options_max_dict_buffer_bytes,
      compression_opts.max_dict_buffer_bytes)
GET(options, unsigned char, bottommost_compression_options_use_zstd_dict_trainer,
    bottommost_compression_opts.use_zstd_dict_trainer)
FIELD(options, int, num_levels, num_levels)
FIELD(options, int, level0_file_num_compaction_trigger, level0_file_num_compaction_trigger)
FIELD(options, int, level0_slowdown_writes_trigger, level0_slowdown_writes_trigger)
FIELD(options, int, level0_stop_writes_trigger, level0_stop_writes_trigger)
FIELD(options, uint64_t, target_file_size_base, target_file_size_base)
FIELD(options, int, target_file_size_multiplier, target_file_size_multiplier)
FIELD(options, uint64_t, max_bytes_for_level_base, max_bytes_for_level_base)
FIELD(options, unsigned char, level_compaction_dynamic_level_bytes,
      level_compaction_dynamic_level_bytes)
FIELD(options, double, max_bytes_for_level_multiplier, max_bytes_for_level_multiplier)
FIELD(options, uint64_t, ttl, ttl)
FIELD(options, uint64_t, periodic_compaction_seconds, periodic_compaction_seconds)
FIELD(options, uint32_t, memtable_op_scan_flush_trigger, memtable_op_scan_flush_trigger)
FIELD(options, uint32_t, memtable_avg_op_scan_flush_trigger, memtable_avg_op_scan_flush_trigger)
FIELD(options, unsigned char, skip_stats_update_on_db_open, skip_stats_update_on_db_open)
FIELD(options, unsigned char, skip_checking_sst_file_sizes_on_db_open,
      skip_checking_sst_file_sizes_on_db_open)
FIELD(options, unsigned char, enable_blob_files, enable_blob_files)
FIELD(options, uint64_t, min_blob_size, min_blob_size)
FIELD(options, uint64_t, blob_file_size, blob_file_size)
FIELD(options, int, blob_compression_type, blob_compression_type)
FIELD(options, unsigned char, enable_blob_gc, enable_blob_garbage_collection)
FIELD(options, double, blob_gc_age_cutoff, blob_garbage_collection_age_cutoff)
FIELD(options, double, blob_gc_force_threshold, blob_garbage_collection_force_threshold)
FIELD(options, uint64_t, blob_compaction_readahead_size, blob_compaction_readahead_size)
FIELD(options, int, blob_file_starting_level, blob_file_starting_level)
FIELD(options, int, prepopulate_blob_cache, prepopulate_blob_cache)
FIELD(options, int, max_write_buffer_number, max_write_buffer_number)
FIELD(options, int, min_write_buffer_number_to_merge, min_write_buffer_number_to_merge)
FIELD(options, int64_t, max_write_buffer_size_to_maintain, max_write_buffer_size_to_maintain)
FIELD(options, unsigned char, enable_pipelined_write, enable_pipelined_write)
FIELD(options, unsigned char, unordered_write, unordered_write)
FIELD(options, uint32_t, max_subcompactions, max_subcompactions)
FIELD(options, int, max_background_jobs, max_background_jobs)
FIELD(options, int, max_background_compactions, max_background_compactions)
FIELD(options, int, max_background_flushes, max_background_flushes)
FIELD(options, size_t, max_log_file_size, max_log_file_size)
FIELD(options, size_t, log_file_time_to_roll, log_file_time_to_roll)
FIELD(options, size_t, keep_log_file_num, keep_log_file_num)
FIELD(options, size_t, recycle_log_file_num, recycle_log_file_num)
FIELD(options, size_t, soft_pending_compaction_bytes_limit, soft_pending_compaction_bytes_limit)
FIELD(options, size_t, hard_pending_compaction_bytes_limit, hard_pending_compaction_bytes_limit)
FIELD(options, size_t, max_manifest_file_size, max_manifest_file_size)
FIELD(options, int, table_cache_numshardbits, table_cache_numshardbits)
FIELD(options, size_t, arena_block_size, arena_block_size)
FIELD(options, int, use_fsync, use_fsync)
FIELD(options, uint64_t, WAL_ttl_seconds, WAL_ttl_seconds)
FIELD(options, uint64_t, WAL_size_limit_MB, WAL_size_limit_MB)
FIELD(options, size_t, manifest_preallocation_size, manifest_preallocation_size)
FIELD(options, unsigned char, allow_mmap_reads, allow_mmap_reads)
FIELD(options, unsigned char, allow_mmap_writes, allow_mmap_writes)
FIELD(options, unsigned char, use_direct_reads, use_direct_reads)
FIELD(options, unsigned char, use_direct_io_for_flush_and_compaction,
      use_direct_io_for_flush_and_compaction)
FIELD(options, unsigned char, is_fd_close_on_exec, is_fd_close_on_exec)
FIELD(options, unsigned int, stats_dump_period_sec, stats_dump_period_sec)
FIELD(options, unsigned int, stats_persist_period_sec, stats_persist_period_sec)
FIELD(options, unsigned char, advise_random_on_open, advise_random_on_open)
FIELD(options, unsigned char, use_adaptive_mutex, use_adaptive_mutex)
FIELD(options, uint64_t, bytes_per_sync, bytes_per_sync)
FIELD(options, uint64_t, wal_bytes_per_sync, wal_bytes_per_sync)
FIELD(options, uint64_t, writable_file_max_buffer_size, writable_file_max_buffer_size)
FIELD(options, unsigned char, allow_concurrent_memtable_write, allow_concurrent_memtable_write)
FIELD(options, unsigned char, enable_write_thread_adaptive_yield,
      enable_write_thread_adaptive_yield)
FIELD(options, uint64_t, max_sequential_skip_in_iterations, max_sequential_skip_in_iterations)
SET(options, int, disable_auto_compactions, disable_auto_compactions)
GET(options, unsigned char, disable_auto_compactions, disable_auto_compactions)
SET(options, int, optimize_filters_for_hits, optimize_filters_for_hits)
GET(options, unsigned char, optimize_filters_for_hits, optimize_filters_for_hits)
FIELD(options, uint64_t, delete_obsolete_files_period_micros, delete_obsolete_files_period_micros)
FIELD(options, double, memtable_prefix_bloom_size_ratio, memtable_prefix_bloom_size_ratio)
FIELD(options, uint64_t, max_compaction_bytes, max_compaction_bytes)
FIELD(options, unsigned char, write_dbid_to_manifest, write_dbid_to_manifest)
FIELD(options, unsigned char, write_identity_file, write_identity_file)
FIELD(options, unsigned char, track_and_verify_wals_in_manifest, track_and_verify_wals_in_manifest)
FIELD(options, size_t, memtable_huge_page_size, memtable_huge_page_size)
FIELD(options, size_t, max_successive_merges, max_successive_merges)
FIELD(options, uint32_t, bloom_locality, bloom_locality)
FIELD(options, unsigned char, inplace_update_support, inplace_update_support)
FIELD(options, size_t, inplace_update_num_locks, inplace_update_num_locks)
SET(options, int, report_bg_io_stats, report_bg_io_stats)
GET(options, unsigned char, report_bg_io_stats, report_bg_io_stats)
FIELD(options, unsigned char, avoid_unnecessary_blocking_io, avoid_unnecessary_blocking_io)
FIELD(options, double, experimental_mempurge_threshold, experimental_mempurge_threshold)
FIELD(options, int, wal_recovery_mode, wal_recovery_mode)
FIELD(options, int, compression, compression)
FIELD(options, int, bottommost_compression, bottommost_compression)
FIELD(options, int, compaction_style, compaction_style)
FIELD(options, unsigned char, atomic_flush, atomic_flush)
FIELD(options, unsigned char, manual_wal_flush, manual_wal_flush)
FIELD(options, int, wal_compression, wal_compression)
FIELD(options, int, compaction_pri, compaction_pri)
SET(options, unsigned char, dump_malloc_stats, dump_malloc_stats)
SET(options, unsigned char, memtable_whole_key_filtering, memtable_whole_key_filtering)

void rocksdb_options_compaction_readahead_size(rocksdb_options_t* options, size_t value) {
  options->rep.compaction_readahead_size = value;
}
void rocksdb_options_set_db_log_dir(rocksdb_options_t* options, const char* value) try {
  options->rep.db_log_dir = value;
} catch (...) {
  options->short_of_memory = true;
}
void rocksdb_options_set_wal_dir(rocksdb_options_t* options, const char* value) try {
  options->rep.wal_dir = value;
} catch (...) {
  options->short_of_memory = true;
}
void rocksdb_options_set_db_paths(rocksdb_options_t* options, const rocksdb_dbpath_t** paths,
                                  size_t count) try {
  set_paths(&options->rep.db_paths, paths, count);
} catch (...) {
  options->short_of_memory = true;
}
void rocksdb_options_set_cf_paths(rocksdb_options_t* options, const rocksdb_dbpath_t** paths,
                                  size_t count) try {
  set_paths(&options->rep.cf_paths, paths, count);
} catch (...) {
  options->short_of_memory = true;
}
void rocksdb_options_set_max_bytes_for_level_multiplier_additional(rocksdb_options_t* options,
                                                                   int* levels, size_t value) try {
  options->rep.max_bytes_for_level_multiplier_additional.assign(levels, levels + value);
} catch (...) {
  options->short_of_memory = true;
}

// ---- Compression

void rocksdb_options_set_compression_per_level(rocksdb_options_t* options, const int* levels,
                                               size_t value) try {
  options->rep.compression_per_level.clear();
  for (size_t i = 0; i < value; ++i) {
    options->rep.compression_per_level.push_back(static_cast<rocksdb::CompressionType>(levels[i]));
  }
} catch (...) {
  options->short_of_memory = true;
}
void rocksdb_options_set_min_level_to_compress(rocksdb_options_t* options, int level) try {
  compress_from(options->rep, level);
} catch (...) {
  options->short_of_memory = true;
}
void rocksdb_options_set_compression_options(rocksdb_options_t* options, int window_bits, int level,
                                             int strategy, int max_dict_bytes) {
  rocksdb::CompressionOptions& rep = options->rep.compression_opts;
  rep.window_bits = window_bits;
  rep.level = level;
  rep.strategy = strategy;
  rep.max_dict_bytes = static_cast<uint32_t>(max_dict_bytes);
}
void rocksdb_options_set_bottommost_compression_options(rocksdb_options_t* options, int window_bits,
                                                        int level, int strategy, int max_dict_bytes,
                                                        unsigned char enabled) {
  rocksdb::CompressionOptions& rep = options->rep.bottommost_compression_opts;
  rep.window_bits = window_bits;
  rep.level = level;
  rep.strategy = strategy;
  rep.max_dict_bytes = static_cast<uint32_t>(max_dict_bytes);
  rep.enabled = enabled != 0;
}
void rocksdb_options_set_bottommost_compression_options_zstd_max_train_bytes(
    rocksdb_options_t* options, int value, unsigned char enabled) {
  options->rep.bottommost_compression_opts.zstd_max_train_bytes = static_cast<uint32_t>(value);
  options->rep.bottommost_compression_opts.enabled = enabled != 0;
}
void rocksdb_options_set_bottommost_compression_options_use_zstd_dict_trainer(
    rocksdb_options_t* options, unsigned char value, unsigned char enabled) {
  options->rep.bottommost_compression_opts.use_zstd_dict_trainer = value != 0;
  options->rep.bottommost_compression_opts.enabled = enabled != 0;
}
void rocksdb_options_set_bottommost_compression_options_max_dict_buffer_bytes(
    rocksdb_options_t* options, uint64_t value, unsigned char enabled) {
  options->rep.bottommost_compression_opts.max_dict_buffer_bytes = value;
  options->rep.bottommost_compression_opts.enabled = enabled != 0;
}

// ---- Choices of several values

void rocksdb_options_increase_parallelism(rocksdb_options_t* options, int total_threads) try {
  options->rep.IncreaseParallelism(total_threads);
} catch (...) {
  options->short_of_memory = true;
}
void rocksdb_options_optimize_for_point_lookup(rocksdb_options_t* options,
                                               uint64_t block_cache_size_mb) try {
  options->rep.OptimizeForPointLookup(block_cache_size_mb);
} catch (...) {
  options->short_of_memory = true;
}
void rocksdb_options_optimize_level_style_compaction(rocksdb_options_t* options,
                                                     uint64_t memtable_memory_budget) try {
  options->rep.OptimizeLevelStyleCompaction(memtable_memory_budget);
} catch (...) {
  options->short_of_memory = true;
}
void rocksdb_options_optimize_universal_style_compaction(rocksdb_options_t* options,
                                                         uint64_t memtable_memory_budget) try {
  options->rep.OptimizeUniversalStyleCompaction(memtable_memory_budget);
} catch (...) {
  options->short_of_memory = true;
}
void rocksdb_options_prepare_for_bulk_load(rocksdb_options_t* options) try {
  options->rep.PrepareForBulkLoad();
} catch (...) {
  options->short_of_memory = true;
}

// ---- Objects; those that several options may share stay the caller's, too

void rocksdb_options_set_env(rocksdb_options_t* options, rocksdb_env_t* env) {
  options->rep.env = env == nullptr ? nullptr : env->rep;
}
void rocksdb_options_set_info_log(rocksdb_options_t* options, rocksdb_logger_t* logger) {
  if (logger != nullptr) options->rep.info_log = logger->rep;
}
rocksdb_logger_t* rocksdb_options_get_info_log(rocksdb_options_t* options) try {
  return new rocksdb_logger_t{options->rep.info_log};
} catch (...) {
  return nullptr;
}
void rocksdb_options_set_write_buffer_manager(rocksdb_options_t* options,
                                              rocksdb_write_buffer_manager_t* manager) {
  options->rep.write_buffer_manager = manager->rep;
}
void rocksdb_options_set_ratelimiter(rocksdb_options_t* options, rocksdb_ratelimiter_t* limiter) {
  if (limiter != nullptr) options->rep.rate_limiter = limiter->rep;
}
void rocksdb_options_set_row_cache(rocksdb_options_t* options, rocksdb_cache_t* cache) {
  if (cache != nullptr) options->rep.row_cache = cache->rep;
}
void rocksdb_options_set_blob_cache(rocksdb_options_t* options, rocksdb_cache_t* blob_cache) {
  if (blob_cache != nullptr) options->rep.blob_cache = blob_cache->rep;
}
void rocksdb_options_set_block_based_table_factory(
    rocksdb_options_t* options, rocksdb_block_based_table_options_t* table_options) try {
  if (table_options == nullptr) return;
  options->rep.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table_options->rep));
} catch (...) {
  options->short_of_memory = true;
}
void rocksdb_options_set_cuckoo_table_factory(rocksdb_options_t* options,
                                              rocksdb_cuckoo_table_options_t* table_options) try {
  if (table_options == nullptr) return;
  options->rep.table_factory.reset(rocksdb::NewCuckooTableFactory(table_options->rep));
} catch (...) {
  options->short_of_memory = true;
}
void rocksdb_options_set_plain_table_factory(rocksdb_options_t* options, uint32_t user_key_size,
                                             int bloom_bits_per_key, double hash_table_ratio,
                                             size_t index_sparseness, size_t, char, unsigned char,
                                             unsigned char) try {
  // Before version 9 the function had no more parameters than the first five: the others may be
  // anything, and mean nothing.
  rocksdb::PlainTableOptions table;
  table.user_key_len = user_key_size;
  table.bloom_bits_per_key = bloom_bits_per_key;
  table.hash_table_ratio = hash_table_ratio;
  table.index_sparseness = index_sparseness;
  options->rep.table_factory.reset(rocksdb::NewPlainTableFactory(table));
} catch (...) {
  options->short_of_memory = true;
}
void rocksdb_options_set_memtable_vector_rep(rocksdb_options_t* options) try {
  options->rep.memtable_factory = std::make_shared<rocksdb::VectorRepFactory>();
} catch (...) {
  options->short_of_memory = true;
}
void rocksdb_options_set_hash_skip_list_rep(rocksdb_options_t* options, size_t bucket_count,
                                            int32_t height, int32_t branching_factor) try {
  options->rep.memtable_factory.reset(
      rocksdb::NewHashSkipListRepFactory(bucket_count, height, branching_factor));
} catch (...) {
  options->short_of_memory = true;
}
void rocksdb_options_set_hash_link_list_rep(rocksdb_options_t* options, size_t bucket_count) try {
  options->rep.memtable_factory.reset(rocksdb::NewHashLinkListRepFactory(bucket_count));
} catch (...) {
  options->short_of_memory = true;
}
void rocksdb_options_set_universal_compaction_options(
    rocksdb_options_t* options, rocksdb_universal_compaction_options_t* universal_options) {
  options->rep.compaction_options_universal = universal_options->rep;
}
void rocksdb_options_set_fifo_compaction_options(rocksdb_options_t* options,
                                                 rocksdb_fifo_compaction_options_t* fifo_options) {
  options->rep.compaction_options_fifo = fifo_options->rep;
}

// ---- What means nothing here

void rocksdb_options_add_compact_on_deletion_collector_factory(rocksdb_options_t*, size_t, size_t) {
}
void rocksdb_options_add_compact_on_deletion_collector_factory_del_ratio(rocksdb_options_t*, size_t,
                                                                         size_t, double) {}
void rocksdb_options_add_compact_on_deletion_collector_factory_min_file_size(rocksdb_options_t*,
                                                                             size_t, size_t, double,
                                                                             uint64_t) {}

void rocksdb_options_set_max_write_buffer_number_to_maintain(rocksdb_options_t* options,
                                                             int value) {
  options->max_write_buffer_number_to_maintain = value;
}
int rocksdb_options_get_max_write_buffer_number_to_maintain(rocksdb_options_t* options) {
  return options->max_write_buffer_number_to_maintain;
}
void rocksdb_options_set_access_hint_on_compaction_start(rocksdb_options_t* options, int value) {
  options->access_hint_on_compaction_start = value;
}
int rocksdb_options_get_access_hint_on_compaction_start(rocksdb_options_t* options) {
  return options->access_hint_on_compaction_start;
}

// ---- Of universal and FIFO compaction

rocksdb_universal_compaction_options_t* rocksdb_universal_compaction_options_create() try {
  return new rocksdb_universal_compaction_options_t;
} catch (...) {
  return nullptr;
}
void rocksdb_universal_compaction_options_destroy(rocksdb_universal_compaction_options_t* options) {
  delete options;
}
FIELD(universal_compaction_options, int, size_ratio, size_ratio)
FIELD(universal_compaction_options, int, min_merge_width, min_merge_width)
FIELD(universal_compaction_options, int, max_merge_width, max_merge_width)
FIELD(universal_compaction_options, int, max_size_amplification_percent,
      max_size_amplification_percent)
FIELD(universal_compaction_options, int, compression_size_percent, compression_size_percent)
FIELD(universal_compaction_options, int, stop_style, stop_style)
rocksdb_fifo_compaction_options_t* rocksdb_fifo_compaction_options_create() try {
  return new rocksdb_fifo_compaction_options_t;
} catch (...) {
  return nullptr;
}
void rocksdb_fifo_compaction_options_destroy(rocksdb_fifo_compaction_options_t* options) {
  delete options;
}
FIELD(fifo_compaction_options, unsigned char, allow_compaction, allow_compaction)
FIELD(fifo_compaction_options, uint64_t, max_table_files_size, max_table_files_size)

}  // extern "C"
