#pragma once
// Builds run images: entries in key order in, one image out.
//
// Not here: which versions to keep (tree/merge), where values go (tree/merge): the builder is told.
// Threads: one builder, one thread; keep one per thread and reuse it (it keeps its buffers; no
// allocation when warm).
//
// 1. Keys are added in ascending order, versions of one key newest first; all share the prefix.
// 2. add and append_range may be mixed freely.
// 3. The heap stays below 256 MB (28-bit offsets); entries below 2^31.

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "format/manifest_state.h"
#include "os/arena_block.h"
#include "tree/run.h"

namespace hawthorn::tree {

// Whether runs get separators. Tests of runs that have none clear it, before the first run.
inline bool runs_have_separators = true;

struct RunShape {
  uint64_t container = 0;
  uint32_t tree = 0;
  std::string_view prefix;         // shared by all keys; at most 64 KB
  uint32_t fixed_key_size = 0;     // for plain entries; <= prefix + 8. 0: no plain entries
  uint32_t fixed_value_size = 0;   // of plain separated values; 0: none
  uint32_t fixed_inline_size = 0;  // of plain inline values; 0 with plain_inline false
  bool plain_inline = false;
  bool wide = false;    // groups may be wide: no codec packs the heap
  bool sealed = false;  // the image will be (ImagePacker): its table has room for that
};

struct BuiltExtent {
  format::ValueExtentRecord record;
  std::span<const uint32_t> checksums;  // of its 4 KB blocks on disk; where they are sealed, the
                                        // words of the table (format::TableShape)
  format::Packing packing = {};         // codec kNone: it is not packed
};

// How the heap of the run under construction was packed.
struct PackedHeap {
  format::Packing packing = {};
  uint32_t stored_blocks = 0;
  std::span<const uint32_t> checksums;  // as those of a BuiltExtent
};

class RunBuilder {
 public:
  // Its buffers come from the arena where they are large (os/arena_block.h).
  explicit RunBuilder(os::Arena* arena = nullptr);
  ~RunBuilder();
  RunBuilder(const RunBuilder&) = delete;
  RunBuilder& operator=(const RunBuilder&) = delete;

  // The prefix is copied.
  void start(const RunShape& shape);

  // `expiry` 0: never. The value of add_separated lies at `offset` of extent number `extent` of the
  // new run.
  void add_inline(std::string_view key, std::string_view value, Lsn cts, uint64_t expiry);
  void add_separated(std::string_view key, uint32_t extent, uint32_t offset, uint32_t size, Lsn cts,
                     uint64_t expiry);
  void add_large(std::string_view key, std::string_view encoded, Lsn cts, uint64_t expiry);
  void add_tombstone(std::string_view key, Lsn cts);
  // `encoded`: as format/operands.h says; cts is not 0.
  void add_operands(std::string_view key, std::string_view encoded, Lsn cts);

  // Copies entries [from, to) of an older run; fast when it has the same prefix and fixed sizes.
  // extent_map[e] is the new number of the old run's extent e (empty, or the identity: the numbers
  // stay, the fast case). Entries keep a cts > floor, and lose smaller ones (they become 0 and,
  // where possible, plain): of one key's versions at most one may be at or below the floor (R14).
  // Tombstones are copied as they are.
  void append_range(const Run& from_run, uint32_t from, uint32_t to,
                    std::span<const uint8_t> extent_map, Lsn cts_floor);

  uint32_t entries() const { return entries_; }
  // Whether the run, finished now, has wide groups.
  bool wide() const;
  // Between two runs: the next one starts with none.
  void release_buffers() {
    separators_.release();
    heads_.release();
    locations_.release();
    heap_.release();
    key_.release();
  }
  // That its buffers take.
  size_t buffer_bytes() const {
    return heads_.bytes() + locations_.bytes() + heap_.bytes() + key_.bytes() +
           separators_.memory_bytes();
  }
  // The heap as it will stand in the image, in whole blocks; for who packs it. Valid until anything
  // is added.
  std::string_view heap();
  // The bytes of the image if it were finished now with these extents, in memory. `heap`: null when
  // it is not packed.
  size_t image_bytes(std::span<const BuiltExtent> extents, const PackedHeap* heap = nullptr);
  // Of those, the blocks of separators.
  uint32_t separator_blocks();
  // Writes the image (image_bytes, a multiple of 4 KB; `to` is 4 KB aligned) and returns the
  // checksum for the manifest. max_ts <= cut. The heap is written unpacked. Of what will be sealed
  // the words for index blocks and an unpacked heap are zeros, and the checksum means nothing yet.
  uint64_t finish(std::span<const BuiltExtent> extents, Lsn cut, Lsn max_ts, char* to,
                  const PackedHeap* heap = nullptr);

 private:
  // Memory that grows and is never initialised. Its users write only within what they reserved.
  template <typename T>
  class Buffer {
   public:
    explicit Buffer(os::Arena* arena) : arena_(arena) {}
    ~Buffer() { release(); }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    T* data() { return data_; }
    const T* data() const { return data_; }
    size_t bytes() const { return capacity_ * sizeof(T); }
    void release() {
      if (data_ == nullptr) return;
      os::release_block(arena_, os::Quota::kMerge, reinterpret_cast<char*>(data_), bytes());
      data_ = nullptr;
      capacity_ = 0;
    }
    void reserve(size_t used, size_t room) {
      if (__builtin_expect(used + room > capacity_, false)) grow(used, room);
    }

   private:
    void grow(size_t used, size_t room);
    os::Arena* const arena_;
    T* data_ = nullptr;
    size_t capacity_ = 0;
  };

  struct Counts {
    uint32_t plain_inline = 0;
    uint32_t record = 0;
    uint32_t tombstone = 0;
    uint32_t timestamp = 0;
    uint32_t large = 0;
    uint32_t operands = 0;
  };

  void push(uint64_t head, uint32_t location);
  // Reserves and writes what stands before a record's value; end_record ends it.
  char* begin_record(std::string_view key, EntryKind kind, size_t value_room, Lsn cts,
                     uint64_t expiry);
  void end_record(std::string_view key, EntryKind kind, char* end, Lsn cts, uint64_t expiry);
  void add_entry(const Run& from_run, uint32_t index, std::span<const uint8_t> extent_map,
                 Lsn cts_floor);
  // Whether entries of the run can be copied as they are, but for heads under another prefix, and
  // for cts and extents of records.
  bool same_shape(const Run& from_run) const;
  void copy_range(const Run& from_run, uint32_t from, uint32_t to,
                  std::span<const uint8_t> extent_map);
  void copy_checked(const Run& from_run, uint32_t from, uint32_t to,
                    std::span<const uint8_t> extent_map, Lsn cts_floor);
  void move_heads(const Run& from_run, uint32_t from);
  void write_header(std::span<const BuiltExtent> extents, Lsn cut, Lsn max_ts,
                    const PackedHeap* heap, char* to);
  void write_first_heads(char* to) const;
  uint32_t heap_offset_from(uint32_t index) const;
  std::string_view tail(uint32_t index) const;
  void separate(uint32_t begin, uint32_t end);
  void write_index(char* to) const;
  format::GroupLayout layout() const;
  format::TableShape table() const { return {shape_.sealed}; }
  // Of the heap in the image.
  uint32_t image_heap_bytes() const { return wide() ? skip_ : heap_bytes_; }
  void copy_wide(const Run& from_run, uint32_t from, uint32_t to);

  Buffer<uint64_t> heads_;
  Buffer<uint32_t> locations_;
  Buffer<char> heap_;
  Buffer<char> key_;  // of an entry that is added again
  uint32_t entries_ = 0;
  uint32_t heap_bytes_ = 0;
  uint32_t skip_ = 0;
  RunShape shape_;  // its prefix is a view of the heap's start: taken anew where it is needed
  Counts counts_;
  format::SeparatorWriter separators_;  // of so many entries
  uint32_t separated_entries_ = 0;
  uint32_t key_size_max_ = 0;
  uint64_t expiry_min_ = 0;
};

}  // namespace hawthorn::tree
