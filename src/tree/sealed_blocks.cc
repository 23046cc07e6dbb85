#include "tree/sealed_blocks.h"

#include <cstddef>
#include <cstring>
#include <string>

#include "base/bytes.h"

namespace hawthorn::tree {

using format::kRunBlockBytes;
using format::RunHeader;
using format::TableShape;

namespace {

// Of the header area; blocks of a region have their numbers.
constexpr uint32_t kHeaderNumber = ~uint32_t{0};
constexpr size_t kPlainBytes = sizeof(RunHeader);

Nonce nonce_of(const os::Seal& seal, uint32_t number) { return make_nonce(base_of(seal), number); }

Status seal_failed() { return Status(StatusCode::kIoError, "a block: libcrypto failed"); }

// What is not sealed of a header area, with a tag of zeros.
struct PlainHeader {
  explicit PlainHeader(const char* area) {
    std::memcpy(&header, area, sizeof(header));
    std::memset(header.tag, 0, sizeof(header.tag));
  }
  std::string_view bytes() const {
    return {reinterpret_cast<const char*>(&header), sizeof(header)};
  }
  RunHeader header;
};

}  // namespace

os::Seal load_seal(const void* from) {
  os::Seal seal;
  std::memcpy(&seal, from, sizeof(seal));
  return seal;
}

uint64_t base_of(const os::Seal& seal) {
  return load<uint64_t>(reinterpret_cast<const char*>(seal.base.data()));
}

Status seal_blocks(os::DataKeys& keys, const char* blocks, uint32_t count, char* to,
                   uint32_t* words) {
  if (count == 0) return {};
  const Result<os::Seal> seal = keys.new_seal();
  if (!seal.ok()) return seal.status();
  Result<os::DataKeys::Lease> aead = keys.lease(*seal);
  if (!aead.ok()) return aead.status();
  std::memcpy(words, &*seal, sizeof(os::Seal));
  uint32_t* tag = words + TableShape::kSealWords;
  for (uint32_t i = 0; i < count; ++i) {
    const std::string_view block(blocks + size_t{i} * kRunBlockBytes, kRunBlockBytes);
    if (!(*aead)->seal(nonce_of(*seal, i), {}, block, to + size_t{i} * kRunBlockBytes,
                       reinterpret_cast<char*>(tag))) {
      return seal_failed();
    }
    tag += TableShape::kTagWords;
  }
  return {};
}

Status open_blocks(os::DataKeys& keys, const format::StoredRegion& region, uint32_t first,
                   uint32_t count, char* blocks, uint32_t* opened) {
  *opened = 0;
  if (count == 0) return {};
  const os::Seal seal = load_seal(region.seal);
  Result<os::DataKeys::Lease> aead = keys.lease(seal);
  if (!aead.ok()) return aead.status();
  const uint32_t* tag = region.checksums + size_t{first} * TableShape::kTagWords;
  for (; *opened < count; ++*opened) {
    char* const block = blocks + size_t{*opened} * kRunBlockBytes;
    if (!(*aead)->open(nonce_of(seal, region.seal_first + first + *opened), {},
                       {block, kRunBlockBytes}, reinterpret_cast<const char*>(tag), block)) {
      return {};
    }
    tag += TableShape::kTagWords;
  }
  return {};
}

Status seal_header(os::DataKeys& keys, char* image, size_t header_bytes, char* to, uint64_t* base) {
  const Result<os::Seal> seal = keys.new_seal();
  if (!seal.ok()) return seal.status();
  Result<os::DataKeys::Lease> aead = keys.lease(*seal);
  if (!aead.ok()) return aead.status();
  std::memcpy(image + offsetof(RunHeader, seal), &*seal, sizeof(os::Seal));
  PlainHeader plain(image);
  char tag[kTagBytes];
  if (!(*aead)->seal(nonce_of(*seal, kHeaderNumber), plain.bytes(),
                     std::string_view(image + kPlainBytes, header_bytes - kPlainBytes),
                     to + kPlainBytes, tag)) {
    return seal_failed();
  }
  std::memcpy(plain.header.tag, tag, kTagBytes);
  std::memcpy(to, &plain.header, kPlainBytes);
  *base = base_of(*seal);
  return {};
}

Status open_header(os::DataKeys* keys, const format::ContainerRecord& record, char* area,
                   size_t header_bytes, std::string_view where) {
  const auto damaged = [where](std::string_view what) {
    return Status(StatusCode::kCorruption, std::string(where) + ": " + std::string(what));
  };
  if ((keys != nullptr) != record.sealed()) {
    return damaged(keys != nullptr ? "an index run that is not sealed, in an encrypted database"
                                   : "an index run that is sealed, and there are no keys");
  }
  if (keys == nullptr) return {};
  if (header_bytes <= kPlainBytes) return damaged("an index run without a header area");
  const PlainHeader plain(area);
  const os::Seal seal = load_seal(plain.header.seal);
  if (base_of(seal) != record.seal) {
    return damaged("the header of an index run is not the one that the manifest names");
  }
  Result<os::DataKeys::Lease> aead = keys->lease(seal);
  if (!aead.ok()) return damaged(aead.status().message());
  if (!(*aead)->open(nonce_of(seal, kHeaderNumber), plain.bytes(),
                     {area + kPlainBytes, header_bytes - kPlainBytes},
                     area + offsetof(RunHeader, tag), area + kPlainBytes)) {
    return damaged("the seal of an index run's header is broken");
  }
  std::memcpy(area, &plain.header, kPlainBytes);
  return {};
}

Status open_front(os::DataKeys* keys, const format::ContainerRecord& record, char* front,
                  size_t bytes, size_t image_bytes, std::string_view where) {
  const uint32_t header_blocks = reinterpret_cast<const RunHeader*>(front)->header_blocks;
  const size_t header_bytes = size_t{header_blocks} * kRunBlockBytes;
  if (keys != nullptr && header_bytes >= bytes) {
    return Status(StatusCode::kCorruption,
                  std::string(where) + ": the header of an index run is longer than expected");
  }
  if (Status s = open_header(keys, record, front, header_bytes, where); !s.ok() || keys == nullptr)
    return s;
  format::RunView view;
  if (Status s = format::parse_run(front, image_bytes, &view); !s.ok()) {
    return Status(s.code(), std::string(where) + ": " + std::string(s.message()));
  }
  format::StoredRegion region = view.index_region();
  uint32_t count = static_cast<uint32_t>(bytes / kRunBlockBytes) - header_blocks;
  if (view.heap_region().packed()) count = std::min(count, view.header->index_blocks);
  uint32_t opened = 0;
  if (Status s = open_blocks(*keys, region, 0, count, front + header_bytes, &opened); !s.ok()) {
    return Status(s.code(), std::string(where) + ": " + std::string(s.message()));
  }
  if (opened == count) return {};
  return Status(StatusCode::kCorruption,
                std::string(where) + ": the seal of " +
                    (opened < view.header->index_blocks ? "index" : "heap") + " block " +
                    std::to_string(header_blocks + opened) + " of an index run is broken");
}

}  // namespace hawthorn::tree
