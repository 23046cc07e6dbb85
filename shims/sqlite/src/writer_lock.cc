#include "shims/sqlite/src/writer_lock.h"

#include <algorithm>
#include <thread>

namespace hawthorn::sqlite {

bool WriterLock::lock(int64_t wait_ms) {
  std::unique_lock<std::mutex> guard(mutex_);
  if (is_free()) {
    held_ = true;
    return true;
  }
  if (wait_ms <= 0) return false;
  for (int look = 0; look < kLooks; ++look) {
    guard.unlock();
    std::this_thread::yield();
    guard.lock();
    if (!is_free()) continue;
    held_ = true;
    return true;
  }
  Waiter self;
  self.since = Clock::now();
  const auto place = waiters_.insert(waiters_.end(), &self);
  const auto deadline = self.since + std::chrono::milliseconds(wait_ms);
  self.woken.wait_until(guard, deadline, [&] { return self.has_it || is_free(); });
  if (self.has_it) return true;  // and no waiter any more
  waiters_.erase(place);
  if (is_free()) {
    held_ = true;
    return true;
  }
  // Those that it has held up.
  if (waiters_.empty()) for_shared_.notify_all();
  return false;
}

// Nobody has it: to the first writer that waits, at once or as soon as it is awake.
void WriterLock::pass_on() {
  if (waiters_.empty()) return;
  Waiter* const first = waiters_.front();
  if (Clock::now() - first->since > kPatience) {
    held_ = true;
    first->has_it = true;
    waiters_.pop_front();
  }
  first->woken.notify_one();
}

void WriterLock::unlock() {
  const std::lock_guard<std::mutex> guard(mutex_);
  held_ = false;
  shared_first_ = shared_waiting_;
  if (shared_first_ != 0) {
    for_shared_.notify_all();
  } else {
    pass_on();
  }
}

uint64_t WriterLock::waiting() const {
  const std::lock_guard<std::mutex> guard(mutex_);
  return waiters_.size() + shared_waiting_;
}

bool WriterLock::lock_shared(int64_t wait_ms) {
  std::unique_lock<std::mutex> guard(mutex_);
  bool has_it = is_free_to_share();
  if (!has_it && wait_ms > 0) {
    ++shared_waiting_;
    has_it = for_shared_.wait_for(guard, std::chrono::milliseconds(wait_ms),
                                  [this] { return is_free_to_share(); });
    --shared_waiting_;
    if (has_it && shared_first_ != 0) --shared_first_;
    shared_first_ = std::min(shared_first_, shared_waiting_);
    if (!has_it && is_free()) pass_on();
  }
  if (has_it) ++shared_;
  return has_it;
}

void WriterLock::unlock_shared() {
  const std::lock_guard<std::mutex> guard(mutex_);
  --shared_;
  if (is_free()) pass_on();
}

}  // namespace hawthorn::sqlite
