#include "tree/image_packer.h"

#include <cstring>
#include <utility>

#include "base/assert.h"

namespace hawthorn::tree {

namespace {
constexpr size_t kBlock = 4096;
// The header area may grow by the ends of the chunks.
constexpr uint32_t kMoreFrontBlocks = 2;

// Keeps blocks [first, first + kept) of memory of `blocks`.
char* keep_part(Residency& residency, char* memory, uint32_t blocks, uint32_t first,
                uint32_t kept) {
  os::Arena& arena = *residency.arena();
  const auto cut = [&arena](char* from, size_t count, size_t at) {
    arena.split(os::Quota::kMerge, from, count * kBlock, at * kBlock, os::Quota::kMerge);
    return from + at * kBlock;
  };
  if (first != 0) {
    char* rest = cut(memory, blocks, first);
    residency.release(os::Quota::kMerge, memory, first * kBlock);
    memory = rest;
    blocks -= first;
  }
  if (kept < blocks) {
    char* rest = cut(memory, blocks, kept);
    residency.release(os::Quota::kMerge, rest, (blocks - kept) * kBlock);
  }
  return memory;
}
}  // namespace

StoredCopy ImagePacker::values(const Compression::Plan& plan, const char* content,
                               uint32_t blocks) {
  values_packing_ = {};
  if (plan.codec == format::Codec::kNone || blocks < 2) return {};
  char* memory = residency()->allocate_for_read(os::Quota::kMerge, blocks * kBlock);
  if (memory == nullptr) return {};
  if (!packer_.pack(content, blocks, plan.codec, plan.dictionary, memory)) {
    residency()->release(os::Quota::kMerge, memory, blocks * kBlock);
    return {};
  }
  values_packing_ = packer_.packing();
  values_ends_.assign(values_packing_.ends.begin(), values_packing_.ends.end());
  values_packing_.ends = values_ends_;
  const uint32_t stored = packer_.stored_blocks();
  return {keep_part(*residency(), memory, blocks, 0, stored), stored};
}

ImagePacker::Image::Image(Image&& other) noexcept
    : residency_(other.residency_),
      memory_(std::exchange(other.memory_, nullptr)),
      front_room_(other.front_room_),
      blocks_(other.blocks_),
      heap_(other.heap_) {}

ImagePacker::Image::~Image() {
  if (memory_ != nullptr) {
    residency_->release(os::Quota::kMerge, memory_, blocks_ * kBlock);
  }
}

StoredCopy ImagePacker::Image::finish(const char* image, size_t image_bytes) {
  if (memory_ == nullptr) return {};
  const auto front = static_cast<uint32_t>(image_bytes / kBlock) - heap_.packing.blocks;
  HAWTHORN_ASSERT(front <= front_room_);
  std::memcpy(memory_ + (front_room_ - front) * kBlock, image, front * kBlock);
  const uint32_t stored = front + heap_.stored_blocks;
  return {
      keep_part(*residency_, std::exchange(memory_, nullptr), blocks_, front_room_ - front, stored),
      stored};
}

ImagePacker::Image ImagePacker::heap(const Compression::Plan& plan, RunBuilder& builder,
                                     std::span<const BuiltExtent> extents) {
  Image image(residency());
  if (plan.codec == format::Codec::kNone) return image;
  const std::string_view heap = builder.heap();
  const auto blocks = static_cast<uint32_t>(heap.size() / kBlock);
  if (blocks <= Extent::kSmallHeapBlocks) return image;
  const auto front =
      static_cast<uint32_t>(builder.image_bytes(extents) / kBlock) - blocks + kMoreFrontBlocks;
  const uint32_t room = front + blocks;
  char* memory = residency()->allocate_for_read(os::Quota::kMerge, room * kBlock);
  if (memory == nullptr) return image;
  char* to = memory + front * kBlock;
  if (!packer_.pack(heap.data(), blocks, plan.codec, plan.dictionary, to)) {
    residency()->release(os::Quota::kMerge, memory, room * kBlock);
    return image;
  }
  image.memory_ = memory;
  image.front_room_ = front;
  image.blocks_ = room;
  image.heap_.packing = packer_.packing();
  heap_ends_.assign(image.heap_.packing.ends.begin(), image.heap_.packing.ends.end());
  image.heap_.packing.ends = heap_ends_;
  image.heap_.stored_blocks = packer_.stored_blocks();
  heap_checksums_.clear();
  for (uint32_t block = 0; block < image.heap_.stored_blocks; ++block) {
    heap_checksums_.push_back(block_checksum(to + block * kBlock));
  }
  image.heap_.checksums = heap_checksums_;
  return image;
}

}  // namespace hawthorn::tree
