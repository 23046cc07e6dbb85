// WriteBatchWithIndex: a WriteBatch, and an index of its records.

#include "rocksdb/utilities/write_batch_with_index.h"

#include <algorithm>

#include "rocksdb/db.h"
#include "shims/rocksdb/src/base_delta_iterator.h"
#include "shims/rocksdb/src/batch_index.h"

namespace rocksdb {

using hawthorn::rocks::BaseDeltaIterator;
using hawthorn::rocks::BatchIndex;
using hawthorn::rocks::BatchRead;
using hawthorn::rocks::BatchRecord;
using hawthorn::rocks::BatchTag;
using hawthorn::rocks::FamilyIndex;
using hawthorn::rocks::fold;
using hawthorn::rocks::show;

struct WriteBatchWithIndex::Rep {
  Rep(const Comparator* backup, size_t reserved_bytes, bool overwrite, size_t max_bytes)
      : batch(reserved_bytes, max_bytes), index(&batch, backup, overwrite) {}

  // `write` adds one record to the batch.
  template <typename Write>
  Status add(ColumnFamilyHandle* family, const Write& write) {
    const size_t record_at = batch.GetDataSize();
    FamilyIndex& of_family = index.family(family);
    Status status = write();
    if (!status.ok()) return status;
    try {
      index.add(of_family, family == nullptr ? 0 : family->GetID(), record_at);
    } catch (...) {
      batch.TakeBack(record_at);  // neither has it
      throw;
    }
    return status;
  }

  WriteBatch batch;
  BatchIndex index;
};

namespace {

WriteType type_of(BatchTag tag) {
  switch (tag) {
    case BatchTag::kPut:
      return kPutRecord;
    case BatchTag::kPutEntity:
      return kPutEntityRecord;
    case BatchTag::kMerge:
      return kMergeRecord;
    case BatchTag::kDelete:
      return kDeleteRecord;
    case BatchTag::kSingleDelete:
      return kSingleDeleteRecord;
    default:
      return kUnknownRecord;
  }
}

class IndexIterator final : public WBWIIterator {
 public:
  IndexIterator(const FamilyIndex& family, bool overwrites)
      : family_(family), overwrites_(overwrites), at_(end()) {}

  bool Valid() const override { return at_ != end(); }
  void SeekToFirst() override { at_ = family_.entries().begin(); }
  void SeekToLast() override { before(end()); }
  void Seek(const Slice& target) override {
    at_ = family_.entries().lower_bound(FamilyIndex::Probe{target});
  }
  void SeekForPrev(const Slice& target) override {
    before(family_.entries().upper_bound(FamilyIndex::Probe{target}));
  }
  void Next() override {
    if (Valid()) ++at_;
  }
  void Prev() override {
    if (Valid()) before(at_);
  }
  Status status() const override { return Status::OK(); }
  WriteEntry Entry() const override {
    const BatchRecord record = family_.record_of(*at_);
    return {type_of(record.tag), record.key, record.value};
  }
  bool HasOverWrittenSingleDel() const override { return at_->overwrote_single_delete; }
  uint32_t GetUpdateCount() const override { return overwrites_ ? at_->updates : 0; }

 private:
  using Place = FamilyIndex::Entries::const_iterator;
  Place end() const { return family_.entries().end(); }
  void before(Place place) { at_ = place == family_.entries().begin() ? end() : --place; }

  const FamilyIndex& family_;
  const bool overwrites_;
  Place at_;
};

}  // namespace

WriteBatchWithIndex::WriteBatchWithIndex(const Comparator* backup_index_comparator,
                                         size_t reserved_bytes, bool overwrite_key,
                                         size_t max_bytes, size_t)
    : rep(std::make_unique<Rep>(backup_index_comparator, reserved_bytes, overwrite_key,
                                max_bytes)) {}

WriteBatchWithIndex::~WriteBatchWithIndex() = default;
WriteBatchWithIndex::WriteBatchWithIndex(WriteBatchWithIndex&&) noexcept = default;
WriteBatchWithIndex& WriteBatchWithIndex::operator=(WriteBatchWithIndex&&) noexcept = default;

Status WriteBatchWithIndex::Put(ColumnFamilyHandle* column_family, const Slice& key,
                                const Slice& value) {
  return rep->add(column_family, [&] { return rep->batch.Put(column_family, key, value); });
}

Status WriteBatchWithIndex::PutEntity(ColumnFamilyHandle* column_family, const Slice& key,
                                      const WideColumns& columns) {
  return rep->add(column_family, [&] { return rep->batch.PutEntity(column_family, key, columns); });
}

Status WriteBatchWithIndex::PutEntity(const Slice&, const AttributeGroups& attribute_groups) {
  if (attribute_groups.empty()) return Status::InvalidArgument("no attribute groups");
  return Status::NotSupported("PutEntity with AttributeGroups in a WriteBatchWithIndex");
}

Status WriteBatchWithIndex::Merge(ColumnFamilyHandle* column_family, const Slice& key,
                                  const Slice& value) {
  return rep->add(column_family, [&] { return rep->batch.Merge(column_family, key, value); });
}

Status WriteBatchWithIndex::Delete(ColumnFamilyHandle* column_family, const Slice& key) {
  return rep->add(column_family, [&] { return rep->batch.Delete(column_family, key); });
}

Status WriteBatchWithIndex::SingleDelete(ColumnFamilyHandle* column_family, const Slice& key) {
  return rep->add(column_family, [&] { return rep->batch.SingleDelete(column_family, key); });
}

Status WriteBatchWithIndex::DeleteRange(ColumnFamilyHandle*, const Slice&, const Slice&) {
  return Status::NotSupported("DeleteRange unsupported in WriteBatchWithIndex");
}

Status WriteBatchWithIndex::PutLogData(const Slice& blob) { return rep->batch.PutLogData(blob); }

void WriteBatchWithIndex::Clear() {
  rep->index.clear();
  rep->batch.Clear();
}

WriteBatch* WriteBatchWithIndex::GetWriteBatch() { return &rep->batch; }

WBWIIterator* WriteBatchWithIndex::NewIterator(ColumnFamilyHandle* column_family) {
  return new IndexIterator(rep->index.family(column_family), rep->index.overwrites());
}

Iterator* WriteBatchWithIndex::NewIteratorWithBase(ColumnFamilyHandle* column_family,
                                                   Iterator* base_iterator,
                                                   const ReadOptions* opts) {
  return new BaseDeltaIterator(column_family, base_iterator, rep->index.family(column_family),
                               opts);
}

Status WriteBatchWithIndex::GetFromBatch(ColumnFamilyHandle* column_family, const DBOptions&,
                                         const Slice& key, std::string* value) {
  const BatchRead read = BatchIndex::read(rep->index.family(column_family), key);
  switch (read.found) {
    case BatchRead::Found::kValue: {
      PinnableSlice shown(value);
      return show(read, &shown);
    }
    case BatchRead::Found::kMerges:
      if (!read.based) return Status::MergeInProgress();
      return fold(column_family, key, read, std::nullopt, value);
    default:
      return Status::NotFound();
  }
}

Status WriteBatchWithIndex::GetEntityFromBatch(ColumnFamilyHandle* column_family, const Slice& key,
                                               PinnableWideColumns* columns) {
  if (column_family == nullptr || columns == nullptr) {
    return Status::InvalidArgument("no column family handle, or no columns");
  }
  columns->Reset();
  const BatchRead read = BatchIndex::read(rep->index.family(column_family), key);
  switch (read.found) {
    case BatchRead::Found::kValue:
      return show(read, columns);
    case BatchRead::Found::kMerges:
      if (!read.based) return Status::MergeInProgress();
      return fold(column_family, key, read, nullptr, columns);
    default:
      return Status::NotFound();
  }
}

Status WriteBatchWithIndex::GetFromBatchAndDB(DB* db, const ReadOptions& read_options,
                                              const Slice& key, std::string* value) {
  return GetFromBatchAndDB(db, read_options, db->DefaultColumnFamily(), key, value);
}

Status WriteBatchWithIndex::GetFromBatchAndDB(DB* db, const ReadOptions& read_options,
                                              const Slice& key, PinnableSlice* value) {
  return GetFromBatchAndDB(db, read_options, db->DefaultColumnFamily(), key, value);
}

Status WriteBatchWithIndex::GetFromBatchAndDB(DB* db, const ReadOptions& read_options,
                                              ColumnFamilyHandle* column_family, const Slice& key,
                                              std::string* value) {
  PinnableSlice read(value);
  Status status = GetFromBatchAndDB(db, read_options, column_family, key, &read);
  if (status.ok() && read.IsPinned()) value->assign(read.data(), read.size());
  return status;
}

Status WriteBatchWithIndex::GetFromBatchAndDB(DB* db, const ReadOptions& read_options,
                                              ColumnFamilyHandle* column_family, const Slice& key,
                                              PinnableSlice* value) {
  Status status;
  MultiGetFromBatchAndDB(db, read_options, column_family, 1, &key, value, &status, false);
  return status;
}

namespace {

// Of the database.
Status read_one(DB* db, const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key,
                PinnableSlice* value) {
  return db->Get(options, family, key, value);
}
Status read_one(DB* db, const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key,
                PinnableWideColumns* columns) {
  return db->GetEntity(options, family, key, columns);
}
void read_many(DB* db, const ReadOptions& options, ColumnFamilyHandle* family,
               const std::vector<Slice>& keys, PinnableSlice* values, Status* statuses) {
  db->MultiGet(options, family, keys.size(), keys.data(), values, statuses, false);
}
void read_many(DB* db, const ReadOptions& options, ColumnFamilyHandle* family,
               const std::vector<Slice>& keys, PinnableWideColumns* values, Status* statuses) {
  db->MultiGetEntity(options, family, keys.size(), keys.data(), values, statuses, false);
}

void hand_over(PinnableSlice& found, PinnableSlice* to) { to->PinSelf(found); }
void hand_over(PinnableWideColumns& found, PinnableWideColumns* to) { *to = std::move(found); }

// Merges of a batch over what the database has, where that counts and `exists`.
Status fold_over(ColumnFamilyHandle* family, const Slice& key, const BatchRead& merges, bool exists,
                 PinnableSlice* value) {
  std::optional<Slice> below;
  if (exists) below = *value;
  std::string folded;
  Status status = fold(family, key, merges, below, &folded);
  value->Reset();
  if (status.ok()) value->PinSelf(folded);
  return status;
}
Status fold_over(ColumnFamilyHandle* family, const Slice& key, const BatchRead& merges, bool exists,
                 PinnableWideColumns* columns) {
  PinnableWideColumns folded;
  Status status = fold(family, key, merges, exists ? &columns->columns() : nullptr, &folded);
  *columns = std::move(folded);
  return status;
}

}  // namespace

template <typename Value>
void WriteBatchWithIndex::MultiGetOver(DB* db, const ReadOptions& read_options,
                                       ColumnFamilyHandle* column_family, size_t num_keys,
                                       const Slice* keys, Value* values, Status* statuses) {
  const FamilyIndex& family = rep->index.family(column_family);
  // Those of which the batch does not have all, and what it has.
  std::vector<size_t> asked;
  std::vector<Slice> asked_keys;
  std::vector<BatchRead> merges;
  for (size_t i = 0; i < num_keys; ++i) {
    values[i].Reset();
    BatchRead read = BatchIndex::read(family, keys[i]);
    if (read.found == BatchRead::Found::kValue) {
      statuses[i] = show(read, &values[i]);
    } else if (read.found == BatchRead::Found::kDeleted) {
      statuses[i] = Status::NotFound();
    } else if (read.based) {
      statuses[i] = fold_over(column_family, keys[i], read, false, &values[i]);
    } else {
      asked.push_back(i);
      asked_keys.push_back(keys[i]);
      merges.push_back(std::move(read));
    }
  }
  if (asked.empty()) return;
  if (asked.size() == 1) {
    const size_t at = asked.front();
    statuses[at] = read_one(db, read_options, column_family, keys[at], &values[at]);
  } else {
    std::vector<Value> found(asked.size());
    std::vector<Status> answers(asked.size());
    read_many(db, read_options, column_family, asked_keys, found.data(), answers.data());
    for (size_t i = 0; i < asked.size(); ++i) {
      statuses[asked[i]] = std::move(answers[i]);
      if (statuses[asked[i]].ok()) hand_over(found[i], &values[asked[i]]);
    }
  }
  for (size_t i = 0; i < asked.size(); ++i) {
    Status& status = statuses[asked[i]];
    if (merges[i].found != BatchRead::Found::kMerges || !(status.ok() || status.IsNotFound())) {
      continue;
    }
    status = fold_over(column_family, asked_keys[i], merges[i], status.ok(), &values[asked[i]]);
  }
}

void WriteBatchWithIndex::MultiGetFromBatchAndDB(DB* db, const ReadOptions& read_options,
                                                 ColumnFamilyHandle* column_family, size_t num_keys,
                                                 const Slice* keys, PinnableSlice* values,
                                                 Status* statuses, bool) {
  if (column_family == nullptr) column_family = db->DefaultColumnFamily();
  MultiGetOver(db, read_options, column_family, num_keys, keys, values, statuses);
}

Status WriteBatchWithIndex::GetEntityFromBatchAndDB(DB* db, const ReadOptions& read_options,
                                                    ColumnFamilyHandle* column_family,
                                                    const Slice& key,
                                                    PinnableWideColumns* columns) {
  if (columns == nullptr) return Status::InvalidArgument("no PinnableWideColumns object");
  Status status;
  MultiGetEntityFromBatchAndDB(db, read_options, column_family, 1, &key, columns, &status, false);
  return status;
}

void WriteBatchWithIndex::MultiGetEntityFromBatchAndDB(DB* db, const ReadOptions& read_options,
                                                       ColumnFamilyHandle* column_family,
                                                       size_t num_keys, const Slice* keys,
                                                       PinnableWideColumns* results,
                                                       Status* statuses, bool) {
  if (db == nullptr || column_family == nullptr || keys == nullptr || results == nullptr) {
    const Status s = Status::InvalidArgument("no database, family, keys or columns");
    std::fill_n(statuses, num_keys, s);
    return;
  }
  MultiGetOver(db, read_options, column_family, num_keys, keys, results, statuses);
}

void WriteBatchWithIndex::SetSavePoint() { rep->batch.SetSavePoint(); }

Status WriteBatchWithIndex::RollbackToSavePoint() {
  Status status = rep->batch.RollbackToSavePoint();
  return status.ok() ? rep->index.rebuild() : status;
}

Status WriteBatchWithIndex::PopSavePoint() { return rep->batch.PopSavePoint(); }

void WriteBatchWithIndex::SetMaxBytes(size_t max_bytes) { rep->batch.SetMaxBytes(max_bytes); }
size_t WriteBatchWithIndex::GetDataSize() const { return rep->batch.GetDataSize(); }

const std::unordered_map<uint32_t, WriteBatchWithIndex::CFStat>& WriteBatchWithIndex::GetCFStats()
    const {
  return rep->index.stats();
}

bool WriteBatchWithIndex::GetOverwriteKey() const { return rep->index.overwrites(); }

}  // namespace rocksdb
