#include "tree/merge.h"

#include <algorithm>
#include <cstring>

#include "base/assert.h"
#include "base/bytes.h"
#include "os/epoch.h"
#include "os/test_point.h"

namespace hawthorn::tree {

namespace {
constexpr size_t kBlock = 4096;
constexpr size_t kEntryBytes = 14;             // of an index entry, with its share of headers
constexpr size_t kGarbageBytesMin = 64 << 10;  // less is not worth a rewrite
constexpr double kSplitAt = 1.6;               // of the target size
constexpr double kSplitInto = 0.8;

bool separates(std::string_view key, size_t value_size) {
  return value_size >= 128 && value_size >= 6 * key.size();
}

enum class Shape : uint8_t { kIndexOnly, kRewrite, kAppend };

struct Plan {
  Shape shape = Shape::kIndexOnly;
  size_t pieces = 1;
};

// Of the run's live entries and values, and `delta_bytes` of new ones.
size_t live_bytes(size_t delta_bytes, const RunFile& old_file) {
  return old_file.value_bytes() - old_file.garbage_bytes() +
         size_t{old_file.record.run.blocks} * kBlock + delta_bytes;
}

size_t delta_bytes(const Delta* delta) {
  return delta == nullptr ? 0 : delta->live_bytes() + delta->entries() * kEntryBytes;
}

// Everything of the plan but whether the delta lies behind the run, which needs the run.
Plan make_plan(size_t added, const RunFile& old_file, const MergePolicy& policy) {
  Plan plan;
  const size_t total = live_bytes(added, old_file);
  if (static_cast<double>(total) > kSplitAt * static_cast<double>(policy.target_bytes)) {
    plan.shape = Shape::kRewrite;
    plan.pieces = std::max<size_t>(
        2, static_cast<size_t>(static_cast<double>(total) /
                               (kSplitInto * static_cast<double>(policy.target_bytes))));
    return plan;
  }
  const size_t garbage = old_file.garbage_bytes();
  const bool much_garbage = garbage > kGarbageBytesMin &&
                            static_cast<double>(garbage) >
                                policy.garbage_max * static_cast<double>(old_file.value_bytes());
  const size_t extents_max = std::min<size_t>(policy.extents_max, RunFile::kExtentsMax - 1);
  if (policy.recluster || much_garbage || old_file.values.size() + 1 > extents_max)
    plan.shape = Shape::kRewrite;
  return plan;
}
}  // namespace

MergePolicy jittered(const MergePolicy& policy, uint64_t container_id) {
  const double unit = static_cast<double>((container_id * 0x9E3779B97F4A7C15u) >> 40) /
                      static_cast<double>(1 << 24);
  const double factor = 0.75 + 0.5 * unit;
  MergePolicy result = policy;
  result.extents_max =
      std::max<uint32_t>(2, static_cast<uint32_t>(policy.extents_max * factor + 0.5));
  result.garbage_max *= factor;
  result.target_bytes = static_cast<size_t>(static_cast<double>(policy.target_bytes) * factor);
  return result;
}

MergeOutput::~MergeOutput() {
  for (MergePiece& piece : pieces) {
    if (piece.file != nullptr) piece.file->unref();
  }
}

// ---------------------------------------------------------------------------------------------------------------------

struct Merger::Work {
  struct Kept {
    const Version* version = nullptr;  // of the delta; null: entry `index` of the old run
    uint32_t index = 0;
    Lsn cts = 0;
  };
  struct Record {
    std::string_view key;
    uint32_t first = 0;  // in versions
    uint32_t count = 0;
  };
  struct Copy {
    const char* from;
    uint32_t size;
  };

  explicit Work(Store* s) : store(s) {}

  Store* store;
  RunBuilder builder;
  std::vector<Record> records;
  std::vector<Kept> versions;
  std::vector<Kept> key_versions;
  std::vector<Copy> copies;  // values of the piece's new extent, in order
  size_t copied_bytes = 0;
  std::vector<uint32_t> garbage;  // per old extent, added by this merge
  std::vector<ExtentAddress> large_kept;
  std::vector<ExtentAddress> large_dropped;
  std::vector<ExtentRef> large_refs;  // of large_kept, taken from the delta's values
  std::string key_buffer;

  // Of the merge under way.
  const Container* container = nullptr;
  RunFile* old_file = nullptr;
  const Run* run = nullptr;
  const PruneView* view = nullptr;
  Lsn cut = 0;
  Lsn floor = 0;
  Lsn max_ts = 0;
  RunShape shape;
  uint32_t new_extent = 0;  // its number in the piece under construction
  std::string piece_low;
  MergeOutput output;

  void gather(const Delta* delta);
  size_t gathered_bytes() const;
  void choose_shape();
  void keep_versions(const Record* record, uint32_t from, uint32_t to);
  void emit_version(std::string_view key, const Kept& kept);
  void emit_rewritten(std::string_view key, const Kept& kept);
  void drop_run_entry(uint32_t index);
  void note_large(std::string_view encoded, bool keep);
  uint32_t same_key_end(uint32_t index) const;
  std::string_view run_key(uint32_t index);
  void merge_index();
  Status merge_rewrite(size_t pieces, size_t total);
  Status merge_append(size_t pieces, size_t total);
  void start_piece(std::string_view low, std::string_view high, bool has_high);
  Status finish_piece(bool keep_extents);
  Result<ExtentRef> make_extent(size_t bytes, bool index, char** memory);
};

// Collects the committed versions <= cut of every key, newest first.
void Merger::Work::gather(const Delta* delta) {
  records.clear();
  versions.clear();
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

// The bytes that the newest versions of all records will take.
size_t Merger::Work::gathered_bytes() const {
  size_t bytes = 0;
  for (const Record& record : records) {
    bytes += kEntryBytes + record.key.size() + versions[record.first].version->size;
  }
  return bytes;
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
  for (size_t i = 0; i < std::min<size_t>(records.size(), 16); ++i) {
    const Kept& newest = versions[records[i].first];
    if (newest.version->kind != VersionKind::kPut) continue;
    if (shape.fixed_key_size == 0)
      shape.fixed_key_size = static_cast<uint32_t>(records[i].key.size());
    if (separates(records[i].key, newest.version->size)) {
      if (shape.fixed_value_size == 0) shape.fixed_value_size = newest.version->size;
    } else if (!shape.plain_inline) {
      shape.plain_inline = true;
      shape.fixed_inline_size = newest.version->size;
    }
  }
}

// Fills key_versions with what is kept of one key: a delta record (or null) and the run's entries
// [from, to).
void Merger::Work::keep_versions(const Record* record, uint32_t from, uint32_t to) {
  key_versions.clear();
  Lsn newer = 0;
  bool first = true;
  const auto consider = [&](const Kept& kept) {
    // Of several writes of one transaction only the last counts, also above the view's horizon.
    const bool keep = first || (kept.cts != newer && !view->dead(kept.cts, newer));
    newer = kept.cts;
    first = false;
    if (keep) {
      key_versions.push_back(kept);
    } else if (kept.version == nullptr) {
      drop_run_entry(kept.index);
    } else if (kept.version->kind == VersionKind::kLarge) {
      note_large(kept.version->value(), false);
    }
  };
  if (record != nullptr) {
    for (uint32_t i = 0; i < record->count; ++i) consider(versions[record->first + i]);
  }
  for (uint32_t i = from; i < to; ++i)
    consider({nullptr, i, run->has_versions() ? run->entry(i).cts : 0});
  while (!key_versions.empty()) {
    const Kept& oldest = key_versions.back();
    const bool tombstone =
        oldest.version != nullptr
            ? oldest.version->kind == VersionKind::kTombstone
            : run->has_versions() && run->entry(oldest.index).kind == EntryKind::kTombstone;
    if (!tombstone) break;
    key_versions.pop_back();
  }
}

void Merger::Work::note_large(std::string_view encoded, bool keep) {
  const Result<format::LargeValue> value = format::decode_large_value(encoded);
  if (!value.ok()) return;  // checked when it was written and when the run was attached
  for (const ExtentAddress& address : value->extents)
    (keep ? large_kept : large_dropped).push_back(address);
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
    case VersionKind::kLarge:
      note_large(v->value(), true);
      builder.add_large(key, v->value(), cts, 0);
      return;
    case VersionKind::kPut:
      break;
  }
  if (!separates(key, v->size)) {
    builder.add_inline(key, v->value(), cts, 0);
    return;
  }
  builder.add_separated(key, new_extent, static_cast<uint32_t>(copied_bytes), v->size, cts, 0);
  copies.push_back({v->value().data(), v->size});
  copied_bytes += v->size;
}

// An entry of the old run, its value moved to the new extent.
void Merger::Work::emit_rewritten(std::string_view key, const Kept& kept) {
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
      return;
    }
  } else {
    const RunEntry entry = run->entry(kept.index);
    expiry = entry.expiry;
    switch (entry.kind) {
      case EntryKind::kTombstone:
        builder.add_tombstone(key, kept.cts);
        return;
      case EntryKind::kInline:
        builder.add_inline(key, entry.inline_value, cts, expiry);
        return;
      case EntryKind::kLarge:
        note_large(entry.inline_value, true);
        builder.add_large(key, entry.inline_value, cts, expiry);
        return;
      case EntryKind::kSeparated:
        extent = entry.extent;
        offset = entry.offset;
        size = entry.size;
        break;
    }
  }
  builder.add_separated(key, new_extent, static_cast<uint32_t>(copied_bytes), size, cts, expiry);
  copies.push_back({old_file->bases[extent].load(std::memory_order_acquire) + offset, size});
  copied_bytes += size;
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

// Old extents keep their numbers; the delta's values go to one more.
void Merger::Work::merge_index() {
  const uint32_t entries = run == nullptr ? 0 : run->entries();
  new_extent = static_cast<uint32_t>(old_file->values.size());
  start_piece(container->low, container->high, container->has_high);
  uint32_t next = 0;
  const auto copy_run_keys = [&](uint32_t to) {
    if (run == nullptr || next >= to) return;
    if (!run->has_versions()) {
      builder.append_range(*run, next, to, {}, floor);
      next = to;
      return;
    }
    while (next < to) {
      const uint32_t end = same_key_end(next);
      keep_versions(nullptr, next, end);
      for (const Kept& kept : key_versions) {
        max_ts = std::max(max_ts, kept.cts);
        builder.append_range(*run, kept.index, kept.index + 1, {}, floor);
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
        builder.append_range(*run, kept.index, kept.index + 1, {}, floor);
      }
    }
  }
  copy_run_keys(entries);
}

// All values are rewritten, in `pieces` runs of about equal size.
Status Merger::Work::merge_rewrite(size_t pieces, size_t total) {
  output.reclustered = run != nullptr;
  new_extent = 0;
  const size_t piece_bytes = total / pieces + 1;
  size_t piece_used = 0;
  size_t made = 0;
  const uint32_t entries = run == nullptr ? 0 : run->entries();
  uint32_t next = 0;
  size_t r = 0;
  start_piece(container->low, container->high, container->has_high && pieces == 1);
  while (next < entries || r < records.size()) {
    int order = 0;
    if (next == entries) {
      order = 1;
    } else if (r == records.size()) {
      order = -1;
    } else {
      order = run->compare(next, records[r].key, key_head(records[r].key, run->skip()));
    }
    const Record* record = order >= 0 ? &records[r] : nullptr;
    uint32_t end = next;
    if (order <= 0) end = same_key_end(next);
    const std::string_view key = record != nullptr ? record->key : run_key(next);
    keep_versions(record, next, end);
    if (!key_versions.empty() && piece_used >= piece_bytes && made + 1 < pieces) {
      if (Status s = finish_piece(false); !s.ok()) return s;
      ++made;
      piece_used = 0;
      start_piece(key, container->high, container->has_high && made + 1 == pieces);
    }
    const size_t copied_before = copied_bytes;
    for (const Kept& kept : key_versions) {
      if (kept.version != nullptr) {
        emit_version(key, kept);
      } else {
        emit_rewritten(key, kept);
      }
      piece_used += kEntryBytes + (copied_bytes > copied_before ? 0 : key.size() + 8);
      if (kept.version != nullptr && copied_bytes == copied_before)
        piece_used += kept.version->size;
    }
    piece_used += copied_bytes - copied_before;
    next = end;
    if (record != nullptr) ++r;
  }
  return finish_piece(false);
}

// The delta lies behind the run (appended keys): the run stays as it is, and new containers follow
// it.
Status Merger::Work::merge_append(size_t pieces, size_t total) {
  MergePiece left;
  left.low = container->low;
  left.unchanged_run = true;
  left.file = new RunFile;
  left.file->record = old_file->record;
  left.file->record.cut = cut;
  left.file->image = old_file->image;
  left.file->values = old_file->values;
  left.file->large = old_file->large;
  output.pieces.push_back(std::move(left));

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
      start_piece(record.key, container->high, container->has_high);
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

// ---- Pieces

// `high` bounds the piece's keys where known; a piece in the middle learns its end only when the
// next one starts, so its prefix is taken from the container.
void Merger::Work::start_piece(std::string_view low, std::string_view high, bool has_high) {
  piece_low = low;
  copies.clear();
  copied_bytes = 0;
  large_kept.clear();
  const size_t skip = has_high ? common_prefix(piece_low, high) : container->skip;
  shape.prefix = std::string_view(piece_low).substr(0, std::min<size_t>(skip, piece_low.size()));
  RunShape used = shape;
  if (used.fixed_key_size > used.prefix.size() + 8) used.fixed_key_size = 0;
  builder.start(used);
}

// An extent of `bytes` with memory and disk space; nothing is written yet.
Result<ExtentRef> Merger::Work::make_extent(size_t bytes, bool index, char** memory) {
  const auto blocks = static_cast<uint32_t>((bytes + kBlock - 1) / kBlock);
  const os::Quota quota = index ? os::Quota::kIndex : os::Quota::kValues;
  *memory = store->residency->allocate(quota, size_t{blocks} * kBlock);
  if (*memory == nullptr && size_t{blocks} * kBlock <= store->arena->budget() / 16) {
    // Everything else is held by readers. A flush gives back more than it takes, so it may go
    // beyond the budget a little.
    *memory = store->arena->allocate(quota, size_t{blocks} * kBlock, true);
  }
  if (*memory == nullptr) {
    const os::Arena& arena = *store->arena;
    return Status(StatusCode::kOutOfMemory,
                  "no memory for a flush of " + std::to_string(bytes) + " bytes: of a budget of " +
                      std::to_string(arena.budget()) + ", unflushed data holds " +
                      std::to_string(arena.used(os::Quota::kDelta)) + ", index runs " +
                      std::to_string(arena.used(os::Quota::kIndex)) + ", values " +
                      std::to_string(arena.used(os::Quota::kValues)) + ", merges " +
                      std::to_string(arena.used(os::Quota::kMerge)));
  }
  Result<ExtentAddress> address = store->space->allocate(blocks);
  if (!address.ok()) {
    store->residency->release(quota, *memory, size_t{blocks} * kBlock);
    return address.status();
  }
  auto* extent = new Extent(store->residency, *address, static_cast<uint32_t>(bytes), index);
  extent->writing.store(true, std::memory_order_relaxed);
  extent->dropped.store(
      true, std::memory_order_relaxed);  // until it is installed: a failure gives the space back
  store->residency->admit(extent, *memory);
  return ExtentRef(extent);
}

Status Merger::Work::finish_piece(bool keep_extents) {
  MergePiece piece;
  piece.low = piece_low;
  piece.file = new RunFile;
  output.pieces.push_back(std::move(piece));
  MergePiece& made = output.pieces.back();
  RunFile* file = made.file;
  format::ContainerRecord& record = file->record;
  record.tree = container->tree;
  record.low = piece_low;
  record.cut = cut;
  record.id = output.pieces.size() == 1
                  ? old_file->record.id
                  : store->next_container.fetch_add(1, std::memory_order_relaxed);
  record.max_ts = max_ts;
  record.entries = builder.entries();

  std::vector<BuiltExtent> built;
  std::vector<uint32_t> checksums;
  if (builder.entries() > 0) {
    if (keep_extents) {
      for (size_t e = 0; e < old_file->values.size(); ++e) {
        format::ValueExtentRecord value = old_file->record.values[e];
        value.garbage_bytes += garbage[e];
        built.push_back({value, run->extent_checksums(static_cast<uint32_t>(e))});
        file->values.push_back(old_file->values[e]);
        record.values.push_back(value);
      }
    }
    if (copied_bytes > 0) {
      char* memory = nullptr;
      Result<ExtentRef> extent = make_extent(copied_bytes, false, &memory);
      if (!extent.ok()) return extent.status();
      output.fresh.push_back(*extent);
      char* to = memory;
      for (size_t i = 0; i < copies.size(); ++i) {
        if (i + 8 < copies.size()) {
          for (uint32_t line = 0; line < std::min<uint32_t>(copies[i + 8].size, 512); line += 64) {
            __builtin_prefetch(copies[i + 8].from + line);
          }
        }
        std::memcpy(to, copies[i].from, copies[i].size);
        to += copies[i].size;
      }
      std::memset(to, 0, (*extent)->disk_bytes() - copied_bytes);
      for (size_t block = 0; block < (*extent)->disk_bytes(); block += kBlock) {
        checksums.push_back(block_checksum(memory + block));
      }
      const format::ValueExtentRecord value{(*extent)->address, static_cast<uint32_t>(copied_bytes),
                                            0};
      built.push_back({value, checksums});
      record.values.push_back(value);
      file->values.push_back(std::move(extent).value());
    }
    const size_t bytes = builder.image_bytes(built);
    char* memory = nullptr;
    Result<ExtentRef> image = make_extent(bytes, true, &memory);
    if (!image.ok()) return image.status();
    output.fresh.push_back(*image);
    record.run = (*image)->address;
    record.run_checksum = builder.finish(built, cut, std::min(max_ts, cut), memory);
    file->image = std::move(image).value();
    Result<std::unique_ptr<Run>> attached = Run::attach(memory, bytes, ImageSource::kBuilt);
    if (!attached.ok()) return attached.status();
    made.run = std::move(attached).value();
  }

  // Large values: those of the old run that stay, and those that come from the delta.
  std::sort(large_kept.begin(), large_kept.end());
  std::sort(large_dropped.begin(), large_dropped.end());
  if (keep_extents) {
    for (const ExtentRef& extent : old_file->large) {
      if (std::binary_search(large_dropped.begin(), large_dropped.end(), extent->address)) continue;
      file->large.push_back(extent);
    }
  }
  for (const ExtentAddress& address : large_kept) {
    const auto old =
        std::find_if(old_file->large.begin(), old_file->large.end(),
                     [&](const ExtentRef& extent) { return extent->address == address; });
    if (old != old_file->large.end()) {
      if (!keep_extents) file->large.push_back(*old);
    } else if (ExtentRef taken = store->large->take(address); taken) {
      large_refs.push_back(taken);
      file->large.push_back(std::move(taken));
    }
  }
  for (const ExtentRef& extent : file->large) record.large.push_back(extent->address);
  return {};
}

// ---------------------------------------------------------------------------------------------------------------------

Merger::Merger(Store* store) : work_(std::make_unique<Work>(store)) {}
Merger::~Merger() = default;

bool Merger::needs_io(const Container&, const Delta* delta, const RunFile& old_file,
                      const MergePolicy& policy) {
  if (old_file.empty()) return false;
  if (old_file.run.load(std::memory_order_acquire) == nullptr) return true;
  if (make_plan(delta_bytes(delta), old_file, policy).shape == Shape::kIndexOnly) return false;
  for (size_t e = 0; e < old_file.values.size(); ++e) {
    if (old_file.bases[e].load(std::memory_order_acquire) == nullptr) return true;
  }
  return false;
}

Result<MergeOutput> Merger::merge(const Container& container, const Delta* delta, RunFile* old_file,
                                  Lsn cut, const MergePolicy& policy) {
  Work& work = *work_;
  Store* store = work.store;
  store->snapshots->refresh(store->visible->load(std::memory_order_acquire));

  // Pinned, nothing of the old run can be evicted while it is read; an eviction that was under way
  // before may still take it, once.
  PinnedRunFile pinned(old_file);
  HAWTHORN_TEST_POINT("merge.after_pin");
  const Run* run = old_file->run.load(std::memory_order_acquire);
  while (!old_file->empty() && run == nullptr) {
    if (Status s = store->residency->load_run(old_file); !s.ok()) return s;
    run = old_file->run.load(std::memory_order_acquire);
  }

  PruneView view;
  {
    os::epoch::Guard guard;
    view = *store->snapshots->view();
  }
  work.container = &container;
  work.old_file = old_file;
  work.run = run;
  work.view = &view;
  work.cut = cut;
  work.floor = view.oldest();
  work.max_ts = old_file->record.max_ts;
  work.garbage.assign(old_file->values.size(), 0);
  work.large_dropped.clear();
  work.large_refs.clear();
  work.output = MergeOutput();
  work.gather(delta);
  const size_t added = work.gathered_bytes();
  Plan plan = make_plan(added, *old_file, policy);
  work.choose_shape();

  if (plan.pieces > 1 && work.run != nullptr && !work.records.empty() && !policy.recluster) {
    const std::string_view first = work.records.front().key;
    if (work.run->compare(work.run->entries() - 1, first, key_head(first, work.run->skip())) < 0 &&
        live_bytes(0, *old_file) * 2 > policy.target_bytes) {
      plan.shape = Shape::kAppend;
    }
  }

  Status status;
  switch (plan.shape) {
    case Shape::kIndexOnly:
      work.merge_index();
      status = work.finish_piece(true);
      break;
    case Shape::kRewrite:
      for (uint32_t e = 0; e < old_file->values.size() && status.ok(); ++e) {
        // Twice, as above. The file is its container's newest: what is loaded for it stays with it.
        for (int attempt = 0; attempt < 2 && status.ok(); ++attempt) {
          status = store->residency->load_values(old_file, e);
        }
        if (status.ok() && old_file->bases[e].load(std::memory_order_acquire) == nullptr) {
          status = Status(StatusCode::kOutOfMemory,
                          "a value extent could not be kept in memory for a merge");
        }
      }
      if (status.ok()) status = work.merge_rewrite(plan.pieces, live_bytes(added, *old_file));
      break;
    case Shape::kAppend: {
      status = work.merge_append(std::max<size_t>(1, added / policy.target_bytes), added);
      break;
    }
  }
  MergeOutput output = std::move(work.output);
  if (!status.ok()) {
    // Large extents go back to where they came from; everything else is given up with the output.
    for (ExtentRef& extent : work.large_refs) store->large->add(std::move(extent));
    work.large_refs.clear();
    return status;
  }

  // What the old file referred to and no piece does.
  const auto still_used = [&](const Extent* extent) {
    for (const MergePiece& piece : output.pieces) {
      if (piece.file->image.get() == extent) return true;
      for (const ExtentRef& value : piece.file->values) {
        if (value.get() == extent) return true;
      }
      for (const ExtentRef& large : piece.file->large) {
        if (large.get() == extent) return true;
      }
    }
    return false;
  };
  if (old_file->image && !still_used(old_file->image.get()))
    output.dropped.push_back(old_file->image);
  for (const ExtentRef& value : old_file->values) {
    if (!still_used(value.get())) output.dropped.push_back(value);
  }
  for (const ExtentRef& large : old_file->large) {
    if (!still_used(large.get())) output.dropped.push_back(large);
  }
  for (const ExtentAddress& address : work.large_dropped) {
    if (ExtentRef extent = store->large->take(address); extent)
      output.dropped.push_back(std::move(extent));
  }
  work.large_refs.clear();
  return output;
}

}  // namespace hawthorn::tree
