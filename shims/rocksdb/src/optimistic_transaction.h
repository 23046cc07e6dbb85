#pragma once
// A transaction that looks for conflicts when it commits: it locks the rows of its keys then, asks
// of each whether it has changed since the moment from which it was tracked, and writes.
//
// Threads: one at a time.
//
// 1. The moment of a key is a snapshot that is held, so that the engine can tell. Beyond
//    kMomentsMax of them, later keys have the last one: more conflicts, none that is missed.

#include <memory>

#include "rocksdb/utilities/optimistic_transaction_db.h"
#include "shims/rocksdb/src/transaction_base.h"

namespace hawthorn::rocks {

class OptimisticTransaction final : public TransactionBase {
 public:
  OptimisticTransaction(DBImpl* db, const rocksdb::WriteOptions& write_options,
                        const rocksdb::OptimisticTransactionOptions& options);

  void begin_again(const rocksdb::WriteOptions& write_options,
                   const rocksdb::OptimisticTransactionOptions& options);

  Status Prepare() override;
  Status Commit() override;
  Status Rollback() override;
  void SetLockTimeout(int64_t) override {}
  Status SetName(const rocksdb::TransactionName& name) override;

 private:
  static constexpr size_t kMomentsMax = 64;

  Status track(const Family& family, const Slice& key, bool read_only, bool exclusive,
               bool validate, bool assume_tracked) override;
  SharedSnapshot moment_now();
  Status validate(hawthorn::Transaction& in);

  size_t moments_ = 0;
  SharedSnapshot last_moment_;
};

class OptimisticTransactionDBImpl final : public rocksdb::OptimisticTransactionDB {
 public:
  OptimisticTransactionDBImpl(rocksdb::DB* db, DBImpl* root)
      : rocksdb::OptimisticTransactionDB(db), root_(root) {}
  rocksdb::Transaction* BeginTransaction(const rocksdb::WriteOptions& write_options,
                                         const rocksdb::OptimisticTransactionOptions& txn_options,
                                         rocksdb::Transaction* old_txn) override;

 private:
  DBImpl* const root_;
};

}  // namespace hawthorn::rocks
