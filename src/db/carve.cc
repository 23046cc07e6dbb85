// Making room for a bulk ingest, a part of the scheduler: containers are cut where its parts begin
// and end, so that each part has an empty one of its own.

#include <algorithm>

#include "db/held_cuts.h"
#include "db/scheduler.h"
#include "os/epoch.h"
#include "os/test_point.h"

namespace hawthorn::db {

namespace {
constexpr uint32_t kCarveAttempts = 2000;
constexpr uint32_t kFlushes = 3;  // of a container that others go on writing to
constexpr uint64_t kCarvePauseUs = 500;
constexpr double kPacedShare = 0.9;  // of the quota
}  // namespace

Status Scheduler::admit_beyond(size_t bytes, bool insert) {
  const size_t used = store_->arena->used(os::Quota::kDelta);
  if (used < part_of(quota_.load(std::memory_order_relaxed), kPacedShare)) {
    return admit(bytes, insert);
  }
  if (Status s = publisher_->status(); !s.ok()) return s;
  const bool covered = used < covered_.load(std::memory_order_relaxed);
  return insert && !covered ? make_space() : Status();
}

Status Scheduler::carve(tree::TreeState* tree, std::span<const std::string> bounds) {
  uint32_t attempts = 0;
  while (!bounds.empty()) {
    if (tree->dropped.load(std::memory_order_acquire)) return {};
    Result<size_t> carved = carve_one(tree, bounds, attempts < kFlushes);
    os::epoch::collect();
    if (carved.ok() && *carved > 0) {
      bounds = bounds.subspan(*carved);
      attempts = 0;
      continue;
    }
    if (!carved.ok() && !carved.status().is(StatusCode::kOutOfMemory)) return carved.status();
    if (++attempts >= kCarveAttempts) {
      if (!carved.ok()) return carved.status();
      // Not to be had: whoever wants it finds no container of that range.
      bounds = bounds.subspan(1);
      attempts = 0;
      continue;
    }
    if (!carved.ok()) {
      // What was flushed and not published yet cannot be evicted.
      if (Status s = publisher_->publish(); !s.ok()) return s;
    }
    machine_.clock->sleep_us(kCarvePauseUs);
  }
  return {};
}

// How many of the first bounds stand now; 0: not yet, try again.
Result<size_t> Scheduler::carve_one(tree::TreeState* tree, std::span<const std::string> bounds,
                                    bool flush_first) {
  std::string low;
  std::vector<std::string> lows;
  size_t covered = 0;
  bool unflushed = false;
  std::optional<tree::TreeState::Cut> cut;
  std::optional<HeldCuts> held;
  {
    os::epoch::Guard guard;
    tree::Container* container = tree->directory().find(bounds.front());
    for (; covered < bounds.size() && container->covers(bounds[covered]); ++covered) {
      if (bounds[covered] > container->low) lows.push_back(bounds[covered]);
    }
    low = container->low;
    const tree::Descriptor* descriptor = container->descriptor.load(std::memory_order_acquire);
    unflushed = descriptor->frozen != nullptr || descriptor->active->versions() > 0;
    if (!unflushed && lows.empty()) return covered;
    if (!unflushed || !flush_first) {
      if (lows.empty()) return covered;
      cut = tree->cut_to_carve(container);
      if (!cut.has_value()) return size_t{0};
      held.emplace(tree, std::span(&*cut, 1));
    }
  }
  if (!cut.has_value()) {
    // What was deleted there must not lie over what comes, and what was written be known.
    bool flushed = false;
    if (Status s = flush_container(tree, low, true, true, policy(), &flushed); !s.ok()) return s;
    return size_t{0};
  }
  // Checked after the container was marked as being flushed, as for a flush.
  if (tree->dropped.load(std::memory_order_seq_cst)) return size_t{0};
  tree::Merger merger(store_);
  Result<tree::MergeOutput> divided = merger.divide(tree->merge_input(*cut), lows);
  if (!divided.ok() || !tree::TreeState::few_open(*cut)) {
    if (!divided.ok()) return divided.status();
    return size_t{0};
  }
  const uint64_t batch = publisher_->add(edit_of(*divided));
  HAWTHORN_TEST_POINT("scheduler.before_install_carved");
  tree->install(*cut, *divided, batch);
  held->settled();
  stats_.splits.fetch_add(1, std::memory_order_relaxed);
  parts_due_.store(true, std::memory_order_release);
  return covered;
}

}  // namespace hawthorn::db
