#include "hawthorn/status.h"

#include <cstdio>
#include <cstdlib>

#include "base/out_of_memory.h"
#include "hawthorn/version.h"

#define HAWTHORN_STRING_OF(x) #x
#define HAWTHORN_STRING(x) HAWTHORN_STRING_OF(x)

namespace hawthorn {

std::string_view status_code_name(StatusCode code) {
  switch (code) {
    case StatusCode::kOk:
      return "OK";
    case StatusCode::kNotFound:
      return "NotFound";
    case StatusCode::kInvalidArgument:
      return "InvalidArgument";
    case StatusCode::kNotSupported:
      return "NotSupported";
    case StatusCode::kCorruption:
      return "Corruption";
    case StatusCode::kIoError:
      return "IoError";
    case StatusCode::kNoSpace:
      return "NoSpace";
    case StatusCode::kBusy:
      return "Busy";
    case StatusCode::kConflict:
      return "Conflict";
    case StatusCode::kReadOnly:
      return "ReadOnly";
    case StatusCode::kOutOfMemory:
      return "OutOfMemory";
    case StatusCode::kForked:
      return "Forked";
    case StatusCode::kUnknownOutcome:
      return "UnknownOutcome";
    case StatusCode::kClosed:
      return "Closed";
    case StatusCode::kTimedOut:
      return "TimedOut";
    case StatusCode::kTooOld:
      return "TooOld";
    case StatusCode::kDeadlock:
      return "Deadlock";
    case StatusCode::kNotInMemory:
      return "NotInMemory";
    case StatusCode::kPermissionDenied:
      return "PermissionDenied";
  }
  return "Unknown";
}

std::string Status::to_string() const {
  std::string text(status_code_name(code_));
  if (!message().empty()) text.append(": ").append(message());
  return text;
}

Status out_of_memory() noexcept { return Status(StatusCode::kOutOfMemory); }

void end_without_value(const Status& status) {
  std::fprintf(stderr, "hawthorn: the value of a Result that is an error: %s\n",
               status.to_string().c_str());
  std::abort();
}

std::string_view version() {
  return HAWTHORN_STRING(HAWTHORN_VERSION_MAJOR) "." HAWTHORN_STRING(
      HAWTHORN_VERSION_MINOR) "." HAWTHORN_STRING(HAWTHORN_VERSION_PATCH);
}

}  // namespace hawthorn
