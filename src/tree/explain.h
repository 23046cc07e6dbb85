#pragma once
// Where a key is, and what a point read of it would take (hawthorn/explain.h).
//
// Follows point_get.cc, container.cc and residency.cc: what they would read is counted, not read.
// Not here: keys of trees with a shape (db). Threads: any; not inside an epoch guard.
//
// 1. What it has to see of a run is read past the cache, which stays as it is.

#include <string_view>

#include "hawthorn/explain.h"
#include "hawthorn/status.h"
#include "tree/tree.h"

namespace hawthorn::tree {

// `view` is registered. Errors: kCorruption, kIoError, kOutOfMemory.
Result<KeyExplanation> explain(TreeState& tree, std::string_view key, const ReadView& view);

}  // namespace hawthorn::tree
