#include "format/packing.h"

#include <lz4.h>
#include <zdict.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <utility>

#include "base/assert.h"
#include "base/bytes.h"

namespace hawthorn::format {

struct FreeZstdContext {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};
using PackingContext = std::unique_ptr<ZSTD_CCtx, FreeZstdContext>;

namespace {

constexpr uint32_t kBlock = 4096;
// After so many chunks it is looked whether it pays.
constexpr uint32_t kProbeChunks = 8;
constexpr size_t kSampleBytes = 1024;
constexpr size_t kTrialChunks = 16;

using UnpackingContext = std::unique_ptr<ZSTD_DCtx, FreeZstdContext>;

// What readers use for one chunk at a time. There may be many threads that read now and then, and a
// context takes 90 KB or more: so the process keeps a few for good, and who finds none makes its
// own.
class UnpackingContexts {
 public:
  UnpackingContext take() {
    for (std::atomic<ZSTD_DCtx*>& kept : kept_) {
      if (kept.load(std::memory_order_relaxed) == nullptr) continue;
      ZSTD_DCtx* const context = kept.exchange(nullptr, std::memory_order_acquire);
      if (context != nullptr) return UnpackingContext(context);
    }
    return UnpackingContext(ZSTD_createDCtx());
  }
  void give_back(UnpackingContext context) {
    for (std::atomic<ZSTD_DCtx*>& kept : kept_) {
      ZSTD_DCtx* none = nullptr;
      if (kept.load(std::memory_order_relaxed) == nullptr &&
          kept.compare_exchange_strong(none, context.get(), std::memory_order_release)) {
        static_cast<void>(context.release());
        return;
      }
    }
  }

 private:
  std::array<std::atomic<ZSTD_DCtx*>, 8> kept_{};
};

constinit UnpackingContexts unpacking_contexts;

size_t zstd_result(size_t result) { return ZSTD_isError(result) != 0 ? 0 : result; }

}  // namespace

// ---- Dictionary

std::unique_ptr<Dictionary> Dictionary::make(uint32_t id, std::string_view bytes) {
  // An id of 0 in what zstd reads means raw content, which anything is.
  if (ZDICT_getDictID(bytes.data(), bytes.size()) == 0) return nullptr;
  ZSTD_CDict* packing = ZSTD_createCDict(bytes.data(), bytes.size(), kZstdLevel);
  ZSTD_DDict* unpacking = ZSTD_createDDict(bytes.data(), bytes.size());
  std::unique_ptr<Dictionary> made(new Dictionary(id, packing, unpacking));
  return packing == nullptr || unpacking == nullptr ? nullptr : std::move(made);
}

size_t Dictionary::memory_bytes() const {
  return ZSTD_sizeof_CDict(packing_) + ZSTD_sizeof_DDict(unpacking_);
}

Dictionary::~Dictionary() {
  ZSTD_freeCDict(packing_);
  ZSTD_freeDDict(unpacking_);
}

std::string train_dictionary(std::string_view samples, size_t bytes_max) {
  // Tried with what it was not trained with.
  const std::string_view trial = samples.substr(samples.size() / 4 * 3);
  samples = samples.substr(0, samples.size() - trial.size());
  const std::vector<size_t> sizes(samples.size() / kSampleBytes, kSampleBytes);
  std::string bytes(bytes_max, '\0');
  bytes.resize(
      zstd_result(ZDICT_trainFromBuffer(bytes.data(), bytes.size(), samples.data(), sizes.data(),
                                        static_cast<unsigned>(sizes.size()))) == 0
          ? 0
          : bytes.size());
  const std::unique_ptr<Dictionary> dictionary =
      bytes.empty() ? nullptr : Dictionary::make(1, bytes);
  if (dictionary == nullptr) return {};
  const PackingContext context(ZSTD_createCCtx());
  std::string room(ZSTD_compressBound(kChunkBytes), '\0');
  size_t plain = 0;
  size_t trained = 0;
  const size_t chunks = std::min(trial.size() / kChunkBytes, kTrialChunks);
  for (size_t i = 0; i < chunks; ++i) {
    const char* chunk = trial.data() + i * kChunkBytes;
    plain += zstd_result(
        ZSTD_compressCCtx(context.get(), room.data(), room.size(), chunk, kChunkBytes, kZstdLevel));
    trained += zstd_result(ZSTD_compress_usingCDict(context.get(), room.data(), room.size(), chunk,
                                                    kChunkBytes, dictionary->packing()));
  }
  return trained < plain - plain / 32 ? bytes : std::string();
}

// ---- Packing

bool valid_packing(const Packing& packing, uint32_t stored_blocks) {
  if (static_cast<uint8_t>(packing.codec) > kCodecLast || packing.codec == Codec::kNone ||
      (packing.codec != Codec::kZstd && packing.dictionary != 0) || packing.blocks == 0 ||
      packing.ends.size() != chunk_count(packing.blocks)) {
    return false;
  }
  for (uint32_t chunk = 0; chunk < packing.ends.size(); ++chunk) {
    const uint32_t begin = packing.begin_of(chunk);
    const uint32_t end = packing.ends[chunk];
    if (end <= begin || end - begin > packing.content_bytes(chunk)) return false;
  }
  return align_up(uint64_t{packing.ends.back()}, kBlock) == uint64_t{stored_blocks} * kBlock &&
         stored_blocks < packing.blocks;
}

struct Packer::Contexts {
  PackingContext zstd;
};

Packer::Packer() : contexts_(std::make_unique<Contexts>()) {}
Packer::~Packer() = default;
Packer::Packer(Packer&&) noexcept = default;
Packer& Packer::operator=(Packer&&) noexcept = default;

// Into room_; returns the stored size, which is that of the content where nothing is saved.
size_t Packer::pack_chunk(const char* content, size_t bytes, char* to) {
  // What does not get below this is stored as it is.
  const size_t most = bytes - bytes / 16;
  size_t size = 0;
  if (codec_ == Codec::kLz4) {
    size = static_cast<size_t>(LZ4_compress_default(content, room_.data(), static_cast<int>(bytes),
                                                    static_cast<int>(most)));
  } else if (dictionary_ != nullptr) {
    size = zstd_result(ZSTD_compress_usingCDict(contexts_->zstd.get(), room_.data(), most, content,
                                                bytes, dictionary_->packing()));
  } else {
    size = zstd_result(
        ZSTD_compressCCtx(contexts_->zstd.get(), room_.data(), most, content, bytes, kZstdLevel));
  }
  if (size == 0) size = bytes;
  std::memcpy(to, size == bytes ? content : room_.data(), size);
  return size;
}

bool Packer::pack(const char* content, uint32_t blocks, Codec codec, const Dictionary* dictionary,
                  char* to) {
  HAWTHORN_ASSERT(codec != Codec::kNone);
  if (codec == Codec::kZstd && contexts_->zstd == nullptr) {
    contexts_->zstd.reset(ZSTD_createCCtx());
    if (contexts_->zstd == nullptr) return false;
  }
  codec_ = codec;
  dictionary_ = codec == Codec::kZstd ? dictionary : nullptr;
  blocks_ = blocks;
  room_.resize(kChunkBytes);
  ends_.clear();
  size_t stored = 0;
  for (uint32_t block = 0; block < blocks; block += kChunkBlocks) {
    const size_t bytes = size_t{std::min(kChunkBlocks, blocks - block)} * kBlock;
    stored += pack_chunk(content + size_t{block} * kBlock, bytes, to + stored);
    ends_.push_back(static_cast<uint32_t>(stored));
    if (ends_.size() == kProbeChunks && stored > kProbeChunks * kChunkBytes / 16 * 15) return false;
  }
  if (stored_blocks() > blocks - std::max(1U, blocks / 8)) return false;
  std::memset(to + stored, 0, size_t{stored_blocks()} * kBlock - stored);
  return true;
}

Packing Packer::packing() const {
  return {codec_, dictionary_ == nullptr ? 0 : dictionary_->id(), blocks_, ends_};
}

size_t Packer::buffer_bytes() const {
  return room_.capacity() + ends_.capacity() * sizeof(uint32_t) +
         (contexts_->zstd == nullptr ? 0 : ZSTD_sizeof_CCtx(contexts_->zstd.get()));
}

uint32_t Packer::stored_blocks() const {
  return static_cast<uint32_t>(align_up(size_t{ends_.back()}, kBlock) / kBlock);
}

bool unpack_chunk(const Packing& packing, const Dictionary* dictionary, uint32_t chunk,
                  const char* stored, char* to) {
  const size_t size = packing.ends[chunk] - packing.begin_of(chunk);
  const size_t bytes = packing.content_bytes(chunk);
  if (size == bytes) {
    std::memcpy(to, stored, size);
    return true;
  }
  if (packing.codec == Codec::kLz4) {
    return LZ4_decompress_safe(stored, to, static_cast<int>(size), static_cast<int>(bytes)) ==
           static_cast<int>(bytes);
  }
  if (packing.codec != Codec::kZstd || (packing.dictionary != 0 && dictionary == nullptr)) {
    return false;
  }
  UnpackingContext own = unpacking_contexts.take();
  ZSTD_DCtx* const context = own.get();
  if (context == nullptr) return false;
  const size_t made =
      packing.dictionary == 0
          ? ZSTD_decompressDCtx(context, to, bytes, stored, size)
          : ZSTD_decompress_usingDDict(context, to, bytes, stored, size, dictionary->unpacking());
  unpacking_contexts.give_back(std::move(own));
  return ZSTD_isError(made) == 0 && made == bytes;
}

}  // namespace hawthorn::format
