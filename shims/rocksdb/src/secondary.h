#pragma once
// A database that reads beside the process that writes: a follower of the engine.
//
//   TryCatchUpWithPrimary ──> hawthorn::Follower ──> FollowerView: a DBImpl over what it shows
//   Get, NewIterator, ... ──> the newest FollowerView, or the one of their snapshot
//
// Mostly catching up goes on in the same view; where the follower makes a new one, or families have
// changed, there is another FollowerView, and the one before goes with its last reader.
//
// Not here: reading (db_read.cc), what a follower can go on with (hawthorn/follower.h).
// Used by programs through rocksdb::DB. Threads: as rocksdb::DB says; catching up waits for nobody,
// and nobody for it, but for who reads a family that is just found to be dropped.
//
// 1. Handles belong to no view; each view has handles of its own for the families that it shows.
// 2. Of a dropped family nothing is read that is later than its last moment, at which it was there.
// 3. That moment is set before the family is marked as dropped, and that before there is a view
//    without it.

#include <hawthorn/follower.h>

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "shims/rocksdb/src/db_impl.h"

namespace hawthorn::rocks {

struct FollowerView {
  std::shared_ptr<hawthorn::Db> engine;
  std::unique_ptr<DBImpl> db;
  std::map<uint32_t, std::unique_ptr<rocksdb::ColumnFamilyHandle>> handles;  // by id of the family
};

// Without a tree.
struct FollowedFamily final : Family {
  HeldSnapshot last;  // of a dropped one
};

class SecondaryDB final : public rocksdb::DB, public LeftToItsProcess<SecondaryDB> {
 public:
  using rocksdb::DB::CompactRange;
  using rocksdb::DB::Delete;
  using rocksdb::DB::DeleteRange;
  using rocksdb::DB::Flush;
  using rocksdb::DB::Get;
  using rocksdb::DB::GetApproximateSizes;
  using rocksdb::DB::GetEntity;
  using rocksdb::DB::GetIntProperty;
  using rocksdb::DB::GetMapProperty;
  using rocksdb::DB::GetOptions;
  using rocksdb::DB::GetProperty;
  using rocksdb::DB::IngestExternalFile;
  using rocksdb::DB::KeyMayExist;
  using rocksdb::DB::Level0StopWriteTrigger;
  using rocksdb::DB::Merge;
  using rocksdb::DB::MultiGet;
  using rocksdb::DB::MultiGetEntity;
  using rocksdb::DB::NewIterator;
  using rocksdb::DB::NumberLevels;
  using rocksdb::DB::Put;
  using rocksdb::DB::PutEntity;
  using rocksdb::DB::SingleDelete;
  using rocksdb::DB::VerifyChecksum;
  using Descriptors = DBImpl::Descriptors;
  using Handles = DBImpl::Handles;
  using Handle = rocksdb::ColumnFamilyHandle;

  static rocksdb::Status open(const rocksdb::DBOptions& options, const std::string& name,
                              const Descriptors& families, Handles* handles,
                              std::unique_ptr<rocksdb::DB>* db);
  ~SecondaryDB() override;

  rocksdb::Status Close() override;
  rocksdb::Status TryCatchUpWithPrimary() override;

  rocksdb::Status Get(const rocksdb::ReadOptions& options, Handle* handle,
                      const rocksdb::Slice& key, rocksdb::PinnableSlice* value,
                      std::string* timestamp) override;
  void MultiGet(const rocksdb::ReadOptions& options, size_t num_keys, Handle** handles,
                const rocksdb::Slice* keys, rocksdb::PinnableSlice* values, std::string* timestamps,
                rocksdb::Status* statuses, bool sorted_input) override;
  void MultiGet(const rocksdb::ReadOptions& options, Handle* handle, size_t num_keys,
                const rocksdb::Slice* keys, rocksdb::PinnableSlice* values,
                rocksdb::Status* statuses, bool sorted_input) override;
  rocksdb::Status GetEntity(const rocksdb::ReadOptions& options, Handle* handle,
                            const rocksdb::Slice& key,
                            rocksdb::PinnableWideColumns* columns) override;
  rocksdb::Status GetEntity(const rocksdb::ReadOptions& options, const rocksdb::Slice& key,
                            rocksdb::PinnableAttributeGroups* result) override;
  void MultiGetEntity(const rocksdb::ReadOptions& options, Handle* handle, size_t num_keys,
                      const rocksdb::Slice* keys, rocksdb::PinnableWideColumns* results,
                      rocksdb::Status* statuses, bool sorted_input) override;
  void MultiGetEntity(const rocksdb::ReadOptions& options, size_t num_keys, Handle** handles,
                      const rocksdb::Slice* keys, rocksdb::PinnableWideColumns* results,
                      rocksdb::Status* statuses, bool sorted_input) override;
  void MultiGetEntity(const rocksdb::ReadOptions& options, size_t num_keys,
                      const rocksdb::Slice* keys,
                      rocksdb::PinnableAttributeGroups* results) override;
  bool KeyMayExist(const rocksdb::ReadOptions& options, Handle* handle, const rocksdb::Slice& key,
                   std::string* value, bool* value_found) override;
  rocksdb::Iterator* NewIterator(const rocksdb::ReadOptions& options, Handle* handle) override;
  rocksdb::Status NewIterators(const rocksdb::ReadOptions& options, const Handles& handles,
                               std::vector<rocksdb::Iterator*>* iterators) override;
  const rocksdb::Snapshot* GetSnapshot() override;
  void ReleaseSnapshot(const rocksdb::Snapshot* snapshot) override;
  rocksdb::SequenceNumber GetLatestSequenceNumber() const override;

  bool GetProperty(Handle* handle, const rocksdb::Slice& property, std::string* value) override;
  bool GetMapProperty(Handle* handle, const rocksdb::Slice& property,
                      std::map<std::string, std::string>* value) override;
  bool GetIntProperty(Handle* handle, const rocksdb::Slice& property, uint64_t* value) override;
  bool GetAggregatedIntProperty(const rocksdb::Slice& property, uint64_t* value) override;
  rocksdb::Status GetApproximateSizes(const rocksdb::SizeApproximationOptions& options,
                                      Handle* handle, const rocksdb::Range* ranges, int n,
                                      uint64_t* sizes) override;
  rocksdb::Status VerifyChecksum(const rocksdb::ReadOptions& options) override;
  int NumberLevels(Handle* handle) override;
  int Level0StopWriteTrigger(Handle* handle) override;
  const std::string& GetName() const override { return name_; }
  rocksdb::Options GetOptions(Handle* handle) const override;
  rocksdb::DBOptions GetDBOptions() const override { return options_; }
  rocksdb::Status GetDbIdentity(std::string& identity) const override;
  rocksdb::Status GetDbSessionId(std::string& session_id) const override {
    session_id = session_id_;
    return rocksdb::Status::OK();
  }
  Handle* DefaultColumnFamily() const override { return default_handle_.get(); }
  rocksdb::Status DestroyColumnFamilyHandle(Handle* handle) override;

  // What a secondary does not do.
  rocksdb::Status CreateColumnFamily(const rocksdb::ColumnFamilyOptions&, const std::string&,
                                     Handle**) override {
    return refused();
  }
  rocksdb::Status CreateColumnFamilies(const rocksdb::ColumnFamilyOptions&,
                                       const std::vector<std::string>&, Handles*) override {
    return refused();
  }
  rocksdb::Status CreateColumnFamilies(const Descriptors&, Handles*) override { return refused(); }
  rocksdb::Status DropColumnFamily(Handle*) override { return refused(); }
  rocksdb::Status DropColumnFamilies(const Handles&) override { return refused(); }
  rocksdb::Status Put(const rocksdb::WriteOptions&, Handle*, const rocksdb::Slice&,
                      const rocksdb::Slice&) override {
    return refused();
  }
  rocksdb::Status PutEntity(const rocksdb::WriteOptions&, Handle*, const rocksdb::Slice&,
                            const rocksdb::WideColumns&) override {
    return refused();
  }
  rocksdb::Status PutEntity(const rocksdb::WriteOptions&, const rocksdb::Slice&,
                            const rocksdb::AttributeGroups&) override {
    return refused();
  }
  rocksdb::Status GetUpdatesSince(rocksdb::SequenceNumber,
                                  std::unique_ptr<rocksdb::TransactionLogIterator>* iter,
                                  const rocksdb::TransactionLogIterator::ReadOptions&) override {
    iter->reset();
    return refused();
  }
  rocksdb::Status Delete(const rocksdb::WriteOptions&, Handle*, const rocksdb::Slice&) override {
    return refused();
  }
  rocksdb::Status SingleDelete(const rocksdb::WriteOptions&, Handle*,
                               const rocksdb::Slice&) override {
    return refused();
  }
  rocksdb::Status DeleteRange(const rocksdb::WriteOptions&, Handle*, const rocksdb::Slice&,
                              const rocksdb::Slice&) override {
    return refused();
  }
  rocksdb::Status Merge(const rocksdb::WriteOptions&, Handle*, const rocksdb::Slice&,
                        const rocksdb::Slice&) override {
    return refused();
  }
  rocksdb::Status Write(const rocksdb::WriteOptions&, rocksdb::WriteBatch*) override {
    return refused();
  }
  rocksdb::Status CompactRange(const rocksdb::CompactRangeOptions&, Handle*, const rocksdb::Slice*,
                               const rocksdb::Slice*) override {
    return refused();
  }
  void DisableManualCompaction() override {}
  void EnableManualCompaction() override {}
  rocksdb::Status WaitForCompact(const rocksdb::WaitForCompactOptions&) override {
    return refused();
  }
  rocksdb::Status Flush(const rocksdb::FlushOptions&, Handle*) override { return refused(); }
  rocksdb::Status Flush(const rocksdb::FlushOptions&, const Handles&) override { return refused(); }
  rocksdb::Status FlushWAL(bool) override { return refused(); }
  rocksdb::Status SyncWAL() override { return refused(); }
  rocksdb::Status IngestExternalFile(Handle*, const std::vector<std::string>&,
                                     const rocksdb::IngestExternalFileOptions&) override {
    return refused();
  }
  rocksdb::Status IngestExternalFiles(const std::vector<rocksdb::IngestExternalFileArg>&) override {
    return refused();
  }

  // For its iterators: one over what is shown now, or by the snapshot, and what has to outlive it.
  std::unique_ptr<rocksdb::Iterator> iterate(const rocksdb::ReadOptions& options,
                                             const std::shared_ptr<Family>& family,
                                             std::shared_ptr<FollowerView>* view);

 private:
  // Where a read goes to.
  struct Place {
    std::shared_ptr<FollowerView> view;
    Handle* handle;
    const rocksdb::Snapshot* snapshot;
  };

  SecondaryDB(const rocksdb::DBOptions& options, std::string name);

  static rocksdb::Status refused();
  Place place_of(const rocksdb::Snapshot* snapshot, const Family& family) const;
  // call(view, options, view's handle) returns a Status.
  template <typename Call>
  rocksdb::Status read(const rocksdb::ReadOptions& options, Handle* handle, const Call& call);
  std::shared_ptr<FollowerView> current() const;
  const SnapshotImpl* take_snapshot() const;

  // Under admin_.
  // At `name`: the path, or the directory that is held.
  hawthorn::Status follow(const std::string& name);
  rocksdb::Status show(const FamilyRows& rows, std::shared_ptr<hawthorn::Db> engine);

  const rocksdb::DBOptions options_;
  const std::string name_;   // as the program gave it
  HeldDirectory directory_;  // once it is open
  Slots slots_;
  std::mutex admin_;  // of who catches up; before the other one
  hawthorn::FollowerOptions engine_options_;
  std::unique_ptr<hawthorn::Follower> follower_;
  std::vector<std::shared_ptr<FollowedFamily>> families_;  // those that are not dropped
  mutable std::mutex view_mutex_;
  std::shared_ptr<FollowerView> view_;
  std::unique_ptr<HandleImpl> default_handle_;
  SnapshotList snapshots_;
  std::string session_id_;
};

}  // namespace hawthorn::rocks
