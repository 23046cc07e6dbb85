#pragma once
// Writes that are committed together, and what they wait for: see transaction_db.h, of which
// transactions lock the keys that they write, and optimistic_transaction_db.h, of which they look
// for conflicts when they commit.
//
// What a transaction has written stands in a WriteBatchWithIndex, over which its reads look, and
// goes to the database with its commit. Keys are tracked: those that it has written, and that it
// has read by GetForUpdate. Nobody else may commit to one since it was tracked, or since the
// snapshot of the transaction (SetSnapshot) was taken, if there was one then.
//
// Not here: user timestamps and snapshots that have some, iterators over several
// families.
// Threads: one object, with its iterators, from one thread at a time, GetState, GetID and
// GetWaitingTxns excepted.
// Lifetime: it is deleted before its database, and its iterators before it. Commit, Rollback and
// RollbackToSavePoint end what its iterators show.

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "rocksdb/comparator.h"
#include "rocksdb/db.h"
#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {

class Iterator;
class TransactionDB;
class WriteBatchWithIndex;

// Of Prepare: up to 200 bytes, where RocksDB takes 512. [mapped]
using TransactionName = std::string;
// [mapped]
using TransactionID = uint64_t;
// [accepted]
using TxnTimestamp = uint64_t;
// [accepted]
constexpr TxnTimestamp kMaxTxnTimestamp = std::numeric_limits<TxnTimestamp>::max();

// An end of a range to lock. [accepted]
class Endpoint {
 public:
  Endpoint() = default;
  explicit Endpoint(const Slice& slice_arg, bool inf_suffix_arg = false)
      : slice(slice_arg), inf_suffix(inf_suffix_arg) {}
  explicit Endpoint(const char* s, bool inf_suffix_arg = false)
      : slice(s), inf_suffix(inf_suffix_arg) {}
  Endpoint(const char* s, size_t size, bool inf_suffix_arg = false)
      : slice(s, size), inf_suffix(inf_suffix_arg) {}

  Slice slice;
  bool inf_suffix = false;
};

// Is told of the snapshot that SetSnapshotOnNextOperation has had taken. [mapped]
class TransactionNotifier {
 public:
  virtual ~TransactionNotifier() = default;
  virtual void SnapshotCreated(const Snapshot* newSnapshot) = 0;
};

// [mapped]
class Transaction {
 public:
  Transaction(const Transaction&) = delete;
  void operator=(const Transaction&) = delete;
  // What is not committed is gone, unless it is prepared: then it stays, and holds its keys, until
  // somebody opens the database anew and ends it.
  virtual ~Transaction() = default;

  // Keys that are tracked from now on must not have changed since now. Reads do not depend on it. A
  // commit larger than its share of the memory budget counts as a change of each key of its
  // families; a key that was absent and is absent again may count as unchanged.
  virtual void SetSnapshot() = 0;
  // The same, before the next write or GetForUpdate.
  virtual void SetSnapshotOnNextOperation(
      std::shared_ptr<TransactionNotifier> notifier = nullptr) = 0;
  // Lifetime: until another one is set or cleared, or the transaction goes.
  virtual const Snapshot* GetSnapshot() const = 0;
  // The same, for as long as it is wanted.
  virtual std::shared_ptr<const Snapshot> GetTimestampedSnapshot() const = 0;
  virtual void ClearSnapshot() = 0;

  // What is written is durable then, under the name of the transaction, and can be committed
  // whatever happens. Errors: InvalidArgument without a name, in another state than STARTED, and of
  // optimistic transactions; NotSupported where it wrote more than a quarter of the memory budget;
  // Expired.
  virtual Status Prepare() = 0;
  // Errors: Busy of optimistic transactions, where others have committed to a tracked key; Expired;
  // TxnNotPrepared; InvalidArgument in the wrong state. Of optimistic transactions it may wait for
  // rows that others hold, as long as a write outside of transactions does.
  virtual Status Commit() = 0;
  // Needs user timestamps. [refused]
  Status CommitAndTryCreateSnapshot(std::shared_ptr<TransactionNotifier> notifier = nullptr,
                                    TxnTimestamp ts = kMaxTxnTimestamp,
                                    std::shared_ptr<const Snapshot>* snapshot = nullptr);
  virtual Status Rollback() = 0;

  virtual void SetSavePoint() = 0;
  // Keys that were tracked since alone are not, and not locked, any more. NotFound where there is
  // no savepoint.
  virtual Status RollbackToSavePoint() = 0;
  virtual Status PopSavePoint() = 0;

  // Of what the transaction has written, whatever the snapshot of the options, then of the
  // database.
  virtual Status Get(const ReadOptions& options, ColumnFamilyHandle* column_family,
                     const Slice& key, std::string* value) = 0;
  virtual Status Get(const ReadOptions& options, ColumnFamilyHandle* column_family,
                     const Slice& key, PinnableSlice* pinnable_val) = 0;
  virtual Status Get(const ReadOptions& options, const Slice& key, std::string* value) = 0;
  virtual Status Get(const ReadOptions& options, const Slice& key, PinnableSlice* pinnable_val) = 0;
  virtual std::vector<Status> MultiGet(const ReadOptions& options,
                                       const std::vector<ColumnFamilyHandle*>& column_family,
                                       const std::vector<Slice>& keys,
                                       std::vector<std::string>* values) = 0;
  virtual std::vector<Status> MultiGet(const ReadOptions& options, const std::vector<Slice>& keys,
                                       std::vector<std::string>* values) = 0;
  virtual void MultiGet(const ReadOptions& options, ColumnFamilyHandle* column_family,
                        size_t num_keys, const Slice* keys, PinnableSlice* values, Status* statuses,
                        bool sorted_input = false) = 0;

  // A plain value is shown as the default column.
  virtual Status GetEntity(const ReadOptions& options, ColumnFamilyHandle* column_family,
                           const Slice& key, PinnableWideColumns* columns) = 0;
  virtual void MultiGetEntity(const ReadOptions& options, ColumnFamilyHandle* column_family,
                              size_t num_keys, const Slice* keys, PinnableWideColumns* results,
                              Status* statuses, bool sorted_input = false) = 0;

  // Tracks the key, there or not, and reads it; without `value` it reads nothing. Others may lock
  // it shared, too, where it is not `exclusive`. Errors: those of Put and Get; InvalidArgument for
  // a snapshot without do_validate.
  virtual Status GetForUpdate(const ReadOptions& options, ColumnFamilyHandle* column_family,
                              const Slice& key, std::string* value, bool exclusive = true,
                              bool do_validate = true) = 0;
  virtual Status GetForUpdate(const ReadOptions& options, ColumnFamilyHandle* column_family,
                              const Slice& key, PinnableSlice* pinnable_val, bool exclusive = true,
                              bool do_validate = true) = 0;
  virtual Status GetForUpdate(const ReadOptions& options, const Slice& key, std::string* value,
                              bool exclusive = true, bool do_validate = true) = 0;
  virtual Status GetForUpdate(const ReadOptions& options, const Slice& key,
                              PinnableSlice* pinnable_val, bool exclusive = true,
                              bool do_validate = true) = 0;
  virtual Status GetEntityForUpdate(const ReadOptions& read_options,
                                    ColumnFamilyHandle* column_family, const Slice& key,
                                    PinnableWideColumns* columns, bool exclusive = true,
                                    bool do_validate = true) = 0;
  // [refused]
  virtual Status GetRangeLock(ColumnFamilyHandle* /*column_family*/, const Endpoint& /*start*/,
                              const Endpoint& /*end*/) {
    return Status::NotSupported("GetRangeLock", "hawthorn-rocksdb does not have it");
  }
  virtual std::vector<Status> MultiGetForUpdate(
      const ReadOptions& options, const std::vector<ColumnFamilyHandle*>& column_family,
      const std::vector<Slice>& keys, std::vector<std::string>* values) = 0;
  virtual std::vector<Status> MultiGetForUpdate(const ReadOptions& options,
                                                const std::vector<Slice>& keys,
                                                std::vector<std::string>* values) = 0;

  // Over the database, or the snapshot of the options, and what the transaction has written. The
  // caller owns it.
  virtual Iterator* GetIterator(const ReadOptions& read_options) = 0;
  virtual Iterator* GetIterator(const ReadOptions& read_options,
                                ColumnFamilyHandle* column_family) = 0;

  // Errors, but of optimistic transactions: TimedOut(LockTimeout) where somebody else has the key;
  // Busy(Deadlock) where the wait would never end; Busy where it has changed since the snapshot;
  // Aborted(LockLimit); InvalidArgument for assume_tracked of a key that is not.
  virtual Status Put(ColumnFamilyHandle* column_family, const Slice& key, const Slice& value,
                     bool assume_tracked = false) = 0;
  virtual Status Put(const Slice& key, const Slice& value) = 0;
  virtual Status Put(ColumnFamilyHandle* column_family, const SliceParts& key,
                     const SliceParts& value, bool assume_tracked = false) = 0;
  virtual Status Put(const SliceParts& key, const SliceParts& value) = 0;
  // Also the errors of WriteBatch::PutEntity.
  virtual Status PutEntity(ColumnFamilyHandle* column_family, const Slice& key,
                           const WideColumns& columns, bool assume_tracked = false) = 0;
  virtual Status Merge(ColumnFamilyHandle* column_family, const Slice& key, const Slice& value,
                       bool assume_tracked = false) = 0;
  virtual Status Merge(const Slice& key, const Slice& value) = 0;
  virtual Status Delete(ColumnFamilyHandle* column_family, const Slice& key,
                        bool assume_tracked = false) = 0;
  virtual Status Delete(const Slice& key) = 0;
  virtual Status Delete(ColumnFamilyHandle* column_family, const SliceParts& key,
                        bool assume_tracked = false) = 0;
  virtual Status Delete(const SliceParts& key) = 0;
  virtual Status SingleDelete(ColumnFamilyHandle* column_family, const Slice& key,
                              bool assume_tracked = false) = 0;
  virtual Status SingleDelete(const Slice& key) = 0;
  virtual Status SingleDelete(ColumnFamilyHandle* column_family, const SliceParts& key,
                              bool assume_tracked = false) = 0;
  virtual Status SingleDelete(const SliceParts& key) = 0;

  // As the ones above, whatever was committed to the key before: its lock is taken, and nothing
  // else looked at. Of optimistic transactions it is not tracked.
  virtual Status PutUntracked(ColumnFamilyHandle* column_family, const Slice& key,
                              const Slice& value) = 0;
  virtual Status PutUntracked(const Slice& key, const Slice& value) = 0;
  virtual Status PutUntracked(ColumnFamilyHandle* column_family, const SliceParts& key,
                              const SliceParts& value) = 0;
  virtual Status PutUntracked(const SliceParts& key, const SliceParts& value) = 0;
  virtual Status PutEntityUntracked(ColumnFamilyHandle* column_family, const Slice& key,
                                    const WideColumns& columns) = 0;
  virtual Status MergeUntracked(ColumnFamilyHandle* column_family, const Slice& key,
                                const Slice& value) = 0;
  virtual Status MergeUntracked(const Slice& key, const Slice& value) = 0;
  virtual Status DeleteUntracked(ColumnFamilyHandle* column_family, const Slice& key) = 0;
  virtual Status DeleteUntracked(const Slice& key) = 0;
  virtual Status DeleteUntracked(ColumnFamilyHandle* column_family, const SliceParts& key) = 0;
  virtual Status DeleteUntracked(const SliceParts& key) = 0;
  virtual Status SingleDeleteUntracked(ColumnFamilyHandle* column_family, const Slice& key) = 0;
  virtual Status SingleDeleteUntracked(const Slice& key) = 0;

  // Puts what a chain of merges makes of the key. NotSupported of optimistic transactions.
  virtual Status CollapseKey(const ReadOptions& /*options*/, const Slice& /*key*/,
                             ColumnFamilyHandle* /*column_family*/ = nullptr) {
    return Status::NotSupported("collapse not supported");
  }
  virtual void PutLogData(const Slice& blob) = 0;
  // What is written in between is not seen by this transaction's reads.
  virtual void DisableIndexing() = 0;
  virtual void EnableIndexing() = 0;

  // Of tracked keys.
  virtual uint64_t GetNumKeys() const = 0;
  virtual uint64_t GetNumPuts() const = 0;
  virtual uint64_t GetNumDeletes() const = 0;
  virtual uint64_t GetNumMerges() const = 0;
  // In milliseconds since it began.
  virtual uint64_t GetElapsedTime() const = 0;
  // To be read. Of a transaction that an earlier process has prepared it is empty.
  virtual WriteBatchWithIndex* GetWriteBatch() = 0;
  // In milliseconds; below 0: no limit. Nothing in optimistic transactions.
  virtual void SetLockTimeout(int64_t timeout) = 0;
  virtual WriteOptions* GetWriteOptions() = 0;
  virtual void SetWriteOptions(const WriteOptions& write_options) = 0;
  // Takes back a GetForUpdate since the last savepoint of a key that was not written: it is not
  // tracked any more. A lock is released at once where no other key was locked since, else with
  // the transaction.
  virtual void UndoGetForUpdate(ColumnFamilyHandle* column_family, const Slice& key) = 0;
  virtual void UndoGetForUpdate(const Slice& key) = 0;
  // Writes what the batch has.
  virtual Status RebuildFromWriteBatch(WriteBatch* src_batch) = 0;
  // Commit is InvalidArgument where it is not empty, of a prepared transaction NotSupported.
  // [refused]
  virtual WriteBatch* GetCommitTimeWriteBatch() = 0;

  // [accepted]
  virtual void SetLogNumber(uint64_t log) { log_number_ = log; }
  // [accepted]
  virtual uint64_t GetLogNumber() const { return log_number_; }
  // Once, while it is STARTED. InvalidArgument for a name that is empty, too long or taken, and of
  // optimistic transactions.
  virtual Status SetName(const TransactionName& name) = 0;
  virtual TransactionName GetName() const { return name_; }
  // 0 of optimistic transactions.
  virtual TransactionID GetID() const { return 0; }
  // As the options say; deadlocks are found in any case. [accepted]
  virtual bool IsDeadlockDetect() const { return false; }
  // Those that hold what it waits for; the outputs are left alone where it waits for nothing.
  virtual std::vector<TransactionID> GetWaitingTxns(uint32_t* /*column_family_id*/,
                                                    std::string* /*key*/) const {
    return {};
  }

  enum TransactionState {
    STARTED = 0,
    AWAITING_PREPARE = 1,
    PREPARED = 2,
    AWAITING_COMMIT = 3,
    COMMITTED = 4,
    COMMITED = COMMITTED,
    AWAITING_ROLLBACK = 5,
    ROLLEDBACK = 6,
    LOCKS_STOLEN = 7,
  };
  // Of optimistic transactions always STARTED.
  TransactionState GetState() const { return txn_state_; }
  void SetState(TransactionState state) { txn_state_ = state; }
  // Always 0. [accepted]
  uint64_t GetId() { return id_; }

  // [refused]
  virtual Status SetReadTimestampForValidation(TxnTimestamp /*ts*/) {
    return Status::NotSupported("timestamp not supported");
  }
  // [refused]
  virtual Status SetCommitTimestamp(TxnTimestamp /*ts*/) {
    return Status::NotSupported("timestamp not supported");
  }
  // [accepted]
  virtual TxnTimestamp GetCommitTimestamp() const { return kMaxTxnTimestamp; }

 protected:
  Transaction() = default;

  uint64_t log_number_ = 0;
  TransactionName name_;
  std::atomic<TransactionState> txn_state_{STARTED};
  uint64_t id_ = 0;
};

}  // namespace ROCKSDB_NAMESPACE
