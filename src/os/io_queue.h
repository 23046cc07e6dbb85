#pragma once
// Queues of block reads for one caller: it submits many reads with one system call, does other
// work or waits, and reaps what is done. Behind it io_uring, or the pool of threads of io.h where
// the system has or allows no io_uring; the simulated machine runs reads inside submit.
//
// Not here: writes (io.h), what is read and where it is kept. Used by whoever reads many blocks
// that depend on each other little: lookups of many keys, read ahead, the frame cache.
//
// Threads: a queue belongs to one thread at a time and may be handed to another, with reads in
// flight or without. Only its event_fd may be polled by others meanwhile. IoQueues: any thread.
// Lifetime: files and buffers live until reap has reported the read or the queue is destroyed.
//
// 1. Each read that was submitted is reported by reap exactly once, in any order, unless the queue
//    is destroyed before.
// 2. A queue that is destroyed first waits for the reads that the kernel or the pool has begun;
//    afterwards nobody writes into the buffers.
// 3. A child of fork never touches its parent's rings or threads: reads that it submits fail with
//    kForked, and those that were in flight are no longer counted.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "hawthorn/status.h"
#include "os/file.h"
#include "os/io.h"
#include "os/sync.h"

namespace hawthorn::os {

// Exactly `size` bytes at `offset`, as File::read_at reads them, with the same errors. For a file
// that was opened direct offset, size and data are in units of kBlockBytes.
struct IoRead {
  File* file = nullptr;
  uint64_t offset = 0;
  char* data = nullptr;
  size_t size = 0;
  void* context = nullptr;  // comes back with the completion
};

struct IoCompletion {
  void* context = nullptr;
  Status status;
};

enum class IoBackend : uint8_t {
  kAuto,     // a wish only: kUring where it works, else kThreads
  kUring,    // the kernel's rings
  kThreads,  // the pool of threads behind io.h
  kInline,   // reads are done when submit returns
};

// "auto", "io_uring", "threads", "inline": for statistics and messages. Lifetime: static.
std::string_view io_backend_name(IoBackend backend);

class IoQueue {
 public:
  IoQueue() = default;
  // Waits, see invariant 2. Reads that were not yet begun are dropped.
  virtual ~IoQueue() = default;
  IoQueue(const IoQueue&) = delete;
  IoQueue& operator=(const IoQueue&) = delete;

  // Copies the reads and starts up to depth() of all that are in flight, with one system call; the
  // others wait in the queue and are started by later calls of submit and reap. Neighbours in
  // `reads` that continue each other in the same file may become one operation of the kernel.
  // Reads of a File without a descriptor are done inside. Errors: never fails; each read has its
  // own status.
  virtual void submit(std::span<const IoRead> reads) = 0;
  // As submit, but the kernel may be told of them only by the next call of submit or reap: where
  // that follows at once, one system call does for both.
  virtual void stage(std::span<const IoRead> reads) { submit(reads); }
  // Moves finished reads into `out` and returns how many. Waits until there are `wait_for` of them,
  // or as many as fit `out` or are in flight if that is less: 0 does not wait, and with nothing in
  // flight the answer is 0. Starts reads that waited for their turn.
  virtual size_t reap(std::span<IoCompletion> out, size_t wait_for) = 0;
  // Reads that were submitted and that reap has not reported yet.
  virtual size_t in_flight() const = 0;
  // Operations that the queue has begun at once at most.
  virtual uint32_t depth() const = 0;
  // A descriptor for poll and epoll: readable when reap would return something, and now and then
  // when it would not. Not to be read or closed. Created at the first call, by the queue's owner.
  // With io_uring a wait of the submitting thread in epoll_wait may end with EINTR. -1 with an
  // inline queue, and where the system refuses one more descriptor. Lifetime: the queue's.
  virtual int event_fd() = 0;
  // Makes event_fd readable until the next reap, for what its owner has to do besides.
  virtual void wake() = 0;
  // Never kAuto.
  virtual IoBackend backend() const = 0;
};

class IoQueues;

// A queue that goes back when this is destroyed, after a wait for the reads that are in flight;
// their results are dropped.
class IoQueueLease {
 public:
  IoQueueLease(IoQueueLease&&) noexcept = default;
  IoQueueLease& operator=(IoQueueLease&&) = delete;
  ~IoQueueLease();
  IoQueue& operator*() const { return *queue_; }
  IoQueue* operator->() const { return queue_.get(); }

 private:
  friend class IoQueues;
  IoQueueLease(IoQueues* owner, std::unique_ptr<IoQueue> queue);
  IoQueues* owner_;
  std::unique_ptr<IoQueue> queue_;
};

// Makes queues, and keeps some for calls that need one for a moment.
//
// Lifetime: longer than its queues and leases.
class IoQueues {
 public:
  IoQueues();
  virtual ~IoQueues();
  IoQueues(const IoQueues&) = delete;
  IoQueues& operator=(const IoQueues&) = delete;

  // A queue of `depth` (1 to kIoDepthMax; others are brought into this range). Errors: none with
  // kAuto, which takes the next backend where one is refused. A backend that is asked for by name
  // and cannot be had is kNotSupported, with what the system said; in a child of fork it is
  // kForked, where kAuto gives an inline queue.
  virtual Result<std::unique_ptr<IoQueue>> create(uint32_t depth,
                                                  IoBackend backend = IoBackend::kAuto) = 0;
  // What kAuto gives; the first call of this or of create finds out whether io_uring works.
  virtual IoBackend backend() = 0;
  // OK, or why io_uring is not used.
  virtual Status uring_status() = 0;

  // A queue of kLeasedDepth with nothing in flight, for one call of the calling thread: from those
  // that were given back, else a new one. Costs a lock, not a system call, once there are as many
  // as threads that read at once.
  IoQueueLease lease();

 private:
  friend class IoQueueLease;
  void give_back(std::unique_ptr<IoQueue> queue);

  const uint64_t fork_generation_;
  Mutex mutex_;
  std::vector<std::unique_ptr<IoQueue>> idle_ GUARDED_BY(mutex_);
};

inline constexpr uint32_t kIoDepthMax = 4096;
inline constexpr uint32_t kLeasedDepth = 128;

// Queues of the operating system; `io` serves those without io_uring and lives longer.
std::unique_ptr<IoQueues> make_io_queues(Io* io);
// For the simulated machine: all queues are inline ones, whatever is asked for.
std::unique_ptr<IoQueues> make_inline_io_queues();

}  // namespace hawthorn::os
