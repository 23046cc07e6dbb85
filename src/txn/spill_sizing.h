#pragma once
// How much of memory one transaction's intents may take before they go to layers (spill.cc).
//
// Used by spill.cc and transaction.cc; tests set a smaller share, so that small transactions spill.
// Threads: set before the first database is opened.

#include <algorithm>
#include <cstddef>

namespace hawthorn::txn {

inline constexpr size_t kMemoryShare = 4;  // of the budget
inline size_t memory_share_max = ~size_t{0};

inline size_t memory_share(size_t budget) {
  return std::min(budget / kMemoryShare, memory_share_max);
}

// Where deltas are full of what open transactions hold, of each as much as this may go.
inline constexpr size_t kLeastPart = 64;  // of the budget
inline size_t least_spilled(size_t budget) {
  return std::min(budget / kLeastPart, memory_share(budget));
}

}  // namespace hawthorn::txn
