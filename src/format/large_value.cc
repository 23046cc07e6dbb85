#include "format/large_value.h"

#include <algorithm>

#include "base/assert.h"
#include "base/checksum.h"

namespace hawthorn::format {

namespace {
constexpr size_t kValueBlock = 4096;
constexpr char kInPieces = 1;
constexpr char kSealedPieces = 2;
constexpr size_t kExtentBytesMin = 11;  // of an encoded one
constexpr size_t kPieceBytesMin = 2;

Status malformed() {
  return Status(StatusCode::kCorruption, "the reference to a large value is malformed");
}

// Null where the last byte of a number says nothing: none has two encodings (3).
const char* if_shortest(const char* at, const char* behind) {
  return behind != nullptr && behind - at > 1 && behind[-1] == 0 ? nullptr : behind;
}
const char* take_varint(const char* at, const char* end, uint64_t* value) {
  return if_shortest(at, get_varint(at, end, value));
}
const char* take_varint32(const char* at, const char* end, uint32_t* value) {
  return if_shortest(at, get_varint32(at, end, value));
}

void append_pieces(std::string& to, const LargeValue& value) {
  HAWTHORN_ASSERT(value.contents.size() == value.extents.size());
  to.push_back(0);
  to.push_back(value.sealed ? kSealedPieces : kInPieces);
  append_varint(to, value.size);
  append_varint(to, value.extents.size());
  for (size_t i = 0; i < value.extents.size(); ++i) {
    const LargeContent& content = value.contents[i];
    append_varint(to, value.extents[i].file);
    append_varint(to, value.extents[i].block);
    append_varint(to, uint64_t{content.bytes} * 2 + (content.fresh ? 1 : 0));
    append(to, content.checksum);
  }
  append_varint(to, value.pieces.size());
  for (const LargePiece& piece : value.pieces) {
    append_varint(to, piece.hole() ? 0 : uint64_t{piece.extent} + 1);
    append_varint(to, piece.size);
    if (!piece.hole()) append_varint(to, piece.offset);
  }
}

// Null: malformed.
const char* decode_content(const char* at, const char* end, ExtentAddress* address,
                           LargeContent* content) {
  at = take_varint32(at, end, &address->file);
  if (at != nullptr) at = take_varint32(at, end, &address->block);
  uint64_t bytes = 0;
  if (at != nullptr) at = take_varint(at, end, &bytes);
  if (at == nullptr || end - at < 8) return nullptr;
  if (bytes < 2 || bytes / 2 > kLargeExtentBytesMax) return nullptr;
  content->bytes = static_cast<uint32_t>(bytes / 2);
  content->fresh = bytes % 2 != 0;
  content->checksum = load<uint64_t>(at);
  address->blocks = content->blocks();
  return at + 8;
}

// Null: malformed.
const char* decode_piece(const char* at, const char* end, const LargeValue& value,
                         LargePiece* piece) {
  uint64_t extent = 0;
  at = take_varint(at, end, &extent);
  if (at != nullptr) at = take_varint(at, end, &piece->size);
  if (at == nullptr || piece->size == 0 || extent > value.extents.size()) return nullptr;
  if (extent == 0) return at;
  piece->extent = static_cast<uint32_t>(extent - 1);
  at = take_varint32(at, end, &piece->offset);
  const uint64_t bytes = value.contents[piece->extent].bytes;
  if (at == nullptr || piece->size > bytes || piece->offset > bytes - piece->size) return nullptr;
  return at;
}

Result<LargeValue> decode_pieces(const char* at, const char* end, bool sealed) {
  LargeValue value;
  value.sealed = sealed;
  uint64_t count = 0;
  at = take_varint(at, end, &value.size);
  if (at != nullptr) at = take_varint(at, end, &count);
  if (at == nullptr || count > kLargePiecesMax ||
      count > static_cast<size_t>(end - at) / kExtentBytesMin) {
    return malformed();
  }
  value.extents.resize(count);
  value.contents.resize(count);
  for (size_t i = 0; i < count; ++i) {
    value.contents[i].sealed = sealed;
    at = decode_content(at, end, &value.extents[i], &value.contents[i]);
    if (at == nullptr) return malformed();
  }
  at = take_varint(at, end, &count);
  if (at == nullptr || count == 0 || count > kLargePiecesMax ||
      count > static_cast<size_t>(end - at) / kPieceBytesMin) {
    return malformed();
  }
  value.pieces.resize(count);
  std::vector<bool> used(value.extents.size());
  uint64_t left = value.size;
  for (LargePiece& piece : value.pieces) {
    at = decode_piece(at, end, value, &piece);
    if (at == nullptr || piece.size > left) return malformed();
    left -= piece.size;
    if (!piece.hole()) used[piece.extent] = true;
  }
  if (at != end || left != 0 || !std::all_of(used.begin(), used.end(), [](bool is) { return is; }))
    return malformed();
  return value;
}

Result<LargeValue> decode_whole(const char* at, const char* end) {
  LargeValue value;
  uint64_t count = 0;
  uint64_t blocks = 0;
  at = take_varint(at, end, &value.size);
  if (at == nullptr || end - at < 8) return malformed();
  value.checksum = load<uint64_t>(at);
  at = take_varint(at + 8, end, &count);
  // Each extent takes three bytes at least: a count cannot make us reserve more than the input's
  // size.
  if (at == nullptr || count > static_cast<size_t>(end - at) / 3) return malformed();
  value.extents.reserve(count);
  for (uint64_t i = 0; i < count; ++i) {
    ExtentAddress extent;
    for (uint32_t* field : {&extent.file, &extent.block, &extent.blocks}) {
      at = take_varint32(at, end, field);
      if (at == nullptr) return malformed();
    }
    blocks += extent.blocks;
    value.extents.push_back(extent);
  }
  if (at != end || value.size > blocks * kValueBlock) return malformed();
  return value;
}
}  // namespace

void append_large_value(std::string& to, const LargeValue& value) {
  if (value.in_pieces()) return append_pieces(to, value);
  append_varint(to, value.size);
  append(to, value.checksum);
  append_varint(to, value.extents.size());
  for (const ExtentAddress& extent : value.extents) {
    append_varint(to, extent.file);
    append_varint(to, extent.block);
    append_varint(to, extent.blocks);
  }
}

Result<LargeValue> decode_large_value(std::string_view encoded) {
  const char* const at = encoded.data();
  const char* const end = at + encoded.size();
  // A whole one without bytes was never written.
  if (encoded.size() < 2 || encoded[0] != 0) return decode_whole(at, end);
  if (encoded[1] != kInPieces && encoded[1] != kSealedPieces) {
    return Status(StatusCode::kNotSupported, "a large value has a form of a newer version");
  }
  return decode_pieces(at + 2, end, encoded[1] == kSealedPieces);
}

std::vector<ExtentAddress> fresh_extents(const LargeValue& value) {
  if (!value.in_pieces()) return value.extents;
  std::vector<ExtentAddress> fresh;
  for (size_t i = 0; i < value.extents.size(); ++i) {
    if (value.contents[i].fresh) fresh.push_back(value.extents[i]);
  }
  return fresh;
}

uint64_t extend_large_checksum(uint64_t checksum, std::string_view chunk) {
  HAWTHORN_ASSERT(chunk.size() <= kLargeChunkBytes);
  return checksum64(chunk.data(), chunk.size(), checksum);
}

uint64_t large_sum(std::string_view bytes) { return checksum64(bytes.data(), bytes.size(), 0); }

}  // namespace hawthorn::format
