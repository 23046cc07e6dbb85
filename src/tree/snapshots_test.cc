#include "tree/snapshots.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <vector>

#include "base/prng.h"
#include "os/epoch.h"
#include "os/test_point.h"

namespace hawthorn::tree {
namespace {

PruneView current(const Snapshots& snapshots) {
  const os::epoch::Guard guard;
  return *snapshots.view();
}

// The newest of `versions` (ascending) that a reader at `ts` sees; 0: none.
Lsn seen(const std::vector<Lsn>& versions, Lsn ts) {
  const auto above = std::upper_bound(versions.begin(), versions.end(), ts);
  return above == versions.begin() ? 0 : *std::prev(above);
}

// Invariant 2: whatever is dead by some newer version is seen by no registered timestamp and by
// none from the horizon on; and what nobody can see between two neighbours below the horizon is
// dead.
TEST(PruneViewTest, DeadMatchesBruteForce) {
  const uint64_t seed = 4711;
  for (uint64_t round = 0; round < 3000; ++round) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed << ", round " << round);
    Prng prng(mix64(seed + round));
    PruneView view;
    view.horizon = prng.between(1, 30);
    for (uint64_t n = prng.below(4); n > 0; --n) {
      if (view.horizon > 1) view.registered.push_back(prng.between(1, view.horizon - 1));
    }
    std::sort(view.registered.begin(), view.registered.end());
    view.registered.erase(std::unique(view.registered.begin(), view.registered.end()),
                          view.registered.end());
    EXPECT_EQ(view.oldest(), view.registered.empty() ? view.horizon : view.registered.front());
    std::vector<Lsn> versions;
    for (Lsn cts = 1; cts <= 40; ++cts) {
      if (prng.one_in(3)) versions.push_back(cts);
    }
    for (size_t older = 0; older < versions.size(); ++older) {
      for (size_t newer = older + 1; newer < versions.size(); ++newer) {
        std::vector<Lsn> rest = versions;
        rest.erase(rest.begin() + static_cast<ptrdiff_t>(older));
        bool same = true;
        for (const Lsn ts : view.registered) same = same && seen(versions, ts) == seen(rest, ts);
        for (Lsn ts = view.horizon; ts < 50; ++ts) {
          same = same && seen(versions, ts) == seen(rest, ts);
        }
        const bool dead = view.dead(versions[older], versions[newer]);
        ASSERT_TRUE(same || !dead) << versions[older] << " is seen, given " << versions[newer];
        if (newer == older + 1) {
          ASSERT_EQ(dead, same) << versions[older] << ", " << versions[newer];
        }
      }
    }
    // Two writes of one transaction: the earlier one is seen by nobody, once below the horizon.
    ASSERT_EQ(view.dead(20, 20), view.horizon >= 20);
  }
}

TEST(SnapshotsTest, ViewsHoldWhatIsRegisteredBelowTheHorizon) {
  Snapshots snapshots;
  std::atomic<Lsn> visible{10};
  EXPECT_EQ(current(snapshots).horizon, 0u) << "nothing may be pruned before the first refresh";
  const auto at10 = snapshots.add(visible);
  visible = 20;
  const auto at20 = snapshots.add(visible);
  const auto again20 = snapshots.add(visible);
  visible = 30;
  const auto at30 = snapshots.add(visible);
  EXPECT_EQ(at10.ts, 10u);
  EXPECT_EQ(at30.ts, 30u);
  EXPECT_EQ(snapshots.count(), 4u);
  EXPECT_EQ(snapshots.oldest(99), 10u);
  snapshots.refresh(30);
  PruneView view = current(snapshots);
  EXPECT_EQ(view.horizon, 30u);
  EXPECT_EQ(view.registered, (std::vector<Lsn>{10, 20}));
  EXPECT_EQ(view.oldest(), 10u);
  snapshots.remove(at20.slot);
  snapshots.remove(at10.slot);
  snapshots.refresh(25);
  view = current(snapshots);
  EXPECT_EQ(view.horizon, 30u) << "the horizon never goes back";
  EXPECT_EQ(view.registered, (std::vector<Lsn>{20}));
  snapshots.remove(again20.slot);
  snapshots.remove(at30.slot);
  snapshots.refresh(40);
  EXPECT_EQ(current(snapshots).oldest(), 40u);
  EXPECT_EQ(snapshots.count(), 0u);
  EXPECT_EQ(snapshots.oldest(99), 99u);
  os::epoch::drain();
}

// In an empty database the timestamp is 0, which is also what a free slot looks like.
TEST(SnapshotsTest, RegistrationsAtTimestampZeroHaveSlotsOfTheirOwn) {
  Snapshots snapshots;
  std::atomic<Lsn> visible{0};
  const auto first = snapshots.add(visible);
  const auto second = snapshots.add(visible);
  EXPECT_EQ(first.ts, 0u);
  EXPECT_NE(first.slot, second.slot);
  EXPECT_EQ(snapshots.count(), 2u);
  snapshots.remove(first.slot);
  visible = 5;
  const auto third = snapshots.add(visible);
  snapshots.remove(second.slot);
  visible = 9;
  snapshots.refresh(9);
  EXPECT_EQ(current(snapshots).registered, (std::vector<Lsn>{5}));
  snapshots.remove(third.slot);
}

TEST(SnapshotsTest, GrowsToManyRegistrations) {
  Snapshots snapshots;
  std::atomic<Lsn> visible{1};
  std::vector<uint32_t> taken;
  for (Lsn ts = 1; ts <= 1000; ++ts) {
    visible = ts;
    taken.push_back(snapshots.add(visible).slot);
  }
  std::vector<uint32_t> sorted = taken;
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(std::unique(sorted.begin(), sorted.end()), sorted.end());
  snapshots.refresh(1000);
  EXPECT_EQ(current(snapshots).registered.size(), 999u);
  for (const uint32_t slot : taken) snapshots.remove(slot);
  EXPECT_EQ(snapshots.count(), 0u);
}

#if defined(HAWTHORN_TEST_POINTS)
// Attack 16 (R15): a reader takes its timestamp and is preempted before it is registered; a pruner
// goes by meanwhile, once or several times. Whatever the reader ends up with is not prunable.
TEST(SnapshotsTest, AReaderPreemptedBeforeItsAnnouncementStartsAgain) {
  for (int passes = 1; passes <= 3; ++passes) {
    SCOPED_TRACE(passes);
    Snapshots snapshots;
    std::atomic<Lsn> visible{100};
    int left = passes;
    os::set_test_point("snapshots.add.before_announce", [&] {
      if (left-- <= 0) return;
      visible.fetch_add(10);
      snapshots.refresh(visible.load());
    });
    const auto reader = snapshots.add(visible);
    os::clear_test_points();
    EXPECT_EQ(reader.ts, 100u + 10 * static_cast<unsigned>(passes));
    const PruneView view = current(snapshots);
    // Versions at 100 and 105 and whatever is newest at reader.ts.
    EXPECT_GE(reader.ts, view.horizon);
    EXPECT_FALSE(view.dead(reader.ts, reader.ts + 1));
    snapshots.remove(reader.slot);
  }
}
#endif

}  // namespace
}  // namespace hawthorn::tree
