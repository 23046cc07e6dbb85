// What readers are in an environment, and how they give up what they keep.

#include <algorithm>

#include "shims/mdbx/src/debug.h"
#include "shims/mdbx/src/environment.h"
#include "shims/mdbx/src/transaction.h"

namespace mdbx_shim = hawthorn::mdbx;

int MDBX_env::add_reader(MDBX_txn* txn) try {
  const std::lock_guard<std::mutex> guard(mutex);
  if (readers.size() + dormant.size() >= reader_limit()) return MDBX_READERS_FULL;
  if (!(flags & MDBX_NOSTICKYTHREADS)) {
    for (const MDBX_txn* other : readers) {
      if (other->owner == txn->owner) return MDBX_BAD_RSLOT;
    }
  }
  readers.push_front(txn);
  txn->reader = readers.begin();
  return MDBX_SUCCESS;
} catch (...) {
  return mdbx_shim::exception_code();
}

void MDBX_env::remove_reader(MDBX_txn* txn) {
  const std::lock_guard<std::mutex> guard(mutex);
  readers.erase(txn->reader);
}

void MDBX_env::move_to_dormant(MDBX_txn* txn) {
  const std::lock_guard<std::mutex> guard(mutex);
  dormant.splice(dormant.end(), readers, txn->reader);
}

std::list<MDBX_txn*> MDBX_env::take_dormant(MDBX_txn* txn) {
  std::list<MDBX_txn*> place;
  const std::lock_guard<std::mutex> guard(mutex);
  const auto there = std::find(dormant.begin(), dormant.end(), txn);
  if (there != dormant.end()) place.splice(place.end(), dormant, there);
  return place;
}

void MDBX_env::give_dormant(std::list<MDBX_txn*>* place) {
  const std::lock_guard<std::mutex> guard(mutex);
  dormant.splice(dormant.end(), *place);
}

void MDBX_env::make_room(const MDBX_txn* txn) {
  if (geometry.upper == 0) return;
  const uint64_t wanted = std::max(geometry.upper / 8, written_by_last);
  if (room > wanted) return;
  if (used_bytes() + wanted <= geometry.upper) return;
  // In vain it is tried again only when there is more to gain.
  const uint64_t done = commits.load(std::memory_order_relaxed);
  if (made_room_at != 0 && done - made_room_at < 64 && written_by_last < geometry.upper / 64)
    return;
  made_room_at = done;
  {
    const std::lock_guard<std::mutex> guard(mutex);
    for (MDBX_txn* reader : readers) reader->oust();
  }
  const uint64_t newest = last_txnid.load(std::memory_order_acquire);
  bool waited = false;
  for (int retry = 0; hsr != nullptr; ++retry) {
    // The one that keeps most: who reads what is no longer the newest.
    uint64_t laggard = newest;
    mdbx_tid_t thread{};
    size_t lagging = 0;
    {
      const std::lock_guard<std::mutex> guard(mutex);
      for (const MDBX_txn* reader : readers) {
        if (reader->parked.load() == MDBX_txn::Parked::kOusted) continue;
        const uint64_t seen = reader->begun_behind.load(std::memory_order_relaxed);
        lagging += seen < newest ? 1 : 0;
        if (seen < laggard) {
          laggard = seen;
          thread = reader->owner_thread;
        }
      }
    }
    if (lagging == 0) break;
    const size_t kept = db->stats().bytes_old_versions;
    const int answer =
        hsr(this, txn, pid, thread, laggard,
            static_cast<unsigned>(std::min<uint64_t>(newest - laggard, UINT32_MAX)), kept, retry);
    if (answer < 0) break;
    waited = true;
    // It has a transaction's end to wait for, which only that thread can bring about.
    if (answer > 0) break;
  }
  if (waited) hsr(this, txn, pid, {}, newest, 0, 0, -1);
  if (const hawthorn::Status s = db->compact(); !s.ok()) {
    mdbx_shim::tell(MDBX_LOG_WARN, "compact: ", s);
  }
}
