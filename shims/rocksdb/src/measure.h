#pragma once
// What a call adds to a program's statistics, which there may be none of.
//
//   Measured call(statistics, rocksdb::DB_WRITE);   measures until it goes
//   call.count(rocksdb::BYTES_WRITTEN, bytes);
//
// Not here: the figures (rocksdb/statistics.h). Used by DBImpl. Threads: one.

#include <chrono>

#include "rocksdb/statistics.h"

namespace hawthorn::rocks {

class Measured {
 public:
  Measured(rocksdb::Statistics* to, uint32_t histogram) : to_(to), histogram_(histogram) {
    if (to_ == nullptr) [[likely]] {
      return;
    }
    timed_ = to_->get_stats_level() > rocksdb::kExceptTimers;
    if (timed_) began_ = std::chrono::steady_clock::now();
  }
  ~Measured() {
    if (!timed_) return;
    const auto took = std::chrono::steady_clock::now() - began_;
    to_->reportTimeToHistogram(
        histogram_,
        static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(took).count()));
  }
  Measured(const Measured&) = delete;
  Measured& operator=(const Measured&) = delete;

  explicit operator bool() const { return to_ != nullptr; }
  void count(uint32_t ticker, uint64_t count) const { to_->recordTick(ticker, count); }
  void size(uint32_t histogram, uint64_t bytes) const { to_->recordInHistogram(histogram, bytes); }

 private:
  rocksdb::Statistics* const to_;
  const uint32_t histogram_;
  bool timed_ = false;
  std::chrono::steady_clock::time_point began_;
};

}  // namespace hawthorn::rocks
