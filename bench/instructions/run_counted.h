#pragma once
// Runs a counted program under callgrind and reads what was counted.
//
// A counted program writes one line for each row, in the order of callgrind's dumps:
//
//   count TAB PROGRAM TAB OPERATION TAB STATE TAB OPERATIONS    instructions of the next dump, by
//                                                               the operation
//   value TAB PROGRAM TAB OPERATION TAB STATE TAB NUMBER        no dump: what the program counted
//
// Not here: the table (table.h). Used by command.h and tests. Threads: one.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "bench/instructions/table.h"

namespace hawthorn::bench {

// The number behind `totals:` in a dump of callgrind's. Errors: std::runtime_error.
uint64_t parse_callgrind_totals(std::string_view dump);

// Adds what `lines` tells to the table; `dump` gives the text of callgrind's Nth dump, from 1 on.
// Errors: std::runtime_error for a line that is not understood.
void add_counts(CountedTable& table, size_t shape, std::string_view lines,
                const std::function<std::string(uint64_t)>& dump);

// Runs the program for one shape, in a new directory below `directory` that is removed afterwards,
// with an environment of its own. Errors: std::runtime_error where valgrind or the program is
// missing, or it failed, which it has said on the standard error.
void run_counted(const std::string& program, size_t shape, const std::string& directory,
                 CountedTable& table);

}  // namespace hawthorn::bench
