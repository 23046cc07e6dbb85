#pragma once
// What a program is asked before its commits, and told behind them.
//
// Called for commits of the program: puts, deletes, merges, batches, compare-and-set, transactions
// (nested ones with the outermost), changes of trees, bulk ingests. Not for what the database
// commits by itself: removals of entries that have ended or that a flush filter removes, what a
// large transaction has left to be brought into its trees, and its own bookkeeping; a change feed
// (feed.h) has those of them that change what a tree shows.
//
// Threads: each call is on the thread that commits, several threads at a time. No lock of the
// database is held, so a hook may read; it must not write, commit, or end a transaction on that
// thread, nor throw. A database without hooks pays a branch.

#include <cstdint>

#include "hawthorn/export.h"
#include "hawthorn/options.h"
#include "hawthorn/status.h"

namespace hawthorn {

struct CommitInfo {
  uint64_t operations = 0;  // puts, deletes and so on; of a bulk ingest also what it attaches
  Durability durability = Durability::kDefault;
};

class HAWTHORN_EXPORT CommitHook {
 public:
  virtual ~CommitHook() = default;

  // Before anything of the commit is decided. An error refuses it: the commit returns that status,
  // nothing was written, and hooks behind this one are not asked. It may still fail afterwards, so
  // what is done here must not count as done. Of a transaction that is prepared this is asked by
  // Transaction::prepare, and not again: an outcome cannot be refused.
  virtual Status before(const CommitInfo& /*info*/) { return {}; }

  // Behind it, whatever came of it: with OK and kUnknownOutcome `cts` is its timestamp, else 0. Not
  // of what before() of any hook has refused. Everybody sees the commit already; it is as durable
  // as was asked. Of a transaction that was prepared, behind commit_prepared of this process,
  // whichever one has prepared it.
  virtual void after(const CommitInfo& /*info*/, uint64_t /*cts*/, const Status& /*outcome*/) {}
};

}  // namespace hawthorn
