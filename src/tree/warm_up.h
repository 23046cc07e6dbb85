#pragma once
// Reads the fronts of a tree's runs before anybody asks for them.
//
// Not here: what keeps them in memory, and what evicts them (residency.h). Used by Db::warm_up.
// Threads: any number, beside reads and writes.

#include "hawthorn/status.h"

namespace hawthorn::tree {

class TreeState;

// In the order of the keys, several at once, as long as a quarter of the budget stays free; of wide
// groups, which hold the values, the outlines. *full: some were left out for lack of memory.
// Blocking, not inside an epoch guard. Errors: kIoError, kCorruption of the first that could not be
// read; the others are read all the same.
Status warm_up(TreeState& tree, bool* full);

}  // namespace hawthorn::tree
