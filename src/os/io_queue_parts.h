#pragma once
// What the kinds of IoQueue have in common. Used by io_queue*.cc only.
//
// Threads: as IoQueue, but for EventFd, which says its own.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "os/fork.h"
#include "os/io_queue.h"

namespace hawthorn::os {

// First in, first out, in memory that is kept: no allocation once it was as long as it gets.
template <typename T>
class Fifo {
 public:
  bool empty() const { return head_ == items_.size(); }
  size_t size() const { return items_.size() - head_; }
  T& front() { return items_[head_]; }
  void push(T item) {
    // What was taken is dropped when it is more than what is left: each item moves once at most
    // on average.
    if (items_.size() == items_.capacity() && head_ > items_.size() / 2) {
      items_.erase(items_.begin(), items_.begin() + static_cast<ptrdiff_t>(head_));
      head_ = 0;
    }
    items_.push_back(std::move(item));
  }
  T pop() {
    T item = std::move(items_[head_++]);
    if (empty()) clear();
    return item;
  }
  // As many as there are and fit; returns how many.
  size_t pop_into(std::span<T> out) {
    const size_t count = std::min(out.size(), size());
    for (size_t i = 0; i < count; ++i) out[i] = pop();
    return count;
  }
  void clear() {
    items_.clear();
    head_ = 0;
  }

 private:
  std::vector<T> items_;
  size_t head_ = 0;
};

// A descriptor that somebody polls. Threads: open is called once, before or under the lock that
// orders it with the others; signal and drain by any.
class EventFd {
 public:
  EventFd() = default;
  ~EventFd() { close(); }
  EventFd(const EventFd&) = delete;
  EventFd& operator=(const EventFd&) = delete;
  // False when the system refuses.
  bool open();
  void close();
  bool is_open() const { return fd_ >= 0; }
  int fd() const { return fd_; }
  void signal();
  void drain();

 private:
  int fd_ = -1;
};

// Counts what is in flight and keeps what is done but not reported.
class IoQueueBase : public IoQueue {
 public:
  // In a child of fork only what was done before the fork, or refused since, can still be reported.
  size_t in_flight() const override { return forked() ? ready_.size() : in_flight_; }

 protected:
  bool forked() const { return fork_generation_ != fork_generation(); }
  // Answers reads that are submitted in a child of fork.
  void refuse(std::span<const IoRead> reads);
  // Reads that need no system call of this queue are done here; false: this one does.
  bool done_inside(const IoRead& read);
  void finish(void* context, Status status) { ready_.push({context, std::move(status)}); }
  // Moves what is ready; returns how many.
  size_t take(std::span<IoCompletion> out);

  const uint64_t fork_generation_ = fork_generation();
  Fifo<IoCompletion> ready_;
  size_t in_flight_ = 0;
};

// The reads of a queue run inside submit.
std::unique_ptr<IoQueue> make_inline_queue(uint32_t depth);
// The reads run on the threads of `io`, at most `depth` at once.
std::unique_ptr<IoQueue> make_thread_queue(Io* io, uint32_t depth);
// A ring of its own. kNotSupported, with the system's words, when there can be none.
Result<std::unique_ptr<IoQueue>> make_uring_queue(uint32_t depth);
// Makes a ring and reads through it, as reads of files will be: OK when that works.
Status probe_uring();

}  // namespace hawthorn::os
