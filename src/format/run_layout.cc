#include "format/run_layout.h"

#include <algorithm>
#include <limits>

#include "base/assert.h"
#include "base/checksum.h"
#include "format/operands.h"

namespace hawthorn::format {
namespace {

Status corrupt_run(std::string what) {
  return Status(StatusCode::kCorruption, "index run: " + std::move(what));
}

constexpr uint64_t kRunFeaturesKnown = kRunFeaturePacked | kRunFeatureWide | kRunFeatureFirstHeads |
                                       kRunFeatureOperands | kRunFeatureSeparators;

Status check_features(const RunHeader& h) {
  if (h.magic != kRunMagic) return corrupt_run("the magic number is missing");
  if (h.version > kRunVersion || (h.features & ~kRunFeaturesKnown) != 0 || h.codec > kCodecLast ||
      h.cipher > 1 || h.comparator != 0) {
    return Status(StatusCode::kNotSupported,
                  "index run: written by a newer version (version " + std::to_string(h.version) +
                      ", features " + std::to_string(h.features) + ", codec " +
                      std::to_string(h.codec) + ", cipher " + std::to_string(h.cipher) +
                      ", comparator " + std::to_string(h.comparator) + ")");
  }
  if (h.version == 0 || (h.flags & ~kRunFlagPlainInline) != 0 ||
      (h.cipher == 0 && !all_zero(h.seal, sizeof h.seal)) || !all_zero(h.tag, sizeof h.tag) ||
      !all_zero(h.nonce, sizeof h.nonce) || !all_zero(h.reserved_a, sizeof h.reserved_a) ||
      !all_zero(h.reserved_b, sizeof h.reserved_b)) {
    return corrupt_run("a reserved field of the header is not zero");
  }
  return {};
}

// Each of its fields is zero, or it has a codec and is smaller for it.
bool sound_region(uint8_t codec, uint32_t dictionary, uint32_t blocks, uint32_t stored_blocks,
                  bool may_be_packed) {
  if (codec == 0) return dictionary == 0;
  return may_be_packed && codec <= kCodecLast && stored_blocks != 0 && stored_blocks < blocks;
}

Status check_sizes(const RunHeader& h, const GroupLayout& layout, size_t image_bytes) {
  const uint64_t blocks = uint64_t{h.header_blocks} + h.index_blocks + h.heap_blocks;
  if (h.entries > kRunEntriesMax || h.groups != run_group_count(h.entries) ||
      h.index_blocks != run_index_blocks(h.groups, layout) || h.heap_bytes > kLocationOffsetMax ||
      h.heap_blocks != run_heap_blocks(h.heap_bytes) || blocks * kRunBlockBytes != image_bytes) {
    return corrupt_run("the header's counts (" + std::to_string(h.entries) + " entries, " +
                       std::to_string(h.groups) + " groups, " + std::to_string(h.header_blocks) +
                       " + " + std::to_string(h.index_blocks) + " + " +
                       std::to_string(h.heap_blocks) + " blocks) do not describe " +
                       std::to_string(image_bytes) + " bytes");
  }
  if (h.skip > h.heap_bytes || h.skip > kRunKeyBytesMax || h.key_size_max > kRunKeyBytesMax ||
      (h.entries != 0 && h.key_size_max < h.skip)) {
    return corrupt_run("the key sizes in the header contradict each other");
  }
  const bool plain = h.fixed_key_size != 0;
  if (plain && (h.fixed_key_size < h.skip || h.fixed_key_size > h.skip + 8)) {
    return corrupt_run("plain keys of " + std::to_string(h.fixed_key_size) +
                       " bytes do not fit a prefix of " + std::to_string(h.skip));
  }
  const bool plain_inline = (h.flags & kRunFlagPlainInline) != 0;
  if ((!plain && (h.fixed_value_size != 0 || plain_inline)) ||
      (!plain_inline && h.fixed_inline_size != 0)) {
    return corrupt_run("the fixed sizes in the header contradict each other");
  }
  if (uint64_t{h.plain_inline_count} + h.record_count > h.entries ||
      (!plain_inline && h.plain_inline_count != 0) || h.tombstone_count > h.record_count ||
      h.timestamp_count > h.record_count || h.large_count > h.record_count || h.max_ts > h.cut) {
    return corrupt_run("the header's counts or timestamps contradict each other");
  }
  return {};
}

Status check_wide(const RunHeader& h) {
  if ((h.flags & kRunFlagPlainInline) == 0 || h.entries == 0 || h.plain_inline_count != h.entries ||
      h.record_count != 0 || h.fixed_inline_size > kWideValueBytesMax || h.heap_bytes != h.skip ||
      h.heap_blocks > kWideHeapBlocksMax || h.codec != 0 ||
      h.index_blocks > kLocationOffsetMax / kRunBlockBytes) {
    return corrupt_run("it cannot have the wide groups that its header speaks of");
  }
  return {};
}

uint32_t stored_heap_blocks(const RunHeader& h) {
  return h.codec == 0 ? h.heap_blocks : h.heap_stored_blocks;
}

uint32_t first_separator_block(const RunHeader& h) { return h.header_blocks - h.separator_blocks; }

// Of extents, table and first heads, which it finds.
Status check_header_area(const RunHeader& h, const RunExtent* extents,
                         const uint64_t** first_heads) {
  if (h.extent_count > kRunExtentsMax) {
    return corrupt_run("the header names " + std::to_string(h.extent_count) +
                       " value extents, more than " + std::to_string(kRunExtentsMax));
  }
  const bool packed = (h.features & kRunFeaturePacked) != 0;
  if (!sound_region(h.codec, h.heap_dictionary, h.heap_blocks, h.heap_stored_blocks, packed) ||
      (h.codec == 0 && h.heap_stored_blocks != 0)) {
    return corrupt_run("the header contradicts itself about how the heap is packed");
  }
  const TableShape table{h.cipher != 0};
  uint64_t words = run_image_words(h.index_blocks, h.heap_blocks, stored_heap_blocks(h), table);
  for (uint32_t i = 0; i < h.extent_count; ++i) {
    const RunExtent& e = extents[i];
    const uint32_t blocks = run_extent_blocks(e.bytes);
    if ((e.codec == 0 && blocks > e.blocks) || e.garbage_bytes > e.bytes ||
        !sound_region(e.codec, e.dictionary, blocks, e.blocks, packed) ||
        !all_zero(e.reserved, sizeof e.reserved)) {
      return corrupt_run("the header's value extent " + std::to_string(i) + " contradicts itself");
    }
    words += run_region_words(blocks, e.blocks, table);
  }
  if (!all_zero(extents + h.extent_count, (kRunExtentsMax - h.extent_count) * sizeof(RunExtent))) {
    return corrupt_run("an unused value extent of the header is not zero");
  }
  const uint32_t count = (h.features & kRunFeatureFirstHeads) != 0 ? h.groups : 0;
  if (h.header_blocks != run_header_blocks(words, count) + h.separator_blocks) {
    return corrupt_run("the header area has " + std::to_string(h.header_blocks) + " blocks for " +
                       std::to_string(words) + " checksums and ends of chunks, and " +
                       std::to_string(count) + " first heads, and " +
                       std::to_string(h.separator_blocks) + " with separators");
  }
  const char* area = reinterpret_cast<const char*>(&h);
  const size_t words_end = kRunTableOffset + 4 * words;
  const size_t heads_begin = run_first_heads_offset(words);
  const size_t heads_end = heads_begin + sizeof(uint64_t) * count;
  if (!all_zero(area + words_end, heads_begin - words_end) ||
      !all_zero(area + heads_end, first_separator_block(h) * size_t{kRunBlockBytes} - heads_end)) {
    return corrupt_run("the rest of the header area is not zero");
  }
  const auto* heads = reinterpret_cast<const uint64_t*>(area + heads_begin);
  if (!std::is_sorted(heads, heads + count)) return corrupt_run("the first heads do not ascend");
  *first_heads = count == 0 ? nullptr : heads;
  return {};
}

Status find_separators(RunView* view) {
  const RunHeader& h = *view->header;
  const bool some = (h.features & kRunFeatureSeparators) != 0;
  if (!some && h.separator_blocks == 0 && h.separator_count == 0 && h.separator_bytes == 0) {
    return {};
  }
  const size_t begin = size_t{first_separator_block(h)} * kRunBlockBytes;
  const size_t bytes = size_t{h.separator_blocks} * kRunBlockBytes;
  const uint64_t used = separators_bytes(h.separator_count, h.separator_bytes);
  if (!some || align_up(used, kRunBlockBytes) != bytes) {
    return corrupt_run("the header contradicts itself about its separators");
  }
  return parse_separators(view->image + begin, bytes, h.separator_count, h.separator_bytes,
                          h.entries, &view->separators);
}

// What the table says of the chunks.
Status check_packings(const RunView& view) {
  const StoredRegion heap = view.heap_region();
  if (heap.packed() && !valid_packing(heap.packing, heap.stored_blocks)) {
    return corrupt_run("the ends of the heap's chunks contradict each other");
  }
  for (uint32_t i = 0; i < view.header->extent_count; ++i) {
    const StoredRegion extent = view.extent_region(i);
    if (extent.packed() && !valid_packing(extent.packing, extent.stored_blocks)) {
      return corrupt_run("the ends of the chunks of value extent " + std::to_string(i) +
                         " contradict each other");
    }
  }
  return {};
}

// Walks all entries in order and compares each with its predecessor.
class EntryChecker {
 public:
  explicit EntryChecker(const RunView& view)
      : view_(view), h_(*view.header), expected_offset_(h_.skip) {}

  // What some groups tell by themselves, or all.
  Status run(uint32_t begin, uint32_t end) {
    if (begin != 0 || end != h_.groups) exact_offset_ = false;
    for (uint32_t number = begin; number < end; ++number) {
      if (Status s = check_group(number); !s.ok()) return s;
    }
    return {};
  }

  Status run() {
    if (Status s = run(0, h_.groups); !s.ok() || view_.heap == nullptr) return s;
    if (expected_offset_ != h_.heap_bytes)
      return corrupt_run("the heap holds bytes that no entry refers to");
    const size_t heap_bytes = size_t{h_.heap_blocks} * kRunBlockBytes;
    if (!all_zero(view_.heap + h_.heap_bytes, heap_bytes - h_.heap_bytes)) {
      return corrupt_run("the heap's rest is not zero");
    }
    if (separator_ != view_.separators.count) return corrupt_run("a separator is of no entry");
    if (plain_inline_count_ != h_.plain_inline_count || record_count_ != h_.record_count ||
        tombstone_count_ != h_.tombstone_count || timestamp_count_ != h_.timestamp_count ||
        large_count_ != h_.large_count) {
      return corrupt_run("the header's counts are not those of the entries");
    }
    return {};
  }

 private:
  Status bad(uint32_t index, const char* what) const {
    return corrupt_run("entry " + std::to_string(index) + " of " + std::to_string(h_.entries) +
                       ": " + what);
  }

  [[gnu::always_inline]] Status check_group(uint32_t number) {
    if (number % layout_.per_block == 0) {
      const uint32_t own = number / layout_.per_block;
      const char* at = view_.index + size_t{own} * kRunBlockBytes;
      const auto* block = reinterpret_cast<const IndexBlockHeader*>(at);
      const uint32_t groups = std::min(layout_.per_block, h_.groups - number);
      if (block->first_group != number || block->groups != groups ||
          !all_zero(block->reserved, sizeof block->reserved)) {
        return corrupt_run("index block " + std::to_string(own) + " has a wrong header");
      }
      const size_t used = sizeof(IndexBlockHeader) + size_t{groups} * layout_.bytes;
      if (!all_zero(at + used, kRunBlockBytes - used)) {
        return corrupt_run("the rest of index block " + std::to_string(own) + " is not zero");
      }
    }
    const RunGroup& group = view_.group(number);
    if (view_.first_heads != nullptr && view_.first_heads[number] != group.heads[0]) {
      return corrupt_run("the header has another first head of group " + std::to_string(number));
    }
    if (view_.wide()) return check_wide_group(number, group);
    for (uint32_t i = 0; i < kGroupEntries; ++i) {
      const uint32_t index = number * kGroupEntries + i;
      if (index >= h_.entries) {
        if (group.heads[i] != kNoHead || group.locations[i] != kNoLocation) {
          return corrupt_run("an unused entry of the last group is not marked as unused");
        }
        continue;
      }
      if (Status s = check_entry(index, group.heads[i], group.locations[i]); !s.ok()) return s;
    }
    return {};
  }

  Status check_wide_group(uint32_t number, const RunGroup& group) {
    const uint32_t first = number * kGroupEntries;
    const uint32_t count = std::min(kGroupEntries, h_.entries - first);
    for (uint32_t i = 0; i < count; ++i) {
      const uint64_t head = group.heads[i];
      if (Status s = check_padded(first + i, head, h_.fixed_key_size - h_.skip); !s.ok()) return s;
      if (first + i != 0 && head <= head_) {
        return bad(first + i, "its key is not above the one before it");
      }
      head_ = head;
    }
    plain_inline_count_ += count;
    for (uint32_t i = count; i < kGroupEntries; ++i) {
      if (group.heads[i] != kNoHead) {
        return corrupt_run("an unused entry of the last group is not marked as unused");
      }
    }
    const size_t used = kWideValuesOffset + size_t{count} * h_.fixed_inline_size;
    if (!all_zero(reinterpret_cast<const char*>(&group) + used, layout_.bytes - used)) {
      return corrupt_run("the rest of group " + std::to_string(number) + " is not zero");
    }
    return {};
  }

  Status check_padded(uint32_t index, uint64_t head, uint32_t rest_size) const {
    const bool padded = rest_size >= 8 || (rest_size == 0 ? head : head << (8 * rest_size)) == 0;
    if (!padded) return bad(index, "its head is not padded with zeros");
    if (rest_size > h_.key_size_max - h_.skip) {
      return bad(index, "its key is longer than the header says");
    }
    return {};
  }

  Status check_entry(uint32_t index, uint64_t head, uint32_t location) {
    const uint32_t tag = location_tag(location);
    const uint32_t offset = location_offset(location);
    HeapRecord record;
    if (tag == kTagRecord && view_.heap == nullptr) {
      if (offset < expected_offset_ || offset >= h_.heap_bytes) {
        return bad(index, "its record is not where it belongs in the heap");
      }
      expected_offset_ = offset + 1;
      exact_offset_ = false;
      return check_head(index, head);
    }
    if (tag == kTagRecord) {
      if (Status s = check_record(index, offset, &record); !s.ok()) return s;
    } else {
      if (h_.fixed_key_size == 0) return bad(index, "plain, but the run has no plain entries");
      record.rest_size = h_.fixed_key_size - h_.skip;
      if (tag == kTagPlainInline) {
        if ((h_.flags & kRunFlagPlainInline) == 0)
          return bad(index, "plain inline, but the run has no such entries");
        const bool in_place = exact_offset_ ? offset == expected_offset_
                                            : offset >= expected_offset_ && offset <= h_.heap_bytes;
        if (!in_place || h_.fixed_inline_size > h_.heap_bytes - offset) {
          return bad(index, "its value is not where it belongs in the heap");
        }
        expected_offset_ = offset + h_.fixed_inline_size;
        exact_offset_ = true;
        ++plain_inline_count_;
      } else if (h_.fixed_value_size == 0 || !value_fits(tag, offset, h_.fixed_value_size)) {
        return bad(index, "its value does not lie within a value extent");
      }
    }
    if (Status s = check_padded(index, head, record.rest_size); !s.ok()) return s;
    if (view_.heap == nullptr) return check_head(index, head);
    if (index != 0) {
      if (Status s = check_order(index, head, record); !s.ok()) return s;
    }
    head_ = head;
    previous_ = record;
    return {};
  }

  // All that is known of the order without the heap.
  Status check_head(uint32_t index, uint64_t head) {
    if (index != 0 && head < head_) return bad(index, "its key is below the one before it");
    head_ = head;
    return {};
  }

  Status check_record(uint32_t index, uint32_t offset, HeapRecord* record) {
    if (offset != expected_offset_ || offset >= h_.heap_bytes) {
      return bad(index, "its record is not where it belongs in the heap");
    }
    if (!decode_untrusted_record(view_.heap + offset, view_.heap + h_.heap_bytes, record)) {
      return bad(index, "its record is malformed");
    }
    expected_offset_ = static_cast<uint32_t>(record->end - view_.heap);
    ++record_count_;
    if (record->cts != 0) ++timestamp_count_;
    if (record->cts > h_.max_ts) return bad(index, "its timestamp is above that of the run");
    if (record->expiry != 0 && (h_.expiry_min == 0 || record->expiry < h_.expiry_min)) {
      return bad(index, "it expires before the run's earliest expiry");
    }
    switch (record->kind) {
      case RecordKind::kTombstone:
        ++tombstone_count_;
        break;
      case RecordKind::kSeparated:
        if (!value_fits(record->extent, record->offset, record->size)) {
          return bad(index, "its value does not lie within a value extent");
        }
        break;
      case RecordKind::kLarge:
        ++large_count_;
        if (!decode_large_value(record->value).ok())
          return bad(index, "its large value is malformed");
        break;
      case RecordKind::kInline:
        if (record->operands && (h_.features & kRunFeatureOperands) == 0) {
          return bad(index, "it has operands, and the header says that there are none");
        }
        break;
    }
    return {};
  }

  bool value_fits(uint32_t extent, uint32_t offset, uint32_t size) const {
    return extent < h_.extent_count && uint64_t{offset} + size <= view_.extents[extent].bytes;
  }

  Status check_order(uint32_t index, uint64_t head, const HeapRecord& record) {
    if (head != head_)
      return head > head_ ? Status() : bad(index, "its key is below the one before it");
    int order = previous_.tail.compare(record.tail);
    if (order == 0)
      order = previous_.rest_size < record.rest_size ? -1 : previous_.rest_size > record.rest_size;
    if (order > 0) return bad(index, "its key is below the one before it");
    if (order == 0 && previous_.cts <= record.cts) {
      return bad(index, "the same key stands before it, and that version is not newer");
    }
    return check_separator(index, record);
  }

  // Of an entry that has the head of the one before it.
  Status check_separator(uint32_t index, const HeapRecord& record) {
    const RunSeparators& all = view_.separators;
    if (separator_ == all.count || all.entries[separator_] != index) return {};
    const bool first = separator_ == 0 || all.heads[separator_ - 1] != head_;
    uint32_t shared = 0;
    const std::string_view own = all.own(separator_, &shared);
    const std::string before = std::move(separator_tail_);
    separator_tail_.assign(before, 0, shared).append(own);
    // A search relies on that it shares all that it can.
    const bool alone = first || separator_ % kSeparatorsPerRestart == 0;
    const bool most = alone ? shared == 0
                            : before < separator_tail_ && (before.size() == shared || own.empty() ||
                                                           before[shared] != own[0]);
    if (!most || all.heads[separator_] != head_ || previous_.tail >= separator_tail_ ||
        record.tail < separator_tail_) {
      return bad(index, "the separator before it is not between it and the one before");
    }
    ++separator_;
    return {};
  }

  const RunView& view_;
  const RunHeader& h_;
  const GroupLayout layout_ = view_.layout;
  uint32_t expected_offset_;  // the heap's content follows the entries' order without gaps
  bool exact_offset_ = true;  // false: without the heap, behind a record of unknown size
  uint64_t head_ = 0;
  HeapRecord previous_;
  uint32_t plain_inline_count_ = 0;
  uint32_t record_count_ = 0;
  uint32_t tombstone_count_ = 0;
  uint32_t timestamp_count_ = 0;
  uint32_t large_count_ = 0;
  uint32_t separator_ = 0;      // the next one
  std::string separator_tail_;  // all of the one before
};

}  // namespace

bool decode_untrusted_record(const char* from, const char* end, HeapRecord* record) {
  if (from >= end) return false;
  const uint8_t flags = static_cast<uint8_t>(*from);
  if ((flags & ~kRecordFlagsKnown) != 0) return false;
  *record = HeapRecord();
  record->kind = static_cast<RecordKind>(flags & kRecordKindMask);
  record->operands = (flags & kRecordHasOperands) != 0;
  if (record->operands && (record->kind != RecordKind::kInline || (flags & kRecordHasCts) == 0 ||
                           (flags & kRecordHasExpiry) != 0)) {
    return false;
  }
  from = get_varint32(from + 1, end, &record->rest_size);
  if (from == nullptr || record->rest_size > kRunKeyBytesMax) return false;
  if (record->rest_size > 8) {
    const size_t tail_size = record->rest_size - 8;
    if (tail_size > static_cast<size_t>(end - from)) return false;
    record->tail = std::string_view(from, tail_size);
    from += tail_size;
  }
  // A flag says that the number is there, and zero stands for its absence: a set flag with zero is
  // two ways to say one.
  for (const auto& [flag, field] :
       {std::pair{kRecordHasCts, &record->cts}, {kRecordHasExpiry, &record->expiry}}) {
    if ((flags & flag) == 0) continue;
    if (end - from < 8) return false;
    *field = load<uint64_t>(from);
    if (*field == 0) return false;
    from += 8;
  }
  if (record->kind == RecordKind::kSeparated) {
    if (from == end) return false;
    record->extent = static_cast<unsigned char>(*from);
    from = get_varint32(from + 1, end, &record->offset);
    if (from == nullptr) return false;
    from = get_varint32(from, end, &record->size);
    if (from == nullptr) return false;
  } else if (record->kind != RecordKind::kTombstone) {
    uint32_t size = 0;
    from = get_varint32(from, end, &size);
    if (from == nullptr || size > static_cast<size_t>(end - from)) return false;
    record->value = std::string_view(from, size);
    from += size;
    if (record->operands && !operands_are_whole(record->value)) return false;
  }
  record->end = from;
  return true;
}

Status parse_run(const char* image, size_t image_bytes, RunView* view) {
  HAWTHORN_ASSERT(reinterpret_cast<uintptr_t>(image) % 64 == 0);
  if (image_bytes < 2 * kRunBlockBytes || image_bytes % kRunBlockBytes != 0) {
    return corrupt_run("an image of " + std::to_string(image_bytes) + " bytes");
  }
  const auto* header = reinterpret_cast<const RunHeader*>(image);
  const auto* extents = reinterpret_cast<const RunExtent*>(image + kRunExtentsOffset);
  if (Status s = check_features(*header); !s.ok()) return s;
  const bool wide = (header->features & kRunFeatureWide) != 0;
  if (Status s = wide ? check_wide(*header) : Status(); !s.ok()) return s;
  view->layout = wide ? GroupLayout::wide(header->fixed_inline_size) : GroupLayout();
  if (Status s = check_sizes(*header, view->layout, image_bytes); !s.ok()) return s;
  if (Status s = check_header_area(*header, extents, &view->first_heads); !s.ok()) return s;
  view->image = image;
  view->image_bytes = image_bytes;
  view->header = header;
  view->extents = extents;
  view->table.sealed = header->cipher != 0;
  view->checksums = reinterpret_cast<const uint32_t*>(image + kRunTableOffset);
  view->index = image + size_t{header->header_blocks} * kRunBlockBytes;
  view->heap = view->index + size_t{header->index_blocks} * kRunBlockBytes;
  view->separators = {};
  if (Status s = find_separators(view); !s.ok()) return s;
  return (header->features & kRunFeaturePacked) == 0 ? Status() : check_packings(*view);
}

namespace {
// `words`: what the table has for it. `first`: blocks before it under the same seal.
StoredRegion region(uint8_t codec, uint32_t dictionary, uint32_t blocks, uint32_t stored_blocks,
                    TableShape table, const uint32_t* words, uint32_t first, const uint32_t* ends) {
  StoredRegion made{blocks, codec == 0 ? blocks : stored_blocks, {}, words};
  if (table.sealed) {
    made.seal = words;
    made.seal_first = first;
    made.checksums = words + TableShape::kSealWords + size_t{first} * TableShape::kTagWords;
  } else {
    made.checksums = words + first;
  }
  if (codec != 0) {
    made.packing = {static_cast<Codec>(codec), dictionary, blocks, {ends, chunk_count(blocks)}};
  }
  return made;
}
}  // namespace

StoredRegion RunView::index_region() const {
  const uint32_t blocks = header->index_blocks;
  return region(0, 0, blocks, blocks, table, checksums, 0, nullptr);
}

const uint32_t* RunView::extent_words(uint32_t extent) const {
  const RunHeader& h = *header;
  const uint32_t* words = checksums;
  if (h.codec == 0) {
    words += table.words(uint64_t{h.index_blocks} + h.heap_blocks);
  } else {
    words += table.words(h.index_blocks) + table.words(h.heap_stored_blocks);
  }
  for (uint32_t e = 0; e < extent; ++e) words += table.words(stored_blocks_of(e));
  return words;
}

StoredRegion RunView::heap_region() const {
  const RunHeader& h = *header;
  if (h.codec == 0) {
    return region(0, 0, h.heap_blocks, h.heap_blocks, table, checksums, h.index_blocks, nullptr);
  }
  return region(h.codec, h.heap_dictionary, h.heap_blocks, h.heap_stored_blocks, table,
                checksums + table.words(h.index_blocks), 0, extent_words(h.extent_count));
}

StoredRegion RunView::extent_region(uint32_t extent) const {
  const RunHeader& h = *header;
  const RunExtent& own = extents[extent];
  const uint32_t* ends = nullptr;
  if (own.codec != 0) {
    ends = extent_words(h.extent_count);
    if (h.codec != 0) ends += chunk_count(h.heap_blocks);
    for (uint32_t e = 0; e < extent; ++e) {
      if (extents[e].codec != 0) ends += chunk_count(run_extent_blocks(extents[e].bytes));
    }
  }
  return region(own.codec, own.dictionary, run_extent_blocks(own.bytes), own.blocks, table,
                extent_words(extent), 0, ends);
}

uint32_t RunView::stored_blocks_of(uint32_t extent) const {
  const RunExtent& e = extents[extent];
  return e.codec == 0 ? run_extent_blocks(e.bytes) : e.blocks;
}

Status check_run_entries(const RunView& view) { return EntryChecker(view).run(); }

Status check_run_groups(const RunView& view, uint32_t begin, uint32_t end) {
  HAWTHORN_ASSERT(view.heap == nullptr);
  return EntryChecker(view).run(begin, end);
}

Status check_heap_order(const RunView& view, uint32_t begin, uint32_t end) {
  uint32_t least = 0;
  for (uint32_t index = begin; index < std::min(end, view.header->entries); ++index) {
    const uint32_t at = view.group(index / kGroupEntries).locations[index % kGroupEntries];
    const uint32_t tag = location_tag(at);
    if (tag < kTagPlainInline) continue;
    if (location_offset(at) < least) {
      return corrupt_run("entry " + std::to_string(index) + " of " +
                         std::to_string(view.header->entries) +
                         ": it is not where it belongs in the heap");
    }
    least = location_offset(at) + (tag == kTagPlainInline ? view.header->fixed_inline_size : 1);
  }
  return {};
}

RunFront run_front(const ContainerRecord& record) {
  if (record.entries > std::numeric_limits<uint32_t>::max()) return {};
  const uint32_t groups = run_group_count(static_cast<uint32_t>(record.entries));
  const uint32_t first_heads = record.first_heads ? groups : 0;
  const uint32_t index = record.wide ? 0 : run_index_blocks(groups);
  const TableShape table{record.sealed()};
  uint64_t values = 0;
  for (const ValueExtentRecord& value : record.values) {
    values += run_region_words(run_extent_blocks(value.bytes), value.address.blocks, table);
  }
  // The table counts the blocks behind the header area, so one equation gives both. With wide
  // groups it has one word for each block, which of them the index is or not.
  uint32_t header = 1;
  for (;; ++header) {
    const uint64_t front = uint64_t{header} + index;
    if (front > record.run.blocks) return {};
    const auto rest = static_cast<uint32_t>(record.image_blocks() - front);
    const auto stored = static_cast<uint32_t>(record.run.blocks - front);
    const uint64_t words = run_image_words(index, rest, stored, table) + values;
    if (header == run_header_blocks(words, first_heads) + record.separator_blocks) {
      return {header, record.wide ? record.run.blocks : static_cast<uint32_t>(front)};
    }
  }
}

HeapRange heap_range(const RunView& view, uint32_t begin, uint32_t end) {
  if (view.wide()) return {};
  const RunHeader& h = *view.header;
  const auto first_from = [&](uint32_t index, uint32_t stop) {
    for (; index < stop; ++index) {
      const uint32_t at = view.group(index / kGroupEntries).locations[index % kGroupEntries];
      if (location_tag(at) >= kTagPlainInline) return location_offset(at);
    }
    return ~uint32_t{0};
  };
  HeapRange range;
  range.begin = first_from(begin, end);
  if (range.begin == ~uint32_t{0}) return {};
  range.end = std::min(first_from(end, h.entries), h.heap_bytes);
  return range;
}

Status check_run_records(const RunView& view, uint32_t begin, uint32_t end, const char* heap) {
  const HeapRange range = heap_range(view, begin, end);
  if (range.empty()) return {};
  const RunHeader& h = *view.header;
  const auto bad = [&h](uint32_t index) {
    return corrupt_run("entry " + std::to_string(index) + " of " + std::to_string(h.entries) +
                       ": its record is malformed");
  };
  for (uint32_t index = begin; index < end; ++index) {
    const uint32_t at = view.group(index / kGroupEntries).locations[index % kGroupEntries];
    if (location_tag(at) != kTagRecord) continue;
    HeapRecord record;
    if (!decode_untrusted_record(heap + location_offset(at), heap + range.end, &record) ||
        record.rest_size > h.key_size_max - h.skip || record.cts > h.max_ts) {
      return bad(index);
    }
    if (record.kind == RecordKind::kSeparated &&
        (record.extent >= h.extent_count ||
         uint64_t{record.offset} + record.size > view.extents[record.extent].bytes)) {
      return bad(index);
    }
    if (record.kind == RecordKind::kLarge && !decode_large_value(record.value).ok()) {
      return bad(index);
    }
  }
  return {};
}

}  // namespace hawthorn::format
