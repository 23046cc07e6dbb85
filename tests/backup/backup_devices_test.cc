// Copies of databases whose data lie on devices, for which files stand: what the copies hold, that
// devices are only read, chains of incremental ones, damage, full devices, and the way back onto
// devices. Plain and encrypted.

#include <map>

#include "db/log_sizing.h"
#include "hawthorn/repair.h"
#include "os/test_point.h"
#include "testing/sim_machine.h"
#include "testing/string_stream.h"
#include "tests/support/encryption_test.h"
#include "tests/support/ingest_test.h"
#include "tests/support/loop_device.h"

namespace hawthorn::tests {
namespace {

using testing::CrashKind;
using testing::SimDisk;
using testing::SimMachine;
using testing::StringStream;

constexpr uint64_t kMB = uint64_t{1} << 20;
constexpr uint64_t kOne = 24 * kMB;
constexpr uint64_t kTwo = 40 * kMB;

class BackupDevices : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    db::log_segment_bytes = 4 * kMB;
    make("/one", kOne);
    make("/two", kTwo);
    open_source();
  }
  void TearDown() override {
#if defined(HAWTHORN_TEST_POINTS)
    os::clear_test_points();
#endif
    db_.reset();
    db::log_segment_bytes = 64 * kMB;
  }
  void make(const std::string& path, uint64_t bytes) {
    auto file = disk_.open_file(path, {.create = true});
    ASSERT_OK(file.status());
    ASSERT_OK((*file)->truncate(bytes));
  }
  void open_source() {
    auto db = Db::open_on(machine_.machine(), "/db", options({"/one", "/two"}));
    ASSERT_OK(db.status());
    db_ = std::move(*db);
    tree_ = db_->tree("t").value();
  }
  static Options options(std::vector<std::string> devices = {}, bool create = true) {
    Options options;
    options.memory_budget_bytes = 16 * kMB;
    options.durability = Durability::kNone;
    options.create_if_missing = create;
    options.devices = std::move(devices);
    if (GetParam()) options.encryption = encryption_of();
    return options;
  }
  void put_all(const Contents& entries) {
    for (const auto& [key, value] : entries) {
      ASSERT_OK(db_->put(tree_, key, value));
      expected_[key] = value;
    }
  }
  // Flushed and not, small and large, on both devices.
  void fill() {
    put_all(numbered(0, 20'000, 700));
    for (uint64_t i = 0; i < 60; ++i) put_all({{"large" + big_endian(i), value_of(i, 150'000)}});
    ASSERT_OK(db_->flush());
    put_all(numbered(15'000, 500, 300));
    put_all({{"larger", value_of(4, 1'000'000)}, {"late", "in the log"}});
    ASSERT_OK(db_->del(tree_, big_endian(7)));
    expected_.erase(big_endian(7));
  }
  std::string bytes_of(const std::string& path) {
    auto file = disk_.open_file(path, {.read_only = true});
    EXPECT_OK(file.status());
    if (!file.ok()) return "";
    std::string bytes((*file)->size().value(), '\0');
    EXPECT_OK((*file)->read_at(0, bytes));
    return bytes;
  }
  // As `dd` does it.
  void write_image(const std::string& image, const std::string& device) {
    const std::string bytes = bytes_of(image);
    auto file = disk_.open_file(device, {.device = true});
    ASSERT_OK(file.status());
    ASSERT_LE(bytes.size(), (*file)->size().value());
    ASSERT_OK((*file)->write_at(0, bytes));
    ASSERT_OK((*file)->sync_data());
  }
  std::unique_ptr<BackupRepository> repository() {
    auto opened = BackupRepository::open_on(machine_.machine(), "/repo");
    EXPECT_OK(opened.status());
    return opened.ok() ? std::move(*opened) : nullptr;
  }
  std::unique_ptr<Db> open(const std::string& path, std::vector<std::string> devices = {}) {
    auto db = Db::open_on(machine_.machine(), path, options(std::move(devices), false));
    EXPECT_OK(db.status());
    return db.ok() ? std::move(*db) : nullptr;
  }
  // Without devices; then it goes its own way, and is opened again.
  void expect_copy(const std::string& path, const Contents& expected) {
    SCOPED_TRACE(path);
    for (int life = 0; life < 2; ++life) {
      const auto copy = open(path);
      ASSERT_NE(copy, nullptr);
      EXPECT_NE(copy->id(), db_->id());
      EXPECT_TRUE(same(read_all(*copy, copy->find_tree("t").value()), expected));
      ASSERT_TRUE(clean(*copy));
      if (life > 0) break;
      const Tree own = copy->tree("own").value();
      for (const auto& [key, value] : numbered(0, 300, 1000)) ASSERT_OK(copy->put(own, key, value));
      ASSERT_OK(copy->put(own, "large", value_of(1, 150'000)));
      ASSERT_OK(copy->flush());
      ASSERT_OK(copy->close());
    }
    const auto names = disk_.list(path).value();
    EXPECT_TRUE(disk_.exists(path + "/device.0").value());
    EXPECT_TRUE(disk_.exists(path + "/device.1").value());
    for (const std::string& name : names) EXPECT_FALSE(name.starts_with("data.")) << name;
  }

  SimDisk disk_{9};
  const SimMachine machine_{disk_, 10};
  std::unique_ptr<Db> db_;
  Tree tree_;
  Contents expected_;
};

TEST_P(BackupDevices, each_kind_of_copy_has_all_and_devices_are_only_read) {
  fill();
  const std::string before[] = {bytes_of("/one"), bytes_of("/two")};
  ASSERT_OK(db_->checkpoint("/checkpoint"));
  const auto repository = this->repository();
  const Result<BackupInfo> made = db_->backup(*repository);
  ASSERT_OK(made.status());
  StringStream stream;
  ASSERT_OK(db_->backup_to(stream).status());
  EXPECT_TRUE(before[0] == bytes_of("/one")) << "a device was written to";
  EXPECT_TRUE(before[1] == bytes_of("/two")) << "a device was written to";
  const Contents expected = expected_;
  put_all({{"later", "1"}});
  ASSERT_OK(db_->flush());
  EXPECT_EQ(made->encrypted, GetParam());
  ASSERT_OK(repository->verify(made->id));
  ASSERT_OK(repository->verify(made->id, {.encryption = options().encryption}));
  ASSERT_OK(repository->restore(made->id, "/restored", {.encryption = options().encryption}));
  ASSERT_OK(verify_backup(stream).status());
  stream.rewind();
  ASSERT_OK(restore_backup_on(machine_.machine(), stream, "/streamed").status());
  // No larger than the devices, and sparse.
  uint64_t taken = 0;
  for (const auto& [name, bytes] : {std::pair{"device.0", kOne}, std::pair{"device.1", kTwo}}) {
    auto file = disk_.open_file(std::string("/restored/") + name, {.read_only = true}).value();
    EXPECT_LE(file->size().value(), bytes);
    taken += file->allocated_bytes().value();
  }
  EXPECT_LE(taken, made->bytes);
  for (const char* path : {"/checkpoint", "/restored", "/streamed"}) expect_copy(path, expected);
  if (!GetParam()) return;
  const Encryption wrong = {
      .key = [](std::string_view) -> Result<SecretKey> { return key_of_id("another"); },
      .key_id = ""};
  EXPECT_TRUE(repository->verify(made->id, {.encryption = wrong}).is(StatusCode::kInvalidArgument));
  EXPECT_TRUE(repository->restore(made->id, "/not", {.encryption = wrong})
                  .is(StatusCode::kInvalidArgument));
  EXPECT_FALSE(disk_.exists("/not").value());
}

TEST_P(BackupDevices, of_an_empty_database) {
  ASSERT_OK(db_->checkpoint("/copy"));
  expect_copy("/copy", {});
}

TEST_P(BackupDevices, each_of_a_chain_restores) {
  const auto repository = this->repository();
  std::map<uint64_t, Contents> backups;
  fill();
  Prng prng(3);
  uint64_t first_bytes = 0;
  for (int round = 0; round < 5; ++round) {
    const Result<BackupInfo> made = db_->backup(*repository, {.full = round == 3});
    ASSERT_OK(made.status());
    backups[made->id] = expected_;
    EXPECT_EQ(made->incremental, round != 0 && round != 3);
    if (round == 0) first_bytes = made->bytes_stored;
    if (made->incremental) {
      EXPECT_LT(made->bytes_stored, first_bytes / 2);
    }
    const uint64_t from = prng.below(19'000);
    put_all(numbered(from, 200, 100 + prng.below(500)));
    put_all({{"large" + big_endian(prng.below(60)), value_of(prng.next(), 150'000)}});
    ASSERT_OK(db_->del(tree_, big_endian(from + 300)));
    expected_.erase(big_endian(from + 300));
    if (round % 2 == 0) ASSERT_OK(db_->flush());
  }
  // With what another life has on the devices.
  ASSERT_OK(db_->close());
  open_source();
  const Result<BackupInfo> last = db_->backup(*repository);
  ASSERT_OK(last.status());
  EXPECT_TRUE(last->incremental);
  backups[last->id] = expected_;
  const auto restore_all = [&](const std::string& prefix) {
    for (const auto& [id, contents] : backups) {
      SCOPED_TRACE(id);
      ASSERT_OK(repository->verify(id));
      const std::string target = prefix + std::to_string(id);
      ASSERT_OK(repository->restore(id, target));
      const auto copy = open(target);
      ASSERT_NE(copy, nullptr);
      EXPECT_TRUE(same(read_all(*copy, copy->find_tree("t").value()), contents));
      ASSERT_TRUE(clean(*copy));
    }
  };
  restore_all("/restored");
  for (const uint64_t id : {1, 3}) {
    ASSERT_OK(repository->remove(id));
    backups.erase(id);
  }
  restore_all("/again");
}

TEST_P(BackupDevices, damage_is_found) {
  fill();
  const auto repository = this->repository();
  const uint64_t id = db_->backup(*repository).value().id;
  StringStream stream;
  ASSERT_OK(db_->backup_to(stream).status());
  const uint64_t size =
      disk_.open_file("/repo/parts.1", {.read_only = true}).value()->size().value();
  Prng prng(4);
  for (int i = 0; i < 20; ++i) {
    const uint64_t offset = prng.below(size);
    ASSERT_TRUE(disk_.flip_bit("/repo/parts.1", offset, 2));
    const Status status = repository->verify(id);
    EXPECT_TRUE(status.is(StatusCode::kCorruption)) << offset;
    EXPECT_NE(status.message().find("parts.1 at "), std::string_view::npos) << status.message();
    ASSERT_TRUE(disk_.flip_bit("/repo/parts.1", offset, 2));
    char& byte = stream.bytes[prng.below(stream.bytes.size())];
    byte = static_cast<char>(byte ^ 8);
    stream.rewind();
    EXPECT_TRUE(verify_backup(stream).status().is(StatusCode::kCorruption));
    byte = static_cast<char>(byte ^ 8);
  }
  EXPECT_OK(repository->verify(id));
  stream.rewind();
  EXPECT_OK(verify_backup(stream).status());
  // In the copy itself check finds what is damaged, in an image as on a device.
  ASSERT_OK(repository->restore(id, "/copy"));
  const std::string image = bytes_of("/copy/device.0");
  uint64_t used = 0;
  for (uint64_t at = 2 * kMB; used == 0; at += 4096) {
    ASSERT_LT(at, image.size());
    if (image.find_first_not_of('\0', at) < at + 4096) used = image.find_first_not_of('\0', at);
  }
  ASSERT_TRUE(disk_.flip_bit("/copy/device.0", used, 1));
  const auto copy = open("/copy");
  ASSERT_NE(copy, nullptr);
  const Result<CheckReport> report = copy->check();
  ASSERT_OK(report.status());
  EXPECT_FALSE(report->ok());
}

TEST_P(BackupDevices, images_go_back_onto_devices) {
  fill();
  ASSERT_OK(db_->checkpoint("/copy"));
  const Contents expected = expected_;
  // One is as large as it was and has old data, one is larger.
  make("/first", kOne);
  make("/second", kTwo + 8 * kMB);
  ASSERT_OK(disk_.open_file("/first", {}).value()->write_at(0, std::string(kOne, '\xdd')));
  write_image("/copy/device.0", "/first");
  write_image("/copy/device.1", "/second");
  {
    const auto db = open("/copy", {"/second", "/first"});
    ASSERT_NE(db, nullptr);
    EXPECT_TRUE(same(read_all(*db, db->find_tree("t").value()), expected));
    ASSERT_TRUE(clean(*db));
    EXPECT_EQ(db->stats().disk_bytes_allocated, kOne + kTwo + 8 * kMB);
    for (uint64_t i = 0; i < 30; ++i) {
      ASSERT_OK(db->put(db->tree("own").value(), big_endian(i), value_of(i, 100'000)));
    }
    ASSERT_OK(db->flush());
    ASSERT_OK(db->close());
  }
  // The images are of an earlier time now, and nothing needs them.
  const Status old =
      Db::open_on(machine_.machine(), "/copy", options({"/copy/device.0", "/copy/device.1"}, false))
          .status();
  EXPECT_TRUE(old.is(StatusCode::kCorruption)) << old.to_string();
  EXPECT_NE(old.message().find("of an earlier time"), std::string_view::npos) << old.message();
  ASSERT_OK(disk_.remove("/copy/device.0"));
  ASSERT_OK(disk_.remove("/copy/device.1"));
  const auto db = open("/copy");
  ASSERT_NE(db, nullptr);
  EXPECT_TRUE(same(read_all(*db, db->find_tree("t").value()), expected));
  ASSERT_TRUE(clean(*db));
}

TEST_P(BackupDevices, images_may_grow_and_be_copied_again_and_repaired) {
  fill();
  ASSERT_OK(db_->checkpoint("/copy"));
  const Contents expected = expected_;
  ASSERT_OK(disk_.open_file("/copy/device.0", {}).value()->truncate(96 * kMB));
  {
    const auto copy = open("/copy");
    ASSERT_NE(copy, nullptr);
    const Tree tree = copy->tree("own").value();
    for (uint64_t i = 0; i < 500; ++i) {
      ASSERT_OK(copy->put(tree, big_endian(i), value_of(i, 120'000)));
    }
    EXPECT_TRUE(same(read_all(*copy, copy->find_tree("t").value()), expected));
    ASSERT_TRUE(clean(*copy));
    ASSERT_OK(copy->checkpoint("/copy2"));
    // Blank ones are added as to any; the images stay named by themselves.
    ASSERT_OK(copy->close());
  }
  make("/more", 16 * kMB);
  ASSERT_OK(open("/copy", {"/copy/device.0", "/more", "/copy/device.1"})->close());
  const auto again = open("/copy");
  ASSERT_NE(again, nullptr);
  EXPECT_TRUE(same(read_all(*again, again->find_tree("t").value()), expected));
  ASSERT_OK(again->close());
  const auto second = open("/copy2");
  ASSERT_NE(second, nullptr);
  EXPECT_TRUE(same(read_all(*second, second->find_tree("t").value()), expected));
  EXPECT_EQ(second->count(second->find_tree("own").value(), "", std::nullopt).value(), 500u);
  ASSERT_OK(second->close());
  RepairOptions repair;
  repair.database = options();
  const auto report = Db::repair_on(machine_.machine(), "/copy", "/fixed", repair);
  ASSERT_OK(report.status());
  EXPECT_TRUE(report->ok()) << report->open_error;
  const auto fixed = open("/fixed");
  ASSERT_NE(fixed, nullptr);
  EXPECT_TRUE(same(read_all(*fixed, fixed->find_tree("t").value()), expected));
}

// As on a full disk; the copy has as little room as its source.
TEST_P(BackupDevices, of_full_devices) {
  for (uint64_t i = 0;; ++i) {
    const std::string key = big_endian(mix64(i));
    const std::string value = value_of(i, i % 50 == 0 ? 100'000 : 900);
    const Status status = db_->put(tree_, key, value);
    if (!status.ok()) {
      ASSERT_TRUE(status.is(StatusCode::kNoSpace)) << status.to_string();
      break;
    }
    expected_[key] = value;
  }
  ASSERT_OK(db_->checkpoint("/copy"));
  const auto repository = this->repository();
  ASSERT_OK(db_->backup(*repository).status());
  ASSERT_OK(repository->restore(1, "/restored"));
  for (const std::string path : {"/copy", "/restored"}) {
    const auto copy = open(path);
    ASSERT_NE(copy, nullptr);
    const Tree tree = copy->find_tree("t").value();
    EXPECT_TRUE(same(read_all(*copy, tree), expected_));
    ASSERT_TRUE(clean(*copy));
    for (const auto& [key, value] : expected_) ASSERT_OK(copy->del(tree, key));
    for (const auto& [key, value] : numbered(0, 5000, 900)) ASSERT_OK(copy->put(tree, key, value));
    EXPECT_TRUE(same(read_all(*copy, tree), numbered(0, 5000, 900)));
    ASSERT_TRUE(clean(*copy));
  }
  // The devices go on as before.
  for (const auto& [key, value] : expected_) ASSERT_OK(db_->del(tree_, key));
  EXPECT_TRUE(read_all(*db_, tree_).empty());
}

#if defined(HAWTHORN_TEST_POINTS)
TEST_P(BackupDevices, writers_win_full_devices) {
  put_all(numbered(0, 30'000, 900));
  ASSERT_OK(db_->flush());
  bool wrote = false;
  os::set_test_point("copy.log_copied", [&] {
    if (std::exchange(wrote, true)) return;
    for (uint64_t i = 1; i < 8; ++i) {
      put_all(numbered(0, 30'000, 900 + i));
      ASSERT_OK(db_->flush());
    }
  });
  const Status status = db_->checkpoint("/copy");
  os::clear_test_points();
  EXPECT_TRUE(wrote);
  EXPECT_TRUE(status.is(StatusCode::kNoSpace)) << status.to_string();
  EXPECT_NE(status.message().find("given to writers"), std::string_view::npos)
      << status.to_string();
  EXPECT_TRUE(same(read_all(*db_, tree_), expected_));
  ASSERT_OK(db_->checkpoint("/copy"));
  expect_copy("/copy", expected_);
}

TEST_P(BackupDevices, flushes_between_the_parts_do_not_disturb_a_copy) {
  fill();
  const Contents expected = expected_;
  uint64_t round = 0;
  os::set_test_point("copy.part_read", [&] {
    if (++round > 12) return;
    put_all(numbered(0, 600, 200 + round));
    ASSERT_OK(db_->flush());
  });
  const Status status = db_->checkpoint("/copy");
  os::clear_test_points();
  ASSERT_OK(status);
  EXPECT_GT(round, 4u);
  expect_copy("/copy", expected);
}
#endif

// Real files: a copy may be moved, nobody's path is in it, and destroy takes the images away.
TEST_P(BackupDevices, a_copy_may_be_moved_and_destroyed) {
  const TempDirectory directory;
  const std::string devices[] = {directory / "a", directory / "b"};
  for (const std::string& device : devices) {
    std::ofstream(device).close();
    ASSERT_EQ(truncate(device.c_str(), 32 * kMB), 0);
  }
  Contents expected = numbered(0, 5000, 500);
  expected["large"] = value_of(1, 200'000);
  {
    const auto db = Db::open(directory / "db", options({devices[0], devices[1]})).value();
    const Tree tree = db->tree("t").value();
    for (const auto& [key, value] : expected) ASSERT_OK(db->put(tree, key, value));
    ASSERT_OK(db->flush());
    ASSERT_OK(db->checkpoint(directory / "copy"));
  }
  std::filesystem::rename(directory / "db", directory / "db.gone");
  for (const std::string& device : devices) std::filesystem::remove(device);
  const auto read = [&](const std::string& path, bool read_only) {
    Options reading = options({}, false);
    reading.read_only = read_only;
    auto db = Db::open(path, reading);
    ASSERT_OK(db.status());
    EXPECT_TRUE(same(read_all(**db, (*db)->find_tree("t").value()), expected));
    ASSERT_TRUE(clean(**db));
  };
  std::string path = directory / "copy";
  for (int move = 0; move < 3; ++move) {
    read(path, true);
    read(path, false);
    const std::string to = directory / ("moved" + std::to_string(move));
    std::filesystem::rename(path, to);
    path = to;
  }
  // As one that was cut short leaves it: there is a manifest, and an image is gone.
  std::filesystem::remove(path + "/device.0");
  ASSERT_OK(Db::destroy(path, options().encryption));
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_P(BackupDevices, block_devices_are_copied_and_restored) {
  const LoopDevice one(64 * kMB);
  const LoopDevice two(48 * kMB);
  const LoopDevice third(64 * kMB);
  const LoopDevice fourth(48 * kMB);
  for (const LoopDevice* device : {&one, &two, &third, &fourth}) {
    if (!device->made()) GTEST_SKIP() << "needs root and loop devices (losetup)";
  }
  const TempDirectory directory;
  const auto db = Db::open(directory / "db", options({one.path(), two.path()})).value();
  const Tree tree = db->tree("t").value();
  Contents expected = numbered(0, 30'000, 600);
  for (uint64_t i = 0; i < 300; ++i) expected["large" + big_endian(i)] = value_of(i, 120'000);
  for (const auto& [key, value] : expected) ASSERT_OK(db->put(tree, key, value));
  ASSERT_OK(db->flush());
  const auto repository = BackupRepository::open(directory / "repo").value();
  ASSERT_OK(db->backup(*repository).status());
  ASSERT_OK(db->put(tree, "more", "1"));
  expected["more"] = "1";
  const BackupInfo made = db->backup(*repository).value();
  EXPECT_TRUE(made.incremental);
  ASSERT_OK(db->checkpoint(directory / "copy"));
  ASSERT_OK(repository->restore(made.id, directory / "restored"));
  for (const char* name : {"copy", "restored"}) {
    auto copy = Db::open(directory / name, options({}, false));
    ASSERT_OK(copy.status());
    EXPECT_TRUE(same(read_all(**copy, (*copy)->find_tree("t").value()), expected));
    ASSERT_TRUE(clean(**copy));
  }
  for (const auto& [image, device] :
       {std::pair{"/device.0", &third}, std::pair{"/device.1", &fourth}}) {
    ASSERT_TRUE(run_command("dd bs=1M conv=fsync if=" + (directory / "restored") + image +
                            " of=" + device->path()));
  }
  for (const auto& devices : {std::vector{fourth.path(), third.path()}, {}}) {
    auto back = Db::open(directory / "restored", options(devices, false));
    ASSERT_OK(back.status());
    EXPECT_TRUE(same(read_all(**back, (*back)->find_tree("t").value()), expected));
    ASSERT_TRUE(clean(**back));
    ASSERT_OK((*back)->close());
    for (const char* image : {"restored/device.0", "restored/device.1"}) {
      std::filesystem::remove(directory / image);
    }
  }
  ASSERT_OK(Db::destroy(directory / "restored", options().encryption));
}

#if defined(HAWTHORN_COMMAND)
TEST_P(BackupDevices, by_the_command) {
  db_.reset();
  db::log_segment_bytes = 64 * kMB;  // the command's
  const TempDirectory directory;
  const std::string device = directory / "device";
  std::ofstream(device).close();
  ASSERT_EQ(truncate(device.c_str(), 32 * kMB), 0);
  std::string key;
  if (GetParam()) {
    std::ofstream(directory / "key") << key_of_id("first").bytes();
    key = " --key-file " + (directory / "key");
  }
  const Contents expected = numbered(0, 3000, 500);
  {
    const auto db = Db::open(directory / "db", options({device})).value();
    const Tree tree = db->tree("t").value();
    for (const auto& [k, v] : expected) ASSERT_OK(db->put(tree, k, v));
    ASSERT_OK(db->close());
  }
  const auto hawthorn = [&](const std::string& arguments) {
    return run_command("cd " + directory.path() + " && " HAWTHORN_COMMAND " " + arguments);
  };
  EXPECT_TRUE(hawthorn("checkpoint db copy" + key));
  EXPECT_TRUE(hawthorn("backup db repo" + key));
  EXPECT_TRUE(hawthorn("backup db repo" + key));
  EXPECT_TRUE(hawthorn("backup db -" + key + " > stream"));
  EXPECT_TRUE(hawthorn("verify repo" + key));
  EXPECT_TRUE(hawthorn("verify - < stream"));
  EXPECT_TRUE(hawthorn("restore repo restored" + key));
  EXPECT_TRUE(hawthorn("restore repo first --id 1"));
  EXPECT_TRUE(hawthorn("restore - streamed < stream"));
  std::filesystem::remove(device);
  for (const char* name : {"copy", "restored", "first", "streamed"}) {
    SCOPED_TRACE(name);
    EXPECT_TRUE(hawthorn("check " + std::string(name) + key));
    const auto db = Db::open(directory / name, options({}, false));
    ASSERT_OK(db.status());
    EXPECT_TRUE(same(read_all(**db, (*db)->find_tree("t").value()), expected));
  }
}
#endif

INSTANTIATE_TEST_SUITE_P(PlainAndEncrypted, BackupDevices, ::testing::Bool());

}  // namespace
}  // namespace hawthorn::tests
