#pragma once
// Writes that DB::Write commits as one: all of them or none, visible at one moment.
//
// Data() is what RocksDB has, byte for byte: eight bytes of a sequence number (0: it is not set by
// a write), four of the count, then the records. Operations apply in their order.
//
// Threads: one object from one thread at a time.

#include <cstdint>
#include <memory>
#include <string>

#include "rocksdb/write_batch_base.h"

namespace ROCKSDB_NAMESPACE {

struct SavePoints;

// [mapped]
class WriteBatch : public WriteBatchBase {
 public:
  // max_bytes: more than that is refused with MemoryLimit; 0: no limit.
  explicit WriteBatch(size_t reserved_bytes = 0, size_t max_bytes = 0);
  // protection_bytes_per_key is taken and means nothing; a default_cf_ts_sz other than 0 makes
  // every write of the batch fail: user timestamps.
  WriteBatch(size_t reserved_bytes, size_t max_bytes, size_t protection_bytes_per_key,
             size_t default_cf_ts_sz);
  // Of what Data() has given.
  explicit WriteBatch(const std::string& rep);
  explicit WriteBatch(std::string&& rep);
  WriteBatch(const WriteBatch& src);
  WriteBatch(WriteBatch&& src) noexcept;
  WriteBatch& operator=(const WriteBatch& src);
  WriteBatch& operator=(WriteBatch&& src) noexcept;
  ~WriteBatch() override;

  using WriteBatchBase::Put;
  Status Put(ColumnFamilyHandle* column_family, const Slice& key, const Slice& value) override;
  Status Put(const Slice& key, const Slice& value) override { return Put(nullptr, key, value); }
  Status PutEntity(ColumnFamilyHandle* column_family, const Slice& key,
                   const WideColumns& columns) override;
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
  Status DeleteRange(ColumnFamilyHandle* column_family, const Slice& begin_key,
                     const Slice& end_key) override;
  Status DeleteRange(const Slice& begin_key, const Slice& end_key) override {
    return DeleteRange(nullptr, begin_key, end_key);
  }
  Status PutLogData(const Slice& blob) override;
  void Clear() override;
  void SetSavePoint() override;
  Status RollbackToSavePoint() override;
  Status PopSavePoint() override;
  void SetMaxBytes(size_t max_bytes) override { max_bytes_ = max_bytes; }
  WriteBatch* GetWriteBatch() override { return this; }

  // Is shown the operations, in their order.
  class Handler {
   public:
    virtual ~Handler() = default;
    // Those with a family call those without for family 0, and refuse others.
    virtual Status PutCF(uint32_t column_family_id, const Slice& key, const Slice& value);
    virtual void Put(const Slice& /*key*/, const Slice& /*value*/) {}
    // `entity` has the columns as bytes, for PinnableWideColumns::SetWideColumnValue.
    virtual Status PutEntityCF(uint32_t column_family_id, const Slice& key, const Slice& entity);
    virtual Status DeleteCF(uint32_t column_family_id, const Slice& key);
    virtual void Delete(const Slice& /*key*/) {}
    virtual Status SingleDeleteCF(uint32_t column_family_id, const Slice& key);
    virtual void SingleDelete(const Slice& /*key*/) {}
    virtual Status DeleteRangeCF(uint32_t column_family_id, const Slice& begin_key,
                                 const Slice& end_key);
    virtual Status MergeCF(uint32_t column_family_id, const Slice& key, const Slice& value);
    virtual void Merge(const Slice& /*key*/, const Slice& /*value*/) {}
    virtual void LogData(const Slice& /*blob*/) {}
    // Marks of prepared transactions, in batches that RocksDB has made.
    virtual Status MarkBeginPrepare(bool unprepare = false);
    virtual Status MarkEndPrepare(const Slice& xid);
    virtual Status MarkNoop(bool empty_batch);
    virtual Status MarkRollback(const Slice& xid);
    virtual Status MarkCommit(const Slice& xid);
    // False ends the iteration, without an error.
    virtual bool Continue() { return true; }
  };
  // Errors: those of the handler; Corruption where the bytes are none of a batch.
  Status Iterate(Handler* handler) const;

  // Lifetime: until the batch changes.
  const std::string& Data() const { return rep_; }
  // Gives the bytes away; the batch is empty.
  std::string Release();
  size_t GetDataSize() const { return rep_.size(); }
  uint32_t Count() const;
  bool HasPut() const;
  bool HasPutEntity() const;
  bool HasDelete() const;
  bool HasSingleDelete() const;
  bool HasDeleteRange() const;
  bool HasMerge() const;
  bool HasBeginPrepare() const;
  bool HasEndPrepare() const;
  bool HasCommit() const;
  bool HasRollback() const;

 private:
  Status Add(unsigned char tag, unsigned char tag_of_family, ColumnFamilyHandle* family,
             const Slice& key, const Slice* value);
  Status Finish(size_t size_before, bool counts);
  void SetCount(uint32_t count);
  friend class WriteBatchWithIndex;
  void TakeBack(size_t size_before);  // the last record
  bool HasTag(unsigned char tag, unsigned char tag_of_family) const;

  std::string rep_;
  size_t max_bytes_ = 0;
  std::unique_ptr<SavePoints> save_points_;
  bool timestamps_ = false;
};

}  // namespace ROCKSDB_NAMESPACE
