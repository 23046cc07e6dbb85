#pragma once
// Chooses which container to flush or re-cluster, does it, and paces writers by what is left of the
// delta's quota.
//
// Not here: merging (tree/merge), durability (publisher).
// Threads: one background thread flushes, another makes memory resident ahead of its use; writers
// help in bounded steps when the first falls behind, and two more threads with what must be read.
//
//   delta memory   0 .......... 60% .......... 80% ................ 100%
//   background     nothing      flushes the containers that pay most
//   writers        free         free           owe flush work       wait for room
//
// What a writer owes it pays by a flush step, or by waiting in a line until others have flushed as
// much.
//
// 1. A step that a writer owes does no I/O reads and covers one container (R28). Fewer run at once
//    than there are processors. Only relieve, where there is no memory for a write, may read.
// 2. The log is kept below a multiple of the deltas' share of the budget, or a part of the database
//    where that is more: past it the containers with the oldest records go first (pitfall 7). Their
//    quota may be larger than the share. What open transactions hold of it beyond that is logged
//    again at its head (txn/reappender.h).
// 3. A container is worth (delta bytes) / (delta + index + values to rewrite).
// 4. Inserts are admitted while all that is unflushed, and one merge on top, fits what the data
//    files have ready: that is the disk reserve (R28). So on a full disk every delta can still be
//    flushed, and the log behind it recycled; deletes are admitted in any case, and what they free
//    admits inserts again.
// 5. A data file that is to go is emptied when nothing else is due, a container at a time, with
//    pauses several times as long as the work (shrink.cc).
// 6. The background's steps wait for their turn under Options::background_io_bytes_per_second, but
//    not in the middle of one, and not where writers wait, or are about to, for what they do. What
//    writers and callers of flush do themselves does not wait. So the limit never stops a writer.

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "db/events.h"
#include "db/publisher.h"
#include "hawthorn/status.h"
#include "os/sync.h"
#include "tree/merge.h"
#include "tree/tree.h"
#include "txn/transaction.h"

namespace hawthorn::db {

struct SchedulerStats {
  std::atomic<uint64_t> flushes{0};
  std::atomic<uint64_t> flush_us{0};
  std::atomic<uint64_t> reclusters{0};
  std::atomic<uint64_t> splits{0};
  std::atomic<uint64_t> joins{0};
  std::atomic<uint64_t> files_removed{0};
  std::atomic<uint64_t> write_waits{0};
  std::atomic<uint64_t> write_wait_us{0};
};

// How large a container shall be on disk. Every one takes memory whether its data are in memory or
// not, so they grow with the database: all together take no more than a share of the budget (R28).
// But several must fit what is left of a small budget while one is merged, so its 64th bounds them
// in the end.
size_t container_bytes(size_t budget, uint64_t database_bytes);

inline size_t part_of(size_t bytes, double share) {
  return static_cast<size_t>(static_cast<double>(bytes) * share);
}

// What a merge changes in the manifest and on disk.
Edit edit_of(const tree::MergeOutput& output);

// How many containers were rewritten, for who asks to be told, and whether that one goes on.
class RewriteCount {
 public:
  using Told = std::function<Status(uint64_t done, uint64_t all)>;
  explicit RewriteCount(const Told& told) : told_(told) {}
  // `more`: of what was begun, but for this one. Whether to go on; without locks.
  bool add(uint64_t rewritten, uint64_t more) {
    done_ += rewritten;
    if (told_ != nullptr) status_ = told_(done_, done_ + more);
    return status_.ok();
  }
  const Status& status() const { return status_; }

 private:
  const Told& told_;
  uint64_t done_ = 0;
  Status status_;
};

class MovedLarge;

class Scheduler : public txn::Admission {
 public:
  using TreeList = std::function<std::vector<tree::TreeRef>()>;
  Scheduler(const os::Machine& machine, tree::Store* store, Publisher* publisher,
            txn::Reappender* reappender, TreeList trees);
  ~Scheduler() override;

  // Errors: those of starting threads; then stop() is to be called.
  Status start();
  void stop();
  void set_budget(size_t budget_bytes);
  // Used space over live bytes; before start.
  void set_space_target(double target) { garbage_share_ = 1 - 1 / target; }
  // Told now and then by the background thread, and by drain, while no flush holds anything; before
  // start.
  void on_idle(std::function<void()> idle) { idle_ = std::move(idle); }
  // Told of each container that was flushed or rewritten, by who did it; before start.
  using Flushed = std::function<void(const tree::TreeState&, const std::string& low)>;
  void on_flushed(Flushed flushed) { flushed_ = std::move(flushed); }
  // What one merge may take before it gives anything back.
  size_t merge_bytes() const;
  size_t delta_quota() const { return quota_.load(std::memory_order_relaxed); }

  Status admit(size_t bytes, bool insert) override {
    if (store_->arena->used(os::Quota::kDelta) < free_below_.load(std::memory_order_relaxed))
      return {};
    return pace(bytes, insert);
  }
  // The same for a transaction that may take deltas beyond their quota, as far as memory goes: what
  // it holds cannot be flushed, so that to wait for that would be futile.
  Status admit_beyond(size_t bytes, bool insert);
  Status relieve(uint32_t* futile) override;
  bool stuck() const override {
    return stuck_.load(std::memory_order_relaxed) &&
           store_->arena->used(os::Quota::kDelta) >= quota_.load(std::memory_order_relaxed);
  }
  Status free_log() override;
  // An insert found no space outside the deltas: flushes and publishes, so that what was deleted
  // gives some, until `take` finds it or fails with another error. Errors: kNoSpace; those of
  // publishing.
  Status free_space(const std::function<Status()>& take) EXCLUDES(space_mutex_);

  // Makes container boundaries of these keys (ascending), for what a bulk ingest is to attach
  // between them. Where open transactions hold too much of a container it stays as it is. Errors:
  // those of a flush.
  Status carve(tree::TreeState* tree, std::span<const std::string> bounds);
  // An edit without writes, of what is on disk already; its batch.
  uint64_t publish_later(Edit edit) { return publisher_->add(std::move(edit)); }

  // Makes what was flushed durable.
  Status publish() { return publisher_->publish(); }
  Publisher& publisher() const { return *publisher_; }
  // Flushes all that was logged below `end`, or until now; does not publish. kLsnMax: all that
  // there is, when nobody writes any more. kCorruption, which names file and offset: all others
  // were flushed, and what is damaged has kept its delta.
  Status flush_all(Lsn end);
  Status flush_all() {
    return flush_all(store_->log != nullptr ? store_->log->head() : format::kLsnMax);
  }
  // Whether no delta holds anything: only then may the log go. Exact while nobody writes.
  bool all_flushed() const;
  // Rewrites every container that has garbage or more than one value extent. kCorruption: as above.
  // Returns early, and ok, where who counts gives up.
  Status recluster_all(RewriteCount* count);
  // Rewrites the container that covers the key without what deleted ranges hide of it. *flushed:
  // it did something. Errors: those of flushing.
  Status erase(tree::TreeState* tree, const std::string& key, bool* flushed);
  // Waits until nothing is due and everything flushed is published; then gives the disk back what
  // the data files do not need.
  Status drain();
  // Empties and removes data files as long as there is more free space in them than the reserve
  // and growth need. `count`: null, or as for recluster_all.
  void shrink(RewriteCount* count = nullptr) EXCLUDES(shrink_mutex_);
  // What the log's scan has put into deltas may stay there: as much as readers that miss nothing
  // would leave them, or what it is. Their quota shrinks later, by and by.
  void keep_replayed();
  // During recovery: flushes in the foreground when the deltas have reached their quota.
  Status flush_when_full();
  void large_delta();
  void look_again() { wake_.notify_all(); }

  const SchedulerStats& stats() const { return stats_; }
  Status status() const;

 private:
  struct Candidate {
    tree::TreeRef tree;
    std::string low;
    double worth;
    size_t bytes;  // of its delta
  };
  // The low keys of the containers that hold something logged before `end`.
  std::vector<std::string> unflushed(tree::TreeState* tree, Lsn end) const;
  // Of one tree the containers that could not be flushed, since they are damaged; and why the first
  // of all could not.
  struct Damaged {
    std::set<std::string> lows;
    Status first;
  };
  // Flushes each of these containers at least once.
  Status flush_each(tree::TreeState* tree, const std::vector<std::string>& lows, Damaged* damaged);
  enum class Step : uint8_t { kDone, kNothing, kFailed };
  class MergerLease;
  // Somebody flushes, or logs again: what others lack may come of it.
  class AtWork {
   public:
    explicit AtWork(Scheduler* scheduler) : scheduler_(scheduler) {
      scheduler_->working_.fetch_add(1, std::memory_order_acq_rel);
    }
    ~AtWork() { end(); }
    AtWork(const AtWork&) = delete;
    AtWork& operator=(const AtWork&) = delete;
    void end() {
      if (scheduler_ == nullptr) return;
      scheduler_->works_ended_.fetch_add(1, std::memory_order_acq_rel);
      std::exchange(scheduler_, nullptr)->working_.fetch_sub(1, std::memory_order_acq_rel);
    }

   private:
    Scheduler* scheduler_;
  };

  // Data files that leave.
  void shrink_in_background() EXCLUDES(shrink_mutex_);
  Step shrink_step(bool eager) REQUIRES(shrink_mutex_);
  Step move_one(uint32_t file) REQUIRES(shrink_mutex_);
  bool find_movers(uint32_t file) REQUIRES(shrink_mutex_);
  void give_up_shrinking(uint32_t file, bool movable) REQUIRES(shrink_mutex_);
  uint64_t spare_blocks(bool eager) EXCLUDES(cover_mutex_);
  // Extents of large values that were moved, and the timestamps at which they may be read.
  void hold_moved(std::vector<tree::ExtentRef> extents) EXCLUDES(held_mutex_);
  void release_moved() EXCLUDES(held_mutex_);
  bool keep_still(const MovedLarge& moved, const tree::TreeState::Cut& cut);
  // Re-clustering for space alone (tidy.cc).
  struct Untidy {
    tree::TreeRef tree;
    std::string low;
  };
  static tree::SpaceUse count_use(const tree::RunFile& file, Lsn oldest);
  void set_garbage_max(const tree::SpaceUse& use);
  bool garbage_allowed();
  tree::SpaceUse find_untidy() REQUIRES(shrink_mutex_);
  Step tidy_step() REQUIRES(shrink_mutex_);
  size_t cover_wanted() const;
  void size_by_database();
  void set_quota(size_t bytes);
  void reserve_for(size_t delta_bytes);
  void adapt_quota();
  void await_others();
  void charge_overhead();
  void let_go_of_trees(bool all) EXCLUDES(mutex_, shrink_mutex_);
  void observe_readers();
  void run();
  void run_toucher();
  Status pace(size_t bytes, bool insert);
  Step writer_step();
  void await_turn(uint64_t owed) EXCLUDES(mutex_);
  // Flushes one container. allow_io: may read from disk; force: also with many open intents.
  Status flush_container(tree::TreeState* tree, const std::string& low, bool allow_io, bool force,
                         const tree::MergePolicy& policy, bool* flushed);
  Result<bool> divide(tree::TreeState* tree, const std::string& low,
                      const tree::MergePolicy& policy);
  Result<size_t> carve_one(tree::TreeState* tree, std::span<const std::string> bounds,
                           bool flush_first);
  std::vector<tree::Container*> small_neighbours(tree::TreeState* tree, const std::string& low,
                                                 size_t target) const;
  void join_around(tree::TreeState* tree, const std::string& low, const tree::MergePolicy& policy);
  Status try_flush(tree::TreeState* tree, const std::string& low, bool allow_io, bool force,
                   const tree::MergePolicy& policy, bool* flushed);
  // The reserve: makes space ready for what is unflushed; after a flush, takes back what it used.
  Status cover() EXCLUDES(cover_mutex_);
  void uncover() EXCLUDES(cover_mutex_);
  void set_covered(size_t bytes) REQUIRES(cover_mutex_);
  uint32_t contiguous_blocks() const;
  void reserve(size_t beyond_merge);
  size_t ready_beyond_merge(size_t enough) const;
  Status make_space() EXCLUDES(space_mutex_);
  Status free_until(const std::function<Status()>& enough) REQUIRES(space_mutex_);
  bool flush_news() REQUIRES(space_mutex_);
  Status flush_and_publish() REQUIRES(space_mutex_);
  // Which container is flushed next (flush_order.cc). A writer runs bounded steps without reads, a
  // helper what writers found that they may not. force: also where most belongs to open
  // transactions.
  enum class Flusher : uint8_t { kBackground, kHelper, kWriter };
  enum class Found : uint8_t { kOne, kNone, kMustLook };
  Step flush_step(Flusher by, bool force = false);
  Found take_candidate(Flusher by, Candidate* candidate) EXCLUDES(mutex_);
  void refill();
  void run_helper();
  Step reappend_step();
  size_t log_limit() const;
  Lsn log_end_flushable() const;
  Lsn log_start() const;
  bool log_pressure() const;
  bool deltas_full() const;
  Lsn log_held_below() const;
  bool holds_log(const tree::Delta& delta) const;
  bool flush_due() const;
  bool reappend_due() const;
  bool due() const { return flush_due() || reappend_due(); }
  // Writers wait for flushes, or soon will (6).
  bool urgent() const;
  bool held_back(bool must_go_on) EXCLUDES(mutex_);
  void fail(const Status& status);

  const os::Machine& machine_;
  tree::Store* const store_;
  Publisher* const publisher_;
  txn::Reappender* const reappender_;
  const TreeList trees_;
  std::function<void()> idle_ = [] {};
  Flushed flushed_;
  tree::MergePolicy policy() const;
  std::atomic<size_t> target_bytes_{1 << 20};  // of a container; less in small budgets
  std::atomic<size_t> log_share_{0};           // what the log may hold
  std::atomic<size_t> quota_max_{0};           // of deltas, while nobody reads from disk
  std::atomic<size_t> budget_{0};
  std::atomic<size_t> base_quota_{0};  // the share of the budget that is always theirs
  std::atomic<size_t> quota_{0};
  std::atomic<size_t> free_below_{0};
  os::Mutex cover_mutex_;
  std::atomic<size_t> covered_{0};  // so much unflushed data has its space; under cover_mutex_
  os::Mutex space_mutex_;           // on a full disk one thread flushes for all
  size_t flushed_used_ GUARDED_BY(space_mutex_) = 0;  // what was left when it last did
  uint64_t observed_us_ = 0;                          // of the background thread
  std::atomic<size_t> charged_overhead_{0};
  uint64_t adapted_us_ = 0;  // this and the next two: of the background thread
  uint64_t seen_missed_ = 0;
  uint64_t modest_until_us_ = 0;
  struct Mover {
    tree::TreeRef tree;
    std::string low;
  };
  os::Mutex shrink_mutex_;  // one file leaves at a time
  std::vector<Mover> movers_ GUARDED_BY(shrink_mutex_);
  std::vector<Untidy> untidy_ GUARDED_BY(shrink_mutex_);              // the best one last
  uint64_t untidy_garbage_ GUARDED_BY(shrink_mutex_) = ~uint64_t{0};  // in the last round
  double garbage_share_ = 1 - 1 / 1.10;                     // that is allowed of what is in use
  std::atomic<double> garbage_max_{0.15};                   // of a container that is flushed
  std::set<uint32_t> immovable_ GUARDED_BY(shrink_mutex_);  // for a while
  uint32_t scans_ GUARDED_BY(shrink_mutex_) = 0;            // for movers out of the present file
  std::atomic<uint64_t> shrink_after_us_{0};
  struct Held {
    std::vector<tree::ExtentRef> extents;
    Lsn visible;
  };
  os::Mutex held_mutex_;
  std::vector<Held> held_ GUARDED_BY(held_mutex_);
  os::Mutex mergers_mutex_;
  std::vector<std::unique_ptr<tree::Merger>> mergers_ GUARDED_BY(mergers_mutex_);  // idle
  std::atomic<bool> large_due_{false};
  std::atomic<uint64_t> no_joins_until_us_{0};
  std::atomic<bool> parts_due_{false};  // those of a divided delta, which hold it until the last
  std::atomic<uint32_t> relieving_{0};  // who flush since there is no memory
  std::atomic<bool> started_{false};    // before it the log is replayed

  mutable os::Mutex mutex_;
  os::CondVar wake_;
  os::CondVar progress_;
  std::vector<Candidate> candidates_ GUARDED_BY(mutex_);  // the best one last
  // Of those, what writers may not flush: its merge reads from disk, or is large. The best first.
  std::deque<Candidate> must_read_ GUARDED_BY(mutex_);
  os::CondVar reads_due_;
  bool stopping_ GUARDED_BY(mutex_) = false;
  Status status_ GUARDED_BY(mutex_);
  std::atomic<uint32_t> working_{0};
  std::atomic<uint64_t> works_ended_{0};
  std::atomic<bool> stuck_{false};  // deltas were full, and a writer found nothing to flush
  std::atomic<Step> last_step_{Step::kDone};  // of the background, while flushes are due
  const uint32_t writer_steps_max_;
  std::atomic<uint32_t> writer_steps_{0};   // that run, and tries
  std::atomic<uint64_t> flushed_bytes_{0};  // of deltas, since the start
  uint64_t line_ GUARDED_BY(mutex_) = 0;    // of those: up to here others wait for
  SchedulerStats stats_;
  WriteStalls stalls_;
  os::Thread thread_;
  std::vector<os::Thread> helpers_;
  os::Thread toucher_;
};

}  // namespace hawthorn::db
