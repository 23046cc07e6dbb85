#pragma once
// A database: one directory, opened by one process, used by any number of its threads.
//
//   auto db = hawthorn::Db::open("/var/lib/app/db", {});
//   if (!db.ok()) return fail(db.status().to_string());
//   hawthorn::Tree users = (*db)->tree("users").value();
//   hawthorn::Status s = (*db)->put(users, "ada", "1815");
//
// Threads: every member function may be called from any thread at any time, close excepted (no
// other call may run). Errors: where a function's comment names none of its own: kCorruption,
// kIoError, kClosed and kForked. Durable: a write returns at its durability level (options.h). A
// read may see what is not yet durable.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hawthorn/backup.h"
#include "hawthorn/batch.h"
#include "hawthorn/cursor.h"
#include "hawthorn/explain.h"
#include "hawthorn/export.h"
#include "hawthorn/feed.h"
#include "hawthorn/ingest.h"
#include "hawthorn/key_order.h"
#include "hawthorn/merge_operator.h"
#include "hawthorn/options.h"
#include "hawthorn/read_queue.h"
#include "hawthorn/stats.h"
#include "hawthorn/status.h"
#include "hawthorn/transaction.h"
#include "hawthorn/value.h"

namespace hawthorn {

namespace os {
struct Machine;
}
struct RepairOptions;
struct RepairReport;

// A handle to a tree: small, copied freely. Lifetime: as long as its Db is open. One of a tree that
// was dropped is refused (kInvalidArgument) for good, and leads to no other tree.
class HAWTHORN_EXPORT Tree {
 public:
  Tree() = default;
  bool valid() const { return impl_ != nullptr; }
  uint32_t id() const { return id_; }

 private:
  friend class Db;
  friend struct TreeAccess;
  void* impl_ = nullptr;
  uint32_t id_ = 0;
  bool shaped_ = false;  // keys are not stored as they are
};

// A fixed view of all trees at one commit. Taking one is O(1) and blocks nobody.
// Lifetime: destroy before the Db is closed. Threads: may be shared for reading by any number of
// threads.
class HAWTHORN_EXPORT Snapshot {
 public:
  Snapshot() = default;
  ~Snapshot();
  Snapshot(Snapshot&& other) noexcept;
  Snapshot& operator=(Snapshot&& other) noexcept;
  // The commit timestamp that it shows.
  uint64_t timestamp() const { return timestamp_; }
  // Entries that end up to here have ended for it: milliseconds since 1970. 0 where no tree had
  // entries that end when it was taken: then nothing has, and the clock was not asked. One with a
  // name always has the time at which it was made.
  uint64_t now_ms() const { return now_ms_; }
  bool valid() const { return db_ != nullptr; }
  void reset();

 private:
  friend class Db;
  void* db_ = nullptr;
  uint32_t slot_ = 0;
  uint64_t timestamp_ = 0;
  uint64_t now_ms_ = 0;
};

// A snapshot that stays until it is dropped.
struct NamedSnapshot {
  std::string name;
  uint64_t timestamp = 0;
  uint64_t created_us = 0;  // wall clock, microseconds since 1970
};

struct Entry {
  std::string_view key;
  std::string_view value;
};

struct ReadOptions {
  const Snapshot* snapshot = nullptr;  // default: the newest committed state
};

struct ScanOptions {
  const Snapshot* snapshot = nullptr;
  bool key_only = false;
};

// Receives a run of entries in key order; returns whether to go on. Its views are valid during the
// call only.
using ScanCallback = std::function<bool(std::span<const Entry>)>;

// About what a range holds.
struct RangeEstimate {
  uint64_t entries = 0;
  uint64_t bytes = 0;  // on disk; what is not flushed has none
};

struct CheckOptions {
  bool verify_values = true;  // read value extents too, not only indexes
  // Called by the threads of the check, one at a time. `containers` is what there was when the
  // present tree was begun.
  std::function<void(uint64_t containers_done, uint64_t containers)> progress = {};
  // Superblock, manifest and log, too. Reading the log takes 12 MB of the memory budget, so one
  // check does at a time, and others wait for it.
  bool verify_files = true;
  // What the check reads per second, beside Options::background_io_bytes_per_second; 0: no limit of
  // its own.
  uint64_t bytes_per_second = 0;
  // That read and verify containers at once, the caller's among them: 1 to 64. Each takes memory
  // for one container's index beside 320 KB.
  uint32_t threads = 1;
  // What is found beyond so many is counted, and not told.
  size_t errors_max = 1000;
};

struct CompactOptions {
  // Called by the thread that compacts, without locks, behind what is flushed first: with the
  // containers that were rewritten, and how many there are to be. These become more where data
  // files are emptied in the end. What it returns, unless it is ok, ends the compaction and is what
  // compact returns; what was rewritten stays so. It must not throw.
  std::function<Status(uint64_t containers_done, uint64_t containers)> progress = {};
};

class HAWTHORN_EXPORT Db {
 public:
  class HAWTHORN_HIDDEN Impl;

  // Opens, and creates or recovers as needed. Costs O(manifest + log), not O(database). What a
  // relative path means is settled here, and the directory is held until the object goes: the
  // database goes on in it when the process changes its working directory, and when the directory
  // is renamed or something is mounted on it. Of several that create it at once one has it.
  // Errors: kNotFound; kBusy when another process has it open (follower.h reads beside it);
  // kNotSupported for a newer format, and where there is none but a database of RocksDB's,
  // LevelDB's, LMDB's, libmdbx's or SQLite's, which is not touched (the command that makes one of
  // ours of it is named); kCorruption (file and offset named); kInvalidArgument for options out of
  // range and an empty path; kPermissionDenied (the file or directory named); kReadOnly for a
  // read-only medium. Both may be opened with Options::read_only all the same.
  static Result<std::unique_ptr<Db>> open(const std::string& path, const Options& options);

  // Removes the files of a database, and the directory when nothing else is in it; clears the
  // labels of its devices, where they last were, and removes files device.N in the directory.
  // Errors: kBusy; kNotFound; kCorruption where a checkpoint or a restore is being made or was
  // interrupted (copy.incomplete); where a device is out of reach, as for Options::devices. Then
  // nothing is removed. Where it is encrypted and has devices, which ones is told by its manifest
  // alone: then it needs Options::encryption, and there are the errors of that, too.
  static Status destroy(const std::string& path, const Encryption& encryption = {});

  // Makes a new database at `target`, which must not exist, of all that is readable of the one at
  // `source`, in which nothing is written; repair.h has what is told of it. Needs as much disk
  // space as the source's data and log, and in memory those of one container, and some bytes for
  // each container and each record of the log. A target that was interrupted is to be removed, and
  // is not opened. Errors: kInvalidArgument where the target exists or lies in the source; kIoError
  // also where what was read cannot be read again: make the repair again; kNotFound where the
  // source has no file of a database; kBusy when it is open; kInvalidArgument for a wrong key, and
  // another's devices, too; kCorruption where its file of keys is lost; kNotSupported of newer
  // versions; those of writing the target, and of opening it, but kInvalidArgument (an order
  // or an operator is missing: the report says so). Other damage of the source is none.
  static Result<RepairReport> repair(const std::string& source, const std::string& target,
                                     const RepairOptions& options);

  static Limits limits();

  ~Db();
  Db(const Db&) = delete;
  Db& operator=(const Db&) = delete;

  // Flushes everything, removes the log and the preallocation, and closes. While transactions are
  // prepared the log is kept, in which they are. Errors: kBusy when snapshots, cursors
  // or values are still held, or transactions are open; then the database stays open.
  // Without a call, ~Db closes without flushing (nothing committed is lost: the next open replays
  // the log).
  Status close();

  // Opens a tree by name, creating it when missing (durable when this returns). Names: 1 to 255
  // bytes. To make many at once, or together with what they hold: Transaction::tree. Errors, where
  // it is made: kOutOfMemory where trees, which take about 2 KB of the budget each, leave only what
  // writes to them and drops need.
  Result<Tree> tree(std::string_view name);
  // The same of a tree with these options (key_order.h). Errors: kInvalidArgument where there is
  // one with others, or for an order that nobody knows. A database in which there ever was a tree
  // with other options than the default cannot be opened by versions before them.
  Result<Tree> tree(std::string_view name, const TreeOptions& options);
  // What the tree was made with, its orders by name.
  Result<TreeOptions> tree_options(const Tree& tree);
  // As tree(), but kNotFound when missing. A snapshot has the names of its moment.
  Result<Tree> find_tree(std::string_view name, const ReadOptions& options = {});
  Result<std::vector<std::string>> list_trees(const ReadOptions& options = {});
  // Removes a tree and its data, and all trees that hang below it; their handles are invalid
  // afterwards (calls return kInvalidArgument), but for reads of snapshots and transactions of
  // before, as long as which the data stay. Durable when this returns. Errors: kNotFound; kBusy
  // while a prepared transaction uses it; those of a write.
  Status drop_tree(std::string_view name);
  // Gives a tree another name; handles stay valid. Durable when this returns. Errors: kNotFound;
  // kInvalidArgument when the name is taken.
  Status rename_tree(std::string_view from, std::string_view to);

  // Makes a tree that begins with all that `from` holds, in a time that does not depend on how much
  // that is; from there on each changes by itself (docs/transactions.md). The clone reads from
  // `from` what it has not written itself: that keeps what it shows as for a snapshot, on disk, for
  // as long as the clone is there, also when it is dropped itself. Neither can have a merge
  // operator. Errors: kNotFound; kInvalidArgument where `to` is taken; kNotSupported where `from`
  // has a merge operator, or is a clone of a clone 256 times over; those of a write.
  Result<Tree> clone_tree(std::string_view from, std::string_view to,
                          Durability durability = Durability::kDefault);

  // Trees as values. In a tree that was made for it (TreeOptions::subtrees) a key may have a tree
  // in place of a value: a subtree, in which others may hang, to any depth. It has no name, is in
  // no list of names, and is used by its handle like any other tree. Reads find its key with an
  // empty value; Cursor::is_subtree and subtree() tell it from a value that is empty.
  //
  // del and delete_range of its key, and dropping the tree in which it hangs, drop it with all that
  // hangs below it, in the same commit: handles are invalid then, snapshots of before still read
  // it, its space returns in the background. Costs a few writes for each tree that goes. A key that
  // has a subtree takes no value: put, update and merge fail with kInvalidArgument; insert finds it
  // there; replace and remove_if find no value that is equal.
  //
  // create_subtree hangs an empty tree at a key that has nothing yet. attach hangs a tree there
  // that had a name, and has none from then on; detach gives it one, and its key has nothing;
  // move_subtree hangs it at another key, of the same tree or of another one. These take the time
  // of a few puts, whatever the tree holds, and one small read for each tree above `parent`;
  // handles stay valid. clone_subtree is clone_tree of a subtree.
  //
  // Errors: kNotFound where nothing is at the key, or no tree has the name; kInvalidArgument where
  // `parent` was not made for it, where the key to hang at, or the name to give, is taken, where
  // what is at the key is a value, and where a tree would hang below itself; those of a write.
  Result<Tree> create_subtree(const Tree& parent, std::string_view key,
                              const TreeOptions& options = {},
                              Durability durability = Durability::kDefault);
  Result<Tree> subtree(const Tree& parent, std::string_view key, const ReadOptions& options = {});
  // The keys at which subtrees hang, in their order.
  Result<std::vector<std::string>> list_subtrees(const Tree& parent,
                                                 const ReadOptions& options = {});
  Status attach(const Tree& parent, std::string_view key, std::string_view name,
                Durability durability = Durability::kDefault);
  Status detach(const Tree& parent, std::string_view key, std::string_view name,
                Durability durability = Durability::kDefault);
  Status move_subtree(const Tree& parent, std::string_view key, const Tree& to_parent,
                      std::string_view to_key, Durability durability = Durability::kDefault);
  Result<Tree> clone_subtree(const Tree& parent, std::string_view key, std::string_view to,
                             Durability durability = Durability::kDefault);

  // How the tree's data are compressed that are written from now on; durable when it returns. What
  // is on disk stays as it is until its container is rewritten, which compact() does where there is
  // garbage. Errors: kReadOnly; kNoSpace; kInvalidArgument for the tree or the value.
  Status set_compression(const Tree& tree, Compression compression);

  // Gives a tree the merge operator of the options with this name; durable when it returns. A tree
  // keeps the first one that it was given. A database with such a tree cannot be opened by versions
  // before merge operators. Errors: kReadOnly; kNoSpace; kInvalidArgument for the tree or the name,
  // or where the tree has another one; kBusy while the tree takes in what a transaction larger than
  // its share of memory has written, or a deleted range is erased (drain waits for that), and while
  // snapshots between need it; kNotSupported of clones, and of trees that clones show.
  Status set_merge_operator(const Tree& tree, std::string_view name);

  // Reads the newest committed value, or the snapshot's. Errors: kNotFound; kCorruption, too, where
  // the tree's merge operator refused the operands of the key (so do all other reads of values; a
  // cursor or scan ends there, and a seek behind the key goes on).
  Status get(const Tree& tree, std::string_view key, Value& value, const ReadOptions& options = {});
  // The same from memory alone, never waiting for the disk. Errors: also kNotInMemory where memory
  // does not tell, and of values over 64 KB, which it never holds; kNotSupported of trees with
  // several values to a key, and of those whose order is a comparison.
  Status get_in_memory(const Tree& tree, std::string_view key, Value& value,
                       const ReadOptions& options = {});
  // Reads many keys of one snapshot; much faster than a loop of get. The order of keys is free.
  Status multi_get(const Tree& tree, std::span<const std::string_view> keys, ReadBatch& out,
                   const ReadOptions& options = {});

  // Whether anybody has committed to the key since the snapshot, a delete included: what is a
  // conflict to who reads that moment. Behind the row's lock it stays so. May also be true where a
  // commit larger than its share of memory, or the delete of a range, has met the tree since, and
  // false of a key that was absent then and is absent again.
  // Errors: those of get, but kNotFound; kInvalidArgument for an empty snapshot; kNotSupported
  // where a key may have several values.
  Result<bool> changed_since(const Tree& tree, std::string_view key, const Snapshot& since);

  // A queue for gets that do not wait for the disk (read_queue.h). Errors: kInvalidArgument for the
  // depth.
  Result<std::unique_ptr<ReadQueue>> read_queue(const ReadQueueOptions& options = {});

  // One write, one commit. Errors: kInvalidArgument for sizes; kNoSpace (nothing was written;
  // deletes go on, and puts do when space is free again); kReadOnly; kUnknownOutcome (kFull only);
  // kTimedOut while a transaction holds the row; kConflict while a prepared transaction must find
  // it unchanged, and when the tree is dropped before the commit.
  Status put(const Tree& tree, std::string_view key, std::string_view value,
             Durability durability = Durability::kDefault);
  // The same of an entry that ends. Errors: also kInvalidArgument where the tree was not made for
  // it (TreeOptions::expires).
  Status put(const Tree& tree, std::string_view key, std::string_view value, const Expiry& expiry,
             Durability durability = Durability::kDefault);
  // When an entry ends, in milliseconds since 1970; 0: never. Errors: those of get; kNotSupported
  // where a key may have several values.
  Result<uint64_t> expires_at(const Tree& tree, std::string_view key,
                              const ReadOptions& options = {});
  // Deleting a missing key is no error, and a full disk none either. Where a key may have several
  // values, all that are there go.
  Status del(const Tree& tree, std::string_view key, Durability durability = Durability::kDefault);
  // One value of a key that may have several. Errors: as del; kInvalidArgument in other trees.
  Status del_value(const Tree& tree, std::string_view key, std::string_view value,
                   Durability durability = Durability::kDefault);
  // Deletes all keys from `low` on, below `high` where there is one, that are there when it
  // commits: in a time that does not depend on how many there are. Their space returns in the
  // background, once no older snapshot needs it; walks over what is deleted are slower until then.
  // A range that is empty is no error. Waits for transactions that hold row locks, of whatever key,
  // and writers of the range wait for it. Errors: as del; kTimedOut also while rows are locked, as
  // by prepared transactions, and where 64 ranges of the tree wait to be erased; kConflict while a
  // prepared transaction must find something of the tree unchanged; kNotSupported where the tree
  // has a merge operator or is a clone (Transaction::delete_range does it).
  Status delete_range(const Tree& tree, std::string_view low,
                      std::optional<std::string_view> high = std::nullopt,
                      Durability durability = Durability::kDefault);
  // Changes a value as the tree's merge operator says, without reading it: what an operand of up to
  // 64 KB makes of it is worked out later. Never a conflict with other merges. Costs about as much
  // as a put; operands on a value of more than 64 KB, or whose result would be larger, are kept
  // beside it until something is put there, so that reads become slower with each, and from 64 MB
  // of them on the key's container cannot be flushed. Errors: as put; kInvalidArgument, too, where
  // the tree has no merge operator.
  Status merge(const Tree& tree, std::string_view key, std::string_view operand,
               Durability durability = Durability::kDefault);
  // All operations of the batch in one commit. On a full disk one put makes it an insert; a batch
  // of deletes alone is refused (kNoSpace) only when it is larger than the log.
  Status write(const WriteBatch& batch, Durability durability = Durability::kDefault);

  // Many entries straight into the data files, in one commit (ingest.h): add them to what is
  // returned, then finish it. Errors: kReadOnly; kInvalidArgument for the tree.
  Result<Ingest> ingest(const Tree& tree, const IngestOptions& options = {});
  // The same with entries from a source, finished when the source ends. Errors: those of the source
  // and of Ingest; nothing is visible then.
  Status ingest(const Tree& tree, const IngestSource& source, const IngestOptions& options = {});

  // Compare and set, each in a commit of its own: see Transaction. Where others change the key at
  // the same time, it is tried again; where a prepared transaction must find the key unchanged, for
  // as long as Options::lock_timeout_ms (kConflict).
  Result<bool> insert(const Tree& tree, std::string_view key, std::string_view value,
                      Durability durability = Durability::kDefault);
  Result<bool> update(const Tree& tree, std::string_view key, std::string_view value,
                      Durability durability = Durability::kDefault);
  Result<bool> replace(const Tree& tree, std::string_view key,
                       std::optional<std::string_view> expected, std::string_view value,
                       Durability durability = Durability::kDefault);
  Result<bool> remove_if(const Tree& tree, std::string_view key, std::string_view expected,
                         Durability durability = Durability::kDefault);

  // Errors: kReadOnly; kBusy when four million are open; kInvalidArgument for options that
  // contradict each other. kExclusive waits for exclusive transactions before it, and for those
  // that hold row locks, for lock_timeout_ms each: kTimedOut.
  Result<Transaction> begin(const TxnOptions& options);
  Result<Transaction> begin(TxnMode mode);

  // Transactions that are prepared (Transaction::prepare), by this process or an earlier one, in
  // the order of their ids. Also in a database that was opened read-only.
  Result<std::vector<PreparedTransaction>> prepared();
  // Ends one, whether or not its object is still there; of two calls that want to, one does.
  // Rolling back is durable when it returns. Errors: kNotFound; kNoSpace (a full log), kReadOnly,
  // kIoError: it stays prepared; kUnknownOutcome as for Transaction::commit, and when rolling back
  // could not be made durable: the next open tells.
  Status commit_prepared(std::string_view id, Durability durability = Durability::kDefault);
  Status rollback_prepared(std::string_view id);
  Snapshot snapshot();

  // Snapshots with names (1 to 255 bytes) stay, also over restarts and crashes, until they are
  // dropped: all versions that they see are kept meanwhile (Stats::named_snapshots), dropped trees
  // among them, and bulk ingests write as transactions do. create_snapshot names the present
  // moment, which is durable when it returns. Errors: kInvalidArgument when the name is taken, or
  // not of that size; kNotFound; kNoSpace; kReadOnly.
  Status create_snapshot(std::string_view name);
  // To read it.
  Result<Snapshot> open_snapshot(std::string_view name);
  // In the order of their names.
  Result<std::vector<NamedSnapshot>> list_snapshots();
  // Those who have opened it keep it until they let it go. Durable when it returns.
  Status drop_snapshot(std::string_view name);

  // Change feeds (feed.h). One begins behind the present moment: create_feed is durable when it
  // returns, and from then on the log is kept for it, also after a clean close. Names: 1 to 255
  // bytes. A database that ever had a feed cannot be opened by versions before them. Errors:
  // kInvalidArgument when the name is taken, or not of that size; kNotFound; kBusy for a feed that
  // is open; kNoSpace; kReadOnly.
  Status create_feed(std::string_view name, const FeedOptions& options = {});
  Status drop_feed(std::string_view name);
  // In the order of their names.
  Result<std::vector<FeedInfo>> list_feeds();
  // Reads it from its position on. Errors: also kTooOld, where it is lost: drop it, and make a new
  // copy of what was made from it.
  Result<Feed> open_feed(std::string_view name);
  // Reads behind any timestamp, as far as the log still reaches, for which nothing is kept: next
  // may return kTooOld at any time. Errors: kTooOld; kReadOnly.
  Result<Feed> open_feed_at(uint64_t position);
  // The id that this database has had since it was made, and no other: 32 hexadecimal digits.
  std::string id() const;

  Cursor cursor(const Tree& tree, const CursorOptions& options = {});

  // Hands out the entries of [lo, hi) in runs of up to several hundred; without hi, to the end. The
  // fastest way to read many entries in order.
  Status scan(const Tree& tree, std::string_view lo, std::optional<std::string_view> hi,
              const ScanCallback& callback, const ScanOptions& options = {});

  // How many entries [lo, hi) has, exactly, in the newest committed state or the snapshot's;
  // without hi, to the end. Costs O(log n) where everything is flushed, but that a
  // container at an end of the range is walked entry by entry (about a millisecond) where flushes
  // have left timestamps in it. Containers with unflushed writes cost the more, the more of these
  // they have; those with versions that only snapshots need are walked for a snapshot. The first
  // count behind an open reads a block or two of each container in the range, and the whole index
  // of those with timestamps.
  Result<uint64_t> count(const Tree& tree, std::string_view lo, std::optional<std::string_view> hi,
                         const ReadOptions& options = {});
  // About the same, and the bytes on disk, without a look at the disk. With under 10,000 entries
  // unflushed in the range, and all that count looks at in memory, it is count, and costs as much.
  // Else it looks at some of them, and is within a factor of two or 5% of the versions stored, as
  // far as these are in memory. Large clones, and what is being brought into the tree of a
  // transaction larger than memory, are estimated roughly. Errors: those of a call alone.
  Result<RangeEstimate> estimate(const Tree& tree, std::string_view lo,
                                 std::optional<std::string_view> hi);

  // Where a key is, and what a get of it reads from disk (explain.h): of this moment, without
  // others who read meanwhile. Reads the container's index run past the cache, which stays as it
  // is, so it takes longer than a get. Errors: those of get, but kNotFound; kNotSupported where a
  // key may have several values.
  Result<KeyExplanation> explain(const Tree& tree, std::string_view key,
                                 const ReadOptions& options = {});
  // The same of a key as the tree stores it, which is what an explanation's stored_key, low_key and
  // high_key are: from "" on, each high_key leads to the next container. Errors: as explain, but
  // for trees of all kinds.
  Result<KeyExplanation> explain_stored(const Tree& tree, std::string_view stored_key,
                                        const ReadOptions& options = {});

  // Values by parts (Transaction::read_part).
  Result<size_t> read_part(const Tree& tree, std::string_view key, uint64_t offset,
                           std::span<char> buffer, const ReadOptions& options = {});
  // As Transaction::size_of and Transaction::read_stream.
  Result<uint64_t> size_of(const Tree& tree, std::string_view key, const ReadOptions& options = {});
  Status read_stream(const Tree& tree, std::string_view key, const StreamSink& sink,
                     uint64_t offset = 0, const ReadOptions& options = {});
  // As those of Transaction, each in a commit of its own, tried again where others change the key
  // at the same time. Errors: also those of commit.
  Status write_part(const Tree& tree, std::string_view key, uint64_t offset, std::string_view bytes,
                    Durability durability = Durability::kDefault);
  Result<uint64_t> append(const Tree& tree, std::string_view key, std::string_view bytes,
                          Durability durability = Durability::kDefault);
  Status resize(const Tree& tree, std::string_view key, uint64_t size,
                Durability durability = Durability::kDefault);

  // A write or sync of log, manifest or containers that fails (but a write of containers for want
  // of space) makes the database read-only: what it has is read on, and all that writes, begins to
  // or copies returns kReadOnly with that error, as do the next four. The next open finds each
  // commit that was acknowledged as durable.

  // Makes every commit so far durable as kFull would.
  Status sync();
  // Writes all unflushed data to its containers and makes that durable.
  Status flush();
  // Flushes, shows all entries to the flush filters, then rewrites the containers that carry
  // garbage.
  Status compact(const CompactOptions& options = {});
  // Waits until background work has nothing left to do, that of flush filters among it (unflushed
  // data below its threshold stays in memory).
  Status drain();

  // Reads the indexes of all trees into memory, until a quarter of the budget is left, and of
  // those that hold the values themselves (of 40 bytes or fewer each) the outlines:
  // the first reads behind an open need no more of the disk than later ones then. Takes the time to
  // read them, of records of 100 bytes about an eighth of the database, at the speed of the disk,
  // and returns; reads and writes go on beside it, also in a read-only database. Errors: kIoError,
  // kCorruption for the first index that could not be read; the others are read all the same.
  Status warm_up();

  // Takes effect at once for new allocations; shrinking evicts what it can before it returns.
  // Errors: kInvalidArgument below limits().memory_budget_bytes_min; kOutOfMemory when what is
  // pinned does not fit.
  Status set_memory_budget(size_t bytes);

  // Options::background_io_bytes_per_second from now on; 0: no limit.
  Status set_background_io_limit(uint64_t bytes_per_second);

  // Encryption at rest (encryption.h).
  EncryptionInfo encryption() const;
  // From now on the key with this id opens the database, and the one before does not: the data
  // keys are sealed with it, and nothing else is written, so that it takes no longer in a large
  // database. Options::encryption is asked for both keys. Durable when it returns; where it fails,
  // or the machine does, it is one of the two that Db::open asks for. A copy of the directory from
  // before is opened by the key of before. Errors: kInvalidArgument where the database is not
  // encrypted, for an id that is empty or has more than 255 bytes, and for a wrong key; kReadOnly;
  // those of the callback and of the disk.
  Status rotate_key(std::string_view key_id);
  // A new data key, which nobody has seen: what is written from now on is sealed with it, the log
  // from the next open on, and what was written before stays as it is, and keeps its key. Durable
  // when it returns. Errors: those of rotate_key; kNotSupported beyond 64 data keys.
  Status rotate_data_key();

  // Copies of the database at one moment (backup.h), while others read and write. What is in use
  // when it begins stays on the disk until it is done: of a full disk the copy is given up, with
  // kNoSpace, before writers go without. checkpoint makes a database of its own in a directory that
  // is missing or empty, or holds what an interrupted one has left; until it is whole and durable
  // the directory has a file `copy.incomplete`, and opening it is refused.
  // Their reads and writes keep to the limit in their own options, and do not count in that of
  // background work.
  // Of a database on devices the copy has files in their place, in its directory (docs/backup.md).
  // Errors: kReadOnly for one that was opened so; kInvalidArgument for a directory with other
  // contents; kBusy where somebody else writes into it; kCorruption; kNoSpace; those of the sink.
  // Durable: when it returns, but for backup_to, of which that is the sink's.
  Status checkpoint(const std::string& directory, const CheckpointOptions& options = {});
  Result<BackupInfo> backup(BackupRepository& repository, const BackupOptions& options = {});
  Result<BackupInfo> backup_to(BackupSink& sink, const BackupOptions& options = {});

  Stats stats();
  // Reads all that is on disk and verifies it, while the database is in use: checksums of every
  // block, order and ranges of keys, counts, references, that no two extents overlap and none is
  // both in use and free; both slots of the superblock, every batch of the manifest, every record
  // of the log that is still needed. Goes on behind what is wrong, and says where each thing is.
  // Reads past the cache, which stays as it is. What is written meanwhile may be looked at or not.
  // Damage is no error of the call, but in its report. Errors: kInvalidArgument for the options;
  // kTooOld for a follower whose view was given up.
  Result<CheckReport> check(const CheckOptions& options = {});

  // From the root, as it was when the database was opened. It goes on in that directory when the
  // process changes its own, and when the directory is renamed or something is mounted on it.
  const std::string& path() const;

  // As open, on another machine than the real one. For the project's own tests: it needs headers
  // that are not installed.
  HAWTHORN_HIDDEN static Result<std::unique_ptr<Db>> open_on(const os::Machine& machine,
                                                             const std::string& path,
                                                             const Options& options);
  HAWTHORN_HIDDEN static Result<RepairReport> repair_on(const os::Machine& machine,
                                                        const std::string& source,
                                                        const std::string& target,
                                                        const RepairOptions& options);

 private:
  friend class Follower;
  friend class Replica;
  explicit Db(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace hawthorn
