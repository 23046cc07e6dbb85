#pragma once
// Reads that do not wait for the disk: many gets on their way at once, from one thread.
//
//   auto queue = db->read_queue({.depth = 32}).value();
//   queue->get_async(tree, "ada", [](const hawthorn::Status& s, hawthorn::Value& v) { ... });
//   while (queue->pending() > 0) queue->wait();           // completions run in here
//
// In an event loop, poll event_fd() for reading and call poll() when it is readable. In a
// coroutine, `hawthorn::GetResult r = co_await queue->get(tree, "ada");` goes on in a later poll()
// or wait().
//
// Threads: a queue belongs to one thread at a time; a program with several threads makes one each.
// Lifetime: destroy it before its Db is closed; Db::close returns kBusy otherwise. A queue that is
// destroyed with reads pending waits for the disk; their completions are not called, and coroutines
// that wait are not resumed.

#include <coroutine>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "hawthorn/export.h"
#include "hawthorn/status.h"
#include "hawthorn/value.h"

namespace hawthorn {

class Tree;
struct ReadOptions;

struct ReadQueueOptions {
  // Reads of the disk under way at once, 1 to 4096; more gets than that wait in the queue. 16 keeps
  // most devices busy from two threads; latency grows with more.
  uint32_t depth = 16;
};

// What a coroutine gets.
struct GetResult {
  Status status;  // as of Db::get
  Value value;
};

class HAWTHORN_EXPORT ReadQueue {
 public:
  // Called once for each get, inside poll or wait, never inside get_async. The value may be moved
  // from. It may start other gets; it must not destroy the queue, nor throw.
  using Completion = std::function<void(const Status& status, Value& value)>;

  ~ReadQueue();
  ReadQueue(const ReadQueue&) = delete;
  ReadQueue& operator=(const ReadQueue&) = delete;

  // Begins a get; the key is copied. With a snapshot in the options, that must live until the
  // completion. Errors, to the completion: those of Db::get. What is read from disk for it without
  // queueing, and so waits: the index of a part of the tree whose index is not in memory. Of values
  // above 64 KB a few are read at once, with 256 KB of the memory budget each.
  void get_async(const Tree& tree, std::string_view key, Completion completion,
                 const ReadOptions& options);
  void get_async(const Tree& tree, std::string_view key, Completion completion);

  // Runs the completions of what is done, and sends off what can be; returns how many ran.
  size_t poll();
  // The same, and waits until at least one ran; 0 when nothing was pending.
  size_t wait();
  // Gets whose completion has not run yet.
  size_t pending() const;

  // Readable when poll would run something, and now and then when it would not. For poll and epoll
  // only: not to be read, written or closed. -1 where the system refuses one more descriptor.
  // Lifetime: the queue's.
  int event_fd();

  // co_await queue.get(tree, key): a GetResult. The key must live until then.
  class Awaiting;
  Awaiting get(const Tree& tree, std::string_view key);

  class HAWTHORN_HIDDEN Impl;

 private:
  friend class Db;
  explicit ReadQueue(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

class ReadQueue::Awaiting {
 public:
  Awaiting(ReadQueue* queue, const Tree* tree, std::string_view key)
      : queue_(queue), tree_(tree), key_(key) {}
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> waiting) {
    queue_->get_async(*tree_, key_, [this, waiting](const Status& status, Value& value) {
      result_.status = status;
      result_.value = std::move(value);
      waiting.resume();
    });
  }
  GetResult await_resume() { return std::move(result_); }

 private:
  ReadQueue* queue_;
  const Tree* tree_;
  std::string_view key_;
  GetResult result_;
};

inline ReadQueue::Awaiting ReadQueue::get(const Tree& tree, std::string_view key) {
  return Awaiting(this, &tree, key);
}

}  // namespace hawthorn
