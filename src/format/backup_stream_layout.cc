#include "format/backup_stream_layout.h"

#include "base/bytes.h"
#include "format/backup_layout.h"

namespace hawthorn::format {
namespace {

constexpr uint64_t kMagic = 0x4d52545354574148;  // "HAWTSTRM"

Status damaged(const char* what) { return Status(StatusCode::kCorruption, what); }

}  // namespace

std::string encode_stream_header(uint64_t created_us, uint64_t salt, bool sealed) {
  const uint32_t version = sealed ? kSealedStreamVersion : kStreamVersion;
  StreamHeader header{kMagic, version, 0, created_us, salt, 0};
  header.checksum = checksum64(&header, offsetof(StreamHeader, checksum), 0);
  return std::string(bytes_of(header));
}

Result<StreamHeader> decode_stream_header(std::string_view bytes) {
  if (bytes.size() != sizeof(StreamHeader)) return damaged("it has another size");
  const auto header = load<StreamHeader>(bytes.data());
  if (header.magic != kMagic) return damaged("it is no backup");
  if (header.checksum != checksum64(&header, offsetof(StreamHeader, checksum), 0)) {
    return damaged("the checksum of the header differs");
  }
  if ((header.version != kStreamVersion && header.version != kSealedStreamVersion) ||
      header.reserved != 0) {
    return Status(StatusCode::kNotSupported, "a newer version wrote it");
  }
  return header;
}

std::string encode_stream_record(StreamRecordType type, uint64_t sequence, uint64_t number,
                                 std::string_view payload, uint64_t salt) {
  const Checksum128 sum = checksum128(payload.data(), payload.size());
  StreamRecord record{static_cast<uint32_t>(type),
                      static_cast<uint32_t>(payload.size()),
                      sequence,
                      number,
                      sum.low,
                      sum.high,
                      0};
  record.checksum = checksum64(&record, offsetof(StreamRecord, checksum), salt);
  return std::string(bytes_of(record));
}

Result<StreamRecord> decode_stream_record(std::string_view bytes, uint64_t sequence,
                                          uint64_t salt) {
  if (bytes.size() != sizeof(StreamRecord)) return damaged("it has another size");
  const auto record = load<StreamRecord>(bytes.data());
  if (record.checksum != checksum64(&record, offsetof(StreamRecord, checksum), salt)) {
    return damaged("the checksum of a record differs");
  }
  if (record.sequence != sequence) return damaged("a record stands in another place");
  if (record.type < static_cast<uint32_t>(StreamRecordType::kFile) ||
      record.type > static_cast<uint32_t>(StreamRecordType::kSeal) ||
      record.payload_bytes > kBackupPartBytesMax || record.number > kBackupOffsetMax) {
    return damaged("a record that cannot be");
  }
  return record;
}

}  // namespace hawthorn::format
