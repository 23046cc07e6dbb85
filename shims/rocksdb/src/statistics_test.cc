// Statistics: what is counted, and how histograms tell it.

#include <rocksdb/cache.h>
#include <rocksdb/compaction_filter.h>
#include <rocksdb/statistics.h>
#include <rocksdb/utilities/backup_engine.h>
#include <rocksdb/utilities/optimistic_transaction_db.h>
#include <rocksdb/utilities/transaction_db.h>

#include "shims/rocksdb/src/rocksdb_test_fixture.h"
#include "testing/wait.h"

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

TEST_F(Counted, Iterators) {
  open();
  for (const char* key : {"a", "b", "c"}) ASSERT_OK(put(key, "12345"));
  std::unique_ptr<rocksdb::Iterator> iterator(db_->NewIterator({}));
  EXPECT_EQ(ticks(rocksdb::NO_ITERATOR_DELETED), 0U);
  EXPECT_EQ(walk(*iterator), "a=12345 b=12345 c=12345 ");
  EXPECT_EQ(ticks(rocksdb::NUMBER_DB_SEEK), 1U);
  EXPECT_EQ(walk(*iterator, false), "c=12345 b=12345 a=12345 ");
  EXPECT_EQ(ticks(rocksdb::NUMBER_DB_NEXT), 3U);
  EXPECT_EQ(ticks(rocksdb::NUMBER_DB_NEXT_FOUND), 2U);
  iterator->Seek("z");
  EXPECT_FALSE(iterator->Valid());
  EXPECT_EQ(ticks(rocksdb::NUMBER_DB_PREV), 3U);
  EXPECT_EQ(ticks(rocksdb::NUMBER_DB_PREV_FOUND), 2U);
  iterator->SeekForPrev("z");
  iterator->Prev();
  EXPECT_EQ(iterator->key(), "b");
  EXPECT_TRUE(iterator->PrepareValue());
  std::string property;
  ASSERT_OK(iterator->GetProperty("rocksdb.iterator.internal-key", &property));
  EXPECT_EQ(property, "b");
  EXPECT_EQ(ticks(rocksdb::NUMBER_DB_SEEK), 4U);
  EXPECT_EQ(ticks(rocksdb::NUMBER_DB_SEEK_FOUND), 3U);
  EXPECT_EQ(data_of(*options_.statistics, rocksdb::DB_SEEK).count, 2U);
  EXPECT_EQ(ticks(rocksdb::ITER_BYTES_READ), 7 * 6U);
  ASSERT_OK(iterator->Refresh());
  iterator.reset();
  EXPECT_EQ(ticks(rocksdb::ITER_BYTES_READ), 8 * 6U);
  EXPECT_EQ(ticks(rocksdb::NUMBER_DB_PREV), 4U);
  std::vector<rocksdb::Iterator*> two;
  rocksdb::ColumnFamilyHandle* const family = db_->DefaultColumnFamily();
  ASSERT_OK(db_->NewIterators({}, {family, family}, &two));
  EXPECT_EQ(ticks(rocksdb::NO_ITERATOR_CREATED), 3U);
  for (rocksdb::Iterator* each : two) delete each;
  EXPECT_EQ(ticks(rocksdb::NO_ITERATOR_DELETED), 3U);
}

// What the engine counts, which is asked when a program asks.
TEST_F(Counted, TheEnginesFigures) {
  open();
  rocksdb::WriteOptions sync;
  sync.sync = true;
  ASSERT_OK(db_->Put(sync, "a", std::string(10000, 'v')));
  EXPECT_GE(ticks(rocksdb::WAL_FILE_SYNCED), 1U);
  const uint64_t bytes = ticks(rocksdb::WAL_FILE_BYTES);
  EXPECT_GT(bytes, 10000U);
  EXPECT_GE(ticks(rocksdb::WAL_FILE_BYTES), bytes);
  Statistics& statistics = *options_.statistics;
  EXPECT_GE(statistics.getAndResetTickerCount(rocksdb::WAL_FILE_BYTES), bytes);
  ASSERT_OK(db_->SyncWAL());
  ASSERT_OK(statistics.Reset());
  EXPECT_EQ(ticks(rocksdb::WAL_FILE_SYNCED), 0U);
  ASSERT_OK(db_->Put(sync, "b", "1"));
  ASSERT_OK(db_->SyncWAL());
  EXPECT_EQ(data_of(statistics, rocksdb::WAL_FILE_SYNC_MICROS).count, 1U);
  EXPECT_GE(ticks(rocksdb::WAL_FILE_SYNCED), 1U);
  EXPECT_LT(ticks(rocksdb::WAL_FILE_BYTES), 10000U);
  std::map<std::string, uint64_t> all;
  ASSERT_TRUE(statistics.getTickerMap(&all));
  EXPECT_EQ(all["rocksdb.wal.synced"], ticks(rocksdb::WAL_FILE_SYNCED));
  ASSERT_OK(db_->VerifyChecksum());
  EXPECT_GT(ticks(rocksdb::VERIFY_CHECKSUM_READ_BYTES), 10000U);
  close();
  EXPECT_GE(ticks(rocksdb::WAL_FILE_SYNCED), 1U);
}

TEST_F(Counted, AfterAClosingThatFailed) {
  open();
  std::unique_ptr<rocksdb::Iterator> iterator(db_->NewIterator({}));
  EXPECT_TRUE(db_->Close().IsBusy());
  rocksdb::WriteOptions sync;
  sync.sync = true;
  ASSERT_OK(db_->Put(sync, "a", std::string(10000, 'v')));
  EXPECT_GT(ticks(rocksdb::WAL_FILE_BYTES), 10000U);
  iterator.reset();
  ASSERT_OK(db_->Close());
  EXPECT_GT(ticks(rocksdb::WAL_FILE_BYTES), 10000U);
}

TEST_F(Counted, BlocksOfReads) {
  options_.write_buffer_size = 1;
  options_.row_cache = rocksdb::NewLRUCache(size_t{16} << 20);
  open();
  constexpr int kKeys = 20000;  // more than the budget holds
  for (int i = 0; i < kKeys; ++i) ASSERT_OK(put(std::to_string(i), std::string(3000, 'v')));
  ASSERT_OK(db_->Flush({}));
  for (int i = 0; i < kKeys; i += 97) EXPECT_EQ(get(std::to_string(i)).size(), 3000U);
  const uint64_t misses = ticks(rocksdb::BLOCK_CACHE_MISS);
  EXPECT_GT(misses, 0U);
  EXPECT_GE(ticks(rocksdb::BLOCK_CACHE_ADD), misses);
  const uint64_t hits = ticks(rocksdb::BLOCK_CACHE_HIT);
  for (int i = 0; i < kKeys; i += 97) EXPECT_EQ(get(std::to_string(i)).size(), 3000U);
  EXPECT_GT(ticks(rocksdb::BLOCK_CACHE_HIT), hits);
}

TEST_F(Counted, FlushesAndCompactions) {
  open();
  for (int i = 0; i < 3000; ++i) ASSERT_OK(put(std::to_string(i), std::string(1000, 'v')));
  ASSERT_OK(db_->Flush({}));
  for (int i = 0; i < 3000; i += 2) ASSERT_OK(put(std::to_string(i), std::string(1000, 'w')));
  ASSERT_OK(db_->CompactRange({}, nullptr, nullptr));
  close();
  const Statistics& statistics = *options_.statistics;
  EXPECT_GT(ticks(rocksdb::FLUSH_WRITE_BYTES), 3000000U);
  EXPECT_GT(ticks(rocksdb::COMPACT_WRITE_BYTES), 0U);
  EXPECT_GT(data_of(statistics, rocksdb::FLUSH_TIME).count, 0U);
  const uint64_t compactions = data_of(statistics, rocksdb::COMPACTION_TIME).count;
  EXPECT_GT(compactions, 0U);
  EXPECT_EQ(data_of(statistics, rocksdb::NUM_FILES_IN_SINGLE_COMPACTION).count, compactions);
  EXPECT_EQ(ticks(rocksdb::FILES_DELETED_IMMEDIATELY), 0U);
}

TEST_F(Counted, StallsOfWriters) {
  open();
  const std::string value(20000, 'v');
  constexpr int kKeys = 20'000;  // more than memory holds
  int puts = 0;
  ASSERT_TRUE(testing::wait_until([&] {
    for (int i = 0; i < 1000; ++i) EXPECT_OK(put(std::to_string(puts++ % kKeys), value));
    return ticks(rocksdb::STALL_MICROS) > 0 || HasFailure();
  }));
  close();
  EXPECT_GT(data_of(*options_.statistics, rocksdb::WRITE_STALL).count, 0U);
}

// Refuses operands that say so.
class Picky final : public rocksdb::AssociativeMergeOperator {
 public:
  const char* Name() const override { return "test.Picky"; }
  bool Merge(const rocksdb::Slice&, const rocksdb::Slice*, const rocksdb::Slice& value,
             std::string* result, rocksdb::Logger*) const override {
    *result = value.ToString();
    return value != "refuse";
  }
};

TEST_F(Counted, MergeOperators) {
  options_.merge_operator = std::make_shared<Picky>();
  open();
  ASSERT_OK(db_->Merge({}, "a", "1"));
  EXPECT_EQ(get("a"), "1");
  EXPECT_EQ(ticks(rocksdb::NUMBER_MERGE_FAILURES), 0U);
  EXPECT_GT(ticks(rocksdb::MERGE_OPERATION_TOTAL_TIME), 0U);
  ASSERT_OK(db_->Merge({}, "b", "refuse"));
  EXPECT_NE(get("b"), "refuse");
  EXPECT_GT(ticks(rocksdb::NUMBER_MERGE_FAILURES), 0U);
  // So that closing can flush it.
  ASSERT_OK(db_->Delete({}, "b"));
}

TEST_F(Counted, Filters) {
  class Odd final : public rocksdb::CompactionFilter {
   public:
    const char* Name() const override { return "test.Odd"; }
    bool Filter(int, const rocksdb::Slice& key, const rocksdb::Slice&, std::string*,
                bool*) const override {
      return key.ToString().back() % 2 == 1;
    }
  };
  static const Odd odd;  // outlives the database, which closes after the test
  options_.compaction_filter = &odd;
  options_.statistics->set_stats_level(rocksdb::kExceptTimeForMutex);
  open();
  for (int i = 0; i < 10; ++i) ASSERT_OK(put(std::to_string(i), "v"));
  ASSERT_OK(db_->CompactRange({}, nullptr, nullptr));
  EXPECT_EQ(ticks(rocksdb::COMPACTION_KEY_DROP_USER), 5U);
  EXPECT_GT(ticks(rocksdb::FILTER_OPERATION_TOTAL_TIME), 0U);
  close();
}

TEST_F(Counted, Transactions) {
  rocksdb::TransactionDB* made = nullptr;
  ASSERT_OK(rocksdb::TransactionDB::Open(options_, {}, path_, &made));
  const std::unique_ptr<rocksdb::TransactionDB> db(made);
  const std::unique_ptr<rocksdb::Transaction> one(db->BeginTransaction({}));
  ASSERT_OK(one->Put("a", "1"));
  ASSERT_OK(one->Put("b", "2"));
  EXPECT_EQ(ticks(rocksdb::NUMBER_KEYS_WRITTEN), 0U);
  ASSERT_OK(one->Commit());
  EXPECT_EQ(ticks(rocksdb::NUMBER_KEYS_WRITTEN), 2U);
  EXPECT_EQ(data_of(*options_.statistics, rocksdb::NUM_OP_PER_TRANSACTION).max, 2);
  const std::unique_ptr<rocksdb::Transaction> two(db->BeginTransaction({}));
  ASSERT_OK(two->SetName("two"));
  ASSERT_OK(two->Put("c", "3"));
  ASSERT_OK(two->Prepare());
  ASSERT_OK(two->Commit());
  EXPECT_EQ(ticks(rocksdb::NUMBER_KEYS_WRITTEN), 3U);
  EXPECT_EQ(data_of(*options_.statistics, rocksdb::NUM_OP_PER_TRANSACTION).count, 2U);
  EXPECT_EQ(data_of(*options_.statistics, rocksdb::DB_WRITE).count, 2U);
}

TEST_F(Counted, OptimisticTransactions) {
  rocksdb::OptimisticTransactionDB* made = nullptr;
  ASSERT_OK(rocksdb::OptimisticTransactionDB::Open(options_, path_, &made));
  const std::unique_ptr<rocksdb::OptimisticTransactionDB> db(made);
  const std::unique_ptr<rocksdb::Transaction> one(db->BeginTransaction({}));
  ASSERT_OK(one->Put("a", "1"));
  ASSERT_OK(one->Commit());
  EXPECT_EQ(ticks(rocksdb::NUMBER_KEYS_WRITTEN), 1U);
  EXPECT_EQ(data_of(*options_.statistics, rocksdb::NUM_OP_PER_TRANSACTION).sum, 1U);
}

TEST_F(Counted, Backups) {
  open();
  ASSERT_OK(put("a", std::string(10000, 'v')));
  rocksdb::BackupEngine* made = nullptr;
  ASSERT_OK(rocksdb::BackupEngine::Open(
      rocksdb::Env::Default(), rocksdb::BackupEngineOptions(directory_ + "/backups"), &made));
  const std::unique_ptr<rocksdb::BackupEngine> engine(made);
  ASSERT_OK(engine->CreateNewBackup(db_.get(), true));
  EXPECT_GT(ticks(rocksdb::BACKUP_READ_BYTES), 10000U);
  EXPECT_GT(ticks(rocksdb::BACKUP_WRITE_BYTES), 0U);
}

TEST_F(Counted, Errors) {
  open();
  ASSERT_OK(put("a", "1"));
  write_to_broken_log([&] { return ticks(rocksdb::ERROR_HANDLER_BG_ERROR_COUNT) > 0; });
  close();
  EXPECT_GT(ticks(rocksdb::ERROR_HANDLER_BG_ERROR_COUNT), 0U);
  EXPECT_GT(ticks(rocksdb::ERROR_HANDLER_BG_IO_ERROR_COUNT), 0U);
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
  // What a program counts of its own, and nothing of what is no histogram at all.
  statistics->recordInHistogram(rocksdb::SST_READ_MICROS, 1);
  EXPECT_EQ(data_of(*statistics, rocksdb::SST_READ_MICROS).count, 1U);
  statistics->recordInHistogram(rocksdb::HISTOGRAM_ENUM_MAX, 1);
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
  EXPECT_EQ(tickers.size(), size_t{rocksdb::TICKER_ENUM_MAX});
  EXPECT_EQ(tickers["rocksdb.bytes.read"], 3U);
  EXPECT_EQ(statistics->getAndResetTickerCount(rocksdb::BYTES_READ), 3U);
  statistics->setTickerCount(rocksdb::BYTES_READ, 7);
  EXPECT_EQ(statistics->getTickerCount(rocksdb::BYTES_READ), 7U);
}

TEST(Figures, Names) {
  ASSERT_EQ(rocksdb::TickersNameMap.size(), size_t{rocksdb::TICKER_ENUM_MAX});
  for (uint32_t i = 0; i < rocksdb::TICKER_ENUM_MAX; ++i) {
    EXPECT_EQ(rocksdb::TickersNameMap[i].first, i);
  }
  ASSERT_EQ(rocksdb::HistogramsNameMap.size(), size_t{rocksdb::HISTOGRAM_ENUM_MAX});
  for (uint32_t i = 0; i < rocksdb::HISTOGRAM_ENUM_MAX; ++i) {
    EXPECT_EQ(rocksdb::HistogramsNameMap[i].first, i);
  }
  EXPECT_EQ(rocksdb::TickersNameMap[rocksdb::WAL_FILE_SYNCED].second, "rocksdb.wal.synced");
  EXPECT_EQ(rocksdb::HistogramsNameMap[rocksdb::DB_SEEK].second, "rocksdb.db.seek.micros");
}

// A program's own is called, and may leave out what it does not want.
TEST_F(Counted, ByAProgramsOwn) {
  class Own final : public Statistics {
   public:
    uint64_t getTickerCount(uint32_t) const override { return 0; }
    void histogramData(uint32_t, HistogramData* const) const override {}
    void recordTick(uint32_t type, uint64_t count) override {
      if (type == rocksdb::NUMBER_KEYS_WRITTEN) keys += count;
      if (type == rocksdb::WAL_FILE_BYTES) log_bytes += count;
    }
    void setTickerCount(uint32_t, uint64_t) override {}
    uint64_t getAndResetTickerCount(uint32_t) override { return 0; }
    uint64_t keys = 0;
    uint64_t log_bytes = 0;
  };
  const auto own = std::make_shared<Own>();
  options_.statistics = own;
  open();
  ASSERT_OK(put("a", "1"));
  EXPECT_EQ(own->keys, 1U);
  EXPECT_EQ(own->log_bytes, 0U);
  ASSERT_OK(db_->Flush({}));
  const uint64_t log_bytes = own->log_bytes;
  EXPECT_GT(log_bytes, 0U);
  rocksdb::WriteOptions sync;
  sync.sync = true;
  ASSERT_OK(db_->Put(sync, "b", std::string(10000, 'v')));
  EXPECT_EQ(own->log_bytes, log_bytes);
  ASSERT_OK(db_->CompactRange({}, nullptr, nullptr));
  EXPECT_GT(own->log_bytes, log_bytes + 10000);
  EXPECT_TRUE(own->Reset().IsNotSupported());
  EXPECT_EQ(own->ToString(), "");
  EXPECT_STREQ(own->Name(), "");
}

}  // namespace
}  // namespace hawthorn::rocks
