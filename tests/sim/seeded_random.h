#pragma once
// Makes libcrypto's random numbers follow from a seed, for the rest of the process. Used by
// simulation.cc only. Threads: before any other.

#include <cstdint>

namespace hawthorn::tests {

void seed_random(uint64_t seed);

}  // namespace hawthorn::tests
