#pragma once
// What the containers of one leaf of the directory hold in sum, so that counts need not look at
// each (R25).
//
// Not here: reading the sums (tree/count.h), when a container's part changes (tree/container.h).
// Threads: a container's part changes under its latch; anybody reads, inside an epoch guard.
//
// A container is *settled* when its deltas have no entries and what its run holds is counted.
// `live` of a leaf is exact for a registered timestamp ts whose reader loads, in this order, dirty
// == 0, live, from <= ts:
// 1. A writer counts its container as dirty before its intent is installed, so before its commit:
//    who registers a timestamp at or above that commit finds it in `dirty`, or finds that a flush
//    has taken it away again. A flush adds to `live` before it takes away from `dirty`. So with
//    dirty == 0, live has every commit that the reader must see.
// 2. What a container holds for a registered timestamp never changes. If another flush changes
//    `live` after `dirty` was loaded, it has raised `from` before, to where its run's count begins
//    to hold: with from <= ts that count is the same number for ts.
// 3. `from` never falls. A leaf that is being replaced counts as dirty for ever, before the first
//    of its containers goes to another one, and keeps what it had of them: who finds it clean came
//    before.

#include <atomic>
#include <cstdint>

#include "format/log_epoch.h"

namespace hawthorn::tree {

// Not on a line of its own: each tree has one, and few writes touch it.
struct NodeSums {
  std::atomic<uint64_t> live{0};    // keys, for readers at or above `from`
  std::atomic<uint64_t> stored{0};  // entries of runs: old versions and tombstones, too
  std::atomic<uint64_t> blocks{0};  // on disk
  std::atomic<format::Lsn> from{0};
  std::atomic<uint32_t> dirty{0};  // containers that are not settled
};

// A container's part of them.
struct NodePart {
  uint32_t live = 0;
  uint32_t stored = 0;
  uint32_t blocks = 0;
  bool dirty = false;
};

}  // namespace hawthorn::tree
