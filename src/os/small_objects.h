#pragma once
// Memory in huge pages for the small objects that every read goes through: on the heap they lie in
// thousands of ordinary pages, and the translation of their addresses costs a get more than the
// objects themselves.
//
// Process-wide. Not here: budgets (whoever keeps many such objects charges the arena for them).
// Threads: any; one lock, so not for what is allocated per operation.
//
// 1. Objects are aligned to 64 bytes, those of up to 32 to 32; those of more than kSmallBytesMax
// come from the heap.
// 2. Memory that is released serves later objects of about its size. 32 KB in which nothing is left
// serve any size; 2 MB in which nothing is left go back to the kernel, but for one of them.
// 3. In a child of fork what its parent's objects take is lost when they are released there.

#include <cstddef>

namespace hawthorn::os {

inline constexpr size_t kSmallBytesMax = size_t{16} << 10;

// nullptr when there is no memory.
void* allocate_small(size_t size);
void release_small(void* object, size_t size);

// What is resident for such objects and holds none now.
size_t small_objects_unused_bytes();

// Base of classes whose objects are made there by `new`.
class InHugePages {
 public:
  static void* operator new(size_t size);  // throws std::bad_alloc
  static void operator delete(void* object, size_t size) { release_small(object, size); }
};

}  // namespace hawthorn::os
