#pragma once
// A limit of what background work reads and writes per second: a bucket of tokens that fills at the
// rate and may be overdrawn.
//
//   limit.await(); { IoLimit::Scope scope(&limit); ... reads and writes of one step ... }
//
// Not here: who is limited, and when that yields (db/scheduler.h). Used by tree and db.
// Threads: every function from any thread; a Scope is its thread's.
//
// 1. Nobody waits in the middle of a step, where it may hold what others need: a step overdraws the
//    bucket, and the next one begins when that is paid off. So over any time the bytes are at most
//    the rate times that time, a tenth of a second's worth that was saved up, and one step.
// 2. What was moved although the bucket was empty, since somebody waited for it, is counted, too,
//    but overdraws the bucket by no more than a second's worth: the rest is forgiven.

#include <atomic>
#include <cstdint>

#include "os/machine.h"
#include "os/sync.h"

namespace hawthorn::os {

class IoLimit {
 public:
  explicit IoLimit(Clock* clock) : clock_(clock) {}

  // 0: no limit. What is owed at the old rate is forgotten.
  void set_rate(uint64_t bytes_per_second) EXCLUDES(mutex_);
  uint64_t rate() const { return rate_.load(std::memory_order_relaxed); }

  // How long the next step is to wait from now, in microseconds.
  uint64_t wait_us() EXCLUDES(mutex_);
  // Sleeps that long, or until the rate is changed to one that allows the step.
  void await() EXCLUDES(mutex_);
  void count_wait(uint64_t us) { waited_us_.fetch_add(us, std::memory_order_relaxed); }

  // While it lives, what this thread reads and writes counts. urgent: it did not wait its turn (2).
  class Scope {
   public:
    explicit Scope(IoLimit* limit, bool urgent = false);  // null: nothing counts
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    friend class IoLimit;
    IoLimit* const limit_;
    const bool urgent_;
    Scope* const outer_;
  };
  // Where bytes are moved: counts them if this thread is inside a scope.
  static void note(uint64_t bytes);

  uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
  uint64_t urgent_bytes() const { return urgent_bytes_.load(std::memory_order_relaxed); }
  uint64_t waited_us() const { return waited_us_.load(std::memory_order_relaxed); }

 private:
  void count(uint64_t bytes, bool urgent) EXCLUDES(mutex_);
  void refill() REQUIRES(mutex_);

  Clock* const clock_;
  std::atomic<uint64_t> rate_{0};
  std::atomic<uint64_t> bytes_{0};
  std::atomic<uint64_t> urgent_bytes_{0};
  std::atomic<uint64_t> waited_us_{0};
  Mutex mutex_;
  double tokens_ GUARDED_BY(mutex_) = 0;  // bytes; below 0: overdrawn
  uint64_t filled_us_ GUARDED_BY(mutex_) = 0;
};

}  // namespace hawthorn::os
