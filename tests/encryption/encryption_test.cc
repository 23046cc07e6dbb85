// What stands on the disk of an encrypted database, and what opens it.
#include "db/file_sizing.h"
#include "tests/encryption/encrypted_work.h"

namespace hawthorn::tests {
namespace {

using testing::CrashKind;
using testing::SimDisk;
using testing::SimMachine;

class EncryptionTest : public ::testing::Test {
 protected:
  Result<std::unique_ptr<Db>> open(const Options& options) {
    return Db::open_on(machine_.machine(), "/db", options);
  }
  static Options with(Encryption encryption) {
    Options options = small_options();
    options.encryption = std::move(encryption);
    return options;
  }
  void make(const Options& options) {
    auto db = open(options);
    ASSERT_OK(db.status());
    const auto tree = (*db)->tree("t");
    ASSERT_OK(tree.status());
    ASSERT_OK((*db)->put(*tree, "key", "value"));
    ASSERT_OK((*db)->close());
  }
  void expect_refused(const Options& options, StatusCode code, std::string_view what) {
    const auto db = open(options);
    ASSERT_FALSE(db.ok());
    EXPECT_TRUE(db.status().is(code)) << db.status().to_string();
    EXPECT_NE(db.status().message().find(what), std::string_view::npos) << db.status().to_string();
    EXPECT_NE(db.status().message().find("/db"), std::string_view::npos) << db.status().to_string();
  }

  SimDisk disk_{1};
  SimMachine machine_{disk_, 1};
};

// Where the texts of `work` were written: files as they are written, and all that stands in them
// between steps, behind crashes, and in the end.
void run(const Encryption& encryption, Compression compression, Sightings* sightings) {
  db::data_file_bytes_first = uint64_t{1} << 20;
  db::data_file_bytes_max = uint64_t{4} << 20;
  auto disk = std::make_unique<SimDisk>(1);
  uint64_t seed = 0;
  for (uint64_t round = 0; round < 2; ++round) {
    WatchedFiles files(disk.get(), sightings);
    SimMachine machine(*disk, 1 + round);
    os::Machine watched = machine.machine();
    watched.files = &files;
    Options options = small_options();
    options.encryption = encryption;
    options.compression = compression;
    auto db = Db::open_on(watched, "/db", options);
    ASSERT_OK(db.status());
    const auto step = [&] {
      files.look_at_all("/db");
      for (const CrashKind kind : {CrashKind::kProcessKill, CrashKind::kPowerLoss}) {
        const auto after = disk->after_crash(++seed, kind);
        WatchedFiles(after.get(), sightings).look_at_all("/db");
      }
    };
    work(**db, round, step);
    if (::testing::Test::HasFatalFailure()) return;
    const auto before = read_everything(**db);
    ASSERT_OK(before.status());
    // Killed, and the log replayed; then closed.
    auto after = disk->crash(++seed, CrashKind::kProcessKill);
    db->reset();
    disk = std::move(after);
    WatchedFiles again(disk.get(), sightings);
    SimMachine other(*disk, 7 + round);
    watched = other.machine();
    watched.files = &again;
    auto reopened = Db::open_on(watched, "/db", options);
    ASSERT_OK(reopened.status());
    const auto found = read_everything(**reopened);
    ASSERT_OK(found.status());
    EXPECT_TRUE(*before == *found);
    const auto report = (*reopened)->check();
    ASSERT_OK(report.status());
    EXPECT_TRUE(report->ok());
    again.look_at_all("/db");
    ASSERT_OK((*reopened)->close());
    again.look_at_all("/db");
  }
}

TEST(Encryption, nothing_is_readable) {
  for (const Compression compression : {Compression::kNone, Compression::kZstd}) {
    // Both with HAWTHORN_SCALE=4 (8 under a sanitizer): what is not compressed shows more.
    if (compression != Compression::kNone && !is_whole()) continue;
    Sightings sightings(marks(), "MARK-of");
    run(encryption_of(), compression, &sightings);
    for (const auto& [mark, files] : sightings.seen()) {
      for (const std::string& file : files) ADD_FAILURE() << mark << " stands in " << file;
    }
  }
}

// That the test above would see what is readable.
TEST(Encryption, without_it_all_is_readable) {
  Sightings sightings(marks(), "MARK-of");
  run({}, Compression::kNone, &sightings);
  const auto seen = sightings.seen();
  for (const std::string& mark : marks()) {
    EXPECT_TRUE(seen.contains(mark)) << mark << " was seen nowhere";
  }
}

TEST_F(EncryptionTest, keys_are_needed) {
  make(with(encryption_of("first")));
  expect_refused(small_options(), StatusCode::kInvalidArgument, "has no keys");
  Options options = with(encryption_of("any other id for new databases"));
  auto db = open(options);
  ASSERT_OK(db.status());
  EXPECT_EQ((*db)->encryption().key_id, "first");
  EXPECT_TRUE((*db)->encryption().encrypted);
  EXPECT_EQ((*db)->encryption().data_keys, 1u);
}

TEST_F(EncryptionTest, a_wrong_key_is_told) {
  make(with(encryption_of("first")));
  std::vector<std::string> logged;
  Options options = with(
      {.key = [](std::string_view) -> Result<SecretKey> { return key_of_id("SECRET-of-this-key"); },
       .key_id = {}});
  options.log = [&](LogLevel, std::string_view message) { logged.emplace_back(message); };
  expect_refused(options, StatusCode::kInvalidArgument, "wrong key");
  expect_refused(options, StatusCode::kInvalidArgument, "\"first\"");
  EXPECT_EQ(open(options).status().message().find("SECRET"), std::string_view::npos);
  for (const std::string& line : logged) EXPECT_EQ(line.find("SECRET"), std::string::npos);
  options.encryption.key = [](std::string_view) -> Result<SecretKey> {
    return Status(StatusCode::kTimedOut, "the vault does not answer");
  };
  expect_refused(options, StatusCode::kTimedOut, "key \"first\": the vault does not answer");
  // And none of that has changed anything.
  ASSERT_OK(open(with(encryption_of())).status());
}

TEST_F(EncryptionTest, neither_becomes_the_other) {
  make(small_options());
  expect_refused(with(encryption_of()), StatusCode::kInvalidArgument, "is not encrypted");
  auto db = open(small_options());
  ASSERT_OK(db.status());
  EXPECT_FALSE((*db)->encryption().encrypted);
  EXPECT_TRUE((*db)->rotate_key("x").is(StatusCode::kInvalidArgument));
  EXPECT_TRUE((*db)->rotate_data_key().is(StatusCode::kInvalidArgument));
}

TEST_F(EncryptionTest, ids_of_new_databases_are_checked) {
  for (const size_t size : {size_t{0}, size_t{256}}) {
    expect_refused(with(encryption_of(std::string(size, 'i'))), StatusCode::kInvalidArgument,
                   "key_id");
  }
  make(with(encryption_of(std::string(255, 'i'))));
  // A creation that was cut short is no obstacle.
  ASSERT_OK(disk_.remove("/db/superblock"));
  const auto names = disk_.list("/db");
  ASSERT_OK(names.status());
  for (const std::string& name : *names) {
    if (name.starts_with("manifest") || name.starts_with("data.")) {
      ASSERT_OK(disk_.remove("/db/" + name));
    }
  }
  make(with(encryption_of("another")));
}

TEST_F(EncryptionTest, without_its_keys_it_is_lost_and_says_so) {
  make(with(encryption_of()));
  auto file = disk_.open_file("/db/keys", {});
  ASSERT_OK(file.status());
  std::string bytes(*(*file)->size(), '\0');
  ASSERT_OK((*file)->read_at(0, bytes));
  // One slot is enough, whichever.
  for (const uint64_t slot : {uint64_t{0}, uint64_t{4096}}) {
    for (const uint64_t at : {uint64_t{0}, uint64_t{60}, uint64_t{400}, uint64_t{4090}}) {
      ASSERT_TRUE(disk_.flip_bit("/db/keys", slot + at, 3));
      ASSERT_OK(open(with(encryption_of())).status());
      ASSERT_TRUE(disk_.flip_bit("/db/keys", slot + at, 3));
    }
  }
  ASSERT_TRUE(disk_.flip_bit("/db/keys", 400, 3));
  ASSERT_TRUE(disk_.flip_bit("/db/keys", 4096 + 400, 3));
  expect_refused(with(encryption_of()), StatusCode::kCorruption, "keys: checksum mismatch");
  ASSERT_OK((*file)->write_at(0, bytes));
  ASSERT_OK(open(with(encryption_of())).status());
  ASSERT_OK(disk_.remove("/db/keys"));
  expect_refused(with(encryption_of()), StatusCode::kCorruption, "the file of keys is missing");
}

// A file that belongs to another database, with the same key of the user.
TEST_F(EncryptionTest, keys_belong_to_one_database) {
  make(with(encryption_of()));
  SimDisk other(2);
  SimMachine machine(other, 2);
  ASSERT_OK(Db::open_on(machine.machine(), "/db", with(encryption_of())).status());
  auto from = other.open_file("/db/keys", {});
  auto to = disk_.open_file("/db/keys", {});
  ASSERT_OK(from.status());
  std::string bytes(*(*from)->size(), '\0');
  ASSERT_OK((*from)->read_at(0, bytes));
  ASSERT_OK((*to)->write_at(0, bytes));
  expect_refused(with(encryption_of()), StatusCode::kCorruption, "belongs to another database");
}

// What is pinned beyond the memory for that would lie in a file, as it is.
TEST_F(EncryptionTest, pinned_values_go_to_no_file) {
  auto db = open(with(encryption_of()));
  ASSERT_OK(db.status());
  const auto tree = (*db)->tree("t");
  ASSERT_OK(tree.status());
  for (uint64_t i = 0; i < 8; ++i) {
    ASSERT_OK((*db)->put(*tree, std::to_string(i), std::string(500'000, 'p')));
  }
  auto transaction = (*db)->begin(TxnOptions());
  ASSERT_OK(transaction.status());
  Status status;
  for (uint64_t i = 0; i < 8 && status.ok(); ++i) {
    status = transaction->get_pinned(*tree, std::to_string(i)).status();
  }
  EXPECT_TRUE(status.is(StatusCode::kOutOfMemory)) << status.to_string();
  transaction->release_pinned();
  ASSERT_OK(transaction->get_pinned(*tree, "7").status());
}

// A feed reads the log, and extents that it keeps; a follower goes on where it was.
TEST_F(EncryptionTest, feeds_and_followers_read_the_log) {
  const TempDirectory directory;
  Options options = with(encryption_of());
  auto db = Db::open(directory / "db", options);
  ASSERT_OK(db.status());
  const auto tree = (*db)->tree("t");
  ASSERT_OK(tree.status());
  ASSERT_OK((*db)->create_feed("feed"));
  FollowerOptions following;
  following.memory_budget_bytes = size_t{16} << 20;
  following.encryption = options.encryption;
  auto follower = Follower::open(directory / "db", following);
  ASSERT_OK(follower.status());
  const std::string large(100'000, 'l');
  const auto check = [&](const std::string& key) {
    const auto now = (*db)->find_tree("t");
    ASSERT_OK(now.status());
    ASSERT_OK((*db)->put(*now, key, large));
    ASSERT_OK((*db)->put(*now, "small", key));
    ASSERT_OK((*follower)->refresh());
    Value value;
    const auto view = (*follower)->view();
    ASSERT_OK(view->get(*view->find_tree("t"), "small", value));
    EXPECT_EQ(value.to_string(), key);
    ASSERT_OK(view->get(*view->find_tree("t"), key, value));
    EXPECT_TRUE(value.view() == large);
  };
  check("a");
  check("b");
  db->reset();
  db = Db::open(directory / "db", options);  // another epoch
  ASSERT_OK(db.status());
  check("c");
  ASSERT_OK((*db)->flush());
  ASSERT_OK((*db)->sync());
  auto feed = (*db)->open_feed("feed");
  ASSERT_OK(feed.status());
  uint64_t changes = 0;
  for (;;) {
    const Result<FeedCommit*> commit = feed->next();
    ASSERT_OK(commit.status());
    if (*commit == nullptr) break;
    FeedChange change;
    for (;;) {
      const Result<bool> more = (*commit)->next(&change);
      ASSERT_OK(more.status());
      if (!*more) break;
      ++changes;
      if (change.key == "small") {
        EXPECT_TRUE(change.value == "a" || change.value == "b" || change.value == "c");
        continue;
      }
      ASSERT_EQ(change.value_bytes, large.size());
      std::string value(change.value_bytes, '\0');
      if (change.streamed) {
        ASSERT_EQ((*commit)->read_value(0, value).value(), large.size());
      } else {
        value = change.value;
      }
      EXPECT_TRUE(value == large);
    }
  }
  EXPECT_EQ(changes, 6u);
}

TEST_F(EncryptionTest, read_only_and_ended_by_a_kill) {
  Options options = with(encryption_of());
  {
    auto db = open(options);
    ASSERT_OK(db.status());
    const auto tree = (*db)->tree("t");
    ASSERT_OK(tree.status());
    ASSERT_OK((*db)->put(*tree, "key", "value"));
  }
  options.read_only = true;
  auto db = open(options);
  ASSERT_OK(db.status());
  Value value;
  ASSERT_OK((*db)->get(*(*db)->find_tree("t"), "key", value));
  EXPECT_EQ(value.to_string(), "value");
  EXPECT_TRUE((*db)->rotate_key("second").is(StatusCode::kReadOnly));
}

}  // namespace
}  // namespace hawthorn::tests
