#pragma once
// Shows how far a long piece of work is: what was done, the rate, the time left. On standard error,
// so that it never mixes with data.
//
// Threads: one object, one thread; PolledProgress has one of its own.
//
// 1. Silent unless standard error is a terminal or the user asked for it; on a terminal that was
//    not asked for, for two seconds.
// 2. A terminal shows one line that is rewritten; anything else gets a line a second.

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace hawthorn::tools {

// "1.23 M" and "1.50 GB": three digits and a unit.
std::string short_count(double count);
std::string short_bytes(double bytes);
// "9:07" or "2:03:59".
std::string short_time(double seconds);

enum class ProgressShow : uint8_t { kOnTerminal, kAlways, kNever };
// As --progress and --quiet say.
inline ProgressShow progress_show(bool asked_for, bool quiet) {
  return quiet       ? ProgressShow::kNever
         : asked_for ? ProgressShow::kAlways
                     : ProgressShow::kOnTerminal;
}

class Progress {
 public:
  enum class Unit : uint8_t { kEntries, kBytes, kContainers };

  Progress(std::string_view verb, Unit unit, ProgressShow show);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // total 0: unknown, then no time left is shown. Costs almost nothing between two refreshes.
  void update(uint64_t done, uint64_t total) {
    if (shown_ && --calls_until_look_ == 0) look(done, total);
  }
  // The same of what comes in large steps: looks at the clock each time.
  void update_step(uint64_t done, uint64_t total) {
    if (shown_) look(done, total);
  }
  bool shown() const { return shown_; }
  // When a line can be there for the first time, and how often another.
  std::chrono::milliseconds first_after() const;
  std::chrono::milliseconds period() const;
  double seconds() const;

 private:
  using Clock = std::chrono::steady_clock;
  void look(uint64_t done, uint64_t total);

  std::string verb_;
  Unit unit_;
  bool terminal_;
  bool asked_for_;
  bool shown_;
  bool line_open_ = false;
  uint32_t calls_until_look_ = 1;
  Clock::time_point start_;
  Clock::time_point next_;
};

// While it is there, a thread asks now and then how far something is that does not tell by itself.
class PolledProgress {
 public:
  struct Point {
    uint64_t done = 0;
    uint64_t total = 0;
  };
  PolledProgress(std::string_view verb, Progress::Unit unit, ProgressShow show,
                 std::function<Point()> ask);
  ~PolledProgress();
  PolledProgress(const PolledProgress&) = delete;
  PolledProgress& operator=(const PolledProgress&) = delete;

 private:
  void run();

  Progress progress_;
  const std::function<Point()> ask_;
  std::mutex mutex_;
  std::condition_variable ends_;
  bool ended_ = false;
  std::thread thread_;
};

}  // namespace hawthorn::tools
