// hawthorn-bench: see `hawthorn-bench --help`.

#include <cstdio>
#include <exception>

#include "bench/program.h"

int main(int argc, char** argv) {
  try {
    return hawthorn::bench::run_program(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "hawthorn-bench: %s\n", error.what());
    return 1;
  }
}
