#pragma once
// One life of a database on the simulated disk: it is opened, takes some steps, and its machine
// stops at a random operation, a killed process or a power loss, perhaps while it is opened.
//
// Not here: what the steps are, and what must be there behind it (the tests'). Used by the folder
// tests/crash. Threads: the test's.

#include <memory>

#include "base/prng.h"
#include "hawthorn/hawthorn.h"
#include "testing/sim_machine.h"
#include "tests/support/engine_test.h"

namespace hawthorn::tests {

struct CrashLife {
  uint64_t steps;       // fewer than these
  uint64_t operations;  // of the disk behind the open, at most, where it stops there
};

// `open(machine)` gives the database, or null where the disk stopped or a test failed; so does a
// `step(db, machine)` that opens it again. *disk: afterwards what is left of it.
template <typename Open, typename Step>
void live(const CrashLife& life, Prng& prng, std::unique_ptr<testing::SimDisk>* disk, Open open,
          Step step) {
  using testing::SimOp;
  const auto kind = static_cast<testing::CrashKind>(prng.below(3));
  testing::SimMachine machine(**disk, prng.next());
  if (prng.one_in(4)) (*disk)->stop_at(SimOp::kAny, prng.between(1, 80));
  std::unique_ptr<Db> db = open(machine.machine());
  if (db != nullptr && prng.one_in(2)) {
    (*disk)->stop_at(SimOp::kAny, prng.between(1, life.operations));
  }
  const uint64_t steps = prng.below(life.steps);
  for (uint64_t i = 0; db != nullptr && i < steps && !(*disk)->stopped(); ++i) {
    step(db, machine.machine());
    if (::testing::Test::HasFailure()) return;
  }
  auto after = (*disk)->crash(prng.next(), kind);
  db.reset();
  *disk = std::move(after);
}

}  // namespace hawthorn::tests
