#include "tree/run_search.h"

#include <bit>

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

uint32_t Locate(const SearchTable& table, uint64_t head) {
  if (head >= table.high) return table.groups - 1;
  if (head < table.low) return 0;
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
  __builtin_prefetch(group.locations);
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
  static const SearchKernels kernels = detect_search_kernels();
  return kernels;
}

SearchKernels detect_search_kernels() {
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  return {HWY_DYNAMIC_DISPATCH(Locate), HWY_DYNAMIC_DISPATCH(Search), HWY_DYNAMIC_DISPATCH(Find)};
}

uint16_t sample_span(uint32_t groups) {
  if (groups <= 16 * kTopSamples) return 16;
  return static_cast<uint16_t>(align_up((groups + kTopSamples - 1) / kTopSamples, 32));
}

uint32_t sample_count(uint32_t groups) {
  return static_cast<uint32_t>(align_up(groups, sample_span(groups)));
}

void build_samples(SearchTable& table, uint32_t groups, uint16_t* samples) {
  table.low = table.first_heads[0];
  table.high = table.first_heads[groups - 1];
  table.groups = groups;
  table.span = sample_span(groups);
  const uint64_t range = table.high - table.low;
  const int width = std::bit_width(range);
  table.shift = static_cast<uint16_t>(width > 16 ? width - 16 : 0);
  if ((range >> table.shift) == 0xffff) ++table.shift;  // 0xffff is the padding
  for (uint32_t g = 0; g < groups; ++g) {
    samples[g] = static_cast<uint16_t>((table.first_heads[g] - table.low) >> table.shift);
  }
  const uint32_t count = sample_count(groups);
  for (uint32_t g = groups; g < count; ++g) samples[g] = 0xffff;
  for (uint32_t k = 0; k < kTopSamples; ++k) {
    table.top[k] = k * table.span < groups ? samples[k * table.span] : uint16_t{0xffff};
  }
  table.samples = samples;
}

}  // namespace hawthorn::tree
#endif  // HWY_ONCE
