#pragma once
// A database whose transactions lock nothing, and look when they commit whether others have written
// their keys.
//
// Not here: wide columns, user timestamps. The lock buckets of RocksDB are taken, and mean nothing:
// a commit locks the rows of its keys.
// Threads: every function from any thread, Close and the destructor excepted.
// Lifetime: transactions go before their database.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "rocksdb/comparator.h"
#include "rocksdb/db.h"
#include "rocksdb/utilities/stackable_db.h"

namespace ROCKSDB_NAMESPACE {

class Transaction;

// [mapped]
struct OptimisticTransactionOptions {
  bool set_snapshot = false;
  // Keys are compared by their families' comparators. [accepted]
  const Comparator* cmp = BytewiseComparator();
};

// [accepted]
enum class OccValidationPolicy { kValidateSerial = 0, kValidateParallel = 1 };

// [accepted]
class OccLockBuckets {
 public:
  virtual ~OccLockBuckets() = default;
  // Of nothing.
  virtual size_t ApproximateMemoryUsage() const = 0;
};

// [accepted]
std::shared_ptr<OccLockBuckets> MakeSharedOccLockBuckets(size_t bucket_count,
                                                         bool cache_aligned = false);

// [accepted]
struct OptimisticTransactionDBOptions {
  OccValidationPolicy validate_policy = OccValidationPolicy::kValidateParallel;
  uint32_t occ_lock_buckets = (1 << 20);
  std::shared_ptr<OccLockBuckets> shared_lock_buckets;
};

// [mapped]
class OptimisticTransactionDB : public StackableDB {
 public:
  static Status Open(const Options& options, const std::string& dbname,
                     OptimisticTransactionDB** dbptr);
  static Status Open(const DBOptions& db_options, const std::string& dbname,
                     const std::vector<ColumnFamilyDescriptor>& column_families,
                     std::vector<ColumnFamilyHandle*>* handles, OptimisticTransactionDB** dbptr);
  static Status Open(const DBOptions& db_options, const OptimisticTransactionDBOptions& occ_options,
                     const std::string& dbname,
                     const std::vector<ColumnFamilyDescriptor>& column_families,
                     std::vector<ColumnFamilyHandle*>* handles, OptimisticTransactionDB** dbptr);
  ~OptimisticTransactionDB() override = default;
  OptimisticTransactionDB(const OptimisticTransactionDB&) = delete;
  void operator=(const OptimisticTransactionDB&) = delete;

  // The caller owns it. `old_txn` is one of this database, which is used again, and returned.
  virtual Transaction* BeginTransaction(
      const WriteOptions& write_options,
      const OptimisticTransactionOptions& txn_options = OptimisticTransactionOptions(),
      Transaction* old_txn = nullptr) = 0;

  using StackableDB::DeleteRange;
  // As in RocksDB. [refused]
  Status DeleteRange(const WriteOptions&, ColumnFamilyHandle*, const Slice&,
                     const Slice&) override {
    return Status::NotSupported("DeleteRange of an OptimisticTransactionDB");
  }
  using StackableDB::Write;
  // NotSupported for a batch that deletes ranges.
  Status Write(const WriteOptions& options, WriteBatch* updates) override;

 protected:
  explicit OptimisticTransactionDB(DB* db) : StackableDB(db) {}
};

}  // namespace ROCKSDB_NAMESPACE
