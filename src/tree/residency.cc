#include "tree/residency.h"

#include <algorithm>

#include "base/bytes.h"
#include "os/epoch.h"
#include "os/test_point.h"

namespace hawthorn::tree {

namespace {
constexpr size_t kBlock = 4096;
constexpr size_t kRawBufferBytes = 256 << 10;

os::Quota quota_of(const Extent* extent) {
  return extent->is_index ? os::Quota::kIndex : os::Quota::kValues;
}

std::string place(os::File* file, uint64_t offset) {
  return file->path() + " at " + std::to_string(offset);
}
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
}

// ---- Residency

Residency::Residency(const os::Machine& machine, os::Arena* arena, space::Space* space)
    : machine_(machine), arena_(arena), space_(space) {}

Residency::~Residency() {
  os::MutexLock lock(mutex_);
  for (Evicted& entry : evicted_) {
    release_run(entry.run);
    arena_->release(quota_of(entry.extent.get()), entry.memory, entry.extent->disk_bytes());
  }
  evicted_.clear();
}

// Search tables lie on the heap and are charged for.
void Residency::keep_run(RunFile* file, std::unique_ptr<Run> run) {
  arena_->charge(os::Quota::kIndex, static_cast<ptrdiff_t>(run->accelerator_bytes()));
  file->run.store(run.release(), std::memory_order_release);
}

void Residency::release_run(Run* run) {
  if (run == nullptr) return;
  arena_->charge(os::Quota::kIndex, -static_cast<ptrdiff_t>(run->accelerator_bytes()));
  delete run;
}

size_t Residency::extent_bytes() const {
  return arena_->used(os::Quota::kIndex) + arena_->used(os::Quota::kValues) +
         arena_->used(os::Quota::kFrames) + arena_->used(os::Quota::kMerge);
}

bool Residency::within_limit(size_t bytes) const {
  return extent_bytes() + bytes + reserve_.load(std::memory_order_relaxed) <= arena_->budget();
}

size_t Residency::excess() const {
  const size_t wanted = extent_bytes() + reserve_.load(std::memory_order_relaxed);
  return wanted - std::min(wanted, arena_->budget());
}

bool Residency::roomy(size_t bytes) const {
  return within_limit(bytes + bytes / 4) && arena_->largest_free() >= bytes;
}

char* Residency::allocate(os::Quota quota, size_t bytes) {
  bytes = align_up(bytes, kBlock);
  for (int attempt = 0; attempt < 64; ++attempt) {
    if (within_limit(bytes)) {
      if (char* memory = arena_->allocate(quota, bytes); memory != nullptr) return memory;
    }
    bool waiting;
    {
      os::MutexLock lock(mutex_);
      collect_evicted();
      // Contiguous space needs more than its own size to go when free spans are scattered.
      const size_t gone = evict_pass(bytes * (attempt < 4 ? 1 : 4));
      waiting = !evicted_.empty();
      if (gone == 0 && !waiting) return nullptr;
    }
    os::epoch::collect();
    {
      os::MutexLock lock(mutex_);
      collect_evicted();
    }
    // What was evicted is there when its readers have left their guards; one of them may just have
    // lost the processor.
    if (waiting && attempt > 8) {
      machine_.clock->sleep_us(std::min<uint64_t>(uint64_t{50} << (attempt - 9) / 4, 5000));
    }
  }
  return nullptr;
}

char* Residency::allocate_for_read(os::Quota quota, size_t bytes) {
  if (char* memory = allocate(quota, bytes); memory != nullptr) return memory;
  return arena_->allocate(quota, align_up(bytes, kBlock), true);
}

void Residency::release(os::Quota quota, char* memory, size_t bytes) {
  arena_->release(quota, memory, align_up(bytes, kBlock));
}

bool Residency::make_room(size_t bytes) {
  size_t gone;
  {
    os::MutexLock lock(mutex_);
    collect_evicted();
    gone = evict_pass(bytes);
  }
  os::epoch::collect();
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
    arena_->release(quota_of(entry.extent.get()), entry.memory, entry.extent->disk_bytes());
    Evicted last = std::move(evicted_.back());
    evicted_.pop_back();
    if (i < evicted_.size()) evicted_[i] = std::move(last);
  }
}

// Takes an extent's memory away from new readers.
void Residency::evict(RunFile* file, Extent* extent) {
  char* memory = extent->memory.exchange(nullptr, std::memory_order_acq_rel);
  Run* run = nullptr;
  if (extent->is_index) {
    run = file->run.exchange(nullptr, std::memory_order_acq_rel);
  } else {
    for (size_t e = 0; e < file->values.size(); ++e) {
      if (file->values[e].get() == extent) file->bases[e].store(nullptr, std::memory_order_release);
    }
  }
  extent->ref();
  evicted_.push_back({ExtentRef(extent), memory, run, os::epoch::stamp()});
}

// One sweep of the clock: values of files that were not used since the last sweep, then values of
// any, then run images.
size_t Residency::evict_pass(size_t bytes) {
  size_t gone = 0;
  const auto movable = [](const RunFile* file, const Extent* extent) {
    return extent != nullptr && extent->owner == file &&
           extent->memory.load(std::memory_order_relaxed) != nullptr &&
           extent->pins.load(std::memory_order_acquire) == 0 &&
           !extent->writing.load(std::memory_order_acquire);
  };
  for (int round = 0; round < 4 && gone < bytes; ++round) {
    for (size_t visited = 0; visited < files_.size() && gone < bytes; ++visited) {
      hand_ = hand_ + 1 < files_.size() ? hand_ + 1 : 0;
      RunFile* file = files_[hand_];
      if (round % 2 == 0 && file->hot.exchange(0, std::memory_order_relaxed) != 0) continue;
      if (round < 2) {
        for (const ExtentRef& value : file->values) {
          if (!movable(file, value.get())) continue;
          evict(file, value.get());
          gone += value->disk_bytes();
        }
      } else if (file->image && movable(file, file->image.get())) {
        evict(file, file->image.get());
        gone += file->image->disk_bytes();
      }
    }
  }
  return gone;
}

void Residency::admit(Extent* extent, char* memory) {
  extent->memory.store(memory, std::memory_order_release);
}

void Residency::adopt(RunFile* file, std::unique_ptr<Run> attached) {
  os::MutexLock lock(mutex_);
  file->residency = this;
  file->place = files_.size();
  files_.push_back(file);
  if (file->image) file->image->owner = file;
  // Unless an eviction that was under way when the file's user pinned it took the memory.
  if (attached != nullptr && file->image->memory.load(std::memory_order_relaxed) ==
                                 static_cast<const char*>(attached->image())) {
    keep_run(file, std::move(attached));
  }
  for (size_t e = 0; e < file->values.size(); ++e) {
    Extent* extent = file->values[e].get();
    extent->owner = file;
    file->bases[e].store(extent->memory.load(std::memory_order_relaxed), std::memory_order_release);
  }
}

void Residency::forget(RunFile* file) {
  os::MutexLock lock(mutex_);
  RunFile* last = files_.back();
  files_[file->place] = last;
  last->place = file->place;
  files_.pop_back();
  if (file->image && file->image->owner == file) file->image->owner = nullptr;
  for (const ExtentRef& value : file->values) {
    if (value->owner == file) value->owner = nullptr;
  }
  release_run(file->run.load(std::memory_order_relaxed));
}

void Residency::forget(Extent* extent) {
  if (char* memory = extent->memory.load(std::memory_order_relaxed); memory != nullptr) {
    arena_->release(quota_of(extent), memory, extent->disk_bytes());
  }
  if (extent->dropped.load(std::memory_order_acquire)) space_->release(extent->address);
}

// The image may be in memory for another file that shares it (a run that was kept through a split).
bool Residency::attach_present(RunFile* file) {
  os::MutexLock lock(mutex_);
  if (file->run.load(std::memory_order_relaxed) != nullptr) return true;
  const char* memory = file->image->memory.load(std::memory_order_relaxed);
  if (memory == nullptr) return false;
  Result<std::unique_ptr<Run>> attached =
      Run::attach(memory, file->image->disk_bytes(), ImageSource::kBuilt);
  if (attached.ok()) keep_run(file, std::move(attached).value());
  return attached.ok();
}

Result<std::unique_ptr<Run>> Residency::read_run(RunFile* file, char* memory) {
  const Extent* image = file->image.get();
  const size_t bytes = image->disk_bytes();
  os::File* disk = space_->file(image->address.file);
  const uint64_t offset = uint64_t{image->address.block} * kBlock;
  Status status;
  HAWTHORN_TEST_POINT("residency.before_run_is_read");
  for (int attempt = 0; attempt < 2; ++attempt) {
    status = disk->read_at(offset, {memory, bytes});
    if (!status.ok()) return status;
    bytes_read_.fetch_add(bytes, std::memory_order_relaxed);
    status = Run::verify(memory, bytes, file->record.run_checksum, place(disk, offset));
    if (status.ok()) break;
  }
  if (!status.ok()) return status;
  Result<std::unique_ptr<Run>> run = Run::attach(memory, bytes);
  if (!run.ok()) return run;
  // Its checksums are used for the extents that the manifest names.
  const std::vector<format::ValueExtentRecord>& values = file->record.values;
  bool same = (*run)->extent_count() == values.size();
  for (uint32_t e = 0; same && e < values.size(); ++e) {
    const format::ValueExtentRecord own = (*run)->extent_record(e);
    same = own.address == values[e].address && own.bytes == values[e].bytes;
  }
  if (same) return run;
  return Status(StatusCode::kCorruption, place(disk, offset) + ": an index run of container " +
                                             std::to_string(file->record.id) +
                                             " names other value extents than the manifest");
}

Status Residency::load_run(RunFile* file) {
  if (file->run.load(std::memory_order_acquire) != nullptr || !file->image) return {};
  if (file->damaged.load(std::memory_order_acquire)) {
    return Status(StatusCode::kCorruption,
                  "container " + std::to_string(file->record.id) + " is quarantined");
  }
  if (attach_present(file)) return {};
  const size_t bytes = file->image->disk_bytes();
  char* memory = allocate_for_read(os::Quota::kIndex, bytes);
  if (memory == nullptr) {
    return Status(StatusCode::kOutOfMemory,
                  "no memory for an index run of " + std::to_string(bytes) + " bytes");
  }
  Result<std::unique_ptr<Run>> run = read_run(file, memory);
  if (!run.ok()) {
    if (run.status().is(StatusCode::kCorruption)) {
      file->damaged.store(true, std::memory_order_release);
    }
    release(os::Quota::kIndex, memory, bytes);
    return run.status();
  }
  {
    os::MutexLock lock(mutex_);
    if (file->image->memory.load(std::memory_order_relaxed) == nullptr) {
      file->image->memory.store(memory, std::memory_order_release);
      keep_run(file, std::move(run).value());
      return {};
    }
  }
  // Somebody else was faster.
  release(os::Quota::kIndex, memory, bytes);
  return load_run(file);
}

// Reads whole blocks of a value extent and checks them against the run's checksums. The file is
// pinned.
Status Residency::read_verified(RunFile* file, uint32_t extent, uint32_t first_block,
                                uint32_t blocks, char* to) {
  const ExtentAddress& address = file->values[extent]->address;
  os::File* disk = space_->file(address.file);
  const uint64_t offset = (uint64_t{address.block} + first_block) * kBlock;
  uint32_t bad = 0;
  for (int attempt = 0; attempt < 2; ++attempt) {
    if (Status s = disk->read_at(offset, {to, size_t{blocks} * kBlock}); !s.ok()) return s;
    bytes_read_.fetch_add(size_t{blocks} * kBlock, std::memory_order_relaxed);
    for (;;) {
      if (Status s = load_run(file); !s.ok()) return s;
      os::epoch::Guard guard;
      const Run* run = file->run.load(std::memory_order_acquire);
      if (run == nullptr) continue;  // evicted in between
      const std::span<const uint32_t> sums = run->extent_checksums(extent);
      for (bad = 0; bad < blocks; ++bad) {
        if (block_checksum(to + size_t{bad} * kBlock) != sums[first_block + bad]) break;
      }
      break;
    }
    if (bad == blocks) return {};
  }
  return Status(StatusCode::kCorruption, place(disk, offset + uint64_t{bad} * kBlock) +
                                             ": checksum mismatch in a value block of container " +
                                             std::to_string(file->record.id));
}

Status Residency::load_values(RunFile* file, uint32_t extent, bool must) {
  Extent* target = file->values[extent].get();
  if (file->bases[extent].load(std::memory_order_acquire) != nullptr) return {};
  char* memory = must ? allocate_for_read(os::Quota::kValues, target->disk_bytes())
                      : allocate(os::Quota::kValues, target->disk_bytes());
  if (memory == nullptr) {
    return Status(StatusCode::kOutOfMemory, "no memory for a value extent of " +
                                                std::to_string(target->disk_bytes()) + " bytes");
  }
  if (!must) bytes_missed_.fetch_add(target->disk_bytes(), std::memory_order_relaxed);
  if (Status s = read_verified(file, extent, 0, target->address.blocks, memory); !s.ok()) {
    release(os::Quota::kValues, memory, target->disk_bytes());
    return s;
  }
  os::MutexLock lock(mutex_);
  if (target->memory.load(std::memory_order_relaxed) != nullptr || target->owner != file) {
    // Somebody else was faster, or a newer file owns the extent by now.
    arena_->release(os::Quota::kValues, memory, target->disk_bytes());
    return {};
  }
  target->memory.store(memory, std::memory_order_release);
  file->bases[extent].store(memory, std::memory_order_release);
  return {};
}

Status Residency::read_values(RunFile* file, uint32_t extent, uint32_t offset, uint32_t size,
                              char* to) {
  const uint32_t first = offset / kBlock;
  const auto blocks =
      static_cast<uint32_t>((uint64_t{offset} + size + kBlock - 1) / kBlock - first);
  char* memory = allocate_for_read(os::Quota::kMerge, size_t{blocks} * kBlock);
  if (memory == nullptr) return Status(StatusCode::kOutOfMemory, "no memory to read a value");
  bytes_missed_.fetch_add(size_t{blocks} * kBlock, std::memory_order_relaxed);
  Status status = read_verified(file, extent, first, blocks, memory);
  if (status.ok()) std::memcpy(to, memory + (offset - first * kBlock), size);
  release(os::Quota::kMerge, memory, size_t{blocks} * kBlock);
  return status;
}

Status Residency::read_raw(const ExtentAddress& address, uint64_t offset, size_t size, char* to) {
  os::File* disk = space_->file(address.file);
  if (disk == nullptr) {
    return Status(StatusCode::kCorruption, "data." + std::to_string(address.file) + " is missing");
  }
  // Through a small buffer: the caller's memory is not aligned for direct I/O, and may be large.
  const size_t buffer_bytes = std::min(kRawBufferBytes, align_up(size, kBlock) + kBlock);
  char* buffer = allocate_for_read(os::Quota::kMerge, buffer_bytes);
  if (buffer == nullptr) {
    return Status(StatusCode::kOutOfMemory, "no memory to read a large value");
  }
  Status status;
  while (size > 0 && status.ok()) {
    const uint64_t start = offset / kBlock * kBlock;
    const size_t before = offset - start;
    const size_t piece = std::min(size, buffer_bytes - before);
    const size_t bytes = align_up(before + piece, kBlock);
    status = disk->read_at(uint64_t{address.block} * kBlock + start, {buffer, bytes});
    if (!status.ok()) break;
    bytes_read_.fetch_add(bytes, std::memory_order_relaxed);
    std::memcpy(to, buffer + before, piece);
    to += piece;
    offset += piece;
    size -= piece;
  }
  release(os::Quota::kMerge, buffer, buffer_bytes);
  return status;
}

}  // namespace hawthorn::tree
