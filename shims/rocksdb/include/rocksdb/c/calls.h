#pragma once
// Options of reads, writes, flushes and compactions.
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

rocksdb_readoptions_t* rocksdb_readoptions_create(void);
void rocksdb_readoptions_destroy(rocksdb_readoptions_t* options);
void rocksdb_readoptions_set_verify_checksums(rocksdb_readoptions_t* options, unsigned char value);
unsigned char rocksdb_readoptions_get_verify_checksums(rocksdb_readoptions_t* options);
void rocksdb_readoptions_set_fill_cache(rocksdb_readoptions_t* options, unsigned char value);
unsigned char rocksdb_readoptions_get_fill_cache(rocksdb_readoptions_t* options);
void rocksdb_readoptions_set_snapshot(
    rocksdb_readoptions_t* options, const rocksdb_snapshot_t* snapshot);
void rocksdb_readoptions_set_iterate_upper_bound(
    rocksdb_readoptions_t* options, const char* key, size_t key_size);
void rocksdb_readoptions_set_iterate_lower_bound(
    rocksdb_readoptions_t* options, const char* key, size_t key_size);
void rocksdb_readoptions_set_read_tier(rocksdb_readoptions_t* options, int value);
int rocksdb_readoptions_get_read_tier(rocksdb_readoptions_t* options);
void rocksdb_readoptions_set_tailing(rocksdb_readoptions_t* options, unsigned char value);
unsigned char rocksdb_readoptions_get_tailing(rocksdb_readoptions_t* options);
void rocksdb_readoptions_set_managed(rocksdb_readoptions_t* options, unsigned char value);
void rocksdb_readoptions_set_readahead_size(rocksdb_readoptions_t* options, size_t value);
size_t rocksdb_readoptions_get_readahead_size(rocksdb_readoptions_t* options);
void rocksdb_readoptions_set_prefix_same_as_start(
    rocksdb_readoptions_t* options, unsigned char value);
unsigned char rocksdb_readoptions_get_prefix_same_as_start(rocksdb_readoptions_t* options);
void rocksdb_readoptions_set_pin_data(rocksdb_readoptions_t* options, unsigned char value);
unsigned char rocksdb_readoptions_get_pin_data(rocksdb_readoptions_t* options);
void rocksdb_readoptions_set_total_order_seek(rocksdb_readoptions_t* options, unsigned char value);
unsigned char rocksdb_readoptions_get_total_order_seek(rocksdb_readoptions_t* options);
void rocksdb_readoptions_set_max_skippable_internal_keys(
    rocksdb_readoptions_t* options, uint64_t value);
uint64_t rocksdb_readoptions_get_max_skippable_internal_keys(rocksdb_readoptions_t* options);
void rocksdb_readoptions_set_background_purge_on_iterator_cleanup(
    rocksdb_readoptions_t* options, unsigned char value);
unsigned char rocksdb_readoptions_get_background_purge_on_iterator_cleanup(
    rocksdb_readoptions_t* options);
void rocksdb_readoptions_set_ignore_range_deletions(
    rocksdb_readoptions_t* options, unsigned char value);
unsigned char rocksdb_readoptions_get_ignore_range_deletions(rocksdb_readoptions_t* options);
void rocksdb_readoptions_set_deadline(rocksdb_readoptions_t* options, uint64_t microseconds);
uint64_t rocksdb_readoptions_get_deadline(rocksdb_readoptions_t* options);
void rocksdb_readoptions_set_io_timeout(rocksdb_readoptions_t* options, uint64_t microseconds);
uint64_t rocksdb_readoptions_get_io_timeout(rocksdb_readoptions_t* options);
void rocksdb_readoptions_set_async_io(rocksdb_readoptions_t* options, unsigned char value);
unsigned char rocksdb_readoptions_get_async_io(rocksdb_readoptions_t* options);
void rocksdb_readoptions_set_timestamp(
    rocksdb_readoptions_t* options, const char* timestamp, size_t timestamp_size);
void rocksdb_readoptions_set_iter_start_ts(
    rocksdb_readoptions_t* options, const char* timestamp, size_t timestamp_size);
void rocksdb_readoptions_set_auto_readahead_size(
    rocksdb_readoptions_t* options, unsigned char value);
rocksdb_writeoptions_t* rocksdb_writeoptions_create(void);
void rocksdb_writeoptions_destroy(rocksdb_writeoptions_t* options);
void rocksdb_writeoptions_set_sync(rocksdb_writeoptions_t* options, unsigned char value);
unsigned char rocksdb_writeoptions_get_sync(rocksdb_writeoptions_t* options);
void rocksdb_writeoptions_disable_WAL(rocksdb_writeoptions_t* options, int disable);
unsigned char rocksdb_writeoptions_get_disable_WAL(rocksdb_writeoptions_t* options);
void rocksdb_writeoptions_set_ignore_missing_column_families(
    rocksdb_writeoptions_t* options, unsigned char value);
unsigned char rocksdb_writeoptions_get_ignore_missing_column_families(
    rocksdb_writeoptions_t* options);
void rocksdb_writeoptions_set_no_slowdown(rocksdb_writeoptions_t* options, unsigned char value);
unsigned char rocksdb_writeoptions_get_no_slowdown(rocksdb_writeoptions_t* options);
void rocksdb_writeoptions_set_low_pri(rocksdb_writeoptions_t* options, unsigned char value);
unsigned char rocksdb_writeoptions_get_low_pri(rocksdb_writeoptions_t* options);
void rocksdb_writeoptions_set_memtable_insert_hint_per_batch(
    rocksdb_writeoptions_t* options, unsigned char value);
unsigned char rocksdb_writeoptions_get_memtable_insert_hint_per_batch(
    rocksdb_writeoptions_t* options);
rocksdb_compactoptions_t* rocksdb_compactoptions_create(void);
void rocksdb_compactoptions_destroy(rocksdb_compactoptions_t* options);
void rocksdb_compactoptions_set_exclusive_manual_compaction(
    rocksdb_compactoptions_t* options, unsigned char value);
unsigned char rocksdb_compactoptions_get_exclusive_manual_compaction(
    rocksdb_compactoptions_t* options);
void rocksdb_compactoptions_set_bottommost_level_compaction(
    rocksdb_compactoptions_t* options, unsigned char value);
unsigned char rocksdb_compactoptions_get_bottommost_level_compaction(
    rocksdb_compactoptions_t* options);
void rocksdb_compactoptions_set_change_level(
    rocksdb_compactoptions_t* options, unsigned char value);
unsigned char rocksdb_compactoptions_get_change_level(rocksdb_compactoptions_t* options);
void rocksdb_compactoptions_set_target_level(rocksdb_compactoptions_t* options, int value);
int rocksdb_compactoptions_get_target_level(rocksdb_compactoptions_t* options);
void rocksdb_compactoptions_set_target_path_id(rocksdb_compactoptions_t* options, int value);
int rocksdb_compactoptions_get_target_path_id(rocksdb_compactoptions_t* options);
void rocksdb_compactoptions_set_allow_write_stall(
    rocksdb_compactoptions_t* options, unsigned char value);
unsigned char rocksdb_compactoptions_get_allow_write_stall(rocksdb_compactoptions_t* options);
void rocksdb_compactoptions_set_max_subcompactions(rocksdb_compactoptions_t* options, int value);
int rocksdb_compactoptions_get_max_subcompactions(rocksdb_compactoptions_t* options);
void rocksdb_compactoptions_set_full_history_ts_low(
    rocksdb_compactoptions_t* options, char* timestamp, size_t timestamp_size);
rocksdb_flushoptions_t* rocksdb_flushoptions_create(void);
void rocksdb_flushoptions_destroy(rocksdb_flushoptions_t* options);
void rocksdb_flushoptions_set_wait(rocksdb_flushoptions_t* options, unsigned char value);
unsigned char rocksdb_flushoptions_get_wait(rocksdb_flushoptions_t* options);
rocksdb_wait_for_compact_options_t* rocksdb_wait_for_compact_options_create(void);
void rocksdb_wait_for_compact_options_destroy(rocksdb_wait_for_compact_options_t* options);
void rocksdb_wait_for_compact_options_set_abort_on_pause(
    rocksdb_wait_for_compact_options_t* options, unsigned char value);
unsigned char rocksdb_wait_for_compact_options_get_abort_on_pause(
    rocksdb_wait_for_compact_options_t* options);
void rocksdb_wait_for_compact_options_set_flush(
    rocksdb_wait_for_compact_options_t* options, unsigned char value);
unsigned char rocksdb_wait_for_compact_options_get_flush(
    rocksdb_wait_for_compact_options_t* options);
void rocksdb_wait_for_compact_options_set_close_db(
    rocksdb_wait_for_compact_options_t* options, unsigned char value);
unsigned char rocksdb_wait_for_compact_options_get_close_db(
    rocksdb_wait_for_compact_options_t* options);
void rocksdb_wait_for_compact_options_set_timeout(
    rocksdb_wait_for_compact_options_t* options, uint64_t microseconds);
uint64_t rocksdb_wait_for_compact_options_get_timeout(rocksdb_wait_for_compact_options_t* options);

#ifdef __cplusplus
}
#endif
