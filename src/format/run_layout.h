#pragma once
// The image of an index run as it lies on disk, and the references in it: structs, encoding,
// checks. Pure functions.
//
// Not here: searching a run (tree/run.h), building one (tree/run_builder.h), the checksums of its
// blocks (tree/run.h), how blocks are packed (packing.h). Used by tree and by the checker. Threads:
// pure functions; a RunView is an ordinary value.
//
// 1. An image is [header area][index blocks][heap], each a whole number of 4 KB blocks. On disk the
// heap may be packed, in memory it never is: the functions here see it unpacked.
// 2. The header area is RunHeader, kRunExtentsMax RunExtents (unused ones zero) and the checksum
// table: one u32 for each
//    index block, each stored heap block, and each stored block of each value extent, in this
//    order; then the ends of the chunks of the heap and of each extent, if they are packed; then,
//    at the next multiple of 8 bytes and not in images of older versions, the first head of each
//    group; then zeros; then, in blocks of their own, separators (run_separators.h).
// 3. An index block is an IndexBlockHeader and as many groups as fit, 21 RunGroups or fewer wide
// ones; groups behind the last one, and what a block has left, are zero bytes. The unused entries
// of the last group have head ~0 and location ~0, or zeros for a value. A run without entries has
// one such group.
// 4. A location is a tag (upper 4 bits) and an offset: tag 0..13 the value lies there in value
// extent `tag` and has
//    fixed_value_size bytes, the key has fixed_key_size bytes; tag 14 the same with
//    fixed_inline_size bytes in the heap; tag 15 a heap record.
// 5. The heap begins with the prefix. What belongs to the entries follows in their order without
// gaps, then at least
//    kHeapSlackBytes zeros up to the block's end, so that readers may load whole words. No content:
//    no heap blocks.
// 6. A head holds the 8 key bytes behind the prefix as a big-endian number, padded with zeros
// (base/bytes.h).
// 7. A run of which each entry is a small plain inline value may have wide groups: 16 heads, then
// in place of locations the 16 values of fixed_inline_size bytes, then zeros up to a multiple of 64
// bytes. Its heap holds the prefix alone, and is not packed. A read of it needs one block.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "format/large_value.h"
#include "format/manifest_state.h"
#include "format/packing.h"
#include "format/run_separators.h"
#include "hawthorn/status.h"

namespace hawthorn::format {

inline constexpr uint32_t kRunBlockBytes = 4096;
inline constexpr uint32_t kRunVersion = 1;
inline constexpr uint64_t kRunMagic = 0x4e55524e48545748;  // "HWTHNRUN"
inline constexpr uint32_t kGroupEntries = 16;
inline constexpr uint32_t kBlockGroups = 21;
inline constexpr uint32_t kRunExtentsMax = 14;
inline constexpr uint32_t kRunKeyBytesMax = 65535;
inline constexpr uint32_t kHeapSlackBytes = 16;

// OFFSET SIZE FIELD                RunHeader
//      0    8 magic                "HWTHNRUN"
//      8    4 version              1
//     12    4 flags                bit 0: plain inline values occur (tag 14); others zero
//     16    8 container            id in the manifest
//     24    4 tree                 id in the manifest
//     28    4 comparator           0: bytewise
//     32    8 cut                  the run reflects every version with cts <= cut and none above
//     40    8 max_ts               no larger cts is or was carried by an entry; <= cut
//     48    8 expiry_min           no entry expires before; 0: none expires
//     56    8 features             packed, wide, first heads, operands, separators; others: refused
//     64    4 entries
//     68    4 groups               max(1, entries / 16 rounded up)
//     72    4 header_blocks
//     76    4 index_blocks         groups / those that fit a block, rounded up
//     80    4 heap_blocks
//     84    4 heap_bytes           content, without the slack
//     88    4 skip                 bytes of the prefix, which stands at the start of the heap
//     92    4 fixed_key_size       of entries with tags 0 to 14; 0: there are none
//     96    4 fixed_value_size     of values with tags 0 to 13; 0: there are none
//    100    4 fixed_inline_size    of values with tag 14
//    104    4 key_size_max         no key is longer
//    108    4 plain_inline_count   entries with tag 14
//    112    4 record_count         entries with tag 15
//    116    4 tombstone_count      of the records
//    120    4 timestamp_count      records that carry a cts
//    124    4 large_count          records of large values
//    128    4 extent_count         at most 14
//    132    1 codec                of the heap; 0: none, 1: LZ4, 2: Zstd
//    133    1 cipher               1: the run is sealed; 0: it is not
//    134    2 reserved_a           zero
//    136   12 nonce                zero
//    148    4 heap_stored_blocks   on disk, when the heap has a codec; else zero
//    152    4 heap_dictionary      of Zstd; 0: none
//    156   24 seal                 of the header area behind this header; zero without a cipher
//    180   16 tag                  of that, the header counting with a tag of zeros
//    196    4 separator_blocks     the last ones of the header area; 0: there are none
//    200    4 separator_count
//    204    4 separator_bytes      of them, without their numbers
//    208   48 reserved_b           zero
struct RunHeader {
  uint64_t magic;
  uint32_t version;
  uint32_t flags;
  uint64_t container;
  uint32_t tree;
  uint32_t comparator;
  uint64_t cut;
  uint64_t max_ts;
  uint64_t expiry_min;
  uint64_t features;
  uint32_t entries;
  uint32_t groups;
  uint32_t header_blocks;
  uint32_t index_blocks;
  uint32_t heap_blocks;
  uint32_t heap_bytes;
  uint32_t skip;
  uint32_t fixed_key_size;
  uint32_t fixed_value_size;
  uint32_t fixed_inline_size;
  uint32_t key_size_max;
  uint32_t plain_inline_count;
  uint32_t record_count;
  uint32_t tombstone_count;
  uint32_t timestamp_count;
  uint32_t large_count;
  uint32_t extent_count;
  uint8_t codec;
  uint8_t cipher;
  uint8_t reserved_a[2];
  uint8_t nonce[12];
  uint32_t heap_stored_blocks;
  uint32_t heap_dictionary;
  uint8_t seal[24];
  uint8_t tag[16];
  uint32_t separator_blocks;
  uint32_t separator_count;
  uint32_t separator_bytes;
  uint8_t reserved_b[48];
};
static_assert(sizeof(RunHeader) == 256);
static_assert(offsetof(RunHeader, entries) == 64 && offsetof(RunHeader, record_count) == 112 &&
              offsetof(RunHeader, codec) == 132 && offsetof(RunHeader, heap_stored_blocks) == 148 &&
              offsetof(RunHeader, seal) == 156 && offsetof(RunHeader, separator_blocks) == 196 &&
              offsetof(RunHeader, reserved_b) == 208);
inline constexpr uint32_t kRunFlagPlainInline = 1;
inline constexpr uint64_t kRunFeaturePacked = 1;
inline constexpr uint64_t kRunFeatureWide = 2;
inline constexpr uint64_t kRunFeatureFirstHeads = 4;
inline constexpr uint64_t kRunFeatureOperands = 8;  // some records hold operands
inline constexpr uint64_t kRunFeatureSeparators = 16;

// OFFSET SIZE FIELD                RunExtent, at 256 + 32 * its number
//      0    4 file
//      4    4 block
//      8    4 blocks               on disk
//     12    4 bytes                of values in it, unpacked
//     16    4 garbage_bytes        of those, no longer referred to by this run
//     20    4 dictionary           of Zstd; 0: none
//     24    1 codec                0: none, 1: LZ4, 2: Zstd
//     25    7 reserved             zero
struct RunExtent {
  uint32_t file;
  uint32_t block;
  uint32_t blocks;
  uint32_t bytes;
  uint32_t garbage_bytes;
  uint32_t dictionary;
  uint8_t codec;
  uint8_t reserved[7];
};
static_assert(sizeof(RunExtent) == 32 && offsetof(RunExtent, garbage_bytes) == 16 &&
              offsetof(RunExtent, codec) == 24);
inline constexpr uint32_t kRunExtentsOffset = sizeof(RunHeader);
inline constexpr uint32_t kRunTableOffset = kRunExtentsOffset + kRunExtentsMax * sizeof(RunExtent);
static_assert(kRunTableOffset == 704);

// OFFSET SIZE FIELD                IndexBlockHeader
//      0    4 first_group          number of its first group
//      4    4 groups               groups in it that exist
//      8   56 reserved             zero
struct IndexBlockHeader {
  uint32_t first_group;
  uint32_t groups;
  uint8_t reserved[56];
};
static_assert(sizeof(IndexBlockHeader) == 64);

// OFFSET SIZE FIELD                RunGroup: three cache lines, the last one the locations
//      0  128 heads                16 x u64
//    128   64 locations            16 x u32
struct RunGroup {
  uint64_t heads[kGroupEntries];
  uint32_t locations[kGroupEntries];
};
static_assert(sizeof(RunGroup) == 192 && offsetof(RunGroup, locations) == 128);
static_assert(sizeof(IndexBlockHeader) + kBlockGroups * sizeof(RunGroup) == kRunBlockBytes);

// How groups lie in index blocks.
struct GroupLayout {
  // Of RunGroups.
  constexpr GroupLayout() : GroupLayout(sizeof(RunGroup)) {}
  // Of wide groups with values of so many bytes.
  static constexpr GroupLayout wide(uint32_t value_bytes) {
    return GroupLayout(
        static_cast<uint32_t>(align_up(sizeof(RunGroup::heads) + kGroupEntries * value_bytes, 64)));
  }

  // Where a group lies behind the first index block's start.
  size_t offset(uint32_t group) const {
    return sizeof(IndexBlockHeader) + size_t{bytes} * group + size_t{rest} * block_of(group);
  }
  uint32_t block_of(uint32_t group) const {
    return static_cast<uint32_t>((uint64_t{group} * reciprocal) >> 32);
  }

  uint32_t per_block;
  uint32_t bytes;       // of a group
  uint32_t rest;        // of a block: its header, and what no group fits
  uint32_t reciprocal;  // 2^32 / per_block, rounded up: exact for fewer than 2^27 groups

 private:
  explicit constexpr GroupLayout(uint32_t group_bytes)
      : per_block((kRunBlockBytes - sizeof(IndexBlockHeader)) / group_bytes),
        bytes(group_bytes),
        rest(kRunBlockBytes - per_block * group_bytes),
        reciprocal(static_cast<uint32_t>((uint64_t{1} << 32) / per_block + 1)) {}
};
static_assert(GroupLayout().per_block == kBlockGroups);

// In wide groups values are at most so long, and have sizes that take little more room there than
// beside locations.
inline constexpr uint32_t kWideValueBytesMax = 40;
// Whether that is so for values of so many bytes: at most a 16th more.
inline bool worth_wide(uint32_t value_bytes) {
  constexpr uint32_t kNarrow = kBlockGroups * kGroupEntries;
  if (value_bytes > kWideValueBytesMax) return false;
  const uint32_t entries = GroupLayout::wide(value_bytes).per_block * kGroupEntries;
  // 16 * block / entries <= 17 * (block / kNarrow + value_bytes)
  return 16 * kRunBlockBytes * kNarrow <= 17 * entries * (kRunBlockBytes + kNarrow * value_bytes);
}
// The values of a wide group stand behind its heads.
inline constexpr size_t kWideValuesOffset = sizeof(RunGroup::heads);
// Of the heap of a run with wide groups: longer prefixes are kept from it.
inline constexpr uint32_t kWideHeapBlocksMax = 1;
inline constexpr uint32_t kRunEntriesMax = (uint32_t{1} << 31) - 1;

inline constexpr uint32_t kTagPlainInline = 14;
inline constexpr uint32_t kTagRecord = 15;
inline constexpr uint32_t kLocationOffsetMax = (uint32_t{1} << 28) - 1;
inline constexpr uint64_t kNoHead = ~uint64_t{0};
inline constexpr uint32_t kNoLocation = ~uint32_t{0};
inline uint32_t make_location(uint32_t tag, uint32_t offset) { return tag << 28 | offset; }
inline uint32_t location_tag(uint32_t location) { return location >> 28; }
inline uint32_t location_offset(uint32_t location) { return location & kLocationOffsetMax; }

// A heap record: u8 flags, varint of the key bytes behind the prefix, those of them behind the
// head, u64 cts and u64 expiry when the flags say so, then by kind:
//   inline      varint size, bytes; with the operands flag, which needs a cts, the bytes are
//               operands of the tree's merge operator (operands.h), for what the older versions
//               of the key give
//   separated   u8 extent, varint offset, varint size
//   large       varint size, an encoded LargeValue
//   tombstone   nothing
inline constexpr uint8_t kRecordKindMask = 3;
inline constexpr uint8_t kRecordHasCts = 4;
inline constexpr uint8_t kRecordHasExpiry = 8;
inline constexpr uint8_t kRecordHasOperands = 16;
inline constexpr uint8_t kRecordFlagsKnown = 31;
enum class RecordKind : uint8_t { kInline = 0, kSeparated = 1, kLarge = 2, kTombstone = 3 };

struct HeapRecord {
  RecordKind kind = RecordKind::kInline;
  bool operands = false;   // of kind inline: the value is operands
  uint32_t rest_size = 0;  // key bytes behind the prefix, those in the head included
  std::string_view tail;   // key bytes behind the head
  uint64_t cts = 0;
  uint64_t expiry = 0;
  std::string_view value;  // inline: the value; large: its encoding
  uint32_t extent = 0;     // separated
  uint32_t offset = 0;
  uint32_t size = 0;
  const char* end = nullptr;  // the byte behind the record
};

// Reads a varint that is known to be whole and to fit.
inline const char* get_trusted_varint(const char* from, uint32_t* value) {
  uint32_t byte = static_cast<unsigned char>(*from++);
  uint32_t result = byte & 0x7f;
  for (int shift = 7; byte >= 0x80; shift += 7) {
    byte = static_cast<unsigned char>(*from++);
    if (shift < 32) result |= (byte & 0x7f) << shift;
  }
  *value = result;
  return from;
}

// Decodes a record that was checked, or that this process wrote.
inline HeapRecord decode_record(const char* from) {
  HeapRecord record;
  const uint8_t flags = static_cast<uint8_t>(*from);
  record.kind = static_cast<RecordKind>(flags & kRecordKindMask);
  record.operands = (flags & kRecordHasOperands) != 0;
  from = get_trusted_varint(from + 1, &record.rest_size);
  if (record.rest_size > 8) {
    record.tail = std::string_view(from, record.rest_size - 8);
    from += record.rest_size - 8;
  }
  if (flags & kRecordHasCts) {
    record.cts = load<uint64_t>(from);
    from += 8;
  }
  if (flags & kRecordHasExpiry) {
    record.expiry = load<uint64_t>(from);
    from += 8;
  }
  if (record.kind == RecordKind::kSeparated) {
    record.extent = static_cast<unsigned char>(*from);
    from = get_trusted_varint(from + 1, &record.offset);
    from = get_trusted_varint(from, &record.size);
  } else if (record.kind != RecordKind::kTombstone) {
    uint32_t size = 0;
    from = get_trusted_varint(from, &size);
    record.value = std::string_view(from, size);
    from += size;
  }
  record.end = from;
  return record;
}

// Decodes a record of unknown origin that must end at or before `end`. Whether extent, offset and
// size make sense is the caller's to check. Returns false when it is malformed.
bool decode_untrusted_record(const char* from, const char* end, HeapRecord* record);

// What the table of a header area has for blocks. Of a sealed run each sequence of blocks has a
// seal (os/data_keys.h) and then a tag for each of them; the index blocks are one with an unpacked
// heap.
struct TableShape {
  bool sealed = false;
  static constexpr uint32_t kSealWords = 6;
  static constexpr uint32_t kTagWords = 4;
  uint64_t words(uint64_t blocks) const {
    if (!sealed) return blocks;
    return blocks == 0 ? 0 : kSealWords + kTagWords * blocks;
  }
};

// How a heap or a value extent lies on disk. Lifetime: the front of the run that says so.
struct StoredRegion {
  uint32_t blocks = 0;                  // of its content
  uint32_t stored_blocks = 0;           // the same, unless it is packed
  Packing packing;                      // codec kNone: it is not
  const uint32_t* checksums = nullptr;  // of the stored blocks; where they are sealed, their tags
  const uint32_t* seal = nullptr;       // of sealed blocks
  uint32_t seal_first = 0;              // the number that the first block has under it
  bool packed() const { return packing.codec != Codec::kNone; }
};

// The places of the parts of an image. Lifetime: the image.
struct RunView {
  const char* image = nullptr;
  size_t image_bytes = 0;
  const RunHeader* header = nullptr;
  const RunExtent* extents = nullptr;
  const uint32_t* checksums = nullptr;  // index blocks, heap blocks, extents' blocks, chunks' ends
  TableShape table;
  const uint64_t* first_heads = nullptr;  // of the groups; null: the image has none
  RunSeparators separators;
  const char* index = nullptr;
  const char* heap = nullptr;
  GroupLayout layout;

  bool wide() const { return (header->features & kRunFeatureWide) != 0; }
  // Of a wide group only the heads are what this says.
  const RunGroup& group(uint32_t number) const {
    return *reinterpret_cast<const RunGroup*>(index + layout.offset(number));
  }
  StoredRegion index_region() const;
  StoredRegion heap_region() const;
  StoredRegion extent_region(uint32_t extent) const;

  // What the table has for the stored blocks of a value extent.
  const uint32_t* extent_words(uint32_t extent) const;

 private:
  uint32_t stored_blocks_of(uint32_t extent) const;
};

// What an image takes, from what is in it. All counts of blocks.
inline uint32_t run_group_count(uint32_t entries) {
  return entries == 0 ? 1 : (entries - 1) / kGroupEntries + 1;
}
inline uint32_t run_index_blocks(uint32_t groups, const GroupLayout& layout = {}) {
  return layout.block_of(groups - 1) + 1;
}
inline uint32_t run_heap_blocks(uint32_t heap_bytes) {
  return heap_bytes == 0
             ? 0
             : static_cast<uint32_t>(
                   align_up(size_t{heap_bytes} + kHeapSlackBytes, kRunBlockBytes) / kRunBlockBytes);
}
// `words`: of the checksum table and the chunks' ends.
inline uint64_t run_first_heads_offset(uint64_t words) {
  return align_up(kRunTableOffset + 4 * words, sizeof(uint64_t));
}
// `first_heads`: how many there are; 0 in images without.
inline uint64_t run_header_blocks(uint64_t words, uint32_t first_heads) {
  const uint64_t bytes = run_first_heads_offset(words) + sizeof(uint64_t) * first_heads;
  return align_up(bytes, kRunBlockBytes) / kRunBlockBytes;
}
// A region of `blocks` that is packed into `stored_blocks`, or is not.
inline uint64_t run_region_words(uint32_t blocks, uint32_t stored_blocks, TableShape table) {
  return stored_blocks < blocks ? table.words(stored_blocks) + chunk_count(blocks)
                                : table.words(blocks);
}
// Of the index blocks and the heap together.
inline uint64_t run_image_words(uint32_t index_blocks, uint32_t heap_blocks,
                                uint32_t heap_stored_blocks, TableShape table) {
  if (heap_stored_blocks >= heap_blocks) return table.words(uint64_t{index_blocks} + heap_blocks);
  return table.words(index_blocks) + run_region_words(heap_blocks, heap_stored_blocks, table);
}
inline uint32_t run_extent_blocks(uint32_t bytes) {
  return static_cast<uint32_t>(align_up(uint64_t{bytes}, kRunBlockBytes) / kRunBlockBytes);
}

// Checks that a header, found at the start of an image of `image_bytes` bytes, describes it, and
// gives the places of the parts. The image lies at a multiple of 64 bytes; of its parts only the
// header area is looked at. Errors: kCorruption; kNotSupported for what a newer version may write.
Status parse_run(const char* image, size_t image_bytes, RunView* view);

// How many of an image's blocks are its header area, and that and its index blocks, from what the
// manifest says of it: entries, run, values, wide, first_heads, separator_blocks. Zeros when that
// contradicts itself.
// With wide groups the front is all blocks: the heap is the prefix.
struct RunFront {
  uint32_t header_blocks = 0;
  uint32_t blocks = 0;
};
RunFront run_front(const ContainerRecord& record);

// Checks everything behind the header area: order and uniqueness of the keys, locations, records,
// padding, counts. With view.heap == nullptr all that can be seen without the heap. Errors:
// kCorruption.
Status check_run_entries(const RunView& view);
// The same of whole index blocks by themselves, those of groups [begin, end): all that can be seen
// without the heap and the blocks around. Errors: kCorruption.
Status check_run_groups(const RunView& view, uint32_t begin, uint32_t end);
// Of entries whose groups lie in several blocks, each of which was checked: whether what they have
// in the heap follows their order. Errors: kCorruption.
Status check_heap_order(const RunView& view, uint32_t begin, uint32_t end);

// The bytes of the heap that belong to entries [begin, end).
struct HeapRange {
  uint32_t begin = 0;
  uint32_t end = 0;
  bool empty() const { return begin == end; }
};
HeapRange heap_range(const RunView& view, uint32_t begin, uint32_t end);
// Checks the records of entries [begin, end) where only their bytes are at hand: `heap` is where
// the whole heap would begin. Errors: kCorruption.
Status check_run_records(const RunView& view, uint32_t begin, uint32_t end, const char* heap);

}  // namespace hawthorn::format
