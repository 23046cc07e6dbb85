#pragma once
// What a command line asks for, as a list of runs: a workload with several sizes is several of
// them.
//
// Used by program.h. Threads: one.

#include <functional>
#include <string>
#include <vector>

#include "bench/bank_data.h"
#include "bench/command_line.h"
#include "bench/workload.h"

namespace hawthorn::bench {

// One workload with one set of parameters: what is run once for each engine, round and repeat.
struct Case {
  std::string name;
  std::function<void(const RunContext&, Engine&)> run;
  unsigned writers = 1;                   // threads that write
  BankOptions bank;                       // of a killed run
  bool transactions = false;              // EngineConfig::transactions
  unsigned rounds = 1;                    // of its engines, interleaved, in each repeat
  std::vector<std::string> engines = {};  // that it runs on; empty: all of the command
  // For engines that are programs of their own: the workload, then name=value for each parameter.
  // Empty where no such program knows it.
  std::vector<std::string> words = {};
};

// Of cases that no engine of the command suits there is none.
// Lifetime: the command and the names, which only the bank needs, outlive the cases.
std::vector<Case> make_cases(const Command& command, const AccountNames* names);

// One line for people about the workload.
std::string describe(const Command& command, const AccountNames* names);

}  // namespace hawthorn::bench
