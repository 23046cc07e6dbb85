#include "base/made_once.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <stdexcept>
#include <thread>
#include <vector>

namespace hawthorn {
namespace {

struct Counted {
  Counted() { alive.fetch_add(1); }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  ~Counted() { alive.fetch_sub(1); }
  static inline std::atomic<int> alive{0};
};

Counted& counted() {
  return made_once<[] { return Counted(); }>();
}

TEST(MadeOnce, ThreadsHaveTheSame) {
  std::vector<Counted*> found(8);
  std::vector<std::thread> threads;
  threads.reserve(found.size());
  for (Counted*& mine : found) threads.emplace_back([&mine] { mine = &counted(); });
  for (std::thread& thread : threads) thread.join();
  for (const Counted* const one : found) EXPECT_EQ(one, &counted());
  EXPECT_EQ(Counted::alive.load(), 1);
}

int refusals_left = 2;

uint64_t& late() {
  return made_once<[] {
    if (refusals_left != 0 && refusals_left-- != 0) throw std::runtime_error("not yet");
    return uint64_t{42};
  }>();
}

TEST(MadeOnce, WhatCouldNotBeMadeIsMadeLater) {
  EXPECT_THROW(late(), std::runtime_error);
  EXPECT_THROW(late(), std::runtime_error);
  EXPECT_EQ(late(), 42U);
}

std::atomic<bool> being_made{false};
std::atomic<bool> may_go_on{false};

int& slow() {
  return made_once<[] {
    being_made.store(true);
    while (!may_go_on.load()) std::this_thread::yield();
    return 7;
  }>();
}

// With a variable of a function the child would wait for ever.
TEST(MadeOnce, AChildMakesItsOwnWhereAnotherThreadOfItsParentWasMakingIt) {
  std::thread maker([] { slow(); });
  while (!being_made.load()) std::this_thread::yield();
  const pid_t child = fork();
  if (child == 0) {
    may_go_on.store(true);
    _exit(slow() == 7 ? 0 : 1);
  }
  may_go_on.store(true);
  maker.join();
  ASSERT_GT(child, 0);
  int result = 0;
  ASSERT_EQ(waitpid(child, &result, 0), child);
  EXPECT_TRUE(WIFEXITED(result) && WEXITSTATUS(result) == 0) << result;
}

}  // namespace
}  // namespace hawthorn
