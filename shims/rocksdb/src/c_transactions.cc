// The C API of transactions, and of their options.

#include "shims/rocksdb/src/c_transactions.h"

#include <string>

#include "shims/rocksdb/src/c_values.h"

namespace {

using hawthorn::rocks::copy_of;
using hawthorn::rocks::copy_of_read;
using hawthorn::rocks::copy_values;
using hawthorn::rocks::failed;
using hawthorn::rocks::families_of;
using hawthorn::rocks::freed_by_caller;
using hawthorn::rocks::incomplete;
using hawthorn::rocks::pin_read;
using hawthorn::rocks::slices_of;
using Handle = rocksdb_column_family_handle_t;
using Read = const rocksdb_readoptions_t*;
using rocksdb::PinnableSlice;
using rocksdb::Slice;

rocksdb_iterator_t* iterator_of(rocksdb::Iterator* iterator) {
  return new rocksdb_iterator_t{std::unique_ptr<rocksdb::Iterator>(iterator)};
}

}  // namespace

extern "C" {

// ---- Its course

void rocksdb_transaction_destroy(rocksdb_transaction_t* transaction) { delete transaction; }

void rocksdb_transaction_set_name(rocksdb_transaction_t* transaction, const char* name,
                                  size_t name_size, char** errptr) try {
  failed(errptr, transaction->rep->SetName(std::string(name, name_size)));
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
}

char* rocksdb_transaction_get_name(rocksdb_transaction_t* transaction, size_t* name_size) try {
  const std::string name = transaction->rep->GetName();
  *name_size = name.size();
  return copy_of(name);
} catch (...) {
  return nullptr;
}

void rocksdb_transaction_prepare(rocksdb_transaction_t* transaction, char** errptr) try {
  if (incomplete(transaction, errptr)) return;
  failed(errptr, transaction->rep->Prepare());
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
}
void rocksdb_transaction_commit(rocksdb_transaction_t* transaction, char** errptr) try {
  if (incomplete(transaction, errptr)) return;
  failed(errptr, transaction->rep->Commit());
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
}
void rocksdb_transaction_rollback(rocksdb_transaction_t* transaction, char** errptr) try {
  transaction->short_of_memory = false;
  failed(errptr, transaction->rep->Rollback());
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
}
void rocksdb_transaction_set_savepoint(rocksdb_transaction_t* transaction) try {
  transaction->rep->SetSavePoint();
} catch (...) {
  transaction->short_of_memory = true;
}
void rocksdb_transaction_rollback_to_savepoint(rocksdb_transaction_t* transaction,
                                               char** errptr) try {
  if (incomplete(transaction, errptr)) return;
  failed(errptr, transaction->rep->RollbackToSavePoint());
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
}

rocksdb_writebatch_wi_t* rocksdb_transaction_get_writebatch_wi(
    rocksdb_transaction_t* transaction) try {
  return freed_by_caller(rocksdb_writebatch_wi_t{transaction->rep->GetWriteBatch()});
} catch (...) {
  return nullptr;
}
void rocksdb_transaction_rebuild_from_writebatch(rocksdb_transaction_t* transaction,
                                                 rocksdb_writebatch_t* batch, char** errptr) try {
  if (incomplete(batch, errptr)) return;
  failed(errptr, transaction->rep->RebuildFromWriteBatch(&batch->rep));
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
}
void rocksdb_transaction_rebuild_from_writebatch_wi(rocksdb_transaction_t* transaction,
                                                    rocksdb_writebatch_wi_t* batch,
                                                    char** errptr) try {
  if (incomplete(batch, errptr)) return;
  failed(errptr, transaction->rep->RebuildFromWriteBatch(batch->rep->GetWriteBatch()));
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
}

const rocksdb_snapshot_t* rocksdb_transaction_get_snapshot(rocksdb_transaction_t* transaction) try {
  return freed_by_caller(rocksdb_snapshot_t{transaction->rep->GetSnapshot()});
} catch (...) {
  return nullptr;
}

// User timestamps, which there are none of.
void rocksdb_transaction_set_commit_timestamp(rocksdb_transaction_t*, uint64_t) {}
void rocksdb_transaction_set_read_timestamp_for_validation(rocksdb_transaction_t*, uint64_t) {}

// ---- Reads

char* rocksdb_transaction_get(rocksdb_transaction_t* transaction, Read options, const char* key,
                              size_t key_size, size_t* value_size, char** errptr) try {
  return copy_of_read(value_size, errptr, [&](PinnableSlice* value) {
    return transaction->rep->Get(options->rep, Slice(key, key_size), value);
  });
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
  return nullptr;
}

rocksdb_pinnableslice_t* rocksdb_transaction_get_pinned(rocksdb_transaction_t* transaction,
                                                        Read options, const char* key,
                                                        size_t key_size, char** errptr) try {
  return pin_read(errptr, [&](PinnableSlice* value) {
    return transaction->rep->Get(options->rep, Slice(key, key_size), value);
  });
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
  return nullptr;
}

char* rocksdb_transaction_get_cf(rocksdb_transaction_t* transaction, Read options,
                                 Handle* column_family, const char* key, size_t key_size,
                                 size_t* value_size, char** errptr) try {
  return copy_of_read(value_size, errptr, [&](PinnableSlice* value) {
    return transaction->rep->Get(options->rep, column_family->rep, Slice(key, key_size), value);
  });
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
  return nullptr;
}

rocksdb_pinnableslice_t* rocksdb_transaction_get_pinned_cf(rocksdb_transaction_t* transaction,
                                                           Read options, Handle* column_family,
                                                           const char* key, size_t key_size,
                                                           char** errptr) try {
  return pin_read(errptr, [&](PinnableSlice* value) {
    return transaction->rep->Get(options->rep, column_family->rep, Slice(key, key_size), value);
  });
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
  return nullptr;
}

char* rocksdb_transaction_get_for_update(rocksdb_transaction_t* transaction, Read options,
                                         const char* key, size_t key_size, size_t* value_size,
                                         unsigned char exclusive, char** errptr) try {
  return copy_of_read(value_size, errptr, [&](PinnableSlice* value) {
    return transaction->rep->GetForUpdate(options->rep, Slice(key, key_size), value,
                                          exclusive != 0);
  });
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
  return nullptr;
}

rocksdb_pinnableslice_t* rocksdb_transaction_get_pinned_for_update(
    rocksdb_transaction_t* transaction, Read options, const char* key, size_t key_size,
    unsigned char exclusive, char** errptr) try {
  return pin_read(errptr, [&](PinnableSlice* value) {
    return transaction->rep->GetForUpdate(options->rep, Slice(key, key_size), value,
                                          exclusive != 0);
  });
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
  return nullptr;
}

char* rocksdb_transaction_get_for_update_cf(rocksdb_transaction_t* transaction, Read options,
                                            Handle* column_family, const char* key, size_t key_size,
                                            size_t* value_size, unsigned char exclusive,
                                            char** errptr) try {
  return copy_of_read(value_size, errptr, [&](PinnableSlice* value) {
    return transaction->rep->GetForUpdate(options->rep, column_family->rep, Slice(key, key_size),
                                          value, exclusive != 0);
  });
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
  return nullptr;
}

rocksdb_pinnableslice_t* rocksdb_transaction_get_pinned_for_update_cf(
    rocksdb_transaction_t* transaction, Read options, Handle* column_family, const char* key,
    size_t key_size, unsigned char exclusive, char** errptr) try {
  return pin_read(errptr, [&](PinnableSlice* value) {
    return transaction->rep->GetForUpdate(options->rep, column_family->rep, Slice(key, key_size),
                                          value, exclusive != 0);
  });
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
  return nullptr;
}

void rocksdb_transaction_multi_get(rocksdb_transaction_t* transaction, Read options,
                                   size_t key_count, const char* const* keys,
                                   const size_t* key_sizes, char** values, size_t* value_sizes,
                                   char** errors) try {
  std::vector<std::string> read;
  copy_values(
      transaction->rep->MultiGet(options->rep, slices_of(keys, key_sizes, key_count), &read), read,
      values, value_sizes, errors);
} catch (...) {
  hawthorn::rocks::fail_all_by_exception(key_count, values, value_sizes, errors);
}

void rocksdb_transaction_multi_get_for_update(rocksdb_transaction_t* transaction, Read options,
                                              size_t key_count, const char* const* keys,
                                              const size_t* key_sizes, char** values,
                                              size_t* value_sizes, char** errors) try {
  std::vector<std::string> read;
  copy_values(transaction->rep->MultiGetForUpdate(options->rep,
                                                  slices_of(keys, key_sizes, key_count), &read),
              read, values, value_sizes, errors);
} catch (...) {
  hawthorn::rocks::fail_all_by_exception(key_count, values, value_sizes, errors);
}

void rocksdb_transaction_multi_get_cf(rocksdb_transaction_t* transaction, Read options,
                                      const Handle* const* column_families, size_t key_count,
                                      const char* const* keys, const size_t* key_sizes,
                                      char** values, size_t* value_sizes, char** errors) try {
  std::vector<std::string> read;
  copy_values(transaction->rep->MultiGet(options->rep, families_of(column_families, key_count),
                                         slices_of(keys, key_sizes, key_count), &read),
              read, values, value_sizes, errors);
} catch (...) {
  hawthorn::rocks::fail_all_by_exception(key_count, values, value_sizes, errors);
}

void rocksdb_transaction_multi_get_for_update_cf(rocksdb_transaction_t* transaction, Read options,
                                                 const Handle* const* column_families,
                                                 size_t key_count, const char* const* keys,
                                                 const size_t* key_sizes, char** values,
                                                 size_t* value_sizes, char** errors) try {
  std::vector<std::string> read;
  copy_values(
      transaction->rep->MultiGetForUpdate(options->rep, families_of(column_families, key_count),
                                          slices_of(keys, key_sizes, key_count), &read),
      read, values, value_sizes, errors);
} catch (...) {
  hawthorn::rocks::fail_all_by_exception(key_count, values, value_sizes, errors);
}

rocksdb_iterator_t* rocksdb_transaction_create_iterator(rocksdb_transaction_t* transaction,
                                                        Read options) try {
  return iterator_of(transaction->rep->GetIterator(options->rep));
} catch (...) {
  return nullptr;
}

rocksdb_iterator_t* rocksdb_transaction_create_iterator_cf(rocksdb_transaction_t* transaction,
                                                           Read options,
                                                           Handle* column_family) try {
  return iterator_of(transaction->rep->GetIterator(options->rep, column_family->rep));
} catch (...) {
  return nullptr;
}

// ---- Writes

void rocksdb_transaction_put(rocksdb_transaction_t* transaction, const char* key, size_t key_size,
                             const char* value, size_t value_size, char** errptr) try {
  failed(errptr, transaction->rep->Put(Slice(key, key_size), Slice(value, value_size)));
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
}

void rocksdb_transaction_put_cf(rocksdb_transaction_t* transaction, Handle* column_family,
                                const char* key, size_t key_size, const char* value,
                                size_t value_size, char** errptr) try {
  failed(errptr,
         transaction->rep->Put(column_family->rep, Slice(key, key_size), Slice(value, value_size)));
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
}

void rocksdb_transaction_merge(rocksdb_transaction_t* transaction, const char* key, size_t key_size,
                               const char* value, size_t value_size, char** errptr) try {
  failed(errptr, transaction->rep->Merge(Slice(key, key_size), Slice(value, value_size)));
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
}

void rocksdb_transaction_merge_cf(rocksdb_transaction_t* transaction, Handle* column_family,
                                  const char* key, size_t key_size, const char* value,
                                  size_t value_size, char** errptr) try {
  failed(errptr, transaction->rep->Merge(column_family->rep, Slice(key, key_size),
                                         Slice(value, value_size)));
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
}

void rocksdb_transaction_delete(rocksdb_transaction_t* transaction, const char* key,
                                size_t key_size, char** errptr) try {
  failed(errptr, transaction->rep->Delete(Slice(key, key_size)));
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
}

void rocksdb_transaction_delete_cf(rocksdb_transaction_t* transaction, Handle* column_family,
                                   const char* key, size_t key_size, char** errptr) try {
  failed(errptr, transaction->rep->Delete(column_family->rep, Slice(key, key_size)));
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
}

// ---- Options

rocksdb_transaction_options_t* rocksdb_transaction_options_create() try {
  return new rocksdb_transaction_options_t;
} catch (...) {
  return nullptr;
}
void rocksdb_transaction_options_destroy(rocksdb_transaction_options_t* options) { delete options; }
void rocksdb_transaction_options_set_set_snapshot(rocksdb_transaction_options_t* options,
                                                  unsigned char value) {
  options->rep.set_snapshot = value != 0;
}
void rocksdb_transaction_options_set_deadlock_detect(rocksdb_transaction_options_t* options,
                                                     unsigned char value) {
  options->rep.deadlock_detect = value != 0;
}
void rocksdb_transaction_options_set_lock_timeout(rocksdb_transaction_options_t* options,
                                                  int64_t ms) {
  options->rep.lock_timeout = ms;
}
void rocksdb_transaction_options_set_expiration(rocksdb_transaction_options_t* options,
                                                int64_t ms) {
  options->rep.expiration = ms;
}
void rocksdb_transaction_options_set_deadlock_detect_depth(rocksdb_transaction_options_t* options,
                                                           int64_t depth) {
  options->rep.deadlock_detect_depth = depth;
}
void rocksdb_transaction_options_set_max_write_batch_size(rocksdb_transaction_options_t* options,
                                                          size_t size) {
  options->rep.max_write_batch_size = size;
}
void rocksdb_transaction_options_set_skip_prepare(rocksdb_transaction_options_t* options,
                                                  unsigned char value) {
  options->rep.skip_prepare = value != 0;
}

rocksdb_optimistictransaction_options_t* rocksdb_optimistictransaction_options_create() try {
  return new rocksdb_optimistictransaction_options_t;
} catch (...) {
  return nullptr;
}
void rocksdb_optimistictransaction_options_destroy(
    rocksdb_optimistictransaction_options_t* options) {
  delete options;
}
void rocksdb_optimistictransaction_options_set_set_snapshot(
    rocksdb_optimistictransaction_options_t* options, unsigned char value) {
  options->rep.set_snapshot = value != 0;
}

}  // extern "C"
