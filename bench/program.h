#pragma once
// The program hawthorn-bench: runs what the command line asks for and prints what came out.
//
// Used by main.cc and tests. Threads: one.

#include "bench/command_line.h"

namespace hawthorn::bench {

// 0; 1 when an engine failed a check or died; 2 for a mistake in the command line.
int run_program(int argc, const char* const* argv);

}  // namespace hawthorn::bench
