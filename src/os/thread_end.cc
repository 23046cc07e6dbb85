#include "os/thread_end.h"

#include <pthread.h>

#include <cerrno>
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
  Key() {
    if (pthread_key_create(&key_, end_all) != 0) throw std::bad_alloc();
  }
  ~Key() { pthread_key_delete(key_); }
  Key(const Key&) = delete;
  Key& operator=(const Key&) = delete;
  pthread_key_t get() const { return key_; }

 private:
  pthread_key_t key_ = 0;
};

pthread_key_t the_key() {
  static const Key key;
  return key.get();
}

}  // namespace

void at_thread_end(ThreadEnd& kept) {
  if (kept.noted) return;
  // Takes memory at most where the program has more than 32 keys. Behind exit there is no key any
  // more, and no thread of which anything is to be given back.
  if (pthread_setspecific(the_key(), &kept) == ENOMEM) throw std::bad_alloc();
  kept.before = newest;
  kept.noted = true;
  newest = &kept;
}

}  // namespace hawthorn::os
