#pragma once
// TransactionDB: which transactions there are, what they are called, and who waits for whom.
//
// Not here: a transaction (pessimistic_transaction.h).
// Threads: all functions from any thread. mutex_ is taken before a transaction's keys_mutex_; of
// one who waits behind its engine_mutex_.

#include <atomic>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "rocksdb/utilities/transaction_db.h"
#include "shims/rocksdb/src/db_impl.h"
#include "shims/rocksdb/src/pessimistic_transaction.h"

namespace hawthorn::rocks {

class TransactionDBImpl final : public rocksdb::TransactionDB,
                                public LeftToItsProcess<TransactionDBImpl> {
 public:
  using Handle = rocksdb::ColumnFamilyHandle;
  using rocksdb::TransactionDB::Delete;
  using rocksdb::TransactionDB::Merge;
  using rocksdb::TransactionDB::Put;
  using rocksdb::TransactionDB::PutEntity;
  using rocksdb::TransactionDB::SingleDelete;

  // Takes the database over where that succeeds.
  static rocksdb::Status wrap(rocksdb::DB* db, const rocksdb::TransactionDBOptions& options,
                              rocksdb::TransactionDB** made);
  ~TransactionDBImpl() override;

  rocksdb::Status Put(const rocksdb::WriteOptions& options, Handle* handle,
                      const rocksdb::Slice& key, const rocksdb::Slice& value) override;
  rocksdb::Status PutEntity(const rocksdb::WriteOptions& options, Handle* handle,
                            const rocksdb::Slice& key,
                            const rocksdb::WideColumns& columns) override;
  rocksdb::Status PutEntity(const rocksdb::WriteOptions& options, const rocksdb::Slice& key,
                            const rocksdb::AttributeGroups& groups) override;
  rocksdb::Status Delete(const rocksdb::WriteOptions& options, Handle* handle,
                         const rocksdb::Slice& key) override;
  rocksdb::Status SingleDelete(const rocksdb::WriteOptions& options, Handle* handle,
                               const rocksdb::Slice& key) override;
  rocksdb::Status Merge(const rocksdb::WriteOptions& options, Handle* handle,
                        const rocksdb::Slice& key, const rocksdb::Slice& value) override;
  rocksdb::Status Write(const rocksdb::WriteOptions& options,
                        rocksdb::WriteBatch* updates) override;
  rocksdb::Status Write(const rocksdb::WriteOptions& options,
                        const rocksdb::TransactionDBWriteOptimizations& optimizations,
                        rocksdb::WriteBatch* updates) override;

  rocksdb::Transaction* BeginTransaction(const rocksdb::WriteOptions& write_options,
                                         const rocksdb::TransactionOptions& txn_options,
                                         rocksdb::Transaction* old_txn) override;
  rocksdb::Transaction* GetTransactionByName(const rocksdb::TransactionName& name) override;
  void GetAllPreparedTransactions(std::vector<rocksdb::Transaction*>* trans) override;
  std::unordered_multimap<uint32_t, rocksdb::KeyLockInfo> GetLockStatusData() override;
  std::vector<rocksdb::DeadlockPath> GetDeadlockInfoBuffer() override;
  void SetDeadlockInfoBufferSize(uint32_t target_size) override;

  // ---- For transactions.

  const rocksdb::TransactionDBOptions& options() const { return options_; }
  void add(PessimisticTransaction* transaction);
  void remove(PessimisticTransaction* transaction);
  rocksdb::Status add_name(const std::string& name, PessimisticTransaction* transaction);
  void remove_name(const std::string& name);
  // Whether the family has as many locks as it may.
  bool is_full_of_locks(uint32_t family) const;
  std::vector<rocksdb::TransactionID> blockers_of(const PessimisticTransaction& waiter) const;
  // It waits, and was told that it waits for itself.
  void note_deadlock(const PessimisticTransaction& victim);
  // Counts those that may expire, so that others need not look.
  void expirable_came() { expirable_.fetch_add(1); }
  void expirable_went() { expirable_.fetch_sub(1); }
  bool any_expirable() const { return expirable_.load() != 0; }
  // When the next of the others expires: until then it is no use to look.
  std::optional<std::chrono::steady_clock::time_point> next_expiry(
      const PessimisticTransaction& but) const;
  // Takes the locks of those that have expired away; true where some were released.
  bool steal_expired(const PessimisticTransaction& but);

 private:
  TransactionDBImpl(rocksdb::DB* db, DBImpl* root, const rocksdb::TransactionDBOptions& options)
      : rocksdb::TransactionDB(db), root_(root), options_(options) {
    deadlocks_max_ = options.max_num_deadlocks;
  }
  rocksdb::Status find_prepared();
  // Whether the engine's own wait for rows is the one that is wanted.
  bool writes_plainly() const;
  rocksdb::Status write_locked(const rocksdb::WriteOptions& options,
                               const rocksdb::WriteBatch& updates);

  DBImpl* const root_;
  const rocksdb::TransactionDBOptions options_;
  mutable std::mutex mutex_;
  std::set<PessimisticTransaction*> all_;
  std::map<std::string, PessimisticTransaction*> named_;
  std::deque<rocksdb::DeadlockPath> deadlocks_;  // the newest first
  uint32_t deadlocks_max_ = 0;
  std::atomic<uint32_t> expirable_{0};
};

// The wait of the engine for a time-out of RocksDB's.
uint64_t wait_of(int64_t timeout_ms);

}  // namespace hawthorn::rocks
