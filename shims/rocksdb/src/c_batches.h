#pragma once
// What the C API's two kinds of write batches have in common.
//
// Not here: their functions. Used by c_batch.cc and c_indexed_batch.cc. Threads: one per batch.

#include "shims/rocksdb/src/c_types.h"

namespace hawthorn::rocks {

// Several pieces of bytes that are one key or value.
struct Parts {
  Parts(int count, const char* const* bytes, const size_t* sizes)
      : slices(slices_of(bytes, sizes, static_cast<size_t>(count))), parts(slices.data(), count) {}
  std::vector<rocksdb::Slice> slices;
  rocksdb::SliceParts parts;
};

using ShowPut = void (*)(void* state, const char* key, size_t key_size, const char* value,
                         size_t value_size);
using ShowDeleted = void (*)(void* state, const char* key, size_t key_size);

// Shows puts and deletes of the default family.
struct Shower final : rocksdb::WriteBatch::Handler {
  Shower(void* to, ShowPut put_of, ShowDeleted deleted_of)
      : state(to), put(put_of), deleted(deleted_of) {}
  void Put(const rocksdb::Slice& key, const rocksdb::Slice& value) override {
    put(state, key.data(), key.size(), value.data(), value.size());
  }
  void Delete(const rocksdb::Slice& key) override { deleted(state, key.data(), key.size()); }
  void* state;
  ShowPut put;
  ShowDeleted deleted;
};

}  // namespace hawthorn::rocks
