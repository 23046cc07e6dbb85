#include "tree/piece_reads.h"

#include <cstring>

#include "os/file.h"

namespace hawthorn::tree {

Status PieceReads::begin(Residency* residency, RunFile* file, std::span<const PieceRead> pieces,
                         Need need) {
  reset();
  residency_ = residency;
  file_ = file;
  readings_.reserve(pieces.size());
  for (const PieceRead& piece : pieces) {
    if (Status s = prepare(piece, need); !s.ok()) {
      reset();
      return s;
    }
  }
  return {};
}

Status PieceReads::prepare(const PieceRead& piece, Need need) {
  const Result<StoredBlocks> found =
      residency_->find_stored(file_, *piece.extent, piece.first_block, piece.blocks);
  if (!found.ok()) return found.status();
  Reading reading{.piece = piece, .found = *found};
  reading.stored = piece.to;
  reading.content = piece.to;
  if (found->packed) {
    // Whole chunks are unpacked where they belong; else they go through memory of their own.
    const bool whole = found->first == piece.first_block && found->blocks == piece.blocks;
    reading.memory_bytes =
        reading.stored_bytes() + (whole ? 0 : size_t{found->blocks} * os::kBlockBytes);
    reading.memory = residency_->allocate_needed(os::Quota::kMerge, reading.memory_bytes, need);
    if (reading.memory == nullptr) {
      return Status(StatusCode::kOutOfMemory,
                    "no memory to unpack " + std::to_string(reading.memory_bytes) + " bytes");
    }
    reading.stored = reading.memory;
    if (!whole) reading.content = reading.memory + reading.stored_bytes();
  }
  readings_.push_back(reading);
  return {};
}

void PieceReads::requests(void* context, std::vector<os::IoRead>* to) {
  requested_ = true;
  for (const Reading& reading : readings_) {
    const ExtentAddress& address = reading.piece.extent->address;
    to->push_back({residency_->space()->file(address.file),
                   (uint64_t{address.block} + reading.found.disk_first) * os::kBlockBytes,
                   reading.stored, reading.stored_bytes(), context});
  }
}

Status PieceReads::finish() {
  requested_ = false;
  Status status;
  for (const Reading& reading : readings_) {
    status = confirm(reading);
    if (!status.ok()) break;
  }
  reset();
  return status;
}

Status PieceReads::confirm(const Reading& reading) {
  const PieceRead& piece = reading.piece;
  Status status = residency_->confirm_blocks(file_, *piece.extent, reading.found, reading.stored,
                                             reading.content);
  if (status.ok() && reading.content != piece.to) {
    std::memcpy(piece.to,
                reading.content + size_t{piece.first_block - reading.found.first} * os::kBlockBytes,
                size_t{piece.blocks} * os::kBlockBytes);
  }
  return status;
}

void PieceReads::reset() {
  for (const Reading& reading : readings_) {
    if (requested_) residency_->count_read(reading.stored_bytes());
    if (reading.memory != nullptr) {
      residency_->release(os::Quota::kMerge, reading.memory, reading.memory_bytes);
    }
  }
  readings_.clear();
  requested_ = false;
}

}  // namespace hawthorn::tree
