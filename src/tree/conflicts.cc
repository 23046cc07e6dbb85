#include "tree/conflicts.h"

#include <algorithm>
#include <array>

#include "os/epoch.h"
#include "tree/tree.h"

namespace hawthorn::tree {

namespace {
using State = PointRead::State;
constexpr size_t kCollected = 64;  // entries of a delta at once

// What a chain holds above the floor.
struct ChainSearch {
  Lsn cts = 0;  // 0: nothing
  bool stale = false;
  bool open = false;  // an intent of another transaction that is not decided yet was met
};

bool above(Lsn cts, Lsn floor, const Layers* layers) {
  return cts > floor && (layers == nullptr || !layers->relays(cts, floor));
}

ChainSearch search_chain(const DeltaEntry* entry, bool frozen, Lsn floor, TxnId own,
                         const TxnSlots& slots, const Layers* layers) {
  ChainSearch result;
  for (const Version* v = entry->newest.load(std::memory_order_acquire); v != nullptr;
       v = v->older.load(std::memory_order_acquire)) {
    const uint8_t flags = v->flags.load(std::memory_order_acquire);
    if ((flags & kMoved) != 0) {
      if (frozen) continue;
      result.stale = true;
      return result;
    }
    if (v->stamp.load(std::memory_order_acquire) == (kIntentBit | own)) continue;
    const Resolved r = resolve(v, slots);
    if (r.outcome == TxnSlots::Outcome::kGone) {
      result.stale = true;
      return result;
    }
    result.open = result.open || r.outcome == TxnSlots::Outcome::kActive;
    if (r.outcome != TxnSlots::Outcome::kCommitted) continue;
    if (above(r.cts, floor, layers)) result.cts = std::max(result.cts, r.cts);
    if ((flags & kUnordered) == 0) break;
  }
  return result;
}

// Whether a run tells, by itself, that nothing in it is newer. Else its records do.
bool run_is_older(const RunFile& file, Lsn floor) {
  if (file.empty() || file.record.max_ts <= floor) return true;
  const Run* run = file.run.load(std::memory_order_acquire);
  // No entry carries a cts, and an ingest did not bring them.
  return run != nullptr && !run->has_versions() && file.since <= floor;
}

// The run's records are in memory, or null.
const Run* readable_run(const RunFile& file) {
  const Run* run = file.run.load(std::memory_order_acquire);
  return run == nullptr || run->heap() == nullptr ? nullptr : run;
}
}  // namespace

ConflictRead newest_above(const Descriptor& descriptor, std::string_view key, Lsn floor, TxnId own,
                          const TxnSlots& slots, const Layers* layers) {
  ConflictRead result;
  uint64_t hash = 0;
  for (Delta* delta : {descriptor.active, descriptor.frozen}) {
    if (delta == nullptr || delta->empty()) continue;
    if (hash == 0) hash = Delta::hash(key);
    const DeltaEntry* entry = delta->find(key, hash);
    if (entry == nullptr) continue;
    const ChainSearch found =
        search_chain(entry, delta == descriptor.frozen, floor, own, slots, layers);
    if (found.stale) {
      result.state = State::kStale;
      return result;
    }
    result.cts = std::max(result.cts, found.cts);
  }
  if (result.cts != 0) {
    result.state = State::kFound;
    return result;
  }
  RunFile* file = descriptor.run;
  if (file->empty() || file->record.max_ts <= floor) return result;
  result.file = file;
  if (run_is_older(*file, floor)) return result;
  const Run* run = readable_run(*file);
  if (run == nullptr) {
    result.state = State::kNeedRun;
    return result;
  }
  const uint32_t index = run->find(key, key_head(key, run->skip()), format::kLsnMax);
  if (index != Run::kNone) {
    const Lsn cts = std::max(run->entry(index).cts, file->since);
    if (above(cts, floor, layers)) {
      result.state = State::kFound;
      result.cts = cts;
    }
  }
  return result;
}

namespace {
// Looks at a delta's entries in the range. Returns the state that ends the search, or kAbsent.
State search_delta(const Delta& delta, bool frozen, std::string_view low,
                   const std::optional<std::string>& high, const Container& container, Lsn floor,
                   TxnId own, const TxnSlots& slots, const Layers* layers, bool* open) {
  std::array<DeltaEntry*, kCollected> entries;
  Delta::Seek mode = Delta::Seek::kGreaterEqual;
  for (;;) {
    const size_t count = delta.collect(mode, low, key_head(low, delta.skip()), entries);
    for (size_t i = 0; i < count; ++i) {
      const std::string_view key = entries[i]->key();
      // Parts of a split share a frozen delta.
      if ((high.has_value() && key >= *high) || (container.has_high && key >= container.high)) {
        return State::kAbsent;
      }
      const ChainSearch found = search_chain(entries[i], frozen, floor, own, slots, layers);
      if (found.stale) return State::kStale;
      if (found.cts != 0) return State::kFound;
      *open = *open || found.open;
    }
    if (count == 0) return State::kAbsent;  // fewer: that many stand together
    low = entries[count - 1]->key();
    mode = Delta::Seek::kGreater;
  }
}
}  // namespace

ConflictRead newest_in_range(const Container& container, const Descriptor& descriptor,
                             RangeCheck& range, size_t number, Lsn floor, TxnId own,
                             const TxnSlots& slots, const Layers* layers) {
  ConflictRead result;
  const std::string_view low = std::max<std::string_view>(range.low, container.low);
  // Before its chains are looked at: what is linked meanwhile has it looked at again.
  const RangeCheck::Settled now{descriptor.active->id, descriptor.active->links()};
  if (range.settled.size() <= number) range.settled.resize(number + 1);
  RangeCheck::Settled& settled = range.settled[number];
  if (settled.delta != now.delta || settled.links != now.links) {
    bool open = false;
    for (const Delta* delta : {descriptor.active, descriptor.frozen}) {
      if (delta == nullptr || delta->empty()) continue;
      result.state = search_delta(*delta, delta == descriptor.frozen, low, range.high, container,
                                  floor, own, slots, layers, &open);
      if (result.state != State::kAbsent) return result;
    }
    settled = open ? RangeCheck::Settled() : now;
  }
  RunFile* file = descriptor.run;
  if (run_is_older(*file, floor)) return result;
  result.file = file;
  for (const RunFileRef& searched : range.searched) {
    if (searched.get() == file) return result;
  }
  const Run* run = readable_run(*file);
  if (run == nullptr) {
    result.state = State::kNeedRun;
    return result;
  }
  const uint32_t end = range.ends_before(container) && range.high.has_value()
                           ? run->seek(*range.high)
                           : run->entries();
  for (uint32_t index = run->seek(low); index < end; ++index) {
    if (!above(std::max(run->entry(index).cts, file->since), floor, layers)) continue;
    result.state = State::kFound;
    return result;
  }
  range.searched.emplace_back(file);
  return result;
}

// ---- Of a tree

TreeState::Newer TreeState::newer_commit(std::string_view key, Lsn floor, TxnId own,
                                         const RunFile* searched, PinnedRunFile* run) const {
  if (was_dropped() || layers_.committed_above(floor, key)) return Newer::kYes;
  for (os::SpinWait wait;; wait.once()) {
    os::epoch::Guard guard;
    const Container* container = directory_.find(key);
    const Descriptor* descriptor = container->descriptor.load(std::memory_order_acquire);
    const ConflictRead found = newest_above(*descriptor, key, floor, own, *store_->slots, &layers_);
    if (found.state == State::kStale) continue;
    if (found.state == State::kFound) return Newer::kYes;
    if (run != nullptr) *run = PinnedRunFile(found.file);
    const bool unknown = found.state == State::kNeedRun && found.file != searched;
    return unknown ? Newer::kNeedRun : Newer::kNo;
  }
}

Result<bool> TreeState::has_newer(std::string_view key, Lsn floor) const {
  for (os::SpinWait wait;; wait.once()) {
    PinnedRunFile run;
    {
      os::epoch::Guard guard;
      const Container* container = directory_.find(key);
      const Descriptor* descriptor = container->descriptor.load(std::memory_order_acquire);
      const ConflictRead found = newest_above(*descriptor, key, floor, 0, *store_->slots, nullptr);
      if (found.state == State::kStale) continue;
      if (found.state != State::kNeedRun) return found.state == State::kFound;
      run = PinnedRunFile(found.file);
    }
    if (Status s = store_->residency->load_for_conflicts(run.get()); !s.ok()) return s;
  }
}

TreeState::Newer TreeState::newer_commit_in(RangeCheck& range, Lsn floor, TxnId own,
                                            PinnedRunFile* run) const {
  if (was_dropped() || layers_.committed_above(floor, range.low, range.high)) return Newer::kYes;
  std::string at = range.low;
  for (size_t number = 0;; ++number) {
    for (os::SpinWait wait;; wait.once()) {
      os::epoch::Guard guard;
      const Container* container = directory_.find(at);
      const Descriptor* descriptor = container->descriptor.load(std::memory_order_acquire);
      const ConflictRead found = newest_in_range(*container, *descriptor, range, number, floor, own,
                                                 *store_->slots, &layers_);
      if (found.state == State::kStale) continue;
      if (found.state == State::kFound) return Newer::kYes;
      if (found.state == State::kNeedRun) {
        if (run != nullptr) *run = PinnedRunFile(found.file);
        return Newer::kNeedRun;
      }
      if (range.ends_before(*container)) return Newer::kNo;
      at = container->high;
      break;
    }
  }
}

}  // namespace hawthorn::tree
