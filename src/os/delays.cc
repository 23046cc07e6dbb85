#include "os/delays.h"

#if defined(HAWTHORN_TEST_POINTS)

#include <sched.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <ctime>

#include "base/prng.h"
#include "os/schedule.h"

namespace hawthorn::os {
namespace {

// One in so many points of a seam; a long sleep is one of the sleeps.
struct Odds {
  uint32_t yield;
  uint32_t sleep;
};
constexpr Odds kLockOdds{.yield = 128, .sleep = 2048};
constexpr Odds kOperationOdds{.yield = 8, .sleep = 64};
constexpr uint32_t kLongSleepOneIn = 16;
constexpr uint64_t kShortSleepUs = 100;
constexpr uint64_t kLongSleepUs = 3000;

// 0: no delays. FNV-1a, so that a run on another machine has the same seed.
uint64_t seed_of(std::string_view text) {
  if (text.empty()) return 0;
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash | 1;
}

uint64_t seed_of_environment() {
  const char* const text = std::getenv("HAWTHORN_DELAYS");
  return seed_of(text == nullptr ? std::string_view() : text);
}

// Zero until the variables of this file are initialised: what runs earlier is not delayed.
std::atomic<uint64_t> delay_seed{seed_of_environment()};
std::atomic<uint64_t> settings{1};      // how often the seed was set
std::atomic<uint64_t> threads_seen{0};  // since then
std::atomic<uint64_t> yields_taken{0};
std::atomic<uint64_t> sleeps_taken{0};

struct ThreadDelays {
  uint64_t setting;  // that the state is of
  uint64_t state;    // of splitmix64
};
thread_local ThreadDelays thread_delays{0, 0};

void sleep_ns(uint64_t ns) {
  const timespec pause{0, static_cast<long>(ns)};
  nanosleep(&pause, nullptr);
}

void maybe_delay(uint64_t seed, Seam seam) {
  ThreadDelays& own = thread_delays;
  if (const uint64_t now = settings.load(std::memory_order_relaxed); own.setting != now) {
    own.setting = now;
    own.state = mix64(seed ^ mix64(threads_seen.fetch_add(1, std::memory_order_relaxed)));
  }
  const Odds& odds = seam == Seam::kLock ? kLockOdds : kOperationOdds;
  const uint64_t drawn = splitmix64(own.state);
  const uint64_t which = drawn >> 32;  // the lower half says how long
  if (which % odds.sleep == 0) {
    const uint64_t most = (drawn & 0xff) % kLongSleepOneIn == 0 ? kLongSleepUs : kShortSleepUs;
    sleeps_taken.fetch_add(1, std::memory_order_relaxed);
    sleep_ns(((drawn >> 8) & 0xffffff) % (most * 1000));
  } else if (which % odds.yield == 0) {
    yields_taken.fetch_add(1, std::memory_order_relaxed);
    sched_yield();
  }
}

}  // namespace

void delay_point(Seam seam) {
  const uint64_t seed = delay_seed.load(std::memory_order_relaxed);
  if (seed == 0 || this_schedule() != nullptr) return;
  const int saved_errno = errno;
  maybe_delay(seed, seam);
  errno = saved_errno;
}

DelaysTaken delays_taken() {
  return {.yields = yields_taken.load(std::memory_order_relaxed),
          .sleeps = sleeps_taken.load(std::memory_order_relaxed)};
}

void set_delays(std::string_view seed) {
  delay_seed.store(0, std::memory_order_relaxed);
  threads_seen.store(0, std::memory_order_relaxed);
  settings.fetch_add(1, std::memory_order_relaxed);
  delay_seed.store(seed_of(seed), std::memory_order_relaxed);
}

}  // namespace hawthorn::os

#endif
