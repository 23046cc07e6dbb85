#include "testing/sim_scheduler.h"

#include <gtest/gtest.h>

#include <set>

#include "os/sync.h"

namespace hawthorn::testing {
namespace {

os::Thread start(std::string name, std::function<void()> body) {
  os::Thread thread;
  EXPECT_TRUE(thread.start(std::move(name), std::move(body)).ok());
  return thread;
}

void never(const std::string& why) {
  ADD_FAILURE() << why;
  abort();
}

// What three threads did in which order, and the hash of it.
std::pair<std::string, uint64_t> interleaving(uint64_t seed) {
  SimTrace trace;
  std::string order;
  SimScheduler scheduler({.seed = seed, .points_between = 2}, &trace, never);
  {
    os::Mutex mutex;
    std::vector<os::Thread> threads;
    for (const char name : {'a', 'b', 'c'}) {
      threads.push_back(start(std::string(1, name), [&, name] {
        for (int i = 0; i < 5; ++i) {
          scheduler.point("test");
          os::MutexLock lock(mutex);
          order.push_back(name);
          scheduler.point("test");
        }
      }));
    }
  }
  return {order, trace.hash()};
}

TEST(SimScheduler, the_seed_decides_about_the_order) {
  std::set<std::string> orders;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const auto once = interleaving(seed);
    ASSERT_EQ(once.first.size(), 15);
    ASSERT_EQ(once, interleaving(seed)) << "seed " << seed;
    orders.insert(once.first);
  }
  EXPECT_GT(orders.size(), 15);
}

// A counter that is read and written in two steps loses some, with some seeds, and always the same.
TEST(SimScheduler, a_race_is_found) {
  std::set<int> sums;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SimTrace trace;
    SimScheduler scheduler({.seed = seed, .points_between = 3}, &trace, never);
    int sum = 0;
    {
      std::vector<os::Thread> threads;
      for (int t = 0; t < 2; ++t) {
        threads.push_back(start("adder", [&] {
          for (int i = 0; i < 10; ++i) {
            const int seen = sum;
            scheduler.point("between");
            sum = seen + 1;
          }
        }));
      }
    }
    sums.insert(sum);
  }
  EXPECT_LT(*sums.begin(), 20);
  EXPECT_GT(sums.size(), 3);
}

TEST(SimScheduler, time_jumps_when_all_wait) {
  SimTrace trace;
  SimScheduler scheduler({.seed = 3}, &trace, never);
  ScheduledClock clock(&scheduler);
  os::Mutex mutex;
  os::CondVar changed;
  os::Signal signal;
  const uint64_t began = clock.monotonic_us();
  {
    os::Thread sleeper = start("sleeper", [&] { clock.sleep_us(uint64_t{3600} * 1000000); });
    os::MutexLock lock(mutex);
    while (changed.wait_for(mutex, 5000)) {
    }
    EXPECT_FALSE(signal.wait_for(7000));
  }
  const uint64_t took = clock.monotonic_us() - began;
  EXPECT_GE(took, uint64_t{3600} * 1000000);
  EXPECT_LT(took, uint64_t{3601} * 1000000);
}

TEST(SimScheduler, who_is_woken_goes_on) {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    SimTrace trace;
    SimScheduler scheduler({.seed = seed, .points_between = 2}, &trace, never);
    os::Mutex mutex;
    os::CondVar changed;
    int turn = 0;
    std::vector<os::Thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.push_back(start("taker", [&, t] {
        os::MutexLock lock(mutex);
        while (turn != t) changed.wait(mutex);
        ++turn;
        changed.notify_all();
      }));
    }
    threads.clear();
    EXPECT_EQ(turn, 4);
  }
}

TEST(SimScheduler, an_action_comes_at_its_step) {
  SimTrace trace;
  SimScheduler scheduler({.seed = 3}, &trace, never);
  uint64_t at = 0;
  scheduler.at_step(1000, [&] { at = scheduler.steps(); });
  for (int i = 0; i < 2000; ++i) scheduler.point("test");
  EXPECT_EQ(at, 1000);
}

void take_two(os::Mutex& first, os::Mutex& second, SimScheduler& scheduler) {
  for (int i = 0; i < 100; ++i) {
    os::MutexLock outer(first);
    scheduler.point("between");
    os::MutexLock inner(second);
  }
}

void lock_crosswise() {
  SimTrace trace;
  SimScheduler scheduler({.seed = 1, .points_between = 2}, &trace, [](const std::string& why) {
    fprintf(stderr, "%s\n", why.c_str());
    _exit(7);
  });
  os::Mutex left;
  os::Mutex right;
  os::Thread one = start("the one", [&] { take_two(left, right, scheduler); });
  os::Thread other = start("the other", [&] { take_two(right, left, scheduler); });
}

TEST(SimSchedulerDeathTest, a_deadlock_is_told) {
  EXPECT_EXIT(lock_crosswise(), ::testing::ExitedWithCode(7),
              "all threads wait for ever.*the one.*waits for lock");
}

}  // namespace
}  // namespace hawthorn::testing
