#pragma once
// How much of memory one transaction's intents may take before they go to layers (spill.cc).
//
// Used by spill.cc and, for what the log holds of such transactions, by db/replay.cc; tests set a
// smaller least share, so that small transactions spill.
// Threads: set before the first database is opened.

#include <algorithm>
#include <cstddef>

namespace hawthorn::txn {

inline constexpr size_t kMemoryShare = 4;  // of the budget
inline size_t memory_share_max = ~size_t{0};

inline size_t memory_share(size_t budget) {
  return std::min(budget / kMemoryShare, memory_share_max);
}

}  // namespace hawthorn::txn
