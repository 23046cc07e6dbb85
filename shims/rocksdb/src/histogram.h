#pragma once
// Counts values by size, for percentiles.
//
// Used by StatisticsImpl. Threads: any.

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "rocksdb/statistics.h"

namespace hawthorn::rocks {

// Values below 16 have a bucket of their own; above, each power of two has eight.
class Histogram {
 public:
  void add(uint64_t value) {
    buckets_[bucket_of(value)].fetch_add(1, std::memory_order_relaxed);
    sum_.fetch_add(value, std::memory_order_relaxed);
    const auto exact = static_cast<double>(value);
    squares_.fetch_add(exact * exact, std::memory_order_relaxed);
    for (uint64_t seen = max_; value > seen && !max_.compare_exchange_weak(seen, value);) {
    }
    for (uint64_t seen = min_; value < seen && !min_.compare_exchange_weak(seen, value);) {
    }
  }

  // Of what others add at the same time some may be missing.
  rocksdb::HistogramData data() const;
  void reset() {
    for (std::atomic<uint64_t>& bucket : buckets_) bucket = 0;
    sum_ = 0;
    squares_ = 0;
    max_ = 0;
    min_ = UINT64_MAX;
  }

 private:
  static constexpr size_t kBuckets = 16 + 60 * 8;

  static size_t bucket_of(uint64_t value) {
    if (value < 16) return static_cast<size_t>(value);
    const int power = std::bit_width(value) - 1;  // 4 or more
    return 16 + static_cast<size_t>(power - 4) * 8 + ((value >> (power - 3)) & 7);
  }
  static double end_of(size_t bucket);
  static double percentile(const std::array<uint64_t, kBuckets>& counts,
                           const rocksdb::HistogramData& data, uint64_t percent);

  std::array<std::atomic<uint64_t>, kBuckets> buckets_{};
  std::atomic<uint64_t> sum_{0};
  std::atomic<double> squares_{0};
  std::atomic<uint64_t> max_{0};
  std::atomic<uint64_t> min_{UINT64_MAX};
};

}  // namespace hawthorn::rocks
