#pragma once
// Bytes that somebody else owns (Slice), and bytes that stay where they are until they are let go
// (PinnableSlice).
//
// Threads: as any value. Lifetime: a Slice is valid as long as what it points to; what a
// PinnableSlice shows, until it is reset, read into again or destroyed.

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "rocksdb/cleanable.h"

namespace ROCKSDB_NAMESPACE {

struct SliceParts;

// [mapped]
class Slice {
 public:
  Slice() = default;
  Slice(const char* d, size_t n) : data_(d), size_(n) {}
  Slice(const std::string& s) : data_(s.data()), size_(s.size()) {}             // NOLINT
  Slice(const std::string_view& s) : data_(s.data()), size_(s.size()) {}        // NOLINT
  Slice(const char* s) : data_(s), size_(s == nullptr ? 0 : std::strlen(s)) {}  // NOLINT
  // The parts behind one another, in *buf.
  Slice(const SliceParts& parts, std::string* buf);

  const char* data() const { return data_; }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const char* begin() const { return data_; }
  const char* end() const { return data_ + size_; }
  char operator[](size_t n) const {
    assert(n < size_);
    return data_[n];
  }
  void clear() {
    data_ = "";
    size_ = 0;
  }
  void remove_prefix(size_t n) {
    assert(n <= size_);
    data_ += n;
    size_ -= n;
  }
  void remove_suffix(size_t n) {
    assert(n <= size_);
    size_ -= n;
  }

  // With `hex` two capital digits for each byte.
  std::string ToString(bool hex = false) const;
  std::string_view ToStringView() const { return {data_, size_}; }
  // Of such digits the bytes; false where they are none.
  bool DecodeHex(std::string* result) const;

  // Byte by byte, unsigned; below zero where this one comes first.
  int compare(const Slice& b) const { return ToStringView().compare(b.ToStringView()); }
  bool starts_with(const Slice& x) const {
    return size_ >= x.size_ && std::memcmp(data_, x.data_, x.size_) == 0;
  }
  bool ends_with(const Slice& x) const {
    return size_ >= x.size_ && std::memcmp(data_ + size_ - x.size_, x.data_, x.size_) == 0;
  }
  // Where the two begin to differ.
  size_t difference_offset(const Slice& b) const;

  const char* data_ = "";
  size_t size_ = 0;
};

// [mapped]
inline bool operator==(const Slice& x, const Slice& y) {
  return x.ToStringView() == y.ToStringView();
}
inline bool operator!=(const Slice& x, const Slice& y) { return !(x == y); }

// A Slice, or none. [mapped]
class OptSlice {
 public:
  OptSlice() = default;
  OptSlice(const Slice& s) : slice_(s), has_(true) {}             // NOLINT
  OptSlice(const std::string& s) : slice_(s), has_(true) {}       // NOLINT
  OptSlice(const std::string_view& s) : slice_(s), has_(true) {}  // NOLINT
  OptSlice(const char* s) : slice_(s), has_(true) {}              // NOLINT
  OptSlice(std::nullptr_t) {}                                     // NOLINT

  bool has_value() const noexcept { return has_; }
  explicit operator bool() const noexcept { return has_; }
  const Slice& value() const noexcept {
    assert(has_);
    return slice_;
  }
  const Slice& operator*() const noexcept { return value(); }
  const Slice* operator->() const noexcept { return &value(); }
  const Slice* AsPtr() const noexcept { return has_ ? &slice_ : nullptr; }
  static OptSlice CopyFromPtr(const Slice* ptr) {
    return ptr == nullptr ? OptSlice() : OptSlice(*ptr);
  }

 private:
  Slice slice_;
  bool has_ = false;
};

// What a read hands out: a copy of its own where the value is small, the engine's memory else.
// [mapped]
class PinnableSlice : public Slice, public Cleanable {
 public:
  PinnableSlice() : buf_(&self_space_) {}
  // Copies go into *buf.
  explicit PinnableSlice(std::string* buf) : buf_(buf) {}
  PinnableSlice(PinnableSlice&& other) noexcept;
  PinnableSlice& operator=(PinnableSlice&& other) noexcept;
  PinnableSlice(const PinnableSlice&) = delete;
  PinnableSlice& operator=(const PinnableSlice&) = delete;

  void PinSlice(const Slice& s, CleanupFunction f, void* arg1, void* arg2) {
    Show(s);
    RegisterCleanup(f, arg1, arg2);
  }
  // Takes over what `cleanable` has registered.
  void PinSlice(const Slice& s, Cleanable* cleanable) {
    Show(s);
    if (cleanable != nullptr) cleanable->DelegateCleanupsTo(this);
  }
  // A copy.
  void PinSelf(const Slice& slice) {
    assert(!pinned_);
    buf_->assign(slice.data(), slice.size());
    PinSelf();
  }
  // What was written to GetSelf().
  void PinSelf() {
    assert(!pinned_);
    data_ = buf_->data();
    size_ = buf_->size();
  }
  void remove_suffix(size_t n);
  void remove_prefix(size_t n);
  void Reset() {
    Cleanable::Reset();
    pinned_ = false;
    size_ = 0;
  }
  std::string* GetSelf() { return buf_; }
  bool IsPinned() const { return pinned_; }

 private:
  void Show(const Slice& s) {
    assert(!pinned_);
    pinned_ = true;
    data_ = s.data();
    size_ = s.size();
  }

  std::string self_space_;
  std::string* buf_;
  bool pinned_ = false;
};

// Several slices that are one key or value. [mapped]
struct SliceParts {
  SliceParts() = default;
  SliceParts(const Slice* _parts, int _num_parts) : parts(_parts), num_parts(_num_parts) {}
  const Slice* parts = nullptr;
  int num_parts = 0;
};

}  // namespace ROCKSDB_NAMESPACE
