#pragma once
// A merge under way: what merge.cc decides, this does. Entries are gathered, chosen per key and
// emitted (merge_work.cc); pieces are begun and finished with their extents (merge_pieces.cc).
//
// Not here: which shape a merge takes, and what it drops at its end (merge.cc).
// Threads: one thread; see Merger.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "format/run_layout.h"
#include "os/arena_block.h"
#include "tree/image_packer.h"
#include "tree/merge.h"
#include "tree/snapshots.h"

namespace hawthorn::tree {

// What an extent of a large value counts towards the size of its container: they lie elsewhere, but
// the manifest's record names each, and records have a limit.
inline constexpr size_t kLargeExtentBytes = 256;
inline constexpr size_t kEntryBytes = 14;  // of an index entry, with its share of headers

// Whether a value of the run under construction goes to a value extent; smaller ones stand in the
// run. Where its keys stand in the index alone and its values have one size, reads find them
// without the heap: there smaller ones go, too, so that a flush need not write them again.
inline bool separates(size_t key_size, size_t value_size, const RunShape& shape) {
  constexpr size_t kAlways = 128;
  constexpr size_t kPlain = 48;
  if (value_size < kPlain || value_size < 6 * key_size) return false;
  return value_size >= kAlways ||
         (value_size == shape.fixed_value_size && key_size == shape.fixed_key_size &&
          key_size <= shape.prefix.size() + sizeof(uint64_t));
}

// The sizes of a run's plain entries, where they are not known yet, by some of its entries.
struct EntrySizes {
  size_t key;
  size_t value;
  bool operator==(const EntrySizes&) const = default;
};
void choose_plain_sizes(std::span<const EntrySizes> samples, RunShape* shape);
inline constexpr size_t kSizeSamples = 16;

// Of a version that merge_fold.cc made: the run's operands right below it, as far as nobody reads
// them by themselves, are among its own.
inline constexpr uint8_t kTakesOperands = 4;

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
  struct RunBase;
  struct Copy {
    const char* from;
    uint32_t size;
  };

  explicit Work(Store* s)
      : store(s),
        builder(s->arena),
        image_packer(s),
        records(allocator<Record>()),
        versions(allocator<Kept>()),
        key_versions(allocator<Kept>()),
        copies(allocator<Copy>()) {}
  template <typename T>
  os::ArenaAllocator<T> allocator() const {
    return os::ArenaAllocator<T>(store->arena);
  }

  Store* store;
  RunBuilder builder;
  ImagePacker image_packer;
  os::ArenaVector<Record> records;
  os::ArenaVector<Kept> versions;
  os::ArenaVector<Kept> key_versions;
  os::ArenaVector<Copy> copies;  // values of the piece's new extent, in order
  size_t copied_bytes = 0;
  size_t old_bytes = 0;           // of the piece's versions behind each key's newest
  std::vector<uint32_t> garbage;  // per old extent, added by this merge
  uint32_t left_out = 0;          // old extents that an index-only merge does not keep: bits
  std::vector<uint8_t> kept_as;   // their new numbers, of those that it keeps
  const std::map<ExtentAddress, ExtentAddress>* moved_large = nullptr;
  std::vector<ExtentAddress> large_kept;
  std::vector<ExtentAddress> large_dropped;
  std::string key_buffer;
  std::vector<std::unique_ptr<char[]>> folded;  // versions made of operands
  size_t folded_bytes = 0;
  size_t charged_bytes = 0;  // of what a codec and folded versions have on the heap

  // Of the merge under way.
  std::span<const MergeInput> inputs;
  const Container* container = nullptr;  // this and the next two: of the input at hand
  RunFile* old_file = nullptr;
  const Run* run = nullptr;  // also where nothing of it is kept
  const MergeOperator* merge_operator = nullptr;
  std::span<const DeletedRange> deleted;  // of the input at hand, newest first
  bool saves_space = false;               // folds nothing that takes much more than its operands
  PruneView view;
  Lsn cut = 0;
  Lsn floor = 0;
  Lsn layered = format::kLsnMax;  // no tombstone from here on goes (layers.h)
  Lsn max_ts = 0;
  Compression::Plan plan;  // how what is new is packed
  RunShape shape;
  uint32_t new_extent = 0;  // its number in the piece under construction
  std::string piece_low;
  MergeOutput output;

  // In this order for each input: take, gather, fold_records of what was gathered.
  Status begin(std::span<const MergeInput> from, Lsn cut_at);
  void take(const MergeInput& input);
  bool erases(const MergeInput& input) const;
  Status load_values(uint32_t extents = ~uint32_t{0});  // bits
  void leave_behind(uint32_t extents);
  void gather(const Delta* delta);
  Status fold_records(size_t from);
  Status fold_record(Record* record);
  Status look_at_run(std::string_view key, RunBase* base);
  const Version* make_version(VersionKind kind, uint8_t flags, std::string_view value);
  Result<const Version*> make_operands(std::string_view key, uint8_t flags,
                                       std::span<const std::string_view> operands);
  void drop_folded();
  size_t gathered_bytes() const;
  size_t buffer_bytes() const;
  void release_buffers();
  // The budget learns of what does not come from the arena.
  void charge_codec();
  bool adds_extent() const;
  void choose_shape();
  bool holds_operands(const Kept& kept) const;
  void keep_versions(const Record* record, uint32_t from, uint32_t to);
  void emit_version(std::string_view key, const Kept& kept);
  // Returns the bytes of the value.
  size_t emit_rewritten(std::string_view key, const Kept& kept);
  void drop_run_entry(uint32_t index);
  void keep_shared_large(size_t from);
  void note_large(std::string_view encoded, bool keep);
  void note_moved(std::string_view encoded);
  uint32_t same_key_end(uint32_t index) const;
  std::string_view run_key(uint32_t index);
  void merge_index();
  void append_kept(uint32_t from, uint32_t to);
  bool moves(uint32_t index) const;
  std::string moved(std::string_view encoded) const;
  size_t ready_bytes(double share) const;
  Status merge_rewrite(size_t pieces, size_t total, double ready_share);
  Status merge_append(size_t pieces, size_t total);
  Status merge_join(std::span<const size_t> records_of);
  Status merge_divide(std::span<const std::string> lows);
  void keep_run(Lsn cut_at);
  template <typename Visit>
  Status each_key(size_t from, size_t to, Visit visit);
  size_t emit_key(std::string_view key);
  // `skip`: how many bytes all keys of the piece share with `low`.
  void start_piece(std::string_view low, size_t skip);
  size_t skip_from(std::string_view low) const;
  Status finish_piece(bool keep_extents);
  const ExtentRef* old_large(const ExtentAddress& address) const;
  Result<char*> take_memory(size_t bytes, bool index);
  Result<ExtentRef> make_extent(char* memory, size_t bytes, bool index, const StoredCopy& copy);
  void give_back(const StoredCopy& copy);
  Status finish_values(RunFile* file, std::vector<BuiltExtent>* built);
  Status finish_run(MergePiece* made, std::span<const BuiltExtent> built);
};

}  // namespace hawthorn::tree
