#include "tree/count.h"

#include <gtest/gtest.h>

#include <cmath>

#include "os/test_point.h"
#include "tree/cursor_test_support.h"
#include "tree/estimate.h"

namespace hawthorn::tree::cursor_test {
namespace {

using Bound = std::optional<std::string>;

uint64_t count(TestTree& test, Lsn ts, const Bound& lower = {}, const Bound& upper = {},
               TxnId own = 0) {
  TreeCursor cursor(test.tree(), {ts, own}, {.lower = lower, .upper = upper, .key_only = true});
  const Result<uint64_t> counted = cursor.count();
  EXPECT_TRUE(counted.ok()) << counted.status().to_string();
  return counted.ok() ? *counted : ~uint64_t{0};
}

uint64_t count_of(const Contents& contents, const Bound& lower, const Bound& upper) {
  uint64_t sum = 0;
  for (auto at = lower ? contents.lower_bound(*lower) : contents.begin();
       at != contents.end() && (!upper || at->first < *upper); ++at) {
    ++sum;
  }
  return sum;
}

// As a file that was opened is: nobody has looked at its header.
void forget_counts(TestTree& test) {
  const os::epoch::Guard guard;
  for (Container* container : test.tree()->directory().all()) {
    os::MutexLock lock(container->latch);
    const Descriptor* present = container->descriptor.load();
    if (present->run->empty()) continue;
    present->run->live.store(RunFile::kNotLooked);
    container->recount(*present);
  }
}

// So many containers that the directory has several leaves.
class ManyLeaves : public ::testing::Test {
 protected:
  static constexpr uint64_t kKeys = 24000;
  ManyLeaves()
      : test_({.budget = size_t{256} << 20,
               .policy = {.extents_max = 3, .garbage_max = 0.3, .target_bytes = 4 << 10}}) {
    for (uint64_t from = 0; from < kKeys; from += 3000) {
      TestTree::Changes changes;
      for (uint64_t i = from; i < from + 3000; ++i) {
        changes.emplace_back(Generator::number(i * 10), std::string(100, 'v'));
      }
      test_.commit(changes);
      test_.flush_all();
    }
    test_.flush_all();
    test_.flush_all();
  }
  void expect_ranges(Lsn ts, const Contents& contents, int ranges) {
    ASSERT_EQ(count(test_, ts), contents.size());
    for (int i = 0; i < ranges; ++i) {
      Bound lower;
      Bound upper;
      if (!prng_.one_in(5)) lower = Generator::number(prng_.below(kKeys * 10 + 20));
      if (!prng_.one_in(5)) upper = Generator::number(prng_.below(kKeys * 10 + 20));
      ASSERT_EQ(count(test_, ts, lower, upper), count_of(contents, lower, upper));
    }
    ASSERT_EQ(NodeWalk::check_sums(test_.tree()->directory()), "");
  }
  uint64_t bytes_read() { return test_.residency().bytes_read(); }

  TestTree test_;
  Prng prng_{77};
};

TEST_F(ManyLeaves, FlushedIsCountedWithoutAReadOfIt) {
  ASSERT_GT(test_.lows().size(), 600u);
  const Contents contents = test_.contents();
  test_.store().squeeze(64 << 10);
  const uint64_t before = bytes_read();
  EXPECT_EQ(count(test_, test_.visible()), kKeys);
  EXPECT_EQ(bytes_read(), before);
  // Of a range only the containers at its bounds.
  EXPECT_EQ(
      count(test_, test_.visible(), Generator::number(55), Generator::number(kKeys * 10 - 55)),
      kKeys - 6 - 5);
  EXPECT_LT(bytes_read() - before, 64u << 10);
  test_.store().relax();
  expect_ranges(test_.visible(), contents, 300);
}

TEST_F(ManyLeaves, HeadersTellBehindAnOpen) {
  const Contents contents = test_.contents();
  test_.evict_all();
  forget_counts(test_);
  const uint64_t before = bytes_read();
  EXPECT_EQ(count(test_, test_.visible()), kKeys);
  const uint64_t headers = bytes_read() - before;
  EXPECT_GE(headers, test_.lows().size() * 4096);
  EXPECT_LE(headers, test_.lows().size() * 3 * 4096);
  EXPECT_EQ(count(test_, test_.visible()), kKeys);
  EXPECT_EQ(bytes_read(), before + headers) << "read again";
  EXPECT_EQ(NodeWalk::check_sums(test_.tree()->directory()), "");
  forget_counts(test_);
  test_.evict_all();
  expect_ranges(test_.visible(), contents, 30);
}

TEST_F(ManyLeaves, ADamagedHeaderIsNamed) {
  test_.evict_all();
  forget_counts(test_);
  const std::string key = Generator::number(100000);
  format::ExtentAddress address;
  {
    const os::epoch::Guard guard;
    address = test_.tree()->directory().find(key)->descriptor.load()->run->record.run;
  }
  alignas(4096) static char block[4096];
  os::File* file = test_.store().space->file(address.file);
  ASSERT_TRUE(file->read_at(uint64_t{address.block} * 4096, block).ok());
  block[65] = static_cast<char>(block[65] ^ 1);
  ASSERT_TRUE(file->write_at(uint64_t{address.block} * 4096, block).ok());
  TreeCursor cursor(test_.tree(), {test_.visible(), 0}, {.key_only = true});
  const Result<uint64_t> counted = cursor.count();
  ASSERT_TRUE(counted.status().is(StatusCode::kCorruption)) << counted.status().to_string();
  EXPECT_NE(counted.status().to_string().find("tree 7, keys ["), std::string::npos);
  // Others can be counted all the same.
  EXPECT_EQ(count(test_, test_.visible(), {}, Generator::number(50000)), 5000u);
}

// Overwritten, deleted, inserted; flushed in part; a snapshot between each two.
TEST_F(ManyLeaves, EveryStateStaysCountable) {
  std::vector<Snapshots::Registration> snapshots{test_.snapshot()};
  std::vector<Contents> states{test_.contents()};
  for (int round = 0; round < 6; ++round) {
    TestTree::Changes changes;
    for (int i = 0; i < 700; ++i) {
      const std::string key = Generator::number(prng_.below(kKeys * 10));
      changes.emplace_back(key, prng_.one_in(3) ? std::nullopt : Bound("new"));
    }
    for (uint64_t i = prng_.below(kKeys / 2), end = i + 400; i < end; ++i) {
      changes.emplace_back(Generator::number(i * 10), std::nullopt);
    }
    test_.commit(changes);
    if (round % 2 == 1) {
      for (const std::string& low : test_.lows()) {
        if (prng_.one_in(2)) test_.flush(low);
      }
    }
    if (round == 3) test_.flush_all();
    if (round == 4) forget_counts(test_);
    snapshots.push_back(test_.snapshot());
    states.push_back(test_.contents());
    for (size_t i = 0; i < states.size(); ++i) {
      ASSERT_NO_FATAL_FAILURE(expect_ranges(snapshots[i].ts, states[i], 12)) << i;
    }
  }
  // What a snapshot holds does not make counts of the newest state look at entries: runs with
  // versions are counted once.
  test_.flush_all();
  const uint64_t newest = count(test_, test_.visible());
  ASSERT_EQ(newest, test_.contents().size());
  test_.store().squeeze(64 << 10);
  const uint64_t before = bytes_read();
  EXPECT_EQ(count(test_, test_.visible()), newest);
  EXPECT_EQ(bytes_read(), before);
  for (const auto& snapshot : snapshots) test_.drop(snapshot);
}

TEST_F(ManyLeaves, ATransactionCountsWhatItWrote) {
  fixture::TestTxn txn(test_.store());
  Contents contents = test_.contents();
  TestTree::Changes changes;
  for (int i = 0; i < 500; ++i) {
    changes.emplace_back(Generator::number(prng_.below(kKeys * 10)),
                         prng_.one_in(2) ? std::nullopt : Bound("own"));
  }
  test_.write(txn, changes);
  TestTree::apply(changes, &contents);
  test_.commit({{Generator::number(5), "another"}, {Generator::number(10), std::nullopt}});
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(count(test_, txn.view().ts, {}, {}, txn.id()), contents.size());
    EXPECT_EQ(count(test_, txn.view().ts), kKeys);
    EXPECT_EQ(count(test_, test_.visible()), kKeys);
    test_.flush_all();
  }
  txn.undo_all();
  EXPECT_EQ(count(test_, test_.visible()), kKeys);
}

TEST_F(ManyLeaves, SkipsPassContainersUnread) {
  test_.store().squeeze(64 << 10);
  TreeCursor cursor(test_.tree(), {test_.visible(), 0}, {});
  ASSERT_TRUE(cursor.first());
  const uint64_t before = bytes_read();
  ASSERT_TRUE(cursor.skip(kKeys - 1));
  EXPECT_EQ(cursor.key(), Generator::number((kKeys - 1) * 10));
  EXPECT_EQ(cursor.value(), std::string(100, 'v'));
  EXPECT_FALSE(cursor.next());
  ASSERT_TRUE(cursor.last());
  ASSERT_TRUE(cursor.skip(-12345));
  EXPECT_EQ(cursor.key(), Generator::number((kKeys - 1 - 12345) * 10));
  EXPECT_EQ(cursor.value(), std::string(100, 'v'));
  EXPECT_LT(bytes_read() - before, 100u << 10);
  EXPECT_FALSE(cursor.skip(std::numeric_limits<int64_t>::min()));
  EXPECT_FALSE(cursor.valid());
  EXPECT_FALSE(cursor.skip(3));
  ASSERT_TRUE(cursor.first());
  EXPECT_FALSE(cursor.skip(std::numeric_limits<int64_t>::max()));
  EXPECT_TRUE(cursor.status().ok());
}

// Pearson's statistic over 48 equal parts of what a cursor shows: 47 on average, its deviation 9.7.
TEST_F(ManyLeaves, RandomPlacesAreSpreadEvenly) {
  // A tenth of the keys, all at one end, is not flushed.
  TestTree::Changes changes;
  for (uint64_t i = 0; i < kKeys / 10; ++i)
    changes.emplace_back(Generator::number(i * 10 + 5), "d");
  test_.commit(changes);
  const Contents contents = test_.contents();
  std::map<std::string, size_t> places;
  for (const auto& [key, value] : contents) places.emplace(key, places.size());
  const Bound lower = Generator::number(333);
  const Bound upper = Generator::number(200003);
  const uint64_t first = places.lower_bound(*lower)->second;
  const uint64_t size = places.lower_bound(*upper)->second - first;
  constexpr uint64_t kParts = 48;
  constexpr double kEach = 300;
  std::vector<uint64_t> parts(kParts);
  TreeCursor cursor(test_.tree(), {test_.visible(), 0}, {.lower = lower, .upper = upper});
  for (uint64_t i = 0; i < kParts * static_cast<uint64_t>(kEach); ++i) {
    const uint64_t random = prng_.next();
    ASSERT_TRUE(cursor.seek_random(random));
    const uint64_t place = places.at(std::string(cursor.key())) - first;
    ASSERT_LT(place, size);
    ++parts[place * kParts / size];
    if (i % 50 != 0) continue;
    const std::string key(cursor.key());
    TreeCursor again(test_.tree(), {test_.visible(), 0}, {.lower = lower, .upper = upper});
    ASSERT_TRUE(again.seek_random(random));
    ASSERT_EQ(again.key(), key);
  }
  double statistic = 0;
  for (const uint64_t part : parts) {
    statistic += std::pow(static_cast<double>(part) - kEach, 2) / kEach;
  }
  EXPECT_LT(statistic, 47 + 8 * 9.7) << ::testing::PrintToString(parts);
}

TEST(Count, RandomPlacesOfAFewEntriesAreAllPossible) {
  TestTree test({});
  TestTree::Changes changes;
  for (uint64_t i = 0; i < 40; ++i) changes.emplace_back(Generator::number(i), "v");
  test.commit(changes);
  TreeCursor none(test.tree(), {test.visible(), 0}, {.lower = Generator::number(40)});
  EXPECT_FALSE(none.seek_random(1));
  EXPECT_TRUE(none.status().ok());
  const auto snapshot = test.snapshot();
  Prng prng(5);
  for (const bool flushed : {false, true}) {
    if (flushed) {
      // Nothing but what the snapshot sees is left.
      TestTree::Changes deleted;
      for (uint64_t i = 0; i < 40; ++i) deleted.emplace_back(Generator::number(i), std::nullopt);
      test.commit(deleted);
      test.flush_all();
      TreeCursor now(test.tree(), {test.visible(), 0}, {});
      EXPECT_FALSE(now.seek_random(3));
      EXPECT_EQ(count(test, test.visible()), 0u);
    }
    std::map<std::string, int> seen;
    TreeCursor cursor(test.tree(), {snapshot.ts, 0}, {});
    for (int i = 0; i < 4000; ++i) {
      ASSERT_TRUE(cursor.seek_random(prng.next()));
      ++seen[std::string(cursor.key())];
    }
    EXPECT_EQ(seen.size(), 40u);
    for (const auto& [key, times] : seen) EXPECT_GT(times, 40);
  }
  test.drop(snapshot);
}

TEST(Count, NothingIsThereAtFirst) {
  TestTree test({});
  EXPECT_EQ(count(test, test.visible()), 0u);
  EXPECT_EQ(estimate(test.tree()->directory(), "", {}).entries, 0u);
  EXPECT_EQ(estimate(test.tree()->directory(), "", {}).bytes, 0u);
  test.commit({{"b", "1"}, {"d", "2"}});
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(count(test, test.visible()), 2u);
    EXPECT_EQ(count(test, test.visible(), "b", "d"), 1u);
    EXPECT_EQ(count(test, test.visible(), "c", "d"), 0u);
    EXPECT_EQ(count(test, test.visible(), "d", "b"), 0u);
    EXPECT_EQ(count(test, test.visible(), "d", "d"), 0u);
    test.flush_all();
  }
}

TEST_F(ManyLeaves, EstimatesComeNear) {
  const Directory& directory = test_.tree()->directory();
  const auto expect_near = [&](const Contents& contents, uint64_t by) {
    for (int i = 0; i < 60; ++i) {
      const std::string lower = Generator::number(prng_.below(kKeys * 10));
      const Bound upper = prng_.one_in(4) ? Bound() : Generator::number(prng_.below(kKeys * 10));
      const Estimate found = estimate(directory, lower, upper);
      const uint64_t exact = count_of(contents, lower, upper);
      ASSERT_NEAR(static_cast<double>(found.entries), static_cast<double>(exact),
                  static_cast<double>(by));
      ASSERT_NEAR(static_cast<double>(found.bytes),
                  static_cast<double>(fixture::recorded_blocks(*test_.tree())) * 4096 *
                      static_cast<double>(exact) / static_cast<double>(kKeys),
                  4096.0 * 60 + static_cast<double>(exact) * 80);
    }
  };
  const Contents contents = test_.contents();
  EXPECT_EQ(estimate(directory, "", {}).entries, kKeys);
  EXPECT_EQ(estimate(directory, "", {}).bytes, fixture::recorded_blocks(*test_.tree()) * 4096);
  expect_near(contents, 4);
  const uint64_t before = bytes_read();
  test_.evict_all();
  expect_near(contents, 40);
  EXPECT_EQ(bytes_read(), before);
  // Of what is not flushed counts what it adds; without their records some keys may seem to be
  // there.
  TestTree::Changes changes;
  for (uint64_t i = 0; i < 2000; ++i) changes.emplace_back(Generator::number(i * 10 + 1), "new");
  test_.commit(changes);
  EXPECT_NEAR(static_cast<double>(estimate(directory, "", {}).entries), kKeys + 2000, kKeys / 20.0);
}

// ---- Interleavings

#ifdef HAWTHORN_TEST_POINTS

// Attack 45: the sums of a leaf are read while a container of it is written, flushed, written
// again: what the reader must not see is not in its count, and what it must see is.
// What was flushed beside a reader has timestamps; as long as nothing in a run is old or deleted,
// parts of it are counted without a look at entries all the same.
TEST_F(ManyLeaves, TimestampsAreNotLookedAtWhereAllEntriesShow) {
  const Snapshots::Registration early = test_.snapshot();
  const Contents before = test_.contents();
  TestTree::Changes changes;
  for (uint64_t i = 0; i < kKeys; i += 2)
    changes.emplace_back(Generator::number(i * 10 + 5), "new");
  test_.commit(changes);
  test_.flush_all();
  size_t looks = 0;
  os::set_test_point("tree.cursor.picks_version", [&] { ++looks; });
  ASSERT_NO_FATAL_FAILURE(expect_ranges(test_.visible(), test_.contents(), 40));
  EXPECT_EQ(looks, 0u);
  // Who reads below does not see all of them.
  ASSERT_NO_FATAL_FAILURE(expect_ranges(early.ts, before, 40));
  EXPECT_GT(looks, 0u);
  // Nor does anybody of one with an old version or a tombstone.
  test_.commit({{Generator::number(10), std::nullopt}, {Generator::number(20), "newer"}});
  test_.flush_all();
  ASSERT_NO_FATAL_FAILURE(expect_ranges(test_.visible(), test_.contents(), 40));
  ASSERT_NO_FATAL_FAILURE(expect_ranges(early.ts, before, 40));
  looks = 0;
  const Bound lower = Generator::number(0);
  const Bound upper = Generator::number(25);
  EXPECT_EQ(count(test_, test_.visible(), lower, upper), count_of(test_.contents(), lower, upper));
  EXPECT_GT(looks, 0u);
  os::clear_test_points();
  test_.drop(early);
}

TEST_F(ManyLeaves, SumsThatMoveWhileTheyAreRead) {
  const std::string key = Generator::number(1001);
  const auto write_and_flush = [&](const Bound& value) {
    test_.commit({{key, value}});
    test_.flush(key);
  };
  for (const char* point : {"count.leaf.clean", "count.leaf.before_from"}) {
    for (const bool inserts : {true, false}) {
      write_and_flush(inserts ? std::nullopt : Bound("v"));
      for (const bool merged : {true, false}) {
        const auto snapshot = test_.snapshot();
        const uint64_t expected = test_.contents(snapshot.ts).size();
        bool first = true;
        os::set_test_point(point, [&] {
          if (!std::exchange(first, false)) return;
          if (merged) {
            write_and_flush(inserts ? Bound("w") : std::nullopt);
          } else {
            test_.commit({{key, inserts ? Bound("w") : std::nullopt}});
          }
        });
        EXPECT_EQ(count(test_, snapshot.ts), expected) << point << inserts << merged;
        EXPECT_FALSE(first);
        os::clear_test_points();
        EXPECT_EQ(count(test_, snapshot.ts), expected);
        EXPECT_EQ(count(test_, test_.visible()), test_.contents().size());
        test_.drop(snapshot);
        write_and_flush(inserts ? std::nullopt : Bound("v"));
      }
    }
  }
}

// The same while the leaf is replaced, since a container splits.
TEST_F(ManyLeaves, ALeafThatIsReplacedWhileItIsRead) {
  for (const char* point : {"count.leaf.clean", "count.leaf.before_from"}) {
    const auto snapshot = test_.snapshot();
    const uint64_t expected = test_.contents(snapshot.ts).size();
    const size_t containers = test_.lows().size();
    bool first = true;
    os::set_test_point(point, [&] {
      if (!std::exchange(first, false)) return;
      TestTree::Changes changes;
      for (uint64_t i = 0; i < 300; ++i) {
        changes.emplace_back(Generator::number(1000) + std::to_string(i), std::string(100, 's'));
      }
      test_.commit(changes);
      test_.flush(Generator::number(1000));
    });
    EXPECT_EQ(count(test_, snapshot.ts), expected);
    os::clear_test_points();
    EXPECT_FALSE(first);
    if (std::string_view(point) == "count.leaf.clean") EXPECT_GT(test_.lows().size(), containers);
    EXPECT_EQ(count(test_, snapshot.ts), expected);
    EXPECT_EQ(count(test_, test_.visible()), test_.contents().size());
    test_.drop(snapshot);
  }
}

// A walk that began before the flush tells how many keys a run has while the flush hands the run
// on, as it is, to the container that follows.
TEST(Count, OfARunThatIsCountedWhileItIsHandedOn) {
  TestTree test({.policy = {.extents_max = 3, .garbage_max = 0.3, .target_bytes = 4 << 10}});
  const auto numbers = [](uint64_t from, uint64_t to) {
    TestTree::Changes changes;
    for (uint64_t i = from; i < to; ++i) {
      changes.emplace_back(Generator::number(i), std::string(100, 'v'));
    }
    return changes;
  };
  test.commit(numbers(0, 25));
  const Snapshots::Registration early = test.snapshot();
  test.commit(numbers(25, 30));
  test.flush_all();
  const auto run = [&] {
    const os::epoch::Guard guard;
    return test.tree()->directory().all().front()->descriptor.load()->run;
  };
  // As behind an open, by a look at the header.
  ASSERT_EQ(run()->live.load(), 30u);
  forget_counts(test);
  run()->live_from.store(0);
  run()->live.store(RunFile::kHasVersions);
  test.commit(numbers(30, 300));
  int reached = 0;
  os::set_test_point("merge.keep_run.counting", [&] {
    run()->set_live(30, run()->record.max_ts);
    ++reached;
  });
  test.flush_all();
  os::clear_test_points();
  EXPECT_EQ(reached, 1);
  EXPECT_EQ(count(test, early.ts), 25u);
  EXPECT_EQ(count(test, test.visible()), 300u);
  test.drop(early);
}

#endif  // HAWTHORN_TEST_POINTS

}  // namespace
}  // namespace hawthorn::tree::cursor_test
