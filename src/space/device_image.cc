#include "space/device_image.h"

#include <algorithm>

namespace hawthorn::space {

namespace {
constexpr std::string_view kImagePrefix = "device.";
}  // namespace

std::string device_image_name(uint32_t index) {
  return std::string(kImagePrefix) + std::to_string(index);
}

bool is_device_image(std::string_view name) {
  if (!name.starts_with(kImagePrefix)) return false;
  const std::string_view digits = name.substr(kImagePrefix.size());
  if (digits.empty() || digits.size() > 2 || (digits.size() == 2 && digits.front() == '0')) {
    return false;
  }
  uint32_t index = 0;
  for (const char digit : digits) {
    if (digit < '0' || digit > '9') return false;
    index = index * 10 + static_cast<uint32_t>(digit - '0');
  }
  return index < format::kDevicesMax;
}

Result<std::string> find_device(const os::Machine& machine, const std::string& directory,
                                const format::DeviceRecord& record) {
  if (record.path != device_image_name(record.index)) return record.path;
  std::string image = directory + "/" + record.path;
  const Result<bool> there = machine.files->exists(image);
  if (!there.ok()) return there.status();
  return *there ? image : record.path;
}

std::string recorded_path(const std::string& directory, uint32_t index, const std::string& path) {
  std::string name = device_image_name(index);
  if (path == directory + "/" + name) return name;
  return path == name ? "./" + path : path;
}

}  // namespace hawthorn::space
