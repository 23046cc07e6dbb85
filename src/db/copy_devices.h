#pragma once
// What stands for the devices of a database in a copy of it: a file for each
// (space/device_image.h), in which extents have the places that they have on the device.
//
// Not here: who copies them (copy_source.h); repair, which makes such files, too
// (repair_devices.cc). Threads: pure functions.
//
// 1. No image is larger than its device, so that it can be put back on one that is as large; what
//    is free at the end of a device is left off, but for some room to work in.
// 2. An image has a label of the copy, which is a database of its own.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "format/manifest_state.h"

namespace hawthorn::db {

// So much is free in what stands for devices besides what is copied, if the source has it: for what
// is flushed and merged until somebody adds more.
uint64_t room_for_new(uint64_t log_bytes, uint64_t data_bytes);

// The manifest's records of the images of these devices, in which `used` is in use, ascending; with
// about `room_bytes` free behind that.
std::vector<format::DeviceRecord> image_records(std::span<const format::DeviceRecord> devices,
                                                std::span<const format::ExtentAddress> used,
                                                uint64_t room_bytes);

// The first blocks of an image.
std::string image_labels(const format::DeviceRecord& record, uint64_t uuid_low, uint64_t uuid_high);

}  // namespace hawthorn::db
