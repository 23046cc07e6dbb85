#include "shims/rocksdb/src/transaction_base.h"

#include "shims/rocksdb/src/convert.h"

namespace rocksdb {

Status Transaction::CommitAndTryCreateSnapshot(std::shared_ptr<TransactionNotifier>, TxnTimestamp,
                                               std::shared_ptr<const Snapshot>* snapshot) {
  if (snapshot != nullptr) snapshot->reset();
  return Status::NotSupported("timestamped snapshots");
}

}  // namespace rocksdb

namespace hawthorn::rocks {

using rocksdb::PinnableSlice;
using rocksdb::ReadOptions;
using rocksdb::Slice;
using rocksdb::SliceParts;
using S = rocksdb::Status;

namespace {

// What is given in parts, as a whole.
struct Joined {
  explicit Joined(const SliceParts& parts) : slice(parts, &bytes) {}
  std::string bytes;
  Slice slice;
};

}  // namespace

TrackedKey& TrackedKeys::at(const View& name) {
  const auto [place, is_new] =
      map_.try_emplace(Name(name.first, std::string(name.second)), TrackedKey());
  if (is_new) ++counts_[name.first];
  return place->second;
}

bool TrackedKeys::subtract(const View& name, uint32_t reads, uint32_t writes) {
  const auto found = map_.find(name);
  if (found == map_.end()) return false;
  found->second.reads -= reads;
  found->second.writes -= writes;
  if (found->second.reads + found->second.writes > 0) return false;
  map_.erase(found);
  --counts_[name.first];
  return true;
}

void TrackedKeys::clear() {
  map_.clear();
  counts_.clear();
}

size_t TrackedKeys::count_of(uint32_t family) const {
  const auto found = counts_.find(family);
  return found == counts_.end() ? 0 : found->second;
}

TransactionBase::TransactionBase(DBImpl* db, const rocksdb::WriteOptions& options)
    : db_(db),
      write_options_(options),
      batch_(db->DefaultColumnFamily()->GetComparator(), 0, true),
      began_(Clock::now()) {}

void TransactionBase::begin_again(const rocksdb::WriteOptions& options) {
  clear();
  ClearSnapshot();
  write_options_ = options;
  indexes_ = true;
  name_.clear();
  log_number_ = 0;
  began_ = Clock::now();
}

void TransactionBase::clear() {
  save_points_.clear();
  batch_.Clear();
  commit_time_batch_.Clear();
  {
    const std::lock_guard lock(keys_mutex_);
    keys_.clear();
  }
  counts_ = {};
}

uint64_t TransactionBase::GetElapsedTime() const {
  return static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - began_).count());
}

// ---- Snapshots

void TransactionBase::SetSnapshot() {
  const rocksdb::Snapshot* const taken = db_->GetSnapshot();
  snapshot_failed_ = taken == nullptr;
  DBImpl* const db = db_;
  snapshot_ = SharedSnapshot(
      taken, [db](const rocksdb::Snapshot* released) { db->ReleaseSnapshot(released); });
  snapshot_wanted_ = false;
  notifier_.reset();
}

void TransactionBase::SetSnapshotOnNextOperation(
    std::shared_ptr<rocksdb::TransactionNotifier> notifier) {
  snapshot_wanted_ = true;
  notifier_ = std::move(notifier);
}

void TransactionBase::take_snapshot_if_wanted() {
  if (!snapshot_wanted_) return;
  const std::shared_ptr<rocksdb::TransactionNotifier> notifier = notifier_;
  SetSnapshot();
  if (notifier != nullptr) notifier->SnapshotCreated(snapshot_.get());
}

void TransactionBase::ClearSnapshot() {
  snapshot_.reset();
  snapshot_wanted_ = false;
  snapshot_failed_ = false;
  notifier_.reset();
}

// ---- Savepoints

void TransactionBase::SetSavePoint() {
  save_points_.push_back({snapshot_, snapshot_wanted_, notifier_, counts_});
  batch_.SetSavePoint();
  set_mark();
}

S TransactionBase::RollbackToSavePoint() {
  if (save_points_.empty()) return S::NotFound();
  if (S s = roll_back_to_mark(); !s.ok()) return s;
  SavePoint& mark = save_points_.back();
  snapshot_ = mark.snapshot;
  snapshot_wanted_ = mark.snapshot_wanted;
  notifier_ = mark.notifier;
  counts_ = mark.counts;
  {
    const std::lock_guard lock(keys_mutex_);
    for (const auto& [name, key] : mark.keys.map()) {
      TrackedKey* const known = keys_.find(name);
      if (known != nullptr && key.exclusive) known->exclusive = false;
      keys_.subtract(name, key.reads, key.writes);
    }
  }
  save_points_.pop_back();
  return batch_.RollbackToSavePoint();
}

S TransactionBase::PopSavePoint() {
  if (save_points_.empty()) return S::NotFound();
  const SavePoint top = std::move(save_points_.back());
  save_points_.pop_back();
  if (!save_points_.empty()) {
    for (const auto& [name, key] : top.keys.map()) {
      TrackedKey& below = save_points_.back().keys.at(name);
      below.reads += key.reads;
      below.writes += key.writes;
      below.exclusive = below.exclusive || key.exclusive;
    }
  }
  pop_mark();
  return batch_.PopSavePoint();
}

// ---- Keys

TrackedKey& TransactionBase::note(const TrackedKeys::View& name, bool read_only, bool exclusive) {
  const TrackedKey* const known = keys_.find(name);
  const auto count = [read_only](TrackedKey& key) { ++(read_only ? key.reads : key.writes); };
  if (!save_points_.empty()) {
    TrackedKey& since = save_points_.back().keys.at(name);
    count(since);
    if (exclusive && known != nullptr && !known->exclusive) since.exclusive = true;
  }
  const std::lock_guard lock(keys_mutex_);
  TrackedKey& key = keys_.at(name);
  count(key);
  key.exclusive = key.exclusive || exclusive;
  return key;
}

void TransactionBase::UndoGetForUpdate(Handle* family, const Slice& key) {
  const TrackedKeys::View name(family_of(family).id, view(key));
  const TrackedKey* const known = keys_.find(name);
  if (known == nullptr || known->reads == 0) return;
  if (!save_points_.empty()) {
    TrackedKeys& since = save_points_.back().keys;
    const TrackedKey* const of_mark = since.find(name);
    if (of_mark == nullptr || of_mark->reads == 0) return;
    since.subtract(name, 1, 0);
  }
  bool gone = false;
  {
    const std::lock_guard lock(keys_mutex_);
    gone = keys_.subtract(name, 1, 0);
  }
  if (gone) untracked(name);
}

// ---- Reads

S TransactionBase::Get(const ReadOptions& options, Handle* family, const Slice& key,
                       std::string* value) {
  return batch_.GetFromBatchAndDB(
      db_, options, family == nullptr ? db_->DefaultColumnFamily() : family, key, value);
}

S TransactionBase::Get(const ReadOptions& options, Handle* family, const Slice& key,
                       PinnableSlice* value) {
  return batch_.GetFromBatchAndDB(db_, options, family, key, value);
}

TransactionBase::Statuses TransactionBase::MultiGet(const ReadOptions& options,
                                                    const Handles& families, const Keys& keys,
                                                    Strings* values) {
  Statuses statuses(keys.size());
  values->resize(keys.size());
  for (size_t i = 0; i < keys.size(); ++i) {
    statuses[i] = Get(options, families[i], keys[i], &(*values)[i]);
  }
  return statuses;
}

void TransactionBase::MultiGet(const ReadOptions& options, Handle* family, size_t num_keys,
                               const Slice* keys, PinnableSlice* values, S* statuses,
                               bool sorted_input) {
  batch_.MultiGetFromBatchAndDB(db_, options, family, num_keys, keys, values, statuses,
                                sorted_input);
}

S TransactionBase::GetEntity(const ReadOptions& options, Handle* family, const Slice& key,
                             rocksdb::PinnableWideColumns* columns) {
  return batch_.GetEntityFromBatchAndDB(db_, options, family, key, columns);
}

void TransactionBase::MultiGetEntity(const ReadOptions& options, Handle* family, size_t num_keys,
                                     const Slice* keys, rocksdb::PinnableWideColumns* results,
                                     S* statuses, bool sorted_input) {
  batch_.MultiGetEntityFromBatchAndDB(db_, options, family, num_keys, keys, results, statuses,
                                      sorted_input);
}

S TransactionBase::GetEntityForUpdate(const ReadOptions& options, Handle* family, const Slice& key,
                                      rocksdb::PinnableWideColumns* columns, bool exclusive,
                                      bool do_validate) {
  S s = GetForUpdate(options, family, key, static_cast<PinnableSlice*>(nullptr), exclusive,
                     do_validate);
  return s.ok() ? GetEntity(options, family, key, columns) : s;
}

S TransactionBase::GetForUpdate(const ReadOptions& options, Handle* family, const Slice& key,
                                std::string* value, bool exclusive, bool do_validate) {
  if (value == nullptr) {
    return GetForUpdate(options, family, key, static_cast<PinnableSlice*>(nullptr), exclusive,
                        do_validate);
  }
  PinnableSlice read(value);
  S s = GetForUpdate(options, family, key, &read, exclusive, do_validate);
  if (s.ok() && read.IsPinned()) value->assign(read.data(), read.size());
  return s;
}

S TransactionBase::GetForUpdate(const ReadOptions& options, Handle* family, const Slice& key,
                                PinnableSlice* value, bool exclusive, bool do_validate) {
  if (!do_validate && options.snapshot != nullptr) {
    return S::InvalidArgument("GetForUpdate of a snapshot without do_validate");
  }
  S s = track(family_of(family), key, true, exclusive, do_validate, false);
  return s.ok() && value != nullptr ? Get(options, family, key, value) : s;
}

TransactionBase::Statuses TransactionBase::MultiGetForUpdate(const ReadOptions& options,
                                                             const Handles& families,
                                                             const Keys& keys, Strings* values) {
  for (size_t i = 0; i < keys.size(); ++i) {
    const S s = track(family_of(families[i]), keys[i], true, true, true, false);
    if (!s.ok()) return Statuses(keys.size(), s);
  }
  return MultiGet(options, families, keys, values);
}

rocksdb::Iterator* TransactionBase::GetIterator(const ReadOptions& options, Handle* family) {
  return batch_.NewIteratorWithBase(family, db_->NewIterator(options, family), &options);
}

// ---- Writes

template <typename Add>
S TransactionBase::write(Handle* family, const Slice& key, bool validate, bool assume_tracked,
                         uint64_t* count, const Add& add) {
  S s = track(family_of(family), key, false, true, validate, assume_tracked);
  if (s.ok()) s = add(target());
  if (s.ok()) ++*count;
  return s;
}

S TransactionBase::Put(Handle* family, const Slice& key, const Slice& value, bool assume_tracked) {
  return write(family, key, !assume_tracked, assume_tracked, &counts_.puts,
               [&](rocksdb::WriteBatchBase& to) { return to.Put(family, key, value); });
}

S TransactionBase::Put(Handle* family, const SliceParts& key, const SliceParts& value,
                       bool assume_tracked) {
  return Put(family, Joined(key).slice, Joined(value).slice, assume_tracked);
}

S TransactionBase::PutEntity(Handle* family, const Slice& key, const rocksdb::WideColumns& columns,
                             bool assume_tracked) {
  return write(family, key, !assume_tracked, assume_tracked, &counts_.puts,
               [&](rocksdb::WriteBatchBase& to) { return to.PutEntity(family, key, columns); });
}

S TransactionBase::PutEntityUntracked(Handle* family, const Slice& key,
                                      const rocksdb::WideColumns& columns) {
  return write(family, key, false, false, &counts_.puts,
               [&](rocksdb::WriteBatchBase& to) { return to.PutEntity(family, key, columns); });
}

S TransactionBase::Merge(Handle* family, const Slice& key, const Slice& value,
                         bool assume_tracked) {
  return write(family, key, !assume_tracked, assume_tracked, &counts_.merges,
               [&](rocksdb::WriteBatchBase& to) { return to.Merge(family, key, value); });
}

S TransactionBase::Delete(Handle* family, const Slice& key, bool assume_tracked) {
  return write(family, key, !assume_tracked, assume_tracked, &counts_.deletes,
               [&](rocksdb::WriteBatchBase& to) { return to.Delete(family, key); });
}

S TransactionBase::Delete(Handle* family, const SliceParts& key, bool assume_tracked) {
  return Delete(family, Joined(key).slice, assume_tracked);
}

S TransactionBase::SingleDelete(Handle* family, const Slice& key, bool assume_tracked) {
  return write(family, key, !assume_tracked, assume_tracked, &counts_.deletes,
               [&](rocksdb::WriteBatchBase& to) { return to.SingleDelete(family, key); });
}

S TransactionBase::SingleDelete(Handle* family, const SliceParts& key, bool assume_tracked) {
  return SingleDelete(family, Joined(key).slice, assume_tracked);
}

S TransactionBase::PutUntracked(Handle* family, const Slice& key, const Slice& value) {
  return write(family, key, false, false, &counts_.puts,
               [&](rocksdb::WriteBatchBase& to) { return to.Put(family, key, value); });
}

S TransactionBase::PutUntracked(Handle* family, const SliceParts& key, const SliceParts& value) {
  return PutUntracked(family, Joined(key).slice, Joined(value).slice);
}

S TransactionBase::MergeUntracked(Handle* family, const Slice& key, const Slice& value) {
  return write(family, key, false, false, &counts_.merges,
               [&](rocksdb::WriteBatchBase& to) { return to.Merge(family, key, value); });
}

S TransactionBase::DeleteUntracked(Handle* family, const Slice& key) {
  return write(family, key, false, false, &counts_.deletes,
               [&](rocksdb::WriteBatchBase& to) { return to.Delete(family, key); });
}

S TransactionBase::DeleteUntracked(Handle* family, const SliceParts& key) {
  return DeleteUntracked(family, Joined(key).slice);
}

S TransactionBase::SingleDeleteUntracked(Handle* family, const Slice& key) {
  return write(family, key, false, false, &counts_.deletes,
               [&](rocksdb::WriteBatchBase& to) { return to.SingleDelete(family, key); });
}

namespace {

// Writes a batch's operations to a transaction.
class Rebuilder final : public rocksdb::WriteBatch::Handler {
 public:
  Rebuilder(TransactionBase* to, DBImpl* db) : to_(to), db_(db) {}
  S PutCF(uint32_t family, const Slice& key, const Slice& value) override {
    return in(family, [&](HandleImpl* handle) { return to_->Put(handle, key, value, false); });
  }
  S PutEntityCF(uint32_t family, const Slice& key, const Slice& entity) override {
    rocksdb::WideColumns columns;
    if (S s = decode_columns(view(entity), &columns); !s.ok()) return s;
    return in(family,
              [&](HandleImpl* handle) { return to_->PutEntity(handle, key, columns, false); });
  }
  S DeleteCF(uint32_t family, const Slice& key) override {
    return in(family, [&](HandleImpl* handle) { return to_->Delete(handle, key, false); });
  }
  S SingleDeleteCF(uint32_t family, const Slice& key) override {
    return in(family, [&](HandleImpl* handle) { return to_->SingleDelete(handle, key, false); });
  }
  S MergeCF(uint32_t family, const Slice& key, const Slice& value) override {
    return in(family, [&](HandleImpl* handle) { return to_->Merge(handle, key, value, false); });
  }

 private:
  template <typename Write>
  S in(uint32_t id, const Write& write) {
    std::shared_ptr<Family> family = db_->find_family(id);
    if (family == nullptr) return S::InvalidArgument("Invalid column family in the batch");
    HandleImpl handle(std::move(family));
    return write(&handle);
  }

  TransactionBase* const to_;
  DBImpl* const db_;
};

}  // namespace

S TransactionBase::RebuildFromWriteBatch(rocksdb::WriteBatch* src_batch) {
  Rebuilder rebuilder(this, db_);
  return src_batch->Iterate(&rebuilder);
}

}  // namespace hawthorn::rocks
