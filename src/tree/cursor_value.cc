// What a cursor shows of a run's entry, and the values that it does not find as they are: large
// ones, and those that a merge operator makes.

#include <cstring>
#include <new>

#include "format/run_layout.h"
#include "os/arena_block.h"
#include "os/test_point.h"
#include "tree/cursor.h"
#include "tree/large_read.h"

namespace hawthorn::tree {

using format::kGroupEntries;
using format::kTagRecord;
using format::location_offset;
using format::location_tag;

namespace {
// A buffer for a large value is not kept once a small one needs the room.
constexpr size_t kValueBytesKept = size_t{1} << 20;
}  // namespace

// Widens [*begin, *end), one entry, to all versions of its key; returns the one to show, or kNone.
uint32_t TreeCursor::pick_version(uint32_t* begin, uint32_t* end) {
  HAWTHORN_TEST_POINT("tree.cursor.picks_version");
  while (forward_ && *end < run_stop_ && run_->same_key_as_next(*end - 1)) ++*end;
  while (!forward_ && *begin > run_stop_ && run_->same_key_as_next(*begin - 1)) --*begin;
  for (uint32_t index = *begin; index < *end; ++index) {
    const RunEntry entry = run_->entry(index);
    if (entry.cts > view_.ts) continue;
    if (entry.kind != EntryKind::kTombstone || options_.deletes) return index;
    dead_ = index == *begin;
    break;
  }
  dead_named_ = false;
  return Run::kNone;
}

TreeCursor::Step TreeCursor::show_run(uint32_t index) {
  const format::RunGroup& group = run_->group(index / kGroupEntries);
  const uint32_t at = run_->location(index);
  const uint32_t tag = location_tag(at);
  store(key_head_, __builtin_bswap64(group.heads[index % kGroupEntries]));
  if (tag != kTagRecord) {
    key_ = {key_buffer_.get(), fixed_key_size_};
    value_ = {};
    if (!hiding_.empty() && hides(key_, 0)) return dead_ = true, Step::kHidden;
    if (key_only_) return Step::kShown;
    value_ = {bases_[tag] + location_offset(at), sizes_[tag]};
    return Step::kShown;
  }
  const format::HeapRecord record = format::decode_record(run_->heap() + location_offset(at));
  if (!record.tail.empty()) std::memcpy(key_head_ + 8, record.tail.data(), record.tail.size());
  key_ = {key_buffer_.get(), run_->skip() + record.rest_size};
  value_ = {};
  if (!hiding_.empty() && hides(key_, 0)) return dead_ = true, Step::kHidden;
  deleted_ = options_.deletes && record.kind == format::RecordKind::kTombstone;
  if (deleted_ || key_only_ || passing_) return Step::kShown;
  if (record.operands) return show_folded();
  switch (record.kind) {
    case format::RecordKind::kInline:
      value_ = record.value;
      return Step::kShown;
    case format::RecordKind::kSeparated:
      value_ = {bases_[record.extent] + record.offset, record.size};
      return Step::kShown;
    case format::RecordKind::kLarge:
      return show_large(record.value);
    case format::RecordKind::kTombstone:
      break;
  }
  return Step::kHidden;
}

TreeCursor::Step TreeCursor::show_large(std::string_view encoded) {
  value_ = {};
  if (key_only_ || passing_) return Step::kShown;
  const Result<format::LargeValue> value = format::decode_large_value(encoded);
  if (!value.ok()) return failed_read(value.status());
  if (value->size > kLargeValueBytesMax) {
    const Status status = too_large_to_read(value->size);
    status_ = Status(status.code(), quoted_key(key_) + ": " + std::string(status.message()));
    return Step::kTooLarge;
  }
  char* room = value_room(value->size);
  if (room == nullptr) return failed_read(Status(StatusCode::kOutOfMemory));
  if (Status s = read_large_value(*tree_->store()->residency, *value, room); !s.ok()) {
    return failed_read(std::move(s));
  }
  value_ = {room, value->size};
  return Step::kShown;
}

// Operands are folded as a get of the key does it, at the cursor's timestamp: what that finds is
// what the cursor sees, whatever was flushed meanwhile.
TreeCursor::Step TreeCursor::show_folded() {
  value_ = {};
  if (key_only_ || passing_) return Step::kShown;
  Value value;
  Status status = tree_->get(key_, view_, true, value);
  if (status.is(StatusCode::kNotSupported)) {
    status_ = std::move(status);
    return Step::kTooLarge;
  }
  if (!status.ok()) return failed_read(std::move(status));
  const std::string_view folded = value.view();
  char* room = value_room(folded.size());
  if (room == nullptr) return failed_read(Status(StatusCode::kOutOfMemory));
  if (!folded.empty()) std::memcpy(room, folded.data(), folded.size());
  value_ = {room, folded.size()};
  return Step::kShown;
}

// Damage is declared only of what a fresh descriptor still refers to (R24).
TreeCursor::Step TreeCursor::failed_read(Status status) {
  if (status.is(StatusCode::kCorruption) && has_newer_run(key_)) return Step::kStale;
  status_ = std::move(status);
  return Step::kFailed;
}

// Room for one value; null without memory.
char* TreeCursor::value_room(size_t size) {
  own_value_ = true;
  const bool too_large = value_capacity_ > kValueBytesKept && size <= kValueBytesKept;
  if (value_capacity_ < size || too_large || value_buffer_ == nullptr) {
    release_value_room();
    value_buffer_ = size < os::kArenaBlockBytes
                        ? new (std::nothrow) char[std::max<size_t>(size, 1)]
                        : tree_->store()->residency->allocate_for_read(os::Quota::kPins, size);
    if (value_buffer_ == nullptr) return nullptr;
    value_capacity_ = size;
  }
  return value_buffer_;
}

void TreeCursor::release_value_room() {
  if (value_capacity_ < os::kArenaBlockBytes) {
    delete[] value_buffer_;
  } else {
    tree_->store()->residency->release(os::Quota::kPins, value_buffer_, value_capacity_);
  }
  value_buffer_ = nullptr;
  value_capacity_ = 0;
}

}  // namespace hawthorn::tree
