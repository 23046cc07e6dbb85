#include "shims/rocksdb/src/optimistic_transaction.h"

#include "shims/rocksdb/src/convert.h"

namespace hawthorn::rocks {

using rocksdb::Slice;
using S = rocksdb::Status;

OptimisticTransaction::OptimisticTransaction(DBImpl* db, const rocksdb::WriteOptions& write_options,
                                             const rocksdb::OptimisticTransactionOptions& options)
    : TransactionBase(db, write_options) {
  if (options.set_snapshot) SetSnapshot();
}

void OptimisticTransaction::begin_again(const rocksdb::WriteOptions& write_options,
                                        const rocksdb::OptimisticTransactionOptions& options) {
  TransactionBase::begin_again(write_options);
  moments_ = 0;
  last_moment_.reset();
  if (options.set_snapshot) SetSnapshot();
}

SharedSnapshot OptimisticTransaction::moment_now() {
  if (moments_ >= kMomentsMax) return last_moment_;
  hawthorn::Snapshot taken = db_->engine().snapshot();
  if (!taken.valid()) return last_moment_;
  if (last_moment_ != nullptr && last_moment_->GetSequenceNumber() == taken.timestamp()) {
    return last_moment_;
  }
  ++moments_;
  const auto* const moment = new SnapshotImpl(std::move(taken), 0);
  last_moment_ = SharedSnapshot(moment, [moment](const rocksdb::Snapshot*) { moment->let_go(); });
  return last_moment_;
}

S OptimisticTransaction::track(const Family& family, const Slice& key, bool read_only,
                               bool exclusive, bool validate, bool assume_tracked) {
  if (assume_tracked) {
    return S::InvalidArgument("assume_tracked", "of an optimistic transaction");
  }
  if (!validate) return S::OK();
  take_snapshot_if_wanted();
  const SharedSnapshot since = snapshot_ != nullptr ? snapshot_ : moment_now();
  if (snapshot_failed_ || since == nullptr) {
    return S::MemoryLimit("the engine has given no snapshot");
  }
  TrackedKey& tracked = note({family.id, view(key)}, read_only, exclusive);
  // The first one is the oldest.
  if (tracked.since == nullptr) tracked.since = since;
  return S::OK();
}

S OptimisticTransaction::Prepare() {
  return S::InvalidArgument("Two phase commit not supported for optimistic transactions.");
}

S OptimisticTransaction::SetName(const rocksdb::TransactionName&) {
  return S::InvalidArgument("Optimistic transactions cannot be named.");
}

// Keys are locked in one order by all, so that two that commit do not wait for each other.
S OptimisticTransaction::validate(hawthorn::Transaction& in) {
  std::shared_ptr<Family> family;
  for (const auto& [name, key] : keys_.map()) {
    if (family == nullptr || family->id != name.first) family = db_->find_family(name.first);
    if (family == nullptr) return S::InvalidArgument("Could not access column family");
    const auto mode = key.writes > 0 ? hawthorn::RowLock::kExclusive : hawthorn::RowLock::kShared;
    if (hawthorn::Status s = in.lock(family->tree, name.second, mode); !s.ok()) return db_->told(s);
    const hawthorn::Result<bool> changed = db_->engine().changed_since(
        family->tree, name.second, static_cast<const SnapshotImpl&>(*key.since).view());
    if (!changed.ok()) return db_->told(changed.status());
    if (*changed) return S::Busy();
  }
  return S::OK();
}

S OptimisticTransaction::Commit() {
  if (S s = check_options(write_options_); !s.ok()) return s;
  if (keys_.map().empty() && batch().Count() == 0) return Rollback();
  hawthorn::Result<hawthorn::Transaction> in = db_->engine().begin(
      {.mode = hawthorn::TxnMode::kPessimistic, .isolation = hawthorn::Isolation::kReadCommitted});
  if (!in.ok()) return db_->told(in.status());
  if (S s = validate(*in); !s.ok()) return s;
  if (S s = db_->apply_all(*in, write_options_, batch().Data()); !s.ok()) return s;
  const Measured call(db_->statistics(), rocksdb::DB_WRITE,
                      &rocksdb::PerfContextBase::write_wal_time);
  S s = db_->told(in->commit(durability_of(write_options_)));
  count_commit(call, s, batch());
  return s.ok() ? Rollback() : s;
}

// Both ends leave a transaction that can be used again.
S OptimisticTransaction::Rollback() {
  clear();
  moments_ = 0;
  last_moment_.reset();
  return S::OK();
}

rocksdb::Transaction* OptimisticTransactionDBImpl::BeginTransaction(
    const rocksdb::WriteOptions& write_options,
    const rocksdb::OptimisticTransactionOptions& txn_options, rocksdb::Transaction* old_txn) {
  if (old_txn == nullptr) return new OptimisticTransaction(root_, write_options, txn_options);
  static_cast<OptimisticTransaction*>(old_txn)->begin_again(write_options, txn_options);
  return old_txn;
}

}  // namespace hawthorn::rocks

namespace rocksdb {

using hawthorn::rocks::DBImpl;
using hawthorn::rocks::OptimisticTransactionDBImpl;

namespace {

class NoBuckets final : public OccLockBuckets {
 public:
  size_t ApproximateMemoryUsage() const override { return 0; }
};

}  // namespace

std::shared_ptr<OccLockBuckets> MakeSharedOccLockBuckets(size_t, bool) {
  return std::make_shared<NoBuckets>();
}

Status OptimisticTransactionDB::Open(const Options& options, const std::string& dbname,
                                     OptimisticTransactionDB** dbptr) try {
  std::vector<ColumnFamilyHandle*> handles;
  Status status = Open(options, dbname, {{kDefaultColumnFamilyName, ColumnFamilyOptions(options)}},
                       &handles, dbptr);
  for (ColumnFamilyHandle* handle : handles) delete handle;
  return status;
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

Status OptimisticTransactionDB::Open(const DBOptions& db_options, const std::string& dbname,
                                     const std::vector<ColumnFamilyDescriptor>& column_families,
                                     std::vector<ColumnFamilyHandle*>* handles,
                                     OptimisticTransactionDB** dbptr) try {
  return Open(db_options, OptimisticTransactionDBOptions(), dbname, column_families, handles,
              dbptr);
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

Status OptimisticTransactionDB::Open(const DBOptions& db_options,
                                     const OptimisticTransactionDBOptions&,
                                     const std::string& dbname,
                                     const std::vector<ColumnFamilyDescriptor>& column_families,
                                     std::vector<ColumnFamilyHandle*>* handles,
                                     OptimisticTransactionDB** dbptr) try {
  *dbptr = nullptr;
  std::unique_ptr<DB> db;
  Status status = DBImpl::open(db_options, dbname, column_families, handles, false, &db);
  if (!status.ok()) return status;
  auto* const root = static_cast<DBImpl*>(db.get());
  *dbptr = new OptimisticTransactionDBImpl(db.release(), root);
  return status;
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

Status OptimisticTransactionDB::Write(const WriteOptions& options, WriteBatch* updates) {
  if (updates != nullptr && updates->HasDeleteRange()) {
    return Status::NotSupported("a batch that deletes ranges");
  }
  return db_->Write(options, updates);
}

}  // namespace rocksdb
