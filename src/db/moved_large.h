#pragma once
// The large values of a container whose extents lie in a data file that shall go: copied to new
// extents before the merge that makes the container name those.
//
// Not here: which container, and the merge (scheduler). Threads: one thread.
//
// 1. Until the merge has taken them, the new extents belong to this object, in the store's list of
//    large values; what it still holds at its end is given back.
// 2. What the log names beyond the container's cut does not move: a version that is not flushed may
//    share extents with the one before it, which the container has. Whoever writes such a version
//    is kept out (tree::LargeMoves) from the look at these until the installation.
// 3. A reader may hold the address of an old extent without a reference to it, if it registered a
//    timestamp: so the old extents are kept until those that were registered at the installation
//    are gone (keep, and Scheduler::hold_moved).

#include <map>
#include <vector>

#include "tree/container.h"
#include "tree/run_file.h"
#include "tree/store.h"

namespace hawthorn::db {

class MovedLarge {
 public:
  explicit MovedLarge(tree::Store* store) : store_(store) {}
  ~MovedLarge();
  MovedLarge(const MovedLarge&) = delete;
  MovedLarge& operator=(const MovedLarge&) = delete;

  // Copies every extent of a large value of `from` that lies in data file `file`. Errors: kNoSpace;
  // kOutOfMemory; of the I/O.
  Status copy(const tree::RunFile& from, uint32_t file);
  // New addresses by old ones; null when there are none.
  const std::map<tree::ExtentAddress, tree::ExtentAddress>* addresses() const {
    return addresses_.empty() ? nullptr : &addresses_;
  }
  // Whether versions of the container that were not flushed name what would be moved: then it stays
  // (of what copy would be given, or of what it has copied). What is merged by the move itself
  // stands in no active delta.
  static bool named(const tree::Container& container, const tree::RunFile& run, uint32_t file);
  bool named(const tree::Container& container) const;
  // The merge was installed: the old extents, to be held.
  std::vector<tree::ExtentRef> keep();

 private:
  void give_back();
  Result<tree::ExtentAddress> copy(const tree::Extent& extent, char* buffer);
  template <typename Moves>
  static bool any_named(const tree::Container& container, Moves moves);

  tree::Store* const store_;
  std::map<tree::ExtentAddress, tree::ExtentAddress> addresses_;
  std::vector<tree::ExtentRef> old_;
};

}  // namespace hawthorn::db
