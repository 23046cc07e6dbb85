#pragma once
// One version of one key in a delta, and the entry that heads a key's chain of versions.
//
// Not here: who may see a version (tree/visibility.h), where it is stored (tree/delta.h).
// Threads: written once before it is published; afterwards only `stamp` and `older` change, both
// atomic, under the container latch; readers need no lock.
//
// 1. A version's rank is (cts, seq). Its place in the chain means nothing (R1): a reader may stop
// at the first version
//    that it can see only when that version is not kUnordered.
// 2. A version whose stamp has kIntentBit belongs to the transaction with that id; its cts is in
// the slot (R16).
// 3. A version marked kMoved was copied to a newer delta at a cut; readers of the newer descriptor
// skip it.

#include <atomic>
#include <cstdint>
#include <string_view>

#include "format/log_epoch.h"
#include "format/operation.h"

namespace hawthorn::tree {

using format::Lsn;

inline constexpr uint64_t kIntentBit = uint64_t{1} << 63;

enum class VersionKind : uint8_t {
  kPut = 0,
  kTombstone = 1,
  kLarge = 2,  // the bytes are an encoded format::LargeValue
  kMerge = 3,  // the bytes are an operand for the tree's merge operator (operands.h)
};

inline VersionKind version_kind(format::OperationType type) {
  switch (type) {
    case format::OperationType::kPut:
      return VersionKind::kPut;
    case format::OperationType::kDelete:
      return VersionKind::kTombstone;
    case format::OperationType::kPutLarge:
      return VersionKind::kLarge;
    case format::OperationType::kMerge:
      return VersionKind::kMerge;
    case format::OperationType::kAttach:  // are no versions
    case format::OperationType::kDeleteRange:
      break;
  }
  return VersionKind::kPut;
}

inline format::OperationType operation_type(VersionKind kind) {
  switch (kind) {
    case VersionKind::kPut:
      return format::OperationType::kPut;
    case VersionKind::kTombstone:
      return format::OperationType::kDelete;
    case VersionKind::kLarge:
      return format::OperationType::kPutLarge;
    case VersionKind::kMerge:
      return format::OperationType::kMerge;
  }
  return format::OperationType::kPut;
}

inline constexpr uint8_t kUnordered =
    1;  // another transaction's intent was in the chain when it was added
inline constexpr uint8_t kMoved = 2;

struct Version {
  std::atomic<uint64_t> stamp;
  std::atomic<Version*> older;
  uint32_t seq;
  uint32_t size;
  VersionKind kind;
  std::atomic<uint8_t> flags;
  uint16_t unused;
  uint32_t allocated;  // bytes of this object in its delta

  char* bytes() { return reinterpret_cast<char*>(this + 1); }
  std::string_view value() const { return {reinterpret_cast<const char*>(this + 1), size}; }
};
static_assert(sizeof(Version) == 32);

struct DeltaEntry {
  std::atomic<Version*> newest;  // null after the only version was rolled back
  uint64_t head;
  DeltaEntry* next_pending;  // of those that are not in the delta's tree yet
  // Under the latch: a version that was unlinked, and as which of the delta's. Its memory takes the
  // next version of this key, since it is likely to be in the cache.
  Version* spare;
  uint32_t spare_unlink;
  uint16_t writes_to_prune;  // until the whole chain is looked at; under the latch
  uint16_t key_size;

  std::string_view key() const { return {reinterpret_cast<const char*>(this + 1), key_size}; }
};
static_assert(sizeof(DeltaEntry) == 40);
static_assert(format::kKeyBytesMax <= UINT16_MAX);  // of DeltaEntry::key_size

}  // namespace hawthorn::tree
