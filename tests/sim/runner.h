#pragma once
// Runs seeds of the simulator, each in a process of its own: what static variables hold is the same
// for each, and one that dies is a failure like any other.
//
// Not here: what a run does (simulation.h). Used by simulate.cc and the tests. Threads: one.

#include <functional>
#include <string>
#include <vector>

#include "tests/sim/simulation.h"

namespace hawthorn::tests {

// The run of one seed; a process that dies is its failure.
SimResult run_alone(const SimParameters& parameters);

// The same of many, up to `jobs` at once; `done` is told in the order in which they end.
void run_all(const std::vector<SimParameters>& runs, size_t jobs,
             const std::function<void(const SimParameters&, const SimResult&)>& done);

// Smaller parameters with which a failing run still fails.
SimParameters shrink(SimParameters parameters, const SimResult& failed);

// The options with which the program replays it.
std::string command_line(const SimParameters& parameters);

void add(SimResult* sum, const SimResult& one);

}  // namespace hawthorn::tests
