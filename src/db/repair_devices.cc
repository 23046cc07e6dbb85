// Repair of databases whose data lie on devices: the source's devices, which are read only, and the
// files that stand for devices in the target, where extents keep their places.

#include <algorithm>
#include <set>

#include "base/bytes.h"
#include "db/copy_devices.h"
#include "db/manifest_files.h"
#include "db/repair_impl.h"
#include "space/device_image.h"
#include "space/device_probe.h"
#include "space/devices.h"

namespace hawthorn::db {

namespace {
using format::DeviceLabel;
using format::DeviceRecord;

Status invalid(const std::string& path, std::string_view why) {
  return {StatusCode::kInvalidArgument, path + ": " + std::string(why)};
}

// Why a device is not as the manifest's record says; empty: it is.
std::string doubt(const DeviceRecord& record, const DeviceLabel& label, uint64_t blocks) {
  const uint64_t least = record.generation == 1 ? 0 : record.generation;
  if (label.generation < least || label.generation > record.generation + 1) {
    return "it is of another time than the manifest (generation " +
           std::to_string(label.generation) + ", the manifest has " +
           std::to_string(record.generation) + "): what was written since is not there";
  }
  return blocks < record.blocks ? "it is smaller than it was" : std::string();
}
}  // namespace

// The device that was given, where its label says which one it is; without a label that holds, the
// one that the manifest says was at this path. Errors: a label of another database.
Status Repair::take_device(const std::string& path) {
  const std::vector<DeviceRecord>& records = manifest_.state.devices;
  const auto named = std::find_if(records.begin(), records.end(),
                                  [&](const DeviceRecord& record) { return record.path == path; });
  Result<space::ProbedDevice> device = space::probe_device(machine_, path);
  if (!device.ok() && device.status().is(StatusCode::kNotSupported)) return device.status();
  uint32_t index = named == records.end() ? 0 : named->index;
  const bool labelled = device.ok() && device->label.ok();
  std::string why;
  if (labelled) {
    const DeviceLabel& label = *device->label;
    const bool ours = !known_uuid_ ||
                      (label.uuid_low == source_uuid_low_ && label.uuid_high == source_uuid_high_);
    if (!ours) return invalid(path, "carries the label of another database");
    known_uuid_ = true;
    source_uuid_low_ = label.uuid_low;
    source_uuid_high_ = label.uuid_high;
    index = label.index;
    if (index >= format::kDevicesMax) return invalid(path, "its label has a number out of range");
    if (source_.has_device(index)) return invalid(path, "is a device that was given twice");
    if (index < records.size()) why = doubt(records[index], label, device->blocks);
  } else {
    why = device.ok() ? "its label is damaged: " + std::string(device->label.status().message())
                      : std::string(device.status().message());
    if (named == records.end()) why += "; which one it is cannot be told, and it is not read";
  }
  if (!why.empty()) {
    RepairLoss& loss = lose(RepairLoss::Kind::kDataFile, why);
    loss.file = path;
  }
  if (!device.ok() || (!labelled && named == records.end())) return {};
  source_.add_device(index, std::move(device->file));
  return {};
}

Status Repair::open_devices() {
  const bool featured = (manifest_.features.incompatible & format::kFeatureDevices) != 0;
  std::vector<DeviceRecord>& records = manifest_.state.devices;
  for (DeviceRecord& record : records) {
    Result<std::string> path = space::find_device(machine_, source_.directory(), record);
    if (!path.ok()) return path.status();
    record.path = *std::move(path);
  }
  std::vector<std::string> paths = options_.database.devices;
  on_devices_ = featured || !records.empty() || (!manifest_.superblock_read && !paths.empty());
  if (!on_devices_) {
    if (paths.empty()) return {};
    return invalid(source_.directory(), "has its data in files, and devices were given");
  }
  if (paths.empty()) {
    for (const DeviceRecord& record : records) paths.push_back(record.path);
  }
  if (paths.empty()) {
    return invalid(source_.directory(),
                   "its data lie on devices, and which ones stood in the manifest: name them");
  }
  const auto superblock = read_superblock(*machine_.files, source_.directory(), nullptr);
  if (superblock.ok()) {
    known_uuid_ = true;
    source_uuid_low_ = superblock->uuid_low;
    source_uuid_high_ = superblock->uuid_high;
  }
  std::set<std::string> seen;
  for (const std::string& path : paths) {
    if (!seen.insert(path).second) return invalid(path, "is listed twice");
    if (Status s = take_device(path); !s.ok()) return s;
  }
  for (const DeviceRecord& record : records) {
    if (source_.has_device(record.index)) continue;
    RepairLoss& loss = lose(RepairLoss::Kind::kDataFile, "the device is not there");
    loss.file = record.path;
    loss.bytes = record.blocks * kRepairBlock;
  }
  uint32_t count = static_cast<uint32_t>(records.size());
  for (const uint32_t file : source_.data_files()) {
    if (file >= format::kDeviceFilesFirst) {
      count = std::max(count, file - format::kDeviceFilesFirst + 1);
    }
  }
  if (count >= format::kDevicesMax) {
    return {StatusCode::kNotSupported,
            source_.directory() + ": repair of a database with as many devices as there may be"};
  }
  devices_ = count;
  return {};
}

// Files that stand for devices, with the source's places, and one more with room for what is new.
// All have their space, as a file that stands for a device has.
Status Repair::make_devices(LoadedManifest* loaded) {
  loaded->state.devices.clear();
  if (!on_devices_) return {};
  if (loaded->uuid_low == 0 && loaded->uuid_high == 0) {
    loaded->uuid_low = machine_.random->next();
    loaded->uuid_high = machine_.random->next();
  }
  uint64_t log_bytes = 0;
  for (const std::string& name : source_.names()) {
    if (name.starts_with("wal.")) log_bytes += source_.size_of(name);
  }
  const uint64_t room = room_for_new(log_bytes, data_->bytes_copied());
  space::DeviceOptions options;
  options.directory = target_;
  options.direct = false;
  for (uint32_t index = 0; index <= devices_; ++index) {
    uint64_t bytes = data_->end_block(format::kDeviceFilesFirst + index) * kRepairBlock;
    if (index == devices_) bytes += room;
    bytes = std::max(bytes + uint64_t{format::kDeviceTailBlocks} * kRepairBlock,
                     space::kDeviceBytesMin);
    const std::string path = join(target_, space::device_image_name(index));
    if (Status s = data_->resize(format::kDeviceFilesFirst + index, bytes); !s.ok()) return s;
    options.paths.push_back(path);
  }
  if (Status s = data_->sync(); !s.ok()) return s;
  data_->close();
  // Blank where labels are, as those of a database that is created.
  Result<std::unique_ptr<space::Devices>> devices = space::Devices::open(machine_, options);
  if (!devices.ok()) return devices.status();
  for (const uint64_t generation : {0, 1}) {
    if (Status s = (*devices)->label(loaded->uuid_low, loaded->uuid_high, generation); !s.ok()) {
      return s;
    }
  }
  loaded->state.devices = (*devices)->records(1);
  loaded->features.incompatible |= format::kFeatureDevices;
  (*devices)->close();
  return {};
}

}  // namespace hawthorn::db
