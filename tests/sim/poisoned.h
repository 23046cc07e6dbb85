#pragma once
// What a database must refuse that an error has made read-only.
//
// Not here: what its clients are told meanwhile (world.h), that it is read on (simulation.cc). Used
// by tests/sim. Threads: one, with no others at the database.

#include "tests/sim/world.h"

namespace hawthorn::tests {

// Every call that writes, once.
void write_all_ways(SimWorld* world);

}  // namespace hawthorn::tests
