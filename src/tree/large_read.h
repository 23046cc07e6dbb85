#pragma once
// Reads a large value (one in extents of its own) as a whole, into memory of the caller.
//
//   begin ──> request() ──> I/O by the caller ──> arrived() ──> request() ... ──> done
//
// Not here: writing one and reading it by parts (db/large_values.h). Used by gets, cursors, and the
// queue of asynchronous gets. Threads: an object from one thread at a time; nothing of it inside an
// epoch guard.

#include <cstddef>

#include "format/run_layout.h"
#include "hawthorn/status.h"
#include "os/io_queue.h"

namespace hawthorn::tree {

class Residency;

// Larger ones are read by parts only.
inline constexpr size_t kLargeValueBytesMax = size_t{64} << 20;
Status too_large_to_read(uint64_t size);  // kNotSupported

class LargeRead {
 public:
  // What a read takes of the budget while it is under way, at most.
  static constexpr size_t kPieceBytes = size_t{256} << 10;

  // Reads value.size bytes to `to`. The caller keeps the extents alive, and asks for no more after
  // an error.
  LargeRead(Residency* residency, format::LargeValue value, char* to);
  ~LargeRead();
  LargeRead(const LargeRead&) = delete;
  LargeRead& operator=(const LargeRead&) = delete;

  // Takes memory for one piece at a time. Errors: kOutOfMemory; kCorruption.
  Status begin();
  // All of it is there and verified, or status() says what is wrong: kCorruption, kIoError.
  bool done() const { return done_; }
  const Status& status() const { return status_; }
  // What has to be read next; not once it is done.
  os::IoRead request() const;
  // The request was carried out.
  void arrived(Status status);

 private:
  void next();
  void add_to_checksum();

  Residency* const residency_;
  const format::LargeValue value_;
  char* const to_;
  char* buffer_ = nullptr;  // of the merge quota
  size_t buffer_bytes_ = 0;
  size_t extent_ = 0;    // the piece asked for is of this one,
  uint64_t offset_ = 0;  // begins here,
  size_t piece_ = 0;     // has so many bytes
  size_t there_ = 0;     // bytes in place
  size_t summed_ = 0;    // of them, those in checksum_
  uint64_t checksum_ = 0;
  bool done_ = false;
  Status status_;
};

// The same at once; blocking. Errors: kCorruption; kIoError; kOutOfMemory.
Status read_large_value(Residency& residency, const format::LargeValue& value, char* to);

}  // namespace hawthorn::tree
