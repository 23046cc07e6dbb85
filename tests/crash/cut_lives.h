#pragma once
// Power cuts of a real engine on real files: its writes and syncs are recorded while it lives
// through some opens, commits and closes (testing/recording.h), then many moments are taken, and
// what a power cut at each may have left is made of real files, opened, compared and checked
// (workload.h, cut_aside.h, cut_copies.h). Some of what is opened so is recorded itself, and cut
// again, while it recovers and behind that.
//
// Not here: kills (kill_lives.h), the simulated machine (tests/sim). Used by the program
// `power_cuts` and its test.
// Threads: the caller's process must have none when it calls, and must never have opened a
// database: each seed is a process of its own.

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "testing/recorded_cut.h"

namespace hawthorn::tests {

// So many cuts each seed stands for, those of recoveries included.
inline constexpr uint64_t kCutsOfSeed = 25;

struct CutOptions {
  uint64_t cuts = kCutsOfSeed;  // rounded up to whole seeds
  uint64_t first_seed = 1;
  std::string directory;          // where databases are made; those that failed stay there
  std::string drop_syncs;         // a canary: "wal.", "data.", "copy.", "keys", "directory"
  bool until_all_states = false;  // goes on, for up to as many cuts again, until each was met
  // Goes on until files of each of these classes were cut, and a recovery was cut again.
  std::vector<std::string> until_files = {};
};

// Cuts that left one of these, of what only some seeds have (cut_aside.h, cut_copies.h).
enum class CutMet : uint8_t {
  kEncrypted,
  kPrepared,
  kForest,
  kWholeCopy,
  kIncompleteCopy,
  kBackup,
};
inline constexpr size_t kCutMet = 6;
const char* name_of(CutMet what);

struct CutTotals {
  uint64_t cuts = 0;
  uint64_t again = 0;  // of those, of recordings that began with a cut
  uint64_t seeds = 0;
  uint64_t failed = 0;
  uint64_t commits = 0;  // that were recorded
  uint64_t none = 0;     // cuts that left no database yet
  std::array<uint64_t, kCutMet> met = {};
  // Cuts by class of file and what they met; counted once for each cut.
  std::map<std::string, std::array<uint64_t, testing::kCutStates>> states;
  std::vector<std::string> failures;
  // What every long run has to meet, and this one has not: "data.N: torn".
  std::vector<std::string> never_met() const;
};

CutTotals run_cuts(const CutOptions& options);

// One cut of a recording again, by its number. The directory gets the files that were cut, and is
// left as it was opened. The text says what is wrong; empty: nothing.
std::string run_cut_again(const std::string& recording, uint64_t number, const CutOptions& options);

std::string table_of(const CutTotals& totals);

}  // namespace hawthorn::tests
