#pragma once
// Write batches.
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

rocksdb_writebatch_t* rocksdb_writebatch_create(void);
rocksdb_writebatch_t* rocksdb_writebatch_create_from(const char* bytes, size_t size);
rocksdb_writebatch_t* rocksdb_writebatch_create_with_params(
    size_t reserved_bytes, size_t max_bytes, size_t protection_bytes_per_key,
    size_t default_cf_ts_sz);
void rocksdb_writebatch_destroy(rocksdb_writebatch_t* batch);
void rocksdb_writebatch_clear(rocksdb_writebatch_t* batch);
int rocksdb_writebatch_count(rocksdb_writebatch_t* batch);
void rocksdb_writebatch_put(
    rocksdb_writebatch_t* batch, const char* key, size_t key_size, const char* value,
    size_t value_size);
void rocksdb_writebatch_put_cf(
    rocksdb_writebatch_t* batch, rocksdb_column_family_handle_t* column_family, const char* key,
    size_t key_size, const char* value, size_t value_size);
void rocksdb_writebatch_put_cf_with_ts(
    rocksdb_writebatch_t* batch, rocksdb_column_family_handle_t* column_family, const char* key,
    size_t key_size, const char* timestamp, size_t timestamp_size, const char* value,
    size_t value_size);
void rocksdb_writebatch_putv(
    rocksdb_writebatch_t* batch, int key_count, const char* const* keys, const size_t* key_sizes,
    int value_count, const char* const* values, const size_t* value_sizes);
void rocksdb_writebatch_putv_cf(
    rocksdb_writebatch_t* batch, rocksdb_column_family_handle_t* column_family, int key_count,
    const char* const* keys, const size_t* key_sizes, int value_count, const char* const* values,
    const size_t* value_sizes);
void rocksdb_writebatch_merge(
    rocksdb_writebatch_t* batch, const char* key, size_t key_size, const char* value,
    size_t value_size);
void rocksdb_writebatch_merge_cf(
    rocksdb_writebatch_t* batch, rocksdb_column_family_handle_t* column_family, const char* key,
    size_t key_size, const char* value, size_t value_size);
void rocksdb_writebatch_mergev(
    rocksdb_writebatch_t* batch, int key_count, const char* const* keys, const size_t* key_sizes,
    int value_count, const char* const* values, const size_t* value_sizes);
void rocksdb_writebatch_mergev_cf(
    rocksdb_writebatch_t* batch, rocksdb_column_family_handle_t* column_family, int key_count,
    const char* const* keys, const size_t* key_sizes, int value_count, const char* const* values,
    const size_t* value_sizes);
void rocksdb_writebatch_delete(rocksdb_writebatch_t* batch, const char* key, size_t key_size);
void rocksdb_writebatch_singledelete(rocksdb_writebatch_t* batch, const char* key, size_t key_size);
void rocksdb_writebatch_delete_cf(
    rocksdb_writebatch_t* batch, rocksdb_column_family_handle_t* column_family, const char* key,
    size_t key_size);
void rocksdb_writebatch_delete_cf_with_ts(
    rocksdb_writebatch_t* batch, rocksdb_column_family_handle_t* column_family, const char* key,
    size_t key_size, const char* timestamp, size_t timestamp_size);
void rocksdb_writebatch_singledelete_cf(
    rocksdb_writebatch_t* batch, rocksdb_column_family_handle_t* column_family, const char* key,
    size_t key_size);
void rocksdb_writebatch_singledelete_cf_with_ts(
    rocksdb_writebatch_t* batch, rocksdb_column_family_handle_t* column_family, const char* key,
    size_t key_size, const char* timestamp, size_t timestamp_size);
void rocksdb_writebatch_deletev(
    rocksdb_writebatch_t* batch, int key_count, const char* const* keys, const size_t* key_sizes);
void rocksdb_writebatch_deletev_cf(
    rocksdb_writebatch_t* batch, rocksdb_column_family_handle_t* column_family, int key_count,
    const char* const* keys, const size_t* key_sizes);
void rocksdb_writebatch_delete_range(
    rocksdb_writebatch_t* batch, const char* begin, size_t begin_size, const char* end,
    size_t end_size);
void rocksdb_writebatch_delete_range_cf(
    rocksdb_writebatch_t* batch, rocksdb_column_family_handle_t* column_family,
    const char* begin, size_t begin_size, const char* end, size_t end_size);
void rocksdb_writebatch_delete_rangev(
    rocksdb_writebatch_t* batch, int key_count, const char* const* begins,
    const size_t* begin_sizes, const char* const* ends, const size_t* end_sizes);
void rocksdb_writebatch_delete_rangev_cf(
    rocksdb_writebatch_t* batch, rocksdb_column_family_handle_t* column_family, int key_count,
    const char* const* begins, const size_t* begin_sizes, const char* const* ends,
    const size_t* end_sizes);
void rocksdb_writebatch_put_log_data(rocksdb_writebatch_t* batch, const char* blob, size_t size);
void rocksdb_writebatch_iterate(
    rocksdb_writebatch_t* batch, void* state, void (*put)(void* state, const char* key,
    size_t key_size, const char* value, size_t value_size), void (*deleted)(void* state,
    const char* key, size_t key_size));
void rocksdb_writebatch_iterate_cf(
    rocksdb_writebatch_t* batch, void* state, void (*put)(void* state, uint32_t family_id,
    const char* key, size_t key_size, const char* value, size_t value_size),
    void (*deleted)(void* state, uint32_t family_id, const char* key, size_t key_size),
    void (*merge)(void* state, uint32_t family_id, const char* key, size_t key_size,
    const char* value, size_t value_size));
const char* rocksdb_writebatch_data(rocksdb_writebatch_t* batch, size_t* size);
void rocksdb_writebatch_set_save_point(rocksdb_writebatch_t* batch);
void rocksdb_writebatch_rollback_to_save_point(rocksdb_writebatch_t* batch, char** errptr);
void rocksdb_writebatch_pop_save_point(rocksdb_writebatch_t* batch, char** errptr);
void rocksdb_writebatch_update_timestamps(
    rocksdb_writebatch_t* batch, const char* timestamp, size_t timestamp_size, void* state,
    size_t (*get_ts_size)(void* state, uint32_t family_id), char** errptr);

#ifdef __cplusplus
}
#endif
