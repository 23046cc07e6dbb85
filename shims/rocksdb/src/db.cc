// What of rocksdb::DB needs no database of its own: opening, names, and forms of calls.

#include "rocksdb/db.h"

#include <hawthorn/db.h>
#include <hawthorn/follower.h>

#include "shims/rocksdb/src/convert.h"
#include "shims/rocksdb/src/db_impl.h"
#include "shims/rocksdb/src/options_file.h"
#include "shims/rocksdb/src/secondary.h"

namespace rocksdb {

using hawthorn::rocks::DBImpl;
using hawthorn::rocks::FamilyRows;
using hawthorn::rocks::SecondaryDB;
using hawthorn::rocks::to_status;

const std::string kDefaultColumnFamilyName("default");

namespace {

// What both forms of opening take.
Status given(Status status, std::unique_ptr<DB>& opened, DB** to) {
  *to = opened.release();
  return status;
}

std::vector<ColumnFamilyDescriptor> only_default(const Options& options) {
  return {{kDefaultColumnFamilyName, ColumnFamilyOptions(options)}};
}

Status open_read_only(const DBOptions& options, const std::string& name,
                      const std::vector<ColumnFamilyDescriptor>& families,
                      std::vector<ColumnFamilyHandle*>* handles, std::unique_ptr<DB>* db,
                      bool error_if_wal_file_exists) {
  Status status = DBImpl::open(options, name, families, handles, true, db);
  if (!status.ok() || !error_if_wal_file_exists) return status;
  uint64_t unflushed = 0;
  (*db)->GetAggregatedIntProperty(DB::Properties::kNumEntriesActiveMemTable, &unflushed);
  if (unflushed == 0) return status;
  if (handles != nullptr) {
    for (ColumnFamilyHandle* handle : *handles) delete handle;
    handles->clear();
  }
  db->reset();
  return Status::Corruption("the log holds writes that are not flushed");
}

}  // namespace

Status DB::Open(const Options& options, const std::string& name, std::unique_ptr<DB>* dbptr) try {
  return DBImpl::open(options, name, only_default(options), nullptr, false, dbptr);
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

Status DB::Open(const Options& options, const std::string& name, DB** dbptr) try {
  std::unique_ptr<DB> opened;
  return given(Open(options, name, &opened), opened, dbptr);
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

Status DB::Open(const DBOptions& db_options, const std::string& name,
                const std::vector<ColumnFamilyDescriptor>& column_families,
                std::vector<ColumnFamilyHandle*>* handles, std::unique_ptr<DB>* dbptr) try {
  return DBImpl::open(db_options, name, column_families, handles, false, dbptr);
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

Status DB::Open(const DBOptions& db_options, const std::string& name,
                const std::vector<ColumnFamilyDescriptor>& column_families,
                std::vector<ColumnFamilyHandle*>* handles, DB** dbptr) try {
  std::unique_ptr<DB> opened;
  return given(Open(db_options, name, column_families, handles, &opened), opened, dbptr);
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

Status DB::OpenForReadOnly(const Options& options, const std::string& name,
                           std::unique_ptr<DB>* dbptr, bool error_if_wal_file_exists) try {
  return open_read_only(options, name, only_default(options), nullptr, dbptr,
                        error_if_wal_file_exists);
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

Status DB::OpenForReadOnly(const Options& options, const std::string& name, DB** dbptr,
                           bool error_if_wal_file_exists) try {
  std::unique_ptr<DB> opened;
  return given(OpenForReadOnly(options, name, &opened, error_if_wal_file_exists), opened, dbptr);
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

Status DB::OpenForReadOnly(const DBOptions& db_options, const std::string& name,
                           const std::vector<ColumnFamilyDescriptor>& column_families,
                           std::vector<ColumnFamilyHandle*>* handles, std::unique_ptr<DB>* dbptr,
                           bool error_if_wal_file_exists) try {
  return open_read_only(db_options, name, column_families, handles, dbptr,
                        error_if_wal_file_exists);
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

Status DB::OpenForReadOnly(const DBOptions& db_options, const std::string& name,
                           const std::vector<ColumnFamilyDescriptor>& column_families,
                           std::vector<ColumnFamilyHandle*>* handles, DB** dbptr,
                           bool error_if_wal_file_exists) try {
  std::unique_ptr<DB> opened;
  return given(OpenForReadOnly(db_options, name, column_families, handles, &opened,
                               error_if_wal_file_exists),
               opened, dbptr);
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

Status DB::OpenAsSecondary(const Options& options, const std::string& name, const std::string&,
                           std::unique_ptr<DB>* dbptr) try {
  return SecondaryDB::open(options, name, only_default(options), nullptr, dbptr);
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

Status DB::OpenAsSecondary(const Options& options, const std::string& name,
                           const std::string& secondary_path, DB** dbptr) try {
  std::unique_ptr<DB> opened;
  return given(OpenAsSecondary(options, name, secondary_path, &opened), opened, dbptr);
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

Status DB::OpenAsSecondary(const DBOptions& db_options, const std::string& name, const std::string&,
                           const std::vector<ColumnFamilyDescriptor>& column_families,
                           std::vector<ColumnFamilyHandle*>* handles,
                           std::unique_ptr<DB>* dbptr) try {
  return SecondaryDB::open(db_options, name, column_families, handles, dbptr);
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

Status DB::OpenAsSecondary(const DBOptions& db_options, const std::string& name,
                           const std::string& secondary_path,
                           const std::vector<ColumnFamilyDescriptor>& column_families,
                           std::vector<ColumnFamilyHandle*>* handles, DB** dbptr) try {
  std::unique_ptr<DB> opened;
  return given(OpenAsSecondary(db_options, name, secondary_path, column_families, handles, &opened),
               opened, dbptr);
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

Status DB::ListColumnFamilies(const DBOptions&, const std::string& name,
                              std::vector<std::string>* column_families) {
  column_families->clear();
  if (auto listed = DBImpl::list_families_of_open(name, column_families)) return *listed;
  const hawthorn::rocks::Slots slots;
  hawthorn::Options options;
  options.read_only = true;
  options.memory_budget_bytes = hawthorn::Db::limits().memory_budget_bytes_min;
  slots.tell(options);
  const auto list = [column_families](hawthorn::Db& db) {
    const hawthorn::Result<FamilyRows> rows = FamilyRows::read(db);
    if (rows.ok()) *column_families = rows->names_by_id();
    return rows.ok() ? Status::OK() : to_status(rows.status());
  };
  // The log of a database is replayed in memory, and may need as much as its own budget had.
  for (;; options.memory_budget_bytes *= 4) {
    constexpr size_t kBudgetMax = size_t{4} << 30;
    const auto opened = hawthorn::Db::open(name, options);
    if (opened.ok()) return list(**opened);
    if (opened.status().is(hawthorn::StatusCode::kOutOfMemory) &&
        options.memory_budget_bytes < kBudgetMax) {
      continue;
    }
    if (!opened.status().is(hawthorn::StatusCode::kBusy)) {
      if (opened.status().is_not_found()) return Status::PathNotFound(name, "no database");
      return to_status(opened.status());
    }
    hawthorn::FollowerOptions follower_options;
    follower_options.merge_operators = options.merge_operators;
    follower_options.key_comparators = options.key_comparators;
    const auto follower = hawthorn::Follower::open(name, follower_options);
    return follower.ok() ? list(*(*follower)->view()) : to_status(follower.status());
  }
}

Status DB::Get(const ReadOptions& options, ColumnFamilyHandle* column_family, const Slice& key,
               std::string* value) {
  PinnableSlice read(value);
  Status status = Get(options, column_family, key, &read, nullptr);
  if (status.ok() && read.IsPinned()) value->assign(read.data(), read.size());
  return status;
}

std::vector<Status> DB::MultiGet(const ReadOptions& options,
                                 const std::vector<ColumnFamilyHandle*>& column_family,
                                 const std::vector<Slice>& keys, std::vector<std::string>* values) {
  std::vector<Status> statuses(keys.size());
  std::vector<PinnableSlice> read(keys.size());
  std::vector<ColumnFamilyHandle*> families = column_family;
  values->assign(keys.size(), std::string());
  MultiGet(options, keys.size(), families.data(), keys.data(), read.data(), nullptr,
           statuses.data());
  for (size_t i = 0; i < keys.size(); ++i) {
    if (statuses[i].ok()) (*values)[i].assign(read[i].data(), read[i].size());
  }
  return statuses;
}

std::vector<Status> DB::MultiGet(const ReadOptions& options, const std::vector<Slice>& keys,
                                 std::vector<std::string>* values) {
  const std::vector<ColumnFamilyHandle*> families(keys.size(), DefaultColumnFamily());
  return MultiGet(options, families, keys, values);
}

Status DB::GetApproximateSizes(ColumnFamilyHandle* column_family, const Range* ranges, int n,
                               uint64_t* sizes, SizeApproximationFlags include_flags) {
  const auto has = [include_flags](SizeApproximationFlags flag) {
    return (include_flags & flag) != SizeApproximationFlags::NONE;
  };
  SizeApproximationOptions options;
  options.include_memtables = has(SizeApproximationFlags::INCLUDE_MEMTABLES);
  options.include_files = has(SizeApproximationFlags::INCLUDE_FILES);
  return GetApproximateSizes(options, column_family, ranges, n, sizes);
}

Status DestroyDB(const std::string& name, const Options&,
                 const std::vector<ColumnFamilyDescriptor>&) {
  const hawthorn::Status status = hawthorn::Db::destroy(name);
  if (status.ok() || status.is_not_found()) return hawthorn::rocks::remove_options_files(name);
  if (status.is(hawthorn::StatusCode::kBusy)) {
    return Status::IOError("lock " + name + "/LOCK", hawthorn::rocks::slice(status.message()));
  }
  return to_status(status);
}

ManagedSnapshot::ManagedSnapshot(DB* db) : ManagedSnapshot(db, db->GetSnapshot()) {}
ManagedSnapshot::ManagedSnapshot(DB* db, const Snapshot* _snapshot)
    : db_(db), snapshot_(_snapshot) {}
ManagedSnapshot::~ManagedSnapshot() { db_->ReleaseSnapshot(snapshot_); }

const std::string DB::Properties::kNumFilesAtLevelPrefix = "rocksdb.num-files-at-level";
const std::string DB::Properties::kCompressionRatioAtLevelPrefix =
    "rocksdb.compression-ratio-at-level";
const std::string DB::Properties::kStats = "rocksdb.stats";
const std::string DB::Properties::kSSTables = "rocksdb.sstables";
const std::string DB::Properties::kCFStats = "rocksdb.cfstats";
const std::string DB::Properties::kCFStatsNoFileHistogram = "rocksdb.cfstats-no-file-histogram";
const std::string DB::Properties::kCFFileHistogram = "rocksdb.cf-file-histogram";
const std::string DB::Properties::kCFWriteStallStats = "rocksdb.cf-write-stall-stats";
const std::string DB::Properties::kDBWriteStallStats = "rocksdb.db-write-stall-stats";
const std::string DB::Properties::kDBStats = "rocksdb.dbstats";
const std::string DB::Properties::kLevelStats = "rocksdb.levelstats";
const std::string DB::Properties::kBlockCacheEntryStats = "rocksdb.block-cache-entry-stats";
const std::string DB::Properties::kFastBlockCacheEntryStats =
    "rocksdb.fast-block-cache-entry-stats";
const std::string DB::Properties::kNumImmutableMemTable = "rocksdb.num-immutable-mem-table";
const std::string DB::Properties::kNumImmutableMemTableFlushed =
    "rocksdb.num-immutable-mem-table-flushed";
const std::string DB::Properties::kMemTableFlushPending = "rocksdb.mem-table-flush-pending";
const std::string DB::Properties::kNumRunningFlushes = "rocksdb.num-running-flushes";
const std::string DB::Properties::kCompactionPending = "rocksdb.compaction-pending";
const std::string DB::Properties::kNumRunningCompactions = "rocksdb.num-running-compactions";
const std::string DB::Properties::kNumRunningCompactionSortedRuns =
    "rocksdb.num-running-compaction-sorted-runs";
const std::string DB::Properties::kBackgroundErrors = "rocksdb.background-errors";
const std::string DB::Properties::kCurSizeActiveMemTable = "rocksdb.cur-size-active-mem-table";
const std::string DB::Properties::kCurSizeAllMemTables = "rocksdb.cur-size-all-mem-tables";
const std::string DB::Properties::kSizeAllMemTables = "rocksdb.size-all-mem-tables";
const std::string DB::Properties::kNumEntriesActiveMemTable =
    "rocksdb.num-entries-active-mem-table";
const std::string DB::Properties::kNumEntriesImmMemTables = "rocksdb.num-entries-imm-mem-tables";
const std::string DB::Properties::kNumDeletesActiveMemTable =
    "rocksdb.num-deletes-active-mem-table";
const std::string DB::Properties::kNumDeletesImmMemTables = "rocksdb.num-deletes-imm-mem-tables";
const std::string DB::Properties::kEstimateNumKeys = "rocksdb.estimate-num-keys";
const std::string DB::Properties::kEstimateTableReadersMem = "rocksdb.estimate-table-readers-mem";
const std::string DB::Properties::kIsFileDeletionsEnabled = "rocksdb.is-file-deletions-enabled";
const std::string DB::Properties::kNumSnapshots = "rocksdb.num-snapshots";
const std::string DB::Properties::kOldestSnapshotTime = "rocksdb.oldest-snapshot-time";
const std::string DB::Properties::kOldestSnapshotSequence = "rocksdb.oldest-snapshot-sequence";
const std::string DB::Properties::kNumLiveVersions = "rocksdb.num-live-versions";
const std::string DB::Properties::kCurrentSuperVersionNumber =
    "rocksdb.current-super-version-number";
const std::string DB::Properties::kEstimateLiveDataSize = "rocksdb.estimate-live-data-size";
const std::string DB::Properties::kMinLogNumberToKeep = "rocksdb.min-log-number-to-keep";
const std::string DB::Properties::kMinObsoleteSstNumberToKeep =
    "rocksdb.min-obsolete-sst-number-to-keep";
const std::string DB::Properties::kTotalSstFilesSize = "rocksdb.total-sst-files-size";
const std::string DB::Properties::kLiveSstFilesSize = "rocksdb.live-sst-files-size";
const std::string DB::Properties::kObsoleteSstFilesSize = "rocksdb.obsolete-sst-files-size";
const std::string DB::Properties::kLiveSstFilesSizeAtTemperature =
    "rocksdb.live-sst-files-size-at-temperature";
const std::string DB::Properties::kBaseLevel = "rocksdb.base-level";
const std::string DB::Properties::kEstimatePendingCompactionBytes =
    "rocksdb.estimate-pending-compaction-bytes";
const std::string DB::Properties::kAggregatedTableProperties =
    "rocksdb.aggregated-table-properties";
const std::string DB::Properties::kAggregatedTablePropertiesAtLevel =
    "rocksdb.aggregated-table-properties-at-level";
const std::string DB::Properties::kActualDelayedWriteRate = "rocksdb.actual-delayed-write-rate";
const std::string DB::Properties::kIsWriteStopped = "rocksdb.is-write-stopped";
const std::string DB::Properties::kEstimateOldestKeyTime = "rocksdb.estimate-oldest-key-time";
const std::string DB::Properties::kBlockCacheCapacity = "rocksdb.block-cache-capacity";
const std::string DB::Properties::kBlockCacheUsage = "rocksdb.block-cache-usage";
const std::string DB::Properties::kBlockCachePinnedUsage = "rocksdb.block-cache-pinned-usage";
const std::string DB::Properties::kOptionsStatistics = "rocksdb.options-statistics";
const std::string DB::Properties::kNumBlobFiles = "rocksdb.num-blob-files";
const std::string DB::Properties::kBlobStats = "rocksdb.blob-stats";
const std::string DB::Properties::kTotalBlobFileSize = "rocksdb.total-blob-file-size";
const std::string DB::Properties::kLiveBlobFileSize = "rocksdb.live-blob-file-size";
const std::string DB::Properties::kLiveBlobFileGarbageSize = "rocksdb.live-blob-file-garbage-size";
const std::string DB::Properties::kBlobCacheCapacity = "rocksdb.blob-cache-capacity";
const std::string DB::Properties::kBlobCacheUsage = "rocksdb.blob-cache-usage";
const std::string DB::Properties::kBlobCachePinnedUsage = "rocksdb.blob-cache-pinned-usage";

}  // namespace rocksdb
