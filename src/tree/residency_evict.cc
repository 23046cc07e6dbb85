// What goes out of memory: whole values and heaps, fronts, outlines, what has settled, in clock
// order.

#include <algorithm>

#include "os/epoch.h"
#include "tree/residency.h"

namespace hawthorn::tree {

namespace {
// Whole extents leave this part of the budget to frames.
constexpr size_t kFramesFloorShare = 16;
// And what settles leaves them this part of the room that extents have.
constexpr size_t kFramesSettleShare = 8;
// Fronts that are not used give way to frames above this part of the budget. One is looked at for
// so many frames that are wanted, so that all of them had their chance to be used before.
constexpr size_t kFrontsFloorShare = 4;
constexpr uint32_t kFramesPerFront = 8;
// As many blocks being read into frames as there are frames, what has settled of a file stays if it
// was read half as often as it has blocks, or as blocks are counted.
constexpr uint32_t kBlocksCounted = 250;
constexpr uint32_t kBlocksPerUse = 2;
// So many index blocks are read by a file's outline before its front is read as a whole: where it
// does not stay, that costs no more than they did.
constexpr uint32_t kIndexReadsPerFront = 32;
// Of a front that was never in memory, as many, or one for so many blocks: nothing says yet that it
// will not stay.
constexpr uint32_t kIndexReadsAtFirst = 4;
constexpr uint32_t kBlocksPerIndexRead = 8;
}  // namespace

// Keeps what new readers do not find any more until the present ones are gone.
void Residency::give_up(Extent* extent, os::Quota quota, char* memory, size_t bytes, Run* run) {
  extent->ref();
  evicted_.push_back({ExtentRef(extent), quota, memory, bytes, run, os::epoch::stamp()});
}

void Residency::evict_values(RunFile* file, Extent* extent) {
  mark_settled(*extent, false);
  char* memory = extent->memory.exchange(nullptr, std::memory_order_acq_rel);
  for (size_t e = 0; e < file->values.size(); ++e) {
    if (file->values[e].get() == extent) file->bases[e].store(nullptr, std::memory_order_release);
  }
  give_up(extent, os::Quota::kValues, memory, extent->memory_bytes(), nullptr);
}

// The run goes on without its heap. False: no memory for that.
bool Residency::evict_heap(RunFile* file) {
  Extent* image = file->image.get();
  if (file->run.load(std::memory_order_relaxed) != nullptr) {
    Result<std::unique_ptr<Run>> bare =
        Run::attach_parts(image->memory.load(std::memory_order_relaxed), image->memory_bytes(),
                          nullptr, file->record.low, ImageSource::kBuilt, arena_);
    if (!bare.ok()) return false;
    replace_run(file, std::move(bare).value());
  }
  mark_settled(*image, false);
  char* heap = image->heap.exchange(nullptr, std::memory_order_acq_rel);
  give_up(image, os::Quota::kValues, heap, image->heap_bytes(), nullptr);
  return true;
}

// What is left of it finds keys at the price of a read more. Returns what is gained.
size_t Residency::evict_front(RunFile* file) {
  Extent* image = file->image.get();
  size_t kept = 0;
  if (const Run* run = file->run.load(std::memory_order_relaxed);
      run != nullptr && file->outline.load(std::memory_order_relaxed) == nullptr) {
    kept = keep_outline(file, Run::make_outline(*run, arena_));
  }
  file->front_went = true;
  Run* run = file->run.exchange(nullptr, std::memory_order_acq_rel);
  char* memory = image->memory.exchange(nullptr, std::memory_order_acq_rel);
  give_up(image, os::Quota::kIndex, memory, image->front_bytes(), run);
  return image->front_bytes() - std::min(kept, image->front_bytes());
}

// Returns what it takes, where there was none. `outline`: null for lack of memory.
size_t Residency::keep_outline(RunFile* file, std::unique_ptr<Run> outline) {
  if (outline == nullptr || file->outline.load(std::memory_order_relaxed) != nullptr) return 0;
  file->note_header(outline->header());
  const size_t bytes = outline->memory_bytes();
  arena_->charge(os::Quota::kIndex, static_cast<ptrdiff_t>(outline->heap_memory_bytes()));
  file->outline.store(outline.release(), std::memory_order_release);
  enlist(outlines_, file);
  return bytes;
}

bool Residency::wants_front(RunFile* file) {
  // The values are in its blocks, which settle as values do.
  if (file->record.wide) return false;
  const uint32_t blocks = file->image->front_blocks;
  const uint32_t reads = file->front_went
                             ? std::max(kIndexReadsPerFront, 2 * blocks)
                             : std::max(kIndexReadsAtFirst, blocks / kBlocksPerIndexRead);
  return file->index_reads.fetch_add(1, std::memory_order_relaxed) % reads == reads - 1;
}

namespace {
bool movable(const RunFile* file, const Extent* extent) {
  return extent != nullptr && extent->owner == file &&
         extent->memory.load(std::memory_order_relaxed) != nullptr &&
         extent->pins.load(std::memory_order_acquire) == 0 &&
         !extent->writing.load(std::memory_order_acquire);
}
}  // namespace

void Residency::enlist(Clock& clock, RunFile* file) {
  uint32_t& place = file->places[clock.number];
  if (place != RunFile::kNowhere) return;
  place = static_cast<uint32_t>(clock.files.size());
  clock.files.push_back(file);
}

void Residency::delist(Clock& clock, RunFile* file) {
  uint32_t& place = file->places[clock.number];
  if (place == RunFile::kNowhere) return;
  RunFile* last = clock.files.back();
  clock.files[place] = last;
  last->places[clock.number] = place;
  clock.files.pop_back();
  place = RunFile::kNowhere;
}

// Two sweeps of a clock: over files that were not used since the last one, then over any. evict
// says how many bytes of a file went, or kNowhere when there is nothing of it.
template <typename Evict>
size_t Residency::sweep(Clock& clock, size_t bytes, Evict evict) {
  size_t gone = 0;
  for (int round = 0; round < 2 && gone < bytes; ++round) {
    for (size_t left = clock.files.size(); left > 0 && gone < bytes; --left) {
      if (++clock.hand >= clock.files.size()) clock.hand = 0;
      RunFile* file = clock.files[clock.hand];
      if (round == 0 && file->hot.exchange(0, std::memory_order_relaxed) != 0) continue;
      const size_t went = evict(file);
      if (went == RunFile::kNowhere) {
        delist(clock, file);
      } else {
        gone += went;
      }
    }
  }
  return gone;
}

size_t Residency::evict_whole(size_t bytes) {
  return sweep(wholes_, bytes, [this](RunFile* file) REQUIRES(mutex_) -> size_t {
    size_t gone = 0;
    bool present = false;
    for (const ExtentRef& value : file->values) {
      if (value->memory.load(std::memory_order_relaxed) == nullptr || value->settled) continue;
      if (!movable(file, value.get())) {
        present = present || value->owner == file;
        continue;
      }
      evict_values(file, value.get());
      gone += value->memory_bytes();
    }
    Extent* image = file->image.get();
    if (image != nullptr && image->heap.load(std::memory_order_relaxed) != nullptr &&
        !image->settled) {
      if (movable(file, image) && evict_heap(file)) {
        gone += image->heap_bytes();
      } else {
        present = present || image->owner == file;
      }
    }
    return gone == 0 && !present ? RunFile::kNowhere : gone;
  });
}

// As for sweep.
size_t Residency::try_front(RunFile* file) {
  const Extent* image = file->image.get();
  if (image->memory.load(std::memory_order_relaxed) == nullptr || image->owner != file) {
    return RunFile::kNowhere;
  }
  if (!movable(file, image) || image->heap.load(std::memory_order_relaxed) != nullptr) return 0;
  return evict_front(file);
}

size_t Residency::evict_fronts(size_t bytes) {
  return sweep(fronts_, bytes, [this](RunFile* file) REQUIRES(mutex_) { return try_front(file); });
}

size_t Residency::evict_outlines(size_t bytes) {
  return sweep(outlines_, bytes, [this](RunFile* file) REQUIRES(mutex_) -> size_t {
    Run* outline = file->outline.exchange(nullptr, std::memory_order_acq_rel);
    if (outline == nullptr) return RunFile::kNowhere;
    const size_t gone = outline->memory_bytes();
    give_up(file->image.get(), os::Quota::kIndex, nullptr, 0, outline);
    return gone;
  });
}

// Frames are wanted and memory is short: the front that was not used for longest, about, goes.
void Residency::offer_front() {
  if (++frames_wanted_ % kFramesPerFront != 0 || fronts_.files.empty()) return;
  if (arena_->used(os::Quota::kIndex) <= arena_->budget() / kFrontsFloorShare) return;
  if (++fronts_.hand >= fronts_.files.size()) fronts_.hand = 0;
  RunFile* file = fronts_.files[fronts_.hand];
  if (file->hot.exchange(0, std::memory_order_relaxed) != 0) return;
  try_front(file);
}

// ---- What has settled

// What lies behind a front has come to memory.
void Residency::enlist_body(RunFile* file, const Extent& extent) {
  // A file that shares it with a newer one goes first.
  if (extent.owner != nullptr) file = extent.owner;
  if (!extent.settled) return enlist(wholes_, file);
  if (file->places[settled_.number] == RunFile::kNowhere &&
      file->settled_uses == RunFile::kNotSettled) {
    file->settled_uses = RunFile::kUsesMax;  // it was used until now
  }
  enlist(settled_, file);
}

void Residency::mark_settled(Extent& extent, bool settled) {
  if (extent.settled.exchange(settled) == settled) return;
  if (settled) {
    settled_bytes_ += extent.body_bytes();
  } else {
    settled_bytes_ -= extent.body_bytes();
  }
}

// As for sweep: all that has settled of a file goes, unless it was used enough since the last look.
size_t Residency::try_settled(RunFile* file, bool any) {
  std::vector<Extent*> settled;
  uint32_t blocks = 0;
  const auto look_at = [&](Extent* extent) {
    if (extent == nullptr || !extent->settled || extent->owner != file) return;
    settled.push_back(extent);
    blocks += extent->blocks - extent->body_first();
  };
  look_at(file->image.get());
  for (const ExtentRef& value : file->values) look_at(value.get());
  if (settled.empty()) {
    file->settled_uses = RunFile::kNotSettled;
    return RunFile::kNowhere;
  }
  const uint32_t uses = file->settled_uses.exchange(0);
  if (!any && uses * kBlocksPerUse >= std::min(blocks, kBlocksCounted)) return 0;
  size_t gone = 0;
  for (Extent* extent : settled) {
    if (!movable(file, extent)) continue;
    if (!extent->is_index) {
      evict_values(file, extent);
    } else if (!evict_heap(file)) {
      continue;
    }
    gone += extent->body_bytes();
  }
  return gone;
}

size_t Residency::evict_settled(size_t bytes) {
  return sweep(settled_, bytes,
               [this](RunFile* file) REQUIRES(mutex_) { return try_settled(file, true); });
}

// Frames are wanted and memory is short: the hand goes once around what has settled while as many
// are wanted as there are.
void Residency::offer_settled() {
  if (settled_.files.empty()) return;
  settled_due_ += settled_.files.size();
  if (settled_due_ <= frames_.frames_used()) return;
  settled_due_ = 0;
  if (++settled_.hand >= settled_.files.size()) settled_.hand = 0;
  RunFile* file = settled_.files[settled_.hand];
  if (try_settled(file, false) == RunFile::kNowhere) delist(settled_, file);
}

size_t Residency::evict_pass(size_t bytes, Depth depth) {
  const bool all = depth == Depth::kAll;
  size_t gone = 0;
  // Where the room has become less.
  const size_t most = room() / kSettledShare;
  if (all && settled_bytes() > most) gone = evict_settled(std::min(bytes, settled_bytes() - most));
  if (gone < bytes) gone += evict_whole(bytes - gone);
  const size_t frames = arena_->used(os::Quota::kFrames);
  const size_t floor = all ? arena_->budget() / kFramesFloorShare : room() / kFramesSettleShare;
  if (gone < bytes && frames > floor)
    gone += frames_.shrink(std::min(bytes - gone, frames - floor));
  if (!all) return gone;
  if (gone < bytes) gone += evict_fronts(bytes - gone);
  if (gone < bytes) gone += frames_.shrink(bytes - gone);
  if (gone < bytes) gone += evict_settled(bytes - gone);
  // Not while readers alone hold back what was evicted before.
  if (gone < bytes && evicted_.empty() && !frames_.shrinking()) {
    gone += evict_outlines(bytes - gone);
  }
  return gone;
}

}  // namespace hawthorn::tree
