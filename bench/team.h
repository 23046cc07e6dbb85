#pragma once
// Threads that start a phase together, and end it together when one of them fails.
//
// Used by insert.cc, counters.cc, nvme.cc, scale.cc, soak.cc, tatp.cc and txn_*.cc. Threads: run()
// from one; stopped() and stop() from any.
//
// 1. When run() returns, all threads have ended.

#include <atomic>
#include <cstdint>
#include <functional>

namespace hawthorn::bench {

class Team {
 public:
  explicit Team(unsigned threads) : threads_(threads) {}

  // Calls body(thread, start) in each thread, where `start` is the common start by Ticks, and
  // returns the seconds until the last one ended. Throws what the first body that failed threw.
  double run(const std::function<void(unsigned thread, uint64_t start)>& body);

  // Whether a body should end early.
  bool stopped() const { return stop_.load(std::memory_order_relaxed); }
  void stop() { stop_.store(true, std::memory_order_relaxed); }
  unsigned threads() const { return threads_; }

 private:
  const unsigned threads_;
  std::atomic<bool> stop_{false};
};

}  // namespace hawthorn::bench
