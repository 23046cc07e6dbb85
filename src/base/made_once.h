#pragma once
// What is made at first use, once in a process, and never destroyed.
//
// Threads: any. A variable of a function would do, but for one thing: a child of fork waits for it
// for ever where another thread of its parent was just making it. Here two threads may both make
// one, and one of them is kept.

#include <atomic>

namespace hawthorn {

// kMake: a function without state that returns a T. Throws what it throws: then the next caller
// tries.
template <auto kMake>
auto& made_once() {
  using T = decltype(kMake());
  static constinit std::atomic<T*> value{nullptr};
  T* known = value.load(std::memory_order_acquire);
  if (known != nullptr) [[likely]] {
    return *known;
  }
  T* const made = new T(kMake());
  if (value.compare_exchange_strong(known, made, std::memory_order_acq_rel)) return *made;
  delete made;
  return *known;
}

}  // namespace hawthorn
