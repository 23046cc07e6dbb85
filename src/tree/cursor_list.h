#pragma once
// The cursors of a database, for whoever needs the memory of deltas that only cursors keep.
//
// A delta is given back as a whole, and a cursor that nobody moves would hold what was flushed long
// ago. So between two moves a cursor can be told to let go: it finds its place again from the key
// that it shows.
//
// Not here: what a cursor holds (cursor.h). Threads: any.

#include <cstdint>

#include "os/sync.h"

namespace hawthorn::tree {

class TreeCursor;

class CursorList {
 public:
  void add(TreeCursor* cursor);
  // After it, nobody touches the cursor any more.
  void remove(TreeCursor* cursor);
  // Has the cursors that are not being moved let go of deltas that no container has any more; how
  // many were. The memory is given back at once.
  size_t let_go();

 private:
  os::Mutex mutex_;
  TreeCursor* first_ GUARDED_BY(mutex_) = nullptr;
};

}  // namespace hawthorn::tree
