#pragma once
// Goes through the containers of trees, one after the other, as they are when it comes to them.
//
// Used by checks, whose threads share one, and by the scrub. Threads: every function from any
// thread.
//
// 1. What splits or is joined behind it is not met again; every key that was there when the tree
//    was begun lies in a container that is handed out, or in one that replaced it meanwhile.
// 2. The file that is handed out is referenced: its space is not given away before put_back. So are
//    the deltas beside it: together they have all that the container had at one moment.

#include <functional>
#include <string>
#include <vector>

#include "db/check_container.h"

namespace hawthorn::db {

class ContainerWalk {
 public:
  // Of these trees; those that are dropped meanwhile are left out. `first`: begins there in the
  // first tree, whose part before it comes last.
  ContainerWalk(Db::Impl& database, std::vector<tree::TreeRef> trees, std::string first = {});

  // False: there are no more.
  bool next(CheckTarget* target) EXCLUDES(mutex_);
  static void put_back(CheckTarget& target) {
    if (target.file != nullptr) target.file->unref();
    target.file = nullptr;
    target.deltas = {};
  }
  // What it has handed out is still to be written.
  static bool writing(const CheckTarget& target);
  // Has that done. Errors: those of publishing.
  Status await_written(const CheckTarget& target);

  // Of the present tree: handed out, and how many there were when it was begun.
  struct Progress {
    uint64_t done = 0;
    uint64_t all = 0;
  };
  Progress progress() EXCLUDES(mutex_);

 private:
  Db::Impl& database_;
  os::Mutex mutex_;
  std::vector<tree::TreeRef> trees_ GUARDED_BY(mutex_);
  const std::string first_;
  size_t tree_ GUARDED_BY(mutex_) = 0;
  bool begun_ GUARDED_BY(mutex_) = false;
  std::string next_low_ GUARDED_BY(mutex_);
  Progress progress_ GUARDED_BY(mutex_);
};

// Puts back what was handed out, on each way out.
class PutBack {
 public:
  explicit PutBack(CheckTarget* target) : target_(target) {}
  ~PutBack() { ContainerWalk::put_back(*target_); }
  PutBack(const PutBack&) = delete;
  PutBack& operator=(const PutBack&) = delete;

 private:
  CheckTarget* const target_;
};

}  // namespace hawthorn::db
