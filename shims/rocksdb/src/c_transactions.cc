// The C API of transactions and of write batches with an index, which there are none of yet: all of
// it is refused. What makes objects returns null, and what has no error to set does nothing.

#include "shims/rocksdb/src/c_types.h"

// Options that programs make before they open what is refused.
struct rocksdb_transactiondb_options_t {};
struct rocksdb_transaction_options_t {};
struct rocksdb_optimistictransaction_options_t {};

namespace {

using hawthorn::rocks::refuse;

// Each of several keys.
void refuse_each(const char* function, size_t count, char** values, size_t* value_sizes,
                 char** errors) {
  for (size_t i = 0; i < count; ++i) {
    values[i] = errors[i] = nullptr;
    value_sizes[i] = 0;
    refuse(&errors[i], function);
  }
}

}  // namespace

extern "C" {

rocksdb_writebatch_wi_t* rocksdb_writebatch_wi_create(size_t, unsigned char) { return nullptr; }
rocksdb_writebatch_wi_t* rocksdb_writebatch_wi_create_from(const char*, size_t) { return nullptr; }
rocksdb_writebatch_wi_t* rocksdb_writebatch_wi_create_with_params(rocksdb_comparator_t*, size_t,
                                                                  unsigned char, size_t, size_t) {
  return nullptr;
}
void rocksdb_writebatch_wi_destroy(rocksdb_writebatch_wi_t*) {}
void rocksdb_writebatch_wi_clear(rocksdb_writebatch_wi_t*) {}
int rocksdb_writebatch_wi_count(rocksdb_writebatch_wi_t*) { return 0; }
void rocksdb_writebatch_wi_put(rocksdb_writebatch_wi_t*, const char*, size_t, const char*, size_t) {
}
void rocksdb_writebatch_wi_put_cf(rocksdb_writebatch_wi_t*, rocksdb_column_family_handle_t*,
                                  const char*, size_t, const char*, size_t) {}
void rocksdb_writebatch_wi_putv(rocksdb_writebatch_wi_t*, int, const char* const*, const size_t*,
                                int, const char* const*, const size_t*) {}
void rocksdb_writebatch_wi_putv_cf(rocksdb_writebatch_wi_t*, rocksdb_column_family_handle_t*, int,
                                   const char* const*, const size_t*, int, const char* const*,
                                   const size_t*) {}
void rocksdb_writebatch_wi_merge(rocksdb_writebatch_wi_t*, const char*, size_t, const char*,
                                 size_t) {}
void rocksdb_writebatch_wi_merge_cf(rocksdb_writebatch_wi_t*, rocksdb_column_family_handle_t*,
                                    const char*, size_t, const char*, size_t) {}
void rocksdb_writebatch_wi_mergev(rocksdb_writebatch_wi_t*, int, const char* const*, const size_t*,
                                  int, const char* const*, const size_t*) {}
void rocksdb_writebatch_wi_mergev_cf(rocksdb_writebatch_wi_t*, rocksdb_column_family_handle_t*, int,
                                     const char* const*, const size_t*, int, const char* const*,
                                     const size_t*) {}
void rocksdb_writebatch_wi_delete(rocksdb_writebatch_wi_t*, const char*, size_t) {}
void rocksdb_writebatch_wi_singledelete(rocksdb_writebatch_wi_t*, const char*, size_t) {}
void rocksdb_writebatch_wi_delete_cf(rocksdb_writebatch_wi_t*, rocksdb_column_family_handle_t*,
                                     const char*, size_t) {}
void rocksdb_writebatch_wi_singledelete_cf(rocksdb_writebatch_wi_t*,
                                           rocksdb_column_family_handle_t*, const char*, size_t) {}
void rocksdb_writebatch_wi_deletev(rocksdb_writebatch_wi_t*, int, const char* const*,
                                   const size_t*) {}
void rocksdb_writebatch_wi_deletev_cf(rocksdb_writebatch_wi_t*, rocksdb_column_family_handle_t*,
                                      int, const char* const*, const size_t*) {}
void rocksdb_writebatch_wi_delete_range(rocksdb_writebatch_wi_t*, const char*, size_t, const char*,
                                        size_t) {}
void rocksdb_writebatch_wi_delete_range_cf(rocksdb_writebatch_wi_t*,
                                           rocksdb_column_family_handle_t*, const char*, size_t,
                                           const char*, size_t) {}
void rocksdb_writebatch_wi_delete_rangev(rocksdb_writebatch_wi_t*, int, const char* const*,
                                         const size_t*, const char* const*, const size_t*) {}
void rocksdb_writebatch_wi_delete_rangev_cf(rocksdb_writebatch_wi_t*,
                                            rocksdb_column_family_handle_t*, int,
                                            const char* const*, const size_t*, const char* const*,
                                            const size_t*) {}
void rocksdb_writebatch_wi_put_log_data(rocksdb_writebatch_wi_t*, const char*, size_t) {}
void rocksdb_writebatch_wi_iterate(rocksdb_writebatch_wi_t*, void*,
                                   void (*)(void*, const char*, size_t, const char*, size_t),
                                   void (*)(void*, const char*, size_t)) {}
const char* rocksdb_writebatch_wi_data(rocksdb_writebatch_wi_t*, size_t* size) {
  *size = 0;
  return nullptr;
}
void rocksdb_writebatch_wi_set_save_point(rocksdb_writebatch_wi_t*) {}
void rocksdb_writebatch_wi_rollback_to_save_point(rocksdb_writebatch_wi_t*, char** errptr) {
  refuse(errptr, __func__);
}
char* rocksdb_writebatch_wi_get_from_batch(rocksdb_writebatch_wi_t*, const rocksdb_options_t*,
                                           const char*, size_t, size_t* value_size, char** errptr) {
  *value_size = 0;
  refuse(errptr, __func__);
  return nullptr;
}
char* rocksdb_writebatch_wi_get_from_batch_cf(rocksdb_writebatch_wi_t*, const rocksdb_options_t*,
                                              rocksdb_column_family_handle_t*, const char*, size_t,
                                              size_t* value_size, char** errptr) {
  *value_size = 0;
  refuse(errptr, __func__);
  return nullptr;
}
char* rocksdb_writebatch_wi_get_from_batch_and_db(rocksdb_writebatch_wi_t*, rocksdb_t*,
                                                  const rocksdb_readoptions_t*, const char*, size_t,
                                                  size_t* value_size, char** errptr) {
  *value_size = 0;
  refuse(errptr, __func__);
  return nullptr;
}
rocksdb_pinnableslice_t* rocksdb_writebatch_wi_get_pinned_from_batch_and_db(
    rocksdb_writebatch_wi_t*, rocksdb_t*, const rocksdb_readoptions_t*, const char*, size_t,
    char** errptr) {
  refuse(errptr, __func__);
  return nullptr;
}
char* rocksdb_writebatch_wi_get_from_batch_and_db_cf(rocksdb_writebatch_wi_t*, rocksdb_t*,
                                                     const rocksdb_readoptions_t*,
                                                     rocksdb_column_family_handle_t*, const char*,
                                                     size_t, size_t* value_size, char** errptr) {
  *value_size = 0;
  refuse(errptr, __func__);
  return nullptr;
}
rocksdb_pinnableslice_t* rocksdb_writebatch_wi_get_pinned_from_batch_and_db_cf(
    rocksdb_writebatch_wi_t*, rocksdb_t*, const rocksdb_readoptions_t*,
    rocksdb_column_family_handle_t*, const char*, size_t, char** errptr) {
  refuse(errptr, __func__);
  return nullptr;
}
void rocksdb_write_writebatch_wi(rocksdb_t*, const rocksdb_writeoptions_t*,
                                 rocksdb_writebatch_wi_t*, char** errptr) {
  refuse(errptr, __func__);
}
rocksdb_iterator_t* rocksdb_writebatch_wi_create_iterator_with_base(rocksdb_writebatch_wi_t*,
                                                                    rocksdb_iterator_t*) {
  return nullptr;
}
rocksdb_iterator_t* rocksdb_writebatch_wi_create_iterator_with_base_readopts(
    rocksdb_writebatch_wi_t*, rocksdb_iterator_t*, const rocksdb_readoptions_t*) {
  return nullptr;
}
rocksdb_iterator_t* rocksdb_writebatch_wi_create_iterator_with_base_cf(
    rocksdb_writebatch_wi_t*, rocksdb_iterator_t*, rocksdb_column_family_handle_t*) {
  return nullptr;
}
rocksdb_iterator_t* rocksdb_writebatch_wi_create_iterator_with_base_cf_readopts(
    rocksdb_writebatch_wi_t*, rocksdb_iterator_t*, rocksdb_column_family_handle_t*,
    const rocksdb_readoptions_t*) {
  return nullptr;
}
void rocksdb_writebatch_wi_update_timestamps(rocksdb_writebatch_wi_t*, const char*, size_t, void*,
                                             size_t (*)(void*, uint32_t), char** errptr) {
  refuse(errptr, __func__);
}
rocksdb_column_family_handle_t* rocksdb_transactiondb_create_column_family(rocksdb_transactiondb_t*,
                                                                           const rocksdb_options_t*,
                                                                           const char*,
                                                                           char** errptr) {
  refuse(errptr, __func__);
  return nullptr;
}
rocksdb_transactiondb_t* rocksdb_transactiondb_open(const rocksdb_options_t*,
                                                    const rocksdb_transactiondb_options_t*,
                                                    const char*, char** errptr) {
  refuse(errptr, __func__);
  return nullptr;
}
rocksdb_transactiondb_t* rocksdb_transactiondb_open_column_families(
    const rocksdb_options_t*, const rocksdb_transactiondb_options_t*, const char*, int,
    const char* const*, const rocksdb_options_t* const*, rocksdb_column_family_handle_t**,
    char** errptr) {
  refuse(errptr, __func__);
  return nullptr;
}
const rocksdb_snapshot_t* rocksdb_transactiondb_create_snapshot(rocksdb_transactiondb_t*) {
  return nullptr;
}
void rocksdb_transactiondb_release_snapshot(rocksdb_transactiondb_t*, const rocksdb_snapshot_t*) {}
char* rocksdb_transactiondb_property_value(rocksdb_transactiondb_t*, const char*) {
  return nullptr;
}
int rocksdb_transactiondb_property_int(rocksdb_transactiondb_t*, const char*, uint64_t*) {
  return 0;
}
rocksdb_t* rocksdb_transactiondb_get_base_db(rocksdb_transactiondb_t*) { return nullptr; }
void rocksdb_transactiondb_close_base_db(rocksdb_t*) {}
rocksdb_transaction_t* rocksdb_transaction_begin(rocksdb_transactiondb_t*,
                                                 const rocksdb_writeoptions_t*,
                                                 const rocksdb_transaction_options_t*,
                                                 rocksdb_transaction_t*) {
  return nullptr;
}
rocksdb_transaction_t** rocksdb_transactiondb_get_prepared_transactions(rocksdb_transactiondb_t*,
                                                                        size_t* count) {
  *count = 0;
  return nullptr;
}
void rocksdb_transaction_set_name(rocksdb_transaction_t*, const char*, size_t, char** errptr) {
  refuse(errptr, __func__);
}
char* rocksdb_transaction_get_name(rocksdb_transaction_t*, size_t* name_size) {
  *name_size = 0;
  return nullptr;
}
void rocksdb_transaction_prepare(rocksdb_transaction_t*, char** errptr) {
  refuse(errptr, __func__);
}
void rocksdb_transaction_commit(rocksdb_transaction_t*, char** errptr) { refuse(errptr, __func__); }
void rocksdb_transaction_rollback(rocksdb_transaction_t*, char** errptr) {
  refuse(errptr, __func__);
}
void rocksdb_transaction_set_savepoint(rocksdb_transaction_t*) {}
void rocksdb_transaction_rollback_to_savepoint(rocksdb_transaction_t*, char** errptr) {
  refuse(errptr, __func__);
}
void rocksdb_transaction_destroy(rocksdb_transaction_t*) {}
rocksdb_writebatch_wi_t* rocksdb_transaction_get_writebatch_wi(rocksdb_transaction_t*) {
  return nullptr;
}
void rocksdb_transaction_rebuild_from_writebatch(rocksdb_transaction_t*, rocksdb_writebatch_t*,
                                                 char** errptr) {
  refuse(errptr, __func__);
}
void rocksdb_transaction_rebuild_from_writebatch_wi(rocksdb_transaction_t*,
                                                    rocksdb_writebatch_wi_t*, char** errptr) {
  refuse(errptr, __func__);
}
void rocksdb_transaction_set_commit_timestamp(rocksdb_transaction_t*, uint64_t) {}
void rocksdb_transaction_set_read_timestamp_for_validation(rocksdb_transaction_t*, uint64_t) {}
const rocksdb_snapshot_t* rocksdb_transaction_get_snapshot(rocksdb_transaction_t*) {
  return nullptr;
}
char* rocksdb_transaction_get(rocksdb_transaction_t*, const rocksdb_readoptions_t*, const char*,
                              size_t, size_t* value_size, char** errptr) {
  *value_size = 0;
  refuse(errptr, __func__);
  return nullptr;
}
rocksdb_pinnableslice_t* rocksdb_transaction_get_pinned(rocksdb_transaction_t*,
                                                        const rocksdb_readoptions_t*, const char*,
                                                        size_t, char** errptr) {
  refuse(errptr, __func__);
  return nullptr;
}
char* rocksdb_transaction_get_cf(rocksdb_transaction_t*, const rocksdb_readoptions_t*,
                                 rocksdb_column_family_handle_t*, const char*, size_t,
                                 size_t* value_size, char** errptr) {
  *value_size = 0;
  refuse(errptr, __func__);
  return nullptr;
}
rocksdb_pinnableslice_t* rocksdb_transaction_get_pinned_cf(rocksdb_transaction_t*,
                                                           const rocksdb_readoptions_t*,
                                                           rocksdb_column_family_handle_t*,
                                                           const char*, size_t, char** errptr) {
  refuse(errptr, __func__);
  return nullptr;
}
char* rocksdb_transaction_get_for_update(rocksdb_transaction_t*, const rocksdb_readoptions_t*,
                                         const char*, size_t, size_t* value_size, unsigned char,
                                         char** errptr) {
  *value_size = 0;
  refuse(errptr, __func__);
  return nullptr;
}
rocksdb_pinnableslice_t* rocksdb_transaction_get_pinned_for_update(rocksdb_transaction_t*,
                                                                   const rocksdb_readoptions_t*,
                                                                   const char*, size_t,
                                                                   unsigned char, char** errptr) {
  refuse(errptr, __func__);
  return nullptr;
}
char* rocksdb_transaction_get_for_update_cf(rocksdb_transaction_t*, const rocksdb_readoptions_t*,
                                            rocksdb_column_family_handle_t*, const char*, size_t,
                                            size_t* value_size, unsigned char, char** errptr) {
  *value_size = 0;
  refuse(errptr, __func__);
  return nullptr;
}
rocksdb_pinnableslice_t* rocksdb_transaction_get_pinned_for_update_cf(
    rocksdb_transaction_t*, const rocksdb_readoptions_t*, rocksdb_column_family_handle_t*,
    const char*, size_t, unsigned char, char** errptr) {
  refuse(errptr, __func__);
  return nullptr;
}
void rocksdb_transaction_multi_get(rocksdb_transaction_t*, const rocksdb_readoptions_t*,
                                   size_t key_count, const char* const*, const size_t*,
                                   char** values, size_t* value_sizes, char** errors) {
  refuse_each(__func__, key_count, values, value_sizes, errors);
}
void rocksdb_transaction_multi_get_for_update(rocksdb_transaction_t*, const rocksdb_readoptions_t*,
                                              size_t key_count, const char* const*, const size_t*,
                                              char** values, size_t* value_sizes, char** errors) {
  refuse_each(__func__, key_count, values, value_sizes, errors);
}
void rocksdb_transaction_multi_get_cf(rocksdb_transaction_t*, const rocksdb_readoptions_t*,
                                      const rocksdb_column_family_handle_t* const*,
                                      size_t key_count, const char* const*, const size_t*,
                                      char** values, size_t* value_sizes, char** errors) {
  refuse_each(__func__, key_count, values, value_sizes, errors);
}
void rocksdb_transaction_multi_get_for_update_cf(rocksdb_transaction_t*,
                                                 const rocksdb_readoptions_t*,
                                                 const rocksdb_column_family_handle_t* const*,
                                                 size_t key_count, const char* const*,
                                                 const size_t*, char** values, size_t* value_sizes,
                                                 char** errors) {
  refuse_each(__func__, key_count, values, value_sizes, errors);
}
char* rocksdb_transactiondb_get(rocksdb_transactiondb_t*, const rocksdb_readoptions_t*, const char*,
                                size_t, size_t* value_size, char** errptr) {
  *value_size = 0;
  refuse(errptr, __func__);
  return nullptr;
}
rocksdb_pinnableslice_t* rocksdb_transactiondb_get_pinned(rocksdb_transactiondb_t*,
                                                          const rocksdb_readoptions_t*, const char*,
                                                          size_t, char** errptr) {
  refuse(errptr, __func__);
  return nullptr;
}
char* rocksdb_transactiondb_get_cf(rocksdb_transactiondb_t*, const rocksdb_readoptions_t*,
                                   rocksdb_column_family_handle_t*, const char*, size_t,
                                   size_t* value_size, char** errptr) {
  *value_size = 0;
  refuse(errptr, __func__);
  return nullptr;
}
rocksdb_pinnableslice_t* rocksdb_transactiondb_get_pinned_cf(rocksdb_transactiondb_t*,
                                                             const rocksdb_readoptions_t*,
                                                             rocksdb_column_family_handle_t*,
                                                             const char*, size_t, char** errptr) {
  refuse(errptr, __func__);
  return nullptr;
}
void rocksdb_transactiondb_multi_get(rocksdb_transactiondb_t*, const rocksdb_readoptions_t*,
                                     size_t key_count, const char* const*, const size_t*,
                                     char** values, size_t* value_sizes, char** errors) {
  refuse_each(__func__, key_count, values, value_sizes, errors);
}
void rocksdb_transactiondb_multi_get_cf(rocksdb_transactiondb_t*, const rocksdb_readoptions_t*,
                                        const rocksdb_column_family_handle_t* const*,
                                        size_t key_count, const char* const*, const size_t*,
                                        char** values, size_t* value_sizes, char** errors) {
  refuse_each(__func__, key_count, values, value_sizes, errors);
}
void rocksdb_transaction_put(rocksdb_transaction_t*, const char*, size_t, const char*, size_t,
                             char** errptr) {
  refuse(errptr, __func__);
}
void rocksdb_transaction_put_cf(rocksdb_transaction_t*, rocksdb_column_family_handle_t*,
                                const char*, size_t, const char*, size_t, char** errptr) {
  refuse(errptr, __func__);
}
void rocksdb_transactiondb_put(rocksdb_transactiondb_t*, const rocksdb_writeoptions_t*, const char*,
                               size_t, const char*, size_t, char** errptr) {
  refuse(errptr, __func__);
}
void rocksdb_transactiondb_put_cf(rocksdb_transactiondb_t*, const rocksdb_writeoptions_t*,
                                  rocksdb_column_family_handle_t*, const char*, size_t, const char*,
                                  size_t, char** errptr) {
  refuse(errptr, __func__);
}
void rocksdb_transactiondb_write(rocksdb_transactiondb_t*, const rocksdb_writeoptions_t*,
                                 rocksdb_writebatch_t*, char** errptr) {
  refuse(errptr, __func__);
}
void rocksdb_transaction_merge(rocksdb_transaction_t*, const char*, size_t, const char*, size_t,
                               char** errptr) {
  refuse(errptr, __func__);
}
void rocksdb_transaction_merge_cf(rocksdb_transaction_t*, rocksdb_column_family_handle_t*,
                                  const char*, size_t, const char*, size_t, char** errptr) {
  refuse(errptr, __func__);
}
void rocksdb_transactiondb_merge(rocksdb_transactiondb_t*, const rocksdb_writeoptions_t*,
                                 const char*, size_t, const char*, size_t, char** errptr) {
  refuse(errptr, __func__);
}
void rocksdb_transactiondb_merge_cf(rocksdb_transactiondb_t*, const rocksdb_writeoptions_t*,
                                    rocksdb_column_family_handle_t*, const char*, size_t,
                                    const char*, size_t, char** errptr) {
  refuse(errptr, __func__);
}
void rocksdb_transaction_delete(rocksdb_transaction_t*, const char*, size_t, char** errptr) {
  refuse(errptr, __func__);
}
void rocksdb_transaction_delete_cf(rocksdb_transaction_t*, rocksdb_column_family_handle_t*,
                                   const char*, size_t, char** errptr) {
  refuse(errptr, __func__);
}
void rocksdb_transactiondb_delete(rocksdb_transactiondb_t*, const rocksdb_writeoptions_t*,
                                  const char*, size_t, char** errptr) {
  refuse(errptr, __func__);
}
void rocksdb_transactiondb_delete_cf(rocksdb_transactiondb_t*, const rocksdb_writeoptions_t*,
                                     rocksdb_column_family_handle_t*, const char*, size_t,
                                     char** errptr) {
  refuse(errptr, __func__);
}
rocksdb_iterator_t* rocksdb_transaction_create_iterator(rocksdb_transaction_t*,
                                                        const rocksdb_readoptions_t*) {
  return nullptr;
}
rocksdb_iterator_t* rocksdb_transaction_create_iterator_cf(rocksdb_transaction_t*,
                                                           const rocksdb_readoptions_t*,
                                                           rocksdb_column_family_handle_t*) {
  return nullptr;
}
rocksdb_iterator_t* rocksdb_transactiondb_create_iterator(rocksdb_transactiondb_t*,
                                                          const rocksdb_readoptions_t*) {
  return nullptr;
}
rocksdb_iterator_t* rocksdb_transactiondb_create_iterator_cf(rocksdb_transactiondb_t*,
                                                             const rocksdb_readoptions_t*,
                                                             rocksdb_column_family_handle_t*) {
  return nullptr;
}
void rocksdb_transactiondb_close(rocksdb_transactiondb_t*) {}
void rocksdb_transactiondb_flush(rocksdb_transactiondb_t*, const rocksdb_flushoptions_t*,
                                 char** errptr) {
  refuse(errptr, __func__);
}
void rocksdb_transactiondb_flush_cf(rocksdb_transactiondb_t*, const rocksdb_flushoptions_t*,
                                    rocksdb_column_family_handle_t*, char** errptr) {
  refuse(errptr, __func__);
}
void rocksdb_transactiondb_flush_cfs(rocksdb_transactiondb_t*, const rocksdb_flushoptions_t*,
                                     rocksdb_column_family_handle_t**, int, char** errptr) {
  refuse(errptr, __func__);
}
void rocksdb_transactiondb_flush_wal(rocksdb_transactiondb_t*, unsigned char, char** errptr) {
  refuse(errptr, __func__);
}
rocksdb_checkpoint_t* rocksdb_transactiondb_checkpoint_object_create(rocksdb_transactiondb_t*,
                                                                     char** errptr) {
  refuse(errptr, __func__);
  return nullptr;
}
rocksdb_optimistictransactiondb_t* rocksdb_optimistictransactiondb_open(const rocksdb_options_t*,
                                                                        const char*,
                                                                        char** errptr) {
  refuse(errptr, __func__);
  return nullptr;
}
rocksdb_optimistictransactiondb_t* rocksdb_optimistictransactiondb_open_column_families(
    const rocksdb_options_t*, const char*, int, const char* const*, const rocksdb_options_t* const*,
    rocksdb_column_family_handle_t**, char** errptr) {
  refuse(errptr, __func__);
  return nullptr;
}
rocksdb_t* rocksdb_optimistictransactiondb_get_base_db(rocksdb_optimistictransactiondb_t*) {
  return nullptr;
}
void rocksdb_optimistictransactiondb_close_base_db(rocksdb_t*) {}
rocksdb_transaction_t* rocksdb_optimistictransaction_begin(
    rocksdb_optimistictransactiondb_t*, const rocksdb_writeoptions_t*,
    const rocksdb_optimistictransaction_options_t*, rocksdb_transaction_t*) {
  return nullptr;
}
void rocksdb_optimistictransactiondb_write(rocksdb_optimistictransactiondb_t*,
                                           const rocksdb_writeoptions_t*, rocksdb_writebatch_t*,
                                           char** errptr) {
  refuse(errptr, __func__);
}
void rocksdb_optimistictransactiondb_close(rocksdb_optimistictransactiondb_t*) {}
rocksdb_checkpoint_t* rocksdb_optimistictransactiondb_checkpoint_object_create(
    rocksdb_optimistictransactiondb_t*, char** errptr) {
  refuse(errptr, __func__);
  return nullptr;
}
rocksdb_transactiondb_options_t* rocksdb_transactiondb_options_create() {
  return new rocksdb_transactiondb_options_t;
}
void rocksdb_transactiondb_options_destroy(rocksdb_transactiondb_options_t* options) {
  delete options;
}
void rocksdb_transactiondb_options_set_max_num_locks(rocksdb_transactiondb_options_t*, int64_t) {}
void rocksdb_transactiondb_options_set_num_stripes(rocksdb_transactiondb_options_t*, size_t) {}
void rocksdb_transactiondb_options_set_transaction_lock_timeout(rocksdb_transactiondb_options_t*,
                                                                int64_t) {}
void rocksdb_transactiondb_options_set_default_lock_timeout(rocksdb_transactiondb_options_t*,
                                                            int64_t) {}
rocksdb_transaction_options_t* rocksdb_transaction_options_create() {
  return new rocksdb_transaction_options_t;
}
void rocksdb_transaction_options_destroy(rocksdb_transaction_options_t* options) { delete options; }
void rocksdb_transaction_options_set_set_snapshot(rocksdb_transaction_options_t*, unsigned char) {}
void rocksdb_transaction_options_set_deadlock_detect(rocksdb_transaction_options_t*,
                                                     unsigned char) {}
void rocksdb_transaction_options_set_lock_timeout(rocksdb_transaction_options_t*, int64_t) {}
void rocksdb_transaction_options_set_expiration(rocksdb_transaction_options_t*, int64_t) {}
void rocksdb_transaction_options_set_deadlock_detect_depth(rocksdb_transaction_options_t*,
                                                           int64_t) {}
void rocksdb_transaction_options_set_max_write_batch_size(rocksdb_transaction_options_t*, size_t) {}
void rocksdb_transaction_options_set_skip_prepare(rocksdb_transaction_options_t*, unsigned char) {}
rocksdb_optimistictransaction_options_t* rocksdb_optimistictransaction_options_create() {
  return new rocksdb_optimistictransaction_options_t;
}
void rocksdb_optimistictransaction_options_destroy(
    rocksdb_optimistictransaction_options_t* options) {
  delete options;
}
void rocksdb_optimistictransaction_options_set_set_snapshot(
    rocksdb_optimistictransaction_options_t*, unsigned char) {}
char* rocksdb_optimistictransactiondb_property_value(rocksdb_optimistictransactiondb_t*,
                                                     const char*) {
  return nullptr;
}
int rocksdb_optimistictransactiondb_property_int(rocksdb_optimistictransactiondb_t*, const char*,
                                                 uint64_t*) {
  return 0;
}

}  // extern "C"
