#pragma once
// The seam behind which a simulated machine decides which thread goes on: all that a thread of the
// engine can wait for passes here (locks, conditions, signals, spinning, joining), and so do the
// places where a test may want another thread to come in between.
//
// Not here: who decides, and how (testing/sim_scheduler.h). Production installs none: sync.cc then
// pays one relaxed load on its slow paths, and nothing where a lock is free. Builds with test
// points (test_point.h) also ask at each of those and before each lock.
//
// Threads: installed while there is one thread; from then on that thread, and those that it and its
// like start by os::Thread, belong to the schedule. Others are left to the system.
//
// 1. Of the threads that belong to a schedule one runs at a time: what it calls here returns when
//    it is its turn again.

#include <atomic>
#include <cstdint>
#include <string>

namespace hawthorn::os {

class Schedule {
 public:
  virtual ~Schedule() = default;
  // As futex_wait and futex_wake; timeout_us 0: no timeout.
  virtual void wait(std::atomic<uint32_t>* word, uint32_t expected, uint64_t timeout_us) = 0;
  virtual void wake(std::atomic<uint32_t>* word, int count) = 0;
  // The thread can go on only when another has done something, or `us` later; 0: it spins.
  virtual void pause(uint64_t us) = 0;
  // Another thread may go on here. `name`: static.
  virtual void point(const char* name) = 0;
  virtual uint64_t now_us() = 0;
  virtual uint32_t processors() = 0;
  // A thread's life, by what `create` returned: `create` and `join` are the creator's calls,
  // `begin` is the first and `end` the last thing that the thread itself does, its thread-local
  // variables destroyed.
  virtual void* create(const std::string& name) = 0;
  virtual void begin(void* thread) = 0;
  virtual void end(void* thread) = 0;
  virtual void join(void* thread) = 0;
};

// Null: none any more. The calling thread must then be the last one that belongs to it.
void install_schedule(Schedule* schedule);
// To which the calling thread belongs; null: to none.
Schedule* this_schedule();

}  // namespace hawthorn::os
