// Extents that settle: their blocks were read again and again, so they come to lie in memory as a
// whole, where a read needs no second look and a walk no window, and stay while they are used.

#include <algorithm>
#include <cstring>
#include <vector>

#include "os/epoch.h"
#include "os/file.h"
#include "os/test_point.h"
#include "tree/piece_reads.h"
#include "tree/residency.h"

namespace hawthorn::tree {

bool Residency::walked_lately(RunFile* file) const {
  const uint32_t at = file->walked_at.load(std::memory_order_relaxed);
  if (at == 0) return false;
  file->walked_at.store(0, std::memory_order_relaxed);
  return size_t{walk_clock() - at} * os::kBlockBytes < room() / kSettledShare;
}

void Residency::settle(RunFile* file, bool values) {
  if (file->image->heap_bytes() != 0) settle(file, *file->image.get());
  for (size_t e = 0; values && e < file->values.size(); ++e) settle(file, *file->values[e].get());
}

void Residency::settle(RunFile* file, Extent& extent) {
  if (extent.body() != nullptr) {
    // Where a newer file has it already, this one's run does not know.
    if (extent.is_index) static_cast<void>(load_run(file, RunPart::kWhole).ok());
    return;
  }
  if (extent.settling.exchange(true)) return;
  const bool all_front = extent.body_bytes() == 0;
  const bool settled = all_front ? load_run(file).ok() : settle_now(file, extent);
  if (settled) frames_.drop(extent, extent.settles_from());
  extent.settling = false;
}

bool Residency::settle_now(RunFile* file, Extent& extent) {
  const size_t bytes = extent.body_bytes();
  if (settled_bytes() + bytes > room() / kSettledShare) return false;
  if (extent.is_index && !load_run(file).ok()) return false;
  char* memory = allocate(os::Quota::kValues, bytes, kAttemptsEasy, Depth::kWholesAndFrames);
  if (memory == nullptr) return false;
  HAWTHORN_TEST_POINT("residency.before_it_settles");
  bool taken = false;
  if (gather(file, extent, memory)) {
    if (extent.is_index) {
      if (!take_heap(file, memory, true, &taken).ok()) taken = false;
    } else {
      taken = take_values(file, file->number_of(&extent), memory, true);
    }
  }
  if (!taken) release(os::Quota::kValues, memory, bytes);
  return taken;
}

// Copies what frames have and reads the rest.
bool Residency::gather(RunFile* file, const Extent& extent, char* to) {
  std::vector<PieceRead> missing;
  {
    os::epoch::Guard guard;
    for (uint32_t block = extent.body_first(); block < extent.blocks;
         ++block, to += os::kBlockBytes) {
      if (const char* bytes = frames_.find(extent, block); bytes != nullptr) {
        std::memcpy(to, bytes, os::kBlockBytes);
      } else if (!missing.empty() && missing.back().first_block + missing.back().blocks == block) {
        ++missing.back().blocks;
      } else {
        missing.push_back({&extent, block, 1, to});
      }
    }
  }
  if (missing.empty()) return true;
  PieceReads reads;
  return reads.begin(this, file, missing, Need::kMay).ok() && carry_out(reads).ok() &&
         reads.finish().ok();
}

}  // namespace hawthorn::tree
