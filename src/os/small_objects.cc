#include "os/small_objects.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <new>
#include <type_traits>
#include <vector>

#include "base/bytes.h"
#include "base/sanitizers.h"
#include "os/fork.h"
#include "os/sync.h"

namespace hawthorn::os {

namespace {

constexpr size_t kAlign = 64;
constexpr size_t kHalf = kAlign / 2;
constexpr size_t kChunkBytes = size_t{2} << 20;

#if defined(HAWTHORN_ASAN)
constexpr size_t kPooledBytesMax = 0;  // it must see each object by itself
#else
constexpr size_t kPooledBytesMax = kSmallBytesMax;
#endif

struct Free {
  Free* next;
};

// At the start of each.
struct alignas(kAlign) Chunk {
  size_t used_bytes = 0;  // by objects
};

Chunk* chunk_of(void* object) {
  return reinterpret_cast<Chunk*>(reinterpret_cast<uintptr_t>(object) & ~(kChunkBytes - 1));
}

struct Pool {
  Mutex mutex;
  // By their size; the first are the halves.
  std::array<Free*, kSmallBytesMax / kAlign + 1> free GUARDED_BY(mutex) = {};
  Chunk* newest GUARDED_BY(mutex) = nullptr;
  char* at GUARDED_BY(mutex) = nullptr;  // in the newest
  char* end GUARDED_BY(mutex) = nullptr;
  size_t empty_chunks GUARDED_BY(mutex) = 0;  // other than the newest
  std::atomic<size_t> unused_bytes{0};

  // A fresh chunk; what is left of the old one is too small for this object, and is forgotten.
  bool grow() REQUIRES(mutex) {
    void* const memory = mmap(nullptr, 2 * kChunkBytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return false;
    const auto from = reinterpret_cast<uintptr_t>(memory);
    const uintptr_t chunk = align_up(from, kChunkBytes);
    if (chunk > from) munmap(memory, chunk - from);
    const uintptr_t rest = from + 2 * kChunkBytes - (chunk + kChunkBytes);
    if (rest > 0) munmap(reinterpret_cast<void*>(chunk + kChunkBytes), rest);
    // Refused where huge pages are switched off: slower, not wrong.
    madvise(reinterpret_cast<void*>(chunk), kChunkBytes, MADV_HUGEPAGE);
    if (newest != nullptr && newest->used_bytes == 0) ++empty_chunks;
    newest = new (reinterpret_cast<void*>(chunk)) Chunk;
    at = reinterpret_cast<char*>(newest + 1);
    end = reinterpret_cast<char*>(chunk) + kChunkBytes;
    unused_bytes.fetch_add(kChunkBytes, std::memory_order_relaxed);
    return true;
  }

  void count(void* object, size_t size) REQUIRES(mutex) {
    Chunk* const chunk = chunk_of(object);
    if (chunk->used_bytes == 0 && chunk != newest) --empty_chunks;
    chunk->used_bytes += size;
    unused_bytes.fetch_sub(size, std::memory_order_relaxed);
  }

  void uncount(void* object, size_t size) REQUIRES(mutex) {
    Chunk* const chunk = chunk_of(object);
    chunk->used_bytes -= size;
    unused_bytes.fetch_add(size, std::memory_order_relaxed);
    if (chunk->used_bytes == 0 && chunk != newest) ++empty_chunks;
  }

  // Two at once, since it looks at everything that is free.
  void give_back() REQUIRES(mutex) {
    if (empty_chunks < 2) return;
    std::vector<Chunk*> gone;
    for (Free*& head : free) {
      for (Free** link = &head; *link != nullptr;) {
        Chunk* const chunk = chunk_of(*link);
        if (chunk == newest || chunk->used_bytes != 0) {
          link = &(*link)->next;
          continue;
        }
        gone.push_back(chunk);
        *link = (*link)->next;
      }
    }
    std::sort(gone.begin(), gone.end());
    gone.erase(std::unique(gone.begin(), gone.end()), gone.end());
    for (Chunk* const chunk : gone) munmap(chunk, kChunkBytes);
    unused_bytes.fetch_sub(gone.size() * kChunkBytes, std::memory_order_relaxed);
    empty_chunks = 0;
  }
};

// Never destroyed: objects may outlive static ones.
constinit Pool the_pool;
Pool& pool() { return the_pool; }
static_assert(std::is_trivially_destructible_v<Pool>);

// Another thread may have had the lock. Objects that the parent made may still be released here:
// their memory serves others then, as ever; what was free is lost.
[[maybe_unused]] const bool pool_begins_anew = [] {
  at_fork_in_child([] { new (&the_pool) Pool; });
  return true;
}();

size_t rounded(size_t size) { return size <= kHalf ? kHalf : align_up(size, kAlign); }
}  // namespace

void* allocate_small(size_t size) {
  size = rounded(size);
  if (size > kPooledBytesMax) {
    return ::operator new(size, std::align_val_t{kAlign}, std::nothrow);
  }
  Pool& from = pool();
  MutexLock lock(from.mutex);
  Free*& head = from.free[size / kAlign];
  if (head != nullptr) {
    Free* const object = head;
    head = object->next;
    from.count(object, size);
    return object;
  }
  const size_t taken = align_up(size, kAlign);
  if (static_cast<size_t>(from.end - from.at) < taken && !from.grow()) return nullptr;
  char* const object = from.at;
  from.at += taken;
  if (taken != size) head = new (object + size) Free{head};
  from.count(object, size);
  return object;
}

void release_small(void* object, size_t size) {
  if (object == nullptr) return;
  size = rounded(size);
  if (size > kPooledBytesMax) {
    ::operator delete(object, std::align_val_t{kAlign});
    return;
  }
  Pool& to = pool();
  MutexLock lock(to.mutex);
  Free*& head = to.free[size / kAlign];
  head = new (object) Free{head};
  to.uncount(object, size);
  to.give_back();
}

size_t small_objects_unused_bytes() { return pool().unused_bytes.load(std::memory_order_relaxed); }

void* InHugePages::operator new(size_t size) {
  void* const object = allocate_small(size);
  if (object == nullptr) throw std::bad_alloc();
  return object;
}

}  // namespace hawthorn::os
