#include "format/label.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/assert.h"

namespace hawthorn::format {

namespace {
constexpr size_t kGroupBytes = 8;
constexpr size_t kSearchBytes = 32;  // what label_middle looks at
constexpr uint64_t kDigitMax = (uint64_t{1} << 63) - 2;
constexpr uint64_t kStep = uint64_t{1} << 32;  // beyond the first and the last one
constexpr int kRowShift = 10;

uint64_t group_of(std::string_view bytes) {
  uint64_t group = 0;
  for (size_t i = 0; i < kGroupBytes; ++i) group = group << 8 | static_cast<uint8_t>(bytes[i]);
  return group;
}

void append_group(std::string* to, uint64_t group) {
  for (int shift = 56; shift >= 0; shift -= 8) to->push_back(static_cast<char>(group >> shift));
}

// What is left of a bound at one level; without bytes there is none here.
class Bound {
 public:
  explicit Bound(std::string_view bytes) : bytes_(bytes) {}
  bool there() const { return !bytes_.empty(); }
  uint64_t group() const { return group_of(bytes_); }
  bool goes_on() const { return there() && (group() & 1) != 0; }
  Bound next() const { return Bound(bytes_.substr(kGroupBytes)); }

 private:
  std::string_view bytes_;
};

uint64_t choose(uint64_t low, uint64_t high, bool from, bool to, LabelNear near) {
  const uint64_t room = high - low;
  if (from && !to) return low + std::min(kStep, room / 2);
  if (to && !from) return high - std::min(kStep, room / 2);
  if (from && near == LabelNear::kBefore) return low + (room >> kRowShift);
  if (to && near == LabelNear::kBehind) return high - (room >> kRowShift);
  return low + room / 2;
}
}  // namespace

std::string label_between(std::string_view before, std::string_view behind, LabelNear near) {
  HAWTHORN_ASSERT(before.empty() || behind.empty() || before < behind);
  std::string label;
  Bound low(before);
  Bound high(behind);
  for (;;) {
    // The digits with which it may end here. 0 is left, so that there is room before each.
    const uint64_t first = low.there() ? low.group() / 2 + 1 : 1;
    // Signed: there may be none below 0.
    const int64_t last = high.there() ? static_cast<int64_t>((high.group() + 1) / 2) - 1
                                      : static_cast<int64_t>(kDigitMax);
    if (static_cast<int64_t>(first) <= last) {
      const uint64_t digit =
          choose(first, static_cast<uint64_t>(last), low.there(), high.there(), near);
      append_group(&label, digit * 2);
      return label;
    }
    // It goes on behind the same digit as the one before it; where there is none, behind 0.
    const uint64_t group = low.there() ? low.group() | 1 : 1;
    append_group(&label, group);
    low = low.goes_on() ? low.next() : Bound({});
    high = high.there() && high.group() == group ? high.next() : Bound({});
  }
}

std::optional<size_t> label_bytes(std::string_view bytes) {
  for (size_t at = 0; at + kGroupBytes <= bytes.size(); at += kGroupBytes) {
    if ((group_of(bytes.substr(at)) & 1) == 0) return at + kGroupBytes;
  }
  return std::nullopt;
}

std::string label_middle(std::string_view before, std::string_view behind) {
  std::array<uint32_t, kSearchBytes> sum = {};
  for (size_t i = 0; i < kSearchBytes; ++i) {
    const uint32_t low = i < before.size() ? static_cast<uint8_t>(before[i]) : 0;
    const uint32_t otherwise = behind.empty() ? 255 : 0;
    const uint32_t high = i < behind.size() ? static_cast<uint8_t>(behind[i]) : otherwise;
    sum[i] = low + high;
  }
  for (size_t i = kSearchBytes - 1; i > 0; --i) {
    sum[i - 1] += sum[i] >> 8;
    sum[i] &= 255;
  }
  std::string middle;
  uint32_t carry = 0;
  for (const uint32_t byte : sum) {
    const uint32_t value = carry << 8 | byte;
    middle.push_back(static_cast<char>(value >> 1));
    carry = value & 1;
  }
  return std::max(middle, std::string(before));
}

}  // namespace hawthorn::format
