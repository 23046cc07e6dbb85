#pragma once
// Shows how far a long piece of work is: what was done, the rate, the time left. On standard error,
// so that it never mixes with data.
//
// Threads: one object, one thread.
//
// 1. Silent unless standard error is a terminal or the user asked for it.
// 2. A terminal shows one line that is rewritten; anything else gets a line a second.

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace hawthorn::tools {

// "1.23 M" and "1.50 GB": three digits and a unit.
std::string short_count(double count);
std::string short_bytes(double bytes);
// "9:07" or "2:03:59".
std::string short_time(double seconds);

class Progress {
 public:
  enum class Unit : uint8_t { kEntries, kBytes, kContainers };

  Progress(std::string_view verb, Unit unit, bool wanted);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // total 0: unknown, then no time left is shown. Costs almost nothing between two refreshes.
  void update(uint64_t done, uint64_t total) {
    if (shown_ && --calls_until_look_ == 0) look(done, total);
  }
  double seconds() const;

 private:
  using Clock = std::chrono::steady_clock;
  void look(uint64_t done, uint64_t total);

  std::string verb_;
  Unit unit_;
  bool terminal_;
  bool shown_;
  bool line_open_ = false;
  uint32_t calls_until_look_ = 1;
  Clock::time_point start_;
  Clock::time_point next_;
};

}  // namespace hawthorn::tools
