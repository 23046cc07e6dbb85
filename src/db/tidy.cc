// Re-clustering for the sake of space, a part of the scheduler: how much garbage there may be, and
// which containers give most of it back for what must be rewritten.

#include <algorithm>

#include "db/ranked.h"
#include "db/scheduler.h"
#include "os/epoch.h"
#include "os/file.h"

namespace hawthorn::db {

namespace {
constexpr double kGarbageMaxLimit = 0.5;
constexpr size_t kUntidyMax = 256;
constexpr uint64_t kObserveUs = 500'000;
}  // namespace

void Scheduler::observe_readers() {
  const uint64_t now = machine_.clock->monotonic_us();
  if (now - observed_us_ < kObserveUs) return;
  observed_us_ = now;
  store_->snapshots->observe(now);
}

// `oldest`: of the timestamps that are registered. What only older ones needed is garbage.
tree::SpaceUse Scheduler::count_use(const tree::RunFile& file, Lsn oldest) {
  tree::SpaceUse use = file.space_use();
  if (file.record.max_ts <= oldest) use.garbage += use.old_versions;
  return use;
}

// A container that is flushed is rewritten when this part of its values is garbage: that costs no
// index of its own. Where all containers get their share of the overwrites, garbage grows evenly up
// to the limit in each, so that the limit is twice what they have on average. Where few do, it may
// be more in those. Above what is allowed the limit falls fast, since garbage that grew everywhere
// at once is over it everywhere at once.
void Scheduler::set_garbage_max(const tree::SpaceUse& use) {
  if (use.used == 0) return;
  const double share = static_cast<double>(use.garbage) / static_cast<double>(use.used);
  const double allowed = garbage_share_;
  double wanted = 2 * allowed;
  if (share < allowed / 2) wanted *= allowed / 2 / std::max(share, allowed / 64);
  if (share > allowed) wanted *= allowed / share * (allowed / share);
  // What a flush adds comes on top of what it finds, so the limit may have to be far below.
  garbage_max_.store(std::clamp(wanted, allowed / 4, std::max(allowed, kGarbageMaxLimit)),
                     std::memory_order_relaxed);
}

// Whether there is no more garbage than there may be, also where all old versions are some: then
// nobody has to look for it. Looks at the trees in use alone.
bool Scheduler::garbage_allowed() {
  tree::SpaceUse use;
  const os::epoch::Guard guard;
  for (const tree::TreeRef& tree : store_->active.list(&use)) {
    for (const tree::Container* container : tree->directory().all()) {
      use.add(container->descriptor.load(std::memory_order_acquire)->run->space_use());
    }
  }
  use.garbage += use.old_versions;
  set_garbage_max(use);
  return static_cast<double>(use.garbage) <= garbage_share_ * static_cast<double>(use.used);
}

tree::SpaceUse Scheduler::find_untidy() {
  tree::SpaceUse all;
  untidy_.clear();
  const Lsn oldest = store_->snapshots->oldest(format::kLsnMax);
  const std::vector<tree::TreeRef> trees = trees_();
  Best best(kUntidyMax);
  const os::epoch::Guard guard;
  for (const tree::TreeRef& tree : trees) {
    const Lsn shown = std::min(oldest, tree->pins().oldest());
    for (const tree::Container* container : tree->directory().all()) {
      const tree::RunFile* file = container->descriptor.load(std::memory_order_acquire)->run;
      const tree::SpaceUse use = count_use(*file, shown);
      all.add(use);
      const auto garbage = static_cast<double>(use.garbage);
      const uint64_t live = use.used - std::min(use.used, use.garbage);
      const double share = garbage / static_cast<double>(std::max<uint64_t>(use.used, 1));
      if (share < garbage_share_ || file->damaged.load(std::memory_order_relaxed)) continue;
      best.add({&tree, container, garbage / static_cast<double>(live + 1), use.garbage});
    }
  }
  const std::vector<Ranked> ranked = best.take();
  // No more than what brings the whole to what is allowed.
  const double allowed = garbage_share_ * static_cast<double>(all.used);
  double left = static_cast<double>(all.garbage);
  auto first = ranked.end();
  while (first != ranked.begin() && left > allowed) left -= static_cast<double>((--first)->bytes);
  untidy_.reserve(static_cast<size_t>(ranked.end() - first));
  for (; first != ranked.end(); ++first) untidy_.push_back({*first->tree, first->container->low});
  return all;
}

// Rewrites one container. kNothing: there is no more garbage than there may be, or it is spread so
// evenly that rewriting does not pay.
Scheduler::Step Scheduler::tidy_step() {
  if (!publisher_->status().ok()) return Step::kFailed;
  if (untidy_.empty()) {
    if (garbage_allowed()) {
      untidy_garbage_ = ~uint64_t{0};
      return Step::kNothing;
    }
    const tree::SpaceUse use = find_untidy();
    set_garbage_max(use);
    // The last round must have helped.
    const bool helped = use.garbage < untidy_garbage_;
    untidy_garbage_ = use.garbage;
    if (untidy_.empty() || !helped) {
      untidy_.clear();
      untidy_garbage_ = ~uint64_t{0};
      return Step::kNothing;
    }
  }
  const Untidy next = std::move(untidy_.back());
  untidy_.pop_back();
  tree::MergePolicy recluster = policy();
  recluster.recluster = true;
  bool done = false;
  AtWork at_work(this);
  const Status status = flush_container(next.tree, next.low, true, false, recluster, &done);
  at_work.end();
  progress_.notify_all();
  os::epoch::collect();
  if (status.ok()) return untidy_.empty() && !done ? Step::kNothing : Step::kDone;
  const StatusCode code = status.code();
  const bool harmless = code == StatusCode::kNoSpace || code == StatusCode::kOutOfMemory ||
                        code == StatusCode::kCorruption;
  if (!harmless) fail(status);
  untidy_.clear();
  return Step::kFailed;
}

}  // namespace hawthorn::db
