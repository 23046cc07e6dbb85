#include "os/memory_reserve.h"

#include <atomic>
#include <cstdlib>
#include <ctime>
#include <new>

#include "os/fork.h"
#include "os/sync.h"

namespace hawthorn::os {

namespace {

void set_gone(bool gone) {
  if (gone) {
    process_word.fetch_or(kMemoryShortBit, std::memory_order_relaxed);
  } else {
    process_word.fetch_and(~kMemoryShortBit, std::memory_order_relaxed);
  }
}

Mutex the_mutex;  // of what follows, but for what is atomic
uint64_t reserves = 0;
std::atomic<void*> set_aside{nullptr};
std::atomic<std::new_handler> handler_before{nullptr};

// A child may find the lock held by a thread that is no more. What it protects is whole at every
// moment.
[[maybe_unused]] const bool begins_anew = [] {
  at_fork_in_child([] { new (&the_mutex) Mutex; });
  return true;
}();

// As the new-handler: returns where operator new may try again.
void give_up() {
  set_gone(true);
  if (void* const memory = set_aside.exchange(nullptr); memory != nullptr) {
    std::free(memory);
    return;
  }
  const std::new_handler before = handler_before.load();
  if (before == nullptr) throw std::bad_alloc();
  before();
}

}  // namespace

bool set_memory_aside() noexcept {
  MutexLock lock(the_mutex);
  if (!memory_reserve_gone()) return true;
  if (reserves > 0 && set_aside.load() == nullptr) {
    void* const memory = std::malloc(kMemoryReserveBytes);
    if (memory == nullptr) return false;
    set_aside.store(memory);
  }
  set_gone(false);
  return true;
}

MemoryReserve::MemoryReserve() noexcept {
  {
    MutexLock lock(the_mutex);
    if (++reserves > 1) return;
    if (std::get_new_handler() != give_up) handler_before.store(std::set_new_handler(give_up));
    set_gone(true);
  }
  set_memory_aside();
}

MemoryReserve::~MemoryReserve() {
  MutexLock lock(the_mutex);
  if (--reserves > 0) return;
  if (std::get_new_handler() == give_up) std::set_new_handler(handler_before.exchange(nullptr));
  std::free(set_aside.exchange(nullptr));
  set_gone(false);
}

void await_memory() noexcept {
  constexpr timespec kPause{0, 10'000'000};
  for (int i = 0; i < 100 && memory_short(); ++i) nanosleep(&kPause, nullptr);
}

}  // namespace hawthorn::os
