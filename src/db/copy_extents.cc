#include "db/copy_extents.h"

#include <algorithm>
#include <string>

#include "base/bytes.h"
#include "format/backup_layout.h"
#include "os/file.h"

namespace hawthorn::db {
namespace {

using format::ExtentAddress;

constexpr uint64_t kPartBlocks = format::kBackupPartBytesMax / os::kBlockBytes;

void append_address(std::string& to, const ExtentAddress& address) {
  append(to, address.file);
  append(to, address.block);
  append(to, address.blocks);
}

uint64_t end_of(const ExtentAddress& extent) { return uint64_t{extent.block} + extent.blocks; }

// [from, to) in blocks; of one extent if it has a mark.
void add_range(uint64_t from, uint64_t to, const Checksum128* mark, const ExtentAddress& extent,
               std::vector<CopyPart>* parts) {
  for (uint64_t at = from; at < to; at += kPartBlocks) {
    CopyPart part;
    part.offset = at * os::kBlockBytes;
    part.bytes = static_cast<uint32_t>(std::min(kPartBlocks, to - at) * os::kBlockBytes);
    if (mark != nullptr) {
      std::string bytes;
      append(bytes, mark->low);
      append(bytes, mark->high);
      append_address(bytes, extent);
      append(bytes, at - from);
      part.mark = checksum128(bytes.data(), bytes.size());
    }
    parts->push_back(part);
  }
}

}  // namespace

MarkedExtents::MarkedExtents(const Moment& moment) {
  for (const auto& [id, record] : moment.state.containers) mark(record, moment);
  std::sort(extents_.begin(), extents_.end(),
            [](const Marked& a, const Marked& b) { return a.address < b.address; });
}

void MarkedExtents::mark(const format::ContainerRecord& record, const Moment& moment) {
  std::string bytes;
  append(bytes, moment.uuid_low);
  append(bytes, moment.uuid_high);
  append(bytes, record.id);
  append(bytes, uint64_t{record.tree});
  append(bytes, record.cut);
  append(bytes, record.max_ts);
  append(bytes, record.entries);
  append(bytes, record.run_checksum);
  append_address(bytes, record.run);
  append(bytes, uint64_t{record.unpacked_blocks});
  append(bytes, uint64_t{record.wide} | uint64_t{record.first_heads} << 1);
  append(bytes, static_cast<uint64_t>(record.values.size()));
  for (const format::ValueExtentRecord& value : record.values) {
    append_address(bytes, value.address);
    append(bytes, value.bytes);
  }
  for (const ExtentAddress& large : record.large) append_address(bytes, large);
  // Random for each run, and so nothing that a mark of somebody else can have by chance.
  if (record.sealed()) append(bytes, record.seal);
  const Checksum128 container = checksum128(bytes.data(), bytes.size());
  const auto add = [&](const ExtentAddress& address) {
    if (address.blocks != 0) extents_.push_back({address, container});
  };
  add(record.run);
  for (const format::ValueExtentRecord& value : record.values) add(value.address);
  for (const ExtentAddress& large : record.large) add(large);
}

void MarkedExtents::add_parts(const ExtentAddress& range, std::vector<CopyPart>* parts) {
  const uint64_t end = end_of(range);
  uint64_t at = range.block;
  for (; next_ < extents_.size(); ++next_) {
    const Marked& extent = extents_[next_];
    if (extent.address.file > range.file) break;
    if (extent.address.file == range.file && extent.address.block >= end) break;
    if (extent.address.file < range.file || extent.address.block < at ||
        end_of(extent.address) > end) {
      missed_ = true;
      continue;
    }
    add_range(at, extent.address.block, nullptr, extent.address, parts);
    at = end_of(extent.address);
    add_range(extent.address.block, at, &extent.container, extent.address, parts);
  }
  add_range(at, end, nullptr, range, parts);
}

Status MarkedExtents::all_used() const {
  if (!missed_ && next_ == extents_.size()) return {};
  return Status(StatusCode::kCorruption,
                "the manifest lists extents that are free, or that overlap: check tells which");
}

}  // namespace hawthorn::db
