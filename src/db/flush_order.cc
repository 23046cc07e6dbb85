// Which container is flushed next, and by whom: those that pay most first, as a look at all of them
// has found.

#include <algorithm>
#include <utility>

#include "db/ranked.h"
#include "db/scheduler.h"
#include "os/epoch.h"
#include "os/io_limit.h"
#include "os/test_point.h"

namespace hawthorn::db {

namespace {
// A look finds so many, or this part of all: it must not cost more than what it finds.
constexpr size_t kCandidatesMin = 128;
constexpr size_t kCandidatesPart = 32;
constexpr size_t kWriterStepBytes = 4 << 20;  // a writer leaves larger deltas to the background
constexpr uint64_t kNotDueUs = 10'000;
constexpr uint64_t kFlushFailedUs = 200'000;
}  // namespace

// Looks at all containers with deltas and keeps those that pay most.
void Scheduler::refill() {
  const bool full = deltas_full() || relieving_.load(std::memory_order_relaxed) != 0;
  const Lsn held_below = log_held_below();
  const Lsn log_first = held_below == 0 ? 0 : std::min(held_below - 1, log_start());
  const tree::MergePolicy all = policy();
  tree::SpaceUse use;
  const Lsn oldest = store_->snapshots->oldest(format::kLsnMax);
  const std::vector<tree::TreeRef> trees = store_->active.list(&use);
  size_t containers = 0;
  for (const tree::TreeRef& tree : trees) containers += tree->directory().size();
  Best best(std::max(kCandidatesMin, containers / kCandidatesPart));
  const os::epoch::Guard guard;
  for (const tree::TreeRef& tree : trees) {
    HAWTHORN_TEST_POINT("tree.looked_at");
    const Lsn shown = std::min(oldest, tree->pins().oldest());
    for (const tree::Container* container : tree->directory().all()) {
      const tree::Descriptor* d = container->descriptor.load(std::memory_order_acquire);
      use.add(count_use(*d->run, shown));
      if (container->flushing.load(std::memory_order_relaxed)) continue;
      // What is quarantined keeps its delta: nothing that a flush could do.
      if (d->run->damaged.load(std::memory_order_relaxed)) continue;
      const tree::Delta* delta = d->frozen != nullptr ? d->frozen : d->active;
      if (delta->empty()) continue;
      const bool large = delta->bytes() > tree::kLargeDeltaBytes;
      const Lsn first = d->frozen == nullptr
                            ? d->active->first_lsn()
                            : std::min(d->frozen->first_lsn(), d->active->first_lsn());
      const bool holds = first < held_below;
      if (!full && !holds && !large) continue;
      const auto bytes = static_cast<double>(delta->bytes_each());
      const tree::MergePolicy jittered = tree::jittered(all, d->run->record.id);
      double cost = bytes + static_cast<double>(d->run->record.run.blocks) * 4096;
      if (d->run->values.size() + 1 > jittered.extents_max)
        cost += static_cast<double>(d->run->value_bytes());
      double worth = bytes / cost;
      // The oldest ones first: the log is trimmed as far as none needs it.
      if (holds) {
        worth += 8 - 4 * static_cast<double>(first - std::min(first, log_first)) /
                         static_cast<double>(held_below - log_first);
      }
      if (large) worth += 8;
      best.add({&tree, container, worth, delta->bytes_each()});
    }
  }
  set_garbage_max(use);
  const std::vector<Ranked> ranked = best.take();
  std::vector<Candidate> found;
  found.reserve(ranked.size());
  for (const Ranked& at : ranked) {
    found.push_back({*at.tree, at.container->low, at.worth, at.bytes});
  }
  os::MutexLock lock(mutex_);
  candidates_ = std::move(found);
  must_read_.clear();
}

Scheduler::Found Scheduler::take_candidate(Flusher by, Candidate* candidate) {
  os::MutexLock lock(mutex_);
  if (by == Flusher::kWriter) {
    while (!candidates_.empty()) {
      *candidate = std::move(candidates_.back());
      candidates_.pop_back();
      if (candidate->bytes <= kWriterStepBytes) return Found::kOne;
      must_read_.push_back(std::move(*candidate));
    }
    return must_read_.empty() ? Found::kMustLook : Found::kNone;
  }
  const bool read = !must_read_.empty() && (by == Flusher::kHelper || candidates_.empty() ||
                                            must_read_.front().worth >= candidates_.back().worth);
  if (read) {
    *candidate = std::move(must_read_.front());
    must_read_.pop_front();
    return Found::kOne;
  }
  if (by == Flusher::kHelper) return Found::kNone;
  if (candidates_.empty()) return Found::kMustLook;
  *candidate = std::move(candidates_.back());
  candidates_.pop_back();
  return Found::kOne;
}

// The lists keep the objects of their trees: those of dropped ones, or of all.
void Scheduler::let_go_of_trees(bool all) {
  const auto dropped = [all](const auto& due) {
    return all || due.tree->dropped.load(std::memory_order_acquire);
  };
  {
    os::MutexLock lock(mutex_);
    std::erase_if(candidates_, dropped);
    std::erase_if(must_read_, dropped);
  }
  os::MutexLock lock(shrink_mutex_);
  std::erase_if(movers_, dropped);
  std::erase_if(untidy_, dropped);
}

Scheduler::Step Scheduler::flush_step(Flusher by, bool force) {
  const bool by_writer = by == Flusher::kWriter;
  for (int refills = 0; refills < 2;) {
    Candidate candidate{};
    const Found found = take_candidate(by, &candidate);
    if (found == Found::kNone) return Step::kNothing;
    if (found == Found::kMustLook) {
      if (refills++ == 0) refill();
      continue;
    }
    bool flushed = false;
    AtWork at_work(this);
    const Status status =
        flush_container(candidate.tree, candidate.low, !by_writer, force, policy(), &flushed);
    at_work.end();
    if (flushed) stuck_.store(false, std::memory_order_relaxed);
    if (flushed || !by_writer) progress_.notify_all();
    if (status.ok() && !flushed && by_writer) {
      // Its merge must read from disk.
      os::MutexLock lock(mutex_);
      must_read_.push_back(std::move(candidate));
      reads_due_.notify_one();
      return Step::kNothing;
    }
    if (!status.ok()) {
      // Space and memory come back; a damaged container keeps its delta, and the rest of the
      // database goes on.
      if (!status.is(StatusCode::kNoSpace) && !status.is(StatusCode::kOutOfMemory) &&
          !status.is(StatusCode::kCorruption)) {
        fail(status);
      }
      return Step::kFailed;
    }
    if (flushed) return Step::kDone;
  }
  return Step::kNothing;
}

// Where merges must read, one thread would mostly wait for the disk, and writers, which may not,
// for that thread.
void Scheduler::run_helper() {
  uint64_t pause_us = 0;
  for (;;) {
    {
      os::MutexLock lock(mutex_);
      if (pause_us > 0 && !stopping_) static_cast<void>(reads_due_.wait_for(mutex_, pause_us));
      while (!stopping_ && must_read_.empty()) reads_due_.wait(mutex_);
      if (stopping_) return;
    }
    const os::IoLimit::Scope counts(machine_.background_io, true);
    const Step step = flush_due() ? flush_step(Flusher::kHelper) : Step::kNothing;
    os::epoch::collect();
    pause_us = step == Step::kFailed ? kFlushFailedUs : step == Step::kNothing ? kNotDueUs : 0;
  }
}

}  // namespace hawthorn::db
