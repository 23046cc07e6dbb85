#include "os/sync.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <ctime>
#include <new>
#include <system_error>
#include <thread>
#include <utility>

#include "base/out_of_memory.h"
#include "os/delays.h"
#include "os/memory_reserve.h"
#include "os/schedule.h"
#include "os/test_point.h"
#include "os/thread_end.h"

namespace hawthorn::os {

namespace {

constexpr uint64_t kUsOfSecond = 1000000;

// Threads here outnumber cores: a holder that is not done within about a microsecond has probably
// lost its core, and spinning on would keep it from getting one back.
constexpr uint32_t kSpinsMax = 40;

uint32_t* futex_word(std::atomic<uint32_t>* word) {
  static_assert(sizeof(std::atomic<uint32_t>) == sizeof(uint32_t));
  return reinterpret_cast<uint32_t*>(word);
}

std::atomic<Schedule*> installed{nullptr};
thread_local bool belongs = false;

uint64_t monotonic_us() {
  if (Schedule* const by = this_schedule(); by != nullptr) return by->now_us();
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * kUsOfSecond +
         static_cast<uint64_t>(now.tv_nsec) / 1000;
}

// A thread's part in its schedule, and its end: the first thing that the thread has noted, and so
// the last one that is done.
constinit thread_local Schedule* scheduled_by = nullptr;
constinit thread_local void* scheduled_as = nullptr;
void leave_schedule() {
  belongs = false;
  scheduled_by->end(scheduled_as);
}
constinit thread_local ThreadEnd leaving{leave_schedule};

struct Interrupt {
  bool (*asked)(void* context) = nullptr;
  void* context = nullptr;
  uint64_t asked_us = 0;
};
thread_local Interrupt interrupt;

}  // namespace

void install_schedule(Schedule* schedule) {
  installed.store(schedule, std::memory_order_relaxed);
  belongs = schedule != nullptr;
}

Schedule* this_schedule() {
  Schedule* const by = installed.load(std::memory_order_relaxed);
  return by == nullptr || !belongs ? nullptr : by;
}

#if defined(HAWTHORN_TEST_POINTS)
void lock_point() {
  delay_point(Seam::kLock);
  if (Schedule* const by = this_schedule(); by != nullptr) by->point("lock");
}
#endif

void futex_wait(std::atomic<uint32_t>* word, uint32_t expected, uint64_t timeout_us) {
  if (Schedule* const by = this_schedule(); by != nullptr) {
    return by->wait(word, expected, timeout_us);
  }
  delay_point(Seam::kOperation);
  timespec timeout;
  timeout.tv_sec = static_cast<time_t>(timeout_us / kUsOfSecond);
  timeout.tv_nsec = static_cast<long>(timeout_us % kUsOfSecond) * 1000;
  const int saved_errno = errno;
  syscall(SYS_futex, futex_word(word), FUTEX_WAIT_PRIVATE, expected,
          timeout_us == 0 ? nullptr : &timeout, nullptr, 0);
  errno = saved_errno;
}

void futex_wake(std::atomic<uint32_t>* word, int count) {
  if (Schedule* const by = this_schedule(); by != nullptr) return by->wake(word, count);
  delay_point(Seam::kOperation);
  const int saved_errno = errno;
  syscall(SYS_futex, futex_word(word), FUTEX_WAKE_PRIVATE, count, nullptr, nullptr, 0);
  errno = saved_errno;
}

void cpu_relax() {
  if (Schedule* const by = this_schedule(); by != nullptr) return by->pause(0);
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

void SpinWait::once() {
  if (tries_ < kSpinsMax) {
    ++tries_;
    cpu_relax();
    return;
  }
  constexpr long kSleepNsMax = 100'000;
  const timespec pause{0, std::min(long{1000} << std::min(tries_ - kSpinsMax, 7U), kSleepNsMax)};
  ++tries_;
  if (Schedule* const by = this_schedule(); by != nullptr) {
    return by->pause(static_cast<uint64_t>(pause.tv_nsec) / 1000);
  }
  nanosleep(&pause, nullptr);
}

void set_interrupt(bool (*asked)(void* context), void* context) { interrupt = {asked, context, 0}; }

bool interrupted() {
  if (interrupt.asked == nullptr) return false;
  const uint64_t now = monotonic_us();
  if (now - interrupt.asked_us < kInterruptUs) return false;
  interrupt.asked_us = now;
  return interrupt.asked(interrupt.context);
}

uint64_t interrupt_turn_us() {
  return interrupt.asked != nullptr ? kInterruptUs : 3600 * kUsOfSecond;
}

void Mutex::lock_slow() {
  const uint32_t spins = this_schedule() == nullptr ? kSpinsMax : 0;
  for (uint32_t spin = 0; spin < spins; ++spin) {
    uint32_t seen = word_.load(std::memory_order_relaxed);
    if (seen == 0 && word_.compare_exchange_weak(seen, 1, std::memory_order_acquire)) return;
    if (seen == 2) break;  // others are parked already: the wait is a long one
    cpu_relax();
  }
  // Whoever parked leaves 2 behind: it cannot know whether it was the last one to wait.
  while (word_.exchange(2, std::memory_order_acquire) != 0) futex_wait(&word_, 2, 0);
}

void CondVar::wait(Mutex& mutex) {
  const uint32_t sequence = sequence_.load(std::memory_order_relaxed);
  mutex.unlock();
  futex_wait(&sequence_, sequence, 0);
  mutex.lock();
}

bool CondVar::wait_for(Mutex& mutex, uint64_t timeout_us) {
  const uint32_t sequence = sequence_.load(std::memory_order_relaxed);
  const uint64_t deadline = monotonic_us() + timeout_us;
  mutex.unlock();
  bool woken = sequence_.load(std::memory_order_relaxed) != sequence;
  for (uint64_t now = deadline - timeout_us; !woken && now < deadline; now = monotonic_us()) {
    futex_wait(&sequence_, sequence, deadline - now);
    woken = sequence_.load(std::memory_order_relaxed) != sequence;
  }
  mutex.lock();
  return woken;
}

void CondVar::notify_one() {
  delay_point(Seam::kOperation);
  sequence_.fetch_add(1, std::memory_order_relaxed);
  futex_wake(&sequence_, 1);
}

void CondVar::notify_all() {
  delay_point(Seam::kOperation);
  sequence_.fetch_add(1, std::memory_order_relaxed);
  futex_wake(&sequence_, INT_MAX);
}

bool Signal::wait_for(uint64_t timeout_us) {
  uint32_t seen = word_.load(std::memory_order_acquire);
  if (seen == kSet || timeout_us == 0) return seen == kSet;
  const uint64_t start = monotonic_us();
  const bool forever = timeout_us > kForever - start;
  const uint64_t deadline = forever ? kForever : start + timeout_us;
  word_.compare_exchange_strong(seen, kAwaited, std::memory_order_acquire);
  const bool asks = !forever && timeout_us >= kInterruptUs && interrupt.asked != nullptr;
  for (uint64_t now = start; word_.load(std::memory_order_acquire) != kSet; now = monotonic_us()) {
    if (now >= deadline || (asks && interrupted())) return false;
    const uint64_t left = forever ? 0 : deadline - now;
    futex_wait(&word_, kAwaited, asks ? std::min(left, kInterruptUs) : left);
  }
  return true;
}

struct Thread::State {
  std::thread thread;
  Schedule* schedule = nullptr;
  void* scheduled = nullptr;  // what it is to it
};

Status Thread::start(std::string name, std::function<void()> body, bool background) {
  HAWTHORN_ASSERT(!joinable());
  try {
    // Before a schedule knows of the thread: it would wait for it here.
    HAWTHORN_TEST_POINT("thread.start");
    auto state = std::make_unique<State>();
    Schedule* const by = this_schedule();
    state->schedule = by;
    void* const scheduled = by == nullptr ? nullptr : by->create(name);
    state->scheduled = scheduled;
    const auto run = [name, body = std::move(body), background, by, scheduled] {
      if (by != nullptr) {
        scheduled_by = by;
        scheduled_as = scheduled;
        at_thread_end(leaving);
        belongs = true;
        by->begin(scheduled);
      }
      constexpr size_t kNameMax = 15;  // of the kernel
      pthread_setname_np(pthread_self(), name.substr(0, kNameMax).c_str());
      // On Linux nice values belong to threads; a refusal only costs smoothness.
      if (background && by == nullptr)
        setpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid)), 5);
      delay_point(Seam::kOperation);
      for (bool ended = false; !ended;) {
        try {
          body();
          ended = true;
        } catch (const std::bad_alloc&) {
          await_memory();
        }
      }
    };
    state->thread = std::thread(run);
    state_ = std::move(state);
  } catch (const std::system_error& refused) {
    return Status(StatusCode::kIoError,
                  "the thread " + name + " could not be started: " + refused.code().message());
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  }
  delay_point(Seam::kOperation);
  return {};
}

Thread::Thread() noexcept = default;

Thread::~Thread() { join(); }

Thread::Thread(Thread&&) noexcept = default;

Thread& Thread::operator=(Thread&& other) noexcept {
  if (this != &other) {
    join();
    state_ = std::move(other.state_);
  }
  return *this;
}

bool Thread::joinable() const { return state_ != nullptr && state_->thread.joinable(); }

void Thread::join() {
  if (joinable()) {
    if (state_->schedule != nullptr) state_->schedule->join(state_->scheduled);
    state_->thread.join();
  }
  state_.reset();
}

}  // namespace hawthorn::os
