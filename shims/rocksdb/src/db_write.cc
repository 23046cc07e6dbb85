// Writes: each one commit of the engine.

#include <algorithm>

#include "rocksdb/merge_operator.h"
#include "shims/of_thread.h"
#include "shims/rocksdb/src/convert.h"
#include "shims/rocksdb/src/db_impl.h"
#include "shims/rocksdb/src/measure.h"

namespace hawthorn::rocks {
using S = rocksdb::Status;

namespace {

using rocksdb::Slice;

// What a thread keeps of the memory of its batches.
constexpr size_t kBatchBytesKept = size_t{1} << 20;
// While a family has many ranges that are not erased yet, another one waits for them.
constexpr int kRangeAttempts = 4;

S dropped_family() { return S::InvalidArgument("the column family is dropped"); }
S unknown_family() { return S::InvalidArgument("Invalid column family specified in write batch"); }
S no_operator() { return S::NotSupported("Provide a merge_operator when opening DB"); }

hawthorn::WriteBatch& write_batch_of_thread() {
  hawthorn::WriteBatch& batch = OfThread<hawthorn::WriteBatch>::get();
  batch.clear();
  return batch;
}

void shrink(hawthorn::WriteBatch& batch) {
  if (batch.bytes() > kBatchBytesKept) batch = hawthorn::WriteBatch();
}

constexpr PerfFigure kCommitTime = &rocksdb::PerfContextBase::write_wal_time;

// Of a batch with one operation.
size_t batch_bytes(size_t bytes) { return kBatchHeaderBytes + 1 + bytes; }

}  // namespace

S check_options(const rocksdb::WriteOptions& options) {
  if (options.sync && options.disableWAL) {
    return S::InvalidArgument("Sync writes has to enable WAL.");
  }
  return S::OK();
}

hawthorn::Durability durability_of(const rocksdb::WriteOptions& options) {
  return options.sync ? hawthorn::Durability::kFull : hawthorn::Durability::kNone;
}

rocksdb::Status DBImpl::Put(const rocksdb::WriteOptions& options, Handle* handle, const Slice& key,
                            const Slice& value) {
  const Family& family = *family_of(handle);
  if (S s = check_options(options); !s.ok()) return s;
  if (family.dropped.load(std::memory_order_relaxed)) return dropped_family();
  const Measured call(statistics(), rocksdb::DB_WRITE, kCommitTime);
  std::string kept;
  const hawthorn::Status s = db_->put(
      family.tree, view(key), family.mark->plain(view(value), &kept), durability_of(options));
  count_write(call, s, 1, batch_bytes(key.size() + value.size()));
  return told(s);
}

rocksdb::Status DBImpl::PutEntity(const rocksdb::WriteOptions& options, Handle* handle,
                                  const Slice& key, const rocksdb::WideColumns& columns) {
  rocksdb::WriteBatch batch;
  S s = batch.PutEntity(handle, key, columns);
  return s.ok() ? Write(options, &batch) : s;
}

rocksdb::Status DBImpl::PutEntity(const rocksdb::WriteOptions& options, const Slice& key,
                                  const rocksdb::AttributeGroups& groups) {
  rocksdb::WriteBatch batch;
  S s = batch.PutEntity(key, groups);
  return s.ok() ? Write(options, &batch) : s;
}

rocksdb::Status DBImpl::Delete(const rocksdb::WriteOptions& options, Handle* handle,
                               const Slice& key) {
  const Family& family = *family_of(handle);
  if (S s = check_options(options); !s.ok()) return s;
  if (family.dropped.load(std::memory_order_relaxed)) return dropped_family();
  const Measured call(statistics(), rocksdb::DB_WRITE, kCommitTime);
  const hawthorn::Status s = db_->del(family.tree, view(key), durability_of(options));
  count_write(call, s, 1, batch_bytes(key.size()));
  return told(s);
}

rocksdb::Status DBImpl::SingleDelete(const rocksdb::WriteOptions& options, Handle* handle,
                                     const Slice& key) {
  return Delete(options, handle, key);
}

rocksdb::Status DBImpl::DeleteRange(const rocksdb::WriteOptions& options, Handle* handle,
                                    const Slice& begin_key, const Slice& end_key) {
  rocksdb::WriteBatch batch;
  S s = batch.DeleteRange(handle, begin_key, end_key);
  return s.ok() ? Write(options, &batch) : s;
}

rocksdb::Status DBImpl::Merge(const rocksdb::WriteOptions& options, Handle* handle,
                              const Slice& key, const Slice& value) {
  const Family& family = *family_of(handle);
  if (S s = check_options(options); !s.ok()) return s;
  if (family.dropped.load(std::memory_order_relaxed)) return dropped_family();
  if (family.merges == nullptr) return no_operator();
  if (!family.bytewise || value.size() > kOperandBytesMax) {
    rocksdb::WriteBatch batch;
    S s = batch.Merge(handle, key, value);
    return s.ok() ? Write(options, &batch) : s;
  }
  const Measured call(statistics(), rocksdb::DB_WRITE, kCommitTime);
  const hawthorn::Status s =
      db_->merge(family.tree, view(key), view(value), durability_of(options));
  count_write(call, s, 1, batch_bytes(key.size() + value.size()));
  return told(s);
}

rocksdb::Status DBImpl::Write(const rocksdb::WriteOptions& options, rocksdb::WriteBatch* updates) {
  if (updates == nullptr) return S::InvalidArgument("Batch is nullptr!");
  if (S s = check_options(options); !s.ok()) return s;
  const std::string& rep = updates->Data();
  if (rep.size() < kBatchHeaderBytes) return S::Corruption("malformed WriteBatch (too small)");

  hawthorn::WriteBatch& batch = write_batch_of_thread();
  const char* const end = rep.data() + rep.size();
  std::shared_ptr<Family> other;
  Family* family = default_family_.get();
  std::string kept;
  BatchRecord record;
  uint32_t found = 0;
  bool by_transaction = false;
  for (const char* at = rep.data() + kBatchHeaderBytes; at < end;) {
    at = read_record(at, end, &record);
    if (at == nullptr) return S::Corruption("bad record in a WriteBatch");
    if (!is_write(record.tag)) {
      if (record.tag == BatchTag::kLogData || record.tag == BatchTag::kNoop) continue;
      return S::NotSupported("a batch with marks of prepared transactions");
    }
    ++found;
    if (family == nullptr || record.family != family->id) {
      other = find_family(record.family);
      family = other.get();
    }
    if (family == nullptr) {
      if (options.ignore_missing_column_families) continue;
      return unknown_family();
    }
    if (record.tag == BatchTag::kPut) {
      batch.put(family->tree, view(record.key), family->mark->plain(view(record.value), &kept));
    } else if (S s = add_record(record, *family, batch, &by_transaction); !s.ok()) {
      return s;
    }
  }
  if (found != batch_count(rep)) return S::Corruption("WriteBatch has wrong count");
  const Measured call(statistics(), rocksdb::DB_WRITE, kCommitTime);
  if (by_transaction) {
    S s = write_by_transaction(options, rep);
    count_write(call, s, found, rep.size());
    return s;
  }
  if (batch.count() == 0) return options.sync ? told(db_->sync()) : S::OK();
  S s = told(commit(batch, durability_of(options)));
  count_write(call, s, found, rep.size());
  shrink(batch);
  return s;
}

rocksdb::Status DBImpl::expect_entity(const BatchRecord& record, Family& family) {
  rocksdb::WideColumns columns;
  S s = decode_columns(view(record.value), &columns);
  return s.ok() ? mark_entities(family) : s;
}

rocksdb::Status DBImpl::add_record(const BatchRecord& record, Family& family,
                                   hawthorn::WriteBatch& batch, bool* by_transaction) {
  switch (record.tag) {
    case BatchTag::kPutEntity:
      if (S s = expect_entity(record, family); !s.ok()) return s;
      batch.put(family.tree, view(record.key), family.mark->entity(view(record.value)));
      return S::OK();
    case BatchTag::kDeleteRange: {
      const int order = family.options.comparator->Compare(record.key, record.value);
      if (order > 0) return S::InvalidArgument("end key comes before start key");
      if (order == 0) return S::OK();
      if (family.has_slot) {
        *by_transaction = true;
      } else {
        batch.delete_range(family.tree, view(record.key), view(record.value));
      }
      return S::OK();
    }
    case BatchTag::kMerge:
      if (family.merges == nullptr) return no_operator();
      if (record.key.size() + record.value.size() > kOperandBytesMax) {
        *by_transaction = true;
      } else if (family.bytewise) {
        batch.merge(family.tree, view(record.key), view(record.value));
      } else {
        batch.merge(family.tree, view(record.key),
                    keyed_operand(view(record.key), view(record.value)));
      }
      return S::OK();
    default:
      batch.del(family.tree, view(record.key));
      return S::OK();
  }
}

hawthorn::Status DBImpl::commit(const hawthorn::WriteBatch& batch,
                                hawthorn::Durability durability) {
  hawthorn::Status status = db_->write(batch, durability);
  for (int attempt = 1; attempt < kRangeAttempts && status.is(StatusCode::kTimedOut); ++attempt) {
    if (!db_->drain().ok()) break;
    status = db_->write(batch, durability);
  }
  return status;
}

// A batch of the engine has neither ranges of trees with a merge operator, nor operands over its
// limit. An exclusive transaction has both, and never conflicts.
rocksdb::Status DBImpl::write_by_transaction(const rocksdb::WriteOptions& options,
                                             const std::string& rep) {
  hawthorn::Result<hawthorn::Transaction> in = begin_alone();
  if (!in.ok()) return told(in.status());
  if (S s = apply_all(*in, options, rep); !s.ok()) return s;
  return told(in->commit(durability_of(options)));
}

rocksdb::Status DBImpl::apply_all(hawthorn::Transaction& in, const rocksdb::WriteOptions& options,
                                  const std::string& rep) {
  const char* const end = rep.data() + rep.size();
  BatchRecord record;
  std::shared_ptr<Family> family;
  for (const char* at = rep.data() + kBatchHeaderBytes; at < end;) {
    at = read_record(at, end, &record);
    if (at == nullptr) return S::Corruption("bad record in a WriteBatch");
    if (!is_write(record.tag)) continue;
    if (family == nullptr || family->id != record.family) family = find_family(record.family);
    if (family == nullptr) {
      if (options.ignore_missing_column_families) continue;
      return unknown_family();
    }
    if (record.tag == BatchTag::kMerge && family->merges == nullptr) return no_operator();
    if (record.tag == BatchTag::kPutEntity) {
      if (S s = expect_entity(record, *family); !s.ok()) return s;
    }
    if (hawthorn::Status status = apply(in, record, *family); !status.ok()) return told(status);
  }
  return S::OK();
}

hawthorn::Status DBImpl::apply(hawthorn::Transaction& in, const BatchRecord& record,
                               const Family& family) {
  const std::string_view key = view(record.key);
  std::string kept;
  switch (record.tag) {
    case BatchTag::kPut:
      return in.put(family.tree, key, family.mark->plain(view(record.value), &kept));
    case BatchTag::kPutEntity:
      return in.put(family.tree, key, family.mark->entity(view(record.value)));
    case BatchTag::kDeleteRange:
      if (family.options.comparator->Compare(record.key, record.value) >= 0) return {};
      return in.delete_range(family.tree, key, view(record.value));
    case BatchTag::kMerge:
      if (record.key.size() + record.value.size() > kOperandBytesMax) {
        return merge_now(in, record, family);
      }
      if (family.bytewise) return in.merge(family.tree, key, view(record.value));
      return in.merge(family.tree, key, keyed_operand(key, view(record.value)));
    default:
      return in.del(family.tree, key);
  }
}

hawthorn::Status DBImpl::merge_now(hawthorn::Transaction& in, const BatchRecord& record,
                                   const Family& family) {
  hawthorn::Value before;
  const hawthorn::Status read = in.get(family.tree, view(record.key), before);
  if (!read.ok() && !read.is_not_found()) return read;
  std::optional<std::string_view> existing;
  if (read.ok()) existing = before.view();
  std::string merged;
  if (!full_merge_stored(*family.mark, *family.merges, view(record.key), existing, {record.value},
                         options_.info_log.get(), &merged)) {
    return {StatusCode::kCorruption, "the merge operator has refused an operand"};
  }
  return in.put(family.tree, view(record.key), merged);
}

}  // namespace hawthorn::rocks
