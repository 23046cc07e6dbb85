#pragma once
// Log positions, and the epochs that the manifest records of the log.
//
// An lsn is a byte position in one endless log; it only grows over the life of a database. The
// commit timestamp (cts) of a transaction is the lsn of its commit record, so position and
// timestamp are issued in one step (R1). Each open starts a new epoch in a new segment (R6): its
// records are salted with the epoch's salt.

#include <cstdint>

namespace hawthorn::format {

using Lsn = uint64_t;
inline constexpr Lsn kLsnMax = (uint64_t{1} << 62) - 1;

struct LogEpoch {
  uint64_t number = 0;
  Lsn start = 0;      // a multiple of the segment size
  Lsn end = kLsnMax;  // first lsn behind its last record; kLsnMax while it is the current one
  uint64_t salt = 0;
  uint32_t key = 0;  // the data key of its records (os/data_keys.h); 0: they are not encrypted
  bool operator==(const LogEpoch&) const = default;
};

}  // namespace hawthorn::format
