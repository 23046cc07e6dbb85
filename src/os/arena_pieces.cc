#include "os/arena_pieces.h"

#include <bit>

#include "base/assert.h"
#include "os/arena.h"
#include "os/poison.h"

namespace hawthorn::os {

namespace {
constexpr size_t kSharedPageBytes = 4096;
constexpr size_t kPageHeaderBytes = 64;

uint32_t all_free(size_t kind) {
  const size_t count = (kSharedPageBytes - kPageHeaderBytes) / ArenaPieces::kSizes[kind];
  return (uint32_t{1} << count) - 1;
}
}  // namespace

void ArenaPieces::enlist(size_t kind, Page* page) {
  page->previous = nullptr;
  page->next = open_[kind];
  if (page->next != nullptr) page->next->previous = page;
  open_[kind] = page;
}

void ArenaPieces::delist(size_t kind, Page* page) {
  (page->previous == nullptr ? open_[kind] : page->previous->next) = page->next;
  if (page->next != nullptr) page->next->previous = page->previous;
}

char* ArenaPieces::allocate(size_t kind, bool beyond_budget) {
  MutexLock lock(mutex_);
  Page* page = open_[kind];
  if (page == nullptr) {
    char* const memory = arena_->allocate(Quota::kDelta, kSharedPageBytes, beyond_budget);
    if (memory == nullptr) return nullptr;
    page = reinterpret_cast<Page*>(memory);
    page->free = all_free(kind);
    enlist(kind, page);
    poison(memory + kPageHeaderBytes, kSharedPageBytes - kPageHeaderBytes);
  }
  const auto number = static_cast<size_t>(std::countr_zero(page->free));
  page->free &= page->free - 1;
  if (page->free == 0) delist(kind, page);
  char* const piece = reinterpret_cast<char*>(page) + kPageHeaderBytes + number * kSizes[kind];
  unpoison(piece, kSizes[kind]);
  return piece;
}

void ArenaPieces::release(size_t kind, char* piece) {
  const size_t offset = reinterpret_cast<uintptr_t>(piece) % kSharedPageBytes;
  auto* const page = reinterpret_cast<Page*>(piece - offset);
  const uint32_t bit = uint32_t{1} << ((offset - kPageHeaderBytes) / kSizes[kind]);
  MutexLock lock(mutex_);
  HAWTHORN_ASSERT((page->free & bit) == 0);
  poison(piece, kSizes[kind]);
  if (page->free == 0) enlist(kind, page);
  page->free |= bit;
  if (page->free != all_free(kind)) return;
  delist(kind, page);
  arena_->release(Quota::kDelta, reinterpret_cast<char*>(page), kSharedPageBytes);
}

}  // namespace hawthorn::os
