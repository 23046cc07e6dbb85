#pragma once
// What all trees of one database share. Assembled by db, passed down by pointer.
//
// Threads: the members are thread-safe by themselves.

#include <atomic>
#include <map>
#include <string_view>

#include "format/log_epoch.h"
#include "os/arena.h"
#include "os/machine.h"
#include "os/sync.h"
#include "space/space.h"
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

 private:
  os::Mutex mutex_;
  std::map<ExtentAddress, ExtentRef> extents_ GUARDED_BY(mutex_);
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
  std::atomic<Lsn>* visible =
      nullptr;              // visible_ts: everything up to it is committed and may be read
  wal::Log* log = nullptr;  // null while the log is scanned, and in a read-only database
  bool replaying = false;   // in open, which has no other thread; intents are the log's alone
  std::atomic<uint64_t> next_container{1};
  CursorList cursors;
  const RowGate* row_gate = nullptr;  // null: no rows are ever locked
  std::atomic<bool> expires{false};  // there is a tree whose entries end
  std::atomic<uint64_t> now_ms{0};   // what was the present for those; never goes back
};

}  // namespace hawthorn::tree
