#pragma once
// Working memory of changing size: large blocks come from an arena, where they count and leave
// nothing behind in the heap of the process; small ones from the heap.
//
// For buffers that must not fail: the arena gives them also beyond its budget, and gives free
// memory back to the kernel instead. Not here: memory that is made room for (tree/residency).
// Threads: as the arena; a list is used by one thread at a time.

#include <cstddef>
#include <new>
#include <vector>

#include "os/arena.h"

namespace hawthorn::os {

// Blocks from here on are the arena's: what many of them leave free in the heap of the process
// stays resident, and nobody counts it.
inline constexpr size_t kArenaBlockBytes = size_t{16} << 10;

// Without an arena, all of it comes from the heap. Throws std::bad_alloc.
inline char* allocate_block(Arena* arena, Quota quota, size_t bytes) {
  if (arena == nullptr || bytes < kArenaBlockBytes) return static_cast<char*>(operator new(bytes));
  char* const block = arena->allocate(quota, bytes, true);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}

// The arena, quota and size of its allocation.
inline void release_block(Arena* arena, Quota quota, char* block, size_t bytes) {
  if (arena == nullptr || bytes < kArenaBlockBytes) {
    operator delete(block);
  } else {
    arena->release(quota, block, bytes);
  }
}

// Of a standard container: its memory comes that way, and counts as a merge's.
template <typename T>
class ArenaAllocator {
 public:
  using value_type = T;
  explicit ArenaAllocator(Arena* arena) : arena_(arena) {}
  template <typename U>
  ArenaAllocator(const ArenaAllocator<U>& other) : arena_(other.arena()) {}

  T* allocate(size_t count) {
    return reinterpret_cast<T*>(allocate_block(arena_, Quota::kMerge, count * sizeof(T)));
  }
  void deallocate(T* block, size_t count) {
    release_block(arena_, Quota::kMerge, reinterpret_cast<char*>(block), count * sizeof(T));
  }
  Arena* arena() const { return arena_; }
  bool operator==(const ArenaAllocator& other) const { return arena_ == other.arena_; }

 private:
  Arena* arena_;
};

template <typename T>
using ArenaVector = std::vector<T, ArenaAllocator<T>>;

// Empties a list and gives its memory back, which clear does not.
template <typename T>
void release(ArenaVector<T>& list) {
  ArenaVector<T>(list.get_allocator()).swap(list);
}

}  // namespace hawthorn::os
