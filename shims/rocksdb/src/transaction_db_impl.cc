#include "shims/rocksdb/src/transaction_db_impl.h"

#include <algorithm>
#include <ctime>
#include <new>

#include "shims/rocksdb/src/convert.h"

namespace hawthorn::rocks {

using rocksdb::Slice;
using rocksdb::TransactionID;
using S = rocksdb::Status;

S TransactionDBImpl::wrap(rocksdb::DB* db, const rocksdb::TransactionDBOptions& options,
                          rocksdb::TransactionDB** made) {
  *made = nullptr;
  if (options.lock_mgr_handle != nullptr) return S::NotSupported("lock_mgr_handle");
  if (!options.secondary_indices.empty()) return S::NotSupported("secondary_indices");
  auto* const root = OwnKind<DBImpl>::find(db->GetRootDB());
  if (root == nullptr) return S::InvalidArgument("the database is none of this library");
  std::unique_ptr<TransactionDBImpl> impl(new TransactionDBImpl(db, root, options));
  if (S s = impl->find_prepared(); !s.ok()) {
    impl->db_ = nullptr;  // still the caller's
    return s;
  }
  *made = impl.release();
  return S::OK();
}

TransactionDBImpl::~TransactionDBImpl() {
  for (;;) {
    PessimisticTransaction* left = nullptr;
    {
      const std::lock_guard lock(mutex_);
      if (named_.empty()) break;
      left = named_.begin()->second;
    }
    delete left;
  }
}

S TransactionDBImpl::find_prepared() {
  const hawthorn::Result<std::vector<hawthorn::PreparedTransaction>> found =
      root_->engine().prepared();
  if (!found.ok()) return root_->told(found.status());
  // Owned by named_, until somebody takes it.
  for (const auto& prepared : *found) new PessimisticTransaction(this, root_, prepared.id);
  return S::OK();
}

rocksdb::Transaction* TransactionDBImpl::BeginTransaction(
    const rocksdb::WriteOptions& write_options, const rocksdb::TransactionOptions& txn_options,
    rocksdb::Transaction* old_txn) {
  if (old_txn == nullptr) {
    return new PessimisticTransaction(this, root_, write_options, txn_options);
  }
  static_cast<PessimisticTransaction*>(old_txn)->begin_again(write_options, txn_options);
  return old_txn;
}

// ---- Writes outside of transactions

bool TransactionDBImpl::writes_plainly() const {
  return !any_expirable() && wait_of(options_.default_lock_timeout) == root_->lock_timeout_ms();
}

S TransactionDBImpl::write_locked(const rocksdb::WriteOptions& options,
                                  const rocksdb::WriteBatch& updates) {
  rocksdb::TransactionOptions of_write;
  of_write.lock_timeout = static_cast<int64_t>(wait_of(options_.default_lock_timeout));
  PessimisticTransaction in(this, root_, options, of_write);
  return in.commit_batch(updates);
}

S TransactionDBImpl::Put(const rocksdb::WriteOptions& options, Handle* handle, const Slice& key,
                         const Slice& value) {
  if (writes_plainly()) return db_->Put(options, handle, key, value);
  rocksdb::WriteBatch batch;
  S s = batch.Put(handle, key, value);
  return s.ok() ? write_locked(options, batch) : s;
}

S TransactionDBImpl::PutEntity(const rocksdb::WriteOptions& options, Handle* handle,
                               const Slice& key, const rocksdb::WideColumns& columns) {
  rocksdb::WriteBatch batch;
  S s = batch.PutEntity(handle, key, columns);
  return s.ok() ? Write(options, &batch) : s;
}

S TransactionDBImpl::PutEntity(const rocksdb::WriteOptions& options, const Slice& key,
                               const rocksdb::AttributeGroups& groups) {
  rocksdb::WriteBatch batch;
  S s = batch.PutEntity(key, groups);
  return s.ok() ? Write(options, &batch) : s;
}

S TransactionDBImpl::Delete(const rocksdb::WriteOptions& options, Handle* handle,
                            const Slice& key) {
  if (writes_plainly()) return db_->Delete(options, handle, key);
  rocksdb::WriteBatch batch;
  S s = batch.Delete(handle, key);
  return s.ok() ? write_locked(options, batch) : s;
}

S TransactionDBImpl::SingleDelete(const rocksdb::WriteOptions& options, Handle* handle,
                                  const Slice& key) {
  return Delete(options, handle, key);
}

S TransactionDBImpl::Merge(const rocksdb::WriteOptions& options, Handle* handle, const Slice& key,
                           const Slice& value) {
  const bool is_long = key.size() + value.size() > kOperandBytesMax;
  if (writes_plainly() && !is_long) return db_->Merge(options, handle, key, value);
  rocksdb::WriteBatch batch;
  S s = batch.Merge(handle, key, value);
  return s.ok() ? write_locked(options, batch) : s;
}

S TransactionDBImpl::Write(const rocksdb::WriteOptions& options, rocksdb::WriteBatch* updates) {
  rocksdb::TransactionDBWriteOptimizations optimizations;
  optimizations.skip_concurrency_control = options_.skip_concurrency_control;
  return Write(options, optimizations, updates);
}

S TransactionDBImpl::Write(const rocksdb::WriteOptions& options,
                           const rocksdb::TransactionDBWriteOptimizations& optimizations,
                           rocksdb::WriteBatch* updates) {
  if (updates == nullptr) return S::InvalidArgument("batch is nullptr");
  if (optimizations.skip_concurrency_control) return db_->Write(options, updates);
  if (updates->HasDeleteRange()) {
    return S::InvalidArgument("a batch that deletes ranges", "without skip_concurrency_control");
  }
  // Long operands would wait until nobody holds a row, whatever the key.
  const bool may_be_long = updates->GetDataSize() > kOperandBytesMax && updates->HasMerge();
  const bool plainly = writes_plainly() && !may_be_long;
  return plainly ? db_->Write(options, updates) : write_locked(options, *updates);
}

// ---- Names

S TransactionDBImpl::add_name(const std::string& name, PessimisticTransaction* transaction) {
  const std::lock_guard lock(mutex_);
  if (named_.try_emplace(name, transaction).second) return S::OK();
  return S::InvalidArgument("Duplicate txn name " + name);
}

void TransactionDBImpl::remove_name(const std::string& name) {
  const std::lock_guard lock(mutex_);
  named_.erase(name);
}

rocksdb::Transaction* TransactionDBImpl::GetTransactionByName(
    const rocksdb::TransactionName& name) {
  const std::lock_guard lock(mutex_);
  const auto found = named_.find(name);
  return found == named_.end() ? nullptr : found->second;
}

void TransactionDBImpl::GetAllPreparedTransactions(std::vector<rocksdb::Transaction*>* trans) {
  trans->clear();
  const std::lock_guard lock(mutex_);
  for (const auto& [name, transaction] : named_) {
    if (transaction->GetState() == rocksdb::Transaction::PREPARED) trans->push_back(transaction);
  }
}

// ---- Locks

void TransactionDBImpl::add(PessimisticTransaction* transaction) {
  const std::lock_guard lock(mutex_);
  all_.insert(transaction);
}

void TransactionDBImpl::remove(PessimisticTransaction* transaction) {
  const std::lock_guard lock(mutex_);
  all_.erase(transaction);
}

bool TransactionDBImpl::is_full_of_locks(uint32_t family) const {
  if (options_.max_num_locks <= 0) return false;
  const std::lock_guard lock(mutex_);
  size_t count = 0;
  for (const PessimisticTransaction* transaction : all_) count += transaction->locks_in(family);
  return count >= static_cast<size_t>(options_.max_num_locks);
}

std::unordered_multimap<uint32_t, rocksdb::KeyLockInfo> TransactionDBImpl::GetLockStatusData() {
  std::map<std::pair<uint32_t, std::string>, rocksdb::KeyLockInfo> by_key;
  {
    const std::lock_guard lock(mutex_);
    for (const PessimisticTransaction* transaction : all_) {
      const TransactionID id = transaction->GetID();
      transaction->each_lock([&](uint32_t family, const std::string& key, bool exclusive) {
        rocksdb::KeyLockInfo& info = by_key[{family, key}];
        info.key = key;
        info.ids.push_back(id);
        info.exclusive = exclusive;
      });
    }
  }
  std::unordered_multimap<uint32_t, rocksdb::KeyLockInfo> result;
  for (auto& [name, info] : by_key) result.emplace(name.first, std::move(info));
  return result;
}

std::vector<TransactionID> TransactionDBImpl::blockers_of(
    const PessimisticTransaction& waiter) const {
  std::vector<TransactionID> ids;
  const std::lock_guard lock(mutex_);
  const auto wait = waiter.waits_for();
  if (!wait.has_value()) return ids;
  for (const PessimisticTransaction* other : all_) {
    if (other != &waiter && other->blocks(*wait)) ids.push_back(other->GetID());
  }
  return ids;
}

// Those who wait in the circle cannot go on, so that it is still there when this looks.
void TransactionDBImpl::note_deadlock(const PessimisticTransaction& victim) {
  const std::lock_guard lock(mutex_);
  std::map<const PessimisticTransaction*, const PessimisticTransaction*> reached_from;
  std::vector<const PessimisticTransaction*> to_visit = {&victim};
  const PessimisticTransaction* last = nullptr;
  while (!to_visit.empty() && last == nullptr) {
    const PessimisticTransaction* const waiter = to_visit.back();
    to_visit.pop_back();
    const auto wait = waiter->waits_for();
    if (!wait.has_value()) continue;
    for (const PessimisticTransaction* other : all_) {
      if (other == waiter || !other->blocks(*wait)) continue;
      if (other == &victim) last = waiter;
      if (other != &victim && reached_from.try_emplace(other, waiter).second) {
        to_visit.push_back(other);
      }
    }
  }
  std::vector<rocksdb::DeadlockInfo> path;
  for (const PessimisticTransaction* at = last; at != nullptr;) {
    const auto wait = at->waits_for();
    if (wait.has_value()) path.push_back({at->GetID(), wait->family, wait->exclusive, wait->key});
    at = at == &victim ? nullptr : reached_from.at(at);
  }
  std::reverse(path.begin(), path.end());
  const int64_t now = std::time(nullptr);
  deadlocks_.push_front(path.empty() ? rocksdb::DeadlockPath(now, true)
                                     : rocksdb::DeadlockPath(std::move(path), now));
  if (deadlocks_.size() > deadlocks_max_) deadlocks_.pop_back();
}

std::vector<rocksdb::DeadlockPath> TransactionDBImpl::GetDeadlockInfoBuffer() {
  const std::lock_guard lock(mutex_);
  return {deadlocks_.begin(), deadlocks_.end()};
}

void TransactionDBImpl::SetDeadlockInfoBufferSize(uint32_t target_size) {
  const std::lock_guard lock(mutex_);
  deadlocks_max_ = target_size;
  while (deadlocks_.size() > deadlocks_max_) deadlocks_.pop_back();
}

std::optional<std::chrono::steady_clock::time_point> TransactionDBImpl::next_expiry(
    const PessimisticTransaction& but) const {
  const std::lock_guard lock(mutex_);
  std::optional<std::chrono::steady_clock::time_point> next;
  for (const PessimisticTransaction* other : all_) {
    if (other == &but) continue;
    const auto at = other->expires_at();
    if (at.has_value() && (!next.has_value() || *at < *next)) next = at;
  }
  return next;
}

bool TransactionDBImpl::steal_expired(const PessimisticTransaction& but) {
  const std::lock_guard lock(mutex_);
  bool released = false;
  for (PessimisticTransaction* other : all_) {
    if (other != &but && other->steal_locks()) released = true;
  }
  return released;
}

}  // namespace hawthorn::rocks

namespace rocksdb {

using hawthorn::rocks::DBImpl;
using hawthorn::rocks::TransactionDBImpl;

Status TransactionDB::Open(const Options& options, const TransactionDBOptions& txn_db_options,
                           const std::string& dbname, TransactionDB** dbptr) try {
  std::vector<ColumnFamilyHandle*> handles;
  Status status = Open(options, txn_db_options, dbname,
                       {{kDefaultColumnFamilyName, ColumnFamilyOptions(options)}}, &handles, dbptr);
  for (ColumnFamilyHandle* handle : handles) delete handle;
  return status;
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

Status TransactionDB::Open(const DBOptions& db_options, const TransactionDBOptions& txn_db_options,
                           const std::string& dbname,
                           const std::vector<ColumnFamilyDescriptor>& column_families,
                           std::vector<ColumnFamilyHandle*>* handles, TransactionDB** dbptr) try {
  *dbptr = nullptr;
  const bool may_be_unordered =
      txn_db_options.write_policy == WRITE_PREPARED && db_options.two_write_queues;
  if (db_options.unordered_write && !may_be_unordered) {
    return Status::NotSupported("the write policy is incompatible with unordered_writes");
  }
  std::unique_ptr<DB> db;
  Status status = DBImpl::open(db_options, dbname, column_families, handles, false, &db,
                               hawthorn::rocks::wait_of(txn_db_options.default_lock_timeout));
  if (!status.ok()) return status;
  status = WrapDB(db.get(), txn_db_options, {}, *handles, dbptr);
  if (status.ok()) {
    static_cast<void>(db.release());
    return status;
  }
  for (ColumnFamilyHandle* handle : *handles) delete handle;
  handles->clear();
  return status;
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

void TransactionDB::PrepareWrap(DBOptions* db_options,
                                std::vector<ColumnFamilyDescriptor>* column_families,
                                std::vector<size_t>* compaction_enabled_cf_indices) {
  compaction_enabled_cf_indices->clear();
  for (size_t i = 0; i < column_families->size(); ++i) {
    ColumnFamilyOptions& family = (*column_families)[i].options;
    if (family.max_write_buffer_size_to_maintain == 0) {
      family.max_write_buffer_size_to_maintain = -1;
    }
    if (family.disable_auto_compactions) continue;
    family.disable_auto_compactions = true;
    compaction_enabled_cf_indices->push_back(i);
  }
  db_options->allow_2pc = true;
}

Status TransactionDB::WrapDB(DB* db, const TransactionDBOptions& txn_db_options,
                             const std::vector<size_t>&, const std::vector<ColumnFamilyHandle*>&,
                             TransactionDB** dbptr) {
  return TransactionDBImpl::wrap(db, txn_db_options, dbptr);
}

Status TransactionDB::WrapStackableDB(StackableDB* db, const TransactionDBOptions& txn_db_options,
                                      const std::vector<size_t>&,
                                      const std::vector<ColumnFamilyHandle*>&,
                                      TransactionDB** dbptr) {
  return TransactionDBImpl::wrap(db, txn_db_options, dbptr);
}

}  // namespace rocksdb
