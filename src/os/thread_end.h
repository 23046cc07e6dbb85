#pragma once
// What a thread keeps of the library's is given back when the thread ends, newest first.
//
// Not by thread_local objects that have destructors: the first use of such a one registers it with
// the C library, which ends the process where there is no memory for that.
//
// Not here: threads of our own (os::Thread). Threads: each has what is its own.

#include <memory>
#include <utility>

namespace hawthorn::os {

// Constant-initialised and thread-local.
struct ThreadEnd {
  void (*end)();
  ThreadEnd* before = nullptr;
  bool noted = false;
};

// `kept`.end() is called when this thread ends, behind the destructors of its thread_local objects;
// once, however often it is asked for. Not when the process exits. Errors: std::bad_alloc, where
// nothing was done.
void at_thread_end(ThreadEnd& kept);

// An object that each thread has for itself, from the first use on.
template <typename T>
class OfThread {
 public:
  // Errors: std::bad_alloc.
  static T& get() {
    if (object == nullptr) [[unlikely]] {
      make();
    }
    return *object;
  }
  // Null: this thread has not used it.
  static T* find() { return object; }

 private:
  [[gnu::cold, gnu::noinline]] static void make() {
    auto made = std::make_unique<T>();
    at_thread_end(kept);
    object = made.release();
  }
  static void destroy() { delete std::exchange(object, nullptr); }

  static inline constinit thread_local T* object = nullptr;
  static inline constinit thread_local ThreadEnd kept{destroy};
};

}  // namespace hawthorn::os
