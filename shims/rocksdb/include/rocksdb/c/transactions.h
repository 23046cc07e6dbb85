#pragma once
// Transactions, and write batches with an index.
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

rocksdb_writebatch_wi_t* rocksdb_writebatch_wi_create(
    size_t reserved_bytes, unsigned char overwrite_keys);
rocksdb_writebatch_wi_t* rocksdb_writebatch_wi_create_from(const char* bytes, size_t size);
rocksdb_writebatch_wi_t* rocksdb_writebatch_wi_create_with_params(
    rocksdb_comparator_t* backup_index_comparator, size_t reserved_bytes,
    unsigned char overwrite_key, size_t max_bytes, size_t protection_bytes_per_key);
void rocksdb_writebatch_wi_destroy(rocksdb_writebatch_wi_t* batch);
void rocksdb_writebatch_wi_clear(rocksdb_writebatch_wi_t* batch);
int rocksdb_writebatch_wi_count(rocksdb_writebatch_wi_t* batch);
void rocksdb_writebatch_wi_put(
    rocksdb_writebatch_wi_t* batch, const char* key, size_t key_size, const char* value,
    size_t value_size);
void rocksdb_writebatch_wi_put_cf(
    rocksdb_writebatch_wi_t* batch, rocksdb_column_family_handle_t* column_family,
    const char* key, size_t key_size, const char* value, size_t value_size);
void rocksdb_writebatch_wi_putv(
    rocksdb_writebatch_wi_t* batch, int key_count, const char* const* keys,
    const size_t* key_sizes, int value_count, const char* const* values,
    const size_t* value_sizes);
void rocksdb_writebatch_wi_putv_cf(
    rocksdb_writebatch_wi_t* batch, rocksdb_column_family_handle_t* column_family, int key_count,
    const char* const* keys, const size_t* key_sizes, int value_count, const char* const* values,
    const size_t* value_sizes);
void rocksdb_writebatch_wi_merge(
    rocksdb_writebatch_wi_t* batch, const char* key, size_t key_size, const char* value,
    size_t value_size);
void rocksdb_writebatch_wi_merge_cf(
    rocksdb_writebatch_wi_t* batch, rocksdb_column_family_handle_t* column_family,
    const char* key, size_t key_size, const char* value, size_t value_size);
void rocksdb_writebatch_wi_mergev(
    rocksdb_writebatch_wi_t* batch, int key_count, const char* const* keys,
    const size_t* key_sizes, int value_count, const char* const* values,
    const size_t* value_sizes);
void rocksdb_writebatch_wi_mergev_cf(
    rocksdb_writebatch_wi_t* batch, rocksdb_column_family_handle_t* column_family, int key_count,
    const char* const* keys, const size_t* key_sizes, int value_count, const char* const* values,
    const size_t* value_sizes);
void rocksdb_writebatch_wi_delete(rocksdb_writebatch_wi_t* batch, const char* key, size_t key_size);
void rocksdb_writebatch_wi_singledelete(
    rocksdb_writebatch_wi_t* batch, const char* key, size_t key_size);
void rocksdb_writebatch_wi_delete_cf(
    rocksdb_writebatch_wi_t* batch, rocksdb_column_family_handle_t* column_family,
    const char* key, size_t key_size);
void rocksdb_writebatch_wi_singledelete_cf(
    rocksdb_writebatch_wi_t* batch, rocksdb_column_family_handle_t* column_family,
    const char* key, size_t key_size);
void rocksdb_writebatch_wi_deletev(
    rocksdb_writebatch_wi_t* batch, int key_count, const char* const* keys,
    const size_t* key_sizes);
void rocksdb_writebatch_wi_deletev_cf(
    rocksdb_writebatch_wi_t* batch, rocksdb_column_family_handle_t* column_family, int key_count,
    const char* const* keys, const size_t* key_sizes);
void rocksdb_writebatch_wi_delete_range(
    rocksdb_writebatch_wi_t* batch, const char* begin, size_t begin_size, const char* end,
    size_t end_size);
void rocksdb_writebatch_wi_delete_range_cf(
    rocksdb_writebatch_wi_t* batch, rocksdb_column_family_handle_t* column_family,
    const char* begin, size_t begin_size, const char* end, size_t end_size);
void rocksdb_writebatch_wi_delete_rangev(
    rocksdb_writebatch_wi_t* batch, int key_count, const char* const* begins,
    const size_t* begin_sizes, const char* const* ends, const size_t* end_sizes);
void rocksdb_writebatch_wi_delete_rangev_cf(
    rocksdb_writebatch_wi_t* batch, rocksdb_column_family_handle_t* column_family, int key_count,
    const char* const* begins, const size_t* begin_sizes, const char* const* ends,
    const size_t* end_sizes);
void rocksdb_writebatch_wi_put_log_data(
    rocksdb_writebatch_wi_t* batch, const char* blob, size_t size);
void rocksdb_writebatch_wi_iterate(
    rocksdb_writebatch_wi_t* batch, void* state, void (*put)(void* state, const char* key,
    size_t key_size, const char* value, size_t value_size), void (*deleted)(void* state,
    const char* key, size_t key_size));
const char* rocksdb_writebatch_wi_data(rocksdb_writebatch_wi_t* batch, size_t* size);
void rocksdb_writebatch_wi_set_save_point(rocksdb_writebatch_wi_t* batch);
void rocksdb_writebatch_wi_rollback_to_save_point(rocksdb_writebatch_wi_t* batch, char** errptr);
char* rocksdb_writebatch_wi_get_from_batch(
    rocksdb_writebatch_wi_t* batch, const rocksdb_options_t* options, const char* key,
    size_t key_size, size_t* value_size, char** errptr);
char* rocksdb_writebatch_wi_get_from_batch_cf(
    rocksdb_writebatch_wi_t* batch, const rocksdb_options_t* options,
    rocksdb_column_family_handle_t* column_family, const char* key, size_t key_size,
    size_t* value_size, char** errptr);
char* rocksdb_writebatch_wi_get_from_batch_and_db(
    rocksdb_writebatch_wi_t* batch, rocksdb_t* db, const rocksdb_readoptions_t* options,
    const char* key, size_t key_size, size_t* value_size, char** errptr);
rocksdb_pinnableslice_t* rocksdb_writebatch_wi_get_pinned_from_batch_and_db(
    rocksdb_writebatch_wi_t* batch, rocksdb_t* db, const rocksdb_readoptions_t* options,
    const char* key, size_t key_size, char** errptr);
char* rocksdb_writebatch_wi_get_from_batch_and_db_cf(
    rocksdb_writebatch_wi_t* batch, rocksdb_t* db, const rocksdb_readoptions_t* options,
    rocksdb_column_family_handle_t* column_family, const char* key, size_t key_size,
    size_t* value_size, char** errptr);
rocksdb_pinnableslice_t* rocksdb_writebatch_wi_get_pinned_from_batch_and_db_cf(
    rocksdb_writebatch_wi_t* batch, rocksdb_t* db, const rocksdb_readoptions_t* options,
    rocksdb_column_family_handle_t* column_family, const char* key, size_t key_size,
    char** errptr);
void rocksdb_write_writebatch_wi(
    rocksdb_t* db, const rocksdb_writeoptions_t* options, rocksdb_writebatch_wi_t* batch,
    char** errptr);
rocksdb_iterator_t* rocksdb_writebatch_wi_create_iterator_with_base(
    rocksdb_writebatch_wi_t* batch, rocksdb_iterator_t* base);
rocksdb_iterator_t* rocksdb_writebatch_wi_create_iterator_with_base_readopts(
    rocksdb_writebatch_wi_t* batch, rocksdb_iterator_t* base,
    const rocksdb_readoptions_t* options);
rocksdb_iterator_t* rocksdb_writebatch_wi_create_iterator_with_base_cf(
    rocksdb_writebatch_wi_t* batch, rocksdb_iterator_t* base,
    rocksdb_column_family_handle_t* column_family);
rocksdb_iterator_t* rocksdb_writebatch_wi_create_iterator_with_base_cf_readopts(
    rocksdb_writebatch_wi_t* batch, rocksdb_iterator_t* base,
    rocksdb_column_family_handle_t* column_family, const rocksdb_readoptions_t* options);
void rocksdb_writebatch_wi_update_timestamps(
    rocksdb_writebatch_wi_t* batch, const char* timestamp, size_t timestamp_size, void* state,
    size_t (*get_ts_size)(void* state, uint32_t family_id), char** errptr);
rocksdb_column_family_handle_t* rocksdb_transactiondb_create_column_family(
    rocksdb_transactiondb_t* db, const rocksdb_options_t* family_options, const char* name,
    char** errptr);
rocksdb_transactiondb_t* rocksdb_transactiondb_open(
    const rocksdb_options_t* options, const rocksdb_transactiondb_options_t* db_options,
    const char* name, char** errptr);
rocksdb_transactiondb_t* rocksdb_transactiondb_open_column_families(
    const rocksdb_options_t* options, const rocksdb_transactiondb_options_t* db_options,
    const char* name, int family_count, const char* const* names,
    const rocksdb_options_t* const* family_options, rocksdb_column_family_handle_t** handles,
    char** errptr);
const rocksdb_snapshot_t* rocksdb_transactiondb_create_snapshot(rocksdb_transactiondb_t* db);
void rocksdb_transactiondb_release_snapshot(
    rocksdb_transactiondb_t* db, const rocksdb_snapshot_t* snapshot);
char* rocksdb_transactiondb_property_value(rocksdb_transactiondb_t* db, const char* name);
int rocksdb_transactiondb_property_int(
    rocksdb_transactiondb_t* db, const char* name, uint64_t* value);
rocksdb_t* rocksdb_transactiondb_get_base_db(rocksdb_transactiondb_t* db);
void rocksdb_transactiondb_close_base_db(rocksdb_t* base_db);
rocksdb_transaction_t* rocksdb_transaction_begin(
    rocksdb_transactiondb_t* db, const rocksdb_writeoptions_t* write_options,
    const rocksdb_transaction_options_t* transaction_options, rocksdb_transaction_t* reuse);
rocksdb_transaction_t** rocksdb_transactiondb_get_prepared_transactions(
    rocksdb_transactiondb_t* db, size_t* count);
void rocksdb_transaction_set_name(
    rocksdb_transaction_t* transaction, const char* name, size_t name_size, char** errptr);
char* rocksdb_transaction_get_name(rocksdb_transaction_t* transaction, size_t* name_size);
void rocksdb_transaction_prepare(rocksdb_transaction_t* transaction, char** errptr);
void rocksdb_transaction_commit(rocksdb_transaction_t* transaction, char** errptr);
void rocksdb_transaction_rollback(rocksdb_transaction_t* transaction, char** errptr);
void rocksdb_transaction_set_savepoint(rocksdb_transaction_t* transaction);
void rocksdb_transaction_rollback_to_savepoint(rocksdb_transaction_t* transaction, char** errptr);
void rocksdb_transaction_destroy(rocksdb_transaction_t* transaction);
rocksdb_writebatch_wi_t* rocksdb_transaction_get_writebatch_wi(rocksdb_transaction_t* transaction);
void rocksdb_transaction_rebuild_from_writebatch(
    rocksdb_transaction_t* transaction, rocksdb_writebatch_t* batch, char** errptr);
void rocksdb_transaction_rebuild_from_writebatch_wi(
    rocksdb_transaction_t* transaction, rocksdb_writebatch_wi_t* batch, char** errptr);
void rocksdb_transaction_set_commit_timestamp(
    rocksdb_transaction_t* transaction, uint64_t commit_timestamp);
void rocksdb_transaction_set_read_timestamp_for_validation(
    rocksdb_transaction_t* transaction, uint64_t read_timestamp);
const rocksdb_snapshot_t* rocksdb_transaction_get_snapshot(rocksdb_transaction_t* transaction);
char* rocksdb_transaction_get(
    rocksdb_transaction_t* transaction, const rocksdb_readoptions_t* options, const char* key,
    size_t key_size, size_t* value_size, char** errptr);
rocksdb_pinnableslice_t* rocksdb_transaction_get_pinned(
    rocksdb_transaction_t* transaction, const rocksdb_readoptions_t* options, const char* key,
    size_t key_size, char** errptr);
char* rocksdb_transaction_get_cf(
    rocksdb_transaction_t* transaction, const rocksdb_readoptions_t* options,
    rocksdb_column_family_handle_t* column_family, const char* key, size_t key_size,
    size_t* value_size, char** errptr);
rocksdb_pinnableslice_t* rocksdb_transaction_get_pinned_cf(
    rocksdb_transaction_t* transaction, const rocksdb_readoptions_t* options,
    rocksdb_column_family_handle_t* column_family, const char* key, size_t key_size,
    char** errptr);
char* rocksdb_transaction_get_for_update(
    rocksdb_transaction_t* transaction, const rocksdb_readoptions_t* options, const char* key,
    size_t key_size, size_t* value_size, unsigned char exclusive, char** errptr);
rocksdb_pinnableslice_t* rocksdb_transaction_get_pinned_for_update(
    rocksdb_transaction_t* transaction, const rocksdb_readoptions_t* options, const char* key,
    size_t key_size, unsigned char exclusive, char** errptr);
char* rocksdb_transaction_get_for_update_cf(
    rocksdb_transaction_t* transaction, const rocksdb_readoptions_t* options,
    rocksdb_column_family_handle_t* column_family, const char* key, size_t key_size,
    size_t* value_size, unsigned char exclusive, char** errptr);
rocksdb_pinnableslice_t* rocksdb_transaction_get_pinned_for_update_cf(
    rocksdb_transaction_t* transaction, const rocksdb_readoptions_t* options,
    rocksdb_column_family_handle_t* column_family, const char* key, size_t key_size,
    unsigned char exclusive, char** errptr);
void rocksdb_transaction_multi_get(
    rocksdb_transaction_t* transaction, const rocksdb_readoptions_t* options, size_t key_count,
    const char* const* keys, const size_t* key_sizes, char** values, size_t* value_sizes,
    char** errors);
void rocksdb_transaction_multi_get_for_update(
    rocksdb_transaction_t* transaction, const rocksdb_readoptions_t* options, size_t key_count,
    const char* const* keys, const size_t* key_sizes, char** values, size_t* value_sizes,
    char** errors);
void rocksdb_transaction_multi_get_cf(
    rocksdb_transaction_t* transaction, const rocksdb_readoptions_t* options,
    const rocksdb_column_family_handle_t* const* column_families, size_t key_count,
    const char* const* keys, const size_t* key_sizes, char** values, size_t* value_sizes,
    char** errors);
void rocksdb_transaction_multi_get_for_update_cf(
    rocksdb_transaction_t* transaction, const rocksdb_readoptions_t* options,
    const rocksdb_column_family_handle_t* const* column_families, size_t key_count,
    const char* const* keys, const size_t* key_sizes, char** values, size_t* value_sizes,
    char** errors);
char* rocksdb_transactiondb_get(
    rocksdb_transactiondb_t* db, const rocksdb_readoptions_t* options, const char* key,
    size_t key_size, size_t* value_size, char** errptr);
rocksdb_pinnableslice_t* rocksdb_transactiondb_get_pinned(
    rocksdb_transactiondb_t* db, const rocksdb_readoptions_t* options, const char* key,
    size_t key_size, char** errptr);
char* rocksdb_transactiondb_get_cf(
    rocksdb_transactiondb_t* db, const rocksdb_readoptions_t* options,
    rocksdb_column_family_handle_t* column_family, const char* key, size_t key_size,
    size_t* value_size, char** errptr);
rocksdb_pinnableslice_t* rocksdb_transactiondb_get_pinned_cf(
    rocksdb_transactiondb_t* db, const rocksdb_readoptions_t* options,
    rocksdb_column_family_handle_t* column_family, const char* key, size_t key_size,
    char** errptr);
void rocksdb_transactiondb_multi_get(
    rocksdb_transactiondb_t* db, const rocksdb_readoptions_t* options, size_t key_count,
    const char* const* keys, const size_t* key_sizes, char** values, size_t* value_sizes,
    char** errors);
void rocksdb_transactiondb_multi_get_cf(
    rocksdb_transactiondb_t* db, const rocksdb_readoptions_t* options,
    const rocksdb_column_family_handle_t* const* column_families, size_t key_count,
    const char* const* keys, const size_t* key_sizes, char** values, size_t* value_sizes,
    char** errors);
void rocksdb_transaction_put(
    rocksdb_transaction_t* transaction, const char* key, size_t key_size, const char* value,
    size_t value_size, char** errptr);
void rocksdb_transaction_put_cf(
    rocksdb_transaction_t* transaction, rocksdb_column_family_handle_t* column_family,
    const char* key, size_t key_size, const char* value, size_t value_size, char** errptr);
void rocksdb_transactiondb_put(
    rocksdb_transactiondb_t* db, const rocksdb_writeoptions_t* options, const char* key,
    size_t key_size, const char* value, size_t value_size, char** errptr);
void rocksdb_transactiondb_put_cf(
    rocksdb_transactiondb_t* db, const rocksdb_writeoptions_t* options,
    rocksdb_column_family_handle_t* column_family, const char* key, size_t key_size,
    const char* value, size_t value_size, char** errptr);
void rocksdb_transactiondb_write(
    rocksdb_transactiondb_t* db, const rocksdb_writeoptions_t* options,
    rocksdb_writebatch_t* batch, char** errptr);
void rocksdb_transaction_merge(
    rocksdb_transaction_t* transaction, const char* key, size_t key_size, const char* value,
    size_t value_size, char** errptr);
void rocksdb_transaction_merge_cf(
    rocksdb_transaction_t* transaction, rocksdb_column_family_handle_t* column_family,
    const char* key, size_t key_size, const char* value, size_t value_size, char** errptr);
void rocksdb_transactiondb_merge(
    rocksdb_transactiondb_t* db, const rocksdb_writeoptions_t* options, const char* key,
    size_t key_size, const char* value, size_t value_size, char** errptr);
void rocksdb_transactiondb_merge_cf(
    rocksdb_transactiondb_t* db, const rocksdb_writeoptions_t* options,
    rocksdb_column_family_handle_t* column_family, const char* key, size_t key_size,
    const char* value, size_t value_size, char** errptr);
void rocksdb_transaction_delete(
    rocksdb_transaction_t* transaction, const char* key, size_t key_size, char** errptr);
void rocksdb_transaction_delete_cf(
    rocksdb_transaction_t* transaction, rocksdb_column_family_handle_t* column_family,
    const char* key, size_t key_size, char** errptr);
void rocksdb_transactiondb_delete(
    rocksdb_transactiondb_t* db, const rocksdb_writeoptions_t* options, const char* key,
    size_t key_size, char** errptr);
void rocksdb_transactiondb_delete_cf(
    rocksdb_transactiondb_t* db, const rocksdb_writeoptions_t* options,
    rocksdb_column_family_handle_t* column_family, const char* key, size_t key_size,
    char** errptr);
rocksdb_iterator_t* rocksdb_transaction_create_iterator(
    rocksdb_transaction_t* transaction, const rocksdb_readoptions_t* options);
rocksdb_iterator_t* rocksdb_transaction_create_iterator_cf(
    rocksdb_transaction_t* transaction, const rocksdb_readoptions_t* options,
    rocksdb_column_family_handle_t* column_family);
rocksdb_iterator_t* rocksdb_transactiondb_create_iterator(
    rocksdb_transactiondb_t* db, const rocksdb_readoptions_t* options);
rocksdb_iterator_t* rocksdb_transactiondb_create_iterator_cf(
    rocksdb_transactiondb_t* db, const rocksdb_readoptions_t* options,
    rocksdb_column_family_handle_t* column_family);
void rocksdb_transactiondb_close(rocksdb_transactiondb_t* db);
void rocksdb_transactiondb_flush(
    rocksdb_transactiondb_t* db, const rocksdb_flushoptions_t* options, char** errptr);
void rocksdb_transactiondb_flush_cf(
    rocksdb_transactiondb_t* db, const rocksdb_flushoptions_t* options,
    rocksdb_column_family_handle_t* column_family, char** errptr);
void rocksdb_transactiondb_flush_cfs(
    rocksdb_transactiondb_t* db, const rocksdb_flushoptions_t* options,
    rocksdb_column_family_handle_t** column_families, int family_count, char** errptr);
void rocksdb_transactiondb_flush_wal(
    rocksdb_transactiondb_t* db, unsigned char sync, char** errptr);
rocksdb_checkpoint_t* rocksdb_transactiondb_checkpoint_object_create(
    rocksdb_transactiondb_t* db, char** errptr);
rocksdb_optimistictransactiondb_t* rocksdb_optimistictransactiondb_open(
    const rocksdb_options_t* options, const char* name, char** errptr);
rocksdb_optimistictransactiondb_t* rocksdb_optimistictransactiondb_open_column_families(
    const rocksdb_options_t* options, const char* name, int family_count,
    const char* const* names, const rocksdb_options_t* const* family_options,
    rocksdb_column_family_handle_t** handles, char** errptr);
rocksdb_t* rocksdb_optimistictransactiondb_get_base_db(rocksdb_optimistictransactiondb_t* db);
void rocksdb_optimistictransactiondb_close_base_db(rocksdb_t* base_db);
rocksdb_transaction_t* rocksdb_optimistictransaction_begin(
    rocksdb_optimistictransactiondb_t* db, const rocksdb_writeoptions_t* write_options,
    const rocksdb_optimistictransaction_options_t* transaction_options,
    rocksdb_transaction_t* reuse);
void rocksdb_optimistictransactiondb_write(
    rocksdb_optimistictransactiondb_t* db, const rocksdb_writeoptions_t* options,
    rocksdb_writebatch_t* batch, char** errptr);
void rocksdb_optimistictransactiondb_close(rocksdb_optimistictransactiondb_t* db);
rocksdb_checkpoint_t* rocksdb_optimistictransactiondb_checkpoint_object_create(
    rocksdb_optimistictransactiondb_t* db, char** errptr);
rocksdb_transactiondb_options_t* rocksdb_transactiondb_options_create(void);
void rocksdb_transactiondb_options_destroy(rocksdb_transactiondb_options_t* options);
void rocksdb_transactiondb_options_set_max_num_locks(
    rocksdb_transactiondb_options_t* options, int64_t max_num_locks);
void rocksdb_transactiondb_options_set_num_stripes(
    rocksdb_transactiondb_options_t* options, size_t num_stripes);
void rocksdb_transactiondb_options_set_transaction_lock_timeout(
    rocksdb_transactiondb_options_t* options, int64_t ms);
void rocksdb_transactiondb_options_set_default_lock_timeout(
    rocksdb_transactiondb_options_t* options, int64_t ms);
rocksdb_transaction_options_t* rocksdb_transaction_options_create(void);
void rocksdb_transaction_options_destroy(rocksdb_transaction_options_t* options);
void rocksdb_transaction_options_set_set_snapshot(
    rocksdb_transaction_options_t* options, unsigned char value);
void rocksdb_transaction_options_set_deadlock_detect(
    rocksdb_transaction_options_t* options, unsigned char value);
void rocksdb_transaction_options_set_lock_timeout(
    rocksdb_transaction_options_t* options, int64_t ms);
void rocksdb_transaction_options_set_expiration(rocksdb_transaction_options_t* options, int64_t ms);
void rocksdb_transaction_options_set_deadlock_detect_depth(
    rocksdb_transaction_options_t* options, int64_t depth);
void rocksdb_transaction_options_set_max_write_batch_size(
    rocksdb_transaction_options_t* options, size_t size);
void rocksdb_transaction_options_set_skip_prepare(
    rocksdb_transaction_options_t* options, unsigned char value);
rocksdb_optimistictransaction_options_t* rocksdb_optimistictransaction_options_create(void);
void rocksdb_optimistictransaction_options_destroy(
    rocksdb_optimistictransaction_options_t* options);
void rocksdb_optimistictransaction_options_set_set_snapshot(
    rocksdb_optimistictransaction_options_t* options, unsigned char value);
char* rocksdb_optimistictransactiondb_property_value(
    rocksdb_optimistictransactiondb_t* db, const char* name);
int rocksdb_optimistictransactiondb_property_int(
    rocksdb_optimistictransactiondb_t* db, const char* name, uint64_t* value);

#ifdef __cplusplus
}
#endif
