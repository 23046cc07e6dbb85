#pragma once
// What a database tells a program about its work: DBOptions::listeners.
//
// A container of the engine, which is a range of keys of one family, stands for a table file, and
// there is one level of them. What is in memory alone is flushed container by container, so one
// DB::Flush is as many flushes; containers that are rewritten for their own sake (to gather values,
// or for space) are compactions. Members and functions that are not marked as mapped stay as they
// are, and are never called: there is nothing of it here, or the engine does not say.
//
// Threads: OnFlushBegin and OnFlushCompleted, those of compactions, OnBackgroundError and
// OnStallConditionsChanged are called by one thread of the database, one after the other, soon
// behind what they tell; the others by the thread whose call they tell of. No lock is held. A
// callback may use the database, but for closing it and destroying it. One that is slow delays
// those behind it, and Close. From Close on, but for its own flush, nothing more is told.
// Where more than 4,096 events wait some are lost, as pairs.

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "rocksdb/advanced_options.h"
#include "rocksdb/compaction_job_stats.h"
#include "rocksdb/compression_type.h"
#include "rocksdb/customizable.h"
#include "rocksdb/io_status.h"
#include "rocksdb/status.h"
#include "rocksdb/table_properties.h"
#include "rocksdb/types.h"

namespace ROCKSDB_NAMESPACE {

class ColumnFamilyHandle;
class DB;

// [accepted]
struct FileCreationBriefInfo {
  FileCreationBriefInfo() = default;
  FileCreationBriefInfo(const std::string& _db_name, const std::string& _cf_name,
                        const std::string& _file_path, int _job_id)
      : db_name(_db_name), cf_name(_cf_name), file_path(_file_path), job_id(_job_id) {}
  std::string db_name;
  std::string cf_name;
  std::string file_path;
  int job_id = 0;
};

// [accepted]
struct TableFileCreationBriefInfo : public FileCreationBriefInfo {
  TableFileCreationReason reason = TableFileCreationReason::kFlush;
};

// [accepted]
struct TableFileCreationInfo : public TableFileCreationBriefInfo {
  TableFileCreationInfo() = default;
  explicit TableFileCreationInfo(TableProperties&& prop) : table_properties(std::move(prop)) {}
  uint64_t file_size = 0;
  TableProperties table_properties;
  Status status;
  std::string file_checksum;
  std::string file_checksum_func_name;
};

// [accepted]
struct BlobFileCreationBriefInfo : public FileCreationBriefInfo {
  BlobFileCreationBriefInfo(const std::string& _db_name, const std::string& _cf_name,
                            const std::string& _file_path, int _job_id,
                            BlobFileCreationReason _reason)
      : FileCreationBriefInfo(_db_name, _cf_name, _file_path, _job_id), reason(_reason) {}
  BlobFileCreationReason reason;
};

// [accepted]
struct BlobFileCreationInfo : public BlobFileCreationBriefInfo {
  BlobFileCreationInfo(const std::string& _db_name, const std::string& _cf_name,
                       const std::string& _file_path, int _job_id, BlobFileCreationReason _reason,
                       uint64_t _total_blob_count, uint64_t _total_blob_bytes, Status _status,
                       const std::string& _file_checksum,
                       const std::string& _file_checksum_func_name)
      : BlobFileCreationBriefInfo(_db_name, _cf_name, _file_path, _job_id, _reason),
        total_blob_count(_total_blob_count),
        total_blob_bytes(_total_blob_bytes),
        status(std::move(_status)),
        file_checksum(_file_checksum),
        file_checksum_func_name(_file_checksum_func_name) {}
  uint64_t total_blob_count;
  uint64_t total_blob_bytes;
  Status status;
  std::string file_checksum;
  std::string file_checksum_func_name;
};

// Here always kUnknown. [accepted]
enum class CompactionReason : int {
  kUnknown = 0,
  kLevelL0FilesNum,
  kLevelMaxLevelSize,
  kUniversalSizeAmplification,
  kUniversalSizeRatio,
  kUniversalSortedRunNum,
  kFIFOMaxSize,
  kFIFOReduceNumFiles,
  kFIFOTtl,
  kManualCompaction,
  kFilesMarkedForCompaction,
  kBottommostFiles,
  kTtl,
  kFlush,
  kExternalSstIngestion,
  kPeriodicCompaction,
  kChangeTemperature,
  kForcedBlobGC,
  kRoundRobinTtl,
  kRefitLevel,
  kNumOfReasons,
};
// [mapped]
const char* GetCompactionReasonString(CompactionReason compaction_reason);

// Of a flush always kOthers: why the engine flushes it does not say. [accepted]
enum class FlushReason : int {
  kOthers = 0x00,
  kGetLiveFiles = 0x01,
  kShutDown = 0x02,
  kExternalFileIngestion = 0x03,
  kManualCompaction = 0x04,
  kWriteBufferManager = 0x05,
  kWriteBufferFull = 0x06,
  kTest = 0x07,
  kDeleteFiles = 0x08,
  kAutoCompaction = 0x09,
  kManualFlush = 0x0a,  // [mapped] of OnManualFlushScheduled
  kErrorRecovery = 0xb,
  kErrorRecoveryRetryFlush = 0xc,
  kWalFull = 0xd,
  kCatchUpAfterErrorRecovery = 0xe,
};
// [mapped]
const char* GetFlushReasonString(FlushReason flush_reason);

// Here always kFlush; what has failed, the status says. [accepted]
enum class BackgroundErrorReason {
  kFlush,  // [mapped]
  kCompaction,
  kWriteCallback,
  kMemTable,
  kManifestWrite,
  kFlushNoWAL,
  kManifestWriteNoWAL,
};

// [mapped]
struct WriteStallInfo {
  std::string cf_name;
  struct Conditions {
    WriteStallCondition cur = WriteStallCondition::kNormal;
    WriteStallCondition prev = WriteStallCondition::kNormal;
  } condition;
};

// [accepted]
struct FileDeletionInfo {
  FileDeletionInfo() = default;
  FileDeletionInfo(const std::string& _db_name, const std::string& _file_path, int _job_id,
                   Status _status)
      : db_name(_db_name), file_path(_file_path), job_id(_job_id), status(std::move(_status)) {}
  std::string db_name;
  std::string file_path;
  int job_id = 0;
  Status status;
};

// [accepted]
struct TableFileDeletionInfo : public FileDeletionInfo {};

// [accepted]
struct BlobFileDeletionInfo : public FileDeletionInfo {
  BlobFileDeletionInfo(const std::string& _db_name, const std::string& _file_path, int _job_id,
                       Status _status)
      : FileDeletionInfo(_db_name, _file_path, _job_id, std::move(_status)) {}
};

// [accepted]
enum class FileOperationType {
  kRead,
  kWrite,
  kTruncate,
  kClose,
  kFlush,
  kSync,
  kFsync,
  kRangeSync,
  kAppend,
  kPositionedAppend,
  kOpen,
  kVerify,
};

// [accepted]
struct FileOperationInfo {
  using Duration = std::chrono::nanoseconds;
  using SteadyTimePoint = std::chrono::time_point<std::chrono::steady_clock, Duration>;
  using SystemTimePoint = std::chrono::time_point<std::chrono::system_clock, Duration>;
  using StartTimePoint = std::pair<SystemTimePoint, SteadyTimePoint>;
  using FinishTimePoint = SteadyTimePoint;

  FileOperationInfo(const FileOperationType _type, const std::string& _path,
                    const StartTimePoint& _start_ts, const FinishTimePoint& _finish_ts,
                    const Status& _status, const Temperature _temperature = Temperature::kUnknown)
      : type(_type),
        path(_path),
        temperature(_temperature),
        duration(_finish_ts - _start_ts.second),
        start_ts(_start_ts.first),
        status(_status) {}
  static StartTimePoint StartNow() {
    return {std::chrono::system_clock::now(), std::chrono::steady_clock::now()};
  }
  static FinishTimePoint FinishNow() { return std::chrono::steady_clock::now(); }

  FileOperationType type;
  const std::string& path;
  Temperature temperature;
  uint64_t offset = 0;
  size_t length = 0;
  const Duration duration;
  const SystemTimePoint& start_ts;
  Status status;
};

// [accepted]
struct BlobFileInfo {
  BlobFileInfo(const std::string& _blob_file_path, const uint64_t _blob_file_number)
      : blob_file_path(_blob_file_path), blob_file_number(_blob_file_number) {}
  std::string blob_file_path;
  uint64_t blob_file_number;
};

// [accepted]
struct BlobFileAdditionInfo : public BlobFileInfo {
  BlobFileAdditionInfo(const std::string& _blob_file_path, const uint64_t _blob_file_number,
                       const uint64_t _total_blob_count, const uint64_t _total_blob_bytes)
      : BlobFileInfo(_blob_file_path, _blob_file_number),
        total_blob_count(_total_blob_count),
        total_blob_bytes(_total_blob_bytes) {}
  uint64_t total_blob_count;
  uint64_t total_blob_bytes;
};

// [accepted]
struct BlobFileGarbageInfo : public BlobFileInfo {
  BlobFileGarbageInfo(const std::string& _blob_file_path, const uint64_t _blob_file_number,
                      const uint64_t _garbage_blob_count, const uint64_t _garbage_blob_bytes)
      : BlobFileInfo(_blob_file_path, _blob_file_number),
        garbage_blob_count(_garbage_blob_count),
        garbage_blob_bytes(_garbage_blob_bytes) {}
  uint64_t garbage_blob_count;
  uint64_t garbage_blob_bytes;
};

// [mapped]
struct ManualFlushInfo {
  uint32_t cf_id = 0;
  std::string cf_name;
  FlushReason flush_reason = FlushReason::kOthers;
};

// [accepted]
struct FlushJobInfo {
  uint32_t cf_id = 0;   // [mapped]
  std::string cf_name;  // [mapped]
  std::string file_path;
  uint64_t file_number = 0;
  uint64_t oldest_blob_file_number = 0;
  uint64_t thread_id = 0;
  int job_id = 0;                          // [mapped] the same at begin and end, of no other
  bool triggered_writes_slowdown = false;  // [mapped] writers wait, at that moment
  bool triggered_writes_stop = false;
  SequenceNumber smallest_seqno = 0;
  SequenceNumber largest_seqno = 0;
  TableProperties table_properties;  // [mapped] those that table_properties.h marks
  FlushReason flush_reason = FlushReason::kOthers;
  CompressionType blob_compression_type = kNoCompression;
  std::vector<BlobFileAdditionInfo> blob_file_addition_infos;
};

// [accepted]
struct CompactionFileInfo {
  int level = 0;
  uint64_t file_number = 0;
  uint64_t oldest_blob_file_number = 0;
};

// [accepted]
struct SubcompactionJobInfo {
  uint32_t cf_id = 0;
  std::string cf_name;
  Status status;
  uint64_t thread_id = 0;
  int job_id = 0;
  int subcompaction_job_id = 0;
  int base_input_level = 0;
  int output_level = 0;
  CompactionReason compaction_reason = CompactionReason::kUnknown;
  CompressionType compression = kNoCompression;
  CompactionJobStats stats;
  CompressionType blob_compression_type = kNoCompression;
};

// [accepted]
struct CompactionJobInfo {
  uint32_t cf_id = 0;   // [mapped]
  std::string cf_name;  // [mapped]
  Status status;        // [mapped] not OK: all is as before, and it will be tried again
  uint64_t thread_id = 0;
  int job_id = 0;  // [mapped] as of flushes
  int num_l0_files = 0;
  int base_input_level = 0;
  int output_level = 0;
  std::vector<std::string> input_files;
  std::vector<CompactionFileInfo> input_file_infos;
  std::vector<std::string> output_files;
  std::vector<CompactionFileInfo> output_file_infos;
  TablePropertiesCollection table_properties;
  CompactionReason compaction_reason = CompactionReason::kUnknown;
  CompressionType compression = kNoCompression;  // [mapped] that the family's options say
  CompactionJobStats stats;                      // [mapped] those that compaction_job_stats.h marks
  CompressionType blob_compression_type = kNoCompression;
  std::vector<BlobFileAdditionInfo> blob_file_addition_infos;
  std::vector<BlobFileGarbageInfo> blob_file_garbage_infos;
};

// [accepted]
struct MemTableInfo {
  std::string cf_name;
  SequenceNumber first_seqno = 0;
  SequenceNumber earliest_seqno = 0;
  uint64_t num_entries = 0;
  uint64_t num_deletes = 0;
  std::string newest_udt;
};

// [accepted]
struct ExternalFileIngestionInfo {
  std::string cf_name;             // [mapped]
  std::string external_file_path;  // [mapped]
  std::string internal_file_path;
  SequenceNumber global_seqno = 0;
  TableProperties table_properties;  // [mapped] those that table_properties.h marks
};

// [accepted]
struct BackgroundErrorRecoveryInfo {
  Status old_bg_error;
  Status new_bg_error;
};

// [accepted]
struct IOErrorInfo {
  IOErrorInfo(const IOStatus& _io_status, FileOperationType _operation,
              const std::string& _file_path, size_t _length, uint64_t _offset)
      : io_status(_io_status),
        operation(_operation),
        file_path(_file_path),
        length(_length),
        offset(_offset) {}
  IOStatus io_status;
  FileOperationType operation;
  std::string file_path;
  size_t length;
  uint64_t offset;
};

// Of all flushes and compactions of dropped families nothing is told. [accepted]
class EventListener : public Customizable {
 public:
  static const char* Type() { return "EventListener"; }
  const char* Name() const override { return ""; }

  // Not of one that has failed. [mapped]
  virtual void OnFlushCompleted(DB* /*db*/, const FlushJobInfo& /*flush_job_info*/) {}
  // [mapped]
  virtual void OnFlushBegin(DB* /*db*/, const FlushJobInfo& /*flush_job_info*/) {}
  // Of DB::Flush, before it, with the families that it names. [mapped]
  virtual void OnManualFlushScheduled(DB* /*db*/,
                                      const std::vector<ManualFlushInfo>& /*manual_flush_info*/) {}
  // Data files are of all families, and change after they were made.
  virtual void OnTableFileDeleted(const TableFileDeletionInfo& /*info*/) {}
  // [mapped]
  virtual void OnCompactionBegin(DB* /*db*/, const CompactionJobInfo& /*ci*/) {}
  // [mapped]
  virtual void OnCompactionCompleted(DB* /*db*/, const CompactionJobInfo& /*ci*/) {}
  virtual void OnSubcompactionBegin(const SubcompactionJobInfo& /*si*/) {}
  virtual void OnSubcompactionCompleted(const SubcompactionJobInfo& /*si*/) {}
  virtual void OnTableFileCreated(const TableFileCreationInfo& /*info*/) {}
  virtual void OnTableFileCreationStarted(const TableFileCreationBriefInfo& /*info*/) {}
  // What is in memory is written to until it is flushed.
  virtual void OnMemTableSealed(const MemTableInfo& /*info*/) {}
  // Before a handle goes, the database's own of the default family included. [mapped]
  virtual void OnColumnFamilyHandleDeletionStarted(ColumnFamilyHandle* /*handle*/) {}
  // For each file, behind the ingest. [mapped]
  virtual void OnExternalFileIngested(DB* /*db*/, const ExternalFileIngestionInfo& /*info*/) {}
  // An error behind which the database takes no writes has the severity kFatalError, others, after
  // which the work is tried again, kSoftError. It has happened: changing the status changes
  // nothing. [mapped]
  virtual void OnBackgroundError(BackgroundErrorReason /*reason*/, Status* /*bg_error*/) {}
  // Of each family, since they wait for one another. [mapped]
  virtual void OnStallConditionsChanged(const WriteStallInfo& /*info*/) {}
  virtual void OnFileReadFinish(const FileOperationInfo& /*info*/) {}
  virtual void OnFileWriteFinish(const FileOperationInfo& /*info*/) {}
  virtual void OnFileFlushFinish(const FileOperationInfo& /*info*/) {}
  virtual void OnFileSyncFinish(const FileOperationInfo& /*info*/) {}
  virtual void OnFileRangeSyncFinish(const FileOperationInfo& /*info*/) {}
  virtual void OnFileTruncateFinish(const FileOperationInfo& /*info*/) {}
  virtual void OnFileCloseFinish(const FileOperationInfo& /*info*/) {}
  // The engine tells nothing of single reads and writes.
  virtual bool ShouldBeNotifiedOnFileIO() { return false; }
  // A database that has become read-only stays so until it is opened again.
  virtual void OnErrorRecoveryBegin(BackgroundErrorReason /*reason*/, Status /*bg_error*/,
                                    bool* /*auto_recovery*/) {}
  virtual void OnErrorRecoveryCompleted(Status /*old_bg_error*/) {}
  virtual void OnErrorRecoveryEnd(const BackgroundErrorRecoveryInfo& /*info*/) {}
  virtual void OnBlobFileCreationStarted(const BlobFileCreationBriefInfo& /*info*/) {}
  virtual void OnBlobFileCreated(const BlobFileCreationInfo& /*info*/) {}
  virtual void OnBlobFileDeleted(const BlobFileDeletionInfo& /*info*/) {}
  virtual void OnIOError(const IOErrorInfo& /*info*/) {}
};

}  // namespace ROCKSDB_NAMESPACE
