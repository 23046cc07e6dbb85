#pragma once
// The search among entries of a run that have the key's head, where their records in the heap are
// more than are read at once. Not here: how a record comes to memory. Used by point reads
// (container.cc) and by what counts them (explain.cc). Threads: pure.

#include <algorithm>
#include <cstdint>

#include "format/run_layout.h"
#include "tree/run.h"

namespace hawthorn::tree {

// What a point read takes of a heap at once. Where the entries with the key's head have more, it
// searches among them, a record at a time.
inline constexpr uint32_t kHeapBytesAtOnce = 4 * format::kRunBlockBytes;

// Of entries with the key's head, leaves those that can be of the key: as few as are read at once,
// or none but them. compare(index, &order) looks at a record: whether it comes before the key, is
// of it, or behind; false ends the search, which is not done then.
template <typename Compare>
bool narrow_range(const Run& run, Run::Range* range, Compare compare) {
  uint32_t first_end = range->end;     // the first of the key's is at most here
  uint32_t last_begin = range->begin;  // and what lies behind its last at least here
  for (;;) {
    const format::HeapRange heap = run.heap_range(range->begin, range->end);
    if (heap.end - heap.begin <= kHeapBytesAtOnce) return true;
    uint32_t middle = range->begin + (first_end - range->begin) / 2;
    if (range->begin == first_end) {
      if (last_begin == range->end) return true;
      middle = last_begin + (range->end - last_begin) / 2;
    }
    int order = 0;
    if (!compare(middle, &order)) return false;
    if (order < 0) range->begin = middle + 1;
    if (order > 0) range->end = middle;
    if (order >= 0) first_end = std::min(first_end, middle);
    if (order <= 0) last_begin = std::max(last_begin, middle + 1);
  }
}

}  // namespace hawthorn::tree
