#pragma once
// Packs the parts of a container that a merge or a bulk ingest has built: values, and the heap of
// the run, each into a copy of what goes to disk. In an encrypted database it seals them, packed or
// not, so that there is always a copy.
//
// Not here: codecs and chunks (format/packing.h), which tree is packed how (compression.h), sealing
// (sealed_blocks.h).
// Threads: one object, one thread.
//
// 1. Where there is no memory for the copy, or it does not pay, nothing is packed: that is no
//    error.

#include <span>
#include <vector>

#include "tree/compression.h"
#include "tree/run_builder.h"
#include "tree/store.h"

namespace hawthorn::tree {

// What goes to disk, of the merge quota; null: the content itself.
struct StoredCopy {
  char* memory = nullptr;
  uint32_t blocks = 0;
};

class ImagePacker {
 public:
  explicit ImagePacker(const Store* store) : store_(store) {}

  // Of a value extent's content. The copy is the caller's.
  StoredCopy values(const Compression::Plan& plan, const char* content, uint32_t blocks);
  // Of that copy, or of the content where it is null: its words for the run's table, checksums or,
  // of the copy that *copy then is in any case, seal and tags. Lifetime: the next call. Errors:
  // kOutOfMemory, and those of the keys; the copy stays the caller's.
  Result<std::span<const uint32_t>> table_words(const char* content, uint32_t blocks,
                                                StoredCopy* copy);
  // How the last values were packed; until the next ones.
  format::Packing values_packing() const { return values_packing_; }

  // A run image on its way: its heap is packed, then the image is built with heap(), then finish()
  // gives the copy.
  class Image {
   public:
    Image(Image&& other) noexcept;
    Image& operator=(Image&&) = delete;
    ~Image();
    // For RunBuilder; null when it is not packed. Lifetime: the packer's next heap.
    const PackedHeap* heap() const { return memory_ == nullptr ? nullptr : &heap_; }
    // The front of the built image, of image_bytes in memory, and the packed heap; null where
    // neither is packed nor sealed. The copy is the caller's. Of a sealed image it completes the
    // header area in memory, and record->run_checksum and seal.
    // Errors: kOutOfMemory; those of the keys.
    Result<StoredCopy> finish(char* image, size_t image_bytes, format::ContainerRecord* record);

   private:
    friend class ImagePacker;
    explicit Image(Residency* residency) : residency_(residency) {}
    Status seal(char* image, uint32_t front, char* to, format::ContainerRecord* record);
    Residency* residency_;
    char* memory_ = nullptr;  // room for the front, then the heap
    uint32_t front_room_ = 0;
    uint32_t blocks_ = 0;  // of the memory
    PackedHeap heap_;
    Status status_;  // of sealing the packed heap
  };
  Image heap(const Compression::Plan& plan, RunBuilder& builder,
             std::span<const BuiltExtent> extents);

  // Between two containers.
  void release_buffers() {
    packer_ = format::Packer();
    values_ends_ = std::vector<uint32_t>();
    heap_ends_ = std::vector<uint32_t>();
    heap_checksums_ = std::vector<uint32_t>();
    values_words_ = std::vector<uint32_t>();
  }
  // That its buffers take on the heap, and a codec's context.
  size_t buffer_bytes() const {
    return packer_.buffer_bytes() + (values_ends_.capacity() + heap_ends_.capacity() +
                                     heap_checksums_.capacity() + values_words_.capacity()) *
                                        sizeof(uint32_t);
  }

 private:
  Residency* residency() const { return store_->residency; }
  os::DataKeys* keys() const { return store_->machine->keys; }
  const Store* const store_;
  format::Packer packer_;
  format::Packing values_packing_;
  std::vector<uint32_t> values_ends_;
  std::vector<uint32_t> heap_ends_;
  std::vector<uint32_t> heap_checksums_;
  std::vector<uint32_t> values_words_;
};

}  // namespace hawthorn::tree
