#include "db/feed_code.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <vector>

#include "base/bytes.h"
#include "base/checksum.h"

namespace hawthorn::db {

namespace {
constexpr uint32_t kMagic = 0x43465748;  // "HWFC"
constexpr uint16_t kVersion = 1;
constexpr uint16_t kLast = 1;
constexpr size_t kFeedHeaderBytes = 64;
constexpr size_t kCheckedBytes = 56;
constexpr size_t kFeedPieceBytes = size_t{64} << 10;
constexpr uint32_t kPayloadBytesMax = uint32_t{256} << 20;
constexpr uint8_t kTree = 100;
constexpr uint8_t kData = 101;
constexpr uint8_t kSeveralValues = 1;
constexpr uint8_t kExpires = 2;
constexpr uint8_t kHigh = 1;
constexpr uint8_t kStreamed = 2;

void append_bytes(std::string& to, std::string_view bytes) {
  append_varint(to, bytes.size());
  to.append(bytes);
}

uint64_t half_of(const std::string& id, size_t at) {
  uint64_t number = 0;
  if (id.size() == 32) std::from_chars(id.data() + at, id.data() + at + 16, number, 16);
  return number;
}

std::string id_of(uint64_t low, uint64_t high) {
  char text[33];
  std::snprintf(text, sizeof(text), "%016llx%016llx", static_cast<unsigned long long>(high),
                static_cast<unsigned long long>(low));
  return text;
}
}  // namespace

// ---- Writing

PieceWriter::PieceWriter(std::string_view source_id, uint64_t cts, uint64_t previous)
    : source_id_(source_id), cts_(cts), previous_(previous) {}

void PieceWriter::add_tree(const FeedTree& tree) {
  std::string item;
  item.reserve(64 + tree.name.size());
  item.push_back(static_cast<char>(kTree));
  append_varint(item, tree.id);
  append_bytes(item, tree.name);
  append_bytes(item, tree.options.order);
  append_bytes(item, tree.options.value_order);
  append_bytes(item, tree.merge_operator);
  item.push_back(static_cast<char>((tree.options.multi_value ? kSeveralValues : 0) |
                                   (tree.options.expires ? kExpires : 0)));
  item.push_back(static_cast<char>(tree.compression));
  append_varint(item, tree.options.ttl_ms);
  std::string& written = trees_[tree.id];
  if (written == item) return;
  payload_ += item;
  written = std::move(item);
}

void PieceWriter::add(const FeedChange& change) {
  add_tree(*change.tree);
  payload_.push_back(static_cast<char>(change.type));
  append_varint(payload_, change.tree->id);
  payload_.push_back(
      static_cast<char>((change.high.has_value() ? kHigh : 0) | (change.streamed ? kStreamed : 0)));
  append_bytes(payload_, change.key);
  append_bytes(payload_, change.value);
  append_bytes(payload_, change.high.value_or(change.other_name));
  append_varint(payload_, change.expires_at_ms);
  append_varint(payload_, change.value_bytes);
}

Status PieceWriter::add_data(ChangeSource& changes) {
  const auto want =
      static_cast<size_t>(std::min<uint64_t>(kFeedPieceBytes, value_bytes_ - value_done_));
  std::vector<char> buffer(want);
  Result<size_t> got = changes.read_value(value_done_, buffer);
  if (!got.ok()) return got.status();
  if (*got == 0) return Status(StatusCode::kCorruption, "a streamed value ends too early");
  payload_.push_back(static_cast<char>(kData));
  append_bytes(payload_, {buffer.data(), *got});
  value_done_ += *got;
  streaming_ = value_done_ < value_bytes_;
  return {};
}

Result<bool> PieceWriter::next(ChangeSource& changes, std::string* piece) {
  if (ended_) return false;
  payload_.clear();
  while (payload_.size() < kFeedPieceBytes) {
    if (streaming_) {
      if (Status s = add_data(changes); !s.ok()) return s;
      continue;
    }
    FeedChange change;
    Result<bool> more = changes.next(&change);
    if (!more.ok()) return more;
    if (!*more) {
      ended_ = true;
      break;
    }
    add(change);
    streaming_ = change.streamed && change.value_bytes > 0;
    value_done_ = 0;
    value_bytes_ = change.value_bytes;
  }
  char header[kFeedHeaderBytes];
  store(header, kMagic);
  store(header + 4, kVersion);
  store(header + 6, static_cast<uint16_t>(ended_ ? kLast : 0));
  store(header + 8, cts_);
  store(header + 16, previous_);
  store(header + 24, half_of(source_id_, 16));
  store(header + 32, half_of(source_id_, 0));
  store(header + 40, number_++);
  store(header + 44, static_cast<uint32_t>(payload_.size()));
  store(header + 48, checksum64(payload_.data(), payload_.size(), 0));
  store(header + kCheckedBytes, checksum64(header, kCheckedBytes, 0));
  piece->assign(header, sizeof(header));
  piece->append(payload_);
  return true;
}

// ---- Reading

Status PieceReader::damaged() {
  return Status(StatusCode::kCorruption, "the bytes are not a piece of a feed's commit");
}

Status PieceReader::open() { return take_piece(); }

Status PieceReader::take_piece() {
  Result<std::string_view> piece = pieces_();
  if (!piece.ok()) return piece.status();
  if (piece->size() < kFeedHeaderBytes) return damaged();
  const char* const header = piece->data();
  if (load<uint32_t>(header) != kMagic ||
      load<uint64_t>(header + kCheckedBytes) != checksum64(header, kCheckedBytes, 0)) {
    return damaged();
  }
  if (load<uint16_t>(header + 4) != kVersion) {
    return Status(StatusCode::kNotSupported, "a piece of a feed's commit has version " +
                                                 std::to_string(load<uint16_t>(header + 4)) +
                                                 ", not " + std::to_string(kVersion));
  }
  const uint32_t bytes = load<uint32_t>(header + 44);
  if (bytes > kPayloadBytesMax || bytes != piece->size() - kFeedHeaderBytes ||
      load<uint64_t>(header + 48) != checksum64(header + kFeedHeaderBytes, bytes, 0)) {
    return damaged();
  }
  const std::string source = id_of(load<uint64_t>(header + 24), load<uint64_t>(header + 32));
  const uint64_t cts = load<uint64_t>(header + 8);
  const uint32_t number = load<uint32_t>(header + 40);
  if (number != number_ || (number > 0 && (cts != cts_ || source != source_id_))) {
    return Status(StatusCode::kInvalidArgument,
                  "piece " + std::to_string(number) + " of the commit at " + std::to_string(cts) +
                      " came where piece " + std::to_string(number_) +
                      (number_ == 0 ? " of a commit" : " of that at " + std::to_string(cts_)) +
                      " was due");
  }
  ++number_;
  cts_ = cts;
  previous_ = load<uint64_t>(header + 16);
  source_id_ = source;
  last_ = (load<uint16_t>(header + 6) & kLast) != 0;
  at_ = header + kFeedHeaderBytes;
  end_ = at_ + bytes;
  return {};
}

bool PieceReader::take_number(uint64_t* number) {
  const char* const behind = get_varint(at_, end_, number);
  if (behind == nullptr) return false;
  at_ = behind;
  return true;
}

bool PieceReader::take_bytes(std::string_view* bytes) {
  uint64_t size = 0;
  if (!take_number(&size) || size > static_cast<uint64_t>(end_ - at_)) return false;
  *bytes = {at_, size};
  at_ += size;
  return true;
}

Status PieceReader::take_tree() {
  uint64_t id = 0;
  std::string_view text[4];
  if (!take_number(&id) || id > UINT32_MAX) return damaged();
  for (std::string_view& one : text) {
    if (!take_bytes(&one)) return damaged();
  }
  uint64_t ttl = 0;
  if (end_ - at_ < 2) return damaged();
  const auto flags = static_cast<uint8_t>(*at_++);
  const auto compression = static_cast<uint8_t>(*at_++);
  if ((flags & ~(kSeveralValues | kExpires)) != 0 ||
      compression > static_cast<uint8_t>(Compression::kZstd) || !take_number(&ttl)) {
    return damaged();
  }
  FeedTree& tree = trees_[static_cast<uint32_t>(id)];
  tree.id = static_cast<uint32_t>(id);
  tree.name = std::string(text[0]);
  tree.options.order = std::string(text[1]);
  tree.options.value_order = std::string(text[2]);
  tree.merge_operator = std::string(text[3]);
  tree.options.multi_value = (flags & kSeveralValues) != 0;
  tree.options.expires = (flags & kExpires) != 0;
  tree.options.ttl_ms = ttl;
  tree.compression = static_cast<Compression>(compression);
  return {};
}

Status PieceReader::take_change(uint8_t kind, FeedChange* change) {
  if (kind < 1 || kind > static_cast<uint8_t>(ChangeType::kCloneTree)) return damaged();
  uint64_t id = 0;
  if (!take_number(&id) || id > UINT32_MAX || at_ == end_) return damaged();
  const auto tree = trees_.find(static_cast<uint32_t>(id));
  const auto flags = static_cast<uint8_t>(*at_++);
  std::string_view other;
  *change = {};
  if (tree == trees_.end() || (flags & ~(kHigh | kStreamed)) != 0 || !take_bytes(&change->key) ||
      !take_bytes(&change->value) || !take_bytes(&other) || !take_number(&change->expires_at_ms) ||
      !take_number(&change->value_bytes)) {
    return damaged();
  }
  change->type = static_cast<ChangeType>(kind);
  change->tree = &tree->second;
  change->streamed = (flags & kStreamed) != 0;
  if ((flags & kHigh) != 0) {
    change->high = other;
  } else {
    change->other_name = other;
  }
  value_left_ = change->streamed ? change->value_bytes : 0;
  value_at_ = 0;
  return {};
}

// Whether no item is left; takes pieces until there is one.
Result<bool> PieceReader::at_end() {
  while (at_ == end_) {
    if (last_) return true;
    if (Status s = take_piece(); !s.ok()) return s;
  }
  return false;
}

// False: the commit has no more. Items that are no changes are taken in.
Result<bool> PieceReader::take_item(FeedChange* change) {
  while (true) {
    Result<bool> end = at_end();
    if (!end.ok()) return end;
    if (*end) return false;
    const auto kind = static_cast<uint8_t>(*at_++);
    if (kind != kTree) {
      const Status status = take_change(kind, change);
      return status.ok() ? Result<bool>(true) : status;
    }
    if (Status s = take_tree(); !s.ok()) return s;
  }
}

Result<bool> PieceReader::next(FeedChange* change) {
  char passed[4096];
  while (value_left_ > 0) {  // what nobody has read
    Result<size_t> got = read_value(value_at_, passed);
    if (!got.ok()) return got.status();
  }
  return take_item(change);
}

Result<size_t> PieceReader::read_value(uint64_t offset, std::span<char> buffer) {
  if (offset != value_at_) {
    return Status(StatusCode::kInvalidArgument, "a value in pieces is read from its begin on");
  }
  if (value_left_ == 0 || buffer.empty()) return size_t{0};
  while (data_.empty()) {
    Result<bool> end = at_end();
    if (!end.ok()) return end.status();
    if (*end || static_cast<uint8_t>(*at_++) != kData || !take_bytes(&data_) ||
        data_.size() > value_left_) {
      return damaged();
    }
  }
  const size_t size = std::min(buffer.size(), data_.size());
  std::memcpy(buffer.data(), data_.data(), size);
  data_.remove_prefix(size);
  value_left_ -= size;
  value_at_ += size;
  return size;
}

}  // namespace hawthorn::db
