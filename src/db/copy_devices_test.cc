// The sizes of the images that stand for devices in a copy, and their labels.
#include "db/copy_devices.h"

#include <gtest/gtest.h>

#include "format/device_label.h"

namespace hawthorn::db {
namespace {

using format::DeviceRecord;
using format::ExtentAddress;

constexpr uint64_t kMB = uint64_t{1} << 20;
constexpr uint64_t kBlocksPerMB = kMB / 4096;

ExtentAddress at(uint32_t device, uint64_t megabyte, uint64_t megabytes) {
  return {format::kDeviceFilesFirst + device, static_cast<uint32_t>(megabyte * kBlocksPerMB),
          static_cast<uint32_t>(megabytes * kBlocksPerMB)};
}

TEST(CopyDevices, ImagesEndBehindWhatIsInUseAndTheRoom) {
  const std::vector<DeviceRecord> devices = {{0, 7, 1000 * kBlocksPerMB, "/dev/a"},
                                             {1, 7, 100 * kBlocksPerMB, "/dev/b"},
                                             {2, 7, 500 * kBlocksPerMB, "/dev/c"}};
  const std::vector<ExtentAddress> used = {at(0, 1, 2), at(0, 50, 50), at(1, 1, 9)};
  const auto images = image_records(devices, used, 40 * kMB);
  ASSERT_EQ(images.size(), 3u);
  // The room is where most is cut off.
  EXPECT_EQ(images[0], (DeviceRecord{0, 1, 140 * kBlocksPerMB + 16, "device.0"}));
  // The least that a device has.
  EXPECT_EQ(images[1], (DeviceRecord{1, 1, 16 * kBlocksPerMB, "device.1"}));
  EXPECT_EQ(images[2], (DeviceRecord{2, 1, 16 * kBlocksPerMB, "device.2"}));
}

TEST(CopyDevices, NoImageIsLargerThanItsDevice) {
  const std::vector<DeviceRecord> devices = {{0, 7, 20 * kBlocksPerMB, "/dev/a"},
                                             {1, 7, 30 * kBlocksPerMB + 3, "/dev/b"}};
  std::vector<ExtentAddress> used = {at(0, 1, 1), at(1, 1, 3)};
  auto images = image_records(devices, used, 1000 * kMB);
  EXPECT_EQ(images[0].blocks, devices[0].blocks);
  EXPECT_EQ(images[1].blocks, devices[1].blocks);
  // What does not fit the one goes to the other.
  images = image_records(devices, used, 16 * kMB);
  EXPECT_EQ(images[1].blocks, devices[1].blocks);
  EXPECT_EQ(images[0].blocks, 18 * kBlocksPerMB - 3);
  // Full to the last block that may be used.
  used = {at(0, 1, 1), {format::kDeviceFilesFirst, 512, 20 * kBlocksPerMB - 512 - 16}};
  images = image_records(devices, used, 0);
  EXPECT_EQ(images[0].blocks, devices[0].blocks);
}

TEST(CopyDevices, LabelsAreThoseOfANewDatabase) {
  const std::string blocks = image_labels({3, 1, 5000, "device.3"}, 11, 12);
  ASSERT_EQ(blocks.size(), format::kDeviceSlots * format::kDeviceSlotBytes);
  const format::DeviceLabel expected = {3, 11, 12, 1, 5000};
  EXPECT_EQ(format::choose_device_label(blocks).value(), expected);
  // Each slot is valid by itself: one is always written over.
  std::string one = blocks;
  one[format::kDeviceSlotBytes + 100] ^= 1;
  EXPECT_EQ(format::choose_device_label(one).value().generation, 0u);
}

}  // namespace
}  // namespace hawthorn::db
