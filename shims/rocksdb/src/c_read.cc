// The C API of reads, iterators and snapshots.

#include <memory>
#include <string>

#include "shims/rocksdb/src/c_values.h"

namespace {

using hawthorn::rocks::copy_of;
using hawthorn::rocks::copy_of_read;
using hawthorn::rocks::copy_values;
using hawthorn::rocks::error_of;
using hawthorn::rocks::failed;
using hawthorn::rocks::families_of;
using hawthorn::rocks::found;
using hawthorn::rocks::pin_read;
using hawthorn::rocks::refuse;
using hawthorn::rocks::slices_of;
using Handle = rocksdb_column_family_handle_t;
using rocksdb::PinnableSlice;
using rocksdb::Slice;

char* get_copy(rocksdb_t* db, const rocksdb_readoptions_t* options,
               rocksdb::ColumnFamilyHandle* family, const Slice& key, size_t* value_size,
               char** errptr) {
  return copy_of_read(value_size, errptr, [&](PinnableSlice* value) {
    return db->rep->Get(options->rep, family, key, value);
  });
}

template <typename Pinned>
Pinned* get_pinned(rocksdb_t* db, const rocksdb_readoptions_t* options,
                   rocksdb::ColumnFamilyHandle* family, const Slice& key, char** errptr) {
  return pin_read<Pinned>(
      errptr, [&](PinnableSlice* value) { return db->rep->Get(options->rep, family, key, value); });
}

unsigned char get_into(rocksdb_t* db, const rocksdb_readoptions_t* options,
                       rocksdb::ColumnFamilyHandle* family, const Slice& key, char* buffer,
                       size_t buffer_size, size_t* value_size, unsigned char* is_there,
                       char** errptr) {
  PinnableSlice value;
  *value_size = 0;
  *is_there = found(db->rep->Get(options->rep, family, key, &value), errptr) ? 1 : 0;
  if (*is_there == 0) return 0;
  *value_size = value.size();
  if (value.size() > buffer_size) return 0;
  if (!value.empty()) std::memcpy(buffer, value.data(), value.size());
  return 1;
}

void multi_get(rocksdb_t* db, const rocksdb_readoptions_t* options,
               std::vector<rocksdb::ColumnFamilyHandle*> families, size_t count,
               const char* const* keys, const size_t* key_sizes, char** values, size_t* value_sizes,
               char** errors) {
  std::vector<PinnableSlice> read(count);
  std::vector<rocksdb::Status> statuses(count);
  db->rep->MultiGet(options->rep, count, families.data(), slices_of(keys, key_sizes, count).data(),
                    read.data(), statuses.data());
  copy_values(statuses, read, values, value_sizes, errors);
}

void batched_multi_get(rocksdb_t* db, const rocksdb_readoptions_t* options, Handle* family,
                       const std::vector<Slice>& keys, rocksdb_pinnableslice_t** values,
                       char** errors, bool sorted) {
  std::vector<PinnableSlice> read(keys.size());
  std::vector<rocksdb::Status> statuses(keys.size());
  db->rep->MultiGet(options->rep, family->rep, keys.size(), keys.data(), read.data(),
                    statuses.data(), sorted);
  std::vector<std::unique_ptr<rocksdb_pinnableslice_t>> pinned(keys.size());
  for (size_t i = 0; i < keys.size(); ++i) {
    if (statuses[i].ok()) pinned[i].reset(new rocksdb_pinnableslice_t{std::move(read[i])});
  }
  for (size_t i = 0; i < keys.size(); ++i) {
    values[i] = pinned[i].release();
    errors[i] = error_of(statuses[i]);
  }
}

// As RocksDB does it, a key that is missing counts as found, with an empty value.
unsigned char key_may_exist(rocksdb_t* db, const rocksdb_readoptions_t* options,
                            rocksdb::ColumnFamilyHandle* family, const Slice& key, char** value,
                            size_t* value_size, size_t timestamp_size, unsigned char* value_found) {
  if (value_found != nullptr) *value_found = 0;
  // With a timestamp nothing is known of the key: it may be there.
  if (timestamp_size > 0) return 1;
  std::string found_value;
  bool is_there = false;
  const bool may = db->rep->KeyMayExist(options->rep, family, key, &found_value,
                                        value_found == nullptr ? nullptr : &is_there);
  if (value_found != nullptr && (is_there || !may)) {
    *value_found = 1;
    *value_size = found_value.size();
    *value = copy_of(found_value);
  }
  return may ? 1 : 0;
}

const char* shown(const Slice& slice, size_t* size) {
  *size = slice.size();
  return slice.data();
}

void refuse_all(const char* function, size_t count, char** values, size_t* value_sizes,
                char** timestamps, size_t* timestamp_sizes, char** errors) {
  for (size_t i = 0; i < count; ++i) {
    values[i] = timestamps[i] = errors[i] = nullptr;
    value_sizes[i] = timestamp_sizes[i] = 0;
    refuse(&errors[i], function);
  }
}

}  // namespace

extern "C" {

void rocksdb_free(void* pointer) { hawthorn::rocks::free_text(pointer); }

// ---- Single keys

char* rocksdb_get(rocksdb_t* db, const rocksdb_readoptions_t* options, const char* key,
                  size_t key_size, size_t* value_size, char** errptr) try {
  return get_copy(db, options, db->rep->DefaultColumnFamily(), Slice(key, key_size), value_size,
                  errptr);
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
  return nullptr;
}

char* rocksdb_get_cf(rocksdb_t* db, const rocksdb_readoptions_t* options, Handle* column_family,
                     const char* key, size_t key_size, size_t* value_size, char** errptr) try {
  return get_copy(db, options, column_family->rep, Slice(key, key_size), value_size, errptr);
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
  return nullptr;
}

rocksdb_pinnableslice_t* rocksdb_get_pinned(rocksdb_t* db, const rocksdb_readoptions_t* options,
                                            const char* key, size_t key_size, char** errptr) try {
  return get_pinned<rocksdb_pinnableslice_t>(db, options, db->rep->DefaultColumnFamily(),
                                             Slice(key, key_size), errptr);
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
  return nullptr;
}

rocksdb_pinnableslice_t* rocksdb_get_pinned_cf(rocksdb_t* db, const rocksdb_readoptions_t* options,
                                               Handle* column_family, const char* key,
                                               size_t key_size, char** errptr) try {
  return get_pinned<rocksdb_pinnableslice_t>(db, options, column_family->rep, Slice(key, key_size),
                                             errptr);
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
  return nullptr;
}

void rocksdb_pinnableslice_destroy(rocksdb_pinnableslice_t* value) { delete value; }

const char* rocksdb_pinnableslice_value(const rocksdb_pinnableslice_t* value,
                                        size_t* value_size) try {
  if (value != nullptr) return shown(value->rep, value_size);
  *value_size = 0;
  return nullptr;
} catch (...) {
  return nullptr;
}

rocksdb_pinnable_handle_t* rocksdb_get_pinned_v2(rocksdb_t* db,
                                                 const rocksdb_readoptions_t* options,
                                                 const char* key, size_t key_size,
                                                 char** errptr) try {
  return get_pinned<rocksdb_pinnable_handle_t>(db, options, db->rep->DefaultColumnFamily(),
                                               Slice(key, key_size), errptr);
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
  return nullptr;
}

rocksdb_pinnable_handle_t* rocksdb_get_pinned_cf_v2(rocksdb_t* db,
                                                    const rocksdb_readoptions_t* options,
                                                    Handle* column_family, const char* key,
                                                    size_t key_size, char** errptr) try {
  return get_pinned<rocksdb_pinnable_handle_t>(db, options, column_family->rep,
                                               Slice(key, key_size), errptr);
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
  return nullptr;
}

void rocksdb_pinnable_handle_destroy(rocksdb_pinnable_handle_t* handle) { delete handle; }

const char* rocksdb_pinnable_handle_get_value(const rocksdb_pinnable_handle_t* handle,
                                              size_t* value_size) try {
  if (handle != nullptr) return shown(handle->rep, value_size);
  *value_size = 0;
  return nullptr;
} catch (...) {
  return nullptr;
}

unsigned char rocksdb_get_into_buffer(rocksdb_t* db, const rocksdb_readoptions_t* options,
                                      const char* key, size_t key_size, char* buffer,
                                      size_t buffer_size, size_t* value_size,
                                      unsigned char* is_there, char** errptr) try {
  return get_into(db, options, db->rep->DefaultColumnFamily(), Slice(key, key_size), buffer,
                  buffer_size, value_size, is_there, errptr);
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
  return 0;
}

unsigned char rocksdb_get_into_buffer_cf(rocksdb_t* db, const rocksdb_readoptions_t* options,
                                         Handle* column_family, const char* key, size_t key_size,
                                         char* buffer, size_t buffer_size, size_t* value_size,
                                         unsigned char* is_there, char** errptr) try {
  return get_into(db, options, column_family->rep, Slice(key, key_size), buffer, buffer_size,
                  value_size, is_there, errptr);
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
  return 0;
}

unsigned char rocksdb_key_may_exist(rocksdb_t* db, const rocksdb_readoptions_t* options,
                                    const char* key, size_t key_size, char** value,
                                    size_t* value_size, const char*, size_t timestamp_size,
                                    unsigned char* value_found) try {
  return key_may_exist(db, options, db->rep->DefaultColumnFamily(), Slice(key, key_size), value,
                       value_size, timestamp_size, value_found);
} catch (...) {
  return 1;
}

unsigned char rocksdb_key_may_exist_cf(rocksdb_t* db, const rocksdb_readoptions_t* options,
                                       Handle* column_family, const char* key, size_t key_size,
                                       char** value, size_t* value_size, const char*,
                                       size_t timestamp_size, unsigned char* value_found) try {
  return key_may_exist(db, options, column_family->rep, Slice(key, key_size), value, value_size,
                       timestamp_size, value_found);
} catch (...) {
  return 1;
}

// ---- Several keys

void rocksdb_multi_get(rocksdb_t* db, const rocksdb_readoptions_t* options, size_t key_count,
                       const char* const* keys, const size_t* key_sizes, char** values,
                       size_t* value_sizes, char** errors) try {
  multi_get(db, options, {key_count, db->rep->DefaultColumnFamily()}, key_count, keys, key_sizes,
            values, value_sizes, errors);
} catch (...) {
  hawthorn::rocks::fail_all_by_exception(key_count, values, value_sizes, errors);
}

void rocksdb_multi_get_cf(rocksdb_t* db, const rocksdb_readoptions_t* options,
                          const Handle* const* column_families, size_t key_count,
                          const char* const* keys, const size_t* key_sizes, char** values,
                          size_t* value_sizes, char** errors) try {
  multi_get(db, options, families_of(column_families, key_count), key_count, keys, key_sizes,
            values, value_sizes, errors);
} catch (...) {
  hawthorn::rocks::fail_all_by_exception(key_count, values, value_sizes, errors);
}

void rocksdb_batched_multi_get_cf(rocksdb_t* db, const rocksdb_readoptions_t* options,
                                  Handle* column_family, size_t key_count, const char* const* keys,
                                  const size_t* key_sizes, rocksdb_pinnableslice_t** values,
                                  char** errors, const bool sorted_input) try {
  batched_multi_get(db, options, column_family, slices_of(keys, key_sizes, key_count), values,
                    errors, sorted_input);
} catch (...) {
  hawthorn::rocks::fail_all_by_exception(key_count, values, nullptr, errors);
}

void rocksdb_batched_multi_get_cf_slice(rocksdb_t* db, const rocksdb_readoptions_t* options,
                                        Handle* column_family, size_t key_count,
                                        const rocksdb_slice_t* keys,
                                        rocksdb_pinnableslice_t** values, char** errors,
                                        const bool sorted_input) try {
  std::vector<Slice> slices;
  for (size_t i = 0; i < key_count; ++i) slices.emplace_back(keys[i].data, keys[i].size);
  batched_multi_get(db, options, column_family, slices, values, errors, sorted_input);
} catch (...) {
  hawthorn::rocks::fail_all_by_exception(key_count, values, nullptr, errors);
}

// ---- Iterators and snapshots

rocksdb_iterator_t* rocksdb_create_iterator(rocksdb_t* db,
                                            const rocksdb_readoptions_t* options) try {
  return new rocksdb_iterator_t{
      std::unique_ptr<rocksdb::Iterator>(db->rep->NewIterator(options->rep))};
} catch (...) {
  return nullptr;
}

rocksdb_iterator_t* rocksdb_create_iterator_cf(rocksdb_t* db, const rocksdb_readoptions_t* options,
                                               Handle* column_family) try {
  return new rocksdb_iterator_t{
      std::unique_ptr<rocksdb::Iterator>(db->rep->NewIterator(options->rep, column_family->rep))};
} catch (...) {
  return nullptr;
}

void rocksdb_create_iterators(rocksdb_t* db, rocksdb_readoptions_t* options,
                              Handle** column_families, rocksdb_iterator_t** iterators, size_t size,
                              char** errptr) try {
  std::vector<std::unique_ptr<rocksdb_iterator_t>> holders(size);
  for (auto& holder : holders) holder = std::make_unique<rocksdb_iterator_t>(nullptr);
  std::vector<rocksdb::Iterator*> made;
  const auto families = families_of(column_families, size);
  if (failed(errptr, db->rep->NewIterators(options->rep, families, &made))) return;
  for (size_t i = 0; i < size; ++i) {
    holders[i]->rep.reset(made[i]);
    iterators[i] = holders[i].release();
  }
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
}

void rocksdb_iter_destroy(rocksdb_iterator_t* iterator) { delete iterator; }
unsigned char rocksdb_iter_valid(const rocksdb_iterator_t* iterator) try {
  return iterator->rep->Valid() ? 1 : 0;
} catch (...) {
  return 0;
}
void rocksdb_iter_seek_to_first(rocksdb_iterator_t* iterator) try {
  iterator->rep->SeekToFirst();
} catch (...) {
  iterator->lose();
}
void rocksdb_iter_seek_to_last(rocksdb_iterator_t* iterator) try {
  iterator->rep->SeekToLast();
} catch (...) {
  iterator->lose();
}
void rocksdb_iter_seek(rocksdb_iterator_t* iterator, const char* key, size_t key_size) try {
  iterator->rep->Seek(Slice(key, key_size));
} catch (...) {
  iterator->lose();
}
void rocksdb_iter_seek_for_prev(rocksdb_iterator_t* iterator, const char* key,
                                size_t key_size) try {
  iterator->rep->SeekForPrev(Slice(key, key_size));
} catch (...) {
  iterator->lose();
}
void rocksdb_iter_next(rocksdb_iterator_t* iterator) try { iterator->rep->Next(); } catch (...) {
  iterator->lose();
}
void rocksdb_iter_prev(rocksdb_iterator_t* iterator) try { iterator->rep->Prev(); } catch (...) {
  iterator->lose();
}

const char* rocksdb_iter_key(const rocksdb_iterator_t* iterator, size_t* key_size) try {
  return shown(iterator->rep->key(), key_size);
} catch (...) {
  return nullptr;
}
const char* rocksdb_iter_value(const rocksdb_iterator_t* iterator, size_t* value_size) try {
  return shown(iterator->rep->value(), value_size);
} catch (...) {
  return nullptr;
}
const char* rocksdb_iter_timestamp(const rocksdb_iterator_t*, size_t* timestamp_size) try {
  return shown(Slice(), timestamp_size);
} catch (...) {
  return nullptr;
}
rocksdb_slice_t rocksdb_iter_key_slice(const rocksdb_iterator_t* iterator) try {
  const Slice key = iterator->rep->key();
  return {key.data(), key.size()};
} catch (...) {
  return {"", 0};
}
rocksdb_slice_t rocksdb_iter_value_slice(const rocksdb_iterator_t* iterator) try {
  const Slice value = iterator->rep->value();
  return {value.data(), value.size()};
} catch (...) {
  return {"", 0};
}
rocksdb_slice_t rocksdb_iter_timestamp_slice(const rocksdb_iterator_t*) { return {"", 0}; }

void rocksdb_iter_get_error(const rocksdb_iterator_t* iterator, char** errptr) try {
  failed(errptr, iterator->rep->status());
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
}
void rocksdb_iter_refresh(const rocksdb_iterator_t* iterator, char** errptr) try {
  failed(errptr, iterator->rep->Refresh());
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
}

const rocksdb_snapshot_t* rocksdb_create_snapshot(rocksdb_t* db) try {
  return new rocksdb_snapshot_t{db->rep->GetSnapshot()};
} catch (...) {
  return nullptr;
}
void rocksdb_release_snapshot(rocksdb_t* db, const rocksdb_snapshot_t* snapshot) try {
  db->rep->ReleaseSnapshot(snapshot->rep);
  delete snapshot;
} catch (...) {
  return;
}
uint64_t rocksdb_snapshot_get_sequence_number(const rocksdb_snapshot_t* snapshot) try {
  return snapshot->rep == nullptr ? 0 : snapshot->rep->GetSequenceNumber();
} catch (...) {
  return 0;
}

// ---- User timestamps, which there are none of

char* rocksdb_get_with_ts(rocksdb_t*, const rocksdb_readoptions_t*, const char*, size_t,
                          size_t* value_size, char** timestamp, size_t* timestamp_size,
                          char** errptr) {
  *value_size = *timestamp_size = 0;
  *timestamp = nullptr;
  refuse(errptr, __func__);
  return nullptr;
}

char* rocksdb_get_cf_with_ts(rocksdb_t*, const rocksdb_readoptions_t*, Handle*, const char*, size_t,
                             size_t* value_size, char** timestamp, size_t* timestamp_size,
                             char** errptr) {
  *value_size = *timestamp_size = 0;
  *timestamp = nullptr;
  refuse(errptr, __func__);
  return nullptr;
}

void rocksdb_multi_get_with_ts(rocksdb_t*, const rocksdb_readoptions_t*, size_t key_count,
                               const char* const*, const size_t*, char** values,
                               size_t* value_sizes, char** timestamps, size_t* timestamp_sizes,
                               char** errors) try {
  refuse_all(__func__, key_count, values, value_sizes, timestamps, timestamp_sizes, errors);
} catch (...) {
  hawthorn::rocks::fail_all_by_exception(key_count, values, value_sizes, errors);
}

void rocksdb_multi_get_cf_with_ts(rocksdb_t*, const rocksdb_readoptions_t*, const Handle* const*,
                                  size_t key_count, const char* const*, const size_t*,
                                  char** values, size_t* value_sizes, char** timestamps,
                                  size_t* timestamp_sizes, char** errors) try {
  refuse_all(__func__, key_count, values, value_sizes, timestamps, timestamp_sizes, errors);
} catch (...) {
  hawthorn::rocks::fail_all_by_exception(key_count, values, value_sizes, errors);
}

}  // extern "C"
