#include "os/io.h"

#include <algorithm>
#include <deque>
#include <new>
#include <string>
#include <utility>
#include <vector>

namespace hawthorn::os {

void IoGroup::add(uint32_t requests) {
  MutexLock lock(mutex_);
  pending_ += requests;
}

void IoGroup::done(const Status& status) {
  // The waiter may destroy the group as soon as it can see zero: everything happens under the
  // mutex.
  MutexLock lock(mutex_);
  HAWTHORN_ASSERT(pending_ > 0);
  if (!status.ok() && first_error_.ok()) first_error_ = status;
  if (--pending_ == 0) changed_.notify_all();
}

Status IoGroup::wait() {
  MutexLock lock(mutex_);
  while (pending_ > 0) changed_.wait(mutex_);
  return std::exchange(first_error_, Status());
}

bool IoGroup::idle() const {
  MutexLock lock(mutex_);
  return pending_ == 0;
}

namespace {

void run(const IoRequest& request) {
  const Status status = request.op == IoRequest::Op::kRead
                            ? request.file->read_at(request.offset, {request.data, request.size})
                            : request.file->write_at(request.offset, {request.data, request.size});
  if (request.completed != nullptr) request.completed(request.context, status);
  if (request.group != nullptr) request.group->done(status);
}

void announce(std::span<const IoRequest> requests) {
  for (const IoRequest& request : requests) {
    if (request.group != nullptr) request.group->add(1);
  }
}

class InlineIo : public Io {
 public:
  void submit(std::span<const IoRequest> requests) override {
    announce(requests);
    for (const IoRequest& request : requests) run(request);
  }
};

class PoolIo : public Io {
 public:
  explicit PoolIo(uint32_t threads) : wanted_(threads) {
    MutexLock lock(mutex_);
    threads_.reserve(wanted_);
    start_threads();
  }

  ~PoolIo() override {
    {
      MutexLock lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_all();
    std::vector<Thread> ending;
    {
      MutexLock lock(mutex_);
      ending.swap(threads_);
    }
  }

  void submit(std::span<const IoRequest> requests) override {
    if (requests.empty()) return;
    announce(requests);
    size_t wakes = 0;
    {
      MutexLock lock(mutex_);
      if (threads_.size() < wanted_ && submits_++ % kSubmitsPerTry == 0) start_threads();
      if (!threads_.empty()) {
        try {
          queue_.insert(queue_.end(), requests.begin(), requests.end());
          wakes = std::min<size_t>(requests.size(), sleeping_);
          requests = {};
        } catch (const std::bad_alloc&) {  // nothing was inserted
        }
      }
    }
    for (size_t i = 0; i < wakes; ++i) changed_.notify_one();
    // The system gives no thread, or no memory: the caller does it all.
    for (const IoRequest& request : requests) run(request);
  }

 private:
  // Fewer are slower, and none will do.
  void start_threads() REQUIRES(mutex_) {
    while (threads_.size() < wanted_) {
      Thread thread;
      const std::string name = "hawthorn-io-" + std::to_string(threads_.size());
      if (!thread.start(name, [this] { serve(); }).ok()) return;
      threads_.push_back(std::move(thread));
    }
  }

  // Ends only when the queue is empty: whoever waits for a group is always answered.
  void serve() {
    while (true) {
      IoRequest request;
      {
        MutexLock lock(mutex_);
        while (queue_.empty()) {
          if (stopping_) return;
          ++sleeping_;
          changed_.wait(mutex_);
          --sleeping_;
        }
        request = queue_.front();
        queue_.pop_front();
      }
      run(request);
    }
  }

  Mutex mutex_;
  CondVar changed_;
  std::deque<IoRequest> queue_ GUARDED_BY(mutex_);
  size_t sleeping_ GUARDED_BY(mutex_) = 0;
  bool stopping_ GUARDED_BY(mutex_) = false;
  // How often it is tried to start those that are missing.
  static constexpr uint32_t kSubmitsPerTry = 64;
  const uint32_t wanted_;
  uint32_t submits_ GUARDED_BY(mutex_) = 0;
  std::vector<Thread> threads_ GUARDED_BY(mutex_);
};

}  // namespace

std::unique_ptr<Io> make_pool_io(uint32_t threads) {
  return std::make_unique<PoolIo>(threads == 0 ? 1 : threads);
}

std::unique_ptr<Io> make_inline_io() { return std::make_unique<InlineIo>(); }

}  // namespace hawthorn::os
