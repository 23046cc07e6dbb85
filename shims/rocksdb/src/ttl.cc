// DBWithTTL: puts the time behind what is written, and takes it off what is read.

#include <algorithm>
#include <new>
#include <utility>

#include "rocksdb/utilities/db_ttl.h"
#include "shims/rocksdb/src/batch_format.h"
#include "shims/rocksdb/src/convert.h"
#include "shims/rocksdb/src/iterator_around.h"
#include "shims/rocksdb/src/ttl_filters.h"

namespace hawthorn::rocks {
using S = rocksdb::Status;

namespace {

using rocksdb::ColumnFamilyOptions;
using rocksdb::PinnableSlice;
using rocksdb::ReadOptions;
using rocksdb::Slice;
using rocksdb::WriteOptions;
using Handle = rocksdb::ColumnFamilyHandle;
using Handles = std::vector<Handle*>;

std::string timed(const Slice& value) {
  std::string result;
  result.reserve(value.size() + kTimeBytes);
  result.append(value.data(), value.size());
  append_time(seconds_now(), &result);
  return result;
}

S no_entities() { return S::NotSupported("a DBWithTTL has no wide columns"); }

// The same batch, with the time behind what it puts and merges. A value ends its record.
S timed_batch(const std::string& rep, std::string* to) {
  const uint32_t now = seconds_now();
  const size_t header = std::min(rep.size(), kBatchHeaderBytes);
  to->assign(rep, 0, header);
  const char* const end = rep.data() + rep.size();
  BatchRecord record;
  for (const char* at = rep.data() + header; at < end;) {
    const char* const begin = at;
    at = read_record(at, end, &record);
    if (at == nullptr) return S::Corruption("bad record in a WriteBatch");
    if (record.tag == BatchTag::kPutEntity) return no_entities();
    if (record.tag != BatchTag::kPut && record.tag != BatchTag::kMerge) {
      to->append(begin, at);
      continue;
    }
    std::string value = record.value.ToString();
    append_time(now, &value);
    to->append(begin, record.key.data() + record.key.size());
    append_string(value, to);
  }
  return S::OK();
}

S take_off(PinnableSlice* value) {
  S s = check_time(*value);
  if (s.ok()) value->remove_suffix(kTimeBytes);
  return s;
}

class TtlIterator final : public IteratorAround {
 public:
  explicit TtlIterator(rocksdb::Iterator* of)
      : IteratorAround(std::unique_ptr<rocksdb::Iterator>(of)) {}
  Slice value() const override {
    Slice value = of_->value();
    value.remove_suffix(std::min(value.size(), kTimeBytes));
    return value;
  }
  const rocksdb::WideColumns& columns() const override {
    columns_ = {{rocksdb::kDefaultWideColumnName, value()}};
    return columns_;
  }
  S status() const override { return of_->Valid() ? check_time(of_->value()) : of_->status(); }

 private:
  mutable rocksdb::WideColumns columns_;
};

class TtlDB final : public rocksdb::DBWithTTL {
 public:
  using rocksdb::StackableDB::Get;
  using rocksdb::StackableDB::GetEntity;
  using rocksdb::StackableDB::KeyMayExist;
  using rocksdb::StackableDB::Merge;
  using rocksdb::StackableDB::MultiGet;
  using rocksdb::StackableDB::MultiGetEntity;
  using rocksdb::StackableDB::NewIterator;
  using rocksdb::StackableDB::Put;
  using rocksdb::StackableDB::PutEntity;

  explicit TtlDB(std::unique_ptr<rocksdb::DB> db) : DBWithTTL(db.release()) {}

  S CreateColumnFamilyWithTtl(const ColumnFamilyOptions& options, const std::string& name,
                              Handle** handle, int ttl) override {
    return db_->CreateColumnFamily(with_ttl(options, ttl), name, handle);
  }
  S CreateColumnFamily(const ColumnFamilyOptions& options, const std::string& name,
                       Handle** handle) override {
    return CreateColumnFamilyWithTtl(options, name, handle, 0);
  }
  S CreateColumnFamilies(const ColumnFamilyOptions& options, const std::vector<std::string>& names,
                         Handles* handles) override {
    std::vector<rocksdb::ColumnFamilyDescriptor> families;
    for (const std::string& name : names) families.emplace_back(name, options);
    return CreateColumnFamilies(families, handles);
  }
  S CreateColumnFamilies(const std::vector<rocksdb::ColumnFamilyDescriptor>& families,
                         Handles* handles) override {
    std::vector<rocksdb::ColumnFamilyDescriptor> all = families;
    for (rocksdb::ColumnFamilyDescriptor& family : all) {
      family.options = with_ttl(std::move(family.options), 0);
    }
    return db_->CreateColumnFamilies(all, handles);
  }

  S Put(const WriteOptions& options, Handle* handle, const Slice& key,
        const Slice& value) override {
    return db_->Put(options, handle, key, timed(value));
  }
  S PutEntity(const WriteOptions&, Handle*, const Slice&, const rocksdb::WideColumns&) override {
    return no_entities();
  }
  S PutEntity(const WriteOptions&, const Slice&, const rocksdb::AttributeGroups&) override {
    return no_entities();
  }
  S Merge(const WriteOptions& options, Handle* handle, const Slice& key,
          const Slice& value) override {
    return db_->Merge(options, handle, key, timed(value));
  }
  S Write(const WriteOptions& options, rocksdb::WriteBatch* updates) override {
    if (updates == nullptr) return db_->Write(options, updates);
    std::string rep;
    if (S s = timed_batch(updates->Data(), &rep); !s.ok()) return s;
    rocksdb::WriteBatch batch(std::move(rep));
    return db_->Write(options, &batch);
  }

  S Get(const ReadOptions& options, Handle* handle, const Slice& key, PinnableSlice* value,
        std::string* timestamp) override {
    S s = db_->Get(options, handle, key, value, timestamp);
    return s.ok() ? take_off(value) : s;
  }
  void MultiGet(const ReadOptions& options, size_t num_keys, Handle** handles, const Slice* keys,
                PinnableSlice* values, std::string* timestamps, S* statuses,
                bool sorted_input) override {
    db_->MultiGet(options, num_keys, handles, keys, values, timestamps, statuses, sorted_input);
    take_off_all(num_keys, values, statuses);
  }
  void MultiGet(const ReadOptions& options, Handle* handle, size_t num_keys, const Slice* keys,
                PinnableSlice* values, S* statuses, bool sorted_input) override {
    db_->MultiGet(options, handle, num_keys, keys, values, statuses, sorted_input);
    take_off_all(num_keys, values, statuses);
  }
  S GetEntity(const ReadOptions&, Handle*, const Slice&, rocksdb::PinnableWideColumns*) override {
    return no_entities();
  }
  S GetEntity(const ReadOptions&, const Slice&, rocksdb::PinnableAttributeGroups*) override {
    return no_entities();
  }
  void MultiGetEntity(const ReadOptions&, Handle*, size_t num_keys, const Slice*,
                      rocksdb::PinnableWideColumns*, S* statuses, bool) override {
    std::fill_n(statuses, num_keys, no_entities());
  }
  void MultiGetEntity(const ReadOptions&, size_t num_keys, Handle**, const Slice*,
                      rocksdb::PinnableWideColumns*, S* statuses, bool) override {
    std::fill_n(statuses, num_keys, no_entities());
  }
  void MultiGetEntity(const ReadOptions&, size_t num_keys, const Slice*,
                      rocksdb::PinnableAttributeGroups* results) override {
    for (size_t i = 0; i < num_keys; ++i) {
      for (rocksdb::PinnableAttributeGroup& group : results[i]) group.SetStatus(no_entities());
    }
  }
  bool KeyMayExist(const ReadOptions& options, Handle* handle, const Slice& key, std::string* value,
                   bool* value_found) override {
    bool found = false;
    const bool may = db_->KeyMayExist(options, handle, key, value, &found);
    if (found && value != nullptr)
      value->resize(value->size() - std::min(value->size(), kTimeBytes));
    if (value_found != nullptr) *value_found = found;
    return may;
  }
  rocksdb::Iterator* NewIterator(const ReadOptions& options, Handle* handle) override {
    return new TtlIterator(db_->NewIterator(options, handle));
  }
  S NewIterators(const ReadOptions& options, const Handles& handles,
                 std::vector<rocksdb::Iterator*>* iterators) override {
    S s = db_->NewIterators(options, handles, iterators);
    for (rocksdb::Iterator*& iterator : *iterators) iterator = new TtlIterator(iterator);
    return s;
  }

  void SetTtl(int32_t ttl) override { SetTtl(DefaultColumnFamily(), ttl); }
  void SetTtl(Handle* handle, int32_t ttl) override {
    const rocksdb::Options options = db_->GetOptions(handle);
    const auto filter =
        std::dynamic_pointer_cast<TtlFilterFactory>(options.compaction_filter_factory);
    if (filter != nullptr) filter->set(ttl);
  }

 private:
  static void take_off_all(size_t count, PinnableSlice* values, S* statuses) {
    for (size_t i = 0; i < count; ++i) {
      if (statuses[i].ok()) statuses[i] = take_off(&values[i]);
    }
  }
};

}  // namespace
}  // namespace hawthorn::rocks

namespace rocksdb {

Status DBWithTTL::Open(const Options& options, const std::string& dbname, DBWithTTL** dbptr,
                       int32_t ttl, bool read_only) try {
  std::vector<ColumnFamilyHandle*> handles;
  Status s = Open(options, dbname, {{kDefaultColumnFamilyName, options}}, &handles, dbptr, {ttl},
                  read_only);
  for (ColumnFamilyHandle* handle : handles) delete handle;
  return s;
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

Status DBWithTTL::Open(const DBOptions& db_options, const std::string& dbname,
                       const std::vector<ColumnFamilyDescriptor>& column_families,
                       std::vector<ColumnFamilyHandle*>* handles, DBWithTTL** dbptr,
                       const std::vector<int32_t>& ttls, bool read_only) try {
  *dbptr = nullptr;
  if (ttls.size() != column_families.size()) {
    return Status::InvalidArgument("there has to be one ttl for each column family");
  }
  std::vector<ColumnFamilyDescriptor> families = column_families;
  for (size_t i = 0; i < families.size(); ++i) {
    families[i].options = hawthorn::rocks::with_ttl(std::move(families[i].options), ttls[i]);
  }
  std::unique_ptr<DB> db;
  Status s = read_only ? DB::OpenForReadOnly(db_options, dbname, families, handles, &db)
                       : DB::Open(db_options, dbname, families, handles, &db);
  if (s.ok()) *dbptr = new hawthorn::rocks::TtlDB(std::move(db));
  return s;
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

}  // namespace rocksdb
