#pragma once
// What a store does while something is taken away, and how it is judged.
//
// Threads write, read and walk over slots of their own; they also open and close a second store,
// and fork children that do the same and let go of what they have inherited. Each slot has an
// acknowledged version, and those whose commit ended without saying whether it was made:
//
//   1. What was acknowledged is there, now and when the store is opened again.
//   2. What was refused is not there. A transaction is there whole or not at all.
//   3. Each error names what there is too little of.
//   4. When that is given back, everything works again, without opening the store anew, unless
//      may_end() of the case.
//   5. Nothing hangs (the supervisor looks), and no exception arrives (it would end the process).
//
// The workload itself allocates nothing and opens nothing while something is short.
//
// Used by main.cc. Threads: one object, in a process of its own.

#include <string>

#include "tests/environment/cases.h"
#include "tests/environment/shared.h"
#include "tests/environment/store.h"

namespace hawthorn::tests {

struct Place {
  std::string directory;  // exists; the store is made in it, and the working directory is there
  std::string_view api;
};

// True: all was well. Else `shared` has what was not.
bool run_workload(const Case& shortage, const Place& place, const MakeStore& make_store,
                  Shared& shared);

}  // namespace hawthorn::tests
