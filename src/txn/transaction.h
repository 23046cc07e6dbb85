#pragma once
// A transaction from the inside: its slot, its intents, its operations on their way to the log.
//
// The public Transaction (db/) and every single write go through this class.
// Not here: the public handle, what was read (read_set.h), large values (db/large_values.h),
// background work.
// Threads: one object, one thread at a time.
//
// 1. Operations are buffered as the log stores them; a transaction larger than kChunkBytes logs
// chunks on the way (R5),
//    and an abort then logs that, too.
// 2. Every intent stands in undo_ until it is stamped or rolled back; the slot is released after
// that (R16).
// 3. Memory is waited for before the intent is installed, never after the commit record (R4).
// 4. What it holds comes from the arena as it grows, or is counted against the budget; between two
//    transactions it keeps a few KB.
// 5. A mark is a length of the undo list and of what goes with it; rolling back to it takes the
// intents away, and, where some are logged already, logs that those do not count. Operation numbers
// are used again then.
// 6. A prepared transaction (prepare.cc) has all of it in the log, holds a lock on each row that it
//    wrote, and ends as it was told to, or not at all.
// 7. Once it has logged a chunk the reappender may read its undo list, up to what is logged, until
//    it ends: the list grows, chunks are logged and the end begins under logged_'s mutex.

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "format/large_value.h"
#include "format/operation.h"
#include "hawthorn/commit_hook.h"
#include "hawthorn/options.h"
#include "hawthorn/status.h"
#include "tree/layered_dead.h"
#include "tree/snapshots.h"
#include "tree/tree.h"
#include "txn/conflict_search.h"
#include "txn/read_set.h"
#include "txn/reappender.h"
#include "txn/row_locks.h"
#include "txn/sequencer.h"
#include "txn/tree_changes.h"

namespace hawthorn::txn {

// What a writer asks before it takes memory, and when there is none.
class Admission {
 public:
  virtual ~Admission() = default;
  // Before `bytes` are added to deltas; may do a bounded piece of flushing, or wait. Errors:
  // kNoSpace (inserts only: what deletes add can be flushed on a full disk), kReadOnly.
  virtual Status admit(size_t bytes, bool insert) = 0;
  // The arena is full: makes room or waits for it. *futile: how often in a row there was none, 0
  // when the caller begins. Errors: kOutOfMemory when waiting would not help.
  virtual Status relieve(uint32_t* futile) = 0;
  // Whether deltas are full of what open transactions hold, so that nothing can be flushed.
  virtual bool stuck() const = 0;
  // The log found no space: flushes so that its segments serve again. Errors: those of the log and
  // of publishing; kNoSpace where not all could be flushed, which says why another try may fail.
  virtual Status free_log() = 0;
};

struct Services {
  tree::Store* store = nullptr;
  Sequencer* sequencer = nullptr;
  Admission* admission = nullptr;
  Reappender* reappender = nullptr;
  RowLocks* row_locks = nullptr;
  TreeKeeper* trees = nullptr;
};

enum class Mode : uint8_t { kBlind, kOptimistic, kPessimistic, kExclusive };
enum class Level : uint8_t { kReadCommitted, kSnapshot, kSerializable };

struct Begin {
  Mode mode = Mode::kBlind;
  Level level = Level::kSnapshot;
  bool read_only = false;
  std::optional<Lsn> at = std::nullopt;  // reads this timestamp, which somebody has registered
  uint64_t lock_timeout_us = 0;
  bool spills = true;  // where it outgrows its share of memory
  // Its commit is no part of what others see of transactions: it may be made beside an exclusive
  // transaction by the thread of that, fails with kBusy beside another thread's in place of
  // waiting, and the tree that it writes to need not stand.
  bool aside = false;
  // Of a commit of the program: they are asked and told. Null: none.
  const std::vector<std::shared_ptr<CommitHook>>* hooks = nullptr;
  // It brings what this layer of a tree holds into it, and nothing else.
  tree::TreeState* relays_to = nullptr;
  const tree::Layer* relays = nullptr;
};

// What a commit puts in place beside its versions: containers of a bulk ingest.
class Attaching {
 public:
  virtual ~Attaching() = default;
  // While all other commits wait: takes hold of where they go. Errors: kBusy when that may be
  // possible in a moment; kConflict when somebody has written there. Must not wait for commits.
  virtual Status claim() = 0;
  // The commit record is logged: puts them in place. Cannot fail. `first_lsn`: of its first chunk.
  virtual void attach(Lsn cts, Lsn first_lsn) = 0;
  // Lets go of what claim has taken, also after an error.
  virtual void release() = 0;
};

// A prepared transaction that the log of an earlier process has left.
struct FoundPrepared {
  PrepareRecords records;
  TxnId logged_id = 0;
  Lsn first_lsn = 0;
  uint32_t operations = 0;
};

class Txn : private CommitCheck {
 public:
  explicit Txn(const Services& services)
      : services_(services),
        undo_(services.store->arena),
        reads_(services.store),
        locks_(services.store->arena) {}
  ~Txn() override;
  Txn(const Txn&) = delete;
  Txn& operator=(const Txn&) = delete;

  // A Txn may be used again after it ended. Errors: kBusy without a free slot; those of
  // begin_exclusive.
  Status begin(const Begin& how);
  bool open() const { return id_ != 0; }

  // Buffers the operation and installs its intent. The bytes are copied. Errors: kConflict and
  // those of TreeState::write; those of the log when it takes a chunk: then commit answers the same
  // and rolls back. A large value that is refused is dropped.
  Status write(tree::TreeState* tree, format::OperationType type, std::string_view key,
               std::string_view value);
  // All keys of [low, high), without `high` to the end, that are there before it, as
  // delete_range.cc says. Not of kBlind. Errors: as write; kTimedOut also where others hold locks,
  // or too many ranges wait to be erased.
  Status delete_range(tree::TreeState* tree, std::string_view low,
                      std::optional<std::string_view> high);
  // Installs the intents of encoded operations that stay in memory until the transaction ended, and
  // are its only ones. `find_tree` gives the tree of an id, or null. Its large values are given
  // before, by own_large.
  Status write_all(std::string_view operations, uint32_t count,
                   const std::function<tree::TreeState*(uint32_t)>& find_tree);

  // A large value that write_all is to name: dropped when the transaction is rolled back, however
  // far it came.
  void own_large(std::string_view encoded);

  // Errors: kConflict, those of the log: the transaction is rolled back then. kUnknownOutcome: it
  // is committed.
  Status commit(Durability durability);
  // Asks the hooks, if there are any: an error refuses the commit.
  Status ask_hooks(uint64_t more, Durability durability) const;
  // Commits what was written together with `operations` (encoded, `count` of them), which have no
  // intents: `attaching` puts in place what they say. Everybody sees all of it at one moment.
  // Errors: kBusy and kConflict of claim, kNoSpace of the log, and others: the transaction is
  // rolled back then. kInvalidArgument when this thread has an exclusive transaction open.
  Status commit_attaching(std::string_view operations, uint32_t count, Attaching& attaching,
                          Durability durability);
  void abort();

  // Makes it survive whatever comes, under this id, until commit_prepared or abort_prepared; it
  // does nothing else any more. Optimistic and pessimistic ones only. Errors: kConflict, kTimedOut,
  // kDeadlock and those of reading: it is as before; those of the log, after which it cannot
  // commit, either; kUnknownOutcome when the sync failed: it is prepared as far as this process
  // knows.
  Status prepare(std::string_view id);
  bool may_prepare() const {
    return !read_only_ && (mode_ == Mode::kOptimistic || mode_ == Mode::kPessimistic);
  }
  bool prepared() const { return prepared_ != nullptr; }
  // Errors: kUnknownOutcome: it is committed, or when rolling back, may still be there after a
  // crash. All others: it is as before.
  Status commit_prepared(Durability durability);
  Status abort_prepared();
  // Lets go of all memory and locks, and leaves what the log says. The trees are about to go.
  void abandon();
  // Of one that was found: begin, then each operation in the order of its numbers, then its locks
  // and what it has read. Without other threads. Errors: kOutOfMemory; kCorruption.
  Status begin_found(const FoundPrepared& found);
  // Told of its commit, whichever process prepared it.
  void set_hooks(const std::vector<std::shared_ptr<CommitHook>>* hooks) { hooks_ = hooks; }
  Status install_found(tree::TreeState* tree, const format::Operation& operation, uint32_t seq);
  Status end_found(const FoundPrepared& found);
  const PrepareRecords& records() const { return *records_; }
  size_t operations() const { return undo_.size(); }

  // A moment to roll back to: its number, never used again in this transaction.
  uint64_t mark();
  // Errors: kInvalidArgument where the mark is gone; those of the log, and then of commit.
  Status roll_back_to(uint64_t number);
  Status release_mark(uint64_t number);

  // What it reads: one moment, with its own writes; or, with read_ts 0, whatever is newest at each
  // read, which nobody needs to register.
  tree::ReadView view() const { return {read_ts_, id_}; }
  bool reads_one_moment() const { return one_moment_; }
  // Whether what it reads must not change before it commits. If so, it says what it reads.
  bool tracks_reads() const { return tracks_reads_; }
  void note_read(const tree::TreeState* tree, std::string_view key);
  ReadSet& reads() { return reads_; }
  // What it does to a range counts at its commit: where it reads another moment, it fails if the
  // range was changed in between.
  void expect_unchanged(tree::TreeState* tree, std::string_view low,
                        std::optional<std::string_view> high);
  // What a change rests on: nobody else may have committed to the key, or to the range, between
  // what the view shows and the commit of this transaction, whatever its mode and level, or it
  // fails. The view is registered. Not of kBlind.
  tree::ReadView expect_key(const tree::TreeState* tree, std::string_view key);
  tree::ReadView expect_range(const tree::TreeState* tree, std::string_view low,
                              std::optional<std::string_view> high);
  // Before a read of a key that nobody may change until this transaction has ended, or it fails to
  // commit. Errors: those of lock.
  Status begin_update(tree::TreeState* tree, std::string_view key);
  // What that read is to show, and whether it is registered.
  tree::ReadView update_view() const {
    return reads_floors() ? tree::ReadView{floors_.back().ts, id_} : view();
  }
  bool update_view_registered() const { return one_moment_ || reads_floors(); }
  // Of kPessimistic: returns once the row is locked and nobody's intent on it is open. Errors:
  // those of RowLocks::acquire; kConflict where one moment is read and the row was changed since.
  Status lock(tree::TreeState* tree, std::string_view key, LockMode mode, uint64_t timeout_us);
  bool locks_rows() const { return mode_ == Mode::kPessimistic; }
  uint64_t lock_timeout_us() const { return lock_timeout_us_; }

  // Trees that it has just made, and is about to name or to drop in the catalog.
  void made_tree(tree::TreeState* tree) {
    keep(tree);
    tree_changes_.made(tree, undo_.size());
  }
  void dropped_tree(tree::TreeState* tree) {
    keep(tree);
    tree_changes_.dropped(tree, undo_.size());
  }
  // The write of the entry has failed: neither is.
  void undo_tree_change() { tree_changes_.roll_back_to(undo_.size(), *services_.trees); }
  const TreeChanges& tree_changes() const { return tree_changes_; }
  // Of the last writes, those behind `undo`: told when this has committed.
  void note_tree_change(TreeChanged news, size_t undo) {
    if (services_.store->machine->events == nullptr && !TreeChanges::is_move(news)) return;
    tree_changes_.note(std::move(news), undo);
  }
  // The tree stays, as an object, until this has ended: what was read and written may name it.
  // Before anything is done with it, of one that may outlast the call; inside a call (os/epoch.h).
  void keep(tree::TreeState* tree) {
    if (kept_[0].get() != tree && kept_[1].get() != tree) keep_another(tree);
  }
  bool is_read_only() const { return read_only_; }
  size_t undo_count() const { return undo_.size(); }
  // For its cursors of this tree (TreeCursor::Options); null: the tree has no layers.
  const std::shared_ptr<tree::LayeredDead>& layered_dead(const tree::TreeState& tree);

  TxnId id() const { return id_; }
  bool wrote() const { return !undo_.empty() || !layers_.empty(); }
  // Called for every operation type kPutLarge that is rolled back, with what was written for it.
  std::function<void(std::span<const format::ExtentAddress>)> drop_large;

 private:
  Status commit_now(Durability durability, Lsn* cts);
  Status attach_now(std::string_view operations, uint32_t count, Attaching& attaching,
                    Durability durability, Lsn* cts);
  CommitInfo info(uint64_t more, Durability durability) const {
    return {uint64_t{chunk_seq_} + operation_count_ + more, durability};
  }
  void tell_hooks(const CommitInfo& info, Lsn cts, const Status& outcome) const;
  void look_for_dead();
  Status install(tree::TreeState* tree, format::OperationType type, std::string_view key,
                 std::string_view value);
  // What the log answers, asked again when it had no space.
  template <typename Call>
  Status with_log_space(Call call);
  Status log_chunk(std::string_view operations, uint32_t count, uint32_t first_seq);
  Status log_in_chunks(std::string_view operations);
  template <typename Take>
  Status take_memory(Take take);
  static Status read_only_error();
  bool grow_undo();
  bool reserve_key(size_t bytes);
  void drop_memory();
  Lsn stop_moves();
  Status claim_exclusively(Attaching& attaching);
  void stamp_all(Lsn cts);
  Verdict validate_writes() override;
  Verdict validate_reads() override;
  void reads_passed(Lsn upto) override { reads_.passed(upto); }
  Result<bool> read_ahead() override;
  bool trees_stand() override;
  void change_trees(Lsn cts) override { tree_changes_.commit(cts, logged_from_); }
  bool writes_into(const ReadFence& reads) const override;
  bool drops_tree_of(const PreparedWork& work) const override;
  void begin_logging();
  void note_held_locks(std::string* held) const;
  Status lock_written(uint64_t timeout_us);
  Status log_prepare(const CommitRequest& request, PrepareRecords* records, Lsn* lsn);
  Status log_outcome(format::RecordType type, Lsn* lsn);
  void count_prepared();
  CheckedKey written(size_t number) const;
  Status lock_row(tree::TreeState* tree, std::string_view key, LockMode mode, uint64_t timeout_us);
  Status await_unlocked(const tree::TreeState* tree, std::string_view key, uint32_t turned_away);
  template <typename Find>
  Status await_end(const tree::TreeState* tree, std::string_view key, uint64_t timeout_us,
                   Find find);
  Status await_intents(tree::TreeState* tree, std::string_view key, uint64_t timeout_us);
  Lsn floor_now();
  // Who locks rows reads them as they are now.
  bool reads_floors() const { return !floors_.empty() && !locks_rows(); }
  void roll_back();
  void drop_extents_of(std::string_view encoded);
  void drop_all_large();
  void unlink_all();
  void tell_tree_changes() const {
    if (tree_changes_.bytes() == 0) return;
    tree_changes_.tell(*services_.trees, services_.store->machine->events);
  }
  void finish();
  void keep_another(tree::TreeState* tree);
  size_t heap_bytes() const;
  void count_memory();
  std::string_view keep_key(std::string_view key);

  // What is in layers (spill.cc, delete_range.cc).
  struct OwnLayer {
    tree::TreeState* tree;
    std::shared_ptr<tree::Layer> layer;
  };
  struct SpillBatch;
  Status spill_if_large();
  void spill_segments(std::vector<bool>* gone);
  bool add_to_batch(size_t number, uint64_t level, SpillBatch* batch);
  const OwnLayer* layer_for(tree::TreeState* tree, uint64_t level);
  bool spill_batch(SpillBatch* batch, std::vector<bool>* gone);
  void take_out_spilled(const std::vector<bool>& gone);
  void release_locks_of(const std::vector<bool>& gone);
  void repack_keys(const std::function<size_t(size_t)>& renumbered);
  void append_layered_trees(std::string* record) const;
  void show_layers(Lsn cts) override;
  void drop_layers(uint64_t from_level);
  void finish_layers();
  Status await_layers(tree::TreeState* tree, std::string_view key, uint64_t timeout_us);
  Status may_bring_back() const;
  Status bring_back(uint64_t timeout_us);
  Status write_again(const OwnLayer& own);
  bool has_spilled() const;
  bool spilled_beside_range() const;
  void hold_log();
  Status note_range(tree::TreeState* tree, std::string_view low,
                    std::optional<std::string_view> high);
  bool hides_already(const tree::TreeState* tree, std::string_view low,
                     std::optional<std::string_view> high) const;
  Result<bool> delete_keys(tree::TreeState* tree, std::string_view low,
                           std::optional<std::string_view> high, size_t most);
  Status delete_written(tree::TreeState* tree, std::string_view low,
                        std::optional<std::string_view> high);
  Status hide_range(tree::TreeState* tree, std::string_view low,
                    std::optional<std::string_view> high);

  const Services services_;
  static constexpr int kLogSpaceAttempts = 4;         // others may take what was freed
  static constexpr size_t kKeyBlockBytes = 64 << 10;  // no key is larger
  static constexpr size_t kVersionOverhead =
      96;  // of a record in a delta: entry, version, its part of the tree
  static constexpr size_t kIntentOverhead = kVersionOverhead + sizeof(tree::Undo);

  struct Mark {
    uint64_t number;
    size_t undo;
    uint32_t seq;
    uint32_t chunk_seq;
    size_t operation_bytes;
    size_t large;
    size_t locks;
    size_t key_blocks;
    char* key_at;
    char* key_end;
  };
  std::vector<Mark>::iterator find_mark(uint64_t number);
  std::array<tree::TreeRef, 4> kept_;     // the first ones
  std::vector<tree::TreeRef> more_kept_;  // the others, by address
  Status log_rollback(const Mark& mark);
  void take_back(const Mark& mark);
  void give_up_log();

  Mode mode_ = Mode::kBlind;
  const std::vector<std::shared_ptr<CommitHook>>* hooks_ = nullptr;
  bool read_only_ = false;
  bool one_moment_ = true;
  bool tracks_reads_ = false;
  TxnId id_ = 0;
  Lsn read_ts_ = 0;
  tree::Snapshots::Registration registration_;
  bool registered_ = false;
  std::vector<tree::Snapshots::Registration> floors_;  // of updates, where reads show the present
  tree::WriteContext context_;
  tree::UndoList undo_;
  size_t intent_bytes_ = 0;  // about, of what is in there
  size_t spill_at_ = 0;
  bool spills_ = true;
  bool aside_ = false;
  tree::TreeState* relays_to_ = nullptr;
  const tree::Layer* relays_ = nullptr;
  std::vector<OwnLayer> layers_;  // oldest first
  std::shared_ptr<tree::LayeredDead> layered_dead_;
  size_t counted_bytes_ = 0;           // of what lies on the heap, against the budget
  std::string operations_;             // not logged yet
  std::string_view borrowed_;          // of write_all
  uint32_t operation_count_ = 0;       // of either
  uint32_t chunk_seq_ = 0;             // seq of the first operation that is not logged
  std::shared_ptr<LoggedTxn> logged_;  // null: no chunk yet
  ConflictSearch search_;              // of what was written
  ReadSet reads_;
  HeldLocks locks_;
  std::unique_ptr<PreparedWork> prepared_;  // null: it is not
  uint64_t prepared_operations_ = 0;
  const PrepareRecords* records_ = nullptr;  // logged_'s
  size_t prepared_bytes_ = 0;                // that both take, counted
  uint64_t found_bytes_ = 0;                 // logged of it, where it was found
  uint64_t lock_timeout_us_ = 0;
  TreeChanges tree_changes_;
  Lsn logged_from_ = format::kLsnMax;  // its first chunk, once it commits
  uint64_t tree_changes_seen_ = 0;     // Sequencer::tree_changes() when it began
  std::vector<Mark> marks_;
  uint64_t next_mark_ = 1;
  bool attaching_ = false;  // it is logging what has no intents
  Status broken_;           // why only abort is left
  // What was written for each of its large values.
  std::vector<std::vector<format::ExtentAddress>> large_;
  size_t large_bytes_ = 0;  // that they take
  // Where its keys are: the first few on the heap, where they stay, the others in the arena.
  std::unique_ptr<char[]> first_keys_;
  std::vector<char*> key_blocks_;
  char* key_at_ = nullptr;
  char* key_end_ = nullptr;
};

// Asks `take` again until it finds memory. Errors: those of relieve.
template <typename Take>
Status Txn::take_memory(Take take) {
  for (uint32_t futile = 0; !take();) {
    if (Status s = services_.admission->relieve(&futile); !s.ok()) return s;
  }
  return {};
}

template <typename Call>
Status Txn::with_log_space(Call call) {
  Status status = call();
  for (int attempt = 0; status.is(StatusCode::kNoSpace) && attempt < kLogSpaceAttempts; ++attempt) {
    const Status freed = services_.admission->free_log();
    if (!freed.ok() && !freed.is(StatusCode::kNoSpace)) return freed;
    status = call();
    if (status.is(StatusCode::kNoSpace) && !freed.ok()) {
      status = Status(StatusCode::kNoSpace,
                      std::string(status.message()) + "; " + std::string(freed.message()));
    }
  }
  return status;
}

}  // namespace hawthorn::txn
