#include "db/replay.h"

#include <algorithm>
#include <cstring>

#include "base/bytes.h"
#include "db/feeds.h"
#include "format/catalog_entry.h"
#include "format/manifest_record.h"
#include "format/run_layout.h"
#include "os/epoch.h"

namespace hawthorn::db {

using format::Lsn;
using format::RecordType;

namespace {
// Of the budget; the rest is for what the records of one batch need, and for runs and values.
constexpr double kScanShare = 0.70;

constexpr uint32_t kRoomAttempts = 1000;
constexpr uint32_t kPublishedAttempts = 8;

// What applying it may take at most, about: a container's first chunk of memory for each operation.
size_t memory_of(const wal::RecordView& record) {
  return 2 * record.payload.size() + size_t{record.operations} * 4096;
}
}  // namespace

Replay::Replay(tree::Store* store, Scheduler* scheduler, FindTree find_tree, NameTree name_tree,
               MakeLayer make_layer, std::vector<format::LogEpoch> epochs, std::set<Lsn> layers,
               bool read_only)
    : store_(store),
      scheduler_(scheduler),
      find_tree_(std::move(find_tree)),
      name_tree_(std::move(name_tree)),
      make_layer_(std::move(make_layer)),
      epochs_(std::move(epochs)),
      read_only_(read_only),
      scan_bytes_max_(
          static_cast<size_t>(static_cast<double>(store->arena->budget()) * kScanShare)),
      kept_layers_(std::move(layers)),
      kept_(std::make_unique_for_overwrite<char[]>(kKeptBytes)) {
  batch_.reserve(kBatch);
}

tree::TreeState* Replay::find_tree(uint32_t id) {
  if (last_tree_ == nullptr || last_tree_->id() != id) last_tree_ = find_tree_(id);
  return last_tree_;
}

Status Replay::damaged(const wal::RecordView& record, std::string_view what) {
  return Status(StatusCode::kCorruption,
                "log record at lsn " + std::to_string(record.lsn) + " " + std::string(what));
}

Replay::ChunkedKey Replay::chunked_key(Lsn of_epoch, uint64_t id) const {
  uint64_t epoch_start = 0;
  for (const format::LogEpoch& epoch : epochs_) {
    if (epoch.start <= of_epoch) epoch_start = std::max(epoch_start, epoch.start);
  }
  return {epoch_start, id};
}

Replay::ChunkedOutcome* Replay::chunked(const wal::RecordView& record) {
  return &chunked_[chunked_key(record.lsn, load<uint64_t>(record.payload.data()))];
}

// The number from which on what stands at `lsn` was rolled back. There may be as many rollbacks as
// operations.
uint32_t Replay::rolled_back_from(const ChunkedOutcome& outcome, Lsn lsn) {
  const auto next = std::upper_bound(outcome.masks.begin(), outcome.masks.end(), lsn,
                                     [](Lsn at, const auto& mask) { return at < mask.first; });
  return next == outcome.masks.end() ? UINT32_MAX : next->second;
}

// Those of before that take less away say nothing more: so numbers go up, too.
void Replay::roll_back(ChunkedOutcome* outcome, Lsn lsn, uint32_t seq) {
  while (!outcome->masks.empty() && outcome->masks.back().second >= seq) outcome->masks.pop_back();
  outcome->masks.emplace_back(lsn, seq);
}

bool Replay::counts(const ChunkedOutcome& outcome, Lsn lsn, uint32_t seq) {
  if (seq >= rolled_back_from(outcome, lsn)) return false;
  const auto behind = outcome.met.upper_bound(seq);
  return behind == outcome.met.begin() || std::prev(behind)->second <= seq;
}

// The operations [first_seq, end) of the record at `lsn` were looked at. Ranges that touch become
// one, so there are as many as the transaction was logged again.
void Replay::meet(ChunkedOutcome* outcome, Lsn lsn, uint32_t first_seq, uint32_t end) {
  end = std::min(end, rolled_back_from(*outcome, lsn));
  if (first_seq >= end) return;
  auto& met = outcome->met;
  auto range = met.upper_bound(first_seq);
  if (range != met.begin() && std::prev(range)->second >= first_seq) --range;
  while (range != met.end() && range->first <= end) {
    first_seq = std::min(first_seq, range->first);
    end = std::max(end, range->second);
    range = met.erase(range);
  }
  met.emplace(first_seq, end);
}

// ---- The scan

Status Replay::scan(wal::Recovery& recovery, Lsn from) {
  Status status =
      recovery.replay(from, [this](const wal::RecordView& record) { return scan_record(record); });
  if (status.ok()) status = apply();
  scanning_ = false;
  decide_prepared();
  if (!status.ok() || first_chunk_ == format::kLsnMax) {
    return status.ok() && fed_ != format::kLsnMax ? look_at_early() : status;
  }
  // Which chunks count is known now.
  status = recovery.replay(first_chunk_, [this](const wal::RecordView& record) -> Status {
    if (record.type == RecordType::kChunk) {
      ChunkedOutcome* outcome = chunked(record);
      if ((outcome->cts == 0 && !outcome->prepared) || record.lsn < outcome->from) return {};
      // What is prepared lies above every cut.
      const Lsn cts = outcome->prepared ? format::kLsnMax : outcome->cts;
      return scan_operations(record, record.payload.substr(format::kChunkHeaderBytes),
                             load<uint32_t>(record.payload.data() + 8), cts, outcome);
    }
    if (record.type != RecordType::kChunkedCommit && record.type != RecordType::kAttachingCommit &&
        record.type != RecordType::kLayeredCommit && record.type != RecordType::kRelayedCommit) {
      return {};
    }
    return scan_operations(record, operations_of_commit(record),
                           load<uint32_t>(record.payload.data() + 16), record.lsn, chunked(record));
  });
  for (auto& [id, outcome] : chunked_) outcome.met.clear();
  return status.ok() ? look_at_early() : status;
}

// Operations whose trees were not known when they were met.
Status Replay::look_at_early() {
  Status status;
  for (const auto& [encoded, cts] : std::exchange(early_, {})) {
    format::Operation operation;
    format::decode_operation(encoded.data(), encoded.data() + encoded.size(), &operation);
    tree::TreeState* tree = find_tree(operation.tree);
    if (!status.ok()) break;
    status = tree != nullptr ? mark_extents(tree, operation, cts) : hold_for_feeds(operation, cts);
  }
  return status;
}

Status Replay::scan_record(const wal::RecordView& record) {
  switch (record.type) {
    case RecordType::kPad:
      return {};
    case RecordType::kCommit:
      newest_ = std::max(newest_, record.lsn);
      if (resume_ == format::kLsnMax &&
          store_->arena->used() + memory_of(record) > scan_bytes_max_) {
        resume_ = record.lsn;
      }
      if (resume_ == format::kLsnMax) return add(record, record.payload, 0, record.lsn, nullptr);
      return scan_operations(record, record.payload, 0, record.lsn, nullptr);
    case RecordType::kChunk:
    case RecordType::kAttachingCommit:
    case RecordType::kLayeredCommit:
    case RecordType::kRelayedCommit:
    case RecordType::kChunkedCommit: {
      const bool commits = record.type != RecordType::kChunk;
      if (record.payload.size() <
          (commits ? format::kChunkedCommitHeaderBytes : format::kChunkHeaderBytes))
        return damaged(record, "is too short");
      resume_ = std::min(resume_, record.lsn);
      first_chunk_ = std::min(first_chunk_, record.lsn);
      ChunkedOutcome* outcome = chunked(record);
      if (commits) {
        outcome->cts = record.lsn;
        outcome->from = load<uint64_t>(record.payload.data() + 8);
        if (outcome->from > record.lsn) return damaged(record, "names a first chunk behind it");
        if (outcome->first_lsn != 0) {
          outcome->first_lsn = std::max(outcome->first_lsn, outcome->from);
        }
        newest_ = std::max(newest_, record.lsn);
      } else if (outcome->first_lsn == 0) {
        outcome->first_lsn = record.lsn;
      }
      return record.type == RecordType::kLayeredCommit ? scan_layered(record, outcome) : Status();
    }
    case RecordType::kLayersMerged:
      if (record.payload.size() < sizeof(Lsn)) return damaged(record, "is too short");
      kept_layers_.insert(load<uint64_t>(record.payload.data()));
      return {};
    case RecordType::kAbort:
      return record.payload.size() < 8 ? damaged(record, "is too short") : Status();
    case RecordType::kRollbackTo:
      if (record.payload.size() < format::kChunkHeaderBytes) return damaged(record, "is too short");
      roll_back(chunked(record), record.lsn, load<uint32_t>(record.payload.data() + 8));
      return {};
    case RecordType::kPrepare:
      return scan_prepare(record);
    case RecordType::kPreparedCommit:
    case RecordType::kPreparedAbort:
      return scan_prepared_outcome(record);
  }
  return {};
}

Status Replay::scan_layered(const wal::RecordView& record, ChunkedOutcome* outcome) {
  const std::string_view trees = record.payload.substr(format::kChunkedCommitHeaderBytes);
  if (trees.size() < 4) return damaged(record, "is too short");
  const size_t count = load<uint32_t>(trees.data());
  if (count > trees.size() / 4 - 1) return damaged(record, "names more trees than it has");
  for (size_t i = 1; i <= count; ++i) outcome->layered.insert(load<uint32_t>(&trees[4 * i]));
  return {};
}

// Of one that was scanned.
std::string_view Replay::operations_of_commit(const wal::RecordView& record) {
  std::string_view rest = record.payload.substr(format::kChunkedCommitHeaderBytes);
  if (record.type != RecordType::kLayeredCommit) return rest;
  return rest.substr(4 + size_t{4} * load<uint32_t>(rest.data()));
}

Status Replay::scan_operations(const wal::RecordView& record, std::string_view operations,
                               uint32_t first_seq, Lsn cts, ChunkedOutcome* outcome) {
  const Lsn first_lsn =
      outcome != nullptr && outcome->first_lsn != 0 ? outcome->first_lsn : record.lsn;
  const char* at = operations.data();
  const char* end = at + operations.size();
  uint32_t seq = first_seq;
  for (; at < end; ++seq) {
    format::Operation operation;
    at = format::decode_operation(at, end, &operation);
    if (at == nullptr) return damaged(record, "holds no valid operations");
    if (outcome != nullptr && !counts(*outcome, record.lsn, seq)) continue;
    if (Status s = note(operation, cts, first_lsn); !s.ok()) return s;
    if (outcome != nullptr && operation.type == format::OperationType::kPutLarge &&
        outcome->layered.contains(operation.tree)) {
      uint32_t& last = outcome->large[{operation.tree, std::string(operation.key)}];
      last = std::max(last, seq);
    }
  }
  if (outcome != nullptr) meet(outcome, record.lsn, first_seq, seq);
  return {};
}

// What the scan must know of an operation that counts, whether it is applied now or later.
Status Replay::note(const format::Operation& operation, Lsn cts, Lsn first_lsn) {
  if (operation.tree == format::kCatalogTree) {
    if (operation.type != format::OperationType::kPut) return {};
    return name_tree_(operation, cts, first_lsn);
  }
  if (operation.type != format::OperationType::kAttach &&
      operation.type != format::OperationType::kPutLarge) {
    return {};
  }
  tree::TreeState* tree = find_tree(operation.tree);
  if (tree != nullptr) return mark_extents(tree, operation, cts);
  std::string encoded;
  format::append_operation(encoded, operation);
  early_.emplace_back(std::move(encoded), cts);
  return {};
}

void Replay::keep_for(Feeds* feeds) {
  feeds_ = feeds;
  fed_ = feeds->oldest_position();
}

// No container has it any more, or has it moved: the process that has ended held it.
Status Replay::hold_for_feeds(const format::Operation& operation, Lsn cts) {
  if (cts <= fed_ || operation.type != format::OperationType::kPutLarge) return {};
  Result<format::LargeValue> value = format::decode_large_value(operation.value);
  if (!value.ok()) return value.status();
  for (const tree::ExtentAddress& address : value->extents) {
    feeds_->hold_found(address, cts);
  }
  return {};
}

// Nothing may be allocated over an extent that only the log names (R22).
Status Replay::mark_extents(tree::TreeState* tree, const format::Operation& operation, Lsn cts) {
  {
    os::epoch::Guard guard;
    const tree::Container* container = tree->directory().find(operation.key);
    if (cts <= container->descriptor.load(std::memory_order_acquire)->run->record.cut) {
      return hold_for_feeds(operation, cts);
    }
  }
  if (operation.type == format::OperationType::kAttach) return mark_attached(operation);
  Result<format::LargeValue> value = format::decode_large_value(operation.value);
  if (!value.ok()) return value.status();
  // The others belong to the version before it: in the container's run, or in the log as well.
  for (const tree::ExtentAddress& address : format::fresh_extents(*value)) {
    if (Status s = store_->space->mark_used(address); !s.ok()) return s;
    if (feeds_ != nullptr) feeds_->in_container(address);
    tree::ExtentRef extent(
        new tree::Extent(store_->residency, address, address.blocks * 4096, false));
    extent->large_value = true;
    store_->large->add(std::move(extent));
  }
  return {};
}

Status Replay::mark_attached(const format::Operation& operation) {
  format::ContainerRecord record;
  if (Status s = format::decode_container(operation.value, record); !s.ok()) return s;
  const auto mark = [this](const tree::ExtentAddress& address, uint32_t bytes, bool index) {
    if (address.blocks == 0) return Status();
    Status status = store_->space->mark_used(address);
    if (status.ok()) {
      store_->large->add(
          tree::ExtentRef(new tree::Extent(store_->residency, address, bytes, index)));
    }
    return status;
  };
  Status status = mark(record.run, record.image_blocks() * 4096, true);
  for (const format::ValueExtentRecord& value : record.values) {
    if (status.ok()) status = mark(value.address, value.bytes, false);
  }
  for (const tree::ExtentAddress& address : record.large) {
    if (status.ok()) status = mark(address, address.blocks * 4096, false);
  }
  return status;
}

// ---- The rest

Status Replay::finish(wal::Recovery& recovery) {
  if (resume_ == format::kLsnMax) return {};
  if (Status s = recovery.replay(
          resume_, [this](const wal::RecordView& record) { return finish_record(record); });
      !s.ok()) {
    return s;
  }
  return apply();
}

Status Replay::finish_record(const wal::RecordView& record) {
  switch (record.type) {
    case RecordType::kCommit:
      if (Status s = add(record, record.payload, 0, record.lsn, nullptr); !s.ok()) return s;
      break;
    case RecordType::kChunk: {
      ChunkedOutcome* outcome = chunked(record);
      if (outcome->cts == 0 || record.lsn < outcome->from) return {};
      return add(record, record.payload.substr(format::kChunkHeaderBytes),
                 load<uint32_t>(record.payload.data() + 8), outcome->cts, outcome);
    }
    case RecordType::kChunkedCommit:
    case RecordType::kAttachingCommit:
    case RecordType::kLayeredCommit:
    case RecordType::kRelayedCommit:
      if (Status s = add(record, operations_of_commit(record),
                         load<uint32_t>(record.payload.data() + 16), record.lsn, chunked(record));
          !s.ok()) {
        return s;
      }
      break;
    case RecordType::kPreparedCommit:
      break;
    case RecordType::kPad:
    case RecordType::kAbort:
    case RecordType::kRollbackTo:
    case RecordType::kPrepare:
    case RecordType::kPreparedAbort:
    case RecordType::kLayersMerged:
      return {};
  }
  if (batch_.size() < kBatch / 8 && !batch_.empty()) return {};
  if (Status s = apply(); !s.ok()) return s;
  return reached(record.lsn);
}

// All commits up to lsn are applied: a flush may cut there.
Status Replay::reached(Lsn lsn) {
  if (read_only_) return {};
  store_->visible->store(lsn, std::memory_order_release);
  return scheduler_->flush_when_full();
}

// ---- Operations

Status Replay::add(const wal::RecordView& record, std::string_view operations, uint32_t first_seq,
                   Lsn cts, ChunkedOutcome* outcome) {
  const bool keeps = operations.size() <= kKeptBytes;
  if (batch_.empty()) {
    kept_used_ = 0;
    sources_.clear();
  }
  if (keeps) {
    if (kKeptBytes - kept_used_ < operations.size()) {
      if (Status s = apply(); !s.ok()) return s;
      kept_used_ = 0;
    }
    char* const kept = kept_.get() + kept_used_;
    copy_bytes(kept, operations);
    kept_used_ += operations.size();
    operations = {kept, operations.size()};
  }
  const Lsn first_lsn =
      outcome != nullptr && outcome->first_lsn != 0 ? outcome->first_lsn : record.lsn;
  sources_.push_back({record.lsn, operations});
  const char* at = operations.data();
  const char* end = at + operations.size();
  uint32_t seq = first_seq;
  // What was logged again may stand behind later operations of its transaction.
  const bool late = outcome != nullptr && first_seq < outcome->next_seq;
  for (; at < end; ++seq) {
    format::Operation operation;
    at = format::decode_operation(at, end, &operation);
    if (at == nullptr) return damaged(record, "holds no valid operations");
    if (scanning_) {
      if (Status s = note(operation, cts, first_lsn); !s.ok()) return s;
    }
    if (outcome != nullptr && !counts(*outcome, record.lsn, seq)) continue;
    tree::TreeState* tree = find_tree(operation.tree);
    if (tree == nullptr) continue;  // dropped since
    if (operation.type == format::OperationType::kAttach) {
      if (outcome == nullptr) return damaged(record, "attaches a container outside of an ingest");
      if (Status s = attach(tree, operation, cts, first_lsn); !s.ok()) return s;
      continue;
    }
    if (operation.type == format::OperationType::kDeleteRange) {
      hide_range(tree, operation, cts, first_lsn, cts == record.lsn);
      continue;
    }
    if (beside_writer_ && operation.type == format::OperationType::kMerge &&
        tree->merge_operator() == nullptr) {
      return Status(StatusCode::kTooOld, "a tree was given its merge operator meanwhile");
    }
    const bool layered = goes_to_layer(outcome, operation, seq);
    if (layered && kept_layers_.contains(outcome->cts)) continue;
    batch_.push_back({.tree = tree,
                      .key = operation.key,
                      .value = operation.value,
                      .kind = tree::version_kind(operation.type),
                      .open = cts > record.lsn || held_ == record.lsn,
                      .beyond_budget = scanning_,
                      .seq = seq,
                      .source = static_cast<uint32_t>(sources_.size() - 1),
                      .cts = cts,
                      .first_lsn = first_lsn});
    if (layered) {
      if (Status s = to_layer(record, late, outcome, &batch_.back()); !s.ok()) return s;
    }
    if (batch_.size() < kBatch) continue;
    if (Status s = apply(); !s.ok()) return s;
    if (at < end) sources_.push_back({record.lsn, operations});
  }
  if (outcome != nullptr) {
    outcome->next_seq = std::max(outcome->next_seq, seq);
    meet(outcome, record.lsn, first_seq, seq);
  }
  // The bytes of others go with the record.
  return keeps ? Status() : apply();
}

// As a transaction spills while it runs (txn/spill.cc): what it has written cannot be flushed
// before its commit record is reached, and may be more than memory holds.
bool Replay::goes_to_layer(const ChunkedOutcome* outcome, const format::Operation& operation,
                           uint32_t seq) {
  const bool fits = operation.type == format::OperationType::kPut ||
                    operation.type == format::OperationType::kDelete;
  if (outcome == nullptr || !fits || !outcome->layered.contains(operation.tree)) return false;
  const auto large = outcome->large.empty()
                         ? outcome->large.end()
                         : outcome->large.find({operation.tree, std::string(operation.key)});
  return large == outcome->large.end() || seq < large->second;
}

// There it is committed as soon as its record is reached. `late`: later ones may be there already.
Status Replay::to_layer(const wal::RecordView& record, bool late, ChunkedOutcome* outcome,
                        tree::Replayed* replayed) {
  std::shared_ptr<tree::Layer>& layer = outcome->layers[replayed->tree->id()];
  if (layer == nullptr) {
    Result<tree::TreeState*> made = make_layer_(replayed->tree);
    if (!made.ok()) return made.status();
    layer = std::make_shared<tree::Layer>();
    layer->data = tree::TreeRef(*made);
    layer->cts.store(outcome->cts, std::memory_order_relaxed);
    layer->log_from.store(replayed->first_lsn, std::memory_order_relaxed);
    replayed->tree->layers().add(layer);
  }
  if (late) {
    const tree::Replayed one = *replayed;
    batch_.pop_back();
    if (Status s = apply(); !s.ok()) return s;
    Value present;
    const Status status = layer->data->get(one.key, tree::kNewestOfLayer, true, present);
    if (!status.ok() && !status.is_not_found()) return status;
    sources_.push_back({record.lsn, {}});
    if (status.ok() && tree::decode_layer_entry(present.view()).seq > one.seq) return {};
    batch_.push_back(one);
    batch_.back().source = 0;
    replayed = &batch_.back();
  }
  layer_entries_.push_back(
      tree::encode_layer_entry({replayed->kind, replayed->seq, replayed->value}));
  replayed->tree = layer->data;
  replayed->kind = tree::VersionKind::kPut;
  replayed->value = layer_entries_.back();
  replayed->cts = record.lsn;
  replayed->open = true;  // until the record is reached
  return {};
}

// Whether all containers of the range were made without what it hides.
bool Replay::erased(const tree::TreeState& tree, const tree::KeyRange& range, Lsn cts) {
  const os::epoch::Guard guard;
  for (std::string_view at = range.low;;) {
    const tree::Container* container = tree.directory().find(at);
    if (container->descriptor.load(std::memory_order_acquire)->run->record.cut < cts) return false;
    if (!container->has_high || (range.high && container->high >= *range.high)) return true;
    at = container->high;
  }
}

// Readers ask for it below its commit's cut only, so it does not matter which containers were
// rewritten without it, nor that it is here before its record is reached: what is visible is what
// was before it. At its record all older layers are there: without any, and where all containers
// were rewritten, it says nothing any more.
void Replay::hide_range(tree::TreeState* tree, const format::Operation& operation, Lsn cts,
                        Lsn first_lsn, bool at_record) {
  auto layer = std::make_shared<tree::Layer>();
  layer->range.low = operation.key;
  if (const auto high = format::range_end(operation.value)) layer->range.high = std::string(*high);
  if (at_record && !tree->layers().have_entries() && erased(*tree, layer->range, cts)) return;
  layer->cts.store(cts, std::memory_order_relaxed);
  layer->log_from.store(first_lsn, std::memory_order_relaxed);
  tree->layers().add(std::move(layer));
}

namespace {
Status contradicts(const format::ContainerRecord& record) {
  return Status(StatusCode::kCorruption, "the log attaches container " + std::to_string(record.id) +
                                             ", and contradicts itself about it");
}
}  // namespace

// The range held nothing when its commit was made, and nobody reads below that any more: whatever
// the log has of it from before does not count, and what comes after lies above the run's cut. So
// the place of the record does not matter.
Status Replay::attach(tree::TreeState* tree, const format::Operation& operation, Lsn cts,
                      Lsn first_lsn) {
  tree::Attachment attachment;
  format::ContainerRecord& record = attachment.record;
  if (Status s = format::decode_container(operation.value, record); !s.ok()) return s;
  {
    os::epoch::Guard guard;
    const tree::Container* container = tree->directory().find(record.low);
    if (container->descriptor.load(std::memory_order_acquire)->run->record.cut >= cts) return {};
  }
  record.cut = cts;
  record.max_ts = cts;
  // What was marked for it, where its key says (mark_attached).
  if (record.low != operation.key || record.tree != tree->id() ||
      format::run_front(record).blocks == 0) {
    return contradicts(record);
  }
  attachment.image = store_->large->take(record.run);
  bool all = static_cast<bool>(attachment.image);
  for (const format::ValueExtentRecord& value : record.values) {
    attachment.values.push_back(store_->large->take(value.address));
    all = all && attachment.values.back();
  }
  if (!all) return contradicts(record);
  uint64_t batch = 0;
  if (!read_only_) {
    Edit edit;
    edit.set.push_back(record);
    batch = scheduler_->publish_later(std::move(edit));
  }
  const Status attached = tree->attach_replayed(attachment, first_lsn, batch);
  if (!attached.is(StatusCode::kCorruption)) return attached;
  return Status(StatusCode::kCorruption, manifest_ + " and the log contradict each other: " +
                                             std::string(attached.message()));
}

// In the scan there is memory: it stops well before the budget, which a batch may exceed.
Status Replay::apply() {
  Status status;
  uint32_t attempts = 0;
  uint32_t futile = 0;
  for (size_t done = 0; done < batch_.size() && status.ok();) {
    size_t applied = 0;
    status = tree::TreeState::replay(std::span(batch_).subspan(done), &applied);
    done += applied;
    attempts = applied > 0 ? 0 : attempts + 1;
    if (applied > 0) futile = 0;
    if (status.is(StatusCode::kOutOfMemory) && !scanning_) {
      status = make_room(done, attempts, &futile);
    }
  }
  batch_.clear();
  sources_.clear();
  layer_entries_.clear();
  return status;
}

// So that batch_[next] can be applied.
Status Replay::make_room(size_t next, uint32_t attempt, uint32_t* futile) {
  if (read_only_ || attempt == kRoomAttempts) {
    return Status(StatusCode::kOutOfMemory,
                  std::string("the log does not fit the memory budget; open with a larger one") +
                      (read_only_ ? ", or once for writing" : ""));
  }
  // What makes room flushes what is visible: all records before this one, and none of it yet.
  const Source& source = sources_[batch_[next].source];
  store_->visible->store(source.lsn - 1, std::memory_order_release);
  if (!batch_[next].open) hold(source, batch_[next].key);
  held_ = source.lsn;
  for (size_t i = next; i < batch_.size(); ++i) {
    if (sources_[batch_[i].source].lsn == source.lsn) batch_[i].open = true;
  }
  // What is flushed and not published cannot be evicted.
  if (attempt % kPublishedAttempts == kPublishedAttempts - 1) {
    if (Status s = scheduler_->publish(); !s.ok()) return s;
  }
  return scheduler_->relieve(futile);
}

// What was applied of a record, up to the key `next`, which points into it, does not wait for the
// rest: cuts must carry it on.
void Replay::hold(const Source& source, std::string_view next) {
  const char* at = source.operations.data();
  const char* end = at + source.operations.size();
  while (at < end) {
    format::Operation operation;
    at = format::decode_operation(at, end, &operation);
    if (at == nullptr || operation.key.data() == next.data()) return;
    if (tree::TreeState* tree = find_tree(operation.tree); tree != nullptr) {
      tree->hold_replayed(operation.key);
    }
  }
}

}  // namespace hawthorn::db
