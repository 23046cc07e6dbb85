#pragma once
// How tests wait for what another thread or process does, where it cannot tell them: they look
// again and again, until it is so.
//
// No test says how long something takes. kHangLimit only ends a test whose wait would never end,
// with a message in place of a timeout of the whole program; it is far more than a slow machine
// with other work needs. Used by tests. Threads: any.

#include <chrono>
#include <cstdint>
#include <thread>

namespace hawthorn::testing {

inline constexpr std::chrono::minutes kHangLimit{4};
inline constexpr uint64_t kHangLimitMs = std::chrono::milliseconds(kHangLimit).count();

// Until `done()` is true; false: it hangs.
template <typename Done>
[[nodiscard]] bool wait_until(Done done) {
  const auto end = std::chrono::steady_clock::now() + kHangLimit;
  while (!done()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

}  // namespace hawthorn::testing
