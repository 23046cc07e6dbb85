// Contexts of threads: what calls add to them, and from when on.

#include <rocksdb/iostats_context.h>
#include <rocksdb/perf_context.h>
#include <rocksdb/sst_file_writer.h>
#include <rocksdb/utilities/transaction_db.h>

#include <thread>

#include "shims/rocksdb/src/rocksdb_test_fixture.h"

namespace hawthorn::rocks {
namespace {

using rocksdb::get_perf_context;
using rocksdb::PerfContext;
using rocksdb::SetPerfLevel;

class Perf : public RocksTest {
 protected:
  Perf() { SetPerfLevel(rocksdb::kEnableCount), get_perf_context()->Reset(); }
  ~Perf() override { SetPerfLevel(rocksdb::kDisable); }
  static std::string counted() { return get_perf_context()->ToString(true); }
};

TEST_F(Perf, CountsReads) {
  open();
  ASSERT_OK(put("a", "123"));
  ASSERT_OK(put("b", "1234"));
  EXPECT_EQ(counted(), "");
  EXPECT_EQ(get("a"), "123");
  EXPECT_EQ(get("z"), "(missing)");
  EXPECT_EQ(counted(), "get_read_bytes = 3");
  std::vector<std::string> values;
  db_->MultiGet({}, std::vector<rocksdb::Slice>{"a", "b", "z"}, &values);
  EXPECT_EQ(counted(), "get_read_bytes = 3, multiget_read_bytes = 7");
  get_perf_context()->Reset();
  const std::unique_ptr<rocksdb::Iterator> iterator(db_->NewIterator({}));
  EXPECT_EQ(walk(*iterator), "a=123 b=1234 ");
  iterator->SeekToLast();
  iterator->Prev();
  EXPECT_EQ(counted(),
            "iter_read_bytes = 18, iter_next_count = 2, "
            "iter_prev_count = 1, iter_seek_count = 2");
}

TEST_F(Perf, MeasuresWhereThatIsWanted) {
  options_.merge_operator = std::make_shared<Append>();
  open();
  ASSERT_OK(put("a", "1"));
  EXPECT_EQ(get_perf_context()->write_wal_time, 0U);
  SetPerfLevel(rocksdb::kEnableTimeExceptForMutex);
  EXPECT_EQ(rocksdb::GetPerfLevel(), rocksdb::kEnableTimeExceptForMutex);
  ASSERT_OK(put("a", "1"));
  EXPECT_GT(get_perf_context()->write_wal_time, 0U);
  ASSERT_OK(db_->Merge({}, "a", "2"));
  ASSERT_OK(db_->Merge({}, "a", "3"));
  EXPECT_EQ(get("a"), "1,2,3");
  EXPECT_GE(get_perf_context()->internal_merge_count, 1U);
  EXPECT_GT(get_perf_context()->merge_operator_time_nanos, 0U);
  EXPECT_EQ(get_perf_context()->get_cpu_nanos, 0U);
  SetPerfLevel(rocksdb::kEnableTime);
  EXPECT_EQ(get("a"), "1,2,3");
  EXPECT_GT(get_perf_context()->get_cpu_nanos, 0U);
  const std::unique_ptr<rocksdb::Iterator> iterator(db_->NewIterator({}));
  iterator->Seek("a");
  iterator->Prev();
  iterator->SeekForPrev("a");
  iterator->Next();
  const PerfContext& context = *get_perf_context();
  EXPECT_GT(context.seek_internal_seek_time, 0U);
  EXPECT_GT(context.find_next_user_entry_time, 0U);
  EXPECT_GT(context.iter_seek_cpu_nanos, 0U);
  EXPECT_GT(context.iter_next_cpu_nanos, 0U);
  EXPECT_GT(context.iter_prev_cpu_nanos, 0U);
}

TEST_F(Perf, MeasuresIngests) {
  open();
  SetPerfLevel(rocksdb::kEnableTime);
  rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), options_);
  ASSERT_OK(writer.Open(directory_ + "/file"));
  ASSERT_OK(writer.Put("a", "1"));
  ASSERT_OK(writer.Finish());
  EXPECT_EQ(get_perf_context()->file_ingestion_nanos, 0U);
  ASSERT_OK(db_->IngestExternalFile({directory_ + "/file"}, {}));
  EXPECT_GT(get_perf_context()->file_ingestion_nanos, 0U);
}

TEST_F(Perf, CountsWaitsForLocks) {
  rocksdb::TransactionDB* made = nullptr;
  ASSERT_OK(rocksdb::TransactionDB::Open(options_, {}, path_, &made));
  const std::unique_ptr<rocksdb::TransactionDB> db(made);
  SetPerfLevel(rocksdb::kEnableTime);
  const std::unique_ptr<rocksdb::Transaction> one(db->BeginTransaction({}));
  ASSERT_OK(one->Put("a", "1"));
  EXPECT_EQ(get_perf_context()->key_lock_wait_count, 0U);
  rocksdb::TransactionOptions options;
  options.lock_timeout = 1;
  const std::unique_ptr<rocksdb::Transaction> two(db->BeginTransaction({}, options));
  EXPECT_TRUE(two->Put("a", "2").IsTimedOut());
  EXPECT_EQ(get_perf_context()->key_lock_wait_count, 1U);
  EXPECT_GT(get_perf_context()->key_lock_wait_time, 0U);
  EXPECT_EQ(get_perf_context()->write_wal_time, 0U);
  ASSERT_OK(one->Commit());
  EXPECT_GT(get_perf_context()->write_wal_time, 0U);
}

// A thread that has not asked is not counted, and each has its own.
TEST_F(Perf, OfThreads) {
  open();
  ASSERT_OK(put("a", "123"));
  std::thread other([this] {
    EXPECT_EQ(get("a"), "123");
    EXPECT_EQ(rocksdb::GetPerfLevel(), rocksdb::kEnableCount);
    EXPECT_EQ(counted(), "");
    EXPECT_EQ(get("a"), "123");
    EXPECT_EQ(counted(), "get_read_bytes = 3");
    SetPerfLevel(rocksdb::kDisable);
    EXPECT_EQ(get("a"), "123");
    EXPECT_EQ(counted(), "get_read_bytes = 3");
  });
  other.join();
  EXPECT_EQ(counted(), "");
}

TEST_F(Perf, ContextsAreCopied) {
  open();
  ASSERT_OK(put("a", "123"));
  EXPECT_EQ(get("a"), "123");
  PerfContext copy = *get_perf_context();
  EXPECT_EQ(copy.get_read_bytes, 3U);
  copy.EnablePerLevelPerfContext();
  EXPECT_TRUE(copy.per_level_perf_context_enabled);
  EXPECT_TRUE(copy.level_to_perf_context->empty());
  rocksdb::PerfContextByLevel& level = (*copy.level_to_perf_context)[0];
  level.block_cache_hit_count = 7;
  PerfContext other(std::move(copy));
  EXPECT_EQ((*other.level_to_perf_context)[0].block_cache_hit_count, 7U);
  (*other.level_to_perf_context)[0].Reset();
  const rocksdb::PerfContextByLevelBase base = (*other.level_to_perf_context)[0];
  EXPECT_EQ(base.bloom_filter_useful + base.bloom_filter_full_positive +
                base.bloom_filter_full_true_positive + base.user_key_return_count +
                base.get_from_table_nanos + base.block_cache_hit_count +
                base.block_cache_miss_count,
            0U);
  copy = other;
  EXPECT_NE(copy.level_to_perf_context, other.level_to_perf_context);
  copy.DisablePerLevelPerfContext();
  EXPECT_FALSE(copy.per_level_perf_context_enabled);
  copy.ClearPerLevelPerfContext();
  EXPECT_EQ(copy.level_to_perf_context, nullptr);
  copy.Reset();
  EXPECT_EQ(copy.get_read_bytes, 0U);
  copy.copyMetrics(&other);
  EXPECT_EQ(copy.get_read_bytes, 3U);
}

TEST_F(Perf, Texts) {
  EXPECT_EQ(PerfContext().ToString(),
            "user_key_comparison_count = 0, block_cache_hit_count = 0, "
            "block_read_count = 0, "
            "block_read_byte = 0, block_read_time = 0, block_read_cpu_time = 0, "
            "block_cache_index_hit_count = 0, block_cache_standalone_handle_count = "
            "0, "
            "block_cache_real_handle_count = 0, index_block_read_count = 0, "
            "block_cache_filter_hit_count = 0, filter_block_read_count = 0, "
            "compression_dict_block_read_count = 0, block_cache_index_read_byte = 0, "
            "block_cache_filter_read_byte = 0, "
            "block_cache_compression_dict_read_byte = 0, "
            "block_cache_read_byte = 0, secondary_cache_hit_count = 0, "
            "compressed_sec_cache_insert_real_count = 0, "
            "compressed_sec_cache_insert_dummy_count "
            "= 0, compressed_sec_cache_uncompressed_bytes = 0, "
            "compressed_sec_cache_compressed_bytes = 0, block_checksum_time = 0, "
            "block_decompress_time = 0, get_read_bytes = 0, multiget_read_bytes = 0, "
            "iter_read_bytes = 0, blob_cache_hit_count = 0, blob_read_count = 0, "
            "blob_read_byte "
            "= 0, blob_read_time = 0, blob_checksum_time = 0, blob_decompress_time = "
            "0, "
            "internal_key_skipped_count = 0, internal_delete_skipped_count = 0, "
            "internal_recent_skipped_count = 0, internal_merge_count = 0, "
            "internal_merge_point_lookup_count = 0, internal_range_del_reseek_count "
            "= 0, "
            "get_snapshot_time = 0, get_from_memtable_time = 0, "
            "get_from_memtable_count = 0, "
            "get_post_process_time = 0, get_from_output_files_time = 0, "
            "seek_on_memtable_time = "
            "0, seek_on_memtable_count = 0, next_on_memtable_count = 0, "
            "prev_on_memtable_count = "
            "0, seek_child_seek_time = 0, seek_child_seek_count = 0, "
            "seek_min_heap_time = 0, "
            "seek_max_heap_time = 0, seek_internal_seek_time = 0, "
            "find_next_user_entry_time = 0, "
            "write_wal_time = 0, write_memtable_time = 0, write_delay_time = 0, "
            "write_scheduling_flushes_compactions_time = 0, "
            "write_pre_and_post_process_time = 0, "
            "write_thread_wait_nanos = 0, db_mutex_lock_nanos = 0, "
            "db_condition_wait_nanos = 0, "
            "merge_operator_time_nanos = 0, read_index_block_nanos = 0, "
            "read_filter_block_nanos "
            "= 0, new_table_block_iter_nanos = 0, new_table_iterator_nanos = 0, "
            "block_seek_nanos "
            "= 0, find_table_nanos = 0, bloom_memtable_hit_count = 0, "
            "bloom_memtable_miss_count "
            "= 0, bloom_sst_hit_count = 0, bloom_sst_miss_count = 0, "
            "key_lock_wait_time = 0, "
            "key_lock_wait_count = 0, env_new_sequential_file_nanos = 0, "
            "env_new_random_access_file_nanos = 0, env_new_writable_file_nanos = 0, "
            "env_reuse_writable_file_nanos = 0, env_new_random_rw_file_nanos = 0, "
            "env_new_directory_nanos = 0, env_file_exists_nanos = 0, "
            "env_get_children_nanos = 0, "
            "env_get_children_file_attributes_nanos = 0, env_delete_file_nanos = 0, "
            "env_create_dir_nanos = 0, env_create_dir_if_missing_nanos = 0, "
            "env_delete_dir_nanos "
            "= 0, env_get_file_size_nanos = 0, env_get_file_modification_time_nanos "
            "= 0, "
            "env_rename_file_nanos = 0, env_link_file_nanos = 0, env_lock_file_nanos "
            "= 0, "
            "env_unlock_file_nanos = 0, env_new_logger_nanos = 0, get_cpu_nanos = 0, "
            "iter_next_cpu_nanos = 0, iter_prev_cpu_nanos = 0, iter_seek_cpu_nanos = "
            "0, "
            "iter_next_count = 0, iter_prev_count = 0, iter_seek_count = 0, "
            "encrypt_data_nanos = "
            "0, decrypt_data_nanos = 0, number_async_seek = 0, file_ingestion_nanos "
            "= 0, "
            "file_ingestion_blocking_live_writes_nanos = 0");
  rocksdb::IOStatsContext& io = *rocksdb::get_iostats_context();
  io.Reset();
  EXPECT_EQ(io.ToString(true), "");
  EXPECT_EQ(io.ToString(),
            "thread_pool_id = 0, bytes_written = 0, bytes_read = 0, open_nanos = 0, "
            "allocate_nanos = 0, write_nanos = 0, read_nanos = 0, range_sync_nanos = "
            "0, "
            "fsync_nanos = 0, prepare_write_nanos = 0, logger_nanos = 0, "
            "cpu_write_nanos = 0, "
            "cpu_read_nanos = 0");
  EXPECT_FALSE(io.disable_iostats);
  rocksdb::FileIOByTemperature& heat = io.file_io_stats_by_temperature;
  heat.hot_file_bytes_read = 1;
  heat.Reset();
  EXPECT_EQ(heat.hot_file_bytes_read + heat.warm_file_bytes_read + heat.cold_file_bytes_read +
                heat.hot_file_read_count + heat.warm_file_read_count + heat.cold_file_read_count,
            0U);
}

}  // namespace
}  // namespace hawthorn::rocks
