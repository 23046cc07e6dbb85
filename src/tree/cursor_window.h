#pragma once
// The piece of a container that a cursor has read for itself, where the container is not in memory
// as a whole: records of the run's heap, and parts of the value extents, for entries
// [begin(), end()).
//
// The run's front says exactly which bytes the next entries need, so nothing else is read: a first
// small piece, then pieces of twice the size each. Large ones pass the frames by.
// Not here: when to go on to the next piece (cursor.h). Threads: one at a time.
//
// 1. All entries with one head are inside, or none.
// 2. The file is pinned from before load to after reset.

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "tree/residency.h"
#include "tree/run.h"
#include "tree/run_file.h"

namespace hawthorn::tree {

class CursorWindow {
 public:
  explicit CursorWindow(Residency* residency) : residency_(residency) {}
  ~CursorWindow() { reset(); }
  CursorWindow(const CursorWindow&) = delete;
  CursorWindow& operator=(const CursorWindow&) = delete;

  // Reads a piece of entries that contains `must` (invariant 1 holds for it) and goes on from
  // there. `run` is the file's. Errors: kCorruption, kIoError, kOutOfMemory: nothing is loaded
  // then.
  Status load(RunFile* file, const Run& run, bool values, Run::Range must, bool forward);
  void reset();
  // The next piece is a small one again.
  void begin_small() { next_bytes_ = kFirstBytes; }

  bool loaded() const { return begin_ != end_; }
  uint32_t begin() const { return begin_; }
  uint32_t end() const { return end_; }
  // Where the heap and value extent e would begin, for use with the places of these entries only.
  const char* heap() const { return heap_; }
  const char* base(uint32_t extent) const { return bases_[extent]; }

 private:
  static constexpr size_t kFirstBytes = 16 << 10;
  struct Buffer {
    char* memory = nullptr;
    size_t bytes = 0;
  };
  // The bytes of an extent that are wanted.
  struct Piece {
    uint64_t begin = ~uint64_t{0};
    uint64_t end = 0;
    void widen(uint64_t from, uint64_t to);
  };

  Run::Range choose(const RunFile& file, const Run& run, bool values, Run::Range must,
                    bool forward);
  Status load_heap(RunFile* file, const Run& run);
  Status load_values(RunFile* file, const Run& run);
  Result<const char*> plan(Extent& extent, const Piece& piece);
  Status read(RunFile* file);

  Residency* const residency_;
  size_t next_bytes_ = kFirstBytes;
  uint32_t begin_ = 0;
  uint32_t end_ = 0;
  const char* heap_ = nullptr;
  std::array<const char*, RunFile::kExtentsMax> bases_{};
  std::array<Buffer, RunFile::kExtentsMax + 1> buffers_{};
  size_t buffers_used_ = 0;
  std::vector<PieceRead> planned_;  // empty between calls
};

}  // namespace hawthorn::tree
