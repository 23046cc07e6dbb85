#include "testing/sim_disk.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/prng.h"
#include "testing/sim_machine.h"

namespace hawthorn::testing {
namespace {

using os::File;
using os::MappedFile;

constexpr uint64_t kSeeds = 200;

std::unique_ptr<File> open(SimDisk& disk, const std::string& path) {
  auto file = disk.open_file(path, {.create = true});
  EXPECT_TRUE(file.ok()) << file.status().to_string();
  return std::move(file).value();
}

void must(const Status& status) { ASSERT_TRUE(status.ok()) << status.to_string(); }

std::string content(SimDisk& disk, const std::string& path) {
  auto file = disk.open_file(path, {.read_only = true});
  if (!file.ok()) return std::string(status_code_name(file.status().code()));
  std::string data((*file)->size().value(), '\0');
  must((*file)->read_at(0, data));
  return data;
}

// A file "/f" of `size` bytes of `letter`, durable with its name.
std::unique_ptr<File> durable_file(SimDisk& disk, size_t size, char letter) {
  auto file = open(disk, "/f");
  must(file->write_at(0, std::string(size, letter)));
  must(file->sync_data());
  must(disk.sync_directory("/"));
  return file;
}

TEST(SimDiskTest, ReadsWhatWasWritten) {
  SimDisk disk;
  Prng prng(1);
  auto file = open(disk, "/f");
  std::string model;
  for (int i = 0; i < 2000; ++i) {
    const size_t offset = prng.below(50000);
    const size_t size = prng.below(9000);
    switch (prng.below(6)) {
      case 0: {
        must(file->truncate(offset));
        model.resize(offset);
        break;
      }
      case 1: {
        must(file->allocate(offset, size));
        if (size > 0) model.resize(std::max(model.size(), offset + size));
        break;
      }
      case 2: {
        must(file->punch_hole(offset, size));
        for (size_t j = offset; j < std::min(model.size(), offset + size); ++j) model[j] = 0;
        break;
      }
      default: {
        const std::string data(size, static_cast<char>('a' + prng.below(26)));
        must(file->write_at(offset, data));
        if (size > 0) model.resize(std::max(model.size(), offset + size));
        model.replace(offset < model.size() ? offset : model.size(), size, data);
        break;
      }
    }
    ASSERT_EQ(file->size().value(), model.size());
    ASSERT_EQ(content(disk, "/f"), model) << i;
  }
}

TEST(SimDiskTest, ReadBehindTheEndNamesTheFile) {
  SimDisk disk;
  auto file = open(disk, "/f");
  must(file->write_at(0, std::string(100, 'x')));
  std::string data(200, '\0');
  const Status status = file->read_at(0, data);
  EXPECT_TRUE(status.is(StatusCode::kCorruption));
  EXPECT_EQ(status.message(), "/f: ends at 100, 100 bytes short");
}

TEST(SimDiskTest, NamesAndDirectories) {
  SimDisk disk;
  EXPECT_TRUE(disk.open_file("/a/b", {.create = true}).status().is(StatusCode::kNotFound));
  must(disk.make_directory("/a"));
  must(disk.make_directory("/a/c"));
  must(disk.make_directory("/a/c"));
  EXPECT_TRUE(disk.exists("/a/c").value());
  open(disk, "/a/c/2");
  open(disk, "/a/c/1");
  EXPECT_EQ(disk.list("/a/c").value(), (std::vector<std::string>{"1", "2"}));
  EXPECT_TRUE(disk.remove_directory("/a/c").is(StatusCode::kInvalidArgument));
  EXPECT_TRUE(disk.open_file("/a/c/1", {.create = true, .exclusive = true})
                  .status()
                  .is(StatusCode::kInvalidArgument));
  must(disk.rename("/a/c/1", "/a/c/2"));
  EXPECT_EQ(disk.list("/a/c").value(), (std::vector<std::string>{"2"}));
  must(disk.remove("/a/c/2"));
  EXPECT_TRUE(disk.remove("/a/c/2").is_not_found());
  must(disk.remove_directory("/a/c"));
  EXPECT_FALSE(disk.exists("/a/c").value());
}

TEST(SimDiskTest, LockIsHeldByOneOpenAndEndsWithIt) {
  SimDisk disk;
  auto first = open(disk, "/f");
  auto second = open(disk, "/f");
  must(first->lock_exclusive());
  must(first->lock_exclusive());
  EXPECT_TRUE(second->lock_exclusive().is(StatusCode::kBusy));
  first.reset();
  must(second->lock_exclusive());
  const auto after = disk.crash(1, CrashKind::kProcessKill);
  must(open(*after, "/f")->lock_exclusive());
}

TEST(SimDiskTest, DirectFilesNeedAlignment) {
  SimDisk disk;
  auto file = disk.open_file("/f", {.create = true, .direct = true});
  ASSERT_TRUE(file.ok());
  alignas(4096) static char block[8192];
  must((*file)->write_at(0, {block, 8192}));
  EXPECT_TRUE((*file)->write_at(512, {block, 4096}).is(StatusCode::kInvalidArgument));
  EXPECT_TRUE((*file)->read_at(0, {block + 1, 4096}).is(StatusCode::kInvalidArgument));
  disk.set_direct_supported(false);
  EXPECT_TRUE(disk.open_file("/f", {.direct = true}).status().is(StatusCode::kNotSupported));
}

TEST(SimDiskTest, SyncedDataSurvivesEveryCrash) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    SimDisk disk;
    auto file = durable_file(disk, 10000, 'a');
    const auto kind = static_cast<CrashKind>(seed % 3);
    EXPECT_EQ(content(*disk.crash(seed, kind), "/f"), std::string(10000, 'a'));
  }
}

TEST(SimDiskTest, PowerLossKeepsDropsAndTearsWrites) {
  SimDisk disk;
  auto file = durable_file(disk, 8192, 'a');
  must(file->write_at(0, std::string(4096, 'b')));
  must(file->write_at(4096, std::string(4096, 'c')));
  std::set<std::string> outcomes;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const auto after = disk.after_crash(seed, CrashKind::kPowerLoss);
    const std::string found = content(*after, "/f");
    ASSERT_EQ(found.size(), 8192u);
    for (size_t sector = 0; sector < 8192; sector += 512) {
      const std::string bytes = found.substr(sector, 512);
      const char fresh = sector < 4096 ? 'b' : 'c';
      ASSERT_TRUE(bytes == std::string(512, 'a') || bytes == std::string(512, fresh));
    }
    outcomes.insert(found);
    EXPECT_EQ(content(*disk.after_crash(seed, CrashKind::kPowerLoss), "/f"), found);
  }
  const std::string old_half(4096, 'a');
  EXPECT_TRUE(outcomes.contains(old_half + old_half));
  EXPECT_TRUE(outcomes.contains(std::string(4096, 'b') + old_half));
  EXPECT_TRUE(outcomes.contains(old_half + std::string(4096, 'c')));  // reordered
  EXPECT_TRUE(outcomes.contains(std::string(4096, 'b') + std::string(4096, 'c')));
  EXPECT_GT(outcomes.size(), 10u);  // torn
  EXPECT_EQ(content(*disk.after_crash(1, CrashKind::kPowerLossDrop), "/f"), old_half + old_half);
  EXPECT_EQ(content(disk, "/f"), std::string(4096, 'b') + std::string(4096, 'c'));
}

TEST(SimDiskTest, KilledProcessLeavesEverythingButSyncsNothing) {
  SimDisk disk;
  auto file = durable_file(disk, 4096, 'a');
  must(file->write_at(0, std::string(4096, 'b')));
  open(disk, "/g");
  const auto killed = disk.crash(1, CrashKind::kProcessKill);
  EXPECT_EQ(content(*killed, "/f"), std::string(4096, 'b'));
  EXPECT_EQ(content(*killed, "/g"), "");
  const auto lost = killed->crash(1, CrashKind::kPowerLossDrop);
  EXPECT_EQ(content(*lost, "/f"), std::string(4096, 'a'));
  EXPECT_EQ(content(*lost, "/g"), "NotFound");
}

TEST(SimDiskTest, DeadDiskAnswersIoError) {
  SimDisk disk;
  auto file = durable_file(disk, 4096, 'a');
  auto mapped = disk.map_shared("/m", 65536, false);
  ASSERT_TRUE(mapped.ok());
  const auto after = disk.crash(1, CrashKind::kPowerLoss);
  std::string data(10, '\0');
  EXPECT_TRUE(file->read_at(0, data).is(StatusCode::kIoError));
  EXPECT_TRUE(file->write_at(0, data).is(StatusCode::kIoError));
  EXPECT_TRUE(file->sync_data().is(StatusCode::kIoError));
  EXPECT_TRUE(file->truncate(0).is(StatusCode::kIoError));
  EXPECT_TRUE(file->size().status().is(StatusCode::kIoError));
  EXPECT_TRUE((*mapped)->sync().is(StatusCode::kIoError));
  EXPECT_TRUE(disk.open_file("/f", {}).status().is(StatusCode::kIoError));
  EXPECT_TRUE(disk.list("/").status().is(StatusCode::kIoError));
  EXPECT_TRUE(disk.make_directory("/").is(StatusCode::kIoError));
  EXPECT_TRUE(disk.stopped());
  (*mapped)->data()[0] = 1;  // still memory
}

TEST(SimDiskTest, UnsyncedNamesSurviveOrNot) {
  SimDisk disk;
  must(disk.make_directory("/d"));
  must(disk.sync_directory("/"));
  auto old_file = open(disk, "/d/current");
  must(old_file->write_at(0, std::string("old")));
  must(old_file->sync_data());
  must(disk.sync_directory("/d"));
  auto fresh = open(disk, "/d/temporary");
  must(fresh->write_at(0, std::string("new")));
  must(fresh->sync_data());
  must(disk.rename("/d/temporary", "/d/current"));
  open(disk, "/d/other");
  std::map<std::string, int> outcomes;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const auto after = disk.after_crash(seed, CrashKind::kPowerLoss);
    const std::string current = content(*after, "/d/current");
    ASSERT_TRUE(current == "old" || current == "new") << current;
    const std::string temporary = content(*after, "/d/temporary");
    ASSERT_TRUE(temporary == "NotFound" || temporary == "new") << temporary;
    ASSERT_FALSE(current == "new" && temporary == "new");
    ++outcomes[current + temporary + content(*after, "/d/other")];
  }
  EXPECT_EQ(outcomes.size(), 6u);
  must(disk.sync_directory("/d"));
  const auto after = disk.crash(1, CrashKind::kPowerLossDrop);
  EXPECT_EQ(after->list("/d").value(), (std::vector<std::string>{"current", "other"}));
  EXPECT_EQ(content(*after, "/d/current"), "new");
}

TEST(SimDiskTest, UnsyncedDirectoryTakesItsFilesAlong) {
  SimDisk disk;
  must(disk.make_directory("/d"));
  must(open(disk, "/d/f")->sync_data());
  must(disk.sync_directory("/d"));
  EXPECT_FALSE(disk.after_crash(1, CrashKind::kPowerLossDrop)->exists("/d").value());
  must(disk.sync_directory("/"));
  EXPECT_TRUE(disk.after_crash(1, CrashKind::kPowerLossDrop)->exists("/d/f").value());
}

TEST(SimDiskTest, RemovedAndRenamedTwice) {
  SimDisk disk;
  auto file = durable_file(disk, 4, 'a');
  must(disk.rename("/f", "/g"));
  must(disk.rename("/g", "/h"));
  std::set<std::vector<std::string>> outcomes;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    outcomes.insert(disk.after_crash(seed, CrashKind::kPowerLoss)->list("/").value());
  }
  EXPECT_EQ(outcomes, (std::set<std::vector<std::string>>{{"f"}, {"g"}, {"h"}}));
  must(disk.sync_directory("/"));
  must(disk.remove("/h"));
  EXPECT_EQ(content(*disk.after_crash(1, CrashKind::kPowerLossDrop), "/h"), "aaaa");
  must(disk.sync_directory("/"));
  EXPECT_FALSE(disk.after_crash(1, CrashKind::kPowerLossDrop)->exists("/h").value());
}

TEST(SimDiskTest, SpaceIsNeverTakenTwice) {
  for (const bool punched : {false, true}) {
    SimDisk disk;
    auto file = durable_file(disk, 81920, 'a');
    const uint64_t capacity = 100'000;
    disk.set_capacity(capacity);
    auto other = open(disk, "/g");
    EXPECT_TRUE(other->allocate(0, 40960).is(StatusCode::kNoSpace));
    if (punched) {
      must(file->punch_hole(0, 40960));
    } else {
      file.reset();
      must(disk.remove("/f"));
    }
    must(other->allocate(0, 40960));
    must(other->sync_data());
    for (uint64_t seed = 0; seed < kSeeds; ++seed) {
      const auto kind = seed % 2 == 0 ? CrashKind::kPowerLoss : CrashKind::kPowerLossDrop;
      EXPECT_LE(disk.after_crash(seed, kind)->used_bytes(), capacity);
    }
  }
}

TEST(SimDiskTest, SizeAndDataSurviveApart) {
  SimDisk disk;
  auto file = durable_file(disk, 4096, 'a');
  must(file->write_at(4096, std::string(4096, 'b')));
  std::set<std::string> outcomes;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    outcomes.insert(content(*disk.after_crash(seed, CrashKind::kPowerLoss), "/f"));
  }
  const std::string old(4096, 'a');
  EXPECT_TRUE(outcomes.contains(old));
  EXPECT_TRUE(outcomes.contains(old + std::string(4096, 'b')));
  EXPECT_TRUE(outcomes.contains(old + std::string(4096, '\0')));
}

TEST(SimDiskTest, MappedPagesAreOldOrNewBySectors) {
  SimDisk disk;
  auto mapped = std::move(disk.map_shared("/ring", 65536, false)).value();
  must(disk.sync_directory("/"));
  ASSERT_TRUE(mapped->mirrored());
  mapped->data()[65536 + 10] = 'x';
  EXPECT_EQ(mapped->data()[10], 'x');
  EXPECT_EQ(content(disk, "/ring")[10], 'x');
  must(mapped->sync());
  std::memset(mapped->data(), 'y', 65536);
  const std::string killed = content(*disk.after_crash(1, CrashKind::kProcessKill), "/ring");
  EXPECT_EQ(killed, std::string(65536, 'y'));
  bool mixed = false;
  bool torn = false;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const std::string found = content(*disk.after_crash(seed, CrashKind::kPowerLoss), "/ring");
    size_t fresh = 0;
    for (size_t page = 0; page < 65536; page += 4096) {
      size_t sectors = 0;
      for (size_t at = page; at < page + 4096; at += 512) {
        const bool is_new = found.substr(at, 512) == std::string(512, 'y');
        ASSERT_TRUE(is_new || found[at] == '\0');
        ASSERT_TRUE(is_new || found[at + 10] == (at == 0 ? 'x' : '\0'));
        sectors += is_new ? 1 : 0;
      }
      fresh += sectors == 8 ? 1 : 0;
      torn |= sectors > 0 && sectors < 8;
    }
    mixed |= fresh > 0 && fresh < 16;
  }
  EXPECT_TRUE(mixed);
  EXPECT_TRUE(torn);
  mapped.reset();
  EXPECT_EQ(content(disk, "/ring"), std::string(65536, 'y'));
  EXPECT_EQ(std::move(disk.map_shared("/ring", 65536, true)).value()->data()[65535], 'y');
}

// The kernel writes a page whenever it likes, also one that is stored into again.
TEST(SimDiskTest, MappedPagesAreWrittenBackAtAnyTime) {
  SimDisk disk;
  auto mapped = std::move(disk.map_shared("/ring", 65536, false)).value();
  must(disk.sync_directory("/"));
  std::memset(mapped->data(), 'a', 4096);
  disk.write_back_pages();
  std::memset(mapped->data(), 'b', 4096);
  std::set<char> firsts;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    firsts.insert(content(*disk.after_crash(seed, CrashKind::kPowerLoss), "/ring")[0]);
  }
  EXPECT_EQ(firsts, (std::set<char>{'\0', 'a', 'b'}));
}

TEST(SimDiskTest, NthOperationFails) {
  SimDisk disk;
  auto file = durable_file(disk, 8192, 'a');
  std::string data(8192, '\0');
  disk.fail(SimOp::kRead, 2, StatusCode::kIoError);
  must(file->read_at(0, data));
  EXPECT_TRUE(file->read_at(0, data).is(StatusCode::kIoError));
  must(file->read_at(0, data));
  disk.fail(SimOp::kRead, 1, StatusCode::kCorruption);
  EXPECT_TRUE(file->read_at(0, data).is(StatusCode::kCorruption));
  disk.fail_path("/other", SimOp::kWrite, 1, StatusCode::kNoSpace);
  must(file->write_at(0, data));
  disk.clear_faults();
  disk.fail(SimOp::kWrite, 1, StatusCode::kNoSpace, true);
  EXPECT_TRUE(file->write_at(0, data).is(StatusCode::kNoSpace));
  EXPECT_TRUE(file->write_at(0, data).is(StatusCode::kNoSpace));
  disk.clear_faults();
  must(file->write_at(0, data));
  EXPECT_EQ(disk.counters().faults, 4u);
}

TEST(SimDiskTest, FailedSyncIsFinal) {
  int lost = 0;
  int kept = 0;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    SimDisk disk(seed);
    auto file = durable_file(disk, 4096, 'a');
    must(file->write_at(0, std::string(4096, 'b')));
    disk.fail(SimOp::kSync, 1, StatusCode::kIoError);
    EXPECT_TRUE(file->sync_data().is(StatusCode::kIoError));
    EXPECT_EQ(content(disk, "/f"), std::string(4096, 'b'));
    must(file->sync_data());
    const std::string found = content(*disk.crash(seed, CrashKind::kPowerLoss), "/f");
    lost += found != std::string(4096, 'b') ? 1 : 0;
    kept += found == std::string(4096, 'b') ? 1 : 0;
  }
  EXPECT_GT(lost, 0);
  EXPECT_GT(kept, 0);
}

TEST(SimDiskTest, StopsAtTheNthOperation) {
  SimDisk disk;
  auto file = durable_file(disk, 4096, 'a');
  disk.stop_at(SimOp::kWrite, 2);
  must(file->write_at(0, std::string(4096, 'b')));
  EXPECT_TRUE(file->write_at(0, std::string(4096, 'c')).is(StatusCode::kIoError));
  EXPECT_TRUE(file->sync_data().is(StatusCode::kIoError));
  EXPECT_EQ(content(*disk.crash(1, CrashKind::kProcessKill), "/f"), std::string(4096, 'b'));
}

TEST(SimDiskTest, CapacityIsALimit) {
  SimDisk disk;
  disk.set_capacity(40960);
  auto file = durable_file(disk, 20480, 'a');
  EXPECT_EQ(disk.free_bytes("/").value(), 20480u);
  EXPECT_TRUE(file->write_at(20480, std::string(20481, 'b')).is(StatusCode::kNoSpace));
  must(file->truncate(20480));
  must(file->allocate(0, 40960));
  EXPECT_TRUE(open(disk, "/g")->write_at(0, std::string("x")).is(StatusCode::kNoSpace));
  EXPECT_TRUE(disk.map_shared("/m", 65536, false).status().is(StatusCode::kNoSpace));
  must(file->punch_hole(0, 8192));
  must(open(disk, "/g")->write_at(0, std::string("x")));
  EXPECT_EQ(file->allocated_bytes().value(), 32768u);
  must(disk.remove("/f"));
  EXPECT_EQ(disk.free_bytes("/").value(), 4096u);
  file.reset();
  EXPECT_EQ(disk.free_bytes("/").value(), 36864u);
}

TEST(SimDiskTest, BitsFlip) {
  SimDisk disk;
  auto file = durable_file(disk, 4096, 'a');
  EXPECT_TRUE(disk.flip_bit("/f", 5, 1));
  EXPECT_EQ(content(disk, "/f")[5], 'a' ^ 2);
  EXPECT_EQ(content(*disk.after_crash(1, CrashKind::kPowerLossDrop), "/f")[5], 'a' ^ 2);
  EXPECT_FALSE(disk.flip_bit("/f", 4096, 1));
  EXPECT_FALSE(disk.flip_bit("/nothing", 0, 1));
}

TEST(SimDiskTest, CountersCount) {
  SimDisk disk;
  auto file = durable_file(disk, 4096, 'a');
  const SimCounters counters = disk.counters();
  EXPECT_EQ(counters.writes, 1u);
  EXPECT_EQ(counters.bytes_written, 4096u);
  EXPECT_EQ(counters.syncs, 1u);
  EXPECT_EQ(counters.directory_syncs, 1u);
  EXPECT_EQ(counters.opens, 1u);
  EXPECT_EQ(disk.unsynced_changes(), 0u);
  must(file->write_at(0, std::string("x")));
  EXPECT_EQ(disk.unsynced_changes(), 1u);
}

TEST(SimDiskTest, ThreadsShareItWhileItCrashes) {
  SimDisk disk;
  auto mapped = std::move(disk.map_shared("/m", 65536, false)).value();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&disk, &mapped, t] {
      auto file = disk.open_file("/" + std::to_string(t), {.create = true});
      if (!file.ok()) return;
      const std::string data(4096, static_cast<char>('a' + t));
      for (uint64_t i = 0;; ++i) {
        mapped->data()[static_cast<size_t>(t) * 4096 + i % 4096] = static_cast<char>(i);
        if (!(*file)->write_at(i % 16 * 4096, data).ok()) return;
        if (i % 8 == 7 && !(*file)->sync_data().ok()) return;
      }
    });
  }
  while (disk.counters().writes < 1000) std::this_thread::yield();
  const auto after = disk.crash(7, CrashKind::kPowerLoss);
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(after->list("/").ok());
}

TEST(SimMachineTest, ClockMovesAndRandomRepeats) {
  SimDisk disk;
  SimMachine a(disk, 5);
  SimMachine b(disk, 5);
  const os::Machine& machine = a.machine();
  EXPECT_EQ(machine.random->next(), b.machine().random->next());
  const uint64_t start = machine.clock->monotonic_us();
  EXPECT_GT(machine.clock->monotonic_us(), start);
  machine.clock->sleep_us(1000000);
  EXPECT_GE(machine.clock->monotonic_us(), start + 1000000);
  EXPECT_FALSE(machine.background_threads);
  auto file = open(disk, "/f");
  os::IoGroup group;
  char data[4] = {'a', 'b', 'c', 'd'};
  const os::IoRequest request = {.op = os::IoRequest::Op::kWrite,
                                 .file = file.get(),
                                 .data = data,
                                 .size = 4,
                                 .group = &group};
  machine.io->submit({&request, 1});
  EXPECT_TRUE(group.idle());
  EXPECT_TRUE(group.wait().ok());
  EXPECT_EQ(content(disk, "/f"), "abcd");
}

}  // namespace
}  // namespace hawthorn::testing
