#pragma once
// Tells a process from the children that it forks: a child has its parent's memory, but none of its
// threads, and must not use the parent's files (R30).
//
// State of the process, not of a database, stays in a child as the parent's threads left it: locks
// held for ever, lists half changed. Whoever has such state gives it a handler that begins anew,
// and leaves to the dead what was there.
//
// Threads: any.

#include <atomic>
#include <cstdint>

namespace hawthorn::os {

// What each call asks of the process, in one word, so that it asks once: the generation, which is
// even, and in the lowest bit whether memory was short (memory_reserve.h).
extern std::atomic<uint64_t> process_word;
inline constexpr uint64_t kMemoryShortBit = 1;

// Changes in a child of fork; two equal answers mean that no fork lies between them. Cheap enough
// for every call.
inline uint64_t fork_generation() {
  return process_word.load(std::memory_order_relaxed) & ~kMemoryShortBit;
}

// Calls it in each child of fork from now on, before fork returns there. Once for each handler,
// when the library is loaded. It may neither lock nor allocate.
void at_fork_in_child(void (*handler)());

}  // namespace hawthorn::os
