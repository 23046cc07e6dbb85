#pragma once
// Reads all that a database shows at one moment: its trees, those that hang in others, what is
// prepared and the named snapshots.
//
// Not here: whether that is right (history.h). Used by tests/sim. Threads: the caller's.

#include <functional>

#include "tests/sim/history.h"

namespace hawthorn::tests {

// The names of those that are opened by their names, by their numbers.
inline constexpr const char* kSimTreeNames[kSimOpened] = {"plain", "packed", "appended", "ending",
                                                          "forest"};

// The number of a tree that was made by a client, or opened.
SimTree sim_tree_of(std::string_view name, const Tree& tree);

// A tree that cannot be walked, and why; false: so be it.
using SimBroken = std::function<bool(SimTree, const Tree&, const Status&)>;

// All trees as the snapshot shows them.
Status read_trees(Db& db, const Snapshot& snapshot, SimContents* contents,
                  const SimBroken& broken = {});
// The present, with what is prepared and all named snapshots.
Status read_all(Db& db, SimFound* found, const SimBroken& broken = {});

}  // namespace hawthorn::tests
