// The C API of databases with transactions: what every database does goes to its functions.

#include "shims/rocksdb/src/c_transactions.h"

namespace {

using hawthorn::rocks::descriptors_of;
using hawthorn::rocks::failed;
using hawthorn::rocks::incomplete;
using hawthorn::rocks::NewHandles;
using Handle = rocksdb_column_family_handle_t;
using Read = const rocksdb_readoptions_t*;
using Write = const rocksdb_writeoptions_t*;

// The database below, which is not owned: close_base_db.
rocksdb_t* base_of(rocksdb::StackableDB* db) {
  return new rocksdb_t{std::unique_ptr<rocksdb::DB>(db->GetBaseDB())};
}

void let_go(rocksdb_t* base) {
  if (base != nullptr) static_cast<void>(base->rep.release());
  delete base;
}

// `reuse` may be null.
template <typename Database, typename Options>
rocksdb_transaction_t* begin(Database* db, Write write_options, const Options* options,
                             rocksdb_transaction_t* reuse) {
  if (reuse == nullptr) {
    return new rocksdb_transaction_t{std::unique_ptr<rocksdb::Transaction>(
        db->rep->BeginTransaction(write_options->rep, options->rep))};
  }
  rocksdb::Transaction* const before = reuse->rep.release();
  try {
    reuse->rep.reset(db->rep->BeginTransaction(write_options->rep, options->rep, before));
  } catch (...) {
    reuse->rep.reset(before);
    throw;
  }
  reuse->short_of_memory = false;
  return reuse;
}

}  // namespace

extern "C" {

// ---- Databases that lock

rocksdb_transactiondb_t* rocksdb_transactiondb_open(
    const rocksdb_options_t* options, const rocksdb_transactiondb_options_t* db_options,
    const char* name, char** errptr) try {
  if (incomplete(options, errptr)) return nullptr;
  auto holder = std::make_unique<rocksdb_transactiondb_t>();
  rocksdb::TransactionDB* db = nullptr;
  if (failed(errptr, rocksdb::TransactionDB::Open(options->rep, db_options->rep, name, &db))) {
    return nullptr;
  }
  holder->own(db);
  return holder.release();
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
  return nullptr;
}

rocksdb_transactiondb_t* rocksdb_transactiondb_open_column_families(
    const rocksdb_options_t* options, const rocksdb_transactiondb_options_t* db_options,
    const char* name, int family_count, const char* const* names,
    const rocksdb_options_t* const* family_options, Handle** handles, char** errptr) try {
  if (incomplete(options, family_count, family_options, errptr)) return nullptr;
  auto holder = std::make_unique<rocksdb_transactiondb_t>();
  NewHandles made(static_cast<size_t>(family_count));
  rocksdb::TransactionDB* db = nullptr;
  std::vector<rocksdb::ColumnFamilyHandle*> families;
  if (failed(errptr, rocksdb::TransactionDB::Open(
                         rocksdb::DBOptions(options->rep), db_options->rep, name,
                         descriptors_of(family_count, names, family_options), &families, &db))) {
    return nullptr;
  }
  made.hand_out(families, handles);
  holder->own(db);
  return holder.release();
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
  return nullptr;
}

void rocksdb_transactiondb_close(rocksdb_transactiondb_t* db) { delete db; }
rocksdb_t* rocksdb_transactiondb_get_base_db(rocksdb_transactiondb_t* db) try {
  return base_of(db->rep);
} catch (...) {
  return nullptr;
}
void rocksdb_transactiondb_close_base_db(rocksdb_t* base_db) try { let_go(base_db); } catch (...) {
  return;
}

rocksdb_transaction_t* rocksdb_transaction_begin(
    rocksdb_transactiondb_t* db, Write write_options,
    const rocksdb_transaction_options_t* transaction_options, rocksdb_transaction_t* reuse) try {
  return begin(db, write_options, transaction_options, reuse);
} catch (...) {
  return nullptr;
}

rocksdb_transaction_t** rocksdb_transactiondb_get_prepared_transactions(rocksdb_transactiondb_t* db,
                                                                        size_t* count) try {
  std::vector<rocksdb::Transaction*> prepared;
  db->rep->GetAllPreparedTransactions(&prepared);
  *count = prepared.size();
  if (prepared.empty()) return nullptr;
  std::vector<std::unique_ptr<rocksdb_transaction_t>> made(prepared.size());
  for (auto& transaction : made) transaction = std::make_unique<rocksdb_transaction_t>();
  auto** const list = static_cast<rocksdb_transaction_t**>(
      hawthorn::rocks::allocate(prepared.size() * sizeof(rocksdb_transaction_t*)));
  for (size_t i = 0; i < prepared.size(); ++i) {
    made[i]->rep.reset(prepared[i]);
    list[i] = made[i].release();
  }
  return list;
} catch (...) {
  return nullptr;
}

Handle* rocksdb_transactiondb_create_column_family(rocksdb_transactiondb_t* db,
                                                   const rocksdb_options_t* family_options,
                                                   const char* name, char** errptr) {
  return rocksdb_create_column_family(&db->plain, family_options, name, errptr);
}

const rocksdb_snapshot_t* rocksdb_transactiondb_create_snapshot(rocksdb_transactiondb_t* db) {
  return rocksdb_create_snapshot(&db->plain);
}
void rocksdb_transactiondb_release_snapshot(rocksdb_transactiondb_t* db,
                                            const rocksdb_snapshot_t* snapshot) {
  rocksdb_release_snapshot(&db->plain, snapshot);
}

char* rocksdb_transactiondb_property_value(rocksdb_transactiondb_t* db, const char* name) {
  return rocksdb_property_value(&db->plain, name);
}
int rocksdb_transactiondb_property_int(rocksdb_transactiondb_t* db, const char* name,
                                       uint64_t* value) {
  return rocksdb_property_int(&db->plain, name, value);
}

char* rocksdb_transactiondb_get(rocksdb_transactiondb_t* db, Read options, const char* key,
                                size_t key_size, size_t* value_size, char** errptr) {
  return rocksdb_get(&db->plain, options, key, key_size, value_size, errptr);
}
rocksdb_pinnableslice_t* rocksdb_transactiondb_get_pinned(rocksdb_transactiondb_t* db, Read options,
                                                          const char* key, size_t key_size,
                                                          char** errptr) {
  return rocksdb_get_pinned(&db->plain, options, key, key_size, errptr);
}
char* rocksdb_transactiondb_get_cf(rocksdb_transactiondb_t* db, Read options, Handle* column_family,
                                   const char* key, size_t key_size, size_t* value_size,
                                   char** errptr) {
  return rocksdb_get_cf(&db->plain, options, column_family, key, key_size, value_size, errptr);
}
rocksdb_pinnableslice_t* rocksdb_transactiondb_get_pinned_cf(rocksdb_transactiondb_t* db,
                                                             Read options, Handle* column_family,
                                                             const char* key, size_t key_size,
                                                             char** errptr) {
  return rocksdb_get_pinned_cf(&db->plain, options, column_family, key, key_size, errptr);
}
void rocksdb_transactiondb_multi_get(rocksdb_transactiondb_t* db, Read options, size_t key_count,
                                     const char* const* keys, const size_t* key_sizes,
                                     char** values, size_t* value_sizes, char** errors) {
  rocksdb_multi_get(&db->plain, options, key_count, keys, key_sizes, values, value_sizes, errors);
}
void rocksdb_transactiondb_multi_get_cf(rocksdb_transactiondb_t* db, Read options,
                                        const Handle* const* column_families, size_t key_count,
                                        const char* const* keys, const size_t* key_sizes,
                                        char** values, size_t* value_sizes, char** errors) {
  rocksdb_multi_get_cf(&db->plain, options, column_families, key_count, keys, key_sizes, values,
                       value_sizes, errors);
}

rocksdb_iterator_t* rocksdb_transactiondb_create_iterator(rocksdb_transactiondb_t* db,
                                                          Read options) {
  return rocksdb_create_iterator(&db->plain, options);
}
rocksdb_iterator_t* rocksdb_transactiondb_create_iterator_cf(rocksdb_transactiondb_t* db,
                                                             Read options, Handle* column_family) {
  return rocksdb_create_iterator_cf(&db->plain, options, column_family);
}

void rocksdb_transactiondb_put(rocksdb_transactiondb_t* db, Write options, const char* key,
                               size_t key_size, const char* value, size_t value_size,
                               char** errptr) {
  rocksdb_put(&db->plain, options, key, key_size, value, value_size, errptr);
}
void rocksdb_transactiondb_put_cf(rocksdb_transactiondb_t* db, Write options, Handle* column_family,
                                  const char* key, size_t key_size, const char* value,
                                  size_t value_size, char** errptr) {
  rocksdb_put_cf(&db->plain, options, column_family, key, key_size, value, value_size, errptr);
}
void rocksdb_transactiondb_write(rocksdb_transactiondb_t* db, Write options,
                                 rocksdb_writebatch_t* batch, char** errptr) {
  rocksdb_write(&db->plain, options, batch, errptr);
}
void rocksdb_transactiondb_merge(rocksdb_transactiondb_t* db, Write options, const char* key,
                                 size_t key_size, const char* value, size_t value_size,
                                 char** errptr) {
  rocksdb_merge(&db->plain, options, key, key_size, value, value_size, errptr);
}
void rocksdb_transactiondb_merge_cf(rocksdb_transactiondb_t* db, Write options,
                                    Handle* column_family, const char* key, size_t key_size,
                                    const char* value, size_t value_size, char** errptr) {
  rocksdb_merge_cf(&db->plain, options, column_family, key, key_size, value, value_size, errptr);
}
void rocksdb_transactiondb_delete(rocksdb_transactiondb_t* db, Write options, const char* key,
                                  size_t key_size, char** errptr) {
  rocksdb_delete(&db->plain, options, key, key_size, errptr);
}
void rocksdb_transactiondb_delete_cf(rocksdb_transactiondb_t* db, Write options,
                                     Handle* column_family, const char* key, size_t key_size,
                                     char** errptr) {
  rocksdb_delete_cf(&db->plain, options, column_family, key, key_size, errptr);
}

void rocksdb_transactiondb_flush(rocksdb_transactiondb_t* db, const rocksdb_flushoptions_t* options,
                                 char** errptr) {
  rocksdb_flush(&db->plain, options, errptr);
}
void rocksdb_transactiondb_flush_cf(rocksdb_transactiondb_t* db,
                                    const rocksdb_flushoptions_t* options, Handle* column_family,
                                    char** errptr) {
  rocksdb_flush_cf(&db->plain, options, column_family, errptr);
}
void rocksdb_transactiondb_flush_cfs(rocksdb_transactiondb_t* db,
                                     const rocksdb_flushoptions_t* options,
                                     Handle** column_families, int family_count, char** errptr) {
  rocksdb_flush_cfs(&db->plain, options, column_families, family_count, errptr);
}
void rocksdb_transactiondb_flush_wal(rocksdb_transactiondb_t* db, unsigned char sync,
                                     char** errptr) {
  rocksdb_flush_wal(&db->plain, sync, errptr);
}
rocksdb_checkpoint_t* rocksdb_transactiondb_checkpoint_object_create(rocksdb_transactiondb_t* db,
                                                                     char** errptr) {
  return rocksdb_checkpoint_object_create(&db->plain, errptr);
}

rocksdb_transactiondb_options_t* rocksdb_transactiondb_options_create() try {
  return new rocksdb_transactiondb_options_t;
} catch (...) {
  return nullptr;
}
void rocksdb_transactiondb_options_destroy(rocksdb_transactiondb_options_t* options) {
  delete options;
}
void rocksdb_transactiondb_options_set_max_num_locks(rocksdb_transactiondb_options_t* options,
                                                     int64_t max_num_locks) {
  options->rep.max_num_locks = max_num_locks;
}
void rocksdb_transactiondb_options_set_num_stripes(rocksdb_transactiondb_options_t* options,
                                                   size_t num_stripes) {
  options->rep.num_stripes = num_stripes;
}
void rocksdb_transactiondb_options_set_transaction_lock_timeout(
    rocksdb_transactiondb_options_t* options, int64_t ms) {
  options->rep.transaction_lock_timeout = ms;
}
void rocksdb_transactiondb_options_set_default_lock_timeout(
    rocksdb_transactiondb_options_t* options, int64_t ms) {
  options->rep.default_lock_timeout = ms;
}

// ---- Databases that look for conflicts

rocksdb_optimistictransactiondb_t* rocksdb_optimistictransactiondb_open(
    const rocksdb_options_t* options, const char* name, char** errptr) try {
  if (incomplete(options, errptr)) return nullptr;
  auto holder = std::make_unique<rocksdb_optimistictransactiondb_t>();
  rocksdb::OptimisticTransactionDB* db = nullptr;
  if (failed(errptr, rocksdb::OptimisticTransactionDB::Open(options->rep, name, &db))) {
    return nullptr;
  }
  holder->own(db);
  return holder.release();
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
  return nullptr;
}

rocksdb_optimistictransactiondb_t* rocksdb_optimistictransactiondb_open_column_families(
    const rocksdb_options_t* options, const char* name, int family_count, const char* const* names,
    const rocksdb_options_t* const* family_options, Handle** handles, char** errptr) try {
  if (incomplete(options, family_count, family_options, errptr)) return nullptr;
  auto holder = std::make_unique<rocksdb_optimistictransactiondb_t>();
  NewHandles made(static_cast<size_t>(family_count));
  rocksdb::OptimisticTransactionDB* db = nullptr;
  std::vector<rocksdb::ColumnFamilyHandle*> families;
  if (failed(errptr, rocksdb::OptimisticTransactionDB::Open(
                         rocksdb::DBOptions(options->rep), name,
                         descriptors_of(family_count, names, family_options), &families, &db))) {
    return nullptr;
  }
  made.hand_out(families, handles);
  holder->own(db);
  return holder.release();
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
  return nullptr;
}

void rocksdb_optimistictransactiondb_close(rocksdb_optimistictransactiondb_t* db) { delete db; }
rocksdb_t* rocksdb_optimistictransactiondb_get_base_db(rocksdb_optimistictransactiondb_t* db) try {
  return base_of(db->rep);
} catch (...) {
  return nullptr;
}
void rocksdb_optimistictransactiondb_close_base_db(rocksdb_t* base_db) try {
  let_go(base_db);
} catch (...) {
  return;
}

rocksdb_transaction_t* rocksdb_optimistictransaction_begin(
    rocksdb_optimistictransactiondb_t* db, Write write_options,
    const rocksdb_optimistictransaction_options_t* transaction_options,
    rocksdb_transaction_t* reuse) try {
  return begin(db, write_options, transaction_options, reuse);
} catch (...) {
  return nullptr;
}

void rocksdb_optimistictransactiondb_write(rocksdb_optimistictransactiondb_t* db, Write options,
                                           rocksdb_writebatch_t* batch, char** errptr) {
  rocksdb_write(&db->plain, options, batch, errptr);
}
rocksdb_checkpoint_t* rocksdb_optimistictransactiondb_checkpoint_object_create(
    rocksdb_optimistictransactiondb_t* db, char** errptr) {
  return rocksdb_checkpoint_object_create(&db->plain, errptr);
}
char* rocksdb_optimistictransactiondb_property_value(rocksdb_optimistictransactiondb_t* db,
                                                     const char* name) {
  return rocksdb_property_value(&db->plain, name);
}
int rocksdb_optimistictransactiondb_property_int(rocksdb_optimistictransactiondb_t* db,
                                                 const char* name, uint64_t* value) {
  return rocksdb_property_int(&db->plain, name, value);
}

}  // extern "C"
