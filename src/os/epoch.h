#pragma once
// Safe memory reclamation: a reader inside a Guard may follow pointers that a writer has already unlinked; what is
// retired is freed when no guard that was entered before is left.
//
// One process-wide domain. Not here: which commit timestamps are in use (tree/snapshots.h).
// Threads: guards nest and are per thread; a thread's slot is released at its exit.
//
// 1. No guard is held across user code, blocking I/O, or the return of a public call (R17).
// 2. No foreground thread waits for a grace period.
// 3. Deleters run on whichever thread calls retire or collect, outside of all locks of this module.

#include <atomic>
#include <cstdint>

namespace hawthorn::os::epoch {

inline constexpr uint64_t kIdle = ~uint64_t{0};

struct alignas(64) Slot {
  std::atomic<uint64_t> entered{kIdle};
  std::atomic<uint32_t> taken{0};
  uint32_t depth = 0;  // of the owning thread
};

extern std::atomic<uint64_t> global_epoch;
extern thread_local Slot* this_thread_slot;
Slot* acquire_slot();

class Guard {
 public:
  Guard() {
    slot_ = this_thread_slot != nullptr ? this_thread_slot : acquire_slot();
    if (slot_->depth++ == 0) {
      slot_->entered.store(global_epoch.load(std::memory_order_relaxed), std::memory_order_relaxed);
      std::atomic_thread_fence(std::memory_order_seq_cst);
    }
  }
  ~Guard() {
    if (--slot_->depth == 0) slot_->entered.store(kIdle, std::memory_order_release);
  }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

 private:
  Slot* slot_;
};

// Calls deleter(object) when no present guard can see the object any more.
void retire(void* object, void (*deleter)(void*));
template <typename T>
void retire(T* object) {
  retire(object, [](void* p) { delete static_cast<T*>(p); });
}

// The stamp of something unlinked now, and whether nothing can see it any more.
uint64_t stamp();
bool passed(uint64_t stamp);

// Advances the epoch and frees what can be freed. Called by retire now and then, and by the engine's housekeeping.
void collect();
// Frees everything retired; waits for guards. Only where no guard of this thread is open (closing a database, tests).
void drain();

}  // namespace hawthorn::os::epoch
