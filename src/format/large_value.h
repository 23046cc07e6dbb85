#pragma once
// What refers to a large value (one of more than 64 KB, in extents of its own): encoding and
// checks. Pure.
//
// Not here: who keeps the extents (tree/store.h, tree/merge.h), reading (tree/large_read.h),
// writing and changing (db/large_values.h, db/large_edit.h).
//
// A value is whole, as versions before feature bit 8 wrote it: its extents are filled in their
// order, and one checksum covers all of it. Or it is in pieces: each is a part of what an extent
// holds, or a hole, which reads as zeros. So a new version of a value names new extents for what
// was changed, and the extents of the version before for the rest.
//
//   value    | piece 0      | 1 | 2    | hole   | 4     |
//   extents    A[0, 5000)     B   A[5007, ...)    C
//
// 1. Of a value in pieces every extent has contents, is used by a piece, and verifies alone: of up
//    to kLargeSumBytes its checksum is that of its bytes; else behind its bytes, at the next
//    multiple of 8, stands a table of one checksum for each kLargeSumBytes of them, and the
//    extent's checksum is that of the table. Who reads all of an extent needs no table: it is what
//    the sums of what was read make.
//    Of a sealed value, whatever its extents hold, a table stands behind the bytes: the seal
//    (os/data_keys.h), then one tag for each kLargeSumBytes, which are sealed one by one, with
//    their numbers; the extent's checksum is the base of the seal, which no two extents share.
// 2. `fresh` says that the extent was written for this version; the others belong to the versions
//    before it, of the same key. So what gives a version up drops its fresh extents alone.
// 3. Encodings are unique: what is decoded is encoded as the same bytes.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/aead.h"
#include "base/bytes.h"
#include "format/manifest_state.h"
#include "hawthorn/status.h"

namespace hawthorn::format {

inline constexpr size_t kLargeSumBytes = size_t{16} << 10;
// Of one extent of a value in pieces; with its table it takes less than 16 MB.
inline constexpr size_t kLargeExtentBytesMax = (size_t{16} << 20) - (size_t{64} << 10);
inline constexpr uint32_t kLargeSealBytes = 24;
// That decode takes; those who write keep well below.
inline constexpr size_t kLargePiecesMax = 4096;

// What an extent of a value in pieces holds.
struct LargeContent {
  uint32_t bytes = 0;
  bool fresh = false;
  uint64_t checksum = 0;
  bool sealed = false;
  bool operator==(const LargeContent&) const = default;

  uint32_t sums() const {
    return static_cast<uint32_t>((bytes + kLargeSumBytes - 1) / kLargeSumBytes);
  }
  bool has_table() const { return sealed || bytes > kLargeSumBytes; }
  uint32_t table_at() const { return static_cast<uint32_t>(align_up(bytes, 8)); }
  uint32_t table_bytes() const {
    if (sealed) return kLargeSealBytes + sums() * static_cast<uint32_t>(kTagBytes);
    return has_table() ? sums() * 8 : 0;
  }
  uint32_t blocks() const { return (table_at() + table_bytes() + 4095) / 4096; }
};

struct LargePiece {
  static constexpr uint32_t kHole = ~uint32_t{0};
  uint32_t extent = kHole;  // its number
  uint32_t offset = 0;      // in the extent
  uint64_t size = 0;
  bool operator==(const LargePiece&) const = default;
  bool hole() const { return extent == kHole; }
};

struct LargeValue {
  uint64_t size = 0;
  uint64_t checksum = 0;  // of a whole one: extend_large_checksum over it
  std::vector<ExtentAddress> extents = {};
  std::vector<LargeContent> contents = {};  // of one in pieces: of each extent
  std::vector<LargePiece> pieces = {};
  bool sealed = false;  // all of its contents are
  bool in_pieces() const { return !pieces.empty(); }
  bool operator==(const LargeValue&) const = default;
};

// Of a whole one: varint size, u64 checksum, varint count, then per extent varint file, varint
// block, varint blocks. Of one in pieces: u8 0, u8 1, or 2 where it is sealed, varint size, varint
// count of extents, then per extent varint file, varint block, varint twice its bytes + 1 where it
// is fresh, u64 checksum; varint count of pieces, then per piece varint extent + 1, or 0 for a
// hole, varint size, and of none that is a hole varint offset.
void append_large_value(std::string& to, const LargeValue& value);
// Errors: kCorruption, also when the extents are too small for size bytes; kNotSupported for a form
// that this version does not know.
Result<LargeValue> decode_large_value(std::string_view encoded);

// The extents that were written for this version of the value; of a whole one all.
std::vector<ExtentAddress> fresh_extents(const LargeValue& value);

// A whole value's checksum is built in chunks, the last of which may be short: start with 0, and
// feed each chunk.
inline constexpr size_t kLargeChunkBytes = size_t{64} << 10;
uint64_t extend_large_checksum(uint64_t checksum, std::string_view chunk);
// One of a table, or of an extent without one.
uint64_t large_sum(std::string_view bytes);

}  // namespace hawthorn::format
