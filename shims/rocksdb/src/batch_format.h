#pragma once
// The bytes of a write batch, as RocksDB's Data() has them:
//
//   8 bytes  sequence number, little-endian
//   4 bytes  count of operations, little-endian
//   records  a tag; the family's id (varint) where the tag says so; strings, each behind its length
//            (varint)
//
// Used by WriteBatch and DB::Write. Threads: any. Bytes may come from anywhere: everything is
// checked.

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "rocksdb/slice.h"

namespace hawthorn::rocks {

inline constexpr size_t kBatchHeaderBytes = 12;
inline constexpr size_t kBatchCountAt = 8;

enum class BatchTag : unsigned char {
  kDelete = 0x0,
  kPut = 0x1,
  kMerge = 0x2,
  kLogData = 0x3,
  kFamilyDelete = 0x4,
  kFamilyPut = 0x5,
  kFamilyMerge = 0x6,
  kSingleDelete = 0x7,
  kFamilySingleDelete = 0x8,
  kBeginPrepare = 0x9,
  kEndPrepare = 0xA,
  kCommit = 0xB,
  kRollback = 0xC,
  kNoop = 0xD,
  kFamilyDeleteRange = 0xE,
  kDeleteRange = 0xF,
  kBeginPersistedPrepare = 0x12,
  kBeginUnprepare = 0x13,
  kPutEntity = 0x16,
  kFamilyPutEntity = 0x17,
};

struct BatchRecord {
  BatchTag tag = BatchTag::kNoop;  // that without a family, whatever was there
  uint32_t family = 0;
  rocksdb::Slice key;    // of marks: the id of the transaction; of log data: those
  rocksdb::Slice value;  // of ranges: their end; of entities: columns (entities.h)
};

inline constexpr size_t kVarintBytesMax = 5;

// Returns where it ends: there is room for kVarintBytesMax.
inline char* put_varint32(char* to, uint32_t number) {
  for (; number >= 0x80; number >>= 7) *to++ = static_cast<char>(number | 0x80);
  *to++ = static_cast<char>(number);
  return to;
}

inline void append_varint32(size_t number, std::string* to) {
  char bytes[kVarintBytesMax];
  to->append(bytes, put_varint32(bytes, static_cast<uint32_t>(number)));
}

// Bytes behind their length.
inline void append_string(std::string_view bytes, std::string* to) {
  append_varint32(bytes.size(), to);
  to->append(bytes);
}

inline const char* read_varint32(const char* at, const char* end, uint32_t* number) {
  if (at < end && (static_cast<unsigned char>(*at) & 0x80) == 0) {
    *number = static_cast<unsigned char>(*at);
    return at + 1;
  }
  uint32_t result = 0;
  for (uint32_t shift = 0; shift <= 28 && at < end; shift += 7) {
    const auto byte = static_cast<unsigned char>(*at++);
    result |= static_cast<uint32_t>(byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) {
      *number = result;
      return at;
    }
  }
  return nullptr;
}

inline const char* read_string(const char* at, const char* end, rocksdb::Slice* string) {
  uint32_t size = 0;
  at = read_varint32(at, end, &size);
  if (at == nullptr || static_cast<size_t>(end - at) < size) return nullptr;
  *string = rocksdb::Slice(at, size);
  return at + size;
}

// The record at `at`, which is below `end`; returns where the next one is, or null for what is no
// record.
inline const char* read_record(const char* at, const char* end, BatchRecord* record) {
  auto tag = static_cast<BatchTag>(*at++);
  record->family = 0;
  switch (tag) {
    case BatchTag::kFamilyDelete:
      tag = BatchTag::kDelete;
      at = read_varint32(at, end, &record->family);
      break;
    case BatchTag::kFamilyPut:
      tag = BatchTag::kPut;
      at = read_varint32(at, end, &record->family);
      break;
    case BatchTag::kFamilyMerge:
      tag = BatchTag::kMerge;
      at = read_varint32(at, end, &record->family);
      break;
    case BatchTag::kFamilySingleDelete:
      tag = BatchTag::kSingleDelete;
      at = read_varint32(at, end, &record->family);
      break;
    case BatchTag::kFamilyDeleteRange:
      tag = BatchTag::kDeleteRange;
      at = read_varint32(at, end, &record->family);
      break;
    case BatchTag::kFamilyPutEntity:
      tag = BatchTag::kPutEntity;
      at = read_varint32(at, end, &record->family);
      break;
    default:
      break;
  }
  if (at == nullptr) return nullptr;
  record->tag = tag;
  switch (tag) {
    case BatchTag::kPut:
    case BatchTag::kMerge:
    case BatchTag::kDeleteRange:
    case BatchTag::kPutEntity:
      at = read_string(at, end, &record->key);
      return at == nullptr ? nullptr : read_string(at, end, &record->value);
    case BatchTag::kDelete:
    case BatchTag::kSingleDelete:
    case BatchTag::kLogData:
    case BatchTag::kEndPrepare:
    case BatchTag::kCommit:
    case BatchTag::kRollback:
      return read_string(at, end, &record->key);
    case BatchTag::kBeginPrepare:
    case BatchTag::kBeginPersistedPrepare:
    case BatchTag::kBeginUnprepare:
    case BatchTag::kNoop:
      return at;
    default:
      return nullptr;
  }
}

// What counts as an operation.
inline bool is_write(BatchTag tag) {
  return tag == BatchTag::kPut || tag == BatchTag::kPutEntity || tag == BatchTag::kDelete ||
         tag == BatchTag::kSingleDelete || tag == BatchTag::kDeleteRange || tag == BatchTag::kMerge;
}

inline uint32_t batch_count(const std::string& rep) {
  uint32_t count = 0;
  std::memcpy(&count, rep.data() + kBatchCountAt, sizeof(count));
  return count;
}

}  // namespace hawthorn::rocks
