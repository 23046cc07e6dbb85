#include "format/log_record.h"

#include "base/checksum.h"

namespace hawthorn::format {

namespace {

constexpr size_t kCheckedFrom = sizeof(RecordHeader::header_checksum);

uint32_t checksum_of(const RecordHeader& header, uint64_t salt) {
  return checksum32(reinterpret_cast<const char*>(&header) + kCheckedFrom,
                    sizeof(RecordHeader) - kCheckedFrom, salt);
}

}  // namespace

void seal(RecordHeader& header, uint64_t salt) {
  header.header_checksum = checksum_of(header, salt);
}

bool valid(const RecordHeader& header, uint64_t lsn, uint64_t salt) {
  // Cheap tests first: recovery asks this at every eighth byte of a log.
  if (header.lsn != lsn) return false;
  if (header.length != record_bytes(header.payload_bytes)) return false;
  if (header.header_checksum != checksum_of(header, salt)) return false;
  for (const uint8_t byte : header.reserved) {
    if (byte != 0) return false;
  }
  return header.durable_lsn <= lsn;
}

}  // namespace hawthorn::format
