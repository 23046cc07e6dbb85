#pragma once
// Processes that are killed in the middle of what they do, and memory that they share.
//
// Used by tests. Threads: one.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <new>
#include <random>
#include <string>
#include <thread>
#include <utility>

#include "testing/wait.h"

namespace hawthorn {

// What a child writes here its parent sees, also when the child was killed. Of atomic members.
template <typename T>
class SharedWithChildren {
 public:
  SharedWithChildren()
      : object_(new(mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
                         0)) T{}) {}
  ~SharedWithChildren() { munmap(object_, sizeof(T)); }
  SharedWithChildren(const SharedWithChildren&) = delete;
  SharedWithChildren& operator=(const SharedWithChildren&) = delete;

  T* operator->() const { return object_; }
  T& operator*() const { return *object_; }

 private:
  T* const object_;
};

// Runs `work`, which does not return, in a child, and kills it: in even rounds wherever it is,
// which on a slow machine is always in opening the database; in odd rounds only after it has raised
// `done`, a counter that it shares, by one to kStepsMax, so that it is killed in the middle of its
// work on any machine.
template <typename Counter, typename Work>
void kill_in_the_middle(std::mt19937& random, int round, const Counter& done, const Work& work) {
  constexpr unsigned kStepsMax = 20;
  const auto before = done.load();
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) work();
  std::this_thread::sleep_for(std::chrono::milliseconds(20 + random() % 150));
  bool lives = true;
  bool works = true;
  if (round % 2 == 1) {
    const auto wanted = before + static_cast<decltype(before)>(1 + random() % kStepsMax);
    works = testing::wait_until([&] {
      lives = waitpid(child, nullptr, WNOHANG) == 0;
      return !lives || done.load() >= wanted;
    });
  }
  ASSERT_TRUE(lives) << "the child has ended";
  ASSERT_EQ(kill(child, SIGKILL), 0);
  int how = 0;
  ASSERT_EQ(waitpid(child, &how, 0), child);
  ASSERT_TRUE(works) << "the child hangs";
  ASSERT_TRUE(WIFSIGNALED(how)) << "the child ended with " << WEXITSTATUS(how);
}

// A number in a file, which is made, for processes that share no memory; it stays mapped.
inline std::atomic<int>& counter_in(const std::string& path) {
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  EXPECT_EQ(ftruncate(file, sizeof(std::atomic<int>)), 0);
  void* const at =
      mmap(nullptr, sizeof(std::atomic<int>), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  return *static_cast<std::atomic<int>*>(at);
}

// This program again, with one of its tests alone, which finds the directory in its environment;
// it is killed in the end. Beside threads of its parent that are in the middle of something a mere
// child of fork may wait for ever.
class Rerun {
 public:
  Rerun(const std::string& test, const std::string& directory) : id_(fork()) {
    if (id_ != 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setenv(kVariable, directory.c_str(), 1);
    // Neither a shard of its parent, nor in its parent's results.
    for (const char* name : {"GTEST_TOTAL_SHARDS", "GTEST_SHARD_INDEX", "GTEST_OUTPUT"}) {
      unsetenv(name);
    }
    execl("/proc/self/exe", "rerun", ("--gtest_filter=" + test).c_str(), "--gtest_brief=1",
          static_cast<char*>(nullptr));
    _exit(1);
  }
  ~Rerun() { end(); }
  Rerun(const Rerun&) = delete;
  Rerun& operator=(const Rerun&) = delete;

  // In the test that is run again; null elsewhere.
  static const char* directory() { return getenv(kVariable); }
  bool lives() const {
    int how = 0;
    return id_ > 0 && waitpid(id_, &how, WNOHANG) == 0;
  }
  // Waits until `done()`; false: it has ended, or hangs.
  template <typename Done>
  [[nodiscard]] bool lives_until(const Done& done) const {
    bool ended = false;
    const bool waited = testing::wait_until([&] {
      ended = !lives();
      return ended || done();
    });
    return waited && !ended;
  }
  void end() {
    if (id_ <= 0) return;
    int how = 0;
    kill(id_, SIGKILL);
    waitpid(std::exchange(id_, -1), &how, 0);
  }

 private:
  static constexpr char kVariable[] = "HAWTHORN_TEST_RERUN";
  pid_t id_;
};

}  // namespace hawthorn
