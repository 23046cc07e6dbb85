#pragma once
// Memory that is set aside for the moment at which the system gives none: what has begun goes on
// with it, and what would begin is refused until it could be set aside again.
//
//   operator new fails ─> the new-handler gives the reserve up ─> operator new succeeds
//                                        └> memory_short(): calls are refused, until there is
//                                        memory
//
// Of the process, since operator new is: a new-handler that the program has set is called where the
// reserve is gone already, and is in its place again when the last MemoryReserve has ended. One
// that the program sets later takes the place of this one: then nothing is given up, and
// std::bad_alloc is what public functions make kOutOfMemory of.
//
// Not here: the budget (os/arena.h), which is kept long before. Threads: any.

#include <cstddef>

#include "os/fork.h"

namespace hawthorn::os {

// Memory is set aside from the first on until the last one ends, where the system gives it; where
// it does not, memory_short() until it does.
class MemoryReserve {
 public:
  MemoryReserve() noexcept;
  ~MemoryReserve();
  MemoryReserve(const MemoryReserve&) = delete;
  MemoryReserve& operator=(const MemoryReserve&) = delete;
};

// 1 MB. Apart from its keys and values a call needs a few KB, and so does each thread of a
// database.
inline constexpr size_t kMemoryReserveBytes = size_t{1} << 20;

[[gnu::cold]] bool set_memory_aside() noexcept;

// Whether the reserve was given up, also where it can be set aside again by now. One load.
inline bool memory_reserve_gone() noexcept {
  return (process_word.load(std::memory_order_relaxed) & kMemoryShortBit) != 0;
}
// Whether it was given up, and cannot be set aside again now.
inline bool memory_short() noexcept { return memory_reserve_gone() && !set_memory_aside(); }

// Sleeps as long as memory is short, for threads of the background; at most a second, since one
// that is to end must come to see it.
void await_memory() noexcept;

}  // namespace hawthorn::os
