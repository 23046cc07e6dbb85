#pragma once
// The file `keys` of an encrypted database: its data keys, sealed with the key of its user.
//
// Two slots of 4096 bytes with the same content, so that one that cannot be read costs nothing; the
// file is replaced as a whole (db/key_store.h).
//
// Not here: files, the callback that gives the user's key. Pure. Used by db.
//
// OFFSET SIZE FIELD
//      0    8 magic         "HAWTKEYS"
//      8    4 version       1; magic, version and checksum never move
//     12    4 key_count     of data keys, 1 to 64
//     16    8 uuid_low      of the database, as in the superblock
//     24    8 uuid_high
//     32    8 generation    grows with each file that is written
//     40    4 current       number of the data key for what is new
//     44    4 key_id_bytes  1 to 255
//     48   24 nonce         of the sealed part: salt, then nonce (base/aead.h)
//     72   16 tag           of the sealed part, to which bytes [0, 48) and key_id are bound
//     88  256 key_id        which key of the user it is, and zeros
//    344 2560 sealed        data keys, encrypted, each u32 number, u32 zero, 32 bytes; then zeros
//   2904 1184 reserved      zero
//   4088    8 checksum      checksum64 of bytes [0, 4088), no salt

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/aead.h"
#include "hawthorn/status.h"

namespace hawthorn::format {

inline constexpr std::string_view kKeyFileName = "keys";
inline constexpr std::string_view kKeyFileNewName = "keys.new";
inline constexpr size_t kKeySlotBytes = 4096;
inline constexpr size_t kKeyFileBytes = 2 * kKeySlotBytes;
inline constexpr char kKeyFileMagic[] = "HAWTKEYS";  // without the final zero on disk
inline constexpr size_t kDataKeysMax = 64;
inline constexpr size_t kKeyIdBytesMax = 255;
inline constexpr uint32_t kKeyFileVersion = 1;

struct KeySlot {
  char magic[8];
  uint32_t version;
  uint32_t key_count;
  uint64_t uuid_low;
  uint64_t uuid_high;
  uint64_t generation;
  uint32_t current;
  uint32_t key_id_bytes;
  uint8_t nonce[24];
  uint8_t tag[16];
  char key_id[256];
  uint8_t sealed[2560];
  uint8_t reserved[1184];
  uint64_t checksum;
};
static_assert(sizeof(KeySlot) == kKeySlotBytes);
static_assert(offsetof(KeySlot, key_id) == 88 && offsetof(KeySlot, sealed) == 344);
static_assert(offsetof(KeySlot, checksum) == 4088);

struct KeyFile {
  uint64_t uuid_low = 0;
  uint64_t uuid_high = 0;
  uint64_t generation = 0;
  uint32_t current = 0;
  std::string key_id;
  std::vector<std::pair<uint32_t, SecretKey>> keys;  // by number, ascending, from 1
};

// Errors: kInvalidArgument for an id of another size; kNotSupported for too many keys; kIoError
// where libcrypto fails.
Result<std::string> encode_key_file(const KeyFile& file, const SecretKey& key);

// One slot alone, without its key. Errors: as read_key_file.
Result<KeyFile> read_key_slot(std::string_view bytes);
// What can be read of a file without its key: all but the data keys. Errors: kCorruption where no
// slot is good; kNotSupported for a newer version.
Result<KeyFile> read_key_file(std::string_view bytes);
// All of it. Errors: also kInvalidArgument for a wrong key.
Result<KeyFile> open_key_file(std::string_view bytes, const SecretKey& key);

}  // namespace hawthorn::format
