#include "tree/large_read.h"

#include <algorithm>

#include "tree/residency.h"

namespace hawthorn::tree {

namespace {
// Pieces are read through memory of the budget, so they are kept small; a multiple of what is
// checksummed at a time.
constexpr size_t kPieceBytes = size_t{1} << 20;
static_assert(kPieceBytes % format::kLargeChunkBytes == 0);
}  // namespace

Status read_large_value(Residency& residency, const format::LargeValue& value, char* to) {
  size_t done = 0;
  for (const format::ExtentAddress& extent : value.extents) {
    const size_t end = std::min<size_t>(value.size, done + size_t{extent.blocks} * 4096);
    for (uint64_t offset = 0; done < end;) {
      const size_t piece = std::min(end - done, kPieceBytes);
      if (Status s = residency.read_raw(extent, offset, piece, to + done); !s.ok()) return s;
      offset += piece;
      done += piece;
    }
  }
  uint64_t checksum = 0;
  for (size_t at = 0; at < done; at += format::kLargeChunkBytes) {
    checksum = format::extend_large_checksum(
        checksum, {to + at, std::min(done - at, format::kLargeChunkBytes)});
  }
  if (done != value.size || checksum != value.checksum) {
    return Status(StatusCode::kCorruption, "a large value does not match its checksum");
  }
  return {};
}

}  // namespace hawthorn::tree
