#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "os/epoch.h"
#include "tree/snapshots.h"

namespace hawthorn::tree {
namespace {

// Attack 16 (R15): a writer moves `visible`, a pruner refreshes; a registered reader
// must never find that its timestamp may be pruned over.
TEST(SnapshotsTest, ReadersAndPrunersNeverMissEachOther) {
  Snapshots snapshots;
  std::atomic<Lsn> visible{1};
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> bad{0};
  std::vector<std::thread> threads;
  threads.emplace_back([&] {
    while (!stop.load(std::memory_order_relaxed)) {
      visible.fetch_add(1, std::memory_order_acq_rel);
      snapshots.refresh(visible.load(std::memory_order_acquire));
    }
  });
  for (uint32_t r = 0; r < 3; ++r) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20000; ++i) {
        const auto mine = snapshots.add(visible);
        for (int look = 0; look < 3; ++look) {
          const os::epoch::Guard guard;
          const PruneView* view = snapshots.view();
          // Would a version that this reader sees be dropped for one that it does not?
          if (view->dead(mine.ts, mine.ts + 1)) bad.fetch_add(1);
        }
        snapshots.remove(mine.slot);
      }
      stop.store(true);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(bad.load(), 0u);
  EXPECT_EQ(snapshots.count(), 0u);
  os::epoch::drain();
}

}  // namespace
}  // namespace hawthorn::tree
