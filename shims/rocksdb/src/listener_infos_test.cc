// What listeners are told has the members of RocksDB's, of which many stay as they are.

#include <gtest/gtest.h>
#include <rocksdb/listener.h>

namespace rocksdb {
namespace {

TEST(Infos, OfTables) {
  const TableProperties p;
  for (const uint64_t zero : {p.orig_file_number,
                              p.data_size,
                              p.index_size,
                              p.index_partitions,
                              p.top_level_index_size,
                              p.index_key_is_user_key,
                              p.index_value_is_delta_encoded,
                              p.filter_size,
                              p.raw_key_size,
                              p.raw_value_size,
                              p.num_data_blocks,
                              p.num_entries,
                              p.num_filter_entries,
                              p.num_deletions,
                              p.num_merge_operands,
                              p.num_range_deletions,
                              p.format_version,
                              p.fixed_key_len,
                              p.creation_time,
                              p.oldest_key_time,
                              p.newest_key_time,
                              p.file_creation_time,
                              p.slow_compression_estimated_data_size,
                              p.fast_compression_estimated_data_size,
                              p.external_sst_file_global_seqno_offset,
                              p.tail_start_offset}) {
    EXPECT_EQ(zero, 0U);
  }
  EXPECT_EQ(p.column_family_id, 0x7fffffffU);
  EXPECT_EQ(p.user_defined_timestamps_persisted, 1U);
  EXPECT_EQ(p.key_largest_seqno, UINT64_MAX);
  const std::string texts = p.db_id + p.db_session_id + p.db_host_id + p.column_family_name +
                            p.filter_policy_name + p.comparator_name + p.merge_operator_name +
                            p.prefix_extractor_name + p.property_collectors_names +
                            p.compression_name + p.compression_options + p.seqno_to_time_mapping;
  EXPECT_EQ(texts, "");
  EXPECT_EQ(p.user_collected_properties, UserCollectedProperties());
  EXPECT_EQ(p.readable_properties, UserCollectedProperties());
}

TEST(Infos, OfCompactions) {
  CompactionJobStats s;
  s.elapsed_micros = 1;
  s.Reset();
  for (const uint64_t zero : {s.elapsed_micros,
                              s.cpu_micros,
                              s.num_input_records,
                              s.num_blobs_read,
                              uint64_t{s.num_input_files},
                              uint64_t{s.num_input_files_trivially_moved},
                              uint64_t{s.num_input_files_at_output_level},
                              uint64_t{s.num_filtered_input_files},
                              uint64_t{s.num_filtered_input_files_at_output_level},
                              s.num_output_records,
                              uint64_t{s.num_output_files},
                              uint64_t{s.num_output_files_blob},
                              s.total_input_bytes,
                              s.total_blob_bytes_read,
                              s.total_output_bytes,
                              s.total_output_bytes_blob,
                              s.total_skipped_input_bytes,
                              s.num_records_replaced,
                              s.total_input_raw_key_bytes,
                              s.total_input_raw_value_bytes,
                              s.num_input_deletion_records,
                              s.num_expired_deletion_records,
                              s.num_corrupt_keys,
                              s.file_write_nanos,
                              s.file_range_sync_nanos,
                              s.file_fsync_nanos,
                              s.file_prepare_write_nanos,
                              s.num_single_del_fallthru,
                              s.num_single_del_mismatch}) {
    EXPECT_EQ(zero, 0U);
  }
  EXPECT_FALSE(s.has_num_input_records || s.is_full_compaction || s.is_manual_compaction ||
               s.is_remote_compaction);
  EXPECT_EQ(s.smallest_output_key_prefix + s.largest_output_key_prefix, "");
  EXPECT_EQ(CompactionJobStats::kMaxPrefixLength + 0, 8U);

  const CompactionJobInfo c;
  EXPECT_EQ(c.thread_id, 0U);
  EXPECT_EQ(c.num_l0_files + c.base_input_level + c.output_level, 0);
  EXPECT_TRUE(c.input_files.empty() && c.input_file_infos.empty() && c.output_files.empty() &&
              c.output_file_infos.empty() && c.blob_file_addition_infos.empty() &&
              c.blob_file_garbage_infos.empty());
  EXPECT_EQ(c.table_properties, TablePropertiesCollection());
  EXPECT_EQ(c.compaction_reason, CompactionReason::kUnknown);
  EXPECT_EQ(c.blob_compression_type, kNoCompression);
  const CompactionFileInfo file;
  EXPECT_EQ(file.level, 0);
  EXPECT_EQ(file.file_number + file.oldest_blob_file_number, 0U);
  const SubcompactionJobInfo sub;
  EXPECT_EQ(sub.subcompaction_job_id, 0);
}

TEST(Infos, OfFlushes) {
  const FlushJobInfo f;
  EXPECT_EQ(f.file_path, "");
  EXPECT_EQ(f.file_number + f.oldest_blob_file_number + f.thread_id, 0U);
  EXPECT_FALSE(f.triggered_writes_stop);
  EXPECT_EQ(f.smallest_seqno + f.largest_seqno, 0U);
  EXPECT_EQ(f.flush_reason, FlushReason::kOthers);
  const MemTableInfo m;
  EXPECT_EQ(m.first_seqno + m.earliest_seqno + m.num_entries + m.num_deletes, 0U);
  EXPECT_EQ(m.newest_udt, "");
  EXPECT_STREQ(GetFlushReasonString(FlushReason::kOthers), "Other Reasons");
  EXPECT_STREQ(GetFlushReasonString(FlushReason::kCatchUpAfterErrorRecovery),
               "Catch Up After Error Recovery");
  EXPECT_STREQ(GetFlushReasonString(static_cast<FlushReason>(99)), "Invalid");
  EXPECT_STREQ(GetCompactionReasonString(CompactionReason::kUnknown), "Unknown");
  EXPECT_STREQ(GetCompactionReasonString(CompactionReason::kRefitLevel), "RefitLevel");
  EXPECT_STREQ(GetCompactionReasonString(CompactionReason::kNumOfReasons), "Invalid");
}

TEST(Infos, OfFiles) {
  const std::string path = "/a";
  const auto begun = FileOperationInfo::StartNow();
  const FileOperationInfo operation(FileOperationType::kRead, path, begun,
                                    FileOperationInfo::FinishNow(), Status::OK());
  EXPECT_EQ(operation.type, FileOperationType::kRead);
  EXPECT_EQ(operation.path, path);
  EXPECT_EQ(operation.offset + operation.length, 0U);
  EXPECT_GE(operation.duration.count(), 0);
  EXPECT_EQ(&operation.start_ts, &operation.start_ts);
  EXPECT_EQ(operation.temperature, Temperature::kUnknown);
  const FileOperationInfo::FinishTimePoint finish{FileOperationInfo::Duration(1)};
  EXPECT_LT(finish, FileOperationInfo::SteadyTimePoint::max());
  EXPECT_LT(FileOperationInfo::StartTimePoint().first, FileOperationInfo::SystemTimePoint::max());
  const IOErrorInfo error(IOStatus::OK(), FileOperationType::kSync, path, 1, 2);
  EXPECT_TRUE(error.io_status.ok());
  EXPECT_EQ(error.operation, FileOperationType::kSync);
  EXPECT_EQ(error.file_path, path);
  const TableFileDeletionInfo deleted;
  EXPECT_EQ(deleted.db_name, "");
  const FileDeletionInfo other("db", path, 7, Status::OK());
  EXPECT_EQ(other.job_id, 7);
  TableFileCreationInfo created{TableProperties()};
  EXPECT_EQ(created.reason, TableFileCreationReason::kFlush);
  EXPECT_EQ(created.file_size, 0U);
  EXPECT_EQ(created.file_checksum + created.file_checksum_func_name, "");
}

TEST(Infos, OfBlobs) {
  const BlobFileAdditionInfo added("/a", 1, 2, 3);
  EXPECT_EQ(added.blob_file_path, "/a");
  EXPECT_EQ(added.blob_file_number + added.total_blob_count + added.total_blob_bytes, 6U);
  const BlobFileGarbageInfo garbage("/a", 1, 2, 3);
  EXPECT_EQ(garbage.garbage_blob_count + garbage.garbage_blob_bytes, 5U);
  const BlobFileCreationInfo created("db", "cf", "/a", 1, BlobFileCreationReason::kRecovery, 2, 3,
                                     Status::OK(), "", "");
  EXPECT_EQ(created.reason, BlobFileCreationReason::kRecovery);
  EXPECT_TRUE(BlobFileDeletionInfo("db", "/a", 1, Status::OK()).status.ok());
}

// A listener needs none of its functions, and those of which there is nothing can be called.
TEST(Infos, OfNothing) {
  EventListener listener;
  EXPECT_STREQ(EventListener::Type(), "EventListener");
  EXPECT_STREQ(listener.Name(), "");
  EXPECT_FALSE(listener.ShouldBeNotifiedOnFileIO());
  listener.OnSubcompactionBegin({});
  listener.OnSubcompactionCompleted({});
  listener.OnTableFileCreationStarted({});
  listener.OnTableFileCreated(TableFileCreationInfo());
  listener.OnTableFileDeleted(TableFileDeletionInfo());
  listener.OnMemTableSealed({});
  const std::string path;
  const FileOperationInfo operation(FileOperationType::kRead, path, {}, {}, Status::OK());
  listener.OnFileReadFinish(operation);
  listener.OnFileWriteFinish(operation);
  listener.OnFileFlushFinish(operation);
  listener.OnFileSyncFinish(operation);
  listener.OnFileRangeSyncFinish(operation);
  listener.OnFileTruncateFinish(operation);
  listener.OnFileCloseFinish(operation);
  bool recovery = false;
  listener.OnErrorRecoveryBegin(BackgroundErrorReason::kFlush, Status::OK(), &recovery);
  listener.OnErrorRecoveryCompleted(Status::OK());
  const BackgroundErrorRecoveryInfo recovered;
  EXPECT_EQ(recovered.old_bg_error, recovered.new_bg_error);
  listener.OnErrorRecoveryEnd(recovered);
  listener.OnBlobFileCreationStarted({"db", "cf", "/a", 1, BlobFileCreationReason::kFlush});
  listener.OnBlobFileCreated(
      {"db", "cf", "/a", 1, BlobFileCreationReason::kFlush, 0, 0, Status::OK(), "", ""});
  listener.OnBlobFileDeleted({"db", "/a", 1, Status::OK()});
  listener.OnIOError({IOStatus::OK(), FileOperationType::kRead, path, 0, 0});
}

}  // namespace
}  // namespace rocksdb
