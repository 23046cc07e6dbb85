#pragma once
// A transaction that holds the rows of its keys: a transaction of the engine takes the locks as
// they are asked for, and gets the writes when it commits or prepares.
//
// Not here: who holds what, of all transactions (transaction_db_impl.h).
// Threads: its own, but for what TransactionDBImpl asks, which is guarded by keys_mutex_, and the
// stealing of locks, by engine_mutex_. The mutex of TransactionDBImpl is taken before either, or
// behind engine_mutex_ by who waits; so who holds it only tries engine_mutex_.
//
// 1. engine_ holds exactly the locks of keys_, but for those that UndoGetForUpdate could not give
//    back.
// 2. LOCKS_STOLEN is set while it is STARTED, by another thread that wants its locks; from then on
//    it takes none, and its commit fails.

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "rocksdb/utilities/transaction_db.h"
#include "shims/rocksdb/src/transaction_base.h"

namespace hawthorn::rocks {

class TransactionDBImpl;

class PessimisticTransaction final : public TransactionBase {
 public:
  PessimisticTransaction(TransactionDBImpl* transactions, DBImpl* db,
                         const rocksdb::WriteOptions& write_options,
                         const rocksdb::TransactionOptions& options);
  // One that an earlier process has prepared.
  PessimisticTransaction(TransactionDBImpl* transactions, DBImpl* db, const std::string& name);
  ~PessimisticTransaction() override;

  void begin_again(const rocksdb::WriteOptions& write_options,
                   const rocksdb::TransactionOptions& options);

  Status Prepare() override;
  Status Commit() override;
  Status Rollback() override;
  Status RollbackToSavePoint() override;
  Status CollapseKey(const rocksdb::ReadOptions& options, const Slice& key,
                     Handle* family) override;
  void SetLockTimeout(int64_t timeout) override { lock_timeout_ms_ = timeout; }
  Status SetName(const rocksdb::TransactionName& name) override;
  rocksdb::TransactionID GetID() const override { return number_; }
  bool IsDeadlockDetect() const override { return deadlock_detect_; }
  std::vector<rocksdb::TransactionID> GetWaitingTxns(uint32_t* family,
                                                     std::string* key) const override;

  // A write of its own: the keys of a batch, in their order, then the batch.
  Status commit_batch(const rocksdb::WriteBatch& updates);

  // ---- For TransactionDBImpl, from any thread.

  struct Wait {
    uint32_t family;
    std::string key;
    bool exclusive;
  };
  std::optional<Wait> waits_for() const;
  // Whether it holds the row in a way that keeps the other waiting.
  bool blocks(const Wait& wait) const;
  size_t locks_in(uint32_t family) const;
  template <typename Visit>
  void each_lock(const Visit& visit) const {
    const std::lock_guard lock(keys_mutex_);
    if (txn_state_ == LOCKS_STOLEN) return;
    for (const auto& [name, key] : keys_.map()) visit(name.first, name.second, key.exclusive);
  }
  // When others may have its locks; nothing: never, or they have them already.
  std::optional<Clock::time_point> expires_at() const;
  // Of one that has expired: true where locks have been released.
  bool steal_locks();

 private:
  Status track(const Family& family, const Slice& key, bool read_only, bool exclusive,
               bool validate, bool assume_tracked) override;
  void set_mark() override;
  Status roll_back_to_mark() override;
  void pop_mark() override;
  void untracked(const TrackedKeys::View& name) override;

  void initialize(const rocksdb::TransactionOptions& options);
  bool is_expired() const {
    return expires_.load() != kNever && Clock::now().time_since_epoch().count() >= expires_.load();
  }
  // From STARTED; false where its locks were stolen in between.
  bool leave_started(TransactionState to);
  Status wrong_state() const;
  Status begin_engine();
  Status lock_row(const Family& family, const Slice& key, bool exclusive);
  hawthorn::Status take_row(const Family& family, const Slice& key, hawthorn::RowLock mode);
  hawthorn::Status wait_for_row(const Family& family, const Slice& key, hawthorn::RowLock mode);
  // Under engine_mutex_. Forgets where the newest lock began, or goes back there.
  void forget_last_lock();
  void give_back_last_lock();
  void end_engine();
  Status commit_unprepared();
  Status commit_prepared();
  Status prepare_now();
  // What was written, to the engine's transaction.
  Status apply(const rocksdb::WriteBatch& what);
  Status write_out(const rocksdb::WriteBatch& what);
  void set_expiry(Clock::rep at);
  void clear_all();
  void unregister();

  static constexpr Clock::rep kNever = 0;

  TransactionDBImpl* const transactions_;
  std::atomic<rocksdb::TransactionID> number_{0};
  std::atomic<int64_t> lock_timeout_ms_{0};
  std::atomic<Clock::rep> expires_{kNever};
  bool deadlock_detect_ = false;
  bool skips_locks_ = false;
  bool skips_prepare_ = true;
  bool found_ = false;       // prepared by an earlier process
  bool registered_ = false;  // its name

  std::mutex engine_mutex_;
  hawthorn::Transaction engine_;
  std::atomic<bool> begun_{false};                         // engine_ is one
  bool may_be_in_parts_ = false;                           // in the log: it was to be prepared
  std::vector<std::optional<hawthorn::Savepoint>> marks_;  // of savepoints; none: not begun then
  std::optional<hawthorn::Savepoint> last_lock_;           // before the newest lock
  TrackedKeys::Name last_locked_;
  std::optional<Wait> wait_;  // guarded by keys_mutex_
};

}  // namespace hawthorn::rocks
