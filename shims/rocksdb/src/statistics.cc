// Counters and histograms, and their text.

#include "rocksdb/statistics.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace rocksdb {
namespace {

struct Named {
  uint32_t type;
  const char* name;
};
constexpr Named kTickers[] = {
    {NUMBER_KEYS_WRITTEN, "rocksdb.number.keys.written"},
    {NUMBER_KEYS_READ, "rocksdb.number.keys.read"},
    {BYTES_WRITTEN, "rocksdb.bytes.written"},
    {BYTES_READ, "rocksdb.bytes.read"},
    {NO_ITERATOR_CREATED, "rocksdb.num.iterator.created"},
    {NUMBER_MULTIGET_CALLS, "rocksdb.number.multiget.get"},
    {NUMBER_MULTIGET_KEYS_READ, "rocksdb.number.multiget.keys.read"},
    {NUMBER_MULTIGET_BYTES_READ, "rocksdb.number.multiget.bytes.read"},
    {NUMBER_MULTIGET_KEYS_FOUND, "rocksdb.number.multiget.keys.found"},
    {WRITE_DONE_BY_SELF, "rocksdb.write.self"},
    {WRITE_WITH_WAL, "rocksdb.write.wal"},
};
constexpr Named kHistograms[] = {
    {DB_GET, "rocksdb.db.get.micros"},
    {DB_WRITE, "rocksdb.db.write.micros"},
    {DB_MULTIGET, "rocksdb.db.multiget.micros"},
    {BYTES_PER_READ, "rocksdb.bytes.per.read"},
    {BYTES_PER_WRITE, "rocksdb.bytes.per.write"},
    {BYTES_PER_MULTIGET, "rocksdb.bytes.per.multiget"},
};

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
  HistogramData data() const {
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
  static double end_of(size_t bucket) {
    if (bucket < 16) return static_cast<double>(bucket);
    const size_t above = bucket - 16;
    return std::ldexp(static_cast<double>(above % 8 + 9), static_cast<int>(above / 8) + 1) - 1;
  }
  static double percentile(const std::array<uint64_t, kBuckets>& counts, const HistogramData& data,
                           uint64_t percent) {
    uint64_t left = (data.count * percent + 99) / 100;
    for (size_t i = 0; i < kBuckets; ++i) {
      if (counts[i] >= left) return std::clamp(end_of(i), data.min, data.max);
      left -= counts[i];
    }
    return data.max;
  }

  std::array<std::atomic<uint64_t>, kBuckets> buckets_{};
  std::atomic<uint64_t> sum_{0};
  std::atomic<double> squares_{0};
  std::atomic<uint64_t> max_{0};
  std::atomic<uint64_t> min_{UINT64_MAX};
};

class StatisticsImpl final : public Statistics {
 public:
  const char* Name() const override { return "BasicStatistics"; }
  uint64_t getTickerCount(uint32_t tickerType) const override {
    return tickerType < TICKER_ENUM_MAX ? tickers_[tickerType].load() : 0;
  }
  void histogramData(uint32_t type, HistogramData* const data) const override {
    const Histogram* const histogram = find(type);
    *data = histogram == nullptr ? HistogramData() : histogram->data();
  }
  std::string getHistogramString(uint32_t type) const override {
    HistogramData data;
    histogramData(type, &data);
    return "P50 : " + std::to_string(data.median) + " P95 : " + std::to_string(data.percentile95) +
           " P99 : " + std::to_string(data.percentile99) + " P100 : " + std::to_string(data.max) +
           " COUNT : " + std::to_string(data.count) + " SUM : " + std::to_string(data.sum);
  }
  void recordTick(uint32_t tickerType, uint64_t count) override {
    if (get_stats_level() <= kExceptTickers || tickerType >= TICKER_ENUM_MAX) return;
    tickers_[tickerType].fetch_add(count, std::memory_order_relaxed);
  }
  void setTickerCount(uint32_t tickerType, uint64_t count) override {
    if (tickerType < TICKER_ENUM_MAX) tickers_[tickerType] = count;
  }
  uint64_t getAndResetTickerCount(uint32_t tickerType) override {
    return tickerType < TICKER_ENUM_MAX ? tickers_[tickerType].exchange(0) : 0;
  }
  void recordInHistogram(uint32_t histogramType, uint64_t time) override {
    if (get_stats_level() <= kExceptHistogramOrTimers) return;
    if (Histogram* const histogram = find(histogramType)) histogram->add(time);
  }
  Status Reset() override {
    for (std::atomic<uint64_t>& ticker : tickers_) ticker = 0;
    for (Histogram& histogram : histograms_) histogram.reset();
    return Status::OK();
  }
  std::string ToString() const override {
    std::string text;
    for (const Named& ticker : kTickers) {
      text += std::string(ticker.name) + " COUNT : " + std::to_string(getTickerCount(ticker.type)) +
              "\n";
    }
    for (const Named& histogram : kHistograms) {
      text += std::string(histogram.name) + " " + getHistogramString(histogram.type) + "\n";
    }
    return text;
  }
  bool getTickerMap(std::map<std::string, uint64_t>* tickers) const override {
    for (const Named& ticker : kTickers) (*tickers)[ticker.name] = getTickerCount(ticker.type);
    return true;
  }

 private:
  Histogram* find(uint32_t type) const {
    const auto* const found =
        std::find_if(std::begin(kHistograms), std::end(kHistograms),
                     [type](const Named& named) { return named.type == type; });
    return found == std::end(kHistograms) ? nullptr : &histograms_[found - kHistograms];
  }

  std::array<std::atomic<uint64_t>, TICKER_ENUM_MAX> tickers_{};
  mutable std::array<Histogram, std::size(kHistograms)> histograms_;
};

}  // namespace

std::shared_ptr<Statistics> CreateDBStatistics() { return std::make_shared<StatisticsImpl>(); }

}  // namespace rocksdb
