#pragma once
// What a pad of a sealed log says of the epoch that it belongs to, for who reads the log without a
// manifest (repair).
//
// Not here: where it stands in the pad (wal/record_seal.h). Nothing of it is secret, and the pad's
// tag proves it. Threads: a value.

#include <cstddef>
#include <cstdint>

namespace hawthorn::format {

// OFFSET SIZE FIELD
//      0    8 salt
//      8    8 number
//     16    4 key       the data key of the epoch's records
//     20    4 reserved  zero
struct EpochMark {
  uint64_t salt;
  uint64_t number;
  uint32_t key;
  uint32_t reserved;
};
static_assert(sizeof(EpochMark) == 24 && offsetof(EpochMark, key) == 16);

}  // namespace hawthorn::format
