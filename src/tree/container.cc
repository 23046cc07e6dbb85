#include "tree/container.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "os/epoch.h"
#include "os/test_point.h"
#include "tree/narrow.h"

namespace hawthorn::tree {

namespace {
void release_delta(Delta* delta) {
  if (delta != nullptr && delta->unref()) delete delta;
}
}  // namespace

Descriptor::~Descriptor() {
  release_delta(active);
  release_delta(frozen);
  if (run != nullptr) run->unref();
}

Container::Container(uint32_t tree_id, std::string_view low_key, std::string_view high_key,
                     bool bounded, Descriptor* first)
    : descriptor(first),
      has_high(bounded),
      skip(bounded ? static_cast<uint32_t>(common_prefix(low_key, high_key)) : 0),
      tree(tree_id),
      low(low_key),
      high(high_key) {
  if (first != nullptr) note_near(*first);  // null: a directory's tests
}

Container::~Container() { delete descriptor.load(std::memory_order_relaxed); }

void Container::install(Descriptor* next) {
  note_near(*next);
  recount(*next);
  Descriptor* old = descriptor.exchange(next, std::memory_order_acq_rel);
  if (old->frozen != nullptr && old->frozen != next->frozen) {
    old->frozen->replaced.store(true, std::memory_order_release);
  }
  os::epoch::retire(old);
}

void Container::note_near(const Descriptor& next) {
  near_delta.store(next.active, std::memory_order_relaxed);
  near_file.store(next.run, std::memory_order_relaxed);
  const Run* run = next.run != nullptr ? next.run->run.load(std::memory_order_relaxed) : nullptr;
  near_run.store(run, std::memory_order_relaxed);
}

// ---- Its part of its leaf's sums

namespace {
NodePart part_of(const Descriptor& descriptor) {
  const RunFile& file = *descriptor.run;
  NodePart part;
  const bool counted = file.counted();
  part.stored = static_cast<uint32_t>(file.record.entries);
  part.live =
      counted ? static_cast<uint32_t>(file.live.load(std::memory_order_acquire)) : part.stored;
  part.blocks = static_cast<uint32_t>(file.disk_blocks());
  part.dirty = !descriptor.active->empty() || descriptor.frozen != nullptr || !counted;
  return part;
}

void raise(std::atomic<Lsn>& to, Lsn from) {
  Lsn before = to.load(std::memory_order_relaxed);
  while (before < from && !to.compare_exchange_weak(before, from, std::memory_order_relaxed)) {
  }
}
}  // namespace

void Container::note_dirty() {
  part.dirty = true;
  if (sums != nullptr) sums->dirty.fetch_add(1, std::memory_order_relaxed);
}

// The order of these steps is what node_sums.h argues with. (Whoever reads a sum synchronises with
// every step that is in it, since each is a read-modify-write that releases.)
void Container::recount(const Descriptor& present) {
  const NodePart before = std::exchange(part, part_of(present));
  if (sums == nullptr) return;
  if (part.dirty && !before.dirty) sums->dirty.fetch_add(1, std::memory_order_relaxed);
  raise(sums->from, present.run->counts_from());
  sums->live.fetch_add(uint64_t{part.live} - before.live, std::memory_order_release);
  sums->stored.fetch_add(uint64_t{part.stored} - before.stored, std::memory_order_relaxed);
  sums->blocks.fetch_add(uint64_t{part.blocks} - before.blocks, std::memory_order_relaxed);
  if (!part.dirty && before.dirty) sums->dirty.fetch_sub(1, std::memory_order_release);
}

void Container::count_in(NodeSums* to) {
  sums = to;
  const Descriptor* present = descriptor.load(std::memory_order_relaxed);
  if (present == nullptr) return;  // a directory's tests
  part = {};
  recount(*present);
}

std::string quoted_key(std::string_view key) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string text = "\"";
  for (const char c : key.substr(0, 64)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f && c != '"' && c != '\\') {
      text += c;
    } else {
      text += "\\x";
      text += kHex[byte >> 4];
      text += kHex[byte & 15];
    }
  }
  return text + (key.size() > 64 ? "...\"" : "\"");
}

std::string key_range_text(uint32_t tree, std::string_view low, std::string_view high,
                           bool has_high) {
  return "tree " + std::to_string(tree) + ", keys [" + quoted_key(low) + ", " +
         (has_high ? quoted_key(high) : "end") + ")";
}

// ---- What is not durable yet

void UnpublishedFlushes::add(uint64_t batch, Lsn first_lsn) {
  flushes_.resize(kFlushes);
  Flush* place = &flushes_.front();
  for (Flush& flush : flushes_) {
    if (flush.batch == batch) {
      flush.first_lsn = std::min(flush.first_lsn, first_lsn);
      return;
    }
    // An empty one, or else the latest, whose needs this one takes over.
    if (place->batch != 0 && (flush.batch == 0 || flush.batch > place->batch)) place = &flush;
  }
  *place = {std::max(place->batch, batch), std::min(place->first_lsn, first_lsn)};
}

void UnpublishedFlushes::add(const UnpublishedFlushes& others) {
  for (const Flush& flush : others.flushes_) {
    if (flush.batch != 0) add(flush.batch, flush.first_lsn);
  }
}

Lsn UnpublishedFlushes::needed_after(uint64_t durable_batch) {
  Lsn needed = format::kLsnMax;
  bool any = false;
  for (Flush& flush : flushes_) {
    if (flush.batch <= durable_batch) flush = {};
    needed = std::min(needed, flush.first_lsn);
    any = any || flush.batch != 0;
  }
  if (!any) flushes_ = {};
  return needed;
}

// ---- Point reads

namespace {

// The bytes of an extent that is not in memory as a whole; null: they are needed.
const char* cold_bytes(const BlockRange& range, ColdBlocks* cold, PointRead* result) {
  const char* bytes = cold == nullptr ? nullptr : cold->bytes(range);
  if (bytes != nullptr) return bytes;
  result->needed = cold == nullptr ? range : cold->missing(range);
  result->state = PointRead::State::kNeedBlocks;
  return nullptr;
}

// How a run is read.
struct RunReading {
  std::string_view key;
  const ReadView& view;
  bool registered;
  ColdBlocks* cold;
  Operands* operands;
};

// Gathers the operands of entry *index, and of those behind it (before `end`) that are of the same
// key, and moves *index to the version below them; kNone: there is none. False: the read is over.
bool take_operands(const Run& run, uint32_t* index, uint32_t end, const RunReading& reading,
                   PointRead* result) {
  if (reading.operands == nullptr) {
    result->state = PointRead::State::kOperands;
    return false;
  }
  while (run.kind(*index) == EntryKind::kOperands) {
    if (!reading.operands->add_older_list(run.entry(*index).inline_value)) {
      result->state = PointRead::State::kDamaged;
      return false;
    }
    ++*index;
    if (*index == end || !run.has_key(*index, reading.key)) {
      *index = Run::kNone;
      return true;
    }
  }
  return true;
}

// The end of a point read: what entry `index` of the run says, or entries up to `end` that are of
// the same key. kNone: it has no such key.
void take_entry(const Run& run, uint32_t index, uint32_t end, const RunReading& reading,
                PointRead* result) {
  if (index == Run::kNone) {
    // The run may have dropped what an unregistered reader's older timestamp needs (R15).
    if (!reading.registered && run.cut() > reading.view.ts) {
      result->state = PointRead::State::kStale;
    }
    return;
  }
  if (run.has_operands() && run.kind(index) == EntryKind::kOperands) {
    if (!take_operands(run, &index, end, reading, result) || index == Run::kNone) return;
  }
  result->cts = result->file->since;
  const char* value = nullptr;
  uint32_t extent = 0;
  uint32_t offset = 0;
  uint32_t size = run.fixed_value_size();
  if (run.plain(index, &value, &extent, &offset)) {
    if (value != nullptr) {
      result->state = PointRead::State::kFound;
      result->value = {value, run.fixed_inline_size()};
      return;
    }
  } else {
    const RunEntry entry = run.entry(index);
    result->cts = std::max(result->cts, entry.cts);
    switch (entry.kind) {
      case EntryKind::kTombstone:
        return;
      case EntryKind::kInline:
        result->state = PointRead::State::kFound;
        result->value = entry.inline_value;
        return;
      case EntryKind::kLarge:
        result->state = PointRead::State::kLarge;
        result->value = entry.inline_value;
        return;
      case EntryKind::kSeparated:
        extent = entry.extent;
        offset = entry.offset;
        size = entry.size;
        break;
      case EntryKind::kOperands:  // were taken
        return;
    }
  }
  const RunFile& file = *result->file;
  const char* base = file.bases[extent].load(std::memory_order_acquire);
  value = base != nullptr
              ? base + offset
              : cold_bytes({file.values[extent].get(), offset, size}, reading.cold, result);
  if (value == nullptr) return;
  result->state = PointRead::State::kFound;
  result->value = {value, size};
}

// The run with what the heap has of entries [begin, end), for as long as nothing else is read of
// the heap. Nothing: it is needed, or damaged, as the result says.
std::optional<Run> with_records(const Run& run, Run::Range range, const RunReading& reading,
                                PointRead* result) {
  const format::HeapRange heap = run.heap_range(range.begin, range.end);
  // Plain entries at most, which need no record.
  if (heap.empty()) return run.wide() ? run : run.with_heap(Run::no_heap());
  const auto first = run.front_blocks() * format::kRunBlockBytes + heap.begin;
  const char* bytes =
      cold_bytes({result->file->image.get(), first, heap.end - heap.begin}, reading.cold, result);
  if (bytes == nullptr) return std::nullopt;
  Run whole = run.with_heap(bytes - heap.begin);
  if (!format::check_run_records(run.view(), range.begin, range.end, whole.heap()).ok()) {
    result->state = PointRead::State::kDamaged;
    return std::nullopt;
  }
  return whole;
}

// Of entries with the key's head, which are too many to be read, leaves those that can be of the
// key. False: as with_records.
bool narrow(const Run& run, Run::Range* range, const RunReading& reading, PointRead* result) {
  const uint64_t head = key_head(reading.key, run.skip());
  return narrow_range(run, range, [&](uint32_t index, int* order) {
    const std::optional<Run> one = with_records(run, {index, index + 1}, reading, result);
    if (one) *order = one->compare(index, reading.key, head);
    return one.has_value();
  });
}

// The run's part of a point read where its heap is not in memory: the records of the entries with
// the key's head are looked at by themselves.
void read_bare_run(const Run& run, Run::Range range, const RunReading& reading, PointRead* result) {
  const std::string_view key = reading.key;
  if (!narrow(run, &range, reading, result)) return;
  const std::optional<Run> whole = with_records(run, range, reading, result);
  if (!whole) return;
  take_entry(*whole, whole->find_in(range, key, reading.view.ts), range.end, reading, result);
}

// The same where the index blocks are not in memory either: those that can hold the key are looked
// at by themselves.
void read_outlined_run(const Run& outline, const RunReading& reading, PointRead* result) {
  const std::string_view key = reading.key;
  if (!key.starts_with(outline.prefix())) {
    return take_entry(outline, Run::kNone, 0, reading, result);
  }
  Run::Range groups = outline.groups_with(key);
  for (;;) {
    const Run::Bytes at = outline.bytes_of_groups(groups);
    const BlockRange range{result->file->image.get(), at.begin, at.end - at.begin, true};
    const char* bytes = cold_bytes(range, reading.cold, result);
    if (bytes == nullptr) return;
    const Run run = outline.with_groups(groups, bytes);
    if (outline.block_begin(groups.begin) != outline.block_begin(groups.end - 1) &&
        !run.check_heap_order(groups).ok()) {
      result->state = PointRead::State::kDamaged;
      return;
    }
    const Run::Range own = run.range_in(groups, key);
    if (run.tells_heap_range(own, groups.end)) {
      return read_bare_run(run, own, reading, result);
    }
    // Where the last record ends is told by the next one: in the rest of this block, or later.
    groups.end = outline.block_end(groups.end);
  }
}

}  // namespace

PointRead read_point(const Descriptor& descriptor, std::string_view key, const ReadView& view,
                     const TxnSlots& slots, bool registered, ColdBlocks* cold, Operands* operands) {
  PointRead result;
  uint64_t hash = 0;
  if (!descriptor.active->empty()) {
    hash = Delta::hash(key);
    descriptor.active->prefetch(hash);
  }
  RunFile* file = descriptor.run->seen_at(view.ts);
  const Run* run = file->run.load(std::memory_order_acquire);
  uint32_t group = 0;
  uint64_t run_head = 0;
  const auto locate = [&] {
    // A run that was kept through a split has a shorter prefix than its container now.
    run_head = key_head(key, run->skip());
    group = run->locate(run_head);
    run->prefetch(group);
    uint32_t extent = 0;
    uint32_t offset = 0;
    if (run->guess_value(group, &extent, &offset)) {
      const char* base = file->bases[extent].load(std::memory_order_relaxed);
      if (base != nullptr) __builtin_prefetch(base + offset);
    }
  };
  // Both at once where the run is the likelier place; else it is not even looked at.
  const bool run_first = run != nullptr && run->heap() != nullptr &&
                         descriptor.active->entries() <= run->entries() / 2;
  if (run_first) locate();
  // Active before frozen: everything in the active delta ranks above what is left in the frozen
  // one.
  for (Delta* delta : {descriptor.active, descriptor.frozen}) {
    if (delta == nullptr || delta->empty()) continue;
    if (hash == 0) hash = Delta::hash(key);
    const DeltaEntry* entry = delta->find(key, hash);
    if (entry == nullptr) continue;
    const Version* newest = entry->newest.load(std::memory_order_acquire);
    const bool frozen = delta == descriptor.frozen;
    const ChainRead read = operands == nullptr
                               ? read_chain(newest, view, slots, frozen)
                               : read_operands(newest, view, slots, frozen, operands);
    if (read.stale || (read.skipped_newer && !registered)) {
      result.state = PointRead::State::kStale;
      return result;
    }
    if (read.version == nullptr) continue;
    result.cts = read.cts;
    switch (read.version->kind) {
      case VersionKind::kTombstone:
        result.state = PointRead::State::kAbsent;
        return result;
      case VersionKind::kPut:
        result.state = PointRead::State::kFound;
        break;
      case VersionKind::kLarge:
        result.state = PointRead::State::kLarge;
        break;
      case VersionKind::kMerge:
        result.state = PointRead::State::kOperands;
        return result;
    }
    result.value = read.version->value();
    result.delta = delta;
    return result;
  }
  if (file->empty()) return result;
  result.file = file;
  file->touch();
  const RunReading reading{key, view, registered, cold, operands};
  if (run == nullptr) {
    const Run* outline = file->outline.load(std::memory_order_acquire);
    if (outline == nullptr) {
      result.state = PointRead::State::kNeedRun;
    } else {
      read_outlined_run(*outline, reading, &result);
    }
    return result;
  }
  if (run->heap() == nullptr) {
    read_bare_run(*run, run->range_of(key), reading, &result);
    return result;
  }
  if (!run_first) locate();
  take_entry(*run, run->find_from(group, key, run_head, view.ts), run->entries(), reading, &result);
  return result;
}

// ---- Cuts and splits

bool copy_version(const Version& from, uint64_t stamp, uint8_t flags, DeltaEntry* entry,
                  Delta& to) {
  Version* copy = to.new_version(entry, from.size);
  if (copy == nullptr) return false;
  copy->stamp.store(stamp, std::memory_order_relaxed);
  copy->seq = from.seq;
  copy->kind = from.kind;
  copy->flags.store(flags, std::memory_order_relaxed);
  if (from.size > 0) std::memcpy(copy->bytes(), from.value().data(), from.size);
  to.link(entry, copy);
  return true;
}

namespace {
// Sorts one entry's chain: what stays and is to be stamped, what is copied (newest first), what was
// rolled back.
struct Sorted {
  std::vector<std::pair<Version*, Lsn>> settled;
  std::vector<Version*> kept;
  std::vector<Version*> dead;

  void take(const DeltaEntry* entry, Lsn cut, const TxnSlots& slots) {
    kept.clear();
    for (Version* v = entry->newest.load(std::memory_order_acquire); v != nullptr;
         v = v->older.load(std::memory_order_acquire)) {
      if ((v->flags.load(std::memory_order_relaxed) & kMoved) != 0) continue;
      const Resolved r = resolve(v, slots);
      if (r.outcome == TxnSlots::Outcome::kCommitted && r.cts <= cut) {
        settled.emplace_back(v, r.cts);
      } else if (r.outcome == TxnSlots::Outcome::kCommitted ||
                 r.outcome == TxnSlots::Outcome::kActive) {
        kept.push_back(v);
      } else {
        dead.push_back(v);
      }
    }
  }
};

// Copies versions, oldest first, as they are: one that was committed meanwhile, but above the cut,
// stays an intent. Whatever is stamped must be visible, or a cut at an older visible_ts would have
// to look for it.
bool copy_chain(const std::vector<Version*>& kept, DeltaEntry* copy, Delta& to, Moved* moved) {
  for (size_t k = kept.size(); k > 0; --k) {
    Version* v = kept[k - 1];
    const uint64_t stamp = v->stamp.load(std::memory_order_acquire);
    if (!copy_version(*v, stamp, v->flags.load(std::memory_order_relaxed), copy, to)) return false;
    moved->versions.push_back(v);
    if ((stamp & kIntentBit) != 0) {
      moved->intents.push_back(stamp & ~kIntentBit);
    } else {
      ++moved->replayed;
    }
  }
  return true;
}
}  // namespace

bool copy_unflushed(std::span<DeltaEntry* const> entries, Delta& to, Lsn cut, const TxnSlots& slots,
                    Moved* moved) {
  Sorted sorted;
  for (DeltaEntry* entry : entries) {
    sorted.take(entry, cut, slots);
    if (sorted.kept.empty()) continue;
    DeltaEntry* copy = to.find_or_add(entry->key(), key_head(entry->key(), to.skip()));
    if (copy == nullptr || !copy_chain(sorted.kept, copy, to, moved)) return false;
    moved->copies.push_back(copy);
  }
  // Nothing can fail any more. Their transactions will not look for these versions in this delta
  // again; had one been stamped and the cut failed, it could have been pruned before its
  // transaction came to stamp it.
  for (const auto& [version, cts] : sorted.settled) {
    version->stamp.store(cts, std::memory_order_release);
  }
  moved->versions.insert(moved->versions.end(), sorted.dead.begin(), sorted.dead.end());
  return true;
}

}  // namespace hawthorn::tree
