// Slice, PinnableSlice and Cleanable.

#include "rocksdb/slice.h"

#include <algorithm>
#include <utility>

namespace rocksdb {

namespace {
int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}
}  // namespace

void Cleanable::RegisterCleanup(CleanupFunction function, void* arg1, void* arg2) {
  if (first_.function == nullptr) {
    first_ = {function, arg1, arg2, nullptr};
    return;
  }
  first_.next = new Cleanup{function, arg1, arg2, first_.next};
}

void Cleanable::DelegateCleanupsTo(Cleanable* other) {
  if (first_.function == nullptr) return;
  other->RegisterCleanup(first_.function, first_.arg1, first_.arg2);
  for (Cleanup* cleanup = first_.next; cleanup != nullptr;) {
    other->RegisterCleanup(cleanup->function, cleanup->arg1, cleanup->arg2);
    delete std::exchange(cleanup, cleanup->next);
  }
  first_ = {};
}

void Cleanable::RunAll() {
  first_.function(first_.arg1, first_.arg2);
  for (Cleanup* cleanup = first_.next; cleanup != nullptr;) {
    cleanup->function(cleanup->arg1, cleanup->arg2);
    delete std::exchange(cleanup, cleanup->next);
  }
}

Slice::Slice(const SliceParts& parts, std::string* buf) {
  buf->clear();
  for (int i = 0; i < parts.num_parts; ++i) {
    buf->append(parts.parts[i].data(), parts.parts[i].size());
  }
  *this = Slice(*buf);
}

std::string Slice::ToString(bool hex) const {
  if (!hex) return std::string(data_, size_);
  static constexpr char kDigits[] = "0123456789ABCDEF";
  std::string text;
  text.reserve(2 * size_);
  for (const char c : ToStringView()) {
    const auto byte = static_cast<unsigned char>(c);
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

bool Slice::DecodeHex(std::string* result) const {
  result->clear();
  if (size_ % 2 != 0) return false;
  for (size_t i = 0; i < size_; i += 2) {
    const int high = digit_of(data_[i]);
    const int low = digit_of(data_[i + 1]);
    if (high < 0 || low < 0) return false;
    *result += static_cast<char>(high << 4 | low);
  }
  return true;
}

size_t Slice::difference_offset(const Slice& b) const {
  const size_t common = std::min(size_, b.size_);
  return static_cast<size_t>(std::mismatch(data_, data_ + common, b.data_).first - data_);
}

PinnableSlice::PinnableSlice(PinnableSlice&& other) noexcept : buf_(&self_space_) {
  *this = std::move(other);
}

PinnableSlice& PinnableSlice::operator=(PinnableSlice&& other) noexcept {
  if (this == &other) return *this;
  Reset();
  Cleanable::operator=(std::move(other));
  pinned_ = std::exchange(other.pinned_, false);
  if (pinned_) {
    data_ = other.data_;
    size_ = other.size_;
  } else if (other.buf_ == &other.self_space_) {
    self_space_ = std::move(other.self_space_);
    buf_ = &self_space_;
    PinSelf();
  } else {
    buf_ = other.buf_;
    PinSelf();
  }
  // It stands on its own buffer from now on.
  other.self_space_.clear();
  other.buf_ = &other.self_space_;
  other.PinSelf();
  return *this;
}

void PinnableSlice::remove_suffix(size_t n) {
  assert(n <= size());
  if (pinned_) {
    size_ -= n;
    return;
  }
  buf_->erase(size() - n, n);
  PinSelf();
}

void PinnableSlice::remove_prefix(size_t n) {
  assert(n <= size());
  if (pinned_) {
    data_ += n;
    size_ -= n;
    return;
  }
  buf_->erase(0, n);
  PinSelf();
}

}  // namespace rocksdb
