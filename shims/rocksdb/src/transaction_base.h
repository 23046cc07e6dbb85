#pragma once
// What transactions of both kinds have: a batch that reads look over, tracked keys, snapshots and
// savepoints.
//
// A call of RocksDB's comes down to `track`, which the kinds have, and the batch. Not here: locks
// (pessimistic_transaction.h), the look for conflicts (optimistic_transaction.h).
// Threads: one at a time, but for what is said to be guarded by keys_mutex_.
//
// 1. A savepoint counts what was tracked since: a key that nothing else has tracked goes with it.

#include <chrono>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "rocksdb/utilities/transaction.h"
#include "rocksdb/utilities/write_batch_with_index.h"
#include "shims/rocksdb/src/db_impl.h"
#include "shims/rocksdb/src/measure.h"

namespace hawthorn::rocks {

// What the commit of a transaction adds to statistics.
template <typename Status>
void count_commit(const Measured& call, const Status& status, const rocksdb::WriteBatch& batch) {
  if (!call || !status.ok()) return;
  count_write(call, status, batch.Count(), batch.GetDataSize());
  call.size(rocksdb::NUM_OP_PER_TRANSACTION, batch.Count());
}

using SharedSnapshot = std::shared_ptr<const rocksdb::Snapshot>;

struct TrackedKey {
  uint32_t reads = 0;
  uint32_t writes = 0;
  // Of those of a savepoint: it was not before.
  bool exclusive = false;
  // Pessimistic: the moment since which the key is known to be unchanged.
  uint64_t unchanged_since = std::numeric_limits<uint64_t>::max();
  // Optimistic: that since which it must be unchanged.
  SharedSnapshot since = nullptr;
};

// By family and key.
class TrackedKeys {
 public:
  using Name = std::pair<uint32_t, std::string>;
  using View = std::pair<uint32_t, std::string_view>;
  struct Less {
    using is_transparent = void;
    template <typename A, typename B>
    bool operator()(const A& a, const B& b) const {
      return a.first != b.first ? a.first < b.first
                                : std::string_view(a.second) < std::string_view(b.second);
    }
  };
  using Map = std::map<Name, TrackedKey, Less>;

  TrackedKey* find(const View& name) {
    const auto found = map_.find(name);
    return found == map_.end() ? nullptr : &found->second;
  }
  TrackedKey& at(const View& name);
  // Returns whether nothing has tracked it any more, and it is gone.
  bool subtract(const View& name, uint32_t reads, uint32_t writes);
  void clear();
  const Map& map() const { return map_; }
  size_t count_of(uint32_t family) const;

 private:
  Map map_;
  std::map<uint32_t, size_t> counts_;  // of families
};

class TransactionBase : public rocksdb::Transaction {
 public:
  using Handle = rocksdb::ColumnFamilyHandle;
  using Handles = std::vector<Handle*>;
  using Keys = std::vector<rocksdb::Slice>;
  using Strings = std::vector<std::string>;
  using Slice = rocksdb::Slice;
  using SliceParts = rocksdb::SliceParts;
  using Status = rocksdb::Status;
  using Statuses = std::vector<rocksdb::Status>;

  void SetSnapshot() override;
  void SetSnapshotOnNextOperation(std::shared_ptr<rocksdb::TransactionNotifier> notifier) override;
  const rocksdb::Snapshot* GetSnapshot() const override { return snapshot_.get(); }
  SharedSnapshot GetTimestampedSnapshot() const override { return snapshot_; }
  void ClearSnapshot() override;

  void SetSavePoint() override;
  Status RollbackToSavePoint() override;
  Status PopSavePoint() override;

  Status Get(const rocksdb::ReadOptions& options, Handle* family, const Slice& key,
             std::string* value) override;
  Status Get(const rocksdb::ReadOptions& options, Handle* family, const Slice& key,
             rocksdb::PinnableSlice* value) override;
  Status Get(const rocksdb::ReadOptions& options, const Slice& key, std::string* value) override {
    return Get(options, nullptr, key, value);
  }
  Status Get(const rocksdb::ReadOptions& options, const Slice& key,
             rocksdb::PinnableSlice* value) override {
    return Get(options, nullptr, key, value);
  }
  Statuses MultiGet(const rocksdb::ReadOptions& options, const Handles& families, const Keys& keys,
                    Strings* values) override;
  Statuses MultiGet(const rocksdb::ReadOptions& options, const Keys& keys,
                    Strings* values) override {
    return MultiGet(options, Handles(keys.size(), nullptr), keys, values);
  }
  void MultiGet(const rocksdb::ReadOptions& options, Handle* family, size_t num_keys,
                const Slice* keys, rocksdb::PinnableSlice* values, Status* statuses,
                bool sorted_input) override;
  Status GetEntity(const rocksdb::ReadOptions& options, Handle* family, const Slice& key,
                   rocksdb::PinnableWideColumns* columns) override;
  void MultiGetEntity(const rocksdb::ReadOptions& options, Handle* family, size_t num_keys,
                      const Slice* keys, rocksdb::PinnableWideColumns* results, Status* statuses,
                      bool sorted_input) override;
  Status GetEntityForUpdate(const rocksdb::ReadOptions& options, Handle* family, const Slice& key,
                            rocksdb::PinnableWideColumns* columns, bool exclusive,
                            bool do_validate) override;
  Status GetForUpdate(const rocksdb::ReadOptions& options, Handle* family, const Slice& key,
                      std::string* value, bool exclusive, bool do_validate) override;
  Status GetForUpdate(const rocksdb::ReadOptions& options, Handle* family, const Slice& key,
                      rocksdb::PinnableSlice* value, bool exclusive, bool do_validate) override;
  Status GetForUpdate(const rocksdb::ReadOptions& options, const Slice& key, std::string* value,
                      bool exclusive, bool do_validate) override {
    return GetForUpdate(options, nullptr, key, value, exclusive, do_validate);
  }
  Status GetForUpdate(const rocksdb::ReadOptions& options, const Slice& key,
                      rocksdb::PinnableSlice* value, bool exclusive, bool do_validate) override {
    return GetForUpdate(options, nullptr, key, value, exclusive, do_validate);
  }
  Statuses MultiGetForUpdate(const rocksdb::ReadOptions& options, const Handles& families,
                             const Keys& keys, Strings* values) override;
  Statuses MultiGetForUpdate(const rocksdb::ReadOptions& options, const Keys& keys,
                             Strings* values) override {
    return MultiGetForUpdate(options, Handles(keys.size(), nullptr), keys, values);
  }
  rocksdb::Iterator* GetIterator(const rocksdb::ReadOptions& options) override {
    return GetIterator(options, db_->DefaultColumnFamily());
  }
  rocksdb::Iterator* GetIterator(const rocksdb::ReadOptions& options, Handle* family) override;

  Status Put(Handle* family, const Slice& key, const Slice& value, bool assume_tracked) override;
  Status Put(const Slice& key, const Slice& value) override {
    return Put(nullptr, key, value, false);
  }
  Status Put(Handle* family, const SliceParts& key, const SliceParts& value,
             bool assume_tracked) override;
  Status Put(const SliceParts& key, const SliceParts& value) override {
    return Put(nullptr, key, value, false);
  }
  Status PutEntity(Handle* family, const Slice& key, const rocksdb::WideColumns& columns,
                   bool assume_tracked) override;
  Status Merge(Handle* family, const Slice& key, const Slice& value, bool assume_tracked) override;
  Status Merge(const Slice& key, const Slice& value) override {
    return Merge(nullptr, key, value, false);
  }
  Status Delete(Handle* family, const Slice& key, bool assume_tracked) override;
  Status Delete(const Slice& key) override { return Delete(nullptr, key, false); }
  Status Delete(Handle* family, const SliceParts& key, bool assume_tracked) override;
  Status Delete(const SliceParts& key) override { return Delete(nullptr, key, false); }
  Status SingleDelete(Handle* family, const Slice& key, bool assume_tracked) override;
  Status SingleDelete(const Slice& key) override { return SingleDelete(nullptr, key, false); }
  Status SingleDelete(Handle* family, const SliceParts& key, bool assume_tracked) override;
  Status SingleDelete(const SliceParts& key) override { return SingleDelete(nullptr, key, false); }
  Status PutUntracked(Handle* family, const Slice& key, const Slice& value) override;
  Status PutUntracked(const Slice& key, const Slice& value) override {
    return PutUntracked(nullptr, key, value);
  }
  Status PutUntracked(Handle* family, const SliceParts& key, const SliceParts& value) override;
  Status PutUntracked(const SliceParts& key, const SliceParts& value) override {
    return PutUntracked(nullptr, key, value);
  }
  Status PutEntityUntracked(Handle* family, const Slice& key,
                            const rocksdb::WideColumns& columns) override;
  Status MergeUntracked(Handle* family, const Slice& key, const Slice& value) override;
  Status MergeUntracked(const Slice& key, const Slice& value) override {
    return MergeUntracked(nullptr, key, value);
  }
  Status DeleteUntracked(Handle* family, const Slice& key) override;
  Status DeleteUntracked(const Slice& key) override { return DeleteUntracked(nullptr, key); }
  Status DeleteUntracked(Handle* family, const SliceParts& key) override;
  Status DeleteUntracked(const SliceParts& key) override { return DeleteUntracked(nullptr, key); }
  Status SingleDeleteUntracked(Handle* family, const Slice& key) override;
  Status SingleDeleteUntracked(const Slice& key) override {
    return SingleDeleteUntracked(nullptr, key);
  }

  void PutLogData(const Slice& blob) override { batch_.PutLogData(blob).PermitUncheckedError(); }
  void DisableIndexing() override { indexes_ = false; }
  void EnableIndexing() override { indexes_ = true; }
  uint64_t GetNumKeys() const override { return keys_.map().size(); }
  uint64_t GetNumPuts() const override { return counts_.puts; }
  uint64_t GetNumDeletes() const override { return counts_.deletes; }
  uint64_t GetNumMerges() const override { return counts_.merges; }
  uint64_t GetElapsedTime() const override;
  rocksdb::WriteBatchWithIndex* GetWriteBatch() override { return &batch_; }
  rocksdb::WriteOptions* GetWriteOptions() override { return &write_options_; }
  void SetWriteOptions(const rocksdb::WriteOptions& options) override { write_options_ = options; }
  void UndoGetForUpdate(Handle* family, const Slice& key) override;
  void UndoGetForUpdate(const Slice& key) override { UndoGetForUpdate(nullptr, key); }
  Status RebuildFromWriteBatch(rocksdb::WriteBatch* src_batch) override;
  rocksdb::WriteBatch* GetCommitTimeWriteBatch() override { return &commit_time_batch_; }

 protected:
  using Clock = std::chrono::steady_clock;

  TransactionBase(DBImpl* db, const rocksdb::WriteOptions& options);

  // Before a read for update or a write.
  virtual Status track(const Family& family, const Slice& key, bool read_only, bool exclusive,
                       bool validate, bool assume_tracked) = 0;
  // Beside what happens here. The key of untracked() is gone.
  virtual void set_mark() {}
  virtual Status roll_back_to_mark() { return Status::OK(); }
  virtual void pop_mark() {}
  virtual void untracked(const TrackedKeys::View& /*name*/) {}

  TrackedKey& note(const TrackedKeys::View& name, bool read_only, bool exclusive);
  void take_snapshot_if_wanted();
  // Forgets what was written and tracked.
  void clear();
  void begin_again(const rocksdb::WriteOptions& options);
  const Family& family_of(const Handle* handle) const {
    return *static_cast<const HandleImpl*>(handle == nullptr ? db_->DefaultColumnFamily() : handle)
                ->family();
  }
  const rocksdb::WriteBatch& batch() { return *batch_.GetWriteBatch(); }

  DBImpl* const db_;
  rocksdb::WriteOptions write_options_;
  rocksdb::WriteBatchWithIndex batch_;
  rocksdb::WriteBatch commit_time_batch_;
  mutable std::mutex keys_mutex_;
  TrackedKeys keys_;  // its thread reads it freely, and changes it under the mutex
  SharedSnapshot snapshot_;
  bool snapshot_wanted_ = false;
  // A snapshot was to be set, and the engine had none to give: nothing can be validated.
  bool snapshot_failed_ = false;
  Clock::time_point began_;

 private:
  struct Counts {
    uint64_t puts = 0;
    uint64_t deletes = 0;
    uint64_t merges = 0;
  };
  struct SavePoint {
    SharedSnapshot snapshot;
    bool snapshot_wanted;
    std::shared_ptr<rocksdb::TransactionNotifier> notifier;
    Counts counts;
    TrackedKeys keys = {};  // tracked since, so many times
  };

  template <typename Add>
  Status write(Handle* family, const Slice& key, bool validate, bool assume_tracked,
               uint64_t* count, const Add& add);
  rocksdb::WriteBatchBase& target() {
    return indexes_ ? static_cast<rocksdb::WriteBatchBase&>(batch_) : *batch_.GetWriteBatch();
  }

  std::shared_ptr<rocksdb::TransactionNotifier> notifier_;
  std::vector<SavePoint> save_points_;
  Counts counts_;
  bool indexes_ = true;
};

}  // namespace hawthorn::rocks
