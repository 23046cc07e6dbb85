#include "tree/cursor_window.h"

#include <algorithm>
#include <cstring>

#include "os/epoch.h"

namespace hawthorn::tree {

namespace {
constexpr size_t kBlock = 4096;
constexpr size_t kWindowBytesMax = size_t{2} << 20;

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
  for (size_t i = 0; i < buffers_used_; ++i) {
    residency_->release(os::Quota::kMerge, buffers_[i].memory, buffers_[i].bytes);
  }
  buffers_used_ = 0;
  planned_.clear();
  begin_ = 0;
  end_ = 0;
}

// As many entries as take next_bytes_ of what is missing, on the average.
Run::Range CursorWindow::choose(const RunFile& file, const Run& run, bool values, Run::Range must,
                                bool forward) {
  size_t missing = run.heap() == nullptr ? file.image->heap_bytes() : 0;
  for (size_t e = 0; values && e < file.values.size(); ++e) {
    if (file.bases[e].load(std::memory_order_acquire) == nullptr) missing += file.values[e]->bytes;
  }
  const size_t most = std::clamp(residency_->arena()->budget() / 64, kFirstBytes, kWindowBytesMax);
  const size_t wanted = std::min(next_bytes_, most);
  next_bytes_ = std::min(next_bytes_ * 2, kWindowBytesMax);
  const auto count = static_cast<uint32_t>(std::min<uint64_t>(
      run.entries(), uint64_t{wanted} * run.entries() / std::max<size_t>(missing, 1)));
  Run::Range range = must;
  if (forward) {
    range.end = std::max(range.end, range.begin + std::min(count, run.entries() - range.begin));
    if (range.end == range.begin && range.end < run.entries()) ++range.end;
    while (range.end < run.entries() && run.same_head_as_next(range.end - 1)) ++range.end;
  } else {
    range.begin = std::min(range.begin, range.end - std::min(count, range.end));
    if (range.end == range.begin && range.begin > 0) --range.begin;
    while (range.begin > 0 && run.same_head_as_next(range.begin - 1)) --range.begin;
  }
  return range;
}

Status CursorWindow::load(RunFile* file, const Run& run, bool values, Run::Range must,
                          bool forward) {
  reset();
  const Run::Range range = choose(*file, run, values, must, forward);
  begin_ = range.begin;
  end_ = range.end;
  Status status = load_heap(file, run);
  if (status.ok() && values) status = load_values(file, run);
  if (!status.ok()) reset();
  return status;
}

Status CursorWindow::load_heap(RunFile* file, const Run& run) {
  heap_ = run.heap();
  if (heap_ != nullptr) return {};
  const format::HeapRange range = run.heap_range(begin_, end_);
  if (range.empty()) {
    heap_ = Run::no_heap();
    return {};
  }
  Piece piece;
  const uint64_t first = file->image->front_bytes();
  piece.widen(first + range.begin, first + range.end);
  Result<const char*> at = plan(*file->image.get(), piece);
  if (!at.ok()) return at.status();
  if (Status s = read(file); !s.ok()) return s;
  heap_ = origin(*at, range.begin);
  return format::check_run_records(run.view(), begin_, end_, heap_);
}

Status CursorWindow::load_values(RunFile* file, const Run& run) {
  std::array<Piece, RunFile::kExtentsMax> pieces;
  const Run whole = run.with_heap(heap_);
  for (uint32_t i = begin_; i < end_; ++i) {
    const char* value = nullptr;
    uint32_t extent = 0;
    uint32_t offset = 0;
    uint32_t size = run.fixed_value_size();
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
  for (uint32_t e = 0; e < file->values.size(); ++e) {
    bases_[e] = file->bases[e].load(std::memory_order_acquire);
    if (bases_[e] != nullptr || pieces[e].end == 0) continue;
    Result<const char*> at = plan(*file->values[e].get(), pieces[e]);
    if (!at.ok()) return at.status();
    bases_[e] = origin(*at, pieces[e].begin);
  }
  return read(file);
}

// Takes memory for the blocks around a piece, with a block of room before and behind them: keys are
// compared and copied in words. Where the piece will begin. What frames hold of it is there at
// once; the rest is read by read.
Result<const char*> CursorWindow::plan(Extent& extent, const Piece& piece) {
  auto first = static_cast<uint32_t>(piece.begin / kBlock);
  auto blocks = static_cast<uint32_t>((piece.end + kBlock - 1) / kBlock) - first;
  Buffer buffer;
  buffer.bytes = (size_t{blocks} + 2) * kBlock;
  buffer.memory = residency_->allocate_for_read(os::Quota::kMerge, buffer.bytes);
  if (buffer.memory == nullptr) {
    return Status(StatusCode::kOutOfMemory,
                  "no memory to read " + std::to_string(buffer.bytes) + " bytes for a cursor");
  }
  buffers_[buffers_used_++] = buffer;
  char* to = buffer.memory + kBlock;
  const char* begin = to + piece.begin % kBlock;
  if (blocks <= Residency::kFramesPerRead) {
    const FrameCache& frames = residency_->frames();
    os::epoch::Guard guard;
    for (; blocks > 0; ++first, --blocks, to += kBlock) {
      const char* bytes = frames.find(extent, first);
      if (bytes == nullptr) break;
      std::memcpy(to, bytes, kBlock);
    }
  }
  if (blocks > 0) planned_.push_back({&extent, first, blocks, to});
  return begin;
}

// What was planned, all of it at once. Short pieces go to frames, too.
Status CursorWindow::read(RunFile* file) {
  Status status = residency_->read_pieces(file, planned_);
  for (const PieceRead& piece : planned_) {
    if (!status.ok()) break;
    residency_->keep_in_frames(const_cast<Extent&>(*piece.extent), piece.first_block, piece.blocks,
                               piece.to);
  }
  planned_.clear();
  return status;
}

}  // namespace hawthorn::tree
