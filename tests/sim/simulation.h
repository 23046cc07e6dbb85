#pragma once
// A database that lives several lives on a simulated machine, all from one seed: in each it is
// opened, used by several clients, and its machine stops at any moment. After each it is compared
// with its history.
//
// Not here: seeds one after the other, and shrinking (simulate.cc). Used by tests/sim.
// Threads: to be called as the only thread of a process that has opened no database before, once:
// what a run leaves behind in static variables would be the beginning of the next.

#include <functional>
#include <string>

#include "tests/sim/world.h"

namespace hawthorn::tests {

struct SimResult {
  std::string failure;  // empty: none
  uint64_t lives = 0;
  uint64_t crashes = 0;
  uint64_t commits = 0;
  uint64_t lost = 0;        // commits that a crash took, and might take
  uint64_t poisoned = 0;    // lives in which a sync failed and nothing could be committed any more
  uint64_t corruption = 0;  // runs that a damaged disk has ended, by an error that says so
  uint64_t steps = 0;
  uint64_t switches = 0;
  uint64_t trace = 0;  // hashes of all that happened, and of the disk in the end
  uint64_t image = 0;
  testing::SimCoverage coverage = {};
};

// `stuck`: called with what a run has come to that cannot go on; must not return.
void simulate(const SimParameters& parameters, SimResult* result,
              const std::function<void()>& stuck);

}  // namespace hawthorn::tests
