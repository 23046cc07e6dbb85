#include "shims/rocksdb/src/batch_index.h"

#include <algorithm>

#include "shims/rocksdb/src/convert.h"
#include "shims/rocksdb/src/db_impl.h"
#include "shims/rocksdb/src/entities.h"

namespace hawthorn::rocks {

using rocksdb::Slice;
using S = rocksdb::Status;

BatchRecord FamilyIndex::record_of(const IndexEntry& entry) const {
  const std::string& bytes = batch_->Data();
  BatchRecord record;
  read_record(bytes.data() + entry.record_at, bytes.data() + bytes.size(), &record);
  return record;
}

FamilyIndex& BatchIndex::family(uint32_t id) {
  const auto found = families_.find(id);
  if (found != families_.end()) return *found->second;
  return *families_.emplace(id, std::make_unique<FamilyIndex>(batch_, backup_)).first->second;
}

FamilyIndex& BatchIndex::family(rocksdb::ColumnFamilyHandle* handle) {
  FamilyIndex& found = family(handle == nullptr ? 0 : handle->GetID());
  if (found.comparator_is_own_ || handle == nullptr || !found.entries_.empty()) return found;
  if (const rocksdb::Comparator* const comparator = handle->GetComparator()) {
    found.comparator_ = comparator;
    found.comparator_is_own_ = true;
  }
  return found;
}

void BatchIndex::add(FamilyIndex& family, uint32_t id, size_t record_at) {
  IndexEntry entry{.record_at = record_at, .updates = 1};
  const BatchRecord record = family.record_of(entry);
  entry.single_delete = record.tag == BatchTag::kSingleDelete;
  auto& stat = stats_[id];
  if (overwrite_) {
    const auto newest = family.entries_.lower_bound(FamilyIndex::Probe{record.key});
    if (newest != family.entries_.end() &&
        family.compare(family.key_of(*newest), record.key) == 0) {
      if (newest->single_delete && !newest->overwrote_single_delete) {
        newest->overwrote_single_delete = true;
        ++stat.overwritten_sd_count;
      }
      if (record.tag != BatchTag::kMerge) {
        newest->single_delete = newest->single_delete || entry.single_delete;
        newest->record_at = record_at;
        ++newest->updates;
        return;
      }
      entry.updates = newest->updates + 1;
    }
  }
  family.entries_.insert(entry);
  ++stat.entry_count;
}

void BatchIndex::clear() {
  for (const auto& [id, family] : families_) family->entries_.clear();
  stats_.clear();
}

rocksdb::Status BatchIndex::rebuild() {
  clear();
  const std::string& bytes = batch_->Data();
  const char* const end = bytes.data() + bytes.size();
  BatchRecord record;
  for (const char* at = bytes.data() + kBatchHeaderBytes; at < end;) {
    const auto record_at = static_cast<size_t>(at - bytes.data());
    at = read_record(at, end, &record);
    if (at == nullptr) return S::Corruption("bad record in a WriteBatch");
    const bool indexed = record.tag == BatchTag::kPut || record.tag == BatchTag::kMerge ||
                         record.tag == BatchTag::kDelete || record.tag == BatchTag::kSingleDelete ||
                         record.tag == BatchTag::kPutEntity;
    if (indexed) add(family(record.family), record.family, record_at);
  }
  return S::OK();
}

BatchRead BatchIndex::read(const FamilyIndex& family, const Slice& key) {
  const auto newest = family.entries().lower_bound(FamilyIndex::Probe{key});
  if (newest == family.entries().end() || family.compare(family.key_of(*newest), key) != 0) {
    return {};
  }
  return read(family, newest);
}

BatchRead BatchIndex::read(const FamilyIndex& family, FamilyIndex::Entries::const_iterator newest) {
  BatchRead result;
  const Slice key = family.key_of(*newest);
  for (auto at = newest; at != family.entries().end(); ++at) {
    const BatchRecord record = family.record_of(*at);
    if (at != newest && family.compare(record.key, key) != 0) break;
    if (record.tag == BatchTag::kMerge) {
      result.found = BatchRead::Found::kMerges;
      result.operands.push_back(record.value);
      continue;
    }
    result.entity = record.tag == BatchTag::kPutEntity;
    const bool is_put = record.tag == BatchTag::kPut || result.entity;
    if (is_put) result.value = record.value;
    if (result.found == BatchRead::Found::kMerges) {
      result.based = true;
      result.deleted = !is_put;
    } else {
      result.found = is_put ? BatchRead::Found::kValue : BatchRead::Found::kDeleted;
    }
    break;
  }
  std::reverse(result.operands.begin(), result.operands.end());
  return result;
}

rocksdb::Status fold(rocksdb::ColumnFamilyHandle* handle, const Slice& key, const BatchRead& merges,
                     std::optional<Slice> below, std::string* value) {
  if (handle == nullptr) return S::InvalidArgument("Must provide a column family");
  const auto* const known = OwnKind<HandleImpl>::find(handle);
  const rocksdb::MergeOperator* const with = known == nullptr ? nullptr : known->family()->merges;
  if (with == nullptr) {
    return S::InvalidArgument("Merge_operator must be set for column_family");
  }
  std::optional<std::string_view> existing;
  if (!merges.based && below.has_value()) existing = view(*below);
  if (merges.based && !merges.deleted) {
    existing = view(merges.value);
    if (merges.entity) {
      if (S s = default_column(*existing, &*existing); !s.ok()) return s;
    }
  }
  std::string folded;
  if (!full_merge(*with, view(key), existing, merges.operands, nullptr, &folded)) {
    return S(S::kCorruption, S::kMergeOperatorFailed, S::kNoError,
             "the merge operator has refused an operand");
  }
  *value = std::move(folded);
  return S::OK();
}

rocksdb::Status fold(rocksdb::ColumnFamilyHandle* handle, const Slice& key, const BatchRead& merges,
                     const rocksdb::WideColumns* below, rocksdb::PinnableWideColumns* columns) {
  rocksdb::WideColumns own;
  if (merges.based) {
    below = merges.entity ? &own : nullptr;
    if (merges.entity) {
      if (S s = decode_columns(view(merges.value), &own); !s.ok()) return s;
    }
  }
  std::optional<Slice> existing;
  if (below != nullptr) existing = default_of(*below);
  std::string folded;
  if (S s = fold(handle, key, merges, existing, &folded); !s.ok()) return s;
  if (below != nullptr) return columns->SetWideColumnValue(with_default(*below, folded));
  columns->SetPlainValue(std::move(folded));
  return S::OK();
}

rocksdb::Status show(const BatchRead& read, rocksdb::PinnableSlice* value) {
  std::string_view shown = view(read.value);
  if (read.entity) {
    if (S s = default_column(shown, &shown); !s.ok()) return s;
  }
  value->PinSelf(slice(shown));
  return S::OK();
}

rocksdb::Status show(const BatchRead& read, rocksdb::PinnableWideColumns* columns) {
  if (read.entity) return columns->SetWideColumnValue(read.value);
  columns->SetPlainValue(read.value);
  return S::OK();
}

}  // namespace hawthorn::rocks
