#include "base/checksum.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace hawthorn {
namespace {

// These numbers are part of the file format: they may never change.
TEST(ChecksumTest, KnownValues) {
  EXPECT_EQ(checksum64("", 0, 0), 0x2d06800538d394c2u);
  EXPECT_EQ(checksum32("", 0, 0), 0x38d394c2u);
  const Checksum128 empty = checksum128("", 0);
  EXPECT_EQ(empty.low, 0x6001c324468d497fu);
  EXPECT_EQ(empty.high, 0x99aa06d3014798d8u);
}

TEST(ChecksumTest, SaltAndEveryByteMatter) {
  for (const size_t size :
       {size_t{1}, size_t{16}, size_t{100}, size_t{240}, size_t{300}, size_t{4096}}) {
    std::string data(size, 'x');
    const uint32_t plain = checksum32(data.data(), size, 7);
    EXPECT_NE(plain, checksum32(data.data(), size, 8));
    EXPECT_EQ(plain, static_cast<uint32_t>(checksum64(data.data(), size, 7)));
    std::set<uint64_t> seen = {checksum64(data.data(), size, 7)};
    const Checksum128 wide = checksum128(data.data(), size);
    for (size_t i = 0; i < size; ++i) {
      data[i] ^= 1;
      EXPECT_TRUE(seen.insert(checksum64(data.data(), size, 7)).second) << size << " " << i;
      EXPECT_FALSE(checksum128(data.data(), size) == wide);
      data[i] ^= 1;
    }
  }
}

}  // namespace
}  // namespace hawthorn
