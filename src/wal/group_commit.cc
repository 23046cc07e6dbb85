// Group commit: whoever waits for durability syncs for all who wait. The first one to come leads,
// the others sleep until it is done: that spares the change of threads which a thread of its own
// for syncing would cost each commit. While a sync runs, the next group fills.

#include <algorithm>
#include <utility>

#include "wal/log_state.h"

namespace hawthorn::wal {

using os::kBlockBytes;
using os::MutexLock;

namespace {

// A leader waits no longer for others than a sync takes, and never longer than this.
constexpr uint64_t kGatherUsMax = 100;
constexpr uint32_t kSkipMax = 31;
constexpr uint32_t kNoGroup = ~uint32_t{0};

}  // namespace

// Drains everything and syncs it. One caller at a time (`syncing`).
Status Log::State::sync_once() {
  std::vector<std::shared_ptr<Segment>> unsynced;
  Lsn goal;
  {
    MutexLock lock(drain_mutex);
    if (failed.load()) return failure();
    // Whoever waits by now has appended already: this sync is for them, too.
    group.served = group.waiting.load();
    if (Status s = drain(true); !s.ok()) return s;
    unsynced.swap(dirty);
    prewrite_due.store(wants_prewriting(), std::memory_order_relaxed);
    goal = drained.load(std::memory_order_relaxed);
  }
  for (const std::shared_ptr<Segment>& segment : unsynced) {
    // Not tried again after a failure: nobody knows what the kernel and the device dropped.
    if (Status s = segment->file->sync_data(); !s.ok()) return fail(std::move(s));
  }
  durable.store(goal, std::memory_order_release);
  if (!unsynced.empty()) syncs.fetch_add(1, std::memory_order_relaxed);
  return Status();
}

// When a sync ends, the threads that it served come back with their next commits, while those that
// came too late for it are waiting already. Who leads the next sync waits a moment for the former:
// otherwise two halves of the threads would take turns, each sync serving one of them. Where they
// do not come back that soon (they have other things to do), the leader gives this up for ever
// longer.
void Log::State::gather_group() {
  if (group.skip_next != 0) {
    --group.skip_next;
    return;
  }
  const uint32_t served = group.served;
  group.wanted.store(served);
  const uint64_t deadline_us =
      directory.machine().clock->monotonic_us() + std::min(group.sync_us, kGatherUsMax);
  bool complete = false;
  bool in_time = true;
  while (!complete && in_time) {
    const uint32_t ticket = group.complete.ticket();
    complete = group.arrived.load() >= served;
    if (complete) break;
    const uint64_t now_us = directory.machine().clock->monotonic_us();
    in_time = now_us < deadline_us;
    if (in_time) group.complete.wait(ticket, deadline_us - now_us);
  }
  group.wanted.store(kNoGroup);
  // Nearly all is as good as all.
  const bool worth_it = complete || group.arrived.load() * 4 >= served * 3;
  group.skip_count = worth_it ? 0 : std::min(2 * group.skip_count + 1, kSkipMax);
  group.skip_next = group.skip_count;
}

// For the one that has set `syncing`.
Status Log::State::lead_sync() {
  gather_group();
  const uint64_t begin_us = directory.machine().clock->monotonic_us();
  Status status = sync_once();
  group.sync_us = directory.machine().clock->monotonic_us() - begin_us;
  sync_us.fetch_add(group.sync_us, std::memory_order_relaxed);
  group.arrived.store(0);
  syncing.store(false);
  durable_moved.signal();
  return status;
}

Status Log::State::wait_durable(Lsn goal) {
  if (durable.load(std::memory_order_acquire) >= goal) return Status();
  group.waiting.fetch_add(1);
  if (group.arrived.fetch_add(1) + 1 == group.wanted.load()) group.complete.signal();
  Status status = wait_in_group(goal);
  group.waiting.fetch_sub(1);
  return status;
}

Status Log::State::wait_in_group(Lsn goal) {
  while (true) {
    uint32_t ticket = durable_moved.ticket();
    if (durable.load(std::memory_order_acquire) >= goal) return Status();
    if (failed.load()) return failure();
    if (syncing.exchange(true)) {
      durable_moved.wait(ticket);
      continue;
    }
    if (Status s = lead_sync(); !s.ok()) return s;
    if (prewrite_due.load(std::memory_order_relaxed)) {
      if (background) {
        work.signal();
      } else {
        // Its failure ends the log, but takes back nothing of what has just become durable.
        static_cast<void>(prewrite());
      }
    }
    ticket = durable_moved.ticket();
    if (durable.load(std::memory_order_acquire) >= goal) return Status();
    if (block_of(hold.load()) >= goal) continue;
    if (!background) {
      return Status(StatusCode::kBusy, "the log's drain is held back at " + std::to_string(hold));
    }
    durable_moved.wait(ticket);
  }
}

Status Log::wait_durable(Lsn lsn) {
  const Lsn head = state_->head.load(std::memory_order_acquire);
  return state_->wait_durable(std::min(lsn + 1, head));
}

Status Log::wait_commit(Lsn lsn) {
  os::Clock& clock = *state_->directory.machine().clock;
  const uint64_t begin_us = clock.monotonic_us();
  Status status = wait_durable(lsn);
  state_->commit_wait_us.fetch_add(clock.monotonic_us() - begin_us, std::memory_order_relaxed);
  state_->commit_waits.fetch_add(1, std::memory_order_relaxed);
  return status;
}

void Log::request_durable(Lsn lsn) {
  State& state = *state_;
  Lsn before = state.async_goal.load(std::memory_order_relaxed);
  while (before <= lsn && !state.async_goal.compare_exchange_weak(before, lsn + 1)) {
  }
  if (state.background) {
    // One signal for all requests until the drainer has served them: a commit makes no system call
    // here.
    if (!state.async_armed.load(std::memory_order_relaxed) && !state.async_armed.exchange(true)) {
      state.work.signal();
    }
    return;
  }
  const uint64_t now = state.directory.machine().clock->monotonic_us();
  if (!state.async_armed.exchange(true)) {
    state.async_due_us = now + state.options.async_sync_ms * 1000;
  } else if (now >= state.async_due_us) {
    state.async_armed.store(false);
    static_cast<void>(state.wait_durable(std::min(lsn + 1, head())));  // the log keeps the error
  }
}

// The drainer's part of request_durable; returns when to call it again, as run_due_work does. Never
// waits for others: a drain that is held back, or a sync under way that may have begun before the
// request, only puts it off.
uint64_t Log::State::serve_async() {
  if (!async_armed.load()) return 0;
  const uint64_t period_us = std::max<uint64_t>(options.async_sync_ms * 1000, 1);
  const uint64_t now = directory.machine().clock->monotonic_us();
  const uint64_t due = async_due_us.load();
  if (due == 0 || now < due) {
    if (due == 0) async_due_us.store(now + period_us);
    return due == 0 ? period_us : due - now;
  }
  async_armed.store(false);  // before the goal is read: a request that comes later arms it again
  async_due_us.store(0);
  const Lsn goal = std::min(async_goal.load(), head.load());
  if (durable.load() >= goal) return 0;
  // A full disk is asked again after the next period.
  if (!syncing.exchange(true)) static_cast<void>(lead_sync());
  if (failed.load() || durable.load() >= goal) return 0;
  async_armed.store(true);
  async_due_us.store(now + period_us);
  return period_us;
}

}  // namespace hawthorn::wal
