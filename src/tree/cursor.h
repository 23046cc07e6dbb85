#pragma once
// The ordered walk over one tree, in both directions, at one timestamp.
//
//   container:  run (entries by number) ──┐
//               frozen delta (by batches) ─┼─ merged by key ──> the entry shown
//               active delta (by batches) ─┘
//
// The public Cursor and Db::scan stand on it. Not here: registering the timestamp (the caller does,
// for as long as the cursor lives), point reads (tree.h).
// Threads: one object from one thread at a time; writers and flushes go on beside it.
//
// 1. Between calls no epoch guard is held (R17). The cursor holds references and pins on the deltas
//    and the run file of one descriptor, so all that it points to stays where it is; a descriptor
//    shows everything with cts <= ts for as long as somebody holds it, but for what the deltas mark
//    as moved.
// 2. The sources stand behind the entry shown, in the direction of travel: nothing that was passed
//    over lies ahead of them. Where the walk meets a version that was moved, it starts again from
//    the directory at that key.
// 3. run_limit_ is the first run entry, in the direction of travel, that does not come before the
//    next delta key (or the end of what the run may show): up to it the deltas need no look.
// 4. The versions of a key in a run are passed all at once, so a plain entry met is one to show.
// 5. key_buffer_ begins with the run's prefix.
// 6. What is shown of a delta is copied. So between two moves (but for batches) the deltas can be
//    taken from the cursor (let_go_of_deltas): the next move that needs them starts again from the
//    directory at key_. The fast path of next needs none. Whoever looks at them has use_.
// 7. Where a container is not in memory as a whole, the run ends (run_stop_) where the window does
// that was read of it; at run_stop_ != run_end_ the walk takes the next one before it looks on. Run
// entries outside of the window are looked at by their heads and separators only. Where its front
// is not there either, these are those of a few index blocks (index_) until the walk goes beyond.
// 8. A walk that has read kBytesBefore, and needs another window, has those behind it read ahead.
// 9. While entries are only passed (passing_), values are not looked at, and windows are without
// them; the window in which the walk comes to rest is read again with them.

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "hawthorn/db.h"
#include "hawthorn/status.h"
#include "tree/cursor_ahead.h"
#include "tree/cursor_index.h"
#include "tree/cursor_window.h"
#include "tree/delta.h"
#include "tree/run_file.h"
#include "tree/tree.h"
#include "tree/visibility.h"

namespace hawthorn::tree {

class LayeredDead;
class LayeredWalk;

class TreeCursor {
 public:
  struct Options {
    std::optional<std::string> lower = {};  // first key that may be shown
    std::optional<std::string> upper = {};  // first key that may not
    bool key_only = false;                  // values stay empty and are not read
    // Shows what the tree's layers have, too, and of a clone what it was made of.
    bool layers = true;
    bool deletes = false;  // shows deletes that the tree has, with deleted()
    // Deleted ranges, which it does not show what they hide of; as of this Layers::state().
    std::vector<Layers::Seen> hidden = {};
    uint64_t hidden_state = 0;
    // Of a transaction, what its walks over layers know to be dead; null: each looks again.
    std::shared_ptr<LayeredDead> layered_dead = {};
  };

  // view.ts is registered, or belongs to an exclusive transaction, as long as the cursor lives.
  // view.own != 0: that transaction's intents are seen, also those made after a move.
  TreeCursor(TreeState* tree, const ReadView& view, Options options);
  ~TreeCursor();
  TreeCursor(const TreeCursor&) = delete;
  TreeCursor& operator=(const TreeCursor&) = delete;

  // Each move returns whether the cursor stands on an entry. Errors, in status(): kCorruption (the
  // key range is named); kIoError; kOutOfMemory. The cursor stands nowhere then, and may be moved
  // elsewhere by first, last and the seeks. A value over 64 MB is no error of the move: the key is
  // shown with an empty value, and status() is kNotSupported until the next move.
  bool first();
  bool last();
  bool seek(std::string_view key);           // the first entry >= key
  bool seek_for_prev(std::string_view key);  // the last entry <= key
  bool next();                               // nowhere before: stays nowhere
  bool prev();

  // As n times next, of a negative n prev, but entries of runs before the next key of a delta are
  // passed at once, and whole containers by their counts (count.h). 0: stays.
  bool skip(int64_t n);
  // To an entry of the range, each about as likely as any other: `random` chooses, by what stands
  // in the runs and deltas at the moment. False: the range is empty.
  bool seek_random(uint64_t random);
  // How many entries the range has; the cursor stands nowhere afterwards. Errors: as of the moves.
  Result<uint64_t> count();

  // Between two moves, by any thread: gives back deltas that are not in any container any more.
  // False: there is none, or the cursor is being moved, or hands out batches.
  bool let_go_of_deltas();

  // Key and value stay valid until the next move.
  bool valid() const { return valid_; }
  std::string_view key() const { return key_; }
  std::string_view value() const { return value_; }
  bool deleted() const { return deleted_; }
  const Status& status() const { return status_; }
  // For tests: how many entries were looked at one by one, but for the fast path of next.
  uint64_t looks() const;

  // Behind a delete, or its commit: passes what is dead for `view` at the head of the container
  // that it was made in, so that those who read later need not. Not where its run is not in memory.
  // A timestamp of 0: as of now.
  static void look_for_dead(const Undo& undo, const ReadView& view) noexcept;

  // Fills `out` from the entry that the cursor stands on, or from behind the last batch, in
  // ascending order; returns how many. The views are valid until the next call of the cursor, which
  // is not valid() after it. 0: the end, or an error, see status(); kNotSupported for a value over
  // 64 MB, which the next batch leaves out.
  size_t next_batch(std::span<Entry> out);

 private:
  static constexpr uint32_t kBatchEntries = 24;
  static constexpr uint32_t kFirstEntries = 6;  // behind a seek: most go no further
  static constexpr uint32_t kVersionsAhead = 8;
  static constexpr size_t kBytesBefore = size_t{96} << 10;
  using Seek = Delta::Seek;

  // One delta, and the next entries of it in the direction of travel.
  struct Source {
    Delta* delta = nullptr;
    uint32_t at = 0;
    uint32_t count = 0;
    uint32_t seen = 0;  // how many entries the delta had, at least, when these were collected
    DeltaEntry* entries[kBatchEntries];

    DeltaEntry* next() const { return at < count ? entries[at] : nullptr; }
    void hold(Delta* held);
    void release();
    bool replaced() const {
      return delta != nullptr && delta->replaced.load(std::memory_order_acquire);
    }
    void collect(Seek mode, std::string_view key, uint32_t most = kBatchEntries);
    void collect_last();
    bool grown() const { return delta != nullptr && delta->entries() != seen; }
    void prefetch_version(uint32_t number) const {
      if (number >= count) return;
      const Version* version = entries[number]->newest.load(std::memory_order_relaxed);
      if (version == nullptr) return;
      __builtin_prefetch(version);
      __builtin_prefetch(version + 1);  // its header may reach into that line
    }
  };
  enum class Where : uint8_t { kCovering, kBefore, kLast };
  // What the next entry of the container, which is not passed yet, turned out to be.
  enum class Step : uint8_t {
    kShown,
    kHidden,
    kTooLarge,  // shown without its value
    kStale,     // start again at key_
    kFailed,    // status_ says why
    kEnd,       // of the container
  };

  // A call that may look at the deltas, unless batches have gone before: those hold on to them.
  class Use {
   public:
    explicit Use(TreeCursor* cursor) : cursor_(cursor) { cursor->take(); }
    ~Use() {
      cursor_->in_batches_ = cursor_->batching_;
      if (!cursor_->in_batches_) cursor_->in_use_.store(false, std::memory_order_release);
    }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   private:
    TreeCursor* const cursor_;
  };
  friend class CursorList;

  // ---- Where the cursor is
  void take();
  bool keep_shown();
  bool layered();
  bool follow(bool found);
  bool start();  // of a move
  void begin_walk();
  bool go(Seek mode, std::string_view key);
  bool enter(Where where, std::string_view key);
  void leave();
  void take_run(const Run* run);
  void clip_frozen();
  bool holds() const { return file_.get() != nullptr; }
  bool holds_range_of(Seek mode, std::string_view key) const;
  bool has_newer_run(std::string_view key) const;
  Status settle_in();
  Status load_front();
  bool by_index() const { return index_ != nullptr && index_->begun(); }
  bool load_index(Run::Range range, bool heads);
  bool place(Seek mode, std::string_view key);
  bool place_last();
  void begin_place(bool forward);
  bool place_there(Seek mode, std::string_view key);
  bool place_run(Seek mode, std::string_view key);
  uint32_t lower_bound_in(Run::Range heads, std::string_view key) const;
  Run::Range range_of(Seek mode, std::string_view key) const;
  Run::Range heads_of(std::string_view key) const {
    return by_index() ? index_->range_of(key) : file_run_->range_of(key);
  }
  bool worth_a_search(Run::Range range) const;
  bool search_records(Run::Range* range, std::string_view key);
  void use_window(bool values);
  // A key's place in the run. Where that is not `exact`, the key may lie beyond the window: `at` is
  // on the same side of the rest of the window as the key, and `end`, in the direction of travel,
  // is not before the key.
  struct Located {
    uint32_t at;
    uint32_t end;
    bool exact;
  };
  Located locate(std::string_view key) const;
  bool in_window(Run::Range heads) const;
  bool load_window(Run::Range must);
  Status read_window(Run::Range must);
  void find_end();
  uint32_t seek_run(std::string_view key) const;
  void count_walk();
  bool at_window_end() const { return run_next_ == run_stop_ && run_stop_ != run_end_; }
  bool restart();
  bool find_again(Seek mode);
  bool resume(bool forward);
  bool cross();
  bool fail(Status status);

  // ---- Passing entries over (cursor_skip.cc)
  bool pass_over(uint64_t* most);
  Step pass_here(uint64_t* most);
  bool pass_from_first(uint64_t* most);
  bool seek_random_in(std::string_view low, uint64_t random);
  bool pass_nodes(std::string_view edge, uint64_t* most);
  bool cross_by_counts(uint64_t* most);
  void note_count(uint64_t keys);
  std::optional<uint32_t> certain_end() const;
  uint32_t jump_end() const;
  bool shows_all_of_run() const;
  bool jump(uint32_t count);
  Run::Range entries_at(uint32_t at) const;
  bool rest();

  // ---- What is hidden, and what is dead (cursor_hidden.cc)
  void find_hiding();
  bool hides(std::string_view key, Lsn cts) const;
  void note_hidden_delta(const ChainRead& read, const Version* newest);
  bool pass_hidden();
  bool pass_stretch();
  bool dead_known() const {
    return active_.delta != nullptr && active_.delta->dead() != nullptr && !options_.deletes &&
           active_.delta->dead()->any();
  }
  bool pass_known(Seek* mode, std::optional<std::string_view>* key);
  void place_at_end();
  void end_stretch(bool shown);
  void take_up_skipped();
  void note_edge();
  void keep_stretch(DeadStretch stretch);

  // ---- The next entry
  bool find();
  Step look();
  Step look_run();
  Step look_delta();
  void consume();
  void update_limit();
  bool run_ahead() const { return forward_ ? run_next_ < run_limit_ : run_next_ > run_limit_; }
  uint32_t pick_version(uint32_t* begin, uint32_t* end);
  Step show_run(uint32_t index);
  Step show_large(std::string_view encoded);
  Step show_folded();
  Step failed_read(Status status);
  char* value_room(size_t size);
  void release_value_room();
  void release_batch_keys();
  bool next_slow();
  void arm();
  void turn_group();
  void reserve_batch_keys(size_t entries);
  void keep_batch_key(Entry& entry);

  // The fast path of next: entries [run_next_, fast_end_) can be shown without another look unless
  // they are heap records or not resident. Kept together: few lines are touched per entry.
  uint32_t run_next_ = 0;
  uint32_t fast_end_ = 0;
  const format::RunGroup* group_ = nullptr;  // of run_next_
  const format::RunGroup* ahead_ = nullptr;  // the one behind it, or the same
  const char* wide_values_ = nullptr;        // of group_, or it is not wide
  char* key_head_ = nullptr;                 // in key_buffer_, behind the prefix
  std::string_view key_;
  std::string_view value_;
  bool valid_ = false;
  bool forward_ = true;
  bool prefetch_values_ = false;
  const bool key_only_;
  uint32_t fixed_key_size_ = 0;
  const char* bases_[16] = {};  // by location tag; null: take the slow path
  uint32_t sizes_[16] = {};

  uint32_t run_limit_ = 0;
  uint32_t run_stop_ = 0;   // first entry, in the direction of travel, out of bounds or window
  uint32_t run_end_ = 0;    // out of bounds, as far as is known; exact once a window reaches there
  uint32_t run_from_ = 0;   // where it was put
  uint32_t run_after_ = 0;  // run_next_ once the entry looked at is passed
  const Run* run_ = nullptr;       // the file's, or, windowed, windowed_run_
  const Run* file_run_ = nullptr;  // the file's, or, of it, what index_ has
  DeltaEntry* delta_next_ = nullptr;
  // Of the delta, passed since it has no version that this view sees, but newer ones.
  const DeltaEntry* unseen_ = nullptr;
  bool in_active_ = false;  // delta_next_ stands for the next entry of these sources
  bool in_frozen_ = false;
  bool from_delta_ = false;   // the entry looked at is delta_next_
  bool run_same_ = false;     // the next of the run has the key of delta_next_
  bool own_value_ = false;    // value_ is in value_buffer_
  bool batching_ = false;     // between entries, behind a batch
  bool empty_range_ = false;  // lower >= upper
  bool windowed_ = false;     // the container is not in memory as a whole
  bool passing_ = false;
  bool bare_window_ = false;  // the window was read while passing
  bool whole_ = false;        // the walk came into the container at its edge
  bool in_batches_ = false;   // in_use_ since a call before
  bool let_go_ = false;       // the deltas were taken away
  bool deleted_ = false;      // the entry looked at is a delete, to be shown
  bool run_hidden_ = false;   // nothing of it is shown in the held container; run_ is null
  bool dead_ = false;         // the entry looked at is not shown, and will not be later
  bool dead_named_ = false;   // and key_ is its key
  // The walk was put behind skipped_, and has passed nothing since that is not dead.
  bool skipped_any_ = false;
  bool skipped_edge_ = false;  // that is nothing but the edge of the container
  bool dead_own_ = false;    // of those of the stretch, one at least is so to this transaction only
  uint32_t dead_count_ = 0;  // that were passed one behind the other

  TreeState* const tree_;
  const ReadView view_;
  const Options options_;
  std::atomic<bool> in_use_{false};  // the deltas, let_go_ and what was found in them
  Source active_;
  Source frozen_;
  PinnedRunFile file_;
  bool has_high_ = false;
  bool low_inside_ = false;   // the lower bound lies in the container
  bool high_inside_ = false;  // the upper bound does
  std::string low_;
  std::string high_;
  std::unique_ptr<CursorIndex> index_;  // made when it is needed
  std::unique_ptr<CursorWindow> window_;
  std::optional<Run> windowed_run_;
  size_t window_bytes_ = CursorWindow::kFirstBytes;  // of the next one
  size_t walk_bytes_ = 0;                            // about, in windows of this walk
  std::vector<const Layers::Seen*> hiding_;          // of options_.hidden, in the held container
  std::string dead_edge_;                            // where the stretch that is passed begins
  bool dead_to_end_ = false;                         // backward: at the container's end
  DeadStretch skipped_;
  uint64_t links_ = 0;       // of the active delta, when it was looked at
  uint64_t dead_links_ = 0;  // the same, when the stretch began
  uint64_t looks_ = 0;
  CursorAhead read_ahead_;

  std::unique_ptr<LayeredWalk> walk_;  // does it all where the view sees layers
  uint64_t layers_ = 0;                // Layers::state() when that was found out
  std::string anchor_;                 // the key of a seek under way
  std::string shown_;                  // the key shown, where it comes from a delta
  os::SpinWait restart_wait_;
  std::unique_ptr<char[]> key_buffer_;
  size_t key_capacity_ = 0;
  char* value_buffer_ = nullptr;  // of the heap, or of the arena where it is large
  size_t value_capacity_ = 0;
  char* batch_keys_ = nullptr;
  size_t batch_capacity_ = 0;
  size_t batch_used_ = 0;
  Status status_;
  TreeCursor* next_listed_ = nullptr;  // of CursorList
  TreeCursor* previous_listed_ = nullptr;
};

inline bool TreeCursor::next() {
  if (__builtin_expect(run_next_ >= fast_end_, false)) return next_slow();
  const uint32_t slot = run_next_ % format::kGroupEntries;
  if (slot == 0) turn_group();
  if (wide_values_ != nullptr) {
    store(key_head_, __builtin_bswap64(group_->heads[slot]));
    const uint32_t size = sizes_[format::kTagPlainInline];
    key_ = {key_buffer_.get(), fixed_key_size_};
    value_ =
        key_only_ ? std::string_view() : std::string_view(wide_values_ + size_t{slot} * size, size);
    ++run_next_;
    return true;
  }
  const uint32_t at = group_->locations[slot];
  const uint32_t tag = format::location_tag(at);
  const char* base = bases_[tag];
  if (__builtin_expect(base == nullptr, false)) return next_slow();
  if (prefetch_values_) {
    const uint32_t later = ahead_->locations[slot];
    __builtin_prefetch(reinterpret_cast<const char*>(
        reinterpret_cast<uintptr_t>(bases_[format::location_tag(later)]) +
        format::location_offset(later)));
  }
  store(key_head_, __builtin_bswap64(group_->heads[slot]));
  key_ = {key_buffer_.get(), fixed_key_size_};
  value_ = key_only_ ? std::string_view()
                     : std::string_view(base + format::location_offset(at), sizes_[tag]);
  ++run_next_;
  return true;
}

}  // namespace hawthorn::tree
