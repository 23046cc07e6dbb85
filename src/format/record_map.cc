#include "format/record_map.h"

#include <algorithm>

#include "base/bytes.h"
#include "format/manifest_state.h"

namespace hawthorn::format {

namespace {
constexpr uint64_t kPackedWide = 1;
constexpr uint64_t kPackedFirstHeads = 2;
constexpr uint64_t kPackedSeparated = 4;
constexpr uint64_t kPackedSealed = 8;

// Of what was packed here.
class Unpacker {
 public:
  explicit Unpacker(std::string_view from) : at_(from.data()), end_(from.data() + from.size()) {}
  uint64_t number() {
    uint64_t value = 0;
    at_ = get_varint(at_, end_, &value);
    HAWTHORN_ASSERT(at_ != nullptr);
    return value;
  }
  uint32_t small_number() { return static_cast<uint32_t>(number()); }
  uint64_t word() {
    HAWTHORN_ASSERT(end_ - at_ >= 8);
    const auto value = load<uint64_t>(at_);
    at_ += sizeof(value);
    return value;
  }
  std::string_view bytes() {
    const size_t size = number();
    HAWTHORN_ASSERT(size <= static_cast<size_t>(end_ - at_));
    const std::string_view result(at_, size);
    at_ += size;
    return result;
  }
  ExtentAddress address() {
    ExtentAddress result;
    result.file = small_number();
    result.block = small_number();
    result.blocks = small_number();
    return result;
  }

 private:
  const char* at_;
  const char* const end_;
};

void pack_bytes(std::string_view bytes, std::string* to) {
  append_varint(*to, bytes.size());
  to->append(bytes);
}

void pack_address(const ExtentAddress& address, std::string* to) {
  append_varint(*to, address.file);
  append_varint(*to, address.block);
  append_varint(*to, address.blocks);
}
}  // namespace

void pack_record(const ContainerRecord& record, std::string* to) {
  append_varint(*to, record.tree);
  pack_bytes(record.low, to);
  append_varint(*to, record.cut);
  append_varint(*to, record.max_ts);
  append_varint(*to, record.entries);
  pack_address(record.run, to);
  append_varint(*to, record.unpacked_blocks);
  append_varint(
      *to, (record.wide ? kPackedWide : 0) | (record.first_heads ? kPackedFirstHeads : 0) |
               (record.separated ? kPackedSeparated : 0) | (record.sealed() ? kPackedSealed : 0));
  append_varint(*to, record.separator_blocks);
  append(*to, record.run_checksum);
  if (record.sealed()) append(*to, record.seal);
  append_varint(*to, record.values.size());
  for (const ValueExtentRecord& value : record.values) {
    pack_address(value.address, to);
    append_varint(*to, value.bytes);
    append_varint(*to, value.garbage_bytes);
  }
  append_varint(*to, record.large.size());
  for (const ExtentAddress& large : record.large) pack_address(large, to);
}

void unpack_record(std::string_view from, ContainerRecord* record) {
  Unpacker fields(from);
  record->tree = fields.small_number();
  record->low = fields.bytes();
  record->cut = fields.number();
  record->max_ts = fields.number();
  record->entries = fields.number();
  record->run = fields.address();
  record->unpacked_blocks = fields.small_number();
  const uint64_t flags = fields.number();
  record->wide = (flags & kPackedWide) != 0;
  record->first_heads = (flags & kPackedFirstHeads) != 0;
  record->separated = (flags & kPackedSeparated) != 0;
  record->separator_blocks = fields.small_number();
  record->run_checksum = fields.word();
  record->seal = (flags & kPackedSealed) != 0 ? fields.word() : 0;
  record->values.resize(fields.number());
  for (ValueExtentRecord& value : record->values) {
    value.address = fields.address();
    value.bytes = fields.small_number();
    value.garbage_bytes = fields.small_number();
  }
  record->large.resize(fields.number());
  for (ExtentAddress& large : record->large) large = fields.address();
}

void pack_record(const TreeRecord& record, std::string* to) {
  pack_bytes(record.name, to);
  append_varint(*to, record.comparator);
  append_varint(*to, record.flags);
  pack_bytes(record.merge_operator, to);
  append_varint(*to, record.layer_of);
  append_varint(*to, record.layer_cts);
  append_varint(*to, record.clone_of);
  append_varint(*to, record.clone_ts);
  pack_bytes(record.shape, to);
}

void unpack_record(std::string_view from, TreeRecord* record) {
  Unpacker fields(from);
  record->name = fields.bytes();
  record->comparator = fields.small_number();
  record->flags = fields.small_number();
  record->merge_operator = fields.bytes();
  record->layer_of = fields.small_number();
  record->layer_cts = fields.number();
  record->clone_of = fields.small_number();
  record->clone_ts = fields.number();
  record->shape = fields.bytes();
}

void PackedMap::clear() {
  chunks_ = {};
  size_ = 0;
  id_max_ = 0;
}

size_t PackedMap::chunk_of(uint64_t id) const {
  const auto behind =
      std::upper_bound(chunks_.begin(), chunks_.end(), id,
                       [](uint64_t wanted, const Chunk& chunk) { return wanted < chunk.first; });
  return behind == chunks_.begin() ? 0 : static_cast<size_t>(behind - chunks_.begin()) - 1;
}

PackedMap::Entry PackedMap::at(const Place& place) const {
  const Chunk& chunk = chunks_[place.chunk];
  const char* const begin = chunk.entries.data();
  const char* const end = begin + chunk.entries.size();
  uint64_t id = 0;
  uint64_t size = 0;
  const char* from = get_varint(begin + place.offset, end, &id);
  HAWTHORN_ASSERT(from != nullptr);
  from = get_varint(from, end, &size);
  HAWTHORN_ASSERT(from != nullptr && size <= static_cast<uint64_t>(end - from));
  return {chunk.first + id, {from, size}, static_cast<size_t>(from - begin) + size};
}

PackedMap::Place PackedMap::after(const Place& place, const Entry& entry) const {
  if (entry.end < chunks_[place.chunk].entries.size()) return {place.chunk, entry.end};
  return {place.chunk + 1, 0};
}

PackedMap::Place PackedMap::find(uint64_t id) const {
  if (chunks_.empty()) return end();
  Place place{chunk_of(id), 0};
  const size_t bytes = chunks_[place.chunk].entries.size();
  while (place.offset < bytes) {
    const Entry entry = at(place);
    if (entry.id == id) return place;
    if (entry.id > id) break;
    place.offset = entry.end;
  }
  return end();
}

PackedMap::Entries PackedMap::entries_of(size_t chunk) const {
  Entries entries;
  entries.reserve(chunks_[chunk].count + 1);
  for (Place place{chunk, 0}; place.chunk == chunk;) {
    const Entry entry = at(place);
    entries.emplace_back(entry.id, entry.bytes);
    place = after(place, entry);
  }
  return entries;
}

PackedMap::Chunk PackedMap::packed(const Entries& entries, size_t from, size_t to) {
  Chunk chunk{entries[from].first, static_cast<uint32_t>(to - from)};
  size_t bytes = 0;
  for (size_t i = from; i < to; ++i) {
    const size_t size = entries[i].second.size();
    bytes += varint_bytes(entries[i].first - chunk.first) + varint_bytes(size) + size;
  }
  chunk.entries.reserve(bytes);
  for (size_t i = from; i < to; ++i) {
    append_varint(chunk.entries, entries[i].first - chunk.first);
    pack_bytes(entries[i].second, &chunk.entries);
  }
  return chunk;
}

// In place of the chunk whose entries they were, or are but for one.
void PackedMap::put_back(size_t chunk, const Entries& entries) {
  size_t bytes = 0;
  for (const auto& [id, of] : entries) bytes += of.size();
  const bool fits = entries.size() <= kCountMax && bytes <= kBytesMax;
  if (fits || entries.size() == 1) {
    chunks_[chunk] = packed(entries, 0, entries.size());
    return;
  }
  // What comes in the order of ids leaves full chunks.
  const bool at_end = chunk + 1 == chunks_.size();
  const size_t middle = at_end ? entries.size() - 1 : entries.size() / 2;
  Chunk rest = packed(entries, middle, entries.size());
  Chunk begin = packed(entries, 0, middle);
  chunks_.insert(chunks_.begin() + static_cast<ptrdiff_t>(chunk) + 1, std::move(rest));
  chunks_[chunk] = std::move(begin);
}

// In the order of ids, as they come when a database is opened and when trees are made.
void PackedMap::add_last(uint64_t id, std::string_view bytes) {
  Chunk* last = chunks_.empty() ? nullptr : &chunks_.back();
  if (last == nullptr || last->count >= kCountMax ||
      last->entries.size() + bytes.size() > kBytesMax) {
    if (last != nullptr) last->entries.shrink_to_fit();
    chunks_.push_back(packed({{id, bytes}}, 0, 1));
  } else {
    std::string entry;
    append_varint(entry, id - last->first);
    pack_bytes(bytes, &entry);
    last->entries += entry;
    ++last->count;
  }
  id_max_ = id;
  ++size_;
}

void PackedMap::set(uint64_t id, std::string_view bytes) {
  if (chunks_.empty() || id > id_max_) {
    add_last(id, bytes);
    return;
  }
  const size_t number = chunk_of(id);
  if (id < chunks_[number].first) {
    Entries entries = entries_of(number);
    entries.insert(entries.begin(), {id, bytes});
    put_back(number, entries);
    ++size_;
    return;
  }
  Place place{number, 0};
  size_t end = 0;
  bool there = false;
  for (; place.offset < chunks_[number].entries.size(); place.offset = end) {
    const Entry entry = at(place);
    end = entry.end;
    there = entry.id == id;
    if (entry.id >= id) break;
  }
  std::string entry;
  append_varint(entry, id - chunks_[number].first);
  pack_bytes(bytes, &entry);
  splice(number, place.offset, there ? end : place.offset, entry);
  if (there) return;
  ++size_;
  ++chunks_[number].count;
  if (chunks_[number].count > kCountMax || chunks_[number].entries.size() > kBytesMax) {
    put_back(number, entries_of(number));
  }
}

// Puts other bytes in the place of [from, to).
void PackedMap::splice(size_t number, size_t from, size_t to, std::string_view bytes) {
  std::string& entries = chunks_[number].entries;
  std::string changed;
  changed.reserve(entries.size() - (to - from) + bytes.size());
  changed.append(entries, 0, from).append(bytes).append(entries, to);
  entries = std::move(changed);
}

bool PackedMap::erase(uint64_t id) {
  const Place place = find(id);
  if (place == end()) return false;
  const auto chunk = chunks_.begin() + static_cast<ptrdiff_t>(place.chunk);
  if (chunk->count == 1) {
    chunks_.erase(chunk);
    --size_;
    return true;
  }
  Entries entries = entries_of(place.chunk);
  std::erase_if(entries, [id](const auto& one) { return one.first == id; });
  // Together with the chunk behind it, where both have become small.
  const auto next = std::next(chunk);
  const bool joins = next != chunks_.end() && entries.size() + next->count <= kCountMax / 2 &&
                     chunk->entries.size() + next->entries.size() <= kBytesMax / 2;
  if (!joins) {
    *chunk = packed(entries, 0, entries.size());
    --size_;
    return true;
  }
  const Entries more = entries_of(place.chunk + 1);
  entries.insert(entries.end(), more.begin(), more.end());
  *chunk = packed(entries, 0, entries.size());
  chunks_.erase(next);
  --size_;
  return true;
}

size_t PackedMap::heap_bytes() const {
  size_t bytes = chunks_.capacity() * sizeof(Chunk);
  for (const Chunk& chunk : chunks_) bytes += chunk.entries.capacity() + 17;
  return bytes;
}

}  // namespace hawthorn::format
