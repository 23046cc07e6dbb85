// The values that a cursor does not find as they are: large ones, and those that a merge operator
// makes.

#include <cstring>
#include <new>

#include "format/run_layout.h"
#include "os/arena_block.h"
#include "tree/cursor.h"
#include "tree/large_read.h"

namespace hawthorn::tree {

namespace {
// A buffer for a large value is not kept once a small one needs the room.
constexpr size_t kValueBytesKept = size_t{1} << 20;
}  // namespace

TreeCursor::Step TreeCursor::show_large(std::string_view encoded) {
  value_ = {};
  if (key_only_ || passing_) return Step::kShown;
  const Result<format::LargeValue> value = format::decode_large_value(encoded);
  if (!value.ok()) return failed_read(value.status());
  if (value->size > kLargeValueBytesMax) {
    status_ = too_large_to_read(value->size);
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
