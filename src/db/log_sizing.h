#pragma once
// How large the segments of the log are.
//
// Not here: the ring, which follows the memory budget (open.cc). Used by open.cc; the whole-engine
// tests set a smaller size, so that a simulated disk holds little and segments change often.
// Threads: set before the first database is opened. One database is always opened with one size.

#include <cstddef>

namespace hawthorn::db {

inline size_t log_segment_bytes = size_t{64} << 20;

}  // namespace hawthorn::db
