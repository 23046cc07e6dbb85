#include "db/scheduler.h"

#include <algorithm>
#include <utility>

#include "db/log_sizing.h"
#include "os/epoch.h"
#include "os/event_sink.h"
#include "os/file.h"
#include "os/io_limit.h"
#include "os/machine.h"
#include "os/small_objects.h"
#include "os/test_point.h"

namespace hawthorn::db {

namespace {
constexpr double kDeltaShare = 0.20;  // of the budget
constexpr double kDeltaShareMax = 0.45;
// Of a database many times larger than memory each flush gathers little, and index runs that go
// round do not fit anyway: so deltas may have a part of the database, up to this share.
constexpr double kDeltaShareMost = 0.62;
constexpr size_t kDeltaPart = 8;
constexpr double kSlackShare = 0.10;
constexpr size_t kAdaptBudgetMin = size_t{64} << 20;
constexpr uint64_t kAdaptUs = 100'000;
constexpr uint64_t kModestUs = 60'000'000;
constexpr size_t kMissedPart = 2000;  // of the budget, read in that time, is reading
constexpr size_t kMakeRoomBytes = size_t{16} << 20;

// What is resident for the library and belongs to no object of the database: so much at all times,
// and with each thread that uses it (stack, blocks that malloc keeps, buffers of I/O). In smaller
// budgets shares of them, as all that is kept is smaller there.
constexpr size_t kOverheadBytes = size_t{4} << 20;
constexpr double kOverheadShare = 1.0 / 64;
constexpr size_t kThreadBytes = size_t{384} << 10;
constexpr double kThreadShare = 1.0 / 256;
constexpr double kOverheadShareMax = 1.0 / 4;
constexpr size_t kDeltaQuotaMin = 2 << 20;
constexpr size_t kContainerBytesMin = 64 << 10;
constexpr size_t kContainerBytes = 1 << 20;  // as long as the database is small
constexpr size_t kContainerBytesMax = size_t{64} << 20;
constexpr double kContainersShare = 0.04;  // of the budget, for what every container takes:
constexpr double kContainerMemory = 2048;
constexpr double kFlushFrom = 0.60;  // of the quota
constexpr double kFreeBelow = 0.80;
// The log may hold this many deltas' shares; or a part of the database, where that is more. Flushed
// are the oldest deltas, which are twice as old as all together, so that less would flush them
// before they fill their memory.
constexpr size_t kLogQuotas = 2;
constexpr size_t kLogQuotasMax = 5;
constexpr size_t kLogPart = 16;
constexpr uint64_t kTickUs = 10'000;
constexpr uint32_t kHelpers = 2;
constexpr size_t kHelpersBudgetMin = size_t{64} << 20;  // each holds memory for its merge
constexpr size_t kTouchedAheadBytes = size_t{16} << 20;
constexpr uint64_t kTouchTickUs = 50'000;
// A writer that owes this much runs one step, or waits for its turn.
constexpr uint64_t kDebtStepBytes = 64 << 10;
constexpr uint64_t kLineBytesMax = 2 << 20;  // what all who wait for it owe
constexpr uint64_t kTurnUsMax = 20'000;

}  // namespace

size_t container_bytes(size_t budget, uint64_t database_bytes) {
  const size_t most = std::max(budget / 64, kContainerBytesMin);
  const double share = kContainersShare * static_cast<double>(budget);
  const double needed = static_cast<double>(database_bytes) * kContainerMemory / share;
  return std::clamp(static_cast<size_t>(needed), std::min(most, kContainerBytes),
                    std::min(most, kContainerBytesMax));
}

Scheduler::Scheduler(const os::Machine& machine, tree::Store* store, Publisher* publisher,
                     txn::Reappender* reappender, TreeList trees)
    : machine_(machine),
      store_(store),
      publisher_(publisher),
      reappender_(reappender),
      trees_(std::move(trees)),
      writer_steps_max_(std::max(2U, os::processors()) - 1) {}

Scheduler::~Scheduler() { stop(); }

void Scheduler::set_budget(size_t budget_bytes) {
  const size_t quota = std::max(kDeltaQuotaMin, part_of(budget_bytes, kDeltaShare));
  base_quota_.store(quota, std::memory_order_relaxed);
  budget_.store(budget_bytes, std::memory_order_relaxed);
  size_by_database();
  set_quota(quota);
}

void Scheduler::size_by_database() {
  const uint64_t used = store_->space->used_blocks() * os::kBlockBytes;
  const size_t budget = budget_.load(std::memory_order_relaxed);
  target_bytes_.store(container_bytes(budget, used), std::memory_order_relaxed);
  quota_max_.store(std::clamp<size_t>(used / kDeltaPart, part_of(budget, kDeltaShareMax),
                                      part_of(budget, kDeltaShareMost)),
                   std::memory_order_relaxed);
  const size_t quota = base_quota_.load(std::memory_order_relaxed);
  log_share_.store(std::clamp<size_t>(used / kLogPart, kLogQuotas * quota, kLogQuotasMax * quota),
                   std::memory_order_relaxed);
}

void Scheduler::set_quota(size_t bytes) {
  os::MutexLock lock(cover_mutex_);
  quota_.store(bytes, std::memory_order_relaxed);
  set_covered(covered_.load(std::memory_order_relaxed));
  reserve_for(bytes);
}

void Scheduler::set_covered(size_t bytes) {
  covered_.store(bytes, std::memory_order_relaxed);
  const size_t quota = quota_.load(std::memory_order_relaxed);
  free_below_.store(std::min(part_of(quota, kFreeBelow), bytes), std::memory_order_relaxed);
  reserve(bytes);
}

// Deltas may grow past their quota while one transaction holds most of it; log ring and small
// objects come on top.
void Scheduler::reserve_for(size_t delta_bytes) {
  const size_t budget = budget_.load(std::memory_order_relaxed);
  const size_t others = std::min(size_t{10} << 20, budget / 6);
  store_->residency->set_reserve(delta_bytes + delta_bytes / 8 + others, others);
}

// Holes among small objects are of the whole process, and so are the threads: with several
// databases each counts them.
void Scheduler::charge_overhead() {
  const size_t budget = budget_.load(std::memory_order_relaxed);
  const size_t wanted =
      os::small_objects_unused_bytes() + std::min(kOverheadBytes, part_of(budget, kOverheadShare)) +
      os::epoch::threads() * std::min(kThreadBytes, part_of(budget, kThreadShare));
  const size_t charged = std::min(wanted, part_of(budget, kOverheadShareMax));
  const size_t before = charged_overhead_.exchange(charged, std::memory_order_relaxed);
  store_->arena->charge(os::Quota::kOther,
                        static_cast<ptrdiff_t>(charged) - static_cast<ptrdiff_t>(before));
}

// The longer a delta lives, the less its flush costs per record. So deltas may take more than their
// share while readers find what they read in memory: values that nobody reads make way. When
// readers miss, deltas go back to their share, and for a while take no more than extents leave.
void Scheduler::adapt_quota() {
  const uint64_t now = machine_.clock->monotonic_us();
  if (now - adapted_us_ < kAdaptUs) return;
  adapted_us_ = now;
  charge_overhead();
  store_->residency->return_to_budget();
  os::Arena& arena = *store_->arena;
  const size_t budget = budget_.load(std::memory_order_relaxed);
  const size_t base = base_quota_.load(std::memory_order_relaxed);
  if (budget < kAdaptBudgetMin) return;
  const uint64_t missed = store_->residency->bytes_missed();
  const bool reading = missed - seen_missed_ > budget / kMissedPart;
  seen_missed_ = missed;
  if (reading) modest_until_us_ = now + kModestUs;
  const size_t most = quota_max_.load(std::memory_order_relaxed);
  const size_t used = arena.used(os::Quota::kDelta);
  size_t target = most;
  if (reading) {
    target = base;
  } else if (now < modest_until_us_) {
    const size_t usable = part_of(budget, 1 - kSlackShare);
    const size_t others = arena.used() - used;
    target = std::clamp(usable - std::min(usable, others), base, most);
  }
  // Slowly: the other side has to give up what it holds.
  const size_t present = quota_.load(std::memory_order_relaxed);
  const size_t step = budget / 64;
  set_quota(std::clamp(target, present - std::min(present, step), present + step));
  // Readers need not wait for that: what deltas do not hold at this moment is theirs.
  if (now < modest_until_us_) reserve_for(std::max(base, used));
  if (const size_t excess = store_->residency->excess(); excess > 0) {
    store_->residency->make_room(std::min(excess, kMakeRoomBytes));
  }
}

tree::MergePolicy Scheduler::policy() const {
  tree::MergePolicy policy;
  policy.target_bytes = target_bytes_.load(std::memory_order_relaxed);
  policy.garbage_max = garbage_max_.load(std::memory_order_relaxed);
  return policy;
}

Status Scheduler::start() {
  started_.store(true, std::memory_order_release);
  charge_overhead();
  if (!machine_.background_threads) return {};
  if (Status s = thread_.start("hw-flush", [this] { run(); }, true); !s.ok()) return s;
  if (Status s = toucher_.start("hw-touch", [this] { run_toucher(); }); !s.ok()) return s;
  if (budget_.load(std::memory_order_relaxed) < kHelpersBudgetMin) return {};
  for (uint32_t i = 0; i < kHelpers; ++i) {
    os::Thread helper;
    // Flushes are slower without them.
    if (!helper.start("hw-flush-read", [this] { run_helper(); }, true).ok()) break;
    helpers_.push_back(std::move(helper));
  }
  return {};
}

void Scheduler::stop() {
  {
    os::MutexLock lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  reads_due_.notify_all();
  progress_.notify_all();
  store_->arena->stop_waiting();
  if (thread_.joinable()) thread_.join();
  for (os::Thread& helper : helpers_) helper.join();
  helpers_.clear();
  if (toucher_.joinable()) toucher_.join();
  {
    os::MutexLock lock(held_mutex_);
    held_.clear();  // nobody reads any more
  }
  let_go_of_trees(true);
}

Status Scheduler::status() const {
  os::MutexLock lock(mutex_);
  return status_;
}

void Scheduler::fail(const Status& status) {
  {
    os::MutexLock lock(mutex_);
    if (!status_.ok()) return;
    status_ = status;
  }
  const bool read_only = !publisher_->status().ok();
  if (machine_.events != nullptr) machine_.events->post(BackgroundError{status, read_only});
}

void Scheduler::large_delta() {
  large_due_.store(true, std::memory_order_release);
  wake_.notify_one();
}

// Flushes can give the log back up to here: to the newest commit, and not what an open transaction
// has logged in chunks (R8).
Lsn Scheduler::log_end_flushable() const {
  return std::min(store_->visible->load(std::memory_order_acquire),
                  store_->slots->oldest_first_lsn());
}

size_t Scheduler::log_limit() const {
  return std::max(log_bytes_min, log_share_.load(std::memory_order_relaxed));
}

// What is kept for feeds no flush can free.
Lsn Scheduler::log_start() const {
  return std::max(store_->log->trimmed(), publisher_->needed_but_for_feeds());
}

bool Scheduler::log_pressure() const {
  if (store_->log == nullptr) return false;
  const size_t limit = log_limit();
  const Lsn start = log_start();
  return store_->log->head() > start + limit && log_end_flushable() > start + limit;
}

// Where the log is too long: deltas from below here, its older half, hold it. A cut lifts what one
// needs to the end of that log at least, so it is not among them again at once, whether or not the
// flush is durable yet. Else 0.
Lsn Scheduler::log_held_below() const {
  if (!log_pressure()) return 0;
  const Lsn start = log_start();
  const Lsn end = log_end_flushable();
  return end > start ? start + (end - start) / 2 : 0;
}

bool Scheduler::holds_log(const tree::Delta& delta) const {
  return delta.first_lsn() < log_held_below();
}

bool Scheduler::reappend_due() const { return reappender_->due(log_limit()); }

bool Scheduler::flush_due() const {
  return large_due_.load(std::memory_order_acquire) || parts_due_.load(std::memory_order_acquire) ||
         deltas_full() || log_pressure();
}

bool Scheduler::urgent() const {
  if (store_->arena->used(os::Quota::kDelta) >= free_below_.load(std::memory_order_relaxed)) {
    return true;
  }
  if (store_->log == nullptr) return false;
  const Lsn end = log_start() + log_limit() + log_limit() / 2;
  return store_->log->head() > end && log_end_flushable() > end;
}

// Waits a moment, and says so, where the limit of background I/O does not allow a step yet.
bool Scheduler::held_back(bool must_go_on) {
  os::IoLimit* const limit = machine_.background_io;
  const uint64_t wait_us = limit == nullptr || must_go_on ? 0 : limit->wait_us();
  if (wait_us == 0) return false;
  const uint64_t before = machine_.clock->monotonic_us();
  {
    os::MutexLock lock(mutex_);
    if (!stopping_) static_cast<void>(wake_.wait_for(mutex_, std::min(wait_us, kTickUs)));
  }
  limit->count_wait(machine_.clock->monotonic_us() - before);
  return true;
}

bool Scheduler::deltas_full() const {
  return static_cast<double>(store_->arena->used(os::Quota::kDelta)) >
         kFlushFrom * static_cast<double>(quota_.load(std::memory_order_relaxed));
}

Scheduler::Step Scheduler::reappend_step() {
  if (!reappend_due()) return Step::kNothing;
  bool moved = false;
  AtWork at_work(this);
  const Status status = reappender_->step(&moved);
  at_work.end();
  progress_.notify_all();
  if (!status.ok()) return Step::kFailed;
  return moved ? Step::kDone : Step::kNothing;
}

// ---- Background

void Scheduler::run() {
  uint64_t idle_us = kTickUs;
  for (;;) {
    {
      os::MutexLock lock(mutex_);
      if (stopping_) return;
      if (!due()) {
        static_cast<void>(wake_.wait_for(mutex_, idle_us));
        if (stopping_) return;
      }
    }
    store_->snapshots->refresh(store_->visible->load(std::memory_order_acquire));
    os::epoch::collect();
    observe_readers();
    adapt_quota();
    // Ahead of writers. What it cannot get they will be told.
    if (store_->arena->used(os::Quota::kDelta) > covered_.load(std::memory_order_relaxed) / 4 * 3) {
      static_cast<void>(cover().ok());
    }
    size_by_database();
    let_go_of_trees(false);
    idle_();
    const bool now = urgent();
    if (held_back(now)) {
      last_step_.store(Step::kDone, std::memory_order_relaxed);
      continue;
    }
    const os::IoLimit::Scope counts(machine_.background_io, now);
    if (!due()) {
      last_step_.store(Step::kDone, std::memory_order_relaxed);
      shrink_in_background();
      continue;
    }
    const bool flushes = flush_due();
    if (flushes) store_->cursors.let_go();
    if (large_due_.exchange(false, std::memory_order_acq_rel)) {
      // What has just become large comes before what was found to pay earlier.
      os::MutexLock lock(mutex_);
      candidates_.clear();
      must_read_.clear();
    }
    const Step moved = reappend_step();
    const Step step = flushes ? flush_step(Flusher::kBackground) : Step::kNothing;
    if (step == Step::kNothing) parts_due_.store(false, std::memory_order_release);
    last_step_.store(flushes ? step : Step::kDone, std::memory_order_relaxed);
    if (step != Step::kDone) progress_.notify_all();
    if (step == Step::kDone || moved == Step::kDone) continue;
    // Nothing to take (open transactions hold it all) or no space: try again after a moment.
    const bool failed = step == Step::kFailed || moved == Step::kFailed;
    os::MutexLock lock(mutex_);
    if (stopping_) return;
    // The log alone waits for what is being published.
    const uint64_t moment = flushes && deltas_full() ? kTickUs / 10 : kTickUs;
    static_cast<void>(wake_.wait_for(mutex_, failed ? 20 * kTickUs : moment));
  }
}

// As long as deltas may grow, some memory for them is kept ready.
void Scheduler::run_toucher() {
  for (;;) {
    {
      os::MutexLock lock(mutex_);
      if (stopping_) return;
    }
    os::Arena& arena = *store_->arena;
    const size_t ahead = std::min(kTouchedAheadBytes, arena.budget() / 32);
    if (!arena.touch_ahead(ahead)) arena.wait_for_allocation(ahead, kTouchTickUs);
  }
}

// ---- Writers

// Past the free part of the quota a writer owes flush work in proportion to what it adds and to how
// full the deltas are. It pays in whole steps, or waits for as much as it owes to be flushed by
// others. At the quota it waits for room.
Status Scheduler::pace(size_t bytes, bool insert) {
  if (Status s = publisher_->status(); !s.ok()) return s;
  if (insert &&
      store_->arena->used(os::Quota::kDelta) >= covered_.load(std::memory_order_relaxed)) {
    if (Status s = make_space(); !s.ok()) return s;
  }
  thread_local uint64_t debt = 0;
  const size_t quota = quota_.load(std::memory_order_relaxed);
  const size_t free_below = part_of(quota, kFreeBelow);
  const size_t used = store_->arena->used(os::Quota::kDelta);
  if (used < free_below) return {};
  const double fill =
      static_cast<double>(used - free_below) / static_cast<double>(quota - free_below);
  debt += static_cast<uint64_t>(static_cast<double>(bytes) * std::min(fill, 1.0) * 2);
  if (used < quota && debt < kDebtStepBytes) return {};
  // All of it belongs to open transactions: waiting would change nothing, and the background, which
  // looks again every millisecond, is the first to see when it does.
  if (last_step_.load(std::memory_order_relaxed) == Step::kNothing && working_.load() == 0) {
    stuck_.store(true, std::memory_order_relaxed);
    return {};
  }
  const uint64_t owed = std::exchange(debt, 0);
  stats_.write_waits.fetch_add(1, std::memory_order_relaxed);
  wake_.notify_one();
  const uint64_t started = machine_.clock->monotonic_us();
  Status result;
  stalls_.enter(machine_, used, quota);
  if (used >= quota) store_->cursors.let_go();
  if (writer_step() != Step::kDone && used < quota) await_turn(owed);
  for (uint32_t attempt = 0; store_->arena->used(os::Quota::kDelta) >= quota; ++attempt) {
    const Step step = writer_step();
    if (store_->cursors.let_go() > 0 || step == Step::kDone) continue;
    if (step == Step::kFailed && !machine_.background_threads) {
      result = status();
      if (!result.ok()) break;
    }
    // Nothing that a writer may do: the deltas belong to open transactions, or their flush must
    // read from disk.
    if (attempt > 20 && working_.load(std::memory_order_acquire) == 0) {
      stuck_.store(true, std::memory_order_relaxed);
      break;
    }
    if (machine_.background_threads) {
      os::MutexLock lock(mutex_);
      if (stopping_) break;
      static_cast<void>(progress_.wait_for(mutex_, 1000));
    } else if (attempt > 20) {
      break;
    }
  }
  stalls_.leave(machine_);
  stats_.write_wait_us.fetch_add(machine_.clock->monotonic_us() - started,
                                 std::memory_order_relaxed);
  return result;
}

// More steps at once than processors would all take longer, and each holds memory for its merge.
Scheduler::Step Scheduler::writer_step() {
  Step step = Step::kNothing;
  if (writer_steps_.fetch_add(1, std::memory_order_acq_rel) < writer_steps_max_) {
    const os::IoLimit::Scope counts(machine_.background_io, true);
    HAWTHORN_TEST_POINT("scheduler.before_writer_step");
    step = flush_step(machine_.background_threads ? Flusher::kWriter : Flusher::kBackground);
    HAWTHORN_TEST_POINT("scheduler.after_writer_step");
  }
  writer_steps_.fetch_sub(1, std::memory_order_acq_rel);
  os::epoch::collect();
  return step;
}

// Waits until as much was flushed as this writer and those before it in the line owe, so that all
// are slowed alike; never for long, and not where the background finds nothing that it may flush.
void Scheduler::await_turn(uint64_t owed) {
  if (!machine_.background_threads) return;
  const uint64_t until = machine_.clock->monotonic_us() + kTurnUsMax;
  os::MutexLock lock(mutex_);
  const uint64_t flushed = flushed_bytes_.load(std::memory_order_relaxed);
  line_ = std::min(std::max(line_, flushed) + owed, flushed + kLineBytesMax);
  const uint64_t turn = line_;
  const auto stuck = [this] {
    return last_step_.load(std::memory_order_relaxed) != Step::kDone && working_.load() == 0;
  };
  while (!stopping_ && !stuck() && flushed_bytes_.load(std::memory_order_relaxed) < turn) {
    if (store_->arena->used(os::Quota::kDelta) < free_below_.load(std::memory_order_relaxed))
      return;
    const uint64_t now = machine_.clock->monotonic_us();
    if (now >= until) return;
    static_cast<void>(progress_.wait_for(mutex_, until - now));
  }
}

// ---- The whole database

Status Scheduler::recluster_all(RewriteCount* count) {
  std::vector<std::pair<tree::TreeRef, std::string>> due;
  for (const tree::TreeRef& tree : trees_()) {
    os::epoch::Guard guard;
    for (const tree::Container* container : tree->directory().all()) {
      const tree::RunFile* file = container->descriptor.load(std::memory_order_acquire)->run;
      const tree::Run* run = file->run.load(std::memory_order_acquire);
      if (file->values.size() > 1 || file->garbage_bytes() > 0 ||
          (run != nullptr && run->has_versions()) || (!file->empty() && !file->record.separated)) {
        due.emplace_back(tree, container->low);
      }
    }
  }
  Status damaged;
  tree::MergePolicy recluster = policy();
  recluster.recluster = true;
  if (!count->add(0, due.size())) return {};
  for (size_t left = due.size(); const auto& [tree, low] : due) {
    bool flushed = false;
    if (machine_.background_io != nullptr) machine_.background_io->await();
    const os::IoLimit::Scope counts(machine_.background_io);
    Status s = flush_container(tree, low, true, true, recluster, &flushed);
    if (!s.ok() && !s.is(StatusCode::kCorruption)) return s;
    if (damaged.ok()) damaged = std::move(s);
    os::epoch::collect();
    if (!count->add(1, --left)) break;
  }
  return damaged;
}

Status Scheduler::drain() {
  while (due()) {
    if (Status s = publisher_->status(); !s.ok()) return s;
    if (Status s = status(); !s.ok()) return s;
    if (reappend_step() == Step::kDone) continue;
    large_due_.store(false, std::memory_order_release);
    const Step step = flush_step(Flusher::kBackground);
    os::epoch::collect();
    if (step == Step::kFailed) break;
    if (step == Step::kNothing) {
      parts_due_.store(false, std::memory_order_release);
      if (working_.load(std::memory_order_acquire) == 0) {
        // Publishing may be what is left: it trims the log, the second time as far as the first
        // made durable.
        const Lsn trimmed = store_->log == nullptr ? 0 : store_->log->trimmed();
        for (int i = 0; i < 2; ++i) {
          if (Status s = publisher_->publish_now({}); !s.ok()) return s;
        }
        const bool less = store_->log != nullptr && store_->log->trimmed() > trimmed;
        if (!less && !large_due_.load(std::memory_order_acquire)) break;
      }
      machine_.clock->sleep_us(200);
    }
  }
  while (working_.load(std::memory_order_acquire) != 0) machine_.clock->sleep_us(100);
  if (Status s = publisher_->publish(); !s.ok()) return s;
  if (Status s = publisher_->publish_now({}); !s.ok()) return s;
  let_go_of_trees(false);
  idle_();
  shrink();
  return publisher_->publish();
}

void Scheduler::keep_replayed() {
  const size_t budget = budget_.load(std::memory_order_relaxed);
  if (budget < kAdaptBudgetMin) return;
  set_quota(std::max(part_of(budget, kDeltaShareMax), store_->arena->used(os::Quota::kDelta)));
}

Status Scheduler::flush_when_full() {
  while (store_->arena->used(os::Quota::kDelta) > quota_.load(std::memory_order_relaxed)) {
    const Step step = flush_step(Flusher::kBackground);
    os::epoch::collect();
    if (step == Step::kFailed) return status();
    if (step == Step::kNothing) break;
  }
  return {};
}

}  // namespace hawthorn::db
