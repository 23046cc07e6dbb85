#pragma once
// Time stamps for loops in which an ordinary clock read would be felt: the processor's own counter
// where it runs at a constant rate, the steady clock elsewhere.
//
// Used by every workload. Threads: any.

#include <chrono>
#include <cstdint>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace hawthorn::bench {

class Ticks {
 public:
  static uint64_t now() {
#if defined(__x86_64__)
    return __rdtsc();
#else
    return static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
#endif
  }

  // Measured once, on first use, in some milliseconds: call calibrate() before timing starts.
  static double ns_per_tick();
  static void calibrate() { (void)ns_per_tick(); }

  static double seconds(uint64_t ticks) {
    return static_cast<double>(ticks) * ns_per_tick() * 1e-9;
  }
  static uint64_t ns(uint64_t ticks) {
    return static_cast<uint64_t>(static_cast<double>(ticks) * ns_per_tick());
  }
};

class Stopwatch {
 public:
  Stopwatch() : start_(std::chrono::steady_clock::now()) {}
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_;
};

}  // namespace hawthorn::bench
