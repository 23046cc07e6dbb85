#pragma once
// Reads a large value (one in extents of its own), or a part of it, into memory of the caller.
//
//   begin ──> request() ──> I/O by the caller ──> arrived() ──> request() ... ──> done
//
// Not here: writing one (db/large_values.h). Used by gets, cursors, reads of parts and the queue of
// asynchronous gets. Threads: an object from one thread at a time; nothing of it inside an epoch
// guard.
//
// 1. What is read of a value in pieces is verified, whichever part that is. Of a whole one (see
//    format/large_value.h) that is possible only where all of it is read.

#include <cstddef>
#include <vector>

#include "format/large_value.h"
#include "hawthorn/status.h"
#include "os/data_keys.h"
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
  // [from, from + size), which the value has.
  LargeRead(Residency* residency, format::LargeValue value, uint64_t from, size_t size, char* to);
  ~LargeRead();
  LargeRead(const LargeRead&) = delete;
  LargeRead& operator=(const LargeRead&) = delete;

  // Takes memory for one piece at a time. Errors: kOutOfMemory; kCorruption.
  Status begin();
  // Once it is done without an error, another part: begin it again.
  void go_on(uint64_t from, size_t size, char* to);
  // All of it is there and verified, or status() says what is wrong: kCorruption, kIoError.
  bool done() const { return done_; }
  const Status& status() const { return status_; }
  // What has to be read next; not once it is done.
  os::IoRead request() const;
  // The request was carried out.
  void arrived(Status status);
  // begin, and all of it at once; blocking.
  Status run();

  const format::LargeValue& value() const { return value_; }

 private:
  static constexpr uint32_t kNone = ~uint32_t{0};
  void next();
  bool find_place();
  void ask_for(uint32_t extent, uint64_t at, size_t size);
  void next_whole();
  void next_piece();
  void take_whole();
  bool take_table();
  bool take_piece();
  bool open_chunk(size_t number, char* chunk, size_t bytes);
  void damaged();
  void add_to_checksum();

  Residency* const residency_;
  const format::LargeValue value_;
  uint64_t from_;
  size_t size_;
  char* to_;
  char* buffer_ = nullptr;  // of the merge quota
  size_t buffer_bytes_ = 0;
  size_t there_ = 0;  // bytes in place
  // The place of the next one: in this piece, or extent of a whole value, which begins at start_.
  size_t place_ = 0;
  uint64_t start_ = 0;
  // What was asked for: of this extent, in whole blocks.
  uint32_t extent_ = 0;
  uint64_t asked_at_ = 0;
  size_t asked_bytes_ = 0;
  size_t used_ = 0;     // of those, what goes to `to`
  bool table_ = false;  // it is the table
  // Sums of this extent: its table, or, while all of it is being read, those that were made.
  uint32_t summed_extent_ = kNone;
  bool making_sums_ = false;
  std::vector<uint64_t> sums_;  // of a sealed extent: two for each tag
  os::Seal seal_{};             // of a sealed extent
  size_t summed_ = 0;           // of a whole value: bytes in checksum_
  uint64_t checksum_ = 0;       // of a whole value
  bool done_ = false;
  Status status_;
};

// The same at once; blocking. Errors: kCorruption; kIoError; kOutOfMemory.
Status read_large_value(Residency& residency, const format::LargeValue& value, char* to);

}  // namespace hawthorn::tree
