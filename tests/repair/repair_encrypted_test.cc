// Repair of encrypted databases: which keys it takes, that nothing readable is written, and what
// the sealing lets be told of damage. The kinds of damage are those of repair_sweep_test.cc.

#include <algorithm>
#include <cstring>
#include <set>

#include "base/aead.h"
#include "base/bytes.h"
#include "base/checksum.h"
#include "db/file_sizing.h"
#include "db/log_sizing.h"
#include "format/log_record.h"
#include "hawthorn/repair.h"
#include "tests/encryption/encrypted_work.h"

namespace hawthorn::tests {
namespace {

using testing::CrashKind;
using testing::SimDisk;
using testing::SimMachine;

Options keyed(const char* id = "first") {
  Options options = small_options();
  options.encryption = encryption_of(id);
  return options;
}

// Killed, with data of two data keys and something in the log.
std::unique_ptr<SimDisk> made() {
  SimDisk disk(1);
  SimMachine machine(disk, 1);
  auto db = Db::open_on(machine.machine(), "/db", keyed());
  EXPECT_OK(db.status());
  work(**db, 1, [] {});
  EXPECT_OK((*db)->flush());
  EXPECT_OK((*db)->rotate_data_key());
  work(**db, 2, [] {});
  EXPECT_OK((*db)->sync());
  return disk.after_crash(1, CrashKind::kProcessKill);
}

void remove_manifests(SimDisk& disk) {
  const std::vector<std::string> names = disk.list("/db").value();
  for (const std::string& name : names) {
    if (name.starts_with("manifest.")) EXPECT_OK(disk.remove("/db/" + name));
  }
}

Result<RepairReport> repair(SimDisk& disk, Options with, Sightings* sightings = nullptr) {
  SimMachine machine(disk, 5);
  os::Machine on = machine.machine();
  std::unique_ptr<WatchedFiles> watched;
  if (sightings != nullptr) {
    watched = std::make_unique<WatchedFiles>(on.files, sightings);
    on.files = watched.get();
  }
  RepairOptions options;
  options.database = std::move(with);
  return Db::repair_on(on, "/db", "/fixed", options);
}

void expect_refused(const Status& status, StatusCode code, const std::string& part) {
  EXPECT_TRUE(status.is(code)) << status.to_string();
  EXPECT_NE(status.message().find(part), std::string_view::npos) << status.to_string();
}

class RepairEncrypted : public ::testing::Test {
 protected:
  void SetUp() override {
    db::data_file_bytes_first = uint64_t{2} << 20;
    db::log_segment_bytes = size_t{1} << 20;
  }
  void TearDown() override {
    db::data_file_bytes_first = uint64_t{64} << 20;
    db::log_segment_bytes = size_t{64} << 20;
  }
};

TEST_F(RepairEncrypted, TakesTheKeyOfTheDatabase) {
  const auto base = made();
  const auto copy = [&] { return base->after_crash(1, CrashKind::kProcessKill); };
  auto disk = copy();
  expect_refused(repair(*disk, small_options()).status(), StatusCode::kInvalidArgument,
                 "has no keys");
  Options wrong = small_options();
  wrong.encryption = {
      .key = [](std::string_view) -> Result<SecretKey> { return key_of_id("another"); },
      .key_id = ""};
  expect_refused(repair(*disk, wrong).status(), StatusCode::kInvalidArgument, "key");
  // Nor without a superblock, where the file of keys tells what the database is.
  ASSERT_OK(disk->remove("/db/superblock"));
  expect_refused(repair(*disk, small_options()).status(), StatusCode::kInvalidArgument,
                 "has no keys");
  EXPECT_FALSE(disk->exists("/fixed").value());
  const auto report = repair(*disk, keyed());
  ASSERT_OK(report.status());
  EXPECT_TRUE(report->opened) << report->open_error;

  // A plain one takes none.
  SimDisk plain(2);
  {
    SimMachine machine(plain, 2);
    auto db = Db::open_on(machine.machine(), "/db", small_options());
    ASSERT_OK(db.status());
    ASSERT_OK((*db)->close());
  }
  expect_refused(repair(plain, keyed()).status(), StatusCode::kInvalidArgument, "not encrypted");
}

// With the file of keys all is lost, and that is said, whatever else is missing.
TEST_F(RepairEncrypted, LostKeys) {
  const auto base = made();
  for (const bool superblock : {true, false}) {
    for (const bool manifest : {true, false}) {
      SCOPED_TRACE(std::string(superblock ? "with" : "without") + " superblock, " +
                   (manifest ? "with" : "without") + " manifest");
      const auto disk = base->after_crash(1, CrashKind::kProcessKill);
      ASSERT_OK(disk->remove("/db/keys"));
      if (!superblock) ASSERT_OK(disk->remove("/db/superblock"));
      if (!manifest) remove_manifests(*disk);
      expect_refused(repair(*disk, keyed()).status(), StatusCode::kCorruption,
                     "file of its keys is missing");
    }
  }
  // Of one that belongs to another database, too.
  const auto disk = base->after_crash(1, CrashKind::kProcessKill);
  {
    SimMachine machine(*disk, 7);
    auto other = Db::open_on(machine.machine(), "/other", keyed());
    ASSERT_OK(other.status());
    ASSERT_OK((*other)->close());
    ASSERT_OK(disk->remove("/db/keys"));
    ASSERT_OK(disk->rename("/other/keys", "/db/keys"));
  }
  expect_refused(repair(*disk, keyed()).status(), StatusCode::kCorruption, "another database");
}

// Nothing readable is written, also where containers are made anew and where the log is.
TEST_F(RepairEncrypted, WritesNothingReadable) {
  const auto base = made();
  for (int damage = 0; damage < 3; ++damage) {
    SCOPED_TRACE(damage);
    const auto disk = base->after_crash(1, CrashKind::kProcessKill);
    if (damage == 1) remove_manifests(*disk);
    if (damage == 2) {
      for (uint64_t at = 100'000; at < 1'500'000; at += 50'000) {
        static_cast<void>(disk->flip_bit("/db/data.0", at, 1));
      }
    }
    Sightings sightings(marks(), "MARK");
    const auto report = repair(*disk, keyed(), &sightings);
    ASSERT_OK(report.status());
    EXPECT_TRUE(report->opened) << report->open_error;
    EXPECT_EQ(report->ok(), damage == 0);
    for (const auto& [text, files] : sightings.seen()) {
      ADD_FAILURE() << text << " stands in " << *files.begin();
    }
    // A database of its own, with the same key of the user and the same data keys.
    SimMachine machine(*disk, 8);
    auto source_keys = disk->open_file("/db/keys", {.read_only = true}).value();
    auto target_keys = disk->open_file("/fixed/keys", {.read_only = true}).value();
    std::string a(8192, '\0');
    std::string b(8192, '\0');
    ASSERT_OK(source_keys->read_at(0, a));
    ASSERT_OK(target_keys->read_at(0, b));
    EXPECT_NE(a.substr(16, 16), b.substr(16, 16)) << "the id of the database";
    auto db = Db::open_on(machine.machine(), "/fixed", keyed());
    ASSERT_OK(db.status());
    EXPECT_EQ((*db)->encryption().key_id, "first");
    EXPECT_EQ((*db)->encryption().data_keys, 2u);
    if (damage == 0) {
      const auto tree = (*db)->find_tree("MARK-of-a-tree");
      ASSERT_OK(tree.status());
      Value value;
      ASSERT_OK((*db)->get(*tree, marked_key(1), value));
      EXPECT_EQ(value.to_string(), "MARK-of-a-value2");
    }
    ASSERT_OK((*db)->close());
  }
}

// Without a manifest the log opens by what its pads say; where no pad is left that says so, the
// report names what was there.
TEST_F(RepairEncrypted, TheLogWithoutAManifest) {
  const auto base = made();
  const auto sealed = [](const RepairReport& report) {
    return std::count_if(report.losses.begin(), report.losses.end(), [](const RepairLoss& loss) {
      return loss.kind == RepairLoss::Kind::kLogGap &&
             loss.what.find("sealed") != std::string::npos;
    });
  };
  {
    const auto disk = base->after_crash(1, CrashKind::kProcessKill);
    remove_manifests(*disk);
    const auto report = repair(*disk, keyed());
    ASSERT_OK(report.status());
    EXPECT_EQ(sealed(*report), 0);
    EXPECT_GT(report->log_records, 0u);
  }
  const auto disk = base->after_crash(1, CrashKind::kProcessKill);
  remove_manifests(*disk);
  // Every pad gets zeros for its mark, and the checksum that fits, as versions before wrote them.
  const std::vector<std::string> names = disk->list("/db").value();
  for (const std::string& name : names) {
    if (!name.starts_with("wal.")) continue;
    auto file = disk->open_file("/db/" + name, {}).value();
    std::string bytes(file->size().value(), '\0');
    ASSERT_OK(file->read_at(0, bytes));
    for (size_t at = 0; at + 88 <= bytes.size(); at += 8) {
      auto header = load<format::RecordHeader>(bytes.data() + at);
      const bool pad = header.type == 1 && header.length >= 88 && header.lsn % 8 == 0 &&
                       header.length == format::record_bytes(header.payload_bytes) &&
                       header.length <= bytes.size() - at;
      if (!pad) continue;
      char* const payload = bytes.data() + at + sizeof(header);
      if (checksum64(payload, header.payload_bytes, 0) != header.payload_checksum) continue;
      const auto salt = load<uint64_t>(payload + kTagBytes);
      if (!format::valid(header, header.lsn, salt)) continue;
      std::fill_n(payload + kTagBytes, 24, '\0');
      header.payload_checksum = checksum64(payload, header.payload_bytes, 0);
      format::seal(header, salt);
      std::memcpy(bytes.data() + at, &header, sizeof(header));
    }
    ASSERT_OK(file->write_at(0, bytes));
  }
  const auto report = repair(*disk, keyed());
  ASSERT_OK(report.status());
  EXPECT_GT(sealed(*report), 0);
  EXPECT_EQ(report->log_records, 0u);
  EXPECT_TRUE(report->opened) << report->open_error;
}

}  // namespace
}  // namespace hawthorn::tests
