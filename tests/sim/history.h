#pragma once
// What a simulated life has committed and read, and whether what is there afterwards may be there.
//
// Not here: how it is committed (client.h), what each commit makes of the one before (replay.h),
// lives and crashes (simulation.h). Used by tests/sim.
// Threads: one at a time, as a schedule has them.
//
// 1. Commits are ordered by their timestamps, which a commit hook tells also of those whose caller
//    hears of an error, or of nothing any more.
// 2. What is found after a crash is the state after one prefix of them, behind the last one that
//    had to survive.
// 3. Names of trees, subtrees and prepared transactions are entries like any other: of a tree of
//    names, of the tree in which they hang, of a tree of the prepared.
// 4. A prepared transaction is there from its prepare on, whichever commits a crash takes; what
//    ends it is a commit, or a rollback, which counts at once.

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

// The number of a tree in the history. Some are always there; those that clients make have their
// own behind kSimMade.
using SimTree = uint32_t;
inline constexpr SimTree kSimTrees = 3;   // that any client writes to; the last one is appended to
inline constexpr SimTree kSimEnding = 3;  // its entries end
inline constexpr SimTree kSimForest = 4;  // its values may be trees
inline constexpr SimTree kSimOpened = 5;  // how many are opened by their names
inline constexpr SimTree kSimNames = 5;   // of trees that clients make
inline constexpr SimTree kSimPrepared = 6;
inline constexpr SimTree kSimMade = 100;

struct SimWrite {
  enum class Kind : uint8_t {
    kPut,
    kDelete,  // with all that hangs there
    kDeleteRange,
    kAppend,     // by the merge operator
    kOverwrite,  // from `number` on
    kExtend,     // at the end of the value
    kResize,     // to `number` bytes
    kClone,      // all of `tree`, as the tree `number`
    kMove,       // to the key `high` of the tree `number`
  };
  Kind kind = Kind::kPut;
  SimTree tree = 0;
  std::string key;  // the low end of a range
  std::string value;
  std::optional<std::string> high = {};
  uint64_t number = 0;
};

struct SimRead {
  SimTree tree = 0;
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
  uint64_t now_ms = 0;  // what has ended by then is not shown
};

// Of keys that are missing there is no map.
using SimContents = std::map<SimTree, std::map<std::string, std::string>>;
using SimKey = std::pair<SimTree, std::string>;

// A whole state, at a moment that is known or lies in between.
struct SimState {
  std::string what = {};
  uint64_t from = 0;
  uint64_t until = 0;
  uint64_t now_ms = 0;
  SimContents contents = {};
};

struct SimFound {
  SimContents contents = {};
  uint64_t now_ms = 0;
  std::set<SimKey> unreadable = {};                // an error was answered for them
  std::map<std::string, SimState> snapshots = {};  // by their names
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
  void begin_life(const SimFound& found);

  std::deque<SimCommit> commits;  // a commit stays where it is while others are added
  std::vector<SimReadAt> reads;
  std::vector<SimState> copies;  // of the database

  void acknowledge(size_t commit, bool durable);
  // How much is acknowledged now: what a sync that begins here makes durable.
  uint64_t acknowledged() const { return acknowledged_; }
  void durable_to(uint64_t acknowledged);

  // Something that has come, or gone, and is durable; or may have.
  enum class Outcome : uint8_t { kIs, kIsNot, kOpen };
  void snapshot(const std::string& name, Outcome outcome) { snapshots_[name].there = outcome; }
  void prepare(const std::string& id, SimCommit commit, Outcome outcome);
  void roll_back(const std::string& id, Outcome outcome);
  // What commits it. No commit of the history yet.
  SimCommit commit_of(const std::string& id) const;
  bool knows(const std::string& id) const { return prepared_.contains(id); }

  // Empty, or what is wrong. *lost: commits of the order that are not there.
  std::string check(const SimFound& found, SimMayLose may_lose, size_t* lost);
  // All keys that were ever written or there.
  std::set<SimKey> keys() const;

 private:
  struct Snapshot {
    Outcome there = Outcome::kIsNot;
    std::optional<SimContents> contents;  // none: it was made in this life
  };
  std::string check_snapshots(const SimFound& found, SimMayLose may_lose);

  SimContents base_;
  std::set<SimKey> open_;  // whether they are there is not known
  std::map<std::string, Snapshot> snapshots_;
  std::map<std::string, SimCommit> prepared_;  // all that may be
  uint64_t acknowledged_ = 0;
};

// What the tree's merge operator makes of it.
void append_to(std::string* value, bool present, std::string_view operand);

// An entry that ends, in milliseconds since 1970 (0: never), as the history has it.
std::string ending_value(std::string_view value, uint64_t ends_ms);
// A tree in place of a value, or named.
std::string tree_value(SimTree tree);
std::optional<SimTree> tree_of_value(std::string_view value);

}  // namespace hawthorn::tests
