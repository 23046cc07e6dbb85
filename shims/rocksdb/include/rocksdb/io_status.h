#pragma once
// The status of what reads and writes files. Here it is a Status and nothing more: whether a retry
// may help is not said.
//
// Threads: as Status.

#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {

// [mapped]
class IOStatus : public Status {
 public:
  IOStatus() = default;

  static IOStatus OK() { return IOStatus(); }

 private:
  explicit IOStatus(Status&& status) : Status(std::move(status)) {}
  friend IOStatus status_to_io_status(Status&& status);
};

// [mapped]
inline IOStatus status_to_io_status(Status&& status) { return IOStatus(std::move(status)); }

}  // namespace ROCKSDB_NAMESPACE
