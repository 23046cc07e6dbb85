#include "db/view.h"

#include <algorithm>
#include <atomic>
#include <set>

#include "db/impl.h"
#include "db/manifest_files.h"
#include "format/catalog_entry.h"
#include "format/operation.h"
#include "os/epoch.h"
#include "os/test_point.h"
#include "wal/log_directory.h"

namespace hawthorn::db {

using format::Lsn;
using format::OperationType;
using format::RecordType;

namespace {
// A view whose deltas have more of the budget than this is made anew, where that helps: by then
// what they hold was flushed by the process that writes.
constexpr size_t kViewDeltaPart = 3;
constexpr size_t kViewMakeRoomBytes = size_t{16} << 20;
constexpr int kViewRoomAttempts = 4;

// A record that is damaged is told of by who takes it.
bool changes_names(std::string_view operations) {
  const char* at = operations.data();
  const char* const end = at + operations.size();
  format::Operation operation;
  while (at != nullptr && at < end) {
    at = format::decode_operation(at, end, &operation);
    if (at != nullptr && operation.tree == format::kCatalogTree) return true;
  }
  return false;
}
}  // namespace

Status View::too_old() {
  return Status(StatusCode::kTooOld,
                "the disk was full, and what this view of a follower reads was given away: refresh "
                "the follower, and take its newest view");
}

// A file of a manifest is written anew when it is not the current one any more: who reads it
// meanwhile may take what is left of it for all that there was.
Status View::check_writer(const LoadedManifest& loaded) const {
  HAWTHORN_TEST_POINT("view.manifest_read");
  const auto superblock = read_superblock(*db_->machine_.files, db_->path_, nullptr);
  if (!superblock.ok()) return superblock.status();
  if (superblock->manifest_number != loaded.number) {
    return Status(StatusCode::kTooOld, db_->path_ + ": the manifest was rewritten meanwhile");
  }
  if (loaded.state.epochs.empty()) return {};  // it was closed
  const Result<bool> heeded = claim_->heeded(loaded.state.epochs.back().salt);
  if (!heeded.ok()) return heeded.status();
  if (*heeded) return {};
  return Status(
      StatusCode::kNotSupported,
      db_->path_ + " is being written, or was last, by a version that knows nothing of followers");
}

Status View::begin(LoadedManifest loaded, const wal::LogOptions& options, Lsn end) {
  loaded_ = std::move(loaded);
  log_options_ = options;
  batch_.reserve(kBatch);
  if (!loaded_.state.epochs.empty()) {
    if (Status s = look_for_ring(); !s.ok()) return s;
    auto tail = wal::Tail::open(db_->machine_, db_->path_, options, loaded_.state.epochs, end);
    if (!tail.ok()) return tail.status();
    tail_ = *std::move(tail);
  }
  delta_bytes_ = db_->arena_->used(os::Quota::kDelta);
  // As long as everything is pinned the log is kept: so that nothing is missed between its end, as
  // it was found, and the tail.
  // A record that it cannot take came after the end was found, and so after it was asked for.
  const Result<bool> there = go_on();
  if (!there.ok()) return there.status();
  if (overtaken_) return Status(StatusCode::kTooOld, db_->path_ + " has changed meanwhile");
  HAWTHORN_TEST_POINT("view.before_pin");
  if (Status s = claim_->pin(loaded_.state.last_batch); !s.ok()) return s;
  return revoked() ? too_old() : Status();
}

// Without one the log is about to be begun or was just removed, or a process has died there.
Status View::look_for_ring() {
  const std::string path = db_->path_ + "/" + std::string(wal::kRingName);
  const Result<bool> there = db_->machine_.files->exists(path);
  if (!there.ok()) return there.status();
  has_ring_ = *there;
  if (has_ring_) return {};
  const Result<bool> open = log_is_open();
  if (!open.ok()) return open.status();
  if (*open) return {};
  return Status(StatusCode::kTooOld, db_->path_ + " was closed meanwhile");
}

// Whether the log that this view reads has not been closed: before a close removes it the manifest
// says so. Where there was no ring before this call, then there has been none since the newest
// open, if so.
Result<bool> View::log_is_open() const {
  const Result<LoadedManifest> now = Manifest::load(db_->machine_, db_->path_, nullptr);
  if (!now.ok()) return now.status();
  return !now->state.epochs.empty() && now->generation == loaded_.generation;
}

Result<bool> View::go_on() {
  if (stuck_ || revoked()) return false;
  const os::epoch::Call call;
  // Whatever stops it in the middle of a commit stops it for good.
  stuck_ = true;
  overtaken_ = true;
  while (tail_ != nullptr) {
    Result<wal::Tail::Next> next = tail_->next();
    if (!next.ok()) {
      // A new view finds out whether that is damage.
      const bool moved = next.status().is_not_found() || next.status().is(StatusCode::kCorruption);
      if (moved) return false;
      return next.status();
    }
    if (next->outcome == wal::Tail::Outcome::kGone) return false;
    if (next->outcome == wal::Tail::Outcome::kEnd) break;
    const Result<bool> taken = take(next->record);
    if (!taken.ok()) return taken;
    if (!*taken) {
      overtaken_ = false;
      return false;
    }
  }
  if (!make_visible()) return false;
  stuck_ = false;
  overtaken_ = false;
  db_->snapshots_->refresh(db_->sequencer_->visible().load(std::memory_order_acquire));
  const size_t deltas = db_->arena_->used(os::Quota::kDelta);
  if (deltas > std::max(db_->arena_->budget() / kViewDeltaPart, 2 * delta_bytes_)) return false;
  const Result<bool> stands = log_stands();
  overtaken_ = !stands.ok() || !*stands;
  return stands;
}

// Whether the end that the tail has found is that of the log: another process may have begun a new
// one, or closed the database and removed it. The ring goes first, and comes again only behind a
// newer superblock: so where it is there and then the superblock is the same, all that was read
// until now was of a log that stood.
Result<bool> View::log_stands() const {
  os::FileSystem& files = *db_->machine_.files;
  if (tail_ != nullptr) {
    const wal::LogDirectory directory(db_->machine_, db_->path_, log_options_);
    const Result<bool> ring = files.exists(directory.path_of(wal::kRingName));
    if (!ring.ok()) return ring;
    if (*ring != has_ring_) return false;
    if (!*ring) {
      // None may have come and gone since, with all that was committed meanwhile.
      const Result<bool> open = log_is_open();
      const Status& status = open.status();
      // A new view finds out what that is.
      if (status.is_not_found() || status.is(StatusCode::kCorruption)) return false;
      return open;
    }
  }
  const Result<format::Superblock> superblock = read_superblock(files, db_->path_, nullptr);
  if (!superblock.ok()) return superblock.status();
  return superblock->generation == loaded_.generation;
}

// ---- Records

Result<bool> View::take(const wal::RecordView& record) {
  switch (record.type) {
    case RecordType::kPad:
    case RecordType::kAbort:
    case RecordType::kChunk:         // what becomes of it stands in its commit's record
    case RecordType::kRollbackTo:    // the same
    case RecordType::kLayersMerged:  // what they held has come by commits; that they are there,
                                     // too, changes nothing
      return true;
    case RecordType::kCommit:
      break;
    case RecordType::kChunkedCommit:
    case RecordType::kAttachingCommit:
    case RecordType::kLayeredCommit:
    case RecordType::kPrepare:
    case RecordType::kPreparedCommit:
    case RecordType::kPreparedAbort:
    case RecordType::kRelayedCommit:
      return false;
  }
  // What names stood for is read where all before this commit is visible.
  if (changes_names(record.payload) && !make_visible()) return false;
  records_.emplace_back(record.payload);
  record_bytes_ += record.payload.size();
  wal::RecordView kept = record;
  kept.payload = records_.back();
  const Result<bool> named = take_names(kept);
  if (!named.ok() || !*named) return named;
  const char* at = kept.payload.data();
  const char* const end = at + kept.payload.size();
  for (uint32_t seq = 0; at < end; ++seq) {
    format::Operation operation;
    at = format::decode_operation(at, end, &operation);
    if (at == nullptr) {
      return Status(StatusCode::kCorruption, "log record at lsn " + std::to_string(record.lsn) +
                                                 " holds no valid operations");
    }
    const Result<bool> taken = take_operation(kept, operation, seq);
    if (!taken.ok() || !*taken) return taken;
  }
  newest_ = record.lsn;
  if (batch_.size() < kBatch && record_bytes_ < kKeptBytes) return true;
  return make_visible();
}

// Makes the trees that the commit names, and finds those that it drops.
Result<bool> View::take_names(const wal::RecordView& record) {
  std::set<uint32_t> named;
  std::vector<std::string_view> dropped;
  const char* at = record.payload.data();
  const char* const end = at + record.payload.size();
  while (at < end) {
    format::Operation operation;
    at = format::decode_operation(at, end, &operation);
    if (at == nullptr) break;  // told by who takes it
    if (operation.tree != format::kCatalogTree) continue;
    names_changed_ = true;
    // Where trees hang in trees is found by a new view.
    const bool hangs = format::decode_subtree_key(operation.key).has_value() ||
                       format::decode_place_key(operation.key).has_value();
    if (hangs) return false;
    if (!format::is_catalog_name(operation.key)) continue;
    if (operation.type == OperationType::kDelete) {
      dropped.push_back(operation.key);
      continue;
    }
    if (operation.type != OperationType::kPut) return false;
    Status made = db_->catalog_->adopt({operation.key, operation.value, record.lsn, record.lsn},
                                       loaded_.state);
    if (!made.ok()) return made;
    const auto entry = format::decode_catalog_entry(operation.value);
    if (entry.has_value()) named.insert(entry->id);
  }
  for (const std::string_view key : dropped) {
    Value value;
    const Status status = db_->catalog_->names()->get(key, {0, 0}, false, value);
    if (status.is_not_found()) continue;
    if (!status.ok()) return status;
    const auto entry = format::decode_catalog_entry(value.view());
    if (!entry.has_value() || named.contains(entry->id)) continue;
    if (tree::TreeState* tree = db_->catalog_->any(entry->id); tree != nullptr) {
      ends_.push_back({tree, record.lsn});
    }
  }
  return true;
}

Result<bool> View::take_operation(const wal::RecordView& record, const format::Operation& operation,
                                  uint32_t seq) {
  tree::TreeState* tree = db_->catalog_->any(operation.tree);
  if (tree == nullptr) return false;
  switch (operation.type) {
    case OperationType::kAttach:
      return false;
    case OperationType::kDeleteRange: {
      auto layer = std::make_shared<tree::Layer>();
      layer->range.low = operation.key;
      if (const auto high = format::range_end(operation.value)) {
        layer->range.high = std::string(*high);
      }
      layer->cts.store(record.lsn, std::memory_order_relaxed);
      layer->log_from.store(record.lsn, std::memory_order_relaxed);
      return tree->layers().add(std::move(layer));
    }
    case OperationType::kMerge:
      if (tree->merge_operator() == nullptr) return false;  // the manifest tells which it was given
      break;
    case OperationType::kPut:
    case OperationType::kDelete:
    case OperationType::kPutLarge:
      break;
  }
  batch_.push_back({.tree = tree,
                    .key = operation.key,
                    .value = operation.value,
                    .kind = tree::version_kind(operation.type),
                    .seq = seq,
                    .cts = record.lsn,
                    .first_lsn = record.lsn});
  return batch_.size() < kBatch || apply();
}

bool View::apply() {
  int attempts = 0;
  for (size_t done = 0; done < batch_.size();) {
    size_t applied = 0;
    const Status status = tree::TreeState::replay(std::span(batch_).subspan(done), &applied);
    done += applied;
    if (status.ok()) continue;
    if (applied > 0) attempts = 0;
    if (!status.is(StatusCode::kOutOfMemory) || ++attempts > kViewRoomAttempts) {
      overtaken_ = false;  // what was visible stays right
      return false;
    }
    static_cast<void>(db_->residency_->make_room(kViewMakeRoomBytes));
    os::epoch::collect();
  }
  batch_.clear();
  return true;
}

bool View::make_visible() {
  if (!apply()) return false;
  records_.clear();
  record_bytes_ = 0;
  std::atomic<Lsn>& visible = db_->sequencer_->visible();
  if (newest_ <= visible.load(std::memory_order_relaxed)) return true;
  HAWTHORN_TEST_POINT("view.before_visible");
  for (const TreeEnd& end : ends_) end.tree->ended.store(end.cts, std::memory_order_release);
  ends_.clear();
  visible.store(newest_, std::memory_order_release);
  if (std::exchange(names_changed_, false)) {
    static_cast<void>(db_->expiry_->load_now().ok());
  }
  return true;
}

}  // namespace hawthorn::db
