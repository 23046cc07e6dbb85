#pragma once
// Verifies all that is on disk in the background, round after round
// (Options::scrub_bytes_per_second).
//
//   begin anywhere ──> container after container, to where it began ──> files ──> pause ──┐
//        ^──────────────────────────────────────────────────────────────────────────────────┘
//
// Not here: what is verified (check_container.h, check_files.h, check_extents.h). Threads: one of
// its own; start and stop from who opens and closes, the rest from any.
//
// 1. A round begins at a container chosen at random, so that what a process of short life verifies
//    is not always the same.
// 2. It stops between two reads: who closes waits for no more than one, and 10 ms.
// 3. Damage of a container is told once for as long as it has the same file, by whoever meets it.

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "db/check_report.h"
#include "db/check_walk.h"
#include "os/sync.h"

namespace hawthorn::db {

class Scrub {
 public:
  Scrub(Db::Impl* db, uint64_t bytes_per_second);
  ~Scrub() { stop(); }

  // Errors: those of starting a thread.
  Status start() EXCLUDES(mutex_);
  void stop() EXCLUDES(mutex_);
  // Of a machine without threads: looks at one container, where it is time to.
  void run_if_due() EXCLUDES(mutex_);
  void add_to(Stats* stats) const;

 private:
  void run() EXCLUDES(mutex_);
  bool stopping() const { return stopping_.load(std::memory_order_acquire); }
  void begin_round();
  // False: the round has ended, or was stopped.
  bool step();
  void end_round();
  void take_found(tree::RunFile* file);

  Db::Impl* const db_;
  CheckPace pace_;
  std::atomic<bool> stopping_{true};
  std::atomic<uint64_t> bytes_{0};
  std::atomic<uint64_t> containers_{0};
  std::atomic<uint64_t> rounds_{0};
  std::atomic<uint64_t> errors_{0};
  // Of the round: of one thread.
  std::optional<CheckSink> sink_;
  std::optional<ContainerWalk> walk_;
  std::optional<ContainerCheck> check_;
  uint64_t resume_us_ = 0;  // no round begins before
  os::Mutex running_;       // one step at a time, of a machine without threads
  os::Mutex mutex_;
  os::CondVar wake_;
  os::Thread thread_;  // of who opens and closes
};

}  // namespace hawthorn::db
