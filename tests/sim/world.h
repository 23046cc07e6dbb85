#pragma once
// What the clients of a simulated life share: the database, its machine, what was committed, and
// the first thing that was wrong.
//
// Not here: what a client does (client.h), lives and crashes (simulation.h). Used by tests/sim.
// Threads: one at a time, as a schedule has them.

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "hawthorn/hawthorn.h"
#include "testing/sim_files.h"
#include "testing/sim_scheduler.h"
#include "tests/sim/history.h"

namespace hawthorn::tests {

// What a simulator that finds nothing would not find: a fault that is planted in all of a run.
enum class SimPlanted : uint8_t {
  kNothing,
  kLies,   // the disk drops what was synced of the log
  kRaces,  // transactions commit as if they had not read what they have read
};

// All of a run follows from these. A smaller number makes a smaller run, not another one where that
// can be avoided.
struct SimParameters {
  uint64_t seed = 1;
  uint64_t lives = 0;                // 0: as the seed says
  uint64_t clients = 0;              // of a life; 0: as the seed says
  uint64_t operations = 0;           // of a client in a life, at most; 0: as the seed says
  uint64_t faults = ~uint64_t{0};    // errors and lies, in a life; more than the seed says are not
  uint64_t kinds = ~uint64_t{0};     // of faults that may be: a bit for each SimFaultKind
  uint64_t features = ~uint64_t{0};  // that may be used: a bit for each SimFeature
  SimPlanted planted = SimPlanted::kNothing;
  bool verbose = false;
  std::string trace = {};  // a file for all events; empty: none
};

// What a seed uses, or does not.
enum class SimFeature : uint8_t {
  kLargeValues,
  kParts,  // of values
  kEnding,
  kMadeTrees,  // made, renamed, cloned and dropped
  kForest,     // trees as values
  kIngests,
  kPrepared,
  kNamedSnapshots,
  kCopies,    // checkpoints and backups
  kFullDisk,  // from time to time
  kScrub,
  kEncryption,
  kIoLimit,
  kCount,
};

struct SimWorld {
  testing::SimScheduler* scheduler = nullptr;
  testing::SimFiles* files = nullptr;
  testing::SimTrace* trace = nullptr;
  const os::Machine* machine = nullptr;  // of this life
  Db* db = nullptr;
  std::array<Tree, kSimOpened> trees;
  History history;
  std::vector<std::string> prepared;  // ids of those whose outcome is open
  SimPlanted planted = SimPlanted::kNothing;
  uint64_t features = 0;
  uint64_t keys = 100;    // of a tree
  bool poisoned = false;  // somebody was told in this life that nothing can be committed any more
  std::string refusal = {};  // what writers are told then; empty: nobody was yet
  bool full = false;         // the disk, now
  bool was_full = false;     // in this life
  bool copying = false;      // one of its clients
  uint64_t copies = 0;
  uint64_t began_at = 0;               // the timestamp with which this life began
  Options options;                     // of this life
  std::vector<std::string> snapshots;  // names of those that are there
  std::string failure;                 // the first

  bool has(SimFeature feature) const { return (features >> static_cast<int>(feature) & 1) != 0; }
  bool stopped() const { return files->disk()->stopped() || !failure.empty(); }
  void fail(const std::string& what);
  // Whether a disk that has lied, since what is there was last compared, about the log's last bytes
  // or about which manifest there is may have lost them without a trace.
  bool may_lose_end() const;
  // Whether what was done to the machine excuses an error: one that was answered is in its text, or
  // a file that was harmed.
  bool excused(const Status& status) const;
  // Whether it tells that the database is poisoned.
  void learn(const Status& status);
  // A failure unless it is excused, or one of those that its caller must expect.
  void judge(const Status& status, const std::string& what,
             std::span<const StatusCode> expected = {});
  // The same of each error of a check.
  void judge(const CheckReport& report, const std::string& what);
  // The same of a call that writes. Where it began when the database was `poisoned` it must be
  // refused for that reason, or fail as its caller must expect.
  void judge_write(bool poisoned, const Status& status, const std::string& what,
                   std::span<const StatusCode> expected = {});
};

}  // namespace hawthorn::tests
