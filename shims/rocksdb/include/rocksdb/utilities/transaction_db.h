#pragma once
// A database whose transactions lock the keys that they write, and those that they read for update,
// until they end.
//
//   TransactionDB* db;
//   TransactionDB::Open(options, TransactionDBOptions(), path, &db);
//   std::unique_ptr<Transaction> t(db->BeginTransaction(WriteOptions()));
//   t->GetForUpdate(ReadOptions(), "a", &value);
//   t->Put("a", value + "x");
//   t->Commit();
//
// Locks are row locks of the engine: everybody respects them who writes to the database, also
// outside of transactions, and by another DB object over the same one. A wait that would never end
// is refused at once, whether or not deadlock_detect is set.
//
// Not here: locks of ranges, user timestamps, wide columns, secondary indexes.
// Threads: every function from any thread, Close and the destructor excepted.
// Lifetime: transactions go before their database; those that have a name and are not committed
// are deleted with it.

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "rocksdb/comparator.h"
#include "rocksdb/db.h"
#include "rocksdb/utilities/stackable_db.h"
#include "rocksdb/utilities/transaction.h"
#include "rocksdb/utilities/transaction_db_mutex.h"

namespace ROCKSDB_NAMESPACE {

class SecondaryIndex;
class TransactionDB;

// When others may see what a transaction has written is the same with each: when it is committed.
// [mapped]
enum TxnDBWritePolicy {
  WRITE_COMMITTED = 0,
  WRITE_PREPARED,    // [accepted]
  WRITE_UNPREPARED,  // [accepted]
};

// [mapped]
constexpr uint32_t kInitialMaxDeadlocks = 5;

class LockManager;

// [accepted]
class LockManagerHandle {
 public:
  virtual LockManager* getLockManager() = 0;
  virtual ~LockManagerHandle() = default;
};

// [mapped]
struct TransactionDBOptions {
  // Of a family, counted over all transactions: more are Aborted(LockLimit). Not positive: no
  // limit.
  int64_t max_num_locks = -1;
  uint32_t max_num_deadlocks = kInitialMaxDeadlocks;
  size_t num_stripes = 16;  // [accepted]
  // In milliseconds; below 0: no limit.
  int64_t transaction_lock_timeout = 1000;
  // Of writes outside of transactions.
  int64_t default_lock_timeout = 1000;
  std::shared_ptr<TransactionDBMutexFactory> custom_mutex_factory;  // [accepted]
  TxnDBWritePolicy write_policy = TxnDBWritePolicy::WRITE_COMMITTED;
  bool rollback_merge_operands = false;                // [accepted]
  std::shared_ptr<LockManagerHandle> lock_mgr_handle;  // [refused]
  // Batches outside of transactions may delete ranges. They wait for locks in any case.
  bool skip_concurrency_control = false;
  int64_t default_write_batch_flush_threshold = 0;  // [accepted]
  // [accepted]
  std::function<bool(TransactionDB*, ColumnFamilyHandle*, const Slice&)>
      rollback_deletion_type_callback;
  bool enable_udt_validation = true;                               // [accepted]
  std::vector<std::shared_ptr<SecondaryIndex>> secondary_indices;  // [refused]
  // [accepted]
  uint32_t txn_commit_bypass_memtable_threshold = std::numeric_limits<uint32_t>::max();
};

// [mapped]
struct TransactionOptions {
  bool set_snapshot = false;
  // Deadlocks are found in any case. [accepted]
  bool deadlock_detect = false;
  bool use_only_the_last_commit_time_batch_for_recovery = false;  // [accepted]
  // In milliseconds; below 0: that of the database.
  int64_t lock_timeout = -1;
  // In milliseconds: later its commit is Expired, and others that want its locks get them, unless
  // it is prepared. Below 0: never.
  int64_t expiration = -1;
  int64_t deadlock_detect_depth = 50;  // [accepted]
  // Bytes; 0: no limit.
  size_t max_write_batch_size = 0;
  // No locks are taken before the commit.
  bool skip_concurrency_control = false;
  bool skip_prepare = true;
  int64_t write_batch_flush_threshold = -1;               // [accepted]
  bool write_batch_track_timestamp_size = false;          // [accepted]
  bool commit_bypass_memtable = false;                    // [accepted]
  uint32_t large_txn_commit_optimize_threshold = 0;       // [accepted]
  uint64_t large_txn_commit_optimize_byte_threshold = 0;  // [accepted]
};

// [mapped]
struct TransactionDBWriteOptimizations {
  // The batch may delete ranges. It waits for locks as any write.
  bool skip_concurrency_control = false;
  bool skip_duplicate_key_check = false;  // [accepted]
};

// [mapped]
struct KeyLockInfo {
  std::string key;
  std::vector<TransactionID> ids;
  bool exclusive;
};

// One who waited in a circle. [mapped]
struct DeadlockInfo {
  TransactionID m_txn_id;
  uint32_t m_cf_id;
  bool m_exclusive;
  std::string m_waiting_key;
};

// Each waits for the next one, the last for the first, which was refused. Empty, with
// limit_exceeded, where others than transactions of this database were in it. [mapped]
struct DeadlockPath {
  std::vector<DeadlockInfo> path;
  bool limit_exceeded;
  int64_t deadlock_time;  // in seconds since 1970

  explicit DeadlockPath(std::vector<DeadlockInfo> path_entry, const int64_t& dl_time)
      : path(std::move(path_entry)), limit_exceeded(false), deadlock_time(dl_time) {}
  explicit DeadlockPath(const int64_t& dl_time = 0, bool limit = false)
      : limit_exceeded(limit), deadlock_time(dl_time) {}
  bool empty() { return path.empty() && !limit_exceeded; }
};

// [mapped]
class TransactionDB : public StackableDB {
 public:
  // Transactions that an earlier process has prepared are there again: GetTransactionByName.
  static Status Open(const Options& options, const TransactionDBOptions& txn_db_options,
                     const std::string& dbname, TransactionDB** dbptr);
  static Status Open(const DBOptions& db_options, const TransactionDBOptions& txn_db_options,
                     const std::string& dbname,
                     const std::vector<ColumnFamilyDescriptor>& column_families,
                     std::vector<ColumnFamilyHandle*>* handles, TransactionDB** dbptr);
  // Sets what RocksDB needs, which means nothing here. [accepted]
  static void PrepareWrap(DBOptions* db_options,
                          std::vector<ColumnFamilyDescriptor>* column_families,
                          std::vector<size_t>* compaction_enabled_cf_indices);
  // Takes the database over where that succeeds. The indices mean nothing.
  static Status WrapDB(DB* db, const TransactionDBOptions& txn_db_options,
                       const std::vector<size_t>& compaction_enabled_cf_indices,
                       const std::vector<ColumnFamilyHandle*>& handles, TransactionDB** dbptr);
  static Status WrapStackableDB(StackableDB* db, const TransactionDBOptions& txn_db_options,
                                const std::vector<size_t>& compaction_enabled_cf_indices,
                                const std::vector<ColumnFamilyHandle*>& handles,
                                TransactionDB** dbptr);
  ~TransactionDB() override = default;
  TransactionDB(const TransactionDB&) = delete;
  void operator=(const TransactionDB&) = delete;

  // Writes lock their keys. Errors: also TimedOut(LockTimeout). A batch that deletes ranges is
  // InvalidArgument, but with skip_concurrency_control.
  using StackableDB::Write;
  virtual Status Write(const WriteOptions& opts,
                       const TransactionDBWriteOptimizations& optimizations,
                       WriteBatch* updates) = 0;
  using StackableDB::DeleteRange;
  // As in RocksDB: a batch does it, with skip_concurrency_control. [refused]
  Status DeleteRange(const WriteOptions&, ColumnFamilyHandle*, const Slice&,
                     const Slice&) override {
    return Status::NotSupported("DeleteRange of a TransactionDB");
  }

  // The caller owns it. `old_txn` is one of this database that has ended, or is given up: it is
  // used again, and returned.
  virtual Transaction* BeginTransaction(
      const WriteOptions& write_options,
      const TransactionOptions& txn_options = TransactionOptions(),
      Transaction* old_txn = nullptr) = 0;
  // Null where there is none.
  virtual Transaction* GetTransactionByName(const TransactionName& name) = 0;
  // Of an earlier process they have neither reads of what they wrote nor a batch; who ends one
  // deletes it.
  virtual void GetAllPreparedTransactions(std::vector<Transaction*>* trans) = 0;

  // By the id of the family. Of transactions that an earlier process has prepared it has nothing.
  virtual std::unordered_multimap<uint32_t, KeyLockInfo> GetLockStatusData() = 0;
  // The newest first.
  virtual std::vector<DeadlockPath> GetDeadlockInfoBuffer() = 0;
  virtual void SetDeadlockInfoBufferSize(uint32_t target_size) = 0;

  // [refused]
  virtual std::pair<Status, std::shared_ptr<const Snapshot>> CreateTimestampedSnapshot(
      TxnTimestamp /*ts*/) {
    return {Status::NotSupported("timestamped snapshots"), nullptr};
  }
  // There is none. [refused]
  virtual std::shared_ptr<const Snapshot> GetTimestampedSnapshot(TxnTimestamp /*ts*/) const {
    return nullptr;
  }
  // [refused]
  std::shared_ptr<const Snapshot> GetLatestTimestampedSnapshot() const {
    return GetTimestampedSnapshot(kMaxTxnTimestamp);
  }
  // [refused]
  virtual Status GetTimestampedSnapshots(
      TxnTimestamp /*ts_lb*/, TxnTimestamp /*ts_ub*/,
      std::vector<std::shared_ptr<const Snapshot>>& timestamped_snapshots) const {
    timestamped_snapshots.clear();
    return Status::NotSupported("timestamped snapshots");
  }
  // [refused]
  Status GetAllTimestampedSnapshots(
      std::vector<std::shared_ptr<const Snapshot>>& timestamped_snapshots) const {
    return GetTimestampedSnapshots(0, kMaxTxnTimestamp, timestamped_snapshots);
  }
  // There are none. [accepted]
  virtual void ReleaseTimestampedSnapshotsOlderThan(TxnTimestamp /*ts*/) {}

 protected:
  explicit TransactionDB(DB* db) : StackableDB(db) {}
};

}  // namespace ROCKSDB_NAMESPACE
