#include "tree/large_read.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/bytes.h"
#include "os/file.h"
#include "tree/residency.h"
#include "tree/sealed_blocks.h"

namespace hawthorn::tree {

using format::kLargeSumBytes;

namespace {
constexpr size_t kBufferBytesMin = 2 * kLargeSumBytes;  // a table has up to 12 KB
}  // namespace

Status too_large_to_read(uint64_t size) {
  return Status(StatusCode::kNotSupported,
                "a value of " + std::to_string(size) +
                    " bytes is too large to be read as a whole: read it by parts");
}

LargeRead::LargeRead(Residency* residency, format::LargeValue value, char* to)
    : residency_(residency), value_(std::move(value)), from_(0), size_(value_.size), to_(to) {}

LargeRead::LargeRead(Residency* residency, format::LargeValue value, uint64_t from, size_t size,
                     char* to)
    : residency_(residency), value_(std::move(value)), from_(from), size_(size), to_(to) {}

LargeRead::~LargeRead() {
  if (buffer_ != nullptr) residency_->release(os::Quota::kMerge, buffer_, buffer_bytes_);
}

Status LargeRead::begin() {
  // Not straight to where it belongs: that is not aligned for direct I/O.
  const size_t wanted =
      std::clamp<size_t>(align_up(size_, kLargeSumBytes), kBufferBytesMin, kPieceBytes);
  if (wanted > buffer_bytes_) {
    if (buffer_ != nullptr) residency_->release(os::Quota::kMerge, buffer_, buffer_bytes_);
    buffer_bytes_ = wanted;
    buffer_ = residency_->allocate_for_read(os::Quota::kMerge, buffer_bytes_);
  }
  if (buffer_ == nullptr) {
    buffer_bytes_ = 0;
    return Status(StatusCode::kOutOfMemory, "no memory to read a large value");
  }
  if (value_.sealed != (residency_->machine().keys != nullptr)) {
    damaged();
    return status_;
  }
  next();
  return status_;
}

void LargeRead::go_on(uint64_t from, size_t size, char* to) {
  if (from < start_) {
    place_ = 0;
    start_ = 0;
  }
  from_ = from;
  size_ = size;
  to_ = to;
  there_ = 0;
  summed_ = 0;
  checksum_ = 0;
  done_ = false;
  if (making_sums_) summed_extent_ = kNone;
}

Status LargeRead::run() {
  if (Status s = begin(); !s.ok()) return s;
  while (!done_) {
    arrived(residency_->disk().read(request()));
  }
  return status_;
}

void LargeRead::damaged() {
  done_ = true;
  std::string where;
  if (extent_ < value_.extents.size()) {
    // Of a whole one it is not known which extent it is.
    const uint64_t at = value_.in_pieces() ? asked_at_ : 0;
    const format::ExtentAddress& extent = value_.extents[value_.in_pieces() ? extent_ : 0];
    where = Residency::place(residency_->space()->file(extent.file),
                             uint64_t{extent.block} * os::kBlockBytes + at) +
            ": ";
  }
  status_ = Status(StatusCode::kCorruption,
                   where + (value_.sealed ? "the seal of a large value is broken"
                                          : "a large value does not match its checksum"));
}

// Goes to the piece, or extent, in which the next byte lies. False: it has none.
bool LargeRead::find_place() {
  const uint64_t at = from_ + there_;
  const auto bytes = [this] {
    return value_.in_pieces() ? value_.pieces[place_].size
                              : uint64_t{value_.extents[place_].blocks} * os::kBlockBytes;
  };
  const size_t places = value_.in_pieces() ? value_.pieces.size() : value_.extents.size();
  while (place_ < places && at - start_ >= bytes()) {
    start_ += bytes();
    ++place_;
  }
  return place_ < places;
}

// Finds what has to be read next.
void LargeRead::next() {
  while (there_ < size_ && find_place() && value_.in_pieces() && value_.pieces[place_].hole()) {
    const uint64_t left = start_ + value_.pieces[place_].size - from_ - there_;
    const auto zeros = static_cast<size_t>(std::min<uint64_t>(left, size_ - there_));
    std::memset(to_ + there_, 0, zeros);
    there_ += zeros;
  }
  if (there_ < size_ && !find_place()) return damaged();
  if (there_ == size_) {
    done_ = true;
    const bool all = !value_.in_pieces() && from_ == 0 && size_ == value_.size;
    if (all && checksum_ != value_.checksum) damaged();
    return;
  }
  if (value_.in_pieces()) {
    next_piece();
  } else {
    next_whole();
  }
  const format::ExtentAddress& extent = value_.extents[extent_];
  if (residency_->space()->file(extent.file) == nullptr) {
    done_ = true;
    status_ =
        Status(StatusCode::kCorruption, "data." + std::to_string(extent.file) + " is missing");
  }
}

// In whole blocks, as far as the buffer goes.
void LargeRead::ask_for(uint32_t extent, uint64_t at, size_t size) {
  extent_ = extent;
  asked_at_ = at;
  asked_bytes_ = std::min(align_up(size, os::kBlockBytes), buffer_bytes_);
}

void LargeRead::next_whole() {
  const uint64_t at = from_ + there_ - start_;
  const uint64_t bytes = uint64_t{value_.extents[place_].blocks} * os::kBlockBytes;
  const uint64_t begin = at / os::kBlockBytes * os::kBlockBytes;
  const uint64_t end = std::min<uint64_t>(bytes, at + size_ - there_);
  ask_for(static_cast<uint32_t>(place_), begin, static_cast<size_t>(end - begin));
  used_ = static_cast<size_t>(std::min<uint64_t>(end, begin + asked_bytes_) - at);
}

void LargeRead::next_piece() {
  const format::LargePiece& piece = value_.pieces[place_];
  const format::LargeContent& content = value_.contents[piece.extent];
  const uint64_t before = from_ + there_ - start_;
  const uint64_t at = piece.offset + before;
  const uint64_t end = at + std::min<uint64_t>(piece.size - before, size_ - there_);
  if (content.has_table() && summed_extent_ != piece.extent) {
    summed_extent_ = piece.extent;
    sums_.clear();
    making_sums_ = at == 0 && end == content.bytes && !content.sealed;
    table_ = !making_sums_;
    if (table_) {
      const uint64_t begin = content.table_at() / os::kBlockBytes * os::kBlockBytes;
      return ask_for(piece.extent, begin,
                     static_cast<size_t>(content.table_at() + content.table_bytes() - begin));
    }
  }
  // Whole chunks, for their sums.
  const uint64_t begin = at / kLargeSumBytes * kLargeSumBytes;
  const uint64_t last = std::min<uint64_t>(content.bytes, align_up(end, kLargeSumBytes));
  ask_for(piece.extent, begin, static_cast<size_t>(last - begin));
  used_ = static_cast<size_t>(std::min<uint64_t>(end, begin + asked_bytes_) - at);
}

os::IoRead LargeRead::request() const {
  const format::ExtentAddress& extent = value_.extents[extent_];
  return {residency_->space()->file(extent.file),
          uint64_t{extent.block} * os::kBlockBytes + asked_at_, buffer_, asked_bytes_, nullptr};
}

void LargeRead::arrived(Status status) {
  if (!status.ok()) {
    done_ = true;
    status_ = std::move(status);
    return;
  }
  residency_->count_read(asked_bytes_);
  if (!value_.in_pieces()) {
    take_whole();
  } else if (!(table_ ? take_table() : take_piece())) {
    return damaged();
  }
  next();
}

void LargeRead::take_whole() {
  const uint64_t at = from_ + there_ - start_;
  std::memcpy(to_ + there_, buffer_ + (at - asked_at_), used_);
  there_ += used_;
  if (from_ == 0 && size_ == value_.size) add_to_checksum();
}

bool LargeRead::take_table() {
  table_ = false;
  const format::LargeContent& content = value_.contents[extent_];
  const std::string_view table(buffer_ + (content.table_at() - asked_at_), content.table_bytes());
  if (content.sealed) seal_ = load_seal(table.data());
  if ((content.sealed ? base_of(seal_) : format::large_sum(table)) != content.checksum) {
    summed_extent_ = kNone;
    return false;
  }
  const std::string_view sums = table.substr(content.sealed ? format::kLargeSealBytes : 0);
  sums_.resize(sums.size() / sizeof(uint64_t));
  std::memcpy(sums_.data(), sums.data(), sums.size());
  return true;
}

bool LargeRead::open_chunk(size_t number, char* chunk, size_t bytes) {
  Result<os::DataKeys::Lease> aead = residency_->machine().keys->lease(seal_);
  if (!aead.ok()) return false;
  const auto* tag = reinterpret_cast<const char*>(&sums_[number * 2]);
  return (*aead)->open(make_nonce(base_of(seal_), static_cast<uint32_t>(number)), {},
                       {chunk, bytes}, tag, chunk);
}

bool LargeRead::take_piece() {
  const format::LargePiece& piece = value_.pieces[place_];
  const format::LargeContent& content = value_.contents[extent_];
  const auto bytes =
      static_cast<size_t>(std::min<uint64_t>(asked_bytes_, content.bytes - asked_at_));
  for (size_t at = 0; at < bytes; at += kLargeSumBytes) {
    const std::string_view chunk(buffer_ + at, std::min(kLargeSumBytes, bytes - at));
    if (content.sealed) {
      if (!open_chunk((asked_at_ + at) / kLargeSumBytes, buffer_ + at, chunk.size())) return false;
      continue;
    }
    const uint64_t sum = format::large_sum(chunk);
    const size_t number = (asked_at_ + at) / kLargeSumBytes;
    if (!content.has_table()) {
      if (sum != content.checksum) return false;
    } else if (making_sums_) {
      sums_.push_back(sum);
    } else if (sum != sums_[number]) {
      return false;
    }
  }
  const uint64_t from = piece.offset + (from_ + there_ - start_);
  std::memcpy(to_ + there_, buffer_ + (from - asked_at_), used_);
  there_ += used_;
  if (content.sealed || !content.has_table() || !making_sums_ || sums_.size() < content.sums())
    return true;
  making_sums_ = false;
  const std::string_view table(reinterpret_cast<const char*>(sums_.data()), sums_.size() * 8);
  return format::large_sum(table) == content.checksum;
}

// It is built in chunks of the whole value, wherever pieces end.
void LargeRead::add_to_checksum() {
  while (summed_ < there_) {
    const size_t size = std::min<size_t>(value_.size - summed_, format::kLargeChunkBytes);
    if (there_ - summed_ < size) return;
    checksum_ = format::extend_large_checksum(checksum_, {to_ + summed_, size});
    summed_ += size;
  }
}

Status read_large_value(Residency& residency, const format::LargeValue& value, char* to) {
  LargeRead read(&residency, value, to);
  return read.run();
}

}  // namespace hawthorn::tree
