#pragma once
// What a read returns: a view of a value's bytes that stays valid as long as the Value object
// lives. No copy is made where the bytes are in memory: the Value keeps ("pins") the piece of
// memory that they are in.
//
// Threads: one object from one thread at a time; the bytes may be read from any.
// Lifetime: release every Value before its Db is closed; Db::close returns kBusy otherwise.

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hawthorn/export.h"
#include "hawthorn/status.h"

namespace hawthorn {

namespace internal {
// Something that a read keeps alive. The engine fills it; users never see it.
struct Pin {
  void (*release)(void* owner) = nullptr;
  void* owner = nullptr;
};
struct ValueAccess;
}  // namespace internal

class HAWTHORN_EXPORT Value {
 public:
  Value() = default;
  ~Value() { reset(); }
  Value(Value&& other) noexcept { *this = std::move(other); }
  Value& operator=(Value&& other) noexcept {
    if (this == &other) return *this;
    reset();
    const bool owned = other.view_.data() == other.copy_.data();
    pin_ = std::exchange(other.pin_, {});
    copy_ = std::move(other.copy_);
    view_ = owned ? std::string_view(copy_) : other.view_;
    other.view_ = {};
    return *this;
  }
  Value(const Value&) = delete;
  Value& operator=(const Value&) = delete;

  // The bytes. Lifetime: until this Value is read into again, reset, moved from or destroyed.
  std::string_view view() const& { return view_; }
  std::string_view view() && = delete;
  std::string to_string() const { return std::string(view_); }
  size_t size() const { return view_.size(); }
  bool empty() const { return view_.empty(); }

  // Lets go of the bytes.
  void reset() {
    const internal::Pin pin = std::exchange(pin_, {});
    if (pin.release != nullptr) pin.release(pin.owner);
    view_ = {};
  }

 private:
  friend struct internal::ValueAccess;
  std::string_view view_;
  internal::Pin pin_;
  std::string copy_;  // used when the bytes cannot be pinned; its capacity is kept between reads
};

// One answer of multi_get.
struct BatchItem {
  StatusCode code = StatusCode::kNotFound;  // kOk or kNotFound
  std::string_view value;
  bool found() const { return code == StatusCode::kOk; }
};

// The answers of multi_get, in the order of the keys. Reuse one object for many calls: it keeps its
// memory. Lifetime: the views are valid until the object is read into again, reset or destroyed.
class HAWTHORN_EXPORT ReadBatch {
 public:
  ReadBatch() = default;
  ~ReadBatch() { reset(); }
  ReadBatch(const ReadBatch&) = delete;
  ReadBatch& operator=(const ReadBatch&) = delete;

  size_t size() const { return items_.size(); }
  const BatchItem& operator[](size_t index) const { return items_[index]; }
  std::span<const BatchItem> items() const { return items_; }
  void reset() {
    for (const internal::Pin& pin : pins_) pin.release(pin.owner);
    pins_.clear();
    items_.clear();
    block_ = 0;
    used_ = 0;
  }

 private:
  friend struct internal::ValueAccess;
  static constexpr size_t kBlockBytes = 64 << 10;
  std::vector<BatchItem> items_;
  std::vector<internal::Pin> pins_;              // of values that were not copied
  std::vector<std::unique_ptr<char[]>> blocks_;  // copies, kBlockBytes each
  size_t block_ = 0;                             // the block being filled
  size_t used_ = 0;                              // of it
};

}  // namespace hawthorn
