#pragma once
// Random delays at the seams of the machine: before file operations, locks, waits, wake-ups, thread
// starts and clock reads, a thread sometimes yields its core, or sleeps. Orders of events that a
// test never meets on an idle machine are met then. They are off unless the environment variable
// HAWTHORN_DELAYS has a value, which is the seed: `scripts/chance.sh delays` runs all tests so.
//
// Not here: who decides on the simulated machine (schedule.h), whose threads are never delayed.
//
// Builds without HAWTHORN_TEST_POINTS (test_point.h) compile them to nothing. With them, a point
// costs one relaxed load while they are off.
//
// 1. The n-th thread that reaches a point takes the same decisions at its own points for the same
//    seed. Which thread is the n-th is up to the system, so a seed does not repeat a run.
// 2. A point neither locks nor allocates, and keeps errno.

#include <cstdint>
#include <string_view>

namespace hawthorn::os {

// How much a seam delays goes by how often threads pass it.
enum class Seam : uint8_t {
  kLock,       // locks, clock reads, test points: one in 2,048 sleeps
  kOperation,  // file operations, waits, wake-ups, thread starts: one in 64 sleeps
};

#if defined(HAWTHORN_TEST_POINTS)
void delay_point(Seam seam);

struct DelaysTaken {
  uint64_t yields = 0;
  uint64_t sleeps = 0;
};
// Of all threads, since the process began.
DelaysTaken delays_taken();
// In place of the environment's. Any text is a seed; empty: no delays. For tests, while no other
// thread reaches points. The next thread that reaches one is the first again.
void set_delays(std::string_view seed);
#else
inline void delay_point(Seam /*seam*/) {}
#endif

}  // namespace hawthorn::os
