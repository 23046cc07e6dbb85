#include "tree/block_read.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "os/file.h"

namespace hawthorn::tree {

namespace {
constexpr size_t kSlack = 16;
}  // namespace

// ---- BlockRead

Result<BlockRead> BlockRead::begin(Residency& residency, RunFile* file, const BlockRange& range) {
  BlockRead read;
  read.residency_ = &residency;
  read.file_ = PinnedRunFile(file);
  read.extent_ = const_cast<Extent*>(range.extent);
  const Result<StoredBlocks> stored =
      residency.find_stored(file, *range.extent, range.first_block(), range.blocks());
  if (!stored.ok()) return stored.status();
  read.stored_ = *stored;
  const bool last = !range.groups || file->record.wide;  // nothing is read after it
  if (read.buffer_bytes() == os::kBlockBytes && last) read.frame_ = residency.take_frame();
  if (read.frame_ != FrameCache::kNone) {
    read.memory_ = residency.frames().memory(read.frame_);
  } else {
    read.memory_ = residency.allocate_for_read(os::Quota::kMerge, read.buffer_bytes());
  }
  if (read.memory_ == nullptr) {
    return Status(StatusCode::kOutOfMemory,
                  "no memory to read " + std::to_string(range.size) + " bytes");
  }
  return read;
}

BlockRead::BlockRead(BlockRead&& other) noexcept
    : residency_(other.residency_),
      file_(std::move(other.file_)),
      extent_(other.extent_),
      stored_(other.stored_),
      frame_(std::exchange(other.frame_, FrameCache::kNone)),
      memory_(std::exchange(other.memory_, nullptr)) {}

BlockRead& BlockRead::operator=(BlockRead&& other) noexcept {
  if (this == &other) return *this;
  release();
  residency_ = other.residency_;
  file_ = std::move(other.file_);
  extent_ = other.extent_;
  stored_ = other.stored_;
  frame_ = std::exchange(other.frame_, FrameCache::kNone);
  memory_ = std::exchange(other.memory_, nullptr);
  return *this;
}

BlockRead::~BlockRead() { release(); }

void BlockRead::release() {
  if (frame_ != FrameCache::kNone) {
    residency_->frames().give_back(frame_);
  } else if (memory_ != nullptr) {
    residency_->release(os::Quota::kMerge, memory_, buffer_bytes());
  }
  frame_ = FrameCache::kNone;
  memory_ = nullptr;
}

os::File* BlockRead::disk() const { return residency_->space()->file(extent_->address.file); }

uint64_t BlockRead::disk_offset() const {
  return (uint64_t{extent_->address.block} + stored_.disk_first) * os::kBlockBytes;
}

Status BlockRead::confirm() {
  Status status = residency_->confirm_blocks(file_.get(), *extent_, stored_, memory_, content());
  if (!status.ok() || frame_ != FrameCache::kNone) return status;
  // Not inside a guard, which would keep frames from being free.
  residency_->keep_in_frames(*extent_, stored_.first, stored_.blocks, content());
  return {};
}

// ---- ColdBlocks

void ColdBlocks::add(BlockRead read) {
  if (read.frame_ != FrameCache::kNone) {
    residency_.frames().publish(*read.extent_, read.stored_.first,
                                std::exchange(read.frame_, FrameCache::kNone));
    read.memory_ = nullptr;
    return;
  }
  kept_.push_back(std::move(read));
}

const char* ColdBlocks::block(const Extent& extent, uint32_t number) {
  for (const BlockRead& read : kept_) {
    if (read.extent_ == &extent && number >= read.stored_.first &&
        number - read.stored_.first < read.stored_.blocks) {
      return read.content() + size_t{number - read.stored_.first} * os::kBlockBytes;
    }
  }
  const char* bytes = residency_.frames().find(extent, number);
  if (bytes != nullptr && number >= extent.settles_from() && residency_.frames().ripe(extent)) {
    ripe_ = const_cast<Extent*>(&extent);
  }
  return bytes;
}

bool ColdBlocks::copy(const Extent& extent, uint32_t number, size_t in_block, size_t size,
                      char* to) {
  while (size > 0) {
    const char* from = block(extent, number++);
    if (from == nullptr) return false;
    const size_t here = std::min(os::kBlockBytes - in_block, size);
    std::memcpy(to, from + in_block, here);
    to += here;
    size -= here;
    in_block = 0;
  }
  return true;
}

BlockRange ColdBlocks::missing(const BlockRange& range) {
  if (!range.groups) return range;
  return without_ends(range,
                      [&](uint32_t number) { return block(*range.extent, number) != nullptr; });
}

const char* ColdBlocks::bytes(const BlockRange& range) {
  const Extent& extent = *range.extent;
  const uint32_t number = range.first_block();
  const size_t in_block = range.offset % os::kBlockBytes;
  if (range.blocks() == 1 && (range.groups || !extent.is_index)) {
    const char* only = block(extent, number);
    return only == nullptr ? nullptr : only + in_block;
  }
  if (range.groups) {
    const size_t before = range.offset % sizeof(Line);
    group_lines_.resize((before + range.size) / sizeof(Line) + 1);
    char* to = group_lines_.front().bytes + before;
    return copy(extent, number, in_block, range.size, to) ? to : nullptr;
  }
  std::string& to = extent.is_index ? heap_bytes_ : value_bytes_;
  if (to.size() < range.size + 2 * kSlack) to.resize(range.size + 2 * kSlack);
  return copy(extent, number, in_block, range.size, to.data() + kSlack) ? to.data() + kSlack
                                                                        : nullptr;
}

}  // namespace hawthorn::tree
