#pragma once
// A WriteBatch that can be searched: what it holds of a key, in the order of keys, alone or over
// what a database has.
//
//   WriteBatchWithIndex batch;
//   batch.Put("a", "1");
//   batch.GetFromBatchAndDB(db, ReadOptions(), "a", &value);
//   db->Write(WriteOptions(), batch.GetWriteBatch());
//
// Not here: TimedPut, user timestamps.
// Threads: one object, with its iterators, from one thread at a time.
// Lifetime: iterators go before their batch. What is added shows in them; in those with a base, not
// up to the next key that the batch has had, nor behind its last one. Clear,
// RollbackToSavePoint and moving the batch end them.
//
// A key of a column family is compared by the comparator of the first handle with which the family
// was written or walked, else by the one of the constructor.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>

#include "rocksdb/comparator.h"
#include "rocksdb/iterator.h"
#include "rocksdb/slice.h"
#include "rocksdb/status.h"
#include "rocksdb/write_batch.h"
#include "rocksdb/write_batch_base.h"

namespace ROCKSDB_NAMESPACE {

class ColumnFamilyHandle;
class DB;
struct DBOptions;
struct ReadOptions;

// [mapped]
enum WriteType {
  kPutRecord,
  kMergeRecord,
  kDeleteRecord,
  kSingleDeleteRecord,
  kDeleteRangeRecord,
  kLogDataRecord,
  kXIDRecord,
  kPutEntityRecord,
  kUnknownRecord,
};

// An update of a batch. Lifetime: until the batch changes. [mapped]
struct WriteEntry {
  WriteType type = kUnknownRecord;
  Slice key;
  Slice value;
};

// A walk over the updates of one family in a batch. Those of one key follow each other, the newest
// first. [mapped]
class WBWIIterator {
 public:
  virtual ~WBWIIterator() = default;
  virtual bool Valid() const = 0;
  virtual void SeekToFirst() = 0;
  virtual void SeekToLast() = 0;
  // To the newest update of the first key from there on.
  virtual void Seek(const Slice& target) = 0;
  // To the oldest update of the last key up to there.
  virtual void SeekForPrev(const Slice& target) = 0;
  virtual void Next() = 0;
  virtual void Prev() = 0;
  virtual Status status() const = 0;
  virtual WriteEntry Entry() const = 0;
  // Whether an update that was overwritten was a SingleDelete. With overwrite_key alone.
  virtual bool HasOverWrittenSingleDel() const { return false; }
  // Which update of its key the entry is; the first has 1. With overwrite_key alone.
  virtual uint32_t GetUpdateCount() const { return 0; }
};

// [mapped]
class WriteBatchWithIndex : public WriteBatchBase {
 public:
  // overwrite_key: of a key only the newest update is shown, but that merges are shown beside what
  // they are upon. protection_bytes_per_key is taken and means nothing.
  explicit WriteBatchWithIndex(const Comparator* backup_index_comparator = BytewiseComparator(),
                               size_t reserved_bytes = 0, bool overwrite_key = false,
                               size_t max_bytes = 0, size_t protection_bytes_per_key = 0);
  ~WriteBatchWithIndex() override;
  WriteBatchWithIndex(WriteBatchWithIndex&& src) noexcept;
  WriteBatchWithIndex& operator=(WriteBatchWithIndex&& src) noexcept;

  using WriteBatchBase::Put;
  Status Put(ColumnFamilyHandle* column_family, const Slice& key, const Slice& value) override;
  Status Put(const Slice& key, const Slice& value) override { return Put(nullptr, key, value); }
  Status PutEntity(ColumnFamilyHandle* column_family, const Slice& key,
                   const WideColumns& columns) override;
  // As in RocksDB. [refused]
  Status PutEntity(const Slice& key, const AttributeGroups& attribute_groups) override;
  using WriteBatchBase::Merge;
  Status Merge(ColumnFamilyHandle* column_family, const Slice& key, const Slice& value) override;
  Status Merge(const Slice& key, const Slice& value) override { return Merge(nullptr, key, value); }
  using WriteBatchBase::Delete;
  Status Delete(ColumnFamilyHandle* column_family, const Slice& key) override;
  Status Delete(const Slice& key) override { return Delete(nullptr, key); }
  using WriteBatchBase::SingleDelete;
  Status SingleDelete(ColumnFamilyHandle* column_family, const Slice& key) override;
  Status SingleDelete(const Slice& key) override { return SingleDelete(nullptr, key); }
  using WriteBatchBase::DeleteRange;
  // As in RocksDB. [refused]
  Status DeleteRange(ColumnFamilyHandle* column_family, const Slice& begin_key,
                     const Slice& end_key) override;
  // [refused]
  Status DeleteRange(const Slice& begin_key, const Slice& end_key) override {
    return DeleteRange(nullptr, begin_key, end_key);
  }
  Status PutLogData(const Slice& blob) override;
  void Clear() override;
  // What is written to it directly is not found here.
  WriteBatch* GetWriteBatch() override;

  // The caller owns it.
  WBWIIterator* NewIterator(ColumnFamilyHandle* column_family);
  WBWIIterator* NewIterator() { return NewIterator(nullptr); }
  // What the base would show if the batch had been written; it owns the base. Of `opts` the bounds
  // count, for what the batch holds. Updates of the key on which it stands are seen with the next
  // move. Merges need the handle of their family.
  Iterator* NewIteratorWithBase(ColumnFamilyHandle* column_family, Iterator* base_iterator,
                                const ReadOptions* opts = nullptr);
  Iterator* NewIteratorWithBase(Iterator* base_iterator, const ReadOptions* opts = nullptr) {
    return NewIteratorWithBase(nullptr, base_iterator, opts);
  }

  // Errors: NotFound, also of what the batch deletes; MergeInProgress where it does not have all;
  // InvalidArgument for a merge without the handle of its family, or without an operator.
  Status GetFromBatch(ColumnFamilyHandle* column_family, const DBOptions& options, const Slice& key,
                      std::string* value);
  Status GetFromBatch(const DBOptions& options, const Slice& key, std::string* value) {
    return GetFromBatch(nullptr, options, key, value);
  }
  // A plain value is shown as the default column.
  Status GetEntityFromBatch(ColumnFamilyHandle* column_family, const Slice& key,
                            PinnableWideColumns* columns);
  // Of the batch, whatever the snapshot of the options, and of the database where that does not
  // tell.
  Status GetFromBatchAndDB(DB* db, const ReadOptions& read_options, const Slice& key,
                           std::string* value);
  Status GetFromBatchAndDB(DB* db, const ReadOptions& read_options, const Slice& key,
                           PinnableSlice* value);
  Status GetFromBatchAndDB(DB* db, const ReadOptions& read_options,
                           ColumnFamilyHandle* column_family, const Slice& key, std::string* value);
  Status GetFromBatchAndDB(DB* db, const ReadOptions& read_options,
                           ColumnFamilyHandle* column_family, const Slice& key,
                           PinnableSlice* value);
  void MultiGetFromBatchAndDB(DB* db, const ReadOptions& read_options,
                              ColumnFamilyHandle* column_family, size_t num_keys, const Slice* keys,
                              PinnableSlice* values, Status* statuses, bool sorted_input);

  Status GetEntityFromBatchAndDB(DB* db, const ReadOptions& read_options,
                                 ColumnFamilyHandle* column_family, const Slice& key,
                                 PinnableWideColumns* columns);
  void MultiGetEntityFromBatchAndDB(DB* db, const ReadOptions& read_options,
                                    ColumnFamilyHandle* column_family, size_t num_keys,
                                    const Slice* keys, PinnableWideColumns* results,
                                    Status* statuses, bool sorted_input);

  void SetSavePoint() override;
  Status RollbackToSavePoint() override;
  Status PopSavePoint() override;
  void SetMaxBytes(size_t max_bytes) override;
  size_t GetDataSize() const;

  // Of one family: entries of the index, and how many of them have overwritten a SingleDelete.
  struct CFStat {
    uint32_t entry_count = 0;
    uint32_t overwritten_sd_count = 0;
  };
  const std::unordered_map<uint32_t, CFStat>& GetCFStats() const;
  bool GetOverwriteKey() const;

 private:
  struct Rep;
  template <typename Value>
  void MultiGetOver(DB* db, const ReadOptions& read_options, ColumnFamilyHandle* column_family,
                    size_t num_keys, const Slice* keys, Value* values, Status* statuses);

  std::unique_ptr<Rep> rep;
};

}  // namespace ROCKSDB_NAMESPACE
