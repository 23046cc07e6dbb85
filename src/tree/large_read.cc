#include "tree/large_read.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/bytes.h"
#include "tree/residency.h"

namespace hawthorn::tree {

namespace {
constexpr size_t kBlock = os::kBlockBytes;
}  // namespace

Status too_large_to_read(uint64_t size) {
  return Status(StatusCode::kNotSupported,
                "a value of " + std::to_string(size) +
                    " bytes is too large to be read as a whole: read it by parts");
}

LargeRead::LargeRead(Residency* residency, format::LargeValue value, char* to)
    : residency_(residency), value_(std::move(value)), to_(to) {}

LargeRead::~LargeRead() {
  if (buffer_ != nullptr) residency_->release(os::Quota::kMerge, buffer_, buffer_bytes_);
}

Status LargeRead::begin() {
  // Not straight to where it belongs: that is not aligned for direct I/O.
  buffer_bytes_ = std::clamp<size_t>(align_up(value_.size, kBlock), kBlock, kPieceBytes);
  buffer_ = residency_->allocate_for_read(os::Quota::kMerge, buffer_bytes_);
  if (buffer_ == nullptr) {
    buffer_bytes_ = 0;
    return Status(StatusCode::kOutOfMemory, "no memory to read a large value");
  }
  next();
  return status_;
}

// Finds the next piece.
void LargeRead::next() {
  while (extent_ < value_.extents.size() &&
         offset_ == uint64_t{value_.extents[extent_].blocks} * kBlock) {
    ++extent_;
    offset_ = 0;
  }
  if (there_ == value_.size || extent_ == value_.extents.size()) {
    done_ = true;
    if (there_ != value_.size || checksum_ != value_.checksum) {
      status_ = Status(StatusCode::kCorruption, "a large value does not match its checksum");
    }
    return;
  }
  const format::ExtentAddress& extent = value_.extents[extent_];
  piece_ = static_cast<size_t>(std::min<uint64_t>(
      {value_.size - there_, uint64_t{extent.blocks} * kBlock - offset_, buffer_bytes_}));
  if (residency_->space()->file(extent.file) == nullptr) {
    done_ = true;
    status_ =
        Status(StatusCode::kCorruption, "data." + std::to_string(extent.file) + " is missing");
  }
}

os::IoRead LargeRead::request() const {
  const format::ExtentAddress& extent = value_.extents[extent_];
  return {residency_->space()->file(extent.file), uint64_t{extent.block} * kBlock + offset_,
          buffer_, align_up(piece_, kBlock), nullptr};
}

void LargeRead::arrived(Status status) {
  if (!status.ok()) {
    done_ = true;
    status_ = std::move(status);
    return;
  }
  residency_->count_read(align_up(piece_, kBlock));
  std::memcpy(to_ + there_, buffer_, piece_);
  there_ += piece_;
  offset_ += piece_;
  add_to_checksum();
  next();
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
  if (Status s = read.begin(); !s.ok()) return s;
  while (!read.done()) {
    const os::IoRead request = read.request();
    read.arrived(request.file->read_at(request.offset, {request.data, request.size}));
  }
  return read.status();
}

}  // namespace hawthorn::tree
