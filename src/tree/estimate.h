#pragma once
// About how much a range holds, from what is in memory of every container: sums, records, and how
// far its bounds reach into runs and deltas. Reads nothing from disk, and looks at the newest
// version of some keys.
//
// Not here: exact counts (count.h). Threads: functions from any thread.
//
// 1. What is not flushed counts by what it changes, as some of its keys tell.
// 2. For a random place whatever a reader could find has a part in the weight of its container, and
//    counts as new: one of 0 is empty.
// 3. Of a framed tree's container with notes or labels beside its entries, as long as its run's
//    keys are not in memory, these are taken for as many as its entries.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "format/tree_shape.h"
#include "tree/directory.h"

namespace hawthorn::tree {

struct Estimate {
  uint64_t entries = 0;
  uint64_t bytes = 0;      // on disk
  uint64_t unflushed = 0;  // entries of deltas
  bool in_memory = true;   // all that an exact count would look at
};

// Of the keys in [lower, upper). `shape`: the tree's; null: it has none.
Estimate estimate(const Directory& directory, std::string_view lower,
                  const std::optional<std::string>& upper,
                  const format::TreeShape* shape = nullptr);

// The low key of one of the containers that may have entries in the range, each chosen by about its
// share of them. Nothing: the range is empty.
std::optional<std::string> choose_container(const Directory& directory,
                                            const std::optional<std::string>& lower,
                                            const std::optional<std::string>& upper,
                                            uint64_t random,
                                            const format::TreeShape* shape = nullptr);

}  // namespace hawthorn::tree
