#include "os/epoch.h"

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <thread>
#include <vector>

#include "base/prng.h"
#include "os/sync.h"

namespace hawthorn::os::epoch {
namespace {

std::atomic<int> live{0};

struct Counted {
  explicit Counted(uint64_t n) : value(n), check(~n) { live.fetch_add(1); }
  ~Counted() {
    value = 0;
    check = 0;
    live.fetch_sub(1);
  }
  uint64_t value;
  uint64_t check;
};

TEST(EpochTest, DrainFreesEverything) {
  for (uint64_t i = 0; i < 1000; ++i) retire(new Counted(i));
  drain();
  EXPECT_EQ(live.load(), 0);
}

TEST(EpochTest, RetireAloneBoundsWhatWaits) {
  int most = 0;
  for (uint64_t i = 0; i < 10000; ++i) {
    retire(new Counted(i));
    most = std::max(most, live.load());
  }
  EXPECT_LT(most, 1000);
  drain();
  EXPECT_EQ(live.load(), 0);
}

TEST(EpochTest, GuardKeepsWhatWasRetiredAfterIt) {
  uint64_t unlinked = 0;
  {
    const Guard outer;
    {
      const Guard inner;
    }
    retire(new Counted(1));
    unlinked = stamp();
    for (int i = 0; i < 10; ++i) collect();
    EXPECT_EQ(live.load(), 1);
    EXPECT_FALSE(passed(unlinked));
  }
  EXPECT_TRUE(passed(unlinked));
  collect();
  EXPECT_EQ(live.load(), 0);
}

TEST(EpochTest, LaterGuardOfAnotherThreadDoesNotHoldBack) {
  retire(new Counted(1));
  const uint64_t before = stamp();
  collect();
  std::atomic<bool> entered{false};
  std::atomic<bool> leave{false};
  std::thread reader([&] {
    const Guard guard;
    entered = true;
    while (!leave) cpu_relax();
  });
  while (!entered) std::this_thread::yield();
  EXPECT_TRUE(passed(before));
  const uint64_t after = stamp();
  EXPECT_FALSE(passed(after));
  collect();
  EXPECT_EQ(live.load(), 0);
  leave = true;
  reader.join();
  EXPECT_TRUE(passed(after));
}

TEST(EpochTest, DeletersMayRetire) {
  live.fetch_add(1);
  struct Step {
    static void release(void* object) {
      auto* const left = static_cast<int*>(object);
      if (*left > 0) retire(new int(*left - 1), release);
      if (*left == 0) live.fetch_sub(1);
      delete left;
    }
  };
  retire(new int(300), Step::release);
  drain();
  EXPECT_EQ(live.load(), 0);
}

// A chain whose next link is retired by whichever thread frees the one before it.
TEST(EpochTest, DrainWaitsForWhatOtherThreadsDeletersRetire) {
  struct Step {
    static void release(void* object) {
      auto* const left = static_cast<int*>(object);
      if (*left > 0) retire(new int(*left - 1), release);
      if (*left == 0) live.fetch_sub(1);
      delete left;
    }
  };
  std::atomic<bool> stop{false};
  std::vector<std::thread> collectors;
  for (int i = 0; i < 2; ++i) {
    collectors.emplace_back([&stop] {
      while (!stop) collect();
    });
  }
  for (int round = 0; round < 50; ++round) {
    live.fetch_add(1);
    retire(new int(10), Step::release);
    drain();
    EXPECT_EQ(live.load(), 0);
  }
  stop = true;
  for (std::thread& thread : collectors) thread.join();
}

TEST(EpochTest, SlotsAreUsedAgainAndGrow) {
  for (int round = 0; round < 3; ++round) {
    std::vector<std::thread> threads;
    std::atomic<int> inside{0};
    constexpr int kThreads = 150;
    const size_t others = epoch::threads();
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&inside, others] {
        const Guard guard;
        inside.fetch_add(1);
        while (inside.load() < kThreads) std::this_thread::yield();
        EXPECT_GT(epoch::threads(), others);
        retire(new Counted(1));
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(epoch::threads(), others);
  }
  drain();
  EXPECT_EQ(live.load(), 0);
}

TEST(EpochTest, ReadersNeverSeeFreedObjects) {
  constexpr size_t kCells = 8;
  std::array<std::atomic<Counted*>, kCells> cells;
  for (size_t i = 0; i < kCells; ++i) cells[i] = new Counted(i);
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> bad{0};
  std::vector<std::thread> threads;
  for (uint64_t r = 0; r < 3; ++r) {
    threads.emplace_back([&, r] {
      Prng prng(r);
      while (!stop.load(std::memory_order_relaxed)) {
        const Guard guard;
        for (int i = 0; i < 4; ++i) {
          const Counted* const object = cells[prng.below(kCells)].load(std::memory_order_acquire);
          if (object->value != ~object->check) bad.fetch_add(1);
        }
      }
    });
  }
  for (uint64_t w = 0; w < 2; ++w) {
    threads.emplace_back([&, w] {
      Prng prng(100 + w);
      for (uint64_t i = 0; i < 30000; ++i) {
        retire(cells[prng.below(kCells)].exchange(new Counted(i), std::memory_order_acq_rel));
      }
      stop = true;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(bad.load(), 0u);
  for (auto& cell : cells) retire(cell.load());
  drain();
  EXPECT_EQ(live.load(), 0);
}

// Runs it in a child process; whether it says so.
template <typename Body>
bool holds_in_child(Body body) {
  const pid_t child = fork();
  if (child == 0) _exit(body() ? 0 : 1);
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
         WEXITSTATUS(status) == 0;
}

// Threads of the parent have guards, locks of lists and deleters under way when it forks.
TEST(EpochTest, AChildOfForkBeginsAnew) {
  std::atomic<bool> stop{false};
  std::atomic<int> at_work{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] {
      at_work.fetch_add(1);
      while (!stop.load()) {
        const Guard guard;
        retire(new int(1));
      }
    });
  }
  threads.emplace_back([&] {
    const Guard guard;
    at_work.fetch_add(1);
    while (!stop.load()) std::this_thread::yield();
  });
  while (at_work.load() != 3) std::this_thread::yield();
  for (int round = 0; round < 50; ++round) {
    EXPECT_TRUE(holds_in_child([] {
      bool freed = false;
      {
        const Guard guard;
        retire(&freed, [](void* object) { *static_cast<bool*>(object) = true; });
      }
      drain();
      return freed && epoch::threads() == 1;
    }));
  }
  stop.store(true);
  for (std::thread& thread : threads) thread.join();
  drain();
}

#if defined(SYS_membarrier) && !defined(HAWTHORN_TSAN)
// A sandbox that is entered when all has long been at work: guards go on to hold what they see, and
// the epoch to advance.
TEST(EpochTest, TheKernelsBarrierMayBeRefusedLater) {
  EXPECT_TRUE(holds_in_child([] {
    sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const sock_fprog program{std::size(filter), filter};
    std::atomic<bool> stop{false};
    std::atomic<int*> shared{new int(0)};
    std::atomic<bool> wrong{false};
    std::vector<std::thread> readers;
    for (int i = 0; i < 3; ++i) {
      readers.emplace_back([&] {
        while (!stop.load()) {
          const Guard guard;
          if (*shared.load(std::memory_order_acquire) < 0) wrong.store(true);
        }
      });
    }
    const auto replace = [&](int number) {
      retire(shared.exchange(new int(number)), [](void* object) {
        *static_cast<volatile int*>(object) = -1;
        delete static_cast<int*>(object);
      });
    };
    for (int i = 0; i < 2000; ++i) replace(i);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return true;  // nothing to be tried here
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) != 0) {
      return true;
    }
    for (int i = 0; i < 20'000; ++i) replace(i);
    drain();
    const bool by_fences = !barrier_by_kernel.load();
    stop.store(true);
    for (std::thread& reader : readers) reader.join();
    delete shared.load();
    return by_fences && !wrong.load();
  }));
}
#endif

}  // namespace
}  // namespace hawthorn::os::epoch
