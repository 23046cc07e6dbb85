#include "db/repair_target.h"

#include <algorithm>
#include <cstring>

#include "base/bytes.h"
#include "base/checksum.h"
#include "db/incomplete.h"
#include "db/make_directory.h"
#include "db/manifest_files.h"
#include "format/device_label.h"
#include "space/device_image.h"
#include "space/space.h"
#include "tree/run_builder.h"
#include "tree/sealed_blocks.h"

namespace hawthorn::db {

namespace {
using format::ExtentAddress;
constexpr uint32_t kCopyBlocks = 256;
// About, of what is made anew: a container whose values stood in extents has them in its run then.
constexpr size_t kRunBytes = size_t{16} << 20;

// A run as it stands on disk, in its place.
Status seal(os::DataKeys& keys, std::span<char> image, format::ContainerRecord* record) {
  format::RunHeader header;
  std::memcpy(&header, image.data(), sizeof(header));
  const size_t header_bytes = size_t{header.header_blocks} * kRepairBlock;
  char* const blocks = image.data() + header_bytes;
  const auto count = static_cast<uint32_t>((image.size() - header_bytes) / kRepairBlock);
  auto* const table = reinterpret_cast<uint32_t*>(image.data() + format::kRunTableOffset);
  Status status = tree::seal_blocks(keys, blocks, count, blocks, table);
  if (!status.ok()) return status;
  RepairBuffer area(header_bytes);
  if (!area.ok()) return {StatusCode::kOutOfMemory, "no memory for the header of an index run"};
  status = tree::seal_header(keys, image.data(), header_bytes, area.data(), &record->seal);
  if (!status.ok()) return status;
  // Of the area as it is when it is opened.
  record->run_checksum = checksum64(image.data(), header_bytes, 0);
  std::memcpy(image.data(), area.data(), header_bytes);
  return {};
}
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

Status RepairTarget::open(uint32_t number, File* to) {
  const std::string name = number < format::kDeviceFilesFirst
                               ? space::data_file_name(number)
                               : space::device_image_name(number - format::kDeviceFilesFirst);
  auto file = source_.machine().files->open_file(join(directory_, name),
                                                 {.create = true, .in_place = true});
  if (!file.ok()) return file.status();
  to->file = std::move(file).value();
  return {};
}

uint64_t RepairTarget::end_block(uint32_t number) const {
  const auto found = files_.find(number);
  return found == files_.end() ? 0 : found->second.end;
}

Status RepairTarget::resize(uint32_t number, uint64_t bytes) {
  File& to = files_[number];
  if (to.file == nullptr) {
    if (Status s = open(number, &to); !s.ok()) return s;
  }
  return to.file->truncate(bytes);
}

Status RepairTarget::write(const ExtentAddress& address, const char* bytes) {
  File& to = files_[address.file];
  if (to.file == nullptr) {
    if (Status s = open(address.file, &to); !s.ok()) return s;
    // As large as it was: what is free in it is used again.
    if (address.file < format::kDeviceFilesFirst) {
      const uint64_t blocks = source_.size_of(space::data_file_name(address.file)) / kRepairBlock;
      if (Status s = to.file->truncate(blocks * kRepairBlock); !s.ok()) return s;
    }
  }
  to.end = std::max(to.end, uint64_t{address.block} + address.blocks);
  bytes_copied_ += size_t{address.blocks} * kRepairBlock;
  return to.file->write_at(uint64_t{address.block} * kRepairBlock,
                           {bytes, size_t{address.blocks} * kRepairBlock});
}

Status RepairTarget::begin() {
  os::FileSystem& files = *source_.machine().files;
  if (Status s = make_durable_directory(files, directory_); !s.ok()) return s;
  const std::string marker = join(directory_, kIncompleteName);
  auto mark = files.open_file(marker, {.create = true});
  if (!mark.ok()) return mark.status();
  if (Status s = (*mark)->sync_data(); !s.ok()) return s;
  // As a database that is open: neither another repair nor who would create one is here meanwhile.
  auto file = files.open_file(join(directory_, kLockName), {.create = true, .locks = true});
  if (!file.ok()) return file.status();
  if (Status s = (*file)->lock_exclusive(); !s.ok()) return s;
  lock_ = std::move(file).value();
  const Result<std::vector<std::string>> names = files.list(directory_);
  if (!names.ok()) return names.status();
  for (const std::string& name : *names) {
    if (name == kIncompleteName || name == kLockName) continue;
    return Status(StatusCode::kInvalidArgument, directory_ + " is not empty: it holds " + name);
  }
  return files.sync_directory(directory_);
}

Status RepairTarget::finish() {
  os::FileSystem& files = *source_.machine().files;
  if (Status s = files.sync_directory(directory_); !s.ok()) return s;
  if (Status s = files.remove(join(directory_, kIncompleteName)); !s.ok()) return s;
  lock_.reset();
  return files.sync_directory(directory_);
}

Status RepairTarget::move(const ExtentAddress& from, const ExtentAddress& to) {
  RepairBuffer buffer(size_t{std::min(from.blocks, kCopyBlocks)} * kRepairBlock);
  if (!buffer.ok()) return Status(StatusCode::kOutOfMemory, "no memory for a copy");
  std::vector<bool> readable;
  for (uint32_t at = 0; at < from.blocks; at += kCopyBlocks) {
    const uint32_t blocks = std::min(kCopyBlocks, from.blocks - at);
    const ExtentAddress part{from.file, from.block + at, blocks};
    source_.read_blocks(part, buffer.data(), &readable);
    if (std::find(readable.begin(), readable.end(), false) != readable.end()) {
      return Status(StatusCode::kIoError,
                    source_.directory() + "/" + space::data_file_name(part.file) + " at " +
                        std::to_string(uint64_t{part.block} * kRepairBlock) +
                        " could be read, and cannot any more; make the repair again");
    }
    source_.mend(part, buffer.data());
    if (Status s = write({to.file, to.block + at, blocks}, buffer.data()); !s.ok()) return s;
  }
  return {};
}

Status RepairTarget::copy(const ExtentAddress& address) {
  if (address.blocks == 0) return {};
  if (!source_.holds(address)) {
    return Status(StatusCode::kIoError, source_.directory() + "/" +
                                            space::data_file_name(address.file) +
                                            " has become shorter; make the repair again");
  }
  take(address);
  return move(address, address);
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

Status RepairTarget::place(uint32_t blocks, ExtentAddress* at) {
  const bool device = new_file_ >= format::kDeviceFilesFirst;
  if (device && new_blocks_ == 0) new_blocks_ = format::kDeviceHeadBlocks;
  if (new_blocks_ + blocks > format::kFileBlocksMax || new_file_ == format::kDeviceFilesFirst - 1) {
    return Status(StatusCode::kNoSpace, directory_ + ": what was damaged is too much for one file");
  }
  *at = {new_file_, static_cast<uint32_t>(new_blocks_), blocks};
  new_blocks_ += blocks;
  take(*at);
  return {};
}

Status RepairTarget::place_large(const std::string& encoded, std::string* placed,
                                 ThinVector<ExtentAddress>* extents) {
  Result<format::LargeValue> value = format::decode_large_value(encoded);
  if (!value.ok()) return value.status();
  for (ExtentAddress& extent : value->extents) {
    // Another version of the key may have placed it.
    if (std::find(extents->begin(), extents->end(), extent) != extents->end()) continue;
    if (free(extent)) {
      if (Status s = copy(extent); !s.ok()) return s;
    } else {
      const ExtentAddress from = extent;
      if (Status s = place(from.blocks, &extent); !s.ok()) return s;
      if (Status s = move(from, extent); !s.ok()) return s;
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
    record.low = at == 0 ? like.low : ThinString(entries[at].key);
    record.cut = like.cut;
    tree::RunShape shape;
    shape.container = record.id;
    shape.tree = record.tree;
    shape.sealed = source_.keys() != nullptr;
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
      if (!image.ok()) return Status(StatusCode::kOutOfMemory, "no memory for an index run");
      record.entries = builder.entries();
      record.wide = builder.wide();
      record.run_checksum = builder.finish({}, record.cut, record.max_ts, image.data());
      format::RunView view;
      if (Status s = format::parse_run(image.data(), image.size(), &view); !s.ok()) return s;
      record.first_heads = view.first_heads != nullptr;
      record.separated = tree::runs_have_separators;
      record.separator_blocks = view.header->separator_blocks;
      const auto blocks = static_cast<uint32_t>(image.size() / kRepairBlock);
      if (source_.keys() != nullptr) {
        if (Status s = seal(*source_.keys(), {image.data(), image.size()}, &record); !s.ok())
          return s;
      }
      if (Status s = place(blocks, &record.run); !s.ok()) return s;
      if (Status s = write(record.run, image.data()); !s.ok()) return s;
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
