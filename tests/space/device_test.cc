// Databases whose data lie on devices: plain files stand in for them, and one test uses real block
// devices (loop devices, where the tests may make some).
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <map>

#include "base/sanitizers.h"
#include "db/log_sizing.h"
#include "testing/sim_machine.h"
#include "tests/support/engine_test.h"
#include "tests/support/loop_device.h"

namespace hawthorn::tests {
namespace {

using testing::CrashKind;
using testing::SimDisk;
using testing::SimMachine;
using testing::SimOp;

using Contents = std::map<std::string, std::string>;

constexpr uint64_t kMB = uint64_t{1} << 20;

Options options_of(std::vector<std::string> devices) {
  Options options;
  options.memory_budget_bytes = 16 * kMB;
  options.durability = Durability::kNone;
  options.devices = std::move(devices);
  return options;
}

std::string key_at(uint64_t number) { return big_endian(mix64(number)); }

Contents read_all(Db& db) {
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

void expect_refused(const Status& status, StatusCode code, const std::string& part) {
  EXPECT_TRUE(status.is(code)) << status.to_string();
  EXPECT_NE(status.message().find(part), std::string_view::npos) << status.to_string();
}

class Device : public ::testing::Test {
 protected:
  void SetUp() override { db::log_segment_bytes = 4 * kMB; }
  static void make(SimDisk& disk, const std::string& path, uint64_t bytes) {
    auto file = disk.open_file(path, {.create = true});
    ASSERT_OK(file.status());
    ASSERT_OK((*file)->truncate(bytes));
    ASSERT_OK((*file)->sync_data());
    ASSERT_OK(disk.sync_directory("/"));
  }
};

TEST_F(Device, written_closed_and_opened) {
  SimDisk disk(1);
  make(disk, "/one", 24 * kMB);
  make(disk, "/two", 32 * kMB);
  make(disk, "/three", 32 * kMB);
  SimMachine machine(disk, 1);
  Contents sure;
  for (int life = 0; life < 6; ++life) {
    SCOPED_TRACE("life " + std::to_string(life));
    std::vector<std::string> devices{"/one", "/two"};
    if (life % 3 == 1) devices = {"/two", "/one"};
    if (life % 3 == 2) devices = {};
    if (life >= 4) devices = {"/three", "/two", "/one"};  // one is added
    auto db = Db::open_on(machine.machine(), "/db", options_of(devices));
    ASSERT_OK(db.status());
    const Tree tree = (*db)->tree("t").value();
    EXPECT_TRUE(read_all(**db) == sure);
    for (uint64_t i = 0; i < 3000; ++i) {
      const std::string key = key_at(i * 7 + static_cast<uint64_t>(life));
      const size_t size = i % 500 == 3 ? 100'000 : 700;
      sure[key] = value_of(i, size);
      ASSERT_OK((*db)->put(tree, key, sure[key]));
    }
    ASSERT_OK((*db)->flush());
    EXPECT_TRUE(read_all(**db) == sure);
    ASSERT_TRUE(clean(**db));
    EXPECT_EQ((*db)->stats().disk_bytes_allocated, (life >= 4 ? 88 : 56) * kMB);
    if (life % 2 == 0) {
      ASSERT_OK((*db)->close());
      // While the closed object is still there.
      auto again = Db::open_on(machine.machine(), "/db", options_of({}));
      ASSERT_OK(again.status());
      EXPECT_TRUE(read_all(**again) == sure);
    }
  }
  const std::vector<std::string> names = disk.list("/db").value();
  for (const std::string& name : names) {
    EXPECT_FALSE(name.starts_with("data.")) << name;
  }
  Options reader = options_of({});
  reader.read_only = true;
  auto db = Db::open_on(machine.machine(), "/db", reader);
  ASSERT_OK(db.status());
  EXPECT_TRUE(read_all(**db) == sure);
}

TEST_F(Device, what_is_refused) {
  SimDisk disk(1);
  for (const char* path : {"/one", "/two", "/three", "/blank"}) make(disk, path, 24 * kMB);
  SimMachine machine(disk, 1);
  const auto open = [&](const std::string& path, std::vector<std::string> devices) {
    return Db::open_on(machine.machine(), path, options_of(std::move(devices))).status();
  };
  ASSERT_OK(open("/files", {}));
  expect_refused(open("/files", {"/one"}), StatusCode::kInvalidArgument, "data in files");
  ASSERT_OK(open("/db", {"/one", "/two"}));
  expect_refused(open("/db", {"/one"}), StatusCode::kInvalidArgument, "device 1, last at /two");
  expect_refused(open("/db", {"/one", "/blank"}), StatusCode::kInvalidArgument,
                 "device 1, last at /two");
  expect_refused(open("/other", {"/two"}), StatusCode::kInvalidArgument, "another database");
  // One of another database in the place of one of its own, with the same number and size.
  ASSERT_OK(open("/third", {"/three"}));
  expect_refused(open("/db", {"/three", "/two"}), StatusCode::kInvalidArgument, "another database");
  expect_refused(open("/db", {"/none", "/two"}), StatusCode::kInvalidArgument, "/none");
  ASSERT_OK(disk.rename("/two", "/gone"));
  expect_refused(open("/db", {}), StatusCode::kInvalidArgument, "/two: no such device");
  ASSERT_OK(open("/db", {"/gone", "/one"}));
  ASSERT_OK(open("/db", {}));
  // A refused open has left the directory of a database that there is none of as it was.
  EXPECT_TRUE(open("/other", {}).ok());
}

// A byte where other formats have their signatures, or their copies of them at the end.
TEST_F(Device, with_something_on_it_is_refused) {
  for (const uint64_t at : {uint64_t{0}, kMB - 1, 24 * kMB - (uint64_t{64} << 10), 24 * kMB - 1}) {
    SCOPED_TRACE("at byte " + std::to_string(at));
    SimDisk disk(1);
    make(disk, "/used", 24 * kMB);
    ASSERT_TRUE(disk.flip_bit("/used", at, 0));
    SimMachine machine(disk, 1);
    expect_refused(Db::open_on(machine.machine(), "/db", options_of({"/used"})).status(),
                   StatusCode::kInvalidArgument, "byte " + std::to_string(at) + " is not zero");
    char found = 0;
    ASSERT_OK(disk.open_file("/used", {}).value()->read_at(at, {&found, 1}));
    EXPECT_EQ(found, 1);
  }
}

// As on a full disk: puts are refused, deletes are not, and make room.
TEST_F(Device, full) {
  for (const size_t size : {size_t{900}, size_t{100'000}}) {
    SCOPED_TRACE("values of " + std::to_string(size));
    SimDisk disk(1);
    make(disk, "/one", 20 * kMB);
    make(disk, "/two", 16 * kMB);
    SimMachine machine(disk, 1);
    auto db = Db::open_on(machine.machine(), "/db", options_of({"/one", "/two"}));
    ASSERT_OK(db.status());
    const Tree tree = (*db)->tree("t").value();
    Contents sure;
    uint64_t next = 0;
    const auto fill = [&] {
      uint64_t count = 0;
      for (;; ++next, ++count) {
        const Status status = (*db)->put(tree, key_at(next), value_of(next, size));
        if (!status.ok()) {
          expect_refused(status, StatusCode::kNoSpace, "/one, /two");
          return count;
        }
        sure[key_at(next)] = value_of(next, size);
      }
    };
    const uint64_t full = fill();
    EXPECT_GT(full * (size + 30), 14 * kMB);
    EXPECT_TRUE(read_all(**db) == sure);
    for (auto at = sure.begin(); at != sure.end(); at = sure.erase(at)) {
      ASSERT_OK((*db)->del(tree, at->first));
    }
    EXPECT_GT(fill(), full / 2);
    EXPECT_TRUE(read_all(**db) == sure);
    ASSERT_TRUE(clean(**db));
  }
}

// At any operation of the disk, creation included.
TEST_F(Device, killed_at_any_operation) {
  const uint64_t lives = scaled(80);
  for (const CrashKind kind :
       {CrashKind::kProcessKill, CrashKind::kPowerLoss, CrashKind::kPowerLossDrop}) {
    Prng prng(5);
    auto disk = std::make_unique<SimDisk>(5);
    make(*disk, "/one", 24 * kMB);
    make(*disk, "/two", 24 * kMB);
    Contents sure;
    bool created = false;
    for (uint64_t life = 0; life < lives; ++life) {
      SCOPED_TRACE("life " + std::to_string(life));
      const std::vector<std::string> devices{"/one", "/two"};
      {
        SimMachine machine(*disk, life);
        const bool early = life < lives / 2;
        if (early) disk->stop_at(SimOp::kAny, prng.between(1, 90));
        auto db = Db::open_on(machine.machine(), "/db", options_of(devices));
        ASSERT_TRUE(db.ok() || disk->stopped()) << db.status().to_string();
        if (db.ok() && !disk->stopped()) {
          Result<Tree> tree = (*db)->tree("t");
          if (tree.ok() && !disk->stopped()) {
            created = true;
            if (early) disk->clear_faults();
            ASSERT_TRUE(read_all(**db) == sure);
            ASSERT_TRUE(clean(**db));
            for (uint64_t i = 0; i < 500; ++i) {
              const std::string key = key_at(prng.below(4000));
              if (prng.one_in(4)) {
                sure.erase(key);
                ASSERT_OK((*db)->del(*tree, key));
              } else {
                sure[key] = value_of(prng.next(), random_size(prng, true));
                ASSERT_OK((*db)->put(*tree, key, sure[key]));
              }
            }
            ASSERT_OK((*db)->sync());
            disk->stop_at(SimOp::kAny, prng.between(1, 200));
            static_cast<void>((*db)->flush().ok());
            if (prng.one_in(2)) static_cast<void>((*db)->close().ok());
          }
        }
      }
      disk = disk->crash(prng.next(), kind);
    }
    EXPECT_TRUE(created);
  }
}

// Puts number after number until it is killed; each value follows from its number.
[[noreturn]] void write_for_ever(const std::string& path, const std::vector<std::string>& devices,
                                 int told) {
  auto db = Db::open(path, options_of(devices));
  if (!db.ok()) _exit(2);
  Result<Tree> tree = (*db)->tree("t");
  if (!tree.ok()) _exit(3);
  uint64_t number = read_all(**db).size();
  for (;; ++number) {
    // Overwrites go on among the keys that are there, so that extents are used again.
    if (!(*db)->put(*tree, big_endian(number), value_of(number, 2000)).ok()) _exit(4);
    const uint64_t other = mix64(number) % (number + 1);
    if (!(*db)->put(*tree, big_endian(other), value_of(other, 2000)).ok()) _exit(5);
    if (write(told, &number, sizeof(number)) != sizeof(number)) _exit(6);
    if (number % 3000 == 2999 && !(*db)->flush().ok()) _exit(7);
  }
}

// What the killed one has left; in a process of its own, since one that has opened a database
// cannot be forked.
void check_numbers(const std::string& path, const std::vector<std::string>& devices,
                   uint64_t acknowledged, bool closes) {
  auto db = Db::open(path, options_of(devices));
  ASSERT_OK(db.status());
  const Contents found = read_all(**db);
  ASSERT_GE(found.size(), acknowledged);
  uint64_t expected = 0;
  for (const auto& [key, value] : found) {
    ASSERT_EQ(key, big_endian(expected));
    ASSERT_EQ(value, value_of(expected, 2000));
    ++expected;
  }
  ASSERT_TRUE(clean(**db));
  for (const std::string& device : devices) {
    EXPECT_LT(::open(device.c_str(), O_RDWR | O_EXCL | O_CLOEXEC), 0);
  }
  if (closes) ASSERT_OK((*db)->close());
}

// Everything is deleted, and the devices serve another database.
void delete_numbers(const std::string& path, const std::vector<std::string>& devices,
                    uint64_t count) {
  {
    auto db = Db::open(path, options_of(devices));
    ASSERT_OK(db.status());
    const Tree tree = (*db)->find_tree("t").value();
    for (uint64_t i = 0; i < count; ++i) ASSERT_OK((*db)->del(tree, big_endian(i)));
    ASSERT_OK((*db)->flush());
    EXPECT_TRUE(read_all(**db).empty());
    ASSERT_TRUE(clean(**db));
    ASSERT_OK((*db)->close());
  }
  expect_refused(Db::open(path + ".other", options_of({devices.front()})).status(),
                 StatusCode::kInvalidArgument, "another database");
  ASSERT_OK(Db::destroy(path));
  ASSERT_OK(Db::open(path + ".other", options_of({devices.front()})).status());
}

template <typename Body>
bool in_a_child(Body body) {
  const pid_t child = fork();
  if (child == 0) {
    body();
    _exit(::testing::Test::HasFailure() ? 1 : 0);
  }
  int result = 0;
  return child > 0 && waitpid(child, &result, 0) == child && WIFEXITED(result) &&
         WEXITSTATUS(result) == 0;
}

TEST_F(Device, block_devices_through_kills) {
#if defined(HAWTHORN_TSAN)
  GTEST_SKIP() << "ThreadSanitizer cannot start threads in a forked child";
#endif
  const LoopDevice one(64 * kMB);
  const LoopDevice two(48 * kMB);
  if (!one.made() || !two.made()) GTEST_SKIP() << "needs root and loop devices (losetup)";
  const TempDirectory directory;
  const std::string path = directory / "db";
  const std::vector<std::string> devices{one.path(), two.path()};
  uint64_t acknowledged = 0;
  for (int life = 0; life < 5; ++life) {
    SCOPED_TRACE("life " + std::to_string(life));
    int pipe_ends[2];
    ASSERT_EQ(pipe(pipe_ends), 0);
    const pid_t child = fork();
    if (child == 0) write_for_ever(path, devices, pipe_ends[1]);
    ASSERT_GT(child, 0);
    close(pipe_ends[1]);
    uint64_t number = 0;
    const auto told = [&] {
      const bool more = read(pipe_ends[0], &number, sizeof(number)) == sizeof(number);
      if (more) acknowledged = number + 1;
      return more;
    };
    for (int i = 0; i < 4000 && told(); ++i) {
    }
    ASSERT_EQ(kill(child, SIGKILL), 0);
    while (told()) {
    }
    close(pipe_ends[0]);
    int result = 0;
    ASSERT_EQ(waitpid(child, &result, 0), child);
    ASSERT_TRUE(WIFSIGNALED(result)) << "the child ended with " << WEXITSTATUS(result);
    ASSERT_TRUE(in_a_child([&] {
      check_numbers(path, life % 2 == 0 ? devices : std::vector<std::string>(), acknowledged,
                    life % 2 == 1);
    }));
  }
  EXPECT_GT(acknowledged, 5000u);
  EXPECT_TRUE(in_a_child([&] { delete_numbers(path, devices, acknowledged + 10); }));
}

TEST_F(Device, block_devices_that_are_refused) {
  const LoopDevice read_only(32 * kMB, true);
  const LoopDevice formatted(32 * kMB);
  if (!read_only.made() || !formatted.made()) {
    GTEST_SKIP() << "needs root and loop devices (losetup)";
  }
  const TempDirectory directory;
  const auto open = [&](const std::string& path) {
    return Db::open(directory / "db", options_of({path})).status();
  };
  expect_refused(open(read_only.path()), StatusCode::kReadOnly, read_only.path());
  expect_refused(open("/dev/null"), StatusCode::kInvalidArgument, "neither a block device");
  if (!run_command("mkfs.ext4 -q -F " + formatted.path())) GTEST_SKIP() << "needs mkfs.ext4";
  expect_refused(open(formatted.path()), StatusCode::kInvalidArgument, "ext4 file system");
  const std::string mounted = directory / "mounted";
  ASSERT_TRUE(run_command("mkdir " + mounted));
  if (run_command("mount " + formatted.path() + " " + mounted)) {
    expect_refused(open(formatted.path()), StatusCode::kBusy, formatted.path());
    EXPECT_TRUE(run_command("umount " + mounted));
  }
}

// On the real file system, plain files as devices; destroy takes the labels off.
TEST_F(Device, destroyed) {
  const TempDirectory directory;
  const std::string device = directory / "device";
  std::ofstream(device).close();
  ASSERT_EQ(truncate(device.c_str(), 24 * kMB), 0);
  for (int round = 0; round < 2; ++round) {
    auto db = Db::open(directory / "db", options_of({device}));
    ASSERT_OK(db.status());
    const Tree tree = (*db)->tree("t").value();
    for (uint64_t i = 0; i < 5000; ++i) ASSERT_OK((*db)->put(tree, key_at(i), value_of(i, 400)));
    ASSERT_OK((*db)->flush());
    expect_refused(Db::open(directory / "other", options_of({device})).status(), StatusCode::kBusy,
                   device);
    db->reset();
    expect_refused(Db::open(directory / "other", options_of({device})).status(),
                   StatusCode::kInvalidArgument, "another database");
    ASSERT_EQ(rename(device.c_str(), (device + "2").c_str()), 0);
    expect_refused(Db::destroy(directory / "db"), StatusCode::kInvalidArgument, device);
    ASSERT_EQ(rename((device + "2").c_str(), device.c_str()), 0);
    ASSERT_OK(Db::destroy(directory / "db"));
  }
}

}  // namespace
}  // namespace hawthorn::tests
