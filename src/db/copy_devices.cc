#include "db/copy_devices.h"

#include <algorithm>

#include "base/bytes.h"
#include "format/device_label.h"
#include "os/file.h"
#include "os/machine.h"
#include "space/device_image.h"
#include "space/devices.h"

namespace hawthorn::db {

namespace {
// That of a database whose creation has just ended.
constexpr uint64_t kGeneration = 1;
}  // namespace

uint64_t room_for_new(uint64_t log_bytes, uint64_t data_bytes) {
  constexpr uint64_t kRoomMin = uint64_t{64} << 20;
  return kRoomMin + 2 * log_bytes + data_bytes / 8;
}

std::vector<format::DeviceRecord> image_records(std::span<const format::DeviceRecord> devices,
                                                std::span<const format::ExtentAddress> used,
                                                uint64_t room_bytes) {
  std::vector<format::DeviceRecord> images;
  std::vector<uint32_t> order;
  for (const format::DeviceRecord& device : devices) {
    images.push_back({device.index, kGeneration, format::kDeviceHeadBlocks,
                      space::device_image_name(device.index)});
    order.push_back(device.index);
  }
  for (const format::ExtentAddress& range : used) {
    images[range.file - format::kDeviceFilesFirst].blocks = uint64_t{range.block} + range.blocks;
  }
  for (format::DeviceRecord& image : images) {
    image.blocks = std::max(image.blocks + format::kDeviceTailBlocks,
                            space::kDeviceBytesMin / os::kBlockBytes);
  }
  // Where most is free, so that it is in few pieces.
  const auto cut_off = [&](uint32_t index) { return devices[index].blocks - images[index].blocks; };
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return cut_off(a) != cut_off(b) ? cut_off(a) > cut_off(b) : a < b;
  });
  uint64_t room = align_up(room_bytes, os::kBlockBytes) / os::kBlockBytes;
  for (const uint32_t index : order) {
    const uint64_t taken = std::min(room, cut_off(index));
    images[index].blocks += taken;
    room -= taken;
  }
  return images;
}

std::string image_labels(const format::DeviceRecord& record, uint64_t uuid_low,
                         uint64_t uuid_high) {
  std::string blocks;
  for (uint64_t generation = 0; generation < format::kDeviceSlots; ++generation) {
    blocks +=
        format::encode_device_label({record.index, uuid_low, uuid_high, generation, record.blocks});
  }
  return blocks;
}

}  // namespace hawthorn::db
