#include "bench/clock.h"

namespace hawthorn::bench {

double Ticks::ns_per_tick() {
#if defined(__x86_64__)
  static const double rate = [] {
    const auto clock_start = std::chrono::steady_clock::now();
    const uint64_t tick_start = now();
    std::chrono::nanoseconds elapsed{};
    do {
      elapsed = std::chrono::steady_clock::now() - clock_start;
    } while (elapsed < std::chrono::milliseconds(20));
    return static_cast<double>(elapsed.count()) / static_cast<double>(now() - tick_start);
  }();
  return rate;
#else
  return 1e9 * std::chrono::steady_clock::period::num / std::chrono::steady_clock::period::den;
#endif
}

}  // namespace hawthorn::bench
