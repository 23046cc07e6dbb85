#include "format/backup_layout.h"

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/checksum.h"
#include "base/prng.h"
#include "format/backup_stream_layout.h"

namespace hawthorn::format {
namespace {

BackupPart part(uint64_t offset, uint32_t bytes, uint64_t place) {
  BackupPart part{};
  part.offset = offset;
  part.bytes = bytes;
  part.backup = 2;
  part.place = place;
  return part;
}

BackupIndex index_of(const BackupFile& file) {
  BackupIndex index;
  index.header.id = 3;
  index.files = {file};
  return index;
}

bool decodes(const BackupFile& file) {
  BackupIndex index = index_of(file);
  const Result<BackupIndex> decoded = decode_backup(encode_backup(index));
  EXPECT_TRUE(decoded.ok() || decoded.status().is(StatusCode::kCorruption));
  return decoded.ok();
}

TEST(BackupLayout, GoesThereAndBack) {
  BackupFile file = {"data.1", true, 9000, {part(0, 4096, 7), part(4096, 100, 0)}};
  file.parts[1].mark_high = 5;
  BackupIndex index = index_of(file);
  const std::string bytes = encode_backup(index);
  const Result<BackupIndex> decoded = decode_backup(bytes);
  ASSERT_TRUE(decoded.ok()) << decoded.status().to_string();
  EXPECT_EQ(decoded->header.index_bytes, bytes.size());
  ASSERT_EQ(decoded->files.size(), 1U);
  EXPECT_EQ(decoded->files[0].name, "data.1");
  EXPECT_TRUE(decoded->files[0].reserve);
  ASSERT_EQ(decoded->files[0].parts.size(), 2U);
  EXPECT_EQ(decoded->files[0].parts[1].mark_high, 5U);
}

// With good checksums, as somebody makes them who wants to see it fall.
TEST(BackupLayout, RefusesWhatCannotBe) {
  EXPECT_TRUE(decodes({"data.1", false, 100, {part(0, 100, 0)}}));
  EXPECT_FALSE(decodes({"data.1", false, 100, {part(0, 101, 0)}}));
  EXPECT_FALSE(decodes({"data.1", false, 100, {part(0, 0, 0)}}));
  EXPECT_FALSE(decodes({"data.1", false, 100, {part(50, 10, 0), part(40, 10, 0)}}));
  EXPECT_FALSE(decodes({"data.1", false, 8u << 20, {part(0, kBackupPartBytesMax + 1, 0)}}));
  // Where the end of a part would be a small number again.
  EXPECT_FALSE(decodes({"data.1", false, 100, {part(0, 100, ~uint64_t{0} - 50)}}));
  EXPECT_FALSE(decodes({"data.1", false, 100, {part(0, 100, kBackupOffsetMax + 1)}}));
  EXPECT_FALSE(decodes({"data.1", false, ~uint64_t{0}, {part(~uint64_t{0} - 100, 100, 0)}}));
  for (const char* const name : {"", "../x", "a/b", ".x", "A"}) {
    EXPECT_FALSE(decodes({name, false, 0, {}})) << name;
  }
}

TEST(BackupLayout, RefusesOtherSizesAndFlippedBits) {
  BackupIndex index = index_of({"data.1", true, 9000, {part(0, 4096, 7)}});
  const std::string bytes = encode_backup(index);
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(decode_backup(std::string_view(bytes).substr(0, size)).ok()) << size;
  }
  EXPECT_FALSE(decode_backup(bytes + "x").ok());
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string damaged = bytes;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
    EXPECT_FALSE(decode_backup(damaged).ok()) << bit;
  }
}

TEST(StreamLayout, ARecordIsOfItsStreamAndPlace) {
  const std::string record = encode_stream_record(StreamRecordType::kPart, 4, 4096, "bytes", 77);
  const Result<StreamRecord> decoded = decode_stream_record(record, 4, 77);
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(decoded->number, 4096U);
  EXPECT_EQ(decoded->payload_bytes, 5U);
  EXPECT_FALSE(decode_stream_record(record, 5, 77).ok());
  EXPECT_FALSE(decode_stream_record(record, 4, 78).ok());
  for (size_t bit = 0; bit < record.size() * 8; ++bit) {
    std::string damaged = record;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
    EXPECT_FALSE(decode_stream_record(damaged, 4, 77).ok()) << bit;
  }
  StreamRecord other = load<StreamRecord>(record.data());
  const auto with = [&](auto change) {
    StreamRecord changed = other;
    change(changed);
    changed.checksum = checksum64(&changed, offsetof(StreamRecord, checksum), 77);
    return decode_stream_record({reinterpret_cast<const char*>(&changed), sizeof(changed)}, 4, 77)
        .ok();
  };
  EXPECT_TRUE(with([](StreamRecord&) {}));
  EXPECT_FALSE(with([](StreamRecord& r) { r.type = 0; }));
  EXPECT_FALSE(with([](StreamRecord& r) { r.type = 6; }));
  EXPECT_FALSE(with([](StreamRecord& r) { r.payload_bytes = kBackupPartBytesMax + 1; }));
  EXPECT_FALSE(with([](StreamRecord& r) { r.number = ~uint64_t{0}; }));
}

TEST(StreamLayout, ANewerVersionIsNotSupported) {
  const std::string bytes = encode_stream_header(12, 34, false);
  const Result<StreamHeader> header = decode_stream_header(bytes);
  ASSERT_TRUE(header.ok());
  EXPECT_EQ(header->created_us, 12U);
  EXPECT_EQ(header->salt, 34U);
  auto newer = load<StreamHeader>(bytes.data());
  newer.version = 3;
  newer.checksum = checksum64(&newer, offsetof(StreamHeader, checksum), 0);
  EXPECT_TRUE(decode_stream_header({reinterpret_cast<const char*>(&newer), sizeof(newer)})
                  .status()
                  .is(StatusCode::kNotSupported));
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string damaged = bytes;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
    EXPECT_TRUE(decode_stream_header(damaged).status().is(StatusCode::kCorruption)) << bit;
  }
}

}  // namespace
}  // namespace hawthorn::format
