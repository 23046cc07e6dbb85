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
                                bool forward, size_t bytes) {
  const size_t all = std::max<size_t>(missing(file, run, values), 1);
  const auto count = static_cast<uint32_t>(
      std::min<uint64_t>(run.entries(), uint64_t{bytes} * run.entries() / all));
  Run::Range range = must;
  if (forward) {
    range.end = std::max(range.end, range.begin + std::min(count, run.entries() - range.begin));
    if (range.end == range.begin && range.end < run.entries()) ++range.end;
    if (run.is_outline() && range.end > range.begin) {
      const uint32_t groups = run.block_end((range.end - 1) / format::kGroupEntries);
      range.end = std::min(groups * format::kGroupEntries, run.entries());
      return range;
    }
    while (range.end < run.entries() && run.same_head_as_next(range.end - 1)) ++range.end;
  } else {
    range.begin = std::min(range.begin, range.end - std::min(count, range.end));
    if (range.end == range.begin && range.begin > 0) --range.begin;
    if (run.is_outline()) {
      range.begin = run.block_begin(range.begin / format::kGroupEntries) * format::kGroupEntries;
      return range;
    }
    while (range.begin > 0 && run.same_head_as_next(range.begin - 1)) --range.begin;
  }
  return range;
}

Status CursorWindow::load(RunFile* file, const Run& run, bool values, Run::Range range) {
  Status status = begin(file, run, values, range, Need::kMust);
  while (status.ok() && !complete()) {
    status = residency_->carry_out(reads_);
    if (status.ok()) status = arrived();
  }
  if (!status.ok()) reset();
  return status;
}

Status CursorWindow::begin(RunFile* file, const Run& run, bool values, Run::Range range,
                           Need need) {
  reset();
  file_ = file;
  run_ = &run;
  values_ = values;
  need_ = need;
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
  const uint64_t first = file_->image->front_bytes();
  piece.widen(first + range.begin, first + range.end);
  Result<const char*> at = plan(*file_->image.get(), piece);
  if (!at.ok()) return at.status();
  heap_ = origin(*at, range.begin);
  heap_read_ = true;
  return {};
}

Status CursorWindow::plan_values() {
  std::array<Piece, RunFile::kExtentsMax> pieces;
  const Run whole = run_->with_heap(heap_);
  for (uint32_t i = begin_; i < end_; ++i) {
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
    pieces[extent].widen(offset, uint64_t{offset} + size);
  }
  for (uint32_t e = 0; e < file_->values.size(); ++e) {
    bases_[e] = file_->bases[e].load(std::memory_order_acquire);
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
