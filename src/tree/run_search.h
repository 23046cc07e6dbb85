#pragma once
// Finds the group of an index run that can hold a key head, and the head's place in the group: SIMD
// kernels, chosen once at run time for the machine (AVX-512, AVX2, SSE4, or what the compiler's
// baseline allows).
//
// Not here: keys beyond their heads, versions, ties of heads across groups (tree/run.h).
// Threads: pure functions.
//
// 1. samples[g] = (first head of group g - low) >> shift; ascending; at most 0xfffe. Padded with
// 0xffff.
// 2. top[k] = samples[k * span], padded with 0xffff: 16 numbers tell which `span` samples to look
// at.
// 3. Where samples tie, first_heads (one number per group) decides.

#include <cstdint>

#include "format/run_layout.h"

namespace hawthorn::tree {

inline constexpr uint32_t kTopSamples = 16;

// What the kernels read. The first line is all that most searches need besides `span` samples.
struct alignas(64) SearchTable {
  uint16_t top[kTopSamples] = {};
  uint64_t low = 0;   // first head of the first group
  uint64_t high = 0;  // first head of the last group
  const uint16_t* samples = nullptr;
  uint32_t groups = 0;
  uint16_t span = 0;  // 16, or a multiple of 32
  uint16_t shift = 0;
  // Second line, shared with the Run that has the table as its first member.
  const uint64_t* first_heads = nullptr;
  const char* index = nullptr;  // the index blocks

  const format::RunGroup& group(uint32_t number) const {
    return *reinterpret_cast<const format::RunGroup*>(index +
                                                      format::RunView::group_offset(number));
  }
};

// Where a head is: entries [below, below + equal) of the group have it, those before are smaller.
// Padding counts.
struct GroupHit {
  uint32_t group = 0;
  uint16_t below = 0;
  uint16_t equal = 0;
};

struct SearchKernels {
  // The last group whose first head is <= head; 0 when there is none.
  uint32_t (*locate)(const SearchTable& table, uint64_t head) = nullptr;
  GroupHit (*search)(const SearchTable& table, uint32_t group, uint64_t head) = nullptr;
  // search(locate(head)) in one call.
  GroupHit (*find)(const SearchTable& table, uint64_t head) = nullptr;
};

// The kernels for this machine, detected once.
const SearchKernels& search_kernels();
// The same, detected now (tens of microseconds; hwy::SetSupportedTargetsForTest narrows the choice).
SearchKernels detect_search_kernels();

// The size of the samples array for `groups` groups, padding included, and the span that goes with
// it.
uint16_t sample_span(uint32_t groups);
uint32_t sample_count(uint32_t groups);

// Fills low, high, top, groups, span, shift and the samples from first_heads (already set, as is
// `samples`' room).
void build_samples(SearchTable& table, uint32_t groups, uint16_t* samples);

}  // namespace hawthorn::tree
