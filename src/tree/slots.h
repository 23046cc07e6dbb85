#pragma once
// Transaction slots: where the outcome of a transaction stands while versions still carry its id.
//
//   acquire() ──> active ──commit(cts)──> committed ──┐
//                    └──────abort()─────> aborted  ───┴── release() ──> free (the id never comes
//                    back)
//
// Not here: the order of commits (txn/sequencer). Used by deltas' readers (tree/visibility) and by
// txn. Threads: one owner per slot; anybody may look an id up.
//
// 1. An id names its slot (low 22 bits) and a generation; it is never issued twice in a process,
// and never stored on disk
//    in a way that outlives the log (replay resolves it).
// 2. find() answers from one consistent state of the slot: it reads the outcome, then confirms the
// id (R16).
// 3. A slot is released only after every version with its id was stamped or unlinked; whoever then
// still holds such a
//    version finds kGone and reads the version again.

#include <atomic>
#include <cstdint>

#include "format/log_epoch.h"

namespace hawthorn::tree {

using format::Lsn;
using TxnId = uint64_t;

class TxnSlots {
 public:
  enum class Outcome : uint8_t { kActive, kAborted, kCommitted, kGone };
  struct Found {
    Outcome outcome;
    Lsn cts;  // when committed
  };

  TxnSlots() = default;
  ~TxnSlots();
  TxnSlots(const TxnSlots&) = delete;
  TxnSlots& operator=(const TxnSlots&) = delete;

  // 0 when four million transactions are open.
  TxnId acquire();
  void release(TxnId id);

  // By the owner. After commit() readers with a timestamp >= cts see its versions.
  void commit(TxnId id, Lsn cts) { slot(id)->outcome.store(cts, std::memory_order_release); }
  void abort(TxnId id) { slot(id)->outcome.store(kAbortedValue, std::memory_order_release); }

  Found find(TxnId id) const {
    const Slot* s = slot(id);
    const uint64_t outcome = s->outcome.load(std::memory_order_acquire);
    if (s->id.load(std::memory_order_acquire) != id) return {Outcome::kGone, 0};
    if (outcome == kActiveValue) return {Outcome::kActive, 0};
    if (outcome == kAbortedValue) return {Outcome::kAborted, 0};
    return {Outcome::kCommitted, outcome};
  }

  // Set when another transaction's intent was met on a key (R18): such a transaction validates at
  // commit.
  void mark_contended(TxnId id);
  // All that are open: their intents may be any.
  void mark_all_contended();
  bool contended(TxnId id) const {
    return slot(id)->contended.load(std::memory_order_acquire) == id;
  }

  // The first lsn that the transaction wrote a chunk at; kLsnMax: none.
  void set_first_lsn(TxnId id, Lsn lsn) {
    slot(id)->first_lsn.store(lsn, std::memory_order_release);
  }
  // What the log must be kept from for this transaction: kLsnMax when it logged nothing or is not
  // there any more.
  Lsn first_lsn(TxnId id) const;
  // The smallest first_lsn over all slots.
  Lsn oldest_first_lsn() const;
  uint32_t active() const { return active_.load(std::memory_order_relaxed); }

 private:
  static constexpr uint64_t kActiveValue = 0;
  static constexpr uint64_t kAbortedValue = 1;
  static constexpr uint32_t kIndexBits = 22;
  static constexpr uint32_t kChunkSlots = 1024;
  static constexpr uint32_t kChunks = (1u << kIndexBits) / kChunkSlots;

  struct alignas(64) Slot {
    std::atomic<uint64_t> id{0};       // 0: nobody's
    std::atomic<uint64_t> outcome{0};  // active, aborted, or the cts
    std::atomic<uint64_t> contended{0};
    std::atomic<uint64_t> first_lsn{format::kLsnMax};
    std::atomic<uint32_t> taken{0};
    uint64_t generation = 0;  // of the owner
  };

  Slot* slot(TxnId id) const {
    const auto index = static_cast<uint32_t>(id & ((1u << kIndexBits) - 1));
    return &chunks_[index / kChunkSlots].load(std::memory_order_acquire)[index % kChunkSlots];
  }

  std::atomic<Slot*> chunks_[kChunks] = {};
  std::atomic<uint32_t> chunk_count_{0};
  std::atomic<uint32_t> active_{0};
};

}  // namespace hawthorn::tree
