#pragma once
// Who may write a database: one connection, or any number of commits of concurrent transactions.
//
// Not here: what a commit does (connection.h). Threads: all functions from any; a lock is given
// back by whoever, as SQLite's connections move between threads.
//
// 1. Whoever comes while it is free takes it, also before those that wait: a thread that runs is
//    faster than one that has to be woken. But who has waited for kPatience is the next one. Most
//    transactions are shorter than a wake, so who comes looks kLooks times before it sleeps.
// 2. Writers that wait go before commits that come, and commits that have waited for a writer
//    before the next writer.

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <list>
#include <mutex>

namespace hawthorn::sqlite {

class WriterLock {
 public:
  static constexpr std::chrono::milliseconds kPatience{2};
  static constexpr int kLooks = 50;  // between which other threads may run

  // Waits up to wait_ms. False: others still have it.
  bool lock(int64_t wait_ms);
  void unlock();
  // The same for commits beside each other.
  bool lock_shared(int64_t wait_ms);
  void unlock_shared();
  // How many wait, of either kind: for tests.
  uint64_t waiting() const;

 private:
  using Clock = std::chrono::steady_clock;
  struct Waiter {
    Clock::time_point since;
    std::condition_variable woken;
    bool has_it = false;
  };

  bool is_free() const { return !held_ && shared_ == 0 && shared_first_ == 0; }
  bool is_free_to_share() const { return !held_ && (waiters_.empty() || shared_first_ != 0); }
  void pass_on();

  mutable std::mutex mutex_;
  // Under mutex_.
  std::condition_variable for_shared_;
  bool held_ = false;
  uint64_t shared_ = 0;          // that have it
  uint64_t shared_waiting_ = 0;  // and that wait
  uint64_t shared_first_ = 0;    // of those, before the next writer
  std::list<Waiter*> waiters_;   // who write, in the order in which they came
};

}  // namespace hawthorn::sqlite
