#pragma once
// A database with transactions for a test. `db_` of the base is the same one.
//
// Used by the tests of both kinds of transactions. Threads: one object from one thread.

#include <rocksdb/utilities/optimistic_transaction_db.h>
#include <rocksdb/utilities/transaction.h>
#include <rocksdb/utilities/transaction_db.h>
#include <rocksdb/utilities/write_batch_with_index.h>

#include <memory>
#include <string>
#include <vector>

#include "shims/rocksdb/src/rocksdb_test_fixture.h"

namespace hawthorn::rocks {

using TransactionPtr = std::unique_ptr<rocksdb::Transaction>;

// What both kinds of tests ask of a transaction.
inline std::string get_in(rocksdb::Transaction& in, const std::string& key,
                          rocksdb::ColumnFamilyHandle* family = nullptr) {
  std::string value;
  const rocksdb::Status status = in.Get(rocksdb::ReadOptions(), family, key, &value);
  if (status.IsNotFound()) return "(missing)";
  return status.ok() ? value : status.ToString();
}

inline std::string get_for_update(rocksdb::Transaction& in, const std::string& key,
                                  bool exclusive = true) {
  std::string value;
  const rocksdb::Status status = in.GetForUpdate(rocksdb::ReadOptions(), key, &value, exclusive);
  if (status.IsNotFound()) return "(missing)";
  return status.ok() ? value : status.ToString();
}

inline bool is_lock_timeout(const rocksdb::Status& status) {
  EXPECT_TRUE(status.IsTimedOut() && status.subcode() == rocksdb::Status::kLockTimeout)
      << status.ToString();
  return status.IsTimedOut();
}

class TransactionsTest : public RocksTest {
 protected:
  TransactionsTest() {
    options_.create_missing_column_families = true;
    options_.merge_operator = std::make_shared<Append>();
  }

  rocksdb::Status try_open_transactions(const std::vector<std::string>& families = {"default"}) {
    std::vector<rocksdb::ColumnFamilyDescriptor> descriptors;
    for (const std::string& name : families) {
      descriptors.emplace_back(name, rocksdb::ColumnFamilyOptions(options_));
    }
    rocksdb::Status status = rocksdb::TransactionDB::Open(options_, db_options_, path_, descriptors,
                                                          &handles_, &transactions_);
    db_.reset(transactions_);
    return status;
  }
  void open_transactions(const std::vector<std::string>& families = {"default"}) {
    ASSERT_OK(try_open_transactions(families));
  }
  void open_optimistic(const std::vector<std::string>& families = {"default"}) {
    std::vector<rocksdb::ColumnFamilyDescriptor> descriptors;
    for (const std::string& name : families) {
      descriptors.emplace_back(name, rocksdb::ColumnFamilyOptions(options_));
    }
    ASSERT_OK(rocksdb::OptimisticTransactionDB::Open(options_, path_, descriptors, &handles_,
                                                     &optimistic_));
    db_.reset(optimistic_);
  }
  TransactionPtr begin(const rocksdb::TransactionOptions& options = {}) {
    return TransactionPtr(transactions_->BeginTransaction(rocksdb::WriteOptions(), options));
  }
  TransactionPtr begin_optimistic(const rocksdb::OptimisticTransactionOptions& options = {}) {
    return TransactionPtr(optimistic_->BeginTransaction(rocksdb::WriteOptions(), options));
  }

  rocksdb::TransactionDBOptions db_options_;
  rocksdb::TransactionDB* transactions_ = nullptr;
  rocksdb::OptimisticTransactionDB* optimistic_ = nullptr;
};

}  // namespace hawthorn::rocks
