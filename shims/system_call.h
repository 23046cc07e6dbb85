#pragma once
// What a library does around system calls of its own: those that a signal interrupts are made
// again, and an error has the engine's code for it, with the path and the system's words.
//
// Used by the libraries of SQLite's and libmdbx's APIs. Threads: any.

#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <string_view>
#include <system_error>

#include "hawthorn/status.h"

namespace hawthorn {

template <typename Call>
auto uninterrupted(const Call& call) {
  for (;;) {
    const auto result = call();
    if (result >= 0 || errno != EINTR) return result;
  }
}

inline int open_uninterrupted(const std::string& path, int flags, mode_t mode = 0) {
  return uninterrupted([&] { return ::open(path.c_str(), flags | O_CLOEXEC, mode); });
}

inline bool sync_uninterrupted(int file) {
  return uninterrupted([&] { return fsync(file); }) == 0;
}

// From the file's beginning on. False: errno says why not all of it.
inline bool write_whole(int file, std::string_view bytes) {
  off_t at = 0;
  while (!bytes.empty()) {
    const ssize_t written =
        uninterrupted([&] { return pwrite(file, bytes.data(), bytes.size(), at); });
    if (written < 0) return false;
    at += written;
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

// What may pass (no space, no descriptor, no lock) is kNoSpace, as in the engine.
inline Status call_failed(const std::string& what, int error) {
  StatusCode code = StatusCode::kIoError;
  switch (error) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
    case EMFILE:
    case ENFILE:
    case ENOLCK:
      code = StatusCode::kNoSpace;
      break;
    case EACCES:
    case EPERM:
      code = StatusCode::kPermissionDenied;
      break;
    case EROFS:
      code = StatusCode::kReadOnly;
      break;
    case ENOMEM:
      code = StatusCode::kOutOfMemory;
      break;
    default:
      break;
  }
  return Status(code, what + ": " + std::generic_category().message(error));
}

}  // namespace hawthorn
