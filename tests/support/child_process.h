#pragma once
// What the tests that kill processes share: starting a child, and killing it at a random moment.
//
// How far a child gets is waited for, never how long it takes: on a slow machine a time that is
// meant for some work is enough for none.
//
// A parent that starts children opens no database itself: they begin with no threads of ours. Used
// by the folders of tests/ only.

#include <signal.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include "tests/support/engine_test.h"

namespace hawthorn::tests {

// The child ends with 0 when `body` returns, and with the thread that started it: some work until
// they are killed. -1: there is none.
inline pid_t start_child(const std::function<void()>& body) {
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child == 0) {
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent) _exit(1);
    body();
    _exit(0);
  }
  return child;
}

// Until it holds, however long that takes. False: the child has ended before.
inline bool wait_for_child(pid_t child, const std::function<bool()>& holds) {
  while (!holds()) {
    siginfo_t ended{};  // which a later waitpid still finds
    const int none = waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOHANG | WNOWAIT);
    if (none != 0 || ended.si_pid == child) return false;
    usleep(100);
  }
  return true;
}

// How much a child does before it is killed: up to `often` of what `done` counts or, one time in
// three, up to `seldom`, and then a pause of at most `pause_us`, so that it is in the middle of
// something.
struct KillAfter {
  std::function<uint64_t()> done;
  uint64_t often;
  uint64_t seldom;
  uint64_t pause_us = 3000;
};

// In one round of four, never in the first, wherever the child is, which may be in opening; in the
// others after at least one piece of work. It sets `shared.failed` where something was wrong.
template <typename Shared>
void kill_at_random(pid_t child, const Shared& shared, Prng& prng, uint64_t round,
                    const KillAfter& after) {
  ASSERT_GT(child, 0);
  if (round == 0 || !prng.one_in(4)) {
    const uint64_t until =
        after.done() + 1 + prng.below(prng.one_in(3) ? after.seldom : after.often);
    const bool reached =
        wait_for_child(child, [&] { return shared.failed.load() != 0 || after.done() >= until; });
    ASSERT_TRUE(reached) << "the child has ended by itself";
    usleep(static_cast<useconds_t>(prng.below(after.pause_us)));
  } else {
    usleep(static_cast<useconds_t>(prng.below(60'000)));
  }
  ASSERT_EQ(kill(child, SIGKILL), 0);
  int result = 0;
  ASSERT_EQ(waitpid(child, &result, 0), child);
  ASSERT_EQ(shared.failed.load(), 0u);
}

}  // namespace hawthorn::tests
