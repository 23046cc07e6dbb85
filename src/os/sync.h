#pragma once
// Locks, condition variables, threads: thin, annotated, and the only ones that the engine uses, so
// that a simulated machine can take their place.
//
// Mutex is 4 bytes: it spins for a moment, then parks in the kernel (futex). Never recursive.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/assert.h"
#include "hawthorn/status.h"

namespace hawthorn::os {

// Waits until *word != expected or a wake comes (spurious returns allowed). timeout_us 0: no
// timeout.
void futex_wait(std::atomic<uint32_t>* word, uint32_t expected, uint64_t timeout_us);
void futex_wake(std::atomic<uint32_t>* word, int count);
// A pause of a spinning thread.
void cpu_relax();

// What the calling thread's waits for other users of a database ask whether they are to end early,
// as if their time were over; nullptr: nothing. It is asked without a lock of the engine, and may
// run user code.
constexpr uint64_t kInterruptUs = 20'000;
void set_interrupt(bool (*asked)(void* context), void* context);
// Asks, unless it was asked within the last kInterruptUs. For loops that wait, between their turns.
bool interrupted();
// How long such a turn may be: kInterruptUs where there is something to ask, else an hour.
uint64_t interrupt_turn_us();

#if defined(HAWTHORN_TEST_POINTS)
// Where the scheduler of a simulated machine (schedule.h) may let another thread go on.
void lock_point();
#else
inline void lock_point() {}
#endif

// For loops that try again until another thread has finished its step: spins first, then sleeps
// for longer and longer (up to 100 us), since that thread may need this one's core.
class SpinWait {
 public:
  void once();

 private:
  uint32_t tries_ = 0;
};

class CAPABILITY("mutex") Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;
  void lock() ACQUIRE() {
    lock_point();
    uint32_t expected = 0;
    if (!word_.compare_exchange_strong(expected, 1, std::memory_order_acquire)) lock_slow();
  }
  bool try_lock() TRY_ACQUIRE(true) {
    lock_point();
    uint32_t expected = 0;
    return word_.compare_exchange_strong(expected, 1, std::memory_order_acquire);
  }
  void unlock() RELEASE() {
    if (word_.exchange(0, std::memory_order_release) == 2) futex_wake(&word_, 1);
  }

 private:
  void lock_slow();
  std::atomic<uint32_t> word_{0};  // 0 free, 1 held, 2 held with waiters
};

class SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }
  ~MutexLock() RELEASE() { mutex_.unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

class CondVar {
 public:
  // The caller holds the mutex; it is released while waiting. Spurious wake-ups happen: wait in a
  // loop.
  void wait(Mutex& mutex) REQUIRES(mutex);
  // Returns false after timeout_us without a wake.
  bool wait_for(Mutex& mutex, uint64_t timeout_us) REQUIRES(mutex);
  void notify_one();
  void notify_all();

 private:
  std::atomic<uint32_t> sequence_{0};
};

// Set once, by one thread; one other waits for it. Who waits may destroy it as soon as it knows
// that it is set, though `set` has not returned: that does nothing with it any more.
class Signal {
 public:
  static constexpr uint64_t kForever = ~uint64_t{0};

  Signal() = default;
  Signal(const Signal&) = delete;
  Signal& operator=(const Signal&) = delete;

  void set() {
    // The address alone may still be woken, which is harmless whoever has it by then.
    if (word_.exchange(kSet, std::memory_order_release) == kAwaited) futex_wake(&word_, 1);
  }
  // False: it was not set for timeout_us, or the wait was interrupted. 0 only asks. A wait of
  // kForever, or one that is shorter than kInterruptUs, is not interrupted.
  bool wait_for(uint64_t timeout_us);
  void wait() { static_cast<void>(wait_for(kForever)); }

 private:
  static constexpr uint32_t kUnset = 0;
  static constexpr uint32_t kSet = 1;
  static constexpr uint32_t kAwaited = 2;
  std::atomic<uint32_t> word_{kUnset};
};

// A named thread; joins in its destructor.
class Thread {
 public:
  Thread() noexcept;
  // Of one that is not joinable. `background` lowers its priority (nice 5) where the system allows
  // it. Errors: kIoError with the name and the system's reason, such as a limit on threads, and
  // kOutOfMemory; then nothing has run. A body that memory was refused to is run anew when there is
  // some, so it must find in what it shares what it has to do.
  Status start(std::string name, std::function<void()> body, bool background = false);
  ~Thread();
  Thread(Thread&&) noexcept;
  Thread& operator=(Thread&&) noexcept;
  bool joinable() const;
  void join();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hawthorn::os
