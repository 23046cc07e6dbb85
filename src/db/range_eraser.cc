#include "db/range_eraser.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "os/epoch.h"
#include "os/io_limit.h"
#include "os/test_point.h"

namespace hawthorn::db {

using format::Lsn;

namespace {
constexpr uint64_t kEraseSliceUs = 10'000;

bool is_open(const tree::Layer& layer) {
  return layer.cts.load(std::memory_order_acquire) == format::kLsnMax;
}

bool is_done(const tree::Layer& layer) {
  return layer.merged.load(std::memory_order_acquire) != format::kLsnMax;
}

// Whether there are older ones with entries; or, that have still to come into the tree.
bool has_older(const tree::Layers::List& layers, const tree::Layer& range, bool to_come) {
  const Lsn cts = range.cts.load(std::memory_order_acquire);
  return std::any_of(layers.begin(), layers.end(), [&](const std::shared_ptr<tree::Layer>& layer) {
    return !layer->deletes() && (!to_come || !is_done(*layer)) &&
           layer->cts.load(std::memory_order_acquire) < cts;
  });
}
}  // namespace

Result<RangeEraser::Left> RangeEraser::pass(const std::function<bool()>& stopping) {
  std::vector<std::pair<tree::TreeRef, std::shared_ptr<tree::Layer>>> ranges;
  Status first;
  bool all = true;
  bool rewritten = false;
  for (const tree::TreeRef& tree : catalog_->active()) {
    if (tree->layers().ranges() == 0) continue;
    const tree::Layers::List layers = tree->layers().list();
    for (const std::shared_ptr<tree::Layer>& layer : layers) {
      if (!layer->deletes() || is_open(*layer)) continue;
      if (!is_done(*layer)) {
        Result<bool> erased =
            has_older(layers, *layer, true) ? false : erase(tree, *layer, stopping);
        if (!erased.ok() && first.ok()) first = erased.status();
        const bool done = erased.ok() && *erased;
        all = all && done;
        if (!done) continue;
        rewritten = true;
      }
      ranges.emplace_back(tree, layer);
    }
  }
  if (rewritten) {
    HAWTHORN_TEST_POINT("eraser.before_publish");
    if (Status s = publisher_->publish(); !s.ok()) return s;
  }
  bool read = false;
  for (const auto& [tree, layer] : ranges) {
    const Lsn visible = services_.sequencer->visible().load(std::memory_order_acquire);
    const bool older = has_older(tree->layers().list(), *layer, false);
    if (!is_done(*layer)) {
      // An open that finds the older ones again finds what came in with them, too.
      if (older) {
        if (Status s = services_.store->log->wait_durable(visible); !s.ok()) return s;
      }
      layer->log_from.store(format::kLsnMax, std::memory_order_release);
      tree->layers().merged(*layer, visible + 1);
    }
    if (older || services_.store->snapshots->read_between(
                     layer->cts.load(std::memory_order_acquire),
                     layer->merged.load(std::memory_order_acquire), visible)) {
      read = true;
    } else {
      tree->layers().remove(layer.get());
    }
  }
  if (!first.ok()) return first;
  if (!all) return Left::kContainers;
  return read ? Left::kReaders : Left::kNothing;
}

// False: it has to stop.
bool RangeEraser::await_turn(const std::function<bool()>& stopping) const {
  const os::Machine& machine = *services_.store->machine;
  os::IoLimit* const limit = machine.background_io;
  while (stopping != nullptr) {
    if (stopping()) return false;
    const uint64_t wait_us = limit == nullptr ? 0 : std::min(limit->wait_us(), kEraseSliceUs);
    if (wait_us == 0) return true;
    machine.clock->sleep_us(wait_us);
    limit->count_wait(wait_us);
  }
  return true;
}

// False: not all of it could be rewritten now.
Result<bool> RangeEraser::erase(tree::TreeState* tree, const tree::Layer& range,
                                const std::function<bool()>& stopping) {
  Lsn cts = range.cts.load(std::memory_order_acquire);
  // What has come in with older layers, which snapshots still read, is hidden from these as well.
  for (const std::shared_ptr<tree::Layer>& layer : tree->layers().list()) {
    const bool older = !layer->deletes() && layer->cts.load(std::memory_order_acquire) < cts;
    if (older && is_done(*layer)) {
      cts = std::max(cts, layer->merged.load(std::memory_order_acquire) - 1);
    }
  }
  std::string at = range.range.low;
  bool all = true;
  // One that was dropped is read by named snapshots, over restarts.
  while (!tree->dropped.load(std::memory_order_acquire)) {
    if (stopping != nullptr && stopping()) return false;
    bool due = false;
    bool last = false;
    std::string next;
    {
      const os::epoch::Guard guard;
      const tree::Container* container = tree->directory().find(at);
      due = container->descriptor.load(std::memory_order_acquire)->run->record.cut < cts;
      last = !container->has_high || (range.range.high && container->high >= *range.range.high);
      next = container->high;
    }
    if (due) {
      if (!await_turn(stopping)) return false;
      HAWTHORN_TEST_POINT("eraser.before_flush");
      bool flushed = false;
      Status status = scheduler_->erase(tree, at, &flushed);
      if (status.is(StatusCode::kNoSpace) || status.is(StatusCode::kOutOfMemory)) return false;
      if (!status.ok()) return status;
      if (flushed) continue;
      all = false;  // somebody else is at it
    }
    if (last) return all;
    at = next;
  }
  return false;
}

}  // namespace hawthorn::db
