// A full disk (R28; attack 41): inserts fail at admission, reads go on, deletes never fail, what
// they free takes inserts again without reopening, and nothing acknowledged is lost, killed or not.
// On the simulated disk, and on a small ext4 where the tests may mount one.
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <map>
#include <thread>

#include "db/log_sizing.h"
#include "os/epoch.h"
#include "testing/sim_machine.h"
#include "tests/support/engine_test.h"

namespace hawthorn::tests {
namespace {

using testing::CrashKind;
using testing::SimDisk;
using testing::SimMachine;
using testing::SimOp;

using Contents = std::map<std::string, std::string>;

constexpr uint64_t kMB = uint64_t{1} << 20;

Options options_of(size_t budget_bytes) {
  Options options;
  options.memory_budget_bytes = budget_bytes;
  options.durability = Durability::kNone;
  return options;
}

Contents read_all(Db& db) {
  Contents contents;
  Result<Tree> tree = db.find_tree("t");
  EXPECT_OK(tree.status());
  if (!tree.ok()) return contents;
  EXPECT_OK(db.scan(*tree, "", std::nullopt, [&](std::span<const Entry> entries) {
    for (const Entry& entry : entries) contents.emplace(entry.key, entry.value);
    return true;
  }));
  return contents;
}

// A database with what it must hold. Keys come in an order of their own, so that every container
// gets some of each batch.
struct Filled {
  Db* db;
  Tree tree;
  Contents sure;
  uint64_t next = 0;
  Durability durability = Durability::kNone;

  std::string key(uint64_t number) const { return big_endian(mix64(number)); }

  Status put(size_t size) {
    const std::string name = key(next);
    const std::string value = value_of(next, size);
    ++next;
    Status status = db->put(tree, name, value, durability);
    if (status.ok()) sure[name] = value;
    return status;
  }

  // Puts until the disk is full; returns how many there were.
  uint64_t fill(size_t size) {
    uint64_t count = 0;
    for (Status status; status.ok();) {
      status = put(size);
      if (status.ok()) {
        ++count;
        continue;
      }
      EXPECT_TRUE(status.is(StatusCode::kNoSpace)) << status.to_string();
      EXPECT_NE(status.message().find('/'), std::string_view::npos)
          << "names no file: " << status.to_string();
    }
    return count;
  }

  // In transactions of one to five, in all the ways that there are. The first error, if any.
  Status delete_some(uint64_t count) {
    for (uint64_t n = 0; count > 0 && !sure.empty(); ++n) {
      std::vector<std::string> keys;
      for (auto at = sure.begin(); at != sure.end() && keys.size() < 1 + n % 5 && count > 0;
           ++at, --count) {
        keys.push_back(at->first);
      }
      Status status;
      if (keys.size() == 1) {
        status = db->del(tree, keys[0], durability);
      } else if (n % 2 == 0) {
        WriteBatch batch;
        for (const std::string& name : keys) batch.del(tree, name);
        status = db->write(batch, durability);
      } else {
        Result<Transaction> txn =
            db->begin(n % 4 == 1 ? TxnMode::kOptimistic : TxnMode::kExclusive);
        if (!txn.ok()) return txn.status();
        for (const std::string& name : keys) {
          if (status = txn->del(tree, name); !status.ok()) return status;
        }
        status = txn->commit(durability);
      }
      if (!status.ok()) return status;
      for (const std::string& name : keys) sure.erase(name);
    }
    return {};
  }

  void expect_all() {
    const Contents found = read_all(*db);
    EXPECT_EQ(found.size(), sure.size());
    EXPECT_TRUE(found == sure);
  }
};

class FullDisk : public ::testing::Test {
 protected:
  void SetUp() override { db::log_segment_bytes = 4 * kMB; }

  static Result<std::unique_ptr<Db>> open(SimMachine& machine) {
    return Db::open_on(machine.machine(), "/db", options_of(16 * kMB));
  }
  static Filled filled(Db& db) {
    Result<Tree> tree = db.tree("t");
    EXPECT_OK(tree.status());
    return {.db = &db, .tree = *tree, .sure = {}};
  }
};

// Two of the six, or all of them with HAWTHORN_SCALE=4 (8 under a sanitizer).
TEST_F(FullDisk, deletes_go_on_and_make_room) {
  uint64_t turn = 0;
  for (const uint64_t room : {14 * kMB, 20 * kMB, 40 * kMB}) {
    for (const size_t size : {size_t{40}, size_t{1500}}) {
      SCOPED_TRACE(std::to_string(room) + " bytes, values of " + std::to_string(size));
      if (turn++ % 3 != 0 && !is_whole()) continue;
      SimDisk disk(room + size);
      SimMachine machine(disk, 1);
      auto db = open(machine);
      ASSERT_OK(db.status());
      Filled filled = this->filled(**db);
      disk.set_capacity(room);
      filled.fill(size);
      filled.expect_all();
      const uint64_t full = filled.sure.size();
      EXPECT_GT(full * size, size > 100 ? 2 * kMB : 200'000);
      // Half of it: the rest stays. Then all.
      ASSERT_OK(filled.delete_some(full / 2));
      filled.expect_all();
      EXPECT_GT(filled.fill(size), full / 8) << "what was deleted gave no space";
      ASSERT_OK(filled.delete_some(filled.sure.size()));
      filled.expect_all();
      EXPECT_GT(filled.fill(size), full / 2);
      filled.expect_all();
      ASSERT_TRUE(clean(**db));
      disk.set_capacity(0);
      ASSERT_OK((*db)->close());
      db = open(machine);
      ASSERT_OK(db.status());
      filled.db = db->get();
      filled.expect_all();
    }
  }
}

// The reserve (attack 41): with each put that was not refused, all that is unflushed has its space.
TEST_F(FullDisk, what_is_admitted_can_be_flushed) {
  SimDisk disk(2);
  SimMachine machine(disk, 1);
  auto db = open(machine);
  ASSERT_OK(db.status());
  Filled filled = this->filled(**db);
  disk.set_capacity(14 * kMB);
  Status status;
  for (uint64_t n = 0; status.ok(); ++n) {
    status = filled.put(1500);
    if (n % 100 == 0) ASSERT_OK((*db)->flush());
  }
  EXPECT_TRUE(status.is(StatusCode::kNoSpace)) << status.to_string();
  ASSERT_OK((*db)->flush());
  filled.expect_all();
}

// All the same where there are hundreds of containers, with many value extents each or with their
// values in their images, and what is free lies in small pieces.
TEST_F(FullDisk, what_is_admitted_can_be_flushed_to_small_pieces) {
  const uint64_t disks = scaled(4);
  for (uint64_t number = 0; number < disks; ++number) {
    const size_t size = number % 2 == 0 ? 1000 : 100;
    SCOPED_TRACE(std::to_string(number) + ", values of " + std::to_string(size));
    SimDisk disk(number);
    SimMachine machine(disk, 1);
    auto db = open(machine);
    ASSERT_OK(db.status());
    Filled filled = this->filled(**db);
    filled.next = number / 2 << 32;
    disk.set_capacity(size == 1000 ? 170 * kMB : 100 * kMB);
    EXPECT_GT(filled.fill(size) * size, size == 1000 ? 110 * kMB : 50 * kMB);
    ASSERT_OK((*db)->flush());
    filled.expect_all();
    ASSERT_OK(filled.delete_some(filled.sure.size() / 3));
    EXPECT_GT(filled.fill(size), filled.sure.size() / 8);
    ASSERT_OK((*db)->flush());
    filled.expect_all();
    ASSERT_OK((*db)->close());
  }
}

// Somebody else fills the disk at any moment, and stays.
TEST_F(FullDisk, filled_by_others) {
  for (const uint64_t puts : {0, 1, 100, 1500, 4000, 9000}) {
    SCOPED_TRACE(std::to_string(puts) + " puts before");
    SimDisk disk(puts);
    SimMachine machine(disk, 1);
    auto db = open(machine);
    ASSERT_OK(db.status());
    Filled filled = this->filled(**db);
    for (uint64_t i = 0; i < puts; ++i) ASSERT_OK(filled.put(600));
    disk.set_capacity(disk.used_bytes());
    filled.fill(600);
    filled.expect_all();
    const uint64_t full = filled.sure.size();
    ASSERT_OK(filled.delete_some(full));
    filled.expect_all();
    if (puts > 1000) {
      EXPECT_GT(filled.fill(600), full / 4);
    }
    filled.expect_all();
    ASSERT_TRUE(clean(**db));
  }
}

// Each durable delete takes a block of the log: it goes round many times in what it has.
TEST_F(FullDisk, the_log_goes_round) {
  SimDisk disk(1);
  SimMachine machine(disk, 1);
  auto db = open(machine);
  ASSERT_OK(db.status());
  Filled filled = this->filled(**db);
  ASSERT_OK(filled.put(100));
  disk.set_capacity(disk.used_bytes());
  filled.fill(100);
  filled.durability = Durability::kFull;
  for (uint64_t i = 0; i < 5000; ++i) {
    ASSERT_OK((*db)->del(filled.tree, "missing" + std::to_string(i % 50), Durability::kFull));
  }
  EXPECT_GT((*db)->stats().bytes_written_log, 16 * kMB);
  filled.expect_all();
  ASSERT_OK(filled.delete_some(filled.sure.size()));
  EXPECT_GT(filled.fill(100), 0u);
  filled.expect_all();
}

TEST_F(FullDisk, killed_and_opened) {
  for (const CrashKind kind : {CrashKind::kProcessKill, CrashKind::kPowerLossDrop}) {
    for (const uint64_t room : {14 * kMB, 30 * kMB}) {
      SCOPED_TRACE(std::to_string(room) + (kind == CrashKind::kProcessKill ? " killed" : " power"));
      auto disk = std::make_unique<SimDisk>(room);
      disk->set_capacity(room);
      Contents sure;
      uint64_t next = 0;
      for (uint64_t life = 0; life < 12; ++life) {
        SCOPED_TRACE("life " + std::to_string(life));
        {
          SimMachine machine(*disk, life);
          auto db = open(machine);
          ASSERT_OK(db.status());
          Filled filled = this->filled(**db);
          filled.sure = std::move(sure);
          filled.next = next;
          filled.durability =
              kind == CrashKind::kProcessKill ? Durability::kNone : Durability::kFull;
          filled.expect_all();
          if (life % 4 == 0) filled.fill(900);
          if (life % 4 == 1) {
            ASSERT_OK(filled.delete_some(filled.sure.size() / 3));
          }
          if (life % 4 == 2 && life > 4) {
            ASSERT_OK(filled.delete_some(filled.sure.size()));
            EXPECT_GT(filled.fill(900), 1000u);
          }
          filled.expect_all();
          ASSERT_TRUE(clean(**db));
          sure = std::move(filled.sure);
          next = filled.next;
        }
        disk = disk->crash(life + 1, kind);
      }
    }
  }
}

// What a close gave back others would have by now.
TEST_F(FullDisk, closed_and_filled_by_others) {
  for (const uint64_t left : {uint64_t{0}, kMB, 8 * kMB}) {
    SCOPED_TRACE(std::to_string(left) + " bytes left");
    SimDisk disk(left);
    disk.set_capacity(40 * kMB);
    SimMachine machine(disk, 1);
    auto db = open(machine);
    ASSERT_OK(db.status());
    Filled filled = this->filled(**db);
    filled.fill(600);
    for (int life = 0; life < 3; ++life) {
      disk.set_capacity(disk.used_bytes() + left);
      ASSERT_OK((*db)->close());
      disk.set_capacity(disk.used_bytes());
      db = open(machine);
      ASSERT_OK(db.status());
      filled.db = db->get();
      filled.tree = *(*db)->tree("t");
      filled.expect_all();
      filled.fill(600);
      const uint64_t full = filled.sure.size();
      ASSERT_OK(filled.delete_some(full / 2));
      ASSERT_OK((*db)->flush());
      EXPECT_GT(filled.fill(600), full / 8);
      filled.expect_all();
      ASSERT_TRUE(clean(**db));
    }
    ASSERT_OK(filled.delete_some(filled.sure.size()));
    ASSERT_OK((*db)->close());
    EXPECT_LE(disk.used_bytes(), 20 * kMB);
  }
}

// At any operation of the disk, in opening, filling, deleting and the log's rounds.
TEST_F(FullDisk, killed_at_any_operation) {
  db::log_segment_bytes = kMB;
  const uint64_t lives = scaled(150);
  for (const CrashKind kind : {CrashKind::kProcessKill, CrashKind::kPowerLoss}) {
    SCOPED_TRACE(kind == CrashKind::kProcessKill ? "killed" : "power loss");
    Prng prng(11);
    auto disk = std::make_unique<SimDisk>(11);
    disk->set_capacity(9 * kMB);
    Contents sure;
    Contents maybe;  // of the operation under way
    uint64_t next = 0;
    uint64_t refused = 0;
    for (uint64_t life = 0; life < lives; ++life) {
      SCOPED_TRACE("life " + std::to_string(life));
      {
        SimMachine machine(*disk, life);
        auto db = open(machine);
        ASSERT_OK(db.status());
        Filled filled = this->filled(**db);
        Contents found = read_all(**db);
        for (const auto& [key, value] : maybe) {
          if (found.contains(key)) {
            sure[key] = found[key];
          } else {
            sure.erase(key);
          }
        }
        ASSERT_TRUE(found == sure);
        ASSERT_TRUE(clean(**db));
        maybe.clear();
        filled.sure = std::move(sure);
        filled.next = next;
        filled.durability = kind == CrashKind::kProcessKill ? Durability::kNone : Durability::kFull;
        const uint64_t operations = prng.one_in(3) ? 30 : 600;
        disk->stop_at(SimOp::kAny, 1 + prng.below(refused == 0 ? 40'000 : operations));
        const bool fill = life % 3 != 2;
        for (int i = 0; i < 12'000 && !disk->stopped(); ++i) {
          const bool put = fill ? !prng.one_in(4) : prng.one_in(8);
          if (!put && filled.sure.empty()) continue;
          maybe.clear();
          Status status;
          if (put) {
            maybe[filled.key(filled.next)];
            status = filled.put(600);
            refused += status.is(StatusCode::kNoSpace) ? 1 : 0;
          } else {
            maybe[filled.sure.begin()->first];
            status = filled.delete_some(1);
            ASSERT_TRUE(status.ok() || disk->stopped()) << status.to_string();
          }
          ASSERT_TRUE(status.ok() || put || disk->stopped()) << status.to_string();
          // What is acknowledged after the disk has stopped comes from a process that is dead.
          if (!disk->stopped()) maybe.clear();
        }
        sure = std::move(filled.sure);
        next = filled.next;
        if (disk->stopped()) db->reset();
      }
      disk = disk->crash(prng.next(), kind);
      // Opening is cut short as well, now and then.
      if (prng.one_in(2)) {
        disk->stop_at(SimOp::kAny, 1 + prng.below(60));
        {
          SimMachine machine(*disk, life);
          static_cast<void>(open(machine).ok());
        }
        disk = disk->crash(prng.next(), kind);
      }
    }
    EXPECT_GT(refused, 2 * lives) << "the disk was hardly ever full";
  }
}

TEST_F(FullDisk, large_values_leave_the_reserve) {
  SimDisk disk(5);
  SimMachine machine(disk, 1);
  auto db = open(machine);
  ASSERT_OK(db.status());
  Filled filled = this->filled(**db);
  disk.set_capacity(40 * kMB);
  EXPECT_GT(filled.fill(300'000), 10u);
  filled.fill(1000);
  filled.expect_all();
  const uint64_t full = filled.sure.size();
  ASSERT_OK(filled.delete_some(full));
  EXPECT_GT(filled.fill(300'000), 10u);
  filled.expect_all();
  ASSERT_TRUE(clean(**db));
}

// A put in a transaction or batch that deletes as well is an insert.
TEST_F(FullDisk, mixed_batches_are_inserts) {
  SimDisk disk(5);
  SimMachine machine(disk, 1);
  auto db = open(machine);
  ASSERT_OK(db.status());
  Filled filled = this->filled(**db);
  disk.set_capacity(20 * kMB);
  filled.fill(1000);
  WriteBatch batch;
  batch.del(filled.tree, filled.sure.begin()->first);
  batch.put(filled.tree, "new", std::string(1000, 'v'));
  const Status status = (*db)->write(batch);
  EXPECT_TRUE(status.is(StatusCode::kNoSpace)) << status.to_string();
  filled.expect_all();
}

// Written before the rest of its batch is refused, a large value goes with it.
TEST_F(FullDisk, refused_batches_leave_no_large_values) {
  SimDisk disk(5);
  SimMachine machine(disk, 1);
  auto db = open(machine);
  ASSERT_OK(db.status());
  Filled filled = this->filled(**db);
  Result<Tree> dropped = (*db)->tree("dropped");
  ASSERT_OK(dropped.status());
  ASSERT_OK((*db)->drop_tree("dropped"));
  disk.set_capacity(40 * kMB);
  for (int round = 0; round < 100; ++round) {
    WriteBatch batch;
    if (round % 2 == 0) batch.put(filled.tree, "small", "value");
    batch.put(*dropped, "key", "value");
    batch.put(filled.tree, "large", value_of(1, kMB));
    const Status status = (*db)->write(batch);
    ASSERT_TRUE(status.is(StatusCode::kInvalidArgument)) << round << ": " << status.to_string();
  }
  // The second one of a batch finds no space.
  for (int round = 0; round < 20; ++round) {
    WriteBatch batch;
    for (int i = 0; i < 8; ++i) batch.put(filled.tree, std::to_string(i), value_of(1, 4 * kMB));
    const Status status = (*db)->write(batch);
    ASSERT_TRUE(status.is(StatusCode::kNoSpace)) << round << ": " << status.to_string();
    EXPECT_OK((*db)->put(filled.tree, "still", value_of(2, 4 * kMB)));
    ASSERT_OK((*db)->del(filled.tree, "still"));
    ASSERT_OK((*db)->flush());
  }
  filled.expect_all();
  ASSERT_TRUE(clean(**db));
}

// Trees are made until the manifest has no room for more; what there is takes deletes all the same.
TEST_F(FullDisk, new_trees_are_inserts) {
  SimDisk disk(5);
  SimMachine machine(disk, 1);
  auto db = open(machine);
  ASSERT_OK(db.status());
  Filled filled = this->filled(**db);
  for (int i = 0; i < 3000; ++i) ASSERT_OK(filled.put(1000));
  disk.set_capacity(disk.used_bytes());
  filled.fill(1000);
  const auto make = [&](int number) {
    return (*db)->tree(std::string(200, 'n') + std::to_string(number)).status();
  };
  Status status;
  int made = 0;
  for (; status.ok() && made < 20'000; ++made) status = make(made);
  EXPECT_TRUE(status.is(StatusCode::kNoSpace)) << made << ": " << status.to_string();
  filled.expect_all();
  ASSERT_OK(filled.delete_some(filled.sure.size()));
  filled.expect_all();
  ASSERT_OK((*db)->flush());
  for (int i = 0; i < made - 1; ++i) {
    ASSERT_OK((*db)->drop_tree(std::string(200, 'n') + std::to_string(i)));
  }
  EXPECT_OK(make(made));
  ASSERT_TRUE(clean(**db));
}

// Threads of its own flush and publish meanwhile.
TEST_F(FullDisk, with_background_threads) {
  SimDisk disk(7);
  SimMachine machine(disk, 1, true);
  auto db = open(machine);
  ASSERT_OK(db.status());
  Filled filled = this->filled(**db);
  disk.set_capacity(30 * kMB);
  for (int round = 0; round < 3; ++round) {
    EXPECT_GT(filled.fill(700), 1000u);
    filled.expect_all();
    ASSERT_OK(filled.delete_some(filled.sure.size()));
    filled.expect_all();
  }
  ASSERT_TRUE(clean(**db));
}

// Lets somebody go on when the engine has waited so often for what a reader holds.
class PatientClock : public testing::SimClock {
 public:
  void sleep_us(uint64_t us) override {
    if (us == 500 && ++waits_ == 50) {
      on_.store(true);
      on_.notify_all();
    }
    testing::SimClock::sleep_us(us);
  }
  std::atomic<bool> on_{false};

 private:
  int waits_ = 0;
};

// A thread that reads has lost the processor, for longer than any number of looks: an insert waits
// for it, and is not refused while what was deleted only has to be given back.
TEST_F(FullDisk, waits_for_readers_that_do_not_run) {
  SimDisk disk(8);
  SimMachine machine(disk, 1);
  PatientClock clock;
  os::Machine slow = machine.machine();
  slow.clock = &clock;
  auto db = Db::open_on(slow, "/db", options_of(16 * kMB));
  ASSERT_OK(db.status());
  Filled filled = this->filled(**db);
  disk.set_capacity(40 * kMB);
  const uint64_t full = filled.fill(1000);
  EXPECT_GT(full, 5000u);
  ASSERT_OK(filled.delete_some(filled.sure.size()));
  std::atomic<bool> reads{false};
  std::thread reader([&] {
    const os::epoch::Guard guard;
    reads.store(true);
    reads.notify_all();
    clock.on_.wait(false);
  });
  reads.wait(false);
  const uint64_t again = filled.fill(1000);
  clock.on_.store(true);
  clock.on_.notify_all();
  reader.join();
  EXPECT_GT(again, full / 2);
  filled.expect_all();
  ASSERT_TRUE(clean(**db));
}

// A file system of its own, on a loop device.
class SmallFileSystem {
 public:
  SmallFileSystem(const std::string& kind, uint64_t bytes) {
    const std::string image = directory_ / "image";
    path_ = directory_ / "mounted";
    mounted_ = geteuid() == 0 && run("truncate -s " + std::to_string(bytes) + " " + image) &&
               run("mkfs." + kind + (kind == "ext4" ? " -q -F " : " -q -f ") + image) &&
               run("mkdir " + path_) && run("mount -o loop " + image + " " + path_);
  }
  ~SmallFileSystem() {
    if (mounted_) run("umount " + path_);
  }
  SmallFileSystem(const SmallFileSystem&) = delete;
  SmallFileSystem& operator=(const SmallFileSystem&) = delete;
  bool mounted() const { return mounted_; }
  const std::string& path() const { return path_; }

 private:
  static bool run(const std::string& command) {
    return std::system((command + " >/dev/null 2>&1").c_str()) == 0;  // NOLINT(cert-env33-c)
  }
  TempDirectory directory_;
  std::string path_;
  bool mounted_ = false;
};

// As much as there is space for.
void fill_file(const std::string& path) {
  const int file = ::open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
  ASSERT_GE(file, 0) << path;
  const std::string bytes = value_of(1, kMB);  // nothing that a file system would compress
  for (size_t piece = bytes.size(); piece > 0; piece /= 2) {
    while (::write(file, bytes.data(), piece) > 0) {
    }
  }
  ::fsync(file);
  ::close(file);
}

class FullFileSystem : public ::testing::TestWithParam<const char*> {};

// On btrfs stores into the pages of files would end the process, and what is written over needs
// blocks that there are not, unless the files are marked.
TEST_P(FullFileSystem, deletes_go_on_and_make_room) {
  db::log_segment_bytes = 64 * kMB;
  const SmallFileSystem small(GetParam(), 240 * kMB);
  if (!small.mounted()) GTEST_SKIP() << "needs root, mkfs." << GetParam() << " and a loop device";
  const std::string path = small.path() + "/db";
  auto db = Db::open(path, options_of(64 * kMB));
  ASSERT_OK(db.status());
  Result<Tree> tree = (*db)->tree("t");
  ASSERT_OK(tree.status());
  Filled filled{.db = db->get(), .tree = *tree, .sure = {}};
  const uint64_t full = filled.fill(1000);
  EXPECT_GT(full, 20'000u);
  filled.expect_all();
  ASSERT_OK(filled.delete_some(full / 2));
  filled.expect_all();
  filled.fill(1000);
  // Not closed: the log stays as a killed process leaves it.
  for (int life = 0; life < 3; ++life) {
    db->reset();
    db = Db::open(path, options_of(64 * kMB));
    ASSERT_OK(db.status());
    filled.db = db->get();
    filled.tree = *(*db)->tree("t");
    filled.expect_all();
    filled.fill(1000);
  }
  filled.durability = Durability::kFull;
  ASSERT_OK(filled.delete_some(500));
  filled.durability = Durability::kNone;
  ASSERT_OK(filled.delete_some(filled.sure.size()));
  filled.expect_all();
  EXPECT_GT(filled.fill(1000), full / 2);
  filled.expect_all();
  ASSERT_TRUE(clean(**db));
  ASSERT_OK((*db)->close());
}

// Others take what the close has given back, to the last byte.
TEST_P(FullFileSystem, closed_and_filled_by_others) {
  db::log_segment_bytes = 64 * kMB;
  const SmallFileSystem small(GetParam(), 140 * kMB);
  if (!small.mounted()) GTEST_SKIP() << "needs root, mkfs." << GetParam() << " and a loop device";
  const std::string path = small.path() + "/db";
  auto db = Db::open(path, options_of(16 * kMB));
  ASSERT_OK(db.status());
  Filled filled{.db = db->get(), .tree = *(*db)->tree("t"), .sure = {}};
  filled.fill(40'000);
  for (int life = 0; life < 2; ++life) {
    ASSERT_OK((*db)->close());
    const std::string others = small.path() + "/others" + std::to_string(life);
    fill_file(others);
    db = Db::open(path, options_of(16 * kMB));
    ASSERT_OK(db.status());
    filled.db = db->get();
    filled.tree = *(*db)->tree("t");
    filled.expect_all();
    filled.durability = Durability::kFull;
    ASSERT_OK(filled.delete_some(100));
    filled.durability = Durability::kNone;
    ASSERT_OK(filled.delete_some(filled.sure.size() / 2));
    ASSERT_OK((*db)->flush());
    EXPECT_GT(filled.fill(40'000), 50u);
    filled.expect_all();
    ASSERT_TRUE(clean(**db));
  }
}

INSTANTIATE_TEST_SUITE_P(On, FullFileSystem, ::testing::Values("ext4", "btrfs"),
                         [](const auto& param) { return std::string(param.param); });

}  // namespace
}  // namespace hawthorn::tests
