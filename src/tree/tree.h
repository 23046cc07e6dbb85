#pragma once
// One tree: a directory of containers, and what is done to a key in it.
//
// Not here: names (db/catalog.h), commit order and transactions (txn), choosing what to flush (db).
// Used by txn and db. Threads: every function from any thread. Functions that may read from disk
// take no epoch guard across it.
//
// 1. A write installs an intent under the latch of the one container that covers its key; it is
// stamped after its commit,
//    or unlinked after its abort, by (tree, key, seq): the container and delta may have changed
//    meanwhile (R11).
// 2. A writer that meets another transaction's intent marks both contended (R18).
// 3. Structure (splits) changes under structure_mutex only, one flush at a time per container.

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "format/tree_shape.h"
#include "hawthorn/merge_operator.h"
#include "hawthorn/status.h"
#include "hawthorn/value.h"
#include "tree/attachment.h"
#include "tree/clones.h"
#include "tree/conflicts.h"
#include "tree/container.h"
#include "tree/directory.h"
#include "tree/layers.h"
#include "tree/merge.h"
#include "tree/operands.h"
#include "tree/store.h"
#include "tree/tree_ref.h"
#include "tree/undo_list.h"

namespace hawthorn::tree {

struct WriteContext {
  TxnId id = 0;
  uint32_t seq = 0;  // of the next operation
  Lsn read_ts = 0;   // of a transaction that must not lose updates
  bool check_conflicts = false;
  Lsn log_from = format::kLsnMax;  // what it writes stands in the log already, from here on
  UndoList* undo = nullptr;
  uint64_t layers = 0;  // Layers::state() of the tree when those of others were asked for the key
  // Set by a delete behind which, for this transaction, nothing may be left of its container
  // (TreeCursor::look_for_dead); cleared by whoever looks.
  bool may_be_empty = false;
};

class TreeState;

// An operation of the log that is applied again.
struct Replayed {
  TreeState* tree = nullptr;
  std::string_view key;
  std::string_view value;
  VersionKind kind = VersionKind::kPut;
  // Its commit will become visible only later: a cut carries it on, as it does an open
  // transaction's.
  bool open = false;
  bool fresh = false;          // no run has it, whatever the cuts say
  bool beyond_budget = false;  // take memory all the same
  uint32_t seq = 0;
  uint32_t source = 0;  // the caller's
  Lsn cts = 0;
  Lsn first_lsn = 0;
  Container* container = nullptr;  // replay's
};

class TreeState : public os::InHugePages {
 public:
  // How many bytes of the budget a tree takes without its containers: its object, its packed
  // records in the catalog and in the manifest, its cell, and its entries in a map and in lists.
  static constexpr ptrdiff_t kHeapBytes = 192 + 52 + 24 + 72;

  // Takes over the containers (in key order, covering all keys).
  TreeState(Store* store, uint32_t id, std::vector<Container*> containers);
  ~TreeState();

  uint32_t id() const { return id_; }
  Store* store() const { return store_; }
  // Where handles find it; null: nowhere. Set once, before anybody else knows the tree.
  TreeCell* cell() const { return cell_; }
  void set_cell(TreeCell* cell) { cell_ = cell; }
  // Whether a TreeRef keeps it.
  bool is_held() const { return holders_.load(std::memory_order_acquire) != 0; }
  // Null: it has none. Set once, by open or by the catalog; lives as long as the database.
  const MergeOperator* merge_operator() const {
    return merge_operator_.load(std::memory_order_acquire);
  }
  // That is shown keys, not what they are stored as.
  void set_merge_operator(const MergeOperator* to);
  // Errors: kInvalidArgument where it has no operator.
  Status can_merge() const;
  // What its keys are stored as; null: as they are. Everything here speaks of stored keys.
  const format::TreeShape* shape() const { return shape_.get(); }
  // Before anybody else knows the tree.
  void set_shape(std::unique_ptr<const format::TreeShape> shape) { shape_ = std::move(shape); }
  // Null: it is no clone.
  CloneBase* base() const { return base_.get(); }
  // Before anybody else knows the tree.
  void set_base(std::unique_ptr<CloneBase> base) { base_ = std::move(base); }
  // The commit that made the clone; `log_from`: where that begins in the log. Before it is visible.
  void show_base(Lsn cts, Lsn log_from);
  // Of its clones.
  Pins& pins() { return pins_; }
  const Pins& pins() const { return pins_; }
  Layers& layers() { return layers_; }
  const Layers& layers() const { return layers_; }
  Directory& directory() { return directory_; }
  const Directory& directory() const { return directory_; }

  // A container without run, for a new tree.
  static Container* empty_container(Store* store, const format::ContainerRecord& record);
  static Container* make_container(Store* store, const format::ContainerRecord& record,
                                   std::string high, bool has_high, RunFile* file);
  // As open finds it: nothing is written to most of them for long.
  static Container* resting_container(Store* store, const format::ContainerRecord& record,
                                      std::string high, bool has_high, RunFile* file);

  // ---- Writing (the latch passes between functions with its container, beyond clang's analysis)

  // Installs one intent. `key` must stay in memory until the undo entry is used. Errors: kConflict;
  // kBusy where another transaction has locked the row, or its layers may have it now (nothing was
  // done); kOutOfMemory when the arena is full (nothing was done; make room and try again);
  // kCorruption, kIoError of a conflict check.
  Status write(WriteContext& context, std::string_view key, VersionKind kind,
               std::string_view value) NO_THREAD_SAFETY_ANALYSIS;
  // Installs committed versions in this order, each that is not fresh unless its container's cut
  // already covers it.
  // kOutOfMemory as above: the first *done of them are installed.
  static Status replay(std::span<Replayed> operations, size_t* done) NO_THREAD_SAFETY_ANALYSIS;
  // What has just been replayed of this key would not wait for the rest of its commit: now it does.
  void hold_replayed(std::string_view key) NO_THREAD_SAFETY_ANALYSIS;
  // All commits are visible now.
  void end_replay();
  // Another transaction that has an intent on the key and is neither committed nor rolled back; 0:
  // none.
  TxnId open_intent(std::string_view key, TxnId own) NO_THREAD_SAFETY_ANALYSIS;
  // Whether this transaction has one there.
  bool has_intent(std::string_view key, TxnId id) NO_THREAD_SAFETY_ANALYSIS;
  // Whether nothing may be left of the container by now (TreeCursor::look_for_dead).
  [[nodiscard]] static bool stamp(const Undo& undo, TxnId id, Lsn cts) NO_THREAD_SAFETY_ANALYSIS;
  static void roll_back(const Undo& undo, TxnId id) NO_THREAD_SAFETY_ANALYSIS;
  // Appends the operation behind an intent of an open transaction as the log stores it. False: its
  // tree was dropped.
  static bool append_open(const Undo& undo, TxnId id, std::string* out) NO_THREAD_SAFETY_ANALYSIS;
  // Whether a commit newer than `floor` wrote a key, or any key of a range; reads nothing from
  // disk. `own` intents do not count. kNeedRun: a run would tell that is not in memory, and not
  // among `searched`, those known to hold none. *run, unless null: that run, or the one that was
  // searched; empty where deltas alone told.
  enum class Newer : uint8_t { kNo, kYes, kNeedRun };
  Newer newer_commit(std::string_view key, Lsn floor, TxnId own, const RunFile* searched,
                     PinnedRunFile* run) const;
  Newer newer_commit_in(RangeCheck& range, Lsn floor, TxnId own, PinnedRunFile* run) const;

  // ---- Layers (layers.h)

  // Another transaction that is open and has the key in a layer, or in one of the `ranges` that it
  // deletes; 0: none. Errors: those of a get.
  Result<TxnId> layer_holder(std::string_view key, TxnId own, bool ranges) const;
  // Copies an intent that may go to a layer. False: it is gone, or has to stay where it is.
  static bool copy_for_layer(const Undo& undo, TxnId id, VersionKind* kind,
                             std::string* value) NO_THREAD_SAFETY_ANALYSIS;
  // Takes it away, as its layer has it. False: it has to stay after all.
  static bool unlink_for_layer(const Undo& undo, TxnId id) NO_THREAD_SAFETY_ANALYSIS;

  // Whether the tree itself has a version of the key that was committed above `floor`. Errors:
  // those of a read.
  Result<bool> has_newer(std::string_view key, Lsn floor) const;

  // ---- Reading

  // Errors: kNotFound; kCorruption; kIoError; kOutOfMemory; kNotSupported for a value over 64 MB.
  Status get(std::string_view key, const ReadView& view, bool registered, Value& value);
  // The encoded format::LargeValue when the value is large: get follows it up to 64 MB, streams
  // read by parts. *own: whether this tree has it, and not what it is a clone of.
  Status get_encoded(std::string_view key, const ReadView& view, bool registered, Value& value,
                     bool* large, bool* own = nullptr);
  // What operands make of an existing value. Errors: kCorruption where the operator refuses;
  // kNotSupported for more than 64 MB. Calls the operator: under no latch, in no guard.
  Status fold(std::string_view key, std::optional<std::string_view> existing,
              const Operands& operands, std::string* result) const;
  // `view` must be registered.
  Status multi_get(std::span<const std::string_view> keys, const ReadView& view, ReadBatch& out);

  // ---- Flushing

  struct Cut {
    Container* container = nullptr;
    Delta* frozen = nullptr;  // referenced; null when there was nothing to freeze
    RunFile* file = nullptr;  // referenced
    Lsn cut = 0;
    Cut() = default;
    Cut(Cut&& other) noexcept;
    Cut& operator=(Cut&& other) noexcept;
    ~Cut();
  };
  // What a merge of it starts from. Behind the cut.
  MergeInput merge_input(const Cut& cut) const;
  // Freezes the active delta at visible_ts. Nothing when the container died, is being flushed, or
  // most of its versions belong to open transactions (force: freezes all the same). Ended by
  // install, drop_empty or give_up.
  std::optional<Cut> cut(Container* container, bool force);
  // The run of a container whose active delta is larger than `bytes`, to be divided: nothing is
  // frozen before the parts stand. Nothing when it is not, or a large part of it is open.
  std::optional<Cut> cut_to_divide(Container* container, size_t bytes);
  // Freezes neighbours (in key order) at one timestamp (R12). Empty when that cannot be now. Ended
  // by install_joined or give_up of each.
  std::vector<Cut> cut_to_join(std::span<Container* const> containers) NO_THREAD_SAFETY_ANALYSIS;
  // Where the frozen delta, shared with other parts of a split, holds no key of this container:
  // lets go of it, and true.
  static bool drop_empty(Cut& cut);
  // Puts the merged result in place; `batch` is the manifest batch that will make it durable. What
  // it names must come to be: where neither the system nor the reserve (os/memory_reserve.h) has
  // memory for that the process ends, and the log has what was flushed.
  void install(Cut& cut, MergeOutput& output, uint64_t batch) noexcept;
  // What is open in a container that is divided, and all that is written meanwhile to those that
  // are joined, is copied: these tell when that is little.
  static bool few_open(const Cut& cut);
  static bool few_written(std::span<const Cut> cuts);
  void install_joined(std::span<Cut> cuts, MergeOutput& output,
                      uint64_t batch) noexcept NO_THREAD_SAFETY_ANALYSIS;
  // After a failed merge: the frozen delta stays; the next cut takes it along.
  void give_up(Cut& cut);

  // ---- Attaching (R10, R12)

  static constexpr uint64_t kNoContainer = ~uint64_t{0};
  // As cut_to_divide, whatever the size of its delta.
  std::optional<Cut> cut_to_carve(Container* container);
  // The id of the container that begins with `low`; kNoContainer when none does.
  uint64_t container_id(const std::string& low) const;
  // Takes hold of the container that has exactly this range, if it holds nothing that is committed.
  // While commits wait that stays so until it is released. kBusy: it is being flushed.
  enum class Claim : uint8_t { kClaimed, kBusy, kOccupied };
  Claim claim(Attachment& attachment);
  static void release(Attachment& attachment);
  // Puts it in place, claimed, with its timestamps; who reads below record.cut does not see it.
  // `first_lsn`: what the log is needed from until `batch` is durable.
  void attach(Attachment& attachment, Lsn first_lsn, uint64_t batch);
  // While the log is replayed. Errors: kCorruption where its container is not, or not empty.
  Status attach_replayed(const Attachment& attachment, Lsn first_lsn, uint64_t batch);

  // The smallest lsn that some container still needs; `durable_batch`: batches up to it are
  // durable. *rests: nothing is to be done in the tree (active_trees.h); *use: what it has on disk,
  // of a tree that seems to rest: its empty deltas are given back.
  Lsn log_needed(uint64_t durable_batch, bool* rests = nullptr, SpaceUse* use = nullptr);
  // Whether all that was committed up to cts is in runs, which batches up to durable_batch name.
  bool flushed_to(Lsn cts, uint64_t durable_batch);
  uint64_t structure_version() const { return structure_.load(std::memory_order_acquire); }
  os::Mutex& structure_mutex() { return structure_mutex_; }

  // The commit that dropped it: what reads from there on does not have it. kLsnMax: it stands.
  // kUnborn: its maker has not committed; 0: and never will.
  static constexpr Lsn kUnborn = 1;
  std::atomic<Lsn> ended{format::kLsnMax};
  [[gnu::always_inline]] bool stands() const {
    return ended.load(std::memory_order_acquire) == format::kLsnMax;
  }
  // By a commit, which for whoever has used the tree before is one of all of its keys.
  bool was_dropped() const { return !stands() && ended.load(std::memory_order_acquire) > kUnborn; }
  // Nobody reads it any more, and what it has on disk is taken away.
  std::atomic<bool> dropped{false};
  std::atomic<bool> drop_durable{false};  // only then the log may go

 private:
  friend class ActiveTrees;
  friend class PointGet;
  friend class TreeRef;
  Status replay_one(const Replayed& operation) NO_THREAD_SAFETY_ANALYSIS;
  // Finds the container for writing and locks its latch.
  Container* lock_container(std::string_view key) NO_THREAD_SAFETY_ANALYSIS;
  // Under the latch, before a write: the active delta, or one in the place of Delta::none().
  Delta* own_delta(Container* container, Delta* active) const;
  // Under the latch, of a tree that rests: the other way round.
  static void give_back_delta(Container* container);
  static Container* lock_undo(const Undo& undo) NO_THREAD_SAFETY_ANALYSIS;
  static Version* find_intent(Container* container, const Undo& undo, TxnId id, DeltaEntry** entry);
  Lsn visible_now(Lsn* logged) const;
  bool move_open(std::vector<DeltaEntry*> entries, Lsn cut, Lsn logged, Lsn from_first, Delta* to,
                 Container* target, std::vector<Version*>* moved);
  bool freeze(Container* container, Lsn cut, Lsn logged, Cut* result);
  void settle(Container* target, const Cut& cut, uint64_t batch);
  RunFile* file_of(const Attachment& attachment) const;
  uint8_t meet_intents(const DeltaEntry* entry, const WriteContext& context);
  bool prune(Delta* delta, DeltaEntry* entry, bool* many_operands) const;
  void fold_chain(std::string_view key) NO_THREAD_SAFETY_ANALYSIS;
  PointRead read_at(const Descriptor& descriptor, std::string_view key, ReadView view,
                    bool registered, ColdBlocks* cold, Operands* operands = nullptr);
  Status read_large(const std::string& encoded, const std::function<char*(size_t)>& room) const;
  Status read_slow(std::span<const std::string_view> keys, std::span<const uint32_t> slow,
                   const ReadView& view, ReadBatch& out, BatchItem* items);

  // Before a container gets its first entry, and behind other work: under its latch.
  void note_active() {
    if (!active_.load(std::memory_order_relaxed)) store_->active.add(this);
  }

  std::atomic<bool> active_{false};  // of its activity
  const uint32_t id_;
  Store* const store_;
  std::atomic<const MergeOperator*> merge_operator_{nullptr};
  std::unique_ptr<const format::TreeShape> shape_;
  std::unique_ptr<CloneBase> base_;
  Pins pins_;
  Layers layers_{this};
  Directory directory_;
  std::atomic<uint64_t> structure_{1};
  // Apart from what is only read: each transaction writes it.
  alignas(64) std::atomic<uint32_t> holders_{0};
  os::Mutex structure_mutex_;
  // Under the mutex of the list.
  struct Activity {
    bool listed = false;
    bool let_go = false;
    uint32_t place = 0;
    SpaceUse resting;
  };
  Activity activity_;
  TreeCell* cell_ = nullptr;
  std::unique_ptr<const MergeOperator> shaped_operator_;
};
static_assert(sizeof(TreeState) == 192);

}  // namespace hawthorn::tree
