#include "os/thread_end.h"

#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <new>

namespace hawthorn::os {

namespace {

constinit thread_local ThreadEnd* newest = nullptr;

// A destructor that runs later may note something again: then this is called again.
void end_all(void* /*value*/) {
  while (newest != nullptr) {
    ThreadEnd* const kept = newest;
    newest = kept->before;
    kept->noted = false;
    kept->end();
  }
}

// Deleted when the library is unloaded, as what it calls is. Threads that go on until then leave
// behind what they have.
class Key {
 public:
  constexpr Key() = default;
  ~Key() {
    const int64_t key = key_.load(std::memory_order_acquire);
    if (key != kNone) pthread_key_delete(static_cast<pthread_key_t>(key));
  }
  Key(const Key&) = delete;
  Key& operator=(const Key&) = delete;
  // Made at first use: static objects of the program may come before those of the library.
  pthread_key_t get() {
    int64_t known = key_.load(std::memory_order_acquire);
    if (known != kNone) return static_cast<pthread_key_t>(known);
    pthread_key_t made = 0;
    if (pthread_key_create(&made, end_all) != 0) throw std::bad_alloc();
    if (key_.compare_exchange_strong(known, made, std::memory_order_acq_rel)) return made;
    pthread_key_delete(made);
    return static_cast<pthread_key_t>(known);
  }

 private:
  static constexpr int64_t kNone = -1;
  std::atomic<int64_t> key_{kNone};
};
constinit Key the_key;

}  // namespace

void at_thread_end(ThreadEnd& kept) {
  if (kept.noted) return;
  // Takes memory at most where the program has more than 32 keys. Behind exit there is no key any
  // more, and no thread of which anything is to be given back.
  if (pthread_setspecific(the_key.get(), &kept) == ENOMEM) throw std::bad_alloc();
  kept.before = newest;
  kept.noted = true;
  newest = &kept;
}

}  // namespace hawthorn::os
