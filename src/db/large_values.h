#pragma once
// Values over kLargeValueBytes: extents of their own, written and synced before the commit record
// that names them (R22).
//
// Not here: changing a part of one (large_edit.h), who keeps the extents afterwards
// (tree::LargeExtents until the flush, then the container). Threads: every function from any
// thread; they block on I/O.
//
// 1. When write returns OK, the extents are on disk and synced; the reference stands in the store's
// LargeExtents.
// 2. What is given up (abort, error) is freed at once: no durable record names it.

#include <string>
#include <string_view>
#include <vector>

#include "db/scheduler.h"
#include "format/large_value.h"
#include "hawthorn/transaction.h"
#include "os/data_keys.h"
#include "tree/store.h"

namespace hawthorn::db {

inline constexpr size_t kLargeValueBytes = 64 << 10;

// Writes `size` bytes from the source; returns the encoded format::LargeValue. Where there is no
// space for them, or no memory for a buffer, the scheduler may find some.
// Without `sync` the caller syncs the data files before the commit record.
// Errors: kInvalidArgument when the source gives less; kNoSpace; kOutOfMemory when waiting would
// not help; kIoError; what the source returns.
Result<std::string> write_large_value(tree::Store* store, Scheduler* scheduler, uint64_t size,
                                      const StreamSource& source, bool sync = true);
Result<std::string> write_large_value(tree::Store* store, Scheduler* scheduler,
                                      std::string_view bytes);
// Bytes of a source, as many as there is room for. Errors: kInvalidArgument when it gives less;
// what the source returns.
Status fill_from(const StreamSource& source, std::span<char> to);
// Gives up what was written for this version of a value.
void drop_large_value(tree::Store* store, std::string_view encoded);
void drop_extents(tree::Store* store, std::span<const tree::ExtentAddress> extents);
// An extent for what is inserted straight into the data files, and `bytes` of memory (a multiple of
// 4 KB, of Quota::kMerge) for what passes through: the scheduler may make room for either.
// Errors: kNoSpace; kOutOfMemory when waiting would not help.
Result<tree::ExtentAddress> take_extent(tree::Store* store, Scheduler* scheduler, uint32_t blocks);
Result<char*> take_memory(tree::Store* store, Scheduler* scheduler, size_t bytes);
// Before the first value in pieces is written: the superblock tells older versions that there may
// be some. Errors: kNoSpace; those of publishing.
Status need_large_pieces(tree::Store* store, Scheduler* scheduler);
// Reads [offset, offset + buffer.size()), less at its end; verified, but for a part of a value that
// is whole (format/large_value.h). Errors: kCorruption; kIoError; kOutOfMemory.
Result<size_t> read_large_part(tree::Store* store, const format::LargeValue& value, uint64_t offset,
                               std::span<char> buffer);

// Bytes on their way to extents of a value in pieces, with their checksums.
//
//   begin ──> room ──> took ──> room ... ──> finish ──> keep
class LargeWriter {
 public:
  LargeWriter(tree::Store* store, Scheduler* scheduler) : store_(store), scheduler_(scheduler) {}
  // What was not kept is given back.
  ~LargeWriter();
  LargeWriter(const LargeWriter&) = delete;
  LargeWriter& operator=(const LargeWriter&) = delete;

  // So many bytes will come. Errors: those of need_large_pieces; kOutOfMemory.
  Status begin(uint64_t size);
  // Where the next ones go, and that some have gone there. Errors: kNoSpace; kIoError.
  Result<std::span<char>> room();
  Status took(size_t bytes);
  // So many from a source. Errors: as write_large_value.
  Status take(const StreamSource& source, uint64_t size);
  // All have come. Errors: those of the sync.
  Status finish(bool sync);
  // In the order of the bytes, each full but for the last one.
  const std::vector<tree::ExtentAddress>& extents() const { return extents_; }
  const std::vector<format::LargeContent>& contents() const { return contents_; }
  // Behind finish: from here on they are the store's.
  void keep();

 private:
  Status begin_extent();
  Status write_buffer();
  Status sum_up();
  size_t append_table();

  tree::Store* const store_;
  Scheduler* const scheduler_;
  char* buffer_ = nullptr;  // of the merge quota
  size_t buffer_bytes_ = 0;
  size_t filled_ = 0;
  uint64_t left_ = 0;           // bytes to come in all,
  uint64_t extent_left_ = 0;    // and for the last extent
  uint64_t extent_at_ = 0;      // bytes of it that are on disk
  std::vector<uint64_t> sums_;  // of it; where it is sealed, two for each tag
  os::Seal seal_{};             // of it
  std::vector<tree::ExtentAddress> extents_;
  std::vector<format::LargeContent> contents_;
  std::vector<tree::ExtentRef> kept_;
};

}  // namespace hawthorn::db
