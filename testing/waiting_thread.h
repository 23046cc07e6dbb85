#pragma once
// A thread of a test that is to wait for others, and whether it has come so far: a test that slept
// instead would find out nothing where the thread got no processor.
//
// Not here: what it waits for; it may be a lock of its program, too, or a page of a file. Where it
// matters, a test point tells (os/test_point.h). Used by tests. Threads: the one that made it.

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>
#include <utility>

#include "testing/wait.h"

namespace hawthorn::testing {

// Whether a thread of this process sleeps in the kernel.
inline bool is_asleep(pid_t thread) {
  const std::string path = "/proc/self/task/" + std::to_string(thread) + "/stat";
  std::FILE* const file = std::fopen(path.c_str(), "re");
  if (file == nullptr) return false;
  char text[256] = {};
  const size_t size = std::fread(text, 1, sizeof(text) - 1, file);
  std::fclose(file);
  // The name before it may have any characters.
  const char* const name_end = static_cast<const char*>(memrchr(text, ')', size));
  return name_end != nullptr && std::strncmp(name_end, ") S", 3) == 0;
}

class WaitingThread {
 public:
  template <typename Body>
  explicit WaitingThread(Body body)
      : thread_([this, body = std::move(body)] {
          id_ = gettid();
          body();
          ended_ = true;
        }) {}
  ~WaitingThread() { join(); }
  WaitingThread(const WaitingThread&) = delete;
  WaitingThread& operator=(const WaitingThread&) = delete;

  // Until it waits, or has ended, which a test notices by what it did. False: it hangs otherwise.
  [[nodiscard]] bool wait_until_it_waits() const {
    return wait_until([this] { return ended_ || (id_ != 0 && is_asleep(id_)); });
  }
  void join() {
    if (thread_.joinable()) thread_.join();
  }

 private:
  std::atomic<pid_t> id_{0};
  std::atomic<bool> ended_{false};
  std::thread thread_;  // the last one: it uses the others
};

}  // namespace hawthorn::testing
