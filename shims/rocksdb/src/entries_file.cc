#include "shims/rocksdb/src/entries_file.h"

#include "shims/rocksdb/src/checksum.h"

namespace hawthorn::rocks {
using S = rocksdb::Status;

namespace {

constexpr size_t kFrameBytes = 2 * sizeof(uint32_t);
constexpr size_t kTailBytes = kFrameBytes + kEntriesTail.size();

bool decode_index(const std::string& bytes, EntriesIndex* index) {
  constexpr size_t kNumbers = 4;
  if (bytes.size() < kNumbers * sizeof(uint64_t)) return false;
  index->entries = fixed_at<uint64_t>(bytes, 0);
  index->ranges = fixed_at<uint64_t>(bytes, sizeof(uint64_t));
  index->others = fixed_at<uint64_t>(bytes, 2 * sizeof(uint64_t));
  index->family = fixed_at<uint64_t>(bytes, 3 * sizeof(uint64_t));
  const char* at = bytes.data() + kNumbers * sizeof(uint64_t);
  const char* const end = bytes.data() + bytes.size();
  for (std::string* string : {&index->comparator, &index->smallest, &index->largest}) {
    rocksdb::Slice found;
    at = read_string(at, end, &found);
    if (at == nullptr) return false;
    *string = found.ToString();
  }
  return at == end && index->ranges <= index->entries;
}

}  // namespace

std::string encode_index(const EntriesIndex& index) {
  std::string bytes;
  for (const uint64_t number : {index.entries, index.ranges, index.others, index.family}) {
    append_fixed(number, &bytes);
  }
  for (const std::string* string : {&index.comparator, &index.smallest, &index.largest}) {
    append_string(*string, &bytes);
  }
  const std::string head = bytes;
  append_fixed(static_cast<uint32_t>(head.size()), &bytes);
  append_fixed(crc32c(head), &bytes);
  bytes += kEntriesTail;
  return bytes;
}

S EntriesReader::open(const std::string& path) {
  path_ = path;
  if (S s = file_.open(path); !s.ok()) return s;
  const uint64_t bytes = file_.bytes();
  std::string head;
  std::string tail;
  if (bytes < kEntriesMagic.size() + kTailBytes) return corrupt("is no file of SstFileWriter's");
  if (S s = file_.read(0, kEntriesMagic.size(), &head); !s.ok()) return s;
  if (head != kEntriesMagic) return corrupt("is no file of SstFileWriter's");
  if (S s = file_.read(bytes - kTailBytes, kTailBytes, &tail); !s.ok()) return s;
  if (std::string_view(tail).substr(kFrameBytes) != kEntriesTail) {
    return corrupt("is cut off, or was not finished");
  }
  const auto size = fixed_at<uint32_t>(tail, 0);
  if (size > bytes - kTailBytes - kEntriesMagic.size()) return corrupt("has a damaged tail");
  blocks_end_ = bytes - kTailBytes - size;
  if (S s = file_.read(blocks_end_, size, &head); !s.ok()) return s;
  if (crc32c(head) != fixed_at<uint32_t>(tail, sizeof(uint32_t)) || !decode_index(head, &index_)) {
    return corrupt("has a damaged index");
  }
  rewind();
  return S::OK();
}

S EntriesReader::read_block(uint64_t at, std::string* block, uint64_t* behind) const {
  std::string frame;
  if (blocks_end_ - at < kFrameBytes) return corrupt("has a damaged block");
  if (S s = file_.read(at, kFrameBytes, &frame); !s.ok()) return s;
  const auto size = fixed_at<uint32_t>(frame, 0);
  if (size == 0 || size > blocks_end_ - at - kFrameBytes) return corrupt("has a damaged block");
  if (S s = file_.read(at + kFrameBytes, size, block); !s.ok()) return s;
  if (crc32c(*block) != fixed_at<uint32_t>(frame, sizeof(uint32_t))) {
    return corrupt("has a damaged block");
  }
  *behind = at + kFrameBytes + size;
  return S::OK();
}

S EntriesReader::record_at(const std::string& block, size_t* in_block, BatchRecord* record) const {
  const char* const end = block.data() + block.size();
  const char* const behind = read_record(block.data() + *in_block, end, record);
  if (behind == nullptr || record->family != 0) return corrupt("has a record that is none");
  switch (record->tag) {
    case BatchTag::kPut:
    case BatchTag::kPutEntity:
    case BatchTag::kMerge:
    case BatchTag::kDelete:
    case BatchTag::kDeleteRange:
      break;
    default:
      return corrupt("has a record that is none");
  }
  *in_block = static_cast<size_t>(behind - block.data());
  return S::OK();
}

S EntriesReader::next(BatchRecord* record, bool* found) {
  *found = false;
  if (in_block_ == block_.size()) {
    if (at_ == blocks_end_) return seen_ == index_.entries ? S::OK() : corrupt("lacks entries");
    if (S s = read_block(at_, &block_, &at_); !s.ok()) return s;
    in_block_ = 0;
  }
  if (S s = record_at(block_, &in_block_, record); !s.ok()) return s;
  *found = true;
  ++seen_;
  return S::OK();
}

}  // namespace hawthorn::rocks
