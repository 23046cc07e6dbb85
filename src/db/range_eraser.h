#pragma once
// Rewrites containers without what deleted ranges hide of them (tree/layers.h, R25): then the log
// does not need the ranges any more, and readers do not ask them.
//
//   range [b, y), deleted at 100      containers, with the cuts of their runs
//                                     [a c) 90   [c x) 80   [x z) 120   not written before: 80 <
//                                     100 merged     emptied    it was made without it
//   all above 100 and durable ──> nobody reads from 100 to now any more ──> the range goes
//
// Not here: what a merge makes of a range (tree/merge_work.cc), what readers see meanwhile
// (tree/layers.h). Used by LayerMerger alone, one pass at a time.
//
// 1. A range waits for all layers that are older: what they have of it has to come into the tree as
//    deleted. It stays in the list as long as they do: who began before it meets it there as a
//    conflict, but not the deletes that came in with them, which count as old as they are.
// 2. What fails in one container keeps no other range from being erased.

#include <functional>
#include <memory>

#include "db/catalog.h"
#include "db/publisher.h"
#include "db/scheduler.h"
#include "txn/transaction.h"

namespace hawthorn::db {

class RangeEraser {
 public:
  RangeEraser(const txn::Services& services, const Catalog* catalog, Scheduler* scheduler,
              Publisher* publisher)
      : services_(services), catalog_(catalog), scheduler_(scheduler), publisher_(publisher) {}

  enum class Left : uint8_t { kNothing, kReaders, kContainers };
  // All that can be done now, or until `stopping` says so, in the limit of background I/O. Without
  // it: all, at once. Errors: the first of flushing and publishing.
  Result<Left> pass(const std::function<bool()>& stopping = nullptr);

 private:
  Result<bool> erase(tree::TreeState* tree, const tree::Layer& range,
                     const std::function<bool()>& stopping);
  bool await_turn(const std::function<bool()>& stopping) const;

  const txn::Services services_;
  const Catalog* const catalog_;
  Scheduler* const scheduler_;
  Publisher* const publisher_;
};

}  // namespace hawthorn::db
