#include "os/io_queue.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

#include "os/io_queue_parts.h"

namespace hawthorn::os {
namespace {

// Idle queues that are kept for the next lease: more threads than this seldom read at once.
constexpr size_t kIdleQueuesMax = 64;

class InlineQueue : public IoQueueBase {
 public:
  explicit InlineQueue(uint32_t depth) : depth_(depth) {}

  void submit(std::span<const IoRead> reads) override {
    for (const IoRead& read : reads) {
      finish(read.context, read.file->read_at(read.offset, {read.data, read.size}));
    }
  }
  size_t reap(std::span<IoCompletion> out, size_t /*wait_for*/) override {
    return ready_.pop_into(out);
  }
  size_t in_flight() const override { return ready_.size(); }
  uint32_t depth() const override { return depth_; }
  int event_fd() override { return -1; }
  void wake() override {}
  IoBackend backend() const override { return IoBackend::kInline; }

 private:
  const uint32_t depth_;
};

class InlineQueues : public IoQueues {
 public:
  Result<std::unique_ptr<IoQueue>> create(uint32_t depth, IoBackend /*backend*/) override {
    return make_inline_queue(depth);
  }
  IoBackend backend() override { return IoBackend::kInline; }
  Status uring_status() override {
    return Status(StatusCode::kNotSupported, "io_uring is not used: the machine is simulated");
  }
};

class RealQueues : public IoQueues {
 public:
  explicit RealQueues(Io* io) : io_(io) {}

  Result<std::unique_ptr<IoQueue>> create(uint32_t depth, IoBackend backend) override {
    // The lock below may have been held by a thread that the child of a fork does not have.
    if (fork_generation_ != fork_generation()) {
      if (backend == IoBackend::kAuto) return make_inline_queue(depth);
      return Status(StatusCode::kForked, "I/O queues were set up by the parent process");
    }
    if (backend == IoBackend::kInline) return make_inline_queue(depth);
    if (backend == IoBackend::kThreads) return make_thread_queue(io_, depth);
    Status status = uring_status();
    if (status.ok()) {
      Result<std::unique_ptr<IoQueue>> queue = make_uring_queue(depth);
      if (queue.ok()) return queue;
      status = queue.status();
    }
    if (backend == IoBackend::kUring) return status;
    return make_thread_queue(io_, depth);
  }

  IoBackend backend() override {
    if (fork_generation_ != fork_generation()) return IoBackend::kInline;
    return uring_status().ok() ? IoBackend::kUring : IoBackend::kThreads;
  }

  Status uring_status() override {
    if (fork_generation_ != fork_generation()) {
      return Status(StatusCode::kForked, "I/O queues were set up by the parent process");
    }
    MutexLock lock(mutex_);
    if (!uring_status_.has_value()) uring_status_ = probe_uring();
    return *uring_status_;
  }

 private:
  Io* const io_;
  const uint64_t fork_generation_ = fork_generation();
  Mutex mutex_;
  std::optional<Status> uring_status_ GUARDED_BY(mutex_);
};

}  // namespace

std::string_view io_backend_name(IoBackend backend) {
  switch (backend) {
    case IoBackend::kAuto:
      return "auto";
    case IoBackend::kUring:
      return "io_uring";
    case IoBackend::kThreads:
      return "threads";
    case IoBackend::kInline:
      return "inline";
  }
  return "unknown";
}

void EventFd::close() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

bool EventFd::open() {
  fd_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  return fd_ >= 0;
}

void EventFd::signal() {
  const uint64_t one = 1;
  // EAGAIN: the counter is full, so the descriptor is readable.
  while (write(fd_, &one, sizeof(one)) < 0 && errno == EINTR) {
  }
}

void EventFd::drain() {
  uint64_t count = 0;
  while (read(fd_, &count, sizeof(count)) < 0 && errno == EINTR) {
  }
}

void IoQueueBase::refuse(std::span<const IoRead> reads) {
  for (const IoRead& read : reads) {
    finish(read.context,
           Status(StatusCode::kForked, read.file->path() + ": the queue is the parent process's"));
  }
}

bool IoQueueBase::done_inside(const IoRead& read) {
  if (read.size > 0 && read.file->descriptor() >= 0) return false;
  finish(read.context, read.file->read_at(read.offset, {read.data, read.size}));
  return true;
}

size_t IoQueueBase::take(std::span<IoCompletion> out) {
  const size_t count = ready_.pop_into(out);
  if (!forked()) in_flight_ -= count;
  return count;
}

std::unique_ptr<IoQueue> make_inline_queue(uint32_t depth) {
  return std::make_unique<InlineQueue>(std::clamp(depth, 1U, kIoDepthMax));
}

std::unique_ptr<IoQueues> make_io_queues(Io* io) { return std::make_unique<RealQueues>(io); }

std::unique_ptr<IoQueues> make_inline_io_queues() { return std::make_unique<InlineQueues>(); }

IoQueueLease::IoQueueLease(IoQueues* owner, std::unique_ptr<IoQueue> queue)
    : owner_(owner), queue_(std::move(queue)) {}

IoQueueLease::~IoQueueLease() {
  if (queue_ != nullptr) owner_->give_back(std::move(queue_));
}

IoQueues::IoQueues() : fork_generation_(fork_generation()) {}

IoQueues::~IoQueues() = default;

IoQueueLease IoQueues::lease() {
  // The queues of a parent process, and the lock around them, are of no use to its child.
  if (fork_generation_ == fork_generation()) {
    MutexLock lock(mutex_);
    if (!idle_.empty()) {
      IoQueueLease lease(this, std::move(idle_.back()));
      idle_.pop_back();
      return lease;
    }
  }
  Result<std::unique_ptr<IoQueue>> queue = create(kLeasedDepth, IoBackend::kAuto);
  HAWTHORN_ASSERT(queue.ok());
  return IoQueueLease(this, std::move(*queue));
}

void IoQueues::give_back(std::unique_ptr<IoQueue> queue) {
  IoCompletion dropped[16];
  while (queue->reap(dropped, 1) > 0) {
  }
  if (fork_generation_ != fork_generation()) return;
  MutexLock lock(mutex_);
  if (idle_.size() < kIdleQueuesMax) idle_.push_back(std::move(queue));
}

}  // namespace hawthorn::os
