#pragma once
// Whole blocks of value extents and of runs' heaps on their way from disk to where their content
// goes, several at once.
//
//   begin ──> requests ──> I/O by the caller ──> finish
//
// Not here: the I/O, so that who waits for it and who reads ahead share the rest. Used by Residency
// and by cursors. Threads: one object from one thread at a time.
//
// 1. The file is pinned, and what the pieces are read to stays, from begin to finish or reset; a
//    reset comes when no request is under way.
// 2. finish leaves verified content where it belongs, or says what is wrong.

#include <vector>

#include "os/io_queue.h"
#include "tree/residency.h"

namespace hawthorn::tree {

class PieceReads {
 public:
  PieceReads() = default;
  ~PieceReads() { reset(); }
  PieceReads(const PieceReads&) = delete;
  PieceReads& operator=(const PieceReads&) = delete;

  // Copies the pieces and takes memory for what has to be unpacked. Errors: kOutOfMemory; those of
  // Residency::find_stored. Nothing is begun then.
  Status begin(Residency* residency, RunFile* file, std::span<const PieceRead> pieces, Need need);
  bool begun() const { return !readings_.empty(); }
  // Adds what has to be read, each with this context; at least one.
  void requests(void* context, std::vector<os::IoRead>* to);
  // The requests were carried out without an error: verifies, and unpacks to the pieces' places.
  // Blocking where it has to read again. Errors: kCorruption, kIoError. Nothing is left begun.
  Status finish();
  // Gives up what was begun.
  void reset();

 private:
  struct Reading {
    PieceRead piece;
    StoredBlocks found;
    char* memory = nullptr;  // of the merge quota, for what is packed
    size_t memory_bytes = 0;
    char* stored = nullptr;
    char* content = nullptr;
    size_t stored_bytes() const { return size_t{found.disk_blocks} * os::kBlockBytes; }
  };
  Status prepare(const PieceRead& piece, Need need);
  Status confirm(const Reading& reading);

  Residency* residency_ = nullptr;
  RunFile* file_ = nullptr;
  std::vector<Reading> readings_;
  bool requested_ = false;
};

}  // namespace hawthorn::tree
