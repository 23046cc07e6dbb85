#pragma once
// An event that threads wait for without a lock: take a ticket, look at the condition, wait with
// the ticket. A signal between the two is never lost, and a signal that nobody waits for makes no
// system call.
//
//   for (;;) { auto ticket = event.ticket(); if (condition()) break; event.wait(ticket); }
//
// Not here: the condition itself; whoever changes it signals afterwards. Threads: all functions
// from any thread.

#include <atomic>
#include <climits>
#include <cstdint>

#include "os/sync.h"

namespace hawthorn::wal {

class Event {
 public:
  uint32_t ticket() const { return sequence_.load(std::memory_order_seq_cst); }

  // Returns after a signal that came later than the ticket, after timeout_us (0: none), or for no
  // reason.
  void wait(uint32_t ticket, uint64_t timeout_us = 0) {
    waiters_.fetch_add(1, std::memory_order_seq_cst);
    os::futex_wait(&sequence_, ticket, timeout_us);
    waiters_.fetch_sub(1, std::memory_order_relaxed);
  }

  void signal() {
    sequence_.fetch_add(1, std::memory_order_seq_cst);
    if (waiters_.load(std::memory_order_seq_cst) != 0) os::futex_wake(&sequence_, INT_MAX);
  }

 private:
  std::atomic<uint32_t> sequence_{0};
  std::atomic<uint32_t> waiters_{0};
};

}  // namespace hawthorn::wal
