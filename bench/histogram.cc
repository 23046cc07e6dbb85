#include "bench/histogram.h"

#include <algorithm>
#include <numeric>

namespace hawthorn::bench {

void Histogram::merge(const Histogram& other) {
  for (size_t i = 0; i < kBucketCount; ++i) counts_[i] += other.counts_[i];
  count_ += other.count_;
  sum_ += other.sum_;
  max_ = std::max(max_, other.max_);
}

uint64_t Histogram::bucket_end(size_t bucket) {
  if (bucket < 2 * kSubCount) return bucket;
  const size_t shift = bucket / kSubCount - 1;
  const uint64_t mantissa = bucket - shift * kSubCount;
  return (mantissa << shift) + ((uint64_t{1} << shift) - 1);
}

uint64_t Histogram::percentile(double percent) const {
  if (count_ == 0) return 0;
  const double wanted = std::clamp(percent, 0.0, 100.0) / 100.0 * static_cast<double>(count_);
  uint64_t rank = static_cast<uint64_t>(wanted);
  if (static_cast<double>(rank) < wanted || rank == 0) ++rank;
  uint64_t seen = 0;
  for (size_t i = 0; i < kBucketCount; ++i) {
    seen += counts_[i];
    if (seen >= rank) return std::min(bucket_end(i), max_);
  }
  return max_;
}

void RateWindows::merge(const RateWindows& other) {
  if (counts_.size() < other.counts_.size()) counts_.resize(other.counts_.size());
  for (size_t i = 0; i < other.counts_.size(); ++i) counts_[i] += other.counts_[i];
}

double RateWindows::worst_rate(size_t seconds) const {
  // The last tenth is not over when the last operation ends: it does not count as one.
  const size_t whole = counts_.empty() ? 0 : counts_.size() - 1;
  const size_t slots = kSlotsPerSecond * seconds;
  if (whole < slots) {
    const uint64_t sum = std::accumulate(counts_.begin(), counts_.begin() + whole, uint64_t{0});
    return whole == 0 ? 0 : static_cast<double>(sum) * kSlotsPerSecond / static_cast<double>(whole);
  }
  uint64_t window = std::accumulate(counts_.begin(), counts_.begin() + slots, uint64_t{0});
  uint64_t worst = window;
  for (size_t i = slots; i < whole; ++i) {
    window += counts_[i] - counts_[i - slots];
    worst = std::min(worst, window);
  }
  return static_cast<double>(worst) / static_cast<double>(seconds);
}

double RateWindows::seconds_until(double operations, double seconds) const {
  constexpr double kSlotSeconds = 1.0 / kSlotsPerSecond;
  double sum = 0;
  for (size_t i = 0; i < counts_.size(); ++i) {
    const auto count = static_cast<double>(counts_[i]);
    if (sum + count >= operations && count > 0) {
      const double start = static_cast<double>(i) * kSlotSeconds;
      const double length = std::min(kSlotSeconds, std::max(0.0, seconds - start));
      return start + length * (operations - sum) / count;
    }
    sum += count;
  }
  return seconds;
}

double RateWindows::rate_of_part(double from, double to, double seconds) const {
  const auto all =
      static_cast<double>(std::accumulate(counts_.begin(), counts_.end(), uint64_t{0}));
  const double start = from == 0 ? 0 : seconds_until(from * all, seconds);
  const double length = seconds_until(to * all, seconds) - start;
  return length > 0 ? (to - from) * all / length : 0;
}

std::vector<uint64_t> RateWindows::per_second() const {
  std::vector<uint64_t> sums((counts_.size() + kSlotsPerSecond - 1) / kSlotsPerSecond, 0);
  for (size_t i = 0; i < counts_.size(); ++i) sums[i / kSlotsPerSecond] += counts_[i];
  return sums;
}

}  // namespace hawthorn::bench
