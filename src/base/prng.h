#pragma once
// A small, fast, reproducible random number generator (xoshiro256**, seeded by splitmix64): the
// same seed gives the same numbers on every machine.
//
// Not here: unpredictable numbers (os/machine.h). Used by tests, generators, and for jitter.
// Threads: one object from one thread at a time.

#include <array>
#include <bit>
#include <cstdint>

namespace hawthorn {

// One step of splitmix64: advances the state and returns a well-mixed number.
inline uint64_t splitmix64(uint64_t& state) {
  uint64_t z = (state += 0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

// A good hash of one number.
inline uint64_t mix64(uint64_t value) { return splitmix64(value); }

class Prng {
 public:
  using result_type = uint64_t;

  explicit Prng(uint64_t seed) {
    for (uint64_t& word : state_) word = splitmix64(seed);
  }

  uint64_t next() {
    const uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
    const uint64_t t = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= t;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }

  // A number in [0, bound), bound > 0; its bias is below bound / 2^64.
  uint64_t below(uint64_t bound) { return multiply_high(next(), bound); }
  // A number in [low, high].
  uint64_t between(uint64_t low, uint64_t high) {
    const uint64_t count = high - low + 1;
    return count == 0 ? next() : low + below(count);
  }
  // True once in `n` times.
  bool one_in(uint64_t n) { return below(n) == 0; }
  // A number in [0, 1).
  double unit() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

  // For the algorithms of the standard library.
  static constexpr uint64_t min() { return 0; }
  static constexpr uint64_t max() { return ~uint64_t{0}; }
  uint64_t operator()() { return next(); }

 private:
  static uint64_t multiply_high(uint64_t a, uint64_t b) {
    __extension__ using Wide = unsigned __int128;
    return static_cast<uint64_t>((static_cast<Wide>(a) * b) >> 64);
  }

  std::array<uint64_t, 4> state_;
};

}  // namespace hawthorn
