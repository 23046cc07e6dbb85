#pragma once
// Makes flushes durable: gathers their edits into manifest batches.
//
//   add(edit) ──> batch being filled ──[64 MB or 200 ms or asked]──> writes done ──> log synced ──>
//   data synced
//                      └── next one fills meanwhile                      ──> manifest batch ──> old
//                      extents free, log trimmed
//
// Not here: merging and installing (scheduler), the manifest's files (manifest).
// Threads: every function from any thread. One batch at a time is published; the next one fills
// meanwhile.
//
// 1. Order of a batch (R13): its writes, the log through its largest cut, the data files, the
// manifest.
// 2. Extents that a batch drops are free when it is durable and nobody refers to them any more
// (R24).
// 3. The log is trimmed to what no container, transaction or unpublished edit needs, after that
// trim is durable (R8).
// What other processes read counts, too: which extents they hold back is told to the space, and the
// log stays while one of them reads it (db/follower_registry.h).
// 4. An error is final: the database is read-only from then on. Whoever meets it is told as it is,
// all others kReadOnly, by status() and by the log, which takes no commit any more. But kNoSpace of
// the writes and of the manifest is not: the batch goes with the next one, its extents stay in
// memory until they are written, and the log keeps what it is to be trimmed to.

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "db/follower_registry.h"
#include "db/manifest.h"
#include "format/manifest_state.h"
#include "hawthorn/status.h"
#include "os/io.h"
#include "os/sync.h"
#include "tree/extent.h"
#include "tree/store.h"
#include "wal/log.h"

namespace hawthorn::db {

using format::Lsn;

struct Edit {
  std::vector<format::TreeRecord> trees_created;
  std::vector<format::ContainerRecord> set;
  std::vector<uint64_t> deleted;
  std::vector<tree::ExtentRef> fresh;  // to be written from their memory
  std::vector<tree::ExtentRef> dropped;
};

class Feeds;

// A moment of the database: a durable manifest, and the log up to where it stood. What a process
// finds that opens it after a kill at that moment.
struct Moment {
  format::ManifestState state;
  format::Features features;
  uint64_t uuid_low = 0;  // of the database
  uint64_t uuid_high = 0;
  Lsn end = 0;
};

class Publisher {
 public:
  // `log_needed(durable_batch)`: what the trees need of the log.
  Publisher(const os::Machine& machine, tree::Store* store,
            std::function<Lsn(uint64_t)> log_needed);
  ~Publisher();

  // Before the first add; the manifest and the log are owned by the database. Errors: those of
  // starting a thread.
  Status start(Manifest* manifest, wal::Log* log);
  // Before start: for which the log is kept, too.
  void keep_for(Feeds* feeds) { feeds_ = feeds; }
  // The log below is kept for feeds alone.
  Lsn needed_but_for_feeds() const { return needed_but_for_feeds_.load(std::memory_order_acquire); }
  // Who else reads the database; null: nobody can. Before start, when the space has all that is
  // used; `batch`: the last one of the manifest. Owned by the database.
  void heed_followers(FollowerRegistry* followers, uint64_t batch);
  // Looks again who reads what. Of a full disk: those that hold something back lose it.
  // Whether something has become free.
  bool free_unfollowed(bool full_disk);
  // For a copy of this moment: its extents stay on the disk until unpin, or until the disk is full
  // (then still_pinned says so, and what is read may be something else), and its log until
  // release_log. Errors: status().
  Result<Moment> pin(uint64_t* pin);
  void release_log(uint64_t pin);
  bool still_pinned(uint64_t pin) const;
  void unpin(uint64_t pin);
  // Of a full disk: copies lose what they hold; only those that hold the log, if asked so. Whether
  // there was one.
  bool revoke_pins(bool of_log);
  void stop();  // ends the thread; what was added and not published stays unpublished

  // Starts the edit's writes and puts it into the batch being filled, whose number is returned.
  uint64_t add(Edit edit) noexcept;
  // Publishes everything that was added before the call. Errors: kNoSpace, where the manifest has
  // no room for it: it goes with what is published next; status().
  Status publish();
  // Whether so much waits to be published that whoever flushes more had better do that first: what
  // records take of memory until then is not in the budget, and what is being written stays.
  bool has_much(bool memory_is_short) const;
  // A batch of its own for trees created and dropped, and what they drop; durable when it returns.
  // Errors: kNoSpace, where it changes nothing; status().
  Status publish_now(format::ManifestBatch batch, std::vector<tree::ExtentRef> dropped = {});

  // OK when the manifest has room for more than what makes it smaller. growth: how much there will
  // be. Errors: kNoSpace; status().
  Status keep_manifest_room(uint64_t growth_bytes);
  // Behind stop, at a clean close. Errors: as Manifest::trim.
  Status trim_manifest();
  // While held, the log is not trimmed (recovery).
  void hold_trim(bool hold) { trim_held_.store(hold, std::memory_order_release); }
  uint64_t durable_batch() const { return durable_batch_.load(std::memory_order_acquire); }
  Status status() const;
  uint64_t manifest_batch() const { return manifest_batch_.load(std::memory_order_acquire); }
  uint64_t batches() const { return batches_.load(std::memory_order_relaxed); }
  uint64_t batch_us() const { return batch_us_.load(std::memory_order_relaxed); }
  uint64_t bytes_written() const { return bytes_written_.load(std::memory_order_relaxed); }
  // Makes durable what others have written to data files. Errors: that of the first sync that has
  // failed, which may have taken anything with it: the database is read-only from then on.
  Status sync_data();
  // By others, to data files.
  void count_written(uint64_t bytes) { bytes_written_.fetch_add(bytes, std::memory_order_relaxed); }
  // Lsns reserved ahead; renewed when half of them are used.
  static constexpr Lsn kLsnReserve = Lsn{1} << 30;

 private:
  uint64_t add_whole(Edit edit);
  struct ExtentWrites;
  struct Batch {
    ~Batch();

    uint64_t number = 0;
    Edit edit;
    Lsn max_cut = 0;
    size_t bytes = 0;
    os::IoGroup group;
    // Extents of which a write has failed. They stay in memory until they are written.
    std::atomic<ExtentWrites*> unwritten{nullptr};

    size_t records() const { return edit.set.size() + edit.trees_created.size(); }
    void go_behind(Batch& earlier);
  };
  size_t records_max() const;              // in one batch
  bool is_full(const Batch& batch) const;  // nothing is gained by waiting for more
  void run();
  static void piece_written(void* context, const Status& status);
  static void written(ExtentWrites* writes);
  Status write_again(Batch& batch) REQUIRES(publish_mutex_);
  // *unchanged: whether it failed where nothing has changed, and may be tried again.
  Status publish_batch(Batch& batch, format::ManifestBatch extra, bool* unchanged)
      REQUIRES(publish_mutex_);
  Status publish_locked(format::ManifestBatch extra, std::vector<tree::ExtentRef> dropped,
                        bool even_empty) REQUIRES(publish_mutex_);
  bool log_pinned() const;
  Lsn trim_point();
  void free_clear();
  void fail(const Status& status);

  const os::Machine& machine_;
  tree::Store* const store_;
  const std::function<Lsn(uint64_t)> log_needed_;
  Manifest* manifest_ = nullptr;
  Feeds* feeds_ = nullptr;
  std::atomic<Lsn> needed_but_for_feeds_{0};
  wal::Log* log_ = nullptr;
  FollowerRegistry* followers_ = nullptr;
  std::atomic<uint64_t> manifest_batch_{0};  // the last durable one, as the manifest counts

  os::Mutex publish_mutex_;  // one batch at a time
  mutable os::Mutex mutex_;
  os::CondVar wake_;
  std::unique_ptr<Batch> filling_ GUARDED_BY(mutex_);
  // Is on the disk, but the manifest had no room for it: it goes with the next one.
  std::unique_ptr<Batch> kept_ GUARDED_BY(mutex_);
  uint64_t filling_since_us_ GUARDED_BY(mutex_) = 0;
  // The log that the last batch needed until it was durable is trimmed with the next one, which may
  // be long in coming.
  bool trims_behind_ GUARDED_BY(mutex_) = false;
  uint64_t published_us_ GUARDED_BY(mutex_) = 0;
  uint64_t last_number_ GUARDED_BY(mutex_) = 0;
  bool stopping_ GUARDED_BY(mutex_) = false;
  Status status_ GUARDED_BY(mutex_);
  struct Pin {
    uint64_t hold = 0;  // of the space; 0: it was revoked
    bool log = true;    // the log is kept for it
  };
  mutable os::Mutex pins_mutex_;
  std::map<uint64_t, Pin> pins_ GUARDED_BY(pins_mutex_);
  uint64_t next_pin_ GUARDED_BY(pins_mutex_) = 1;
  std::atomic<bool> trim_held_{false};
  std::atomic<uint64_t> durable_batch_{0};
  std::atomic<uint64_t> batches_{0};
  std::atomic<uint64_t> batch_us_{0};
  std::atomic<uint64_t> bytes_written_{0};
  std::atomic<uint64_t> growth_asked_{0};
  os::Thread thread_;
};

}  // namespace hawthorn::db
