#include "tree/cursor_window.h"

#include <algorithm>
#include <cstring>

#include "os/epoch.h"
#include "os/file.h"

namespace hawthorn::tree {

namespace {

// The address at which an extent would begin whose byte `offset` lies at `at`.
const char* origin(const char* at, uint64_t offset) {
  return reinterpret_cast<const char*>(reinterpret_cast<uintptr_t>(at) - offset);
}
}  // namespace

void CursorWindow::Piece::widen(uint64_t from, uint64_t to) {
  begin = std::min(begin, from);
  end = std::max(end, to);
}

void CursorWindow::reset() {
  reads_.reset();
  for (size_t i = 0; i < buffers_used_; ++i) {
    residency_->release(os::Quota::kMerge, buffers_[i].memory, buffers_[i].bytes);
  }
  buffers_used_ = 0;
  planned_.clear();
  stage_ = Stage::kDone;
  begin_ = 0;
  end_ = 0;
}

namespace {

constexpr size_t kAnyBlocks = ~size_t{0};

// Of the heap, those that have the records of some entries.
size_t heap_blocks_of(const Run& run, uint32_t begin, uint32_t end) {
  const format::HeapRange heap = run.heap_range(begin, end);
  if (heap.empty()) return 0;
  return (heap.end - 1) / os::kBlockBytes - heap.begin / os::kBlockBytes + 1;
}

// The largest end, or the smallest begin, of a range with at most so many blocks of the heap.
uint32_t fitting_end(const Run& run, Run::Range range, size_t blocks) {
  if (blocks == kAnyBlocks) return range.end;
  if (heap_blocks_of(run, range.begin, range.end) <= blocks) return range.end;
  uint32_t low = range.begin;
  for (uint32_t high = range.end - 1; low < high;) {
    const uint32_t middle = high - (high - low) / 2;
    if (heap_blocks_of(run, range.begin, middle) <= blocks) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

uint32_t fitting_begin(const Run& run, Run::Range range, size_t blocks) {
  if (blocks == kAnyBlocks) return range.begin;
  if (heap_blocks_of(run, range.begin, range.end) <= blocks) return range.begin;
  uint32_t high = range.end;
  for (uint32_t low = range.begin + 1; low < high;) {
    const uint32_t middle = low + (high - low) / 2;
    if (heap_blocks_of(run, middle, range.end) <= blocks) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return high;
}

}  // namespace

size_t CursorWindow::bytes_max(const Residency& residency) {
  return std::clamp(residency.arena()->budget() / 64, kFirstBytes, kBytesMax);
}

size_t CursorWindow::missing(const RunFile& file, const Run& run, bool values) {
  size_t bytes = run.is_outline()        ? file.image->memory_bytes()
                 : run.heap() == nullptr ? file.image->heap_bytes()
                                         : 0;
  for (size_t e = 0; values && e < file.values.size(); ++e) {
    if (file.bases[e].load(std::memory_order_acquire) == nullptr) bytes += file.values[e]->bytes;
  }
  return bytes;
}

Run::Range CursorWindow::choose(const RunFile& file, const Run& run, bool values, Run::Range must,
                                bool forward, size_t bytes, Run::Range within) {
  const size_t all = std::max<size_t>(missing(file, run, values), 1);
  const auto count = static_cast<uint32_t>(
      std::min<uint64_t>(run.entries(), uint64_t{bytes} * run.entries() / all));
  // Of the heap as much as is its part of what is missing.
  const size_t heap = run.is_outline() || run.heap() != nullptr ? 0 : file.image->heap_bytes();
  const size_t share = align_up(bytes * heap / all, os::kBlockBytes);
  const size_t heap_blocks =
      share >= heap ? kAnyBlocks : std::max<size_t>(1, share / os::kBlockBytes);
  Run::Range range = must;
  if (forward) {
    range.end = std::max(range.end, range.begin + std::min(count, within.end - range.begin));
    if (range.end == range.begin && range.end < within.end) ++range.end;
    if (run.is_outline() && range.end > range.begin) {
      const uint32_t last = (range.end - 1) / format::kGroupEntries;
      const uint32_t needed = std::max(must.end, must.begin + 1) - 1;
      uint32_t groups = run.block_end(range.begin / format::kGroupEntries);
      for (size_t left = bytes; groups <= last; left -= os::kBlockBytes) {
        if (left < 2 * os::kBlockBytes && groups > needed / format::kGroupEntries) break;
        groups = run.block_end(groups);
        left = std::max<size_t>(left, 2 * os::kBlockBytes);
      }
      range.end = std::min(groups * format::kGroupEntries, run.entries());
      return range;
    }
    range.end = std::max(must.end, fitting_end(run, range, heap_blocks));
    range.end = run.boundary_from(std::max(range.end, std::min(range.begin + 1, within.end)));
  } else {
    range.begin = std::min(range.begin, range.end - std::min(count, range.end - within.begin));
    if (range.end == range.begin && range.begin > within.begin) --range.begin;
    if (run.is_outline()) {
      const uint32_t first = range.begin / format::kGroupEntries;
      const uint32_t needed = std::min(must.begin, std::max(must.end, 1u) - 1);
      uint32_t groups = run.block_begin((std::max(range.end, 1u) - 1) / format::kGroupEntries);
      for (size_t left = bytes; groups > first; left -= os::kBlockBytes) {
        if (left < 2 * os::kBlockBytes && groups <= needed / format::kGroupEntries) break;
        groups = run.block_begin(groups - 1);
        left = std::max<size_t>(left, 2 * os::kBlockBytes);
      }
      range.begin = groups * format::kGroupEntries;
      return range;
    }
    range.begin = std::min(must.begin, fitting_begin(run, range, heap_blocks));
    range.begin = run.boundary_before(std::min(range.begin, std::max(range.end, 1u) - 1));
  }
  return range;
}

Status CursorWindow::load(RunFile* file, const Run& run, bool values, Run::Range range,
                          Limit limit) {
  Status status = begin(file, run, values, range, Need::kMust, limit);
  if (status.ok()) return finish();
  reset();
  return status;
}

Status CursorWindow::finish() {
  Status status;
  while (status.ok() && !complete()) {
    status = residency_->carry_out(reads_);
    if (status.ok()) status = arrived();
  }
  if (!status.ok()) reset();
  return status;
}

Status CursorWindow::begin(RunFile* file, const Run& run, bool values, Run::Range range, Need need,
                           Limit limit) {
  reset();
  file_ = file;
  run_ = &run;
  values_ = values;
  need_ = need;
  limit_ = limit;
  heap_blocks_ = 0;
  begin_ = range.begin;
  end_ = range.end;
  stage_ = Stage::kHeap;
  if (Status s = run.is_outline() ? plan_groups() : plan_heap(); !s.ok()) return s;
  return go_on();
}

Status CursorWindow::arrived() {
  if (Status s = reads_.finish(); !s.ok()) return s;
  for (const PieceRead& piece : planned_) {
    residency_->keep_in_frames(const_cast<Extent&>(*piece.extent), piece.first_block, piece.blocks,
                               piece.to);
  }
  planned_.clear();
  return go_on();
}

// Up to the next thing that has to be read.
Status CursorWindow::go_on() {
  while (planned_.empty() && stage_ != Stage::kDone) {
    const bool heap = stage_ == Stage::kHeap;
    if (heap && heap_read_) {
      Status s = format::check_run_records(run_->view(), begin_, end_, heap_);
      if (!s.ok()) return s;
    }
    stage_ = heap && values_ && !run_->is_outline() ? Stage::kValues : Stage::kDone;
    if (stage_ == Stage::kDone) break;
    if (Status s = plan_values(); !s.ok()) return s;
  }
  return planned_.empty() ? Status() : reads_.begin(residency_, file_, planned_, need_);
}

Status CursorWindow::plan_groups() {
  heap_read_ = false;
  if (begin_ == end_) return {};
  const Run::Bytes bytes = run_->bytes_of_groups(groups());
  Piece piece;
  piece.widen(bytes.begin, bytes.end);
  Result<const char*> at = plan(*file_->image.get(), piece);
  if (!at.ok()) return at.status();
  groups_ = *at;
  return {};
}

Status CursorWindow::plan_heap() {
  heap_ = run_->heap();
  heap_read_ = false;
  if (heap_ != nullptr) return {};
  const format::HeapRange range = run_->heap_range(begin_, end_);
  if (range.empty()) {
    heap_ = Run::no_heap();
    return {};
  }
  Piece piece;
  const uint64_t first = size_t{run_->front_blocks()} * os::kBlockBytes;
  piece.widen(first + range.begin, first + range.end);
  Result<const char*> at = plan(*file_->image.get(), piece);
  if (!at.ok()) return at.status();
  heap_ = origin(*at, range.begin);
  heap_blocks_ = piece.blocks();
  heap_read_ = true;
  return {};
}

// The pieces of the extents that have the values of the window, which ends where they reach the
// limit.
void CursorWindow::find_values(std::array<Piece, RunFile::kExtentsMax>* pieces) {
  const Run whole = run_->with_heap(heap_);
  uint64_t blocks = heap_blocks_;
  uint32_t whole_keys = 0;  // entries of keys all of which have their values
  const uint32_t count = end_ - begin_;
  for (uint32_t passed = 0; passed < count; ++passed) {
    const uint32_t i = limit_.forward ? begin_ + passed : end_ - 1 - passed;
    const uint32_t before = limit_.forward ? i - 1 : i;
    if (passed == 0 || !whole.has_versions() || !whole.same_key_as_next(before)) {
      whole_keys = passed;
    }
    const char* value = nullptr;
    uint32_t extent = 0;
    uint32_t offset = 0;
    uint32_t size = run_->fixed_value_size();
    if (whole.plain(i, &value, &extent, &offset)) {
      if (extent >= format::kTagPlainInline) continue;
    } else {
      const RunEntry entry = whole.entry(i);
      if (entry.kind != EntryKind::kSeparated) continue;
      extent = entry.extent;
      offset = entry.offset;
      size = entry.size;
    }
    if (bases_[extent] != nullptr) continue;
    Piece& piece = (*pieces)[extent];
    Piece wider = piece;
    wider.widen(offset, uint64_t{offset} + size);
    blocks += wider.blocks() - piece.blocks();
    if (whole_keys != 0 && blocks > limit_.bytes / os::kBlockBytes) {
      if (limit_.forward) {
        end_ = begin_ + whole_keys;
      } else {
        begin_ = end_ - whole_keys;
      }
      return;
    }
    piece = wider;
  }
}

Status CursorWindow::plan_values() {
  for (uint32_t e = 0; e < file_->values.size(); ++e) {
    bases_[e] = file_->bases[e].load(std::memory_order_acquire);
  }
  std::array<Piece, RunFile::kExtentsMax> pieces;
  find_values(&pieces);
  for (uint32_t e = 0; e < file_->values.size(); ++e) {
    if (bases_[e] != nullptr || pieces[e].end == 0) continue;
    Result<const char*> at = plan(*file_->values[e].get(), pieces[e]);
    if (!at.ok()) return at.status();
    bases_[e] = origin(*at, pieces[e].begin);
  }
  return {};
}

// Takes memory for the blocks around a piece, with a block of room before and behind them: keys are
// compared and copied in words. Where the piece will begin. What frames hold of it is there at
// once; the rest is read by read.
Result<const char*> CursorWindow::plan(Extent& extent, const Piece& piece) {
  auto first = static_cast<uint32_t>(piece.begin / os::kBlockBytes);
  auto blocks = static_cast<uint32_t>((piece.end + os::kBlockBytes - 1) / os::kBlockBytes) - first;
  Buffer buffer;
  buffer.bytes = (size_t{blocks} + 2) * os::kBlockBytes;
  buffer.memory = residency_->allocate_needed(os::Quota::kMerge, buffer.bytes, need_);
  if (buffer.memory == nullptr) {
    return Status(StatusCode::kOutOfMemory,
                  "no memory to read " + std::to_string(buffer.bytes) + " bytes for a cursor");
  }
  buffers_[buffers_used_++] = buffer;
  char* to = buffer.memory + os::kBlockBytes;
  const char* begin = to + piece.begin % os::kBlockBytes;
  if (blocks <= Residency::kFramesPerRead) {
    const FrameCache& frames = residency_->frames();
    os::epoch::Guard guard;
    for (; blocks > 0; ++first, --blocks, to += os::kBlockBytes) {
      const char* bytes = frames.find(extent, first);
      if (bytes == nullptr) break;
      std::memcpy(to, bytes, os::kBlockBytes);
    }
  }
  if (blocks > 0) planned_.push_back({&extent, first, blocks, to});
  return begin;
}

}  // namespace hawthorn::tree
