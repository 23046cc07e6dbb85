#include "os/page_heap.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

#include "base/assert.h"

namespace hawthorn::os {

namespace {

// The whole huge pages inside of a run of pages.
size_t huge_pages_within(size_t begin, size_t end) {
  const size_t first = (begin + PageHeap::kPagesPerHuge - 1) / PageHeap::kPagesPerHuge;
  const size_t last = end / PageHeap::kPagesPerHuge;
  return last > first ? last - first : 0;
}

}  // namespace

std::unique_ptr<PageHeap> PageHeap::create(size_t huge_count, size_t part_pages) {
  HAWTHORN_ASSERT(std::has_single_bit(part_pages) && part_pages <= kPagesPerHuge);
  // One tag for each page, of which only those at the ends of spans ever become resident.
  const size_t pages = huge_count * kPagesPerHuge;
  if (huge_count == 0 || pages >= kAllocated) return nullptr;
  void* const tags = mmap(nullptr, mapped_bytes(huge_count), PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (tags == MAP_FAILED) return nullptr;
  char* const nodes = static_cast<char*>(tags) + pages * sizeof(Tag);
  return std::unique_ptr<PageHeap>(
      new PageHeap(huge_count, part_pages, static_cast<Tag*>(tags), nodes));
}

size_t PageHeap::nodes_max(size_t huge_count) {
  return 2 * (huge_count + 1) + huge_count * kPagesPerHuge / kShortMax + 1;
}

size_t PageHeap::mapped_bytes(size_t huge_count) {
  return huge_count * kPagesPerHuge * sizeof(Tag) + nodes_max(huge_count) * Nodes::kNodeBytes;
}

void* PageHeap::Nodes::do_allocate(size_t bytes, size_t align) {
  HAWTHORN_ASSERT(bytes <= kNodeBytes && align <= alignof(std::max_align_t));
  static_cast<void>(bytes);
  static_cast<void>(align);
  if (free_ != nullptr) return std::exchange(free_, *static_cast<void**>(free_));
  HAWTHORN_ASSERT(next_ < end_);
  return std::exchange(next_, next_ + kNodeBytes);
}

void PageHeap::Nodes::do_deallocate(void* node, size_t, size_t) {
  *static_cast<void**>(node) = std::exchange(free_, node);
}

PageHeap::PageHeap(size_t huge_count, size_t part_pages, Tag* tags, char* nodes)
    : part_pages_(part_pages),
      tags_(tags),
      nodes_(nodes, nodes_max(huge_count)),
      long_spans_(&nodes_),
      wide_spans_(&nodes_),
      fresh_runs_(&nodes_),
      touched_(huge_count),
      used_pages_(huge_count),
      used_parts_(part_pages == 1 ? 0 : huge_count * (kPagesPerHuge / part_pages)),
      split_(huge_count) {
  fresh_runs_.emplace(0, huge_count);
}

// The lists go first.
PageHeap::~PageHeap() {
  long_spans_.clear();
  wide_spans_.clear();
  fresh_runs_.clear();
  munmap(tags_, mapped_bytes(huge_count()));
}

std::optional<size_t> PageHeap::allocate_touched(size_t pages) {
  if (pages <= kShortMax) {
    const uint64_t fitting = short_lengths_ >> (pages - 1) << (pages - 1);
    if (fitting != 0) {
      const size_t length = static_cast<size_t>(std::countr_zero(fitting)) + 1;
      size_t lowest = short_lists_[length];
      size_t at = lowest;
      for (int i = 1; i < kCandidates && tags_[at - 1].next != 0; ++i) {
        at = tags_[at - 1].next;
        lowest = std::min(lowest, at);
      }
      take(lowest - 1, length, lowest - 1, pages);
      return lowest - 1;
    }
  }
  const auto found = long_spans_.lower_bound(static_cast<uint64_t>(pages) << 32);
  if (found == long_spans_.end()) return std::nullopt;
  const auto page = static_cast<size_t>(*found & 0xffffffff);
  take(page, static_cast<size_t>(*found >> 32), page, pages);
  return page;
}

std::optional<PageHeap::FreshFit> PageHeap::find_fresh(size_t pages, size_t fresh) const {
  std::optional<FreshFit> best;
  for (const auto& [first, count] : fresh_runs_) {
    const size_t begin = first * kPagesPerHuge;
    const size_t end = begin + count * kPagesPerHuge;
    const size_t before = free_before(begin);
    const size_t after = free_from(end);
    HAWTHORN_ASSERT(before < pages && after < pages);
    if (before + (end - begin) + after < pages) continue;
    // Leaning on the touched span before the run, or on the one behind it.
    const size_t need_right = (pages - before + kPagesPerHuge - 1) / kPagesPerHuge;
    const size_t need_left = (pages - after + kPagesPerHuge - 1) / kPagesPerHuge;
    FreshFit fit;
    fit.kept_begin = begin - before;
    fit.kept_end = end + after;
    if (need_right <= need_left || need_left > count) {
      fit.page = begin - before;
      fit.first_huge = first;
      fit.huge_count = std::min(need_right, count);
    } else {
      fit.page = end + after - pages;
      fit.first_huge = first + count - need_left;
      fit.huge_count = need_left;
    }
    const size_t elsewhere = wholly_free_count_ - huge_pages_within(begin - before, begin) -
                             huge_pages_within(end, end + after);
    if (fit.huge_count > fresh + elsewhere) continue;
    if (!best.has_value() || fit.huge_count < best->huge_count) best = fit;
    if (best->huge_count == 1) break;  // nothing needs fewer
  }
  return best;
}

void PageHeap::touch(size_t first_huge, size_t huge_count) {
  const auto run = std::prev(fresh_runs_.upper_bound(first_huge));
  const size_t run_first = run->first;
  const size_t run_end = run->first + run->second;
  HAWTHORN_ASSERT(run_first <= first_huge && first_huge + huge_count <= run_end);
  fresh_runs_.erase(run);
  if (run_first < first_huge) fresh_runs_.emplace(run_first, first_huge - run_first);
  const size_t end = first_huge + huge_count;
  if (end < run_end) fresh_runs_.emplace(end, run_end - end);
  std::fill_n(touched_.begin() + static_cast<ptrdiff_t>(first_huge), huge_count, uint8_t{1});
  touched_count_ += huge_count;
  wholly_free_count_ += huge_count;
  high_water_ = std::max(high_water_, end);

  const size_t before = free_before(first_huge * kPagesPerHuge);
  const size_t after = free_from(end * kPagesPerHuge);
  if (before > 0) remove_span(first_huge * kPagesPerHuge - before, before);
  if (after > 0) remove_span(end * kPagesPerHuge, after);
  insert_span(first_huge * kPagesPerHuge - before, before + huge_count * kPagesPerHuge + after);
}

void PageHeap::allocate_at(size_t page, size_t pages) {
  // touch() has just made it part of a span of at least a huge page.
  const auto span = std::prev(wide_spans_.upper_bound(page));
  HAWTHORN_ASSERT(span->first <= page && page + pages <= span->first + span->second);
  take(span->first, span->second, page, pages);
}

void PageHeap::release(size_t page, size_t pages) {
  HAWTHORN_ASSERT(tags_[page].length == (static_cast<uint32_t>(pages) | kAllocated));
  count_used(page, pages, false);
  const size_t before = free_before(page);
  const size_t after = free_from(page + pages);
  if (before > 0) remove_span(page - before, before);
  if (after > 0) remove_span(page + pages, after);
  insert_span(page - before, before + pages + after);
}

void PageHeap::split(size_t page, size_t pages, size_t first) {
  HAWTHORN_ASSERT(tags_[page].length == (static_cast<uint32_t>(pages) | kAllocated));
  HAWTHORN_ASSERT(first > 0 && first < pages);
  // The second run ends where both ended; of a run of one page the one tag is both of its ends.
  tags_[page + first - 1].length = kAllocated;
  tags_[page].length = static_cast<uint32_t>(first) | kAllocated;
  tags_[page + first].length = static_cast<uint32_t>(pages - first) | kAllocated;
}

void PageHeap::give_back(size_t huge) {
  HAWTHORN_ASSERT(wholly_free(huge));
  const size_t begin = huge * kPagesPerHuge;
  const size_t end = begin + kPagesPerHuge;
  const auto found = std::prev(wide_spans_.upper_bound(begin));
  const size_t span = found->first;
  const size_t length = found->second;
  HAWTHORN_ASSERT(span <= begin && end <= span + length);
  remove_span(span, length);
  if (span < begin) insert_span(span, begin - span);
  if (end < span + length) insert_span(end, span + length - end);
  tags_[begin] = {};
  tags_[end - 1] = {};
  touched_[huge] = 0;
  if (split_[huge] != 0) {
    split_[huge] = 0;
    --split_count_;
    absent_pages_ -= kPagesPerHuge;
  }
  --touched_count_;
  --wholly_free_count_;

  size_t first = huge;
  size_t count = 1;
  auto next = fresh_runs_.upper_bound(huge);
  if (next != fresh_runs_.begin()) {
    const auto previous = std::prev(next);
    if (previous->first + previous->second == huge) {
      first = previous->first;
      count += previous->second;
      fresh_runs_.erase(previous);
    }
  }
  if (next != fresh_runs_.end() && next->first == huge + 1) {
    count += next->second;
    fresh_runs_.erase(next);
  }
  fresh_runs_.emplace(first, count);
}

void PageHeap::split_huge(size_t huge) {
  HAWTHORN_ASSERT(touched_[huge] != 0 && split_[huge] == 0);
  split_[huge] = 1;
  ++split_count_;
  absent_pages_ += absent_in(huge);
}

size_t PageHeap::absent_in(size_t huge) const {
  if (part_pages_ == 1) return kPagesPerHuge - used_pages_[huge];
  const size_t parts = kPagesPerHuge / part_pages_;
  const auto first = used_parts_.begin() + static_cast<ptrdiff_t>(huge * parts);
  const auto free = std::count(first, first + static_cast<ptrdiff_t>(parts), uint16_t{0});
  return static_cast<size_t>(free) * part_pages_;
}

bool PageHeap::part_free(size_t page) const {
  HAWTHORN_ASSERT(part_pages_ > 1);
  return used_parts_[page / part_pages_] == 0;
}

size_t PageHeap::emptiest() const {
  size_t best = touched_.size();
  size_t least = kPagesPerHuge;
  for (size_t huge = 0; huge < high_water_; ++huge) {
    if (touched_[huge] == 0 || split_[huge] != 0 || used_pages_[huge] >= least) continue;
    best = huge;
    least = used_pages_[huge];
  }
  return best;
}

size_t PageHeap::largest_run(size_t fresh) const {
  size_t largest = longest_span();
  for (const auto& [first, count] : fresh_runs_) {
    const size_t begin = first * kPagesPerHuge;
    const size_t end = begin + count * kPagesPerHuge;
    const size_t before = free_before(begin);
    const size_t after = free_from(end);
    const size_t allowed = fresh + wholly_free_count_ - huge_pages_within(begin - before, begin) -
                           huge_pages_within(end, end + after);
    const size_t run = allowed >= count ? before + (end - begin) + after
                                        : std::max(before, after) + allowed * kPagesPerHuge;
    largest = std::max(largest, run);
  }
  return largest;
}

bool PageHeap::consistent() const {
  size_t spans = 0;
  size_t used = 0;
  size_t free_pages = 0;
  size_t touched = 0;
  const size_t pages = touched_.size() * kPagesPerHuge;
  bool was_free = false;
  for (size_t page = 0; page < pages;) {
    if (page % kPagesPerHuge == 0 && touched_[page / kPagesPerHuge] == 0) {
      const auto run = fresh_runs_.find(page / kPagesPerHuge);
      if (run == fresh_runs_.end()) return false;
      page += run->second * kPagesPerHuge;
      was_free = false;
      continue;
    }
    const uint32_t tag = tags_[page].length;
    const size_t length = tag & ~kAllocated;
    const bool is_free = (tag & kAllocated) == 0;
    if (length == 0 || page + length > pages || (is_free && was_free)) return false;
    if (is_free) {
      if (tags_[page + length - 1].length != length) return false;
      if (length > kShortMax && !long_spans_.contains(uint64_t{length} << 32 | page)) return false;
      if ((length >= kPagesPerHuge) != wide_spans_.contains(page)) return false;
      ++spans;
      free_pages += length;
    } else {
      used += length;
    }
    was_free = is_free;
    page += length;
  }
  size_t used_by_huge = 0;
  size_t wholly_free_pages = 0;
  size_t split = 0;
  size_t absent = 0;
  for (size_t huge = 0; huge < touched_.size(); ++huge) {
    touched += touched_[huge];
    used_by_huge += used_pages_[huge];
    wholly_free_pages += wholly_free(huge) ? 1 : 0;
    if (split_[huge] == 0) continue;
    if (touched_[huge] == 0) return false;
    ++split;
    absent += absent_in(huge);
  }
  const size_t parts = kPagesPerHuge / part_pages_;
  for (size_t part = 0; part < used_parts_.size(); part += parts) {
    const auto first = used_parts_.begin() + static_cast<ptrdiff_t>(part);
    const auto last = first + static_cast<ptrdiff_t>(parts);
    if (std::accumulate(first, last, size_t{0}) != used_pages_[part / parts]) return false;
  }
  if (split != split_count_ || absent != absent_pages_) return false;
  return spans == span_count_ && used == used_by_huge && touched == touched_count_ &&
         wholly_free_pages == wholly_free_count_ && used + free_pages == touched * kPagesPerHuge;
}

void PageHeap::insert_span(size_t page, size_t pages) {
  const auto length = static_cast<uint32_t>(pages);
  tags_[page].length = length;
  tags_[page + pages - 1].length = length;
  ++span_count_;
  if (pages > kShortMax) {
    long_spans_.insert(static_cast<uint64_t>(pages) << 32 | page);
    if (pages >= kPagesPerHuge) wide_spans_.emplace(page, pages);
    return;
  }
  const auto link = static_cast<uint32_t>(page) + 1;
  uint32_t& head = short_lists_[pages];
  tags_[page].previous = 0;
  tags_[page].next = head;
  if (head != 0) tags_[head - 1].previous = link;
  head = link;
  short_lengths_ |= uint64_t{1} << (pages - 1);
}

void PageHeap::remove_span(size_t page, size_t pages) {
  --span_count_;
  if (pages > kShortMax) {
    long_spans_.erase(static_cast<uint64_t>(pages) << 32 | page);
    if (pages >= kPagesPerHuge) wide_spans_.erase(page);
    return;
  }
  const Tag& tag = tags_[page];
  if (tag.next != 0) tags_[tag.next - 1].previous = tag.previous;
  if (tag.previous != 0) {
    tags_[tag.previous - 1].next = tag.next;
  } else {
    short_lists_[pages] = tag.next;
    if (tag.next == 0) short_lengths_ &= ~(uint64_t{1} << (pages - 1));
  }
}

// Allocates [page, page + pages) of a free span.
void PageHeap::take(size_t span, size_t span_pages, size_t page, size_t pages) {
  remove_span(span, span_pages);
  if (span < page) insert_span(span, page - span);
  const size_t end = page + pages;
  if (end < span + span_pages) insert_span(end, span + span_pages - end);
  tags_[end - 1].length = kAllocated;
  tags_[page].length = static_cast<uint32_t>(pages) | kAllocated;
  count_used(page, pages, true);
}

void PageHeap::count_used(size_t page, size_t pages, bool add) {
  while (pages > 0) {
    const size_t huge = page / kPagesPerHuge;
    const size_t here = std::min(pages, (huge + 1) * kPagesPerHuge - page);
    uint16_t& used = used_pages_[huge];
    if (part_pages_ > 1) {
      count_parts(page, here, add);
    } else if (split_[huge] != 0) {
      absent_pages_ += add ? -here : here;
    }
    if (add) {
      if (used == 0) --wholly_free_count_;
      used = static_cast<uint16_t>(used + here);
    } else {
      used = static_cast<uint16_t>(used - here);
      if (used == 0) ++wholly_free_count_;
    }
    page += here;
    pages -= here;
  }
}

// Of a run inside of one huge page.
void PageHeap::count_parts(size_t page, size_t pages, bool add) {
  const size_t end = page + pages;
  for (size_t at = page; at < end;) {
    const size_t part = at / part_pages_;
    const size_t next = std::min(end, (part + 1) * part_pages_);
    uint16_t& used = used_parts_[part];
    const bool was_free = used == 0;
    used = static_cast<uint16_t>(add ? used + (next - at) : used - (next - at));
    if (split_[page / kPagesPerHuge] != 0 && was_free != (used == 0)) {
      absent_pages_ += was_free ? -part_pages_ : part_pages_;
    }
    at = next;
  }
}

size_t PageHeap::free_before(size_t page) const {
  if (page == 0) return 0;
  const uint32_t length = tags_[page - 1].length;
  return (length & kAllocated) != 0 ? 0 : length;
}

size_t PageHeap::free_from(size_t page) const {
  if (page >= touched_.size() * kPagesPerHuge) return 0;
  const uint32_t length = tags_[page].length;
  return (length & kAllocated) != 0 ? 0 : length;
}

size_t PageHeap::longest_span() const {
  if (!long_spans_.empty()) return static_cast<size_t>(*long_spans_.rbegin() >> 32);
  return short_lengths_ == 0 ? 0 : static_cast<size_t>(std::bit_width(short_lengths_));
}

}  // namespace hawthorn::os
