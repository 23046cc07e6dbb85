#pragma once
// What tells whether others have committed to a key, or to a range of keys, since some timestamp:
// the floor.
//
// Not here: what follows from it (txn), TreeState::newer_commit, which stands on it. Threads:
// readers inside an epoch guard; a RangeCheck is one thread's.
//
// 1. The floor is registered, or one that was, from which on nothing was found up to the present
//    one. For versions above the oldest registered timestamp keep their cts when they are flushed,
//    and a tombstone stays as long as an older version of its key, which only registered ones see,
//    does (R14).

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tree/container.h"
#include "tree/layers.h"

namespace hawthorn::tree {

// The newest committed cts of a key that is above `floor`, or 0: for conflict checks (R18). Commits
// that are as old as a layer (`layers`, if not null) count as that.
// kNeedRun: load_for_conflicts(file), then again. `own` intents are skipped.
struct ConflictRead {
  PointRead::State state =
      PointRead::State::kAbsent;  // kAbsent: none above the floor; kFound: cts is set
  Lsn cts = 0;
  RunFile* file = nullptr;
};
ConflictRead newest_above(const Descriptor& descriptor, std::string_view key, Lsn floor, TxnId own,
                          const TxnSlots& slots, const Layers* layers);

// A range that is checked again and again, with what need not be looked at another time.
struct RangeCheck {
  std::string low;
  std::optional<std::string> high;  // the first key behind the range

  // Active deltas, in key order, that held no newer commit in the range and no intent of others
  // when so many versions had been linked.
  struct Settled {
    uint64_t delta = 0;
    uint64_t links = 0;
  };
  std::vector<Settled> settled;
  // Runs that hold no newer commit in the range, in memory or not.
  std::vector<RunFileRef> searched;

  bool ends_before(const Container& container) const {
    return !container.has_high || (high.has_value() && container.high >= *high);
  }
};

// One container's part of a range. `number`: which of those that cover it, in key order.
ConflictRead newest_in_range(const Container& container, const Descriptor& descriptor,
                             RangeCheck& range, size_t number, Lsn floor, TxnId own,
                             const TxnSlots& slots, const Layers* layers);

}  // namespace hawthorn::tree
