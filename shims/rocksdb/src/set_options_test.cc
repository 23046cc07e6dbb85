// SetOptions and SetDBOptions: what changes, what is only shown, and what is refused as a whole.

#include <rocksdb/convenience.h>
#include <rocksdb/slice_transform.h>
#include <rocksdb/table.h>

#include <atomic>
#include <thread>

#include "shims/rocksdb/src/rocksdb_test_fixture.h"

namespace hawthorn::rocks {
namespace {

using rocksdb::DB;
using Changes = std::unordered_map<std::string, std::string>;

constexpr uint64_t kMegabyte = uint64_t{1} << 20;

class SetOptionsOf : public RocksTest {
 protected:
  uint64_t budget() { return figure(DB::Properties::kBlockCacheCapacity); }
  uint64_t figure(const std::string& property) {
    uint64_t value = 0;
    EXPECT_TRUE(db_->GetIntProperty(property, &value));
    return value;
  }
  // That all of them fail, and leave the options as they were.
  void refused(const Changes& changes) {
    std::string before, after;
    ASSERT_OK(GetStringFromColumnFamilyOptions(&before, db_->GetOptions()));
    const rocksdb::Status s = db_->SetOptions(changes);
    EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
    ASSERT_OK(GetStringFromColumnFamilyOptions(&after, db_->GetOptions()));
    EXPECT_EQ(before, after);
  }
  // Bytes on disk of entries that are put now.
  uint64_t flushed_bytes(const std::string& prefix) {
    const uint64_t before = figure(DB::Properties::kLiveSstFilesSize);
    for (int i = 0; i < 2000; ++i) {
      EXPECT_OK(put(prefix + std::to_string(i), std::string(200, static_cast<char>('a' + i % 3))));
    }
    EXPECT_OK(db_->Flush(rocksdb::FlushOptions()));
    return figure(DB::Properties::kLiveSstFilesSize) - before;
  }
};

TEST_F(SetOptionsOf, MemoryOfWriteBuffersAndCaches) {
  open();
  EXPECT_EQ(budget(), 32 * kMegabyte + 2 * 4 * kMegabyte);
  ASSERT_OK(db_->SetOptions({{"write_buffer_size", "16M"}, {"max_write_buffer_number", "3"}}));
  EXPECT_EQ(budget(), 32 * kMegabyte + 3 * 16 * kMegabyte);
  EXPECT_EQ(db_->GetOptions().write_buffer_size, 16 * kMegabyte);
  ASSERT_OK(db_->SetOptions({{"block_based_table_factory", "{block_cache=64M;block_size=8k}"}}));
  EXPECT_EQ(budget(), 64 * kMegabyte + 3 * 16 * kMegabyte);
  const rocksdb::Options now = db_->GetOptions();
  const auto& table = *now.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();
  EXPECT_EQ(table.block_size, 8192U);
  table.block_cache->SetCapacity(80 * kMegabyte);
  EXPECT_EQ(budget(), 80 * kMegabyte + 3 * 16 * kMegabyte);
  // The options that the program has opened it with stay its own.
  EXPECT_EQ(options_.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>()->block_size,
            4096U);
}

TEST_F(SetOptionsOf, OfOneFamily) {
  options_.create_missing_column_families = true;
  ASSERT_OK(try_open({"default", "other"}));
  const uint64_t before = budget();
  ASSERT_OK(db_->SetOptions(handles_[1],
                            {{"write_buffer_size", "8M"}, {"level0_stop_writes_trigger", "5"}}));
  EXPECT_EQ(budget(), before + 2 * 4 * kMegabyte);
  EXPECT_EQ(db_->GetOptions(handles_[1]).write_buffer_size, 8 * kMegabyte);
  EXPECT_EQ(db_->Level0StopWriteTrigger(handles_[1]), 5);
  EXPECT_EQ(db_->GetOptions().write_buffer_size, 4 * kMegabyte);
  rocksdb::ColumnFamilyDescriptor descriptor;
  ASSERT_OK(handles_[1]->GetDescriptor(&descriptor));
  EXPECT_EQ(descriptor.options.write_buffer_size, 8 * kMegabyte);
  ASSERT_OK(db_->DropColumnFamily(handles_[1]));
  EXPECT_TRUE(db_->SetOptions(handles_[1], {{"write_buffer_size", "4M"}}).IsInvalidArgument());
}

TEST_F(SetOptionsOf, CompressionOfWhatIsWrittenThen) {
  open();
  const uint64_t plain = flushed_bytes("a");
  ASSERT_OK(db_->SetOptions({{"compression", "kZSTD"}}));
  const uint64_t compressed = flushed_bytes("b");
  EXPECT_LT(2 * compressed, plain);
  // A new life goes by its own options.
  reopen();
  EXPECT_GT(flushed_bytes("c"), 2 * compressed);
  EXPECT_EQ(get("b1"), std::string(200, 'b'));
}

TEST_F(SetOptionsOf, PrefixesOfLaterIterators) {
  open();
  ASSERT_OK(put("aa1", "1"));
  ASSERT_OK(put("aa2", "2"));
  ASSERT_OK(put("ab1", "3"));
  rocksdb::ReadOptions options;
  options.prefix_same_as_start = true;
  const std::unique_ptr<rocksdb::Iterator> before(db_->NewIterator(options));
  ASSERT_OK(db_->SetOptions({{"prefix_extractor", "fixed:2"}}));
  const std::unique_ptr<rocksdb::Iterator> after(db_->NewIterator(options));
  const auto count = [](rocksdb::Iterator& iterator) {
    int keys = 0;
    for (iterator.Seek("aa"); iterator.Valid(); iterator.Next()) ++keys;
    return keys;
  };
  EXPECT_EQ(count(*before), 3);
  EXPECT_EQ(count(*after), 2);
  ASSERT_OK(db_->SetOptions({{"prefix_extractor", "nullptr"}}));
  EXPECT_EQ(count(*after), 2);
}

TEST_F(SetOptionsOf, WhatIsOnlyShown) {
  open();
  ASSERT_OK(db_->SetOptions({{"disable_auto_compactions", "true"},
                             {"compression_opts", "{level=3}"},
                             {"compaction_options_universal.size_ratio", "7"},
                             {"ttl", "17"},
                             {"filter_deletes", "true"}}));
  const rocksdb::Options now = db_->GetOptions();
  EXPECT_TRUE(now.disable_auto_compactions);
  EXPECT_EQ(now.compression_opts.level, 3);
  EXPECT_EQ(now.compaction_options_universal.size_ratio, 7U);
  EXPECT_EQ(now.ttl, 17U);
  ASSERT_OK(db_->SetDBOptions({{"max_background_jobs", "7"},
                               {"bytes_per_sync", "1M"},
                               {"max_open_files", "100"},
                               {"delayed_write_rate", "5"}}));
  EXPECT_EQ(db_->GetDBOptions().max_background_jobs, 7);
  EXPECT_EQ(db_->GetOptions().bytes_per_sync, kMegabyte);
  EXPECT_EQ(db_->GetDBOptions().max_open_files, 100);
  ASSERT_OK(put("a", "1"));
  EXPECT_EQ(get("a"), "1");
}

TEST_F(SetOptionsOf, AllOrNothing) {
  open();
  refused({});
  for (const auto& [name, value] : Changes{{"num_levels", "3"},
                                           {"comparator", "rocksdb.ReverseBytewiseComparator"},
                                           {"merge_operator", "put"},
                                           {"no_such_option", "1"},
                                           {"max_write_buffer_number", "many"},
                                           {"prefix_extractor", "my.prefix"},
                                           {"block_based_table_factory", "{no_such_option=1}"},
                                           {"max_background_jobs", "2"}}) {
    SCOPED_TRACE(name);
    refused({{"write_buffer_size", "64M"}, {"compression", "kZSTD"}, {name, value}});
    EXPECT_EQ(budget(), 40 * kMegabyte);
  }
  EXPECT_TRUE(db_->SetOptions({{"compression", "kXpressCompression"}}).IsNotSupported());
  EXPECT_EQ(db_->GetOptions().compression, rocksdb::kNoCompression);
  for (const auto& [name, value] : Changes{{"create_if_missing", "false"},
                                           {"wal_dir", "/tmp"},
                                           {"no_such_option", "1"},
                                           {"bytes_per_sync", "x"},
                                           {"rate_limiter_bytes_per_sec", "1"}}) {
    EXPECT_TRUE(db_->SetDBOptions({{"max_open_files", "7"}, {name, value}}).IsInvalidArgument())
        << name;
    EXPECT_EQ(db_->GetDBOptions().max_open_files, -1);
  }
  EXPECT_TRUE(db_->SetDBOptions({}).IsInvalidArgument());
  close();
  ASSERT_OK(DB::OpenForReadOnly(options_, path_, &db_));
  EXPECT_TRUE(db_->SetOptions({{"write_buffer_size", "64M"}}).IsNotSupported());
  EXPECT_TRUE(db_->SetDBOptions({{"max_open_files", "7"}}).IsNotSupported());
}

TEST_F(SetOptionsOf, FlushOfTheClose) {
  open();
  ASSERT_OK(db_->SetDBOptions({{"avoid_flush_during_shutdown", "true"}}));
  ASSERT_OK(put("a", "1"));
  close();
  EXPECT_TRUE(DB::OpenForReadOnly(options_, path_, &db_, true).IsCorruption());
  open();
  EXPECT_EQ(get("a"), "1");
  close();
  EXPECT_OK(DB::OpenForReadOnly(options_, path_, &db_, true));
}

TEST_F(SetOptionsOf, SeveralThreads) {
  open();
  ASSERT_OK(put("a", "1"));
  constexpr int kReads = 10;
  std::atomic<bool> stop{false};
  std::atomic<int> reads{0};
  std::thread reader([this, &stop, &reads] {
    rocksdb::ReadOptions options;
    options.prefix_same_as_start = true;
    for (; !stop; ++reads) {
      const std::unique_ptr<rocksdb::Iterator> iterator(db_->NewIterator(options));
      iterator->Seek("a");
      EXPECT_TRUE(iterator->Valid());
      const size_t bytes = db_->GetOptions().write_buffer_size;
      EXPECT_TRUE(bytes == 4 * kMegabyte || bytes == 8 * kMegabyte) << bytes;
    }
  });
  // The last one is odd.
  for (int i = 0; i < 100 || reads < kReads || i % 2 == 1; ++i) {
    const bool odd = i % 2 == 1;
    EXPECT_OK(db_->SetOptions({{"write_buffer_size", odd ? "4M" : "8M"},
                               {"prefix_extractor", odd ? "fixed:1" : "capped:2"}}));
    EXPECT_OK(db_->SetDBOptions({{"daily_offpeak_time_utc", odd ? "" : "01:00-02:00"}}));
  }
  stop = true;
  reader.join();
  EXPECT_EQ(budget(), 40 * kMegabyte);
}

}  // namespace
}  // namespace hawthorn::rocks
