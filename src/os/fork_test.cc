#include "os/fork.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace hawthorn::os {
namespace {

TEST(Fork, ChangesInTheChildOnly) {
  const uint64_t before = fork_generation();
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) _exit(fork_generation() == before ? 1 : 0);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_EQ(fork_generation(), before);
}

}  // namespace
}  // namespace hawthorn::os
