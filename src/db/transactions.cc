// The public Transaction, and the compare-and-set forms of Db.

#include "db/cursor_impl.h"
#include "db/large_values.h"

namespace hawthorn {

namespace {
// The transaction that this thread used last, with its buffers.
struct SpareTxn {
  uint64_t instance = 0;
  std::unique_ptr<txn::Txn> txn;
};
thread_local SpareTxn spare_txn;

Status no_transaction() {
  return Status(StatusCode::kInvalidArgument, "the transaction was never begun, or moved away");
}
Status ended() { return Status(StatusCode::kInvalidArgument, "the transaction has ended"); }
}  // namespace

// A transaction, or one that is nested in another: then its writes are the other's from a mark on.
class Transaction::Impl {
 public:
  explicit Impl(Db::Impl* db)
      : db_(db),
        held_(spare_txn.instance == db->instance_ && spare_txn.txn != nullptr
                  ? std::move(spare_txn.txn)
                  : std::make_unique<txn::Txn>(db->services_)),
        txn_(held_.get()) {
    db_->hold();
    txn_->drop_large = [db](std::string_view encoded) {
      db::drop_large_value(&db->store_, encoded);
    };
  }
  Impl(Impl* parent, uint64_t mark)
      : db_(parent->db_), txn_(parent->txn_), parent_(parent), mark_(mark) {
    parent_->child_ = this;
  }
  ~Impl() {
    abort();
    if (held_ == nullptr) return;
    spare_txn.instance = db_->instance_;
    spare_txn.txn = std::move(held_);
    db_->let_go();
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  bool open() const { return !ended_ && txn_->open(); }
  // OK, or why it may not be used.
  Status usable() const {
    if (Status s = db_->usable(); !s.ok()) return s;
    if (!open()) return ended();
    if (child_ == nullptr) return {};
    return Status(StatusCode::kInvalidArgument, "a transaction nested in this one is open");
  }
  tree::TreeState* find(const Tree& tree, Status* status) const {
    *status = usable();
    return status->ok() ? db_->find(tree, status) : nullptr;
  }
  tree::TreeState* find_to_write(const Tree& tree, std::string_view key, uint64_t value_bytes,
                                 Status* status) const {
    tree::TreeState* state = find(tree, status);
    if (state != nullptr) *status = db_->check_sizes(key, value_bytes);
    return status->ok() ? state : nullptr;
  }

  Status commit(Durability durability) {
    end_child();
    if (parent_ == nullptr) return txn_->commit(db_->level(durability));
    Status status = txn_->release_mark(mark_);
    leave();
    return status;
  }
  void abort() {
    if (!open()) return;
    end_child();
    if (parent_ == nullptr) return txn_->abort();
    // Where that fails, the outermost one does not commit.
    static_cast<void>(txn_->roll_back_to(mark_).ok());
    static_cast<void>(txn_->release_mark(mark_).ok());
    leave();
  }

  Status read(tree::TreeState* state, std::string_view key, Value& value) const {
    return state->get(key, txn_->view(), txn_->reads_one_moment(), value);
  }
  // As get_for_update; of a large value *large, and what describes it.
  Status read_to_change(tree::TreeState* state, std::string_view key, Value& value,
                        bool* large) const {
    if (Status s = txn_->begin_update(state, key); !s.ok()) return s;
    return state->get_encoded(key, txn_->update_view(), txn_->update_view_registered(), value,
                              large);
  }
  // Whether a key has this value, or, without one, is absent.
  Result<bool> has(tree::TreeState* state, std::string_view key,
                   std::optional<std::string_view> expected) const {
    Value value;
    bool large = false;
    Status status = read_to_change(state, key, value, &large);
    if (status.is_not_found()) return !expected.has_value();
    if (!status.ok()) return status;
    if (!expected.has_value()) return false;
    if (large) {
      if (expected->size() <= db::kLargeValueBytes) return false;
      status = state->get(key, txn_->update_view(), txn_->update_view_registered(), value);
      if (!status.ok()) return status;
    }
    return value.view() == *expected;
  }
  // What a compare-and-set form answers.
  template <typename Write>
  static Result<bool> write_if(Result<bool> holds, Write write) {
    if (!holds.ok() || !*holds) return holds;
    Status status = write();
    return status.ok() ? Result<bool>(true) : Result<bool>(std::move(status));
  }
  Status del(tree::TreeState* state, std::string_view key) const {
    return txn_->write(state, format::OperationType::kDelete, key, {});
  }
  Status put(tree::TreeState* state, std::string_view key, std::string_view value) const {
    if (value.size() <= db::kLargeValueBytes) {
      return txn_->write(state, format::OperationType::kPut, key, value);
    }
    Result<std::string> encoded = db::write_large_value(&db_->store_, db_->scheduler_.get(), value);
    if (!encoded.ok()) return encoded.status();
    return txn_->write(state, format::OperationType::kPutLarge, key, *encoded);
  }

  Status merge(tree::TreeState* state, std::string_view key, std::string_view operand) const {
    if (Status s = db_->check_merge(*state, key, operand); !s.ok()) return s;
    return txn_->write(state, format::OperationType::kMerge, key, operand);
  }

  // OK where this object may use such a savepoint: those of what it is nested in it may not.
  Status owns(uint64_t transaction, uint64_t mark) const {
    Status status = usable();
    if (!status.ok() || (transaction == txn_->id() && mark > mark_)) return status;
    return Status(StatusCode::kInvalidArgument, "the savepoint is of another transaction");
  }

  Db::Impl* db() const { return db_; }
  txn::Txn& txn() const { return *txn_; }

 private:
  // Those that are nested in this one end with it.
  void end_child() {
    if (child_ == nullptr) return;
    child_->end_child();
    child_->ended_ = true;
    child_->parent_ = nullptr;
    child_ = nullptr;
  }
  void leave() {
    parent_->child_ = nullptr;
    parent_ = nullptr;
    ended_ = true;
  }

  Db::Impl* const db_;
  std::unique_ptr<txn::Txn> held_;  // null: nested
  txn::Txn* const txn_;
  Impl* parent_ = nullptr;
  Impl* child_ = nullptr;
  const uint64_t mark_ = 0;
  bool ended_ = false;  // of a nested one
};

Transaction::Transaction() = default;
Transaction::Transaction(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Transaction::~Transaction() = default;
Transaction::Transaction(Transaction&&) noexcept = default;
Transaction& Transaction::operator=(Transaction&&) noexcept = default;

// ---- Begin and end

namespace {
Status check_options(const TxnOptions& options, const Db::Impl& db) {
  const bool shares_keys = options.mode != TxnMode::kExclusive;
  const bool plain = options.mode == TxnMode::kOptimistic;
  const char* wrong = nullptr;
  if (options.mode > TxnMode::kPessimistic || options.isolation > Isolation::kSerializable) {
    wrong = "the mode or isolation is none that there is";
  } else if (options.read_only && !plain) {
    wrong = "a read-only transaction waits for nobody and is kOptimistic";
  } else if (options.snapshot != nullptr && !options.snapshot->valid()) {
    wrong = "the snapshot is empty";
  } else if (options.snapshot != nullptr && !shares_keys) {
    wrong = "an exclusive transaction reads the present, not a snapshot";
  } else if (options.snapshot != nullptr && options.isolation == Isolation::kReadCommitted) {
    wrong = "kReadCommitted reads the present, not a snapshot";
  }
  if (wrong != nullptr) return Status(StatusCode::kInvalidArgument, wrong);
  return options.read_only ? db.usable() : db.writable();
}
}  // namespace

Result<Transaction> Db::begin(const TxnOptions& options) {
  if (Status s = check_options(options, *impl_); !s.ok()) return s;
  txn::Begin how;
  switch (options.mode) {
    case TxnMode::kOptimistic:
      how.mode = txn::Mode::kOptimistic;
      break;
    case TxnMode::kPessimistic:
      how.mode = txn::Mode::kPessimistic;
      break;
    case TxnMode::kExclusive:
      how.mode = txn::Mode::kExclusive;
      break;
  }
  switch (options.isolation) {
    case Isolation::kReadCommitted:
      how.level = txn::Level::kReadCommitted;
      break;
    case Isolation::kSnapshot:
      how.level = txn::Level::kSnapshot;
      break;
    case Isolation::kSerializable:
      how.level = txn::Level::kSerializable;
      break;
  }
  how.read_only = options.read_only;
  if (options.snapshot != nullptr) how.at = options.snapshot->timestamp();
  how.lock_timeout_us = options.lock_timeout_ms.value_or(impl_->options_.lock_timeout_ms) * 1000;
  auto impl = std::make_unique<Transaction::Impl>(impl_.get());
  if (Status s = impl->txn().begin(how); !s.ok()) return s;
  return Transaction(std::move(impl));
}

Result<Transaction> Db::begin(TxnMode mode) { return begin(TxnOptions{.mode = mode}); }

bool Transaction::open() const { return impl_ != nullptr && impl_->open(); }

Status Transaction::commit(Durability durability) {
  if (impl_ == nullptr) return no_transaction();
  if (Status s = impl_->db()->usable(); !s.ok()) return s;
  return impl_->open() ? impl_->commit(durability) : ended();
}

void Transaction::abort() {
  if (impl_ != nullptr) impl_->abort();
}

// ---- Savepoints

Result<Savepoint> Transaction::savepoint() {
  if (impl_ == nullptr) return no_transaction();
  if (Status s = impl_->usable(); !s.ok()) return s;
  Savepoint savepoint;
  savepoint.transaction_ = impl_->txn().id();
  savepoint.mark_ = impl_->txn().mark();
  return savepoint;
}

Status Transaction::rollback_to(const Savepoint& savepoint) {
  if (impl_ == nullptr) return no_transaction();
  Status status = impl_->owns(savepoint.transaction_, savepoint.mark_);
  return status.ok() ? impl_->txn().roll_back_to(savepoint.mark_) : status;
}

Status Transaction::release(const Savepoint& savepoint) {
  if (impl_ == nullptr) return no_transaction();
  Status status = impl_->owns(savepoint.transaction_, savepoint.mark_);
  return status.ok() ? impl_->txn().release_mark(savepoint.mark_) : status;
}

Result<Transaction> Transaction::begin_nested() {
  if (impl_ == nullptr) return no_transaction();
  if (Status s = impl_->usable(); !s.ok()) return s;
  return Transaction(std::make_unique<Impl>(impl_.get(), impl_->txn().mark()));
}

// ---- Reads

Status Transaction::get(const Tree& tree, std::string_view key, Value& value) {
  if (impl_ == nullptr) return no_transaction();
  Status status;
  tree::TreeState* state = impl_->find(tree, &status);
  if (state == nullptr) return status;
  if (impl_->txn().tracks_reads()) impl_->txn().note_read(state, key);
  return impl_->read(state, key, value);
}

Status Transaction::multi_get(const Tree& tree, std::span<const std::string_view> keys,
                              ReadBatch& out) {
  if (impl_ == nullptr) return no_transaction();
  Status status;
  tree::TreeState* state = impl_->find(tree, &status);
  if (state == nullptr) return status;
  txn::Txn& txn = impl_->txn();
  if (txn.tracks_reads()) {
    for (const std::string_view key : keys) txn.note_read(state, key);
  }
  if (txn.reads_one_moment()) return state->multi_get(keys, txn.view(), out);
  Db::Impl* db = impl_->db();
  const auto registration = db->snapshots_->add(db->sequencer_->visible());
  status = state->multi_get(keys, {registration.ts, txn.id()}, out);
  db->snapshots_->remove(registration.slot);
  return status;
}

Cursor Transaction::cursor(const Tree& tree, const CursorOptions& options) {
  if (impl_ == nullptr) return Cursor(no_transaction());
  Status status;
  tree::TreeState* state = impl_->find(tree, &status);
  if (state == nullptr) return Cursor(std::move(status));
  if (options.snapshot != nullptr) {
    return Cursor(Status(StatusCode::kInvalidArgument,
                         "a cursor of a transaction reads what the transaction does"));
  }
  txn::Txn& txn = impl_->txn();
  tree::ReadView view = txn.view();
  Snapshot own;
  if (!txn.reads_one_moment()) {
    own = impl_->db()->snapshot();
    view.ts = own.timestamp();
  }
  return Cursor(std::make_unique<Cursor::Impl>(impl_->db(), std::move(own), state, view, options,
                                               txn.tracks_reads() ? &txn.reads() : nullptr));
}

Result<uint64_t> Transaction::count(const Tree& tree, std::string_view lo,
                                    std::optional<std::string_view> hi) {
  if (impl_ == nullptr) return no_transaction();
  Status status;
  tree::TreeState* state = impl_->find(tree, &status);
  if (state == nullptr) return status;
  txn::Txn& txn = impl_->txn();
  if (txn.tracks_reads()) txn.reads().add_range(state, lo, hi, txn.view().ts);
  if (txn.reads_one_moment()) return count_range(state, txn.view(), lo, hi);
  const Snapshot now = impl_->db()->snapshot();
  return count_range(state, {now.timestamp(), txn.id()}, lo, hi);
}

Status Transaction::get_for_update(const Tree& tree, std::string_view key, Value& value) {
  if (impl_ == nullptr) return no_transaction();
  Status status;
  tree::TreeState* state = impl_->find_to_write(tree, key, 0, &status);
  if (state == nullptr) return status;
  txn::Txn& txn = impl_->txn();
  if (status = txn.begin_update(state, key); !status.ok()) return status;
  return state->get(key, txn.update_view(), txn.update_view_registered(), value);
}

Status Transaction::lock(const Tree& tree, std::string_view key, RowLock mode,
                         std::optional<uint64_t> timeout_ms) {
  if (impl_ == nullptr) return no_transaction();
  Status status;
  tree::TreeState* state = impl_->find_to_write(tree, key, 0, &status);
  if (state == nullptr) return status;
  txn::Txn& txn = impl_->txn();
  if (!txn.locks_rows()) {
    return Status(StatusCode::kInvalidArgument, "only a kPessimistic transaction locks rows");
  }
  if (mode > RowLock::kExclusive) {
    return Status(StatusCode::kInvalidArgument, "the lock mode is none that there is");
  }
  const uint64_t timeout_us = timeout_ms.has_value() ? *timeout_ms * 1000 : txn.lock_timeout_us();
  return txn.lock(state, key, static_cast<txn::LockMode>(mode), timeout_us);
}

// ---- Writes

Status Transaction::put(const Tree& tree, std::string_view key, std::string_view value) {
  if (impl_ == nullptr) return no_transaction();
  Status status;
  tree::TreeState* state = impl_->find_to_write(tree, key, value.size(), &status);
  return state == nullptr ? status : impl_->put(state, key, value);
}

Status Transaction::put_stream(const Tree& tree, std::string_view key, uint64_t size,
                               const StreamSource& source) {
  if (impl_ == nullptr) return no_transaction();
  Status status;
  tree::TreeState* state = impl_->find_to_write(tree, key, 0, &status);
  if (state == nullptr) return status;
  if (size > Db::limits().stream_value_bytes_max) {
    return Status(StatusCode::kInvalidArgument,
                  "a streamed value of " + std::to_string(size) + " bytes is over the limit");
  }
  if (size <= db::kLargeValueBytes) {
    std::string bytes(size, '\0');
    for (size_t filled = 0; filled < size;) {
      Result<size_t> got = source({bytes.data() + filled, bytes.size() - filled});
      if (!got.ok()) return got.status();
      if (*got == 0 || *got > size - filled) {
        return Status(StatusCode::kInvalidArgument, "the source gave " + std::to_string(filled) +
                                                        " bytes of " + std::to_string(size));
      }
      filled += *got;
    }
    return impl_->put(state, key, bytes);
  }
  Db::Impl* db = impl_->db();
  Result<std::string> encoded =
      db::write_large_value(&db->store_, db->scheduler_.get(), size, source);
  if (!encoded.ok()) return encoded.status();
  return impl_->txn().write(state, format::OperationType::kPutLarge, key, *encoded);
}

Status Transaction::del(const Tree& tree, std::string_view key) {
  if (impl_ == nullptr) return no_transaction();
  Status status;
  tree::TreeState* state = impl_->find_to_write(tree, key, 0, &status);
  if (state == nullptr) return status;
  return impl_->del(state, key);
}

Status Transaction::merge(const Tree& tree, std::string_view key, std::string_view operand) {
  if (impl_ == nullptr) return no_transaction();
  Status status;
  tree::TreeState* state = impl_->find(tree, &status);
  if (state == nullptr) return status;
  return impl_->merge(state, key, operand);
}

// ---- Compare and set

Result<bool> Transaction::insert(const Tree& tree, std::string_view key, std::string_view value) {
  return replace(tree, key, std::nullopt, value);
}

Result<bool> Transaction::update(const Tree& tree, std::string_view key, std::string_view value) {
  if (impl_ == nullptr) return no_transaction();
  Status status;
  tree::TreeState* state = impl_->find_to_write(tree, key, value.size(), &status);
  if (state == nullptr) return status;
  Result<bool> absent = impl_->has(state, key, std::nullopt);
  if (!absent.ok()) return absent;
  return Impl::write_if(!*absent, [&] { return impl_->put(state, key, value); });
}

Result<bool> Transaction::replace(const Tree& tree, std::string_view key,
                                  std::optional<std::string_view> expected,
                                  std::string_view value) {
  if (impl_ == nullptr) return no_transaction();
  Status status;
  tree::TreeState* state = impl_->find_to_write(tree, key, value.size(), &status);
  if (state == nullptr) return status;
  return Impl::write_if(impl_->has(state, key, expected),
                        [&] { return impl_->put(state, key, value); });
}

Result<bool> Transaction::remove_if(const Tree& tree, std::string_view key,
                                    std::string_view expected) {
  if (impl_ == nullptr) return no_transaction();
  Status status;
  tree::TreeState* state = impl_->find_to_write(tree, key, 0, &status);
  if (state == nullptr) return status;
  return Impl::write_if(impl_->has(state, key, expected), [&] { return impl_->del(state, key); });
}

namespace {
// Each try sees the value that the last one lost to.
template <typename Change>
Result<bool> change_alone(Db& db, Durability durability, Change change) {
  for (;;) {
    Result<Transaction> transaction = db.begin(TxnMode::kOptimistic);
    if (!transaction.ok()) return transaction.status();
    Result<bool> changed = change(*transaction);
    if (changed.ok() && !*changed) return changed;
    Status status = changed.ok() ? transaction->commit(durability) : changed.status();
    if (status.is_conflict()) continue;
    return status.ok() ? Result<bool>(true) : Result<bool>(std::move(status));
  }
}
}  // namespace

Result<bool> Db::insert(const Tree& tree, std::string_view key, std::string_view value,
                        Durability durability) {
  return change_alone(*this, durability,
                      [&](Transaction& t) { return t.insert(tree, key, value); });
}

Result<bool> Db::update(const Tree& tree, std::string_view key, std::string_view value,
                        Durability durability) {
  return change_alone(*this, durability,
                      [&](Transaction& t) { return t.update(tree, key, value); });
}

Result<bool> Db::replace(const Tree& tree, std::string_view key,
                         std::optional<std::string_view> expected, std::string_view value,
                         Durability durability) {
  return change_alone(*this, durability,
                      [&](Transaction& t) { return t.replace(tree, key, expected, value); });
}

Result<bool> Db::remove_if(const Tree& tree, std::string_view key, std::string_view expected,
                           Durability durability) {
  return change_alone(*this, durability,
                      [&](Transaction& t) { return t.remove_if(tree, key, expected); });
}

}  // namespace hawthorn
