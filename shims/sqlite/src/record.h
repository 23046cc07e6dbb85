#pragma once
// SQLite's record format, in which the rows of tables and the entries of indexes are: the size of
// the header, a serial type for each field, then the fields' bodies.
//
// Not here: keys that sort as records do (record_key.h), affinities, encodings of text: a text is
// its bytes. Used by the cursors. Threads: pure functions.
//
// 1. A record is input: nothing outside of it is read, whatever its bytes say.
// 2. A NaN counts as NULL, as it does for SQLite.
// 3. append_record() gives the bytes that SQLite gives for a database of file format 4;
//    take_apart() gives these fields back. It also takes what SQLite would have made smaller.

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hawthorn::sqlite {

enum class FieldType : uint8_t { kNull, kInteger, kReal, kText, kBlob };

// Only the member of its type counts. The bytes of a text or a blob are the record's own.
struct Field {
  FieldType type = FieldType::kNull;
  int64_t integer = 0;
  double real = 0;
  std::string_view bytes = {};
};

// Takes the first `max_fields` fields apart, all where there are not more; the fields behind them
// are not looked at. What was in `fields` goes; one that is used again and again allocates nothing.
// False: it is no record, and the fields mean nothing. Then its header is cut off or longer than
// the record, a serial type is reserved, a body is cut off, or bytes are left behind the last one.
bool take_apart(std::string_view record, size_t max_fields, std::vector<Field>* fields);

// Appends the record of these fields.
void append_record(std::span<const Field> fields, std::string* record);
// The same with those of another record behind them, which is not looked at but for where its
// header ends. False: it has none, and nothing was appended.
bool append_record(std::span<const Field> fields, std::string_view rest, std::string* record);

// ---- Serial types

inline constexpr uint64_t kNullType = 0;
inline constexpr uint64_t kRealType = 7;
inline constexpr uint64_t kZeroType = 8;  // and 9 for 1
inline constexpr uint64_t kBlobType = 12;
inline constexpr uint64_t kTextType = 13;
// By serial type, those of blobs and texts apart.
inline constexpr uint8_t kBodyBytes[] = {0, 1, 2, 3, 4, 6, 8, 8, 0, 0};

// The smallest one.
inline uint64_t integer_type(int64_t value) {
  if (value == 0 || value == 1) return kZeroType + static_cast<uint64_t>(value);
  constexpr uint8_t kTypes[] = {0, 1, 2, 3, 4, 5, 5, 6, 6};  // by bytes needed
  const auto magnitude = static_cast<uint64_t>(value < 0 ? ~value : value);
  return kTypes[(std::bit_width(magnitude) + 8) / 8];  // with a bit for the sign
}

// Of a type that is one.
inline size_t body_size(uint64_t type) {
  return type >= kBlobType ? (type - kBlobType) / 2 : kBodyBytes[type];
}

// Of `size` bytes, not none.
inline int64_t take_integer(const char* body, size_t size) {
  int64_t value = static_cast<signed char>(*body);
  for (size_t i = 1; i < size; ++i) value = value << 8 | static_cast<unsigned char>(body[i]);
  return value;
}

// Numbers of 8 bytes, the high ones first, as they are in records and in keys.
inline uint64_t load_big_endian(const char* from) {
  static_assert(std::endian::native == std::endian::little);
  uint64_t value;
  std::memcpy(&value, from, sizeof(value));
  return __builtin_bswap64(value);
}
inline void store_big_endian(char* to, uint64_t value) {
  value = __builtin_bswap64(value);
  std::memcpy(to, &value, sizeof(value));
}

}  // namespace hawthorn::sqlite
