#pragma once
// One reserved region of huge pages from which everything large in an engine is allocated, under
// one budget with strict quotas.
//
// Not here: what to evict when it is full (db/scheduler, tree/residency). Small long-lived objects
// (containers, descriptors) come from the heap and are charged with charge().
// Threads: all functions from any thread.
//
// 1. A span never makes a fresh huge page resident beyond the budget; a huge page that was touched
//    counts while it is kept. Space in touched huge pages is granted again as long as no more is
//    used than the budget and a thirty-second part of it: so what was taken beyond the budget for a
//    moment goes back, in place of serving others from then on.
//    Where more than that would be resident, the free parts of huge pages go back at once.
// 2. Spans are multiples of 4 KB, aligned to 4 KB, contiguous, best fit, touched huge pages before
//    fresh ones. Their bytes are not zeroed.
// 3. Pages are kept when a span is released (first touch is expensive). Wholly free huge pages go
//    back to the kernel only above the budget, or when a large span fits nowhere but in fresh pages
//    that take their place.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "hawthorn/status.h"
#include "os/arena_pieces.h"

namespace hawthorn::os {

// kTrees: the objects of trees and containers, which are not evicted.
enum class Quota : uint8_t {
  kDelta,
  kTrees,
  kIndex,
  kValues,
  kFrames,
  kLog,
  kMerge,
  kPins,
  kOther
};
inline constexpr size_t kQuotaCount = 9;

class Arena {
 public:
  // Reserves address space; touches nothing. The budget is in bytes.
  static Result<std::unique_ptr<Arena>> create(size_t budget_bytes);
  ~Arena();

  // A span of at least `size` bytes, or nullptr when the budget does not allow it.
  // beyond_budget: for the few allocations that must not fail and that give memory back soon.
  char* allocate(Quota quota, size_t size, bool beyond_budget = false);
  void release(Quota quota, char* span, size_t size);  // the size given to allocate

  // Less than a page, in pages that it shares with others.
  ArenaPieces& pieces() { return pieces_; }

  // The budget and a thirty-second part of it.
  size_t tolerated_bytes() const { return budget() + budget() / 32; }
  bool over_budget() const { return resident_bytes() > tolerated_bytes(); }
  // Gives memory back to the kernel until no more than `bytes` are resident: huge pages that are
  // wholly free, then the free parts of others, which thereby lose their huge pages.
  void shrink_to(size_t bytes);

  // Makes two spans of one: the first `first` bytes (a multiple of 4 KB) stay with `quota`, the
  // rest goes over to `rest`. Each is released by itself.
  void split(Quota quota, char* span, size_t size, size_t first, Quota rest);

  // Counts heap memory against the budget. Never fails; used() may exceed the budget by what is
  // charged.
  void charge(Quota quota, ptrdiff_t bytes);

  size_t used(Quota quota) const {
    return used_[static_cast<size_t>(quota)].load(std::memory_order_relaxed);
  }
  size_t used() const { return used_total_.load(std::memory_order_relaxed); }
  size_t budget() const { return budget_.load(std::memory_order_relaxed); }
  size_t resident_bytes() const;  // huge pages touched and kept, plus what is charged
  // Of those, what the kernel really backs with huge pages. Reads /proc: slow.
  size_t huge_page_bytes() const;
  void set_budget(size_t budget_bytes);
  // Makes one more huge page resident while less than `bytes` of touched memory lies free in whole
  // huge pages and the budget allows it; false: there was nothing to do. Clearing a page takes the
  // kernel so long that whoever allocates should find it done.
  bool touch_ahead(size_t bytes);
  // Waits until an allocation has left less than that, stop_waiting is called, or for timeout_us.
  // One thread at a time.
  void wait_for_allocation(size_t bytes, uint64_t timeout_us);
  void stop_waiting();
  // The largest span that allocate would give now.
  size_t largest_free() const;

 private:
  explicit Arena(size_t budget_bytes);
  struct Heap;
  std::unique_ptr<Heap> heap_;
  ArenaPieces pieces_{this};
  std::array<std::atomic<size_t>, kQuotaCount> used_{};
  std::atomic<size_t> used_total_{0};
  std::atomic<size_t> budget_{0};
};

}  // namespace hawthorn::os
