#include "os/io_limit.h"

#include <algorithm>
#include <cmath>

namespace hawthorn::os {

namespace {
constexpr double kSecondUs = 1e6;
constexpr double kSavedSeconds = 0.1;
constexpr double kUrgentSeconds = 1;
constexpr uint64_t kSliceUs = 10'000;  // a change of the rate is seen after that

thread_local IoLimit::Scope* current = nullptr;
}  // namespace

void IoLimit::set_rate(uint64_t bytes_per_second) {
  MutexLock lock(mutex_);
  rate_.store(bytes_per_second, std::memory_order_relaxed);
  tokens_ = 0;
  filled_us_ = clock_->monotonic_us();
}

void IoLimit::refill() {
  const uint64_t now = clock_->monotonic_us();
  const auto rate = static_cast<double>(rate_.load(std::memory_order_relaxed));
  const auto passed = static_cast<double>(now - std::min(now, filled_us_));
  tokens_ = std::min(tokens_ + rate * passed / kSecondUs, rate * kSavedSeconds);
  filled_us_ = now;
}

void IoLimit::count(uint64_t bytes, bool urgent) {
  (urgent ? urgent_bytes_ : bytes_).fetch_add(bytes, std::memory_order_relaxed);
  if (rate() == 0) return;
  MutexLock lock(mutex_);
  refill();
  const auto rate = static_cast<double>(rate_.load(std::memory_order_relaxed));
  const double left = tokens_ - static_cast<double>(bytes);
  tokens_ = urgent ? std::max(left, std::min(tokens_, -rate * kUrgentSeconds)) : left;
}

uint64_t IoLimit::wait_us() {
  if (rate() == 0) return 0;
  MutexLock lock(mutex_);
  const auto rate = static_cast<double>(rate_.load(std::memory_order_relaxed));
  if (rate == 0) return 0;
  refill();
  if (tokens_ >= 0) return 0;
  return static_cast<uint64_t>(std::ceil(-tokens_ / rate * kSecondUs));
}

void IoLimit::await() {
  for (uint64_t left = wait_us(); left > 0; left = wait_us()) {
    const uint64_t slice = std::min(left, kSliceUs);
    clock_->sleep_us(slice);
    count_wait(slice);
  }
}

IoLimit::Scope::Scope(IoLimit* limit, bool urgent)
    : limit_(limit), urgent_(urgent), outer_(current) {
  current = this;
}

IoLimit::Scope::~Scope() { current = outer_; }

void IoLimit::note(uint64_t bytes) {
  const Scope* const scope = current;
  if (scope != nullptr && scope->limit_ != nullptr) scope->limit_->count(bytes, scope->urgent_);
}

}  // namespace hawthorn::os
