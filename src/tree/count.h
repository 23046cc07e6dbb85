#pragma once
// How many keys whole containers, and whole leaves of the directory, hold for a reader, without a
// look at their entries (R25). What they cannot tell is counted by a cursor (TreeCursor::count),
// which goes on where a pass stops.
//
// Not here: containers of which a part is wanted, or with entries in their deltas (cursor_skip.cc).
// Threads: functions from any thread.
//
// 1. A pass trusts a container only while its deltas have no entries: one that is empty after a
//    reader has registered will hold nothing for its timestamp, and what is found in one stays
//    true for it. So a pass may look at each container at another moment.
// 2. A leaf is trusted as node_sums.h says.
// 3. Behind an open, nobody knows of a run whether each of its entries is a key of its own: its
//    header tells, which is read once. Where it has versions the first cursor through it counts.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hawthorn/status.h"
#include "tree/directory.h"
#include "tree/store.h"

namespace hawthorn::tree {

// The keys that a registered reader at ts finds there; nothing: they are to be counted. Inside an
// epoch guard.
std::optional<uint64_t> settled_keys(const Descriptor& descriptor, Lsn ts);
std::optional<uint64_t> settled_keys(const NodeSums& sums, Lsn ts);

// A run whose header is to be looked at, and the range of its container.
struct UnseenRun {
  PinnedRunFile file;
  std::string low;
  std::string high;
  bool has_high = false;
};

// A walk over whole containers, as far as their counts tell.
struct NodePass {
  Lsn ts = 0;
  bool forward = true;
  std::optional<std::string> bound;  // the first key that is not asked for; backward: the last one
                                     // that is
  uint64_t most = 0;                 // keys that may be passed; falls by those that were
  // Where it stands: everything from here on, or, backward, before. It is a container's bound at
  // first, and where it stops.
  std::string edge;
  bool ended = false;             // nothing is left within the bound
  std::vector<UnseenRun> unseen;  // it stopped for these: look_at, then again
};

class NodeWalk {
 public:
  static void pass(const Directory& directory, NodePass* pass);
  // For tests, while nothing goes on: what is wrong with the sums of a leaf; empty: nothing.
  static std::string check_sums(const Directory& directory);

 private:
  struct At;
};

// Looks at the headers of runs, those that are on disk together. Errors: kIoError, kCorruption,
// kOutOfMemory; *failed: which of them.
Status look_at(Store& store, const std::vector<UnseenRun>& runs, size_t* failed);

// The container that begins with `low` was counted by a cursor: what its leaf has of it follows.
void recount(const Directory& directory, std::string_view low, const RunFile* counted);

}  // namespace hawthorn::tree
