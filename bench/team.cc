#include "bench/team.h"

#include <exception>
#include <latch>
#include <mutex>
#include <thread>
#include <vector>

#include "bench/clock.h"

namespace hawthorn::bench {

double Team::run(const std::function<void(unsigned thread, uint64_t start)>& body) {
  stop_ = false;
  std::latch ready(threads_ + 1);
  std::latch go(1);
  uint64_t start = 0;
  std::mutex mutex;
  std::exception_ptr error;
  {
    std::vector<std::jthread> threads;
    threads.reserve(threads_);
    for (unsigned thread = 0; thread < threads_; ++thread) {
      threads.emplace_back([&, thread] {
        ready.count_down();
        go.wait();
        try {
          body(thread, start);
        } catch (...) {
          stop();
          const std::lock_guard lock(mutex);
          if (!error) error = std::current_exception();
        }
      });
    }
    ready.arrive_and_wait();
    start = Ticks::now();
    go.count_down();
  }
  const double seconds = Ticks::seconds(Ticks::now() - start);
  if (error) std::rethrow_exception(error);
  return seconds;
}

}  // namespace hawthorn::bench
