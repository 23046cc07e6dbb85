#pragma once
// The operations inside log records and write batches: encode and decode. Pure.
//
// FIELD        ENCODING
// type         u8: 1 put, 2 delete, 3 put of a large value (its bytes are an encoded LargeValue),
//              4 attach: a whole container, whose bytes are an encoded ContainerRecord without
//              timestamps; the key is its low key. Only in transactions whose commit record is of
//              type kAttachingCommit; 5 merge: the value is an operand of the tree's merge
//              operator; 6 delete of a range: the key is its first one, the value is empty, or a
//              byte 1 and the first key behind it. It ranks below all others of its transaction
// tree         varint, tree id
// key size     varint, up to kKeyBytesMax
// value size   varint, up to kValueBytesMax; 0 for a delete
// key, value   bytes

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.h"

namespace hawthorn::format {

enum class OperationType : uint8_t {
  kPut = 1,
  kDelete = 2,
  kPutLarge = 3,
  kAttach = 4,
  kMerge = 5,
  kDeleteRange = 6
};

inline constexpr size_t kKeyBytesMax = 65535;
inline constexpr size_t kValueBytesMax = size_t{64} << 20;

struct Operation {
  OperationType type = OperationType::kPut;
  uint32_t tree = 0;
  std::string_view key;
  std::string_view value;
};

// The value of a kDeleteRange.
inline std::string encode_range_end(const std::optional<std::string_view>& high) {
  return high.has_value() ? std::string(1, '\1').append(*high) : std::string();
}
inline std::optional<std::string_view> range_end(std::string_view value) {
  if (value.empty()) return std::nullopt;
  return value.substr(1);
}

// Sizes must be within the limits.
inline void append_operation(std::string& to, const Operation& operation) {
  char header[1 + 3 * kVarintBytesMax];
  char* at = header;
  *at++ = static_cast<char>(operation.type);
  at = put_varint(at, operation.tree);
  at = put_varint(at, operation.key.size());
  at = put_varint(at, operation.value.size());
  to.append(header, static_cast<size_t>(at - header));
  to.append(operation.key);
  to.append(operation.value);
}

// Decodes the operation at `from`; returns the byte behind it, or nullptr when the bytes are not
// one.
inline const char* decode_operation(const char* from, const char* end, Operation* operation) {
  if (from >= end) return nullptr;
  const auto type = static_cast<uint8_t>(*from++);
  if (type < 1 || type > 6) return nullptr;
  uint64_t tree = 0;
  uint64_t key_size = 0;
  uint64_t value_size = 0;
  if ((from = get_varint(from, end, &tree)) == nullptr || tree > UINT32_MAX) return nullptr;
  if ((from = get_varint(from, end, &key_size)) == nullptr || key_size > kKeyBytesMax)
    return nullptr;
  if ((from = get_varint(from, end, &value_size)) == nullptr || value_size > kValueBytesMax) {
    return nullptr;
  }
  if (static_cast<uint64_t>(end - from) < key_size + value_size) return nullptr;
  operation->type = static_cast<OperationType>(type);
  if (operation->type == OperationType::kDelete && value_size != 0) return nullptr;
  if (operation->type == OperationType::kDeleteRange && value_size > 1 + kKeyBytesMax)
    return nullptr;
  operation->tree = static_cast<uint32_t>(tree);
  operation->key = {from, key_size};
  operation->value = {from + key_size, value_size};
  return from + key_size + value_size;
}

}  // namespace hawthorn::format
