#include "tree/frame_cache.h"

#include <algorithm>
#include <bit>

#include "base/assert.h"
#include "os/epoch.h"

namespace hawthorn::tree {

namespace {
// What others have given back lies in gaps between them: slabs have to fit there.
constexpr size_t kSlabShare = 1024;
constexpr size_t kSlabBytesMin = size_t{64} << 10;
constexpr size_t kSlabBytesMax = size_t{256} << 10;
constexpr size_t kSmallShare = 10;  // one part in so many of the frames is on probation
// So many are evicted ahead of need, as part of the cache and at most: a thread that loses its
// processor inside a guard holds them back for milliseconds, in which others read hundreds.
constexpr size_t kAheadShare = 16;
constexpr size_t kAheadMin = 8;
constexpr size_t kAheadMax = 512;
// To look whether guards have ended costs a barrier on all threads.
constexpr uint32_t kTakesPerLook = 16;
// An extent is ripe with all of its blocks but one in so many.
constexpr uint32_t kRipeMissing = 8;

uint32_t slab_frames_for(size_t budget) {
  const size_t bytes =
      std::clamp(std::bit_floor(budget / kSlabShare), kSlabBytesMin, kSlabBytesMax);
  const size_t least = std::bit_ceil(budget / FrameCache::kSlabsMax + 1);
  return static_cast<uint32_t>(std::max(bytes, least) / FrameCache::kFrameBytes);
}
}  // namespace

FrameCache::FrameCache(os::Arena* arena)
    : arena_(arena), slab_frames_(slab_frames_for(arena->budget())) {}

FrameCache::~FrameCache() {
  os::MutexLock lock(mutex_);
  for (uint32_t s = 0; s < slabs_end_; ++s) {
    if (slab(s).memory == nullptr) continue;
    arena_->release(os::Quota::kFrames, slab(s).memory, slab_bytes());
    arena_->charge(os::Quota::kFrames, -static_cast<ptrdiff_t>(slab_frames_ * sizeof(Frame)));
  }
  arena_->charge(os::Quota::kFrames, -static_cast<ptrdiff_t>(ghosts_.size() * sizeof(Ghost)));
}

char* FrameCache::memory(uint32_t number) const {
  return slab(number / slab_frames_).memory + size_t{number % slab_frames_} * kFrameBytes;
}

const char* FrameCache::find(const Extent& extent, uint32_t block) const {
  FrameTable* table = extent.frames.load(std::memory_order_acquire);
  if (table == nullptr) return nullptr;
  const uint32_t slot = table->frames[block].load(std::memory_order_acquire);
  if (slot == 0) return nullptr;
  const uint32_t hits = table->hits.load(std::memory_order_relaxed);
  table->hits.store(hits + 1, std::memory_order_relaxed);
  const Frame& found = frame(slot - 1);
  const uint8_t uses = found.uses.load(std::memory_order_relaxed);
  if (uses < kUsesMax) found.uses.store(uses + 1, std::memory_order_relaxed);
  hits_.fetch_add(1, std::memory_order_relaxed);
  return memory(slot - 1);
}

bool FrameCache::ripe(const Extent& extent) {
  const FrameTable* table = extent.frames.load(std::memory_order_acquire);
  if (table == nullptr) return false;
  const uint32_t first = extent.settles_from();
  const uint32_t wanted = extent.blocks - first - (extent.blocks - first) / kRipeMissing;
  const uint32_t hits = table->hits.load(std::memory_order_relaxed);
  if (hits == 0 || hits % (2 * wanted) != 0) return false;
  if (table->used.load(std::memory_order_relaxed) < wanted) return false;
  uint32_t used_again = 0;
  os::MutexLock lock(mutex_);
  for (uint32_t block = first; block < extent.blocks; ++block) {
    const uint32_t slot = table->frames[block].load(std::memory_order_relaxed);
    if (slot == 0) continue;
    const Frame& entry = frame(slot - 1);
    if (entry.place == Place::kMain || entry.uses.load(std::memory_order_relaxed) > 0) ++used_again;
  }
  return used_again >= wanted;
}

// ---- Queues

void FrameCache::push(Queue& queue, uint32_t number, Place place) {
  Frame& entry = frame(number);
  entry.place = place;
  entry.next = kNone;
  entry.previous = queue.tail;
  (queue.tail == kNone ? queue.head : frame(queue.tail).next) = number;
  queue.tail = number;
  ++queue.size;
}

void FrameCache::unlink(Queue& queue, uint32_t number) {
  const Frame& entry = frame(number);
  (entry.previous == kNone ? queue.head : frame(entry.previous).next) = entry.next;
  (entry.next == kNone ? queue.tail : frame(entry.next).previous) = entry.previous;
  --queue.size;
}

FrameCache::Queue& FrameCache::queue_of(const Frame& entry) {
  return entry.place == Place::kSmall ? small_ : entry.place == Place::kMain ? main_ : free_;
}

// Of a frame that nobody reads or fills.
void FrameCache::free_frame(uint32_t number) {
  Slab& owner = slab(number / slab_frames_);
  frame(number).extent = nullptr;
  if (owner.leaving) {
    frame(number).place = Place::kFree;
    --owner.busy;
    return;
  }
  push(free_, number, Place::kFree);
}

// New readers do not find the frame any more.
void FrameCache::take_from_extent(uint32_t number) {
  const Frame& entry = frame(number);
  FrameTable* table = entry.extent->frames.load(std::memory_order_relaxed);
  table->frames[entry.block].store(0, std::memory_order_release);
  table->used.fetch_sub(1, std::memory_order_relaxed);
  used_.fetch_sub(1, std::memory_order_relaxed);
}

// Of one in a queue: it waits for the guards that may see it.
void FrameCache::drop_frame(uint32_t number) {
  unlink(queue_of(frame(number)), number);
  take_from_extent(number);
  frame(number).place = Place::kWaiting;
  waiting_.push_back({number, os::epoch::stamp()});
}

// Drops the block that S3-FIFO says.
bool FrameCache::evict_one() {
  const size_t small_target = std::max<size_t>(1, frames_ / kSmallShare);
  while (small_.size > 0 && (small_.size >= small_target || main_.size == 0)) {
    const uint32_t number = small_.head;
    Frame& entry = frame(number);
    if (entry.uses.load(std::memory_order_relaxed) > 0) {
      entry.uses.store(0, std::memory_order_relaxed);
      unlink(small_, number);
      push(main_, number, Place::kMain);
      continue;
    }
    remember(*entry.extent, entry.block);
    drop_frame(number);
    return true;
  }
  while (main_.size > 0) {
    const uint32_t number = main_.head;
    Frame& entry = frame(number);
    const uint8_t uses = entry.uses.load(std::memory_order_relaxed);
    if (uses == 0) {
      // Unlike in the paper: where what is hot does not fit, these misses must tell.
      remember(*entry.extent, entry.block);
      drop_frame(number);
      return true;
    }
    entry.uses.store(uses - 1, std::memory_order_relaxed);
    unlink(main_, number);
    push(main_, number, Place::kMain);
  }
  return false;
}

void FrameCache::collect_waiting() {
  while (!waiting_.empty() && os::epoch::passed(waiting_.front().epoch)) {
    free_frame(waiting_.front().frame);
    waiting_.pop_front();
  }
}

// Keeps about so many frames free, or waiting for that, as are needed soon.
void FrameCache::evict_ahead() {
  const size_t ahead = std::clamp(frames_ / kAheadShare, kAheadMin, kAheadMax);
  const bool few = free_.size < ahead / 2;
  if (!waiting_.empty() && few && (free_.size == 0 || ++takes_ % kTakesPerLook == 0)) {
    collect_waiting();
  }
  if (free_.size >= ahead / 2) return;
  wants_slab_.store(true, std::memory_order_relaxed);
  while (free_.size + waiting_.size() < ahead && evict_one()) continue;
}

uint32_t FrameCache::take() {
  for (int attempt = 0; attempt < 3; ++attempt) {
    {
      os::MutexLock lock(mutex_);
      evict_ahead();
      if (free_.size > 0) {
        const uint32_t number = free_.head;
        unlink(free_, number);
        frame(number).place = Place::kTaken;
        return number;
      }
      if (waiting_.empty()) return kNone;
    }
    os::epoch::collect();
  }
  return kNone;
}

void FrameCache::publish(Extent& extent, uint32_t block, uint32_t number) {
  FrameTable* table = extent.frames.load(std::memory_order_acquire);
  if (table == nullptr) {
    auto made = std::make_unique<FrameTable>(extent.blocks);
    if (extent.frames.compare_exchange_strong(table, made.get(), std::memory_order_acq_rel)) {
      arena_->charge(os::Quota::kFrames, static_cast<ptrdiff_t>(made->blocks * sizeof(uint32_t)));
      table = made.release();
    }
  }
  os::MutexLock lock(mutex_);
  misses_.fetch_add(1, std::memory_order_relaxed);
  Frame& entry = frame(number);
  HAWTHORN_ASSERT(entry.place == Place::kTaken);
  const bool leaving = slab(number / slab_frames_).leaving;
  if (leaving || table->frames[block].load(std::memory_order_relaxed) != 0) {
    free_frame(number);
    return;
  }
  entry.extent = &extent;
  entry.block = block;
  entry.uses.store(0, std::memory_order_relaxed);
  if (remembered(extent, block)) {
    ghost_hits_.fetch_add(1, std::memory_order_relaxed);
    push(main_, number, Place::kMain);
  } else {
    push(small_, number, Place::kSmall);
  }
  used_.fetch_add(1, std::memory_order_relaxed);
  table->used.fetch_add(1, std::memory_order_relaxed);
  table->frames[block].store(number + 1, std::memory_order_release);
}

void FrameCache::give_back(uint32_t number) {
  os::MutexLock lock(mutex_);
  free_frame(number);
}

void FrameCache::forget(Extent& extent) {
  FrameTable* table = extent.frames.load(std::memory_order_acquire);
  if (table == nullptr) return;
  os::MutexLock lock(mutex_);
  for (uint32_t block = 0; block < table->blocks; ++block) {
    const uint32_t slot = table->frames[block].load(std::memory_order_relaxed);
    if (slot == 0) continue;
    unlink(queue_of(frame(slot - 1)), slot - 1);
    take_from_extent(slot - 1);
    free_frame(slot - 1);
  }
  arena_->charge(os::Quota::kFrames, -static_cast<ptrdiff_t>(table->blocks * sizeof(uint32_t)));
}

void FrameCache::drop(Extent& extent, uint32_t first) {
  const FrameTable* table = extent.frames.load(std::memory_order_acquire);
  if (table == nullptr) return;
  os::MutexLock lock(mutex_);
  for (uint32_t block = first; block < table->blocks; ++block) {
    const uint32_t slot = table->frames[block].load(std::memory_order_relaxed);
    if (slot != 0) drop_frame(slot - 1);
  }
}

// ---- Slabs

void FrameCache::grow(char* memory) {
  auto frames = std::make_unique<Frame[]>(slab_frames_);
  os::MutexLock lock(mutex_);
  uint32_t& number = slabs_free_from_;
  while (number < slabs_end_ && slab(number).memory != nullptr) ++number;
  if (number == kSlabsMax) {
    wants_slab_.store(false, std::memory_order_relaxed);
    arena_->release(os::Quota::kFrames, memory, slab_bytes());
    return;
  }
  slabs_end_ = std::max(slabs_end_, number + 1);
  std::unique_ptr<Slab[]>& shelf = shelves_[number / kShelfSlabs];
  if (shelf == nullptr) shelf = std::make_unique<Slab[]>(kShelfSlabs);
  slab(number) = {memory, std::move(frames), false, 0, 0};
  frames_ += slab_frames_;
  arena_->charge(os::Quota::kFrames, static_cast<ptrdiff_t>(slab_frames_ * sizeof(Frame)));
  for (uint32_t i = 0; i < slab_frames_; ++i) {
    push(free_, number * slab_frames_ + i, Place::kFree);
  }
  wants_slab_.store(false, std::memory_order_relaxed);
  size_ghosts();
}

size_t FrameCache::shrink(size_t bytes) {
  os::MutexLock lock(mutex_);
  // From the upper end of the arena, so that whole huge pages become free there.
  std::vector<uint32_t> order;
  for (uint32_t s = 0; s < slabs_end_; ++s) {
    if (slab(s).memory != nullptr && !slab(s).leaving) order.push_back(s);
  }
  const size_t most = std::min(order.size(), bytes / slab_bytes() + 1);
  std::partial_sort(order.begin(), order.begin() + static_cast<ptrdiff_t>(most), order.end(),
                    [this](uint32_t a, uint32_t b) { return slab(a).memory > slab(b).memory; });
  size_t coming = 0;
  for (size_t at = 0; at < most && coming < bytes; ++at) {
    const uint32_t s = order[at];
    Slab& given = slab(s);
    given.leaving = true;
    given.busy = 0;
    for (uint32_t i = 0; i < slab_frames_; ++i) {
      const uint32_t number = s * slab_frames_ + i;
      Frame& entry = given.frames[i];
      if (entry.place == Place::kTaken || entry.place == Place::kWaiting) {
        ++given.busy;
        continue;
      }
      unlink(queue_of(entry), number);
      if (entry.place != Place::kFree) take_from_extent(number);
      entry.place = Place::kFree;
      entry.extent = nullptr;
    }
    given.epoch = os::epoch::stamp();
    frames_ -= slab_frames_;
    shrinking_.fetch_add(1, std::memory_order_relaxed);
    coming += slab_bytes();
  }
  return coming;
}

size_t FrameCache::collect() {
  if (!shrinking()) return 0;
  os::MutexLock lock(mutex_);
  collect_waiting();
  size_t gone = 0;
  for (uint32_t s = 0; s < slabs_end_; ++s) {
    Slab& gone_slab = slab(s);
    if (!gone_slab.leaving || gone_slab.busy != 0 || !os::epoch::passed(gone_slab.epoch)) continue;
    arena_->release(os::Quota::kFrames, gone_slab.memory, slab_bytes());
    arena_->charge(os::Quota::kFrames, -static_cast<ptrdiff_t>(slab_frames_ * sizeof(Frame)));
    gone_slab.memory = nullptr;
    slabs_free_from_ = std::min(slabs_free_from_, s);
    gone_slab.frames.reset();
    gone_slab.leaving = false;
    shrinking_.fetch_sub(1, std::memory_order_relaxed);
    gone += slab_bytes();
  }
  return gone;
}

// ---- Ghosts: a table without chains, in which a younger block takes the place of an older one

uint64_t FrameCache::ghost_key(const Extent& extent, uint32_t block) {
  uint64_t x = uint64_t{extent.address.file} << 32 | (extent.address.block + block);
  x = (x ^ (x >> 33)) * 0xff51afd7ed558ccdU;  // the finalizer of MurmurHash3
  x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53U;
  return x ^ (x >> 33);
}

void FrameCache::size_ghosts() {
  const size_t wanted = std::bit_ceil(frames_);
  if (ghosts_.size() >= wanted) return;
  arena_->charge(os::Quota::kFrames,
                 static_cast<ptrdiff_t>((wanted - ghosts_.size()) * sizeof(Ghost)));
  ghosts_.assign(wanted, {});
}

void FrameCache::remember(const Extent& extent, uint32_t block) {
  if (ghosts_.empty()) return;
  const uint64_t key = ghost_key(extent, block);
  ghosts_[key & (ghosts_.size() - 1)] = {static_cast<uint32_t>(key >> 32), ++ghost_time_};
}

bool FrameCache::remembered(const Extent& extent, uint32_t block) {
  if (ghosts_.empty()) return false;
  const uint64_t key = ghost_key(extent, block);
  const Ghost& ghost = ghosts_[key & (ghosts_.size() - 1)];
  return ghost.time != 0 && ghost.tag == static_cast<uint32_t>(key >> 32) &&
         ghost_time_ - ghost.time < frames_;
}

}  // namespace hawthorn::tree
