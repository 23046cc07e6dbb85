#pragma once
// Brings events to the listeners of a database (Options::listeners), on a thread of its own.
//
//   post ──> queue (bounded) ──> hw-events: complete ──> every listener, in order
//
// Not here: what is told (hawthorn/events.h), and where (os/event_sink.h). Used by impl.h.
// Threads: post from any; pause, resume and stop from one at a time, which is who closes.
//
// 1. What is posted by one thread is delivered in that order, and one event at a time.
// 2. Behind kEventsMax events, or kEventBytesMax of their memory, new ones are dropped and counted;
//    the count is delivered in their place, before anything later.
// 3. While paused no callback runs. stop delivers what is left; what comes later is ignored.

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "hawthorn/options.h"
#include "os/event_sink.h"
#include "os/machine.h"
#include "os/sync.h"

namespace hawthorn::db {

inline constexpr size_t kEventsMax = 4096;
inline constexpr size_t kEventBytesMax = size_t{4} << 20;

class Events final : public os::EventSink {
 public:
  using Listeners = std::vector<std::shared_ptr<EventListener>>;
  // `log` is told of callbacks that throw.
  Events(Listeners listeners, std::function<void(LogLevel, std::string_view)> log);
  ~Events();

  // Adds to an event what its poster does not know (names of trees), on the delivering thread, with
  // no lock held. Before start.
  std::function<void(os::Event&)> complete;
  // Errors: those of starting a thread.
  Status start();
  void post(os::Event event) override EXCLUDES(mutex_);
  // Waits for a callback that runs. Errors: kInvalidArgument on the delivering thread itself.
  Status pause() EXCLUDES(mutex_);
  void resume() EXCLUDES(mutex_);
  void stop() EXCLUDES(mutex_);

 private:
  struct Waiting {
    os::Event event;
    size_t bytes = 0;
    uint64_t dropped = 0;  // behind which so many were lost
  };
  void run() EXCLUDES(mutex_);
  void deliver(Waiting& waiting);
  template <typename Call>
  void call(Call call);

  const Listeners listeners_;
  const std::function<void(LogLevel, std::string_view)> log_;
  os::Mutex mutex_;
  os::CondVar wake_;
  os::CondVar idle_;
  std::deque<Waiting> queue_ GUARDED_BY(mutex_);
  size_t queue_bytes_ GUARDED_BY(mutex_) = 0;
  uint64_t dropped_first_ GUARDED_BY(mutex_) = 0;  // before all that waits
  bool paused_ GUARDED_BY(mutex_) = false;
  bool calling_ GUARDED_BY(mutex_) = false;
  bool stopping_ GUARDED_BY(mutex_) = false;
  os::Thread thread_;
};

// Since when writers wait for flushes, and how many did: one begin and one end for all that
// overlap.
class WriteStalls {
 public:
  void enter(const os::Machine& machine, uint64_t used_bytes, uint64_t quota_bytes)
      EXCLUDES(mutex_);
  void leave(const os::Machine& machine) EXCLUDES(mutex_);

 private:
  os::Mutex mutex_;
  uint64_t inside_ GUARDED_BY(mutex_) = 0;
  uint64_t writers_ GUARDED_BY(mutex_) = 0;
  uint64_t since_us_ GUARDED_BY(mutex_) = 0;
};

}  // namespace hawthorn::db
