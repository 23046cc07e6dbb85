#pragma once
// How the engine fills the public Value and ReadBatch.

#include <cstring>
#include <string_view>

#include "hawthorn/value.h"

namespace hawthorn::internal {

struct ValueAccess {
  static void copy(Value& value, std::string_view bytes) {
    value.reset();
    value.copy_.assign(bytes.data(), bytes.size());
    value.view_ = value.copy_;
  }
  // Room for `size` bytes that the caller fills at once.
  static char* room(Value& value, size_t size) {
    value.reset();
    value.copy_.resize(size);
    value.view_ = value.copy_;
    return value.copy_.data();
  }
  // Leaves out what it begins with.
  static void skip(Value& value, size_t bytes) {
    if (value.view_.data() != value.copy_.data()) return value.view_.remove_prefix(bytes);
    value.copy_.erase(0, bytes);
    value.view_ = value.copy_;
  }
  static std::span<BatchItem> items(ReadBatch& batch) { return batch.items_; }
  static void pin(Value& value, std::string_view bytes, Pin pin) {
    value.reset();
    value.pin_ = pin;
    value.view_ = bytes;
  }

  static BatchItem* start(ReadBatch& batch, size_t count) {
    batch.reset();
    batch.items_.assign(count, BatchItem{});
    return batch.items_.data();
  }
  static void add_pin(ReadBatch& batch, Pin pin) { batch.pins_.push_back(pin); }
  // Room for a copy of up to kCopyMax bytes, stable until the batch is reset.
  static constexpr size_t kCopyMax = 16 << 10;
  static char* room(ReadBatch& batch, size_t size) {
    if (batch.block_ < batch.blocks_.size() && batch.used_ + size > ReadBatch::kBlockBytes) {
      ++batch.block_;
      batch.used_ = 0;
    }
    if (batch.block_ == batch.blocks_.size()) {
      batch.blocks_.push_back(std::make_unique_for_overwrite<char[]>(ReadBatch::kBlockBytes));
    }
    char* room = batch.blocks_[batch.block_].get() + batch.used_;
    batch.used_ += size;
    return room;
  }
};

}  // namespace hawthorn::internal
