#pragma once
// Children of fork while the threads of their parent are at work: whatever these had locked or half
// changed, a child works with databases of its own, and lets go of what it has inherited.
//
// Used by tests. Threads: one.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "testing/wait.h"

namespace hawthorn {

// `work(thread, round)` is called by three threads, again and again, and says what is wrong, or
// nothing; meanwhile each of the children says what is wrong in `live(child)`. One that hangs is
// ended by SIGALRM.
template <typename Work, typename Live>
void fork_in_the_middle(uint64_t children, const Work& work, const Live& live) {
  constexpr uint64_t kThreads = 3;
  constexpr uint64_t kRoundsBetween = 10;
  constexpr unsigned kHangsAfterSeconds = 240;
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> rounds{0};
  std::vector<std::thread> threads;
  for (uint64_t thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (uint64_t round = 0; !stop.load(); ++round) {
        const std::string wrong = work(thread, round);
        EXPECT_EQ(wrong, "") << "in the parent";
        rounds.fetch_add(1);
        if (!wrong.empty()) break;
      }
    });
  }
  for (uint64_t n = 0; n < children && !::testing::Test::HasFailure(); ++n) {
    const uint64_t before = rounds.load();
    EXPECT_TRUE(testing::wait_until(
        [&] { return rounds.load() > before + kRoundsBetween || ::testing::Test::HasFailure(); }));
    const pid_t child = fork();
    if (child == 0) {
      alarm(kHangsAfterSeconds);
      const std::string wrong = live(n);
      if (wrong.empty()) _exit(0);
      std::fprintf(stderr, "in the child: %s\n", wrong.c_str());
      _exit(1);
    }
    EXPECT_GT(child, 0);
    int result = 0;
    EXPECT_EQ(waitpid(child, &result, 0), child);
    EXPECT_TRUE(WIFEXITED(result) && WEXITSTATUS(result) == 0)
        << "child " << n << (WIFSIGNALED(result) ? " hung, or crashed: " : ": ") << result;
  }
  stop.store(true);
  for (std::thread& thread : threads) thread.join();
}

}  // namespace hawthorn
