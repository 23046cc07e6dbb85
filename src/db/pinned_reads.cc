// Values that stay until the transaction ends, and puts that are filled in place.

#include "base/bytes.h"
#include "base/out_of_memory.h"
#include "db/stored_key.h"
#include "db/transaction_impl.h"

namespace hawthorn {

Result<std::string_view> Transaction::get_pinned(const Tree& tree, std::string_view key) try {
  if (impl_ == nullptr) return no_transaction();
  Status status;
  const FoundTree state = impl_->find(tree, &status);
  if (state == nullptr) return status;
  const db::StoredKey stored(*state, key, impl_->use_of_get());
  if (!stored.ok()) return stored.status();
  key = stored.view();
  const bool one_moment = impl_->txn().reads_one_moment();
  if (impl_->txn().tracks_reads()) impl_->txn().note_read(state, key);
  db::PinnedValues& pinned = impl_->pinned();
  if (one_moment) {
    if (const std::string_view* known = pinned.find(state->id(), key)) return *known;
  }
  Value value;
  if (status = impl_->read(state, key, value); !status.ok()) return status;
  Result<std::string_view> copy = pinned.add(value.view());
  if (copy.ok() && one_moment) pinned.remember(state->id(), key, *copy);
  return copy;
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Result<PinnedEntry> Transaction::pin(const Cursor& cursor) try {
  if (impl_ == nullptr) return no_transaction();
  if (Status s = impl_->usable(); !s.ok()) return s;
  if (!cursor.valid()) {
    Status status = cursor.status();
    if (!status.ok()) return status;
    return Status(StatusCode::kInvalidArgument, "the cursor stands on no entry");
  }
  if (Status s = cursor.status(); !s.ok()) return s;  // it shows a key whose value is too large
  const Result<std::string_view> key = impl_->pinned().add(cursor.key());
  if (!key.ok()) return key.status();
  const Result<std::string_view> value = impl_->pinned().add(cursor.value());
  if (!value.ok()) return value.status();
  return PinnedEntry{*key, *value};
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

void Transaction::release_pinned() {
  // One that was nested in what is gone has nothing that it could let go.
  if (impl_ != nullptr && impl_->open()) impl_->unpin();
}

Result<std::span<std::byte>> Transaction::put_reserve(const Tree& tree, std::string_view key,
                                                      size_t size) try {
  if (impl_ == nullptr) return no_transaction();
  Status status;
  const FoundTree state = impl_->find_to_write(tree, key, size, &status);
  if (state == nullptr) return status;
  if (db::several_values(*state)) return db::not_with_several_values();
  const db::StoredPair stored(*state, key, {});
  if (!stored.ok()) return stored.status();
  key = stored.key();
  txn::Txn& txn = impl_->txn();
  if (status = impl_->db()->writable(); !status.ok()) return status;
  if (txn.is_read_only()) {
    return Status(StatusCode::kReadOnly, "the transaction was begun to read only");
  }
  if (status = impl_->takes_value(state, key); !status.ok()) return status;
  if (txn.locks_rows()) {
    status = txn.lock(state, key, txn::LockMode::kExclusive, txn.lock_timeout_us());
    if (!status.ok()) return status;
  }
  if (status = impl_->put_note(state, stored); !status.ok()) return status;
  // In front of it, what the tree puts there itself.
  const std::string_view front = stored.value();
  Result<std::span<std::byte>> room = impl_->reserved().begin(state, key, front.size() + size);
  if (!room.ok()) return room;
  copy_bytes(room->data(), front);
  return room->subspan(front.size());
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Status Transaction::finish_reserve() try {
  return impl_ == nullptr ? no_transaction() : impl_->usable();
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

}  // namespace hawthorn
