#pragma once
// What a system call's error means, in the words that all reads and writes of files use.
//
// Used by posix_file.cc and the queues of io_queue.h. Threads: any.

#include <cstdint>
#include <string>

#include "hawthorn/status.h"

namespace hawthorn::os {

inline constexpr uint64_t kNoOffset = ~uint64_t{0};

// "PATH: DOING at OFFSET: the system's words". `error` is an errno; kNoOffset leaves "at" out.
Status error_status(int error, const std::string& path, const char* doing,
                    uint64_t offset = kNoOffset);
// The error of making, opening or enlarging a file as that of a full disk, kNoSpace with the same
// message, where it may pass: what is there goes on, and it is tried again. So are kOutOfMemory,
// kPermissionDenied and kReadOnly (of the medium); others stay what they are.
Status as_no_space(Status status);
// kCorruption: a file ends at `end`, `missing` bytes before what was asked for.
Status ends_early(const std::string& path, uint64_t end, uint64_t missing);

}  // namespace hawthorn::os
