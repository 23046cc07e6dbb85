#pragma once
// Snapshots with names: registered timestamps that the manifest remembers.
//
// Not here: what a registered timestamp keeps (tree/snapshots.h). Used by Db.
// Threads: every function from any thread, but open, which comes before all others.
//
// 1. A timestamp is registered before its record is durable, and until its record's end is: what it
//    sees is never missed. The log is durable up to it before its record is.
// 2. At open the timestamps are registered before anything is flushed.
// 3. From before one is made until it is dropped, ingests attach no containers: such a container
// has
//    no timestamps on disk, and a reader below it would take its keys for older ones after a
//    restart.

#include <atomic>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "db/publisher.h"
#include "hawthorn/db.h"
#include "tree/store.h"

namespace hawthorn::db {

class NamedSnapshots {
 public:
  NamedSnapshots(tree::Store* store, Publisher* publisher) : store_(store), publisher_(publisher) {}

  void open(const format::ManifestState& state);
  // `ingests`: one commits at a time, and keeps this while it does. Errors: see
  // Db::create_snapshot.
  Status create(std::string_view name, os::Mutex& ingests);
  Status drop(std::string_view name);
  // A registration of its own at the timestamp. Errors: kNotFound.
  struct Shared {
    tree::Snapshots::Registration registration;
    uint64_t created_us;
  };
  Result<Shared> share(std::string_view name);
  std::vector<NamedSnapshot> list() const;
  std::vector<format::Lsn> timestamps() const;
  bool any() const { return count_.load(std::memory_order_acquire) != 0; }

 private:
  struct Kept {
    format::SnapshotRecord record;
    tree::Snapshots::Registration registration;
  };
  Status make(std::string_view name);

  tree::Store* const store_;
  Publisher* const publisher_;
  std::atomic<size_t> count_{0};
  os::Mutex changing_;  // one is made or dropped at a time
  mutable os::Mutex mutex_;
  std::map<std::string, Kept, std::less<>> kept_ GUARDED_BY(mutex_);
};

}  // namespace hawthorn::db
