#include "db/repair_target.h"

#include <algorithm>

#include "base/bytes.h"
#include "space/space.h"
#include "tree/run_builder.h"

namespace hawthorn::db {

namespace {
using format::ExtentAddress;
constexpr uint32_t kCopyBlocks = 256;
// About, of what is made anew: a container whose values stood in extents has them in its run then.
constexpr size_t kRunBytes = size_t{16} << 20;
}  // namespace

bool RepairTarget::free(const ExtentAddress& address) const {
  if (address.blocks == 0) return true;
  auto next = taken_.lower_bound({address.file, address.block});
  if (next != taken_.end() && next->first.first == address.file &&
      next->first.second < uint64_t{address.block} + address.blocks) {
    return false;
  }
  if (next == taken_.begin()) return true;
  --next;
  return next->first.first != address.file ||
         uint64_t{next->first.second} + next->second <= address.block;
}

bool RepairTarget::free(const format::ContainerRecord& record) const {
  bool is_free = free(record.run);
  for (const format::ValueExtentRecord& value : record.values) is_free &= free(value.address);
  for (const ExtentAddress& large : record.large) is_free &= free(large);
  return is_free;
}

void RepairTarget::take(const ExtentAddress& address) {
  if (address.blocks != 0) taken_[{address.file, address.block}] = address.blocks;
}

Status RepairTarget::write(const ExtentAddress& address, const char* bytes) {
  File& to = files_[address.file];
  os::FileSystem& files = *source_.machine().files;
  const std::string name = space::data_file_name(address.file);
  if (to.file == nullptr) {
    auto file = files.open_file(directory_ + "/" + name, {.create = true});
    if (!file.ok()) return file.status();
    to.file = std::move(file).value();
    // As large as it was: what is free in it is used again.
    to.blocks = source_.size_of(name) / kRepairBlock;
    if (Status s = to.file->truncate(to.blocks * kRepairBlock); !s.ok()) return s;
  }
  bytes_copied_ += size_t{address.blocks} * kRepairBlock;
  return to.file->write_at(uint64_t{address.block} * kRepairBlock,
                           {bytes, size_t{address.blocks} * kRepairBlock});
}

Status RepairTarget::copy(const ExtentAddress& address) {
  RepairBuffer buffer(size_t{std::min(address.blocks, kCopyBlocks)} * kRepairBlock);
  std::vector<bool> readable;
  for (uint32_t at = 0; at < address.blocks; at += kCopyBlocks) {
    const ExtentAddress part{address.file, address.block + at,
                             std::min(kCopyBlocks, address.blocks - at)};
    source_.read_blocks(part, buffer.data(), &readable);
    if (Status s = write(part, buffer.data()); !s.ok()) return s;
  }
  take(address);
  return {};
}

Status RepairTarget::copy(const format::ContainerRecord& record) {
  Status status = copy(record.run);
  for (const format::ValueExtentRecord& value : record.values) {
    if (status.ok()) status = copy(value.address);
  }
  for (const ExtentAddress& large : record.large) {
    if (status.ok()) status = copy(large);
  }
  return status;
}

Status RepairTarget::append(const char* bytes, uint32_t blocks, ExtentAddress* at) {
  if (new_blocks_ + blocks > format::kFileBlocksMax || new_file_ >= format::kDeviceFilesFirst) {
    return Status(StatusCode::kNoSpace, directory_ + ": what was damaged is too much for one file");
  }
  *at = {new_file_, static_cast<uint32_t>(new_blocks_), blocks};
  new_blocks_ += blocks;
  take(*at);
  return write(*at, bytes);
}

Status RepairTarget::place_large(const std::string& encoded, std::string* placed,
                                 std::vector<ExtentAddress>* extents) {
  Result<format::LargeValue> value = format::decode_large_value(encoded);
  if (!value.ok()) return value.status();
  for (ExtentAddress& extent : value->extents) {
    // Another version of the key may have placed it.
    if (std::find(extents->begin(), extents->end(), extent) != extents->end()) continue;
    if (free(extent)) {
      if (Status s = copy(extent); !s.ok()) return s;
    } else {
      RepairBuffer buffer(size_t{extent.blocks} * kRepairBlock);
      std::vector<bool> readable;
      source_.read_blocks(extent, buffer.data(), &readable);
      if (Status s = append(buffer.data(), extent.blocks, &extent); !s.ok()) return s;
    }
    extents->push_back(extent);
  }
  placed->clear();
  format::append_large_value(*placed, *value);
  return {};
}

Status RepairTarget::build(const format::ContainerRecord& like,
                           std::span<const RepairEntry> entries, uint64_t* next_id,
                           std::vector<format::ContainerRecord>* made) {
  tree::RunBuilder builder;
  size_t at = 0;
  do {
    format::ContainerRecord record;
    record.id = at == 0 ? like.id : (*next_id)++;
    record.tree = like.tree;
    record.low = at == 0 ? like.low : entries[at].key;
    record.cut = like.cut;
    tree::RunShape shape;
    shape.container = record.id;
    shape.tree = record.tree;
    builder.start(shape);
    size_t bytes = 0;
    for (const size_t begin = at; at < entries.size(); ++at) {
      const RepairEntry& entry = entries[at];
      // Versions of a key stay together.
      if (at > begin && bytes > kRunBytes && entry.key != entries[at - 1].key) break;
      bytes += entry.key.size() + entry.value.size() + 32;
      record.max_ts = std::max(record.max_ts, entry.cts);
      std::string placed;
      switch (entry.kind) {
        case tree::EntryKind::kTombstone:
          builder.add_tombstone(entry.key, entry.cts);
          break;
        case tree::EntryKind::kOperands:
          builder.add_operands(entry.key, entry.value, entry.cts);
          break;
        case tree::EntryKind::kLarge:
          if (Status s = place_large(entry.value, &placed, &record.large); !s.ok()) return s;
          builder.add_large(entry.key, placed, entry.cts, entry.expiry);
          break;
        default:
          builder.add_inline(entry.key, entry.value, entry.cts, entry.expiry);
      }
    }
    record.max_ts = std::max(record.max_ts, std::min(like.max_ts, like.cut));
    if (builder.entries() > 0) {
      RepairBuffer image(builder.image_bytes({}));
      record.entries = builder.entries();
      record.wide = builder.wide();
      record.run_checksum = builder.finish({}, record.cut, record.max_ts, image.data());
      format::RunView view;
      if (Status s = format::parse_run(image.data(), image.size(), &view); !s.ok()) return s;
      record.first_heads = view.first_heads != nullptr;
      const auto blocks = static_cast<uint32_t>(image.size() / kRepairBlock);
      if (Status s = append(image.data(), blocks, &record.run); !s.ok()) return s;
    }
    std::sort(record.large.begin(), record.large.end());
    made->push_back(std::move(record));
  } while (at < entries.size());
  return {};
}

Status RepairTarget::sync() {
  for (auto& [number, file] : files_) {
    if (Status s = file.file->sync_data(); !s.ok()) return s;
  }
  return source_.machine().files->sync_directory(directory_);
}

}  // namespace hawthorn::db
