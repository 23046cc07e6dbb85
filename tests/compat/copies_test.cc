// What came to the format behind the databases of features_test.cc, kept in the same way in
// tests/compat/v<version>: today's code must read it.
//
//   database/encrypted   was killed: its data keys are sealed with kKey, two of them; large values,
//                        compressed ones, and some in the log alone
//   backups              a repository with two backups, of which the second refers to the first
//   stream               a backup as a stream, in the file `stream`
//
// What they hold follows from the code below, which therefore must not change its bytes.
//
// HAWTHORN_WRITE_COMPAT=<directory> writes those of today's format there: for a new version n,
// never over those of an old one.
#include <stdlib.h>

#include <fstream>
#include <iterator>

#include "tests/compat/kept_database.h"
#include "tests/compat/packed_directory.h"

namespace hawthorn::tests {
namespace {

namespace fs = std::filesystem;

// Of the user, as it was when they were made.
constexpr char kKeyId[] = "kept";
constexpr char kKey[] = "the key of the kept database, 32";
static_assert(sizeof(kKey) == SecretKey::kBytes + 1);

Options encrypted(bool read_only) {
  Options options = with(read_only);
  options.encryption.key_id = kKeyId;
  options.encryption.key = [](std::string_view id) -> Result<SecretKey> {
    if (id != kKeyId) return Status(StatusCode::kNotFound, "no such key");
    return SecretKey::from_bytes(kKey);
  };
  return options;
}

void write_first(Writer writer) {
  for (uint64_t i = 0; i < 120; ++i) writer.put("t", frozen_number(i), frozen_bytes(i, i % 90));
  writer.compress("packed", Compression::kLz4);
  for (uint64_t i = 0; i < 30; ++i) writer.put("packed", frozen_number(i), frozen_wide(i, 900));
  writer.stream("t", "large", frozen_bytes(5, 200) + std::string(70'000, '\0') + "end");
}

// And behind the flush.
void write_second(Writer writer) {
  for (uint64_t i = 0; i < 120; i += 7) writer.put("t", frozen_number(i), "overwritten");
  for (uint64_t i = 3; i < 120; i += 11) writer.del("t", frozen_number(i));
  writer.put("late", "key", "value");
}

Contents contents_of(bool second) {
  Contents contents;
  write_first(Writer(contents, nullptr));
  if (second) write_second(Writer(contents, nullptr));
  return contents;
}

// ---- Making them

void write_encrypted(const std::string& path, const std::string& scratch) {
  QuietMachine machine;
  auto db = machine.open(scratch, encrypted(false));
  ASSERT_OK(db.status());
  Contents unused;
  write_first(Writer(unused, db->get()));
  ASSERT_OK((*db)->rotate_data_key());
  ASSERT_OK((*db)->flush());
  write_second(Writer(unused, db->get()));
  copy_as_killed(scratch, path);
}

class ToFile : public BackupSink {
 public:
  explicit ToFile(const std::string& path) : file_(path, std::ios::binary) {}
  Status write(std::string_view bytes) override {
    file_.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return file_ ? Status() : Status(StatusCode::kIoError, "the stream cannot be written");
  }

 private:
  std::ofstream file_;
};

class FromFile : public BackupSource {
 public:
  explicit FromFile(const std::string& path) : file_(path, std::ios::binary) {}
  Result<size_t> read(std::span<char> bytes) override {
    file_.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return static_cast<size_t>(file_.gcount());
  }

 private:
  std::ifstream file_;
};

void write_backups(const std::string& repository, const std::string& stream,
                   const std::string& scratch) {
  QuietMachine machine;
  auto db = machine.open(scratch);
  ASSERT_OK(db.status());
  Contents unused;
  auto opened = BackupRepository::open_on(machine.machine(), repository);
  ASSERT_OK(opened.status());
  write_first(Writer(unused, db->get()));
  ASSERT_OK((*db)->flush());
  ASSERT_OK((*db)->backup(**opened).status());
  write_second(Writer(unused, db->get()));
  const Result<BackupInfo> second = (*db)->backup(**opened);
  ASSERT_OK(second.status());
  EXPECT_TRUE(second->incremental);
  fs::create_directories(stream);
  ToFile file(stream + "/stream");
  ASSERT_OK((*db)->backup_to(file).status());
}

// ---- Looking at them

void expect_encrypted(const std::string& packed) {
  SCOPED_TRACE(packed);
  const TempDirectory directory;
  const std::string path = directory / "db";
  ASSERT_EQ(unpack_directory(packed, path), "");
  EXPECT_TRUE(Db::open(path, with(true)).status().is(StatusCode::kInvalidArgument))
      << "it opens without keys";
  Contents expected = contents_of(true);
  {
    auto db = Db::open(path, encrypted(true));
    ASSERT_OK(db.status());
    expect_contents(**db, expected);
    EXPECT_EQ((*db)->encryption().data_keys, 2u);
    ASSERT_OK((*db)->close());
  }
  {
    auto db = Db::open(path, encrypted(false));
    ASSERT_OK(db.status());
    Writer writer(expected, db->get());
    for (uint64_t i = 100; i < 200; ++i) writer.put("t", frozen_number(i), frozen_bytes(i, 300));
    ASSERT_OK((*db)->flush());
    writer.stream("t", "large", std::string(90'000, '\0') + "another one");
    expect_contents(**db, expected);
  }
  auto db = Db::open(path, encrypted(false));
  ASSERT_OK(db.status());
  expect_contents(**db, expected);
  ASSERT_OK((*db)->close());
}

void expect_restored(const std::string& path, bool second) {
  auto db = Db::open(path, with(false));
  ASSERT_OK(db.status());
  Contents expected = contents_of(second);
  expect_contents(**db, expected);
  Writer(expected, db->get()).put("t", "new", "value");
  expect_contents(**db, expected);
  ASSERT_OK((*db)->close());
}

void expect_repository(const std::string& packed) {
  SCOPED_TRACE(packed);
  const TempDirectory directory;
  const std::string path = directory / "backups";
  ASSERT_EQ(unpack_directory(packed, path), "");
  auto repository = BackupRepository::open(path);
  ASSERT_OK(repository.status());
  const auto list = (*repository)->list();
  ASSERT_OK(list.status());
  ASSERT_EQ(list->size(), 2u);
  EXPECT_TRUE(list->back().incremental);
  for (const BackupInfo& info : *list) {
    ASSERT_OK((*repository)->verify(info.id));
    const std::string target = directory / ("restored" + std::to_string(info.id));
    ASSERT_OK((*repository)->restore(info.id, target));
    ASSERT_NO_FATAL_FAILURE(expect_restored(target, info.id == 2));
  }
  // Go on: a backup of what it held refers to what is there.
  auto db = Db::open(directory / "restored2", with(false));
  ASSERT_OK(db.status());
  const Result<BackupInfo> third = (*db)->backup(**repository);
  ASSERT_OK(third.status());
  ASSERT_OK((*repository)->remove(1));
  ASSERT_OK((*repository)->verify(2));
  ASSERT_OK((*repository)->verify(third->id));
}

void expect_stream(const std::string& packed) {
  SCOPED_TRACE(packed);
  const TempDirectory directory;
  ASSERT_EQ(unpack_directory(packed, directory / "unpacked"), "");
  FromFile verified(directory / "unpacked/stream");
  ASSERT_OK(verify_backup(verified).status());
  FromFile source(directory / "unpacked/stream");
  ASSERT_OK(restore_backup(source, directory / "restored").status());
  expect_restored(directory / "restored", true);
}

TEST(CompatCopies, every_version_opens) {
  size_t versions = 0;
  for (const auto& entry : fs::directory_iterator(kept_versions())) {
    if (!entry.is_directory()) continue;
    ++versions;
    const std::string kept = entry.path().string();
    expect_encrypted(kept + "/database/encrypted");
    expect_repository(kept + "/backups");
    expect_stream(kept + "/stream");
  }
  EXPECT_GE(versions, 1u);
}

// What the next version's samples would be: the code above still makes what it describes.
TEST(CompatCopies, todays_version_is_written_and_opens) {
  const char* const wish = getenv("HAWTHORN_WRITE_COMPAT");
  const TempDirectory directory;
  const std::string to = wish != nullptr ? wish : directory / "packed";
  ASSERT_NO_FATAL_FAILURE(write_encrypted(directory / "encrypted", directory / "scratch"));
  ASSERT_NO_FATAL_FAILURE(
      write_backups(directory / "backups", directory / "stream", directory / "source"));
  for (const std::string name : {"encrypted", "backups", "stream"}) {
    ASSERT_EQ(pack_directory(directory / name, to + "/" + name), "");
  }
  expect_encrypted(to + "/encrypted");
  expect_repository(to + "/backups");
  expect_stream(to + "/stream");
}

}  // namespace
}  // namespace hawthorn::tests
