#pragma once
// An index run in memory: the immutable sorted part of a container. Search, random access,
// materialised scans.
//
// A run image is what lies on disk (format/run_layout.h): header area, index blocks, heap. A Run
// adds the resident accelerators (16-bit samples, the groups' first heads), built when the image is
// loaded or has just been built.
//
// Not here: reading images from disk (tree/container), visibility across delta and run
// (tree/container), the SIMD kernels (tree/run_search.h). Threads: immutable after construction;
// any number of readers.
//
// 1. Entries are numbered 0..entries() - 1 in key order; several versions of one key are adjacent,
// newest first.
// 2. Entry i is in group i / 16; all groups but the last are full.
// 3. Every key of the run starts with prefix() (skip() bytes) and has its head, the 8 bytes after
// them, in the group.
// 4. A location is: tag 0..13, a value of fixed_value_size bytes at that offset of value extent
// `tag`, whose key has
//    exactly fixed_key_size bytes; tag 14, the same with the value (fixed_inline_size bytes) bare
//    in the heap; tag 15, a heap record that says everything. Of wide groups, where values stand in
//    place of locations, heap() is the index, and location() says tag 14 and the value's place
//    there.
// 5. cts 0 means: older than everything that was registered when the run was built. Operands, like
// tombstones, always carry their cts.
// 6. A Run and its accelerators are one allocation; the image is not touched by searches before the
// group is known.
// 7. Without its heap (heap() == nullptr) a run tells where things lie: locate, heads_of,
// heap_range, the groups. What looks at keys behind their heads or at values is then asked of a
// copy made by with_heap, and only about entries whose records are there.
// 8. An outline is a run without its index blocks, too: header area and accelerators alone, made
// from a run or from the header area that was read by itself. It tells how its parts lie on disk,
// and in which groups a head can be; what is in them is asked of a copy made by with_groups, and
// only about groups that are there.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <string_view>

#include "base/assert.h"
#include "base/bytes.h"
#include "format/manifest_state.h"
#include "format/run_layout.h"
#include "hawthorn/db.h"
#include "hawthorn/status.h"
#include "os/arena.h"
#include "tree/run_search.h"

namespace hawthorn::tree {

using format::Lsn;

enum class EntryKind : uint8_t {
  kInline = 0,
  kSeparated = 1,
  kLarge = 2,
  kTombstone = 3,
  kOperands = 4,  // of a merge operator, for what the older versions of the key give
};
static_assert(static_cast<int>(EntryKind::kTombstone) ==
              static_cast<int>(format::RecordKind::kTombstone));

// One entry, decoded. Lifetime of the views: the run image.
struct RunEntry {
  EntryKind kind = EntryKind::kInline;
  uint32_t key_size = 0;  // the whole key
  uint64_t head = 0;
  std::string_view tail;  // key bytes after skip + 8; empty for shorter keys
  Lsn cts = 0;
  uint64_t expiry = 0;  // 0: never
  // kInline: the value; kLarge: its encoded format::LargeValue; kOperands: see format/operands.h
  std::string_view inline_value;
  uint32_t extent = 0;  // kSeparated
  uint32_t offset = 0;
  uint32_t size = 0;  // kSeparated: bytes of the value
};

// Where an image's bytes come from. Those of a disk are input: their entries are checked, too.
enum class ImageSource : uint8_t { kDisk = 0, kBuilt = 1 };

class Run {
 public:
  // Takes a view of an image that stays in memory (at a multiple of 64 bytes) as long as the Run.
  // Costs about 10 ns an entry from disk, 1 ns when this process has just built it. Errors:
  // kCorruption when the image does not hold what its header says (every field, location and record
  // is checked); kNotSupported for a newer version's; kOutOfMemory. Large tables are taken from the
  // arena, if need be beyond its budget.
  static Result<std::unique_ptr<Run>> attach(const char* image, size_t image_bytes,
                                             ImageSource source = ImageSource::kDisk,
                                             os::Arena* arena = nullptr);
  // The same where the heap lies elsewhere, or is not in memory (null; see invariant 7). `front`:
  // header area and index blocks of an image of image_bytes. `low`: a key that begins with the
  // run's prefix.
  static Result<std::unique_ptr<Run>> attach_parts(const char* front, size_t image_bytes,
                                                   const char* heap, std::string_view low,
                                                   ImageSource source = ImageSource::kDisk,
                                                   os::Arena* arena = nullptr);
  // The outline of a run whose index blocks are in memory, with a header area of its own. `arena`:
  // as for attach_parts. Null: no memory.
  static std::unique_ptr<Run> make_outline(const Run& run, os::Arena* arena = nullptr);
  // The same from the header area of an image of image_bytes that was read from disk; it is copied.
  // As it does not tell where heads tie, groups_with gives a group more for each first head, but
  // for wide groups. `low` and errors: as for attach_parts; kCorruption, too, where the area has no
  // first heads.
  static Result<std::unique_ptr<Run>> attach_outline(const char* header_area, size_t image_bytes,
                                                     std::string_view low,
                                                     os::Arena* arena = nullptr);
  // Verifies a run image read from disk against the checksum of its header area (from the manifest)
  // and its own block checksums (but for those of a packed heap, which is verified as it is
  // unpacked). `where` ("data.3 at 40960") starts the message of an error.
  static Status verify(const char* image, size_t image_bytes, uint64_t run_checksum,
                       std::string_view where);
  // The header area alone, of header_bytes.
  static Status verify_header(const char* header_area, size_t header_bytes, uint64_t run_checksum,
                              std::string_view where);
  // The same of the first front_bytes of an image.
  static Status verify_front(const char* front, size_t front_bytes, size_t image_bytes,
                             uint64_t run_checksum, std::string_view where);
  // Checks order, locations and records of all entries (attach does, too, for images from disk).
  // Errors: kCorruption.
  Status check_entries() const { return format::check_run_entries(view_); }

  uint32_t entries() const { return entries_; }
  uint32_t skip() const { return skip_; }
  std::string_view prefix() const { return {prefix_, skip_}; }
  Lsn cut() const { return view_.header->cut; }
  Lsn max_ts() const { return max_ts_; }  // largest cts that an entry of it carries or carried
  bool has_versions() const {
    return has_versions_;
  }  // some entry carries a cts > 0, or a tombstone: reads must look at timestamps
  uint64_t expiry_min() const {
    return view_.header->expiry_min;
  }  // no entry expires before; 0: none does
  bool has_operands() const { return (view_.header->features & format::kRunFeatureOperands) != 0; }
  bool has_large() const { return view_.header->large_count != 0; }  // some entry is a large value
  uint32_t fixed_key_size() const { return fixed_key_size_; }
  uint32_t fixed_value_size() const { return value_sizes_[0]; }
  uint32_t fixed_inline_size() const { return value_sizes_[1]; }
  uint32_t key_size_max() const { return view_.header->key_size_max; }  // no key is longer
  const format::RunHeader& header() const { return *view_.header; }
  size_t image_bytes() const { return view_.image_bytes; }
  const char* image() const { return view_.image; }
  size_t memory_bytes() const { return allocated_bytes_; }  // of this object and its tables
  // Of that, what nobody else counts: it is on the heap.
  size_t heap_memory_bytes() const { return arena_ == nullptr ? allocated_bytes_ : 0; }

  // The number of the first entry whose key is >= key. `head` = key_head(key, skip()); the key
  // shares prefix().
  uint32_t lower_bound(std::string_view key, uint64_t head) const;
  // The same for any key, also one that does not share prefix().
  uint32_t seek(std::string_view key) const;
  // The number of the newest entry of exactly this key with cts <= ts, or kNone. (Tombstones are
  // returned, too.)
  static constexpr uint32_t kNone = ~uint32_t{0};
  uint32_t find(std::string_view key, uint64_t head, Lsn ts) const;

  // The same as find in stages, for groups of keys: prefetch_tables; locate touches only the
  // accelerators; prefetch the group; then find_from (continues into neighbouring groups where
  // heads tie).
  static void prefetch_tables(const Run* run) {
    if (run == nullptr) return;
    for (size_t offset = 0; offset < 192; offset += 64)
      __builtin_prefetch(reinterpret_cast<const char*>(run) + offset);
  }
  uint32_t locate(uint64_t head) const { return table_.kernels.locate(table_, head); }
  // Always inline: a call of what only prefetches has no effect to g++, which leaves it out.
  [[gnu::always_inline]] void prefetch(uint32_t group) const {
    const char* at = reinterpret_cast<const char*>(&table_.group(group));
    __builtin_prefetch(at);
    __builtin_prefetch(at + 64);
    __builtin_prefetch(at + 128);
    if (table_.layout.bytes > sizeof(format::RunGroup)) __builtin_prefetch(at + 192);
  }
  uint32_t find_from(uint32_t group, std::string_view key, uint64_t head, Lsn ts) const;

  // ---- Without the heap
  struct Range {
    uint32_t begin;
    uint32_t end;
    bool empty() const { return begin == end; }
  };
  // The entries that can be of `key`, which need not share prefix(): those with its head, between
  // two separators where there are some; empty: where they would stand. Entries before are smaller
  // than the key, those behind are not. Of an outline all entries of the groups where they are or
  // would be. `group` = locate of a key that does share the prefix.
  Range range_of(std::string_view key) const;
  Range heads_from(uint32_t group, uint64_t head) const {
    return ties_of(table_.kernels.search(table_, group, head), head);
  }
  // Of those, the newest one of exactly this key with cts <= ts, or kNone.
  uint32_t find_in(Range range, std::string_view key, Lsn ts) const;
  // Of those, the first whose key is >= key.
  uint32_t lower_bound_in(Range range, std::string_view key) const;
  // Whether `at` is between two keys, as far as that is seen without records: between two heads, at
  // a separator, or anywhere in a run without old versions.
  bool between_keys(uint32_t at) const;
  // The nearest such place from `at` on (or before it).
  uint32_t boundary_from(uint32_t at) const;
  uint32_t boundary_before(uint32_t at) const;
  // The bytes of the heap that belong to entries [begin, end).
  format::HeapRange heap_range(uint32_t begin, uint32_t end) const {
    return format::heap_range(view_, begin, end);
  }
  // For with_heap where heap_range is empty: values without bytes have an address there.
  static const char* no_heap() { return ""; }
  // A copy that takes the heap to begin at `heap`, of which only the records of some entries need
  // exist, with 16 readable bytes before and behind them. Lifetime: this run's.
  Run with_heap(const char* heap) const {
    Run copy(*this);
    copy.heap_ = heap;
    copy.view_.heap = heap;
    return copy;
  }

  // ---- Without the index blocks
  bool is_outline() const { return view_.index == nullptr; }
  // The groups in which entries that can be of `key` are, or would be; it shares prefix().
  Range groups_with(std::string_view key) const;
  // As range_of, where only these groups are there; of those that groups_with says and that are not
  // there, all entries.
  Range range_in(Range there, std::string_view key) const;
  // Where groups lie in the image.
  struct Bytes {
    uint32_t begin;
    uint32_t end;
  };
  Bytes bytes_of_groups(Range groups) const;
  // A copy that takes the image's byte bytes_of_groups(groups).begin to be at `bytes`, where the
  // groups are, at the place in a 64-byte line that they have on disk. Lifetime: this run's.
  Run with_groups(Range groups, const char* bytes) const {
    Run copy(*this);
    copy.view_.index = bytes - table_.layout.offset(groups.begin);
    copy.table_.index = copy.view_.index;
    if (wide_) copy.heap_ = copy.view_.index;
    return copy;
  }
  // The first group of the index block that `group` is in, and the one behind its last.
  uint32_t block_begin(uint32_t group) const {
    return table_.layout.block_of(group) * table_.layout.per_block;
  }
  uint32_t block_end(uint32_t group) const {
    return std::min(block_begin(group) + table_.layout.per_block, table_.groups);
  }
  // Of groups in several blocks, which were read one by one: see format::check_heap_order.
  Status check_heap_order(Range groups) const {
    if (wide_) return {};
    return format::check_heap_order(view_, groups.begin * format::kGroupEntries,
                                    groups.end * format::kGroupEntries);
  }
  // Whether the groups up to groups_end tell what heap_range(range) asks.
  bool tells_heap_range(Range range, uint32_t groups_end) const;

  // A guess at the place of the values of a group's entries, without touching the group: true, and
  // where the one in its middle lies, when that is plain and separated. Values of neighbours are
  // neighbours, so that a prefetch there brings the page's translation while the group is still on
  // its way.
  bool guess_value(uint32_t group, uint32_t* extent, uint32_t* offset) const {
    const uint32_t location = middles_[group];
    *extent = format::location_tag(location);
    *offset = format::location_offset(location);
    return *extent < format::kTagPlainInline;
  }

  RunEntry entry(uint32_t index) const;
  EntryKind kind(uint32_t index) const;
  // For direct locations without decoding the rest: true and the place, when entry `index` is a
  // plain value of fixed size (tags 0 to 14). value: its address (tag 14), or extent and offset
  // with value == nullptr (tags 0 to 13).
  bool plain(uint32_t index, const char** value, uint32_t* extent, uint32_t* offset) const;
  uint32_t key_size(uint32_t index) const;
  // Writes the whole key into `to` (room for the key's size) and returns its size.
  uint32_t copy_key(uint32_t index, char* to) const;
  // Compares entry's key with a key that shares prefix(): <0, 0, >0.
  int compare(uint32_t index, std::string_view key, uint64_t head) const;
  // Whether entry `index` has exactly this key, which need not share prefix().
  bool has_key(uint32_t index, std::string_view key) const {
    return key.starts_with(prefix()) && compare(index, key, key_head(key, skip_)) == 0;
  }
  // How many keys it has whose newest version is no tombstone. Looks at all entries.
  uint32_t count_newest() const;
  // Whether entries index and index + 1 (which exist) are versions of one key.
  bool same_key_as_next(uint32_t index) const;

  // Prefetches the group of entry `index`; index may be past the end.
  void prefetch_entry(uint32_t index) const {
    if (index < entries_) prefetch(index / format::kGroupEntries);
  }
  // Prefetches the value (its first two lines) of entry `index`, whose group is already near; index
  // may be past the end.
  void prefetch_value(uint32_t index, const char* const* bases) const;

  // Fills `out` with entries [from, from + out.size()), all of which must be visible as they are
  // (has_versions() is false or the caller checked). Keys are materialised into key_buffer.
  // bases[e] is the resident address of value extent e, or nullptr. Stops before the first entry
  // that it cannot give (not resident, large, tombstone, carrying a cts or an expiry, its key
  // larger than what is left of the buffer); returns how many it filled. With key_only, values stay
  // empty and need not be resident (large ones are given, too).
  uint32_t fill(uint32_t from, std::span<Entry> out, const char* const* bases, bool key_only,
                char* key_buffer, size_t key_buffer_bytes) const;
  // A buffer of this size holds the keys of any `count` entries.
  size_t key_buffer_bytes(uint32_t count) const {
    return (size_t{std::max(key_size_max(), skip_ + 8)} + kKeySlack) * count;
  }

  // How the index blocks, the heap and the value extents lie on disk.
  format::StoredRegion index_region() const { return view_.index_region(); }
  format::StoredRegion heap_region() const { return view_.heap_region(); }
  format::StoredRegion extent_region(uint32_t extent) const { return view_.extent_region(extent); }
  format::RunFront front() const { return {view_.header->header_blocks, front_blocks()}; }
  // How many blocks of the image lie before the heap.
  uint32_t front_blocks() const { return view_.header->header_blocks + view_.header->index_blocks; }
  // What the table has for the stored blocks of value extent `extent`.
  std::span<const uint32_t> extent_checksums(uint32_t extent) const {
    return {view_.extent_words(extent), view_.table.words(extent_region(extent).stored_blocks)};
  }
  uint32_t extent_count() const { return view_.header->extent_count; }
  format::ValueExtentRecord extent_record(uint32_t extent) const;

  // A group as it is, for merges and scans.
  const format::RunGroup& group(uint32_t number) const { return table_.group(number); }
  // Whether groups are wide: of group() only the heads are, and its values begin here.
  bool wide() const { return wide_; }
  const char* wide_values(uint32_t number) const {
    return reinterpret_cast<const char*>(&table_.group(number)) + format::kWideValuesOffset;
  }
  uint32_t location(uint32_t index) const {
    HAWTHORN_ASSERT(index < entries_);
    const uint32_t slot = index % format::kGroupEntries;
    if (__builtin_expect(wide_, false)) {
      const size_t at = table_.layout.offset(index / format::kGroupEntries) +
                        format::kWideValuesOffset + size_t{slot} * value_sizes_[1];
      return format::make_location(format::kTagPlainInline, static_cast<uint32_t>(at));
    }
    return table_.group(index / format::kGroupEntries).locations[slot];
  }
  uint32_t group_count() const { return table_.groups; }
  const char* heap() const { return heap_; }
  const format::RunView& view() const { return view_; }

  static void operator delete(Run* run, std::destroying_delete_t);
  // A copy shares the tables of the original, and lives no longer.
  Run(const Run&) = default;
  Run& operator=(const Run&) = default;
  ~Run() = default;

 private:
  static constexpr size_t kKeySlack = 16;  // keys are copied in words

  Run(const format::RunView& view, std::string_view prefix, size_t allocated_bytes,
      os::Arena* arena);
  static size_t tables_end(const format::RunHeader& header);
  static std::unique_ptr<Run> outline_of(const format::RunView& view, std::string_view prefix,
                                         os::Arena* arena);
  static void* allocate(size_t bytes, os::Arena** arena);
  static void* operator new(size_t size, void* place) { return size == 0 ? nullptr : place; }

  // Fills the accelerators.
  void read_groups(uint64_t* first_heads, uint64_t* ties, uint32_t* middles) const;

  uint64_t head(uint32_t index) const {
    HAWTHORN_ASSERT(index < entries_);
    return table_.group(index / format::kGroupEntries).heads[index % format::kGroupEntries];
  }
  // The first group entry ties with the last entry of the group before, or may.
  bool tied(uint32_t group) const { return (ties_[group / 64] >> (group % 64) & 1) != 0; }

  // All entries with this head, from what the kernel found in its last group.
  Range ties_of(const GroupHit& hit, uint64_t head) const;
  void narrow(std::string_view key, Range* range) const;
  // The first of the groups before `end` whose first head is not smaller, or `end`.
  uint32_t first_group_from(uint64_t head, uint32_t end) const;
  uint32_t begin_of_tie(uint32_t group, uint64_t head) const;
  uint32_t pick(const GroupHit& hit, std::string_view key, uint64_t head, Lsn ts) const;
  // Compares keys with equal heads.
  int compare_rest(uint32_t index, std::string_view key, Lsn* cts) const;
  size_t fill_record(const char* from, Entry& entry, const char* const* bases, bool key_only,
                     char* to, size_t room) const;

  SearchTable table_;  // first: its lines are the ones that a search needs
  // A third line.
  const char* heap_ = nullptr;
  const char* prefix_ = nullptr;
  const uint64_t* ties_ = nullptr;
  const uint32_t* middles_ = nullptr;  // per group, the location of an entry in its middle
  Lsn max_ts_ = 0;
  uint32_t entries_ = 0;
  uint32_t skip_ = 0;
  uint32_t fixed_key_size_ = 0;
  uint32_t value_sizes_[2] = {};  // separated, inline
  bool has_versions_ = false;
  bool wide_ = false;
  // A fourth one.
  format::RunView view_;
  size_t allocated_bytes_ = 0;
  os::Arena* arena_ = nullptr;  // that they come from; null: small_objects, or the heap
};

// The checksum of one 4 KB block of a value extent or run.
uint32_t block_checksum(const char* block);

inline RunEntry Run::entry(uint32_t index) const {
  RunEntry entry;
  const uint32_t at = location(index);
  const uint32_t tag = format::location_tag(at);
  entry.head = head(index);
  if (tag != format::kTagRecord) {
    entry.key_size = fixed_key_size_;
    if (tag == format::kTagPlainInline) {
      entry.inline_value = std::string_view(heap_ + format::location_offset(at), value_sizes_[1]);
    } else {
      entry.kind = EntryKind::kSeparated;
      entry.extent = tag;
      entry.offset = format::location_offset(at);
      entry.size = value_sizes_[0];
    }
    return entry;
  }
  const format::HeapRecord record = format::decode_record(heap_ + format::location_offset(at));
  entry.kind = record.operands ? EntryKind::kOperands : static_cast<EntryKind>(record.kind);
  entry.key_size = skip_ + record.rest_size;
  entry.tail = record.tail;
  entry.cts = record.cts;
  entry.expiry = record.expiry;
  entry.inline_value = record.value;
  entry.extent = record.extent;
  entry.offset = record.offset;
  entry.size = record.size;
  return entry;
}

inline EntryKind Run::kind(uint32_t index) const {
  const uint32_t at = location(index);
  const uint32_t tag = format::location_tag(at);
  if (tag == format::kTagPlainInline) return EntryKind::kInline;
  if (tag != format::kTagRecord) return EntryKind::kSeparated;
  const auto flags = static_cast<uint8_t>(heap_[format::location_offset(at)]);
  if ((flags & format::kRecordHasOperands) != 0) return EntryKind::kOperands;
  return static_cast<EntryKind>(flags & format::kRecordKindMask);
}

inline bool Run::same_key_as_next(uint32_t index) const {
  if (head(index) != head(index + 1)) return false;
  // Of two versions, the newer one at least is a record; the older one may be plain.
  const RunEntry newer = entry(index);
  const RunEntry older = entry(index + 1);
  return newer.key_size == older.key_size && newer.tail == older.tail;
}

inline bool Run::plain(uint32_t index, const char** value, uint32_t* extent,
                       uint32_t* offset) const {
  const uint32_t at = location(index);
  const uint32_t tag = format::location_tag(at);
  if (tag == format::kTagRecord) return false;
  const bool in_heap = tag == format::kTagPlainInline;
  HAWTHORN_ASSERT(!in_heap || heap_ != nullptr);
  *value = in_heap ? heap_ + format::location_offset(at) : nullptr;
  *extent = tag;
  *offset = format::location_offset(at);
  return true;
}

inline uint32_t Run::key_size(uint32_t index) const {
  const uint32_t at = location(index);
  if (format::location_tag(at) != format::kTagRecord) return fixed_key_size_;
  uint32_t rest_size = 0;
  format::get_trusted_varint(heap_ + format::location_offset(at) + 1, &rest_size);
  return skip_ + rest_size;
}

inline void Run::prefetch_value(uint32_t index, const char* const* bases) const {
  if (index >= entries_) return;
  const uint32_t at = location(index);
  const uint32_t tag = format::location_tag(at);
  const char* base = tag >= format::kTagPlainInline ? heap_ : bases[tag];
  if (base == nullptr) return;
  __builtin_prefetch(base + format::location_offset(at));
  __builtin_prefetch(base + format::location_offset(at) + 64);
}

}  // namespace hawthorn::tree
