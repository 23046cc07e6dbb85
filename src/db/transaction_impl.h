#pragma once
// What is behind a public Transaction: the engine's transaction, what is nested in it, its name
// when it is prepared, values that it pins and one that is being filled in place.
//
// Not here: the engine's transaction (txn/transaction.h). Used by transactions.cc and
// pinned_reads.cc. Threads: one at a time.

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "db/cursor_impl.h"
#include "db/impl.h"
#include "db/large_edit.h"
#include "db/large_values.h"
#include "db/pinned_values.h"
#include "db/reserved_put.h"
#include "db/thread_txns.h"
#include "format/prepare_record.h"

namespace hawthorn {

// Of trees with options, empty where the tree stores what it is given. Errors: kInvalidArgument;
// kNotSupported for what does not go together.
Result<std::string> encoded_shape(const TreeOptions& options, const Db::Impl& db);
// OK where trees may hang in it.
Status may_hold_subtrees(const tree::TreeState& tree);
Status name_taken(std::string_view name);

inline Status no_transaction() {
  return Status(StatusCode::kInvalidArgument, "the transaction was never begun, or moved away");
}

// A transaction, or one that is nested in another: then its writes are the other's from a mark on.
class Transaction::Impl {
 public:
  explicit Impl(Db::Impl* db)
      : db_(db), held_(take_txn(db)), txn_(held_.get()), nested_(false), extras_(&own_extras_) {
    db_->hold();
  }
  Impl(Impl* parent, uint64_t mark)
      : db_(parent->db_),
        txn_(parent->txn_),
        parent_(parent),
        mark_(mark),
        nested_(true),
        began_ms_(parent->began_ms_),
        extras_(parent->extras_) {
    parent_->child_ = this;
  }
  ~Impl() {
    if (ended_) return;
    if (db_->inherited()) {
      // Its locks and its memory are the parent's.
      static_cast<void>(held_.release());
      static_cast<void>(own_extras_.reserved.release());
      static_cast<void>(own_extras_.pinned.release());
      return;
    }
    if (!prepared()) abort();
    if (!ended_) end();
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  bool open() const { return !ended_ && (prepared() || txn_->open()); }
  // Then it is the database's, and this object knows its name.
  bool prepared() const { return prepared_number_ != 0; }
  static Status has_ended() {
    return Status(StatusCode::kInvalidArgument, "the transaction has ended");
  }
  // OK, or why it may not be used: each operation asks, and writes what was being filled in place.
  Status usable() const {
    Status status = may_go_on();
    return status.ok() ? write_reserved() : status;
  }
  Status may_go_on() const {
    if (!open()) return has_ended();
    if (Status s = db_->usable(); !s.ok()) return s;
    if (prepared()) {
      return Status(StatusCode::kInvalidArgument,
                    "the transaction is prepared: it can only be committed or aborted");
    }
    if (child_ == nullptr) return {};
    return Status(StatusCode::kInvalidArgument, "a transaction nested in this one is open");
  }
  [[gnu::always_inline]] FoundTree find(const Tree& tree, Status* status) const {
    return FoundTree([&]() __attribute__((always_inline)) { return find_in_call(tree, status); });
  }
  tree::TreeState* find_in_call(const Tree& tree, Status* status) const {
    *status = usable();
    if (!status->ok()) return nullptr;
    tree::TreeState* const state = db_->present(tree);
    if (state == nullptr) [[unlikely]] {
      return db_->own(tree, status);
    }
    txn_->keep(state);
    const txn::TreeChanges& changes = txn_->tree_changes();
    if (changes.empty() && state->stands()) return state;
    if (changes.has_dropped(state->id())) {
      *status = Status(StatusCode::kInvalidArgument, "the transaction has dropped the tree");
      return nullptr;
    }
    if (changes.has_made(state)) return state;
    return db_->find_ended(tree, status, read_ts());
  }
  [[gnu::always_inline]] FoundTree find_to_write(const Tree& tree, std::string_view key,
                                                 uint64_t value_bytes, Status* status) const {
    return FoundTree([&]() __attribute__((always_inline)) {
      return find_to_write_in_call(tree, key, value_bytes, status);
    });
  }
  tree::TreeState* find_to_write_in_call(const Tree& tree, std::string_view key,
                                         uint64_t value_bytes, Status* status) const {
    tree::TreeState* state = find_in_call(tree, status);
    if (state == nullptr) return nullptr;  // it may have ended, and the outermost one be gone
    *status = db_->check_sizes(key, value_bytes);
    forget_pinned();
    if (status->ok() && !state->stands() && !txn_->tree_changes().has_made(state)) {
      *status = Status(StatusCode::kConflict, "the tree was dropped by another transaction");
    }
    return status->ok() ? state : nullptr;
  }
  // What it reads: its moment, or the present.
  format::Lsn read_ts() const { return txn_->view().ts == 0 ? format::kLsnMax : txn_->view().ts; }

  Status prepare(std::string_view id) {
    Status status = usable();
    if (status.ok()) status = db_->writable();
    if (status.ok()) status = may_prepare(id);
    if (status.ok()) status = db_->prepared_.reserve(id);
    if (!status.ok()) return status;
    status = db_->outcome_reserve_.keep(db_->log_options_.segment_bytes);
    if (status.ok()) status = txn_->prepare(id);
    if (!txn_->prepared()) {
      db_->prepared_.cancel(id);
      return status;
    }
    id_ = id;
    unpin();
    txn_ = nullptr;
    prepared_number_ = db_->prepared_.add(std::move(held_));
    return status;
  }
  Status end_prepared(bool commit, Durability durability) {
    Status status = db_->end_prepared(id_, prepared_number_, commit, durability);
    // By its id it may have ended before; else it stays where that failed before it was decided.
    const bool ended =
        status.ok() || status.is_not_found() || (commit && status.is(StatusCode::kUnknownOutcome));
    if (ended) end();
    return status;
  }

  Status commit(Durability durability) {
    if (prepared()) return end_prepared(true, durability);
    end_child();
    if (Status s = write_reserved(); !s.ok()) {
      abort();
      return s;
    }
    if (parent_ == nullptr) {
      unpin();
      Status status = txn_->commit(db_->level(durability));
      end();
      return status;
    }
    Status status = txn_->release_mark(mark_);
    leave();
    return status;
  }
  void abort() {
    if (!open()) return;
    if (prepared()) {
      static_cast<void>(end_prepared(false, {}).ok());
      return;
    }
    end_child();
    drop_reserved();
    if (parent_ == nullptr) {
      unpin();
      txn_->abort();
      return end();
    }
    // Where that fails, the outermost one does not commit.
    static_cast<void>(txn_->roll_back_to(mark_).ok());
    static_cast<void>(txn_->release_mark(mark_).ok());
    leave();
  }

  // Entries that end up to here have ended for it.
  uint64_t now_ms() const {
    return txn_->reads_one_moment() && began_ms_ != 0 ? began_ms_
                                                      : db::expiry_now_if_used(db_->store_);
  }
  void set_now_ms(uint64_t now_ms) { began_ms_ = now_ms; }

  // For what keys of reads are: what is validated later is named by its stored key, and where the
  // moment of a read is still to come, keys keep their places until then.
  db::Use use_of_get() const { return txn_->tracks_reads() ? db::Use::kStore : db::Use::kSeek; }
  db::Use use_of_read() const { return txn_->reads_one_moment() ? use_of_get() : db::Use::kStore; }

  Result<tree::TreeState*> find_name(std::string_view name) const;
  Result<tree::TreeState*> find_name_to_change(std::string_view name) const;
  // At a place where nothing hangs.
  Result<tree::TreeState*> make_tree(const db::Catalog::Place& place, std::string shape) const;

  // ---- Of trees in which others may hang (subtrees.cc). Keys are stored ones.

  // What hangs at a key that is about to be written: null, nothing. Nobody else hangs or takes off
  // anything there before the commit, if the key is written. Errors: those of begin_update.
  Result<tree::TreeState*> hanging(tree::TreeState* parent, std::string_view key) const;
  // OK where a value may be put. Errors: kInvalidArgument; those of above.
  Status takes_value(tree::TreeState* state, std::string_view key) const {
    return db::holds_subtrees(*state) ? takes_no_subtree(state, key) : Status();
  }
  Status takes_no_subtree(tree::TreeState* state, std::string_view key) const;
  Status del_hanging(tree::TreeState* state, std::string_view key) const;
  Status delete_range_hanging(tree::TreeState* state, std::string_view low,
                              std::optional<std::string_view> high) const;
  Status delete_keys_hanging(tree::TreeState* state, std::string_view low,
                             std::optional<std::string_view> high) const;
  // As the log stores them, one after the other.
  Status write_all(std::string_view operations) const;
  Status write_one(tree::TreeState* state, const format::Operation& operation) const;
  // Of a write: the parent, and what a key is in it.
  struct At {
    At(const Impl& impl, const Tree& tree, std::string_view key, Status* status);
    FoundTree parent;
    std::optional<db::StoredKey> stored;  // nothing after an error
    std::string_view key() const { return stored->view(); }
    db::Catalog::Place place() const { return {stored->view(), parent}; }
  };
  // OK where nothing is at the key, which is about to be written.
  Status free_to_hang(const At& at) const;
  // What hangs there and is about to go elsewhere. Errors: kNotFound; kInvalidArgument.
  Result<tree::TreeState*> hanging_at(const At& at) const;
  // What hangs there, to be read.
  Result<tree::TreeState*> find_hanging(const Tree& tree, std::string_view key) const;

  Status read(tree::TreeState* state, std::string_view key, Value& value) const {
    Status status = state->get(key, txn_->view(), txn_->reads_one_moment(), value);
    return status.ok() ? db::take_moment(*state, now_ms(), &value) : status;
  }
  // What get_for_update does, behind its lock.
  Status read_again(tree::TreeState* state, std::string_view key, Value& value) const {
    Status status = state->get(key, txn_->update_view(), txn_->update_view_registered(), value);
    return status.ok() ? db::take_moment(*state, now_ms(), &value) : status;
  }
  // As get_for_update; of a large value *large, and what describes it; *own: see get_encoded.
  Status read_to_change(tree::TreeState* state, std::string_view key, Value& value, bool* large,
                        bool* own = nullptr) const {
    if (Status s = txn_->begin_update(state, key); !s.ok()) return s;
    return state->get_encoded(key, txn_->update_view(), txn_->update_view_registered(), value,
                              large, own);
  }
  // Values by parts (value_parts.cc); `key` is the caller's.
  struct PartChange;
  Status change_part(tree::TreeState* state, std::string_view key, PartChange* change) const;
  Status write_changed(tree::TreeState* state, std::string_view stored_key, uint64_t skipped,
                       PartChange* change, db::LargeEdit* edit) const;
  // Whether a key has this value, or, without one, is absent.
  Result<bool> has(tree::TreeState* state, std::string_view key,
                   std::optional<std::string_view> expected) const {
    Value value;
    bool large = false;
    Status status = read_to_change(state, key, value, &large);
    if (status.ok() && db::expires(*state)) {
      status = read_again(state, key, value);
      large = false;
    }
    if (status.is_not_found()) return !expected.has_value();
    if (!status.ok()) return status;
    if (!expected.has_value()) return false;
    if (expected->empty() && db::holds_subtrees(*state)) {
      const Result<tree::TreeState*> subtree = db_->catalog_->find_subtree(
          *state, key, txn_->update_view(), txn_->update_view_registered());
      if (subtree.ok()) return false;
      if (!subtree.status().is_not_found()) return subtree.status();
    }
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
  // A cursor of what the transaction sees; the options' keys are stored ones.
  std::unique_ptr<Cursor::Impl> walk(tree::TreeState* state, const CursorOptions& stored) const;
  // Where a key may have several values (several_values.cc). Errors: kInvalidArgument; those of
  // reads and writes.
  Result<std::unique_ptr<Cursor::Impl>> values_of(tree::TreeState* state,
                                                  std::string_view key) const;
  Status get_first_value(tree::TreeState* state, std::string_view key, Value& value) const;
  Status del_values(tree::TreeState* state, std::string_view key) const;

  // Below, keys are stored ones.
  Status del(tree::TreeState* state, std::string_view key) const {
    if (db::holds_subtrees(*state)) [[unlikely]] {
      return del_hanging(state, key);
    }
    return txn_->write(state, format::OperationType::kDelete, key, {});
  }
  Status put(tree::TreeState* state, const db::StoredPair& stored) const {
    if (Status s = takes_value(state, stored.key()); !s.ok()) return s;
    if (Status s = put_note(state, stored); !s.ok()) return s;
    return put(state, stored.key(), stored.value());
  }
  Status put_note(tree::TreeState* state, const db::StoredPair& stored) const {
    if (stored.note().empty()) return {};
    return txn_->write(state, format::OperationType::kPut, stored.note(), {});
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

  // What a read by parts reads, registered as long as this lives.
  struct PartsView {
    tree::ReadView view;
    Snapshot own;
  };
  PartsView parts_view() const {
    PartsView seen{txn_->view(), {}};
    if (!txn_->reads_one_moment()) {
      seen.own = db_->snapshot();
      seen.view.ts = seen.own.timestamp();
    }
    return seen;
  }

  // A put that is filled in place belongs to the innermost one that is open, as no other may write.
  Status write_reserved() const {
    if (extras_->reserved == nullptr) return {};
    return extras_->reserved->finish(
        [this](tree::TreeState* state, std::string_view key, std::string_view value) {
          return put(state, key, value);
        });
  }
  void drop_reserved() const {
    if (extras_->reserved != nullptr) extras_->reserved->drop();
    forget_pinned();
  }
  db::ReservedPut& reserved() const {
    if (extras_->reserved == nullptr) {
      extras_->reserved = std::make_unique<db::ReservedPut>(
          db_->residency_.get(), db_->arena_.get(), *db_->machine_.files);
    }
    return *extras_->reserved;
  }
  db::PinnedValues& pinned() const {
    if (extras_->pinned == nullptr) {
      extras_->pinned = std::make_unique<db::PinnedValues>(db_->residency_.get(), db_->arena_.get(),
                                                           *db_->machine_.files);
    }
    return *extras_->pinned;
  }
  void unpin() const { extras_->pinned.reset(); }
  // It reads other values than before.
  void forget_pinned() const {
    if (extras_->pinned != nullptr) extras_->pinned->forget();
  }

  // OK where this object may use such a savepoint: those of what it is nested in it may not.
  Status owns(uint64_t transaction, uint64_t mark) const {
    Status status = may_go_on();
    if (!status.ok() || (transaction == txn_->id() && mark > mark_)) return status;
    return Status(StatusCode::kInvalidArgument, "the savepoint is of another transaction");
  }

  Db::Impl* db() const { return db_; }
  txn::Txn& txn() const { return *txn_; }

 private:
  Status may_prepare(std::string_view id) const {
    const char* wrong = nullptr;
    if (id.empty() || id.size() > format::kPreparedIdBytesMax) {
      wrong = "the id of a prepared transaction must have 1 to 200 bytes";
    } else if (nested_) {
      wrong = "a nested transaction is prepared with the one around it";
    } else if (!txn_->may_prepare()) {
      wrong = "a read-only or exclusive transaction cannot be prepared";
    }
    return wrong == nullptr ? Status() : Status(StatusCode::kInvalidArgument, wrong);
  }
  static std::unique_ptr<txn::Txn> take_txn(Db::Impl* db) {
    db::ThreadTxns::Kept& spare = db::ThreadTxns::mine().spare;
    return spare.instance == db->instance_ && spare.txn != nullptr ? std::move(spare.txn)
                                                                   : db->new_txn();
  }
  // Those that are nested in this one end with it.
  void end_child() {
    if (child_ == nullptr) return;
    child_->end_child();
    child_->ended_ = true;
    child_->parent_ = nullptr;
    child_ = nullptr;
  }
  // Of the outermost one: what it has of the database goes back, which may be closed from here on,
  // and be gone.
  void end() {
    ended_ = true;
    if (db::ThreadTxns* const kept = os::OfThread<db::ThreadTxns>::find(); kept != nullptr) {
      if (held_ != nullptr) kept->spare = {db_->instance_, std::move(held_)};
    }
    held_.reset();
    own_extras_.reserved.reset();
    own_extras_.pinned.reset();
    db_->let_go();
  }
  void leave() {
    parent_->child_ = nullptr;
    parent_ = nullptr;
    ended_ = true;
  }

  Db::Impl* const db_;
  std::unique_ptr<txn::Txn> held_;  // null: nested, or prepared
  txn::Txn* txn_;                   // null: prepared
  Impl* parent_ = nullptr;
  Impl* child_ = nullptr;
  const uint64_t mark_ = 0;
  const bool nested_;
  bool ended_ = false;  // then neither the database nor the outermost one need be there
  uint64_t began_ms_ = 0;
  std::string id_;  // as which it is prepared
  uint64_t prepared_number_ = 0;
  struct Extras {
    std::unique_ptr<db::ReservedPut> reserved;
    std::unique_ptr<db::PinnedValues> pinned;
  };
  Extras own_extras_;
  Extras* const extras_;  // of the outermost one
};

}  // namespace hawthorn
