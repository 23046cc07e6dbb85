// Reading blocks, whole value extents and images from disk: verified, and unpacked where they are
// packed.

#include <algorithm>

#include "base/bytes.h"
#include "os/epoch.h"
#include "os/file.h"
#include "os/io_queue.h"
#include "os/test_point.h"
#include "tree/piece_reads.h"
#include "tree/residency.h"
#include "tree/sealed_blocks.h"

namespace hawthorn::tree {

namespace {
constexpr size_t kRawBufferBytes = 256 << 10;
}  // namespace

std::string Residency::place(os::File* file, uint64_t offset) {
  return file->path() + " at " + std::to_string(offset);
}

// The run of a pinned file, or its outline. It stays what it is, and where it is, as long as the
// pin.
Result<const Run*> Residency::pinned_run(RunFile* file) {
  for (;;) {
    {
      os::epoch::Guard guard;
      const Run* run = file->run.load(std::memory_order_acquire);
      if (run == nullptr) run = file->outline.load(std::memory_order_acquire);
      if (run != nullptr) return run;
    }
    if (Status s = load_for_get(file); !s.ok()) return s;
  }
}

namespace {
// The region of an extent that is read by blocks, and its first block.
struct Region {
  format::StoredRegion stored;
  uint32_t first;
};
Region region_of(const RunFile& file, const Run& run, const Extent& extent, uint32_t block) {
  if (!extent.is_index) return {run.extent_region(file.number_of(&extent)), 0};
  if (block >= run.front_blocks()) return {run.heap_region(), run.front_blocks()};
  return {run.index_region(), run.header().header_blocks};
}
}  // namespace

Result<StoredBlocks> Residency::find_stored(RunFile* file, const Extent& extent,
                                            uint32_t first_block, uint32_t blocks) {
  if (!extent.packed()) return StoredBlocks{first_block, blocks, first_block, blocks, false};
  const Result<const Run*> run = pinned_run(file);
  if (!run.ok()) return run.status();
  return stored_in(*file, **run, extent, first_block, blocks);
}

StoredBlocks Residency::stored_in(const RunFile& file, const Run& run, const Extent& extent,
                                  uint32_t first_block, uint32_t blocks) {
  StoredBlocks found{first_block, blocks, first_block, blocks, false};
  if (!extent.packed()) return found;
  const Region region = region_of(file, run, extent, first_block);
  found.packed = region.stored.packed();
  if (!found.packed) return found;
  const format::Packing& packing = region.stored.packing;
  const uint32_t first = (first_block - region.first) / format::kChunkBlocks;
  const uint32_t end = format::chunk_count(first_block - region.first + blocks);
  const uint32_t disk_end = (packing.ends[end - 1] + os::kBlockBytes - 1) / os::kBlockBytes;
  found.disk_first = static_cast<uint32_t>(packing.begin_of(first) / os::kBlockBytes);
  found.disk_blocks = disk_end - found.disk_first;
  found.disk_first += region.first;
  found.first = region.first + first * format::kChunkBlocks;
  found.blocks = std::min(end * format::kChunkBlocks, packing.blocks) + region.first - found.first;
  return found;
}

// How many blocks of a region, from number `first` on, are what was written. Sealed ones are opened
// in their place.
Result<uint32_t> Residency::confirm_stored(const format::StoredRegion& region, uint32_t first,
                                           uint32_t count, char* blocks) const {
  uint32_t good = 0;
  if (region.seal != nullptr) {
    if (machine_.keys == nullptr) {
      return Status(StatusCode::kCorruption, "a sealed block, and there are no keys");
    }
    Status status = open_blocks(*machine_.keys, region, first, count, blocks, &good);
    if (!status.ok()) return status;
    return good;
  }
  while (good < count && block_checksum(blocks + size_t{good} * os::kBlockBytes) ==
                             region.checksums[first + good]) {
    ++good;
  }
  return good;
}

namespace {
std::string_view mismatch(const format::StoredRegion& region) {
  return region.seal != nullptr ? "a broken seal" : "checksum mismatch";
}

// Of index blocks that were read by themselves: what is checked of a whole front, too.
Status check_index(const Run& run, const Extent& image, const StoredBlocks& blocks,
                   const char* content) {
  if (!image.is_index || run.wide() || blocks.first >= run.front_blocks()) return {};
  format::RunView view = run.view();
  const uint32_t header = view.header->header_blocks;
  const uint32_t first = blocks.first - header;
  const uint32_t end = std::min(blocks.first + blocks.blocks, run.front_blocks()) - header;
  view.index = content - size_t{first} * os::kBlockBytes;
  view.heap = nullptr;
  return format::check_run_groups(view, first * view.layout.per_block,
                                  std::min(end * view.layout.per_block, run.group_count()));
}
}  // namespace

Status Residency::confirm_blocks(RunFile* file, const Extent& extent, const StoredBlocks& blocks,
                                 char* stored, char* content) {
  const Result<const Run*> run = pinned_run(file);
  if (!run.ok()) return run.status();
  const Region region = region_of(*file, **run, extent, blocks.first);
  const uint32_t disk_first = blocks.disk_first - region.first;
  os::File* disk = space_->file(extent.address.file);
  const uint64_t offset = (uint64_t{extent.address.block} + blocks.disk_first) * os::kBlockBytes;
  const auto damage = [&](uint32_t block, std::string_view what) {
    Status status(StatusCode::kCorruption, place(disk, offset + uint64_t{block} * os::kBlockBytes) +
                                               ": " + std::string(what) +
                                               " in a block of container " +
                                               std::to_string(file->record.id));
    tell_damage(file, extent, status);
    return status;
  };
  for (bool again = true;; again = false) {
    count_read(size_t{blocks.disk_blocks} * os::kBlockBytes);
    const Result<uint32_t> good =
        confirm_stored(region.stored, disk_first, blocks.disk_blocks, stored);
    if (!good.ok()) return damage(0, good.status().message());
    if (*good == blocks.disk_blocks) break;
    if (!again) return damage(*good, mismatch(region.stored));
    const size_t bytes = size_t{blocks.disk_blocks} * os::kBlockBytes;
    if (Status s = disk_.read({disk, offset, stored, bytes, nullptr}); !s.ok()) {
      return s;
    }
  }
  const char* begin = stored - size_t{disk_first} * os::kBlockBytes;
  const uint32_t first = (blocks.first - region.first) / format::kChunkBlocks;
  const uint32_t end = format::chunk_count(blocks.first - region.first + blocks.blocks);
  if (!unpack(region.stored, first, end, begin, content)) {
    return damage(0, "a chunk that cannot be unpacked");
  }
  const Status status = check_index(**run, extent, blocks, content);
  return status.ok() ? status : damage(0, std::string(status.message()) + ",");
}

// `stored`: where the region begins. Nothing to do where it is not packed.
bool Residency::unpack(const format::StoredRegion& region, uint32_t first_chunk, uint32_t end_chunk,
                       const char* stored, char* to) const {
  if (!region.packed()) return true;
  const format::Packing& packing = region.packing;
  const format::Dictionary* dictionary = compression_.dictionary(packing.dictionary);
  for (uint32_t chunk = first_chunk; chunk < end_chunk; ++chunk) {
    if (!format::unpack_chunk(packing, dictionary, chunk, stored + packing.begin_of(chunk), to)) {
      return false;
    }
    to += format::kChunkBytes;
  }
  return true;
}

// All of a region that begins at `first_block` of an extent.
Status Residency::read_region(const format::StoredRegion& region, const ExtentAddress& address,
                              uint32_t first_block, uint64_t container, char* to) {
  const size_t bytes = size_t{region.stored_blocks} * os::kBlockBytes;
  if (bytes == 0) return {};
  char* stored = region.packed() ? arena_->allocate(os::Quota::kMerge, bytes, true) : to;
  if (stored == nullptr) {
    return Status(StatusCode::kOutOfMemory,
                  "no memory to unpack " + std::to_string(bytes) + " bytes");
  }
  Status status = read_raw(address, uint64_t{first_block} * os::kBlockBytes, bytes, stored);
  const auto damage = [&](uint32_t block, std::string_view what) {
    return Status(StatusCode::kCorruption,
                  place(space_->file(address.file),
                        (uint64_t{address.block} + first_block + block) * os::kBlockBytes) +
                      ": " + std::string(what) + " in a value block of container " +
                      std::to_string(container));
  };
  if (status.ok()) {
    const Result<uint32_t> good = confirm_stored(region, 0, region.stored_blocks, stored);
    if (!good.ok()) {
      status = damage(0, good.status().message());
    } else if (*good < region.stored_blocks) {
      status = damage(*good, mismatch(region));
    }
  }
  if (status.ok() && !unpack(region, 0, format::chunk_count(region.blocks), stored, to)) {
    status = damage(0, "a chunk that cannot be unpacked");
  }
  if (region.packed()) release(os::Quota::kMerge, stored, bytes);
  return status;
}

Status Residency::read_image(const format::ContainerRecord& record, char* to) {
  const uint32_t front = format::run_front(record).blocks;
  if (front == 0) {
    return Status(StatusCode::kCorruption,
                  "the manifest contradicts itself about container " + std::to_string(record.id));
  }
  const size_t bytes = size_t{record.image_blocks()} * os::kBlockBytes;
  if (Status s = read_raw(record.run, 0, size_t{front} * os::kBlockBytes, to); !s.ok()) return s;
  const std::string where =
      place(space_->file(record.run.file), uint64_t{record.run.block} * os::kBlockBytes);
  Status status =
      open_front(machine_.keys, record, to, size_t{front} * os::kBlockBytes, bytes, where);
  if (status.ok()) {
    status =
        Run::verify_front(to, size_t{front} * os::kBlockBytes, bytes, record.run_checksum, where);
  }
  format::RunView view;
  if (status.ok()) status = format::parse_run(to, bytes, &view);
  if (!status.ok()) return status;
  // Of what has wide groups the heap has come with the front.
  if (record.wide) return {};
  return read_region(view.heap_region(), record.run, front, record.id,
                     to + size_t{front} * os::kBlockBytes);
}

Status Residency::read_values(const format::ContainerRecord& record, const Run& run,
                              uint32_t extent, char* to) {
  return read_region(run.extent_region(extent), record.values[extent].address, 0, record.id, to);
}

Status Residency::carry_out(PieceReads& reads) {
  std::vector<os::IoRead> requests;
  reads.requests(nullptr, &requests);
  if (requests.size() == 1) return disk_.read(requests.front());
  const os::IoQueueLease queue = machine_.queues->lease();
  Status status;
  disk_.read_all(*queue, requests, [&status](os::IoCompletion done) {
    if (status.ok()) status = std::move(done.status);
  });
  return status;
}

Status Residency::read_blocks(RunFile* file, const Extent& extent, uint32_t first_block,
                              uint32_t blocks, char* to) {
  HAWTHORN_TEST_POINT("residency.before_blocks_are_read");
  const PieceRead piece{&extent, first_block, blocks, to};
  PieceReads reads;
  if (Status s = reads.begin(this, file, {&piece, 1}, Need::kMust); !s.ok()) return s;
  if (Status s = carry_out(reads); !s.ok()) return s;
  return reads.finish();
}

void Residency::give_back_stored(Extent* extent) {
  if (extent->stored == nullptr) return;
  release(os::Quota::kMerge, extent->stored, extent->disk_bytes());
  extent->stored = nullptr;
}

void Residency::keep_in_frames(Extent& extent, uint32_t first_block, uint32_t blocks,
                               const char* bytes) {
  if (blocks > kFramesPerRead) return;
  for (uint32_t i = 0; i < blocks; ++i) {
    uint32_t frame = take_frame();
    if (frame == FrameCache::kNone) {
      // Those that were taken from other blocks may wait for readers that are gone.
      os::epoch::collect();
      frames_.collect();
      frame = take_frame();
    }
    if (frame == FrameCache::kNone) return;
    std::memcpy(frames_.memory(frame), bytes + size_t{i} * os::kBlockBytes, os::kBlockBytes);
    frames_.publish(extent, first_block + i, frame);
  }
}

Status Residency::load_values(RunFile* file, uint32_t extent, bool must) {
  Extent* target = file->values[extent].get();
  if (file->bases[extent].load(std::memory_order_acquire) != nullptr) return {};
  char* memory = must ? allocate_for_read(os::Quota::kValues, target->memory_bytes())
                      : allocate(os::Quota::kValues, target->memory_bytes());
  if (memory == nullptr) {
    return Status(StatusCode::kOutOfMemory, "no memory for a value extent of " +
                                                std::to_string(target->memory_bytes()) + " bytes");
  }
  if (!must) bytes_missed_.fetch_add(target->disk_bytes(), std::memory_order_relaxed);
  if (Status s = read_blocks(file, *target, 0, target->blocks, memory); !s.ok()) {
    release(os::Quota::kValues, memory, target->memory_bytes());
    return s;
  }
  if (!take_values(file, extent, memory, false)) {
    release(os::Quota::kValues, memory, target->memory_bytes());
  }
  return {};
}

// Makes a value extent resident that was read. False: somebody else was faster, or a newer file
// owns the extent by now.
bool Residency::take_values(RunFile* file, uint32_t extent, char* memory, bool settled) {
  Extent* target = file->values[extent].get();
  os::MutexLock lock(mutex_);
  if (target->memory.load(std::memory_order_relaxed) != nullptr || target->owner != file) {
    return false;
  }
  mark_settled(*target, settled);
  enlist_body(file, *target);
  target->memory.store(memory, std::memory_order_release);
  file->bases[extent].store(memory, std::memory_order_release);
  return true;
}

Status Residency::read_raw(const ExtentAddress& address, uint64_t offset, size_t size, char* to) {
  os::File* disk = space_->file(address.file);
  if (disk == nullptr) {
    return Status(StatusCode::kCorruption, "data." + std::to_string(address.file) + " is missing");
  }
  // Through a small buffer: the caller's memory is not aligned for direct I/O, and may be large.
  const size_t buffer_bytes =
      std::min(kRawBufferBytes, align_up(size, os::kBlockBytes) + os::kBlockBytes);
  char* buffer = allocate_for_read(os::Quota::kMerge, buffer_bytes);
  if (buffer == nullptr) {
    return Status(StatusCode::kOutOfMemory, "no memory to read a large value");
  }
  Status status;
  while (size > 0 && status.ok()) {
    const uint64_t start = offset / os::kBlockBytes * os::kBlockBytes;
    const size_t before = offset - start;
    const size_t piece = std::min(size, buffer_bytes - before);
    const size_t bytes = align_up(before + piece, os::kBlockBytes);
    status = disk_.read(
        {disk, uint64_t{address.block} * os::kBlockBytes + start, buffer, bytes, nullptr});
    if (!status.ok()) break;
    count_read(bytes);
    std::memcpy(to, buffer + before, piece);
    to += piece;
    offset += piece;
    size -= piece;
  }
  release(os::Quota::kMerge, buffer, buffer_bytes);
  return status;
}

}  // namespace hawthorn::tree
