#include "shims/sqlite/src/collated_node.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "shims/sqlite/src/record.h"

namespace hawthorn::sqlite {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr size_t kNodeHeaderBytes = 8;
constexpr size_t kCollatedHeaderBytes = 32;
constexpr size_t kCountOffset = 4;
constexpr size_t kChildBytes = 8;
constexpr size_t kSizeBytes = 4;
constexpr size_t kNumberBytes = 8;
// No node is so large, but offsets in one have to be 32 bits.
constexpr size_t kParsedBytesMax = size_t{1} << 30;

template <typename Number>
Number load_number(const char* from) {
  Number number;
  memcpy(&number, from, sizeof(number));
  return number;
}

template <typename Number>
void append_low_first(Number number, std::string* to) {
  to->append(reinterpret_cast<const char*>(&number), sizeof(number));
}

// Of a cell whose size says so. The sizes of records are those of SQLite: 31 bits.
size_t stored_bytes(uint32_t tag) { return (tag & 1) != 0 ? kNumberBytes : tag >> 1; }

}  // namespace

std::string collated_node_key(uint64_t number) {
  std::string key(1 + kNumberBytes, kCollatedHeaderKeyByte);
  store_big_endian(key.data() + 1, number);
  return key;
}

std::optional<uint64_t> collated_node_number(std::string_view key) {
  if (key.size() != 1 + kNumberBytes || key[0] != kCollatedHeaderKeyByte) return std::nullopt;
  return load_big_endian(key.data() + 1);
}

std::string CollatedHeader::encode() const {
  std::string bytes;
  for (const uint64_t number : {root, next_number, entries}) append_low_first(number, &bytes);
  append_low_first(height, &bytes);
  append_low_first(uint32_t{0}, &bytes);
  return bytes;
}

std::optional<CollatedHeader> CollatedHeader::decode(std::string_view bytes) {
  if (bytes.size() != kCollatedHeaderBytes) return std::nullopt;
  CollatedHeader header;
  header.root = load_number<uint64_t>(bytes.data());
  header.next_number = load_number<uint64_t>(bytes.data() + 8);
  header.entries = load_number<uint64_t>(bytes.data() + 16);
  header.height = load_number<uint32_t>(bytes.data() + 24);
  const bool sound = header.root != 0 && header.root < header.next_number && header.entries != 0 &&
                     header.entries <= INT64_MAX && header.height != 0 &&
                     header.height <= kCollatedHeightMax &&
                     load_number<uint32_t>(bytes.data() + 28) == 0;
  return sound ? std::optional<CollatedHeader>(header) : std::nullopt;
}

std::string encode_collated_key(std::string_view record) {
  std::string key;
  append_low_first(static_cast<uint32_t>(record.size() << 1), &key);
  return key.append(record);
}

std::string encode_collated_key_elsewhere(uint64_t number, size_t size) {
  std::string key;
  append_low_first(static_cast<uint32_t>(size << 1 | 1), &key);
  append_low_first(number, &key);
  return key;
}

std::string encode_collated_child(uint64_t child, std::string_view encoded_key) {
  std::string cell;
  append_low_first(child, &cell);
  return cell.append(encoded_key);
}

std::string encode_collated_first_child(uint64_t child) {
  return encode_collated_child(child, encode_collated_key({}));
}

CollatedNode::CollatedNode(unsigned level) : bytes_(kNodeHeaderBytes + kSlackBytes, '\0') {
  bytes_[0] = static_cast<char>(level);
  starts_.push_back(kNodeHeaderBytes);
}

bool CollatedNode::parse(std::string_view bytes) {
  if (bytes.size() < kNodeHeaderBytes || bytes.size() > kParsedBytesMax) return false;
  const auto level = static_cast<unsigned char>(bytes[0]);
  if (level >= kCollatedHeightMax || bytes[1] != 0 || bytes[2] != 0 || bytes[3] != 0) return false;
  bytes_.assign(bytes);
  bytes_.append(kSlackBytes, '\0');
  if (!find_cells() || cells() == 0) return false;
  if (load_number<uint32_t>(bytes_.data() + kCountOffset) != cells()) return false;
  return is_leaf() || key(0).encoded.size() == kSizeBytes;
}

// False: they do not end where the bytes do.
bool CollatedNode::find_cells() {
  const size_t end = bytes_.size() - kSlackBytes;
  const size_t before = is_leaf() ? 0 : kChildBytes;
  starts_.clear();
  size_t at = kNodeHeaderBytes;
  while (at != end) {
    starts_.push_back(static_cast<uint32_t>(at));
    if (end - at < before + kSizeBytes) return false;
    at += before;
    const size_t stored = stored_bytes(load_number<uint32_t>(bytes_.data() + at));
    at += kSizeBytes;
    if (end - at < stored) return false;
    at += stored;
  }
  starts_.push_back(static_cast<uint32_t>(at));
  return true;
}

CollatedKey CollatedNode::key(size_t cell) const {
  const size_t at = starts_[cell] + (is_leaf() ? 0 : kChildBytes);
  const auto tag = load_number<uint32_t>(bytes_.data() + at);
  CollatedKey key;
  key.encoded = {bytes_.data() + at, starts_[cell + 1] - at};
  key.elsewhere = (tag & 1) != 0;
  key.size = tag >> 1;
  if (key.elsewhere) {
    key.number = load_number<uint64_t>(bytes_.data() + at + kSizeBytes);
  } else {
    key.bytes = key.encoded.substr(kSizeBytes);
  }
  return key;
}

uint64_t CollatedNode::child(size_t cell) const {
  return load_number<uint64_t>(bytes_.data() + starts_[cell]);
}

void CollatedNode::replace(size_t from, size_t count, std::string_view cells) {
  bytes_.replace(starts_[from], starts_[from + count] - starts_[from], cells);
  find_cells();
  const auto counted = static_cast<uint32_t>(this->cells());
  memcpy(bytes_.data() + kCountOffset, &counted, sizeof(counted));
}

void CollatedNode::empty_first_key() { replace(0, 1, encode_collated_first_child(child(0))); }

CollatedNode CollatedNode::split(size_t from) {
  CollatedNode right(level());
  right.replace(0, 0, all_cells().substr(starts_[from] - kNodeHeaderBytes));
  replace(from, cells() - from, {});
  return right;
}

size_t CollatedNode::middle() const {
  const uint32_t half = (starts_.front() + starts_.back()) / 2;
  const auto at = std::lower_bound(starts_.begin(), starts_.end(), half) - starts_.begin();
  return std::clamp<size_t>(static_cast<size_t>(at), 1, cells() - 1);
}

std::string_view CollatedNode::all_cells() const { return bytes().substr(kNodeHeaderBytes); }

}  // namespace hawthorn::sqlite
