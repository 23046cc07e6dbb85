#pragma once
// What stands behind the C API's pointers of transactions, and of write batches with an index.
//
// Used by c_indexed_batch.cc and c_transaction*.cc. Threads: as the C++ objects.
//
// 1. What a transaction hands out as its batch or its snapshot goes to rocksdb_free, as in RocksDB:
//    it is from malloc, and owns nothing.

#include <memory>
#include <new>
#include <type_traits>

#include "rocksdb/utilities/optimistic_transaction_db.h"
#include "rocksdb/utilities/transaction.h"
#include "rocksdb/utilities/transaction_db.h"
#include "rocksdb/utilities/write_batch_with_index.h"
#include "shims/rocksdb/src/c_types.h"

// Owned by the pointer, but by those of transactions.
struct rocksdb_writebatch_wi_t {
  rocksdb::WriteBatchWithIndex* rep;
  bool short_of_memory = false;  // a write that was to go into it is not there
};
struct rocksdb_transaction_t {
  std::unique_ptr<rocksdb::Transaction> rep;
  bool short_of_memory = false;  // a savepoint is not set
};
// `plain` owns it: for the functions that every database has.
struct rocksdb_transactiondb_t {
  void own(rocksdb::TransactionDB* db) {
    rep = db;
    plain.rep.reset(db);
  }
  rocksdb::TransactionDB* rep = nullptr;
  rocksdb_t plain;
};
struct rocksdb_optimistictransactiondb_t {
  void own(rocksdb::OptimisticTransactionDB* db) {
    rep = db;
    plain.rep.reset(db);
  }
  rocksdb::OptimisticTransactionDB* rep = nullptr;
  rocksdb_t plain;
};
struct rocksdb_transactiondb_options_t {
  rocksdb::TransactionDBOptions rep;
};
struct rocksdb_transaction_options_t {
  rocksdb::TransactionOptions rep;
};
struct rocksdb_optimistictransaction_options_t {
  rocksdb::OptimisticTransactionOptions rep;
};

namespace hawthorn::rocks {

// For rocksdb_free.
template <typename T>
T* freed_by_caller(T object) {
  static_assert(std::is_trivially_destructible_v<T>);
  return new (allocate(sizeof(T))) T(object);
}

}  // namespace hawthorn::rocks
