#pragma once
// Makes libcrypto's random numbers follow from a seed, until the next call, so that keys and nonces
// of an encrypted database are the same again. Used by tests/sim and fuzz/. Threads: no other one
// of an engine may run, but by turns.

#include <cstdint>

namespace hawthorn::testing {

void seed_random(uint64_t seed);

}  // namespace hawthorn::testing
