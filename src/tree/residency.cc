#include "tree/residency.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/bytes.h"
#include "os/epoch.h"
#include "os/event_sink.h"
#include "os/file.h"
#include "os/test_point.h"
#include "tree/container.h"
#include "tree/sealed_blocks.h"

namespace hawthorn::tree {

namespace {
// Frames leave this part of the budget to whole extents.
constexpr size_t kWholeFloorShare = 16;
// Of the budget, what cursors read ahead.
constexpr size_t kPinAheadShare = 16;
// So little is not waited for.
constexpr size_t kFewBytes = size_t{64} << 10;
}  // namespace

// ---- Extent, RunFile

void Extent::unref() {
  if (refs.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  residency->forget(this);
  delete this;
}

void RunFile::unref() {
  if (refs.fetch_sub(1, std::memory_order_acq_rel) == 1) os::epoch::retire(this);
}

void RunFile::pin() {
  if (image) image->pins.fetch_add(1, std::memory_order_acq_rel);
  for (const ExtentRef& value : values) value->pins.fetch_add(1, std::memory_order_acq_rel);
}

void RunFile::unpin() {
  if (image) image->pins.fetch_sub(1, std::memory_order_acq_rel);
  for (const ExtentRef& value : values) value->pins.fetch_sub(1, std::memory_order_acq_rel);
}

bool RunFile::find_front() {
  const format::RunFront front = format::run_front(record);
  if (front.blocks != 0) image->set_front(front);
  return front.blocks != 0;
}

uint64_t RunFile::disk_blocks() const {
  uint64_t sum = record.run.blocks;
  for (const format::ValueExtentRecord& value : record.values) sum += value.address.blocks;
  for (const ExtentAddress& extent : record.large) sum += extent.blocks;
  return sum;
}

SpaceUse RunFile::space_use() const {
  return {disk_blocks() * os::kBlockBytes, garbage_on_disk(), old_version_bytes};
}

// Where no entry carries a timestamp and none is a tombstone, every registered reader sees all.
void RunFile::note_header(const format::RunHeader& header) {
  if (counted()) return;
  if (header.timestamp_count + header.tombstone_count == 0) {
    set_live(header.entries, 0);
  } else {
    live.store(kHasVersions, std::memory_order_release);
  }
}

void RunFile::date(Lsn from, RunFile* before) {
  before->ref();
  if (earlier != nullptr) earlier->unref();
  earlier = before;
  since = from;
  dated = true;
}

RunFile::~RunFile() {
  if (earlier != nullptr) earlier->unref();
  if (residency != nullptr) residency->forget(this);
  delete damage.load(std::memory_order_relaxed);
  if (bases != near_bases.data()) delete[] bases;
}

void RunFile::quarantine(const Status& status) {
  const Status* none = nullptr;
  const auto* told = new Status(status.code(), std::string(status.message()) + " (container " +
                                                   std::to_string(record.id) + " is quarantined)");
  if (!damage.compare_exchange_strong(none, told, std::memory_order_acq_rel)) delete told;
  damaged.store(true, std::memory_order_release);
}

// ---- Residency

Residency::Residency(const os::Machine& machine, os::Arena* arena, space::Space* space)
    : machine_(machine),
      arena_(arena),
      space_(space),
      frames_(arena),
      disk_(machine),
      compression_(arena) {}

Residency::~Residency() {
  os::MutexLock lock(mutex_);
  for (Evicted& entry : evicted_) {
    release_run(entry.run);
    if (entry.memory != nullptr) arena_->release(entry.quota, entry.memory, entry.bytes);
  }
  evicted_.clear();
}

// Search tables lie on the heap and are charged for. A run that was there before goes when its
// readers are gone.
void Residency::replace_run(RunFile* file, std::unique_ptr<Run> run) {
  file->note_header(run->header());
  arena_->charge(os::Quota::kIndex, static_cast<ptrdiff_t>(run->heap_memory_bytes()));
  enlist(fronts_, file);
  if (run->heap() != nullptr && file->image->heap_bytes() != 0)
    enlist_body(file, *file->image.get());
  Run* old = file->run.exchange(run.release(), std::memory_order_acq_rel);
  if (old != nullptr) give_up(file->image.get(), os::Quota::kIndex, nullptr, 0, old);
}

void Residency::release_run(Run* run) {
  if (run == nullptr) return;
  arena_->charge(os::Quota::kIndex, -static_cast<ptrdiff_t>(run->heap_memory_bytes()));
  delete run;
}

size_t Residency::extent_bytes() const {
  return arena_->used(os::Quota::kTrees) + arena_->used(os::Quota::kIndex) +
         arena_->used(os::Quota::kValues) + arena_->used(os::Quota::kFrames) +
         arena_->used(os::Quota::kMerge);
}

// What is set aside for deltas and others, and what the others have taken beyond their part.
size_t Residency::set_aside() const {
  const size_t others = arena_->used(os::Quota::kLog) + arena_->used(os::Quota::kOther) +
                        arena_->used(os::Quota::kPins);
  const size_t part = others_part_.load(std::memory_order_relaxed);
  return reserve_.load(std::memory_order_relaxed) + others - std::min(others, part);
}

bool Residency::within_limit(size_t bytes) const {
  return extent_bytes() + bytes + set_aside() <= arena_->budget();
}

size_t Residency::excess() const {
  const size_t wanted = extent_bytes() + set_aside();
  return wanted - std::min(wanted, arena_->budget());
}

void Residency::return_to_budget() {
  if (!arena_->over_budget()) return;
  const size_t budget = arena_->budget();
  arena_->shrink_to(budget);
  const size_t resident = arena_->resident_bytes();
  if (resident <= budget) return;
  const size_t excess = resident - budget;
  {
    os::MutexLock lock(mutex_);
    collect_evicted();
    size_t gone = evict_whole(excess);
    if (gone < excess) gone += frames_.shrink(excess - gone);
    if (gone < excess) evict_settled(excess - gone);
  }
  os::epoch::collect();
  frames_.collect();
  {
    os::MutexLock lock(mutex_);
    collect_evicted();
  }
  arena_->shrink_to(budget);
}

bool Residency::roomy(size_t bytes) const {
  const size_t database = space_->used_blocks() * os::kBlockBytes;
  return database + set_aside() <= arena_->budget() && within_limit(bytes + bytes / 4) &&
         arena_->largest_free() >= bytes;
}

char* Residency::allocate(os::Quota quota, size_t bytes) {
  return allocate(quota, bytes, kAttemptsMax);
}

char* Residency::allocate(os::Quota quota, size_t bytes, int attempts, Depth depth) {
  bytes = align_up(bytes, os::kBlockBytes);
  for (int attempt = 0; attempt < attempts; ++attempt) {
    if (within_limit(bytes)) {
      if (char* memory = arena_->allocate(quota, bytes); memory != nullptr) return memory;
    }
    bool waiting;
    {
      os::MutexLock lock(mutex_);
      collect_evicted();
      // Contiguous space needs more than its own size to go when free spans are scattered.
      waiting = !evicted_.empty() || frames_.shrinking();
      size_t gone = 0;
      // Who only asks does not take more where what was taken has not come yet.
      if (depth == Depth::kAll || !waiting) {
        gone = evict_pass(bytes * (attempt < 4 ? 1 : 4), depth);
        waiting = !evicted_.empty() || frames_.shrinking();
      }
      if (gone == 0 && !waiting) return nullptr;
    }
    os::epoch::collect();
    {
      os::MutexLock lock(mutex_);
      collect_evicted();
    }
    frames_.collect();
    // What was evicted is there when its readers have left their guards; one of them may just have
    // lost the processor.
    if (waiting && attempt > 8) {
      machine_.clock->sleep_us(std::min<uint64_t>(uint64_t{50} << (attempt - 9) / 4, 5000));
    }
  }
  return nullptr;
}

char* Residency::allocate_for_read(os::Quota quota, size_t bytes) {
  // What could go may wait for frames and pins of the very batch that asks for a few blocks.
  const int attempts = bytes <= kFewBytes ? kAttemptsEasy : kAttemptsMax;
  if (char* memory = allocate(quota, bytes, attempts); memory != nullptr) return memory;
  return arena_->allocate(quota, align_up(bytes, os::kBlockBytes), true);
}

char* Residency::allocate_needed(os::Quota quota, size_t bytes, Need need) {
  return need == Need::kMust ? allocate_for_read(quota, bytes)
                             : allocate(quota, bytes, kAttemptsEasy);
}

bool Residency::reserve_ahead(size_t bytes) {
  const size_t before = ahead_.fetch_add(bytes, std::memory_order_relaxed);
  if (before + bytes <= arena_->budget() / kPinAheadShare) return true;
  unreserve_ahead(bytes);
  return false;
}

uint32_t Residency::take_frame() {
  uint32_t frame = frames_.take();
  if (!frames_.wants_slab()) return frame;
  // Whole extents give way to frames, but for what a few flushes leave behind them.
  const size_t bytes = frames_.slab_bytes();
  if (!within_limit(bytes)) {
    os::MutexLock lock(mutex_);
    collect_evicted();
    const size_t floor = std::max(arena_->budget() / kWholeFloorShare, bytes);
    const size_t wholes = arena_->used(os::Quota::kValues);
    if (!within_limit(bytes) && wholes > floor + settled_bytes()) evict_whole(bytes);
    if (!within_limit(bytes)) offer_front();
    if (!within_limit(bytes)) offer_settled();
  }
  if (within_limit(bytes)) {
    if (char* slab = arena_->allocate(os::Quota::kFrames, bytes); slab != nullptr) {
      frames_.grow(slab);
    }
  }
  return frame == FrameCache::kNone ? frames_.take() : frame;
}

void Residency::release(os::Quota quota, char* memory, size_t bytes) {
  arena_->release(quota, memory, align_up(bytes, os::kBlockBytes));
}

bool Residency::make_room(size_t bytes) {
  size_t gone;
  {
    os::MutexLock lock(mutex_);
    collect_evicted();
    gone = evict_pass(bytes, Depth::kAll);
  }
  os::epoch::collect();
  frames_.collect();
  os::MutexLock lock(mutex_);
  collect_evicted();
  return gone > 0;
}

void Residency::collect_evicted() {
  for (size_t i = 0; i < evicted_.size();) {
    Evicted& entry = evicted_[i];
    if (!os::epoch::passed(entry.epoch) ||
        entry.extent->pins.load(std::memory_order_acquire) != 0) {
      ++i;
      continue;
    }
    release_run(entry.run);
    if (entry.memory != nullptr) arena_->release(entry.quota, entry.memory, entry.bytes);
    Evicted last = std::move(evicted_.back());
    evicted_.pop_back();
    if (i < evicted_.size()) evicted_[i] = std::move(last);
  }
}

void Residency::admit(Extent* extent, char* memory) {
  extent->memory.store(memory, std::memory_order_release);
}

void Residency::set_front(Extent* image, const format::RunFront& front) {
  image->set_front(front);
  char* memory = image->memory.load(std::memory_order_relaxed);
  if (image->heap_bytes() == 0 || memory == nullptr) return;
  arena_->split(os::Quota::kIndex, memory, image->memory_bytes(), image->front_bytes(),
                os::Quota::kValues);
  image->heap.store(memory + image->front_bytes(), std::memory_order_release);
}

namespace {
// What a container has outside the arena: its objects, those of its extents, and its record, which
// the manifest has, too.
size_t heap_bytes_of(const RunFile& file) {
  constexpr size_t kObjects = sizeof(Container) + 32 + sizeof(RunFile);  // 32: its descriptor
  // The directory's nodes, and its packed record in the manifest.
  constexpr size_t kPlaces = 96 + 46;
  constexpr size_t kHeapBlock = 8;  // what a block of the heap takes beside what is asked for
  const format::ContainerRecord& record = file.record;
  const size_t values = file.values.size() + file.large.size();
  const size_t copies = record.values.size() * sizeof(format::ValueExtentRecord) +
                        record.large.size() * sizeof(ExtentAddress) + 2 * record.low.size();
  return kObjects + kPlaces + 2 * copies + sizeof(Extent) + kHeapBlock +
         values * (sizeof(Extent) + sizeof(ExtentRef) + kHeapBlock + sizeof(const char*));
}
}  // namespace

void Residency::adopt(RunFile* file, std::unique_ptr<Run> attached) {
  if (file->empty()) file->set_live(0, 0);
  if (file->values.size() > RunFile::kExtentsNear) {
    file->bases = new std::atomic<const char*>[file->values.size()]();
  }
  arena_->charge(os::Quota::kTrees, static_cast<ptrdiff_t>(heap_bytes_of(*file)));
  os::MutexLock lock(mutex_);
  file->residency = this;
  if (file->image) {
    file->image->owner = file;
    if (file->image->memory.load(std::memory_order_relaxed) != nullptr) enlist(fronts_, file);
    if (file->image->heap.load(std::memory_order_relaxed) != nullptr) {
      enlist_body(file, *file->image.get());
    }
  }
  // Unless an eviction that was under way when the file's user pinned it took the memory.
  if (attached != nullptr &&
      file->image->memory.load(std::memory_order_relaxed) == attached->image() &&
      (file->image->heap_bytes() == 0 ||
       file->image->heap.load(std::memory_order_relaxed) == attached->heap())) {
    replace_run(file, std::move(attached));
  }
  for (size_t e = 0; e < file->values.size(); ++e) {
    Extent* extent = file->values[e].get();
    if (extent->settled && extent->owner != nullptr && extent->owner != file) {
      file->settled_uses = extent->owner->settled_uses.load();
    }
    extent->owner = file;
    if (extent->memory.load(std::memory_order_relaxed) != nullptr) enlist_body(file, *extent);
    file->bases[e].store(extent->memory.load(std::memory_order_relaxed), std::memory_order_release);
  }
}

void Residency::forget(RunFile* file) {
  arena_->charge(os::Quota::kTrees, -static_cast<ptrdiff_t>(heap_bytes_of(*file)));
  os::MutexLock lock(mutex_);
  delist(wholes_, file);
  delist(fronts_, file);
  delist(outlines_, file);
  delist(settled_, file);
  if (file->image && file->image->owner == file) file->image->owner = nullptr;
  for (const ExtentRef& value : file->values) {
    if (value->owner == file) value->owner = nullptr;
  }
  release_run(file->run.load(std::memory_order_relaxed));
  release_run(file->outline.load(std::memory_order_relaxed));
}

void Residency::forget(Extent* extent) {
  if (char* memory = extent->memory.load(std::memory_order_relaxed); memory != nullptr) {
    const os::Quota quota = extent->is_index ? os::Quota::kIndex : os::Quota::kValues;
    arena_->release(quota, memory, extent->front_bytes());
  }
  if (char* heap = extent->heap.load(std::memory_order_relaxed); heap != nullptr) {
    arena_->release(os::Quota::kValues, heap, extent->heap_bytes());
  }
  if (extent->settled) settled_bytes_ -= extent->body_bytes();
  give_back_stored(extent);
  frames_.forget(*extent);
  if (!extent->dropped.load(std::memory_order_acquire)) return;
  if (extent->large_value && hold_dropped && hold_dropped(extent->address)) return;
  space_->release(extent->address);
}

// ---- Run images

namespace {
// `heap`: null where it is not in memory, or not apart from the front.
Result<std::unique_ptr<Run>> attach(const RunFile& file, const char* front, const char* heap,
                                    ImageSource source, os::Arena* arena) {
  const Extent& image = *file.image.get();
  if (image.heap_bytes() == 0) return Run::attach(front, image.memory_bytes(), source, arena);
  return Run::attach_parts(front, image.memory_bytes(), heap, file.record.low, source, arena);
}
}  // namespace

std::unique_ptr<Run> Residency::attach_again(RunFile* file) {
  os::MutexLock lock(mutex_);
  const char* memory = file->image->memory.load(std::memory_order_relaxed);
  if (memory == nullptr) return nullptr;
  Result<std::unique_ptr<Run>> run =
      attach(*file, memory, file->image->heap.load(std::memory_order_relaxed), ImageSource::kBuilt,
             arena_);
  return run.ok() ? std::move(run).value() : nullptr;
}

// The image may be in memory for another file that shares it (a run that was kept through a split).
bool Residency::attach_present(RunFile* file, RunPart part) {
  os::MutexLock lock(mutex_);
  const Extent* image = file->image.get();
  const char* memory = image->memory.load(std::memory_order_relaxed);
  const char* heap = image->heap.load(std::memory_order_relaxed);
  const bool enough = part == RunPart::kFront || image->heap_bytes() == 0 || heap != nullptr;
  if (memory == nullptr || !enough) return false;
  const Run* present = file->run.load(std::memory_order_relaxed);
  if (present != nullptr && (part == RunPart::kFront || present->heap() != nullptr)) return true;
  Result<std::unique_ptr<Run>> attached = attach(*file, memory, heap, ImageSource::kBuilt, arena_);
  if (!attached.ok()) return false;
  replace_run(file, std::move(attached).value());
  return true;
}

namespace {
// Its checksums are used for the extents that the manifest names.
bool is_of(const Run& run, const RunFile& file) {
  const ThinVector<format::ValueExtentRecord>& values = file.record.values;
  const Extent& image = *file.image.get();
  bool same = run.extent_count() == values.size() &&
              run.header().header_blocks == image.header_blocks &&
              (image.heap_bytes() == 0 || run.front_blocks() == image.front_blocks);
  for (uint32_t e = 0; same && e < values.size(); ++e) {
    const format::ValueExtentRecord own = run.extent_record(e);
    same = own.address == values[e].address && own.bytes == values[e].bytes;
  }
  return same;
}
Status not_of(const RunFile& file, const std::string& place) {
  return Status(StatusCode::kCorruption, place + ": an index run of container " +
                                             std::to_string(file.record.id) +
                                             " names other value extents than the manifest");
}
// Set before `damaged`, and never again.
const Status& quarantined(const RunFile& file) {
  return *file.damage.load(std::memory_order_acquire);
}
}  // namespace

// The run over the first `bytes` of an image, which were read: its front, or all of it. Reads them
// once more where they are wrong.
Result<std::unique_ptr<Run>> Residency::check_run(RunFile* file, char* memory, size_t bytes) {
  const Extent* image = file->image.get();
  const os::IoRead request = front_request(*file, memory);
  os::File* const disk = request.file;
  const uint64_t offset = request.offset;
  for (bool again = true;; again = false) {
    count_read(bytes);
    const std::string where = place(disk, offset);
    Status status =
        open_front(machine_.keys, file->record, memory, bytes, image->memory_bytes(), where);
    if (status.ok()) {
      status =
          Run::verify_front(memory, bytes, image->memory_bytes(), file->record.run_checksum, where);
    }
    if (status.ok()) break;
    if (again) status = disk_.read({disk, offset, memory, bytes, nullptr});
    if (!again || !status.ok()) return status;
  }
  const bool whole = bytes == image->memory_bytes();
  Result<std::unique_ptr<Run>> run = attach(
      *file, memory, whole ? memory + image->front_bytes() : nullptr, ImageSource::kDisk, arena_);
  if (!run.ok()) return run;
  if (is_of(**run, *file)) return run;
  return not_of(*file, place(disk, offset));
}

// What was dropped may have been used again: that is no damage.
void Residency::tell_damage(RunFile* file, const Extent& extent, const Status& status) const {
  if (machine_.events == nullptr || !status.is(StatusCode::kCorruption)) return;
  if (extent.dropped.load(std::memory_order_acquire)) return;
  if (file->damage_told.exchange(true, std::memory_order_relaxed)) return;
  machine_.events->post(DamageFound{file->record.tree, {}, file->record.low, {}, status});
}

Status Residency::load_run(RunFile* file, RunPart part) {
  if (!file->image) return {};
  const Run* present = nullptr;
  {
    os::epoch::Guard guard;
    present = file->run.load(std::memory_order_acquire);
    if (present != nullptr && (part == RunPart::kFront || present->heap() != nullptr)) return {};
  }
  if (file->damaged.load(std::memory_order_acquire)) return quarantined(*file);
  if (attach_present(file, part)) return {};
  Status status = present == nullptr ? load_image(file, part) : load_heap(file);
  if (status.is(StatusCode::kCorruption)) file->quarantine(status);
  tell_damage(file, *file->image.get(), status);
  return status;
}

bool Residency::spare(size_t bytes) const {
  return arena_->used() + bytes <= arena_->budget() / 4 * 3;
}

Status Residency::load_for_get(RunFile* file) {
  if (!file->image) return {};
  const bool outline = file->outline_is_apart() && !roomy(file->image->memory_bytes());
  return outline ? load_outline(file) : load_run(file);
}

Status Residency::load_outline(RunFile* file) {
  if (file->outline.load(std::memory_order_acquire) != nullptr) return {};
  if (file->damaged.load(std::memory_order_acquire)) return quarantined(*file);
  // Also where it is not on the disk yet.
  if (attach_present(file, RunPart::kFront)) return {};
  const Extent& image = *file->image.get();
  const size_t bytes = image.header_bytes();
  char* memory = allocate_for_read(os::Quota::kMerge, bytes);
  if (memory == nullptr) {
    return Status(StatusCode::kOutOfMemory, "no memory to read the header of an index run, " +
                                                std::to_string(bytes) + " bytes");
  }
  HAWTHORN_TEST_POINT("residency.before_outline_is_read");
  const os::IoRead request = front_request(*file, memory);
  const std::string where = place(request.file, request.offset);
  Status status;
  for (bool again = true;; again = false) {
    status = disk_.read({request.file, request.offset, memory, bytes, nullptr});
    if (!status.ok()) break;
    count_read(bytes);
    status = open_header(machine_.keys, file->record, memory, bytes, where);
    if (status.ok()) {
      status = Run::verify_header(memory, bytes, file->record.run_checksum, where);
    }
    if (status.ok() || !again) break;
  }
  std::unique_ptr<Run> outline;
  if (status.ok()) {
    Result<std::unique_ptr<Run>> attached =
        Run::attach_outline(memory, image.memory_bytes(), file->record.low, arena_);
    status = attached.status();
    if (status.ok()) outline = std::move(attached).value();
    if (status.ok() && !is_of(*outline, *file)) status = not_of(*file, where);
  }
  release(os::Quota::kMerge, memory, bytes);
  if (status.is(StatusCode::kCorruption)) file->quarantine(status);
  tell_damage(file, *file->image.get(), status);
  if (!status.ok()) return status;
  os::MutexLock lock(mutex_);
  keep_outline(file, std::move(outline));
  return {};
}

Status Residency::load_for_conflicts(RunFile* file) {
  if (Status s = load_run(file); !s.ok()) return s;
  {
    os::epoch::Guard guard;
    const Run* run = file->run.load(std::memory_order_acquire);
    if (run == nullptr || (!run->has_versions() && !file->dated)) return {};
  }
  return load_run(file, RunPart::kWhole);
}

Status Residency::load_image(RunFile* file, RunPart part) {
  Extent* image = file->image.get();
  // A packed heap is read by itself.
  const bool whole = !image->packed() && (part == RunPart::kWhole || roomy(image->memory_bytes()));
  const size_t bytes = whole ? image->memory_bytes() : image->front_bytes();
  char* memory = allocate_for_read(os::Quota::kIndex, bytes);
  if (memory == nullptr) {
    return Status(StatusCode::kOutOfMemory,
                  "no memory for an index run of " + std::to_string(bytes) + " bytes");
  }
  HAWTHORN_TEST_POINT("residency.before_run_is_read");
  const os::IoRead request = front_request(*file, memory);
  Status status = disk_.read({request.file, request.offset, memory, bytes, nullptr});
  Result<std::unique_ptr<Run>> run = status.ok() ? check_run(file, memory, bytes)
                                                 : Result<std::unique_ptr<Run>>(std::move(status));
  if (!run.ok()) {
    release(os::Quota::kIndex, memory, bytes);
    return run.status();
  }
  const bool taken = take_image(file, memory, bytes, std::move(run).value());
  return taken && (whole || part == RunPart::kFront) ? Status() : load_run(file, part);
}

// Makes an image resident that was read. False: somebody else was faster.
bool Residency::take_image(RunFile* file, char* memory, size_t bytes, std::unique_ptr<Run> run) {
  Extent* image = file->image.get();
  {
    os::MutexLock lock(mutex_);
    if (image->memory.load(std::memory_order_relaxed) == nullptr) {
      if (bytes > image->front_bytes()) {
        arena_->split(os::Quota::kIndex, memory, bytes, image->front_bytes(), os::Quota::kValues);
        image->heap.store(memory + image->front_bytes(), std::memory_order_release);
      }
      image->memory.store(memory, std::memory_order_release);
      replace_run(file, std::move(run));
      return true;
    }
  }
  release(os::Quota::kIndex, memory, bytes);
  return false;
}

char* Residency::begin_front(RunFile* file) {
  return allocate_needed(os::Quota::kIndex, file->image->front_bytes(), Need::kMay);
}

os::IoRead Residency::front_request(const RunFile& file, char* memory) const {
  const ExtentAddress& address = file.image->address;
  return {space_->file(address.file), uint64_t{address.block} * os::kBlockBytes, memory,
          file.image->front_bytes(), nullptr};
}

Status Residency::finish_front(RunFile* file, char* memory) {
  const size_t bytes = file->image->front_bytes();
  Result<std::unique_ptr<Run>> run = check_run(file, memory, bytes);
  if (run.ok()) {
    take_image(file, memory, bytes, std::move(run).value());
    return {};
  }
  release(os::Quota::kIndex, memory, bytes);
  return run.status();
}

void Residency::drop_front(const RunFile& file, char* memory) {
  release(os::Quota::kIndex, memory, file.image->front_bytes());
}

// The heap of a run whose front is in memory.
Status Residency::load_heap(RunFile* file) {
  Extent* image = file->image.get();
  const auto blocks = static_cast<uint32_t>(image->heap_bytes() / os::kBlockBytes);
  char* memory = allocate_for_read(os::Quota::kValues, image->heap_bytes());
  if (memory == nullptr) {
    return Status(StatusCode::kOutOfMemory, "no memory for the heap of an index run, " +
                                                std::to_string(image->heap_bytes()) + " bytes");
  }
  PinnedRunFile pinned;
  {
    os::epoch::Guard guard;
    pinned = PinnedRunFile(file);
  }
  Status status = read_blocks(file, *image, image->front_blocks, blocks, memory);
  bool taken = false;
  if (status.ok()) status = take_heap(file, memory, false, &taken);
  if (taken) return {};
  release(os::Quota::kValues, memory, image->heap_bytes());
  return status.ok() ? load_run(file, RunPart::kWhole) : status;
}

// Makes a heap resident that was read. Not taken, without an error: somebody else was faster, or
// the front has gone.
Status Residency::take_heap(RunFile* file, char* memory, bool settled, bool* taken) {
  {
    os::epoch::Guard guard;
    if (const Run* run = file->run.load(std::memory_order_acquire); run != nullptr) {
      format::RunView view = run->view();
      view.heap = memory;
      if (Status s = format::check_run_entries(view); !s.ok()) return s;
    }
  }
  Extent* image = file->image.get();
  os::MutexLock lock(mutex_);
  const char* front = image->memory.load(std::memory_order_relaxed);
  if (front == nullptr || image->heap.load(std::memory_order_relaxed) != nullptr) return {};
  if (settled && image->owner != file) return {};
  Result<std::unique_ptr<Run>> run = attach(*file, front, memory, ImageSource::kBuilt, arena_);
  if (!run.ok()) return run.status();
  mark_settled(*image, settled);
  image->heap.store(memory, std::memory_order_release);
  replace_run(file, std::move(run).value());
  *taken = true;
  return {};
}

}  // namespace hawthorn::tree
