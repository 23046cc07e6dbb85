#pragma once
// Moves what open transactions have logged to the head of the log, so that one that stays open does
// not hold all that was logged since (R8, attack 9).
//
//   log  | chunks of T | what others log ... | the same operations of T | ...
//        ^ T holds it from here               ^ and from here on once all of them are there
//
// The operations come from the deltas, where they stand as intents: their transaction's thread has
// no part in it and may be idle.
//
// Not here: how long the log may be (db/scheduler), which records count at last (db/replay.h).
// Threads: every function from any thread; one moves at a time.
//
// 1. Until a move is complete, its transaction holds the log from the old place, and its commit
//    record names that. What stands in two records by then counts once. So a move may end anywhere.
// 2. Whoever moves does not wait for the transaction's owner, who may be waiting for anything.
// 3. What the owner logs during a move lies above its beginning, and stays where it is.
// 4. A move of a prepared transaction ends with its prepare records, and with all of it durable:
//    only then may the log let go of the old ones (R21).

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "format/prepare_record.h"
#include "hawthorn/status.h"
#include "os/sync.h"
#include "tree/tree.h"
#include "txn/sequencer.h"

namespace hawthorn::txn {

// Larger transactions are logged in chunks of about this size.
inline constexpr size_t kChunkBytes = 256 << 10;

// What the records of a prepared transaction repeat each time.
struct PrepareRecords {
  std::string id;
  std::string held;  // as format/prepare_record.h has it
  uint64_t timestamp = 0;
  uint64_t wall_us = 0;

  size_t bytes() const { return sizeof(format::PrepareHeader) + id.size() + held.size(); }
  // Calls append(payload, last) for each of them, in order, until it fails.
  Status for_each(TxnId txn, Lsn first_lsn, uint32_t operations, size_t record_bytes_max,
                  const std::function<Status(std::string_view payload, bool last)>& append) const;
};

// What an open transaction has logged in chunks, between its owner and whoever moves it.
struct LoggedTxn {
  explicit LoggedTxn(TxnId txn) : id(txn), logged_id(txn) {}

  const TxnId id;
  // Some of it is in layers, which an open makes again of the log: it does not move any more. Set
  // under the mutex.
  std::atomic<bool> stays{false};
  os::Mutex mutex;
  // Its undo list; null: it may not move (any more).
  const tree::UndoList* undo GUARDED_BY(mutex) = nullptr;
  uint32_t logged GUARDED_BY(mutex) = 0;  // so many of it are in chunks
  uint64_t bytes GUARDED_BY(mutex) = 0;   // which are so long
  Lsn first_chunk GUARDED_BY(mutex) = 0;  // chunks below do not count
  // Its id in the epoch of first_chunk: another one as long as what an earlier process has logged
  // was not moved.
  TxnId logged_id GUARDED_BY(mutex) = 0;
  std::unique_ptr<const PrepareRecords> prepared GUARDED_BY(mutex);  // null: it is not prepared
  // The move under way: entries [moved, move_end) have not arrived; move_start 0: there is none.
  Lsn move_start GUARDED_BY(mutex) = 0;
  uint32_t moved GUARDED_BY(mutex) = 0;
  uint32_t move_end GUARDED_BY(mutex) = 0;
  uint32_t move_operations GUARDED_BY(mutex) = 0;  // that have arrived
};

class Reappender {
 public:
  Reappender(tree::TxnSlots* slots, Sequencer* sequencer) : slots_(slots), sequencer_(sequencer) {}

  // By the owner: after its first chunk, for each chunk, when it ends.
  void add(std::shared_ptr<LoggedTxn> txn);
  void count(LoggedTxn& txn, uint64_t bytes) REQUIRES(txn.mutex);
  void remove(LoggedTxn& txn);

  // Whether the log is longer than `limit` for a transaction's sake, and a move worth its bytes:
  // while they stay open, all transactions together log less again than others do.
  bool due(uint64_t limit) const;
  // Moves a part of the transaction that holds the log from furthest back. *moved: there was
  // something to do. Errors: those of the log; the rest is moved by a later call.
  Status step(bool* moved);
  // Moves all that it has logged, by its owner. Errors: those of the log; the rest is moved by
  // another call.
  Status move(LoggedTxn& txn);

 private:
  std::shared_ptr<LoggedTxn> oldest(Lsn* first_lsn) const;
  Status move_chunk(LoggedTxn& txn, size_t* bytes) REQUIRES(txn.mutex);
  Status move_prepared(LoggedTxn& txn, size_t* bytes) REQUIRES(txn.mutex);

  tree::TxnSlots* const slots_;
  Sequencer* const sequencer_;
  std::atomic<uint64_t> logged_bytes_{0};
  mutable os::Mutex mutex_;
  std::vector<std::shared_ptr<LoggedTxn>> txns_ GUARDED_BY(mutex_);
  std::atomic<bool> moving_{false};
  std::string operations_;  // of whoever moves
};

}  // namespace hawthorn::txn
