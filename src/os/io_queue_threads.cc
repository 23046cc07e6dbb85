// The reads of a queue on the pool of threads of io.h.
//
// Threads: the owner's, and those of the pool in on_done; what they share is guarded by the mutex.
//
// 1. A slot belongs to the pool from the submit of its read until on_done has entered it in done_.
// 2. on_done does everything under the mutex: the owner may destroy the queue once it has seen all
//    slots in done_.

#include <algorithm>
#include <utility>

#include "os/io_queue_parts.h"

namespace hawthorn::os {
namespace {

class ThreadQueue : public IoQueueBase {
 public:
  ThreadQueue(Io* io, uint32_t depth) : io_(io), slots_(depth) {
    free_.reserve(depth);
    for (Slot& slot : slots_) {
      slot.queue = this;
      free_.push_back(&slot);
    }
  }

  ~ThreadQueue() override {
    if (forked()) return;
    waiting_.clear();
    while (running() > 0) collect(running());
  }

  void submit(std::span<const IoRead> reads) override {
    if (forked()) return refuse(reads);
    for (const IoRead& read : reads) {
      ++in_flight_;
      if (!done_inside(read)) waiting_.push(read);
    }
    start();
    note_ready();
  }

  size_t reap(std::span<IoCompletion> out, size_t wait_for) override {
    if (forked()) return take(out);
    wait_for = std::min({wait_for, out.size(), in_flight_});
    collect(0);
    size_t count = take(out);
    start();
    while (count < wait_for) {
      collect(std::min(wait_for - count, running()));
      start();
      count += take(out.subspan(count));
    }
    note_ready();
    return count;
  }

  uint32_t depth() const override { return static_cast<uint32_t>(slots_.size()); }

  void wake() override {
    MutexLock lock(mutex_);
    if (event_.is_open()) event_.signal();
  }

  int event_fd() override {
    if (forked()) return -1;
    MutexLock lock(mutex_);
    if (!event_.is_open() && event_.open() && (!ready_.empty() || !done_.empty())) event_.signal();
    return event_.fd();
  }

  IoBackend backend() const override { return IoBackend::kThreads; }

 private:
  struct Slot {
    ThreadQueue* queue = nullptr;
    void* context = nullptr;
  };
  struct Done {
    Slot* slot = nullptr;
    Status status;
  };

  size_t running() const { return slots_.size() - free_.size(); }

  void start() {
    batch_.clear();
    while (!waiting_.empty() && !free_.empty()) {
      const IoRead read = waiting_.pop();
      Slot* const slot = free_.back();
      free_.pop_back();
      slot->context = read.context;
      batch_.push_back({.op = IoRequest::Op::kRead,
                        .file = read.file,
                        .offset = read.offset,
                        .data = read.data,
                        .size = read.size,
                        .completed = &on_done,
                        .context = slot});
    }
    if (!batch_.empty()) io_->submit(batch_);
  }

  static void on_done(void* context, const Status& status) {
    Slot* const slot = static_cast<Slot*>(context);
    ThreadQueue& queue = *slot->queue;
    MutexLock lock(queue.mutex_);
    queue.done_.push_back({slot, status});
    if (queue.wanted_ > 0 && queue.done_.size() >= queue.wanted_) queue.changed_.notify_one();
    if (queue.event_.is_open() && queue.done_.size() == 1) queue.event_.signal();
  }

  // Makes what the pool has done ready, after a wait until that is `wait_for`.
  void collect(size_t wait_for) {
    {
      MutexLock lock(mutex_);
      wanted_ = wait_for;
      while (done_.size() < wait_for) changed_.wait(mutex_);
      wanted_ = 0;
      collected_.swap(done_);
      if (event_.is_open()) event_.drain();
    }
    for (Done& done : collected_) {
      free_.push_back(done.slot);
      finish(done.slot->context, std::move(done.status));
    }
    collected_.clear();
  }

  // What stays ready keeps the descriptor readable.
  void note_ready() {
    if (ready_.empty()) return;
    MutexLock lock(mutex_);
    if (event_.is_open()) event_.signal();
  }

  Io* const io_;
  std::vector<Slot> slots_;
  std::vector<Slot*> free_;
  Fifo<IoRead> waiting_;
  std::vector<IoRequest> batch_;
  std::vector<Done> collected_;
  Mutex mutex_;
  CondVar changed_;
  std::vector<Done> done_ GUARDED_BY(mutex_);
  size_t wanted_ GUARDED_BY(mutex_) = 0;  // what the owner waits for; 0: it does not
  EventFd event_ GUARDED_BY(mutex_);
};

}  // namespace

std::unique_ptr<IoQueue> make_thread_queue(Io* io, uint32_t depth) {
  return std::make_unique<ThreadQueue>(io, std::clamp(depth, 1U, kIoDepthMax));
}

}  // namespace hawthorn::os
