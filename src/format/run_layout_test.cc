#include "format/run_layout.h"

#include <gtest/gtest.h>

#include "base/prng.h"

namespace hawthorn::format {
namespace {

TEST(RunLayoutTest, GroupsAreWholeCacheLines) {
  for (uint32_t g = 0; g < 1000; ++g) {
    const size_t offset = GroupLayout().offset(g);
    EXPECT_EQ(offset, g / 21 * size_t{4096} + 64 + g % 21 * size_t{192});
    EXPECT_EQ(offset % 64, 0u);
  }
}

TEST(RunLayoutTest, WideGroupsLieWhereADivisionSays) {
  for (uint32_t value = 0; value <= kWideValueBytesMax; ++value) {
    const GroupLayout layout = GroupLayout::wide(value);
    EXPECT_EQ(layout.bytes % 64, 0u);
    EXPECT_GE(layout.bytes, 128 + 16 * value);
    EXPECT_EQ(layout.per_block, 4032 / layout.bytes);
    const uint32_t last = run_group_count(kRunEntriesMax) - 1;
    for (uint32_t n = 0; n < 3000; ++n) {
      for (const uint32_t g : {n, last - n, n * (last / 3000)}) {
        EXPECT_EQ(layout.block_of(g), g / layout.per_block) << g << ", values of " << value;
        EXPECT_EQ(layout.offset(g), g / layout.per_block * size_t{4096} + 64 +
                                        g % layout.per_block * size_t{layout.bytes});
      }
    }
  }
}

TEST(RunLayoutTest, BlockCounts) {
  EXPECT_EQ(run_group_count(0), 1u);
  EXPECT_EQ(run_group_count(16), 1u);
  EXPECT_EQ(run_group_count(17), 2u);
  EXPECT_EQ(run_index_blocks(21), 1u);
  EXPECT_EQ(run_index_blocks(22), 2u);
  EXPECT_EQ(run_heap_blocks(0), 0u);
  EXPECT_EQ(run_heap_blocks(1), 1u);
  EXPECT_EQ(run_heap_blocks(4080), 1u);
  EXPECT_EQ(run_heap_blocks(4081), 2u);
  EXPECT_EQ(run_header_blocks(0, 0), 1u);
  EXPECT_EQ(run_header_blocks((4096 - 704) / 4, 0), 1u);
  EXPECT_EQ(run_header_blocks((4096 - 704) / 4 + 1, 0), 2u);
}

TEST(RunLayoutTest, TrustedAndUntrustedDecodingAgree) {
  Prng prng(20240604);
  int good = 0;
  for (int i = 0; i < 200000; ++i) {
    char bytes[64];
    const size_t size = prng.below(sizeof bytes);
    for (size_t b = 0; b < size; ++b) {
      bytes[b] = static_cast<char>(prng.one_in(2) ? prng.below(20) : prng.next());
    }
    const std::unique_ptr<char[]> exact(
        new char[size]);  // so that a sanitizer sees one byte too much
    std::memcpy(exact.get(), bytes, size);
    HeapRecord checked;
    if (!decode_untrusted_record(exact.get(), exact.get() + size, &checked)) continue;
    ++good;
    const HeapRecord trusted = decode_record(exact.get());
    EXPECT_EQ(trusted.kind, checked.kind);
    EXPECT_EQ(trusted.rest_size, checked.rest_size);
    EXPECT_EQ(trusted.tail, checked.tail);
    EXPECT_EQ(trusted.cts, checked.cts);
    EXPECT_EQ(trusted.expiry, checked.expiry);
    EXPECT_EQ(trusted.value, checked.value);
    EXPECT_EQ(trusted.extent, checked.extent);
    EXPECT_EQ(trusted.offset, checked.offset);
    EXPECT_EQ(trusted.size, checked.size);
    EXPECT_EQ(trusted.end, checked.end);
  }
  EXPECT_GT(good, 1000);
}

TEST(RunLayoutTest, LargeValuesRoundTrip) {
  Prng prng(20240605);
  for (int i = 0; i < 1000; ++i) {
    LargeValue value{0, prng.next(), {}};
    const uint64_t extents = 1 + prng.below(20);
    for (uint64_t e = 0; e < extents; ++e) {
      value.extents.push_back({static_cast<uint32_t>(prng.next()),
                               static_cast<uint32_t>(prng.next()),
                               static_cast<uint32_t>(prng.next() >> prng.below(64)) | 1});
      value.size += value.extents.back().blocks * uint64_t{kRunBlockBytes};
    }
    std::string encoded;
    append_large_value(encoded, value);
    const Result<LargeValue> decoded = decode_large_value(encoded);
    ASSERT_TRUE(decoded.ok());
    EXPECT_EQ(*decoded, value);
    for (size_t size = 0; size < encoded.size(); ++size) {
      EXPECT_FALSE(decode_large_value(std::string_view(encoded).substr(0, size)).ok());
    }
    EXPECT_FALSE(decode_large_value(encoded + "x").ok());
    value.size += 1;
    encoded.clear();
    append_large_value(encoded, value);
    EXPECT_FALSE(decode_large_value(encoded).ok()) << "more bytes than its extents hold";
  }
}

TEST(RunLayoutTest, LargeChecksumsGrowByChunks) {
  const std::string chunk(kLargeChunkBytes, 'x');
  const uint64_t one = extend_large_checksum(0, chunk);
  EXPECT_NE(one, extend_large_checksum(one, chunk));
  EXPECT_EQ(extend_large_checksum(0, "hawthorn"), 15004464297051966312u);
}

}  // namespace
}  // namespace hawthorn::format
