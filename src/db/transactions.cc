// The public Transaction, and the compare-and-set forms of Db.

#include "base/out_of_memory.h"
#include "db/change_alone.h"
#include "db/cursor_impl.h"
#include "db/stored_key.h"
#include "db/transaction_impl.h"
#include "tree/large_read.h"
#include "txn/conflict_search.h"

namespace hawthorn {

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

Result<Transaction> Db::begin(const TxnOptions& options) try {
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
  how.hooks = impl_->hooks();
  if (options.snapshot != nullptr) how.at = options.snapshot->timestamp();
  how.lock_timeout_us =
      Db::Impl::timeout_us_of(options.lock_timeout_ms.value_or(impl_->options_.lock_timeout_ms));
  auto impl = std::make_unique<Transaction::Impl>(impl_.get());
  if (Status s = impl->txn().begin(how); !s.ok()) return s;
  impl->set_now_ms(impl_->now_of(options.snapshot));
  return Transaction(std::move(impl));
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Result<Transaction> Db::begin(TxnMode mode) { return begin(TxnOptions{.mode = mode}); }

Result<bool> Db::changed_since(const Tree& tree, std::string_view key, const Snapshot& since) try {
  Status status = impl_->usable();
  if (!status.ok()) return status;
  const FoundTree state = impl_->find(tree, &status);
  if (state == nullptr) return status;
  if (!since.valid()) return Status(StatusCode::kInvalidArgument, "the snapshot is empty");
  if (db::several_values(*state)) return db::not_with_several_values();
  if (status = impl_->check_sizes(key, 0); !status.ok()) return status;
  const db::StoredKey stored(*state, key);
  if (!stored.ok()) return stored.status();
  const txn::CheckedKey checked{state, stored.view(), since.timestamp()};
  txn::ConflictSearch search;
  Result<bool> unchanged =
      search.read_ahead(1, [&](size_t) { return checked; }, 0, *impl_->services_.store->residency);
  if (!unchanged.ok()) return unchanged.status();
  return !*unchanged;
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

bool Transaction::open() const { return impl_ != nullptr && impl_->open(); }

Status Transaction::commit(Durability durability) try {
  if (impl_ == nullptr) return no_transaction();
  if (!impl_->open()) return Impl::has_ended();
  if (Status s = impl_->db()->usable(); !s.ok()) return s;
  return impl_->commit(durability);
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

void Transaction::abort() {
  if (impl_ == nullptr || !impl_->open() || impl_->db()->inherited()) return;
  impl_->abort();
}

// ---- Prepared

Status Transaction::prepare(std::string_view id) try {
  return impl_ == nullptr ? no_transaction() : impl_->prepare(id);
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

std::unique_ptr<txn::Txn> Db::Impl::new_txn() {
  auto txn = std::make_unique<txn::Txn>(services_);
  txn->drop_large = [this](auto extents) { db::drop_extents(&store_, extents); };
  return txn;
}

Status Db::Impl::end_prepared(std::string_view id, uint64_t number, bool commit,
                              Durability durability) {
  std::unique_ptr<txn::Txn> txn = prepared_.begin_end(id, number);
  if (txn == nullptr) {
    return Status(StatusCode::kNotFound,
                  "no transaction is prepared as \"" + std::string(id) + "\"");
  }
  const auto end = [&] {
    return commit ? txn->commit_prepared(level(durability)) : txn->abort_prepared();
  };
  Status status = end();
  if (status.is(StatusCode::kNoSpace) && outcome_reserve_.give_up()) status = end();
  if (!txn->prepared()) txn.reset();
  prepared_.finish_end(id, std::move(txn));
  if (prepared_.empty()) {
    outcome_reserve_.give_up();
  } else if (const Status s = outcome_reserve_.keep(log_options_.segment_bytes);
             !s.ok() && !s.is(StatusCode::kNoSpace)) {
    log(LogLevel::kWarning,
        "no space is set aside for ending prepared transactions: " + s.to_string());
  }
  return status;
}

Result<std::vector<PreparedTransaction>> Db::prepared() try {
  if (Status s = impl_->usable(); !s.ok()) return s;
  return impl_->prepared_.list();
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Status Db::commit_prepared(std::string_view id, Durability durability) try {
  if (Status s = impl_->writable(); !s.ok()) return s;
  return impl_->end_prepared(id, db::PreparedTransactions::kAny, true, durability);
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Status Db::rollback_prepared(std::string_view id) try {
  if (Status s = impl_->writable(); !s.ok()) return s;
  return impl_->end_prepared(id, db::PreparedTransactions::kAny, false, {});
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

// ---- Savepoints

Result<Savepoint> Transaction::savepoint() try {
  if (impl_ == nullptr) return no_transaction();
  if (Status s = impl_->usable(); !s.ok()) return s;
  Savepoint savepoint;
  savepoint.transaction_ = impl_->txn().id();
  savepoint.mark_ = impl_->txn().mark();
  return savepoint;
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Status Transaction::rollback_to(const Savepoint& savepoint) try {
  if (impl_ == nullptr) return no_transaction();
  Status status = impl_->owns(savepoint.transaction_, savepoint.mark_);
  if (!status.ok()) return status;
  impl_->drop_reserved();  // it came later
  return impl_->txn().roll_back_to(savepoint.mark_);
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Status Transaction::release(const Savepoint& savepoint) try {
  if (impl_ == nullptr) return no_transaction();
  Status status = impl_->owns(savepoint.transaction_, savepoint.mark_);
  if (status.ok()) status = impl_->write_reserved();
  return status.ok() ? impl_->txn().release_mark(savepoint.mark_) : status;
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Result<Transaction> Transaction::begin_nested() try {
  if (impl_ == nullptr) return no_transaction();
  if (Status s = impl_->usable(); !s.ok()) return s;
  return Transaction(std::make_unique<Impl>(impl_.get(), impl_->txn().mark()));
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

// ---- Trees

Result<tree::TreeState*> Transaction::Impl::find_name(std::string_view name) const {
  if (Status s = usable(); !s.ok()) return s;
  if (Status s = db::Catalog::check_name(name); !s.ok()) return s;
  db::Catalog& catalog = *db_->catalog_;
  if (txn_->tracks_reads()) txn_->note_read(catalog.names(), format::catalog_key(name));
  return catalog.find(name, txn_->view(), txn_->reads_one_moment());
}

// As find_name, of a name that is about to change.
Result<tree::TreeState*> Transaction::Impl::find_name_to_change(std::string_view name) const {
  if (Status s = usable(); !s.ok()) return s;
  if (Status s = db_->writable(); !s.ok()) return s;
  if (Status s = db::Catalog::check_name(name); !s.ok()) return s;
  db::Catalog& catalog = *db_->catalog_;
  if (Status s = txn_->begin_update(catalog.names(), format::catalog_key(name)); !s.ok()) return s;
  return catalog.find(name, txn_->update_view(), txn_->update_view_registered());
}

Status name_taken(std::string_view name) {
  return Status(StatusCode::kInvalidArgument,
                "there is a tree \"" + std::string(name) + "\" already");
}

Result<Tree> Transaction::tree(std::string_view name) try {
  if (impl_ == nullptr) return no_transaction();
  const os::epoch::Call call;
  Result<tree::TreeState*> found = impl_->find_name(name);
  if (found.status().is_not_found()) found = impl_->find_name_to_change(name);
  if (found.status().is_not_found()) found = impl_->make_tree({name}, {});
  if (!found.ok()) return found.status();
  return TreeAccess::make(*found);
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Result<Tree> Transaction::find_tree(std::string_view name) try {
  if (impl_ == nullptr) return no_transaction();
  const os::epoch::Call call;
  Result<tree::TreeState*> found = impl_->find_name(name);
  if (!found.ok()) return found.status();
  return TreeAccess::make(*found);
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Result<std::vector<std::string>> Transaction::list_trees() try {
  if (impl_ == nullptr) return no_transaction();
  if (Status s = impl_->usable(); !s.ok()) return s;
  txn::Txn& txn = impl_->txn();
  db::Catalog& catalog = *impl_->db()->catalog_;
  tree::ReadView view = txn.view();
  Snapshot own;
  if (!txn.reads_one_moment()) {
    own = impl_->db()->snapshot();
    view.ts = own.timestamp();
  }
  if (txn.tracks_reads()) {
    txn.reads().add_range(catalog.names(), format::kCatalogTreesBegin, format::kCatalogTreesEnd,
                          view.ts);
  }
  return name_list(catalog.list(view));
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Status Transaction::drop_tree(std::string_view name) try {
  if (impl_ == nullptr) return no_transaction();
  const os::epoch::Call call;
  Result<tree::TreeState*> found = impl_->find_name_to_change(name);
  if (!found.ok()) return found.status();
  return impl_->db()->catalog_->drop(impl_->txn(), {name}, *found);
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Result<Tree> Transaction::clone_tree(std::string_view from, std::string_view to) try {
  if (impl_ == nullptr) return no_transaction();
  const os::epoch::Call call;
  Db::Impl* const db = impl_->db();
  // Whatever is found stays until the clone has pinned it.
  const tree::HeldSnapshot held(*db->snapshots_, db->sequencer_->visible());
  const Result<tree::TreeState*> source = impl_->find_name(from);
  if (!source.ok()) return source.status();
  const Result<tree::TreeState*> other = impl_->find_name_to_change(to);
  if (other.ok()) return name_taken(to);
  if (!other.status().is_not_found()) return other.status();
  const Result<tree::TreeState*> made = db->clone_tree(impl_->txn(), to, *source, from);
  if (!made.ok()) return made.status();
  return TreeAccess::make(*made);
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Status Transaction::rename_tree(std::string_view from, std::string_view to) try {
  if (impl_ == nullptr) return no_transaction();
  const os::epoch::Call call;
  Result<tree::TreeState*> found = impl_->find_name_to_change(from);
  if (!found.ok()) return found.status();
  if (from == to) return {};
  const Result<tree::TreeState*> other = impl_->find_name_to_change(to);
  if (other.ok()) return name_taken(to);
  if (!other.status().is_not_found()) return other.status();
  return impl_->db()->catalog_->move(impl_->txn(), {from}, {to}, *found);
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

// ---- Reads

Status Transaction::get(const Tree& tree, std::string_view key, Value& value) try {
  if (impl_ == nullptr) return no_transaction();
  Status status;
  const FoundTree state = impl_->find(tree, &status);
  if (state == nullptr) return status;
  if (db::several_values(*state)) [[unlikely]] {
    return impl_->get_first_value(state, key, value);
  }
  const db::StoredKey stored(*state, key, impl_->use_of_get());
  if (!stored.ok()) return stored.status();
  if (impl_->txn().tracks_reads()) impl_->txn().note_read(state, stored.view());
  return impl_->read(state, stored.view(), value);
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Status Transaction::multi_get(const Tree& tree, std::span<const std::string_view> keys,
                              ReadBatch& out) try {
  if (impl_ == nullptr) return no_transaction();
  Status status;
  const FoundTree state = impl_->find(tree, &status);
  if (state == nullptr) return status;
  const db::StoredKeys stored(*state, &keys, impl_->use_of_read());
  if (!stored.ok()) return stored.status();
  txn::Txn& txn = impl_->txn();
  if (txn.tracks_reads()) {
    for (const std::string_view key : keys) txn.note_read(state, key);
  }
  if (txn.reads_one_moment()) {
    status = state->multi_get(keys, txn.view(), out);
  } else {
    Db::Impl* db = impl_->db();
    const auto registration = db->snapshots_->add(db->sequencer_->visible());
    status = state->multi_get(keys, {registration.ts, txn.id()}, out);
    db->snapshots_->remove(registration.slot);
    if (state->dropped.load(std::memory_order_acquire)) status = tree_was_dropped();
  }
  return status.ok() ? db::take_moments(*state, impl_->now_ms(), &out) : status;
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Cursor Transaction::cursor(const Tree& tree, const CursorOptions& options) try {
  if (impl_ == nullptr) return Cursor(no_transaction());
  Status status;
  const FoundTree state = impl_->find(tree, &status);
  if (state == nullptr) return Cursor(std::move(status));
  if (options.snapshot != nullptr) {
    return Cursor(Status(StatusCode::kInvalidArgument,
                         "a cursor of a transaction reads what the transaction does"));
  }
  if (state->shape() == nullptr) return Cursor(impl_->walk(state, options));
  const Result<CursorOptions> stored = stored_options(*state, options, impl_->use_of_read());
  return stored.ok() ? Cursor(impl_->walk(state, *stored)) : Cursor(stored.status());
} catch (const std::bad_alloc&) {
  return Cursor(out_of_memory());
}

Result<uint64_t> Transaction::count(const Tree& tree, std::string_view lo,
                                    std::optional<std::string_view> hi) try {
  if (impl_ == nullptr) return no_transaction();
  Status status;
  const FoundTree state = impl_->find(tree, &status);
  if (state == nullptr) return status;
  const db::StoredRange range(*state, lo, hi, impl_->use_of_read());
  if (!range.ok()) return range.status();
  txn::Txn& txn = impl_->txn();
  if (txn.tracks_reads()) {
    txn.reads().add_range(state, range.low(), range.high(), txn.view().ts);
  }
  const uint64_t now_ms = impl_->now_ms();
  if (txn.reads_one_moment()) {
    return count_range(state, txn.view(), range.low(), range.high(), now_ms);
  }
  const Snapshot now = impl_->db()->snapshot();
  return count_range(state, {now.timestamp(), txn.id()}, range.low(), range.high(), now_ms);
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Status Transaction::get_for_update(const Tree& tree, std::string_view key, Value& value) try {
  if (impl_ == nullptr) return no_transaction();
  Status status;
  const FoundTree state = impl_->find_to_write(tree, key, 0, &status);
  if (state == nullptr) return status;
  const db::StoredKey stored(*state, key);
  if (!stored.ok()) return stored.status();
  txn::Txn& txn = impl_->txn();
  if (status = txn.begin_update(state, stored.view()); !status.ok()) return status;
  return impl_->read_again(state, stored.view(), value);
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Status Transaction::lock(const Tree& tree, std::string_view key, RowLock mode,
                         std::optional<uint64_t> timeout_ms) try {
  if (impl_ == nullptr) return no_transaction();
  Status status;
  const FoundTree state = impl_->find_to_write(tree, key, 0, &status);
  if (state == nullptr) return status;
  txn::Txn& txn = impl_->txn();
  if (!txn.locks_rows()) {
    return Status(StatusCode::kInvalidArgument, "only a kPessimistic transaction locks rows");
  }
  if (mode > RowLock::kExclusive) {
    return Status(StatusCode::kInvalidArgument, "the lock mode is none that there is");
  }
  const uint64_t timeout_us =
      timeout_ms.has_value() ? Db::Impl::timeout_us_of(*timeout_ms) : txn.lock_timeout_us();
  const db::StoredKey stored(*state, key);
  if (!stored.ok()) return stored.status();
  return txn.lock(state, stored.view(), static_cast<txn::LockMode>(mode), timeout_us);
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

// ---- Writes

Status Transaction::put(const Tree& tree, std::string_view key, std::string_view value) try {
  if (impl_ == nullptr) return no_transaction();
  Status status;
  const FoundTree state = impl_->find_to_write(tree, key, value.size(), &status);
  if (state == nullptr) return status;
  const db::StoredPair stored(*state, key, value);
  return stored.ok() ? impl_->put(state, stored) : stored.status();
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Status Transaction::put(const Tree& tree, std::string_view key, std::string_view value,
                        const Expiry& expiry) try {
  if (impl_ == nullptr) return no_transaction();
  Status status;
  const FoundTree state = impl_->find_to_write(tree, key, value.size(), &status);
  if (state == nullptr) return status;
  const db::StoredPair stored(*state, key, value, &expiry);
  return stored.ok() ? impl_->put(state, stored) : stored.status();
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Status Transaction::put_stream(const Tree& tree, std::string_view key, uint64_t size,
                               const StreamSource& source) try {
  if (impl_ == nullptr) return no_transaction();
  Status status;
  const FoundTree state = impl_->find_to_write(tree, key, 0, &status);
  if (state == nullptr) return status;
  const db::StoredKey stored(*state, key);
  if (!stored.ok()) return stored.status();
  if (size > Db::limits().stream_value_bytes_max) {
    return Status(StatusCode::kInvalidArgument,
                  "a streamed value of " + std::to_string(size) + " bytes is over the limit");
  }
  if (db::expires(*state) && size > tree::kLargeValueBytesMax - format::TreeShape::kMomentBytes) {
    return Status(StatusCode::kNotSupported,
                  "a value of more than 64 MB in a tree whose entries end");
  }
  if (size <= db::kLargeValueBytes || db::expires(*state)) {
    std::string bytes(size, '\0');
    if (Status s = db::fill_from(source, bytes); !s.ok()) return s;
    return put(tree, key, bytes);
  }
  if (status = impl_->takes_value(state, stored.view()); !status.ok()) return status;
  Db::Impl* db = impl_->db();
  Result<std::string> encoded =
      db::write_large_value(&db->store_, db->scheduler_.get(), size, source);
  if (!encoded.ok()) return encoded.status();
  return impl_->txn().write(state, format::OperationType::kPutLarge, stored.view(), *encoded);
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Status Transaction::del(const Tree& tree, std::string_view key) try {
  if (impl_ == nullptr) return no_transaction();
  Status status;
  const FoundTree state = impl_->find_to_write(tree, key, 0, &status);
  if (state == nullptr) return status;
  if (db::several_values(*state)) [[unlikely]] {
    return impl_->del_values(state, key);
  }
  const db::StoredKey stored(*state, key);
  return stored.ok() ? impl_->del(state, stored.view()) : stored.status();
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Status Transaction::delete_range(const Tree& tree, std::string_view low,
                                 std::optional<std::string_view> high) try {
  if (impl_ == nullptr) return no_transaction();
  Status status;
  const FoundTree state = impl_->find_to_write(tree, low, 0, &status);
  if (state == nullptr) return status;
  if (high.has_value()) status = impl_->db()->check_sizes(*high, 0);
  if (!status.ok()) return status;
  const db::StoredRange range(*state, low, high);
  if (!range.ok()) return range.status();
  if (db::holds_subtrees(*state)) [[unlikely]] {
    return impl_->delete_range_hanging(state, range.low(), range.high());
  }
  return impl_->txn().delete_range(state, range.low(), range.high());
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Status Transaction::merge(const Tree& tree, std::string_view key, std::string_view operand) try {
  if (impl_ == nullptr) return no_transaction();
  Status status;
  const FoundTree state = impl_->find_to_write(tree, key, 0, &status);
  if (state == nullptr) return status;
  const db::StoredKey stored(*state, key);
  return stored.ok() ? impl_->merge(state, stored.view(), operand) : stored.status();
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

// ---- Compare and set

Result<bool> Transaction::insert(const Tree& tree, std::string_view key,
                                 std::string_view value) try {
  if (impl_ == nullptr) return no_transaction();
  Status status;
  const FoundTree state = impl_->find_to_write(tree, key, value.size(), &status);
  if (state == nullptr) return status;
  const db::StoredPair stored(*state, key, value);
  if (!stored.ok()) return stored.status();
  return Impl::write_if(impl_->has(state, stored.key(), std::nullopt),
                        [&] { return impl_->put(state, stored); });
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Result<bool> Transaction::update(const Tree& tree, std::string_view key,
                                 std::string_view value) try {
  if (impl_ == nullptr) return no_transaction();
  Status status;
  const FoundTree state = impl_->find_to_write(tree, key, value.size(), &status);
  if (state == nullptr) return status;
  if (db::several_values(*state)) return db::not_with_several_values();
  const db::StoredPair stored(*state, key, value);
  if (!stored.ok()) return stored.status();
  Result<bool> absent = impl_->has(state, stored.key(), std::nullopt);
  if (!absent.ok()) return absent;
  return Impl::write_if(!*absent, [&] { return impl_->put(state, stored); });
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Result<bool> Transaction::replace(const Tree& tree, std::string_view key,
                                  std::optional<std::string_view> expected,
                                  std::string_view value) try {
  if (impl_ == nullptr) return no_transaction();
  Status status;
  const FoundTree state = impl_->find_to_write(tree, key, value.size(), &status);
  if (state == nullptr) return status;
  if (db::several_values(*state)) return db::not_with_several_values();
  const db::StoredPair stored(*state, key, value);
  if (!stored.ok()) return stored.status();
  return Impl::write_if(impl_->has(state, stored.key(), expected),
                        [&] { return impl_->put(state, stored); });
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Result<bool> Transaction::remove_if(const Tree& tree, std::string_view key,
                                    std::string_view expected) try {
  if (impl_ == nullptr) return no_transaction();
  Status status;
  const FoundTree state = impl_->find_to_write(tree, key, 0, &status);
  if (state == nullptr) return status;
  const db::StoredPair stored(*state, key, expected);
  if (!stored.ok()) return stored.status();
  if (db::several_values(*state)) expected = {};
  return Impl::write_if(impl_->has(state, stored.key(), expected),
                        [&] { return impl_->del(state, stored.key()); });
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Result<bool> Db::insert(const Tree& tree, std::string_view key, std::string_view value,
                        Durability durability) try {
  return change_alone(*this, *impl_, durability,
                      [&](Transaction& t) { return t.insert(tree, key, value); });
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Result<bool> Db::update(const Tree& tree, std::string_view key, std::string_view value,
                        Durability durability) try {
  return change_alone(*this, *impl_, durability,
                      [&](Transaction& t) { return t.update(tree, key, value); });
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Result<bool> Db::replace(const Tree& tree, std::string_view key,
                         std::optional<std::string_view> expected, std::string_view value,
                         Durability durability) try {
  return change_alone(*this, *impl_, durability,
                      [&](Transaction& t) { return t.replace(tree, key, expected, value); });
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Result<bool> Db::remove_if(const Tree& tree, std::string_view key, std::string_view expected,
                           Durability durability) try {
  return change_alone(*this, *impl_, durability,
                      [&](Transaction& t) { return t.remove_if(tree, key, expected); });
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

void set_interrupt(bool (*interrupted)(void* context), void* context) {
  os::set_interrupt(interrupted, context);
}

}  // namespace hawthorn
