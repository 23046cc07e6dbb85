#pragma once
// Latencies in log-linear buckets, and the throughput of the worst second of a phase.
//
// Used by every workload. Threads: one object in one thread; give each thread its own and merge.
//
// 1. Numbers below 128 are counted exactly; above, a bucket is at most 1/64 of its number wide.
// 2. percentile() returns the upper end of a bucket, capped by the maximum: never too small.

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace hawthorn::bench {

class Histogram {
 public:
  void record(uint64_t number) {
    ++counts_[bucket_of(number)];
    ++count_;
    sum_ += number;
    if (number > max_) max_ = number;
  }
  void merge(const Histogram& other);

  // The smallest bucket end that `percent` of the numbers do not exceed; 0 when it is empty.
  uint64_t percentile(double percent) const;
  uint64_t count() const { return count_; }
  uint64_t max() const { return max_; }
  double mean() const {
    return count_ == 0 ? 0 : static_cast<double>(sum_) / static_cast<double>(count_);
  }

 private:
  static constexpr size_t kSubBits = 6;
  static constexpr size_t kSubCount = size_t{1} << kSubBits;
  static constexpr size_t kBucketCount = (64 - kSubBits + 1) * kSubCount;

  static size_t bucket_of(uint64_t number) {
    if (number < 2 * kSubCount) return static_cast<size_t>(number);
    const size_t shift = static_cast<size_t>(std::bit_width(number)) - kSubBits - 1;
    return shift * kSubCount + static_cast<size_t>(number >> shift);
  }
  static uint64_t bucket_end(size_t bucket);

  std::array<uint64_t, kBucketCount> counts_{};
  uint64_t count_ = 0;
  uint64_t sum_ = 0;
  uint64_t max_ = 0;
};

// Operations per tenth of a second. An operation counts where it ends, so that a stall shows as
// tenths in which nothing ended.
class RateWindows {
 public:
  // `now_ns` counts from the start of the phase.
  void add(uint64_t now_ns, uint64_t operations) {
    const size_t slot = static_cast<size_t>(now_ns / kSlotNs);
    if (slot >= counts_.size()) counts_.resize(slot + 1);
    counts_[slot] += operations;
  }
  // Adds what another thread counted from the same start on.
  void merge(const RateWindows& other);

  // The fewest operations in any second between the start and the last operation; the mean rate
  // when less than a second was measured.
  double worst_second() const { return worst_rate(1); }
  // The same in any stretch of so many seconds, as a rate per second.
  double worst_rate(size_t seconds) const;
  // The rate over the operations from one part of all to another (0.9 to 1: the last tenth). Time
  // within a tenth of a second is taken as even. `seconds` is the length of the whole phase.
  double rate_of_part(double from, double to, double seconds) const;
  // Whether there was time enough, a tenth of a second, for worst_second to mean anything.
  bool measured() const { return counts_.size() > 1; }
  // Operations that ended in each second.
  std::vector<uint64_t> per_second() const;

 private:
  // When the first `operations` had ended.
  double seconds_until(double operations, double seconds) const;

  static constexpr uint64_t kSlotNs = 100'000'000;
  static constexpr size_t kSlotsPerSecond = 10;
  std::vector<uint64_t> counts_;
};

}  // namespace hawthorn::bench
