#pragma once
// The killed bank: a process that runs transfers is killed in the middle, again and again; each
// time the database is opened again and must hold every transfer that was acknowledged, whole
// batches only, and not a cent more or less.
//
// Used by program.h. Threads: one; each step runs in a child process.
//
// 1. A commit is acknowledged when commit() returned and the child then counted it in memory that
// it
//    shares with the parent.
// 2. What the database holds is the state after some batch end, at or after the last acknowledged.

#include <cstdint>
#include <string>

#include "bench/bank.h"
#include "bench/runner.h"

namespace hawthorn::bench {

struct KillOptions {
  unsigned rounds = 3;
  unsigned run_ms_min = 300;  // how long the child runs between its first commit and its end
  unsigned run_ms_max = 1500;
};

// The database is left in `config.path`, closed.
Report run_killed_bank(const EngineInfo& engine, const EngineConfig& config,
                       const BankOptions& options, const KillOptions& kill,
                       const AccountNames& names, const ChildLimits& limits);

}  // namespace hawthorn::bench
