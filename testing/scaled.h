#pragma once
// How much of a random test is made: `make test` makes a part of what it is worth making,
// HAWTHORN_SCALE more of it.

#include <stdlib.h>

#include <algorithm>
#include <cstdint>

#include "base/sanitizers.h"

namespace hawthorn::testing {

// A number from the environment, so that a failing run is replayed and a short one made long.
inline uint64_t environment_number(const char* name, uint64_t otherwise) {
  const char* text = getenv(name);
  return text != nullptr && *text != '\0' ? strtoull(text, nullptr, 0) : otherwise;
}

// How many rounds a random test makes of those that it is worth making: HAWTHORN_SCALE quarters, 1
// by default, and half of that under a sanitizer, where each takes three times as long.
inline uint64_t scaled(uint64_t rounds) {
#if defined(HAWTHORN_ASAN)
  constexpr uint64_t kParts = 8;
#else
  constexpr uint64_t kParts = 4;
#endif
  return (rounds * environment_number("HAWTHORN_SCALE", 1) + kParts - 1) / kParts;
}

// Whether all of them are made: HAWTHORN_SCALE is 4, or 8 under a sanitizer.
inline bool is_whole() { return scaled(4) >= 4; }

// The same for a sweep over places that are `step` apart: how far apart those that are visited are.
inline uint64_t scaled_step(uint64_t step) {
  constexpr uint64_t kMany = 1000;
  return std::max(step, step * kMany / scaled(kMany));
}

}  // namespace hawthorn::testing
