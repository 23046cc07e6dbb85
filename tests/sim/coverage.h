#pragma once
// The table of faults: which kind met which files, how often, and which of those that can be never
// were.
//
// Used by simulate.cc and the tests.

#include <string>

#include "testing/sim_files.h"

namespace hawthorn::tests {

std::string coverage_table(const testing::SimCoverage& coverage);

// Empty, or what was never met of all that can be.
std::string never_met(const testing::SimCoverage& coverage);

}  // namespace hawthorn::tests
