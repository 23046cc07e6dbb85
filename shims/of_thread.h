#pragma once
// What each thread has for itself, such as memory that is kept between calls.
//
// Not by thread_local objects that have destructors: the first use of such a one registers it with
// the C library, which ends the process where there is no memory for that.
//
// Threads: any.

#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <new>

namespace hawthorn {

// Told of the value that a thread has set when that thread ends; of none once the library is
// unloaded.
class ThreadKey {
 public:
  explicit constexpr ThreadKey(void (*end)(void*)) : end_(end) {}
  ~ThreadKey() {
    const int64_t key = key_.load(std::memory_order_acquire);
    if (key != kNone) pthread_key_delete(static_cast<pthread_key_t>(key));
  }
  ThreadKey(const ThreadKey&) = delete;
  ThreadKey& operator=(const ThreadKey&) = delete;
  // Errors: std::bad_alloc. After the key is deleted, as the program exits, this does nothing.
  void set(void* value) {
    if (pthread_setspecific(get(), value) == ENOMEM) throw std::bad_alloc();
  }

 private:
  // Made at first use: static objects of the program may come before those of the library.
  pthread_key_t get() {
    int64_t known = key_.load(std::memory_order_acquire);
    if (known != kNone) return static_cast<pthread_key_t>(known);
    pthread_key_t made = 0;
    if (pthread_key_create(&made, end_) != 0) throw std::bad_alloc();
    if (key_.compare_exchange_strong(known, made, std::memory_order_acq_rel)) return made;
    pthread_key_delete(made);
    return static_cast<pthread_key_t>(known);
  }

  static constexpr int64_t kNone = -1;
  std::atomic<int64_t> key_{kNone};
  void (*const end_)(void*);
};

// One T for each thread, made at its first use.
template <typename T>
class OfThread {
 public:
  // Errors: std::bad_alloc.
  static T& get() {
    if (object_ == nullptr) [[unlikely]] {
      make();
    }
    return *object_;
  }

 private:
  [[gnu::cold, gnu::noinline]] static void make() {
    auto made = std::make_unique<T>();
    key_.set(made.get());
    object_ = made.release();
  }
  static void destroy(void* object) {
    object_ = nullptr;
    delete static_cast<T*>(object);
  }

  static inline constinit thread_local T* object_ = nullptr;
  static inline constinit ThreadKey key_{destroy};
};

}  // namespace hawthorn
