#include "shims/rocksdb/src/entries_walk.h"

#include <algorithm>

namespace hawthorn::rocks {

using S = rocksdb::Status;

S EntriesMap::read(const EntriesReader& file, const rocksdb::Comparator& comparator) {
  std::string block;
  BatchRecord record;
  for (uint64_t at = EntriesReader::blocks_begin(); at != file.blocks_end();) {
    const uint64_t block_at = at;
    if (S s = file.read_block(at, &block, &at); !s.ok()) return s;
    ++properties.num_data_blocks;
    for (size_t in_block = 0; in_block < block.size();) {
      S s = file.record_at(block, &in_block, &record);
      if (s.ok()) s = add(file, comparator, block_at, record);
      if (!s.ok()) return s;
    }
  }
  if (properties.num_entries != file.index().entries ||
      properties.num_range_deletions != file.index().ranges) {
    return S::Corruption(file.path(), "has other entries than its index says");
  }
  finish(file);
  return S::OK();
}

S EntriesMap::add(const EntriesReader& file, const rocksdb::Comparator& comparator,
                  uint64_t block_at, const BatchRecord& record) {
  ++properties.num_entries;
  properties.raw_key_size += record.key.size();
  const bool has_value = record.tag != BatchTag::kDelete;
  if (has_value) properties.raw_value_size += record.value.size();
  if (record.tag == BatchTag::kMerge) ++properties.num_merge_operands;
  if (record.tag == BatchTag::kDelete) ++properties.num_deletions;
  if (record.tag == BatchTag::kDeleteRange) {
    ++properties.num_deletions;
    ++properties.num_range_deletions;
    return S::OK();
  }
  if (any_ && comparator.Compare(record.key, last_) <= 0) {
    return S::Corruption(file.path(), "has keys out of order");
  }
  if (blocks.empty() || blocks.back().at != block_at) {
    blocks.push_back({block_at, record.key.ToString()});
  }
  last_.assign(record.key.data(), record.key.size());
  any_ = true;
  return S::OK();
}

void EntriesMap::finish(const EntriesReader& file) {
  properties.data_size = file.blocks_end() - EntriesReader::blocks_begin();
  properties.index_size = file.bytes() - file.blocks_end();
  properties.tail_start_offset = file.blocks_end();
  properties.format_version = kEntriesVersion;
  properties.comparator_name = file.index().comparator;
  if (file.index().family != kAnyFamily) properties.column_family_id = file.index().family;
}

bool EntriesWalk::load(size_t block) {
  if (block == block_ && block != kNone) return true;
  leave();
  if (!status_.ok() || block >= map_->blocks.size()) return false;
  uint64_t behind = 0;
  status_ = file_->read_block(map_->blocks[block].at, &bytes_, &behind);
  BatchRecord record;
  for (size_t in_block = 0; status_.ok() && in_block < bytes_.size();) {
    status_ = file_->record_at(bytes_, &in_block, &record);
    if (status_.ok() && record.tag != BatchTag::kDeleteRange) records_.push_back(record);
  }
  // Somebody may have written over the file since.
  if (!status_.ok() || records_.empty()) {
    leave();
    return false;
  }
  block_ = block;
  return true;
}

void EntriesWalk::seek(const rocksdb::Slice& key) {
  const auto behind = std::partition_point(
      map_->blocks.begin(), map_->blocks.end(),
      [&](const auto& block) { return comparator_->Compare(block.first, key) <= 0; });
  const auto place = static_cast<size_t>(behind - map_->blocks.begin());
  if (!load(place == 0 ? 0 : place - 1)) return leave();
  const auto found = std::partition_point(
      records_.begin(), records_.end(),
      [&](const BatchRecord& record) { return comparator_->Compare(record.key, key) < 0; });
  to(static_cast<size_t>(found - records_.begin()));
  if (found == records_.end() && load(block_ + 1)) to(0);
}

void EntriesWalk::next() {
  if (++at_ < records_.size()) return;
  load(block_ + 1) ? to(0) : leave();
}

void EntriesWalk::prev() {
  if (at_ > 0) {
    --at_;
  } else if (block_ == 0) {
    leave();
  } else {
    load(block_ - 1) ? to(records_.size() - 1) : leave();
  }
}

}  // namespace hawthorn::rocks
