#include "os/process.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace hawthorn::os {
namespace {

TEST(Process, HasAStartThatStaysAndEndsWithIt) {
  EXPECT_EQ(process_id(), static_cast<uint64_t>(::getpid()));
  const uint64_t own = process_start(process_id());
  EXPECT_GT(own, 0U);
  EXPECT_EQ(process_start(process_id()), own);
  const pid_t child = ::fork();
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  ASSERT_GT(child, 0);
  EXPECT_GE(process_start(static_cast<uint64_t>(child)), own);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_EQ(process_start(static_cast<uint64_t>(child)), 0U);
}

TEST(Process, ThatIsNoneHasNoStart) { EXPECT_EQ(process_start(~uint64_t{0}), 0U); }

}  // namespace
}  // namespace hawthorn::os
