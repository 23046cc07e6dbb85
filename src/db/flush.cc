// Flushing one container, a part of the scheduler: which shape that takes, what is tried on a full
// disk, divisions before and joins behind it.

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "db/flush_events.h"
#include "db/held_cuts.h"
#include "db/moved_large.h"
#include "db/scheduler.h"
#include "os/epoch.h"
#include "os/test_point.h"

namespace hawthorn::db {

namespace {
// A delta larger than that is not merged in one step.
constexpr size_t kStepContainers = 8;
constexpr size_t kStepBytesMax = 2 * tree::kLargeDeltaBytes;
constexpr size_t kPartsMax = 1024;
constexpr double kFlushPart = 0.8;  // of a container's target size
// Containers below the first part of it are joined, into one of the second at most.
constexpr size_t kJoinPart = 4;
constexpr size_t kJoinedPart = 2;
constexpr size_t kJoinMax = 8;
constexpr uint64_t kJoinPauseUs = 1'000'000;  // after one that failed
constexpr size_t kIdleMergersMax = 4;
constexpr size_t kBeyondPart = 64;  // of the budget, taken beyond it by merges
// Of the largest range, by a piece of what is split on a full disk: how much an image takes beside
// its entries is not known before.
constexpr double kReadyShares[] = {0.9, 0.7, 0.4};

size_t step_bytes(const tree::MergePolicy& policy) {
  return std::min(kStepContainers * policy.target_bytes, kStepBytesMax);
}
}  // namespace

// Few flushes run at once, on whichever threads: a merger keeps its buffers for the next one, not
// for its thread.
class Scheduler::MergerLease {
 public:
  explicit MergerLease(Scheduler* scheduler) : scheduler_(scheduler) {
    {
      os::MutexLock lock(scheduler_->mergers_mutex_);
      if (!scheduler_->mergers_.empty()) {
        merger_ = std::move(scheduler_->mergers_.back());
        scheduler_->mergers_.pop_back();
      }
    }
    if (merger_ == nullptr) merger_ = std::make_unique<tree::Merger>(scheduler_->store_);
  }
  ~MergerLease() {
    os::MutexLock lock(scheduler_->mergers_mutex_);
    if (scheduler_->mergers_.size() < kIdleMergersMax) {
      scheduler_->mergers_.push_back(std::move(merger_));
    }
  }
  MergerLease(const MergerLease&) = delete;
  MergerLease& operator=(const MergerLease&) = delete;
  tree::Merger* operator->() const { return merger_.get(); }

 private:
  Scheduler* const scheduler_;
  std::unique_ptr<tree::Merger> merger_;
};

Edit edit_of(const tree::MergeOutput& output) {
  Edit edit;
  for (const tree::MergePiece& piece : output.pieces) edit.set.push_back(piece.file->record);
  edit.fresh = output.fresh;
  edit.dropped = output.dropped;
  return edit;
}

// What earlier flushes have replaced is free only when they are published. When that is not enough
// the index alone is rewritten, which takes little more than it replaces; garbage stays for later.
// Where free space is in small pieces, so is what a container is then split into: the largest
// ranges take most of it, as they are often what others of its size have left, and small ones the
// rest.
Status Scheduler::flush_container(tree::TreeState* tree, const std::string& low, bool allow_io,
                                  bool force, const tree::MergePolicy& policy, bool* flushed) {
  charge_overhead();
  // What merges have taken beyond the budget can be evicted when it is written.
  const size_t budget = store_->arena->budget();
  const bool beyond = store_->arena->used() > budget + budget / kBeyondPart;
  if (publisher_->has_much(beyond)) {
    if (Status s = publisher_->publish(); !s.ok() && !s.is(StatusCode::kNoSpace)) return s;
    if (beyond) store_->residency->return_to_budget();
  }
  Status status = try_flush(tree, low, allow_io, force, policy, flushed);
  if (policy.move_file.has_value()) return status;  // what could not be moved stays
  if (status.is(StatusCode::kNoSpace)) {
    if (Status s = publisher_->publish(); !s.ok()) return s;
    os::epoch::collect();
    status = try_flush(tree, low, allow_io, force, policy, flushed);
  }
  tree::MergePolicy least = policy;
  least.recluster = false;
  least.keep_extents = true;
  if (status.is(StatusCode::kNoSpace)) {
    status = try_flush(tree, low, allow_io, force, least, flushed);
  }
  // Values that cannot be read need not be, but for the smallest of as many extents as the index
  // can name. Who wants them rewritten is told all the same.
  if (status.is(StatusCode::kCorruption) && !policy.rewrites() && allow_io) {
    Status kept = try_flush(tree, low, allow_io, force, least, flushed);
    if (kept.ok() && *flushed) status = std::move(kept);
  }
  least.keep_extents = false;
  for (const double share : kReadyShares) {
    if (!status.is(StatusCode::kNoSpace)) break;
    least.ready_share = share;
    status = try_flush(tree, low, allow_io, force, least, flushed);
  }
  if (*flushed) uncover();
  return status;
}

Status Scheduler::erase(tree::TreeState* tree, const std::string& key, bool* flushed) {
  tree::MergePolicy erasing = policy();
  erasing.erase = true;
  const os::IoLimit::Scope counts(machine_.background_io);
  const Status status = flush_container(tree, key, true, true, erasing, flushed);
  os::epoch::collect();
  return status;
}

// The parts of a container whose delta is far too large for one step: each has a part of the run,
// shares the delta, and is flushed as a step of its own. Nothing is read of the delta but where the
// parts shall begin. False: goes the ordinary way.
Result<bool> Scheduler::divide(tree::TreeState* tree, const std::string& low,
                               const tree::MergePolicy& policy) {
  std::optional<tree::TreeState::Cut> cut;
  std::optional<HeldCuts> held;
  std::vector<std::string> lows;
  {
    os::epoch::Guard guard;
    tree::Container* container = tree->directory().find(low);
    const tree::Delta* delta = container->descriptor.load(std::memory_order_acquire)->active;
    if (delta->bytes() <= step_bytes(policy)) return false;
    cut = tree->cut_to_divide(container, step_bytes(policy));
    if (!cut.has_value()) return false;
    held.emplace(tree, std::span(&*cut, 1));
    const size_t parts =
        delta->bytes() / std::max<size_t>(1, part_of(policy.target_bytes, kFlushPart));
    std::vector<tree::DeltaEntry*> bounds(std::min(parts, kPartsMax));
    bounds.resize(delta->sample(bounds));
    for (const tree::DeltaEntry* bound : bounds) {
      if (bound->key() > cut->container->low) lows.emplace_back(bound->key());
    }
  }
  if (lows.empty() || tree->dropped.load(std::memory_order_seq_cst)) return false;
  FlushEvents events(machine_, tree->id(), cut->container->low, 0, true);
  HAWTHORN_TEST_POINT("scheduler.before_divide");
  Result<tree::MergeOutput> divided = MergerLease(this)->divide(tree->merge_input(*cut), lows);
  if (!divided.ok()) {
    events.failed(divided.status());
    const StatusCode code = divided.status().code();
    if (code == StatusCode::kNoSpace || code == StatusCode::kOutOfMemory) return false;
    return divided.status();
  }
  if (!tree::TreeState::few_open(*cut)) {
    events.failed(Status(StatusCode::kBusy, "open transactions hold too much of the container"));
    return false;
  }
  events.merged(*divided);
  const uint64_t batch = publisher_->add(edit_of(*divided));
  tree->install(*cut, *divided, batch);
  held->settled();
  stats_.splits.fetch_add(1, std::memory_order_relaxed);
  parts_due_.store(true, std::memory_order_release);
  return true;
}

// What lies around a container that has become small, as far as it fits one of half the size. The
// container covers `low`.
std::vector<tree::Container*> Scheduler::small_neighbours(tree::TreeState* tree,
                                                          const std::string& low,
                                                          size_t target) const {
  const tree::Directory& directory = tree->directory();
  size_t left = target / kJoinedPart;
  const auto fits = [&left](const tree::Container* container) {
    const tree::Descriptor* d = container->descriptor.load(std::memory_order_acquire);
    const size_t bytes = tree::live_bytes(*d->run) + d->active->bytes();
    if (d->frozen != nullptr || bytes > left ||
        container->flushing.load(std::memory_order_relaxed) ||
        d->run->damaged.load(std::memory_order_relaxed)) {
      return false;
    }
    left -= bytes;
    return true;
  };
  tree::Container* middle = directory.find(low);
  if (!fits(middle)) return {};
  std::vector<tree::Container*> group{middle};
  while (group.size() < kJoinMax / 2) {
    tree::Container* before = directory.before(group.front()->low);
    if (before == nullptr || !fits(before)) break;
    group.insert(group.begin(), before);
  }
  while (group.size() < kJoinMax && group.back()->has_high) {
    tree::Container* next = directory.find(group.back()->high);
    if (!fits(next)) break;
    group.push_back(next);
  }
  return group;
}

// Where most has been deleted, one container is made of several. No join is ever needed: what
// stands in its way, errors too, is met again by those who need it.
void Scheduler::join_around(tree::TreeState* tree, const std::string& low,
                            const tree::MergePolicy& policy) {
  // While the log is replayed, its containers' cuts lie apart.
  if (!started_.load(std::memory_order_acquire)) return;
  if (machine_.clock->monotonic_us() < no_joins_until_us_.load(std::memory_order_relaxed)) return;
  std::vector<tree::TreeState::Cut> cuts;
  {
    os::epoch::Guard guard;
    const std::vector<tree::Container*> group = small_neighbours(tree, low, policy.target_bytes);
    if (group.size() < 2) return;
    cuts = tree->cut_to_join(group);
  }
  if (cuts.empty()) return;
  HeldCuts held(tree, cuts);
  if (tree->dropped.load(std::memory_order_seq_cst)) return;
  FlushEvents events(machine_, tree->id(), cuts.front().container->low, 0, true);
  HAWTHORN_TEST_POINT("scheduler.before_join");
  std::vector<tree::MergeInput> inputs;
  for (const tree::TreeState::Cut& cut : cuts) {
    inputs.push_back(tree->merge_input(cut));
  }
  const MergerLease merger(this);
  Result<tree::MergeOutput> joined = merger->join(inputs, cuts.front().cut);
  if (!joined.ok() || !tree::TreeState::few_written(cuts)) {
    events.failed(joined.ok() ? Status(StatusCode::kBusy, "one of them was written to meanwhile")
                              : joined.status());
    if (joined.ok()) merger->give_up(std::move(joined).value());
    no_joins_until_us_.store(machine_.clock->monotonic_us() + kJoinPauseUs,
                             std::memory_order_relaxed);
    return;
  }
  events.merged(*joined, cuts.size());
  Edit edit = edit_of(*joined);
  for (size_t i = 1; i < cuts.size(); ++i) edit.deleted.push_back(cuts[i].file->record.id);
  const uint64_t batch = publisher_->add(std::move(edit));
  HAWTHORN_TEST_POINT("scheduler.before_install_joined");
  tree->install_joined(cuts, *joined, batch);
  held.settled();
  stats_.joins.fetch_add(1, std::memory_order_relaxed);
}

// Keeps those who write parts of large values out until the move is installed. False: they are at
// it, or have written something that names what was moved.
bool Scheduler::keep_still(const MovedLarge& moved, const tree::TreeState::Cut& cut) {
  if (!store_->large_moves.close()) return false;
  if (!moved.named(*cut.container)) return true;
  store_->large_moves.open();
  return false;
}

Status Scheduler::try_flush(tree::TreeState* tree, const std::string& low, bool allow_io,
                            bool force, const tree::MergePolicy& policy, bool* flushed) {
  *flushed = false;
  const bool reshapes = allow_io && !policy.rewrites() && !policy.keep_extents;
  if (reshapes) {
    Result<bool> divided = divide(tree, low, policy);
    if (!divided.ok()) return divided.status();
    *flushed = *divided;
    if (*flushed) return {};
  }
  std::optional<tree::TreeState::Cut> cut;
  {
    os::epoch::Guard guard;
    tree::Container* container = tree->directory().find(low);
    const tree::Descriptor* descriptor = container->descriptor.load(std::memory_order_acquire);
    const tree::Delta* delta =
        descriptor->frozen != nullptr ? descriptor->frozen : descriptor->active;
    if (!allow_io && tree::Merger::needs_io(delta, *descriptor->run,
                                            tree::jittered(policy, descriptor->run->record.id))) {
      return {};
    }
    if (!force && !policy.rewrites() && descriptor->active->empty() &&
        descriptor->frozen == nullptr) {
      return {};
    }
    // Intents of a transaction that is idle must not hold the log: they move on to where it is now,
    // since their commit record will stand behind that (R8, attack 9).
    cut = tree->cut(container, force || holds_log(*descriptor->active));
    // Most of it is open: when that is committed it will be large, but in order.
    if (!cut.has_value() && descriptor->frozen == nullptr && delta->bytes() > step_bytes(policy)) {
      delta->keep_order();
    }
  }
  if (!cut.has_value()) return {};
  HeldCuts held(tree, std::span(&*cut, 1));
  tree::MergePolicy jittered = tree::jittered(policy, cut->file->record.id);
  // Checked after the container was marked as being flushed: a drop waits for such marks before it
  // takes stock.
  const bool dropped = tree->dropped.load(std::memory_order_seq_cst);
  const bool alone = policy.rewrites() || policy.erase;  // there is work without a delta
  if (dropped || (cut->frozen == nullptr && !alone)) return {};
  if (!alone && tree::TreeState::drop_empty(*cut)) {
    held.settled();
    *flushed = true;
    return {};
  }
  // Once more, of what can no longer be evicted: before the cut something may have been (1).
  tree::PinnedRunFile resident;
  if (!allow_io) {
    resident = tree::PinnedRunFile(cut->file);
    store_->residency->await_evictions();
    if (tree::Merger::needs_io(cut->frozen, *cut->file, jittered)) return {};
  }
  const size_t delta_bytes = cut->frozen == nullptr ? 0 : cut->frozen->bytes_each();
  const uint64_t begin_us = machine_.clock->monotonic_us();
  FlushEvents events(machine_, tree->id(), cut->container->low, delta_bytes, policy.rewrites());
  MovedLarge moved(store_);
  if (policy.move_file.has_value() &&
      MovedLarge::named(*cut->container, *cut->file, *policy.move_file)) {
    return {};  // another time, when that is flushed
  }
  if (policy.move_file.has_value()) {
    if (Status s = moved.copy(*cut->file, *policy.move_file); !s.ok()) {
      events.failed(s);
      return s;
    }
    jittered.moved_large = moved.addresses();
  }
  HAWTHORN_TEST_POINT("scheduler.before_merge");
  std::optional<MergerLease> merger(std::in_place, this);
  Result<tree::MergeOutput> merged = (*merger)->merge(tree->merge_input(*cut), cut->cut, jittered);
  if (!merged.ok()) {
    events.failed(merged.status());
    return merged.status();
  }
  const bool moves = moved.addresses() != nullptr;  // then nobody writes parts, until it is open
  if (moves && !keep_still(moved, *cut)) {
    events.failed(Status(StatusCode::kBusy, "a large value that was to be moved is being changed"));
    (*merger)->give_up(std::move(merged).value());
    return {};
  }
  std::unique_ptr<tree::LargeMoves, void (*)(tree::LargeMoves*)> still(
      moves ? &store_->large_moves : nullptr, [](tree::LargeMoves* of) { of->open(); });
  // What was written meanwhile may be large itself, and its writer could not say so.
  if (cut->container->large.load(std::memory_order_relaxed)) {
    large_due_.store(true, std::memory_order_release);
  }
  merger.reset();
  events.merged(*merged);
  const bool split = merged->pieces.size() > 1;
  const bool reclustered = merged->reclustered;
  const bool joins =
      reshapes && !split &&
      tree::live_bytes(*merged->pieces.front().file) < policy.target_bytes / kJoinPart;
  std::vector<std::string> lows;  // the install may replace the container by several
  if (flushed_) {
    for (const tree::MergePiece& piece : merged->pieces) lows.push_back(piece.low);
  }
  const uint64_t batch = publisher_->add(edit_of(*merged));
  HAWTHORN_TEST_POINT("scheduler.before_install");
  tree->install(*cut, *merged, batch);
  held.settled();
  still.reset();
  flushed_bytes_.fetch_add(delta_bytes, std::memory_order_relaxed);
  hold_moved(moved.keep());
  stats_.flush_us.fetch_add(machine_.clock->monotonic_us() - begin_us, std::memory_order_relaxed);
  stats_.flushes.fetch_add(1, std::memory_order_relaxed);
  if (split) stats_.splits.fetch_add(1, std::memory_order_relaxed);
  if (reclustered) stats_.reclusters.fetch_add(1, std::memory_order_relaxed);
  *flushed = true;
  for (const std::string& piece : lows) flushed_(*tree, piece);
  if (joins) join_around(tree, low, policy);
  return {};
}

}  // namespace hawthorn::db
