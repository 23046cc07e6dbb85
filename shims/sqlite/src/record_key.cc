#include "shims/sqlite/src/record_key.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>

#include "shims/of_thread.h"

namespace hawthorn::sqlite {
namespace {

using namespace std::string_view_literals;

constexpr uint8_t kNullTag = 0x05;
constexpr uint8_t kZeroTag = 0x20;
constexpr uint8_t kWholeTag = 0x21;  // and the number of bytes of the integer part
constexpr uint8_t kHugeTag = 0x2a;
constexpr uint8_t kTextTag = 0x40;
constexpr uint8_t kBlobTag = 0x60;

constexpr uint8_t kNoRest = 0;
constexpr uint8_t kRest = 1;
constexpr double kHuge = 0x1p64;

constexpr std::string_view kEscapedZero = "\x00\xff"sv;
constexpr std::string_view kTerminator = "\x00\x01"sv;

// What the bytes of a field are complemented with.
uint8_t mask_of(bool complemented) { return complemented ? 0xff : 0; }
uint64_t wide_mask_of(bool complemented) { return complemented ? ~uint64_t{0} : 0; }

void append_tag(uint8_t tag, bool descending, std::string* key) {
  key->push_back(static_cast<char>(tag ^ mask_of(descending)));
}

// The tag of a number that is not 0.
uint8_t signed_tag(uint8_t tag, bool negative) {
  return negative ? static_cast<uint8_t>(2 * kZeroTag - tag) : tag;
}

// Of the number `whole` + `rest`, or less than 0 by as much; not of 0.
void append_number(bool negative, uint64_t whole, double rest, bool descending, std::string* key) {
  const uint64_t mask = wide_mask_of(negative != descending);
  const auto size = (static_cast<unsigned>(std::bit_width(whole)) + 7) / 8;
  const auto tag = signed_tag(static_cast<uint8_t>(kWholeTag + size), negative);
  const bool has_rest = rest != 0;

  char buffer[1 + sizeof(whole) + 1 + sizeof(rest)];
  char* at = buffer;
  *at++ = static_cast<char>(tag ^ mask_of(descending));
  // All 8 bytes are written; what follows lies over those that do not count.
  if (size != 0) store_big_endian(at, (whole << (64 - 8 * size)) ^ mask);
  at += size;
  *at++ = static_cast<char>((has_rest ? kRest : kNoRest) ^ mask);
  if (has_rest) {
    store_big_endian(at, std::bit_cast<uint64_t>(rest) ^ mask);
    at += sizeof(rest);
  }
  key->append(buffer, static_cast<size_t>(at - buffer));
}

void append_integer(int64_t value, bool descending, std::string* key) {
  if (value == 0) return append_tag(kZeroTag, descending, key);
  const auto bits = static_cast<uint64_t>(value);
  append_number(value < 0, value < 0 ? 0 - bits : bits, 0, descending, key);
}

void append_real(double value, const ColumnOrder& order, std::string* key) {
  const bool descending = order.descending;
  if (std::isnan(value)) return append_tag(kNullTag, descending, key);
  if (value == 0) return append_tag(kZeroTag, descending, key);
  const bool negative = value < 0;
  const double magnitude = std::fabs(value);
  if (magnitude < kHuge) {
    const auto whole = static_cast<uint64_t>(magnitude);
    return append_number(negative, whole, magnitude - static_cast<double>(whole), descending, key);
  }
  append_tag(signed_tag(kHugeTag, negative), descending, key);
  char buffer[sizeof(magnitude)];
  store_big_endian(buffer,
                   std::bit_cast<uint64_t>(magnitude) ^ wide_mask_of(negative != descending));
  key->append(buffer, sizeof(buffer));
}

void append_escaped(std::string_view bytes, std::string* key) {
  const char* at = bytes.data();
  const char* const end = at + bytes.size();
  while (at != end) {
    const auto* zero = static_cast<const char*>(std::memchr(at, 0, static_cast<size_t>(end - at)));
    if (zero == nullptr) zero = end;
    key->append(at, static_cast<size_t>(zero - at));
    for (at = zero; at != end && *at == 0; ++at) key->append(kEscapedZero);
  }
}

void append_lowered(std::string_view text, std::string* key) {
  const size_t compared = std::min(text.find('\0'), text.size());
  const size_t start = key->size();
  key->append(text.substr(0, compared));
  char* const lowered = key->data() + start;
  for (size_t i = 0; i < compared; ++i) {
    const auto from_a = static_cast<uint8_t>(lowered[i] - 'A');
    lowered[i] = static_cast<char>(lowered[i] | (from_a < 26 ? 0x20 : 0));
  }
  for (size_t i = compared; i < text.size(); ++i) key->append(kEscapedZero);
}

// The part of a text that kRtrim compares.
std::string_view without_spaces_behind(std::string_view text) {
  return text.substr(0, text.find_last_not_of(' ') + 1);
}

void complement(char* bytes, size_t size) {
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(~bytes[i]);
}

void append_bytes(const Field& field, const ColumnOrder& order, std::string* key) {
  const size_t start = key->size();
  key->reserve(start + field.bytes.size() + 3);
  if (field.type == FieldType::kBlob) {
    key->push_back(static_cast<char>(kBlobTag));
    append_escaped(field.bytes, key);
  } else {
    key->push_back(static_cast<char>(kTextTag));
    if (order.collation == Collation::kNoCase) {
      append_lowered(field.bytes, key);
    } else if (order.collation == Collation::kRtrim) {
      append_escaped(without_spaces_behind(field.bytes), key);
    } else {
      append_escaped(field.bytes, key);
    }
  }
  key->append(kTerminator);
  if (order.descending) complement(key->data() + start, key->size() - start);
}

// The functions below take what they are named for from the front of a key.

bool take_bytes(bool descending, std::string_view* key, std::string* scratch,
                std::string_view* bytes) {
  const auto mask = mask_of(descending);
  const size_t start = scratch->size();
  for (;;) {
    const size_t zero = key->find(static_cast<char>(mask));
    if (zero == std::string_view::npos || zero + 1 == key->size()) return false;
    scratch->append(key->substr(0, zero));
    const auto next = static_cast<uint8_t>((*key)[zero + 1] ^ mask);
    key->remove_prefix(zero + 2);
    if (next == static_cast<uint8_t>(kTerminator[1])) break;
    if (next != static_cast<uint8_t>(kEscapedZero[1])) return false;
    scratch->push_back(static_cast<char>(mask));
  }
  const size_t size = scratch->size() - start;
  if (descending) complement(scratch->data() + start, size);
  *bytes = {scratch->data() + start, size};
  return true;
}

bool take_double(uint64_t mask, std::string_view* key, double* value) {
  if (key->size() < sizeof(*value)) return false;
  *value = std::bit_cast<double>(load_big_endian(key->data()) ^ mask);
  key->remove_prefix(sizeof(*value));
  return true;
}

void set_real(bool negative, double magnitude, Field* field) {
  field->type = FieldType::kReal;
  field->real = negative ? -magnitude : magnitude;
}

// False: neither an int64_t nor a double has this value.
bool set_whole(bool negative, uint64_t whole, Field* field) {
  if (whole <= static_cast<uint64_t>(INT64_MAX) + (negative ? 1 : 0)) {
    field->type = FieldType::kInteger;
    field->integer = static_cast<int64_t>(negative ? 0 - whole : whole);
    return true;
  }
  const auto magnitude = static_cast<double>(whole);
  set_real(negative, magnitude, field);
  return magnitude < kHuge && static_cast<uint64_t>(magnitude) == whole;
}

// Its tag is the front of the key no longer.
bool take_number(uint8_t tag, bool descending, std::string_view* key, Field* field) {
  if (tag == kZeroTag) {
    field->type = FieldType::kInteger;
    return true;
  }
  const bool negative = tag < kZeroTag;
  const uint64_t mask = wide_mask_of(negative != descending);
  tag = signed_tag(tag, negative);
  if (tag == kHugeTag) {
    double magnitude = 0;
    if (!take_double(mask, key, &magnitude)) return false;
    set_real(negative, magnitude, field);
    return magnitude >= kHuge;
  }

  if (tag < kWholeTag || tag > kHugeTag) return false;
  const unsigned size = tag - kWholeTag;
  if (key->size() <= size) return false;
  uint64_t whole = 0;
  for (unsigned i = 0; i < size; ++i) whole = whole << 8 | static_cast<uint8_t>((*key)[i] ^ mask);
  const auto marker = static_cast<uint8_t>((*key)[size] ^ mask);
  key->remove_prefix(size + 1);
  if ((static_cast<unsigned>(std::bit_width(whole)) + 7) / 8 != size) return false;
  if (marker == kNoRest) return whole != 0 && set_whole(negative, whole, field);

  double rest = 0;
  if (marker != kRest || !take_double(mask, key, &rest)) return false;
  const double magnitude = static_cast<double>(whole) + rest;
  set_real(negative, magnitude, field);
  // Only a sum that is exact is a number that was taken apart.
  return rest > 0 && rest < 1 && magnitude - static_cast<double>(whole) == rest;
}

// The key is not empty.
bool take_field(const ColumnOrder& order, std::string_view* key, std::string* scratch,
                Field* field) {
  const auto tag = static_cast<uint8_t>(key->front() ^ mask_of(order.descending));
  key->remove_prefix(1);
  if (tag == kNullTag) return true;
  if (tag == kTextTag) {
    field->type = FieldType::kText;
    return order.collation == Collation::kBinary &&
           take_bytes(order.descending, key, scratch, &field->bytes);
  }
  if (tag == kBlobTag) {
    field->type = FieldType::kBlob;
    return take_bytes(order.descending, key, scratch, &field->bytes);
  }
  return take_number(tag, order.descending, key, field);
}

}  // namespace

void append_field(const Field& field, const ColumnOrder& order, std::string* key) {
  switch (field.type) {
    case FieldType::kNull:
      return append_tag(kNullTag, order.descending, key);
    case FieldType::kInteger:
      return append_integer(field.integer, order.descending, key);
    case FieldType::kReal:
      return append_real(field.real, order, key);
    case FieldType::kText:
    case FieldType::kBlob:
      return append_bytes(field, order, key);
  }
}

void append_key(std::span<const Field> fields, std::span<const ColumnOrder> orders,
                std::string* key) {
  const size_t count = std::min(fields.size(), orders.size());
  for (size_t i = 0; i < count; ++i) append_field(fields[i], orders[i], key);
}

bool make_successor(std::string* prefix) {
  const size_t last = prefix->find_last_not_of('\xff');
  if (last == std::string::npos) return false;
  prefix->resize(last + 1);
  ++prefix->back();
  return true;
}

bool take_key_apart(std::string_view key, std::span<const ColumnOrder> orders,
                    std::vector<Field>* fields, std::string* scratch) {
  fields->clear();
  scratch->clear();
  // All that is taken fits, so that what views point to does not move.
  scratch->reserve(key.size());
  for (const ColumnOrder& order : orders) {
    if (key.empty()) break;
    if (!take_field(order, &key, scratch, &fields->emplace_back())) return false;
  }
  return key.empty();
}

namespace {

// The two functions below do what is behind them, for the records that most are: their fields come
// back from the key, and no size takes more than a byte. False: nobody knows.

constexpr size_t kByteMax = 0x7f;

// Appends what the key of a record's first fields does not have of it, as shorten_record does.
bool leave_out_key(std::string_view record, std::span<const ColumnOrder> orders,
                   std::string* value) {
  const size_t header_bytes = record.empty() ? 0 : static_cast<uint8_t>(record.front());
  if (header_bytes > kByteMax || header_bytes < 1 + orders.size() || record.size() < header_bytes) {
    return false;
  }
  const char* type_at = record.data() + 1;
  const char* body = record.data() + header_bytes;
  auto rest = record.size() - header_bytes;
  for (const ColumnOrder& order : orders) {
    const auto type = static_cast<uint8_t>(*type_at++);
    if (type > kByteMax || (type < kBlobType && type >= std::size(kBodyBytes))) return false;
    const size_t size = body_size(type);
    if (size > rest) return false;
    if (type >= kBlobType) {
      if ((type & 1) != 0 && order.collation != Collation::kBinary) return false;
    } else if (type == kRealType) {
      const auto real = std::bit_cast<double>(load_big_endian(body));
      if (std::isnan(real) || real == std::trunc(real)) return false;
    } else if (size != 0 && integer_type(take_integer(body, size)) != type) {
      return false;
    }
    body += size;
    rest -= size;
  }
  const size_t types_bytes = header_bytes - 1 - orders.size();
  if (types_bytes == 0) return rest == 0;
  value->push_back('\0');
  value->push_back(static_cast<char>(1 + types_bytes));
  value->append(type_at, types_bytes);
  value->append(body, rest);
  return true;
}

// Makes the record of a key, and of the record of the fields behind it, if there are any.
bool make_from_key(std::string_view key, std::span<const ColumnOrder> orders, std::string_view rest,
                   std::string* record) {
  char made[2 * kShortRecordBytesMax];  // a body is not longer than what the key has for it
  const size_t rest_header = rest.empty() ? 1 : static_cast<uint8_t>(rest.front());
  const size_t header_bytes = orders.size() + rest_header;
  if (header_bytes > kByteMax || header_bytes + key.size() + rest.size() > sizeof(made) ||
      rest_header == 0 || (!rest.empty() && rest_header > rest.size())) {
    return false;
  }
  made[0] = static_cast<char>(header_bytes);
  char* type_at = made + 1;
  char* body = made + header_bytes;
  const char* at = key.data();
  const char* const end = at + key.size();
  for (const ColumnOrder& order : orders) {
    if (at == end) return false;
    const uint8_t mask = mask_of(order.descending);
    const auto tag = static_cast<uint8_t>(*at++ ^ mask);
    uint64_t type = kNullType;
    if (tag == kTextTag || tag == kBlobTag) {
      if (tag == kTextTag && order.collation != Collation::kBinary) return false;
      const auto* zero =
          static_cast<const char*>(std::memchr(at, mask, static_cast<size_t>(end - at)));
      if (zero == nullptr || end - zero < 2 ||
          static_cast<uint8_t>(zero[1] ^ mask) != static_cast<uint8_t>(kTerminator[1])) {
        return false;
      }
      const auto size = static_cast<size_t>(zero - at);
      type = (tag == kTextTag ? kTextType : kBlobType) + 2 * size;
      if (type > kByteMax) return false;
      std::memcpy(body, at, size);
      if (order.descending) complement(body, size);
      body += size;
      at = zero + 2;
    } else if (tag == kZeroTag) {
      type = kZeroType;
    } else if (tag != kNullTag) {
      const bool negative = tag < kZeroTag;
      const auto size = static_cast<size_t>(signed_tag(tag, negative) - kWholeTag);
      if (size == 0 || size > sizeof(uint64_t) || static_cast<size_t>(end - at) <= size)
        return false;
      const uint64_t wide = wide_mask_of(negative != order.descending);
      uint64_t whole = 0;
      for (size_t i = 0; i < size; ++i) whole = whole << 8 | static_cast<uint8_t>(at[i] ^ wide);
      if (static_cast<uint8_t>(at[size] ^ wide) != kNoRest || whole > uint64_t{INT64_MAX} ||
          whole >> (8 * size - 8) == 0) {
        return false;
      }
      const auto number = negative ? -static_cast<int64_t>(whole) : static_cast<int64_t>(whole);
      type = integer_type(number);
      const size_t body_bytes = kBodyBytes[type];
      auto bits = static_cast<uint64_t>(number);
      for (size_t i = body_bytes; i-- != 0; bits >>= 8) body[i] = static_cast<char>(bits);
      body += body_bytes;
      at += size + 1;
    }
    *type_at++ = static_cast<char>(type);
  }
  if (at != end) return false;
  if (!rest.empty()) {
    std::memcpy(type_at, rest.data() + 1, rest_header - 1);
    std::memcpy(body, rest.data() + rest_header, rest.size() - rest_header);
    body += rest.size() - rest_header;
  }
  record->assign(made, static_cast<size_t>(body - made));
  return true;
}

// Kept between calls; of one function each.
struct WholeParts {
  std::vector<Field> fields;
  std::string scratch;
};
struct ShortParts {
  std::vector<Field> fields;
  std::string whole;
};
struct KeyScratch {
  std::string text;
};

// The fields of the key, and behind them those of `rest`.
bool append_whole(std::string_view key, std::span<const ColumnOrder> orders, std::string_view rest,
                  std::string* record) {
  auto& [fields, scratch] = OfThread<WholeParts>::get();
  if (!take_key_apart(key, orders, &fields, &scratch) || fields.size() != orders.size()) {
    return false;
  }
  if (!rest.empty()) return append_record(fields, rest, record);
  append_record(fields, record);
  return true;
}

}  // namespace

bool shorten_record(std::string_view key, std::span<const ColumnOrder> orders,
                    std::string_view record, size_t bytes_max, std::string* value) {
  if (record.size() > bytes_max) return false;
  if (leave_out_key(record, orders, value)) return true;
  auto& [fields, whole] = OfThread<ShortParts>::get();
  if (!take_apart(record, SIZE_MAX, &fields) || fields.size() < orders.size()) return false;
  const size_t start = value->size();
  if (fields.size() > orders.size()) {
    value->push_back('\0');
    append_record(std::span(fields).subspan(orders.size()), value);
  }
  whole.clear();
  const bool same =
      append_whole(key, orders, std::string_view(*value).substr(std::min(start + 1, value->size())),
                   &whole) &&
      whole == record;
  if (!same) value->resize(start);
  return same;
}

bool restore_record(std::string_view key, std::span<const ColumnOrder> orders,
                    std::string_view value, std::string* record) {
  const std::string_view rest = value.substr(std::min<size_t>(1, value.size()));
  if (make_from_key(key, orders, rest, record)) return true;
  record->clear();
  return append_whole(key, orders, rest, record);
}

bool is_key(std::string_view key) {
  std::string& scratch = OfThread<KeyScratch>::get().text;
  while (!key.empty()) {
    Field field;
    // A tag and its complement are never both tags.
    const bool descending = static_cast<uint8_t>(key.front()) > kBlobTag;
    scratch.clear();
    if (!take_field({.descending = descending}, &key, &scratch, &field)) return false;
  }
  return true;
}

}  // namespace hawthorn::sqlite
