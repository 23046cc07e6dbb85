#include "tree/image_packer.h"

#include <cstring>
#include <utility>

#include "base/assert.h"
#include "base/checksum.h"
#include "os/data_keys.h"
#include "os/file.h"
#include "tree/sealed_blocks.h"

namespace hawthorn::tree {

namespace {
// The header area may grow by the ends of the chunks.
constexpr uint32_t kMoreFrontBlocks = 2;

// Keeps blocks [first, first + kept) of memory of `blocks`.
char* keep_part(Residency& residency, char* memory, uint32_t blocks, uint32_t first,
                uint32_t kept) {
  os::Arena& arena = *residency.arena();
  const auto cut = [&arena](char* from, size_t count, size_t at) {
    arena.split(os::Quota::kMerge, from, count * os::kBlockBytes, at * os::kBlockBytes,
                os::Quota::kMerge);
    return from + at * os::kBlockBytes;
  };
  if (first != 0) {
    char* rest = cut(memory, blocks, first);
    residency.release(os::Quota::kMerge, memory, first * os::kBlockBytes);
    memory = rest;
    blocks -= first;
  }
  if (kept < blocks) {
    char* rest = cut(memory, blocks, kept);
    residency.release(os::Quota::kMerge, rest, (blocks - kept) * os::kBlockBytes);
  }
  return memory;
}
}  // namespace

StoredCopy ImagePacker::values(const Compression::Plan& plan, const char* content,
                               uint32_t blocks) {
  values_packing_ = {};
  if (plan.codec == format::Codec::kNone || blocks < 2) return {};
  char* memory = residency()->allocate_for_read(os::Quota::kMerge, blocks * os::kBlockBytes);
  if (memory == nullptr) return {};
  if (!packer_.pack(content, blocks, plan.codec, plan.dictionary, memory)) {
    residency()->release(os::Quota::kMerge, memory, blocks * os::kBlockBytes);
    return {};
  }
  values_packing_ = packer_.packing();
  values_ends_.assign(values_packing_.ends.begin(), values_packing_.ends.end());
  values_packing_.ends = values_ends_;
  const uint32_t stored = packer_.stored_blocks();
  return {keep_part(*residency(), memory, blocks, 0, stored), stored};
}

namespace {
// For a copy that there has to be: a flush gives back more than it takes, so it may go beyond the
// budget a little.
Result<char*> memory_for_copy(Residency& residency, uint32_t blocks) {
  const size_t bytes = blocks * os::kBlockBytes;
  char* memory = residency.allocate_for_read(os::Quota::kMerge, bytes);
  if (memory == nullptr && bytes <= residency.arena()->budget() / 16) {
    memory = residency.arena()->allocate(os::Quota::kMerge, bytes, true);
  }
  if (memory != nullptr) return memory;
  return Status(StatusCode::kOutOfMemory,
                "no memory to encrypt " + std::to_string(bytes) + " bytes on their way to disk");
}
}  // namespace

Result<std::span<const uint32_t>> ImagePacker::table_words(const char* content, uint32_t blocks,
                                                           StoredCopy* copy) {
  const uint32_t stored = copy->memory == nullptr ? blocks : copy->blocks;
  const format::TableShape table{keys() != nullptr};
  values_words_.resize(table.words(stored));
  if (keys() == nullptr) {
    const char* from = copy->memory == nullptr ? content : copy->memory;
    for (uint32_t i = 0; i < stored; ++i)
      values_words_[i] = block_checksum(from + i * os::kBlockBytes);
    return std::span<const uint32_t>(values_words_);
  }
  const char* from = copy->memory;
  if (from == nullptr) {
    Result<char*> memory = memory_for_copy(*residency(), blocks);
    if (!memory.ok()) return memory.status();
    *copy = {*memory, blocks};
    from = content;
  }
  Status status = seal_blocks(*keys(), from, stored, copy->memory, values_words_.data());
  if (!status.ok()) return status;
  return std::span<const uint32_t>(values_words_);
}

ImagePacker::Image::Image(Image&& other) noexcept
    : residency_(other.residency_),
      memory_(std::exchange(other.memory_, nullptr)),
      front_room_(other.front_room_),
      blocks_(other.blocks_),
      heap_(other.heap_),
      status_(std::move(other.status_)) {}

ImagePacker::Image::~Image() {
  if (memory_ != nullptr) {
    residency_->release(os::Quota::kMerge, memory_, blocks_ * os::kBlockBytes);
  }
}

// `front`: blocks at the begin of the image that go to `to`, a packed heap not among them.
Status ImagePacker::Image::seal(char* image, uint32_t front, char* to,
                                format::ContainerRecord* record) {
  os::DataKeys& keys = *residency_->machine().keys;
  const uint32_t header = reinterpret_cast<const format::RunHeader*>(image)->header_blocks;
  const size_t header_bytes = header * os::kBlockBytes;
  Status status = seal_blocks(keys, image + header_bytes, front - header, to + header_bytes,
                              reinterpret_cast<uint32_t*>(image + format::kRunTableOffset));
  if (status.ok()) status = seal_header(keys, image, header_bytes, to, &record->seal);
  record->run_checksum = checksum64(image, header_bytes, 0);
  return status;
}

Result<StoredCopy> ImagePacker::Image::finish(char* image, size_t image_bytes,
                                              format::ContainerRecord* record) {
  if (!status_.ok()) return status_;
  const bool sealed = residency_->machine().keys != nullptr;
  if (memory_ == nullptr) {
    if (!sealed) return StoredCopy();
    const auto blocks = static_cast<uint32_t>(image_bytes / os::kBlockBytes);
    Result<char*> memory = memory_for_copy(*residency_, blocks);
    if (!memory.ok()) return memory.status();
    memory_ = *memory;
    blocks_ = blocks;
    if (Status s = seal(image, blocks, memory_, record); !s.ok()) return s;
    return StoredCopy{std::exchange(memory_, nullptr), blocks};
  }
  const auto front = static_cast<uint32_t>(image_bytes / os::kBlockBytes) - heap_.packing.blocks;
  HAWTHORN_ASSERT(front <= front_room_);
  char* const to = memory_ + (front_room_ - front) * os::kBlockBytes;
  if (!sealed) {
    std::memcpy(to, image, front * os::kBlockBytes);
  } else if (Status s = seal(image, front, to, record); !s.ok()) {
    return s;
  }
  const uint32_t stored = front + heap_.stored_blocks;
  return StoredCopy{
      keep_part(*residency_, std::exchange(memory_, nullptr), blocks_, front_room_ - front, stored),
      stored};
}

ImagePacker::Image ImagePacker::heap(const Compression::Plan& plan, RunBuilder& builder,
                                     std::span<const BuiltExtent> extents) {
  Image image(residency());
  if (plan.codec == format::Codec::kNone) return image;
  const std::string_view heap = builder.heap();
  const auto blocks = static_cast<uint32_t>(heap.size() / os::kBlockBytes);
  if (blocks <= Extent::kSmallHeapBlocks) return image;
  const auto front = static_cast<uint32_t>(builder.image_bytes(extents) / os::kBlockBytes) -
                     blocks + kMoreFrontBlocks;
  const uint32_t room = front + blocks;
  char* memory = residency()->allocate_for_read(os::Quota::kMerge, room * os::kBlockBytes);
  if (memory == nullptr) return image;
  char* to = memory + front * os::kBlockBytes;
  if (!packer_.pack(heap.data(), blocks, plan.codec, plan.dictionary, to)) {
    residency()->release(os::Quota::kMerge, memory, room * os::kBlockBytes);
    return image;
  }
  image.memory_ = memory;
  image.front_room_ = front;
  image.blocks_ = room;
  image.heap_.packing = packer_.packing();
  heap_ends_.assign(image.heap_.packing.ends.begin(), image.heap_.packing.ends.end());
  image.heap_.packing.ends = heap_ends_;
  image.heap_.stored_blocks = packer_.stored_blocks();
  const format::TableShape table{keys() != nullptr};
  heap_checksums_.resize(table.words(image.heap_.stored_blocks));
  if (table.sealed) {
    image.status_ = seal_blocks(*keys(), to, image.heap_.stored_blocks, to, heap_checksums_.data());
  } else {
    for (uint32_t block = 0; block < image.heap_.stored_blocks; ++block) {
      heap_checksums_[block] = block_checksum(to + block * os::kBlockBytes);
    }
  }
  image.heap_.checksums = heap_checksums_;
  return image;
}

}  // namespace hawthorn::tree
