#pragma once
// A histogram of latencies (or any 64-bit numbers) in log-linear buckets: 32 to each power of two.
//
// Not here: units and printing. Used by benchmarks and tests. Threads: one object from one thread
// at a time; give each thread its own and merge.
//
// 1. Numbers below 64 are counted exactly; above, a bucket is at most 1/32 of its number wide.
// 2. percentile() returns the upper end of the bucket, capped by the maximum: never too small.

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace hawthorn {

class Histogram {
 public:
  void record(uint64_t number) {
    ++counts_[bucket_of(number)];
    ++count_;
    sum_ += static_cast<double>(number);
    min_ = std::min(min_, number);
    max_ = std::max(max_, number);
  }

  void merge(const Histogram& other) {
    for (size_t i = 0; i < kBucketCount; ++i) counts_[i] += other.counts_[i];
    count_ += other.count_;
    sum_ += other.sum_;
    min_ = std::min(min_, other.min_);
    max_ = std::max(max_, other.max_);
  }

  void reset() { *this = Histogram(); }

  // The smallest bucket end that `percent` of the numbers do not exceed; 0 when nothing is
  // recorded.
  uint64_t percentile(double percent) const {
    if (count_ == 0) return 0;
    const double wanted = std::clamp(percent, 0.0, 100.0) / 100.0 * static_cast<double>(count_);
    uint64_t rank = static_cast<uint64_t>(wanted);
    if (static_cast<double>(rank) < wanted || rank == 0) ++rank;
    uint64_t seen = 0;
    for (size_t i = 0; i < kBucketCount; ++i) {
      seen += counts_[i];
      if (seen >= rank) return std::clamp(bucket_end(i), min_, max_);
    }
    return max_;
  }

  uint64_t count() const { return count_; }
  uint64_t min() const { return count_ == 0 ? 0 : min_; }
  uint64_t max() const { return max_; }
  double sum() const { return sum_; }
  double mean() const { return count_ == 0 ? 0 : sum_ / static_cast<double>(count_); }

 private:
  static constexpr size_t kSubBits = 5;
  static constexpr size_t kSubCount = size_t{1} << kSubBits;
  static constexpr size_t kBucketCount = (64 - kSubBits + 1) * kSubCount;

  static size_t bucket_of(uint64_t number) {
    if (number < 2 * kSubCount) return static_cast<size_t>(number);
    const size_t shift = static_cast<size_t>(std::bit_width(number)) - kSubBits - 1;
    return shift * kSubCount + static_cast<size_t>(number >> shift);
  }
  // The largest number of a bucket.
  static uint64_t bucket_end(size_t bucket) {
    if (bucket < 2 * kSubCount) return bucket;
    const size_t shift = bucket / kSubCount - 1;
    const uint64_t mantissa = bucket - shift * kSubCount;
    return (mantissa << shift) + ((uint64_t{1} << shift) - 1);
  }

  std::array<uint64_t, kBucketCount> counts_{};
  uint64_t count_ = 0;
  double sum_ = 0;
  uint64_t min_ = ~uint64_t{0};
  uint64_t max_ = 0;
};

}  // namespace hawthorn
