#pragma once
// Gathers what the threads of a check find, and how fast they may read.
//
// Not here: what is verified (check_container.h, check_files.h, check_extents.h). Used by checks
// that a program asks for and by the scrub. Threads: every function from any thread.
//
// 1. Of what was read and is wrong there is one item for each place; places that touch each other
//    are one.
// 2. No more than errors_max items are kept; the others are counted.

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "db/impl.h"
#include "os/io_limit.h"

namespace hawthorn::db {

class CheckSink {
 public:
  CheckSink(Db::Impl& database, size_t errors_max) : database_(database), errors_max_(errors_max) {}

  // Fills in the tree's name.
  void add(CheckItem item) EXCLUDES(mutex_);
  // What a call that was to look at something has returned: damage, or kUnchecked.
  void failed(CheckItem item, const Status& status) EXCLUDES(mutex_);
  // Items in the order of their places, which are gone from here, and counts as they are.
  CheckReport take() EXCLUDES(mutex_);

  std::atomic<uint64_t> trees{0};
  std::atomic<uint64_t> containers{0};
  std::atomic<uint64_t> entries{0};
  std::atomic<uint64_t> subtrees{0};
  std::atomic<uint64_t> large_values{0};
  std::atomic<uint64_t> bytes{0};
  std::atomic<uint64_t> blocks{0};
  std::atomic<uint64_t> log_records{0};
  std::atomic<uint64_t> manifest_batches{0};
  std::atomic<uint64_t> bytes_unaccounted{0};

 private:
  Db::Impl& database_;
  const size_t errors_max_;
  std::atomic<uint64_t> found_{0};
  os::Mutex mutex_;
  std::vector<CheckItem> items_ GUARDED_BY(mutex_);
};

// How fast a check reads: below a limit of its own, and below that of background work.
class CheckPace {
 public:
  // `stopped`: asked now and then; the check ends where it is. May be empty.
  CheckPace(Db::Impl& database, uint64_t bytes_per_second, std::function<bool()> stopped);

  // Before a read. False: the check is to end.
  bool await();
  void count(uint64_t bytes);
  bool stopped() const { return stopped_ && stopped_(); }
  // How long await would wait from now.
  uint64_t wait_us();

 private:
  Db::Impl& database_;
  os::IoLimit own_;
  const std::function<bool()> stopped_;
};

}  // namespace hawthorn::db
