#pragma once
// Numbers and kinds that several headers speak of.

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>

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

struct TableProperties;
// By the path of a file. [accepted]
using TablePropertiesCollection =
    std::unordered_map<std::string, std::shared_ptr<const TableProperties>>;

// [accepted]
enum class TableFileCreationReason {
  kFlush,
  kCompaction,
  kRecovery,
  kMisc,
};

// [accepted]
enum class BlobFileCreationReason {
  kFlush,
  kCompaction,
  kRecovery,
};

// The engine slows writers down, and does not stop them. [mapped]
enum class WriteStallCondition {
  kDelayed,
  kStopped,
  kNormal,
};

// [accepted]
enum class Temperature : uint8_t {
  kUnknown = 0,
  kHot = 0x04,
  kWarm = 0x08,
  kCold = 0x0C,
  kLastTemperature,
};

}  // namespace ROCKSDB_NAMESPACE
