#pragma once
// How large the segments of the log are, and how much of it is kept at least.
//
// Not here: how the ring follows the memory budget (open.cc). Used by open.cc, the scheduler and
// repair; the whole-engine tests set smaller sizes, so that a simulated disk holds little, segments
// change often and the log is soon too long.
// Threads: set before the first database is opened.
//
// 1. All segments in a directory have one size. A log that begins where there are none chooses it,
//    by the free space of the disk, and the start of its epoch tells it from then on: it is an odd
//    multiple of the size, or any multiple of the largest size.

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/bytes.h"
#include "format/log_epoch.h"

namespace hawthorn::db {

// The largest segments, and the smallest ones. A power of two.
inline size_t log_segment_bytes = size_t{64} << 20;
inline constexpr size_t kLogSegmentBytesMin = size_t{4} << 20;

// For a disk with so many bytes free: a log has three segments at times, two of which wait, and
// all of that is missing from what can be stored.
inline size_t segment_bytes_for(uint64_t free_bytes) {
  constexpr uint64_t kPart = 32;
  size_t bytes = log_segment_bytes;
  while (bytes > kLogSegmentBytesMin && bytes > free_bytes / kPart) bytes /= 2;
  return bytes;
}

// Of the log whose newest epoch starts there. What no log can have begun with gives the largest
// size, with which the start is found to be wrong.
inline size_t segment_bytes_of(format::Lsn epoch_start) {
  const uint64_t divisor = epoch_start & (~epoch_start + 1);  // the largest power of two
  if (divisor < std::min(kLogSegmentBytesMin, log_segment_bytes)) return log_segment_bytes;
  return std::min<uint64_t>(divisor, log_segment_bytes);
}

// Where an epoch with segments of that size may start: at or above `bound`.
inline format::Lsn epoch_start_from(format::Lsn bound, size_t segment_bytes) {
  const format::Lsn start = align_up(bound, segment_bytes);
  return segment_bytes_of(start) == segment_bytes ? start : start + segment_bytes;
}

// Containers are flushed for the log's sake when it is longer than this, and than two deltas'
// shares of the budget, or a part of the database where that is more.
inline size_t log_bytes_min = size_t{128} << 20;
// Of the ring, which is smaller for small budgets. Fuzzing opens a database for each input, and
// most of that is the ring. A record, and so an operation, takes an eighth of it at most.
inline size_t log_ring_bytes_max = size_t{64} << 20;

}  // namespace hawthorn::db
