#pragma once
// Databases that are told when a figure changes that a program has given to several of them: the
// capacity of a cache, the limit of a rate limiter.
//
// Threads: any. A subscriber is called under the lock, so that it is there; it must not add or
// remove one.

#include <cstddef>
#include <functional>
#include <mutex>
#include <vector>

namespace hawthorn::rocks {

// What a database is to the objects that its options name.
class Subscriber {
 public:
  virtual void memory_changed() = 0;
  virtual void rate_changed() = 0;
  // Statistics are about to be read: tickers that are figures of the engine are due.
  virtual void figures_asked() = 0;
  // Bytes of data in memory, and of those that cannot leave it.
  virtual size_t memory_used() = 0;
  virtual size_t memory_pinned() = 0;

 protected:
  ~Subscriber() = default;
};

class Subscribers {
 public:
  void add(Subscriber* subscriber) {
    const std::lock_guard lock(mutex_);
    list_.push_back(subscriber);
  }
  void remove(Subscriber* subscriber) {
    const std::lock_guard lock(mutex_);
    std::erase(list_, subscriber);
  }
  template <typename Function>
  void each(const Function& function) const {
    const std::lock_guard lock(mutex_);
    for (Subscriber* subscriber : list_) function(*subscriber);
  }

 private:
  mutable std::mutex mutex_;
  std::vector<Subscriber*> list_;
};

}  // namespace hawthorn::rocks
