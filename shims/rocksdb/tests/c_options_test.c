// Options of the C API: what is set is what is shown, and what is mapped does what it says.

#include "shims/rocksdb/tests/c_api_test.h"

// Sets a field, and reads it. Flags both ways.
#define FIELD(object, type, name, value)                            \
  do {                                                              \
    rocksdb_##object##_set_##name(options, (type)(value));          \
    CHECK(rocksdb_##object##_get_##name(options) == (type)(value)); \
  } while (0)
#define FLAG(object, name)                 \
  do {                                     \
    FIELD(object, unsigned char, name, 1); \
    FIELD(object, unsigned char, name, 0); \
  } while (0)

static void test_fields(void) {
  rocksdb_options_t* const options = rocksdb_options_create();
  FLAG(options, allow_ingest_behind);
  FLAG(options, create_if_missing);
  FLAG(options, create_missing_column_families);
  FLAG(options, error_if_exists);
  FLAG(options, paranoid_checks);
  FIELD(options, int, info_log_level, 3);
  FIELD(options, size_t, write_buffer_size, 17);
  FIELD(options, size_t, db_write_buffer_size, 17);
  FIELD(options, int, max_open_files, 17);
  FIELD(options, int, max_file_opening_threads, 17);
  FIELD(options, uint64_t, max_total_wal_size, 17);
  FIELD(options, int, compression_options_zstd_max_train_bytes, 17);
  FLAG(options, compression_options_use_zstd_dict_trainer);
  FIELD(options, int, compression_options_parallel_threads, 17);
  FIELD(options, uint64_t, compression_options_max_dict_buffer_bytes, 17);
  FIELD(options, int, num_levels, 17);
  FIELD(options, int, level0_file_num_compaction_trigger, 17);
  FIELD(options, int, level0_slowdown_writes_trigger, 17);
  FIELD(options, int, level0_stop_writes_trigger, 17);
  FIELD(options, uint64_t, target_file_size_base, 17);
  FIELD(options, int, target_file_size_multiplier, 17);
  FIELD(options, uint64_t, max_bytes_for_level_base, 17);
  FLAG(options, level_compaction_dynamic_level_bytes);
  FIELD(options, double, max_bytes_for_level_multiplier, 0.75);
  FIELD(options, uint64_t, ttl, 17);
  FIELD(options, uint64_t, periodic_compaction_seconds, 17);
  FIELD(options, uint32_t, memtable_op_scan_flush_trigger, 17);
  FIELD(options, uint32_t, memtable_avg_op_scan_flush_trigger, 17);
  FLAG(options, skip_stats_update_on_db_open);
  FLAG(options, skip_checking_sst_file_sizes_on_db_open);
  FLAG(options, enable_blob_files);
  FIELD(options, uint64_t, min_blob_size, 17);
  FIELD(options, uint64_t, blob_file_size, 17);
  FIELD(options, int, blob_compression_type, 4);
  FLAG(options, enable_blob_gc);
  FIELD(options, double, blob_gc_age_cutoff, 0.75);
  FIELD(options, double, blob_gc_force_threshold, 0.75);
  FIELD(options, uint64_t, blob_compaction_readahead_size, 17);
  FIELD(options, int, blob_file_starting_level, 17);
  FIELD(options, int, prepopulate_blob_cache, 1);
  FIELD(options, int, max_write_buffer_number, 17);
  FIELD(options, int, min_write_buffer_number_to_merge, 17);
  FIELD(options, int64_t, max_write_buffer_size_to_maintain, 17);
  FLAG(options, enable_pipelined_write);
  FLAG(options, unordered_write);
  FIELD(options, uint32_t, max_subcompactions, 17);
  FIELD(options, int, max_background_jobs, 17);
  FIELD(options, int, max_background_compactions, 17);
  FIELD(options, int, max_background_flushes, 17);
  FIELD(options, size_t, max_log_file_size, 17);
  FIELD(options, size_t, log_file_time_to_roll, 17);
  FIELD(options, size_t, keep_log_file_num, 17);
  FIELD(options, size_t, recycle_log_file_num, 17);
  FIELD(options, size_t, soft_pending_compaction_bytes_limit, 17);
  FIELD(options, size_t, hard_pending_compaction_bytes_limit, 17);
  FIELD(options, size_t, max_manifest_file_size, 17);
  FIELD(options, int, table_cache_numshardbits, 17);
  FIELD(options, size_t, arena_block_size, 17);
  FIELD(options, int, use_fsync, 1);
  FIELD(options, uint64_t, WAL_ttl_seconds, 17);
  FIELD(options, uint64_t, WAL_size_limit_MB, 17);
  FIELD(options, size_t, manifest_preallocation_size, 17);
  FLAG(options, allow_mmap_reads);
  FLAG(options, allow_mmap_writes);
  FLAG(options, use_direct_reads);
  FLAG(options, use_direct_io_for_flush_and_compaction);
  FLAG(options, is_fd_close_on_exec);
  FIELD(options, unsigned int, stats_dump_period_sec, 17);
  FIELD(options, unsigned int, stats_persist_period_sec, 17);
  FLAG(options, advise_random_on_open);
  FLAG(options, use_adaptive_mutex);
  FIELD(options, uint64_t, bytes_per_sync, 17);
  FIELD(options, uint64_t, wal_bytes_per_sync, 17);
  FIELD(options, uint64_t, writable_file_max_buffer_size, 17);
  FLAG(options, allow_concurrent_memtable_write);
  FLAG(options, enable_write_thread_adaptive_yield);
  FIELD(options, uint64_t, max_sequential_skip_in_iterations, 17);
  FIELD(options, uint64_t, delete_obsolete_files_period_micros, 17);
  FIELD(options, double, memtable_prefix_bloom_size_ratio, 0.75);
  FIELD(options, uint64_t, max_compaction_bytes, 17);
  FLAG(options, write_dbid_to_manifest);
  FLAG(options, write_identity_file);
  FLAG(options, track_and_verify_wals_in_manifest);
  FIELD(options, size_t, memtable_huge_page_size, 17);
  FIELD(options, size_t, max_successive_merges, 17);
  FIELD(options, uint32_t, bloom_locality, 17);
  FLAG(options, inplace_update_support);
  FIELD(options, size_t, inplace_update_num_locks, 17);
  FLAG(options, avoid_unnecessary_blocking_io);
  FIELD(options, double, experimental_mempurge_threshold, 0.75);
  FIELD(options, int, wal_recovery_mode, 0);
  FIELD(options, int, compression, 4);
  FIELD(options, int, bottommost_compression, 7);
  FIELD(options, int, compaction_style, 1);
  FLAG(options, atomic_flush);
  FLAG(options, manual_wal_flush);
  FIELD(options, int, wal_compression, 7);
  FIELD(options, int, compaction_pri, 3);
  FIELD(options, int, max_write_buffer_number_to_maintain, 3);
  FIELD(options, int, access_hint_on_compaction_start, 2);
  rocksdb_options_set_disable_auto_compactions(options, 1);
  CHECK(rocksdb_options_get_disable_auto_compactions(options) == 1);
  rocksdb_options_set_optimize_filters_for_hits(options, 1);
  CHECK(rocksdb_options_get_optimize_filters_for_hits(options) == 1);
  rocksdb_options_set_report_bg_io_stats(options, 1);
  CHECK(rocksdb_options_get_report_bg_io_stats(options) == 1);
  rocksdb_options_compaction_readahead_size(options, 17);
  CHECK(rocksdb_options_get_compaction_readahead_size(options) == 17);
  rocksdb_options_set_bottommost_compression_options_use_zstd_dict_trainer(options, 0, 1);
  CHECK(rocksdb_options_get_bottommost_compression_options_use_zstd_dict_trainer(options) == 0);
  rocksdb_options_set_statistics_level(options, rocksdb_statistics_level_all);
  CHECK(rocksdb_options_get_statistics_level(options) == 0);
  CHECK(rocksdb_options_statistics_get_string(options) == NULL);
  rocksdb_options_enable_statistics(options);
  rocksdb_options_set_statistics_level(options, 99);
  CHECK(rocksdb_options_get_statistics_level(options) == rocksdb_statistics_level_all);
  char* const text = rocksdb_options_statistics_get_string(options);
  CHECK(strstr(text, "rocksdb.bytes.written COUNT : 0\n") != NULL);
  rocksdb_free(text);
  CHECK(rocksdb_options_statistics_get_ticker_count(options, 0) == 0);
  rocksdb_statistics_histogram_data_t* const data = rocksdb_statistics_histogram_data_create();
  rocksdb_options_statistics_get_histogram_data(options, 0, data);
  CHECK(rocksdb_statistics_histogram_data_get_count(data) == 0);
  rocksdb_statistics_histogram_data_destroy(data);
  rocksdb_options_increase_parallelism(options, 5);
  CHECK(rocksdb_options_get_max_background_jobs(options) == 5);
  rocksdb_options_prepare_for_bulk_load(options);
  rocksdb_options_t* const copy = rocksdb_options_create_copy(options);
  rocksdb_options_destroy(options);
  CHECK(rocksdb_options_get_num_levels(copy) == 17);
  rocksdb_options_optimize_level_style_compaction(copy, 4 << 20);
  CHECK(rocksdb_options_get_write_buffer_size(copy) == 1 << 20);
  CHECK(rocksdb_options_get_compaction_style(copy) == rocksdb_level_compaction);
  rocksdb_options_optimize_universal_style_compaction(copy, 8 << 20);
  CHECK(rocksdb_options_get_write_buffer_size(copy) == 2 << 20);
  CHECK(rocksdb_options_get_compaction_style(copy) == rocksdb_universal_compaction);
  rocksdb_options_destroy(copy);
}

static void test_text(void) {
  char* error = NULL;
  rocksdb_options_t* const base = rocksdb_options_create();
  rocksdb_options_t* const options = rocksdb_options_create();
  rocksdb_options_set_max_open_files(base, 17);
  rocksdb_get_options_from_string(
      base, "write_buffer_size=2M;compression=kZSTD;block_based_table_factory={block_size=8k}",
      options, &error);
  CHECK_OK(error);
  CHECK(rocksdb_options_get_write_buffer_size(options) == 2 << 20);
  CHECK(rocksdb_options_get_compression(options) == rocksdb_zstd_compression);
  CHECK(rocksdb_options_get_max_open_files(options) == 17);
  rocksdb_get_options_from_string(base, "write_buffer_size=1;no_such_option=1", options, &error);
  CHECK_FAILED(error, "Invalid argument: ");
  CHECK(rocksdb_options_get_write_buffer_size(options) == 64 << 20);
  rocksdb_options_destroy(base);
  rocksdb_options_destroy(options);
}

static void test_calls(void) {
  {
    rocksdb_readoptions_t* const options = rocksdb_readoptions_create();
    FLAG(readoptions, verify_checksums);
    FLAG(readoptions, fill_cache);
    FIELD(readoptions, int, read_tier, 2);
    FLAG(readoptions, tailing);
    FIELD(readoptions, size_t, readahead_size, 17);
    FLAG(readoptions, prefix_same_as_start);
    FLAG(readoptions, pin_data);
    FLAG(readoptions, total_order_seek);
    FIELD(readoptions, uint64_t, max_skippable_internal_keys, 17);
    FLAG(readoptions, background_purge_on_iterator_cleanup);
    FLAG(readoptions, ignore_range_deletions);
    FLAG(readoptions, async_io);
    FIELD(readoptions, uint64_t, deadline, 1000);
    FIELD(readoptions, uint64_t, io_timeout, 1000);
    rocksdb_readoptions_set_auto_readahead_size(options, 0);
    rocksdb_readoptions_destroy(options);
  }
  {
    rocksdb_writeoptions_t* const options = rocksdb_writeoptions_create();
    FLAG(writeoptions, sync);
    FLAG(writeoptions, ignore_missing_column_families);
    FLAG(writeoptions, no_slowdown);
    FLAG(writeoptions, low_pri);
    FLAG(writeoptions, memtable_insert_hint_per_batch);
    rocksdb_writeoptions_disable_WAL(options, 1);
    CHECK(rocksdb_writeoptions_get_disable_WAL(options) == 1);
    rocksdb_writeoptions_destroy(options);
  }
  {
    rocksdb_flushoptions_t* const options = rocksdb_flushoptions_create();
    FLAG(flushoptions, wait);
    rocksdb_flushoptions_destroy(options);
  }
  {
    rocksdb_compactoptions_t* const options = rocksdb_compactoptions_create();
    FLAG(compactoptions, exclusive_manual_compaction);
    FLAG(compactoptions, bottommost_level_compaction);
    FLAG(compactoptions, change_level);
    FIELD(compactoptions, int, target_level, 17);
    FIELD(compactoptions, int, target_path_id, 17);
    FLAG(compactoptions, allow_write_stall);
    FIELD(compactoptions, int, max_subcompactions, 17);
    rocksdb_compactoptions_destroy(options);
  }
  {
    rocksdb_wait_for_compact_options_t* const options = rocksdb_wait_for_compact_options_create();
    FLAG(wait_for_compact_options, abort_on_pause);
    FLAG(wait_for_compact_options, flush);
    FLAG(wait_for_compact_options, close_db);
    FIELD(wait_for_compact_options, uint64_t, timeout, 1000);
    rocksdb_wait_for_compact_options_destroy(options);
  }
  {
    rocksdb_universal_compaction_options_t* const options =
        rocksdb_universal_compaction_options_create();
    FIELD(universal_compaction_options, int, size_ratio, 17);
    FIELD(universal_compaction_options, int, min_merge_width, 17);
    FIELD(universal_compaction_options, int, max_merge_width, 17);
    FIELD(universal_compaction_options, int, max_size_amplification_percent, 17);
    FIELD(universal_compaction_options, int, compression_size_percent, 17);
    FIELD(universal_compaction_options, int, stop_style, 0);
    rocksdb_options_t* const of = rocksdb_options_create();
    rocksdb_options_set_universal_compaction_options(of, options);
    rocksdb_options_destroy(of);
    rocksdb_universal_compaction_options_destroy(options);
  }
  {
    rocksdb_fifo_compaction_options_t* const options = rocksdb_fifo_compaction_options_create();
    FLAG(fifo_compaction_options, allow_compaction);
    FIELD(fifo_compaction_options, uint64_t, max_table_files_size, 17);
    rocksdb_options_t* const of = rocksdb_options_create();
    rocksdb_options_set_fifo_compaction_options(of, options);
    rocksdb_options_destroy(of);
    rocksdb_fifo_compaction_options_destroy(options);
  }
}

// That a database opens with all that is accepted, and reads and writes.
static void test_accepted(void) {
  Database of = new_database();
  rocksdb_options_t* const options = of.options;
  const int levels[] = {rocksdb_no_compression, rocksdb_lz4_compression};
  rocksdb_options_set_compression_per_level(options, levels, 2);
  rocksdb_options_set_min_level_to_compress(options, 2);
  rocksdb_options_set_min_level_to_compress(options, -1);
  rocksdb_options_set_compression_options(options, -14, 3, 0, 100);
  rocksdb_options_set_bottommost_compression_options(options, -14, 3, 0, 100, 1);
  rocksdb_options_set_bottommost_compression_options_zstd_max_train_bytes(options, 100, 1);
  rocksdb_options_set_bottommost_compression_options_max_dict_buffer_bytes(options, 100, 1);
  int additional[] = {1, 2, 3};
  rocksdb_options_set_max_bytes_for_level_multiplier_additional(options, additional, 3);
  rocksdb_options_set_db_log_dir(options, "logs");
  rocksdb_options_set_wal_dir(options, "wal");
  rocksdb_dbpath_t* const path = rocksdb_dbpath_create("elsewhere", 1 << 20);
  const rocksdb_dbpath_t* paths[] = {path};
  rocksdb_options_set_db_paths(options, paths, 1);
  rocksdb_options_set_cf_paths(options, paths, 1);
  rocksdb_dbpath_destroy(path);
  rocksdb_options_set_memtable_vector_rep(options);
  rocksdb_options_set_hash_skip_list_rep(options, 100, 4, 4);
  rocksdb_options_set_hash_link_list_rep(options, 100);
  rocksdb_options_set_dump_malloc_stats(options, 1);
  rocksdb_options_set_memtable_whole_key_filtering(options, 1);
  rocksdb_options_add_compact_on_deletion_collector_factory(options, 10, 5);
  rocksdb_options_add_compact_on_deletion_collector_factory_del_ratio(options, 10, 5, 0.5);
  rocksdb_options_add_compact_on_deletion_collector_factory_min_file_size(options, 10, 5, 0.5, 1);
  rocksdb_options_enable_statistics(options);
  rocksdb_options_set_plain_table_factory(options, 8, 10, 0.75, 16, 0, 0, 0, 0);
  rocksdb_cuckoo_table_options_t* const cuckoo = rocksdb_cuckoo_options_create();
  rocksdb_cuckoo_options_set_hash_ratio(cuckoo, 0.5);
  rocksdb_cuckoo_options_set_max_search_depth(cuckoo, 10);
  rocksdb_cuckoo_options_set_cuckoo_block_size(cuckoo, 10);
  rocksdb_cuckoo_options_set_identity_as_first_hash(cuckoo, 1);
  rocksdb_cuckoo_options_set_use_module_hash(cuckoo, 1);
  rocksdb_options_set_cuckoo_table_factory(options, cuckoo);
  rocksdb_cuckoo_options_destroy(cuckoo);
  rocksdb_options_optimize_for_point_lookup(options, 1);
  open_database(&of);
  put(&of, "a", "1");
  rocksdb_set_perf_level(rocksdb_enable_count);
  rocksdb_perfcontext_t* const perf = rocksdb_perfcontext_create();
  rocksdb_perfcontext_reset(perf);
  check_text(rocksdb_perfcontext_report(perf, 1), "");
  check_get(&of, "a", "1");
  CHECK(rocksdb_perfcontext_metric(perf, rocksdb_get_read_bytes) == 1);
  CHECK(rocksdb_perfcontext_metric(perf, rocksdb_block_read_count) == 0);
  CHECK(rocksdb_perfcontext_metric(perf, -1) == 0);
  CHECK(rocksdb_perfcontext_metric(perf, rocksdb_total_metric_count) == 0);
  check_text(rocksdb_perfcontext_report(perf, 1), "get_read_bytes = 1");
  rocksdb_set_perf_level(rocksdb_disable);
  check_get(&of, "a", "1");
  check_text(rocksdb_perfcontext_report(perf, 1), "get_read_bytes = 1");
  rocksdb_perfcontext_reset(perf);
  check_text(rocksdb_perfcontext_report(perf, 1), "");
  rocksdb_perfcontext_destroy(perf);
  close_database(&of);
  open_database(&of);
  check_get(&of, "a", "1");
  end_database(&of);
}

static void test_statistics(void) {
  enum { kKeysWritten = 57, kDbWrite = 1 };  // NUMBER_KEYS_WRITTEN, DB_WRITE
  Database of = new_database();
  rocksdb_options_enable_statistics(of.options);
  open_database(&of);
  put(&of, "a", "1");
  put(&of, "b", "2");
  CHECK(rocksdb_options_statistics_get_ticker_count(of.options, kKeysWritten) == 2);
  rocksdb_statistics_histogram_data_t* const data = rocksdb_statistics_histogram_data_create();
  rocksdb_options_statistics_get_histogram_data(of.options, kDbWrite, data);
  CHECK(rocksdb_statistics_histogram_data_get_count(data) == 2);
  const double min = rocksdb_statistics_histogram_data_get_min(data);
  const double max = rocksdb_statistics_histogram_data_get_max(data);
  const double median = rocksdb_statistics_histogram_data_get_median(data);
  const double average = rocksdb_statistics_histogram_data_get_average(data);
  CHECK(min <= median && median <= max && min <= average && average <= max);
  CHECK(rocksdb_statistics_histogram_data_get_p95(data) == max);
  CHECK(rocksdb_statistics_histogram_data_get_p99(data) == max);
  CHECK((double)rocksdb_statistics_histogram_data_get_sum(data) == 2 * average);
  CHECK(rocksdb_statistics_histogram_data_get_std_dev(data) <= max);
  rocksdb_statistics_histogram_data_destroy(data);
  end_database(&of);
}

// What the mapped ones do.
static void test_mapped(void) {
  Database of = new_database();
  char* error = NULL;
  rocksdb_options_set_create_missing_column_families(of.options, 1);
  const char* const names[] = {"default", "one"};
  const rocksdb_options_t* const options[] = {of.options, of.options};
  rocksdb_column_family_handle_t* handles[2];
  of.db = rocksdb_open_column_families(of.options, of.path, 2, names, options, handles, &error);
  CHECK_OK(error);
  rocksdb_writeoptions_set_sync(of.write, 1);
  put(&of, "aa1", "1");
  put(&of, "ab1", "2");

  rocksdb_writebatch_t* const batch = rocksdb_writebatch_create();
  rocksdb_writebatch_put_cf(batch, handles[1], "a", 1, "1", 1);
  rocksdb_drop_column_family(of.db, handles[1], &error);
  rocksdb_write(of.db, of.write, batch, &error);
  CHECK_FAILED(error, "Invalid argument: ");
  rocksdb_writeoptions_set_ignore_missing_column_families(of.write, 1);
  rocksdb_write(of.db, of.write, batch, &error);
  CHECK_OK(error);
  rocksdb_writebatch_destroy(batch);
  rocksdb_column_family_handle_destroy(handles[0]);
  rocksdb_column_family_handle_destroy(handles[1]);

  rocksdb_readoptions_set_tailing(of.read, 1);
  rocksdb_readoptions_set_pin_data(of.read, 1);
  rocksdb_readoptions_set_read_tier(of.read, 2);
  rocksdb_iterator_t* const iterator = rocksdb_create_iterator(of.db, of.read);
  put(&of, "b", "3");
  size_t size = 0;
  rocksdb_iter_seek_to_last(iterator);
  check_bytes(rocksdb_iter_key(iterator, &size), size, "b");
  rocksdb_iter_destroy(iterator);
  rocksdb_readoptions_set_read_tier(of.read, 1);
  char* const in_memory = rocksdb_get(of.db, of.read, "b", 1, &size, &error);
  CHECK_OK(error);
  check_bytes(in_memory, size, "3");
  rocksdb_free(in_memory);
  rocksdb_readoptions_set_read_tier(of.read, 3);
  CHECK(rocksdb_get(of.db, of.read, "b", 1, &size, &error) == NULL);
  CHECK(size == 0);
  CHECK_REFUSED(error);
  rocksdb_readoptions_set_read_tier(of.read, 0);
  rocksdb_readoptions_set_deadline(of.read, 1);
  CHECK(rocksdb_get(of.db, of.read, "b", 1, &size, &error) == NULL);
  CHECK_FAILED(error, "Operation timed out: ");
  rocksdb_readoptions_set_deadline(of.read, 0);
  rocksdb_readoptions_set_timestamp(of.read, "12345678", 8);
  CHECK(rocksdb_get(of.db, of.read, "b", 1, &size, &error) == NULL);
  CHECK_REFUSED(error);
  rocksdb_readoptions_set_timestamp(of.read, NULL, 0);
  rocksdb_readoptions_set_iter_start_ts(of.read, "12345678", 8);
  CHECK(rocksdb_get(of.db, of.read, "b", 1, &size, &error) == NULL);
  CHECK_REFUSED(error);
  rocksdb_readoptions_set_iter_start_ts(of.read, NULL, 0);

  rocksdb_wait_for_compact_options_t* const wait = rocksdb_wait_for_compact_options_create();
  rocksdb_wait_for_compact_options_set_timeout(wait, 1000);
  rocksdb_wait_for_compact(of.db, wait, &error);
  CHECK_REFUSED(error);
  rocksdb_wait_for_compact_options_set_timeout(wait, 0);
  rocksdb_wait_for_compact_options_set_flush(wait, 1);
  rocksdb_wait_for_compact(of.db, wait, &error);
  CHECK_OK(error);
  rocksdb_wait_for_compact_options_set_close_db(wait, 1);
  rocksdb_wait_for_compact(of.db, wait, &error);
  CHECK_OK(error);
  rocksdb_wait_for_compact_options_destroy(wait);
  close_database(&of);
  rocksdb_options_set_error_if_exists(of.options, 1);
  CHECK(rocksdb_open(of.options, of.path, &error) == NULL);
  CHECK_FAILED(error, "Invalid argument: ");
  rocksdb_options_set_error_if_exists(of.options, 0);
  rocksdb_options_set_compression(of.options, rocksdb_xpress_compression);
  CHECK(rocksdb_open(of.options, of.path, &error) == NULL);
  CHECK_REFUSED(error);
  end_database(&of);
}

static void test_changes(void) {
  Database of = new_database();
  open_database(&of);
  char* error = NULL;
  uint64_t before = 0, after = 0;
  CHECK(rocksdb_property_int(of.db, "rocksdb.block-cache-capacity", &before) == 0);
  const char* const names[] = {"write_buffer_size", "disable_auto_compactions"};
  const char* const values[] = {"96M", "true"};
  rocksdb_set_options(of.db, 2, names, values, &error);
  CHECK_OK(error);
  CHECK(rocksdb_property_int(of.db, "rocksdb.block-cache-capacity", &after) == 0);
  const size_t had = rocksdb_options_get_write_buffer_size(of.options);
  CHECK(after - before == 2 * ((96 << 20) - had));
  rocksdb_column_family_handle_t* const family =
      rocksdb_create_column_family(of.db, of.options, "other", &error);
  CHECK_OK(error);
  rocksdb_set_options_cf(of.db, family, 2, names, values, &error);
  CHECK_OK(error);
  const char* const fixed[] = {"write_buffer_size", "num_levels"};
  rocksdb_set_options_cf(of.db, family, 2, fixed, values, &error);
  CHECK_FAILED(error, "Invalid argument: ");
  rocksdb_column_family_handle_destroy(family);
  // Also of a database that is open.
  rocksdb_env_t* const env = rocksdb_create_default_env();
  rocksdb_cache_t* const cache = rocksdb_cache_create_lru(1 << 20);
  rocksdb_options_t* database = NULL;
  rocksdb_options_t** families = NULL;
  char** family_names = NULL;
  size_t count = 0;
  rocksdb_load_latest_options(of.path, env, false, cache, &database, &count, &family_names,
                              &families, &error);
  CHECK_OK(error);
  CHECK(count == 2);
  CHECK(strcmp(family_names[0], "default") == 0 && strcmp(family_names[1], "other") == 0);
  CHECK(rocksdb_options_get_create_if_missing(database) == 1);
  CHECK(rocksdb_options_get_write_buffer_size(families[1]) == 96 << 20);
  CHECK(rocksdb_options_get_disable_auto_compactions(families[0]) == 1);
  rocksdb_load_latest_options_destroy(database, family_names, families, count);
  rocksdb_load_latest_options(new_path(), env, false, NULL, &database, &count, &family_names,
                              &families, &error);
  CHECK_FAILED(error, "NotFound: ");
  CHECK(count == 0 && database == NULL && families == NULL && family_names == NULL);
  rocksdb_load_latest_options_destroy(database, family_names, families, count);
  rocksdb_cache_destroy(cache);
  rocksdb_env_destroy(env);
  end_database(&of);
}

void test_options(void) {
  test_fields();
  test_text();
  test_changes();
  test_calls();
  test_accepted();
  test_statistics();
  test_mapped();
}
