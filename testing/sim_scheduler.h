#pragma once
// Decides from a seed which thread of a simulated machine goes on, and what time it is: real
// threads, of which one runs at a time. The same seed and the same program give the same run.
//
// Not here: the disk (sim_disk.h, sim_files.h). Used by the simulator of tests/sim.
// Threads: made, and destroyed as the last one that is left, by the thread that runs the
// simulation; the rest by threads that belong to it.
//
// 1. Between two calls of os::Schedule a thread is alone: whatever it does without a lock is
//    atomic for the others. What happens inside of such a stretch is not interleaved.
// 2. Time passes where threads sleep or wait with a timeout, and by a microsecond here and there.
//    When all wait, it jumps to the first who need not wait any longer.
// 3. When all wait for ever, or nothing has come of very many steps, `fail` is called with the
//    threads' names and what they wait for. It must not return.

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/prng.h"
#include "os/machine.h"
#include "os/schedule.h"
#include "testing/sim_trace.h"

namespace hawthorn::testing {

struct SimSchedulerOptions {
  uint64_t seed = 1;
  // Points are passed before another thread may go on: about so many, drawn from the seed if 0.
  uint64_t points_between = 0;
  uint64_t switches_max = 2'000'000;
  uint32_t processors = 2;  // that the engine sees
};

class SimScheduler : public os::Schedule {
 public:
  using Fail = std::function<void(const std::string&)>;

  SimScheduler(const SimSchedulerOptions& options, SimTrace* trace, Fail fail);
  ~SimScheduler() override;
  SimScheduler(const SimScheduler&) = delete;
  SimScheduler& operator=(const SimScheduler&) = delete;

  // Runs it in the thread that reaches this step (steps() counts them), which is any.
  void at_step(uint64_t step, std::function<void()> action);
  uint64_t steps() const { return steps_; }
  uint64_t switches() const { return switches_; }
  // What each thread does, for messages.
  std::string describe() const;

  void wait(std::atomic<uint32_t>* word, uint32_t expected, uint64_t timeout_us) override;
  void wake(std::atomic<uint32_t>* word, int count) override;
  void pause(uint64_t us) override;
  void point(const char* name) override;
  uint64_t now_us() override;
  uint32_t processors() override { return options_.processors; }
  void* create(const std::string& name) override;
  void begin(void* thread) override;
  void end(void* thread) override;
  void join(void* thread) override;

 private:
  enum class State : uint8_t { kReady, kWaiting, kSleeping, kJoining, kEnded };
  struct SimThread;

  void draw_next_switch();
  void run_action();
  void expire();
  // Gives the turn to another thread or to the same one; returns when it is the caller's again.
  void yield();
  // Whose turn it is now; jumps in time where all wait.
  SimThread* choose();
  void give_turn(SimThread* thread);
  void wait_for_turn(SimThread& thread);
  [[noreturn]] void give_up(const std::string& why);

  const SimSchedulerOptions options_;
  SimTrace* const trace_;
  const Fail fail_;
  Prng prng_;
  std::vector<std::unique_ptr<SimThread>> threads_;  // by their number
  std::vector<SimThread*> ready_;                    // scratch
  SimThread* current_ = nullptr;
  uint64_t now_us_ = 1;
  uint64_t steps_ = 0;
  uint64_t switches_ = 0;
  uint64_t points_between_ = 1;
  uint64_t next_event_ = 0;  // the step at which a point does more than count
  uint64_t next_switch_ = 0;
  uint64_t action_step_ = ~uint64_t{0};
  std::function<void()> action_;
};

// The clock of a schedule.
class ScheduledClock : public os::Clock {
 public:
  explicit ScheduledClock(SimScheduler* scheduler) : scheduler_(scheduler) {}
  uint64_t monotonic_us() override { return scheduler_->now_us(); }
  uint64_t wall_us() override { return kWallStartUs + scheduler_->now_us(); }
  void sleep_us(uint64_t us) override { scheduler_->pause(us == 0 ? 1 : us); }

 private:
  static constexpr uint64_t kWallStartUs = uint64_t{1700000000} * 1000000;
  SimScheduler* const scheduler_;
};

}  // namespace hawthorn::testing
