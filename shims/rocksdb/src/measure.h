#pragma once
// What a call adds to a program's statistics, which there may be none of.
//
//   Measured call(statistics, rocksdb::DB_WRITE);   measures until it goes
//   call.count(rocksdb::BYTES_WRITTEN, bytes);
//
// A figure of the thread's context takes the same time, where it is wanted (perf.h).
//
// Not here: the figures (rocksdb/statistics.h). Used by DBImpl and transactions. Threads: one.

#include <chrono>

#include "rocksdb/statistics.h"
#include "shims/rocksdb/src/perf.h"

namespace hawthorn::rocks {

class Measured {
 public:
  Measured(rocksdb::Statistics* to, uint32_t histogram, PerfFigure figure = nullptr,
           PerfFigure cpu_figure = nullptr)
      : to_(to), histogram_(histogram), timer_(figure, cpu_figure) {
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
  const PerfTimer timer_;
  bool timed_ = false;
  std::chrono::steady_clock::time_point began_;
};

// Adds the nanoseconds until it goes to a ticker, where times of that level are wanted.
class TimedTick {
 public:
  TimedTick(rocksdb::Statistics* to, uint32_t ticker, rocksdb::StatsLevel above)
      : to_(to != nullptr && to->get_stats_level() > above ? to : nullptr), ticker_(ticker) {
    if (to_ != nullptr) began_ = std::chrono::steady_clock::now();
  }
  ~TimedTick() {
    if (to_ == nullptr) return;
    const std::chrono::nanoseconds took = std::chrono::steady_clock::now() - began_;
    to_->recordTick(ticker_, static_cast<uint64_t>(took.count()));
  }
  TimedTick(const TimedTick&) = delete;
  TimedTick& operator=(const TimedTick&) = delete;

 private:
  rocksdb::Statistics* const to_;
  const uint32_t ticker_;
  std::chrono::steady_clock::time_point began_;
};

// Of a status of the engine's or of RocksDB's.
template <typename Status>
void count_write(const Measured& call, const Status& status, uint64_t keys, uint64_t bytes) {
  if (!call || !status.ok()) return;
  call.count(rocksdb::NUMBER_KEYS_WRITTEN, keys);
  call.count(rocksdb::BYTES_WRITTEN, bytes);
  call.count(rocksdb::WRITE_DONE_BY_SELF, 1);
  call.count(rocksdb::WRITE_WITH_WAL, 1);
  call.size(rocksdb::BYTES_PER_WRITE, bytes);
}

}  // namespace hawthorn::rocks
