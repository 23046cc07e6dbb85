#pragma once
// Which version of a key a reader sees.
//
// Threads: readers inside an epoch guard; no locks.
//
// 1. A reader with timestamp ts sees, of all committed versions with cts <= ts, the one with the
// greatest (cts, seq); its
//    own transaction's newest intent before all others.
// 2. A version whose slot is gone was stamped or moved meanwhile: its stamp is read again; when the
// stamp did not
//    change, the whole read starts again with a fresh descriptor (kStale).

#include "os/test_point.h"
#include "tree/slots.h"
#include "tree/version.h"

namespace hawthorn::tree {

struct ReadView {
  Lsn ts = 0;
  TxnId own = 0;  // 0: not inside a transaction
};

struct Resolved {
  TxnSlots::Outcome outcome;
  Lsn cts;
};

// The state of one version.
inline Resolved resolve(const Version* version, const TxnSlots& slots) {
  for (;;) {
    const uint64_t stamp = version->stamp.load(std::memory_order_acquire);
    if ((stamp & kIntentBit) == 0) return {TxnSlots::Outcome::kCommitted, stamp};
    const TxnSlots::Found found = slots.find(stamp & ~kIntentBit);
    if (found.outcome != TxnSlots::Outcome::kGone) return {found.outcome, found.cts};
    if (version->stamp.load(std::memory_order_acquire) == stamp)
      return {TxnSlots::Outcome::kGone, 0};
  }
}

struct ChainRead {
  const Version* version = nullptr;  // what the reader sees, or null
  Lsn cts = 0;                       // of it; kLsnMax for an own intent
  bool stale = false;                // start again with a fresh descriptor
  // A version above ts was passed over, or one of a transaction that is open: an unregistered
  // reader may miss what was pruned below it.
  bool skipped_newer = false;
};

// `frozen`: the chain belongs to the frozen delta of the descriptor, whose moved versions stand in
// the active one.
inline ChainRead read_chain(const Version* newest, const ReadView& view, const TxnSlots& slots,
                            bool frozen) {
  ChainRead result;
  for (const Version* v = newest; v != nullptr; v = v->older.load(std::memory_order_acquire)) {
    const uint8_t flags = v->flags.load(std::memory_order_acquire);
    if ((flags & kMoved) != 0) {
      if (frozen) continue;
      result.stale = true;  // the descriptor that made this delta the active one has been replaced
      return result;
    }
    if (view.own != 0 && v->stamp.load(std::memory_order_acquire) == (kIntentBit | view.own)) {
      // Own intents stand in the chain in the order in which they were made, newest first.
      result.version = v;
      result.cts = format::kLsnMax;
      return result;
    }
    const Resolved r = resolve(v, slots);
    if (r.outcome == TxnSlots::Outcome::kGone) {
      result.stale = true;
      return result;
    }
    if (r.outcome == TxnSlots::Outcome::kActive) {
      // From here to the next version it may commit, and what lies below be pruned for it.
      result.skipped_newer = true;
      HAWTHORN_TEST_POINT("visibility.skipped_intent");
    }
    if (r.outcome != TxnSlots::Outcome::kCommitted) continue;
    if (r.cts > view.ts) {
      result.skipped_newer = true;
      continue;
    }
    if (result.version == nullptr || r.cts > result.cts ||
        (r.cts == result.cts && v->seq > result.version->seq)) {
      result.version = v;
      result.cts = r.cts;
    }
    // Below a version that found nobody else's intent when it was added, everything ranks lower,
    // and no own intent lies.
    if ((flags & kUnordered) == 0) return result;
  }
  return result;
}

}  // namespace hawthorn::tree
