#pragma once
// A backup as a stream: a header, records, the last of which says that it is the last.
//
//   | StreamHeader | file | part | part | ... | file | part | ... | end |
//
// Of an encrypted database a seal stands before the first file, and the end has its tag: of a chain
// (backup_seal.h) over the header, each record's 48 bytes and the names of files.
//
// Not here: what it holds (db/copy_source.h). Pure. Threads: pure functions.
//
// 1. A record's own checksum has the stream's salt as its seed, and its number in the stream: none
//    of another stream, and none in another place, validates. Its payload has one of 128 bits.
// 2. Without an end record the stream was cut off.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/checksum.h"
#include "hawthorn/status.h"

namespace hawthorn::format {

// OFFSET SIZE FIELD
//      0    8 magic       "HAWTSTRM"
//      8    4 version     1; 2: of an encrypted database
//     12    4 reserved    zero
//     16    8 created_us  microseconds since 1970
//     24    8 salt        random
//     32    8 checksum    checksum64 of bytes [0, 32)
struct StreamHeader {
  uint64_t magic;
  uint32_t version;
  uint32_t reserved;
  uint64_t created_us;
  uint64_t salt;
  uint64_t checksum;
};
static_assert(sizeof(StreamHeader) == 40);
static_assert(offsetof(StreamHeader, salt) == 24);

enum class StreamRecordType : uint32_t {
  kFile = 1,          // number: its size; payload: its name
  kReservedFile = 2,  // the same, its space reserved
  kPart = 3,          // number: its offset in the file; payload: its bytes
  kEnd = 4,           // number: the bytes of all parts; payload: none, or the seal's tag
  kSeal = 5,          // number: of the data key; payload: the salt of the seal, 12 bytes
};

// OFFSET SIZE FIELD
//      0    4 type           StreamRecordType
//      4    4 payload_bytes  1048576 at most
//      8    8 sequence       of this record in the stream, from 0
//     16    8 number         as the type says
//     24    8 sum_low        checksum128 of the payload
//     32    8 sum_high
//     40    8 checksum       checksum64 of bytes [0, 40), with the salt
struct StreamRecord {
  uint32_t type;
  uint32_t payload_bytes;
  uint64_t sequence;
  uint64_t number;
  uint64_t sum_low;
  uint64_t sum_high;
  uint64_t checksum;
};
static_assert(sizeof(StreamRecord) == 48);
static_assert(offsetof(StreamRecord, checksum) == 40);

inline constexpr uint32_t kStreamVersion = 1;
inline constexpr uint32_t kSealedStreamVersion = 2;

std::string encode_stream_header(uint64_t created_us, uint64_t salt, bool sealed);
// Errors: kCorruption; kNotSupported for a newer version. Messages name no offset.
Result<StreamHeader> decode_stream_header(std::string_view bytes);

// Without its payload.
std::string encode_stream_record(StreamRecordType type, uint64_t sequence, uint64_t number,
                                 std::string_view payload, uint64_t salt);
// What it returns has a known type and a size that can be. Errors: kCorruption.
Result<StreamRecord> decode_stream_record(std::string_view bytes, uint64_t sequence, uint64_t salt);

}  // namespace hawthorn::format
