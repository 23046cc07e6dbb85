// Recordings of calls to real files, and power cuts at their moments.
#include "testing/recording.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstring>
#include <filesystem>
#include <set>

#include "os/posix_file.h"
#include "testing/recorded_cut.h"

namespace hawthorn::testing {
namespace {

constexpr size_t kMapBytes = size_t{64} << 10;

#define ASSERT_OK(expression)                             \
  do {                                                    \
    const ::hawthorn::Status ok_status = (expression);    \
    ASSERT_TRUE(ok_status.ok()) << ok_status.to_string(); \
  } while (false)

class RecordingTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = ::testing::TempDir() + "hawthorn-recording-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    root_ = name;
    begin();
  }
  void TearDown() override {
    files_.reset();
    std::filesystem::remove_all(root_);
  }

  // From what is in the directory now.
  void begin() {
    recorder_ = std::make_unique<Recorder>(root_);
    files_ = std::make_unique<WatchedFiles>(os::posix_file_system(), *recorder_);
    ASSERT_OK(recorder_->begin_with_files());
  }

  std::unique_ptr<os::File> open(const std::string& name) {
    auto file = files_->open_file(root_ + "/" + name, {.create = true});
    EXPECT_TRUE(file.ok()) << file.status().to_string();
    return std::move(*file);
  }

  Recording finish() {
    Result<Recording> made = recorder_->finish(7);
    EXPECT_TRUE(made.ok()) << made.status().to_string();
    return made.ok() ? std::move(*made) : Recording();
  }

  // The first bytes of a file behind cuts of all kinds and many seeds. "-": there is none.
  static std::set<std::string> outcomes(const Recording& recording, uint64_t moment,
                                        const std::string& path, size_t bytes,
                                        const std::string& without_syncs_of = {}) {
    std::set<std::string> found;
    for (uint64_t seed = 1; seed <= 100; ++seed) {
      for (const CutKind kind : {CutKind::kPrefix, CutKind::kSubset, CutKind::kSynced}) {
        const Cut cut{
            .moment = moment, .kind = kind, .seed = seed, .without_syncs_of = without_syncs_of};
        CutStates states;
        auto disk = disk_after(recording, cut, &states);
        EXPECT_TRUE(disk.ok()) << disk.status().to_string();
        auto file = (*disk)->open_file(path, {.read_only = true});
        if (!file.ok()) {
          found.insert("-");
          continue;
        }
        std::string text(std::min<uint64_t>(bytes, (*file)->size().value()), '\0');
        EXPECT_TRUE((*file)->read_at(0, text).ok());
        found.insert(text);
      }
    }
    return found;
  }

  // The moment at which the n-th call of a kind began, or ended.
  static uint64_t moment_of(const Recording& recording, FileOp op, size_t nth, bool end) {
    for (const RecordedCall& call : recording.calls) {
      if (call.op != op || call.begin < recording.first_moment || nth-- > 0) continue;
      return end ? call.end + 1 : call.begin + 1;
    }
    ADD_FAILURE() << "there is no such call";
    return 0;
  }

  using Outcomes = std::set<std::string>;
  std::string root_;
  std::unique_ptr<Recorder> recorder_;
  std::unique_ptr<WatchedFiles> files_;
};

TEST_F(RecordingTest, AWriteIsSureFromTheEndOfItsSyncOn) {
  auto file = open("f");
  ASSERT_OK(files_->sync_directory(root_));
  ASSERT_OK(file->write_at(0, std::string("one")));
  ASSERT_OK(file->sync_data());
  ASSERT_OK(file->write_at(0, std::string("two")));
  const Recording recording = finish();
  const uint64_t synced = moment_of(recording, FileOp::kSync, 0, true);
  EXPECT_EQ(outcomes(recording, synced - 1, "/f", 3), (Outcomes{"", "one", {0, 0, 0}}));
  EXPECT_EQ(outcomes(recording, synced, "/f", 3), Outcomes{"one"});
  const uint64_t written = moment_of(recording, FileOp::kWrite, 1, true);
  EXPECT_EQ(outcomes(recording, written, "/f", 3), (Outcomes{"one", "two"}));
  // Without its sync the first one is no more sure than the second, nor is their order.
  EXPECT_GT(outcomes(recording, written, "/f", 3, "f").size(), 3U);
}

TEST_F(RecordingTest, AWriteThatEndsWithinASyncIsNotCovered) {
  auto file = open("f");
  ASSERT_OK(files_->sync_directory(root_));
  // As of another thread, while the sync is under way.
  const std::string late = "late";
  FileCall sync{.op = FileOp::kSync, .path = root_ + "/f", .to = {}, .file = 1};
  FileCall write{.op = FileOp::kWrite, .path = root_ + "/f", .to = {}, .file = 1};
  write.data = late;
  write.size = late.size();
  recorder_->before(sync);
  recorder_->before(write);
  recorder_->after(write, {});
  recorder_->after(sync, {});
  const Recording recording = finish();
  EXPECT_TRUE(outcomes(recording, recording.moments, "/f", 4).contains(""));
}

TEST_F(RecordingTest, AWriteUnderWayIsTornAtSectors) {
  auto file = open("f");
  ASSERT_OK(file->write_at(0, std::string(2048, 'a')));
  ASSERT_OK(file->sync_data());
  ASSERT_OK(files_->sync_directory(root_));
  ASSERT_OK(file->write_at(0, std::string(2048, 'b')));
  const Recording recording = finish();
  const uint64_t moment = moment_of(recording, FileOp::kWrite, 1, false);
  const Outcomes found = outcomes(recording, moment, "/f", 2048);
  EXPECT_GT(found.size(), 12U) << "of 16: each of four sectors is old or new";
  for (const std::string& text : found) {
    for (size_t at = 0; at < text.size(); at += 512) {
      EXPECT_EQ(text.substr(at, 512), std::string(512, text[at]));
    }
  }
}

TEST_F(RecordingTest, NamesAreSureFromTheSyncOfTheirDirectoryOn) {
  auto file = open("f");
  ASSERT_OK(file->write_at(0, std::string("x")));
  ASSERT_OK(file->sync_data());
  ASSERT_OK(files_->sync_directory(root_));
  ASSERT_OK(files_->rename(root_ + "/f", root_ + "/g"));
  ASSERT_OK(files_->sync_directory(root_));
  ASSERT_OK(files_->remove(root_ + "/g"));
  const Recording recording = finish();
  const auto found = [&](FileOp op, size_t nth, const std::string& path) {
    return outcomes(recording, moment_of(recording, op, nth, true), path, 1);
  };
  EXPECT_EQ(found(FileOp::kSync, 0, "/f"), (Outcomes{"-", "x"}));
  EXPECT_EQ(found(FileOp::kSyncDirectory, 0, "/f"), Outcomes{"x"});
  EXPECT_EQ(found(FileOp::kRename, 0, "/g"), (Outcomes{"-", "x"}));
  EXPECT_EQ(found(FileOp::kSyncDirectory, 1, "/g"), Outcomes{"x"});
  EXPECT_EQ(found(FileOp::kRemove, 0, "/g"), (Outcomes{"-", "x"}));
}

TEST_F(RecordingTest, StoresIntoAMappingAreFoundWhenSomethingIsSynced) {
  auto mapped = files_->map_shared(root_ + "/m", kMapBytes, false);
  ASSERT_OK(mapped.status());
  ASSERT_OK(files_->sync_directory(root_));
  std::memcpy((*mapped)->data(), "one", 3);
  auto other = open("f");
  ASSERT_OK(other->sync_data());
  const std::string nothing(3, '\0');
  std::memcpy((*mapped)->data(), "two", 3);
  ASSERT_OK((*mapped)->sync());
  std::memcpy((*mapped)->data(), "end", 3);
  mapped->reset();
  const Recording recording = finish();
  EXPECT_EQ(outcomes(recording, moment_of(recording, FileOp::kSync, 0, true), "/m", 3),
            (Outcomes{nothing, "one"}));
  EXPECT_EQ(outcomes(recording, moment_of(recording, FileOp::kSyncMapped, 0, true), "/m", 3),
            Outcomes{"two"});
  EXPECT_EQ(outcomes(recording, recording.moments, "/m", 3), (Outcomes{"two", "end"}));
}

TEST_F(RecordingTest, AllOfItGivesTheFilesAndCanBeWrittenOutAndGoOn) {
  ASSERT_OK(files_->make_directory(root_ + "/d"));
  ASSERT_OK(files_->make_directory(root_ + "/d/e"));
  auto file = open("d/f");
  ASSERT_OK(file->allocate(0, 100000));
  ASSERT_OK(file->write_at(70000, std::string(5000, 'x')));
  ASSERT_OK(file->truncate(72000));
  ASSERT_OK(file->punch_hole(4096, 4096));
  file.reset();
  const Recording recording = finish();
  CutStates states;
  const Cut all{
      .moment = recording.moments, .kind = CutKind::kPrefix, .seed = 1, .without_syncs_of = {}};
  auto disk = disk_after(recording, all, &states);
  ASSERT_OK(disk.status());
  EXPECT_EQ(difference(**disk, root_).value(), "");
  const std::string copy = root_ + "/copy";
  ASSERT_OK(os::posix_file_system().make_directory(copy));
  ASSERT_OK(write_out(**disk, copy));
  EXPECT_EQ(difference(**disk, copy).value(), "");
  EXPECT_EQ(difference(**disk, root_).value(), "/copy is not recorded");

  // What is there when a recording begins is in it, and durable.
  std::filesystem::remove_all(copy);
  begin();
  const Recording next = finish();
  EXPECT_EQ(next.first_moment, next.moments);
  EXPECT_EQ(outcomes(next, next.moments, "/d/f", 100000).size(), 1U);
  auto same = disk_after(
      next, {.moment = next.moments, .kind = CutKind::kSynced, .seed = 1, .without_syncs_of = {}},
      &states);
  ASSERT_OK(same.status());
  EXPECT_EQ(difference(**same, root_).value(), "");
}

TEST_F(RecordingTest, WhatGoesPastTheFileSystemIsFound) {
  auto file = open("f");
  ASSERT_OK(file->write_at(0, std::string("here")));
  auto behind = os::posix_file_system().open_file(root_ + "/f", {});
  ASSERT_OK(behind.status());
  ASSERT_OK((*behind)->write_at(0, std::string("past")));
  const Recording recording = finish();
  CutStates states;
  auto disk = disk_after(
      recording,
      {.moment = recording.moments, .kind = CutKind::kPrefix, .seed = 1, .without_syncs_of = {}},
      &states);
  ASSERT_OK(disk.status());
  EXPECT_NE(difference(**disk, root_).value(), "");
}

TEST_F(RecordingTest, IsSavedAndLoaded) {
  auto file = open("f");
  ASSERT_OK(file->write_at(0, std::string("some bytes")));
  recorder_->mark(3, 1, 99);
  ASSERT_OK(file->sync_data());
  const Recording recording = finish();
  const std::string path = root_ + "/saved";
  ASSERT_OK(recording.save(path));
  const Result<Recording> loaded = Recording::load(path);
  ASSERT_OK(loaded.status());
  EXPECT_EQ(loaded->seed, 7U);
  ASSERT_EQ(loaded->marks.size(), 1U);
  EXPECT_EQ(loaded->marks[0].number, 99U);
  EXPECT_EQ(loaded->calls.size(), recording.calls.size());
  EXPECT_EQ(outcomes(*loaded, loaded->moments, "/f", 20),
            outcomes(recording, recording.moments, "/f", 20));
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 1);
  EXPECT_TRUE(Recording::load(path).status().is(StatusCode::kCorruption));
}

TEST_F(RecordingTest, CallsToFilesElsewhereBreakIt) {
  EXPECT_TRUE(files_->remove(root_ + "/none").is_not_found());
  ASSERT_OK(recorder_->finish(1).status());  // nothing was done

  std::filesystem::create_directory(root_ + "/inner");
  const std::string root = root_;
  root_ = root + "/inner";
  begin();
  const auto outside = files_->open_file(root + "/elsewhere", {.create = true});
  EXPECT_TRUE(recorder_->finish(1).status().is(StatusCode::kInvalidArgument));
  root_ = root;
}

TEST(FileClassTest, NumbersAreAlike) {
  EXPECT_EQ(file_class("/db/wal.000000000000000a"), "wal.N");
  EXPECT_EQ(file_class("/db/wal.ring"), "wal.ring");
  EXPECT_EQ(file_class("data.12"), "data.N");
  EXPECT_EQ(file_class("superblock"), "superblock");
  EXPECT_EQ(file_class("/copy.2/manifest.3"), "copy.N/manifest.N");
  EXPECT_EQ(file_class("/repository/dbs"), "repository/dbs");
}

}  // namespace
}  // namespace hawthorn::testing
