// What every file system behind os/file.h must do, on the real one and on the simulated one.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "base/prng.h"
#include "os/machine.h"
#include "testing/sim_disk.h"

namespace hawthorn::testing {
namespace {

class FileSystemTest : public ::testing::TestWithParam<bool> {
 protected:
  FileSystemTest() {
    if (GetParam()) {
      files_ = &disk_;
      directory_ = "/tests";
    } else {
      files_ = os::real_machine().files;
      std::string pattern = ::testing::TempDir() + "/hawthorn-XXXXXX";
      directory_ = mkdtemp(pattern.data());
    }
    EXPECT_TRUE(files_->make_directory(directory_).ok());
  }
  ~FileSystemTest() override {
    const auto names = files_->list(directory_);
    for (const std::string& name : names.value()) {
      EXPECT_TRUE(files_->remove(in(name)).ok() || files_->remove_directory(in(name)).ok());
    }
    EXPECT_TRUE(files_->remove_directory(directory_).ok());
  }

  std::string in(const std::string& name) const { return directory_ + "/" + name; }
  std::unique_ptr<os::File> create(const std::string& name) {
    return std::move(files_->open_file(in(name), {.create = true})).value();
  }

  SimDisk disk_;
  os::FileSystem* files_ = nullptr;
  std::string directory_;
};

TEST_P(FileSystemTest, RandomChangesAgainstAModel) {
  Prng prng(11);
  auto file = create("f");
  std::string model;
  for (int i = 0; i < 300; ++i) {
    const size_t offset = prng.below(100000);
    const size_t size = prng.between(1, 20000);
    const std::string data(size, static_cast<char>('a' + prng.below(26)));
    const size_t end = std::max(model.size(), offset + size);
    switch (prng.below(6)) {
      case 0:
        ASSERT_TRUE(file->truncate(offset).ok());
        model.resize(offset);
        break;
      case 1:
        ASSERT_TRUE(file->allocate(offset, size).ok());
        model.resize(end);
        break;
      case 2:
        ASSERT_TRUE(file->punch_hole(offset, size).ok());
        for (size_t j = offset; j < std::min(model.size(), offset + size); ++j) model[j] = 0;
        break;
      default:
        ASSERT_TRUE(file->write_at(offset, data).ok());
        model.resize(end);
        model.replace(offset, size, data);
        break;
    }
    ASSERT_EQ(file->size().value(), model.size());
    std::string read(model.size(), '\0');
    ASSERT_TRUE(file->read_at(0, read).ok());
    ASSERT_TRUE(read == model) << i;
  }
  EXPECT_TRUE(file->sync_data().ok());
}

TEST_P(FileSystemTest, OpenFlags) {
  EXPECT_TRUE(files_->open_file(in("f"), {}).status().is_not_found());
  EXPECT_TRUE(files_->open_file(in("no/f"), {.create = true}).status().is_not_found());
  auto file = create("f");
  EXPECT_EQ(file->path(), in("f"));
  EXPECT_FALSE(file->direct());
  const auto again = files_->open_file(in("f"), {.create = true, .exclusive = true});
  EXPECT_TRUE(again.status().is(StatusCode::kInvalidArgument));
  auto reader = std::move(files_->open_file(in("f"), {.read_only = true})).value();
  EXPECT_FALSE(reader->write_at(0, std::string(1, 'x')).ok());
}

TEST_P(FileSystemTest, ReadsBehindTheEnd) {
  auto file = create("f");
  ASSERT_TRUE(file->write_at(0, std::string(100, 'x')).ok());
  std::string data(50, '\0');
  EXPECT_TRUE(file->read_at(50, data).ok());
  const Status status = file->read_at(80, data);
  EXPECT_TRUE(status.is(StatusCode::kCorruption));
  EXPECT_EQ(status.message(), in("f") + ": ends at 100, 30 bytes short");
  EXPECT_TRUE(file->read_at(1000, data).is(StatusCode::kCorruption));
}

TEST_P(FileSystemTest, SpaceIsTakenAndGivenBack) {
  auto file = create("f");
  ASSERT_TRUE(file->allocate(0, 1 << 20).ok());
  EXPECT_EQ(file->size().value(), uint64_t{1} << 20);
  EXPECT_GE(file->allocated_bytes().value(), uint64_t{1} << 20);
  ASSERT_TRUE(file->punch_hole(0, 1 << 19).ok());
  EXPECT_EQ(file->size().value(), uint64_t{1} << 20);
  EXPECT_LE(file->allocated_bytes().value(), uint64_t{3} << 18);
  EXPECT_GT(files_->free_bytes(directory_).value(), 0u);
}

TEST_P(FileSystemTest, LocksExcludeEachOther) {
  auto first = files_->open_file(in("f"), {.create = true, .locks = true}).value();
  auto second = files_->open_file(in("f"), {.create = true, .locks = true}).value();
  EXPECT_TRUE(first->lock_exclusive().ok());
  EXPECT_TRUE(second->lock_exclusive().is(StatusCode::kBusy));
  first.reset();
  EXPECT_TRUE(second->lock_exclusive().ok());
}

TEST_P(FileSystemTest, LocksOfBytesBelongToAnOpenFile) {
  auto first = files_->open_file(in("f"), {.create = true, .locks = true}).value();
  auto second = files_->open_file(in("f"), {.create = true, .locks = true}).value();
  EXPECT_TRUE(first->lock_byte(70).ok());
  EXPECT_TRUE(first->lock_byte(70).ok());
  EXPECT_TRUE(second->lock_byte(70).is(StatusCode::kBusy));
  EXPECT_TRUE(second->lock_byte(71).ok());
  EXPECT_TRUE(first->lock_byte(71).is(StatusCode::kBusy));
  EXPECT_TRUE(first->unlock_byte(70).ok());
  EXPECT_TRUE(second->lock_byte(70).ok());
  second.reset();
  EXPECT_TRUE(first->lock_byte(70).ok());
  EXPECT_TRUE(first->lock_byte(71).ok());
}

TEST_P(FileSystemTest, DirectoriesAndNames) {
  EXPECT_TRUE(files_->make_directory(in("a/b/c")).is_not_found()) << "only the last is made";
  EXPECT_FALSE(files_->exists(in("a")).value());
  for (const char* path : {"a", "a/b", "a/b/c", "a/b/c"}) {
    EXPECT_TRUE(files_->make_directory(in(path)).ok()) << path;
  }
  EXPECT_TRUE(files_->exists(in("a/b")).value());
  EXPECT_FALSE(files_->exists(in("a/x")).value());
  EXPECT_TRUE(files_->sync_directory(in("a/b")).ok());
  EXPECT_TRUE(files_->remove_directory(in("a")).is(StatusCode::kInvalidArgument));
  create("a/b/c/2");
  create("a/b/c/1");
  EXPECT_EQ(files_->list(in("a/b/c")).value(), (std::vector<std::string>{"1", "2"}));
  EXPECT_TRUE(files_->rename(in("a/b/c/1"), in("a/b/3")).ok());
  EXPECT_TRUE(files_->rename(in("a/b/c/1"), in("a/b/3")).is_not_found());
  EXPECT_TRUE(files_->rename(in("a/b/c/2"), in("a/b/3")).ok());
  EXPECT_TRUE(files_->remove(in("a/b/3")).ok());
  EXPECT_TRUE(files_->remove(in("a/b/3")).is_not_found());
  EXPECT_TRUE(files_->list(in("x")).status().is_not_found());
  for (const char* name : {"a/b/c", "a/b", "a"}) {
    EXPECT_TRUE(files_->remove_directory(in(name)).ok());
  }
}

TEST_P(FileSystemTest, RemovedFileStaysReadable) {
  auto file = create("f");
  ASSERT_TRUE(file->write_at(0, std::string(10, 'x')).ok());
  ASSERT_TRUE(files_->remove(in("f")).ok());
  std::string data(10, '\0');
  EXPECT_TRUE(file->read_at(0, data).ok());
  EXPECT_EQ(data, std::string(10, 'x'));
}

TEST_P(FileSystemTest, MappedFilesRepeatBehindThemselves) {
  EXPECT_TRUE(files_->map_shared(in("m"), 65536, true).status().is_not_found());
  EXPECT_TRUE(files_->map_shared(in("m"), 1000, false).status().is(StatusCode::kInvalidArgument));
  auto mapped = std::move(files_->map_shared(in("m"), 131072, false)).value();
  EXPECT_EQ(mapped->size(), 131072u);
  ASSERT_TRUE(mapped->mirrored());
  EXPECT_TRUE(std::all_of(mapped->data(), mapped->data() + 2 * 131072,
                          [](char byte) { return byte == 0; }));
  mapped->data()[131072 + 7] = 'a';
  EXPECT_EQ(mapped->data()[7], 'a');
  mapped->data()[131071] = 'z';
  EXPECT_EQ(mapped->data()[2 * 131072 - 1], 'z');
  EXPECT_TRUE(mapped->sync().ok());

  // The file, the mapping and a second mapping show the same bytes.
  auto file = create("m");
  EXPECT_EQ(file->size().value(), 131072u);
  EXPECT_GE(file->allocated_bytes().value(), 131072u);
  ASSERT_TRUE(file->write_at(20, std::string(1, 'f')).ok());
  EXPECT_EQ(mapped->data()[20], 'f');
  mapped->data()[21] = 'm';
  std::string data(2, '\0');
  ASSERT_TRUE(file->read_at(20, data).ok());
  EXPECT_EQ(data, "fm");
  auto reader = std::move(files_->map_shared(in("m"), 131072, true)).value();
  EXPECT_EQ(reader->data()[131072 + 21], 'm');
  mapped.reset();
  reader.reset();
  EXPECT_EQ(std::move(files_->map_shared(in("m"), 131072, false)).value()->data()[7], 'a');
  EXPECT_TRUE(files_->map_shared(in("m"), 262144, true).status().is(StatusCode::kCorruption));
}

INSTANTIATE_TEST_SUITE_P(Kinds, FileSystemTest, ::testing::Bool(),
                         [](const auto& kind) { return kind.param ? "Simulated" : "Real"; });

}  // namespace
}  // namespace hawthorn::testing
