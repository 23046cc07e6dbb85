#pragma once
// Reads of blocks that a caller waits for, and how long they take: one by itself, or several at
// once.
//
// Not here: what is read (residency.h), reads ahead of need (cursor_ahead.h) and those of read
// queues, for which nobody waits all the time; the bytes (Residency::count_read).
// Threads: any.
//
// 1. Two looks at the clock for each read or batch, and none for what is in memory.

#include <atomic>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "hawthorn/status.h"
#include "os/file.h"
#include "os/io_queue.h"
#include "os/machine.h"

namespace hawthorn::tree {

class DiskReads {
 public:
  explicit DiskReads(const os::Machine& machine) : machine_(machine) {}

  // Errors: those of the file.
  Status read(const os::IoRead& read) {
    const uint64_t begin_us = machine_.clock->monotonic_us();
    Status status = read.file->read_at(read.offset, {read.data, read.size});
    us_.fetch_add(machine_.clock->monotonic_us() - begin_us, std::memory_order_relaxed);
    count_.fetch_add(1, std::memory_order_relaxed);
    return status;
  }

  // All of them; each completion is handed to `arrived`. The queue has nothing in flight.
  template <typename Arrived>
  void read_all(os::IoQueue& queue, std::span<const os::IoRead> reads, Arrived arrived) {
    const uint64_t begin_us = machine_.clock->monotonic_us();
    queue.submit(reads);
    std::vector<os::IoCompletion> done(reads.size());
    while (queue.in_flight() > 0) {
      const size_t count = queue.reap(done, done.size());
      for (size_t i = 0; i < count; ++i) arrived(std::move(done[i]));
    }
    batch_us_.fetch_add(machine_.clock->monotonic_us() - begin_us, std::memory_order_relaxed);
    batches_.fetch_add(1, std::memory_order_relaxed);
  }

  uint64_t count() const { return count_.load(std::memory_order_relaxed); }
  uint64_t us() const { return us_.load(std::memory_order_relaxed); }
  uint64_t batches() const { return batches_.load(std::memory_order_relaxed); }
  uint64_t batch_us() const { return batch_us_.load(std::memory_order_relaxed); }

 private:
  const os::Machine& machine_;
  std::atomic<uint64_t> count_{0};
  std::atomic<uint64_t> us_{0};
  std::atomic<uint64_t> batches_{0};
  std::atomic<uint64_t> batch_us_{0};
};

}  // namespace hawthorn::tree
