#include "db/several_values.h"

#include "base/out_of_memory.h"
#include "db/change_alone.h"
#include "db/stored_key.h"
#include "db/thread_txns.h"
#include "db/transaction_impl.h"
#include "tree/cursor.h"
#include "tree/value_access.h"

namespace hawthorn {

namespace {
// Of the entry at which a walk over a key's values stands first.
Status first_value(const tree::TreeState& tree, const tree::TreeCursor& cursor, bool found,
                   Value& value) {
  if (!found) return cursor.status().ok() ? Status::not_found() : cursor.status();
  std::string key;
  std::string bytes;
  if (Status s = tree.shape()->load(cursor.key(), &key, &bytes); !s.ok()) return s;
  internal::ValueAccess::copy(value, bytes);
  return {};
}
CursorOptions values_range(db::StoredValues values) {
  CursorOptions options;
  options.lower = std::move(values.head);
  options.upper = std::move(values.end);
  options.key_only = true;
  return options;
}
}  // namespace

namespace db {

Status get_first_value(Db::Impl& db, tree::TreeState* tree, std::string_view key,
                       const Snapshot* snapshot, Value& value) {
  Snapshot own;
  if (snapshot == nullptr) own = db.snapshot();
  Result<StoredValues> values = stored_values(*tree, key, Use::kSeek);
  if (!values.ok()) return values.status();
  const Snapshot& shown = snapshot != nullptr ? *snapshot : own;
  const tree::ReadView view{shown.timestamp(), 0};
  const uint64_t now_ms = shown.now_ms();
  Cursor::Impl cursor(&db, std::move(own), tree, view, values_range(*std::move(values)), nullptr,
                      now_ms);
  const bool found = cursor.first();
  return first_value(*tree, cursor.at(), found, value);
}

Status del_values(Db& db, const Db::Impl& impl, const Tree& tree, std::string_view key,
                  Durability durability) {
  return change_alone(db, impl, durability,
                      [&](Transaction& t) {
                        Status status = t.del(tree, key);
                        return status.ok() ? Result<bool>(true) : Result<bool>(std::move(status));
                      })
      .status();
}

}  // namespace db

// ---- In a transaction

Result<std::unique_ptr<Cursor::Impl>> Transaction::Impl::values_of(tree::TreeState* state,
                                                                   std::string_view key) const {
  Result<db::StoredValues> values = db::stored_values(*state, key, use_of_read());
  if (!values.ok()) return values.status();
  return walk(state, values_range(*std::move(values)));
}

std::unique_ptr<Cursor::Impl> Transaction::Impl::walk(tree::TreeState* state,
                                                      const CursorOptions& stored) const {
  tree::ReadView view = txn_->view();
  Snapshot own;
  if (!txn_->reads_one_moment()) {
    own = db_->snapshot();
    view.ts = own.timestamp();
  }
  return std::make_unique<Cursor::Impl>(db_, std::move(own), state, view, stored,
                                        txn_->tracks_reads() ? &txn_->reads() : nullptr, now_ms(),
                                        txn_->layered_dead(*state));
}

Status Transaction::Impl::get_first_value(tree::TreeState* state, std::string_view key,
                                          Value& value) const {
  const Result<std::unique_ptr<Cursor::Impl>> cursor = values_of(state, key);
  if (!cursor.ok()) return cursor.status();
  const bool found = (*cursor)->first();
  return first_value(*state, (*cursor)->at(), found, value);
}

Status Transaction::Impl::del_values(tree::TreeState* state, std::string_view key) const {
  const Result<std::unique_ptr<Cursor::Impl>> cursor = values_of(state, key);
  if (!cursor.ok()) return cursor.status();
  std::string stored;
  for (bool more = (*cursor)->first(); more; more = (*cursor)->next()) {
    stored = (*cursor)->at().key();
    if (Status s = del(state, stored); !s.ok()) return s;
  }
  return (*cursor)->status();
}

Status Transaction::del_value(const Tree& tree, std::string_view key, std::string_view value) try {
  if (impl_ == nullptr) return no_transaction();
  Status status;
  const FoundTree state = impl_->find_to_write(tree, key, 0, &status);
  if (state == nullptr) return status;
  if (!db::several_values(*state)) return db::not_without_several_values();
  const db::StoredPair stored(*state, key, value);
  return stored.ok() ? impl_->del(state, stored.key()) : stored.status();
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Status Db::del_value(const Tree& tree, std::string_view key, std::string_view value,
                     Durability durability) try {
  Status status = impl_->check_sizes(key, value.size());
  if (!status.ok()) return status;
  const FoundTree state = impl_->find(tree, &status);
  if (state == nullptr) return status;
  if (!db::several_values(*state)) return db::not_without_several_values();
  const db::StoredPair stored(*state, key, value);
  if (!stored.ok()) return stored.status();
  db::OperationText operation;
  operation.append({format::OperationType::kDelete, state->id(), stored.key(), {}});
  return impl_->write_operations(operation.view(), 1, false, durability);
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

}  // namespace hawthorn
