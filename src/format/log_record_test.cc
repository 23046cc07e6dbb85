#include "format/log_record.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "base/checksum.h"

namespace hawthorn::format {
namespace {

constexpr uint64_t kSalt = 0x0123456789abcdef;

RecordHeader sample() {
  const std::string payload = "hawthorn";
  RecordHeader header{};
  header.length = static_cast<uint32_t>(record_bytes(payload.size()));
  header.lsn = 0x40000000;
  header.durable_lsn = 0x3ffff000;
  header.payload_checksum = checksum64(payload.data(), payload.size(), 0);
  header.payload_bytes = static_cast<uint32_t>(payload.size());
  header.operations = 3;
  header.type = static_cast<uint8_t>(RecordType::kCommit);
  seal(header, kSalt);
  return header;
}

std::string hex(const void* data, size_t size) {
  static const char digits[] = "0123456789abcdef";
  std::string text;
  for (size_t i = 0; i < size; ++i) {
    const auto byte = static_cast<const unsigned char*>(data)[i];
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

// The format must never drift: these bytes are what version 1 writes.
TEST(LogRecord, golden_image) {
  const RecordHeader header = sample();
  EXPECT_EQ(hex(&header, sizeof(header)),
            "ac6296fd38000000000000400000000000f0ff3f00000000684bd0f6c7903ad0"
            "08000000030000000200000000000000");
}

TEST(LogRecord, a_sealed_header_is_valid_at_its_own_place_only) {
  const RecordHeader header = sample();
  EXPECT_TRUE(valid(header, header.lsn, kSalt));
  EXPECT_FALSE(valid(header, header.lsn + 8, kSalt));
  EXPECT_FALSE(valid(header, header.lsn, kSalt + 1));  // R6: another epoch
}

TEST(LogRecord, every_flipped_bit_is_noticed) {
  for (size_t bit = 0; bit < sizeof(RecordHeader) * 8; ++bit) {
    RecordHeader header = sample();
    reinterpret_cast<unsigned char*>(&header)[bit / 8] ^= static_cast<unsigned char>(1u << bit % 8);
    EXPECT_FALSE(valid(header, 0x40000000, kSalt)) << "bit " << bit;
  }
}

TEST(LogRecord, sealed_nonsense_is_not_valid) {
  RecordHeader header = sample();
  header.length += 8;  // not the length that its payload has
  seal(header, kSalt);
  EXPECT_FALSE(valid(header, header.lsn, kSalt));

  header = sample();
  header.payload_bytes = 0xfffffff8;  // a length that does not fit into 32 bits
  seal(header, kSalt);
  EXPECT_FALSE(valid(header, header.lsn, kSalt));

  header = sample();
  header.reserved[6] = 1;
  seal(header, kSalt);
  EXPECT_FALSE(valid(header, header.lsn, kSalt));

  header = sample();
  header.durable_lsn = header.lsn + 8;  // it cannot know of what comes later
  seal(header, kSalt);
  EXPECT_FALSE(valid(header, header.lsn, kSalt));
}

TEST(LogRecord, zeros_are_not_valid) {
  const RecordHeader header{};
  EXPECT_FALSE(valid(header, 0, 0));
  EXPECT_FALSE(valid(header, 0x40000000, kSalt));
}

TEST(LogRecord, an_unknown_type_is_a_record_all_the_same) {
  RecordHeader header = sample();
  header.type = 200;
  seal(header, kSalt);
  EXPECT_TRUE(valid(header, header.lsn, kSalt));
}

TEST(LogRecord, lengths) {
  EXPECT_EQ(record_bytes(0), 48u);
  EXPECT_EQ(record_bytes(1), 56u);
  EXPECT_EQ(record_bytes(8), 56u);
  EXPECT_EQ(record_bytes(9), 64u);
  EXPECT_EQ(record_bytes(0xffffffff), 0x100000030u);
}

}  // namespace
}  // namespace hawthorn::format
