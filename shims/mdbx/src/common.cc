#include "shims/mdbx/src/common.h"

#include <cerrno>

namespace hawthorn::mdbx {

int to_code(const Status& status) {
  switch (status.code()) {
    case StatusCode::kOk:
      return MDBX_SUCCESS;
    case StatusCode::kNotFound:
    case StatusCode::kNotInMemory:
      return MDBX_NOTFOUND;
    case StatusCode::kInvalidArgument:
      return MDBX_EINVAL;
    case StatusCode::kNotSupported:
      return MDBX_ENOSYS;
    case StatusCode::kCorruption:
      return MDBX_CORRUPTED;
    case StatusCode::kIoError:
      return MDBX_EIO;
    case StatusCode::kNoSpace:
      return ENOSPC;
    case StatusCode::kBusy:
    case StatusCode::kTimedOut:
    case StatusCode::kConflict:
    case StatusCode::kDeadlock:
      return MDBX_BUSY;
    case StatusCode::kReadOnly:
      return MDBX_EROFS;
    case StatusCode::kOutOfMemory:
      return MDBX_ENOMEM;
    case StatusCode::kForked:
    case StatusCode::kUnknownOutcome:
      return MDBX_PANIC;
    case StatusCode::kClosed:
      return MDBX_EPERM;
    case StatusCode::kTooOld:
      return MDBX_MVCC_RETARDED;
  }
  return MDBX_PROBLEM;
}

}  // namespace hawthorn::mdbx
