#pragma once
// Seals blocks of data files on their way to disk, and opens what was read: blocks of runs and of
// value extents, header areas of runs, chunks of large values.
//
// Not here: where tags stand (format/run_layout.h, format/large_value.h), keys (os/data_keys.h),
// who reads and writes (residency.h, image_packer.h, large_read.h).
// Threads: pure functions, but for the contexts that they lease.
//
// 1. The seal of a sequence of blocks is random, and what stands above it names it: the header area
//    of a run those of its blocks, the manifest that of the header area, the reference that of a
//    large value's extent. So a block that belongs elsewhere, or was there before, does not open.

#include <cstdint>
#include <span>
#include <string_view>

#include "format/large_value.h"
#include "format/run_layout.h"
#include "hawthorn/status.h"
#include "os/data_keys.h"

namespace hawthorn::tree {

// Seals blocks into `to`, which may be where they are; `words`: of TableShape::words(blocks).
Status seal_blocks(os::DataKeys& keys, const char* blocks, uint32_t count, char* to,
                   uint32_t* words);
// Opens `count` blocks of a region, of which the first is number `first`, in their place. *opened:
// how many did, from the first on. Errors: those of the keys; a block that does not open is none.
Status open_blocks(os::DataKeys& keys, const format::StoredRegion& region, uint32_t first,
                   uint32_t count, char* blocks, uint32_t* opened);

// Seals the header area at `image` into `to`: all but its first 256 bytes, which get the seal, in
// both. *base: for the manifest.
Status seal_header(os::DataKeys& keys, char* image, size_t header_bytes, char* to, uint64_t* base);
// Opens the header area of a run in its place. `keys` null: nothing is to be opened. Errors:
// kCorruption, starting with `where`.
Status open_header(os::DataKeys* keys, const format::ContainerRecord& record, char* area,
                   size_t header_bytes, std::string_view where);
// The same of the first `bytes` of an image of `image_bytes`: header, index blocks, and what is
// there of a heap that is not packed.
Status open_front(os::DataKeys* keys, const format::ContainerRecord& record, char* front,
                  size_t bytes, size_t image_bytes, std::string_view where);

// The seal that the words of a region or the table of a large value begin with.
os::Seal load_seal(const void* from);
uint64_t base_of(const os::Seal& seal);

}  // namespace hawthorn::tree
