// Whole databases of every format version, kept in tests/compat/v<version>/database: today's code
// must open them, find all that was written, go on writing, and change nothing that it only reads.
//
//   closed   was closed: no log
//   killed   was killed in its third life, after another kill: flushed containers, two epochs of
//            log to replay, the end of which only the ring holds
//
// They are packed (packed_directory.h), and unpacked into a temporary directory. What they hold
// follows from the code below, which therefore must not change its bytes: what a new version wants
// in addition goes to further trees, with a condition on the version.
//
// HAWTHORN_WRITE_COMPAT=<directory> writes the databases of today's format there, as `closed` and
// `killed`: for tests/compat/v<n>/database of a new version n, never over those of an old one.
#include "tests/compat/kept_database.h"
#include "tests/compat/packed_directory.h"

namespace hawthorn::tests::database_test {
namespace {

namespace fs = std::filesystem;

std::string frozen_key(uint64_t number) {
  const std::string digits = std::to_string(number);
  const size_t some = number % 9;
  switch (number % 5) {
    case 0:
      return number == 0 ? "" : digits;
    case 1:
      return "a prefix that many keys have in common/" + digits;
    case 2:
      return std::string(some, '\0') + digits;
    case 3:
      return std::string(some, '\xff') + digits;
    default:
      return digits + std::string(513 + number * 7 % 400, 'k') + digits;
  }
}

std::string odd_name() { return std::string("\0\xff any bytes / at all", 21); }

// The first life. The wide values are more than a container holds.
void write_first(Writer writer) {
  writer.put("dropped", "key", "value");
  writer.tree("empty");
  for (uint64_t i = 0; i < 300; ++i) writer.put("numbers", frozen_number(i), frozen_bytes(i, 8));
  for (uint64_t i = 0; i < 60; ++i) {
    writer.put("mixed", frozen_key(i), frozen_bytes(i, i % 10 == 0 ? 0 : i * 37 % 300));
  }
  for (uint64_t i = 0; i < 16; ++i) {
    writer.put("wide", frozen_number(i * i), frozen_wide(i, 60'000 + i));
  }
  writer.put(odd_name(), "", "");
  writer.drop("dropped");
}

// The second life, while a snapshot holds what the first one wrote.
void write_second(Writer writer) {
  for (uint64_t i = 0; i < 300; i += 7) writer.put("numbers", frozen_number(i), "overwritten");
  for (uint64_t i = 3; i < 300; i += 11) writer.del("numbers", frozen_number(i));
  for (uint64_t i = 1; i < 60; i += 9) writer.del("mixed", frozen_key(i));
  for (uint64_t i = 2; i < 60; i += 8) writer.put("mixed", frozen_key(i), frozen_bytes(i, 1200));
  writer.del("mixed", "was never there");
  writer.put("wide", frozen_number(4), "");
  writer.stream("large", "kept", frozen_bytes(1, 5000) + std::string(140'000, '\0') + "end");
  writer.stream("large", "overwritten", frozen_bytes(2, 100) + std::string(70'000, '\0'));
}

// And behind its flush.
void write_third(Writer writer) {
  for (uint64_t i = 60; i < 80; ++i) writer.put("mixed", frozen_key(i), frozen_bytes(i, 50));
  writer.put("mixed", "", "the empty key has a value now");
  for (uint64_t i = 5; i < 300; i += 13) writer.put("numbers", frozen_number(i), "");
  writer.del("numbers", frozen_number(0));
  writer.stream("large", "overwritten", std::string(66'000, '\0') + "by another one");
  writer.stream("large", "logged", frozen_bytes(4, 2000) + std::string(100'000, '\0') + "logged");
}

// The third life: a transaction of several chunks, and others.
void write_fourth(Writer writer) {
  Entries chunks;
  for (uint64_t i = 0; i < 6; ++i) chunks[frozen_number(1000 + i)] = frozen_wide(i, 64'000);
  chunks[frozen_number(4)] = "overwritten in a transaction of several chunks";
  writer.transaction("wide", chunks);
  writer.batch("mixed", {{"b", "1"}, {"c", frozen_bytes(9, 700)}}, frozen_key(4));
  writer.put("created late", "key", "value");
  writer.del("large", "kept");
}

// What only the ring holds when the process is killed.
void write_fifth(Writer writer) {
  for (uint64_t i = 80; i < 90; ++i) writer.put("mixed", frozen_key(i), frozen_bytes(i, 99));
  writer.del("mixed", frozen_key(2));
  writer.put("numbers", frozen_number(0), "back again");
}

Contents contents_of_kept(bool killed) {
  Contents contents;
  const Writer writer(contents, nullptr);
  write_first(writer);
  write_second(writer);
  write_third(writer);
  if (killed) {
    write_fourth(writer);
    write_fifth(writer);
  }
  return contents;
}

// ---- Making and looking at them

void write_database(const std::string& path, const std::string& scratch, bool killed) {
  QuietMachine machine;
  Contents unused;
  {
    auto db = machine.open(scratch);
    ASSERT_OK(db.status());
    write_first(Writer(unused, db->get()));
    ASSERT_OK((*db)->close());
  }
  const std::string second = scratch + ".second";
  {
    auto db = machine.open(scratch);
    ASSERT_OK(db.status());
    {
      const Snapshot snapshot = (*db)->snapshot();
      write_second(Writer(unused, db->get()));
      ASSERT_OK((*db)->flush());
    }
    write_third(Writer(unused, db->get()));
    if (!killed) {
      ASSERT_OK((*db)->close());
      db->reset();
      fs::rename(scratch, path);
      return;
    }
    copy_as_killed(scratch, second);
  }
  auto db = machine.open(second);
  ASSERT_OK(db.status());
  write_fourth(Writer(unused, db->get()));
  // Has logged a chunk when it is killed.
  const Result<Tree> wide = (*db)->tree("wide");
  ASSERT_OK(wide.status());
  Result<Transaction> never_committed = (*db)->begin(TxnMode::kOptimistic);
  ASSERT_OK(never_committed.status());
  for (uint64_t i = 0; i < 5; ++i) {
    ASSERT_OK(never_committed->put(*wide, frozen_number(2000 + i), frozen_wide(i, 64'000)));
  }
  ASSERT_OK((*db)->sync());
  write_fifth(Writer(unused, db->get()));
  copy_as_killed(second, path);
}

void expect_database(const std::string& packed, bool killed) {
  SCOPED_TRACE(packed);
  const TempDirectory directory;
  const std::string path = directory / "db";
  ASSERT_EQ(unpack_directory(packed, path), "");
  EXPECT_EQ(fs::exists(path + "/wal.ring"), killed);
  Contents expected = contents_of_kept(killed);

  // Read-only first: it must leave every byte as it is, a log that must be replayed included.
  const auto before = files_of(path, directory / "before");
  {
    auto db = Db::open(path, with(true));
    ASSERT_OK(db.status());
    expect_contents(**db, expected);
    ASSERT_OK((*db)->close());
  }
  EXPECT_TRUE(files_of(path, directory / "after") == before) << "a reader changed a file";

  {
    auto db = Db::open(path, with(false));
    ASSERT_OK(db.status());
    expect_contents(**db, expected);
    for (const TreeStats& tree : (*db)->stats().trees) {
      if (tree.name != "wide") continue;
      EXPECT_GT(tree.containers, 2u) << "the sample should have several";
    }
    // Go on: over what is there, in new trees, and behind a flush into the log again.
    Writer writer(expected, db->get());
    for (uint64_t i = 0; i < 200; ++i) {
      if (i == 150) ASSERT_OK((*db)->flush());
      writer.put("mixed", frozen_key(i), frozen_bytes(i + 1, i * 11 % 2000));
      if (i % 3 == 0) writer.del("numbers", frozen_number(i));
      if (i % 10 == 0) writer.put("new", frozen_number(i), frozen_wide(i, 50'000));
    }
    writer.stream("large", "overwritten", frozen_bytes(7, 100'000));
    writer.drop("empty");
    ASSERT_OK((*db)->rename_tree("large", "renamed"));
    expected["renamed"] = std::move(expected["large"]);
    expected.erase("large");
    expect_contents(**db, expected);
  }
  // Not closed: what was logged is replayed. Then closed, and opened once more.
  for (int i = 0; i < 2; ++i) {
    auto db = Db::open(path, with(false));
    ASSERT_OK(db.status());
    expect_contents(**db, expected);
    ASSERT_OK((*db)->close());
  }
}

TEST(CompatDatabase, every_version_opens) {
  size_t versions = 0;
  for (const auto& entry : fs::directory_iterator(kept_versions())) {
    if (!entry.is_directory()) continue;
    ++versions;
    const std::string kept = entry.path().string() + "/database";
    expect_database(kept + "/closed", false);
    expect_database(kept + "/killed", true);
  }
  EXPECT_GE(versions, 1u);
}

// What the next version's sample would be: the code above still makes what it describes.
TEST(CompatDatabase, todays_version_is_written_and_opens) {
  const char* const wish = getenv("HAWTHORN_WRITE_COMPAT");
  const TempDirectory directory;
  for (const bool killed : {false, true}) {
    const std::string name = killed ? "killed" : "closed";
    const std::string path = directory / name;
    write_database(path, directory / ("making-" + name), killed);
    if (HasFatalFailure()) return;
    const std::string packed = (wish != nullptr ? wish : directory / "packed") + ("/" + name);
    ASSERT_EQ(pack_directory(path, packed), "");
    expect_database(packed, killed);
  }
}

}  // namespace
}  // namespace hawthorn::tests::database_test
