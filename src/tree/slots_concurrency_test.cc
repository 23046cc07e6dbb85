#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "base/prng.h"
#include "tree/slots.h"
#include "tree/visibility.h"

namespace hawthorn::tree {
namespace {

using Outcome = TxnSlots::Outcome;

// Attack 21 (R16): a slot is recycled between a reader's load of the version and of the slot. The
// owner of every slot commits with its own id as the timestamp, so that an outcome taken from
// another owner is seen at once.
TEST(SlotsTest, RecycledSlotsNeverLendTheirOutcome) {
  TxnSlots slots;
  constexpr uint32_t kVersions = 4;
  struct Cell {
    Version version;
  };
  std::vector<Cell> cells(kVersions);
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> bad{0};
  std::atomic<uint64_t> committed{0};
  std::vector<std::thread> threads;
  for (uint32_t w = 0; w < 2; ++w) {
    threads.emplace_back([&, w] {
      Prng prng(w);
      for (uint64_t i = 0; i < 60000; ++i) {
        Version& version = cells[w * 2 + i % 2].version;
        const TxnId id = slots.acquire();
        version.stamp.store(kIntentBit | id, std::memory_order_release);
        if (prng.one_in(8)) {
          slots.abort(id);
          // Unlinked: nobody comes to it any more. Here it stays where it is, stamped "nothing".
          version.stamp.store(0, std::memory_order_release);
        } else {
          slots.commit(id, id);
          version.stamp.store(id, std::memory_order_release);
        }
        slots.release(id);
        if (i % 512 == 0) std::this_thread::yield();
      }
      stop.store(true);
    });
  }
  for (uint32_t r = 0; r < 2; ++r) {
    threads.emplace_back([&, r] {
      Prng prng(100 + r);
      while (!stop.load(std::memory_order_relaxed)) {
        const Version& version = cells[prng.below(kVersions)].version;
        const uint64_t before = version.stamp.load(std::memory_order_acquire);
        const TxnId id = before & ~kIntentBit;
        if ((before & kIntentBit) == 0) continue;
        const TxnSlots::Found found = slots.find(id);
        if (found.outcome == Outcome::kCommitted) {
          committed.fetch_add(1, std::memory_order_relaxed);
          if (found.cts != id) bad.fetch_add(1);
        }
        // A version that was stamped before its slot went never resolves to "gone".
        const Resolved resolved = resolve(&version, slots);
        if (resolved.outcome == Outcome::kGone) bad.fetch_add(1);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(bad.load(), 0u);
}

}  // namespace
}  // namespace hawthorn::tree
