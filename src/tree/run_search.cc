#include "tree/run_search.h"

#include <algorithm>
#include <bit>

#include "base/made_once.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tree/run_search.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#ifndef HAWTHORN_TREE_RUN_SEARCH_ONCE
#define HAWTHORN_TREE_RUN_SEARCH_ONCE
namespace hawthorn::tree {

// The last group in [lo, hi) whose first head is <= head, or lo - 1 when there is none.
inline uint32_t last_not_above(const uint64_t* first_heads, uint32_t lo, uint32_t hi,
                               uint64_t head) {
  const uint64_t* at = first_heads + lo;
  uint32_t count = hi - lo;
  while (count > 0) {
    const uint32_t half = (count + 1) / 2;
    at += at[half - 1] <= head ? half : 0;
    count -= half;
  }
  return static_cast<uint32_t>(at - first_heads) - 1;
}

// Invariant 3. Groups [0, end) have samples <= sample; `equal` of those in the last span are equal.
inline uint32_t resolve_tie(const SearchTable& table, uint64_t head, uint16_t sample, uint32_t end,
                            uint32_t equal, uint32_t span_start) {
  uint32_t begin = end - equal;
  if (begin == span_start) {
    // The tie may reach into earlier spans.
    const uint16_t* at = table.samples;
    uint32_t count = begin;
    while (count > 0) {
      const uint32_t half = (count + 1) / 2;
      at += at[half - 1] < sample ? half : 0;
      count -= half;
    }
    begin = static_cast<uint32_t>(at - table.samples);
  }
  return last_not_above(table.first_heads, begin, end, head);
}

}  // namespace hawthorn::tree
#endif  // HAWTHORN_TREE_RUN_SEARCH_ONCE

HWY_BEFORE_NAMESPACE();
namespace hawthorn::tree::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Adds to `not_above` and `equal` how many of the `count` numbers are <= key, and how many equal
// it.
template <class D>
HWY_INLINE void count_samples(D d, const uint16_t* from, size_t count, uint16_t key, size_t& below,
                              size_t& equal) {
  const auto wide = hn::Set(d, key);
  for (size_t i = 0; i < count; i += hn::Lanes(d)) {
    const auto samples = hn::LoadU(d, from + i);
    below += hn::CountTrue(d, hn::Lt(samples, wide));
    equal += hn::CountTrue(d, hn::Eq(samples, wide));
  }
}

// How many of `count` numbers are <= key; reads up to a vector's end.
template <class D>
HWY_INLINE uint32_t count_not_above(D d, const uint64_t* from, size_t count, uint64_t key) {
  const auto wide = hn::Set(d, key);
  size_t above = 0;
  size_t i = 0;
  for (; i < count; i += hn::Lanes(d)) {
    above += hn::CountTrue(d, hn::Gt(hn::LoadU(d, from + i), wide));
  }
  return static_cast<uint32_t>(i - above);
}

// Invariant 4: two levels of exact heads, without a branch that depends on them.
HWY_INLINE uint32_t locate_exact(const SearchTable& table, uint64_t head) {
  const hn::CappedTag<uint64_t, 8> d;
  const uint32_t tops = count_not_above(d, table.top_heads, kTopSamples, head);
  const uint64_t* at = table.first_heads + (tops - 1) * size_t{table.span};
  size_t count = table.span;
  while (count > 32) {
    const size_t half = count / 2;
    at += at[half - 1] <= head ? half : 0;
    count -= half;
  }
  const uint32_t not_above = count_not_above(d, at, count, head);
  return static_cast<uint32_t>(at - table.first_heads) + not_above - 1;
}

uint32_t Locate(const SearchTable& table, uint64_t head) {
  if (head >= table.high) return table.groups - 1;
  if (head < table.low) return 0;
  if (table.exact) return locate_exact(table, head);
  const uint16_t sample = static_cast<uint16_t>((head - table.low) >> table.shift);
  const hn::CappedTag<uint16_t, 16> d16;
  size_t tops = kTopSamples;
  const auto wide = hn::Set(d16, sample);
  for (size_t i = 0; i < kTopSamples; i += hn::Lanes(d16)) {
    tops -= hn::CountTrue(d16, hn::Gt(hn::Load(d16, table.top + i), wide));
  }
  const uint32_t span_start = static_cast<uint32_t>(tops - 1) * table.span;
  const uint16_t* samples = table.samples + span_start;
  size_t below = 0;
  size_t equal = 0;
  if (HWY_LIKELY(table.span == 16)) {
    count_samples(d16, samples, 16, sample, below, equal);
  } else {
    const hn::CappedTag<uint16_t, 32> d32;
    count_samples(d32, samples, table.span, sample, below, equal);
  }
  const uint32_t end = span_start + static_cast<uint32_t>(below + equal);
  if (HWY_LIKELY(equal == 0)) return end - 1;
  return resolve_tie(table, head, sample, end, static_cast<uint32_t>(equal), span_start);
}

GroupHit Search(const SearchTable& table, uint32_t number, uint64_t head) {
  const format::RunGroup& group = table.group(number);
  __builtin_prefetch(group.locations);  // or the values
  const hn::CappedTag<uint64_t, 8> d;
  const auto wide = hn::Set(d, head);
  size_t below = 0;
  size_t equal = 0;
  for (size_t i = 0; i < format::kGroupEntries; i += hn::Lanes(d)) {
    const auto heads = hn::Load(d, group.heads + i);
    below += hn::CountTrue(d, hn::Lt(heads, wide));
    equal += hn::CountTrue(d, hn::Eq(heads, wide));
  }
  return {number, static_cast<uint16_t>(below), static_cast<uint16_t>(equal)};
}

GroupHit Find(const SearchTable& table, uint64_t head) {
  return Search(table, Locate(table, head), head);
}

}  // namespace hawthorn::tree::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hawthorn::tree {

HWY_EXPORT(Locate);
HWY_EXPORT(Search);
HWY_EXPORT(Find);

const SearchKernels& search_kernels() {
  return made_once<[] { return detect_search_kernels(); }>();
}

SearchKernels detect_search_kernels() {
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  return {HWY_DYNAMIC_DISPATCH(Locate), HWY_DYNAMIC_DISPATCH(Search), HWY_DYNAMIC_DISPATCH(Find)};
}

uint16_t search_span(uint32_t groups) {
  if (groups <= 16 * kTopSamples) return 16;
  return static_cast<uint16_t>(align_up((groups + kTopSamples - 1) / kTopSamples, 32));
}

namespace {

size_t padded(uint32_t groups) { return align_up(groups, search_span(groups)); }

// Whether many heads would tie in samples: where neighbours are less than 4 samples apart, a
// quarter of the searches and more do.
bool ties_often(const SearchTable& table) {
  uint32_t narrow = 0;
  for (uint32_t g = 1; g < table.groups; ++g) {
    narrow += (table.first_heads[g] - table.first_heads[g - 1]) >> table.shift < 4;
  }
  return narrow > table.groups / 8;
}

}  // namespace

size_t upper_bytes(uint32_t groups) {
  return std::max(align_up(padded(groups) * sizeof(uint16_t), sizeof(uint64_t)),
                  kTopSamples * sizeof(uint64_t));
}

// The exact search loads whole vectors from within the last span on.
size_t first_heads_count(uint32_t groups) { return padded(groups) + 8; }

void build_search_table(SearchTable& table, uint32_t groups, uint64_t* first_heads, void* upper) {
  std::fill(first_heads + groups, first_heads + first_heads_count(groups), ~uint64_t{0});
  table.first_heads = first_heads;
  table.low = first_heads[0];
  table.high = first_heads[groups - 1];
  table.groups = groups;
  table.span = search_span(groups);
  const uint64_t range = table.high - table.low;
  const int width = std::bit_width(range);
  table.shift = static_cast<uint8_t>(width > 16 ? width - 16 : 0);
  if ((range >> table.shift) == 0xffff) ++table.shift;  // 0xffff is the padding
  table.exact = ties_often(table);
  if (table.exact) {
    auto* top_heads = static_cast<uint64_t*>(upper);
    for (uint32_t k = 0; k < kTopSamples; ++k) {
      top_heads[k] = k * table.span < groups ? first_heads[k * table.span] : ~uint64_t{0};
    }
    table.top_heads = top_heads;
    return;
  }
  auto* samples = static_cast<uint16_t*>(upper);
  for (uint32_t g = 0; g < groups; ++g) {
    samples[g] = static_cast<uint16_t>((first_heads[g] - table.low) >> table.shift);
  }
  std::fill(samples + groups, samples + padded(groups), uint16_t{0xffff});
  for (uint32_t k = 0; k < kTopSamples; ++k) {
    table.top[k] = k * table.span < groups ? samples[k * table.span] : uint16_t{0xffff};
  }
  table.samples = samples;
}

}  // namespace hawthorn::tree
#endif  // HWY_ONCE
