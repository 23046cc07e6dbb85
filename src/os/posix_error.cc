#include "os/posix_error.h"

#include <cerrno>
#include <system_error>
#include <utility>

namespace hawthorn::os {
namespace {

StatusCode code_of(int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
      return StatusCode::kNoSpace;
    // What cannot be made now may be made later, and what is there goes on: as on a full disk.
    case EFBIG:
    case EMFILE:
    case ENFILE:
    case ENOLCK:
      return StatusCode::kNoSpace;
    case ENOENT:
      return StatusCode::kNotFound;
    case EACCES:
    case EPERM:
      return StatusCode::kPermissionDenied;
    case EROFS:
      return StatusCode::kReadOnly;
    case EWOULDBLOCK:
    case EBUSY:
    case ETXTBSY:
      return StatusCode::kBusy;
    // The path that was given leads to something else than it should. Nobody will let go of it, as
    // kBusy would promise.
    case EEXIST:
    case ENOTEMPTY:
    case ENOTDIR:
    case ELOOP:
    case ENAMETOOLONG:
      return StatusCode::kInvalidArgument;
    case ENOMEM:
      return StatusCode::kOutOfMemory;
    default:
      return StatusCode::kIoError;
  }
}

}  // namespace

Status error_status(int error, const std::string& path, const char* doing, uint64_t offset) {
  std::string text = path + ": " + doing;
  if (offset != kNoOffset) text += " at " + std::to_string(offset);
  text += ": " + std::generic_category().message(error);
  return Status(code_of(error), std::move(text));
}

Status as_no_space(Status status) {
  const bool passes = status.is(StatusCode::kOutOfMemory) ||
                      status.is(StatusCode::kPermissionDenied) || status.is(StatusCode::kReadOnly);
  return passes ? Status(StatusCode::kNoSpace, std::string(status.message())) : status;
}

Status ends_early(const std::string& path, uint64_t end, uint64_t missing) {
  return Status(StatusCode::kCorruption, path + ": ends at " + std::to_string(end) + ", " +
                                             std::to_string(missing) + " bytes short");
}

}  // namespace hawthorn::os
