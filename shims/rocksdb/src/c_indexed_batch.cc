// The C API of write batches with an index.

#include <string>

#include "shims/rocksdb/src/batch_format.h"
#include "shims/rocksdb/src/c_batches.h"
#include "shims/rocksdb/src/c_transactions.h"
#include "shims/rocksdb/src/c_values.h"

namespace {

using hawthorn::rocks::copy_of_read;
using hawthorn::rocks::failed;
using hawthorn::rocks::Parts;
using hawthorn::rocks::pin_read;
using hawthorn::rocks::refuse;
using hawthorn::rocks::Shower;
using Batch = rocksdb_writebatch_wi_t;
using Handle = rocksdb_column_family_handle_t;
using rocksdb::PinnableSlice;
using rocksdb::Slice;
using rocksdb::WriteBatchWithIndex;

char* get_from_batch(Batch* batch, rocksdb::ColumnFamilyHandle* family,
                     const rocksdb_options_t* options, const Slice& key, size_t* value_size,
                     char** errptr) {
  return copy_of_read(value_size, errptr, [&](PinnableSlice* value) {
    rocksdb::Status status = batch->rep->GetFromBatch(family, options->rep, key, value->GetSelf());
    value->PinSelf();
    return status;
  });
}

// Takes over the base.
rocksdb_iterator_t* over_base(Batch* batch, rocksdb_iterator_t* base,
                              rocksdb::ColumnFamilyHandle* family,
                              const rocksdb::ReadOptions* options) {
  // It owns the base from when it was made.
  rocksdb::Iterator* const made = batch->rep->NewIteratorWithBase(family, &base->found(), options);
  static_cast<void>(base->rep.release());
  base->rep.reset(made);
  return base;
}

}  // namespace

extern "C" {

Batch* rocksdb_writebatch_wi_create(size_t reserved_bytes, unsigned char overwrite_keys) try {
  return new Batch{
      new WriteBatchWithIndex(rocksdb::BytewiseComparator(), reserved_bytes, overwrite_keys != 0)};
} catch (...) {
  return nullptr;
}

// The index is made of the bytes as one is after a rollback.
Batch* rocksdb_writebatch_wi_create_from(const char* bytes, size_t size) try {
  if (size < hawthorn::rocks::kBatchHeaderBytes) return nullptr;
  auto batch = std::make_unique<WriteBatchWithIndex>();
  *batch->GetWriteBatch() = rocksdb::WriteBatch(std::string(bytes, size));
  batch->SetSavePoint();
  return batch->RollbackToSavePoint().ok() ? new Batch{batch.release()} : nullptr;
} catch (...) {
  return nullptr;
}

Batch* rocksdb_writebatch_wi_create_with_params(rocksdb_comparator_t* backup_index_comparator,
                                                size_t reserved_bytes, unsigned char overwrite_key,
                                                size_t max_bytes,
                                                size_t protection_bytes_per_key) try {
  return new Batch{new WriteBatchWithIndex(hawthorn::rocks::comparator_of(backup_index_comparator),
                                           reserved_bytes, overwrite_key != 0, max_bytes,
                                           protection_bytes_per_key)};
} catch (...) {
  return nullptr;
}

void rocksdb_writebatch_wi_destroy(Batch* batch) {
  if (batch != nullptr) delete batch->rep;
  delete batch;
}
void rocksdb_writebatch_wi_clear(Batch* batch) try {
  batch->rep->Clear();
  batch->short_of_memory = false;
} catch (...) {
  batch->short_of_memory = true;
}
int rocksdb_writebatch_wi_count(Batch* batch) try {
  return static_cast<int>(batch->rep->GetWriteBatch()->Count());
} catch (...) {
  return 0;
}

// ---- Writes; one that does not fit into the batch is left out, as in RocksDB

void rocksdb_writebatch_wi_put(Batch* batch, const char* key, size_t key_size, const char* value,
                               size_t value_size) try {
  static_cast<void>(batch->rep->Put(Slice(key, key_size), Slice(value, value_size)));
} catch (...) {
  batch->short_of_memory = true;
}

void rocksdb_writebatch_wi_put_cf(Batch* batch, Handle* column_family, const char* key,
                                  size_t key_size, const char* value, size_t value_size) try {
  static_cast<void>(
      batch->rep->Put(column_family->rep, Slice(key, key_size), Slice(value, value_size)));
} catch (...) {
  batch->short_of_memory = true;
}

void rocksdb_writebatch_wi_putv(Batch* batch, int key_count, const char* const* keys,
                                const size_t* key_sizes, int value_count, const char* const* values,
                                const size_t* value_sizes) try {
  static_cast<void>(batch->rep->Put(Parts(key_count, keys, key_sizes).parts,
                                    Parts(value_count, values, value_sizes).parts));
} catch (...) {
  batch->short_of_memory = true;
}

void rocksdb_writebatch_wi_putv_cf(Batch* batch, Handle* column_family, int key_count,
                                   const char* const* keys, const size_t* key_sizes,
                                   int value_count, const char* const* values,
                                   const size_t* value_sizes) try {
  static_cast<void>(batch->rep->Put(column_family->rep, Parts(key_count, keys, key_sizes).parts,
                                    Parts(value_count, values, value_sizes).parts));
} catch (...) {
  batch->short_of_memory = true;
}

void rocksdb_writebatch_wi_merge(Batch* batch, const char* key, size_t key_size, const char* value,
                                 size_t value_size) try {
  static_cast<void>(batch->rep->Merge(Slice(key, key_size), Slice(value, value_size)));
} catch (...) {
  batch->short_of_memory = true;
}

void rocksdb_writebatch_wi_merge_cf(Batch* batch, Handle* column_family, const char* key,
                                    size_t key_size, const char* value, size_t value_size) try {
  static_cast<void>(
      batch->rep->Merge(column_family->rep, Slice(key, key_size), Slice(value, value_size)));
} catch (...) {
  batch->short_of_memory = true;
}

void rocksdb_writebatch_wi_mergev(Batch* batch, int key_count, const char* const* keys,
                                  const size_t* key_sizes, int value_count,
                                  const char* const* values, const size_t* value_sizes) try {
  static_cast<void>(batch->rep->Merge(Parts(key_count, keys, key_sizes).parts,
                                      Parts(value_count, values, value_sizes).parts));
} catch (...) {
  batch->short_of_memory = true;
}

void rocksdb_writebatch_wi_mergev_cf(Batch* batch, Handle* column_family, int key_count,
                                     const char* const* keys, const size_t* key_sizes,
                                     int value_count, const char* const* values,
                                     const size_t* value_sizes) try {
  static_cast<void>(batch->rep->Merge(column_family->rep, Parts(key_count, keys, key_sizes).parts,
                                      Parts(value_count, values, value_sizes).parts));
} catch (...) {
  batch->short_of_memory = true;
}

void rocksdb_writebatch_wi_delete(Batch* batch, const char* key, size_t key_size) try {
  static_cast<void>(batch->rep->Delete(Slice(key, key_size)));
} catch (...) {
  batch->short_of_memory = true;
}

void rocksdb_writebatch_wi_delete_cf(Batch* batch, Handle* column_family, const char* key,
                                     size_t key_size) try {
  static_cast<void>(batch->rep->Delete(column_family->rep, Slice(key, key_size)));
} catch (...) {
  batch->short_of_memory = true;
}

void rocksdb_writebatch_wi_singledelete(Batch* batch, const char* key, size_t key_size) try {
  static_cast<void>(batch->rep->SingleDelete(Slice(key, key_size)));
} catch (...) {
  batch->short_of_memory = true;
}

void rocksdb_writebatch_wi_singledelete_cf(Batch* batch, Handle* column_family, const char* key,
                                           size_t key_size) try {
  static_cast<void>(batch->rep->SingleDelete(column_family->rep, Slice(key, key_size)));
} catch (...) {
  batch->short_of_memory = true;
}

void rocksdb_writebatch_wi_deletev(Batch* batch, int key_count, const char* const* keys,
                                   const size_t* key_sizes) try {
  static_cast<void>(batch->rep->Delete(Parts(key_count, keys, key_sizes).parts));
} catch (...) {
  batch->short_of_memory = true;
}

void rocksdb_writebatch_wi_deletev_cf(Batch* batch, Handle* column_family, int key_count,
                                      const char* const* keys, const size_t* key_sizes) try {
  static_cast<void>(
      batch->rep->Delete(column_family->rep, Parts(key_count, keys, key_sizes).parts));
} catch (...) {
  batch->short_of_memory = true;
}

// Ranges: batches with an index have none, in RocksDB neither, which leaves them out, too.
void rocksdb_writebatch_wi_delete_range(Batch*, const char*, size_t, const char*, size_t) {}
void rocksdb_writebatch_wi_delete_range_cf(Batch*, Handle*, const char*, size_t, const char*,
                                           size_t) {}
void rocksdb_writebatch_wi_delete_rangev(Batch*, int, const char* const*, const size_t*,
                                         const char* const*, const size_t*) {}
void rocksdb_writebatch_wi_delete_rangev_cf(Batch*, Handle*, int, const char* const*, const size_t*,
                                            const char* const*, const size_t*) {}

void rocksdb_writebatch_wi_put_log_data(Batch* batch, const char* blob, size_t size) try {
  static_cast<void>(batch->rep->PutLogData(Slice(blob, size)));
} catch (...) {
  batch->short_of_memory = true;
}

// ---- What is in it

void rocksdb_writebatch_wi_iterate(Batch* batch, void* state, hawthorn::rocks::ShowPut put,
                                   hawthorn::rocks::ShowDeleted deleted) try {
  Shower shower(state, put, deleted);
  static_cast<void>(batch->rep->GetWriteBatch()->Iterate(&shower));
} catch (...) {
  batch->short_of_memory = true;
}

const char* rocksdb_writebatch_wi_data(Batch* batch, size_t* size) try {
  const std::string& bytes = batch->rep->GetWriteBatch()->Data();
  *size = bytes.size();
  return bytes.data();
} catch (...) {
  return nullptr;
}

void rocksdb_writebatch_wi_set_save_point(Batch* batch) try {
  batch->rep->SetSavePoint();
} catch (...) {
  batch->short_of_memory = true;
}
void rocksdb_writebatch_wi_rollback_to_save_point(Batch* batch, char** errptr) try {
  if (hawthorn::rocks::incomplete(batch, errptr)) return;
  failed(errptr, batch->rep->RollbackToSavePoint());
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
}

char* rocksdb_writebatch_wi_get_from_batch(Batch* batch, const rocksdb_options_t* options,
                                           const char* key, size_t key_size, size_t* value_size,
                                           char** errptr) try {
  return get_from_batch(batch, nullptr, options, Slice(key, key_size), value_size, errptr);
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
  return nullptr;
}

char* rocksdb_writebatch_wi_get_from_batch_cf(Batch* batch, const rocksdb_options_t* options,
                                              Handle* column_family, const char* key,
                                              size_t key_size, size_t* value_size,
                                              char** errptr) try {
  return get_from_batch(batch, column_family->rep, options, Slice(key, key_size), value_size,
                        errptr);
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
  return nullptr;
}

// ---- It and a database

char* rocksdb_writebatch_wi_get_from_batch_and_db(Batch* batch, rocksdb_t* db,
                                                  const rocksdb_readoptions_t* options,
                                                  const char* key, size_t key_size,
                                                  size_t* value_size, char** errptr) try {
  return copy_of_read(value_size, errptr, [&](PinnableSlice* value) {
    return batch->rep->GetFromBatchAndDB(db->rep.get(), options->rep, Slice(key, key_size), value);
  });
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
  return nullptr;
}

rocksdb_pinnableslice_t* rocksdb_writebatch_wi_get_pinned_from_batch_and_db(
    Batch* batch, rocksdb_t* db, const rocksdb_readoptions_t* options, const char* key,
    size_t key_size, char** errptr) try {
  return pin_read(errptr, [&](PinnableSlice* value) {
    return batch->rep->GetFromBatchAndDB(db->rep.get(), options->rep, Slice(key, key_size), value);
  });
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
  return nullptr;
}

char* rocksdb_writebatch_wi_get_from_batch_and_db_cf(Batch* batch, rocksdb_t* db,
                                                     const rocksdb_readoptions_t* options,
                                                     Handle* column_family, const char* key,
                                                     size_t key_size, size_t* value_size,
                                                     char** errptr) try {
  return copy_of_read(value_size, errptr, [&](PinnableSlice* value) {
    return batch->rep->GetFromBatchAndDB(db->rep.get(), options->rep, column_family->rep,
                                         Slice(key, key_size), value);
  });
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
  return nullptr;
}

rocksdb_pinnableslice_t* rocksdb_writebatch_wi_get_pinned_from_batch_and_db_cf(
    Batch* batch, rocksdb_t* db, const rocksdb_readoptions_t* options, Handle* column_family,
    const char* key, size_t key_size, char** errptr) try {
  return pin_read(errptr, [&](PinnableSlice* value) {
    return batch->rep->GetFromBatchAndDB(db->rep.get(), options->rep, column_family->rep,
                                         Slice(key, key_size), value);
  });
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
  return nullptr;
}

void rocksdb_write_writebatch_wi(rocksdb_t* db, const rocksdb_writeoptions_t* options, Batch* batch,
                                 char** errptr) try {
  if (hawthorn::rocks::incomplete(batch, errptr)) return;
  failed(errptr, db->rep->Write(options->rep, batch->rep->GetWriteBatch()));
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
}

rocksdb_iterator_t* rocksdb_writebatch_wi_create_iterator_with_base(Batch* batch,
                                                                    rocksdb_iterator_t* base) try {
  return over_base(batch, base, nullptr, nullptr);
} catch (...) {
  return nullptr;
}

rocksdb_iterator_t* rocksdb_writebatch_wi_create_iterator_with_base_readopts(
    Batch* batch, rocksdb_iterator_t* base, const rocksdb_readoptions_t* options) try {
  return over_base(batch, base, nullptr, &options->rep);
} catch (...) {
  return nullptr;
}

rocksdb_iterator_t* rocksdb_writebatch_wi_create_iterator_with_base_cf(Batch* batch,
                                                                       rocksdb_iterator_t* base,
                                                                       Handle* column_family) try {
  return over_base(batch, base, column_family->rep, nullptr);
} catch (...) {
  return nullptr;
}

rocksdb_iterator_t* rocksdb_writebatch_wi_create_iterator_with_base_cf_readopts(
    Batch* batch, rocksdb_iterator_t* base, Handle* column_family,
    const rocksdb_readoptions_t* options) try {
  return over_base(batch, base, column_family->rep, &options->rep);
} catch (...) {
  return nullptr;
}

// ---- User timestamps, which there are none of

void rocksdb_writebatch_wi_update_timestamps(Batch*, const char*, size_t, void*,
                                             size_t (*)(void*, uint32_t), char** errptr) {
  refuse(errptr, __func__);
}

}  // extern "C"
