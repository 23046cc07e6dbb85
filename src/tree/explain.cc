#include "tree/explain.h"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "base/bytes.h"
#include "format/large_value.h"
#include "os/epoch.h"
#include "os/file.h"
#include "tree/large_read.h"
#include "tree/narrow.h"

namespace hawthorn::tree {
namespace {

using Kind = KeyExplanation::Kind;
using Place = KeyExplanation::Place;
using Cost = KeyExplanation::Cost;

KeyExplanation::Extent extent_of(const ExtentAddress& address) {
  if (address.blocks == 0) return {};
  return {space::data_file_name(address.file), uint64_t{address.block} * os::kBlockBytes,
          uint64_t{address.blocks} * os::kBlockBytes};
}

void add(Cost& to, uint64_t bytes, uint64_t reads = 1) {
  to.reads += reads;
  to.bytes += bytes;
}

void add(Cost& to, const Cost& more) { add(to, more.bytes, more.reads); }

// What LargeRead asks for.
Cost cost_of(const format::LargeValue& value) {
  const size_t buffer = std::clamp<size_t>(align_up(value.size, format::kLargeSumBytes),
                                           2 * format::kLargeSumBytes, LargeRead::kPieceBytes);
  Cost cost;
  const auto read = [&](uint64_t bytes) {
    add(cost, align_up(bytes, os::kBlockBytes), (bytes + buffer - 1) / buffer);
  };
  uint64_t left = value.size;
  for (const ExtentAddress& extent : value.extents) {
    if (value.in_pieces() || left == 0) break;
    const uint64_t bytes = std::min(left, uint64_t{extent.blocks} * os::kBlockBytes);
    read(bytes);
    left -= bytes;
  }
  uint32_t summed = format::LargePiece::kHole;
  for (const format::LargePiece& piece : value.pieces) {
    if (piece.hole()) continue;
    const format::LargeContent& content = value.contents[piece.extent];
    const bool all = piece.offset == 0 && piece.size == content.bytes && !content.sealed;
    if (content.has_table() && summed != piece.extent && !all) {
      const uint64_t end = content.table_at() + content.table_bytes();
      read(end - content.table_at() / os::kBlockBytes * os::kBlockBytes);
    }
    summed = piece.extent;
    const uint64_t end = std::min<uint64_t>(
        content.bytes, align_up(piece.offset + piece.size, format::kLargeSumBytes));
    read(end - piece.offset / format::kLargeSumBytes * format::kLargeSumBytes);
  }
  return cost;
}

// What a point read of a run reads from disk. `whole`: the run with all of its image; `cold`: as if
// nothing of it were in memory.
class RunCost {
 public:
  RunCost(Residency& residency, const RunFile& file, const Run& whole, bool cold)
      : residency_(residency), file_(file), whole_(whole), image_(*file.image.get()), cold_(cold) {}

  // To find the key's entry, or that there is none.
  Status search(std::string_view key) {
    const Run* run = cold_ ? nullptr : file_.run.load(std::memory_order_acquire);
    heap_ = run != nullptr && run->heap() != nullptr;
    if (run == nullptr) {
      Result<bool> by_outline = search_outline(key);
      if (!by_outline.ok()) return by_outline.status();
      if (!*by_outline) read_front();
    }
    if (heap_ || !key.starts_with(whole_.prefix())) return {};
    Run::Range range = whole_.range_of(key);
    narrow_range(whole_, &range, [&](uint32_t index, int* order) {
      need_records({index, index + 1});
      *order = whole_.compare(index, key, key_head(key, whole_.skip()));
      return true;
    });
    need_records(range);
    return {};
  }

  // The bytes of a separated value; returns whether they are in memory.
  bool value(const RunEntry& entry) {
    const Extent& extent = *file_.values[entry.extent].get();
    const BlockRange range{&extent, entry.offset, entry.size};
    const bool whole =
        !cold_ && file_.bases[entry.extent].load(std::memory_order_acquire) != nullptr;
    return whole || !need(range);
  }

  const Cost& cost() const { return cost_; }

 private:
  bool present(const Extent& extent, uint32_t block) const {
    if (read_.contains({&extent, block})) return true;
    const FrameTable* table = cold_ ? nullptr : extent.frames.load(std::memory_order_acquire);
    return table != nullptr && block < table->blocks &&
           table->frames[block].load(std::memory_order_acquire) != 0;
  }
  bool present(const BlockRange& range) const {
    for (uint32_t i = 0; i < range.blocks(); ++i) {
      if (!present(*range.extent, range.first_block() + i)) return false;
    }
    return true;
  }

  // Whether it has to be read.
  bool need(const BlockRange& range) {
    if (range.size == 0 || present(range)) return false;
    read_blocks(range);
    return true;
  }

  void need_records(Run::Range range) {
    const format::HeapRange heap = whole_.heap_range(range.begin, range.end);
    const uint32_t first = whole_.front_blocks() * format::kRunBlockBytes + heap.begin;
    need({&image_, first, heap.end - heap.begin});
  }

  // As Residency::load_image.
  void read_front() {
    const bool all = !image_.packed() && residency_.roomy(image_.memory_bytes());
    add(cost_, all ? image_.memory_bytes() : image_.front_bytes());
    heap_ = all || image_.heap_bytes() == 0;
  }

  // As PointGet::start_read: all of an extent where there is room for the whole database.
  void read_blocks(const BlockRange& range) {
    const bool all = residency_.roomy(range.extent->memory_bytes());
    const uint32_t first = range.extent->body_first();
    const StoredBlocks stored = all ? Residency::stored_in(file_, whole_, *range.extent, first,
                                                           range.extent->blocks - first)
                                    : Residency::stored_in(file_, whole_, *range.extent,
                                                           range.first_block(), range.blocks());
    add(cost_, uint64_t{stored.disk_blocks} * os::kBlockBytes);
    for (uint32_t i = 0; i < stored.blocks; ++i) read_.insert({range.extent, stored.first + i});
  }

  // The groups that can have the key, where only an outline is in memory, or is read. False: a get
  // reads the front.
  Result<bool> search_outline(std::string_view key) {
    const Run* outline = cold_ ? nullptr : file_.outline.load(std::memory_order_acquire);
    std::unique_ptr<Run> made;
    const bool roomy = residency_.roomy(image_.memory_bytes());
    if (outline == nullptr) {
      if (!file_.outline_is_apart() || roomy) return false;
      Result<std::unique_ptr<Run>> attached =
          Run::attach_outline(whole_.image(), image_.memory_bytes(), file_.record.low);
      if (!attached.ok()) return attached.status();
      made = *std::move(attached);
      outline = made.get();
      add(cost_, image_.header_bytes());
    }
    if (!key.starts_with(outline->prefix())) {
      heap_ = true;  // nothing more is looked at
      return true;
    }
    Run::Range groups = outline->groups_with(key);
    for (;;) {
      const Run::Bytes at = outline->bytes_of_groups(groups);
      const BlockRange range{&image_, at.begin, at.end - at.begin, true};
      if (!present(range)) {
        if (roomy) return false;
        read_blocks(without_ends(range, [this](uint32_t block) { return present(image_, block); }));
      }
      const Run run = outline->with_groups(groups, whole_.image() + at.begin);
      if (run.tells_heap_range(run.range_in(groups, key), groups.end)) return true;
      groups.end = outline->block_end(groups.end);
    }
  }

  Residency& residency_;
  const RunFile& file_;
  const Run& whole_;
  const Extent& image_;
  const bool cold_;
  bool heap_ = false;                                  // it is in memory, or not needed
  std::set<std::pair<const Extent*, uint32_t>> read_;  // blocks
  Cost cost_;
};

// A run with all of its image: what is in memory, or a copy that was read past the cache.
class WholeRun {
 public:
  explicit WholeRun(Residency& residency) : residency_(residency) {}
  ~WholeRun() {
    if (memory_ != nullptr) residency_.release(os::Quota::kMerge, memory_, bytes_);
  }
  WholeRun(const WholeRun&) = delete;
  WholeRun& operator=(const WholeRun&) = delete;

  // The file is pinned, and not empty.
  Status take(const RunFile& file) {
    {
      os::epoch::Guard guard;
      run_ = file.run.load(std::memory_order_acquire);
      if (run_ != nullptr && run_->heap() != nullptr) return {};
    }
    run_ = nullptr;
    bytes_ = file.image->memory_bytes();
    memory_ = residency_.arena()->allocate(os::Quota::kMerge, bytes_, true);
    if (memory_ == nullptr) {
      return Status(StatusCode::kOutOfMemory,
                    "no memory to read an index run of " + std::to_string(bytes_) + " bytes");
    }
    if (Status s = residency_.read_image(file.record, memory_); !s.ok()) return s;
    Result<std::unique_ptr<Run>> attached = Run::attach(memory_, bytes_);
    if (!attached.ok()) return attached.status();
    own_ = *std::move(attached);
    run_ = own_.get();
    return {};
  }
  const Run& operator*() const { return *run_; }

 private:
  Residency& residency_;
  char* memory_ = nullptr;
  size_t bytes_ = 0;
  std::unique_ptr<Run> own_;
  const Run* run_ = nullptr;
};

// One look at a tree, without its layers and without what it is a clone of.
class Look {
 public:
  Look(TreeState& tree, std::string_view key, const ReadView& view, KeyExplanation& told)
      : tree_(tree), residency_(*tree.store()->residency), key_(key), view_(view), told_(told) {}

  Status run() {
    PinnedRunFile file;
    for (os::SpinWait wait; !look_at_memory(&file); wait.once()) {
    }
    Status status = file->empty() ? Status() : look_at_run(*file.get());
    if (status.ok() && !encoded_.empty()) status = take_large();
    return status;
  }
  Lsn cut() const { return cut_; }

 private:
  // False: the container has changed meanwhile.
  bool look_at_memory(PinnedRunFile* file) {
    os::epoch::Guard guard;
    const Container* container = tree_.directory().find(key_);
    const Descriptor* descriptor = container->descriptor.load(std::memory_order_acquire);
    told_.container = descriptor->run->record.id;
    told_.low_key = container->low;
    told_.high_key.reset();
    if (container->has_high) told_.high_key = container->high;
    told_.entries_unflushed = told_.versions_unflushed = 0;
    told_.place = Place::kNowhere;
    for (Delta* delta : {descriptor->active, descriptor->frozen}) {
      if (delta == nullptr || delta->empty()) continue;
      told_.entries_unflushed += delta->entries();
      const DeltaEntry* entry = delta->find(key_, Delta::hash(key_));
      if (entry == nullptr) continue;
      const bool frozen = delta == descriptor->frozen;
      const Version* newest = entry->newest.load(std::memory_order_acquire);
      for (const Version* v = newest; v != nullptr; v = v->older.load(std::memory_order_acquire)) {
        const bool moved = (v->flags.load(std::memory_order_acquire) & kMoved) != 0;
        if (!moved) ++told_.versions_unflushed;
      }
      const ChainRead read = read_chain(newest, view_, *tree_.store()->slots, frozen);
      if (read.stale) return false;
      if (read.version != nullptr && told_.place == Place::kNowhere) take(*read.version, read.cts);
    }
    *file = PinnedRunFile(descriptor->run->seen_at(view_.ts));
    return true;
  }

  void take(const Version& version, Lsn cts) {
    told_.place = Place::kMemory;
    told_.timestamp = cts;
    told_.value_bytes = version.size;
    told_.value_resident = true;
    encoded_.clear();
    switch (version.kind) {
      case VersionKind::kTombstone:
        told_.kind = Kind::kDeleted;
        told_.value_bytes = 0;
        break;
      case VersionKind::kPut:
        told_.kind = Kind::kInline;
        break;
      case VersionKind::kLarge:
        told_.kind = Kind::kLarge;
        encoded_ = version.value();
        break;
      case VersionKind::kMerge:
        told_.kind = Kind::kOperands;
        break;
    }
  }

  Status look_at_run(RunFile& file) {
    cut_ = file.record.cut;
    told_.entries_flushed = file.record.entries;
    told_.index = extent_of(file.record.run);
    told_.resident = resident(file);
    for (const format::ValueExtentRecord& value : file.record.values) {
      told_.extents_bytes += uint64_t{value.address.blocks} * os::kBlockBytes;
    }
    told_.garbage_bytes = file.garbage_on_disk();
    WholeRun whole(residency_);
    if (Status s = whole.take(file); !s.ok()) return s;
    const Run& run = *whole;
    uint32_t seen = Run::kNone;
    for (uint32_t i = run.seek(key_); i < run.entries() && run.has_key(i, key_); ++i) {
      ++told_.versions_flushed;
      if (seen == Run::kNone && run.entry(i).cts <= view_.ts) seen = i;
    }
    // What is in memory is asked first; operands there need what is below, too.
    if (told_.place != Place::kNowhere && told_.kind != Kind::kOperands) return {};
    const bool decides = told_.place == Place::kNowhere;
    if (seen != Run::kNone && decides) take(file, run.entry(seen));
    RunCost now(residency_, file, run, false);
    RunCost cold(residency_, file, run, true);
    Status status = now.search(key_);
    if (status.ok()) status = cold.search(key_);
    if (!status.ok()) return status;
    if (told_.kind == Kind::kInline) told_.value_resident = now.cost().reads == 0;
    const uint32_t base = below_operands(run, seen);
    if (base != Run::kNone && run.kind(base) == EntryKind::kSeparated) {
      const bool there = now.value(run.entry(base));
      cold.value(run.entry(base));
      if (told_.kind == Kind::kSeparated) told_.value_resident = there;
    }
    if (base != Run::kNone && run.kind(base) == EntryKind::kLarge) {
      encoded_ = run.entry(base).inline_value;
    }
    add(told_.now, now.cost());
    add(told_.cold, cold.cost());
    return {};
  }

  // The version that operands are for; kNone: there is none.
  uint32_t below_operands(const Run& run, uint32_t index) const {
    while (index != Run::kNone && run.kind(index) == EntryKind::kOperands) {
      ++index;
      if (index == run.entries() || !run.has_key(index, key_)) index = Run::kNone;
    }
    return index;
  }

  void take(const RunFile& file, const RunEntry& entry) {
    told_.place = Place::kRun;
    told_.timestamp = std::max(file.since, entry.cts);
    told_.value_bytes = entry.inline_value.size();
    switch (entry.kind) {
      case EntryKind::kInline:
        told_.kind = Kind::kInline;
        break;
      case EntryKind::kSeparated:
        told_.kind = Kind::kSeparated;
        told_.value_bytes = entry.size;
        told_.extent = extent_of(file.record.values[entry.extent].address);
        break;
      case EntryKind::kLarge:
        told_.kind = Kind::kLarge;
        break;
      case EntryKind::kTombstone:
        told_.kind = Kind::kDeleted;
        break;
      case EntryKind::kOperands:
        told_.kind = Kind::kOperands;
        break;
    }
  }

  Status take_large() {
    const Result<format::LargeValue> value = format::decode_large_value(encoded_);
    if (!value.ok()) return value.status();
    if (told_.kind == Kind::kLarge) {
      told_.value_bytes = value->size;
      if (!value->extents.empty()) told_.extent = extent_of(value->extents.front());
      told_.value_resident = false;
    }
    add(told_.now, cost_of(*value));
    add(told_.cold, cost_of(*value));
    return {};
  }

  static KeyExplanation::Resident resident(const RunFile& file) {
    os::epoch::Guard guard;
    const Run* run = file.run.load(std::memory_order_acquire);
    if (run == nullptr) {
      return file.outline.load(std::memory_order_acquire) != nullptr
                 ? KeyExplanation::Resident::kOutline
                 : KeyExplanation::Resident::kNothing;
    }
    return run->heap() != nullptr ? KeyExplanation::Resident::kAll
                                  : KeyExplanation::Resident::kIndex;
  }

  TreeState& tree_;
  Residency& residency_;
  const std::string_view key_;
  const ReadView view_;
  KeyExplanation& told_;
  std::string encoded_;  // a large value that has to be read
  Lsn cut_ = 0;
};

// As PointGet::look_at_layers, behind a look at the tree itself.
Status look_at_layers(TreeState& tree, std::string_view key, const ReadView& view, Lsn cut,
                      KeyExplanation& told) {
  if (!tree.layers().concern(view, true)) return {};
  for (const Layers::Seen& seen : tree.layers().seen(view)) {
    if (told.place != Place::kNowhere && told.timestamp >= seen.cts) return {};
    if (seen.layer->deletes()) {
      if (!seen.layer->range.covers(key) || cut >= seen.cts) continue;
      told.place = Place::kLayer;
      told.kind = Kind::kDeleted;
      told.timestamp = seen.cts;
      told.value_bytes = 0;
      told.extent = {};
      return {};
    }
    KeyExplanation there;
    if (Status s = Look(*seen.layer->data, key, kNewestOfLayer, there).run(); !s.ok()) return s;
    add(told.now, there.now);
    add(told.cold, there.cold);
    if (!there.found()) continue;
    Value value;
    Status status = seen.layer->data->get(key, kNewestOfLayer, true, value);
    if (!status.ok()) return status;
    const LayerEntry entry = decode_layer_entry(value.view());
    const bool deleted = entry.kind == VersionKind::kTombstone;
    told.place = Place::kLayer;
    told.kind = deleted ? Kind::kDeleted : there.kind;
    told.timestamp = seen.cts;
    told.value_bytes = deleted ? 0 : entry.value.size();
    told.extent = there.extent;
    told.value_resident = there.value_resident;
    return {};
  }
  return {};
}

}  // namespace

Result<KeyExplanation> explain(TreeState& tree, std::string_view key, const ReadView& view) {
  TreeState* at = &tree;
  ReadView as = view;
  KeyExplanation told;
  told.stored_key = key;
  for (uint64_t before = 0;;) {
    before = at->layers().state();
    KeyExplanation here;
    here.stored_key = key;
    here.tree = at->id();
    here.clones_passed = told.clones_passed;
    Look look(*at, key, as, here);
    Status status = look.run();
    if (status.ok()) status = look_at_layers(*at, key, as, look.cut(), here);
    if (!status.ok()) return status;
    if (at->layers().state() != before) continue;
    // A get of a clone that finds nothing there goes on in what the clone was made of.
    add(here.now, told.now);
    add(here.cold, told.cold);
    told = std::move(here);
    const CloneBase* base = at->base();
    const bool on = told.place == Place::kNowhere && base != nullptr && base->shown_to(as) &&
                    !at->dropped.load(std::memory_order_acquire);
    if (!on) return told;
    as = base->view(as);
    at = base->source;
    ++told.clones_passed;
  }
}

}  // namespace hawthorn::tree
