#pragma once
// Databases, column families, writes, reads, iterators, snapshots.
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

rocksdb_t* rocksdb_open(const rocksdb_options_t* options, const char* name, char** errptr);
rocksdb_t* rocksdb_open_for_read_only(
    const rocksdb_options_t* options, const char* name, unsigned char error_if_wal_file_exists,
    char** errptr);
void rocksdb_put_with_ts(
    rocksdb_t* db, const rocksdb_writeoptions_t* options, const char* key, size_t key_size,
    const char* timestamp, size_t timestamp_size, const char* value, size_t value_size,
    char** errptr);
void rocksdb_put_cf_with_ts(
    rocksdb_t* db, const rocksdb_writeoptions_t* options,
    rocksdb_column_family_handle_t* column_family, const char* key, size_t key_size,
    const char* timestamp, size_t timestamp_size, const char* value, size_t value_size,
    char** errptr);
void rocksdb_delete_with_ts(
    rocksdb_t* db, const rocksdb_writeoptions_t* options, const char* key, size_t key_size,
    const char* timestamp, size_t timestamp_size, char** errptr);
void rocksdb_delete_cf_with_ts(
    rocksdb_t* db, const rocksdb_writeoptions_t* options,
    rocksdb_column_family_handle_t* column_family, const char* key, size_t key_size,
    const char* timestamp, size_t timestamp_size, char** errptr);
void rocksdb_singledelete(
    rocksdb_t* db, const rocksdb_writeoptions_t* options, const char* key, size_t key_size,
    char** errptr);
void rocksdb_singledelete_cf(
    rocksdb_t* db, const rocksdb_writeoptions_t* options,
    rocksdb_column_family_handle_t* column_family, const char* key, size_t key_size,
    char** errptr);
void rocksdb_singledelete_with_ts(
    rocksdb_t* db, const rocksdb_writeoptions_t* options, const char* key, size_t key_size,
    const char* timestamp, size_t timestamp_size, char** errptr);
void rocksdb_singledelete_cf_with_ts(
    rocksdb_t* db, const rocksdb_writeoptions_t* options,
    rocksdb_column_family_handle_t* column_family, const char* key, size_t key_size,
    const char* timestamp, size_t timestamp_size, char** errptr);
void rocksdb_increase_full_history_ts_low(
    rocksdb_t* db, rocksdb_column_family_handle_t* column_family, const char* timestamp,
    size_t timestamp_size, char** errptr);
char* rocksdb_get_full_history_ts_low(
    rocksdb_t* db, rocksdb_column_family_handle_t* column_family, size_t* timestamp_size,
    char** errptr);
rocksdb_t* rocksdb_open_column_families(
    const rocksdb_options_t* options, const char* name, int family_count,
    const char* const* names, const rocksdb_options_t* const* family_options,
    rocksdb_column_family_handle_t** handles, char** errptr);
rocksdb_t* rocksdb_open_for_read_only_column_families(
    const rocksdb_options_t* options, const char* name, int family_count,
    const char* const* names, const rocksdb_options_t* const* family_options,
    rocksdb_column_family_handle_t** handles, unsigned char error_if_wal_file_exists,
    char** errptr);
char** rocksdb_list_column_families(
    const rocksdb_options_t* options, const char* name, size_t* count, char** errptr);
void rocksdb_list_column_families_destroy(char** list, size_t size);
rocksdb_column_family_handle_t* rocksdb_create_column_family(
    rocksdb_t* db, const rocksdb_options_t* family_options, const char* name, char** errptr);
rocksdb_column_family_handle_t** rocksdb_create_column_families(
    rocksdb_t* db, const rocksdb_options_t* family_options, int family_count,
    const char* const* names, size_t* count, char** errptr);
void rocksdb_create_column_families_destroy(rocksdb_column_family_handle_t** list);
void rocksdb_drop_column_family(
    rocksdb_t* db, rocksdb_column_family_handle_t* column_family, char** errptr);
rocksdb_column_family_handle_t* rocksdb_get_default_column_family_handle(rocksdb_t* db);
void rocksdb_column_family_handle_destroy(rocksdb_column_family_handle_t* column_family);
uint32_t rocksdb_column_family_handle_get_id(rocksdb_column_family_handle_t* column_family);
char* rocksdb_column_family_handle_get_name(
    rocksdb_column_family_handle_t* column_family, size_t* name_size);
void rocksdb_close(rocksdb_t* db);
void rocksdb_put(
    rocksdb_t* db, const rocksdb_writeoptions_t* options, const char* key, size_t key_size,
    const char* value, size_t value_size, char** errptr);
void rocksdb_put_cf(
    rocksdb_t* db, const rocksdb_writeoptions_t* options,
    rocksdb_column_family_handle_t* column_family, const char* key, size_t key_size,
    const char* value, size_t value_size, char** errptr);
void rocksdb_delete(
    rocksdb_t* db, const rocksdb_writeoptions_t* options, const char* key, size_t key_size,
    char** errptr);
void rocksdb_delete_cf(
    rocksdb_t* db, const rocksdb_writeoptions_t* options,
    rocksdb_column_family_handle_t* column_family, const char* key, size_t key_size,
    char** errptr);
void rocksdb_delete_range_cf(
    rocksdb_t* db, const rocksdb_writeoptions_t* options,
    rocksdb_column_family_handle_t* column_family, const char* begin, size_t begin_size,
    const char* end, size_t end_size, char** errptr);
void rocksdb_merge(
    rocksdb_t* db, const rocksdb_writeoptions_t* options, const char* key, size_t key_size,
    const char* value, size_t value_size, char** errptr);
void rocksdb_merge_cf(
    rocksdb_t* db, const rocksdb_writeoptions_t* options,
    rocksdb_column_family_handle_t* column_family, const char* key, size_t key_size,
    const char* value, size_t value_size, char** errptr);
void rocksdb_write(
    rocksdb_t* db, const rocksdb_writeoptions_t* options, rocksdb_writebatch_t* batch,
    char** errptr);
char* rocksdb_get(
    rocksdb_t* db, const rocksdb_readoptions_t* options, const char* key, size_t key_size,
    size_t* value_size, char** errptr);
char* rocksdb_get_with_ts(
    rocksdb_t* db, const rocksdb_readoptions_t* options, const char* key, size_t key_size,
    size_t* value_size, char** timestamp, size_t* timestamp_size, char** errptr);
char* rocksdb_get_cf(
    rocksdb_t* db, const rocksdb_readoptions_t* options,
    rocksdb_column_family_handle_t* column_family, const char* key, size_t key_size,
    size_t* value_size, char** errptr);
char* rocksdb_get_cf_with_ts(
    rocksdb_t* db, const rocksdb_readoptions_t* options,
    rocksdb_column_family_handle_t* column_family, const char* key, size_t key_size,
    size_t* value_size, char** timestamp, size_t* timestamp_size, char** errptr);
char* rocksdb_get_db_identity(rocksdb_t* db, size_t* id_size);
void rocksdb_multi_get(
    rocksdb_t* db, const rocksdb_readoptions_t* options, size_t key_count,
    const char* const* keys, const size_t* key_sizes, char** values, size_t* value_sizes,
    char** errors);
void rocksdb_multi_get_with_ts(
    rocksdb_t* db, const rocksdb_readoptions_t* options, size_t key_count,
    const char* const* keys, const size_t* key_sizes, char** values, size_t* value_sizes,
    char** timestamps, size_t* timestamp_sizes, char** errors);
void rocksdb_multi_get_cf(
    rocksdb_t* db, const rocksdb_readoptions_t* options,
    const rocksdb_column_family_handle_t* const* column_families, size_t key_count,
    const char* const* keys, const size_t* key_sizes, char** values, size_t* value_sizes,
    char** errors);
void rocksdb_multi_get_cf_with_ts(
    rocksdb_t* db, const rocksdb_readoptions_t* options,
    const rocksdb_column_family_handle_t* const* column_families, size_t key_count,
    const char* const* keys, const size_t* key_sizes, char** values, size_t* value_sizes,
    char** timestamps, size_t* timestamp_sizes, char** errors);
void rocksdb_batched_multi_get_cf(
    rocksdb_t* db, const rocksdb_readoptions_t* options,
    rocksdb_column_family_handle_t* column_family, size_t key_count, const char* const* keys,
    const size_t* key_sizes, rocksdb_pinnableslice_t** values, char** errors,
    const bool sorted_input);
unsigned char rocksdb_key_may_exist(
    rocksdb_t* db, const rocksdb_readoptions_t* options, const char* key, size_t key_size,
    char** value, size_t* value_size, const char* timestamp, size_t timestamp_size,
    unsigned char* value_found);
unsigned char rocksdb_key_may_exist_cf(
    rocksdb_t* db, const rocksdb_readoptions_t* options,
    rocksdb_column_family_handle_t* column_family, const char* key, size_t key_size,
    char** value, size_t* value_size, const char* timestamp, size_t timestamp_size,
    unsigned char* value_found);
rocksdb_iterator_t* rocksdb_create_iterator(rocksdb_t* db, const rocksdb_readoptions_t* options);
rocksdb_iterator_t* rocksdb_create_iterator_cf(
    rocksdb_t* db, const rocksdb_readoptions_t* options,
    rocksdb_column_family_handle_t* column_family);
void rocksdb_create_iterators(
    rocksdb_t* db, rocksdb_readoptions_t* options,
    rocksdb_column_family_handle_t** column_families, rocksdb_iterator_t** iterators,
    size_t size, char** errptr);
const rocksdb_snapshot_t* rocksdb_create_snapshot(rocksdb_t* db);
void rocksdb_release_snapshot(rocksdb_t* db, const rocksdb_snapshot_t* snapshot);
uint64_t rocksdb_snapshot_get_sequence_number(const rocksdb_snapshot_t* snapshot);
char* rocksdb_property_value(rocksdb_t* db, const char* name);
int rocksdb_property_int(rocksdb_t* db, const char* name, uint64_t* value);
int rocksdb_property_int_cf(
    rocksdb_t* db, rocksdb_column_family_handle_t* column_family, const char* name,
    uint64_t* value);
char* rocksdb_property_value_cf(
    rocksdb_t* db, rocksdb_column_family_handle_t* column_family, const char* name);
void rocksdb_approximate_sizes(
    rocksdb_t* db, int range_count, const char* const* begins, const size_t* begin_sizes,
    const char* const* ends, const size_t* end_sizes, uint64_t* sizes, char** errptr);
void rocksdb_approximate_sizes_cf(
    rocksdb_t* db, rocksdb_column_family_handle_t* column_family, int range_count,
    const char* const* begins, const size_t* begin_sizes, const char* const* ends,
    const size_t* end_sizes, uint64_t* sizes, char** errptr);
void rocksdb_approximate_sizes_cf_with_flags(
    rocksdb_t* db, rocksdb_column_family_handle_t* column_family, int range_count,
    const char* const* begins, const size_t* begin_sizes, const char* const* ends,
    const size_t* end_sizes, uint8_t flags, uint64_t* sizes, char** errptr);
void rocksdb_compact_range(
    rocksdb_t* db, const char* begin, size_t begin_size, const char* end, size_t end_size);
void rocksdb_compact_range_cf(
    rocksdb_t* db, rocksdb_column_family_handle_t* column_family, const char* begin,
    size_t begin_size, const char* end, size_t end_size);
void rocksdb_suggest_compact_range(
    rocksdb_t* db, const char* begin, size_t begin_size, const char* end, size_t end_size,
    char** errptr);
void rocksdb_suggest_compact_range_cf(
    rocksdb_t* db, rocksdb_column_family_handle_t* column_family, const char* begin,
    size_t begin_size, const char* end, size_t end_size, char** errptr);
void rocksdb_compact_range_opt(
    rocksdb_t* db, rocksdb_compactoptions_t* options, const char* begin, size_t begin_size,
    const char* end, size_t end_size);
void rocksdb_compact_range_cf_opt(
    rocksdb_t* db, rocksdb_column_family_handle_t* column_family,
    rocksdb_compactoptions_t* options, const char* begin, size_t begin_size, const char* end,
    size_t end_size);
void rocksdb_flush(rocksdb_t* db, const rocksdb_flushoptions_t* options, char** errptr);
void rocksdb_flush_cf(
    rocksdb_t* db, const rocksdb_flushoptions_t* options,
    rocksdb_column_family_handle_t* column_family, char** errptr);
void rocksdb_flush_cfs(
    rocksdb_t* db, const rocksdb_flushoptions_t* options,
    rocksdb_column_family_handle_t** column_family, int family_count, char** errptr);
void rocksdb_flush_wal(rocksdb_t* db, unsigned char sync, char** errptr);
void rocksdb_destroy_db(const rocksdb_options_t* options, const char* name, char** errptr);
void rocksdb_iter_destroy(rocksdb_iterator_t* iterator);
unsigned char rocksdb_iter_valid(const rocksdb_iterator_t* iterator);
void rocksdb_iter_seek_to_first(rocksdb_iterator_t* iterator);
void rocksdb_iter_seek_to_last(rocksdb_iterator_t* iterator);
void rocksdb_iter_seek(rocksdb_iterator_t* iterator, const char* key, size_t key_size);
void rocksdb_iter_seek_for_prev(rocksdb_iterator_t* iterator, const char* key, size_t key_size);
void rocksdb_iter_next(rocksdb_iterator_t* iterator);
void rocksdb_iter_prev(rocksdb_iterator_t* iterator);
const char* rocksdb_iter_key(const rocksdb_iterator_t* iterator, size_t* key_size);
const char* rocksdb_iter_value(const rocksdb_iterator_t* iterator, size_t* value_size);
const char* rocksdb_iter_timestamp(const rocksdb_iterator_t* iterator, size_t* timestamp_size);
void rocksdb_iter_get_error(const rocksdb_iterator_t* iterator, char** errptr);
void rocksdb_iter_refresh(const rocksdb_iterator_t* iterator, char** errptr);
uint64_t rocksdb_get_latest_sequence_number(rocksdb_t* db);
void rocksdb_set_options(
    rocksdb_t* db, int count, const char* const keys[], const char* const values[],
    char** errptr);
void rocksdb_set_options_cf(
    rocksdb_t* db, rocksdb_column_family_handle_t* column_family, int count,
    const char* const keys[], const char* const values[], char** errptr);
void rocksdb_free(void* pointer);
rocksdb_pinnableslice_t* rocksdb_get_pinned(
    rocksdb_t* db, const rocksdb_readoptions_t* options, const char* key, size_t key_size,
    char** errptr);
rocksdb_pinnableslice_t* rocksdb_get_pinned_cf(
    rocksdb_t* db, const rocksdb_readoptions_t* options,
    rocksdb_column_family_handle_t* column_family, const char* key, size_t key_size,
    char** errptr);
void rocksdb_pinnableslice_destroy(rocksdb_pinnableslice_t* value);
const char* rocksdb_pinnableslice_value(const rocksdb_pinnableslice_t* value, size_t* value_size);
void rocksdb_cancel_all_background_work(rocksdb_t* db, unsigned char wait);
void rocksdb_disable_manual_compaction(rocksdb_t* db);
void rocksdb_enable_manual_compaction(rocksdb_t* db);
void rocksdb_wait_for_compact(
    rocksdb_t* db, rocksdb_wait_for_compact_options_t* options, char** errptr);

// Of versions behind 10.4.
void rocksdb_batched_multi_get_cf_slice(
    rocksdb_t* db, const rocksdb_readoptions_t* options,
    rocksdb_column_family_handle_t* column_family, size_t key_count, const rocksdb_slice_t* keys,
    rocksdb_pinnableslice_t** values, char** errors, const bool sorted_input);
rocksdb_slice_t rocksdb_iter_key_slice(const rocksdb_iterator_t* iterator);
rocksdb_slice_t rocksdb_iter_value_slice(const rocksdb_iterator_t* iterator);
rocksdb_slice_t rocksdb_iter_timestamp_slice(const rocksdb_iterator_t* iterator);
rocksdb_pinnable_handle_t* rocksdb_get_pinned_v2(
    rocksdb_t* db, const rocksdb_readoptions_t* options, const char* key, size_t key_size,
    char** errptr);
rocksdb_pinnable_handle_t* rocksdb_get_pinned_cf_v2(
    rocksdb_t* db, const rocksdb_readoptions_t* options,
    rocksdb_column_family_handle_t* column_family, const char* key, size_t key_size,
    char** errptr);
const char* rocksdb_pinnable_handle_get_value(
    const rocksdb_pinnable_handle_t* column_family, size_t* value_size);
void rocksdb_pinnable_handle_destroy(rocksdb_pinnable_handle_t* column_family);
unsigned char rocksdb_get_into_buffer(
    rocksdb_t* db, const rocksdb_readoptions_t* options, const char* key, size_t key_size,
    char* buffer, size_t buffer_size, size_t* value_size, unsigned char* found, char** errptr);
unsigned char rocksdb_get_into_buffer_cf(
    rocksdb_t* db, const rocksdb_readoptions_t* options,
    rocksdb_column_family_handle_t* column_family, const char* key, size_t key_size,
    char* buffer, size_t buffer_size, size_t* value_size, unsigned char* found, char** errptr);

#ifdef __cplusplus
}
#endif
