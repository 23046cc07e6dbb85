// The disk reserve (R28), a part of the scheduler: what inserts must leave ready in the data files,
// and what is done when a disk is full.

#include <algorithm>

#include "db/scheduler.h"
#include "os/epoch.h"
#include "os/file.h"

namespace hawthorn::db {

namespace {
using os::kBlockBytes;

// What one merge may take before it gives anything back, in containers, and the least that is made
// ready for unflushed data.
constexpr size_t kReserveContainers = 4;
constexpr size_t kExtentContainers = 2;
constexpr uint32_t kPiecesOfExtent = 4;
constexpr size_t kPartsSmall = 16;
constexpr size_t kCoverBytesMin = size_t{4} << 20;
constexpr size_t kContainerRecordMax = 512;  // of a container in the manifest
constexpr int kFreedAttempts = 8;
constexpr int kWaitsMax = 10'000;  // of half a millisecond: a thread that never goes on is no
                                   // reason to hang
}  // namespace

size_t Scheduler::merge_bytes() const {
  return kReserveContainers * target_bytes_.load(std::memory_order_relaxed);
}

// Of an image that is larger than others, and nearly due for a split.
uint32_t Scheduler::contiguous_blocks() const {
  const size_t target = target_bytes_.load(std::memory_order_relaxed);
  return static_cast<uint32_t>(kExtentContainers * target / kBlockBytes);
}

void Scheduler::reserve(size_t beyond_merge) {
  store_->space->reserve((merge_bytes() + beyond_merge) / kBlockBytes,
                         contiguous_blocks() / kPiecesOfExtent);
}

// So much unflushed data shall have its space: twice what there is, so that more is made ready
// seldom.
size_t Scheduler::cover_wanted() const {
  const size_t quota = quota_.load(std::memory_order_relaxed);
  const size_t least = std::min(kCoverBytesMin, quota / 16);
  const size_t used = store_->arena->used(os::Quota::kDelta);
  return std::max(std::clamp(2 * used, least, quota), used + least);
}

// What a flush writes takes less than it took in memory, so bytes of deltas are a bound.
Status Scheduler::cover() {
  os::MutexLock lock(cover_mutex_);
  space::Space& space = *store_->space;
  const size_t wanted = cover_wanted();
  const size_t target = target_bytes_.load(std::memory_order_relaxed);
  const uint32_t contiguous = contiguous_blocks();
  // Before it is ready, so that no large value takes of it (6 of space.h).
  const size_t held = std::max(wanted, covered_.load(std::memory_order_relaxed));
  reserve(held);
  Status status = space.keep_ready((merge_bytes() + wanted) / kBlockBytes, contiguous);
  size_t covered = wanted;
  if (!status.ok()) {
    // Where free space is in pieces, flushes go in smaller ones, too.
    bool some = false;
    for (uint32_t part = contiguous; !some && part >= contiguous / kPiecesOfExtent; part /= 2) {
      some = space.keep_ready(merge_bytes() / kBlockBytes, part).ok();
    }
    covered = some ? ready_beyond_merge(wanted) : 0;
  }
  // What is flushed on a full disk may be split as small as that.
  const size_t records = (merge_bytes() + wanted) / (target / kPartsSmall) * kContainerRecordMax;
  if (Status s = publisher_->keep_manifest_room(records); !s.ok()) {
    status = std::move(s);
    covered = 0;
  }
  set_covered(covered);
  return status;
}

void Scheduler::uncover() {
  os::MutexLock lock(cover_mutex_);
  const size_t covered = covered_.load(std::memory_order_relaxed);
  const size_t left = ready_beyond_merge(covered);
  if (left < covered) set_covered(left);
}

// What is ready besides what one merge may take, as far as `enough`.
size_t Scheduler::ready_beyond_merge(size_t enough) const {
  const uint64_t blocks = (merge_bytes() + enough) / kBlockBytes;
  const size_t ready = store_->space->ready_in_ranges(blocks) * kBlockBytes;
  return ready - std::min(ready, merge_bytes());
}

// The disk may be full. All that is unflushed has its space: flushed and published, it needs less,
// and what it deleted is free. Only when that does not help an insert is refused.
Status Scheduler::make_space() {
  const auto fits = [this]() -> Status {
    Status status = cover();
    const size_t used = store_->arena->used(os::Quota::kDelta);
    return used < covered_.load(std::memory_order_relaxed) ? Status() : status;
  };
  if (fits().ok()) return {};
  os::MutexLock lock(space_mutex_);
  return free_until(fits);
}

Status Scheduler::free_space(const std::function<Status()>& take) {
  os::MutexLock lock(space_mutex_);
  return free_until(take);
}

Status Scheduler::free_until(const std::function<Status()>& enough) {
  Status status = enough();
  if (status.is(StatusCode::kNoSpace) && flush_news()) {
    if (Status s = publisher_->status(); !s.ok()) return s;
    status = enough();
  }
  // What the background has flushed gives its space back only when it is published, and when nobody
  // reads what it replaced any more. Whoever reads it has the processor or waits for it, so an
  // insert is refused only after all who were reading have gone on, however slow the machine is.
  const uint64_t flushed = os::epoch::stamp();
  int attempts = 0;
  for (int wait = 0; wait < kWaitsMax && attempts < kFreedAttempts; ++wait) {
    if (!status.is(StatusCode::kNoSpace)) return status;
    if (wait > 0) machine_.clock->sleep_us(500);
    if (Status s = publisher_->publish(); !s.ok()) return s;
    os::epoch::collect();
    if (os::epoch::passed(flushed)) ++attempts;
    status = enough();
  }
  if (!status.is(StatusCode::kNoSpace)) return status;
  return Status(StatusCode::kNoSpace, "no space for more data (reads and deletes go on): " +
                                          std::string(status.message()));
}

// False: nothing was written since the last time.
bool Scheduler::flush_news() {
  flushed_used_ = std::min(flushed_used_, store_->arena->used(os::Quota::kDelta));
  if (store_->arena->used(os::Quota::kDelta) == flushed_used_) return false;
  static_cast<void>(flush_and_publish().ok());
  return true;
}

// As much of it as goes: whoever calls looks at what came of it. Returns what stood in the way of
// the rest.
Status Scheduler::flush_and_publish() {
  Status status = flush_all();
  // Twice: only what was durable before lets the log go.
  for (int i = 0; i < 2; ++i) {
    if (Status s = publisher_->publish_now({}); status.ok()) status = std::move(s);
  }
  os::epoch::collect();
  flushed_used_ = store_->arena->used(os::Quota::kDelta);
  return status;
}

// The log has no room, and the disk none for its next segment. Everything in it can be flushed, so
// its own segments serve again: the last one, too, when the rest of it is given up.
Status Scheduler::free_log() {
  os::MutexLock lock(space_mutex_);
  if (!store_->log->at_its_end()) return {};
  // A copy that is reading it would keep all of it.
  publisher_->revoke_pins(true);
  if (Status s = store_->log->finish_segment(); !s.ok()) return s;
  const Status flushed = flush_and_publish();
  if (Status s = publisher_->status(); !s.ok() || flushed.ok()) return s;
  return Status(StatusCode::kNoSpace,
                "not all that the log is kept for could be flushed: " + flushed.to_string());
}

}  // namespace hawthorn::db
