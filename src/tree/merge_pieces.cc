#include <algorithm>
#include <cstring>
#include <utility>

#include "base/assert.h"
#include "base/bytes.h"
#include "os/epoch.h"
#include "os/file.h"
#include "os/test_point.h"
#include "tree/count.h"
#include "tree/merge_work.h"

namespace hawthorn::tree {

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
  used.wide = plan.codec == format::Codec::kNone;
  used.sealed = store->machine->keys != nullptr;
  builder.start(used);
}

// Memory for an extent's content.
Result<char*> Merger::Work::take_memory(size_t bytes, bool index) {
  bytes = align_up(bytes, os::kBlockBytes);
  const os::Quota quota = index ? os::Quota::kIndex : os::Quota::kValues;
  char* memory = store->residency->allocate(quota, bytes);
  if (memory == nullptr && bytes <= store->arena->budget() / 16) {
    // Everything else is held by readers. A flush gives back more than it takes, so it may go
    // beyond the budget a little.
    memory = store->arena->allocate(quota, bytes, true);
  }
  if (memory != nullptr) return memory;
  const os::Arena& arena = *store->arena;
  return Status(StatusCode::kOutOfMemory,
                "no memory for a flush of " + std::to_string(bytes) + " bytes: of a budget of " +
                    std::to_string(arena.budget()) + ", unflushed data holds " +
                    std::to_string(arena.used(os::Quota::kDelta)) + ", trees " +
                    std::to_string(arena.used(os::Quota::kTrees)) + ", index runs " +
                    std::to_string(arena.used(os::Quota::kIndex)) + ", values " +
                    std::to_string(arena.used(os::Quota::kValues)) + ", merges " +
                    std::to_string(arena.used(os::Quota::kMerge)));
}

void Merger::Work::give_back(const StoredCopy& copy) {
  if (copy.memory == nullptr) return;
  store->residency->release(os::Quota::kMerge, copy.memory, size_t{copy.blocks} * os::kBlockBytes);
}

// An extent with disk space for content in memory, and for the packed copy of it, if there is one;
// takes both over. Nothing is written yet.
Result<ExtentRef> Merger::Work::make_extent(char* memory, size_t bytes, bool index,
                                            const StoredCopy& copy) {
  const size_t blocks = align_up(bytes, os::kBlockBytes) / os::kBlockBytes;
  Result<ExtentAddress> address =
      store->space->allocate(copy.memory == nullptr ? static_cast<uint32_t>(blocks) : copy.blocks);
  if (!address.ok()) {
    store->residency->release(index ? os::Quota::kIndex : os::Quota::kValues, memory,
                              blocks * os::kBlockBytes);
    give_back(copy);
    return address.status();
  }
  auto* extent = new Extent(store->residency, *address, static_cast<uint32_t>(bytes), index);
  extent->stored = copy.memory;
  extent->writing.store(true, std::memory_order_relaxed);
  extent->dropped.store(
      true, std::memory_order_relaxed);  // until it is installed: a failure gives the space back
  store->residency->admit(extent, memory);
  return ExtentRef(extent);
}

// Gathers the values of a piece in its new extent.
Status Merger::Work::finish_values(RunFile* file, std::vector<BuiltExtent>* built) {
  Result<char*> memory = take_memory(copied_bytes, false);
  if (!memory.ok()) return memory.status();
  char* to = *memory;
  for (size_t i = 0; i < copies.size(); ++i) {
    if (i + 8 < copies.size()) {
      for (uint32_t line = 0; line < std::min<uint32_t>(copies[i + 8].size, 512); line += 64) {
        __builtin_prefetch(copies[i + 8].from + line);
      }
    }
    std::memcpy(to, copies[i].from, copies[i].size);
    to += copies[i].size;
  }
  const size_t blocks = align_up(copied_bytes, os::kBlockBytes) / os::kBlockBytes;
  std::memset(to, 0, blocks * os::kBlockBytes - copied_bytes);
  StoredCopy copy = image_packer.values(plan, *memory, static_cast<uint32_t>(blocks));
  const Result<std::span<const uint32_t>> words =
      image_packer.table_words(*memory, static_cast<uint32_t>(blocks), &copy);
  if (!words.ok()) {
    store->residency->release(os::Quota::kValues, *memory, blocks * os::kBlockBytes);
    give_back(copy);
    return words.status();
  }
  if (plan.codec == format::Codec::kZstd) {
    store->residency->compression().offer_sample(container->tree, *memory, copied_bytes);
  }
  Result<ExtentRef> extent = make_extent(*memory, copied_bytes, false, copy);
  if (!extent.ok()) return extent.status();
  output.fresh.push_back(*extent);
  const format::ValueExtentRecord value{(*extent)->address, static_cast<uint32_t>(copied_bytes), 0};
  built->push_back({value, *words, image_packer.values_packing()});
  file->record.values.push_back(value);
  file->values.push_back(std::move(extent).value());
  return {};
}

// The run image over these extents.
Status Merger::Work::finish_run(MergePiece* made, std::span<const BuiltExtent> built) {
  RunFile* file = made->file;
  ImagePacker::Image packed = image_packer.heap(plan, builder, built);
  if (plan.codec == format::Codec::kZstd) {
    const std::string_view heap = builder.heap();
    store->residency->compression().offer_sample(container->tree, heap.data(), heap.size());
  }
  file->record.wide = builder.wide();
  file->record.first_heads = true;
  file->record.separated = runs_have_separators;
  file->record.separator_blocks = builder.separator_blocks();
  const size_t bytes = builder.image_bytes(built, packed.heap());
  Result<char*> memory = take_memory(bytes, true);
  if (!memory.ok()) return memory.status();
  file->record.run_checksum =
      builder.finish(built, cut, std::min(max_ts, cut), *memory, packed.heap());
  const Result<StoredCopy> copy = packed.finish(*memory, bytes, &file->record);
  if (!copy.ok()) {
    store->residency->release(os::Quota::kIndex, *memory, align_up(bytes, os::kBlockBytes));
    return copy.status();
  }
  Result<ExtentRef> image = make_extent(*memory, bytes, true, *copy);
  if (!image.ok()) return image.status();
  output.fresh.push_back(*image);
  file->record.run = (*image)->address;
  if ((*image)->packed()) file->record.unpacked_blocks = (*image)->blocks;
  file->image = std::move(image).value();
  Result<std::unique_ptr<Run>> attached =
      Run::attach(*memory, bytes, ImageSource::kBuilt, store->arena);
  if (!attached.ok()) return attached.status();
  made->run = std::move(attached).value();
  file->note_header(made->run->header());
  // Merges keep old versions only while somebody reads them: their time is not that of each reader.
  if (!file->counted()) file->set_live(made->run->count_newest(), file->record.max_ts);
  store->residency->set_front(file->image.get(), made->run->front());
  return {};
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
  if (builder.entries() > 0) {
    if (keep_extents) {
      for (size_t e = 0; e < old_file->values.size(); ++e) {
        if ((left_out >> e & 1) != 0) continue;
        format::ValueExtentRecord value = old_file->record.values[e];
        value.garbage_bytes += garbage[e];
        const auto number = static_cast<uint32_t>(e);
        built.push_back({value, run->extent_checksums(number), run->extent_region(number).packing});
        file->values.push_back(old_file->values[e]);
        record.values.push_back(value);
      }
    }
    Status status = copied_bytes == 0 ? Status() : finish_values(file, &built);
    if (status.ok()) status = finish_run(&made, built);
    if (!status.ok()) return status;
  }

  // Large values: those of the old run that stay, and those that come from the delta.
  std::sort(large_kept.begin(), large_kept.end());
  large_kept.erase(std::unique(large_kept.begin(), large_kept.end()), large_kept.end());
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
