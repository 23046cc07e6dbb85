#include "base/bytes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "base/prng.h"

namespace hawthorn {
namespace {

std::vector<uint64_t> interesting_numbers() {
  std::vector<uint64_t> numbers = {0, std::numeric_limits<uint64_t>::max()};
  for (int bit = 0; bit < 64; ++bit) {
    const uint64_t power = uint64_t{1} << bit;
    numbers.insert(numbers.end(), {power - 1, power, power + 1});
  }
  return numbers;
}

TEST(BytesTest, StoresLittleEndian) {
  char buffer[4];
  store<uint32_t>(buffer, 0x04030201);
  EXPECT_EQ(std::string(buffer, 4), "\x01\x02\x03\x04");
  EXPECT_EQ(load<uint32_t>(buffer), 0x04030201u);
  std::string text;
  append<uint16_t>(text, 0x0201);
  EXPECT_EQ(text, "\x01\x02");
}

TEST(BytesTest, VarintsRoundTrip) {
  for (const uint64_t number : interesting_numbers()) {
    std::string text;
    append_varint(text, number);
    EXPECT_EQ(text.size(), varint_bytes(number)) << number;
    uint64_t read = ~number;
    EXPECT_EQ(get_varint(text.data(), text.data() + text.size(), &read), text.data() + text.size());
    EXPECT_EQ(read, number);
    for (size_t cut = 0; cut < text.size(); ++cut) {
      EXPECT_EQ(get_varint(text.data(), text.data() + cut, &read), nullptr);
    }
  }
}

TEST(BytesTest, VarintsOverSixtyFourBitsAreRefused) {
  uint64_t read = 0;
  const std::string eleven(11, '\x80');
  EXPECT_EQ(get_varint(eleven.data(), eleven.data() + eleven.size(), &read), nullptr);
  const std::string too_large = std::string(9, '\xff') + '\x02';
  EXPECT_EQ(get_varint(too_large.data(), too_large.data() + too_large.size(), &read), nullptr);
}

TEST(BytesTest, HeadsOrderAsKeys) {
  Prng prng(1);
  for (int i = 0; i < 20000; ++i) {
    const size_t skip = prng.below(4);
    std::string a(skip, 'p');
    std::string b = a;
    for (std::string* key : {&a, &b}) {
      const size_t more = prng.below(12);
      for (size_t j = 0; j < more; ++j) key->push_back(static_cast<char>(prng.below(3) * 127));
    }
    const uint64_t head_a = key_head(a, skip);
    const uint64_t head_b = key_head(b, skip);
    if (head_a < head_b) {
      EXPECT_LT(a, b);
    } else if (head_b < head_a) {
      EXPECT_LT(b, a);
    }
  }
  EXPECT_EQ(key_head("ab", 5), 0u);
}

TEST(BytesTest, CommonPrefixAndAlignment) {
  EXPECT_EQ(common_prefix("", "abc"), 0u);
  EXPECT_EQ(common_prefix("abx", "abc"), 2u);
  EXPECT_EQ(common_prefix("abc", "abc"), 3u);
  EXPECT_EQ(align_up(0, 4096), 0u);
  EXPECT_EQ(align_up(1, 4096), 4096u);
  EXPECT_EQ(align_up(4096, 4096), 4096u);
}

TEST(BytesTest, CopiesAndComparesAllSmallSizes) {
  const std::string from = "0123456789abcdefghijklmnopqrstuvwxyz";
  for (size_t size = 0; size <= from.size(); ++size) {
    const std::string_view view = std::string_view(from).substr(0, size);
    std::string to(size + 2, '.');
    copy_bytes(to.data() + 1, view);
    EXPECT_EQ(to, "." + std::string(view) + ".");
    std::string other(view);
    EXPECT_TRUE(equal_bytes(view, other));
    EXPECT_FALSE(equal_bytes(view, other + "x"));
    for (size_t at = 0; at < size; ++at) {
      other[at] ^= 1;
      EXPECT_FALSE(equal_bytes(view, other)) << size << " " << at;
      other[at] ^= 1;
    }
  }
  copy_bytes(nullptr, {});
  EXPECT_TRUE(equal_bytes({}, {}));
}

}  // namespace
}  // namespace hawthorn
