#pragma once
// A follower: reads a database beside the process that writes it, which it neither waits for nor
// keeps waiting.
//
//   auto follower = hawthorn::Follower::open("/var/lib/app/db");
//   std::shared_ptr<hawthorn::Db> db = follower.value()->view();   // a Db to read from
//   ...
//   db = follower.value()->latest().value();   // with what was committed since
//
// What a view shows is always the state at one commit, and everything that was committed before,
// in all trees: commits of every durability as soon as they return, also such as a power loss may
// still take. It never goes back, also not where the process that writes is killed, ends, or begins
// again; and there need not be one.
//
// The newest view goes forward: each refresh may take it to a later commit, whoever holds it and
// whoever has asked for that, also between two reads of one that holds it. What was begun in it
// stays at its moment: a snapshot, a transaction (but of kReadCommitted), a cursor, a scan. So
// reads that have to agree go through one of these. A view that is not the newest any more, since a
// refresh had to make another one or a rebuild has, stays as it is for good.
//
// Threads: every function from any thread; refreshing waits for who refreshes, readers for nobody.
// Costs: the process that writes does nothing for a follower but to look at a file of 16 KB with
// each batch of flushes, and to keep on disk what the oldest view may still read
// (Stats::followers). So a view that is held for long, or a follower that is never refreshed, keeps
// disk space; one whose process dies, however it does, keeps none. Where the disk is full, the
// views that are in the way are given up: they answer kTooOld from then on, and the next refresh
// makes a new one.

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hawthorn/db.h"
#include "hawthorn/export.h"
#include "hawthorn/options.h"
#include "hawthorn/status.h"

namespace hawthorn {

struct FollowerOptions {
  // Of each view, as Options::memory_budget_bytes. What the process that writes has not flushed
  // must fit (up to half of its own budget; kOutOfMemory where it does not), so as much as that has
  // is enough. While an older view is still held there are two of them.
  size_t memory_budget_bytes = default_memory_budget_bytes();
  IoMode io_mode = IoMode::kAuto;
  // As those of Options, and needed where trees of the database have some.
  std::vector<std::shared_ptr<const MergeOperator>> merge_operators;
  std::vector<std::shared_ptr<const KeyOrder>> key_orders;
  std::vector<std::shared_ptr<const KeyComparator>> key_comparators;
  // As that of Options, and needed where the database is encrypted.
  Encryption encryption;
  std::function<void(LogLevel, std::string_view)> log;
  // As that of Options, of each view that is made.
  std::function<Status(uint64_t bytes_done, uint64_t bytes)> open_progress;

  // With all of these as the options of a database have them: for who could have opened it, too.
  HAWTHORN_EXPORT static FollowerOptions of(const Options& options);
};

class HAWTHORN_EXPORT Follower {
 public:
  // Costs O(manifest + log), as Db::open. Writes nothing but its own entry of the file `followers`,
  // and takes no lock that anybody waits for.
  // Errors: kNotFound where there is no database, or none that was opened for writing by a version
  // that knows followers; kPermissionDenied, or kReadOnly on a read-only medium, where the file
  // `followers` may not be written; kBusy when 128 views are there; kNotSupported where an older
  // version writes, or the file system has no locks of bytes (OFD); kOutOfMemory for the budget;
  // those of Db::open.
  static Result<std::unique_ptr<Follower>> open(const std::string& path,
                                                const FollowerOptions& options = {});
  ~Follower();
  Follower(const Follower&) = delete;
  Follower& operator=(const Follower&) = delete;

  // When it returns, view() shows at least all that was committed before the call. Mostly the view
  // that there is goes on: what stands in the log since is put into it, commit by commit, beside
  // its readers. Where that is not possible, a new one is made, at the cost of open: behind large
  // transactions (over 256 KB), bulk ingests and prepared ones, when the process that writes has
  // begun anew or rewritten its manifest, when the log that was not read yet is gone, and when a
  // third of the budget is unflushed data. Errors: those of open; the view that there is stays.
  Status refresh();
  // refresh, and the view then: for who wants each transaction to show what is committed when it
  // begins. Where nothing was since, it costs a look at the log. Errors: those of refresh.
  Result<std::shared_ptr<Db>> latest();
  // As refresh, by a new view in any case: then named snapshots and prepared transactions, too, are
  // those of now, and what only older views could read need not be kept.
  Status rebuild();

  // The newest view: a Db that is opened read-only, for all of its functions that read. Its trees,
  // snapshots and cursors belong to it. A refresh may take it forward (see above); those of before,
  // and all when the follower has gone, stay as they are as long as they are held; close them not,
  // but let go of them. Named snapshots, prepared
  // transactions and figures on disk are those of when the view was made. Errors of its reads: also
  // kTooOld, see above.
  std::shared_ptr<Db> view() const;

  // As open, on another machine than the real one: for the project's own tests.
  HAWTHORN_HIDDEN static Result<std::unique_ptr<Follower>> open_on(const os::Machine& machine,
                                                                   const std::string& path,
                                                                   const FollowerOptions& options);

  class HAWTHORN_HIDDEN Impl;

 private:
  explicit Follower(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace hawthorn
