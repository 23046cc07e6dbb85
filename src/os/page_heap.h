#pragma once
// The bookkeeping of an arena: which runs of 4 KB pages are free, and which 2 MB pages were
// touched. Only numbers: it maps no memory of its user and touches none.
//
// Not here: budget, locks, the memory itself (arena.cc). Threads: one at a time.
//
// 1. Touched free pages form maximal runs ("spans"); no two of them are adjacent. Fresh huge pages
//    form maximal runs too. A page is in exactly one of: an allocated span, a touched free span, a
//    fresh run.
// 2. The tags at both ends of a span are valid, and zero at both ends of a fresh huge page:
//    neighbours are found by them in O(1). Tags inside of a span are left-overs.
// 3. The free pages of a huge page that was split are not resident: its user gives them back one by
//    one. It becomes whole again by way of being wholly free and given back. Where the system's
//    pages are larger, that goes for those parts, of `part_pages` each, of which all is free.
// 4. Giving back takes no memory that could be refused: the lists of spans have their nodes in
//    address space of their own, enough for as many as there can be.
// 5. Best fit, then the lowest address among equals (small sizes: the lowest of a few candidates).

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <memory_resource>
#include <optional>
#include <set>
#include <vector>

namespace hawthorn::os {

class PageHeap {
 public:
  static constexpr size_t kPagesPerHuge = 512;

  // Where a run that needs fresh huge pages would go.
  struct FreshFit {
    size_t page = 0;
    size_t first_huge = 0;  // the fresh huge pages that it touches
    size_t huge_count = 0;
    size_t kept_begin = 0;  // the free pages that it is made of, for give_back to leave alone
    size_t kept_end = 0;
  };

  // nullptr when there is no address space for the page map. part_pages: so many are the least that
  // can be given back, a power of two and at most a huge page's.
  static std::unique_ptr<PageHeap> create(size_t huge_count, size_t part_pages = 1);
  ~PageHeap();
  PageHeap(const PageHeap&) = delete;
  PageHeap& operator=(const PageHeap&) = delete;

  // A run of touched pages; its first page.
  std::optional<size_t> allocate_touched(size_t pages);
  // The place for a run that fits into no touched span: the fewest fresh huge pages, then the
  // lowest address. `fresh` more huge pages may become resident; beyond that, wholly free ones
  // outside of the place have to be given back.
  std::optional<FreshFit> find_fresh(size_t pages, size_t fresh) const;
  // Makes the fresh huge pages touched; the run is allocated by allocate_at.
  void touch(size_t first_huge, size_t huge_count);
  // The first fresh huge page; huge_count() when there is none.
  size_t first_fresh() const {
    return fresh_runs_.empty() ? touched_.size() : fresh_runs_.begin()->first;
  }
  void allocate_at(size_t page, size_t pages);
  void release(size_t page, size_t pages);
  // Makes two allocated runs of one: [page, page + first) and [page + first, page + pages).
  void split(size_t page, size_t pages, size_t first);

  bool wholly_free(size_t huge) const { return touched_[huge] != 0 && used_pages_[huge] == 0; }
  // Turns a touched, wholly free huge page fresh.
  void give_back(size_t huge);

  // Invariant 3 holds for it from now on. It is touched, and was not split.
  void split_huge(size_t huge);
  bool is_split(size_t huge) const { return split_[huge] != 0; }
  size_t split_count() const { return split_count_; }
  // Of the huge pages that were split.
  size_t absent_pages() const { return absent_pages_; }
  size_t part_pages() const { return part_pages_; }
  // Whether nothing of the part that a page is in is allocated; where parts are larger than a page.
  bool part_free(size_t page) const;
  // The touched huge page that has most to give when it is split; huge_count() when none has any.
  size_t emptiest() const;
  // Calls visit(page, pages) for each touched free span.
  template <typename Visit>
  void each_free_span(Visit visit) const {
    for (size_t length = 1; length <= kShortMax; ++length) {
      for (size_t at = short_lists_[length]; at != 0; at = tags_[at - 1].next) {
        visit(at - 1, length);
      }
    }
    for (const uint64_t span : long_spans_) visit(span & 0xffffffff, span >> 32);
  }

  size_t touched_count() const { return touched_count_; }
  size_t wholly_free_count() const { return wholly_free_count_; }
  // One more than the last huge page that was ever touched.
  size_t high_water() const { return high_water_; }
  size_t huge_count() const { return touched_.size(); }
  // The largest run that can be had under the rule of find_fresh.
  size_t largest_run(size_t fresh) const;
  size_t span_count() const { return span_count_; }
  // Whether all invariants hold; for tests.
  bool consistent() const;

 private:
  struct Tag {
    uint32_t length = 0;    // pages; the top bit marks an allocated span
    uint32_t previous = 0;  // in the list of a short span, page + 1; 0 at its ends
    uint32_t next = 0;
  };
  static constexpr uint32_t kAllocated = uint32_t{1} << 31;
  static constexpr size_t kShortMax = 64;  // spans up to this length are kept in lists
  static constexpr int kCandidates = 8;    // of a list, when looking for a low address

  // The nodes of the lists; resident as far as they are used.
  class Nodes final : public std::pmr::memory_resource {
   public:
    static constexpr size_t kNodeBytes = 64;
    Nodes(char* from, size_t count) : next_(from), end_(from + count * kNodeBytes) {}

   private:
    void* do_allocate(size_t bytes, size_t align) override;
    void do_deallocate(void* node, size_t bytes, size_t align) override;
    bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
      return this == &other;
    }

    char* next_;
    char* const end_;
    void* free_ = nullptr;
  };
  // Nodes that the lists can have at once: all huge pages by turns, and all long spans.
  static size_t nodes_max(size_t huge_count);
  static size_t mapped_bytes(size_t huge_count);  // of tags and nodes

  PageHeap(size_t huge_count, size_t part_pages, Tag* tags, char* nodes);

  void insert_span(size_t page, size_t pages);
  void remove_span(size_t page, size_t pages);
  void take(size_t span, size_t span_pages, size_t page, size_t pages);
  void count_used(size_t page, size_t pages, bool add);
  void count_parts(size_t page, size_t pages, bool add);
  size_t absent_in(size_t huge) const;    // what it has to give when it is split
  size_t free_before(size_t page) const;  // pages of the touched free span that ends at page
  size_t free_from(size_t page) const;    // pages of the touched free span that starts at page
  size_t longest_span() const;

  const size_t part_pages_;
  Tag* const tags_;
  std::array<uint32_t, kShortMax + 1> short_lists_{};  // by length, page + 1
  uint64_t short_lengths_ = 0;                         // bit length-1: the list is not empty
  Nodes nodes_;
  std::pmr::set<uint64_t> long_spans_;        // length << 32 | page
  std::pmr::map<size_t, size_t> wide_spans_;  // of at least a huge page: page -> length
  std::pmr::map<size_t, size_t> fresh_runs_;  // first huge page -> count
  std::vector<uint8_t> touched_;
  std::vector<uint16_t> used_pages_;  // by huge page
  std::vector<uint16_t> used_parts_;  // pages of each part; empty where a part is one page
  std::vector<uint8_t> split_;        // by huge page
  size_t split_count_ = 0;
  size_t absent_pages_ = 0;
  size_t touched_count_ = 0;
  size_t wholly_free_count_ = 0;
  size_t high_water_ = 0;
  size_t span_count_ = 0;
};

}  // namespace hawthorn::os
