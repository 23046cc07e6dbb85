#pragma once
// Safe memory reclamation: a reader inside a Guard may follow pointers that a writer has already
// unlinked; what is retired is freed when no guard that was entered before is left.
//
// Two lengths of looking: a Guard, for the steps between pointers, and a Call, for all of a public
// call or of a piece of background work: those read from disk, wait, and run the user's code.
//
//   Call   ├──────────────── find a tree ── read from disk ── the user's code ──┤  whole objects
//   Guard          ├──────┤                ├──────┤                                nodes, versions
//
// One process-wide domain. Not here: which commit timestamps are in use (tree/snapshots.h).
// Threads: guards nest and are per thread; a thread's slot is released at its exit.
//
// Entering a guard needs its store to be seen before its loads. Where the kernel has membarrier(2),
// whoever reclaims makes every running thread pass a barrier, and a guard itself is two plain
// stores; elsewhere each guard has a fence.
//
// 1. No guard is held across user code, blocking I/O, or the return of a public call (R17).
// 2. No foreground thread waits for a grace period, but one whose disk is full: it is refused only
//    when one has passed, or none does for seconds.
// 3. Deleters run on whichever thread calls retire or collect, outside of all locks of this module.
//    They may retire, but not drain.
// 4. What was stamped s is freed only when no slot holds an epoch <= s, seen after a barrier on all
//    threads that itself came after the epoch moved beyond s.
// 5. Nobody waits for a call to end: what calls may see is kept in a list and looked at again.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/sanitizers.h"

namespace hawthorn::os::epoch {

inline constexpr uint64_t kIdle = ~uint64_t{0};

struct alignas(64) Slot {
  std::atomic<uint64_t> entered{kIdle};
  std::atomic<uint64_t> call_entered{kIdle};
  std::atomic<uint32_t> taken{0};
  uint32_t depth = 0;  // of the owning thread
  uint32_t call_depth = 0;
};

extern std::atomic<uint64_t> global_epoch;
// Whether the kernel's barrier stands in for the fence of every guard. Set before the first Db
// opens, where the kernel has it, and taken back when it refuses. A guard that still reads false
// has a fence too many, no harm; it is read behind the store of the epoch (epoch.cc says why).
extern std::atomic<bool> barrier_by_kernel;
// Constant-initialised and in the static thread block: reading it is one instruction, in the shared
// library too.
[[gnu::tls_model("initial-exec")]] extern constinit thread_local Slot* this_thread_slot;
Slot* acquire_slot();

// Is seen before what this thread loads from now on.
[[gnu::always_inline]] inline void announce(std::atomic<uint64_t>& entered) {
  const uint64_t now = global_epoch.load(std::memory_order_acquire);
#if defined(HAWTHORN_TSAN)  // it does not model fences
  entered.store(now, std::memory_order_seq_cst);
#else
  // Release: a reclaimer that sees this epoch must know all that the thread read before.
  entered.store(now, std::memory_order_release);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (barrier_by_kernel.load(std::memory_order_relaxed)) {
    std::atomic_signal_fence(std::memory_order_seq_cst);
  } else {
    std::atomic_thread_fence(std::memory_order_seq_cst);
  }
#endif
}

class Guard {
 public:
  Guard() {
    slot_ = this_thread_slot != nullptr ? this_thread_slot : acquire_slot();
    if (slot_->depth++ == 0) announce(slot_->entered);
  }
  ~Guard() {
    if (--slot_->depth == 0) slot_->entered.store(kIdle, std::memory_order_release);
  }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

 private:
  Slot* slot_;
};

// In each public call: inlined also where code is to be small.
class Call {
 public:
  [[gnu::always_inline]] Call() {
    slot_ = this_thread_slot != nullptr ? this_thread_slot : acquire_slot();
    if (slot_->call_depth++ == 0) announce(slot_->call_entered);
  }
  [[gnu::always_inline]] ~Call() {
    if (--slot_->call_depth == 0) slot_->call_entered.store(kIdle, std::memory_order_release);
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

 private:
  Slot* slot_;
};
// Whether this thread is inside a Call.
inline bool in_call() { return this_thread_slot != nullptr && this_thread_slot->call_depth > 0; }

// Calls deleter(object) when no present guard can see the object any more.
void retire(void* object, void (*deleter)(void*));
template <typename T>
void retire(T* object) {
  retire(object, [](void* p) { delete static_cast<T*>(p); });
}

// The stamp of something unlinked now, and whether nothing can see it any more.
uint64_t stamp();
bool passed(uint64_t stamp);
// All calls that began when the stamp was this, or a smaller one, have ended.
uint64_t calls_ended_to();

// Advances the epoch and frees what can be freed. Called by retire now and then, and by the
// engine's housekeeping.
void collect();
// How many threads have entered a guard and not ended.
size_t threads();
// Frees everything retired; waits for guards. Only where no guard of this thread is open (closing a
// database, tests).
void drain();

}  // namespace hawthorn::os::epoch
