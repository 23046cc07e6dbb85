#pragma once
// The payload of a record of type kPrepare: which transaction is prepared, and what it holds beside
// its operations, which stand in chunks. Pure.
//
// OFFSET SIZE FIELD
//      0    8 transaction
//      8    8 first_lsn        below which its chunks do not count
//     16    8 timestamp        of the newest commit when it was prepared
//     24    8 wall_us          when that was, since 1970
//     32    4 operations       in its chunks
//     36    4 part             of what it holds, from 0
//     40    4 parts            the last one of which prepares it
//     44    4 id_bytes         1 to 200
//
// Followed by the id that the program gave it, and a part of the list of what it holds, which may
// end anywhere: the parts are joined before they are read.
//
// ITEM         ENCODING
// row lock     u8 1, u8 mode (0 shared, 1 upgradable, 2 exclusive), varint tree, varint key size,
//              key. Rows that its operations write are locked without an item
// key read     u8 2, varint tree, varint key size, key
// range read   u8 3, varint tree, varint size of the low key, low key, varint size of the high key
//              + 1, or 0: there is none, high key

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hawthorn/status.h"

namespace hawthorn::format {

inline constexpr size_t kPreparedIdBytesMax = 200;

struct PrepareHeader {
  uint64_t transaction;
  uint64_t first_lsn;
  uint64_t timestamp;
  uint64_t wall_us;
  uint32_t operations;
  uint32_t part;
  uint32_t parts;
  uint32_t id_bytes;
};
static_assert(sizeof(PrepareHeader) == 48);
static_assert(offsetof(PrepareHeader, operations) == 32 && offsetof(PrepareHeader, id_bytes) == 44);

struct PreparePart {
  PrepareHeader header;
  std::string_view id;
  std::string_view held;
};

struct PreparedLock {
  uint8_t mode = 0;
  uint32_t tree = 0;
  std::string key;
};

// A range of keys that were read; a single key is one that ends behind it.
struct PreparedRead {
  uint32_t tree = 0;
  std::string low;
  std::optional<std::string> high;
};

struct PreparedHeld {
  std::vector<PreparedLock> locks;
  std::vector<PreparedRead> reads;
};

// id_bytes is filled in.
std::string encode_prepare(PrepareHeader header, std::string_view id, std::string_view held);
// Views into the payload. Errors: kCorruption.
Result<PreparePart> decode_prepare(std::string_view payload);

void append_prepared_lock(std::string& held, uint8_t mode, uint32_t tree, std::string_view key);
void append_prepared_read(std::string& held, const PreparedRead& read);
// Errors: kCorruption.
Result<PreparedHeld> decode_prepared_held(std::string_view held);

}  // namespace hawthorn::format
