// The public Db and Snapshot: checks of arguments, and calls to the parts that do the work.

#include "hawthorn/db.h"

#include <algorithm>

#include "base/out_of_memory.h"
#include "db/budget.h"
#include "db/check.h"
#include "db/cursor_impl.h"
#include "db/impl.h"
#include "db/large_values.h"
#include "db/several_values.h"
#include "db/stored_key.h"
#include "db/subtrees.h"
#include "db/thread_txns.h"
#include "db/transaction_impl.h"
#include "os/epoch.h"
#include "os/file.h"
#include "os/io_queue.h"
#include "tree/cursor.h"
#include "tree/explain.h"
#include "tree/point_get.h"
#include "tree/value_access.h"
#include "tree/warm_up.h"

namespace hawthorn {

// ---- Open, close

Db::Db(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Db::~Db() {
  // Its threads exist in the parent only, and its locks are as those left them: all stays where it
  // is.
  if (impl_->inherited()) static_cast<void>(impl_.release());
}

Result<std::unique_ptr<Db>> Db::open(const std::string& path, const Options& options) try {
  return open_on(os::real_machine(), path, options);
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Result<std::unique_ptr<Db>> Db::open_on(const os::Machine& machine, const std::string& path,
                                        const Options& options) try {
  Result<std::string> from_root = machine.files->absolute(path);
  if (!from_root.ok()) return from_root.status();
  auto impl = std::make_unique<Impl>(machine, *std::move(from_root), options);
  if (Status s = impl->open(); !s.ok()) return s;
  return std::unique_ptr<Db>(new Db(std::move(impl)));
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Limits Db::limits() { return {}; }
const std::string& Db::path() const { return impl_->path_; }
Status Db::close() try { return impl_->close(); } catch (const std::bad_alloc&) {
  return out_of_memory();
}

Status Db::set_compression(const Tree& tree, Compression compression) try {
  Status status = impl_->usable();
  if (!status.ok()) return status;
  const FoundTree state = impl_->find(tree, &status);
  return state == nullptr ? status : impl_->set_compression(state, compression);
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

// ---- Reads

Status Db::get(const Tree& tree, std::string_view key, Value& value,
               const ReadOptions& options) try {
  Status status = impl_->usable();
  if (!status.ok()) return status;
  const FoundTree state = impl_->find(tree, options.snapshot, &status);
  if (state == nullptr) return status;
  if (db::several_values(*state)) [[unlikely]] {
    return db::get_first_value(*impl_, state, key, options.snapshot, value);
  }
  const db::StoredKey stored(*state, key, db::Use::kSeek);
  if (!stored.ok()) return stored.status();
  if (options.snapshot == nullptr) {
    status = state->get(stored.view(), {0, 0}, false, value);
  } else {
    status = state->get(stored.view(), {options.snapshot->timestamp(), 0}, true, value);
  }
  if (!db::expires(*state) || !status.ok()) [[likely]] {
    return impl_->told(std::move(status));
  }
  return db::take_moment(*state, impl_->now_of(options.snapshot), &value);
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Status Db::get_in_memory(const Tree& tree, std::string_view key, Value& value,
                         const ReadOptions& options) try {
  Status status = impl_->usable();
  if (!status.ok()) return status;
  const FoundTree state = impl_->find(tree, options.snapshot, &status);
  if (state == nullptr) return status;
  if (db::several_values(*state)) return db::not_with_several_values();
  if (db::compared(*state)) {
    return Status(StatusCode::kNotSupported, "the order of its keys is a comparison");
  }
  const db::StoredKey stored(*state, key, db::Use::kSeek);
  if (!stored.ok()) return stored.status();
  const bool registered = options.snapshot != nullptr;
  const tree::ReadView view{registered ? options.snapshot->timestamp() : 0, 0};
  tree::PointGet read(state, stored.view(), view, registered, &value,
                      tree::PointGet::Reach::kMemory);
  if (!read.advance() || (read.status().ok() && read.large())) {
    value.reset();
    return Status(StatusCode::kNotInMemory);
  }
  if (!db::expires(*state) || !read.status().ok()) return impl_->told(read.status());
  return db::take_moment(*state, impl_->now_of(options.snapshot), &value);
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Status Db::multi_get(const Tree& tree, std::span<const std::string_view> keys, ReadBatch& out,
                     const ReadOptions& options) try {
  Status status = impl_->usable();
  if (!status.ok()) return status;
  const FoundTree state = impl_->find(tree, options.snapshot, &status);
  if (state == nullptr) return status;
  if (db::compared(*state) && options.snapshot == nullptr) {
    const Snapshot now = snapshot();
    return multi_get(tree, keys, out, {.snapshot = &now});
  }
  db::StoredKeys stored(*state, &keys, db::Use::kSeek);
  if (!stored.ok()) return stored.status();
  if (options.snapshot != nullptr) {
    status = state->multi_get(keys, {options.snapshot->timestamp(), 0}, out);
  } else {
    const auto registration = impl_->snapshots_->add(impl_->sequencer_->visible());
    status = state->multi_get(keys, {registration.ts, 0}, out);
    impl_->snapshots_->remove(registration.slot);
    if (state->dropped.load(std::memory_order_acquire)) status = tree_was_dropped();
  }
  if (!status.ok()) return impl_->told(std::move(status));
  return db::take_moments(*state, impl_->now_of(options.snapshot), &out);
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Status Db::scan(const Tree& tree, std::string_view lo, std::optional<std::string_view> hi,
                const ScanCallback& callback, const ScanOptions& options) try {
  Status status = impl_->usable();
  if (!status.ok()) return status;
  const FoundTree state = impl_->find(tree, options.snapshot, &status);
  if (state == nullptr) return status;
  Snapshot own;
  const Snapshot* snapshot = options.snapshot;
  if (snapshot == nullptr) {
    own = this->snapshot();
    snapshot = &own;
  }
  const db::StoredRange range(*state, lo, hi, db::Use::kSeek);
  if (!range.ok()) return range.status();
  tree::TreeCursor::Options cursor_options;
  cursor_options.lower = std::string(range.low());
  if (range.high().has_value()) cursor_options.upper = std::string(*range.high());
  cursor_options.key_only = options.key_only && !db::expires(*state);
  tree::TreeCursor cursor(state, {snapshot->timestamp(), 0}, std::move(cursor_options));
  if (!cursor.first()) return cursor.status();
  std::vector<Entry> entries(512);
  std::string loaded;  // of a tree with a shape
  for (;;) {
    std::span<Entry> some(entries);
    status = db::next_entries(cursor, *state, snapshot->now_ms(), options.key_only, &loaded, &some);
    if (!status.ok()) return status;
    if (some.empty()) return cursor.status();
    if (!callback(some)) return {};
  }
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Result<uint64_t> Db::count(const Tree& tree, std::string_view lo,
                           std::optional<std::string_view> hi, const ReadOptions& options) try {
  Status status = impl_->usable();
  if (!status.ok()) return status;
  const FoundTree state = impl_->find(tree, options.snapshot, &status);
  if (state == nullptr) return status;
  if (db::compared(*state) && options.snapshot == nullptr) {
    const Snapshot now = snapshot();
    return count(tree, lo, hi, {.snapshot = &now});
  }
  const db::StoredRange range(*state, lo, hi, db::Use::kSeek);
  if (!range.ok()) return range.status();
  if (options.snapshot != nullptr) {
    return count_range(state, {options.snapshot->timestamp(), 0}, range.low(), range.high(),
                       options.snapshot->now_ms());
  }
  const auto registration = impl_->snapshots_->add(impl_->sequencer_->visible());
  Result<uint64_t> result =
      count_range(state, {registration.ts, 0}, range.low(), range.high(), impl_->now_of(nullptr));
  impl_->snapshots_->remove(registration.slot);
  return result;
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Result<KeyExplanation> Db::explain(const Tree& tree, std::string_view key,
                                   const ReadOptions& options) try {
  Status status = impl_->usable();
  if (!status.ok()) return status;
  const FoundTree state = impl_->find(tree, options.snapshot, &status);
  if (state == nullptr) return status;
  const db::StoredKey stored(*state, key, db::Use::kSeek);
  if (!stored.ok()) return stored.status();
  return explain_stored(tree, stored.view(), options);
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Result<KeyExplanation> Db::explain_stored(const Tree& tree, std::string_view stored_key,
                                          const ReadOptions& options) try {
  Status status = impl_->usable();
  if (!status.ok()) return status;
  const FoundTree state = impl_->find(tree, options.snapshot, &status);
  if (state == nullptr) return status;
  Snapshot own;
  if (options.snapshot == nullptr) own = snapshot();
  const Snapshot& at = options.snapshot == nullptr ? own : *options.snapshot;
  Result<KeyExplanation> told = tree::explain(*state, stored_key, {at.timestamp(), 0});
  if (!told.ok()) return impl_->told(told.status());
  return told;
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

// ---- Writes

Status Db::put(const Tree& tree, std::string_view key, std::string_view value,
               Durability durability) try {
  if (db::writes_look(tree)) [[unlikely]] {
    return db::write_looking(*this, *impl_, durability,
                             [&](Transaction& t) { return t.put(tree, key, value); });
  }
  return impl_->put(tree, key, value, nullptr, durability);
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Status Db::put(const Tree& tree, std::string_view key, std::string_view value, const Expiry& expiry,
               Durability durability) try {
  if (db::writes_look(tree)) [[unlikely]] {
    return db::write_looking(*this, *impl_, durability,
                             [&](Transaction& t) { return t.put(tree, key, value, expiry); });
  }
  return impl_->put(tree, key, value, &expiry, durability);
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Status Db::Impl::put(const Tree& tree, std::string_view key, std::string_view value,
                     const Expiry* expiry, Durability durability) {
  Status status = check_sizes(key, value.size());
  if (!status.ok()) return status;
  const FoundTree state = find(tree, &status);
  if (state == nullptr) return status;
  const db::StoredPair stored(*state, key, value, expiry);
  if (!stored.ok()) return stored.status();
  const bool large = stored.value().size() > db::kLargeValueBytes;
  if (large && stored.note().empty()) {
    return write_large(state->id(), stored.key(), stored.value(), durability);
  }
  db::OperationText operation;
  uint32_t count = 1;
  if (!stored.note().empty()) {
    operation.append({format::OperationType::kPut, state->id(), stored.note(), {}});
    ++count;
  }
  operation.append({format::OperationType::kPut, state->id(), stored.key(), stored.value()});
  return write_operations(operation.view(), count, large, durability);
}

Status Db::del(const Tree& tree, std::string_view key, Durability durability) try {
  if (db::writes_look(tree)) [[unlikely]] {
    return db::write_looking(*this, *impl_, durability,
                             [&](Transaction& t) { return t.del(tree, key); });
  }
  Status status = impl_->check_sizes(key, 0);
  if (!status.ok()) return status;
  const FoundTree state = impl_->find(tree, &status);
  if (state == nullptr) return status;
  if (db::several_values(*state)) [[unlikely]] {
    return db::del_values(*this, *impl_, tree, key, durability);
  }
  const db::StoredKey stored(*state, key);
  if (!stored.ok()) return stored.status();
  db::OperationText operation;
  operation.append({format::OperationType::kDelete, state->id(), stored.view(), {}});
  return impl_->write_operations(operation.view(), 1, false, durability);
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Status Db::delete_range(const Tree& tree, std::string_view low,
                        std::optional<std::string_view> high, Durability durability) try {
  if (db::writes_look(tree)) [[unlikely]] {
    return db::write_looking(*this, *impl_, durability,
                             [&](Transaction& t) { return t.delete_range(tree, low, high); });
  }
  Status status = impl_->check_sizes(low, 0);
  if (status.ok() && high.has_value()) status = impl_->check_sizes(*high, 0);
  if (!status.ok()) return status;
  const FoundTree state = impl_->find(tree, &status);
  if (state == nullptr) return status;
  const db::StoredRange range(*state, low, high);
  if (!range.ok()) return range.status();
  if (range.high().has_value() && *range.high() <= range.low()) return impl_->writable();
  db::OperationText operation;
  operation.append({format::OperationType::kDeleteRange, state->id(), range.low(),
                    format::encode_range_end(range.high())});
  return impl_->write_operations(operation.view(), 1, false, durability);
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Status Db::write(const WriteBatch& batch, Durability durability) try {
  if (!batch.refused_.ok()) return batch.refused_;
  const os::epoch::Call call;
  bool looks = false;
  Status status = impl_->write_operations(batch.ops_, static_cast<uint32_t>(batch.count_),
                                          batch.large_, durability, &looks);
  if (!looks) return status;
  return db::write_looking(*this, *impl_, durability, [&](Transaction& t) {
    return TransactionAccess::impl(t).write_all(batch.ops_);
  });
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

// ---- Snapshots

Snapshot Db::snapshot() try { return impl_->snapshot(); } catch (const std::bad_alloc&) {
  return {};
}

Snapshot Db::Impl::snapshot() {
  if (!usable().ok()) return {};
  const auto registration = snapshots_->add(sequencer_->visible());
  return hand_out(registration, db::expiry_now_if_used(store_));
}

Snapshot Db::Impl::hand_out(const tree::Snapshots::Registration& registration, uint64_t now_ms) {
  Snapshot snapshot;
  hold();
  snapshot.db_ = this;
  snapshot.slot_ = registration.slot;
  snapshot.timestamp_ = registration.ts;
  snapshot.now_ms_ = now_ms;
  return snapshot;
}

Status Db::create_snapshot(std::string_view name) try {
  if (Status s = impl_->writable(); !s.ok()) return s;
  // Whoever ingests may wait for this thread's exclusive transaction.
  if (Status s = impl_->sequencer_->may_wait_for_exclusive(); !s.ok()) return s;
  return impl_->named_snapshots_->create(name, impl_->ingest_mutex_);
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Result<Snapshot> Db::open_snapshot(std::string_view name) try {
  if (Status s = impl_->usable(); !s.ok()) return s;
  const auto registration = impl_->named_snapshots_->share(name);
  if (!registration.ok()) return registration.status();
  return impl_->hand_out(registration->registration, registration->created_us / 1000);
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Result<std::vector<NamedSnapshot>> Db::list_snapshots() try {
  if (Status s = impl_->usable(); !s.ok()) return s;
  return impl_->named_snapshots_->list();
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Status Db::drop_snapshot(std::string_view name) try {
  if (Status s = impl_->writable(); !s.ok()) return s;
  return impl_->named_snapshots_->drop(name);
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Snapshot::~Snapshot() { reset(); }
Snapshot::Snapshot(Snapshot&& other) noexcept
    : db_(std::exchange(other.db_, nullptr)),
      slot_(other.slot_),
      timestamp_(other.timestamp_),
      now_ms_(other.now_ms_) {}
Snapshot& Snapshot::operator=(Snapshot&& other) noexcept {
  if (this == &other) return *this;
  reset();
  db_ = std::exchange(other.db_, nullptr);
  slot_ = other.slot_;
  timestamp_ = other.timestamp_;
  now_ms_ = other.now_ms_;
  return *this;
}
void Snapshot::reset() {
  if (db_ == nullptr) return;
  auto* impl = static_cast<Db::Impl*>(std::exchange(db_, nullptr));
  if (impl->inherited()) return;
  impl->snapshots_->remove(slot_);
  impl->let_go();
}

// ---- Upkeep

Status Db::sync() try {
  if (Status s = impl_->writable(); !s.ok()) return s;
  return impl_->log_->wait_durable(impl_->sequencer_->visible().load(std::memory_order_acquire));
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Status Db::flush() try {
  if (Status s = impl_->writable(); !s.ok()) return s;
  const format::Lsn visible = impl_->sequencer_->visible().load(std::memory_order_acquire);
  Status flushed = impl_->scheduler_->flush_all();
  if (!flushed.ok() && !flushed.is(StatusCode::kCorruption)) return flushed;
  if (Status s = impl_->publisher_->publish(); !s.ok()) return s;
  // Ranges that were deleted, and large transactions, are in no container yet.
  if (Status s = impl_->log_->wait_durable(visible); !s.ok()) return s;
  return flushed;
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Status Db::compact(const CompactOptions& options) try {
  // What is damaged stays as it is, and is told at the end.
  Status damaged;
  const auto ends = [&damaged](Status status) {
    if (!status.is(StatusCode::kCorruption)) return status;
    if (damaged.ok()) damaged = std::move(status);
    return Status();
  };
  if (impl_->filters_ != nullptr) {
    if (Status s = impl_->filters_->may_end_filters(); !s.ok()) return s;
  }
  if (Status s = impl_->expiry_->may_end(); !s.ok()) return s;
  if (Status s = ends(flush()); !s.ok()) return s;
  if (Status s = impl_->layer_merger_->drain(); !s.ok()) return s;
  if (impl_->filters_ != nullptr) {
    if (Status s = impl_->filters_->run_all(); !s.ok()) return s;
    if (Status s = ends(flush()); !s.ok()) return s;
  }
  if (impl_->store_.expires.load(std::memory_order_acquire)) {
    if (Status s = impl_->expiry_->run_all(); !s.ok()) return s;
    if (Status s = ends(flush()); !s.ok()) return s;
  }
  db::RewriteCount count(options.progress);
  if (Status s = ends(impl_->scheduler_->recluster_all(&count)); !s.ok()) return s;
  if (Status s = impl_->publisher_->publish(); !s.ok()) return s;
  impl_->scheduler_->shrink(&count);
  if (!count.status().ok()) return count.status();
  if (Status s = impl_->publisher_->publish(); !s.ok()) return s;
  return damaged;
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Status Db::drain() try {
  if (Status s = impl_->writable(); !s.ok()) return s;
  if (impl_->filters_ != nullptr) {
    if (Status s = impl_->filters_->may_end_filters(); !s.ok()) return s;
  }
  if (Status s = impl_->layer_merger_->drain(); !s.ok()) return s;
  if (Status s = impl_->scheduler_->drain(); !s.ok()) return s;
  if (impl_->filters_ == nullptr) return {};
  if (Status s = impl_->filters_->drain(); !s.ok()) return s;
  return impl_->scheduler_->drain();
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Status Db::warm_up() try {
  if (Status s = impl_->usable(); !s.ok()) return s;
  Status first;
  bool full = false;
  for (tree::TreeState* state : impl_->catalog_->all()) {
    if (full) break;
    Status status = tree::warm_up(*state, &full);
    if (first.ok()) first = std::move(status);
  }
  return first;
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Status Db::set_memory_budget(size_t bytes) try {
  if (Status s = impl_->usable(); !s.ok()) return s;
  if (Status s = db::check_budget(bytes); !s.ok()) return s;
  impl_->scheduler_->set_budget(bytes);
  impl_->arena_->set_budget(bytes);
  for (int attempt = 0; attempt < 200 && impl_->arena_->used() > bytes; ++attempt) {
    impl_->store_.cursors.let_go();
    if (!impl_->residency_->make_room(impl_->arena_->used() - bytes) &&
        !impl_->options_.read_only) {
      if (Status s = impl_->scheduler_->drain(); !s.ok()) return s;
    }
    os::epoch::collect();
  }
  impl_->arena_->set_budget(bytes);
  if (impl_->arena_->used() > bytes) {
    return Status(StatusCode::kOutOfMemory,
                  std::to_string(impl_->arena_->used()) +
                      " bytes are held by snapshots, cursors "
                      "and unflushed data; the budget takes effect as they go");
  }
  return {};
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Status Db::set_background_io_limit(uint64_t bytes_per_second) try {
  if (Status s = impl_->usable(); !s.ok()) return s;
  impl_->background_io_.set_rate(bytes_per_second);
  impl_->scheduler_->look_again();
  return {};
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Result<CheckReport> Db::check(const CheckOptions& options) try {
  if (Status s = impl_->usable(); !s.ok()) return s;
  return db::check(*impl_, options);
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

}  // namespace hawthorn
