#pragma once
// What the clients of a simulated life share: the database, its machine, what was committed, and
// the first thing that was wrong.
//
// Not here: what a client does (client.h), lives and crashes (simulation.h). Used by tests/sim.
// Threads: one at a time, as a schedule has them.

#include <array>
#include <cstdint>
#include <string>

#include "hawthorn/hawthorn.h"
#include "testing/sim_files.h"
#include "testing/sim_scheduler.h"
#include "tests/sim/history.h"

namespace hawthorn::tests {

// All of a run follows from these. A smaller number makes a smaller run, not another one where that
// can be avoided.
struct SimParameters {
  uint64_t seed = 1;
  uint64_t lives = 0;              // 0: as the seed says
  uint64_t clients = 0;            // of a life; 0: as the seed says
  uint64_t operations = 0;         // of a client in a life, at most; 0: as the seed says
  uint64_t faults = ~uint64_t{0};  // errors and lies, in a life; more than the seed says are not
  uint64_t kinds = ~uint64_t{0};   // of faults that may be: a bit for each SimFaultKind
  bool planted = false;            // a disk that drops what was synced: the simulator must find it
  bool verbose = false;
  std::string trace = {};  // a file for all events; empty: none
};

struct SimWorld {
  testing::SimScheduler* scheduler = nullptr;
  testing::SimFiles* files = nullptr;
  testing::SimTrace* trace = nullptr;
  Db* db = nullptr;
  std::array<Tree, kSimTrees> trees;
  History history;
  uint64_t keys = 100;  // of a tree
  bool large_values = false;
  bool poisoned = false;  // a commit's sync has failed in this life
  std::string failure;    // the first

  bool stopped() const { return files->disk()->stopped() || !failure.empty(); }
  void fail(const std::string& what);
  // Whether what was done to the machine excuses an error.
  bool excused(const Status& status) const;
  // A failure unless it is excused, or one of those that its caller must expect.
  void judge(const Status& status, const std::string& what,
             std::initializer_list<StatusCode> expected = {});
};

}  // namespace hawthorn::tests
