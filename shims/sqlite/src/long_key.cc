#include "shims/sqlite/src/long_key.h"

#include <cstdint>

#include "shims/sqlite/src/record.h"

namespace hawthorn::sqlite {
namespace {

constexpr std::string_view kLongValueMark("\0\0", 2);
constexpr size_t kLongValueHeadBytes = 2 + sizeof(uint64_t);

}  // namespace

std::string encode_long_value(const LongValue& value) {
  std::string bytes;
  bytes.reserve(kLongValueHeadBytes + value.rest.size() + value.record.size());
  bytes += kLongValueMark;
  char size[sizeof(uint64_t)];
  store_big_endian(size, value.rest.size());
  bytes.append(size, sizeof(size));
  bytes += value.rest;
  bytes += value.record;
  return bytes;
}

std::optional<LongValue> decode_long_value(std::string_view bytes) {
  if (bytes.size() < kLongValueHeadBytes || !bytes.starts_with(kLongValueMark)) return std::nullopt;
  const uint64_t size = load_big_endian(bytes.data() + kLongValueMark.size());
  bytes.remove_prefix(kLongValueHeadBytes);
  if (size == 0 || size > bytes.size()) return std::nullopt;
  return LongValue{.rest = bytes.substr(0, size), .record = bytes.substr(size)};
}

std::string label_between(std::string_view low, std::string_view high, Between where) {
  constexpr int kDigits = 256;
  std::string label;
  bool is_bounded = !high.empty();  // all digits so far are those of `high`
  for (size_t i = 0;; ++i) {
    const int from = i < low.size() ? static_cast<uint8_t>(low[i]) : 0;
    const int to = is_bounded ? static_cast<uint8_t>(high[i]) : kDigits;
    if (to - from > 1) {
      int digit = from + (to - from) / 2;
      if (where == Between::kNear && low.empty() != high.empty()) {
        digit = low.empty() ? to - 1 : from + 1;
      }
      label.push_back(static_cast<char>(digit));
      return label;
    }
    label.push_back(static_cast<char>(from));
    if (to > from) is_bounded = false;
  }
}

std::string label_of(size_t number, size_t count) {
  char digits[sizeof(uint64_t)];
  store_big_endian(digits, UINT64_MAX / (count + 1) * (number + 1));
  // A last digit that is not 0.
  return std::string(digits, sizeof(digits)) + '\x80';
}

}  // namespace hawthorn::sqlite
