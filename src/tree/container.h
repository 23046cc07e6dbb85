#pragma once
// A key range of a tree: its unflushed versions (active and frozen delta) and its run on disk.
//
//   writers ──latch──> active delta ──cut──> frozen delta ──merge──> run file
//
// Not here: merging (merge.h), choosing what to flush (db/scheduler), finding a container by key
// (directory.h). Threads: readers inside an epoch guard; `latch` guards inserts, cuts and the
// installation of descriptors.
//
// 1. A descriptor {active, frozen, run} is immutable and swapped whole (R11). Swaps happen under
// the latch.
// 2. Writers insert under the latch, into the active delta of the descriptor that they load under
// it; a container that was
//    split or joined is `dead` then, and they start again from the directory.
// 3. The range [low, high) never changes; a split makes new containers. All keys share the first
// skip() bytes.
// 4. The run holds every version with cts <= run->record.cut and none above (R10).
// 5. Its leaf of the directory counts it as dirty while a delta of it has entries, and from before
//    the first one.

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/thin.h"
#include "os/small_objects.h"
#include "os/sync.h"
#include "tree/block_read.h"
#include "tree/delta.h"
#include "tree/node_sums.h"
#include "tree/operands.h"
#include "tree/run_file.h"
#include "tree/snapshots.h"
#include "tree/visibility.h"

namespace hawthorn::tree {

struct Descriptor : os::InHugePages {
  Descriptor(Delta* active_delta, Delta* frozen_delta, RunFile* file)
      : active(active_delta), frozen(frozen_delta), run(file) {}
  Delta* active;
  Delta* frozen;  // may be null
  RunFile* run;
  // Owns one reference to each.
  ~Descriptor();
};

// A key, and a container's range, in words, for messages.
std::string quoted_key(std::string_view key);
std::string key_range_text(uint32_t tree, std::string_view low, std::string_view high,
                           bool has_high);

// Flushes that are not durable in the manifest before their batches are, and from where on the log
// is needed for them. A container that is flushed again and again has one under way at any time, so
// each must count no longer than its own batch takes.
class UnpublishedFlushes {
 public:
  void add(uint64_t batch, Lsn first_lsn);
  void add(const UnpublishedFlushes& others);
  // Forgets those up to this batch. What the rest needs; kLsnMax: nothing.
  Lsn needed_after(uint64_t durable_batch);

 private:
  struct Flush {
    uint64_t batch = 0;  // 0: there is none
    Lsn first_lsn = format::kLsnMax;
  };
  // One batch may be durable and not yet looked at, one is being published, one is filling.
  static constexpr size_t kFlushes = 3;
  ThinVector<Flush> flushes_;  // so many, or none, as of what rests
};

struct alignas(64) Container : os::InHugePages {
  Container(uint32_t tree_id, std::string_view low_key, std::string_view high_key, bool bounded,
            Descriptor* first);
  ~Container();
  Container(const Container&) = delete;
  Container& operator=(const Container&) = delete;

  std::atomic<Descriptor*> descriptor;
  // What the descriptor leads to, for prefetches only: it may be gone.
  std::atomic<const Delta*> near_delta{nullptr};
  std::atomic<const RunFile*> near_file{nullptr};
  std::atomic<const Run*> near_run{nullptr};
  uint32_t intents = 0;  // versions in the active delta that are not stamped yet; under the latch
  os::Mutex latch;
  bool dead = false;                  // under the latch
  std::atomic<bool> flushing{false};  // one flush at a time
  std::atomic<bool> large{false};     // reported as due for its size
  const bool has_high;
  NodePart part;             // what `sums` has of it; under the latch
  NodeSums* sums = nullptr;  // of its leaf; null: in no directory. Under the latch
  const uint32_t skip;
  const uint32_t tree;
  const ThinString low;
  const ThinString high;

  Lsn frozen_cut = 0;  // of the descriptor's frozen delta; under the latch
  // The active delta's entries that may carry intents; repeats happen. Empty when `intents` is 0.
  // Under the latch.
  ThinVector<DeltaEntry*> open_entries;
  // What the log is needed for beyond the present deltas. Under the latch.
  UnpublishedFlushes unpublished;

  bool covers(std::string_view key) const { return key >= low && (!has_high || key < high); }
  std::string range_text() const { return key_range_text(tree, low, high, has_high); }

  // Swaps the descriptor, and counts it; the old one is retired. REQUIRES the latch.
  void install(Descriptor* next);
  void note_near(const Descriptor& next);
  // These need the latch, too. Before an entry is added to the active delta:
  void note_write() {
    if (!part.dirty) note_dirty();
  }
  // Its part of the sums, after a change of what there is to count.
  void recount(const Descriptor& present);
  // From now on `to` has it; the leaf that had it before keeps what it has.
  void count_in(NodeSums* to);
  // Starts to fetch what a write of this container needs first.
  void prefetch_write() const {
    __builtin_prefetch(descriptor.load(std::memory_order_relaxed));
    __builtin_prefetch(near_delta.load(std::memory_order_relaxed));
  }
  // Starts to fetch all that a point read of this container goes through.
  void prefetch_read() const {
    __builtin_prefetch(descriptor.load(std::memory_order_relaxed));
    __builtin_prefetch(near_delta.load(std::memory_order_relaxed));
    __builtin_prefetch(near_file.load(std::memory_order_relaxed));
    Run::prefetch_tables(near_run.load(std::memory_order_relaxed));
  }

 private:
  void note_dirty();
};
// There may be very many of them, at least one in each tree.
static_assert(sizeof(Container) == 128);

// What a point read found.
struct PointRead {
  enum class State : uint8_t {
    kFound,  // value is set
    kAbsent,
    kStale,       // start again from the directory
    kNeedRun,     // the front of the run is not resident: load it, then again
    kNeedBlocks,  // `needed`, of the run's heap or of a value extent, is not at hand
    kDamaged,     // a record is not what a record can be
    kLarge,       // value is an encoded format::LargeValue
    kOperands,    // for a merge operator: read again with something to gather them in
  };
  State state = State::kAbsent;
  std::string_view value;
  Lsn cts = 0;              // of what decided; kLsnMax: an own intent. 0: not known, or nothing did
  Delta* delta = nullptr;   // holds the value; or
  RunFile* file = nullptr;  // holds it (the descriptor's run, set also for what is needed)
  BlockRange needed;
};

// Reads a key as `view` sees it. `registered`: view.ts is in the registry of snapshots; otherwise a
// version that may have been pruned gives kStale. `cold`: where to look for what is not resident as
// a whole; null: nowhere. `operands`, empty: takes those above what is found. Inside an
// epoch guard.
PointRead read_point(const Descriptor& descriptor, std::string_view key, const ReadView& view,
                     const TxnSlots& slots, bool registered, ColdBlocks* cold = nullptr,
                     Operands* operands = nullptr);

// Links a copy of a version as the newest of `entry`, which is one of `to`. False: no memory.
bool copy_version(const Version& from, uint64_t stamp, uint8_t flags, DeltaEntry* entry, Delta& to);

// What a cut or a split took out of a delta.
struct Moved {
  std::vector<Version*> versions;   // to be marked kMoved once the new descriptor stands
  std::vector<DeltaEntry*> copies;  // the entries of the new delta
  std::vector<TxnId> intents;       // of the copies that are not stamped, one for each
  uint32_t replayed = 0;  // copies that are: of commits whose record comes later in a replay
};

// Copies every version of these entries (each given once) that is not committed with a cts <= cut
// into `to` (R11), oldest first, and stamps those that are. The caller holds the latch. At a cut
// the entries are those that carry intents: everything else is committed at or below it. Returns
// false when memory ran out: `to` and *moved are then useless, and nothing else was changed.
bool copy_unflushed(std::span<DeltaEntry* const> entries, Delta& to, Lsn cut, const TxnSlots& slots,
                    Moved* moved);

}  // namespace hawthorn::tree
