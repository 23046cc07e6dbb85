#pragma once
// A comparison as text for a terminal: one table for each workload, an engine a column.
//
// Used by program.h. Threads: one.

#include <ostream>
#include <string>

#include "bench/results.h"

namespace hawthorn::bench {

struct TableOptions {
  std::string baseline;  // the engine that ratios are taken against; empty: none
  bool all_metrics = false;
};

void print_tables(const Results& results, const TableOptions& options, std::ostream& out);

// What one run said: its notes, limits and failures.
void print_run(const Run& run, std::ostream& out);

}  // namespace hawthorn::bench
