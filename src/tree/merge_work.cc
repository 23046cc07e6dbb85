#include "tree/merge_work.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/assert.h"
#include "base/bytes.h"
#include "os/epoch.h"
#include "os/test_point.h"

namespace hawthorn::tree {

namespace {
// What a range that was deleted stands for, with its timestamp, in the versions of each key.
const Version kOfDeletedRange{0, nullptr, 0, 0, VersionKind::kTombstone, 0, 0, 0};
}  // namespace

Status Merger::Work::begin(std::span<const MergeInput> from, Lsn cut_at) {
  store->snapshots->refresh(store->visible->load(std::memory_order_acquire));
  {
    os::epoch::Guard guard;
    view = *store->snapshots->view();
  }
  // A moment that is pinned since lies above the cut.
  from.front().pins.restrict(&view);
  inputs = from;
  cut = cut_at;
  layered = format::kLsnMax;
  for (const MergeInput& input : inputs) layered = std::min(layered, input.layered);
  floor = std::min(view.oldest(), layered - 1);
  max_ts = 0;
  garbage.assign(RunFile::kExtentsMax, 0);
  moved_large = nullptr;
  saves_space = false;
  old_bytes = 0;
  records.clear();
  versions.clear();
  large_dropped.clear();
  output = MergeOutput();
  // Pinned, nothing of the inputs can be evicted once what was under way is over.
  store->residency->await_evictions();
  for (const MergeInput& input : inputs) {
    const auto whole = [&input] {
      const Run* present = input.file->run.load(std::memory_order_acquire);
      return present != nullptr && present->heap() != nullptr;
    };
    while (!input.file->empty() && !erases(input) && !whole()) {
      if (Status s = store->residency->load_run(input.file, RunPart::kWhole); !s.ok()) return s;
    }
    max_ts = std::max(max_ts, input.file->record.max_ts);
  }
  take(inputs.front());
  plan = store->residency->compression().plan(container->tree);
  return {};
}

void Merger::Work::take(const MergeInput& input) {
  container = input.container;
  old_file = input.file;
  run = erases(input) ? nullptr : old_file->run.load(std::memory_order_acquire);
  merge_operator = input.merge_operator;
  deleted = input.deleted;
}

// Whether nobody reads anything of the run any more, so that it need not be looked at.
bool Merger::Work::erases(const MergeInput& input) const {
  const Container& of = *input.container;
  return std::any_of(input.deleted.begin(), input.deleted.end(), [&](const DeletedRange& at) {
    const bool whole =
        at.range.low <= of.low && (!at.range.high || (of.has_high && *at.range.high >= of.high));
    return whole && at.cts <= layered && view.dead(0, at.cts);
  });
}

// Makes the values of the input at hand resident.
Status Merger::Work::load_values(uint32_t extents) {
  if (run == nullptr) return {};
  for (uint32_t e = 0; e < old_file->values.size(); ++e) {
    if ((extents >> e & 1) == 0 || old_file->all_garbage(e)) continue;
    // The file is its container's newest: what is loaded for it stays with it.
    if (Status s = store->residency->load_values(old_file, e, true); !s.ok()) return s;
    if (old_file->bases[e].load(std::memory_order_acquire) == nullptr) {
      return Status(StatusCode::kOutOfMemory,
                    "a value extent could not be kept in memory for a merge");
    }
  }
  return {};
}

// Collects the committed versions <= cut of every key, newest first, behind what was gathered
// before.
void Merger::Work::gather(const Delta* delta) {
  if (delta == nullptr) return;
  DeltaEntry* batch[32];
  // A delta may be shared by the parts of a split: only this container's range counts.
  const std::string_view low = container->low;
  size_t count =
      delta->collect(Delta::Seek::kGreaterEqual, low, key_head(low, delta->skip()), batch);
  while (count > 0) {
    for (size_t i = 0; i < count; ++i)
      __builtin_prefetch(batch[i]->newest.load(std::memory_order_relaxed));
    for (size_t i = 0; i < count; ++i) {
      if (container->has_high && batch[i]->key() >= container->high) return;
      const auto first = static_cast<uint32_t>(versions.size());
      bool sorted = true;
      for (const Version* v = batch[i]->newest.load(std::memory_order_acquire); v != nullptr;
           v = v->older.load(std::memory_order_acquire)) {
        if ((v->flags.load(std::memory_order_acquire) & kMoved) != 0) continue;
        const uint64_t stamp = v->stamp.load(std::memory_order_acquire);
        // The cut stamped what it left here, and moved the rest.
        const bool settled = (stamp & kIntentBit) == 0 && stamp <= cut;
        HAWTHORN_ASSERT(settled);
        if (!settled) continue;
        if (versions.size() > first) {
          const Kept& above = versions.back();
          sorted =
              sorted && (above.cts > stamp || (above.cts == stamp && above.version->seq > v->seq));
        }
        versions.push_back({v, 0, stamp});
      }
      if (versions.size() == first) continue;
      if (!sorted) {
        std::sort(versions.begin() + first, versions.end(), [](const Kept& a, const Kept& b) {
          return a.cts != b.cts ? a.cts > b.cts : a.version->seq > b.version->seq;
        });
      }
      records.push_back({batch[i]->key(), first, static_cast<uint32_t>(versions.size()) - first});
    }
    count = delta->collect(Delta::Seek::kGreater, batch[count - 1]->key(), batch[count - 1]->head,
                           batch);
  }
}

size_t Merger::Work::buffer_bytes() const {
  return builder.buffer_bytes() + image_packer.buffer_bytes() +
         records.capacity() * sizeof(Record) +
         (versions.capacity() + key_versions.capacity()) * sizeof(Kept) +
         copies.capacity() * sizeof(Copy);
}

void Merger::Work::release_buffers() {
  builder.release_buffers();
  image_packer.release_buffers();
  os::release(records);
  os::release(versions);
  os::release(key_versions);
  os::release(copies);
}

void Merger::Work::charge_codec() {
  const size_t bytes = image_packer.buffer_bytes() + folded_bytes;
  store->arena->charge(os::Quota::kMerge,
                       static_cast<ptrdiff_t>(bytes) - static_cast<ptrdiff_t>(charged_bytes));
  charged_bytes = bytes;
}

void Merger::Work::drop_folded() {
  folded.clear();
  folded_bytes = 0;
}

// The bytes that the newest versions of all records will take.
size_t Merger::Work::gathered_bytes() const {
  size_t bytes = 0;
  for (const Record& record : records) {
    bytes += kEntryBytes + record.key.size() + versions[record.first].version->size;
  }
  return bytes;
}

// Of a merge that keeps the old extents.
bool Merger::Work::adds_extent() const {
  return std::any_of(records.begin(), records.end(), [this](const Record& record) {
    const auto from = versions.begin() + record.first;
    return std::any_of(from, from + record.count, [this, &record](const Kept& kept) {
      return kept.version->kind == VersionKind::kPut &&
             separates(record.key.size(), kept.version->size, shape);
    });
  });
}

void choose_plain_sizes(std::span<const EntrySizes> samples, RunShape* shape) {
  if (samples.empty()) return;
  const EntrySizes first = samples.front();
  if (shape->fixed_key_size == 0) shape->fixed_key_size = static_cast<uint32_t>(first.key);
  const bool alike = std::count(samples.begin(), samples.end(), first) == std::ssize(samples);
  if (alike && shape->fixed_value_size == 0 && !shape->plain_inline) {
    RunShape separated = *shape;
    separated.fixed_value_size = static_cast<uint32_t>(first.value);
    if (separates(first.key, first.value, separated)) *shape = separated;
  }
  for (const EntrySizes& sample : samples) {
    if (separates(sample.key, sample.value, *shape)) {
      if (shape->fixed_value_size == 0)
        shape->fixed_value_size = static_cast<uint32_t>(sample.value);
    } else if (!shape->plain_inline) {
      shape->plain_inline = true;
      shape->fixed_inline_size = static_cast<uint32_t>(sample.value);
    }
  }
}

// Plain entries have fixed sizes: those of the old run, or of the first records.
void Merger::Work::choose_shape() {
  shape = RunShape{};
  shape.container = old_file->record.id;
  shape.tree = container->tree;
  if (run != nullptr && run->fixed_key_size() != 0) {
    shape.fixed_key_size = run->fixed_key_size();
    shape.fixed_value_size = run->fixed_value_size();
    shape.fixed_inline_size = run->fixed_inline_size();
    shape.plain_inline = (run->header().flags & format::kRunFlagPlainInline) != 0;
  }
  shape.prefix = std::string_view(container->low).substr(0, container->skip);
  std::array<EntrySizes, kSizeSamples> samples;
  size_t count = 0;
  for (size_t i = 0; i < std::min(records.size(), samples.size()); ++i) {
    const Kept& newest = versions[records[i].first];
    if (newest.version->kind != VersionKind::kPut) continue;
    samples[count++] = {records[i].key.size(), newest.version->size};
  }
  choose_plain_sizes({samples.data(), count}, &shape);
}

bool Merger::Work::holds_operands(const Kept& kept) const {
  if (kept.version != nullptr) return kept.version->kind == VersionKind::kMerge;
  return run->has_operands() && run->kind(kept.index) == EntryKind::kOperands;
}

// Fills key_versions with what is kept of one key: a delta record (or null) and the run's entries
// [from, to).
void Merger::Work::keep_versions(const Record* record, uint32_t from, uint32_t to) {
  key_versions.clear();
  Lsn newer = 0;
  bool first = true;
  bool needed = false;  // by operands above, which are kept
  bool taken = false;   // lists of operands are, by those above
  const auto consider = [&](const Kept& kept) {
    const bool dead = kept.cts == newer || view.dead(kept.cts, newer);
    taken = taken && dead && kept.version == nullptr && holds_operands(kept);
    // Of several writes of one transaction only the last counts, also above the view's horizon.
    const bool keep = first || (!taken && (needed || !dead));
    const Lsn above = newer;
    newer = kept.cts;
    first = false;
    if (keep) {
      key_versions.push_back(kept);
      const bool operands = holds_operands(kept);
      taken = kept.version != nullptr && operands &&
              (kept.version->flags.load(std::memory_order_relaxed) & kTakesOperands) != 0;
      // Both are of one transaction: no timestamp lies between this one and that of an older one.
      if (needed && kept.cts != 0 && kept.cts == above) --key_versions.back().cts;
      needed = operands;
    } else if (taken) {
      return;
    } else if (kept.version == nullptr) {
      drop_run_entry(kept.index);
    } else if (kept.version->kind == VersionKind::kLarge) {
      note_large(kept.version->value(), false);
    }
  };
  const size_t large_before = large_dropped.size();
  std::string_view key;
  if (!deleted.empty()) key = record != nullptr ? record->key : run_key(from);
  auto range = deleted.begin();
  const auto consider_ranges_above = [&](Lsn cts) {
    for (; range != deleted.end() && range->cts > cts; ++range) {
      // Below what else its transaction has written, in layers, too; no timestamp lies between.
      if (range->range.covers(key)) consider({&kOfDeletedRange, 0, range->cts - 1});
    }
  };
  const auto consider_below_ranges = [&](const Kept& kept) {
    consider_ranges_above(kept.cts);
    consider(kept);
  };
  if (record != nullptr) {
    for (uint32_t i = 0; i < record->count; ++i) consider_below_ranges(versions[record->first + i]);
  }
  for (uint32_t i = from; i < to; ++i)
    consider_below_ranges({nullptr, i, run->has_versions() ? run->entry(i).cts : 0});
  // What a layer has of the key may be older.
  consider_ranges_above(layered);
  while (!key_versions.empty()) {
    const Kept& oldest = key_versions.back();
    const bool tombstone =
        oldest.version != nullptr
            ? oldest.version->kind == VersionKind::kTombstone
            : run->has_versions() && run->entry(oldest.index).kind == EntryKind::kTombstone;
    if (!tombstone || oldest.cts >= layered || inputs.front().keeps_deletes) break;
    key_versions.pop_back();
  }
  if (large_dropped.size() > large_before) keep_shared_large(large_before);
  for (size_t i = 1; i < key_versions.size(); ++i) {
    if (holds_operands(key_versions[i - 1])) continue;  // it needs this one: no rewrite drops it
    const Kept& kept = key_versions[i];
    if (kept.version != nullptr) {
      old_bytes += kEntryBytes + kept.version->size;
      continue;
    }
    const RunEntry entry = run->entry(kept.index);
    old_bytes += kEntryBytes + entry.size + entry.inline_value.size();
  }
}

void Merger::Work::drop_run_entry(uint32_t index) {
  const char* inline_value = nullptr;
  uint32_t extent = 0;
  uint32_t offset = 0;
  if (run->plain(index, &inline_value, &extent, &offset)) {
    if (inline_value == nullptr) garbage[extent] += run->fixed_value_size();
    return;
  }
  const RunEntry entry = run->entry(index);
  if (entry.kind == EntryKind::kSeparated) garbage[entry.extent] += entry.size;
  if (entry.kind == EntryKind::kLarge) note_large(entry.inline_value, false);
}

void Merger::Work::emit_version(std::string_view key, const Kept& kept) {
  const Lsn cts = kept.cts > floor ? kept.cts : 0;
  max_ts = std::max(max_ts, kept.cts);
  const Version* v = kept.version;
  switch (v->kind) {
    case VersionKind::kTombstone:
      builder.add_tombstone(key, kept.cts);
      return;
    case VersionKind::kLarge: {
      // It may share extents with a version of the run.
      const std::string encoded = moved(v->value());
      note_large(encoded, true);
      if (moved_large != nullptr) note_moved(v->value());
      builder.add_large(key, encoded, cts, 0);
      return;
    }
    case VersionKind::kMerge:
      builder.add_operands(key, v->value(), kept.cts);
      return;
    case VersionKind::kPut:
      break;
  }
  if (!separates(key.size(), v->size, shape)) {
    builder.add_inline(key, v->value(), cts, 0);
    return;
  }
  builder.add_separated(key, new_extent, static_cast<uint32_t>(copied_bytes), v->size, cts, 0);
  copies.push_back({v->value().data(), v->size});
  copied_bytes += v->size;
}

// An entry of the old run, its value moved to the new extent.
size_t Merger::Work::emit_rewritten(std::string_view key, const Kept& kept) {
  const Lsn cts = kept.cts > floor ? kept.cts : 0;
  max_ts = std::max(max_ts, kept.cts);
  const char* value = nullptr;
  uint32_t extent = 0;
  uint32_t offset = 0;
  uint32_t size = run->fixed_value_size();
  uint64_t expiry = 0;
  if (run->plain(kept.index, &value, &extent, &offset)) {
    if (value != nullptr) {
      builder.add_inline(key, {value, run->fixed_inline_size()}, 0, 0);
      return run->fixed_inline_size();
    }
  } else {
    const RunEntry entry = run->entry(kept.index);
    expiry = entry.expiry;
    switch (entry.kind) {
      case EntryKind::kTombstone:
        builder.add_tombstone(key, kept.cts);
        return 0;
      case EntryKind::kInline:
        builder.add_inline(key, entry.inline_value, cts, expiry);
        return entry.inline_value.size();
      case EntryKind::kLarge: {
        const std::string encoded = moved(entry.inline_value);
        note_large(encoded, true);
        if (moved_large != nullptr) note_moved(entry.inline_value);
        builder.add_large(key, encoded, cts, expiry);
        return encoded.size();
      }
      case EntryKind::kSeparated:
        extent = entry.extent;
        offset = entry.offset;
        size = entry.size;
        break;
      case EntryKind::kOperands:
        builder.add_operands(key, entry.inline_value, kept.cts);
        return entry.inline_value.size();
    }
  }
  builder.add_separated(key, new_extent, static_cast<uint32_t>(copied_bytes), size, cts, expiry);
  copies.push_back({old_file->bases[extent].load(std::memory_order_acquire) + offset, size});
  copied_bytes += size;
  return size;
}

std::string_view Merger::Work::run_key(uint32_t index) {
  const uint32_t size = run->key_size(index);
  if (key_buffer.size() < size + 64) key_buffer.resize(size + 64);
  run->copy_key(index, key_buffer.data());
  return {key_buffer.data(), size};
}

// The end of the versions of entry index's key.
uint32_t Merger::Work::same_key_end(uint32_t index) const {
  uint32_t end = index + 1;
  if (!run->has_versions()) return end;
  std::string key(run->key_size(index), '\0');
  run->copy_key(index, key.data());
  const uint64_t head = key_head(key, run->skip());
  while (end < run->entries() && run->compare(end, key, head) == 0) ++end;
  return end;
}

// ---- The three shapes

// Says which old extents the merge does not keep; the others move up.
void Merger::Work::leave_behind(uint32_t extents) {
  left_out = extents;
  kept_as.clear();
  uint8_t kept = 0;
  for (size_t e = 0; e < old_file->values.size(); ++e) {
    kept_as.push_back(kept);
    if ((left_out >> e & 1) == 0) ++kept;
  }
  new_extent = kept;
}

// Whether an entry's value does not stay where it is.
bool Merger::Work::moves(uint32_t index) const {
  const char* inline_value = nullptr;
  uint32_t extent = 0;
  uint32_t offset = 0;
  if (run->plain(index, &inline_value, &extent, &offset)) {
    return inline_value == nullptr && (left_out >> extent & 1) != 0;
  }
  const RunEntry entry = run->entry(index);
  if (entry.kind == EntryKind::kSeparated) return (left_out >> entry.extent & 1) != 0;
  return entry.kind == EntryKind::kLarge && moved(entry.inline_value) != entry.inline_value;
}

// Entries [from, to) of the run.
void Merger::Work::append_kept(uint32_t from, uint32_t to) {
  if (left_out != 0 || moved_large != nullptr) {
    for (uint32_t index = from; index < to; ++index) {
      if (!moves(index)) continue;
      builder.append_range(*run, from, index, kept_as, floor);
      emit_rewritten(run_key(index), {nullptr, index, run->entry(index).cts});
      from = index + 1;
    }
  }
  builder.append_range(*run, from, to, kept_as, floor);
}

// Old extents stay where they are; the delta's values go to one more, and those of the extents that
// are left behind.
void Merger::Work::merge_index() {
  const uint32_t entries = run == nullptr ? 0 : run->entries();
  start_piece(container->low, container->skip);
  uint32_t next = 0;
  const auto copy_run_keys = [&](uint32_t to) {
    if (run == nullptr || next >= to) return;
    if (!run->has_versions() && deleted.empty()) {
      append_kept(next, to);
      next = to;
      return;
    }
    while (next < to) {
      const uint32_t end = same_key_end(next);
      keep_versions(nullptr, next, end);
      for (const Kept& kept : key_versions) {
        if (kept.version != nullptr) {
          emit_version(run_key(next), kept);
          continue;
        }
        max_ts = std::max(max_ts, kept.cts);
        append_kept(kept.index, kept.index + 1);
      }
      next = end;
    }
  };
  for (const Record& record : records) {
    uint32_t at = 0;
    uint32_t end = 0;
    if (run != nullptr) {
      const uint64_t head = key_head(record.key, run->skip());
      at = run->lower_bound(record.key, head);
      copy_run_keys(at);
      end = at;
      while (end < entries && run->compare(end, record.key, head) == 0) ++end;
      next = end;
    }
    keep_versions(&record, at, end);
    for (const Kept& kept : key_versions) {
      if (kept.version != nullptr) {
        emit_version(record.key, kept);
      } else {
        append_kept(kept.index, kept.index + 1);
      }
    }
  }
  copy_run_keys(entries);
}

// Every key of the run at hand and of records [from, to), with what is kept of it in key_versions.
template <typename Visit>
Status Merger::Work::each_key(size_t from, size_t to, Visit visit) {
  const uint32_t entries = run == nullptr ? 0 : run->entries();
  uint32_t next = 0;
  size_t r = from;
  while (next < entries || r < to) {
    int order = 0;
    if (next == entries) {
      order = 1;
    } else if (r == to) {
      order = -1;
    } else {
      order = run->compare(next, records[r].key, key_head(records[r].key, run->skip()));
    }
    const Record* record = order >= 0 ? &records[r] : nullptr;
    uint32_t end = next;
    if (order <= 0) end = same_key_end(next);
    const std::string_view key = record != nullptr ? record->key : run_key(next);
    keep_versions(record, next, end);
    if (Status s = visit(key); !s.ok()) return s;
    next = end;
    if (record != nullptr) ++r;
  }
  return {};
}

// Emits what is kept of a key, its values moved to the new extent; returns the bytes it takes.
size_t Merger::Work::emit_key(std::string_view key) {
  const size_t copied_before = copied_bytes;
  const size_t large_before = large_kept.size();
  size_t bytes = 0;
  for (const Kept& kept : key_versions) {
    bytes += kEntryBytes;
    if (kept.version != nullptr) {
      emit_version(key, kept);
      bytes += kept.version->size;
    } else {
      bytes += emit_rewritten(key, kept);
    }
  }
  // The key stands beside a value that is not in the new extent.
  if (copied_bytes == copied_before) bytes += (key.size() + 8) * key_versions.size();
  return bytes + (large_kept.size() - large_before) * kLargeExtentBytes;
}

// What a piece may hold that fits the largest range, or its part: beside entries it has a header,
// and the ends of blocks.
size_t Merger::Work::ready_bytes(double share) const {
  constexpr size_t kOverhead = 2 * os::kBlockBytes;
  const size_t range = size_t{store->space->largest_ready()} * os::kBlockBytes;
  return static_cast<size_t>(share * static_cast<double>(range - std::min(range, kOverhead)));
}

// All values are rewritten, in `pieces` runs of about equal size, or with a share in as many as fit
// the ranges that are ready (MergePolicy).
Status Merger::Work::merge_rewrite(size_t pieces, size_t total, double ready_share) {
  output.reclustered = run != nullptr;
  new_extent = 0;
  const bool by_ranges = ready_share != 0;
  size_t piece_bytes = by_ranges ? ready_bytes(ready_share) : total / pieces + 1;
  size_t piece_used = 0;
  size_t made = 0;
  start_piece(container->low, container->skip);
  Status status = each_key(0, records.size(), [&](std::string_view key) -> Status {
    const bool may_end = by_ranges || made + 1 < pieces;
    if (!key_versions.empty() && piece_used >= piece_bytes && may_end) {
      if (Status s = finish_piece(false); !s.ok()) return s;
      ++made;
      piece_used = 0;
      const bool last = !by_ranges && made + 1 == pieces;
      start_piece(key, last ? skip_from(key) : container->skip);
      if (by_ranges) piece_bytes = ready_bytes(ready_share);
    }
    piece_used += emit_key(key);
    return {};
  });
  return status.ok() ? finish_piece(false) : status;
}

// One piece of all inputs; those of input i end before record records_of[i].
Status Merger::Work::merge_join(std::span<const size_t> records_of) {
  output.reclustered = true;
  new_extent = 0;
  const Container& last = *inputs.back().container;
  const std::string_view low = inputs.front().container->low;
  take(inputs.front());
  start_piece(low, last.has_high ? common_prefix(low, last.high) : 0);
  size_t from = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    take(inputs[i]);
    Status status = each_key(from, records_of[i], [&](std::string_view key) -> Status {
      static_cast<void>(emit_key(key));
      return {};
    });
    if (!status.ok()) return status;
    from = records_of[i];
  }
  take(inputs.front());
  return finish_piece(false);
}

// The run's keys in pieces that begin at `lows`. Where all lie in the first, it stays as it is.
Status Merger::Work::merge_divide(std::span<const std::string> lows) {
  const auto begins = [&](size_t piece) {
    const std::string_view low = lows[piece];
    start_piece(low, piece + 1 == lows.size() ? skip_from(low) : container->skip);
  };
  new_extent = 0;
  size_t made = 0;
  if (run == nullptr ||
      run->compare(run->entries() - 1, lows[0], key_head(lows[0], run->skip())) < 0) {
    keep_run(old_file->record.cut);
    begins(made++);
  } else {
    output.reclustered = true;
    if (Status s = load_values(); !s.ok()) return s;
    start_piece(container->low, container->skip);
    Status status = each_key(0, 0, [&](std::string_view key) -> Status {
      while (made < lows.size() && key >= lows[made]) {
        if (Status s = finish_piece(false); !s.ok()) return s;
        begins(made++);
      }
      static_cast<void>(emit_key(key));
      return {};
    });
    if (!status.ok()) return status;
  }
  while (made < lows.size()) {
    if (Status s = finish_piece(false); !s.ok()) return s;
    begins(made++);
  }
  return finish_piece(false);
}

// A first piece that refers to the old run as it is.
void Merger::Work::keep_run(Lsn cut_at) {
  MergePiece left;
  left.low = container->low;
  left.unchanged_run = true;
  left.file = new RunFile;
  left.file->record = old_file->record;
  left.file->record.cut = cut_at;
  // In this order: who counts it meanwhile tells from where on first, and then how many.
  const uint64_t live = old_file->live.load(std::memory_order_acquire);
  HAWTHORN_TEST_POINT("merge.keep_run.counting");
  left.file->live_from.store(old_file->live_from.load(std::memory_order_relaxed),
                             std::memory_order_relaxed);
  left.file->live.store(live, std::memory_order_relaxed);
  left.file->old_version_bytes = old_file->old_version_bytes;
  left.file->image = old_file->image;
  left.file->values = old_file->values;
  left.file->large = old_file->large;
  output.pieces.push_back(std::move(left));
}

// The delta lies behind the run (appended keys): the run stays as it is, and new containers follow
// it.
Status Merger::Work::merge_append(size_t pieces, size_t total) {
  keep_run(cut);
  new_extent = 0;
  const size_t piece_bytes = total / pieces + 1;
  size_t piece_used = 0;
  bool open = false;
  for (const Record& record : records) {
    keep_versions(&record, 0, 0);
    if (key_versions.empty()) continue;
    if (open && piece_used >= piece_bytes) {
      if (Status s = finish_piece(false); !s.ok()) return s;
      open = false;
    }
    if (!open) {
      start_piece(record.key, skip_from(record.key));
      open = true;
      piece_used = 0;
    }
    for (const Kept& kept : key_versions) {
      emit_version(record.key, kept);
      piece_used += kEntryBytes + record.key.size() + kept.version->size;
    }
  }
  return open ? finish_piece(false) : Status();
}

}  // namespace hawthorn::tree
