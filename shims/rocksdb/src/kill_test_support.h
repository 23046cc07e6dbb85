#pragma once
// Processes that are killed in the middle of what they do, and memory that they share.
//
// Used by tests. Threads: one.

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <new>
#include <random>
#include <thread>

namespace hawthorn::rocks {

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

 private:
  T* const object_;
};

// Runs `work`, which does not return, in a child, and kills that soon.
template <typename Work>
void kill_in_the_middle(std::mt19937& random, const Work& work) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) work();
  std::this_thread::sleep_for(std::chrono::milliseconds(20 + random() % 150));
  ASSERT_EQ(kill(child, SIGKILL), 0);
  int how = 0;
  ASSERT_EQ(waitpid(child, &how, 0), child);
  ASSERT_TRUE(WIFSIGNALED(how)) << "the child ended with " << WEXITSTATUS(how);
}

}  // namespace hawthorn::rocks
