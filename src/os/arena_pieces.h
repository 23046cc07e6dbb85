#pragma once
// Spans of less than a page, which share pages of the arena: for the many small objects that each
// take a little memory and give it back as a whole (deltas of trees that hold little).
//
// Not here: pages (arena.h). Used by tree/delta. Threads: any; one lock.
//
// 1. Pieces have one of three sizes, and a page has pieces of one size. The header of a page is its
//    first line, so that a piece leads to it.
// 2. A page in which nothing is left goes back to the arena.

#include <array>
#include <cstddef>
#include <cstdint>

#include "os/sync.h"

namespace hawthorn::os {

class Arena;

class ArenaPieces {
 public:
  // 18, 7 and 3 of them in a page.
  static constexpr std::array<size_t, 3> kSizes{224, 576, 1344};

  explicit ArenaPieces(Arena* arena) : arena_(arena) {}

  // `kind`: of kSizes. Counts whole pages, for deltas. nullptr when the budget does not allow it.
  char* allocate(size_t kind, bool beyond_budget);
  void release(size_t kind, char* piece);

 private:
  struct Page {
    Page* next;
    Page* previous;
    uint32_t free;  // a bit for each piece
  };
  void enlist(size_t kind, Page* page) REQUIRES(mutex_);
  void delist(size_t kind, Page* page) REQUIRES(mutex_);

  Arena* const arena_;
  Mutex mutex_;
  std::array<Page*, kSizes.size()> open_ GUARDED_BY(mutex_){};  // pages with free pieces
};

}  // namespace hawthorn::os
