#pragma once
// A mapped file without a name: memory that the disk takes over, gone with the process.
//
// Not here: files that anybody is to find again. Threads: one object, one thread at a time; the
// bytes from any.

#include <memory>
#include <string>

#include "hawthorn/status.h"

namespace hawthorn::os {

class TemporaryMapping {
 public:
  // `bytes` (a multiple of 4 KB) of disk space that is there (no store can fail), in the directory
  // of this descriptor, or, where that is none (-1), cannot be written, or is on a file system that
  // cannot promise it (mirrored_mapping.h), in $TMPDIR or /tmp; where that cannot either, memory.
  // Errors: kNoSpace; kIoError.
  static Result<std::unique_ptr<TemporaryMapping>> create(int directory, size_t bytes);
  ~TemporaryMapping();
  TemporaryMapping(const TemporaryMapping&) = delete;
  TemporaryMapping& operator=(const TemporaryMapping&) = delete;

  char* data() { return data_; }
  size_t size() const { return bytes_; }
  // Its pages need not stay in memory; they come back when they are looked at.
  void let_go();

 private:
  TemporaryMapping(int descriptor, char* data, size_t bytes)
      : descriptor_(descriptor), data_(data), bytes_(bytes) {}
  const int descriptor_;
  char* const data_;
  const size_t bytes_;
};

}  // namespace hawthorn::os
