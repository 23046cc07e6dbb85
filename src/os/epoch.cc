#include "os/epoch.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <deque>
#include <vector>

#include "base/assert.h"
#include "os/fork.h"
#include "os/sync.h"
#include "os/thread_end.h"

namespace hawthorn::os::epoch {
namespace {

// A list is looked through once for so many retirements: the kernel's barrier costs microseconds.
constexpr uint32_t kRetirementsPerCollect = 128;
constexpr uint64_t kDrainPauseUs = 50;

struct Retired {
  void* object;
  void (*deleter)(void*);
  uint64_t stamp;
  bool by_deleter;
};

// One for each slot. It stays behind when the slot's thread exits; anybody's collect serves it.
struct alignas(64) RetireList {
  Mutex mutex;
  std::deque<Retired> items GUARDED_BY(mutex);  // stamps never fall from front to back
  uint32_t since_collect GUARDED_BY(mutex) = 0;
};

struct Chunk {
  static constexpr size_t kSlotCount = 64;
  Slot slots[kSlotCount];
  RetireList lists[kSlotCount];
  std::atomic<Chunk*> next{nullptr};
};

// Never destroyed, and chunks are never freed: threads may outlive the static variables. Null until
// a thread needs a slot.
constinit std::atomic<Chunk*> first_chunk{nullptr};

// Everything stamped at or below it can be seen by nobody.
std::atomic<uint64_t> safe_stamp{0};
// Deleters that were taken off a list and have not returned.
std::atomic<uint64_t> running_deleters{0};
// What deleters retired and is not freed: drain waits for it, whichever thread's list it is on.
std::atomic<uint64_t> retired_by_deleters{0};

thread_local RetireList* this_thread_list = nullptr;
thread_local bool this_thread_frees = false;

void release_slot() {
  if (this_thread_slot == nullptr) return;
  HAWTHORN_ASSERT(this_thread_slot->depth == 0 && this_thread_slot->call_depth == 0);
  this_thread_slot->taken.store(0, std::memory_order_release);
  this_thread_slot = nullptr;
  this_thread_list = nullptr;
}
constinit thread_local ThreadEnd slot_end{release_slot};

long membarrier(int command) {
#if defined(SYS_membarrier)
  return syscall(SYS_membarrier, command, 0, 0);
#else
  static_cast<void>(command);
  return -1;
#endif
}

bool register_barrier() {
#if defined(HAWTHORN_TSAN)
  return false;
#else
  return membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0;
#endif
}

void full_fence() {
#if defined(HAWTHORN_TSAN)
  static std::atomic<uint32_t> word{0};
  word.fetch_add(1, std::memory_order_seq_cst);
#else
  std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
}

// How long after the kernel has refused its barrier a guard may still be without a fence: one that
// read "no fence needed" had stored its epoch before, and no processor keeps a store to itself for
// longer than some microseconds, nor over an interrupt. Far more than that, in case it is a virtual
// one.
constexpr uint64_t kFencesSeenUs = 20'000;
constexpr uint64_t kNotRefused = ~uint64_t{0};
constexpr uint64_t kJustRefused = kNotRefused - 1;
constinit std::atomic<uint64_t> refused_us{kNotRefused};  // when guards had fences from

uint64_t now_us() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000 + static_cast<uint64_t>(now.tv_nsec) / 1000;
}

// A barrier on this thread and on all that run. False: nothing may be concluded from what is read
// behind it. The kernel may refuse its barrier at any time (a seccomp filter that is set when the
// library has long been in use): from then on guards have fences of their own.
bool barrier_everywhere() {
  full_fence();
  if (barrier_by_kernel.load(std::memory_order_seq_cst)) {
    if (membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0) return true;
    refused_us.store(kJustRefused, std::memory_order_seq_cst);
    barrier_by_kernel.store(false, std::memory_order_seq_cst);
    refused_us.store(now_us(), std::memory_order_seq_cst);
    return false;
  }
  const uint64_t refused = refused_us.load(std::memory_order_seq_cst);
  if (refused == kNotRefused) return true;
  return refused != kJustRefused && now_us() >= refused + kFencesSeenUs;
}

// In a child the slots are those of threads that are no more, the locks of the lists may be held by
// them, and what the lists hold are parts of databases that are the parent's.
void begin_anew() {
  first_chunk.store(nullptr);
  running_deleters.store(0);
  retired_by_deleters.store(0);
  this_thread_slot = nullptr;
  this_thread_list = nullptr;
  this_thread_frees = false;
  barrier_by_kernel.store(barrier_by_kernel.load() && register_barrier());
  refused_us.store(kNotRefused);
}

[[maybe_unused]] const bool epochs_begin_anew = [] {
  at_fork_in_child(begin_anew);
  return true;
}();

// The smallest of these epochs, no larger than `oldest`.
uint64_t oldest_entered(std::atomic<uint64_t> Slot::* entered, uint64_t oldest) {
#if defined(HAWTHORN_TSAN)
  constexpr auto kOrder = std::memory_order_seq_cst;
#else
  constexpr auto kOrder = std::memory_order_acquire;
#endif
  for (Chunk* chunk = first_chunk.load(std::memory_order_acquire); chunk != nullptr;
       chunk = chunk->next.load(std::memory_order_acquire)) {
    for (const Slot& slot : chunk->slots) {
      oldest = std::min(oldest, (slot.*entered).load(kOrder));
    }
  }
  return oldest;
}

// Invariant 4: first the epoch moves, then the barrier, then the slots are read.
uint64_t advance() {
  const uint64_t now = global_epoch.fetch_add(1, std::memory_order_seq_cst) + 1;
  uint64_t safe = safe_stamp.load(std::memory_order_acquire);
  if (!barrier_everywhere()) return safe;
  const uint64_t oldest = oldest_entered(&Slot::entered, now);
  while (safe < oldest - 1 && !safe_stamp.compare_exchange_weak(safe, oldest - 1)) {
  }
  return std::max(safe, oldest - 1);
}

// Takes what is freed from a list and runs its deleters, outside of the lock.
void free_passed(RetireList& list, uint64_t safe) {
  std::vector<Retired> freed;
  {
    MutexLock lock(list.mutex);
    list.since_collect = 0;
    while (!list.items.empty() && list.items.front().stamp <= safe) {
      freed.push_back(list.items.front());
      list.items.pop_front();
    }
    running_deleters.fetch_add(freed.size(), std::memory_order_relaxed);
  }
  for (const Retired& retired : freed) {
    retired.deleter(retired.object);
    if (retired.by_deleter) retired_by_deleters.fetch_sub(1, std::memory_order_release);
  }
  running_deleters.fetch_sub(freed.size(), std::memory_order_release);
}

template <typename Visit>
void for_each_list(Visit visit) {
  for (Chunk* chunk = first_chunk.load(std::memory_order_acquire); chunk != nullptr;
       chunk = chunk->next.load(std::memory_order_acquire)) {
    for (RetireList& list : chunk->lists) visit(list);
  }
}

void pause_drain() {
  std::atomic<uint32_t> never{0};
  futex_wait(&never, 0, kDrainPauseUs);
}

Slot* take_slot(Chunk& chunk) {
  for (size_t i = 0; i < Chunk::kSlotCount; ++i) {
    uint32_t free = 0;
    if (chunk.slots[i].taken.load(std::memory_order_relaxed) == 0 &&
        chunk.slots[i].taken.compare_exchange_strong(free, 1, std::memory_order_acquire)) {
      this_thread_list = &chunk.lists[i];
      return &chunk.slots[i];
    }
  }
  return nullptr;
}

}  // namespace

std::atomic<uint64_t> global_epoch{1};
std::atomic<bool> barrier_by_kernel{register_barrier()};
constinit thread_local Slot* this_thread_slot = nullptr;

Slot* acquire_slot() {
  at_thread_end(slot_end);
  for (std::atomic<Chunk*>* link = &first_chunk;;) {
    Chunk* chunk = link->load(std::memory_order_acquire);
    if (chunk == nullptr) {
      Chunk* const fresh = new Chunk;
      if (link->compare_exchange_strong(chunk, fresh)) {
        chunk = fresh;
      } else {
        delete fresh;
      }
    }
    if (Slot* const slot = take_slot(*chunk); slot != nullptr) {
      this_thread_slot = slot;
      return slot;
    }
    link = &chunk->next;
  }
}

uint64_t stamp() {
  full_fence();
  return global_epoch.load(std::memory_order_seq_cst);
}

bool passed(uint64_t stamp) {
  return stamp <= safe_stamp.load(std::memory_order_acquire) || stamp <= advance();
}

uint64_t calls_ended_to() {
  const uint64_t now = global_epoch.fetch_add(1, std::memory_order_seq_cst) + 1;
  return barrier_everywhere() ? oldest_entered(&Slot::call_entered, now) - 1 : 0;
}

void retire(void* object, void (*deleter)(void*)) {
  if (this_thread_slot == nullptr) acquire_slot();
  RetireList& list = *this_thread_list;
  bool due = false;
  {
    MutexLock lock(list.mutex);
    if (this_thread_frees) retired_by_deleters.fetch_add(1, std::memory_order_relaxed);
    list.items.push_back({object, deleter, stamp(), this_thread_frees});
    due = ++list.since_collect >= kRetirementsPerCollect && !this_thread_frees;
    if (due) list.since_collect = 0;
  }
  if (!due) return;
  this_thread_frees = true;
  free_passed(list, advance());
  this_thread_frees = false;
}

void collect() {
  if (this_thread_frees) return;
  this_thread_frees = true;
  const uint64_t safe = advance();
  for_each_list([safe](RetireList& list) { free_passed(list, safe); });
  this_thread_frees = false;
}

size_t threads() {
  size_t count = 0;
  for (Chunk* chunk = first_chunk.load(std::memory_order_acquire); chunk != nullptr;
       chunk = chunk->next.load(std::memory_order_acquire)) {
    for (const Slot& slot : chunk->slots) count += slot.taken.load(std::memory_order_relaxed);
  }
  return count;
}

void drain() {
  HAWTHORN_ASSERT(this_thread_slot == nullptr || this_thread_slot->depth == 0);
  HAWTHORN_ASSERT(!this_thread_frees);
  do {
    const uint64_t wanted = stamp();
    while (!passed(wanted)) pause_drain();
    collect();
    while (running_deleters.load(std::memory_order_acquire) != 0) pause_drain();
  } while (retired_by_deleters.load(std::memory_order_acquire) != 0);
}

}  // namespace hawthorn::os::epoch
