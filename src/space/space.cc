#include "space/space.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/assert.h"
#include "base/bytes.h"
#include "os/sync.h"
#include "os/test_point.h"
#include "space/data_files.h"
#include "space/free_map.h"

namespace hawthorn::space {
namespace {

using os::kBlockBytes;

constexpr uint64_t kNewFileBytesMin = uint64_t{1} << 20;
// Smaller holes are not worth a system call at close.
constexpr uint32_t kPunchBlocksMin = 16;
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

// Free ranges are of two kinds. Those in `ready` are backed by disk space: files made by this
// process, and extents that were released. What the present files had free at open is `cold`: a
// clean close may have cut it off or punched it out, so it gets its space back (os::File::allocate
// over the whole file) before the first extent is taken from it.
//
// That this may extend a file with reads under way is the exception to "never resized while in
// use". It is safe: reads and writes under way concern extents that exist, the call changes none of
// their blocks, and no byte is written behind the old end before it returned. It costs what R28 is
// about, a wait of direct I/O on that one file (milliseconds), at most once per file and open, and
// only on files that a clean close has trimmed. To do it when the file is opened would save that,
// but a process that only reads would then blow up every trimmed file, and fail on a full disk.
struct Space::State {
  State(const os::Machine& machine, const std::string& directory, const SpaceOptions& opts)
      : options(opts), clock(machine.clock), files(machine, directory, opts) {}

  const SpaceOptions options;
  os::Clock* const clock;
  DataFiles files;

  struct FileInfo {
    bool present = false;
    uint64_t blocks = 0;  // that it has or may be given
  };

  // Growing is slow and done by one thread at a time, without `mutex`: others go on releasing, and
  // allocating what is ready. Taken before `mutex`.
  os::Mutex grow_mutex;
  os::Mutex mutex;
  FreeMap ready GUARDED_BY(mutex);
  FreeMap cold GUARDED_BY(mutex);
  std::vector<FileInfo> infos GUARDED_BY(mutex);
  uint64_t used_blocks GUARDED_BY(mutex) = 0;
  uint64_t reserved_blocks GUARDED_BY(mutex) = 0;
  // When keep_ready last found the disk full: what it said, what was free then, and when.
  Status full GUARDED_BY(grow_mutex);
  uint64_t full_blocks GUARDED_BY(grow_mutex) = 0;  // what was asked for
  uint32_t full_contiguous GUARDED_BY(grow_mutex) = 0;
  uint64_t full_free_bytes GUARDED_BY(grow_mutex) = 0;
  uint64_t full_since_us GUARDED_BY(grow_mutex) = 0;

  uint64_t step_blocks(uint32_t number) const;
  Status mark_used(const ExtentAddress& extent) EXCLUDES(mutex);
  std::optional<ExtentAddress> take_ready(uint32_t blocks, Use use) EXCLUDES(mutex);
  Result<ExtentAddress> insert(uint32_t blocks) EXCLUDES(grow_mutex, mutex);
  Result<ExtentAddress> grow(uint32_t blocks) EXCLUDES(grow_mutex, mutex);
  Status warm(uint32_t blocks) REQUIRES(grow_mutex) EXCLUDES(mutex);
  Status warm_file(uint32_t number) REQUIRES(grow_mutex) EXCLUDES(mutex);
  Status warm_range(uint32_t blocks) REQUIRES(grow_mutex) EXCLUDES(mutex);
  Status add_file(uint64_t blocks, bool small = false) REQUIRES(grow_mutex) EXCLUDES(mutex);
  bool holds(uint64_t blocks, uint32_t contiguous) REQUIRES(mutex);
  Status keep_ready(uint64_t blocks, uint32_t contiguous) EXCLUDES(grow_mutex, mutex);
  Status trim_file(uint32_t number, const std::vector<ExtentAddress>& free, uint64_t blocks);
};

// Blocks of data.<number> as the options have it: doubling from the first to the maximum.
uint64_t Space::State::step_blocks(uint32_t number) const {
  const uint64_t first =
      std::max<uint64_t>(align_up(options.file_bytes_first, kBlockBytes), kBlockBytes);
  const uint64_t limit =
      std::min(std::max(options.file_bytes_max, first) / kBlockBytes, format::kFileBlocksMax);
  uint64_t blocks = first / kBlockBytes;
  for (uint32_t i = 0; i < number && blocks < limit; ++i) blocks *= 2;
  return std::min(blocks, limit);
}

Result<std::unique_ptr<Space>> Space::open(const os::Machine& machine, const std::string& directory,
                                           const SpaceOptions& options) {
  auto state = std::make_unique<State>(machine, directory, options);
  Result<std::vector<uint32_t>> numbers = state->files.list();
  if (!numbers.ok()) return numbers.status();
  if (Status status = state->files.probe_direct(*numbers); !status.ok()) return status;
  {
    os::MutexLock lock(state->mutex);
    if (!numbers->empty()) state->infos.resize(size_t{numbers->back()} + 1);
    for (const uint32_t number : *numbers) {
      const uint64_t blocks = state->step_blocks(number);
      state->infos[number] = {true, blocks};
      state->cold.add({number, 0, static_cast<uint32_t>(blocks)});
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
  if (extent.file >= infos.size() || !infos[extent.file].present) {
    return Status(StatusCode::kCorruption, where(extent) + " is in a file that is missing");
  }
  const uint64_t end = uint64_t{extent.block} + extent.blocks;
  if (end > format::kFileBlocksMax) {
    return Status(StatusCode::kCorruption, where(extent) + " ends behind the last block of a file");
  }
  uint64_t& blocks = infos[extent.file].blocks;
  if (end > blocks) {
    // The file was made with other options, or for one large extent.
    cold.add({extent.file, static_cast<uint32_t>(blocks), static_cast<uint32_t>(end - blocks)});
    blocks = end;
  }
  if (!cold.carve(extent)) return overlap(extent);
  used_blocks += extent.blocks;
  return {};
}

std::optional<ExtentAddress> Space::State::take_ready(uint32_t blocks, Use use) {
  os::MutexLock lock(mutex);
  if (use == Use::kInsert && ready.blocks() < reserved_blocks + blocks) return std::nullopt;
  std::optional<ExtentAddress> extent = ready.take(blocks);
  if (extent) used_blocks += blocks;
  return extent;
}

Result<ExtentAddress> Space::allocate(uint32_t blocks, Use use) {
  if (state_->options.read_only) {
    return Status(StatusCode::kReadOnly, "space: the database is opened read-only");
  }
  if (blocks == 0) return Status(StatusCode::kInvalidArgument, "space: an extent of no blocks");
  if (use == Use::kInsert) return state_->insert(blocks);
  if (std::optional<ExtentAddress> extent = state_->take_ready(blocks, Use::kFlush)) return *extent;
  return state_->grow(blocks);
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

void Space::reserve(uint64_t blocks) {
  os::MutexLock lock(state_->mutex);
  state_->reserved_blocks = blocks;
}

uint64_t Space::ready_blocks() const {
  os::MutexLock lock(state_->mutex);
  return state_->ready.blocks();
}

bool Space::State::holds(uint64_t blocks, uint32_t contiguous) {
  return ready.blocks() >= blocks && ready.largest() >= contiguous;
}

Status Space::State::keep_ready(uint64_t blocks, uint32_t contiguous) {
  {
    os::MutexLock lock(mutex);
    if (holds(blocks, contiguous)) return {};
  }
  os::MutexLock growing(grow_mutex);
  const uint64_t now_us = clock->monotonic_us();
  const Result<uint64_t> free_bytes = files.free_bytes();
  if (!full.ok() && blocks >= full_blocks && contiguous >= full_contiguous && free_bytes.ok() &&
      *free_bytes <= full_free_bytes && now_us - full_since_us < kAskAgainUs) {
    return full;
  }
  full = Status();
  for (;;) {
    bool first = false;
    uint64_t missing = 0;
    {
      os::MutexLock lock(mutex);
      if (holds(blocks, contiguous)) return {};
      first = infos.empty();
      missing = blocks - std::min(blocks, ready.blocks());
    }
    // The first file begins with what is asked for: a small database needs no more.
    Status status(StatusCode::kNoSpace);
    if (!first) status = warm(contiguous);
    if (status.is(StatusCode::kNoSpace)) {
      status = add_file(std::max<uint64_t>(contiguous, first ? missing : 0), first);
    }
    if (!status.ok()) {
      if (status.is(StatusCode::kNoSpace)) {
        full = status;
        full_blocks = blocks;
        full_contiguous = contiguous;
        full_free_bytes = free_bytes.ok() ? *free_bytes : 0;
        full_since_us = now_us;
      }
      return status;
    }
  }
}

Result<ExtentAddress> Space::State::grow(uint32_t blocks) {
  os::MutexLock growing(grow_mutex);
  // In a loop: other threads may take what has just been made ready.
  for (;;) {
    if (std::optional<ExtentAddress> extent = take_ready(blocks, Use::kFlush)) return *extent;
    Status status = warm(blocks);
    if (status.is(StatusCode::kNoSpace)) status = add_file(blocks);
    if (!status.ok()) return status;
  }
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
  // Larger than the options say: made with others, or for one large extent that is gone.
  blocks = std::clamp(*size / kBlockBytes, blocks, format::kFileBlocksMax);
  Status status = file->allocate(0, blocks * kBlockBytes);
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
    Status status =
        files.file(wanted.file)
            ->allocate(uint64_t{wanted.block} * kBlockBytes, uint64_t{blocks} * kBlockBytes);
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
  uint32_t number = 0;
  {
    os::MutexLock lock(mutex);
    while (number < infos.size() && infos[number].present) ++number;
  }
  if (number >= kFilesMax) {
    return Status(StatusCode::kNoSpace,
                  "space: no more than " + std::to_string(kFilesMax) + " data files");
  }
  const uint64_t bytes_needed = blocks * kBlockBytes;
  const uint64_t step = step_blocks(number);
  uint64_t bytes = small ? bytes_needed : std::max(step * kBlockBytes, bytes_needed);
  const uint64_t bytes_min = std::min(bytes, std::max(bytes_needed, kNewFileBytesMin));
  if (Status status = files.create(number, bytes_min, &bytes); !status.ok()) return status;
  os::MutexLock lock(mutex);
  if (infos.size() <= number) infos.resize(size_t{number} + 1);
  const uint64_t made = bytes / kBlockBytes;
  infos[number] = {true, small ? std::max(made, step) : made};
  ready.add({number, 0, static_cast<uint32_t>(made)});
  cold.add(
      {number, static_cast<uint32_t>(made), static_cast<uint32_t>(infos[number].blocks - made)});
  return {};
}

void Space::release(const ExtentAddress& extent) {
  if (extent.blocks == 0) return;
  State& s = *state_;
  os::MutexLock lock(s.mutex);
  const uint64_t end = uint64_t{extent.block} + extent.blocks;
  const bool inside = extent.file < s.infos.size() && s.infos[extent.file].present &&
                      end <= s.infos[extent.file].blocks;
  // A second release would give the same blocks to two owners. When it happens all the same, losing
  // the blocks until the next open is better.
  const bool live = inside && !s.cold.overlaps(extent) && s.ready.add(extent);
  HAWTHORN_ASSERT(live && "released extent is not in use");
  if (live) s.used_blocks -= extent.blocks;
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
  std::vector<State::FileInfo> infos;
  {
    os::MutexLock lock(s.mutex);
    infos = s.infos;
  }
  uint64_t bytes = 0;
  for (uint32_t number = 0; number < infos.size(); ++number) {
    if (!infos[number].present) continue;
    Result<uint64_t> taken = s.files.file(number)->allocated_bytes();
    bytes += taken.ok() ? *taken : infos[number].blocks * kBlockBytes;
  }
  return bytes;
}

uint32_t Space::largest_free() const {
  os::MutexLock lock(state_->mutex);
  return std::max(state_->ready.largest(), state_->cold.largest());
}

std::vector<ExtentAddress> Space::free_ranges() const {
  State& s = *state_;
  os::MutexLock lock(s.mutex);
  FreeMap all = s.cold;
  all.absorb(s.ready);
  std::vector<ExtentAddress> ranges;
  all.for_each([&](const ExtentAddress& range) { ranges.push_back(range); });
  return ranges;
}

// Cuts the free tail off and punches the other free ranges out. After a crash in between nothing is
// lost: no durable manifest names a free range.
Status Space::State::trim_file(uint32_t number, const std::vector<ExtentAddress>& free,
                               uint64_t blocks) {
  os::File* const file = files.file(number);
  Result<uint64_t> size = file->size();
  if (!size.ok()) return size.status();
  bool changed = false;
  if (const uint64_t end = blocks * kBlockBytes; *size > end) {
    if (Status status = file->truncate(end); !status.ok()) return status;
    *size = end;
    changed = true;
  }
  for (const ExtentAddress& range : free) {
    const uint64_t from = uint64_t{range.block} * kBlockBytes;
    const uint64_t bytes = uint64_t{range.blocks} * kBlockBytes;
    if (from >= *size) continue;
    if (uint64_t{range.block} + range.blocks == blocks) {
      if (Status status = file->truncate(from); !status.ok()) return status;
    } else if (range.blocks >= kPunchBlocksMin) {
      if (Status status = file->punch_hole(from, std::min(bytes, *size - from)); !status.ok()) {
        return status;
      }
    } else {
      continue;
    }
    changed = true;
  }
  if (changed) files.mark_written(number);
  return {};
}

Status Space::trim_files() {
  State& s = *state_;
  if (s.options.read_only) {
    return Status(StatusCode::kReadOnly, "space: the database is opened read-only");
  }
  os::MutexLock growing(s.grow_mutex);
  os::MutexLock lock(s.mutex);
  // From here on nothing free can be relied on to have space.
  s.cold.absorb(s.ready);
  s.ready = FreeMap();
  std::vector<std::vector<ExtentAddress>> free(s.infos.size());
  s.cold.for_each([&](const ExtentAddress& range) { free[range.file].push_back(range); });
  bool at_end = true;
  bool removed = false;
  for (auto number = static_cast<uint32_t>(s.infos.size()); number-- > 0;) {
    State::FileInfo& info = s.infos[number];
    if (!info.present) continue;
    const bool empty = free[number].size() == 1 && free[number][0].blocks == info.blocks;
    at_end = at_end && empty;
    if (at_end) {
      if (Status status = s.files.remove(number); !status.ok()) return status;
      s.cold.take_file(number);
      info = {};
      removed = true;
    } else if (Status status = s.trim_file(number, free[number], info.blocks); !status.ok()) {
      return status;
    }
  }
  if (Status status = s.files.sync(); !status.ok()) return status;
  return removed ? s.files.sync_directory() : Status();
}

Space::Space(std::unique_ptr<State> state) : state_(std::move(state)) {}
Space::~Space() = default;

}  // namespace hawthorn::space
