#pragma once
// Merges a container's frozen delta with its run: new run images and value extents, in memory and
// with disk space taken, not yet written.
//
//   frozen delta ─┐                 ┌─ index only: its values to one new extent, old ones kept
//                 ├─ merge, per key ┼─ gather, move: the same, with old extents of about one size
//                 │                 │  or of one data file
//                 │                 ├─ re-cluster: all values rewritten in key order
//   old run ──────┘                 └─ split: the same, each piece a container of its own
//
// Two more shapes make steps of what would be too much or too little: divide cuts a run at given
// keys, before a delta that is much larger is merged part by part; join makes one container of
// small neighbours.
//
// Not here: the cut before, writing and installing after (db/flusher). Which container:
// db/scheduler. Threads: one Merger per thread; it keeps its buffers.
//
// 1. The output reflects every version with cts <= cut and none above (R10).
// 2. Kept per key: the newest version, and the newest for every registered timestamp below the cut
// (R14). A tombstone
//    goes exactly when no older version of its key is kept.
// 3. Operands are folded into values where the operator can and the value is not large; what is
// kept of them as they are is written with its timestamp, and what it needs below is kept (R14).
// 4. A failure (space, memory, damage) leaves nothing behind: extents taken so far are given back.

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hawthorn/merge_operator.h"
#include "hawthorn/status.h"
#include "tree/clones.h"
#include "tree/container.h"
#include "tree/layers.h"
#include "tree/run_builder.h"
#include "tree/store.h"

namespace hawthorn::tree {

struct MergePolicy {
  uint32_t extents_max = 12;      // T: of more value extents those of about one size become one
  double garbage_max = 0.15;      // above this part of the value bytes all are rewritten
  size_t target_bytes = 1 << 20;  // of a container on disk, 64 KB to 64 MB
  bool recluster = false;         // rewrite all values in any case
  // Rewrites the index alone, and of more extents than that can name the smallest ones.
  bool keep_extents = false;
  // Not 0: rewrites all, in pieces each of which takes such a part of the largest range that is
  // ready on disk by then (Space::largest_ready), whatever the target.
  double ready_share = 0;
  // Rewrites what lies in this data file, and the index; large values as moved_large says, which
  // names the new extents by the old ones.
  std::optional<uint32_t> move_file = std::nullopt;
  bool erase = false;  // applies what ranges have deleted, in any case
  const std::map<ExtentAddress, ExtentAddress>* moved_large = nullptr;

  // Whether there is work without a delta.
  bool rewrites() const { return recluster || move_file.has_value(); }
};

struct MergePiece {
  std::string low;
  RunFile* file = nullptr;   // one reference; record and extents are filled in, memory admitted
  std::unique_ptr<Run> run;  // attached; null for an empty run
  bool unchanged_run =
      false;  // the file refers to the old run's extents as they are: only the cut moved
};

struct MergeOutput {
  std::vector<MergePiece> pieces;  // in key order; the first begins with the container's low key
  std::vector<ExtentRef> fresh;    // to be written: their memory holds what disk must get
  std::vector<ExtentRef> dropped;  // not referred to any more by this container
  // Of large values that were in deltas: out of the store's list, since a piece refers to them or
  // since they are dropped.
  std::vector<ExtentRef> taken;
  bool reclustered = false;
  MergeOutput() = default;
  MergeOutput(MergeOutput&&) = default;
  MergeOutput& operator=(MergeOutput&&) = default;
  ~MergeOutput();
};

struct MergeInput {
  const Container* container = nullptr;
  const Delta* delta = nullptr;  // may be null
  RunFile* file = nullptr;
  const MergeOperator* merge_operator = nullptr;  // null: operands are kept as they are
  bool keeps_deletes = false;  // as what they hide may not be in the tree (clones.h)
  PinList pins = {};
  Lsn layered = format::kLsnMax;  // of the tree's oldest committed layer; kLsnMax: it has none
  // Ranges that were deleted up to the cut, and since the run's, newest first: each stands for a
  // tombstone of every key in it (R25).
  std::vector<DeletedRange> deleted = {};
};

class Merger {
 public:
  explicit Merger(Store* store);
  ~Merger();

  // The run of the old file and, where values are rewritten, its value extents are made resident if
  // need be (I/O). The caller keeps both alive. Errors: kNoSpace; kOutOfMemory; kCorruption of the
  // old run or its values; kIoError.
  Result<MergeOutput> merge(const MergeInput& input, Lsn cut, const MergePolicy& policy);
  // One piece of neighbours in key order, all cut at `cut` (R12).
  Result<MergeOutput> join(std::span<const MergeInput> inputs, Lsn cut);
  // An output that will not be installed, although it could be.
  void give_up(MergeOutput output);
  // The run alone, in pieces that begin at the container's low key and at `lows`; their cut is the
  // run's. Pieces may be empty.
  Result<MergeOutput> divide(const MergeInput& input, std::span<const std::string> lows);

  // Whether a merge would need to read from disk.
  static bool needs_io(const Delta* delta, const RunFile& old_file, const MergePolicy& policy);

  struct Work;

 private:
  class WorkMemory;
  class PinnedInputs;
  Result<MergeOutput> finish(const Status& status);
  std::unique_ptr<Work> work_;
};

// A container's size: what it takes on disk without garbage, and a little for each extent of a
// large value.
size_t live_bytes(const RunFile& file);

// The policy with the container's jitter applied (25% up or down, by its id), so that not all come
// due together.
MergePolicy jittered(const MergePolicy& policy, uint64_t container_id);

}  // namespace hawthorn::tree
