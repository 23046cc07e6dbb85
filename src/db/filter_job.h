#pragma once
// Shows entries of flushed containers to their tree's FlushFilter, and does what that decides.
//
//   flush installed ──> due (tree, low key) ──> hw-filter: walk at S ──decisions──> transaction at
//   S
//
// Not here: flushing (scheduler.h), the contract (hawthorn/flush_filter.h).
// Threads: every function from any thread, start and stop from who opens and closes.
//
// 1. S is registered while the container is walked and its decisions are committed; a transaction
//    that reads at S loses to every version above S (R18). So what is changed is what was seen.
// 2. The filter is called without latches, epoch guards and locks (R14, R17), but for running_,
//    which only compact and drain wait for.
// 3. A container is walked once for each flush at most: what the filter itself removes makes the
//    next walk due only when that is flushed, and a walk that finds nothing to do writes nothing.

#include <atomic>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hawthorn/db.h"
#include "hawthorn/flush_filter.h"
#include "os/sync.h"
#include "tree/tree.h"

namespace hawthorn::db {

class FilterJob {
 public:
  explicit FilterJob(Db::Impl* db) : db_(db) {}
  ~FilterJob() { stop(); }

  // Errors: those of starting a thread.
  Status start() EXCLUDES(mutex_);
  // Returns when no filter is called any more; what is due stays so, until the job goes.
  void stop() EXCLUDES(mutex_);
  // Any thread, behind the install; nothing but a note.
  void flushed(const tree::TreeState& tree, const std::string& low) EXCLUDES(mutex_);
  // What is due, now. Errors: those of reading and writing; the containers behind are left due.
  Status run_due() EXCLUDES(mutex_, running_);
  // Returns when nothing is due and nothing runs. Errors: of run_due.
  Status drain() EXCLUDES(mutex_, running_);
  // Everything in trees that have a filter.
  Status run_all() EXCLUDES(mutex_, running_);

  // kInvalidArgument where this thread is in a filter of this job.
  Status may_end_filters() const;

  uint64_t seen() const { return seen_.load(std::memory_order_relaxed); }
  uint64_t removed() const { return removed_.load(std::memory_order_relaxed); }
  uint64_t changed() const { return changed_.load(std::memory_order_relaxed); }

 private:
  static constexpr size_t kDueMax = 4096;
  struct Change {
    std::string key;
    bool removed;
    std::string value;
  };
  using Due = std::pair<uint32_t, std::string>;  // tree, low key
  void run() EXCLUDES(mutex_, running_);
  bool take(Due* due) EXCLUDES(mutex_);
  bool may_go_on() EXCLUDES(mutex_);
  FlushFilter* filter_of(const tree::TreeState& tree) const;
  Status run_container(tree::TreeState* tree, const std::string& low) REQUIRES(running_);
  Status walk(tree::TreeState* tree, FlushFilter& filter, std::string lower,
              std::optional<std::string> upper) REQUIRES(running_);
  Result<FlushFilter::Decision> decide(FlushFilter& filter, std::string_view key,
                                       std::string_view value, std::string* changed) const;
  Status apply(tree::TreeState* tree, std::span<const Change> changes, format::Lsn seen_at);
  Status apply_together(tree::TreeState* tree, std::span<const Change> changes,
                        format::Lsn seen_at);

  Db::Impl* const db_;
  std::atomic<uint64_t> seen_{0};
  std::atomic<uint64_t> removed_{0};
  std::atomic<uint64_t> changed_{0};
  os::Mutex running_;  // one container at a time; before mutex_
  os::Mutex mutex_;
  os::CondVar wake_;
  std::set<Due> due_ GUARDED_BY(mutex_);
  std::set<uint32_t> due_whole_ GUARDED_BY(mutex_);  // trees of which too much is due to list it
  bool stopping_ GUARDED_BY(mutex_) = false;
  os::Thread thread_;
};

}  // namespace hawthorn::db
