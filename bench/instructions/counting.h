#pragma once
// What a counted program calls to have a piece of its work counted by callgrind, under which
// `hawthorn-bench instructions` runs it: count() counts what one call of a function executes on
// this thread, and nothing of other threads.
//
// Not here: the table (table.h), and who runs callgrind (run_counted.h, where the lines stand that
// this writes). Used by the counted programs. Threads: one.
//
// 1. Instructions are counted only inside of count(): callgrind is started with --instr-atstart=no
//    and --collect-atstart=no, and all else runs at a tenth of the cost.
// 2. Each count ends with one dump of callgrind's and one line on the standard output.

#include <valgrind/callgrind.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

#include "bench/instructions/data.h"

namespace hawthorn::bench {

// Ends the program: what it does on its own databases does not fail.
[[noreturn]] inline void fail(const std::string& message) {
  std::fprintf(stderr, "counted program: %s\n", message.c_str());
  std::exit(1);
}
inline void require(bool holds, const char* message) {
  if (!holds) fail(message);
}

// The arguments of every counted program.
inline Shape shape_of(int argc, char** argv) {
  if (argc != 3) fail("the arguments are the bytes of a key and those of a value");
  return {std::strtoul(argv[1], nullptr, 10), std::strtoul(argv[2], nullptr, 10)};
}

struct RowName {
  std::string program;
  std::string operation;
  std::string state;
};

inline void write_row(const char* kind, const RowName& name, uint64_t number) {
  std::printf("%s\t%s\t%s\t%s\t%llu\n", kind, name.program.c_str(), name.operation.c_str(),
              name.state.c_str(), static_cast<unsigned long long>(number));
}

// The instructions that `body` executes, divided by the number of operations that it makes.
template <typename Body>
void count(const RowName& name, uint64_t operations, Body&& body) {
  CALLGRIND_START_INSTRUMENTATION;
  CALLGRIND_TOGGLE_COLLECT;
  std::forward<Body>(body)();
  CALLGRIND_TOGGLE_COLLECT;
  CALLGRIND_DUMP_STATS;
  CALLGRIND_STOP_INSTRUMENTATION;
  write_row("count", name, operations);
}

}  // namespace hawthorn::bench
