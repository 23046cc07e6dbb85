#include "os/sync.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <deque>
#include <thread>
#include <vector>

#include "testing/deny_system_call.h"
#include "testing/waiting_thread.h"

namespace hawthorn::os {
namespace {

static_assert(sizeof(Mutex) == 4);

TEST(MutexTest, ExcludesUnderContention) {
  Mutex mutex;
  int64_t count = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20000; ++i) {
        MutexLock lock(mutex);
        ++count;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(count, 8 * 20000);
}

TEST(MutexTest, TryLockFailsWhileHeld) {
  Mutex mutex;
  const auto try_it = [&mutex] {
    const bool locked = mutex.try_lock();
    if (locked) mutex.unlock();
    return locked;
  };
  EXPECT_TRUE(try_it());
  mutex.lock();
  std::thread([&] { EXPECT_FALSE(try_it()); }).join();
  mutex.unlock();
  EXPECT_TRUE(try_it());
}

TEST(MutexTest, SleepingWaiterWakes) {
  Mutex mutex;
  std::atomic<bool> entered{false};
  mutex.lock();
  testing::WaitingThread waiter([&] {
    MutexLock lock(mutex);
    entered = true;
  });
  EXPECT_TRUE(waiter.wait_until_it_waits());
  EXPECT_FALSE(entered);
  mutex.unlock();
  waiter.join();
  EXPECT_TRUE(entered);
}

TEST(CondVarTest, QueueDeliversEverything) {
  struct Queue {
    Mutex mutex;
    CondVar changed;
    std::deque<int> items GUARDED_BY(mutex);
    int64_t sum GUARDED_BY(mutex) = 0;
  } queue;
  constexpr int kItems = 20000;
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&queue] {
      while (true) {
        MutexLock lock(queue.mutex);
        while (queue.items.empty()) queue.changed.wait(queue.mutex);
        const int item = queue.items.front();
        queue.items.pop_front();
        if (item < 0) return;
        queue.sum += item;
      }
    });
  }
  for (int i = 0; i < kItems + 3; ++i) {
    {
      MutexLock lock(queue.mutex);
      queue.items.push_back(i < kItems ? i : -1);
    }
    queue.changed.notify_one();
  }
  for (std::thread& thread : threads) thread.join();
  MutexLock lock(queue.mutex);
  EXPECT_EQ(queue.sum, int64_t{kItems} * (kItems - 1) / 2);
}

TEST(CondVarTest, WaitForTimesOut) {
  Mutex mutex;
  CondVar changed;
  const auto start = std::chrono::steady_clock::now();
  {
    MutexLock lock(mutex);
    EXPECT_FALSE(changed.wait_for(mutex, 20000));
    EXPECT_FALSE(changed.wait_for(mutex, 0));
  }
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(19));
}

TEST(CondVarTest, NotifyAllWakesEveryone) {
  struct Gate {
    Mutex mutex;
    CondVar changed;
    int waiting GUARDED_BY(mutex) = 0;
    int passed GUARDED_BY(mutex) = 0;
    bool open GUARDED_BY(mutex) = false;
  } gate;
  std::vector<std::thread> threads;
  for (int t = 0; t < 5; ++t) {
    threads.emplace_back([&gate] {
      MutexLock lock(gate.mutex);
      ++gate.waiting;
      while (!gate.open) gate.changed.wait_for(gate.mutex, 10000000);
      ++gate.passed;
    });
  }
  while (true) {
    MutexLock lock(gate.mutex);
    if (gate.waiting == 5) break;
  }
  {
    MutexLock lock(gate.mutex);
    gate.open = true;
  }
  gate.changed.notify_all();
  for (std::thread& thread : threads) thread.join();
  MutexLock lock(gate.mutex);
  EXPECT_EQ(gate.passed, 5);
}

TEST(SignalTest, WaitsUntilSetOrTimedOut) {
  Signal never;
  const auto start = std::chrono::steady_clock::now();
  EXPECT_FALSE(never.wait_for(0));
  EXPECT_FALSE(never.wait_for(20000));
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(19));
  never.set();  // after a wait was given up
  EXPECT_TRUE(never.wait_for(0));
  EXPECT_TRUE(never.wait_for(1));
  Signal before;
  before.set();
  before.wait();
}

// Each signal lies on the stack of who waits and is gone, its place reused, right after the wait.
TEST(SignalTest, DiesAsSoonAsItIsSeen) {
  constexpr int kRounds = 5000;
  std::atomic<Signal*> next{nullptr};
  int64_t handed = 0;  // by the signal alone
  std::thread setter([&] {
    for (int i = 0; i < kRounds; ++i) {
      Signal* signal = nullptr;
      while ((signal = next.exchange(nullptr)) == nullptr) std::this_thread::yield();
      if (i % 64 == 0) std::this_thread::sleep_for(std::chrono::microseconds(200));
      ++handed;
      signal->set();
    }
  });
  for (int i = 0; i < kRounds; ++i) {
    Signal signal;
    next.store(&signal);
    if (i % 2 == 0) {
      signal.wait();
    } else {
      while (!signal.wait_for(50)) continue;
    }
    ASSERT_EQ(handed, i + 1);
  }
  setter.join();
}

TEST(ThreadTest, RunsNamedAndJoins) {
  std::string name(16, '\0');
  int nice = 0;
  {
    Thread thread;
    const Status started = thread.start(
        "hawthorn-long-name",
        [&] {
          pthread_getname_np(pthread_self(), name.data(), name.size());
          nice = getpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid)));
        },
        true);
    EXPECT_TRUE(started.ok());
    EXPECT_TRUE(thread.joinable());
    Thread moved = std::move(thread);
    EXPECT_FALSE(thread.joinable());  // NOLINT(bugprone-use-after-move)
    thread = std::move(moved);
  }
  EXPECT_EQ(std::string(name.c_str()), "hawthorn-long-n");
  EXPECT_GE(nice, 5);
  EXPECT_FALSE(Thread().joinable());
}

// In a process of its own, since nobody gets rid of a filter.
TEST(ThreadTest, SaysThatThereIsNone) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    if (!testing::deny_system_call(SYS_clone3, EAGAIN) ||
        !testing::deny_system_call(SYS_clone, EAGAIN)) {
      _exit(1);
    }
    bool ran = false;
    const Status status = Thread().start("some-thread", [&] { ran = true; });
    const bool said = status.is(StatusCode::kIoError) &&
                      status.message() ==
                          "the thread some-thread could not be started: Resource temporarily "
                          "unavailable";
    _exit(said && !ran ? 0 : 2);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace hawthorn::os
