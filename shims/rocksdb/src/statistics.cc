#include <cinttypes>
#include <cstdio>

#include "shims/rocksdb/src/engine_tickers.h"
#include "shims/rocksdb/src/statistics_impl.h"

namespace hawthorn::rocks {

using rocksdb::HISTOGRAM_ENUM_MAX;
using rocksdb::HistogramData;
using rocksdb::TICKER_ENUM_MAX;

void StatisticsImpl::ask_for_all() const {
  subscribers_.each([](Subscriber& database) { database.figures_asked(); });
}

void StatisticsImpl::ask(uint32_t ticker) const {
  if (EngineTickers::has(ticker)) ask_for_all();
}

uint64_t StatisticsImpl::getTickerCount(uint32_t tickerType) const {
  if (tickerType >= TICKER_ENUM_MAX) return 0;
  ask(tickerType);
  return tickers_[tickerType];
}

void StatisticsImpl::recordTick(uint32_t tickerType, uint64_t count) {
  if (get_stats_level() <= rocksdb::kExceptTickers || tickerType >= TICKER_ENUM_MAX) return;
  tickers_[tickerType].fetch_add(count, std::memory_order_relaxed);
}

void StatisticsImpl::setTickerCount(uint32_t tickerType, uint64_t count) {
  if (tickerType >= TICKER_ENUM_MAX) return;
  ask(tickerType);
  tickers_[tickerType] = count;
}

uint64_t StatisticsImpl::getAndResetTickerCount(uint32_t tickerType) {
  if (tickerType >= TICKER_ENUM_MAX) return 0;
  ask(tickerType);
  return tickers_[tickerType].exchange(0);
}

void StatisticsImpl::recordInHistogram(uint32_t histogramType, uint64_t time) {
  if (get_stats_level() <= rocksdb::kExceptHistogramOrTimers) return;
  if (histogramType < HISTOGRAM_ENUM_MAX) histograms_[histogramType].add(time);
}

void StatisticsImpl::histogramData(uint32_t type, HistogramData* const data) const {
  *data = type < HISTOGRAM_ENUM_MAX ? histograms_[type].data() : HistogramData();
}

std::string StatisticsImpl::getHistogramString(uint32_t type) const {
  HistogramData data;
  histogramData(type, &data);
  char text[400];
  std::snprintf(text, sizeof(text),
                "P50 : %f P95 : %f P99 : %f P100 : %f COUNT : %" PRIu64 " SUM : %" PRIu64,
                data.median, data.percentile95, data.percentile99, data.max, data.count, data.sum);
  return text;
}

rocksdb::Status StatisticsImpl::Reset() {
  ask_for_all();
  for (std::atomic<uint64_t>& ticker : tickers_) ticker = 0;
  for (Histogram& histogram : histograms_) histogram.reset();
  return rocksdb::Status::OK();
}

std::string StatisticsImpl::ToString() const {
  ask_for_all();
  std::string text;
  for (const auto& [ticker, name] : rocksdb::TickersNameMap) {
    text += name + " COUNT : " + std::to_string(tickers_[ticker]) + "\n";
  }
  for (const auto& [histogram, name] : rocksdb::HistogramsNameMap) {
    text += name + " " + getHistogramString(histogram) + "\n";
  }
  return text;
}

bool StatisticsImpl::getTickerMap(std::map<std::string, uint64_t>* tickers) const {
  ask_for_all();
  tickers->clear();
  for (const auto& [ticker, name] : rocksdb::TickersNameMap) (*tickers)[name] = tickers_[ticker];
  return true;
}

}  // namespace hawthorn::rocks

namespace rocksdb {

std::shared_ptr<Statistics> CreateDBStatistics() {
  return std::make_shared<hawthorn::rocks::StatisticsImpl>();
}

}  // namespace rocksdb
