#pragma once
// A comparison as text for a terminal: one table for each workload, an engine a column.
//
// Used by program.h. Threads: one.
//
// 1. An engine that was built with assertions is marked, in red on a terminal, and no ratio is
//    given of it, nor against it.

#include <ostream>
#include <string>

#include "bench/results.h"

namespace hawthorn::bench {

struct TableOptions {
  std::string baseline;  // the engine that ratios are taken against; empty: none
  bool all_metrics = false;
  bool colors = false;
};

void print_tables(const Results& results, const TableOptions& options, std::ostream& out);

// The text, in red where that is asked for.
std::string red_text(const std::string& text, bool red);

// What one run said: its notes, limits and failures.
void print_run(const Run& run, std::ostream& out);

}  // namespace hawthorn::bench
