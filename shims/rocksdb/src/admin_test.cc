// Care and figures of a database.

#include <rocksdb/cache.h>
#include <rocksdb/statistics.h>

#include <atomic>
#include <thread>

#include "shims/rocksdb/src/rocksdb_test_fixture.h"
#include "testing/scaled.h"
#include "testing/wait.h"

namespace hawthorn::rocks {
namespace {

using rocksdb::DB;
using rocksdb::Range;
using rocksdb::Slice;
using rocksdb::Status;
using Names = rocksdb::DB::Properties;

class Care : public RocksTest {
 protected:
  uint64_t number(const std::string& name) {
    uint64_t value = 12345;
    EXPECT_TRUE(db_->GetIntProperty(name, &value)) << name;
    std::string text;
    EXPECT_TRUE(db_->GetProperty(name, &text)) << name;
    EXPECT_FALSE(text.empty()) << name;
    uint64_t sum = 0;
    EXPECT_TRUE(db_->GetAggregatedIntProperty(name, &sum)) << name;
    return value;
  }
  std::string text(const std::string& name) {
    std::string value;
    EXPECT_TRUE(db_->GetProperty(name, &value)) << name;
    uint64_t none = 1;
    EXPECT_FALSE(db_->GetIntProperty(name, &none)) << name;
    EXPECT_EQ(none, 0U);
    return value;
  }
  void fill(int count) {
    for (int i = 0; i < count; ++i) {
      ASSERT_OK(put(std::to_string(100000 + i), std::string(100, 'v')));
    }
  }
};

TEST_F(Care, Properties) {
  open();
  fill(1000);
  EXPECT_EQ(number(Names::kEstimateNumKeys), 1000U);
  EXPECT_EQ(number(Names::kNumEntriesActiveMemTable), 1000U);
  EXPECT_GT(number(Names::kCurSizeActiveMemTable), 0U);
  EXPECT_GT(number(Names::kCurSizeAllMemTables), 0U);
  EXPECT_GT(number(Names::kSizeAllMemTables), 0U);
  EXPECT_EQ(number(Names::kTotalSstFilesSize), 0U);
  ASSERT_OK(db_->Flush(rocksdb::FlushOptions()));
  EXPECT_EQ(number(Names::kEstimateNumKeys), 1000U);
  EXPECT_EQ(number(Names::kNumEntriesActiveMemTable), 0U);
  EXPECT_GE(number(Names::kTotalSstFilesSize), 100000U);
  EXPECT_GE(number(Names::kLiveSstFilesSize), 100000U);
  EXPECT_GE(number(Names::kEstimateLiveDataSize), 100000U);
  EXPECT_GT(number(Names::kBlockCacheCapacity), 0U);
  EXPECT_GE(number(Names::kBlockCacheCapacity), number(Names::kBlockCacheUsage));
  EXPECT_EQ(number(Names::kBlockCachePinnedUsage), 0U);
  EXPECT_EQ(number(Names::kNumLiveVersions), 1U);
  EXPECT_EQ(number(Names::kIsFileDeletionsEnabled), 1U);
  EXPECT_EQ(number(Names::kNumSnapshots), 0U);
  EXPECT_EQ(number(Names::kOldestSnapshotTime), 0U);
  EXPECT_EQ(number(Names::kOldestSnapshotSequence), 0U);
  for (const std::string& zero : {Names::kNumImmutableMemTable,
                                  Names::kNumImmutableMemTableFlushed,
                                  Names::kMemTableFlushPending,
                                  Names::kNumRunningFlushes,
                                  Names::kCompactionPending,
                                  Names::kNumRunningCompactions,
                                  Names::kBackgroundErrors,
                                  Names::kNumEntriesImmMemTables,
                                  Names::kEstimateTableReadersMem,
                                  Names::kCurrentSuperVersionNumber,
                                  Names::kBaseLevel,
                                  Names::kEstimatePendingCompactionBytes,
                                  Names::kActualDelayedWriteRate,
                                  Names::kIsWriteStopped,
                                  Names::kNumRunningCompactionSortedRuns,
                                  Names::kNumDeletesImmMemTables,
                                  Names::kNumBlobFiles,
                                  Names::kTotalBlobFileSize,
                                  Names::kLiveBlobFileSize,
                                  Names::kLiveBlobFileGarbageSize,
                                  Names::kObsoleteSstFilesSize}) {
    EXPECT_EQ(number(zero), 0U) << zero;
  }
  EXPECT_EQ(number(Names::kMinObsoleteSstNumberToKeep), UINT64_MAX);
  EXPECT_EQ(text(Names::kNumFilesAtLevelPrefix + "0"), "1");
  EXPECT_EQ(text(Names::kNumFilesAtLevelPrefix + "6"), "0");
  EXPECT_NE(text(Names::kStats).find("commits"), std::string::npos);
  EXPECT_NE(text(Names::kDBStats).find("commits"), std::string::npos);
  EXPECT_NE(text(Names::kCFStats).find("entries on disk: 1000"), std::string::npos);
  EXPECT_EQ(text(Names::kCFStatsNoFileHistogram), text(Names::kCFStats));
  EXPECT_EQ(text(Names::kStats).find(text(Names::kCFStats)), 0U);
  EXPECT_NE(text(Names::kLevelStats).find("0 1 "), std::string::npos);
  EXPECT_EQ(text(Names::kLiveSstFilesSizeAtTemperature + "0"),
            std::to_string(number(Names::kLiveSstFilesSize)));
  EXPECT_EQ(text(Names::kLiveSstFilesSizeAtTemperature + "4"), "0");
  EXPECT_EQ(text(Names::kBlobStats).find("Number of blob files: 0"), 0U);
  std::string value;
  for (const char* unknown :
       {"rocksdb.num-files-at-level7", "rocksdb.num-files-at-level", "rocksdb.num-files-at-levelx",
        "rocksdb.nothing", "", Names::kSSTables.c_str(), Names::kCFFileHistogram.c_str(),
        Names::kBlockCacheEntryStats.c_str(), Names::kFastBlockCacheEntryStats.c_str(),
        Names::kNumDeletesActiveMemTable.c_str(), Names::kMinLogNumberToKeep.c_str(),
        Names::kAggregatedTablePropertiesAtLevel.c_str(), Names::kEstimateOldestKeyTime.c_str(),
        Names::kOptionsStatistics.c_str(), Names::kBlobCacheCapacity.c_str()}) {
    EXPECT_FALSE(db_->GetProperty(unknown, &value)) << unknown;
    std::map<std::string, std::string> map;
    EXPECT_FALSE(db_->GetMapProperty(unknown, &map)) << unknown;
    uint64_t none = 0;
    EXPECT_FALSE(db_->GetAggregatedIntProperty(unknown, &none)) << unknown;
  }
}

TEST_F(Care, PropertiesOfCompression) {
  options_.compression = rocksdb::kLZ4Compression;
  open();
  EXPECT_EQ(text(Names::kCompressionRatioAtLevelPrefix + "0"), "-1.000000");
  fill(1000);
  ASSERT_OK(db_->Flush({}));
  EXPECT_GT(std::stod(text(Names::kCompressionRatioAtLevelPrefix + "0")), 1.5);
  EXPECT_EQ(text(Names::kCompressionRatioAtLevelPrefix + "6"), "-1.000000");
}

TEST_F(Care, PropertiesOfOptions) {
  options_.statistics = rocksdb::CreateDBStatistics();
  options_.blob_cache = rocksdb::NewLRUCache(size_t{9} << 20);
  open();
  fill(10);
  EXPECT_NE(text(Names::kOptionsStatistics).find("rocksdb.number.keys.written COUNT : 10\n"),
            std::string::npos);
  EXPECT_EQ(number(Names::kBlobCacheCapacity), uint64_t{9} << 20);
  EXPECT_LE(number(Names::kBlobCacheUsage), number(Names::kBlockCacheCapacity));
  EXPECT_EQ(number(Names::kBlobCachePinnedUsage), 0U);
  EXPECT_EQ(number(Names::kBackgroundErrors), 0U);
  write_to_broken_log([&] { return number(Names::kBackgroundErrors) > 0; });
}

TEST_F(Care, PropertiesThatAreMaps) {
  open();
  fill(1000);
  ASSERT_OK(db_->Flush({}));
  const auto map = [this](const std::string& name) {
    std::map<std::string, std::string> figures = {{"before", ""}};
    EXPECT_TRUE(db_->GetMapProperty(name, &figures)) << name;
    EXPECT_FALSE(figures.contains("before"));
    return figures;
  };
  EXPECT_EQ(map(Names::kCFStats)["compaction.L0.NumFiles"], "1");
  EXPECT_EQ(map(Names::kCFStatsNoFileHistogram)["compaction.Sum.SizeBytes"],
            std::to_string(number(Names::kLiveSstFilesSize)));
  EXPECT_EQ(map(Names::kAggregatedTableProperties)["num_entries"], "1000");
  EXPECT_EQ(text(Names::kAggregatedTableProperties).find("data_size: "), 0U);
  EXPECT_EQ(map(Names::kCFWriteStallStats)["total-stops"], "0");
  EXPECT_EQ(map(Names::kDBWriteStallStats)["write-buffer-manager-limit-stops"], "0");
  EXPECT_GE(std::stoull(map(Names::kDBStats)["db.user_keys_written"]), 1000U);
  EXPECT_GT(std::stoull(map(Names::kDBStats)["db.wal_bytes_written"]), 100000U);
  EXPECT_LT(std::stoull(map(Names::kDBStats)["db.uptime"]), 100000U);
  // What was counted before is not shown any more.
  ASSERT_OK(db_->ResetStats());
  EXPECT_EQ(map(Names::kDBStats)["db.user_keys_written"], "0");
  EXPECT_NE(text(Names::kDBStats).find("operations: 0\n"), std::string::npos);
  fill(7);
  EXPECT_EQ(map(Names::kDBStats)["db.user_keys_written"], "7");
  EXPECT_EQ(map(Names::kDBStats)["db.user_writes_by_self"], "7");
}

TEST_F(Care, SizesOfRanges) {
  open();
  fill(20000);
  ASSERT_OK(db_->Flush(rocksdb::FlushOptions()));
  const Range ranges[] = {Range("1", "2"), Range("2", "3")};
  uint64_t sizes[2] = {1, 1};
  ASSERT_OK(db_->GetApproximateSizes(ranges, 2, sizes));
  EXPECT_GE(sizes[0], uint64_t{2000000});
  EXPECT_EQ(sizes[1], 0U);
  ASSERT_OK(db_->GetApproximateSizes(db_->DefaultColumnFamily(), ranges, 1, sizes,
                                     DB::SizeApproximationFlags::INCLUDE_MEMTABLES));
  EXPECT_EQ(sizes[0], 0U);
  ASSERT_OK(db_->GetApproximateSizes(
      db_->DefaultColumnFamily(), ranges, 1, sizes,
      DB::SizeApproximationFlags::INCLUDE_MEMTABLES | DB::SizeApproximationFlags::INCLUDE_FILES));
  EXPECT_GE(sizes[0], uint64_t{2000000});
  rocksdb::SizeApproximationOptions both;
  both.include_memtables = true;
  both.files_size_error_margin = 0.1;
  ASSERT_OK(db_->GetApproximateSizes(both, db_->DefaultColumnFamily(), ranges, 1, sizes));
  EXPECT_GE(sizes[0], uint64_t{2000000});
  rocksdb::SizeApproximationOptions none;
  none.include_files = false;
  EXPECT_TRUE(db_->GetApproximateSizes(none, db_->DefaultColumnFamily(), ranges, 1, sizes)
                  .IsInvalidArgument());
}

TEST_F(Care, FlushesAndCompactions) {
  open();
  fill(1000);
  rocksdb::FlushOptions flush;
  flush.wait = false;
  flush.allow_write_stall = true;
  ASSERT_OK(db_->Flush(flush, db_->DefaultColumnFamily()));
  ASSERT_OK(db_->Flush(flush, std::vector<rocksdb::ColumnFamilyHandle*>()));
  ASSERT_OK(db_->FlushWAL(false));
  ASSERT_OK(db_->FlushWAL(true));
  ASSERT_OK(db_->SyncWAL());
  rocksdb::CompactRangeOptions compact;
  compact.exclusive_manual_compaction = true;
  compact.change_level = true;
  compact.target_path_id = 1;
  compact.max_subcompactions = 2;
  compact.blob_garbage_collection_policy = rocksdb::BlobGarbageCollectionPolicy::kForce;
  compact.blob_garbage_collection_age_cutoff = 0.5;
  compact.target_level = 1;
  compact.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
  const Slice begin("1");
  const Slice end("2");
  ASSERT_OK(db_->CompactRange(compact, &begin, &end));
  std::atomic<bool> canceled{true};
  compact.canceled = &canceled;
  EXPECT_TRUE(db_->CompactRange(compact, &begin, &end).IsManualCompactionPaused());
  canceled = false;
  db_->DisableManualCompaction();
  EXPECT_TRUE(db_->CompactRange(compact, &begin, &end).IsManualCompactionPaused());
  db_->EnableManualCompaction();
  ASSERT_OK(db_->CompactRange(compact, db_->DefaultColumnFamily(), &begin, &end));
  compact.full_history_ts_low = &begin;
  EXPECT_TRUE(db_->CompactRange(compact, &begin, &end).IsNotSupported());
  ASSERT_OK(db_->EnableAutoCompaction({db_->DefaultColumnFamily()}));
  rocksdb::WaitForCompactOptions wait;
  wait.timeout = std::chrono::seconds(1);
  EXPECT_TRUE(db_->WaitForCompact(wait).IsNotSupported());
  wait = {};
  wait.abort_on_pause = true;
  wait.wait_for_purge = true;
  ASSERT_OK(db_->WaitForCompact(wait));
  wait.flush = true;
  wait.close_db = true;
  ASSERT_OK(db_->WaitForCompact(wait));
  reopen();
  EXPECT_EQ(get("100999"), std::string(100, 'v'));
}

TEST_F(Care, WhatADatabaseSaysOfItself) {
  open();
  fill(1000);
  ASSERT_OK(db_->VerifyChecksum());
  ASSERT_OK(db_->VerifyChecksum(rocksdb::ReadOptions()));
  std::string identity;
  ASSERT_OK(db_->GetDbIdentity(identity));
  EXPECT_EQ(identity.size(), 36U);
  for (const size_t at : {8, 13, 18, 23}) EXPECT_EQ(identity[at], '-');
  std::string session;
  ASSERT_OK(db_->GetDbSessionId(session));
  EXPECT_EQ(session.size(), 20U);
  EXPECT_EQ(db_->GetEnv(), rocksdb::Env::Default());
  EXPECT_EQ(db_->GetRootDB(), db_.get());
  EXPECT_EQ(db_->GetOptions().write_buffer_size, options_.write_buffer_size);
  EXPECT_TRUE(db_->GetDBOptions().create_if_missing);
  EXPECT_EQ(db_->NumberLevels(), 7);
  EXPECT_EQ(db_->MaxMemCompactionLevel(), 0);
  EXPECT_EQ(db_->Level0StopWriteTrigger(), 36);
  reopen();
  std::string again;
  ASSERT_OK(db_->GetDbIdentity(again));
  EXPECT_EQ(again, identity);
  ASSERT_OK(db_->GetDbSessionId(again));
  EXPECT_NE(again, session);
}

TEST_F(Care, FamiliesThatWereDroppedLeaveNothing) {
  open();
  const uint64_t rounds = testing::scaled(2000);
  uint64_t before = 0;
  for (uint64_t i = 0; i < rounds; ++i) {
    if (i == rounds / 4) before = number(Names::kBlockCacheUsage);
    rocksdb::ColumnFamilyHandle* made = nullptr;
    ASSERT_OK(db_->CreateColumnFamily(options_, "staging", &made));
    ASSERT_OK(put("key", "value", made));
    ASSERT_OK(db_->DropColumnFamily(made));
    ASSERT_OK(db_->DestroyColumnFamilyHandle(made));
  }
  EXPECT_LE(number(Names::kBlockCacheUsage), before + (256 << 10));
  std::vector<std::string> left;
  ASSERT_OK(DB::ListColumnFamilies(options_, path_, &left));
  EXPECT_EQ(left, std::vector<std::string>{"default"});
}

TEST_F(Care, WhatIsRefused) {
  open();
  EXPECT_TRUE(db_->Resume().IsNotSupported());
  EXPECT_TRUE(db_->PauseBackgroundWork().IsNotSupported());
  EXPECT_TRUE(db_->ContinueBackgroundWork().IsNotSupported());
  EXPECT_TRUE(db_->LockWAL().IsNotSupported());
  EXPECT_TRUE(db_->UnlockWAL().IsNotSupported());
  EXPECT_TRUE(db_->DisableFileDeletions().IsNotSupported());
  EXPECT_TRUE(db_->EnableFileDeletions().IsNotSupported());
  EXPECT_OK(db_->SuggestCompactRange(db_->DefaultColumnFamily(), nullptr, nullptr));
  EXPECT_TRUE(db_->PromoteL0(db_->DefaultColumnFamily(), 1).IsNotSupported());
  EXPECT_TRUE(db_->TryCatchUpWithPrimary().IsNotSupported());
}

}  // namespace
}  // namespace hawthorn::rocks
