#pragma once
// What all trees of one database share. Assembled by db, passed down by pointer.
//
// Threads: the members are thread-safe by themselves.

#include <atomic>
#include <functional>
#include <map>
#include <string_view>

#include "format/log_epoch.h"
#include "os/arena.h"
#include "os/machine.h"
#include "os/sync.h"
#include "space/space.h"
#include "tree/active_trees.h"
#include "tree/cursor_list.h"
#include "tree/extent.h"
#include "tree/residency.h"
#include "tree/slots.h"
#include "tree/snapshots.h"
#include "wal/log.h"

namespace hawthorn::tree {

// Extents of large values that a log record names and no container owns yet (R22).
class LargeExtents {
 public:
  void add(ExtentRef extent) {
    os::MutexLock lock(mutex_);
    const ExtentAddress address = extent->address;
    extents_.insert_or_assign(address, std::move(extent));
  }
  // Hands the reference over; empty when it is not there.
  ExtentRef take(const ExtentAddress& address) {
    os::MutexLock lock(mutex_);
    const auto at = extents_.find(address);
    if (at == extents_.end()) return {};
    ExtentRef extent = std::move(at->second);
    extents_.erase(at);
    return extent;
  }
  // All that is in it.
  uint64_t blocks() const {
    os::MutexLock lock(mutex_);
    uint64_t sum = 0;
    for (const auto& [address, extent] : extents_) sum += address.blocks;
    return sum;
  }

 private:
  mutable os::Mutex mutex_;
  std::map<ExtentAddress, ExtentRef> extents_ GUARDED_BY(mutex_);
};

// Between those who write a new version of a large value, which shares extents with the one before,
// and the evacuation of data files, which moves those that containers own: from the look at the old
// version until the new one's intent is installed, where evacuation finds it, none are moved.
class LargeMoves {
 public:
  // Of those who write. Never waits long.
  void enter() {
    for (os::SpinWait wait;; wait.once()) {
      writers_.fetch_add(1, std::memory_order_seq_cst);
      if (!closed_.load(std::memory_order_seq_cst)) return;
      writers_.fetch_sub(1, std::memory_order_seq_cst);
    }
  }
  void leave() { writers_.fetch_sub(1, std::memory_order_seq_cst); }
  // Keeps them out; one at a time. False: some are there, and do not go soon.
  bool close() {
    closed_.store(true, std::memory_order_seq_cst);
    os::SpinWait wait;
    for (int tries = 0; writers_.load(std::memory_order_seq_cst) != 0; ++tries) {
      if (tries == kTriesMax) {
        open();
        return false;
      }
      wait.once();
    }
    return true;
  }
  void open() { closed_.store(false, std::memory_order_seq_cst); }

 private:
  static constexpr int kTriesMax = 200;
  std::atomic<uint32_t> writers_{0};
  std::atomic<bool> closed_{false};
};

// Which rows transactions have locked, for writers that take no locks (R18). They ask under the
// latch of the row's container, which whoever locks takes after that, to look for intents: so one
// of the two sees the other.
class RowGate {
 public:
  // Transactions that hold a lock, or are about to take their first.
  std::atomic<uint32_t> holders{0};
  virtual bool held_by_other(TxnId own, uint32_t tree, std::string_view key) const = 0;

 protected:
  ~RowGate() = default;
};

struct Store {
  const os::Machine* machine = nullptr;
  os::Arena* arena = nullptr;
  space::Space* space = nullptr;
  Residency* residency = nullptr;
  TxnSlots* slots = nullptr;
  Snapshots* snapshots = nullptr;
  LargeExtents* large = nullptr;
  LargeMoves large_moves;
  std::atomic<bool> large_pieces{false};  // the superblock says that large values may be in pieces
  std::atomic<Lsn>* visible =
      nullptr;              // visible_ts: everything up to it is committed and may be read
  wal::Log* log = nullptr;  // null while the log is scanned, and in a read-only database
  bool replaying = false;   // in open, which has no other thread; intents are the log's alone
  std::atomic<uint64_t> next_container{1};
  // Called (outside latches) when a container's delta has grown so large that it should be flushed
  // whatever the budget.
  std::function<void()> large_delta;
  CursorList cursors;
  ActiveTrees active;
  const RowGate* row_gate = nullptr;  // null: no rows are ever locked
  std::atomic<bool> expires{false};   // there is a tree whose entries end
  std::atomic<uint64_t> now_ms{0};    // what was the present for those; never goes back
};

}  // namespace hawthorn::tree
