#pragma once
// What a database tells about its own work, for monitoring and for programs that act on it.
//
//   class Watch : public hawthorn::EventListener {
//     void on_background_error(const hawthorn::BackgroundError& e) override { page(e.status); }
//   };
//   options.listeners.push_back(std::make_shared<Watch>());
//
// Not here: figures (stats.h, docs/format.md for the counters file), messages (Options::log).
//
// Threads: one thread of the database calls all listeners, one event after the other, in the order
// in which they happened as far as one thread caused them. No lock of the engine is held. A
// callback may read, write, and ask for stats; it may not close or destroy the database, and must
// not wait for a thread that does. One that is slow delays those behind it, and close; one that
// never returns keeps close and ~Db from returning, and stops nothing else. Whoever uses the Db in
// callbacks: from the moment close or ~Db is called its calls answer kClosed (a call that is under
// way is waited for); the Db object itself must outlive that.
//
// 1. Up to 4,096 events, of 4 MB of memory, wait for their callbacks. What comes when there is no
//    room is dropped and counted: on_events_dropped comes where they would have stood. Errors and
//    the last event always find room.
//    Events of open wait until it has succeeded; of one that fails none is delivered.
// 2. All that waits is delivered before close returns, and before ~Db does; on_closed is the last.
// 3. An exception that leaves a callback is caught, and told to Options::log.

#include <cstdint>
#include <optional>
#include <string>

#include "hawthorn/export.h"
#include "hawthorn/status.h"

namespace hawthorn {

// A container's unflushed writes are about to be merged with what it has on disk. Also for
// rewriting that gathers values, frees space, or moves data out of a file.
struct FlushBegun {
  uint32_t tree = 0;
  std::string tree_name;     // as it was last told to the manifest; empty for the catalog
  std::string low_key;       // of the container
  uint64_t delta_bytes = 0;  // of memory, that go with it
  bool rewrite = false;      // for its own sake, not for what is unflushed
};

// The same has ended; readers use its result, which is durable with the next manifest batch. A
// container that is divided first, or joined to others, has a pair of events of its own for that.
struct FlushCompleted {
  uint32_t tree = 0;
  std::string tree_name;
  std::string low_key;
  Status status;               // not OK: all is as before, and it will be tried again
  uint64_t delta_bytes = 0;    // of memory, that it took
  uint64_t bytes_written = 0;  // to data files
  uint64_t containers_in = 1;  // more than one: they were joined
  uint64_t containers = 0;     // that there are now; more than one: it was split
  bool reclustered = false;    // its values lie in fewer places now
  uint64_t duration_us = 0;
};

// The log goes on in another segment.
struct LogSegmentBegun {
  uint64_t number = 0;
  uint64_t position = 0;  // of its first byte in the log
};

// A write found no room in the log's ring or segments, and has waited.
struct LogWaited {
  uint64_t waited_us = 0;
  Status status;  // not OK: it failed for that
};

// Writers wait for flushes from now on, since unflushed data have come near their quota.
struct WriteStallBegun {
  uint64_t delta_bytes = 0;
  uint64_t delta_quota_bytes = 0;
};

// None waits any more.
struct WriteStallEnded {
  uint64_t duration_us = 0;
  uint64_t writers = 0;  // that have waited in that time, those of several times as often
};

// Work that no call waits for has failed.
struct BackgroundError {
  Status status;
  bool read_only = false;  // for good: until it is opened again, the database takes no writes
};

// A checksum does not match what was written: reads of these keys fail, the rest goes on.
struct DamageFound {
  uint32_t tree = 0;
  std::string tree_name;
  std::string low_key;
  std::optional<std::string> high_key;  // nothing: to the end of the tree
  Status status;                        // names file and offset
};

struct DataFileCreated {
  uint32_t number = 0;
  uint64_t bytes = 0;
};

// Nothing in it was in use any more: the disk has the space back.
struct DataFileRemoved {
  uint32_t number = 0;
  uint64_t bytes = 0;
};

// A commit has made, renamed, dropped or cloned a tree, or it hangs elsewhere; told behind that
// commit.
struct TreeChanged {
  enum class Change : uint8_t {
    kCreated = 0,
    kRenamed = 1,
    kDropped = 2,
    kCloned = 3,
    kAttached = 4,  // hangs at a key now, where it had a name or hung at another one
    kDetached = 5,  // has a name now, and hung at a key
  };
  Change change = Change::kCreated;
  uint32_t tree = 0;
  std::string name;         // before the drop; after the renaming; of a subtree none
  std::string former_name;  // of one that was renamed or attached; of a clone, what it was made of
  // Of a subtree, the tree in which it hangs and its key there; of one that was dropped, before.
  uint32_t parent = 0;
  std::string key = {};
};

// The list of named snapshots is another.
struct SnapshotChanged {
  bool created = false;  // else dropped
  std::string name;
  uint64_t timestamp = 0;
};

// The manifest has begun a new file, which is smaller.
struct ManifestRewritten {
  uint64_t number = 0;
  uint64_t bytes = 0;
};

// Open has succeeded, recovery included.
struct Opened {
  bool created = false;
  bool read_only = false;
  uint64_t log_bytes_replayed = 0;
  uint64_t prepared_transactions = 0;  // that recovery has found
  uint64_t duration_us = 0;
};

struct Closed {
  bool clean = false;  // by close; else the next open replays the log
};

// Every function does nothing unless it is overridden.
class HAWTHORN_EXPORT EventListener {
 public:
  virtual ~EventListener() = default;
  virtual void on_flush_begun(const FlushBegun&) {}
  virtual void on_flush_completed(const FlushCompleted&) {}
  virtual void on_log_segment_begun(const LogSegmentBegun&) {}
  virtual void on_log_waited(const LogWaited&) {}
  virtual void on_write_stall_begun(const WriteStallBegun&) {}
  virtual void on_write_stall_ended(const WriteStallEnded&) {}
  virtual void on_background_error(const BackgroundError&) {}
  virtual void on_damage_found(const DamageFound&) {}
  virtual void on_data_file_created(const DataFileCreated&) {}
  virtual void on_data_file_removed(const DataFileRemoved&) {}
  virtual void on_tree_changed(const TreeChanged&) {}
  virtual void on_snapshot_changed(const SnapshotChanged&) {}
  virtual void on_manifest_rewritten(const ManifestRewritten&) {}
  virtual void on_opened(const Opened&) {}
  virtual void on_closed(const Closed&) {}
  // So many had no room to wait in, and are lost.
  virtual void on_events_dropped(uint64_t) {}
};

}  // namespace hawthorn
