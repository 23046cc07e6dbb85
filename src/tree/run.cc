#include "tree/run.h"

#include <algorithm>
#include <new>

#include "base/checksum.h"
#include "os/small_objects.h"

namespace hawthorn::tree {

using format::kGroupEntries;
using format::kRunBlockBytes;
using format::kTagPlainInline;
using format::kTagRecord;
using format::location_offset;
using format::location_tag;

namespace {

// Copies `size` bytes in words of 16: reads and writes up to 15 bytes more (the heap has slack
// behind its content, key buffers keep some).
inline void copy_in_words(char* to, const char* from, size_t size) {
  for (size_t i = 0; i < size; i += 16) std::memcpy(to + i, from + i, 16);
}

// Where the tables of a Run lie, behind the object. The ones of most searches come first.
struct TableOffsets {
  TableOffsets(uint32_t groups, uint32_t skip)
      : first_heads(upper + upper_bytes(groups)),
        ties(first_heads + first_heads_count(groups) * sizeof(uint64_t)),
        middles(ties + (groups / 64 + 1) * sizeof(uint64_t)),
        prefix(middles + groups * sizeof(uint32_t)),
        end(prefix + skip + kPrefixSlack) {}
  static constexpr size_t kPrefixSlack = 16;  // keys are copied in words
  size_t upper = sizeof(Run);
  size_t first_heads;
  size_t ties;
  size_t middles;
  size_t prefix;
  size_t end;
};

Status damaged(std::string_view where, std::string what) {
  return Status(StatusCode::kCorruption, std::string(where) + ": " + std::move(what));
}

}  // namespace

uint32_t block_checksum(const char* block) { return checksum32(block, kRunBlockBytes, 0); }

Status Run::verify(const char* image, size_t image_bytes, uint64_t run_checksum,
                   std::string_view where) {
  return verify_front(image, image_bytes, image_bytes, run_checksum, where);
}

Status Run::verify_header(const char* header_area, size_t header_bytes, uint64_t run_checksum,
                          std::string_view where) {
  if (header_bytes == 0 || checksum64(header_area, header_bytes, 0) != run_checksum) {
    return damaged(where, "the checksum of an index run's header is wrong");
  }
  return {};
}

Status Run::verify_front(const char* front, size_t front_bytes, size_t image_bytes,
                         uint64_t run_checksum, std::string_view where) {
  if (front_bytes < 2 * kRunBlockBytes || front_bytes > image_bytes ||
      image_bytes % kRunBlockBytes != 0 || front_bytes % kRunBlockBytes != 0) {
    return damaged(where, "an index run of " + std::to_string(image_bytes) + " bytes");
  }
  const size_t blocks = front_bytes / kRunBlockBytes;
  const uint32_t header_blocks = reinterpret_cast<const format::RunHeader*>(front)->header_blocks;
  const size_t header_bytes = header_blocks < blocks ? header_blocks * size_t{kRunBlockBytes} : 0;
  if (Status s = verify_header(front, header_bytes, run_checksum, where); !s.ok()) return s;
  // The header is what was written; it still has to describe this image before its table can be
  // used.
  format::RunView view;
  if (Status s = format::parse_run(front, image_bytes, &view); !s.ok()) {
    return Status(s.code(), std::string(where) + ": " + std::string(s.message()));
  }
  const size_t index_end = size_t{header_blocks} + view.header->index_blocks;
  if (blocks < index_end) return damaged(where, "the index of a run is longer than expected");
  // A packed heap does not stand behind the index as it was when its blocks were summed up.
  size_t summed = view.heap_region().packed() ? index_end : blocks;
  // Blocks of a sealed run have no checksums: they were verified when they were opened.
  if (view.table.sealed) summed = header_blocks;
  for (size_t block = header_blocks; block < summed; ++block) {
    if (block_checksum(front + block * kRunBlockBytes) != view.checksums[block - header_blocks]) {
      return damaged(where, std::string("the checksum of ") +
                                (block < index_end ? "index" : "heap") + " block " +
                                std::to_string(block) + " of an index run is wrong");
    }
  }
  return {};
}

Result<std::unique_ptr<Run>> Run::attach(const char* image, size_t image_bytes, ImageSource source,
                                         os::Arena* arena) {
  format::RunView view;
  if (Status s = format::parse_run(image, image_bytes, &view); !s.ok()) return s;
  return attach_parts(image, image_bytes, view.heap, {view.heap, view.header->skip}, source, arena);
}

Result<std::unique_ptr<Run>> Run::attach_parts(const char* front, size_t image_bytes,
                                               const char* heap, std::string_view low,
                                               ImageSource source, os::Arena* arena) {
  format::RunView view;
  if (Status s = format::parse_run(front, image_bytes, &view); !s.ok()) return s;
  view.heap = heap;
  const std::string_view prefix = low.substr(0, view.header->skip);
  if (prefix.size() < view.header->skip ||
      (heap != nullptr && prefix != std::string_view(heap, prefix.size()))) {
    return Status(StatusCode::kCorruption,
                  "index run: its keys' prefix is not that of its container");
  }
  if (source == ImageSource::kDisk) {
    if (Status s = format::check_run_entries(view); !s.ok()) return s;
  }
  const size_t bytes = tables_end(*view.header);
  void* place = allocate(bytes, &arena);
  if (place == nullptr)
    return Status(StatusCode::kOutOfMemory, "no memory for an index run's search tables");
  return std::unique_ptr<Run>(new (place) Run(view, prefix, bytes, arena));
}

size_t Run::tables_end(const format::RunHeader& header) {
  return align_up(TableOffsets(header.groups, header.skip).end, alignof(Run));
}

void* Run::allocate(size_t bytes, os::Arena** arena) {
  if (bytes <= os::kSmallBytesMax) *arena = nullptr;
  return *arena == nullptr ? os::allocate_small(bytes)
                           : (*arena)->allocate(os::Quota::kIndex, bytes, true);
}

std::unique_ptr<Run> Run::make_outline(const Run& run, os::Arena* arena) {
  return outline_of(run.view(), run.prefix(), arena);
}

Result<std::unique_ptr<Run>> Run::attach_outline(const char* header_area, size_t image_bytes,
                                                 std::string_view low, os::Arena* arena) {
  format::RunView view;
  if (Status s = format::parse_run(header_area, image_bytes, &view); !s.ok()) return s;
  const std::string_view prefix = low.substr(0, view.header->skip);
  if (view.first_heads == nullptr || prefix.size() < view.header->skip) {
    return Status(StatusCode::kCorruption,
                  "index run: its header area is not what the manifest says");
  }
  view.index = nullptr;
  std::unique_ptr<Run> outline = outline_of(view, prefix, arena);
  if (outline == nullptr) {
    return Status(StatusCode::kOutOfMemory, "no memory for an index run's search tables");
  }
  return outline;
}

// Of the header area it needs what stands before the first heads.
std::unique_ptr<Run> Run::outline_of(const format::RunView& view, std::string_view prefix,
                                     os::Arena* arena) {
  const size_t tables = tables_end(*view.header);
  const size_t header_bytes =
      view.first_heads != nullptr
          ? static_cast<size_t>(reinterpret_cast<const char*>(view.first_heads) - view.image)
          : size_t{view.header->header_blocks} * kRunBlockBytes;
  // Behind it, at a multiple of 8, the separators.
  const size_t separators_begin = align_up(header_bytes, sizeof(uint64_t));
  const size_t separators_bytes = format::separators_bytes(view.separators);
  const size_t bytes = tables + separators_begin + separators_bytes;
  void* place = allocate(bytes, &arena);
  if (place == nullptr) return nullptr;
  std::unique_ptr<Run> outline(new (place) Run(view, prefix, bytes, arena));
  char* header = static_cast<char*>(place) + tables;
  std::memcpy(header, view.image, header_bytes);
  format::RunView& own = outline->view_;
  own.image = header;
  own.header = reinterpret_cast<const format::RunHeader*>(header);
  own.extents = reinterpret_cast<const format::RunExtent*>(header + format::kRunExtentsOffset);
  own.checksums = reinterpret_cast<const uint32_t*>(header + format::kRunTableOffset);
  if (separators_bytes != 0) {
    std::memcpy(header + separators_begin, view.separators.heads, separators_bytes);
    own.separators = view.separators.moved(header + separators_begin);
  }
  own.first_heads = nullptr;
  own.index = nullptr;
  own.heap = nullptr;
  outline->table_.index = nullptr;
  outline->heap_ = nullptr;
  return outline;
}

void Run::operator delete(Run* run, std::destroying_delete_t) {
  const size_t bytes = run->allocated_bytes_;
  os::Arena* const arena = run->arena_;
  run->~Run();
  if (arena == nullptr) {
    os::release_small(run, bytes);
  } else {
    arena->release(os::Quota::kIndex, reinterpret_cast<char*>(run), bytes);
  }
}

Run::Run(const format::RunView& view, std::string_view prefix, size_t allocated_bytes,
         os::Arena* arena)
    : heap_(view.wide() ? view.index : view.heap),
      max_ts_(view.header->max_ts),
      entries_(view.header->entries),
      skip_(view.header->skip),
      fixed_key_size_(view.header->fixed_key_size),
      value_sizes_{view.header->fixed_value_size, view.header->fixed_inline_size},
      has_versions_(view.header->timestamp_count + view.header->tombstone_count != 0),
      wide_(view.wide()),
      view_(view),
      allocated_bytes_(allocated_bytes),
      arena_(arena) {
  const uint32_t groups = view.header->groups;
  const TableOffsets offsets(groups, skip_);
  char* base = reinterpret_cast<char*>(this);
  auto* first_heads = reinterpret_cast<uint64_t*>(base + offsets.first_heads);
  auto* ties = reinterpret_cast<uint64_t*>(base + offsets.ties);
  auto* middles = reinterpret_cast<uint32_t*>(base + offsets.middles);
  std::memcpy(base + offsets.prefix, prefix.data(), prefix.size());
  std::memset(base + offsets.prefix + prefix.size(), 0, TableOffsets::kPrefixSlack);
  prefix_ = base + offsets.prefix;
  table_.index = view.index;
  table_.layout = view.layout;
  table_.kernels = search_kernels();
  if (view.index != nullptr) {
    read_groups(first_heads, ties, middles);
  } else {
    std::copy_n(view.first_heads, groups, first_heads);
    // Keys of wide groups differ in their heads.
    std::fill_n(ties, groups / 64 + 1, wide_ ? 0 : ~uint64_t{0});
    std::fill_n(middles, groups, format::kNoLocation);
  }
  ties_ = ties;
  middles_ = middles;
  build_search_table(table_, groups, first_heads, base + offsets.upper);
}

void Run::read_groups(uint64_t* first_heads, uint64_t* ties, uint32_t* middles) const {
  const uint32_t groups = view_.header->groups;
  std::fill_n(ties, groups / 64 + 1, 0);
  uint64_t last = 0;
  for (uint32_t g = 0; g < groups; ++g) {
    const format::RunGroup& group = view_.group(g);
    first_heads[g] = group.heads[0];
    if (g != 0 && last == group.heads[0]) ties[g / 64] |= uint64_t{1} << (g % 64);
    last = group.heads[kGroupEntries - 1];
    const uint32_t count =
        std::min(kGroupEntries, entries_ - std::min(entries_, g * kGroupEntries));
    middles[g] = wide_ ? format::kNoLocation : group.locations[count / 2];
  }
}

uint32_t Run::first_group_from(uint64_t head, uint32_t end) const {
  const uint64_t* heads = table_.first_heads;
  return static_cast<uint32_t>(std::lower_bound(heads, heads + end, head) - heads);
}

uint32_t Run::begin_of_tie(uint32_t group, uint64_t head) const {
  const uint32_t first_group = first_group_from(head, group);
  if (first_group == 0 || !tied(first_group)) return first_group * kGroupEntries;
  return (first_group - 1) * kGroupEntries +
         table_.kernels.search(table_, first_group - 1, head).below;
}

Run::Range Run::ties_of(const GroupHit& hit, uint64_t head) const {
  const uint32_t start = hit.group * kGroupEntries;
  Range range{start + hit.below, std::min(start + hit.below + hit.equal, entries_)};
  if (__builtin_expect(hit.below == 0 && hit.equal != 0 && tied(hit.group), false)) {
    range.begin = begin_of_tie(hit.group, head);
  }
  range.begin = std::min(range.begin, range.end);
  return range;
}

namespace {

// The last `size` bytes (up to 8) of what ends at `end`, as a big-endian number padded with zeros.
// Loads 8 bytes that end there: a key with a tail has as many, and so has the heap but at its
// start.
inline uint64_t tail_head(const char* end, size_t size) {
  return size == 0 ? 0 : __builtin_bswap64(load<uint64_t>(end - 8)) << (64 - 8 * size);
}

// Compares what stands behind equal heads: `a_rest` and `b_rest` key bytes behind the prefix, the
// tails ending at a_end and b_end.
inline int compare_tails(const char* a_end, size_t a_rest, const char* b_end, size_t b_rest) {
  const size_t a_size = a_rest > 8 ? a_rest - 8 : 0;
  const size_t b_size = b_rest > 8 ? b_rest - 8 : 0;
  if (__builtin_expect(a_size <= 8 && b_size <= 8, true)) {
    const uint64_t a = tail_head(a_end, a_size);
    const uint64_t b = tail_head(b_end, b_size);
    if (a != b) return a < b ? -1 : 1;
  } else {
    const int order = std::memcmp(a_end - a_size, b_end - b_size, std::min(a_size, b_size));
    if (order != 0) return order;
  }
  return a_rest < b_rest ? -1 : a_rest > b_rest;
}

}  // namespace

inline int Run::compare_rest(uint32_t index, std::string_view key, Lsn* cts) const {
  const uint32_t at = location(index);
  if (location_tag(at) != kTagRecord) {
    *cts = 0;
    return fixed_key_size_ < key.size() ? -1 : fixed_key_size_ > key.size();
  }
  const char* from = heap_ + location_offset(at);
  const uint8_t flags = static_cast<uint8_t>(*from);
  uint32_t rest_size = 0;
  from = format::get_trusted_varint(from + 1, &rest_size);
  const char* end = from + (rest_size > 8 ? rest_size - 8 : 0);
  *cts = (flags & format::kRecordHasCts) != 0 ? load<Lsn>(end) : 0;
  if (__builtin_expect(location_offset(at) < sizeof(uint64_t), false)) {
    // Nothing may stand before the heap.
    const std::string_view own(from, static_cast<size_t>(end - from));
    const size_t rest = key.size() - skip_;
    const int order = own.compare(rest > 8 ? key.substr(skip_ + 8) : std::string_view());
    return order != 0 ? order : rest_size < rest ? -1 : rest_size > rest;
  }
  return compare_tails(end, rest_size, key.data() + key.size(), key.size() - skip_);
}

int Run::compare(uint32_t index, std::string_view key, uint64_t head) const {
  const uint64_t own = this->head(index);
  if (own != head) return own < head ? -1 : 1;
  Lsn cts;
  return compare_rest(index, key, &cts);
}

uint32_t Run::lower_bound_in(Range range, std::string_view key) const {
  while (range.begin < range.end) {
    const uint32_t middle = range.begin + (range.end - range.begin) / 2;
    Lsn cts;
    if (compare_rest(middle, key, &cts) < 0) {
      range.begin = middle + 1;
    } else {
      range.end = middle;
    }
  }
  return range.begin;
}

uint32_t Run::lower_bound(std::string_view key, uint64_t head) const {
  HAWTHORN_ASSERT(key.substr(0, skip_) == prefix());
  return lower_bound_in(ties_of(table_.kernels.find(table_, head), head), key);
}

uint32_t Run::seek(std::string_view key) const {
  const int order = key.substr(0, skip_).compare(prefix());
  if (order == 0) return lower_bound(key, key_head(key, skip_));
  return order < 0 ? 0 : entries_;
}

// Of entries among which are all that have the key's head.
void Run::narrow(std::string_view key, Range* range) const {
  if (view_.separators.count == 0 || range->end - range->begin < 2) return;
  const std::string_view tail = key.substr(std::min<size_t>(key.size(), skip_ + 8));
  view_.separators.narrow(key_head(key, skip_), tail, &range->begin, &range->end);
}

bool Run::between_keys(uint32_t at) const {
  return !has_versions_ || at == 0 || at >= entries_ || head(at - 1) != head(at) ||
         view_.separators.before(at);
}

uint32_t Run::boundary_from(uint32_t at) const {
  while (!between_keys(at)) ++at;
  return at;
}

uint32_t Run::boundary_before(uint32_t at) const {
  while (!between_keys(at)) --at;
  return at;
}

Run::Range Run::range_of(std::string_view key) const {
  const int order = key.substr(0, skip_).compare(prefix());
  if (order != 0) {
    const uint32_t at = order < 0 ? 0 : entries_;
    return {at, at};
  }
  if (is_outline()) {
    const Range groups = groups_with(key);
    return {groups.begin * kGroupEntries, std::min(groups.end * kGroupEntries, entries_)};
  }
  const uint64_t head = key_head(key, skip_);
  Range range = ties_of(table_.kernels.find(table_, head), head);
  narrow(key, &range);
  return range;
}

Run::Range Run::groups_with(std::string_view key) const {
  const uint64_t head = key_head(key, skip_);
  const uint32_t last = locate(head);
  uint32_t begin = first_group_from(head, last);
  if (begin > 0 && table_.first_heads[begin] == head && tied(begin)) --begin;
  const Range groups{begin, last + 1};
  if (view_.separators.count == 0 || last == begin) return groups;
  Range range{groups.begin * kGroupEntries, std::min(groups.end * kGroupEntries, entries_)};
  narrow(key, &range);
  return {range.begin / kGroupEntries, std::max((range.end + kGroupEntries - 1) / kGroupEntries,
                                                range.begin / kGroupEntries + 1)};
}

Run::Range Run::range_in(Range there, std::string_view key) const {
  const int order = key.substr(0, skip_).compare(prefix());
  if (order != 0) {
    const uint32_t at = order < 0 ? 0 : entries_;
    return {at, at};
  }
  const uint64_t head = key_head(key, skip_);
  const Range groups = groups_with(key);
  Range range{groups.begin * kGroupEntries, std::min(groups.end * kGroupEntries, entries_)};
  const Range seen{std::max(range.begin, there.begin * kGroupEntries),
                   std::min(range.end, there.end * kGroupEntries)};
  if (seen.begin >= seen.end) return range;
  const auto first = [&](uint32_t begin, auto before) {
    uint32_t stop = seen.end;
    while (begin < stop) {
      const uint32_t middle = begin + (stop - begin) / 2;
      if (before(this->head(middle))) {
        begin = middle + 1;
      } else {
        stop = middle;
      }
    }
    return begin;
  };
  const uint32_t begin = first(seen.begin, [head](uint64_t own) { return own < head; });
  const uint32_t end = first(begin, [head](uint64_t own) { return own <= head; });
  // At an edge of what is seen there may be more of them.
  if (begin > seen.begin || seen.begin == range.begin) range.begin = begin;
  if (end < seen.end || seen.end == range.end) range.end = end;
  narrow(key, &range);
  return range;
}

Run::Bytes Run::bytes_of_groups(Range groups) const {
  const size_t index = size_t{view_.header->header_blocks} * kRunBlockBytes;
  const format::GroupLayout& layout = table_.layout;
  return {static_cast<uint32_t>(index + layout.offset(groups.begin)),
          static_cast<uint32_t>(index + layout.offset(groups.end - 1) + layout.bytes)};
}

bool Run::tells_heap_range(Range range, uint32_t groups_end) const {
  const auto in_heap = [this](uint32_t begin, uint32_t end) {
    for (; begin < end; ++begin) {
      if (location_tag(location(begin)) >= kTagPlainInline) return true;
    }
    return false;
  };
  if (wide_ || groups_end == table_.groups || !in_heap(range.begin, range.end)) return true;
  return in_heap(range.end, groups_end * kGroupEntries);
}

uint32_t Run::pick(const GroupHit& hit, std::string_view key, uint64_t head, Lsn ts) const {
  HAWTHORN_ASSERT(key.substr(0, skip_) == prefix());
  return find_in(ties_of(hit, head), key, ts);
}

uint32_t Run::find_in(Range range, std::string_view key, Lsn ts) const {
  if (range.empty()) return kNone;
  uint32_t index = range.begin;
  if (range.end - range.begin > 4) index = lower_bound_in(range, key);
  for (; index < range.end; ++index) {
    Lsn cts;
    const int order = compare_rest(index, key, &cts);
    if (order > 0) return kNone;
    if (order == 0 && cts <= ts) return index;
  }
  return kNone;
}

uint32_t Run::find(std::string_view key, uint64_t head, Lsn ts) const {
  return pick(table_.kernels.find(table_, head), key, head, ts);
}

uint32_t Run::find_from(uint32_t group, std::string_view key, uint64_t head, Lsn ts) const {
  return pick(table_.kernels.search(table_, group, head), key, head, ts);
}

uint32_t Run::copy_key(uint32_t index, char* to) const {
  const uint32_t at = location(index);
  std::memcpy(to, prefix_, skip_);
  char big_endian[8];
  store(big_endian, __builtin_bswap64(head(index)));
  if (location_tag(at) != kTagRecord) {
    std::memcpy(to + skip_, big_endian, fixed_key_size_ - skip_);
    return fixed_key_size_;
  }
  uint32_t rest_size = 0;
  const char* tail = format::get_trusted_varint(heap_ + location_offset(at) + 1, &rest_size);
  std::memcpy(to + skip_, big_endian, std::min(rest_size, uint32_t{8}));
  if (rest_size > 8) std::memcpy(to + skip_ + 8, tail, rest_size - 8);
  return skip_ + rest_size;
}

uint32_t Run::fill(uint32_t from, std::span<Entry> out, const char* const* bases, bool key_only,
                   char* key_buffer, size_t key_buffer_bytes) const {
  if (from >= entries_) return 0;
  const uint32_t count = static_cast<uint32_t>(std::min<size_t>(out.size(), entries_ - from));
  const char* value_bases[kTagPlainInline + 1];
  uint32_t value_sizes[kTagPlainInline + 1];
  for (uint32_t e = 0; e < kTagPlainInline; ++e) {
    // Keys alone need no values: any address will do.
    value_bases[e] = key_only ? heap_ : e < extent_count() ? bases[e] : nullptr;
    value_sizes[e] = key_only ? 0 : value_sizes_[0];
  }
  value_bases[kTagPlainInline] = heap_;
  value_sizes[kTagPlainInline] = key_only ? 0 : value_sizes_[1];
  const uint32_t key_size = fixed_key_size_;
  const uint32_t skip = skip_;
  char* to = key_buffer;
  const char* const end = key_buffer + key_buffer_bytes;
  const size_t room = skip + 8 + kKeySlack;

  uint32_t filled = 0;
  while (filled < count) {
    const uint32_t number = (from + filled) / kGroupEntries;
    const uint32_t first = (from + filled) % kGroupEntries;
    const uint32_t last = std::min(first + count - filled, kGroupEntries);
    const format::RunGroup& group = table_.group(number);
    prefetch_entry((number + 3) * kGroupEntries);
    if (wide_) {
      const uint32_t size = value_sizes[kTagPlainInline];
      const char* value = wide_values(number) + size_t{first} * value_sizes_[1];
      for (uint32_t i = first; i < last; ++i, ++filled, value += value_sizes_[1], to += key_size) {
        if (static_cast<size_t>(end - to) < room) return filled;
        if (skip != 0) copy_in_words(to, prefix_, skip);
        store(to + skip, __builtin_bswap64(group.heads[i]));
        out[filled] = {std::string_view(to, key_size), std::string_view(value, size)};
      }
      continue;
    }
    for (uint32_t i = first; i < last; ++i, ++filled) {
      if (static_cast<size_t>(end - to) < room) return filled;
      const uint32_t at = group.locations[i];
      const uint32_t tag = location_tag(at);
      Entry& entry = out[filled];
      if (skip != 0) copy_in_words(to, prefix_, skip);
      store(to + skip, __builtin_bswap64(group.heads[i]));
      if (__builtin_expect(tag != kTagRecord, true)) {
        if (value_bases[tag] == nullptr) return filled;
        entry.value = std::string_view(value_bases[tag] + location_offset(at), value_sizes[tag]);
        entry.key = std::string_view(to, key_size);
        to += key_size;
        continue;
      }
      // The usual record: no flags, so a value inline; sizes below 128.
      const char* record = heap_ + location_offset(at);
      const uint32_t rest_size = static_cast<unsigned char>(record[1]);
      if (__builtin_expect(*record == 0 && rest_size < 128, true)) {
        const uint32_t tail_size = rest_size > 8 ? rest_size - 8 : 0;
        const char* value = record + 2 + tail_size;
        const uint32_t value_size = static_cast<unsigned char>(*value);
        if (__builtin_expect(value_size < 128, true)) {
          if (static_cast<size_t>(end - to) - room < tail_size) return filled;
          std::memcpy(to + skip + 8, record + 2, 16);
          if (tail_size > 16) copy_in_words(to + skip + 24, record + 18, tail_size - 16);
          entry.value = std::string_view(value + 1, key_only ? 0 : value_size);
          entry.key = std::string_view(to, skip + rest_size);
          to += skip + rest_size;
          continue;
        }
      }
      const size_t taken =
          fill_record(record, entry, bases, key_only, to, static_cast<size_t>(end - to));
      if (taken == 0) return filled;
      to += taken - 1;
    }
  }
  return filled;
}

// One record of any kind, its head already in place. Returns the key's size + 1, or 0 when it
// cannot be given.
size_t Run::fill_record(const char* from, Entry& entry, const char* const* bases, bool key_only,
                        char* to, size_t room) const {
  const format::HeapRecord record = format::decode_record(from);
  const bool large = record.kind == format::RecordKind::kLarge;
  if (record.kind == format::RecordKind::kTombstone || record.cts != 0 || record.expiry != 0)
    return 0;
  if (room < size_t{skip_} + 8 + kKeySlack + record.tail.size() || (large && !key_only)) return 0;
  entry.value = {};
  if (!key_only) {
    entry.value = record.value;
    if (record.kind == format::RecordKind::kSeparated) {
      if (bases[record.extent] == nullptr) return 0;
      entry.value = std::string_view(bases[record.extent] + record.offset, record.size);
    }
  }
  copy_in_words(to + skip_ + 8, record.tail.data(), record.tail.size());
  entry.key = std::string_view(to, skip_ + record.rest_size);
  return entry.key.size() + 1;
}

uint32_t Run::count_newest() const {
  uint32_t keys = 0;
  for (uint32_t i = 0; i < entries_; ++i) {
    if (i > 0 && same_key_as_next(i - 1)) continue;
    const bool plain = format::location_tag(location(i)) != format::kTagRecord;
    keys += plain || entry(i).kind != EntryKind::kTombstone ? 1 : 0;
  }
  return keys;
}

format::ValueExtentRecord Run::extent_record(uint32_t extent) const {
  HAWTHORN_ASSERT(extent < extent_count());
  const format::RunExtent& e = view_.extents[extent];
  return {{e.file, e.block, e.blocks}, e.bytes, e.garbage_bytes};
}

}  // namespace hawthorn::tree
