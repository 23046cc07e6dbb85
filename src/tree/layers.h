#pragma once
// What transactions that outgrow their share of memory have written, outside of the deltas (R20),
// and the ranges that they have deleted (R25).
//
//   intents in deltas ──spill──> layer: a tree of its own that has no name
//   commit: readers see the layer from its timestamp on
//           ──> its entries are written to the tree by ordinary commits, in the background
//           ──> the layer goes
//
//   delete_range ──> layer: a range, all keys of which it hides
//   commit: readers see it from its timestamp on
//           ──> each container is rewritten without what is hidden, in the background
//           ──> the layer goes
//
// Not here: who spills (txn/spill.cc), who deletes ranges (txn/delete_range.cc), who moves entries
// into the tree (db/layer_merger.h), who rewrites containers (db/range_eraser.h).
// Threads: every function from any thread.
//
// 1. A layer's tree has a key's last state: a byte, kPut or kTombstone, the number of the
//    operation, and the value. What it was before in the same transaction is gone.
// 2. What a transaction has in its deltas ranks above what it has in its layers, a later layer
//    above an earlier one.
// 3. A committed layer ranks where its timestamp puts it among the versions of the tree. So while
//    it is there merges keep the timestamps of what was committed since, and tombstones of that.
// 4. While its transaction is open, nobody else writes its keys: they wait as for a locked row.
//    Whoever spills changes state() before it takes intents away, and a writer that finds it
//    changed under the latch looks again: so one of the two is met.
// 5. To conflict checks a commit that brings entries in is as old as the layer's (relayed).
// 6. Ranges rank below everything else that their transaction has written: what it wrote into one
//    before, it has deleted key by key.
// 7. A run with a cut at or above a range's timestamp was made without what that hides (R10): of
//    such a container the range says nothing any more. Layers that are older it hides everywhere.
// 8. Who reads below a layer's commit does not see it, and who reads all commits that brought it
//    into the tree does not need it: the rest are concerned, and as long as there are any it stays.

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/assert.h"
#include "base/bytes.h"
#include "os/sync.h"
#include "tree/tree_ref.h"
#include "tree/version.h"
#include "tree/visibility.h"

namespace hawthorn::tree {

class TreeState;

// The keys from low on, below high where there is one.
struct KeyRange {
  std::string low;
  std::optional<std::string> high;

  bool covers(std::string_view key) const { return key >= low && (!high || key < *high); }
  bool meets(std::string_view from, const std::optional<std::string_view>& to) const {
    return (!to || low < *to) && (!high || from < *high);
  }
};

struct Layer {
  TreeRef data;  // null: it deletes `range`
  KeyRange range;
  TxnId owner = 0;
  uint64_t level = 0;                     // the savepoint that it began behind; 0: none
  size_t bytes = 0;                       // about, of intents that would hold the same; its owner's
  std::atomic<Lsn> cts{format::kLsnMax};  // kLsnMax: its transaction is open
  // All of it is in the tree, by commits below this: who reads below needs it. kLsnMax: not yet.
  // Of a range: no container needs it.
  std::atomic<Lsn> merged{format::kLsnMax};
  // What the log is needed from; kLsnMax: the manifest knows it.
  std::atomic<Lsn> log_from{0};

  bool deletes() const { return data == nullptr; }
};

// A range that was deleted by a commit.
struct DeletedRange {
  KeyRange range;
  Lsn cts;
};

// At which a layer's tree is read: it has one state of a key, the newest.
inline constexpr ReadView kNewestOfLayer{format::kLsnMax - 1, 0};

// The value of a key in a layer's tree.
struct LayerEntry {
  VersionKind kind = VersionKind::kTombstone;
  uint32_t seq = 0;
  std::string_view value;
};
inline std::string encode_layer_entry(const LayerEntry& entry) {
  std::string result(1, static_cast<char>(entry.kind));
  append(result, entry.seq);
  return result.append(entry.value);
}
inline LayerEntry decode_layer_entry(std::string_view from) {
  constexpr size_t kHeader = 1 + sizeof(uint32_t);
  HAWTHORN_ASSERT(from.size() >= kHeader);
  return {static_cast<VersionKind>(from.front()), load<uint32_t>(from.data() + 1),
          from.substr(kHeader)};
}

class Layers {
 public:
  explicit Layers(TreeState* tree) : tree_(tree) {}
  ~Layers() { delete known_.load(std::memory_order_relaxed); }
  Layers(const Layers&) = delete;
  Layers& operator=(const Layers&) = delete;
  // Changes with each layer that comes or goes, and before each time that intents go to one.
  uint64_t state() const { return state_.load(std::memory_order_seq_cst); }
  // Whether there were some at this state.
  static bool any(uint64_t state) { return (state & 1) != 0; }
  bool any() const { return any(state()); }

  // False: the tree may have none.
  bool add(std::shared_ptr<Layer> layer);
  // From here on it may have none. False: it has some.
  bool forbid();
  void allow();
  // Its transaction is committed: readers see it from there on.
  void commit(Layer& layer, Lsn cts);
  // Its entries are in the tree, by commits below this.
  void merged(Layer& layer, Lsn below);
  // False: it is not there any more, somebody else has removed it.
  bool remove(const Layer* layer);
  // Intents are about to go to one. Returns state() as it was before; it is two more now.
  uint64_t touch() { return state_.fetch_add(2, std::memory_order_seq_cst); }

  using List = std::vector<std::shared_ptr<Layer>>;  // oldest first
  List list() const;
  // Whether a reader has to ask them. One that is not registered reads the newest of a key, and may
  // ask before it looks at the tree.
  bool concern(const ReadView& view, bool registered) const {
    if (!any()) return false;
    const Known& known = *known_.load(std::memory_order_acquire);
    if (view.own != 0 && known.open.load(std::memory_order_acquire) != 0) return true;
    const Lsn to = known.committed_to.load(std::memory_order_acquire);
    return registered
               ? view.ts < to && view.ts >= known.committed_from.load(std::memory_order_acquire)
               : to == format::kLsnMax;
  }
  // Those that concern a registered reader, in descending order of rank.
  struct Seen {
    std::shared_ptr<Layer> layer;
    Lsn cts;  // kLsnMax: its own
  };
  std::vector<Seen> seen(const ReadView& view) const;
  // Those of other transactions that are open.
  List open_of_others(TxnId own) const;
  // Whether one that may have keys of this range was committed above the floor.
  bool committed_above(Lsn floor, std::string_view low,
                       const std::optional<std::string_view>& high) const;
  bool committed_above(Lsn floor, std::string_view key) const;
  // Of the ranges that were deleted by commits in (above, upto], those that meet this one; the
  // newest first.
  std::vector<DeletedRange> deleted(Lsn above, Lsn upto, std::string_view low,
                                    const std::optional<std::string_view>& high) const;
  bool is_deleted(std::string_view key, Lsn above) const;
  // Whether there is nothing that anybody may come back for.
  bool rest() const { return !any() && !any_relay(); }
  // How many delete ranges, open or committed.
  size_t ranges() const {
    const Known* const known = known_.load(std::memory_order_acquire);
    return known == nullptr ? 0 : known->ranges.load(std::memory_order_acquire);
  }
  // Of them, how many are committed and not done.
  size_t ranges_to_erase() const;
  // The newest commit that deleted a range, also of one that is gone; 0: none.
  Lsn newest_deleted() const {
    const Known* const known = known_.load(std::memory_order_acquire);
    return known == nullptr ? 0 : known->newest_deleted.load(std::memory_order_acquire);
  }
  // Whether there are some with entries.
  bool have_entries() const {
    const Known* const known = known_.load(std::memory_order_acquire);
    return known != nullptr && known->entries.load(std::memory_order_acquire) != 0;
  }
  // What a layer holds was brought in by a commit at `cts`, all of which it is: who looks for what
  // was committed since he began meets it as if it were of the layer's commit. Before the commit is
  // visible, in ascending order.
  void relayed(Lsn cts, const Layer& layer);
  // Whether there was such a commit at `cts`, of a layer committed at or below the floor.
  bool relays(Lsn cts, Lsn floor) const;
  // Nobody looks at or below this timestamp any more.
  void forget_relays(Lsn below);
  // The timestamp of the oldest one that is committed and has entries; kLsnMax: there is none.
  Lsn oldest_committed() const;
  // What the log is needed from by those that are committed.
  Lsn log_needed() const;

 private:
  struct Relay {
    Lsn cts;
    Lsn layer;
  };
  // Most trees never have any: made with the first, and kept as long as the tree. What is no atomic
  // under the mutex.
  struct Known {
    std::atomic<size_t> open{0};  // of those that are listed
    std::atomic<size_t> ranges{0};
    std::atomic<size_t> entries{0};  // that have some
    std::atomic<Lsn> newest_deleted{0};
    // All that are committed concern readers from here on, and below there.
    std::atomic<Lsn> committed_from{format::kLsnMax};
    std::atomic<Lsn> committed_to{0};
    std::atomic<bool> any_relay{false};
    std::vector<Relay> relays;
    List list;

    void look_at_committed();
    void note_deleted(const Layer& layer);
  };
  bool insert(std::shared_ptr<Layer> layer) EXCLUDES(mutex_);
  Known& make_known() REQUIRES(mutex_);
  // There is one.
  Known& known() const { return *known_.load(std::memory_order_acquire); }
  bool any_relay() const {
    const Known* const known = known_.load(std::memory_order_acquire);
    return known != nullptr && known->any_relay.load(std::memory_order_acquire);
  }

  TreeState* const tree_;
  std::atomic<uint64_t> state_{0};
  std::atomic<Known*> known_{nullptr};
  mutable os::Mutex mutex_;
  bool forbidden_ GUARDED_BY(mutex_) = false;
};

}  // namespace hawthorn::tree
