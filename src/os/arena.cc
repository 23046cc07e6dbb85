#include "os/arena.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

#include "base/assert.h"
#include "base/bytes.h"
#include "os/page_heap.h"
#include "os/poison.h"
#include "os/sync.h"
#include "os/system_page.h"

namespace hawthorn::os {

namespace {

constexpr size_t kPageBytes = 4096;
constexpr size_t kHugeBytes = PageHeap::kPagesPerHuge * kPageBytes;
// Each takes up to two of the mappings that the system allows a process, 65,530 by default.
constexpr size_t kSplitKeptMax = 4096;

size_t physical_bytes() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  return pages > 0 ? static_cast<size_t>(pages) * system_page_bytes() : 0;
}

// Of which a page of the system's is made.
size_t part_pages() {
  return std::clamp<size_t>(system_page_bytes() / kPageBytes, 1, PageHeap::kPagesPerHuge);
}

}  // namespace

struct Arena::Heap {
  Heap(char* reservation, size_t reserved, std::unique_ptr<PageHeap> page_heap)
      : mapping(reservation),
        mapping_bytes(reserved),
        base(reservation + (align_up(reinterpret_cast<uintptr_t>(reservation), kHugeBytes) -
                            reinterpret_cast<uintptr_t>(reservation))),
        pages(std::move(page_heap)) {}

  ~Heap() {
    unpoison(base, pages->high_water() * kHugeBytes);
    munmap(mapping, mapping_bytes);
  }

  // As one number: of two, a reader might see the one from before a change and the other from
  // behind it. Charges of different threads may be seen out of order: less than nothing counts as
  // nothing.
  size_t resident() const {
    return static_cast<size_t>(std::max<ptrdiff_t>(0, both.load(std::memory_order_relaxed)));
  }
  void charge(ptrdiff_t bytes) {
    charged.fetch_add(bytes, std::memory_order_relaxed);
    both.fetch_add(bytes, std::memory_order_relaxed);
  }
  size_t charged_bytes() const {
    return static_cast<size_t>(std::max<ptrdiff_t>(0, charged.load(std::memory_order_relaxed)));
  }

  // The huge pages that may still become resident.
  size_t fresh_allowed(size_t budget) const {
    const size_t now = resident();
    return now < budget ? (budget - now) / kHugeBytes : 0;
  }

  // A run in fresh pages; those beyond what the budget allows replace wholly free ones elsewhere.
  size_t allocate_fresh(size_t count, size_t budget, bool* found) REQUIRES(mutex) {
    const size_t fresh = fresh_allowed(budget);
    const auto fit = pages->find_fresh(count, fresh);
    *found = fit.has_value();
    if (!fit.has_value()) return 0;
    if (fit->huge_count > fresh) {
      give_back(fit->huge_count - fresh, fit->kept_begin / PageHeap::kPagesPerHuge,
                (fit->kept_end + PageHeap::kPagesPerHuge - 1) / PageHeap::kPagesPerHuge);
    }
    pages->touch(fit->first_huge, fit->huge_count);
    poison(base + fit->first_huge * kHugeBytes, fit->huge_count * kHugeBytes);
    pages->allocate_at(fit->page, count);
    return fit->page;
  }

  // Returns up to `count` wholly free huge pages to the kernel, the highest first, none in
  // [kept_begin, kept_end).
  void give_back(size_t count, size_t kept_begin, size_t kept_end) REQUIRES(mutex) {
    for (size_t huge = pages->high_water(); huge-- > 0 && count > 0;) {
      if (pages->wholly_free_count() == 0) break;
      if (!pages->wholly_free(huge) || (huge >= kept_begin && huge < kept_end)) continue;
      pages->give_back(huge);
      advise_huge(huge, MADV_DONTNEED);
      --count;
    }
    publish_touched();
  }

  size_t touched() const REQUIRES(mutex) {
    return pages->touched_count() * kHugeBytes - pages->absent_pages() * kPageBytes;
  }
  void publish_touched() REQUIRES(mutex) {
    const size_t now = touched();
    both.fetch_add(static_cast<ptrdiff_t>(now) - static_cast<ptrdiff_t>(published),
                   std::memory_order_relaxed);
    published = now;
  }

  // Where nothing is wholly free, the free parts of huge pages go back to the kernel, of the
  // emptiest ones first, until no more than `bytes` are resident.
  void split_down_to(size_t bytes) REQUIRES(mutex) {
    size_t expected = touched() + charged_bytes();
    std::vector<size_t> chosen;
    while (expected > bytes) {
      const size_t huge = pages->emptiest();
      if (huge == pages->huge_count()) break;
      const size_t before = pages->absent_pages();
      pages->split_huge(huge);
      // Else the kernel fills it up again by and by, unasked (khugepaged).
      if (pages->split_count() <= kSplitKeptMax) advise_huge(huge, MADV_NOHUGEPAGE);
      expected -= std::min(expected, (pages->absent_pages() - before) * kPageBytes);
      chosen.push_back(huge);
    }
    if (chosen.empty()) return;
    std::sort(chosen.begin(), chosen.end());
    pages->each_free_span([&](size_t page, size_t count) {
      for (auto huge =
               std::lower_bound(chosen.begin(), chosen.end(), page / PageHeap::kPagesPerHuge);
           huge != chosen.end() && *huge * PageHeap::kPagesPerHuge < page + count; ++huge) {
        purge(std::max(page, *huge * PageHeap::kPagesPerHuge),
              std::min(page + count, (*huge + 1) * PageHeap::kPagesPerHuge));
      }
    });
    publish_touched();
  }

  // Where more than is tolerated would be resident with `more` bytes that are to be charged, what
  // is free goes back. Only then others see what was touched.
  void keep_to(size_t budget, size_t tolerated, size_t used, size_t more) REQUIRES(mutex) {
    const size_t expected = touched() + charged_bytes() + more;
    if (expected > tolerated && expected > used) split_down_to(budget - std::min(budget, more));
    publish_touched();
  }

  void advise_huge(size_t huge, int advice) {
    madvise(base + huge * kHugeBytes, kHugeBytes, advice);
  }

  // Free pages [begin, end) are not resident afterwards, but for those that lie in one of the
  // system's pages with others: the kernel would take these, too.
  void purge(size_t begin, size_t end) {
    const size_t parts = pages->part_pages();
    begin = align_up(begin, parts);
    end = end / parts * parts;
    if (begin >= end) return;
    madvise(base + begin * kPageBytes, (end - begin) * kPageBytes, MADV_DONTNEED);
  }

  // Pages [page, page + count) were released.
  void purge_released(size_t page, size_t count) REQUIRES(mutex) {
    for (size_t at = page; at < page + count;) {
      const size_t huge = at / PageHeap::kPagesPerHuge;
      const size_t end = std::min(page + count, (huge + 1) * PageHeap::kPagesPerHuge);
      if (pages->is_split(huge)) {
        if (const size_t parts = pages->part_pages(); parts == 1) {
          purge(at, end);
        } else {
          for (size_t part = at / parts * parts; part < end; part += parts) {
            if (pages->part_free(part)) purge(part, part + parts);
          }
        }
        if (pages->wholly_free(huge)) {
          pages->give_back(huge);
          advise_huge(huge, MADV_HUGEPAGE);
        }
      }
      at = end;
    }
    publish_touched();
  }

  void trim(size_t budget) REQUIRES(mutex) {
    const size_t now = resident();
    if (now > budget && pages->wholly_free_count() > 0) {
      give_back((now - budget + kHugeBytes - 1) / kHugeBytes, 0, 0);
    }
  }

  bool wants_touched(size_t bytes, size_t budget) const REQUIRES(mutex) {
    return pages->wholly_free_count() * kHugeBytes < bytes && fresh_allowed(budget) > 0 &&
           pages->first_fresh() < pages->huge_count();
  }

  char* const mapping;
  const size_t mapping_bytes;
  char* const base;
  mutable Mutex mutex;
  const std::unique_ptr<PageHeap> pages;
  size_t published GUARDED_BY(mutex) = 0;  // of touched(), in what others see
  std::atomic<ptrdiff_t> charged{0};
  std::atomic<ptrdiff_t> both{0};
  CondVar taken;                               // of touched huge pages, while somebody waits for it
  size_t awaited_bytes GUARDED_BY(mutex) = 0;  // fewer free ones wake that thread; 0: nobody waits
};

Result<std::unique_ptr<Arena>> Arena::create(size_t budget_bytes) {
  // More address space than budget: a large span can be had in fresh pages while the touched ones
  // are fragmented, and the budget can grow.
  const size_t smallest = align_up(budget_bytes, kHugeBytes) + kHugeBytes;
  const size_t widest =
      budget_bytes > std::numeric_limits<size_t>::max() / 8 ? 0 : budget_bytes * 4;
  if (widest == 0) return Status(StatusCode::kInvalidArgument, "arena: the budget is too large");
  const size_t wanted = align_up(std::max({widest, physical_bytes(), smallest}), kHugeBytes);
  for (size_t space = wanted;; space = std::max(smallest, align_up(space / 2, kHugeBytes))) {
    const size_t bytes = space + kHugeBytes;  // room to align
    void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory != MAP_FAILED) {
      std::unique_ptr<PageHeap> pages = PageHeap::create(space / kHugeBytes, part_pages());
      if (pages != nullptr) {
        std::unique_ptr<Arena> arena(new Arena(budget_bytes));
        arena->heap_ = std::make_unique<Heap>(static_cast<char*>(memory), bytes, std::move(pages));
        // Refused where huge pages are switched off: slower, not wrong.
        madvise(arena->heap_->base, space, MADV_HUGEPAGE);
        return arena;
      }
      munmap(memory, bytes);
    }
    if (space == smallest) break;
  }
  return Status(StatusCode::kOutOfMemory,
                "arena: no address space for " + std::to_string(smallest) + " bytes");
}

Arena::Arena(size_t budget_bytes) { budget_.store(budget_bytes, std::memory_order_relaxed); }

Arena::~Arena() = default;

char* Arena::allocate(Quota quota, size_t size, bool beyond_budget) {
  if (size > heap_->mapping_bytes) return nullptr;
  const size_t count = std::max<size_t>(1, (size + kPageBytes - 1) / kPageBytes);
  if (!beyond_budget && used() + count * kPageBytes > tolerated_bytes()) return nullptr;
  size_t page = 0;
  {
    MutexLock lock(heap_->mutex);
    if (const auto touched = heap_->pages->allocate_touched(count); touched.has_value()) {
      page = *touched;
    } else {
      bool found = false;
      page = heap_->allocate_fresh(count, beyond_budget ? heap_->mapping_bytes : budget(), &found);
      if (!found) return nullptr;
    }
    heap_->keep_to(budget(), tolerated_bytes(), used(), 0);
    if (heap_->wants_touched(heap_->awaited_bytes, budget())) {
      heap_->awaited_bytes = 0;
      heap_->taken.notify_one();
    }
  }
  char* const span = heap_->base + page * kPageBytes;
  unpoison(span, count * kPageBytes);
  used_[static_cast<size_t>(quota)].fetch_add(count * kPageBytes, std::memory_order_relaxed);
  used_total_.fetch_add(count * kPageBytes, std::memory_order_relaxed);
  return span;
}

void Arena::release(Quota quota, char* span, size_t size) {
  const size_t count = std::max<size_t>(1, (size + kPageBytes - 1) / kPageBytes);
  HAWTHORN_ASSERT(used(quota) >= count * kPageBytes);
  used_[static_cast<size_t>(quota)].fetch_sub(count * kPageBytes, std::memory_order_relaxed);
  used_total_.fetch_sub(count * kPageBytes, std::memory_order_relaxed);
  poison(span, count * kPageBytes);
  MutexLock lock(heap_->mutex);
  const size_t page = static_cast<size_t>(span - heap_->base) / kPageBytes;
  heap_->pages->release(page, count);
  if (heap_->pages->split_count() > 0) heap_->purge_released(page, count);
  heap_->trim(budget());
  heap_->keep_to(budget(), tolerated_bytes(), used(), 0);
}

void Arena::shrink_to(size_t bytes) {
  MutexLock lock(heap_->mutex);
  heap_->trim(bytes);
  heap_->split_down_to(bytes);
}

void Arena::split(Quota quota, char* span, size_t size, size_t first, Quota rest) {
  const size_t count = std::max<size_t>(1, (size + kPageBytes - 1) / kPageBytes);
  HAWTHORN_ASSERT(first % kPageBytes == 0);
  const size_t moved = count - first / kPageBytes;
  used_[static_cast<size_t>(rest)].fetch_add(moved * kPageBytes, std::memory_order_relaxed);
  used_[static_cast<size_t>(quota)].fetch_sub(moved * kPageBytes, std::memory_order_relaxed);
  MutexLock lock(heap_->mutex);
  heap_->pages->split(static_cast<size_t>(span - heap_->base) / kPageBytes, count,
                      first / kPageBytes);
}

void Arena::charge(Quota quota, ptrdiff_t bytes) {
  // Negative charges wrap around on purpose: the sums come out right.
  used_[static_cast<size_t>(quota)].fetch_add(static_cast<size_t>(bytes),
                                              std::memory_order_relaxed);
  used_total_.fetch_add(static_cast<size_t>(bytes), std::memory_order_relaxed);
  const auto more = static_cast<size_t>(std::max<ptrdiff_t>(0, bytes));
  if (more == 0 || heap_->resident() + more <= budget()) return heap_->charge(bytes);
  MutexLock lock(heap_->mutex);
  heap_->trim(budget() - std::min(budget(), more));
  heap_->keep_to(budget(), tolerated_bytes(), used(), more);
  heap_->charge(bytes);
}

size_t Arena::resident_bytes() const { return heap_->resident(); }

size_t Arena::huge_page_bytes() const {
  std::FILE* const maps = std::fopen("/proc/self/smaps", "re");
  if (maps == nullptr) return 0;
  const auto begin = reinterpret_cast<uintptr_t>(heap_->mapping);
  const uintptr_t end = begin + heap_->mapping_bytes;
  size_t total = 0;
  bool ours = false;
  char line[512];
  while (std::fgets(line, sizeof(line), maps) != nullptr) {
    unsigned long from = 0;
    unsigned long to = 0;
    unsigned long kilobytes = 0;
    if (std::sscanf(line, "%lx-%lx ", &from, &to) == 2) {
      ours = from < end && to > begin;
    } else if (ours && std::sscanf(line, "AnonHugePages: %lu kB", &kilobytes) == 1) {
      total += size_t{kilobytes} << 10;
    }
  }
  std::fclose(maps);
  return total;
}

void Arena::set_budget(size_t budget_bytes) {
  MutexLock lock(heap_->mutex);
  budget_.store(budget_bytes, std::memory_order_relaxed);
  heap_->trim(budget_bytes);
}

bool Arena::touch_ahead(size_t bytes) {
  size_t huge = 0;
  {
    MutexLock lock(heap_->mutex);
    if (!heap_->wants_touched(bytes, budget())) return false;
    huge = heap_->pages->first_fresh();
    heap_->pages->touch(huge, 1);
    heap_->publish_touched();
    heap_->pages->allocate_at(huge * PageHeap::kPagesPerHuge, PageHeap::kPagesPerHuge);
  }
  char* const data = heap_->base + huge * kHugeBytes;
  unpoison(data, kHugeBytes);
  for (size_t at = 0; at < kHugeBytes; at += kPageBytes) {
    static_cast<volatile char*>(data)[at] = 0;
  }
  poison(data, kHugeBytes);
  MutexLock lock(heap_->mutex);
  heap_->pages->release(huge * PageHeap::kPagesPerHuge, PageHeap::kPagesPerHuge);
  heap_->trim(budget());
  return true;
}

void Arena::wait_for_allocation(size_t bytes, uint64_t timeout_us) {
  MutexLock lock(heap_->mutex);
  if (heap_->wants_touched(bytes, budget())) return;
  heap_->awaited_bytes = bytes;
  static_cast<void>(heap_->taken.wait_for(heap_->mutex, timeout_us));
  heap_->awaited_bytes = 0;
}

void Arena::stop_waiting() { heap_->taken.notify_one(); }

size_t Arena::largest_free() const {
  MutexLock lock(heap_->mutex);
  const size_t room = tolerated_bytes() - std::min(tolerated_bytes(), used());
  return std::min(heap_->pages->largest_run(heap_->fresh_allowed(budget())), room / kPageBytes) *
         kPageBytes;
}

}  // namespace hawthorn::os
