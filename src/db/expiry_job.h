#pragma once
// Removes entries that have ended (TreeOptions::expires), in the background.
//
//   notes up to now, in order ──> entry still ends by then? ──> transaction at S: entry and note go
//
// Not here: what readers see, who ask the entry alone (db/stored_key.h). Threads: one of its own;
// every function from any thread, start and stop from who opens and closes.
//
// 1. S is registered while notes are read, and what is written for them reads at S: it loses to
//    every version above S (R18). So what is removed is what was seen.
// 2. With what it removes a transaction puts the moment up to which that had ended in the catalog:
//    an open begins there, and nothing that was removed could come back with a clock that was set
//    back, nor anything else that had ended by then.
// 3. The program is told behind the commit, under no lock but running_.

#include <atomic>
#include <span>
#include <string>
#include <vector>

#include "hawthorn/db.h"
#include "os/sync.h"
#include "tree/tree.h"

namespace hawthorn::db {

class ExpiryJob {
 public:
  explicit ExpiryJob(Db::Impl* db) : db_(db) {}
  ~ExpiryJob() { stop(); }

  // Of what was there when the database was opened: from when on the present counts. Errors: those
  // of a read.
  Status load_now();
  // Without such a tree there is no thread.
  void start() EXCLUDES(mutex_);
  void stop() EXCLUDES(mutex_);
  // There is a tree whose entries end, or may be: to be called now and then.
  void wake() EXCLUDES(mutex_);
  // All that has ended now. Errors: those of reads and commits.
  Status run_all() EXCLUDES(mutex_, running_);
  // The same, where it has begun and the last time is a while ago: of a machine without threads.
  Status run_if_due() EXCLUDES(mutex_, running_);
  // kInvalidArgument where this thread is in Options::on_expiry of this database.
  Status may_end() const;

  uint64_t removed() const { return removed_.load(std::memory_order_relaxed); }

 private:
  struct Ended {
    std::string note;
    std::string stored_key;  // empty: the entry stays, or is not there
    std::string value;       // as it was stored
  };
  void run() EXCLUDES(mutex_, running_);
  bool may_go_on() EXCLUDES(mutex_);
  void begin_thread() REQUIRES(mutex_);
  Status run_tree(tree::TreeState* tree) REQUIRES(running_);
  Status look_at(tree::TreeState* tree, format::Lsn seen_at, uint64_t now_ms, Ended* ended);
  Status apply(tree::TreeState* tree, std::span<Ended> some, format::Lsn seen_at, uint64_t now_ms);
  Status apply_together(tree::TreeState* tree, std::span<Ended> some, format::Lsn seen_at,
                        uint64_t now_ms);
  void tell(const tree::TreeState& tree, const Ended& ended) const;

  Db::Impl* const db_;
  std::atomic<uint64_t> removed_{0};
  os::Mutex running_;            // one at a time; before mutex_
  uint64_t written_now_ms_ = 0;  // in the catalog; with running_
  os::Mutex mutex_;
  os::CondVar wake_;
  bool started_ GUARDED_BY(mutex_) = false;
  uint64_t looked_us_ GUARDED_BY(mutex_) = 0;
  os::Thread thread_ GUARDED_BY(mutex_);
};

// How many entries of a stored range have ended and are still there, for a registered view.
Result<uint64_t> count_ended(tree::TreeState* tree, const tree::ReadView& view,
                             std::string_view low, std::optional<std::string_view> high,
                             uint64_t now_ms);

}  // namespace hawthorn::db
