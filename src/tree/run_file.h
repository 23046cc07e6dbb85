#pragma once
// What a container has on disk since its last flush: one run image and its value extents, with what
// is in memory of them.
//
// Immutable but for residency. Shared by descriptors, the publisher and pinned readers; the last
// reference retires it. Threads: any; memory reached through `run` and `bases` is safe inside an
// epoch guard, or while the RunFile is pinned.
//
// 1. bases[e] is null or the address of value extent e; run is null or the attached run image,
//    outline null or what is left of one whose image was evicted. They only change under the
//    residency's lock.
// 2. A pinned RunFile (pin()) keeps all its extents' memory where it is.
// 3. Extents may be shared with a newer file, which alone is told of their evictions. So `run` and
// `bases` of a file are
//    used inside the guard in which its descriptor was found, or under a pin taken there; a mere
//    reference does not do.
// 4. A file that an ingest has attached at the timestamp `since` is seen from there on: who reads
// at
//    an older one sees `earlier` in its place. Everything in the file is at or above `since`.

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "base/thin.h"
#include "format/manifest_state.h"
#include "hawthorn/status.h"
#include "os/small_objects.h"
#include "tree/active_trees.h"
#include "tree/extent.h"
#include "tree/run.h"

namespace hawthorn::tree {

struct alignas(64) RunFile : os::InHugePages {
  static constexpr uint32_t kExtentsMax = 14;
  static constexpr uint32_t kExtentsNear = 2;
  static constexpr uint8_t kNotSettled = 255;
  static constexpr uint8_t kUsesMax = 254;

  // The line that every read needs; with many extents, their addresses, too.
  std::atomic<Run*> run{nullptr};
  std::atomic<uint32_t> refs{1};
  std::atomic<uint8_t> hot{0};
  std::atomic<uint8_t> settled_uses{kNotSettled};  // since the last look, where something is
  bool dated = false;                              // since is not 0
  // A checksum did not match: reads of it fail, the rest of the database goes on.
  std::atomic<bool> damaged{false};
  std::array<std::atomic<const char*>, kExtentsNear> near_bases{};
  // Of as many as there are values: the near ones, or what adopt has made.
  std::atomic<const char*>* bases = near_bases.data();

  format::ContainerRecord record;  // as the manifest has it, or will have it
  ExtentRef image;                 // empty when the run has no entries
  ThinVector<ExtentRef> values;
  ThinVector<ExtentRef> large;     // extents of large values that the run refers to
  Residency* residency = nullptr;  // set by adopt
  std::atomic<Run*> outline{nullptr};
  std::atomic<uint32_t> walked_at{0};    // Residency::note_walk
  std::atomic<uint16_t> index_reads{0};  // of its index blocks, by point reads that went by outline
  std::atomic<bool> front_went{false};   // out of memory, once at least
  std::atomic<bool> damage_told{false};  // to listeners, once
  // In the residency's lists; under its lock.
  static constexpr uint32_t kNowhere = ~uint32_t{0};
  std::array<uint32_t, 4> places{kNowhere, kNowhere, kNowhere, kNowhere};
  // Of versions that only snapshots need, and of tombstones over them, as far as a merge of this
  // process has seen them. Set before the file is shared.
  size_t old_version_bytes = 0;
  std::atomic<const Status*> damage{nullptr};  // what it is; owned, set once
  // From now on its run is not read again: whoever needs it is told `damage`.
  void quarantine(const Status& status);

  // How many keys whoever reads at or above live_from finds in it, or one of these.
  static constexpr uint64_t kNotLooked = ~uint64_t{0};      // nobody has looked at its header
  static constexpr uint64_t kHasVersions = kNotLooked - 1;  // a walk will tell
  std::atomic<uint64_t> live{kNotLooked};
  std::atomic<Lsn> live_from{0};

  Lsn since = 0;               // this and the next: set by date, before the file is adopted
  RunFile* earlier = nullptr;  // referenced

  // Before the file is adopted: tells the image where its heap begins, by the record. False: the
  // record contradicts itself.
  bool find_front();
  // What a reader at `ts` finds in this file's place.
  RunFile* seen_at(Lsn ts) { return dated && since > ts ? earlier : this; }
  void date(Lsn from, RunFile* before);

  bool empty() const { return record.entries == 0; }
  size_t value_bytes() const {
    size_t sum = 0;
    for (const format::ValueExtentRecord& value : record.values) sum += value.bytes;
    return sum;
  }
  // Tells `live`; several may, with the same numbers.
  void set_live(uint64_t keys, Lsn from) {
    live_from.store(from, std::memory_order_relaxed);
    live.store(keys, std::memory_order_release);
  }
  // From what a present run says without a walk.
  void note_header(const format::RunHeader& header);
  bool counted() const { return live.load(std::memory_order_acquire) < kHasVersions; }
  // Where its count begins to hold, and the file itself to be seen.
  Lsn counts_from() const {
    return std::max(since, counted() ? live_from.load(std::memory_order_relaxed) : Lsn{0});
  }
  // The keys that a registered reader at `ts`, who sees this file, finds in it; nothing: they must
  // be counted.
  std::optional<uint64_t> live_at(Lsn ts) const {
    const uint64_t keys = live.load(std::memory_order_acquire);
    if (keys >= kHasVersions || ts < live_from.load(std::memory_order_relaxed)) return {};
    return keys;
  }
  // With its values.
  uint64_t disk_blocks() const;

  // Whether the header area is worth a read of its own, for an outline: it tells which of several
  // index blocks are needed.
  bool outline_is_apart() const {
    const auto entries = static_cast<uint32_t>(record.entries);
    return record.first_heads &&
           (record.wide || format::run_index_blocks(format::run_group_count(entries)) > 1);
  }
  // What a walk goes by: the run, or its outline where its windows are of groups. Null: neither is
  // in memory.
  const Run* run_to_walk() const {
    const Run* present = run.load(std::memory_order_acquire);
    return present == nullptr && record.wide ? outline.load(std::memory_order_acquire) : present;
  }
  // The number of a value extent of this file.
  uint32_t number_of(const Extent* extent) const {
    uint32_t number = 0;
    while (number < values.size() && values[number].get() != extent) ++number;
    HAWTHORN_ASSERT(number < values.size());
    return number;
  }
  // Whether value extent e holds nothing that is still referred to.
  bool all_garbage(size_t e) const {
    return record.values[e].garbage_bytes >= record.values[e].bytes;
  }
  size_t garbage_bytes() const {
    size_t sum = 0;
    for (const format::ValueExtentRecord& value : record.values) sum += value.garbage_bytes;
    return sum;
  }

  // About: what is packed counts by its share.
  uint64_t garbage_on_disk() const {
    uint64_t sum = 0;
    for (const format::ValueExtentRecord& value : record.values) {
      const uint64_t disk = uint64_t{value.address.blocks} * os::kBlockBytes;
      sum += value.bytes > disk ? value.garbage_bytes * disk / value.bytes : value.garbage_bytes;
    }
    return sum;
  }

  // What it takes on disk.
  SpaceUse space_use() const;

  // It was read; `uses`: as much as so many point reads.
  void touch(uint32_t uses = 1) {
    if (hot.load(std::memory_order_relaxed) == 0) hot.store(1, std::memory_order_relaxed);
    const uint8_t before = settled_uses.load(std::memory_order_relaxed);
    if (before >= kUsesMax) return;
    settled_uses.store(static_cast<uint8_t>(before + std::min<uint32_t>(uses, kUsesMax - before)),
                       std::memory_order_relaxed);
  }
  void ref() { refs.fetch_add(1, std::memory_order_relaxed); }
  // The last reference retires the object through the epoch.
  void unref();

  // Pins keep the memory of all its extents in place. Taken inside an epoch guard.
  void pin();
  void unpin();

  ~RunFile();
};

// There may be very many of them, at least one in each tree.
static_assert(sizeof(RunFile) == 256);

// A reference alone: the file stays, its memory may go.
class RunFileRef {
 public:
  explicit RunFileRef(RunFile* file) : file_(file) { file_->ref(); }
  RunFileRef(RunFileRef&& other) noexcept : file_(std::exchange(other.file_, nullptr)) {}
  RunFileRef& operator=(RunFileRef&& other) noexcept {
    std::swap(file_, other.file_);
    return *this;
  }
  ~RunFileRef() {
    if (file_ != nullptr) file_->unref();
  }
  RunFile* get() const { return file_; }

 private:
  RunFile* file_;
};

// A reference with pins, for cursors and values.
class PinnedRunFile {
 public:
  PinnedRunFile() = default;
  explicit PinnedRunFile(RunFile* file) : file_(file) {
    if (file_ != nullptr) {
      file_->ref();
      file_->pin();
    }
  }
  PinnedRunFile(PinnedRunFile&& other) noexcept : file_(other.file_) { other.file_ = nullptr; }
  PinnedRunFile& operator=(PinnedRunFile&& other) noexcept {
    if (this != &other) {
      reset();
      file_ = other.file_;
      other.file_ = nullptr;
    }
    return *this;
  }
  ~PinnedRunFile() { reset(); }
  void reset() {
    if (file_ != nullptr) {
      file_->unpin();
      file_->unref();
    }
    file_ = nullptr;
  }
  RunFile* get() const { return file_; }
  RunFile* operator->() const { return file_; }

 private:
  RunFile* file_ = nullptr;
};

}  // namespace hawthorn::tree
