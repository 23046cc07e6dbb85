#pragma once
// Reads a large value (one in extents of its own) as a whole, into memory of the caller.
//
// Not here: writing one and reading it by parts (db/large_values.h). Threads: any; blocking, so not
// inside an epoch guard.

#include <cstddef>

#include "format/run_layout.h"
#include "hawthorn/status.h"

namespace hawthorn::tree {

class Residency;

// Larger ones are read by parts only.
inline constexpr size_t kLargeValueBytesMax = size_t{64} << 20;

// Reads value.size bytes to `to` and verifies them. The caller keeps the extents alive. Errors:
// kCorruption; kIoError; kOutOfMemory.
Status read_large_value(Residency& residency, const format::LargeValue& value, char* to);

}  // namespace hawthorn::tree
