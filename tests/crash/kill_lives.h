#pragma once
// Real processes on real files, killed by SIGKILL again and again, each time in a state that was
// chosen (kill_switch.h): while they commit, flush, re-cluster, drop, copy, recover, close. Behind
// each kill another process opens the database and finds all that was acknowledged, whole, in
// order, and nothing else (workload.h), and copies that are whole or refused (kill_copies.h); it,
// too, may be killed before.
//
// Not here: power cuts (cut_lives.h). Used by the program `kills` and its test.
// Threads: the caller's process must have none when it calls, and must never have opened a
// database.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/crash/kill_switch.h"

namespace hawthorn::tests {

// So many kills each seed stands for.
inline constexpr uint64_t kKillsOfSeed = 10;

struct KillOptions {
  uint64_t kills = kKillsOfSeed;  // rounded up to whole seeds; more, until there are more commits
  uint64_t first_seed = 1;
  bool lose_log = false;          // a canary: must fail
  bool until_all_states = false;  // goes on, for ten tries of each, until each was hit
  std::string directory;          // where databases are made; those that failed stay there
};

struct KillTotals {
  uint64_t kills = 0;
  uint64_t lives = 0;  // processes that opened a database, or tried
  uint64_t seeds = 0;
  uint64_t failed = 0;
  uint64_t commits = 0;  // that were found
  std::array<uint64_t, kKillStates> hits = {};
  std::vector<std::string> failures;
  std::vector<KillState> never_hit() const;
};

KillTotals run_kills(const KillOptions& options);

// One line for each state, and those that failed.
std::string table_of(const KillTotals& totals);

}  // namespace hawthorn::tests
