#pragma once
// A transaction: sees its own writes, commits all of them at one moment or none.
//
//   hawthorn::Transaction t = db->begin({.isolation = hawthorn::Isolation::kSerializable}).value();
//   ... t.get, t.put ...
//   if (t.commit().is_conflict()) ...  // from the start again
//
// Who gives way when two want the same:
//   kOptimistic   the first committer wins: put, del or commit return kConflict when another
//                 transaction has committed one of the keys since this one began. Then abort and
//                 try again.
//   kPessimistic  a write locks its key until the transaction ends; who comes later waits. A cycle
//                 of waiting transactions is found at once: one gets kDeadlock, which names it.
//   kExclusive    one at a time: begin waits for those before it, in the order of their coming, and
//                 until no row is locked (kTimedOut); commits of all others, and their first row
//                 locks, wait until it ends. Never conflicts. The mode for programs that were
//                 written for a single-writer store.
// Any mixture may be open at once: a locked key makes writers of every kind wait, those of no
// transaction included.
//
// What a transaction may see of others:
//   kReadCommitted  each read shows what is committed when it is made, a cursor what was when it
//                   was opened. Writes do not conflict, so what was read may be overwritten unseen,
//                   unless get_for_update or a compare-and-set form read it.
//   kSnapshot       all reads show one moment, that of begin. No dirty, fuzzy or phantom reads and
//                   no lost updates; two transactions may each overwrite what the other has read
//                   (write skew).
//   kSerializable   as if one transaction ran after the other, in the order of their commits: what
//                   was read, keys that were absent and ranges that were walked included, must not
//                   have changed when it commits (kConflict). One that wrote nothing never
//                   conflicts.
// docs/transactions.md argues why each level holds.
//
// Threads: one object from one thread at a time (it may move between threads).
// Lifetime: end every transaction before its Db is closed. Destroying an open one aborts it, unless
// it is prepared.
// Durable: as the level given to commit says; nothing of an aborted or unfinished transaction
// survives a restart, unless it is prepared.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hawthorn/cursor.h"
#include "hawthorn/export.h"
#include "hawthorn/options.h"
#include "hawthorn/status.h"
#include "hawthorn/value.h"

namespace hawthorn {

class Tree;
class Expiry;
struct TreeOptions;

enum class TxnMode : uint8_t { kOptimistic = 0, kExclusive = 1, kPessimistic = 2 };

enum class Isolation : uint8_t { kReadCommitted = 0, kSnapshot = 1, kSerializable = 2 };

// How a row is locked: shared goes with shared and with one upgradable, which may become exclusive
// when the shared ones have gone; exclusive goes with none.
enum class RowLock : uint8_t { kShared = 0, kUpgradable = 1, kExclusive = 2 };

struct TxnOptions {
  TxnMode mode = TxnMode::kOptimistic;
  // kExclusive gives kSerializable whatever stands here.
  Isolation isolation = Isolation::kSnapshot;
  // Writes and locks return kReadOnly. Also in a database that was opened read-only.
  bool read_only = false;
  // Reads this moment in place of the present one. It may be released afterwards.
  const Snapshot* snapshot = nullptr;
  // How long a write or lock waits for a row, and the begin of a kExclusive one for its turn; 0:
  // not at all. Default: Options::lock_timeout_ms.
  std::optional<uint64_t> lock_timeout_ms = std::nullopt;
};

// A moment of a transaction to which it can be rolled back. Copied freely.
class HAWTHORN_EXPORT Savepoint {
 public:
  Savepoint() = default;

 private:
  friend class Transaction;
  uint64_t transaction_ = 0;
  uint64_t mark_ = 0;
};

// A transaction that is prepared, and whose outcome is open.
struct PreparedTransaction {
  std::string id;
  uint64_t operations = 0;
  uint64_t timestamp = 0;       // of the newest commit when it was prepared
  uint64_t prepared_at_us = 0;  // since 1970
};

// What Transaction::pin returns.
struct PinnedEntry {
  std::string_view key;
  std::string_view value;
};

// Fills the buffer with the next bytes of a streamed value and returns how many it wrote; 0 ends
// the stream.
using StreamSource = std::function<Result<size_t>(std::span<char>)>;

// Is shown a value's bytes piece by piece, in order; false ends the read. The views are valid
// during the call only.
using StreamSink = std::function<bool(std::string_view)>;

// Reads and writes that are committed together. One thread at a time; it must not outlive its Db.
class HAWTHORN_EXPORT Transaction {
 public:
  class HAWTHORN_HIDDEN Impl;
  Transaction();
  explicit Transaction(std::unique_ptr<Impl> impl);
  ~Transaction();
  Transaction(Transaction&&) noexcept;
  Transaction& operator=(Transaction&&) noexcept;

  // Reads a key. Errors: kNotFound; kCorruption; kIoError.
  Status get(const Tree& tree, std::string_view key, Value& value);
  Status multi_get(const Tree& tree, std::span<const std::string_view> keys, ReadBatch& out);
  // As get, of a value that stays where it is until this transaction ends (of a nested one: until
  // the outermost does), whatever is written meanwhile: a copy, which counts as memory as long as
  // all pinned values take no more than an eighth of the budget, and then lies in a temporary file
  // without a name (Stats::memory_pinned_bytes). Errors: those of get; kNoSpace and kIoError of it,
  // or kOutOfMemory where all is encrypted. Lifetime: until the end, a prepare, or release_pinned.
  Result<std::string_view> get_pinned(const Tree& tree, std::string_view key);
  // The same of the entry on which a cursor stands. Errors: kInvalidArgument when it is on none;
  // kNotSupported for a value of more than 64 MB.
  Result<PinnedEntry> pin(const Cursor& cursor);
  // All that it has pinned, and those around it or nested in it, is invalid from now on, and the
  // memory free. Nothing where it has ended.
  void release_pinned();
  Cursor cursor(const Tree& tree, const CursorOptions& options = {});
  // How many entries [lo, hi) has for this transaction, its own writes among them; without hi, to
  // the end. As Db::count.
  Result<uint64_t> count(const Tree& tree, std::string_view lo, std::optional<std::string_view> hi);
  // Reads a key that is to be written, whether it is there or not: nobody else writes it before
  // this transaction ends (kPessimistic: the row is locked), or commit returns kConflict
  // (kOptimistic). Under kReadCommitted the key is read as it is now (by an optimistic transaction
  // that has done so at more than 64 moments, as of the last of these); the other levels read their
  // one moment, and return kConflict for a locked row that was changed since. Errors: those of get
  // and lock.
  Status get_for_update(const Tree& tree, std::string_view key, Value& value);

  // Locks a row, there or not, until the transaction ends or is rolled back to before; a stronger
  // lock takes the place of a weaker one. Without `timeout_ms` as the options say; 0: a try.
  // Errors: kTimedOut, which names who holds it; kDeadlock, which names the cycle: abort and try
  // again; kConflict, but under kReadCommitted, when the row was changed since begin; kReadOnly;
  // kInvalidArgument when the transaction is not kPessimistic.
  Status lock(const Tree& tree, std::string_view key, RowLock mode,
              std::optional<uint64_t> timeout_ms = std::nullopt);

  // Writes become visible to others at commit. Errors: kConflict; kTimedOut and kDeadlock as for
  // lock; kInvalidArgument for sizes over the limits; kNoSpace (deletes only when what is logged of
  // the transaction fills the log); kReadOnly. After an error the transaction can go on with other
  // keys, or abort; where kNoSpace met one that had logged much already, commit answers the same
  // and writes nothing.
  Status put(const Tree& tree, std::string_view key, std::string_view value);
  // As Db::put with an expiry.
  Status put(const Tree& tree, std::string_view key, std::string_view value, const Expiry& expiry);
  // Where a key may have several values, all that the transaction sees go.
  Status del(const Tree& tree, std::string_view key);
  // As Db::del_value.
  Status del_value(const Tree& tree, std::string_view key, std::string_view value);
  // Deletes all keys from `low` on, below `high` where there is one. A transaction that reads a
  // single moment then fails to commit (kConflict) where another has committed to the range since,
  // a new key included; one that found no key there and has written nothing else commits, since it
  // changes nothing.
  // Key by key, as del, where there are at most 64 (under kReadCommitted: never for that reason),
  // in pessimistic transactions, in clones and trees with a merge operator, and behind 64 ranges of
  // one transaction in a tree. Else it notes the range, and takes as long as the transaction's own
  // writes are many; its commit looks at each container of the range, not at keys. Then others that
  // write or lock a key of the range wait until the transaction ends; under kReadCommitted what
  // they commit before it is deleted, too; and it cannot be prepared. Errors: as del, after which
  // nothing of it is left; those of reading; where it notes the range, kTimedOut also while other
  // transactions hold row locks, of whatever key, prepared ones among them (transactions that would
  // take their first lock wait meanwhile), and while 64 ranges of the tree wait to be erased. A
  // wait for locks of one who waits for this transaction ends by that alone.
  Status delete_range(const Tree& tree, std::string_view low,
                      std::optional<std::string_view> high = std::nullopt);
  // As Db::merge: a write like any other, so that it may conflict with others' merges of the key,
  // but under kReadCommitted.
  Status merge(const Tree& tree, std::string_view key, std::string_view operand);
  // A put whose value the caller fills in place: returns its `size` bytes, zeros at first. Fill
  // them before the next call of this transaction (or of one nested in it), which writes what
  // stands there then; commit does, abort and rollback_to drop it. Cursors that are open do not see
  // it before. Where that write fails, the call that made it returns its error (those of put) and
  // does nothing else; commit then ends the transaction, and nothing was written. Errors: those of
  // put that can be told before; kNoSpace and kIoError, where neither the budget nor a temporary
  // file can hold the bytes. Lifetime: the bytes are valid until that next call.
  Result<std::span<std::byte>> put_reserve(const Tree& tree, std::string_view key, size_t size);
  // Writes it at once, where there is one. Errors: those of put.
  Status finish_reserve();
  // Writes a value of up to 4 GB from a source that is called until it has given `size` bytes.
  Status put_stream(const Tree& tree, std::string_view key, uint64_t size,
                    const StreamSource& source);

  // ---- Values by parts: for large ones, up to 4 GB, in a time and space that follow the part.

  // Reads [offset, offset + buffer.size()) of a value, large or small; returns the bytes read (less
  // at its end). Verified as far as it reads, but for a large value that a version of the library
  // without write_part wrote. Errors: those of get.
  Result<size_t> read_part(const Tree& tree, std::string_view key, uint64_t offset,
                           std::span<char> buffer);
  // The bytes of a value, which is not read for that if it has more than 64 KB. Errors: those of
  // get.
  Result<uint64_t> size_of(const Tree& tree, std::string_view key);
  // The bytes of a value from `offset` on, to its end, in pieces of up to 256 KB. Errors: those of
  // get; then the sink may have seen a part.
  Status read_stream(const Tree& tree, std::string_view key, const StreamSink& sink,
                     uint64_t offset = 0);

  // These change a value of up to 4 GB where it is; a key that is not there counts as an empty
  // value. Each reads the key as get_for_update does, at every level: who else has written the
  // value, any part of it, is a conflict or waits. Of a value of more than 64 KB what they write is
  // in proportion to the part, and to the logarithm of the value; the rest it shares with the
  // version before, which snapshots go on seeing. A value that clone and source share, or that a
  // version without these functions wrote, is copied by the first one. Until the transaction ends
  // each takes memory of a few hundred bytes, up to 25 KB where the value was written at many
  // places. Entries that end keep their moment. With a merge operator, operands are folded first.
  // Errors: those of get_for_update and put; kInvalidArgument beyond 4 GB; kNotSupported where a
  // key may have several values, or entries end and it would be more than 64 MB.

  // Overwrites what is there, and lets the value grow where that ends; zeros fill what lies
  // between. Nothing where `bytes` is empty.
  Status write_part(const Tree& tree, std::string_view key, uint64_t offset,
                    std::string_view bytes);
  // The same of `size` bytes from a source (put_stream). Also errors of the source.
  Status write_part_stream(const Tree& tree, std::string_view key, uint64_t offset, uint64_t size,
                           const StreamSource& source);
  // At the value's end; returns where that was.
  Result<uint64_t> append(const Tree& tree, std::string_view key, std::string_view bytes);
  Result<uint64_t> append_stream(const Tree& tree, std::string_view key, uint64_t size,
                                 const StreamSource& source);
  // Cuts it off, or lets it grow by zeros, which take no space.
  Status resize(const Tree& tree, std::string_view key, uint64_t size);

  // Compare and set: writes only if the key is absent, if it is present, or if it has the
  // `expected` value (without one: if it is absent). False: that was not so, and nothing was
  // written. What they read counts as read by get_for_update, at every level. Errors: those of
  // get_for_update and put; kNotSupported for an `expected` that is compared with a value of more
  // than 64 MB.
  Result<bool> insert(const Tree& tree, std::string_view key, std::string_view value);
  Result<bool> update(const Tree& tree, std::string_view key, std::string_view value);
  Result<bool> replace(const Tree& tree, std::string_view key,
                       std::optional<std::string_view> expected, std::string_view value);
  Result<bool> remove_if(const Tree& tree, std::string_view key, std::string_view expected);

  // Trees by name, as this transaction sees them; a tree that it makes may be used by it at once,
  // and by others when it has committed. tree() makes what is missing. Errors: kNotFound;
  // kInvalidArgument for a name that is empty, longer than 255 bytes or, where it is to be given,
  // taken; those of put. What another transaction has changed about a name since this one began is
  // a conflict, as for a key; so is a write to a tree that another one has dropped.
  Result<Tree> tree(std::string_view name);
  // As Db::tree with options.
  Result<Tree> tree(std::string_view name, const TreeOptions& options);
  Result<Tree> find_tree(std::string_view name);
  Result<std::vector<std::string>> list_trees();
  // The tree and its data go when the transaction commits, with all trees that hang below it; who
  // reads an earlier moment still has them, and only then their space comes back. What others write
  // to it meanwhile does not keep it: they fail to commit.
  Status drop_tree(std::string_view name);
  // Handles stay valid.
  Status rename_tree(std::string_view from, std::string_view to);
  // Makes the tree `to`, which begins with all that `from` holds at the commit, what this
  // transaction writes to that included, in a time that does not depend on how much that is; from
  // there on each changes by itself. Until then, the transaction finds there what `from` shows it.
  // Of isolation levels that read one moment, a conflict where others have changed `from` since.
  // Errors: kNotFound; kInvalidArgument where `to` is taken; kNotSupported where `from` has a merge
  // operator.
  Result<Tree> clone_tree(std::string_view from, std::string_view to);

  // Trees as values: see Db::create_subtree. A subtree that it makes may be used by it at once,
  // also to hang others in it. Errors: those of Db's; kConflict where another transaction has
  // changed since what hangs at the keys, or where the trees hang, that this depends on.
  Result<Tree> create_subtree(const Tree& parent, std::string_view key);
  Result<Tree> create_subtree(const Tree& parent, std::string_view key, const TreeOptions& options);
  Result<Tree> subtree(const Tree& parent, std::string_view key);
  Result<std::vector<std::string>> list_subtrees(const Tree& parent);
  Status attach(const Tree& parent, std::string_view key, std::string_view name);
  Status detach(const Tree& parent, std::string_view key, std::string_view name);
  Status move_subtree(const Tree& parent, std::string_view key, const Tree& to_parent,
                      std::string_view to_key);
  Result<Tree> clone_subtree(const Tree& parent, std::string_view key, std::string_view to);

  // A mark to roll back to. Costs next to nothing, so that each statement may have one. Errors:
  // kInvalidArgument when the transaction has ended or a nested one is open.
  Result<Savepoint> savepoint();
  // Undoes all writes since, and the locks that were taken since; the savepoint stays, later ones
  // are gone. Cursors stay valid. What was read since stays read. Errors: kInvalidArgument for one
  // that is gone or of another transaction; kNoSpace, where much of it was logged and the log is
  // full: then only abort is left.
  Status rollback_to(const Savepoint& savepoint);
  // Forgets the savepoint and later ones; what was written stays. Errors: kInvalidArgument as
  // above.
  Status release(const Savepoint& savepoint);

  // A transaction inside of this one, which can be used again when that has ended (until then it
  // returns kInvalidArgument, but for commit and abort, which end both the same way). Its commit
  // leaves its writes to this one, whatever the durability; its abort undoes them. Nested
  // transactions may be nested. Errors: kInvalidArgument.
  Result<Transaction> begin_nested();

  // The first half of a commit in two phases: when it returns, what was written is durable under
  // this id (1 to 200 bytes, free again after the outcome), and the transaction stays prepared,
  // across restarts and crashes, until it is committed or aborted through this object, or by its
  // id (Db::commit_prepared, Db::rollback_prepared). It cannot conflict any more. The object may
  // only commit and abort from now on (all else: kInvalidArgument), and be destroyed: the
  // transaction stays.
  // Until the outcome every row that it wrote or locked is locked: other writers of it time out
  // after their lock_timeout_ms, as do kExclusive transactions, and bulk ingests that attach. Who
  // writes what a kSerializable one has read, or get_for_update has, gets kConflict when it
  // commits, a plain put included; and whoever prepares what reads a key that it wrote.
  // A file of the size of a log segment is kept beside the log while any are prepared, so that they
  // can be ended on a full disk, too.
  // Errors: kInvalidArgument for the id, and in transactions that are read-only, kExclusive,
  // nested, or have an open nested one; kConflict, kTimedOut (another transaction has written the
  // same row and is open), kDeadlock, kNotSupported (it has made or dropped a tree, or what it
  // wrote takes more than a quarter of the memory budget), kOutOfMemory (other open
  // transactions leave too little memory for what it wrote): it is open as before; kNoSpace,
  // kReadOnly, kIoError: only abort is left; kUnknownOutcome when the sync failed: the next open
  // tells whether it is prepared.
  Status prepare(std::string_view id);

  // Ends the transaction. Errors: kConflict, kReadOnly (nothing was written); kUnknownOutcome when
  // the sync of a kFull commit failed. The object is finished in every case, but that of a prepared
  // one: kNoSpace (a full log), kReadOnly, kIoError leave it prepared; kNotFound when it was ended
  // by its id. A transaction without writes commits at no cost.
  Status commit(Durability durability = Durability::kDefault);
  // Ends the transaction; nothing of it remains. A prepared one stays where that cannot be logged
  // (open() tells; Db::rollback_prepared tells why).
  void abort();

  // Whether begin succeeded and neither commit nor abort has ended it; also while it is prepared.
  bool open() const;

 private:
  friend struct TransactionAccess;
  std::unique_ptr<Impl> impl_;
};

// What calls of this thread ask while they wait for other users of a database: for a row, for the
// turn of an exclusive transaction, for the end of one, for the next commit of a feed. Where it
// answers true the call ends as if its time were over: kTimedOut, nothing written and no lock
// taken, and Feed::next with nothing. A wait without a limit (of a commit, while a transaction is
// exclusive) ends so, too. Asked about every 20 ms, on this thread, which holds no lock of the
// engine then; it may call the library, but nothing that the waiting call uses. It must not throw.
// Not asked: waits for the disk, for memory, and for threads of the database.
// nullptr: nothing is asked, the default. Lifetime of the context: until it is set anew.
HAWTHORN_EXPORT void set_interrupt(bool (*interrupted)(void* context), void* context);

}  // namespace hawthorn
