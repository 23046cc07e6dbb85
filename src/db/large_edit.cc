#include "db/large_edit.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "base/assert.h"

namespace hawthorn::db {

namespace {
constexpr uint64_t kExtentBytes = format::kLargeExtentBytesMax;
// Fewer zeros beside something that is written are written, too.
constexpr uint64_t kHoleBytesMin = format::kLargeSumBytes;
constexpr size_t kAlike = 4;  // pieces of one size that become one

// Pieces of about one size: within a factor of four.
int level(uint64_t bytes) { return std::bit_width(bytes) / 2; }
}  // namespace

LargeEdit::LargeEdit(tree::Store* store, Scheduler* scheduler, std::string_view bytes)
    : store_(store), scheduler_(scheduler), share_(false), size_(bytes.size()) {
  if (bytes.empty()) return;
  parts_.push_back(
      {.from = Part::From::kBytes, .written = true, .size = bytes.size(), .bytes = bytes.data()});
}

LargeEdit::LargeEdit(tree::Store* store, Scheduler* scheduler, const format::LargeValue& base,
                     bool share)
    : store_(store),
      scheduler_(scheduler),
      base_(base),
      share_(share && base.in_pieces()),
      size_(base.size) {
  if (!share_) {
    parts_.push_back({.from = Part::From::kBase, .written = true, .size = base.size});
    return;
  }
  uint64_t at = 0;
  for (const format::LargePiece& piece : base.pieces) {
    parts_.push_back({.from = piece.hole() ? Part::From::kZeros : Part::From::kBase,
                      .size = piece.size,
                      .at = at,
                      .extent = piece.extent,
                      .offset = piece.offset});
    at += piece.size;
  }
}

// The number of the part that begins at `offset`, which the value has or ends at.
size_t LargeEdit::cut(uint64_t offset) {
  size_t number = 0;
  for (; offset > 0; ++number) {
    HAWTHORN_ASSERT(number < parts_.size());
    const uint64_t size = parts_[number].size;
    if (offset < size) break;
    offset -= size;
  }
  if (offset == 0) return number;
  Part rest = parts_[number];
  rest.size -= offset;
  rest.at += offset;
  if (rest.from == Part::From::kBase) rest.offset += static_cast<uint32_t>(offset);
  if (rest.bytes != nullptr) rest.bytes += offset;
  parts_[number].size = offset;
  parts_.insert(parts_.begin() + static_cast<ptrdiff_t>(number) + 1, rest);
  return number + 1;
}

void LargeEdit::resize(uint64_t size) {
  if (size < size_) {
    parts_.resize(cut(size));
  } else if (size > size_) {
    parts_.push_back({.from = Part::From::kZeros, .size = size - size_});
  }
  size_ = size;
}

void LargeEdit::put(uint64_t offset, Part part) {
  if (offset > size_) resize(offset);
  const uint64_t end = offset + part.size;
  const size_t first = cut(offset);
  const size_t last = cut(std::min(end, size_));
  const auto at = parts_.erase(parts_.begin() + static_cast<ptrdiff_t>(first),
                               parts_.begin() + static_cast<ptrdiff_t>(last));
  parts_.insert(at, part);
  size_ = std::max(size_, end);
}

void LargeEdit::write(uint64_t offset, std::string_view bytes) {
  if (bytes.empty()) return;
  put(offset,
      {.from = Part::From::kBytes, .written = true, .size = bytes.size(), .bytes = bytes.data()});
}

void LargeEdit::write(uint64_t offset, uint64_t size, const StreamSource& source) {
  if (size == 0) return;
  source_ = &source;
  put(offset, {.from = Part::From::kSource, .written = true, .size = size});
}

// ---- What is written beside what must be

void LargeEdit::take_small_zeros() {
  const auto small = [](const Part& part) {
    return part.from == Part::From::kZeros && part.size < kHoleBytesMin;
  };
  for (size_t i = 0; i < parts_.size(); ++i) {
    const bool beside =
        (i > 0 && parts_[i - 1].written) || (i + 1 < parts_.size() && parts_[i + 1].written);
    if (small(parts_[i]) && beside) parts_[i].written = true;
  }
}

// The parts [*begin, *end) are written: as long as enough beside them are no larger than they are
// together, those are, too.
void LargeEdit::take_run(size_t* begin, size_t* end, bool left) {
  uint64_t sum = 0;
  for (size_t i = *begin; i < *end; ++i) sum += parts_[i].size;
  for (;;) {
    size_t count = 0;
    uint64_t taken = 0;
    for (;; ++count) {
      const size_t before = left ? *begin : parts_.size() - *end;
      if (count == before) break;
      const Part& next = parts_[left ? *begin - count - 1 : *end + count];
      if (!next.stays() || level(next.size) > level(sum) ||
          sum + taken + next.size > kExtentBytes) {
        break;
      }
      taken += next.size;
    }
    if (count + 1 < kAlike) return;
    for (size_t i = 0; i < count; ++i) parts_[left ? *begin - i - 1 : *end + i].written = true;
    (left ? *begin : *end) += left ? -count : count;
    sum += taken;
  }
}

void LargeEdit::take_neighbours() {
  for (size_t begin = 0; begin < parts_.size();) {
    if (!parts_[begin].written) {
      ++begin;
      continue;
    }
    size_t end = begin + 1;
    while (end < parts_.size() && parts_[end].written) ++end;
    size_t first = begin;
    take_run(&first, &end, true);
    take_run(&first, &end, false);
    begin = end;
  }
}

void LargeEdit::take_sparse_extents() {
  std::vector<uint64_t> used(base_.extents.size());
  for (const Part& part : parts_) {
    if (part.stays()) used[part.extent] += part.size;
  }
  for (Part& part : parts_) {
    if (part.stays() && used[part.extent] * 2 < base_.contents[part.extent].bytes) {
      part.written = true;
    }
  }
}

// At most, since what is written may be cut where an extent is full.
size_t LargeEdit::count_pieces() const {
  size_t pieces = 0;
  uint64_t run = 0;
  for (const Part& part : parts_) {
    if (!part.written) {
      ++pieces;
      run = 0;
      continue;
    }
    if (run == 0) ++pieces;
    pieces += static_cast<size_t>((run + part.size) / kExtentBytes - run / kExtentBytes);
    run += part.size;
  }
  return pieces;
}

void LargeEdit::take_until_few() {
  while (count_pieces() > kPiecesMax) {
    const auto cost = [this](size_t i) {
      const Part& one = parts_[i];
      const Part& two = parts_[i + 1];
      if (one.written && two.written) return UINT64_MAX;
      return (one.written ? 0 : one.size) + (two.written ? 0 : two.size);
    };
    size_t best = 0;
    for (size_t i = 1; i + 1 < parts_.size(); ++i) {
      if (cost(i) < cost(best)) best = i;
    }
    if (parts_.size() < 2 || cost(best) == UINT64_MAX) return;
    parts_[best].written = true;
    parts_[best + 1].written = true;
  }
}

// ---- Reading and writing

Status LargeEdit::read_base(uint64_t at, std::span<char> to) {
  if (!reader_) {
    reader_.emplace(store_->residency, base_, at, to.size(), to.data());
  } else {
    reader_->go_on(at, to.size(), to.data());
  }
  return reader_->run();
}

// Of a whole one, which has one checksum for all of it.
Status LargeEdit::verify_base() {
  if (base_.in_pieces() || base_.extents.empty()) return {};
  std::string chunk(format::kLargeChunkBytes, '\0');
  uint64_t checksum = 0;
  for (uint64_t at = 0; at < base_.size; at += chunk.size()) {
    const auto size = static_cast<size_t>(std::min<uint64_t>(chunk.size(), base_.size - at));
    if (Status s = read_base(at, {chunk.data(), size}); !s.ok()) return s;
    checksum = format::extend_large_checksum(checksum, {chunk.data(), size});
  }
  if (checksum == base_.checksum) return {};
  return Status(StatusCode::kCorruption, "a large value does not match its checksum");
}

Status LargeEdit::fill(const Part& part, LargeWriter* writer) {
  uint64_t done = 0;
  const auto next = [&](std::span<char> to) -> Result<size_t> {
    switch (part.from) {
      case Part::From::kZeros:
        std::memset(to.data(), 0, to.size());
        break;
      case Part::From::kBytes:
        std::memcpy(to.data(), part.bytes + done, to.size());
        break;
      case Part::From::kBase:
        if (Status s = read_base(part.at + done, to); !s.ok()) return s;
        break;
      case Part::From::kSource:
        return (*source_)(to);
    }
    done += to.size();
    return to.size();
  };
  return writer->take(next, part.size);
}

Result<std::string> LargeEdit::bytes() {
  if (Status s = verify_base(); !s.ok()) return s;
  std::string all(size_, '\0');
  size_t filled = 0;
  for (const Part& part : parts_) {
    const std::span<char> to(all.data() + filled, part.size);
    filled += part.size;
    switch (part.from) {
      case Part::From::kZeros:
        break;
      case Part::From::kBytes:
        std::memcpy(to.data(), part.bytes, to.size());
        break;
      case Part::From::kBase:
        if (Status s = read_base(part.at, to); !s.ok()) return s;
        break;
      case Part::From::kSource:
        if (Status s = fill_from(*source_, to); !s.ok()) return s;
        break;
    }
  }
  return all;
}

format::LargeValue LargeEdit::describe(const LargeWriter& writer) const {
  format::LargeValue value;
  value.size = size_;
  value.sealed = store_->machine->keys != nullptr;
  value.extents = writer.extents();
  value.contents = writer.contents();
  std::vector<uint32_t> kept(base_.extents.size(), format::LargePiece::kHole);
  uint32_t extent = 0;
  uint32_t offset = 0;
  const auto add = [&value](const format::LargePiece& piece) {
    if (!value.pieces.empty()) {
      format::LargePiece& last = value.pieces.back();
      const bool follows =
          last.extent == piece.extent && (piece.hole() || last.offset + last.size == piece.offset);
      if (follows) {
        last.size += piece.size;
        return;
      }
    }
    value.pieces.push_back(piece);
  };
  for (const Part& part : parts_) {
    for (uint64_t left = part.written ? part.size : 0; left > 0;) {
      const uint64_t some = std::min<uint64_t>(left, value.contents[extent].bytes - offset);
      add({extent, offset, some});
      offset += static_cast<uint32_t>(some);
      left -= some;
      if (offset < value.contents[extent].bytes) continue;
      ++extent;
      offset = 0;
    }
    if (part.written) continue;
    if (part.from == Part::From::kZeros) {
      add({.size = part.size});
      continue;
    }
    uint32_t& number = kept[part.extent];
    if (number == format::LargePiece::kHole) {
      number = static_cast<uint32_t>(value.extents.size());
      value.extents.push_back(base_.extents[part.extent]);
      value.contents.push_back(base_.contents[part.extent]);
      value.contents.back().fresh = false;
    }
    add({number, part.offset, part.size});
  }
  return value;
}

Result<std::string> LargeEdit::finish() {
  if (Status s = verify_base(); !s.ok()) return s;
  take_small_zeros();
  take_neighbours();
  take_sparse_extents();
  take_until_few();
  uint64_t total = 0;
  for (const Part& part : parts_) total += part.written ? part.size : 0;
  LargeWriter writer(store_, scheduler_);
  Status status = total > 0 ? writer.begin(total) : need_large_pieces(store_, scheduler_);
  for (size_t i = 0; i < parts_.size() && status.ok(); ++i) {
    if (parts_[i].written) status = fill(parts_[i], &writer);
  }
  if (status.ok() && total > 0) status = writer.finish(true);
  if (!status.ok()) return status;
  std::string encoded;
  format::append_large_value(encoded, describe(writer));
  writer.keep();
  return encoded;
}

}  // namespace hawthorn::db
