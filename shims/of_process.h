#pragma once
// What a shim keeps for the whole process, such as the list of its open databases, and the process
// itself: a child of fork has its parent's memory as the parent's threads left it, with locks held
// for ever.
//
// Threads: any.

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <new>

namespace hawthorn {

// Counts the forks between the process that loaded the library and this one.
inline std::atomic<uint64_t> process_forks{0};
inline const int process_forks_counted =
    pthread_atfork(nullptr, nullptr, [] { process_forks.fetch_add(1, std::memory_order_relaxed); });

// Of whoever belongs to the process that made it: in a child of that process it is inherited, and
// is to be left alone.
class MadeInProcess {
 public:
  bool inherited() const { return process_forks.load(std::memory_order_relaxed) != forks_; }

 private:
  const uint64_t forks_ = process_forks.load(std::memory_order_relaxed);
};

// Base of a T that a child of fork may delete: then it stays as it is, as do the locks that the
// parent's threads held. For classes that nothing derives from.
template <typename T>
class LeftToItsProcess : public MadeInProcess {
 public:
  static void operator delete(LeftToItsProcess* object, std::destroying_delete_t) {
    if (object->inherited()) return;
    T* const whole = static_cast<T*>(object);
    whole->~T();
    ::operator delete(whole);
  }
};

// One T, made at first use and never destroyed, since programs may close databases while they end.
// A child of fork has its parent's. (For a variable of a function it would wait for ever where
// another thread of its parent was just making it.)
template <typename T>
class MadeOnce {
 public:
  static T& get() {
    T* known = value_.load(std::memory_order_acquire);
    if (known != nullptr) return *known;
    T* const made = new T;
    if (value_.compare_exchange_strong(known, made, std::memory_order_acq_rel)) return *made;
    delete made;
    return *known;
  }

 protected:
  static inline constinit std::atomic<T*> value_{nullptr};
};

// The same, but that a child of fork begins with a new one, and leaves its parent's as it is.
template <typename T>
class OfProcess : private MadeOnce<T> {
 public:
  static T& get() {
    static_cast<void>(forgotten_by_children_);
    return MadeOnce<T>::get();
  }

 private:
  static inline const int forgotten_by_children_ = pthread_atfork(
      nullptr, nullptr, [] { MadeOnce<T>::value_.store(nullptr, std::memory_order_relaxed); });
};

}  // namespace hawthorn
