#pragma once
// Something that calls functions when it is reset or destroyed: the base of what pins memory.
//
// Not here: who may still read what was pinned; nobody may afterwards. Used by PinnableSlice and
// Iterator. Threads: one object from one thread at a time.

#include "rocksdb/rocksdb_namespace.h"

namespace ROCKSDB_NAMESPACE {

// [mapped]
class Cleanable {
 public:
  Cleanable() = default;
  ~Cleanable() { Run(); }
  Cleanable(const Cleanable&) = delete;
  Cleanable& operator=(const Cleanable&) = delete;
  Cleanable(Cleanable&& other) noexcept : first_(other.first_) { other.first_ = {}; }
  Cleanable& operator=(Cleanable&& other) noexcept {
    if (this == &other) return *this;
    Run();
    first_ = other.first_;
    other.first_ = {};
    return *this;
  }

  using CleanupFunction = void (*)(void* arg1, void* arg2);

  // Functions are called in no order that is promised.
  void RegisterCleanup(CleanupFunction function, void* arg1, void* arg2);
  // Leaves what is registered to another one.
  void DelegateCleanupsTo(Cleanable* other);
  void Reset() {
    Run();
    first_ = {};
  }
  bool HasCleanups() const { return first_.function != nullptr; }

 private:
  struct Cleanup {
    CleanupFunction function = nullptr;
    void* arg1 = nullptr;
    void* arg2 = nullptr;
    Cleanup* next = nullptr;
  };
  void Run() {
    if (first_.function != nullptr) RunAll();
  }
  void RunAll();

  Cleanup first_;  // in place, so that one function needs no memory
};

}  // namespace ROCKSDB_NAMESPACE
