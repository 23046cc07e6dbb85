#include "tree/cursor_list.h"

#include "tree/cursor.h"

namespace hawthorn::tree {

void CursorList::add(TreeCursor* cursor) {
  os::MutexLock lock(mutex_);
  cursor->next_listed_ = first_;
  if (first_ != nullptr) first_->previous_listed_ = cursor;
  first_ = cursor;
}

void CursorList::remove(TreeCursor* cursor) {
  os::MutexLock lock(mutex_);
  TreeCursor* const previous = cursor->previous_listed_;
  TreeCursor* const next = cursor->next_listed_;
  if (next != nullptr) next->previous_listed_ = previous;
  (previous != nullptr ? previous->next_listed_ : first_) = next;
}

size_t CursorList::let_go() {
  size_t gone = 0;
  os::MutexLock lock(mutex_);
  for (TreeCursor* cursor = first_; cursor != nullptr; cursor = cursor->next_listed_) {
    if (cursor->let_go_of_deltas()) ++gone;
  }
  return gone;
}

}  // namespace hawthorn::tree
