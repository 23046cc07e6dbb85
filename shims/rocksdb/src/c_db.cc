// The C API of databases and column families.

#include <memory>
#include <string>

#include "shims/rocksdb/src/c_types.h"

namespace {

using hawthorn::rocks::copy_of;
using hawthorn::rocks::descriptors_of;
using hawthorn::rocks::failed;
using hawthorn::rocks::incomplete;
using hawthorn::rocks::NewHandles;
using hawthorn::rocks::refuse;
using Handle = rocksdb_column_family_handle_t;
using rocksdb::Slice;

// A bound that may be missing.
struct Bound {
  Bound(const char* bytes, size_t size) : slice(bytes, size), there(bytes != nullptr) {}
  const Slice* get() const { return there ? &slice : nullptr; }
  Slice slice;
  bool there;
};

void approximate_sizes(rocksdb_t* db, rocksdb::ColumnFamilyHandle* family, int count,
                       const char* const* begins, const size_t* begin_sizes,
                       const char* const* ends, const size_t* end_sizes, uint8_t flags,
                       uint64_t* sizes, char** errptr) {
  std::vector<rocksdb::Range> ranges;
  for (int i = 0; i < count; ++i) {
    ranges.emplace_back(Slice(begins[i], begin_sizes[i]), Slice(ends[i], end_sizes[i]));
  }
  failed(errptr,
         db->rep->GetApproximateSizes(family, ranges.data(), count, sizes,
                                      static_cast<rocksdb::DB::SizeApproximationFlags>(flags)));
}

char* property(rocksdb_t* db, rocksdb::ColumnFamilyHandle* family, const char* name) {
  std::string value;
  return db->rep->GetProperty(family, name, &value) ? hawthorn::rocks::copy_of_words(value.c_str())
                                                    : nullptr;
}

}  // namespace

extern "C" {

// ---- Opening

rocksdb_t* rocksdb_open(const rocksdb_options_t* options, const char* name, char** errptr) try {
  if (incomplete(options, errptr)) return nullptr;
  auto db = std::make_unique<rocksdb_t>();
  const bool bad = failed(errptr, rocksdb::DB::Open(options->rep, name, &db->rep));
  return bad ? nullptr : db.release();
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
  return nullptr;
}

rocksdb_t* rocksdb_open_for_read_only(const rocksdb_options_t* options, const char* name,
                                      unsigned char error_if_wal_file_exists, char** errptr) try {
  if (incomplete(options, errptr)) return nullptr;
  auto db = std::make_unique<rocksdb_t>();
  const bool bad = failed(errptr, rocksdb::DB::OpenForReadOnly(options->rep, name, &db->rep,
                                                               error_if_wal_file_exists != 0));
  return bad ? nullptr : db.release();
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
  return nullptr;
}

rocksdb_t* rocksdb_open_column_families(const rocksdb_options_t* options, const char* name,
                                        int family_count, const char* const* names,
                                        const rocksdb_options_t* const* family_options,
                                        Handle** handles, char** errptr) try {
  if (incomplete(options, family_count, family_options, errptr)) return nullptr;
  auto db = std::make_unique<rocksdb_t>();
  NewHandles made(static_cast<size_t>(family_count));
  std::vector<rocksdb::ColumnFamilyHandle*> families;
  const rocksdb::Status status =
      rocksdb::DB::Open(rocksdb::DBOptions(options->rep), name,
                        descriptors_of(family_count, names, family_options), &families, &db->rep);
  if (failed(errptr, status)) return nullptr;
  made.hand_out(families, handles);
  return db.release();
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
  return nullptr;
}

rocksdb_t* rocksdb_open_for_read_only_column_families(
    const rocksdb_options_t* options, const char* name, int family_count, const char* const* names,
    const rocksdb_options_t* const* family_options, Handle** handles,
    unsigned char error_if_wal_file_exists, char** errptr) try {
  if (incomplete(options, family_count, family_options, errptr)) return nullptr;
  auto db = std::make_unique<rocksdb_t>();
  NewHandles made(static_cast<size_t>(family_count));
  std::vector<rocksdb::ColumnFamilyHandle*> families;
  const rocksdb::Status status = rocksdb::DB::OpenForReadOnly(
      rocksdb::DBOptions(options->rep), name, descriptors_of(family_count, names, family_options),
      &families, &db->rep, error_if_wal_file_exists != 0);
  if (failed(errptr, status)) return nullptr;
  made.hand_out(families, handles);
  return db.release();
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
  return nullptr;
}

void rocksdb_close(rocksdb_t* db) { delete db; }

void rocksdb_destroy_db(const rocksdb_options_t* options, const char* name, char** errptr) try {
  failed(errptr, rocksdb::DestroyDB(name, options->rep));
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
}

// ---- Column families

char** rocksdb_list_column_families(const rocksdb_options_t* options, const char* name,
                                    size_t* count, char** errptr) try {
  std::vector<std::string> names;
  *count = 0;
  if (failed(errptr, rocksdb::DB::ListColumnFamilies(options->rep, name, &names))) return nullptr;
  auto** const list = static_cast<char**>(std::calloc(names.size() + 1, sizeof(char*)));
  bool all = list != nullptr;
  for (size_t i = 0; all && i < names.size(); ++i) {
    list[i] = strdup(names[i].c_str());
    all = list[i] != nullptr;
  }
  if (all) {
    *count = names.size();
    return list;
  }
  if (list != nullptr) rocksdb_list_column_families_destroy(list, names.size());
  throw std::bad_alloc();
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
  return nullptr;
}

void rocksdb_list_column_families_destroy(char** list, size_t size) {
  for (size_t i = 0; i < size; ++i) std::free(list[i]);
  std::free(list);
}

Handle* rocksdb_create_column_family(rocksdb_t* db, const rocksdb_options_t* family_options,
                                     const char* name, char** errptr) try {
  if (incomplete(family_options, errptr)) return nullptr;
  auto handle = std::make_unique<Handle>();
  const bool bad =
      failed(errptr, db->rep->CreateColumnFamily(family_options->rep, name, &handle->rep));
  return bad ? nullptr : handle.release();
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
  return nullptr;
}

Handle** rocksdb_create_column_families(rocksdb_t* db, const rocksdb_options_t* family_options,
                                        int family_count, const char* const* names, size_t* count,
                                        char** errptr) try {
  *count = 0;
  if (incomplete(family_options, errptr)) return nullptr;
  NewHandles made(static_cast<size_t>(family_count));
  auto** const list = static_cast<Handle**>(
      hawthorn::rocks::allocate((static_cast<size_t>(family_count) + 1) * sizeof(Handle*)));
  std::vector<rocksdb::ColumnFamilyHandle*> families;
  // Where one cannot be made, those before it have been, and are handed out.
  try {
    failed(errptr, db->rep->CreateColumnFamilies(
                       family_options->rep, std::vector<std::string>(names, names + family_count),
                       &families));
  } catch (...) {
    hawthorn::rocks::fail_by_exception(errptr);
  }
  *count = families.size();
  made.hand_out(families, list);
  return list;
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
  return nullptr;
}

void rocksdb_create_column_families_destroy(Handle** list) { std::free(list); }

void rocksdb_drop_column_family(rocksdb_t* db, Handle* column_family, char** errptr) try {
  failed(errptr, db->rep->DropColumnFamily(column_family->rep));
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
}

Handle* rocksdb_get_default_column_family_handle(rocksdb_t* db) try {
  return new Handle{db->rep->DefaultColumnFamily(), false};
} catch (...) {
  return nullptr;
}

void rocksdb_column_family_handle_destroy(Handle* column_family) { delete column_family; }

uint32_t rocksdb_column_family_handle_get_id(Handle* column_family) try {
  return column_family->rep->GetID();
} catch (...) {
  return 0;
}

char* rocksdb_column_family_handle_get_name(Handle* column_family, size_t* name_size) try {
  const std::string& name = column_family->rep->GetName();
  *name_size = name.size();
  return copy_of(name);
} catch (...) {
  return nullptr;
}

// ---- Writes

void rocksdb_put(rocksdb_t* db, const rocksdb_writeoptions_t* options, const char* key,
                 size_t key_size, const char* value, size_t value_size, char** errptr) try {
  failed(errptr, db->rep->Put(options->rep, Slice(key, key_size), Slice(value, value_size)));
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
}

void rocksdb_put_cf(rocksdb_t* db, const rocksdb_writeoptions_t* options, Handle* column_family,
                    const char* key, size_t key_size, const char* value, size_t value_size,
                    char** errptr) try {
  failed(errptr, db->rep->Put(options->rep, column_family->rep, Slice(key, key_size),
                              Slice(value, value_size)));
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
}

void rocksdb_delete(rocksdb_t* db, const rocksdb_writeoptions_t* options, const char* key,
                    size_t key_size, char** errptr) try {
  failed(errptr, db->rep->Delete(options->rep, Slice(key, key_size)));
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
}

void rocksdb_delete_cf(rocksdb_t* db, const rocksdb_writeoptions_t* options, Handle* column_family,
                       const char* key, size_t key_size, char** errptr) try {
  failed(errptr, db->rep->Delete(options->rep, column_family->rep, Slice(key, key_size)));
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
}

void rocksdb_singledelete(rocksdb_t* db, const rocksdb_writeoptions_t* options, const char* key,
                          size_t key_size, char** errptr) try {
  failed(errptr, db->rep->SingleDelete(options->rep, Slice(key, key_size)));
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
}

void rocksdb_singledelete_cf(rocksdb_t* db, const rocksdb_writeoptions_t* options,
                             Handle* column_family, const char* key, size_t key_size,
                             char** errptr) try {
  failed(errptr, db->rep->SingleDelete(options->rep, column_family->rep, Slice(key, key_size)));
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
}

void rocksdb_delete_range_cf(rocksdb_t* db, const rocksdb_writeoptions_t* options,
                             Handle* column_family, const char* begin, size_t begin_size,
                             const char* end, size_t end_size, char** errptr) try {
  failed(errptr, db->rep->DeleteRange(options->rep, column_family->rep, Slice(begin, begin_size),
                                      Slice(end, end_size)));
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
}

void rocksdb_merge(rocksdb_t* db, const rocksdb_writeoptions_t* options, const char* key,
                   size_t key_size, const char* value, size_t value_size, char** errptr) try {
  failed(errptr, db->rep->Merge(options->rep, Slice(key, key_size), Slice(value, value_size)));
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
}

void rocksdb_merge_cf(rocksdb_t* db, const rocksdb_writeoptions_t* options, Handle* column_family,
                      const char* key, size_t key_size, const char* value, size_t value_size,
                      char** errptr) try {
  failed(errptr, db->rep->Merge(options->rep, column_family->rep, Slice(key, key_size),
                                Slice(value, value_size)));
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
}

void rocksdb_write(rocksdb_t* db, const rocksdb_writeoptions_t* options,
                   rocksdb_writebatch_t* batch, char** errptr) try {
  if (incomplete(batch, errptr)) return;
  failed(errptr, db->rep->Write(options->rep, &batch->rep));
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
}

// ---- Figures and care

char* rocksdb_get_db_identity(rocksdb_t* db, size_t* id_size) try {
  std::string identity;
  *id_size = 0;
  if (!db->rep->GetDbIdentity(identity).ok()) return nullptr;
  *id_size = identity.size();
  return copy_of(identity);
} catch (...) {
  return nullptr;
}

uint64_t rocksdb_get_latest_sequence_number(rocksdb_t* db) try {
  return db->rep->GetLatestSequenceNumber();
} catch (...) {
  return 0;
}

char* rocksdb_property_value(rocksdb_t* db, const char* name) try {
  return property(db, db->rep->DefaultColumnFamily(), name);
} catch (...) {
  return nullptr;
}

char* rocksdb_property_value_cf(rocksdb_t* db, Handle* column_family, const char* name) try {
  return property(db, column_family->rep, name);
} catch (...) {
  return nullptr;
}

// 0 where there is such a property, else -1.
int rocksdb_property_int(rocksdb_t* db, const char* name, uint64_t* value) try {
  return db->rep->GetIntProperty(name, value) ? 0 : -1;
} catch (...) {
  return -1;
}

int rocksdb_property_int_cf(rocksdb_t* db, Handle* column_family, const char* name,
                            uint64_t* value) try {
  return db->rep->GetIntProperty(column_family->rep, name, value) ? 0 : -1;
} catch (...) {
  return -1;
}

void rocksdb_approximate_sizes(rocksdb_t* db, int range_count, const char* const* begins,
                               const size_t* begin_sizes, const char* const* ends,
                               const size_t* end_sizes, uint64_t* sizes, char** errptr) try {
  approximate_sizes(db, db->rep->DefaultColumnFamily(), range_count, begins, begin_sizes, ends,
                    end_sizes, rocksdb_size_approximation_flags_include_files, sizes, errptr);
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
}

void rocksdb_approximate_sizes_cf(rocksdb_t* db, Handle* column_family, int range_count,
                                  const char* const* begins, const size_t* begin_sizes,
                                  const char* const* ends, const size_t* end_sizes, uint64_t* sizes,
                                  char** errptr) try {
  approximate_sizes(db, column_family->rep, range_count, begins, begin_sizes, ends, end_sizes,
                    rocksdb_size_approximation_flags_include_files, sizes, errptr);
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
}

void rocksdb_approximate_sizes_cf_with_flags(rocksdb_t* db, Handle* column_family, int range_count,
                                             const char* const* begins, const size_t* begin_sizes,
                                             const char* const* ends, const size_t* end_sizes,
                                             uint8_t flags, uint64_t* sizes, char** errptr) try {
  approximate_sizes(db, column_family->rep, range_count, begins, begin_sizes, ends, end_sizes,
                    flags, sizes, errptr);
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
}

// What becomes of a compaction is not told, as in RocksDB.
void rocksdb_compact_range(rocksdb_t* db, const char* begin, size_t begin_size, const char* end,
                           size_t end_size) try {
  const Bound from(begin, begin_size);
  const Bound to(end, end_size);
  static_cast<void>(db->rep->CompactRange({}, from.get(), to.get()));
} catch (...) {
  return;
}

void rocksdb_compact_range_cf(rocksdb_t* db, Handle* column_family, const char* begin,
                              size_t begin_size, const char* end, size_t end_size) try {
  const Bound from(begin, begin_size);
  const Bound to(end, end_size);
  static_cast<void>(db->rep->CompactRange({}, column_family->rep, from.get(), to.get()));
} catch (...) {
  return;
}

void rocksdb_compact_range_opt(rocksdb_t* db, rocksdb_compactoptions_t* options, const char* begin,
                               size_t begin_size, const char* end, size_t end_size) try {
  const Bound from(begin, begin_size);
  const Bound to(end, end_size);
  static_cast<void>(db->rep->CompactRange(options->rep, from.get(), to.get()));
} catch (...) {
  return;
}

void rocksdb_compact_range_cf_opt(rocksdb_t* db, Handle* column_family,
                                  rocksdb_compactoptions_t* options, const char* begin,
                                  size_t begin_size, const char* end, size_t end_size) try {
  const Bound from(begin, begin_size);
  const Bound to(end, end_size);
  static_cast<void>(db->rep->CompactRange(options->rep, column_family->rep, from.get(), to.get()));
} catch (...) {
  return;
}

void rocksdb_suggest_compact_range(rocksdb_t* db, const char* begin, size_t begin_size,
                                   const char* end, size_t end_size, char** errptr) try {
  const Bound from(begin, begin_size);
  const Bound to(end, end_size);
  failed(errptr,
         db->rep->SuggestCompactRange(db->rep->DefaultColumnFamily(), from.get(), to.get()));
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
}

void rocksdb_suggest_compact_range_cf(rocksdb_t* db, Handle* column_family, const char* begin,
                                      size_t begin_size, const char* end, size_t end_size,
                                      char** errptr) try {
  const Bound from(begin, begin_size);
  const Bound to(end, end_size);
  failed(errptr, db->rep->SuggestCompactRange(column_family->rep, from.get(), to.get()));
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
}

void rocksdb_flush(rocksdb_t* db, const rocksdb_flushoptions_t* options, char** errptr) try {
  failed(errptr, db->rep->Flush(options->rep));
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
}

void rocksdb_flush_cf(rocksdb_t* db, const rocksdb_flushoptions_t* options, Handle* column_family,
                      char** errptr) try {
  failed(errptr, db->rep->Flush(options->rep, column_family->rep));
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
}

void rocksdb_flush_cfs(rocksdb_t* db, const rocksdb_flushoptions_t* options, Handle** column_family,
                       int family_count, char** errptr) try {
  std::vector<rocksdb::ColumnFamilyHandle*> families;
  for (int i = 0; i < family_count; ++i) families.push_back(column_family[i]->rep);
  failed(errptr, db->rep->Flush(options->rep, families));
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
}

void rocksdb_flush_wal(rocksdb_t* db, unsigned char sync, char** errptr) try {
  failed(errptr, db->rep->FlushWAL(sync != 0));
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
}

void rocksdb_wait_for_compact(rocksdb_t* db, rocksdb_wait_for_compact_options_t* options,
                              char** errptr) try {
  failed(errptr, db->rep->WaitForCompact(options->rep));
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
}

void rocksdb_cancel_all_background_work(rocksdb_t*, unsigned char) {}
void rocksdb_disable_manual_compaction(rocksdb_t* db) try {
  db->rep->DisableManualCompaction();
} catch (...) {
  return;
}
void rocksdb_enable_manual_compaction(rocksdb_t* db) try {
  db->rep->EnableManualCompaction();
} catch (...) {
  return;
}

void rocksdb_set_options(rocksdb_t* db, int count, const char* const keys[],
                         const char* const values[], char** errptr) try {
  rocksdb_column_family_handle_t family{db->rep->DefaultColumnFamily(), false};
  rocksdb_set_options_cf(db, &family, count, keys, values, errptr);
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
}

void rocksdb_set_options_cf(rocksdb_t* db, Handle* column_family, int count,
                            const char* const keys[], const char* const values[],
                            char** errptr) try {
  std::unordered_map<std::string, std::string> changes;
  for (int i = 0; i < count; ++i) changes[keys[i]] = values[i];
  failed(errptr, db->rep->SetOptions(column_family->rep, changes));
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
}

// ---- User timestamps, which there are none of

void rocksdb_put_with_ts(rocksdb_t*, const rocksdb_writeoptions_t*, const char*, size_t,
                         const char*, size_t, const char*, size_t, char** errptr) {
  refuse(errptr, __func__);
}
void rocksdb_put_cf_with_ts(rocksdb_t*, const rocksdb_writeoptions_t*, Handle*, const char*, size_t,
                            const char*, size_t, const char*, size_t, char** errptr) {
  refuse(errptr, __func__);
}
void rocksdb_delete_with_ts(rocksdb_t*, const rocksdb_writeoptions_t*, const char*, size_t,
                            const char*, size_t, char** errptr) {
  refuse(errptr, __func__);
}
void rocksdb_delete_cf_with_ts(rocksdb_t*, const rocksdb_writeoptions_t*, Handle*, const char*,
                               size_t, const char*, size_t, char** errptr) {
  refuse(errptr, __func__);
}
void rocksdb_singledelete_with_ts(rocksdb_t*, const rocksdb_writeoptions_t*, const char*, size_t,
                                  const char*, size_t, char** errptr) {
  refuse(errptr, __func__);
}
void rocksdb_singledelete_cf_with_ts(rocksdb_t*, const rocksdb_writeoptions_t*, Handle*,
                                     const char*, size_t, const char*, size_t, char** errptr) {
  refuse(errptr, __func__);
}
void rocksdb_increase_full_history_ts_low(rocksdb_t*, Handle*, const char*, size_t, char** errptr) {
  refuse(errptr, __func__);
}
char* rocksdb_get_full_history_ts_low(rocksdb_t*, Handle*, size_t* timestamp_size, char** errptr) {
  *timestamp_size = 0;
  refuse(errptr, __func__);
  return nullptr;
}

}  // extern "C"
