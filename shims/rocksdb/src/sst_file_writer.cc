// SstFileWriter: see entries_file.h for what it writes.

#include "rocksdb/sst_file_writer.h"

#include <optional>

#include "rocksdb/comparator.h"
#include "rocksdb/db.h"
#include "shims/rocksdb/src/checksum.h"
#include "shims/rocksdb/src/convert.h"
#include "shims/rocksdb/src/entities.h"
#include "shims/rocksdb/src/entries_file.h"

namespace rocksdb {

using hawthorn::rocks::BatchTag;
using hawthorn::rocks::view;

struct SstFileWriter::Rep {
  static constexpr size_t kBlockBytes = size_t{64} << 10;

  Status add(BatchTag tag, const Slice& key, const Slice* value);
  Status write_block();
  Status finish(ExternalSstFileInfo* info);

  const Comparator* comparator = nullptr;
  uint64_t family = hawthorn::rocks::kAnyFamily;
  hawthorn::rocks::FileWriter file;
  hawthorn::rocks::EntriesIndex index;
  std::optional<std::string> range_begin;
  std::string range_end;
  std::string path;
  std::string block;
  uint64_t bytes = 0;  // that were written
  Status failure;      // of a block: it is missing, so nothing can be made of the file any more
};

Status SstFileWriter::Rep::add(BatchTag tag, const Slice& key, const Slice* value) {
  if (!file.is_open()) return Status::InvalidArgument("File is not opened");
  if (!failure.ok()) return failure;
  if (tag == BatchTag::kDeleteRange) {
    const int order = comparator->Compare(key, *value);
    if (order > 0) return Status::InvalidArgument("end key comes before start key");
    if (order == 0) return Status::OK();
    if (!range_begin || comparator->Compare(key, *range_begin) < 0) range_begin = key.ToString();
    if (index.ranges == 0 || comparator->Compare(*value, range_end) > 0) {
      range_end = value->ToString();
    }
    ++index.ranges;
  } else {
    if (index.entries == index.ranges) {
      index.smallest = key.ToString();
    } else if (comparator->Compare(key, index.largest) <= 0) {
      return Status::InvalidArgument("Keys must be added in strict ascending order.");
    }
    index.largest.assign(key.data(), key.size());
  }
  if (tag == BatchTag::kPutEntity) {
    index.others |= hawthorn::rocks::kOthersEntities;
  } else if (tag != BatchTag::kPut) {
    index.others |= hawthorn::rocks::kOthersApplied;
  }
  ++index.entries;
  block += static_cast<char>(tag);
  hawthorn::rocks::append_string(view(key), &block);
  if (value != nullptr) hawthorn::rocks::append_string(view(*value), &block);
  return block.size() < kBlockBytes ? Status::OK() : write_block();
}

Status SstFileWriter::Rep::write_block() {
  if (block.empty()) return Status::OK();
  std::string frame;
  hawthorn::rocks::append_fixed(static_cast<uint32_t>(block.size()), &frame);
  hawthorn::rocks::append_fixed(hawthorn::rocks::crc32c(block), &frame);
  failure = file.append(frame + block);
  bytes += frame.size() + block.size();
  block.clear();
  return failure;
}

Status SstFileWriter::Rep::finish(ExternalSstFileInfo* info) {
  if (!file.is_open()) return Status::InvalidArgument("File is not opened");
  Status s = failure;
  if (s.ok() && index.entries == 0)
    s = Status::InvalidArgument("Cannot create sst file with no entries");
  if (s.ok()) s = write_block();
  index.comparator = comparator->Name();
  index.family = family;
  const std::string end = hawthorn::rocks::encode_index(index);
  if (s.ok()) s = file.append(end);
  bytes += end.size();
  const Status closed = file.close();
  if (s.ok()) s = closed;
  if (s.ok()) s = hawthorn::rocks::sync_directory(hawthorn::rocks::directory_of(path));
  if (!s.ok()) {
    static_cast<void>(hawthorn::rocks::remove_file(path));
    return s;
  }
  if (info == nullptr) return s;
  *info = ExternalSstFileInfo();
  info->file_path = path;
  info->smallest_key = index.smallest;
  info->largest_key = index.largest;
  info->smallest_range_del_key = range_begin.value_or("");
  info->largest_range_del_key = range_end;
  info->file_size = bytes;
  info->num_entries = index.entries - index.ranges;
  info->num_range_del_entries = index.ranges;
  info->version = hawthorn::rocks::kEntriesVersion;
  return s;
}

SstFileWriter::SstFileWriter(const EnvOptions& env_options, const Options& options,
                             ColumnFamilyHandle* column_family, bool invalidate_page_cache,
                             Env::IOPriority io_priority, bool skip_filters)
    : SstFileWriter(env_options, options, options.comparator, column_family, invalidate_page_cache,
                    io_priority, skip_filters) {}

SstFileWriter::SstFileWriter(const EnvOptions&, const Options& options,
                             const Comparator* user_comparator, ColumnFamilyHandle* column_family,
                             bool, Env::IOPriority, bool)
    : rep_(std::make_unique<Rep>()) {
  rep_->comparator = user_comparator != nullptr ? user_comparator : options.comparator;
  if (column_family == nullptr) return;
  rep_->comparator = column_family->GetComparator();
  rep_->family = column_family->GetID();
}

SstFileWriter::~SstFileWriter() = default;

Status SstFileWriter::Open(const std::string& file_path) {
  const Comparator* const comparator = rep_->comparator;
  const uint64_t family = rep_->family;
  rep_ = std::make_unique<Rep>();
  rep_->comparator = comparator;
  rep_->family = family;
  rep_->path = file_path;
  Status s = rep_->file.open(file_path);
  if (s.ok()) s = rep_->file.append(hawthorn::rocks::kEntriesMagic);
  rep_->bytes = hawthorn::rocks::kEntriesMagic.size();
  return s;
}

Status SstFileWriter::Put(const Slice& user_key, const Slice& value) {
  return rep_->add(BatchTag::kPut, user_key, &value);
}
Status SstFileWriter::PutEntity(const Slice& user_key, const WideColumns& columns) {
  std::string bytes;
  Status s = hawthorn::rocks::encode_columns(columns, &bytes);
  if (!s.ok()) return s;
  const Slice value(bytes);
  return rep_->add(BatchTag::kPutEntity, user_key, &value);
}
Status SstFileWriter::Merge(const Slice& user_key, const Slice& value) {
  return rep_->add(BatchTag::kMerge, user_key, &value);
}
Status SstFileWriter::Delete(const Slice& user_key) {
  return rep_->add(BatchTag::kDelete, user_key, nullptr);
}
Status SstFileWriter::DeleteRange(const Slice& begin_key, const Slice& end_key) {
  return rep_->add(BatchTag::kDeleteRange, begin_key, &end_key);
}
Status SstFileWriter::Finish(ExternalSstFileInfo* file_info) { return rep_->finish(file_info); }
uint64_t SstFileWriter::FileSize() { return rep_->bytes + rep_->block.size(); }

}  // namespace rocksdb
