// What is dead at the head of a container is passed behind the deletes that may have emptied it, so
// that no reader need pass it.

#include <new>
#include <utility>

#include "os/epoch.h"
#include "tree/cursor.h"

namespace hawthorn::tree {

void TreeCursor::look_for_dead(const Undo& undo, const ReadView& view) noexcept try {
  Store* const store = undo.tree->store();
  Options range;
  range.key_only = true;
  range.layers = false;
  {
    const os::epoch::Guard guard;
    const Container* container = undo.tree->directory().find(undo.key);
    const RunFile* file = container->descriptor.load(std::memory_order_acquire)->run;
    const Run* run = file->run.load(std::memory_order_acquire);
    if (!file->empty() && (run == nullptr || run->heap() == nullptr)) return;
    range.lower = container->low;
    if (container->has_high) range.upper = container->high;
  }
  if (view.ts != 0) {
    static_cast<void>(TreeCursor(undo.tree, view, std::move(range)).first());
    return;
  }
  const Snapshots::Registration now = store->snapshots->add(*store->visible);
  try {
    static_cast<void>(TreeCursor(undo.tree, {now.ts, view.own}, std::move(range)).first());
  } catch (const std::bad_alloc&) {
    // Whoever reads passes them.
  }
  store->snapshots->remove(now.slot);
} catch (const std::bad_alloc&) {
  // As above.
}

}  // namespace hawthorn::tree
