#include "space/space.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/assert.h"
#include "base/bytes.h"
#include "os/posix_error.h"
#include "os/test_point.h"
#include "space/space_state.h"

namespace hawthorn::space {
namespace {

using os::kBlockBytes;

constexpr uint64_t kNewFileBytesMin = uint64_t{1} << 20;
// Of a value of 4 GB, and what stands beside it.
constexpr uint64_t kLargestExtentBlocks = (uint64_t{1} << 20) + 4096;
// On a full disk: how many free ranges one allocation asks for their space.
constexpr size_t kRangesTriedMax = 256;
// A file system that had no space is asked again when it has more, or after this time.
constexpr uint64_t kAskAgainUs = 1'000'000;

std::string where(const ExtentAddress& extent) {
  return data_file_name(extent.file) + " at " +
         std::to_string(uint64_t{extent.block} * kBlockBytes) + ": extent of " +
         std::to_string(extent.blocks) + " blocks";
}

Status overlap(const ExtentAddress& extent) {
  return Status(StatusCode::kCorruption, where(extent) + " overlaps another one");
}

}  // namespace

// Blocks of data.<number> as the options have it.
uint64_t Space::State::step_blocks(uint32_t number) const {
  const uint64_t first =
      std::max<uint64_t>(align_up(options.file_bytes_first, kBlockBytes) / kBlockBytes, 1);
  const uint64_t limit =
      std::min(std::max(options.file_bytes_max / kBlockBytes, first), format::kFileBlocksMax);
  uint64_t all = 0;
  uint64_t blocks = std::min(first, limit);
  for (uint32_t i = 0; i < number && blocks < limit; ++i) {
    all += blocks;
    blocks = std::clamp((all + first) / options.file_share, first, limit);
  }
  return blocks;
}

Result<std::unique_ptr<Space>> Space::open(const os::Machine& machine, const std::string& directory,
                                           const SpaceOptions& options) {
  auto state = std::make_unique<State>(machine, directory, options);
  Result<std::vector<uint32_t>> numbers = state->files.list();
  if (!numbers.ok()) return numbers.status();
  if (Status status = state->files.probe_direct(*numbers); !status.ok()) return status;
  {
    os::MutexLock lock(state->mutex);
    for (const uint32_t number : *numbers) {
      const uint64_t blocks = state->step_blocks(number);
      state->infos[number] = {blocks, 0};
      state->cold.add({number, 0, static_cast<uint32_t>(blocks)});
    }
    for (uint32_t i = 0; options.devices != nullptr && i < options.devices->count(); ++i) {
      const uint64_t blocks = options.devices->blocks(i) - format::kDeviceTailBlocks;
      state->infos[kFilesMax + i] = {blocks, 0};
      state->ready.add({kFilesMax + i, format::kDeviceHeadBlocks,
                        static_cast<uint32_t>(blocks - format::kDeviceHeadBlocks)});
    }
  }
  return std::unique_ptr<Space>(new Space(std::move(state)));
}

Status Space::mark_used(const ExtentAddress& extent) { return state_->mark_used(extent); }

Status Space::mark_used(std::vector<ExtentAddress> extents) {
  std::erase_if(extents, [](const ExtentAddress& extent) { return extent.blocks == 0; });
  std::sort(extents.begin(), extents.end());
  // Extents that touch are taken out as one range: a well-filled file has few gaps.
  ExtentAddress range;
  for (const ExtentAddress& extent : extents) {
    const uint64_t end = uint64_t{range.block} + range.blocks;
    const bool same_file = range.blocks != 0 && extent.file == range.file;
    if (same_file && extent.block < end) return overlap(extent);
    if (same_file && extent.block == end && end + extent.blocks <= format::kFileBlocksMax) {
      range.blocks += extent.blocks;
      continue;
    }
    if (Status status = state_->mark_used(range); !status.ok()) return status;
    range = extent;
  }
  return state_->mark_used(range);
}

Status Space::State::mark_used(const ExtentAddress& extent) {
  if (extent.blocks == 0) return {};
  os::MutexLock lock(mutex);
  auto info = infos.find(extent.file);
  if (info == infos.end() && options.beside_writer) {
    const uint64_t file_blocks = step_blocks(extent.file);
    info = infos.emplace(extent.file, FileInfo{file_blocks, 0}).first;
    cold.add({extent.file, 0, static_cast<uint32_t>(file_blocks)});
  }
  if (info == infos.end()) {
    return Status(StatusCode::kCorruption, where(extent) + " is in a file that is missing");
  }
  const uint64_t end = uint64_t{extent.block} + extent.blocks;
  if (end > format::kFileBlocksMax) {
    return Status(StatusCode::kCorruption, where(extent) + " ends behind the last block of a file");
  }
  uint64_t& blocks = info->second.blocks;
  if (end > blocks && options.devices == nullptr) {
    // The file was made with other options, or for one large extent.
    cold.add({extent.file, static_cast<uint32_t>(blocks), static_cast<uint32_t>(end - blocks)});
    blocks = end;
  }
  if (!cold.carve(extent) && !ready.carve(extent)) return overlap(extent);
  info->second.used += extent.blocks;
  used_blocks += extent.blocks;
  return {};
}

std::optional<ExtentAddress> Space::State::take_ready(uint32_t blocks, Use use) {
  os::MutexLock lock(mutex);
  if (use == Use::kInsert && !holds(reserved_blocks + blocks, blocks)) return std::nullopt;
  std::optional<ExtentAddress> extent = ready.take(blocks);
  if (extent) {
    used_blocks += blocks;
    infos[extent->file].used += blocks;
  }
  return extent;
}

Result<ExtentAddress> Space::allocate(uint32_t blocks, Use use) {
  if (state_->options.read_only) {
    return Status(StatusCode::kReadOnly, "space: the database is opened read-only");
  }
  if (blocks == 0) return Status(StatusCode::kInvalidArgument, "space: an extent of no blocks");
  Result<ExtentAddress> extent =
      use == Use::kInsert ? state_->insert(blocks) : state_->grow(blocks);
  if (!extent.ok()) return extent;
  // What was released is ready in a file, too, that nobody has opened yet. An error when it is
  // written to would be the database's last.
  if (Status status = state_->files.open_now(extent->file); !status.ok()) {
    os::MutexLock lock(state_->mutex);
    state_->used_blocks -= blocks;
    state_->make_free(*extent);
    return status;
  }
  return extent;
}

Status Space::keep_ready(uint64_t blocks, uint32_t contiguous) {
  if (state_->options.read_only) {
    return Status(StatusCode::kReadOnly, "space: the database is opened read-only");
  }
  return state_->keep_ready(blocks, contiguous);
}

// Whether the reserve stays whole is seen under the lock under which the extent is taken: other
// inserts may take what has just been made ready for this one, which then makes more.
Result<ExtentAddress> Space::State::insert(uint32_t blocks) {
  for (;;) {
    uint64_t left = 0;
    {
      os::MutexLock lock(mutex);
      left = reserved_blocks;
    }
    if (Status status = keep_ready(left + blocks, blocks); !status.ok()) return status;
    HAWTHORN_TEST_POINT("space.insert.before_take");
    if (std::optional<ExtentAddress> extent = take_ready(blocks, Use::kInsert)) return *extent;
  }
}

void Space::reserve(uint64_t blocks, uint32_t part) {
  os::MutexLock lock(state_->mutex);
  state_->reserved_blocks = blocks;
  state_->range_blocks_min = part;
}

uint64_t Space::ready_in_ranges(uint64_t enough) const {
  os::MutexLock lock(state_->mutex);
  return state_->ready.blocks_in(state_->range_blocks_min, enough);
}

uint64_t Space::ready_blocks() const {
  os::MutexLock lock(state_->mutex);
  return state_->ready.blocks();
}

bool Space::State::holds(uint64_t blocks, uint32_t contiguous) {
  return ready.blocks_in(range_blocks_min, blocks) >= blocks && ready.largest() >= contiguous;
}

Status Space::State::keep_ready(uint64_t blocks, uint32_t contiguous) {
  {
    os::MutexLock lock(mutex);
    if (holds(blocks, contiguous)) return {};
  }
  os::MutexLock growing(grow_mutex);
  for (;;) {
    bool first = false;
    uint32_t range = contiguous;
    {
      os::MutexLock lock(mutex);
      if (holds(blocks, contiguous)) return {};
      if (stay()) continue;
      first = infos.empty();
      range = std::max(range, range_blocks_min);
    }
    // The first file begins with what is asked for: a small database needs no more.
    const Status status =
        first ? add_file(std::max<uint64_t>(range, blocks), true) : make_ready(range);
    if (status.is(StatusCode::kNoSpace) && take_held_back()) continue;
    if (!status.ok()) return status;
  }
}

Result<ExtentAddress> Space::State::grow(uint32_t blocks) {
  if (std::optional<ExtentAddress> extent = take_ready(blocks, Use::kFlush)) return *extent;
  os::MutexLock growing(grow_mutex);
  // In a loop: other threads may take what has just been made ready.
  for (;;) {
    if (std::optional<ExtentAddress> extent = take_ready(blocks, Use::kFlush)) return *extent;
    {
      os::MutexLock lock(mutex);
      if (stay()) continue;
    }
    const Status status = make_ready(blocks);
    if (status.is(StatusCode::kNoSpace) && take_held_back()) continue;
    if (!status.ok()) return status;
  }
}

// One more range, of so many blocks at least. A full disk is not asked again for as much until it
// has more space than before, or a while has passed: to be told so takes it long, and a flush on a
// full disk asks for many extents.
Status Space::State::make_ready(uint32_t blocks) {
  const uint64_t now_us = clock->monotonic_us();
  const Result<uint64_t> free_bytes = files.free_bytes();
  if (!full.ok() && blocks >= full_blocks && free_bytes.ok() && *free_bytes <= full_free_bytes &&
      now_us - full_since_us < kAskAgainUs) {
    return full;
  }
  Status status = warm(blocks);
  if (status.is(StatusCode::kNoSpace)) status = add_file(blocks);
  if (status.is(StatusCode::kNoSpace)) {
    full = status;
    full_blocks = blocks;
    // With more than that free something else is short, such as descriptors, and the next call
    // tries again.
    full_free_bytes =
        free_bytes.ok() ? std::min<uint64_t>(*free_bytes, uint64_t{blocks} * kBlockBytes) : 0;
    full_since_us = now_us;
  }
  return status;
}

// Makes cold ranges ready, one of them at least as large as asked for. kNoSpace when there is none,
// or no space for it.
Status Space::State::warm(uint32_t blocks) {
  uint32_t number = 0;
  {
    os::MutexLock lock(mutex);
    std::optional<ExtentAddress> best = cold.take(blocks);
    if (!best) return Status(StatusCode::kNoSpace);
    number = best->file;
    cold.add(*best);
  }
  Status status = warm_file(number);
  return status.is(StatusCode::kNoSpace) ? warm_range(blocks) : status;
}

Status Space::State::warm_file(uint32_t number) {
  uint64_t blocks = 0;
  {
    os::MutexLock lock(mutex);
    blocks = infos[number].blocks;
  }
  os::File* const file = files.file(number);
  Result<uint64_t> size = file->size();
  if (!size.ok()) return size.status();
  // Larger than the options say: made with others, or for one large extent that is gone. What the
  // manifest, or a file that is mostly a hole, claims beyond that gets space extent by extent.
  const uint64_t largest = std::max(
      {step_blocks(number), kLargestExtentBlocks, uint64_t{options.file_bytes_max / kBlockBytes}});
  const uint64_t there = std::min(*size / kBlockBytes, largest);
  if (blocks > std::max(there, step_blocks(number))) return Status(StatusCode::kNoSpace);
  blocks = std::clamp(there, blocks, format::kFileBlocksMax);
  Status status = os::as_no_space(file->allocate(0, blocks * kBlockBytes));
  files.mark_written(number);  // the new size is to be synced, too
  if (!status.ok()) return status;
  os::MutexLock lock(mutex);
  uint64_t& present = infos[number].blocks;
  cold.add({number, static_cast<uint32_t>(present), static_cast<uint32_t>(blocks - present)});
  present = blocks;
  for (const ExtentAddress& range : cold.take_file(number)) ready.add(range);
  return {};
}

// The disk is too full for a whole file: single ranges may still have their space, or find it.
Status Space::State::warm_range(uint32_t blocks) {
  std::vector<ExtentAddress> ranges;
  {
    os::MutexLock lock(mutex);
    ranges = cold.at_least(blocks);
  }
  if (ranges.size() > kRangesTriedMax) ranges.resize(kRangesTriedMax);
  for (const ExtentAddress& range : ranges) {
    const ExtentAddress wanted = {range.file, range.block, blocks};
    Status status = os::as_no_space(
        files.file(wanted.file)
            ->allocate(uint64_t{wanted.block} * kBlockBytes, uint64_t{blocks} * kBlockBytes));
    files.mark_written(wanted.file);
    if (status.is(StatusCode::kNoSpace)) continue;
    if (!status.ok()) return status;
    os::MutexLock lock(mutex);
    cold.carve(wanted);
    ready.add(wanted);
    return {};
  }
  return Status(StatusCode::kNoSpace);
}

// `small`: takes no more than asked for, and the rest of the file's usual size at first need.
Status Space::State::add_file(uint64_t blocks, bool small) {
  if (options.devices != nullptr) {
    return Status(StatusCode::kNoSpace, "space: the devices are full: " + options.devices->paths());
  }
  uint32_t number = 0;
  {
    os::MutexLock lock(mutex);
    while (infos.contains(number)) ++number;
  }
  if (number >= kFilesMax) {
    return Status(StatusCode::kNoSpace,
                  "space: no more than " + std::to_string(kFilesMax) + " data files");
  }
  const uint64_t bytes_needed = blocks * kBlockBytes;
  const uint64_t step = step_blocks(number);
  uint64_t bytes = small ? bytes_needed : std::max(step * kBlockBytes, bytes_needed);
  const uint64_t bytes_min = std::min(bytes, std::max(bytes_needed, kNewFileBytesMin));
  if (Status status = files.create(number, bytes_min, &bytes); !status.ok()) {
    return os::as_no_space(std::move(status));
  }
  os::MutexLock lock(mutex);
  const uint64_t made = bytes / kBlockBytes;
  const uint64_t whole = small ? std::max(made, step) : made;
  infos[number] = {whole, 0};
  ready.add({number, 0, static_cast<uint32_t>(made)});
  cold.add({number, static_cast<uint32_t>(made), static_cast<uint32_t>(whole - made)});
  grown_us = clock->monotonic_us();
  return {};
}

void Space::release(const ExtentAddress& extent) {
  if (extent.blocks == 0) return;
  State& s = *state_;
  os::MutexLock lock(s.mutex);
  const uint64_t end = uint64_t{extent.block} + extent.blocks;
  const auto info = s.infos.find(extent.file);
  const bool inside = info != s.infos.end() && end <= info->second.blocks;
  // A second release would give the same blocks to two owners. When it happens all the same, losing
  // the blocks until the next open is better.
  const bool free_already = !inside || s.is_free(extent);
  HAWTHORN_ASSERT(!free_already && "released extent is not in use");
  if (free_already) return;
  s.used_blocks -= extent.blocks;
  if (s.durable_batch <= s.clear_batch && s.copies_hold.empty()) {
    s.make_free(extent);
    return;
  }
  s.held.push_back({s.durable_batch, ++s.released, extent});
  s.held_ranges.add(extent);
}

os::File* Space::file(uint32_t number) { return state_->files.file(number); }
bool Space::direct() const { return state_->files.direct(); }
void Space::mark_written(uint32_t file) { state_->files.mark_written(file); }
Status Space::sync() { return state_->files.sync(); }

uint64_t Space::used_blocks() const {
  os::MutexLock lock(state_->mutex);
  return state_->used_blocks;
}

uint64_t Space::allocated_bytes() const {
  State& s = *state_;
  std::map<uint32_t, State::FileInfo> infos;
  {
    os::MutexLock lock(s.mutex);
    infos = s.infos;
  }
  uint64_t bytes = 0;
  for (const auto& [number, info] : infos) {
    const Result<uint64_t> taken = s.files.file(number)->allocated_bytes();
    if (taken.ok()) {
      bytes += *taken;
      continue;
    }
    os::MutexLock lock(s.mutex);
    if (s.infos.contains(number)) bytes += info.blocks * kBlockBytes;  // not removed meanwhile
  }
  return bytes;
}

uint64_t Space::file_bytes() const {
  State& s = *state_;
  os::MutexLock lock(s.mutex);
  uint64_t bytes = 0;
  for (const auto& [number, info] : s.infos) bytes += info.blocks * kBlockBytes;
  return bytes;
}

uint32_t Space::largest_ready() const {
  os::MutexLock lock(state_->mutex);
  return state_->ready.largest();
}

std::vector<ExtentAddress> Space::free_ranges() const {
  State& s = *state_;
  os::MutexLock lock(s.mutex);
  FreeMap all = s.cold;
  all.absorb(s.ready);
  all.absorb(s.leaving_cold);
  all.absorb(s.leaving_ready);
  for (const FreeMap* kept : {&s.held_ranges, &s.held_ready, &s.held_cold}) all.absorb(*kept);
  std::vector<ExtentAddress> ranges;
  all.for_each([&](const ExtentAddress& range) { ranges.push_back(range); });
  return ranges;
}

Space::Space(std::unique_ptr<State> state) : state_(std::move(state)) {}
Space::~Space() = default;

}  // namespace hawthorn::space
