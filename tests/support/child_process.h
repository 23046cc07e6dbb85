#pragma once
// What the tests that kill processes share: starting a child, and killing it at a random moment.
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

// Mostly after the child has set `shared.opened`, then within `often_us` or, one time in three,
// within `seldom_us`. It sets `shared.failed` where something was wrong.
template <typename Shared>
void kill_at_random(pid_t child, const Shared& shared, Prng& prng, uint64_t often_us,
                    uint64_t seldom_us) {
  ASSERT_GT(child, 0);
  if (!prng.one_in(4)) {
    ASSERT_TRUE(wait_until([&] { return shared.opened.load() != 0 || shared.failed.load() != 0; }))
        << "the child does not open";
  }
  usleep(static_cast<useconds_t>(prng.below(prng.one_in(3) ? seldom_us : often_us)));
  ASSERT_EQ(kill(child, SIGKILL), 0);
  int result = 0;
  ASSERT_EQ(waitpid(child, &result, 0), child);
  ASSERT_EQ(shared.failed.load(), 0u);
}

}  // namespace hawthorn::tests
