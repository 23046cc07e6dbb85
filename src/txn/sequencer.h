#pragma once
// The order of commits: gives a transaction its place in the log and its timestamp in one step, and
// makes it visible.
//
//   intents installed ──> [log mutex: validate, append, slot := cts, visible_ts := cts] ──>
//   acknowledge, stamp
//
// Not here: installing intents (tree), what a transaction remembers (transaction.h).
// Threads: every function from any thread.
//
// 1. cts = lsn of the commit record; both are issued under the log's mutex, so cts order is log
// order (R1), and each
//    commit is visible before the next one is issued (R3).
// 2. All that can wait (ring room, the exclusive transaction, reads from disk) comes before the
// append; after it nothing can fail (R4). Nobody reads from disk under the log's mutex.
// 3. While a transaction is exclusive, all other commits wait.
// 4. A transaction is prepared in one such step, too: validated and logged, and from then until its
//    outcome nobody commits what it has read, nor prepares what it would change under them (R21).
// 5. Between the end of its intents and its being visible a commit waits for nothing.

#include <atomic>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "format/log_record.h"
#include "hawthorn/options.h"
#include "hawthorn/status.h"
#include "os/sync.h"
#include "os/test_point.h"
#include "tree/slots.h"
#include "tree/undo_list.h"
#include "txn/read_fence.h"
#include "wal/log.h"

namespace hawthorn::txn {

using format::Lsn;
using tree::TxnId;

// What a commit asks its transaction: whether what it wrote was written by others since, when
// another one's intent was met on a key of it (R18); whether what it read was, in any case (R19).
struct PreparedWork;

class CommitCheck {
 public:
  enum class Verdict : uint8_t { kValid, kConflict, kMustRead };
  virtual ~CommitCheck() = default;
  // Under the log's mutex, from memory alone. kMustRead: ask again after read_ahead.
  virtual Verdict validate_writes() = 0;
  // The same, under the log's mutex or before.
  virtual Verdict validate_reads() = 0;
  // They were valid with all commits up to here.
  virtual void reads_passed(Lsn upto) = 0;
  // Reads from disk what these lacked. False: conflict.
  virtual Result<bool> read_ahead() = 0;
  // Whether nobody has dropped a tree that it wrote to. Under the log's mutex.
  virtual bool trees_stand() = 0;
  // The commit record is appended, and nobody sees it yet: the trees that it has made begin, and
  // those that it drops end. Under the log's mutex.
  virtual void change_trees(Lsn cts) = 0;
  // As change_trees: its layers are committed.
  virtual void show_layers(Lsn cts) = 0;
  // Whether it has written a key that is in there. Under the log's mutex.
  virtual bool writes_into(const ReadFence& reads) const = 0;
  // Whether it drops a tree that a prepared transaction uses. Under the log's mutex.
  virtual bool drops_tree_of(const PreparedWork& work) const = 0;
};

// What others must heed of a prepared transaction. It stays where it is until its outcome.
struct PreparedWork {
  const tree::UndoList* undo = nullptr;
  ReadFence reads;
};

struct CommitRequest {
  TxnId id = 0;
  format::RecordType type = format::RecordType::kCommit;
  uint32_t operations = 0;
  std::span<const std::string_view> payload;
  CommitCheck* check = nullptr;  // null: nothing is asked
  bool writes = false;           // what it wrote must be validated
  bool reads = false;            // it has some to validate
  bool changes_trees = false;
  bool aside = false;                      // as Begin::aside
  bool layers = false;                     // it has some to show
  uint64_t tree_changes = 0;               // Sequencer::tree_changes() when it began
  const PreparedWork* prepares = nullptr;  // the record prepares, and does not commit yet
  const PreparedWork* ends = nullptr;      // it was prepared
};

class Sequencer {
 public:
  explicit Sequencer(tree::TxnSlots* slots) : slots_(slots) {}

  // Before the first commit. `visible`: the timestamp that recovery ended with.
  void start(wal::Log* log, Lsn visible);
  wal::Log* log() const { return log_; }
  std::atomic<Lsn>& visible() { return visible_; }

  // Returns when all that may be found committed in a delta is visible, too: a commit ends its
  // intents a moment before. For who reads what is newest and relies on that there are no more to
  // come.
  void await_visible() const {
    const Lsn ending = ending_.load(std::memory_order_acquire);
    for (os::SpinWait wait; visible_.load(std::memory_order_acquire) < ending; wait.once()) {
      HAWTHORN_TEST_POINT("sequencer.await_visible.waits");
    }
  }

  // Errors: kConflict (nothing was written); those of the log. On success *cts is set and everybody
  // sees the commit.
  Status commit(const CommitRequest& request, Lsn* cts);
  // The same for a record that prepares: others heed request.prepares from then on, and *lsn is
  // where it stands.
  Status prepare(const CommitRequest& request, Lsn* lsn) { return commit(request, lsn); }
  // For one that was found at open; and for one that is rolled back.
  void adopt(const PreparedWork* work);
  void forget(const PreparedWork* work);
  // Whether some have read what nobody may write now.
  bool fenced() const { return fences_.load(std::memory_order_relaxed) != 0; }
  // The same in two steps, while `request.id` is exclusive: what the record decides is durable as
  // any commit is, and nobody sees it before show. Nothing may fail in between. Errors: those of
  // the log.
  Status append_commit(const CommitRequest& request, Lsn* cts);
  void show(TxnId id, Lsn cts);
  // A commit of nothing: *lsn is a timestamp of its own, and visible. `id`: who asks, may be
  // exclusive. Errors: those of the log.
  Status pass_moment(TxnId id, Lsn* lsn);
  // Appends a record that decides nothing (a chunk, an abort). *lsn: where it stands.
  Status append(format::RecordType type, uint32_t operations,
                std::span<const std::string_view> payload, Lsn* lsn);
  // A chunk: `count` encoded operations, at most chunk_bytes_max() long.
  Status append_chunk(TxnId id, uint32_t first_seq, uint32_t count, std::string_view operations,
                      Lsn* lsn);
  size_t chunk_bytes_max() const;
  // Of the payload of one record.
  size_t record_bytes_max() const;
  // Returns when a commit is as durable as asked. Errors: kUnknownOutcome when the sync failed.
  Status make_durable(Lsn cts, Durability durability);

  // Waits until no other transaction is exclusive, behind those that wait already. *read_ts: what
  // it reads. Errors: kInvalidArgument when this thread's own exclusive transaction stands in the
  // way; kTimedOut.
  Status begin_exclusive(TxnId id, uint64_t timeout_us, Lsn* read_ts);
  void end_exclusive(TxnId id);
  // For who is about to hold what others need while it waits. Errors: as begin_exclusive.
  Status may_wait_for_exclusive();

  // How many commits have made or dropped trees: only where there was one since a transaction began
  // may it have written to a tree that does not stand any more.
  uint64_t tree_changes() const { return tree_changes_.load(std::memory_order_acquire); }

  uint64_t commits() const { return commits_.load(std::memory_order_relaxed); }
  uint64_t conflicts() const { return conflicts_.load(std::memory_order_relaxed); }
  void count_conflict() { conflicts_.fetch_add(1, std::memory_order_relaxed); }

 private:
  Status conflict();
  // Errors: kInvalidArgument where it would wait for its own thread; kTimedOut: it was interrupted.
  Status await_exclusive(TxnId id, os::Mutex& log_mutex) REQUIRES(log_mutex);
  Status await_turn(const CommitRequest& request, os::Mutex& log_mutex) REQUIRES(log_mutex);
  // *seen: what its reads were found valid with.
  CommitCheck::Verdict validate_beforehand(CommitCheck& check, Lsn* seen);
  CommitCheck::Verdict validate_now(const CommitRequest& request, Lsn seen);
  bool meets_prepared(const CommitRequest& request) const;
  bool drops_prepared(const CommitRequest& request) const;
  void add_prepared(const PreparedWork* work);
  void remove_prepared(const PreparedWork* work);

  tree::TxnSlots* const slots_;
  wal::Log* log_ = nullptr;
  std::atomic<Lsn> visible_{0};
  std::atomic<Lsn> ending_{0};  // of the newest commit that may have ended its intents
  std::atomic<uint64_t> commits_{0};
  std::atomic<uint64_t> tree_changes_{0};  // changes under the log's mutex
  std::atomic<uint64_t> conflicts_{0};
  std::atomic<uint32_t> fences_{0};  // of prepared_, those that have read something
  // These change under the log's mutex.
  std::vector<const PreparedWork*> prepared_;
  TxnId exclusive_ = 0;
  uint64_t exclusive_thread_ = 0;
  uint32_t exclusive_waiters_ = 0;  // commits
  os::CondVar exclusive_ended_;
  // Who waits to be exclusive, in the order of their coming: the first one alone may become it, and
  // commits go on until it does.
  struct ExclusiveWaiter {
    ExclusiveWaiter* next = nullptr;
    bool is_its_turn = false;
    os::Signal turn;
  };
  ExclusiveWaiter* exclusive_queue_ = nullptr;
};

}  // namespace hawthorn::txn
