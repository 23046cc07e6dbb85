#pragma once
// Writes many entries at once, straight into the data files: for imports and restores. What goes
// where the tree holds nothing yet is written once, past the log; the rest as one transaction.
//
//   hawthorn::Ingest ingest = db->ingest(tree).value();
//   for (...) if (Status s = ingest.add(key, value); !s.ok()) return s;
//   Status s = ingest.finish();
//
// Atomic: nothing is visible before finish, and all of it from one moment on, to readers and after
// a crash. Entries replace older ones of their keys; snapshots and transactions that were open
// before go on without them. An optimistic transaction that writes a key of the ingest and began
// before finish gets kConflict.
//
// Speed: a range of keys without entries takes the fast way: an empty tree, what lies behind the
// last key, a gap between two keys, of a fraction of a megabyte at least. Entries between others
// that are there already, or that somebody writes meanwhile, are written as a transaction of that
// size: they pass log and memory, and have to fit the memory budget (kOutOfMemory, kNoSpace).
//
// Threads: one object from one thread at a time; several may be open, also for one tree. Readers
// and writers go on. finish lets commits of others wait for some microseconds for each megabyte.
// Memory: some megabytes of the budget, and what sorting takes.
// Lifetime: destroy before the Db is closed. Destroying one without finish abandons it. The space
// of an ingest that was not finished is free again, at the latest after the next open.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "hawthorn/export.h"
#include "hawthorn/options.h"
#include "hawthorn/status.h"
#include "hawthorn/transaction.h"

namespace hawthorn {

struct Entry;

struct IngestOptions {
  // Keys come in ascending order, none twice; that is checked. Otherwise in any order: they are
  // sorted, through temporary files in the database's directory as large as the entries, and of
  // those with the same key the last one counts.
  bool sorted = true;
  // For sorting, out of the budget. Default: an eighth of it; at least 512 KB.
  size_t sort_memory_bytes = 0;
  // Of the commit; what it refers to is synced before in any case.
  Durability durability = Durability::kDefault;
};

struct IngestStats {
  uint64_t entries = 0;           // added
  uint64_t entries_attached = 0;  // of those, in new containers: known after finish
  uint64_t entries_logged = 0;    // written as a transaction
  uint64_t containers = 0;        // made
  uint64_t bytes_written = 0;     // of containers, to data files
};

// Gives the next entry, whose bytes stay valid until the next call; false ends the ingest.
using IngestSource = std::function<Result<bool>(Entry*)>;

// Called by the thread that finishes an ingest that sorts, without locks, now and then: with the
// entries that lie in their order in data files or are about to, and how many were added. What it
// returns, unless it is ok, ends the ingest as any other error of finish does. It must not throw.
using IngestProgress = std::function<Status(uint64_t entries_done, uint64_t entries)>;

class HAWTHORN_EXPORT Ingest {
 public:
  class HAWTHORN_HIDDEN Impl;
  Ingest();
  explicit Ingest(std::unique_ptr<Impl> impl);
  ~Ingest();
  Ingest(Ingest&&) noexcept;
  Ingest& operator=(Ingest&&) noexcept;

  // Adds an entry; its bytes are copied. The first error is final: all later calls repeat it, and
  // nothing of the ingest becomes visible. Errors: kInvalidArgument for a key out of order (both
  // keys are named), for sizes over the limits, after finish, and when the tree was dropped;
  // kNoSpace; kOutOfMemory; kIoError.
  Status add(std::string_view key, std::string_view value);
  // The same with a value of up to 4 GB from a source that is called until it has given `size`
  // bytes. Errors: those of the source, too.
  Status add_stream(std::string_view key, uint64_t size, const StreamSource& source);

  // Commits. The object is finished in every case. Durable as the options say: with kFull, when it
  // returns. Errors: as add; kInvalidArgument when this thread has an exclusive transaction open
  // (that of another one is waited for); kTimedOut when transactions held row locks for longer than
  // Options::lock_timeout_ms: nothing became visible, and another ingest may go through;
  // kUnknownOutcome when the sync of a kFull commit failed.
  Status finish(const IngestProgress& progress = {});
  // Gives up; nothing of it remains.
  void abandon();

  // Whether neither finish nor abandon was called.
  bool open() const;
  IngestStats stats() const;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace hawthorn
