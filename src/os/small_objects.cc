#include "os/small_objects.h"

#include <sys/mman.h>

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <new>
#include <type_traits>

#include "base/bytes.h"
#include "base/sanitizers.h"
#include "os/fork.h"
#include "os/sync.h"

namespace hawthorn::os {

namespace {

constexpr size_t kAlign = 64;
constexpr size_t kHalf = kAlign / 2;
constexpr size_t kChunkBytes = size_t{2} << 20;
constexpr size_t kSlabBytes = size_t{32} << 10;
constexpr size_t kSlabs = kChunkBytes / kSlabBytes;
// Of so many slabs in use a chunk becomes a huge page: few objects need no more than their own
// pages, of which few addresses have to be translated.
constexpr size_t kHugeFrom = kSlabs / 4;
constexpr int kCollapse = 25;  // MADV_COLLAPSE, of Linux 6.1
// Sizes are rounded up to these: a half, multiples of 64, and beyond kFineMax four for each power
// of two.
constexpr size_t kFineMax = 1024;
constexpr size_t kClasses =
    kFineMax / kAlign + 1 + 4 * std::bit_width(kSmallBytesMax / kFineMax - 1);

#if defined(HAWTHORN_ASAN)
constexpr size_t kPooledBytesMax = 0;  // it must see each object by itself
#else
constexpr size_t kPooledBytesMax = kSmallBytesMax;
#endif

struct Free {
  Free* next;
};

// A part of a chunk, with objects of one size; or without any.
struct Slab {
  Free* free = nullptr;
  char* fresh = nullptr;  // from here on it was never used; null: none of it was
  Slab* next = nullptr;   // of those that have room for that size, or of the empty ones
  Slab* before = nullptr;
  uint32_t used = 0;

  bool has_room(const char* end, size_t size) const {
    return free != nullptr || static_cast<size_t>(end - fresh) >= size;
  }
};

struct Slabs {
  Slab* first = nullptr;

  void add(Slab* slab) {
    slab->before = nullptr;
    slab->next = first;
    if (first != nullptr) first->before = slab;
    first = slab;
  }
  void remove(Slab* slab) {
    (slab->before != nullptr ? slab->before->next : first) = slab->next;
    if (slab->next != nullptr) slab->next->before = slab->before;
  }
};

// This, and in what it leaves of them the slabs.
struct alignas(kAlign) Chunk {
  uint64_t process = fork_generation();
  uint32_t slabs_used = 0;
  uint32_t slabs_resident = 0;  // all of a huge page
  std::array<Slab, kSlabs> slabs = {};

  bool whole() const { return slabs_resident == kSlabs; }
};

Chunk* chunk_of(const void* at) {
  return reinterpret_cast<Chunk*>(reinterpret_cast<uintptr_t>(at) & ~(kChunkBytes - 1));
}
char* begin_of(Chunk* chunk, const Slab* slab) {
  char* const at = reinterpret_cast<char*>(chunk);
  return slab == chunk->slabs.data()
             ? at + sizeof(Chunk)
             : at + static_cast<size_t>(slab - chunk->slabs.data()) * kSlabBytes;
}
const char* end_of(Chunk* chunk, const Slab* slab) {
  return reinterpret_cast<char*>(chunk) +
         static_cast<size_t>(slab + 1 - chunk->slabs.data()) * kSlabBytes;
}

size_t rounded(size_t size) {
  if (size <= kHalf) return kHalf;
  return align_up(size, size <= kFineMax ? kAlign : std::bit_ceil(size) / 8);
}

size_t class_of(size_t size) {  // which is rounded
  if (size <= kFineMax) return size / kAlign;
  const size_t power = std::bit_ceil(size);
  return kFineMax / kAlign + 1 + 4 * static_cast<size_t>(std::countr_zero(power / kFineMax / 2)) +
         (size - power / 2 - 1) / (power / 8);
}

struct Pool {
  Mutex mutex;
  std::array<Slabs, kClasses> with_room GUARDED_BY(mutex) = {};
  Slabs empty GUARDED_BY(mutex);
  size_t empty_chunks GUARDED_BY(mutex) = 0;
  std::atomic<size_t> unused_bytes{0};

  // Adds a chunk of empty slabs.
  bool grow() REQUIRES(mutex) {
    void* const memory = mmap(nullptr, 2 * kChunkBytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return false;
    const auto from = reinterpret_cast<uintptr_t>(memory);
    const uintptr_t at = align_up(from, kChunkBytes);
    if (at > from) munmap(memory, at - from);
    const uintptr_t rest = from + 2 * kChunkBytes - (at + kChunkBytes);
    if (rest > 0) munmap(reinterpret_cast<void*>(at + kChunkBytes), rest);
    madvise(reinterpret_cast<void*>(at), kChunkBytes, MADV_NOHUGEPAGE);
    auto* const chunk = new (reinterpret_cast<void*>(at)) Chunk;
    for (size_t i = chunk->slabs.size(); i > 0; --i) empty.add(&chunk->slabs[i - 1]);
    ++empty_chunks;
    return true;
  }

  // An empty one, which is first of its size then. Null: there is no memory.
  Slab* take_empty(Slabs& list) REQUIRES(mutex) {
    if (empty.first == nullptr && !grow()) return nullptr;
    Slab* const slab = empty.first;
    empty.remove(slab);
    list.add(slab);
    Chunk* const chunk = chunk_of(slab);
    if (slab->fresh == nullptr && !chunk->whole()) add_resident(chunk, 1);
    slab->free = nullptr;
    slab->fresh = begin_of(chunk, slab);
    if (chunk->slabs_used++ == 0) --empty_chunks;
    if (chunk->slabs_used < kHugeFrom || chunk->whole()) return slab;
    // Where that is refused, or huge pages are switched off: slower, not wrong.
    madvise(chunk, kChunkBytes, MADV_HUGEPAGE);
    madvise(chunk, kChunkBytes, kCollapse);
    add_resident(chunk, kSlabs - chunk->slabs_resident);
    return slab;
  }

  void add_resident(Chunk* chunk, size_t slabs) {
    chunk->slabs_resident += static_cast<uint32_t>(slabs);
    unused_bytes.fetch_add(slabs * kSlabBytes, std::memory_order_relaxed);
  }

  void* allocate(size_t size) REQUIRES(mutex) {
    Slabs& list = with_room[class_of(size)];
    Slab* const slab = list.first != nullptr ? list.first : take_empty(list);
    if (slab == nullptr) return nullptr;
    void* object = slab->free;
    if (object != nullptr) {
      slab->free = slab->free->next;
    } else {
      object = slab->fresh;
      slab->fresh += size;
    }
    ++slab->used;
    if (!slab->has_room(end_of(chunk_of(slab), slab), size)) list.remove(slab);
    unused_bytes.fetch_sub(size, std::memory_order_relaxed);
    return object;
  }

  void release(void* object, size_t size) REQUIRES(mutex) {
    Chunk* const chunk = chunk_of(object);
    if (chunk->process != fork_generation()) return;
    Slab* const slab = &chunk->slabs[static_cast<size_t>(static_cast<char*>(object) -
                                                         reinterpret_cast<char*>(chunk)) /
                                     kSlabBytes];
    Slabs& list = with_room[class_of(size)];
    if (!slab->has_room(end_of(chunk, slab), size)) list.add(slab);
    slab->free = new (object) Free{slab->free};
    unused_bytes.fetch_add(size, std::memory_order_relaxed);
    if (--slab->used != 0) return;
    list.remove(slab);
    empty.add(slab);
    if (--chunk->slabs_used == 0) give_back(chunk);
  }

  // One that is empty stays.
  void give_back(Chunk* chunk) REQUIRES(mutex) {
    if (++empty_chunks == 1) return;
    --empty_chunks;
    for (Slab& slab : chunk->slabs) empty.remove(&slab);
    unused_bytes.fetch_sub(chunk->slabs_resident * kSlabBytes, std::memory_order_relaxed);
    munmap(chunk, kChunkBytes);
  }
};

// Never destroyed: objects may outlive static ones.
constinit Pool the_pool;
Pool& pool() { return the_pool; }
static_assert(std::is_trivially_destructible_v<Pool>);

// Another thread may have had the lock, and half changed a list: what the parent made is lost to
// those who come later.
[[maybe_unused]] const bool pool_begins_anew = [] {
  at_fork_in_child([] { new (&the_pool) Pool; });
  return true;
}();
}  // namespace

void* allocate_small(size_t size) {
  size = rounded(size);
  if (size > kPooledBytesMax) {
    return ::operator new(size, std::align_val_t{kAlign}, std::nothrow);
  }
  Pool& from = pool();
  MutexLock lock(from.mutex);
  return from.allocate(size);
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
  to.release(object, size);
}

size_t small_objects_unused_bytes() { return pool().unused_bytes.load(std::memory_order_relaxed); }

void* InHugePages::operator new(size_t size) {
  void* const object = allocate_small(size);
  if (object == nullptr) throw std::bad_alloc();
  return object;
}

}  // namespace hawthorn::os
