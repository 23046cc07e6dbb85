#pragma once
// Finds the group of an index run that can hold a key head, and the head's place in the group: SIMD
// kernels, chosen once at run time for the machine (AVX-512, AVX2, SSE4, or what the compiler's
// baseline allows).
//
// Not here: keys beyond their heads, versions, ties of heads across groups (tree/run.h).
// Threads: pure functions.
//
// A table is of one of two kinds. Keys that spread over their range get 16-bit samples, the
// smallest table; others (words, decimals, small numbers beside large ones) would tie in them, and
// get exact heads in two levels.
// 1. samples[g] = (first head of group g - low) >> shift; ascending; at most 0xfffe. Padded with
//    0xffff.
// 2. top[k] = samples[k * span], padded with 0xffff: 16 numbers tell which `span` samples to look
//    at.
// 3. Where samples tie, first_heads (one number per group, padded with ~0) decides.
// 4. Exact: top_heads[k] = first_heads[k * span], padded with ~0; no samples.

#include <cstddef>
#include <cstdint>

#include "format/run_layout.h"

namespace hawthorn::tree {

inline constexpr uint32_t kTopSamples = 16;

struct SearchTable;

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

// What the kernels read. The first line is all that most searches need besides `span` samples.
struct alignas(64) SearchTable {
  uint16_t top[kTopSamples] = {};
  uint64_t low = 0;   // first head of the first group
  uint64_t high = 0;  // first head of the last group
  const uint16_t* samples = nullptr;
  uint32_t groups = 0;
  uint16_t span = 0;  // 16, or a multiple of 32
  uint8_t shift = 0;
  bool exact = false;
  // The second line.
  const uint64_t* first_heads = nullptr;
  const uint64_t* top_heads = nullptr;
  const char* index = nullptr;  // the index blocks
  SearchKernels kernels;
  format::GroupLayout layout;

  const format::RunGroup& group(uint32_t number) const {
    return *reinterpret_cast<const format::RunGroup*>(index + layout.offset(number));
  }
};
static_assert(sizeof(SearchTable) == 128 && offsetof(SearchTable, first_heads) == 64);

// The kernels for this machine, detected once.
const SearchKernels& search_kernels();
// The same, detected now (tens of microseconds; hwy::SetSupportedTargetsForTest narrows the
// choice).
SearchKernels detect_search_kernels();

// How many groups an entry of the top level stands for.
uint16_t search_span(uint32_t groups);

// The bytes of the arrays behind a table: samples or top_heads, at a multiple of 8.
size_t upper_bytes(uint32_t groups);
// How many numbers first_heads has room for, padding included.
size_t first_heads_count(uint32_t groups);

// Fills a table whose index, kernels and first_heads (without padding) are set. `upper` has
// upper_bytes.
void build_search_table(SearchTable& table, uint32_t groups, uint64_t* first_heads, void* upper);

}  // namespace hawthorn::tree
