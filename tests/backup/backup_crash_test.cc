// Power cut or process killed at every operation of checkpoints, backups and restores in turn, and
// disks that are full: source and repository are whole, what was cut short is refused, and the next
// one goes well.

#include <gtest/gtest.h>

#include <tuple>

#include "db/file_sizing.h"
#include "db/log_sizing.h"
#include "os/test_point.h"
#include "testing/sim_machine.h"
#include "tests/support/encryption_test.h"
#include "tests/support/ingest_test.h"

namespace hawthorn::tests {
namespace {

using testing::CrashKind;
using testing::SimDisk;
using testing::SimMachine;
using testing::SimOp;

// Set by each test: whether all of its databases are encrypted, and whether the data of the source
// lie on devices.
bool encrypted = false;
bool on_devices = false;
constexpr const char* kDevices[] = {"/one", "/two"};

Options options() {
  Options options;
  if (encrypted) options.encryption = encryption_of();
  options.memory_budget_bytes = size_t{16} << 20;
  options.durability = Durability::kFull;
  return options;
}

Contents first() {
  Contents entries = numbered(0, 600, 200);
  entries["large"] = value_of(3, 150'000);
  return entries;
}
Contents second() {
  Contents entries = first();
  for (uint64_t i = 0; i < 20; ++i) entries[big_endian(i)] = "new";
  entries["large"] = value_of(4, 150'000);
  return entries;
}

Status put_all(Db& db, const Contents& entries) {
  Result<Tree> tree = db.tree("t");
  if (!tree.ok()) return tree.status();
  for (const auto& [key, value] : entries) {
    if (Status s = db.put(*tree, key, value, Durability::kNone); !s.ok()) return s;
  }
  return db.sync();
}

// The life that is cut short, from a database with first() on.
enum class Life : uint8_t { kCheckpoint, kBackup, kRestore, kRemove };

Status live(SimDisk& disk, Life life) {
  const SimMachine machine(disk, 3);
  Result<std::unique_ptr<Db>> db = Db::open_on(machine.machine(), "/db", options());
  if (!db.ok()) return db.status();
  if (life == Life::kCheckpoint) return (*db)->checkpoint("/copy");
  auto repository = BackupRepository::open_on(machine.machine(), "/repo");
  if (!repository.ok()) return repository.status();
  if (life == Life::kRestore) return (*repository)->restore(1, "/copy");
  if (life == Life::kRemove) return (*repository)->remove(1);
  return (*db)->backup(**repository).status();
}

// A database, whose repository has a backup of first(); it has second() itself.
std::unique_ptr<SimDisk> prepared_disk(Life life) {
  db::log_segment_bytes = size_t{4} << 20;
  db::data_file_bytes_first = uint64_t{4} << 20;
  SimDisk disk(1);
  const SimMachine machine(disk, 2);
  Options created = options();
  for (const char* device : kDevices) {
    if (!on_devices) continue;
    auto file = disk.open_file(device, {.create = true});
    EXPECT_OK((*file)->truncate(uint64_t{16} << 20));
    EXPECT_OK((*file)->sync_data());
    EXPECT_OK(disk.sync_directory("/"));
    created.devices.emplace_back(device);
  }
  {
    auto db = Db::open_on(machine.machine(), "/db", created).value();
    EXPECT_OK(put_all(*db, first()));
    EXPECT_OK(db->flush());
    auto repository = BackupRepository::open_on(machine.machine(), "/repo").value();
    EXPECT_OK(db->backup(*repository).status());
    EXPECT_OK(put_all(*db, second()));
    if (life == Life::kRemove) EXPECT_OK(db->backup(*repository).status());
  }
  return disk.crash(1, CrashKind::kProcessKill);
}

Contents contents_of(const SimMachine& machine, const std::string& path) {
  auto db = Db::open_on(machine.machine(), path, options());
  EXPECT_OK(db.status());
  if (!db.ok()) return {};
  const Result<CheckReport> report = (*db)->check();
  EXPECT_OK(report.status());
  EXPECT_TRUE(report->ok()) << report->errors.front();
  return read_all(**db, (*db)->find_tree("t").value());
}

void expect_sound(SimDisk& disk, Life life, bool finished) {
  const SimMachine machine(disk, 5);
  EXPECT_TRUE(same(contents_of(machine, "/db"), second()));
  const Contents copied = life == Life::kRestore ? first() : second();
  auto db = Db::open_on(machine.machine(), "/db", options()).value();
  auto repository = BackupRepository::open_on(machine.machine(), "/repo").value();
  const std::vector<BackupInfo> list = repository->list().value();
  ASSERT_GE(list.size(), 1u);
  for (const BackupInfo& info : list) {
    const std::string target = "/restored" + std::to_string(info.id);
    ASSERT_OK(repository->verify(info.id));
    ASSERT_OK(repository->verify(info.id, {.encryption = options().encryption}));
    ASSERT_OK(repository->restore(info.id, target));
    EXPECT_TRUE(same(contents_of(machine, target), info.id == 1 ? first() : second()));
  }
  if (life == Life::kBackup && finished) {
    EXPECT_EQ(list.size(), 2u);
  }
  if (life == Life::kRemove && finished) {
    EXPECT_EQ(list.size(), 1u);
  }
  if (life != Life::kCheckpoint && life != Life::kRestore) {
    const BackupInfo next = db->backup(*repository).value();
    ASSERT_OK(repository->restore(next.id, "/next"));
    EXPECT_TRUE(same(contents_of(machine, "/next"), second()));
    return;
  }
  // Whole, or refused and made anew.
  Status opened = Db::open_on(machine.machine(), "/copy",
                              [] {
                                Options there = options();
                                there.create_if_missing = false;
                                return there;
                              }())
                      .status();
  if (finished) EXPECT_OK(opened);
  if (!opened.ok()) {
    EXPECT_TRUE(opened.is_not_found() || opened.is(StatusCode::kCorruption)) << opened.to_string();
    ASSERT_OK(life == Life::kRestore ? repository->restore(1, "/copy") : db->checkpoint("/copy"));
  }
  EXPECT_TRUE(same(contents_of(machine, "/copy"), copied));
}

class BackupCrash : public ::testing::TestWithParam<std::tuple<Life, bool, bool>> {
 protected:
  void SetUp() override {
    encrypted = std::get<1>(GetParam());
    on_devices = std::get<2>(GetParam());
  }
  void TearDown() override { encrypted = on_devices = false; }
};

TEST_P(BackupCrash, at_every_operation) {
  const Life life = std::get<0>(GetParam());
  const std::unique_ptr<SimDisk> before = prepared_disk(life);
  const uint64_t step = environment_number("HAWTHORN_STEP", scaled_step(8));
  uint64_t nth = 1;
  for (bool finished = false; !finished; nth += step) {
    SCOPED_TRACE("operation " + std::to_string(nth));
    const std::unique_ptr<SimDisk> disk = before->after_crash(nth, CrashKind::kProcessKill);
    disk->stop_at(SimOp::kAny, nth);
    finished = live(*disk, life).ok() && !disk->stopped();
    const CrashKind kinds[] = {CrashKind::kPowerLoss, CrashKind::kPowerLossDrop,
                               CrashKind::kProcessKill};
    const std::unique_ptr<SimDisk> after = disk->crash(nth, kinds[nth / step % 3]);
    expect_sound(*after, life, finished);
    ASSERT_FALSE(::testing::Test::HasFailure());
  }
  EXPECT_GT(nth, 20u);
}

INSTANTIATE_TEST_SUITE_P(Lives, BackupCrash,
                         ::testing::Combine(::testing::Values(Life::kCheckpoint, Life::kBackup,
                                                              Life::kRestore, Life::kRemove),
                                            ::testing::Bool(), ::testing::Bool()));

class BackupFaults : public ::testing::Test {
 protected:
  void TearDown() override { on_devices = false; }
};

void expect_full_targets_told() {
  for (const auto& [part, life] :
       {std::pair{"/copy", Life::kCheckpoint}, std::pair{"/repo", Life::kBackup},
        std::pair{"/copy", Life::kRestore}}) {
    const std::unique_ptr<SimDisk> before = prepared_disk(life);
    for (const uint64_t nth : {1, 2, 3, 5, 8}) {
      for (const SimOp op : {SimOp::kWrite, SimOp::kAllocate, SimOp::kSync}) {
        SCOPED_TRACE(std::string(part) + " " + std::to_string(nth));
        const std::unique_ptr<SimDisk> disk = before->after_crash(1, CrashKind::kProcessKill);
        const SimMachine machine(*disk, 3);
        auto db = Db::open_on(machine.machine(), "/db", options()).value();
        auto repository = BackupRepository::open_on(machine.machine(), "/repo").value();
        disk->fail_path(part, op, nth, StatusCode::kNoSpace, true);
        const auto run = [&] {
          if (life == Life::kCheckpoint) return db->checkpoint("/copy");
          if (life == Life::kRestore) return repository->restore(1, "/copy");
          return db->backup(*repository).status();
        };
        const Status status = run();
        if (status.ok()) continue;  // it had fewer such operations
        EXPECT_TRUE(status.is(StatusCode::kNoSpace)) << status.to_string();
        EXPECT_NE(status.message().find(part), std::string_view::npos) << status.message();
        ASSERT_OK(db->put(db->find_tree("t").value(), "more", "1"));
        ASSERT_OK(db->del(db->find_tree("t").value(), "more"));
        disk->clear_faults();
        ASSERT_OK(run());
      }
    }
  }
}

TEST_F(BackupFaults, a_full_target_is_told_and_the_source_goes_on) { expect_full_targets_told(); }

TEST_F(BackupFaults, of_a_source_on_devices_too) {
  on_devices = true;
  expect_full_targets_told();
}

#if defined(HAWTHORN_TEST_POINTS)
// Between any two parts of the copy everything is written anew and flushed.
TEST_F(BackupFaults, flushes_between_the_parts_do_not_disturb_a_copy) {
  const std::unique_ptr<SimDisk> disk = prepared_disk(Life::kCheckpoint);
  const SimMachine machine(*disk, 3);
  auto db = Db::open_on(machine.machine(), "/db", options()).value();
  uint64_t round = 0;
  os::set_test_point("copy.part_read", [&] {
    if (++round > 30) return;
    EXPECT_OK(put_all(*db, numbered(0, 600, 200 + round)));
    EXPECT_OK(db->flush());
  });
  const Status status = db->checkpoint("/copy");
  os::clear_test_points();
  ASSERT_OK(status);
  EXPECT_GT(round, 4u);
  EXPECT_TRUE(same(contents_of(machine, "/copy"), second()));
}

TEST_F(BackupFaults, writers_win_a_full_disk) {
  const std::unique_ptr<SimDisk> disk = prepared_disk(Life::kCheckpoint);
  const SimMachine machine(*disk, 3);
  auto db = Db::open_on(machine.machine(), "/db", options()).value();
  bool wrote = false;
  os::set_test_point("copy.log_copied", [&] {
    wrote = true;
    disk->set_capacity(disk->used_bytes() + (uint64_t{1} << 20));
    for (uint64_t i = 1; i < 200; ++i) {
      EXPECT_OK(put_all(*db, numbered(0, 600, 200 + i % 7)));
      EXPECT_OK(db->flush());
      if (::testing::Test::HasFailure()) break;
    }
  });
  const Status status = db->checkpoint("/copy");
  os::clear_test_points();
  EXPECT_TRUE(wrote);
  EXPECT_TRUE(status.is(StatusCode::kNoSpace)) << status.to_string();
  EXPECT_NE(status.message().find("given to writers"), std::string_view::npos)
      << status.to_string();
  ASSERT_OK(db->put(db->find_tree("t").value(), "more", "1"));
}
#endif

}  // namespace
}  // namespace hawthorn::tests
