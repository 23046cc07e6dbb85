#include "db/layer_merger.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/bytes.h"
#include "os/epoch.h"
#include "tree/cursor.h"

namespace hawthorn::db {

namespace {
constexpr size_t kBatchKeys = 128;
constexpr size_t kMergeBatchBytes = size_t{64} << 10;
constexpr int kDrainAttempts = 100;
// Before what failed, or is still read, is tried again: twice as long each time.
constexpr uint64_t kMergePauseUs = 10'000;
constexpr uint64_t kPauseMaxUs = 1'000'000;
}  // namespace

// Entries of a layer that are written together.
struct LayerMerger::Pending {
  std::vector<std::pair<std::string, std::string>> entries;
  size_t bytes = 0;
  bool full() const { return entries.size() >= kBatchKeys || bytes >= kMergeBatchBytes; }
};

void LayerMerger::start() {
  os::MutexLock lock(mutex_);
  stopping_ = false;
  started_ = services_.store->machine->background_threads;
  begin_thread();
}

void LayerMerger::wake() {
  os::MutexLock lock(mutex_);
  told_ = true;
  begin_thread();
  wake_.notify_all();
}

void LayerMerger::try_again() {
  os::MutexLock lock(mutex_);
  begin_thread();
}

void LayerMerger::begin_thread() {
  // Few programs have such transactions.
  if (!started_ || stopping_ || !told_ || thread_.joinable()) return;
  static_cast<void>(thread_.start("hw-layers", [this] { run(); }, true).ok());
}

void LayerMerger::wake_if_due() {
  for (const tree::TreeState* tree : catalog_->active()) {
    if (tree->layers().any()) return wake();
  }
}

void LayerMerger::stop() {
  os::Thread thread;
  {
    os::MutexLock lock(mutex_);
    stopping_ = true;
    wake_.notify_all();
    thread = std::move(thread_);
  }
  if (thread.joinable()) thread.join();
}

bool LayerMerger::stopping() const {
  os::MutexLock lock(mutex_);
  return stopping_;
}

void LayerMerger::run() {
  bool done = false;
  uint64_t pause_us = kMergePauseUs;
  for (;;) {
    {
      os::MutexLock lock(mutex_);
      if (!done && !told_ && !stopping_) wake_.wait_for(mutex_, pause_us);
      while (done && !told_ && !stopping_) wake_.wait(mutex_);
      if (stopping_) return;
      pause_us = told_ ? kMergePauseUs : std::min(2 * pause_us, kPauseMaxUs);
      told_ = false;
    }
    // What fails is tried again: the error is a reader's as well.
    const Result<Left> left = pass();
    done = left.ok() && *left == Left::kNothing;
  }
}

Status LayerMerger::drain() {
  for (int attempt = 0; attempt < kDrainAttempts; ++attempt) {
    Result<Left> left = pass();
    if (!left.ok()) return left.status();
    if (*left != Left::kWrites) return {};
    services_.store->machine->clock->sleep_us(kMergePauseUs);
  }
  return {};
}

Result<LayerMerger::Left> LayerMerger::pass() {
  os::MutexLock merging(merging_);
  bool done = each_commit([this](Commit commit) { return keep(commit); });
  Status first;  // one keeps no other from being brought in
  for (tree::TreeState* tree : catalog_->active()) {
    for (std::shared_ptr<tree::Layer> layer = next_of(tree); layer != nullptr;
         layer = next_of(tree)) {
      // Its clones go on reading the layer.
      if (tree->was_dropped() && tree->pins().any()) break;
      Result<bool> all = tree->was_dropped() ? Result<bool>(true) : merge(tree, *layer);
      if (!all.ok() && first.ok()) first = all.status();
      if (!all.ok() || !*all) {
        done = false;
        break;
      }
      tree->layers().merged(*layer, services_.sequencer->visible().load() + 1);
    }
  }
  const bool gone = each_commit([this](Commit commit) { return let_go(commit); });
  forget_relays();
  const Result<RangeEraser::Left> ranges = eraser_.pass([this] { return stopping(); });
  if (!first.ok()) return first;
  if (!ranges.ok()) return ranges.status();
  if (!done || *ranges == RangeEraser::Left::kContainers) return Left::kWrites;
  return gone && *ranges == RangeEraser::Left::kNothing ? Left::kNothing : Left::kReaders;
}

// False where it was for one of them.
template <typename Each>
bool LayerMerger::each_commit(Each each) const {
  bool all = true;
  const std::vector<Catalog::CommittedLayer> layers = catalog_->committed_layers();
  for (size_t begin = 0, end = 0; begin < layers.size(); begin = end) {
    while (end < layers.size() && layers[end].layer->cts == layers[begin].layer->cts) ++end;
    all = each(Commit(layers).subspan(begin, end - begin)) && all;
  }
  return all;
}

bool LayerMerger::keep_all() {
  os::MutexLock merging(merging_);
  const bool kept = each_commit([this](Commit commit) { return keep(commit); });
  for (int attempt = 0; attempt < kDrainAttempts; ++attempt) {
    const Result<RangeEraser::Left> ranges = eraser_.pass();
    if (!ranges.ok()) return false;
    if (*ranges != RangeEraser::Left::kContainers) return kept;
    if (!catalog_->committed_layers().empty()) return false;  // it may wait for these
    services_.store->machine->clock->sleep_us(kMergePauseUs);
  }
  return false;
}

bool LayerMerger::keep(Commit commit) {
  const auto kept = [](const Catalog::CommittedLayer& committed) {
    return committed.layer->log_from.load(std::memory_order_acquire) == format::kLsnMax;
  };
  if (std::all_of(commit.begin(), commit.end(), kept)) return true;
  const format::Lsn cts = commit.front().layer->cts.load(std::memory_order_acquire);
  const auto flushed = [&](const Catalog::CommittedLayer& committed) {
    const uint64_t durable = publisher_->durable_batch();
    return committed.of->flushed_to(cts, durable) &&
           committed.layer->data->flushed_to(cts, durable);
  };
  if (!std::all_of(commit.begin(), commit.end(), flushed)) {
    // One that is damaged stands in the way only where it is one of these.
    const Status all = scheduler_->flush_all(cts + 1);
    if (!all.ok() && !all.is(StatusCode::kCorruption)) return false;
    if (!publisher_->publish().ok()) return false;
    if (!std::all_of(commit.begin(), commit.end(), flushed)) return false;
  }
  // Should the log lose the commit, there would be layers of nothing.
  if (!services_.store->log->wait_durable(cts).ok() || !catalog_->keep_layers(commit, true).ok()) {
    return false;
  }
  for (const Catalog::CommittedLayer& committed : commit) {
    committed.layer->log_from.store(format::kLsnMax, std::memory_order_release);
  }
  return true;
}

// The newest layer that is committed and not in the tree yet; null: there is none.
std::shared_ptr<tree::Layer> LayerMerger::next_of(const tree::TreeState* tree) {
  std::shared_ptr<tree::Layer> newest;
  if (!tree->layers().any()) return newest;
  format::Lsn newest_cts = 0;
  for (const std::shared_ptr<tree::Layer>& layer : tree->layers().list()) {
    const format::Lsn cts = layer->cts.load(std::memory_order_acquire);
    const bool merged = layer->merged.load(std::memory_order_acquire) != format::kLsnMax;
    if (layer->deletes() || cts == format::kLsnMax || merged || cts < newest_cts) continue;
    newest = layer;  // of one transaction the last one
    newest_cts = cts;
  }
  return newest;
}

// False: some of it could not be written now.
Result<bool> LayerMerger::merge(tree::TreeState* tree, const tree::Layer& layer) {
  bool all = true;
  Pending pending;
  tree::TreeCursor cursor(layer.data, tree::kNewestOfLayer, {});
  const auto write_pending = [&]() -> Status {
    Result<bool> written = write(tree, layer, pending);
    if (written.ok()) all = all && *written;
    pending = Pending();
    return written.ok() ? Status() : written.status();
  };
  for (bool there = cursor.first(); there; there = cursor.next()) {
    pending.entries.emplace_back(cursor.key(), cursor.value());
    pending.bytes += cursor.key().size() + cursor.value().size();
    if (!pending.full()) continue;
    if (stopping()) return false;
    if (Status s = write_pending(); !s.ok()) return s;
  }
  if (!cursor.status().ok()) return cursor.status();
  if (Status s = write_pending(); !s.ok()) return s;
  return all;
}

Result<bool> LayerMerger::write(tree::TreeState* tree, const tree::Layer& layer,
                                const Pending& pending) {
  const format::Lsn cts = layer.cts.load(std::memory_order_acquire);
  txn::Txn txn(services_);
  txn::Begin how;
  how.mode = txn::Mode::kOptimistic;
  how.spills = false;
  how.relays_to = tree;
  how.relays = &layer;
  if (Status s = txn.begin(how); !s.ok()) return s;
  // What is committed from here on is met as a conflict.
  if (next_of(tree).get() != &layer) return false;
  for (const auto& [key, encoded] : pending.entries) {
    // What its transaction left in the tree ranks above its layers, too.
    Result<bool> newer = tree->has_newer(key, cts - 1);
    if (!newer.ok()) return newer.status();
    if (*newer) continue;
    tree::LayerEntry entry = tree::decode_layer_entry(encoded);
    // As the key's last state: who opens finds the layer, and perhaps the range not any more.
    if (tree->layers().is_deleted(key, cts)) entry = {tree::VersionKind::kTombstone, 0, {}};
    Status status = txn.write(tree, tree::operation_type(entry.kind), key, entry.value);
    const bool later = status.is_conflict() || status.is(StatusCode::kTimedOut) ||
                       status.is(StatusCode::kDeadlock);
    if (later) return false;
    if (status.is(StatusCode::kOutOfMemory)) {
      txn.abort();
      // What was flushed and not published yet cannot be evicted.
      if (Status s = services_.admission->free_log(); !s.ok()) return s;
      return false;
    }
    if (!status.ok()) return status;
  }
  Status status = txn.commit(Durability::kNone);
  if (status.is_conflict() || status.is(StatusCode::kTimedOut)) return false;
  return status.ok() ? Result<bool>(true) : Result<bool>(status);
}

// False: it is still needed.
bool LayerMerger::let_go(Commit commit) {
  for (const auto& [tree, layer] : commit) {
    const bool kept = layer->log_from.load(std::memory_order_acquire) == format::kLsnMax;
    if (!kept || layer->merged.load(std::memory_order_acquire) == format::kLsnMax) return false;
  }
  if (is_read(commit)) return false;
  // An open that finds them again finds all deletes since in the tree, too: merges keep those until
  // the layers are gone for good.
  if (!log_merged(commit.front().layer->cts.load(std::memory_order_acquire))) return false;
  if (!catalog_->keep_layers(commit, false).ok()) return false;
  for (const auto& [tree, layer] : commit) {
    // Its tree may have been dropped meanwhile.
    if (tree->layers().remove(layer.get())) catalog_->unmade(layer->data);
  }
  return true;
}

void LayerMerger::forget_relays() {
  tree::Snapshots& snapshots = *services_.store->snapshots;
  snapshots.refresh(services_.sequencer->visible().load());
  os::epoch::Guard guard;
  const format::Lsn oldest = snapshots.view()->oldest();
  for (tree::TreeState* tree : catalog_->active()) tree->layers().forget_relays(oldest);
}

// By one whom the layers concern.
bool LayerMerger::is_read(Commit commit) {
  tree::Snapshots& snapshots = *services_.store->snapshots;
  const format::Lsn visible = services_.sequencer->visible().load();
  return std::any_of(commit.begin(), commit.end(), [&](const Catalog::CommittedLayer& at) {
    const format::Lsn cts = at.layer->cts.load(std::memory_order_acquire);
    const format::Lsn merged = at.layer->merged.load(std::memory_order_acquire);
    return at.of->pins().copy().between(cts, merged) ||
           snapshots.read_between(cts, merged, visible);
  });
}

// From here on an open does not make them again.
bool LayerMerger::log_merged(format::Lsn cts) {
  char payload[sizeof(cts)];
  store(payload, cts);
  const std::string_view pieces[] = {{payload, sizeof(payload)}};
  format::Lsn lsn = 0;
  return services_.sequencer->append(format::RecordType::kLayersMerged, 0, pieces, &lsn).ok() &&
         services_.store->log->wait_durable(lsn).ok();
}

}  // namespace hawthorn::db
