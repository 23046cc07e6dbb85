#pragma once
// How large the segments of the log are, and how much of it is kept at least.
//
// Not here: how the ring follows the memory budget (open.cc). Used by open.cc and the scheduler;
// the whole-engine tests set smaller sizes, so that a simulated disk holds little, segments change
// often and the log is soon too long.
// Threads: set before the first database is opened. One database is always opened with one segment
// size.

#include <cstddef>

namespace hawthorn::db {

inline size_t log_segment_bytes = size_t{64} << 20;
// Containers are flushed for the log's sake when it is longer than this, and than two deltas'
// shares of the budget, or a part of the database where that is more.
inline size_t log_bytes_min = size_t{128} << 20;
// Of the ring, which is smaller for small budgets. Fuzzing opens a database for each input, and
// most of that is the ring. A record, and so an operation, takes an eighth of it at most.
inline size_t log_ring_bytes_max = size_t{64} << 20;

}  // namespace hawthorn::db
