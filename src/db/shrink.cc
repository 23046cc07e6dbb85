// Giving the disk back while the database is open, a part of the scheduler: which data file shall
// leave (Space::leave), and the containers that move out of it.

#include <algorithm>

#include "db/scheduler.h"
#include "os/epoch.h"
#include "os/file.h"
#include "os/io_limit.h"
#include "os/test_point.h"

namespace hawthorn::db {

namespace {
using os::kBlockBytes;

// Free space that stays besides twice the reserve: a part of what is in use.
constexpr uint64_t kSparePart = 20;
constexpr uint64_t kLookUs = 1'000'000;      // between looks whether a file may go
constexpr uint64_t kGrownUs = 10'000'000;    // none goes so soon after one was made
constexpr uint64_t kGivenUpUs = 60'000'000;  // after a file that could not be emptied
constexpr uint64_t kPausePart = 4;           // of the time that a step took
constexpr uint32_t kScansMax = 8;
}  // namespace

uint64_t Scheduler::spare_blocks(bool eager) {
  os::MutexLock lock(cover_mutex_);
  // What was covered while the deltas held more need not stay so.
  const size_t wanted = cover_wanted();
  if (wanted < covered_.load(std::memory_order_relaxed)) set_covered(wanted);
  const size_t growth = eager ? 0 : quota_.load(std::memory_order_relaxed);
  return (2 * (merge_bytes() + wanted) + growth) / kBlockBytes +
         store_->space->used_blocks() / kSparePart;
}

// The mutex is free while it waits for its turn: the background thread takes it, too.
void Scheduler::shrink(RewriteCount* count) {
  size_t rewritten = 0;  // in the last step
  size_t left = 0;
  // Whether to go on behind it.
  const auto repeat = [&](auto step) {
    for (bool more = true; more;) {
      rewritten = 0;
      {
        if (machine_.background_io != nullptr) machine_.background_io->await();
        const os::IoLimit::Scope counts(machine_.background_io);
        more = step() == Step::kDone;
      }
      if (count != nullptr && rewritten != 0 && !count->add(rewritten, left)) return false;
    }
    return true;
  };
  if (count != nullptr && !count->status().ok()) return;
  {
    os::MutexLock lock(shrink_mutex_);
    untidy_.clear();
  }
  const bool goes_on = repeat([&] {
    os::MutexLock lock(shrink_mutex_);
    const Step step = tidy_step();
    rewritten = step == Step::kDone ? 1 : 0;
    left = untidy_.size();
    return step;
  });
  static_cast<void>(publisher_->publish().ok());
  os::epoch::collect();
  if (!goes_on) return;
  {
    os::MutexLock lock(shrink_mutex_);
    immovable_.clear();
  }
  repeat([&] {
    os::MutexLock lock(shrink_mutex_);
    const bool moves = !movers_.empty();
    const Step step = shrink_step(true);
    rewritten = moves && step == Step::kDone ? 1 : 0;
    left = movers_.size();
    return step;
  });
}

void Scheduler::shrink_in_background() {
  release_moved();
  const uint64_t now = machine_.clock->monotonic_us();
  if (now < shrink_after_us_.load(std::memory_order_relaxed)) return;
  const uint64_t grown = store_->space->grown_us();
  os::MutexLock lock(shrink_mutex_);
  Step step = tidy_step();
  if (step == Step::kNothing && (grown == 0 || now - grown >= kGrownUs)) step = shrink_step(false);
  const uint64_t done = machine_.clock->monotonic_us();
  if (step == Step::kFailed) {
    immovable_.clear();
    shrink_after_us_.store(done + kGivenUpUs, std::memory_order_relaxed);
    return;
  }
  const uint64_t pause = step == Step::kDone ? kPausePart * (done - now) : kLookUs;
  shrink_after_us_.store(done + pause, std::memory_order_relaxed);
}

Scheduler::Step Scheduler::shrink_step(bool eager) {
  if (!publisher_->status().ok()) return Step::kFailed;
  space::Space& space = *store_->space;
  std::optional<uint32_t> file = space.leaving();
  if (!file.has_value()) {
    file = space.leave(spare_blocks(eager), immovable_);
    if (!file.has_value()) return Step::kNothing;
    scans_ = 0;
    if (!find_movers(*file)) return Step::kDone;
  }
  HAWTHORN_TEST_POINT("scheduler.shrink_step");
  if (!movers_.empty()) return move_one(*file);
  // What was moved is free when that is published and nobody reads the old copies any more.
  release_moved();
  if (Status s = publisher_->publish(); !s.ok()) return Step::kFailed;
  os::epoch::collect();
  const Result<bool> removed = space.remove_left();
  if (!removed.ok()) {
    give_up_shrinking(*file, false);
    return Step::kDone;
  }
  if (*removed) {
    stats_.files_removed.fetch_add(1, std::memory_order_relaxed);
    return Step::kDone;
  }
  if (!space.leaving().has_value()) return Step::kFailed;  // needed after all
  if (scans_ < kScansMax) {
    if (!find_movers(*file) || !movers_.empty()) return Step::kDone;
    if (eager) machine_.clock->sleep_us(1000);
    return eager ? Step::kDone : Step::kNothing;
  }
  give_up_shrinking(*file, false);
  return eager ? Step::kDone : Step::kFailed;
}

Scheduler::Step Scheduler::move_one(uint32_t file) {
  const Mover mover = std::move(movers_.back());
  movers_.pop_back();
  tree::MergePolicy moving = policy();
  moving.move_file = file;
  bool moved = false;
  AtWork at_work(this);
  const Status status = flush_container(mover.tree, mover.low, true, false, moving, &moved);
  at_work.end();
  progress_.notify_all();
  os::epoch::collect();
  if (!status.ok()) {
    const bool later = status.is(StatusCode::kNoSpace) || status.is(StatusCode::kOutOfMemory);
    if (!later && !status.is(StatusCode::kCorruption)) fail(status);
    give_up_shrinking(file, later);
    return Step::kFailed;
  }
  if (store_->space->leaving() == file) return Step::kDone;
  // There was no room elsewhere: it stays.
  movers_.clear();
  return Step::kFailed;
}

// The containers that have something in the file. False: it cannot be emptied, since one of them is
// damaged, or stays for another reason.
bool Scheduler::find_movers(uint32_t file) {
  ++scans_;
  movers_.clear();
  const auto lies_there = [file](const tree::ExtentAddress& address) {
    return address.blocks != 0 && address.file == file;
  };
  bool damaged = false;
  for (const tree::TreeRef& tree : trees_()) {
    os::epoch::Guard guard;
    for (const tree::Container* container : tree->directory().all()) {
      const tree::RunFile* run = container->descriptor.load(std::memory_order_acquire)->run;
      const format::ContainerRecord& record = run->record;
      const bool any = lies_there(record.run) ||
                       std::any_of(record.values.begin(), record.values.end(),
                                   [&](const auto& value) { return lies_there(value.address); }) ||
                       std::any_of(record.large.begin(), record.large.end(), lies_there);
      if (!any) continue;
      damaged = damaged || run->damaged.load(std::memory_order_relaxed);
      movers_.push_back({tree, container->low});
    }
  }
  if (damaged) give_up_shrinking(file, false);
  return !damaged;
}

void Scheduler::give_up_shrinking(uint32_t file, bool movable) {
  if (!movable) immovable_.insert(file);
  movers_.clear();
  store_->space->stay();
}

void Scheduler::hold_moved(std::vector<tree::ExtentRef> extents) {
  if (extents.empty()) return;
  os::MutexLock lock(held_mutex_);
  held_.push_back({std::move(extents), store_->visible->load(std::memory_order_acquire)});
}

// A reader announces its timestamp before it looks for addresses, and the container was given new
// ones before this looks for readers: one of the two sees the other.
void Scheduler::release_moved() {
  os::MutexLock lock(held_mutex_);
  if (held_.empty()) return;
  std::atomic_thread_fence(std::memory_order_seq_cst);
  const Lsn oldest = store_->snapshots->oldest(format::kLsnMax);
  std::erase_if(held_, [oldest](const Held& held) { return held.visible < oldest; });
}

}  // namespace hawthorn::db
