#pragma once
// What a simulated life has committed and read, and whether what is there afterwards may be there.
//
// Not here: how it is committed (client.h), lives and crashes (simulation.h). Used by tests/sim.
// Threads: one at a time, as a schedule has them.
//
// 1. Commits are ordered by their timestamps, which a commit hook tells also of those whose caller
//    hears of an error, or of nothing any more.
// 2. What is found after a crash is the state after one prefix of them, behind the last one that
//    had to survive.

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "hawthorn/hawthorn.h"

namespace hawthorn::tests {

inline constexpr size_t kSimTrees = 3;

struct SimWrite {
  enum class Kind : uint8_t { kPut, kDelete, kDeleteRange, kAppend };
  Kind kind = Kind::kPut;
  size_t tree = 0;
  std::string key;  // the low end of a range
  std::string value;
  std::optional<std::string> high = {};
};

struct SimRead {
  size_t tree = 0;
  std::string key;
  std::optional<std::string> value;
};

struct SimCommit {
  uint64_t cts = 0;       // 0: not committed, as far as anybody was told
  std::string what = {};  // which client's, which operation
  std::vector<SimWrite> writes = {};
  std::vector<SimRead> reads = {};  // true right before it
  // What it writes was not written since this moment; 0: it may have been.
  uint64_t unchanged_from = 0;
  uint64_t acknowledged = 0;  // in which order, before the machine stopped; 0: not
  bool durable = false;       // and at a level that survives a power loss
};

// What a snapshot showed: a key, or all of a range.
struct SimReadAt {
  uint64_t timestamp = 0;
  std::string what = {};
  SimRead read = {};
  bool range = false;
  std::optional<std::string> high = {};
  std::vector<std::pair<std::string, std::string>> entries = {};
};

using SimContents = std::array<std::map<std::string, std::string>, kSimTrees>;
using SimKey = std::pair<size_t, std::string>;

struct SimFound {
  SimContents contents;
  std::set<SimKey> unreadable;  // an error was answered for them
};

// What a crash may have taken.
enum class SimMayLose : uint8_t {
  kNothing,         // not even what was never acknowledged: the machine went on
  kUnacknowledged,  // the process was killed
  kUnsynced,        // the power was lost
  kSuffix,          // a disk that lies about its log may make any end of it disappear
};

class History {
 public:
  // Forgets a life: what was found is the beginning.
  void begin_life(SimContents contents);

  std::deque<SimCommit> commits;  // a commit stays where it is while others are added
  std::vector<SimReadAt> reads;

  void acknowledge(size_t commit, bool durable);
  // How much is acknowledged now: what a sync that begins here makes durable.
  uint64_t acknowledged() const { return acknowledged_; }
  void durable_to(uint64_t acknowledged);

  // Empty, or what is wrong. *lost: commits of the order that are not there.
  std::string check(const SimFound& found, SimMayLose may_lose, size_t* lost);
  // All keys that were ever written or there.
  std::set<SimKey> keys() const;

 private:
  class Replay;
  SimContents base_;
  uint64_t acknowledged_ = 0;
};

// What the tree's merge operator makes of it.
void append_to(std::string* value, bool present, std::string_view operand);

}  // namespace hawthorn::tests
