#pragma once
// `hawthorn-bench instructions`: counts, prints the table, and compares it with that of a document
// or puts it there.
//
// Used by program.cc. Threads: one.

#include <string>
#include <vector>

namespace hawthorn::bench {

struct InstructionsOptions {
  std::vector<std::string> programs;  // of counted_programs(); empty: those that were built
  std::vector<std::string> shapes;    // of kShapes; empty: all
  std::string directory = "/tmp";     // for the databases
  std::string check_file;
  std::string update_file;
  std::string reason;
  bool json = false;
  bool markdown = false;
};

// Their names: each runs as hawthorn-counted-NAME, next to the program that calls this.
const std::vector<std::string>& counted_programs();

// 0; 1 where it could not count, or the check failed; 2 for a mistake in the options.
int run_instructions(const InstructionsOptions& options);

}  // namespace hawthorn::bench
