#pragma once
// Whether every tree of a database is reached, and once: from a name, or from a key of another
// tree.
//
// Used by tests of trees as values. Threads: the test's, while nobody changes trees.

#include <chrono>
#include <thread>

#include "tests/support/engine_test.h"

namespace hawthorn::tests {

// No transaction may be open, and no snapshot held that shows a tree that was dropped since.
inline ::testing::AssertionResult nothing_lost(Db& db) {
  ::testing::AssertionResult checked = clean(db);
  if (!checked) return checked;
  Stats stats;
  Status status;
  const bool done = wait_until([&] {
    status = db.drain();
    stats = db.stats();
    return !status.ok() || stats.trees_unreachable == 0;
  });
  if (!status.ok()) return ::testing::AssertionFailure() << status.to_string();
  if (done) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure()
         << stats.trees_unreachable << " trees beside " << stats.trees.size() << " with names and "
         << stats.subtrees << " below others are there for nothing";
}

}  // namespace hawthorn::tests
