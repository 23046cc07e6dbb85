#pragma once
// Copies memory that an engine may be storing into at this moment.
//
// Such a store may be seen or not, as by a real crash; ThreadSanitizer must not look at it, and
// memcpy would show it. Used by what takes mapped files for a disk (sim_state.cc, recording.cc).
// Threads: any.

#include <cstddef>
#include <cstdint>

namespace hawthorn::testing {

// Both at multiples of 8, and the size, too.
__attribute__((no_sanitize("thread"))) inline void copy_live(char* to, const char* from,
                                                             size_t size) {
  for (size_t i = 0; i < size; i += sizeof(uint64_t)) {
    const uint64_t word = *reinterpret_cast<const volatile uint64_t*>(from + i);
    *reinterpret_cast<volatile uint64_t*>(to + i) = word;
  }
}

}  // namespace hawthorn::testing
