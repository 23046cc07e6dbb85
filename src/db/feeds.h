#pragma once
// The feeds of a database: named positions in the order of commits, and what is kept for them, the
// log behind them and the extents of large values that only that log names.
//
//   head ─────────────────────────────────────────── position ───────── scan_from ──── trimmed
//     what was not acknowledged: kept, commit records      chunks of these commits may be here
//
// Not here: reading commits (commit_reader.h), what a program sees of them (feed_impl.h).
// Used by Db, the publisher (what to trim) and the residency (what to free).
// Threads: every function from any thread, but open, which comes before all others.
//
// 1. A feed counts from before its position is taken until its end is durable: what its commits
// need
//    is never missed. A position moves, or is lost, durably first, and only then lets anything go.
// 2. No commit above a position has anything in the log below its scan_from. It is found by samples
//    (L, V): L the smallest of the log's head and what open transactions have logged first, V the
//    newest commit, taken after L. What was committed above V was open or not begun when L was
//    taken, so it has nothing below L.
// 3. A large value's extent that nobody refers to any more goes to who counts feeds first. It is
//    free when all positions have passed the newest commit of that moment: no later one names it.
// 4. At an open, replay gives what the log above the smallest position names and no container has:
//    it was held when the process ended, so nobody has used it since.
// 5. From before one is made, ingests attach no containers: the log would not have their entries.

#include <atomic>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "db/publisher.h"
#include "hawthorn/feed.h"
#include "hawthorn/stats.h"
#include "tree/store.h"

namespace hawthorn::db {

class Feeds {
 public:
  Feeds(tree::Store* store, Publisher* publisher) : store_(store), publisher_(publisher) {}

  void open(const format::ManifestState& state);
  // Of the log as it is opened, the present one among them; before the log is started.
  void set_epochs(std::vector<format::LogEpoch> epochs) { epochs_ = std::move(epochs); }
  // `ingests`: one commits at a time, and keeps this while it does. Errors: see Db::create_feed.
  Status create(std::string_view name, const FeedOptions& options, os::Mutex& ingests);
  Status drop(std::string_view name);
  std::vector<FeedInfo> list() const;
  // Those that something is kept for.
  bool any() const { return count_.load(std::memory_order_acquire) != 0; }
  // Whether one of them has not acknowledged all commits up to here.
  bool behind(Lsn visible) const;
  // kLsnMax: there is none.
  Lsn oldest_position() const;
  uint64_t held_bytes() const;

  // Of one that is read, by one reader at a time. Errors: kNotFound, kTooOld, kBusy.
  Result<format::FeedRecord> begin_reading(std::string_view name);
  void end_reading(std::string_view name);
  // Errors: kNotFound, kTooOld; those of publishing.
  Status acknowledge(std::string_view name, Lsn position);
  // OK, kTooOld or kNotFound.
  Status state_of(std::string_view name) const;

  // Of a batch that is about to be published, which may set feeds: how far the log may be trimmed,
  // where all others need it from `trim` on. Adds those that are over their limits, as lost.
  Lsn limit_trim(Lsn trim, std::vector<format::FeedRecord>* set);
  // That batch is durable.
  void published(const std::vector<format::FeedRecord>& set);

  // Of residency: nobody refers to the extent, nor does the manifest. True: it is kept.
  bool hold(const tree::ExtentAddress& address);
  // Of replay: the commit at `cts`, which some feed may read, names it. Where something else has
  // that place those feeds are lost.
  void hold_found(const tree::ExtentAddress& address, Lsn cts);
  // What hold_found must leave alone, as a container has it.
  void in_container(const tree::ExtentAddress& address) { in_containers_.insert(key(address)); }
  void end_replay();

 private:
  struct Kept {
    format::FeedRecord record;
    bool reading = false;
    bool untold = false;  // the manifest does not say yet that it is lost
  };
  struct Sample {
    Lsn logged_from;  // L
    Lsn visible;      // V
  };
  struct Held {
    Lsn until;
    tree::ExtentAddress address;
  };
  static uint64_t key(const tree::ExtentAddress& address) {
    return uint64_t{address.file} << 32 | address.block;
  }
  Sample sample() const;
  // Of the log from there on; lsns between epochs are none.
  uint64_t log_bytes(Lsn from, Lsn head) const;
  void keep_sample(const Sample& sample) REQUIRES(mutex_);
  Lsn scan_from(const format::FeedRecord& record) const REQUIRES(mutex_);
  Lsn oldest_locked() const REQUIRES(mutex_);
  void release_passed() REQUIRES(mutex_);
  void lose_below(Lsn cts) REQUIRES(mutex_);
  Status make(std::string_view name, const FeedOptions& options);

  tree::Store* const store_;
  Publisher* const publisher_;
  std::vector<format::LogEpoch> epochs_;
  std::atomic<size_t> count_{0};
  os::Mutex changing_;  // one is made, dropped or moved at a time
  mutable os::Mutex mutex_;
  std::map<std::string, Kept, std::less<>> kept_ GUARDED_BY(mutex_);
  std::vector<Sample> samples_ GUARDED_BY(mutex_);  // both ascending
  std::deque<Held> held_ GUARDED_BY(mutex_);        // ascending
  uint64_t held_bytes_ GUARDED_BY(mutex_) = 0;
  // While the log is replayed, by one thread.
  std::unordered_set<uint64_t> in_containers_;
  std::unordered_map<uint64_t, size_t> found_;  // where in held_
};

}  // namespace hawthorn::db
