// The C API of write batches.

#include <string>

#include "shims/rocksdb/src/batch_format.h"
#include "shims/rocksdb/src/c_batches.h"

namespace {

using hawthorn::rocks::failed;
using hawthorn::rocks::Parts;
using hawthorn::rocks::refuse;
using hawthorn::rocks::ShowDeleted;
using hawthorn::rocks::Shower;
using hawthorn::rocks::ShowPut;
using Handle = rocksdb_column_family_handle_t;
using rocksdb::Slice;

using PutCf = void (*)(void* state, uint32_t family_id, const char* key, size_t key_size,
                       const char* value, size_t value_size);
using DeletedCf = void (*)(void* state, uint32_t family_id, const char* key, size_t key_size);

struct FamilyShower final : rocksdb::WriteBatch::Handler {
  FamilyShower(void* to, PutCf put_of, DeletedCf deleted_of, PutCf merge_of)
      : state(to), put(put_of), deleted(deleted_of), merge(merge_of) {}
  rocksdb::Status PutCF(uint32_t family, const Slice& key, const Slice& value) override {
    put(state, family, key.data(), key.size(), value.data(), value.size());
    return rocksdb::Status::OK();
  }
  rocksdb::Status DeleteCF(uint32_t family, const Slice& key) override {
    deleted(state, family, key.data(), key.size());
    return rocksdb::Status::OK();
  }
  rocksdb::Status MergeCF(uint32_t family, const Slice& key, const Slice& value) override {
    merge(state, family, key.data(), key.size(), value.data(), value.size());
    return rocksdb::Status::OK();
  }
  void* state;
  PutCf put;
  DeletedCf deleted;
  PutCf merge;
};

// A write that this library cannot do must not be left out in silence: with a mark of a prepared
// transaction, writing the batch gives NotSupported.
void refuse_batch(rocksdb_writebatch_t* batch) {
  const char mark = static_cast<char>(hawthorn::rocks::BatchTag::kBeginPrepare);
  batch->rep = rocksdb::WriteBatch(batch->rep.Data() + mark);
}

}  // namespace

extern "C" {

rocksdb_writebatch_t* rocksdb_writebatch_create() try {
  return new rocksdb_writebatch_t;
} catch (...) {
  return nullptr;
}

rocksdb_writebatch_t* rocksdb_writebatch_create_from(const char* bytes, size_t size) try {
  return new rocksdb_writebatch_t{rocksdb::WriteBatch(std::string(bytes, size))};
} catch (...) {
  return nullptr;
}

rocksdb_writebatch_t* rocksdb_writebatch_create_with_params(size_t reserved_bytes, size_t max_bytes,
                                                            size_t protection_bytes_per_key,
                                                            size_t default_cf_ts_sz) try {
  return new rocksdb_writebatch_t{
      rocksdb::WriteBatch(reserved_bytes, max_bytes, protection_bytes_per_key, default_cf_ts_sz)};
} catch (...) {
  return nullptr;
}

void rocksdb_writebatch_destroy(rocksdb_writebatch_t* batch) { delete batch; }
void rocksdb_writebatch_clear(rocksdb_writebatch_t* batch) try {
  batch->rep.Clear();
  batch->short_of_memory = false;
} catch (...) {
  batch->short_of_memory = true;
}
int rocksdb_writebatch_count(rocksdb_writebatch_t* batch) try {
  return static_cast<int>(batch->rep.Count());
} catch (...) {
  return 0;
}

// ---- Writes; one that does not fit into the batch is left out, as in RocksDB

void rocksdb_writebatch_put(rocksdb_writebatch_t* batch, const char* key, size_t key_size,
                            const char* value, size_t value_size) try {
  static_cast<void>(batch->rep.Put(Slice(key, key_size), Slice(value, value_size)));
} catch (...) {
  batch->short_of_memory = true;
}

void rocksdb_writebatch_put_cf(rocksdb_writebatch_t* batch, Handle* column_family, const char* key,
                               size_t key_size, const char* value, size_t value_size) try {
  static_cast<void>(
      batch->rep.Put(column_family->rep, Slice(key, key_size), Slice(value, value_size)));
} catch (...) {
  batch->short_of_memory = true;
}

void rocksdb_writebatch_putv(rocksdb_writebatch_t* batch, int key_count, const char* const* keys,
                             const size_t* key_sizes, int value_count, const char* const* values,
                             const size_t* value_sizes) try {
  static_cast<void>(batch->rep.Put(Parts(key_count, keys, key_sizes).parts,
                                   Parts(value_count, values, value_sizes).parts));
} catch (...) {
  batch->short_of_memory = true;
}

void rocksdb_writebatch_putv_cf(rocksdb_writebatch_t* batch, Handle* column_family, int key_count,
                                const char* const* keys, const size_t* key_sizes, int value_count,
                                const char* const* values, const size_t* value_sizes) try {
  static_cast<void>(batch->rep.Put(column_family->rep, Parts(key_count, keys, key_sizes).parts,
                                   Parts(value_count, values, value_sizes).parts));
} catch (...) {
  batch->short_of_memory = true;
}

void rocksdb_writebatch_merge(rocksdb_writebatch_t* batch, const char* key, size_t key_size,
                              const char* value, size_t value_size) try {
  static_cast<void>(batch->rep.Merge(Slice(key, key_size), Slice(value, value_size)));
} catch (...) {
  batch->short_of_memory = true;
}

void rocksdb_writebatch_merge_cf(rocksdb_writebatch_t* batch, Handle* column_family,
                                 const char* key, size_t key_size, const char* value,
                                 size_t value_size) try {
  static_cast<void>(
      batch->rep.Merge(column_family->rep, Slice(key, key_size), Slice(value, value_size)));
} catch (...) {
  batch->short_of_memory = true;
}

void rocksdb_writebatch_mergev(rocksdb_writebatch_t* batch, int key_count, const char* const* keys,
                               const size_t* key_sizes, int value_count, const char* const* values,
                               const size_t* value_sizes) try {
  static_cast<void>(batch->rep.Merge(Parts(key_count, keys, key_sizes).parts,
                                     Parts(value_count, values, value_sizes).parts));
} catch (...) {
  batch->short_of_memory = true;
}

void rocksdb_writebatch_mergev_cf(rocksdb_writebatch_t* batch, Handle* column_family, int key_count,
                                  const char* const* keys, const size_t* key_sizes, int value_count,
                                  const char* const* values, const size_t* value_sizes) try {
  static_cast<void>(batch->rep.Merge(column_family->rep, Parts(key_count, keys, key_sizes).parts,
                                     Parts(value_count, values, value_sizes).parts));
} catch (...) {
  batch->short_of_memory = true;
}

void rocksdb_writebatch_delete(rocksdb_writebatch_t* batch, const char* key, size_t key_size) try {
  static_cast<void>(batch->rep.Delete(Slice(key, key_size)));
} catch (...) {
  batch->short_of_memory = true;
}

void rocksdb_writebatch_delete_cf(rocksdb_writebatch_t* batch, Handle* column_family,
                                  const char* key, size_t key_size) try {
  static_cast<void>(batch->rep.Delete(column_family->rep, Slice(key, key_size)));
} catch (...) {
  batch->short_of_memory = true;
}

void rocksdb_writebatch_singledelete(rocksdb_writebatch_t* batch, const char* key,
                                     size_t key_size) try {
  static_cast<void>(batch->rep.SingleDelete(Slice(key, key_size)));
} catch (...) {
  batch->short_of_memory = true;
}

void rocksdb_writebatch_singledelete_cf(rocksdb_writebatch_t* batch, Handle* column_family,
                                        const char* key, size_t key_size) try {
  static_cast<void>(batch->rep.SingleDelete(column_family->rep, Slice(key, key_size)));
} catch (...) {
  batch->short_of_memory = true;
}

void rocksdb_writebatch_deletev(rocksdb_writebatch_t* batch, int key_count, const char* const* keys,
                                const size_t* key_sizes) try {
  static_cast<void>(batch->rep.Delete(Parts(key_count, keys, key_sizes).parts));
} catch (...) {
  batch->short_of_memory = true;
}

void rocksdb_writebatch_deletev_cf(rocksdb_writebatch_t* batch, Handle* column_family,
                                   int key_count, const char* const* keys,
                                   const size_t* key_sizes) try {
  static_cast<void>(batch->rep.Delete(column_family->rep, Parts(key_count, keys, key_sizes).parts));
} catch (...) {
  batch->short_of_memory = true;
}

void rocksdb_writebatch_delete_range(rocksdb_writebatch_t* batch, const char* begin,
                                     size_t begin_size, const char* end, size_t end_size) try {
  static_cast<void>(batch->rep.DeleteRange(Slice(begin, begin_size), Slice(end, end_size)));
} catch (...) {
  batch->short_of_memory = true;
}

void rocksdb_writebatch_delete_range_cf(rocksdb_writebatch_t* batch, Handle* column_family,
                                        const char* begin, size_t begin_size, const char* end,
                                        size_t end_size) try {
  static_cast<void>(
      batch->rep.DeleteRange(column_family->rep, Slice(begin, begin_size), Slice(end, end_size)));
} catch (...) {
  batch->short_of_memory = true;
}

void rocksdb_writebatch_delete_rangev(rocksdb_writebatch_t* batch, int key_count,
                                      const char* const* begins, const size_t* begin_sizes,
                                      const char* const* ends, const size_t* end_sizes) try {
  static_cast<void>(batch->rep.DeleteRange(Parts(key_count, begins, begin_sizes).parts,
                                           Parts(key_count, ends, end_sizes).parts));
} catch (...) {
  batch->short_of_memory = true;
}

void rocksdb_writebatch_delete_rangev_cf(rocksdb_writebatch_t* batch, Handle* column_family,
                                         int key_count, const char* const* begins,
                                         const size_t* begin_sizes, const char* const* ends,
                                         const size_t* end_sizes) try {
  static_cast<void>(batch->rep.DeleteRange(column_family->rep,
                                           Parts(key_count, begins, begin_sizes).parts,
                                           Parts(key_count, ends, end_sizes).parts));
} catch (...) {
  batch->short_of_memory = true;
}

void rocksdb_writebatch_put_log_data(rocksdb_writebatch_t* batch, const char* blob,
                                     size_t size) try {
  static_cast<void>(batch->rep.PutLogData(Slice(blob, size)));
} catch (...) {
  batch->short_of_memory = true;
}

// ---- What is in it

void rocksdb_writebatch_iterate(rocksdb_writebatch_t* batch, void* state, ShowPut put,
                                ShowDeleted deleted) try {
  Shower shower(state, put, deleted);
  static_cast<void>(batch->rep.Iterate(&shower));
} catch (...) {
  batch->short_of_memory = true;
}

void rocksdb_writebatch_iterate_cf(rocksdb_writebatch_t* batch, void* state, PutCf put,
                                   DeletedCf deleted, PutCf merge) try {
  FamilyShower shower(state, put, deleted, merge);
  static_cast<void>(batch->rep.Iterate(&shower));
} catch (...) {
  batch->short_of_memory = true;
}

const char* rocksdb_writebatch_data(rocksdb_writebatch_t* batch, size_t* size) try {
  *size = batch->rep.GetDataSize();
  return batch->rep.Data().data();
} catch (...) {
  return nullptr;
}

void rocksdb_writebatch_set_save_point(rocksdb_writebatch_t* batch) try {
  batch->rep.SetSavePoint();
} catch (...) {
  batch->short_of_memory = true;
}
void rocksdb_writebatch_rollback_to_save_point(rocksdb_writebatch_t* batch, char** errptr) try {
  if (hawthorn::rocks::incomplete(batch, errptr)) return;
  failed(errptr, batch->rep.RollbackToSavePoint());
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
}
void rocksdb_writebatch_pop_save_point(rocksdb_writebatch_t* batch, char** errptr) try {
  if (hawthorn::rocks::incomplete(batch, errptr)) return;
  failed(errptr, batch->rep.PopSavePoint());
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
}

// ---- User timestamps, which there are none of

void rocksdb_writebatch_put_cf_with_ts(rocksdb_writebatch_t* batch, Handle*, const char*, size_t,
                                       const char*, size_t, const char*, size_t) try {
  refuse_batch(batch);
} catch (...) {
  batch->short_of_memory = true;
}
void rocksdb_writebatch_delete_cf_with_ts(rocksdb_writebatch_t* batch, Handle*, const char*, size_t,
                                          const char*, size_t) try {
  refuse_batch(batch);
} catch (...) {
  batch->short_of_memory = true;
}
void rocksdb_writebatch_singledelete_cf_with_ts(rocksdb_writebatch_t* batch, Handle*, const char*,
                                                size_t, const char*, size_t) try {
  refuse_batch(batch);
} catch (...) {
  batch->short_of_memory = true;
}
void rocksdb_writebatch_update_timestamps(rocksdb_writebatch_t*, const char*, size_t, void*,
                                          size_t (*)(void*, uint32_t), char** errptr) {
  refuse(errptr, __func__);
}

}  // extern "C"
