#pragma once
// Asynchronous block I/O for many threads: requests are submitted in groups and report to an
// IoGroup when they are done. A pool of threads runs pread and pwrite.
//
// Not here: queues of reads that belong to their caller, by io_uring where it can be had
// (io_queue.h).
// Threads: submit may be called from any thread. Completion callbacks run on a pool thread (or
// inside submit, in the simulated machine): they must be short and take no lock that a submitter
// holds.
// Lifetime: requests, files and buffers live until the group reports them done.

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>

#include "hawthorn/status.h"
#include "os/file.h"
#include "os/sync.h"

namespace hawthorn::os {

// Counts requests under way and keeps the first error.
class IoGroup {
 public:
  void add(uint32_t requests);
  void done(const Status& status);
  // Waits until all that was added is done; returns the first error since the last wait.
  Status wait();
  bool idle() const;

 private:
  mutable Mutex mutex_;
  CondVar changed_;
  uint32_t pending_ GUARDED_BY(mutex_) = 0;
  Status first_error_ GUARDED_BY(mutex_);
};

struct IoRequest {
  enum class Op : uint8_t { kRead, kWrite };
  Op op = Op::kRead;
  File* file = nullptr;
  uint64_t offset = 0;
  char* data = nullptr;
  size_t size = 0;
  IoGroup* group = nullptr;  // told when done; may be null
  void (*completed)(void* context, const Status& status) =
      nullptr;  // called before the group is told; may be null
  void* context = nullptr;
};

class Io {
 public:
  virtual ~Io() = default;
  // Copies the requests and starts them. Never fails: errors are reported per request.
  virtual void submit(std::span<const IoRequest> requests) = 0;
};

// A pool of `threads` threads running pread and pwrite.
std::unique_ptr<Io> make_pool_io(uint32_t threads);
// Runs every request inside submit, in order: for the simulated machine.
std::unique_ptr<Io> make_inline_io();

}  // namespace hawthorn::os
