// A database that shrinks gives the disk back while it is open: data files are emptied and removed,
// what is in use moves to others, and nothing is lost whoever reads, or when the machine dies.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>
#include <thread>

#include "db/file_sizing.h"
#include "db/log_sizing.h"
#include "os/test_point.h"
#include "testing/sim_machine.h"
#include "tests/support/engine_test.h"

namespace hawthorn::tests::shrink_test {
namespace {

using testing::CrashKind;
using testing::SimDisk;
using testing::SimMachine;
using testing::SimOp;

using Contents = std::map<std::string, std::string>;

constexpr uint64_t kMB = uint64_t{1} << 20;

class Shrink : public ::testing::Test {
 protected:
  void SetUp() override {
    db::log_segment_bytes = 4 * kMB;
    db::data_file_bytes_first = kMB;
    db::data_file_bytes_max = 4 * kMB;
  }
  void TearDown() override {
    db::data_file_bytes_first = 64 * kMB;
    db::data_file_bytes_max = 1024 * kMB;
  }

  static Result<std::unique_ptr<Db>> open(SimMachine& machine) {
    Options options;
    options.memory_budget_bytes = 16 * kMB;
    options.durability = Durability::kNone;
    return Db::open_on(machine.machine(), "/db", options);
  }
  static std::string key(uint64_t number) { return big_endian(mix64(number)); }
  static Contents read_all(Db& db) {
    Contents contents;
    const Result<Tree> tree = db.find_tree("t");
    EXPECT_OK(tree.status());
    if (!tree.ok()) return contents;
    EXPECT_OK(db.scan(*tree, "", std::nullopt, [&](std::span<const Entry> entries) {
      for (const Entry& entry : entries) contents.emplace(entry.key, entry.value);
      return true;
    }));
    return contents;
  }
  static uint64_t data_files(SimDisk& disk) {
    const std::vector<std::string> names = disk.list("/db").value();
    return static_cast<uint64_t>(std::count_if(
        names.begin(), names.end(), [](const auto& name) { return name.starts_with("data."); }));
  }
};

TEST_F(Shrink, deleting_everything_gives_the_disk_back) {
  for (const size_t size : {size_t{30}, size_t{1000}, size_t{200'000}}) {
    if (size == 30 && !is_whole()) continue;  // a million operations
    SCOPED_TRACE("values of " + std::to_string(size));
    SimDisk disk(1);
    SimMachine machine(disk, 1);
    auto db = open(machine);
    ASSERT_OK(db.status());
    const Tree tree = (*db)->tree("t").value();
    const uint64_t count = 40 * kMB / (size + 60);
    for (uint64_t i = 0; i < count; ++i) ASSERT_OK((*db)->put(tree, key(i), value_of(i, size)));
    ASSERT_OK((*db)->drain());
    const uint64_t full = (*db)->stats().disk_bytes_allocated;
    EXPECT_GT(full, 20 * kMB);
    for (uint64_t i = 0; i < count; ++i) ASSERT_OK((*db)->del(tree, key(i)));
    ASSERT_OK((*db)->flush());
    ASSERT_OK((*db)->drain());
    EXPECT_LE((*db)->stats().disk_bytes_allocated, 5 * kMB);
    EXPECT_LE(disk.used_bytes(), 24 * kMB);  // the log among it
    EXPECT_TRUE(read_all(**db).empty());
    // And grows again.
    for (uint64_t i = 0; i < count; ++i) ASSERT_OK((*db)->put(tree, key(i), value_of(i, size)));
    EXPECT_EQ(read_all(**db).size(), count);
    ASSERT_TRUE(clean(**db));
  }
}

TEST_F(Shrink, what_is_left_moves) {
  for (const size_t size : {size_t{30}, size_t{1000}, size_t{100'000}}) {
    if (size == 30 && !is_whole()) continue;  // a million operations
    SCOPED_TRACE("values of " + std::to_string(size));
    SimDisk disk(1);
    SimMachine machine(disk, 1);
    auto db = open(machine);
    ASSERT_OK(db.status());
    const Tree tree = (*db)->tree("t").value();
    const uint64_t count = 40 * kMB / (size + 60);
    Contents sure;
    for (uint64_t i = 0; i < count; ++i) {
      const std::string value = value_of(i, size);
      ASSERT_OK((*db)->put(tree, key(i), value));
      if (i % 8 == 3) sure[key(i)] = value;
    }
    // Small parts of large values, too: some are flushed, some are not.
    ASSERT_OK((*db)->flush());
    const Snapshot before = (*db)->snapshot();
    const std::string kept_key = key(4);
    for (uint64_t i = 0; i < count; ++i) {
      if (i % 8 != 3) ASSERT_OK((*db)->del(tree, key(i)));
    }
    ASSERT_OK((*db)->drain());
    // The snapshot holds it all.
    ReadOptions old;
    old.snapshot = &before;
    Value value;
    ASSERT_OK((*db)->get(tree, kept_key, value, old));
    EXPECT_EQ(value.view(), value_of(4, size));
    value.reset();
    const_cast<Snapshot&>(before).reset();  // NOLINT
    ASSERT_OK((*db)->compact());
    ASSERT_OK((*db)->drain());
    EXPECT_LE((*db)->stats().disk_bytes_allocated, size == 30 ? 24 * kMB : 14 * kMB);
    EXPECT_TRUE(read_all(**db) == sure);
    ASSERT_TRUE(clean(**db));
    db->reset();
    db = open(machine);
    ASSERT_OK(db.status());
    EXPECT_TRUE(read_all(**db) == sure);
    ASSERT_TRUE(clean(**db));
    ASSERT_OK((*db)->close());
  }
}

// A large value that is read by parts through a snapshot stays where the reader found it.
TEST_F(Shrink, readers_of_large_values_that_move) {
  SimDisk disk(1);
  SimMachine machine(disk, 1, true);
  auto db = open(machine);
  ASSERT_OK(db.status());
  const Tree tree = (*db)->tree("t").value();
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> reads{0};
  constexpr uint64_t kKept = 12;
  const auto reader = [&](uint64_t seed) {
    Prng prng(seed);
    Value value;
    std::string part(70'000, '\0');
    while (!stop.load()) {
      const uint64_t number = prng.below(kKept) * 10;
      const std::string wanted = value_of(number, 300'000);
      if (prng.one_in(2)) {
        ASSERT_OK((*db)->get(tree, key(number), value));
        ASSERT_EQ(value.view(), wanted);
      } else {
        const Result<size_t> got = (*db)->read_part(tree, key(number), 150'000, part);
        ASSERT_OK(got.status());
        ASSERT_EQ(std::string_view(part).substr(0, *got), wanted.substr(150'000, *got));
      }
      reads.fetch_add(1);
    }
  };
  for (uint64_t i = 0; i < kKept * 10; ++i) {
    ASSERT_OK((*db)->put(tree, key(i), value_of(i, 300'000)));
  }
  std::vector<std::thread> threads;
  for (uint64_t seed = 1; seed <= 2; ++seed) threads.emplace_back(reader, seed);
  // Until some were read, too.
  for (int round = 0; (round < 4 || reads <= 10) && !HasFailure(); ++round) {
    for (uint64_t i = 0; i < kKept * 10; ++i) {
      if (i % 10 != 0) EXPECT_OK((*db)->del(tree, key(i)));
    }
    EXPECT_OK((*db)->flush());
    EXPECT_OK((*db)->drain());
    for (uint64_t i = 0; i < kKept * 10; ++i) {
      if (i % 10 != 0) EXPECT_OK((*db)->put(tree, key(i), value_of(i, 300'000)));
    }
  }
  for (uint64_t i = 0; i < kKept * 10; ++i) {
    if (i % 10 != 0) EXPECT_OK((*db)->del(tree, key(i)));
  }
  EXPECT_OK((*db)->flush());
  EXPECT_OK((*db)->drain());
  stop.store(true);
  for (std::thread& thread : threads) thread.join();
  EXPECT_OK((*db)->compact());  // what the readers' snapshots needed
  EXPECT_LE((*db)->stats().disk_bytes_allocated, 14 * kMB);
  ASSERT_TRUE(clean(**db));
}

// Three times over all keys, in an order of their own each time: what is in use stays near the
// target, and the bytes written do not explode.
TEST_F(Shrink, overwrites_stay_near_the_target) {
  for (const double target : {1.10, 1.25}) {
    SCOPED_TRACE(target);
    SimDisk disk(1);
    SimMachine machine(disk, 1);
    Options options;
    options.memory_budget_bytes = 16 * kMB;
    options.durability = Durability::kNone;
    options.space_target = target;
    auto db = Db::open_on(machine.machine(), "/db", options);
    ASSERT_OK(db.status());
    const Tree tree = (*db)->tree("t").value();
    constexpr uint64_t kKeys = 60'000;
    constexpr size_t kSize = 256;
    const auto used_over_live = [&] {
      const Stats stats = (*db)->stats();
      const auto used = static_cast<double>(stats.disk_bytes_reachable);
      return used / static_cast<double>(stats.disk_bytes_reachable - stats.trees[0].bytes_garbage);
    };
    for (uint64_t i = 0; i < kKeys; ++i) ASSERT_OK((*db)->put(tree, key(i), value_of(i, kSize)));
    ASSERT_OK((*db)->flush());
    const uint64_t before = (*db)->stats().bytes_written_data;
    double worst = 0;  // of each pass, on average: one alone hangs on how containers' flushes fall
    double sum = 0;
    int looks = 0;
    for (uint64_t pass = 1; pass <= 3; ++pass) {
      double worst_of_pass = 0;
      for (uint64_t i = 0; i < kKeys; ++i) {
        const uint64_t number = (i * 7919 + pass) % kKeys;
        ASSERT_OK((*db)->put(tree, key(number), value_of(number + pass, kSize)));
        if (i % 5000 != 0) continue;
        worst_of_pass = std::max(worst_of_pass, used_over_live());
        sum += used_over_live();
        ++looks;
      }
      worst += worst_of_pass / 3;
    }
    const double written = static_cast<double>((*db)->stats().bytes_written_data - before) /
                           static_cast<double>(3 * kKeys * (kSize + 8));
    printf("target %.2f: %.3f of the live bytes in use (worst %.3f), %.2f bytes written per byte\n",
           target, sum / looks, worst, written);
    // Deltas are a tenth of the database here: one flush of a container adds as much garbage.
    EXPECT_LT(worst, target + 0.15);
    EXPECT_LT(sum / looks, target + 0.05);
    EXPECT_LT(written, 8.0);
    ASSERT_OK((*db)->drain());
    EXPECT_LE(used_over_live(), target + 0.001);
    ASSERT_TRUE(clean(**db));
  }
}

TEST_F(Shrink, targets_out_of_range_are_refused) {
  SimDisk disk(1);
  SimMachine machine(disk, 1);
  for (const double target : {1.0, 0.0, -1.0, 4.1, std::nan("")}) {
    Options options;
    options.memory_budget_bytes = 16 * kMB;
    options.space_target = target;
    EXPECT_TRUE(
        Db::open_on(machine.machine(), "/db", options).status().is(StatusCode::kInvalidArgument));
  }
}

// Who holds space: the oldest reader, since when, and how much; after it has gone, nobody.
TEST_F(Shrink, a_long_snapshot_is_named) {
  SimDisk disk(1);
  SimMachine machine(disk, 1);
  auto db = open(machine);
  ASSERT_OK(db.status());
  const Tree tree = (*db)->tree("t").value();
  for (uint64_t i = 0; i < 5000; ++i) ASSERT_OK((*db)->put(tree, key(i), value_of(i, 1000)));
  EXPECT_EQ((*db)->stats().oldest_snapshot_seconds, 0u);
  EXPECT_EQ((*db)->stats().bytes_old_versions, 0u);
  Snapshot held = (*db)->snapshot();
  static_cast<void>((*db)->stats());
  for (uint64_t i = 0; i < 5000; ++i) ASSERT_OK((*db)->put(tree, key(i), value_of(i + 1, 1000)));
  ASSERT_OK((*db)->flush());
  machine.clock().advance_us(90'000'000);
  const Snapshot later = (*db)->snapshot();
  Stats stats = (*db)->stats();
  EXPECT_EQ(stats.oldest_snapshot_timestamp, held.timestamp());
  EXPECT_GE(stats.oldest_snapshot_seconds, 90u);
  EXPECT_LT(stats.oldest_snapshot_seconds, 100u);
  EXPECT_GT(stats.bytes_old_versions, 5000u * 1000);
  EXPECT_LT(stats.bytes_old_versions, 5000u * 1200);
  held.reset();
  EXPECT_LT((*db)->stats().oldest_snapshot_seconds, 10u);
  // Rewritten for space alone.
  ASSERT_OK((*db)->drain());
  EXPECT_LT((*db)->stats().bytes_old_versions, 5000u * 150);
}

// Nobody asks for it: the background does it when nothing else is due, and when nothing was added
// for a while.
TEST_F(Shrink, in_the_background) {
  SimDisk disk(1);
  SimMachine machine(disk, 1, true);
  auto db = open(machine);
  ASSERT_OK(db.status());
  const Tree tree = (*db)->tree("t").value();
  Contents sure;
  for (uint64_t i = 0; i < 40'000; ++i) {
    const std::string value = value_of(i, 1000);
    ASSERT_OK((*db)->put(tree, key(i), value));
    if (i % 10 == 0) sure[key(i)] = value;
  }
  for (uint64_t i = 0; i < 40'000; ++i) {
    if (i % 10 != 0) ASSERT_OK((*db)->del(tree, key(i)));
  }
  ASSERT_OK((*db)->flush());
  // A tenth is left, and what is held ready for flushes.
  const auto is_small = [&] { return (*db)->stats().disk_bytes_allocated <= 24 * kMB; };
  const auto written = [&] { return (*db)->stats().bytes_written_data; };
  // The pause behind a step is four times as long as that took, by a clock that runs fast here: on
  // a slow machine all of them take long, and so it hangs only where no step comes.
  for (bool goes_on = true; goes_on && !is_small();) {
    const uint64_t before = written();
    goes_on = wait_until([&] {
      machine.clock().advance_us(1'000'000);
      return is_small() || written() != before;
    });
  }
  EXPECT_TRUE(is_small());
  EXPECT_TRUE(read_all(**db) == sure);
  ASSERT_TRUE(clean(**db));
}

#if defined(HAWTHORN_TEST_POINTS)
// What one tree has left another may take while both are checked: that is no overlap.
TEST_F(Shrink, space_that_changes_hands_during_a_check) {
  SimDisk disk(1);
  SimMachine machine(disk, 1);
  auto db = open(machine);
  ASSERT_OK(db.status());
  const std::vector<Tree> trees{(*db)->tree("a").value(), (*db)->tree("b").value()};
  uint64_t rounds = 0;
  const auto rewrite = [&] {
    ++rounds;
    for (const Tree& tree : trees) {
      for (uint64_t i = 0; i < 300; ++i) {
        ASSERT_OK((*db)->put(tree, key(i), value_of(rounds + i, 1000)));
      }
      ASSERT_OK((*db)->flush());
      ASSERT_OK((*db)->compact());
    }
  };
  rewrite();
  os::set_test_point("check.before_tree", [&] {
    for (int i = 0; i < 3; ++i) rewrite();
  });
  const Result<CheckReport> report = (*db)->check();
  os::clear_test_points();
  ASSERT_OK(report.status());
  EXPECT_TRUE(report->errors.empty()) << report->errors.front();
  EXPECT_EQ(rounds, 1 + 3 * 3u);  // The catalog is checked like the two trees.
}
#endif

// At any operation of the disk, while files come and go.
TEST_F(Shrink, killed_at_any_operation) {
  const uint64_t lives = scaled(60);
  for (const CrashKind kind :
       {CrashKind::kProcessKill, CrashKind::kPowerLoss, CrashKind::kPowerLossDrop}) {
    Prng prng(3);
    auto disk = std::make_unique<SimDisk>(3);
    Contents sure;
    uint64_t removed = 0;
    for (uint64_t life = 0; life < lives; ++life) {
      SCOPED_TRACE("life " + std::to_string(life));
      {
        SimMachine machine(*disk, life);
        auto db = open(machine);
        ASSERT_OK(db.status());
        const Tree tree = (*db)->tree("t").value();
        ASSERT_TRUE(read_all(**db) == sure);
        ASSERT_TRUE(clean(**db));
        const size_t size = prng.one_in(4) ? 150'000 : prng.between(20, 3000);
        const uint64_t count = prng.between(1, 12 * kMB / (size + 50));
        for (uint64_t i = 0; i < count; ++i) {
          const uint64_t number = prng.below(1 << 16);
          sure[key(number)] = value_of(number + life, size);
          ASSERT_OK((*db)->put(tree, key(number), sure[key(number)]));
        }
        for (auto at = sure.begin(); at != sure.end();) {
          if (prng.one_in(7)) {
            ++at;
            continue;
          }
          ASSERT_OK((*db)->del(tree, at->first));
          at = sure.erase(at);
        }
        ASSERT_OK(prng.one_in(2) ? (*db)->flush() : (*db)->sync());
        const uint64_t before = data_files(*disk);
        disk->stop_at(SimOp::kAny, prng.between(1, prng.one_in(2) ? 40 : 400));
        static_cast<void>((*db)->flush().ok());
        static_cast<void>((*db)->drain().ok());
        const auto after = disk->after_crash(1, CrashKind::kProcessKill);
        removed += before > data_files(*after) ? 1 : 0;
      }
      disk = disk->crash(prng.next(), kind);
    }
    EXPECT_GT(removed, lives / 20);
  }
}

}  // namespace
}  // namespace hawthorn::tests::shrink_test
