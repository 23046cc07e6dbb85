#pragma once
// Where every layer tells what it has done, for Options::listeners.
//
//   if (machine.events != nullptr) machine.events->post(ManifestRewritten{number, bytes});
//
// Not here: who is told, and when (db/events.h). Used by wal, space, tree and db.
// Threads: post from any thread, under any lock but a latch that readers wait for: it takes one
// mutex of its own, the innermost of all, and allocates.

#include <variant>

#include "hawthorn/events.h"

namespace hawthorn::os {

using Event =
    std::variant<FlushBegun, FlushCompleted, LogSegmentBegun, LogWaited, WriteStallBegun,
                 WriteStallEnded, BackgroundError, DamageFound, DataFileCreated, DataFileRemoved,
                 TreeChanged, SnapshotChanged, ManifestRewritten, Opened, Closed>;

class EventSink {
 public:
  virtual void post(Event event) = 0;

 protected:
  ~EventSink() = default;
};

}  // namespace hawthorn::os
