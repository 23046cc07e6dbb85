#pragma once
// The piece of a container that a cursor has read for itself, where the container is not in memory
// as a whole: records of the run's heap, and parts of the value extents, for entries
// [begin(), end()); or, by an outline, their groups.
//
// The run's front says exactly which bytes the next entries need, so nothing else is read: those of
// the heap first, which say where the values lie that are not plain. Large pieces pass the frames
// by.
//
//   begin ──> requests ──> I/O by the caller ──> arrived ──> requests ... ──> complete
//
// Not here: when to go on to the next piece (cursor.h), reading ahead (cursor_ahead.h).
// Threads: one at a time.
//
// 1. All versions of a key are inside, or none; by an outline, all of a group.
// 2. The file is pinned from before begin to after reset, and no request is under way at a reset.

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "tree/piece_reads.h"
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

  static constexpr size_t kFirstBytes = 16 << 10;
  static constexpr size_t kBytesMax = size_t{2} << 20;
  // The most that one window should take under this budget.
  static size_t bytes_max(const Residency& residency);
  // The bytes of heap and values of a file that are not in memory as a whole.
  static size_t missing(const RunFile& file, const Run& run, bool values);
  // Entries that contain `must` (invariant 1 holds for it) and go on from there, as many as take
  // about `bytes` of what is missing; of the heap no more than their share. But for outlines none
  // that are not `within`, which are all that the run tells of.
  static Run::Range choose(const RunFile& file, const Run& run, bool values, Run::Range must,
                           bool forward, size_t bytes, Run::Range within);

  // What may be read for a window: as soon as that is reached it ends, in the direction of travel,
  // behind its first key.
  struct Limit {
    size_t bytes = ~size_t{0};
    bool forward = true;
  };
  // Reads these entries (invariant 1 holds), or fewer. `run` is the file's. Errors: kCorruption,
  // kIoError, kOutOfMemory: nothing is loaded then.
  Status load(RunFile* file, const Run& run, bool values, Run::Range range, Limit limit);
  void reset();

  // The same, step by step; an error is final.
  Status begin(RunFile* file, const Run& run, bool values, Run::Range range, Need need,
               Limit limit);
  // False: requests() wait to be read.
  bool complete() const { return stage_ == Stage::kDone; }
  // Reads all that is left, and waits. Nothing is loaded after an error.
  Status finish();
  void requests(void* context, std::vector<os::IoRead>* to) { reads_.requests(context, to); }
  // All of them were read without an error.
  Status arrived();

  uint32_t begin() const { return begin_; }
  uint32_t end() const { return end_; }
  // The run over what was read, for use with these entries only. `run` is the file's.
  Run over(const Run& run) const {
    return run.is_outline() ? run.with_groups(groups(), groups_) : run.with_heap(heap_);
  }
  // Where value extent e would begin.
  const char* base(uint32_t extent) const { return bases_[extent]; }

 private:
  // Whose bytes are being read.
  enum class Stage : uint8_t { kHeap, kValues, kDone };
  struct Buffer {
    char* memory = nullptr;
    size_t bytes = 0;
  };
  // The bytes of an extent that are wanted.
  struct Piece {
    uint64_t begin = ~uint64_t{0};
    uint64_t end = 0;
    void widen(uint64_t from, uint64_t to);
    uint64_t blocks() const {
      return end == 0 ? 0 : (end + os::kBlockBytes - 1) / os::kBlockBytes - begin / os::kBlockBytes;
    }
  };

  Run::Range groups() const {
    return {begin_ / format::kGroupEntries, format::run_group_count(end_)};
  }
  Status plan_groups();
  Status plan_heap();
  Status plan_values();
  void find_values(std::array<Piece, RunFile::kExtentsMax>* pieces);
  Result<const char*> plan(Extent& extent, const Piece& piece);
  Status go_on();

  Residency* const residency_;
  RunFile* file_ = nullptr;
  const Run* run_ = nullptr;
  bool values_ = false;
  bool heap_read_ = false;  // from disk or frames: its records are checked
  Need need_ = Need::kMust;
  Limit limit_;
  uint64_t heap_blocks_ = 0;  // read or found in frames
  Stage stage_ = Stage::kDone;
  uint32_t begin_ = 0;
  uint32_t end_ = 0;
  const char* heap_ = nullptr;    // where it would begin
  const char* groups_ = nullptr;  // where the first of them is
  std::array<const char*, RunFile::kExtentsMax> bases_{};
  std::array<Buffer, RunFile::kExtentsMax + 1> buffers_{};
  size_t buffers_used_ = 0;
  std::vector<PieceRead> planned_;
  PieceReads reads_;
};

}  // namespace hawthorn::tree
