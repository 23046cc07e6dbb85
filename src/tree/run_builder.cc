#include "tree/run_builder.h"

#include <algorithm>

#include "base/assert.h"
#include "base/checksum.h"
#include "os/test_point.h"

namespace hawthorn::tree {

using format::kGroupEntries;
using format::kRunBlockBytes;
using format::kTagPlainInline;
using format::kTagRecord;
using format::location_offset;
using format::location_tag;
using format::make_location;
using format::RunGroup;
using format::RunHeader;

namespace {

constexpr uint32_t kInHeap = kTagPlainInline << 28;  // locations from here on point into the heap
constexpr uint32_t kIsRecord = kTagRecord << 28;

bool is_identity(std::span<const uint8_t> extent_map) {
  for (size_t e = 0; e < extent_map.size(); ++e) {
    if (extent_map[e] != e) return false;
  }
  return true;
}

}  // namespace

template <typename T>
void RunBuilder::Buffer<T>::grow(size_t used, size_t room) {
  const size_t capacity = std::max<size_t>(used + room + used / 2, 4096);
  char* bigger = os::allocate_block(arena_, os::Quota::kMerge, capacity * sizeof(T));
  if (used != 0) std::memcpy(bigger, data_, used * sizeof(T));
  release();
  data_ = reinterpret_cast<T*>(bigger);
  capacity_ = capacity;
}

RunBuilder::RunBuilder(os::Arena* arena)
    : heads_(arena), locations_(arena), heap_(arena), key_(arena) {}
RunBuilder::~RunBuilder() = default;

void RunBuilder::start(const RunShape& shape) {
  HAWTHORN_ASSERT(shape.prefix.size() <= format::kRunKeyBytesMax);
  entries_ = 0;
  heap_bytes_ = 0;
  heap_.reserve(0, shape.prefix.size() + 1);
  if (!shape.prefix.empty()) std::memcpy(heap_.data(), shape.prefix.data(), shape.prefix.size());
  heap_bytes_ = skip_ = static_cast<uint32_t>(shape.prefix.size());
  shape_ = shape;
  shape_.prefix = {};
  // Sizes that cannot occur in plain entries count as "none", so that equal runs have equal
  // headers.
  if (shape.fixed_key_size < skip_ || shape.fixed_key_size > skip_ + 8) shape_.fixed_key_size = 0;
  if (shape_.fixed_key_size == 0) {
    shape_.fixed_value_size = 0;
    shape_.plain_inline = false;
  }
  if (!shape_.plain_inline) shape_.fixed_inline_size = 0;
  counts_ = {};
  separators_.clear();
  separated_entries_ = 0;
  key_size_max_ = skip_;
  expiry_min_ = 0;
}

inline void RunBuilder::push(uint64_t head, uint32_t location) {
  heads_.reserve(entries_, 1);
  locations_.reserve(entries_, 1);
  heads_.data()[entries_] = head;
  locations_.data()[entries_] = location;
  ++entries_;
}

inline char* RunBuilder::begin_record(std::string_view key, EntryKind kind, size_t value_room,
                                      Lsn cts, uint64_t expiry) {
  const size_t rest_size = key.size() - skip_;
  heap_.reserve(heap_bytes_, 1 + 2 * kVarintBytesMax + rest_size + 16 + value_room);
  char* to = heap_.data() + heap_bytes_;
  uint8_t flags =
      kind == EntryKind::kOperands ? format::kRecordHasOperands : static_cast<uint8_t>(kind);
  if (cts != 0) flags |= format::kRecordHasCts;
  if (expiry != 0) flags |= format::kRecordHasExpiry;
  *to++ = static_cast<char>(flags);
  to = put_varint(to, rest_size);
  if (rest_size > 8) {
    std::memcpy(to, key.data() + skip_ + 8, rest_size - 8);
    to += rest_size - 8;
  }
  if (cts != 0) {
    store(to, cts);
    to += 8;
  }
  if (expiry != 0) {
    store(to, expiry);
    to += 8;
  }
  return to;
}

inline void RunBuilder::end_record(std::string_view key, EntryKind kind, char* end, Lsn cts,
                                   uint64_t expiry) {
  HAWTHORN_ASSERT(key.size() >= skip_ && key.size() <= format::kRunKeyBytesMax);
  HAWTHORN_ASSERT(key.substr(0, skip_) == std::string_view(heap_.data(), skip_));
  push(key_head(key, skip_), make_location(kTagRecord, heap_bytes_));
  heap_bytes_ = static_cast<uint32_t>(end - heap_.data());
  HAWTHORN_ASSERT(heap_bytes_ < format::kLocationOffsetMax);
  key_size_max_ = std::max(key_size_max_, static_cast<uint32_t>(key.size()));
  if (expiry != 0 && (expiry_min_ == 0 || expiry < expiry_min_)) expiry_min_ = expiry;
  ++counts_.record;
  counts_.timestamp += cts != 0;
  counts_.large += kind == EntryKind::kLarge;
  counts_.tombstone += kind == EntryKind::kTombstone;
  counts_.operands += kind == EntryKind::kOperands;
}

void RunBuilder::add_inline(std::string_view key, std::string_view value, Lsn cts,
                            uint64_t expiry) {
  if (shape_.plain_inline && key.size() == shape_.fixed_key_size &&
      value.size() == shape_.fixed_inline_size && cts == 0 && expiry == 0) {
    heap_.reserve(heap_bytes_, value.size());
    if (!value.empty()) std::memcpy(heap_.data() + heap_bytes_, value.data(), value.size());
    push(key_head(key, skip_), make_location(kTagPlainInline, heap_bytes_));
    heap_bytes_ += static_cast<uint32_t>(value.size());
    key_size_max_ = std::max(key_size_max_, shape_.fixed_key_size);
    ++counts_.plain_inline;
    return;
  }
  char* to = begin_record(key, EntryKind::kInline, value.size(), cts, expiry);
  to = put_varint(to, value.size());
  if (!value.empty()) std::memcpy(to, value.data(), value.size());
  end_record(key, EntryKind::kInline, to + value.size(), cts, expiry);
}

void RunBuilder::add_separated(std::string_view key, uint32_t extent, uint32_t offset,
                               uint32_t size, Lsn cts, uint64_t expiry) {
  HAWTHORN_ASSERT(extent < format::kRunExtentsMax);
  if (key.size() == shape_.fixed_key_size && size == shape_.fixed_value_size && size != 0 &&
      cts == 0 && expiry == 0 && offset <= format::kLocationOffsetMax) {
    push(key_head(key, skip_), make_location(extent, offset));
    key_size_max_ = std::max(key_size_max_, shape_.fixed_key_size);
    return;
  }
  char* to = begin_record(key, EntryKind::kSeparated, 1, cts, expiry);
  *to++ = static_cast<char>(extent);
  to = put_varint(to, offset);
  to = put_varint(to, size);
  end_record(key, EntryKind::kSeparated, to, cts, expiry);
}

void RunBuilder::add_large(std::string_view key, std::string_view encoded, Lsn cts,
                           uint64_t expiry) {
  char* to = begin_record(key, EntryKind::kLarge, encoded.size(), cts, expiry);
  to = put_varint(to, encoded.size());
  std::memcpy(to, encoded.data(), encoded.size());
  end_record(key, EntryKind::kLarge, to + encoded.size(), cts, expiry);
}

void RunBuilder::add_tombstone(std::string_view key, Lsn cts) {
  char* to = begin_record(key, EntryKind::kTombstone, 0, cts, 0);
  end_record(key, EntryKind::kTombstone, to, cts, 0);
}

void RunBuilder::add_operands(std::string_view key, std::string_view encoded, Lsn cts) {
  HAWTHORN_ASSERT(cts != 0);
  char* to = begin_record(key, EntryKind::kOperands, encoded.size(), cts, 0);
  to = put_varint(to, encoded.size());
  std::memcpy(to, encoded.data(), encoded.size());
  end_record(key, EntryKind::kOperands, to + encoded.size(), cts, 0);
}

void RunBuilder::add_entry(const Run& from_run, uint32_t index, std::span<const uint8_t> extent_map,
                           Lsn cts_floor) {
  const RunEntry entry = from_run.entry(index);
  key_.reserve(0, size_t{entry.key_size} + 1);  // not null, for the empty key either
  const std::string_view key(key_.data(), from_run.copy_key(index, key_.data()));
  const Lsn cts = entry.cts > cts_floor ? entry.cts : 0;
  switch (entry.kind) {
    case EntryKind::kInline:
      return add_inline(key, entry.inline_value, cts, entry.expiry);
    case EntryKind::kSeparated:
      return add_separated(key, extent_map.empty() ? entry.extent : extent_map[entry.extent],
                           entry.offset, entry.size, cts, entry.expiry);
    case EntryKind::kLarge:
      return add_large(key, entry.inline_value, cts, entry.expiry);
    case EntryKind::kTombstone:
      return add_tombstone(key, entry.cts);
    case EntryKind::kOperands:
      return add_operands(key, entry.inline_value, entry.cts);
  }
}

bool RunBuilder::same_shape(const Run& from_run) const {
  const bool plain_inline = (from_run.header().flags & format::kRunFlagPlainInline) != 0;
  return from_run.fixed_key_size() == shape_.fixed_key_size &&
         from_run.fixed_value_size() == shape_.fixed_value_size &&
         plain_inline == shape_.plain_inline &&
         from_run.fixed_inline_size() == shape_.fixed_inline_size;
}

void RunBuilder::append_range(const Run& from_run, uint32_t from, uint32_t to,
                              std::span<const uint8_t> extent_map, Lsn cts_floor) {
  HAWTHORN_ASSERT(from <= to && to <= from_run.entries());
  if (from == to) return;
  const bool same_prefix = from_run.skip() == skip_;
  if (!same_shape(from_run) || (!same_prefix && from_run.header().record_count != 0)) {
    for (uint32_t index = from; index < to; ++index) {
      add_entry(from_run, index, extent_map, cts_floor);
    }
    return;
  }
  if (is_identity(extent_map)) extent_map = {};
  const RunHeader& header = from_run.header();
  const bool checked = header.timestamp_count + header.tombstone_count + header.large_count != 0 ||
                       (!extent_map.empty() && header.record_count != 0);
  if (checked) return copy_checked(from_run, from, to, extent_map, cts_floor);
  copy_range(from_run, from, to, extent_map);
  if (!same_prefix) move_heads(from_run, entries_ - (to - from));
}

// Plain entries have their whole key in prefix and head: with another prefix only the heads change.
void RunBuilder::move_heads(const Run& from_run, uint32_t from) {
  uint64_t* heads = heads_.data();
  if (from_run.skip() < skip_) {
    const uint32_t bits = 8 * (skip_ - from_run.skip());
    for (uint32_t i = from; i < entries_; ++i) heads[i] = bits < 64 ? heads[i] << bits : 0;
    return;
  }
  const uint32_t bits = 8 * (from_run.skip() - skip_);
  const uint64_t front = key_head(from_run.prefix(), skip_);
  for (uint32_t i = from; i < entries_; ++i) heads[i] = front | (bits < 64 ? heads[i] >> bits : 0);
}

// Copies stretches as they are, and adds again what lies between them: records whose cts goes or
// whose extent has another number.
void RunBuilder::copy_checked(const Run& from_run, uint32_t from, uint32_t to,
                              std::span<const uint8_t> extent_map, Lsn cts_floor) {
  uint32_t start = from;
  Counts counts;
  for (uint32_t index = from; index < to; ++index) {
    const uint32_t location = from_run.location(index);
    if (location < kIsRecord) continue;
    const char* at = from_run.heap() + location_offset(location);
    const uint8_t flags = static_cast<uint8_t>(*at);
    const auto kind = static_cast<EntryKind>(flags & format::kRecordKindMask);
    bool again = kind == EntryKind::kSeparated && !extent_map.empty();
    const bool operands = (flags & format::kRecordHasOperands) != 0;
    if ((flags & format::kRecordHasCts) != 0 && kind != EntryKind::kTombstone && !operands) {
      again = again || format::decode_record(at).cts <= cts_floor;
    }
    if (again) {
      copy_range(from_run, start, index, extent_map);
      add_entry(from_run, index, extent_map, cts_floor);
      start = index + 1;
      continue;
    }
    counts.timestamp += (flags & format::kRecordHasCts) != 0;
    counts.tombstone += kind == EntryKind::kTombstone;
    counts.large += kind == EntryKind::kLarge;
    counts.operands += operands;
  }
  copy_range(from_run, start, to, extent_map);
  counts_.timestamp += counts.timestamp;
  counts_.tombstone += counts.tombstone;
  counts_.large += counts.large;
  counts_.operands += counts.operands;
}

void RunBuilder::copy_range(const Run& from_run, uint32_t from, uint32_t to,
                            std::span<const uint8_t> extent_map) {
  if (from == to) return;
  const uint32_t count = to - from;
  heads_.reserve(entries_, count);
  locations_.reserve(entries_, count);
  if (from_run.wide()) return copy_wide(from_run, from, to);
  uint64_t* heads = heads_.data() + entries_;
  uint32_t* locations = locations_.data() + entries_;
  for (uint32_t index = from; index < to;) {
    const RunGroup& group = from_run.group(index / kGroupEntries);
    const uint32_t first = index % kGroupEntries;
    const uint32_t n = std::min(kGroupEntries - first, to - index);
    if (n == kGroupEntries) {
      std::memcpy(heads, group.heads, sizeof group.heads);
      std::memcpy(locations, group.locations, sizeof group.locations);
    } else {
      for (uint32_t i = 0; i < n; ++i) {
        heads[i] = group.heads[first + i];
        locations[i] = group.locations[first + i];
      }
    }
    heads += n;
    locations += n;
    index += n;
  }
  locations -= count;
  entries_ += count;

  const RunHeader& header = from_run.header();
  key_size_max_ = std::max(key_size_max_, header.key_size_max);
  if (header.expiry_min != 0 && (expiry_min_ == 0 || header.expiry_min < expiry_min_)) {
    expiry_min_ = header.expiry_min;
  }
  if (header.plain_inline_count + header.record_count != 0) {
    // The heap's content stands in the order of the entries: one piece holds all of the range.
    uint32_t first = 0;
    while (first < count && locations[first] < kInHeap) ++first;
    if (first < count) {
      uint32_t last = count - 1;
      while (locations[last] < kInHeap) --last;
      const char* begin = from_run.heap() + location_offset(locations[first]);
      const char* end = from_run.heap() + location_offset(locations[last]);
      end = locations[last] < kIsRecord ? end + shape_.fixed_inline_size
                                        : format::decode_record(end).end;
      const uint32_t bytes = static_cast<uint32_t>(end - begin);
      heap_.reserve(heap_bytes_, bytes);
      if (bytes != 0) std::memcpy(heap_.data() + heap_bytes_, begin, bytes);
      const uint32_t shift = heap_bytes_ - location_offset(locations[first]);
      uint32_t in_heap = 0;
      uint32_t records = 0;
      for (uint32_t i = first; i <= last; ++i) {
        const uint32_t location = locations[i];
        in_heap += location >= kInHeap;
        records += location >= kIsRecord;
        locations[i] = location + (location >= kInHeap ? shift : 0);
      }
      counts_.record += records;
      counts_.plain_inline += in_heap - records;
      heap_bytes_ += bytes;
      HAWTHORN_ASSERT(heap_bytes_ < format::kLocationOffsetMax);
    }
  }
  if (extent_map.empty()) return;
  for (uint32_t i = 0; i < count; ++i) {
    if (locations[i] >= kInHeap) continue;
    locations[i] =
        make_location(extent_map[location_tag(locations[i])], location_offset(locations[i]));
  }
}

// There is room for heads and locations.
void RunBuilder::copy_wide(const Run& from_run, uint32_t from, uint32_t to) {
  const uint32_t count = to - from;
  const uint32_t size = shape_.fixed_inline_size;
  heap_.reserve(heap_bytes_, size_t{count} * size);
  uint64_t* heads = heads_.data() + entries_;
  uint32_t* locations = locations_.data() + entries_;
  char* values = heap_.data() + heap_bytes_;
  for (uint32_t index = from; index < to;) {
    const uint32_t number = index / kGroupEntries;
    const uint32_t first = index % kGroupEntries;
    const uint32_t n = std::min(kGroupEntries - first, to - index);
    const char* from_values = from_run.wide_values(number) + size_t{first} * size;
    std::memcpy(heads, from_run.group(number).heads + first, n * sizeof(uint64_t));
    if (size != 0) std::memcpy(values, from_values, size_t{n} * size);
    heads += n;
    values += size_t{n} * size;
    index += n;
  }
  for (uint32_t i = 0; i < count; ++i) {
    locations[i] = make_location(kTagPlainInline, heap_bytes_ + i * size);
  }
  entries_ += count;
  heap_bytes_ += count * size;
  HAWTHORN_ASSERT(heap_bytes_ < format::kLocationOffsetMax);
  counts_.plain_inline += count;
  key_size_max_ = std::max(key_size_max_, shape_.fixed_key_size);
}

bool RunBuilder::wide() const {
  if (!shape_.wide || entries_ == 0 || counts_.plain_inline != entries_ ||
      !format::worth_wide(shape_.fixed_inline_size) ||
      format::run_heap_blocks(skip_) > format::kWideHeapBlocksMax) {
    return false;
  }
  const auto wide = format::GroupLayout::wide(shape_.fixed_inline_size);
  const uint64_t index_bytes =
      uint64_t{format::run_index_blocks(format::run_group_count(entries_), wide)} * kRunBlockBytes;
  return index_bytes < format::kLocationOffsetMax;
}

format::GroupLayout RunBuilder::layout() const {
  return wide() ? format::GroupLayout::wide(shape_.fixed_inline_size) : format::GroupLayout();
}

namespace {

bool packed(const BuiltExtent& extent) { return extent.packing.codec != format::Codec::kNone; }

// On disk.
uint32_t extent_blocks(const BuiltExtent& extent) {
  return packed(extent) ? extent.record.address.blocks
                        : format::run_extent_blocks(extent.record.bytes);
}

}  // namespace

std::string_view RunBuilder::heap() {
  const size_t bytes = size_t{format::run_heap_blocks(heap_bytes_)} * kRunBlockBytes;
  if (bytes == 0) return {};
  heap_.reserve(heap_bytes_, bytes - heap_bytes_);
  std::memset(heap_.data() + heap_bytes_, 0, bytes - heap_bytes_);
  return {heap_.data(), bytes};
}

// Where what entry `index`, or the next one with anything in the heap, has there begins.
uint32_t RunBuilder::heap_offset_from(uint32_t index) const {
  for (; index < entries_; ++index) {
    const uint32_t location = locations_.data()[index];
    if (location >= kInHeap) return location_offset(location);
  }
  return heap_bytes_;
}

// The key bytes behind an entry's head.
std::string_view RunBuilder::tail(uint32_t index) const {
  const uint32_t location = locations_.data()[index];
  if (location < kIsRecord) return {};
  return format::decode_record(heap_.data() + location_offset(location)).tail;
}

// Entries [begin, end) have one head. So that a read of one looks at the blocks of its record
// alone, what lies between two separators begins and ends in one block, or is of one key.
void RunBuilder::separate(uint32_t begin, uint32_t end) {
  const auto block = [](uint32_t offset) { return offset / kRunBlockBytes; };
  uint32_t first = heap_offset_from(begin);
  if (block(first) == block(std::max(heap_offset_from(end), first + 1) - 1)) return;
  std::string_view before = tail(begin);
  for (uint32_t index = begin + 1; index < end; ++index) {
    const std::string_view own = tail(index);
    const uint32_t last = std::max(heap_offset_from(index + 1), first + 1) - 1;
    if (block(last) != block(first) && before < own) {
      separators_.add(heads_.data()[index], index, before, own);
      first = heap_offset_from(index);
    }
    before = own;
  }
}

uint32_t RunBuilder::separator_blocks() {
  if (separated_entries_ != entries_) {
    separators_.clear();
    separated_entries_ = entries_;
    const uint64_t* heads = heads_.data();
    const bool some = counts_.record != 0 && runs_have_separators;
    for (uint32_t index = 1; some && index < entries_; ++index) {
      if (heads[index] != heads[index - 1]) continue;
      const uint32_t begin = index - 1;
      while (index < entries_ && heads[index] == heads[begin]) ++index;
      separate(begin, index);
    }
  }
  const uint32_t count = separators_.count();
  return count == 0 ? 0
                    : format::run_extent_blocks(static_cast<uint32_t>(
                          format::separators_bytes(count, separators_.own_bytes())));
}

size_t RunBuilder::image_bytes(std::span<const BuiltExtent> extents, const PackedHeap* heap) {
  const uint32_t groups = format::run_group_count(entries_);
  const uint32_t index_blocks = format::run_index_blocks(groups, layout());
  const uint32_t heap_blocks = format::run_heap_blocks(image_heap_bytes());
  uint64_t words = format::run_image_words(
      index_blocks, heap_blocks, heap == nullptr ? heap_blocks : heap->stored_blocks, table());
  for (const BuiltExtent& extent : extents) {
    words += format::run_region_words(format::run_extent_blocks(extent.record.bytes),
                                      extent_blocks(extent), table());
  }
  const uint64_t header_blocks = format::run_header_blocks(words, groups) + separator_blocks();
  return (header_blocks + index_blocks + heap_blocks) * kRunBlockBytes;
}

uint64_t RunBuilder::finish(std::span<const BuiltExtent> extents, Lsn cut, Lsn max_ts, char* to,
                            const PackedHeap* packed_heap) {
  HAWTHORN_ASSERT(extents.size() <= format::kRunExtentsMax && max_ts <= cut);
  HAWTHORN_ASSERT(reinterpret_cast<uintptr_t>(to) % kRunBlockBytes == 0);
  if (wide()) HAWTHORN_TEST_POINT("run_builder.wide");
  const size_t total = image_bytes(extents, packed_heap);
  write_header(extents, cut, max_ts, packed_heap, to);
  const auto* header = reinterpret_cast<const RunHeader*>(to);
  const size_t header_bytes = size_t{header->header_blocks} * kRunBlockBytes;
  char* index = to + header_bytes;
  char* heap = index + size_t{header->index_blocks} * kRunBlockBytes;
  write_index(index);
  const size_t heap_room = size_t{header->heap_blocks} * kRunBlockBytes;
  if (heap_room != 0) {
    std::memcpy(heap, heap_.data(), header->heap_bytes);
    std::memset(heap + header->heap_bytes, 0, heap_room - header->heap_bytes);
  }
  auto* words = reinterpret_cast<uint32_t*>(to + format::kRunTableOffset);
  const auto put = [&words](std::span<const uint32_t> from) {
    words = std::copy(from.begin(), from.end(), words);
  };
  const char* const summed_end = packed_heap == nullptr ? to + total : heap;
  if (shape_.sealed) {
    words += table().words(static_cast<size_t>(summed_end - index) / kRunBlockBytes);
  } else {
    for (const char* block = index; block < summed_end; block += kRunBlockBytes) {
      *words++ = block_checksum(block);
    }
  }
  if (packed_heap != nullptr) put(packed_heap->checksums);
  for (const BuiltExtent& extent : extents) {
    const uint64_t count = table().words(extent_blocks(extent));
    HAWTHORN_ASSERT(extent.checksums.size() >= count);
    HAWTHORN_ASSERT(extent.record.address.blocks >= extent_blocks(extent));
    put(extent.checksums.first(count));
  }
  if (packed_heap != nullptr) put(packed_heap->packing.ends);
  for (const BuiltExtent& extent : extents) put(extent.packing.ends);
  write_first_heads(to + format::run_first_heads_offset(static_cast<uint64_t>(
                             words - reinterpret_cast<uint32_t*>(to + format::kRunTableOffset))));
  if (header->separator_blocks != 0) {
    separators_.write(index - size_t{header->separator_blocks} * kRunBlockBytes);
  }
  return checksum64(to, header_bytes, 0);
}

void RunBuilder::write_header(std::span<const BuiltExtent> extents, Lsn cut, Lsn max_ts,
                              const PackedHeap* heap, char* to) {
  RunHeader header{};
  header.magic = format::kRunMagic;
  header.version = format::kRunVersion;
  header.flags = shape_.plain_inline ? format::kRunFlagPlainInline : 0;
  header.container = shape_.container;
  header.tree = shape_.tree;
  header.cut = cut;
  header.max_ts = max_ts;
  header.expiry_min = expiry_min_;
  header.entries = entries_;
  header.groups = format::run_group_count(entries_);
  header.index_blocks = format::run_index_blocks(header.groups, layout());
  header.heap_bytes = image_heap_bytes();
  header.heap_blocks = format::run_heap_blocks(header.heap_bytes);
  header.header_blocks = static_cast<uint32_t>(image_bytes(extents, heap) / kRunBlockBytes) -
                         header.index_blocks - header.heap_blocks;
  header.skip = skip_;
  header.fixed_key_size = shape_.fixed_key_size;
  header.fixed_value_size = shape_.fixed_value_size;
  header.fixed_inline_size = shape_.fixed_inline_size;
  header.key_size_max = key_size_max_;
  header.plain_inline_count = counts_.plain_inline;
  header.record_count = counts_.record;
  header.tombstone_count = counts_.tombstone;
  header.timestamp_count = counts_.timestamp;
  header.large_count = counts_.large;
  header.extent_count = static_cast<uint32_t>(extents.size());
  header.cipher = shape_.sealed;
  if (heap != nullptr) {
    header.codec = static_cast<uint8_t>(heap->packing.codec);
    header.heap_dictionary = heap->packing.dictionary;
    header.heap_stored_blocks = heap->stored_blocks;
  }
  if (heap != nullptr || std::any_of(extents.begin(), extents.end(), packed)) {
    header.features = format::kRunFeaturePacked;
  }
  header.features |= format::kRunFeatureFirstHeads;
  if (wide()) header.features |= format::kRunFeatureWide;
  if (counts_.operands != 0) header.features |= format::kRunFeatureOperands;
  if (header.separator_blocks = separator_blocks(); header.separator_blocks != 0) {
    header.features |= format::kRunFeatureSeparators;
    header.separator_count = separators_.count();
    header.separator_bytes = separators_.own_bytes();
  }
  std::memset(to, 0, size_t{header.header_blocks} * kRunBlockBytes);
  std::memcpy(to, &header, sizeof header);
  auto* out = reinterpret_cast<format::RunExtent*>(to + format::kRunExtentsOffset);
  for (const BuiltExtent& extent : extents) {
    out->file = extent.record.address.file;
    out->block = extent.record.address.block;
    out->blocks = extent.record.address.blocks;
    out->bytes = extent.record.bytes;
    out->garbage_bytes = extent.record.garbage_bytes;
    out->dictionary = extent.packing.dictionary;
    out->codec = static_cast<uint8_t>(extent.packing.codec);
    ++out;
  }
}

void RunBuilder::write_first_heads(char* to) const {
  auto* heads = reinterpret_cast<uint64_t*>(to);
  if (entries_ == 0) *heads = format::kNoHead;
  for (uint32_t first = 0; first < entries_; first += kGroupEntries) {
    *heads++ = heads_.data()[first];
  }
}

void RunBuilder::write_index(char* to) const {
  const uint32_t groups = format::run_group_count(entries_);
  const format::GroupLayout at = layout();
  const bool values = wide();
  const size_t value_bytes = shape_.fixed_inline_size;
  std::memset(to, 0, size_t{format::run_index_blocks(groups, at)} * kRunBlockBytes);
  for (uint32_t g = 0; g < groups; ++g) {
    if (g % at.per_block == 0) {
      format::IndexBlockHeader block{};
      block.first_group = g;
      block.groups = std::min(at.per_block, groups - g);
      std::memcpy(to + size_t{at.block_of(g)} * kRunBlockBytes, &block, sizeof block);
    }
    char* group = to + at.offset(g);
    const uint32_t first = g * kGroupEntries;
    const uint32_t n = std::min(kGroupEntries, entries_ - first);
    RunGroup full;
    std::memset(&full, 0xff, sizeof full);
    const bool whole = n == kGroupEntries;
    if (!whole && n != 0) std::memcpy(full.heads, heads_.data() + first, n * sizeof(uint64_t));
    std::memcpy(group, whole ? heads_.data() + first : full.heads, sizeof full.heads);
    if (values) {
      const char* from = heap_.data() + skip_ + first * value_bytes;
      if (value_bytes != 0) std::memcpy(group + format::kWideValuesOffset, from, n * value_bytes);
      continue;
    }
    if (!whole && n != 0) {
      std::memcpy(full.locations, locations_.data() + first, n * sizeof(uint32_t));
    }
    std::memcpy(group + offsetof(RunGroup, locations),
                whole ? locations_.data() + first : full.locations, sizeof full.locations);
  }
}

}  // namespace hawthorn::tree
