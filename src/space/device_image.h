#pragma once
// Files that stand for devices in a database's own directory: what a copy or a repair makes of a
// database on devices. Their names, and how the manifest tells them from devices elsewhere.
//
// Not here: which there are (db/copy_devices.h, db/repair_devices.cc); labels (devices.h).
// Used by space/devices.cc, and by all in db that names files. Threads: pure functions, but for
// find_device, which looks whether a file exists.
//
// 1. The manifest names such a file by its name alone, so that the directory can be moved. A path
//    that is the same and came from Options::devices is recorded with "./" before it.

#include <cstdint>
#include <string>
#include <string_view>

#include "format/manifest_state.h"
#include "hawthorn/status.h"
#include "os/machine.h"

namespace hawthorn::space {

std::string device_image_name(uint32_t index);  // "device.3"
bool is_device_image(std::string_view name);

// Where a device of a manifest in this directory is. A name of an image that is not in the
// directory is a path as any other: versions before wrote what they had been given. Errors: of the
// look.
Result<std::string> find_device(const os::Machine& machine, const std::string& directory,
                                const format::DeviceRecord& record);
// What a manifest in this directory says of the device at this path.
std::string recorded_path(const std::string& directory, uint32_t index, const std::string& path);

}  // namespace hawthorn::space
