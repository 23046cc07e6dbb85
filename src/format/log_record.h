#pragma once
// The record of the log: header, validation. Pure: no I/O.
//
// OFFSET SIZE FIELD
//      0    4 header_checksum  checksum32 of bytes [4, 48) with the epoch's salt
//      4    4 length           header + payload + padding, a multiple of 8
//      8    8 lsn              of its first byte
//     16    8 durable_lsn      all below was durable when this record was written (R7)
//     24    8 payload_checksum checksum64 of the payload (no salt)
//     32    4 payload_bytes
//     36    4 operations       number of operations in the payload
//     40    1 type
//     41    7 reserved         zero, checked
//
// Followed by the payload and up to 7 zero bytes.

#include <cstddef>
#include <cstdint>

#include "base/bytes.h"
#include "format/log_epoch.h"

namespace hawthorn::format {

enum class RecordType : uint8_t {
  kPad = 1,     // fills a block at a drain; payload: zeros
  kCommit = 2,  // a whole transaction; payload: operations. Its lsn is the cts
  kChunk = 3,   // payload: u64 transaction id, u32 seq of the first operation, then operations
  kChunkedCommit = 4,  // payload: u64 transaction id, u64 lsn below which its chunks do not count,
                       // u32 seq, then its last operations
  kAbort = 5,          // payload: u64 transaction id
  kRollbackTo = 6,     // payload: u64 transaction id, u32 seq: its logged operations with a seq >=
                       // this do not count
  kAttachingCommit = 7,  // as kChunkedCommit, of a transaction that attaches containers: a reader
                         // that does not know those must not take the log for a damaged one
  kPrepare = 8,          // a part of what a prepared transaction holds (prepare_record.h)
  kPreparedCommit = 9,   // payload: u64 transaction id, u64 lsn below which its chunks do not
                         // count, which lies in the epoch that the id is of. Its lsn is the cts
  kPreparedAbort = 10,   // payload: as kPreparedCommit
  kLayeredCommit = 11,   // as kChunkedCommit, with a u32 number of trees and their u32 ids before
                         // the operations: what it wrote into those went to layers, of which
                         // their containers' cuts say nothing
  kLayersMerged = 12,    // payload: u64 cts of such a commit: its layers are gone, what they held
                         // is in its trees, by what was logged and flushed since
  kRelayedCommit = 13,   // as kChunkedCommit, of what brings a layer's entries into its tree: to
                         // who reads the log for what was committed they are not new
};

struct RecordHeader {
  uint32_t header_checksum;
  uint32_t length;
  uint64_t lsn;
  uint64_t durable_lsn;
  uint64_t payload_checksum;
  uint32_t payload_bytes;
  uint32_t operations;
  uint8_t type;
  uint8_t reserved[7];
};
static_assert(sizeof(RecordHeader) == 48);
static_assert(offsetof(RecordHeader, payload_checksum) == 24 && offsetof(RecordHeader, type) == 40);

inline constexpr size_t kRecordAlign = 8;
// What stands before the operations of a chunk (and is all of kRollbackTo), of what ends a
// transaction in chunks, and of what ends a prepared one.
inline constexpr size_t kChunkHeaderBytes = 12;
inline constexpr size_t kChunkedCommitHeaderBytes = 20;
inline constexpr size_t kOutcomeHeaderBytes = 16;
// No record is larger, whatever the size of the ring that it was written through: a log may be read
// with another one.
inline constexpr size_t kRecordBytesMax = size_t{2} << 20;

// The length of a record: 64 bits, so that a payload_bytes read from disk cannot wrap around.
inline constexpr uint64_t record_bytes(uint64_t payload_bytes) {
  return align_up(sizeof(RecordHeader) + payload_bytes, kRecordAlign);
}

// Fills in header_checksum.
void seal(RecordHeader& header, uint64_t salt);
// Whether the header is that of a record at `lsn` of the epoch with `salt` (the payload is checked
// apart). The type is not judged: a record that a newer version wrote is a record all the same, and
// must not pass for the end of the log.
bool valid(const RecordHeader& header, uint64_t lsn, uint64_t salt);

}  // namespace hawthorn::format
