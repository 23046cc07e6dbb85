#pragma once
// A database: one directory of the engine, opened by one process, used by any number of its
// threads.
//
// Column families are trees of the engine, and a write is one commit, whatever families it is
// about. Keys have up to 65,535 bytes, values up to 64 MB, names of families up to 250 bytes;
// longer ones give InvalidArgument.
//
// Threads: every function from any thread at any time, Close and the destructor excepted.
// Lifetime: iterators and handles of column families are to be deleted before their database.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "rocksdb/attribute_groups.h"
#include "rocksdb/iterator.h"
#include "rocksdb/options.h"
#include "rocksdb/snapshot.h"
#include "rocksdb/transaction_log.h"
#include "rocksdb/types.h"
#include "rocksdb/version.h"
#include "rocksdb/wide_columns.h"
#include "rocksdb/write_batch.h"

namespace ROCKSDB_NAMESPACE {

// The name of the family that every database has. [mapped]
extern const std::string kDefaultColumnFamilyName;

// [mapped]
struct ColumnFamilyDescriptor {
  ColumnFamilyDescriptor() : name(kDefaultColumnFamilyName) {}
  ColumnFamilyDescriptor(const std::string& _name, const ColumnFamilyOptions& _options)
      : name(_name), options(_options) {}
  std::string name;
  ColumnFamilyOptions options;
};

// [mapped]
class ColumnFamilyHandle {
 public:
  virtual ~ColumnFamilyHandle() = default;
  virtual const std::string& GetName() const = 0;
  // Never given twice.
  virtual uint32_t GetID() const = 0;
  virtual Status GetDescriptor(ColumnFamilyDescriptor* desc) = 0;
  virtual const Comparator* GetComparator() const = 0;
};

// [mapped]
static const int kMajorVersion = ROCKSDB_MAJOR;
// [mapped]
static const int kMinorVersion = ROCKSDB_MINOR;

// [mapped]
class DB {
 public:
  // Errors: InvalidArgument for what is missing, exists, or has another comparator, and for
  // families that are there and not named; IOError while it is open elsewhere; NotSupported for
  // options that are refused, and for a directory that RocksDB has written.
  static Status Open(const Options& options, const std::string& name, std::unique_ptr<DB>* dbptr);
  static Status Open(const Options& options, const std::string& name, DB** dbptr);
  static Status Open(const DBOptions& db_options, const std::string& name,
                     const std::vector<ColumnFamilyDescriptor>& column_families,
                     std::vector<ColumnFamilyHandle*>* handles, std::unique_ptr<DB>* dbptr);
  static Status Open(const DBOptions& db_options, const std::string& name,
                     const std::vector<ColumnFamilyDescriptor>& column_families,
                     std::vector<ColumnFamilyHandle*>* handles, DB** dbptr);
  // Only some of the families need to be named. While a process writes, IOError.
  static Status OpenForReadOnly(const Options& options, const std::string& name,
                                std::unique_ptr<DB>* dbptr, bool error_if_wal_file_exists = false);
  static Status OpenForReadOnly(const Options& options, const std::string& name, DB** dbptr,
                                bool error_if_wal_file_exists = false);
  static Status OpenForReadOnly(const DBOptions& db_options, const std::string& name,
                                const std::vector<ColumnFamilyDescriptor>& column_families,
                                std::vector<ColumnFamilyHandle*>* handles,
                                std::unique_ptr<DB>* dbptr, bool error_if_wal_file_exists = false);
  static Status OpenForReadOnly(const DBOptions& db_options, const std::string& name,
                                const std::vector<ColumnFamilyDescriptor>& column_families,
                                std::vector<ColumnFamilyHandle*>* handles, DB** dbptr,
                                bool error_if_wal_file_exists = false);
  // Reads while another process writes (or this one), which neither waits for the other: what was
  // committed when it was opened, and from then on when it last caught up. Only some of the
  // families need to be named, and those that come later are not seen; those that are dropped stay
  // as they were last seen, as long as there are handles. Writes and all that changes something are
  // NotSupported, and iterators with ReadOptions::tailing; snapshots are there. Nothing is written
  // to secondary_path, and no number of open files is asked for. Takes the memory of a database
  // with these options, and more where what the other has not flushed needs it. Errors: those of
  // OpenForReadOnly, but PathNotFound where there is no database; Busy for more than 128 at once.
  static Status OpenAsSecondary(const Options& options, const std::string& name,
                                const std::string& secondary_path, std::unique_ptr<DB>* dbptr);
  static Status OpenAsSecondary(const Options& options, const std::string& name,
                                const std::string& secondary_path, DB** dbptr);
  static Status OpenAsSecondary(const DBOptions& db_options, const std::string& name,
                                const std::string& secondary_path,
                                const std::vector<ColumnFamilyDescriptor>& column_families,
                                std::vector<ColumnFamilyHandle*>* handles,
                                std::unique_ptr<DB>* dbptr);
  static Status OpenAsSecondary(const DBOptions& db_options, const std::string& name,
                                const std::string& secondary_path,
                                const std::vector<ColumnFamilyDescriptor>& column_families,
                                std::vector<ColumnFamilyHandle*>* handles, DB** dbptr);
  // In the order of their ids; also of a database that is open.
  static Status ListColumnFamilies(const DBOptions& db_options, const std::string& name,
                                   std::vector<std::string>* column_families);

  DB() = default;
  virtual ~DB() = default;
  DB(const DB&) = delete;
  void operator=(const DB&) = delete;

  // Flushes, but with DBOptions::avoid_flush_during_shutdown. Aborted while snapshots are held, and
  // Busy while iterators are; then it stays open. The destructor does the same, and closes anyway.
  virtual Status Close() = 0;
  // [refused]
  virtual Status Resume() { return NotThere("Resume"); }

  virtual Status CreateColumnFamily(const ColumnFamilyOptions& options,
                                    const std::string& column_family_name,
                                    ColumnFamilyHandle** handle) = 0;
  virtual Status CreateColumnFamilies(const ColumnFamilyOptions& options,
                                      const std::vector<std::string>& column_family_names,
                                      std::vector<ColumnFamilyHandle*>* handles) = 0;
  virtual Status CreateColumnFamilies(const std::vector<ColumnFamilyDescriptor>& column_families,
                                      std::vector<ColumnFamilyHandle*>* handles) = 0;
  // Who has a handle goes on reading what was there; writes give InvalidArgument.
  virtual Status DropColumnFamily(ColumnFamilyHandle* column_family) = 0;
  virtual Status DropColumnFamilies(const std::vector<ColumnFamilyHandle*>& column_families) = 0;
  virtual Status DestroyColumnFamilyHandle(ColumnFamilyHandle* column_family) = 0;

  virtual Status Put(const WriteOptions& options, ColumnFamilyHandle* column_family,
                     const Slice& key, const Slice& value) = 0;
  virtual Status Put(const WriteOptions& options, const Slice& key, const Slice& value) {
    return Put(options, DefaultColumnFamily(), key, value);
  }
  // Replaces what is at the key, plain or not. A family's first entity writes a row of its own
  // before, with a sync. Errors: as WriteBatch::PutEntity.
  virtual Status PutEntity(const WriteOptions& options, ColumnFamilyHandle* column_family,
                           const Slice& key, const WideColumns& columns) = 0;
  // Each group into its family, as one write.
  virtual Status PutEntity(const WriteOptions& options, const Slice& key,
                           const AttributeGroups& attribute_groups) = 0;
  virtual Status Delete(const WriteOptions& options, ColumnFamilyHandle* column_family,
                        const Slice& key) = 0;
  virtual Status Delete(const WriteOptions& options, const Slice& key) {
    return Delete(options, DefaultColumnFamily(), key);
  }
  virtual Status SingleDelete(const WriteOptions& options, ColumnFamilyHandle* column_family,
                              const Slice& key) = 0;
  virtual Status SingleDelete(const WriteOptions& options, const Slice& key) {
    return SingleDelete(options, DefaultColumnFamily(), key);
  }
  // InvalidArgument where the end comes before the beginning.
  virtual Status DeleteRange(const WriteOptions& options, ColumnFamilyHandle* column_family,
                             const Slice& begin_key, const Slice& end_key) = 0;
  virtual Status DeleteRange(const WriteOptions& options, const Slice& begin_key,
                             const Slice& end_key) {
    return DeleteRange(options, DefaultColumnFamily(), begin_key, end_key);
  }
  // Of an entity, its default column. NotSupported where the family was opened without an operator.
  virtual Status Merge(const WriteOptions& options, ColumnFamilyHandle* column_family,
                       const Slice& key, const Slice& value) = 0;
  virtual Status Merge(const WriteOptions& options, const Slice& key, const Slice& value) {
    return Merge(options, DefaultColumnFamily(), key, value);
  }
  // Deletes of a range where the family has a merge operator, operands over 64 KB, and files that
  // go in as a transaction need the database for themselves: they wait for others that do, a
  // minute at most. TimedOut then.
  virtual Status Write(const WriteOptions& options, WriteBatch* updates) = 0;

  // NotSupported for a timestamp.
  virtual Status Get(const ReadOptions& options, ColumnFamilyHandle* column_family,
                     const Slice& key, PinnableSlice* value, std::string* timestamp) = 0;
  Status Get(const ReadOptions& options, ColumnFamilyHandle* column_family, const Slice& key,
             PinnableSlice* value) {
    return Get(options, column_family, key, value, nullptr);
  }
  Status Get(const ReadOptions& options, ColumnFamilyHandle* column_family, const Slice& key,
             std::string* value);
  Status Get(const ReadOptions& options, const Slice& key, std::string* value) {
    return Get(options, DefaultColumnFamily(), key, value);
  }

  // A plain value is shown as the default column. Errors: as Get; InvalidArgument without a family
  // or a place for the columns.
  virtual Status GetEntity(const ReadOptions& options, ColumnFamilyHandle* column_family,
                           const Slice& key, PinnableWideColumns* columns) = 0;
  // Each group of the result from its family, all of one moment; what became of it is its status.
  virtual Status GetEntity(const ReadOptions& options, const Slice& key,
                           PinnableAttributeGroups* result) = 0;

  // All keys are read at one moment, also without a snapshot, within a family.
  virtual void MultiGet(const ReadOptions& options, size_t num_keys,
                        ColumnFamilyHandle** column_families, const Slice* keys,
                        PinnableSlice* values, std::string* timestamps, Status* statuses,
                        bool sorted_input = false) = 0;
  void MultiGet(const ReadOptions& options, size_t num_keys, ColumnFamilyHandle** column_families,
                const Slice* keys, PinnableSlice* values, Status* statuses,
                bool sorted_input = false) {
    MultiGet(options, num_keys, column_families, keys, values, nullptr, statuses, sorted_input);
  }
  virtual void MultiGet(const ReadOptions& options, ColumnFamilyHandle* column_family,
                        size_t num_keys, const Slice* keys, PinnableSlice* values, Status* statuses,
                        bool sorted_input = false) = 0;
  std::vector<Status> MultiGet(const ReadOptions& options,
                               const std::vector<ColumnFamilyHandle*>& column_family,
                               const std::vector<Slice>& keys, std::vector<std::string>* values);
  std::vector<Status> MultiGet(const ReadOptions& options, const std::vector<Slice>& keys,
                               std::vector<std::string>* values);

  virtual void MultiGetEntity(const ReadOptions& options, ColumnFamilyHandle* column_family,
                              size_t num_keys, const Slice* keys, PinnableWideColumns* results,
                              Status* statuses, bool sorted_input = false) = 0;
  virtual void MultiGetEntity(const ReadOptions& options, size_t num_keys,
                              ColumnFamilyHandle** column_families, const Slice* keys,
                              PinnableWideColumns* results, Status* statuses,
                              bool sorted_input = false) = 0;
  virtual void MultiGetEntity(const ReadOptions& options, size_t num_keys, const Slice* keys,
                              PinnableAttributeGroups* results) = 0;

  // Exact where memory tells, and true where the disk would have to be read. In families with a
  // comparator of the program's own it reads the key.
  virtual bool KeyMayExist(const ReadOptions& options, ColumnFamilyHandle* column_family,
                           const Slice& key, std::string* value, bool* value_found = nullptr) = 0;
  virtual bool KeyMayExist(const ReadOptions& options, const Slice& key, std::string* value,
                           bool* value_found = nullptr) {
    return KeyMayExist(options, DefaultColumnFamily(), key, value, value_found);
  }

  // The caller owns it.
  virtual Iterator* NewIterator(const ReadOptions& options, ColumnFamilyHandle* column_family) = 0;
  virtual Iterator* NewIterator(const ReadOptions& options) {
    return NewIterator(options, DefaultColumnFamily());
  }
  // All of one moment.
  virtual Status NewIterators(const ReadOptions& options,
                              const std::vector<ColumnFamilyHandle*>& column_families,
                              std::vector<Iterator*>* iterators) = 0;

  // Null where the engine cannot take one.
  virtual const Snapshot* GetSnapshot() = 0;
  virtual void ReleaseSnapshot(const Snapshot* snapshot) = 0;

  // Names of what GetProperty answers. Those of files, levels and memtables are answered as by a
  // database that has one level of files and one memtable. Background errors are containers that
  // are damaged, and where there are listeners or statistics, work that has failed.
  struct Properties {
    static const std::string kNumFilesAtLevelPrefix;
    static const std::string kCompressionRatioAtLevelPrefix;
    static const std::string kStats;
    static const std::string kSSTables;  // [refused] returns false
    static const std::string kCFStats;
    static const std::string kCFStatsNoFileHistogram;
    static const std::string kCFFileHistogram;  // [refused] returns false
    static const std::string kCFWriteStallStats;
    static const std::string kDBWriteStallStats;
    static const std::string kDBStats;
    static const std::string kLevelStats;
    static const std::string kBlockCacheEntryStats;      // [refused] returns false
    static const std::string kFastBlockCacheEntryStats;  // [refused] returns false
    static const std::string kNumImmutableMemTable;
    static const std::string kNumImmutableMemTableFlushed;
    static const std::string kMemTableFlushPending;
    static const std::string kNumRunningFlushes;
    static const std::string kCompactionPending;
    static const std::string kNumRunningCompactions;
    static const std::string kNumRunningCompactionSortedRuns;
    static const std::string kBackgroundErrors;
    static const std::string kCurSizeActiveMemTable;
    static const std::string kCurSizeAllMemTables;
    static const std::string kSizeAllMemTables;
    static const std::string kNumEntriesActiveMemTable;
    static const std::string kNumEntriesImmMemTables;
    static const std::string kNumDeletesActiveMemTable;  // [refused] returns false
    static const std::string kNumDeletesImmMemTables;
    static const std::string kEstimateNumKeys;
    static const std::string kEstimateTableReadersMem;
    static const std::string kIsFileDeletionsEnabled;
    static const std::string kNumSnapshots;
    static const std::string kOldestSnapshotTime;
    static const std::string kOldestSnapshotSequence;
    static const std::string kNumLiveVersions;
    static const std::string kCurrentSuperVersionNumber;
    static const std::string kEstimateLiveDataSize;
    static const std::string kMinLogNumberToKeep;  // [refused] returns false
    static const std::string kMinObsoleteSstNumberToKeep;
    static const std::string kTotalSstFilesSize;
    static const std::string kLiveSstFilesSize;
    static const std::string kObsoleteSstFilesSize;
    static const std::string kLiveSstFilesSizeAtTemperature;
    static const std::string kBaseLevel;
    static const std::string kEstimatePendingCompactionBytes;
    static const std::string kAggregatedTableProperties;
    static const std::string kAggregatedTablePropertiesAtLevel;  // [refused] returns false
    static const std::string kActualDelayedWriteRate;
    static const std::string kIsWriteStopped;
    static const std::string kEstimateOldestKeyTime;  // [refused] returns false
    static const std::string kBlockCacheCapacity;
    static const std::string kBlockCacheUsage;
    static const std::string kBlockCachePinnedUsage;
    static const std::string kOptionsStatistics;
    static const std::string kNumBlobFiles;
    static const std::string kBlobStats;
    static const std::string kTotalBlobFileSize;
    static const std::string kLiveBlobFileSize;
    static const std::string kLiveBlobFileGarbageSize;
    static const std::string kBlobCacheCapacity;
    static const std::string kBlobCacheUsage;
    static const std::string kBlobCachePinnedUsage;
  };
  virtual bool GetProperty(ColumnFamilyHandle* column_family, const Slice& property,
                           std::string* value) = 0;
  virtual bool GetProperty(const Slice& property, std::string* value) {
    return GetProperty(DefaultColumnFamily(), property, value);
  }
  virtual bool GetIntProperty(ColumnFamilyHandle* column_family, const Slice& property,
                              uint64_t* value) = 0;
  virtual bool GetIntProperty(const Slice& property, uint64_t* value) {
    return GetIntProperty(DefaultColumnFamily(), property, value);
  }
  // "rocksdb.cfstats" and "rocksdb.cfstats-no-file-histogram" (files and bytes), "rocksdb.dbstats",
  // "rocksdb.cf-write-stall-stats", "rocksdb.db-write-stall-stats" and
  // "rocksdb.aggregated-table-properties", with what there is of RocksDB's names.
  virtual bool GetMapProperty(ColumnFamilyHandle* column_family, const Slice& property,
                              std::map<std::string, std::string>* value) = 0;
  virtual bool GetMapProperty(const Slice& property, std::map<std::string, std::string>* value) {
    return GetMapProperty(DefaultColumnFamily(), property, value);
  }
  virtual bool GetAggregatedIntProperty(const Slice& property, uint64_t* value) = 0;

  // [accepted]
  enum class SizeApproximationFlags : uint8_t {
    NONE = 0,
    INCLUDE_MEMTABLES = 1 << 0,
    INCLUDE_FILES = 1 << 1
  };
  // Of what is on disk; what is in memory alone has no size.
  virtual Status GetApproximateSizes(const SizeApproximationOptions& options,
                                     ColumnFamilyHandle* column_family, const Range* ranges, int n,
                                     uint64_t* sizes) = 0;
  virtual Status GetApproximateSizes(
      ColumnFamilyHandle* column_family, const Range* ranges, int n, uint64_t* sizes,
      SizeApproximationFlags include_flags = SizeApproximationFlags::INCLUDE_FILES);
  virtual Status GetApproximateSizes(
      const Range* ranges, int n, uint64_t* sizes,
      SizeApproximationFlags include_flags = SizeApproximationFlags::INCLUDE_FILES) {
    return GetApproximateSizes(DefaultColumnFamily(), ranges, n, sizes, include_flags);
  }

  // Of the whole database, whatever the range.
  virtual Status CompactRange(const CompactRangeOptions& options, ColumnFamilyHandle* column_family,
                              const Slice* begin, const Slice* end) = 0;
  virtual Status CompactRange(const CompactRangeOptions& options, const Slice* begin,
                              const Slice* end) {
    return CompactRange(options, DefaultColumnFamily(), begin, end);
  }
  // Options that RocksDB can change while it is open (names and values: convenience.h); GetOptions
  // shows them, also those that mean nothing. Write buffers and caches of the table factory change
  // the memory budget, compression what is written from then on, the prefix new iterators. With one
  // that cannot be changed or read, InvalidArgument, or be kept, Aborted(MemoryLimit) and others,
  // nothing is changed.
  virtual Status SetOptions(ColumnFamilyHandle* /*column_family*/,
                            const std::unordered_map<std::string, std::string>& /*opts_map*/) {
    return NotThere("SetOptions");
  }
  virtual Status SetOptions(const std::unordered_map<std::string, std::string>& new_options) {
    return SetOptions(DefaultColumnFamily(), new_options);
  }
  // Likewise. avoid_flush_during_shutdown does what it says; the others mean nothing.
  virtual Status SetDBOptions(const std::unordered_map<std::string, std::string>& /*new_options*/) {
    return NotThere("SetDBOptions");
  }
  // [refused]
  virtual Status PauseBackgroundWork() { return NotThere("PauseBackgroundWork"); }
  // [refused]
  virtual Status ContinueBackgroundWork() { return NotThere("ContinueBackgroundWork"); }
  // Background work goes on in any case. [accepted]
  virtual Status EnableAutoCompaction(
      const std::vector<ColumnFamilyHandle*>& /*column_family_handles*/) {
    return Status::OK();
  }
  // CompactRange returns Incomplete in between.
  virtual void DisableManualCompaction() = 0;
  virtual void EnableManualCompaction() = 0;
  virtual Status WaitForCompact(const WaitForCompactOptions& wait_for_compact_options) = 0;

  // [accepted]
  virtual int NumberLevels(ColumnFamilyHandle* column_family) = 0;
  // [accepted]
  virtual int NumberLevels() { return NumberLevels(DefaultColumnFamily()); }
  // [accepted]
  virtual int MaxMemCompactionLevel(ColumnFamilyHandle* /*column_family*/) { return 0; }
  // [accepted]
  virtual int MaxMemCompactionLevel() { return MaxMemCompactionLevel(DefaultColumnFamily()); }
  // [accepted]
  virtual int Level0StopWriteTrigger(ColumnFamilyHandle* column_family) = 0;
  // [accepted]
  virtual int Level0StopWriteTrigger() { return Level0StopWriteTrigger(DefaultColumnFamily()); }

  virtual const std::string& GetName() const = 0;
  virtual Env* GetEnv() const { return Env::Default(); }
  virtual Options GetOptions(ColumnFamilyHandle* column_family) const = 0;
  virtual Options GetOptions() const { return GetOptions(DefaultColumnFamily()); }
  virtual DBOptions GetDBOptions() const = 0;

  // Of all families, always.
  virtual Status Flush(const FlushOptions& options, ColumnFamilyHandle* column_family) = 0;
  virtual Status Flush(const FlushOptions& options) {
    return Flush(options, DefaultColumnFamily());
  }
  virtual Status Flush(const FlushOptions& options,
                       const std::vector<ColumnFamilyHandle*>& column_families) = 0;
  // Without `sync` nothing is left to do.
  virtual Status FlushWAL(bool sync) = 0;
  virtual Status SyncWAL() = 0;
  // [refused]
  virtual Status LockWAL() { return NotThere("LockWAL"); }
  // [refused]
  virtual Status UnlockWAL() { return NotThere("UnlockWAL"); }
  virtual SequenceNumber GetLatestSequenceNumber() const = 0;
  // [refused]
  virtual Status DisableFileDeletions() { return NotThere("DisableFileDeletions"); }
  // [refused]
  virtual Status EnableFileDeletions() { return NotThere("EnableFileDeletions"); }
  virtual Status VerifyChecksum(const ReadOptions& read_options) = 0;
  virtual Status VerifyChecksum() { return VerifyChecksum(ReadOptions()); }
  virtual Status GetDbIdentity(std::string& identity) const = 0;
  virtual Status GetDbSessionId(std::string& session_id) const = 0;
  virtual ColumnFamilyHandle* DefaultColumnFamily() const = 0;
  // Of "rocksdb.dbstats", "rocksdb.stats" and "rocksdb.cf-write-stall-stats".
  virtual Status ResetStats() { return NotThere("ResetStats"); }
  // The engine does such work when it is due. [accepted]
  virtual Status SuggestCompactRange(ColumnFamilyHandle* /*column_family*/, const Slice* /*begin*/,
                                     const Slice* /*end*/) {
    return Status::OK();
  }
  // [refused]
  virtual Status PromoteL0(ColumnFamilyHandle* /*column_family*/, int /*target_level*/) {
    return NotThere("PromoteL0");
  }
  // Takes in what SstFileWriter has written, in the order of the files: of a key that several of
  // them have, the last one's counts, and what the database had before is replaced, or deleted.
  // Atomic, for readers and crashes; durable when it returns. Files of puts alone, into one family,
  // go straight into the data files (hawthorn/ingest.h), others as one transaction, which has to
  // fit into memory. Errors: Corruption for other files, and damaged ones; InvalidArgument for
  // files of another comparator or family; NotSupported for merges without an operator; NoSpace.
  virtual Status IngestExternalFile(ColumnFamilyHandle* column_family,
                                    const std::vector<std::string>& external_files,
                                    const IngestExternalFileOptions& options) = 0;
  virtual Status IngestExternalFile(const std::vector<std::string>& external_files,
                                    const IngestExternalFileOptions& options) {
    return IngestExternalFile(DefaultColumnFamily(), external_files, options);
  }
  // Into several families, each once.
  virtual Status IngestExternalFiles(const std::vector<IngestExternalFileArg>& args) = 0;
  // The batches that were committed, from the one that has this number or comes behind it. Who goes
  // on at `sequence + writeBatchPtr->Count()` of the last one leaves out none and has none twice;
  // between batches numbers are left out, and a batch that is large, or was prepared, may begin
  // below the end of the one before, where that was committed at the same time.
  //
  // Kept is what is not flushed yet, and with DBOptions::WAL_ttl_seconds or WAL_size_limit_MB what
  // these say; without them, from the first call on, also behind restarts, up to 64 MB of the log.
  // Values of more than 64 KB that were written before are NotSupported, as are files that were
  // taken in before. What is
  // delivered is durable: the call, and Next at the end, sync the log. Batches are as they were
  // applied: log data are left out, merges of long operands are puts, of a deleted range in a
  // family with a merge operator each key is a delete, and what a compaction filter does comes,
  // too. Errors: NotFound for what is not committed yet, and what is not kept any more.
  virtual Status GetUpdatesSince(SequenceNumber seq_number,
                                 std::unique_ptr<TransactionLogIterator>* iter,
                                 const TransactionLogIterator::ReadOptions& read_options =
                                     TransactionLogIterator::ReadOptions()) = 0;
  // The log has no files that could be told. [refused]
  virtual Status GetSortedWalFiles(VectorWalPtr& files) {
    files.clear();
    return NotThere("GetSortedWalFiles");
  }
  // [refused]
  virtual Status GetCurrentWalFile(std::unique_ptr<WalFile>* current_wal_file) {
    current_wal_file->reset();
    return NotThere("GetCurrentWalFile");
  }
  virtual DB* GetRootDB() { return this; }
  // When it returns, reads of a secondary show at least what was committed before the call, all of
  // one moment; snapshots and iterators stay as they are. Others: NotSupported. Where the primary
  // has a full disk it takes back what readers of old views need: these get TryAgain, and this
  // makes a new view.
  virtual Status TryCatchUpWithPrimary() {
    return Status::NotSupported("TryCatchUpWithPrimary", "it is not a secondary");
  }

 private:
  static Status NotThere(const char* function) {
    return Status::NotSupported(function, "hawthorn-rocksdb does not have it");
  }
};

// [accepted]
inline DB::SizeApproximationFlags operator&(DB::SizeApproximationFlags lhs,
                                            DB::SizeApproximationFlags rhs) {
  return static_cast<DB::SizeApproximationFlags>(static_cast<uint8_t>(lhs) &
                                                 static_cast<uint8_t>(rhs));
}
// [accepted]
inline DB::SizeApproximationFlags operator|(DB::SizeApproximationFlags lhs,
                                            DB::SizeApproximationFlags rhs) {
  return static_cast<DB::SizeApproximationFlags>(static_cast<uint8_t>(lhs) |
                                                 static_cast<uint8_t>(rhs));
}

// Removes a database that is not open; OK where there is none. [mapped]
Status DestroyDB(const std::string& name, const Options& options,
                 const std::vector<ColumnFamilyDescriptor>& column_families =
                     std::vector<ColumnFamilyDescriptor>());

// Makes of a database that is damaged, and not open, one that opens, with all that can still be
// read; OK also where something is lost, which options.info_log is told. It needs as much disk
// space again, beside the database: NAME.repair is made there, and then changes places with it in
// one step, so that after a crash NAME is the one or the other. The damaged one is kept as
// NAME.lost (NAME.lost.1, and so on), unless nothing of it was missing; what else was in its
// directory stays there. Families that are not named are dropped by the first form, and kept by the
// others, as which unknown_cf_opts has no meaning. Errors: InvalidArgument without a default
// family; IOError while it is open; Corruption where there is no database, or none can be made of
// it; NotSupported where the file system cannot exchange directories; NoSpace. Then NAME is as it
// was. [mapped]
Status RepairDB(const std::string& dbname, const DBOptions& db_options,
                const std::vector<ColumnFamilyDescriptor>& column_families);
Status RepairDB(const std::string& dbname, const DBOptions& db_options,
                const std::vector<ColumnFamilyDescriptor>& column_families,
                const ColumnFamilyOptions& unknown_cf_opts);
Status RepairDB(const std::string& dbname, const Options& options);

}  // namespace ROCKSDB_NAMESPACE
