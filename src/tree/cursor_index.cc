#include "tree/cursor_index.h"

#include <algorithm>

#include "base/bytes.h"
#include "os/file.h"

namespace hawthorn::tree {

using format::kGroupEntries;

bool CursorIndex::begin(RunFile* file) {
  const Run* outline = file->outline.load(std::memory_order_acquire);
  if (outline == nullptr || outline->wide()) return false;
  file_ = file;
  outline_ = outline;
  loads_ = 0;
  return true;
}

void CursorIndex::reset() {
  blocks_.reset();
  run_.reset();
  groups_ = {0, 0};
  entries_ = {0, 0};
  outline_ = nullptr;
  file_ = nullptr;
  bytes_ = 0;
}

namespace {
// Itself, or the next entry in the direction of travel.
Run::Range some_of(Run::Range range, bool forward) {
  if (!range.empty()) return range;
  return forward ? Run::Range{range.begin, range.begin + 1} : Run::Range{range.end - 1, range.end};
}
bool contains(Run::Range all, Run::Range range) {
  return all.begin <= range.begin && range.end <= all.end;
}
}  // namespace

// The groups of the index blocks that have these entries.
Run::Range CursorIndex::blocks_of(Run::Range entries) const {
  return {outline_->block_begin(entries.begin / kGroupEntries),
          outline_->block_end((entries.end - 1) / kGroupEntries)};
}

Result<CursorIndex::Load> CursorIndex::load_heads(Run::Range range, bool forward) {
  const Run::Range groups = blocks_of(some_of(range, forward));
  return contains(groups_, groups) ? Result<Load>(Load::kThere) : read(groups);
}

Result<CursorIndex::Load> CursorIndex::load(Run::Range range, bool forward) {
  range = some_of(range, forward);
  if (contains(entries_, range)) return Load::kThere;
  Run::Range groups = blocks_of(range);
  if (contains(groups_, groups)) groups.end = outline_->block_end(groups_.end);
  for (;;) {
    Result<Load> loaded = read(groups);
    if (!loaded.ok() || *loaded == Load::kTooMuch || contains(entries_, range)) return loaded;
    if (entries_.begin > range.begin) {
      groups.begin = outline_->block_begin(groups.begin - 1);
    } else {
      groups.end = outline_->block_end(groups.end);
    }
  }
}

// What is loaded may begin, and end, with some of the versions of a key: then that key is left out.
void CursorIndex::keep_whole_keys() {
  const uint32_t first = groups_.begin * kGroupEntries;
  const uint32_t end = std::min(groups_.end * kGroupEntries, outline_->entries());
  if (first != 0) {
    ++entries_.begin;
    while (entries_.begin < end && !run_->between_keys(entries_.begin)) ++entries_.begin;
  }
  if (entries_.end == end && end != outline_->entries()) --entries_.end;
  while (entries_.end > entries_.begin && !run_->between_keys(entries_.end)) --entries_.end;
  entries_.end = std::max(entries_.end, entries_.begin);
}

Result<CursorIndex::Load> CursorIndex::read(Run::Range groups) {
  const Run::Bytes place = outline_->bytes_of_groups(groups);
  const size_t bytes = align_up(size_t{place.end} - place.begin, os::kBlockBytes);
  if (++loads_ > kLoadsMax || bytes > kBytesMax) return Load::kTooMuch;
  groups_ = groups;
  entries_ = {groups.begin * kGroupEntries,
              std::min(groups.end * kGroupEntries, outline_->entries())};
  Status status = blocks_.begin(file_, *outline_, false, entries_, Need::kMust, {});
  if (status.ok() && !blocks_.complete()) {
    if (residency_->wants_front(file_)) return Load::kTooMuch;
    bytes_ += bytes;
    status = blocks_.finish();
  }
  if (!status.ok()) return status;
  run_.emplace(blocks_.over(*outline_));
  if (bytes > os::kBlockBytes) {
    if (Status s = run_->check_heap_order(groups); !s.ok()) return s;
  }
  // Where the last record ends is told behind it.
  for (uint32_t i = entries_.end; groups.end < outline_->group_count() && i > entries_.begin; --i) {
    if (format::location_tag(run_->location(i - 1)) < format::kTagPlainInline) continue;
    entries_.end = i - 1;
    break;
  }
  if (run_->has_versions()) keep_whole_keys();
  return Load::kLoaded;
}

}  // namespace hawthorn::tree
