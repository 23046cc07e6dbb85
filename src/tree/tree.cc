#include "tree/tree.h"

#include <algorithm>

#include "base/assert.h"
#include "format/run_layout.h"
#include "os/epoch.h"
#include "os/test_point.h"
#include "tree/large_read.h"
#include "tree/value_access.h"

namespace hawthorn::tree {

namespace {
constexpr uint32_t kPruneSteps = 4;
constexpr uint32_t kWholeChainWrites = 16;
constexpr uint32_t kWholeChainSteps = 1024;
constexpr uint32_t kFoldOperandsMin = 8;
constexpr size_t kOpenEntriesMin = 128;
constexpr size_t kOpenEntriesKept = 64;
constexpr size_t kReplayGroup = 32;
constexpr uint32_t kSmallRunBlocks = 16;  // of a container that takes no delta as long as it rests

bool ranks_below(uint64_t stamp, uint32_t seq, uint64_t other_stamp, uint32_t other_seq) {
  return stamp < other_stamp || (stamp == other_stamp && seq < other_seq);
}
}  // namespace

TreeState::TreeState(Store* store, uint32_t id, std::vector<Container*> containers)
    : id_(id), store_(store), directory_(std::move(containers)) {
  if (store_ != nullptr) store_->arena->charge(os::Quota::kTrees, kHeapBytes);
}

TreeState::~TreeState() {
  if (store_ == nullptr) return;
  store_->arena->charge(os::Quota::kTrees, -kHeapBytes);
  store_->active.let_go(this);
}

TreeRef::TreeRef(TreeState* tree) : tree_(tree) {
  if (tree != nullptr) tree->holders_.fetch_add(1, std::memory_order_relaxed);
}

// Whoever frees the tree sees all that was done with it.
void TreeRef::let_go() { tree_->holders_.fetch_sub(1, std::memory_order_release); }

void TreeState::show_base(Lsn cts, Lsn log_from) {
  base_->log_from.store(log_from, std::memory_order_release);
  base_->source->pins().move(PinList::kNoMoment, cts);
  base_->at.store(cts, std::memory_order_release);
  store_->active.add(this);
}

Container* TreeState::empty_container(Store* store, const format::ContainerRecord& record) {
  auto* file = new RunFile;
  file->record = record;
  store->residency->adopt(file, nullptr);
  return new Container(record.tree, "", "", false, new Descriptor{Delta::none(), nullptr, file});
}

Container* TreeState::make_container(Store* store, const format::ContainerRecord& record,
                                     std::string high, bool has_high, RunFile* file) {
  const auto skip = has_high ? static_cast<uint32_t>(common_prefix(record.low, high)) : 0;
  return new Container(record.tree, record.low, std::move(high), has_high,
                       new Descriptor{new Delta(store->arena, skip), nullptr, file});
}

Container* TreeState::resting_container(Store* store, const format::ContainerRecord& record,
                                        std::string high, bool has_high, RunFile* file) {
  Container* made = make_container(store, record, std::move(high), has_high, file);
  give_back_delta(made);
  return made;
}

// ---- Writing

Container* TreeState::lock_container(std::string_view key) {
  for (os::SpinWait wait;; wait.once()) {
    Container* container = directory_.find(key);
    HAWTHORN_TEST_POINT("tree.write.before_latch");
    container->latch.lock();
    if (!container->dead) return container;
    container->latch.unlock();
  }
}

Delta* TreeState::own_delta(Container* container, Delta* active) const {
  if (!active->is_none()) [[likely]]
    return active;
  const Descriptor* present = container->descriptor.load(std::memory_order_relaxed);
  auto* own = new Delta(store_->arena, container->skip);
  present->run->ref();
  container->install(new Descriptor{own, nullptr, present->run});
  return own;
}

void TreeState::give_back_delta(Container* container) {
  const Descriptor* present = container->descriptor.load(std::memory_order_relaxed);
  if (present->active->is_none() || !present->active->is_small() || present->frozen != nullptr ||
      present->run->record.run.blocks > kSmallRunBlocks ||
      container->flushing.load(std::memory_order_relaxed)) {
    return;
  }
  present->run->ref();
  container->install(new Descriptor{Delta::none(), nullptr, present->run});
  if (container->intents == 0) container->open_entries = ThinVector<DeltaEntry*>();
}

namespace {
void add_intent(Container* container, DeltaEntry* entry) {
  // Overlapping transactions may keep the list from ever being emptied: what is settled is dropped
  // now and then.
  ThinVector<DeltaEntry*>& open = container->open_entries;
  if (open.size() > kOpenEntriesMin && open.size() > size_t{4} * container->intents) {
    std::sort(open.begin(), open.end());
    open.erase(std::unique(open.begin(), open.end()), open.end());
    const auto settled = [](const DeltaEntry* candidate) {
      for (const Version* v = candidate->newest.load(std::memory_order_relaxed); v != nullptr;
           v = v->older.load(std::memory_order_relaxed)) {
        if ((v->stamp.load(std::memory_order_relaxed) & kIntentBit) != 0) return false;
      }
      return true;
    };
    open.erase(std::remove_if(open.begin(), open.end(), settled), open.end());
  }
  ++container->intents;
  open.push_back(entry);
}

void remove_intent(Container* container) {
  if (--container->intents > 0) return;
  container->open_entries.clear();
  // There are many containers, and each has been written by many at once some time.
  if (container->open_entries.capacity() > kOpenEntriesKept) {
    container->open_entries = ThinVector<DeltaEntry*>();
  }
}
}  // namespace

// Takes versions out of a chain that nobody can see any more. Only stamped ones: an unstamped
// version's transaction will come back for it. What stands below an operand is a part of what that
// makes: fold_chain takes both. Mostly near the head; now and then the whole chain
// is walked, since what a snapshot held back, or what lay above the view's horizon, dies further
// down. Returns whether a newer view would let more go.
bool TreeState::prune(Delta* delta, DeltaEntry* entry, bool* many_operands) const {
  const PruneView& view = *store_->snapshots->view();
  const PinList* pins = pins_.list();
  const bool whole = entry->writes_to_prune == 0;
  const uint32_t steps = whole ? kWholeChainSteps : kPruneSteps;
  uint32_t kept = 0;
  uint32_t operands = 0;
  bool beyond_horizon = false;
  Version* newer = entry->newest.load(std::memory_order_relaxed);
  for (uint32_t step = 0; step < steps && newer != nullptr; ++step) {
    Version* older = newer->older.load(std::memory_order_relaxed);
    if (older == nullptr) break;
    const uint64_t newer_stamp = newer->stamp.load(std::memory_order_acquire);
    const uint64_t older_stamp = older->stamp.load(std::memory_order_acquire);
    const bool stamped = ((newer_stamp | older_stamp) & kIntentBit) == 0;
    beyond_horizon = beyond_horizon || (stamped && newer_stamp > view.horizon);
    const bool operand = newer->kind == VersionKind::kMerge;
    operands += operand;
    if (stamped && !operand && ranks_below(older_stamp, older->seq, newer_stamp, newer->seq) &&
        older->kind != VersionKind::kLarge && view.dead(older_stamp, newer_stamp) &&
        (pins == nullptr || !pins->between(older_stamp, newer_stamp))) {
      delta->unlink(entry, older);
    } else {
      newer = older;
      ++kept;
    }
  }
  // As many writes as versions were kept: the walk costs each of them a step.
  entry->writes_to_prune = static_cast<uint16_t>(whole ? std::max(kept, kWholeChainWrites)
                                                       : entry->writes_to_prune - 1U);
  *many_operands = whole && operands >= kFoldOperandsMin;
  return whole && beyond_horizon && kept >= kWholeChainWrites / 2;
}

// Looks at the chain that a new intent is about to head: marks both sides where it meets another
// transaction's intent, and returns the new version's flags.
uint8_t TreeState::meet_intents(const DeltaEntry* entry, const WriteContext& context) {
  uint8_t flags = 0;
  for (const Version* v = entry->newest.load(std::memory_order_relaxed); v != nullptr;
       v = v->older.load(std::memory_order_relaxed)) {
    const uint64_t stamp = v->stamp.load(std::memory_order_acquire);
    const bool unordered = (v->flags.load(std::memory_order_relaxed) & kUnordered) != 0;
    if (stamp == (kIntentBit | context.id)) {
      // It has met everything below it.
      return unordered ? kUnordered : flags;
    }
    if ((stamp & kIntentBit) != 0) {
      flags = kUnordered;
      // Also when it has committed meanwhile: the conflict check may have come just before (R18).
      const TxnSlots::Outcome outcome = store_->slots->find(stamp & ~kIntentBit).outcome;
      if (outcome == TxnSlots::Outcome::kActive) {
        store_->slots->mark_contended(stamp & ~kIntentBit);
      }
      if (outcome != TxnSlots::Outcome::kAborted) store_->slots->mark_contended(context.id);
    }
    // What is stamped committed before this intent will. So the rest need not be looked at once
    // everything below is known to rank lower.
    if (!unordered) break;
  }
  return flags;
}

Status TreeState::write(WriteContext& context, std::string_view key, VersionKind kind,
                        std::string_view value) {
  bool grown = false;
  bool folds = false;
  bool old_view = false;
  for (;;) {
    RunFile* needed = nullptr;
    {
      os::epoch::Guard guard;
      const uint64_t structure = structure_.load(std::memory_order_acquire);
      Container* container = lock_container(key);
      Descriptor* descriptor = container->descriptor.load(std::memory_order_relaxed);
      Delta* delta = descriptor->active;
      const RowGate* gate = store_->row_gate;
      if (gate != nullptr && gate->holders.load(std::memory_order_relaxed) != 0 &&
          gate->held_by_other(context.id, id_, key)) {
        container->latch.unlock();
        return Status(StatusCode::kBusy);
      }
      if (layers_.state() != context.layers) {
        container->latch.unlock();
        return Status(StatusCode::kBusy);
      }
      if (context.check_conflicts && layers_.committed_above(context.read_ts, key)) {
        container->latch.unlock();
        return Status(StatusCode::kConflict);
      }
      if (context.check_conflicts) {
        const ConflictRead found =
            newest_above(*descriptor, key, context.read_ts, context.id, *store_->slots, &layers_);
        if (found.state == PointRead::State::kFound) {
          container->latch.unlock();
          return Status(StatusCode::kConflict);
        }
        if (found.state == PointRead::State::kStale) {
          container->latch.unlock();
          continue;
        }
        if (found.state == PointRead::State::kNeedRun) {
          needed = found.file;
          needed->ref();
        }
      }
      if (needed == nullptr) {
        note_active();
        delta = own_delta(container, delta);
        container->note_write();
        DeltaEntry* entry = delta->find_or_add(key, key_head(key, container->skip));
        Version* version = entry == nullptr
                               ? nullptr
                               : delta->new_version(entry, static_cast<uint32_t>(value.size()));
        if (version == nullptr) {
          container->latch.unlock();
          return Status(StatusCode::kOutOfMemory);
        }
        HAWTHORN_TEST_POINT("tree.write.after_conflict_check");
        const uint8_t flags = meet_intents(entry, context);
        version->stamp.store(kIntentBit | context.id, std::memory_order_relaxed);
        version->seq = context.seq;
        version->kind = kind;
        version->flags.store(flags, std::memory_order_relaxed);
        if (!value.empty()) copy_bytes(version->bytes(), value);
        if (delta->first_lsn() == format::kLsnMax) delta->needs_log_from(store_->log->head());
        delta->needs_log_from(context.log_from);
        delta->link(entry, version);
        add_intent(container, entry);
        if (kind == VersionKind::kTombstone &&
            delta->note_delete(descriptor->run->record.entries)) {
          context.may_be_empty = true;
        }
        old_view = prune(delta, entry, &folds);
        context.undo->push_back(
            {this, container, structure, delta->id, version, entry, key, context.seq});
        ++context.seq;
        grown =
            delta->bytes() > kLargeDeltaBytes && !container->large.load(std::memory_order_relaxed);
        if (grown) container->large.store(true, std::memory_order_relaxed);
        container->latch.unlock();
      } else {
        container->latch.unlock();
      }
    }
    if (needed == nullptr) {
      if (grown && store_->large_delta) store_->large_delta();
      if (old_view) store_->snapshots->refresh(store_->visible->load(std::memory_order_acquire));
      if (folds) fold_chain(key);
      return {};
    }
    Status loaded = store_->residency->load_for_conflicts(needed);
    needed->unref();
    if (!loaded.ok()) return loaded;
  }
}

namespace {
// The first transaction with an intent on the key of which this is true; 0: none. Its latch is
// held.
template <typename Wanted>
TxnId find_intent_on(const Container* container, std::string_view key, Wanted wanted) {
  if (container->intents == 0) return 0;
  const Delta* delta = container->descriptor.load(std::memory_order_relaxed)->active;
  const DeltaEntry* entry = delta->find(key, Delta::hash(key));
  const Version* v = entry == nullptr ? nullptr : entry->newest.load(std::memory_order_relaxed);
  for (; v != nullptr; v = v->older.load(std::memory_order_relaxed)) {
    const uint64_t stamp = v->stamp.load(std::memory_order_relaxed);
    const TxnId id = stamp & ~kIntentBit;
    if ((stamp & kIntentBit) != 0 && wanted(id)) return id;
  }
  return 0;
}
}  // namespace

TxnId TreeState::open_intent(std::string_view key, TxnId own) {
  os::epoch::Guard guard;
  Container* container = lock_container(key);
  const TxnId found = find_intent_on(container, key, [&](TxnId id) {
    return id != own && store_->slots->find(id).outcome == TxnSlots::Outcome::kActive;
  });
  container->latch.unlock();
  return found;
}

bool TreeState::has_intent(std::string_view key, TxnId id) {
  os::epoch::Guard guard;
  Container* container = lock_container(key);
  const TxnId found = find_intent_on(container, key, [&](TxnId other) { return other == id; });
  container->latch.unlock();
  return found != 0;
}

Result<TxnId> TreeState::layer_holder(std::string_view key, TxnId own, bool ranges) const {
  Value value;
  const Layers::List open = layers_.open_of_others(own);
  HAWTHORN_TEST_POINT("tree.layers_listed");
  for (const std::shared_ptr<Layer>& layer : open) {
    if (layer->deletes()) {
      if (ranges && layer->range.covers(key)) return layer->owner;
      continue;
    }
    const Status status = layer->data->get(key, kNewestOfLayer, true, value);
    // It may have ended meanwhile: whoever waits for it looks again, and one that is gone holds
    // nothing.
    if (status.ok()) return layer->owner;
    if (status.is_not_found() || layer->data->dropped.load(std::memory_order_acquire)) continue;
    return status;
  }
  return TxnId{0};
}

// In stages, so that the misses of many operations are waited for together.
Status TreeState::replay(std::span<Replayed> operations, size_t* done) {
  os::epoch::Guard guard;
  for (*done = 0; *done < operations.size();) {
    const std::span<Replayed> group =
        operations.subspan(*done, std::min(kReplayGroup, operations.size() - *done));
    for (Replayed& operation : group) {
      operation.container = operation.tree->directory_.find(operation.key);
      __builtin_prefetch(operation.container);
    }
    for (const Replayed& operation : group) operation.container->prefetch_write();
    for (const Replayed& operation : group) {
      const Descriptor* descriptor =
          operation.container->descriptor.load(std::memory_order_acquire);
      descriptor->active->prefetch(Delta::hash(operation.key));
      __builtin_prefetch(descriptor->run);
    }
    for (const Replayed& operation : group) {
      if (Status s = operation.tree->replay_one(operation); !s.ok()) return s;
      ++*done;
    }
  }
  return {};
}

// The versions of one commit become visible together, as its record has been replayed as a whole;
// those of a transaction that was logged in chunks long before that record. A flush in between cuts
// at what is visible, so that they must move on, as intents do.
Status TreeState::replay_one(const Replayed& operation) {
  Container* container = operation.container;
  container->latch.lock();
  if (container->dead) {
    container->latch.unlock();
    container = lock_container(operation.key);
  }
  Status status;
  bool folds = false;
  Descriptor* descriptor = container->descriptor.load(std::memory_order_relaxed);
  const bool covered = operation.cts <= descriptor->run->record.cut ||
                       (descriptor->frozen != nullptr && operation.cts <= container->frozen_cut);
  if (!covered || operation.fresh) {
    note_active();
    Delta* delta = own_delta(container, descriptor->active);
    delta->must_fit = operation.beyond_budget;
    container->note_write();
    DeltaEntry* entry = delta->find_or_add(operation.key, key_head(operation.key, container->skip));
    Version* version =
        entry == nullptr ? nullptr
                         : delta->new_version(entry, static_cast<uint32_t>(operation.value.size()));
    delta->must_fit = false;
    if (version == nullptr) {
      status = Status(StatusCode::kOutOfMemory);
    } else {
      version->stamp.store(operation.cts, std::memory_order_relaxed);
      version->seq = operation.seq;
      version->kind = operation.kind;
      const Version* below = entry->newest.load(std::memory_order_relaxed);
      // Chunks come in the order of their records: that of their commits, or of their numbers in a
      // transaction that was logged again, may be another one.
      const bool unordered =
          below != nullptr && (!ranks_below(below->stamp.load(std::memory_order_relaxed),
                                            below->seq, operation.cts, operation.seq) ||
                               (below->flags.load(std::memory_order_relaxed) & kUnordered) != 0);
      version->flags.store(unordered ? kUnordered : 0, std::memory_order_relaxed);
      if (!operation.value.empty()) copy_bytes(version->bytes(), operation.value);
      delta->needs_log_from(operation.first_lsn);
      delta->link(entry, version);
      if (operation.open) add_intent(container, entry);
      prune(delta, entry, &folds);
    }
  }
  container->latch.unlock();
  if (folds) fold_chain(operation.key);
  return status;
}

void TreeState::hold_replayed(std::string_view key) {
  os::epoch::Guard guard;
  Container* container = lock_container(key);
  Delta* delta = container->descriptor.load(std::memory_order_relaxed)->active;
  if (DeltaEntry* entry = delta->find(key, Delta::hash(key)); entry != nullptr) {
    add_intent(container, entry);
  }
  container->latch.unlock();
}

void TreeState::end_replay() {
  os::epoch::Guard guard;
  for (Container* container : directory_.all()) {
    os::MutexLock lock(container->latch);
    container->intents = 0;
    container->open_entries.clear();
  }
}

// The container that covers an undo's key now, latched. Inside an epoch guard.
Container* TreeState::lock_undo(const Undo& undo) {
  if (undo.tree->structure_.load(std::memory_order_acquire) == undo.structure) {
    undo.container->latch.lock();
    if (!undo.container->dead) return undo.container;
    undo.container->latch.unlock();
  }
  return undo.tree->lock_container(undo.key);
}

// The intent of an undo in the container's active delta; null when a cut has dealt with it.
Version* TreeState::find_intent(Container* container, const Undo& undo, TxnId id,
                                DeltaEntry** entry) {
  Delta* delta = container->descriptor.load(std::memory_order_relaxed)->active;
  if (delta->id == undo.delta) {
    *entry = undo.entry;
    const bool intent = undo.version->stamp.load(std::memory_order_relaxed) == (kIntentBit | id);
    HAWTHORN_ASSERT(intent && undo.version->seq == undo.seq);
    return intent ? undo.version : nullptr;
  }
  *entry = delta->find(undo.key, Delta::hash(undo.key));
  if (*entry == nullptr) return nullptr;
  for (Version* v = (*entry)->newest.load(std::memory_order_relaxed); v != nullptr;
       v = v->older.load(std::memory_order_relaxed)) {
    if (v->stamp.load(std::memory_order_relaxed) == (kIntentBit | id) && v->seq == undo.seq)
      return v;
  }
  return nullptr;
}

bool TreeState::stamp(const Undo& undo, TxnId id, Lsn cts) {
  os::epoch::Guard guard;
  Container* container = lock_undo(undo);
  DeltaEntry* entry = nullptr;
  bool may_be_empty = false;
  if (Version* version = find_intent(container, undo, id, &entry); version != nullptr) {
    version->stamp.store(cts, std::memory_order_release);
    remove_intent(container);
    if (version->kind == VersionKind::kTombstone) {
      const Descriptor* descriptor = container->descriptor.load(std::memory_order_relaxed);
      may_be_empty = descriptor->active->note_committed_delete(descriptor->run->record.entries);
    }
  }
  container->latch.unlock();
  return may_be_empty;
}

void TreeState::roll_back(const Undo& undo, TxnId id) {
  os::epoch::Guard guard;
  Container* container = lock_undo(undo);
  DeltaEntry* entry = nullptr;
  if (Version* version = find_intent(container, undo, id, &entry); version != nullptr) {
    Delta* delta = container->descriptor.load(std::memory_order_relaxed)->active;
    delta->unlink(entry, version);
    delta->revive(entry);
    remove_intent(container);
  }
  container->latch.unlock();
}

namespace {
// Whether an intent may leave the chain that it is in: nobody else's is open there; nobody has
// written above it, which its commit must find; and none of its own transaction lies below, which
// would come to rank above it.
bool may_leave(const DeltaEntry* entry, const Version* version, TxnId id, const TxnSlots& slots) {
  bool below = false;
  for (const Version* v = entry->newest.load(std::memory_order_relaxed); v != nullptr;
       v = v->older.load(std::memory_order_relaxed)) {
    const uint64_t stamp = v->stamp.load(std::memory_order_relaxed);
    const bool own = stamp == (kIntentBit | id);
    if (own) {
      if (below) return false;
      below = v == version;
      continue;
    }
    TxnSlots::Outcome outcome = TxnSlots::Outcome::kCommitted;
    if ((stamp & kIntentBit) != 0) outcome = slots.find(stamp & ~kIntentBit).outcome;
    if (outcome == TxnSlots::Outcome::kActive) return false;
    if (!below && outcome != TxnSlots::Outcome::kAborted) return false;
  }
  return true;
}
}  // namespace

bool TreeState::copy_for_layer(const Undo& undo, TxnId id, VersionKind* kind, std::string* value) {
  os::epoch::Guard guard;
  Container* container = lock_undo(undo);
  DeltaEntry* entry = nullptr;
  const Version* version = find_intent(container, undo, id, &entry);
  const bool there = version != nullptr && (version->kind == VersionKind::kPut ||
                                            version->kind == VersionKind::kTombstone);
  if (there) {
    *kind = version->kind;
    value->assign(version->value());
  }
  container->latch.unlock();
  return there;
}

bool TreeState::unlink_for_layer(const Undo& undo, TxnId id) {
  os::epoch::Guard guard;
  Container* container = lock_undo(undo);
  DeltaEntry* entry = nullptr;
  Version* version = find_intent(container, undo, id, &entry);
  const bool leaves =
      version != nullptr && may_leave(entry, version, id, *undo.tree->store_->slots);
  if (leaves) {
    Delta* delta = container->descriptor.load(std::memory_order_relaxed)->active;
    delta->unlink(entry, version);
    delta->revive(entry);
    remove_intent(container);
  }
  container->latch.unlock();
  return leaves;
}

bool TreeState::append_open(const Undo& undo, TxnId id, std::string* out) {
  os::epoch::Guard guard;
  Container* container = lock_undo(undo);
  DeltaEntry* entry = nullptr;
  const Version* version = find_intent(container, undo, id, &entry);
  if (version != nullptr) {
    format::append_operation(
        *out, {operation_type(version->kind), undo.tree->id_, undo.key, version->value()});
  }
  container->latch.unlock();
  return version != nullptr;
}

}  // namespace hawthorn::tree
