// Crashes of the manifest: whatever the moment, what loads is the state of the last acknowledged
// batch or of the one that was being appended, and the database goes on from there.

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "base/prng.h"
#include "db/manifest.h"
#include "format/manifest_test_batches.h"
#include "testing/scaled.h"
#include "testing/sim_machine.h"

namespace hawthorn::db {
namespace {

using format::BatchMaker;
using format::ManifestBatch;
using format::ManifestState;
using testing::CrashKind;
using testing::SimDisk;
using testing::SimMachine;
using testing::SimOp;

constexpr char kDirectory[] = "/db";
constexpr CrashKind kKinds[] = {CrashKind::kProcessKill, CrashKind::kPowerLoss,
                                CrashKind::kPowerLossDrop};

// What may be there after a crash. Batches count up, so a state is known by its last_batch.
struct Expected {
  bool created = false;  // acknowledged
  ManifestState acknowledged;
  ManifestState pending;  // with the batch under way, else the same
};

std::unique_ptr<SimDisk> new_disk(uint64_t seed) {
  auto disk = std::make_unique<SimDisk>(seed);
  EXPECT_TRUE(disk->make_directory(kDirectory).ok());
  EXPECT_TRUE(disk->sync_directory("/").ok());
  return disk;
}

void expect_loads(SimDisk& disk, const Expected& expected) {
  SimMachine sim(disk, 1);
  std::string warning;
  Result<LoadedManifest> loaded = Manifest::load(sim.machine(), kDirectory, &warning);
  if (loaded.status().is_not_found()) {
    ASSERT_FALSE(expected.created) << "the database is gone";
    return;
  }
  ASSERT_TRUE(loaded.ok()) << loaded.status().to_string();
  ASSERT_TRUE(loaded->state == expected.acknowledged || loaded->state == expected.pending)
      << "batch " << loaded->state.last_batch << ", acknowledged "
      << expected.acknowledged.last_batch;
}

// Opens (or creates) and appends until `appends` are done or an error comes.
void run(SimDisk& disk, Prng& prng, BatchMaker& maker, uint64_t appends, Expected& expected) {
  SimMachine sim(disk, prng.next());
  std::string warning;
  Result<LoadedManifest> loaded = Manifest::load(sim.machine(), kDirectory, &warning);
  const bool create = loaded.status().is_not_found();
  if (!loaded.ok() && !create) return;
  auto manifest = create ? Manifest::start(sim.machine(), kDirectory, {}, true)
                         : Manifest::start(sim.machine(), kDirectory, *std::move(loaded), false);
  if (!manifest.ok()) return;
  expected.created = true;
  expected.acknowledged = expected.pending = (*manifest)->state();
  for (uint64_t i = 0; i < appends; ++i) {
    ManifestBatch batch = maker.make(expected.acknowledged);
    // Now and then one that brings a rewrite closer.
    if (prng.one_in(4) && !batch.containers_set.empty()) {
      batch.containers_set.front().low = std::string(prng.below(300000), 'k');
    }
    ASSERT_TRUE(apply(batch, expected.pending).ok());
    if (!(*manifest)->append(batch).ok()) return;
    expected.acknowledged = expected.pending;
    ASSERT_EQ((*manifest)->state(), expected.acknowledged);
  }
  if (prng.one_in(2)) static_cast<void>((*manifest)->trim().ok());
}

// Rounds of: run, stop at a random operation, look at many outcomes of a crash there, go on from
// one.
void crash_rounds(uint64_t seed, int rounds) {
  Prng prng(seed);
  BatchMaker maker(seed);
  std::unique_ptr<SimDisk> disk = new_disk(seed);
  Expected expected;
  for (int round = 0; round < rounds; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    disk->stop_at(SimOp::kAny, 1 + prng.below(prng.one_in(3) ? 25 : 150));
    run(*disk, prng, maker, 30, expected);
    if (::testing::Test::HasFatalFailure()) return;
    for (int look = 0; look < 6; ++look) {
      auto after = disk->after_crash(prng.next(), kKinds[look % 3]);
      expect_loads(*after, expected);
      if (::testing::Test::HasFatalFailure()) return;
    }
    disk = disk->crash(prng.next(), kKinds[prng.below(3)]);
  }
}

TEST(ManifestCrashTest, AnyMomentAnyCrash) {
  for (uint64_t seed = 1; seed <= testing::scaled(40); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    crash_rounds(seed, 8);
    if (HasFatalFailure()) return;
  }
}

// Every single operation of a creation, some appends, a reopen with its N+1 and more appends.
TEST(ManifestCrashTest, EveryOperationOfAShortLife) {
  for (uint64_t nth = 1;; ++nth) {
    SCOPED_TRACE("operation " + std::to_string(nth));
    Prng prng(7);
    BatchMaker maker(7);
    std::unique_ptr<SimDisk> disk = new_disk(7);
    disk->stop_at(SimOp::kAny, nth);
    Expected expected;
    run(*disk, prng, maker, 3, expected);
    if (!disk->stopped()) run(*disk, prng, maker, 3, expected);
    if (HasFatalFailure()) return;
    const bool survived = !disk->stopped();
    for (uint64_t look = 0; look < 30; ++look) {
      auto after = disk->after_crash(nth * 1000 + look, kKinds[look % 3]);
      expect_loads(*after, expected);
      if (HasFatalFailure()) return;
    }
    if (survived) {
      EXPECT_GT(nth, 30u);
      return;
    }
  }
}

// The same with an error in place of a crash: the process goes on, gets errors, and reopens.
TEST(ManifestCrashTest, EveryOperationFailsOnce) {
  for (const StatusCode code : {StatusCode::kIoError, StatusCode::kNoSpace}) {
    for (uint64_t nth = 1;; ++nth) {
      SCOPED_TRACE("operation " + std::to_string(nth));
      Prng prng(8);
      BatchMaker maker(8);
      std::unique_ptr<SimDisk> disk = new_disk(8);
      disk->fail(SimOp::kAny, nth, code);
      Expected expected;
      run(*disk, prng, maker, 3, expected);
      run(*disk, prng, maker, 3, expected);
      if (HasFatalFailure()) return;
      const bool met = disk->counters().faults > 0;
      disk->clear_faults();
      expect_loads(*disk, expected);
      for (uint64_t look = 0; look < 9; ++look) {
        auto after = disk->after_crash(nth * 1000 + look, kKinds[look % 3]);
        expect_loads(*after, expected);
      }
      // And it opens and goes on.
      Expected later = expected;
      run(*disk, prng, maker, 3, later);
      expect_loads(*disk, later);
      ASSERT_TRUE(later.created);
      ASSERT_GE(later.acknowledged.last_batch, expected.acknowledged.last_batch + 3);
      if (HasFatalFailure()) return;
      if (!met) break;
    }
  }
}

// Attack 40, first half: a torn batch, then the process opens again and commits another. The torn
// one is neither applied nor in the way.
TEST(ManifestCrashTest, TornBatchFollowedByACommittedOne) {
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::unique_ptr<SimDisk> disk = new_disk(seed);
    Prng prng(seed);
    BatchMaker maker(seed);
    Expected expected;
    run(*disk, prng, maker, 3, expected);
    {
      // Two blocks and more, torn by the loss of power before the sync.
      SimMachine sim(*disk, seed);
      std::string warning;
      Result<LoadedManifest> loaded = Manifest::load(sim.machine(), kDirectory, &warning);
      auto manifest = Manifest::start(sim.machine(), kDirectory, *std::move(loaded), false);
      ASSERT_TRUE(manifest.ok());
      ManifestBatch batch;
      const uint32_t tree = (*manifest)->state().trees.begin()->first;
      for (uint64_t i = 0; i < 100; ++i) {
        batch.containers_set.push_back(
            maker.container((*manifest)->state().next_container + i, tree));
      }
      expected.pending = expected.acknowledged;
      ASSERT_TRUE(apply(batch, expected.pending).ok());
      disk->stop_at(SimOp::kSync, 1);
      EXPECT_FALSE((*manifest)->append(batch).ok());
    }
    disk = disk->crash(seed, CrashKind::kPowerLoss);
    expect_loads(*disk, expected);
    Expected later = expected;
    run(*disk, prng, maker, 2, later);
    ASSERT_GE(later.acknowledged.last_batch, expected.acknowledged.last_batch + 2);
    for (uint64_t look = 0; look < 9; ++look) {
      auto after = disk->after_crash(look, kKinds[look % 3]);
      later.pending = later.acknowledged;
      expect_loads(*after, later);
    }
    if (HasFatalFailure()) return;
  }
}

// Attack 40, second half: the superblock never names a manifest whose own name is not durable.
TEST(ManifestCrashTest, TheSuperblockNamesOnlyDurableManifests) {
  for (uint64_t nth = 1; nth <= 40; ++nth) {
    SCOPED_TRACE("operation " + std::to_string(nth));
    std::unique_ptr<SimDisk> disk = new_disk(3);
    Prng prng(3);
    BatchMaker maker(3);
    Expected expected;
    run(*disk, prng, maker, 2, expected);
    disk->stop_at(SimOp::kAny, nth);
    run(*disk, prng, maker, 0, expected);
    // Files and superblock survive, names do not unless they were synced.
    for (uint64_t look = 0; look < 40; ++look) {
      auto after = disk->after_crash(look, CrashKind::kPowerLoss);
      expect_loads(*after, expected);
      if (HasFatalFailure()) return;
    }
  }
}

}  // namespace
}  // namespace hawthorn::db
