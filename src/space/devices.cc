#include "space/devices.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "space/device_image.h"
#include "space/device_probe.h"

namespace hawthorn::space {
namespace {

using format::DeviceLabel;
using os::kBlockBytes;

constexpr uint64_t kHeadBytes = uint64_t{format::kDeviceHeadBlocks} * kBlockBytes;
constexpr uint64_t kTailBytes = uint64_t{format::kDeviceTailBlocks} * kBlockBytes;
constexpr size_t kChunkBytes = size_t{64} << 10;
constexpr uint64_t kLabelLockWaitUs = 1000;
constexpr int kLabelLockAttemptsMax = 2000;

struct FreeAligned {
  void operator()(char* memory) const {
    ::operator delete[](memory, std::align_val_t{kBlockBytes});
  }
};
using Buffer = std::unique_ptr<char[], FreeAligned>;
// Direct I/O needs aligned memory.
Buffer make_buffer(size_t bytes) {
  Buffer buffer(static_cast<char*>(::operator new[](bytes, std::align_val_t{kBlockBytes})));
  std::memset(buffer.get(), 0, bytes);
  return buffer;
}

Status invalid(const std::string& path, const std::string& why) {
  return Status(StatusCode::kInvalidArgument, path + ": " + why);
}

struct Signature {
  const char* name;
  uint64_t offset;
  std::string_view bytes;
};

// Only for the message: anything that is not zero is refused.
std::string name_signature(std::string_view head) {
  static constexpr Signature signatures[] = {
      {"an ext2, ext3 or ext4 file system", 1080, "\x53\xef"},
      {"an XFS file system", 0, "XFSB"},
      {"a Btrfs file system", 65600, "_BHRfS_M"},
      {"a GUID partition table", 512, "EFI PART"},
      {"an LVM volume", 536, "LVM2 001"},
      {"an encrypted volume", 0, "LUKS\xba\xbe"},
      {"swap space", 4086, "SWAPSPACE2"},
      {"a partition table", 510, "\x55\xaa"},
  };
  for (const Signature& signature : signatures) {
    if (head.substr(signature.offset, signature.bytes.size()) == signature.bytes) {
      return signature.name;
    }
  }
  return "data";
}

// The offset of the first byte of [from, to) that is not zero, or `to`.
Result<uint64_t> first_used(os::File& file, uint64_t from, uint64_t to, std::string* head) {
  const Buffer buffer = make_buffer(kChunkBytes);
  for (uint64_t at = from; at < to; at += kChunkBytes) {
    const auto bytes = static_cast<size_t>(std::min<uint64_t>(kChunkBytes, to - at));
    if (Status s = file.read_at(at, {buffer.get(), bytes}); !s.ok()) return s;
    if (head != nullptr) head->append(buffer.get(), bytes);
    if (head != nullptr) continue;
    const char* const begin = buffer.get();
    const char* const end = begin + bytes;
    const char* const used = std::find_if(begin, end, [](char byte) { return byte != 0; });
    if (used != end) return at + static_cast<uint64_t>(used - begin);
  }
  if (head != nullptr) {
    const size_t used = head->find_first_not_of('\0');
    if (used != std::string::npos) return from + used;
  }
  return to;
}

// A device that shall be taken must be blank where other formats have their signatures.
Status check_blank(os::File& file, uint64_t bytes) {
  std::string head;
  Result<uint64_t> used = first_used(file, 0, kHeadBytes, &head);
  if (!used.ok()) return used.status();
  uint64_t offset = *used;
  std::string what = offset < kHeadBytes ? name_signature(head) : std::string();
  if (what.empty()) {
    const uint64_t tail = bytes / kBlockBytes * kBlockBytes - kTailBytes;
    used = first_used(file, tail, tail + kTailBytes, nullptr);
    if (!used.ok()) return used.status();
    offset = *used;
    if (offset == tail + kTailBytes) return {};
    what = "data";
  }
  return invalid(file.path(), "holds " + what + " (byte " + std::to_string(offset) +
                                  " is not zero), and no label of this database. If nothing of it "
                                  "is needed, fill its first megabyte and its last 64 KB with "
                                  "zeros (wipefs -a alone does not)");
}

Status write_slot(os::File& file, const DeviceLabel& label) {
  const std::string bytes = format::encode_device_label(label);
  const Buffer buffer = make_buffer(bytes.size());
  std::memcpy(buffer.get(), bytes.data(), bytes.size());
  const uint64_t offset = label.generation % format::kDeviceSlots * format::kDeviceSlotBytes;
  if (Status s = file.write_at(offset, {buffer.get(), bytes.size()}); !s.ok()) return s;
  return file.sync_data();
}

Result<DeviceLabel> read_label(os::File& file) {
  constexpr size_t kBytes = format::kDeviceSlots * format::kDeviceSlotBytes;
  const Buffer buffer = make_buffer(kBytes);
  if (Status s = file.read_at(0, {buffer.get(), kBytes}); !s.ok()) return s;
  Result<DeviceLabel> label = format::choose_device_label({buffer.get(), kBytes});
  if (label.ok() || label.status().is_not_found()) return label;
  return Status(label.status().code(), file.path() + ": " + std::string(label.status().message()));
}

std::string uuid_text(const DeviceLabel& label) {
  static const char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const uint64_t half : {label.uuid_high, label.uuid_low}) {
    for (int shift = 60; shift >= 0; shift -= 4) text += kDigits[half >> shift & 15];
  }
  return text;
}

std::string name_of(const format::DeviceRecord& record) {
  return "device " + std::to_string(record.index) + ", last at " + record.path;
}

// A lock that is still held belongs to a killed process with writes in flight, and goes with them.
Status lock(const os::Machine& machine, os::File& file) {
  for (int attempt = 1;; ++attempt) {
    Status status = file.lock_exclusive();
    if (!status.is(StatusCode::kBusy) || attempt >= kLabelLockAttemptsMax) return status;
    machine.clock->sleep_us(kLabelLockWaitUs);
  }
}

}  // namespace

Status Devices::open_file(const std::string& path, const DeviceOptions& options, Device& device) {
  os::OpenFlags flags{.read_only = options.read_only,
                      .direct = options.direct && direct_,
                      .device = true,
                      .locks = true};
  // As for a lock: what a killed process had open is closed when its I/O is complete.
  for (int attempt = 1;; ++attempt) {
    auto file = machine_.files->open_file(path, flags);
    if (file.status().is(StatusCode::kNotSupported) && flags.direct) {
      flags.direct = false;
      direct_ = false;
      continue;
    }
    if (file.ok()) {
      device.file = std::make_unique<DataFile>(path);
      device.file->open(*std::move(file));
      return options.read_only ? Status() : lock(machine_, *device.file);
    }
    if (file.status().is_not_found()) return invalid(path, "no such device");
    if (!file.status().is(StatusCode::kBusy) || attempt >= kLabelLockAttemptsMax) {
      return file.status();
    }
    machine_.clock->sleep_us(kLabelLockWaitUs);
  }
}

Result<Devices::Device> Devices::open_one(const std::string& path, const DeviceOptions& options) {
  Device device;
  device.path = path;
  device.written = std::make_unique<std::atomic<bool>>(false);
  if (Status s = open_file(path, options, device); !s.ok()) return s;
  const Result<uint64_t> bytes = device.file->size();
  if (!bytes.ok()) return bytes.status();
  if (*bytes < kDeviceBytesMin) {
    return invalid(path, "has " + std::to_string(*bytes) + " bytes, the least is " +
                             std::to_string(kDeviceBytesMin));
  }
  device.blocks = std::min(*bytes / kBlockBytes, format::kFileBlocksMax);
  Result<DeviceLabel> label = read_label(*device.file);
  if (label.ok()) {
    device.label = *label;
    device.labelled = true;
    if (Status s = check_label(device, options); !s.ok()) return s;
    // Left by a creation, or an addition, that was cut short.
    device.labelled = device.label.index < options.records.size();
    return device;
  }
  if (!label.status().is_not_found()) return label.status();
  if (Status s = check_blank(*device.file, *bytes); !s.ok()) return s;
  return device;
}

Status Devices::check_label(const Device& device, const DeviceOptions& options) {
  const DeviceLabel& label = device.label;
  const bool ours = label.uuid_low == options.uuid_low && label.uuid_high == options.uuid_high;
  // Of a database that was never there.
  if (options.records.empty() && label.generation == 0) return {};
  if (options.records.empty() || !ours) {
    return invalid(device.path, "carries the label of another database (uuid " + uuid_text(label) +
                                    ", device " + std::to_string(label.index) +
                                    "). If that is gone, fill its first 8192 bytes with zeros");
  }
  if (label.index >= options.records.size()) return {};
  const format::DeviceRecord& record = options.records[label.index];
  const uint64_t least = record.generation == 1 ? 0 : record.generation;
  if (label.generation < least) {
    return Status(StatusCode::kCorruption,
                  device.path + ": is a copy of device " + std::to_string(label.index) +
                      " of an earlier time (generation " + std::to_string(label.generation) +
                      ", the database has " + std::to_string(record.generation) + ")");
  }
  if (label.generation > record.generation + 1) {
    return Status(StatusCode::kCorruption,
                  device.path + ": the directory is a copy of an earlier time than device " +
                      std::to_string(label.index) + " (generation " +
                      std::to_string(label.generation) + ", the directory has " +
                      std::to_string(record.generation) + ")");
  }
  if (device.blocks < record.blocks) {
    return Status(StatusCode::kCorruption, device.path + ": has " + std::to_string(device.blocks) +
                                               " blocks of 4096 bytes, " +
                                               std::to_string(record.blocks) + " before");
  }
  return {};
}

// By the index in the label, whatever order they are listed in; those that are new come behind.
Status Devices::order(std::vector<Device> found, const DeviceOptions& options) {
  devices_.resize(options.records.size());
  for (Device& device : found) {
    if (!device.labelled) continue;
    Device& place = devices_[device.label.index];
    if (place.file != nullptr) {
      return invalid(device.path, "is the same device of the database as " + place.path);
    }
    place = std::move(device);
  }
  for (const format::DeviceRecord& record : options.records) {
    if (devices_[record.index].file != nullptr) continue;
    return Status(StatusCode::kInvalidArgument,
                  name_of(record) + ", is missing among the devices that were given");
  }
  for (Device& device : found) {
    if (device.file == nullptr) continue;
    if (options.read_only) return invalid(device.path, "carries no label of this database");
    devices_.push_back(std::move(device));
  }
  if (devices_.size() > format::kDevicesMax) {
    return Status(StatusCode::kInvalidArgument,
                  "no more than " + std::to_string(format::kDevicesMax) + " devices");
  }
  return {};
}

Result<std::unique_ptr<Devices>> Devices::open(const os::Machine& machine,
                                               const DeviceOptions& options) {
  std::unique_ptr<Devices> devices(new Devices(machine, options.directory));
  std::vector<std::string> paths = options.paths;
  if (paths.empty()) {
    for (const format::DeviceRecord& record : options.records) {
      Result<std::string> path = find_device(machine, options.directory, record);
      if (!path.ok()) return path.status();
      paths.push_back(*std::move(path));
    }
  }
  std::vector<Device> found;
  for (const std::string& path : paths) {
    if (path.empty() || path.size() > format::kDevicePathBytesMax) {
      return Status(StatusCode::kInvalidArgument, "a device's path is empty or too long");
    }
    for (const Device& other : found) {
      if (other.path == path) return invalid(path, "is listed twice");
    }
    Result<Device> device = devices->open_one(path, options);
    if (!device.ok()) return device.status();
    found.push_back(*std::move(device));
  }
  if (Status s = devices->order(std::move(found), options); !s.ok()) return s;
  return devices;
}

std::vector<format::DeviceRecord> Devices::records(uint64_t generation) const {
  std::vector<format::DeviceRecord> records;
  for (uint32_t i = 0; i < count(); ++i) {
    const std::string path = recorded_path(directory_, i, devices_[i].path);
    records.push_back({i, generation, devices_[i].blocks, path});
  }
  return records;
}

Status Devices::label(uint64_t uuid_low, uint64_t uuid_high, uint64_t generation) {
  for (uint32_t i = 0; i < count(); ++i) {
    Device& device = devices_[i];
    DeviceLabel label{i, uuid_low, uuid_high, generation, device.blocks};
    // A file that stands for a device has its space before anything relies on that (8 of space.h).
    if (Status s = device.file->allocate(0, device.blocks * kBlockBytes); !s.ok()) return s;
    // The slot that is not written now must be valid.
    if (generation > 0 && (!device.labelled || device.label.generation + 1 < generation)) {
      DeviceLabel before = label;
      before.generation = generation - 1;
      if (Status s = write_slot(*device.file, before); !s.ok()) return s;
    }
    if (Status s = write_slot(*device.file, label); !s.ok()) return s;
    device.label = label;
    device.labelled = true;
  }
  return {};
}

Status Devices::sync() {
  for (Device& device : devices_) {
    // Cleared before the sync: a write that completes during it is marked again.
    if (!device.written->exchange(false, std::memory_order_acq_rel)) continue;
    if (Status s = device.file->sync_data(); !s.ok()) return s;
  }
  return {};
}

std::string Devices::paths() const {
  std::string text;
  for (const Device& device : devices_) text += (text.empty() ? "" : ", ") + device.path;
  return text;
}

void Devices::close() {
  for (Device& device : devices_) device.file->close();
}

Result<ProbedDevice> probe_device(const os::Machine& machine, const std::string& path) {
  auto file = machine.files->open_file(path, {.read_only = true, .device = true, .locks = true});
  if (!file.ok()) return file.status();
  const Result<uint64_t> bytes = (*file)->size();
  if (!bytes.ok()) return bytes.status();
  ProbedDevice device;
  device.file = *std::move(file);
  device.blocks = std::min(*bytes / kBlockBytes, format::kFileBlocksMax);
  device.label = read_label(*device.file);
  if (device.label.status().is(StatusCode::kNotSupported)) return device.label.status();
  return device;
}

Status clear_label(const os::Machine& machine, const std::string& path, uint64_t uuid_low,
                   uint64_t uuid_high) {
  auto file = machine.files->open_file(path, {.device = true, .locks = true});
  if (!file.ok()) {
    return file.status().is_not_found() ? invalid(path, "no such device") : file.status();
  }
  if (Status s = (*file)->lock_exclusive(); !s.ok()) return s;
  const Result<DeviceLabel> label = read_label(**file);
  if (label.status().is_not_found()) return {};
  if (!label.ok()) return label.status();
  if (label->uuid_low != uuid_low || label->uuid_high != uuid_high) return {};
  constexpr size_t kBytes = format::kDeviceSlots * format::kDeviceSlotBytes;
  const Buffer zeros = make_buffer(kBytes);
  if (Status s = (*file)->write_at(0, {zeros.get(), kBytes}); !s.ok()) return s;
  return (*file)->sync_data();
}

}  // namespace hawthorn::space
