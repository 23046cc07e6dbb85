#pragma once
// The counters and histograms that CreateDBStatistics makes.
//
// Not here: what is counted, and where (measure.h). Some tickers are figures of the engine, which
// it is asked for when a program asks for them: databases subscribe.
// Threads: any.

#include <array>
#include <atomic>
#include <map>
#include <string>

#include "rocksdb/statistics.h"
#include "shims/rocksdb/src/histogram.h"
#include "shims/rocksdb/src/own_kind.h"
#include "shims/rocksdb/src/subscribers.h"

namespace hawthorn::rocks {

class StatisticsImpl final : public rocksdb::Statistics {
 public:
  StatisticsImpl() { OwnKind<StatisticsImpl>::note(this); }
  const char* Name() const override { return "BasicStatistics"; }
  uint64_t getTickerCount(uint32_t tickerType) const override;
  void histogramData(uint32_t type, rocksdb::HistogramData* const data) const override;
  std::string getHistogramString(uint32_t type) const override;
  void recordTick(uint32_t tickerType, uint64_t count) override;
  void setTickerCount(uint32_t tickerType, uint64_t count) override;
  uint64_t getAndResetTickerCount(uint32_t tickerType) override;
  void recordInHistogram(uint32_t histogramType, uint64_t time) override;
  rocksdb::Status Reset() override;
  std::string ToString() const override;
  bool getTickerMap(std::map<std::string, uint64_t>* tickers) const override;

  Subscribers& subscribers() { return subscribers_; }

 private:
  // Brings figures of the engine up to date.
  void ask(uint32_t ticker) const;
  void ask_for_all() const;

  std::array<std::atomic<uint64_t>, rocksdb::TICKER_ENUM_MAX> tickers_{};
  std::array<Histogram, rocksdb::HISTOGRAM_ENUM_MAX> histograms_;
  Subscribers subscribers_;
};

}  // namespace hawthorn::rocks
