#pragma once
// What was committed since a number, as batches: DB::GetUpdatesSince over the engine's feeds.
//
//   log ──> hawthorn::Feed ──> changes of trees ──> WriteBatch of families, with a number
//
// A reader of the log without a name begins anywhere, and keeps nothing. So there are feeds with
// names, anchors, that nobody acknowledges: log and large values are kept from the oldest one on.
// From time to time a new one is made, and the oldest goes. With WAL_ttl_seconds or
// WAL_size_limit_MB they are there from the open on; without, from the first question on, also
// behind restarts, and keep up to kBytesOnDemand.
//
//   "rocksdb.wal.7"   an anchor; the number grows
//
// Numbers. A commit's first number is its timestamp, the place of its record in the log, and the
// record takes more bytes than the batch has operations, so that sequence + Count() is not behind
// the next commit's. Where most of a commit may stand in the log before its record (what is large,
// or was prepared), the timestamp is the number of its last operation.
//
// Used by DBImpl. Threads: Updates any; an iterator one at a time.
//
// 1. Every commit with operations of families, from the number on, is shown once, in order, or
//    there is an error.
// 2. A commit's number depends on what it holds alone, so each reading gives it the same.

#include <hawthorn/db.h>
#include <hawthorn/events.h>

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "rocksdb/options.h"
#include "rocksdb/transaction_log.h"
#include "shims/rocksdb/src/entities.h"

namespace hawthorn::rocks {

// A commit that was prepared, with more operations than its record has bytes, deletes a key that
// begins so, and never is, from the tree of the families' rows.
inline constexpr std::string_view kPreparedNote = "prepared/";
inline constexpr uint32_t kNotedOperations = 40;

// Makes and drops anchors.
class WalKeeper {
 public:
  static constexpr uint64_t kBytesOnDemand = uint64_t{64} << 20;

  WalKeeper(uint64_t ttl_s, uint64_t limit_mb)
      : on_demand_(ttl_s == 0 && limit_mb == 0),
        ttl_us_(ttl_s * 1'000'000),
        limit_bytes_(on_demand_ ? kBytesOnDemand : limit_mb << 20) {}

  bool on_demand() const { return on_demand_; }
  // Anchors, the oldest first.
  static hawthorn::Result<std::vector<hawthorn::FeedInfo>> anchors(hawthorn::Db& db);
  // Called where an anchor is read that is to go.
  void set_let_go(std::function<void()> let_go) { let_go_ = std::move(let_go); }
  // Microseconds since 1970. Without anchors there are none behind it, unless they are `wanted`.
  hawthorn::Status look_after(hawthorn::Db& db, uint64_t now_us, bool wanted);

 private:
  bool is_due(const hawthorn::FeedInfo& newest, uint64_t now_us) const;
  bool may_go(const hawthorn::FeedInfo& oldest, const hawthorn::FeedInfo& next,
              uint64_t now_us) const;

  const bool on_demand_;
  const uint64_t ttl_us_;
  const uint64_t limit_bytes_;
  std::function<void()> let_go_;
  std::mutex mutex_;
};

// Looks after the anchors where log may have become free.
class WalListener final : public hawthorn::EventListener {
 public:
  explicit WalListener(std::shared_ptr<WalKeeper> keeper) : keeper_(std::move(keeper)) {}
  void start(hawthorn::Db* db) { db_ = db; }
  void on_flush_completed(const hawthorn::FlushCompleted& flush) override;

 private:
  const std::shared_ptr<WalKeeper> keeper_;
  std::atomic<hawthorn::Db*> db_{nullptr};
};

class Updates {
 public:
  Updates(hawthorn::Db* db, std::shared_ptr<WalKeeper> keeper);

  // Errors: NotFound for what is not committed yet, and what is not kept any more.
  rocksdb::Status since(uint64_t sequence, std::unique_ptr<rocksdb::TransactionLogIterator>* iter);
  // Once, before families are opened, whose filters write.
  rocksdb::Status start();
  // Before the database is closed.
  void let_go_of_readers();

 private:
  friend class UpdatesIterator;

  // Where a reading of the log stands.
  struct Reader {
    hawthorn::Feed feed;
    uint64_t passed = 0;  // the last commit that it has delivered
  };
  // A family that is there, or was.
  struct Known {
    uint32_t id = 0;
    bool keyed = false;
    EntityMark mark;
  };

  hawthorn::Result<const Known*> family_of(const hawthorn::FeedTree& tree);
  hawthorn::Status look_up_families();
  // What a commit has of families; nothing in *batch where it has none.
  hawthorn::Status batch_of(hawthorn::FeedCommit& commit, rocksdb::BatchResult* batch);
  // The same of one that has large values, by an anchor.
  hawthorn::Status batch_by_anchor(uint64_t cts, rocksdb::BatchResult* batch);
  hawthorn::Status add(const hawthorn::FeedChange& change, const Known& family,
                       std::string_view value, rocksdb::WriteBatch* batch);

  hawthorn::Db* const db_;
  const std::shared_ptr<WalKeeper> keeper_;
  std::mutex mutex_;
  // When it was opened all was committed up to the first, and nothing of a program in between: the
  // log may begin there.
  const uint64_t opened_from_;
  uint64_t opened_at_ = 0;
  std::map<uint32_t, Known> families_;  // by the ids of their trees
  Reader idle_;                         // of the iterator that went last
  std::mutex large_mutex_;              // held while an anchor is read; mutex_ comes behind it
  Reader large_;                        // of an anchor
};

}  // namespace hawthorn::rocks
