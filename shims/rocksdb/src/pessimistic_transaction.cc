#include "shims/rocksdb/src/pessimistic_transaction.h"

#include <algorithm>

#include "shims/rocksdb/src/convert.h"
#include "shims/rocksdb/src/transaction_db_impl.h"

namespace hawthorn::rocks {

using rocksdb::Slice;
using S = rocksdb::Status;

namespace {

// The engine's limit of the id of a prepared transaction.
constexpr size_t kNameBytesMax = 200;
// A wait without a limit, in milliseconds: some thirty years.
constexpr uint64_t kForeverMs = 1'000'000'000'000;

rocksdb::TransactionID next_number() {
  static std::atomic<rocksdb::TransactionID> last{0};
  return last.fetch_add(1) + 1;
}

}  // namespace

uint64_t wait_of(int64_t timeout_ms) {
  return timeout_ms < 0 ? kForeverMs : std::min(static_cast<uint64_t>(timeout_ms), kForeverMs);
}

PessimisticTransaction::PessimisticTransaction(TransactionDBImpl* transactions, DBImpl* db,
                                               const rocksdb::WriteOptions& write_options,
                                               const rocksdb::TransactionOptions& options)
    : TransactionBase(db, write_options), transactions_(transactions) {
  initialize(options);
  transactions_->add(this);
}

PessimisticTransaction::PessimisticTransaction(TransactionDBImpl* transactions, DBImpl* db,
                                               const std::string& name)
    : TransactionBase(db, rocksdb::WriteOptions()), transactions_(transactions), found_(true) {
  initialize(rocksdb::TransactionOptions());
  write_options_.sync = true;
  name_ = name;
  txn_state_ = PREPARED;
  registered_ = transactions_->add_name(name, this).ok();
  transactions_->add(this);
}

PessimisticTransaction::~PessimisticTransaction() {
  set_expiry(kNever);
  transactions_->remove(this);
  unregister();
  const std::lock_guard lock(engine_mutex_);
  end_engine();
}

void PessimisticTransaction::begin_again(const rocksdb::WriteOptions& write_options,
                                         const rocksdb::TransactionOptions& options) {
  unregister();
  clear_all();
  TransactionBase::begin_again(write_options);
  found_ = false;
  initialize(options);
}

void PessimisticTransaction::initialize(const rocksdb::TransactionOptions& options) {
  number_ = next_number();
  set_expiry(kNever);
  txn_state_ = STARTED;
  deadlock_detect_ = options.deadlock_detect;
  skips_locks_ = options.skip_concurrency_control;
  skips_prepare_ = options.skip_prepare;
  lock_timeout_ms_ = options.lock_timeout >= 0 ? options.lock_timeout
                                               : transactions_->options().transaction_lock_timeout;
  batch_.SetMaxBytes(options.max_write_batch_size);
  if (options.expiration >= 0) {
    const auto end = began_ + std::chrono::milliseconds(options.expiration);
    set_expiry(std::max<Clock::rep>(end.time_since_epoch().count(), 1));
  }
  if (options.set_snapshot) SetSnapshot();
}

void PessimisticTransaction::set_expiry(Clock::rep at) {
  const bool before = expires_.exchange(at) != kNever;
  if (before == (at != kNever)) return;
  before ? transactions_->expirable_went() : transactions_->expirable_came();
}

// ---- Locks

S PessimisticTransaction::begin_engine() {
  if (begun_) return S::OK();
  hawthorn::Result<hawthorn::Transaction> begun =
      db_->engine().begin({.mode = hawthorn::TxnMode::kPessimistic,
                           .isolation = hawthorn::Isolation::kReadCommitted,
                           .lock_timeout_ms = wait_of(lock_timeout_ms_)});
  if (!begun.ok()) return db_->told(begun.status());
  engine_ = std::move(*begun);
  begun_ = true;
  return S::OK();
}

void PessimisticTransaction::end_engine() {
  engine_ = hawthorn::Transaction();
  begun_ = false;
  may_be_in_parts_ = false;
  last_lock_.reset();
  for (std::optional<hawthorn::Savepoint>& mark : marks_) mark.reset();
}

void PessimisticTransaction::forget_last_lock() {
  if (last_lock_.has_value() && begun_) static_cast<void>(engine_.release(*last_lock_));
  last_lock_.reset();
}

void PessimisticTransaction::give_back_last_lock() {
  if (last_lock_.has_value() && begun_) static_cast<void>(engine_.rollback_to(*last_lock_));
  forget_last_lock();
}

hawthorn::Status PessimisticTransaction::take_row(const Family& family, const Slice& key,
                                                  hawthorn::RowLock mode) {
  hawthorn::Status status = engine_.lock(family.tree, view(key), mode, 0);
  if (!status.is(StatusCode::kTimedOut)) return status;
  if (transactions_->any_expirable() && transactions_->steal_expired(*this)) {
    status = engine_.lock(family.tree, view(key), mode, 0);
  }
  if (!status.is(StatusCode::kTimedOut) || lock_timeout_ms_ == 0) return status;
  {
    const std::lock_guard lock(keys_mutex_);
    wait_ = Wait{family.id, key.ToString(), mode == hawthorn::RowLock::kExclusive};
  }
  perf_count(&rocksdb::PerfContextBase::key_lock_wait_count);
  {
    const PerfTimer timer(&rocksdb::PerfContextBase::key_lock_wait_time);
    status = wait_for_row(family, key, mode);
  }
  if (status.is(StatusCode::kDeadlock)) transactions_->note_deadlock(*this);
  const std::lock_guard lock(keys_mutex_);
  wait_.reset();
  return status;
}

// Where somebody may expire, it looks again when that happens, and gets the locks.
hawthorn::Status PessimisticTransaction::wait_for_row(const Family& family, const Slice& key,
                                                      hawthorn::RowLock mode) {
  using std::chrono::milliseconds;
  const auto deadline = Clock::now() + milliseconds(wait_of(lock_timeout_ms_));
  for (;;) {
    auto until = deadline;
    if (transactions_->any_expirable()) {
      if (const auto next = transactions_->next_expiry(*this)) until = std::min(until, *next);
      if (const Clock::rep own = expires_; own != kNever) {
        until = std::min(until, Clock::time_point(Clock::duration(own)));
      }
    }
    const auto left = std::chrono::ceil<milliseconds>(until - Clock::now()).count();
    const uint64_t wait_ms = left < 1 ? 1 : static_cast<uint64_t>(left);
    hawthorn::Status status = engine_.lock(family.tree, view(key), mode, wait_ms);
    if (!status.is(StatusCode::kTimedOut)) return status;
    if (transactions_->any_expirable() && transactions_->steal_expired(*this)) continue;
    if (Clock::now() >= deadline || is_expired()) return status;
  }
}

S PessimisticTransaction::lock_row(const Family& family, const Slice& key, bool exclusive) {
  const std::lock_guard lock(engine_mutex_);
  if (txn_state_ == LOCKS_STOLEN) return S::OK();
  if (S s = begin_engine(); !s.ok()) return s;
  forget_last_lock();
  hawthorn::Result<hawthorn::Savepoint> before = engine_.savepoint();
  if (!before.ok()) return db_->told(before.status());
  last_lock_ = *before;
  const hawthorn::Status status =
      take_row(family, key, exclusive ? hawthorn::RowLock::kExclusive : hawthorn::RowLock::kShared);
  if (!status.ok()) {
    forget_last_lock();
    return db_->told(status);
  }
  last_locked_ = {family.id, key.ToString()};
  return S::OK();
}

S PessimisticTransaction::track(const Family& family, const Slice& key, bool read_only,
                                bool exclusive, bool validate, bool assume_tracked) {
  if (skips_locks_) return S::OK();
  if (txn_state_ != STARTED && txn_state_ != LOCKS_STOLEN) {
    return S::InvalidArgument("Transaction is beyond state for reads for update and writes.");
  }
  const TrackedKeys::View name(family.id, view(key));
  const TrackedKey* const known = keys_.find(name);
  if (assume_tracked && known == nullptr) {
    return S::InvalidArgument("assume_tracked is set but it is not tracked yet");
  }
  const bool takes_lock = known == nullptr || (exclusive && !known->exclusive);
  if (known == nullptr && transactions_->is_full_of_locks(family.id)) return S::LockLimit();
  S s = takes_lock ? lock_row(family, key, exclusive) : S::OK();
  take_snapshot_if_wanted();
  if (!s.ok()) return s;
  uint64_t unchanged_since =
      known == nullptr ? TrackedKey().unchanged_since : known->unchanged_since;
  if (validate && snapshot_failed_) s = S::MemoryLimit("the engine has given no snapshot");
  if (s.ok() && validate && snapshot_ != nullptr &&
      unchanged_since > snapshot_->GetSequenceNumber()) {
    const hawthorn::Result<bool> changed = db_->engine().changed_since(
        family.tree, view(key), static_cast<const SnapshotImpl&>(*snapshot_).view());
    if (!changed.ok()) s = db_->told(changed.status());
    if (changed.ok() && *changed) s = S::Busy();
    unchanged_since = snapshot_->GetSequenceNumber();
  }
  if (!s.ok()) {
    const std::lock_guard lock(engine_mutex_);
    if (takes_lock) give_back_last_lock();
    return s;
  }
  if (!assume_tracked) note(name, read_only, exclusive).unchanged_since = unchanged_since;
  return S::OK();
}

void PessimisticTransaction::untracked(const TrackedKeys::View& name) {
  const std::lock_guard lock(engine_mutex_);
  if (last_lock_.has_value() && TrackedKeys::View(last_locked_) == name) give_back_last_lock();
}

void PessimisticTransaction::set_mark() {
  const std::lock_guard lock(engine_mutex_);
  forget_last_lock();
  marks_.emplace_back();
  if (!begun_) return;
  const hawthorn::Result<hawthorn::Savepoint> mark = engine_.savepoint();
  if (mark.ok()) marks_.back() = *mark;
}

S PessimisticTransaction::roll_back_to_mark() {
  const std::lock_guard lock(engine_mutex_);
  last_lock_.reset();
  const std::optional<hawthorn::Savepoint> mark = marks_.back();
  if (begun_ && mark.has_value()) {
    if (hawthorn::Status s = engine_.rollback_to(*mark); !s.ok()) return db_->told(s);
    static_cast<void>(engine_.release(*mark));
  } else if (begun_) {
    end_engine();  // all that it holds was locked since
  }
  marks_.pop_back();
  return S::OK();
}

void PessimisticTransaction::pop_mark() {
  const std::lock_guard lock(engine_mutex_);
  last_lock_.reset();
  if (begun_ && marks_.back().has_value()) static_cast<void>(engine_.release(*marks_.back()));
  marks_.pop_back();
}

S PessimisticTransaction::RollbackToSavePoint() {
  if (txn_state_ != STARTED) {
    return S::InvalidArgument("Transaction is beyond state for rollback.");
  }
  return TransactionBase::RollbackToSavePoint();
}

S PessimisticTransaction::CollapseKey(const rocksdb::ReadOptions& options, const Slice& key,
                                      Handle* family) {
  std::string value;
  S s = GetForUpdate(options, family, key, &value, true, true);
  return s.ok() ? Put(family, key, value, false) : s;
}

// ---- Ends

bool PessimisticTransaction::leave_started(TransactionState to) {
  TransactionState expected = STARTED;
  return txn_state_.compare_exchange_strong(expected, to);
}

S PessimisticTransaction::wrong_state() const {
  switch (txn_state_) {
    case LOCKS_STOLEN:
      return S::Expired();
    case PREPARED:
      return S::InvalidArgument("Transaction has already been prepared.");
    case COMMITTED:
      return S::InvalidArgument("Transaction has already been committed.");
    case ROLLEDBACK:
      return S::InvalidArgument("Transaction has already been rolledback.");
    default:
      return S::InvalidArgument("Transaction is not in state for commit.");
  }
}

void PessimisticTransaction::clear_all() {
  {
    const std::lock_guard lock(engine_mutex_);
    end_engine();
    marks_.clear();
  }
  clear();
}

void PessimisticTransaction::unregister() {
  if (std::exchange(registered_, false)) transactions_->remove_name(name_);
}

S PessimisticTransaction::SetName(const rocksdb::TransactionName& name) {
  if (txn_state_ != STARTED) {
    return S::InvalidArgument("Transaction is beyond state for naming.");
  }
  if (!name_.empty()) return S::InvalidArgument("Transaction has already been named.");
  if (name.empty() || name.size() > kNameBytesMax) {
    return S::InvalidArgument("Transaction name length must be between 1 and " +
                              std::to_string(kNameBytesMax) + " chars.");
  }
  S s = transactions_->add_name(name, this);
  if (!s.ok()) return s;
  name_ = name;
  registered_ = true;
  return s;
}

S PessimisticTransaction::Prepare() {
  if (name_.empty()) {
    return S::InvalidArgument("Cannot prepare a transaction that has not been named.");
  }
  if (is_expired()) return S::Expired();
  if (!leave_started(AWAITING_PREPARE)) return wrong_state();
  set_expiry(kNever);
  S s = prepare_now();
  // Where it failed it is as before, but that it does not expire.
  txn_state_ = s.ok() ? PREPARED : STARTED;
  return s;
}

S PessimisticTransaction::prepare_now() {
  const std::lock_guard lock(engine_mutex_);
  if (S s = begin_engine(); !s.ok()) return s;
  forget_last_lock();
  const hawthorn::Result<hawthorn::Savepoint> before = engine_.savepoint();
  if (!before.ok()) return db_->told(before.status());
  may_be_in_parts_ = true;
  S s = apply(batch());
  if (s.ok()) s = db_->told(engine_.prepare(name_));
  if (!s.ok()) {
    static_cast<void>(engine_.rollback_to(*before));
    static_cast<void>(engine_.release(*before));
  }
  return s;
}

S PessimisticTransaction::apply(const rocksdb::WriteBatch& what) {
  S s = db_->apply_all(engine_, write_options_, what.Data());
  if (!s.ok() || !may_be_in_parts_) return s;
  return db_->told(db_->note_prepared(engine_, what.Count()));
}

S PessimisticTransaction::Commit() {
  if (is_expired()) return S::Expired();
  if (txn_state_ == PREPARED) return commit_prepared();
  if (txn_state_ == STARTED && !skips_prepare_ && expires_ == kNever) return S::TxnNotPrepared();
  if (!leave_started(AWAITING_COMMIT)) return wrong_state();
  return commit_unprepared();
}

S PessimisticTransaction::commit_unprepared() {
  set_expiry(kNever);
  S s = commit_time_batch_.Count() > 0
            ? S::InvalidArgument("Commit-time batch contains values that will not be committed.")
            : write_out(batch());
  unregister();
  clear_all();
  if (s.ok()) txn_state_ = COMMITTED;
  return s;
}

S PessimisticTransaction::write_out(const rocksdb::WriteBatch& what) {
  if (S s = check_options(write_options_); !s.ok()) return s;
  if (what.Count() == 0) {
    return write_options_.sync ? db_->told(db_->engine().sync()) : S::OK();
  }
  const std::lock_guard lock(engine_mutex_);
  if (S s = begin_engine(); !s.ok()) return s;
  const Measured call(db_->statistics(), rocksdb::DB_WRITE,
                      &rocksdb::PerfContextBase::write_wal_time);
  S s = apply(what);
  if (s.ok()) s = db_->told(engine_.commit(durability_of(write_options_)));
  count_commit(call, s, what);
  end_engine();
  return s;
}

S PessimisticTransaction::commit_prepared() {
  if (commit_time_batch_.Count() > 0) {
    return S::NotSupported("a commit-time batch", "what is prepared takes no more writes");
  }
  txn_state_ = AWAITING_COMMIT;
  const hawthorn::Durability durability = durability_of(write_options_);
  const Measured call(db_->statistics(), rocksdb::DB_WRITE,
                      &rocksdb::PerfContextBase::write_wal_time);
  hawthorn::Status status;
  {
    const std::lock_guard lock(engine_mutex_);
    status = found_ ? db_->engine().commit_prepared(name_, durability) : engine_.commit(durability);
  }
  if (!status.ok()) {
    txn_state_ = PREPARED;
    return db_->told(status);
  }
  count_commit(call, status, batch());
  unregister();
  clear_all();
  txn_state_ = COMMITTED;
  return S::OK();
}

S PessimisticTransaction::Rollback() {
  if (txn_state_ == PREPARED) {
    txn_state_ = AWAITING_ROLLBACK;
    hawthorn::Status status;
    {
      const std::lock_guard lock(engine_mutex_);
      status = db_->engine().rollback_prepared(name_);
    }
    if (!status.ok()) {
      txn_state_ = PREPARED;
      return db_->told(status);
    }
    clear_all();
    txn_state_ = ROLLEDBACK;
    return S::OK();
  }
  if (txn_state_ == STARTED) {
    clear_all();
    return S::OK();
  }
  if (txn_state_ == COMMITTED) {
    return S::InvalidArgument("This transaction has already been committed.");
  }
  return S::InvalidArgument("Two phase transaction is not in state for rollback.");
}

namespace {

// The keys of a batch, so that all who write batches lock them in one order.
class BatchKeys final : public rocksdb::WriteBatch::Handler {
 public:
  S PutCF(uint32_t family, const Slice& key, const Slice&) override { return add(family, key); }
  S PutEntityCF(uint32_t family, const Slice& key, const Slice&) override {
    return add(family, key);
  }
  S DeleteCF(uint32_t family, const Slice& key) override { return add(family, key); }
  S SingleDeleteCF(uint32_t family, const Slice& key) override { return add(family, key); }
  S MergeCF(uint32_t family, const Slice& key, const Slice&) override { return add(family, key); }

  std::set<TrackedKeys::View> keys;  // of the batch's bytes

 private:
  S add(uint32_t family, const Slice& key) {
    keys.emplace(family, view(key));
    return S::OK();
  }
};

}  // namespace

S PessimisticTransaction::commit_batch(const rocksdb::WriteBatch& updates) {
  BatchKeys sorted;
  if (S s = updates.Iterate(&sorted); !s.ok()) return s;
  std::shared_ptr<Family> family;
  for (const auto& [id, key] : sorted.keys) {
    if (family == nullptr || family->id != id) family = db_->find_family(id);
    if (family == nullptr) continue;  // the write says what of that
    if (S s = track(*family, slice(key), false, true, false, false); !s.ok()) return s;
  }
  if (!leave_started(AWAITING_COMMIT)) return wrong_state();
  S s = write_out(updates);
  clear_all();
  return s;
}

// ---- Asked by others

std::optional<PessimisticTransaction::Wait> PessimisticTransaction::waits_for() const {
  const std::lock_guard lock(keys_mutex_);
  return wait_;
}

bool PessimisticTransaction::blocks(const Wait& wait) const {
  const std::lock_guard lock(keys_mutex_);
  if (txn_state_ == LOCKS_STOLEN) return false;
  const auto found = keys_.map().find(TrackedKeys::View(wait.family, wait.key));
  return found != keys_.map().end() && (wait.exclusive || found->second.exclusive);
}

size_t PessimisticTransaction::locks_in(uint32_t family) const {
  const std::lock_guard lock(keys_mutex_);
  return txn_state_ == LOCKS_STOLEN ? 0 : keys_.count_of(family);
}

std::optional<PessimisticTransaction::Clock::time_point> PessimisticTransaction::expires_at()
    const {
  const Clock::rep at = expires_;
  const TransactionState state = txn_state_;
  const bool may_expire = at != kNever && state == STARTED;
  if (!may_expire && !(state == LOCKS_STOLEN && begun_)) return std::nullopt;
  return Clock::time_point(Clock::duration(at));
}

bool PessimisticTransaction::steal_locks() {
  if (is_expired()) leave_started(LOCKS_STOLEN);
  if (txn_state_ != LOCKS_STOLEN) return false;
  // Who is in a call of its own is asked again.
  const std::unique_lock lock(engine_mutex_, std::try_to_lock);
  if (!lock.owns_lock() || !begun_) return false;
  end_engine();
  return true;
}

std::vector<rocksdb::TransactionID> PessimisticTransaction::GetWaitingTxns(uint32_t* family,
                                                                           std::string* key) const {
  const std::optional<Wait> wait = waits_for();
  if (!wait.has_value()) return {};
  if (family != nullptr) *family = wait->family;
  if (key != nullptr) *key = wait->key;
  return transactions_->blockers_of(*this);
}

}  // namespace hawthorn::rocks
