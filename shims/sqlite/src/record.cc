#include "shims/sqlite/src/record.h"

#include <cmath>
#include <iterator>

namespace hawthorn::sqlite {
namespace {

// SQLite's varint has the high bits first, 7 in a byte, and all 8 of a ninth byte.
constexpr int kVarintBytesMax = 9;

// Returns the byte after it, or nullptr where it is cut off.
const char* take_varint(const char* at, const char* end, uint64_t* value) {
  uint64_t result = 0;
  for (int i = 1; i < kVarintBytesMax; ++i) {
    if (at == end) return nullptr;
    const auto byte = static_cast<unsigned char>(*at++);
    result = result << 7 | (byte & 0x7f);
    if (byte < 0x80) {
      *value = result;
      return at;
    }
  }
  if (at == end) return nullptr;
  *value = result << 8 | static_cast<unsigned char>(*at++);
  return at;
}

size_t varint_size(uint64_t value) {
  return (static_cast<size_t>(std::bit_width(value | 1)) + 6) / 7;
}

// Of what is below 2^56, as every size in memory is. Returns the byte after it.
char* put_varint(char* to, uint64_t value) {
  if (value < 0x80) {
    *to = static_cast<char>(value);
    return to + 1;
  }
  char* const end = to + varint_size(value);
  char* at = end;
  *--at = static_cast<char>(value & 0x7f);
  while (at != to) *--at = static_cast<char>((value >>= 7) | 0x80);
  return end;
}

// Sets a new field from its serial type and its body of `size` bytes.
void take_body(uint64_t type, const char* body, size_t size, Field* field) {
  if (type >= kBlobType) {
    field->type = (type & 1) != 0 ? FieldType::kText : FieldType::kBlob;
    field->bytes = {body, size};
  } else if (type == kRealType) {
    const auto value = std::bit_cast<double>(load_big_endian(body));
    if (std::isnan(value)) return;
    field->type = FieldType::kReal;
    field->real = value;
  } else if (type != kNullType) {
    field->type = FieldType::kInteger;
    field->integer = size != 0 ? take_integer(body, size) : static_cast<int64_t>(type - kZeroType);
  }
}

uint64_t serial_type(const Field& field) {
  switch (field.type) {
    case FieldType::kNull:
      return kNullType;
    case FieldType::kInteger:
      return integer_type(field.integer);
    case FieldType::kReal:
      return std::isnan(field.real) ? kNullType : kRealType;
    case FieldType::kText:
      return kTextType + 2 * uint64_t{field.bytes.size()};
    case FieldType::kBlob:
      return kBlobType + 2 * uint64_t{field.bytes.size()};
  }
  return kNullType;
}

// Returns the byte after it.
char* put_body(char* to, const Field& field, uint64_t type) {
  const size_t size = body_size(type);
  if (type >= kBlobType) {
    field.bytes.copy(to, size);
    return to + size;
  }
  auto bits = type == kRealType ? std::bit_cast<uint64_t>(field.real)
                                : static_cast<uint64_t>(field.integer);
  for (size_t i = size; i-- != 0; bits >>= 8) to[i] = static_cast<char>(bits);
  return to + size;
}

}  // namespace

bool take_apart(std::string_view record, size_t max_fields, std::vector<Field>* fields) {
  fields->clear();
  const char* const end = record.data() + record.size();
  uint64_t header_bytes = 0;
  const char* at = take_varint(record.data(), end, &header_bytes);
  if (at == nullptr || header_bytes > record.size()) return false;
  const char* body = record.data() + header_bytes;
  const char* const header_end = body;
  if (at > header_end) return false;
  while (at != header_end) {
    if (fields->size() >= max_fields) return true;
    uint64_t type = 0;
    at = take_varint(at, header_end, &type);
    if (at == nullptr || (type < kBlobType && type >= std::size(kBodyBytes))) return false;
    const size_t size = body_size(type);
    if (size > static_cast<size_t>(end - body)) return false;
    take_body(type, body, size, &fields->emplace_back());
    body += size;
  }
  return body == end;
}

namespace {

// With more types and bodies behind those of the fields.
void append_with(std::span<const Field> fields, std::string_view more_types,
                 std::string_view more_bodies, std::string* record) {
  size_t types_bytes = more_types.size();
  size_t bodies_bytes = more_bodies.size();
  for (const Field& field : fields) {
    const uint64_t type = serial_type(field);
    types_bytes += varint_size(type);
    bodies_bytes += body_size(type);
  }
  // The header's size counts itself, which can make it longer by a byte.
  size_t header_bytes = types_bytes + varint_size(types_bytes);
  header_bytes = types_bytes + varint_size(header_bytes);

  const size_t start = record->size();
  record->resize(start + header_bytes + bodies_bytes);
  char* at = record->data() + start;
  char* body = at + header_bytes;
  at = put_varint(at, header_bytes);
  for (const Field& field : fields) {
    const uint64_t type = serial_type(field);
    at = put_varint(at, type);
    body = put_body(body, field, type);
  }
  more_types.copy(at, more_types.size());
  more_bodies.copy(body, more_bodies.size());
}

}  // namespace

void append_record(std::span<const Field> fields, std::string* record) {
  append_with(fields, {}, {}, record);
}

bool append_record(std::span<const Field> fields, std::string_view rest, std::string* record) {
  uint64_t header_bytes = 0;
  const char* const types = take_varint(rest.data(), rest.data() + rest.size(), &header_bytes);
  if (types == nullptr || header_bytes > rest.size()) return false;
  const char* const bodies = rest.data() + header_bytes;
  if (types > bodies) return false;
  append_with(fields, {types, static_cast<size_t>(bodies - types)}, rest.substr(header_bytes),
              record);
  return true;
}

}  // namespace hawthorn::sqlite
