#include "tree/slots.h"

#include <algorithm>

namespace hawthorn::tree {

namespace {
// Where this thread found a free slot last; spreads threads over the table.
uint32_t& slot_hint() {
  static std::atomic<uint32_t> next_thread{0};
  thread_local uint32_t hint = next_thread.fetch_add(1, std::memory_order_relaxed) * 7;
  return hint;
}
}  // namespace

TxnSlots::~TxnSlots() {
  for (std::atomic<Slot*>& chunk : chunks_) delete[] chunk.load(std::memory_order_relaxed);
}

TxnId TxnSlots::acquire() {
  uint32_t& hint = slot_hint();
  for (uint32_t chunks = chunk_count_.load(std::memory_order_acquire);;) {
    const uint32_t total = chunks * kChunkSlots;
    for (uint32_t tried = 0; tried < total; ++tried) {
      const uint32_t index = (hint + tried) % total;
      Slot* s = &chunks_[index / kChunkSlots].load(std::memory_order_acquire)[index % kChunkSlots];
      uint32_t free = 0;
      if (s->taken.load(std::memory_order_relaxed) != 0 ||
          !s->taken.compare_exchange_strong(free, 1, std::memory_order_acquire)) {
        continue;
      }
      hint = index;
      const TxnId id = (++s->generation << kIndexBits) | index;
      s->outcome.store(kActiveValue, std::memory_order_release);
      s->first_lsn.store(format::kLsnMax, std::memory_order_relaxed);
      s->id.store(id, std::memory_order_release);
      active_.fetch_add(1, std::memory_order_relaxed);
      return id;
    }
    if (chunks == kChunks) return 0;
    auto* fresh = new Slot[kChunkSlots];
    Slot* none = nullptr;
    if (!chunks_[chunks].compare_exchange_strong(none, fresh, std::memory_order_acq_rel))
      delete[] fresh;
    uint32_t seen = chunks;
    chunk_count_.compare_exchange_strong(seen, chunks + 1, std::memory_order_acq_rel);
    chunks = chunk_count_.load(std::memory_order_acquire);
  }
}

void TxnSlots::release(TxnId id) {
  Slot* s = slot(id);
  // The id goes first: a reader that still has it must not take the next owner's outcome for its
  // own.
  s->id.store(0, std::memory_order_seq_cst);
  s->first_lsn.store(format::kLsnMax, std::memory_order_relaxed);
  s->outcome.store(kActiveValue, std::memory_order_release);
  active_.fetch_sub(1, std::memory_order_relaxed);
  s->taken.store(0, std::memory_order_release);
}

void TxnSlots::mark_contended(TxnId id) {
  // The mark names the transaction, so that one set late cannot stick to the slot's next owner.
  slot(id)->contended.store(id, std::memory_order_seq_cst);
}

void TxnSlots::mark_all_contended() {
  const uint32_t chunks = chunk_count_.load(std::memory_order_acquire);
  for (uint32_t c = 0; c < chunks; ++c) {
    Slot* slots = chunks_[c].load(std::memory_order_acquire);
    for (uint32_t i = 0; i < kChunkSlots; ++i) {
      const TxnId id = slots[i].id.load(std::memory_order_seq_cst);
      if (id != 0) slots[i].contended.store(id, std::memory_order_seq_cst);
    }
  }
}

Lsn TxnSlots::first_lsn(TxnId id) const {
  const Slot* s = slot(id);
  const Lsn lsn = s->first_lsn.load(std::memory_order_acquire);
  return s->id.load(std::memory_order_acquire) == id ? lsn : format::kLsnMax;
}

Lsn TxnSlots::oldest_first_lsn() const {
  Lsn oldest = format::kLsnMax;
  const uint32_t chunks = chunk_count_.load(std::memory_order_acquire);
  for (uint32_t c = 0; c < chunks; ++c) {
    const Slot* slots = chunks_[c].load(std::memory_order_acquire);
    for (uint32_t i = 0; i < kChunkSlots; ++i) {
      oldest = std::min(oldest, slots[i].first_lsn.load(std::memory_order_acquire));
    }
  }
  return oldest;
}

}  // namespace hawthorn::tree
