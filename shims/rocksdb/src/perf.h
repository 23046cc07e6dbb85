#pragma once
// What calls add to the context of their thread (rocksdb/perf_context.h), where the thread asked.
//
//   if (auto* const counts = perf_of_thread.counts) counts->get_read_bytes += bytes;
//   const PerfTimer timer(&rocksdb::PerfContextBase::write_wal_time);   until it goes
//
// Not here: the contexts (perf_context.cc). Threads: each has its own.

#include <time.h>

#include <chrono>
#include <cstdint>
#include <utility>

#include "rocksdb/perf_context.h"

namespace hawthorn::rocks {

// The context, or null where that is not wanted.
struct PerfOfThread {
  rocksdb::PerfContext* counts = nullptr;
  rocksdb::PerfContext* times = nullptr;
  rocksdb::PerfContext* cpu_times = nullptr;
  rocksdb::PerfLevel level = rocksdb::kEnableCount;
  // As the level says; from the first time on.
  void point();
};
extern constinit thread_local PerfOfThread perf_of_thread;

using PerfFigure = uint64_t rocksdb::PerfContextBase::*;

inline void perf_count(PerfFigure figure, uint64_t by = 1) {
  if (rocksdb::PerfContext* const counts = perf_of_thread.counts) [[unlikely]] {
    counts->*figure += by;
  }
}

// Adds nanoseconds, and those of this thread's processor time; null figures take none.
class PerfTimer {
 public:
  explicit PerfTimer(PerfFigure figure, PerfFigure cpu_figure = nullptr)
      : figure_(figure), cpu_figure_(cpu_figure) {
    if (perf_of_thread.times == nullptr) [[likely]] {
      return;
    }
    times_ = perf_of_thread.times;
    began_ = std::chrono::steady_clock::now();
    if (cpu_figure_ == nullptr || perf_of_thread.cpu_times == nullptr) return;
    cpu_times_ = perf_of_thread.cpu_times;
    cpu_began_ = cpu_now();
  }
  ~PerfTimer() {
    if (times_ == nullptr) [[likely]] {
      return;
    }
    if (cpu_times_ != nullptr) cpu_times_->*cpu_figure_ += cpu_now() - cpu_began_;
    if (figure_ == nullptr) return;
    const std::chrono::nanoseconds took = std::chrono::steady_clock::now() - began_;
    times_->*figure_ += static_cast<uint64_t>(took.count());
  }
  PerfTimer(const PerfTimer&) = delete;
  PerfTimer& operator=(const PerfTimer&) = delete;

 private:
  static uint64_t cpu_now() {
    timespec now = {};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
  }

  const PerfFigure figure_;
  const PerfFigure cpu_figure_;
  rocksdb::PerfContext* times_ = nullptr;
  rocksdb::PerfContext* cpu_times_ = nullptr;
  std::chrono::steady_clock::time_point began_;
  uint64_t cpu_began_ = 0;
};

}  // namespace hawthorn::rocks
