// A transaction that outgrows its share of memory: its intents go to layers (tree/layers.h, R20).
//
//   undo list: [old ... | behind savepoint 1 ... | behind savepoint 2 ...]
//                │                │                     │      all of it logged before
//                └─> layer        └─> layer             └─> layer, dropped by a rollback to 2
//
// 1. The layer has an entry before its intent goes, and whoever writes the key from then on asks
//    the layer (tree/layers.h, 4).
// 2. What has met another transaction's intent stays where it is: at its commit it is validated.
//    So do large values, and trees with a merge operator.
// 3. Of what stays, numbers in the undo list change: those of savepoints, of trees made and
//    dropped, and of what is logged.

#include <algorithm>
#include <new>
#include <set>
#include <utility>

#include "base/assert.h"
#include "base/bytes.h"
#include "format/catalog_entry.h"
#include "tree/cursor.h"
#include "txn/spill_sizing.h"
#include "txn/transaction.h"

namespace hawthorn::txn {

namespace {
constexpr size_t kBatchBytes = size_t{256} << 10;
constexpr size_t kBatchOperations = 2048;
// Behind a savepoint: fewer stay, as each layer is a tree.
constexpr size_t kSegmentMin = 1024;
constexpr size_t kSegmentShare = 4;
}  // namespace

// Entries that go to layers together.
struct Txn::SpillBatch {
  struct Entry {
    size_t number;  // in the undo list
    std::string value;
  };
  std::vector<Entry> entries;
  std::vector<OwnLayer> to;  // of each
  size_t bytes = 0;
};

// A failure to spill is none of the write that it comes with: memory gets short, and says so.
Status Txn::spill_if_large() {
  if (!spills_ || intent_bytes_ < spill_at_) return {};
  const size_t budget = services_.store->arena->budget();
  const size_t share = memory_share(budget);
  if (intent_bytes_ < least_spilled(budget)) return {};
  if (intent_bytes_ < share && !services_.admission->stuck()) return {};
  if (!operations_.empty()) {
    if (broken_ = log_in_chunks(operations_); !broken_.ok()) {
      give_up_log();
      return broken_;
    }
    operations_.clear();
  }
  {
    os::MutexLock lock(logged_->mutex);
    logged_->stays.store(true, std::memory_order_release);
    logged_->move_start = 0;
  }
  std::vector<bool> gone(undo_.size());
  spill_segments(&gone);
  take_out_spilled(gone);
  spill_at_ = 2 * intent_bytes_;
  return {};
}

void Txn::spill_segments(std::vector<bool>* gone) {
  SpillBatch batch;
  size_t begin = 0;
  uint64_t level = 0;
  for (size_t m = 0; m <= marks_.size(); ++m) {
    const size_t end = m < marks_.size() ? marks_[m].undo : undo_.size();
    const bool worth = end - begin >= std::min(kSegmentMin, undo_.size() / kSegmentShare);
    for (size_t i = begin; worth && i < end; ++i) {
      if (!add_to_batch(i, level, &batch)) continue;
      if (batch.bytes < kBatchBytes && batch.entries.size() < kBatchOperations) continue;
      if (!spill_batch(&batch, gone)) return;
    }
    if (m < marks_.size()) level = marks_[m].number;
    begin = end;
  }
  static_cast<void>(spill_batch(&batch, gone));
}

// False: it stays.
bool Txn::add_to_batch(size_t number, uint64_t level, SpillBatch* batch) {
  const tree::Undo& undo = undo_[number];
  if (undo.tree->id() == format::kCatalogTree || undo.tree->merge_operator() != nullptr)
    return false;
  tree::VersionKind kind{};
  std::string value;
  if (!tree::TreeState::copy_for_layer(undo, id_, &kind, &value)) return false;
  const OwnLayer* layer = layer_for(undo.tree, level);
  if (layer == nullptr) return false;
  batch->entries.push_back({number, tree::encode_layer_entry({kind, undo.seq, value})});
  batch->to.push_back(*layer);
  batch->bytes += undo.key.size() + value.size();
  return true;
}

// The tree's newest layer where a rollback to any savepoint that there is would take both or
// neither; else another one. Null: it cannot be made.
const Txn::OwnLayer* Txn::layer_for(tree::TreeState* tree, uint64_t level) {
  const auto newest = std::find_if(layers_.rbegin(), layers_.rend(), [tree](const OwnLayer& own) {
    return own.tree == tree && !own.layer->deletes();
  });
  if (newest != layers_.rend()) {
    const uint64_t other = newest->layer->level;
    const auto [low, high] = std::minmax(level, other);
    const bool apart = std::any_of(marks_.begin(), marks_.end(), [&](const Mark& mark) {
      return mark.number > low && mark.number <= high;
    });
    if (!apart) return &*newest;
  }
  Result<tree::TreeState*> made = services_.trees->make_layer(tree);
  if (!made.ok()) return nullptr;
  auto layer = std::make_shared<tree::Layer>();
  layer->data = tree::TreeRef(*made);
  layer->owner = id_;
  layer->level = level;
  if (!tree->layers().add(layer)) {
    services_.trees->unmade(layer->data);
    return nullptr;
  }
  layers_.push_back({tree, std::move(layer)});
  return &layers_.back();
}

// False: there is no memory, or no room in the log.
bool Txn::spill_batch(SpillBatch* batch, std::vector<bool>* gone) {
  if (batch->entries.empty()) return true;
  std::vector<tree::Replayed> writes(batch->entries.size());
  const Lsn log_from = services_.store->slots->first_lsn(id_);
  // Each batch has a moment of its own, so that what is spilled later ranks above. Splits may cut
  // there before all of it is in.
  Lsn moment = 0;
  bool done = services_.sequencer->pass_moment(id_, &moment).ok();
  for (size_t i = 0; i < writes.size(); ++i) {
    writes[i] = {.tree = batch->to[i].layer->data,
                 .key = undo_[batch->entries[i].number].key,
                 .value = batch->entries[i].value,
                 .kind = tree::VersionKind::kPut,
                 .fresh = true,
                 .seq = static_cast<uint32_t>(i),
                 .cts = moment,
                 .first_lsn = log_from};
  }
  uint32_t futile = 0;
  for (std::span<tree::Replayed> left(writes); done && !left.empty();) {
    size_t count = 0;
    const Status status = tree::TreeState::replay(left, &count);
    left = left.subspan(count);
    if (count > 0) futile = 0;
    if (status.is(StatusCode::kOutOfMemory)) {
      done = services_.admission->relieve(&futile).ok();
    } else {
      done = status.ok();
    }
  }
  if (done) {
    const tree::TreeState* touched = nullptr;
    for (const OwnLayer& own : batch->to) {
      if (own.tree == touched) continue;
      touched = own.tree;
      const uint64_t before = own.tree->layers().touch();
      if (layered_dead_ != nullptr) layered_dead_->spilled(own.tree->id(), before, before + 2);
    }
    for (const SpillBatch::Entry& entry : batch->entries) {
      (*gone)[entry.number] = tree::TreeState::unlink_for_layer(undo_[entry.number], id_);
    }
    for (size_t i = 0; i < writes.size(); ++i) {
      batch->to[i].layer->bytes += writes[i].key.size() + writes[i].value.size() + kIntentOverhead;
    }
  }
  *batch = SpillBatch();
  return done;
}

// The undo list without what is gone, its keys in as little memory as they need.
void Txn::take_out_spilled(const std::vector<bool>& gone) {
  std::vector<size_t> stay;
  for (size_t i = 0; i < gone.size(); ++i) {
    if (!gone[i]) stay.push_back(i);
  }
  if (stay.size() == gone.size()) return;
  HAWTHORN_ASSERT(logged_ != nullptr);
  const auto renumbered = [&stay](size_t number) {
    return static_cast<size_t>(std::lower_bound(stay.begin(), stay.end(), number) - stay.begin());
  };
  release_locks_of(gone);
  os::MutexLock lock(logged_->mutex);
  size_t bytes = 0;
  for (size_t i = 0; i < stay.size(); ++i) {
    undo_[i] = undo_[stay[i]];
    bytes += undo_[i].key.size() + kIntentOverhead;
  }
  undo_.resize(stay.size());
  intent_bytes_ = bytes;
  repack_keys(renumbered);
  for (Mark& mark : marks_) mark.undo = renumbered(mark.undo);
  tree_changes_.renumber(renumbered);
  for (uint32_t* number : {&logged_->logged, &logged_->moved, &logged_->move_end}) {
    *number = static_cast<uint32_t>(renumbered(*number));
  }
  search_.clear();
}

// Whose keys layers hold from here on. A lock from before the savepoint behind which its key was
// written outlives the layer.
void Txn::release_locks_of(const std::vector<bool>& gone) {
  if (locks_.empty()) return;
  std::vector<RowLocks::Covered> covered;
  size_t mark = 0;
  for (size_t i = 0; i < gone.size(); ++i) {
    while (mark < marks_.size() && marks_[mark].undo <= i) ++mark;
    const size_t from = mark == 0 ? 0 : marks_[mark - 1].locks;
    if (gone[i]) covered.push_back({undo_[i].tree->id(), undo_[i].key, from});
  }
  const std::vector<uint32_t> released = services_.row_locks->release_covered(locks_, id_, covered);
  for (Mark& at : marks_) {
    at.locks -= static_cast<size_t>(std::lower_bound(released.begin(), released.end(), at.locks) -
                                    released.begin());
  }
}

// Without memory they stay where they are.
void Txn::repack_keys(const std::function<size_t(size_t)>& renumbered) {
  std::vector<char*> old = std::exchange(key_blocks_, {});
  std::unique_ptr<char[]> old_first = std::move(first_keys_);
  char* const old_at = std::exchange(key_at_, nullptr);
  char* const old_end = std::exchange(key_end_, nullptr);
  std::vector<std::string_view> keys(undo_.size());
  bool room = true;
  std::vector<Mark> placed = marks_;
  size_t next_mark = 0;
  for (size_t i = 0; i <= undo_.size() && room; ++i) {
    for (; next_mark < placed.size() && renumbered(placed[next_mark].undo) == i; ++next_mark) {
      placed[next_mark].key_blocks = key_blocks_.size();
      placed[next_mark].key_at = key_at_;
      placed[next_mark].key_end = key_end_;
    }
    if (i == undo_.size()) break;
    room = reserve_key(undo_[i].key.size() + 1);
    if (room) keys[i] = keep_key(undo_[i].key);
  }
  std::vector<char*>& spare = room ? old : key_blocks_;
  for (char* block : spare) {
    services_.store->arena->release(os::Quota::kOther, block, kKeyBlockBytes);
  }
  if (!room) {
    key_blocks_ = std::move(old);
    first_keys_ = std::move(old_first);
    key_at_ = old_at;
    key_end_ = old_end;
    return;
  }
  for (size_t i = 0; i < undo_.size(); ++i) undo_[i].key = keys[i];
  marks_ = std::move(placed);
}

// ---- Back into the deltas, where what is prepared stands

Status Txn::may_bring_back() const {
  size_t bytes = intent_bytes_;
  for (const OwnLayer& own : layers_) {
    if (own.layer->deletes()) {
      return Status(StatusCode::kNotSupported,
                    "a transaction that has deleted a range cannot be prepared");
    }
    bytes += own.layer->bytes;
  }
  const size_t most = services_.store->arena->budget() / kMemoryShare;
  if (layers_.empty() || bytes <= most) return {};
  return Status(StatusCode::kNotSupported,
                "a transaction that takes " + std::to_string(bytes) +
                    " bytes of memory cannot be prepared: its share are " + std::to_string(most));
}

// Logs all of it anew: what the log has of it by now are more operations. On an error it is as it
// was, or only abort is left.
Status Txn::bring_back(uint64_t timeout_us) {
  if (!operations_.empty()) {
    if (broken_ = log_in_chunks(operations_); !broken_.ok()) {
      give_up_log();
      return broken_;
    }
    operations_.clear();
  }
  const uint64_t before = mark();
  const uint64_t own_timeout_us = std::exchange(lock_timeout_us_, timeout_us);
  Status status;
  try {
    for (size_t i = layers_.size(); i > 0 && status.ok(); --i) status = write_again(layers_[i - 1]);
  } catch (const std::bad_alloc&) {
    status = Status(StatusCode::kOutOfMemory, "there is no memory to prepare a transaction");
  }
  lock_timeout_us_ = own_timeout_us;
  if (!status.ok()) {
    if (Status s = roll_back_to(before); !s.ok()) return s;
    static_cast<void>(release_mark(before).ok());
    return status;
  }
  static_cast<void>(release_mark(before).ok());
  {
    os::MutexLock lock(logged_->mutex);
    logged_->logged = static_cast<uint32_t>(undo_.size());
    logged_->move_start = 0;
    logged_->stays.store(false, std::memory_order_release);
  }
  chunk_seq_ = context_.seq;
  broken_ = Status(StatusCode::kOutOfMemory);  // where the next line throws
  broken_ = with_log_space([&] { return services_.reappender->move(*logged_); });
  if (!broken_.ok()) {
    give_up_log();
    return broken_;
  }
  drop_layers(0);
  if (layered_dead_ != nullptr) layered_dead_->clear();
  count_memory();
  return {};
}

// What has an intent was written later, or is back from a later layer.
Status Txn::write_again(const OwnLayer& own) {
  tree::TreeCursor cursor(own.layer->data, tree::kNewestOfLayer, {});
  std::vector<std::pair<std::string, std::string>> batch;
  size_t bytes = 0;
  const auto write_batch = [&]() -> Status {
    for (const auto& [key, encoded] : batch) {
      if (own.tree->has_intent(key, id_)) continue;
      const tree::LayerEntry entry = tree::decode_layer_entry(encoded);
      if (Status s = take_memory([&] { return reserve_key(key.size() + 1); }); !s.ok()) return s;
      const format::OperationType type = tree::operation_type(entry.kind);
      if (Status s = install(own.tree, type, keep_key(key), entry.value); !s.ok()) return s;
      intent_bytes_ += key.size() + entry.value.size() + kIntentOverhead;
    }
    batch.clear();
    bytes = 0;
    return {};
  };
  for (bool there = cursor.first(); there; there = cursor.next()) {
    batch.emplace_back(cursor.key(), cursor.value());
    bytes += cursor.key().size() + cursor.value().size();
    if (bytes < kBatchBytes && batch.size() < kBatchOperations) continue;
    if (Status s = write_batch(); !s.ok()) return s;
  }
  if (!cursor.status().ok()) return cursor.status();
  return write_batch();
}

// ---- Its end

// As a commit record names them: their number, then their ids.
void Txn::append_layered_trees(std::string* record) const {
  std::set<uint32_t> ids;
  for (const OwnLayer& own : layers_) {
    if (!own.layer->deletes()) ids.insert(own.tree->id());
  }
  append(*record, static_cast<uint32_t>(ids.size()));
  for (const uint32_t id : ids) append(*record, id);
}

void Txn::show_layers(Lsn cts) {
  for (const OwnLayer& own : layers_) own.tree->layers().commit(*own.layer, cts);
  if (relays_ != nullptr) relays_to_->layers().relayed(cts, *relays_);
}

void Txn::drop_layers(uint64_t from_level) {
  std::erase_if(layers_, [&](const OwnLayer& own) {
    if (own.layer->level < from_level) return false;
    const bool there = own.tree->layers().remove(own.layer.get());
    if (there && !own.layer->deletes()) services_.trees->unmade(own.layer->data);
    return true;
  });
}

// Those that are committed are the keeper's from here on.
void Txn::finish_layers() {
  const bool committed =
      layers_.front().layer->cts.load(std::memory_order_acquire) != format::kLsnMax;
  if (committed) {
    services_.trees->layers_committed();
    layers_.clear();
  } else {
    drop_layers(0);
  }
}

}  // namespace hawthorn::txn
