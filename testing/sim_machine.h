#pragma once
// A machine for tests: a simulated disk, I/O that is done when submit returns, a clock that moves
// by itself and by sleeping, random numbers from a seed.
//
// Not here: crashes and faults (sim_disk.h). Threads: everything may be used from any thread; with
// background_threads left false a test is deterministic.
// Lifetime: longer than the engine that runs on it; the disk longer than the machine.

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>

#include "base/prng.h"
#include "os/machine.h"
#include "os/sync.h"
#include "testing/sim_disk.h"

namespace hawthorn::testing {

class SimClock : public os::Clock {
 public:
  uint64_t monotonic_us() override { return now_us_.fetch_add(kStepUs) + kStepUs; }
  uint64_t wall_us() override { return kWallStartUs + monotonic_us(); }
  // Returns at once. Other threads get a turn, so that loops which wait by sleeping make progress.
  void sleep_us(uint64_t us) override {
    now_us_.fetch_add(us);
    std::this_thread::yield();
  }
  void advance_us(uint64_t us) { now_us_.fetch_add(us); }

 private:
  static constexpr uint64_t kStepUs = 3;
  static constexpr uint64_t kWallStartUs = uint64_t{1700000000} * 1000000;
  std::atomic<uint64_t> now_us_{0};
};

class SimRandom : public os::Random {
 public:
  explicit SimRandom(uint64_t seed) : prng_(seed) {}
  uint64_t next() override {
    os::MutexLock lock(mutex_);
    return prng_.next();
  }

 private:
  os::Mutex mutex_;
  Prng prng_ GUARDED_BY(mutex_);
};

class SimMachine {
 public:
  SimMachine(SimDisk& disk, uint64_t seed, bool background_threads = false)
      : random_(seed), io_(os::make_inline_io()), queues_(os::make_inline_io_queues()) {
    machine_ = {.files = &disk,
                .io = io_.get(),
                .queues = queues_.get(),
                .clock = &clock_,
                .random = &random_,
                .background_threads = background_threads};
  }
  SimMachine(const SimMachine&) = delete;
  SimMachine& operator=(const SimMachine&) = delete;

  const os::Machine& machine() const { return machine_; }
  SimClock& clock() { return clock_; }

 private:
  SimClock clock_;
  SimRandom random_;
  std::unique_ptr<os::Io> io_;
  std::unique_ptr<os::IoQueues> queues_;
  os::Machine machine_;
};

}  // namespace hawthorn::testing
