// Statistics: what is counted, and how histograms tell it.

#include <rocksdb/statistics.h>

#include "shims/rocksdb/src/rocksdb_test_fixture.h"

namespace hawthorn::rocks {
namespace {

using rocksdb::HistogramData;
using rocksdb::Statistics;

HistogramData data_of(const Statistics& statistics, uint32_t type) {
  HistogramData data;
  statistics.histogramData(type, &data);
  return data;
}

class Counted : public RocksTest {
 protected:
  Counted() { options_.statistics = rocksdb::CreateDBStatistics(); }
  uint64_t ticks(uint32_t type) const { return options_.statistics->getTickerCount(type); }
};

TEST_F(Counted, Writes) {
  open();
  ASSERT_OK(put("a", "1"));
  ASSERT_OK(db_->Delete({}, "a"));
  rocksdb::WriteBatch batch;
  ASSERT_OK(batch.Put("b", "2"));
  ASSERT_OK(batch.Put("c", "3"));
  ASSERT_OK(db_->Write({}, &batch));
  EXPECT_TRUE(db_->Merge({}, "a", "1").IsNotSupported());
  EXPECT_EQ(ticks(rocksdb::NUMBER_KEYS_WRITTEN), 4U);
  EXPECT_EQ(ticks(rocksdb::WRITE_DONE_BY_SELF), 3U);
  EXPECT_EQ(ticks(rocksdb::WRITE_WITH_WAL), 3U);
  const uint64_t bytes = ticks(rocksdb::BYTES_WRITTEN);
  EXPECT_GT(bytes, batch.GetDataSize());
  EXPECT_EQ(data_of(*options_.statistics, rocksdb::BYTES_PER_WRITE).sum, bytes);
  EXPECT_EQ(data_of(*options_.statistics, rocksdb::BYTES_PER_WRITE).count, 3U);
  EXPECT_EQ(data_of(*options_.statistics, rocksdb::DB_WRITE).count, 3U);
}

TEST_F(Counted, MergesAndWhatNeedsATransaction) {
  options_.merge_operator = std::make_shared<Append>();
  open();
  ASSERT_OK(db_->Merge({}, "a", "1"));
  ASSERT_OK(db_->DeleteRange({}, db_->DefaultColumnFamily(), "a", "b"));
  EXPECT_EQ(ticks(rocksdb::NUMBER_KEYS_WRITTEN), 2U);
  EXPECT_EQ(get("a"), "(missing)");
}

TEST_F(Counted, Reads) {
  open();
  ASSERT_OK(put("a", "12345"));
  EXPECT_EQ(get("a"), "12345");
  EXPECT_EQ(get("b"), "(missing)");
  EXPECT_EQ(ticks(rocksdb::NUMBER_KEYS_READ), 2U);
  EXPECT_EQ(ticks(rocksdb::BYTES_READ), 5U);
  EXPECT_EQ(data_of(*options_.statistics, rocksdb::BYTES_PER_READ).max, 5);
  EXPECT_EQ(data_of(*options_.statistics, rocksdb::DB_GET).count, 2U);
  std::vector<std::string> values;
  db_->MultiGet({}, std::vector<rocksdb::Slice>{"a", "b", "a"}, &values);
  EXPECT_EQ(ticks(rocksdb::NUMBER_MULTIGET_CALLS), 1U);
  EXPECT_EQ(ticks(rocksdb::NUMBER_MULTIGET_KEYS_READ), 3U);
  EXPECT_EQ(ticks(rocksdb::NUMBER_MULTIGET_KEYS_FOUND), 2U);
  EXPECT_EQ(ticks(rocksdb::NUMBER_MULTIGET_BYTES_READ), 10U);
  EXPECT_EQ(data_of(*options_.statistics, rocksdb::BYTES_PER_MULTIGET).sum, 10U);
  EXPECT_EQ(data_of(*options_.statistics, rocksdb::DB_MULTIGET).count, 1U);
  EXPECT_EQ(all(), "a=12345 ");
  EXPECT_EQ(ticks(rocksdb::NO_ITERATOR_CREATED), 1U);
}

TEST_F(Counted, LevelsLeaveOut) {
  Statistics& statistics = *options_.statistics;
  EXPECT_EQ(statistics.get_stats_level(), rocksdb::kExceptDetailedTimers);
  open();
  statistics.set_stats_level(rocksdb::kExceptTimers);
  ASSERT_OK(put("a", "1"));
  EXPECT_EQ(data_of(statistics, rocksdb::DB_WRITE).count, 0U);
  EXPECT_EQ(data_of(statistics, rocksdb::BYTES_PER_WRITE).count, 1U);
  statistics.set_stats_level(rocksdb::kExceptHistogramOrTimers);
  ASSERT_OK(put("a", "1"));
  EXPECT_EQ(data_of(statistics, rocksdb::BYTES_PER_WRITE).count, 1U);
  EXPECT_EQ(ticks(rocksdb::NUMBER_KEYS_WRITTEN), 2U);
  statistics.set_stats_level(rocksdb::kDisableAll);
  ASSERT_OK(put("a", "1"));
  EXPECT_EQ(ticks(rocksdb::NUMBER_KEYS_WRITTEN), 2U);
}

TEST(Figures, Histograms) {
  const std::shared_ptr<Statistics> statistics = rocksdb::CreateDBStatistics();
  EXPECT_EQ(data_of(*statistics, rocksdb::DB_GET).max, 0);
  for (uint64_t value = 1; value <= 1000; ++value) {
    statistics->recordInHistogram(rocksdb::DB_GET, value);
  }
  const HistogramData data = data_of(*statistics, rocksdb::DB_GET);
  EXPECT_EQ(data.count, 1000U);
  EXPECT_EQ(data.sum, 500500U);
  EXPECT_EQ(data.min, 1);
  EXPECT_EQ(data.max, 1000);
  EXPECT_EQ(data.average, 500.5);
  EXPECT_NEAR(data.standard_deviation, 288.67, 0.01);
  EXPECT_GE(data.median, 500);
  EXPECT_LE(data.median, 500 * 1.125);
  EXPECT_GE(data.percentile95, 950);
  EXPECT_LE(data.percentile95, 1000);
  EXPECT_GE(data.percentile99, 990);
  EXPECT_LE(data.percentile99, 1000);
  statistics->reportTimeToHistogram(rocksdb::DB_GET, UINT64_MAX);
  EXPECT_EQ(data_of(*statistics, rocksdb::DB_GET).max, static_cast<double>(UINT64_MAX));
  EXPECT_NE(statistics->getHistogramString(rocksdb::DB_GET).find("COUNT : 1001"),
            std::string::npos);
  // There is nothing of it to count, and no more of what is no histogram at all.
  statistics->recordInHistogram(rocksdb::FLUSH_TIME, 1);
  EXPECT_EQ(data_of(*statistics, rocksdb::FLUSH_TIME).count, 0U);
  EXPECT_EQ(data_of(*statistics, rocksdb::HISTOGRAM_ENUM_MAX).count, 0U);
  EXPECT_TRUE(statistics->HistEnabledForType(rocksdb::DB_GET));
  EXPECT_FALSE(statistics->HistEnabledForType(rocksdb::HISTOGRAM_ENUM_MAX));
  ASSERT_OK(statistics->Reset());
  EXPECT_EQ(data_of(*statistics, rocksdb::DB_GET).count, 0U);
}

TEST(Figures, Tickers) {
  const std::shared_ptr<Statistics> statistics = rocksdb::CreateDBStatistics();
  EXPECT_STREQ(Statistics::Type(), "Statistics");
  EXPECT_STREQ(statistics->Name(), "BasicStatistics");
  statistics->recordTick(rocksdb::BYTES_READ);
  statistics->recordTick(rocksdb::BYTES_READ, 2);
  statistics->recordTick(rocksdb::TICKER_ENUM_MAX, 2);
  EXPECT_EQ(statistics->getTickerCount(rocksdb::BYTES_READ), 3U);
  EXPECT_EQ(statistics->getTickerCount(rocksdb::TICKER_ENUM_MAX), 0U);
  EXPECT_NE(statistics->ToString().find("rocksdb.bytes.read COUNT : 3\n"), std::string::npos);
  std::map<std::string, uint64_t> tickers;
  EXPECT_TRUE(statistics->getTickerMap(&tickers));
  EXPECT_EQ(tickers["rocksdb.bytes.read"], 3U);
  EXPECT_EQ(statistics->getAndResetTickerCount(rocksdb::BYTES_READ), 3U);
  statistics->setTickerCount(rocksdb::BYTES_READ, 7);
  EXPECT_EQ(statistics->getTickerCount(rocksdb::BYTES_READ), 7U);
}

// A program's own is called, and may leave out what it does not want.
TEST_F(Counted, ByAProgramsOwn) {
  class Own final : public Statistics {
   public:
    uint64_t getTickerCount(uint32_t) const override { return 0; }
    void histogramData(uint32_t, HistogramData* const) const override {}
    void recordTick(uint32_t type, uint64_t count) override {
      if (type == rocksdb::NUMBER_KEYS_WRITTEN) keys += count;
    }
    void setTickerCount(uint32_t, uint64_t) override {}
    uint64_t getAndResetTickerCount(uint32_t) override { return 0; }
    uint64_t keys = 0;
  };
  const auto own = std::make_shared<Own>();
  options_.statistics = own;
  open();
  ASSERT_OK(put("a", "1"));
  EXPECT_EQ(own->keys, 1U);
  EXPECT_TRUE(own->Reset().IsNotSupported());
  EXPECT_EQ(own->ToString(), "");
  EXPECT_STREQ(own->Name(), "");
}

}  // namespace
}  // namespace hawthorn::rocks
