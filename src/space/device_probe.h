#pragma once
// One device as it is found, for who looks at it without opening the database (repair): read only,
// and whatever its label is.
//
// Not here: what is refused when a database is opened (devices.h). Threads: as os::File.

#include <cstdint>
#include <memory>
#include <string>

#include "format/device_label.h"
#include "hawthorn/status.h"
#include "os/machine.h"

namespace hawthorn::space {

struct ProbedDevice {
  std::unique_ptr<os::File> file;
  uint64_t blocks = 0;  // of 4096 bytes
  // kNotFound: it has none; kCorruption: it had one.
  Result<format::DeviceLabel> label = Status(StatusCode::kNotFound, "no label");
};

// Opens it and reads its label; nothing is written. Errors: those of opening it; kNotSupported for
// a label of a newer version.
Result<ProbedDevice> probe_device(const os::Machine& machine, const std::string& path);

}  // namespace hawthorn::space
