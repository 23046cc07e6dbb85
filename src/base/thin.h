#pragma once
// A vector and a string of one pointer each, for what is nearly always empty and of which there
// are very many.
//
// Not here: anything for hot loops that change them: each asks its memory for its size.
// Threads: as for any value.
//
// 1. Null as long as it is empty and nothing was ever in it.

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/bytes.h"

namespace hawthorn {

template <typename T>
class ThinVector {
 public:
  using value_type = T;
  using iterator = T*;
  using const_iterator = const T*;

  ThinVector() = default;
  ThinVector(std::initializer_list<T> from) { assign(from.begin(), from.end()); }
  ThinVector(const ThinVector& other) { assign(other.begin(), other.end()); }
  ThinVector(ThinVector&& other) noexcept : head_(std::exchange(other.head_, nullptr)) {}
  ThinVector& operator=(ThinVector other) noexcept {
    std::swap(head_, other.head_);
    return *this;
  }
  ~ThinVector() { release(); }

  size_t size() const { return head_ == nullptr ? 0 : head_->size; }
  bool empty() const { return size() == 0; }
  size_t capacity() const { return head_ == nullptr ? 0 : head_->capacity; }
  T* begin() { return head_ == nullptr ? nullptr : items(head_); }
  T* end() { return begin() + size(); }
  const T* begin() const { return head_ == nullptr ? nullptr : items(head_); }
  const T* end() const { return begin() + size(); }
  T& operator[](size_t at) { return items(head_)[at]; }
  const T& operator[](size_t at) const { return items(head_)[at]; }
  T& front() { return items(head_)[0]; }
  const T& front() const { return items(head_)[0]; }
  T& back() { return items(head_)[head_->size - 1]; }
  const T& back() const { return items(head_)[head_->size - 1]; }

  void push_back(T item) {
    if (size() == capacity()) reserve(std::max<size_t>(1, 2 * size()));
    new (end()) T(std::move(item));
    ++head_->size;
  }
  void reserve(size_t count) {
    if (count <= capacity()) return;
    Head* const larger = make(count);
    larger->size = static_cast<uint32_t>(size());
    std::uninitialized_move(begin(), end(), items(larger));
    release();
    head_ = larger;
  }
  void resize(size_t count) {
    while (size() > count) pop_back();
    reserve(count);
    while (size() < count) push_back(T());
  }
  void pop_back() {
    std::destroy_at(&back());
    --head_->size;
  }
  void clear() {
    if (head_ == nullptr) return;
    std::destroy(begin(), end());
    head_->size = 0;
  }
  template <typename From>
  void assign(From first, From last) {
    clear();
    reserve(static_cast<size_t>(std::distance(first, last)));
    for (; first != last; ++first) push_back(*first);
  }
  T* erase(T* first, T* last) {
    T* const rest = std::move(last, end(), first);
    while (end() != rest) pop_back();
    return first;
  }
  T* erase(T* at) { return erase(at, at + 1); }

  friend bool operator==(const ThinVector& a, const ThinVector& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  struct alignas(std::max(alignof(T), alignof(uint64_t))) Head {
    uint32_t size;
    uint32_t capacity;
  };
  static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
  static T* items(Head* head) { return reinterpret_cast<T*>(head + 1); }
  static const T* items(const Head* head) { return reinterpret_cast<const T*>(head + 1); }
  static Head* make(size_t count) {
    void* const memory = ::operator new(sizeof(Head) + count * sizeof(T));
    return new (memory) Head{0, static_cast<uint32_t>(count)};
  }
  void release() {
    if (head_ == nullptr) return;
    std::destroy(begin(), end());
    ::operator delete(head_);
    head_ = nullptr;
  }

  Head* head_ = nullptr;
};

// Changed as a whole alone.
class ThinString {
 public:
  ThinString() = default;
  ThinString(std::string_view from) {
    if (from.empty()) return;
    head_ = static_cast<char*>(::operator new(sizeof(uint32_t) + from.size()));
    store(head_, static_cast<uint32_t>(from.size()));
    std::memcpy(head_ + sizeof(uint32_t), from.data(), from.size());
  }
  ThinString(const std::string& from) : ThinString(std::string_view(from)) {}
  ThinString(const char* from) : ThinString(std::string_view(from)) {}
  ThinString(const ThinString& other) : ThinString(other.view()) {}
  ThinString(ThinString&& other) noexcept : head_(std::exchange(other.head_, nullptr)) {}
  ThinString& operator=(ThinString other) noexcept {
    std::swap(head_, other.head_);
    return *this;
  }
  ~ThinString() { ::operator delete(head_); }

  bool empty() const { return head_ == nullptr; }
  size_t size() const { return head_ == nullptr ? 0 : load<uint32_t>(head_); }
  const char* data() const { return head_ == nullptr ? "" : head_ + sizeof(uint32_t); }
  std::string_view view() const { return {data(), size()}; }  // never null
  operator std::string_view() const { return view(); }
  operator std::string() const { return std::string(view()); }

  friend bool operator==(const ThinString& a, const ThinString& b) { return a.view() == b.view(); }
  friend auto operator<=>(const ThinString& a, const ThinString& b) {
    return a.view() <=> b.view();
  }
  template <typename Text>
    requires std::is_convertible_v<const Text&, std::string_view> &&
             (!std::is_same_v<Text, ThinString>)
  friend bool operator==(const ThinString& a, const Text& b) {
    return a.view() == std::string_view(b);
  }
  template <typename Text>
    requires std::is_convertible_v<const Text&, std::string_view> &&
             (!std::is_same_v<Text, ThinString>)
  friend auto operator<=>(const ThinString& a, const Text& b) {
    return a.view() <=> std::string_view(b);
  }

 private:
  char* head_ = nullptr;
};

}  // namespace hawthorn
