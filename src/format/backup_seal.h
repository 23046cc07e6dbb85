#pragma once
// What proves, to who has the data keys, that the index of a backup or a backup's stream is as it
// was written: a chain of tags over its pieces, each of which covers the one before.
//
// Not here: what is sealed in it (backup_layout.h, backup_stream_layout.h), the bytes of the
// database, which are sealed in themselves. Pure.
// Threads: one object, one at a time.
//
// 1. The key is derived from a data key and a random salt, of one index or stream alone; the nonce
//    is the number of the piece. Nothing but the last tag is ever written.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "base/aead.h"

namespace hawthorn::format {

// OFFSET SIZE FIELD
//      0    4 key   number of the data key
//      4   12 salt  random; from which the key of this seal is derived
//     16   16 tag   the last one of the chain
struct BackupSeal {
  uint32_t key;
  Salt salt;
  std::array<char, kTagBytes> tag;
};
static_assert(sizeof(BackupSeal) == 32);
static_assert(offsetof(BackupSeal, salt) == 4 && offsetof(BackupSeal, tag) == 16);

class BackupChain {
 public:
  explicit BackupChain(std::unique_ptr<Aead> aead) : aead_(std::move(aead)) {}
  // Where one piece ends and the next one begins counts.
  void add(std::string_view piece);
  // Of all pieces so far. False: libcrypto failed, and there is none.
  bool tag(std::array<char, kTagBytes>* tag) const {
    *tag = tag_;
    return good_;
  }

 private:
  const std::unique_ptr<Aead> aead_;
  std::array<char, kTagBytes> tag_{};
  uint64_t pieces_ = 0;
  bool good_ = true;
};

}  // namespace hawthorn::format
