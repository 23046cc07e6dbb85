#pragma once
// Numbers and kinds that several headers speak of.

#include <cstdint>

#include "rocksdb/rocksdb_namespace.h"
#include "rocksdb/slice.h"

namespace ROCKSDB_NAMESPACE {

// [mapped]
using ColumnFamilyId = uint32_t;

// The position of a commit among all others. Here it is where the commit stands in the log, so that
// it grows by more than one from commit to commit, and all writes of a batch have the same.
// [mapped]
using SequenceNumber = uint64_t;

// [mapped]
const SequenceNumber kMinUnCommittedSeq = 1;

// [accepted]
enum class Temperature : uint8_t {
  kUnknown = 0,
  kHot = 0x04,
  kWarm = 0x08,
  kCold = 0x0C,
  kLastTemperature,
};

}  // namespace ROCKSDB_NAMESPACE
