#include "os/small_objects.h"

#include <sys/mman.h>

#include <array>
#include <cstdint>
#include <new>

#include "base/bytes.h"
#include "base/sanitizers.h"
#include "os/sync.h"

namespace hawthorn::os {

namespace {

constexpr size_t kAlign = 64;
constexpr size_t kChunkBytes = size_t{2} << 20;

#if defined(HAWTHORN_ASAN)
constexpr size_t kPooledBytesMax = 0;  // it must see each object by itself
#else
constexpr size_t kPooledBytesMax = kSmallBytesMax;
#endif

struct Free {
  Free* next;
};

struct Pool {
  Mutex mutex;
  std::array<Free*, kSmallBytesMax / kAlign + 1> free GUARDED_BY(mutex) = {};
  char* at GUARDED_BY(mutex) = nullptr;
  char* end GUARDED_BY(mutex) = nullptr;

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
    at = reinterpret_cast<char*>(chunk);
    end = at + kChunkBytes;
    // Refused where huge pages are switched off: slower, not wrong.
    madvise(at, kChunkBytes, MADV_HUGEPAGE);
    return true;
  }
};

// Never destroyed: objects may outlive static ones.
Pool& pool() {
  static auto* const the_pool = new Pool;
  return *the_pool;
}

}  // namespace

void* allocate_small(size_t size) {
  size = align_up(size, kAlign);
  if (size > kPooledBytesMax) {
    return ::operator new(size, std::align_val_t{kAlign}, std::nothrow);
  }
  Pool& from = pool();
  MutexLock lock(from.mutex);
  Free*& head = from.free[size / kAlign];
  if (head != nullptr) {
    Free* const object = head;
    head = object->next;
    return object;
  }
  if (static_cast<size_t>(from.end - from.at) < size && !from.grow()) return nullptr;
  char* const object = from.at;
  from.at += size;
  return object;
}

void release_small(void* object, size_t size) {
  if (object == nullptr) return;
  size = align_up(size, kAlign);
  if (size > kPooledBytesMax) {
    ::operator delete(object, std::align_val_t{kAlign});
    return;
  }
  Pool& to = pool();
  MutexLock lock(to.mutex);
  Free*& head = to.free[size / kAlign];
  head = new (object) Free{head};
}

void* InHugePages::operator new(size_t size) {
  void* const object = allocate_small(size);
  if (object == nullptr) throw std::bad_alloc();
  return object;
}

}  // namespace hawthorn::os
