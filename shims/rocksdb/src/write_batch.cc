// WriteBatch: RocksDB's bytes from the first operation on, so that Data() costs nothing.

#include "rocksdb/write_batch.h"

#include <limits>
#include <vector>

#include "rocksdb/db.h"
#include "shims/rocksdb/src/batch_format.h"
#include "shims/rocksdb/src/entities.h"

namespace rocksdb {

using hawthorn::rocks::BatchRecord;
using hawthorn::rocks::BatchTag;
using hawthorn::rocks::kBatchCountAt;
using hawthorn::rocks::kBatchHeaderBytes;
using hawthorn::rocks::kVarintBytesMax;
using hawthorn::rocks::put_varint32;

struct SavePoints {
  struct Mark {
    size_t size;
    uint32_t count;
  };
  std::vector<Mark> marks;
};

namespace {

constexpr auto tag(BatchTag of) { return static_cast<unsigned char>(of); }

char* append_to(char* to, const Slice& bytes) {
  if (!bytes.empty()) std::memcpy(to, bytes.data(), bytes.size());
  return to + bytes.size();
}

Status refused(const char* what) { return Status::InvalidArgument(what, "no handler for it"); }

}  // namespace

WriteBatch::WriteBatch(size_t reserved_bytes, size_t max_bytes) : max_bytes_(max_bytes) {
  if (reserved_bytes > kBatchHeaderBytes) rep_.reserve(reserved_bytes);
  rep_.resize(kBatchHeaderBytes);
}

WriteBatch::WriteBatch(size_t reserved_bytes, size_t max_bytes, size_t, size_t default_cf_ts_sz)
    : WriteBatch(reserved_bytes, max_bytes) {
  timestamps_ = default_cf_ts_sz != 0;
}

WriteBatch::WriteBatch(const std::string& rep) : WriteBatch(std::string(rep)) {}

// What is shorter than a header is kept as it is; Iterate and DB::Write say so.
WriteBatch::WriteBatch(std::string&& rep) : rep_(std::move(rep)) {}

WriteBatch::WriteBatch(const WriteBatch& src)
    : WriteBatchBase(src),
      rep_(src.rep_),
      max_bytes_(src.max_bytes_),
      save_points_(src.save_points_ ? std::make_unique<SavePoints>(*src.save_points_) : nullptr),
      timestamps_(src.timestamps_) {}

WriteBatch::WriteBatch(WriteBatch&& src) noexcept
    : WriteBatchBase(src),
      rep_(std::move(src.rep_)),
      max_bytes_(src.max_bytes_),
      save_points_(std::move(src.save_points_)),
      timestamps_(src.timestamps_) {
  src.Clear();
}

WriteBatch& WriteBatch::operator=(const WriteBatch& src) {
  if (this != &src) *this = WriteBatch(src);
  return *this;
}

WriteBatch& WriteBatch::operator=(WriteBatch&& src) noexcept {
  if (this == &src) return *this;
  rep_ = std::move(src.rep_);
  max_bytes_ = src.max_bytes_;
  save_points_ = std::move(src.save_points_);
  timestamps_ = src.timestamps_;
  src.Clear();
  return *this;
}

WriteBatch::~WriteBatch() = default;

Status WriteBatch::Add(unsigned char tag, unsigned char tag_of_family, ColumnFamilyHandle* family,
                       const Slice& key, const Slice* value) {
  constexpr size_t kSizeMax = std::numeric_limits<uint32_t>::max();
  if (timestamps_) return Status::NotSupported("a batch of a family with user timestamps");
  if (key.size() > kSizeMax) return Status::InvalidArgument("key is too large");
  if (value != nullptr && value->size() > kSizeMax) {
    return Status::InvalidArgument("value is too large");
  }
  // Made longer once, and filled in place.
  const size_t size_before = rep_.size();
  char head[1 + 2 * kVarintBytesMax];
  char* end = head;
  const uint32_t id = family == nullptr ? 0 : family->GetID();
  if (id == 0) {
    *end++ = static_cast<char>(tag);
  } else {
    *end++ = static_cast<char>(tag_of_family);
    end = put_varint32(end, id);
  }
  end = put_varint32(end, static_cast<uint32_t>(key.size()));
  const size_t head_bytes = static_cast<size_t>(end - head);
  size_t value_bytes = 0;
  if (value != nullptr) value_bytes = kVarintBytesMax + value->size();
  rep_.resize(size_before + head_bytes + key.size() + value_bytes);
  char* to = rep_.data() + size_before;
  std::memcpy(to, head, head_bytes);
  to = append_to(to + head_bytes, key);
  if (value != nullptr) {
    to = put_varint32(to, static_cast<uint32_t>(value->size()));
    to = append_to(to, *value);
    rep_.resize(static_cast<size_t>(to - rep_.data()));
  }
  return Finish(size_before, true);
}

void WriteBatch::TakeBack(size_t size_before) {
  rep_.resize(size_before);
  SetCount(Count() - 1);
}

Status WriteBatch::Finish(size_t size_before, bool counts) {
  if (max_bytes_ != 0 && rep_.size() > max_bytes_) {
    rep_.resize(size_before);
    return Status::MemoryLimit();
  }
  if (counts) SetCount(Count() + 1);
  return Status::OK();
}

Status WriteBatch::Put(ColumnFamilyHandle* column_family, const Slice& key, const Slice& value) {
  return Add(tag(BatchTag::kPut), tag(BatchTag::kFamilyPut), column_family, key, &value);
}

Status WriteBatch::PutEntity(ColumnFamilyHandle* column_family, const Slice& key,
                             const WideColumns& columns) {
  if (column_family == nullptr) {
    return Status::InvalidArgument("Cannot call this method without a column family handle");
  }
  std::string bytes;
  Status s = hawthorn::rocks::encode_columns(columns, &bytes);
  if (!s.ok()) return s;
  const Slice value(bytes);
  return Add(tag(BatchTag::kPutEntity), tag(BatchTag::kFamilyPutEntity), column_family, key,
             &value);
}

Status WriteBatch::PutEntity(const Slice& key, const AttributeGroups& attribute_groups) {
  if (attribute_groups.empty()) {
    return Status::InvalidArgument("Cannot call this method with empty attribute groups");
  }
  Status s;
  for (const AttributeGroup& group : attribute_groups) {
    s = PutEntity(group.column_family(), key, group.columns());
    if (!s.ok()) break;
  }
  return s;
}

Status WriteBatch::Merge(ColumnFamilyHandle* column_family, const Slice& key, const Slice& value) {
  return Add(tag(BatchTag::kMerge), tag(BatchTag::kFamilyMerge), column_family, key, &value);
}

Status WriteBatch::Delete(ColumnFamilyHandle* column_family, const Slice& key) {
  return Add(tag(BatchTag::kDelete), tag(BatchTag::kFamilyDelete), column_family, key, nullptr);
}

Status WriteBatch::SingleDelete(ColumnFamilyHandle* column_family, const Slice& key) {
  return Add(tag(BatchTag::kSingleDelete), tag(BatchTag::kFamilySingleDelete), column_family, key,
             nullptr);
}

Status WriteBatch::DeleteRange(ColumnFamilyHandle* column_family, const Slice& begin_key,
                               const Slice& end_key) {
  return Add(tag(BatchTag::kDeleteRange), tag(BatchTag::kFamilyDeleteRange), column_family,
             begin_key, &end_key);
}

Status WriteBatch::PutLogData(const Slice& blob) {
  const size_t size_before = rep_.size();
  char head[1 + kVarintBytesMax];
  head[0] = static_cast<char>(tag(BatchTag::kLogData));
  const char* const end = put_varint32(head + 1, static_cast<uint32_t>(blob.size()));
  rep_.append(head, static_cast<size_t>(end - head));
  try {
    rep_.append(blob.data(), blob.size());
  } catch (...) {
    rep_.resize(size_before);
    throw;
  }
  return Finish(size_before, false);
}

void WriteBatch::Clear() {
  rep_.clear();
  rep_.resize(kBatchHeaderBytes);
  save_points_.reset();
}

void WriteBatch::SetSavePoint() {
  if (!save_points_) save_points_ = std::make_unique<SavePoints>();
  save_points_->marks.push_back({rep_.size(), Count()});
}

Status WriteBatch::RollbackToSavePoint() {
  if (!save_points_ || save_points_->marks.empty()) return Status::NotFound();
  const SavePoints::Mark mark = save_points_->marks.back();
  save_points_->marks.pop_back();
  rep_.resize(mark.size);
  SetCount(mark.count);
  return Status::OK();
}

Status WriteBatch::PopSavePoint() {
  if (!save_points_ || save_points_->marks.empty()) return Status::NotFound();
  save_points_->marks.pop_back();
  return Status::OK();
}

std::string WriteBatch::Release() {
  std::string bytes = std::move(rep_);
  Clear();
  return bytes;
}

uint32_t WriteBatch::Count() const {
  return rep_.size() < kBatchHeaderBytes ? 0 : hawthorn::rocks::batch_count(rep_);
}

void WriteBatch::SetCount(uint32_t count) {
  std::memcpy(rep_.data() + kBatchCountAt, &count, sizeof(count));
}

bool WriteBatch::HasTag(unsigned char tag, unsigned char tag_of_family) const {
  if (rep_.size() < kBatchHeaderBytes) return false;
  const char* const end = rep_.data() + rep_.size();
  BatchRecord record;
  for (const char* at = rep_.data() + kBatchHeaderBytes; at != nullptr && at < end;) {
    const auto found = static_cast<unsigned char>(*at);
    if (found == tag || found == tag_of_family) return true;
    at = hawthorn::rocks::read_record(at, end, &record);
  }
  return false;
}

bool WriteBatch::HasPut() const { return HasTag(tag(BatchTag::kPut), tag(BatchTag::kFamilyPut)); }
bool WriteBatch::HasPutEntity() const {
  return HasTag(tag(BatchTag::kPutEntity), tag(BatchTag::kFamilyPutEntity));
}
bool WriteBatch::HasDelete() const {
  return HasTag(tag(BatchTag::kDelete), tag(BatchTag::kFamilyDelete));
}
bool WriteBatch::HasSingleDelete() const {
  return HasTag(tag(BatchTag::kSingleDelete), tag(BatchTag::kFamilySingleDelete));
}
bool WriteBatch::HasDeleteRange() const {
  return HasTag(tag(BatchTag::kDeleteRange), tag(BatchTag::kFamilyDeleteRange));
}
bool WriteBatch::HasMerge() const {
  return HasTag(tag(BatchTag::kMerge), tag(BatchTag::kFamilyMerge));
}
bool WriteBatch::HasBeginPrepare() const {
  return HasTag(tag(BatchTag::kBeginPrepare), tag(BatchTag::kBeginPersistedPrepare));
}
bool WriteBatch::HasEndPrepare() const {
  return HasTag(tag(BatchTag::kEndPrepare), tag(BatchTag::kEndPrepare));
}
bool WriteBatch::HasCommit() const {
  return HasTag(tag(BatchTag::kCommit), tag(BatchTag::kCommit));
}
bool WriteBatch::HasRollback() const {
  return HasTag(tag(BatchTag::kRollback), tag(BatchTag::kRollback));
}

Status WriteBatch::Handler::PutCF(uint32_t column_family_id, const Slice& key, const Slice& value) {
  if (column_family_id != 0) return refused("PutCF");
  Put(key, value);
  return Status::OK();
}

Status WriteBatch::Handler::PutEntityCF(uint32_t, const Slice&, const Slice&) {
  return Status::NotSupported("PutEntityCF not implemented");
}

Status WriteBatch::Handler::DeleteCF(uint32_t column_family_id, const Slice& key) {
  if (column_family_id != 0) return refused("DeleteCF");
  Delete(key);
  return Status::OK();
}

Status WriteBatch::Handler::SingleDeleteCF(uint32_t column_family_id, const Slice& key) {
  if (column_family_id != 0) return refused("SingleDeleteCF");
  SingleDelete(key);
  return Status::OK();
}

Status WriteBatch::Handler::DeleteRangeCF(uint32_t, const Slice&, const Slice&) {
  return refused("DeleteRangeCF");
}

Status WriteBatch::Handler::MergeCF(uint32_t column_family_id, const Slice& key,
                                    const Slice& value) {
  if (column_family_id != 0) return refused("MergeCF");
  Merge(key, value);
  return Status::OK();
}

Status WriteBatch::Handler::MarkBeginPrepare(bool) { return refused("MarkBeginPrepare"); }
Status WriteBatch::Handler::MarkEndPrepare(const Slice&) { return refused("MarkEndPrepare"); }
Status WriteBatch::Handler::MarkNoop(bool) { return refused("MarkNoop"); }
Status WriteBatch::Handler::MarkRollback(const Slice&) { return refused("MarkRollback"); }
Status WriteBatch::Handler::MarkCommit(const Slice&) { return refused("MarkCommit"); }

namespace {

Status show(const BatchRecord& record, bool empty, WriteBatch::Handler* handler) {
  switch (record.tag) {
    case BatchTag::kPut:
      return handler->PutCF(record.family, record.key, record.value);
    case BatchTag::kPutEntity:
      return handler->PutEntityCF(record.family, record.key, record.value);
    case BatchTag::kDelete:
      return handler->DeleteCF(record.family, record.key);
    case BatchTag::kSingleDelete:
      return handler->SingleDeleteCF(record.family, record.key);
    case BatchTag::kDeleteRange:
      return handler->DeleteRangeCF(record.family, record.key, record.value);
    case BatchTag::kMerge:
      return handler->MergeCF(record.family, record.key, record.value);
    case BatchTag::kLogData:
      handler->LogData(record.key);
      return Status::OK();
    case BatchTag::kBeginPrepare:
    case BatchTag::kBeginPersistedPrepare:
      return handler->MarkBeginPrepare();
    case BatchTag::kBeginUnprepare:
      return handler->MarkBeginPrepare(true);
    case BatchTag::kEndPrepare:
      return handler->MarkEndPrepare(record.key);
    case BatchTag::kCommit:
      return handler->MarkCommit(record.key);
    case BatchTag::kRollback:
      return handler->MarkRollback(record.key);
    default:
      return handler->MarkNoop(empty);
  }
}

}  // namespace

Status WriteBatch::Iterate(Handler* handler) const {
  if (rep_.size() < kBatchHeaderBytes) {
    return Status::Corruption("malformed WriteBatch (too small)");
  }
  const char* const end = rep_.data() + rep_.size();
  BatchRecord record;
  uint32_t found = 0;
  for (const char* at = rep_.data() + kBatchHeaderBytes; at < end;) {
    if (!handler->Continue()) return Status::OK();
    at = hawthorn::rocks::read_record(at, end, &record);
    if (at == nullptr) return Status::Corruption("bad record in a WriteBatch");
    Status status = show(record, found == 0, handler);
    if (!status.ok()) return status;
    found += hawthorn::rocks::is_write(record.tag) ? 1 : 0;
  }
  if (found != Count()) return Status::Corruption("WriteBatch has wrong count");
  return Status::OK();
}

namespace {
// What a batch has of parts, as whole strings.
struct Joined {
  explicit Joined(const SliceParts& parts) : slice(parts, &bytes) {}
  std::string bytes;
  Slice slice;
};
}  // namespace

Status WriteBatchBase::Put(ColumnFamilyHandle* column_family, const SliceParts& key,
                           const SliceParts& value) {
  return Put(column_family, Joined(key).slice, Joined(value).slice);
}
Status WriteBatchBase::Put(const SliceParts& key, const SliceParts& value) {
  return Put(Joined(key).slice, Joined(value).slice);
}
Status WriteBatchBase::Merge(ColumnFamilyHandle* column_family, const SliceParts& key,
                             const SliceParts& value) {
  return Merge(column_family, Joined(key).slice, Joined(value).slice);
}
Status WriteBatchBase::Merge(const SliceParts& key, const SliceParts& value) {
  return Merge(Joined(key).slice, Joined(value).slice);
}
Status WriteBatchBase::Delete(ColumnFamilyHandle* column_family, const SliceParts& key) {
  return Delete(column_family, Joined(key).slice);
}
Status WriteBatchBase::Delete(const SliceParts& key) { return Delete(Joined(key).slice); }
Status WriteBatchBase::SingleDelete(ColumnFamilyHandle* column_family, const SliceParts& key) {
  return SingleDelete(column_family, Joined(key).slice);
}
Status WriteBatchBase::SingleDelete(const SliceParts& key) {
  return SingleDelete(Joined(key).slice);
}
Status WriteBatchBase::DeleteRange(ColumnFamilyHandle* column_family, const SliceParts& begin_key,
                                   const SliceParts& end_key) {
  return DeleteRange(column_family, Joined(begin_key).slice, Joined(end_key).slice);
}
Status WriteBatchBase::DeleteRange(const SliceParts& begin_key, const SliceParts& end_key) {
  return DeleteRange(Joined(begin_key).slice, Joined(end_key).slice);
}

}  // namespace rocksdb
