// Other keys for the same database: what opens it afterwards, whenever the machine died.
#include <set>

#include "db/file_sizing.h"
#include "tests/encryption/encrypted_work.h"

namespace hawthorn::tests {
namespace {

using testing::CrashKind;
using testing::SimDisk;
using testing::SimMachine;
using testing::SimOp;

// Keys of some ids; notes which were asked for.
struct Vault {
  std::set<std::string> ids;
  std::vector<std::string> asked;
  Encryption encryption(std::string id) {
    return {.key = [this](std::string_view id_asked) -> Result<SecretKey> {
              asked.emplace_back(id_asked);
              if (!ids.contains(std::string(id_asked))) {
                return Status(StatusCode::kNotFound, "there is no such key");
              }
              return key_of_id(id_asked);
            },
            .key_id = std::move(id)};
  }
};

Options with(Encryption encryption) {
  Options options = small_options();
  options.encryption = std::move(encryption);
  return options;
}

std::unique_ptr<SimDisk> made(uint64_t seed) {
  db::data_file_bytes_first = uint64_t{1} << 20;
  auto disk = std::make_unique<SimDisk>(seed);
  SimMachine machine(*disk, seed);
  auto db = Db::open_on(machine.machine(), "/db", with(encryption_of("first")));
  EXPECT_OK(db.status());
  const auto tree = (*db)->tree("t");
  EXPECT_OK(tree.status());
  for (uint64_t i = 0; i < 500; ++i) {
    EXPECT_OK((*db)->put(*tree, marked_key(i), std::string(100, 'v')));
  }
  EXPECT_OK((*db)->close());
  return disk;
}

TEST(Rotation, the_new_key_opens_and_the_old_one_does_not) {
  const auto disk = made(1);
  SimMachine machine(*disk, 2);
  Vault vault{{"first", "second"}, {}};
  {
    auto db = Db::open_on(machine.machine(), "/db", with(vault.encryption("")));
    ASSERT_OK(db.status());
    const uint64_t written = disk->counters().bytes_written;
    ASSERT_OK((*db)->rotate_key("second"));
    EXPECT_LE(disk->counters().bytes_written - written, 8192u);
    EXPECT_EQ((*db)->encryption().key_id, "second");
    // It goes on with what it has.
    ASSERT_OK((*db)->put(*(*db)->find_tree("t"), "more", "value"));
    ASSERT_OK((*db)->close());
  }
  vault.asked.clear();
  {
    auto db = Db::open_on(machine.machine(), "/db", with(vault.encryption("")));
    ASSERT_OK(db.status());
    EXPECT_EQ(vault.asked, std::vector<std::string>{"second"});
    Value value;
    ASSERT_OK((*db)->get(*(*db)->find_tree("t"), "more", value));
    // Ids that cannot be: nothing changes.
    EXPECT_TRUE((*db)->rotate_key("").is(StatusCode::kInvalidArgument));
    EXPECT_TRUE((*db)->rotate_key(std::string(256, 'i')).is(StatusCode::kInvalidArgument));
    vault.ids.erase("first");
    EXPECT_TRUE((*db)->rotate_key("first").is_not_found());
    EXPECT_EQ((*db)->encryption().key_id, "second");
  }
  vault.ids = {"first"};
  const auto refused = Db::open_on(machine.machine(), "/db", with(vault.encryption("")));
  EXPECT_TRUE(refused.status().is_not_found()) << refused.status().to_string();
}

// Whenever the machine dies, the file is the one from before or the new one; once the call has said
// so, it is the new one.
TEST(Rotation, crashes) {
  const auto base = made(3);
  uint64_t old_ones = 0;
  uint64_t new_ones = 0;
  bool ended = false;
  for (uint64_t nth = 1; !ended; ++nth) {
    ASSERT_LT(nth, 100u);
    for (const CrashKind kind :
         {CrashKind::kProcessKill, CrashKind::kPowerLoss, CrashKind::kPowerLossDrop}) {
      auto disk = base->after_crash(nth, CrashKind::kProcessKill);
      Vault vault{{"first", "second"}, {}};
      bool done = false;
      {
        SimMachine machine(*disk, nth);
        auto db = Db::open_on(machine.machine(), "/db", with(vault.encryption("")));
        ASSERT_OK(db.status());
        disk->stop_at(SimOp::kAny, nth);
        done = (*db)->rotate_key("second").ok();
        ended = done && !disk->stopped();
        if (done && nth % 2 == 0) done = (*db)->rotate_data_key().ok();
        auto after = disk->crash(nth, kind);
        db->reset();
        disk = std::move(after);
      }
      SimMachine machine(*disk, nth + 1);
      vault.asked.clear();
      auto db = Db::open_on(machine.machine(), "/db", with(vault.encryption("")));
      ASSERT_OK(db.status());
      ++((*db)->encryption().key_id == "first" ? old_ones : new_ones);
      if (done) {
        EXPECT_EQ((*db)->encryption().key_id, "second");
      }
      const auto report = (*db)->check();
      ASSERT_OK(report.status());
      EXPECT_TRUE(report->ok());
      EXPECT_EQ((*db)->count(*(*db)->find_tree("t"), "", std::nullopt).value(), 500u);
    }
  }
  EXPECT_GT(old_ones, 0u);
  EXPECT_GT(new_ones, 0u);
}

// Data keys add up: what each has sealed stays readable.
TEST(Rotation, data_keys) {
  const auto disk = made(4);
  for (uint32_t round = 2; round <= 5; ++round) {
    SimMachine machine(*disk, round);
    auto db = Db::open_on(machine.machine(), "/db", with(encryption_of()));
    ASSERT_OK(db.status());
    const auto tree = (*db)->find_tree("t");
    ASSERT_OK(tree.status());
    ASSERT_OK((*db)->rotate_data_key());
    EXPECT_EQ((*db)->encryption().data_key, round);
    for (uint64_t i = 0; i < 100; ++i) {
      ASSERT_OK((*db)->put(*tree, marked_key(round * 1000 + i), std::string(2000, 'w')));
    }
    ASSERT_OK((*db)->put(*tree, "large" + std::to_string(round), std::string(100'000, 'x')));
    ASSERT_OK((*db)->flush());
    ASSERT_OK((*db)->put(*tree, "in the log" + std::to_string(round), "x"));
    EXPECT_EQ((*db)->count(*tree, "", std::nullopt).value(), 500u + (round - 1) * 102);
    const auto report = (*db)->check();
    ASSERT_OK(report.status());
    EXPECT_TRUE(report->ok());
    if (round % 2 == 0) ASSERT_OK((*db)->close());
  }
  SimMachine machine(*disk, 9);
  auto db = Db::open_on(machine.machine(), "/db", with(encryption_of()));
  ASSERT_OK(db.status());
  Status last;
  for (int i = 0; i < 64 && last.ok(); ++i) last = (*db)->rotate_data_key();
  EXPECT_TRUE(last.is(StatusCode::kNotSupported)) << last.to_string();
  EXPECT_EQ((*db)->encryption().data_keys, 64u);
  ASSERT_OK((*db)->put(*(*db)->find_tree("t"), "goes on", "x"));
  ASSERT_OK((*db)->close());
}

// A reader in another process meets a data key that came after it.
TEST(Rotation, followers_see_new_data_keys) {
  const TempDirectory directory;
  Options options = small_options();
  options.encryption = encryption_of();
  auto db = Db::open(directory / "db", options);
  ASSERT_OK(db.status());
  const auto tree = (*db)->tree("t");
  ASSERT_OK(tree.status());
  ASSERT_OK((*db)->put(*tree, "a", "1"));
  FollowerOptions following;
  following.memory_budget_bytes = size_t{16} << 20;
  EXPECT_TRUE(
      Follower::open(directory / "db", following).status().is(StatusCode::kInvalidArgument));
  following.encryption = encryption_of();
  auto follower = Follower::open(directory / "db", following);
  ASSERT_OK(follower.status());
  ASSERT_OK((*db)->rotate_data_key());
  ASSERT_OK((*db)->put(*tree, "b", std::string(3000, 'b')));
  ASSERT_OK((*db)->flush());
  ASSERT_OK((*follower)->rebuild());
  Value value;
  ASSERT_OK((*follower)->view()->get(*(*follower)->view()->find_tree("t"), "b", value));
  EXPECT_EQ(value.to_string(), std::string(3000, 'b'));
}

}  // namespace
}  // namespace hawthorn::tests
