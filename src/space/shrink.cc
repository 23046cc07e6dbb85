// What gives disk space back: files that are emptied and removed while the database is open, and
// the trimming of all of them at a clean close.

#include <algorithm>
#include <set>
#include <utility>

#include "os/test_point.h"
#include "space/space_state.h"

namespace hawthorn::space {
namespace {

using os::kBlockBytes;

// Smaller holes are not worth a system call at close.
constexpr uint32_t kPunchBlocksMin = 16;
// What is written to empty a file is at most so many times what that gives back.
constexpr uint64_t kMovedPerFreedMax = 3;

}  // namespace

bool Space::State::stay() {
  if (!leaving) return false;
  ready.absorb(leaving_ready);
  cold.absorb(leaving_cold);
  leaving_ready = FreeMap();
  leaving_cold = FreeMap();
  leaving.reset();
  return true;
}

std::optional<uint32_t> Space::leaving() const {
  os::MutexLock lock(state_->mutex);
  return state_->leaving;
}

void Space::stay() {
  os::MutexLock lock(state_->mutex);
  state_->stay();
}

uint64_t Space::grown_us() const {
  os::MutexLock lock(state_->mutex);
  return state_->grown_us;
}

// Of the files that may go, the one whose blocks cost least; of several empty ones the last, which
// is the largest.
std::optional<uint32_t> Space::leave(uint64_t keep_blocks, const std::set<uint32_t>& except) {
  State& s = *state_;
  if (s.options.read_only || s.options.devices != nullptr) return std::nullopt;
  struct Candidate {
    uint32_t number = 0;
    uint64_t used = 0;
    uint64_t freed = 0;
  };
  std::vector<Candidate> candidates;
  os::MutexLock growing(s.grow_mutex);
  {
    os::MutexLock lock(s.mutex);
    if (s.leaving) return s.leaving;
    // Which blocks of a file somebody else may read is not known yet.
    if (s.held_free_batch != 0) return std::nullopt;
    const uint64_t free = s.ready.blocks() + s.cold.blocks();
    if (free <= keep_blocks) return std::nullopt;
    std::map<uint32_t, uint64_t> ready_of;
    s.ready.for_each([&](const ExtentAddress& range) { ready_of[range.file] += range.blocks; });
    for (const auto& [number, info] : s.infos) {
      if (except.contains(number)) continue;
      const uint64_t own = info.blocks - info.used;
      const uint64_t own_ready = ready_of[number];
      // What stays ready elsewhere, and what is free elsewhere for what must move.
      const bool reserve_stays = own_ready == 0 || s.ready.blocks() - own_ready >= keep_blocks;
      const bool room = info.used == 0 || free - own >= keep_blocks + info.used;
      if (reserve_stays && room) candidates.push_back({number, info.used, 0});
    }
  }
  const Candidate* best = nullptr;
  for (Candidate& candidate : candidates) {
    const Result<uint64_t> bytes = s.files.file(candidate.number)->allocated_bytes();
    if (!bytes.ok()) continue;
    const uint64_t blocks = *bytes / kBlockBytes;
    candidate.freed = blocks - std::min(blocks, candidate.used);
    // An empty file goes whatever it holds of the disk.
    if (candidate.used > candidate.freed * kMovedPerFreedMax) continue;
    const auto costs_more = [](const Candidate& one, const Candidate& other) {
      return one.used * (other.freed + 1) > other.used * (one.freed + 1);
    };
    if (best == nullptr || !costs_more(candidate, *best)) best = &candidate;
  }
  if (best == nullptr) return std::nullopt;
  os::MutexLock lock(s.mutex);
  s.leaving = best->number;
  for (const ExtentAddress& range : s.ready.take_file(best->number)) s.leaving_ready.add(range);
  for (const ExtentAddress& range : s.cold.take_file(best->number)) s.leaving_cold.add(range);
  return s.leaving;
}

// Nothing durable names a block of the file: what is released was dropped by a durable batch, or
// never named, and nobody reads or writes it (R24). A crash may bring the name back: then the file
// is free space again.
Result<bool> Space::remove_left() {
  State& s = *state_;
  os::MutexLock growing(s.grow_mutex);
  uint32_t number = 0;
  State::FileInfo info;
  {
    os::MutexLock lock(s.mutex);
    if (!s.leaving || s.infos[*s.leaving].used != 0) return false;
    number = *s.leaving;
    info = s.infos[number];
    s.leaving_ready = FreeMap();
    s.leaving_cold = FreeMap();
    s.leaving.reset();
    s.infos.erase(number);
  }
  HAWTHORN_TEST_POINT("space.before_remove");
  if (Status status = s.files.remove(number); !status.ok()) {
    os::MutexLock lock(s.mutex);
    s.infos[number] = info;
    s.cold.add({number, 0, static_cast<uint32_t>(info.blocks)});
    return status;
  }
  // So that a power loss does not bring it back with its space; nothing depends on that.
  static_cast<void>(s.files.sync_directory().ok());
  return true;
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

// What an open finds again though the disk is full: it asks for ranges from their beginning on.
std::vector<ExtentAddress> Space::State::kept_at_close(uint64_t blocks) {
  std::vector<ExtentAddress> kept;
  std::vector<ExtentAddress> ranges = ready.at_least(range_blocks_min);
  for (auto range = ranges.rbegin(); range != ranges.rend() && blocks > 0; ++range) {
    if (range->block != 0 && cold.overlaps({range->file, range->block - 1, 1})) continue;
    range->blocks = static_cast<uint32_t>(std::min<uint64_t>(range->blocks, blocks));
    blocks -= range->blocks;
    kept.push_back(*range);
  }
  return kept;
}

Status Space::trim_files(uint64_t keep_blocks) {
  State& s = *state_;
  if (s.options.read_only) {
    return Status(StatusCode::kReadOnly, "space: the database is opened read-only");
  }
  if (s.options.devices != nullptr) return {};
  os::MutexLock growing(s.grow_mutex);
  os::MutexLock lock(s.mutex);
  // From here on nothing free can be relied on to have space.
  s.stay();
  const std::vector<ExtentAddress> kept = s.kept_at_close(keep_blocks);
  s.cold.absorb(s.ready);
  s.ready = FreeMap();
  std::set<uint32_t> needed;
  for (const ExtentAddress& range : kept) {
    static_cast<void>(s.cold.carve(range));
    needed.insert(range.file);
  }
  std::map<uint32_t, std::vector<ExtentAddress>> free;
  s.cold.for_each([&](const ExtentAddress& range) { free[range.file].push_back(range); });
  for (const ExtentAddress& range : kept) s.cold.add(range);
  std::set<uint32_t> untouched;  // that another process may still read
  for (const FreeMap* held : {&s.held_ready, &s.held_cold}) {
    held->for_each([&](const ExtentAddress& range) { untouched.insert(range.file); });
  }
  bool removed = false;
  for (auto at = s.infos.begin(); at != s.infos.end();) {
    const auto [number, info] = *at;
    if (untouched.contains(number)) {
      ++at;
      continue;
    }
    if (info.used == 0 && !needed.contains(number)) {
      if (Status status = s.files.remove(number); !status.ok()) return status;
      s.cold.take_file(number);
      at = s.infos.erase(at);
      removed = true;
      continue;
    }
    if (Status status = s.trim_file(number, free[number], info.blocks); !status.ok()) return status;
    ++at;
  }
  if (Status status = s.files.sync(); !status.ok()) return status;
  return removed ? s.files.sync_directory() : Status();
}

void Space::close_files() { state_->files.close(); }

}  // namespace hawthorn::space
