#pragma once
// Engines that no C++ program can be linked with: a program of their own runs a workload on them,
// with this program's parameters, and says what it found out in the lines of a Report.
//
// Not here: what such a program does (tupldb/), and its memory limit, which is that of the process
// that starts it. Used by program.h and the registry. Threads: one.

#include <memory>
#include <string>
#include <vector>

#include "bench/engine.h"
#include "bench/report.h"

namespace hawthorn::bench {

// Runs the command to its end. A line of its standard output that is no event of a Report is a
// note; its standard error stays what it is. A code that is not 0, or a signal, is a failure.
void run_foreign(const std::vector<std::string>& command, Report& report);

// Stands for such an engine where it is asked what it can: nothing. Opening it throws.
std::unique_ptr<Engine> make_foreign(const std::string& version);

}  // namespace hawthorn::bench
