#pragma once
// Tells AddressSanitizer which parts of memory of our own are in use; nothing without it.
//
// Used by arena and arena_pieces. Threads: any.

#include <cstddef>

#include "base/sanitizers.h"

#if defined(HAWTHORN_ASAN)
#include <sanitizer/asan_interface.h>
#endif

namespace hawthorn::os {

inline void poison([[maybe_unused]] const char* data, [[maybe_unused]] size_t size) {
#if defined(HAWTHORN_ASAN)
  ASAN_POISON_MEMORY_REGION(data, size);
#endif
}

inline void unpoison([[maybe_unused]] const char* data, [[maybe_unused]] size_t size) {
#if defined(HAWTHORN_ASAN)
  ASAN_UNPOISON_MEMORY_REGION(data, size);
#endif
}

}  // namespace hawthorn::os
