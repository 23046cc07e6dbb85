// A transaction that deletes a range (R25): as a layer that hides it (tree/layers.h), or key by
// key.
//
//   delete_range(b, y):   what it has written in [b, y) itself: deleted key by key
//                         few keys, or rows that have to be locked: the same for all of them
//                         all of it was deleted before: there is but what it wrote since
//                         else: a layer, whatever the range holds
//
// 1. Where it reads one moment, nobody may have committed to the range since when it commits.
// 2. From the moment that the layer is listed, others wait before they write or lock a key of the
//    range. Who has done so before has a lock, which is waited for, or an intent, and validates
//    that at its commit.
// 3. The operation in the log ranks below all others of its transaction, wherever it stands.

#include <algorithm>
#include <array>
#include <set>
#include <span>
#include <utility>

#include "base/assert.h"
#include "tree/cursor.h"
#include "txn/transaction.h"

namespace hawthorn::txn {

namespace {
constexpr size_t kFewKeys = 64;
constexpr size_t kKeysAtOnce = 1024;
constexpr size_t kBatchKeys = 128;
// Of a tree: more that are committed and not erased make others wait; of one transaction, more are
// deleted key by key.
constexpr size_t kRangesMax = 64;
constexpr uint64_t kPauseUs = 500;

Status no_ranges(const tree::TreeState& tree) {
  return Status(StatusCode::kNotSupported,
                "a range of tree " + std::to_string(tree.id()) +
                    ", which has a merge operator or is a clone, can be deleted by transactions "
                    "only");
}
// Of a clone, what is below would come back when the range is erased.
bool can_hide(const tree::TreeState& tree) {
  return tree.merge_operator() == nullptr && tree.base() == nullptr;
}
}  // namespace

void Txn::expect_unchanged(tree::TreeState* tree, std::string_view low,
                           std::optional<std::string_view> high) {
  keep(tree);
  if (mode_ == Mode::kExclusive || !one_moment_) return;
  reads_.add_range(tree, low, high, read_ts_);
  count_memory();
}

tree::ReadView Txn::expect_key(const tree::TreeState* tree, std::string_view key) {
  HAWTHORN_ASSERT(mode_ != Mode::kBlind);
  if (mode_ == Mode::kExclusive) return view();
  const Lsn floor = one_moment_ ? read_ts_ : floor_now();
  reads_.add(tree, key, floor);
  count_memory();
  return {floor, id_};
}

tree::ReadView Txn::expect_range(const tree::TreeState* tree, std::string_view low,
                                 std::optional<std::string_view> high) {
  HAWTHORN_ASSERT(mode_ != Mode::kBlind);
  if (mode_ == Mode::kExclusive) return view();
  const Lsn floor = one_moment_ ? read_ts_ : floor_now();
  reads_.add_range(tree, low, high, floor);
  count_memory();
  return {floor, id_};
}

Status Txn::delete_range(tree::TreeState* tree, std::string_view low,
                         std::optional<std::string_view> high) {
  if (read_only_) return read_only_error();
  if (!broken_.ok()) return broken_;
  if (high.has_value() && *high <= low) return {};
  HAWTHORN_ASSERT(mode_ != Mode::kBlind);
  expect_unchanged(tree, low, high);
  // What fails leaves nothing of it behind.
  const uint64_t before = mark();
  Status status = note_range(tree, low, high);
  if (!status.ok() && broken_.ok()) {
    if (Status s = roll_back_to(before); !s.ok()) return s;
  }
  static_cast<void>(release_mark(before).ok());
  return status;
}

Status Txn::note_range(tree::TreeState* tree, std::string_view low,
                       std::optional<std::string_view> high) {
  const auto own = std::count_if(layers_.begin(), layers_.end(), [tree](const OwnLayer& layer) {
    return layer.tree == tree && layer.layer->deletes();
  });
  const bool by_key = locks_rows() || !can_hide(*tree) || static_cast<size_t>(own) >= kRangesMax ||
                      hides_already(tree, low, high);
  if (by_key || one_moment_) {
    Result<bool> all = delete_keys(tree, low, high, by_key ? ~size_t{0} : kFewKeys);
    if (!all.ok() || *all) return all.status();
  }
  if (Status s = delete_written(tree, low, high); !s.ok()) return s;
  if (Status s = hide_range(tree, low, high); !s.ok()) return s;
  const std::string end = format::encode_range_end(high);
  format::append_operation(operations_,
                           {format::OperationType::kDeleteRange, tree->id(), low, end});
  ++operation_count_;
  if (operations_.size() < kChunkBytes) return {};
  if (broken_ = log_in_chunks(operations_); !broken_.ok()) {
    give_up_log();
    return broken_;
  }
  operations_.clear();
  return {};
}

// Whether one of its layers hides all of the range. Whoever rolls back behind that takes this
// deletion back first.
bool Txn::hides_already(const tree::TreeState* tree, std::string_view low,
                        std::optional<std::string_view> high) const {
  return std::any_of(layers_.begin(), layers_.end(), [&](const OwnLayer& own) {
    if (own.tree != tree || !own.layer->deletes()) return false;
    const tree::KeyRange& range = own.layer->range;
    return range.low <= low && (!range.high || (high && *high <= *range.high));
  });
}

// Those that it sees, unless there are more than `most`: then false.
Result<bool> Txn::delete_keys(tree::TreeState* tree, std::string_view low,
                              std::optional<std::string_view> high, size_t most) {
  const tree::HeldSnapshot present(*services_.store->snapshots, services_.sequencer->visible());
  const tree::ReadView view = one_moment_ ? this->view() : tree::ReadView{present.ts(), id_};
  tree::TreeCursor::Options options;
  options.lower = std::string(low);
  if (high.has_value()) options.upper = std::string(*high);
  options.key_only = true;
  tree::TreeCursor cursor(tree, view, std::move(options));
  const size_t at_once = most < kKeysAtOnce ? most + 1 : kKeysAtOnce;
  std::array<Entry, kBatchKeys> batch;
  std::vector<std::string> keys;
  for (bool more = cursor.first(); more;) {
    keys.clear();
    while (more && keys.size() < at_once) {
      const size_t room = std::min(batch.size(), at_once - keys.size());
      const size_t count = cursor.next_batch(std::span(batch).first(room));
      for (size_t i = 0; i < count; ++i) keys.emplace_back(batch[i].key);
      more = count > 0;
    }
    if (keys.size() > most) return false;
    if (!cursor.status().ok()) return cursor.status();
    for (const std::string& key : keys) {
      if (Status s = write(tree, format::OperationType::kDelete, key, {}); !s.ok()) return s;
    }
    // What it stands on may have moved.
    if (more) more = cursor.seek(keys.back());
  }
  if (!cursor.status().ok()) return cursor.status();
  return true;
}

// What it has written in the range itself, in deltas and in layers.
Status Txn::delete_written(tree::TreeState* tree, std::string_view low,
                           std::optional<std::string_view> high) {
  const tree::KeyRange range{std::string(low),
                             high.has_value() ? std::optional<std::string>(*high) : std::nullopt};
  std::set<std::string> keys;
  for (size_t i = 0; i < undo_.size(); ++i) {
    if (undo_[i].tree != tree || !range.covers(undo_[i].key)) continue;
    tree::VersionKind kind{};
    std::string value;
    const bool known = tree::TreeState::copy_for_layer(undo_[i], id_, &kind, &value);
    if (known && kind == tree::VersionKind::kTombstone) {
      keys.erase(std::string(undo_[i].key));
    } else {
      keys.emplace(undo_[i].key);
    }
  }
  for (const OwnLayer& own : layers_) {
    if (own.tree != tree || own.layer->deletes()) continue;
    tree::TreeCursor::Options options;
    options.lower = range.low;
    options.upper = range.high;
    tree::TreeCursor cursor(own.layer->data, tree::kNewestOfLayer, std::move(options));
    for (bool there = cursor.first(); there; there = cursor.next()) {
      const tree::LayerEntry entry = tree::decode_layer_entry(cursor.value());
      if (entry.kind != tree::VersionKind::kTombstone) keys.emplace(cursor.key());
    }
    if (!cursor.status().ok()) return cursor.status();
  }
  for (const std::string& key : keys) {
    if (Status s = write(tree, format::OperationType::kDelete, key, {}); !s.ok()) return s;
  }
  return {};
}

// Makes the layer, and the number of its operation.
Status Txn::hide_range(tree::TreeState* tree, std::string_view low,
                       std::optional<std::string_view> high) {
  if (!can_hide(*tree)) return no_ranges(*tree);
  os::Clock& clock = *services_.store->machine->clock;
  const uint64_t began = clock.monotonic_us();
  while (tree->layers().ranges_to_erase() >= kRangesMax) {
    if (clock.monotonic_us() - began >= lock_timeout_us_ || os::interrupted()) {
      return Status(StatusCode::kTimedOut, "tree " + std::to_string(tree->id()) + " has " +
                                               std::to_string(kRangesMax) +
                                               " deleted ranges that could not be erased yet");
    }
    clock.sleep_us(kPauseUs);
  }
  auto layer = std::make_shared<tree::Layer>();
  layer->range.low = low;
  if (high.has_value()) layer->range.high = std::string(*high);
  layer->owner = id_;
  layer->level = marks_.empty() ? 0 : marks_.back().number;
  if (!tree->layers().add(layer)) return no_ranges(*tree);
  // Whoever takes a lock from here on meets the layer; who has one is waited for without it, since
  // he may be about to wait for its owner.
  RowLocks& row_locks = *services_.row_locks;
  if (mode_ != Mode::kExclusive && row_locks.any()) {
    tree->layers().remove(layer.get());
    if (Status s = row_locks.close(lock_timeout_us_); !s.ok()) return s;
    const bool added = tree->layers().add(layer);
    row_locks.reopen();
    if (!added) return no_ranges(*tree);
  }
  services_.store->slots->mark_all_contended();
  layers_.push_back({tree, std::move(layer)});
  ++context_.seq;
  if (logged_ == nullptr) return {};
  os::MutexLock lock(logged_->mutex);
  logged_->stays.store(true, std::memory_order_release);
  logged_->move_start = 0;
  return {};
}

// Which keys its layers have is not asked: a range that was deleted since may be one of them.
bool Txn::spilled_beside_range() const {
  return std::any_of(layers_.begin(), layers_.end(), [this](const OwnLayer& own) {
    return !own.layer->deletes() && own.tree->layers().newest_deleted() > read_ts_;
  });
}

// From before its only record on: until that is durable and erased its layers hold it (R8).
void Txn::hold_log() {
  const Lsn from = services_.sequencer->log()->head();
  services_.store->slots->set_first_lsn(id_, from);
  for (const OwnLayer& own : layers_) own.layer->log_from.store(from, std::memory_order_release);
}

bool Txn::has_spilled() const {
  return std::any_of(layers_.begin(), layers_.end(),
                     [](const OwnLayer& own) { return !own.layer->deletes(); });
}

}  // namespace hawthorn::txn
