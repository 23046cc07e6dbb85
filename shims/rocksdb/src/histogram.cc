#include "shims/rocksdb/src/histogram.h"

#include <algorithm>
#include <cmath>

namespace hawthorn::rocks {

using rocksdb::HistogramData;

double Histogram::end_of(size_t bucket) {
  if (bucket < 16) return static_cast<double>(bucket);
  const size_t above = bucket - 16;
  return std::ldexp(static_cast<double>(above % 8 + 9), static_cast<int>(above / 8) + 1) - 1;
}

double Histogram::percentile(const std::array<uint64_t, kBuckets>& counts,
                             const HistogramData& data, uint64_t percent) {
  uint64_t left = (data.count * percent + 99) / 100;
  for (size_t i = 0; i < kBuckets; ++i) {
    if (counts[i] >= left) return std::clamp(end_of(i), data.min, data.max);
    left -= counts[i];
  }
  return data.max;
}

HistogramData Histogram::data() const {
  HistogramData data;
  std::array<uint64_t, kBuckets> counts;
  for (size_t i = 0; i < kBuckets; ++i) {
    counts[i] = buckets_[i].load(std::memory_order_relaxed);
    data.count += counts[i];
  }
  if (data.count == 0) return data;
  data.sum = sum_;
  data.max = static_cast<double>(max_);
  data.min = static_cast<double>(min_);
  const auto count = static_cast<double>(data.count);
  data.average = static_cast<double>(data.sum) / count;
  const double variance = squares_ / count - data.average * data.average;
  data.standard_deviation = std::sqrt(std::max(variance, 0.0));
  data.median = percentile(counts, data, 50);
  data.percentile95 = percentile(counts, data, 95);
  data.percentile99 = percentile(counts, data, 99);
  return data;
}

}  // namespace hawthorn::rocks
