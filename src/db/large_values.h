#pragma once
// Values over kLargeValueBytes: extents of their own, written and synced before the commit record
// that names them (R22).
//
// Not here: who keeps the extents afterwards (tree::LargeExtents until the flush, then the
// container). Threads: every function from any thread; they block on I/O.
//
// 1. When write returns OK, the extents are on disk and synced; the reference stands in the store's
// LargeExtents.
// 2. What is given up (abort, error) is freed at once: no durable record names it.

#include <string>
#include <string_view>

#include "db/scheduler.h"
#include "format/run_layout.h"
#include "hawthorn/transaction.h"
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
void drop_large_value(tree::Store* store, std::string_view encoded);
// An extent for what is inserted straight into the data files, and `bytes` of memory (a multiple of
// 4 KB, of Quota::kMerge) for what passes through: the scheduler may make room for either.
// Errors: kNoSpace; kOutOfMemory when waiting would not help.
Result<tree::ExtentAddress> take_extent(tree::Store* store, Scheduler* scheduler, uint32_t blocks);
Result<char*> take_memory(tree::Store* store, Scheduler* scheduler, size_t bytes);
// Reads [offset, offset + buffer.size()), less at its end. The checksum covers whole values only
// and is not checked here.
Result<size_t> read_large_part(tree::Store* store, const format::LargeValue& value, uint64_t offset,
                               std::span<char> buffer);

}  // namespace hawthorn::db
