#pragma once
// The windows that a cursor comes to next, on their way from disk while it uses the present one.
//
//   window in use ──> windows_ (two or more, also of the containers that follow) ──> front_
//
// They go on where the last one ended, in the direction of travel, and are taken in this order.
// Each is read in two stages at most (cursor_window.h), and the front of a run before its first
// window; what arrived is worked up, and the next stage asked for, whenever the cursor takes one.
//
// Not here: the window in use, and when a walk deserves this (cursor_place.cc).
// Threads: one at a time, also different ones. Lifetime: as the cursor's.
//
// 1. A queue is leased while something is under way, and goes back with nothing in flight.
// 2. Files are pinned as long as a window of them is here, and memory that is read to stays until
//    the read is done: drop waits.
// 3. An error is nobody's: what failed is not handed out, and who needs those entries reads them
//    again and finds out.
// 4. What all cursors have here is bounded (Residency::reserve_ahead), and takes no memory beyond
//    the budget.

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "os/io_queue.h"
#include "tree/cursor_window.h"
#include "tree/tree.h"

namespace hawthorn::tree {

class CursorAhead {
 public:
  // The bounds of the cursor live as long as this.
  CursorAhead(TreeState* tree, Lsn ts, bool values, const std::optional<std::string>& lower,
              const std::optional<std::string>& upper);
  ~CursorAhead() { drop(); }
  CursorAhead(const CursorAhead&) = delete;
  CursorAhead& operator=(const CursorAhead&) = delete;

  // The end of the window in use: the next ones begin there. The file is pinned.
  struct Place {
    RunFile* file;
    uint32_t at;
    std::string_view low;  // the container's
    std::string_view high;
    bool has_high;
  };

  // The window of this file that goes on with `must`, complete; waits for it. Null: there is none,
  // and nothing is here any more.
  std::unique_ptr<CursorWindow> take(const RunFile* file, Run::Range must, bool forward);
  // Reads on, from `place` where nothing is here, else from behind what is.
  void go_on(const Place& place, bool forward);
  // Waits for the front of this file's run, if that is under way.
  void await_front(const RunFile* file);
  void drop();

  // Bytes on their way or waiting to be taken.
  size_t bytes() const { return bytes_; }

 private:
  static constexpr size_t kFirstBytes = size_t{64} << 10;
  static constexpr int kContainersMax = 8;  // passed over at once
  static constexpr size_t kWindowsMax = 16;
  struct Pending {
    size_t reads = 0;
    Status status;
  };
  struct Item : Pending {
    PinnedRunFile file;
    std::unique_ptr<CursorWindow> window;
    size_t bytes = 0;
    size_t reserved = 0;
  };
  struct Front : Pending {
    char* memory = nullptr;  // null: none is under way
  };

  void set_place(const Place& place);
  void fill();
  bool find_run();
  bool next_container();
  void look_at_run();
  bool at_end() const { return forward_ ? must_.begin >= stop_ : must_.end <= stop_; }
  bool start_window();
  void send(Pending* pending, size_t first);
  void submit();
  size_t reap(size_t wait_for);
  void arrived(Pending* pending);

  TreeState* const tree_;
  const Lsn ts_;
  const bool values_;
  const std::optional<std::string>& lower_;
  const std::optional<std::string>& upper_;

  bool placed_ = false;
  bool ended_ = false;  // nothing more is to be read ahead
  bool forward_ = true;
  size_t window_bytes_ = kFirstBytes;
  size_t bytes_ = 0;
  std::deque<Item> windows_;

  // Where the next window begins.
  PinnedRunFile file_;
  const Run* run_ = nullptr;  // null: its front is not in memory
  Run::Range must_;
  uint32_t stop_ = 0;  // of this container
  std::string low_;
  std::string high_;
  bool has_high_ = false;
  std::string key_;  // at which the container is entered
  Front front_;      // of file_

  std::optional<os::IoQueueLease> queue_;
  std::vector<os::IoRead> unsent_;
};

}  // namespace hawthorn::tree
