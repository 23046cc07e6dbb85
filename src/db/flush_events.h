#pragma once
// Tells listeners of one flush: that it has begun, and what came of it.
//
// Not here: flushing (flush.cc), the queue (events.h). Threads: that of the flush.
//
// 1. Each FlushBegun is followed by one FlushCompleted, whichever way the flush ends.

#include <string>
#include <utility>

#include "os/event_sink.h"
#include "os/machine.h"
#include "tree/merge.h"

namespace hawthorn::db {

class FlushEvents {
 public:
  FlushEvents(const os::Machine& machine, uint32_t tree, const std::string& low, size_t delta_bytes,
              bool rewrite)
      : machine_(machine) {
    if (machine_.events == nullptr) return;
    began_us_ = machine_.clock->monotonic_us();
    completed_.tree = tree;
    completed_.low_key = low;
    completed_.delta_bytes = delta_bytes;
    machine_.events->post(FlushBegun{tree, {}, low, delta_bytes, rewrite});
  }
  ~FlushEvents() {
    if (machine_.events == nullptr) return;
    completed_.duration_us = machine_.clock->monotonic_us() - began_us_;
    machine_.events->post(std::move(completed_));
  }
  FlushEvents(const FlushEvents&) = delete;
  FlushEvents& operator=(const FlushEvents&) = delete;

  void failed(const Status& status) {
    if (machine_.events != nullptr) completed_.status = status;
  }
  // Before its extents are handed over.
  void merged(const tree::MergeOutput& output, size_t containers_in = 1) {
    if (machine_.events == nullptr) return;
    for (const tree::ExtentRef& extent : output.fresh) {
      completed_.bytes_written += extent->disk_bytes();
    }
    completed_.containers_in = containers_in;
    completed_.containers = output.pieces.size();
    completed_.reclustered = output.reclustered;
  }

 private:
  const os::Machine& machine_;
  uint64_t began_us_ = 0;
  FlushCompleted completed_;
};

}  // namespace hawthorn::db
