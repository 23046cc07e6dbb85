#include <algorithm>
#include <cstring>
#include <utility>

#include "base/assert.h"
#include "base/bytes.h"
#include "os/epoch.h"
#include "os/test_point.h"
#include "tree/merge_work.h"

namespace hawthorn::tree {

namespace {
constexpr size_t kBlock = 4096;
}

// Of the container's last piece. A piece in the middle learns its end only when the next one
// starts, so its prefix is taken from the container.
size_t Merger::Work::skip_from(std::string_view low) const {
  return container->has_high ? common_prefix(low, container->high) : container->skip;
}

void Merger::Work::start_piece(std::string_view low, size_t skip) {
  piece_low = low;
  copies.clear();
  copied_bytes = 0;
  large_kept.clear();
  shape.prefix = std::string_view(piece_low).substr(0, std::min<size_t>(skip, piece_low.size()));
  RunShape used = shape;
  if (used.fixed_key_size > used.prefix.size() + 8) used.fixed_key_size = 0;
  builder.start(used);
}

// An extent of `bytes` with memory and disk space; nothing is written yet.
Result<ExtentRef> Merger::Work::make_extent(size_t bytes, bool index, char** memory) {
  const auto blocks = static_cast<uint32_t>((bytes + kBlock - 1) / kBlock);
  const os::Quota quota = index ? os::Quota::kIndex : os::Quota::kValues;
  *memory = store->residency->allocate(quota, size_t{blocks} * kBlock);
  if (*memory == nullptr && size_t{blocks} * kBlock <= store->arena->budget() / 16) {
    // Everything else is held by readers. A flush gives back more than it takes, so it may go
    // beyond the budget a little.
    *memory = store->arena->allocate(quota, size_t{blocks} * kBlock, true);
  }
  if (*memory == nullptr) {
    const os::Arena& arena = *store->arena;
    return Status(StatusCode::kOutOfMemory,
                  "no memory for a flush of " + std::to_string(bytes) + " bytes: of a budget of " +
                      std::to_string(arena.budget()) + ", unflushed data holds " +
                      std::to_string(arena.used(os::Quota::kDelta)) + ", index runs " +
                      std::to_string(arena.used(os::Quota::kIndex)) + ", values " +
                      std::to_string(arena.used(os::Quota::kValues)) + ", merges " +
                      std::to_string(arena.used(os::Quota::kMerge)));
  }
  Result<ExtentAddress> address = store->space->allocate(blocks);
  if (!address.ok()) {
    store->residency->release(quota, *memory, size_t{blocks} * kBlock);
    return address.status();
  }
  auto* extent = new Extent(store->residency, *address, static_cast<uint32_t>(bytes), index);
  extent->writing.store(true, std::memory_order_relaxed);
  extent->dropped.store(
      true, std::memory_order_relaxed);  // until it is installed: a failure gives the space back
  store->residency->admit(extent, *memory);
  return ExtentRef(extent);
}

// The extent of a large value that an input's run refers to already.
const ExtentRef* Merger::Work::old_large(const ExtentAddress& address) const {
  for (const MergeInput& input : inputs) {
    for (const ExtentRef& extent : input.file->large) {
      if (extent->address == address) return &extent;
    }
  }
  return nullptr;
}

Status Merger::Work::finish_piece(bool keep_extents) {
  MergePiece piece;
  piece.low = piece_low;
  piece.file = new RunFile;
  output.pieces.push_back(std::move(piece));
  MergePiece& made = output.pieces.back();
  RunFile* file = made.file;
  format::ContainerRecord& record = file->record;
  record.tree = container->tree;
  record.low = piece_low;
  record.cut = cut;
  record.id = output.pieces.size() == 1
                  ? old_file->record.id
                  : store->next_container.fetch_add(1, std::memory_order_relaxed);
  record.max_ts = max_ts;
  record.entries = builder.entries();
  file->old_version_bytes = std::exchange(old_bytes, 0);

  std::vector<BuiltExtent> built;
  std::vector<uint32_t> checksums;
  if (builder.entries() > 0) {
    if (keep_extents) {
      for (size_t e = 0; e < old_file->values.size(); ++e) {
        if ((left_out >> e & 1) != 0) continue;
        format::ValueExtentRecord value = old_file->record.values[e];
        value.garbage_bytes += garbage[e];
        built.push_back({value, run->extent_checksums(static_cast<uint32_t>(e))});
        file->values.push_back(old_file->values[e]);
        record.values.push_back(value);
      }
    }
    if (copied_bytes > 0) {
      char* memory = nullptr;
      Result<ExtentRef> extent = make_extent(copied_bytes, false, &memory);
      if (!extent.ok()) return extent.status();
      output.fresh.push_back(*extent);
      char* to = memory;
      for (size_t i = 0; i < copies.size(); ++i) {
        if (i + 8 < copies.size()) {
          for (uint32_t line = 0; line < std::min<uint32_t>(copies[i + 8].size, 512); line += 64) {
            __builtin_prefetch(copies[i + 8].from + line);
          }
        }
        std::memcpy(to, copies[i].from, copies[i].size);
        to += copies[i].size;
      }
      std::memset(to, 0, (*extent)->disk_bytes() - copied_bytes);
      for (size_t block = 0; block < (*extent)->disk_bytes(); block += kBlock) {
        checksums.push_back(block_checksum(memory + block));
      }
      const format::ValueExtentRecord value{(*extent)->address, static_cast<uint32_t>(copied_bytes),
                                            0};
      built.push_back({value, checksums});
      record.values.push_back(value);
      file->values.push_back(std::move(extent).value());
    }
    const size_t bytes = builder.image_bytes(built);
    char* memory = nullptr;
    Result<ExtentRef> image = make_extent(bytes, true, &memory);
    if (!image.ok()) return image.status();
    output.fresh.push_back(*image);
    record.run = (*image)->address;
    record.run_checksum = builder.finish(built, cut, std::min(max_ts, cut), memory);
    file->image = std::move(image).value();
    Result<std::unique_ptr<Run>> attached = Run::attach(memory, bytes, ImageSource::kBuilt);
    if (!attached.ok()) return attached.status();
    made.run = std::move(attached).value();
    store->residency->set_front(file->image.get(), made.run->front_blocks());
  }

  // Large values: those of the old run that stay, and those that come from the delta.
  std::sort(large_kept.begin(), large_kept.end());
  std::sort(large_dropped.begin(), large_dropped.end());
  if (keep_extents) {
    for (const ExtentRef& extent : old_file->large) {
      if (std::binary_search(large_dropped.begin(), large_dropped.end(), extent->address)) continue;
      file->large.push_back(extent);
    }
  }
  for (const ExtentAddress& address : large_kept) {
    if (const ExtentRef* old = old_large(address); old != nullptr) {
      if (!keep_extents) file->large.push_back(*old);
    } else {
      ExtentRef taken = store->large->take(address);
      HAWTHORN_ASSERT(taken);
      if (!taken)
        return Status(StatusCode::kCorruption, "the extent of a large value is not known");
      output.taken.push_back(taken);
      file->large.push_back(std::move(taken));
    }
  }
  for (const ExtentRef& extent : file->large) record.large.push_back(extent->address);
  return {};
}

}  // namespace hawthorn::tree
