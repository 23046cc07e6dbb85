#pragma once
// Blocks that are stored compressed: chunks of four blocks, each by itself, back to back.
//
//   content:  [ 16 KB ][ 16 KB ][ 16 KB ][ 8 KB ]      a heap, or the values of an extent
//   stored:   [ 5 KB ][ 16 KB as it is ][ 6 KB ][ 3 KB ][ zeros ]
//   ends:        5120       21504         27648   30720
//
// Offsets of keys and values are those of the content, so only who reads blocks knows of it. The
// ends stand in the run's header area (run_layout.h). Not here: which trees are compressed and by
// which dictionary (tree/compression.h), I/O and checksums (tree/residency.h).
// Threads: pure functions; a Packer is used by one thread at a time, a Dictionary by any number.
//
// 1. A chunk whose stored size is that of its content is stored as it is.
// 2. A packed region takes fewer blocks on disk than its content: so counts of blocks alone tell
//    that it is packed.
// 3. unpack_chunk trusts no byte: what does not give exactly the chunk's content is refused.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

struct ZSTD_CDict_s;
struct ZSTD_DDict_s;

namespace hawthorn::format {

enum class Codec : uint8_t { kNone = 0, kLz4 = 1, kZstd = 2 };
inline constexpr uint8_t kCodecLast = 2;

inline constexpr uint32_t kChunkBlocks = 4;
inline constexpr uint32_t kChunkBytes = kChunkBlocks * 4096;
inline constexpr int kZstdLevel = 3;

inline constexpr uint32_t chunk_count(uint32_t blocks) {
  return (blocks + kChunkBlocks - 1) / kChunkBlocks;
}

// What Zstd knows before it sees a chunk. `id` is that of the manifest, never 0.
class Dictionary {
 public:
  // Null: the bytes are no dictionary.
  static std::unique_ptr<Dictionary> make(uint32_t id, std::string_view bytes);
  ~Dictionary();
  size_t memory_bytes() const;
  Dictionary(const Dictionary&) = delete;
  Dictionary& operator=(const Dictionary&) = delete;

  uint32_t id() const { return id_; }
  const ZSTD_CDict_s* packing() const { return packing_; }
  const ZSTD_DDict_s* unpacking() const { return unpacking_; }

 private:
  Dictionary(uint32_t id, ZSTD_CDict_s* packing, ZSTD_DDict_s* unpacking)
      : id_(id), packing_(packing), unpacking_(unpacking) {}
  const uint32_t id_;
  ZSTD_CDict_s* const packing_;
  ZSTD_DDict_s* const unpacking_;
};

// A dictionary for content like the samples, `bytes_max` at most; empty when none can be made of
// them, or when it makes chunks of them smaller by less than 3%.
std::string train_dictionary(std::string_view samples, size_t bytes_max);

// How a region is packed, as its run says.
struct Packing {
  Codec codec = Codec::kNone;
  uint32_t dictionary = 0;         // 0: none
  uint32_t blocks = 0;             // of its content
  std::span<const uint32_t> ends;  // of each chunk, in stored bytes

  uint32_t begin_of(uint32_t chunk) const { return chunk == 0 ? 0 : ends[chunk - 1]; }
  uint32_t content_bytes(uint32_t chunk) const {
    const uint32_t first = chunk * kChunkBlocks;
    return (blocks - first < kChunkBlocks ? blocks - first : kChunkBlocks) * 4096;
  }
};

// Whether `ends` describes chunks of `blocks` blocks in `stored_blocks`: ascending, no chunk larger
// than its content, and in no more blocks than needed.
bool valid_packing(const Packing& packing, uint32_t stored_blocks);

// Packs one region after the other; keeps what the codecs need for it.
class Packer {
 public:
  Packer();
  ~Packer();
  Packer(Packer&&) noexcept;
  Packer& operator=(Packer&&) noexcept;

  // Packs `blocks` blocks of content to `to`, which has room for as many and is filled with zeros
  // up to a block's end. False: it does not pay (less than an eighth would be saved), and `to` is
  // undefined.
  bool pack(const char* content, uint32_t blocks, Codec codec, const Dictionary* dictionary,
            char* to);
  // Of the last region packed.
  Packing packing() const;
  uint32_t stored_blocks() const;
  // That it takes on the heap.
  size_t buffer_bytes() const;

 private:
  size_t pack_chunk(const char* content, size_t bytes, char* to);
  struct Contexts;
  std::unique_ptr<Contexts> contexts_;
  std::vector<uint32_t> ends_;
  std::vector<char> room_;
  Codec codec_ = Codec::kNone;
  const Dictionary* dictionary_ = nullptr;
  uint32_t blocks_ = 0;
};

// Unpacks a chunk to `to`, which has room for content_bytes(chunk). `stored`: the chunk's stored
// bytes. `dictionary`: that of the packing, null when it has none. False: they are not what was
// packed.
bool unpack_chunk(const Packing& packing, const Dictionary* dictionary, uint32_t chunk,
                  const char* stored, char* to);

}  // namespace hawthorn::format
